/* scene/sets.c -- applies overrides "PATH=VALUE" of the command line to the tree, before it is checked.
 *
 * A path gives parts from the top, as in "bodies/left/mass": members of objects by key, members of lists by name or
 * by number from 0. All parts except the last must exist. A key may be new, a list member may not. A star in a part
 * matches any characters: all members, or those with a matching name. After a star, members that lack the next part
 * are skipped; at least one place must be reached.
 */
#include "base/names.h"
#include "scene/reader.h"

#include <stdlib.h>

typedef struct Walk {
    sti_Reader *reader;
    const char *text; /* the whole override */
    char *path;       /* path resolved so far: list members by number */
    size_t size;
    const json_t *value; /* copied to each place */
    bool wild;           /* an earlier part has a star */
    int reached;         /* number of places */
} Walk;

#define REFUSE(walk, ...) sti_report_set((walk)->reader, (walk)->text, __VA_ARGS__)

/* Finds the member of a list by name or number; SIZE_MAX: none. */
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

/* Replaces a member by the value, or adds it as a new key of an object. */
static st_Status sets_put(Walk *walk, json_t *parent, const char *key, size_t index)
{
    json_t *value = json_deep_copy(walk->value);
    if (value == NULL) return sti_report_line(walk->reader, 0, ST_ERR_MEMORY, "out of memory for overrides");
    const int failed =
        json_is_array(parent) ? json_array_set_new(parent, index, value) : json_object_set_new(parent, key, value);
    if (failed) return REFUSE(walk, "the key is not UTF-8, or memory is short");
    /* Records that this override set the place at walk->path. */
    sti_Reader *reader = walk->reader;
    walk->reached++;
    if (reader->n_sets == reader->sets_room) {
        const int room = 2 * reader->sets_room + 4;
        sti_Set *larger = realloc(reader->sets, (size_t)room * sizeof *larger);
        if (larger == NULL) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory for overrides");
        reader->sets = larger;
        reader->sets_room = room;
    }
    sti_Set *set = &reader->sets[reader->n_sets];
    set->text = walk->text;
    set->path = strdup(walk->path);
    if (set->path == NULL) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory for overrides");
    reader->n_sets++;
    return ST_OK;
}

static st_Status descend(Walk *walk, json_t *parent, const char *path);

/* Puts the value at one member of `parent`, or continues with the `rest` of the path below it. */
static st_Status sets_enter(Walk *walk, json_t *parent, const char *key, size_t index, const char *rest)
{
    const size_t length = strlen(walk->path);
    const char *slash = length > 0 ? "/" : "";
    if (json_is_array(parent))
        sti_append(walk->path, walk->size, "%s%zu", slash, index);
    else
        sti_append(walk->path, walk->size, "%s%s", slash, key);
    json_t *child = json_is_array(parent) ? json_array_get(parent, index) : json_object_get(parent, key);
    st_Status status = rest != NULL ? descend(walk, child, rest) : sets_put(walk, parent, key, index);
    if (status == ST_OK) walk->path[length] = '\0';
    return status;
}

static st_Status descend(Walk *walk, json_t *parent, const char *path)
{
    char part[256];
    const char *slash = strchr(path, '/'), *rest = slash != NULL ? slash + 1 : NULL;
    const size_t length = slash != NULL ? (size_t)(slash - path) : strlen(path);
    if (length == 0) return REFUSE(walk, "its path %s an empty part", slash != NULL ? "has" : "ends with");
    if (length >= sizeof part) return REFUSE(walk, "its path has a part of more than %zu bytes", sizeof part - 1);
    memcpy(part, path, length);
    part[length] = '\0';

    const size_t index = json_is_array(parent) ? find_member(parent, part) : SIZE_MAX;
    bool there = json_is_array(parent) ? index != SIZE_MAX : json_object_get(parent, part) != NULL;
    if (!there && strchr(part, '*') != NULL) {
        walk->wild = true;

        /* A part with a star: every member that matches. */
        const char *key;
        json_t *child;
        for (size_t i = 0; i < json_array_size(parent); i++) {
            const char *name = json_string_value(json_object_get(json_array_get(parent, i), "name"));
            if (sti_name_matches(part, name != NULL ? name : "")) STI_TRY(sets_enter(walk, parent, NULL, i, rest));
        }
        if (!json_is_object(parent)) return ST_OK;
        json_object_foreach(parent, key, child)
        {
            if (sti_name_matches(part, key)) STI_TRY(sets_enter(walk, parent, key, 0, rest));
        }
        return ST_OK;
    }
    /* A missing `simulation` is created, because every scene has one. */
    if (!there && rest != NULL && parent == walk->reader->root && strcmp(part, "simulation") == 0) {
        there = json_object_set_new(parent, part, json_object()) == 0;
        if (!there) return REFUSE(walk, "out of memory");
    }
    there = there || (rest == NULL && json_is_object(parent));
    if (!there && walk->wild) return ST_OK;
    if (there) return sets_enter(walk, parent, part, index, rest);
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

st_Status sti_set_apply(sti_Reader *reader, const char *text)
{
    const char *equals = text != NULL ? strchr(text, '=') : NULL;
    Walk walk = {.reader = reader, .text = text != NULL ? text : "(null)"};
    if (equals == NULL || equals == text) return REFUSE(&walk, "must be PATH=VALUE, as in bodies/left/mass=2");

    /* A resolved part may be longer than the given one: 20 digits for a name of one letter, a key for a star. */
    size_t length = (size_t)(equals - text);
    walk.size = 24 * length + 1024;
    walk.path = calloc(walk.size, 1);
    char *path = malloc(length + 1);
    /* JSON; other text is a word, so that `nsgs` needs no quotes. NULL: neither JSON nor UTF-8. */
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
    if (value == NULL) value = json_string(equals + 1);
    st_Status status = ST_ERR_MEMORY;
    if (walk.path == NULL || path == NULL) {
        sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory for --set %.120s", text);
    } else if (value == NULL) {
        status = REFUSE(&walk, "the value is not UTF-8");
    } else {
        memcpy(path, text, length);
        path[length] = '\0';
        walk.value = value;
        status = descend(&walk, reader->root, path);
        if (status == ST_OK && walk.reached == 0) status = REFUSE(&walk, "nothing in the scene matches its path");
    }
    free(path);
    free(walk.path);
    json_decref(value);
    return status;
}
