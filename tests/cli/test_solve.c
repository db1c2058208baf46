/* stiction solve and stiction extract: one file, a folder, and everything that can be wrong with them. */
#include "program.h"

#include <math.h>
#include <stiction/io.h>
#include <sys/resource.h>

#define ROVER  "tests/data/problems/Rover1039.hdf5"
#define OBJECT "tests/data/problems/OneObject-i1028-138.hdf5"
#define SINGLE "tests/data/problems/FrictionContact3D_1c.hdf5"

static json_t *first_result(json_t *root)
{
    return json_array_get(json_object_get(root, "results"), 0);
}

static void keys_of_the_document(void **state)
{
    Program *p = *state;
    RUN(p, "solve", ROVER, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "problem"), ROVER);
    assert_string_equal(text_of(root, "kind"), "fc3d");
    assert_int_equal((int)number_of(root, "contacts"), 4);
    assert_int_equal((int)json_array_size(json_object_get(root, "results")), 1);
    json_t *result = first_result(root);
    assert_string_equal(text_of(result, "solver"), "auto");
    assert_string_equal(text_of(result, "status"), "solved");
    check_below(number_of(result, "error"), 1e-8);
    check_below(number_of(result, "error_rho"), 1e-8);
    assert_true(number_of(result, "iterations") >= 1);
    assert_true(number_of(result, "seconds") > 0);
    json_decref(root);
    RUN(p, "solve", ROVER, "--all", "--json", "--tolerance", "1e-10");
    root = printed_json(p);
    assert_true(json_array_size(json_object_get(root, "results")) >= 2);
    json_decref(root);
    RUN(p, "solve", ROVER);
    check_status(p, 0);
    check_contains(p->out, "error_rho");
    check_contains(p->out, "auto     solved");
}

/* Every kind, and the error it prints is that of the r it writes, judged here from the data of the file. */
static void answers_are_written_and_true(void **state)
{
    static const char *const names[] = {"Rover1039",
                                        "OneObject-i1028-138",
                                        "FrictionContactProblem00374",
                                        "CubeH8",
                                        "GFC3D_Example0",
                                        "RFC3D_cube_1",
                                        "lcp_CPS_1",
                                        "RCD_mlcp"};
    Program *p = *state;
    const char *out = in_folder(p, "solved.hdf5");
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char path[128];
        st_Error err = {0};
        st_ProblemFile *file = NULL;
        double error = 0;
        snprintf(path, sizeof path, "tests/data/problems/%s.hdf5", names[k]);
        RUN(p, "solve", path, "-o", out, "--json");
        check_status(p, 0);
        json_t *root = printed_json(p);
        check_ok(st_problem_file_read(out, &file, &err), err);
        assert_non_null(file->r);
        assert_non_null(file->u);
        assert_string_equal(file->kind, text_of(root, "kind"));
        if (file->is_lcp) {
            check_ok(st_lcp_residual(&file->lcp, file->r, &error, &err), err);
        } else {
            st_Friction *friction = NULL;
            st_FrictionError figures;
            check_ok(st_friction_create(&file->friction, &friction, &err), err);
            check_ok(st_friction_error(friction, file->r, NULL, NULL, &figures, &err), err);
            error = figures.error;
            st_friction_destroy(friction);
            if (file->friction.form == ST_FORM_GLOBAL) assert_non_null(file->v);
        }
        check_close(number_of(first_result(root), "error"), error, 1e-15);
        check_below(error, 1e-8);
        json_decref(root);
        st_problem_file_destroy(file);
    }
}

/* Statuses follow the error: nothing is called solved that is not. */
static void statuses_are_honest(void **state)
{
    Program *p = *state;
    RUN(p, "solve", OBJECT, "--all", "--json", "--tolerance", "1e-17", "--time-limit", "0.3");
    check_status(p, 1);
    json_t *root = printed_json(p), *result = NULL;
    size_t k = 0;
    json_array_foreach(json_object_get(root, "results"), k, result)
    {
        const bool solved = strcmp(text_of(result, "status"), "solved") == 0;
        assert_int_equal(solved, number_of(result, "error") <= 1e-17);
        check_below(number_of(result, "seconds"), 3); /* ten times the limit: iterations are not cut in two */
    }
    json_decref(root);
}

