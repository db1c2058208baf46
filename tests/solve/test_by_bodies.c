/* Newton's step in the bodies' velocities (by_bodies.h) solves the same equation as with the W of the reduction; and
 * newton finds the same solution with both. */
#include "bodies.h"
#include "check.h"
#include "reduce/reduce.h"
#include "solve/body_space_newton.h"

static const st_ContactLaw coulomb = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.6};

/* Contacts of all sorts: open (A = I, B = 0), sticking (A = 0, B = rho I), and anything between. */
static void make_slopes(check_Random *random, double A[9], double B[9], double F[3], double soft[3])
{
    const int sort = check_random_int(random, 0, 2);
    for (int i = 0; i < 3; i++) {
        F[i] = check_random(random, -1, 1);
        soft[i] = check_random(random, 1e-5, 1e-3);
        for (int k = 0; k < 3; k++) {
            A[3 * i + k] = i == k ? (sort == 0 ? 1.0 : sort == 1 ? 0.0 : 0.5) : 0.0;
            B[3 * i + k] = sort == 0 ? 0.0 : i == k ? 1.0 : sort == 2 ? check_random(random, -0.2, 0.2) : 0.0;
        }
    }
}

static void test_solves_the_equation(void **state)
{
    (void)state;
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    check_Random random = {7};
    Bodies bodies = bodies_new(64, 1024);
    bodies_wall(&bodies, 6, coulomb);
    const st_Problem problem = bodies_problem(&bodies);
    sti_Reduction *reduction = NULL;
    check_ok(sti_reduction_create(&allocator, &reduction, &err), err);
    check_ok(sti_reduce(reduction, &problem, &err), err);
    assert_non_null(reduction->graph);
    const size_t n = (size_t)problem.n_r, nc = (size_t)problem.n_contacts;
    double *A = calloc(9 * nc, sizeof *A), *B = calloc(9 * nc, sizeof *B), *F = calloc(n, sizeof *F);
    double *soft = calloc(n, sizeof *soft), *d = calloc(n, sizeof *d), *W_d = calloc(n, sizeof *W_d);
    double *u = calloc(n, sizeof *u), *v = calloc((size_t)problem.n_v, sizeof *v);
    sti_ByBodies by_bodies = {.allocator = allocator};
    check_ok(sti_by_bodies_begin(&by_bodies, reduction->graph, reduction->serial, &err), err);
    for (int c = 0; c < problem.n_contacts; c++) {
        const ptrdiff_t first = problem.contact[c].first;
        make_slopes(&random, A + 9 * (ptrdiff_t)c, B + 9 * (ptrdiff_t)c, F + first, soft + first);
        sti_by_bodies_set(&by_bodies, c, A + 9 * (ptrdiff_t)c, B + 9 * (ptrdiff_t)c, F + first, soft + first);
    }
    check_ok(sti_by_bodies_step(&by_bodies, true, d, W_d, &err), err);
    check_ok(sti_reduction_columns(reduction, &err), err);
    sti_reduction_apply(reduction, d, v, u);
    for (int c = 0; c < problem.n_contacts; c++)
        for (int i = 0; i < 3; i++) {
            const int first = problem.contact[c].first;
            double left = 0;
            /* d is about 1/soft, and W d its difference: 1e5 roundings */
            check_close(W_d[first + i], u[first + i] - reduction->b[first + i], 1e-8);
            for (int k = 0; k < 3; k++)
                left += A[9 * c + 3 * i + k] * d[first + k] +
                        B[9 * c + 3 * i + k] * (W_d[first + k] + soft[first + k] * d[first + k]);
            check_close(left, -F[first + i], 1e-9);
        }
    sti_by_bodies_release(&by_bodies);
    sti_reduction_destroy(reduction);
    bodies_free(&bodies);
    free(A), free(B), free(F), free(soft), free(d), free(W_d), free(u), free(v);
}

/* A problem marked as nonsymmetric has no graph, and is solved by W. If everything sticks the velocities are unique. */
static void test_same_wall_either_way(void **state)
{
    (void)state;
    double v[2][6 * 64] = {{0}};
    int n_v = 0;
    for (int way = 0; way < 2; way++) {
        st_Error err = {0};
        Bodies bodies = bodies_new(64, 1024);
        bodies_wall(&bodies, 5, coulomb);
        st_Problem problem = bodies_problem(&bodies);
        if (way == 1) problem.symmetric = false; /* no graph */
        st_SolverDef def = st_solver_def();
        st_Solver *solver = NULL;
        st_SolveInfo info;
        double *r = calloc((size_t)problem.n_r, sizeof *r);
        def.name = "newton";
        def.tolerance = 1e-11;
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_solver_solve(solver, &problem, &(st_Solution){.r = r, .v = v[way]}, &info, &err), err);
        assert_true(info.converged);
        n_v = problem.n_v;
        st_solver_destroy(solver);
        bodies_free(&bodies);
        free(r);
    }
    for (int i = 0; i < n_v; i++)
        check_close(v[0][i], v[1][i], 1e-9); /* the tolerance over W's least eigenvalue */
}

/* The impulses of an impact that is over may be a start that is wrong by a factor. On the ray of a solution the energy
 * 1/2 r'W r + b'r is least at the solution, because r'u = 0 where nothing slides. */
static void test_start_that_is_a_multiple_of_the_solution(void **state)
{
    (void)state;
    st_Error err = {0};
    Bodies bodies = bodies_new(128, 1024);
    bodies_wall(&bodies, 12, coulomb);
    const st_Problem problem = bodies_problem(&bodies);
    double *r = calloc((size_t)problem.n_r, sizeof *r), *v = calloc((size_t)problem.n_v, sizeof *v);
    st_SolverDef def = st_solver_def();
    def.tolerance = 1e-9;
    for (int again = 0; again < 2; again++) {
        st_Solver *solver = NULL;
        st_SolveInfo info;
        def.warm_start = again == 1;
        def.effort = again == 1 ? ST_EFFORT_BALANCED : ST_EFFORT_THOROUGH;
        for (int j = 0; j < problem.n_r; j++)
            r[j] *= 50.0;
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_solver_solve(solver, &problem, &(st_Solution){.r = r, .v = v}, &info, &err), err);
        assert_true(info.residual.natural < 1e-7); /* that of the solution, over W's least eigenvalue */
        if (again == 1) assert_int_equal(info.iterations, 0);
        st_solver_destroy(solver);
    }
    bodies_free(&bodies);
    free(r), free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves_the_equation),
        cmocka_unit_test(test_same_wall_either_way),
        cmocka_unit_test(test_start_that_is_a_multiple_of_the_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
