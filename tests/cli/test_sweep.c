/* stiction sweep: designs, results with known answers, and studies that are killed and resumed. */
#include "program.h"

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

/* A body in free flight without gravity: x = v t exactly, whatever the scheme. */
static const char flight[] = "{\"name\": \"flight\", \"simulation\": {\"h\": 0.01, \"end\": 1, \"gravity\": [0, 0, 0]},"
                             "\"bodies\": [{\"name\": \"ball\", \"mass\": 2, \"velocity\": [1, 0, 0],"
                             "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]}]}";

static const char *scene_file(Program *p)
{
    const char *path = in_folder(p, "flight.json");
    write_file(path, flight);
    return path;
}

static double at(json_t *runs, size_t run, const char *group, const char *name)
{
    json_t *value = json_object_get(json_object_get(json_array_get(runs, run), group), name);
    if (!json_is_number(value)) fail_msg("run %zu has no number %s/%s", run, group, name);
    return json_number_value(value);
}

/* Free flight: the end is v t; after each of n steps of h the mean of x is v (t + h)/2; the energy is m v^2/2. */
static void a_grid_has_all_combinations_and_exact_outputs(void **state)
{
    Program *p = *state;
    RUN(p, "sweep", scene_file(p), "--vary", "bodies/ball/velocity/0=1,2,4", "--vary", "bodies/ball/mass=1:3:3", "-y",
        "final:ball.x,max:ball.x,min:ball.x,mean:ball.x", "-y", "energy/end/kinetic", "-y", "steps", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p), *runs = json_object_get(root, "runs");
    assert_int_equal(json_array_size(runs), 9);
    const double speeds[] = {1, 2, 4};
    for (size_t k = 0; k < 9; k++) {
        const double v = speeds[k / 3], m = (double)(k % 3) + 1;
        assert_true(at(runs, k, "values", "bodies/ball/velocity/0") == v);
        assert_true(at(runs, k, "values", "bodies/ball/mass") == m);
        check_close(at(runs, k, "outputs", "final:ball.x"), v, 1e-12 * v); /* a hundred additions */
        check_close(at(runs, k, "outputs", "max:ball.x"), v, 1e-12 * v);
        assert_true(at(runs, k, "outputs", "min:ball.x") == 0);
        check_close(at(runs, k, "outputs", "mean:ball.x"), v * (1 + 0.01) / 2, 1e-12 * v);
        check_close(at(runs, k, "outputs", "energy/end/kinetic"), m * v * v / 2, 1e-12 * m * v * v);
        assert_true(at(runs, k, "outputs", "steps") == 100);
    }
    json_decref(root);
}

/* A Latin hypercube has one run in each of n equal parts of every range; :log cuts the logarithm. */
static void a_latin_hypercube_has_one_run_in_each_part(void **state)
{
    Program *p = *state;
    enum { N = 16 };
    double kept[2][N];
    for (int again = 0; again < 3; again++) {
        RUN(p, "sweep", scene_file(p), "--sample", "latin", "--runs", "16", "--seed", again < 2 ? "7" : "8", "--vary",
            "bodies/ball/velocity/0=2:10", "--vary", "bodies/ball/mass=0.01:100:log", "-y", "steps", "--json");
        check_status(p, 0);
        json_t *root = printed_json(p), *runs = json_object_get(root, "runs");
        int seen[2] = {0, 0}, same = 0;
        for (size_t k = 0; k < N; k++) {
            const double v = at(runs, k, "values", "bodies/ball/velocity/0"),
                         m = at(runs, k, "values", "bodies/ball/mass");
            seen[0] |= 1 << (int)((v - 2) / 8 * N);
            seen[1] |= 1 << (int)((log10(m) + 2) / 4 * N);
            same += again > 0 && v == kept[0][k] && m == kept[1][k];
            kept[0][k] = v, kept[1][k] = m;
        }
        assert_int_equal(seen[0], (1 << N) - 1);
        assert_int_equal(seen[1], (1 << N) - 1);
        if (again > 0) assert_int_equal(same, again == 1 ? N : 0); /* the same seed, another seed */
        json_decref(root);
    }
    RUN(p, "sweep", scene_file(p), "--sample", "random", "--runs", "20", "--vary", "bodies/ball/velocity/0=2:10",
        "--vary", "simulation/integrator=euler,implicit", "-y", "final:ball.x", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p), *runs = json_object_get(root, "runs");
    for (size_t k = 0; k < 20; k++) {
        const double v = at(runs, k, "values", "bodies/ball/velocity/0");
        assert_true(v >= 2 && v <= 10);
        check_close(at(runs, k, "outputs", "final:ball.x"), v, 1e-12 * v);
    }
    json_decref(root);
}