/* The time limit holds for the proof that there is no solution, too, which took 5.9 s here. */
static void proofs_have_a_time_limit(void **state)
{
    Program *p = *state;
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    RUN(p, "solve", "examples/problems/hard/spheres-200-1.hdf5", "--json", "--time-limit", "1e-6");
    getrusage(RUSAGE_CHILDREN, &after);
    check_status(p, 1);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(first_result(root), "status"), "time-limit");
    json_decref(root);
    const double seconds = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    check_below(seconds, 3); /* 0.05 s in a plain build */
}

/* ------------------------------------------------------------------ made-up problems */

static void write_local(const char *path, const double *w, const double *q)
{
    int64_t p[4] = {0, 3, 6, 9};
    int i[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    const double mu[] = {0.5};
    st_Error err = {0};
    st_ProblemFile file = {0};
    file.friction = (st_FrictionProblem){.dim = 3, .n_contacts = 1, .W = {3, 3, p, i, w}, .q = q, .mu = mu};
    check_ok(st_problem_file_write(path, &file, &err), err);
}

static void not_semidefinite_is_said(void **state)
{
    Program *p = *state;
    const char *path = in_folder(p, "indefinite.hdf5");
    const double w[] = {1, 0, 0, 0, 1, 3, 0, 3, 1}, q[] = {-1, 0, 0}; /* eigenvalues 1, 4, -2 */
    write_local(path, w, q);
    RUN(p, "solve", path);
    check_status(p, 2);
    check_contains(p->err, path);
    check_contains(p->err, "W is not positive semi-definite");
    check_contains(p->err, "-0.5");
    RUN(p, "solve", path, "--force");
    check_status(p, 0); /* r = (1, 0, 0) still solves it */
    check_contains(p->out, "tried anyway");
}

static void no_solution_is_said(void **state)
{
    Program *p = *state;
    const char *path = in_folder(p, "impossible.hdf5");
    const double w[] = {0, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-1, 0, 0}; /* u_n = -1 whatever r is */
    write_local(path, w, q);
    RUN(p, "solve", path, "--json", "--time-limit", "1");
    check_status(p, 1);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(first_result(root), "status"), "no-solution");
    check_contains(text_of(first_result(root), "message"), "no solution");
    json_decref(root);
    /* an LCP without one: w = -z - 1 */
    const int64_t columns[] = {0, 1};
    const int rows[] = {0};
    const double m[] = {-1}, minus[] = {-1};
    st_Error err = {0};
    st_ProblemFile file = {.is_lcp = true, .lcp = {.n = 1, .M = {1, 1, columns, rows, m}, .q = minus}};
    check_ok(st_problem_file_write(path, &file, &err), err);
    RUN(p, "solve", path, "--json");
    check_status(p, 1);
    root = printed_json(p);
    assert_string_equal(text_of(first_result(root), "status"), "no-solution");
    json_decref(root);
}

static void refusals(void **state)
{
    Program *p = *state;
    const char *text = in_folder(p, "text.hdf5"), *out = in_folder(p, "out.hdf5");
    write_file(text, "no HDF5");
    RUN(p, "solve", text);
    check_status(p, 2);
    check_contains(p->err, "text.hdf5: is not an HDF5 file");
    RUN(p, "solve", in_folder(p, "none.hdf5"));
    check_status(p, 2);
    check_contains(p->err, "none.hdf5");
    RUN(p, "solve", ROVER, "--solver", "nsgz");
    check_status(p, 2);
    check_contains(p->err, "did you mean nsgs?");
    RUN(p, "solve", ROVER, "--solver", "nsgs", "--all");
    check_status(p, 2);
    RUN(p, "solve", ROVER, "--tolerance", "-1");
    check_status(p, 2);
    RUN(p, "solve", ROVER, "-o", in_folder(p, "no/folder.hdf5"));
    check_status(p, 2);
    RUN(p, "solve", ROVER, "--plot", out);
    check_status(p, 2);
    check_contains(p->err, "--plot is for folders");
    RUN(p, "solve", p->folder, "-o", out);
    check_status(p, 2);
    RUN(p, "solve", OBJECT, "--parameter", "border");
    check_contains(p->err, "must be NAME=NUMBER");
    RUN(p, "solve", OBJECT, "--parameter", "ipm.bordr=1");
    check_contains(p->err, "no parameter \"ipm.bordr\"");
    RUN(p, "solve", OBJECT, "--solver", "ipm", "--parameter", "border=7");
    check_contains(p->err, "must be from 0.1");
    RUN(p, "solve", p->folder, "--history", "/dev/null");
    check_contains(p->err, "--history is for one file");
    RUN(p, "solve", "tests/data/problems/lcp_CPS_1.hdf5", "--determine");
    check_status(p, 2);
    check_contains(p->err, "--determine is for friction problems");
    RUN(p, "solve", p->folder, "--determine");
    check_status(p, 2);
    check_contains(p->err, "--determine on a folder needs --json");
    RUN(p, "solve", ROVER, "--solver", "lemke"); /* it does not support cones: reported, not a failure */
    check_status(p, 1);
    check_contains(p->out, "not-taken");
    /* one bad file among others does not end a folder */
    char command[256];
    snprintf(command, sizeof command, "cp " ROVER " %s/a.hdf5", p->folder);
    assert_int_equal(system(command), 0);
    RUN(p, "solve", p->folder);
    check_status(p, 2);
    check_contains(p->err, "text.hdf5");
    check_contains(p->out, "a.hdf5");
    check_contains(p->out, "1/1");
}

