/* record/recorder.c -- writes a recording during a run.
 *
 * A killed run must leave a file that opens. HDF5 guarantees that in its single-writer mode (SWMR): metadata is written
 * in an order in which a reader never follows a pointer to missing data. All tables are created before that mode
 * starts, because nothing can be created in it. A flush is
 *
 *     rows of all tables -> flush -> the counts in /committed, 48 bytes in place -> flush
 *
 * and a reader uses the counts, never the extents: incomplete rows are ignored.
 *
 * head.c writes the part before the first step, tables.c has the growing tables; this file decides which
 * data becomes rows, and when.
 */
#include "base/clock.h"
#include "base/utf8.h"
#include "math/vec3.h"
#include "record/head.h"
#include "record/output_lock.h"
#include "record/tables.h"
#include "record/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct st_Recorder {
    st_Allocator allocator;
    char *path, *making; /* final path; temporary name until the start is written, then "" */
    int64_t path_size, making_size;
    sti_OutputLock name; /* lock of the file at `path`, until this file takes its name */
    int own;             /* descriptor of this file, which is locked */
    hid_t file, committed, summary, summary_type;
    sti_Tables tables;
    int n_bodies, n_joints, n_springs, n_measures, n_values;
    int changes; /* changes of the system at the beginning */
    double rate, checkpoint, flush;
    double next_frame, next_checkpoint;
    int64_t n_steps, n_frames;
    bool started, frame_due;
    double began, added, flushed; /* wall clock at the start, the last step, the last flush [s] */
    st_RecordedJoint *joint;
    unsigned char *state;
    int64_t state_capacity;
    st_RecordedStep last;
};

st_RecorderDef st_recorder_def(void)
{
    return (st_RecorderDef){.rate = 60, .flush = 1, .cookie = STI_COOKIE};
}

/* Writes to the disk, for the case of a power cut: rows before the counts that include them. */
static st_Status sync_file(st_Recorder *recorder, st_Error *err)
{
    STI_TRY(sti_tables_reserve(&recorder->tables, 0, err));
    if (H5Fflush(recorder->file, H5F_SCOPE_LOCAL) < 0) return sti_tables_fail(&recorder->tables, "flushing", err);
    if (fdatasync(recorder->own) == 0 || errno == EINVAL || errno == EROFS) return ST_OK; /* some files have no disk */
    recorder->tables.failed = true;
    return sti_file_failed(recorder->path, err);
}

static st_Status flush(st_Recorder *recorder, st_Error *err)
{
    int64_t counts[STI_N_COUNTS];
    recorder->tables.reserved = 0; /* the last flush has truncated the reserved space */
    STI_TRY(sti_tables_write(&recorder->tables, err));
    STI_TRY(sync_file(recorder, err));
    for (int k = 0; k < STI_N_COUNTS; k++)
        counts[k] = sti_table_rows(&recorder->tables, (sti_Table)k);
    if (H5Dwrite(recorder->committed, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts) < 0)
        return sti_tables_fail(&recorder->tables, "flushing", err);
    return sync_file(recorder, err);
}

/* Saves everything known so far. */
static st_Status commit(st_Recorder *recorder, st_Error *err)
{
    double now = sti_seconds_now(); /* later events are not in it */
    sti_Quiet quiet = sti_quiet_begin();
    st_Status status = flush(recorder, err);
    sti_quiet_end(quiet);
    if (status == ST_OK) recorder->flushed = now;
    return status;
}

/* ---- the file ----------------------------------------------------------------------------------- */

