#include "math/parallel.h"
#include "math/simd4.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void sti_team_run(int threads, sti_Team *work, void *ctx)
{
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        work(ctx, omp_get_thread_num(), omp_get_num_threads());
        return;
    }
#else
    (void)threads;
#endif
    work(ctx, 0, 1);
}

void sti_team_wait(int n_threads)
{
#ifdef _OPENMP
    if (n_threads > 1) {
#pragma omp barrier
    }
#else
    (void)n_threads;
#endif
}

/* ---- work queues ------------------------------------------------------------------------------ */

void sti_queue_fill(sti_WorkQueue *queue, int first, int end)
{
    atomic_store_explicit(&queue->left, (uint64_t)end << 32 | (uint64_t)first, memory_order_relaxed);
}

/* All items are added before the wait, and their results are read after the next one: no memory order is needed. */
int sti_queue_take(sti_WorkQueue *queues, int thread, int n_threads)
{
    for (int k = 0; k < n_threads; k++) {
        sti_WorkQueue *queue = &queues[(thread + k) % n_threads];
        uint64_t left = atomic_load_explicit(&queue->left, memory_order_relaxed);
        for (;;) {
            const int first = (int)(uint32_t)left, end = (int)(left >> 32);
            if (first >= end) break;
            const uint64_t rest =
                k == 0 ? left + 1 : left - ((uint64_t)1 << 32); /* the front of its own queue, the back of the others */
            if (atomic_compare_exchange_weak_explicit(&queue->left, &left, rest, memory_order_relaxed,
                                                      memory_order_relaxed))
                return k == 0 ? first : end - 1;
        }
    }
    return -1;
}

/* ---- ranges ----------------------------------------------------------------------------------- */

/* Pieces of a range per thread: a thread that has finished takes pieces of the others. */
enum { PIECES = 8 };

typedef struct Loop {
    sti_Range *work;
    void *ctx;
    int64_t n;
    int n_queues, n_pieces;
    sti_WorkQueue queue[STI_MOST_THREADS];
} Loop;

static void run_pieces(void *ctx, int thread, int n_threads)
{
    Loop *loop = ctx;
    (void)n_threads; /* may be less than the number of queues: these threads also take from queues without a thread */
    for (int k; (k = sti_queue_take(loop->queue, thread, loop->n_queues)) >= 0;)
        loop->work(loop->ctx, sti_share(loop->n, k, loop->n_pieces), sti_share(loop->n, k + 1, loop->n_pieces));
}

void sti_team_for(int threads, int64_t n, int64_t least, sti_Range *work, void *ctx)
{
    Loop loop;
    if (threads > n / least) threads = (int)(n / least);
    if (threads > STI_MOST_THREADS) threads = STI_MOST_THREADS;
    if (threads < 2) {
        if (n > 0) work(ctx, 0, n);
        return;
    }
    loop.work = work, loop.ctx = ctx, loop.n = n;
    loop.n_queues = threads;
    loop.n_pieces = n < PIECES * threads ? (int)n : PIECES * threads;
    for (int k = 0; k < threads; k++)
        sti_queue_fill(&loop.queue[k], (int)sti_share(loop.n_pieces, k, threads),
                       (int)sti_share(loop.n_pieces, k + 1, threads));
    sti_team_run(threads, run_pieces, &loop);
}

/* ---- parts ------------------------------------------------------------------------------------ */

enum { LEAST_PART = 256, PARTS_A_THREAD = 4, LEAST_COPIED = 16384 };

static int64_t part_size(int64_t n)
{
    const int64_t size = (n + STI_PARTS - 1) / STI_PARTS;
    return size < LEAST_PART ? LEAST_PART : size;
}

int64_t sti_part_first(int64_t n, int part)
{
    const int64_t first = part * part_size(n);
    return first < n ? first : n;
}

typedef struct Parts {
    sti_PartWork *work;
    void *ctx;
    int64_t n;
} Parts;

static void run_parts(void *ctx, int64_t first, int64_t end)
{
    const Parts *parts = ctx;
    for (int part = (int)first; part < (int)end; part++)
        parts->work(parts->ctx, part, sti_part_first(parts->n, part), sti_part_first(parts->n, part + 1));
}

int sti_team_parts(int threads, int64_t n, sti_PartWork *work, void *ctx)
{
    Parts parts = {work, ctx, n};
    const int count = (int)((n + part_size(n) - 1) / part_size(n));
    sti_team_for(threads, count, PARTS_A_THREAD, run_parts, &parts);
    return count;
}

typedef struct Values {
    sti_PartValue *work;
    void *ctx;
    double value[STI_PARTS];
} Values;

static void evaluate_part(void *ctx, int part, int64_t first, int64_t end)
{
    Values *values = ctx;
    values->value[part] = values->work(values->ctx, first, end);
}

double sti_team_sum(int threads, int64_t n, sti_PartValue *work, void *ctx)
{
    Values values;
    values.work = work, values.ctx = ctx;
    const int count = sti_team_parts(threads, n, evaluate_part, &values);
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += values.value[k];
    return sum;
}

double sti_team_largest(int threads, int64_t n, sti_PartValue *work, void *ctx)
{
    Values values;
    values.work = work, values.ctx = ctx;
    const int count = sti_team_parts(threads, n, evaluate_part, &values);
    double largest = 0.0;
    for (int k = 0; k < count; k++)
        largest = sti_larger(values.value[k], largest);
    return largest;
}

typedef struct Numbers {
    const double *x;
    double most;
} Numbers;

STI_CLONES static double any_beyond(void *ctx, int64_t first, int64_t end)
{
    typedef int64_t Mask __attribute__((vector_size(STI_WIDTH * sizeof(int64_t))));
    const Numbers *numbers = ctx;
    const double most = numbers->most;
    Mask within = {-1, -1, -1, -1};
    int64_t k = first;
    for (; k + STI_WIDTH <= end; k += STI_WIDTH) { /* comparisons with NaN are false */
        sti_Wide x;
        memcpy(&x, numbers->x + k, sizeof x);
        within &= (x <= most) & (x >= -most);
    }
    bool all = (within[0] & within[1] & within[2] & within[3]) != 0;
    for (; k < end; k++)
        all = all && fabs(numbers->x[k]) <= most;
    return all ? 0.0 : 1.0;
}

bool sti_team_within(int threads, const double *x, int64_t n, double most)
{
    Numbers numbers = {x, most};
    return sti_team_largest(threads, n, any_beyond, &numbers) == 0.0;
}

typedef struct Copy {
    double *to;
    const double *from;
} Copy;

static void copy_range(void *ctx, int64_t first, int64_t end)
{
    const Copy *copy = ctx;
    memcpy(copy->to + first, copy->from + first, (size_t)(end - first) * sizeof *copy->to);
}

void sti_team_copy(int threads, double *to, const double *from, int64_t n)
{
    Copy copy = {to, from};
    sti_team_for(threads, n, LEAST_COPIED, copy_range, &copy);
}
