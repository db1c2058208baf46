/* anderson.c -- see anderson.h. The least squares problem is solved by its normal equations, which each step updates by
 * one row. A small share of the trace on the diagonal keeps them regular if differences repeat.
 *
 * The vectors are long, and little is computed with each number, so the time is proportional to the number of reads. A
 * step therefore has two passes: the first computes the differences and all inner products, the second combines. Both
 * go block by block, so that numbers that are used several times stay in the nearest cache. Differences are stored in
 * single precision. Their sum in the next point is about as large as f, so its error is 1e-7 of the remaining distance.
 * Differences outside the range are cut off at 3e38 and become 0 below 1e-45; the rules of anderson.h cover this. */
#include "solve/anderson.h"

#include "math/simd4.h"

#include <float.h>

enum { WINDOW = STI_ANDERSON_WINDOW };
static const double regular = 1e-10; /* of the trace: 1e-14 to 1e-7 make no difference on walls of boxes */
static const double too_large = 10.0;
enum { PATIENCE = 50, FIRST_REST = 50 };
enum {
    BLOCK = 1024, /* numbers at a time: two of them are in the nearest cache                       */
    CHUNK = 2048, /* numbers whose products are summed up together                                 */
    LEAST = 4     /* chunks that are worth a thread                                                */
};
/* Sums of a chunk: |f|^2, then with the newest difference of f, and with f, those of all differences. */
enum { SIZE, GRAM, SIDE = GRAM + WINDOW, N_SUMS = SIDE + WINDOW };

/* The vectors in memory. */
static float *difference_f(const sti_Anderson *a, int k)
{
    return a->difference + (int64_t)k * a->n;
}
static float *difference_g(const sti_Anderson *a, int k)
{
    return a->difference + (int64_t)(a->window + k) * a->n;
}
enum { F, G, N_KEPT = G + 2 }; /* f of the last pair, and two places for g */
static double *kept(const sti_Anderson *a, int which)
{
    return a->memory + (int64_t)which * a->n;
}

static int count_chunks(int n)
{
    return (n + CHUNK - 1) / CHUNK;
}

static void forget(sti_Anderson *a)
{
    a->count = 0;
    a->newest = a->window - 1;
    a->has_last = false;
    a->smallest = INFINITY;
}

st_Status sti_anderson_begin(sti_Anderson *a, int n, int n_followers, int window, const double *weight, st_Error *err)
{
    STI_TRY(STI_GROW(&a->allocator, a->memory, a->memory_size, N_KEPT * (int64_t)n, err));
    STI_TRY(STI_GROW(&a->allocator, a->difference, a->difference_size, 2 * (int64_t)window * n, err));
    STI_TRY(STI_GROW(&a->allocator, a->followed, a->followed_size, 2 * (int64_t)n_followers, err));
    STI_TRY(STI_GROW(&a->allocator, a->followed_difference, a->followed_difference_size, (int64_t)window * n_followers,
                     err));
    STI_TRY(STI_GROW(&a->allocator, a->part, a->part_size, (int64_t)N_SUMS * count_chunks(n), err));
    a->n = n;
    a->n_followers = n_followers;
    a->window = window;
    a->weight = weight;
    a->to_halve = INFINITY;
    a->points = 0;
    a->rest = 0;
    a->rest_next = FIRST_REST;
    forget(a);
    return ST_OK;
}

void sti_anderson_release(sti_Anderson *a)
{
    STI_RELEASE(&a->allocator, a->memory, a->memory_size);
    STI_RELEASE(&a->allocator, a->difference, a->difference_size);
    STI_RELEASE(&a->allocator, a->followed, a->followed_size);
    STI_RELEASE(&a->allocator, a->followed_difference, a->followed_difference_size);
    STI_RELEASE(&a->allocator, a->part, a->part_size);
}

/* ------------------------------------------------------------------ the two passes */

typedef struct Pass {
    sti_Anderson *a;
    const double *x;
    double *g;
    const double *theta; /* of the second pass; NULL: nothing to combine                               */
    double *followers;
    int g_before; /* where those of the last pair are; -1: there is none                            */
    double
        largest; /* FLT_MAX. As a variable it is clamped by two instructions; with the constant gcc 12 needs twenty */
} Pass;

