/* collide/narrow/polish.c -- improves the signed distance to the last digits if a core is round.
 *
 * The gap is the largest separation over all directions, f(n) = min over b of n.b - max over a of n.a. GJK and the
 * expanding polytope end near the best n; since f is flat there, the gap is then accurate but points and normal have
 * only half the digits. So the condition of the maximum is solved instead: the parts that touch (a vertex, a point of
 * an edge, of a rim, of a cylinder's or cone's straight line, of an ellipsoid) are guessed, and
 *
 *     b - a  is along n,      a = a(s),   n . da/ds = 0   if a is on an edge, a line or a rim, likewise b = b(t),
 *
 * is solved for n and the parameters s, t by Newton's method (a cylinder's line also moves with n). The guess was
 * right if the parameters are on the parts and f is not lower. Faces and discs have a fixed normal, which is tried
 * directly.
 */
#include "collide/narrow/manifold.h"

#define NEAR       0.02 /* an edge or line is a guess if it is this close to being perpendicular to n [rad] */
#define MAX_PARTS  8    /* guesses for one core                                                                */
#define MAX_ROUNDS 12
#define MAX_TURN   0.3   /* largest rotation of n in one Newton step [rad] */
#define SOLVED     5e-10 /* limit of b - a perpendicular to n, relative to the sizes */
#define ROUNDING   1e-13 /* limit of the loss of f, likewise */

static bool is_better(const sti_Core *a, const sti_Core *b, st_Vec3 n, sti_Distance *d)
{
    double length = norm(n);
    if (!(length > 0)) return false;
    n = scale(1 / length, n);
    double gap = core_separation(a, b, n);
    if (!(gap > d->gap)) return false;
    d->gap = gap, d->normal = n;
    return true;
}

/* ---- parts --------------------------------------------------------------------------------------- */

typedef enum PartKind { PART_VERTEX, PART_EDGE, PART_RIM, PART_RULING, PART_SMOOTH } PartKind;

typedef struct Part {
    PartKind kind;
    st_Vec3 p, q; /* a vertex; the ends of an edge                                                 */
    double z;     /* position of the rim along the axis */
} Part;

typedef struct Parts {
    int n;
    Part part[MAX_PARTS];
} Parts;

static void polish_guess(Parts *parts, Part part)
{
    if (parts->n < MAX_PARTS) parts->part[parts->n++] = part;
}

static bool has_place(const Part *part)
{
    return part->kind == PART_EDGE || part->kind == PART_RULING || part->kind == PART_RIM;
}

/* The ends of a straight part for the outward direction m; equal if it is a point. */
static void ends_of(const sti_Core *core, const Part *part, st_Vec3 m, st_Vec3 end[2])
{
    end[0] = part->p, end[1] = part->q; /* a vertex, an edge: fixed */
    switch (part->kind) {
    case PART_VERTEX:
    case PART_EDGE:
    case PART_RIM: /* not straight */
        break;
    case PART_RULING:
        end[0] = core_rim_point(core, m, core->lo);
        end[1] = core->kind == STI_CORE_CONE ? add(core->p, scale(core->hi, core->axis[2]))
                                             : core_rim_point(core, m, core->hi);
        break;
    case PART_SMOOTH:
        end[0] = end[1] = sti_support(core, m);
        break;
    }
}

/* The point at a parameter of a part, and the tangent there: s from end to end, or the angle around a rim. The
 * tangent of a point is 0. */
static st_Vec3 point_at(const sti_Core *core, const Part *part, st_Vec3 m, double place, st_Vec3 *way)
{
    if (part->kind == PART_RIM) {
        double c = core->extent * cos(place), s = core->extent * sin(place);
        *way = core_to_world(core, vec3(-s, c, 0));
        return add(core->p, core_to_world(core, vec3(c, s, part->z)));
    }
    st_Vec3 end[2];
    ends_of(core, part, m, end);
    *way = sub(end[1], end[0]);
    return add(end[0], scale(place, *way));
}

