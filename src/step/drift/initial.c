/* step/drift/initial.c -- an initial state with open joints or overlaps is kept, projected or refused.
 *
 * Projected means the nearest state in M. Positions are projected as after a step (projection.c): joints and
 * overlapping contacts are closed. Then velocities solve M (v+ - v) = G l with G' v+ + d theta/dt = 0, an impact
 * without contacts. A closed contact that approaches is allowed: it is an impact in the first step.
 *
 * A first velocity that violates joint rows is a jump. Mostly it comes from a motor that prescribes a speed or a motion
 * and starts from rest, or gets another target speed. Integrators of order one have the new velocity after one step;
 * the impulse of that step includes the jump. Form II of the trapezoid applies the law to the mean velocity: it would
 * reflect the violation in every step, v+ = 2 vm - v, and alternate between 0 and twice the speed. The stages of sdirk2
 * multiply it by 2.4 and -1.4. Integrators of order two therefore solve the jump as an impact, before the first step
 * and after a change of motor targets, and report it as an impact. With located events closed contacts take part: a
 * velocity into a contact that is too slow for a collision (below restitution_speed) would otherwise be stopped by the
 * first stage, with a force that grows like 1/h.
 */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/drift/drift.h"
#include "step/impulses.h"
#include "step/on_device.h"
#include "step/step.h"

#include <stdio.h>

/* The largest violation of each kind at the state. */
typedef struct Flaws {
    double joint, speed, overlap; /* [m or rad], [m/s or rad/s], [m]                */
    int contact;                  /* the deepest overlap                            */
    int row;                      /* the joint row with the largest error; -1: none */
} Flaws;

static Flaws look_for_flaws(const sti_State *state, const sti_StepWork *work)
{
    const st_Sink *here = &work->here;
    Flaws flaws = {.contact = -1, .row = -1};
    for (int k = 0; k < here->joint_rows.n_rows; k++)
        if (!(fabs(here->joint[k].value) <= flaws.joint)) flaws.joint = fabs(here->joint[k].value), flaws.row = k;
    for (int k = 0; k < here->joint_rows.n_rows; k++)
        flaws.speed = fmax(flaws.speed, fabs(sti_row_dot(&here->joint_rows, k, state->v) + here->joint[k].rate));
    for (int c = 0; c < here->n_contacts; c++)
        if (-here->contact[c].gap > flaws.overlap) flaws.overlap = -here->contact[c].gap, flaws.contact = c;
    return flaws;
}

static bool has_flaws(const Flaws *flaws)
{
    return fmax(fmax(flaws->joint, flaws->speed), flaws->overlap) > STI_CONSISTENT;
}

static st_Status refuse(const sti_Model *model, const sti_StepWork *work, const Flaws *flaws, const char *what,
                        st_Error *err)
{
    char pair[300] = "";
    const char *joint = "";
    const sti_World *world = model->world;
    for (int k = 0; k < world->n_joints && flaws->joint > STI_CONSISTENT; k++) {
        const int first = world->joint[k].first_row;
        if (flaws->row >= first && flaws->row < first + world->joint[k].n_rows) joint = world->scene->joint[k].name;
    }
    if (flaws->overlap > STI_CONSISTENT)
        sti_describe_contact(model, &work->here.contact[flaws->contact], pair, sizeof pair);
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "the initial state %s: joints are open by %.3g%s%s%s and opening at %.3g, overlap is %.3g m%s%s",
                    what, flaws->joint, joint[0] != '\0' ? " (joint \"" : "", joint, joint[0] != '\0' ? "\")" : "",
                    flaws->speed, flaws->overlap, pair[0] != '\0' ? " of " : "", pair);
}

/* Computes in v_new the nearest velocity that joints, motors and the wanted contacts allow, and its distance. */
static st_Status find_velocity(const sti_Model *model, sti_State *state, sti_StepWork *work, double *moved,
                               st_Error *err)
{
    st_StepInfo info = st_step_info();
    sti_Stage stage = {.t = state->t,
                       .rows = &work->here,
                       .q_star = state->q,
                       .v_star = state->v,
                       .v_base = state->v,
                       .q_base = state->q};
    STI_TRY(sti_solve_stage(model, state, work, &stage, work->v_new, &info, err));
    *moved = 0;
    for (int i = 0; i < model->n_v; i++)
        *moved = fmax(*moved, fabs(work->v_new[i] - state->v[i]));
    return ST_OK;
}

