/* Contacts of a pile as arrays (problem/pile_contacts.h) are the same problem as with rows of H, in the lanes of round
 * bodies and in those of others, for every vector unit and solver. */
#include "check.h"
#include "pile/pile.h"
#include "pile/rest.h"
#include "reduce/reduce.h"
#include "reduce/residual.h"
#include "solve/islands.h"
#include "step/system.h"

#include <stiction/stiction.h>
#include <string.h>

typedef struct Pile {
    st_Scene *scene;
    st_System *system;
    st_Error err;
} Pile;

/* Tumbling bodies of three sizes that lie on and run into each other; every fifth without friction, and
 * one fixed. With friction of rolling, of spinning, of both or of none, where they turn. */
static void make_pile(Pile *pile, bool boxes, bool islands, bool turning)
{
    check_Random random = {11};
    st_SystemDef def = st_system_def();
    st_ShapeDef floor = st_plane_def();
    *pile = (Pile){.scene = NULL};
    def.solver = "nsgs", def.tolerance = 1e-3, def.max_iterations = 30;
    def.margin = 0.05, def.h = 1.0 / 240, def.islands = islands;
    check_ok(st_scene_create(&pile->scene, &pile->err), pile->err);
    check_ok(st_scene_add_shape(pile->scene, ST_GROUND, &floor, NULL, &pile->err), pile->err);
    for (int k = 0; k < 120; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        const double size = 0.1 * (1 + 0.1 * (k % 3));
        st_ShapeDef shape = boxes ? st_box_def(size, 0.8 * size, 0.9 * size) : st_sphere_def(size);
        shape.mu = k % 5 == 0 ? 0 : 0.6;
        if (turning && k % 4 < 2) shape.rolling = 0.01;
        if (turning && k % 3 == 0) shape.spinning = 0.004;
        const int layer = k / 25;
        body.pose.p = (st_Vec3){0.25 * (k % 5), 0.25 * (k / 5 % 5), 0.13 + 0.25 * layer};
        body.pose.q = boxes ? (st_Quat){1, 0, 0, 0} : (st_Quat){0.5, 0.5, -0.5, 0.5};
        body.velocity = (st_Vec3){check_random(&random, -1, 1), check_random(&random, -1, 1), -1};
        body.spin = (st_Vec3){check_random(&random, -3, 3), check_random(&random, -3, 3), 1};
        if (k == 17) body.fixed = true, body.velocity = body.spin = (st_Vec3){0, 0, 0};
        check_ok(st_scene_add_body(pile->scene, &body, &id, &pile->err), pile->err);
        check_ok(st_scene_add_shape(pile->scene, id, &shape, NULL, &pile->err), pile->err);
    }
    check_ok(st_system_create(pile->scene, &def, &pile->system, &pile->err), pile->err);
    for (int k = 0; k < 40; k++)
        check_ok(st_system_step(pile->system, def.h, NULL, &pile->err), pile->err);
}

static void free_pile(Pile *pile)
{
    st_system_destroy(pile->system);
    st_scene_destroy(pile->scene);
}

/* u = H~'v~ + C r + w with the rows of contacts out of their lanes. */
static void check_rows(const sti_Graph *graph, const double *r, const double *u)
{
    const st_Problem *p = graph->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        double rows[2][3][6], turns[2][3][6];
        sti_graph_rows(graph, c, rows);
        sti_graph_turn_rows(graph, c, turns);
        for (int d = 0; d < p->contact[c].dim; d++) {
            const int row = p->contact[c].first + d;
            double sum = p->w[row] + sti_graph_compliance(graph, c, d) * r[row];
            for (int k = 0; k < 12; k++) {
                const double x = d < 3 ? rows[k / 6][d][k % 6] : turns[k / 6][d - 3][k % 6];
                sum += x * graph->v_judged[STI_NODE * (ptrdiff_t)graph->legs[2 * c + k / 6] + k % 6];
            }
            check_close(sum, u[row], 1e-13);
        }
    }
}

static void reduce_pile(sti_Reduction *reduction, const st_System *system)
{
    st_Error err = {0};
    check_ok(sti_reduce_joints(reduction, &system->work.step.problem, &system->work.step.pile, &err), err);
    check_ok(sti_reduce_contacts(reduction, &err), err);
}

