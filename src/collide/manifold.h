/* collide/manifold.h -- inside the narrow phase: from one exact pair of points to a patch. */
#ifndef STI_MANIFOLD_H
#define STI_MANIFOLD_H

#include "collide/collide.h"
#include "collide/core.h"

/* The part of a core that faces along n: a face, an edge, or a point. */
typedef struct sti_Feature {
    int n;
    st_Vec3 point[STI_MAX_CORNERS];
    int id[STI_MAX_CORNERS]; /* of the corners: vertex numbers                                     */
    int face;                /* number of the face                                                 */
    st_Vec3 normal;          /* of a face: outward unit                                            */
} sti_Feature;

void sti_core_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out);

/* Points of the `incident` feature over the polygon `reference` (>= 3 corners), inside its side planes. `edge` (may
 * be NULL) says which reference edge cut the point, -1 where it is a corner of `incident`.        */
typedef struct sti_Clipped {
    int n;
    st_Vec3 point[2 * STI_MAX_CORNERS + 4];
    uint32_t id[2 * STI_MAX_CORNERS + 4];
    int cut[2 * STI_MAX_CORNERS + 4]; /* the reference edge that made it; -1: a corner of incident */
} sti_Clipped;
void sti_clip(const sti_Feature *reference, const sti_Feature *incident, sti_Clipped *out);

/* Append the points of two convex cores whose distance is known; `origin` is added to all points. */
st_Status sti_manifold(const sti_Core *a, const sti_Core *b, const sti_Distance *distance, st_Vec3 origin,
                       const sti_Collide *how, sti_Points *out, st_Error *err);

/* The same where all that is known is that no axis separates the cores more than this one. false in `met`: no point of
 * the patch comes down to that gap, so the nearest points are needed, and nothing was added.      */
st_Status sti_manifold_along(const sti_Core *a, const sti_Core *b, double gap, st_Vec3 normal, st_Vec3 origin,
                             const sti_Collide *how, sti_Points *out, bool *met, st_Error *err);

/* Keep the few of points[first ..] that span the patch: the nearest, and the corners of the largest area. */
void sti_reduce_points(sti_Points *points, int first);
/* Order points[first ..] by feature and make features unique. */
void sti_order_features(sti_Points *points, int first);

#endif
