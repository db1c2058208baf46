/* model/joint.c -- joints, each a few rows of four kinds:
 *
 *     meet    e' (p_b - p_a)                 e a world axis: the anchors coincide
 *     slide   t_a' (p_b - p_a)               t_a fixed in a: no offset across the axis
 *     align   s_a' t_b                       axes of a and b stay orthogonal
 *     span    |p_b - p_a| - L                constant distance
 *
 * with exact rates in every configuration:
 *
 *     slide   t' (v_pb - v_a - w_a x (p_b - x_a))        (the material velocity of a at p_b)
 *     align   (w_a - w_b)' (s x t)
 */
#include "model/world.h"

/* What a joint is made of: the frames' axes are 0, 1, 2 = x, y, z (the joint's axis). */
typedef struct Recipe {
    bool meet;       /* three rows                                                                 */
    bool slide;      /* two rows, along x and y of frame a                                         */
    int n_align;     /* rows                                                                       */
    int align[3][2]; /* axis of frame a, axis of frame b                                           */
    bool span;
} Recipe;

static const Recipe recipes[ST_N_JOINT_TYPES] = {
    [ST_JOINT_FIXED] = {.meet = true, .n_align = 3, .align = {{0, 1}, {1, 2}, {2, 0}}},
    [ST_JOINT_BALL] = {.meet = true},
    [ST_JOINT_REVOLUTE] = {.meet = true, .n_align = 2, .align = {{0, 2}, {1, 2}}},
    [ST_JOINT_PRISMATIC] = {.slide = true, .n_align = 3, .align = {{0, 1}, {1, 2}, {2, 0}}},
    [ST_JOINT_DISTANCE] = {.span = true},
};

void sti_joint_compile(const st_Scene *scene, int index, sti_Joint *out)
{
    const st_JointDef *def = &scene->joint[index];
    st_Pose a = scene->body[def->a.index1].pose, b = scene->body[def->b.index1].pose;
    st_Vec3 point_b = def->type == ST_JOINT_DISTANCE ? def->point_b : def->point;
    st_Vec3 z = def->axis;
    if (def->type != ST_JOINT_REVOLUTE && def->type != ST_JOINT_PRISMATIC) z = vec3(0, 0, 1); /* any frame serves */
    st_Vec3 x = orthogonal(z), frame[3] = {x, cross(z, x), z};
    *out = (sti_Joint){.type = def->type, .a = def->a.index1, .b = def->b.index1};
    out->anchor_a = rotate_back(a.q, sub(def->point, a.p));
    out->anchor_b = rotate_back(b.q, sub(point_b, b.p));
    out->length = def->length > 0 ? def->length : norm(sub(def->point_b, def->point));
    for (int k = 0; k < 3; k++) {
        out->frame_a[k] = rotate_back(a.q, frame[k]);
        out->frame_b[k] = rotate_back(b.q, frame[k]);
    }
}

/* A joint at a configuration: anchors and levers in the world, and where its rows go. */
typedef struct Place {
    const sti_World *world;
    const double *q;
    const sti_Joint *joint;
    st_Pose a, b;
    st_Vec3 p_a, p_b; /* anchors                                                                   */
    sti_Rows rows;
    st_Sink *sink;
    st_Error *err;
} Place;

static st_Status push(Place *p, double value, sti_Half on_a, sti_Half on_b)
{
    sti_rows_set(p->world, p->q, p->joint->a, p->joint->b, 0, on_a, on_b, &p->rows);
    st_JointRow row = {.value = value, .count = p->rows.count, .index = p->rows.index, .gradient = p->rows.gradient};
    return st_push_joint(p->sink, &row, p->err);
}

/* n' (v_pb - velocity of a's material at `at`): the row of a displacement along n. */
static st_Status push_displacement(Place *p, double value, st_Vec3 n, st_Vec3 at)
{
    sti_Half on_a = {scale(-1, n), scale(-1, cross(sub(at, p->a.p), n))};
    sti_Half on_b = {n, cross(sub(p->p_b, p->b.p), n)};
    return push(p, value, on_a, on_b);
}

static st_Status push_align(Place *p, st_Vec3 s, st_Vec3 t)
{
    st_Vec3 c = cross(s, t);
    return push(p, dot(s, t), (sti_Half){.angular = c}, (sti_Half){.angular = scale(-1, c)});
}

static st_Status push_span(Place *p, int index)
{
    st_Vec3 d = sub(p->p_b, p->p_a);
    double distance = norm(d);
    if (!(distance > 0))
        return sti_fail(p->err, ST_ERR_NUMERIC, "joint \"%s\": its two points met, a distance of 0 has no direction",
                        p->world->scene->joint[index].name);
    return push_displacement(p, distance - p->joint->length, scale(1 / distance, d), p->p_a);
}

static st_Status push_joint(Place *p, int index)
{
    const Recipe *recipe = &recipes[p->joint->type];
    st_Vec3 d = sub(p->p_b, p->p_a);
    if (recipe->meet)
        for (int k = 0; k < 3; k++)
            STI_TRY(push_displacement(p, dot(vec3_axis(k), d), vec3_axis(k), p->p_a));
    if (recipe->slide)
        for (int k = 0; k < 2; k++) {
            st_Vec3 t = rotate(p->a.q, p->joint->frame_a[k]);
            STI_TRY(push_displacement(p, dot(t, d), t, p->p_b));
        }
    for (int k = 0; k < recipe->n_align; k++) {
        st_Vec3 s = rotate(p->a.q, p->joint->frame_a[recipe->align[k][0]]);
        st_Vec3 t = rotate(p->b.q, p->joint->frame_b[recipe->align[k][1]]);
        STI_TRY(push_align(p, s, t));
    }
    return recipe->span ? push_span(p, index) : ST_OK;
}

st_Status sti_joints_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err)
{
    for (int index = 0; index < world->n_joints; index++) {
        const sti_Joint *joint = &world->joint[index];
        Place p = {.world = world, .q = q, .joint = joint, .sink = sink, .err = err};
        p.a = sti_pose(q, joint->a);
        p.b = sti_pose(q, joint->b);
        p.p_a = pose_point(p.a, joint->anchor_a);
        p.p_b = pose_point(p.b, joint->anchor_b);
        sti_rows_begin(world, joint->a, joint->b, &p.rows);
        STI_TRY(push_joint(&p, index));
    }
    return ST_OK;
}
