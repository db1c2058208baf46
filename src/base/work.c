#include "base/work.h"

#include "base/clock.h"

void sti_stop_begin(sti_Stop *stop, bool (*ask)(void *ctx), void *ctx)
{
    atomic_store(&stop->why, STI_GO_ON);
    atomic_flag_clear(&stop->asking);
    stop->deadline = 0.0;
    stop->ask = ask;
    stop->ctx = ctx;
}

void sti_stop_set(sti_Stop *stop, sti_StopReason why)
{
    atomic_store(&stop->why, why);
}

/* Several threads may call this at once. While one calls the caller's function, the others use its last result. */
bool sti_stop_look(sti_Stop *stop)
{
    if (stop->deadline > 0.0 && sti_seconds_now() > stop->deadline) sti_stop_set(stop, STI_OUT_OF_TIME);
    if (stop->ask != NULL && !atomic_flag_test_and_set(&stop->asking)) {
        if (stop->ask(stop->ctx)) sti_stop_set(stop, STI_CANCELLED);
        atomic_flag_clear(&stop->asking);
    }
    return atomic_load(&stop->why) != STI_GO_ON;
}
