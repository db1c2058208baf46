/* linalg/saddle.h -- velocities and joint impulses together: the saddle point system
 *
 *      A v - G l  = a
 *     G' v + Cb l = c
 *
 * solved for many right-hand sides, mechanism by mechanism (joint_graph.h).
 */
#ifndef STI_SADDLE_H
#define STI_SADDLE_H

#include "linalg/joint_graph.h"
#include "math/block_diag.h"

/* The whole system, instead of one mechanism. */
#define STI_WHOLE (-1)

typedef struct sti_Saddle {
    const sti_Net *net; /* links between rows and blocks, and the mechanisms */
    int redundant_rows;
    bool rough; /* set by its owner: no refinement                                                */
    struct sti_SaddleMemory *memory;
} sti_Saddle;

st_Status sti_saddle_create(const st_Allocator *allocator, sti_Saddle **out, st_Error *err);
void sti_saddle_destroy(sti_Saddle *saddle);

/* Factorises the system of a (checked) problem, which must stay alive. */
st_Status sti_saddle_factor(sti_Saddle *saddle, const st_Problem *problem, st_Error *err);

/* Solves for one mechanism, or STI_WHOLE, with iterative refinement. a and v have n_v numbers, c and l n_l; only those
 * of the mechanism are read and written. Rows that depend on others get l = 0. c = NULL: zeros. (If A is not symmetric,
 * l is set to 0 outside the mechanism.) */
void sti_saddle_solve(const sti_Saddle *saddle, int mechanism, const double *a, const double *c, double *v, double *l);

/* For the problem of the last factorisation with other numbers in G, f and g: improves v and l, the solution before
 * the change, with the old factors. The error falls by the relative change of G. */
void sti_saddle_renew(sti_Saddle *saddle, const st_Problem *problem);
/* Returns the momentum that was unbalanced before, relative to the largest entry of a. */
double sti_saddle_correct(const sti_Saddle *saddle, const double *a, const double *c, double *v, double *l);

/* The same for several a at once, with c = 0, within one mechanism that has joints. */
void sti_saddle_solve_wide(const sti_Saddle *saddle, int mechanism, const sti_Wide *a, sti_Wide *v);

/* x <- inv(A_k) x for the rows of block k alone. For a free body this is the whole solution. */
void sti_saddle_solve_block(const sti_Saddle *saddle, int k, double *x);

/* The diagonal entry of A at a velocity. */
double sti_saddle_mass(const sti_Saddle *saddle, int row);

/* max |G'v + Cb l + g| over all rows. */
double sti_saddle_joint_residual(const sti_Saddle *saddle, const double *v, const double *l);

#endif
