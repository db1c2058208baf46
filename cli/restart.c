#define _XOPEN_SOURCE 700 /* realpath */
#include "restart.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool fail(st_Error *err, st_Status status, const char *file, const char *what)
{
    err->status = status;
    err->line = 0;
    snprintf(err->message, sizeof err->message, "%s: %s", file, what);
    return false;
}

static bool find_checkpoint(st_Recording *recording, const char *file, double at, st_RecordedCheckpoint *found,
                            st_Error *err)
{
    const st_RecordingInfo *info = st_recording_info(recording);
    bool any = false;
    if (info->n_checkpoints == 0) return fail(err, ST_ERR_FORMAT, file, "has no checkpoint to restart from");
    for (int64_t k = 0; k < info->n_checkpoints; k++) {
        st_RecordedCheckpoint checkpoint;
        if (st_recording_checkpoints(recording, k, 1, &checkpoint, err) != ST_OK) return false;
        if (checkpoint.time <= at * (1 + 1e-12)) {
            *found = checkpoint;
            any = true;
        }
    }
    return any || fail(err, ST_ERR_ARGUMENT, file, "has no checkpoint at or before that time");
}

static bool copy_texts(const st_RecordingInfo *info, const TextList *more, Loaded *loaded, st_Error *err)
{
    int n = info->n_sets + more->count;
    loaded->path = strdup(info->label);
    loaded->name = strdup(info->name);
    loaded->description = strdup(info->description);
    loaded->text = strdup(info->text);
    loaded->sets = calloc((size_t)n + 1, sizeof *loaded->sets);
    bool ok = loaded->path != NULL && loaded->name != NULL && loaded->description != NULL && loaded->text != NULL &&
              loaded->sets != NULL;
    for (int k = 0; ok && k < n; k++) {
        loaded->sets[k] = strdup(k < info->n_sets ? info->sets[k] : more->item[k - info->n_sets]);
        ok = loaded->sets[k] != NULL;
    }
    loaded->n_sets = n;
    return ok || fail(err, ST_ERR_MEMORY, info->label, "out of memory");
}

bool load_restart(const char *file, double at, const TextList *sets, Loaded *loaded, st_Error *err)
{
    st_Recording *recording = NULL;
    st_RecordedCheckpoint checkpoint;
    *loaded = (Loaded){0};
    bool ok = open_recording(file, &recording, err) && copy_texts(st_recording_info(recording), sets, loaded, err) &&
              find_checkpoint(recording, file, at, &checkpoint, err) &&
              st_recording_scene(recording, sets->item, sets->count, &loaded->scene, &loaded->def, err) == ST_OK &&
              st_system_create(loaded->scene, &loaded->def, &loaded->system, err) == ST_OK &&
              st_recording_restore(recording, &checkpoint, loaded->system, err) == ST_OK;
    if (ok && loaded->def.end < checkpoint.time * (1 - 1e-12))
        ok = fail(err, ST_ERR_ARGUMENT, file,
                  "its checkpoint is after the end of the run: take an earlier one (--at T) or a later end "
                  "(--set simulation/end=T)");
    st_recording_close(recording);
    return ok;
}

/* Overrides of robots are applied before robots are read, all others after. */
static bool concerns_robots(const char *set)
{
    return strncmp(set, "robots", 6) == 0 && (set[6] == '/' || set[6] == '=');
}

/* Robots are separate files: includes them, with the overrides that concern them. The two words are only an
 * indication, but including robots without need gives the same scene. */
static bool take_in_robots(const Loaded *loaded, const char **sets, KeptScene *kept, st_Error *err)
{
    int n_robots = 0;
    if (strstr(loaded->text, "\"robots\"") == NULL && loaded->text[strspn(loaded->text, " \t\r\n")] != '<') return true;
    for (int k = 0; k < loaded->n_sets; k++)
        if (concerns_robots(loaded->sets[k])) sets[n_robots++] = loaded->sets[k];
    if (st_scene_convert_text(loaded->text, strlen(loaded->text), loaded->path, sets, n_robots, NULL, &kept->text, NULL,
                              err) != ST_OK)
        return false;
    kept->n_sets = 0;
    for (int k = 0; k < loaded->n_sets; k++)
        if (!concerns_robots(loaded->sets[k])) kept->sets[kept->n_sets++] = loaded->sets[k];
    return true;
}

bool keep_scene(const Loaded *loaded, bool again, KeptScene *kept, st_Error *err)
{
    struct stat info;
    const bool is_file = stat(loaded->path, &info) == 0 && S_ISREG(info.st_mode); /* not a pipe, and still there */
    const char **sets = calloc((size_t)loaded->n_sets + 1, sizeof *sets);
    *kept = (KeptScene){.sets = calloc((size_t)loaded->n_sets + 1, sizeof *kept->sets), .n_sets = loaded->n_sets};
    bool ok = kept->sets != NULL && sets != NULL;
    for (int k = 0; ok && k < loaded->n_sets; k++)
        kept->sets[k] = loaded->sets[k];
    if (!ok) fail(err, ST_ERR_MEMORY, loaded->path, "out of memory");
    ok = ok && (again || take_in_robots(loaded, sets, kept, err));
    if (ok && kept->text == NULL) kept->text = strdup(loaded->text);
    kept->label = is_file ? realpath(loaded->path, NULL) : NULL; /* other files have paths relative to it */
    if (ok && kept->label == NULL) kept->label = strdup(loaded->path);
    free((void *)sets);
    return ok &&
           ((kept->text != NULL && kept->label != NULL) || fail(err, ST_ERR_MEMORY, loaded->path, "out of memory"));
}

void kept_scene_free(KeptScene *kept)
{
    free(kept->text);
    free(kept->label);
    free((void *)kept->sets);
    *kept = (KeptScene){0};
}
