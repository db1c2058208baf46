/* All solvers that accept a law find the same impulses, and the others refuse it by name.
 *
 * With rho = 1, a solution of law( r, W r + b ) is a fixed point of  T(r) = P(r - u - s(u) e_n),  u = W r + b, where s
 * is the shift of the law (docs/methods.md). P does not increase distances, and s changes by at most k |du| with
 * k = mu + mu_roll + mu_spin. So
 *
 *     |T(a) - T(b)| <= (|I - W| + k |W|) |a - b|.
 *
 * Here |I - W| <= 0.4 by its rows and columns, and k <= 0.27: the factor is at most 0.78. (The box law has no shift;
 * its P bounds friction by the r_n of the normal alone and increases distances by at most 1 + mu sqrt(2) <= 1.22:
 * factor 0.49.) So the solution is unique, and repeating T from 0 finds it without any solver (Banach). */
#include "check.h"

#include <stiction/problem.h>
#include <string.h>

enum { MOST_CONTACTS = 8, MOST_ROWS = ST_MAX_DIM * MOST_CONTACTS, PROBLEMS = 12 };

typedef struct Kind {
    st_Law law;
    int dim, facets;
} Kind;

static const Kind KINDS[] = {
    {ST_LAW_FRICTIONLESS, 1, 0}, {ST_LAW_BOUNDED, 1, 0}, {ST_LAW_COULOMB, 2, 0}, {ST_LAW_COULOMB, 3, 0},
    {ST_LAW_COULOMB, 4, 0},      {ST_LAW_COULOMB, 5, 0}, {ST_LAW_COULOMB, 6, 0}, {ST_LAW_CONE, 2, 0},
    {ST_LAW_CONE, 3, 0},         {ST_LAW_CONE, 4, 0},    {ST_LAW_CONE, 5, 0},    {ST_LAW_CONE, 6, 0},
    {ST_LAW_PYRAMID, 2, 2},      {ST_LAW_PYRAMID, 3, 4}, {ST_LAW_PYRAMID, 3, 6}, {ST_LAW_BOX, 2, 0},
    {ST_LAW_BOX, 3, 0},
};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

typedef struct Example {
    st_ContactLaw contact[MOST_CONTACTS];
    int64_t p[MOST_ROWS + 1];
    int i[MOST_ROWS * MOST_ROWS];
    double W[MOST_ROWS * MOST_ROWS], b[MOST_ROWS]; /* W by columns */
    st_LocalProblem problem;
} Example;

/* Contacts of these kinds, one after another. |I - W| <= sqrt(row sum x column sum) <= 0.4: entries are at most 0.4/n.
 */
static void make(Example *e, const Kind *kinds, int n_kinds, bool symmetric, check_Random *random)
{
    const int n_contacts = check_random_int(random, 1, MOST_CONTACTS);
    int n = 0;
    for (int c = 0; c < n_contacts; c++) {
        const Kind *kind = &kinds[c % n_kinds];
        e->contact[c] = (st_ContactLaw){.law = kind->law,
                                        .dim = kind->dim,
                                        .first = n,
                                        .facets = kind->facets,
                                        .mu = check_random(random, 0.0, 0.15),
                                        .mu_roll = check_random(random, 0.0, 0.06),
                                        .mu_spin = check_random(random, 0.0, 0.06),
                                        .lo = check_random(random, -0.5, 0.0),
                                        .hi = check_random(random, 0.0, 0.5)};
        n += kind->dim;
    }
    for (int j = 0; j < n; j++) {
        e->p[j] = (int64_t)j * n;
        for (int i = 0; i < n; i++) {
            const bool mirrored = symmetric && i < j;
            e->i[j * n + i] = i;
            e->W[j * n + i] =
                mirrored ? e->W[i * n + j] : (i == j ? 1.0 : 0.0) + check_random(random, -0.4, 0.4) / (double)n;
        }
        e->b[j] = check_random(random, -1.0, 1.0);
    }
    e->p[n] = (int64_t)n * n;
    for (int c = 0; c < n_contacts; c++) { /* most contacts are loaded, and half of them hardly driven sideways */
        const double driven = c % 2 == 0 ? 1.0 : 0.03;
        if (e->contact[c].law != ST_LAW_BOUNDED) e->b[e->contact[c].first] -= 0.6;
        for (int row = e->contact[c].first + 1; row < e->contact[c].first + e->contact[c].dim; row++)
            e->b[row] *= driven;
    }
    e->problem = (st_LocalProblem){.n_r = n,
                                   .n_contacts = n_contacts,
                                   .W = {.n_rows = n, .n_cols = n, .p = e->p, .i = e->i, .x = e->W},
                                   .b = e->b,
                                   .contact = e->contact};
}

/* s(u) of the laws: mu times the largest |d . u_T| over the directions d of the law's set, and the same for rolling and
 * spinning. */
