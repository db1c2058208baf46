/* scene/sets.c -- overrides "PATH=VALUE" of the command line, applied to the tree before anything is checked.
 *
 * A path names parts from the top, "bodies/left/mass": members of objects by key, members of lists by their
 * name, else by their number from 0. All parts but the last must be there. A key may be new, a list member
 * may not.
 */
#include "scene/reader.h"

#include <stdlib.h>

typedef struct Walk {
    const sti_Reader *reader;
    const char *text; /* of the whole override */
    char *path;       /* resolved so far: list members by number */
    size_t size;
} Walk;

#define REFUSE(walk, ...) sti_report_set((walk)->reader, (walk)->text, __VA_ARGS__)

/* The member of a list by name, or by number; SIZE_MAX: none. */
static size_t find_member(const json_t *list, const char *part)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (name != NULL && strcmp(name, part) == 0) return i;
    }
    char *end;
    if (part[0] < '0' || part[0] > '9') return SIZE_MAX;
    unsigned long long number = strtoull(part, &end, 10);
    return *end == '\0' && number < json_array_size(list) ? (size_t)number : SIZE_MAX;
}

static st_Status no_such_part(const Walk *walk, const json_t *parent, const char *part)
{
    const char *where = walk->path[0] != '\0' ? walk->path : "the scene", *key;
    char text[400] = "", found[80];
    sti_Nearest nearest = {.word = part};
    if (json_is_object(parent)) {
        json_t *value;
        json_object_foreach((json_t *)parent, key, value) sti_nearest_try(&nearest, key);
        sti_nearest_text(&nearest, "it has", text, sizeof text);
        return REFUSE(walk, "%.100s has no \"%.60s\"%s", where, part, text);
    }
    if (json_is_array(parent)) {
        for (size_t i = 0; i < json_array_size(parent); i++) {
            key = json_string_value(json_object_get(json_array_get(parent, i), "name"));
            if (key != NULL) sti_nearest_try(&nearest, key);
        }
        sti_nearest_text(&nearest, "by name", text, sizeof text);
        if (json_array_size(parent) == 0) return REFUSE(walk, "%.100s is empty, it has no \"%.60s\"", where, part);
        return REFUSE(walk, "%.100s has no member \"%.60s\", only 0 to %zu%s", where, part, json_array_size(parent) - 1,
                      text);
    }
    sti_found_text(parent, found, sizeof found);
    return REFUSE(walk, "%.100s is %s, it has no part \"%.60s\"", where, found, part);
}

/* The part of `parent` called `part`, noted in the resolved path. A missing `simulation` is made: every
 * scene has one, written or not.                                                                    */
static st_Status step_down(Walk *walk, json_t *parent, const char *part, json_t **out)
{
    const char *slash = walk->path[0] != '\0' ? "/" : "";
    if (json_is_array(parent)) {
        size_t index = find_member(parent, part);
        if (index == SIZE_MAX) return no_such_part(walk, parent, part);
        sti_append(walk->path, walk->size, "%s%zu", slash, index);
        *out = json_array_get(parent, index);
        return ST_OK;
    }
    *out = json_object_get(parent, part);
    if (*out == NULL && parent == walk->reader->root && strcmp(part, "simulation") == 0) {
        *out = json_object();
        if (json_object_set_new(parent, part, *out) != 0) return REFUSE(walk, "out of memory");
    }
    if (*out == NULL) return no_such_part(walk, parent, part);
    sti_append(walk->path, walk->size, "%s%s", slash, part);
    return ST_OK;
}

/* The last part: replaced, or added where it is a key of an object. Takes `value`. */
static st_Status put(Walk *walk, json_t *parent, const char *part, json_t *value)
{
    const char *slash = walk->path[0] != '\0' ? "/" : "";
    int failed;
    if (json_is_array(parent)) {
        size_t index = find_member(parent, part);
        if (index == SIZE_MAX) {
            json_decref(value);
            return no_such_part(walk, parent, part);
        }
        sti_append(walk->path, walk->size, "%s%zu", slash, index);
        failed = json_array_set_new(parent, index, value);
    } else if (json_is_object(parent)) {
        sti_append(walk->path, walk->size, "%s%s", slash, part);
        failed = json_object_set_new(parent, part, value);
    } else {
        json_decref(value);
        return no_such_part(walk, parent, part);
    }
    return failed ? REFUSE(walk, "the key is not UTF-8, or memory is short") : ST_OK;
}

/* JSON where it is JSON, else a word: `nsgs` needs no quotes. NULL: neither JSON nor UTF-8. */
static json_t *read_override(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
    return value != NULL ? value : json_string(text);
}

static st_Status apply(Walk *walk, char *path, const char *value_text)
{
    json_t *parent = walk->reader->root;
    char *part = path;
    for (char *slash; (slash = strchr(part, '/')) != NULL; part = slash + 1) {
        *slash = '\0';
        if (*part == '\0') return REFUSE(walk, "its path has an empty part");
        STI_TRY(step_down(walk, parent, part, &parent));
    }
    if (*part == '\0') return REFUSE(walk, "its path ends with an empty part");
    json_t *value = read_override(value_text);
    if (value == NULL) return REFUSE(walk, "the value is not UTF-8");
    return put(walk, parent, part, value);
}

st_Status sti_set_apply(sti_Reader *reader, const char *text)
{
    const char *equals = text != NULL ? strchr(text, '=') : NULL;
    Walk walk = {.reader = reader, .text = text != NULL ? text : "(null)"};
    if (equals == NULL || equals == text) return REFUSE(&walk, "must be PATH=VALUE, as in bodies/left/mass=2");

    /* Resolved, a part may be longer than it was only by its number: 20 digits for a name of one letter. */
    size_t length = (size_t)(equals - text);
    walk.size = 24 * length + 24;
    walk.path = calloc(walk.size, 1);
    char *path = malloc(length + 1);
    st_Status status = ST_ERR_MEMORY;
    if (walk.path == NULL || path == NULL) {
        sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory for --set %.120s", text);
    } else {
        memcpy(path, text, length);
        path[length] = '\0';
        status = apply(&walk, path, equals + 1);
    }
    free(path);
    if (status != ST_OK) {
        free(walk.path);
        return status;
    }
    reader->sets[reader->n_sets++] = (sti_Set){text, walk.path};
    return ST_OK;
}
