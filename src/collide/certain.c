/* collide/certain.c -- the distance of two polytopes from the features that made it the last time, with proof.
 *
 * Where things rest, the face and the corner (or the two edges) that are nearest to each other stay the same for
 * thousands of steps. Their distance has a closed form; what takes time is to show that no other features matter.
 *
 * Apart. Let n be the face's normal, or the common normal of the edges. If all other corners of either polytope are
 * behind its own feature along n, and the nearest points lie inside the features, then both the distance of the points
 * (no less) and the separation along n (no more) are the distance.
 *
 * Overlapping by d along n. The best axis is a face of A - B whose foot p = a - b has |p| <= d, with a no more than 2 d
 * under A's surface along n and b likewise (sat.c). Under its feature a convex body widens no faster than towards its
 * other corners y, so a point that deep is within
 *
 *     spread = 2 d  max over y of  ( distance of y from the feature / depth of y under it )
 *
 * of the feature's line or point. Hence a and b are near the nearest points of the two features; where no other face
 * of the polytopes is as near, only the features themselves can make up that face of A - B. For a face and a corner
 * this leaves one axis, n. For two edges it leaves n and the four faces beside them, which are looked at.
 *
 * All this must hold with room to spare (CLEAR, LIFT), so that the same features and the same formulas are what a
 * search from nothing ends with: GJK's direction is then off by less than its error (1e-11) over CLEAR, which LIFT
 * is above, and sat.c has no second axis within rounding. The answer does not depend on what was guessed.
 */
#include "collide/core.h"

/* Of the sizes: how far inside its feature a nearest point must be, and how far behind it the other corners. */
#define CLEAR 1e-4
#define LIFT  1e-6
/* Of the sizes: distances that are too small for their sign to be certain; axes that are as good as each other. */
#define TOUCHING 1e-8
#define TIE      1e-10
/* The sine of the angle of two edges that cross. */
#define CROSSING 1e-2

enum { FACE_CORNER = 1, CORNER_FACE, EDGE_EDGE };
#define INDEX_BITS 15
#define MOST_INDEX (1 << INDEX_BITS)

static uint32_t pack(int kind, int i, int j)
{
    if (i < 0 || j < 0 || i >= MOST_INDEX || j >= MOST_INDEX) return 0;
    return (uint32_t)kind << 2 * INDEX_BITS | (uint32_t)i << INDEX_BITS | (uint32_t)j;
}

static int kind_of(uint32_t features)
{
    return (int)(features >> 2 * INDEX_BITS);
}
static int first_of(uint32_t features)
{
    return (int)(features >> INDEX_BITS & (MOST_INDEX - 1u));
}
static int second_of(uint32_t features)
{
    return (int)(features & (MOST_INDEX - 1u));
}

static st_Vec3 scaled(st_Vec3 a, st_Vec3 half)
{
    return vec3(a.x * half.x, a.y * half.y, a.z * half.z);
}

/* ---- which features ------------------------------------------------------------------------------ */

/* The corners that are farthest along n up to `within`: how many, and the first two of them. */
static int top_corners(const sti_Core *core, st_Vec3 n, double within, int first[2])
{
    const sti_Facets *f = core->facets;
    const st_Vec3 along = scaled(core_to_local(core, n), core->half);
    double top = -INFINITY;
    int count = 0;
    for (int k = 0; k < f->n_vertices; k++)
        top = fmax(top, dot(f->vertex[k], along));
    for (int k = 0; k < f->n_vertices; k++) {
        if (dot(f->vertex[k], along) < top - within) continue;
        if (count < 2) first[count] = k;
        count++;
    }
    return count;
}

static int facing(const sti_Core *core, st_Vec3 n)
{
    const st_Vec3 local = core_to_local(core, n);
    int best = -1;
    double most = -INFINITY;
    for (int k = 0; k < core->facets->n_faces; k++) {
        const double along = dot(core->facets->normal[k], local);
        if (along > most) most = along, best = k;
    }
    return best;
}

static int edge_between(const sti_Facets *f, const int end[2])
{
    for (int k = 0; k < f->n_edges; k++) {
        const int *edge = f->edge + (ptrdiff_t)4 * k;
        if ((edge[0] == end[0] && edge[1] == end[1]) || (edge[0] == end[1] && edge[1] == end[0])) return k;
    }
    return -1;
}

