/* step/clock.c -- simulated time, the time that the stages of a step take, deadlines and cancelled steps. */
#include "base/clock.h"
#include "step/step.h"

#include <time.h>

double sti_next_time(const sti_State *state, double h)
{
    const sti_TimeGrid *grid = &state->grid;
    return grid->h == h ? grid->start + (double)(grid->steps + 1) * h : state->t + h;
}

void sti_time_reached(sti_TimeGrid *grid, double before, double h)
{
    if (grid->h != h) *grid = (sti_TimeGrid){before, h, 0};
    grid->steps++;
}

void sti_time_set(sti_State *state, double t)
{
    state->t = t;
    state->grid = (sti_TimeGrid){t, 0, 0};
}

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sti_start_lap(sti_StepWork *work)
{
    work->clock.lap = clock_seconds();
}

void sti_lap(sti_StepWork *work, st_StepPart part)
{
    double now = clock_seconds();
    work->clock.seconds[part] += now - work->clock.lap;
    work->clock.lap = now;
}

const char *st_part_name(st_StepPart part)
{
    static const char *const names[ST_N_PARTS] = {"contacts", "assemble", "solve", "move",
                                                  "events",   "project",  "report"};
    return (int)part >= 0 && (int)part < ST_N_PARTS ? names[part] : NULL;
}

void st_system_part_seconds(const st_System *system, double seconds[ST_N_PARTS])
{
    memcpy(seconds, system->work.clock.seconds, sizeof system->work.clock.seconds);
}

/* ---- steps that end before they are done -------------------------------------------------------- */

/* st_system_cancel and the setting step_seconds end a step early.
 *
 * Loops of the solvers and of the collision detection read system->stop and end early. The stage that called them then
 * calls sti_check_cancelled. The step fails, and step.c restores the state.
 */

void st_system_cancel(st_System *system)
{
    if (system != NULL) sti_stop_set(system->work.stop, STI_CANCELLED);
}

void st_system_cancel_when(st_System *system, bool (*ask)(void *ctx), void *ctx)
{
    if (system == NULL) return;
    system->work.stop->ask = ask;
    system->work.stop->ctx = ctx;
}

void sti_cancel_begin(const sti_Model *model, sti_StepWork *work)
{
    work->work_done = 0;
    work->stepping = true;
    model->world->stop = work->stop;
    if (model->def.step_seconds > 0) work->stop->deadline = sti_seconds_now() + model->def.step_seconds;
}

/* A request that arrives after the last check of this step cancels the next step. */
void sti_cancel_end(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Status status, st_Error *err)
{
    if (status == ST_ERR_CANCELLED)
        (void)sti_check_cancelled(model, state, work,
                                  err); /* the message must name the step, not the factorisation that was interrupted */
    work->stop->deadline = 0;
    work->stepping = false;
    model->world->stop = NULL;
    if (status == ST_ERR_CANCELLED) sti_stop_set(work->stop, STI_GO_ON);
}

void sti_cancel_carry(const sti_StepWork *from, sti_StepWork *to)
{
    if (atomic_load(&from->stop->why) != STI_GO_ON) sti_stop_set(to->stop, STI_CANCELLED);
}

st_Status sti_check_cancelled(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    if (!work->stepping || !sti_stopped(work->stop)) return ST_OK;
    if (atomic_load(&work->stop->why) == STI_OUT_OF_TIME)
        return sti_fail(err, ST_ERR_CANCELLED,
                        "the step from t = %g s took longer than step_seconds = %g s and was cancelled; the time at "
                        "which this happens depends on the machine",
                        state->t, model->def.step_seconds);
    return sti_fail(err, ST_ERR_CANCELLED, "the step from t = %g s was cancelled; the state is as before it", state->t);
}
