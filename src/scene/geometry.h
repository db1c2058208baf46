/* scene/geometry.h -- reading the larger values of shapes. */
#ifndef STI_SCENE_GEOMETRY_H
#define STI_SCENE_GEOMETRY_H

#include "scene/reader.h"

sti_ReadValue sti_points_read, sti_triangles_read, sti_heights_read, sti_file_read, sti_bits_read;
/* Checks a shape's material against its own values; what was read of a hull or mesh goes into the def. */
st_Status sti_shape_finish(sti_Object *object);

#endif
