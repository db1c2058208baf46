/* record/recording.c -- reads a recording, complete or cut off.
 *
 * A closed file is opened normally. If its writer was killed, or still writes, it is opened in HDF5's single-writer
 * mode, and only the committed rows are read.
 */
#include "base/utf8.h"
#include "record/hdf.h"
#include "record/hdf_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MOST_SETS 4096

struct st_Recording {
    st_Allocator allocator;
    char *path;
    int64_t path_size;
    hid_t file;
    hid_t set[STI_N_TABLES], type[STI_N_TABLES];
    int64_t count[STI_N_TABLES];
    st_RecordingInfo info;
    sti_Summary summary;
    char *text[8]; /* malloc'd: version, created, name, label, description, scene, model, choices */
    char **sets;   /* malloc'd */
};

static st_Status damaged(const st_Recording *recording, const char *what, st_Error *err)
{
    char reason[200];
    if (H5Eget_num(H5E_DEFAULT) == 0)
        return sti_fail(err, ST_ERR_FORMAT, "%s: damaged: %s does not have the size and type it must have",
                        recording->path, what);
    return sti_fail(err, ST_ERR_FORMAT, "%s: damaged or cut short: %s cannot be read: %s", recording->path, what,
                    sti_hdf_reason(reason, sizeof reason));
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* While a file is being written, a wrong checksum may mean a block that is half written. HDF5 then reads again after
 * 1, 2, 4 ... ns. Its default of 100 tries would never end on a damaged file; 26 take an eighth of a second. */
enum { LOOKS = 26 };

/* `why` is the reason if it does not open; the next call of HDF5 clears it. */
static hid_t open_hdf(const char *path, bool finished, char *why, size_t size)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    /* The same settings as in the recorder: this process itself may be recording into the file. */
    if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        (finished || H5Pset_metadata_read_attempts(access, LOOKS) >= 0))
        file = H5Fopen(path, finished ? H5F_ACC_RDONLY : H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    if (file < 0) sti_hdf_reason(why, size);
    if (access >= 0) H5Pclose(access);
    return file;
}

static st_Status open_file(st_Recording *recording, st_Error *err)
{
    bool cut_off;
    STI_TRY(sti_hdf_check_file(recording->path, "a recording", &recording->info.bytes, &cut_off, err));
    recording->info.closed = !cut_off; /* a file that is not closed opens normally only if this process records it */
    char why[200], again[200];
    recording->file = open_hdf(recording->path, true, why, sizeof why);
    if (recording->file >= 0) return ST_OK;
    recording->info.closed = false;
    if (cut_off) recording->file = open_hdf(recording->path, false, again, sizeof again);
    if (recording->file >= 0) return ST_OK;
    return sti_fail(err, ST_ERR_FORMAT, "%s: damaged or cut short: %s", recording->path, why);
}

/* ---- single values ------------------------------------------------------------------------------ */

/* Reads all `count` values of a dataset or attribute. The count is checked, because HDF5 reads as many as there are. */
static herr_t fetch(hid_t object, hid_t type, hssize_t count, void *out)
{
    const bool attribute = H5Iget_type(object) == H5I_ATTR;
    hid_t space = attribute ? H5Aget_space(object) : H5Dget_space(object);
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0) H5Sclose(space);
    if (points != count) return -1;
    return attribute ? H5Aread(object, type, out) : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
}

/* Reads a whole text, malloc'd; NULL: there is none, or out of memory. HDF5 would return pointers for texts without
 * a fixed length; a length above `most`, the size of the file, is false. */
static char *get_text(hid_t object, int64_t most)
{
    hid_t type = H5Iget_type(object) == H5I_ATTR ? H5Aget_type(object) : H5Dget_type(object);
    bool fixed = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    size_t size = fixed ? H5Tget_size(type) : 0;
    char *text = size > 0 && size <= (uint64_t)most ? calloc(size + 1, 1) : NULL;
    herr_t status = text != NULL ? fetch(object, type, 1, text) : -1;
    if (type >= 0) H5Tclose(type);
    if (status < 0) {
        free(text);
        return NULL;
    }
    return text;
}

