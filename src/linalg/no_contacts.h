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

/* From now on without refinement and without computing the residual, for callers that correct the solution and compute
 * it themselves. */
void sti_linear_be_rough(sti_Linear *linear);

/* Factorise and solve a (checked) problem; v, l and u of the solution, l may be NULL. *info is all but the name
 * and whether that is good enough. */
st_Status sti_linear_solve(sti_Linear *linear, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                           st_Error *err);

/* The solution of the last problem as one of this, which differs in the numbers of G, f and g alone, with the factors
 * of then: the error falls by the relative change of G.                                           */
st_Status sti_linear_correct(sti_Linear *linear, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                             st_Error *err);

#endif