/* The problem by its lanes, and by H: both judge the same r. */
static void compare(bool boxes, bool turning)
{
    const st_Allocator allocator = st_default_allocator();
    Pile pile;
    st_Error err = {0};
    make_pile(&pile, boxes, false, turning);
    const st_Problem *p = &pile.system->work.step.problem;
    sti_Reduction *arrays, *made;
    assert_true(pile.system->work.step.piled);
    assert_null(p->H.p);
    check_ok(sti_reduction_create(&allocator, &arrays, &err), err);
    check_ok(sti_reduction_create(&allocator, &made, &err), err);
    reduce_pile(arrays, pile.system);
    assert_non_null(arrays->graph);
    assert_null(p->H.p);
    assert_true(arrays->graph->round == !boxes);
    assert_true(arrays->graph->turning == turning);
    int dims[ST_MAX_DIM + 1] = {0};
    for (int c = 0; c < p->n_contacts; c++)
        dims[p->contact[c].dim]++;
    assert_true(dims[1] > 0 && dims[3] > 0);
    if (turning) assert_true(dims[4] > 0 && dims[5] > 0 && dims[6] > 0);

    const double *r;
    st_Problem copy = *st_system_problem(pile.system, &r);
    assert_non_null(p->H.p);
    check_ok(st_problem_check(&copy, &err), err);
    check_ok(sti_reduce(made, &copy, &err), err);
    check_ok(sti_reduction_columns(made, &err), err);
    made->graph = NULL; /* by the matrices */
    made->judged->scale = -1.0;

    double *u = calloc(2 * (size_t)p->n_r, sizeof *u), *v = calloc(2 * (size_t)p->n_v, sizeof *v), largest = 0;
    assert_non_null(u);
    assert_non_null(v);
    st_Residual lanes, matrices;
    sti_residual(arrays, r, v, NULL, u, &lanes);
    sti_residual(made, r, v + p->n_v, NULL, u + p->n_r, &matrices);
    assert_true(matrices.natural > 0);
    /* sums in another order */
    check_close(lanes.natural, matrices.natural, 1e-11 * matrices.natural);
    check_close(lanes.complementarity, matrices.complementarity, 1e-11 * matrices.complementarity);
    for (int j = 0; j < p->n_r; j++) {
        check_close(u[j], u[p->n_r + j], 1e-13);
        largest = fmax(largest, fabs(r[j]));
    }
    for (int i = 0; i < p->n_v; i++)
        check_close(v[i], v[p->n_v + i], 1e-13);
    assert_true(largest > 0.01); /* they do push each other */
    check_rows(arrays->graph, r, u);

    /* With another w the same r is exact but for rounding, which decides then: u is computed again from rows. */
    st_Problem bare = *p;
    double *w = calloc((size_t)p->n_r, sizeof *w);
    assert_non_null(w);
    for (int c = 0; c < p->n_contacts; c++) {
        const int first = p->contact[c].first;
        for (int j = first; j < first + p->contact[c].dim; j++)
            w[j] = p->w[j] - u[j];
        if (r[first] == 0) w[first] += 1;
    }
    bare.H = (st_Sparse){0};
    bare.w = w;
    check_ok(sti_reduce_joints(arrays, &bare, &pile.system->work.step.pile, &err), err);
    check_ok(sti_reduce_contacts(arrays, &err), err);
    sti_residual(arrays, r, v, NULL, u, &lanes);
    check_close(lanes.natural, 0, 1e-14);
    check_ok(sti_residual_certify(arrays, r, lanes.natural, &lanes, &err), err);
    assert_non_null(arrays->problem->H.p);
    check_close(lanes.natural, 0, 1e-14);
    free(w);
    free(u);
    free(v);
    sti_reduction_destroy(arrays);
    sti_reduction_destroy(made);
    free_pile(&pile);
}

static void test_balls_are_the_same_problem(void **state)
{
    (void)state;
    compare(false, false);
    compare(false, true);
}

static void test_boxes_are_the_same_problem(void **state)
{
    (void)state;
    compare(true, false);
    compare(true, true);
}

/* Sweeps with one version of the code, from r = 0. */
static void sweep_with(sti_Graph *graph, const sti_GraphCode *code, double *r, double *v)
{
    const size_t n_r = (size_t)(graph->n_dirs * STI_LANES) * (size_t)graph->n_batches;
    memset(graph->r, 0, n_r * sizeof *graph->r);
    memcpy(graph->v, graph->v_free, (size_t)STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof *graph->v);
    for (int k = 0; k < 3; k++)
        code->pass(graph->batch, sti_graph_map(graph, 0), graph->r, graph->v, graph->n_nodes, graph->n_batches,
                   STI_SWEEP);
    memcpy(r, graph->r, n_r * sizeof *r);
    memcpy(v, graph->v, (size_t)STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof *v);
}

