/* math/pair.h -- two numbers side by side, for dot products and sums of small rows of known length.
 *
 * A dot product adds even and odd terms separately, each in ascending order, and then both sums. One and several
 * right-hand sides (simd4.h) use the same order, so that both have the same bits.
 */
#ifndef STI_PAIR_H
#define STI_PAIR_H

#include "math/simd4.h"

typedef double sti_Two __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double)), may_alias));

STI_INLINE sti_Two pair_load(const double *x)
{
    return *(const sti_Two *)x;
}

STI_INLINE void pair_store(double *x, sti_Two a)
{
    *(sti_Two *)x = a;
}

/* x . y of n numbers; n is a constant at the call. */
STI_INLINE double pair_dot(const double *x, const double *y, int n)
{
    sti_Two sum = {0, 0};
    if (n > 1) sum = pair_load(x) * pair_load(y);
    for (int k = 2; k + 1 < n; k += 2)
        sum += pair_load(x + k) * pair_load(y + k);
    if (n % 2 != 0) sum[0] += x[n - 1] * y[n - 1];
    return sum[0] + sum[1];
}

STI_INLINE void pair_dot_one(const double *x, const double *y, int n, double *out)
{
    *out = pair_dot(x, y, n);
}

/* Likewise for several y at once. */
STI_INLINE void pair_dot_wide(const double *x, const sti_Wide *y, int n, sti_Wide *out)
{
    sti_Wide even = {0}, odd = {0};
    if (n > 1) even = x[0] * y[0], odd = x[1] * y[1];
    for (int k = 2; k + 1 < n; k += 2) {
        even += x[k] * y[k];
        odd += x[k + 1] * y[k + 1];
    }
    if (n % 2 != 0) even += x[n - 1] * y[n - 1];
    *out = even + odd;
}

/* y += *f x */
STI_INLINE void pair_add(const double *f, const double *x, int n, double *y)
{
    for (int k = 0; k + 1 < n; k += 2)
        pair_store(y + k, pair_load(y + k) + *f * pair_load(x + k));
    if (n % 2 != 0) y[n - 1] += *f * x[n - 1];
}

STI_INLINE void pair_add_wide(const sti_Wide *f, const double *x, int n, sti_Wide *y)
{
    for (int k = 0; k < n; k++)
        y[k] += *f * x[k];
}

#endif
