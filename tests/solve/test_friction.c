/* Problems in the form of files: their error by closed forms and compared with the solvers' own residual, global
 * compared with local, problems without a solution, and the forces of hyperstatic systems compared with the
 * reference of the table.
 */
#include "check.h"

#include <stiction/friction.h>
#include <string.h>

static double uniform(check_Random *random)
{
    return 2.0 * (double)(check_random_bits(random) >> 11) / 9007199254740992.0 - 1.0;
}

/* A dense matrix, column-major, as a sparse one without its zeros. */
typedef struct Dense {
    int64_t p[64 + 1];
    int i[64 * 64];
    double x[64 * 64];
    st_Sparse sparse;
} Dense;

static st_Sparse *dense(Dense *out, int m, int n, const double *x)
{
    int64_t at = 0;
    for (int j = 0; j < n; j++) {
        out->p[j] = at;
        for (int i = 0; i < m; i++) {
            if (x[j * m + i] == 0) continue;
            out->i[at] = i;
            out->x[at++] = x[j * m + i];
        }
    }
    out->p[n] = at;
    out->sparse = (st_Sparse){m, n, out->p, out->i, out->x};
    return &out->sparse;
}

static st_FrictionError error_of(const st_FrictionProblem *p, const double *r, double *u, double *v)
{
    st_Error err = {0};
    st_Friction *friction = NULL;
    st_FrictionError error;
    check_ok(st_friction_create(p, &friction, &err), err);
    check_ok(st_friction_error(friction, r, u, v, &error, &err), err);
    st_friction_destroy(friction);
    return error;
}

/* ------------------------------------------------------------------ the error */

/* One contact with W = diag(2): the error is computed by hand. */
static void error_by_hand(void **state)
{
    (void)state;
    Dense W;
    const double w[] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, mu[] = {0.5};
    double q[] = {-1, 3, 0}, u[3];
    const st_FrictionProblem p = {.dim = 3, .n_contacts = 1, .W = *dense(&W, 3, 3, w), .q = q, .mu = mu};
    /* slides: r = (1/2, -1/4, 0), u = (0, 5/2, 0); u^ = (5/4, 5/2, 0), r . u^ = 5/8 - 5/8 = 0 */
    const double slides[] = {0.5, -0.25, 0}, nothing[] = {0, 0, 0};
    st_FrictionError e = error_of(&p, slides, u, NULL);
    check_close(e.error, 0, 1e-16);
    check_close(e.error_rho, 0, 1e-16);
    check_close(e.complementarity, 0, 1e-16);
    check_close(u[1], 2.5, 0);
    /* r = 0: u^ = (-1 + 3/2, 3, 0), so P(-u^) = P(-1/2, -3, 0): t = 3, a = (-1/2 + 3/2)/(5/4) = 4/5, tangent 2/5 */
    e = error_of(&p, nothing, NULL, NULL);
    check_close(e.error, sqrt(0.64 + 0.16) / sqrt(10), 1e-15);
    check_close(e.error_rho, e.error, 1e-15); /* a cone is a cone at any scale */
    check_close(e.penetration, 1, 0);
    /* sticks: q_T small. r = (1/2, -1/10, 0), u = 0 */
    q[1] = 0.2;
    const double sticks[] = {0.5, -0.1, 0};
    check_close(error_of(&p, sticks, NULL, NULL).error, 0, 1e-16);
    /* outside the cone by hand: r = (0, 3, 0) projects on a = 1.2, tangent 0.6 */
    const double outside[] = {0, 3, 0};
    check_close(error_of(&p, outside, NULL, NULL).cone_violation, sqrt(1.44 + 2.4 * 2.4), 1e-15);
    /* opens */
    q[0] = 1;
    check_close(error_of(&p, nothing, NULL, NULL).error, 0, 0);
    /* no impulse helps where W = 0, not even one so large that it swallows u */
    const double zero[] = {0, 0, 0, 0, 1, 0, 0, 0, 1}, huge[] = {1e20, 0, 0};
    const st_FrictionProblem hopeless = {.dim = 3, .n_contacts = 1, .W = *dense(&W, 3, 3, zero), .q = q, .mu = mu};
    q[0] = -1;
    q[1] = 0;
    check_close(error_of(&hopeless, huge, NULL, NULL).error, 1, 1e-15);
}