/* A file of values: quoted cells, empty lines, line ends of other systems; and the table it gives, as CSV and HDF5. */
static void values_come_from_a_file(void **state)
{
    Program *p = *state;
    const char *values = in_folder(p, "values.csv"), *table = in_folder(p, "table.csv"), *h5 = in_folder(p, "table.h5");
    char text[2000];
    write_file(values, "bodies/ball/velocity,\"simulation/end\"\r\n\"[3, 0, 0]\",2\r\n\r\n\"[0, 0, 5]\",1\n");
    RUN(p, "sweep", scene_file(p), "--set", "simulation/h=0.125", "--values", values, "-y", "final:ball.x,final:ball.z",
        "-o", table, "-q");
    check_status(p, 0);
    assert_string_equal(p->out, "");
    read_file(table, p->out);
    snprintf(text, sizeof text, "%.70s", p->out);
    assert_non_null(strstr(text, "run,bodies/ball/velocity,simulation/end,final:ball.x,final:ball.z,"));
    check_contains(p->out, "\n1,\"[3, 0, 0]\",2,6");
    check_contains(p->out, "\n2,\"[0, 0, 5]\",1,0,5");
    assert_int_equal(count_lines(p->out), 3);

    RUN(p, "sweep", scene_file(p), "--values", values, "-y", "final:ball.x", "-o", h5, "-q");
    check_status(p, 0);
    double x[2] = {0};
    const hid_t file = H5Fopen(h5, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const hid_t set = H5Dopen2(file, "final:ball.x", H5P_DEFAULT), end = H5Dopen2(file, "simulation/end", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    check_close(x[0], 6, 1e-11);
    check_close(x[1], 0, 1e-11);
    assert_true(H5Dread(end, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    assert_true(x[0] == 2 && x[1] == 1);
    assert_true(H5Lexists(file, "status", H5P_DEFAULT) > 0 && H5Lexists(file, "columns", H5P_DEFAULT) > 0);
    H5Dclose(set), H5Dclose(end), H5Fclose(file);
}

/* One run that is refused and one that diverges leave the others alone, and are in the table. */
static void runs_that_fail_are_reported(void **state)
{
    Program *p = *state;
    const char *table = in_folder(p, "table.csv");
    RUN(p, "sweep", scene_file(p), "--vary", "bodies/ball/mass=1,-1,2", "-y", "steps", "-o", table);
    check_status(p, 1);
    check_contains(p->out, "2 finished, 1 refused");
    check_contains(p->out, "run 2 refused");
    read_file(table, p->out);
    check_contains(p->out, "\n1,1,100,finished");
    check_contains(p->out, "\n2,-1,nan,refused");
    check_contains(p->out, "mass is -1");
    check_contains(p->out, "\n3,2,100,finished");
}

static void plots_are_drawn(void **state)
{
    Program *p = *state;
    const char *plot = in_folder(p, "plot.svg");
    RUN(p, "sweep", scene_file(p), "--vary", "bodies/ball/mass=1,2", "--vary", "bodies/ball/velocity/0=1:3:3", "-y",
        "final:ball.x,energy/end/total", "--plot", plot, "-x", "bodies/ball/velocity/0");
    check_status(p, 0);
    read_file(plot, p->out);
    check_contains(p->out, "<polyline");
    check_contains(p->out, "bodies/ball/mass=2"); /* a curve for each mass */
    check_contains(p->out, "energy/end/total");
    RUN(p, "sweep", scene_file(p), "--sample", "random", "--runs", "5", "--vary", "bodies/ball/mass=1:2", "--vary",
        "bodies/ball/velocity/0=1:3", "--plot", plot);
    check_status(p, 0);
    read_file(plot, p->out);
    check_contains(p->out, "<circle");
}

/* Wait until the journal has at least so many lines, or the program has ended. */
static void await_lines(Program *p, const char *journal, int lines, pid_t child)
{
    int status;
    for (int k = 0; k < PATIENCE_MS; k++) {
        read_file(journal, p->out);
        if (count_lines(p->out) >= lines || waitpid(child, &status, WNOHANG | WNOWAIT) == child) return;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    fail_msg("%s does not grow", journal);
}

/* After many kills the study ends with the same bytes as an undisturbed one; no run is done twice: each call reads
 * the journal, and the journal never has a run twice (it would be refused as damaged). */
static void a_study_that_is_killed_is_resumed(void **state)
{
    Program *p = *state;
    const bool full = getenv("ST_TEST_FULL") != NULL;
    const int n = full ? 1000 : 120, kills = full ? 12 : 4;
    const char *scene = scene_file(p), *whole = in_folder(p, "whole.csv"), *table = in_folder(p, "table.csv"),
               *journal = in_folder(p, "table.csv.partial");
    char runs[16], found[80];
    snprintf(runs, sizeof runs, "%d", n);
#define STUDY(file)                                                                                                    \
    "sweep", scene, "--sample", "latin", "--runs", runs, "--vary", "bodies/ball/velocity/0=1:3", "-y",                 \
        "final:ball.x,steps", "-j", "2", "-o", file
    RUN(p, STUDY(whole), "-q");
    check_status(p, 0);
    int done = 0, before = 0;
    for (int k = 0; k < kills; k++) {
        const char *const study[] = {STUDY(table), NULL};
        const pid_t child = start(p, study, out_file(p));
        await_lines(p, journal, done + 2 + n / (2 * kills), child);
        kill(child, SIGKILL);
        finish(p, child);
        assert_int_equal(p->status, -1); /* not yet at its end */
        snprintf(found, sizeof found, "%d of %d runs are done", before, n);
        if (before > 0) check_contains(p->err, found);
        read_file(journal, p->out);
        before = done = count_lines(p->out) - 1;
        assert_true(done > 0 && done < n);
        FILE *file = fopen(journal, "a"); /* a line that was cut off */
        fputs("7\tfini", file);
        fclose(file);
        /* processes of the killed one end with it; the lock is theirs until then */
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    RUN(p, STUDY(table), "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_int_equal(json_integer_value(json_object_get(root, "resumed")), done);
    assert_int_equal(json_integer_value(json_object_get(root, "finished")), n);
    json_decref(root);
    assert_int_equal(access(journal, F_OK), -1);
    read_file(whole, p->err);
    read_file(table, p->out);
    assert_int_equal(count_lines(p->out), n + 1);
    assert_string_equal(p->out, p->err);
#undef STUDY
}

/* As mpirun starts them: ranks 1 and 2 do their shares, rank 0 gathers. Rank 0 does the results of rank 2 that are
 * cut off, as after a kill: the table has the bytes of a study of one process. */
static void ranks_share_a_study(void **state)
{
    Program *p = *state;
    const char *scene = scene_file(p), *whole = in_folder(p, "whole.csv"), *table = in_folder(p, "table.csv");
    const char *const parts[] = {in_folder(p, "table.csv.partial-1"), in_folder(p, "table.csv.partial-2")};
#define STUDY(file)                                                                                                    \
    "sweep", scene, "--sample", "latin", "--runs", "20", "--vary", "bodies/ball/velocity/0=1:3", "-y", "final:ball.x", \
        "-o", file
    RUN(p, STUDY(whole), "-q");
    check_status(p, 0);
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    RUN(p, STUDY(table));
    check_status(p, 0);
    setenv("OMPI_COMM_WORLD_RANK", "2", 1);
    RUN(p, STUDY(table));
    check_status(p, 0);
    for (int k = 0; k < 2; k++) {
        read_file(parts[k], p->out);
        assert_int_equal(count_lines(p->out), 1 + (k == 0 ? 7 : 6)); /* of 0 to 19: 1, 4, ..., 19 and 2, 5, ..., 17 */
    }
    assert_int_equal(truncate(parts[1], (off_t)strlen(p->out) - 5), 0);
    assert_int_equal(access(table, F_OK), -1);
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    RUN(p, STUDY(table), "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_int_equal(json_integer_value(json_object_get(root, "finished")), 20);
    json_decref(root);
    read_file(whole, p->err);
    read_file(table, p->out);
    assert_string_equal(p->out, p->err);
    for (int k = 0; k < 2; k++)
        assert_int_equal(access(parts[k], F_OK), -1);
    RUN(p, "sweep", scene, "--vary", "bodies/ball/velocity/0=1,2");
    check_status(p, 2);
    check_contains(p->err, "3 processes share this study: -o is missing");
    setenv("OMPI_COMM_WORLD_RANK", "7", 1);
    RUN(p, STUDY(table));
    check_status(p, 2);
    check_contains(p->err, "OMPI_COMM_WORLD_RANK is 7");
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
#undef STUDY
}

/* SIGTERM keeps finished results; a different study is not mixed with them. */
static void results_of_another_study_are_refused(void **state)
{
    Program *p = *state;
    const char *scene = scene_file(p), *table = in_folder(p, "table.csv"), *journal = in_folder(p, "table.csv.partial");
    const char *const study[] = {"sweep", scene, "--vary", "bodies/ball/mass=1:2:400", "-y", "steps",
                                 "-o",    table, NULL};
    const pid_t child = start(p, study, out_file(p));
    await_lines(p, journal, 10, child);
    kill(child, SIGTERM);
    finish(p, child);
    check_status(p, 128 + SIGTERM);
    check_contains(p->err, "the same command continues");
    assert_int_equal(access(table, F_OK), -1);
    RUN(p, "sweep", scene, "--vary", "bodies/ball/mass=1:2:300", "-y", "steps", "-o", table);
    check_status(p, 2);
    check_contains(p->err, "has results of another study");
    RUN(p, "sweep", scene, "--vary", "bodies/ball/mass=1:2:3", "-y", "steps", "-o", table, "--fresh", "-q");
    check_status(p, 0);
    read_file(table, p->out);
    assert_string_equal(p->out, "run,bodies/ball/mass,steps,status,message\n1,1,100,finished,\n2,1.5,100,finished,\n"
                                "3,2,100,finished,\n");
    write_file(journal, "mine\n");
    RUN(p, "sweep", scene, "--vary", "bodies/ball/mass=1,2", "-o", table, "--fresh");
    check_status(p, 2);
    check_contains(p->err, "is not part of a parameter study");
    read_file(journal, p->out);
    assert_string_equal(p->out, "mine\n");
}

static void mistakes_are_refused_by_name(void **state)
{
    Program *p = *state;
    const char *scene = scene_file(p), *values = in_folder(p, "values.csv"), *table = in_folder(p, "table.csv");
#define REFUSED(message, ...)                                                                                          \
    do {                                                                                                               \
        RUN(p, "sweep", scene, __VA_ARGS__);                                                                           \
        check_status(p, 2);                                                                                            \
        check_contains(p->err, message);                                                                               \
    } while (0)
#define MASS "--vary", "bodies/ball/mass=1,2"
    REFUSED("nothing varies", "-q");
    REFUSED("must be PATH=VALUE", "--vary", "bodies/ball/mass");
    REFUSED("must be PATH=VALUE", "--vary", "bodies/ball/mass=");
    REFUSED("value 2 is empty", "--vary", "bodies/ball/mass=1,,3");
    REFUSED("needs the number of values", "--vary", "bodies/ball/mass=1:2");
    REFUSED("must be > 0", "--vary", "bodies/ball/mass=0:2:3:log");
    REFUSED("1 to 1000000", "--vary", "bodies/ball/mass=1:2:0");
    REFUSED("must be at most 1000000", "--vary", "bodies/ball/mass=1:2:2000", "--vary", "simulation/h=1:2:2000");
    REFUSED("given twice", MASS, MASS);
    REFUSED("no member \"bal\"", "--vary", "bodies/bal/mass=1,2");
    REFUSED("grid, random or latin", MASS, "--sample", "sobol");
    REFUSED("needs --runs", MASS, "--sample", "latin");
    REFUSED("a grid has as many", MASS, "--runs", "3");
    REFUSED("write LOW:HIGH here", "--vary", "bodies/ball/mass=1:2:3", "--sample", "random", "--runs", "3");
    REFUSED("no column \"ball.xx\", did you mean ball.x?", MASS, "-y", "max:ball.xx");
    REFUSED("no number in the result of a run (run --json) \"worst_gab\", did you mean worst_gap?", MASS, "-y",
            "worst_gab");
    REFUSED("given twice", MASS, "-y", "steps,steps");
    REFUSED("must end in .csv", MASS, "-o", in_folder(p, "table.txt"));
    REFUSED("is the scene itself", MASS, "-o", scene);
    REFUSED("-x is for the plot", MASS, "-x", "bodies/ball/mass");
    REFUSED("does not vary", MASS, "--plot", in_folder(p, "a.svg"), "-x", "simulation/h");
    REFUSED("are not numbers", "--vary", "simulation/integrator=euler,implicit", "--plot", in_folder(p, "a.svg"));
    REFUSED("cannot be read", "--values", in_folder(p, "none.csv"));
    write_file(values, "");
    REFUSED("title 1 is empty", "--values", values);
    write_file(values, "bodies/ball/mass\n");
    REFUSED("no line of values", "--values", values);
    write_file(values, "bodies/ball/mass,simulation/h\n1,0.1\n2\n");
    REFUSED("values.csv:3: has 1 values, must have 2", "--values", values);
    write_file(values, "bodies/ball/mass\n1\n\"2\n");
    REFUSED("values.csv:3: a quote is not closed", "--values", values);
    REFUSED("cannot be used with it", "--values", values, MASS);
    assert_int_equal(access(table, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_grid_has_all_combinations_and_exact_outputs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_latin_hypercube_has_one_run_in_each_part, setup, teardown),
        cmocka_unit_test_setup_teardown(values_come_from_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_that_fail_are_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(plots_are_drawn, setup, teardown),
        cmocka_unit_test_setup_teardown(a_study_that_is_killed_is_resumed, setup, teardown),
        cmocka_unit_test_setup_teardown(ranks_share_a_study, setup, teardown),
        cmocka_unit_test_setup_teardown(results_of_another_study_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_refused_by_name, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
