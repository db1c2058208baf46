/* product.c -- one loop for all sizes, called with constants where joints are balls (3 rows) or hinges (5) on bodies in
 * space (6 velocities): the compiler unrolls what it knows the sizes of. Four columns are computed side by side.
 */
#include "math/product.h"

#include "math/wide.h"

/* Columns `first` to first + n - 1, n at most four; the others of the four are not stored. */
STI_INLINE void four_columns(double sign, const double *X, int rows, const double *Y, int first, int n, int inner,
                             double *C, int64_t stride)
{
    sti_Wide y[6];
    for (int k = 0; k < inner; k++)
        for (int b = 0; b < STI_WIDTH; b++)
            y[k][b] = b < n ? Y[(first + b) * inner + k] : 0.0;
    for (int a = 0; a < rows; a++) {
        sti_Wide sum = {0};
        for (int k = 0; k < inner; k++)
            sum += X[a * inner + k] * y[k];
        for (int b = 0; b < n; b++)
            C[a * stride + first + b] += sign * sum[b];
    }
}

STI_INLINE void one_by_one(double sign, const double *X, int rows, const double *Y, int first, int cols, int inner,
                           double *C, int64_t stride)
{
    for (int a = 0; a < rows; a++)
        for (int b = first; b < cols; b++) {
            double sum = 0.0;
            for (int k = 0; k < inner; k++)
                sum += X[a * inner + k] * Y[b * inner + k];
            C[a * stride + b] += sign * sum;
        }
}

STI_CLONES
static void balls(double sign, const double *X, const double *Y, int inner, double *C, int64_t stride)
{
    if (inner == 6)
        four_columns(sign, X, 3, Y, 0, 3, 6, C, stride);
    else
        four_columns(sign, X, 3, Y, 0, 3, 3, C, stride);
}

STI_CLONES
static void hinges(double sign, const double *X, const double *Y, int inner, double *C, int64_t stride)
{
    if (inner == 6) {
        four_columns(sign, X, 5, Y, 0, 4, 6, C, stride);
        one_by_one(sign, X, 5, Y, 4, 5, 6, C, stride);
    } else {
        four_columns(sign, X, 5, Y, 0, 4, 5, C, stride);
        one_by_one(sign, X, 5, Y, 4, 5, 5, C, stride);
    }
}

void sti_product_add(double sign, const double *X, int rows, const double *Y, int cols, int inner, double *C,
                     int64_t stride)
{
    if (rows == 3 && cols == 3 && (inner == 3 || inner == 6))
        balls(sign, X, Y, inner, C, stride);
    else if (rows == 5 && cols == 5 && (inner == 5 || inner == 6))
        hinges(sign, X, Y, inner, C, stride);
    else
        one_by_one(sign, X, rows, Y, 0, cols, inner, C, stride);
}