static void compare_units(bool turning)
{
    const st_Allocator allocator = st_default_allocator();
    Pile pile;
    st_Error err = {0};
    make_pile(&pile, false, false, turning);
    sti_Reduction *reduction;
    check_ok(sti_reduction_create(&allocator, &reduction, &err), err);
    reduce_pile(reduction, pile.system);
    sti_Graph *graph = reduction->graph;
    assert_non_null(graph);
    assert_true(graph->round);
    const size_t n_r = (size_t)(graph->n_dirs * STI_LANES) * (size_t)graph->n_batches,
                 n_v = STI_NODE * (size_t)(graph->n_nodes + 1);
    double *r = calloc(2 * n_r, sizeof *r), *v = calloc(2 * n_v, sizeof *v);
    assert_non_null(r);
    assert_non_null(v);
    sweep_with(graph, &sti_graph_plain, r, v);
    sweep_with(graph, sti_graph_code(), r + n_r, v + n_v);
    assert_memory_equal(r, r + n_r, n_r * sizeof *r);
    assert_memory_equal(v, v + n_v, n_v * sizeof *v);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        sweep_with(graph, &sti_graph_avx2, r + n_r, v + n_v);
        assert_memory_equal(r, r + n_r, n_r * sizeof *r);
        assert_memory_equal(v, v + n_v, n_v * sizeof *v);
    }
#endif
    free(r);
    free(v);
    sti_reduction_destroy(reduction);
    free_pile(&pile);
}

static void test_balls_have_the_same_bits_with_every_vector_unit(void **state)
{
    (void)state;
    compare_units(false);
    compare_units(true);
}

/* Sweeps in lanes, newton on the velocities of bodies and projected gradients with rows of H. */
static void solve_by(const char *solver, const st_Problem *p, const sti_PileContacts *contacts, double tolerance,
                     st_Solution *out)
{
    st_Error err = {0};
    st_Solver *made;
    st_SolveInfo info;
    st_SolverDef def = st_solver_def();
    def.name = solver, def.tolerance = tolerance, def.max_iterations = 20000;
    check_ok(st_solver_create(&def, &made, &err), err);
    check_ok(sti_solver_solve(made, p, contacts, out, &info, &err), err);
    assert_true(info.converged);
    st_solver_destroy(made);
}

static void test_rolling_and_spinning_end_at_the_same_velocities(void **state)
{
    (void)state;
    Pile pile;
    make_pile(&pile, false, false, true);
    const st_Problem *p = &pile.system->work.step.problem;
    const size_t n = (size_t)p->n_r + (size_t)p->n_v;
    double *x = calloc(3 * n, sizeof *x), largest = 0;
    assert_non_null(x);
    assert_null(p->H.p);
    st_Solution sweeps = {.r = x, .v = x + p->n_r}, bodies = {.r = x + n, .v = x + n + p->n_r},
                rows = {.r = x + 2 * n, .v = x + 2 * n + p->n_r};
    solve_by("nsgs", p, &pile.system->work.step.pile, 1e-9, &sweeps);
    solve_by("newton", p, &pile.system->work.step.pile, 1e-10, &bodies);
    solve_by("admm", st_system_problem(pile.system, NULL), NULL, 1e-9, &rows);
    for (int i = 0; i < p->n_v; i++) {
        const double close = 1e-5 * (1 + fabs(bodies.v[i])); /* projected gradients stop in a flat valley: 1.1e-6 */
        largest = fmax(largest, fabs(sweeps.v[i]));
        check_close(sweeps.v[i], bodies.v[i], close);
        check_close(rows.v[i], bodies.v[i], close);
    }
    assert_true(largest > 0.1);
    free(x);
    free_pile(&pile);
}

/* The solution of newton is a fixed point of the sweeps, and points near it are not. Sweeps over boxes take
 * thousands of rounds to 1e-7: their limit is not compared. */
static void test_solutions_with_rolling_are_fixed_points_of_sweeps(void **state)
{
    (void)state;
    for (int boxes = 0; boxes < 2; boxes++) {
        const st_Allocator allocator = st_default_allocator();
        Pile pile;
        st_Error err = {0};
        sti_Reduction *reduction;
        make_pile(&pile, boxes, false, true);
        const st_Problem *p = &pile.system->work.step.problem;
        double *r = calloc((size_t)p->n_r, sizeof *r), size = 0;
        assert_non_null(r);
        st_Solution found = {.r = r};
        solve_by("newton", p, &pile.system->work.step.pile, 1e-10, &found);
        for (int j = 0; j < p->n_r; j++)
            size += r[j] * r[j];
        size = sqrt(size);
        check_ok(sti_reduction_create(&allocator, &reduction, &err), err);
        reduce_pile(reduction, pile.system);
        sti_graph_take(reduction->graph, r);
        sti_graph_restore(reduction->graph);
        assert_true(sti_graph_sweep(reduction->graph) < 1e-8 * size);
        for (int j = 0; j < p->n_r; j++)
            r[j] *= 0.99;
        sti_graph_take(reduction->graph, r);
        sti_graph_restore(reduction->graph);
        assert_true(sti_graph_sweep(reduction->graph) > 1e-3 * size);
        sti_reduction_destroy(reduction);
        free(r);
        free_pile(&pile);
    }
}

