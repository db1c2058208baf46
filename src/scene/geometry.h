/* scene/geometry.h -- reading the larger values of shapes. */
#ifndef STI_SCENE_GEOMETRY_H
#define STI_SCENE_GEOMETRY_H

#include "scene/reader.h"

typedef st_Status sti_ReadGeometry(sti_Object *object, const sti_Key *key, const json_t *value, const sti_Place *place);
sti_ReadGeometry sti_points_read, sti_triangles_read, sti_heights_read, sti_file_read;
st_Status sti_bits_read(const sti_Object *object, const sti_Key *key, const json_t *value, const sti_Place *place,
                        uint32_t *out);
/* Hull and mesh: what was read goes into the def. */
st_Status sti_geometry_finish(sti_Object *object);

#endif