/* x'y in eight sums side by side, which is as exact as one and lets them run at once; the order is fixed. */
STI_INLINE void add_products(int n, const double *x, const float *y, double sum[8])
{
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            sum[l] += x[i + l] * (double)y[i + l];
    for (; i < n; i++)
        sum[0] += x[i] * (double)y[i];
}

STI_INLINE void add_squares(int n, const double *wf, const double *f, double sum[8])
{
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            sum[l] += wf[i + l] * f[i + l];
    for (; i < n; i++)
        sum[0] += wf[i] * f[i];
}

/* f of a block, and with the weights: wf. */
STI_INLINE void take_step(const Pass *pass, int64_t first, int n, double *restrict f, double *restrict wf)
{
    const double *weight = pass->a->weight + first, *x = pass->x + first, *g = pass->g + first;
    for (int i = 0; i < n; i++) {
        f[i] = g[i] - x[i];
        wf[i] = weight[i] * f[i];
    }
}

STI_INLINE float single(double x, double largest)
{
    x = largest < x ? largest : x;
    x = -largest > x ? -largest : x;
    return (float)x;
}

/* The differences to the pair before; that of f with the weights: wd. */
STI_INLINE void take_differences(const Pass *pass, int64_t first, int n, const double *restrict f, double *restrict wd)
{
    const sti_Anderson *a = pass->a;
    const double *restrict weight = a->weight + first, *g = pass->g + first;
    const double largest = pass->largest;
    const double *restrict f_last = kept(a, F) + first, *restrict g_last = kept(a, G + a->g_last) + first;
    float *restrict df = difference_f(a, a->newest) + first, *restrict dg = difference_g(a, a->newest) + first;
    for (int i = 0; i < n; i++) {
        df[i] = single(f[i] - f_last[i], largest);
        wd[i] = weight[i] * (double)df[i];
    }
    for (int i = 0; i < n; i++)
        dg[i] = single(g[i] - g_last[i], largest);
}

STI_CLONES static void measure_chunks(void *ctx, int64_t first, int64_t end)
{
    const Pass *pass = ctx;
    const sti_Anderson *a = pass->a;
    for (int64_t c = first; c < end; c++) {
        const int64_t stop = (c + 1) * CHUNK < a->n ? (c + 1) * CHUNK : a->n;
        double f[BLOCK], wf[BLOCK], wd[BLOCK], sum[N_SUMS][8] = {{0}};
        for (int64_t at = c * CHUNK; at < stop; at += BLOCK) {
            const int n = stop - at < BLOCK ? (int)(stop - at) : BLOCK;
            take_step(pass, at, n, f, wf);
            if (a->has_last) take_differences(pass, at, n, f, wd);
            memcpy(kept(a, F) + at, f, (size_t)n * sizeof *f);
            add_squares(n, wf, f, sum[SIZE]);
            for (int k = 0; k < a->count; k++) {
                add_products(n, wf, difference_f(a, k) + at, sum[SIDE + k]);
                if (a->has_last) add_products(n, wd, difference_f(a, k) + at, sum[GRAM + k]);
            }
        }
        for (int e = 0; e < N_SUMS; e++)
            a->part[c * N_SUMS + e] = ((sum[e][0] + sum[e][1]) + (sum[e][2] + sum[e][3])) +
                                      ((sum[e][4] + sum[e][5]) + (sum[e][6] + sum[e][7]));
    }
}

STI_CLONES static void combine_chunks(void *ctx, int64_t first, int64_t end)
{
    const Pass *pass = ctx;
    const sti_Anderson *a = pass->a;
    const int64_t stop = end * CHUNK < a->n ? end * CHUNK : a->n;
    for (int64_t at = first * CHUNK; at < stop; at += BLOCK) {
        const int n = stop - at < BLOCK ? (int)(stop - at) : BLOCK;
        double *restrict g = pass->g + at;
        memcpy(kept(a, G + a->g_last) + at, g, (size_t)n * sizeof *g);
        for (int k = 0; pass->theta != NULL && k < a->count; k++) {
            const float *restrict dg = difference_g(a, k) + at;
            for (int i = 0; i < n; i++)
                g[i] -= pass->theta[k] * (double)dg[i];
        }
    }
}

