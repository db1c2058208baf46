#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Data of the signal handler: the only global variables of the program. Atomic pointers are lock-free on all systems
 * with signals. */
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
        /* ignored signals stay ignored: nohup, and jobs of a shell */
        if (old.sa_handler != SIG_IGN) sigaction(numbers[k], &action, NULL);
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

/* A signal before `stepping` is set is seen here; a later one by the step. */
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
