#include "math/parallel.h"

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

typedef struct Loop {
    sti_Range *work;
    void *ctx;
    int64_t n;
} Loop;

static void run_range(void *ctx, int thread, int n_threads)
{
    const Loop *loop = ctx;
    const int64_t first = sti_share(loop->n, thread, n_threads), end = sti_share(loop->n, thread + 1, n_threads);
    if (first < end) loop->work(loop->ctx, first, end);
}

void sti_team_for(int threads, int64_t n, int64_t least, sti_Range *work, void *ctx)
{
    Loop loop = {work, ctx, n};
    if (threads > n / least) threads = (int)(n / least);
    sti_team_run(threads, run_range, &loop);
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
    sti_team_for(threads, n, 16384, copy_range, &copy);
}
