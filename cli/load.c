#include "load.h"

#include "describe.h"
#include "gallery.h"
#include "outputs.h"
#include "ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STANDARD_INPUT "-"
#define MOST_ERRORS    20                /* most errors of a scene that are printed */
#define LARGEST        ((size_t)1 << 30) /* largest scene in bytes, as in the reader */

static bool fail(st_Error *err, st_Status status, const char *text)
{
    err->status = status;
    err->line = 0;
    snprintf(err->message, sizeof err->message, "%s", text);
    return false;
}

/* Finds the file of `word`; "-" is standard input. If there is neither file nor example, the error is set here. */
static bool find_file(const char *word, Loaded *loaded, st_Error *err)
{
    struct stat info = {0};
    Gallery gallery = {0};
    const bool found = strcmp(word, STANDARD_INPUT) == 0 || stat(word, &info) == 0;
    bool missing =
        found ? S_ISDIR(info.st_mode) : errno == ENOENT; /* a folder with the name of an example does not hide it */
    bool ok = true;
    if (missing && gallery_open(&gallery) != 0) ok = fail(err, ST_ERR_MEMORY, "out of memory");
    const Example *example = missing && ok ? gallery_find(&gallery, word) : NULL;
    if (found && missing && example == NULL) missing = false; /* the reader reports the error for a folder */
    if (missing && ok && example == NULL) {
        const char *near = gallery_suggest(&gallery, word);
        fail(err, ST_ERR_FILE, "");
        snprintf(err->message, sizeof err->message, "%s: no such file, and no example of that name%s%s%s", word,
                 near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
        ok = false;
    }
    if (ok) {
        loaded->path = strdup(example != NULL ? example->path : word);
        if (loaded->path == NULL) ok = fail(err, ST_ERR_MEMORY, "out of memory");
    }
    gallery_close(&gallery);
    return ok;
}

/* Its "name", or the name of its file. */
static bool name_scene(Loaded *loaded, st_Error *err)
{
    const char *slash = strrchr(loaded->path, '/');
    loaded->name = scene_text_member(loaded->text, "name");
    loaded->description = scene_text_member(loaded->text, "description");
    if (loaded->name != NULL && loaded->name[0] == '\0') {
        free(loaded->name);
        loaded->name = strdup(slash != NULL ? slash + 1 : loaded->path);
        if (loaded->name != NULL) loaded->name[scene_stem(loaded->name)] = '\0';
    }
    if (loaded->name == NULL || loaded->description == NULL) return fail(err, ST_ERR_MEMORY, "out of memory");
    return true;
}

static bool keep_sets(const TextList *sets, Loaded *loaded, st_Error *err)
{
    loaded->sets = calloc((size_t)sets->count + 1, sizeof *loaded->sets);
    bool ok = loaded->sets != NULL;
    for (int k = 0; ok && k < sets->count; k++) {
        loaded->sets[k] = strdup(sets->item[k]);
        ok = loaded->sets[k] != NULL;
    }
    loaded->n_sets = sets->count;
    return ok || fail(err, ST_ERR_MEMORY, "out of memory");
}

/* Makes a system from path and text. */
static bool make_system(const TextList *sets, Loaded *loaded, st_Error *err)
{
    if (!name_scene(loaded, err) || !keep_sets(sets, loaded, err)) return false;
    if (st_scene_parse(loaded->text, loaded->length, loaded->path, sets->item, sets->count, &loaded->scene,
                       &loaded->def, err) != ST_OK)
        return false;
    loaded->def.ranks = program_ranks();
    if (st_system_create(loaded->scene, &loaded->def, &loaded->system, err) == ST_OK) return true;
    /* Messages of the reader begin with the file; those of the engine get it here. */
    char message[sizeof err->message];
    snprintf(message, sizeof message, "%s", err->message);
    snprintf(err->message, sizeof err->message, "%s: %.300s", loaded->path, message);
    return false;
}

bool load(const char *word, const TextList *sets, Loaded *loaded, st_Error *err)
{
    *loaded = (Loaded){0};
    if (!find_file(word, loaded, err)) return false;
    /* only once: a pipe cannot be read again; files that a scene from standard input names are in the current folder */
    loaded->text =
        read_whole(strcmp(word, STANDARD_INPUT) == 0 ? "/dev/stdin" : loaded->path, LARGEST, &loaded->length);
    if (loaded->text == NULL) /* the reader reports the error */
        return st_scene_read(loaded->path, NULL, 0, &loaded->scene, &loaded->def, err) == ST_OK;
    return make_system(sets, loaded, err);
}

bool load_again(const Loaded *from, const TextList *sets, Loaded *loaded, st_Error *err)
{
    *loaded = (Loaded){.path = strdup(from->path), .text = malloc(from->length + 1), .length = from->length};
    if (loaded->path == NULL || loaded->text == NULL) return fail(err, ST_ERR_MEMORY, "out of memory");
    memcpy(loaded->text, from->text, from->length + 1);
    return make_system(sets, loaded, err);
}

int scene_errors(const Loaded *loaded, st_Error errors[MOST_ERRORS])
{
    if (loaded->text == NULL || loaded->scene != NULL || loaded->sets == NULL) return 0;
    return st_scene_errors(loaded->text, loaded->length, loaded->path, (const char *const *)loaded->sets,
                           loaded->n_sets, errors, MOST_ERRORS);
}

int refuse_scene(const Loaded *loaded, const st_Error *err)
{
    st_Error errors[MOST_ERRORS];
    const int n = scene_errors(loaded, errors);
    if (n < 2) return complain(STATUS_INPUT, "%s", err->message);
    for (int k = 0; k < n && k < MOST_ERRORS; k++)
        complain(STATUS_INPUT, "%s", errors[k].message);
    if (n > MOST_ERRORS) complain(STATUS_INPUT, "%s: and %d more errors", loaded->path, n - MOST_ERRORS);
    return STATUS_INPUT;
}

bool means_scene(const char *word)
{
    static const char *const endings[] = {".json", ".urdf", ".xml", ".mjcf", ".sdf", ".world", ".xacro"};
    struct stat info;
    Gallery gallery = {0};
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++)
        if (has_ending(word, endings[k])) return true;
    if (stat(word, &info) == 0 || gallery_open(&gallery) != 0) return false;
    const bool found = gallery_find(&gallery, word) != NULL;
    gallery_close(&gallery);
    return found;
}

bool open_recording(const char *word, st_Recording **out, st_Error *err)
{
    if (st_recording_open(word, out, err) == ST_OK) return true;
    if (means_scene(word))
        snprintf(err->message, sizeof err->message,
                 "%s: is a scene, must be a recording: stiction run %s -o FILE.h5 makes one", word, word);
    return false;
}

void unload(Loaded *loaded)
{
    st_system_destroy(loaded->system);
    st_scene_destroy(loaded->scene);
    for (int k = 0; loaded->sets != NULL && loaded->sets[k] != NULL; k++)
        free(loaded->sets[k]);
    free((void *)loaded->sets);
    free(loaded->text);
    free(loaded->description);
    free(loaded->name);
    free(loaded->path);
    *loaded = (Loaded){0};
}
