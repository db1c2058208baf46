/* model/tendon.c -- tendons: joints without constraints; their coordinate is the length of a path.
 *
 *     sum over joints     L = sum of coefficient * coordinate            (both from the start)
 *     path over points    L = sum over branches of  (sum of the lengths between points) / divisor
 *
 * Between two points a tendon may wrap around a sphere or cylinder: a line to a tangent point, a geodesic on the
 * surface, and a line to the second point. A sphere is a circle in the plane of its centre and the two points. A
 * cylinder is a circle in the plane across its axis; unrolled, the path is straight, so that it climbs evenly along the
 * axis.
 *
 * If the side point is inside the shape, the path passes through the shape: a straight path that misses it is bent to
 * touch the inner surface at one point, where both pieces make the same angle with the radius.
 *
 * Slider and crank: with v from the slider's 0 to the pin and a its axis, L = a.v - sqrt((a.v)^2 + rod^2 - v.v): the
 * position of the slider along a. Out of reach, where the root is not real, the root is set to 0 (as in MuJoCo).
 *
 * The geodesic is the shortest path, so moving a tangent point along the surface changes nothing to first order.
 * Hence each straight piece pulls only at its two ends, including the one on the surface.
 */
#include "model/tendon.h"

#include "math/simd4.h"
#include "model/joint.h"

/* A circle of radius R about the origin, and two points outside. */
typedef struct Circle {
    double a[2], b[2], R;
    double side[2]; /* the side on which the path must pass */
    bool has_side, inside;
} Circle;

/* Tangent points t and the length of the arc between them; false: the straight line is free. */
static bool wrap_circle(const Circle *c, double t[2][2], double *arc)
{
    const double dx = c->b[0] - c->a[0], dy = c->b[1] - c->a[1], d2 = dx * dx + dy * dy;
    const double A = hypot(c->a[0], c->a[1]), B = hypot(c->b[0], c->b[1]);
    if (!(A > c->R) || !(B > c->R) || !(d2 > 0)) return false;
    const double s = fmin(1, fmax(0, -(c->a[0] * dx + c->a[1] * dy) / d2));
    const double near[2] = {c->a[0] + s * dx, c->a[1] + s * dy};
    const bool passes = hypot(near[0], near[1]) >= c->R;
    if (c->inside) {
        /* With the angle i at the radius, the law of sines gives 2 i - asin(R/A sin i) - asin(R/B sin i) = angle
         * between a and b; the left side grows with i. */
        const double angle = atan2(c->a[0] * c->b[1] - c->a[1] * c->b[0], c->a[0] * c->b[0] + c->a[1] * c->b[1]);
        double low = 0, high = STI_PI / 2;
        if (!passes) return false;
        for (int k = 0; k < 60; k++) {
            const double i = 0.5 * (low + high), sum = 2 * i - asin(c->R / A * sin(i)) - asin(c->R / B * sin(i));
            *(sum < fabs(angle) ? &low : &high) = i;
        }
        const double to = low - asin(c->R / A * sin(low)), turn = atan2(c->a[1], c->a[0]) + (angle < 0 ? -to : to);
        t[0][0] = t[1][0] = c->R * cos(turn), t[0][1] = t[1][1] = c->R * sin(turn);
        *arc = 0;
        return true;
    }
    if (passes && (!c->has_side || near[0] * c->side[0] + near[1] * c->side[1] >= 0)) return false;

    const double at_a = atan2(c->a[1], c->a[0]), at_b = atan2(c->b[1], c->b[0]);
    const double open_a = acos(c->R / A), open_b = acos(c->R / B);
    double best = INFINITY;
    *arc = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double from = at_a + sign * open_a, to = at_b - sign * open_b;
        double angle = fmod(sign * (to - from), 2 * STI_PI);
        if (angle < 0) angle += 2 * STI_PI; /* into 0 .. 2 pi */
        const double middle = from + sign * angle / 2;
        /* the straight pieces of a path more than half around meet at this distance from the circle: the path cannot
         * be taut */
        const double meet = angle > STI_PI ? c->R * tan(STI_PI - angle / 2) : INFINITY;
        if (sqrt(A * A - c->R * c->R) >= meet && sqrt(B * B - c->R * c->R) >= meet) continue;
        const double cost = c->has_side ? -(cos(middle) * c->side[0] + sin(middle) * c->side[1]) : angle;
        if (!(cost < best)) continue;
        best = cost;
        *arc = c->R * angle;
        t[0][0] = c->R * cos(from), t[0][1] = c->R * sin(from);
        t[1][0] = c->R * cos(to), t[1][1] = c->R * sin(to);
    }
    return isfinite(best);
}

