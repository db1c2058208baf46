/* model/spring.c -- springs and dampers between two points or about an axis, as soft rows:
 * elongation phi and its gradient a; the force is -(k phi + d a'v) a.
 */
#include "model/world.h"

void sti_spring_compile(const st_Scene *scene, int index, sti_Spring *out)
{
    const st_SpringDef *def = &scene->spring[index];
    st_Pose a = scene->body[def->a.index1].pose, b = scene->body[def->b.index1].pose;
    *out = (sti_Spring){.type = def->type, .a = def->a.index1, .b = def->b.index1};
    out->anchor_a = rotate_back(a.q, sub(def->point_a, a.p));
    out->anchor_b = rotate_back(b.q, sub(def->point_b, b.p));
    out->axis_a = rotate_back(a.q, def->axis);
    out->relative = quat_product(quat_conjugate(a.q), b.q);
    out->stiffness = def->stiffness;
    out->damping = def->damping;
    out->rest = isnan(def->rest) ? 0.0 : def->rest; /* angular; a linear spring's is settled in the scene */
}

/* The angle b has turned against a about the axis since the start: the twist of the relative rotation,
 * unwrapped to the turn nearest the angle in q.                                                   */
double sti_spring_angle(const sti_World *world, const sti_Spring *spring, const double *q)
{
    (void)world;
    st_Quat turned = quat_product(quat_product(quat_conjugate(sti_pose(q, spring->a).q), sti_pose(q, spring->b).q),
                                  quat_conjugate(spring->relative));
    double angle = quat_twist(turned, spring->axis_a), near = q[spring->q_angle];
    const double turn = 6.283185307179586476925;
    return angle + turn * round((near - angle) / turn);
}

/* A spring at a configuration, and where its rows go. */
typedef struct Place {
    const sti_World *world;
    const double *q;
    const sti_Spring *spring;
    sti_Rows rows;
    st_Sink *sink;
    st_Error *err;
} Place;

static st_Status push(Place *p, double phi, sti_Half on_a, sti_Half on_b)
{
    const sti_Spring *s = p->spring;
    sti_rows_set(p->world, p->q, s->a, s->b, 0, on_a, on_b, &p->rows);
    st_SoftRow row = {.value = phi,
                      .stiffness = s->stiffness,
                      .damping = s->damping,
                      .count = p->rows.count,
                      .index = p->rows.index,
                      .gradient = p->rows.gradient};
    return st_push_soft(p->sink, &row, p->err);
}

static st_Status push_along(Place *p, double phi, st_Vec3 n, st_Vec3 lever_a, st_Vec3 lever_b)
{
    return push(p, phi, (sti_Half){scale(-1, n), scale(-1, cross(lever_a, n))}, (sti_Half){n, cross(lever_b, n)});
}

static bool translates(const sti_Body *body, int axis)
{
    for (int k = 0; k < body->n_dofs; k++)
        if (body->dof[k] == axis) return true;
    return false;
}

/* The ends of a spring with a rest length met: it pushes them apart, and no direction is better than another.
 * The first world axis along which they can move serves.                                          */
static st_Status push_met(Place *p, st_Vec3 lever_a, st_Vec3 lever_b)
{
    const sti_Body *a = &p->world->body[p->spring->a], *b = &p->world->body[p->spring->b];
    int axis = 0;
    while (axis < 2 && !translates(a, axis) && !translates(b, axis))
        axis++;
    return push_along(p, -p->spring->rest, vec3_axis(axis), lever_a, lever_b);
}

/* With rest length 0 the force -k (p_b - p_a) is smooth through coincidence as three rows along the
 * world axes; along the line it would have no direction there.                                     */
static st_Status push_linear(Place *p)
{
    st_Pose a = sti_pose(p->q, p->spring->a), b = sti_pose(p->q, p->spring->b);
    st_Vec3 lever_a = rotate(a.q, p->spring->anchor_a), lever_b = rotate(b.q, p->spring->anchor_b);
    st_Vec3 d = sub(add(b.p, lever_b), add(a.p, lever_a));
    if (p->spring->rest == 0) {
        for (int k = 0; k < 3; k++)
            STI_TRY(push_along(p, dot(vec3_axis(k), d), vec3_axis(k), lever_a, lever_b));
        return ST_OK;
    }
    double length = norm(d);
    if (!(length > 0)) return push_met(p, lever_a, lever_b);
    return push_along(p, length - p->spring->rest, scale(1 / length, d), lever_a, lever_b);
}

static st_Status push_angular(Place *p)
{
    st_Vec3 axis = rotate(sti_pose(p->q, p->spring->a).q, p->spring->axis_a);
    double phi = sti_spring_angle(p->world, p->spring, p->q) - p->spring->rest;
    return push(p, phi, (sti_Half){.angular = scale(-1, axis)}, (sti_Half){.angular = axis});
}

st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err)
{
    for (int index = 0; index < world->n_springs; index++) {
        const sti_Spring *spring = &world->spring[index];
        Place p = {.world = world, .q = q, .spring = spring, .sink = sink, .err = err};
        sti_rows_begin(world, spring->a, spring->b, &p.rows);
        STI_TRY(spring->type == ST_SPRING_LINEAR ? push_linear(&p) : push_angular(&p));
    }
    return ST_OK;
}