/* As islands, each with arrays of its own, and as one: the same motion as far as the tolerance goes. */
static void test_islands_take_their_part_of_the_arrays(void **state)
{
    (void)state;
    Pile one, many;
    make_pile(&one, false, false, false);
    make_pile(&many, false, true, false);
    assert_true(st_system_island_count(many.system) > 1);
    double z_one = 0, z_many = 0;
    for (int k = 0; k < 120; k++) {
        z_one += one.system->state.q[STI_BODY_Q * k + 2] / 120;
        z_many += many.system->state.q[STI_BODY_Q * k + 2] / 120;
    }
    check_close(z_one, z_many, 2e-3); /* 120 bodies fell by 0.1 m; chaos moves single ones by a hundredth of that */
    free_pile(&one);
    free_pile(&many);
}

/* Stacks of cubes side by side, or one on the gap between two others so that all are one island, at rest. */
static void make_stacks(Pile *pile, bool joined)
{
    enum { STACKS = 5, CUBES = 4 };
    st_SystemDef def = st_system_def();
    st_ShapeDef floor = st_plane_def(), cube = st_box_def(0.1, 0.1, 0.1);
    *pile = (Pile){.scene = NULL};
    def.h = 1.0 / 240;
    floor.mu = cube.mu = 0.5;
    check_ok(st_scene_create(&pile->scene, &pile->err), pile->err);
    check_ok(st_scene_add_shape(pile->scene, ST_GROUND, &floor, NULL, &pile->err), pile->err);
    for (int k = 0; k < STACKS * CUBES; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        body.pose.p =
            (st_Vec3){0.21 * (k % STACKS) + (joined ? 0.1 * (k / STACKS % 2) : 0), 0, 0.1 + 0.2 * (k / STACKS)};
        check_ok(st_scene_add_body(pile->scene, &body, &id, &pile->err), pile->err);
        check_ok(st_scene_add_shape(pile->scene, id, &cube, NULL, &pile->err), pile->err);
    }
    check_ok(st_system_create(pile->scene, &def, &pile->system, &pile->err), pile->err);
}

/* A start that is confirmed without a solver (islands_confirm.c) is judged as any other: v, u and the residual are
 * those that the problem's own matrices give. Most steps of things at rest end there.                       */
static void test_starts_are_judged_as_answers_are(void **state)
{
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        const st_Allocator allocator = st_default_allocator();
        Pile pile;
        int confirmed = 0;
        make_stacks(&pile, joined == 1);
        for (int k = 0; k < 60; k++) {
            st_StepInfo info = st_step_info();
            const double *r;
            st_Error err = {0};
            check_ok(st_system_step(pile.system, 1.0 / 240, &info, &pile.err), pile.err);
            assert_true(pile.system->work.step.piled && info.solve.converged);
            check_below(info.solve.residual.natural, 1e-8);
            const sti_Islands *islands = pile.system->work.islands;
            bool all = true; /* a solver that accepts its start looks the same in the report */
            for (int i = 0; i < sti_islands_count(islands); i++)
                all = all && sti_islands_get(islands, i)->confirmed;
            if (k < 20 || !all) continue;
            assert_true(info.solve.iterations == 0 && info.solve.work == 1);
            confirmed++;
            const st_Problem *p = st_system_problem(pile.system, &r);
            sti_Reduction *reduction;
            st_Residual residual;
            double *v = calloc((size_t)(p->n_v + p->n_r), sizeof *v), *u = v + p->n_v, largest = 0;
            check_ok(sti_reduction_create(&allocator, &reduction, &err), err);
            check_ok(sti_reduce(reduction, p, &err), err);
            sti_residual(reduction, r, v, NULL, u, &residual);
            for (int i = 0; i < p->n_v; i++)
                check_close(pile.system->state.v[i], v[i], 1e-14);
            for (int j = 0; j < p->n_r; j++) {
                check_close(pile.system->work.step.u[j], u[j], 1e-14);
                largest = fmax(largest, r[j]);
            }
            assert_true(largest > 0.01);
            if (joined == 1) check_close(info.solve.residual.natural, residual.natural, 1e-11);
            check_close(info.solve.residual.complementarity, residual.complementarity, 1e-13);
            sti_reduction_destroy(reduction);
            free(v);
        }
        assert_true(confirmed > 25);
        free_pile(&pile);
    }
}

