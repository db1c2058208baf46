/* model/joint.c -- joints. Each is a list of measures that must vanish, of five kinds:
 *
 *     meet    e' (p_b - p_a)                 e a world axis: the anchors coincide
 *     slide   t_a' (p_b - p_a)               t_a fixed in a: no offset along t_a
 *     align   s_a' t_b                       axes of a and b stay orthogonal
 *     span    |p_b - p_a| - L                constant distance
 *     couple  x - lead y                     two coordinates in proportion: screws and gears
 *
 * with exact rates in every configuration (measure.c); that of align is (w_a - w_b)' (s x t).
 */
#include "model/joint.h"

#include "math/wide3.h"
#include "model/row_buffer.h"
#include "model/time_factor.h"
#include "model/world.h"

/* The measures of a joint type. Axes 0, 1, 2 of the frames are x, y, z (the joint's axis). */
typedef struct Recipe {
    bool meet;       /* three rows                                                                 */
    int n_slide;     /* rows                                                                       */
    int slide[2];    /* axis of frame a                                                            */
    int n_align;     /* rows                                                                       */
    int align[3][2]; /* axis of frame a, axis of frame b                                           */
    bool span, screw, gear;
    bool axis;                /* its def must have an axis */
    unsigned coordinates;     /* free coordinates */
    st_Coordinate coordinate; /* the default coordinate */
} Recipe;

#define ANGLE        (1u << ST_COORDINATE_ANGLE)
#define DISPLACEMENT (1u << ST_COORDINATE_DISPLACEMENT)
#define DISTANCE     (1u << ST_COORDINATE_DISTANCE)
#define ANGLE_B      (1u << ST_COORDINATE_ANGLE_B)
#define SWING        (1u << ST_COORDINATE_SWING)
#define TWIST        (1u << ST_COORDINATE_TWIST)
#define LENGTH       (1u << ST_COORDINATE_LENGTH)
#define NO_TILT      .n_align = 2, .align = {{0, 2}, {1, 2}}         /* the z axes stay parallel     */
#define NO_ROTATION  .n_align = 3, .align = {{0, 1}, {1, 2}, {2, 0}} /* all axes stay parallel */
#define ON_AXIS      .n_slide = 2, .slide = {0, 1}

static const Recipe recipes[ST_N_JOINT_TYPES] = {
    [ST_JOINT_FIXED] = {.meet = true, NO_ROTATION},
    [ST_JOINT_BALL] = {.meet = true, .axis = true, .coordinates = SWING | TWIST, .coordinate = ST_COORDINATE_SWING},
    [ST_JOINT_REVOLUTE] =
        {.meet = true, NO_TILT, .axis = true, .coordinates = ANGLE, .coordinate = ST_COORDINATE_ANGLE},
    [ST_JOINT_PRISMATIC] = {ON_AXIS, NO_ROTATION, .axis = true, .coordinates = DISPLACEMENT,
                            .coordinate = ST_COORDINATE_DISPLACEMENT},
    [ST_JOINT_DISTANCE] = {.span = true},
    [ST_JOINT_CYLINDRICAL] = {ON_AXIS, NO_TILT, .axis = true, .coordinates = DISPLACEMENT | ANGLE,
                              .coordinate = ST_COORDINATE_ANGLE},
    [ST_JOINT_UNIVERSAL] = {.meet = true,
                            .n_align = 1,
                            .align = {{2, 2}},
                            .axis = true,
                            .coordinates = ANGLE | ANGLE_B,
                            .coordinate = ST_COORDINATE_ANGLE},
    [ST_JOINT_PLANAR] =
        {.n_slide = 1, .slide = {2}, NO_TILT, .axis = true, .coordinates = ANGLE, .coordinate = ST_COORDINATE_ANGLE},
    [ST_JOINT_POINT_ON_LINE] = {ON_AXIS, .axis = true, .coordinates = DISPLACEMENT,
                                .coordinate = ST_COORDINATE_DISPLACEMENT},
    [ST_JOINT_SCREW] = {ON_AXIS, NO_TILT, .screw = true, .axis = true, .coordinates = DISPLACEMENT | ANGLE,
                        .coordinate = ST_COORDINATE_ANGLE},
    [ST_JOINT_GEAR] = {.gear = true},
    [ST_JOINT_FREE] = {.axis = true,
                       .coordinates = DISTANCE | DISPLACEMENT | ANGLE,
                       .coordinate = ST_COORDINATE_DISTANCE},
    [ST_JOINT_TENDON] = {.coordinates = LENGTH, .coordinate = ST_COORDINATE_LENGTH},
};

