/* collide/surface.h -- the surface of a shape as triangles, for drawing: functions for descriptors. */
#ifndef STI_SURFACE_H
#define STI_SURFACE_H

#include "collide/shape.h"

/* Points and triangles so far. After memory is refused, nothing more is added, and `status` has the error. */
typedef struct sti_SurfaceBuilder {
    st_Surface made;
    int64_t point_room, triangle_room;
    st_Status status;
    st_Error *err;
} sti_SurfaceBuilder;

int sti_surface_point(sti_SurfaceBuilder *s, st_Vec3 p); /* returns its number */
void sti_surface_triangle(sti_SurfaceBuilder *s, int i, int j, int k);
void sti_surface_box(sti_SurfaceBuilder *s, st_Vec3 half);
void sti_surface_ellipsoid(sti_SurfaceBuilder *s, st_Vec3 half);
/* A profile (radius, z) from bottom to top, rotated about z; x and y are scaled. */
void sti_surface_turned(sti_SurfaceBuilder *s, const double (*profile)[2], int n, double sx, double sy);
#define STI_SURFACE_RINGS 12 /* rings of a ball from pole to pole */

#endif
