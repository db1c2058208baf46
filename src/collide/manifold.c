/* collide/manifold.c -- from the nearest points of two convex cores to the patch on which they meet.
 *
 *        incident  ____________            The feature of one core that faces the other is cut by the
 *                 /           /|            side planes of the other's; what is left, nearer than the
 *        --------x-----------x------        margin, are the points. The better aligned face is the
 *        | reference face     |             reference: its normal is fixed in its body, so gaps along it
 *                                           are smooth, and each point is a corner or a cut of the other.
 *
 * The exact nearest pair is a point of its own where the patch does not reach down to it (an edge across an
 * edge, a rim between two of its points). No gap is below the pair's signed distance.
 */
#include "collide/manifold.h"

#define PARALLEL        1e-9
#define SAME_NORMAL     1e-9
#define NEARLY_PARALLEL 0.05
#define MET             1e-12 /* of the sizes: a point of the patch that is no higher than this over the gap is at the gap */

st_Status sti_points_add(sti_Points *points, sti_ContactPoint point, st_Error *err)
{
    STI_TRY(STI_GROW(&points->allocator, points->point, points->capacity, points->n + 1, err));
    points->point[points->n++] = point;
    return ST_OK;
}

void sti_points_free(sti_Points *points)
{
    STI_RELEASE(&points->allocator, points->point, points->capacity);
    STI_RELEASE(&points->allocator, points->list, points->list_capacity);
    points->n = points->n_list = 0;
}

/* ---- clipping ------------------------------------------------------------------------------------ */

/* Corner ids are below 512; a cut's id is that of the incident edge with the reference edge. */
static uint32_t corner_id(int vertex)
{
    return (uint32_t)(vertex % 512) << 9;
}
static uint32_t cut_id(int edge, int vertex)
{
    return (uint32_t)(vertex % 512) << 9 | (uint32_t)(edge % 511 + 1);
}

static void keep(sti_Clipped *out, st_Vec3 p, uint32_t id, int cut)
{
    if (out->n == 2 * STI_MAX_CORNERS + 4) return; /* cannot be: a plane adds at most one corner */
    out->point[out->n] = p, out->id[out->n] = id, out->cut[out->n] = cut;
    out->n++;
}

/* Keep what is behind the plane through `on` with normal `outward` (Sutherland & Hodgman). false: that is all of it,
 * and `out` is not written.                                                                        */
static bool cut_by_plane(const sti_Clipped *in, st_Vec3 on, st_Vec3 outward, int edge, double slack, sti_Clipped *out)
{
    double height[2 * STI_MAX_CORNERS + 4];
    int n = in->n, beyond = 0;
    for (int k = 0; k < n; k++) {
        height[k] = dot(outward, sub(in->point[k], on));
        beyond += height[k] > slack;
    }
    if (beyond == 0) return false;
    out->n = 0;
    for (int k = 0; k < n; k++) {
        int next = k + 1 < n ? k + 1 : 0;
        double here = height[k], there = height[next];
        if (here <= slack) keep(out, in->point[k], in->id[k], in->cut[k]);
        if (n <= 2 && next == 0) break; /* a segment is not closed */
        if ((here <= slack) == (there <= slack)) continue;
        double s = fmin(fmax(here / (here - there), 0), 1); /* both may be within the slack */
        st_Vec3 p = add(in->point[k], scale(s, sub(in->point[next], in->point[k])));
        keep(out, p, cut_id(edge, (int)(in->id[here <= slack ? next : k] >> 9)), edge);
    }
    return true;
}