st_Status sti_check_initial(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    if (model->def.initial != ST_INITIAL_PROJECT) {
        /* Unless the state is projected, the length of a distance joint may differ from the distance of its points by
         * rounding of decimal digits only. */
        const st_Scene *scene = model->world->scene;
        for (int k = 0; k < scene->n_joints; k++) {
            const st_JointDef *def = &scene->joint[k];
            double apart = norm(sub(def->point_b, def->point));
            if (def->type != ST_JOINT_DISTANCE || !(def->length > 0) || fabs(def->length - apart) <= 1e-3 * apart)
                continue;
            return sti_fail(
                err, ST_ERR_ARGUMENT,
                "joint \"%s\": length is %g, but point and point_b are %g apart at the start; initial \"project\" "
                "would close it",
                def->name, def->length, apart);
        }
    }
    Flaws flaws = look_for_flaws(state, work);
    if (model->def.initial == ST_INITIAL_KEEP || !has_flaws(&flaws)) return ST_OK;
    if (model->def.initial == ST_INITIAL_REFUSE) return refuse(model, work, &flaws, "is inconsistent", err);
    STI_TRY(sti_prepare_projection(model, state, work, err));
    /* Closes joints and overlapping contacts, and contacts that overlap because of these corrections. */
    size_t size = (size_t)model->n_q * sizeof *state->q;
    memcpy(work->q_new, state->q, size);
    memcpy(work->v_new, state->v, (size_t)model->n_v * sizeof *state->v);
    STI_TRY(sti_evaluate(model, state, work, &work->trial, state->t, work->q_new, sti_margin(model), err));
    work->active_new.n = 0;
    for (int round = 0, held = -1; round < 8 && held != work->active_new.n; round++) {
        held = work->active_new.n;
        STI_TRY(sti_activate_touching(model, work, -STI_CONSISTENT, err));
        STI_TRY(sti_project(model, state, work, state->t, 0.0, err));
    }
    double *moved = work->projection.step;
    sti_difference(model, state->q, work->q_new, moved);
    work->initial_position = 0;
    for (int i = 0; i < model->n_v; i++)
        work->initial_position = fmax(work->initial_position, fabs(moved[i]));
    STI_TRY(sti_put_state(model, state, work, state->t, work->q_new, state->v, 0, NULL, err));
    work->wanted.n = 0;
    STI_TRY(find_velocity(model, state, work, &work->initial_velocity, err));
    STI_TRY(sti_put_state(model, state, work, state->t, state->q, work->v_new, 0, NULL, err));
    flaws = look_for_flaws(state, work);
    return has_flaws(&flaws) ? refuse(model, work, &flaws, "cannot be made consistent", err) : ST_OK;
}

static double joint_speed(const sti_State *state, const sti_StepWork *work, int row)
{
    const st_Sink *here = &work->here;
    return fabs(sti_row_dot(&here->joint_rows, row, state->v) + here->joint[row].rate);
}

bool sti_starts_with_jump(const sti_Model *model, const sti_State *state, const sti_StepWork *work)
{
    bool any = sti_row_buffer_joint_error(&work->here) > STI_CONSISTENT;
    const int n = sti_integrator(model)->order == 1 ? work->here.joint_rows.n_rows
                                                    : 0; /* with order two the jump is solved as an impact */
    for (int k = 0; k < n && !any; k++)
        any = joint_speed(state, work, k) > STI_CONSISTENT;
    return any;
}