/* The initial parameter: that of p, a point known to be near; around a rim, the direction of m, if it has one. */
static double place_near(const sti_Core *core, const Part *part, st_Vec3 m, st_Vec3 p)
{
    st_Vec3 end[2];
    if (part->kind == PART_RIM) {
        double x = dot(core->axis[0], m), y = dot(core->axis[1], m);
        st_Vec3 out = sub(p, core->p);
        if (hypot(x, y) < 1e-3) x = dot(core->axis[0], out), y = dot(core->axis[1], out);
        return atan2(y, x);
    }
    if (!has_place(part)) return 0;
    ends_of(core, part, m, end);
    st_Vec3 way = sub(end[1], end[0]);
    return fmin(fmax(dot(way, sub(p, end[0])) / dot(way, way), 0), 1);
}

static bool same_point(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* The parts that may be farthest along m, the most likely first. */
static void guess_parts(const sti_Core *core, st_Vec3 m, Parts *parts)
{
    parts->n = 0;
    if (core_is_polytope(core)) {
        /* The farthest vertex, and the edges from it that are perpendicular to m, with their other ends. */
        st_Vec3 top = sti_support(core, m), beside[2];
        polish_guess(parts, (Part){.kind = PART_VERTEX, .p = top, .q = top});
        for (int k = 0; k < sti_core_edge_count(core); k++) {
            Part edge = {.kind = PART_EDGE};
            st_Vec3 end[2];
            sti_core_edge(core, k, end, beside);
            if (!same_point(end[0], top) && !same_point(end[1], top)) continue;
            edge.p = end[0], edge.q = end[1];
            if (!(fabs(dot(m, sub(edge.q, edge.p))) <= NEAR * norm(sub(edge.q, edge.p)))) continue;
            st_Vec3 other = same_point(edge.p, top) ? edge.q : edge.p;
            polish_guess(parts, edge);
            polish_guess(parts, (Part){.kind = PART_VERTEX, .p = other, .q = other});
        }
    } else if (core->kind == STI_CORE_CYLINDER) {
        double rise = dot(core->axis[2], m);
        polish_guess(parts, (Part){.kind = PART_RIM, .z = rise >= 0 ? core->hi : core->lo});
        if (fabs(rise) > NEAR) return;
        polish_guess(parts, (Part){.kind = PART_RULING});
        polish_guess(parts, (Part){.kind = PART_RIM, .z = rise >= 0 ? core->lo : core->hi});
    } else if (core->kind == STI_CORE_CONE) {
        st_Vec3 apex = add(core->p, scale(core->hi, core->axis[2])), rim = core_rim_point(core, m, core->lo);
        Part guesses[2] = {{.kind = PART_RIM, .z = core->lo}, {.kind = PART_VERTEX, .p = apex, .q = apex}};
        double rise = dot(m, sub(apex, rim));
        polish_guess(parts, guesses[rise > 0]);
        if (fabs(rise) > NEAR * norm(sub(apex, rim))) return;
        polish_guess(parts, (Part){.kind = PART_RULING});
        polish_guess(parts, guesses[!(rise > 0)]);
    } else {
        polish_guess(parts, (Part){.kind = PART_SMOOTH});
    }
}

/* ---- Newton -------------------------------------------------------------------------------------- */

typedef struct Meeting {
    const sti_Core *core[2];
    Part part[2];
    st_Vec3 n, u, w; /* n turns by x[0] u + x[1] w                                                 */
    double size;
} Meeting;

static st_Vec3 polish_turned(const Meeting *meet, const double x[4])
{
    st_Vec3 n = add(meet->n, add(scale(x[0], meet->u), scale(x[1], meet->w)));
    return scale(1 / norm(n), n);
}

/* r[0], r[1]: b - a perpendicular to n; r[2], r[3]: tangents of the parts along n; the parameter of a point is 0. */
static void residual(const Meeting *meet, const double x[4], double r[4], st_Vec3 on[2])
{
    st_Vec3 n = polish_turned(meet, x);
    for (int side = 0; side < 2; side++) {
        st_Vec3 way, m = side == 0 ? n : scale(-1, n);
        on[side] = point_at(meet->core[side], &meet->part[side], m, x[2 + side], &way);
        r[2 + side] = meet->size * (has_place(&meet->part[side]) ? dot(n, way) / norm(way) : x[2 + side]);
    }
    st_Vec3 between = sub(on[1], on[0]), across = sub(between, scale(dot(n, between), n));
    r[0] = dot(meet->u, across), r[1] = dot(meet->w, across);
}

/* One step from x, with derivatives by differences; n, u, w follow, so that x[0] = x[1] = 0 again. */
static void newton_step(Meeting *meet, double x[4], const double r[4])
{
    const double e = 1e-6; /* nearly parallel lines need J to 1e-10; Newton does not need its last digits */
    double J[4][5], step[4];
    for (int j = 0; j < 4; j++) {
        double near[4] = {x[0], x[1], x[2], x[3]}, r_near[4];
        st_Vec3 on[2];
        near[j] += e;
        residual(meet, near, r_near, on);
        for (int i = 0; i < 4; i++)
            J[i][j] = (r_near[i] - r[i]) / e;
    }
    for (int i = 0; i < 4; i++)
        J[i][4] = r[i];

    /* J x = -r by elimination with full pivoting; unknowns beyond the rank stay unchanged. */
    int column[4] = {0, 1, 2, 3}, rank = 0;
    double largest = 0;
    for (; rank < 4; rank++) {
        int row = rank, at = rank;
        for (int i = rank; i < 4; i++)
            for (int j = rank; j < 4; j++)
                if (fabs(J[i][column[j]]) > fabs(J[row][column[at]])) row = i, at = j;
        double pivot = fabs(J[row][column[at]]);
        largest = fmax(largest, pivot);
        if (!(pivot > 1e-10 * largest)) break;
        int swap = column[rank];
        column[rank] = column[at], column[at] = swap;
        for (int j = 0; j < 5; j++) {
            double keep = J[rank][j];
            J[rank][j] = J[row][j], J[row][j] = keep;
        }
        for (int i = rank + 1; i < 4; i++) {
            double factor = J[i][column[rank]] / J[rank][column[rank]];
            for (int j = 0; j < 5; j++)
                J[i][j] -= factor * J[rank][j];
        }
    }
    for (int k = 0; k < 4; k++)
        step[k] = 0;
    for (int k = rank - 1; k >= 0; k--) {
        double sum = -J[k][4];
        for (int j = k + 1; j < rank; j++)
            sum -= J[k][column[j]] * step[column[j]];
        step[column[k]] = sum / J[k][column[k]];
    }

    double turn = hypot(step[0], step[1]), shorter = turn > MAX_TURN ? MAX_TURN / turn : 1;
    for (int k = 0; k < 4; k++)
        x[k] += shorter * step[k];
    meet->n = polish_turned(meet, x);
    meet->u = orthogonal(meet->n), meet->w = cross(meet->n, meet->u);
    x[0] = x[1] = 0;
}

/* Do the two parts touch, at parameters on them, without loss of f? */
static bool try_parts(const sti_Core *a, const sti_Core *b, const Part *on_a, const Part *on_b, sti_Distance *d)
{
    Meeting meet = {.core = {a, b}, .part = {*on_a, *on_b}, .n = d->normal, .size = a->size + b->size};
    meet.u = orthogonal(meet.n), meet.w = cross(meet.n, meet.u);
    double x[4] = {0, 0, place_near(a, on_a, meet.n, d->a), place_near(b, on_b, scale(-1, meet.n), d->b)}, r[4];
    sti_Distance best = {.gap = d->gap};
    double least = INFINITY, places[2] = {0, 0};
    for (int round = 0; round < MAX_ROUNDS; round++) {
        st_Vec3 on[2];
        residual(&meet, x, r, on);
        double miss = fmax(fmax(fabs(r[0]), fabs(r[1])), fmax(fabs(r[2]), fabs(r[3])));
        if (!(miss < least)) break; /* limited by rounding */
        bool slow = least <= SOLVED * meet.size && miss > 0.1 * least;
        least = miss;
        best.normal = meet.n, best.a = on[0], best.b = on[1];
        places[0] = x[2], places[1] = x[3];
        if (slow || miss == 0) break;
        newton_step(&meet, x, r);
    }
    if (!(least <= SOLVED * meet.size)) return false;
    for (int side = 0; side < 2; side++)
        if (meet.part[side].kind != PART_RIM && !(places[side] >= -SOLVED && places[side] <= 1 + SOLVED)) return false;
    double gap = core_separation(a, b, best.normal), apart = dot(best.normal, sub(best.b, best.a));
    /* f is not lower, and no other part is farther out than the two */
    if (!(gap >= d->gap - ROUNDING * meet.size) || !(fabs(apart - gap) <= SOLVED * meet.size)) return false;
    d->gap = gap, d->normal = best.normal, d->a = best.a, d->b = best.b;
    return true;
}

/* ---- improving the direction ---------------------------------------------------------------------- */

/* Gradient of f on the sphere, in the tangents u and w. */
static void slope(const sti_Core *a, const sti_Core *b, st_Vec3 n, st_Vec3 u, st_Vec3 w, double out[2])
{
    st_Vec3 m = scale(1 / norm(n), n), at = sub(sti_support(b, scale(-1, m)), sti_support(a, m));
    st_Vec3 across = sub(at, scale(dot(m, at), m));
    out[0] = dot(u, across), out[1] = dot(w, across);
}

/* Newton's method on f; a short step uphill if that finds no maximum. */
static void climb(const sti_Core *a, const sti_Core *b, sti_Distance *d)
{
    const double e = 1e-6;
    double size = a->size + b->size;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        st_Vec3 n = d->normal, u = orthogonal(n), w = cross(n, u);
        double g[2], gu[2], gw[2];
        slope(a, b, n, u, w, g);
        slope(a, b, add(n, scale(e, u)), u, w, gu);
        slope(a, b, add(n, scale(e, w)), u, w, gw);
        double H[4] = {(gu[0] - g[0]) / e, (gw[0] - g[0]) / e, (gu[1] - g[1]) / e, (gw[1] - g[1]) / e};
        double det = H[0] * H[3] - H[1] * H[2];
        bool better = false;
        if (det > 0 && H[0] < 0) {
            double x = -(H[3] * g[0] - H[1] * g[1]) / det, y = -(H[0] * g[1] - H[2] * g[0]) / det;
            better = is_better(a, b, add(n, add(scale(x, u), scale(y, w))), d);
        }
        for (double step = 1 / size; !better && step > 1e-5 / size; step *= 0.2)
            better = is_better(a, b, add(n, add(scale(step * g[0], u), scale(step * g[1], w))), d);
        if (!better) return;
    }
}

