/* reduce/residual.h -- the one function that judges every solver, for callers that have a reduction. */
#ifndef STI_RESIDUAL_H
#define STI_RESIDUAL_H

#include "reduce/reduce.h"

struct sti_GraphError; /* pile.h */

/* The residual of docs/methods.md 12, from r alone. Also returns v (n_v), l (n_l, or NULL) and u (n_r) for r, from a
 * new solve with refinement. If r was also judged last, the stored results are copied. No allocation. */
void sti_residual(const sti_Reduction *reduction, const double *r, double *v, double *l, double *u, st_Residual *out);

/* The same for the r of the sweeps over a graph, which sti_graph_give has written to r. */
void sti_residual_of_sweeps(const sti_Reduction *reduction, const double *r, st_Residual *out);

/* Writes v and u of the r that was judged last to reduction->judged. Among free bodies a judgement needs neither, so
 * they are computed once per solve, for the answer. */
void sti_residual_give(const sti_Reduction *reduction);

/* Divisor of the natural residual, an impulse; 0: the residual is absolute. */
double sti_residual_scale(const sti_Reduction *reduction);

/* Likewise for a u that the caller has computed; joint remains 0. For solvers between iterations. Their result is
 * judged by sti_residual. */
void sti_residual_at(const sti_Reduction *reduction, const double *r, const double *u, st_Residual *out);

/* The contribution of contact c to the natural residual and to the other figures. */
void sti_residual_contact(const st_Problem *problem, int c, const double *r, const double *u, double rho,
                          struct sti_GraphError *error, st_Residual *out);

/* The number that is compared with the tolerance: natural, or the largest of all errors if the reduction requests
 * it. */
static inline double sti_residual_measure(const sti_Reduction *reduction, const st_Residual *residual)
{
    if (!reduction->all_errors) return residual->natural;
    return fmax(residual->natural, fmax(residual->error, residual->error_rho));
}

/* The final judgement of an r whose residual is within the tolerance. If the rounding of W r is so large that it could
 * explain this, v, u and the residual are computed again with enough digits (certify.c), and replace the stored
 * judgement of r. */
st_Status sti_residual_certify(sti_Reduction *reduction, const double *r, double tolerance, st_Residual *residual,
                               st_Error *err);

/* Is rounding too small to matter, by a bound from |r| and the diagonal of W alone? */
bool sti_residual_is_certain(const sti_Reduction *reduction, const double *r, double tolerance);

/* Are the equations of the joints satisfied, relative to the velocities and to those that forces alone would cause?
 * They are not if joints contradict each other, or if they are lost in the rounding of very unequal masses. `strict`:
 * to the tolerance; otherwise to the tolerance or STI_JOINT_NOISE, whichever is larger. */
bool sti_joints_are_met(const st_Problem *problem, const double *v, double joint, double tolerance, bool strict);

#endif
