/* model/force.c -- gravity and applied forces, as generalised forces on the free velocities. */
#include "math/parallel.h"
#include "model/time_factor.h"
#include "model/world.h"

/* Add a force at the centre of mass (world axes) and a torque (body axes) to k. */
static void add_wrench(const sti_Body *body, st_Vec3 force, st_Vec3 torque, double *k)
{
    double full[6];
    vec3_store(full, force);
    vec3_store(full + 3, torque);
    for (int d = 0; d < body->n_dofs; d++)
        k[body->v_first + d] += full[body->dof[d]];
}

/* Force and torque of applied force f at t, in the axes of its def. */
static void force_value(const sti_World *world, int f, double t, st_Vec3 *force, st_Vec3 *torque)
{
    const st_ForceDef *def = &world->scene->force[f];
    const sti_Control *control = &world->control[world->n_joints + f];
    const double s = sti_profile_value(&def->profile, t);
    *force = control->is_set ? vec3_load(control->value) : scale(s, def->force);
    *torque = control->is_set ? vec3_load(control->value + 3) : scale(s, def->torque);
}

typedef struct Weight {
    const sti_World *world;
    double *k;
} Weight;

static void weigh_range(void *ctx, int64_t first, int64_t end)
{
    const Weight *weight = ctx;
    const sti_World *world = weight->world;
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(world, e);
        const sti_Body *body = &world->body[b];
        for (int d = 0; d < body->n_dofs; d++)
            weight->k[body->v_first + d] = 0;
        if (!sti_is_absent(world, b)) add_wrench(body, scale(body->weight, world->gravity), vec3(0, 0, 0), weight->k);
    }
}

static void add_pushes(const sti_World *world, const double *q, double *k)
{
    for (int p = 0; p < world->n_pushes; p++) {
        const sti_Push *push = &world->push[p];
        const int body = (int)push->body;
        if (sti_sleeps(world, body)) continue;
        const st_Vec3 torque = rotate_back(sti_pose(q, body).q, vec3_load(push->wrench + 3));
        add_wrench(&world->body[body], vec3_load(push->wrench), torque, k);
    }
}

void sti_forces(const sti_World *world, double t, const double *q, double *k)
{
    Weight weight = {world, k};
    sti_team_for(world->threads, sti_awake_count(world), STI_LEAST_BODIES, weigh_range, &weight);
    for (int f = 0; f < world->scene->n_forces; f++) {
        const st_ForceDef *def = &world->scene->force[f];
        if (sti_sleeps(world, def->body.index1)) continue;
        st_Quat orientation = sti_pose(q, def->body.index1).q;
        st_Vec3 force, torque;
        force_value(world, f, t, &force, &torque);
        st_Vec3 force_world = def->body_axes ? rotate(orientation, force) : force;
        st_Vec3 force_body = def->body_axes ? force : rotate_back(orientation, force);
        st_Vec3 torque_body = def->body_axes ? torque : rotate_back(orientation, torque);
        add_wrench(&world->body[def->body.index1], force_world, add(torque_body, cross(def->point, force_body)), k);
    }
    add_pushes(world, q, k);
}
