/* collide/collide.h -- contact points between two shapes: signed gaps, points, normals.
 *
 * Uses shapes and poses, never bodies, forces or solvers. For every pair:
 *
 *   - the smallest gap of a pair is its signed distance: the least distance apart, or minus the least
 *     translation that separates. It is continuous through touching: event schemes find its roots;
 *   - every other point is a point of one shape's surface over a face of the other, with the gap along that
 *     face's normal;
 *   - the gap's rate is normal . (velocity of b at the point - velocity of a at the point), exactly wherever
 *     the features that touch do not change;
 *   - the result depends on the two poses alone, not on the past.
 */
#ifndef STI_COLLIDE_H
#define STI_COLLIDE_H

#include "base/work.h"
#include "collide/shape.h"

typedef struct sti_ContactPoint {
    double gap;            /* [m]                                                                             */
    st_Vec3 point, normal; /* in the world; normal from the first shape to the second               */
    uint32_t feature;      /* identifies the corner, edge ...; the same from step to step */
} sti_ContactPoint;

#define STI_FEATURE_BITS 20
/* Shapes with more corners number them from 0 within a patch; the other numbers are for features that must be made
 * unique. */
#define STI_FEATURES ((1u << STI_FEATURE_BITS) - 4096)

/* Contact points of one pair, in memory that grows. */
typedef struct sti_Points {
    int n;
    sti_ContactPoint *point;
    int64_t capacity;
    int n_list; /* triangles of the current pair */
    int *list;
    int64_t list_capacity;
    sti_Stop *stop; /* ends the search among triangles with ST_ERR_CANCELLED; NULL: none */
    st_Allocator allocator;
} sti_Points;

st_Status sti_points_add(sti_Points *points, sti_ContactPoint point, st_Error *err);
void sti_points_free(sti_Points *points);

/* The packed result of the last call. It only speeds up the search; the result does not depend on it. */
typedef struct sti_Hint {
    uint32_t normal;   /* convex.c; 0: unknown */
    uint32_t features; /* cached_features.c; 0: none                                                       */
} sti_Hint;

/* The construction of the points of a patch, and how far the shapes may move until it changes. Within that distance
 * the points are computed again from it, with the same bits (manifold.c). */
#define STI_MAX_CACHED_POINTS 8
typedef struct sti_CachedPoint {
    uint32_t id;
    int16_t from, to, cut; /* as in sti_ClippedPoint, incident corners as vertices                 */
} sti_CachedPoint;
typedef struct sti_CachedPatch {
    double room;         /* sum of the distances that points of both shapes may move [m]; 0: nothing is cached */
    uint32_t features;   /* cached_features.c; boxes: 0                                                     */
    int16_t reference;   /* 1: a face of the first shape, -1: of the second, 0: there is no patch   */
    int16_t face, other; /* the reference; the incident face, -1: an edge                          */
    int16_t n;
    sti_CachedPoint point[STI_MAX_CACHED_POINTS];
} sti_CachedPatch;

/* Selection of points of a contact patch. */
typedef enum sti_Keep {
    STI_KEEP_SPAN,   /* few: the nearest, and those that span the patch */
    STI_KEEP_NEEDED, /* all except those that others imply: redundant.c */
    STI_KEEP_ALL
} sti_Keep;

/* Options for a pair. */
typedef struct sti_Collide {
    double margin; /* points with gap < margin are returned */
    int planar;    /* 0, 1, 2: both move only across this world axis; -1: in space */
    sti_Keep keep;
    sti_Hint *hint; /* NULL: neither read nor written */
    /* likewise; the motion since it was stored must be within its room, and room is 0 if it is empty */
    sti_CachedPatch *cached;
    double *apart; /* if they are beyond the margin: set to a lower bound of the excess; NULL: not needed */
    /* cores of the two shapes as from sti_core(), but at the origin; NULL: not known */
    const struct sti_Core *core_a, *core_b;
} sti_Collide;

/* Can this pair of shape types touch, in this order? */
bool sti_collide_supports(st_ShapeType a, st_ShapeType b);

/* Appends all contact points with gap < margin, features increasing. Poses are those of the shapes in the world. */
st_Status sti_collide(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                      sti_Points *out, st_Error *err);

#endif