/* A fast contact that penetrates by very little, at the border between open and sliding, where the distance from the
 * cone is the same to rounding whichever it is taken for: x = (1e-10 - 1/4, -1/2), mu = 1/2, P(x) = 8e-11 (1, -1/2). */
static void small_errors_are_seen(void **state)
{
    (void)state;
    Dense W;
    const double w[] = {1, 0, 0, 1}, mu[] = {0.5}, q[] = {-1e-10, 0.5}, r[] = {0, 0};
    const st_FrictionProblem p = {.dim = 2, .n_contacts = 1, .W = *dense(&W, 2, 2, w), .q = q, .mu = mu};
    const double expected = 8e-11 * sqrt(1.25) / 0.5;
    check_close(error_of(&p, r, NULL, NULL).error, expected, 1e-6 * expected); /* 1/4 - 1e-10 rounds at 1e-16 */
}

/* Two programs for one formula: here, and in the solvers' residual. */
static void error_agrees_with_the_residual(void **state)
{
    (void)state;
    const int dims[] = {2, 3, 4, 5, 6};
    check_Random random = {11};
    for (int trial = 0; trial < 300; trial++) {
        enum { N = 3 };
        const int dim = dims[trial % 5], n = N * dim;
        double w[18 * 18] = {0}, B[18 * 18] = {0}, q[18], r[18], mu[N], mu_r[N], mu_s[N];
        for (int k = 0; k < n * n; k++)
            B[k] = uniform(&random);
        for (int i = 0; i < n; i++) {
            q[i] = uniform(&random);
            r[i] = 2 * uniform(&random);
            for (int j = 0; j < n; j++) {
                w[j * n + i] = i == j ? 0.1 : 0;
                for (int k = 0; k < n; k++)
                    w[j * n + i] += B[i * n + k] * B[j * n + k] * 0.3;
            }
        }
        st_ContactLaw contact[N];
        for (int c = 0; c < N; c++) {
            mu[c] = fabs(uniform(&random));
            mu_r[c] = fabs(uniform(&random));
            mu_s[c] = fabs(uniform(&random));
            contact[c] = (st_ContactLaw){.law = ST_LAW_COULOMB,
                                         .dim = dim,
                                         .first = c * dim,
                                         .mu = mu[c],
                                         .mu_roll = mu_r[c],
                                         .mu_spin = mu_s[c]};
        }
        Dense W;
        const st_FrictionProblem p = {
            .dim = dim, .n_contacts = N, .W = *dense(&W, n, n, w), .q = q, .mu = mu, .mu_roll = mu_r, .mu_spin = mu_s};
        const st_LocalProblem local = {.n_r = n, .n_contacts = N, .W = p.W, .b = q, .contact = contact};
        const st_FrictionError e = error_of(&p, r, NULL, NULL);
        st_Error err = {0};
        st_Residual residual;
        check_ok(st_local_residual(&local, r, &residual, &err), err);
        check_close(e.error, residual.error, 1e-13 * (1 + e.error)); /* sums of 18 terms */
        check_close(e.error_rho, residual.error_rho, 1e-13 * (1 + e.error_rho));
        check_close(e.cone_violation, residual.cone_violation, 1e-13);
    }
}

/* ------------------------------------------------------------------ global */

/* x <- inv(A) x by elimination, A row-major, spoilt. */
static void eliminate(double *A, double *x, int n)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        for (int j = 0; j < n; j++) {
            const double t = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = t;
        }
        const double t = x[k];
        x[k] = x[best];
        x[best] = t;
        for (int i = k + 1; i < n; i++) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= A[k * n + j] * x[j];
        x[k] /= A[k * n + k];
    }
}