static char *get_attribute(const st_Recording *recording, const char *name)
{
    hid_t attribute = H5Aopen(recording->file, name, H5P_DEFAULT);
    char *text = attribute >= 0 ? get_text(attribute, recording->info.bytes) : NULL;
    if (attribute >= 0) H5Aclose(attribute);
    return text;
}

static char *get_long_text(const st_Recording *recording, hid_t group, const char *path)
{
    hid_t set = sti_hdf_stays_inside(group, path) ? H5Dopen2(group, path, H5P_DEFAULT) : -1;
    char *text = set >= 0 && sti_hdf_doubts(set) == NULL ? get_text(set, recording->info.bytes) : NULL;
    if (set >= 0) H5Dclose(set);
    return text;
}

static herr_t get_number(hid_t file, const char *name, hid_t type, void *out)
{
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    herr_t status = attribute >= 0 ? fetch(attribute, type, 1, out) : -1;
    if (attribute >= 0) H5Aclose(attribute);
    return status;
}

/* Reads `count` values of a dataset. */
static herr_t get_values(hid_t file, const char *path, hid_t type, hssize_t count, void *out)
{
    hid_t set = sti_hdf_stays_inside(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    herr_t status = set >= 0 && sti_hdf_doubts(set) == NULL ? fetch(set, type, count, out) : -1;
    if (set >= 0) H5Dclose(set);
    return status;
}

static st_Status read_texts(st_Recording *recording, st_Error *err)
{
    static const char *const attributes[] = {"stiction_version", "created", "name", "label"};
    static const char *const sets[] = {"/description", "/scene", "/model", "/choices_json"};
    for (int k = 0; k < 8; k++) {
        const char *name = k < 4 ? attributes[k] : sets[k - 4];
        recording->text[k] = k < 4 ? get_attribute(recording, name) : get_long_text(recording, recording->file, name);
        if (recording->text[k] == NULL) return damaged(recording, name, err);
    }
    st_RecordingInfo *info = &recording->info;
    info->version = recording->text[0];
    info->created = recording->text[1];
    info->name = recording->text[2];
    info->label = recording->text[3];
    info->description = recording->text[4];
    info->text = recording->text[5];
    info->model = recording->text[6];
    info->choices = recording->text[7];
    if (get_number(recording->file, "rate", H5T_NATIVE_DOUBLE, &info->rate) < 0) return damaged(recording, "rate", err);
    return ST_OK;
}

static st_Status read_sets(st_Recording *recording, st_Error *err)
{
    H5G_info_t info;
    hid_t group = H5Gopen2(recording->file, "/overrides", H5P_DEFAULT);
    if (group < 0 || H5Gget_info(group, &info) < 0 || info.nlinks > MOST_SETS) {
        if (group >= 0) H5Gclose(group);
        return damaged(recording, "/overrides", err);
    }
    recording->sets = calloc((size_t)info.nlinks + 1, sizeof *recording->sets);
    bool ok = recording->sets != NULL;
    for (int k = 0; ok && k < (int)info.nlinks; k++) {
        char name[32];
        snprintf(name, sizeof name, "%d", k);
        recording->sets[k] = get_long_text(recording, group, name);
        ok = recording->sets[k] != NULL;
    }
    H5Gclose(group);
    recording->info.sets = (const char *const *)recording->sets;
    recording->info.n_sets = (int)info.nlinks;
    return ok ? ST_OK : damaged(recording, "/overrides", err);
}

static st_Status open_table(st_Recording *recording, sti_Table table, st_Error *err)
{
    hsize_t dims[3] = {0};
    int width = sti_table_width(table), rank = sti_table_rank(table);
    const htri_t there = rank == 2 ? H5Lexists(recording->file, sti_table_path(table), H5P_DEFAULT) : 1;
    if (there < 0) return damaged(recording, sti_table_path(table), err);
    if (there == 0) return ST_OK; /* no joints, no springs or no measures */
    if (!sti_hdf_stays_inside(recording->file, sti_table_path(table)))
        return sti_fail(err, ST_ERR_FORMAT, "%s: %s leads to another file", recording->path, sti_table_path(table));
    recording->set[table] = H5Dopen2(recording->file, sti_table_path(table), H5P_DEFAULT);
    const char *doubts = recording->set[table] >= 0 ? sti_hdf_doubts(recording->set[table]) : NULL;
    if (doubts != NULL)
        return sti_fail(err, ST_ERR_FORMAT, "%s: %s %s", recording->path, sti_table_path(table), doubts);
    hid_t space = recording->set[table] >= 0 ? H5Dget_space(recording->set[table]) : -1;
    bool ok =
        space >= 0 && H5Sget_simple_extent_ndims(space) == rank && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
    if (space >= 0) H5Sclose(space);
    recording->type[table] = sti_table_type(table);
    ok = ok && recording->type[table] >= 0;
    /* Can the table be so large? Its rows are deflated, and /model has more than a byte for every body and joint. No
     * memory is allocated for larger sizes. */
    const double most = (double)recording->info.bytes * STI_MOST_COMPRESSED;
    const double row = (double)(ok && rank == 2 ? H5Tget_size(recording->type[table]) : sizeof(double));
    if (ok && rank == 1) ok = (double)dims[0] <= most;
    if (ok && rank > 1)
        ok = dims[1] < INT_MAX && (double)dims[1] <= (double)recording->info.bytes &&
             (double)dims[0] * (double)dims[1] * row <= most;
    if (ok && table == STI_POSITION) recording->info.n_bodies = (int)dims[1];
    if (ok && table == STI_JOINTS) recording->info.n_joints = (int)dims[1];
    if (ok && table == STI_SPRINGS) recording->info.n_springs = (int)dims[1];
    if (ok && table == STI_MEASURES) recording->info.n_values = (int)dims[1];
    if (!ok || (width > 0 && (dims[2] != (hsize_t)width || dims[1] != (hsize_t)recording->info.n_bodies)))
        return damaged(recording, sti_table_path(table), err);
    recording->count[table] = (int64_t)dims[0];
    return ST_OK;
}

/* The number of rows that were committed and exist. */
static st_Status count_rows(st_Recording *recording, st_Error *err)
{
    int64_t committed[STI_N_COUNTS] = {0};
    if (get_values(recording->file, "/committed", H5T_NATIVE_INT64, STI_N_COUNTS, committed) < 0)
        return damaged(recording, "/committed", err);
    for (int k = 0; k < STI_N_TABLES; k++) {
        int64_t most = committed[k < STI_N_COUNTS ? k : STI_FRAMES];
        if (k == STI_JOINTS && recording->info.n_joints == 0) continue;
        if (k == STI_SPRINGS && recording->info.n_springs == 0) continue;
        if (k == STI_MEASURES && recording->info.n_values == 0) continue;
        if (most < 0 || recording->count[k] < most) return damaged(recording, sti_table_path((sti_Table)k), err);
        recording->count[k] = most;
    }
    st_RecordingInfo *info = &recording->info;
    info->n_frames = recording->count[STI_FRAMES];
    info->n_steps = recording->count[STI_STEPS];
    info->n_contacts = recording->count[STI_CONTACTS];
    info->n_events = recording->count[STI_EVENTS];
    info->n_checkpoints = recording->count[STI_CHECKPOINTS];
    return ST_OK;
}

static st_Status open_all(st_Recording *recording, st_Error *err)
{
    STI_TRY(open_file(recording, err));

    /* Is it a recording, of a layout that we can read? */
    char *format = get_attribute(recording, "format");
    bool ours = format != NULL && strcmp(format, STI_FORMAT_NAME) == 0;
    int32_t version = 0;
    free(format);
    if (!ours || get_number(recording->file, "format_version", H5T_NATIVE_INT32, &version) < 0)
        return sti_fail(err, ST_ERR_FORMAT, "%s: an HDF5 file, but not a recording of stiction", recording->path);
    if (version > STI_FORMAT_VERSION) {
        char *writer = get_attribute(recording, "stiction_version");
        st_Status status = sti_fail(
            err, ST_ERR_FORMAT, "%s: written by a newer stiction (%s, layout %d); this one, %s, reads layout %d",
            recording->path, writer != NULL ? writer : "?", version, st_version(), STI_FORMAT_VERSION);
        free(writer);
        return status;
    }
    recording->info.format = version;

    STI_TRY(read_texts(recording, err));
    STI_TRY(read_sets(recording, err));
    sti_Summary stored, *summary = &recording->summary;
    hid_t type = sti_summary_type();
    herr_t status = type >= 0 ? get_values(recording->file, "/summary", type, 1, &stored) : -1;
    if (type >= 0) H5Tclose(type);
    if (status < 0) return damaged(recording, "/summary", err);
    stored.outcome[sizeof stored.outcome - 1] = stored.message[sizeof stored.message - 1] = '\0';
    *summary = stored;
    sti_utf8_copy(summary->outcome, sizeof summary->outcome, stored.outcome); /* pages and JSON accept only UTF-8 */
    sti_utf8_copy(summary->message, sizeof summary->message, stored.message);
    if (!isfinite(summary->wall)) summary->wall = 0;
    recording->info.outcome = summary->outcome;
    recording->info.message = summary->message;
    recording->info.wall = summary->wall;
    memcpy(recording->info.stage_seconds, summary->stage_seconds, sizeof summary->stage_seconds);

    STI_TRY(open_table(recording, STI_POSITION, err)); /* gives the number of bodies */
    for (int k = 0; k < STI_N_TABLES; k++)
        if (k != STI_POSITION) STI_TRY(open_table(recording, (sti_Table)k, err));
    STI_TRY(count_rows(recording, err));
    st_RecordingInfo *info = &recording->info;
    st_RecordedFrame frame;
    st_RecordedStep step;
    if (info->n_frames > 0) {
        STI_TRY(st_recording_frames(recording, 0, 1, &frame, err));
        info->first = frame.time;
        STI_TRY(st_recording_frames(recording, info->n_frames - 1, 1, &frame, err));
        info->last = frame.time;
    }
    if (info->n_steps > 0 && info->wall == 0) {
        STI_TRY(st_recording_steps(recording, info->n_steps - 1, 1, &step, err));
        info->wall = step.wall;
    }
    return ST_OK;
}

bool sti_is_recording(const char *path)
{
    st_Recording *recording = NULL;
    const st_Status status = st_recording_open(path, &recording, NULL);
    st_recording_close(recording);
    return status == ST_OK;
}

void st_recording_close(st_Recording *recording)
{
    if (recording == NULL) return;
    st_Allocator allocator = recording->allocator;
    sti_Quiet quiet = sti_quiet_begin();
    for (int k = 0; k < STI_N_TABLES; k++) {
        if (recording->set[k] > 0) H5Dclose(recording->set[k]);
        if (recording->type[k] > 0) H5Tclose(recording->type[k]);
    }
    if (recording->file > 0) H5Fclose(recording->file);
    sti_quiet_end(quiet);
    for (int k = 0; k < 8; k++)
        free(recording->text[k]);
    for (int k = 0; recording->sets != NULL && recording->sets[k] != NULL; k++)
        free(recording->sets[k]);
    free((void *)recording->sets);
    sti_free(&allocator, recording->path, recording->path_size, 1);
    sti_free(&allocator, recording, 1, sizeof *recording);
}

st_Status st_recording_open(const char *path, st_Recording **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    if (path == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_open: path and out must be given");
    *out = NULL;
    st_Recording *recording = sti_alloc(&allocator, 1, sizeof *recording);
    if (recording == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    recording->allocator = allocator;
    recording->path_size = (int64_t)strlen(path) + 1;
    recording->path = sti_alloc(&allocator, recording->path_size, 1);
    st_Status status = ST_OK;
    if (recording->path == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    } else {
        memcpy(recording->path, path, (size_t)recording->path_size);
        sti_Quiet quiet = sti_quiet_begin();
        status = open_all(recording, err);
        sti_quiet_end(quiet);
    }
    if (status == ST_OK)
        *out = recording;
    else
        st_recording_close(recording);
    return status;
}

const st_RecordingInfo *st_recording_info(const st_Recording *recording)
{
    return &recording->info;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static st_Status read_rows(st_Recording *recording, sti_Table table, int64_t first, int64_t count, void *out,
                           st_Error *err)
{
    int width = sti_table_width(table), rank = sti_table_rank(table);
    if (first < 0 || count < 0 || first > recording->count[table] || count > recording->count[table] - first)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: %s has %lld rows, %lld from row %lld were requested",
                        recording->path, sti_table_path(table), (long long)recording->count[table], (long long)count,
                        (long long)first);
    if (count == 0) return ST_OK;
    if (out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: %s: no array for %lld rows", recording->path, sti_table_path(table),
                        (long long)count);
    hsize_t start[3] = {(hsize_t)first, 0, 0};
    const st_RecordingInfo *info = &recording->info;
    const int across = table == STI_JOINTS     ? info->n_joints
                       : table == STI_SPRINGS  ? info->n_springs
                       : table == STI_MEASURES ? info->n_values
                                               : info->n_bodies;
    hsize_t size[3] = {(hsize_t)count, (hsize_t)across, (hsize_t)width};
    size_t row = H5Tget_size(recording->type[table]);
    for (int k = 1; k < rank; k++)
        row *= (size_t)size[k];
    memset(out, 0, (size_t)count * row); /* files of other versions, or damaged ones, may lack a field */
    sti_Quiet quiet = sti_quiet_begin();
    hid_t where = H5Dget_space(recording->set[table]), what = H5Screate_simple(rank, size, NULL);
    const bool ok = where >= 0 && what >= 0 &&
                    H5Sselect_hyperslab(where, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                    H5Dread(recording->set[table], recording->type[table], what, where, H5P_DEFAULT, out) >= 0;
    st_Status result = ok ? ST_OK : damaged(recording, sti_table_path(table), err);
    if (what >= 0) H5Sclose(what);
    if (where >= 0) H5Sclose(where);
    sti_quiet_end(quiet);
    return result;
}

st_Status st_recording_steps(st_Recording *recording, int64_t first, int64_t count, st_RecordedStep *out, st_Error *err)
{
    STI_NEED(recording, err);
    STI_TRY(read_rows(recording, STI_STEPS, first, count, out, err));
    for (int64_t k = 0; k < count; k++)
        out[k].solver[sizeof out[k].solver - 1] = '\0';
    return ST_OK;
}

st_Status st_recording_frames(st_Recording *recording, int64_t first, int64_t count, st_RecordedFrame *out,
                              st_Error *err)
{
    STI_NEED(recording, err);
    STI_TRY(read_rows(recording, STI_FRAMES, first, count, out, err));
    for (int64_t k = 0; k < count; k++) /* numbers that are used as an index later are checked */
        if (out[k].step < 0 || out[k].step >= recording->count[STI_STEPS] || out[k].n_contacts < 0 ||
            out[k].first_contact < 0 || out[k].first_contact > recording->count[STI_CONTACTS] - out[k].n_contacts)
            return sti_fail(err, ST_ERR_FORMAT, "%s: damaged: frame %lld points outside the file", recording->path,
                            (long long)(first + k));
    return ST_OK;
}

static st_Status check_bodies(const st_Recording *recording, const char *what, int64_t row, int a, int b, st_Error *err)
{
    int n = recording->info.n_bodies;
    if (a >= 0 && a <= n && b >= 0 && b <= n) return ST_OK;
    return sti_fail(err, ST_ERR_FORMAT, "%s: damaged: %s %lld is of bodies %d and %d", recording->path, what,
                    (long long)row, a, b);
}

st_Status st_recording_contacts(st_Recording *recording, int64_t first, int64_t count, st_RecordedContact *out,
                                st_Error *err)
{
    STI_NEED(recording, err);
    STI_TRY(read_rows(recording, STI_CONTACTS, first, count, out, err));
    for (int64_t k = 0; k < count; k++)
        STI_TRY(check_bodies(recording, "contact", first + k, out[k].a, out[k].b, err));
    return ST_OK;
}

st_Status st_recording_events(st_Recording *recording, int64_t first, int64_t count, st_RecordedEvent *out,
                              st_Error *err)
{
    STI_NEED(recording, err);
    STI_TRY(read_rows(recording, STI_EVENTS, first, count, out, err));
    for (int64_t k = 0; k < count; k++) {
        out[k].kind[sizeof out[k].kind - 1] = '\0';
        STI_TRY(check_bodies(recording, "event", first + k, out[k].a, out[k].b, err));
    }
    return ST_OK;
}

st_Status st_recording_checkpoints(st_Recording *recording, int64_t first, int64_t count, st_RecordedCheckpoint *out,
                                   st_Error *err)
{
    STI_NEED(recording, err);
    return read_rows(recording, STI_CHECKPOINTS, first, count, out, err);
}

st_Status st_recording_bodies(st_Recording *recording, int64_t frame, st_Vec3 *position, st_Quat *orientation,
                              st_Vec3 *velocity, st_Vec3 *spin, st_Error *err)
{
    STI_NEED(recording, err);
    if (position != NULL) STI_TRY(read_rows(recording, STI_POSITION, frame, 1, position, err));
    if (orientation != NULL) STI_TRY(read_rows(recording, STI_ORIENTATION, frame, 1, orientation, err));
    if (velocity != NULL) STI_TRY(read_rows(recording, STI_VELOCITY, frame, 1, velocity, err));
    if (spin != NULL) STI_TRY(read_rows(recording, STI_SPIN, frame, 1, spin, err));
    return ST_OK;
}

st_Status st_recording_joints(st_Recording *recording, int64_t frame, st_RecordedJoint *out, st_Error *err)
{
    STI_NEED(recording, err);
    int n = recording->info.n_joints;
    return n > 0 ? read_rows(recording, STI_JOINTS, frame, 1, out, err) : ST_OK;
}

st_Status st_recording_springs(st_Recording *recording, int64_t frame, st_RecordedSpring *out, st_Error *err)
{
    STI_NEED(recording, err);
    return recording->info.n_springs > 0 ? read_rows(recording, STI_SPRINGS, frame, 1, out, err) : ST_OK;
}

st_Status st_recording_measures(st_Recording *recording, int64_t frame, double *out, st_Error *err)
{
    STI_NEED(recording, err);
    return recording->info.n_values > 0 ? read_rows(recording, STI_MEASURES, frame, 1, out, err) : ST_OK;
}

/* ---- rebuilding the run ------------------------------------------------------------------------- */

st_Status st_recording_scene(const st_Recording *recording, const char *const *more_sets, int n_more, st_Scene **scene,
                             st_SystemDef *def, st_Error *err)
{
    STI_NEED(recording, err);
    const st_RecordingInfo *info = &recording->info;
    if (info->text[0] == '\0')
        return sti_fail(err, ST_ERR_UNSUPPORTED, "%s: recorded without the text of its scene", recording->path);
    const char **sets = calloc((size_t)info->n_sets + (size_t)n_more + 1, sizeof *sets);
    if (sets == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", recording->path);
    for (int k = 0; k < info->n_sets + n_more; k++)
        sets[k] = k < info->n_sets ? info->sets[k] : more_sets[k - info->n_sets];
    st_Status status = st_scene_parse(info->text, strlen(info->text), info->label[0] != '\0' ? info->label : "scene",
                                      sets, info->n_sets + n_more, scene, def, err);
    free((void *)sets);
    return status;
}

st_Status st_recording_restore(st_Recording *recording, const st_RecordedCheckpoint *checkpoint, st_System *system,
                               st_Error *err)
{
    STI_NEED(recording, err);
    STI_NEED(checkpoint, err);
    STI_NEED(system, err);
    int64_t bytes = checkpoint->bytes;
    if (bytes <= 0 || bytes > recording->count[STI_STATES])
        return sti_fail(err, ST_ERR_FORMAT, "%s: damaged: a checkpoint of %lld bytes", recording->path,
                        (long long)bytes);
    unsigned char *state = malloc((size_t)bytes);
    if (state == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", recording->path);
    st_Status status = read_rows(recording, STI_STATES, checkpoint->offset, bytes, state, err);
    if (status == ST_OK) status = st_system_restore(system, state, (size_t)bytes, err);
    if (status == ST_OK && st_system_hash(system) != checkpoint->hash)
        status = sti_fail(err, ST_ERR_FORMAT, "%s: damaged: the checkpoint at t = %g does not have its hash",
                          recording->path, checkpoint->time);
    free(state);
    return status;
}
