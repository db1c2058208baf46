/* The coloured sweep of graph.h: every version of its inner loop gives the same bits, its colours share no body,
 * and it ends where the general sweep ends. */
#include "bodies.h"
#include "check.h"
#include "pile/small_island.h"
#include "reduce/alart_curnier.h"
#include "reduce/reduce.h"
#include "reduce/residual.h"

static const st_ContactLaw coulomb = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.6};
static const st_ContactLaw steep = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 3.0}; /* judged in another way: law.c */

typedef struct Wall {
    Bodies bodies;
    st_Problem problem;
    sti_Reduction *reduction;
} Wall;

static void make_wall_of(Wall *wall, int courses, st_ContactLaw law)
{
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    *wall = (Wall){.bodies = bodies_new(64, 1024)};
    bodies_wall(&wall->bodies, courses, law);
    wall->problem = bodies_problem(&wall->bodies); /* the reduction keeps its address */
    check_ok(sti_reduction_create(&allocator, &wall->reduction, &err), err);
    check_ok(sti_reduce(wall->reduction, &wall->problem, &err), err);
    assert_non_null(wall->reduction->graph);
}

static void make_wall(Wall *wall, int courses)
{
    make_wall_of(wall, courses, coulomb);
}

static void free_wall(Wall *wall)
{
    sti_reduction_destroy(wall->reduction);
    bodies_free(&wall->bodies);
}

static void test_colours_share_no_body(void **state)
{
    (void)state;
    Wall wall;
    make_wall(&wall, 6);
    const sti_Graph *graph = wall.reduction->graph;
    int seen = 0, last_in[64];
    for (int k = 0; k < 64; k++)
        last_in[k] = -1;
    assert_true(graph->n_nodes < 64);
    for (int colour = 0; colour < 64; colour++)
        for (int s = graph->colour_first[colour]; s < graph->colour_first[colour + 1]; s++)
            for (int b = graph->stretch[s].first; b < graph->stretch[s].first + graph->stretch[s].count; b++)
                for (int lane = 0; lane < STI_LANES; lane++) {
                    if (graph->batch[b].contact[lane] < 0) continue;
                    seen++;
                    for (int side = 0; side < 2; side++) {
                        const int node = graph->batch[b].body[side][lane];
                        if (node == graph->n_nodes) continue;
                        assert_true(last_in[node] < colour);
                        last_in[node] = colour;
                    }
                }
    assert_int_equal(seen, wall.problem.n_contacts);
    free_wall(&wall);
}

/* r and v~ after some sweeps with one version of the inner loop. */
static void sweep_with(sti_Graph *graph, const sti_GraphCode *code, double *r, double *v)
{
    const int n = 3 * STI_LANES * graph->n_batches;
    memset(graph->r, 0, (size_t)n * sizeof *graph->r);
    memcpy(graph->v, graph->v_free, (size_t)STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof *graph->v);
    for (int k = 0; k < 20; k++)
        code->pass(graph->batch, sti_graph_map(graph, 0), graph->r, graph->v, graph->n_nodes, graph->n_batches,
                   STI_SWEEP);
    memcpy(r, graph->r, (size_t)n * sizeof *r);
    memcpy(v, graph->v, (size_t)STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof *v);
}

static void test_every_vector_unit_gives_the_same_bits(void **state)
{
    (void)state;
    Wall wall;
    make_wall(&wall, 7);
    sti_Graph *graph = wall.reduction->graph;
    const size_t n_r = 3 * STI_LANES * (size_t)graph->n_batches, n_v = STI_NODE * (size_t)(graph->n_nodes + 1);
    double *r = malloc(2 * n_r * sizeof *r), *v = malloc(2 * n_v * sizeof *v), size = 0;
    assert_true(r != NULL && v != NULL);
    sweep_with(graph, &sti_graph_plain, r, v);
    for (size_t k = 0; k < n_r; k++)
        size += r[k] * r[k];
    assert_true(size > 0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        sweep_with(graph, &sti_graph_avx2, r + n_r, v + n_v);
        assert_memory_equal(r, r + n_r, n_r * sizeof *r);
        assert_memory_equal(v, v + n_v, n_v * sizeof *v);
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        sweep_with(graph, &sti_graph_avx512, r + n_r, v + n_v);
        assert_memory_equal(r, r + n_r, n_r * sizeof *r);
        assert_memory_equal(v, v + n_v, n_v * sizeof *v);
    }
#endif
    free(r);
    free(v);
    free_wall(&wall);
}

