/* reduce/residual.h -- the one judge of every solver, for those who already hold a reduction. */
#ifndef STI_RESIDUAL_H
#define STI_RESIDUAL_H

#include "reduce/reduce.h"

struct sti_GraphError; /* pile.h */

/* docs/methods.md 12, from r alone. v (n_v), l (n_l, or NULL) and u (n_r) end as what belongs to r, by a fresh
 * solve with refinement; asked for the r it judged last, it only copies. No allocation.            */
void sti_residual(const sti_Reduction *reduction, const double *r, double *v, double *l, double *u, st_Residual *out);

/* What the natural residual is divided by, an impulse; 0: nothing, it is absolute. */
double sti_residual_scale(const sti_Reduction *reduction);

/* The same for a u that the caller has at hand; joint is left 0. For solvers on their way: what they return is
 * judged by sti_residual.                                                                         */
void sti_residual_at(const sti_Reduction *reduction, const double *r, const double *u, st_Residual *out);

/* What contact c adds to the natural residual and to the figures beside it. */
void sti_residual_contact(const st_Problem *problem, int c, const double *r, const double *u, double rho,
                          struct sti_GraphError *error, st_Residual *out);

/* What the tolerance is compared with: natural, or where the reduction asks for all errors the largest. */
static inline double sti_residual_measure(const sti_Reduction *reduction, const st_Residual *residual)
{
    if (!reduction->all_errors) return residual->natural;
    return fmax(residual->natural, fmax(residual->error, residual->error_rho));
}

/* The last word on an r whose residual is within the tolerance: where the rounding of W r is so large that it could
 * explain this, v, u and the residual are computed again with enough digits (certify.c), and are the reduction's
 * judgement of r from then on.                                                                     */
st_Status sti_residual_certify(sti_Reduction *reduction, const double *r, double tolerance, st_Residual *residual,
                               st_Error *err);

/* Is rounding too small to matter, by a bound from |r| and the diagonal of W alone? */
bool sti_residual_is_certain(const sti_Reduction *reduction, const double *r, double tolerance);

/* Are the equations of the joints met, relative to the velocities at hand and to those that the forces alone would
 * bring? Joints that contradict each other, and ones lost in the rounding of very unequal masses, are not. `strict`: to
 * the tolerance; else to the looser of it and STI_JOINT_NOISE.                                      */
bool sti_joints_are_met(const st_Problem *problem, const double *v, double joint, double tolerance, bool strict);

#endif
