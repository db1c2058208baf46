/* collide/narrow/part_distance.c -- the distance of two convex cores from the parts that touch, with a proof.
 *
 * For every pair in which a core is not a box or a hull (those have cached_features.c): cylinders and cones, and the
 * cores of spheres and capsules. A core's surface has six kinds of parts:
 *
 *     point (corner, apex)    edge    rim (circle)    side (of a cylinder or cone)    disc    face
 *
 * Given the two parts that touch, the normal has a closed form, or one smooth equation for a rim:
 *
 *     face, disc x anything     the face's own normal
 *     side, edge x side, edge   n . u1 = s1, n . u2 = s2, |n| = 1: across both lines; for a cone s is the sine of
 *                               its slope
 *     side x point              from the axis through the point
 *     rim x side, edge          Newton's method in the one angle that n . u = s leaves free
 *     rim x rim                 Newton's method on the sphere
 *     point x rim, edge, point  along the line between the two nearest points
 *
 * It is the distance if the following proof succeeds. Let n be the normal and a, b the points found, with b - a = gap n
 * and gap the separation of the two cores along n.
 *
 * Apart. The distance is at most |b - a| and at least the separation along any n: both are the gap.
 *
 * Overlapping by d. Let a ball of radius r > d touch the surface of A at a from inside. Take the centres of all balls
 * of radius r in A: a convex set A' with A' + ball in A. The centre a - r n of ours is r - d from b, and A' and B are
 * separated along n by as much: so r - d is their distance, and no direction m separates them by more than that times
 * m . n. Along m then A and B overlap by at least r - (r - d) m . n, which is d for m = n and more for any other m.
 * Such a ball exists in a face, a disc or a side, not at an edge or a rim.
 *
 * Edges and rims overlapping by d. Their points make up a patch of the surface of A - B: over the tangent plane at d n,
 * from the sine s of their angle and the radii of the rims, it drops by k v^2 / 2 or less at the distance v, with
 * k = (1/r_a + 1/r_b) / s^2. The ball of radius d about the origin is under the patch near n where k d is small, and
 * the rest of it is in the cone from the rim of the patch, v = 3 d, to the difference of the two lowest
 * points. So the ball is in A - B, and touches its surface at d n only. Corners that overlap are left to the
 * search (distance.c).
 *
 * The result depends on the poses and the parts alone: Newton's method starts from the poses, not from the last
 * step. A search without a guess ends with the same parts, and so with the same bits. Parts are distinguished by the
 * angle between n and their own directions. A point, an edge or a rim is accepted only if n is CLEAR of the next
 * part, which is more than TILT, the angle below which parts are confused.
 */
#include "collide/narrow/manifold.h"

#define TILT       1e-3  /* [rad], and relative to a core's size: parts nearer to each other than this count as one */
#define CLEAR      3e-3  /* likewise: the least distance of an accepted point, edge or rim from all other parts */
#define PARALLEL   5e-4  /* sine of the angle below which two lines count as parallel */
#define NO_ANGLE   2e-11 /* likewise, below which the angle of lines and faces changes no distance */
#define MATCH      1e-10 /* relative to the sizes: how exactly b - a must be gap n */
#define TOUCHING   1e-7  /* relative to the sizes: the line between points that are nearer than this has no direction */
#define MAX_ROUNDS 16
#define FLAT       0.05 /* k d at most                                                                                */
#define PATCH      3.0 /* its radius over d                                                                           */
#define ROOM       1.5 /* required ratio of the distance of the cone's sides to d */

typedef enum PartKind { PART_NONE, PART_POINT, PART_EDGE, PART_RIM, PART_SIDE, PART_DISC, PART_FACE } PartKind;

/* Index of a corner, an edge or a face; 1: the disc or rim at `hi`, 0: at `lo`. */
typedef struct Part {
    PartKind kind;
    int index;
} Part;

#define PART_BITS  15
#define INDEX_BITS 12

static uint32_t pack_part(Part part)
{
    if (part.kind == PART_NONE || part.index < 0 || part.index >= 1 << INDEX_BITS) return 0;
    return (uint32_t)part.kind << INDEX_BITS | (uint32_t)part.index;
}

