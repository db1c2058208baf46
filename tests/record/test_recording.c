/* Recordings: data is read bit for bit as written; foreign, truncated or too new files are refused with a message; a
 * full disk loses nothing that was flushed. */
#include "check.h"

#include <hdf5.h>
#include <jansson.h>
#include <signal.h>
#include <stiction/io.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 128
#define N_STEPS   120

typedef struct Fixture {
    char folder[64];
    st_Scene *scene;
    st_SystemDef def;
    st_System *system;
    char *text;
} Fixture;

/* Two hinged bars that fall on a table: joints, a spring, contacts, a collision. */
static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    st_Error err = {0};
    const char *path = "examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json";
    if (f == NULL) return -1;
    *state = f;
    strcpy(f->folder, "/tmp/stiction-rec-XXXXXX");
    if (mkdtemp(f->folder) == NULL) return -1;
    f->text = calloc(1, 65536);
    FILE *file = fopen(path, "r");
    if (file == NULL || f->text == NULL || fread(f->text, 1, 65535, file) == 0) return -1;
    fclose(file);
    check_ok(st_scene_read(path, NULL, 0, &f->scene, &f->def, &err), err);
    check_ok(st_system_create(f->scene, &f->def, &f->system, &err), err);
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    char command[96];
    st_system_destroy(f->system);
    st_scene_destroy(f->scene);
    snprintf(command, sizeof command, "rm -r %s", f->folder);
    int status = system(command);
    free(f->text);
    free(f);
    return status;
}

static const char *in_folder(const Fixture *f, const char *name, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/%s", f->folder, name);
    return out;
}

static st_RecorderDef recorder_def(const Fixture *f, double rate)
{
    st_RecorderDef def = st_recorder_def();
    static const char *const sets[] = {"simulation/end=9", "bodies/bar1/mass=1"};
    def.name = "bars";
    def.description = "two bars; \"quoted\" \xc3\xa4";
    def.text = f->text;
    def.length = strlen(f->text);
    def.label = "bars.json";
    def.sets = sets;
    def.n_sets = 2;
    def.rate = rate;
    def.checkpoint = 0.25;
    return def;
}

/* The true values of a run, stored beside the recording. */
typedef struct Truth {
    st_StepInfo info[N_STEPS + 1];
    st_Pose pose[N_STEPS + 1][2];
    st_Vec3 v[N_STEPS + 1][2], w[N_STEPS + 1][2];
    int contacts[N_STEPS + 1];             /* that touch or push */
    st_ContactReport contact[N_STEPS + 1]; /* the first */
    st_JointReport joint[N_STEPS + 1];
    uint64_t hash[N_STEPS + 1];
} Truth;

static void look(const Fixture *f, const st_StepInfo *info, int k, Truth *truth)
{
    truth->info[k] = *info;
    for (int b = 0; b < 2; b++) {
        assert_int_equal(st_system_pose(f->system, (st_BodyId){b + 1}, &truth->pose[k][b]), ST_OK);
        assert_int_equal(st_system_velocity(f->system, (st_BodyId){b + 1}, &truth->v[k][b], &truth->w[k][b]), ST_OK);
    }
    for (int c = st_system_contact_count(f->system) - 1; c >= 0; c--) { /* backwards: the first is the one kept */
        st_ContactReport contact;
        assert_int_equal(st_system_contact(f->system, c, &contact), ST_OK);
        bool pushes = false;
        for (int i = 0; i < contact.dim; i++)
            pushes = pushes || contact.impulse[i] != 0;
        if (!pushes && contact.gap > 0) continue; /* within the margin, no more */
        truth->contacts[k]++;
        truth->contact[k] = contact;
    }
    st_system_joint(f->system, (st_JointId){1}, ST_FRAME_WORLD, &truth->joint[k]);
    truth->hash[k] = st_system_hash(f->system);
}