static void fill_at_random(check_Random *random, double *x, int n)
{
    for (int k = 0; k < n; k++)
        x[k] = check_random(random, 0.1, 1);
}

static void test_starts_are_judged_with_the_same_bits_by_every_vector_unit(void **state)
{
    (void)state;
    enum { BODIES = 7, PACKS = 3 };
    const sti_GraphCode *codes[3] = {&sti_graph_plain};
    int n = 1;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) codes[n++] = &sti_graph_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) codes[n++] = &sti_graph_avx512;
#endif
    static sti_RestBody start_body[BODIES], body[3][BODIES];
    static sti_RestPack start_pack[PACKS], pack[3][PACKS];
    static sti_RestSums sums[3];
    static double frame[STI_LANES * PACKS][9];
    check_Random random = {5};
    for (int k = 0; k < BODIES; k++)
        fill_at_random(&random, start_body[k].pushed, 4 * STI_NODE);
    for (int c = 0; c < STI_LANES * PACKS; c++)
        fill_at_random(&random, frame[c], 9);
    start_body[BODIES - 1] = (sti_RestBody){0};
    for (int c = 0; c < STI_LANES * PACKS; c++) {
        sti_RestPack *to = &start_pack[c / STI_LANES];
        const int lane = c % STI_LANES;
        for (int k = 0; k < 3; k++) {
            to->r[k][lane] = check_random(&random, -0.5, 1);
            to->w[k][lane] = check_random(&random, -1, 1);
            to->C[k][lane] = check_random(&random, 0, 0.1);
        }
        to->mu[lane] = check_random(&random, 0, 2);
        to->frame[lane] = frame[c];
        to->body[0][lane] = c % BODIES;
        to->body[1][lane] = (c + 1 + c / BODIES % 3) % BODIES;
    }
    for (int k = 0; k < n; k++) {
        memcpy(body[k], start_body, sizeof start_body);
        memcpy(pack[k], start_pack, sizeof start_pack);
        codes[k]->rest->push(body[k], pack[k], PACKS);
        codes[k]->rest->judge(body[k], pack[k], PACKS, &sums[k]);
        assert_memory_equal(body[k], body[0], sizeof body[0]);
        assert_memory_equal(pack[k], pack[0], sizeof pack[0]);
        assert_memory_equal(&sums[k], &sums[0], sizeof sums[0]);
    }
    assert_true(sums[0].error[3] > 0 && sums[0].rounding[7] > 0);
}

/* Rows of a contact are 36 numbers and their places. Neither a new state of a pile nor its steps need them. */
static void test_piles_have_no_rows(void **state)
{
    (void)state;
    Pile pile;
    make_pile(&pile, false, true, false);
    const sti_StepWork *work = &pile.system->work;
    double *q = calloc((size_t)st_system_n_q(pile.system), sizeof *q),
           *v = calloc((size_t)st_system_n_v(pile.system), sizeof *v);
    st_system_state(pile.system, q, v);
    check_ok(st_system_set_state(pile.system, 0, q, v, &pile.err), pile.err);
    assert_true(work->here.n_contacts >= 64);
    assert_null(work->here.contact_rows.x);
    for (int k = 0; k < 2; k++)
        check_ok(st_system_step(pile.system, 1.0 / 240, NULL, &pile.err), pile.err);
    assert_true(work->step.piled);
    assert_null(work->here.contact_rows.x);
    assert_null(work->trial.contact_rows.x);
    free(q);
    free(v);
    free_pile(&pile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balls_are_the_same_problem),
        cmocka_unit_test(test_boxes_are_the_same_problem),
        cmocka_unit_test(test_balls_have_the_same_bits_with_every_vector_unit),
        cmocka_unit_test(test_rolling_and_spinning_end_at_the_same_velocities),
        cmocka_unit_test(test_solutions_with_rolling_are_fixed_points_of_sweeps),
        cmocka_unit_test(test_islands_take_their_part_of_the_arrays),
        cmocka_unit_test(test_starts_are_judged_as_answers_are),
        cmocka_unit_test(test_starts_are_judged_with_the_same_bits_by_every_vector_unit),
        cmocka_unit_test(test_piles_have_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
