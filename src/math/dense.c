/* dense.c -- right-looking blocked elimination (Golub & Van Loan, section 3.2.11) with the product of two panels as
 * its kernel. Sums run over k in ascending order for every blocking, and nothing is fused: the bits do not depend on
 * the vector unit.
 */
#include "math/dense.h"

#include "math/simd4.h"

enum { PANEL = 32, ROWS = 4, COLUMNS = 8 };

typedef double Lane __attribute__((vector_size(4 * sizeof(double))));

#define load(from, low, high) (memcpy((low), (from), sizeof(Lane)), memcpy((high), (from) + 4, sizeof(Lane)))
#define store(to, low, high)  (memcpy((to), &(low), sizeof(Lane)), memcpy((to) + 4, &(high), sizeof(Lane)))

/* ROWS x COLUMNS of C -= A B, B packed COLUMNS wide. */
STI_CLONES
static void tiles(double *C, int64_t c_stride, const double *A, int64_t a_stride, const double *packed, int m, int k)
{
    for (int i = 0; i + ROWS <= m; i += ROWS) {
        const double *a0 = A + i * a_stride, *a1 = a0 + a_stride, *a2 = a1 + a_stride, *a3 = a2 + a_stride;
        double *c = C + i * c_stride;
        Lane x00, x01, x10, x11, x20, x21, x30, x31; /* separate variables: an array would be kept in memory */
        load(c, &x00, &x01);
        load(c + c_stride, &x10, &x11);
        load(c + 2 * c_stride, &x20, &x21);
        load(c + 3 * c_stride, &x30, &x31);
        for (int p = 0; p < k; p++) {
            Lane b0, b1;
            load(packed + (int64_t)p * COLUMNS, &b0, &b1);
            x00 -= a0[p] * b0, x01 -= a0[p] * b1;
            x10 -= a1[p] * b0, x11 -= a1[p] * b1;
            x20 -= a2[p] * b0, x21 -= a2[p] * b1;
            x30 -= a3[p] * b0, x31 -= a3[p] * b1;
        }
        store(c, x00, x01);
        store(c + c_stride, x10, x11);
        store(c + 2 * c_stride, x20, x21);
        store(c + 3 * c_stride, x30, x31);
    }
}

/* y -= factor x, n numbers. */
static inline void subtract_multiple(double *y, double factor, const double *x, int n)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        Lane a, b;
        memcpy(&a, y + j, sizeof a);
        memcpy(&b, x + j, sizeof b);
        a -= factor * b;
        memcpy(y + j, &a, sizeof a);
    }
    for (; j < n; j++)
        y[j] -= factor * x[j];
}

/* The remainder of the tiles: rows at the bottom, columns at the right. */
STI_CLONES
static void edges(double *C, int64_t c_stride, const double *A, int64_t a_stride, const double *B, int64_t b_stride,
                  int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            subtract_multiple(C + i * c_stride, A[i * a_stride + p], B + p * b_stride, n);
}

void sti_dense_subtract(double *C, int64_t c_stride, const double *A, int64_t a_stride, const double *B,
                        int64_t b_stride, int m, int n, int k)
{
    double packed[PANEL * COLUMNS] __attribute__((aligned(STI_ALIGN)));
    const int whole_rows = m / ROWS * ROWS, whole_columns = n / COLUMNS * COLUMNS;
    for (int p0 = 0; p0 < k; p0 += PANEL) {
        const int depth = k - p0 < PANEL ? k - p0 : PANEL;
        const double *a = A + p0, *b = B + p0 * b_stride;
        for (int j = 0; j < whole_columns; j += COLUMNS) {
            for (int p = 0; p < depth; p++)
                memcpy(packed + p * COLUMNS, b + p * b_stride + j, COLUMNS * sizeof *packed);
            tiles(C + j, c_stride, a, a_stride, packed, m, depth);
        }
        edges(C + whole_columns, c_stride, a, a_stride, b + whole_columns, b_stride, whole_rows, n - whole_columns,
              depth);
        edges(C + whole_rows * c_stride, c_stride, a + whole_rows * a_stride, a_stride, b, b_stride, m - whole_rows, n,
              depth);
    }
}

/* Columns begin .. end-1 of all rows below, one at a time. */
STI_CLONES
static int factor_panel(double *F, int n, int k, int64_t stride, int begin, int end, double tiny, int *pivot)
{
    int replaced = 0;
    for (int j = begin; j < end; j++) {
        int best = j;
        for (int i = j + 1; i < k; i++)
            if (fabs(F[i * stride + j]) > fabs(F[best * stride + j])) best = i;
        pivot[j] = best;
        double *a = F + j * stride;
        double *b = F + best * stride;
        for (int l = 0; l < n && a != b; l++) {
            const double x = a[l];
            a[l] = b[l];
            b[l] = x;
        }

        double *row = F + j * stride;
        if (!(fabs(row[j]) >= tiny)) {
            row[j] = row[j] < 0.0 ? -tiny : tiny;
            replaced++;
        }
        const double inverse = 1.0 / row[j];
        for (int i = j + 1; i < n; i++) {
            double *other = F + i * stride;
            if (other[j] == 0.0) continue;
            const double factor = other[j] *= inverse;
            subtract_multiple(other + j + 1, factor, row + j + 1, end - j - 1);
        }
    }
    return replaced;
}

/* Rows begin .. end-1 right of the panel: inv(L11) A12. */
STI_CLONES
/* A12 and A22 are updated so many rows at a time, a few milliseconds, between checks of the stop. */
enum { ROWS_AT_ONCE = 512 };

int sti_dense_lu(double *F, int n, int k, int64_t stride, double tiny, int *pivot, sti_Stop *stop)
{
    int replaced = 0;
    for (int begin = 0; begin < k && !sti_stopped(stop); begin += PANEL) {
        const int end = k - begin < PANEL ? k : begin + PANEL;
        replaced += factor_panel(F, n, k, stride, begin, end, tiny, pivot);
        if (end == n) break;
        for (int i = begin + 1; i < end; i++)
            for (int p = begin; p < i; p++) {
                const double factor = F[i * stride + p];
                if (factor != 0.0) subtract_multiple(F + i * stride + end, factor, F + p * stride + end, n - end);
            }

        for (int i = end; i < n && !sti_stopped(stop); i += ROWS_AT_ONCE) {
            const int rows = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;
            sti_dense_subtract(F + i * stride + end, stride, F + i * stride + begin, stride, F + begin * stride + end,
                               stride, rows, n - end, end - begin);
        }
    }
    return replaced;
}
