/* stiction run: its output, its files, and how it ends after a failure. */
#include "program.h"

#include <signal.h>

static const char *ball(Program *p)
{
    const char *path = in_folder(p, "drop.json");
    write_file(path, BALL_SCENE);
    return path;
}

static const char *const required[] = {"scene",
                                       "file",
                                       "preset",
                                       "choices",
                                       "h",
                                       "end",
                                       "time",
                                       "steps",
                                       "events",
                                       "wall_seconds",
                                       "cpu_seconds",
                                       "stage_seconds",
                                       "max_contacts",
                                       "worst_gap",
                                       "worst_joint_error",
                                       "worst_residual",
                                       "worst_joint_residual",
                                       "solver_failures",
                                       "energy",
                                       "status",
                                       "message",
                                       "bodies",
                                       "collisions",
                                       "momentum",
                                       "contacts",
                                       "joints"};

static void json_has_every_key(void **state)
{
    Program *p = *state;
    RUN(p, "run", ball(p), "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    for (size_t k = 0; k < sizeof required / sizeof required[0]; k++)
        if (json_object_get(root, required[k]) == NULL) fail_msg("no key \"%s\"", required[k]);
    assert_string_equal(text_of(root, "scene"), "drop");
    assert_string_equal(text_of(root, "status"), "finished");
    assert_string_equal(text_of(root, "preset"), "anitescu-potra-2002");
    json_t *choices = json_object_get(root, "choices");
    assert_string_equal(text_of(choices, "integrator"), "implicit");
    assert_string_equal(text_of(choices, "law"), "pyramid");
    assert_string_equal(text_of(choices, "drift"), "projection");
    assert_string_equal(text_of(choices, "events"), "collisions");
    json_decref(root);
}

/* A fall of 1 m: m g y at the start; the impact at sqrt(2/g), which steps of 0.01 s meet within one
 * step (implicit Euler falls h/2 ahead); rest on the table after it; half an m g of energy gone.     */
static void json_tells_the_fall(void **state)
{
    Program *p = *state;
    RUN(p, "run", ball(p), "--json");
    check_status(p, 0);
    json_t *root = printed_json(p), *energy = json_object_get(root, "energy");
    json_t *body = json_object_get(json_object_get(root, "bodies"), "ball");
    json_t *collision = json_array_get(json_object_get(root, "collisions"), 0);
    assert_int_equal((int)number_of(root, "events"), 1);
    assert_int_equal(json_array_size(json_object_get(root, "collisions")), 1);
    check_close(number_of(collision, "time"), sqrt(2 / 9.81), 0.01);
    assert_string_equal(text_of(collision, "a"), "ground");
    assert_string_equal(text_of(collision, "b"), "ball");
    check_close(number_of(root, "time"), 1, 1e-15); /* one rounding of 1 */
    check_close(number_of(json_object_get(energy, "start"), "total"), 2 * 9.81 * 1.5, 1e-13);
    check_close(number_of(json_object_get(energy, "end"), "total"), 2 * 9.81 * 0.5, 1e-9);
    check_close(json_number_value(json_array_get(json_object_get(body, "position"), 1)), 0.5, 1e-10);
    check_close(json_number_value(json_array_get(json_object_get(body, "orientation"), 0)), 1, 1e-15);
    assert_int_equal(json_array_size(json_object_get(body, "velocity")), 3);
    assert_int_equal(json_array_size(json_object_get(body, "angular_velocity")), 3);
    json_decref(root);
}

/* 100 full steps, one of them cut in two by the collision, and the rest that remains at the end. */
static void last_step_is_cut_and_no_sliver_is_made(void **state)
{
    Program *p = *state;
    RUN(p, "run", ball(p), "--json", "--set", "bodies/ball/position=[0,100,0]");
    json_t *root = printed_json(p);
    assert_int_equal((int)number_of(root, "steps"), 100); /* 100 times 0.01 is 1 only up to rounding */
    json_decref(root);
    RUN(p, "run", ball(p), "--json", "--set", "simulation/h=0.3");
    root = printed_json(p);
    check_close(number_of(root, "time"), 1, 1e-15);
    check_close(number_of(root, "h"), 0.3, 0);
    check_close(number_of(json_object_get(root, "choices"), "h"), 0.3, 0);
    json_decref(root);
}

static void summary_tells_what_happened(void **state)
{
    static const char *const words[] = {"drop",       "A ball falls", "anitescu-potra-2002",
                                        "collisions", "worst gap",    "worst residual",
                                        "energy",     "kinetic",      "wall",
                                        "CPU",        "solve",        "final state",
                                        "ball",       "finished"};
    Program *p = *state;
    RUN(p, "run", ball(p));
    check_status(p, 0);
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        check_contains(p->out, words[k]);
    assert_string_equal(p->err, ""); /* no progress line where stderr is no terminal */
    RUN(p, "run", ball(p), "--quiet");
    check_status(p, 0);
    assert_string_equal(p->out, "");
}

/* A ball 5 mm deep in the floor, and a door on a hinge with a velocity that the hinge does not allow. */
static void json_says_where_and_when(void **state)
{
    static const char scene[] =
        "{\"simulation\": {\"h\": 0.01, \"end\": 0.1}, \"ground\": [{\"type\": \"plane\"}], \"bodies\": ["
        "{\"name\": \"ball\", \"position\": [0, 0, 0.095], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, "
        "\"density\": 500}]}, {\"name\": \"door\", \"position\": [3, 0, 1], \"mass\": 1, \"inertia\": 1, "
        "\"velocity\": [0, 0.5, 0]}], \"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"b\": \"door\", "
        "\"point\": [2, 0, 1], \"axis\": [0, 0, 1]}]}";
    Program *p = *state;
    const char *path = in_folder(p, "where.json");
    write_file(path, scene);
    RUN(p, "run", path, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p), *pair = json_object_get(root, "worst_gap_bodies");
    assert_int_equal(json_array_size(pair), 2);
    assert_string_equal(json_string_value(json_array_get(pair, 0)), "ground");
    assert_string_equal(json_string_value(json_array_get(pair, 1)), "ball");
    assert_true(number_of(root, "worst_gap_time") <= 0.1);
    assert_string_equal(text_of(root, "worst_joint_error_joint"), "hinge");
    assert_string_equal(text_of(root, "start_jump_joint"), "hinge");
    assert_true(number_of(root, "worst_joint_residual_time") <= 0.1);
    assert_true(number_of(json_object_get(root, "energy"), "largest_increase_time") <= 0.1);
    json_decref(root);
}

static void same_bits_every_time(void **state)
{
    Program *p = *state;
    char hash[3][64];
    for (int k = 0; k < 3; k++) {
        RUN(p, "run", ball(p), "--json", "--threads", k < 2 ? "1" : "2"); /* large piles: test_threads */
        json_t *root = printed_json(p);
        snprintf(hash[k], sizeof hash[k], "%s", text_of(root, "state_hash"));
        json_decref(root);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_equal(hash[0], hash[2]);
}

static void table_and_picture_are_written(void **state)
{
    Program *p = *state;
    const char *table = in_folder(p, "t.csv"), *picture = in_folder(p, "t.svg");
    RUN(p, "run", ball(p), "-o", table, "--picture", picture, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    int steps = (int)number_of(root, "steps");
    json_decref(root);
    read_file(table, p->out);
    assert_int_equal(count_lines(p->out), 2 + steps); /* titles, the start, the steps */
    assert_int_equal(strncmp(p->out, "t,h,contacts,", 13), 0);
    read_file(picture, p->out);
    check_contains(p->out, "</svg>");
}

static void table_can_be_thinned(void **state)
{
    Program *p = *state;
    const char *table = in_folder(p, "t.csv"), *high = "bodies/ball/position=[0,100,0]";
    /* 100 steps of 0.01 s without a collision: the start, 30, 60, 90 and the last. */
    RUN(p, "run", ball(p), "-q", "--set", high, "-o", table, "--every", "30");
    check_status(p, 0);
    read_file(table, p->out);
    assert_int_equal(count_lines(p->out), 1 + 5);
    /* 20 lines per second: every fifth step, and the start. */
    RUN(p, "run", ball(p), "-q", "--set", high, "-o", table, "--rate=20");
    read_file(table, p->out);
    assert_int_equal(count_lines(p->out), 1 + 21);
}

/* "-" is standard input; messages name it, and its files are looked for in the current folder. */
static void a_scene_from_standard_input(void **state)
{
    Program *p = *state;
    const char *broken = in_folder(p, "broken.json"), *meshes = "examples/world/bracket.json";
    const char *const paths[] = {ball(p), broken, meshes};
    const int before = dup(STDIN_FILENO);
    write_file(broken, "{\"bodies\": [}");
    for (int k = 0; k < 3; k++) {
        const int file = open(paths[k], O_RDONLY);
        assert_true(file >= 0 && dup2(file, STDIN_FILENO) >= 0);
        close(file);
        RUN(p, "run", "-", "--json");
        check_status(p, k == 0 ? 0 : 2);
        if (k > 0) check_contains(p->err, k == 1 ? "-:1: not JSON" : "bracket.obj: could not be opened");
    }
    assert_null(strstr(p->err, "/dev/"));
    assert_true(dup2(before, STDIN_FILENO) >= 0);
    close(before);
}

static void examples_run_by_name(void **state)
{
    Program *p = *state;
    RUN(p, "run", "b_g20_implicit", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "scene"), "b_g20_implicit");
    json_decref(root);
}

/* Explicit at damping 100: every step multiplies the relative velocity by -9 (docs/methods.md 3). */
static void divergence_is_said_and_the_run_kept(void **state)
{
    Program *p = *state;
    const char *table = in_folder(p, "t.csv"), *picture = in_folder(p, "t.svg");
    RUN(p, "run", "b_g100_explicit", "--json", "-o", table, "--picture", picture);
    check_status(p, 1);
    assert_int_equal(count_lines(p->err), 1);
    check_contains(p->err, "diverged at step");
    check_contains(p->err, "body \"");
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "status"), "diverged");
    check_contains(text_of(root, "message"), "diverged at step");
    int steps = (int)number_of(root, "steps");
    assert_true(steps >= 8); /* |x2 - x1| > 1e6 takes nine steps of the reference */
    json_decref(root);
    read_file(table, p->out);
    assert_int_equal(count_lines(p->out), 2 + steps);
    assert_int_equal(p->out[strlen(p->out) - 1], '\n');
    read_file(picture, p->out);
    check_contains(p->out, "</svg>");
}

