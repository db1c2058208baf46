/* collide/collide.h -- contact points between two shapes: signed gaps, points, normals.
 *
 * Sees shapes and poses, never bodies, forces or solvers. What holds for every pair:
 *
 *   - the smallest gap of a pair is its signed distance: the least distance apart, or minus the least
 *     translation that separates. It is continuous through touching: event schemes find its roots;
 *   - every other point is a point of one shape's surface over a face of the other, with the gap along that
 *     face's normal;
 *   - the gap's rate is normal . (velocity of b at the point - velocity of a at the point), exactly wherever
 *     the features that touch do not change;
 *   - the answer depends on the two poses alone, not on the past.
 */
#ifndef STI_COLLIDE_H
#define STI_COLLIDE_H

#include "base/work.h"
#include "collide/shape.h"

typedef struct sti_ContactPoint {
    double gap;            /* [m]                                                                             */
    st_Vec3 point, normal; /* in the world; normal from the first shape to the second               */
    uint32_t feature;      /* which corner, edge ...: the same from step to step                     */
} sti_ContactPoint;

#define STI_FEATURE_BITS 20
/* What has more corners numbers them anew from 0; the rest is left for features that must be made unique. */
#define STI_FEATURES ((1u << STI_FEATURE_BITS) - 4096)

/* Contact points of one pair, and room for more. */
typedef struct sti_Points {
    int n;
    sti_ContactPoint *point;
    int64_t capacity;
    int n_list; /* triangles at hand                                                               */
    int *list;
    int64_t list_capacity;
    sti_Stop *stop; /* ends the search among triangles with ST_ERR_CANCELLED; NULL: nothing does   */
    st_Allocator allocator;
} sti_Points;

st_Status sti_points_add(sti_Points *points, sti_ContactPoint point, st_Error *err);
void sti_points_free(sti_Points *points);

/* What the call before has found, packed: where to begin, and no more than that: the answer does not depend on it. */
typedef struct sti_Hint {
    uint32_t normal;   /* convex.c; 0: nothing is known                                            */
    uint32_t features; /* cached_features.c; 0: none                                                       */
} sti_Hint;

/* How the points of a patch came about, and how far the shapes may move until one of them comes about otherwise. Within
 * that the points are made again from it, the same ones to the last bit (manifold.c).             */
#define STI_MAX_CACHED_POINTS 8
typedef struct sti_CachedPoint {
    uint32_t id;
    int16_t from, to, cut; /* as in sti_ClippedPoint, incident corners as vertices                 */
} sti_CachedPoint;
typedef struct sti_CachedPatch {
    double room;         /* sum of the ways that points of both shapes may go [m]; 0: nothing is kept */
    uint32_t features;   /* cached_features.c; boxes: 0                                                     */
    int16_t reference;   /* 1: a face of the first shape, -1: of the second, 0: there is no patch   */
    int16_t face, other; /* the reference; the incident face, -1: an edge                          */
    int16_t n;
    sti_CachedPoint point[STI_MAX_CACHED_POINTS];
} sti_CachedPatch;

/* Which points of a contact patch are kept. */
typedef enum sti_Keep {
    STI_KEEP_SPAN,   /* few: the nearest, and those that span it                                   */
    STI_KEEP_NEEDED, /* all but those that others imply: redundant.c                                */
    STI_KEEP_ALL
} sti_Keep;

/* How a pair is to be seen. */
typedef struct sti_Collide {
    double margin; /* points with gap < margin are wanted                                          */
    int planar;    /* 0, 1, 2: both move across this world axis only; -1: in space                 */
    sti_Keep keep;
    sti_Hint *hint;          /* NULL: neither known nor wanted                                              */
    sti_CachedPatch *cached; /* likewise; what it holds must be within its room, and room is 0 where it is not */
    double *apart;           /* set where they are beyond the margin: by how much at least; NULL: not wanted */
    /* of the two shapes, placed as sti_core() does it, but at the origin; NULL: not known          */
    const struct sti_Core *core_a, *core_b;
} sti_Collide;

/* Can this pair of shape types touch, in this order? */
bool sti_collide_supports(st_ShapeType a, st_ShapeType b);

/* Append all contact points with gap < margin, features increasing. Poses are the shapes' in the world. */
st_Status sti_collide(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                      sti_Points *out, st_Error *err);

#endif
