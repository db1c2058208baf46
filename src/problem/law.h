/* problem/law.h -- the laws themselves: projections, shifted velocity, distance from each law's set.
 * No matrices here; everything is one contact. In r, u and x the normal comes first.
 */
#ifndef STI_LAW_H
#define STI_LAW_H

#include "base/base.h"

#include <stiction/problem.h>

/* A part of the tangential impulse with a bound of its own, |x[first ..]| <= mu n: sliding, rolling, spinning. */
typedef struct sti_Group {
    int first, count;
    double mu;
} sti_Group;
enum { STI_MAX_GROUPS = 3 };

/* The groups of a contact with a round law, in the order of their rows; returns how many. */
static inline int sti_law_groups(const st_ContactLaw *contact, sti_Group group[STI_MAX_GROUPS])
{
    const int dim = contact->dim;
    int n = 0;
    if (dim > 1) group[n++] = (sti_Group){1, dim == 2 ? 1 : 2, contact->mu};
    if (dim >= 5) group[n++] = (sti_Group){3, 2, contact->mu_roll};
    if (dim == 4 || dim == 6) group[n++] = (sti_Group){dim - 1, 1, contact->mu_spin};
    return n;
}

/* |x| of one or two components. */
static inline double sti_group_length(const double *x, int count)
{
    return count == 1 ? fabs(x[0]) : sqrt(x[0] * x[0] + x[1] * x[1]);
}

/* Are there contacts of this size under this law? */
bool sti_law_has_dim(st_Law law, int dim);

/* x <- P(x), the Euclidean projection on the law's set of impulses. Box, which is no fixed set but
 * |t| <= mu n: n <- max(0, n) first, then t and o are clipped by it (docs/methods.md 12).          */
void sti_law_project(const st_ContactLaw *contact, double *x);

/* u^: u with the normal component shifted by the sum of mu |u| over its groups for coulomb, by
 * mu max_j(-d_j' u_T) for pyramid; u itself for the others.                                       */
void sti_law_shift(const st_ContactLaw *contact, const double *u, double *shifted);

/* Coefficients of friction above this are steep: the natural map takes the bound on friction from r_n itself. */
#define STI_STEEP 1.0

/* r - P(r - rho u^): the natural map of one contact. */
void sti_law_natural(const st_ContactLaw *contact, const double *r, const double *u, double rho, double *out);

/* Direction j of a pyramid's facets in the tangent plane; dim 2: d[0] = +1 or -1. */
void sti_law_facet(const st_ContactLaw *contact, int j, double d[2]);

#endif
