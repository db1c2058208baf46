/* stiction/query.h -- queries on the shapes of a system at their current poses: rays, overlaps, distances.
 *
 * A query first refits the broad-phase tree to shapes that have moved since the last query or step, then visits nearby
 * shapes only. Among equally near shapes the one with the lowest id is returned. Queries change the tree: like a step,
 * they need exclusive access to the system.
 *
 * A shape takes part if it has a bit in common with `groups` (as in st_ShapeDef); UINT32_MAX selects all. Rays do not
 * hit points and bars, which have no thickness.
 */
#ifndef STICTION_QUERY_H
#define STICTION_QUERY_H

#include <stiction/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct st_RayHit {
    st_ShapeId shape; /* {0}: nothing was hit                                             */
    st_BodyId body;
    double distance; /* from the start [m]                                                */
    st_Vec3 point;   /* in the world                                                      */
    st_Vec3 normal;  /* unit, out of the shape; for an open surface, against the ray      */
} st_RayHit;

/* The first surface that the ray enters within `length` (may be infinite). A solid that contains the start of the ray
 * is not hit. Height fields and meshes that are not solid are hit from both sides. `direction` has any length except 0.
 * In a periodic cell a ray meets the images of all shapes; an infinite ray stops after 1,000 cells. `point` is on the
 * ray and may be outside the cell. */
ST_API st_Status st_system_ray(st_System *system, st_Vec3 from, st_Vec3 direction, double length, uint32_t groups,
                               st_RayHit *out, st_Error *err);

/* One ray of st_system_rays. */
typedef struct st_Ray {
    st_Vec3 from, direction;
    double length;
} st_Ray;
/* Many rays in one call, out[k] for rays[k]. The tree is refitted once for all of them. */
ST_API st_Status st_system_rays(st_System *system, const st_Ray *rays, int n, uint32_t groups, st_RayHit *out,
                                st_Error *err);

/* Find all shapes that overlap the probe, which is a shape def at `pose` in the world. Writes at most `room` ids in
 * increasing order; *count receives the total number. */
ST_API st_Status st_system_overlaps(st_System *system, const st_ShapeDef *probe, st_Pose pose, uint32_t groups,
                                    st_ShapeId *out, int room, int *count, st_Error *err);

typedef struct st_Closest {
    st_ShapeId shape; /* {0}: none within the requested distance                          */
    st_BodyId body;
    double gap;           /* signed: negative in overlap [m]                              */
    st_Vec3 point, other; /* on the first and on the second shape                         */
    st_Vec3 normal;       /* unit, from the first to the second                           */
} st_Closest;

/* Signed distance between two shapes of the system; out->shape is b. ST_ERR_UNSUPPORTED if it is not defined for this
 * pair of types. */
ST_API st_Status st_system_distance(st_System *system, st_ShapeId a, st_ShapeId b, st_Closest *out, st_Error *err);
/* The shape closest to the probe; out->shape is {0} if none is nearer than `within`. */
ST_API st_Status st_system_closest(st_System *system, const st_ShapeDef *probe, st_Pose pose, double within,
                                   uint32_t groups, st_Closest *out, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
