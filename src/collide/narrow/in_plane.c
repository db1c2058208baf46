/* collide/narrow/in_plane.c -- signed distance of two convex cores that move in a plane.
 *
 * With e the axis across the plane, only directions n with n.e = 0 count,
 *
 *     gap = max over n of ( min over b of n.b - max over a of n.a ) = - min over n of h(n),
 *     h(n) = max of n.w over w in A - B:
 *
 * that is the signed distance of the shadows of A and B in the plane, and -h is minus the support function of their
 * difference C. A polygon inside C grows from its points w_k. Its own support function is below h everywhere, and is
 * least across one of its edges (or, the origin outside, along - w_k of a corner). The support point of C in that
 * direction either proves the result, or becomes a new corner. Edges of polytopes are found in a finite number of
 * rounds; on smooth arcs each round reduces the error to a quarter.
 */
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

#define MAX_CORNERS 128
#define ACCURACY    1e-13 /* relative to the sizes: the accuracy of the sums in h */
#define TURN        0.1   /* more than the angle between the corners [rad] */
#define ROUNDS      50

/* ---- in the plane -------------------------------------------------------------------------------- */

typedef struct Flat {
    double x, y;
} Flat;

static Flat to_plane(st_Vec3 a, int axis)
{
    const double p[3] = {a.x, a.y, a.z};
    return (Flat){p[(axis + 1) % 3], p[(axis + 2) % 3]};
}

static st_Vec3 from_plane(Flat a, int axis)
{
    return add(scale(a.x, vec3_axis((axis + 1) % 3)), scale(a.y, vec3_axis((axis + 2) % 3)));
}

static double planar_flat_dot(Flat a, Flat b)
{
    return a.x * b.x + a.y * b.y;
}

/* ---- the polygon in A - B ------------------------------------------------------------------------ */

typedef struct Corner {
    Flat a, b, w; /* w = a - b */
} Corner;

typedef struct Polygon {
    const sti_Core *a, *b;
    int axis, n;
    Corner corner[MAX_CORNERS]; /* counterclockwise */
} Polygon;

static Corner support(const Polygon *p, Flat n)
{
    const st_Vec3 d = from_plane(n, p->axis);
    Corner c = {.a = to_plane(sti_support(p->a, d), p->axis), .b = to_plane(sti_support(p->b, scale(-1, d)), p->axis)};
    c.w = (Flat){c.a.x - c.b.x, c.a.y - c.b.y};
    return c;
}

/* A direction of least height of the polygon: across the edge after corner k, or at corner k alone. */
typedef struct Way {
    Flat n;
    double height;
    int k;
    bool edge;
} Way;

/* Corners that coincide up to rounding may be in any order, so all of them are checked; few directions get that far. */
static void planar_try_way(const Polygon *p, Flat n, int k, bool edge, Way *best)
{
    const double length = hypot(n.x, n.y);
    if (!(length > 0)) return;
    n.x /= length, n.y /= length;
    double height = -INFINITY;
    for (int j = 0; j < p->n && height < best->height; j++)
        height = fmax(height, planar_flat_dot(n, p->corner[(k + j) % p->n].w));
    if (height < best->height) *best = (Way){n, height, k, edge};
}

static Way lowest_way(const Polygon *p)
{
    Way best = {.n = {1, 0}, .height = INFINITY};
    for (int k = 0; k < p->n; k++) {
        const Flat w = p->corner[k].w, next = p->corner[(k + 1) % p->n].w;
        planar_try_way(p, (Flat){next.y - w.y, w.x - next.x}, k, true, &best);
        planar_try_way(p, (Flat){-w.x, -w.y}, k, false, &best);
    }
    if (!(best.height < INFINITY)) best.height = 0; /* a point at the origin: any direction is as good */
    return best;
}

static double support_height(const Polygon *p, Flat n)
{
    return planar_flat_dot(n, support(p, n).w);
}

static Flat planar_turned(Flat n, double angle)
{
    const double c = cos(angle), s = sin(angle);
    return (Flat){c * n.x - s * n.y, s * n.x + c * n.y};
}

/* The result: along n, and no point of C is lower than `least`. */
static void planar_finish(const Polygon *p, Flat n, double least, sti_Distance *out)
{
    const Corner c = support(p, n);
    const double h = planar_flat_dot(n, c.w);
    *out = (sti_Distance){.gap = -h,
                          .normal = from_plane(n, p->axis),
                          .a = from_plane(c.a, p->axis),
                          .b = from_plane(c.b, p->axis),
                          .error = fmax(h - least, 0),
                          .flat = true,
                          .rounds = p->n};
}

