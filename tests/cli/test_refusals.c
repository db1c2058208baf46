/* Bad input: one line on stderr that names file, thing and value; exit status 2; no file touched. */
#include "program.h"

#define OLD "what was here before\n"

/* Refused by `run` with outputs, and by `check`; the message must contain `words`. */
static void refused(Program *p, const char *const *arguments, const char *const words[3])
{
    const char *table = in_folder(p, "old.csv"), *picture = in_folder(p, "old.svg");
    const char *full[MOST_ARGUMENTS] = {"run"};
    int n = 1;
    for (; arguments[n - 1] != NULL; n++)
        full[n] = arguments[n - 1];
    write_file(table, OLD);
    write_file(picture, OLD);
    for (int k = 0; k < 2; k++) {
        full[0] = k == 0 ? "run" : "check";
        full[n] = k == 0 ? "-o" : NULL;
        full[n + 1] = table;
        full[n + 2] = "--picture";
        full[n + 3] = picture;
        full[n + 4] = NULL;
        run_arguments(p, full);
        check_status(p, 2);
        assert_string_equal(p->out, "");
        if (count_lines(p->err) != 1) fail_msg("not one line: %s", p->err);
        for (int w = 0; w < 3 && words[w] != NULL; w++)
            check_contains(p->err, words[w]);
    }
    read_file(table, p->out);
    assert_string_equal(p->out, OLD);
    read_file(picture, p->out);
    assert_string_equal(p->out, OLD);
}

static void refused_scene(Program *p, const char *text, const char *w0, const char *w1, const char *w2)
{
    const char *scene = in_folder(p, "bad.json");
    write_file(scene, text);
    refused(p, (const char *const[]){scene, NULL}, (const char *const[3]){w0, w1, w2});
}

static void refused_set(Program *p, const char *set, const char *w0, const char *w1, const char *w2)
{
    const char *scene = in_folder(p, "good.json");
    write_file(scene, BALL_SCENE);
    refused(p, (const char *const[]){scene, "--set", set, NULL}, (const char *const[3]){w0, w1, w2});
}

#define SCENE(bodies, more) "{" BALL_SIMULATION BALL_TABLE "\"bodies\": [\n" bodies "\n]" more "}\n"
#define BODY(more)          "{ \"name\": \"ball\", \"position\": [0, 1, 0]" more " }"

static void scenes_that_are_no_scenes(void **state)
{
    Program *p = *state;
    refused_scene(p, "this is not JSON\n", "bad.json:1", NULL, NULL);
    refused_scene(p, "", "bad.json", NULL, NULL);
    refused_scene(p, "[1, 2]\n", "bad.json", NULL, NULL);
    refused_scene(p, "{\n\"simulation\": {\n", "bad.json:", NULL, NULL);
    refused_scene(p, SCENE(BODY(", \"mass\": NaN"), ""), "bad.json:", NULL, NULL);
    refused_scene(p, SCENE(BODY(", \"mas\": 1"), ""), "bad.json:4", "\"mas\"", "mass");
    refused_scene(p, SCENE(BODY(", \"mass\": \"heavy\""), ""), "bad.json:4", "mass", "heavy");
    refused_scene(p, SCENE(BODY(", \"mass\": -1, \"inertia\": 1"), ""), "bad.json:", "\"ball\"", "-1");
    refused_scene(p, SCENE(BALL_BODY ",\n" BALL_BODY, ""), "bad.json:", "\"ball\"", NULL);
    refused_scene(
        p,
        SCENE(BALL_BODY,
              ", \"joints\": [ { \"type\": \"ball\", \"a\": \"ball\", \"b\": \"nobody\", \"point\": [0, 0, 0] } ]"),
        "bad.json:", "\"nobody\"", NULL);
    /* No shape and no mass, and free to move. */
    refused_scene(p, SCENE(BODY(", \"locks\": [\"z\", \"rotation\"]"), ""), "bad.json:", "\"ball\"", "mass");
    /* A rigid body's principal moments: each at most the sum of the others. */
    refused_scene(p, SCENE(BODY(", \"mass\": 1, \"inertia\": [1, 1, 3]"), ""), "bad.json:", "\"ball\"", "inertia");
}

#define SHAPED(shape) SCENE(BODY(", \"shapes\": [\n" shape "]"), "")

