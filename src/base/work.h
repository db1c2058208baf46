/* base/work.h -- ends a computation early because it was cancelled or its budget is spent.
 *
 *     sti_Stop   one per system or solver, shared by all its threads: should it stop?
 *     sti_Work   one per solve, counted by one thread: work done, and the limit
 *
 * Every loop over contacts, pairs, sweeps, pivots and factors checks it at least about every ten milliseconds. A
 * budget is counted in visits and not in seconds, so that results repeat.
 */
#ifndef STI_WORK_H
#define STI_WORK_H

#include "base/base.h"

#include <stdatomic.h>

typedef enum sti_StopReason { STI_GO_ON = 0, STI_CANCELLED, STI_OUT_OF_TIME } sti_StopReason;

typedef struct sti_Stop {
    atomic_int why;         /* sti_StopReason; set by any thread or signal handler                */
    double deadline;        /* on the clock of sti_seconds_now [s]; 0: none                       */
    bool (*ask)(void *ctx); /* the caller's function, true: stop; or NULL */
    void *ctx;
    atomic_flag asking; /* only one thread at a time calls it */
} sti_Stop;

/* Clears the reason. `ask` may be NULL. */
void sti_stop_begin(sti_Stop *stop, bool (*ask)(void *ctx), void *ctx);
/* May be called from any thread and from signal handlers. */
void sti_stop_set(sti_Stop *stop, sti_StopReason why);
/* Checks the clock and the caller's function, unless a reason is already set. */
bool sti_stop_look(sti_Stop *stop);

/* Should it stop? NULL: never. */
static inline bool sti_stopped(sti_Stop *stop)
{
    if (stop == NULL) return false;
    if (atomic_load_explicit(&stop->why, memory_order_relaxed) != STI_GO_ON) return true;
    return (stop->deadline > 0.0 || stop->ask != NULL) && sti_stop_look(stop);
}

/* Number of multiplications in a factorisation that take as long as one visit of a contact in a sweep: both about
 * 100 ns. */
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

/* Is the budget spent, or should it stop? The result so far is then returned. */
static inline bool sti_work_ends(const sti_Work *work)
{
    return work->spent >= work->most || sti_stopped(work->stop);
}

#endif
