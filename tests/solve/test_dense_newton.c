/* The solver of robots (solve/dense_newton.h) against solutions that were there first: a tree's mass matrix,
 * contacts on its links, servos within and at their bounds, joint rows that close loops. r, u and v are drawn so
 * that they satisfy the laws, and f, g and w follow from them. The solutions are evaluated by st_problem_residual,
 * which does not use servos folded into masses: on the original problem, and on the one with servos between their
 * bounds as soft joint rows, which gives the residual that the solver reports.
 */
#include "made_problem.h"
#include "solve/dense_newton.h"

enum { N_V = 18, N_TOUCH = 4, N_SERVO = 10, N_LOOP = 2 };

/* Velocities 0 to 5 are the root; three branches leave it, or one long one: a solver that caches data of the last
 * tree must detect that this is another. A = U'U, where U has numbers on paths to the root alone. */
static void draw_masses(Made *m, check_Random *random, int parent[N_V])
{
    static double U[N_V][N_V];
    const bool branches = check_random(random, 0, 1) < 0.7;
    memset(U, 0, sizeof U);
    for (int k = 0; k < N_V; k++) {
        parent[k] = k < 6 ? k - 1 : branches && (k - 6) % 4 == 0 ? 5 : k - 1;
        U[k][k] = check_random(random, 0.5, 2);
        for (int j = parent[k]; j >= 0; j = parent[j])
            U[k][j] = check_random(random, -0.5, 0.5);
    }
    m->n_v = N_V, m->n_a = 1, m->a_first[1] = N_V;
    for (int i = 0; i < N_V; i++)
        for (int j = 0; j < N_V; j++)
            for (int k = 0; k < N_V; k++)
                m->A[i][j] += U[k][i] * U[k][j];
}

/* Four touches at the ends of branches or between two of them, open, sticking or sliding; servos between their bounds
 * or at one of them. */
static void draw_rows(Made *m, check_Random *random, const int parent[N_V], int n_loops, double *r, double *u)
{
    int row = 0;
    for (int c = 0; c < N_TOUCH; c++) {
        const double mu = check_random(random, 0.3, 1), state = check_random(random, 0, 1);
        const bool between = check_random(random, 0, 1) < 0.3; /* two branches */
        m->contact[m->n_contacts++] = (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .first = row, .mu = mu};
        for (int k = 0; k < 3; k++) {
            for (int j = 9 + 4 * (c % 3); j >= 0; j = parent[j])
                m->H[j][row + k] = check_random(random, -1, 1);
            for (int j = 9 + 4 * ((c + 1) % 3); j >= 0 && between; j = parent[j])
                m->H[j][row + k] = check_random(random, -1, 1);
        }
        if (state < 0.25) {
            u[row] = check_random(random, 0.1, 1);
            u[row + 1] = check_random(random, -1, 1);
        } else {
            r[row] = check_random(random, 0.5, 2);
            r[row + 1] = (state < 0.7 ? 0.5 : 1) * mu * r[row];
            u[row + 1] = state < 0.7 ? 0 : -check_random(random, 0.1, 1);
        }
        row += 3;
    }
    m->n_c = 0;
    for (int c = 0; c < N_TOUCH; c++) /* rigid: blocks of zeros */
        m->c_first[m->n_c++] = 3 * c;
    for (int s = 0; s < N_SERVO; s++, row++) {
        const double most = check_random(random, 0.5, 1), state = check_random(random, 0, 1);
        m->contact[m->n_contacts++] =
            (st_ContactLaw){.law = ST_LAW_BOUNDED, .dim = 1, .first = row, .lo = -most, .hi = most};
        m->H[6 + s][row] = s % 2 == 0 ? 1 : check_random(random, 0.5, 2);
        if (s == N_SERVO - 1) m->H[5][row] = 0.5; /* on two velocities */
        m->C[row][row] = check_random(random, 0.1, 1);
        m->c_first[m->n_c++] = row;
        r[row] = state < 0.7 ? check_random(random, -0.9, 0.9) * most : most;
        u[row] = state < 0.7 ? 0 : -check_random(random, 0.1, 1);
    }
    m->c_first[m->n_c] = m->n_r = row;
    for (m->n_l = 0; m->n_l < n_loops; m->n_l++)
        for (int j = 0; j < N_V; j++)
            m->G[j][m->n_l] = check_random(random, -1, 1);
}

