/* base/range.h -- limits of user-defined numbers.
 *
 * The limits allow atoms and solar systems in SI units. A value beyond them is a typing error or a wrong unit, and
 * would overflow in a step. Products of several such values stay finite: an inertia is density times length^5, at
 * most 1e105, a determinant of three mobilities arm^2 / inertia at most 1e270.
 */
#ifndef STI_RANGE_H
#define STI_RANGE_H

#include <math.h>
#include <stdbool.h>

/* For quantities other than lengths: positive ones are at least SMALLEST, none is larger than LARGEST. */
#define STI_SMALLEST 1e-30
#define STI_LARGEST  1e30

/* Lengths [m]: sizes from SHORTEST to LONGEST, coordinates from -LONGEST to LONGEST. */
#define STI_SHORTEST 1e-15
#define STI_LONGEST  1e15

/* Moments of inertia [kg m^2]: from the smallest mass at the shortest arm to the largest at the longest. */
#define STI_LEAST_INERTIA (STI_SMALLEST * STI_SHORTEST * STI_SHORTEST)
#define STI_MOST_INERTIA  (STI_LARGEST * STI_LONGEST * STI_LONGEST)

/* All three are false for NaN. */
static inline bool sti_within(double x, double largest)
{
    return fabs(x) <= largest;
}

static inline bool sti_between(double x, double smallest, double largest)
{
    return x >= smallest && x <= largest;
}

static inline bool sti_zero_or_between(double x, double smallest, double largest)
{
    return x == 0 || sti_between(x, smallest, largest);
}

#endif