static void record(Fixture *f, const char *path, double rate, Truth *truth)
{
    st_Error err = {0};
    st_Recorder *recorder = NULL;
    st_RecorderDef def = recorder_def(f, rate);
    st_StepInfo info = st_step_info();
    check_ok(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
    check_ok(st_system_energy(f->system, &info.kinetic, &info.potential, &err), err);
    for (int k = 0; k <= N_STEPS; k++) {
        if (k > 0) {
            info = st_step_info();
            check_ok(st_system_step(f->system, f->def.h, &info, &err), err);
        }
        if (truth != NULL) look(f, &info, k, truth);
        check_ok(st_recorder_add(recorder, f->system, &info, &err), err);
    }
    assert_true(st_recorder_size(recorder) > 0);
    check_ok(st_recorder_close(recorder, f->system, "finished", "", &err), err);
}

static void every_number_comes_back(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    char path[PATH_SIZE];
    Truth *truth = calloc(1, sizeof *truth);
    st_Recording *r = NULL;
    int64_t contacts = 0;
    record(f, in_folder(f, "run.h5", path), 0, truth);
    check_ok(st_recording_open(path, &r, &err), err);
    const st_RecordingInfo *info = st_recording_info(r);
    assert_string_equal(info->name, "bars");
    assert_string_equal(info->description, "two bars; \"quoted\" \xc3\xa4");
    assert_string_equal(info->text, f->text);
    assert_string_equal(info->version, st_version());
    assert_string_equal(info->outcome, "finished");
    assert_string_equal(info->sets[1], "bodies/bar1/mass=1");
    assert_int_equal(info->n_sets, 2);
    assert_int_equal(info->n_bodies, 2);
    assert_int_equal(info->n_joints, 1);
    assert_int_equal(info->n_frames, N_STEPS + 1);
    assert_int_equal(info->n_steps, N_STEPS + 1);
    assert_true(info->closed);
    for (int k = 0; k <= N_STEPS; k++) {
        st_RecordedStep step;
        st_RecordedFrame frame;
        st_Vec3 p[2], v[2], w[2];
        st_Quat q[2];
        st_RecordedJoint joint;
        check_ok(st_recording_steps(r, k, 1, &step, &err), err);
        check_ok(st_recording_frames(r, k, 1, &frame, &err), err);
        check_ok(st_recording_bodies(r, k, p, q, v, w, &err), err);
        check_ok(st_recording_joints(r, k, &joint, &err), err);
        /* bit for bit: HDF5 stores doubles unchanged */
        check_close(step.time, truth->info[k].time, 0);
        check_close(step.kinetic, truth->info[k].kinetic, 0);
        check_close(step.potential, truth->info[k].potential, 0);
        check_close(step.residual, truth->info[k].solve.residual.natural, 0);
        assert_int_equal(step.iterations, truth->info[k].solve.iterations);
        check_close(frame.time, truth->info[k].time, 0);
        assert_int_equal(frame.step, k);
        assert_int_equal(frame.n_contacts, truth->contacts[k]);
        assert_int_equal(frame.first_contact, contacts);
        contacts += frame.n_contacts;
        for (int b = 0; b < 2; b++) {
            assert_memory_equal(&p[b], &truth->pose[k][b].p, sizeof p[b]);
            assert_memory_equal(&q[b], &truth->pose[k][b].q, sizeof q[b]);
            assert_memory_equal(&v[b], &truth->v[k][b], sizeof v[b]);
            assert_memory_equal(&w[b], &truth->w[k][b], sizeof w[b]);
        }
        assert_memory_equal(joint.force, &truth->joint[k].force, sizeof joint.force);
        if (frame.n_contacts == 0) continue;
        st_RecordedContact c;
        check_ok(st_recording_contacts(r, frame.first_contact, 1, &c, &err), err);
        assert_true(c.id == truth->contact[k].id);
        /* contacts have 24 bits: one rounding; of the normal impulse three products of two rounded numbers */
        const double bit = ldexp(1, -24), *n = c.normal,
                     j[3] = {c.impulse[0] + c.impact[0], c.impulse[1] + c.impact[1], c.impulse[2] + c.impact[2]},
                     size = sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
        check_close(c.gap, truth->contact[k].gap, bit * fabs(truth->contact[k].gap));
        check_close(j[0] * n[0] + j[1] * n[1] + j[2] * n[2], truth->contact[k].impulse[0], 6 * bit * size);
    }
    assert_int_equal(info->n_contacts, contacts);
    assert_true(info->n_events > 0); /* a bar has hit the table by then: 0.68 s */
    st_RecordedEvent event;
    check_ok(st_recording_events(r, 0, 1, &event, &err), err);
    assert_string_equal(event.kind, "collision");
    check_close(event.time, 0.68, 0.01); /* the reference of Anitescu & Potra 2002, within a step */
    assert_int_equal(st_recording_steps(r, N_STEPS, 2, NULL, &err), ST_ERR_ARGUMENT);
    st_recording_close(r);
    free(truth);
}

static void frames_come_at_the_rate(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    char path[PATH_SIZE];
    st_Recording *r = NULL;
    record(f, in_folder(f, "run.h5", path), 20, NULL);
    check_ok(st_recording_open(path, &r, &err), err);
    /* 20 per second over the time of the run, plus the first and the last */
    double last = st_system_time(f->system);
    int64_t n = st_recording_info(r)->n_frames;
    assert_true(n >= (int64_t)(20 * last) && n <= (int64_t)(20 * last) + 2);
    check_close(st_recording_info(r)->last, last, 0);
    assert_int_equal(st_recording_info(r)->n_steps, N_STEPS + 1);
    st_recording_close(r);
}

static void checkpoints_go_on(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    char path[PATH_SIZE];
    Truth *truth = calloc(1, sizeof *truth);
    st_Recording *r = NULL;
    record(f, in_folder(f, "run.h5", path), 0, truth);
    check_ok(st_recording_open(path, &r, &err), err);
    int64_t n = st_recording_info(r)->n_checkpoints;
    assert_true(n >= 5);
    for (int64_t k = 0; k < n; k++) {
        st_RecordedCheckpoint c;
        st_Scene *scene;
        st_SystemDef def;
        st_System *system;
        check_ok(st_recording_checkpoints(r, k, 1, &c, &err), err);
        assert_true(c.hash == truth->hash[c.step]);
        check_ok(st_recording_scene(r, NULL, 0, &scene, &def, &err), err);
        check_close(def.end, 9, 0); /* the overrides were applied */
        check_ok(st_system_create(scene, &def, &system, &err), err);
        check_ok(st_recording_restore(r, &c, system, &err), err);
        for (int64_t s = c.step; s < N_STEPS; s++)
            check_ok(st_system_step(system, f->def.h, NULL, &err), err);
        assert_true(st_system_hash(system) == truth->hash[N_STEPS]);
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
    st_recording_close(r);
    free(truth);
}

/* ---- files that are no recordings --------------------------------------------------------------- */

static void check_refused(const char *path, const char *words)
{
    st_Error err = {0};
    st_Recording *r = NULL;
    assert_int_not_equal(st_recording_open(path, &r, &err), ST_OK);
    assert_null(r);
    if (strstr(err.message, path) == NULL || strstr(err.message, words) == NULL)
        fail_msg("\"%s\" and \"%s\" must be in: %s", path, words, err.message);
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void others_are_refused(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE];
    check_refused(in_folder(f, "none.h5", path), "No such file");
    check_refused(f->folder, "folder");
    in_folder(f, "text.h5", path);
    write_bytes(path, "{}", 2);
    check_refused(path, "not an HDF5 file");
    write_bytes(path, "", 0);
    check_refused(path, "not an HDF5 file");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    H5Fclose(file);
    check_refused(path, "not a recording of stiction");
}

/* A recording does not take the place of a device or a pipe, and goes where a link leads. */
static void pipes_and_links_stay(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE], link[PATH_SIZE];
    st_Error err = {0};
    st_Recorder *recorder = NULL;
    st_RecorderDef def = recorder_def(f, 60);
    struct stat info;
    in_folder(f, "pipe.h5", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), ST_ERR_FILE);
    assert_null(recorder);
    assert_non_null(strstr(err.message, "not a plain file"));
    in_folder(f, "far.h5", path);
    in_folder(f, "link.h5", link);
    write_bytes(path, "", 0);
    assert_int_equal(symlink("far.h5", link), 0);
    record(f, link, 60, NULL);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    st_Recording *r = NULL;
    check_ok(st_recording_open(path, &r, &err), err);
    st_recording_close(r);
}

