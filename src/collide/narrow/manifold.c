/* collide/narrow/manifold.c -- computes the contact patch of two convex cores from their nearest points.
 *
 *        incident  ____________            The feature of one core that faces the other is cut by the
 *                 /           /|            side planes of the other's; its points nearer than the
 *        --------x-----------x------        margin are the contacts. The better aligned face is the
 *        | reference face     |             reference: its normal is fixed in its body, so gaps along it
 *                                           are smooth, and each point is a corner or a cut of the other.
 *
 * The exact nearest pair is an additional point if the patch does not include it (an edge across an edge, a rim between
 * two of its points). No gap is below the pair's signed distance.
 *
 * At rest the same features of two polytopes face each other step after step, and are clipped in the same way. These
 * decisions are cached (sti_CachedPatch) with their room: how far the shapes may move until one of them (which
 * feature, which reference, which side of a plane) changes. Within the room points are computed from the cache.
 * Decisions that depend on the points themselves (the margin, which points are dropped) are made every time.
 */
#include "collide/narrow/manifold.h"

#define PARALLEL        1e-9
#define SAME_NORMAL     1e-9
#define NEARLY_PARALLEL 0.05

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

/* ---- patches ------------------------------------------------------------------------------------- */

typedef struct Patch {
    const sti_Core *a, *b;
    const sti_Distance *distance;
    st_Vec3 origin;
    const sti_Collide *how;
    sti_Points *out;
    int first;
    double least; /* least gap so far along the normal of the pair */
    st_Error *err;
    double room; /* room so far; 0: nothing is cached */
} Patch;

/* ---- cache --------------------------------------------------------------------------------------- */

/* Stores the decisions made when `other` was clipped by `face`. */
static void keep_clipped(Patch *patch, const sti_Feature *face, const sti_Feature *other, double sign,
                         const sti_Clipped *clipped, double room)
{
    sti_CachedPatch *cached = patch->how->cached;
    const sti_Core *core = sign > 0 ? patch->a : patch->b;
    double farthest = 0;
    for (int k = 0; k < other->n; k++) {
        const st_Vec3 d = sub(other->point[k], core->p);
        farthest = fmax(farthest, dot(d, d));
        if (other->id[k] > INT16_MAX) patch->room = 0; /* stored as 16-bit numbers */
    }
    if (face->face > INT16_MAX || other->face > INT16_MAX) patch->room = 0;
    /* corners of the other move relative to the reference by their own motion and by its rotation */
    patch->room = sti_smaller(patch->room, room / (1 + sqrt(farthest) / core->size));
    if (clipped->n > STI_MAX_CACHED_POINTS) patch->room = 0;
    if (cached == NULL || !(patch->room > 0)) return;
    cached->reference = sign > 0 ? 1 : -1;
    cached->face = (int16_t)face->face, cached->other = (int16_t)(other->n > 2 ? other->face : -1);
    cached->n = (int16_t)clipped->n;
    /* stored in the final order of points, so that they need not be sorted again */
    for (int k = 0; k < clipped->n; k++) {
        const sti_ClippedPoint *at = &clipped->at[k];
        int place = k;
        for (; place > 0 && at->id < cached->point[place - 1].id; place--)
            cached->point[place] = cached->point[place - 1];
        cached->point[place] =
            (sti_CachedPoint){at->id, (int16_t)(at->from >= 0 ? other->id[at->from] : -1),
                              (int16_t)(at->from >= 0 && at->to >= 0 ? other->id[at->to] : at->to), (int16_t)at->cut};
    }
}

/* Corner k of a face, cyclic. */
static st_Vec3 face_corner(const sti_Core *core, int face, int k)
{
    const int n = sti_face_corners(core->facets, face);
    return sti_core_vertex(core, sti_face_corner(core->facets, face, k < n ? k : k - n));
}

/* ---- points over a face -------------------------------------------------------------------------- */

typedef struct Over {
    st_Vec3 normal, on; /* plane of the face */
    st_Vec3 n;          /* the same from a to b                                                    */
    bool same;          /* equal to the normal of the pair */
    double radii, shift;
    uint32_t kind;
} Over;

