/* scene/grains.h -- regions, sizes and fills, as scene files have them. */
#ifndef STI_SCENE_GRAINS_H
#define STI_SCENE_GRAINS_H

#include "scene/reader.h"

sti_ReadValue sti_region_read, sti_sizes_read, sti_sieves_read;

/* A member of `regions`, kept for those that refer to it. */
st_Status sti_region_keep(sti_Reader *reader, sti_Object *object);
/* A member of `fills`: its grains join the bodies of the scene. */
st_Status sti_fill_add(sti_Reader *reader, sti_Object *object);
/* A member of `inlets`. */
st_Status sti_inlet_add(sti_Reader *reader, sti_Object *object);

#endif
