#include "math/block_diag.h"

#include "base/tolerance.h"

/* A = L D L', L unit lower, D on the diagonal. Returns the row of a failing pivot, or -1. */
static int64_t ldl(const double *a, int64_t n, double *l, double *pivot)
{
    for (int64_t c = 0; c < n; c++) {
        double d = a[c * n + c];
        for (int64_t k = 0; k < c; k++)
            d -= l[c * n + k] * l[c * n + k] * l[k * n + k];
        *pivot = l[c * n + c] = d;
        if (!(d > STI_DEFINITE_PIVOT * a[c * n + c])) return c; /* also for NaN */
        for (int64_t i = c + 1; i < n; i++) {
            double sum = a[i * n + c];
            for (int64_t k = 0; k < c; k++)
                sum -= l[i * n + k] * l[k * n + k] * l[c * n + k];
            l[i * n + c] = sum / d;
        }
    }
    return -1;
}

/* Only the lower triangle of a symmetric block is read. */
static bool diag_is_diagonal(const double *a, int64_t n, bool symmetric)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = symmetric ? i + 1 : 0; j < n; j++)
            if (i != j && a[i * n + j] != 0.0) return false;
    return true;
}

/* The symmetric part decides whether a nonsymmetric block can be factorised. */
static int64_t diag_factor_block(const sti_BlockFactor *factor, int k, double *pivot)
{
    const int64_t n = factor->first[k + 1] - factor->first[k], at = factor->start[k];
    const double *a = factor->matrix->x + at;
    double *f = factor->numbers == factor->value ? factor->value + at : NULL;
    factor->single[k] = sti_block_marked(factor->matrix, k) || diag_is_diagonal(a, n, factor->symmetric);
    if (factor->single[k] || f == NULL) {
        /* A = D, with entries d apart; `to` may be NULL if it is already there. */
        int64_t d = sti_block_stride(factor->matrix, k);
        for (int64_t c = 0; c < n; c++) {
            *pivot = a[c * d];
            if (f != NULL) f[c * d] = *pivot;
            if (!(*pivot > STI_DEFINITE_PIVOT * *pivot)) return c; /* also for NaN and infinity */
        }
        return -1;
    }
    if (factor->symmetric) return ldl(a, n, f, pivot);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            factor->work[i * n + j] = 0.5 * (a[i * n + j] + a[j * n + i]);
    const int64_t bad = ldl(factor->work, n, f, pivot);
    if (bad >= 0) return bad;
    /* A = L U, L unit lower. */
    memcpy(f, a, (size_t)n * (size_t)n * sizeof *f);
    for (int64_t c = 0; c < n; c++) {
        *pivot = f[c * n + c];
        if (!(*pivot > 0.0)) return c;
        for (int64_t i = c + 1; i < n; i++) {
            const double multiple = f[i * n + c] /= *pivot;
            for (int64_t column = c + 1; column < n; column++)
                f[i * n + column] -= multiple * f[c * n + column];
        }
    }
    return -1;
}

st_Status sti_block_factor(sti_BlockFactor *factor, const st_BlockDiag *matrix, bool symmetric, const char *name,
                           st_Error *err)
{
    const int n_blocks = matrix->n_blocks;
    STI_TRY(STI_GROW(&factor->allocator, factor->start, factor->start_size, n_blocks + 1, err));
    STI_TRY(STI_GROW(&factor->allocator, factor->single, factor->single_size, n_blocks, err));
    int64_t largest = 0, n_marked = 0;
    factor->start[0] = 0;
    for (int k = 0; k < n_blocks; k++) {
        const int64_t count = sti_block_numbers(matrix, k);
        factor->start[k + 1] = factor->start[k] + count;
        largest = count > largest ? count : largest;
        n_marked += sti_block_marked(matrix, k);
    }
    const bool there = n_blocks > 0 && n_marked == n_blocks;
    if (!there) STI_TRY(STI_GROW(&factor->allocator, factor->value, factor->value_size, factor->start[n_blocks], err));
    factor->numbers = there ? matrix->x : factor->value;
    if (!symmetric) STI_TRY(STI_GROW(&factor->allocator, factor->work, factor->work_size, largest, err));
    factor->n_blocks = n_blocks;
    factor->symmetric = symmetric;
    factor->matrix = matrix;
    factor->first = matrix->first;
    for (int k = 0; k < n_blocks; k++) {
        double pivot = 0.0;
        const int64_t bad = diag_factor_block(factor, k, &pivot);
        if (bad >= 0)
            return sti_fail(err, ST_ERR_NUMERIC,
                            "%s block %d (rows %d to %d) is not positive definite: pivot %lld is %g", name, k,
                            matrix->first[k], matrix->first[k + 1] - 1, (long long)bad, pivot);
    }
    return ST_OK;
}

void sti_block_factor_release(sti_BlockFactor *factor)
{
    STI_RELEASE(&factor->allocator, factor->start, factor->start_size);
    STI_RELEASE(&factor->allocator, factor->value, factor->value_size);
    STI_RELEASE(&factor->allocator, factor->work, factor->work_size);
    STI_RELEASE(&factor->allocator, factor->single, factor->single_size);
}

#define NUMBER  double
#define NAME(f) f
#define CLONES
#include "math/block_diag_solve.h"

#define NUMBER  sti_Wide
#define NAME(f) f##_wide
#define CLONES  STI_CLONES
#include "math/block_diag_solve.h"

void sti_block_factor_solve_many(const sti_BlockFactor *factor, int k, int count, double *x)
{
    const int64_t n = factor->first[k + 1] - factor->first[k];
    const double *f = factor->numbers + factor->start[k];
    const int64_t apart = factor->single[k] ? sti_block_stride(factor->matrix, k) : 0;
    for (int c = 0; c < count; c++, x += n)
        solve_block(apart, factor->symmetric, f, n, x);
}

void sti_block_factor_solve_to(const sti_BlockFactor *factor, int k, int count, const double *from, double *to)
{
    const int64_t n = factor->first[k + 1] - factor->first[k];
    if (factor->single[k] && n == 6) {
        /* Multiplies by the inverse of a diagonal block of six: one division per column. */
        const double *d = factor->numbers + factor->start[k];
        const int64_t apart = sti_block_stride(factor->matrix, k);
        double inverse[6];
        for (int i = 0; i < 6; i++)
            inverse[i] = 1.0 / d[i * apart];
        for (int c = 0; c < count; c++, from += 6, to += 6)
            for (int i = 0; i < 6; i++)
                to[i] = from[i] * inverse[i];
        return;
    }
    memcpy(to, from, (size_t)(count * n) * sizeof *to);
    sti_block_factor_solve_many(factor, k, count, to);
}

void sti_block_factor_solve_wide(const sti_BlockFactor *factor, int k, sti_Wide *x)
{
    solve_block_wide(factor->single[k] ? sti_block_stride(factor->matrix, k) : 0, factor->symmetric,
                     factor->numbers + factor->start[k], factor->first[k + 1] - factor->first[k], x);
}

void sti_block_factor_solve(const sti_BlockFactor *factor, int k, double *x)
{
    sti_block_factor_solve_many(factor, k, 1, x);
}