void sti_clip(const sti_Feature *reference, const sti_Feature *incident, sti_Clipped *out)
{
    sti_Clipped other;
    sti_Clipped *from = out, *to = &other;
    double square = 0;
    out->n = 0;
    for (int k = 0; k < incident->n; k++)
        keep(out, incident->point[k], corner_id(incident->id[k]), -1);
    for (int k = 1; k < reference->n; k++) {
        st_Vec3 d = sub(reference->point[k], reference->point[0]);
        if (dot(d, d) > square) square = dot(d, d);
    }
    double slack = 3e-10 * sqrt(square);
    for (int k = 0; k < reference->n && from->n > 0; k++) {
        st_Vec3 way = sub(reference->point[k + 1 < reference->n ? k + 1 : 0], reference->point[k]);
        st_Vec3 outward = cross(way, reference->normal);
        double length = norm(outward);
        if (!(length > 0)) continue;
        /* a corner that stands on the side plane up to rounding is inside: no cut beside it */
        if (!cut_by_plane(from, reference->point[k], scale(1 / length, outward), k, slack, to)) continue;
        sti_Clipped *swap = from;
        from = to, to = swap;
    }
    if (from == out) return;
    out->n = 0;
    for (int k = 0; k < from->n; k++)
        keep(out, from->point[k], from->id[k], from->cut[k]);
}

/* ---- patches ------------------------------------------------------------------------------------- */

typedef struct Patch {
    const sti_Core *a, *b;
    const sti_Distance *distance;
    st_Vec3 origin;
    const sti_Collide *how;
    sti_Points *out;
    int first;
    double least; /* of the gaps so far along the pair's own normal                                */
    st_Error *err;
} Patch;

static st_Status add_point(Patch *patch, double core_gap, st_Vec3 core_point, st_Vec3 n, double shift, uint32_t feature)
{
    double radii = patch->a->radius + patch->b->radius;
    double gap = (core_gap > patch->distance->gap ? core_gap : patch->distance->gap) - radii;
    st_Vec3 turn = sub(n, patch->distance->normal);
    if (dot(turn, turn) <= SAME_NORMAL * SAME_NORMAL && gap < patch->least) patch->least = gap;
    if (!(gap < patch->how->margin)) return ST_OK;
    st_Vec3 p = add(patch->origin, add(core_point, scale(shift, n)));
    return sti_points_add(patch->out, (sti_ContactPoint){gap, p, n, feature}, patch->err);
}

/* One of the two is a face: points of the other over it. `sign` -1: the face is b's. The line of a round core is the
 * one lowest over the face, whose height does not change with its place around the rim; that of the pair's own
 * normal would have a gap whose rate is not that of the point.                                    */
static st_Status face_patch(Patch *patch, const sti_Feature *face, sti_Feature *other, double sign)
{
    const sti_Core *core = sign > 0 ? patch->b : patch->a;
    sti_Clipped clipped;
    if (!core_is_polytope(core)) sti_core_feature(core, scale(-1, face->normal), other);
    sti_clip(face, other, &clipped);
    uint32_t kind = sign > 0 ? 1u << 18 : 2u << 18;
    double shift = sign > 0 ? -patch->b->radius : patch->a->radius;
    for (int k = 0; k < clipped.n; k++) {
        double gap = dot(face->normal, sub(clipped.point[k], face->point[0]));
        STI_TRY(add_point(patch, gap, clipped.point[k], scale(sign, face->normal), shift, kind | clipped.id[k]));
    }
    return ST_OK;
}

/* Where point p stands along the segment a: 0 .. 1 between its ends. */
static double station(const sti_Feature *a, st_Vec3 p)
{
    st_Vec3 u = sub(a->point[1], a->point[0]);
    return dot(u, sub(p, a->point[0])) / dot(u, u);
}

static st_Vec3 at_station(const sti_Feature *a, double s)
{
    return add(a->point[0], scale(s, sub(a->point[1], a->point[0])));
}

/* Two edges side by side: the ends of their common part. Sharp edges must be parallel (else they touch in one
 * point); around round ones each end is a ball against the other's side, with a normal of its own. */
