/* step/clock.c -- simulated time, and the time that the stages of a step take. */
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

void sti_lap(sti_StepWork *work, st_Stage stage)
{
    double now = clock_seconds();
    work->clock.seconds[stage] += now - work->clock.lap;
    work->clock.lap = now;
}

const char *st_stage_name(st_Stage stage)
{
    static const char *const names[ST_N_STAGES] = {"contacts", "assemble", "solve", "move",
                                                   "events",   "project",  "report"};
    return (int)stage >= 0 && (int)stage < ST_N_STAGES ? names[stage] : NULL;
}

void st_system_profile(const st_System *system, double seconds[ST_N_STAGES])
{
    memcpy(seconds, system->work.clock.seconds, sizeof system->work.clock.seconds);
}