typedef struct Global {
    int n_v, n_r, n_l;
    double M[81], H[54], G[27], f[9], w[6], b[3], mu[2]; /* column-major */
    Dense dM, dH, dG;
    st_FrictionProblem p;
} Global;

/* M = coupled blocks or, where triangular, one half of it only, as some files have it. */
static void make_global(Global *g, check_Random *random, int n_l, bool triangular)
{
    g->n_v = 9, g->n_r = 6, g->n_l = n_l;
    for (int j = 0; j < 9; j++)
        for (int i = 0; i < 9; i++) {
            const double x = i / 3 == j / 3 ? 0.3 * uniform(random) : 0;
            g->M[j * 9 + i] = i == j ? 2 + x : i < j ? x : 0;
        }
    for (int j = 0; j < 9; j++)
        for (int i = j + 1; i < 9 && !triangular; i++)
            g->M[j * 9 + i] = g->M[i * 9 + j];
    for (int k = 0; k < 54; k++)
        g->H[k] = uniform(random);
    for (int k = 0; k < 27; k++)
        g->G[k] = uniform(random);
    for (int k = 0; k < 9; k++)
        g->f[k] = uniform(random);
    for (int k = 0; k < 6; k++)
        g->w[k] = uniform(random);
    for (int k = 0; k < 3; k++)
        g->b[k] = uniform(random);
    g->mu[0] = 0.4, g->mu[1] = 0.9;
    g->p = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                .dim = 3,
                                .n_contacts = 2,
                                .n_v = 9,
                                .n_l = n_l,
                                .M = *dense(&g->dM, 9, 9, g->M),
                                .H = *dense(&g->dH, 9, 6, g->H),
                                .G = *dense(&g->dG, 9, n_l, g->G),
                                .f = g->f,
                                .w = g->w,
                                .b = g->b,
                                .mu = g->mu};
}

/* [M -G; G' 0] (v, l) = (H r + f, -b) by plain elimination. */
static void velocities_of(const Global *g, const double *r, double *x)
{
    const int n = g->n_v + g->n_l;
    double A[12 * 12] = {0};
    for (int i = 0; i < g->n_v; i++) {
        for (int j = 0; j < g->n_v; j++)
            A[i * n + j] = g->M[j * 9 + i];
        for (int j = 0; j < g->n_l; j++) {
            A[i * n + g->n_v + j] = -g->G[j * 9 + i];
            A[(g->n_v + j) * n + i] = g->G[j * 9 + i];
        }
        x[i] = g->f[i];
        for (int j = 0; j < g->n_r; j++)
            x[i] += g->H[j * 9 + i] * r[j];
    }
    for (int j = 0; j < g->n_l; j++)
        x[g->n_v + j] = -g->b[j];
    eliminate(A, x, n);
}

static void global_velocities_are_right(void **state)
{
    (void)state;
    check_Random random = {5};
    for (int trial = 0; trial < 40; trial++) {
        Global g;
        double r[6], u[6], v[9], x[12];
        make_global(&g, &random, trial % 4, trial % 2 == 1);
        for (int k = 0; k < 6; k++)
            r[k] = uniform(&random);
        velocities_of(&g, r, x);
        error_of(&g.p, r, u, v);
        for (int i = 0; i < 9; i++)
            check_close(v[i], x[i], 1e-11); /* condition numbers up to 1e3 */
        for (int j = 0; j < 6; j++) {
            double expected = g.w[j];
            for (int i = 0; i < 9; i++)
                expected += g.H[j * 9 + i] * x[i];
            check_close(u[j], expected, 1e-11);
        }
    }
}

