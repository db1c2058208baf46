/* linalg/no_contacts.h -- a step problem without contacts: velocities and joint impulses, a linear system.
 *
 *     A v = f + G l,     G' v + Cb l + g = 0
 */
#ifndef STI_LINEAR_H
#define STI_LINEAR_H

#include "base/base.h"

#include <stiction/problem.h>

typedef struct sti_Linear sti_Linear;

st_Status sti_linear_create(const st_Allocator *allocator, sti_Linear **out, st_Error *err);
void sti_linear_destroy(sti_Linear *linear);

/* From now on solutions are not refined, and their residual is not computed, for callers that do both. */
void sti_linear_be_rough(sti_Linear *linear);

/* Factorises and solves a (checked) problem. Writes v, l (which may be NULL) and u of the solution, and *info without
 * the name of the solver and without `converged`. */
st_Status sti_linear_solve(sti_Linear *linear, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                           st_Error *err);

/* Corrects the solution of the last problem for a problem that differs only in the numbers of G, f and g, with the old
 * factors. The error falls by the relative change of G. */
st_Status sti_linear_correct(sti_Linear *linear, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                             st_Error *err);

#endif
