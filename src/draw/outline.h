/* draw/outline.h -- the points of a shape that a picture needs. */
#ifndef STI_OUTLINE_H
#define STI_OUTLINE_H

#include "math/quat.h"

#include <stiction/scene.h>

#define STI_OUTLINE_POINTS 400

/* Returns the number of points; for spheres, points and planes only the centre. */
int sti_outline(const st_ShapeDef *shape, st_Pose pose, st_Vec3 out[STI_OUTLINE_POINTS]);

#endif
