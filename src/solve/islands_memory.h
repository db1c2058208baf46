/* solve/islands_memory.h -- what the files of the islands share, and nobody else.
 *
 *     islands.c          memory; which parts there are; the whole as one; the report of all parts
 *     islands_confirm.c  confirms the forces of the last step for a part that they still solve
 *     islands_parts.c    each part as a problem of its own, solved by one thread or several
 */
#ifndef STI_ISLANDS_MEMORY_H
#define STI_ISLANDS_MEMORY_H

#include "linalg/no_contacts.h"
#include "linalg/saddle.h"
#include "math/parallel.h"
#include "pile/rest.h"
#include "solve/islands.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))

/* Parts: 0 is what has no contacts, 1 .. n_islands the islands; and nobody's. */
enum { REST = 0, NONE = -1 };

/* Members of every part, ascending: member[first[k]] .. member[first[k + 1] - 1]. */
typedef struct Members {
    STI_ARRAY(int, first);
    STI_ARRAY(int, member);
} Members;

/* A block-diagonal matrix of the whole: where the values of each block start, and whose a row is. */
typedef struct Blocks {
    STI_ARRAY(int64_t, at);
    STI_ARRAY(int, of);
} Blocks;

/* The same of a part. */
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

/* Who solves for the joints of a part, and knows their structure from step to step; NULL until it is needed. */
typedef struct Joints {
    sti_Saddle *saddle;
} Joints;

/* Where one thread works: the part before it, and a solver. Nothing that it says depends on what was there before. */
typedef struct Desk {
    sti_Islands *islands;
    st_Allocator allocator;
    st_Solver *solver;
    st_Problem part; /* its number and its arrays                                                  */
    int number;
    const sti_PileContacts *pile; /* its contacts as arrays, in `arrays`; NULL: as rows of H       */
    sti_PileContacts arrays;
    PartBlocks A, Cb, C;
    Columns G, H;
    STI_ARRAY(int32_t, body); /* of `arrays`: by contact                                           */
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
    STI_ARRAY(sti_RestPack, pack); /* and contacts                                                   */
    int failed;                    /* the first part that failed here, n_islands + 1: none                            */
    st_Status status;
    st_Error err;
} Desk;

struct sti_Islands {
    st_Allocator allocator;
    st_SolverDef def; /* as it was given; max_work by sti_islands_limit                            */
    sti_Stop *stop;
    sti_Left left; /* of the next solve; NULL: not known                                           */
    const void *left_ctx;
    bool split;
    bool dense;                   /* sti_islands_try_dense                                                           */
    Desk *desk[STI_MOST_THREADS]; /* one a thread, made when it is first needed; the first is there        */
    int n_desks;
    STI_ARRAY(Joints, joints); /* of the rest, then by the block that the first joint row of an island touches */
    sti_Linear *linear;        /* for problems without contacts                               */
    bool confirms;             /* starts are looked at by islands_confirm.c in this problem                     */
    int n_islands;
    bool whole;                    /* the last problem was not taken apart                         */
    STI_ARRAY(sti_Island, island); /* by part                                                      */
    atomic_int failed;             /* no part behind this one is of interest any more              */
    const st_Problem *problem;
    const sti_PileContacts *pile;    /* its contacts as arrays; NULL: as rows of H                 */
    int n_velocities;                /* that A.at and A.of are known for                           */
    STI_ARRAY(int, shape);           /* A.first as it was then                                     */
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

/* Is the start r of a part, NONE: of the whole, its answer? Then s->island, v and u are set; else v may have been
 * written to. `left` is what the last solve left over.                                              */
st_Status sti_part_confirm(Desk *d, int part, double left, st_Solution *solution, bool *confirmed, st_Error *err);

/* Desks for n threads, at least. */
st_Status sti_desks_make(sti_Islands *s, int n, st_Error *err);
void sti_desk_destroy(Desk *d); /* NULL is fine */
/* Every part that has members; s->island says how they went. Of failures that of the first part. */
st_Status sti_parts_solve(sti_Islands *s, st_Solution *solution, st_Error *err);

static inline int sti_members(const Members *m, int part)
{
    return m->first[part + 1] - m->first[part];
}

#endif