static Part unpack_part(uint32_t bits)
{
    return (Part){(PartKind)(bits >> INDEX_BITS & 7u), (int)(bits & ((1u << INDEX_BITS) - 1))};
}

/* ---- parts --------------------------------------------------------------------------------------- */

/* The outward normal of a cone's side is at this sine over the plane of its base. */
static double cone_sine(const sti_Core *cone)
{
    const double height = cone->hi - cone->lo;
    return cone->extent / sqrt(height * height + cone->extent * cone->extent);
}

static st_Vec3 cone_apex(const sti_Core *cone)
{
    return add(cone->p, scale(cone->hi, cone->axis[2]));
}

/* The face whose normal is within TILT of m; -1: none. */
static int face_along(const sti_Core *core, st_Vec3 m)
{
    const double least = 1 - 0.5 * TILT * TILT;
    if (core->kind == STI_CORE_TRIANGLE) {
        const double along = dot(core->axis[2], m);
        return along >= least ? 0 : -along >= least ? 1 : -1;
    }
    if (core->facets == NULL) return -1;
    const st_Vec3 local = core_to_local(core, m);
    for (int k = 0; k < core->facets->n_faces; k++)
        if (dot(core->facets->normal[k], local) >= least) return k;
    return -1;
}

/* The height of corner k along m, up to a constant. */
static double corner_height(const sti_Core *core, st_Vec3 m, int k)
{
    return dot(m, sti_core_vertex(core, k));
}

static int edge_of_corners(const sti_Core *core, int i, int j)
{
    if (core->kind == STI_CORE_SEGMENT) return 0;
    if (core->kind == STI_CORE_TRIANGLE) return j == i + 1 ? i : 2; /* edge k goes from corner k to the next */
    const int end[2] = {i, j};
    return sti_edge_between(core->facets, end);
}

/* The part of the core that is farthest along the unit m. */
static Part part_along(const sti_Core *core, st_Vec3 m)
{
    if (core_is_polytope(core)) {
        const int face = face_along(core, m), n = sti_core_vertex_count(core);
        if (face >= 0) return (Part){PART_FACE, face};
        double top = -INFINITY;
        for (int k = 0; k < n; k++)
            top = fmax(top, corner_height(core, m, k));
        int count = 0, first[2] = {0, 0};
        for (int k = 0; k < n; k++)
            if (corner_height(core, m, k) >= top - TILT * core->size) {
                if (count < 2) first[count] = k;
                count++;
            }
        if (count == 1) return (Part){PART_POINT, first[0]};
        if (count == 2) return (Part){PART_EDGE, edge_of_corners(core, first[0], first[1])};
        return (Part){PART_NONE, 0};
    }
    if (core_is_smooth(core)) return (Part){PART_NONE, 0};
    const bool cone = core->kind == STI_CORE_CONE;
    const double rise = dot(core->axis[2], m), over = rise - (cone ? cone_sine(core) : 0);
    if (1 - rise * rise <= TILT * TILT && !(cone && rise > 0)) return (Part){PART_DISC, rise > 0};
    if (fabs(over) <= TILT) return (Part){PART_SIDE, 0};
    if (cone && over > 0) return (Part){PART_POINT, 0};
    return (Part){PART_RIM, rise > 0 && !cone};
}

/* Is n CLEAR of all other parts? Sides, discs and faces have an exact normal. */
static bool is_clear(const sti_Core *core, Part part, st_Vec3 m)
{
    const double rise = dot(core->axis[2], m);
    if (part.kind >= PART_SIDE) return true;
    if (part.kind == PART_RIM) {
        const double over = core->kind == STI_CORE_CONE ? cone_sine(core) - rise : part.index == 1 ? rise : -rise;
        return over >= CLEAR && 1 - rise * rise >= CLEAR * CLEAR;
    }
    if (core->kind == STI_CORE_CONE) return rise - cone_sine(core) >= CLEAR;
    int own[2] = {part.index, part.index};
    if (part.kind == PART_EDGE && core->facets != NULL)
        own[0] = core->facets->edge[4 * part.index], own[1] = core->facets->edge[4 * part.index + 1];
    else if (part.kind == PART_EDGE)
        own[1] = core->kind == STI_CORE_SEGMENT ? 1 : (part.index + 1) % 3;
    const double least = corner_height(core, m, own[0]) - CLEAR * core->size;
    for (int k = 0; k < sti_core_vertex_count(core); k++)
        if (k != own[0] && k != own[1] && corner_height(core, m, k) > least) return false;
    return true;
}

