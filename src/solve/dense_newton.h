/* solve/dense_newton.h -- small step problems at once: a robot with a few contacts, in joint coordinates.
 *
 * It is the whole way from the problem to its answer, judged as residual.c judges. What it does not take, and what it
 * cannot solve to the tolerance, goes the usual way (solver.c).
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

/* Solve from `start` (n_r; NULL: from 0). Where no path reaches the tolerance, a residual of `enough` ends the search,
 * as not converged. *solved false: solve it otherwise; solution->r is then untouched, or a better start. */
st_Status sti_dense_newton_solve(sti_DenseNewton *d, const st_Problem *problem, double tolerance, double enough,
                                 double polish, int max_iterations, const double *start, st_Solution *solution,
                                 st_SolveInfo *info, bool *solved, st_Error *err);

#endif
