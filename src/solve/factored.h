/* solve/factored.h -- what every solver that factorises W has in common: W by blocks, its LU, memory, and the best r
 * so far with its residual. The first member of such a solver's workspace.
 */
#ifndef STI_FACTORED_H
#define STI_FACTORED_H

#include "math/sparse_lu.h"
#include "solve/delassus.h"
#include "solve/solver.h"

typedef struct sti_Factored {
    st_Allocator allocator;
    size_t bytes; /* of the whole workspace                                                        */
    sti_Delassus W;
    sti_SparseLu *lu;
    STI_ARRAY(double, memory);
    double *u;    /* n_r: work of the judge, W r + b                                               */
    double *best; /* n_r: the r with the smallest measure                                          */
    double least; /* its measure                                                                   */
} sti_Factored;

/* A workspace of `bytes` bytes, zero, that begins with a sti_Factored. */
st_Status sti_factored_create(const st_Allocator *allocator, size_t bytes, const char *name, void **workspace,
                              st_Error *err);
void sti_factored_destroy(void *workspace); /* NULL is fine */

/* Where an array of numbers is to go, and how long it is. */
typedef struct sti_Room {
    double **at;
    int64_t size;
} sti_Room;

/* Form W, and room for u, best and the arrays asked for, which are not cleared. False in *formed, and nothing done,
 * where W has too many blocks: the solver then leaves r as it is.                                       */
st_Status sti_factored_begin(sti_Factored *f, const sti_Task *task, bool *formed, st_Error *err);
st_Status sti_factored_room(sti_Factored *f, const sti_Task *task, const sti_Room *rooms, int n_rooms, st_Error *err);

/* The measure of r, whose velocities are left in u; the best r is kept. */
double sti_factored_judge(sti_Factored *f, const sti_Task *task, const double *r);
/* The same of `at`, which becomes r put into the laws' sets. */
double sti_factored_judge_projected(sti_Factored *f, const sti_Task *task, const double *r, double *at);

#endif
