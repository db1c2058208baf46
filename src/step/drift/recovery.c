/* step/drift/recovery.c -- a bound on the velocity that drift correction makes.
 *
 * Drift `gap` asks every overlap and joint error to close at gap/h, at most at correction_speed. What that does to the
 * velocities is another matter: a wedge, a lever or a nearly singular joint turns it into any speed, the stages of
 * sdirk2 extrapolate it to 2.4 times of it, and velocities stay when the overlap is gone. So let
 *
 *     D = (solution with drift correction) - (solution without it)
 *
 * No point of a body may be faster in D than correction_speed. If one is, all correction of this step is scaled down by
 * as much, and the step is made again. D costs a second solution: it is looked at only if something is asked to move
 * at a hundredth of correction_speed or more, and the step changes a velocity by half of it.
 */
#include "step/step.h"

/* The fastest point at velocities v; of a user's model, the largest velocity. */
static double fastest_point(const st_System *system, const double *v)
{
    const st_Model *model = &system->model;
    double largest = 0;
    if (system->world != NULL) return 0.5 * model->reach(model->ctx, system->q, v, 1.0);
    for (int i = 0; i < model->n_v; i++)
        largest = fmax(largest, fabs(v[i]));
    return largest;
}

static double fastest_difference(st_System *system, const double *v, const double *from)
{
    double *d = system->work_v;
    for (int i = 0; i < system->model.n_v; i++)
        d[i] = v[i] - from[i];
    return fastest_point(system, d);
}

/* The largest speed that drift correction asks for: overlaps among the contacts of the problem, and joints. */
static double largest_request(const st_System *system, double h)
{
    const sti_Assembly *step = &system->step;
    const st_Sink *here = &system->here;
    const double cap = system->def.correction_speed, time = fmax(h, 0.2 * system->h_asked);
    double largest = 0;
    for (int c = 0; c < step->n_gaps; c++)
        largest = fmax(largest, -step->chosen[c].entry.gap - system->def.slop);
    for (int k = 0; k < here->joint_rows.n_rows; k++)
        if (!here->joint[k].velocity) largest = fmax(largest, fabs(here->joint[k].value));
    return fmin(largest / time, cap);
}

st_Status sti_bound_recovery(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    const double cap = system->def.correction_speed;
    const size_t size = (size_t)system->model.n_v * sizeof *system->v;
    if (!sti_closes_gaps(&system->def) || system->def.contact != ST_CONTACT_RIGID || !(h > 0)) return ST_OK;
    if (largest_request(system, h) < 0.01 * cap) return ST_OK;
    if (fastest_difference(system, system->v_new, system->v) < 0.5 * cap) return ST_OK;
    STI_TRY(
        STI_GROW(&system->allocator, system->v_recovered, system->v_recovered_capacity, 2 * system->model.n_v, err));
    double *with = system->v_recovered, *without = with + system->model.n_v;
    memcpy(with, system->v_new, size);
    system->recovery = 0;
    STI_TRY(sti_integrate_once(system, h, info, err));
    memcpy(without, system->v_new, size);
    double share = 1, moved = fastest_difference(system, with, without);
    for (int round = 0; round < 3; round++) {
        if (moved > cap) share *= 0.999 * cap / moved;
        system->recovery = share;
        STI_TRY(sti_integrate_once(system, h, info, err));
        moved = fastest_difference(system, system->v_new, without);
        if (moved <= cap) break;
    }
    if (moved > 0.1 * cap) system->stages.rough = true; /* a jump: bdf2 would extrapolate it */
    if (share < 1) info->recovery = fmin(info->recovery, share);
    return ST_OK;
}
