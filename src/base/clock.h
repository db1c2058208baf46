/* base/clock.h -- measures elapsed time. */
#ifndef STI_CLOCK_H
#define STI_CLOCK_H

#include <time.h>

/* Seconds of the monotonic clock. */
static inline double sti_seconds_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
