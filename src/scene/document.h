/* scene/document.h -- what schema and reference share: default values as the tables and defs have them. */
#ifndef STI_SCENE_DOCUMENT_H
#define STI_SCENE_DOCUMENT_H

#include "scene/reader.h"

/* NULL: none, or it is told in words (key->fallback). New references. */
json_t *sti_default_value(const sti_Kind *kind, const sti_Key *key, int variant);
json_t *sti_default_setting(const st_Setting *setting);

json_t *sti_json_number(double x); /* whole ones without a point */
json_t *sti_json_vector(const double *x, int n);

#endif
