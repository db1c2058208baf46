/* For developers of solvers: histories, parameters by name, and a user-defined solver, alone and in steps. */
#include "check.h"

#include <stiction/stiction.h>
#include <string.h>

enum { ROWS = 30, CONTACTS = 10 };

/* u = W r + b in space, W = B B' + I, mu = 0.5. */
typedef struct Made {
    st_LocalProblem problem;
    st_ContactLaw law[CONTACTS];
    int64_t p[ROWS + 1];
    int i[ROWS * ROWS];
    double x[ROWS * ROWS], b[ROWS];
} Made;

static void make_local(Made *m, uint64_t seed)
{
    check_Random random = {seed};
    double B[ROWS][ROWS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            B[i][j] = check_random(&random, -0.3, 0.3);
    for (int j = 0; j < ROWS; j++) {
        m->p[j] = (int64_t)j * ROWS;
        m->b[j] = check_random(&random, j % 3 == 0 ? -1.5 : -1.0, j % 3 == 0 ? 0.5 : 1.0);
        for (int i = 0; i < ROWS; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < ROWS; k++)
                sum += B[i][k] * B[j][k];
            m->i[j * ROWS + i] = i;
            m->x[j * ROWS + i] = sum;
        }
    }
    m->p[ROWS] = (int64_t)ROWS * ROWS;
    for (int c = 0; c < CONTACTS; c++)
        m->law[c] = (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .first = 3 * c, .mu = 0.5};
    m->problem = (st_LocalProblem){
        .n_r = ROWS, .n_contacts = CONTACTS, .W = {ROWS, ROWS, m->p, m->i, m->x}, .b = m->b, .contact = m->law};
}

static st_Status solve_with(const st_SolverDef *def, const Made *m, double *r, st_SolveInfo *info, st_Error *err)
{
    st_Solver *solver = NULL;
    st_Status status = st_solver_create(def, &solver, err);
    if (status == ST_OK) status = st_solver_solve_local(solver, &m->problem, &(st_Solution){.r = r}, info, err);
    st_solver_destroy(solver);
    return status;
}

/* ------------------------------------------------------------------ history */

typedef struct Lines {
    int count, last;
    double residual, work;
    bool ordered;
} Lines;

static void keep_line(void *ctx, const st_Progress *line)
{
    Lines *lines = ctx;
    lines->ordered = lines->ordered && line->iteration >= lines->last && line->work >= lines->work &&
                     st_solver_help(line->solver) != NULL;
    lines->count++;
    lines->last = line->iteration;
    lines->work = line->work;
    lines->residual = line->residual;
}

/* A line for every iteration, the last one at the tolerance, and the same bits as without. */
static void test_history(void **state)
{
    (void)state;
    static Made m;
    make_local(&m, 3);
    for (int k = 0; k < st_solver_count(); k++) {
        const char *name = st_solver_name(k);
        if (!st_solver_accepts(name, ST_LAW_COULOMB, 3, true)) continue;
        st_SolverDef def = st_solver_def();
        st_SolveInfo info, again;
        st_Error err = {0};
        double r[ROWS], same[ROWS];
        Lines lines = {.ordered = true};
        def.name = name;
        def.tolerance = 1e-7; /* the accuracy of ipm alone */
        check_ok(solve_with(&def, &m, r, &info, &err), err);
        def.progress = keep_line;
        def.progress_ctx = &lines;
        check_ok(solve_with(&def, &m, same, &again, &err), err);
        assert_memory_equal(r, same, sizeof r);
        assert_true(info.converged && lines.ordered);
        assert_true(lines.count >= info.iterations / 2 && lines.count > 0);
        assert_int_equal(lines.last, info.iterations);
        check_below(lines.residual, def.tolerance);
    }
}

/* ------------------------------------------------------------------ parameters */

