/* Mechanisms in a pile (mobility.h, graph_alone.c): the graph has the W of the columns, which eliminate joints contact
 * by contact; its judge and newton's step by bodies are those of the columns, too; solvers end at solutions. */
#include "bodies.h"
#include "check.h"
#include "reduce/reduce.h"
#include "reduce/residual.h"
#include "solve/body_space_newton.h"

static const st_ContactLaw coulomb = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.6};

enum { ROWS = 16, LED = 8, HINGED = 3, BALL = 12 };

/* A wall with a hinged box that a motor of limited force turns, one with a prescribed motion, and two connected by a
 * ball joint and a spring. */
typedef struct Yard {
    Bodies bodies;
    st_Problem problem;
    sti_Reduction *reduction;
    double g_x[12 * ROWS], g[ROWS], cb[ROWS];
    int g_i[12 * ROWS], cb_first[ROWS + 1], n_l;
    int64_t g_p[ROWS + 1];
} Yard;

/* A joint row along d at p, made as rows of contacts are. */
static void join(Yard *yard, int from, int to, const double p[3], const double d[3], int angular, double g, double soft)
{
    Bodies *b = &yard->bodies;
    const int64_t begin = b->h_p[b->n_r], at = yard->g_p[yard->n_l];
    bodies_row(b, from, to, p, d, angular);
    const int64_t count = b->h_p[b->n_r--] - begin;
    memcpy(yard->g_x + at, b->h_x + begin, (size_t)count * sizeof *b->h_x);
    memcpy(yard->g_i + at, b->h_i + begin, (size_t)count * sizeof *b->h_i);
    yard->g[yard->n_l] = g;
    yard->cb[yard->n_l] = soft;
    yard->cb_first[yard->n_l + 1] = yard->n_l + 1;
    yard->g_p[++yard->n_l] = at + count;
}

static void add_joints(Yard *yard)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, slant[3] = {0.6, 0, 0.8};
    const double *x = yard->bodies.x;
    const double point[3] = {x[3 * HINGED] + 0.3, x[3 * HINGED + 1], x[3 * HINGED + 2] - 0.2};
    for (int k = 0; k < 3; k++) {
        join(yard, -1, HINGED, point, axes[k], 0, 0, 0);
        if (k != 1) join(yard, -1, HINGED, point, axes[k], 1, 0, 0); /* turns about y */
        join(yard, -1, LED, x + 3 * LED, axes[k], 0, k == 2 ? -0.01 : -0.03, 0);
        join(yard, -1, LED, x + 3 * LED, axes[k], 1, 0.02 * k, 0);
        join(yard, BALL, BALL + 1, x + 3 * BALL, axes[k], 0, 0, 0);
    }
    join(yard, BALL, BALL + 1, x + 3 * BALL + 3, slant, 0, 0.01, 0.5);
    const st_ContactLaw motor = {.law = ST_LAW_BOUNDED, .dim = 1, .lo = -0.05, .hi = 0.05, .first = yard->bodies.n_r};
    yard->bodies.w[yard->bodies.n_r] = -0.3;
    bodies_row(&yard->bodies, -1, HINGED, point, axes[1], 1);
    yard->bodies.contact[yard->bodies.n_contacts++] = motor;
}

static void make_yard(Yard *yard)
{
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    memset(yard, 0, sizeof *yard);
    yard->bodies = bodies_new(64, 1024);
    bodies_wall(&yard->bodies, 7, coulomb);
    add_joints(yard);
    yard->problem = bodies_problem(&yard->bodies);
    yard->problem.n_l = yard->n_l;
    yard->problem.G = (st_Sparse){yard->problem.n_v, yard->n_l, yard->g_p, yard->g_i, yard->g_x};
    yard->problem.Cb = (st_BlockDiag){.n_blocks = yard->n_l, .first = yard->cb_first, .x = yard->cb};
    yard->problem.g = yard->g;
    check_ok(st_problem_check(&yard->problem, &err), err);
    check_ok(sti_reduction_create(&allocator, &yard->reduction, &err), err);
    check_ok(sti_reduce(yard->reduction, &yard->problem, &err), err);
    assert_non_null(yard->reduction->graph);
}