unsigned sti_joint_coordinates(st_JointType type)
{
    return recipes[type].coordinates;
}

st_Coordinate sti_joint_coordinate(st_JointType type)
{
    return recipes[type].coordinate;
}

st_Coordinate sti_joint_other(st_JointType type, st_Coordinate coordinate)
{
    unsigned others = recipes[type].coordinates & ~(1u << coordinate);
    int other = 0;
    while (other < ST_N_COORDINATES && others != 1u << other)
        other++;
    return other < ST_N_COORDINATES ? (st_Coordinate)other : ST_COORDINATE_DEFAULT;
}

bool sti_joint_has_axis(st_JointType type)
{
    return recipes[type].axis;
}

/* ---- compiling -------------------------------------------------------------------------------- */

static void set_frame(st_Quat orientation, st_Vec3 z, st_Vec3 frame[3])
{
    st_Vec3 x = orthogonal(z), in_world[3] = {x, cross(z, x), z};
    for (int k = 0; k < 3; k++)
        frame[k] = rotate_back(orientation, in_world[k]);
}

bool sti_motor_holds(st_MotorType type, double max_force, double damping)
{
    const bool limited = isfinite(max_force) || damping > 0;
    return type == ST_MOTOR_MOTION || (type == ST_MOTOR_SPEED && !limited);
}

/* Coordinates that count whole turns are part of q. For a universal joint, b's axis turns about a's, and seen from
 * b, a's axis turns back about b's. */
static void compile_angle(sti_World *world, const st_JointDef *def, sti_Joint *out, st_Coordinate coordinate)
{
    bool cross_joint = def->type == ST_JOINT_UNIVERSAL;
    if (out->angle[coordinate] >= 0) return;
    if (coordinate == ST_COORDINATE_ANGLE)
        out->angle[coordinate] = cross_joint ? sti_angle_add_pointer(world, out->a, out->b, def->axis, def->axis_b)
                                             : sti_angle_add(world, out->a, out->b, def->axis, def->axis);
    if (coordinate == ST_COORDINATE_ANGLE_B)
        out->angle[coordinate] = sti_angle_add_pointer(world, out->b, out->a, def->axis_b, def->axis);
    if (coordinate == ST_COORDINATE_TWIST)
        out->angle[coordinate] = sti_angle_add(world, out->a, out->b, def->axis, def->axis_b);
}

