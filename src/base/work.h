/* base/work.h -- when a computation ends before it is done: it was cancelled, or its budget is spent.
 *
 *     sti_Stop   one per system or solver, shared by all threads that work for it: may it go on?
 *     sti_Work   one per solve, counted by one thread: how much was done, and how much may be
 *
 * Every loop over contacts, pairs, sweeps, pivots and factors asks, at least once in some ten milliseconds. A budget is
 * counted in visits and not in seconds, so that results repeat.
 */
#ifndef STI_WORK_H
#define STI_WORK_H

#include "base/base.h"

#include <stdatomic.h>

typedef enum sti_StopReason { STI_GO_ON = 0, STI_CANCELLED, STI_OUT_OF_TIME } sti_StopReason;

typedef struct sti_Stop {
    atomic_int why;         /* sti_StopReason; set by any thread or signal handler                */
    double deadline;        /* on the clock of sti_seconds_now [s]; 0: none                       */
    bool (*ask)(void *ctx); /* a function of the caller's, true: stop; or NULL                    */
    void *ctx;
    atomic_flag asking; /* it is called by one thread at a time                                   */
} sti_Stop;

/* No reason to stop yet. `ask` may be NULL. */
void sti_stop_begin(sti_Stop *stop, bool (*ask)(void *ctx), void *ctx);
/* From any thread and from signal handlers. */
void sti_stop_set(sti_Stop *stop, sti_StopReason why);
/* The clock and the caller's function decide, unless it is decided already. */
bool sti_stop_look(sti_Stop *stop);

/* Is it to stop? NULL: never. */
static inline bool sti_stopped(sti_Stop *stop)
{
    if (stop == NULL) return false;
    if (atomic_load_explicit(&stop->why, memory_order_relaxed) != STI_GO_ON) return true;
    return (stop->deadline > 0.0 || stop->ask != NULL) && sti_stop_look(stop);
}

/* Multiplications of a factorisation that take as long as one visit of a contact in a sweep: both some 100 ns. */
#define STI_PRODUCTS_PER_VISIT 256.0

typedef struct sti_Work {
    sti_Stop *stop;
    double spent; /* visits of contacts, factor operations included                                */
    double most;  /* INFINITY: no limit                                                            */
} sti_Work;

static inline void sti_work_visits(sti_Work *work, double visits)
{
    if (work != NULL) work->spent += visits;
}

static inline void sti_work_products(sti_Work *work, double products)
{
    if (work != NULL) work->spent += products / STI_PRODUCTS_PER_VISIT;
}

/* Is the budget spent, or is it to stop? What is found so far is then the answer. */
static inline bool sti_work_ends(const sti_Work *work)
{
    return work->spent >= work->most || sti_stopped(work->stop);
}

#endif
