/* A problem that comes as W and b: the same answers as the step problem it was taken from, the same
 * manners, and the errors of problem files.                                                        */
#include "made_problem.h"
#include "reduce/reduce.h"

/* A random step problem with Coulomb contacts and a joint, and its W and b as a local problem. */
typedef struct Pair {
    Made *made;
    st_Problem step;
    st_LocalProblem local;
    double W[MAX_R * MAX_R], b[MAX_R], x[MAX_R * MAX_R];
    int i[MAX_R * MAX_R];
    int64_t p[MAX_R + 1];
} Pair;

static Pair *pair_new(check_Random *random)
{
    Pair *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    Made *m = pair->made = made_new();
    for (int k = 0; k < 4; k++)
        made_add_mass(m, 6, 1.0, random);
    made_add_joint(m, 3, 0, 1, random);
    for (int k = 0; k < 6; k++)
        made_add_contact(m, (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.4}, k % 4,
                         k < 3 ? -1 : (k + 1) % 4, random);
    for (int k = 0; k < m->n_v; k++)
        m->f[k] = check_random(random, -1.0, 1.0);
    pair->step = made_problem(m);

    const st_Allocator allocator = st_default_allocator();
    sti_Reduction *reduction = NULL;
    st_Error err = {0};
    assert_int_equal(sti_reduction_create(&allocator, &reduction, &err), ST_OK);
    assert_int_equal(sti_reduce(reduction, &pair->step, &err), ST_OK);
    sti_reduction_form_W(reduction, pair->W);
    const int n = m->n_r;
    memcpy(pair->b, reduction->b, sizeof(double) * (size_t)n);
    sti_reduction_destroy(reduction);
    made_pack_columns(pair->W, n, n, n, pair->p, pair->i, pair->x);
    pair->local = (st_LocalProblem){.n_r = n,
                                    .n_contacts = m->n_contacts,
                                    .W = {n, n, pair->p, pair->i, pair->x},
                                    .b = pair->b,
                                    .contact = m->contact};
    return pair;
}

static void pair_free(Pair *pair)
{
    free(pair->made);
    free(pair);
}

/* The same solver on both forms: the same velocities, as W is the same to rounding. */
static void test_both_forms_agree(void **state)
{
    (void)state;
    check_Random random = {7};
    st_SolverDef def = st_solver_def();
    def.tolerance = 1e-13;
    for (int k = 0; k < 20; k++) {
        Pair *pair = pair_new(&random);
        double r1[MAX_R], u1[MAX_R], r2[MAX_R], u2[MAX_R];
        st_Solver *solver = NULL;
        st_SolveInfo info1, info2;
        st_Error err = {0};
        assert_int_equal(st_solver_create(&def, &solver, &err), ST_OK);
        assert_int_equal(st_solver_solve(solver, &pair->step, &(st_Solution){.r = r1, .u = u1}, &info1, &err), ST_OK);
        assert_int_equal(st_solver_solve_local(solver, &pair->local, &(st_Solution){.r = r2, .u = u2}, &info2, &err),
                         ST_OK);
        assert_true(info1.converged && info2.converged);
        st_Residual crossed; /* the answer of one is judged good by the other form's judge */
        assert_int_equal(st_local_residual(&pair->local, r1, &crossed, &err), ST_OK);
        check_close(crossed.natural, 0.0, 1e-12); /* 1e-13, and the rounding of the reduction */
        assert_int_equal(st_problem_residual(&pair->step, r2, &crossed, &err), ST_OK);
        check_close(crossed.natural, 0.0, 1e-12);
        st_solver_destroy(solver);
        pair_free(pair);
    }
}

/* One contact whose numbers are worked out by hand: W = diag(2, 4, 4), b = (-1, 3, 0), mu = 1/2, r = 0.
 * u^ = (-1 + 3/2, 3, 0); r - u^ = (-1/2, -3, 0) projects to n = (-1/2 + 3/2)/(5/4) = 4/5, t = -2/5.
 * rho = 3/10 for both scaled measures: (-3/20, -9/10) projects to n = (-3/20 + 9/20)/(5/4) = 6/25, t = -3/25. */
