/* Every entry point with the n-th allocation refused, for every n, once and from then on: the call fails with a status,
 * nothing leaks, and the next call works.
 *
 * malloc and similar functions are wrapped by the linker in all our code (tests/CMakeLists.txt), but not in jansson,
 * whose lexer ends the program if memory is refused. `make test` runs a seeded share of the n; ST_TEST_FULL=1 runs
 * all (ST_TEST_FULL=NAME those of one entry point).
 */
#include "check.h"
#include "record/scratch.h"

#include <stiction/io.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory that is refused ----------------------------------------------------------------------- */

static long long asked, refuse_at, held; /* requests since the last reset; 0: refuse nothing */
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

/* ---- operations ------------------------------------------------------------------------------------ */

static char folder[64] = "/tmp/stiction-memory-XXXXXX";

static const char *in_folder(const char *name)
{
    return scratch_path(folder, name);
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

/* Reads kept.h5, which is complete. */
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

/* ---- numbers, bodies and keyframes of a running system ---- */

static const char machine_text[] =
    "{\"ground\": [{\"type\": \"plane\", \"friction\": 0.5}],"
    " \"materials\": [{\"name\": \"rubber\", \"friction\": 0.8}],"
    " \"bodies\": ["
    "  {\"name\": \"ball\", \"position\": [0, 0, 0.1], \"shapes\": [{\"name\": \"s\", \"type\": \"sphere\", "
    "\"radius\": 0.1, \"material\": \"rubber\"}]},"
    "  {\"name\": \"spare\", \"position\": [0.15, 0, 0.3], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]},"
    "  {\"name\": \"arm\", \"position\": [3.5, 0, 1], \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.05, "
    "\"length\": 0.5}]}],"
    " \"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"b\": \"arm\", \"point\": [3, 0, 1], \"axis\": "
    "[0, 1, 0], \"motor\": {\"type\": \"position\", \"target\": 0.1, \"stiffness\": 50, \"damping\": 1}}],"
    " \"springs\": [{\"name\": \"band\", \"type\": \"linear\", \"a\": \"ball\", \"b\": \"arm\", \"stiffness\": 10}],"
    " \"forces\": [{\"name\": \"wind\", \"body\": \"ball\", \"force\": [0.1, 0, 0]}],"
    " \"measures\": [{\"name\": \"angle\", \"type\": \"coordinate\", \"joint\": \"pin\"},"
    "  {\"name\": \"imu\", \"type\": \"acceleration\", \"body\": \"arm\"},"
    "  {\"name\": \"eye\", \"type\": \"range\", \"body\": \"arm\"},"
    "  {\"name\": \"feel\", \"type\": \"touch\", \"body\": \"ball\", \"region\": {\"type\": \"sphere\", "
    "\"radius\": 0.2}}],"
    " \"keyframes\": [{\"name\": \"up\", \"time\": 1, \"bodies\": [{\"body\": \"ball\", \"position\": [0, 0, 0.5]}], "
    "\"motors\": [{\"joint\": \"pin\", \"target\": 0.2}]}],"
    " \"simulation\": {\"h\": 0.005}}";

/* A call that fails leaves the state unchanged. */
#define DO_OR_LEAVE(system, call)                                                                                      \
    do {                                                                                                               \
        if (status == ST_OK) {                                                                                         \
            const uint64_t hash_before = st_system_hash(system);                                                       \
            status = (call);                                                                                           \
            if (status != ST_OK) assert_true(st_system_hash(system) == hash_before);                                   \
        }                                                                                                              \
    } while (0)

static st_Status changes_a_running_system(st_Error *err)
{
    Made made = {0};
    double controls[16], values[64], q[64], v[64];
    int count = 0;
    st_Status status =
        st_scene_parse(machine_text, sizeof machine_text - 1, "text", NULL, 0, &made.scene, &made.def, err);
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    st_System *system = made.system;
    if (status == ST_OK) {
        const st_BodyId ball = st_scene_find_body(made.scene, "ball"), spare = st_scene_find_body(made.scene, "spare");
        const st_JointId pin = st_scene_find_joint(made.scene, "pin");
        const st_ForceId wind = st_scene_find_force(made.scene, "wind");
        const st_Vec3 push = {0, 1, 0};
        const st_Pose away = {{0.3, 0, 0.6}, {1, 0, 0, 0}};
        const int n = st_system_control_count(system);
        assert_true(n <= 16 && st_system_n_q(system) <= 64);
        DO_OR_LEAVE(system, st_system_step(system, 0.005, NULL, err));
        DO_OR_LEAVE(system, st_system_set_parameter(system, "bodies/*/mass", 2, err));
        DO_OR_LEAVE(system, st_system_set_parameter(system, "materials/rubber/friction", 0.2, err));
        DO_OR_LEAVE(system, st_system_set_parameter(system, "joints/pin/motor/stiffness", 60, err));
        DO_OR_LEAVE(system, st_system_set_parameter(system, "springs/band/stiffness", 11, err));
        DO(st_system_parameter(system, "bodies/ball/mass", &values[0], err));
        DO_OR_LEAVE(system, st_system_remove_body(system, spare, err));
        DO_OR_LEAVE(system, st_system_step(system, 0.005, NULL, err));
        DO_OR_LEAVE(system, st_system_insert_body(system, spare, &away, NULL, NULL, err));
        DO_OR_LEAVE(system, st_system_set_motor(system, pin, 0.3, err));
        DO_OR_LEAVE(system, st_system_set_force(system, wind, &push, NULL, err));
        DO_OR_LEAVE(system, st_system_push(system, ball, &push, NULL, err));
        DO(st_system_controls(system, controls, n, err));
        DO_OR_LEAVE(system, st_system_set_controls(system, controls, n, err));
        DO_OR_LEAVE(system, st_system_step(system, 0.005, NULL, err));
        for (int k = 0; k < st_scene_measure_count(made.scene); k++)
            DO(st_system_measure(system, k, values, &count, err));
        st_system_state(system, q, v);
        DO_OR_LEAVE(system, st_system_set_state(system, 0.5, q, v, err));
        DO_OR_LEAVE(system, st_system_set_pose(system, ball, &away, err));
        DO_OR_LEAVE(system, st_system_set_velocity(system, ball, &push, &push, err));
        DO_OR_LEAVE(system, st_system_wake(system, ball, err));
        const size_t size = st_system_save(system, NULL, 0);
        void *bytes = __real_malloc(size);
        assert_non_null(bytes);
        st_system_save(system, bytes, size);
        DO_OR_LEAVE(system, st_system_set_keyframe(system, 1, err));
        DO_OR_LEAVE(system, st_system_step(system, 0.005, NULL, err));
        DO_OR_LEAVE(system, st_system_restore(system, bytes, size, err));
        DO_OR_LEAVE(system, st_system_step(system, 0.005, NULL, err));
        __real_free(bytes);
    }
    unmake(&made);
    return status;
}

/* A scene made and changed by calls. One that fails leaves as many things as there were. */
static st_Status edits_a_scene(st_Error *err)
{
    st_Scene *scene = NULL, *copy = NULL;
    st_System *system = NULL;
    st_BodyId body[3] = {{0}};
    st_ShapeId shape = {0};
    st_JointId joint = {0};
    st_SpringId spring = {0};
    st_ForceId force = {0};
    st_MaterialId wood = {0};
    st_Status status = st_scene_create(&scene, err);
    for (int k = 0; k < 3; k++) {
        st_BodyDef def = st_body_def();
        char name[16];
        snprintf(name, sizeof name, "b%d", k);
        def.name = name, def.mass = 1, def.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}, def.pose.p.x = k;
        const int before = status == ST_OK ? st_scene_body_count(scene) : 0;
        DO(st_scene_add_body(scene, &def, &body[k], err));
        if (status != ST_OK && scene != NULL) assert_int_equal(st_scene_body_count(scene), before);
        if (status != ST_OK) break;
    }
    st_MaterialDef material = st_material_def();
    material.name = "wood";
    DO(st_scene_add_material(scene, &material, &wood, err));
    st_MaterialPairDef pair = st_material_pair_def();
    pair.a = pair.b = wood, pair.mu = 0.3;
    DO(st_scene_add_material_pair(scene, &pair, err));
    st_ShapeDef box = st_box_def(0.1, 0.1, 0.1), plane = st_plane_def();
    box.material = wood;
    DO(st_scene_add_shape(scene, body[0], &box, &shape, err));
    DO(st_scene_add_shape(scene, body[1], &box, NULL, err));
    DO(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err));
    st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE);
    hinge.b = body[1], hinge.name = "hinge";
    DO(st_scene_add_joint(scene, &hinge, &joint, err));
    st_SpringDef band = st_spring_def(ST_SPRING_LINEAR);
    band.a = body[0], band.b = body[1], band.stiffness = 5, band.name = "band";
    DO(st_scene_add_spring(scene, &band, &spring, err));
    st_ForceDef wind = st_force_def();
    wind.body = body[0], wind.name = "wind";
    DO(st_scene_add_force(scene, &wind, &force, err));
    st_KeyframeDef keyframe = st_keyframe_def();
    const st_KeyframeBody at = {.body = body[0], .pose = {{0, 0, 2}, {1, 0, 0, 0}}};
    keyframe.name = "start", keyframe.n_bodies = 1, keyframe.bodies = &at;
    DO(st_scene_add_keyframe(scene, &keyframe, err));
    DO(st_scene_exclude(scene, body[0], body[1], err));
    DO(st_scene_copy(scene, &copy, err));
    DO(st_system_create(scene, &(st_SystemDef){0}, &system, NULL) == ST_ERR_ARGUMENT ? ST_OK : ST_ERR_MEMORY);
    const int before = status == ST_OK ? st_scene_body_count(copy) : 0;
    DO(st_scene_remove_springs(copy, &spring, 1, err));
    DO(st_scene_remove_forces(copy, &force, 1, err));
    DO(st_scene_remove_joints(copy, &joint, 1, err));
    DO(st_scene_remove_shapes(copy, &shape, 1, err));
    DO(st_scene_remove_bodies(copy, &body[1], 1, err));
    if (copy != NULL) assert_int_equal(st_scene_body_count(copy), status == ST_OK ? before - 1 : 3);
    st_SystemDef def = st_system_def();
    DO(st_system_create(copy, &def, &system, err));
    DO(st_system_step(system, 0.01, NULL, err));
    DO(st_system_change(system, scene, err));
    DO(st_system_step(system, 0.01, NULL, err));
    st_system_destroy(system);
    st_scene_destroy(copy);
    st_scene_destroy(scene);
    if (status != ST_OK && err->message[0] == '\0')
        snprintf(err->message, sizeof err->message, "of a def without defaults");
    return status;
}

