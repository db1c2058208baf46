/* problem/opposite_rows.h -- contacts without friction that push against each other along one line. */
#ifndef STI_OPPOSITE_ROWS_H
#define STI_OPPOSITE_ROWS_H

#include <stiction/problem.h>

/* Both limits of a joint that is nearly closed may push against each other: only the difference of their impulses moves
 * anything. Solvers that end early in the middle of the gap leave up to 1e10 times the momentum in both; it is rounding
 * in v, and work in the energy balance. Subtracts the common part of impulses of neighbouring rigid contacts with
 * opposite rows, from r. Returns whether there was one. */
bool sti_release_opposite_rows(const st_Problem *p, double *r);

#endif