/* From a to b around a shape, all in the world: the tangent points, the length between them; false: straight. */
static bool wrap(const st_TendonPoint *part, st_Pose pose, st_Vec3 a, st_Vec3 b, st_Vec3 tangent[2], double *on_surface)
{
    const st_Vec3 centre = pose_point(pose, part->point), from = sub(a, centre), to = sub(b, centre);
    const st_Vec3 side = part->has_side ? sub(pose_point(pose, part->side), centre) : vec3(0, 0, 0);
    const bool round = part->kind == ST_TENDON_SPHERE;
    st_Vec3 x, y, z;
    if (round) {
        st_Vec3 normal = cross(from, to);
        if (!(norm(normal) > 1e-10 * norm(from) * norm(to))) normal = cross(from, side); /* collinear with the centre */
        if (!(norm(normal) > 0)) normal = orthogonal(from);
        z = scale(1 / norm(normal), normal);
        x = scale(1 / norm(from), from);
    } else {
        z = rotate(pose.q, part->axis);
        x = orthogonal(z);
    }
    y = cross(z, x);
    const Circle circle = {.a = {dot(from, x), dot(from, y)},
                           .b = {dot(to, x), dot(to, y)},
                           .R = part->radius,
                           .side = {dot(side, x), dot(side, y)},
                           .has_side = part->has_side,
                           .inside =
                               part->has_side && norm(round ? side : sub(side, scale(dot(side, z), z))) < part->radius};
    double t[2][2], arc = 0;
    if (!wrap_circle(&circle, t, &arc)) return false;
    const double first = hypot(t[0][0] - circle.a[0], t[0][1] - circle.a[1]);
    const double last = hypot(t[1][0] - circle.b[0], t[1][1] - circle.b[1]), whole = first + arc + last;
    const double start = dot(from, z), climb = round ? 0 : dot(to, z) - start;
    for (int k = 0; k < 2; k++) {
        const double height = start + climb * (k == 0 ? first : first + arc) / whole;
        const st_Vec3 across = add(scale(t[k][0], x), scale(t[k][1], y));
        tangent[k] = add(centre, add(across, scale(round ? 0 : height, z)));
    }
    *on_surface = hypot(arc, climb * arc / whole);
    return true;
}

/* A straight piece from p, fixed to part i, to p2, fixed to part j. */
static double straight(double weight, int i, st_Vec3 p, int j, st_Vec3 p2, sti_Pull *pulls, int *n)
{
    const st_Vec3 d = sub(p2, p);
    const double length = norm(d);
    if (!(length > 0)) return 0;
    const st_Vec3 u = scale(weight / length, d);
    pulls[(*n)++] = (sti_Pull){i, p, scale(-1, u)};
    pulls[(*n)++] = (sti_Pull){j, p2, u};
    return weight * length;
}

/* L = s - sqrt(s^2 + rod^2 - v.v), s = a.v, and its pulls: at the pin, at the slider's 0, and at the end of its axis.
 */
static double crank(double weight, const st_TendonPoint *path, const st_Pose *pose, int k, sti_Pull *pulls, int *n)
{
    const st_Vec3 at = pose_point(pose[k], path[k].point), pin = pose_point(pose[k + 1], path[k + 1].point);
    const st_Vec3 a = rotate(pose[k].q, path[k].axis), v = sub(pin, at);
    const double s = dot(a, v), root = sqrt(fmax(0, s * s + path[k].coefficient * path[k].coefficient - dot(v, v)));
    const double by = root > 0 ? 1 / root : 0;
    const st_Vec3 to_v = scale(weight, sub(a, scale(by, sub(scale(s, a), v)))), to_a = scale(weight * (1 - s * by), v);
    pulls[(*n)++] = (sti_Pull){k + 1, pin, to_v};
    pulls[(*n)++] = (sti_Pull){k, at, scale(-1, add(to_v, to_a))};
    pulls[(*n)++] = (sti_Pull){k, add(at, a), to_a};
    return weight * (s - root);
}

