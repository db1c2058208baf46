/* record/recorder.c -- writing a recording while the run goes on.
 *
 * A killed run must leave a file that opens. HDF5 promises that in its single-writer mode (SWMR): metadata
 * reaches the file in an order in which a reader never meets a pointer to what is not there. Whole tables
 * are made before that mode starts, since nothing can be created in it. A flush is
 *
 *     rows of all tables -> flush -> the counts in /committed, 48 bytes in place -> flush
 *
 * and a reader believes the counts, never the extents: rows half written are not there.
 *
 * Chunks are made into bytes here (chunk.c) and go to the file as they are. One that is flushed before it is full is
 * written again, larger, when more rows come, and in that mode its old place is not used again. So a chunk is a few
 * frames, and what is wasted stays small against what is kept.
 */
#include "record/chunk.h"
#include "record/hdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES  65536  /* of a chunk, about                                                            */
#define CHUNK_ROWS   4096   /* at most                                                                      */
#define CHUNK_FRAMES 8      /* at least, within MOST_BYTES: bodies at rest are found to be where they were  */
#define MOST_BYTES   262144 /* of a chunk of more than one row: readers keep a megabyte of chunks           */

/* A table being written: the rows of its last chunk are kept, in memory, until the chunk is full. */
typedef struct Stream {
    hid_t set;
    size_t row_bytes, element; /* an element is what the shuffle filter takes apart */
    int rank;
    hsize_t tail[2]; /* extents after the first, body tables */
    hsize_t rows, written, chunk_rows;
    unsigned char *buffer;
    int64_t buffer_bytes;
} Stream;

struct st_Recorder {
    st_Allocator allocator;
    char *path, *making; /* where it belongs; its name until it has the start in it, then "" */
    int64_t path_size, making_size;
    hid_t file, committed, summary, summary_type;
    Stream stream[STI_N_TABLES];
    sti_Chunker chunker;
    int n_bodies, n_joints;
    double rate, checkpoint, flush;
    double next_frame, next_checkpoint;
    int64_t n_steps, n_frames;
    bool started, frame_due, failed;
    double began, added, flushed; /* wall clock: of the start, the last step, the last flush [s] */
    st_RecordedJoint *joint;
    unsigned char *state;
    int64_t state_capacity;
    st_RecordedStep last;
};

static double seconds_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

st_RecorderDef st_recorder_def(void)
{
    return (st_RecorderDef){.rate = 60, .flush = 1, .cookie = STI_COOKIE};
}

static st_Status failed(st_Recorder *recorder, const char *what, st_Error *err)
{
    char reason[200];
    recorder->failed = true;
    return sti_fail(err, ST_ERR_FILE, "%s: %s failed: %s", recorder->path, what, sti_hdf_reason(reason, sizeof reason));
}

/* ---- tables ----------------------------------------------------------------------------------- */

static hsize_t rows_of_chunk(const Stream *s, sti_Table table)
{
    hsize_t rows = CHUNK_BYTES / s->row_bytes, most = MOST_BYTES / s->row_bytes;
    if (table == STI_STATES) return CHUNK_BYTES;
    if (table == STI_CONTACTS || rows > CHUNK_ROWS) rows = CHUNK_ROWS;
    if (rows < CHUNK_FRAMES) rows = most < CHUNK_FRAMES ? most : CHUNK_FRAMES;
    return rows > 0 ? rows : 1;
}

