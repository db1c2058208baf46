#include "math/largest.h"

#include "math/simd4.h"

#include <math.h>

/* Four numbers at a time: a comparison of single numbers waits for the one before it. */
STI_CLONES static double largest_of(const double *x, const double *y, int n)
{
    typedef int64_t Mask __attribute__((vector_size(STI_WIDTH * sizeof(int64_t))));
    sti_Wide most = {0};
    double largest = 0;
    int i = 0;
    for (; i + STI_WIDTH <= n; i += STI_WIDTH) {
        sti_Wide d = *(const sti_Wide *)(x + i);
        if (y != NULL) d -= *(const sti_Wide *)(y + i);
        const Mask size = (Mask)d & INT64_MAX, above = (sti_Wide)size > most;
        most = (sti_Wide)((size & above) | ((Mask)most & ~above));
    }
    for (; i < n; i++) {
        const double d = fabs(y != NULL ? x[i] - y[i] : x[i]);
        largest = d > largest ? d : largest;
    }
    for (int k = 0; k < STI_WIDTH; k++)
        largest = most[k] > largest ? most[k] : largest;
    return largest;
}

double sti_largest_difference(const double *x, const double *y, int n)
{
    return largest_of(x, y, n);
}
