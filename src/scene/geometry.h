/* scene/geometry.h -- reading the larger values of shapes. */
#ifndef STI_SCENE_GEOMETRY_H
#define STI_SCENE_GEOMETRY_H

#include "scene/reader.h"

sti_ReadValue sti_points_read, sti_triangles_read, sti_heights_read, sti_file_read, sti_bits_read;
/* Hull and mesh: what was read goes into the def. */
st_Status sti_geometry_finish(sti_Object *object);

#endif
