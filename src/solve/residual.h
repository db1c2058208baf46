/* solve/residual.h -- the one judge of every solver, for those who already hold a reduction. */
#ifndef STI_RESIDUAL_H
#define STI_RESIDUAL_H

#include "solve/reduce.h"

/* METHODS section 7, from r alone. v_work (n_v) and u_work (n_r) end as the velocities that belong to
 * r, by a fresh solve with refinement. No allocation.                                              */
void sti_residual(const sti_Reduction *reduction, const double *r, double *v_work, double *u_work, st_Residual *out);

/* What the natural residual is divided by, an impulse; 0: nothing, it is absolute. */
double sti_residual_scale(const sti_Reduction *reduction);

#endif
