/* model/force.c -- gravity and applied forces, as generalised forces on the free velocities. */
#include "math/parallel.h"
#include "model/time_factor.h"
#include "model/world.h"

void sti_wrench_add(const sti_Body *body, st_Vec3 force, st_Vec3 torque, double *k)
{
    double full[6];
    vec3_store(full, force);
    vec3_store(full + 3, torque);
    for (int d = 0; d < body->n_dofs; d++)
        k[body->v_first + d] += full[body->dof[d]];
}

typedef struct Weight {
    const sti_World *world;
    double *k;
} Weight;

static void weigh_range(void *ctx, int64_t first, int64_t end)
{
    const Weight *weight = ctx;
    const sti_World *world = weight->world;
    const int rotors = sti_first_rotor(world);
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(world, e);
        const sti_Body *body = &world->body[b];
        double *k = weight->k + body->v_first;
        const bool pulled = !sti_is_absent(world, b) && b < rotors;
        if (pulled && body->n_dofs == 6) {
            vec3_store(k, scale(sti_weight(world, b), world->gravity));
            vec3_store(k + 3, vec3(0, 0, 0));
            continue;
        }
        for (int d = 0; d < body->n_dofs; d++)
            k[d] = 0;
        if (pulled) sti_wrench_add(body, scale(sti_weight(world, b), world->gravity), vec3(0, 0, 0), weight->k);
    }
}

/* ---- drag and magnetic forces ----------------------------------------------------------------------- */

static bool has_field(const st_ForceDef *def)
{
    return def->drag > 0 || def->charge != 0 || norm(def->moment) > 0 || norm(def->ellipsoid) > 0;
}

bool sti_has_fields(const st_Scene *scene)
{
    for (int f = 0; f < scene->n_forces; f++)
        if (has_field(&scene->force[f])) return true;
    return false;
}

/* At a point p of a body in the orientation R (body to world), w in body axes: u = v + R (w x p), and
 *
 *     F = -c |u - wind| (u - wind) + charge u x B,    torque in body axes p x R'F + m x R'B.                      */
typedef struct Field {
    st_Quat R;
    st_Vec3 p, u, w, force, torque;
} Field;

static Field field_of(const sti_World *world, int f, const double *q, const double *v)
{
    const st_ForceDef *def = &world->scene->force[f];
    Field out = {.R = sti_pose(q, def->body.index1).q, .p = def->point};
    st_Vec3 linear;
    sti_body_velocity(&world->body[def->body.index1], v, &linear, &out.w);
    out.u = add(linear, rotate(out.R, cross(out.w, out.p)));
    const st_Vec3 through = sub(out.u, world->medium.wind);
    out.force = add(scale(-def->drag * norm(through), through), scale(def->charge, cross(out.u, def->field)));
    out.torque = add(cross(out.p, rotate_back(out.R, out.force)), cross(def->moment, rotate_back(out.R, def->field)));
    return out;
}

void sti_fields_add(const sti_World *world, const double *q, const double *v, double *k)
{
    for (int f = 0; f < world->scene->n_forces; f++) {
        const st_ForceDef *def = &world->scene->force[f];
        if (!has_field(def) || sti_sleeps(world, def->body.index1)) continue;
        if (world->has_medium && norm(def->ellipsoid) > 0) sti_ellipsoid_add(world, f, q, v, k);
        const Field field = field_of(world, f, q, v);
        sti_wrench_add(&world->body[def->body.index1], field.force, field.torque, k);
    }
}

/* dF/du = S = -c (|x| + x x'/|x|) - charge [B], x = u - wind. With a velocity (dv, dw) u changes by dv + R (dw x p),
 * with a rotation theta (body axes) by R (theta x (w x p)); R'F turns by -theta x R'F.                       */