/* Worlds with their own states and numbers of steps. */
static st_Status moves_batch(st_Error *err)
{
    Made made = {0};
    st_Batch *batch = NULL;
    st_BatchDef def = st_batch_def();
    double q[2 * 64], v[2 * 64];
    const int steps[2] = {1, 3}, keyframes[2] = {1, 0};
    st_Status status =
        st_scene_parse(machine_text, sizeof machine_text - 1, "text", NULL, 0, &made.scene, &made.def, err);
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    def.worlds = 2;
    DO(st_batch_create(made.scene, &made.def, &def, &batch, err));
    DO(st_batch_step_each(batch, steps, err));
    if (status == ST_OK) {
        const int n_q = st_system_n_q(made.system), n_v = st_system_n_v(made.system);
        assert_true(n_q <= 64);
        for (int k = 0; k < 2; k++)
            st_system_state(made.system, q + (size_t)k * (size_t)n_q, v + (size_t)k * (size_t)n_v);
    }
    DO(st_batch_set_states(batch, NULL, NULL, q, v, err));
    DO(st_batch_reset(batch, NULL, keyframes, err));
    if (status == ST_OK && st_batch_system(batch, 1) == NULL) {
        status = ST_ERR_MEMORY;
        snprintf(err->message, sizeof err->message, "out of memory");
    }
    st_batch_destroy(batch);
    unmake(&made);
    return status;
}