/* The data of a batch before the first sweep, and the results of its evaluation, for one version of the code. */
typedef struct Made {
    double W[7 * STI_LANES], b[3 * STI_LANES], weight[3 * STI_LANES], sum[STI_SUMS], u[3 * STI_LANES];
    sti_LaneJudgement found;
} Made;

static void prepare_with(const sti_Graph *graph, const sti_GraphCode *code, int k, Made *out)
{
    _Alignas(STI_ALIGN) double numbers[3][3 * STI_LANES];
    sti_Batch batch = graph->batch[k];
    memset(out, 0, sizeof *out);
    code->prepare(&batch, sti_graph_map(graph, k), graph->v_free, numbers[0], numbers[1], out->sum);
    memcpy(numbers[2], graph->r + 3 * STI_LANES * (size_t)k, sizeof numbers[2]);
    sti_LaneJudgement found = {.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
    code->judge(&batch, sti_graph_map(graph, k), 1, numbers[1], graph->v, numbers[2], &found);
    code->invert(&batch);
    memcpy(out->W, batch.inverse_n, sizeof out->W); /* and the data after it */
    memcpy(out->b, numbers[0], sizeof out->b);
    memcpy(out->weight, numbers[1], sizeof out->weight);
    memcpy(out->u, numbers[2], sizeof out->u);
    memcpy(out->found.error, found.error, sizeof found.error);
    memcpy(out->found.power, found.power, sizeof found.power);
    memcpy(out->found.outside, found.outside, sizeof found.outside);
    memcpy(out->found.worst, found.worst, sizeof found.worst);
    memcpy(out->found.contact, found.contact, sizeof found.contact);
}

static void prepare_and_judge_everywhere(st_ContactLaw law)
{
    Wall wall;
    make_wall_of(&wall, 5, law);
    sti_Graph *graph = wall.reduction->graph;
    memset(graph->r, 0, 3 * STI_LANES * (size_t)graph->n_batches * sizeof *graph->r);
    sti_graph_restore(graph);
    for (int k = 0; k < 5; k++)
        sti_graph_sweep(graph);
    double size = 0;
    for (int k = 0; k < graph->n_batches; k++) {
        Made plain, other;
        prepare_with(graph, &sti_graph_plain, k, &plain);
        size += plain.sum[0];
        prepare_with(graph, sti_graph_code(), k, &other);
        assert_memory_equal(&plain, &other, sizeof plain);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2")) {
            prepare_with(graph, &sti_graph_avx2, k, &other);
            assert_memory_equal(&plain, &other, sizeof plain);
        }
#endif
    }
    assert_true(size > 0);
    free_wall(&wall);
}

static void test_every_vector_unit_prepares_and_judges_alike(void **state)
{
    (void)state;
    prepare_and_judge_everywhere(coulomb);
    prepare_and_judge_everywhere(steep);
}

/* The judge in lanes and the one that goes through the problem's own matrices, of an r on the way and of one outside
 * its cone.                                                                                       */