/* sign -1: the face is b's. Makes room for `most` points. */
static st_Status begin_over(Patch *patch, st_Vec3 normal, st_Vec3 on, double sign, int most, Over *out)
{
    sti_Points *points = patch->out;
    const st_Vec3 n = scale(sign, normal), turn = sub(n, patch->distance->normal);
    *out = (Over){.normal = normal, .on = on, .n = n, .radii = patch->a->radius + patch->b->radius};
    out->same = dot(turn, turn) <= SAME_NORMAL * SAME_NORMAL;
    out->shift = sign > 0 ? -patch->b->radius : patch->a->radius;
    out->kind = sign > 0 ? 1u << 18 : 2u << 18;
    return STI_GROW(&points->allocator, points->point, points->capacity, points->n + most, patch->err);
}

static void add_over(Patch *patch, const Over *over, st_Vec3 point, uint32_t id)
{
    const double height = dot(over->normal, sub(point, over->on)), least = patch->distance->gap;
    const double gap = (height > least ? height : least) - over->radii;
    if (over->same && gap < patch->least) patch->least = gap;
    if (!(gap < patch->how->margin)) return;
    sti_ContactPoint *p = &patch->out->point[patch->out->n++];
    p->gap = gap;
    p->point = add(patch->origin, add(point, scale(over->shift, over->n)));
    p->normal = over->n;
    p->feature = over->kind | id;
}

/* The points of a cached patch, each computed as in clip.c. */
static st_Status patch_again(Patch *patch)
{
    const sti_CachedPatch *cached = patch->how->cached;
    if (cached->reference == 0) return ST_OK;
    const sti_Core *core = cached->reference > 0 ? patch->a : patch->b;
    const sti_Core *other = cached->reference > 0 ? patch->b : patch->a;
    st_Vec3 normal, on;
    Over over;
    int side = -1; /* of the face: the last side plane used */
    st_Vec3 on_side = {0, 0, 0}, outward = {0, 0, 0};
    double limit = 0;
    sti_core_face(core, cached->face, &normal, &on);
    STI_TRY(begin_over(patch, normal, on, cached->reference, cached->n, &over));
    for (int k = 0; k < cached->n; k++) {
        const sti_CachedPoint *point = &cached->point[k];
        st_Vec3 p;
        if (point->from < 0) { /* a corner of the face */
            st_Vec3 m, on_other;
            sti_core_face(other, cached->other, &m, &on_other);
            p = sti_corner_over(face_corner(core, cached->face, point->to), normal, m, on_other);
        } else if (point->to < 0) { /* a corner of the other */
            p = sti_core_vertex(other, point->from);
        } else { /* a cut of its edge by a side plane */
            if (side != point->cut) {
                side = point->cut;
                on_side = face_corner(core, cached->face, side);
                outward = sti_side_outward(on_side, face_corner(core, cached->face, side + 1), normal);
                limit = STI_ON_SIDE * core->size * norm(outward);
            }
            p = sti_cut_point(sti_core_vertex(other, point->from), sti_core_vertex(other, point->to), on_side, outward,
                              limit);
        }
        add_over(patch, &over, p, point->id);
    }
    return ST_OK;
}

/* ---- points -------------------------------------------------------------------------------------- */

/* One of the two is a face: adds points of the other over it. `sign` -1: the face is b's. For a round core the
 * lowest line over the face is used, because its height does not depend on its position around the rim; the line
 * along the pair's normal would have a gap with a rate different from that of the point. */
static st_Status face_patch(Patch *patch, const sti_Feature *face, sti_Feature *other, double sign)
{
    const sti_Core *core = sign > 0 ? patch->b : patch->a;
    sti_Clipped clipped;
    Over over;
    double room = INFINITY;
    if (!core_is_polytope(core)) sti_core_feature(core, scale(-1, face->normal), other);
    sti_clip(face, other, STI_ON_SIDE * (sign > 0 ? patch->a : patch->b)->size, patch->room > 0 ? &room : NULL,
             &clipped);
    STI_TRY(begin_over(patch, face->normal, face->point[0], sign, clipped.n, &over));
    for (int k = 0; k < clipped.n; k++)
        add_over(patch, &over, clipped.at[k].point, clipped.at[k].id);
    if (patch->room > 0) keep_clipped(patch, face, other, sign, &clipped, room);
    return ST_OK;
}

/* The position of point p along the segment a: 0 .. 1 between its ends. */
static double station(const sti_Feature *a, st_Vec3 p)
{
    st_Vec3 u = sub(a->point[1], a->point[0]);
    return dot(u, sub(p, a->point[0])) / dot(u, u);
}

static st_Vec3 at_station(const sti_Feature *a, double s)
{
    return add(a->point[0], scale(s, sub(a->point[1], a->point[0])));
}

