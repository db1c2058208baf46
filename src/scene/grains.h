/* scene/grains.h -- regions, sizes and fills of scene files. */
#ifndef STI_SCENE_GRAINS_H
#define STI_SCENE_GRAINS_H

#include "scene/reader.h"

sti_ReadValue sti_region_read, sti_sizes_read, sti_sieves_read;

/* Stores a member of `regions`, to which other objects may refer. */
st_Status sti_region_keep(sti_Reader *reader, sti_Object *object);
/* Adds a member of `fills`: its grains become bodies of the scene. */
st_Status sti_fill_add(sti_Reader *reader, sti_Object *object);
/* Adds a member of `inlets`. */
st_Status sti_inlet_add(sti_Reader *reader, sti_Object *object);

#endif
