/* Springs, measures and bodies that come and go, in columns, tables and curves. A weight of 2 kg hangs on a spring
 * at rest, a second one is absent, a door turns at 3 rad/s: all numbers are known. */
#include "record/curves.h"
#include "record/table_fixture.h"

#define G 9.81

static const char scene_text[] =
    "{ \"simulation\": { \"h\": 0.01 }, \"bodies\": [\n"
    "  { \"name\": \"weight\", \"mass\": 2, \"inertia\": 1, \"position\": [0, 0, 1] },\n"
    "  { \"name\": \"spare\", \"mass\": 1, \"inertia\": 1, \"position\": [4, 0, 0] },\n"
    "  { \"name\": \"door\", \"mass\": 1, \"inertia\": 1, \"position\": [9, 0, 0], \"angular_velocity\": [0, 0, 3] "
    "}],\n"
    "  \"springs\": [{ \"name\": \"rope\", \"type\": \"linear\", \"b\": \"weight\", \"point_a\": [0, 0, 3], "
    "\"point_b\": "
    "[0, 0, 1], \"rest\": 1.5, \"stiffness\": 39.24 }],\n" /* 0.5 m long it carries 2 g */
    "  \"joints\": [{ \"name\": \"hinge\", \"type\": \"revolute\", \"b\": \"door\", \"point\": [9, 0, 0], \"axis\": "
    "[0, 0, 1] }],\n"
    "  \"measures\": [{ \"name\": \"angle\", \"type\": \"coordinate\", \"joint\": \"hinge\" },\n"
    "    { \"name\": \"place\", \"type\": \"position\", \"body\": \"weight\" }] }";

static int setup(void **state)
{
    Fixture *f = table_fixture(state);
    st_Error err = {0};
    if (f == NULL) return -1;
    check_ok(st_scene_parse(scene_text, strlen(scene_text), "text", NULL, 0, &f->scene, &f->def, &err), err);
    check_ok(st_system_create(f->scene, &f->def, &f->system, &err), err);
    check_ok(st_system_remove_body(f->system, st_scene_find_body(f->scene, "spare"), &err), err);
    return 0;
}

/* After ten steps, 0.1 s. Rounding of a spring at rest: far below 1e-9. */
static const struct {
    const char *name;
    double value;
} expected[] = {{"rope.length", 2}, {"rope.rate", 0},     {"rope.force", 2 * G}, {"rope.fz", 2 * G},
                {"rope.tx", 0},     {"angle.value", 0.3}, {"place.x", 0},        {"place.z", 1},
                {"weight.z", 1},    {"hinge.speed", 3},   {"door.wz", 3}};
enum { N = sizeof expected / sizeof expected[0] };

