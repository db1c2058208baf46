/* solve/islands.h -- a step problem in its independent parts.
 *
 * Blocks of A that share a joint row, a contact or an off-diagonal entry of compliance depend on each other. Connected
 * blocks form an island; islands are independent:
 *
 *     A v = f + H r + G l, ...        =        one such problem per island
 *
 * Each is solved with its own start, iterations and residual. So a mechanism of three bodies beside a pile is
 * solved to the tolerance on its own scale, and a hard island does not slow down the others. Blocks without
 * contacts need no law: all of them together are one linear part, which is not an island. If there is only one island,
 * the solver gets the problem itself.
 *
 * Several threads share the islands; results do not depend on the number of threads (islands_parts.c). */
#ifndef STI_ISLANDS_H
#define STI_ISLANDS_H

#include "solve/solver.h"

typedef struct sti_Islands sti_Islands;

/* The parts of an island, and the result of its solve. */
typedef struct sti_Island {
    int n_blocks, n_contacts, n_l;
    st_SolveInfo info;
    bool confirmed; /* by islands_confirm.c, without a solver */
} sti_Island;

/* Creates solvers according to the def, one per thread. `stop` replaces the def's cancel. Without `split` every
 * problem is solved as it is, unless blocks are left out. */
st_Status sti_islands_create(const st_SolverDef *def, bool split, sti_Stop *stop, sti_Islands **out, st_Error *err);
/* Others with the same settings and memory of their own: for a problem beside the one at hand. */
st_Status sti_islands_create_alike(const sti_Islands *islands, sti_Islands **out, st_Error *err);
void sti_islands_destroy(sti_Islands *islands);

/* Blocks that are solved for, ascending. The others are left out with the joint rows and contacts that touch them, and
 * cost nothing: their f is not read, and their v, l, u and r are unchanged. A block that is left out shares no row
 * with one that is not. */
typedef struct sti_Awake {
    const int *block;
    int n;
} sti_Awake;

/* Data of one solve beside the problem. All zeros: none. */
typedef struct sti_IslandsCall {
    const sti_PileContacts *pile; /* contacts as arrays; NULL: as rows of H                                       */
    const sti_Awake *awake;       /* NULL: all blocks                                                             */
    bool dense;                   /* small islands are tried with dense factors first (dense_newton.h)            */
    double max_work;              /* limit of the visits of each contact of an island; 0: that of the def         */
    /* The residual that the last solve left at a contact whose impulse is the start; NULL: unknown. An island that was
     * solved exactly is solved exactly again; others need not be (auto.c). */
    double (*left)(const void *ctx, int contact);
    const void *left_ctx;
} sti_IslandsCall;

/* As sti_solver_solve; *info is the worst of all islands. call NULL: all zeros. */
st_Status sti_islands_solve(sti_Islands *islands, const st_Problem *problem, const sti_IslandsCall *call,
                            st_Solution *solution, st_SolveInfo *info, st_Error *err);

/* A problem without contacts was solved elsewhere: there are no islands, and *info is that of a solution. */
void sti_islands_without_contacts(sti_Islands *islands, const st_Problem *problem, st_SolveInfo *info);

/* Solves a problem that differs from the last one only in the numbers of G, f and g, if nothing was left out and there
 * was no contact: one step with the factors of the last solve (no_contacts.h). */
st_Status sti_islands_correct(sti_Islands *islands, const st_Problem *problem, st_Solution *solution,
                              st_SolveInfo *info, st_Error *err);
/* From now on problems without contacts are solved without refinement, for callers that correct the result. */
void sti_islands_be_rough(sti_Islands *islands);

/* Of the last solve, in order of their first blocks. */
int sti_islands_count(const sti_Islands *islands);
const sti_Island *sti_islands_get(const sti_Islands *islands, int index);
int sti_islands_of(const sti_Islands *islands, int contact);     /* the island of a contact; -1: it is left out */
int sti_islands_of_block(const sti_Islands *islands, int block); /* likewise, a block of A */

#endif
