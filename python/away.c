/* away.c -- work without the interpreter's lock, and Ctrl-C meanwhile.
 *
 * Python notes a signal at once but calls its handler only in its own main thread with the lock held. So a long stretch
 * of work comes back every LOOK seconds, checks for signals, and continues.
 */
#include "module.h"

#include <time.h>

#define LOOK 0.05 /* [s]: Ctrl-C feels immediate, and taking the lock costs nothing beside it */

static double seconds_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void away_begin(Away *away)
{
    *away = (Away){.looked = seconds_now(), .owner = pthread_self()};
    away->thread = PyEval_SaveThread();
}

void away_end(Away *away)
{
    PyEval_RestoreThread(away->thread);
}

void away_return(Away *away)
{
    PyEval_RestoreThread(away->thread);
}

void away_leave(Away *away)
{
    away->thread = PyEval_SaveThread();
}

bool away_interrupted(void *ctx)
{
    Away *away = ctx;
    if (!pthread_equal(pthread_self(), away->owner)) return away->interrupted; /* one of a team: the first looks */
    double now = seconds_now();
    if (away->interrupted || now - away->looked < LOOK) return away->interrupted;
    away->looked = now;
    away_return(away);
    away->interrupted = PyErr_CheckSignals() != 0;
    away_leave(away);
    return away->interrupted;
}
