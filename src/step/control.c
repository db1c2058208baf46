/* step/control.c -- a controller sets motor targets and applied forces between two steps.
 *
 * The world stores these values, and they replace the profiles of the scene. The rows at the state were computed before
 * the change, so rows of joints and motors are computed again when the next step begins.
 */
#include "base/range.h"
#include "step/drift/drift.h"
#include "step/integrate/integrate.h"
#include "step/sleep.h"

#include <stdio.h>

/* Stores a control value and wakes the bodies that it moves. */
static void say(const sti_Model *model, sti_StepWork *work, int index, sti_Control control, int a, int b)
{
    sti_Control *now = &model->world->control[index];
    bool same = now->is_set == control.is_set;
    for (int i = 0; i < 6; i++)
        same = same && now->value[i] == control.value[i];
    if (same) return;
    if (a > 0) sti_make_island_due(model, work, a);
    if (b > 0) sti_make_island_due(model, work, b);
    model->world->n_controls += control.is_set - now->is_set;
    *now = control;
    work->rows_stale = true;
}

st_Status st_system_set_motor(st_System *system, st_JointId id, double wanted, st_Error *err)
{
    STI_NEED(system, err);
    sti_World *world = system->model.world;
    const int joint = sti_joint_now(world->scene, id).index1 - 1;
    if (joint < 0 || joint >= world->n_joints)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_set_motor: there is no joint %d", id.index1);
    const st_JointDef *def = &world->scene->joint[joint];
    if (def->motor.type == ST_MOTOR_NONE || def->motor.type == ST_MOTOR_MOTION)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "joint \"%s\": its motor is \"%s\", only \"speed\", \"position\" and \"force\" can be set",
                        def->name, st_motor_type_name(def->motor.type));
    sti_Control control = {.is_set = !isnan(wanted)};
    if (control.is_set && !sti_within(wanted, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "joint \"%s\": the wanted value of its motor is %g, must be from %g to %g", def->name, wanted,
                        -STI_LARGEST, STI_LARGEST);
    if (control.is_set && !def->motor.integrate && def->motor.lowest < def->motor.highest)
        wanted = fmin(fmax(wanted, def->motor.lowest), def->motor.highest);
    if (control.is_set) control.value[0] = wanted;
    if (control.is_set &&
        (def->motor.lag > 0 || def->motor.integrate)) { /* the motor continues from its current value */
        if (world->control[joint].is_set && world->control[joint].value[0] == wanted) return ST_OK;
        control.value[1] = sti_motor_wanted(world, joint, system->state.t, NULL);
        control.value[2] = system->state.t;
    }
    say(&system->model, &system->work, joint, control, world->joint[joint].a, world->joint[joint].b);
    if (!world->joint[joint].held) return ST_OK;
    if (system->work.rows_stale) STI_TRY(sti_refresh_rows(&system->model, &system->state, &system->work, err));
    if (sti_integrator(&system->model)->order == 1) return ST_OK;
    return sti_impact_of_jump(&system->model, &system->state, &system->work, err);
}

void sti_motors_restart(const sti_Model *model, sti_State *state, sti_StepWork *work, double t)
{
    sti_World *world = model->world;
    for (int j = 0; world != NULL && j < world->n_joints; j++) {
        if (!sti_motor_takes_time(world, j)) continue;
        world->control[j].value[1] = sti_motor_wanted(world, j, state->t, NULL);
        world->control[j].value[2] = t;
        work->rows_stale = true;
    }
}

void sti_motor_settle(const sti_Model *model, sti_State *state, sti_StepWork *work, int joint, double wanted)
{
    sti_World *world = model->world;
    sti_Control *control = &world->control[joint];
    if (!sti_motor_takes_time(world, joint)) return;
    control->value[0] = world->scene->joint[joint].motor.integrate ? 0 : wanted;
    control->value[1] = wanted;
    control->value[2] = state->t;
    work->rows_stale = true;
}

