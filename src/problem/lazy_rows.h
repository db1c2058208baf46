/* problem/lazy_rows.h -- rows of H that are made when somebody wants them.
 *
 * The contacts of a pile touch two bodies each, all velocities of both. Their graph (pile.h) takes the numbers of a
 * contact from where they come from, straight into its lanes, and most steps need no H beside it: three rows of twelve
 * numbers with their places are half of what a contact weighs. A problem with `later` and without H.p has H still to be
 * made; whoever reads H calls sti_rows_make before. The problem is the same before and after.
 */
#ifndef STI_ROWS_H
#define STI_ROWS_H

#include "base/base.h"

#include <stiction/problem.h>

enum {
    STI_NODE = 8,      /* doubles that a body's six velocities take in lanes                           */
    STI_FEW_ROWS = 64, /* fewer contacts are swept one by one, each solved exactly: lanes would stay empty, and
                        * their rows are wanted at once                                              */
};

struct st_RowSource {
    void *ctx;
    /* The first velocities of the two blocks of A that contact c touches; -1: none on that side. */
    void (*legs)(const void *ctx, int c, int first[2]);
    /* The first `dim` (at most 3) rows of contact c, on all velocities of each block; the rest is left as it is. May be
     * called by several threads.                                                                  */
    void (*put)(const void *ctx, int c, int dim, double row[3][2][STI_NODE]);
    /* Where contact c is: its point, normal and tangent, nine numbers in a row, and the centres of its bodies, all in
     * the world. Nothing is copied: lanes take them from where they stand. The rows are sums d . (v + w x l) over both
     * sides, with levers l from the centres to the point. And the axes of a body (rows of the matrix that takes its own
     * to the world's), by its first velocity: half of its velocities turn it, in its own axes.              */
    const double *(*frame)(const void *ctx, int c, const double *centre[2]);
    const double *(*axes)(const void *ctx, int first);
    /* All of them, into the problem's H. */
    st_Status (*make)(void *ctx, st_Error *err);
};

static inline bool sti_rows_wait(const st_Problem *problem)
{
    return problem->later != NULL && problem->H.p == NULL;
}

static inline st_Status sti_rows_make(const st_Problem *problem, st_Error *err)
{
    return sti_rows_wait(problem) ? problem->later->make(problem->later->ctx, err) : ST_OK;
}

#endif
