/* scene/document.h -- default values from tables and defs, for the schema and the reference. */
#ifndef STI_SCENE_DOCUMENT_H
#define STI_SCENE_DOCUMENT_H

#include "base/json.h"
#include "scene/reader.h"

/* The default value of a key or setting; null if there is none, or if it is described in words (key->fallback).
 * Returns a new reference; NULL: out of memory. */
json_t *sti_default_value(const sti_Kind *kind, const sti_Key *key, int variant);
json_t *sti_default_setting(const st_Setting *setting);

json_t *sti_json_number(double x); /* whole numbers without a decimal point */

#endif