/* Starts a run, gives it time to write, then stops it by a signal. */
/* --log: how the run ended, quiet or not; a log that is another output is refused. */
static void the_log_says_how_it_ended(void **state)
{
    Program *p = *state;
    const char *log = in_folder(p, "run.log");
    char line[400] = "", last[400] = "";
    RUN(p, "run", "newtons-cradle", "-q", "--log", log, "--set", "simulation/end=0.5");
    check_status(p, 0);
    assert_string_equal(p->out, "");
    assert_string_equal(p->err, "");
    FILE *file = fopen(log, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        snprintf(last, sizeof last, "%s", line);
    fclose(file);
    check_contains(last, "finished at t = 0.5 s, ");
    RUN(p, "run", "newtons-cradle", "--log", in_folder(p, "a.csv"), "-o", in_folder(p, "a.csv"));
    check_status(p, 2);
    check_contains(p->err, "the same file");
    RUN(p, "run", "newtons-cradle", "--log", "/nowhere/run.log");
    check_status(p, 2);
    check_contains(p->err, "/nowhere/run.log");
}

/* The summary has the scheme, its step and the changed settings; check prints every setting. */
static void the_summary_tells_what_was_set(void **state)
{
    Program *p = *state;
    RUN(p, "run", "newtons-cradle", "--set", "simulation/end=0.01");
    check_status(p, 0);
    check_contains(p->out, "integrator ");
    check_contains(p->out, "end 0.01 s");
    assert_null(strstr(p->out, "patch_mass"));
    RUN(p, "run", "newtons-cradle", "--set", "simulation/end=0.01", "--set", "simulation/patch_mass=2");
    check_contains(p->out, "patch_mass 2 kg");
    RUN(p, "check", "newtons-cradle");
    check_contains(p->out, "patch_mass 1 kg");
}

/* Numbers that are rounding beside the others of their kind are 0: the slider's y was 1.2e-38 m. */
static void final_states_have_no_rounding(void **state)
{
    Program *p = *state;
    RUN(p, "run", "slider_crank", "--set", "simulation/preset=accurate", "--set", "simulation/end=0.05");
    check_status(p, 0);
    const char *final = strstr(p->out, "final state");
    assert_non_null(final);
    for (const char *e = final; (e = strstr(e, "e-")) != NULL; e += 2)
        assert_true(atoi(e + 2) < 15);
}

static void interrupted_by(Program *p, int number, int expected_status)
{
    const char *table = in_folder(p, "t.csv");
    const char *const arguments[] = {"run", ball(p), "--json", "-o", table, "--set", "simulation/end=1e7", NULL};
    struct timespec moment = {0, 20000000};
    struct stat info = {0};
    unlink(table);
    pid_t child = start(p, arguments, out_file(p));
    for (int k = 0; k < PATIENCE_MS / 20 && (stat(table, &info) != 0 || info.st_size < 20000); k++)
        nanosleep(&moment, NULL);
    assert_int_equal(kill(child, number), 0);
    finish(p, child);
    check_status(p, expected_status);
    assert_int_equal(count_lines(p->err), 1);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "status"), "interrupted");
    double time = number_of(root, "time");
    assert_true(time > 0 && time < 1e7);
    json_decref(root);
    /* The table is complete: its last line is the final state in the document. */
    FILE *file = fopen(table, "r");
    assert_non_null(file);
    fseek(file, -4000, SEEK_END);
    size_t n = fread(p->out, 1, TEXT_SIZE - 1, file);
    fclose(file);
    p->out[n] = '\0';
    assert_true(n > 1 && p->out[n - 1] == '\n');
    p->out[n - 1] = '\0';
    check_close(strtod(strrchr(p->out, '\n') + 1, NULL), time, 0);
}