static double shift(const st_ContactLaw *c, const double *u)
{
    const double *slide = u + 1;
    if (c->law == ST_LAW_PYRAMID) {
        double most = 0.0;
        for (int k = 0; k < c->facets; k++) {
            const double angle = 6.283185307179586 * k / c->facets;
            most = fmax(most, cos(angle) * slide[0] + (c->dim == 3 ? sin(angle) * slide[1] : 0.0));
        }
        return c->mu * most;
    }
    if (c->law != ST_LAW_COULOMB) return 0.0;
    double s = c->mu * (c->dim == 2 ? fabs(slide[0]) : hypot(slide[0], slide[1]));
    if (c->dim >= 5) s += c->mu_roll * hypot(u[3], u[4]);
    if (c->dim == 4 || c->dim == 6) s += c->mu_spin * fabs(u[c->dim - 1]);
    return s;
}

/* The unique solution, to rounding: 0.78^200 is 3e-22. */
static void repeat_contraction(const Example *e, double *r)
{
    const int n = e->problem.n_r;
    memset(r, 0, (size_t)n * sizeof *r);
    for (int round = 0; round < 200; round++) {
        double u[MOST_ROWS];
        memcpy(u, e->b, (size_t)n * sizeof *u);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                u[i] += e->W[j * n + i] * r[j];
        for (int c = 0; c < e->problem.n_contacts; c++) {
            const st_ContactLaw *law = &e->contact[c];
            const double lifted = shift(law, u + law->first);
            for (int d = 0; d < law->dim; d++)
                r[law->first + d] -= u[law->first + d] + (d == 0 ? lifted : 0.0);
            st_law_project(law, r + law->first);
        }
    }
}

/* Close to the border of a cone, an interior point method loses half of the digits: z_0 - |z_1| is about nu / y_0. */
static double reachable(const char *name)
{
    return strcmp(name, "ipm") == 0 ? 1e-7 : 1e-11;
}

static void check_solver(const char *name, const Example *e, bool accepted, const double *expected)
{
    st_Error err = {.status = ST_OK};
    st_Solver *solver = NULL;
    st_SolveInfo info;
    double r[MOST_ROWS] = {0};
    st_Solution solution = {.r = r};
    st_SolverDef def = st_solver_def();
    def.name = name;
    def.tolerance = reachable(name);
    check_ok(st_solver_create(&def, &solver, &err), err);
    const st_Status status = st_solver_solve_local(solver, &e->problem, &solution, &info, &err);
    st_solver_destroy(solver);
    if (!accepted) {
        assert_int_equal(status, ST_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, name));
        return;
    }
    check_ok(status, err);
    if (!info.converged) fail_msg("%s stopped at %g after %d", name, info.residual.natural, info.iterations);
    for (int k = 0; k < e->problem.n_r; k++)
        if (!(fabs(r[k] - expected[k]) < 100.0 * def.tolerance))
            fail_msg("%s: law %s of dim %d: r[%d] is %.12g, not %.12g", name, st_law_name(e->contact[0].law),
                     e->contact[0].dim, k, r[k], expected[k]);
}

/* Every law on its own, with every solver that accepts it; W symmetric or not. */
static void one_law(void **state)
{
    (void)state;
    check_Random random = {20};
    static Example e;
    int solved = 0, refused = 0, sliding = 0, sticking = 0, open = 0;
    for (int kind = 0; kind < N_KINDS; kind++)
        for (int k = 0; k < PROBLEMS; k++) {
            const bool symmetric = k % 2 == 0;
            double expected[MOST_ROWS];
            make(&e, &KINDS[kind], 1, symmetric, &random);
            repeat_contraction(&e, expected);
            for (int c = 0; c < e.problem.n_contacts && KINDS[kind].law == ST_LAW_COULOMB; c++) {
                const double *r = expected + e.contact[c].first;
                const double slides = KINDS[kind].dim == 2 ? fabs(r[1]) : hypot(r[1], r[2]);
                if (r[0] == 0.0)
                    open++;
                else if (slides < (1.0 - 1e-9) * e.contact[c].mu * r[0])
                    sticking++;
                else
                    sliding++;
            }
            for (int s = 0; s < st_solver_count(); s++) {
                const char *name = st_solver_name(s);
                const bool accepted = st_solver_accepts(name, KINDS[kind].law, KINDS[kind].dim, symmetric);
                check_solver(name, &e, accepted, expected);
                *(accepted ? &solved : &refused) += 1;
            }
        }
    assert_true(solved > 500 && refused > 50);
    assert_true(sliding > 50 && sticking > 5 && open > 20); /* the problems are of all sorts */
}

/* Laws side by side in one problem. */
static void mixed_laws(void **state)
{
    (void)state;
    check_Random random = {21};
    static Example e;
    for (int k = 0; k < 10 * PROBLEMS; k++) {
        Kind kinds[4];
        double expected[MOST_ROWS];
        for (int m = 0; m < 4; m++)
            kinds[m] = KINDS[check_random_int(&random, 0, N_KINDS - 1)];
        const bool symmetric = k % 2 == 0;
        make(&e, kinds, 4, symmetric, &random);
        repeat_contraction(&e, expected);
        for (int s = 0; s < st_solver_count(); s++) {
            bool accepted = true;
            for (int c = 0; c < e.problem.n_contacts; c++)
                accepted =
                    accepted && st_solver_accepts(st_solver_name(s), e.contact[c].law, e.contact[c].dim, symmetric);
            check_solver(st_solver_name(s), &e, accepted, expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_law), cmocka_unit_test(mixed_laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
