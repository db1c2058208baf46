/* base/json.h -- builds jansson trees, for scene and record. */
#ifndef STI_JSON_H
#define STI_JSON_H

#include <jansson.h>

/* Adds to an object or list and returns it. If an argument is NULL or memory is refused, everything is released and
 * NULL is returned: so a failure anywhere in a tree makes the whole tree NULL. */
static inline json_t *sti_with(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0) return object;
    json_decref(object);
    return NULL;
}

static inline json_t *sti_append_to(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) == 0) return list;
    json_decref(list);
    return NULL;
}

#endif