static void test_errors_by_hand(void **state)
{
    (void)state;
    const int64_t p[] = {0, 1, 2, 3};
    const int i[] = {0, 1, 2};
    const double x[] = {2.0, 4.0, 4.0}, b[] = {-1.0, 3.0, 0.0}, r[] = {0.0, 0.0, 0.0};
    const st_ContactLaw contact = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5};
    const st_LocalProblem problem = {3, 1, {3, 3, p, i, x}, b, &contact};
    st_Residual residual;
    assert_int_equal(st_local_residual(&problem, r, &residual, NULL), ST_OK);
    check_close(residual.error, hypot(0.8, 0.4) / sqrt(10.0), 1e-15);
    check_close(residual.error_rho, hypot(0.24, 0.12) / (0.3 * sqrt(10.0)), 1e-15);
    check_close(residual.natural, residual.error_rho, 1e-15); /* one contact: the same rho */
}

/* An unscaled error can be a million times the scaled one; with all_errors the solver also reduces it. */
static void test_all_errors(void **state)
{
    (void)state;
    check_Random random = {11};
    Pair *pair = pair_new(&random);
    const int n = pair->local.n_r;
    for (int64_t e = 0; e < pair->p[n]; e++)
        pair->x[e] *= 1e-6;
    double r[MAX_R];
    st_SolverDef def = st_solver_def();
    def.tolerance = 1e-9;
    def.all_errors = true;
    st_Solver *solver = NULL;
    st_SolveInfo info;
    assert_int_equal(st_solver_create(&def, &solver, NULL), ST_OK);
    assert_int_equal(st_solver_solve_local(solver, &pair->local, &(st_Solution){.r = r}, &info, NULL), ST_OK);
    assert_true(info.converged);
    assert_true(info.residual.error <= 1e-9 && info.residual.error_rho <= 1e-9);
    st_Residual again;
    assert_int_equal(st_local_residual(&pair->local, r, &again, NULL), ST_OK);
    check_close(again.error, info.residual.error, 1e-12);
    st_solver_destroy(solver);
    pair_free(pair);
}

static void test_refusals(void **state)
{
    (void)state;
    int64_t p[] = {0, 1};
    int i[] = {0};
    double x[] = {1.0}, b[] = {-1.0};
    const st_ContactLaw contact = {.law = ST_LAW_FRICTIONLESS, .dim = 1};
    const st_LocalProblem good = {1, 1, {1, 1, p, i, x}, b, &contact};
    st_Error err = {0};
    assert_int_equal(st_local_check(&good, &err), ST_OK);
    x[0] = -1.0; /* one row is a complementarity problem, whose W may be anything; friction needs more */
    assert_int_equal(st_local_check(&good, &err), ST_OK);
    int64_t two_p[] = {0, 1, 2};
    int two_i[] = {0, 1};
    double two_x[] = {-1.0, 1.0}, two_b[] = {-1.0, 0.0};
    const st_ContactLaw rough = {.law = ST_LAW_COULOMB, .dim = 2, .mu = 0.5};
    const st_LocalProblem friction = {2, 1, {2, 2, two_p, two_i, two_x}, two_b, &rough};
    assert_int_equal(st_local_check(&friction, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "W(0, 0) is -1"));
    x[0] = NAN;
    assert_int_equal(st_local_check(&good, &err), ST_ERR_ARGUMENT);
    x[0] = 1.0;
    st_LocalProblem bad = good;
    bad.W.n_rows = 2;
    assert_int_equal(st_local_check(&bad, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "W is 2 x 1, must be 1 x 1"));
    assert_int_equal(st_local_check(NULL, &err), ST_ERR_ARGUMENT);
    /* nothing at all is a problem, too, and solved */
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    st_SolveInfo info;
    assert_int_equal(st_solver_create(&def, &solver, NULL), ST_OK);
    assert_int_equal(st_solver_solve_local(solver, &(st_LocalProblem){0}, &(st_Solution){0}, &info, &err), ST_OK);
    assert_true(info.converged);
    st_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_forms_agree),
        cmocka_unit_test(test_errors_by_hand),
        cmocka_unit_test(test_all_errors),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
