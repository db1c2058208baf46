/* step/control.c -- the word of a controller, between two steps: what motors want and applied forces are from now on.
 *
 * It stands in the world in place of the scene's profiles. The rows at the state, which the last step left, were made
 * before it was said: those of joints and motors are made again when the next step begins.
 */
#include "base/range.h"
#include "step/step.h"

/* Say it, and wake whoever it moves. */
static st_Status say(st_System *system, int index, sti_Control control, int a, int b, st_Error *err)
{
    sti_Control *now = &system->model.world->control[index];
    bool same = now->is_set == control.is_set;
    for (int i = 0; i < 6; i++)
        same = same && now->value[i] == control.value[i];
    if (same) return ST_OK;
    if (a > 0) STI_TRY(st_system_wake(system, (st_BodyId){a}, err));
    if (b > 0) STI_TRY(st_system_wake(system, (st_BodyId){b}, err));
    system->model.world->n_controls += control.is_set - now->is_set;
    *now = control;
    system->work.rows_stale = true;
    return ST_OK;
}

st_Status st_system_set_motor(st_System *system, st_JointId id, double wanted, st_Error *err)
{
    STI_NEED(system, err);
    sti_World *world = system->model.world;
    const int joint = id.index1 - 1;
    if (joint < 0 || joint >= world->n_joints)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_set_motor: there is no joint %d", id.index1);
    const st_JointDef *def = &world->scene->joint[joint];
    if (def->motor.type == ST_MOTOR_NONE || def->motor.type == ST_MOTOR_MOTION)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "joint \"%s\": its motor is \"%s\", must be \"speed\", \"position\" or \"force\" to be told",
                        def->name, st_motor_type_name(def->motor.type));
    sti_Control control = {.is_set = !isnan(wanted)};
    if (control.is_set && !sti_within(wanted, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "joint \"%s\": its motor is told %g, must be from %g to %g", def->name,
                        wanted, -STI_LARGEST, STI_LARGEST);
    if (control.is_set) control.value[0] = wanted;
    STI_TRY(say(system, joint, control, world->joint[joint].a, world->joint[joint].b, err));
    if (!world->joint[joint].held) return ST_OK;
    STI_TRY(sti_refresh_rows(system, err));
    return sti_meet_motors(system, err);
}

st_Status st_system_set_force(st_System *system, st_ForceId id, const st_Vec3 *force, const st_Vec3 *torque,
                              st_Error *err)
{
    STI_NEED(system, err);
    sti_World *world = system->model.world;
    const int f = id.index1 - 1;
    if (f < 0 || f >= world->scene->n_forces)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_set_force: there is no force %d", id.index1);
    sti_Control control = {.is_set = force != NULL || torque != NULL};
    if (force != NULL) vec3_store(control.value, *force);
    if (torque != NULL) vec3_store(control.value + 3, *torque);
    for (int i = 0; i < 6; i++)
        if (!sti_within(control.value[i], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "force \"%s\": component %d is %g, must be from %g to %g",
                            world->scene->force[f].name, i, control.value[i], -STI_LARGEST, STI_LARGEST);
    return say(system, world->n_joints + f, control, world->scene->force[f].body.index1, 0, err);
}

/* Where the push of a body stands, or would stand. */
static int find_push(const sti_World *world, int body)
{
    int p = 0;
    while (p < world->n_pushes && world->push[p].body < body)
        p++;
    return p;
}

static bool is_nothing(const double wrench[6])
{
    for (int i = 0; i < 6; i++)
        if (wrench[i] != 0) return false;
    return true;
}

/* One in place of the other, or none. */
static st_Status put_push(sti_World *world, const sti_Push *push, st_Error *err)
{
    const int p = find_push(world, (int)push->body);
    const bool there = p < world->n_pushes && world->push[p].body == push->body, none = is_nothing(push->wrench);
    const size_t behind = (size_t)(world->n_pushes - p - there) * sizeof *push;
    if (!there && none) return ST_OK;
    if (!there) STI_TRY(STI_GROW(&world->allocator, world->push, world->push_capacity, world->n_pushes + 1, err));
    if (there == none) memmove(world->push + p + !none, world->push + p + there, behind);
    if (!none) world->push[p] = *push;
    world->n_pushes += !none - there;
    return ST_OK;
}

st_Status st_system_push(st_System *system, st_BodyId id, const st_Vec3 *force, const st_Vec3 *torque, st_Error *err)
{
    STI_NEED(system, err);
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
    const int p = find_push(world, id.index1);
    const bool there = p < world->n_pushes && world->push[p].body == id.index1;
    for (int i = 0; i < 6; i++)
        if (push.wrench[i] != (there ? world->push[p].wrench[i] : 0.0)) {
            STI_TRY(put_push(world, &push, err));
            return st_system_wake(system, id, err);
        }
    return ST_OK;
}

st_Status sti_refresh_rows(st_System *system, st_Error *err)
{
    if (!system->work.rows_stale) return ST_OK;
    STI_TRY(sti_evaluate_constraints(&system->model, &system->work, &system->work.here, system->state.t,
                                     system->state.q, err));
    system->work.here.constraints_known = false; /* the next position is another one */
    system->work.rows_stale = false;
    return ST_OK;
}
