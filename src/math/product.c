/* product.c -- one loop for all sizes. It is called with constants for balls (3 rows), hinges (5) and hinges with
 * springs (6) on bodies in space (6 velocities), so that the compiler unrolls it.
 *
 * For hinges four columns are computed at once, two per register: a register has a pair of numbers of one row of Y
 * and a pair of the next. So even and odd terms of both dot products are summed at once, in the order of pair_dot.
 */
#include "math/product.h"

#include "math/pair.h"

STI_INLINE void multiply_blocks(double sign, const double *X, int rows, const double *Y, int cols, int inner, double *C,
                                int64_t stride)
{
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < cols; b++)
            C[a * stride + b] += sign * pair_dot(X + a * inner, Y + b * inner, inner);
}

/* Numbers k and k + 1 of a row of n; numbers beyond the end are 0. */
STI_INLINE sti_Two two_of(const double *x, int k, int n)
{
    sti_Two two = {x[k], 0};
    if (k + 1 < n) two = pair_load(x + k);
    return two;
}

/* size x size, size being 5 or 6; inner 5 or 6. */
STI_INLINE void by_pairs(double sign, const double *X, const double *Y, int size, int inner, double *C, int64_t stride)
{
    sti_Wide y[3][3];
    for (int b = 0; b < size / 2; b++)
        for (int k = 0; k < 3; k++) {
            const sti_Two p = two_of(Y + 2 * b * inner, 2 * k, inner),
                          q = two_of(Y + (2 * b + 1) * inner, 2 * k, inner);
            y[b][k] = __builtin_shufflevector(p, q, 0, 1, 2, 3);
        }
    for (int a = 0; a < size; a++) {
        const double *row = X + a * inner;
        double *out = C + a * stride;
        sti_Wide x[3], sum[3];
        for (int k = 0; k < 3; k++) {
            const sti_Two p = two_of(row, 2 * k, inner);
            x[k] = __builtin_shufflevector(p, p, 0, 1, 0, 1);
        }
        for (int b = 0; b < size / 2; b++)
            sum[b] = (x[0] * y[b][0] + x[1] * y[b][1]) + x[2] * y[b][2];
        const sti_Wide even = __builtin_shufflevector(sum[0], sum[1], 0, 2, 4, 6);
        const sti_Wide odd = __builtin_shufflevector(sum[0], sum[1], 1, 3, 5, 7);
        *(sti_Wide *)out += sign * (even + odd);
        if (size == 6)
            pair_store(out + 4, pair_load(out + 4) + sign * (__builtin_shufflevector(sum[2], sum[2], 0, 2) +
                                                             __builtin_shufflevector(sum[2], sum[2], 1, 3)));
        else
            out[4] += sign * pair_dot(row, Y + 4 * inner, inner);
    }
}

STI_CLONES
static void balls(double sign, const double *X, const double *Y, int inner, double *C, int64_t stride)
{
    if (inner == 6)
        multiply_blocks(sign, X, 3, Y, 3, 6, C, stride);
    else
        multiply_blocks(sign, X, 3, Y, 3, 3, C, stride);
}

STI_CLONES
static void hinges(double sign, const double *X, const double *Y, int inner, double *C, int64_t stride)
{
    if (inner == 6)
        by_pairs(sign, X, Y, 5, 6, C, stride);
    else
        by_pairs(sign, X, Y, 5, 5, C, stride);
}

STI_CLONES
static void sprung_hinges(double sign, const double *X, const double *Y, double *C, int64_t stride)
{
    by_pairs(sign, X, Y, 6, 6, C, stride);
}

void sti_product_add(double sign, const double *X, int rows, const double *Y, int cols, int inner, double *C,
                     int64_t stride)
{
    if (rows == 3 && cols == 3 && (inner == 3 || inner == 6))
        balls(sign, X, Y, inner, C, stride);
    else if (rows == 5 && cols == 5 && (inner == 5 || inner == 6))
        hinges(sign, X, Y, inner, C, stride);
    else if (rows == 6 && cols == 6 && inner == 6)
        sprung_hinges(sign, X, Y, C, stride);
    else if (inner == 6)
        multiply_blocks(sign, X, rows, Y, cols, 6, C, stride);
    else if (inner == 1)
        multiply_blocks(sign, X, rows, Y, cols, 1, C, stride);
    else
        multiply_blocks(sign, X, rows, Y, cols, inner, C, stride);
}