/* Whatever way the solver takes (blocks of M, or W formed), the file's own error must be small. */
static void global_problems_are_solved(void **state)
{
    (void)state;
    check_Random random = {6};
    for (int trial = 0; trial < 60; trial++) {
        Global g;
        make_global(&g, &random, trial % 3, trial % 4 == 3);
        st_Error err = {0};
        st_Friction *friction = NULL;
        st_Solver *solver = NULL;
        st_SolverDef def = st_solver_def();
        st_FrictionError error;
        double r[6] = {0}, u[6], v[9], u2[6], v2[9];
        st_Solution solution = {.r = r, .u = u, .v = v};
        def.tolerance = 1e-10;
        def.all_errors = true;
        check_ok(st_friction_create(&g.p, &friction, &err), err);
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_friction_solve(friction, solver, &solution, NULL, &err), err);
        check_ok(st_friction_error(friction, r, u2, v2, &error, &err), err);
        check_below(error.error, 2e-10); /* requested 1e-10 of the same measure, rounded differently */
        for (int i = 0; i < 9; i++)
            check_close(v[i], v2[i], 1e-12);
        for (int i = 0; i < 6; i++)
            check_close(u[i], u2[i], 1e-11);
        st_solver_destroy(solver);
        st_friction_destroy(friction);
    }
}

/* Contacts that touch no velocity: u = w whatever the impulses, and none are needed where that opens. */
static void contacts_of_nobody(void **state)
{
    (void)state;
    check_Random random = {7};
    Global g;
    make_global(&g, &random, 0, false);
    memset(g.H, 0, sizeof g.H);
    g.p.H = *dense(&g.dH, 9, 6, g.H);
    for (int k = 0; k < 6; k++)
        g.w[k] = k % 3 == 0 ? 1 : 0;
    st_Error err = {0};
    st_Friction *friction = NULL;
    st_Solver *solver = NULL;
    st_SolverDef def = st_solver_def();
    st_SolveInfo info;
    double r[6] = {0}, u[6], v[9], x[12];
    st_Solution solution = {.r = r, .u = u, .v = v};
    check_ok(st_friction_create(&g.p, &friction, &err), err);
    check_ok(st_solver_create(&def, &solver, &err), err);
    check_ok(st_friction_solve(friction, solver, &solution, &info, &err), err);
    assert_true(info.converged);
    velocities_of(&g, r, x);
    for (int k = 0; k < 6; k++)
        assert_true(r[k] == 0 && u[k] == g.w[k]);
    for (int i = 0; i < 9; i++)
        check_close(v[i], x[i], 1e-13); /* condition numbers up to 2 */
    st_solver_destroy(solver);
    st_friction_destroy(friction);
}

/* V, R, s: u = W r + V l + q with V' r + R l + s = 0, by hand with one equality row. */
static void local_equalities(void **state)
{
    (void)state;
    Dense W, V, R;
    const double w[] = {2, 0, 0, 2}, vv[] = {1, 0.5}, rr[] = {-4}, q[] = {-1, 0.25}, s[] = {2}, mu[] = {0.5};
    const st_FrictionProblem p = {.dim = 2,
                                  .n_contacts = 1,
                                  .n_l = 1,
                                  .W = *dense(&W, 2, 2, w),
                                  .V = *dense(&V, 2, 1, vv),
                                  .R = *dense(&R, 1, 1, rr),
                                  .q = q,
                                  .s = s,
                                  .mu = mu};
    const double r[] = {0.3, -0.1}, l = (0.3 - 0.05 + 2) / 4;
    double u[2];
    error_of(&p, r, u, NULL);
    check_close(u[0], 0.6 + l - 1, 1e-15);
    check_close(u[1], -0.2 + 0.5 * l + 0.25, 1e-15);
}

