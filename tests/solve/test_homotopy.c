/* The rounded laws (smooth.h) and the solver that follows them to their corners. */
#include "backwards.h"
#include "problem/smoothed_laws.h"
#include "reduce/alart_curnier.h"

static const st_ContactLaw laws[] = {
    {.law = ST_LAW_FRICTIONLESS, .dim = 1},
    {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -0.3, .hi = 0.7},
    {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -0.3, .hi = INFINITY},
    {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -INFINITY, .hi = 0.7},
    {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -INFINITY, .hi = INFINITY},
    {.law = ST_LAW_COULOMB, .dim = 2, .mu = 0.6},
    {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.6},
    {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.0},
    {.law = ST_LAW_COULOMB, .dim = 5, .mu = 0.6, .mu_roll = 0.1},
    {.law = ST_LAW_COULOMB, .dim = 4, .mu = 0.6, .mu_spin = 0.2},
    {.law = ST_LAW_COULOMB, .dim = 6, .mu = 0.6, .mu_roll = 0.1, .mu_spin = 0.2},
    {.law = ST_LAW_PYRAMID, .dim = 2, .mu = 0.6, .facets = 2},
    {.law = ST_LAW_BOX, .dim = 3, .mu = 0.6},
};
enum { N_LAWS = sizeof laws / sizeof laws[0] };

typedef struct Point {
    double r[ST_MAX_DIM], u[ST_MAX_DIM], rho[ST_MAX_DIM];
} Point;

static Point random_point(check_Random *random, int dim)
{
    Point p = {0};
    const double normal = check_random(random, 0.5, 2.0), tangent = check_random(random, 0.5, 2.0);
    const double roll = check_random(random, 5.0, 20.0);
    for (int k = 0; k < dim; k++) {
        p.r[k] = check_random(random, -1.0, 1.0);
        p.u[k] = check_random(random, -1.0, 1.0);
        p.rho[k] = k == 0 ? normal : k < 3 ? tangent : roll;
    }
    return p;
}

/* A, B and N agree with central differences of F. */
static void test_slopes(void **state)
{
    (void)state;
    check_Random random = {3};
    const double h = 1e-6;
    for (int k = 0; k < 60 * N_LAWS; k++) {
        const st_ContactLaw *law = &laws[k % N_LAWS];
        const int dim = law->dim;
        const Point p = random_point(&random, dim);
        const double nu = pow(10.0, check_random(&random, -1.5, 1.0));
        double F[ST_MAX_DIM], A[ST_MAX_DIM * ST_MAX_DIM], B[ST_MAX_DIM * ST_MAX_DIM], N[ST_MAX_DIM], left[ST_MAX_DIM],
            right[ST_MAX_DIM], work[ST_MAX_DIM * ST_MAX_DIM], work2[ST_MAX_DIM * ST_MAX_DIM], work3[ST_MAX_DIM];
        sti_smooth(law, p.r, p.u, p.rho, nu, F, A, B, N);
        for (int j = 0; j <= 2 * dim; j++) { /* r, then u, then nu */
            Point a = p, b = p;
            double nu_a = nu, nu_b = nu;
            if (j == 2 * dim) {
                nu_a -= h;
                nu_b += h;
            } else {
                (j < dim ? a.r : a.u)[j % dim] -= h;
                (j < dim ? b.r : b.u)[j % dim] += h;
            }
            sti_smooth(law, a.r, a.u, p.rho, nu_a, left, work, work2, work3);
            sti_smooth(law, b.r, b.u, p.rho, nu_b, right, work, work2, work3);
            for (int i = 0; i < dim; i++) {
                const double slope = j == 2 * dim ? N[i] : (j < dim ? A : B)[i * dim + j % dim];
                /* h^2 times a third derivative of up to (rho/nu)^2 ~ 4e5, and rounding/h */
                check_close(slope, (right[i] - left[i]) / (2.0 * h), 1e-5 * (1.0 + fabs(slope)));
            }
        }
    }
}

/* Rounded by nu: F is off the law's own by no more than a few nu, and by nothing in the limit. */
static void test_corners(void **state)
{
    (void)state;
    check_Random random = {4};
    for (int k = 0; k < 100 * N_LAWS; k++) {
        const st_ContactLaw *law = &laws[k % N_LAWS];
        const Point p = random_point(&random, law->dim);
        double F[ST_MAX_DIM], A[ST_MAX_DIM * ST_MAX_DIM], B[ST_MAX_DIM * ST_MAX_DIM], N[ST_MAX_DIM], sharp[ST_MAX_DIM];
        sti_slope(law, p.r, p.u, p.rho, sharp, NULL, NULL);
        for (double nu = 1e-2; nu > 1e-9; nu *= 0.1) {
            sti_smooth(law, p.r, p.u, p.rho, nu, F, A, B, N);
            for (int i = 0; i < law->dim; i++) /* max p(x) - max(0, x) = nu sqrt(rho), and two such in a row */
                check_close(F[i], sharp[i], 10.0 * nu);
        }
    }
}

/* Where F = 0: r_n u_n = nu^2, and friction is viscous, u_T = -2 nu^2 r_T/(R^2 - r_T^2), inside the cone. */
static void test_rounded_law(void **state)
{
    (void)state;
    const st_ContactLaw law = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5};
    const double nu = 0.3, r[3] = {1.2, 0.2, -0.4}, rho[3] = {0.7, 1.9, 1.9};
    const double gap = 0.36 - 0.2, u[3] = {0.09 / 1.2, -0.18 * 0.2 / gap, 0.18 * 0.4 / gap};
    double F[ST_MAX_DIM], A[ST_MAX_DIM * ST_MAX_DIM], B[ST_MAX_DIM * ST_MAX_DIM], N[ST_MAX_DIM];
    sti_smooth(&law, r, u, rho, nu, F, A, B, N);
    for (int i = 0; i < 3; i++)
        check_close(F[i], 0.0, 1e-14);
}

/* One that newton is stuck at, 40 contacts at rank 0.45: a fold lies on the way. */
static void test_goes_round_folds(void **state)
{
    (void)state;
    const BackwardsKind kind = {
        .dim = 3, .n_contacts = 40, .rank = 0.45, .sparse = false, .mu_most = 0.8, .law = ST_LAW_COULOMB};
    check_Random random = {63 * 7919 + 13};
    Backwards m = backwards_new(&kind, &random);
    const st_LocalProblem problem = backwards_problem(&m);
    double *r = calloc((size_t)m.n, sizeof *r);
    const char *names[] = {"newton", "homotopy"};
    for (int k = 0; k < 2; k++) {
        st_SolverDef def = st_solver_def();
        st_Solver *solver = NULL;
        st_SolveInfo info;
        st_Error err = {0};
        def.name = names[k];
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_solver_solve_local(solver, &problem, &(st_Solution){.r = r}, &info, &err), err);
        assert_int_equal(info.converged, k == 1);
        st_solver_destroy(solver);
    }
    free(r);
    backwards_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_rounded_law),
        cmocka_unit_test(test_goes_round_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