static void test_parameters(void **state)
{
    (void)state;
    static Made m;
    make_local(&m, 4);
    st_SolveInfo fast, slow;
    st_Error err = {0};
    double r[ROWS];
    st_SolverDef def = st_solver_def();
    def.name = "nsgs";
    check_ok(solve_with(&def, &m, r, &fast, &err), err);
    const st_SolverValue plain = {"accelerate", 0.0};
    def.values = &plain;
    def.n_values = 1;
    check_ok(solve_with(&def, &m, r, &slow, &err), err);
    assert_true(fast.converged && slow.converged && slow.iterations > fast.iterations);

    def.name = "auto"; /* a parameter of one of its solvers */
    const st_SolverValue of_ipm = {"ipm.border", 0.9};
    def.values = &of_ipm;
    check_ok(solve_with(&def, &m, r, &fast, &err), err);
    const struct {
        st_SolverValue value;
        const char *word;
    } wrong[] = {{{"border", 0.9}, "border"},      {{"ipm.bordr", 0.9}, "bordr"}, {{"gauss.border", 0.9}, "gauss"},
                 {{"ipm.border", 2.0}, "0.99999"}, {{"ipm.border", NAN}, "nan"},  {{NULL, 1.0}, "null"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        def.values = &wrong[k].value;
        assert_int_equal(solve_with(&def, &m, r, &fast, &err), ST_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, wrong[k].word));
    }
    for (int k = 0; k < st_solver_count(); k++)
        for (int i = 0; st_solver_parameter(st_solver_name(k), i) != NULL; i++) {
            const st_SolverParameter *p = st_solver_parameter(st_solver_name(k), i);
            assert_true(p->min <= p->value && p->value <= p->max && p->help != NULL);
        }
    assert_null(st_solver_parameter("gauss", 0));
    assert_null(st_solver_parameter("ipm", -1));
}

/* ------------------------------------------------------------------ a solver of one's own */

/* Projected gradients with the shift mu |u_T|: slow, and independent of all of ours. */
static st_Status gradients(void *ctx, const st_Reduced *p, double *r, st_Error *err)
{
    int *calls = ctx;
    double u[3 * 64];
    (void)err;
    (*calls)++;
    assert_true(p->n_r <= 3 * 64);
    for (int k = 0; k < 20000 && !st_reduced_ends(p); k++) {
        if (k % 20 == 0 && st_reduced_residual(p, r) <= p->tolerance) break;
        st_reduced_apply(p, r, u);
        for (int c = 0; c < p->n_contacts; c++) {
            const st_ContactLaw *contact = &p->contact[c];
            const int f = contact->first;
            double x[ST_MAX_DIM];
            for (int d = 0; d < contact->dim; d++)
                x[d] = r[f + d] - 0.2 * p->rho[c] * u[f + d];
            if (contact->dim == 3) x[0] -= 0.2 * p->rho[c] * contact->mu * hypot(u[f + 1], u[f + 2]);
            st_law_project(contact, x);
            memcpy(r + f, x, (size_t)contact->dim * sizeof *x);
        }
    }
    return ST_OK;
}

static bool takes_space(void *ctx, st_Law law, int dim, bool symmetric)
{
    (void)ctx;
    (void)symmetric;
    return law == ST_LAW_COULOMB || dim == 1;
}

static void test_own_solver(void **state)
{
    (void)state;
    static Made m;
    int calls = 0;
    make_local(&m, 5);
    const st_OwnSolver own = {.name = "gradients", .accepts = takes_space, .solve = gradients, .ctx = &calls};
    st_SolverDef def = st_solver_def();
    st_SolveInfo info;
    st_Error err = {0};
    double r[ROWS], expected[ROWS];
    def.tolerance = 1e-10;
    check_ok(solve_with(&def, &m, expected, &info, &err), err);
    def.own = &own;
    check_ok(solve_with(&def, &m, r, &info, &err), err);
    assert_true(info.converged && calls == 1 && info.iterations > 0);
    assert_string_equal(info.solver, "gradients");
    for (int j = 0; j < ROWS; j++) /* W is definite, mu small: one solution */
        check_below(fabs(r[j] - expected[j]), 1e-8);
    m.law[4].law = ST_LAW_BOX;
    assert_int_equal(solve_with(&def, &m, r, &info, &err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "gradients"));
    const st_OwnSolver nameless = {.solve = gradients};
    def.own = &nameless;
    assert_int_equal(solve_with(&def, &m, r, &info, &err), ST_ERR_ARGUMENT);
}

