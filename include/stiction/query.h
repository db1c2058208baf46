/* stiction/query.h -- asking a system about its shapes as they stand: rays, overlaps, distances.
 *
 * Answers come from the tree of the broad phase: a look at every shape to see whether it has moved since the last
 * question or step, then only what is near. Of equally near shapes the one with the lower id is named.
 *
 * Shapes are seen where `groups` (bits, as in st_ShapeDef) has one of theirs; UINT32_MAX sees all. Points and
 * bars are thin: rays pass them by.
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
    st_Vec3 normal;  /* unit, out of the shape; of a surface, against the ray             */
} st_RayHit;

/* The first surface that the ray enters within `length` (may be infinite). A solid that the ray starts in is
 * not seen. Height fields and meshes that are no solids are surfaces: they are seen from both sides. `direction` has
 * any length but 0.                                                                              */
ST_API st_Status st_system_ray(st_System *system, st_Vec3 from, st_Vec3 direction, double length, uint32_t groups,
                               st_RayHit *out, st_Error *err);

/* Many rays at once, out[k] for rays[k]: the look at every shape is then made once. */
typedef struct st_Ray {
    st_Vec3 from, direction;
    double length;
} st_Ray;
ST_API st_Status st_system_rays(st_System *system, const st_Ray *rays, int n, uint32_t groups, st_RayHit *out,
                                st_Error *err);

/* Every shape that overlaps the probe, a def like any other at `pose` in the world, by increasing id. Writes up
 * to `room` ids; *count is how many there are.                                                    */
ST_API st_Status st_system_overlaps(st_System *system, const st_ShapeDef *probe, st_Pose pose, uint32_t groups,
                                    st_ShapeId *out, int room, int *count, st_Error *err);

typedef struct st_Closest {
    st_ShapeId shape; /* {0}: none within the distance asked for                          */
    st_BodyId body;
    double gap;           /* signed: negative in overlap [m]                              */
    st_Vec3 point, other; /* on the first and on the second shape                         */
    st_Vec3 normal;       /* unit, from the first to the second                           */
} st_Closest;

/* Signed distance of two shapes of the system; out->shape is b. ST_ERR_UNSUPPORTED: such a pair has none. */
ST_API st_Status st_system_distance(st_System *system, st_ShapeId a, st_ShapeId b, st_Closest *out, st_Error *err);
/* The shape closest to the probe, if any is nearer than `within`. */
ST_API st_Status st_system_closest(st_System *system, const st_ShapeDef *probe, st_Pose pose, double within,
                                   uint32_t groups, st_Closest *out, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