/* A step problem written down and read as FCLIB has the same solutions, folded or not. */
static void step_problem_is_copied(void **state)
{
    (void)state;
    check_Random random = {8};
    for (int trial = 0; trial < 20; trial++) {
        Global g;
        make_global(&g, &random, 2, false);
        const int first[] = {0, 3, 6, 9}, whole[] = {0, 2};
        const double Cb[] = {0.1, 0, 0, 0.2};
        double blocks[27];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 9; a++)
                blocks[9 * k + a] = g.M[(3 * k + a % 3) * 9 + 3 * k + a / 3];
        const st_ContactLaw contact[] = {{.law = ST_LAW_COULOMB, .dim = 3, .first = 0, .mu = 0.4},
                                         {.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = 3}};
        const bool soft = trial % 2 == 1;
        st_Problem step = {.n_v = 9,
                           .n_l = 2,
                           .n_r = 4,
                           .n_contacts = 2,
                           .A = {.n_blocks = 3, .first = first, .x = blocks},
                           .symmetric = true,
                           .G = g.p.G,
                           .H = {9, 4, g.dH.p, g.dH.i, g.dH.x},
                           .f = g.f,
                           .g = g.b,
                           .w = g.w,
                           .contact = contact};
        if (soft) step.Cb = (st_BlockDiag){.n_blocks = 1, .first = whole, .x = Cb};
        st_Error err = {0};
        st_Solver *solver = NULL;
        st_SolverDef def = st_solver_def();
        double r[4] = {0}, u[4], rows[6] = {0}, u_file[6];
        st_Solution solution = {.r = r, .u = u};
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_solver_solve(solver, &step, &solution, NULL, &err), err);
        for (int k = 0; k < 4; k++)
            rows[k] = r[k]; /* the second contact is frictionless: its tangents stay 0 */
        for (int local = 0; local < 2; local++) {
            st_FrictionCopy *copy = NULL;
            check_ok(st_friction_from_step(&step, local == 1, &copy, &err), err);
            const st_FrictionProblem *p = st_friction_copy_problem(copy);
            assert_int_equal(p->form, soft || local == 1 ? ST_FORM_LOCAL : ST_FORM_GLOBAL);
            assert_int_equal(p->dim, 3);
            check_below(error_of(p, rows, u_file, NULL).error, 1e-7); /* solved to 1e-9 of another scaling */
            for (int k = 0; k < 4; k++)
                check_close(u_file[k], u[k], 1e-10);
            st_friction_copy_destroy(copy);
        }
        st_solver_destroy(solver);
    }
}

/* ------------------------------------------------------------------ problems without a solution */

static void lowest_eigenvalue(void **state)
{
    (void)state;
    enum { N = 60 };
    static Dense W;
    static double w[N * N];
    double q[N] = {0}, mu[N / 3] = {0}, lowest = 0, x[N], length = 0;
    st_Error err = {0};
    check_Random random = {9};
    for (int i = 0; i < N; i++) {
        x[i] = uniform(&random);
        length += x[i] * x[i];
    }
    /* I - c x x'/|x|^2 has eigenvalues 1 and 1 - c */
    for (int trial = 0; trial < 3; trial++) {
        const double c = (const double[]){0.5, 1.0, 1.25}[trial];
        for (int k = 0; k < N * N; k++)
            w[k] = (k / N == k % N ? 1 : 0) - c * x[k / N] * x[k % N] / length;
        const st_FrictionProblem p = {.dim = 3, .n_contacts = N / 3, .W = *dense(&W, N, N, w), .q = q, .mu = mu};
        check_ok(st_friction_lowest(&p, &lowest, &err), err);
        check_close(lowest, 1 - c, 1e-12);
    }
}