/* W as a matrix is the W that is applied. */
static st_Status compare_matrix(void *ctx, const st_Reduced *p, double *r, st_Error *err)
{
    bool *same = ctx;
    st_Sparse W;
    double u[ROWS], sum[ROWS];
    const st_Status status = st_reduced_matrix(p, &W, err);
    if (status != ST_OK) return status;
    for (int j = 0; j < p->n_r; j++) {
        r[j] = 0.1 * (j % 7) - 0.2;
        sum[j] = p->b[j];
    }
    for (int j = 0; j < p->n_r; j++)
        for (int64_t e = W.p[j]; e < W.p[j + 1]; e++)
            sum[W.i[e]] += W.x[e] * r[j];
    st_reduced_apply(p, r, u);
    *same = true;
    for (int j = 0; j < p->n_r; j++)
        *same = *same && fabs(sum[j] - u[j]) <= 1e-12;
    return ST_OK;
}

static void test_matrix(void **state)
{
    (void)state;
    static Made m;
    bool same = false;
    make_local(&m, 6);
    const st_OwnSolver own = {.name = "matrix", .solve = compare_matrix, .ctx = &same};
    st_SolverDef def = st_solver_def();
    st_SolveInfo info;
    st_Error err = {0};
    double r[ROWS];
    def.own = &own;
    check_ok(solve_with(&def, &m, r, &info, &err), err);
    assert_true(same);
    assert_false(info.converged); /* its result is evaluated, its claim is not used */
}

/* A box that slides to rest: stopping distance v^2/(2 mu g) within the scheme's error h v/2. */
static void test_own_solver_in_steps(void **state)
{
    (void)state;
    int calls = 0;
    const double v0 = 2.0, mu = 0.5, g = 9.81, h = 1e-3;
    const st_OwnSolver own = {.name = "gradients", .accepts = takes_space, .solve = gradients, .ctx = &calls};
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL, *clone = NULL;
    st_BodyId floor_id, box_id;
    st_BodyDef ground = st_body_def(), body = st_body_def();
    st_ShapeDef plane = st_plane_def(), box = st_box_def(0.1, 0.1, 0.1);
    ground.fixed = true;
    body.pose.p.z = 0.1;
    body.velocity.x = v0;
    plane.mu = box.mu = mu;
    check_ok(st_scene_create(&scene, &err), err);
    check_ok(st_scene_add_body(scene, &ground, &floor_id, &err), err);
    check_ok(st_scene_add_shape(scene, floor_id, &plane, NULL, &err), err);
    check_ok(st_scene_add_body(scene, &body, &box_id, &err), err);
    check_ok(st_scene_add_shape(scene, box_id, &box, NULL, &err), err);
    st_SystemDef def = st_system_def();
    def.own_solver = &own;
    def.h = h;
    def.tolerance = 1e-9;
    check_ok(st_system_create(scene, &def, &system, &err), err);
    st_StepInfo info = st_step_info();
    for (int k = 0; k < 300; k++) {
        check_ok(st_system_step(system, h, &info, &err), err);
        assert_true(info.solve.converged);
        if (k == 100) assert_string_equal(info.solve.solver, "gradients");
    }
    check_ok(st_system_clone(system, &clone, &err), err);
    for (int k = 0; k < 200; k++)
        check_ok(st_system_step(clone, h, &info, &err), err);
    st_Pose pose;
    check_ok(st_system_pose(clone, box_id, &pose), err);
    check_below(fabs(pose.p.x - v0 * v0 / (2.0 * mu * g)), h * v0);
    assert_true(calls > 50); /* a start that is an answer already needs none */
    st_system_destroy(clone);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history), cmocka_unit_test(test_parameters),          cmocka_unit_test(test_own_solver),
        cmocka_unit_test(test_matrix),  cmocka_unit_test(test_own_solver_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
