#include "restart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

bool load_text(Loaded *loaded, st_Error *err)
{
    if (loaded->text != NULL) return true;
    FILE *file = fopen(loaded->path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) loaded->text = calloc((size_t)size + 1, 1);
    bool ok = loaded->text != NULL && fread(loaded->text, 1, (size_t)size, file) == (size_t)size;
    if (file != NULL) fclose(file);
    return ok || fail(err, ST_ERR_FILE, loaded->path, "cannot be read again");
}