/* Directions for which a core has a whole face, disc or line at its surface. `sign` 1: core is a, with surface
 * towards n; -1: core is b. */
static void snap(const sti_Core *a, const sti_Core *b, const sti_Core *core, double sign, sti_Distance *d)
{
    st_Vec3 m = scale(sign, d->normal), z = core->axis[2];
    for (int k = 0; core_is_polytope(core) && k < sti_core_face_count(core); k++) {
        st_Vec3 normal, on;
        sti_core_face(core, k, &normal, &on);
        if (dot(normal, m) > 1 - NEAR) (void)is_better(a, b, scale(sign, normal), d);
    }
    if (core->kind != STI_CORE_CYLINDER && core->kind != STI_CORE_CONE) return;
    st_Vec3 across = sub(m, scale(dot(m, z), z));
    double length = norm(across), rise = core->kind == STI_CORE_CONE ? core->extent / (core->hi - core->lo) : 0;
    if (length > 0) (void)is_better(a, b, scale(sign, add(scale(1 / length, across), scale(rise, z))), d);
    (void)is_better(a, b, z, d);
    (void)is_better(a, b, scale(-1, z), d);
}

/* ---- points on a disc ---------------------------------------------------------------------------- */

/* Is the part of the core farthest along m a whole disc? */
static bool is_disc(const sti_Core *core, st_Vec3 m, double slack)
{
    bool cone = core->kind == STI_CORE_CONE;
    if (!cone && core->kind != STI_CORE_CYLINDER) return false;
    return norm(cross(m, core->axis[2])) * core->extent <= slack && !(cone && dot(m, core->axis[2]) > 0);
}

