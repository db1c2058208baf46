/* product.c -- one loop for all sizes, called with constants where joints are balls (3 rows) or hinges (5) on bodies in
 * space (6 velocities): the compiler unrolls what it knows the sizes of.
 */
#include "math/product.h"

#include "math/pair.h"

STI_INLINE void multiply(double sign, const double *X, int rows, const double *Y, int cols, int inner, double *C,
                         int64_t stride)
{
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < cols; b++)
            C[a * stride + b] += sign * pair_dot(X + a * inner, Y + b * inner, inner);
}

STI_CLONES
static void balls(double sign, const double *X, const double *Y, int inner, double *C, int64_t stride)
{
    if (inner == 6)
        multiply(sign, X, 3, Y, 3, 6, C, stride);
    else
        multiply(sign, X, 3, Y, 3, 3, C, stride);
}

STI_CLONES
static void hinges(double sign, const double *X, const double *Y, int inner, double *C, int64_t stride)
{
    if (inner == 6)
        multiply(sign, X, 5, Y, 5, 6, C, stride);
    else
        multiply(sign, X, 5, Y, 5, 5, C, stride);
}

void sti_product_add(double sign, const double *X, int rows, const double *Y, int cols, int inner, double *C,
                     int64_t stride)
{
    if (rows == 3 && cols == 3 && (inner == 3 || inner == 6))
        balls(sign, X, Y, inner, C, stride);
    else if (rows == 5 && cols == 5 && (inner == 5 || inner == 6))
        hinges(sign, X, Y, inner, C, stride);
    else
        multiply(sign, X, rows, Y, cols, inner, C, stride);
}
