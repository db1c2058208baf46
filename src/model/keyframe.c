/* model/keyframe.c -- named states of a scene: poses and velocities of bodies, targets of motors, and applied
 * forces. */
#include "model/check.h"
#include "model/world.h"

#include <stdio.h>

st_KeyframeDef st_keyframe_def(void)
{
    return (st_KeyframeDef){.cookie = STI_COOKIE};
}

void sti_keyframe_free(const st_Allocator *allocator, sti_KeyframeEntry *keyframe)
{
    sti_free(allocator, keyframe->bodies, keyframe->n_bodies, sizeof *keyframe->bodies);
    sti_free(allocator, keyframe->motors, keyframe->n_motors, sizeof *keyframe->motors);
    sti_free(allocator, keyframe->forces, keyframe->n_forces, sizeof *keyframe->forces);
}

st_Status st_scene_add_keyframe(st_Scene *scene, const st_KeyframeDef *def, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_keyframe_def", err);
    char who[STI_NAME_MAX + 16];
    const st_Allocator *a = &scene->allocator;
    snprintf(who, sizeof who, "keyframe \"%.200s\"", def->name != NULL ? def->name : "");
    if (!sti_within(def->t, STI_LARGEST)) return sti_fail(err, ST_ERR_ARGUMENT, "%s: time is %g", who, def->t);
    if (def->n_bodies < 0 || def->n_motors < 0 || def->n_forces < 0 || (def->n_bodies > 0 && def->bodies == NULL) ||
        (def->n_motors > 0 && def->motors == NULL) || (def->n_forces > 0 && def->forces == NULL))
        return sti_fail(
            err, ST_ERR_ARGUMENT,
            "%s: it has %d bodies, %d motors and %d forces; counts must be >= 0, and their arrays must not be NULL",
            who, def->n_bodies, def->n_motors, def->n_forces);
    for (int k = 0; k < def->n_bodies; k++) {
        const st_KeyframeBody *b = &def->bodies[k];
        if (b->body.index1 < 1 || b->body.index1 >= scene->n_bodies)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: there is no body number %d", who, b->body.index1);
        const char *name = scene->names[STI_BODY].name[b->body.index1];
        if (!(fabs(quat_norm(b->pose.q) - 1) <= STI_UNIT))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: orientation of \"%s\" has length %g, must be a unit quaternion",
                            who, name, quat_norm(b->pose.q));
        if (!sti_within(norm(b->pose.p), STI_LARGEST) || !sti_within(norm(b->velocity), STI_LARGEST) ||
            !sti_within(norm(b->spin), STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: position and velocities of \"%s\" must be finite", who, name);
    }
    for (int k = 0; k < def->n_motors; k++) {
        const int id = def->motors[k].joint.index1;
        const st_MotorType type = id >= 1 && id <= scene->n_joints ? scene->joint[id - 1].motor.type : ST_MOTOR_NONE;
        if (type == ST_MOTOR_NONE || type == ST_MOTOR_MOTION)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: joint number %d has no motor that can be set", who, id);
        if (!sti_within(def->motors[k].wanted, STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: the wanted value of the motor of \"%s\" is %g, must be finite",
                            who, scene->names[STI_JOINT].name[id - 1], def->motors[k].wanted);
    }
    for (int k = 0; k < def->n_forces; k++) {
        const st_KeyframeForce *f = &def->forces[k];
        if (f->force.index1 < 1 || f->force.index1 > scene->n_forces)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: there is no force number %d", who, f->force.index1);
        if (!sti_within(norm(f->value), STI_LARGEST) || !sti_within(norm(f->torque), STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: force \"%s\" and its torque must be finite", who,
                            scene->names[STI_FORCE].name[f->force.index1 - 1]);
    }
    STI_TRY(STI_GROW(a, scene->keyframe, scene->keyframe_capacity, scene->n_keyframes + 1, err));
    sti_KeyframeEntry kept = {.name = def->name,
                              .t = def->t,
                              .n_bodies = def->n_bodies,
                              .n_motors = def->n_motors,
                              .n_forces = def->n_forces};
    kept.bodies = sti_alloc(a, kept.n_bodies, sizeof *kept.bodies);
    kept.motors = sti_alloc(a, kept.n_motors, sizeof *kept.motors);
    kept.forces = sti_alloc(a, kept.n_forces, sizeof *kept.forces);
    st_Status status = ST_OK;
    if ((kept.bodies == NULL && kept.n_bodies > 0) || (kept.motors == NULL && kept.n_motors > 0) ||
        (kept.forces == NULL && kept.n_forces > 0))
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for %s", who);
    if (status == ST_OK) status = sti_scene_keep_name(scene, STI_KEYFRAME_SCOPE, "keyframe", &kept.name, err);
    if (status != ST_OK) {
        sti_keyframe_free(a, &kept);
        return status;
    }
    for (int k = 0; k < kept.n_bodies; k++) {
        kept.bodies[k] = def->bodies[k];
        kept.bodies[k].pose.q = quat_unit(kept.bodies[k].pose.q);
    }
    for (int k = 0; k < kept.n_motors; k++)
        kept.motors[k] = def->motors[k];
    for (int k = 0; k < kept.n_forces; k++)
        kept.forces[k] = def->forces[k];
    scene->keyframe[scene->n_keyframes++] = kept;
    return ST_OK;
}

int st_scene_keyframe_count(const st_Scene *scene)
{
    return scene != NULL ? scene->n_keyframes : 0;
}

st_Status st_scene_keyframe(const st_Scene *scene, int number, st_KeyframeDef *out)
{
    if (scene == NULL || out == NULL || number < 1 || number > scene->n_keyframes) return ST_ERR_ARGUMENT;
    const sti_KeyframeEntry *of = &scene->keyframe[number - 1];
    *out = (st_KeyframeDef){.name = of->name,
                            .t = of->t,
                            .n_bodies = of->n_bodies,
                            .bodies = of->bodies,
                            .n_motors = of->n_motors,
                            .motors = of->motors,
                            .n_forces = of->n_forces,
                            .forces = of->forces,
                            .cookie = STI_COOKIE};
    return ST_OK;
}

int st_scene_find_keyframe(const st_Scene *scene, const char *name)
{
    for (int k = 0; scene != NULL && name != NULL && k < scene->n_keyframes; k++)
        if (strcmp(scene->keyframe[k].name, name) == 0) return k + 1;
    return 0;
}