/* The point nearest to c among all points farthest along m; c is moved into their plane. */
static st_Vec3 nearest_of_farthest(const sti_Core *core, st_Vec3 m, st_Vec3 c, double slack)
{
    sti_Feature feature;
    st_Vec3 top = sti_support(core, m), farthest[STI_MAX_CORNERS];
    int n = 0;
    c = add(c, scale(dot(m, sub(top, c)), m));
    if (is_disc(core, m, slack)) {
        st_Vec3 middle = add(core->p, scale(dot(m, sub(top, core->p)), m)), d = sub(c, middle);
        double away = norm(d);
        return away > core->extent ? add(middle, scale(core->extent / away, d)) : c;
    }
    sti_core_feature(core, m, &feature);
    for (int k = 0; k < feature.n; k++)
        if (dot(m, sub(feature.point[k], top)) >= -slack) farthest[n++] = feature.point[k];
    if (n == 0) return top;
    /* The point of a loop of corners (or of an edge, or a corner) that is nearest to c, all in a plane across m. */
    st_Vec3 best = farthest[0];
    bool inside = n > 2;
    for (int k = 0; k < n; k++) {
        st_Vec3 p = farthest[k], way = sub(farthest[(k + 1) % n], p);
        double square = dot(way, way), s = square > 0 ? fmin(fmax(dot(way, sub(c, p)) / square, 0), 1) : 0;
        st_Vec3 q = add(p, scale(s, way));
        if (dot(cross(m, way), sub(c, p)) < 0) inside = false;
        if (norm(sub(q, c)) < norm(sub(best, c))) best = q;
    }
    return inside ? c : best;
}

