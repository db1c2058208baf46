/* collide/mesh/mesh_overlap.h -- two solid meshes that intersect. */
#ifndef STI_OVERLAP_H
#define STI_OVERLAP_H

#include "collide/collide.h"

/* Appends the points of two solids whose surfaces touch or cross. meeting[0] is the mean of the points where they
 * cross, meeting[1] one of these; NULL: they may only touch. Poses and points are relative to `origin`. */
st_Status sti_overlap(const sti_Mesh *a, st_Pose pose_a, const sti_Mesh *b, st_Pose pose_b, const st_Vec3 meeting[2],
                      st_Vec3 origin, const sti_Collide *how, sti_Points *out, st_Error *err);

/* Appends the triangles near a box in the mesh's axes to the points' list, in order. */
st_Status sti_mesh_near(const sti_Mesh *mesh, const sti_Bounds *bounds, sti_Points *points, st_Error *err);

#endif