/* Two edges side by side: adds the ends of their common part. Sharp edges must be parallel (else they touch in one
 * point). For round ones each end is a ball against the side of the other, with its own normal. */
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
        gap = (gap > patch->distance->gap ? gap : patch->distance->gap) - radii;
        const st_Vec3 turn = sub(n, patch->distance->normal);
        if (dot(turn, turn) <= SAME_NORMAL * SAME_NORMAL && gap < patch->least) patch->least = gap;
        if (!(gap < patch->how->margin)) continue;
        const st_Vec3 p = add(patch->origin, add(on_b, scale(-patch->b->radius, n)));
        STI_TRY(sti_points_add(patch->out, (sti_ContactPoint){gap, p, n, 3u << 18 | (uint32_t)k}, patch->err));
    }
    return ST_OK;
}

/* Adds the exact pair if the patch does not include it, and removes points of the patch near it. */
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

/* The angle between the normal of a feature and that of the pair, squared; very large if it is no face. */
static double manifold_turned(const sti_Feature *feature, st_Vec3 n)
{
    if (feature->n <= 2) return INFINITY;
    st_Vec3 turn = sub(feature->normal, n);
    return dot(turn, turn);
}

/* In a planar scene: is the feature's face tilted out of the plane? */
static bool leaves_plane(const Patch *patch, const sti_Feature *feature)
{
    const int axis = patch->how->planar;
    return axis >= 0 && (patch->distance->flat || (feature->n > 2 && !sti_is_in_plane(feature->normal, axis)));
}

/* Adds the points of the two features that face each other. If both faces are turned from n by no more than
 * rounding, the reference is a's. */
static st_Status manifold_add_patch(Patch *patch)
{
    sti_Feature on_a, on_b;
    sti_Farthest of_a, of_b;
    double room_a, room_b;
    const st_Vec3 n = patch->distance->normal;
    sti_features_split(patch->distance->features, &of_a, &of_b);
    sti_core_feature_at(patch->a, n, of_a, &on_a, &room_a);
    sti_core_feature_at(patch->b, scale(-1, n), of_b, &on_b, &room_b);
    if (leaves_plane(patch, &on_a) || leaves_plane(patch, &on_b)) {
        sti_shadow_feature(patch->a, n, patch->how->planar, &on_a);
        sti_shadow_feature(patch->b, scale(-1, n), patch->how->planar, &on_b);
    }
    const double turned_a = manifold_turned(&on_a, n), turned_b = manifold_turned(&on_b, scale(-1, n));
    const double as_turned = turned_b + SAME_NORMAL * SAME_NORMAL;
    if (patch->room > 0) {
        double angle = sti_smaller(room_a, room_b);
        if (on_a.n > 2 && on_b.n > 2) angle = sti_smaller(angle, 0.5 * fabs(sqrt(turned_a) - sqrt(as_turned)));
        /* A rotation by an angle uses this much of the room, in each core. */
        patch->room =
            sti_smaller(patch->room, (angle / patch->distance->swing) * sti_smaller(patch->a->size, patch->b->size));
    }
    if (on_a.n > 2 && on_b.n > 1 && turned_a <= as_turned) return face_patch(patch, &on_a, &on_b, 1);
    if (on_b.n > 2 && on_a.n > 1) return face_patch(patch, &on_b, &on_a, -1);
    if (on_a.n == 2 && on_b.n == 2) return edge_patch(patch, &on_a, &on_b);
    return ST_OK;
}

static void finish_patch(Patch *patch)
{
    sti_reduce_points(patch->out, patch->first, patch->how->keep);
    sti_order_features(patch->out, patch->first);
}

/* Rounding of these decisions, relative to the sizes: a room of less than a few times this is 0. */
#define LEAST_ROOM 1e-13

static void keep_patch(const Patch *patch)
{
    const double rounding = LEAST_ROOM * (patch->a->size + patch->b->size);
    sti_CachedPatch *cached = patch->how->cached;
    if (cached == NULL) return;
    cached->room = patch->room > 2 * rounding ? patch->room - rounding : 0;
    cached->features = patch->distance->features;
}

st_Status sti_manifold(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                       const sti_Collide *how, sti_Points *out, st_Error *err)
{
    if (!(distance->gap - a->radius - b->radius < how->margin)) return ST_OK;
    Patch patch = {a, b, distance, origin, how, out, out->n, INFINITY, err, 0};
    if (how->cached != NULL) patch.room = distance->room, how->cached->reference = 0;
    STI_TRY(manifold_add_patch(&patch));
    STI_TRY(add_exact(&patch));
    finish_patch(&patch);
    keep_patch(&patch);
    return ST_OK;
}

