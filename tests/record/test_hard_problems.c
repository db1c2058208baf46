/* The hard set that is shipped, examples/problems/hard: `auto` solves every problem to 1e-8, by an independent
 * check. docs/problems.md describes the difficulty of each. */
#include "check.h"

#include <stiction/io.h>
#include <stiction/stiction.h>

static void solve_file(const char *path)
{
    st_ProblemFile *file = NULL;
    st_Error err = {0};
    check_ok(st_problem_file_read(path, &file, &err), err);
    double *r = calloc((size_t)file->n + 1, sizeof *r);
    assert_non_null(r);
    if (file->is_lcp) {
        st_LcpInfo info;
        st_LcpError judged;
        check_ok(st_lcp_solve(&file->lcp, 1e-8, r, &info, &err), err);
        check_ok(st_lcp_error(&file->lcp, r, NULL, &judged, &err), err);
        assert_int_equal(info.outcome, ST_LCP_SOLVED);
        check_below(judged.certified, 1e-8);
    } else {
        st_Friction *friction = NULL;
        st_Solver *solver = NULL;
        st_SolverDef def = st_solver_def();
        st_SolveInfo info;
        st_FrictionError judged;
        def.tolerance = 1e-8;
        def.all_errors = true;
        check_ok(st_friction_create(&file->friction, &friction, &err), err);
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_friction_solve(friction, solver, &(st_Solution){.r = r}, &info, &err), err);
        check_ok(st_friction_error(friction, r, NULL, NULL, &judged, &err), err);
        print_message("%s: %s, %d iterations, certified %.1e\n", path, info.solver, info.iterations, judged.certified);
        assert_true(info.converged);
        check_below(judged.certified, 1e-8);
        st_solver_destroy(solver);
        st_friction_destroy(friction);
    }
    free(r);
    st_problem_file_destroy(file);
}

static void test_chain(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/chain-60-1.hdf5");
}

static void test_mass_ratio(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/mass-ratio-60-1.hdf5");
}

static void test_redundant(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/redundant-30-1.hdf5");
}

static void test_stack(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/stack-20-1.hdf5");
}

/* The impulses at its foot are a million times those that stop the box there by itself: interior points must begin as
 * large as that. From smaller ones they ended at the border, and 60,000 iterations of all solvers at 1.5e-7. */
static void test_tall_stack(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/stack-160-1.hdf5");
}

/* Near the result of interior points the residual is small, and no solution is near: light boxes between heavy ones
 * turn by 1e-3 of the speed. newton with few steps per proximal problem stayed there, as did all other solvers. */
static void test_jammed_stack(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/stack-20-12.hdf5");
}

/* One turn of admm with 25,000 iterations, and all turns after it, did not solve it. Turns of admm that continue, with
 * newton in between, do. */
static void test_rubble(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/rubble-30-10.hdf5");
}

static void test_spheres(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/spheres-200-1.hdf5");
}

static void test_complementarity(void **state)
{
    (void)state;
    solve_file("examples/problems/hard/lcp-12-1.hdf5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),  cmocka_unit_test(test_mass_ratio), cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_stack),  cmocka_unit_test(test_tall_stack), cmocka_unit_test(test_jammed_stack),
        cmocka_unit_test(test_rubble), cmocka_unit_test(test_spheres),    cmocka_unit_test(test_complementarity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
