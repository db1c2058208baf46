/* solve/islands_memory.h -- shared by the files of the islands only.
 *
 *     islands.c          memory; division into parts; the whole problem as one part; the report of all parts
 *     islands_confirm.c  confirms the forces of the last step for a part that they still solve
 *     islands_parts.c    each part as a separate problem, solved by one thread or several
 */
#ifndef STI_ISLANDS_MEMORY_H
#define STI_ISLANDS_MEMORY_H

#include "linalg/no_contacts.h"
#include "linalg/saddle.h"
#include "math/parallel.h"
#include "pile/rest.h"
#include "solve/islands.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))

/* Parts: REST has all blocks without contacts, 1 .. n_islands are the islands. NONE: left out. */
enum { REST = 0, NONE = -1 };

/* Members of every part, ascending: member[first[k]] .. member[first[k + 1] - 1]. */
typedef struct Members {
    STI_ARRAY(int, first);
    STI_ARRAY(int, member);
} Members;

/* A block-diagonal matrix of the whole problem: index of the first value of each block, and the block of each row. */
typedef struct Blocks {
    STI_ARRAY(int64_t, at);
    STI_ARRAY(int, of);
} Blocks;

/* A block-diagonal matrix of a part. */
typedef struct PartBlocks {
    int n;
    int64_t n_x;
    STI_ARRAY(int, first);
    STI_ARRAY(double, x);
    STI_ARRAY(unsigned char, marked);
} PartBlocks;

/* G or H of a part. */
typedef struct Columns {
    int n;
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, i);
    STI_ARRAY(double, x);
} Columns;

/* Factors of the joints of a part; keeps their structure from step to step. NULL until it is needed. */
typedef struct Joints {
    sti_Saddle *saddle;
} Joints;

/* Memory of one thread: the current part, and a solver. Results do not depend on earlier parts. */
typedef struct Worker {
    sti_Islands *islands;
    st_Allocator allocator;
    st_Solver *solver;
    st_Problem part; /* its number and arrays */
    int number;
    const sti_PileContacts *pile; /* its contacts as arrays, in `arrays`; NULL: as rows of H       */
    sti_PileContacts arrays;
    PartBlocks A, Cb, C;
    Columns G, H;
    STI_ARRAY(int32_t, body); /* of `arrays`: by contact                                           */
    STI_ARRAY(int, frame);    /* likewise; where frames of the whole are not by contact            */
    STI_ARRAY(double, f);
    STI_ARRAY(double, g);
    STI_ARRAY(double, w);
    STI_ARRAY(st_ContactLaw, law);
    STI_ARRAY(double, v);
    STI_ARRAY(double, l);
    STI_ARRAY(double, u);
    STI_ARRAY(double, r);
    st_Solution own; /* of the part. With contacts as arrays r and u are the solver's arrays, and own.u is NULL */
    STI_ARRAY(sti_RestBody, rest); /* of islands_confirm.c: bodies, and the ground                   */
    STI_ARRAY(sti_RestPack, pack); /* and contacts, a part of them at a time                         */
    STI_ARRAY(double, rho);        /* of all contacts, if there are more                             */
    int failed;                    /* the first part that failed here, n_islands + 1: none                            */
    st_Status status;
    st_Error err;
} Worker;

struct sti_Islands {
    st_Allocator allocator;
    st_SolverDef def;
    sti_Stop *stop;
    bool split;
    Worker *worker[STI_MOST_THREADS]; /* one per thread, created on demand; the first always exists */
    int n_workers;
    STI_ARRAY(Joints, joints); /* of REST, then by the first block of an island with a joint row */
    sti_Linear *linear;        /* for problems without contacts                               */
    bool confirms;             /* islands_confirm.c tests the starts of this problem */
    int n_islands;
    bool whole;                    /* the last problem was not divided                             */
    STI_ARRAY(sti_Island, island); /* by part                                                      */
    atomic_int failed;             /* the first part that failed; later parts are not solved       */
    const st_Problem *problem;
    sti_IslandsCall call;            /* of the solve under way                                     */
    const sti_PileContacts *pile;    /* its contacts as arrays; NULL: as rows of H                 */
    int n_velocities;                /* number for which A.at and A.of are known                   */
    STI_ARRAY(int, shape);           /* A.first at that time                                       */
    STI_ARRAY(unsigned char, marks); /* and A.diagonal, zeros for none                             */
    Blocks A, Cb, C;                 /* of C only without soft_rows                                       */
    bool soft_rows;                  /* C is diagonal: each row of H is a block of it                     */
    STI_ARRAY(int, above);           /* union-find over blocks                                            */
    STI_ARRAY(int, part_of);         /* by block                                                          */
    STI_ARRAY(int, l_part);          /* by joint row                                                      */
    STI_ARRAY(int, c_part);          /* by contact                                                        */
    STI_ARRAY(int, v_first);         /* by block: its first velocity in its part                          */
    Members blocks, rows, contacts;
};

/* Is the start r of a part (NONE: of the whole problem) its solution? Then s->island, v and u are set; if not, v and
 * u may have changed. `left` is the residual that the last solve left. */
st_Status sti_part_confirm(Worker *d, int part, double left, st_Solution *solution, bool *confirmed, st_Error *err);

/* Creates the memory of at least n threads. */
st_Status sti_workers_make(sti_Islands *s, int n, st_Error *err);
void sti_worker_destroy(Worker *d); /* NULL is fine */
/* Solves every part that has members and writes s->island. If parts fail, returns the error of the first one. */
st_Status sti_parts_solve(sti_Islands *s, st_Solution *solution, st_Error *err);

static inline int sti_members(const Members *m, int part)
{
    return m->first[part + 1] - m->first[part];
}

#endif
