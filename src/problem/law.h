/* problem/law.h -- laws of one contact, one descriptor each.
 *
 * A law is a file (or a part of one) with a sti_LawKind, one line in the table of law.c, one value of st_Law in
 * <stiction/problem.h> and, if scenes may choose it, one in the list of step/settings.c. Its functions:
 *
 *     check      are the numbers of a contact valid?
 *     project    x <- P(x), on the set of impulses                                    residual, nsgs, admm
 *     shift      u^ - u, along the normal                                             residual, admm
 *     bound      n >= 0, and friction limited by a given normal impulse               residual, if mu is steep
 *     naturals   the natural map in one function, if that is faster                   residual
 *     undone     |r . u^|, the power that the law leaves                              report
 *     slope      P(x) and dP/dx of the form that newton solves (reduce/alart_curnier.h)
 *     prepare    which function solves the law for one contact alone (one_contact.h)  nsgs
 *     discs      the parts of friction that are discs of radius mu n                  ipm, homotopy
 *     polygon    the vertices of friction's polygon
 *
 * `dims` shows which solvers can take it. Nothing else depends on the list of laws: solvers that need more than a law
 * has do not accept it, and `auto` uses the others. Contacts of a pile are swept in lanes under coulomb and
 * frictionless only (pile/contact_coloring.c).
 *
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

/* Properties of a law that solvers need. */
typedef enum sti_LawProperty {
    STI_LAW_ANY,    /* none                                                                                */
    STI_LAW_LINEAR, /* it is a linear complementarity problem: lemke                                       */
    STI_LAW_CONIC,  /* K is a product of Lorentz cones over its discs, or an interval: ipm                 */
    STI_LAW_FIXED,  /* `project` is the Euclidean projection on a fixed convex set: admm                   */
    STI_LAW_SMOOTH, /* friction is bounded by discs alone, and there is a rounded form (smoothed_laws.h): homotopy. Not
                     * of the cone law, which is monotone and needs none, nor of pyramids in space         */
    STI_N_LAW_PROPERTIES
} sti_LawProperty;

struct sti_Local; /* one_contact.h */

typedef struct sti_LawKind {
    const char *name;
    unsigned dims[STI_N_LAW_PROPERTIES]; /* bit d: contacts of d rows have this property                       */
    bool whole;       /* `slope` projects all rows together: they share one rho                        */
    bool has_limits;  /* lo and hi bound r, instead of r_n >= 0                                        */
    bool always_by_r; /* the natural map cuts friction by r_n itself, also where mu is not steep       */

    st_Status (*check)(const st_ContactLaw *contact, int index, st_Error *err); /* NULL: nothing to check   */
    void (*project)(const st_ContactLaw *contact, double *x);
    double (*shift)(const st_ContactLaw *contact, const double *u);        /* NULL: 0                           */
    void (*bound)(const st_ContactLaw *contact, double normal, double *x); /* NULL: always by `project`  */
    /* sti_law_naturals in one, where that is quicker; false: not for this contact. NULL: by the functions above. */
    bool (*naturals)(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, int n,
                     double *out);
    double (*undone)(const st_ContactLaw *contact, const double *r, const double *u); /* NULL: | r . u^ | */
    /* P and D = dP/dx (dim x dim) are zero on entry. */
    void (*slope)(const st_ContactLaw *contact, const double *x, double *P, double *D);
    /* Sets local->solve, for a contact with friction or of one row. mean: of the diagonal of W. */
    void (*prepare)(struct sti_Local *local, double mean);
    /* Returns their number, in the order of their rows; below 0: friction is not bounded by discs. */
    int (*discs)(const st_ContactLaw *contact, sti_Group group[STI_MAX_GROUPS]);
    /* Returns their number, counterclockwise, for mu n = 1; vertex may be NULL. NULL: no polygon in space. */
    int (*polygon)(const st_ContactLaw *contact, double *vertex);
} sti_LawKind;

extern const sti_LawKind sti_law_frictionless, sti_law_bounded; /* law_rows.c    */
extern const sti_LawKind sti_law_coulomb, sti_law_cone;         /* law_round.c   */
extern const sti_LawKind sti_law_pyramid, sti_law_box;          /* law_polygon.c */

extern const sti_LawKind *const sti_law_kinds[ST_N_LAWS]; /* by st_Law */

static inline const sti_LawKind *sti_law_of(const st_ContactLaw *contact)
{
    return sti_law_kinds[contact->law];
}

/* Are there contacts of this size with this property under this law? */
static inline bool sti_law_has_dim(st_Law law, int dim, sti_LawProperty property)
{
    return (int)law >= 0 && law < ST_N_LAWS && dim > 0 && dim <= ST_MAX_DIM &&
           (sti_law_kinds[law]->dims[property] >> dim & 1u) != 0;
}

/* The interval of r_n. */
static inline double sti_law_lowest(const st_ContactLaw *contact)
{
    return sti_law_of(contact)->has_limits ? contact->lo : 0.0;
}
static inline double sti_law_highest(const st_ContactLaw *contact)
{
    return sti_law_of(contact)->has_limits ? contact->hi : HUGE_VAL;
}

/* The groups of a contact with a round law, in the order of their rows; returns their number. */
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

/* x <- P(x), the Euclidean projection on the law's set of impulses. Box, which is no fixed set but
 * |t| <= mu n: n <- max(0, n) first, then t and o are clipped by it (docs/methods.md 12).          */
static inline void sti_law_project(const st_ContactLaw *contact, double *x)
{
    sti_law_of(contact)->project(contact, x);
}

/* u^: u with the normal component shifted by the sum of mu |u| over its groups for coulomb, by
 * mu max_j(-d_j' u_T) for pyramid; u itself for the others.                                       */
void sti_law_shift(const st_ContactLaw *contact, const double *u, double *shifted);

/* Coefficients of friction above this are steep: the natural map takes the bound on friction from r_n itself. */
#define STI_STEEP 1.0

/* r - P(r - rho u^): the natural map of one contact; with each of n rho, dim numbers each. */
void sti_law_naturals(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, int n,
                      double *out);
static inline void sti_law_natural(const st_ContactLaw *contact, const double *r, const double *u, double rho,
                                   double *out)
{
    sti_law_naturals(contact, r, u, &rho, 1, out);
}

/* Removes friction along directions that joints hold: such friction moves nothing, so that any value within the bound
 * solves the problem, and rounding errors of warm starts would grow to that bound. W: the block of the contact, its
 * rows `stride` apart. False: r is as it was. */
bool sti_law_drop_held(const st_ContactLaw *contact, const double *W, int64_t stride, double *r);

/* | r . u^ |, which is 0 in a solution [J]. */
double sti_law_undone(const st_ContactLaw *contact, const double *r, const double *u);

/* Direction j of a pyramid's facets in the tangent plane; dim 2: d[0] = +1 or -1. */
void sti_law_facet(const st_ContactLaw *contact, int j, double d[2]);

/* For the files of laws: the check of mu, mu_roll and mu_spin, friction as of Coulomb's law, and numbers. */
st_Status sti_law_check_friction(const st_ContactLaw *contact, int index, st_Error *err);
void sti_law_round_project(const st_ContactLaw *contact, double *x);
void sti_law_round_bound(const st_ContactLaw *contact, double normal, double *x);
void sti_law_round_slope(const st_ContactLaw *contact, const double *x, double *P, double *D);

static inline double sti_law_clip(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

#endif
