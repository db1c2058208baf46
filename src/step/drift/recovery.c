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
 * at a hundredth of correction_speed or more with an impulse that can make half of it, and the step changes a velocity
 * by that much. In open trees the joints' own corrections sum up at most: below correction_speed they are no reason.
 */
#include "step/integrate/stage.h"
#include "step/joint_coordinates.h"

/* The fastest point at velocities v; of a user's model, the largest velocity. */
static double fastest_point(const sti_Model *model, const sti_State *state, const double *v)
{
    const st_Model *table = &model->table;
    double largest = 0;
    if (model->rigid) return 0.5 * table->reach(table->ctx, state->q, v, 1.0);
    for (int i = 0; i < table->n_v; i++)
        largest = fmax(largest, fabs(v[i]));
    return largest;
}

static double fastest_difference(const sti_Model *model, const sti_State *state, sti_StepWork *work, const double *v,
                                 const double *from)
{
    double *d = work->v_recovered + 2 * (ptrdiff_t)model->n_v;
    for (int i = 0; i < model->n_v; i++)
        d[i] = v[i] - from[i];
    return fastest_point(model, state, d);
}

/* A row of mobility W that asks for the speed w and got the impulse r: r w is the work of its correction, and the speed
 * that this work can make sqrt(2 r w W). Free rows have r = w/W; a wedge, a lever or a load makes r larger.        */
static double speed_of_work(double r, double w, double W)
{
    return sqrt(2 * fabs(r * w) * W);
}

/* May drift correction be what moves something faster than half of the cap? With two stages, impulses of the last
 * one show little: what is asked for decides alone.                                                  */
static bool may_be_fast(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h)
{
    const sti_Assembly *step = &work->step;
    const st_Sink *here = &work->here;
    const double cap = model->def.correction_speed, time = fmax(h, 0.2 * work->h_asked);
    const bool starts = model->def.integrator == ST_INTEGRATOR_BDF2 && !state->history.known; /* by sdirk2 */
    const bool one_stage = model->def.integrator != ST_INTEGRATOR_SDIRK2 && !starts;
    for (int c = 0; c < step->n_gaps; c++) {
        const int row = step->law[c].first;
        const double w = fmin(-(step->chosen[c].entry.gap + model->def.slop) / time, cap);
        if (!(w > 0.01 * cap)) continue;
        const double W = sti_contact_mobility(model, work, c);
        if (!one_stage || speed_of_work(step->r[row], w, W) > 0.5 * cap) return true;
    }
    double asked = 0; /* of trees: nothing amplifies it, and bodies give way to one another */
    for (int k = 0; k < here->joint_rows.n_rows; k++)
        asked += here->joint[k].velocity ? 0 : fabs(here->joint[k].value) / time;
    if (one_stage && asked < cap && sti_joint_coordinates_are_open(work)) return false;
    for (int k = 0; k < here->joint_rows.n_rows; k++) {
        const double w = here->joint[k].velocity ? 0 : fmin(fabs(here->joint[k].value) / time, cap);
        if (!(w > 0.01 * cap)) continue;
        if (!one_stage || speed_of_work(step->l[k], w, sti_row_mobility(model, work, &step->G, k)) > 0.5 * cap)
            return true;
    }
    return false;
}

st_Status sti_bound_recovery(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                             st_Error *err)
{
    const double cap = model->def.correction_speed;
    const size_t size = (size_t)model->n_v * sizeof *state->v;
    if (!sti_closes_gaps(&model->def) || model->def.contact != ST_CONTACT_RIGID || !(h > 0)) return ST_OK;
    if (work->recovery == 0) return ST_OK; /* the energy guard's */
    if (!may_be_fast(model, state, work, h)) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, work->v_recovered, work->v_recovered_capacity, 3 * (int64_t)model->n_v, err));
    if (fastest_difference(model, state, work, work->v_new, state->v) < 0.5 * cap) return ST_OK;
    double *with = work->v_recovered, *without = with + model->n_v;
    memcpy(with, work->v_new, size);
    work->recovery = 0;
    STI_TRY(sti_integrate_once(model, state, work, h, info, err));
    memcpy(without, work->v_new, size);
    double share = 1, moved = fastest_difference(model, state, work, with, without);
    for (int round = 0; round < 3; round++) {
        if (moved > cap) share *= 0.999 * cap / moved;
        work->recovery = share;
        STI_TRY(sti_integrate_once(model, state, work, h, info, err));
        moved = fastest_difference(model, state, work, work->v_new, without);
        if (moved <= cap) break;
    }
    if (moved > 0.1 * cap) work->stages.rough = true; /* a jump: bdf2 would extrapolate it */
    if (share < 1) info->recovery = fmin(info->recovery, share);
    return ST_OK;
}
