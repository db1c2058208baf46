#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* What the signal handler touches: the only things in the program that are not passed by argument. Pointers that are
 * atomic are lock-free wherever there are signals.                                                */
static volatile sig_atomic_t caught;
static _Atomic(st_System *) stepping;

static void catch_signal(int number)
{
    caught = number;
    st_system_cancel(atomic_load(&stepping));
}

void interrupt_begin(void)
{
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        struct sigaction action = {0}, old = {0};
        action.sa_handler = catch_signal;
        action.sa_flags = (int)SA_RESETHAND;
        sigemptyset(&action.sa_mask);
        sigaction(numbers[k], NULL, &old);
        if (old.sa_handler != SIG_IGN) sigaction(numbers[k], &action, NULL); /* nohup, and jobs of a shell */
    }
}

int interrupt_caught(void)
{
    return (int)caught;
}

const char *interrupt_word(void)
{
    return caught == SIGINT ? "interrupted" : caught == SIGHUP ? "hung up" : "terminated";
}

/* One that comes before `stepping` is set is seen here, one that comes later by the step. */
st_Status interrupt_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    atomic_store(&stepping, system);
    st_Status status = ST_ERR_CANCELLED;
    if (caught == 0)
        status = st_system_step(system, h, info, err);
    else if (err != NULL)
        *err = (st_Error){.status = status};
    atomic_store(&stepping, NULL);
    return status;
}