/* The normal is that of a disc or a face: the contact point is one of the other core's nearest points. Over a disc
 * it is the one nearest to its middle; over a face the one nearest to the points found before. */
static void points_on_flat(const sti_Core *a, const sti_Core *b, sti_Distance *d)
{
    double slack = SOLVED * (a->size + b->size);
    for (int side = 0; side < 2; side++) {
        const sti_Core *flat = side == 0 ? a : b, *other = side == 0 ? b : a;
        st_Vec3 m = side == 0 ? d->normal : scale(-1, d->normal), p = side == 0 ? d->a : d->b;
        const bool disc = is_disc(flat, m, slack);
        bool face = false;
        for (int k = 0; !disc && !face && core_is_polytope(flat) && k < sti_core_face_count(flat); k++) {
            st_Vec3 normal, on;
            sti_core_face(flat, k, &normal, &on);
            face = norm(sub(normal, m)) * flat->size <= slack;
        }
        if (!disc && !face) continue;
        p = nearest_of_farthest(other, scale(-1, m), disc ? flat->p : p, slack);
        d->b = side == 0 ? p : add(p, scale(d->gap, d->normal));
        d->a = sub(d->b, scale(d->gap, d->normal));
        return;
    }
}

void sti_polish(const sti_Core *a, const sti_Core *b, sti_Distance *d)
{
    d->gap = core_separation(a, b, d->normal);
    for (int round = 0; round < 3; round++) {
        snap(a, b, a, 1, d);
        snap(a, b, b, -1, d);
        Parts on_a, on_b;
        guess_parts(a, d->normal, &on_a);
        guess_parts(b, scale(-1, d->normal), &on_b);
        for (int i = 0; i < on_a.n; i++)
            for (int j = 0; j < on_b.n; j++)
                if (try_parts(a, b, &on_a.part[i], &on_b.part[j], d)) return;
        climb(a, b, d);
    }
    st_Vec3 between = sub(d->b, d->a);
    if (norm(sub(between, scale(d->gap, d->normal))) > SOLVED * (a->size + b->size)) points_on_flat(a, b, d);
}