void sti_joint_compile(sti_World *world, int index)
{
    const st_JointDef *def = &world->scene->joint[index];
    const Recipe *recipe = &recipes[def->type];
    sti_Joint *out = &world->joint[index];
    st_Pose a = world->scene->body[def->a.index1].pose, b = world->scene->body[def->b.index1].pose;
    bool two_points = def->type == ST_JOINT_DISTANCE || def->type == ST_JOINT_FREE;
    st_Vec3 point_b = two_points ? def->point_b : def->point, z = recipe->axis ? def->axis : vec3(0, 0, 1);
    const bool holds = sti_motor_holds(def->motor.type, def->motor.max_force, def->motor.damping);
    *out = (sti_Joint){.type = def->type,
                       .a = def->a.index1,
                       .b = def->b.index1,
                       .lead = def->pitch / (2 * STI_PI),
                       .coordinate = {def->coordinate},
                       .geared = {def->joint_a.index1 - 1, def->joint_b.index1 - 1},
                       .ratio = def->ratio,
                       .curve = def->curve,
                       .held = holds,
                       .at_speed = holds && def->motor.type == ST_MOTOR_SPEED,
                       .n_rows = ((recipe->meet ? 3 : 0) + recipe->n_slide + recipe->n_align + (recipe->span ? 1 : 0) +
                                  (recipe->screw ? 1 : 0) + (recipe->gear ? 1 : 0))};
    world->values.joint[index] = (sti_JointValues){.lower = {def->lower, def->other_lower},
                                                   .upper = {def->upper, def->other_upper},
                                                   .restitution = def->restitution,
                                                   .friction = def->friction,
                                                   .stiffness = def->stiffness,
                                                   .damping = def->damping,
                                                   .rest = def->rest,
                                                   .motor_stiffness = def->motor.stiffness,
                                                   .motor_damping = def->motor.damping,
                                                   .max_force = def->motor.max_force,
                                                   .target = def->motor.target,
                                                   .offset = def->motor.offset};
    if (index > 0) out->first_row = world->joint[index - 1].first_row + world->joint[index - 1].n_rows;
    if (out->held) out->n_rows++;
    out->anchor_a = rotate_back(a.q, sub(def->point, a.p));
    out->anchor_b = rotate_back(b.q, sub(point_b, b.p));
    out->length = def->length > 0 ? def->length : norm(sub(def->point_b, def->point));
    set_frame(a.q, z, out->frame_a);
    bool two_axes = def->type == ST_JOINT_UNIVERSAL || def->type == ST_JOINT_BALL;
    set_frame(b.q, two_axes ? def->axis_b : z, out->frame_b);
    out->coordinate[1] = sti_joint_other(def->type, def->coordinate);
    for (int k = 0; k < ST_N_COORDINATES; k++)
        out->angle[k] = -1;
    if (recipe->screw) compile_angle(world, def, out, ST_COORDINATE_ANGLE);
    for (int which = 0; which < 2; which++)
        compile_angle(world, def, out, out->coordinate[which]);
}

/* ---- measures --------------------------------------------------------------------------------- */

/* A measure in the form of the rows of a step problem, with angular velocities in body axes:
 *     d value/dt = rate + along . (v_b - v_a) + on_a . w_a + on_b . w_b */
typedef struct Row {
    double value, rate;
    st_Vec3 along, on_a, on_b;
} Row;

/* A joint at a configuration: bodies and anchors. */
typedef struct Place {
    const sti_World *world;
    const sti_Joint *joint;
    int index;
    const double *q;
    st_Pose a, b;
    st_Mat3 axes_a, axes_b; /* orientations, body to world                                         */
    st_Vec3 p_a, p_b;       /* anchors                                                             */
} Place;

/* last: a joint whose body b is body a of this one; NULL: none. */
STI_INLINE void joint_place_after(const sti_World *world, int index, const double *q, const Place *last, Place *p)
{
    const sti_Joint *joint = &world->joint[index];
    p->world = world;
    p->joint = joint;
    p->index = index;
    p->q = q;
    p->a = sti_pose(q, joint->a);
    p->b = sti_pose(q, joint->b);
    p->axes_a = last != NULL ? last->axes_b : quat_matrix(p->a.q);
    p->axes_b = quat_matrix(p->b.q);
    p->p_a = add(p->a.p, mat3_mul(&p->axes_a, joint->anchor_a));
    p->p_b = add(p->b.p, mat3_mul(&p->axes_b, joint->anchor_b));
}

static void joint_place(const sti_World *world, int index, const double *q, Place *p)
{
    joint_place_after(world, index, q, NULL, p);
}

static sti_Measure measure_of(const Place *p, const Row *row)
{
    return (sti_Measure){.value = row->value,
                         .rate = row->rate,
                         .on_a = {scale(-1, row->along), mat3_mul(&p->axes_a, row->on_a)},
                         .on_b = {row->along, mat3_mul(&p->axes_b, row->on_b)}};
}

static void joint_row_of(const Place *p, const sti_Measure *measure, Row *out)
{
    *out = (Row){measure->value, measure->rate, measure->on_b.linear, mat3_mul_back(&p->axes_a, measure->on_a.angular),
                 mat3_mul_back(&p->axes_b, measure->on_b.angular)};
}

/* Where rows go: to a list, if `listed`; else as rows on two free bodies to a sink, without being stored in between:
 * numbers that are read in other groups than they were written make the processor wait. */
typedef struct RowsTo {
    bool listed;
    Row *row;
    sti_JointEntry *entry;
    double *gradient;
    double stiffness;
} RowsTo;

