/* Curves of a recording by name: a lamp of 2 kg hangs welded to the ground, a block of 3 kg rests on a table,
 * another of 1 kg on it. The forces in the joint and the contacts are known. A fan and a top turn in place.
 */
#include "record/curves.h"

#include "check.h"
#include "draw/svg.h"

#include <string.h>
#include <unistd.h>

#define G       9.81
#define N_STEPS 20

static const char scene_text[] =
    "{ \"simulation\": { \"h\": 0.01, \"end\": 0.2 }, \"ground\": [{ \"type\": \"plane\" }], \"bodies\": [\n"
    "  { \"name\": \"lamp\", \"mass\": 2, \"inertia\": 1, \"position\": [5, 0, 3] },\n"
    "  { \"name\": \"lower\", \"position\": [0, 0, 0.5], \"mass\": 3, \"inertia\": 0.5, \"shapes\": [{ \"type\": "
    "\"box\", "
    "\"size\": [1, 1, 1] }] },\n"
    "  { \"name\": \"upper\", \"position\": [0, 0, 1.5], \"mass\": 1, \"inertia\": 0.2, \"shapes\": [{ \"type\": "
    "\"box\", "
    "\"size\": [1, 1, 1] }] },\n"
    "  { \"name\": \"fan\", \"mass\": 1, \"inertia\": 0.1, \"position\": [9, 0, 0], \"angular_velocity\": [0, 0, 2] "
    "},\n"
    "  { \"name\": \"top\", \"mass\": 1, \"inertia\": 0.1, \"position\": [8, 0, 0], \"angular_velocity\": [0, 0, -3] } "
    "],\n"
    "  \"joints\": [{ \"name\": \"cross\", \"type\": \"universal\", \"b\": \"fan\", \"point\": [9, 0, 0], \"axis\": "
    "[0, 1, 0], "
    "\"axis_b\": [0, 0, 1] },\n"
    "    { \"name\": \"socket\", \"type\": \"ball\", \"b\": \"top\", \"point\": [8, 0, 0], \"coordinate\": \"swing\" "
    "},\n"
    "    { \"name\": \"weld\", \"type\": \"fixed\", \"b\": \"lamp\", \"point\": [5.5, 0, 3] }] }";

static void record(const char *path)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_Recorder *recorder = NULL;
    st_SystemDef def;
    st_RecorderDef recorder_def = st_recorder_def();
    check_ok(st_scene_parse(scene_text, strlen(scene_text), "text", NULL, 0, &scene, &def, &err), err);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    recorder_def.rate = 0; /* every step */
    check_ok(st_recorder_open(path, &recorder_def, scene, &def, system, &recorder, &err), err);
    st_StepInfo info = st_step_info();
    for (int k = 0; k <= N_STEPS; k++) {
        if (k > 0) check_ok(st_system_step(system, def.h, &info, &err), err);
        check_ok(st_recorder_add(recorder, system, &info, &err), err);
    }
    check_ok(st_recorder_close(recorder, system, "finished", "", &err), err);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static void curves_have_the_forces(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit;
        double value;
    } expected[] = {{"weld.fz", "N", 2 * G},
                    {"weld.force", "N", 2 * G},
                    {"weld.torque", "N m", 2 * G * 0.5},
                    {"upper.fz", "N", G},
                    {"lower.fz", "N", 3 * G},
                    {"lower/upper.fz", "N", G},
                    {"upper/lower.fz", "N", -G},
                    {"ground/lower.fz", "N", 4 * G},
                    {"lower/ground.force", "N", 4 * G},
                    {"upper/ground.force", "N", 0},
                    {"lamp.x", "m", 5},
                    {"upper.speed", "m/s", 0},
                    {"cross.coordinate", "rad", 0},
                    {"cross.other", "rad", 2 * 0.2}, /* turns about its own axis of the cross */
                    {"cross.other_speed", "rad/s", 2},
                    {"socket.other", "rad", -3 * 0.2}, /* twists */
                    {"potential", "J", G * (6 + 1.5 + 1.5)}};
    const int n = (int)(sizeof expected / sizeof expected[0]);
    char path[] = "/tmp/stiction-curves-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    record(path);
    st_Error err = {0};
    st_Recording *recording = NULL;
    sti_Curve curve[17];
    double value[17][N_STEPS + 1], steps[N_STEPS + 1], frames[N_STEPS + 1];
    check_ok(st_recording_open(path, &recording, &err), err);
    const st_RecordingInfo *info = st_recording_info(recording);
    assert_int_equal(info->n_frames, N_STEPS + 1);
    for (int k = 0; k < n; k++) {
        check_ok(sti_curve_find(info, expected[k].name, &curve[k], &err), err);
        assert_string_equal(curve[k].unit, expected[k].unit);
        curve[k].value = value[k];
    }
    check_ok(sti_curves_read(recording, curve, n, steps, frames, &err), err);
    check_close(frames[N_STEPS], 0.2, 1e-12);
    for (int k = 0; k < n; k++) /* at rest from the first step on, to the solver's tolerance of 1e-9 */
        check_close(value[k][N_STEPS], expected[k].value, 1e-6);
    assert_true(isnan(value[3][0])); /* the start has no step, and so no force */
    static const char *const wrong[] = {"kinetc",        "lamp.a", "lamp/nobody.fz", "nobody.x",
                                        "lower/upper.x", ".",      "lamp."};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        assert_int_equal(sti_curve_find(info, wrong[k], &curve[0], &err), ST_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, wrong[k]));
        assert_non_null(strstr(err.message, "kinetic"));
        static const char *const ends[] = {"unexplained;", "speed;", "gear;", "rate"}; /* all of the lists fit */
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            if (strstr(err.message, ends[i]) == NULL) fail_msg("\"%s\" is not in: %s", ends[i], err.message);
    }
    char *names = st_recording_curve_names(recording);
    assert_non_null(names);
    assert_non_null(strstr(names, "lamp, lower, upper"));
    assert_non_null(strstr(names, "weld"));
    free(names);
    st_recording_close(recording);
    unlink(path);
}

