/* The public functions of the solvers: names, refusals, memory, and correct reports. */
#include "bodies.h"
#include "check.h"
#include "made_problem.h"

static st_Solver *make_solver(const char *name, double tolerance, int max_iterations, const st_Allocator *allocator)
{
    st_Error err = {0};
    st_Solver *solver = NULL;
    st_SolverDef def = st_solver_def();
    def.name = name;
    def.tolerance = tolerance;
    def.max_iterations = max_iterations;
    if (allocator != NULL) def.allocator = *allocator;
    check_ok(st_solver_create(&def, &solver, &err), err);
    return solver;
}

static const st_ContactLaw coulomb = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5};
static const st_ContactLaw pyramid = {.law = ST_LAW_PYRAMID, .dim = 3, .mu = 0.5, .facets = 8};

static void test_names(void **state)
{
    (void)state;
    const char *const expected[] = {"auto", "lemke", "nsgs", "newton", "homotopy", "ipm", "admm"};
    const int n = (int)(sizeof expected / sizeof expected[0]);
    assert_int_equal(st_solver_count(), n);
    for (int k = 0; k < st_solver_count(); k++) {
        assert_string_equal(st_solver_name(k), expected[k]);
        assert_non_null(st_solver_help(st_solver_name(k)));
    }
    assert_null(st_solver_name(-1));
    assert_null(st_solver_name(n));
    assert_null(st_solver_help("gauss"));
    assert_null(st_solver_help(NULL));
    assert_true(st_solver_accepts("nsgs", ST_LAW_COULOMB, 5, true));
    assert_true(st_solver_accepts("auto", ST_LAW_CONE, 3, false));
    assert_true(st_solver_accepts("lemke", ST_LAW_PYRAMID, 3, false));
    assert_false(st_solver_accepts("lemke", ST_LAW_COULOMB, 3, true));
    assert_false(st_solver_accepts("nsgs", ST_LAW_PYRAMID, 5, true));
    assert_false(st_solver_accepts("nsgs", ST_LAW_FRICTIONLESS, 3, true));
    assert_false(st_solver_accepts("gauss", ST_LAW_COULOMB, 3, true));
}