STI_INLINE void put_row(const RowsTo *to, int n, double value, sti_Wide along, sti_Wide on_a, sti_Wide on_b)
{
    if (to->listed) {
        Row *row = &to->row[n];
        row->value = value;
        row->rate = 0;
        store3(along, &row->along.x);
        store3(on_a, &row->on_a.x);
        store3(on_b, &row->on_b.x);
        return;
    }
    double *x = to->gradient + 12 * (ptrdiff_t)n; /* each four reaches into the next three, which follow */
    to->entry[n] = (sti_JointEntry){.value = value, .stiffness = to->stiffness};
    store4(-along, x);
    store4(on_a, x + 3);
    store4(along, x + 6);
    store3(on_b, x + 9);
}

/* Along world axis k, which is row k of both orientations in body axes. */
STI_INLINE void joint_meet(const Place *p, int k, double value, const RowsTo *to, int n)
{
    put_row(to, n, value, (sti_Wide){k == 0, k == 1, k == 2, 0},
            cross4(load3(p->axes_a.m + 3 * k), load3(&p->joint->anchor_a.x)),
            cross4(load3(&p->joint->anchor_b.x), load3(p->axes_b.m + 3 * k)));
}

STI_INLINE Row joint_slide(const Place *p, int axis)
{
    st_Vec3 own = p->joint->frame_a[axis], t = mat3_mul(&p->axes_a, own);
    return (Row){.value = dot(t, sub(p->p_b, p->p_a)),
                 .along = t,
                 .on_a = cross(own, mat3_mul_back(&p->axes_a, sub(p->p_b, p->a.p))),
                 .on_b = cross(p->joint->anchor_b, mat3_mul_back(&p->axes_b, t))};
}

/* A vector of the world in body axes. */
STI_INLINE sti_Wide in_body(const st_Mat3 *axes, st_Vec3 x)
{
    return x.x * load3(axes->m) + x.y * load3(axes->m + 3) + x.z * load3(axes->m + 6);
}

/* t_w: the axis of b in the world, t_in_a: in a. */
STI_INLINE void align(const Place *p, const int axes[2], st_Vec3 t_w, sti_Wide t_in_a, const RowsTo *to, int n)
{
    const st_Vec3 *s = &p->joint->frame_a[axes[0]], *t = &p->joint->frame_b[axes[1]], s_w = mat3_mul(&p->axes_a, *s);
    put_row(to, n, dot(s_w, t_w), (sti_Wide){0}, cross4(load3(&s->x), t_in_a),
            cross4(load3(&t->x), in_body(&p->axes_b, s_w)));
}

static st_Status joint_span(const Place *p, sti_Measure *out, st_Error *err)
{
    st_Vec3 d = sub(p->p_b, p->p_a);
    double distance = norm(d);
    if (!(distance > 0))
        return sti_fail(err, ST_ERR_NUMERIC,
                        "joint \"%s\": its two points coincide, and a distance of 0 has no direction",
                        p->world->scene->joint[p->index].name);
    *out = sti_measure_along(p->a, p->b, p->p_b, scale(1 / distance, d), p->p_a, distance);
    return ST_OK;
}

static sti_Half joint_combine(sti_Half x, double factor, sti_Half y)
{
    return (sti_Half){add(x.linear, scale(factor, y.linear)), add(x.angular, scale(factor, y.angular))};
}

static sti_Measure joint_displacement(const Place *p)
{
    const Row row = joint_slide(p, 2);
    return measure_of(p, &row);
}

/* The angle between the axes of a and b, 0 to pi. If they are parallel, any direction is used. */
static sti_Measure swing(const Place *p)
{
    st_Vec3 s = rotate(p->a.q, p->joint->frame_a[2]), t = rotate(p->b.q, p->joint->frame_b[2]), c = cross(s, t);
    double sine = norm(c);
    st_Vec3 n = sine > 1e-12 ? scale(1 / sine, c) : orthogonal(s);
    return (sti_Measure){.value = atan2(sine, dot(s, t)), .on_a = {.angular = scale(-1, n)}, .on_b = {.angular = n}};
}