/* The radius of the largest ball that touches the surface at p from inside, m outward there; 0: the part is sharp. */
static double ball_inside(const sti_Core *core, Part part, st_Vec3 p, st_Vec3 m)
{
    if (part.kind < PART_SIDE || core->kind == STI_CORE_TRIANGLE) return 0;
    const st_Vec3 at = core_to_local(core, sub(p, core->p));
    double radius = INFINITY;
    if (core->kind == STI_CORE_BOX) {
        const double to[3] = {core->half.x - fabs(at.x), core->half.y - fabs(at.y), core->half.z - fabs(at.z)};
        const double half[3] = {core->half.x, core->half.y, core->half.z};
        for (int e = 0; e < 3; e++)
            radius = fmin(radius, e == part.index / 2 ? half[e] : to[e]);
        return radius;
    }
    if (core->kind == STI_CORE_HULL) {
        const sti_Facets *f = core->facets;
        const st_Vec3 local = core_to_local(core, m);
        for (int k = 0; k < f->n_faces; k++)
            if (k != part.index)
                radius = fmin(radius, (f->offset[k] - dot(f->normal[k], at)) / (1 - dot(f->normal[k], local)));
        return radius;
    }
    const double across = sqrt(at.x * at.x + at.y * at.y), height = core->hi - core->lo;
    if (core->kind == STI_CORE_CYLINDER)
        return part.kind == PART_DISC ? fmin(core->extent - across, 0.5 * height)
                                      : fmin(core->extent, fmin(core->hi - at.z, at.z - core->lo));
    const double sine = cone_sine(core), cosine = sqrt(1 - sine * sine);
    return part.kind == PART_DISC ? (sine * height - cosine * across) / (1 + sine)
                                  : fmin(across / cosine, (at.z - core->lo) / (1 + sine));
}

/* ---- two parts that touch ------------------------------------------------------------------------ */

/* Cores x and y, their parts and points, and the unit vector from x to y. */
typedef struct Touch {
    const sti_Core *x, *y;
    Part part_x, part_y;
    double size;
    st_Vec3 m, on_x, on_y;
} Touch;

static Touch seen_from_y(const Touch *t)
{
    return (Touch){t->y, t->x, t->part_y, t->part_x, t->size, scale(-1, t->m), t->on_y, t->on_x};
}

static bool unit_between(st_Vec3 from, st_Vec3 to, double least, st_Vec3 *m)
{
    const st_Vec3 d = sub(to, from);
    const double length = norm(d);
    *m = scale(1 / length, d);
    return length > least;
}

/* A straight part: an edge, the axis of a cylinder, or the apex and axis of a cone. */
typedef struct Line {
    st_Vec3 at, u; /* a point, and the unit along it                                               */
    double sine;   /* outward normal . u                                                           */
    double radius; /* radius around it */
    double lo, hi; /* its ends, from `at` along u; not used for a cone */
} Line;

static Line parts_line_of(const sti_Core *core, Part part)
{
    if (part.kind == PART_EDGE) {
        st_Vec3 end[2], beside[2];
        sti_core_edge(core, part.index, end, beside);
        const st_Vec3 way = sub(end[1], end[0]);
        const double length = norm(way);
        return (Line){end[0], scale(1 / length, way), 0, 0, 0, length};
    }
    if (core->kind == STI_CORE_CYLINDER) return (Line){core->p, core->axis[2], 0, core->extent, core->lo, core->hi};
    return (Line){cone_apex(core), core->axis[2], cone_sine(core), 0, 0, 0};
}

/* The lowest point of a rim along m. */
static st_Vec3 rim_lowest(const sti_Core *core, double z, st_Vec3 m, double *across, st_Vec3 *outward)
{
    const st_Vec3 axis = core->axis[2], flat = sub(m, scale(dot(m, axis), axis));
    *across = norm(flat);
    *outward = scale(-1 / *across, flat);
    return add(core->p, add(scale(z, axis), scale(core->extent, *outward)));
}