static void free_yard(Yard *yard)
{
    sti_reduction_destroy(yard->reduction);
    bodies_free(&yard->bodies);
}

/* As many freedoms as joints leave: none, 1, and 12 - 3 (a spring takes none away). */
static void test_counts_freedoms(void **state)
{
    (void)state;
    Yard yard;
    make_yard(&yard);
    const sti_Mobility *mobility = &yard.reduction->graph->mobility;
    assert_int_equal(mobility->n, 3);
    assert_int_equal(sti_mobility_freedoms(mobility, mobility->of_block[LED]), 0);
    assert_int_equal(sti_mobility_freedoms(mobility, mobility->of_block[HINGED]), 1);
    assert_int_equal(sti_mobility_freedoms(mobility, mobility->of_block[BALL]), 9);
    assert_int_equal(mobility->of_block[0], -1);
    free_yard(&yard);
}

/* W_cc and rho of single contacts, and b of all, including those in lanes beside the box with prescribed motion. */
static void test_agrees_with_the_columns(void **state)
{
    (void)state;
    Yard yard;
    st_Error err = {0};
    make_yard(&yard);
    const sti_Graph *graph = yard.reduction->graph;
    const st_Problem *p = &yard.problem;
    int led = 0;
    double *b = calloc((size_t)p->n_r, sizeof *b), *rho = calloc((size_t)p->n_contacts, sizeof *rho);
    sti_graph_give_b(graph, b, rho);
    check_ok(sti_reduction_columns(yard.reduction, &err), err);
    for (int c = 0; c < p->n_contacts; c++) {
        const double *W = yard.reduction->W_diagonal + yard.reduction->W_start[c];
        const sti_Alone *alone = sti_graph_alone(graph, c);
        led += graph->kind[c] == STI_LED;
        for (int k = 0; alone != NULL && k < p->contact[c].dim * p->contact[c].dim; k++)
            check_close(alone->W[k], W[k], 1e-13);
        check_close(rho[c] / yard.reduction->rho[c], 1, 1e-12);
        for (int row = p->contact[c].first; row < p->contact[c].first + p->contact[c].dim; row++)
            check_close(b[row], yard.reduction->b[row], 1e-13); /* velocities of a step under gravity: 0.1 m/s */
    }
    assert_true(led >= 8);
    assert_true(graph->n_alone >= 8 && p->n_contacts - graph->n_alone >= STI_FEW_ROWS);
    free(b);
    free(rho);
    free_yard(&yard);
}

/* An r on the way, judged by the graph and by the problem's own matrices. */
static void test_judges_as_the_problem_does(void **state)
{
    (void)state;
    Yard yard;
    st_Error err = {0};
    st_Residual ours, matrices;
    make_yard(&yard);
    const st_Problem *p = &yard.problem;
    sti_Graph *graph = yard.reduction->graph;
    double *r = calloc((size_t)p->n_r, sizeof *r), *u = calloc(2 * (size_t)p->n_r, sizeof *u);
    double *v = calloc(2 * (size_t)p->n_v, sizeof *v), l[2][ROWS];
    check_ok(sti_reduction_columns(yard.reduction, &err), err);
    sti_graph_take(graph, r);
    sti_graph_restore(graph);
    for (int k = 0; k < 5; k++)
        sti_graph_sweep(graph);
    sti_graph_give(graph, r);
    sti_residual(yard.reduction, r, v, l[0], u, &ours);
    yard.reduction->graph = NULL;
    yard.reduction->judged->known = false;
    yard.reduction->judged->scale = -1.0;
    sti_residual(yard.reduction, r, v + p->n_v, l[1], u + p->n_r, &matrices);
    assert_true(matrices.natural > 1e-6);
    check_close(ours.natural, matrices.natural, 1e-11 * matrices.natural); /* sums in another order */
    check_close(ours.complementarity, matrices.complementarity, 1e-11);
    check_close(ours.joint, matrices.joint, 1e-14);
    assert_int_equal(ours.worst_contact, matrices.worst_contact);
    for (int j = 0; j < p->n_r; j++)
        check_close(u[j], u[p->n_r + j], 1e-12);
    for (int i = 0; i < p->n_v; i++)
        check_close(v[i], v[p->n_v + i], 1e-12);
    for (int i = 0; i < p->n_l; i++)
        check_close(l[0][i], l[1][i], 1e-12);
    free(r);
    free(u);
    free(v);
    free_yard(&yard);
}