static void interrupt_keeps_what_was_computed(void **state)
{
    interrupted_by(*state, SIGINT, 130);
    interrupted_by(*state, SIGTERM, 143);
}

static void full_disk_is_said(void **state)
{
    Program *p = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    RUN(p, "run", ball(p), "-o", "/dev/full");
    check_status(p, 1);
    check_contains(p->err, "/dev/full");
    check_contains(p->err, strerror(ENOSPC));
    assert_int_equal(count_lines(p->err), 1);
    check_contains(p->out, "failed");
    RUN(p, "run", ball(p), "--picture", "/dev/full");
    check_status(p, 1);
    check_contains(p->err, "/dev/full");
    const char *const arguments[] = {"run", ball(p), NULL};
    finish(p, start(p, arguments, open("/dev/full", O_WRONLY)));
    check_status(p, 1);
    check_contains(p->err, "standard output");
}

/* stiction run ... | head -1, if head ends before anything is written. */
static void closed_pipe_is_no_failure(void **state)
{
    Program *p = *state;
    int ends[2];
    const char *table = in_folder(p, "t.csv");
    const char *const arguments[] = {"run", ball(p), "-o", table, NULL};
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    finish(p, start(p, arguments, ends[1]));
    check_status(p, 0);
    assert_string_equal(p->err, "");
    read_file(table, p->out);
    assert_true(count_lines(p->out) > 100);
}