/* The straight line of a part along which it touches a plane with the normal m. */
static void ruling(const sti_Core *core, Part part, const Line *line, st_Vec3 m, st_Vec3 end[2])
{
    st_Vec3 outward;
    double across;
    if (part.kind == PART_EDGE) {
        end[0] = line->at, end[1] = add(line->at, scale(line->hi, line->u));
        return;
    }
    end[0] = rim_lowest(core, core->lo, scale(-1, m), &across, &outward);
    end[1] = core->kind == STI_CORE_CONE ? line->at : add(end[0], scale(core->hi - core->lo, line->u));
}

static double place_between(const st_Vec3 end[2], st_Vec3 p)
{
    const st_Vec3 way = sub(end[1], end[0]);
    return dot(way, sub(p, end[0])) / dot(way, way);
}

/* Rim z of y against a line of x: finds the largest separation over the circle m . u = sine. w is m perpendicular to
 * u. */
static bool rim_on_line(Touch *t, const Line *line, double z, st_Vec3 start)
{
    const sti_Core *y = t->y;
    const double k = sqrt(1 - line->sine * line->sine);
    st_Vec3 w = sub(start, scale(dot(start, line->u), line->u)), outward;
    double length = norm(w), across;
    if (!(length > 0)) return false;
    w = scale(k / length, w);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        t->m = add(w, scale(line->sine, line->u));
        t->on_y = rim_lowest(y, z, t->m, &across, &outward);
        if (!(across > TILT)) return false;
        const st_Vec3 d = sub(t->on_y, line->at), turn = cross(line->u, w);
        const double along = dot(turn, cross(y->axis[2], outward)), slope = dot(turn, d);
        const double bend = -dot(w, d) - y->extent * along * along / across;
        double step = bend < 0 ? -slope / bend : slope > 0 ? 0.3 : -0.3;
        step = fmin(fmax(step, -0.5), 0.5);
        w = add(w, scale(step, turn));
        w = scale(k / norm(w), w);
        if (fabs(step) > 1e-8) continue; /* the next error is its square */
        t->m = add(w, scale(line->sine, line->u));
        t->on_y = rim_lowest(y, z, t->m, &across, &outward);
        return true;
    }
    return false;
}

/* x's point below on_y, on the ruling of a line that contains the nearest one. */
static void foot_on_ruling(Touch *t, const Line *line)
{
    st_Vec3 end[2];
    ruling(t->x, t->part_x, line, t->m, end);
    const double s = place_between(end, t->on_y);
    /* beyond an end the points do not match, which is checked later */
    t->on_x = add(end[0], scale(fmin(fmax(s, 0), 1), sub(end[1], end[0])));
}

/* Two parallel lines, of cylinders or edges: over their common part, at one end of it, or where they cross. */
static bool meet_parallel(Touch *t, const Line *x, const Line *y)
{
    Line other = *y;
    if (dot(x->u, y->u) < 0) other = (Line){y->at, scale(-1, y->u), 0, y->radius, -y->hi, -y->lo};
    const st_Vec3 between = sub(other.at, x->at);
    const double first = dot(x->u, add(between, scale(other.lo, other.u)));
    const double last = dot(x->u, add(between, scale(other.hi, other.u)));
    const double lo = fmax(x->lo, first), hi = fmin(x->hi, last), sine = norm(cross(x->u, other.u));
    if (!(lo < hi)) return false;
    /* from the line x at s to the nearest point of the other: from + s change */
    const double cosine = dot(x->u, other.u);
    const st_Vec3 from = sub(between, scale(dot(between, other.u), other.u));
    const st_Vec3 change = sub(scale(cosine, other.u), x->u);
    double s = 0.5 * (lo + hi);
    if (sine > NO_ANGLE) s = -dot(from, change) / dot(change, change);
    const bool crossing = s >= lo && s <= hi;
    s = fmin(fmax(s, lo), hi);
    const st_Vec3 d = add(from, scale(s, change)), on_axis = add(x->at, scale(s, x->u));
    const double length = norm(d);
    if (!(length > TOUCHING * t->size)) return false;
    t->m = scale(1 / length, d);
    t->on_x = add(on_axis, scale(x->radius, t->m));
    t->on_y = sub(add(on_axis, d), scale(y->radius, t->m));
    if (crossing) return true;
    /* an end of one on the line of the other: a corner already has its direction */
    const bool end_of_x = s == lo ? lo == x->lo : hi == x->hi;
    const bool upper = (end_of_x || dot(x->u, y->u) > 0) == (s == hi);
    Touch end = *t;
    const Line *line = x;
    if (end_of_x) end = seen_from_y(t), line = y;
    if (end.part_y.kind == PART_EDGE) {
        /* exactly perpendicular to the line of the other */
        const st_Vec3 corner = end_of_x ? on_axis : add(other.at, scale(s == hi ? other.hi : other.lo, other.u));
        const st_Vec3 over = sub(corner, line->at), out = sub(over, scale(dot(over, line->u), line->u));
        end.m = scale(1 / norm(out), out);
        end.on_y = corner;
    } else if (!rim_on_line(&end, line, upper ? end.y->hi : end.y->lo, end.m)) {
        return false;
    }
    foot_on_ruling(&end, line);
    *t = end_of_x ? seen_from_y(&end) : end;
    return true;
}