static st_Status stream_open(st_Recorder *recorder, sti_Table table, st_Error *err)
{
    Stream *s = &recorder->stream[table];
    int width = sti_table_width(table);
    if (table == STI_JOINTS && recorder->n_joints == 0) return ST_OK;
    hid_t type = sti_table_file_type(table);
    s->rank = sti_table_rank(table);
    s->tail[0] = (hsize_t)(table == STI_JOINTS ? recorder->n_joints : recorder->n_bodies);
    s->tail[1] = (hsize_t)width;
    s->element = H5Tget_size(type);
    s->row_bytes = s->element * (s->rank > 1 ? (size_t)s->tail[0] : 1) * (s->rank > 2 ? (size_t)width : 1);
    s->chunk_rows = rows_of_chunk(s, table);
    s->buffer_bytes = (int64_t)(s->chunk_rows * s->row_bytes);
    s->buffer = sti_alloc(&recorder->allocator, s->buffer_bytes, 1);

    hsize_t dims[3] = {0, s->tail[0], s->tail[1]}, most[3] = {H5S_UNLIMITED, s->tail[0], s->tail[1]};
    hsize_t chunk[3] = {s->chunk_rows, s->tail[0], s->tail[1]};
    hid_t space = H5Screate_simple(s->rank, dims, most), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, s->rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    s->set = H5Dcreate2(recorder->file, sti_table_path(table), type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    st_Status status = s->set >= 0 ? ST_OK : failed(recorder, "making a table", err);
    H5Pclose(how);
    H5Sclose(space);
    H5Tclose(type);
    if (s->buffer == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", recorder->path);
    return status;
}

/* The last chunk into the file, as far as there are rows of it. */
static st_Status stream_write(st_Recorder *recorder, Stream *s, st_Error *err)
{
    if (s->written == s->rows) return ST_OK;
    hsize_t extent[3] = {s->rows, s->tail[0], s->tail[1]};
    hsize_t start[3] = {(s->rows - 1) / s->chunk_rows * s->chunk_rows, 0, 0};
    size_t filled = (size_t)(s->rows - start[0]) * s->row_bytes, row = s->row_bytes / s->element;
    size_t period[2] = {s->rank > 2 ? (size_t)s->tail[1] : row, row};
    memset(s->buffer + filled, 0, (size_t)s->buffer_bytes - filled);
    sti_Chunker *chunker = &recorder->chunker;
    STI_TRY(sti_chunk_pack(chunker, s->buffer, (size_t)s->buffer_bytes / s->element, s->element, period, err));
    if (H5Dset_extent(s->set, extent) < 0 ||
        H5Dwrite_chunk(s->set, H5P_DEFAULT, chunker->skipped, start, chunker->size, chunker->bytes) < 0)
        return failed(recorder, "writing", err);
    s->written = s->rows;
    return ST_OK;
}

/* Where the next row belongs; to be followed by stream_take once it is there. */
static unsigned char *stream_next(const st_Recorder *recorder, sti_Table table)
{
    const Stream *s = &recorder->stream[table];
    return s->buffer + (size_t)(s->rows % s->chunk_rows) * s->row_bytes;
}

static st_Status stream_take(st_Recorder *recorder, sti_Table table, size_t rows, st_Error *err)
{
    Stream *s = &recorder->stream[table];
    s->rows += rows;
    return s->rows % s->chunk_rows == 0 ? stream_write(recorder, s, err) : ST_OK;
}

static st_Status stream_push(st_Recorder *recorder, sti_Table table, const void *rows, size_t count, st_Error *err)
{
    const Stream *s = &recorder->stream[table];
    const unsigned char *from = rows;
    while (count > 0) {
        size_t fit = (size_t)(s->chunk_rows - s->rows % s->chunk_rows), n = count < fit ? count : fit;
        memcpy(stream_next(recorder, table), from, n * s->row_bytes);
        STI_TRY(stream_take(recorder, table, n, err));
        from += n * s->row_bytes;
        count -= n;
    }
    return ST_OK;
}

static hsize_t stream_rows(const st_Recorder *recorder, sti_Table table)
{
    return recorder->stream[table].rows;
}

/* All that is known so far, safely. */
static st_Status commit(st_Recorder *recorder, st_Error *err)
{
    int64_t counts[STI_N_COUNTS];
    double now = seconds_now(); /* what happens from now on is not in it */
    for (int k = 0; k < STI_N_TABLES; k++)
        STI_TRY(stream_write(recorder, &recorder->stream[k], err));
    if (H5Fflush(recorder->file, H5F_SCOPE_LOCAL) < 0) return failed(recorder, "flushing", err);
    for (int k = 0; k < STI_N_COUNTS; k++)
        counts[k] = (int64_t)stream_rows(recorder, (sti_Table)k);
    if (H5Dwrite(recorder->committed, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts) < 0 ||
        H5Fflush(recorder->file, H5F_SCOPE_LOCAL) < 0)
        return failed(recorder, "flushing", err);
    recorder->flushed = now;
    return ST_OK;
}

/* ---- the head: what is known before the first step ---------------------------------------------- */

static void text_type_of(const char *text, hid_t *type)
{
    size_t length = strlen(text);
    *type = H5Tcopy(H5T_C_S1);
    H5Tset_size(*type, length > 0 ? length : 1);
    H5Tset_strpad(*type, H5T_STR_NULLPAD);
    H5Tset_cset(*type, H5T_CSET_UTF8);
}

static herr_t put_text(hid_t object, const char *name, const char *text)
{
    hid_t type, space = H5Screate(H5S_SCALAR);
    text_type_of(text, &type);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = attribute >= 0 ? H5Awrite(attribute, type, text) : -1;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

static herr_t put_numbers(hid_t object, const char *name, hid_t type, int count, const void *numbers)
{
    hsize_t n = (hsize_t)count;
    hid_t space = count > 0 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = attribute >= 0 ? H5Awrite(attribute, type, numbers) : -1;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return status;
}

/* A text of any length is a dataset of its own: attributes end at 64 KiB. */
static herr_t put_long_text(hid_t file, const char *path, const char *text)
{
    hid_t type, space = H5Screate(H5S_SCALAR);
    text_type_of(text, &type);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = set >= 0 ? H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) : -1;
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

static herr_t put_choices(hid_t file, const st_SystemDef *choices)
{
    herr_t status = 0;
    hid_t group = H5Gcreate2(file, "/choices", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return -1;
    for (int k = 0; k < st_setting_count() && status >= 0; k++) {
        const st_Setting *setting = st_setting(k);
        st_SettingValue value = {0};
        if (st_setting_get(choices, setting->key, &value, NULL) != ST_OK) continue;
        if (setting->kind == ST_SETTING_CHOICE)
            status = put_text(group, setting->key, value.word != NULL ? value.word : "");
        else if (setting->kind == ST_SETTING_VECTOR)
            status = put_numbers(group, setting->key, H5T_NATIVE_DOUBLE, 3, &value.vector);
        else
            status = put_numbers(group, setting->key, H5T_NATIVE_DOUBLE, 0, &value.number);
    }
    H5Gclose(group);
    return status;
}

static herr_t put_sets(hid_t file, const st_RecorderDef *def)
{
    herr_t status = 0;
    hid_t group = H5Gcreate2(file, "/overrides", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; group >= 0 && k < def->n_sets && status >= 0; k++) {
        char name[32];
        snprintf(name, sizeof name, "%d", k);
        status = put_long_text(group, name, def->sets[k]);
    }
    if (group >= 0) H5Gclose(group);
    return group >= 0 ? status : -1;
}

static herr_t put_identity(hid_t file, const st_RecorderDef *def)
{
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    int32_t version = STI_FORMAT_VERSION;
    if (gmtime_r(&now, &utc) != NULL) strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (put_text(file, "format", STI_FORMAT_NAME) < 0) return -1;
    if (put_numbers(file, "format_version", H5T_NATIVE_INT32, 0, &version) < 0) return -1;
    if (put_text(file, "stiction_version", st_version()) < 0 || put_text(file, "created", created) < 0) return -1;
    if (put_text(file, "name", def->name != NULL ? def->name : "") < 0) return -1;
    if (put_text(file, "label", def->label != NULL ? def->label : "") < 0) return -1;
    if (put_long_text(file, "/description", def->description != NULL ? def->description : "") < 0) return -1;
    return put_numbers(file, "rate", H5T_NATIVE_DOUBLE, 0, &def->rate);
}

static st_Status write_head(st_Recorder *recorder, const st_RecorderDef *def, const st_Scene *scene,
                            const st_SystemDef *choices, st_Error *err)
{
    hid_t file = recorder->file;
    char *text = sti_alloc(&recorder->allocator, (int64_t)def->length + 1, 1); /* def->text need not end in 0 */
    char *model = st_scene_model(scene, choices), *json = st_choices_json(choices);
    st_Status status = ST_OK;
    if (text == NULL || model == NULL || json == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", recorder->path);
    } else {
        if (def->text != NULL) memcpy(text, def->text, def->length);
        if (put_identity(file, def) < 0 || put_long_text(file, "/scene", text) < 0 ||
            put_long_text(file, "/model", model) < 0 || put_long_text(file, "/choices_json", json) < 0 ||
            put_choices(file, choices) < 0 || put_sets(file, def) < 0)
            status = failed(recorder, "writing", err);
    }
    free(json);
    free(model);
    sti_free(&recorder->allocator, text, (int64_t)def->length + 1, 1);
    return status;
}

static st_Status make_summary(st_Recorder *recorder, st_Error *err)
{
    hsize_t n = STI_N_COUNTS;
    hid_t scalar = H5Screate(H5S_SCALAR), counts = H5Screate_simple(1, &n, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY); /* their place must be there before they are written over */
    sti_Summary running = {.outcome = "running"};
    recorder->summary_type = sti_summary_type();
    recorder->summary =
        H5Dcreate2(recorder->file, "/summary", recorder->summary_type, scalar, H5P_DEFAULT, how, H5P_DEFAULT);
    recorder->committed =
        H5Dcreate2(recorder->file, "/committed", H5T_NATIVE_INT64, counts, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    H5Sclose(counts);
    H5Sclose(scalar);
    if (recorder->summary < 0 || recorder->committed < 0 ||
        H5Dwrite(recorder->summary, recorder->summary_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &running) < 0)
        return failed(recorder, "writing", err);
    return ST_OK;
}

static st_Status make_file(st_Recorder *recorder, const st_RecorderDef *def, const st_Scene *scene,
                           const st_SystemDef *choices, st_Error *err)
{
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(how, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_fclose_degree(how, H5F_CLOSE_STRONG);
    recorder->file = H5Fcreate(recorder->making, H5F_ACC_TRUNC, H5P_DEFAULT, how);
    H5Pclose(how);
    if (recorder->file < 0) {
        char reason[200];
        return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", recorder->path,
                        sti_hdf_reason(reason, sizeof reason));
    }
    const char *const groups[] = {"/frames", "/checkpoints"};
    for (int k = 0; k < 2; k++) {
        hid_t group = H5Gcreate2(recorder->file, groups[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group < 0) return failed(recorder, "writing", err);
        H5Gclose(group);
    }
    STI_TRY(write_head(recorder, def, scene, choices, err));
    STI_TRY(make_summary(recorder, err));
    for (int k = 0; k < STI_N_TABLES; k++)
        STI_TRY(stream_open(recorder, (sti_Table)k, err));
    if (H5Fstart_swmr_write(recorder->file) < 0) return failed(recorder, "starting", err);
    return commit(recorder, err);
}

/* From now on it has its name: so that whatever stands there can be opened, and has the start of the run at least. */
static st_Status appear(st_Recorder *recorder, st_Error *err)
{
    if (recorder->making[0] == '\0') return ST_OK;
    if (rename(recorder->making, recorder->path) != 0)
        return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", recorder->path, strerror(errno));
    recorder->making[0] = '\0';
    return ST_OK;
}

/* After a write failed HDF5 cannot close the file: it tries to write the rest again, fails again, and crashes when the
 * program ends. Let it write to nowhere: the file stays as the last flush left it. The chunk that failed goes there
 * too, so that the file seems as long as HDF5 thinks: nowhere cannot be made longer.                    */
static void abandon_file(st_Recorder *recorder)
{
    void *handle = NULL;
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0) return;
    if (recorder->file > 0 && H5Fget_vfd_handle(recorder->file, H5P_DEFAULT, &handle) >= 0 && handle != NULL &&
        dup2(nowhere, *(int *)handle) >= 0)
        for (int k = 0; k < STI_N_TABLES; k++)
            (void)stream_write(recorder, &recorder->stream[k], NULL);
    close(nowhere);
}

/* Ends everything; true when HDF5 had nothing against it. */
static bool release(st_Recorder *recorder)
{
    st_Allocator allocator = recorder->allocator;
    bool ok = true;
    if (recorder->failed) abandon_file(recorder);
    for (int k = 0; k < STI_N_TABLES; k++) {
        Stream *s = &recorder->stream[k];
        if (s->set > 0 && H5Dclose(s->set) < 0) ok = false;
        sti_free(&allocator, s->buffer, s->buffer_bytes, 1);
    }
    if (recorder->committed > 0) H5Dclose(recorder->committed);
    if (recorder->summary > 0) H5Dclose(recorder->summary);
    if (recorder->summary_type > 0) H5Tclose(recorder->summary_type);
    if (recorder->file > 0 && H5Fclose(recorder->file) < 0) ok = false;
    if (recorder->file > 0 && recorder->making[0] != '\0') unlink(recorder->making);
    sti_chunker_free(&recorder->chunker);
    STI_RELEASE(&allocator, recorder->state, recorder->state_capacity);
    sti_free(&allocator, recorder->joint, recorder->n_joints + 1, sizeof *recorder->joint);
    sti_free(&allocator, recorder->path, recorder->path_size, 1);
    sti_free(&allocator, recorder->making, recorder->making_size, 1);
    sti_free(&allocator, recorder, 1, sizeof *recorder);
    return ok;
}

static st_Status check_open(const char *path, const st_RecorderDef *def, const void *scene, const void *choices,
                            const void *system, const void *out, st_Error *err)
{
    if (path == NULL || scene == NULL || choices == NULL || system == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recorder_open: path, scene, choices, system and out must be given");
    STI_CHECK_DEF(def, "st_recorder_def", err);
    const double numbers[] = {def->rate, def->checkpoint, def->flush};
    static const char *const names[] = {"rate", "checkpoint", "flush"};
    for (int k = 0; k < 3; k++)
        if (!(numbers[k] >= 0) || !isfinite(numbers[k]))
            return sti_fail(err, ST_ERR_ARGUMENT, "st_recorder_open: %s is %g, must be finite and >= 0", names[k],
                            numbers[k]);
    return ST_OK;
}

st_Status st_recorder_open(const char *path, const st_RecorderDef *def, const st_Scene *scene,
                           const st_SystemDef *choices, const st_System *system, st_Recorder **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    STI_TRY(check_open(path, def, scene, choices, system, out, err));
    *out = NULL;
    st_Recorder *recorder = sti_alloc(&allocator, 1, sizeof *recorder);
    if (recorder == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    recorder->allocator = recorder->chunker.allocator = allocator;
    recorder->n_bodies = st_scene_body_count(scene);
    recorder->n_joints = st_scene_joint_count(scene);
    recorder->rate = def->rate;
    recorder->checkpoint = def->checkpoint;
    recorder->flush = def->flush;
    recorder->began = recorder->added = seconds_now();
    recorder->path_size = (int64_t)strlen(path) + 1;
    recorder->path = sti_alloc(&allocator, recorder->path_size, 1);
    recorder->making_size = recorder->path_size + (int64_t)strlen(".new");
    recorder->making = sti_alloc(&allocator, recorder->making_size, 1);
    recorder->joint = sti_alloc(&allocator, recorder->n_joints + 1, sizeof *recorder->joint);
    st_Status status = ST_OK;
    if (recorder->path == NULL || recorder->making == NULL || recorder->joint == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    } else {
        memcpy(recorder->path, path, (size_t)recorder->path_size);
        snprintf(recorder->making, (size_t)recorder->making_size, "%s.new", path);
        sti_Quiet quiet = sti_quiet_begin();
        status = make_file(recorder, def, scene, choices, err);
        if (status != ST_OK) release(recorder);
        sti_quiet_end(quiet);
        if (status == ST_OK) *out = recorder;
        return status;
    }
    release(recorder);
    return status;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static void put_vector(st_Vec3 v, float *out)
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
}

/* A contact's numbers along (normal, tangent, normal x tangent), in world axes. */
static st_Vec3 to_world(const st_ContactReport *c, const double *local)
{
    const st_Vec3 n = c->normal, t = c->tangent;
    const st_Vec3 o = {n.y * t.z - n.z * t.y, n.z * t.x - n.x * t.z, n.x * t.y - n.y * t.x};
    const st_Vec3 axis[3] = {n, t, o};
    st_Vec3 sum = {0, 0, 0};
    for (int k = 0; k < c->dim && k < 3; k++) {
        sum.x += local[k] * axis[k].x;
        sum.y += local[k] * axis[k].y;
        sum.z += local[k] * axis[k].z;
    }
    return sum;
}

/* Does anything happen there? What is only within the margin neither touches nor pushes. */
static bool is_contact(const st_ContactReport *c)
{
    if (c->joint.index1 > 0) return false; /* a joint's limit */
    for (int k = 0; k < c->dim; k++)
        if (c->impulse[k] != 0) return true;
    return c->gap <= 0;
}

static st_Status add_contacts(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    int n = st_system_contact_count(system);
    for (int k = 0; k < n; k++) {
        st_ContactReport c;
        if (st_system_contact(system, k, &c) != ST_OK || !is_contact(&c)) continue;
        sti_StoredContact row = {.id = c.id, .a = c.a.index1, .b = c.b.index1, .gap = (float)c.gap};
        put_vector(c.point, row.point);
        put_vector(c.normal, row.normal);
        put_vector(to_world(&c, c.impulse), row.impulse);
        put_vector(to_world(&c, c.velocity), row.velocity);
        STI_TRY(stream_push(recorder, STI_CONTACTS, &row, 1, err));
    }
    return ST_OK;
}

static st_Status add_bodies(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    static const sti_Table order[] = {STI_POSITION, STI_ORIENTATION, STI_VELOCITY, STI_SPIN};
    unsigned char *to[4];
    for (int k = 0; k < 4; k++)
        to[k] = stream_next(recorder, order[k]);
    for (int i = 1; i <= recorder->n_bodies; i++) {
        st_Pose pose;
        st_Vec3 v, w;
        if (st_system_pose(system, (st_BodyId){i}, &pose) != ST_OK ||
            st_system_velocity(system, (st_BodyId){i}, &v, &w) != ST_OK)
            return sti_fail(err, ST_ERR_ARGUMENT, "the system has no body number %d: not the one recorded", i);
        const void *const from[] = {&pose.p, &pose.q, &v, &w};
        const size_t size[] = {sizeof pose.p, sizeof pose.q, sizeof v, sizeof w};
        for (int k = 0; k < 4; k++, to[k - 1] += size[k - 1])
            memcpy(to[k], from[k], size[k]);
    }
    for (int k = 0; k < 4; k++)
        STI_TRY(stream_take(recorder, order[k], 1, err));
    return ST_OK;
}

static st_Status add_joints(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    for (int k = 0; k < recorder->n_joints; k++) {
        st_JointReport r;
        if (st_system_joint(system, (st_JointId){k + 1}, ST_FRAME_WORLD, &r) != ST_OK) r = (st_JointReport){0};
        recorder->joint[k] = (st_RecordedJoint){.force = {r.force.x, r.force.y, r.force.z},
                                                .torque = {r.torque.x, r.torque.y, r.torque.z},
                                                .coordinate = r.coordinate,
                                                .speed = r.speed,
                                                .motor = r.motor,
                                                .error = r.error};
    }
    return recorder->n_joints > 0 ? stream_push(recorder, STI_JOINTS, recorder->joint, 1, err) : ST_OK;
}

static st_Status add_frame(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    int64_t first = (int64_t)stream_rows(recorder, STI_CONTACTS);
    recorder->frame_due = false;
    recorder->n_frames++;
    STI_TRY(add_bodies(recorder, system, err));
    STI_TRY(add_joints(recorder, system, err));
    STI_TRY(add_contacts(recorder, system, err));
    st_RecordedFrame frame = {.time = recorder->last.time,
                              .step = recorder->n_steps - 1,
                              .first_contact = first,
                              .n_contacts = (int32_t)((int64_t)stream_rows(recorder, STI_CONTACTS) - first)};
    return stream_push(recorder, STI_FRAMES, &frame, 1, err);
}

static st_Status add_events(st_Recorder *recorder, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    int n = info->h > 0 ? st_system_event_count(system) : 0;
    for (int k = 0; k < n; k++) {
        st_EventReport e;
        if (st_system_event(system, k, &e) != ST_OK) continue;
        st_RecordedEvent row = {.time = e.time,
                                .step = recorder->n_steps - 1,
                                .a = e.a.index1,
                                .b = e.b.index1,
                                .point = {e.point.x, e.point.y, e.point.z},
                                .normal = {e.normal.x, e.normal.y, e.normal.z},
                                .before = e.before,
                                .after = e.after,
                                .impulse = e.impulse};
        strncpy(row.kind, st_event_kind_name(e.kind), sizeof row.kind - 1);
        STI_TRY(stream_push(recorder, STI_EVENTS, &row, 1, err));
    }
    return ST_OK;
}

static st_Status add_checkpoint(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    int64_t bytes = (int64_t)st_system_save(system, NULL, 0);
    STI_TRY(STI_GROW(&recorder->allocator, recorder->state, recorder->state_capacity, bytes, err));
    st_system_save(system, recorder->state, (size_t)bytes);
    st_RecordedCheckpoint row = {.time = st_system_time(system),
                                 .step = recorder->n_steps - 1,
                                 .hash = st_system_hash(system),
                                 .offset = (int64_t)stream_rows(recorder, STI_STATES),
                                 .bytes = bytes};
    STI_TRY(stream_push(recorder, STI_STATES, recorder->state, (size_t)bytes, err));
    return stream_push(recorder, STI_CHECKPOINTS, &row, 1, err);
}

static st_Status add_step(st_Recorder *recorder, const st_StepInfo *info, st_Error *err)
{
    st_RecordedStep *row = &recorder->last;
    *row = (st_RecordedStep){.time = info->time,
                             .h = info->h,
                             .contacts = info->contacts,
                             .collisions = info->collisions,
                             .iterations = info->solve.iterations,
                             .overlapping = info->overlapping,
                             .asleep = info->asleep,
                             .converged = info->solve.converged || info->h == 0,
                             .residual = info->solve.residual.natural,
                             .penetration = info->penetration,
                             .joint_error = info->joint_error,
                             .kinetic = info->kinetic,
                             .potential = info->potential,
                             .wall = seconds_now() - recorder->began};
    if (info->solve.solver != NULL) strncpy(row->solver, info->solve.solver, sizeof row->solver - 1);
    recorder->n_steps++;
    return stream_push(recorder, STI_STEPS, row, 1, err);
}

/* Is something due at every 1/rate seconds due now? Half a ten-thousandth early is on time. */
static bool is_due(double time, double rate, double *next)
{
    if (time < *next - 5e-5 / rate) return false;
    *next = (floor(time * rate + 5e-5) + 1) / rate;
    return true;
}

/* Would the next step, if it takes as long as this one, end too late? A fifth is left for what takes longer and for the
 * flush itself. What is wasted by a flush must stay small against what is kept: hence more time in long runs.  */
static bool is_flush_due(st_Recorder *recorder)
{
    double now = seconds_now(), step = now - recorder->added;
    double interval = fmin(fmax(recorder->flush, 0.01 * (now - recorder->began)), 10 * recorder->flush);
    recorder->added = now;
    return now + step - recorder->flushed >= 0.8 * interval;
}

static st_Status add(st_Recorder *recorder, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    if (!recorder->started) recorder->next_frame = recorder->next_checkpoint = -INFINITY;
    STI_TRY(add_step(recorder, info, err));
    STI_TRY(add_events(recorder, system, info, err));
    recorder->frame_due = true;
    if (recorder->rate == 0 || is_due(info->time, recorder->rate, &recorder->next_frame))
        STI_TRY(add_frame(recorder, system, err));
    if (!recorder->started ||
        (recorder->checkpoint > 0 && is_due(info->time, 1 / recorder->checkpoint, &recorder->next_checkpoint)))
        STI_TRY(add_checkpoint(recorder, system, err));
    if (!recorder->started)
        is_due(info->time, recorder->checkpoint > 0 ? 1 / recorder->checkpoint : 1, &recorder->next_checkpoint);
    if (!recorder->started || is_flush_due(recorder)) STI_TRY(commit(recorder, err));
    recorder->started = true;
    return appear(recorder, err);
}

st_Status st_recorder_add(st_Recorder *recorder, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    if (recorder == NULL || system == NULL || info == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recorder_add: recorder, system and info must be given");
    if (recorder->failed) return sti_fail(err, ST_ERR_FILE, "%s: an earlier write failed", recorder->path);
    sti_Quiet quiet = sti_quiet_begin();
    st_Status status = add(recorder, system, info, err);
    if (status != ST_OK) recorder->failed = true;
    sti_quiet_end(quiet);
    return status;
}

int64_t st_recorder_size(const st_Recorder *recorder)
{
    hsize_t size = 0;
    return recorder != NULL && H5Fget_filesize(recorder->file, &size) >= 0 ? (int64_t)size : 0;
}

static st_Status write_end(st_Recorder *recorder, const st_System *system, const char *outcome, const char *message,
                           st_Error *err)
{
    sti_Summary summary = {.wall = seconds_now() - recorder->began};
    strncpy(summary.outcome, outcome != NULL ? outcome : "", sizeof summary.outcome - 1);
    strncpy(summary.message, message != NULL ? message : "", sizeof summary.message - 1);
    if (system != NULL) st_system_profile(system, summary.stage_seconds);
    if (system != NULL && recorder->frame_due) STI_TRY(add_frame(recorder, system, err));
    if (system != NULL && recorder->n_steps > 1) STI_TRY(add_checkpoint(recorder, system, err));
    if (H5Dwrite(recorder->summary, recorder->summary_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &summary) < 0)
        return failed(recorder, "writing", err);
    STI_TRY(commit(recorder, err));
    return appear(recorder, err);
}

st_Status st_recorder_close(st_Recorder *recorder, const st_System *system, const char *outcome, const char *message,
                            st_Error *err)
{
    if (recorder == NULL) return ST_OK;
    sti_Quiet quiet = sti_quiet_begin();
    st_Status status = recorder->failed ? ST_ERR_FILE : write_end(recorder, system, outcome, message, err);
    if (!release(recorder) && status == ST_OK) status = sti_fail(err, ST_ERR_FILE, "a recording could not be closed");
    sti_quiet_end(quiet);
    return status;
}
