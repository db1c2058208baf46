/* Problems built backwards from a known solution, in the plane, in space, with rolling and spinning, 1 to 200
 * contacts, full rank and far from it: `auto` reaches 1e-8 on every one.
 *
 *     ST_TEST_FULL=1 test_backwards        10,000 in the plane and in space, 2,000 that roll and spin, 2,000 cones
 *     ST_TEST_FULL=2/8 test_backwards      the second eighth of them: every problem has a seed of its own
 *
 * The hardest are those whose rank is just that of the contacts' own equations (two for a stuck contact in the
 * plane, one for a sliding one ...: about half the size of W), where the equations of the right contacts are as
 * good as singular and the path to them has folds.                                                 */
#include "backwards.h"

typedef struct Tally {
    int problems, missed;
    double worst;
} Tally;

/* The known solution is one, by the judge: the generator and the residual agree. */
static void test_known_solution(void **state)
{
    (void)state;
    check_Random random = {1};
    for (int k = 0; k < 60; k++) {
        const int dims[] = {2, 3, 5, 4, 6};
        const BackwardsKind kind = {.dim = dims[k % 5],
                                    .n_contacts = 1 + k % 20,
                                    .rank = k % 2 == 0 ? 1.0 : 0.4,
                                    .sparse = k % 4 > 1,
                                    .mu_most = 1.0,
                                    .law = k / 5 % 5 == 0 ? ST_LAW_CONE : ST_LAW_COULOMB};
        Backwards m = backwards_new(&kind, &random);
        const st_LocalProblem problem = backwards_problem(&m);
        st_Residual residual;
        st_Error err = {0};
        check_ok(st_local_residual(&problem, m.r, &residual, &err), err);
        check_below(residual.natural, 1e-13); /* rounding of W r, n up to 100 */
        backwards_free(&m);
    }
}

/* A set of problems: rank, pattern, mu and dimension take turns, each at its own pace. */
typedef struct Set {
    uint64_t seed;
    int count, n_dims, dim[5];
    st_Law law;
} Set;

/* One eighth of a set and the like, in a row. */
typedef struct Share {
    int part, parts;
} Share;

static BackwardsKind kind_of(const Set *set, int k, check_Random *random)
{
    const double size = check_random(random, 0.0, 1.0);
    return (BackwardsKind){.dim = set->dim[k % set->n_dims],
                           .n_contacts = 1 + (int)(199.99 * size * size * size),
                           .rank = k / 5 % 2 == 0 ? 1.0 : check_random(random, 0.2, 1.0),
                           .sparse = k / 10 % 2 == 0,
                           .mu_most = k % 7 == 0 ? 1.5 : 0.8,
                           .law = set->law};
}

static void solve_one(const Set *set, int k, st_Solver *solver, double *r, Tally *tally)
{
    check_Random random = {set->seed + 1000003u * (uint64_t)k};
    const BackwardsKind kind = kind_of(set, k, &random);
    Backwards m = backwards_new(&kind, &random);
    const st_LocalProblem problem = backwards_problem(&m);
    st_SolveInfo info;
    st_Residual residual;
    st_Error err = {0};
    check_ok(st_solver_solve_local(solver, &problem, &(st_Solution){.r = r}, &info, &err), err);
    check_ok(st_local_residual(&problem, r, &residual, &err), err);
    const double error = fmax(residual.error, residual.error_rho);
    assert_int_equal(info.converged, fmax(error, residual.natural) <= 1e-8); /* it never lies */
    tally->problems++;
    tally->worst = fmax(tally->worst, error);
    if (error > 1e-8) {
        tally->missed++;
        print_message("seed %llu, problem %d: dim %d, %d contacts, rank %.2f, %s: error %.2e after %d iterations, %s\n",
                      (unsigned long long)set->seed, k, kind.dim, kind.n_contacts, kind.rank,
                      kind.sparse ? "sparse" : "dense", error, info.iterations, info.solver);
    }
    backwards_free(&m);
}

static void solve_set(const Set *set, Share share, Tally *tally)
{
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    st_Error err = {0};
    double *r = calloc(ST_MAX_DIM * 200, sizeof *r);
    def.tolerance = 1e-8;
    def.all_errors = true;
    check_ok(st_solver_create(&def, &solver, &err), err);
    for (int k = set->count * share.part / share.parts; k < set->count * (share.part + 1) / share.parts; k++)
        solve_one(set, k, solver, r, tally);
    free(r);
    st_solver_destroy(solver);
}

static void test_auto_solves_all(void **state)
{
    (void)state;
    const char *full = getenv("ST_TEST_FULL");
    const Set sets[] = {{300, full != NULL ? 10000 : 30, 2, {2, 3}, ST_LAW_COULOMB},
                        {400, full != NULL ? 2000 : 15, 3, {5, 4, 6}, ST_LAW_COULOMB},
                        {500, full != NULL ? 2000 : 15, 5, {2, 3, 5, 4, 6}, ST_LAW_CONE}};
    const char *slash = full != NULL ? strchr(full, '/') : NULL;
    Share share = {0, 1};
    if (slash != NULL) share = (Share){(int)strtol(full, NULL, 10) - 1, (int)strtol(slash + 1, NULL, 10)};
    assert_in_range(share.part, 0, share.parts - 1);
    Tally tally = {0};
    for (int k = 0; k < 3; k++)
        solve_set(&sets[k], share, &tally);
    print_message("%d problems, %d missed, worst error %.2e\n", tally.problems, tally.missed, tally.worst);
    assert_int_equal(tally.missed, 0);
}

/* Coulomb's law in the plane is linear: Lemke's method solves it exactly, without a start and without a step length.
 * With W singular it may end on a ray, and reports this. */
static void lemke_solves_the_plane(void **state)
{
    (void)state;
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    st_Error err = {0};
    double *r = calloc(ST_MAX_DIM * 60, sizeof *r);
    assert_non_null(r);
    def.name = "lemke";
    def.tolerance = 1e-10;
    check_ok(st_solver_create(&def, &solver, &err), err);
    int solved = 0;
    const int count = 120;
    for (int k = 0; k < count; k++) {
        check_Random random = {900 + (uint64_t)k};
        const BackwardsKind kind = {.dim = 2,
                                    .n_contacts = 1 + k / 2,
                                    .rank = k % 3 == 2 ? 0.6 : 1.0,
                                    .sparse = k % 2 == 0,
                                    .mu_most = k % 5 == 0 ? 5.0 : 1.0,
                                    .law = ST_LAW_COULOMB};
        Backwards m = backwards_new(&kind, &random);
        const st_LocalProblem problem = backwards_problem(&m);
        st_SolveInfo info;
        st_Residual residual;
        check_ok(st_solver_solve_local(solver, &problem, &(st_Solution){.r = r}, &info, &err), err);
        check_ok(st_local_residual(&problem, r, &residual, &err), err);
        assert_int_equal(info.converged, residual.natural <= 1e-10);
        assert_true(info.converged || kind.rank < 1.0);
        solved += info.converged;
        backwards_free(&m);
    }
    print_message("%d of %d problems in the plane\n", solved, count);
    assert_true(solved >= count * 2 / 3); /* all of full rank */
    free(r);
    st_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_solution),
        cmocka_unit_test(test_auto_solves_all),
        cmocka_unit_test(lemke_solves_the_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