static void shapes_that_are_no_solids(void **state)
{
    Program *p = *state;
    refused_scene(p, SHAPED("{\"type\": \"hull\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}"),
                  "bad.json:5", "shape 0 of body \"ball\"", "in a plane");
    refused_scene(p, SHAPED("{\"type\": \"hull\", \"points\": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]}"),
                  "bad.json:5", "shape 0 of body \"ball\"", "on a line");
    refused_scene(p, SHAPED("{\"type\": \"sphere\", \"radius\": 0}"), "bad.json:5", "radius is 0", NULL);
    refused_scene(p, SHAPED("{\"type\": \"box\", \"size\": [1, 0, 1]}"), "bad.json:5", "size[1] is 0", NULL);
    /* open, and with an edge of three triangles: a surface, but no volume to have a mass */
    refused_scene(p,
                  SHAPED("{\"type\": \"mesh\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "
                         "\"triangles\": [[0, 1, 2], [0, 1, 3]]}"),
                  "body \"ball\"", "2 triangles do not close a volume", "mass");
    refused_scene(p,
                  SHAPED("{\"type\": \"mesh\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0]], "
                         "\"triangles\": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [0, 1, 4]]}"),
                  "body \"ball\"", "5 triangles do not close a volume", NULL);
    refused_scene(p,
                  SHAPED("{\"type\": \"mesh\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
                         "\"triangles\": [[0, 1, 7]]}"),
                  "triangle 0", "point 7", "there are 3");
}

static void values_out_of_range(void **state)
{
    Program *p = *state;
    refused_set(p, "simulation/h=0", "good.json", "h", "0");
    refused_set(p, "simulation/h=-0.1", "good.json", "h", "-0.1");
    refused_set(p, "simulation/end=-1", "good.json", "end", "-1");
    refused_set(p, "simulation/preset=anitescu-potra-2003", "good.json", "anitescu-potra-2003", NULL);
    refused_set(p, "simulation/law=sticky", "good.json", "sticky", "coulomb");
    refused_set(p, "bodies/ball/mass=NaN", "mass", NULL, NULL);
    refused_set(p, "bodies/ball/mass=-1", "ball", "mass", "-1");
    refused_set(p, "bodies/bull/mass=1", "bull", NULL, NULL);
    refused_set(p, "nonsense", "nonsense", NULL, NULL);
}

static void files_that_cannot_be_read(void **state)
{
    Program *p = *state;
    refused(p, (const char *const[]){in_folder(p, "missing.json"), NULL}, (const char *const[3]){"missing.json"});
    refused(p, (const char *const[]){p->folder, NULL}, (const char *const[3]){p->folder});
}

/* Nothing may be written, and so nothing is run. */
static void outputs_that_cannot_be_written(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "drop.json"), *good = in_folder(p, "good.csv");
    struct stat info;
    write_file(scene, BALL_SCENE);
    RUN(p, "run", scene, "-o", good, "--set", "simulation/h=1e-20"); /* 1 + 1e-20 is 1 */
    check_status(p, 2);
    assert_int_equal(stat(good, &info), -1);
    RUN(p, "run", scene, "-o", in_folder(p, "no/such/folder.csv"));
    check_status(p, 2);
    check_contains(p->err, "no/such/folder.csv");
    RUN(p, "run", scene, "-o", p->folder);
    check_status(p, 2);
    check_contains(p->err, strerror(EISDIR));
    RUN(p, "run", scene, "-o", good, "--picture", in_folder(p, "no/such/folder.svg"));
    check_status(p, 2);
    assert_int_equal(stat(good, &info), -1); /* the table was not begun */
    RUN(p, "run", scene, "-o", scene);
    check_status(p, 2);
    RUN(p, "run", scene, "-o", good, "--picture", good);
    check_status(p, 2);
    read_file(scene, p->out);
    assert_string_equal(p->out, BALL_SCENE);
}

/* Exit status 2: nothing was touched. The log is checked last: without a terminal there is no /dev/tty. */
static void refused_runs_touch_nothing(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "drop.json");
    const char *kept[] = {in_folder(p, "keep.h5"), in_folder(p, "keep.csv"), in_folder(p, "keep.log")};
    const char *const impossible[][7] = {{"run", scene, "-o", kept[0], "--log", "/dev/tty", NULL},
                                         {"run", scene, "-o", kept[1], "--log", "/dev/tty", NULL},
                                         {"run", scene, "--log", kept[2], "-o", "/dev/tty", NULL}};
    write_file(scene, BALL_SCENE);
    write_file(kept[1], "t,h,old"); /* a table of ours, as it begins */
    write_file(kept[2], "old");
    RUN(p, "run", scene, "-o", kept[0], "--set", "simulation/end=0.01", "-q");
    check_status(p, 0);
    struct stat before = {0}, after = {0};
    assert_int_equal(stat(kept[0], &before), 0);
    for (int k = 0; k < 3; k++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setsid();
            pid_t program = start(p, impossible[k], out_file(p));
            int status = 0;
            _exit(waitpid(program, &status, 0) == program && WIFEXITED(status) ? WEXITSTATUS(status) : 99);
        }
        finish(p, child);
        check_status(p, 2);
        check_contains(p->err, "/dev/tty");
        for (int j = 1; j < 3; j++) {
            read_file(kept[j], p->out);
            assert_string_equal(p->out, j == 1 ? "t,h,old" : "old");
        }
        assert_int_equal(stat(kept[0], &after), 0);
        assert_true(after.st_ino == before.st_ino && after.st_size == before.st_size);
    }
}

