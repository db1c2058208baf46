/* tests/check.h -- cmocka, and number checks that print both values, the difference and the tolerance.
 *
 * ST_TOL_SCALE=0 in the environment makes every tolerance 0 and so shows every actual difference.
 */
#ifndef STI_CHECK_H
#define STI_CHECK_H

/* cmocka needs these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static inline double check_tolerance_scale(void)
{
    const char *text = getenv("ST_TOL_SCALE");
    return text != NULL ? strtod(text, NULL) : 1.0;
}

/* |got - expected| <= tolerance, absolutely. */
static inline void check_close_(double got, double expected, double tolerance, const char *what, const char *file,
                                int line)
{
    double difference = fabs(got - expected);
    if (difference <= tolerance * check_tolerance_scale()) return; /* false for NaN */
    print_error("%s: got %.17g, expected %.17g, difference %.3g, tolerance %.3g\n", what, got, expected, difference,
                tolerance);
    _fail(file, line);
}
#define check_close(got, expected, tolerance) check_close_((got), (expected), (tolerance), #got, __FILE__, __LINE__)

/* value <= bound. */
static inline void check_below_(double value, double bound, const char *what, const char *file, int line)
{
    if (value <= bound * (bound > 0 ? check_tolerance_scale() : 1.0)) return;
    print_error("%s: got %.17g, must be at most %.3g\n", what, value, bound);
    _fail(file, line);
}
#define check_below(value, bound) check_below_((value), (bound), #value, __FILE__, __LINE__)

/* An st_Status that must be ST_OK; prints the message when it is not. */
#define check_ok(call, err)                                                                                            \
    do {                                                                                                               \
        if ((call) != ST_OK) fail_msg("%s", (err).message);                                                            \
    } while (0)

/* Systems and scenes take small blocks from arenas (base/arena.c): few calls reach the user's allocator. In sanitized
 * builds every block does, and tests that refuse one call after another see all of them there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_ARENAS 0
#else
#define CHECK_ARENAS 1
#endif

/* The tests' own seeded random numbers (splitmix64): the same everywhere. */
typedef struct check_Random {
    uint64_t state;
} check_Random;

static inline uint64_t check_random_bits(check_Random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double check_random(check_Random *random, double lo, double hi)
{
    return lo + (hi - lo) * (double)(check_random_bits(random) >> 11) * 0x1p-53;
}

static inline int check_random_int(check_Random *random, int lo, int hi)
{
    return lo + (int)(check_random_bits(random) % (uint64_t)(hi - lo + 1));
}

#endif
