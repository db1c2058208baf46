/* scene/geometry.h -- reads the larger values of shapes: points, triangles, outlines, heights, files. */
#ifndef STI_SCENE_GEOMETRY_H
#define STI_SCENE_GEOMETRY_H

#include "scene/reader.h"

sti_ReadValue sti_points_read, sti_triangles_read, sti_outline_read, sti_sides_read, sti_heights_read, sti_file_read,
    sti_bits_read;
/* Checks a shape's material against its own values, and stores the points and triangles of a hull or mesh in the
 * def. */
st_Status sti_shape_finish(sti_Object *object);

#endif