static void newer_ones_are_refused(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE];
    int32_t version = 7;
    record(f, in_folder(f, "run.h5", path), 20, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), a = H5Aopen(file, "format_version", H5P_DEFAULT);
    assert_true(a >= 0 && H5Awrite(a, H5T_NATIVE_INT32, &version) >= 0);
    H5Aclose(a);
    H5Fclose(file);
    check_refused(path, "newer stiction");
}

/* Cut at any length, it is refused with its name; never read past its end (the sanitizers look). */
static void cut_ones_are_refused(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE], cut[PATH_SIZE];
    record(f, in_folder(f, "run.h5", path), 20, NULL);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 22);
    size_t n = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    in_folder(f, "cut.h5", cut);
    for (int k = 0; k < 24; k++) {
        write_bytes(cut, bytes, n * (size_t)k / 24);
        check_refused(cut, k == 0 ? "not an HDF5 file" : "");
    }
    /* "Not closed yet", with a checksum that never fits: read a few times, not forever (the test would time out). */
    bytes[11] = 5, bytes[44] ^= 1;
    write_bytes(cut, bytes, n);
    check_refused(cut, "checksum");
    free(bytes);
}

/* A limit on the size of files acts like a full disk: the run gets an error, and the file has the flushed data. */
static void full_disks_keep_what_was_flushed(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    char path[PATH_SIZE];
    st_Recorder *recorder = NULL;
    st_Recording *r = NULL;
    st_RecorderDef def = recorder_def(f, 0);
    st_StepInfo info = st_step_info();
    struct rlimit before, small;
    def.flush = 0; /* after every step */
    in_folder(f, "run.h5", path);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 200000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    check_ok(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
    st_Status status = ST_OK;
    int added = 0;
    for (; added < 5000 && status == ST_OK; added++) {
        info = st_step_info();
        check_ok(st_system_step(f->system, f->def.h, &info, &err), err);
        status = st_recorder_add(recorder, f->system, &info, &err);
    }
    char said[512];
    snprintf(said, sizeof said, "%s", err.message);
    err.message[0] = '\0';
    const st_Status closed = st_recorder_close(recorder, f->system, "failed", said, &err);
    const bool told = strstr(err.message, path) != NULL;
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, ST_ERR_FILE);
    assert_true(closed == ST_ERR_FILE && told); /* once more, in words */
    assert_true(added > 10);
    if (strstr(said, path) == NULL || strstr(said, "large") == NULL)
        fail_msg("the file and EFBIG must be in: %s", said);
    check_ok(st_recording_open(path, &r, &err), err);
    int64_t n = st_recording_info(r)->n_frames;
    assert_true(n == added - 1); /* all but the one that failed */
    st_Vec3 p[2];
    for (int64_t k = 0; k < n; k++)
        check_ok(st_recording_bodies(r, k, p, NULL, NULL, NULL, &err), err);
    st_recording_close(r);
}