static void contradictions_are_proved(void **state)
{
    (void)state;
    Dense W;
    const double nothing[] = {0, 0, 0, 0, 0, 0, 0, 0, 0}, mu[] = {0.5, 0.5};
    double q[] = {-1, 0, 0, 0}, margin = -1;
    st_Error err = {0};
    st_FrictionProblem p = {.dim = 3, .n_contacts = 1, .W = *dense(&W, 3, 3, nothing), .q = q, .mu = mu};
    check_ok(st_friction_contradiction(&p, &margin, &err), err);
    check_close(margin, 1, 1e-12); /* y = e_n, q.y = -1 */
    q[0] = 1;
    check_ok(st_friction_contradiction(&p, &margin, &err), err);
    check_close(margin, 0, 0);
    /* a body between two walls that close: u1 + u2 = q1 + q2 whatever the impulses */
    const double pinched[] = {1, 0, -1, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0};
    p = (st_FrictionProblem){.dim = 2, .n_contacts = 2, .W = *dense(&W, 4, 4, pinched), .q = q, .mu = mu};
    q[0] = -3, q[2] = 2;
    check_ok(st_friction_contradiction(&p, &margin, &err), err);
    check_close(margin, 1 / sqrt(2.0 * 13.0), 1e-9); /* y = (1, 1) on the normals, q.y = -1 */
    q[2] = 4;
    check_ok(st_friction_contradiction(&p, &margin, &err), err);
    check_close(margin, 0, 0);
}

static bool count_calls(void *ctx)
{
    int *left = ctx;
    return --*left < 0;
}

/* The search for a proof ends when it is cancelled, at whichever call: without an error and without a proof. */
static void proofs_can_be_cancelled(void **state)
{
    (void)state;
    Dense W;
    const double pinched[] = {1, 0, -1, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0}, mu[] = {0.5, 0.5}, q[] = {-3, 0, 2, 0};
    st_Error err = {0};
    int left = 1000000;
    double margin = 0;
    st_FrictionProblem p = {.dim = 2, .n_contacts = 2, .W = *dense(&W, 4, 4, pinched), .q = q, .mu = mu};
    p.cancel = count_calls;
    p.cancel_ctx = &left;
    check_ok(st_friction_contradiction(&p, &margin, &err), err);
    assert_true(margin > 0);
    const int calls = 1000000 - left;
    assert_true(calls > 4); /* in the interior point method and after it */
    for (int k = 0; k < calls - 1; k++) {
        left = k;
        check_ok(st_friction_contradiction(&p, &margin, &err), err);
        if (left < 0) check_close(margin, 0, 0);
    }
}

static void bad_problems_are_refused(void **state)
{
    (void)state;
    Dense W;
    const double w[] = {1, 0, 0, 1}, q[] = {0, 0}, mu[] = {0.5}, less[] = {-1}, nan_q[] = {0, NAN};
    const st_FrictionProblem good = {.dim = 2, .n_contacts = 1, .W = *dense(&W, 2, 2, w), .q = q, .mu = mu};
    st_Error err = {0};
    st_Friction *friction = NULL;
    st_FrictionProblem p = good;
    p.mu = less;
    assert_int_equal(st_friction_create(&p, &friction, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "mu[0] is -1"));
    p = good;
    p.q = nan_q;
    assert_int_equal(st_friction_check(&p, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "q[1] is nan"));
    p = good;
    p.dim = 3;
    assert_int_equal(st_friction_check(&p, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "W is 2 x 2, must be 3 x 3"));
    p = good;
    p.n_contacts = 0;
    assert_int_equal(st_friction_check(&p, &err), ST_ERR_ARGUMENT);
    assert_null(friction);
}

/* ------------------------------------------------------------------ stopping */

static bool count_and_stop(void *ctx)
{
    return ++*(int *)ctx > 3;
}

static void solvers_stop_when_told(void **state)
{
    (void)state;
    check_Random random = {3};
    Global g;
    make_global(&g, &random, 0, false);
    for (int k = 0; k < st_solver_count(); k++) {
        if (!st_solver_accepts(st_solver_name(k), ST_LAW_COULOMB, 3, true)) continue;
        int asked = 0;
        st_Error err = {0};
        st_Friction *friction = NULL;
        st_Solver *solver = NULL;
        st_SolverDef def = st_solver_def();
        st_SolveInfo info;
        double r[6] = {0};
        st_Solution solution = {.r = r};
        def.name = st_solver_name(k);
        def.tolerance = 1e-300; /* never */
        def.cancel = count_and_stop;
        def.cancel_ctx = &asked;
        check_ok(st_friction_create(&g.p, &friction, &err), err);
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_friction_solve(friction, solver, &solution, &info, &err), err);
        assert_true(asked > 3);
        assert_true(info.iterations <= 10);
        st_solver_destroy(solver);
        st_friction_destroy(friction);
    }
}

