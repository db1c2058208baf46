/* model/rotor.c -- armature: the inertia of the rotor of a motor, which turns with its joint through gears.
 *
 * An armature A [kg m^2, of a displacement kg] adds the kinetic energy A (dx/dt)^2/2 of the joint's coordinate x. With
 * dx/dt = a(q)' v that is a mass A a a' between two bodies, which changes with q. Here it is a body with one velocity s
 * and the constant mass A, connected by a joint row:
 *
 *     M v' = ... + a l,     A s' = -l,     a' v - s = 0            so that     M v' + A a (a' v)' = ...
 *
 * the equations of Lagrange for that energy, including the change of dx/dt with a(q). Every scheme, impacts, the energy
 * and the saved state include it without extra code, because it consists of a body and a row; M stays block-diagonal
 * and constant. The row is on velocities alone (value 0): the angle of the rotor has no meaning.
 *
 * Rotors are the last bodies of the world's own copy of the scene, one for each joint with an armature, in order;
 * their rows are the last of the joint rows. A rotor is at the origin, can only turn about x, and touches nothing.
 */
#include "model/world.h"

#include <stdio.h>

static bool has_rotor(const st_JointDef *def)
{
    return def->armature > 0;
}

st_Status sti_rotors_add(st_Scene *scene, st_Error *err)
{
    for (int k = 0; k < scene->n_joints; k++) {
        if (!has_rotor(&scene->joint[k])) continue;
        const st_JointDef *joint = &scene->joint[k];
        char name[STI_NAME_MAX + 16];
        const double A = joint->armature;
        st_BodyDef def = st_body_def();
        snprintf(name, sizeof name, "%s rotor", joint->name);
        if (sti_names_find(&scene->names[STI_BODY], 0, name) >= 0)
            return sti_fail(
                err, ST_ERR_ARGUMENT,
                "joint \"%s\": its armature needs the body name \"%s\", which another body has: rename that body",
                joint->name, name);
        def.name = name;
        def.mass = 1; /* it never leaves its position */
        def.inertia = (st_Mat3){{A, 0, 0, 0, A, 0, 0, 0, A}};
        def.locks = ST_LOCK_ALL & ~(uint32_t)ST_LOCK_RX;
        STI_TRY(st_scene_add_body(scene, &def, NULL, err));
        scene->n_rotors++;
    }
    return ST_OK;
}

void sti_rotors_compile(sti_World *world)
{
    int rotor = sti_first_rotor(world), row = 0;
    for (int k = 0; k < world->n_joints; k++)
        row += world->joint[k].n_rows;
    for (int k = 0; k < world->n_joints; k++) {
        sti_Joint *joint = &world->joint[k];
        const bool has = has_rotor(&world->scene->joint[k]);
        joint->rotor = has ? rotor++ : 0;
        joint->rotor_row = has ? row++ : -1;
    }
}

/* Rows of a sleeping joint do not change. */
st_Status sti_rotors_push(const sti_World *world, const double *q, bool known, st_Sink *sink, st_Error *err)
{
    for (int k = 0; sti_rotor_count(world) > 0 && k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        sti_Measure x;
        sti_Rows rows;
        sti_CoordinateView of;
        sti_JointEntry *entry;
        double *gradient;
        if (joint->rotor == 0) continue;
        if (known && sti_both_stay(world, joint->a, joint->b)) {
            sink->joint_rows.n_rows++;
            continue;
        }
        STI_TRY(sti_coordinate_view(world, k, 0, q, &x, &rows, &of, err));
        if (!sink->laid_out) {
            if (of.index != rows.index) memcpy(rows.index, of.index, (size_t)of.count * sizeof *rows.index);
            rows.index[of.count] = world->body[joint->rotor].v_first;
        }
        STI_TRY(sti_row_buffer_add_joint(sink, 1, of.count + 1, rows.index, &entry, &gradient, err));
        *entry = (sti_JointEntry){.velocity = true};
        for (int i = 0; i < of.count; i++)
            gradient[i] = of.gradient[i];
        gradient[of.count] = -1;
    }
    return ST_OK;
}

st_Status sti_rotors_follow(const sti_World *world, const double *q, double *v, st_Error *err)
{
    for (int k = 0; sti_rotor_count(world) > 0 && k < world->n_joints; k++) {
        sti_Rows rows;
        double speed = 0;
        if (world->joint[k].rotor == 0) continue;
        /* The row a, on the velocities of the joint's bodies. */
        sti_Measure x;
        STI_TRY(sti_coordinate_row(world, k, 0, q, &x, &rows, err));
        for (int i = 0; i < rows.count; i++)
            speed += rows.gradient[i] * v[rows.index[i]];
        v[world->body[world->joint[k].rotor].v_first] = speed;
    }
    return ST_OK;
}

int sti_rotors_asleep(const sti_World *world)
{
    int n = 0;
    for (int b = sti_first_rotor(world); b < world->n_bodies; b++)
        n += sti_sleeps(world, b);
    return n;
}