static st_Status steps_periodic(st_Error *err)
{
    return run_text("{\"periodic\": {\"x\": [0, 0.5]}, \"ground\": [{\"type\": \"plane\"}], \"bodies\": ["
                    "{\"name\": \"a\", \"position\": [0.02, 0, 0.05], \"shapes\": [" SPHERE "]},"
                    "{\"name\": \"b\", \"position\": [0.48, 0, 0.1], \"shapes\": [" SPHERE "]}],"
                    "\"simulation\": {\"h\": 0.002}}",
                    3, err);
}

/* Boxes, hulls and capsules on a mesh, on flat arrays. */
static st_Status steps_device_shapes(st_Error *err)
{
    return run_text(
        "{\"ground\": [{\"type\": \"height-field\", \"spacing\": 1, \"heights\": [[0, 0, 0], [0, 0.01, 0], [0, 0, "
        "0]]}], "
        "\"bodies\": ["
        "{\"name\": \"a\", \"position\": [0, 0, 0.06], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}]},"
        "{\"name\": \"b\", \"position\": [0.05, 0, 0.16], \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.05, "
        "\"length\": 0.1}]},"
        "{\"name\": \"c\", \"position\": [0.3, 0, 0.04], \"recentre\": true, \"shapes\": [{\"type\": \"hull\", "
        "\"points\": [[0,0,0],[0.1,0,0],[0,0.1,0],[0,0,0.1]]}]}],"
        "\"simulation\": {\"h\": 0.002, \"device\": \"flat\"}}",
        3, err);
}