static st_Status gauge(const Place *p, st_Coordinate coordinate, sti_Measure *out, st_Error *err)
{
    switch (coordinate) {
    case ST_COORDINATE_DEFAULT:
    case ST_COORDINATE_LENGTH: /* depends on many bodies: tendon.c */
        break;
    case ST_COORDINATE_ANGLE:
    case ST_COORDINATE_TWIST:
        *out = sti_measure_angle(p->world, p->joint->angle[coordinate], p->q);
        return ST_OK;
    case ST_COORDINATE_ANGLE_B:
        *out = sti_measure_angle(p->world, p->joint->angle[coordinate], p->q);
        *out = (sti_Measure){.value = -out->value,
                             .on_a = {.angular = scale(-1, out->on_b.angular)},
                             .on_b = {.angular = scale(-1, out->on_a.angular)}};
        return ST_OK;
    case ST_COORDINATE_SWING:
        *out = swing(p);
        return ST_OK;
    case ST_COORDINATE_DISPLACEMENT:
        *out = joint_displacement(p);
        return ST_OK;
    case ST_COORDINATE_DISTANCE:
        return joint_span(p, out, err);
    }
    *out = (sti_Measure){.value = 0};
    return ST_OK;
}

st_Status sti_joint_gauge(const sti_World *world, int index, int which, const double *q, sti_Measure *out,
                          st_Error *err)
{
    const sti_Joint *joint = &world->joint[index];
    const st_Coordinate coordinate = joint->coordinate[which];
    if (coordinate == ST_COORDINATE_ANGLE) { /* it has its own axes: no place is needed */
        *out = sti_measure_angle(world, joint->angle[coordinate], q);
        return ST_OK;
    }
    Place p = {.world = world, .joint = joint, .index = index, .q = q};
    if (joint->angle[joint->coordinate[which]] < 0) joint_place(world, index, q, &p); /* an angle has its own axes */
    return gauge(&p, joint->coordinate[which], out, err);
}

st_Vec3 sti_joint_point(const sti_World *world, int index, const double *q)
{
    return pose_point(sti_pose(q, world->joint[index].b), world->joint[index].anchor_b);
}

/* x = wanted(t), or only its speed. */
static st_Status held(const Place *p, double t, sti_Measure *out, st_Error *err)
{
    const st_MotorDef *motor = &p->world->scene->joint[p->index].motor;
    double rate, value = sti_motor_wanted(p->world, p->index, t, &rate);
    STI_TRY(gauge(p, p->joint->coordinate[0], out, err));
    bool motion = motor->type == ST_MOTOR_MOTION;
    out->value = motion ? out->value - value : 0.0;
    out->rate = motion ? -rate : -value;
    return ST_OK;
}

/* Less usual rows are given as measures in world axes. */
static st_Status other_rows(const Place *p, double t, Row *out, st_Error *err)
{
    const Recipe *recipe = &recipes[p->joint->type];
    sti_Measure x;
    if (recipe->screw) {
        const int angle = p->joint->angle[ST_COORDINATE_ANGLE];
        const sti_Measure along = joint_displacement(p), turned = sti_measure_angle(p->world, angle, p->q);
        const double lead = p->joint->lead;
        x = (sti_Measure){.value = along.value - lead * turned.value,
                          .on_a = joint_combine(along.on_a, -lead, turned.on_a),
                          .on_b = joint_combine(along.on_b, -lead, turned.on_b)};
        joint_row_of(p, &x, out++);
    }
    if (recipe->span) {
        STI_TRY(joint_span(p, &x, err));
        x.value -= p->joint->length;
        joint_row_of(p, &x, out++);
    }
    if (p->joint->held) {
        STI_TRY(held(p, t, &x, err));
        joint_row_of(p, &x, out);
    }
    return ST_OK;
}

