/* bench/siconos/siconos.h -- the solvers of Siconos Numerics 4.4, for compare.c. */
#ifndef BENCH_SICONOS_H
#define BENCH_SICONOS_H

#include <stiction/io.h>

/* A problem in their form. Local and global problems are passed unchanged, except gfc2d, for which Siconos 4.4 has
 * no driver: W and q are formed beforehand, which is not timed, and passed to the solvers of fc2d. */
typedef struct Siconos Siconos;
Siconos *siconos_new(const st_ProblemFile *file, st_Friction *friction); /* never freed: lives as long as the program */

int siconos_count(void);
const char *siconos_name(int solver);
/* Does the solver support problems of this kind and size? */
int siconos_takes(const Siconos *problem, int solver);

/* One solve from r = 0 with the solver's own tolerance set to `own`. Returns its seconds, of the driver alone. */
double siconos_solve(const Siconos *problem, int solver, double own, double *r);

/* Wall-clock time for short intervals, because the CPU clock may be coarse; else CPU time. */
typedef struct Stopwatch {
    double wall, busy;
} Stopwatch;
Stopwatch stopwatch_start(void);
double stopwatch_read(Stopwatch start);
#define SHORT_SOLVE 0.01 /* seconds */

#endif
