/* Measures against sums done by hand. */
#include "scene/scene_check.h"

#include <stiction/stiction.h>
#include <unistd.h>

#define G 9.81
static const double r = 0.01, pi = 3.14159265358979323846;

static double mass_of_ball(void)
{
    return 2000 * 4.0 / 3 * pi * r * r * r;
}

/* Three balls on top of each other on a floor, kept upright by locks; in a box of one litre. */
#define TOWER                                                                                                          \
    "{\"simulation\": {\"h\": 0.001},\n"                                                                               \
    " \"ground\": [{\"type\": \"plane\", \"name\": \"floor\"}],\n"                                                     \
    " \"regions\": [{\"name\": \"litre\", \"type\": \"box\", \"position\": [0, 0, 0.05], \"size\": [0.1, 0.1, "        \
    "0.11]}],\n"                                                                                                       \
    " \"bodies\": [\n"                                                                                                 \
    "  {\"name\": \"a1\", \"position\": [0, 0, 0.01], \"locks\": [\"x\", \"y\", \"rotation\"], " BALL "},\n"           \
    "  {\"name\": \"a2\", \"position\": [0, 0, 0.03], \"locks\": [\"x\", \"y\", \"rotation\"], " BALL "},\n"           \
    "  {\"name\": \"b3\", \"position\": [0, 0, 0.05], \"locks\": [\"x\", \"y\", \"rotation\"], " BALL "}],\n"          \
    " \"measures\": [\n"                                                                                               \
    "  {\"name\": \"bulk\", \"type\": \"bulk\", \"region\": \"litre\"},\n"                                             \
    "  {\"name\": \"only\", \"type\": \"bulk\", \"region\": \"litre\", \"bodies\": \"a*\"},\n"                         \
    "  {\"name\": \"floor\", \"type\": \"wall\", \"shape\": \"floor\"},\n"                                             \
    "  {\"name\": \"on_a2\", \"type\": \"wall\", \"wall\": \"a2\", \"bodies\": \"b3\"}]}"
#define BALL "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.01, \"density\": 2000}]"

static void steps(st_System *system, int n)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(system, 1e-3, NULL, &err), err);
}

static double value(const st_System *system, const st_Scene *scene, const char *measure, const char *name)
{
    for (int k = 0; k < st_scene_measure_count(scene); k++) {
        st_MeasureDef def;
        st_Error err = {0};
        double values[ST_MEASURE_VALUES];
        const char *own;
        int n = 0;
        assert_int_equal(st_scene_measure(scene, k, &def), ST_OK);
        if (strcmp(def.name, measure) != 0) continue;
        check_ok(st_system_measure(system, k, values, &n, &err), err);
        for (int i = 0; (own = st_measure_value_name(def.type, i, NULL)) != NULL; i++) {
            assert_true(i < n);
            if (strcmp(own, name) == 0) return values[i];
        }
    }
    fail_msg("there is no %s.%s", measure, name);
    return NAN;
}