static void planar_search(const sti_Core *a, const sti_Core *b, int axis, sti_Distance *out)
{
    const double accuracy = ACCURACY * (a->size + b->size + norm(sub(b->p, a->p)));
    Polygon p = {.a = a, .b = b, .axis = axis};
    for (int k = 0; k < 4; k++)
        p.corner[p.n++] = support(&p, (Flat){k % 2 == 0 ? 1 - k : 0, k % 2 == 1 ? 2 - k : 0});
    Flat best = {1, 0};
    double lowest = INFINITY;
    for (;;) {
        const Way way = lowest_way(&p);
        const Corner beyond = support(&p, way.n);
        const double h = planar_flat_dot(way.n, beyond.w);
        if (h < lowest) lowest = h, best = way.n;
        if (h - way.height <= accuracy) {
            planar_finish(&p, way.n, way.height, out);

            /* The points of the cores that correspond to the foot of the origin. */
            const Corner *c = &p.corner[way.k], *next = &p.corner[(way.k + 1) % p.n];
            const Flat edge = {next->w.x - c->w.x, next->w.y - c->w.y};
            const double square = planar_flat_dot(edge, edge);
            double s = way.edge && square > 0 ? -planar_flat_dot(c->w, edge) / square : 0;
            s = fmin(fmax(s, 0), 1);
            out->a = from_plane((Flat){c->a.x + s * (next->a.x - c->a.x), c->a.y + s * (next->a.y - c->a.y)}, p.axis);
            out->b = from_plane((Flat){c->b.x + s * (next->b.x - c->b.x), c->b.y + s * (next->b.y - c->b.y)}, p.axis);

            return;
        }
        if (p.n == MAX_CORNERS) {
            /* Near the middle of a round shape all directions are nearly as good, and corners run out before one is
             * certain: search the least height near the best one by ternary search. */
            double lo = -TURN, hi = TURN;
            for (int k = 0; k < ROUNDS; k++) {
                const double third = (hi - lo) / 3;
                if (support_height(&p, planar_turned(best, lo + third)) >
                    support_height(&p, planar_turned(best, hi - third)))
                    lo += third;
                else
                    hi -= third;
            }
            const Flat better = planar_turned(best, 0.5 * (lo + hi));
            planar_finish(&p, support_height(&p, better) < support_height(&p, best) ? better : best, way.height, out);

            return;
        }
        const Flat w = p.corner[way.k].w, left = {-way.n.y, way.n.x};
        const bool before = !way.edge && planar_flat_dot(left, beyond.w) < planar_flat_dot(left, w);
        int at = before ? way.k : way.k + 1;
        for (int k = p.n++; k > at; k--)
            p.corner[k] = p.corner[k - 1];
        p.corner[at] = beyond;
    }
}

/* ---- for the general pair ------------------------------------------------------------------------ */

/* If the best of all directions lies in the plane, it is the best of those in the plane. */
void sti_distance_in_plane(const sti_Core *a, const sti_Core *b, int axis, double beyond, sti_Distance *d)
{
    const st_Vec3 e = vec3_axis(axis), flat = sub(d->normal, scale(dot(d->normal, e), e));
    const double length = norm(flat);
    if (sti_is_in_plane(d->normal, axis) && !(d->error > 1e-10 * (a->size + b->size))) {
        d->normal = scale(1 / length, flat);
        return;
    }
    if (d->beyond && length > 0) {
        const st_Vec3 n = scale(1 / length, flat);
        d->gap = core_separation(a, b, n);
        d->normal = n;
        if (core_is_beyond(d->gap, beyond, a->size + b->size)) return;
    }
    /* A direction in the plane that is the best one, but not proved to be: keeps its own points and features.
     * Otherwise the contact would change whenever GJK ends slightly early. */
    const sti_Distance given = *d;
    planar_search(a, b, axis, d);
    if (sti_is_in_plane(given.normal, axis)) {
        const st_Vec3 n = scale(1 / length, flat);
        const double along = core_separation(a, b, n);
        if (along >= d->gap - 1e-12 * (a->size + b->size)) {
            const double error = d->error;
            *d = given;
            d->gap = along, d->normal = n, d->error = error;
        }
    }
    d->beyond = core_is_beyond(d->gap, beyond, a->size + b->size);
}

/* ---- for the patch ------------------------------------------------------------------------------- */

/* Edges whose normals differ by less than this touch like faces. */
#define SIDE 0.05

/* The side of a polytope's shadow that faces n, as a face perpendicular to the plane. */
void sti_shadow_feature(const sti_Core *core, st_Vec3 n, int axis, sti_Feature *out)
{
    const st_Vec3 e = vec3_axis(axis), left = cross(e, n);
    st_Vec3 end[2];
    for (int k = 0; k < 2; k++) {
        const st_Vec3 p = sti_support(core, add(n, scale(k == 0 ? -SIDE : SIDE, left)));
        end[k] = sub(p, scale(dot(e, p), e));
    }
    const st_Vec3 way = sub(end[1], end[0]), across = scale(core->size, e);
    const double length = norm(way);
    *out = (sti_Feature){.n = 1, .point = {end[0]}};
    if (!core_is_polytope(core) || !(length > 1e-9 * core->size)) return;
    out->n = 4;
    out->point[0] = sub(end[0], across), out->point[1] = sub(end[1], across);
    out->point[2] = add(end[1], across), out->point[3] = add(end[0], across);
    for (int k = 0; k < 4; k++)
        out->id[k] = k;
    out->normal = scale(1 / length, cross(way, e));
}