/* m . u_x = s_x and m . u_y = -s_y: m = alpha u_x + beta u_y + k u_x x u_y. */
static bool meet_lines(Touch *t)
{
    const Line x = parts_line_of(t->x, t->part_x), y = parts_line_of(t->y, t->part_y);
    const st_Vec3 across = cross(x.u, y.u);
    const double square = dot(across, across), cosine = dot(x.u, y.u);
    const bool straight = x.sine == 0 && y.sine == 0;
    if (square < PARALLEL * PARALLEL) return straight && meet_parallel(t, &x, &y);
    const double alpha = (x.sine + cosine * y.sine) / square, beta = (-y.sine - cosine * x.sine) / square;
    const double rest = 1 - (alpha * x.sine - beta * y.sine);
    if (!(rest > 0)) return false;
    const double k = copysign(sqrt(rest / square), dot(across, sub(y.at, x.at)));
    t->m = scale(k, across);
    if (!straight) t->m = add(t->m, add(scale(alpha, x.u), scale(beta, y.u)));
    t->m = scale(1 / norm(t->m), t->m);
    st_Vec3 end_x[2], end_y[2];
    ruling(t->x, t->part_x, &x, t->m, end_x);
    ruling(t->y, t->part_y, &y, scale(-1, t->m), end_y);
    sti_nearest_on_lines(end_x, end_y, &t->on_x, &t->on_y);
    const double at_x = place_between(end_x, t->on_x), at_y = place_between(end_y, t->on_y);
    return at_x >= 0 && at_x <= 1 && at_y >= 0 && at_y <= 1;
}

static double rim_height(const sti_Core *core, Part part)
{
    return part.index == 1 ? core->hi : core->lo;
}

static bool meet_rim_on_line(Touch *t)
{
    const Line line = parts_line_of(t->x, t->part_x);
    const double z = rim_height(t->y, t->part_y);
    const st_Vec3 centre = add(t->y->p, scale(z, t->y->axis[2]));
    if (!rim_on_line(t, &line, z, sub(centre, line.at))) return false;
    foot_on_ruling(t, &line);
    return true;
}

/* The point of a rim that is nearest to p. */
static st_Vec3 rim_nearest(const sti_Core *core, double z, st_Vec3 p)
{
    double across;
    st_Vec3 outward;
    return rim_lowest(core, z, sub(core->p, p), &across, &outward);
}

/* Newton's method for the largest separation of two rims: its gradient is the part of y - x perpendicular to m, and
 * its Hessian has the curvature of both rims and its own value. */