/* Rows of meeting, sliding and aligned axes; returns their number. */
STI_INLINE int put_usual_rows(const Place *p, const RowsTo *to)
{
    const Recipe *recipe = &recipes[p->joint->type];
    int n = 0;
    if (recipe->meet) {
        st_Vec3 d = sub(p->p_b, p->p_a);
        joint_meet(p, 0, d.x, to, n++);
        joint_meet(p, 1, d.y, to, n++);
        joint_meet(p, 2, d.z, to, n++);
    }
    for (int k = 0; k < recipe->n_slide; k++) {
        const Row row = joint_slide(p, recipe->slide[k]);
        put_row(to, n++, row.value, load3(&row.along.x), load3(&row.on_a.x), load3(&row.on_b.x));
    }
    st_Vec3 t_w = {0, 0, 0};
    sti_Wide t_in_a = {0};
    for (int k = 0; k < recipe->n_align; k++) {
        const int *axes = recipe->align[k];
        if (k == 0 || axes[1] != recipe->align[k - 1][1]) {
            t_w = mat3_mul(&p->axes_b, p->joint->frame_b[axes[1]]);
            t_in_a = in_body(&p->axes_a, t_w);
        }
        align(p, axes, t_w, t_in_a, to, n++);
    }
    return n;
}

STI_CLONES static int usual_rows(const Place *p, Row *out)
{
    return put_usual_rows(p, &(RowsTo){.listed = true, .row = out});
}

STI_CLONES static int usual_rows_of_free_bodies(const Place *p, double stiffness, sti_JointEntry *entry,
                                                double *gradient)
{
    return put_usual_rows(p, &(RowsTo){.entry = entry, .gradient = gradient, .stiffness = stiffness});
}

static st_Status rows_of(const Place *p, double t, Row *out, st_Error *err)
{
    const int n = usual_rows(p, out);
    return n < p->joint->n_rows ? other_rows(p, t, out + n, err) : ST_OK;
}

st_Status sti_joint_measures(const sti_World *world, int index, double t, const double *q, sti_Measure *out,
                             st_Error *err)
{
    Place p;
    Row row[STI_JOINT_ROWS];
    joint_place(world, index, q, &p);
    if (p.joint->n_rows == 0 || recipes[p.joint->type].gear || p.joint->type == ST_JOINT_TENDON) return ST_OK;
    STI_TRY(rows_of(&p, t, row, err));
    for (int k = 0; k < p.joint->n_rows; k++)
        out[k] = measure_of(&p, &row[k]);
    return ST_OK;
}

/* ---- how far it is open ------------------------------------------------------------------------- */

static double square_of_joint_size(const sti_World *world, int index)
{
    const sti_Joint *joint = &world->joint[index];
    const int body[2] = {joint->a, joint->b};
    const st_Vec3 anchor[2] = {joint->anchor_a, joint->anchor_b};
    double most = 0; /* its square */
    for (int k = 0; k < 2; k++) {
        const sti_BodyMass *of = &world->values.body[body[k]];
        if (world->body[body[k]].n_dofs == 0 || !(of->mass > 0)) continue;
        const double J = sti_larger(sti_larger(of->inertia[0], of->inertia[1]), of->inertia[2]);
        most = sti_larger(dot(anchor[k], anchor[k]), most);
        if (J > most * of->mass) most = J / of->mass;
    }
    return most > 0 ? most : INFINITY; /* a point mass at its joint */
}

double sti_joint_size(const sti_World *world, int index)
{
    return sqrt(square_of_joint_size(world, index));
}

double sti_joint_opening(const sti_World *world, int index, const sti_JointEntry *row, double least)
{
    const sti_Joint *joint = &world->joint[index];
    const Recipe *recipe = &recipes[joint->type];
    const int lengths = (recipe->meet ? 3 : 0) + recipe->n_slide, angles = lengths + recipe->n_align;
    double length = 0, angle = 0;
    int k = 0;
    if (recipe->gear) return 0; /* its teeth mesh again after a turn */
    for (; k < lengths && k < joint->n_rows; k++)
        length = sti_larger(fabs(row[k].value), length);
    for (; k < angles && k < joint->n_rows; k++)
        angle = sti_larger(fabs(row[k].value), angle);
    for (; k < joint->n_rows; k++) {
        const bool drive = joint->held && k == joint->n_rows - 1;
        double *worst = drive && joint->angle[joint->coordinate[0]] >= 0 ? &angle : &length;
        *worst = sti_larger(fabs(row[k].value), *worst);
    }
    const double square = length * length, size = square > 0 ? square_of_joint_size(world, index) : 1;
    if (square <= least * least * size && angle <= least) return 0;
    return sti_larger(sqrt(square / size), angle);
}

/* ---- tension ---------------------------------------------------------------------------------- */