/* The impulses count as an impact of the step that begins. Between two steps they belong to no step. */
st_Status sti_impact_of_jump(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    double moved, worst = 0;
    for (int k = 0; k < work->here.joint_rows.n_rows; k++)
        worst = sti_larger(joint_speed(state, work, k), worst);
    work->wanted.n = 0;
    if (model->def.events != ST_EVENTS_OFF) {
        STI_TRY(sti_refresh_active(model, state, work, err));
        STI_TRY(sti_select_contacts(model, state, work, 0.0, err));
    }
    for (int k = 0; k < work->wanted.n; k++) {
        const int c = sti_row_buffer_find(&work->here, work->wanted.id[k]);
        if (c < 0) continue;
        worst = sti_larger(-sti_row_dot(&work->here.contact_rows, work->here.contact[c].first_row, state->v), worst);
    }
    if (worst <= STI_CONSISTENT) return ST_OK;
    STI_TRY(find_velocity(model, state, work, &moved, err));
    sti_begin_piece_impulses(model, work);
    STI_TRY(sti_carry_impulses(model, state, work, 1.0, 1.0, err));
    STI_TRY(sti_sum_piece(model, state, work, false, err));
    sti_works_add(&state->works, 1, &work->step.done);
    memcpy(state->v, work->v_new, (size_t)model->n_v * sizeof *state->v);
    state->history.known = false;
    return ST_OK;
}

/* ---- messages --------------------------------------------------------------------------------------- */

static void add_flaw(st_Flaw *out, int room, int *n, st_Flaw flaw)
{
    if (*n < room) out[*n] = flaw;
    ++*n;
}

int st_system_flaws(const st_System *system, st_Flaw *out, int room)
{
    if (system == NULL || !system->model.rigid || (out == NULL && room > 0)) return 0;
    const sti_World *world = system->model.world;
    sti_StepWork *work = (sti_StepWork *)&system->work; /* its rows of the present state are computed on demand */
    st_Sink *here = &work->here;
    int n = 0;
    if (sti_device_fetch(&system->model, &system->state, work, NULL) != ST_OK) return 0;
    if (work->on_device != NULL && sti_evaluate(&system->model, &system->state, work, here, system->state.t,
                                                system->state.q, system->model.def.margin, NULL) != ST_OK)
        return 0;
    for (int c = 0; c < here->n_contacts; c++) { /* sorted by id: contacts of two shapes are adjacent */
        const sti_ContactEntry *entry = &here->contact[c];
        if (!(-entry->gap > STI_CONSISTENT) || sti_limit_joint(entry->id) >= 0) continue;
        const bool same = n > 0 && n <= room && out[n - 1].a.index1 == entry->a && out[n - 1].b.index1 == entry->b;
        if (same)
            out[n - 1].size = sti_larger(-entry->gap, out[n - 1].size);
        else
            add_flaw(out, room, &n,
                     (st_Flaw){.kind = ST_FLAW_OVERLAP, .a = {entry->a}, .b = {entry->b}, .size = -entry->gap});
    }
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        double error = 0, speed = 0;
        for (int row = joint->first_row; row < joint->first_row + joint->n_rows; row++) {
            error = sti_larger(fabs(here->joint[row].value), error);
            speed = sti_larger(joint_speed(&system->state, &system->work, row), speed);
        }
        if (error > STI_CONSISTENT)
            add_flaw(out, room, &n, (st_Flaw){.kind = ST_FLAW_JOINT, .joint = {k + 1}, .size = error});
        if (speed > STI_CONSISTENT)
            add_flaw(out, room, &n, (st_Flaw){.kind = ST_FLAW_SPEED, .joint = {k + 1}, .size = speed});
        const sti_JointValues *values = &world->values.joint[k];
        double outside = 0;
        for (int which = 0; which < 2; which++) {
            sti_Measure x;
            sti_Rows rows;
            if (!isfinite(values->lower[which]) && !isfinite(values->upper[which])) continue;
            if (sti_coordinate_row(world, k, which, system->state.q, &x, &rows, NULL) != ST_OK) continue;
            outside = sti_larger(sti_larger(values->lower[which] - x.value, x.value - values->upper[which]), outside);
        }
        if (outside > STI_CONSISTENT)
            add_flaw(out, room, &n, (st_Flaw){.kind = ST_FLAW_LIMIT, .joint = {k + 1}, .size = outside});
    }
    return n;
}
