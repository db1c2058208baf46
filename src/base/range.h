/* base/range.h -- how large and how small a number of the user's may be, stated once.
 *
 * SI units leave room for atoms and for solar systems; what is beyond is a slip of the keyboard, or of a unit, and
 * would reach the step as an overflow. The bounds are such that what is made of several of them stays a number: an
 * inertia is density times length^5, at most 1e105, a determinant of three mobilities arm^2 / inertia at most 1e270.
 */
#ifndef STI_RANGE_H
#define STI_RANGE_H

#include <math.h>
#include <stdbool.h>

/* Of whatever is not a length: what must be > 0 is at least SMALLEST, nothing is larger than LARGEST. */
#define STI_SMALLEST 1e-30
#define STI_LARGEST  1e30

/* Of lengths [m]: sizes from SHORTEST to LONGEST, coordinates up to LONGEST either way. */
#define STI_SHORTEST 1e-15
#define STI_LONGEST  1e15

/* Of moments of inertia [kg m^2]: the smallest mass at the shortest arm, the largest at the longest. */
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