/* cat scene.json | stiction run /dev/stdin: the input can be read only once. */
static void scenes_come_from_pipes(void **state)
{
    Program *p = *state;
    const char *pipe = in_folder(p, "pipe"), *record = in_folder(p, "piped.h5");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    fflush(NULL);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        FILE *file = fopen(pipe, "w");
        _exit(file != NULL && fputs(BALL_SCENE, file) >= 0 && fclose(file) == 0 ? 0 : 1);
    }
    RUN(p, "run", pipe, "--json", "-o", record);
    kill(writer, SIGKILL); /* it waits for a reader that does not come */
    waitpid(writer, NULL, 0);
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "scene"), "drop");
    json_decref(root);
    RUN(p, "info", record, "--scene");
    assert_string_equal(p->out, BALL_SCENE);
}

/* Belts: a ball ends up rolling with its centre at 2/7 of the belt's speed, and one on a belt at rest stays. */
static void belts_run(void **state)
{
    static const char *const belt[] = {"ground/ball_belt/surface_velocity=[2, 0, 0]",
                                       "ground/ball_belt/surface_velocity=[0, 0, 0]"};
    Program *p = *state;
    for (int k = 0; k < 2; k++) {
        RUN(p, "run", "examples/world/conveyor.json", "--json", "--set", "simulation/end=2", "--set", belt[k]);
        check_status(p, 0);
        json_t *root = printed_json(p), *ball_body = json_object_get(json_object_get(root, "bodies"), "ball");
        const json_t *v = json_object_get(ball_body, "velocity");
        check_close(json_number_value(json_array_get(v, 0)), k == 0 ? 4.0 / 7 : 0, 1e-5);
        json_decref(root);
    }
    RUN(p, "check", "examples/world/conveyor.json", "--set", "ground/belt/surface_velocity=[1, 0]");
    check_status(p, 2);
    check_contains(p->err, "surface_velocity");
}