/* Both passes of the followers: their difference to the pair before, and the combination. */
STI_CLONES static void combine_followers(void *ctx, int64_t first, int64_t end)
{
    const Pass *pass = ctx;
    const sti_Anderson *a = pass->a;
    const int64_t n_all = a->n_followers, stop = end * CHUNK < n_all ? end * CHUNK : n_all;
    for (int64_t at = first * CHUNK; at < stop; at += BLOCK) {
        const int n = stop - at < BLOCK ? (int)(stop - at) : BLOCK;
        double *restrict g = pass->followers + at;
        if (pass->g_before >= 0) {
            const double *restrict before = a->followed + pass->g_before * n_all + at;
            float *restrict dg = a->followed_difference + a->newest * n_all + at;
            for (int i = 0; i < n; i++)
                dg[i] = single(g[i] - before[i], pass->largest);
        }
        memcpy(a->followed + a->g_last * n_all + at, g, (size_t)n * sizeof *g);
        for (int k = 0; pass->theta != NULL && k < a->count; k++) {
            const float *restrict dg = a->followed_difference + k * n_all + at;
            for (int i = 0; i < n; i++)
                g[i] -= pass->theta[k] * (double)dg[i];
        }
    }
}

/* Sum e over all chunks, in their order. */
static double total(const sti_Anderson *a, int e)
{
    double sum = 0.0;
    for (int c = 0; c < count_chunks(a->n); c++)
        sum += a->part[c * N_SUMS + e];
    return sum;
}

/* theta of the normal equations; false when they cannot be solved. */
static bool least_squares(const sti_Anderson *a, double theta[WINDOW])
{
    double N[WINDOW][WINDOW], trace = 0.0;
    const int m = a->count;
    for (int i = 0; i < m; i++) {
        memcpy(N[i], a->gram[i], sizeof N[i]);
        trace += N[i][i];
        theta[i] = total(a, SIDE + i);
    }
    for (int i = 0; i < m; i++) { /* elimination without pivoting: positive definite */
        N[i][i] += regular * trace;
        if (!(N[i][i] > 0.0)) return false;
        for (int k = i + 1; k < m; k++) {
            const double factor = N[k][i] / N[i][i];
            for (int j = i; j < m; j++)
                N[k][j] -= factor * N[i][j];
            theta[k] -= factor * theta[i];
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++)
            theta[i] -= N[i][j] * theta[j];
        theta[i] /= N[i][i];
    }
    return true;
}

void sti_anderson_next(sti_Anderson *a, const double *restrict x, double *restrict g, double *followers)
{
    double theta[WINDOW];
    Pass pass = {.a = a, .x = x, .g = g, .followers = followers, .g_before = -1, .largest = FLT_MAX};
    if (a->rest > 0) {
        a->rest--;
        return;
    }

    /* f and, in the place of the oldest pair, f - f_last and g - g_last; with all their products. */
    if (a->has_last) {
        a->newest = (a->newest + 1) % a->window;
        a->count += a->count < a->window;
    }
    sti_team_for(a->threads, count_chunks(a->n), LEAST, measure_chunks, &pass);
    for (int k = 0; a->has_last && k < a->count; k++)
        a->gram[k][a->newest] = a->gram[a->newest][k] = total(a, GRAM + k);

    /* Go back to the best g if |f| grows at once, or if it has not halved in many points; then a rest follows. */
    const double size = sqrt(total(a, SIZE));
    const bool best = size < a->smallest;
    bool goes_back = false;
    if (best) a->smallest = size;
    if (size <= 0.5 * a->to_halve) {
        a->to_halve = size;
        a->points = 0;
        a->rest_next = FIRST_REST;
    }
    if (++a->points > PATIENCE) {
        a->points = 0;
        a->rest = a->rest_next;
        if (a->rest_next < INT32_MAX / 4) a->rest_next *= 2;
        goes_back = true;
    }
    if (goes_back || !(size <= too_large * a->smallest)) {
        const int64_t n = a->n_followers;
        if (!best) memcpy(g, kept(a, G + a->g_best), sizeof(double) * (size_t)a->n);
        if (!best && n > 0) memcpy(followers, a->followed + a->g_best * n, sizeof(double) * (size_t)n);
        forget(a);
        return;
    }
    if (a->count > 0 && least_squares(a, theta)) pass.theta = theta;
    if (a->has_last) pass.g_before = a->g_last;
    a->g_last = !a->g_best; /* over any that is not the best */
    if (best) a->g_best = a->g_last;
    sti_team_for(a->threads, count_chunks(a->n), LEAST, combine_chunks, &pass);
    sti_team_for(a->threads, count_chunks(a->n_followers), LEAST, combine_followers, &pass);
    a->has_last = true;
}
