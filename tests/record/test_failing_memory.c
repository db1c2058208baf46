/* Every entry point with the n-th allocation refused, for every n, once and from then on: the call fails with a status,
 * nothing is left behind, and the next call works.
 *
 * malloc and its relatives are wrapped by the linker in everything of ours (tests/CMakeLists.txt). Not in jansson,
 * whose lexer ends the program where memory is refused. `make test` takes a share of the n, seeded; ST_TEST_FULL=1
 * takes all (ST_TEST_FULL=NAME those of one entry point).
 */
#include "check.h"

#include <stiction/io.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory that is refused ----------------------------------------------------------------------- */

static long long asked, refuse_at, held; /* asked since the last reset; 0: refuse nothing */
static bool from_then_on;

static bool is_refused(void)
{
    asked++;
    return refuse_at > 0 && (from_then_on ? asked >= refuse_at : asked == refuse_at);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_mmap(void *at, size_t size, int how, int flags, int fd, off_t offset);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t most);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_mmap(void *at, size_t size, int how, int flags, int fd, off_t offset);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);
void __wrap_free(void *memory);

static void *keep(void *memory)
{
    held += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : keep(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : keep(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (is_refused()) return NULL;
    void *moved = __real_realloc(memory, size);
    held += memory == NULL && moved != NULL;
    return moved;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return is_refused() ? NULL : keep(__real_aligned_alloc(align, size));
}

void *__wrap_mmap(void *at, size_t size, int how, int flags, int fd, off_t offset)
{
    return is_refused() ? MAP_FAILED : __real_mmap(at, size, how, flags, fd, offset);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : keep(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t most)
{
    return is_refused() ? NULL : keep(__real_strndup(text, most));
}

void __wrap_free(void *memory)
{
    held -= memory != NULL;
    __real_free(memory);
}

/* ---- what is done --------------------------------------------------------------------------------- */

static char folder[64] = "/tmp/stiction-memory-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[8][128];
    static int next;
    char *out = path[next++ % 8];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static const char scene_text[] =
    "{\"ground\": [{\"type\": \"plane\", \"friction\": 0.5}],"
    " \"materials\": [{\"name\": \"ice\", \"friction\": 0.1}],"
    " \"bodies\": ["
    "  {\"name\": \"box\", \"position\": [0, 0, 0.1], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]},"
    "  {\"name\": \"top\", \"position\": [0.02, 0, 0.3], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]},"
    "  {\"name\": \"ball\", \"position\": [1, 0, 0.1], \"velocity\": [-1, 0, 0], \"shapes\": [{\"type\": \"sphere\", "
    "\"radius\": 0.1}]},"
    "  {\"name\": \"hull\", \"position\": [2, 0, 0.2], \"recentre\": true, \"shapes\": [{\"type\": \"hull\", "
    "\"points\": [[0,0,0], "
    "[0.1,0,0], "
    "[0,0.1,0], [0,0,0.1]]}]},"
    "  {\"name\": \"arm\", \"position\": [3.5, 0, 1], \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.05, "
    "\"length\": "
    "0.5}]}],"
    " \"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"b\": \"arm\", \"point\": [3, 0, 1], \"axis\": [0, "
    "1, 0]}],"
    " \"simulation\": {\"h\": 0.005, \"end\": 1}}";

typedef struct Made {
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
} Made;

static void unmake(Made *made)
{
    st_system_destroy(made->system);
    st_scene_destroy(made->scene);
}

static st_Status make(Made *made, const char *preset, st_Error *err)
{
    *made = (Made){0};
    st_Status status =
        st_scene_parse(scene_text, sizeof scene_text - 1, "text", NULL, 0, &made->scene, &made->def, err);
    if (status == ST_OK && preset != NULL) status = st_preset_apply(&made->def, preset, err);
    if (status == ST_OK) status = st_system_create(made->scene, &made->def, &made->system, err);
    if (status != ST_OK) unmake(made);
    return status;
}

/* One after the other until one fails. */
#define DO(call)                                                                                                       \
    do {                                                                                                               \
        if (status == ST_OK) status = (call);                                                                          \
    } while (0)

static st_Status step_preset(const char *preset, st_Error *err)
{
    Made made;
    st_System *clone = NULL;
    st_Status status = make(&made, preset, err);
    if (status != ST_OK) return status;
    for (int k = 0; k < 3; k++)
        DO(st_system_step(made.system, 0.005, NULL, err));
    DO(st_system_clone(made.system, &clone, err));
    DO(st_system_step(clone, 0.005, NULL, err));
    if (status == ST_OK) {
        st_Scene *changed = NULL;
        st_BodyDef def = st_body_def();
        st_BodyId id;
        def.pose.p = (st_Vec3){-2, 0, 0.3};
        st_ShapeDef shape = st_sphere_def(0.1);
        status = st_scene_copy(made.scene, &changed, err);
        DO(st_scene_add_body(changed, &def, &id, err));
        DO(st_scene_add_shape(changed, id, &shape, NULL, err));
        DO(st_system_change(made.system, changed, err));
        DO(st_system_step(made.system, 0.005, NULL, err));
        st_scene_destroy(changed);
    }
    st_system_destroy(clone);
    unmake(&made);
    return status;
}

static st_Status steps_default(st_Error *err)
{
    return step_preset("default", err);
}
static st_Status steps_1997(st_Error *err)
{
    return step_preset("anitescu-potra-1997", err);
}
static st_Status steps_2002(st_Error *err)
{
    return step_preset("anitescu-potra-2002", err);
}
static st_Status steps_2006(st_Error *err)
{
    return step_preset("potra-2006", err);
}
static st_Status steps_2017(st_Error *err)
{
    return step_preset("negrut-2017", err);
}
static st_Status steps_2011(st_Error *err)
{
    return step_preset("preclik-2011", err);
}
static st_Status steps_accurate(st_Error *err)
{
    return step_preset("accurate", err);
}

static st_Status read_file_scene(const char *path, st_Error *err)
{
    Made made = {0};
    st_Status status = st_scene_read(path, NULL, 0, &made.scene, &made.def, err);
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    DO(st_system_step(made.system, 0.001, NULL, err));
    unmake(&made);
    return status;
}

static st_Status reads_urdf(st_Error *err)
{
    return read_file_scene(in_folder("robot.urdf"), err);
}
static st_Status reads_mjcf(st_Error *err)
{
    return read_file_scene(in_folder("robot.xml"), err);
}
static st_Status reads_robots_and_meshes(st_Error *err)
{
    return read_file_scene(in_folder("robots.json"), err);
}
static st_Status converts(st_Error *err)
{
    char *text = NULL;
    const st_Status status = st_scene_convert(in_folder("robot.urdf"), NULL, 0, NULL, &text, NULL, err);
    free(text);
    return status;
}
static st_Status lists_errors(st_Error *err)
{
    static const char wrong[] = "{\"bodies\": [{\"mass\": -1, \"colour\": 3}], \"simulation\": {\"h\": \"x\"}}";
    st_Error errors[4];
    err->message[0] = 'x';
    return st_scene_errors(wrong, sizeof wrong - 1, "text", NULL, 0, errors, 4) >= 0 ? ST_OK : ST_ERR_MEMORY;
}
static st_Status makes_schema(st_Error *err)
{
    char *text = st_scene_schema(), *reference = text != NULL ? st_scene_reference() : NULL;
    const bool ok = text != NULL && reference != NULL;
    free(text);
    free(reference);
    if (!ok) snprintf(err->message, sizeof err->message, "out of memory");
    return ok ? ST_OK : ST_ERR_MEMORY;
}

static st_Status records(st_Error *err)
{
    Made made;
    st_Recorder *recorder = NULL;
    st_RecorderDef def = st_recorder_def();
    st_Status status = make(&made, NULL, err);
    if (status != ST_OK) return status;
    def.name = "text", def.text = scene_text, def.length = sizeof scene_text - 1, def.label = "text";
    unlink(in_folder("run.h5"));
    DO(st_recorder_open(in_folder("run.h5"), &def, made.scene, &made.def, made.system, &recorder, err));
    for (int k = 0; k < 4; k++) {
        st_StepInfo info = st_step_info();
        DO(st_system_step(made.system, 0.005, &info, err));
        DO(st_recorder_add(recorder, made.system, &info, err));
    }
    const st_Status closed = st_recorder_close(recorder, made.system, "finished", "", status == ST_OK ? err : NULL);
    unmake(&made);
    return status != ST_OK ? status : closed;
}

static st_Status writes_table_and_picture(st_Error *err)
{
    Made made;
    st_Csv *csv = NULL;
    st_Picture *picture = NULL;
    st_Status status = make(&made, NULL, err);
    if (status != ST_OK) return status;
    DO(st_csv_open(in_folder("run.csv"), made.system, made.scene, &csv, err));
    DO(st_picture_create(made.scene, &made.def, &picture, err));
    for (int k = 0; k < 3; k++) {
        st_StepInfo info = st_step_info();
        DO(st_system_step(made.system, 0.005, &info, err));
        DO(st_csv_write(csv, made.system, &info, err));
        DO(st_picture_add(picture, made.system, &info, err));
    }
    DO(st_picture_write(picture, in_folder("run.svg"), err));
    const st_TableColumn columns[] = {{"a", (double[]){1, 2}, NULL}, {"b", NULL, (const char *[]){"x", "y"}}};
    DO(st_table_write(in_folder("table.csv"), columns, 2, 2, err));
    const st_Status closed = st_csv_close(csv, status == ST_OK ? err : NULL);
    st_picture_destroy(picture);
    unmake(&made);
    return status != ST_OK ? status : closed;
}

/* Worlds side by side, with a parameter each, resets and sensors. */
static st_Status steps_batch(st_Error *err)
{
    Made made;
    st_Batch *batch = NULL;
    st_BatchDef def = st_batch_def();
    static const char *const parameters[] = {"bodies/*/mass", "bodies/box/shapes/*/friction"};
    int keyframe;
    double q[128], v[128];
    st_Status status = make(&made, NULL, err);
    if (status != ST_OK) return status;
    def.worlds = 2, def.parameters = parameters, def.n_parameters = 2;
    st_system_state(made.system, q, v);
    DO(st_batch_create(made.scene, &made.def, &def, &batch, err));
    DO(st_batch_step(batch, 2, NULL, err));
    if (status == ST_OK && st_batch_failures(batch) > 0) {
        status = ST_ERR_MEMORY; /* of a world, with its own message */
        snprintf(err->message, sizeof err->message, "%s", st_batch_message(batch, st_batch_status(batch)[0] == 0));
    }
    DO(st_batch_add_keyframe(batch, 0.0, q, v, &keyframe, err));
    DO(st_batch_apply_parameters(batch, NULL, err));
    DO(st_batch_read_sensors(batch, NULL, err));
    DO(st_batch_reset(batch, NULL, NULL, err));
    st_batch_destroy(batch);
    unmake(&made);
    return status;
}

/* Trees of joints, rays and distances; one compiled scene for two systems. */
static st_Status asks_arms_and_rays(st_Error *err)
{
    Made made;
    st_Articulation *arm = NULL;
    st_CompiledScene *compiled = NULL;
    st_System *other = NULL;
    double x[64] = {0}, y[64], J[6 * 64];
    int count = 0;
    st_ShapeId found[4];
    st_RayHit hit[2];
    st_Closest closest;
    st_ReachInfo reached;
    st_Status status = make(&made, NULL, err);
    if (status != ST_OK) return status;
    const st_BodyId body = st_scene_find_body(made.scene, "arm");
    const st_Ray rays[2] = {{{0, 0, 2}, {0, 0, -1}, 5}, {{5, 0, 0.1}, {-1, 0, 0}, 9}};
    const st_ShapeDef probe = st_sphere_def(0.3);
    const st_Pose at = {{0, 0, 0.2}, {1, 0, 0, 0}};
    const st_Target target = {.body = body, .point = {0, 0, 0.2}, .position = {3.1, 0, 1.4}};
    const st_ReachDef reach = st_reach_def();
    DO(st_articulation_create(made.system, &arm, err));
    const int n_v = status == ST_OK ? st_articulation_n_v(arm) : 0;
    assert_true(n_v <= 64);
    DO(st_articulation_jacobian(arm, body, (st_Vec3){0, 0, 0.1}, J, NULL, n_v, err));
    DO(st_articulation_mass_solve(arm, x, y, n_v, err));
    DO(st_articulation_inverse_dynamics(arm, x, NULL, 0, y, n_v, err));
    DO(st_articulation_forward_dynamics(arm, x, NULL, 0, y, n_v, err));
    DO(st_articulation_reach(arm, &target, 1, &reach, &reached, err));
    DO(st_articulation_write(arm, err));
    DO(st_system_rays(made.system, rays, 2, ~0u, hit, err));
    DO(st_system_overlaps(made.system, &probe, at, ~0u, found, 4, &count, err));
    DO(st_system_closest(made.system, &probe, at, 10.0, ~0u, &closest, err));
    DO(st_scene_compile(made.scene, &compiled, err));
    DO(st_system_create_from(compiled, &made.def, &other, err));
    DO(st_system_step(other, 0.005, NULL, err));
    st_articulation_destroy(arm);
    st_system_destroy(other);
    st_compiled_release(compiled);
    unmake(&made);
    return status;
}

static st_Status run_text(const char *text, int steps, st_Error *err)
{
    Made made = {0};
    st_Status status = st_scene_parse(text, strlen(text), "text", NULL, 0, &made.scene, &made.def, err);
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    for (int k = 0; k < steps; k++)
        DO(st_system_step(made.system, made.def.h, NULL, err));
    unmake(&made);
    return status;
}

/* Fills, inlets, outlets and measures; and piles on flat arrays. */
#define SPHERE "{\"type\": \"sphere\", \"radius\": 0.05, \"friction\": 0.5}"
static st_Status steps_grains(st_Error *err)
{
    return run_text(
        "{\"ground\": [{\"type\": \"plane\"}], \"regions\": ["
        "{\"name\": \"low\", \"type\": \"box\", \"position\": [0, 0, 0.3], \"size\": [0.5, 0.5, 0.5]},"
        "{\"name\": \"high\", \"type\": \"box\", \"position\": [0, 0, 1], \"size\": [0.5, 0.5, 0.3]}],"
        "\"fills\": [{\"name\": \"f\", \"region\": \"low\", \"number\": 5, \"shapes\": [" SPHERE "]}],"
        "\"inlets\": [{\"name\": \"i\", \"region\": \"high\", \"number\": 4, \"rate\": 400, \"shapes\": [" SPHERE "]}],"
        "\"outlets\": [{\"name\": \"o\", \"region\": \"low\"}],"
        "\"measures\": [{\"name\": \"m\", \"type\": \"bulk\", \"region\": \"low\"}, {\"name\": \"n\", \"type\": "
        "\"flow\", "
        "\"region\": \"high\"}],"
        "\"simulation\": {\"h\": 0.005}}",
        4, err);
}
static st_Status steps_device(st_Error *err)
{
    return run_text("{\"ground\": [{\"type\": \"plane\"}], \"bodies\": ["
                    "{\"name\": \"a\", \"position\": [0, 0, 0.05], \"shapes\": [" SPHERE "]},"
                    "{\"name\": \"b\", \"position\": [0.06, 0, 0.12], \"shapes\": [" SPHERE "]}],"
                    "\"simulation\": {\"h\": 0.002, \"device\": \"flat\"}}",
                    3, err);
}
static st_Status steps_2004(st_Error *err)
{
    return run_text(
        "{\"ground\": [{\"type\": \"plane\", \"young\": 1e6}], \"bodies\": [{\"name\": \"b\", \"position\": "
        "[0, 0, 0.04], \"velocity\": [1, 0, 0], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.05, "
        "\"young\": 1e6, \"friction\": 0.5}]}], \"simulation\": {\"preset\": \"song-2004\", \"h\": 0.001}}",
        3, err);
}

/* Pictures, columns and scenes as text. */
static st_Status draws(st_Error *err)
{
    Made made;
    st_Columns *columns = NULL;
    char *mjcf = NULL, *remarks = NULL, *model = NULL, *choices = NULL;
    unsigned char *rgb = NULL;
    static double values[1024];
    static const double x[3] = {1, 2, 3}, y[3] = {1e-2, 2.5e-3, 6e-4};
    const st_PlotCurve curve = {"error", 3, x, y, false};
    const st_PlotPanel panel = {"y", 1, &curve};
    st_StepInfo info = st_step_info();
    st_Status status = make(&made, NULL, err);
    if (status != ST_OK) return status;
    DO(st_system_step(made.system, 0.005, &info, err));
    DO(st_columns_create(made.scene, &columns, err));
    if (status == ST_OK) assert_true(st_columns_count(columns) <= 1024);
    DO(st_columns_values(columns, made.system, &info, values, err));
    DO(st_plot_loglog(in_folder("plot.svg"), "t", "x", "y", &curve, 1, err));
    DO(st_plot_lines(in_folder("lines.svg"), "t", "x", &panel, 1, err));
    DO(st_profile_write(in_folder("profile.svg"), "t", 1, (const char *const[]){"a"}, 3, y, err));
    if (status == ST_OK && (rgb = __real_malloc(3 * 32 * 32)) != NULL)
        status = st_render(made.scene, made.system, NULL, 32, 32, rgb, err);
    DO(st_scene_write_mjcf(made.scene, &made.def, "scene", &mjcf, &remarks, err));
    if (status == ST_OK &&
        ((model = st_scene_model(made.scene, &made.def)) == NULL || (choices = st_choices_json(&made.def)) == NULL)) {
        status = ST_ERR_MEMORY;
        snprintf(err->message, sizeof err->message, "out of memory");
    }
    __real_free(rgb);
    free(mjcf);
    free(remarks);
    free(model);
    free(choices);
    st_columns_destroy(columns);
    unmake(&made);
    return status;
}

/* Exports of kept.h5. */
static st_Status exports(st_Error *err)
{
    st_Recording *recording = NULL;
    static const char page[] = "<html><script id=\"run\" type=\"text/plain\"></script></html>";
    st_Status status = st_recording_open(in_folder("kept.h5"), &recording, err);
    DO(st_recording_write_vtk(recording, in_folder("vtk"), err));
    DO(st_recording_write_plot(recording, NULL, (const char *const[]){"kinetic", "box.z"}, 2, in_folder("plot.svg"),
                               err));
    if (status == ST_OK) {
        char *names = st_recording_curve_names(recording);
        if (names == NULL) {
            status = ST_ERR_MEMORY;
            snprintf(err->message, sizeof err->message, "out of memory");
        }
        free(names);
    }
    DO(st_recording_write_report(recording, 0, page, sizeof page - 1, in_folder("report.html"), err));
    st_recording_close(recording);
    return status;
}

/* Of kept.h5, which is whole. */
static st_Status reads_recording(st_Error *err)
{
    st_Recording *recording = NULL;
    unsigned char *packed = NULL;
    size_t size = 0;
    Made made = {0};
    st_RecordedCheckpoint checkpoint;
    st_Status status = st_recording_open(in_folder("kept.h5"), &recording, err);
    DO(st_recording_pack(recording, 1000, &packed, &size, err));
    DO(st_recording_write_csv(recording, in_folder("export.csv"), err));
    DO(st_recording_scene(recording, NULL, 0, &made.scene, &made.def, err));
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    DO(st_recording_checkpoints(recording, 0, 1, &checkpoint, err));
    DO(st_recording_restore(recording, &checkpoint, made.system, err));
    free(packed);
    unmake(&made);
    st_recording_close(recording);
    return status;
}

static st_Status solves(st_Error *err)
{
    Made made;
    st_FrictionCopy *copy = NULL;
    st_Friction *friction = NULL;
    st_Solver *solver = NULL;
    st_ProblemFile *file = NULL;
    double r[512] = {0};
    st_Status status = make(&made, "default", err);
    if (status != ST_OK) return status;
    DO(st_system_step(made.system, 0.005, NULL, err));
    if (status == ST_OK) status = st_friction_from_step(st_system_problem(made.system, NULL), false, &copy, err);
    if (status == ST_OK) {
        const st_ProblemFile out = {.friction = *st_friction_copy_problem(copy)};
        status = st_problem_file_write(in_folder("problem.hdf5"), &out, err);
    }
    DO(st_problem_file_read(in_folder("problem.hdf5"), &file, err));
    if (status == ST_OK) status = st_friction_create(&file->friction, &friction, err);
    for (int k = 0; k < st_solver_count() && status == ST_OK; k++) {
        st_SolverDef def = st_solver_def();
        def.name = st_solver_name(k);
        if (!st_friction_accepts(friction, def.name)) continue;
        st_Solution solution = {.r = r};
        status = st_solver_create(&def, &solver, err);
        DO(st_friction_solve(friction, solver, &solution, NULL, err));
        st_solver_destroy(solver);
        solver = NULL;
    }
    st_friction_destroy(friction);
    st_problem_file_destroy(file);
    st_friction_copy_destroy(copy);
    unmake(&made);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

typedef st_Status Operation(st_Error *err);

static st_Status try(Operation *operation, long long at, bool on, st_Error *err)
{
    *err = (st_Error){0};
    asked = 0;
    refuse_at = at;
    from_then_on = on;
    const st_Status status = operation(err);
    refuse_at = 0;
    return status;
}

static void refuse_everywhere(const char *name, Operation *operation)
{
    st_Error err;
    const char *full = getenv("ST_TEST_FULL");
    const bool all = full != NULL && (strcmp(full, "1") == 0 || strcmp(full, name) == 0);
    check_Random random = {11};
    check_ok(try(operation, 0, false, &err), err);
    check_ok(try(operation, 0, false, &err), err); /* what is made once, is */
    const long long n = asked;
    long long before = held, tried = 0;
    check_ok(try(operation, 0, false, &err), err);
    const long long of_libc =
        before - held; /* blocks that libc made and we free: of streams in memory, of realpath() */
    assert_true(of_libc >= 0);
    for (long long at = 1; at <= n; at += all ? 1 : 1 + (long long)check_random(&random, 0, 2.0 * (double)n / 40)) {
        for (int on = 0; on < 2; on++, tried++) {
            before = held;
            const st_Status status = try(operation, at, on == 1, &err);
            if (status != ST_OK && err.message[0] == '\0') fail_msg("%s: allocation %lld: no message", name, at);
            if (held > before || (of_libc == 0 && held != before)) /* the sanitizer sees the rest */
                fail_msg("%s: allocation %lld of %lld refused%s: %lld blocks are left (%s)", name, at, n,
                         on ? " from then on" : "", held - before, err.message);
        }
    }
    check_ok(try(operation, 0, false, &err), err); /* and it works again */
    if (all) printf("%s: %lld allocations, %lld times refused\n", name, n, tried);
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    (void)state;
    st_Error err = {0};
    if (mkdtemp(folder) == NULL) return -1;
    write_text(
        "robot.urdf",
        "<robot name='r'><link name='base'/><link name='arm'><inertial><origin xyz='0 0 0.1'/><mass value='1'/>"
        "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><box "
        "size='0.1 0.1 0.2'/></geometry></collision></link><joint name='j' type='revolute'><parent link='base'/>"
        "<child link='arm'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>");
    write_text("robot.xml",
               "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='b' pos='0 0 1'><freejoint/>"
               "<geom type='sphere' size='0.1'/><body name='c' pos='0 0 0.3'><joint type='hinge' axis='0 1 0'/>"
               "<geom type='capsule' size='0.05 0.1'/></body></body></worldbody></mujoco>");
    write_text("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    write_text("robots.json",
               "{\"ground\": [{\"type\": \"plane\"}], \"robots\": [{\"name\": \"one\", \"file\": \"robot.urdf\"}], "
               "\"bodies\": [{\"name\": \"m\", \"position\": [3, 0, 1], \"mass\": 1, \"inertia\": [1, 1, 1], "
               "\"shapes\": [{\"type\": \"hull\", \"file\": \"cube.obj\"}]}]}");
    if (records(&err) != ST_OK) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    return rename(in_folder("run.h5"), in_folder("kept.h5"));
}

static int end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#define TEST(name)                                                                                                     \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        refuse_everywhere(#name, name);                                                                                \
    }
TEST(steps_default)
TEST(steps_1997)
TEST(steps_2002)
TEST(steps_2006)
TEST(steps_2017)
TEST(steps_2011)
TEST(steps_accurate)
TEST(reads_urdf)
TEST(reads_mjcf)
TEST(reads_robots_and_meshes)
TEST(converts)
TEST(lists_errors)
TEST(makes_schema)
TEST(records)
TEST(writes_table_and_picture)
TEST(reads_recording)
TEST(solves)
TEST(steps_batch)
TEST(asks_arms_and_rays)
TEST(steps_grains)
TEST(steps_device)
TEST(steps_2004)
TEST(draws)
TEST(exports)

/* An allocator without its functions is refused by name. */
static void allocators_without_functions_are_refused(void **state)
{
    (void)state;
    st_Error err = {0};
    Made made;
    st_System *system = NULL;
    check_ok(make(&made, NULL, &err), err);
    made.def.allocator.alloc = NULL;
    assert_int_equal(st_system_create(made.scene, &made.def, &system, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "allocator"));
    made.def.allocator = st_default_allocator();
    made.def.allocator.free = NULL;
    assert_int_equal(st_system_create(made.scene, &made.def, &system, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_scene_create_with(&made.def.allocator, &(st_Scene *){NULL}, &err), ST_ERR_ARGUMENT);
    unmake(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_default),
        cmocka_unit_test(test_steps_1997),
        cmocka_unit_test(test_steps_2002),
        cmocka_unit_test(test_steps_2006),
        cmocka_unit_test(test_steps_2017),
        cmocka_unit_test(test_steps_2011),
        cmocka_unit_test(test_steps_accurate),
        cmocka_unit_test(test_reads_urdf),
        cmocka_unit_test(test_reads_mjcf),
        cmocka_unit_test(test_reads_robots_and_meshes),
        cmocka_unit_test(test_converts),
        cmocka_unit_test(test_lists_errors),
        cmocka_unit_test(test_makes_schema),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_writes_table_and_picture),
        cmocka_unit_test(test_reads_recording),
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_steps_batch),
        cmocka_unit_test(test_asks_arms_and_rays),
        cmocka_unit_test(test_steps_grains),
        cmocka_unit_test(test_steps_device),
        cmocka_unit_test(test_steps_2004),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(allocators_without_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