static bool meet_rims(Touch *t)
{
    const double z_x = rim_height(t->x, t->part_x), z_y = rim_height(t->y, t->part_y);
    const st_Vec3 axis_x = t->x->axis[2], axis_y = t->y->axis[2], centre_y = add(t->y->p, scale(z_y, axis_y));
    /* the initial m: from point to nearest point; perpendicular to both tangents if these are not parallel */
    st_Vec3 outward_x, outward_y;
    t->on_x = rim_nearest(t->x, z_x, centre_y);
    t->on_y = rim_nearest(t->y, z_y, t->on_x);
    t->on_x = rim_nearest(t->x, z_x, t->on_y);
    t->on_y = rim_nearest(t->y, z_y, t->on_x);
    const st_Vec3 tangent_x = cross(axis_x, sub(t->on_x, t->x->p)), tangent_y = cross(axis_y, sub(t->on_y, t->y->p));
    st_Vec3 m = cross(tangent_x, tangent_y);
    double length = norm(m), across_x, across_y;
    if (length > 0.1 * t->x->extent * t->y->extent)
        t->m = scale(copysign(1 / length, dot(m, sub(t->y->p, t->x->p))), m);
    else if (!unit_between(t->on_x, t->on_y, TOUCHING * t->size, &t->m))
        return false;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        t->on_x = rim_lowest(t->x, z_x, scale(-1, t->m), &across_x, &outward_x);
        t->on_y = rim_lowest(t->y, z_y, t->m, &across_y, &outward_y);
        if (!(across_x > TILT) || !(across_y > TILT)) return false;
        const st_Vec3 u = orthogonal(t->m), w = cross(t->m, u), d = sub(t->on_y, t->on_x);
        const st_Vec3 x = cross(axis_x, outward_x), y = cross(axis_y, outward_y);
        const double k_x = t->x->extent / across_x, k_y = t->y->extent / across_y, gap = dot(t->m, d);
        const double xu = dot(x, u), xw = dot(x, w), yu = dot(y, u), yw = dot(y, w);
        const double uu = -gap - k_x * xu * xu - k_y * yu * yu, ww = -gap - k_x * xw * xw - k_y * yw * yw;
        const double uw = -k_x * xu * xw - k_y * yu * yw, det = uu * ww - uw * uw, du = dot(d, u), dw = dot(d, w);
        if (!(det > 0) || !(uu < 0)) return false;
        double step_u = -(ww * du - uw * dw) / det, step_w = -(uu * dw - uw * du) / det;
        const double turn = sqrt(step_u * step_u + step_w * step_w);
        if (turn > 0.3) step_u *= 0.3 / turn, step_w *= 0.3 / turn;
        m = add(t->m, add(scale(step_u, u), scale(step_w, w)));
        t->m = scale(1 / norm(m), m);
        if (turn > 1e-8) continue;
        t->on_x = rim_lowest(t->x, z_x, scale(-1, t->m), &across_x, &outward_x);
        t->on_y = rim_lowest(t->y, z_y, t->m, &across_y, &outward_y);
        return true;
    }
    return false;
}

static st_Vec3 corner_of(const sti_Core *core, Part part)
{
    return core->kind == STI_CORE_CONE ? cone_apex(core) : sti_core_vertex(core, part.index);
}

/* A point of y on a side, a rim, an edge or a point of x. */
static bool meet_point(Touch *t)
{
    const sti_Core *x = t->x;
    t->on_y = corner_of(t->y, t->part_y);
    if (t->part_x.kind == PART_SIDE) {
        const Line line = parts_line_of(x, t->part_x);
        const st_Vec3 over = sub(t->on_y, line.at);
        const double z = dot(over, line.u);
        const st_Vec3 out = sub(over, scale(z, line.u));
        const double length = norm(out), cosine = sqrt(1 - line.sine * line.sine);
        if (!(length > TOUCHING * t->size)) return false;
        t->m = add(scale(cosine / length, out), scale(line.sine, line.u));
        t->on_x = sub(t->on_y, scale(dot(t->m, over) - line.radius, t->m));
        const double at = dot(sub(t->on_x, x->p), x->axis[2]);
        return at >= x->lo && at <= x->hi;
    }
    if (t->part_x.kind == PART_EDGE) {
        const Line line = parts_line_of(x, t->part_x);
        const double s = dot(line.u, sub(t->on_y, line.at));
        if (!(s >= 0 && s <= line.hi)) return false;
        t->on_x = add(line.at, scale(s, line.u));
    } else if (t->part_x.kind == PART_RIM) {
        t->on_x = rim_nearest(x, rim_height(x, t->part_x), t->on_y);
    } else {
        t->on_x = corner_of(x, t->part_x);
    }
    return unit_between(t->on_x, t->on_y, TOUCHING * t->size, &t->m);
}