uint32_t sti_features_along(const sti_Core *a, const sti_Core *b, st_Vec3 n)
{
    int of_a[2], of_b[2];
    if (a->facets == NULL || b->facets == NULL) return 0;
    const double within = 0.5 * LIFT * (a->size + b->size);
    const int n_a = top_corners(a, n, within, of_a), n_b = top_corners(b, scale(-1, n), within, of_b);
    if (n_a == 2 && n_b == 2) return pack(EDGE_EDGE, edge_between(a->facets, of_a), edge_between(b->facets, of_b));
    if (n_a > 2 && n_b == 1) return pack(FACE_CORNER, facing(a, n), of_b[0]);
    if (n_a == 1 && n_b > 2) return pack(CORNER_FACE, of_a[0], facing(b, scale(-1, n)));
    return 0;
}

/* ---- certainty ----------------------------------------------------------------------------------- */

/* Are all corners but one, or but the two of an edge, well below the slab of twice the depth under it? Then how far
 * the slab spreads from the feature.                                                              */
static bool stands_out(const sti_Core *core, st_Vec3 n, const int feature[2], double depth, double size, double *spread)
{
    const sti_Facets *f = core->facets;
    const int i = feature[0], j = feature[1];
    const st_Vec3 local = core_to_local(core, n), p = scaled(f->vertex[i], core->half);
    st_Vec3 way = sub(scaled(f->vertex[j], core->half), p); /* 0 for a corner */
    const double square = dot(way, way), least = 2 * depth + LIFT * size;
    if (square > 0) way = scale(1 / sqrt(square), way);
    double widest = 0;
    for (int k = 0; k < f->n_vertices; k++) {
        if (k == i || k == j) continue;
        const st_Vec3 d = sub(scaled(f->vertex[k], core->half), p);
        const double drop = -dot(d, local), across = dot(d, d) - dot(d, way) * dot(d, way);
        if (!(drop > least)) return false;
        if (across > widest * drop * drop) widest = across / (drop * drop);
    }
    *spread = 2 * depth * sqrt(widest);
    return true;
}

/* Is every face but these two farther from p than that? */
static bool is_clear(const sti_Core *core, st_Vec3 p, int face, int other, double distance)
{
    const sti_Facets *f = core->facets;
    const st_Vec3 local = core_to_local(core, sub(p, core->p)), h = core->half;
    for (int k = 0; k < f->n_faces; k++) {
        const st_Vec3 n = f->normal[k];
        const double offset =
            core->kind == STI_CORE_BOX ? fabs(n.x) * h.x + fabs(n.y) * h.y + fabs(n.z) * h.z : f->offset[k];
        if (k != face && k != other && !(offset - dot(n, local) > distance)) return false;
    }
    return true;
}

/* A face of one and a corner of the other; sign -1: the face is b's. */
static bool face_and_corner(const sti_Core *core, int face, const sti_Core *other, int corner, double sign,
                            sti_Distance *out)
{
    const double size = core->size + other->size;
    const int alone[2] = {corner, corner};
    st_Vec3 n, on;
    sti_core_face(core, face, &n, &on);
    const st_Vec3 q = sti_core_vertex(other, corner);
    const double gap = dot(n, sub(q, on)), depth = gap < 0 ? -gap : 0;
    double spread;
    if (!(fabs(gap) > TOUCHING * size) || !stands_out(other, scale(-1, n), alone, depth, size, &spread)) return false;
    if (!is_clear(core, sub(q, scale(gap, n)), face, -1, spread + 2 * depth + CLEAR * size)) return false;
    *out = (sti_Distance){.gap = gap, .normal = scale(sign, n), .a = q, .b = q};
    if (sign > 0)
        out->a = sub(q, scale(gap, out->normal));
    else
        out->b = add(q, scale(gap, out->normal));
    return true;
}

/* Is p on the edge, and farther than that from its ends? */
static bool is_within(const st_Vec3 end[2], st_Vec3 p, double distance)
{
    const st_Vec3 way = sub(end[1], end[0]);
    const double length = norm(way), at = dot(sub(p, end[0]), way) / length;
    return at > distance && length - at > distance;
}