/* ---- files made from recordings ----------------------------------------------------------------- */

static void the_pack_is_whole(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    char path[PATH_SIZE];
    st_Recording *r = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    record(f, in_folder(f, "run.h5", path), 0, NULL);
    check_ok(st_recording_open(path, &r, &err), err);
    static const int64_t limits[] = {0, 50, INT64_MAX};
    for (int k = 0; k < 3; k++) {
        const bool thin = limits[k] == 50;
        bool forces = false;
        check_ok(st_recording_pack(r, limits[k], &bytes, &size, &err), err);
        assert_memory_equal(bytes, "STRUN001", 8);
        size_t head = bytes[8] | (size_t)bytes[9] << 8 | (size_t)bytes[10] << 16;
        json_t *header = json_loadb((const char *)bytes + 12, head, 0, NULL),
               *blocks = json_object_get(header, "blocks");
        json_int_t end = 0, kept = json_integer_value(json_object_get(json_object_get(header, "kept"), "frames"));
        assert_non_null(header);
        assert_true(thin ? kept <= 25 : kept == N_STEPS + 1); /* 50 poses of two bodies */
        for (size_t b = 0; b < json_array_size(blocks); b++) {
            json_t *block = json_array_get(blocks, b);
            forces = forces || strncmp(json_string_value(json_object_get(block, "name")), "joint", 5) == 0;
            assert_int_equal(json_integer_value(json_object_get(block, "offset")), end);
            end += json_integer_value(json_object_get(block, "bytes"));
            if (strcmp(json_string_value(json_object_get(block, "name")), "poses") == 0)
                assert_int_equal(json_integer_value(json_object_get(block, "count")), kept * 14);
        }
        assert_true(forces);
        assert_int_equal(12 + head + (size_t)end, size);
        json_decref(header);
        free(bytes);
    }
    assert_int_equal(st_recording_write_report(r, 0, "<html>", 6, path, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_recording_write_csv(r, "/no/such/folder/x.csv", &err), ST_ERR_FILE);
    assert_int_equal(st_recording_write_vtk(r, "/no/such/folder/x", &err), ST_ERR_FILE);
    static const char *const unknown[] = {"bar3.x"};
    assert_int_equal(st_recording_write_plot(r, NULL, unknown, 1, path, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "bar3"));
    static const char *const energy[] = {"kinetic"};
    assert_int_equal(st_recording_write_plot(r, "bar3.x", energy, 1, path, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "bar3"));
    assert_int_equal(st_recording_write_plot(r, "bar1.x", energy, 1, path, &err), ST_ERR_ARGUMENT); /* frames, steps */
    assert_non_null(strstr(err.message, "kinetic"));
    check_ok(st_recording_write_plot(r, "potential", energy, 1, path, &err), err);
    char svg[1 << 14] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(svg, 1, sizeof svg - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(svg, "potential [J]"));
    st_recording_close(r);
}

/* A recording has one scene: steps after a change are refused, those before are complete. */
static void a_changed_scene_is_refused(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE];
    st_Error err = {0};
    st_Recorder *recorder;
    st_Recording *r;
    st_StepInfo info = st_step_info();
    const st_RecorderDef def = recorder_def(f, 0);
    const st_JointId hinge = {1};
    in_folder(f, "changed.h5", path);
    check_ok(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
    for (int k = 0; k < 10; k++) {
        check_ok(st_system_step(f->system, f->def.h, &info, &err), err);
        check_ok(st_recorder_add(recorder, f->system, &info, &err), err);
    }
    check_ok(st_scene_remove_joints(f->scene, &hinge, 1, &err), err);
    check_ok(st_system_change(f->system, f->scene, &err), err);
    check_ok(st_system_step(f->system, f->def.h, &info, &err), err);
    assert_int_equal(st_recorder_add(recorder, f->system, &info, &err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "changed.h5: the scene was changed during the run"));
    err.status = ST_OK;
    check_ok(st_recorder_close(recorder, f->system, "finished", "", &err), err);
    check_ok(st_recording_open(path, &r, &err), err);
    assert_int_equal(st_recording_info(r)->n_frames, 10);
    st_recording_close(r);
}

/* A run that never began replaces nothing. */
static void what_was_there_stays(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    st_Recorder *recorder = NULL;
    const st_RecorderDef def = recorder_def(f, 0);
    char path[PATH_SIZE], text[8] = "";
    write_bytes(in_folder(f, "file.h5", path), "old", 3); /* no recording: it is not replaced */
    assert_int_equal(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), ST_ERR_FILE);
    assert_non_null(strstr(err.message, "not a recording"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 3);
    fclose(file);
    assert_string_equal(text, "old");
    in_folder(f, "new.h5", path); /* a run that never began leaves nothing */
    check_ok(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
    check_ok(st_recorder_close(recorder, f->system, "failed", "", &err), err);
    assert_int_equal(access(path, F_OK), -1);
}

/* A message too long is cut between two characters, and one that is no text is made one: the page has it. */
static void messages_are_text(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE], long_one[700] = "x";
    const char *const messages[] = {long_one, "half a character: \xc3", "Latin 1: \xe9t\xe9"};
    const char *const kept[] = {NULL, "half a character: ?", "Latin 1: ?t?"};
    for (int k = 0; k < 300; k++) /* e with an accent, two bytes: at byte 511, the last there is room for, it is half */
        memcpy(long_one + 1 + 2 * (ptrdiff_t)k, "\xc3\xa9", 3);
    in_folder(f, "message.h5", path);
    for (int k = 0; k < 3; k++) {
        st_Error err = {0};
        st_Recorder *recorder = NULL;
        st_Recording *r = NULL;
        st_StepInfo info = st_step_info();
        const st_RecorderDef def = recorder_def(f, 0);
        unsigned char *pack = NULL;
        size_t size = 0;
        check_ok(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
        check_ok(st_recorder_add(recorder, f->system, &info, &err), err);
        check_ok(st_recorder_close(recorder, f->system, "failed", messages[k], &err), err);
        check_ok(st_recording_open(path, &r, &err), err);
        const char *back = st_recording_info(r)->message;
        json_t *text = json_string(back);
        assert_non_null(text); /* jansson takes UTF-8 and nothing else */
        json_decref(text);
        if (kept[k] != NULL) assert_string_equal(back, kept[k]);
        assert_true(strlen(back) == (kept[k] != NULL ? strlen(kept[k]) : 511));
        check_ok(st_recording_pack(r, 0, &pack, &size, &err), err);
        free(pack);
        st_recording_close(r);
    }
}

/* The recording process may read its own file. */
static void a_running_one_is_read(void **state)
{
    Fixture *f = *state;
    char path[PATH_SIZE];
    st_Error err = {0};
    st_Recorder *recorder = NULL;
    st_Recording *r = NULL;
    st_StepInfo info = st_step_info();
    st_RecorderDef def = recorder_def(f, 0);
    def.flush = 0; /* after every step */
    in_folder(f, "running.h5", path);
    check_ok(st_recorder_open(path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
    for (int k = 0; k < 20; k++) {
        if (k > 0) check_ok(st_system_step(f->system, f->def.h, &info, &err), err);
        check_ok(st_recorder_add(recorder, f->system, &info, &err), err);
        if (k % 5 != 0) continue;
        st_Vec3 p[2];
        check_ok(st_recording_open(path, &r, &err), err);
        assert_false(st_recording_info(r)->closed);
        assert_int_equal(st_recording_info(r)->n_frames, k + 1);
        check_ok(st_recording_bodies(r, k, p, NULL, NULL, NULL, &err), err);
        st_Pose pose;
        assert_int_equal(st_system_pose(f->system, (st_BodyId){1}, &pose), ST_OK);
        check_close(p[0].x, pose.p.x, 0);
        st_recording_close(r);
    }
    check_ok(st_recorder_close(recorder, f->system, "finished", "", &err), err);
    check_ok(st_recording_open(path, &r, &err), err);
    assert_true(st_recording_info(r)->closed);
    assert_int_equal(st_recording_info(r)->n_frames, 20);
    st_recording_close(r);
}

static void arguments_are_checked(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    st_Recorder *recorder = NULL;
    st_RecorderDef def = recorder_def(f, -1);
    assert_int_equal(st_recorder_open("x.h5", &def, f->scene, &f->def, f->system, &recorder, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "rate is -1"));
    def = recorder_def(f, 0);
    assert_int_equal(st_recorder_open("/no/such/folder/x.h5", &def, f->scene, &f->def, f->system, &recorder, &err),
                     ST_ERR_FILE);
    assert_non_null(strstr(err.message, "/no/such/folder/x.h5"));
    assert_null(recorder);
    assert_int_equal(st_recorder_close(NULL, NULL, NULL, NULL, &err), ST_OK);
    st_recording_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_number_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(frames_come_at_the_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(checkpoints_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(pipes_and_links_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(newer_ones_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_ones_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(full_disks_keep_what_was_flushed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pack_is_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_scene_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_there_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_are_text, setup, teardown),
        cmocka_unit_test_setup_teardown(a_running_one_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_are_checked, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
