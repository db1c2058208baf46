/* solve/islands.h -- a step problem in its independent parts.
 *
 * Blocks of A that share a joint row, a contact or an off-diagonal entry of compliance depend on each other; what is
 * connected so is an island, and nothing crosses from one to the next:
 *
 *     A v = f + H r + G l, ...        =        one such problem an island
 *
 * Each is solved with its own start, iterations and residual, so that a mechanism of three bodies beside a pile is
 * solved to the tolerance on its own scale, and a hard island does not make the others pay. Blocks without
 * contacts need no law: all of them together are one linear part, which is no island. One island is not taken
 * apart: the solver sees the problem as it is.
 *
 * Several threads take islands from each other; what is found does not depend on how many there are (islands_parts.c).
 */
#ifndef STI_ISLANDS_H
#define STI_ISLANDS_H

#include "solve/solver.h"

typedef struct sti_Islands sti_Islands;

/* What an island is made of, and how its solve went. */
typedef struct sti_Island {
    int n_blocks, n_contacts, n_l;
    st_SolveInfo info;
    bool confirmed; /* by islands_confirm.c, without a solver */
} sti_Island;

/* The solvers are made as the def says, one a thread, but `stop` ends them and not the def's cancel. Not split: every
 * problem is solved as it is, unless something is still. */
st_Status sti_islands_create(const st_SolverDef *def, bool split, sti_Stop *stop, sti_Islands **out, st_Error *err);
/* Others with the same settings and memory of their own: for a problem beside the one at hand. */
st_Status sti_islands_create_alike(const sti_Islands *islands, sti_Islands **out, st_Error *err);
void sti_islands_destroy(sti_Islands *islands);

/* Blocks that are solved for, ascending; the others are left out, with the joint rows and contacts that touch them, and
 * cost nothing: their f is not looked at, their v, l, u and r stay as they are. One that is left out shares no row with
 * one that is not.                                                                                */
typedef struct sti_Awake {
    const int *block;
    int n;
} sti_Awake;

/* As sti_solver_solve; *info is the worst of all islands. awake NULL: all. */
st_Status sti_islands_solve(sti_Islands *islands, const st_Problem *problem, const sti_PileContacts *pile,
                            const sti_Awake *awake, st_Solution *solution, st_SolveInfo *info, st_Error *err);

/* A problem without contacts was solved elsewhere: there are no islands, and *info is that of a solution. */
void sti_islands_without_contacts(sti_Islands *islands, const st_Problem *problem, st_SolveInfo *info);

/* The solution of the last problem, where nothing was still and no contact, as one of this, which differs in the
 * numbers of G, f and g alone: a step with the factors of then (no_contacts.h).                           */
st_Status sti_islands_correct(sti_Islands *islands, const st_Problem *problem, st_Solution *solution,
                              st_SolveInfo *info, st_Error *err);
/* For the next solve alone: the residual that the last one left at a contact, whose impulse is the start. An island
 * that was solved exactly is kept so, one that was not need not be (auto.c).                             */
typedef double (*sti_Left)(const void *ctx, int contact);
void sti_islands_recall(sti_Islands *islands, sti_Left left, const void *ctx);
/* For the next solves: small islands are tried with dense factors first (dense_newton.h). */
void sti_islands_try_dense(sti_Islands *islands, bool tries);
/* For the next solves: visits of each contact of an island at most. */
void sti_islands_limit(sti_Islands *islands, double max_work);
/* Problems without contacts from now on without refinement: for who corrects. */
void sti_islands_be_rough(sti_Islands *islands);

/* Of the last solve, in order of their first blocks. */
int sti_islands_count(const sti_Islands *islands);
const sti_Island *sti_islands_get(const sti_Islands *islands, int index);
int sti_islands_of(const sti_Islands *islands, int contact);     /* whose it is; -1: of what is left out */
int sti_islands_of_block(const sti_Islands *islands, int block); /* likewise, a block of A */

#endif