/* Newton's step, all contacts sticking or nearly open: (A + B (W + soft)) d = -F with the W of the columns. */
static void test_steps_by_bodies(void **state)
{
    (void)state;
    Yard yard;
    st_Error err = {0};
    check_Random random = {11};
    make_yard(&yard);
    const st_Problem *p = &yard.problem;
    const size_t n = (size_t)p->n_r;
    double *F = calloc(n, sizeof *F), *d = calloc(n, sizeof *d), *W_d = calloc(n, sizeof *W_d);
    double *u = calloc(n, sizeof *u), *v = calloc((size_t)p->n_v, sizeof *v);
    const double soft[3] = {1e-3, 1e-3, 1e-3};
    sti_ByBodies by_bodies = {.allocator = st_default_allocator()};
    check_ok(sti_by_bodies_begin(&by_bodies, yard.reduction->graph, yard.reduction->serial, &err), err);
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim;
        double A[9] = {0}, B[9] = {0};
        for (int i = 0; i < dim; i++) {
            F[p->contact[c].first + i] = check_random(&random, -1, 1);
            A[i * (dim + 1)] = 0.5;
            for (int k = 0; k < dim; k++)
                B[i * dim + k] = i == k ? 1.0 : c % 3 == 0 ? 0.2 : 0.0;
        }
        sti_by_bodies_set(&by_bodies, c, A, B, F + p->contact[c].first, soft);
    }
    check_ok(sti_by_bodies_step(&by_bodies, true, d, W_d, &err), err);
    check_ok(sti_reduction_columns(yard.reduction, &err), err);
    sti_reduction_apply(yard.reduction, d, v, u);
    for (int c = 0; c < p->n_contacts; c++)
        for (int i = 0; i < p->contact[c].dim; i++) {
            const int first = p->contact[c].first, row = first + i, dim = p->contact[c].dim;
            double left = 0.5 * d[row];
            check_close(W_d[row], u[row] - yard.reduction->b[row], 1e-10); /* d is about 1, of 100 rows */
            for (int k = 0; k < dim; k++)
                left += (i == k ? 1.0 : c % 3 == 0 ? 0.2 : 0.0) * (W_d[first + k] + soft[k] * d[first + k]);
            check_close(left, -F[row], 1e-11);
        }
    sti_by_bodies_release(&by_bodies);
    free(F);
    free(d);
    free(W_d);
    free(u);
    free(v);
    free_yard(&yard);
}

/* Found through the graph, judged from nothing. */
static void test_solvers_end_at_solutions(void **state)
{
    (void)state;
    static const char *const names[] = {"nsgs", "newton", "auto"};
    Yard yard;
    st_Error err = {0};
    make_yard(&yard);
    for (int k = 0; k < 3; k++) {
        st_SolverDef def = st_solver_def();
        st_Solver *solver;
        st_SolveInfo info;
        st_Residual residual;
        double *r = calloc((size_t)yard.problem.n_r, sizeof *r), v[6 * 64], l[ROWS];
        st_Solution solution = {.r = r, .v = v, .l = l};
        def.name = names[k];
        def.tolerance = k == 0 ? 1e-6 : 1e-10; /* sweeps are slow in walls */
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_solver_solve(solver, &yard.problem, &solution, &info, &err), err);
        assert_true(info.converged);
        check_ok(st_problem_residual(&yard.problem, r, &residual, &err), err);
        check_below(residual.natural, def.tolerance);
        check_below(residual.joint, 1e-14);
        check_close(v[6 * LED + 2], 0.01, 1e-15); /* it moves as prescribed: G'v + g = 0 */
        st_solver_destroy(solver);
        free(r);
    }
    free_yard(&yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_freedoms), cmocka_unit_test(test_agrees_with_the_columns),
        cmocka_unit_test(test_judges_as_the_problem_does), cmocka_unit_test(test_steps_by_bodies),
        cmocka_unit_test(test_solvers_end_at_solutions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