static void draw_problem(Made *m, check_Random *random, int n_loops, double *r)
{
    int parent[N_V];
    double u[MAX_R] = {0}, v[N_V], l[N_LOOP + 1];
    draw_masses(m, random, parent);
    draw_rows(m, random, parent, n_loops, r, u);
    for (int j = 0; j < N_V; j++)
        v[j] = check_random(random, -1, 1);
    for (int k = 0; k < n_loops; k++)
        l[k] = check_random(random, -1, 1);
    for (int i = 0; i < N_V; i++) { /* A v = f + G l + H r */
        for (int j = 0; j < N_V; j++)
            m->f[i] += m->A[i][j] * v[j];
        for (int k = 0; k < m->n_l; k++)
            m->f[i] -= m->G[i][k] * l[k];
        for (int k = 0; k < m->n_r; k++)
            m->f[i] -= m->H[i][k] * r[k];
    }
    for (int k = 0; k < m->n_l; k++)
        for (int j = 0; j < N_V; j++)
            m->g[k] -= m->G[j][k] * v[j];
    for (int k = 0; k < m->n_r; k++) {
        m->w[k] = u[k] - m->C[k][k] * r[k];
        for (int j = 0; j < N_V; j++)
            m->w[k] -= m->H[j][k] * v[j];
    }
}

/* The same problem with the servos that r has between their bounds as soft joint rows; r_left: r of the others. */
static Made *with_soft_servos(const Made *from, const double *r, double *r_left)
{
    Made *m = made_new();
    memcpy(m, from, sizeof *m);
    m->n_contacts = m->n_r = m->n_c = 0;
    memset(m->C, 0, sizeof m->C);
    memset(m->H, 0, sizeof m->H);
    for (int c = 0; c < from->n_contacts; c++) {
        const st_ContactLaw *contact = &from->contact[c];
        const int row = contact->first;
        if (contact->law == ST_LAW_BOUNDED && r[row] > contact->lo && r[row] < contact->hi) {
            for (int j = 0; j < from->n_v; j++)
                m->G[j][m->n_l] = from->H[j][row];
            m->Cb[m->n_l][m->n_l] = from->C[row][row];
            m->g[m->n_l++] = from->w[row];
            continue;
        }
        m->contact[m->n_contacts] = *contact;
        m->contact[m->n_contacts++].first = m->c_first[m->n_c++] = m->n_r;
        for (int i = row; i < row + contact->dim; i++, m->n_r++) {
            for (int j = 0; j < from->n_v; j++)
                m->H[j][m->n_r] = from->H[j][i];
            m->C[m->n_r][m->n_r] = from->C[i][i];
            m->w[m->n_r] = from->w[i];
            r_left[m->n_r] = r[i];
        }
    }
    m->c_first[m->n_c] = m->n_r;
    made_diagonal_blocks(m->n_l, &m->n_cb, m->cb_first);
    return m;
}