static void judge_in_both_ways(st_ContactLaw law)
{
    Wall wall;
    st_Error err = {0};
    make_wall_of(&wall, 5, law);
    check_ok(sti_reduction_columns(wall.reduction, &err), err);
    sti_Graph *graph = wall.reduction->graph;
    const st_Problem *p = &wall.problem;
    double *r = calloc((size_t)p->n_r, sizeof *r), *u = calloc(2 * (size_t)p->n_r, sizeof *u);
    double *v = calloc(2 * (size_t)p->n_v, sizeof *v);
    assert_non_null(r);
    assert_non_null(u);
    assert_non_null(v);
    memset(graph->r, 0, 3 * STI_LANES * (size_t)graph->n_batches * sizeof *graph->r);
    sti_graph_restore(graph);
    for (int trial = 0; trial < 4; trial++) {
        st_Residual lanes, matrices;
        for (int k = 0; k < 2; k++)
            sti_graph_sweep(graph);
        sti_graph_give(graph, r);
        if (trial == 3) r[p->contact[1].first + 1] += 1.0, r[p->contact[2].first] = -0.5;
        wall.reduction->graph = graph;
        wall.reduction->judged->known = false;
        sti_residual(wall.reduction, r, v, NULL, u, &lanes);
        wall.reduction->graph = NULL;
        wall.reduction->judged->known = false;
        wall.reduction->judged->scale = -1.0;
        sti_residual(wall.reduction, r, v + p->n_v, NULL, u + p->n_r, &matrices);
        assert_true(matrices.natural > 0);
        check_close(lanes.natural, matrices.natural, 1e-12 * matrices.natural); /* sums in another order */
        check_close(lanes.complementarity, matrices.complementarity, 1e-12 * matrices.complementarity);
        check_close(lanes.cone_violation, matrices.cone_violation, trial == 3 ? 1e-14 : 1e-15);
        assert_int_equal(lanes.worst_contact, matrices.worst_contact);
        for (int j = 0; j < p->n_r; j++)
            check_close(u[j], u[p->n_r + j], 1e-13);
        for (int i = 0; i < p->n_v; i++)
            check_close(v[i], v[p->n_v + i], 1e-13);
    }
    free(r);
    free(u);
    free(v);
    free_wall(&wall);
}

static void test_judges_as_the_problem_does(void **state)
{
    (void)state;
    judge_in_both_ways(coulomb);
    judge_in_both_ways(steep);
}

/* v~ is updated by the sweeps: computed again from r it is the same up to rounding. */
static void test_velocities_follow_the_impulses(void **state)
{
    (void)state;
    Wall wall;
    make_wall(&wall, 5);
    sti_Graph *graph = wall.reduction->graph;
    const int n_v = STI_NODE * (graph->n_nodes + 1);
    double *v = malloc((size_t)n_v * sizeof *v);
    assert_non_null(v);
    memset(graph->r, 0, 3 * STI_LANES * (size_t)graph->n_batches * sizeof *graph->r);
    sti_graph_restore(graph);
    for (int k = 0; k < 50; k++)
        sti_graph_sweep(graph);
    memcpy(v, graph->v, (size_t)n_v * sizeof *v);
    sti_graph_restore(graph);
    for (int k = 0; k < n_v; k++) /* 100 sums of numbers of the size of v~ */
        check_close(v[k], graph->v[k], 1e-13);
    free(v);
    free_wall(&wall);
}

/* b, W_cc and rho as the general way makes them: the columns are there on request. */
static void test_agrees_with_the_columns(void **state)
{
    (void)state;
    Wall wall;
    make_wall(&wall, 4);
    sti_Reduction *s = wall.reduction;
    st_Error err = {0};
    check_ok(sti_reduction_columns(s, &err), err);
    double *r = calloc((size_t)wall.problem.n_r, sizeof *r), *u = calloc((size_t)wall.problem.n_r, sizeof *u);
    double *v = calloc((size_t)wall.problem.n_v, sizeof *v);
    assert_true(r != NULL && u != NULL && v != NULL);
    sti_reduction_apply(s, r, v, u);
    for (int j = 0; j < wall.problem.n_r; j++)
        check_close(u[j], s->b[j], 1e-14);
    for (int c = 0; c < wall.problem.n_contacts; c++) { /* a unit impulse of each contact moves itself by W_cc */
        const int first = wall.problem.contact[c].first;
        for (int d = 0; d < 3; d++) {
            r[first + d] = 1;
            sti_reduction_apply(s, r, v, u);
            r[first + d] = 0;
            for (int e = 0; e < 3; e++)
                check_close(u[first + e] - s->b[first + e], s->W_diagonal[s->W_start[c] + 3 * e + d], 1e-12);
        }
    }
    free(r);
    free(u);
    free(v);
    free_wall(&wall);
}

