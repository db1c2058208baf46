/* linalg/tree_coordinates.h -- a step problem in the coordinates of its trees: joints eliminated before any solver.
 *
 * Blocks of A that rows of G tie together like a tree have as many free velocities y as the rows leave:
 *
 *     v = T y + p,   G_t' T = 0,   G_t' p + g_t = 0          G_t: the rows of the tree
 *
 * so that the problem of the same form in y
 *
 *     (T'A T) y = T'(f - A p) + T'H r + T'G_o l_o,     u = (T'H)' y + C r + w + H'p,     likewise for the other rows
 * G_o
 *
 * has the same r, u and v, with one dense block per tree and without the rows G_t. It is smaller (a humanoid: 27
 * velocities instead of 153 and 126 rows) and has the same form: every law, solver and compliance works with it. The
 * impulses l_t follow from the leaves to the root.
 */
#ifndef STI_TREE_COORDINATES_H
#define STI_TREE_COORDINATES_H

#include "base/base.h"

#include <stiction/problem.h>

/* A block with at most six velocities and the rows that tie it to its parent. */
typedef struct sti_TreeLink {
    int block;
    int parent;            /* link, before this one; -1: none, a root                              */
    int first_row, n_rows; /* of G; they touch the block and that of its parent alone; 0 rows: a free root       */
    int rank;              /* how many of them are independent                                     */
} sti_TreeLink;

/* A block of one velocity s that a row sets from those of links of one tree: a' v - s + g = 0. */
typedef struct sti_TreeFollower {
    int block, row;
} sti_TreeFollower;

typedef struct sti_TreePlan {
    int n_links, n_followers;
    sti_TreeLink *link; /* tree by tree                                                    */
    sti_TreeFollower *follower;
} sti_TreePlan;

typedef struct sti_TreeCoordinates sti_TreeCoordinates;

/* For problems with blocks of A as in `first`. The plan is copied. open: only sti_tree_coordinates_solve is used, with
 * memory that is linear in the number of links. */
st_Status sti_tree_coordinates_create(const st_Allocator *allocator, const sti_TreePlan *plan, int n_blocks,
                                      const int *first, bool open, sti_TreeCoordinates **out, st_Error *err);
void sti_tree_coordinates_destroy(sti_TreeCoordinates *trees);

/* The problem in tree coordinates, valid until the next call. The original problem must stay unchanged while the
 * reduced one is used. *reduced = NULL: the rows of a joint are dependent at this position; solve the original problem.
 */
st_Status sti_tree_coordinates_reduce(sti_TreeCoordinates *trees, const st_Problem *problem, const st_Problem **reduced,
                                      st_Error *err);
/* The arrays for velocities and impulses of the reduced problem: v and l of a solver. */
void sti_tree_coordinates_solution(sti_TreeCoordinates *trees, double **y, double **l);
/* v and l of the original problem from these arrays and r. awake: by reduced block, 1 if it was solved, otherwise its v
 * and l are unchanged; NULL: all. */
void sti_tree_coordinates_expand(sti_TreeCoordinates *trees, const unsigned char *awake, const double *r, double *v,
                                 double *l);
/* v and l of a problem without contacts, if it has only rows of trees and soft rows on single coordinates. *done =
 * false: it has others, or rounding is too large; v and l are then undefined. */
st_Status sti_tree_coordinates_solve(sti_TreeCoordinates *trees, const st_Problem *problem, double *v, double *l,
                                     bool *done, st_Error *err);
/* The first row of a link with a coordinate that moves no mass, in the reduced problem of the last call; -1: none. */
int sti_tree_coordinates_massless(const sti_TreeCoordinates *trees);
/* Rows of the last problem that depend on those of trees and were left out. */
int sti_tree_coordinates_held(const sti_TreeCoordinates *trees);
/* Do trees hold all rigid rows of the last problem, so that no loop is closed? */
bool sti_tree_coordinates_are_open(const sti_TreeCoordinates *trees);
/* The block of the reduced problem that a block of the problem belongs to. */
int sti_tree_coordinates_block(const sti_TreeCoordinates *trees, int block);
/* The same, of a velocity of the problem. */
int sti_tree_coordinates_block_of(const sti_TreeCoordinates *trees, int velocity);

#endif