static st_Status edge_patch(Patch *patch, const sti_Feature *a, const sti_Feature *b)
{
    st_Vec3 u = sub(a->point[1], a->point[0]), v = sub(b->point[1], b->point[0]), n = patch->distance->normal;
    double sine = norm(cross(u, v)) / sqrt(dot(u, u) * dot(v, v)), radii = patch->a->radius + patch->b->radius;
    if (!(sine <= (radii > 0 ? NEARLY_PARALLEL : PARALLEL))) return ST_OK;
    double s0 = station(a, b->point[0]), s1 = station(a, b->point[1]);
    double lo = fmax(0, fmin(s0, s1)), hi = fmin(1, fmax(s0, s1));
    if (!(lo < hi)) return ST_OK;
    for (int k = 0; k < 2; k++) {
        double s = k == 0 ? lo : hi;
        st_Vec3 on_a = at_station(a, s), on_b = at_station(b, (s - s0) / (s1 - s0));
        double gap = dot(n, sub(on_b, on_a));
        if (radii > 0) {
            on_b = at_station(b, fmin(fmax(station(b, on_a), 0), 1));
            st_Vec3 d = sub(on_b, on_a);
            gap = norm(d);
            if (!(gap > 1e-6 * radii)) return ST_OK; /* the axes cross: one point only */
            n = scale(1 / gap, d);
        }
        STI_TRY(add_point(patch, gap, on_b, n, -patch->b->radius, 3u << 18 | (uint32_t)k));
    }
    return ST_OK;
}

/* The exact pair, where the patch does not come down to it; points of the patch beside it go. */
static st_Status add_exact(Patch *patch)
{
    const sti_Distance *d = patch->distance;
    double size = fmin(patch->a->size + patch->a->radius, patch->b->size + patch->b->radius);
    double gap = d->gap - patch->a->radius - patch->b->radius, width = 0;
    if (patch->least <= gap + 1e-10 * size) return ST_OK;
    st_Vec3 p = add(patch->origin, sub(d->b, scale(patch->b->radius, d->normal)));
    sti_Points *out = patch->out;
    for (int k = patch->first; k < out->n; k++)
        width = fmax(width, norm(sub(out->point[k].point, p)));
    int n = patch->first;
    for (int k = patch->first; k < out->n; k++)
        if (norm(sub(out->point[k].point, p)) > 0.02 * width) out->point[n++] = out->point[k];
    out->n = n;
    if (!(gap < patch->how->margin)) return ST_OK;
    return sti_points_add(out, (sti_ContactPoint){gap, p, d->normal, 0}, patch->err);
}

/* How far the normal of a feature is turned from the pair's own, squared; no face: as far as can be. */
static double turned(const sti_Feature *feature, st_Vec3 n)
{
    if (feature->n <= 2) return INFINITY;
    st_Vec3 turn = sub(feature->normal, n);
    return dot(turn, turn);
}

/* The points of the two features that face each other. Where both faces are turned from n by no more than rounding the
 * reference is a's.                                                                               */
static st_Status add_patch(Patch *patch)
{
    sti_Feature on_a, on_b;
    st_Vec3 n = patch->distance->normal;
    sti_core_feature(patch->a, n, &on_a);
    sti_core_feature(patch->b, scale(-1, n), &on_b);
    const double turned_a = turned(&on_a, n), turned_b = turned(&on_b, scale(-1, n));
    if (on_a.n > 2 && on_b.n > 1 && turned_a <= turned_b + SAME_NORMAL * SAME_NORMAL)
        return face_patch(patch, &on_a, &on_b, 1);
    if (on_b.n > 2 && on_a.n > 1) return face_patch(patch, &on_b, &on_a, -1);
    if (on_a.n == 2 && on_b.n == 2) return edge_patch(patch, &on_a, &on_b);
    return ST_OK;
}

static void finish_patch(Patch *patch)
{
    if (!patch->how->keep_all) sti_reduce_points(patch->out, patch->first);
    sti_order_features(patch->out, patch->first);
}