/* A hub that 100 others fall on, along one line: more contacts at one body than there are colours. Those stick to it
 * that are faster than it; those that push move as one, by momentum. */
static void test_more_contacts_than_colours(void **state)
{
    (void)state;
    enum { N = 100 };
    double A[N + 1], f[N + 1], x[2 * N], w[N] = {0}, r[N] = {0}, v[N + 1];
    int first[N + 2], i[2 * N];
    int64_t p[N + 1], none = 0;
    st_ContactLaw contact[N];
    A[0] = 50.0, f[0] = 0.0, first[0] = 0, first[N + 1] = N + 1, p[0] = 0;
    for (int k = 0; k < N; k++) {
        A[k + 1] = 1.0 + k % 3;
        f[k + 1] = -A[k + 1] * (1.0 + 0.01 * k); /* falls with 1 m/s and more, faster the later */
        first[k + 1] = k + 1;
        i[2 * k] = 0, i[2 * k + 1] = k + 1;
        x[2 * k] = -1.0, x[2 * k + 1] = 1.0;
        p[k + 1] = 2 * (int64_t)(k + 1);
        contact[k] = (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = k};
    }
    const st_Problem problem = {.n_v = N + 1,
                                .n_r = N,
                                .n_contacts = N,
                                .A = {.n_blocks = N + 1, .first = first, .x = A},
                                .symmetric = true,
                                .G = {N + 1, 0, &none, NULL, NULL},
                                .H = {N + 1, N, p, i, x},
                                .f = f,
                                .w = w,
                                .contact = contact};
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    st_Solution solution = {.r = r, .v = v};
    st_SolveInfo info;
    st_Error err = {0};
    def.name = "nsgs";
    def.tolerance = 1e-12;
    check_ok(st_solver_create(&def, &solver, &err), err);
    check_ok(st_solver_solve(solver, &problem, &solution, &info, &err), err);
    assert_true(info.converged);
    double stuck_mass = 50.0, stuck_momentum = 0.0;
    for (int k = 0; k < N; k++) {
        assert_true(r[k] >= 0.0 && v[k + 1] - v[0] >= -1e-11);
        if (r[k] > 0.0) stuck_mass += A[k + 1], stuck_momentum += f[k + 1];
    }
    check_close(v[0], stuck_momentum / stuck_mass, 1e-11); /* those that push move as one */
    assert_true(stuck_mass > 50.0);
    st_solver_destroy(solver);
}

/* ---- small islands: pile/small_island.h ---- */

/* A wall with contacts that stick, slide and open: impulses of two sweeps, some of them changed. */
static void make_small(Wall *wall, sti_Small *small, const sti_GraphCode *code)
{
    st_Error err = {0};
    make_wall(wall, 5);
    *small = (sti_Small){.allocator = st_default_allocator(), .alpha = 1e-3};
    assert_true(sti_small_fits(wall->reduction->graph));
    check_ok(sti_small_take(small, wall->reduction->graph, &err), err);
    small->code = code;
    memset(small->r, 0, (size_t)small->n_packs * sizeof *small->r);
    code->small->judge(small, small->r, small->u);
    for (int k = 0; k < 2; k++)
        code->small->sweep(small, small->r);
    for (int c = 0; c < small->n; c += 3)
        small->r[c / STI_LANES].x[1 + c % 2][c % STI_LANES] += 0.3;
    memcpy(small->center, small->r, (size_t)small->n_packs * sizeof *small->r);
    small->center[0].x[0][0] += 0.25;
}

/* One Newton step with one version of the kernels: d, W d, and the measures. */
static void step_small(sti_Small *small, double measured[2])
{
    measured[0] = small->code->small->judge(small, small->r, small->u);
    measured[1] = small->code->small->law(small, small->r, small->u, true);
    assert_true(small->code->small->solve(small));
    small->code->small->step(small);
}