static st_Status make_file(st_Recorder *recorder, const st_RecorderDef *def, const st_Scene *scene,
                           const st_SystemDef *choices, st_Error *err)
{
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    errno = 0;
    recorder->file = how >= 0 && H5Pset_libver_bounds(how, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0 &&
                             H5Pset_fclose_degree(how, H5F_CLOSE_STRONG) >= 0
                         ? H5Fcreate(recorder->making, H5F_ACC_TRUNC, H5P_DEFAULT, how)
                         : -1;
    const int why = errno;
    if (how >= 0) H5Pclose(how);
    if (recorder->file < 0) {
        char reason[200];
        return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", recorder->path,
                        why != 0 ? strerror(why) : sti_hdf_reason(reason, sizeof reason));
    }
    recorder->tables.file = recorder->file;
    recorder->tables.fd = recorder->own;
    STI_TRY(sti_tables_reserve(&recorder->tables, 2 * (int64_t)def->length + 512 * (int64_t)recorder->n_bodies, err));
    const char *const groups[] = {"/frames", "/checkpoints"};
    for (int k = 0; k < 2; k++) {
        hid_t group = H5Gcreate2(recorder->file, groups[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group < 0) return sti_tables_fail(&recorder->tables, "writing", err);
        H5Gclose(group);
    }
    STI_TRY(sti_put_head(recorder->file, &recorder->tables, def, scene, choices, err));
    hsize_t n = STI_N_COUNTS;
    hid_t scalar = H5Screate(H5S_SCALAR), counts = H5Screate_simple(1, &n, NULL), early = H5Pcreate(H5P_DATASET_CREATE);
    sti_Summary running = {.outcome = "running"};
    recorder->summary_type = sti_summary_type();
    /* their space must be allocated before they are overwritten */
    if (scalar >= 0 && counts >= 0 && early >= 0 && H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY) >= 0) {
        recorder->summary =
            H5Dcreate2(recorder->file, "/summary", recorder->summary_type, scalar, H5P_DEFAULT, early, H5P_DEFAULT);
        recorder->committed =
            H5Dcreate2(recorder->file, "/committed", H5T_NATIVE_INT64, counts, H5P_DEFAULT, early, H5P_DEFAULT);
    }
    if (early >= 0) H5Pclose(early);
    if (counts >= 0) H5Sclose(counts);
    if (scalar >= 0) H5Sclose(scalar);
    if (recorder->summary <= 0 || recorder->committed <= 0 ||
        H5Dwrite(recorder->summary, recorder->summary_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &running) < 0)
        return sti_tables_fail(&recorder->tables, "writing", err);

    STI_TRY(sti_tables_open(&recorder->tables, recorder->file, recorder->n_bodies, recorder->n_joints,
                            recorder->n_springs, recorder->n_values, err));
    if (H5Fstart_swmr_write(recorder->file) < 0) return sti_tables_fail(&recorder->tables, "starting", err);
    return commit(recorder, err);
}

