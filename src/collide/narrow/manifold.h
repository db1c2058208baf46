/* collide/narrow/manifold.h -- inside the narrow phase: from one exact pair of points to a patch. */
#ifndef STI_MANIFOLD_H
#define STI_MANIFOLD_H

#include "collide/collide.h"
#include "collide/narrow/support.h"

/* The part of a core that faces along n: a face, an edge, or a point. */
typedef struct sti_Feature {
    int n;
    st_Vec3 point[STI_MAX_CORNERS];
    int id[STI_MAX_CORNERS]; /* of the corners: vertex numbers                                     */
    int face;                /* number of the face                                                 */
    st_Vec3 normal;          /* of a face: outward unit                                            */
} sti_Feature;

void sti_core_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out);

/* in_plane.c: of a core's shadow in the plane across a world axis, in which n lies. */
void sti_shadow_feature(const sti_Core *core, st_Vec3 n, int axis, sti_Feature *out);

/* The same where it is known what is farthest along n: a face, an edge or a corner of the core (cached_features.c).
 * `room` is by how much n may turn so that the same face, edge or corner comes out [rad]; 0: it is not known.   */
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
/* What features (cached_features.c) are, of a and of b. */
void sti_features_split(uint32_t features, sti_Farthest *of_a, sti_Farthest *of_b);

/* Of the reference's size: how far out of its edges the side planes are. Faces laid edge to edge are inside for good;
 * rounding alone would put their corners now here, now there.                                      */
#define STI_ON_SIDE 1e-10

/* ---- clip.c -------------------------------------------------------------------------------------- */

typedef struct sti_ClippedPoint {
    st_Vec3 point;
    uint32_t id;
    /* how it was made: a corner of incident (from; to = -1); a cut on the edge from corner `from`, inside, to `to`; a
     * corner of reference (from = -1; to, -1 where it is none)                                     */
    int from, to;
    int cut;      /* the reference edge that made it; -1: a corner of incident                     */
    int line;     /* on which the polygon goes on: an edge of incident, or -1 - one of reference   */
    double swing; /* how much faster than corners it moves across the reference                    */
} sti_ClippedPoint;
typedef struct sti_Clipped {
    int n;
    sti_ClippedPoint at[2 * STI_MAX_CORNERS + 4];
} sti_Clipped;
/* Points of the `incident` feature over the polygon `reference` (>= 3 corners), inside its side planes or no farther
 * out than `slack`. `room` (NULL: not wanted) is reduced to how far corners may move across the reference and all is
 * made in the same way. */
void sti_clip(const sti_Feature *reference, const sti_Feature *incident, double slack, double *room, sti_Clipped *out);

/* The smaller of two without a call, see sti_larger. */
static inline double sti_smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The formulas of clip.c, also for points that are computed again from a cached patch. */
static inline st_Vec3 sti_side_outward(st_Vec3 corner, st_Vec3 next, st_Vec3 normal)
{
    return cross(sub(next, corner), normal);
}
/* Where an edge goes through the plane at `limit` over the side. */
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

/* Append the points of two convex cores whose distance is known; `origin` is added to all points. */
st_Status sti_manifold(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                       const sti_Collide *how, sti_Points *out, st_Error *err);

/* The same from what was kept (how->kept), which must be within its room. */
st_Status sti_manifold_again(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, st_Error *err);

/* Of the sizes: axes whose gaps differ by less are equally good, a point that is no higher over the gap is at the gap.
 */
#define STI_TIE 1e-10
/* Both where all that is known is that no axis separates the cores more than this one: gap and normal, and its room.
 * false in `met`: no point of the patch comes down to that gap, so the nearest points are needed, and nothing was
 * added. */
st_Status sti_manifold_along(const sti_Core *a, const sti_Core *b, const sti_Distance *axis, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, bool *met, st_Error *err);
st_Status sti_manifold_along_again(const sti_Core *a, const sti_Core *b, const sti_Distance *axis, st_Vec3 origin,
                                   const sti_Collide *how, sti_Points *out, bool *met, st_Error *err);

/* Of points[first ..] keep those that are asked for. */
void sti_reduce_points(sti_Points *points, int first, sti_Keep keep);
/* Move the points whose normals are within an angle of the first one's to the front; returns how many there are. */
int sti_group_by_normal(sti_ContactPoint *point, int n, double angle);
/* Leave out the points that others imply; returns how many are left, at the front, in no order: redundant.c. */
int sti_drop_redundant(sti_ContactPoint *point, int n);
/* Order points[first ..] by feature and make features unique. */
void sti_order_features(sti_Points *points, int first);

#endif
