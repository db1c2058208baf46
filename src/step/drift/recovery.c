/* step/drift/recovery.c -- a bound on the velocity that drift correction makes.
 *
 * Drift `gap` asks every overlap and joint error to close at gap/h, at most at correction_speed. What that does to the
 * velocities is another matter: a wedge, a lever or a nearly singular joint turns it into any speed, the stages of
 * sdirk2 extrapolate it to 2.4 times of it, and velocities stay when the overlap is gone. So let
 *
 *     D = (solution with drift correction) - (solution without it)
 *
 * No point of a body may be faster in D than correction_speed. Where one is, all correction of its island is scaled
 * down by as much, and the step is made again. An island is what joints, springs and contacts of the step problem
 * connect: corrections elsewhere are not changed. D costs a second solution: it is looked at only if something is asked
 * to move at a hundredth of correction_speed or more with an impulse that can make half of it, and the step changes a
 * velocity by that much. In open trees the joints' own corrections sum up at most: below correction_speed they are no
 * reason.
 */
#include "step/integrate/stage.h"
#include "step/joint_coordinates.h"

/* ---- islands --------------------------------------------------------------------------------------- */

static int first_of(int *of, int i)
{
    while (of[i] != i)
        i = of[i] = of[of[i]];
    return i;
}

static void connect(int *of, const int *i, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        const int a = first_of(of, i[0]), b = first_of(of, i[k]);
        of[a > b ? a : b] = a > b ? b : a;
    }
}

/* By velocity: the first velocity of its island in the step problem at hand. Those of a user's model are one. */
static void find_islands(const sti_Model *model, const sti_StepWork *work, int *of)
{
    const sti_Assembly *step = &work->step;
    for (int i = 0; i < model->n_v; i++)
        of[i] = model->rigid ? i : 0;
    if (!model->rigid) return;
    for (int b = 0; b < model->n_blocks; b++)
        for (int i = model->first[b]; i < model->first[b + 1]; i++)
            of[i] = model->first[b];
    for (int k = 0; k < step->G.n_rows; k++)
        connect(of, step->G.i + step->G.p[k], step->G.p[k + 1] - step->G.p[k]);
    for (int c = 0; c < step->problem.n_contacts; c++) {
        sti_RowView row;
        sti_view_row(model, work, c, 0, &row);
        connect(of, row.i, row.n);
    }
    for (int i = 0; i < model->n_v; i++)
        of[i] = first_of(of, i);
}

/* ---- how fast correction moves things -------------------------------------------------------------- */

/* The fastest point of each island at velocities v, where its first velocity is; of a user's model, the largest
 * velocity. Returns the fastest of all. */
static double fastest_points(const sti_Model *model, const double *v, const int *of, double *out)
{
    const sti_World *world = model->world;
    double largest = 0;
    memset(out, 0, (size_t)model->n_v * sizeof *out);
    for (int i = 0; !model->rigid && i < model->n_v; i++)
        out[0] = sti_larger(fabs(v[i]), out[0]);
    for (int e = 0; model->rigid && e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        st_Vec3 linear, w;
        if (world->body[b].n_dofs == 0) continue;
        sti_body_velocity(&world->body[b], v, &linear, &w);
        const double turning = norm(w) > 0 ? norm(w) * world->collider.body_reach[b] : 0;
        double *of_island = &out[of[world->body[b].v_first]];
        *of_island = sti_larger(norm(linear) + turning, *of_island);
    }
    for (int i = 0; i < model->n_v; i++)
        largest = sti_larger(out[i], largest);
    return largest;
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
    const int n = model->n_v;
    sti_Recovery *recovery = &work->recovery;
    if (!sti_closes_gaps(&model->def) || model->def.contact != ST_CONTACT_RIGID || !(h > 0)) return ST_OK;
    if (recovery->share == 0) return ST_OK; /* the energy guard's */
    if (!may_be_fast(model, state, work, h)) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, recovery->room, recovery->room_capacity, 4 * (int64_t)n, err));
    STI_TRY(STI_GROW(&model->allocator, recovery->island, recovery->island_capacity, n, err));
    double *share = recovery->room, *without = share + n, *difference = without + n, *fastest = difference + n;
    find_islands(model, work, recovery->island);
    for (int i = 0; i < n; i++)
        difference[i] = work->v_new[i] - state->v[i];
    if (fastest_points(model, difference, recovery->island, fastest) < 0.5 * cap) return ST_OK;
    memcpy(difference, work->v_new, (size_t)n * sizeof *difference);
    recovery->share = 0;
    STI_TRY(sti_integrate_once(model, state, work, h, info, err));
    memcpy(without, work->v_new, (size_t)n * sizeof *without);
    for (int i = 0; i < n; i++) {
        difference[i] -= without[i];
        share[i] = 1;
    }
    double least = 1, moved = fastest_points(model, difference, recovery->island, fastest);
    recovery->by_island = true;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) {
            const double speed = fastest[recovery->island[i]];
            if (speed > cap) share[i] *= 0.999 * cap / speed;
            least = fmin(least, share[i]);
        }
        STI_TRY(sti_integrate_once(model, state, work, h, info, err));
        for (int i = 0; i < n; i++)
            difference[i] = work->v_new[i] - without[i];
        moved = fastest_points(model, difference, recovery->island, fastest);
        if (moved <= cap) break;
    }
    if (moved > 0.1 * cap) work->stages.rough = true; /* a jump: bdf2 would extrapolate it */
    if (least < 1) info->recovery = fmin(info->recovery, least);
    return ST_OK;
}
