/* model/spring.c -- springs and dampers between two points, about an axis or in all six directions, as
 * soft rows: elongation phi and its gradient a; the force is -(k phi + d a'v) a.
 */
#include "model/world.h"

void sti_spring_compile(sti_World *world, int index)
{
    const st_SpringDef *def = &world->scene->spring[index];
    sti_Spring *out = &world->spring[index];
    st_Pose a = world->scene->body[def->a.index1].pose, b = world->scene->body[def->b.index1].pose;
    st_Vec3 point_b = def->type == ST_SPRING_BUSHING ? def->point_a : def->point_b;
    *out = (sti_Spring){.type = def->type, .a = def->a.index1, .b = def->b.index1, .angle = -1};
    out->anchor_a = rotate_back(a.q, sub(def->point_a, a.p));
    out->anchor_b = rotate_back(b.q, sub(point_b, b.p));
    out->relative = quat_product(quat_conjugate(a.q), b.q);
    out->rest = isnan(def->rest) ? 0.0 : def->rest; /* angular; a linear spring's is settled in the scene */
    out->stiffness[0] = def->stiffness;
    out->damping[0] = def->damping;
    if (def->type == ST_SPRING_ANGULAR) out->angle = sti_angle_add(world, out->a, out->b, def->axis, def->axis);
    if (def->type != ST_SPRING_BUSHING) return;
    for (int k = 0; k < 3; k++)
        out->frame_a[k] = rotate_back(a.q, rotate(def->frame, vec3_axis(k)));
    vec3_store(out->stiffness, def->stiffness_along);
    vec3_store(out->stiffness + 3, def->stiffness_about);
    vec3_store(out->damping, def->damping_along);
    vec3_store(out->damping + 3, def->damping_about);
}

static bool translates(const sti_Body *body, int axis)
{
    for (int k = 0; k < body->n_dofs; k++)
        if (body->dof[k] == axis) return true;
    return false;
}

/* The ends of a spring with a rest length met: it pushes them apart, and no direction is better than another.
 * The first world axis along which they can move serves.                                          */
static st_Vec3 any_direction(const sti_World *world, const sti_Spring *spring)
{
    const sti_Body *a = &world->body[spring->a], *b = &world->body[spring->b];
    int axis = 0;
    while (axis < 2 && !translates(a, axis) && !translates(b, axis))
        axis++;
    return vec3_axis(axis);
}

/* With rest length 0 the force -k (p_b - p_a) is smooth through coincidence as three rows along the world axes; along
 * the line it would have no direction there. A component of a bushing without stiffness and damping is no row. */
int sti_spring_measures(const sti_World *world, int index, const double *q, sti_Measure out[6], int component[6])
{
    const sti_Spring *s = &world->spring[index];
    const st_Pose a = sti_pose(q, s->a), b = sti_pose(q, s->b);
    const st_Vec3 p_a = pose_point(a, s->anchor_a), p_b = pose_point(b, s->anchor_b), d = sub(p_b, p_a);
    int n = 0;
    for (int k = 0; component != NULL && k < 6; k++)
        component[k] = 0;
    if (s->type != ST_SPRING_BUSHING && s->stiffness[0] == 0 && s->damping[0] == 0) return 0;
    if (s->type == ST_SPRING_ANGULAR) {
        out[0] = sti_measure_angle(world, s->angle, q);
        out[0].value -= s->rest;
        return 1;
    }
    if (s->type == ST_SPRING_LINEAR && s->rest == 0) {
        for (int k = 0; k < 3; k++)
            out[k] = sti_measure_along(a, b, p_b, vec3_axis(k), p_a, dot(vec3_axis(k), d));
        return 3;
    }
    if (s->type == ST_SPRING_LINEAR) {
        const double length = norm(d);
        const st_Vec3 n_ab = length > 0 ? scale(1 / length, d) : any_direction(world, s);
        out[0] = sti_measure_along(a, b, p_b, n_ab, p_a, length - s->rest);
        return 1;
    }
    for (int k = 0; k < 6; k++) {
        if (s->stiffness[k] == 0 && s->damping[k] == 0) continue;
        const st_Vec3 axis = k < 3 ? rotate(a.q, s->frame_a[k]) : s->frame_a[k - 3];
        if (component != NULL) component[n] = k;
        out[n++] = k < 3 ? sti_measure_along(a, b, p_b, axis, p_b, dot(axis, d))
                         : sti_measure_rotation(a.q, b.q, s->relative, axis);
    }
    return n;
}

st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err)
{
    for (int index = 0; index < world->n_springs; index++) {
        const sti_Spring *spring = &world->spring[index];
        sti_Measure measure[6];
        int component[6];
        const int n = sti_spring_measures(world, index, q, measure, component);
        for (int k = 0; k < n; k++) {
            sti_Rows rows;
            sti_rows_measure(world, q, spring->a, spring->b, &measure[k], &rows);
            st_SoftRow row = {.value = measure[k].value,
                              .stiffness = spring->stiffness[component[k]],
                              .damping = spring->damping[component[k]],
                              .count = rows.count,
                              .index = rows.index,
                              .gradient = rows.gradient};
            STI_TRY(st_push_soft(sink, &row, err));
        }
    }
    return ST_OK;
}
