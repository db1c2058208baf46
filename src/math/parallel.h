/* math/parallel.h -- a team of threads for one task.
 *
 * The result does not depend on the number of threads: each writes to its own memory, and sums are formed from parts
 * with bounds that depend only on the problem. Built without OpenMP a team has one member.
 */
#ifndef STI_PARALLEL_H
#define STI_PARALLEL_H

#include "base/base.h"

#include <stdatomic.h>

/* Called once in every thread, thread = 0 .. n_threads - 1. */
typedef void sti_Team(void *ctx, int thread, int n_threads);
void sti_team_run(int threads, sti_Team *work, void *ctx);
/* Inside a team: waits for all threads of the team. */
void sti_team_wait(int n_threads);

/* Items first .. end - 1. */
typedef void sti_Range(void *ctx, int64_t first, int64_t end);
/* Processes 0 .. n - 1 in ranges, several per thread; uses fewer threads if each would get less than `least`. */
void sti_team_for(int threads, int64_t n, int64_t least, sti_Range *work, void *ctx);

static inline int64_t sti_share(int64_t n, int thread, int n_threads)
{
    return n * thread / n_threads; /* start of the share of a thread, and end of the one before */
}

/* For lists that a team builds together: every thread counts its items, and after a wait reads how many come before
 * its own. */
enum { STI_MOST_THREADS = 256 };
typedef struct sti_Places {
    int64_t count[STI_MOST_THREADS];
} sti_Places;
static inline int64_t sti_places_before(const sti_Places *places, int thread)
{
    int64_t sum = 0;
    for (int k = 0; k < thread; k++)
        sum += places->count[k];
    return sum;
}

/* Work queues with stealing: every thread has one with the items first .. end - 1. It takes from the front of its
 * own, and when that is empty from the back of the others, so that no thread waits for the slowest. A thread fills
 * its own before a wait. No item is returned twice; -1: nothing is left. */
typedef struct sti_WorkQueue {
    _Alignas(64) _Atomic(uint64_t) left; /* end, first: 32 bits each                                    */
} sti_WorkQueue;
void sti_queue_fill(sti_WorkQueue *queue, int first, int end);
int sti_queue_take(sti_WorkQueue *queues, int thread, int n_threads);

/* Processes 0 .. n - 1 in parts, at most STI_PARTS, with bounds that depend only on n; returns their number. */
enum { STI_PARTS = 128 };
typedef void sti_PartWork(void *ctx, int part, int64_t first, int64_t end);
int sti_team_parts(int threads, int64_t n, sti_PartWork *work, void *ctx);
int64_t sti_part_first(int64_t n, int part);

/* The sum of the results of `work` over all parts, in order; and their maximum, at least 0. */
typedef double sti_PartValue(void *ctx, int64_t first, int64_t end);
double sti_team_sum(int threads, int64_t n, sti_PartValue *work, void *ctx);
double sti_team_largest(int threads, int64_t n, sti_PartValue *work, void *ctx);

/* Are all n numbers finite and at most `most` in magnitude? */
bool sti_team_within(int threads, const double *x, int64_t n, double most);

/* Copies n numbers. */
void sti_team_copy(int threads, double *to, const double *from, int64_t n);

#endif