/* A rod turns by 0.75 rad per step on a ball joint. Without drift correction its joint opens more and more, which
 * the preset of the paper reports only. */
static void open_joints_fail_the_run(void **state)
{
    Program *p = *state;
    write_file(
        in_folder(p, "open.json"),
        "{\"simulation\": {\"preset\": \"anitescu-potra-1997\", \"h\": 0.001, \"end\": 0.05, \"gravity\": [0, 0, "
        "0]}, \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": 0.0833, \"position\": [0, 0, 0.5], "
        "\"velocity\": [375, 0, 0], \"angular_velocity\": [0, 750, 0]}], \"joints\": [{\"name\": \"pivot\", "
        "\"type\": \"ball\", \"b\": \"rod\", \"point\": [0, 0, 0]}]}");
    RUN(p, "run", in_folder(p, "open.json"));
    check_status(p, 3);
    check_contains(p->err, "joint \"pivot\"");
}

/* residual_limit: a run with unsolved steps has failed, with exit status 3; a looser limit accepts them. */
static void unsolved_steps_fail_the_run(void **state)
{
    Program *p = *state;
    RUN(p, "run", "wall", "--set", "simulation/end=0.2", "--set", "simulation/solver=nsgs", "--set",
        "simulation/max_iterations=1", "--set", "simulation/residual_limit=1e-9", "--json");
    check_status(p, 3);
    check_contains(p->err, "residual_limit = 1e-09");
    check_contains(p->err, "island 1");
    json_t *root = printed_json(p);
    assert_string_equal(json_string_value(json_object_get(root, "status")), "failed");
    assert_true(json_integer_value(json_object_get(root, "steps_above_limit")) > 0);
    json_decref(root);
    RUN(p, "run", "wall", "--set", "simulation/end=0.2", "--set", "simulation/solver=nsgs", "--set",
        "simulation/max_iterations=1", "--set", "simulation/residual_limit=1e3");
    check_status(p, 0);
    /* a tolerance of 1e-4 that the scene sets is not an error under a preset with a limit of 1e-6 */
    RUN(p, "run", "examples/toys/hourglass.json", "--set", "simulation/preset=exact", "--set", "simulation/end=0.035",
        "--quiet");
    check_status(p, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(json_has_every_key),
        TEST(json_tells_the_fall),
        TEST(last_step_is_cut_and_no_sliver_is_made),
        TEST(json_says_where_and_when),
        TEST(summary_tells_what_happened),
        TEST(same_bits_every_time),
        TEST(table_and_picture_are_written),
        TEST(table_can_be_thinned),
        TEST(a_scene_from_standard_input),
        TEST(examples_run_by_name),
        TEST(divergence_is_said_and_the_run_kept),
        TEST(the_log_says_how_it_ended),
        TEST(the_summary_tells_what_was_set),
        TEST(final_states_have_no_rounding),
        TEST(interrupt_keeps_what_was_computed),
        TEST(full_disk_is_said),
        TEST(closed_pipe_is_no_failure),
        TEST(scenes_come_from_pipes),
        TEST(belts_run),
        TEST(unsolved_steps_fail_the_run),
        TEST(open_joints_fail_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
