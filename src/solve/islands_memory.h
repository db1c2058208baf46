/* solve/islands_memory.h -- what the files of the islands share, and nobody else.
 *
 *     islands.c        solvers, and all parts one after another
 *     islands_find.c   who is connected with whom: parts and their members
 *     islands_part.c   one part as a problem of its own, and its answer back in the whole
 */
#ifndef STI_ISLANDS_MEMORY_H
#define STI_ISLANDS_MEMORY_H

#include "solve/islands.h"
#include "solve/linear.h"
#include "solve/rows.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))

/* Parts: 0 is what has no contacts, 1 .. n_islands the islands; and nobody's. */
enum { REST = 0, NONE = -1 };

/* Solvers keep the structure of joints from step to step. Mechanisms so have one each, up to this many, by their order;
 * islands without joints share the first.                                                        */
enum { MOST_SOLVERS = 64 };

/* Members of every part, ascending: member[first[k]] .. member[first[k + 1] - 1]. */
typedef struct Members {
    STI_ARRAY(int, first);
    STI_ARRAY(int, member);
} Members;

/* A block-diagonal matrix: where the values of each block start and whose a row is, in the whole; and the part's own.
 */
typedef struct Blocks {
    STI_ARRAY(int64_t, at);
    STI_ARRAY(int, of);
    int n;
    int64_t n_x;
    STI_ARRAY(int, first);
    STI_ARRAY(double, x);
    STI_ARRAY(unsigned char, marked);
} Blocks;

/* G or H of a part. */
typedef struct Columns {
    int n;
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, i);
    STI_ARRAY(double, x);
} Columns;

struct sti_Islands {
    st_Allocator allocator;
    st_SolverDef def;
    bool split;
    st_Solver *solver[MOST_SOLVERS];
    sti_Linear *linear; /* for problems without contacts                                           */
    int n_islands;
    bool whole; /* the last problem was not taken apart                                            */
    STI_ARRAY(sti_Island, island);
    const st_Problem *problem;
    int n_velocities;                /* that A.at and A.of are known for                           */
    STI_ARRAY(int, shape);           /* A.first as it was then                                     */
    STI_ARRAY(unsigned char, marks); /* and A.diagonal, zeros for none                             */
    STI_ARRAY(int, above);           /* union-find over blocks                                            */
    STI_ARRAY(int, part_of);         /* by block                                                          */
    STI_ARRAY(int, l_part);          /* by joint row                                                      */
    STI_ARRAY(int, c_part);          /* by contact                                                        */
    STI_ARRAY(int, v_first);         /* by block: its first velocity in the part                          */
    Members blocks, rows, contacts;

    st_Problem part; /* the one being solved, its number and its arrays                            */
    int number;
    struct st_RowSource later; /* of its rows, where they wait                                     */
    Blocks A, Cb, C;
    Columns G, H;
    STI_ARRAY(double, f);
    STI_ARRAY(double, g);
    STI_ARRAY(double, w);
    STI_ARRAY(st_ContactLaw, law);
    STI_ARRAY(double, v);
    STI_ARRAY(double, l);
    STI_ARRAY(double, u);
    STI_ARRAY(double, r);
};

/* The parts of s->problem, by number; then their members. */
st_Status sti_parts_find(sti_Islands *s, const sti_Awake *awake, st_Error *err);
st_Status sti_parts_list(sti_Islands *s, const sti_Awake *awake, st_Error *err);

/* One as s->part, with its share of the start r; its answer, s->v, l, u and r, where it belongs in the whole. */
st_Status sti_part_take(sti_Islands *s, int part, const double *start, st_Error *err);
void sti_part_give(const sti_Islands *s, int part, st_Solution *out);

/* The blocks that a contact touches whose rows wait to be made; NONE on a side without. */
static inline void sti_waiting_blocks(const sti_Islands *s, int c, int block[2])
{
    const struct st_RowSource *later = s->problem->later;
    int first[2];
    later->legs(later->ctx, c, first);
    for (int side = 0; side < 2; side++)
        block[side] = first[side] >= 0 ? s->A.of[first[side]] : NONE;
}

#endif