/* ------------------------------------------------------------------ hyperstatic */

/* The table on four legs (Preclik et al. 2011), tilted by a slope: reference numbers, forces in N at h = 0.01 s. */
static const double feet[4][3] = {{0.45, 0.35, -0.7}, {-0.75, 0.35, -0.7}, {-0.75, -0.45, -0.7}, {0.45, -0.45, -0.7}};
static const double h = 0.01;

typedef struct Table {
    double M[36], H[72], f[6], w[12], mu[4];
    Dense dM, dH;
    st_FrictionProblem p;
} Table;

/* Contact frame: normal z, tangents x and y; columns of H: the force at the foot and its moment. */
static void make_table(Table *t, double slope)
{
    const double inertia[] = {12, 12, 12, 1, 1.8, 2.4}, axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    const double weight = 12 * 9.81 * h, c = 1 / sqrt(1 + slope * slope);
    *t = (Table){0};
    for (int k = 0; k < 6; k++)
        t->M[7 * k] = inertia[k];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            const double *x = feet[i], *d = axes[k];
            double *column = t->H + 6 * (3 * i + k);
            for (int a = 0; a < 3; a++) {
                column[a] = d[a];
                column[3 + a] = x[(a + 1) % 3] * d[(a + 2) % 3] - x[(a + 2) % 3] * d[(a + 1) % 3];
            }
        }
    t->f[0] = weight * slope * c;
    t->f[2] = -weight * c;
    for (int i = 0; i < 4; i++)
        t->mu[i] = 0.5;
    t->p = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                .dim = 3,
                                .n_contacts = 4,
                                .n_v = 6,
                                .M = *dense(&t->dM, 6, 6, t->M),
                                .H = *dense(&t->dH, 6, 12, t->H),
                                .f = t->f,
                                .w = t->w,
                                .mu = t->mu};
}

static void least_forces(const Table *t, const double *weight, double *least, st_Determined *found)
{
    st_Error err = {0};
    st_Friction *friction = NULL;
    st_Solver *solver = NULL;
    st_SolverDef def = st_solver_def();
    double r[12] = {0};
    bool determined[12];
    st_FrictionError error;
    st_Solution solution = {.r = r};
    def.tolerance = 1e-12;
    check_ok(st_friction_create(&t->p, &friction, &err), err);
    check_ok(st_solver_create(&def, &solver, &err), err);
    check_ok(st_friction_solve(friction, solver, &solution, NULL, &err), err);
    check_ok(st_friction_determined(friction, r, weight, 0, determined, least, found, &err), err);
    check_ok(st_friction_error(friction, least, NULL, NULL, &error, &err), err);
    check_below(error.error, 1e-10); /* as good a solution as the one it came from, over the mean of diag W */
    for (int k = 0; k < 12; k++)
        assert_false(determined[k]); /* four feet that stick: 12 impulses, 6 equations that touch them all */
    st_solver_destroy(solver);
    st_friction_destroy(friction);
}

