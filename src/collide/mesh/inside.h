/* collide/mesh/inside.h -- what is wholly inside a solid mesh, and the way out. */
#ifndef STI_INSIDE_H
#define STI_INSIDE_H

#include "collide/shape.h"

/* Is p, in the mesh's axes, inside the solid? Then the surface's point nearest to it, and the unit from p to that. */
bool sti_mesh_holds(const sti_Mesh *mesh, st_Vec3 p);                    /* is it inside? */
st_Vec3 sti_mesh_nearest(const sti_Mesh *mesh, int triangle, st_Vec3 p); /* of a triangle's points */
bool sti_mesh_way_out(const sti_Mesh *mesh, st_Vec3 p, st_Vec3 *on, st_Vec3 *normal);

#endif
