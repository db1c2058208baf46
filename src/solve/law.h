/* solve/law.h -- the laws themselves: projections, shifted velocity, distance from each law's set.
 * No matrices here; everything is one contact. In r, u and x the normal comes first.
 */
#ifndef STI_LAW_H
#define STI_LAW_H

#include "base/base.h"

#include <stiction/problem.h>

/* Are there contacts of this size under this law? */
bool sti_law_has_dim(st_Law law, int dim);

/* x <- P(x), the Euclidean projection on the law's set of impulses. Box, which is no fixed set but
 * |t| <= mu n: n <- max(0, n) first, then t and o are clipped by it (METHODS section 7).          */
void sti_law_project(const st_ContactLaw *contact, double *x);

/* u^: u with the normal component shifted by mu |u_T| (+ mu_roll |u_R|) for coulomb, by
 * mu max_j(-d_j' u_T) for pyramid; u itself for the others.                                       */
void sti_law_shift(const st_ContactLaw *contact, const double *u, double *shifted);

/* r - P(r - rho u^): the natural map of one contact. */
void sti_law_natural(const st_ContactLaw *contact, const double *r, const double *u, double rho, double *out);

/* Direction j of a pyramid's facets in the tangent plane; dim 2: d[0] = +1 or -1. */
void sti_law_facet(const st_ContactLaw *contact, int j, double d[2]);

#endif