/* Linear complementarity problems, problems of a step, and answers that are written into a problem file. */
static st_Status solves_directly(st_Error *err)
{
    Made made;
    st_FrictionCopy *copy = NULL;
    st_Friction *friction = NULL;
    st_Solver *solver = NULL;
    double r[512] = {0}, z[2], w[2], error, margin, least[512];
    bool determined[512];
    const double M[4] = {2, 1, 1, 2}, q[2] = {-5, -6};
    const st_LcpProblem lcp = {.n = 2, .M = {2, 2, (const int64_t[]){0, 2, 4}, (const int[]){0, 1, 0, 1}, M}, .q = q};
    st_LcpInfo lcp_info;
    st_LcpError lcp_error;
    st_Residual residual;
    st_Determined found;
    st_Status status = make(&made, "default", err);
    if (status != ST_OK) return status;
    DO(st_system_step(made.system, 0.005, NULL, err));
    DO(st_lcp_solve(&lcp, 1e-10, z, &lcp_info, err));
    DO(st_lcp_residual(&lcp, z, &error, err));
    DO(st_lcp_error(&lcp, z, w, &lcp_error, err));
    DO(st_lcp_contradiction(&lcp, &margin, err));
    if (status == ST_OK) {
        const st_SolverDef def = st_solver_def();
        const st_Problem *problem = st_system_problem(made.system, NULL);
        st_Solution solution = {.r = r};
        if (problem == NULL) {
            status = ST_ERR_MEMORY;
            snprintf(err->message, sizeof err->message, "out of memory");
        }
        DO(st_solver_create(&def, &solver, err));
        DO(st_solver_solve(solver, problem, &solution, NULL, err));
        DO(st_problem_residual(problem, r, &residual, err));
        DO(st_friction_from_step(problem, true, &copy, err));
    }
    if (status == ST_OK) {
        const st_FrictionProblem *problem = st_friction_copy_problem(copy);
        const st_ProblemFile out = {.friction = *problem};
        st_SolveInfo info = {0};
        DO(st_friction_create(problem, &friction, err));
        DO(st_friction_solve(friction, solver, &(st_Solution){.r = r}, &info, err));
        DO(st_friction_determined(friction, r, NULL, 1e-8, determined, least, &found, err));
        DO(st_friction_lowest(problem, &error, err));
        DO(st_friction_contradiction(problem, &margin, err));
        DO(st_problem_file_write(in_folder("answer.hdf5"), &out, err));
    }
    st_solver_destroy(solver);
    st_friction_destroy(friction);
    st_friction_copy_destroy(copy);
    unmake(&made);
    return status;
}

/* Every table of kept.h5, and its curves. */
static st_Status reads_all_of_a_recording(st_Error *err)
{
    st_Recording *recording = NULL;
    st_RecordedStep step;
    st_RecordedFrame frame;
    st_RecordedContact contact;
    st_RecordedJoint joint[4];
    st_Vec3 position[8], velocity[8], spin[8];
    st_Quat orientation[8];
    st_Status status = st_recording_open(in_folder("kept.h5"), &recording, err);
    DO(st_recording_steps(recording, 0, 1, &step, err));
    DO(st_recording_frames(recording, 0, 1, &frame, err));
    DO(st_recording_contacts(recording, 0, 1, &contact, err));
    DO(st_recording_joints(recording, 0, joint, err));
    DO(st_recording_bodies(recording, 0, position, orientation, velocity, spin, err));
    DO(st_recording_write_plot(recording, NULL,
                               (const char *const[]){"box.force", "box/ground.fz", "pin.fx", "pin.motor"}, 4,
                               in_folder("plot.svg"), err));
    st_recording_close(recording);
    return status;
}

static st_Status reads_sdf(st_Error *err)
{
    return read_file_scene(in_folder("robot.sdf"), err);
}
static st_Status reads_mjcf_of_everything(st_Error *err)
{
    return read_file_scene(in_folder("rich.xml"), err);
}
static st_Status reads_meshes(st_Error *err)
{
    return read_file_scene(in_folder("meshes.json"), err);
}
static st_Status steps_exact(st_Error *err)
{
    return step_preset("exact", err);
}
static st_Status steps_real_time(st_Error *err)
{
    return step_preset("real-time", err);
}

/* ---- scenes with unusual parts, and everything that can be asked of them ---- */

/* A rotor, a driven body, a spring, a force and a pin beside balls on flat arrays. */
static const char beside_text[] =
    "{\"ground\": [{\"type\": \"plane\", \"material\": \"rubber\"}],"
    " \"materials\": [{\"name\": \"rubber\", \"friction\": 0.8}, {\"name\": \"steel\", \"friction\": 0.2}],"
    " \"material_pairs\": [{\"a\": \"rubber\", \"b\": \"steel\", \"friction\": 0.4}],"
    " \"bodies\": ["
    "  {\"name\": \"a\", \"position\": [0, 0, 0.05], \"shapes\": [" SPHERE "]},"
    "  {\"name\": \"b\", \"position\": [0.06, 0, 0.12], \"shapes\": [" SPHERE "]},"
    "  {\"name\": \"arm\", \"position\": [0.1, 0, 0.2], \"shapes\": [{\"type\": \"box\", \"size\": [0.3, 0.1, 0.04], "
    "\"material\": \"steel\"}]},"
    "  {\"name\": \"hand\", \"position\": [0.25, 0, 0.2], \"mass\": 0.1, \"inertia\": 1e-4},"
    "  {\"name\": \"table\", \"position\": [2, 0, 0.5], \"shapes\": [{\"type\": \"box\", \"size\": [0.3, 0.3, 0.1]}]}],"
    " \"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"b\": \"arm\", \"point\": [-0.05, 0, 0.2], \"axis\": "
    "[0, 1, 0], \"armature\": 0.01},"
    "  {\"name\": \"wrist\", \"type\": \"revolute\", \"a\": \"arm\", \"b\": \"hand\", \"point\": [0.25, 0, 0.2], "
    "\"axis\": [0, 1, 0], \"motor\": {\"type\": \"speed\", \"target\": 0.5}},"
    "  {\"name\": \"shake\", \"type\": \"prismatic\", \"b\": \"table\", \"point\": [2, 0, 0.5], \"axis\": [1, 0, 0], "
    "\"motor\": {\"type\": \"speed\", \"target\": 0.1}}],"
    " \"springs\": [{\"name\": \"band\", \"a\": \"arm\", \"b\": \"hand\", \"stiffness\": 10, \"damping\": 0.1}],"
    " \"forces\": [{\"name\": \"pull\", \"body\": \"hand\", \"force\": [0, 0, 1]}],"
    " \"exclude\": [[\"arm\", \"table\"]],"
    " \"simulation\": {\"h\": 0.002, \"device\": \"flat\"}}";

