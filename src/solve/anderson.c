/* anderson.c -- see anderson.h. The least squares problem is solved by its normal equations, kept up to date
 * by one row a step; a little of the trace on the diagonal holds them regular when differences repeat.   */
#include "solve/anderson.h"

enum { WINDOW = STI_ANDERSON_WINDOW };
static const double regular = 1e-10; /* of the trace: 1e-14 to 1e-7 make no difference on walls of boxes */
static const double too_large = 10.0;
enum { PATIENCE = 200, FIRST_REST = 10 };

/* The vectors in memory. */
static double *difference_f(const sti_Anderson *a, int k)
{
    return a->memory + (int64_t)k * a->n;
}
static double *difference_g(const sti_Anderson *a, int k)
{
    return a->memory + (int64_t)(WINDOW + k) * a->n;
}
enum { F, F_LAST, G_LAST, G_BEST };
static double *kept(const sti_Anderson *a, int which)
{
    return a->memory + (int64_t)(2 * WINDOW + which) * a->n;
}

static void forget(sti_Anderson *a)
{
    a->count = 0;
    a->newest = WINDOW - 1;
    a->has_last = false;
    a->smallest = INFINITY;
}

st_Status sti_anderson_begin(sti_Anderson *a, int n, const double *weight, st_Error *err)
{
    STI_TRY(STI_GROW(&a->allocator, a->memory, a->memory_size, (2 * WINDOW + 4) * (int64_t)n, err));
    a->n = n;
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
}

/* Numbers whose products are summed up together: many small chunks, but no more than there is room for. */
enum { CHUNK = 8192, MOST_CHUNKS = 512 };

typedef struct Dot {
    const sti_Anderson *a;
    const double *x, *y;
    int64_t chunk;
    double part[MOST_CHUNKS];
} Dot;

