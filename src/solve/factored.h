/* solve/factored.h -- shared by the solvers that factorise W: W by blocks, its LU, memory, and the best r so far. It
 * belongs to solver.c, which lends it to the current solver (sti_Task). So newton, homotopy, ipm and admm keep nothing
 * of their own between solves, and if auto calls one after another, W is formed once. */
#ifndef STI_FACTORED_H
#define STI_FACTORED_H

#include "math/sparse_lu.h"
#include "reduce/delassus.h"
#include "solve/body_space_newton.h"
#include "solve/solver.h"

struct sti_Factored {
    st_Allocator allocator;
    sti_Delassus W;
    sti_SparseLu *lu;
    STI_ARRAY(unsigned char, memory);
    int64_t serial;   /* of the reduction that W belongs to                                         */
    bool formed;      /* W is; else it has too many blocks                                          */
    int64_t reserved; /* blocks of the largest W that lu has room for                               */
    bool by_bodies;   /* contacts between free bodies, and the solver does not need W: use `bodies` */
    sti_ByBodies bodies;
    double *u;    /* n_r: work of the judge, W r + b                                            */
    double *best; /* n_r: the r with the smallest measure                                       */
    double least; /* its measure                                                                */
    sti_Work *work;
};

/* The work is added to `work`, which must live longer. */
st_Status sti_factored_create(const st_Allocator *allocator, sti_Work *work, sti_Factored **out, st_Error *err);
void sti_factored_destroy(sti_Factored *f); /* NULL is fine */

/* A request for an array: the pointer to set, the number and the size of its items. */
typedef struct sti_Room {
    void *pointer; /* to the pointer that is set                                                    */
    int64_t count;
    size_t size;
} sti_Room;
#define STI_ROOM(pointer, n) ((sti_Room){&(pointer), (n), sizeof *(pointer)})

/* Forms W if it is not known yet, and reserves memory of the LU for all contacts, so that it does not grow when more of
 * them close. *formed is false if W has too many blocks: the solver then leaves r unchanged.                        */
st_Status sti_factored_begin(sti_Factored *f, const sti_Task *task, bool *formed, st_Error *err);

/* The same for solvers that do not need W if the problem is a graph. f->by_bodies is then set. */
st_Status sti_factored_begin_bodies(sti_Factored *f, const sti_Task *task, bool *formed, st_Error *err);

/* Makes room for u, best (which becomes task->r, not measured yet) and the requested arrays, which are not cleared. */
st_Status sti_factored_room(sti_Factored *f, const sti_Task *task, const sti_Room *rooms, int n_rooms, st_Error *err);

/* The measure of r. Its velocities are written to u, and the best r is stored. */
double sti_factored_judge(sti_Factored *f, const sti_Task *task, const double *r);
/* The same of `at`, which becomes r put into the laws' sets. */
double sti_factored_judge_projected(sti_Factored *f, const sti_Task *task, const double *r, double *at);

#endif
