/* ranks.h -- `mpirun -n 4 stiction run ...`: this process as one of several (stiction/ranks.h). */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>
#include <stiction/ranks.h>

/* Is this a run of several ranks? Then rank 0 goes on and the others serve it to the end of the program; `status` is
 * theirs to end with. Without MPI in the program more than one rank is an error, said by rank 0.          */
bool ranks_begin(int *status);
/* NULL: there is one. */
const st_Ranks *program_ranks(void);

#endif