static void usage_that_is_wrong(void **state)
{
    static const struct {
        const char *argument[6]; /* and NULL */
        const char *says;
    } cases[] = {{{"rnu", "x"}, "did you mean run"},
                 {{"--vresion"}, "--vresion"},
                 {{"run"}, "SCENE is missing"},
                 {{"run", "a", "b"}, "\"b\""},
                 {{"run", "a", "--sett=1"}, "did you mean --set"},
                 {{"run", "a", "-x"}, "-x"},
                 {{"run", "a", "-o"}, "needs a value"},
                 {{"run", "a", "--json=1"}, "takes no value"},
                 {{"run", "a", "--every", "0"}, "must be a whole number > 0"},
                 {{"run", "a", "--threads", "two"}, "--threads is \"two\", must be a whole number > 0"},
                 {{"run", "a", "--threads", "0"}, "must be a whole number > 0"},
                 {{"run", "wall", "--threads", "300"}, "threads is 300, must be from 1 to 256"},
                 {{"view", "a", "--threads", "2"}, "--threads is for a scene"},
                 {{"run", "wall", "-o", "a.mp4"}, "a.mp4: its name must end in .h5, .hdf5 or .csv; of a recording"},
                 {{"run", "wall", "--picture", "a.gif"}, "a.gif: its name must end in .svg, .png or .pdf"},
                 {{"extract", "wall", "-o", "a.csv"}, "a.csv: its name must end in .hdf5, .h5 or .hdf"},
                 {{"converge", "wall", "--plot", "a.tex"}, "a.tex: its name must end in .svg"},
                 {{"compare", "wall", "--plot", "a"}, "a: its name must end in .svg"},
                 {{"render", "a.h5", "-o", "film.avi"}, "film.avi: its name must end in .png, .jpg"},
                 {{"run", "a", "--rate", "fast"}, "must be a number > 0"},
                 {{"run", "a", "--picture", "x.svg", "--picture=y.svg"}, "--picture is given twice"},
                 {{"run", "a", "--every", "2", "--every=3"}, "--every is given twice"},
                 {{"plot", "a.h5", "-x", "kinetic"}, "-x needs curves to draw"},
                 {{"plot", "a.h5", "-ykinetic"}, "a.h5: cannot be read"}, /* the file is checked before the operation */
                 {{"render", "a.h5", "-ox.png", "--fps", "3"}, "--fps and --speed are for films"},
                 {{"render", "a.h5", "-ox.jpg", "--to", "3"}, "are for films"},
                 {{"render", "a.h5", "-ox.mp4", "--at", "3"}, "--at is for one picture"},
                 {{"render", "a.h5", "-oframes/", "--at", "3"}, "--at is for one picture"},
                 {{"schema", "x"}, "\"x\""},
                 {{"examples", "no-such-example"}, "no-such-example"}};
    Program *p = *state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        run_arguments(p, cases[k].argument);
        check_status(p, 2);
        assert_string_equal(p->out, "");
        assert_int_equal(count_lines(p->err), 1);
        check_contains(p->err, cases[k].says);
    }
}

static void check_json_says_why(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "good.json");
    write_file(scene, BALL_SCENE);
    RUN(p, "check", scene, "--json", "--set", "simulation/h=0");
    check_status(p, 2);
    json_t *root = printed_json(p);
    check_contains(text_of(root, "message"), "good.json");
    json_decref(root);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(scenes_that_are_no_scenes),
        TEST(shapes_that_are_no_solids),
        TEST(values_out_of_range),
        TEST(files_that_cannot_be_read),
        TEST(outputs_that_cannot_be_written),
        TEST(refused_runs_touch_nothing),
        TEST(usage_that_is_wrong),
        TEST(check_json_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
