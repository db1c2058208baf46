/* collide/narrow/manifold.h -- from one exact pair of points to a contact patch. */
#ifndef STI_MANIFOLD_H
#define STI_MANIFOLD_H

#include "collide/collide.h"
#include "collide/narrow/support.h"

/* The part of a core that faces along n: a face, an edge, or a point. */
typedef struct sti_Feature {
    int n;
    st_Vec3 point[STI_MAX_CORNERS];
    int id[STI_MAX_CORNERS]; /* vertex numbers of the corners */
    int face;                /* number of the face                                                 */
    st_Vec3 normal;          /* of a face: outward unit                                            */
} sti_Feature;

void sti_core_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out);

/* in_plane.c: the feature of a core's shadow in the plane across a world axis; n lies in the plane. */
void sti_shadow_feature(const sti_Core *core, st_Vec3 n, int axis, sti_Feature *out);

/* Likewise if the farthest feature along n is known: a face, an edge or a corner of the core (cached_features.c).
 * `room` is how far n may turn while the result stays the same [rad]; 0: not known. */
typedef enum sti_FarthestKind {
    STI_FARTHEST_UNKNOWN,
    STI_FARTHEST_FACE,
    STI_FARTHEST_EDGE,
    STI_FARTHEST_CORNER
} sti_FarthestKind;
typedef struct sti_Farthest {
    sti_FarthestKind kind;
    int index;
} sti_Farthest;
void sti_core_feature_at(const sti_Core *core, st_Vec3 n, sti_Farthest farthest, sti_Feature *out, double *room);
/* Unpacks features (cached_features.c) into those of a and of b. */
void sti_features_split(uint32_t features, sti_Farthest *of_a, sti_Farthest *of_b);

/* Relative to the reference's size: how far outside its edges the side planes are. With it, faces that lie edge to
 * edge are always inside; otherwise rounding would put their corners inside or outside at random. */
#define STI_ON_SIDE 1e-10

/* ---- clip.c -------------------------------------------------------------------------------------- */

typedef struct sti_ClippedPoint {
    st_Vec3 point;
    uint32_t id;
    /* its construction: a corner of incident (from; to = -1); a cut on the edge from corner `from`, inside, to `to`;
     * a corner of reference (from = -1; to, -1 if it is none) */
    int from, to;
    int cut;      /* the reference edge that made it; -1: a corner of incident                     */
    int line;     /* line on which the polygon continues: an edge of incident, or -1 - one of reference */
    double swing; /* its speed across the reference relative to that of corners */
} sti_ClippedPoint;
typedef struct sti_Clipped {
    int n;
    sti_ClippedPoint at[2 * STI_MAX_CORNERS + 4];
} sti_Clipped;
/* Points of the `incident` feature over the polygon `reference` (>= 3 corners), inside its side planes or at most
 * `slack` outside. `room` (NULL: not needed) is reduced to the distance that corners may move across the reference
 * without changing the construction. */
void sti_clip(const sti_Feature *reference, const sti_Feature *incident, double slack, double *room, sti_Clipped *out);

/* The smaller of two numbers without a function call, see sti_larger. */
static inline double sti_smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The formulas of clip.c, also used for points that are computed again from a cached patch. */
static inline st_Vec3 sti_side_outward(st_Vec3 corner, st_Vec3 next, st_Vec3 normal)
{
    return cross(sub(next, corner), normal);
}
/* The intersection of an edge with the plane at height `limit` over the side. */
static inline st_Vec3 sti_cut_point(st_Vec3 from, st_Vec3 to, st_Vec3 on, st_Vec3 outward, double limit)
{
    const double here = dot(outward, sub(from, on)) - limit, there = dot(outward, sub(to, on)) - limit;
    return add(from, scale(here / (here - there), sub(to, from)));
}
static inline st_Vec3 sti_corner_over(st_Vec3 r, st_Vec3 n, st_Vec3 m, st_Vec3 v)
{
    return add(r, scale(dot(m, sub(v, r)) / dot(m, n), n));
}

/* ---- manifold.c ---------------------------------------------------------------------------------- */

/* Appends the points of two convex cores with known distance; `origin` is added to all points. */
st_Status sti_manifold(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                       const sti_Collide *how, sti_Points *out, st_Error *err);

/* Likewise from the cache (how->cached); the motion must be within its room. */
st_Status sti_manifold_again(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, st_Error *err);

/* Relative to the sizes: axes with gaps that differ by less are equally good, and a point that is no higher above
 * the gap is at the gap. */
#define STI_TIE 1e-10
/* Likewise if it is only known that no axis separates the cores more than this one: gap and normal, and its room. If
 * `met` is false, no point of the patch has that gap, so the nearest points are needed, and nothing was added. */
st_Status sti_manifold_along(const sti_Core *a, const sti_Core *b, const sti_Distance *axis, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, bool *met, st_Error *err);
st_Status sti_manifold_along_again(const sti_Core *a, const sti_Core *b, const sti_Distance *axis, st_Vec3 origin,
                                   const sti_Collide *how, sti_Points *out, bool *met, st_Error *err);

/* Keeps the selected ones of points[first ..]. */
void sti_reduce_points(sti_Points *points, int first, sti_Keep keep);
/* Moves the points with normals within an angle of the first one's to the front; returns their number. */
int sti_group_by_normal(sti_ContactPoint *point, int n, double angle);
/* Drops the points that others imply; returns the number left, at the front, in no order: redundant.c. */
int sti_drop_redundant(sti_ContactPoint *point, int n);
/* Sorts points[first ..] by feature and makes features unique. */
void sti_order_features(sti_Points *points, int first);

#endif
