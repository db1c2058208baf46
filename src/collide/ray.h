/* collide/ray.h -- where a ray enters a shape. */
#ifndef STI_RAY_H
#define STI_RAY_H

#include "collide/shape.h"

/* from + s way, |way| = 1, 0 <= s <= limit, in the world. True: it enters at *s with outward *normal. */
bool sti_ray_shape(const sti_Shape *shape, st_Pose pose, st_Vec3 from, st_Vec3 way, double limit, double *s,
                   st_Vec3 *normal);

#endif