static void table_on_four_legs(void **state)
{
    (void)state;
    /* slope, then normal and tangents of each foot [N]; 0.4 and 0.45 have feet on their cones */
    static const double cases[][13] = {
        {0, 40.46625, 0, 0, 25.75125, 0, 0, 18.39375, 0, 0, 33.10875, 0, 0},
        {0.2, 46.41407026764725, -5.993686236236633, 0.33298256867981274, 18.517530624916258, -5.993686236236633,
         -0.33298256867981274, 11.30290830352031, -5.549709477996882, -0.33298256867981274, 39.1994479462513,
         -5.549709477996882, 0.33298256867981274},
        {0.4, 50.602797858175016, -18.44894720226424, 0.23810065230463706, 10.878607420519629, -5.42931295229972,
         -0.3295234717538058, 4.605598353373825, -2.298123073618718, -0.14667783285546837, 43.21327241894424,
         -17.543727192222427, 0.23810065230463706},
        {0.45, 51.2114661959785, -21.837535834436732, 0.25493401827587264, 9.173696072954094, -4.5709851317553225,
         -0.3811428013292663, 2.9033363808324246, -1.4459496356661936, -0.12872523522247897, 44.06290093944849,
         -20.453659213287832, 0.25493401827587264},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Table t;
        double least[12];
        st_Determined found;
        make_table(&t, cases[k][0]);
        least_forces(&t, NULL, least, &found);
        assert_int_equal(found.active_rows, 12);
        assert_int_equal(found.rank, 6); /* a body has six velocities */
        assert_int_equal(found.undetermined_contacts, 4);
        for (int j = 0; j < 12; j++)
            check_close(least[j] / h, cases[k][1 + j], 1e-7); /* forces of 50 N from impulses solved to 1e-12 of |q| */
    }
}

/* Stiffness k = 1, 2, 3, 4: compliance 1/k. */
static void table_on_unequal_legs(void **state)
{
    (void)state;
    const double weight[] = {1, 1.0 / 2, 1.0 / 3, 1.0 / 4}, expected[] = {28.2528, 37.9647, 6.1803, 45.3222};
    Table t;
    double least[12];
    st_Determined found;
    make_table(&t, 0);
    least_forces(&t, weight, least, &found);
    for (int i = 0; i < 4; i++)
        check_close(least[3 * i] / h, expected[i], 5e-5); /* the digits given */
}

/* A ball on one point: nothing is redundant. A sliding one: the direction is all there is. */
static void isostatic_is_determined(void **state)
{
    (void)state;
    Dense W;
    const double w[] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, mu[] = {0.5}, q[] = {-1, 3, 0}, r[] = {0.5, -0.25, 0};
    const st_FrictionProblem p = {.dim = 3, .n_contacts = 1, .W = *dense(&W, 3, 3, w), .q = q, .mu = mu};
    st_Error err = {0};
    st_Friction *friction = NULL;
    st_Determined found;
    bool determined[3];
    double least[3];
    check_ok(st_friction_create(&p, &friction, &err), err);
    check_ok(st_friction_determined(friction, r, NULL, 0, determined, least, &found, &err), err);
    assert_int_equal(found.active_rows, 1);
    assert_int_equal(found.rank, 1);
    assert_int_equal(found.undetermined_contacts, 0);
    for (int k = 0; k < 3; k++) {
        assert_true(determined[k]);
        check_close(least[k], r[k], 1e-15);
    }
    st_friction_destroy(friction);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_by_hand),
        cmocka_unit_test(small_errors_are_seen),
        cmocka_unit_test(error_agrees_with_the_residual),
        cmocka_unit_test(global_velocities_are_right),
        cmocka_unit_test(global_problems_are_solved),
        cmocka_unit_test(contacts_of_nobody),
        cmocka_unit_test(local_equalities),
        cmocka_unit_test(step_problem_is_copied),
        cmocka_unit_test(lowest_eigenvalue),
        cmocka_unit_test(contradictions_are_proved),
        cmocka_unit_test(proofs_can_be_cancelled),
        cmocka_unit_test(bad_problems_are_refused),
        cmocka_unit_test(solvers_stop_when_told),
        cmocka_unit_test(table_on_four_legs),
        cmocka_unit_test(table_on_unequal_legs),
        cmocka_unit_test(isostatic_is_determined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
