/* Global problems of files, as rigid bodies: for every storage pattern of H and M the solved problem is the one in
 * the file, by an independent check that does not use bodies. */
#include "check.h"

#include <stiction/friction.h>
#include <string.h>

enum { BODIES = 30, CONTACTS = 90 }; /* enough to be swept as a graph */

/* Bodies with random masses, contacts between random pairs of them or with the ground, and a solution that was drawn
 * first: a third of the contacts open, the others stick.                                          */
typedef struct Pile {
    int dim, size; /* velocities a body */
    int64_t Mp[6 * BODIES + 1], Hp[3 * CONTACTS + 1];
    int Mi[36 * BODIES], Hi[36 * CONTACTS];
    double Mx[36 * BODIES], Hx[36 * CONTACTS], f[6 * BODIES], w[3 * CONTACTS], mu[CONTACTS];
    st_FrictionProblem problem;
} Pile;

/* One row of contact c: entries left out at random, so that rows differ; the first of each body is kept. */
static void add_row(Pile *pile, int row, const int body[2], check_Random *random, double left_out)
{
    int64_t at = pile->Hp[row];
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < pile->size && body[side] >= 0; k++) {
            const double x = check_random(random, -1.0, 1.0);
            if (k > 0 && check_random(random, 0.0, 1.0) < left_out) continue;
            pile->Hi[at] = body[side] * pile->size + k;
            pile->Hx[at++] = x;
        }
    pile->Hp[row + 1] = at;
}

static void make_pile(Pile *pile, int dim, double left_out, bool full, check_Random *random)
{
    const int size = dim == 2 ? 3 : 6, n_v = size * BODIES;
    int64_t at = 0;
    *pile = (Pile){.dim = dim, .size = size};
    for (int j = 0; j < n_v; j++) {
        const double mass = check_random(random, 0.2, 3.0);
        for (int k = full ? j - j % size : j; k < (full ? j - j % size + size : j + 1); k++) {
            pile->Mi[at] = k;
            pile->Mx[at++] = k == j ? mass : 0.02;
        }
        pile->Mp[j + 1] = at;
    }
    for (int c = 0; c < CONTACTS; c++) {
        const int a = c < BODIES ? c : (int)check_random(random, 0.0, BODIES - 0.01);
        const int b = c % 3 == 0 ? -1 : (a + 1 + c % 5) % BODIES, first = b < 0 || a < b ? a : b;
        const int body[2] = {first, b < 0 ? -1 : a + b - first};
        pile->mu[c] = check_random(random, 0.1, 0.9);
        const double n = c % 3 == 1 ? 0.0 : check_random(random, 0.1, 2.0);
        for (int d = 0; d < dim; d++) {
            const int row = dim * c + d;
            add_row(pile, row, body, random, left_out);
            const double r = d == 0 ? n : check_random(random, -0.6, 0.6) * pile->mu[c] * n;
            for (int64_t e = pile->Hp[row]; e < pile->Hp[row + 1]; e++)
                pile->f[pile->Hi[e]] -= pile->Hx[e] * r; /* v = 0 with this r */
            pile->w[row] = n > 0.0 ? 0.0 : d == 0 ? 0.5 : check_random(random, -1.0, 1.0);
        }
    }
    pile->problem = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                         .dim = dim,
                                         .n_contacts = CONTACTS,
                                         .n_v = n_v,
                                         .M = {n_v, n_v, pile->Mp, pile->Mi, pile->Mx},
                                         .H = {n_v, dim * CONTACTS, pile->Hp, pile->Hi, pile->Hx},
                                         .f = pile->f,
                                         .w = pile->w,
                                         .mu = pile->mu};
}

static void solve_pile(const Pile *pile, const char *name)
{
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    st_Friction *friction = NULL;
    st_Error err = {0};
    st_SolveInfo info;
    st_FrictionError error;
    double r[3 * CONTACTS] = {0};
    def.name = name;
    def.tolerance = 1e-10;
    def.all_errors = true;
    check_ok(st_solver_create(&def, &solver, &err), err);
    check_ok(st_friction_create(&pile->problem, &friction, &err), err);
    check_ok(st_friction_solve(friction, solver, &(st_Solution){.r = r}, &info, &err), err);
    check_ok(st_friction_error(friction, r, NULL, NULL, &error, &err), err);
    assert_true(info.converged);
    check_below(error.error, 1.01e-10); /* the solver's tolerance; the check's own sums round differently */
    check_below(error.error_rho, 1.01e-10);
    st_friction_destroy(friction);
    st_solver_destroy(solver);
}

static void solve_piles(double left_out, bool full)
{
    static Pile pile;
    check_Random random = {7};
    for (int k = 0; k < 6; k++) {
        make_pile(&pile, k % 2 == 0 ? 3 : 2, left_out, full, &random);
        solve_pile(&pile, "auto");
    }
}

static void test_rows_alike(void **state)
{
    (void)state;
    solve_piles(0.0, false);
}

static void test_rows_of_any_pattern(void **state)
{
    (void)state;
    solve_piles(0.05, false);
    solve_piles(0.3, false);
}

static void test_full_masses(void **state)
{
    (void)state;
    solve_piles(0.1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_alike),
        cmocka_unit_test(test_rows_of_any_pattern),
        cmocka_unit_test(test_full_masses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