st_Status sti_manifold(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                       const sti_Collide *how, sti_Points *out, st_Error *err)
{
    if (!(distance->gap - a->radius - b->radius < how->margin)) return ST_OK;
    Patch patch = {a, b, distance, origin, how, out, out->n, INFINITY, err};
    STI_TRY(add_patch(&patch));
    STI_TRY(add_exact(&patch));
    finish_patch(&patch);
    return ST_OK;
}

st_Status sti_manifold_along(const sti_Core *a, const sti_Core *b, double gap, st_Vec3 normal, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, bool *met, st_Error *err)
{
    const sti_Distance axis = {.gap = gap, .normal = normal};
    Patch patch = {a, b, &axis, origin, how, out, out->n, INFINITY, err};
    STI_TRY(add_patch(&patch));
    *met = patch.least <= gap - a->radius - b->radius + MET * (a->size + b->size);
    if (*met)
        finish_patch(&patch);
    else
        out->n = patch.first;
    return ST_OK;
}

/* ---- reduction ----------------------------------------------------------------------------------- */

/* A later point must be better by this factor: rounding does not change who is kept. */
#define CLEARLY 1.0001

static void to_front(sti_ContactPoint *p, int k, int front)
{
    sti_ContactPoint keep_this = p[k];
    p[k] = p[front];
    p[front] = keep_this;
}

/* The nearest point; of several that are as near, the one farthest out. When faces lie on one another edge to edge,
 * two edges may cross anywhere along their length, as rounding has it: that point is between corners, not beyond.  */
static int nearest_point(const sti_ContactPoint *p, int n, double size)
{
    st_Vec3 middle = p[0].point;
    double least = p[0].gap, farthest = -1;
    int best = 0;
    for (int k = 1; k < n; k++) {
        middle = add(middle, scale(1.0 / (k + 1), sub(p[k].point, middle)));
        least = fmin(least, p[k].gap);
    }
    for (int k = 0; k < n; k++) {
        st_Vec3 d = sub(p[k].point, middle);
        if (p[k].gap <= least + 3e-10 * size && dot(d, d) > CLEARLY * farthest) farthest = dot(d, d), best = k;
    }
    return best;
}

/* Largest first: the nearest, the one farthest from it, the one farthest from their line, and the one
 * farthest on the other side of it. Distances are across the first normal.                        */
void sti_reduce_points(sti_Points *points, int first)
{
    sti_ContactPoint *p = points->point + first;
    int n = points->n - first, best = 1;
    if (n <= 4) return;
    sti_order_features(points, first); /* ties go to the lower feature, whatever order the clipping left */
    double size = 0, score = 0;
    for (int k = 0; k < n; k++)
        size = fmax(size, norm(sub(p[k].point, p[0].point)));
    to_front(p, nearest_point(p, n, size), 0);
    for (int k = 1; k < n; k++) {
        st_Vec3 d = sub(p[k].point, p[0].point);
        if (dot(d, d) > CLEARLY * score) score = dot(d, d), best = k;
    }
    to_front(p, best, 1);
    st_Vec3 across = cross(p[0].normal, sub(p[1].point, p[0].point));
    double most = 1e-9 * size * size, least = -most;
    int left = -1, right = -1;
    for (int k = 2; k < n; k++) {
        double side = dot(across, sub(p[k].point, p[0].point));
        if (side > CLEARLY * most) most = side, left = k;
        if (side < CLEARLY * least) least = side, right = k;
    }
    n = 2;
    if (left >= 0) {
        to_front(p, left, n);
        if (right == n) right = left;
        n++;
    }
    if (right >= 0) to_front(p, right, n++);
    points->n = first + n;
}

void sti_order_features(sti_Points *points, int first)
{
    sti_ContactPoint *p = points->point;
    for (int k = first + 1; k < points->n; k++) /* few of them: insertion */
        for (int j = k; j > first && p[j].feature < p[j - 1].feature; j--)
            to_front(p, j, j - 1);
    for (int k = first + 1; k < points->n; k++)
        if (p[k].feature <= p[k - 1].feature) p[k].feature = p[k - 1].feature + 1;
}
