/* fclib/fclib.h -- shared by the files for FCLIB problems. */
#ifndef STI_FRICTION_H
#define STI_FRICTION_H

#include "base/base.h"
#include "math/double_double.h"

#include <stiction/friction.h>

/* The map r -> (v, l, u) of a problem, by its own matrices:
 *
 *     global   v = inv(M) (H r + G l + f),  G' v + b = 0,    u = H' v + w
 *     local    R l = -(V' r + s),                            u = W r + V l + q
 *
 * M by a sparse LU with refinement; the equality rows through their Schur complement S = G' inv(M) G, or
 * S = -R, by elimination with full pivoting, dependent rows getting l = 0.                          */
typedef struct sti_FrictionMap sti_FrictionMap;

st_Status sti_friction_map_create(const st_FrictionProblem *problem, sti_FrictionMap **out, st_Error *err);
void sti_friction_map_destroy(sti_FrictionMap *map); /* NULL is fine */

/* Factorise M and S. */
st_Status sti_friction_map_factor(sti_FrictionMap *map, st_Error *err);

/* v, l may be NULL. linear: without the constant terms, u = W r. */
void sti_friction_map_apply(sti_FrictionMap *map, const double *r, bool linear, double *v, double *l, double *u);

/* The same for the judge, in double-double: u, and how far each of it may be off in exact arithmetic. v and l are the
 * map's own, until its next use; equality is |G'v + b| against the norm of |G'||v| + |b|, local |V'r + R l + s|
 * likewise, of rows times sti_equality_scale(): above rounding where equality rows contradict each other.  */
typedef struct sti_FrictionExact {
    const sti_Dd *v, *l; /* n_v, n_l */
    double equality;
} sti_FrictionExact;
void sti_friction_map_exact(sti_FrictionMap *map, const double *r, sti_Dd *u, double *bound, sti_FrictionExact *out);

/* A power of two that makes the numbers of equality row j about 1, so that rows in different units count alike: from
 * its entries of G or V, or b where G has none. */
double sti_equality_scale(const st_FrictionProblem *problem, int j);

/* Which velocities belong together: M has no entry between two bodies. body[i] is the first velocity of i's body. */
void sti_friction_bodies(const st_Sparse *M, int dim, int *body);

/* trace(W), in a time that is linear in the data where bodies are small. */
st_Status sti_friction_map_trace(sti_FrictionMap *map, double *trace, st_Error *err);

/* y += A x,  y += A'x. */
void sti_sparse_add(const st_Sparse *A, const double *x, double *y);
void sti_sparse_add_transposed(const st_Sparse *A, const double *x, double *y);

struct st_Friction {
    st_Allocator allocator;
    const st_FrictionProblem *problem;
    int n_r;
    st_ContactLaw *contact; /* n_contacts                                                           */
    sti_FrictionMap *map;
    bool factored;             /* the map is                                                        */
    bool checked;              /* the problem for the solvers                                       */
    double *q, rho;            /* of the local form; rho = 0: not yet known                         */
    struct sti_AsStep *step;   /* M and H as a step problem; NULL: W is formed                      */
    struct sti_AsLocal *local; /* where W is formed                                                 */
};

/* fclib_step.c: M's diagonal blocks found and ordered. NULL in *out: M is not made of small symmetric blocks. */
typedef struct sti_AsStep sti_AsStep;
st_Status sti_as_step_create(const st_FrictionProblem *problem, const st_ContactLaw *contact, sti_AsStep **out,
                             st_Error *err);
const st_Problem *sti_as_step_problem(const sti_AsStep *step);
void sti_as_step_destroy(sti_AsStep *step);

/* The map factorised, q and rho known. */
st_Status sti_friction_ready(st_Friction *friction, st_Error *err);

#endif