/* Every sensor, on an arm that touches, and measures of grains. */
static const char sensors_text[] =
    "{\"ground\": [{\"name\": \"floor\", \"type\": \"plane\", \"friction\": 0.5}],"
    " \"bodies\": ["
    "  {\"name\": \"g1\", \"position\": [0, 0, 0.049], \"shapes\": [" SPHERE "]},"
    "  {\"name\": \"g2\", \"position\": [0.09, 0, 0.049], \"shapes\": [" SPHERE "]},"
    "  {\"name\": \"arm\", \"position\": [1, 0, 0.1], \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.05, "
    "\"length\": 0.1}]},"
    "  {\"name\": \"hand\", \"position\": [1, 0, 0.3], \"mass\": 0.1, \"inertia\": 1e-4}],"
    " \"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"a\": \"arm\", \"b\": \"hand\", \"point\": [1, 0, "
    "0.3], "
    "\"axis\": [0, 1, 0], \"lower\": 0, \"motor\": {\"type\": \"speed\", \"target\": -1, \"max_force\": 1}}],"
    " \"regions\": [{\"name\": \"all\", \"type\": \"box\", \"position\": [0, 0, 0.5], \"size\": [1, 1, 1]}],"
    " \"outlets\": [{\"name\": \"sink\", \"region\": {\"type\": \"half-space\", \"position\": [0, 0, -1]}, \"bodies\": "
    "\"g*\"}],"
    " \"measures\": [{\"type\": \"flow\", \"region\": \"all\", \"bodies\": \"g*\"},"
    "  {\"type\": \"bulk\", \"region\": \"all\"}, {\"type\": \"wall\", \"shape\": \"floor\", \"bodies\": \"g*\"},"
    "  {\"type\": \"repose\", \"region\": \"all\"}, {\"type\": \"time\"}, {\"type\": \"energy\"},"
    "  {\"type\": \"position\", \"body\": \"hand\", \"reference\": \"arm\"}, {\"type\": \"orientation\", \"body\": "
    "\"hand\"},"
    "  {\"type\": \"axis\", \"body\": \"hand\", \"axes\": \"body\"}, {\"type\": \"velocity\", \"body\": \"hand\"},"
    "  {\"type\": \"angular_velocity\", \"body\": \"hand\"}, {\"type\": \"acceleration\", \"body\": \"hand\"},"
    "  {\"type\": \"angular_acceleration\", \"body\": \"hand\"}, {\"type\": \"force\", \"body\": \"hand\"},"
    "  {\"type\": \"torque\", \"body\": \"hand\"}, {\"type\": \"range\", \"body\": \"hand\"},"
    "  {\"type\": \"touch\", \"body\": \"arm\", \"region\": {\"type\": \"sphere\", \"radius\": 0.2}},"
    "  {\"type\": \"centre\", \"body\": \"arm\"}, {\"type\": \"centre_velocity\", \"body\": \"arm\"},"
    "  {\"type\": \"angular_momentum\", \"body\": \"arm\"}, {\"type\": \"coordinate\", \"joint\": \"pin\"},"
    "  {\"type\": \"speed\", \"joint\": \"pin\"}, {\"type\": \"motor\", \"joint\": \"pin\"}, {\"type\": \"limit\", "
    "\"joint\": \"pin\"}],"
    " \"simulation\": {\"h\": 0.002}}";

/* Materials with everything, belts, and a box that rolls, spins and sticks. */
static const char surfaces_text[] =
    "{\"ground\": [{\"type\": \"plane\", \"material\": \"m\", \"surface_velocity\": [0.1, 0, 0]}],"
    " \"materials\": [{\"name\": \"m\", \"friction\": 0.5, \"kinetic_friction\": 0.3, \"stribeck_speed\": 0.01, "
    "\"rolling_friction\": 0.001, \"spinning_friction\": 0.001, \"adhesion\": 0.1, \"adhesion_pressure\": 1},"
    "  {\"name\": \"wet\", \"friction\": 0.4, \"liquid_volume\": 1e-9, \"surface_tension\": 0.07, \"wetting_angle\": "
    "0.1}],"
    " \"bodies\": ["
    "  {\"name\": \"ball\", \"position\": [0, 0, 0.05], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.05, "
    "\"material\": \"m\"}]},"
    "  {\"name\": \"wet\", \"position\": [0.1, 0, 0.05], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.05, "
    "\"material\": \"wet\"}]},"
    "  {\"name\": \"box\", \"position\": [1, 0, 0.05], \"velocity\": [1, 0, 0], \"shapes\": [{\"type\": \"box\", "
    "\"size\": [0.1, 0.1, 0.1], \"material\": \"m\"}]},"
    "  {\"name\": \"ski\", \"position\": [2, 0, 0.05], \"velocity\": [1, 1, 0], \"shapes\": [{\"type\": \"box\", "
    "\"size\": [0.1, 0.1, 0.1], \"friction\": 0.1, \"friction_across\": 0.5, \"friction_direction\": [1, 0, 0]}]}],"
    " \"simulation\": {\"h\": 0.002}}";

