/* step/drift/recovery.c -- limits the velocity that drift correction causes.
 *
 * Drift `gap` closes every overlap and joint error at the speed gap/h, at most at correction_speed. Bodies may become
 * much faster than that: a wedge, a lever or a nearly singular joint amplifies the speed without limit, the stages of
 * sdirk2 extrapolate it by 2.4, and the velocity stays when the overlap is gone. So let
 *
 *     D = (solution with drift correction) - (solution without it)
 *
 * No point of a body may be faster in D than correction_speed. If one is, all corrections of its island are scaled down
 * by this ratio, and the step is made again. An island is a set of bodies that joints, springs and contacts of the step
 * problem connect; corrections in other islands stay. D needs a second solution. It is computed only if there is an
 * island with a correction of at least a hundredth of correction_speed, whose impulse can cause half of
 * correction_speed, and in which the step changes a velocity by that much (in a pile: the velocity of one of the two
 * overlapping bodies). D of other islands is not used. In open trees the corrections of joints can at most add up: if
 * their sum is below correction_speed, they need no second solution. In a pile with a step of one stage, only these
 * islands are solved again, in a copy; if D is slow enough in all of them, the step stays as it is.
 */
#include "step/contact/contact.h"
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
        if (of[i[k]] == of[i[k - 1]]) continue; /* velocities of one body are usually connected already */
        const int a = first_of(of, i[0]), b = first_of(of, i[k]);
        of[a > b ? a : b] = a > b ? b : a;
    }
}

st_Status sti_find_joined(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    sti_Joined *joined = &work->joined;
    const sti_RowList *lists[] = {&work->here.joint_rows, &work->here.soft_rows};
    if (joined->n > 0 || model->n_v == 0) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, joined->of, joined->capacity, model->n_v, err));
    for (int b = 0; b < model->n_blocks; b++)
        for (int i = model->first[b]; i < model->first[b + 1]; i++)
            joined->of[i] = model->rigid ? model->first[b] : 0;
    for (size_t k = 0; model->rigid && k < sizeof lists / sizeof lists[0]; k++)
        for (int row = 0; row < lists[k]->n_rows; row++)
            connect(joined->of, lists[k]->i + lists[k]->p[row], lists[k]->p[row + 1] - lists[k]->p[row]);
    for (int i = 0; i < model->n_v; i++) {
        joined->of[i] = first_of(joined->of, i);
        joined->n += joined->of[i] == i;
    }
    return ST_OK;
}

st_Status sti_find_islands(const sti_Model *model, sti_StepWork *work, int *of, st_Error *err)
{
    STI_TRY(sti_find_joined(model, work, err));
    memcpy(of, work->joined.of, (size_t)model->n_v * sizeof *of);
    const sti_Assembly *step = &work->step;
    for (int c = 0; model->rigid && c < step->problem.n_contacts; c++) {
        if (step->piled) { /* a contact connects its two bodies; its rows are not needed */
            const int32_t *body = step->pile.body + 2 * (ptrdiff_t)c;
            if (body[0] < 0 || body[1] < 0) continue;
            connect(of, (const int[]){model->first[body[0]], model->first[body[1]]}, 2);
            continue;
        }
        sti_RowView row;
        sti_view_row(model, work, c, 0, &row);
        connect(of, row.i, row.n);
    }
    for (int i = 0; i < model->n_v; i++)
        of[i] = first_of(of, i);
    return ST_OK;
}

/* ---- speeds by drift correction ---------------------------------------------------------------------- */

/* The speed of the fastest point of each island at velocities v, stored at the index of its first velocity. For a
 * user's model: the largest velocity. Returns the largest of all. */
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

/* For a row with mobility W, correction speed w and impulse r, the work of the correction is r w, and this work can
 * cause the speed sqrt(2 r w W). A free row has r = w/W; a wedge, a lever or a load makes r larger. */
static double speed_of_work(double r, double w, double W)
{
    return sqrt(2 * fabs(r * w) * W);
}