/* ---- faces and discs ----------------------------------------------------------------------------- */

static st_Vec3 face_normal(const sti_Core *core, Part part)
{
    st_Vec3 normal, on;
    if (part.kind == PART_DISC) return scale(part.index == 1 ? 1 : -1, core->axis[2]);
    sti_core_face(core, part.index, &normal, &on);
    return normal;
}

/* p is in the plane of the face. */
static bool is_over_face(const sti_Core *core, Part part, st_Vec3 p)
{
    if (part.kind == PART_DISC) {
        const st_Vec3 d = sub(p, core->p), flat = sub(d, scale(dot(d, core->axis[2]), core->axis[2]));
        return dot(flat, flat) <= core->extent * core->extent;
    }
    if (core->facets != NULL) return sti_face_clearance(core, part.index, p) >= 0;
    for (int k = 0; k < 3; k++) {
        const st_Vec3 way = sub(core->corner[(k + 1) % 3], core->corner[k]);
        if (dot(cross(core->axis[2], way), sub(p, core->corner[k])) < 0) return false;
    }
    return true;
}

/* Two faces with a negligible angle: finds a common point. */
static bool common_point(const Touch *t, double tilt, st_Vec3 *p)
{
    const sti_Core *x = t->x, *y = t->y;
    if (!(tilt <= NO_ANGLE)) return false;
    if (t->part_x.kind == PART_DISC && t->part_y.kind == PART_DISC) {
        const st_Vec3 between = sub(y->p, x->p), d = sub(between, scale(dot(between, t->m), t->m));
        const double length = norm(d), lo = fmax(-x->extent, length - y->extent);
        const double hi = fmin(x->extent, length + y->extent);
        *p = add(x->p, length > 0 ? scale(0.5 * (lo + hi) / length, d) : d);
        return lo <= hi;
    }
    *p = t->part_x.kind == PART_DISC ? x->p : y->p;
    return t->part_x.kind == PART_DISC || t->part_y.kind == PART_DISC;
}

/* x's face against the lowest part of y over it. If y has a face that is turned by less than TILT, the face with the
 * larger separation gives the normal, and in a tie that of the first core. */
static bool meet_face(Touch *t, bool x_is_first)
{
    t->m = face_normal(t->x, t->part_x);
    t->part_y = part_along(t->y, scale(-1, t->m));
    double separation = core_separation(t->x, t->y, t->m), tilt = INFINITY;
    if (t->part_y.kind >= PART_DISC) {
        const st_Vec3 m = scale(-1, face_normal(t->y, t->part_y));
        const double other = core_separation(t->x, t->y, m);
        tilt = norm(sub(m, t->m));
        if (x_is_first ? other > separation : other >= separation) {
            t->m = m, *t = seen_from_y(t);
            separation = other;
        }
    }
    const sti_Core *x = t->x;
    t->on_y = sti_support(t->y, scale(-1, t->m));
    t->on_x = sub(t->on_y, scale(separation, t->m));
    if (is_over_face(x, t->part_x, t->on_x)) return true;
    st_Vec3 p;
    if (!common_point(t, tilt, &p)) return false;
    t->on_x = add(p, scale(dot(t->m, sub(t->on_x, p)), t->m));
    t->on_y = add(t->on_x, scale(separation, t->m));
    return is_over_face(x, t->part_x, t->on_x) && is_over_face(t->y, t->part_y, t->on_y);
}

/* ---- the distance -------------------------------------------------------------------------------- */

/* For an edge or a rim: the unit vector along it, its curvature, and how far it continues to both sides. */
static st_Vec3 sharp_way(const sti_Core *core, Part part, st_Vec3 on, double *bend, double *goes_on)
{
    if (part.kind == PART_RIM) {
        *bend = 1 / core->extent, *goes_on = 0.3 * core->extent;
        return scale(1 / core->extent, cross(core->axis[2], sub(on, core->p)));
    }
    const Line line = parts_line_of(core, part);
    const double at = dot(line.u, sub(on, line.at));
    *bend = 0, *goes_on = fmin(at, line.hi - at);
    return line.u;
}

