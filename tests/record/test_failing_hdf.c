/* Every call of HDF5 made to fail, one at a time: writing and reading recordings and problem files ends with an error
 * and a message, leaves no handle open and no file that does not open. A call whose failure is not reported must not
 * matter: then the result is the same as without it.
 *
 * The functions are wrapped by the linker (tests/CMakeLists.txt). A failing function does nothing; one that closes
 * an object closes it and reports a failure. `make test` runs a seeded share of the calls; ST_TEST_FULL=1 runs all.
 */
#include "check.h"
#include "record/scratch.h"

#include <dirent.h>
#include <hdf5.h>
#include <stiction/io.h>
#include <string.h>
#include <unistd.h>

/* ---- calls that fail ------------------------------------------------------------------------------ */

static long long called, fail_at, opened; /* since the last reset; 0: none fails; handles that are not closed */
static const char *failed_call = "";

static bool fails(const char *name)
{
    if (++called != fail_at) return false;
    failed_call = name;
    return true;
}

/* A function of HDF5 whose n-th call returns -1: its result, name, parameters and arguments. */
#define FAILING(type, name, parameters, arguments)                                                                     \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return fails(#name) ? -1 : __real_##name arguments;                                                            \
    }
/* One that makes a handle, and one that closes it. */
#define FAILING_ID(name, parameters, arguments)                                                                        \
    hid_t __real_##name parameters;                                                                                    \
    hid_t __wrap_##name parameters;                                                                                    \
    hid_t __wrap_##name parameters                                                                                     \
    {                                                                                                                  \
        const hid_t id = fails(#name) ? -1 : __real_##name arguments;                                                  \
        opened += id >= 0;                                                                                             \
        return id;                                                                                                     \
    }
#define FAILING_CLOSE(name)                                                                                            \
    herr_t __real_##name(hid_t id);                                                                                    \
    herr_t __wrap_##name(hid_t id);                                                                                    \
    herr_t __wrap_##name(hid_t id)                                                                                     \
    {                                                                                                                  \
        const herr_t status = __real_##name(id);                                                                       \
        opened -= status >= 0;                                                                                         \
        return fails(#name) ? -1 : status;                                                                             \
    }
FAILING_ID(H5Acreate2, (hid_t a, const char *b, hid_t c, hid_t d, hid_t e, hid_t f), (a, b, c, d, e, f))
FAILING_ID(H5Aget_space, (hid_t a), (a))
FAILING_ID(H5Aget_type, (hid_t a), (a))
FAILING_ID(H5Aopen, (hid_t a, const char *b, hid_t c), (a, b, c))
FAILING(herr_t, H5Aread, (hid_t a, hid_t b, void *c), (a, b, c))
FAILING(herr_t, H5Awrite, (hid_t a, hid_t b, const void *c), (a, b, c))
FAILING_CLOSE(H5Aclose)
FAILING_CLOSE(H5Dclose)
FAILING_CLOSE(H5Fclose)
FAILING_CLOSE(H5Gclose)
FAILING_CLOSE(H5Pclose)
FAILING_CLOSE(H5Sclose)
FAILING_CLOSE(H5Tclose)
FAILING_ID(H5Dcreate2, (hid_t a, const char *b, hid_t c, hid_t d, hid_t e, hid_t f, hid_t g), (a, b, c, d, e, f, g))
FAILING_ID(H5Dget_create_plist, (hid_t a), (a))
FAILING_ID(H5Dget_space, (hid_t a), (a))
FAILING_ID(H5Dget_type, (hid_t a), (a))
FAILING_ID(H5Dopen2, (hid_t a, const char *b, hid_t c), (a, b, c))
FAILING(herr_t, H5Dread, (hid_t a, hid_t b, hid_t c, hid_t d, hid_t e, void *f), (a, b, c, d, e, f))
FAILING(herr_t, H5Dset_extent, (hid_t a, const hsize_t *b), (a, b))
FAILING(herr_t, H5Dwrite, (hid_t a, hid_t b, hid_t c, hid_t d, hid_t e, const void *f), (a, b, c, d, e, f))
FAILING(herr_t, H5Dwrite_chunk, (hid_t a, hid_t b, uint32_t c, const hsize_t *d, size_t e, const void *f),
        (a, b, c, d, e, f))
FAILING_ID(H5Fcreate, (const char *a, unsigned b, hid_t c, hid_t d), (a, b, c, d))
FAILING(herr_t, H5Fflush, (hid_t a, H5F_scope_t b), (a, b))
FAILING(ssize_t, H5Fget_file_image, (hid_t a, void *b, size_t c), (a, b, c))
FAILING(herr_t, H5Fget_filesize, (hid_t a, hsize_t *b), (a, b))
FAILING_ID(H5Fopen, (const char *a, unsigned b, hid_t c), (a, b, c))
FAILING(herr_t, H5Fstart_swmr_write, (hid_t a), (a))
FAILING_ID(H5Gcreate2, (hid_t a, const char *b, hid_t c, hid_t d, hid_t e), (a, b, c, d, e))
FAILING(herr_t, H5Gget_info, (hid_t a, H5G_info_t *b), (a, b))
FAILING_ID(H5Gopen2, (hid_t a, const char *b, hid_t c), (a, b, c))
FAILING(herr_t, H5Ldelete, (hid_t a, const char *b, hid_t c), (a, b, c))
FAILING(htri_t, H5Lexists, (hid_t a, const char *b, hid_t c), (a, b, c))
FAILING_ID(H5Pcreate, (hid_t a), (a))
FAILING(herr_t, H5Pset_alloc_time, (hid_t a, H5D_alloc_time_t b), (a, b))
FAILING(herr_t, H5Pset_chunk, (hid_t a, int b, const hsize_t *c), (a, b, c))
FAILING(herr_t, H5Pset_create_intermediate_group, (hid_t a, unsigned b), (a, b))
FAILING(herr_t, H5Pset_deflate, (hid_t a, unsigned b), (a, b))
FAILING(herr_t, H5Pset_fapl_core, (hid_t a, size_t b, hbool_t c), (a, b, c))
FAILING(herr_t, H5Pset_fclose_degree, (hid_t a, H5F_close_degree_t b), (a, b))
FAILING(herr_t, H5Pset_file_image, (hid_t a, void *b, size_t c), (a, b, c))
FAILING(herr_t, H5Pset_libver_bounds, (hid_t a, H5F_libver_t b, H5F_libver_t c), (a, b, c))
FAILING(herr_t, H5Pset_shuffle, (hid_t a), (a))
FAILING_ID(H5Screate, (H5S_class_t a), (a))
FAILING_ID(H5Screate_simple, (int a, const hsize_t *b, const hsize_t *c), (a, b, c))
FAILING(int, H5Sget_simple_extent_dims, (hid_t a, hsize_t *b, hsize_t *c), (a, b, c))
FAILING(int, H5Sget_simple_extent_ndims, (hid_t a), (a))
FAILING(hssize_t, H5Sget_simple_extent_npoints, (hid_t a), (a))
FAILING(herr_t, H5Sselect_hyperslab,
        (hid_t a, H5S_seloper_t b, const hsize_t *c, const hsize_t *d, const hsize_t *e, const hsize_t *f),
        (a, b, c, d, e, f))
FAILING_ID(H5Tarray_create2, (hid_t a, unsigned b, const hsize_t *c), (a, b, c))
FAILING_ID(H5Tcopy, (hid_t a), (a))
FAILING_ID(H5Tcreate, (H5T_class_t a, size_t b), (a, b))
FAILING(herr_t, H5Tinsert, (hid_t a, const char *b, size_t c, hid_t d), (a, b, c, d))
FAILING(herr_t, H5Tset_cset, (hid_t a, H5T_cset_t b), (a, b))
FAILING(herr_t, H5Tset_size, (hid_t a, size_t b), (a, b))
FAILING(herr_t, H5Tset_strpad, (hid_t a, H5T_str_t b), (a, b))

/* ---- writing and reading --------------------------------------------------------------------------- */

static char folder[64] = "/tmp/stiction-hdf-XXXXXX";

static const char *in_folder(const char *name)
{
    return scratch_path(folder, name);
}

static const char scene_text[] =
    "{\"ground\": [{\"type\": \"plane\", \"friction\": 0.5}], \"bodies\": ["
    "{\"name\": \"box\", \"position\": [0, 0, 0.1], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]},"
    "{\"name\": \"arm\", \"position\": [3.5, 0, 1], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.05}]}],"
    "\"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"b\": \"arm\", \"point\": [3, 0, 1], \"axis\": [0, 1, "
    "0]}],"
    "\"springs\": [{\"name\": \"band\", \"type\": \"linear\", \"a\": \"box\", \"b\": \"arm\", \"stiffness\": 10}],"
    "\"measures\": [{\"name\": \"angle\", \"type\": \"coordinate\", \"joint\": \"pin\"}],"
    "\"simulation\": {\"h\": 0.005, \"end\": 1}}";

static st_Scene *scene;
static st_System *system_of; /* at its start */
static st_SystemDef choices;

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        if (status == ST_OK) status = (call);                                                                          \
    } while (0)

static st_Status records(st_Error *err)
{
    st_System *system = NULL;
    st_Recorder *recorder = NULL;
    st_RecorderDef def = st_recorder_def();
    static const char *const sets[] = {"simulation/h=0.005"};
    def.name = "text", def.text = scene_text, def.length = sizeof scene_text - 1, def.label = "text";
    def.sets = sets, def.n_sets = 1;
    unlink(in_folder("run.h5"));
    check_ok(st_system_clone(system_of, &system, err), *err);
    st_Status status = st_recorder_open(in_folder("run.h5"), &def, scene, &choices, system, &recorder, err);
    for (int k = 0; k < 4; k++) {
        st_StepInfo info = st_step_info();
        if (status == ST_OK) check_ok(st_system_step(system, 0.005, &info, err), *err);
        DO(st_recorder_add(recorder, system, &info, err));
    }
    const st_Status closed = st_recorder_close(recorder, system, "finished", "", status == ST_OK ? err : NULL);
    st_system_destroy(system);
    return status != ST_OK ? status : closed;
}

/* All numbers of a recording but the times that the run took, in one sum of bytes. */
static st_Status reads(const char *name, uint64_t *sum, st_Error *err)
{
    enum { MOST = 64 };
    static st_RecordedStep step[MOST];
    static st_RecordedFrame frame[MOST];
    static st_RecordedContact contact[MOST * MOST];
    static st_RecordedCheckpoint checkpoint[MOST];
    st_Recording *recording = NULL;
    uint64_t hash = 14695981039346656037u;
#define TAKE(x)                                                                                                        \
    do {                                                                                                               \
        for (size_t byte = 0; byte < sizeof(x); byte++)                                                                \
            hash = (hash ^ ((const unsigned char *)&(x))[byte]) * 1099511628211u;                                      \
    } while (0)
    st_Status status = st_recording_open(name, &recording, err);
    if (status != ST_OK) return status;
    const st_RecordingInfo *info = st_recording_info(recording);
    assert_true(info->n_steps <= MOST && info->n_contacts <= MOST * MOST);
    TAKE(info->n_steps);
    TAKE(info->n_frames);
    TAKE(info->n_contacts);
    TAKE(info->n_joints);
    TAKE(info->n_springs);
    TAKE(info->n_values);
    TAKE(info->n_sets);
    TAKE(info->n_checkpoints);
    DO(st_recording_steps(recording, 0, info->n_steps, step, err));
    DO(st_recording_frames(recording, 0, info->n_frames, frame, err));
    DO(st_recording_contacts(recording, 0, info->n_contacts, contact, err));
    DO(st_recording_checkpoints(recording, 0, info->n_checkpoints, checkpoint, err));
    for (int64_t k = 0; k < info->n_steps && status == ST_OK; k++) {
        TAKE(step[k].time);
        TAKE(step[k].solver);
        TAKE(step[k].unexplained);
        TAKE(step[k].kinetic);
        TAKE(step[k].contacts);
    }
    for (int64_t k = 0; k < info->n_contacts && status == ST_OK; k++) {
        TAKE(contact[k].id);
        TAKE(contact[k].impulse);
        TAKE(contact[k].gap);
    }
    for (int64_t k = 0; k < info->n_checkpoints && status == ST_OK; k++) {
        st_System *system = NULL;
        TAKE(checkpoint[k].hash);
        check_ok(st_system_clone(system_of, &system, err), *err);
        DO(st_recording_restore(recording, &checkpoint[k], system, err));
        if (status == ST_OK) assert_true(st_system_hash(system) == checkpoint[k].hash);
        st_system_destroy(system);
    }
    for (int64_t k = 0; k < info->n_frames && status == ST_OK; k++) {
        st_Vec3 position[2], velocity[2], spin[2];
        st_Quat orientation[2];
        st_RecordedJoint joint;
        st_RecordedSpring spring;
        double value = 0;
        TAKE(frame[k].time);
        TAKE(frame[k].first_contact);
        DO(st_recording_bodies(recording, k, position, orientation, velocity, spin, err));
        DO(st_recording_joints(recording, k, &joint, err));
        DO(st_recording_springs(recording, k, &spring, err));
        DO(st_recording_measures(recording, k, &value, err));
        if (status != ST_OK) break;
        TAKE(position);
        TAKE(orientation);
        TAKE(velocity);
        TAKE(spin);
        TAKE(joint.force);
        TAKE(joint.gear);
        TAKE(spring);
        TAKE(value);
    }
    st_recording_close(recording);
    *sum = hash;
    return status;
}

static uint64_t expected; /* of the recording */

static st_Status reads_recording(st_Error *err)
{
    uint64_t sum = 0;
    const st_Status status = reads(in_folder("kept.h5"), &sum, err);
    if (status == ST_OK && sum != expected)
        fail_msg("%s: failed (call %lld): what was read is not what was written", failed_call, fail_at);
    return status;
}

static const double W_x[] = {2, 0.1, 0, 0.1, 2, 0, 0, 0, 2}, mu[] = {0.5}, b[] = {-1, 0.2, 0.1};
static const int64_t W_p[] = {0, 3, 6, 9};
static const int W_i[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};

static const bool free_rows[] = {true, false, false};

/* One contact as a local problem, as a global one with an equality row, and a mixed complementarity problem of three
 * rows, all with the same numbers. */
static const struct {
    const char *name;
    st_ProblemFile file;
} problems[] = {
    {"local.hdf5",
     {.friction = {.form = ST_FORM_LOCAL, .dim = 3, .n_contacts = 1, .W = {3, 3, W_p, W_i, W_x}, .q = b, .mu = mu},
      .title = "one contact",
      .description = "of three rows"}},
    {"global.hdf5",
     {.friction = {.form = ST_FORM_GLOBAL,
                   .dim = 3,
                   .n_contacts = 1,
                   .n_v = 3,
                   .n_l = 1,
                   .M = {3, 3, W_p, W_i, W_x},
                   .H = {3, 3, W_p, W_i, W_x},
                   .G = {3, 1, W_p, W_i, W_x},
                   .f = b,
                   .w = b,
                   .b = b,
                   .mu = mu}}},
    {"mixed.hdf5", {.is_lcp = true, .lcp = {.n = 3, .M = {3, 3, W_p, W_i, W_x}, .q = b, .free = free_rows}}},
};
enum { N_PROBLEMS = sizeof problems / sizeof problems[0] };
static int which; /* of them */

static st_Status writes_problem(st_Error *err)
{
    unlink(in_folder("problem.hdf5"));
    return st_problem_file_write(in_folder("problem.hdf5"), &problems[which].file, err);
}

static st_Status reads_problem(const char *name, bool solved, st_Error *err)
{
    st_ProblemFile *file = NULL;
    const st_Status status = st_problem_file_read(name, &file, err);
    if (status == ST_OK) {
        const st_Sparse *A = which == 0 ? &file->friction.W : which == 1 ? &file->friction.H : &file->lcp.M;
        const double *q = which == 0 ? file->friction.q : which == 1 ? file->friction.b : file->lcp.q;
        assert_true(A->n_cols == 3 && A->p[3] == 9);
        assert_memory_equal(A->x, W_x, sizeof W_x);
        assert_memory_equal(q, b, which == 1 ? sizeof b[0] : sizeof b);
        if (which < 2) assert_true(!file->is_lcp && file->friction.mu[0] == mu[0]);
        if (which == 2) assert_true(file->is_lcp && file->lcp.free[0] && !file->lcp.free[1] && !file->lcp.free[2]);
        if (solved && (file->r == NULL || file->r[0] != 7))
            fail_msg("%s: failed (call %lld): the answer is not there", failed_call, fail_at);
    }
    st_problem_file_destroy(file);
    return status;
}

static st_Status reads_kept_problem(st_Error *err)
{
    return reads_problem(in_folder(problems[which].name), false, err);
}

static st_Status writes_answer(st_Error *err)
{
    const double r[] = {7, 1, 1};
    unlink(in_folder("answer.hdf5"));
    return st_problem_file_write_solution(in_folder(problems[which].name), in_folder("answer.hdf5"), 3, r, r, 3, r,
                                          err);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

typedef st_Status Operation(st_Error *err);

static int files_in_folder(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

/* `output`: the file it writes, which is complete if all went well; else there is none, or one that opens. */
static void fail_everywhere(const char *name, Operation *operation, const char *output, bool is_recording)
{
    st_Error err = {0};
    const char *full = getenv("ST_TEST_FULL");
    const bool all = full != NULL && strcmp(full, "1") == 0;
    check_Random random = {5};
    called = fail_at = 0;
    check_ok(operation(&err), err);
    check_ok(operation(&err), err);
    const long long open_before = opened, n = called / 2;
    const int files = files_in_folder();
    assert_true(n > 5);
    long long reported = 0, tried = 0;
    for (long long at = 1; at <= n; at += all ? 1 : 1 + (long long)check_random(&random, 0, 2.0 * (double)n / 60)) {
        err = (st_Error){0};
        called = 0, fail_at = at, tried++;
        const st_Status status = operation(&err);
        fail_at = 0;
        reported += status != ST_OK;
        if (status != ST_OK && err.message[0] == '\0') fail_msg("%s: %s, call %lld: no message", name, failed_call, at);
        if (opened != open_before)
            fail_msg("%s: %s, call %lld of %lld: %lld things are left open (%s)", name, failed_call, at, n,
                     opened - open_before, err.message);
        if (files_in_folder() > files) fail_msg("%s: %s, call %lld: a file is left", name, failed_call, at);
        if (output == NULL || (status != ST_OK && access(output, F_OK) != 0)) continue;
        uint64_t sum = 0;
        st_Error again = {0};
        const st_Status opens = is_recording ? reads(output, &sum, &again)
                                             : reads_problem(output, strstr(output, "answer") != NULL, &again);
        if (opens != ST_OK)
            fail_msg("%s: %s, call %lld (%s): what is left does not open: %s", name, failed_call, at, err.message,
                     again.message);
        if (status == ST_OK && is_recording && sum != expected)
            fail_msg("%s: %s, call %lld: not reported, and the recording is another", name, failed_call, at);
    }
    if (all) printf("%s: %lld calls, %lld failed, %lld of them reported\n", name, n, tried, reported);
    assert_true(reported > tried / 4); /* calls that close objects after reading may fail */
}

static void recordings_are_written(void **state)
{
    (void)state;
    fail_everywhere("records", records, in_folder("run.h5"), true);
}

static void recordings_are_read(void **state)
{
    (void)state;
    fail_everywhere("reads_recording", reads_recording, NULL, false);
}

static void problems_are_written(void **state)
{
    (void)state;
    for (which = 0; which < N_PROBLEMS; which++)
        fail_everywhere("writes_problem", writes_problem, in_folder("problem.hdf5"), false);
}

static void problems_are_read(void **state)
{
    (void)state;
    for (which = 0; which < N_PROBLEMS; which++)
        fail_everywhere("reads_problem", reads_kept_problem, NULL, false);
}

static void answers_are_written(void **state)
{
    (void)state;
    for (which = 0; which < N_PROBLEMS; which++)
        fail_everywhere("writes_answer", writes_answer, in_folder("answer.hdf5"), false);
}

static int begin(void **state)
{
    (void)state;
    st_Error err = {0};
    if (mkdtemp(folder) == NULL ||
        st_scene_parse(scene_text, sizeof scene_text - 1, "text", NULL, 0, &scene, &choices, &err) != ST_OK ||
        st_system_create(scene, &choices, &system_of, &err) != ST_OK || records(&err) != ST_OK ||
        reads(in_folder("run.h5"), &expected, &err) != ST_OK) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    for (which = 0; which < N_PROBLEMS; which++)
        if (writes_problem(&err) != ST_OK || rename(in_folder("problem.hdf5"), in_folder(problems[which].name)) != 0) {
            fprintf(stderr, "%s\n", err.message);
            return -1;
        }
    return rename(in_folder("run.h5"), in_folder("kept.h5"));
}

static int end(void **state)
{
    (void)state;
    char command[128];
    st_system_destroy(system_of);
    st_scene_destroy(scene);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_are_written), cmocka_unit_test(recordings_are_read),
        cmocka_unit_test(problems_are_written),   cmocka_unit_test(problems_are_read),
        cmocka_unit_test(answers_are_written),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