/* Each bad def: refused, with the value in the message and nothing made. */
static void test_bad_defs(void **state)
{
    (void)state;
    const struct {
        const char *name;
        double tolerance;
        int max_iterations;
        const char *word;
    } cases[] = {{"gauss", 1e-9, 10, "gauss"}, {NULL, 1e-9, 10, "null"},      {"nsgs", 0.0, 10, "tolerance"},
                 {"nsgs", NAN, 10, "nan"},     {"nsgs", INFINITY, 10, "inf"}, {"nsgs", 1e-9, 0, "max_iterations"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        st_Error err = {0};
        st_Solver *solver = NULL;
        st_SolverDef def = st_solver_def();
        def.name = cases[k].name;
        def.tolerance = cases[k].tolerance;
        def.max_iterations = cases[k].max_iterations;
        assert_int_equal(st_solver_create(&def, &solver, &err), ST_ERR_ARGUMENT);
        assert_null(solver);
        assert_non_null(strstr(err.message, cases[k].word));
    }
    const st_SolverDef raw = {.name = "nsgs", .tolerance = 1e-9, .max_iterations = 10};
    st_SolverDef no_memory = st_solver_def(), good = st_solver_def();
    st_Solver *solver = NULL;
    no_memory.allocator.alloc = NULL;
    assert_int_equal(st_solver_create(&raw, &solver, NULL), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_create(NULL, &solver, NULL), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_create(&no_memory, &solver, NULL), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_create(&good, NULL, NULL), ST_ERR_ARGUMENT);
    assert_null(solver);
    st_solver_destroy(NULL);
}

/* A refused call leaves the caller's arrays alone. */
static void test_bad_calls(void **state)
{
    (void)state;
    Bodies b = bodies_new(2, 8);
    bodies_column(&b, 1, coulomb);
    st_Problem problem = bodies_problem(&b), broken = problem;
    double r[12], v[6], marks[12];
    for (int k = 0; k < 12; k++)
        r[k] = marks[k] = 7.0;
    memcpy(v, marks, sizeof v);
    st_Solution solution = {.r = r, .v = v}, no_r = {.v = v};
    st_Error err = {0};
    st_Solver *lemke = make_solver("lemke", 1e-9, 10, NULL), *nsgs = make_solver("nsgs", 1e-9, 10, NULL);

    assert_int_equal(st_solver_solve(lemke, &problem, &solution, NULL, &err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "lemke"));
    assert_non_null(strstr(err.message, "coulomb"));
    broken.n_r = 11;
    assert_int_equal(st_solver_solve(nsgs, &broken, &solution, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_solve(nsgs, NULL, &solution, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_solve(nsgs, &problem, NULL, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_solve(nsgs, &problem, &no_r, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_solver_solve(NULL, &problem, &solution, NULL, &err), ST_ERR_ARGUMENT);

    st_SolverDef def = st_solver_def();
    st_Solver *warm = NULL;
    def.warm_start = true;
    check_ok(st_solver_create(&def, &warm, &err), err);
    r[5] = marks[5] = INFINITY;
    assert_int_equal(st_solver_solve(warm, &problem, &solution, NULL, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "r[5]"));
    assert_memory_equal(r, marks, sizeof r);
    assert_memory_equal(v, marks, 5 * sizeof *v);
    st_solver_destroy(warm);
    st_solver_destroy(lemke);
    st_solver_destroy(nsgs);
    bodies_free(&b);
}

/* Joints alone, bodies alone, nothing at all. */
static void test_without_contacts(void **state)
{
    (void)state;
    check_Random random = {.state = 3};
    for (int k = 0; k < st_solver_count(); k++)
        for (int joints = 0; joints < 2; joints++) {
            Made *m = made_new();
            made_add_mass(m, 6, 1.0, &random);
            made_add_mass(m, 6, 5.0, &random);
            for (int i = 0; i < m->n_v; i++)
                m->f[i] = check_random(&random, -1.0, 1.0);
            if (joints) made_add_joint(m, 3, 0, 1, &random);
            const st_Problem problem = made_problem(m);
            Reference *reference = made_reference(m, m->n_l);
            double v[MAX_V], l[MAX_L];
            st_Solution solution = {.v = v, .l = l};
            st_SolveInfo info;
            st_Error err = {0};
            st_Solver *solver = make_solver(st_solver_name(k), 1e-9, 100, NULL);
            check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
            assert_true(info.converged);
            assert_int_equal(info.iterations, 0);
            for (int i = 0; i < m->n_v; i++)
                check_close(v[i], reference->v_free[i], 1e-13); /* numbers of size 1, cond below 1e2 */
            for (int i = 0; i < m->n_l; i++)
                check_close(l[i], reference->l_free[i], 1e-12);
            const st_Problem nothing = made_problem(memset(m, 0, sizeof *m));
            check_ok(st_solver_solve(solver, &nothing, &solution, &info, &err), err);
            assert_true(info.converged);
            st_solver_destroy(solver);
            free(reference);
            free(m);
        }
}

/* Contacts that open by themselves take no impulse, whatever the start, and leave velocities and joints alone; one that
 * closes among them is found.                                                                     */
static void test_open_contacts(void **state)
{
    (void)state;
    check_Random random = {.state = 31};
    for (int k = 0; k < st_solver_count(); k++) {
        Made *m = made_new();
        for (int body = 0; body < 4; body++)
            made_add_mass(m, 6, 1.0, &random);
        made_add_joint(m, 3, 0, 1, &random);
        made_add_joint(m, 5, 1, 2, &random);
        for (int c = 0; c < 4; c++) {
            made_add_contact(m, (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1}, c, -1, &random);
            m->w[m->n_r - 1] = 100.0; /* forces below move nothing that fast */
        }
        for (int i = 0; i < m->n_v; i++)
            m->f[i] = check_random(&random, -1.0, 1.0);
        st_Problem problem = made_problem(m);
        Reference *reference = made_reference(m, m->n_l);
        double v[MAX_V], l[MAX_L], r[MAX_R] = {1.0, 2.0}, u[MAX_R];
        st_Solution solution = {.v = v, .l = l, .r = r, .u = u};
        st_SolveInfo info;
        st_Error err = {0};
        st_Solver *solver = make_solver(st_solver_name(k), 1e-9, 1000, NULL);
        check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
        assert_true(info.converged && info.residual.natural == 0.0 && info.iterations == 0);
        for (int j = 0; j < m->n_r; j++) {
            assert_true(r[j] == 0.0);
            check_close(u[j], reference->b[j], 1e-11); /* numbers of size 100 */
        }
        for (int i = 0; i < m->n_v; i++)
            check_close(v[i], reference->v_free[i], 1e-13);
        for (int i = 0; i < m->n_l; i++)
            check_close(l[i], reference->l_free[i], 1e-12);
        m->w[2] -= reference->b[2] + 1.0; /* without an impulse it would close at 1 m/s */
        problem = made_problem(m);
        check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
        assert_true(info.converged && r[2] > 0.0);
        check_close(u[2], 0.0, 2e-7 * 3.0); /* 1e-9 of |b|, three velocities of 100, by rho that differ by up to 3 */
        st_solver_destroy(solver);
        free(reference);
        free(m);
    }
}

/* One sweep is not enough for a wall: converged is false, the numbers are those of the r returned, and that
 * r is no worse than the start.                                                                  */
static void test_tells_the_truth(void **state)
{
    (void)state;
    Bodies b = bodies_new(64, 512);
    bodies_wall(&b, 6, coulomb);
    const st_Problem problem = bodies_problem(&b);
    double *r = calloc((size_t)problem.n_r, sizeof *r), *u = calloc((size_t)problem.n_r, sizeof *u);
    st_Solution solution = {.r = r, .u = u};
    st_Error err = {0};
    st_Residual at_start, found;
    check_ok(st_problem_residual(&problem, r, &at_start, &err), err);
    const int sweeps[] = {1, 2, 7, 60};
    double last = at_start.natural;
    for (int k = 0; k < 4; k++) {
        st_SolveInfo info;
        st_Solver *solver = make_solver("nsgs", 1e-12, sweeps[k], NULL);
        check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
        check_ok(st_problem_residual(&problem, r, &found, &err), err);
        assert_false(info.converged);
        assert_int_equal(info.iterations, sweeps[k]);
        assert_string_equal(info.solver, "nsgs");
        assert_null(info.fallback);
        check_close(info.residual.natural, found.natural, 0.0); /* the same function on the same r */
        assert_true(found.natural > 1e-12 && found.natural <= last);
        last = found.natural;
        st_solver_destroy(solver);
    }
    free(r), free(u);
    bodies_free(&b);
}

/* A joint drives the one velocity there is to 2 m/s; a brake of at most 3 N s cannot stop it, and drags. */
static void test_driven_rows(void **state)
{
    (void)state;
    const char *const names[] = {"lemke", "nsgs", "auto"};
    const int first[] = {0, 1};
    const int64_t p[] = {0, 1};
    const double one = 1.0, f = 0.0, g = -2.0, w = 0.0;
    const st_ContactLaw brake = {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -3.0, .hi = 3.0};
    const st_Problem problem = {.n_v = 1,
                                .n_l = 1,
                                .n_r = 1,
                                .n_contacts = 1,
                                .A = {.n_blocks = 1, .first = first, .x = &one},
                                .symmetric = true,
                                .G = {1, 1, p, first, &one},
                                .H = {1, 1, p, first, &one},
                                .f = &f,
                                .g = &g,
                                .w = &w,
                                .contact = &brake};
    for (int k = 0; k < 3; k++) {
        st_Error err = {0};
        st_SolveInfo info;
        double v, l, u, r = 0;
        st_Solver *solver = make_solver(names[k], 1e-9, 10, NULL);
        st_Solution solution = {.v = &v, .l = &l, .u = &u, .r = &r};
        check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
        assert_true(info.converged);
        check_close(v, 2, 1e-15);
        check_close(u, 2, 1e-15);
        check_close(r, -3, 1e-15);
        check_close(l, 5, 1e-15); /* the force of the motion, less that of the brake */
        st_solver_destroy(solver);
    }
}

/* Masses given by their diagonals are the same masses, to the last bit: a wall of few contacts (columns) and one of
 * many (graph); every second block marked, and all of them. */
static void test_marked_masses(void **state)
{
    (void)state;
    for (int wall = 3; wall <= 6; wall += 3)
        for (int every = 1; every <= 2; every++) {
            Bodies b = bodies_new(64, 512);
            bodies_wall(&b, wall, coulomb);
            st_Problem whole = bodies_problem(&b), short_of = whole;
            const size_t n_r = (size_t)b.n_r, n_v = 6 * (size_t)b.n_bodies;
            double *x = calloc(36 * (size_t)b.n_bodies, sizeof *x), *at = x;
            unsigned char *marked = calloc((size_t)b.n_bodies, sizeof *marked);
            double *r = calloc(2 * n_r, sizeof *r), *v = calloc(2 * n_v, sizeof *v);
            for (int k = 0; k < b.n_bodies; k++) {
                marked[k] = k % every == 0;
                for (int e = 0; e < 36; e++)
                    if (!marked[k] || e % 7 == 0) *at++ = b.A[36 * k + e];
            }
            short_of.A.x = x, short_of.A.diagonal = marked;
            for (int k = 0; k < 2; k++) {
                st_Error err = {0};
                st_Solver *solver = make_solver("nsgs", 1e-6, 300, NULL);
                st_Solution solution = {.v = v + (size_t)k * n_v, .r = r + (size_t)k * n_r};
                check_ok(st_solver_solve(solver, k == 0 ? &whole : &short_of, &solution, NULL, &err), err);
                st_solver_destroy(solver);
            }
            assert_memory_equal(r, r + n_r, n_r * sizeof *r);
            assert_memory_equal(v, v + n_v, n_v * sizeof *v);
            assert_true(r[0] > 0);
            x[0] = -1;
            assert_int_equal(st_problem_check(&short_of, NULL), ST_ERR_ARGUMENT);
            free(x), free(marked), free(r), free(v);
            bodies_free(&b);
        }
}

static void test_warm_start(void **state)
{
    (void)state;
    Bodies b = bodies_new(64, 512);
    bodies_wall(&b, 5, coulomb);
    const st_Problem problem = bodies_problem(&b);
    double *r = calloc((size_t)problem.n_r, sizeof *r);
    st_Solution solution = {.r = r};
    st_SolveInfo cold, warm;
    st_Error err = {0};
    st_Solver *solver = NULL;
    st_SolverDef def = st_solver_def();
    static const char *const names[] = {"nsgs", "newton", "admm", "auto"};
    for (int k = 0; k < 4; k++) {
        def.name = names[k];
        def.warm_start = true;
        memset(r, 0, (size_t)problem.n_r * sizeof *r);
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_solver_solve(solver, &problem, &solution, &cold, &err), err);
        check_ok(st_solver_solve(solver, &problem, &solution, &warm, &err), err);
        assert_true(cold.converged && cold.iterations > 1);
        assert_true(warm.converged);
        assert_true(warm.iterations <= 1); /* recognised, by the judge or by a sweep that moves nothing */
        st_solver_destroy(solver);
    }
    free(r);
    bodies_free(&b);
}

/* auto: Lemke if the problem is small and linear, else nsgs and newton alternately; and the order of the solvers. */
static void test_auto(void **state)
{
    (void)state;
    const struct {
        const char *solver, *fallback;
        st_ContactLaw law;
        int wall, max_iterations;
        bool converged;
    } cases[] = {{"lemke", NULL, pyramid, 3, 10000, true},
                 {"newton", NULL, coulomb, 1, 10000, true}, /* four corners: few rows, newton goes first */
                 {"newton", "nsgs", coulomb, 3, 10000, true},
                 {"newton", NULL, coulomb, 6, 10000, true}, /* a graph of few bodies: the same */
                 {"nsgs", NULL, coulomb, 3, 1, false},      /* Lemke does not take it */
                 {"lemke", "nsgs", pyramid, 6, 1, true}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Bodies b = bodies_new(64, 512);
        bodies_wall(&b, cases[k].wall, cases[k].law);
        const st_Problem problem = bodies_problem(&b);
        double *r = calloc((size_t)problem.n_r, sizeof *r);
        st_Solution solution = {.r = r};
        st_SolveInfo info;
        st_Error err = {0};
        st_Solver *solver = make_solver("auto", 1e-9, cases[k].max_iterations, NULL);
        check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
        assert_string_equal(info.solver, cases[k].solver);
        assert_int_equal(info.converged, cases[k].converged);
        if (cases[k].fallback != NULL)
            assert_string_equal(info.fallback, cases[k].fallback);
        else
            assert_null(info.fallback);
        st_solver_destroy(solver);
        free(r);
        bodies_free(&b);
    }
}

/* ------------------------------------------------------------------ memory */

typedef struct Counter {
    int allocations, given, frees;
    int fail_at; /* this one is refused; 0: none */
} Counter;

static void *counted_alloc(void *ctx, size_t size, size_t align)
{
    Counter *counter = ctx;
    if (++counter->allocations == counter->fail_at) return NULL;
    counter->given++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void counted_free(void *ctx, void *memory, size_t size, size_t align)
{
    Counter *counter = ctx;
    (void)size, (void)align;
    counter->frees += memory != NULL;
    free(memory);
}

/* A small problem with joints and compliance, in laws the solver takes. */
static Made *mixed_problem(const char *solver)
{
    const bool linear = strcmp(solver, "lemke") == 0, polygons = st_solver_accepts(solver, ST_LAW_PYRAMID, 3, true);
    const bool cones = st_solver_accepts(solver, ST_LAW_CONE, 2, true);
    check_Random random = {.state = 8};
    Made *m = made_new();
    for (int k = 0; k < 3; k++)
        made_add_mass(m, 6, 1.0 + k, &random);
    made_add_joint(m, 3, 0, 1, &random);
    made_add_contact(m, linear ? pyramid : coulomb, 0, -1, &random);
    made_add_contact(m, (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1}, 1, 2, &random);
    made_add_contact(m,
                     polygons && !linear ? pyramid
                     : cones             ? (st_ContactLaw){.law = ST_LAW_CONE, .dim = 2, .mu = 0.3}
                                         : (st_ContactLaw){.law = ST_LAW_BOX, .dim = 2, .mu = 0.3},
                     1, 2, &random);
    made_diagonal_blocks(m->n_r, &m->n_c, m->c_first);
    for (int i = 0; i < m->n_r; i++)
        m->C[i][i] = 0.1;
    return m;
}

static void test_every_refusal(void **state)
{
    (void)state;
    for (int k = 0; k < st_solver_count(); k++) {
        const char *name = st_solver_name(k);
        Made *m = mixed_problem(name);
        const st_Problem problem = made_problem(m);
        bool finished = false;
        for (int n = 1; !finished; n++) {
            Counter counter = {.fail_at = n};
            st_SolverDef def = st_solver_def();
            def.name = name;
            def.allocator = (st_Allocator){.alloc = counted_alloc, .free = counted_free, .ctx = &counter};
            double r[MAX_R];
            st_Solution solution = {.r = r};
            st_Error err = {0};
            st_Solver *solver = NULL;
            st_Status status = st_solver_create(&def, &solver, &err);
            if (status == ST_OK) status = st_solver_solve(solver, &problem, &solution, NULL, &err);
            finished = status == ST_OK;
            if (!finished) {
                assert_int_equal(status, ST_ERR_MEMORY);
                assert_true(strlen(err.message) > 0);
            }
            if (solver != NULL && !finished) { /* it still works when memory is there again */
                counter.fail_at = 0;
                check_ok(st_solver_solve(solver, &problem, &solution, NULL, &err), err);
            }
            st_solver_destroy(solver);
            assert_int_equal(counter.frees, counter.given);
            assert_true(n < 1000);
        }
        free(m);
    }
}

static void test_no_allocation_later(void **state)
{
    (void)state;
    for (int k = 0; k < st_solver_count(); k++) {
        Counter counter = {0};
        const st_Allocator allocator = {.alloc = counted_alloc, .free = counted_free, .ctx = &counter};
        Made *m = mixed_problem(st_solver_name(k));
        const st_Problem problem = made_problem(m);
        st_Solver *solver = make_solver(st_solver_name(k), 1e-9, 1000, &allocator);
        double r[MAX_R];
        st_Solution solution = {.r = r};
        st_Error err = {0};
        check_ok(st_solver_solve(solver, &problem, &solution, NULL, &err), err);
        const int after_first = counter.allocations;
        for (int i = 0; i < 5; i++) {
            m->f[i] += 0.3;
            check_ok(st_solver_solve(solver, &problem, &solution, NULL, &err), err);
        }
        assert_int_equal(counter.allocations, after_first);
        st_solver_destroy(solver);
        assert_int_equal(counter.given, counter.frees);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_bad_defs),
        cmocka_unit_test(test_bad_calls),     cmocka_unit_test(test_without_contacts),
        cmocka_unit_test(test_open_contacts), cmocka_unit_test(test_tells_the_truth),
        cmocka_unit_test(test_driven_rows),   cmocka_unit_test(test_marked_masses),
        cmocka_unit_test(test_warm_start),    cmocka_unit_test(test_auto),
        cmocka_unit_test(test_every_refusal), cmocka_unit_test(test_no_allocation_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