/* The torque of a force f at the lever s is s x f. When the body turns by d, the lever follows, and in body axes the
 * torque changes by -((s'f) I - f s') d. Only the diagonal of that matrix is used, which is nearly all of it for
 * bars that are pulled at their ends. */
static void add_tension(const sti_Body *body, st_Quat q, st_Vec3 lever, st_Vec3 force, double *out)
{
    st_Vec3 f = rotate_back(q, force);
    double along = dot(lever, f), part[3];
    vec3_store(part, vec3(along - lever.x * f.x, along - lever.y * f.y, along - lever.z * f.z));
    for (int k = 0; body->n_dofs == 6 && k < 3; k++)
        out[body->v_first + 3 + k] += part[k];
    for (int k = 0; body->n_dofs != 6 && k < body->n_dofs; k++)
        if (body->dof[k] >= 3) out[body->v_first + k] += part[body->dof[k] - 3];
}

void sti_joints_tension(const sti_World *world, const double *q, const double *l, double *out)
{
    memset(out, 0, (size_t)world->n_v * sizeof *out);
    for (int index = 0; index < world->n_joints; index++) {
        const sti_Joint *joint = &world->joint[index];
        if (!recipes[joint->type].meet) continue;
        st_Vec3 force = vec3_load(l + joint->first_row);
        add_tension(&world->body[joint->b], sti_pose(q, joint->b).q, joint->anchor_b, force, out);
        add_tension(&world->body[joint->a], sti_pose(q, joint->a).q, joint->anchor_a, scale(-1, force), out);
    }
}

