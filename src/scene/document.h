/* scene/document.h -- what schema and reference share: default values as the tables and defs have them. */
#ifndef STI_SCENE_DOCUMENT_H
#define STI_SCENE_DOCUMENT_H

#include "base/json.h"
#include "scene/reader.h"

/* The value of a key or setting that is left out; null where there is none, or where it is told in words
 * (key->fallback). New references; NULL: no memory.                                               */
json_t *sti_default_value(const sti_Kind *kind, const sti_Key *key, int variant);
json_t *sti_default_setting(const st_Setting *setting);

json_t *sti_json_number(double x); /* whole ones without a point */

#endif
