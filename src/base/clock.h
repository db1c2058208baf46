/* base/clock.h -- how long things take. */
#ifndef STI_CLOCK_H
#define STI_CLOCK_H

#include <time.h>

/* On a clock that nobody sets [s]. */
static inline double sti_seconds_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