/* All of that matrix by body: xx, yy, zz, xy, yz, zx in its axes. Forces at one point of a body cancel. */
void sti_joints_stiffness(const sti_World *world, const double *q, const double *l, double *out)
{
    memset(out, 0, (size_t)sti_first_rotor(world) * 6 * sizeof *out);
    for (int index = 0; index < world->n_joints; index++) {
        const sti_Joint *joint = &world->joint[index];
        if (!recipes[joint->type].meet) continue;
        const st_Vec3 force = vec3_load(l + joint->first_row);
        for (int side = 0; side < 2; side++) {
            const int b = side == 0 ? joint->a : joint->b;
            const st_Vec3 s = side == 0 ? joint->anchor_a : joint->anchor_b;
            if (world->body[b].n_dofs == 0) continue;
            const st_Vec3 f = rotate_back(sti_pose(q, b).q, scale(side == 0 ? -1 : 1, force));
            double *K = out + 6 * (ptrdiff_t)b;
            const double along = dot(s, f);
            K[0] += along - s.x * f.x;
            K[1] += along - s.y * f.y;
            K[2] += along - s.z * f.z;
            K[3] -= 0.5 * (s.x * f.y + s.y * f.x);
            K[4] -= 0.5 * (s.y * f.z + s.z * f.y);
            K[5] -= 0.5 * (s.z * f.x + s.x * f.z);
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* x_a - (ratio x_b + curve . (x_b^2, x_b^3, x_b^4)) and its row, on up to four bodies. */
static st_Status gear_row(const sti_World *world, const sti_Joint *gear, const double *q, double *value, sti_Rows *rows,
                          st_Error *err)
{
    sti_Measure x[2];
    sti_Rows part;
    const st_Vec3 c = gear->curve;
    rows->count = 0;
    STI_TRY(sti_coordinate_row(world, gear->geared[0], 0, q, &x[0], &part, err));
    sti_rows_add(rows, 1.0, &part);
    STI_TRY(sti_coordinate_row(world, gear->geared[1], 0, q, &x[1], &part, err));
    const double y = x[1].value;
    sti_rows_add(rows, -(gear->ratio + y * (2 * c.x + y * (3 * c.y + y * 4 * c.z))), &part);
    *value = x[0].value - y * (gear->ratio + y * (c.x + y * (c.y + y * c.z)));
    return ST_OK;
}

void sti_gears_compile(sti_World *world)
{
    for (int index = 0; index < world->n_joints; index++) {
        sti_Joint *joint = &world->joint[index];
        sti_Rows ignored;
        if (!recipes[joint->type].gear) continue;
        /* cannot fail, because distances of 0 were refused */
        if (gear_row(world, joint, world->q0, &joint->offset, &ignored, NULL) != ST_OK) joint->offset = 0;
    }
}

/* All rows of a joint other than a gear; they act on the same two bodies. */
static st_Status push_joint(const sti_World *world, int index, double t, const double *q, Place places[2],
                            st_Sink *sink, st_Error *err)
{
    const sti_Joint *joint = &world->joint[index];
    const sti_Body *a = &world->body[joint->a], *b = &world->body[joint->b];
    const double stiffness = world->scene->joint[index].joint_stiffness;
    Row row[STI_JOINT_ROWS];
    Place *p = &places[index % 2], *last = &places[(index + 1) % 2];
    sti_JointEntry *entry;
    double *gradient;
    int touched[12];
    if (joint->n_rows == 0) return ST_OK;
    joint_place_after(world, index, q, last->joint != NULL && last->joint->b == joint->a ? last : NULL, p);
    int count = sink->laid_out ? a->n_dofs + b->n_dofs : sti_rows_index(world, joint->a, joint->b, touched), n = 0;
    if (a->n_dofs != 6 || b->n_dofs != 6) STI_TRY(rows_of(p, t, row, err));
    STI_TRY(sti_row_buffer_add_joint(sink, joint->n_rows, count, touched, &entry, &gradient, err));
    if (a->n_dofs == 6 && b->n_dofs == 6) {
        n = usual_rows_of_free_bodies(p, stiffness, entry, gradient);
        if (n < joint->n_rows) STI_TRY(other_rows(p, t, row + n, err));
        gradient += 12 * (ptrdiff_t)n;
    }
    for (int k = n; k < joint->n_rows; k++) {
        entry[k] = (sti_JointEntry){row[k].value, row[k].rate, joint->at_speed && k == joint->n_rows - 1, stiffness};
        gradient = sti_put_half(a, scale(-1, row[k].along), row[k].on_a, gradient);
        gradient = sti_put_half(b, row[k].along, row[k].on_b, gradient);
    }
    return ST_OK;
}

/* A tendon with prescribed length or speed. */
static st_Status push_tendon(const sti_World *world, int index, double t, const double *q, st_Sink *sink, st_Error *err)
{
    const sti_Joint *joint = &world->joint[index];
    double rate, wanted = sti_motor_wanted(world, index, t, &rate);
    sti_Measure x;
    sti_Rows rows;
    if (!joint->held) return ST_OK;
    STI_TRY(sti_coordinate_row(world, index, 0, q, &x, &rows, err));
    st_JointRow row = {.value = joint->at_speed ? 0 : x.value - wanted,
                       .rate = joint->at_speed ? -wanted : -rate,
                       .count = rows.count,
                       .index = rows.index,
                       .gradient = rows.gradient,
                       .velocity = joint->at_speed};
    return sti_push_joint(sink, &row, err);
}

/* Rows of a sleeping joint do not change, except that of a motor, which may depend on time. */
st_Status sti_joints_push(const sti_World *world, double t, const double *q, st_Sink *sink, st_Error *err)
{
    const bool known = world->still > 0 && sink->still == world->still;
    Place places[2] = {{.joint = NULL}, {.joint = NULL}};
    sink->still = 0;
    for (int index = 0; index < world->n_joints; index++) {
        const sti_Joint *joint = &world->joint[index];
        if (recipes[joint->type].gear) {
            sti_Rows rows;
            double value;
            STI_TRY(gear_row(world, joint, q, &value, &rows, err));
            st_JointRow row = {
                .value = value - joint->offset, .count = rows.count, .index = rows.index, .gradient = rows.gradient};
            STI_TRY(sti_push_joint(sink, &row, err));
        } else if (joint->type == ST_JOINT_TENDON)
            STI_TRY(push_tendon(world, index, t, q, sink, err));
        else if (known && !joint->held && sti_both_stay(world, joint->a, joint->b))
            sink->joint_rows.n_rows += joint->n_rows;
        else
            STI_TRY(push_joint(world, index, t, q, places, sink, err));
    }
    STI_TRY(sti_rotors_push(world, q, known, sink, err));
    sink->laid_out = true;
    sink->still = world->still;
    return ST_OK;
}
