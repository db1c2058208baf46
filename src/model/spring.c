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

/* A spring at a configuration, and where its rows go. */
typedef struct Place {
    const sti_World *world;
    const double *q;
    const sti_Spring *spring;
    st_Pose a, b;
    st_Vec3 p_a, p_b;
    st_Sink *sink;
    st_Error *err;
} Place;

/* Component k of the spring; one without stiffness and damping is no row. */
static st_Status push(Place *p, int k, double rest, sti_Measure measure)
{
    const sti_Spring *s = p->spring;
    sti_Rows rows;
    if (s->stiffness[k] == 0 && s->damping[k] == 0) return ST_OK;
    sti_rows_measure(p->world, p->q, s->a, s->b, &measure, &rows);
    st_SoftRow row = {.value = measure.value - rest,
                      .stiffness = s->stiffness[k],
                      .damping = s->damping[k],
                      .count = rows.count,
                      .index = rows.index,
                      .gradient = rows.gradient};
    return st_push_soft(p->sink, &row, p->err);
}

static bool translates(const sti_Body *body, int axis)
{
    for (int k = 0; k < body->n_dofs; k++)
        if (body->dof[k] == axis) return true;
    return false;
}

/* The ends of a spring with a rest length met: it pushes them apart, and no direction is better than another.
 * The first world axis along which they can move serves.                                          */
static st_Vec3 any_direction(const Place *p)
{
    const sti_Body *a = &p->world->body[p->spring->a], *b = &p->world->body[p->spring->b];
    int axis = 0;
    while (axis < 2 && !translates(a, axis) && !translates(b, axis))
        axis++;
    return vec3_axis(axis);
}

/* With rest length 0 the force -k (p_b - p_a) is smooth through coincidence as three rows along the
 * world axes; along the line it would have no direction there.                                     */
static st_Status push_linear(Place *p)
{
    st_Vec3 d = sub(p->p_b, p->p_a);
    if (p->spring->rest == 0) {
        for (int k = 0; k < 3; k++)
            STI_TRY(push(p, 0, 0, sti_measure_along(p->a, p->b, p->p_b, vec3_axis(k), p->p_a, dot(vec3_axis(k), d))));
        return ST_OK;
    }
    double length = norm(d);
    st_Vec3 n = length > 0 ? scale(1 / length, d) : any_direction(p);
    return push(p, 0, p->spring->rest, sti_measure_along(p->a, p->b, p->p_b, n, p->p_a, length));
}

static st_Status push_bushing(Place *p)
{
    const sti_Spring *s = p->spring;
    st_Vec3 d = sub(p->p_b, p->p_a);
    for (int k = 0; k < 3; k++) {
        st_Vec3 n = rotate(p->a.q, s->frame_a[k]);
        STI_TRY(push(p, k, 0, sti_measure_along(p->a, p->b, p->p_b, n, p->p_b, dot(n, d))));
    }
    for (int k = 0; k < 3; k++)
        STI_TRY(push(p, 3 + k, 0, sti_measure_rotation(p->a.q, p->b.q, s->relative, s->frame_a[k])));
    return ST_OK;
}

static st_Status push_spring(Place *p)
{
    switch (p->spring->type) {
    case ST_SPRING_LINEAR:
        return push_linear(p);
    case ST_SPRING_ANGULAR:
        return push(p, 0, p->spring->rest, sti_measure_angle(p->world, p->spring->angle, p->q));
    case ST_SPRING_BUSHING:
        return push_bushing(p);
    }
    return ST_OK;
}

st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err)
{
    for (int index = 0; index < world->n_springs; index++) {
        const sti_Spring *spring = &world->spring[index];
        Place p = {.world = world, .q = q, .spring = spring, .sink = sink, .err = err};
        p.a = sti_pose(q, spring->a);
        p.b = sti_pose(q, spring->b);
        p.p_a = pose_point(p.a, spring->anchor_a);
        p.p_b = pose_point(p.b, spring->anchor_b);
        STI_TRY(push_spring(&p));
    }
    return ST_OK;
}