static double over(const void *ctx, int sample)
{
    (void)ctx;
    return sample == 1 ? (double)NAN : 10.0 + sample;
}

static double height(const void *ctx, int curve, int sample)
{
    (void)ctx, (void)curve;
    return sample;
}

/* If the value of the horizontal axis is missing there is no point, also not at the edge of the picture. */
static void nothing_is_drawn_over_no_value(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    static const char *const colour[] = {"red"};
    assert_non_null(file);
    sti_Curves curves = {
        .n = 1, .samples = 4, .value = height, .time = over, .colour = colour, .dashed = -1, .title = ""};
    sti_svg_chart(file, (sti_Rect){100, 100, 300, 200}, &curves);
    assert_int_equal(fclose(file), 0);
    char *at = strstr(text, " points=\""), *after;
    assert_non_null(at);
    int n = 0;
    for (at += 9;; at = after, n++) {
        double x = strtod(at, &after);
        if (after == at) break;
        strtod(after, &after);
        if (!(x >= 99.9 && x <= 400.1)) fail_msg("a point at x = %g", x);
    }
    assert_int_equal(n, 3);
    free(text);
}

/* A damaged recording: the description of the scene lists objects that the frames do not have. */
static void what_frames_do_not_have_is_refused(void **state)
{
    (void)state;
    const st_RecordingInfo info = {.model = "{ \"bodies\": [{ \"name\": \"a\" }, { \"name\": \"b\" }], "
                                            "\"joints\": [{ \"name\": \"j\" }, { \"name\": \"k\" }] }",
                                   .n_bodies = 1,
                                   .n_joints = 1};
    sti_Curve curve;
    st_Error err = {0};
    check_ok(sti_curve_find(&info, "a.x", &curve, &err), err);
    check_ok(sti_curve_find(&info, "j.speed", &curve, &err), err);
    assert_int_equal(sti_curve_find(&info, "b.x", &curve, &err), ST_ERR_FORMAT);
    assert_non_null(strstr(err.message, "damaged"));
    assert_int_equal(sti_curve_find(&info, "k.speed", &curve, &err), ST_ERR_FORMAT);
}

/* Curves need no name. */
static void nameless_curves_are_drawn(void **state)
{
    (void)state;
    char path[] = "/tmp/stiction-loglog-XXXXXX";
    const double x[] = {0.1, 0.01}, y[] = {1, 0.1};
    const st_PlotCurve curve = {NULL, 2, x, y, false};
    st_Error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    check_ok(st_plot_loglog(path, NULL, NULL, NULL, &curve, 1, &err), err);
    unlink(path);
}

/* One curve over time: sin(2 pi f t) for t in [0, 1]. */
static double chart_time(const void *ctx, int sample)
{
    (void)ctx;
    return sample / 20000.0;
}

static double chart_sine(const void *ctx, int curve, int sample)
{
    (void)curve;
    return sin(6.283185307179586 * *(const double *)ctx * chart_time(ctx, sample));
}

/* 4 cycles over 640 pixels can be seen; 3,000 cannot: their range is drawn, from -1 to 1, and their mean, 0. */
static void fast_curves_are_drawn_as_mean_and_range(void **state)
{
    (void)state;
    const char *colour = "#000000";
    for (int fast = 0; fast < 2; fast++) {
        double f = fast ? 3000 : 4;
        sti_Curves curves = {.n = 1,
                             .samples = 20001,
                             .dashed = -1,
                             .colour = &colour,
                             .title = "",
                             .time = chart_time,
                             .value = chart_sine,
                             .ctx = &f};
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        sti_svg_chart(file, (sti_Rect){0, 0, 640, 190}, &curves);
        fclose(file);
        assert_int_equal(strstr(text, "<polygon") != NULL, fast);
        const char *line = strstr(text, "<polyline");
        assert_non_null(line);
        double x, y, low = INFINITY, high = -INFINITY;
        int used;
        line = strstr(line, "points=\"") + strlen("points=\"");
        while (sscanf(line, "%lf %lf %n", &x, &y, &used) == 2) {
            low = fmin(low, y);
            high = fmax(high, y);
            line += used;
        }
        if (fast) assert_true(high - low < 20);
        if (!fast) assert_true(high - low > 130);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_have_the_forces), cmocka_unit_test(nothing_is_drawn_over_no_value),
        cmocka_unit_test(what_frames_do_not_have_is_refused), cmocka_unit_test(nameless_curves_are_drawn),
        cmocka_unit_test(fast_curves_are_drawn_as_mean_and_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
