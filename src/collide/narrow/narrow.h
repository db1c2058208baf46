/* collide/narrow/narrow.h -- the functions of the dispatch matrix. */
#ifndef STI_PAIR_H
#define STI_PAIR_H

#include "collide/collide.h"
#include "collide/narrow/support.h"

/* Appends the contact points of a pair; features increase. */
typedef st_Status sti_PairFunction(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                                   const sti_Collide *how, sti_Points *out, st_Error *err);

sti_PairFunction sti_plane_shape; /* plane.c: a plane against anything bounded                      */
sti_PairFunction sti_sphere_sphere, sti_sphere_capsule, sti_sphere_box; /* sphere.c: also points, bars */
sti_PairFunction sti_box_box;                                           /* box_box.c                   */
sti_PairFunction sti_convex_convex;                                     /* convex.c: any two           */
sti_PairFunction sti_mesh_convex, sti_mesh_mesh;                        /* mesh_pair.c                 */

/* Both cores, relative to the position of the first, which is `origin`. */
typedef struct sti_Placed {
    const sti_Core *a, *b;
    st_Vec3 origin;
    sti_Core own[2]; /* that of the first is not used if a known core can be used directly */
} sti_Placed;
/* In planar scenes they are stretched across the plane, so that no axis across it separates. false: they do not
 * overlap across the plane. */
bool sti_place_pair(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                    sti_Placed *out);
void sti_core_stretch(sti_Core *core, int axis, double size);

#endif
