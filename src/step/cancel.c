/* step/cancel.c -- a step that ends before it is done: st_system_cancel, step_seconds.
 *
 * Loops of the solvers and of the collision detection look at system->stop and end early with what they have. The stage
 * that called them then asks sti_go_on, and the step fails, which puts the state back (step.c).
 */
#include "base/clock.h"
#include "step/step.h"

void st_system_cancel(st_System *system)
{
    if (system != NULL) sti_stop_set(system->stop, STI_CANCELLED);
}

void st_system_cancel_when(st_System *system, bool (*ask)(void *ctx), void *ctx)
{
    if (system == NULL) return;
    system->stop->ask = ask;
    system->stop->ctx = ctx;
}

void sti_cancel_begin(st_System *system)
{
    system->work_done = 0;
    system->stepping = true;
    if (system->world != NULL) system->world->stop = system->stop;
    if (system->def.step_seconds > 0) system->stop->deadline = sti_seconds_now() + system->def.step_seconds;
}

/* A request that comes too late for this step is for the next one. */
void sti_cancel_end(st_System *system, st_Status status, st_Error *err)
{
    if (status == ST_ERR_CANCELLED)
        (void)sti_go_on(system, err); /* in a step's words, not in those of a factorisation */
    system->stop->deadline = 0;
    system->stepping = false;
    if (system->world != NULL) system->world->stop = NULL;
    if (status == ST_ERR_CANCELLED) sti_stop_set(system->stop, STI_GO_ON);
}

void sti_cancel_carry(const st_System *from, st_System *to)
{
    if (atomic_load(&from->stop->why) != STI_GO_ON) sti_stop_set(to->stop, STI_CANCELLED);
}

st_Status sti_go_on(st_System *system, st_Error *err)
{
    if (!system->stepping || !sti_stopped(system->stop)) return ST_OK;
    if (atomic_load(&system->stop->why) == STI_OUT_OF_TIME)
        return sti_fail(err, ST_ERR_CANCELLED,
                        "the step from t = %g s took longer than step_seconds = %g s, and was cancelled: where a run "
                        "ends for this depends on the machine",
                        system->t, system->def.step_seconds);
    return sti_fail(err, ST_ERR_CANCELLED, "the step from t = %g s was cancelled; the state is as before it",
                    system->t);
}