/* Boxes asleep, and a ball that wakes them. */
static const char asleep_text[] =
    "{\"ground\": [{\"type\": \"plane\", \"friction\": 0.5}], \"bodies\": ["
    "  {\"name\": \"a\", \"position\": [0, 0, 0.05], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}]},"
    "  {\"name\": \"b\", \"position\": [0, 0, 0.15], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}]},"
    "  {\"name\": \"rod\", \"position\": [0.5, 0, 0.05], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}]},"
    "  {\"name\": \"far\", \"position\": [0.7, 0, 0.05], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}]},"
    "  {\"name\": \"ball\", \"position\": [-0.16, 0, 0.05], \"velocity\": [1, 0, 0], \"shapes\": [" SPHERE "]}],"
    " \"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"a\": \"rod\", \"b\": \"far\", \"point\": [0.6, 0, "
    "0.05], "
    "\"axis\": [0, 1, 0], \"lower\": 0, \"friction\": 0.1}],"
    " \"simulation\": {\"h\": 0.01, \"sleep\": true, \"sleep_time\": 0.02, \"sleep_speed\": 0.1}}";

static const struct {
    const char *name, *text, *file; /* one of the two */
    const char *sets[3];
    int steps;
} unusual[] = {
    {"beside a pile", beside_text, NULL, {NULL}, 2},
    {"sensors", sensors_text, NULL, {NULL}, 2},
    {"surfaces", surfaces_text, NULL, {NULL}, 2},
    {"surfaces, events", surfaces_text, NULL, {"simulation/integrator=trapezoid", "simulation/events=all"}, 2},
    {"asleep", asleep_text, NULL, {NULL}, 9},
    {"mean", NULL, "mechanisms/four_bar", {"simulation/integrator=trapezoid", "simulation/drift=mean"}, 2},
    {"projection", NULL, "mechanisms/four_bar", {"simulation/initial=project"}, 2},
    {"least norm", scene_text, NULL, {"simulation/forces=least_norm"}, 2},
    {"patches", NULL, "song-2004/ellipse", {NULL}, 3},
    {"order two", machine_text, NULL, {"simulation/integrator=bdf2", "simulation/initial=project"}, 3},
    {"rigid limit",
     NULL,
     "mechanisms/motor_limit",
     {"simulation/preset=preclik-2011", "simulation/rigid_limit=true"},
     2},
    {"chain", NULL, "mechanisms/screw_press", {NULL}, 2},
};
enum { N_UNUSUAL = sizeof unusual / sizeof unusual[0] };
static int unusual_one;

/* All that can be asked about a system; sums are not interesting here. */
static st_Status ask_everything(const Made *made, st_System *system, st_Error *err)
{
    double kinetic, potential, values[ST_MEASURE_VALUES];
    int count;
    st_BodyLoad load[16];
    const int bodies = st_scene_body_count(made->scene);
    assert_true(bodies <= 16);
    st_Status status = st_system_energy(system, &kinetic, &potential, err);
    for (int k = 0; k < st_scene_measure_count(made->scene); k++)
        DO(st_system_measure(system, k, values, &count, err));
    DO(st_system_loads(system, load, bodies, err));
    bool refused = false; /* these have no message */
    for (int k = 0; status == ST_OK && k < st_system_contact_count(system); k++) {
        st_ContactReport report;
        refused = st_system_contact(system, k, &report) != ST_OK || refused;
    }
    for (int k = 1; status == ST_OK && k <= st_scene_joint_count(made->scene); k++) {
        st_JointReport report;
        refused = st_system_joint(system, (st_JointId){k}, ST_FRAME_A, &report) != ST_OK || refused;
    }
    for (int k = 1; status == ST_OK && k <= st_scene_spring_count(made->scene); k++) {
        st_SpringReport report;
        refused = st_system_spring(system, (st_SpringId){k}, &report) != ST_OK || refused;
    }
    for (int k = 1; status == ST_OK && k <= bodies; k++) {
        st_Vec3 force, torque;
        refused = st_system_contact_force(system, (st_BodyId){k}, &force, &torque) != ST_OK || refused;
    }
    if (status != ST_OK || !refused) return status;
    snprintf(err->message, sizeof err->message, "a report was refused");
    return ST_ERR_MEMORY;
}