/* After a step that fails, the forces of the step before are not known any more, and no measure shows 0 instead. */
static void test_forgotten(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(TOWER, NULL, &scene);
    st_Error err = {0};
    const st_Vec3 force = {0, 0, 1e30};
    steps(system, 5);
    assert_true(value(system, scene, "floor", "fz") < 0);
    check_ok(st_system_push(system, (st_BodyId){3, 0}, &force, NULL, &err), err);
    assert_int_equal(st_system_step(system, 1e-3, NULL, &err), ST_ERR_NUMERIC); /* beyond speed_limit */
    assert_true(isnan(value(system, scene, "floor", "fz")) && isnan(value(system, scene, "floor", "contacts")));
    assert_true(isnan(value(system, scene, "bulk", "coordination")) && isnan(value(system, scene, "bulk", "chain")));
    check_close(value(system, scene, "bulk", "number"), 3, 0);
    check_close(value(system, scene, "bulk", "temperature"), 0, 1e-12);
    check_ok(st_system_push(system, (st_BodyId){3, 0}, NULL, NULL, &err), err);
    steps(system, 1);
    assert_true(value(system, scene, "floor", "fz") < 0);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static void test_tower(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(TOWER, NULL, &scene);
    const double m = mass_of_ball(), V = 0.1 * 0.1 * 0.11;
    steps(system, 20);
#define VALUE(measure, name) value(system, scene, measure, name)
    check_close(VALUE("bulk", "number"), 3, 0);
    check_close(VALUE("bulk", "mass"), 3 * m, 1e-15);
    check_close(VALUE("bulk", "packing_fraction"), 4 * pi * r * r * r / V, 1e-12);
    /* contacts: with the floor, two in between; 1 + 2 + 2 ends at balls */
    check_close(VALUE("bulk", "coordination"), 5.0 / 3, 1e-12);
    /* they carry 3, 2 and 1 weights over r, 2 r and 2 r */
    check_close(VALUE("bulk", "stress_zz"), 9 * m * G * r / V, 1e-6 * 9 * m * G * r / V);
    check_close(VALUE("bulk", "pressure"), 3 * m * G * r / V, 1e-6 * 9 * m * G * r / V);
    check_close(VALUE("bulk", "stress_xx"), 0, 1e-9);
    check_close(VALUE("bulk", "stress_xz"), 0, 1e-9);
    check_close(VALUE("bulk", "force_mean"), 2 * m * G, 1e-6 * m * G);
    check_close(VALUE("bulk", "force_max"), 3 * m * G, 1e-6 * m * G);
    check_close(VALUE("bulk", "strong"), 1.0 / 3, 0);
    check_close(VALUE("bulk", "temperature"), 0, 1e-12);
    check_close(VALUE("only", "number"), 2, 0);
    check_close(VALUE("floor", "fz"), -3 * m * G, 1e-6 * m * G);
    check_close(VALUE("floor", "force"), 3 * m * G, 1e-6 * m * G);
    check_close(VALUE("floor", "contacts"), 1, 0);
    check_close(VALUE("floor", "tx"), 0, 1e-9);
    check_close(VALUE("on_a2", "fz"), -m * G, 1e-6 * m * G);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* A ball hangs from a ceiling by adhesion: the contact carries its weight in tension. */
static void test_tension(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(
        "{\"materials\": [{\"name\": \"glue\", \"adhesion\": 0.2}], \"ground\": [{\"type\": \"plane\", \"normal\": [0, "
        "0, "
        "-1], \"material\": \"glue\"}], \"bodies\": [{\"position\": [0, 0, -0.01], \"shapes\": [{\"type\": \"sphere\", "
        "\"radius\": 0.01, \"density\": 2000, \"material\": \"glue\"}]}], \"measures\": [{\"name\": \"bulk\", "
        "\"type\": "
        "\"bulk\", \"region\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}}, {\"name\": \"ceiling\", \"type\": "
        "\"wall\"}]}",
        NULL, &scene);
    const double m = mass_of_ball(), V = 1e-3;
    steps(system, 20);
    check_close(VALUE("bulk", "coordination"), 1, 0);
    check_close(VALUE("bulk", "force_max"), m * G, 1e-6 * m * G);
    check_close(VALUE("bulk", "stress_zz"), -m * G * r / V, 1e-6 * m * G * r / V);
    check_close(VALUE("bulk", "pressure"), -m * G * r / V / 3, 1e-6 * m * G * r / V);
    check_close(VALUE("ceiling", "fz"), -m * G, 1e-6 * m * G);
    check_close(VALUE("ceiling", "contacts"), 1, 0);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Two balls that fly apart from each other, both with the mean velocity: T = v^2/3, s_xx = 2 m v^2/V. */
static void test_temperature(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system =
        system_of("{\"simulation\": {\"gravity\": [0, 0, 0]}, \"bodies\": [{\"position\": [0.05, 0, 0], \"velocity\": "
                  "[0.3, 0.5, 0], " BALL "}, {\"position\": [-0.05, 0, 0], \"velocity\": [-0.1, 0.5, 0], " BALL
                  "}], \"measures\": [{\"name\": \"gas\", "
                  "\"type\": \"bulk\", \"region\": {\"type\": \"sphere\", \"radius\": 0.5}}]}",
                  NULL, &scene);
    const double V = 4.0 / 3 * pi * 0.125, m = mass_of_ball();
    steps(system, 1);
    check_close(VALUE("gas", "vx"), 0.1, 1e-12);
    check_close(VALUE("gas", "vy"), 0.5, 1e-12);
    check_close(VALUE("gas", "temperature"), 0.04 / 3, 1e-12);
    check_close(VALUE("gas", "stress_xx"), 2 * m * 0.04 / V, 1e-9);
    check_close(VALUE("gas", "coordination"), 0, 0);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* A true triaxial test: three smooth walls press on a sample with 2.2, 2.5 and 2.8 N until it is at rest. The walls
 * have these forces, and by the theorem of virial the mean stress of the whole sample is each force over the area it
 * presses on, for any arrangement of the grains. Two per cent are for the remaining motion, and for the residual of
 * a swept step. */
static void test_triaxial(void **state)
{
    (void)state;
    static const double force[3] = {2.2, 2.5, 2.8};
    static const char *const names[3] = {"stress_xx", "stress_yy", "stress_zz"}, *const along[3] = {"fx", "fy", "fz"};
    char text[6000];
    int n = snprintf(text, sizeof text, "{\"simulation\": {\"gravity\": [0, 0, 0]}, \"ground\": [");
    for (int k = 0; k < 3; k++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{\"type\": \"plane\", \"normal\": [%d, %d, %d], \"position\": [-0.025, -0.025, -0.025],"
                      "\"friction\": 0}",
                      k > 0 ? "," : "", k == 0, k == 1, k == 2);
    n += snprintf(text + n, sizeof text - (size_t)n, "], \"bodies\": [");
    for (int k = 0; k < 3; k++) /* 1 cm thick, and so large that they never leave a gap at the edges */
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{\"name\": \"w%d\", \"position\": [%g, %g, %g], \"mass\": 0.05, \"inertia\": 1e-5,"
                      "\"shapes\": [{\"type\": \"box\", \"size\": [%g, %g, %g], \"friction\": 0, \"groups\": [1],"
                      "\"touches\": [0]}]}",
                      k > 0 ? "," : "", k, 0.03 * (k == 0), 0.03 * (k == 1), 0.03 * (k == 2), k == 0 ? 0.01 : 0.15,
                      k == 1 ? 0.01 : 0.15, k == 2 ? 0.01 : 0.15);
    n += snprintf(text + n, sizeof text - (size_t)n, "], \"joints\": [");
    for (int k = 0; k < 3; k++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{\"type\": \"prismatic\", \"b\": \"w%d\", \"point\": [0, 0, 0], \"axis\": [%d, %d, %d],"
                      "\"motor\": {\"type\": \"speed\", \"target\": -0.2, \"max_force\": %g}}",
                      k > 0 ? "," : "", k, k == 0, k == 1, k == 2, force[k]);
    snprintf(
        text + n, sizeof text - (size_t)n,
        "], \"fills\": [{\"region\": {\"type\": \"box\", \"size\": [0.05, 0.05, 0.05]}, \"packing_fraction\": 0.42,"
        "\"arrangement\": \"dropped\", \"size\": {\"distribution\": \"uniform\", \"min\": 0.009, \"max\": 0.011},"
        "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.005, \"density\": 2500, \"friction\": 0.3}]}],"
        "\"measures\": [{\"name\": \"sample\", \"type\": \"bulk\", \"bodies\": \"grain_*\","
        "\"region\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}}, {\"name\": \"w0\", \"type\": \"wall\","
        "\"wall\": \"w0\"}, {\"name\": \"w1\", \"type\": \"wall\", \"wall\": \"w1\"},"
        "{\"name\": \"w2\", \"type\": \"wall\", \"wall\": \"w2\"}]}");
    st_Scene *scene;
    st_System *system = system_of(text, NULL, &scene);
    steps(system, 300);
    double size[3];
    for (int k = 0; k < 3; k++) {
        const char name[3] = {'w', (char)('0' + k), 0};
        st_Pose pose;
        assert_int_equal(st_system_pose(system, st_scene_find_body(scene, name), &pose), ST_OK);
        const double at[3] = {pose.p.x, pose.p.y, pose.p.z};
        size[k] = at[k] - 0.005 + 0.025;
        check_close(VALUE(name, along[k]), force[k], 0.02 * force[k]);
    }
    const double V = size[0] * size[1] * size[2];
    for (int k = 0; k < 3; k++)
        check_close(VALUE("sample", names[k]) * 1e-3 / V, force[k] * size[k] / V, 0.02 * force[k] * size[k] / V);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* A motor holds a plate on which a ball falls. The measure includes the impact: its sum over time is the weight of both
 * over the time and the momentum of the ball at the start. */
static void test_motor(void **state)
{
    (void)state;
    st_Scene *scene;
    const char *text =
        "{\"simulation\": {\"h\": 0.001}, \"bodies\": ["
        "{\"name\": \"plate\", \"mass\": 0.5, \"inertia\": 1e-3, \"shapes\": [{\"type\": \"box\", \"size\": "
        "[0.1, 0.1, 0.02]}]},"
        "{\"name\": \"ball\", \"position\": [0, 0, 0.05], \"velocity\": [0, 0, -1], " BALL "}],"
        "\"joints\": [{\"name\": \"lift\", \"type\": \"prismatic\", \"b\": \"plate\", \"axis\": [0, 0, 1],"
        "\"motor\": {\"type\": \"speed\", \"target\": 0}}],"
        "\"measures\": [{\"name\": \"force\", \"type\": \"motor\", \"joint\": \"lift\"}]}";
    st_System *system = system_of(text, NULL, &scene);
    double sum = 0, most = 0;
    for (int k = 0; k < 100; k++) {
        steps(system, 1);
        const double force = VALUE("force", "value");
        sum += 1e-3 * force;
        most = fmax(most, force);
    }
    check_close(sum, 0.1 * G * (0.5 + mass_of_ball()) + mass_of_ball(), 1e-9); /* residual of the solver */
    assert_true(most > G * (0.5 + mass_of_ball()) + 5); /* the impact: more than m_b (1 m/s) / h = 8 N */
    check_close(VALUE("force", "value"), G * (0.5 + mass_of_ball()), 1e-6);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Thrown up through a plane at 0.1 m with 2 m/s, and back: below, above from 0.057 s on, below again after 0.35 s. A
 * ball that an outlet takes has crossed before it goes. */
static void test_flow(void **state)
{
    (void)state;
    st_Scene *scene;
    st_Error err = {0};
    const char *text =
        "{\"simulation\": {\"h\": 0.001}, \"bodies\": [{\"velocity\": [0, 0, 2], " BALL "}], \"measures\": [{\"name\": "
        "\"up\", \"type\": \"flow\", \"region\": {\"type\": \"half-space\", \"position\": [0, 0, 0.1], \"normal\": [0, "
        "0, "
        "-1]}}, {\"name\": \"sink\", \"type\": \"flow\", \"region\": {\"type\": \"half-space\", \"position\": [0, 0, "
        "-0.1]}}], "
        "\"outlets\": [{\"region\": {\"type\": \"half-space\", \"position\": [0, 0, -0.1]}}]}";
    st_System *system = system_of(text, NULL, &scene), *other = NULL;
    steps(system, 50);
    check_close(VALUE("up", "mass"), 0, 0);
    steps(system, 20);
    check_close(VALUE("up", "mass"), mass_of_ball(), 1e-15);
    check_close(VALUE("up", "number"), 1, 0);
    check_ok(st_system_clone(system, &other, &err), err); /* totals are part of the state */
    assert_true(value(other, scene, "up", "number") == 1);
    st_system_destroy(other);
    steps(system, 300);
    check_close(VALUE("up", "number"), 0, 0);
    steps(system, 200);
    check_close(VALUE("sink", "mass"), mass_of_ball(), 1e-15);
    assert_false(st_system_present(system, (st_BodyId){1}));
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Balls on a cone of 30 degrees. */
static void test_repose(void **state)
{
    (void)state;
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_Error err = {0};
    st_SystemDef def = st_system_def();
    check_ok(st_scene_create(&scene, &err), err);
    check_Random random = {5};
    const double slope = tan(pi / 6), size = 0.002;
    for (int k = 0; k < 4000; k++) {
        st_BodyDef body = st_body_def();
        st_ShapeDef ball = st_sphere_def(size / 2);
        st_BodyId id;
        const double rho = 0.1 * sqrt(check_random(&random, 0, 1)), angle = check_random(&random, 0, 2 * pi);
        body.pose.p = (st_Vec3){1 + rho * cos(angle), rho * sin(angle), (0.1 - rho) * slope};
        body.gravity = 0;
        ball.mask = 0; /* nothing touches */
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        check_ok(st_scene_add_shape(scene, id, &ball, NULL, &err), err);
    }
    st_MeasureDef measure = st_measure_def(ST_MEASURE_REPOSE);
    measure.region.type = ST_REGION_CYLINDER;
    measure.region.pose.p = (st_Vec3){1, 0, 0.05};
    measure.region.radius = 0.2;
    measure.region.length = 0.1;
    measure.name = "heap";
    check_ok(st_scene_add_measure(scene, &measure, &err), err);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    check_close(VALUE("heap", "angle"), pi / 6, 0.02);
    check_close(VALUE("heap", "height"), 0.1 * slope + size / 2, 0.003);
    check_close(VALUE("heap", "radius"), 0.1, 0.001);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Frames have all values, tables and plots find them by name. */
static void test_recorded(void **state)
{
    (void)state;
    char path[] = "/tmp/test_measure_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    st_Scene *scene;
    st_Error err = {0};
    st_SystemDef def;
    st_scene_destroy(scene_of(TOWER, &def, NULL));
    st_System *system = system_of(TOWER, NULL, &scene);
    st_RecorderDef how = st_recorder_def();
    st_Recorder *recorder = NULL;
    st_Recording *recording = NULL;
    st_Columns *columns = NULL;
    st_StepInfo info = st_step_info();
    how.text = TOWER, how.length = strlen(TOWER), how.rate = 0;
    check_ok(st_recorder_open(path, &how, scene, &def, system, &recorder, &err), err);
    check_ok(st_recorder_add(recorder, system, &info, &err), err);
    for (int k = 0; k < 20; k++) {
        check_ok(st_system_step(system, 1e-3, &info, &err), err);
        check_ok(st_recorder_add(recorder, system, &info, &err), err);
    }
    check_ok(st_recorder_close(recorder, system, "finished", "", &err), err);
    check_ok(st_recording_open(path, &recording, &err), err);
    const st_RecordingInfo *is = st_recording_info(recording);
    double values[64];
    assert_int_equal(is->n_values, 19 + 19 + 8 + 8);
    check_ok(st_recording_measures(recording, is->n_frames - 1, values, &err), err);
    check_close(values[0], VALUE("bulk", "number"), 0);
    check_close(values[10], VALUE("bulk", "stress_zz"), 0);
    check_close(values[19 + 19 + 2], VALUE("floor", "fz"), 0);
    char *names = st_recording_curve_names(recording);
    assert_non_null(strstr(names, "on_a2. with fx fy fz force"));
    free(names);
    static const char *const curve[] = {"bulk.stress_zz", "floor.fz"};
    char svg[64];
    snprintf(svg, sizeof svg, "%s.svg", path);
    check_ok(st_recording_write_plot(recording, NULL, curve, 2, svg, &err), err);
    unlink(svg);
    check_ok(st_columns_create(scene, &columns, &err), err);
    double *row = calloc((size_t)st_columns_count(columns), sizeof *row);
    assert_non_null(row);
    check_ok(st_columns_values(columns, system, &info, row, &err), err);
    const int64_t at = st_columns_find(columns, "floor.fz");
    assert_true(at > 0);
    check_close(row[at], VALUE("floor", "fz"), 0);
    free(row);
    st_columns_destroy(columns);
    st_recording_close(recording);
    unlink(path);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

#define ONE(measure) "{\"bodies\": [{\"name\": \"a\", " BALL "}],\n \"measures\": [" measure "]}"

static void test_refusals(void **state)
{
    (void)state;
    check_no_system(ONE("{\"name\": \"m\", \"type\": \"wall\", \"wall\": \"b\"}"),
                    "measure \"m\": wall is \"b\", there is no body of that name");
    check_no_system(ONE("{\"name\": \"m\", \"type\": \"wall\", \"wall\": \"a\", \"shape\": \"foot\"}"),
                    "shape is \"foot\", body \"a\" has none of that name");
    check_no_system(ONE("{\"name\": \"m\", \"type\": \"bulk\", \"bodies\": \"b*\", \"region\": {\"type\": \"sphere\", "
                        "\"radius\": 1}}"),
                    "no moving body has such a name");
    check_no_system(ONE("{\"type\": \"bulk\", \"bodies\": \"b*\", \"region\": {\"type\": \"sphere\", \"radius\": 1}}"),
                    "measure \"measure1\": bodies is \"b*\"");
    check_refused(ONE("{\"type\": \"bulk\", \"region\": {\"type\": \"half-space\"}}"), 2, "half space");
    check_refused(ONE("{\"type\": \"bulk\"}"), 2, "\"region\" is missing");
    check_refused(ONE("{\"type\": \"stress\"}"), 2, "type is \"stress\"", "flow, bulk, wall, repose");
    check_refused(ONE("{\"type\": \"flow\", \"wall\": \"a\", \"region\": {\"type\": \"half-space\"}}"), 2,
                  "a flow measure has no key \"wall\"");
    check_refused(ONE("{\"name\": \"m\", \"type\": \"wall\"}, {\"name\": \"m\", \"type\": \"wall\"}"), 2, "used twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tower),     cmocka_unit_test(test_tension),  cmocka_unit_test(test_temperature),
        cmocka_unit_test(test_triaxial),  cmocka_unit_test(test_motor),    cmocka_unit_test(test_flow),
        cmocka_unit_test(test_repose),    cmocka_unit_test(test_recorded), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
