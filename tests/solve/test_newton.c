/* newton, ipm, admm: the derivative they rest on by differences, and problems with known answers. */
#include "backwards.h"
#include "problem/law.h"
#include "reduce/alart_curnier.h"

static const st_ContactLaw laws[] = {
    {.law = ST_LAW_FRICTIONLESS, .dim = 1},
    {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -0.4, .hi = 0.7},
    {.law = ST_LAW_COULOMB, .dim = 2, .mu = 0.6},
    {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.6},
    {.law = ST_LAW_COULOMB, .dim = 5, .mu = 0.6, .mu_roll = 0.2},
    {.law = ST_LAW_COULOMB, .dim = 4, .mu = 0.6, .mu_spin = 0.2},
    {.law = ST_LAW_COULOMB, .dim = 6, .mu = 0.6, .mu_roll = 0.2, .mu_spin = 0.1},
    {.law = ST_LAW_CONE, .dim = 2, .mu = 0.6},
    {.law = ST_LAW_CONE, .dim = 4, .mu = 0.6, .mu_spin = 0.2},
    {.law = ST_LAW_CONE, .dim = 6, .mu = 0.6, .mu_roll = 0.2, .mu_spin = 0.1},
    {.law = ST_LAW_CONE, .dim = 3, .mu = 0.6},
    {.law = ST_LAW_CONE, .dim = 5, .mu = 0.6, .mu_roll = 0.2},
    {.law = ST_LAW_PYRAMID, .dim = 3, .mu = 0.6, .facets = 2},
    {.law = ST_LAW_PYRAMID, .dim = 3, .mu = 0.6, .facets = 6},
    {.law = ST_LAW_BOX, .dim = 3, .mu = 0.6},
};
enum { N_LAWS = sizeof laws / sizeof laws[0] };

/* A and B against central differences. Both ends of a difference may lie on different sides of a kink; at random
 * points that is rare, and then the difference is wrong by order 1: at most 2 in 100 may be.        */
static void test_slope_by_differences(void **state)
{
    (void)state;
    check_Random random = {4};
    const double h = 1e-6, rho[ST_MAX_DIM] = {0.8, 0.8, 0.8, 0.8, 0.8, 0.8};
    for (int l = 0; l < N_LAWS; l++) {
        const int dim = laws[l].dim;
        int wrong = 0;
        for (int k = 0; k < 200; k++) {
            double r[ST_MAX_DIM], u[ST_MAX_DIM], F[ST_MAX_DIM], A[ST_MAX_DIM * ST_MAX_DIM], B[ST_MAX_DIM * ST_MAX_DIM],
                plus[ST_MAX_DIM], minus[ST_MAX_DIM];
            bool bad = false;
            for (int i = 0; i < dim; i++) {
                r[i] = check_random(&random, -1.0, 1.0) + (i == 0 ? 0.5 : 0.0);
                u[i] = check_random(&random, -1.0, 1.0);
            }
            sti_slope(&laws[l], r, u, rho, F, A, B);
            for (int i = 0; i < 2 * dim; i++) {
                double *x = i < dim ? &r[i] : &u[i - dim];
                const double *exact = i < dim ? A : B, at = *x;
                *x = at + h;
                sti_slope(&laws[l], r, u, rho, plus, NULL, NULL);
                *x = at - h;
                sti_slope(&laws[l], r, u, rho, minus, NULL, NULL);
                *x = at;
                for (int j = 0; j < dim; j++) /* h^2 and eps/h: 1e-10, curvature up to 1e3 near the axis */
                    bad = bad || fabs((plus[j] - minus[j]) / (2.0 * h) - exact[j * dim + i % dim]) > 1e-6;
            }
            wrong += bad;
        }
        if (wrong > 4) fail_msg("law %d: %d of 200 derivatives differ", l, wrong);
    }
}

/* F = 0 where the judge's natural map is 0, and only there: drawn solutions, and the same moved. */
static void test_same_zeros_as_the_judge(void **state)
{
    (void)state;
    check_Random random = {6};
    for (int k = 0; k < 300; k++) {
        const int dims[] = {2, 3, 4, 5, 6};
        const BackwardsKind kind = {
            .dim = dims[k % 5], .n_contacts = 1, .mu_most = 1.0, .law = k % 2 == 0 ? ST_LAW_COULOMB : ST_LAW_CONE};
        st_ContactLaw contact = {0};
        double r[ST_MAX_DIM] = {0}, u[ST_MAX_DIM] = {0}, F[ST_MAX_DIM], natural[ST_MAX_DIM],
               rho[ST_MAX_DIM] = {0.3, 0.3, 0.3, 0.3, 0.3, 0.3};
        backwards_contact(&kind, &contact, &random, r, u);
        for (int moved = 0; moved < 2; moved++) {
            double f = 0.0, n = 0.0;
            sti_slope(&contact, r, u, rho, F, NULL, NULL);
            sti_law_natural(&contact, r, u, rho[0], natural);
            for (int i = 0; i < kind.dim; i++) {
                f += F[i] * F[i];
                n += natural[i] * natural[i];
            }
            if (moved == 0) check_below(f + n, 1e-30);
            if (moved == 1) assert_true(f > 1e-8 && n > 1e-8);
            r[0] += 0.05; /* no longer complementary, or no longer on the border, or u_n < 0 */
            u[0] -= 0.5;
        }
    }
}

/* Full rank and convex: the solution is unique, so r itself is known. */
static void test_unique_solutions(void **state)
{
    (void)state;
    const char *const names[] = {"newton", "ipm", "admm", "auto"};
    check_Random random = {8};
    for (int k = 0; k < 40; k++) {
        const int dims[] = {2, 3, 5, 3, 4, 6};
        const BackwardsKind kind = {
            .dim = dims[k % 6], .n_contacts = 1 + (k + k / 6) % 6, .rank = 2.0, .mu_most = 0.8, .law = ST_LAW_CONE};
        Backwards m = backwards_new(&kind, &random);
        const st_LocalProblem problem = backwards_problem(&m);
        for (size_t s = 0; s < sizeof names / sizeof names[0]; s++) {
            double r[36];
            st_SolverDef def = st_solver_def();
            st_Solver *solver = NULL;
            st_SolveInfo info;
            st_Error err = {0};
            def.name = names[s];
            def.tolerance = 1e-8; /* the accuracy of ipm alone: nearer the border it loses digits */
            def.max_iterations = 100000;
            check_ok(st_solver_create(&def, &solver, &err), err);
            check_ok(st_solver_solve_local(solver, &problem, &(st_Solution){.r = r}, &info, &err), err);
            if (!info.converged) fail_msg("%s, problem %d: residual %g", names[s], k, info.residual.natural);
            for (int i = 0; i < m.n; i++) /* 1e-8 |b| times the condition of W, below 1e4 */
                check_close(r[i], m.r[i], 1e-4);
            st_solver_destroy(solver);
        }
        backwards_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slope_by_differences),
        cmocka_unit_test(test_same_zeros_as_the_judge),
        cmocka_unit_test(test_unique_solutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
