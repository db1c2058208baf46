/* collide/mesh/inside.h -- shapes that are wholly inside a solid mesh, and their way out. */
#ifndef STI_INSIDE_H
#define STI_INSIDE_H

#include "collide/shape.h"

/* Is p, in the mesh's axes, inside the solid? Then also the nearest point of the surface, and the unit vector from p
 * to it. */
bool sti_mesh_holds(const sti_Mesh *mesh, st_Vec3 p);                    /* is it inside? */
st_Vec3 sti_mesh_nearest(const sti_Mesh *mesh, int triangle, st_Vec3 p); /* nearest point of a triangle */
bool sti_mesh_way_out(const sti_Mesh *mesh, st_Vec3 p, st_Vec3 *on, st_Vec3 *normal);

#endif
