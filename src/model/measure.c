/* model/measure.c -- displacements, angles and rotations between two bodies, with exact rates in every
 * configuration, assembled or not.
 *
 *     along     n' (p_b - p_a):   n' (v_pb - velocity of a's material at `at`)
 *               n fixed in the world, at = p_a;  n fixed in a, at = p_b
 *     angle     the twist of the rotation q of b against a about n (in a): 2 atan2(s, c), s = n'q_v, c = q_w.
 *               With q' = w q/2 for the relative angular velocity w in a's axes,
 *               rate = (c^2 n + c q_v x n + s q_v)' w / (c^2 + s^2),   n' w where the axes agree
 *     pointer   of t fixed in b about n fixed in a, x and y = n x x in a: atan2(s, c), s = y't, c = x't.
 *               rate = (w_a - w_b)' ((c y - s x) x t) / (c^2 + s^2)
 *     rotation  n' log(q):  rate = (n + (phi x n)/2 + k phi x (phi x n))' w,  phi = log(q),
 *               k = (1 - (|phi|/2) cot(|phi|/2))/|phi|^2: the inverse of the exponential's Jacobian
 */
#include "math/simd4.h"
#include "model/world.h"

sti_Measure sti_measure_along(st_Pose a, st_Pose b, st_Vec3 p_b, st_Vec3 n, st_Vec3 at, double value)
{
    return (sti_Measure){.value = value,
                         .on_a = {scale(-1, n), scale(-1, cross(sub(at, a.p), n))},
                         .on_b = {n, cross(sub(p_b, b.p), n)}};
}

/* A rate g' w, w the angular velocity of b against a in a's axes. */
sti_Measure sti_measure_turning(st_Quat a, double value, st_Vec3 g)
{
    st_Vec3 world = rotate(a, g);
    return (sti_Measure){.value = value, .on_a = {.angular = scale(-1, world)}, .on_b = {.angular = world}};
}

static st_Quat measure_turned(st_Quat a, st_Quat b, st_Quat relative)
{
    return quat_product(quat_product(quat_conjugate(a), b), quat_conjugate(relative));
}

/* Adds the whole turns that bring the value nearest to `near`. */
static double with_turns(double value, double near)
{
    const double turn = 2 * STI_PI;
    if (fabs(near - value) < STI_PI) return value;
    return value + turn * round((near - value) / turn);
}

static sti_Measure pointer_angle(const sti_Angle *angle, const double *q)
{
    st_Quat a = sti_pose(q, angle->a).q;
    st_Vec3 x = rotate(a, angle->pointer_a), y = rotate(a, cross(angle->axis_a, angle->pointer_a));
    st_Vec3 t = rotate(sti_pose(q, angle->b).q, angle->pointer_b);
    double s = dot(y, t), c = dot(x, t), square = c * c + s * s;
    st_Vec3 g = scale(1 / fmax(square, 1e-12), cross(sub(scale(c, y), scale(s, x)), t));
    return (sti_Measure){
        .value = with_turns(atan2(s, c), q[angle->q]), .on_a = {.angular = g}, .on_b = {.angular = scale(-1, g)}};
}

/* A twist at q and the rotation that it is of, from the cache if the bodies have the orientations of the last call. */
static double twist_of(const sti_World *world, int angle, const double *q, st_Quat *turned)
{
    const sti_Angle *of = &world->angle[angle];
    const st_Quat a = sti_pose(q, of->a).q, b = sti_pose(q, of->b).q;
    sti_AngleCache *cache = world->angle_cache != NULL ? &world->angle_cache[angle] : NULL;
    if (cache != NULL && cache->known && cache->value == q[of->q] && sti_same_numbers(&a.w, &cache->a.w, 4) &&
        sti_same_numbers(&b.w, &cache->b.w, 4)) {
        *turned = cache->turned;
        return cache->value;
    }
    *turned = measure_turned(a, b, of->relative);
    const double value = with_turns(quat_twist(*turned, of->axis_a), q[of->q]);
    if (cache != NULL) *cache = (sti_AngleCache){true, a, b, *turned, value};
    return value;
}

sti_Measure sti_measure_angle(const sti_World *world, int angle, const double *q)
{
    const sti_Angle *angle_of = &world->angle[angle];
    if (angle_of->is_pointer) return pointer_angle(angle_of, q);
    st_Quat r;
    const double value = twist_of(world, angle, q, &r);
    st_Vec3 n = angle_of->axis_a, v = vec3(r.x, r.y, r.z), g = n;
    double s = dot(n, v), c = r.w, square = c * c + s * s;
    if (square > 1e-12) /* half a turn about an orthogonal axis: the twist is undefined */
        g = scale(1 / square, add(scale(c * c, n), add(scale(c, cross(v, n)), scale(s, v))));
    return sti_measure_turning(sti_pose(q, angle_of->a).q, value, g);
}

sti_Measure sti_measure_rotation(st_Quat a, st_Quat b, st_Quat relative, st_Vec3 axis_a)
{
    st_Vec3 phi = quat_log(measure_turned(a, b, relative)), across = cross(phi, axis_a);
    double angle = norm(phi), half = 0.5 * angle;
    double k = angle < 1e-3 ? 1.0 / 12 + angle * angle / 720 : (1 - half / tan(half)) / (angle * angle);
    return sti_measure_turning(a, dot(axis_a, phi), add(axis_a, add(scale(0.5, across), scale(k, cross(phi, across)))));
}