static st_Status runs_unusual(st_Error *err)
{
    Made made = {0};
    st_System *clone = NULL;
    st_Scene *copy = NULL;
    void *bytes = NULL;
    const char *file = unusual[unusual_one].file, *text = unusual[unusual_one].text;
    int n_sets = 0;
    while (n_sets < 3 && unusual[unusual_one].sets[n_sets] != NULL)
        n_sets++;
    char path[128];
    snprintf(path, sizeof path, "examples/%s.json", file != NULL ? file : "");
    st_Status status = file != NULL
                           ? st_scene_read(path, unusual[unusual_one].sets, n_sets, &made.scene, &made.def, err)
                           : st_scene_parse(text, strlen(text), "text", unusual[unusual_one].sets, n_sets, &made.scene,
                                            &made.def, err);
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    for (int k = 0; k < unusual[unusual_one].steps; k++)
        DO(st_system_step(made.system, made.def.h, NULL, err));
    DO(ask_everything(&made, made.system, err));
    DO(st_system_clone(made.system, &clone, err));
    DO_OR_LEAVE(clone, st_system_step(clone, made.def.h, NULL, err));
    if (status == ST_OK) {
        const size_t size = st_system_save(made.system, NULL, 0);
        bytes = __real_malloc(size);
        assert_non_null(bytes);
        st_system_save(made.system, bytes, size);
        DO_OR_LEAVE(clone, st_system_restore(clone, bytes, size, err));
        DO(st_system_step(clone, made.def.h, NULL, err));
    }
    DO(st_scene_copy(made.scene, &copy, err));
    if (made.def.device == ST_DEVICE_NONE) DO_OR_LEAVE(made.system, st_system_change(made.system, copy, err));
    DO(st_system_step(made.system, made.def.h, NULL, err));
    DO(ask_everything(&made, made.system, err));
    __real_free(bytes);
    st_scene_destroy(copy);
    st_system_destroy(clone);
    unmake(&made);
    return status;
}