/* x'Wy in eight sums side by side, which is as exact as one and lets them run at once; the order is fixed. */
static void dot_chunks(void *ctx, int64_t first, int64_t end)
{
    Dot *dot = ctx;
    const double *weight = dot->a->weight, *x = dot->x, *y = dot->y;
    for (int64_t c = first; c < end; c++) {
        const int64_t begin = c * dot->chunk, stop = begin + dot->chunk < dot->a->n ? begin + dot->chunk : dot->a->n;
        const int64_t whole = stop - (stop - begin) % 8;
        double part[8] = {0};
        for (int64_t i = begin; i < whole; i += 8)
            for (int l = 0; l < 8; l++)
                part[l] += weight[i + l] * x[i + l] * y[i + l];
        for (int64_t i = whole; i < stop; i++)
            part[0] += weight[i] * x[i] * y[i];
        dot->part[c] = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
}

static double weighted_dot(const sti_Anderson *a, const double *x, const double *y)
{
    Dot dot; /* not cleared: small problems come here often */
    dot.a = a, dot.x = x, dot.y = y;
    dot.chunk = a->n / MOST_CHUNKS < CHUNK ? CHUNK : a->n / MOST_CHUNKS + 1;
    const int64_t n = (a->n + dot.chunk - 1) / dot.chunk;
    double sum = 0.0;
    sti_team_for(a->threads, n, 1, dot_chunks, &dot);
    for (int64_t c = 0; c < n; c++)
        sum += dot.part[c];
    return sum;
}

/* What is done number by number. */
typedef struct Numbers {
    sti_Anderson *a;
    double *g;
    const double *x;
    const double *theta;
} Numbers;

static void for_numbers(sti_Anderson *a, sti_Range *work, double *g, const double *x, const double *theta)
{
    Numbers numbers = {a, g, x, theta};
    sti_team_for(a->threads, a->n, CHUNK, work, &numbers);
}

static void take_differences(void *ctx, int64_t first, int64_t end)
{
    const Numbers *numbers = ctx;
    sti_Anderson *a = numbers->a;
    double *restrict df = difference_f(a, a->newest), *restrict dg = difference_g(a, a->newest);
    const double *f = kept(a, F), *f_last = kept(a, F_LAST), *g_last = kept(a, G_LAST), *g = numbers->g;
    for (int64_t i = first; i < end; i++) {
        df[i] = f[i] - f_last[i];
        dg[i] = g[i] - g_last[i];
    }
}

/* f - f_last and g - g_last take the place of the oldest pair. */
static void remember(sti_Anderson *a, double *g)
{
    a->newest = (a->newest + 1) % WINDOW;
    a->count += a->count < WINDOW;
    for_numbers(a, take_differences, g, NULL, NULL);
    for (int k = 0; k < a->count; k++)
        a->gram[k][a->newest] = a->gram[a->newest][k] = weighted_dot(a, difference_f(a, a->newest), difference_f(a, k));
}

/* theta of the normal equations; false when they cannot be solved. */
static bool least_squares(const sti_Anderson *a, double theta[WINDOW])
{
    double N[WINDOW][WINDOW], trace = 0.0;
    const int m = a->count;
    for (int i = 0; i < m; i++) {
        memcpy(N[i], a->gram[i], sizeof N[i]);
        trace += N[i][i];
        theta[i] = weighted_dot(a, difference_f(a, i), kept(a, F));
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

/* Has it gone wrong, at once or in the long run? Then a rest follows in the second case. */
static bool must_go_back(sti_Anderson *a, double size)
{
    if (size <= 0.5 * a->to_halve) {
        a->to_halve = size;
        a->points = 0;
        a->rest_next = FIRST_REST;
    }
    if (++a->points > PATIENCE) {
        a->points = 0;
        a->rest = a->rest_next;
        if (a->rest_next < INT32_MAX / 4) a->rest_next *= 2;
        return true;
    }
    return !(size <= too_large * a->smallest);
}

static void take_step(void *ctx, int64_t first, int64_t end)
{
    const Numbers *numbers = ctx;
    double *restrict f = kept(numbers->a, F);
    for (int64_t i = first; i < end; i++)
        f[i] = numbers->g[i] - numbers->x[i];
}

static void keep_step(void *ctx, int64_t first, int64_t end)
{
    const Numbers *numbers = ctx;
    const size_t bytes = sizeof(double) * (size_t)(end - first);
    memcpy(kept(numbers->a, F_LAST) + first, kept(numbers->a, F) + first, bytes);
    memcpy(kept(numbers->a, G_LAST) + first, numbers->g + first, bytes);
}

static void keep_best(void *ctx, int64_t first, int64_t end)
{
    const Numbers *numbers = ctx;
    memcpy(kept(numbers->a, G_BEST) + first, numbers->g + first, sizeof(double) * (size_t)(end - first));
}

static void combine(void *ctx, int64_t first, int64_t end)
{
    const Numbers *numbers = ctx;
    sti_Anderson *a = numbers->a;
    double *restrict g = numbers->g;
    for (int k = 0; k < a->count; k++) {
        const double *restrict dg = difference_g(a, k);
        const double theta = numbers->theta[k];
        for (int64_t i = first; i < end; i++)
            g[i] -= theta * dg[i];
    }
}

void sti_anderson_next(sti_Anderson *a, const double *restrict x, double *restrict g)
{
    double theta[WINDOW];
    if (a->rest > 0) {
        a->rest--;
        return;
    }
    for_numbers(a, take_step, g, x, NULL);
    const double size = sqrt(weighted_dot(a, kept(a, F), kept(a, F)));
    if (size < a->smallest) {
        a->smallest = size;
        for_numbers(a, keep_best, g, NULL, NULL);
    }
    if (must_go_back(a, size)) {
        memcpy(g, kept(a, G_BEST), sizeof(double) * (size_t)a->n);
        forget(a);
        return;
    }
    if (a->has_last) remember(a, g);
    for_numbers(a, keep_step, g, NULL, NULL);
    a->has_last = true;
    if (a->count == 0 || !least_squares(a, theta)) return;
    for_numbers(a, combine, g, NULL, theta);
}