st_Status st_system_set_force(st_System *system, st_ForceId id, const st_Vec3 *force, const st_Vec3 *torque,
                              st_Error *err)
{
    STI_NEED(system, err);
    sti_World *world = system->model.world;
    const int f = sti_force_now(world->scene, id).index1 - 1;
    if (f < 0 || f >= world->scene->n_forces)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_set_force: there is no force %d", id.index1);
    sti_Control control = {.is_set = force != NULL || torque != NULL};
    if (force != NULL) vec3_store(control.value, *force);
    if (torque != NULL) vec3_store(control.value + 3, *torque);
    for (int i = 0; i < 6; i++)
        if (!sti_within(control.value[i], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "force \"%s\": component %d is %g, must be from %g to %g",
                            world->scene->force[f].name, i, control.value[i], -STI_LARGEST, STI_LARGEST);
    say(&system->model, &system->work, world->n_joints + f, control, world->scene->force[f].body.index1, 0);
    return ST_OK;
}

/* ---- all of it as one vector ---------------------------------------------------------------------- */

static bool can_be_set(const sti_World *world, int joint)
{
    const st_MotorType type = world->scene->joint[joint].motor.type;
    return type != ST_MOTOR_NONE && type != ST_MOTOR_MOTION;
}

int st_system_control_count(const st_System *system)
{
    if (system == NULL || !system->model.rigid) return 0;
    const sti_World *world = system->model.world;
    int n = 6 * world->scene->n_forces;
    for (int j = 0; j < world->n_joints; j++)
        n += can_be_set(world, j);
    return n;
}

st_Status st_system_control_name(const st_System *system, int index, char *out, int size)
{
    static const char *const components[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    if (out == NULL || size < 1 || index < 0 || index >= st_system_control_count(system)) return ST_ERR_ARGUMENT;
    const sti_World *world = system->model.world;
    for (int j = 0; j < world->n_joints; j++)
        if (can_be_set(world, j) && index-- == 0) {
            snprintf(out, (size_t)size, "%s.motor", world->scene->joint[j].name);
            return ST_OK;
        }
    snprintf(out, (size_t)size, "%s.%s", world->scene->force[index / 6].name, components[index % 6]);
    return ST_OK;
}

static st_Status check_controls(int count, const char *call, const double *values, int n, st_Error *err)
{
    if (n != count || (n > 0 && values == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: %d values are given, the system has %d controls", call,
                        values != NULL ? n : 0, count);
    return ST_OK;
}

st_Status st_system_controls(const st_System *system, double *values, int n, st_Error *err)
{
    STI_NEED(system, err);
    STI_TRY(check_controls(st_system_control_count(system), "st_system_controls", values, n, err));
    if (n == 0) return ST_OK;
    const sti_World *world = system->model.world;
    for (int j = 0; j < world->n_joints; j++)
        if (can_be_set(world, j)) *values++ = world->control[j].is_set ? world->control[j].value[0] : NAN;
    for (int f = 0; f < world->scene->n_forces; f++)
        for (int i = 0; i < 6; i++) {
            const sti_Control *control = &world->control[world->n_joints + f];
            *values++ = control->is_set ? control->value[i] : NAN;
        }
    return ST_OK;
}

st_Status st_system_set_controls(st_System *system, const double *values, int n, st_Error *err)
{
    STI_NEED(system, err);
    STI_TRY(check_controls(st_system_control_count(system), "st_system_set_controls", values, n, err));
    for (int k = 0; k < n; k++)
        if (!isnan(values[k]) && !sti_within(values[k], STI_LARGEST)) {
            char name[100];
            st_system_control_name(system, k, name, sizeof name);
            return sti_fail(err, ST_ERR_ARGUMENT, "control \"%s\" is %g, must be from %g to %g", name, values[k],
                            -STI_LARGEST, STI_LARGEST);
        }
    if (n == 0) return ST_OK;
    const sti_World *world = system->model.world;
    for (int j = 0; j < world->n_joints; j++) {
        if (!can_be_set(world, j)) continue;
        const double wanted = *values++;
        const sti_Control *now = &world->control[j];
        const bool same = now->is_set ? now->value[0] == wanted : isnan(wanted);
        if (!same || world->joint[j].held) STI_TRY(st_system_set_motor(system, (st_JointId){j + 1}, wanted, err));
    }
    for (int f = 0; f < world->scene->n_forces; f++, values += 6) {
        double w[6];
        bool given = false;
        for (int i = 0; i < 6; i++) {
            given = given || !isnan(values[i]);
            w[i] = isnan(values[i]) ? 0 : values[i];
        }
        const st_Vec3 force = vec3_load(w), torque = vec3_load(w + 3);
        STI_TRY(st_system_set_force(system, (st_ForceId){f + 1}, given ? &force : NULL, given ? &torque : NULL, err));
    }
    return ST_OK;
}

st_Status st_system_push(st_System *system, st_BodyId id, const st_Vec3 *force, const st_Vec3 *torque, st_Error *err)
{
    STI_NEED(system, err);
    id = sti_body_now(system->model.world->scene, id);
    sti_Push push = {.body = id.index1};
    STI_TRY(sti_check_movable(&system->model, "st_system_push", id, err));
    sti_World *world = system->model.world;
    if (force != NULL) vec3_store(push.wrench, *force);
    if (torque != NULL) vec3_store(push.wrench + 3, *torque);
    for (int i = 0; i < 6; i++)
        if (!sti_within(push.wrench[i], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": component %d of its push is %g, must be from %g to %g",
                            world->scene->names[STI_BODY].name[id.index1], i, push.wrench[i], -STI_LARGEST,
                            STI_LARGEST);
    int p = 0;
    while (p < world->n_pushes && world->push[p].body < id.index1)
        p++;
    const bool there = p < world->n_pushes && world->push[p].body == id.index1;
    for (int i = 0; i < 6; i++)
        if (push.wrench[i] != (there ? world->push[p].wrench[i] : 0.0)) {
            /* Replaces the push of a body, or removes it. */
            bool none = true;
            for (int k = 0; k < 6; k++)
                none = none && push.wrench[k] == 0;
            const size_t rest = (size_t)(world->n_pushes - p - there) * sizeof push;
            if (there || !none) {
                if (!there)
                    STI_TRY(STI_GROW(&world->allocator, world->push, world->push_capacity, world->n_pushes + 1, err));
                if (there == none) memmove(world->push + p + !none, world->push + p + there, rest);
                if (!none) world->push[p] = push;
                world->n_pushes += !none - there;
            }
            return st_system_wake(system, id, err);
        }
    return ST_OK;
}

/* Targets of motors change their bounded rows, and the joint rows of those that hold their joint. */
st_Status sti_refresh_rows(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    const st_Model *table = &model->table;
    const sti_World *world = model->world;
    st_Sink *here = &work->here;
    bool held = !model->rigid;
    for (int k = 0; k < world->n_joints && !held; k++)
        held = world->joint[k].held;
    if (held) {
        STI_TRY(sti_evaluate_constraints(model, work, here, state->t, state->q, err));
    } else if (table->bounded != NULL) {
        here->bounded_rows.n_rows = 0;
        STI_TRY(table->bounded(table->ctx, state->t, state->q, here, err));
    }
    here->constraints_known = false; /* the next evaluation is at another position */
    work->rows_stale = false;
    return ST_OK;
}