/* Locks the name. The file that has it now must be empty or a recording; other files are not replaced. */
static st_Status take_name(st_Recorder *recorder, st_Error *err)
{
    STI_TRY(sti_output_lock(recorder->path, false, &recorder->name, err));
    if (!sti_output_is_empty(&recorder->name) && !sti_is_recording(recorder->path))
        return sti_fail(err, ST_ERR_FILE,
                        "%s: exists and is not a recording of stiction, or is a damaged one: choose another name, or "
                        "remove it",
                        recorder->path);

    /* A new file next to `path`, and its lock. No existing file is touched. */
    for (int k = 0; k < 100 && recorder->own < 0; k++) {
        snprintf(recorder->making, (size_t)recorder->making_size, "%s.%ld.%d.part", recorder->path, (long)getpid(), k);
        recorder->own = open(recorder->making, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (recorder->own < 0 && errno != EEXIST) break;
    }
    int reason = errno;
    if (recorder->own >= 0 && sti_output_lock_open(recorder->own)) {
        /* HDF5 crashes if it cannot write the head, so a full disk is found first */
        reason = posix_fallocate(recorder->own, 0, 65536);
        if (reason == 0 || reason == EINVAL || reason == EOPNOTSUPP) return ST_OK;
    }
    if (recorder->own < 0) recorder->making[0] = '\0';
    return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", recorder->path, strerror(reason));
}

/* Gives the file its name, now that it can be opened and has at least the start of the run. */
static st_Status appear(st_Recorder *recorder, st_Error *err)
{
    if (recorder->making[0] == '\0') return ST_OK;
    if (rename(recorder->making, recorder->path) != 0)
        return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", recorder->path, strerror(errno));
    recorder->making[0] = '\0';
    sti_sync_folder(recorder->path);
    sti_output_unlock(&recorder->name, recorder->path);
    return ST_OK;
}

/* Closes everything; true if HDF5 reported no error. */
static bool release_recorder(st_Recorder *recorder)
{
    st_Allocator allocator = recorder->allocator;
    bool ok = true;
    hsize_t size = 0;
    void *handle = NULL;
    if (recorder->tables.failed) {
        /* After a failed write HDF5 cannot close the file: it tries to write the rest again, fails again, and
         * crashes when the program ends. So its writes are redirected to nowhere, and the file stays as the last
         * flush left it. The chunk that failed goes there, too, so that the file has the length that HDF5 expects. */
        if (recorder->file > 0 && H5Fget_vfd_handle(recorder->file, H5P_DEFAULT, &handle) >= 0 && handle != NULL) {
            sti_send_nowhere(*(int *)handle);
            (void)sti_tables_write(&recorder->tables, NULL);
        }
    } else if (recorder->file > 0 && H5Fget_filesize(recorder->file, &size) >= 0)
        (void)!ftruncate(recorder->own, (off_t)size); /* space that was reserved but not used */
    if (!sti_tables_close(&recorder->tables)) ok = false;
    if (recorder->committed > 0) H5Dclose(recorder->committed);
    if (recorder->summary > 0) H5Dclose(recorder->summary);
    if (recorder->summary_type > 0) H5Tclose(recorder->summary_type);
    if (recorder->file > 0 && H5Fclose(recorder->file) < 0) ok = false;
    if (recorder->own >= 0 && recorder->making[0] != '\0') unlink(recorder->making);
    if (recorder->own >= 0) close(recorder->own);
    if (recorder->path != NULL) sti_output_unlock(&recorder->name, recorder->path);
    STI_RELEASE(&allocator, recorder->state, recorder->state_capacity);
    sti_free(&allocator, recorder->joint, recorder->n_joints + 1, sizeof *recorder->joint);
    sti_free(&allocator, recorder->path, recorder->path_size, 1);
    sti_free(&allocator, recorder->making, recorder->making_size, 1);
    sti_free(&allocator, recorder, 1, sizeof *recorder);
    return ok;
}

static st_Status open_at(const char *path, const st_RecorderDef *def, const st_Scene *scene,
                         const st_SystemDef *choices, const st_System *system, st_Recorder **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    st_Recorder *recorder = sti_alloc(&allocator, 1, sizeof *recorder);
    if (recorder == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    recorder->allocator = allocator;
    recorder->own = recorder->name.fd = -1;
    recorder->tables = (sti_Tables){.allocator = allocator, .chunker.allocator = allocator};
    recorder->n_bodies = st_scene_body_count(scene);
    recorder->n_joints = st_scene_joint_count(scene);
    recorder->n_springs = st_scene_spring_count(scene);
    recorder->n_measures = st_scene_measure_count(scene);
    for (int k = 0; k < recorder->n_measures; k++) {
        st_MeasureDef measure;
        if (st_scene_measure(scene, k, &measure) != ST_OK) continue;
        for (int i = 0; st_measure_value_name(measure.type, i, NULL) != NULL; i++)
            recorder->n_values++;
    }
    recorder->changes = st_system_changes(system);
    recorder->rate = def->rate;
    recorder->checkpoint = def->checkpoint;
    recorder->flush = def->flush;
    recorder->began = recorder->added = sti_seconds_now();
    recorder->path_size = (int64_t)strlen(path) + 1;
    recorder->path = sti_alloc(&allocator, recorder->path_size, 1);
    recorder->making_size = recorder->path_size + 48 /* for process and number */;
    recorder->making = sti_alloc(&allocator, recorder->making_size, 1);
    recorder->joint = sti_alloc(&allocator, recorder->n_joints + 1, sizeof *recorder->joint);
    st_Status status = ST_OK;
    if (recorder->path == NULL || recorder->making == NULL || recorder->joint == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    } else {
        memcpy(recorder->path, path, (size_t)recorder->path_size);
        recorder->tables.path = recorder->path;
        sti_Quiet quiet = sti_quiet_begin();
        status = take_name(recorder, err);
        if (status == ST_OK) status = make_file(recorder, def, scene, choices, err);
        if (status != ST_OK) release_recorder(recorder);
        sti_quiet_end(quiet);
        if (status == ST_OK) *out = recorder;
        return status;
    }
    release_recorder(recorder);
    return status;
}

st_Status st_recorder_open(const char *path, const st_RecorderDef *def, const st_Scene *scene,
                           const st_SystemDef *choices, const st_System *system, st_Recorder **out, st_Error *err)
{
    char *place = NULL;
    if (path == NULL || scene == NULL || choices == NULL || system == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recorder_open: path, scene, choices, system and out must be given");
    STI_CHECK_DEF(def, "st_recorder_def", err);
    const double numbers[] = {def->rate, def->checkpoint, def->flush};
    static const char *const names[] = {"rate", "checkpoint", "flush"};
    for (int k = 0; k < 3; k++)
        if (!(numbers[k] >= 0) || !isfinite(numbers[k]))
            return sti_fail(err, ST_ERR_ARGUMENT, "st_recorder_open: %s is %g, must be finite and >= 0", names[k],
                            numbers[k]);
    if (def->n_sets < 0 || (def->n_sets > 0 && def->sets == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recorder_open: n_sets is %d, must be >= 0, and sets must not be NULL",
                        def->n_sets);

    *out = NULL;
    STI_TRY(sti_file_place(path, &place, err));
    const st_Status status = open_at(place, def, scene, choices, system, out, err);
    free(place);
    return status;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static void store_vector(st_Vec3 v, float *out)
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
}

/* Numbers of a contact along (normal, tangent, normal x tangent), in world axes. */
static void put_world(const st_ContactReport *c, st_Vec3 third, const double *local, float *out)
{
    const st_Vec3 n = c->normal, t = c->tangent;
    const double x = local[0], y = c->dim > 1 ? local[1] : 0, z = c->dim > 2 ? local[2] : 0;
    store_vector(
        (st_Vec3){x * n.x + y * t.x + z * third.x, x * n.y + y * t.y + z * third.y, x * n.z + y * t.z + z * third.z},
        out);
}

/* Does the contact touch or push? Contacts that are only within the margin do neither. */
static bool is_contact(const st_ContactReport *c)
{
    if (c->joint.index1 > 0) return false; /* the limit of a joint */
    for (int k = 0; k < c->dim; k++)
        if (c->impulse[k] != 0) return true;
    return c->gap <= 0;
}

static st_Status add_frame_rows(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    int64_t first = sti_table_rows(&recorder->tables, STI_CONTACTS);
    recorder->frame_due = false;
    recorder->n_frames++;
    static const sti_Table order[] = {STI_POSITION, STI_ORIENTATION, STI_VELOCITY, STI_SPIN};
    st_Vec3 *position = sti_table_next(&recorder->tables, STI_POSITION);
    st_Quat *orientation = sti_table_next(&recorder->tables, STI_ORIENTATION);
    st_Vec3 *velocity = sti_table_next(&recorder->tables, STI_VELOCITY);
    st_Vec3 *spin = sti_table_next(&recorder->tables, STI_SPIN);
    for (int i = 0; i < recorder->n_bodies; i++) {
        const st_BodyId id = {i + 1};
        st_Pose pose;
        if (st_system_pose(system, id, &pose) != ST_OK ||
            st_system_velocity(system, id, &velocity[i], &spin[i]) != ST_OK)
            return sti_fail(err, ST_ERR_ARGUMENT, "the system has no body number %d: it is not the recorded system",
                            i + 1);
        position[i] = st_system_present(system, id) ? pose.p : (st_Vec3){NAN, NAN, NAN};
        orientation[i] = pose.q;
    }
    for (int k = 0; k < 4; k++)
        STI_TRY(sti_table_take(&recorder->tables, order[k], 1, err));

    for (int k = 0; k < recorder->n_joints; k++) {
        st_JointReport r;
        if (st_system_joint(system, (st_JointId){k + 1}, ST_FRAME_WORLD, &r) != ST_OK) r = (st_JointReport){0};
        const double known = r.struck ? NAN : 1;
        recorder->joint[k] = (st_RecordedJoint){.force = {known * r.force.x, known * r.force.y, known * r.force.z},
                                                .torque = {known * r.torque.x, known * r.torque.y, known * r.torque.z},
                                                .coordinate = r.coordinate,
                                                .speed = r.speed,
                                                .other = r.other,
                                                .other_speed = r.other_speed,
                                                .motor = r.motor,
                                                .error = r.error,
                                                .friction = r.friction,
                                                .limit = known * r.limit,
                                                .spring = r.spring,
                                                .gear = known * r.gear};
    }
    if (recorder->n_joints > 0) STI_TRY(sti_table_push(&recorder->tables, STI_JOINTS, recorder->joint, 1, err));

    st_RecordedSpring *row = sti_table_next(&recorder->tables, STI_SPRINGS);
    for (int k = 0; k < recorder->n_springs; k++) {
        st_SpringReport r;
        if (st_system_spring(system, (st_SpringId){k + 1}, &r) != ST_OK) r = (st_SpringReport){.length = 0};
        const st_Vec3 f = r.force_on_b, t = r.torque_on_b;
        row[k] = (st_RecordedSpring){r.length, r.rate, r.force, {f.x, f.y, f.z}, {t.x, t.y, t.z}};
    }
    if (recorder->n_springs > 0) STI_TRY(sti_table_take(&recorder->tables, STI_SPRINGS, 1, err));

    if (recorder->n_values > 0) {
        double *measured = sti_table_next(&recorder->tables, STI_MEASURES), values[ST_MEASURE_VALUES];
        for (int k = 0; k < recorder->n_measures; k++) {
            int n = 0;
            STI_TRY(st_system_measure(system, k, values, &n, err));
            memcpy(measured, values, (size_t)n * sizeof *measured);
            measured += n;
        }
        STI_TRY(sti_table_take(&recorder->tables, STI_MEASURES, 1, err));
    }
    int n = st_system_contact_count(system);
    for (int k = 0; k < n; k++) {
        st_ContactReport c;
        if (st_system_contact(system, k, &c) != ST_OK || !is_contact(&c)) continue;
        const st_Vec3 third = cross(c.normal, c.tangent);
        sti_StoredContact contact = {.id = c.id, .a = c.a.index1, .b = c.b.index1, .gap = (float)c.gap};
        store_vector(c.point, contact.point);
        store_vector(c.normal, contact.normal);
        double finite[ST_MAX_DIM];
        for (int i = 0; i < ST_MAX_DIM; i++)
            finite[i] = c.impulse[i] - c.impact[i];
        put_world(&c, third, finite, contact.impulse);
        put_world(&c, third, c.impact, contact.impact);
        put_world(&c, third, c.velocity, contact.velocity);
        memcpy(sti_table_next(&recorder->tables, STI_CONTACTS), &contact, STI_STORED_CONTACT);
        STI_TRY(sti_table_take(&recorder->tables, STI_CONTACTS, 1, err));
    }

    st_RecordedFrame frame = {.time = recorder->last.time,
                              .step = recorder->n_steps - 1,
                              .first_contact = first,
                              .n_contacts = (int32_t)(sti_table_rows(&recorder->tables, STI_CONTACTS) - first)};
    return sti_table_push(&recorder->tables, STI_FRAMES, &frame, 1, err);
}

static st_Status add_checkpoint(st_Recorder *recorder, const st_System *system, st_Error *err)
{
    int64_t bytes = (int64_t)st_system_save(system, NULL, 0);
    STI_TRY(STI_GROW(&recorder->allocator, recorder->state, recorder->state_capacity, bytes, err));
    st_system_save(system, recorder->state, (size_t)bytes);
    st_RecordedCheckpoint row = {.time = st_system_time(system),
                                 .step = recorder->n_steps - 1,
                                 .hash = st_system_hash(system),
                                 .offset = sti_table_rows(&recorder->tables, STI_STATES),
                                 .bytes = bytes};
    STI_TRY(sti_table_push(&recorder->tables, STI_STATES, recorder->state, (size_t)bytes, err));
    return sti_table_push(&recorder->tables, STI_CHECKPOINTS, &row, 1, err);
}

/* Is something due that happens every 1/rate seconds? Up to half a ten-thousandth early counts as due. */
static bool is_due(double time, double rate, double *next)
{
    if (time < *next - 5e-5 / rate) return false;
    *next = (floor(time * rate + 5e-5) + 1) / rate;
    return true;
}

/* Would the next step end after the interval if it takes as long as this one? A fifth of the interval is reserved
 * for slower steps and the flush. Space wasted by flushes must stay small, so intervals are longer in long runs. */
static bool is_flush_due(st_Recorder *recorder)
{
    double now = sti_seconds_now(), step = now - recorder->added;
    double interval = fmin(fmax(recorder->flush, 0.01 * (now - recorder->began)), 10 * recorder->flush);
    recorder->added = now;
    return now + step - recorder->flushed >= 0.8 * interval;
}

static st_Status add_rows(st_Recorder *recorder, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    if (!recorder->started) recorder->next_frame = recorder->next_checkpoint = -INFINITY;
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
                             .joint_residual = info->solve.residual.joint,
                             .friction = info->friction,
                             .force_time = info->force_time,
                             .force_h = info->force_h,
                             .struck = info->struck,
                             .work = info->work,
                             .damping = info->damping,
                             .impacts = info->impacts,
                             .correction = info->correction,
                             .scheme = info->scheme,
                             .unexplained = info->unexplained,
                             .wall = sti_seconds_now() - recorder->began};
    if (info->solve.solver != NULL) strncpy(row->solver, info->solve.solver, sizeof row->solver - 1);
    recorder->n_steps++;
    STI_TRY(sti_table_push(&recorder->tables, STI_STEPS, row, 1, err));
    int n = info->h > 0 ? st_system_event_count(system) : 0;
    for (int k = 0; k < n; k++) {
        st_EventReport e;
        if (st_system_event(system, k, &e) != ST_OK) continue;
        st_RecordedEvent event = {.time = e.time,
                                  .step = recorder->n_steps - 1,
                                  .a = e.a.index1,
                                  .b = e.b.index1,
                                  .point = {e.point.x, e.point.y, e.point.z},
                                  .normal = {e.normal.x, e.normal.y, e.normal.z},
                                  .before = e.before,
                                  .after = e.after,
                                  .impulse = e.impulse};
        strncpy(event.kind, st_event_kind_name(e.kind), sizeof event.kind - 1);
        STI_TRY(sti_table_push(&recorder->tables, STI_EVENTS, &event, 1, err));
    }

    recorder->frame_due = true;
    if (recorder->rate == 0 || is_due(info->time, recorder->rate, &recorder->next_frame))
        STI_TRY(add_frame_rows(recorder, system, err));
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
    if (recorder->tables.failed) return sti_fail(err, ST_ERR_FILE, "%s: an earlier write failed", recorder->path);
    if (st_system_changes(system) != recorder->changes)
        return sti_fail(
            err, ST_ERR_UNSUPPORTED,
            "%s: the scene was changed during the run, and a recording contains one scene: start another recording",
            recorder->path);
    st_Status status = add_rows(recorder, system, info, err);
    if (status != ST_OK) recorder->tables.failed = true;
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
    sti_Summary summary = {.wall = sti_seconds_now() - recorder->began};
    sti_utf8_copy(summary.outcome, sizeof summary.outcome, outcome != NULL ? outcome : "");
    sti_utf8_copy(summary.message, sizeof summary.message, message != NULL ? message : "");
    if (system != NULL) st_system_part_seconds(system, summary.stage_seconds);
    if (system != NULL && recorder->frame_due) STI_TRY(add_frame_rows(recorder, system, err));
    if (system != NULL && recorder->n_steps > 1) STI_TRY(add_checkpoint(recorder, system, err));
    if (H5Dwrite(recorder->summary, recorder->summary_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &summary) < 0)
        return sti_tables_fail(&recorder->tables, "writing", err);
    STI_TRY(commit(recorder, err));
    return recorder->started ? appear(recorder, err) : ST_OK; /* a run without a first step replaces nothing */
}

st_Status st_recorder_close(st_Recorder *recorder, const st_System *system, const char *outcome, const char *message,
                            st_Error *err)
{
    if (recorder == NULL) return ST_OK;
    if (system != NULL && st_system_changes(system) != recorder->changes) system = NULL; /* not the recorded system */
    sti_Quiet quiet = sti_quiet_begin();
    st_Status status =
        recorder->tables.failed
            ? sti_fail(err, ST_ERR_FILE, "%s: is not complete: an earlier write failed", recorder->tables.path)
            : write_end(recorder, system, outcome, message, err);
    if (!release_recorder(recorder) && status == ST_OK)
        status = sti_fail(err, ST_ERR_FILE, "a recording could not be closed");
    sti_quiet_end(quiet);
    return status;
}