static void columns_have_springs_and_measures(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    st_Columns *columns = NULL;
    for (int k = 0; k < 10; k++)
        check_ok(st_system_step(f->system, 0.01, &f->info, &err), err);
    check_ok(st_columns_create(f->scene, &columns, &err), err);
    const int64_t n = st_columns_count(columns);
    double *value = calloc((size_t)n, sizeof *value);
    assert_non_null(value);
    check_ok(st_columns_values(columns, f->system, &f->info, value, &err), err);
    for (int k = 0; k < N; k++) {
        const int64_t at = st_columns_find(columns, expected[k].name);
        char name[64];
        if (at < 0) fail_msg("there is no column %s", expected[k].name);
        check_close(value[at], expected[k].value, 1e-9);
        assert_int_equal(st_columns_name(columns, at, name, sizeof name), strlen(expected[k].name));
        assert_string_equal(name, expected[k].name);
        assert_int_equal(st_columns_name(columns, at, NULL, 0), strlen(expected[k].name));
    }
    assert_true(isnan(value[st_columns_find(columns, "spare.x")])); /* it is nowhere */
    static const char *const wrong[] = {"rope.forc", "rope", "rop.force", "rope_force", "angle.x", "", "spare.x.y"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_int_equal(st_columns_find(columns, wrong[k]), -1);
    assert_int_equal(st_columns_find(columns, NULL), -1);
    assert_int_equal(st_columns_find(NULL, "t"), -1);
    assert_int_equal(st_columns_name(columns, n, NULL, 0), 0);
    assert_int_equal(st_columns_name(columns, -1, NULL, 0), 0);
    assert_int_equal(st_columns_name(NULL, 0, NULL, 0), 0);
    assert_int_equal(st_columns_count(NULL), 0);
    free(value);
    st_columns_destroy(columns);
}

/* Values of a system of another scene: the first thing that it lacks is named. */
static void columns_of_another_system_are_refused(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    static const char *const kinds[] = {"body", "joint", "spring"};
    for (int k = 0; k < 3; k++) {
        st_Scene *more = NULL;
        st_Columns *columns = NULL;
        st_BodyDef body = st_body_def();
        st_JointDef joint = st_joint_def(ST_JOINT_BALL);
        st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
        body.mass = 1, body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        joint.b = spring.b = st_scene_find_body(f->scene, "weight"), spring.stiffness = 1, spring.point_b.x = 1;
        check_ok(st_scene_copy(f->scene, &more, &err), err);
        if (k == 0) check_ok(st_scene_add_body(more, &body, NULL, &err), err);
        if (k == 1) check_ok(st_scene_add_joint(more, &joint, NULL, &err), err);
        if (k == 2) check_ok(st_scene_add_spring(more, &spring, NULL, &err), err);
        check_ok(st_columns_create(more, &columns, &err), err);
        double *value = calloc((size_t)st_columns_count(columns), sizeof *value);
        assert_int_equal(st_columns_values(columns, f->system, &f->info, value, &err), ST_ERR_ARGUMENT);
        if (strstr(err.message, kinds[k]) == NULL) fail_msg("\"%s\" is not in: %s", kinds[k], err.message);
        assert_int_equal(st_columns_values(columns, NULL, &f->info, value, &err), ST_ERR_ARGUMENT);
        free(value);
        st_columns_destroy(columns);
        st_scene_destroy(more);
    }
    assert_int_equal(st_columns_create(NULL, NULL, &err), ST_ERR_ARGUMENT);
    st_columns_destroy(NULL);
}

static void record(Fixture *f, int steps)
{
    st_Error err = {0};
    st_Recorder *recorder = NULL;
    st_RecorderDef def = st_recorder_def();
    def.rate = 0;
    def.text = scene_text, def.length = strlen(scene_text);
    check_ok(st_recorder_open(f->path, &def, f->scene, &f->def, f->system, &recorder, &err), err);
    for (int k = 0; k <= steps; k++) {
        if (k > 0) check_ok(st_system_step(f->system, 0.01, &f->info, &err), err);
        check_ok(st_recorder_add(recorder, f->system, &f->info, &err), err);
    }
    check_ok(st_recorder_close(recorder, f->system, "finished", "", &err), err);
}

/* The number under a title in a line of a table. */
static double in_table(const char *titles, const char *line, const char *name)
{
    for (const size_t n = strlen(name);; titles++, line++) {
        if (strncmp(titles, name, n) == 0 && (titles[n] == ',' || titles[n] == '\n')) return strtod(line, NULL);
        titles = strchr(titles, ','), line = strchr(line, ',');
        if (titles == NULL || line == NULL) fail_msg("the table has no column %s", name);
    }
}

/* The same numbers from a recording: as curves, and in the table that it is exported to. */
static void recordings_have_springs_and_measures(void **state)
{
    enum { STEPS = 10, LINE = 8192 };
    Fixture *f = *state;
    st_Error err = {0};
    st_Recording *recording = NULL;
    sti_Curve curve[N];
    double value[N][STEPS + 1], steps[STEPS + 1], frames[STEPS + 1];
    char table[80], titles[LINE], line[LINE], end[8];
    record(f, STEPS);
    check_ok(st_recording_open(f->path, &recording, &err), err);
    const st_RecordingInfo *info = st_recording_info(recording);
    assert_true(info->n_springs == 1 && info->n_values == 4 && info->n_joints == 1);
    for (int k = 0; k < N; k++) {
        check_ok(sti_curve_find(info, expected[k].name, &curve[k], &err), err);
        curve[k].value = value[k];
    }
    assert_string_equal(curve[0].unit, "m");
    assert_string_equal(curve[2].unit, "N");
    check_ok(sti_curves_read(recording, curve, N, steps, frames, &err), err);
    for (int k = 0; k < N; k++)
        check_close(value[k][STEPS], expected[k].value, 1e-9);
    char *names = st_recording_curve_names(recording);
    assert_non_null(names);
    static const char *const lines[] = {"SPRING. with force length rate fx fy fz tx ty tz\n  rope\n",
                                        "angle. with value\n", "place. with x y z\n"};
    for (size_t k = 0; k < 3; k++)
        if (strstr(names, lines[k]) == NULL) fail_msg("\"%s\" is not in: %s", lines[k], names);
    free(names);

    snprintf(table, sizeof table, "%s.csv", f->path);
    check_ok(st_recording_write_csv(recording, table, &err), err);
    FILE *file = fopen(table, "r");
    assert_non_null(file);
    assert_non_null(fgets(titles, sizeof titles, file));
    assert_non_null(strstr(titles, "angle.value,place.x,place.y,place.z"));
    for (int k = 0; k <= STEPS; k++)
        assert_non_null(fgets(line, sizeof line, file));
    assert_null(fgets(end, sizeof end, file));
    fclose(file);
    for (int k = 0; k < N; k++)
        check_close(in_table(titles, line, expected[k].name), expected[k].value, 1e-9);
    check_close(in_table(titles, line, "weight.contact_fz"), 0, 0); /* a spring carries it */
    check_close(in_table(titles, line, "force_time"), 0.095, 1e-12);
    check_close(in_table(titles, line, "joint_residual"), 0, 1e-12);
    unlink(table);
    st_recording_close(recording);
}

/* The frames of a damaged recording have fewer springs or measures than its scene. */
static void springs_and_measures_that_frames_lack_are_refused(void **state)
{
    (void)state;
    const st_RecordingInfo info = {
        .model =
            "{ \"springs\": [{ \"name\": \"s\", \"type\": \"linear\" }, { \"name\": \"t\", \"type\": \"linear\" }], "
            "\"measures\": [{ \"name\": \"m\", \"type\": \"position\" }] }",
        .n_springs = 1,
        .n_values = 2};
    sti_Curve curve;
    st_Error err = {0};
    check_ok(sti_curve_find(&info, "s.force", &curve, &err), err);
    check_ok(sti_curve_find(&info, "m.y", &curve, &err), err);
    static const char *const lacking[] = {"t.force", "m.z"};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sti_curve_find(&info, lacking[k], &curve, &err), ST_ERR_FORMAT);
        assert_non_null(strstr(err.message, "damaged"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_have_springs_and_measures, setup, table_teardown),
        cmocka_unit_test_setup_teardown(columns_of_another_system_are_refused, setup, table_teardown),
        cmocka_unit_test_setup_teardown(recordings_have_springs_and_measures, setup, table_teardown),
        cmocka_unit_test(springs_and_measures_that_frames_lack_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
