/* solve/dense_newton.h -- solves small step problems with dense matrices: a robot with a few contacts, in joint
 * coordinates.
 *
 * It replaces all of solver.c, from the problem to its solution, with the residual of residual.c. Problems that it does
 * not accept, or cannot solve to the tolerance, are solved by solver.c.
 */
#ifndef STI_DENSE_NEWTON_H
#define STI_DENSE_NEWTON_H

#include "base/base.h"

#include <stiction/problem.h>

typedef struct sti_DenseNewton sti_DenseNewton;

st_Status sti_dense_newton_create(const st_Allocator *allocator, sti_DenseNewton **out, st_Error *err);
void sti_dense_newton_destroy(sti_DenseNewton *d); /* NULL is fine */

/* Is the problem small enough, and symmetric? */
bool sti_dense_newton_takes(const st_Problem *problem);

/* Solves from `start` (n_r numbers; NULL: 0). If no path reaches the tolerance, the search ends at a residual of
 * `enough`, and the result counts as not converged. *solved = false: use another solver; solution->r is then unchanged
 * or a better start. */
st_Status sti_dense_newton_solve(sti_DenseNewton *d, const st_Problem *problem, double tolerance, double enough,
                                 double polish, int max_iterations, const double *start, st_Solution *solution,
                                 st_SolveInfo *info, bool *solved, st_Error *err);

#endif
