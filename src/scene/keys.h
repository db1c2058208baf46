/* scene/keys.h -- macros for the tables of keys.
 *
 * Rows: key, value, variants, needed in, range, field, unit, help, when left out, kind of members.
 */
#ifndef STI_SCENE_KEYS_H
#define STI_SCENE_KEYS_H

#include "scene/reader.h"

#define BIT(variant)   (1u << (variant))
#define FIELD(def, of) offsetof(st_##def##Def, of)
#define COUNT(table)   ((int)(sizeof(table) / sizeof(table)[0]))

#endif