int sti_angle_add(sti_World *world, int a, int b, st_Vec3 axis, st_Vec3 axis_b)
{
    st_Quat of_a = world->scene->body[a].pose.q, of_b = world->scene->body[b].pose.q;
    st_Quat upright = quat_product(quat_between(axis_b, axis), of_b); /* b turned until its axis agrees with a's */
    world->angle[world->n_angles] = (sti_Angle){.a = a,
                                                .b = b,
                                                .axis_a = rotate_back(of_a, axis),
                                                .relative = quat_product(quat_conjugate(of_a), upright),
                                                .q = world->n_q++};
    return world->n_angles++;
}

int sti_angle_add_pointer(sti_World *world, int a, int b, st_Vec3 axis, st_Vec3 pointer_axis)
{
    st_Quat of_a = world->scene->body[a].pose.q, of_b = world->scene->body[b].pose.q;
    world->angle[world->n_angles] = (sti_Angle){.a = a,
                                                .b = b,
                                                .axis_a = rotate_back(of_a, axis),
                                                .is_pointer = true,
                                                .pointer_a = rotate_back(of_a, pointer_axis),
                                                .pointer_b = rotate_back(of_b, pointer_axis),
                                                .q = world->n_q++};
    return world->n_angles++;
}

/* Poses determine an angle only up to whole turns; the value nearest to the last one is used. A step of more than
 * half a turn would be counted wrong, so the angle of fast bodies is first advanced by its rate. */
void sti_angles_predict(const sti_World *world, const double *q, const double *v, double h, double *q_out)
{
    for (int k = 0; k < world->n_angles; k++) {
        const sti_Angle *angle = &world->angle[k];
        st_Vec3 linear, w_a, w_b;
        if (sti_both_stay(world, angle->a, angle->b)) continue;
        sti_body_velocity(&world->body[angle->a], v, &linear, &w_a);
        sti_body_velocity(&world->body[angle->b], v, &linear, &w_b);
        if (h * h * (dot(w_a, w_a) + dot(w_b, w_b)) < 1) continue; /* less than 1.42 rad: the nearest is correct */
        const sti_Measure x = sti_measure_angle(world, k, q);
        const double rate = dot(x.on_a.angular, rotate(sti_pose(q, angle->a).q, w_a)) +
                            dot(x.on_b.angular, rotate(sti_pose(q, angle->b).q, w_b));
        q_out[angle->q] = x.value + h * rate;
    }
}

/* Angles between bodies that do not move were copied with the rest of q. */
static void update_angles(const sti_World *world, double *q)
{
    for (int k = 0; k < world->n_angles; k++)
        if (!sti_both_stay(world, world->angle[k].a, world->angle[k].b)) {
            const sti_Angle *angle = &world->angle[k];
            st_Quat turned;
            q[angle->q] = angle->is_pointer ? pointer_angle(angle, q).value : twist_of(world, k, q, &turned);
        }
}

bool sti_angles_idle(const sti_World *world)
{
    bool busy = world->n_limits + world->n_joint_springs + world->n_bounded + world->n_force_motors > 0;
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        busy = busy || joint->held || joint->type == ST_JOINT_SCREW || joint->type == ST_JOINT_GEAR ||
               joint->type == ST_JOINT_TENDON;
    }
    for (int k = 0; k < world->n_springs; k++)
        busy = busy || world->spring[k].angle >= 0;
    return !busy;
}

void sti_angles_update(const sti_World *world, double *q)
{
    if (!world->angles_idle) update_angles(world, q);
}

void sti_angles_settle(const sti_World *world, double *q)
{
    if (world->angles_idle) update_angles(world, q);
}

/* ---- rows of a measure -------------------------------------------------------------------------- */

/* Rows of a Jacobian on the free velocities of two bodies. */

static int append_dofs(const sti_Body *body, int count, int *index)
{
    for (int k = 0; k < body->n_dofs; k++)
        index[count++] = body->v_first + k;
    return count;
}

int sti_rows_index(const sti_World *world, int a, int b, int *index)
{
    return append_dofs(&world->body[b], append_dofs(&world->body[a], 0, index), index);
}

void sti_measure_gradient(const sti_World *world, const double *q, int a, int b, const sti_Measure *measure,
                          double *gradient)
{
    const sti_Half *on_a = &measure->on_a, *on_b = &measure->on_b;
    /* angular velocities are in body axes: angular . w_world = (R' angular) . w_body */
    double *next = sti_put_half(&world->body[a], on_a->linear, rotate_back(sti_pose(q, a).q, on_a->angular), gradient);
    sti_put_half(&world->body[b], on_b->linear, rotate_back(sti_pose(q, b).q, on_b->angular), next);
}

void sti_rows_measure(const sti_World *world, const double *q, int a, int b, const sti_Measure *measure, sti_Rows *rows)
{
    rows->count = sti_rows_index(world, a, b, rows->index);
    sti_measure_gradient(world, q, a, b, measure, rows->gradient);
}

void sti_rows_add(sti_Rows *rows, double factor, const sti_Rows *other)
{
    for (int k = 0; k < other->count; k++) {
        int at = 0;
        while (at < rows->count && rows->index[at] != other->index[k])
            at++;
        if (at == rows->count) {
            rows->index[rows->count] = other->index[k];
            rows->gradient[rows->count++] = 0;
        }
        rows->gradient[at] += factor * other->gradient[k];
    }
}