double sti_tendon_path(const st_TendonPoint *path, int n_path, const st_Pose *pose, sti_Pull *pulls, int *n_pulls)
{
    double length = 0, weight = 1;
    int last = -1;
    *n_pulls = 0;
    for (int k = 0; k < n_path; k++) {
        if (path[k].kind == ST_TENDON_PULLEY) {
            weight = 1 / path[k].coefficient;
            last = -1;
        }
        if (path[k].kind == ST_TENDON_SLIDER) length += crank(weight, path, pose, k, pulls, n_pulls);
        if (path[k].kind == ST_TENDON_SLIDER) last = -1;
        if (path[k].kind != ST_TENDON_POINT) continue;
        const st_Vec3 p = pose_point(pose[k], path[k].point);
        if (last >= 0) {
            const st_Vec3 from = pose_point(pose[last], path[last].point);
            const int around = k - last == 2 ? last + 1 : -1;
            st_Vec3 t[2];
            double between;
            if (around >= 0 && wrap(&path[around], pose[around], from, p, t, &between)) {
                length += straight(weight, last, from, around, t[0], pulls, n_pulls) + weight * between;
                length += straight(weight, around, t[1], k, p, pulls, n_pulls);
            } else {
                length += straight(weight, last, from, k, p, pulls, n_pulls);
            }
        }
        last = k;
    }
    return length;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* The row of a force along n at a point of a body. */
static void add_pull(const sti_World *world, const double *q, int body, st_Vec3 at, st_Vec3 along, sti_Rows *rows)
{
    const st_Pose pose = sti_pose(q, body);
    sti_Rows part = {.count = world->body[body].n_dofs};
    for (int k = 0; k < part.count; k++)
        part.index[k] = world->body[body].v_first + k;
    sti_put_half(&world->body[body], along, rotate_back(pose.q, cross(sub(at, pose.p), along)), part.gradient);
    sti_rows_add(rows, 1, &part);
}

static st_Status tendon_row(const sti_World *world, int index, const double *q, double *value, sti_Rows *rows,
                            st_Error *err)
{
    const st_JointDef *def = &world->scene->joint[index];
    st_Pose pose[STI_TENDON_PARTS];
    sti_Pull pulls[2 * STI_TENDON_PARTS];
    int n = 0;
    rows->count = 0;
    *value = 0;
    if (def->path[0].kind == ST_TENDON_JOINT) {
        for (int k = 0; k < def->n_path; k++) {
            const int other = def->path[k].joint.index1 - 1;
            sti_Measure x;
            sti_Rows part;
            STI_TRY(sti_coordinate_row(world, other, 0, q, &x, &part, err));
            *value += def->path[k].coefficient * x.value;
            sti_rows_add(rows, def->path[k].coefficient, &part);
        }
        return ST_OK;
    }
    for (int k = 0; k < def->n_path;
         k++) { /* all bodies, even if it does not touch them now: rows keep their pattern */
        pose[k] = sti_pose(q, def->path[k].body.index1);
        add_pull(world, q, def->path[k].body.index1, pose[k].p, vec3(0, 0, 0), rows);
    }
    *value = sti_tendon_path(def->path, def->n_path, pose, pulls, &n);
    for (int k = 0; k < n; k++)
        add_pull(world, q, def->path[pulls[k].part].body.index1, pulls[k].at, pulls[k].along, rows);
    return ST_OK;
}

st_Status sti_coordinate_view(const sti_World *world, int index, int which, const double *q, sti_Measure *x,
                              sti_Rows *rows, sti_CoordinateView *view, st_Error *err)
{
    const sti_Joint *joint = &world->joint[index];
    const bool tendon = joint->type == ST_JOINT_TENDON;
    sti_CoordinateCache *cache = world->coordinate != NULL ? &world->coordinate[2 * index + which] : NULL;
    if (cache != NULL && cache->known && world->place != 0 && cache->place == world->place) {
        *view = (sti_CoordinateView){&cache->x, cache->count, cache->index, cache->gradient};
        return ST_OK;
    }
    if (tendon || cache == NULL) {
        *x = (sti_Measure){.value = 0};
        if (tendon)
            STI_TRY(tendon_row(world, index, q, &x->value, rows, err));
        else {
            STI_TRY(sti_joint_gauge(world, index, which, q, x, err));
            sti_rows_measure(world, q, joint->a, joint->b, x, rows);
        }
        *view = (sti_CoordinateView){x, rows->count, rows->index, rows->gradient};
        return ST_OK;
    }
    /* compare everything that it depends on, bit by bit */
    const int angle = joint->angle[joint->coordinate[which]];
    const bool has_a = joint->a > 0, has_b = joint->b > 0; /* not the ground */
    const double *of_a = q + (has_a ? (int64_t)STI_BODY_Q * (joint->a - 1) : 0);
    const double *of_b = q + (has_b ? (int64_t)STI_BODY_Q * (joint->b - 1) : 0);
    double *key = cache->key;
    const size_t bytes = STI_BODY_Q * sizeof *q;
    const bool known = cache->known && (!has_a || sti_same_numbers(key, of_a, STI_BODY_Q)) &&
                       (!has_b || sti_same_numbers(key + STI_BODY_Q, of_b, STI_BODY_Q)) &&
                       (angle < 0 || sti_same_numbers(key + 2 * STI_BODY_Q, q + world->angle[angle].q, 1));
    cache->place = world->place;
    if (!known) {
        cache->known = false; /* in case there is no row */
        STI_TRY(sti_joint_gauge(world, index, which, q, &cache->x, err));
        if (cache->count == 0) cache->count = sti_rows_index(world, joint->a, joint->b, cache->index);
        sti_measure_gradient(world, q, joint->a, joint->b, &cache->x, cache->gradient);
        if (has_a) memcpy(key, of_a, bytes);
        if (has_b) memcpy(key + STI_BODY_Q, of_b, bytes);
        if (angle >= 0) key[2 * STI_BODY_Q] = q[world->angle[angle].q];
        cache->known = true;
    }
    *view = (sti_CoordinateView){&cache->x, cache->count, cache->index, cache->gradient};
    return ST_OK;
}

st_Status sti_coordinate_row(const sti_World *world, int index, int which, const double *q, sti_Measure *x,
                             sti_Rows *rows, st_Error *err)
{
    sti_CoordinateView view;
    STI_TRY(sti_coordinate_view(world, index, which, q, x, rows, &view, err));
    if (view.x == x) return ST_OK;
    *x = *view.x;
    rows->count = view.count;
    memcpy(rows->index, view.index, (size_t)view.count * sizeof *rows->index);
    memcpy(rows->gradient, view.gradient, (size_t)view.count * sizeof *rows->gradient);
    return ST_OK;
}

void sti_tendon_bodies(const sti_World *world, int index, void (*visit)(void *ctx, int body), void *ctx)
{
    const st_JointDef *def = &world->scene->joint[index];
    for (int k = 0; k < def->n_path; k++) {
        const st_TendonPoint *part = &def->path[k];
        if (part->kind == ST_TENDON_JOINT) {
            visit(ctx, world->joint[part->joint.index1 - 1].a);
            visit(ctx, world->joint[part->joint.index1 - 1].b);
        } else if (part->kind != ST_TENDON_PULLEY) {
            visit(ctx, part->body.index1);
        }
    }
}

/* ---- checks ------------------------------------------------------------------------------------ */

static st_Status check_part(const st_Scene *scene, Subject s, const st_JointDef *def, int k, st_TendonPoint *part)
{
    const bool round = part->kind == ST_TENDON_SPHERE || part->kind == ST_TENDON_CYLINDER;
    part->body = sti_body_now(scene, part->body), part->joint = sti_joint_now(scene, part->joint);
    const bool first = def->path[0].kind == ST_TENDON_JOINT;
    if (st_tendon_kind_name(part->kind) == NULL) return BAD(s, "path: there is no part of type %d", (int)part->kind);
    if ((part->kind == ST_TENDON_JOINT) != first)
        return BAD(s, "path: member %d: either all members must be joints, or none", k + 1);
    if (part->kind == ST_TENDON_JOINT) {
        if (part->joint.index1 < 1 || part->joint.index1 > scene->n_joints)
            return BAD(s, "path names joint number %d, there are %d before it", part->joint.index1, scene->n_joints);
        const st_JointDef *joint = &scene->joint[part->joint.index1 - 1];
        if (joint->type == ST_JOINT_TENDON || joint->coordinate == ST_COORDINATE_DEFAULT ||
            joint->coordinate == ST_COORDINATE_SWING)
            return BAD(s, "path names \"%s\", a %s joint, must be one with an angle or a displacement", joint->name,
                       st_joint_type_name(joint->type));
        return check_not_zero(s, "path: coefficient", part->coefficient, STI_SMALLEST, STI_LARGEST);
    }
    if (part->kind == ST_TENDON_PULLEY)
        return check_not_zero(s, "path: divisor", part->coefficient, STI_SMALLEST, STI_LARGEST);
    STI_TRY(check_body_id(scene, s, "path: body", part->body));
    STI_TRY(check_place(s, "path: point", part->point));
    if (part->kind == ST_TENDON_SLIDER) {
        if (k + 1 == def->n_path || def->path[k + 1].kind != ST_TENDON_POINT)
            return BAD(s, "path: member %d is a slider, a point must follow it", k + 1);
        STI_TRY(check_length(s, "path: rod", part->coefficient));
        return check_direction(s, "path: axis", &part->axis);
    }
    if (!round) return ST_OK;
    const bool between = k > 0 && k + 1 < def->n_path && def->path[k - 1].kind == ST_TENDON_POINT &&
                         def->path[k + 1].kind == ST_TENDON_POINT;
    if (!between)
        return BAD(s, "path: the tendon wraps around member %d, a point must come before and after it", k + 1);
    STI_TRY(check_length(s, "path: radius", part->radius));
    if (part->has_side) STI_TRY(check_place(s, "path: side", part->side));
    return part->kind == ST_TENDON_CYLINDER ? check_direction(s, "path: axis", &part->axis) : ST_OK;
}

typedef struct Ends {
    int a, b, n; /* two bodies; number found so far, at most so many are different */
} Ends;

static void note_end(Ends *ends, int body)
{
    if (ends->n == 0) ends->a = ends->b = body;
    if (body != ends->a) ends->b = body;
    ends->n++;
}

/* `path` is the copy of its path; a and b become two of its bodies, `start` the length at the start. */
st_Status sti_tendon_check(const st_Scene *scene, Subject s, st_JointDef *def, st_TendonPoint *path, double *start)
{
    Ends ends = {0};
    bool moves = false;
    int n_points = 0;
    *start = 0;
    if (def->n_path < 1 || def->n_path > STI_TENDON_PARTS || def->path == NULL)
        return BAD(s, "path has %d members, must have from 1 to %d", def->n_path, STI_TENDON_PARTS);
    for (int k = 0; k < def->n_path; k++) {
        path[k] = def->path[k];
        STI_TRY(check_part(scene, s, def, k, &path[k]));
        if (path[k].kind == ST_TENDON_JOINT) {
            const st_JointDef *joint = &scene->joint[path[k].joint.index1 - 1];
            note_end(&ends, joint->b.index1);
            note_end(&ends, joint->a.index1);
            moves = true;
        } else if (path[k].kind != ST_TENDON_PULLEY) {
            note_end(&ends, path[k].body.index1);
            moves = moves || !scene->body[path[k].body.index1].fixed;
            n_points += path[k].kind == ST_TENDON_POINT || path[k].kind == ST_TENDON_SLIDER;
        }
    }
    if (path[0].kind != ST_TENDON_JOINT && (n_points < 2 || !moves))
        return BAD(s, "path has %d points%s: must have at least two, and a body that can move", n_points,
                   moves ? "" : " and no body that can move");
    def->a = (st_BodyId){ends.b}, def->b = (st_BodyId){ends.a};
    if (path[0].kind == ST_TENDON_JOINT) return ST_OK;
    st_Pose pose[STI_TENDON_PARTS];
    sti_Pull pulls[2 * STI_TENDON_PARTS];
    int n;
    for (int k = 0; k < def->n_path; k++)
        pose[k] = scene->body[path[k].body.index1].pose;
    *start = sti_tendon_path(path, def->n_path, pose, pulls, &n);
    if (n == 0) return BAD(s, "path has a length of %g, must be > 0", *start);
    return ST_OK;
}