/* Does the step change the velocity of any point of the body by this much? */
static bool changes_velocity(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int body,
                             double speed)
{
    const sti_World *world = model->world;
    st_Vec3 v[2], w[2];
    if (body <= 0 || world->body[body].n_dofs == 0) return false;
    sti_body_velocity(&world->body[body], state->v, &v[0], &w[0]);
    sti_body_velocity(&world->body[body], work->v_new, &v[1], &w[1]);
    const double turning = norm(sub(w[1], w[0]));
    return norm(sub(v[1], v[0])) + (turning > 0 ? turning * world->collider.body_reach[body] : 0) >= speed;
}

/* Can drift correction cause a speed above half of the cap? With two stages the impulses of the last stage are no
 * measure, and only the correction speed is used. If `fastest` is not NULL, islands that are slower there are left out,
 * and it becomes infinite for islands in which correction may be fast. */
static bool may_be_fast(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h,
                        double *fastest)
{
    const sti_Assembly *step = &work->step;
    const st_Sink *here = &work->here;
    const double cap = model->def.correction_speed, time = fmax(h, 0.2 * work->h_asked);
    bool any = false;
    const bool starts = model->def.integrator == ST_INTEGRATOR_BDF2 && !state->history.known; /* by sdirk2 */
    const bool one_stage = model->def.integrator != ST_INTEGRATOR_SDIRK2 && !starts;
    for (int c = 0; c < step->n_gaps; c++) {
        const int row = step->law[c].first;
        const bool known = one_stage && step->piled; /* w of a pile is the correction speed without the dead band */
        const double w = fmin(known ? -step->w[row] : -(step->chosen[c].entry->gap + model->def.slop) / time, cap);
        if (!(w > 0.01 * cap)) continue;
        const double W = sti_contact_mobility(model, work, c);
        if (one_stage && !(speed_of_work(step->r[row], w, W) > 0.5 * cap)) continue;
        /* A pile has loads and small overlaps everywhere, and grains that fall or land. */
        const sti_ContactEntry *entry = step->chosen[c].entry;
        if (step->piled && !changes_velocity(model, state, work, entry->a, 0.5 * cap) &&
            !changes_velocity(model, state, work, entry->b, 0.5 * cap))
            continue;
        if (fastest == NULL) return true;
        sti_RowView view;
        sti_view_row(model, work, c, 0, &view);
        double *of_island = view.n > 0 ? &fastest[work->recovery.island[view.i[0]]] : NULL;
        if (of_island == NULL || *of_island < 0.5 * cap) continue;
        *of_island = INFINITY;
        any = true;
    }
    double asked = 0; /* the sum over a tree: nothing amplifies it there */
    for (int k = 0; k < here->joint_rows.n_rows; k++)
        asked += here->joint[k].velocity ? 0 : fabs(here->joint[k].value) / time;
    if (one_stage && asked < cap && work->joint_coordinates != NULL && sti_joint_coordinates_are_open(work)) return any;
    for (int k = 0; k < here->joint_rows.n_rows; k++) {
        const double w = here->joint[k].velocity ? 0 : fmin(fabs(here->joint[k].value) / time, cap);
        if (!(w > 0.01 * cap)) continue;
        if (one_stage && !(speed_of_work(step->l[k], w, sti_row_mobility(model, work, &step->G, k)) > 0.5 * cap))
            continue;
        if (fastest == NULL) return true;
        double *of_island =
            step->G.p[k] < step->G.p[k + 1] ? &fastest[work->recovery.island[step->G.i[step->G.p[k]]]] : NULL;
        if (of_island == NULL || *of_island < 0.5 * cap) continue;
        *of_island = INFINITY;
        any = true;
    }
    return any;
}

/* The fastest point at velocities v in the islands where correction may be fast. `fastest` is overwritten. */
static double fastest_watched(const sti_Model *model, const double *v, const int *of, const double *watched,
                              double *fastest)
{
    double largest = 0;
    (void)fastest_points(model, v, of, fastest);
    for (int i = 0; i < model->n_v; i++)
        if (watched[i] == INFINITY) largest = sti_larger(fastest[i], largest);
    return largest;
}