st_Status sti_manifold_again(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, st_Error *err)
{
    if (!(distance->gap - a->radius - b->radius < how->margin)) return ST_OK;
    Patch patch = {a, b, distance, origin, how, out, out->n, INFINITY, err, 0};
    STI_TRY(patch_again(&patch));
    STI_TRY(add_exact(&patch));
    finish_patch(&patch);
    return ST_OK;
}

/* Does a point of the patch have the exact gap? Else there is no patch. */
static bool finish_if_met(Patch *patch)
{
    const sti_Core *a = patch->a, *b = patch->b;
    const bool met = patch->least <= patch->distance->gap - a->radius - b->radius + STI_TIE * (a->size + b->size);
    if (met)
        finish_patch(patch);
    else
        patch->out->n = patch->first;
    return met;
}

st_Status sti_manifold_along(const sti_Core *a, const sti_Core *b, const sti_Distance *axis, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, bool *met, st_Error *err)
{
    Patch patch = {a, b, axis, origin, how, out, out->n, INFINITY, err, 0};
    if (how->cached != NULL) patch.room = axis->room, how->cached->reference = 0;
    STI_TRY(manifold_add_patch(&patch));
    *met = finish_if_met(&patch);
    if (*met) keep_patch(&patch);
    return ST_OK;
}

st_Status sti_manifold_along_again(const sti_Core *a, const sti_Core *b, const sti_Distance *axis, st_Vec3 origin,
                                   const sti_Collide *how, sti_Points *out, bool *met, st_Error *err)
{
    Patch patch = {a, b, axis, origin, how, out, out->n, INFINITY, err, 0};
    STI_TRY(patch_again(&patch));
    *met = finish_if_met(&patch);
    return ST_OK;
}

/* ---- reduction ----------------------------------------------------------------------------------- */

/* A later point must be better by this factor, so that rounding does not change which points are kept. */
#define CLEARLY 1.0001

static void to_front(sti_ContactPoint *p, int k, int front)
{
    sti_ContactPoint keep_this = p[k];
    p[k] = p[front];
    p[front] = keep_this;
}

int sti_group_by_normal(sti_ContactPoint *p, int n, double angle)
{
    int end = n > 0;
    for (int k = end; k < n; k++)
        if (norm(sub(p[k].normal, p[0].normal)) <= angle) to_front(p, k, end++);
    return end;
}

/* Keeps the few points that span the patch, largest first: the nearest, the one farthest from it, the one farthest
 * from their line, and the one farthest on its other side. Distances are perpendicular to the first normal. */
void sti_reduce_points(sti_Points *points, int first, sti_Keep keep)
{
    sti_ContactPoint *p = points->point + first;
    int n = points->n - first, nearest = 0, best = 1;
    if (keep == STI_KEEP_NEEDED) points->n = first + sti_drop_redundant(p, n);
    if (n <= 4 || keep != STI_KEEP_SPAN) return;
    sti_order_features(points, first); /* ties go to the lower feature, independent of the order of clipping */
    double size = 0, score = 0;
    for (int k = 0; k < n; k++)
        size = fmax(size, norm(sub(p[k].point, p[0].point)));

    /* The nearest point; of equally near ones, the one farthest out. When faces lie on each other edge to edge,
     * rounding may make two edges cross anywhere along their length: that point is between corners, not outside. */
    st_Vec3 middle = p[0].point;
    double least_gap = p[0].gap, farthest = -1;
    for (int k = 1; k < n; k++) {
        middle = add(middle, scale(1.0 / (k + 1), sub(p[k].point, middle)));
        least_gap = fmin(least_gap, p[k].gap);
    }
    for (int k = 0; k < n; k++) {
        st_Vec3 d = sub(p[k].point, middle);
        if (p[k].gap <= least_gap + 3e-10 * size && dot(d, d) > CLEARLY * farthest) farthest = dot(d, d), nearest = k;
    }
    to_front(p, nearest, 0);
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
    for (int k = first + 1; k < points->n; k++) /* few points: insertion sort */
        for (int j = k; j > first && p[j].feature < p[j - 1].feature; j--)
            to_front(p, j, j - 1);
    for (int k = first + 1; k < points->n; k++)
        if (p[k].feature <= p[k - 1].feature) p[k].feature = p[k - 1].feature + 1;
}