/* Is n a better axis than the faces beside an edge of a? */
static bool beats_faces(const sti_Core *a, const int edge[4], const sti_Core *b, double gap)
{
    for (int s = 2; s < 4; s++) {
        st_Vec3 n, on;
        sti_core_face(a, edge[s], &n, &on);
        if (!(dot(n, sub(sti_core_support(b, scale(-1, n)), on)) < gap - TIE * (a->size + b->size))) return false;
    }
    return true;
}

/* The common normal of two edges, out of a, and their ends; returns the sine of their angle. */
static double axis_of_edges(const sti_Core *a, int i, const sti_Core *b, int j, st_Vec3 end_a[2], st_Vec3 end_b[2],
                            st_Vec3 *n)
{
    st_Vec3 beside[2], unused[2];
    sti_core_edge(a, i, end_a, beside);
    sti_core_edge(b, j, end_b, unused);
    const st_Vec3 way_a = sub(end_a[1], end_a[0]), way_b = sub(end_b[1], end_b[0]);
    const double sine = sti_edges_axis(way_a, norm(way_a), way_b, norm(way_b), n);
    if (dot(*n, add(beside[0], beside[1])) < 0) *n = scale(-1, *n);
    return sine;
}

static bool edge_and_edge(const sti_Core *a, int i, const sti_Core *b, int j, sti_Distance *out)
{
    const int *edge_a = a->facets->edge + (ptrdiff_t)4 * i, *edge_b = b->facets->edge + (ptrdiff_t)4 * j;
    const double size = a->size + b->size;
    st_Vec3 end_a[2], end_b[2], n;
    const double sine = axis_of_edges(a, i, b, j, end_a, end_b, &n);
    if (!(sine > CROSSING)) return false;
    const double gap = core_separation(a, b, n), depth = gap < 0 ? -gap : 0;
    double spread_a, spread_b;
    if (!(fabs(gap) > TOUCHING * size) || !stands_out(a, n, edge_a, depth, size, &spread_a) ||
        !stands_out(b, scale(-1, n), edge_b, depth, size, &spread_b))
        return false;
    *out = (sti_Distance){.gap = gap, .normal = n};
    sti_nearest_on_lines(end_a, end_b, &out->a, &out->b);
    /* what is that near to both lines is this near to where they cross */
    const double spread = spread_a + spread_b + 2 * depth, reach = spread / sine + spread + CLEAR * size;
    if (!is_within(end_a, out->a, reach) || !is_within(end_b, out->b, reach)) return false;
    if (gap > 0) return true;
    return is_clear(a, out->a, edge_a[2], edge_a[3], reach) && is_clear(b, out->b, edge_b[2], edge_b[3], reach) &&
           beats_faces(a, edge_a, b, gap) && beats_faces(b, edge_b, a, gap);
}

bool sti_features_axis(const sti_Core *a, const sti_Core *b, uint32_t features, st_Vec3 *n)
{
    if (features == 0 || a->facets == NULL || b->facets == NULL) return false;
    const int kind = kind_of(features), i = first_of(features), j = second_of(features);
    st_Vec3 end_a[2], end_b[2];
    if (kind == EDGE_EDGE) return axis_of_edges(a, i, b, j, end_a, end_b, n) > CROSSING;
    sti_core_face(kind == FACE_CORNER ? a : b, kind == FACE_CORNER ? i : j, n, &end_a[0]);
    if (kind == CORNER_FACE) *n = scale(-1, *n);
    return true;
}

bool sti_features_distance(const sti_Core *a, const sti_Core *b, uint32_t features, double beyond, sti_Distance *out)
{
    if (features == 0 || a->facets == NULL || b->facets == NULL) return false;
    const int kind = kind_of(features), i = first_of(features), j = second_of(features);
    const bool certain = kind == FACE_CORNER   ? face_and_corner(a, i, b, j, 1, out)
                         : kind == CORNER_FACE ? face_and_corner(b, j, a, i, -1, out)
                                               : edge_and_edge(a, i, b, j, out);
    if (!certain) return false;
    out->features = features;
    out->beyond = core_is_beyond(out->gap, beyond, a->size + b->size);
    return true;
}