st_Status sti_bound_recovery(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                             st_Error *err)
{
    const double cap = model->def.correction_speed;
    const int n = model->n_v;
    sti_Recovery *recovery = &work->recovery;
    if (!sti_closes_gaps(&model->def) || model->def.contact != ST_CONTACT_RIGID || !(h > 0)) return ST_OK;
    if (recovery->share == 0) return ST_OK; /* the energy guard switched correction off */
    if (!may_be_fast(model, state, work, h, NULL)) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, recovery->room, recovery->room_capacity, 5 * (int64_t)n, err));
    STI_TRY(STI_GROW(&model->allocator, recovery->island, recovery->island_capacity, n, err));
    double *share = recovery->room, *without = share + n, *difference = without + n, *fastest = difference + n,
           *watched =
               fastest + n; /* by the first velocity of an island; infinite: correction may be fast in this island */
    STI_TRY(sti_find_islands(model, work, recovery->island, err));
    for (int i = 0; i < n; i++)
        difference[i] = work->v_new[i] - state->v[i];
    if (fastest_points(model, difference, recovery->island, watched) < 0.5 * cap) return ST_OK;
    if (!may_be_fast(model, state, work, h, watched)) return ST_OK;
    if (work->step.piled && model->def.integrator <= ST_INTEGRATOR_IMPLICIT && work->rebounds.n == 0) {
        /* `without` becomes v_new, and in watched islands the velocity without correction: the step problem of a pile
         * is solved again with correction speed 0 at their overlaps. The solution of the step and the data of its
         * islands stay. */
        const sti_Assembly *step = &work->step;
        const int n_r = step->problem.n_r;
        STI_TRY(STI_GROW(&model->allocator, recovery->rows, recovery->rows_capacity, 2 * (int64_t)n_r, err));
        STI_TRY(STI_GROW(&model->allocator, recovery->block, recovery->block_capacity, model->n_blocks, err));
        const sti_Islands *alike = work->guard.is_tight ? work->guard.other_islands : work->islands;
        if (recovery->islands == NULL) STI_TRY(sti_islands_create_alike(alike, &recovery->islands, err));
        st_Problem problem = step->problem;
        double *w = recovery->rows, *r = w + n_r;
        memcpy(w, step->w, (size_t)n_r * sizeof *w);
        memcpy(r, step->r, (size_t)n_r * sizeof *r);
        for (int c = 0; c < step->n_gaps; c++) {
            const int velocity = sti_moving_velocity(model->world, step->chosen[c].entry), row = step->law[c].first;
            if (watched[recovery->island[velocity]] == INFINITY) w[row] = fmax(w[row], 0);
        }
        problem.w = w;
        sti_Awake awake = {.block = recovery->block};
        for (int b = 0; b < model->n_blocks; b++)
            if (watched[recovery->island[model->first[b]]] == INFINITY) recovery->block[awake.n++] = b;
        memcpy(without, work->v_new, (size_t)model->n_v * sizeof *without);
        st_Solution solution = {.v = without, .r = r};
        st_SolveInfo found;
        const sti_IslandsCall call = {.pile = &step->pile, .awake = &awake, .max_work = model->def.step_work_limit};
        STI_TRY(sti_islands_solve(recovery->islands, &problem, &call, &solution, &found, err));
        for (int i = 0; i < n; i++)
            difference[i] = work->v_new[i] - without[i];
        if (fastest_watched(model, difference, recovery->island, watched, fastest) <= cap) return ST_OK;
    }
    memcpy(difference, work->v_new, (size_t)n * sizeof *difference);
    recovery->share = 0;
    STI_TRY(sti_integrate(model, state, work, h, info, err));
    memcpy(without, work->v_new, (size_t)n * sizeof *without);
    for (int i = 0; i < n; i++) {
        difference[i] -= without[i];
        share[i] = 1;
    }
    double least = 1, moved = fastest_watched(model, difference, recovery->island, watched, fastest);
    recovery->by_island = true;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) {
            const int island = recovery->island[i];
            if (watched[island] == INFINITY && fastest[island] > cap) share[i] *= 0.999 * cap / fastest[island];
            least = fmin(least, share[i]);
        }
        STI_TRY(sti_integrate(model, state, work, h, info, err));
        for (int i = 0; i < n; i++)
            difference[i] = work->v_new[i] - without[i];
        moved = fastest_watched(model, difference, recovery->island, watched, fastest);
        if (moved <= cap) break;
    }
    if (moved > 0.1 * cap) work->stages.rough = true; /* bdf2 would extrapolate this jump of the velocity */
    if (least < 1) info->recovery = fmin(info->recovery, least);
    return ST_OK;
}
