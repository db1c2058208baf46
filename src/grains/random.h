/* grains/random.h -- a seeded random number generator, SplitMix64 (Steele, Lea & Flood 2014), the same on every
 * machine. */
#ifndef STI_GRAINS_RANDOM_H
#define STI_GRAINS_RANDOM_H

#include "base/base.h"

static inline uint64_t sti_random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double sti_random(uint64_t *state)
{
    return (double)(sti_random_bits(state) >> 11) * 0x1p-53;
}

static inline double sti_random_between(uint64_t *state, double from, double to)
{
    return from + (to - from) * sti_random(state);
}

/* Normal with mean 0 and deviation 1 (Box & Muller). */
static inline double sti_random_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(1 - sti_random(state)));
    return radius * cos(2 * STI_PI * sti_random(state));
}

/* A uniformly distributed orientation (Shoemake 1992). */
static inline st_Quat sti_random_turn(uint64_t *state)
{
    const double u = sti_random(state), a = 2 * STI_PI * sti_random(state), b = 2 * STI_PI * sti_random(state);
    const double s = sqrt(1 - u), c = sqrt(u);
    return (st_Quat){s * sin(a), s * cos(a), c * sin(b), c * cos(b)};
}

#endif
