/* math/wide3.h -- vectors of three numbers in the lanes of one vector, inline. The fourth lane has no meaning. */
#ifndef STI_WIDE3_H
#define STI_WIDE3_H

#include "math/simd4.h"

/* A row of a 3 x 3 matrix, and a number without meaning: read and written four at a time. */
typedef double Row3[STI_WIDTH];

STI_INLINE sti_Wide load4(const double *x)
{
    return *(const sti_Wide *)x;
}

STI_INLINE sti_Wide load3(const double *x)
{
    return (sti_Wide){x[0], x[1], x[2], 0};
}

STI_INLINE void store4(sti_Wide x, double *to)
{
    *(sti_Wide *)to = x;
}

STI_INLINE void store3(sti_Wide x, double *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = x[i];
}

/* The cross product of the first three numbers. */
STI_INLINE sti_Wide cross4(sti_Wide x, sti_Wide y)
{
    return __builtin_shufflevector(x, x, 1, 2, 0, 3) * __builtin_shufflevector(y, y, 2, 0, 1, 3) -
           __builtin_shufflevector(x, x, 2, 0, 1, 3) * __builtin_shufflevector(y, y, 1, 2, 0, 3);
}

STI_INLINE double sum3(sti_Wide x)
{
    return x[0] + x[1] + x[2];
}

/* x' M, M three rows of four. */
STI_INLINE sti_Wide row_times(const double *x, const double *M)
{
    return x[0] * load4(M) + x[1] * load4(M + STI_WIDTH) + x[2] * load4(M + 2 * STI_WIDTH);
}

#endif