/* Solve from `start` (NULL: from nothing) and have the answer judged. Returns the residual that was reported. */
static double solve_and_judge(sti_DenseNewton *solver, Made *m, double tolerance, const double *start)
{
    const st_Problem of = made_problem(m), *problem = &of;
    double r[MAX_R] = {0}, u[MAX_R], v[N_V], l[N_LOOP + 1];
    st_Solution solution = {.v = v, .l = l, .u = u, .r = r};
    st_SolveInfo info;
    st_Residual judged;
    st_Error err = {0};
    bool solved;
    assert_true(sti_dense_newton_takes(problem));
    check_ok(
        sti_dense_newton_solve(solver, problem, tolerance, 0, tolerance, 1000, start, &solution, &info, &solved, &err),
        err);
    if (!solved) return INFINITY;
    if (tolerance < 1e-6) {
        check_ok(st_problem_residual(problem, r, &judged, &err), err);
        check_below(judged.natural, 2 * tolerance + 1e-12); /* its scale is another one */
    }
    if (start != NULL) { /* from nothing, a servo may have been at its bound before it came back */
        double r_left[MAX_R];
        Made *soft = with_soft_servos(m, r, r_left);
        const st_Problem other = made_problem(soft);
        check_ok(st_problem_residual(&other, r_left, &judged, &err), err);
        check_close(info.residual.natural, judged.natural, 1e-6 * judged.natural + 1e-12); /* one scale for both */
        free(soft);
    }
    for (int i = 0; i < problem->n_r; i++) { /* u is that of r */
        double sum = problem->w[i];
        for (int64_t e = problem->H.p[i]; e < problem->H.p[i + 1]; e++)
            sum += problem->H.x[e] * v[problem->H.i[e]];
        if (problem->contact[i < 3 * N_TOUCH ? i / 3 : N_TOUCH + i - 3 * N_TOUCH].law != ST_LAW_BOUNDED)
            check_close(u[i], sum, 1e-9);
    }
    return info.residual.natural;
}

static void draw_and_solve(int n_loops, double tolerance, int most_missed)
{
    check_Random random = {7 + (uint64_t)n_loops};
    const st_Allocator allocator = st_default_allocator();
    sti_DenseNewton *solver;
    st_Error err = {0};
    int missed = 0, far = 0;
    check_ok(sti_dense_newton_create(&allocator, &solver, &err), err);
    for (int round = 0; round < 200; round++) {
        Made *m = made_new();
        double r[MAX_R] = {0};
        draw_problem(m, &random, n_loops, r);
        missed += !(solve_and_judge(solver, m, tolerance, NULL) <= tolerance);
        for (int c = 0; c < N_TOUCH && tolerance > 1e-6; c++) /* near the answer, far from rounding */
            for (int i = 3 * c; i < 3 * c + 3; i++)
                r[i] *= 1 + 1e-3 * tolerance / 1e-2 * (c + 1);
        /* an answer is its own answer */
        const double reported = solve_and_judge(solver, m, tolerance, r);
        check_below(reported, tolerance);
        far += reported > 1e-6;
        free(m);
    }
    sti_dense_newton_destroy(solver);
    check_below(missed, most_missed); /* the rest goes the usual way */
    if (tolerance > 1e-6) assert_true(far > 100);
}

static void robots_with_servos_are_solved(void **state)
{
    (void)state;
    draw_and_solve(0, 1e-9, 2);
}

static void robots_with_loops_are_solved(void **state)
{
    (void)state;
    draw_and_solve(N_LOOP, 1e-9, 2);
}

/* Far from rounding the two residuals must agree. */
static void residuals_are_those_of_the_judge(void **state)
{
    (void)state;
    draw_and_solve(0, 1e-2, 0);
    draw_and_solve(N_LOOP, 1e-2, 0);
}

/* A mass matrix that is not positive definite is refused, and the initial guess is unchanged. */
static void bad_masses_are_left_alone(void **state)
{
    (void)state;
    check_Random random = {3};
    const st_Allocator allocator = st_default_allocator();
    sti_DenseNewton *solver;
    st_Error err = {0};
    Made *m = made_new();
    double r[MAX_R] = {0};
    bool solved = true;
    draw_problem(m, &random, 0, r);
    m->A[4][4] = -1;
    const st_Problem problem = made_problem(m);
    double answer[MAX_R], v[N_V];
    memcpy(answer, r, sizeof answer);
    st_Solution solution = {.v = v, .r = answer};
    check_ok(sti_dense_newton_create(&allocator, &solver, &err), err);
    check_ok(sti_dense_newton_solve(solver, &problem, 1e-9, 0, 1e-9, 1000, r, &solution, NULL, &solved, &err), err);
    assert_false(solved);
    assert_memory_equal(answer, r, sizeof r);
    sti_dense_newton_destroy(solver);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_with_servos_are_solved),
        cmocka_unit_test(robots_with_loops_are_solved),
        cmocka_unit_test(residuals_are_those_of_the_judge),
        cmocka_unit_test(bad_masses_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