static void test_small_islands_on_every_vector_unit(void **state)
{
    (void)state;
    const sti_GraphCode *codes[3] = {&sti_graph_plain};
    int n = 1;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) codes[n++] = &sti_graph_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) codes[n++] = &sti_graph_avx512;
#endif
    Wall first, other;
    sti_Small a, b;
    double measured[2], again[2];
    make_small(&first, &a, codes[0]);
    step_small(&a, measured);
    for (int k = 1; k < n; k++) {
        make_small(&other, &b, codes[k]);
        step_small(&b, again);
        assert_memory_equal(measured, again, sizeof measured);
        for (int c = 0; c < a.n; c++)
            for (int d = 0; d < 3; d++) {
                const int pack = c / STI_LANES, lane = c % STI_LANES;
                assert_true(a.step[pack].x[d][lane] == b.step[pack].x[d][lane]);
                assert_true(a.step_u[pack].x[d][lane] == b.step_u[pack].x[d][lane]);
            }
        sti_small_release(&b);
        free_wall(&other);
    }
    sti_small_release(&a);
    free_wall(&first);
}

/* The residual is that of residual.c; and the step solves Newton's equations as alart_curnier.c and the problem's own
 * W state them, contact by contact.                                                                 */
static void test_small_islands_solve_newtons_equations(void **state)
{
    (void)state;
    Wall wall;
    sti_Small s;
    double measured[2], r[1024], u[1024], moved[1024], step[1024];
    int kinds[3] = {0};
    st_Residual residual;
    make_small(&wall, &s, sti_graph_code());
    const st_Problem *p = &wall.problem;
    assert_true(p->n_r <= 1024);
    step_small(&s, measured);
    sti_small_get(&s, p, s.r, r);
    sti_small_get(&s, p, s.step, step);
    sti_residual(wall.reduction, r, NULL, NULL, u, &residual);
    check_close(sqrt(measured[0]) / sti_residual_scale(wall.reduction), residual.natural, 1e-12);
    for (int j = 0; j < p->n_r; j++)
        moved[j] = r[j] + step[j];
    sti_residual(wall.reduction, moved, NULL, NULL, moved, &residual);
    for (int c = 0; c < s.n; c++) {
        const int pack = c / STI_LANES, lane = c % STI_LANES, first = p->contact[c].first;
        const double rho[3] = {s.pack[pack].rho_n[lane], s.pack[pack].rho_t[lane], s.pack[pack].rho_t[lane]};
        double shifted[3], F[3], A[9], B[9];
        for (int d = 0; d < 3; d++)
            shifted[d] = u[first + d] + s.alpha / rho[d] * (r[first + d] - s.center[pack].x[d][lane]);
        const bool active = sti_slope(&p->contact[c], r + first, shifted, rho, F, A, B);
        kinds[!active ? 0 : B[3] == 0.0 ? 1 : 2]++;
        for (int i = 0; i < 3; i++) {
            double sum = F[i];
            for (int k = 0; k < 3; k++)
                sum += A[3 * i + k] * step[first + k] +
                       B[3 * i + k] * (moved[first + k] - u[first + k] + s.alpha / rho[k] * step[first + k]);
            assert_true(fabs(sum) < 1e-9);
        }
    }
    assert_true(kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0); /* open, sticking, sliding */
    sti_small_release(&s);
    free_wall(&wall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours_share_no_body),
        cmocka_unit_test(test_every_vector_unit_gives_the_same_bits),
        cmocka_unit_test(test_every_vector_unit_prepares_and_judges_alike),
        cmocka_unit_test(test_judges_as_the_problem_does),
        cmocka_unit_test(test_velocities_follow_the_impulses),
        cmocka_unit_test(test_agrees_with_the_columns),
        cmocka_unit_test(test_more_contacts_than_colours),
        cmocka_unit_test(test_small_islands_on_every_vector_unit),
        cmocka_unit_test(test_small_islands_solve_newtons_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