/* Two edges or rims that overlap: is no other way out shorter? */
static bool sharp_is_least(const Touch *t, double d)
{
    const PartKind x = t->part_x.kind, y = t->part_y.kind;
    if ((x != PART_EDGE && x != PART_RIM) || (y != PART_EDGE && y != PART_RIM)) return false;
    double bend_x, bend_y, on_x, on_y;
    const st_Vec3 way_x = sharp_way(t->x, t->part_x, t->on_x, &bend_x, &on_x);
    const st_Vec3 way_y = sharp_way(t->y, t->part_y, t->on_y, &bend_y, &on_y), across = cross(way_x, way_y);
    const double square = dot(across, across), rho = PATCH * d, reaches = fmin(on_x, on_y);
    if (!((bend_x + bend_y) * d <= FLAT * square) || !(rho * rho <= reaches * reaches * square)) return false;
    const double top = d * (1 - 0.5 * FLAT * PATCH * PATCH); /* the rim of the patch is at least this high */
    const st_Vec3 behind = sub(sti_support(t->x, scale(-1, t->m)), sti_support(t->y, t->m));
    const double W = -dot(t->m, behind), ell = norm(add(behind, scale(W, t->m))), wide = rho + ell, high = W + top;
    return W > 0 && rho * W - ell * top > ROOM * d * sqrt(wide * wide + high * high);
}

uint32_t sti_parts_along(const sti_Core *a, const sti_Core *b, st_Vec3 n)
{
    Part of_a = part_along(a, n), of_b = part_along(b, scale(-1, n));
    const Part anything = {PART_POINT, 0}; /* under a face: meet_face() finds the part itself */
    if (of_a.kind >= PART_DISC && of_b.kind < PART_DISC) of_b = anything;
    if (of_b.kind >= PART_DISC && of_a.kind < PART_DISC) of_a = anything;
    const uint32_t bits_a = pack_part(of_a), bits_b = pack_part(of_b);
    return bits_a != 0 && bits_b != 0 ? bits_a << PART_BITS | bits_b : 0;
}

bool sti_parts_distance(const sti_Core *a, const sti_Core *b, uint32_t parts, double beyond, sti_Distance *out)
{
    Touch t = {.x = a, .y = b, .size = a->size + b->size};
    t.part_x = unpack_part(parts >> PART_BITS), t.part_y = unpack_part(parts);
    if (t.part_x.kind == PART_NONE || t.part_y.kind == PART_NONE) return false;
    if (t.part_x.kind < t.part_y.kind) t = seen_from_y(&t);
    bool touch, clear = true;
    if (t.part_x.kind >= PART_DISC)
        touch = meet_face(&t, t.x == a);
    else if (t.part_y.kind == PART_POINT)
        touch = meet_point(&t);
    else if (t.part_y.kind == PART_RIM && t.part_x.kind == PART_RIM)
        touch = meet_rims(&t);
    else if (t.part_y.kind == PART_RIM)
        touch = meet_rim_on_line(&t);
    else if (t.part_x.kind == PART_RIM) { /* an edge of y under the rim */
        t = seen_from_y(&t);
        touch = meet_rim_on_line(&t);
    } else
        touch = meet_lines(&t);
    if (!touch) return false;
    if (t.part_x.kind < PART_DISC) clear = is_clear(t.x, t.part_x, t.m) && is_clear(t.y, t.part_y, scale(-1, t.m));
    if (!clear) return false;
    const double gap = core_separation(t.x, t.y, t.m);
    const st_Vec3 miss = sub(sub(t.on_y, t.on_x), scale(gap, t.m));
    if (!(dot(miss, miss) <= MATCH * MATCH * t.size * t.size)) return false;
    if (gap < 0) {
        const double ball =
            fmax(ball_inside(t.x, t.part_x, t.on_x, t.m), ball_inside(t.y, t.part_y, t.on_y, scale(-1, t.m)));
        if (!(ball > -2 * gap) && !sharp_is_least(&t, -gap)) return false;
    }
    const bool forth = t.x == a;
    *out = (sti_Distance){.gap = gap,
                          .normal = forth ? t.m : scale(-1, t.m),
                          .a = forth ? t.on_x : t.on_y,
                          .b = forth ? t.on_y : t.on_x,
                          .beyond = core_is_beyond(gap, beyond, t.size),
                          .features = parts};
    return true;
}