st_Status sti_fields_derivative(const sti_World *world, const double *q, const double *v, st_Sink *sink, st_Error *err)
{
    for (int f = 0; f < world->scene->n_forces; f++) {
        const st_ForceDef *def = &world->scene->force[f];
        const sti_Body *body = &world->body[def->body.index1];
        if (!has_field(def) || sti_sleeps(world, def->body.index1)) continue;
        if (world->has_medium && norm(def->ellipsoid) > 0) STI_TRY(sti_ellipsoid_derivative(world, f, q, v, sink, err));
        if (def->drag == 0 && def->charge == 0 && norm(def->moment) == 0) continue;
        const Field at = field_of(world, f, q, v);
        const st_Vec3 x = sub(at.u, world->medium.wind), own = rotate_back(at.R, at.force),
                      field = rotate_back(at.R, def->field);
        const double speed = norm(x);
        double dq[36], dv[36];
        int index[6];
        for (int j = 0; j < body->n_dofs; j++) {
            const int d = body->dof[j];
            const st_Vec3 e = vec3_axis(d % 3);
            st_Vec3 by[2]; /* change of u: with the position, with the velocity */
            by[0] = d < 3 ? vec3(0, 0, 0) : rotate(at.R, cross(e, cross(at.w, at.p)));
            by[1] = d < 3 ? e : rotate(at.R, cross(e, at.p));
            index[j] = body->v_first + j;
            for (int k = 0; k < 2; k++) {
                const double along = speed > 0 ? dot(x, by[k]) / speed : 0;
                const st_Vec3 force = add(scale(-def->drag, add(scale(speed, by[k]), scale(along, x))),
                                          scale(def->charge, cross(by[k], def->field)));
                st_Vec3 torque = cross(at.p, rotate_back(at.R, force));
                if (k == 0 && d >= 3)
                    torque = sub(torque, add(cross(at.p, cross(e, own)), cross(def->moment, cross(e, field))));
                double full[6];
                vec3_store(full, force);
                vec3_store(full + 3, torque);
                for (int i = 0; i < body->n_dofs; i++)
                    (k == 0 ? dq : dv)[i * body->n_dofs + j] = full[body->dof[i]];
            }
        }
        const st_ForceDerivative block = {body->n_dofs, body->n_dofs, index, index, dq, dv};
        STI_TRY(st_push_force_derivative(sink, &block, err));
    }
    return ST_OK;
}

void sti_forces(const sti_World *world, double t, const double *q, double *k)
{
    Weight weight = {world, k};
    sti_team_for(world->threads, sti_awake_count(world), STI_LEAST_BODIES, weigh_range, &weight);
    for (int f = 0; f < world->scene->n_forces; f++) {
        const st_ForceDef *def = &world->scene->force[f];
        if (def->adhesion || sti_sleeps(world, def->body.index1)) continue;
        st_Quat orientation = sti_pose(q, def->body.index1).q;
        st_Vec3 force, torque;
        /* Force and torque of applied force f at t, in the axes of its def. */
        const st_ForceDef *of = &world->scene->force[f];
        const sti_Control *control = &world->control[world->n_joints + f];
        const double s = sti_profile_value(&of->profile, t);
        force = control->is_set ? vec3_load(control->value) : scale(s, of->force);
        torque = control->is_set ? vec3_load(control->value + 3) : scale(s, of->torque);
        st_Vec3 force_world = def->body_axes ? rotate(orientation, force) : force;
        st_Vec3 force_body = def->body_axes ? force : rotate_back(orientation, force);
        st_Vec3 torque_body = def->body_axes ? torque : rotate_back(orientation, torque);
        sti_wrench_add(&world->body[def->body.index1], force_world, add(torque_body, cross(def->point, force_body)), k);
    }
    for (int p = 0; p < world->n_pushes; p++) {
        const sti_Push *push = &world->push[p];
        const int body = (int)push->body;
        if (sti_sleeps(world, body)) continue;
        const st_Vec3 about = rotate_back(sti_pose(q, body).q, vec3_load(push->wrench + 3));
        sti_wrench_add(&world->body[body], vec3_load(push->wrench), about, k);
    }
}