/* A loop of four bars in joint coordinates. */
static st_Status asks_a_closed_loop(st_Error *err)
{
    Made made = {0};
    st_Articulation *arm = NULL;
    double a[64] = {0}, b[64], c[64], M[64 * 64], D[64], J[6 * 64], error;
    st_JointId worst;
    st_PointMotion motion;
    st_CentreOfMass centre;
    st_ReachInfo reached;
    st_Status status = st_scene_read("examples/mechanisms/four_bar.json", NULL, 0, &made.scene, &made.def, err);
    DO(st_system_create(made.scene, &made.def, &made.system, err));
    const st_BodyId rocker = status == ST_OK ? st_scene_find_body(made.scene, "rocker") : ST_GROUND,
                    crank = status == ST_OK ? st_scene_find_body(made.scene, "crank") : ST_GROUND;
    const st_Target target = {.body = crank, .position = {0.15, 0.47, 0}};
    const st_ReachDef reach = st_reach_def();
    const st_Touch touch = {.b = rocker, .point = {2.25, 0.8, 0}, .normal = {0, 1, 0}, .mu = 0.5};
    st_Vec3 force;
    DO(st_articulation_create(made.system, &arm, err));
    const int n_v = status == ST_OK ? st_articulation_n_v(arm) : 0,
              n_q = status == ST_OK ? st_articulation_n_q(arm) : 0;
    assert_true(n_v <= 64 && n_q <= 64);
    DO(st_articulation_read(arm, err));
    DO(st_articulation_loop_error(arm, &error, &worst, err));
    DO(st_articulation_point(arm, rocker, (st_Vec3){0, 0, 0}, a, n_v, &motion, err));
    DO(st_articulation_jacobian(arm, rocker, (st_Vec3){0, 0, 0}, J, b, n_v, err));
    DO(st_articulation_centre_of_mass(arm, ST_GROUND, &centre, NULL, n_v, err));
    DO(st_articulation_centre_of_mass(arm, crank, &centre, NULL, n_v, err));
    DO(st_articulation_mass_matrix(arm, M, n_v, err));
    DO(st_articulation_mass_factor(arm, M, D, n_v, err));
    DO(st_articulation_mass_product(arm, a, b, n_v, err));
    DO(st_articulation_bias(arm, b, c, n_v, err));
    DO(st_articulation_inverse_dynamics(arm, a, NULL, 0, b, n_v, err));
    DO(st_articulation_forward_dynamics(arm, a, NULL, 0, b, n_v, err));
    DO(st_articulation_inverse_contacts(arm, a, &touch, 1, NULL, b, n_v, &force, NULL, err));
    DO(st_articulation_state(arm, b, n_q, c, n_v, err));
    DO(st_articulation_move(arm, b, c, 0.01, a, n_q, n_v, err));
    DO(st_articulation_difference(arm, b, a, c, n_q, n_v, err));
    DO(st_articulation_reach(arm, &target, 1, &reach, &reached, err));
    DO(st_articulation_write(arm, err));
    st_articulation_destroy(arm);
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

/* `share`: about so many of the allocations, unless all are asked for. */
static void refuse_everywhere(const char *name, Operation *operation, int share)
{
    st_Error err;
    const char *full = getenv("ST_TEST_FULL");
    const bool all = full != NULL && (strcmp(full, "1") == 0 || strcmp(full, name) == 0);
    check_Random random = {11};
    check_ok(try(operation, 0, false, &err), err);
    check_ok(try(operation, 0, false, &err), err); /* so that data that is allocated once exists */
    const long long n = asked;
    long long before = held, tried = 0;
    check_ok(try(operation, 0, false, &err), err);
    const long long of_libc =
        before - held; /* blocks that libc made and we free: of streams in memory, of realpath() */
    assert_true(of_libc >= 0);
    for (long long at = 1; at <= n; at += all ? 1 : 1 + (long long)check_random(&random, 0, 2.0 * (double)n / share)) {
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
    write_text("robot.sdf",
               "<sdf version='1.9'><model name='m'><link name='base'><inertial><mass>1</mass><inertia><ixx>0.1</ixx>"
               "<iyy>0.1</iyy><izz>0.1</izz></inertia></inertial><collision name='c'><geometry><box><size>0.1 0.1 0.1"
               "</size></box></geometry></collision></link><link name='arm'><pose>0 0 0.3 0 0 0</pose><collision "
               "name='c'><geometry><sphere><radius>0.05</radius></sphere></geometry></collision></link><joint name='j' "
               "type='revolute'><parent>base</parent><child>arm</child><axis><xyz>0 1 0</xyz><limit><lower>-1</lower>"
               "<upper>1</upper></limit></axis></joint></model></sdf>");
    write_text(
        "rich.xml",
        "<mujoco><default><default class='thin'><geom size='0.02'/></default></default><asset><mesh name='cube' "
        "file='cube.obj'/></asset><worldbody><geom type='plane' size='1 1 1'/><site name='post' pos='0 0 1'/>"
        "<body name='b' pos='0 0 1'><joint name='h' type='hinge' axis='0 1 0' range='-90 90'/><geom "
        "class='thin' type='capsule' fromto='0 0 0 0 0 0.3'/><site name='tip' pos='0 0 0.3'/><body name='c' "
        "pos='0 0 0.4'><joint name='s' type='slide' axis='0 0 1'/><geom type='mesh' mesh='cube' mass='1'/></body>"
        "</body></worldbody><tendon><spatial name='t' stiffness='5'><site site='post'/><site site='tip'/>"
        "</spatial><fixed name='f'><joint joint='h' coef='1'/><joint joint='s' coef='2'/></fixed></tendon>"
        "<actuator><motor name='m' joint='h'/><position name='p' joint='s' kp='10'/><motor name='pull' "
        "tendon='t'/></actuator><sensor><jointpos joint='h'/><accelerometer site='tip'/><touch site='tip'/>"
        "</sensor><equality><joint joint1='h' joint2='s' active='false'/></equality><contact><exclude body1='b' "
        "body2='c'/></contact><keyframe><key name='up' qpos='0.1 0.02'/></keyframe></mujoco>");
    write_text(
        "cube.stl",
        "solid c\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
        "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
        "facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
        "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\nendsolid c\n");
    write_text(
        "meshes.json",
        "{\"ground\": [{\"type\": \"mesh\", \"file\": \"cube.stl\"}], \"bodies\": [{\"name\": \"m\", \"position\": "
        "[0.2, 0.2, 2], \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [{\"type\": \"mesh\", \"file\": "
        "\"cube.obj\"}]}]}");
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
        refuse_everywhere(#name, name, 40);                                                                            \
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
TEST(changes_a_running_system)
TEST(edits_a_scene)
TEST(moves_batch)
TEST(steps_periodic)
TEST(steps_device_shapes)
TEST(solves_directly)
TEST(reads_all_of_a_recording)
TEST(reads_sdf)
TEST(reads_mjcf_of_everything)
TEST(reads_meshes)
TEST(steps_exact)
TEST(steps_real_time)
TEST(asks_a_closed_loop)

static void scenes_with_unusual_parts(void **state)
{
    (void)state;
    for (unusual_one = 0; unusual_one < N_UNUSUAL; unusual_one++)
        refuse_everywhere(unusual[unusual_one].name, runs_unusual, 6);
}

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
        cmocka_unit_test(test_changes_a_running_system),
        cmocka_unit_test(test_edits_a_scene),
        cmocka_unit_test(test_moves_batch),
        cmocka_unit_test(test_steps_periodic),
        cmocka_unit_test(test_steps_device_shapes),
        cmocka_unit_test(test_solves_directly),
        cmocka_unit_test(test_reads_all_of_a_recording),
        cmocka_unit_test(test_reads_sdf),
        cmocka_unit_test(test_reads_mjcf_of_everything),
        cmocka_unit_test(test_reads_meshes),
        cmocka_unit_test(test_steps_exact),
        cmocka_unit_test(test_steps_real_time),
        cmocka_unit_test(test_asks_a_closed_loop),
        cmocka_unit_test(scenes_with_unusual_parts),
        cmocka_unit_test(allocators_without_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