static void a_folder_ends_with_profiles(void **state)
{
    Program *p = *state;
    const char *plot = in_folder(p, "profile.svg");
    RUN(p, "solve", "tests/data/problems", "--all", "--plot", plot, "--time-limit", "2");
    check_status(p, 0);
    check_contains(p->out, "fc3d, 3 problems: share solved within a factor of the best time");
    check_contains(p->out, "all kinds, 9 problems");
    read_file(plot, p->out);
    check_contains(p->out, "<svg");
    check_contains(p->out, "<polyline");
    check_contains(p->out, ">auto<");
    RUN(p, "solve", "tests/data/problems", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_int_equal((int)json_array_size(json_object_get(root, "problems")), 9);
    assert_true(json_array_size(json_object_get(root, "profiles")) >= 7); /* six kinds, and all */
    json_decref(root);
    RUN(p, "solve", "src");
    check_status(p, 2);
    check_contains(p->err, "no problem files");
}

static void determined_forces_are_told(void **state)
{
    Program *p = *state;
    const char *out = in_folder(p, "least.hdf5");
    RUN(p, "solve", OBJECT, "--determine", "--tolerance", "1e-10", "-o", out);
    check_status(p, 0);
    check_contains(p->out, "hyperstatic"); /* one object on 23 contacts */
    RUN(p, "solve", SINGLE, "--determine", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p), *determined = json_object_get(root, "determined");
    assert_non_null(determined);
    assert_int_equal((int)json_array_size(json_object_get(determined, "components")), 3);
    json_decref(root);
    /* The solution of least norm is no longer than the solver's, and still solves the problem. */
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    st_Friction *friction = NULL;
    st_FrictionError error;
    check_ok(st_problem_file_read(out, &file, &err), err);
    check_ok(st_friction_create(&file->friction, &friction, &err), err);
    check_ok(st_friction_error(friction, file->r, NULL, NULL, &error, &err), err);
    check_below(error.error, 1e-5); /* W is known to 1e-4 only: u moves by the part of it that is not symmetric */
    st_friction_destroy(friction);
    st_problem_file_destroy(file);
}

/* ------------------------------------------------------------------ extract */

#define BARS "bars_A0_mu0.15_g10"

static void a_step_can_be_taken_out(void **state)
{
    Program *p = *state;
    const char *out = in_folder(p, "step.hdf5");
    RUN(p, "extract", BARS, "--at", "0.3", "-o", out);
    check_status(p, 0);
    check_contains(p->out, "local form"); /* a spring has no place in the global one */
    RUN(p, "solve", out, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "kind"), "fc2d");
    json_decref(root);
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    check_ok(st_problem_file_read(out, &file, &err), err);
    assert_non_null(file->r);
    assert_true(file->r[0] > 0); /* the foot does not slip */
    st_problem_file_destroy(file);
    RUN(p, "extract", BARS, "--at", "99", "-o", out);
    check_status(p, 1);
    check_contains(p->err, "no step begins");
    RUN(p, "extract", BARS, "--at", "-1", "-o", out);
    check_status(p, 2);
    RUN(p, "extract", BARS);
    check_status(p, 2);
    check_contains(p->err, "-o FILE.hdf5 is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_of_the_document, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_are_written_and_true, setup, teardown),
        cmocka_unit_test_setup_teardown(statuses_are_honest, setup, teardown),
        cmocka_unit_test_setup_teardown(proofs_have_a_time_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(not_semidefinite_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(no_solution_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_ends_with_profiles, setup, teardown),
        cmocka_unit_test_setup_teardown(determined_forces_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_step_can_be_taken_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
