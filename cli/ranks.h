/* ranks.h -- `mpirun -n 4 stiction run ...`: this process is one of several (stiction/ranks.h). */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>
#include <stiction/ranks.h>

/* Is this a run of several ranks? Then rank 0 continues, and the others serve it until the end of the program with
 * exit status `status`. Without MPI in the program more than one rank is an error, reported by rank 0. */
bool ranks_begin(int *status);
/* NULL: there is only one. */
const st_Ranks *program_ranks(void);

#endif
