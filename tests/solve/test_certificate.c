/* A problem reported as solved is solved in exact arithmetic, and a problem without a solution is not reported as
 * solved.
 *
 * The error of every answer is recomputed with rational numbers (rational.h), on every kind of problem: local and
 * global, with equality rows, in the plane and in space, rolling and spinning, coefficients to 5, masses that differ by
 * 1e6, and impulses so large that q is lost in the rounding of W r.
 */
#include "rational.h"

#include <string.h>

enum { MOST_ROWS = 24, MOST_VELOCITIES = 24, MOST_ENTRIES = 1200 };

/* A problem and the memory of its matrices, dense, by columns. */
typedef struct Made {
    st_FrictionProblem problem;
    int64_t p[4][MOST_VELOCITIES + MOST_ROWS + 1];
    int i[4][MOST_ENTRIES];
    double x[4][MOST_ENTRIES];
    double q[MOST_ROWS], f[MOST_VELOCITIES], b[MOST_VELOCITIES], mu[MOST_ROWS], roll[MOST_ROWS], spin[MOST_ROWS];
    double known[MOST_ROWS]; /* a solution, up to rounding                                         */
} Made;

static st_Sparse put_matrix(Made *m, int k, int rows, int columns, const double *dense)
{
    int64_t entries = 0;
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++)
            if (dense[i * columns + j] != 0.0) {
                assert_true(entries < MOST_ENTRIES);
                m->i[k][entries] = i;
                m->x[k][entries++] = dense[i * columns + j];
            }
        m->p[k][j + 1] = entries;
    }
    return (st_Sparse){rows, columns, m->p[k], m->i[k], m->x[k]};
}

/* A contact's r and u that satisfy the law: open, stuck or sliding. */
static void draw_contact(Made *m, check_Random *random, int c, double *r, double *u)
{
    const int dim = m->problem.dim;
    const double state = check_random(random, 0.0, 1.0), n = check_random(random, 0.5, 2.0);
    m->mu[c] = check_random(random, 0.1, c % 3 == 0 ? 5.0 : 0.9);
    m->roll[c] = check_random(random, 0.05, 0.3);
    m->spin[c] = check_random(random, 0.05, 0.3);
    r[0] = state < 0.3 ? 0.0 : n;
    u[0] = state < 0.3 ? check_random(random, 0.1, 1.0) : 0.0;
    for (int k = 1; k < dim; k++) {
        const double mu = k < 3 ? m->mu[c] : dim >= 5 && k < 5 ? m->roll[c] : m->spin[c];
        const bool alone = k == 1 || k == 3 || (k == 5);
        if (state < 0.3) u[k] = check_random(random, -1.0, 1.0);
        if (state >= 0.3 && state < 0.7) r[k] = 0.5 * mu * n * check_random(random, -1.0, 1.0);
        if (state >= 0.7 && alone) { /* slides along the first direction of each part */
            r[k] = mu * n;
            u[k] = -check_random(random, 0.1, 1.0);
        }
    }
}

static void point_to_coefficients(Made *m)
{
    m->problem.mu = m->mu;
    m->problem.mu_roll = m->problem.dim >= 5 ? m->roll : NULL;
    m->problem.mu_spin = m->problem.dim == 4 || m->problem.dim == 6 ? m->spin : NULL;
}

/* Local, W = B B' of random B with rows scaled by up to `spread`. */
static void make_local(Made *m, check_Random *random, int dim, int contacts, double spread)
{
    const int n = dim * contacts;
    static double B[MOST_ROWS * MOST_ROWS], W[MOST_ROWS * MOST_ROWS];
    double u[MOST_ROWS] = {0};
    memset(m, 0, sizeof *m);
    m->problem = (st_FrictionProblem){.form = ST_FORM_LOCAL, .dim = dim, .n_contacts = contacts, .q = m->q};
    for (int c = 0; c < contacts; c++)
        draw_contact(m, random, c, m->known + dim * c, u + dim * c);
    point_to_coefficients(m);
    for (int i = 0; i < n; i++) {
        const double scale = pow(spread, check_random(random, -0.5, 0.5));
        for (int k = 0; k < n; k++)
            B[i * n + k] = scale * check_random(random, -1.0, 1.0);
    }
    for (int i = 0; i < n; i++) {
        m->q[i] = u[i];
        for (int j = 0; j < n; j++) {
            W[i * n + j] = 0.0;
            for (int k = 0; k < n; k++)
                W[i * n + j] += B[i * n + k] * B[j * n + k];
            m->q[i] -= W[i * n + j] * m->known[j];
        }
    }
    m->problem.W = put_matrix(m, 0, n, n, W);
}

/* Global: `bodies` of three velocities each with masses up to `spread` apart, joints between neighbours. */
static void make_global(Made *m, check_Random *random, int dim, int contacts, int bodies, int joints, double spread)
{
    const int n = dim * contacts, n_v = 3 * bodies;
    static double M[MOST_VELOCITIES * MOST_VELOCITIES], H[MOST_VELOCITIES * MOST_ROWS],
        G[MOST_VELOCITIES * MOST_VELOCITIES];
    double u[MOST_ROWS] = {0}, v[MOST_VELOCITIES] = {0}, l[MOST_VELOCITIES] = {0}, w[MOST_ROWS];
    memset(m, 0, sizeof *m);
    memset(M, 0, sizeof M), memset(H, 0, sizeof H), memset(G, 0, sizeof G);
    m->problem = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                      .dim = dim,
                                      .n_contacts = contacts,
                                      .n_v = n_v,
                                      .n_l = joints,
                                      .f = m->f,
                                      .w = m->q,
                                      .b = m->b};
    for (int c = 0; c < contacts; c++)
        draw_contact(m, random, c, m->known + dim * c, u + dim * c);
    point_to_coefficients(m);
    for (int k = 0; k < bodies; k++) {
        const double mass = pow(spread, check_random(random, -0.5, 0.5));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                M[(3 * k + i) * n_v + 3 * k + j] = mass * (i == j ? 1.5 : 0.25);
    }
    for (int c = 0; c < contacts; c++) {
        const int a = check_random_int(random, 0, bodies - 1), b = check_random_int(random, 0, bodies - 1);
        for (int d = 0; d < dim; d++)
            for (int k = 0; k < 3; k++) {
                H[(3 * a + k) * n + dim * c + d] = check_random(random, -1.0, 1.0);
                if (b != a) H[(3 * b + k) * n + dim * c + d] = check_random(random, -1.0, 1.0);
            }
    }
    for (int j = 0; j < joints; j++)
        for (int k = 0; k < 6; k++)
            G[(3 * (j % (bodies - 1)) + k) * joints + j] = check_random(random, -1.0, 1.0);
    for (int i = 0; i < n_v; i++)
        v[i] = check_random(random, -1.0, 1.0);
    for (int j = 0; j < joints; j++)
        l[j] = check_random(random, -1.0, 1.0);
    for (int i = 0; i < n_v; i++) {
        for (int k = 0; k < n_v; k++)
            m->f[i] += M[i * n_v + k] * v[k];
        for (int k = 0; k < n; k++)
            m->f[i] -= H[i * n + k] * m->known[k];
        for (int k = 0; k < joints; k++)
            m->f[i] -= G[i * joints + k] * l[k];
    }
    for (int j = 0; j < joints; j++)
        for (int i = 0; i < n_v; i++)
            m->b[j] -= G[i * joints + j] * v[i];
    for (int k = 0; k < n; k++) {
        w[k] = u[k];
        for (int i = 0; i < n_v; i++)
            w[k] -= H[i * n + k] * v[i];
    }
    memcpy(m->q, w, sizeof w);
    m->problem.M = put_matrix(m, 0, n_v, n_v, M);
    m->problem.H = put_matrix(m, 1, n_v, n, H);
    if (joints > 0) m->problem.G = put_matrix(m, 2, n_v, joints, G);
}

/* Local with equality rows: V'r + R l + s = 0. */
static void add_equality(Made *m, check_Random *random, int rows)
{
    const int n = m->problem.dim * m->problem.n_contacts;
    static double V[MOST_ROWS * MOST_ROWS], R[MOST_ROWS * MOST_ROWS];
    double l[MOST_ROWS] = {0};
    for (int j = 0; j < rows; j++) {
        l[j] = check_random(random, -1.0, 1.0);
        for (int i = 0; i < n; i++)
            V[i * rows + j] = check_random(random, -1.0, 1.0);
        for (int i = 0; i < rows; i++)
            R[i * rows + j] = (i == j ? -3.0 : 0.0) + check_random(random, -0.5, 0.5);
    }
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < n; i++)
            m->b[j] -= V[i * rows + j] * m->known[i];
        for (int i = 0; i < rows; i++)
            m->b[j] -= R[j * rows + i] * l[i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < rows; j++)
            m->q[i] -= V[i * rows + j] * l[j];
    m->problem.n_l = rows;
    m->problem.V = put_matrix(m, 1, n, rows, V);
    m->problem.R = put_matrix(m, 2, rows, rows, R);
    m->problem.s = m->b;
}

/* The judge's figures agree with the rational ones up to the rounding that it states. */
static void check_judge(const st_FrictionProblem *p, st_Friction *friction, const double *r)
{
    st_FrictionError judged;
    st_Error err = {0};
    check_ok(st_friction_error(friction, r, NULL, NULL, &judged, &err), err);
    const RationalError exact = rational_error(p, r);
    if (!exact.known || isinf(judged.certified)) return; /* no claim is made for values out of range */
    check_below(fabs(judged.error - exact.error), judged.rounding + 1e-320);
    check_below(fabs(judged.error_rho - exact.error_rho), judged.rounding + 1e-320);
    assert_true(judged.certified >= exact.error && judged.certified >= exact.error_rho);
}

/* Every solver that supports the problem: if it reports it as solved, it is. */
static int solve_all(const st_FrictionProblem *p, double tolerance)
{
    st_Friction *friction = NULL;
    st_Error err = {0};
    int claims = 0;
    double r[MOST_ROWS], far[MOST_ROWS];
    check_ok(st_friction_create(p, &friction, &err), err);
    for (int k = 0; k < st_solver_count(); k++) {
        if (!st_friction_accepts(friction, st_solver_name(k))) continue;
        st_SolverDef def = st_solver_def();
        st_Solver *solver = NULL;
        st_SolveInfo info;
        def.name = st_solver_name(k);
        def.tolerance = tolerance;
        def.max_iterations = 2000;
        def.all_errors = true;
        check_ok(st_solver_create(&def, &solver, &err), err);
        st_Status status = st_friction_solve(friction, solver, &(st_Solution){.r = r}, &info, &err);
        st_solver_destroy(solver);
        if (status == ST_ERR_UNSUPPORTED || status == ST_ERR_NUMERIC) continue;
        check_ok(status, err);
        check_judge(p, friction, r);
        for (int i = 0; i < p->dim * p->n_contacts; i++)
            far[i] = ldexp(r[i] + 0.3, 10 * k); /* and far away from any solution */
        check_judge(p, friction, far);
        if (!info.converged) continue;
        claims++;
        const RationalError exact = rational_error(p, r);
        assert_true(exact.known);
        check_below(exact.error, tolerance);
        check_below(exact.error_rho, tolerance);
    }
    st_friction_destroy(friction);
    return claims;
}

static void test_local_claims(void **state)
{
    (void)state;
    static Made m;
    check_Random random = {7};
    const int dims[] = {2, 3, 4, 5, 6};
    int claims = 0;
    for (int k = 0; k < 20; k++) {
        make_local(&m, &random, dims[k % 5], 1 + k % 4, k % 4 == 3 ? 1e6 : 1.0);
        claims += solve_all(&m.problem, k % 2 == 0 ? 1e-8 : 1e-12);
    }
    assert_true(claims >= 60); /* of about 140: the test does test something */
}

static void test_global_claims(void **state)
{
    (void)state;
    static Made m;
    check_Random random = {8};
    int claims = 0;
    for (int k = 0; k < 10; k++) {
        make_global(&m, &random, 2 + k % 2, 1 + k % 3, 3, k % 3 == 0 ? 0 : 2, k % 4 == 3 ? 1e6 : 1.0);
        claims += solve_all(&m.problem, k % 2 == 0 ? 1e-8 : 1e-12);
    }
    assert_true(claims >= 20);
}

static void test_equality_rows(void **state)
{
    (void)state;
    static Made m;
    check_Random random = {9};
    int claims = 0;
    for (int k = 0; k < 8; k++) {
        make_local(&m, &random, 2 + k % 3, 1 + k % 3, 1.0);
        add_equality(&m, &random, 1 + k % 2);
        claims += solve_all(&m.problem, 1e-8);
    }
    assert_true(claims >= 16);
}

/* ------------------------------------------------------------------ made to fool the solvers */

/* W and q of small integers: singular, with every contact twice, zero, with a skew part, indefinite. Most have no
 * solution, or many.                                                                               */
static void make_integers(Made *m, check_Random *random, int dim, int contacts, int kind)
{
    enum { SINGULAR, TWICE, ZERO, SKEW, INDEFINITE };
    const int n = dim * contacts, rank = kind == ZERO    ? 0
                                         : kind == TWICE ? n
                                                         : check_random_int(random, 1, (n + 1) / 2);
    static double B[MOST_ROWS * MOST_ROWS], W[MOST_ROWS * MOST_ROWS];
    memset(m, 0, sizeof *m);
    m->problem = (st_FrictionProblem){.form = ST_FORM_LOCAL, .dim = dim, .n_contacts = contacts, .q = m->q};
    point_to_coefficients(m);
    for (int i = 0; i < n; i++) {
        const bool again = kind == TWICE && i / dim % 2 == 1;
        m->q[i] = again ? m->q[i - dim] : check_random_int(random, -2, 2);
        m->mu[i / dim] = check_random(random, 0.0, i % 4 == 0 ? 10.0 : 1.0);
        m->roll[i / dim] = m->spin[i / dim] = check_random(random, 0.0, 0.5);
        for (int k = 0; k < rank; k++)
            B[i * n + k] = again ? B[(i - dim) * n + k] : check_random_int(random, -3, 3);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const int more = kind >= SKEW && i != j ? check_random_int(random, -3, 3) : 0;
            W[i * n + j] = 0.0;
            for (int k = 0; k < rank; k++)
                W[i * n + j] += B[i * n + k] * B[j * n + k];
            W[j * n + i] = W[i * n + j] + (kind == SKEW ? -more : more);
            W[i * n + j] += more;
        }
    m->problem.W = put_matrix(m, 0, n, n, W);
}

static void test_claims_of_integers(void **state)
{
    (void)state;
    static Made m;
    int claims = 0;
    for (int k = 0; k < 40; k++) {
        check_Random random = {(uint64_t)(3000 + k)};
        make_integers(&m, &random, 2 + k % 3, 1 + k % 4, k % 5);
        claims += solve_all(&m.problem, k % 2 == 0 ? 1e-4 : 1e-10);
    }
    assert_true(claims >= 80);
}

/* Units of any size: W and q times powers of 10. Squares of numbers below 1e-154 vanish, and with them every error:
 * such problems may be left unsolved, but not be called solved. Coefficients from 0 to 1e6, too.         */
static void test_claims_at_any_scale(void **state)
{
    (void)state;
    static Made m;
    int claims = 0;
    for (int k = 0; k < 40; k++) {
        check_Random random = {(uint64_t)(4000 + k)};
        make_local(&m, &random, 2 + k % 5, 1 + k % 3, k % 2 == 0 ? 1.0 : 1e12);
        const double of_W = pow(10.0, check_random(&random, -160.0, 160.0)),
                     of_q = k % 8 == 7 ? ldexp(1.0, -1060) : pow(10.0, check_random(&random, -160.0, 160.0));
        for (int64_t e = 0; e < m.problem.W.p[m.problem.W.n_cols] && k % 4 > 0; e++)
            m.x[0][e] *= of_W;
        for (int i = 0; i < m.problem.W.n_cols && k % 4 > 0; i++)
            m.q[i] *= of_q;
        for (int c = 0; c < m.problem.n_contacts && k % 4 == 0; c++)
            m.mu[c] = k % 3 == 0 ? 0.0 : pow(10.0, check_random(&random, -12.0, 6.0));
        claims += solve_all(&m.problem, 1e-8);
    }
    assert_true(claims >= 60);
}

/* ------------------------------------------------------------------ problems without a solution */

static bool has_ray(const st_FrictionProblem *p)
{
    double margin;
    st_Error err = {0};
    check_ok(st_friction_contradiction(p, &margin, &err), err);
    return margin > 0.0;
}

/* Rays of complementarity problems: -z - 1 >= 0; the skew pair -z_1 - 1 >= 0, z_0 - 1 >= 0; the same with the first row
 * free. And problems with solutions have none.                                                      */
static void test_rays_of_complementarity_problems(void **state)
{
    (void)state;
    static Made m;
    const double diagonal[4] = {-1, 0, 0, 1}, skew[4] = {0, -1, 1, 0};
    const double q[3][2] = {{-1, 1}, {-1, -1}, {1, 1}};
    const bool first[2] = {true, false};
    for (int k = 0; k < 5; k++) {
        const st_LcpProblem p = {.n = 2,
                                 .M = put_matrix(&m, 0, 2, 2, k == 0 || k == 3 ? diagonal : skew),
                                 .q = k == 0  ? q[0]
                                      : k < 3 ? q[1]
                                              : q[2],
                                 .free = k == 2 ? first : NULL};
        double margin, z[2];
        st_LcpInfo info;
        st_Error err = {0};
        check_ok(st_lcp_contradiction(&p, &margin, &err), err);
        assert_int_equal(margin > 0.0, k < 3);
        check_ok(st_lcp_solve(&p, 1e-8, z, &info, &err), err);
        assert_int_equal(info.outcome, k < 3 ? ST_LCP_NO_SOLUTION : ST_LCP_SOLVED);
    }
}

/* One contact in the plane: no stick, slip or open state fits (issue: answered with r = 9.1e17). */
static void test_no_solution_in_the_plane(void **state)
{
    (void)state;
    static Made m;
    const double W[] = {1, 1, 1, 1};
    m.problem = (st_FrictionProblem){.form = ST_FORM_LOCAL, .dim = 2, .n_contacts = 1, .q = m.q, .mu = m.mu};
    m.q[0] = -1, m.q[1] = 2, m.mu[0] = 3;
    m.problem.W = put_matrix(&m, 0, 2, 2, W);
    assert_int_equal(solve_all(&m.problem, 1e-8), 0);
    assert_int_equal(solve_all(&m.problem, 1e-2), 0);
}

/* A ball between walls that close in on it: u_n = -1 at both of two opposite normals. Local and global. */
static void test_ball_between_closing_walls(void **state)
{
    (void)state;
    static Made m;
    double H[3 * 6] = {0}, M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, W[36] = {0};
    for (int side = 0; side < 2; side++)
        for (int d = 0; d < 3; d++)
            H[d * 6 + 3 * side + d] = side == 0 ? 1.0 : -1.0;
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++)
            for (int i = 0; i < 3; i++)
                W[a * 6 + b] += H[i * 6 + a] * H[i * 6 + b] / 2.0;
    for (double speed = 1.0; speed > 1e-9; speed *= 1e-4)
        for (int k = 0; k < 2; k++) {
            memset(&m, 0, sizeof m);
            m.mu[0] = m.mu[1] = 0.5;
            m.q[0] = m.q[3] = -speed;
            m.problem = (st_FrictionProblem){.dim = 3, .n_contacts = 2, .mu = m.mu};
            if (k == 0) {
                m.problem.form = ST_FORM_LOCAL;
                m.problem.q = m.q;
                m.problem.W = put_matrix(&m, 0, 6, 6, W);
            } else {
                m.problem.form = ST_FORM_GLOBAL;
                m.problem.n_v = 3;
                m.problem.f = m.f;
                m.problem.w = m.q;
                m.problem.M = put_matrix(&m, 0, 3, 3, M);
                m.problem.H = put_matrix(&m, 1, 3, 6, H);
            }
            assert_int_equal(solve_all(&m.problem, 1e-8), 0);
            assert_true(has_ray(&m.problem));
            m.q[3] = 2.0 * speed; /* one wall goes away faster than the other comes */
            assert_false(has_ray(&m.problem));
        }
}

/* Discs between walls that close in, in the plane without friction: normals at these angles, each wall coming at speed
 * 1. The body has a mass of 1.                                                                       */
static void make_closing_walls(Made *m, const double *angle, int walls, bool local)
{
    const int n = 2 * walls;
    const double M[4] = {1, 0, 0, 1};
    double H[2 * MOST_ROWS] = {0}, W[MOST_ROWS * MOST_ROWS] = {0};
    memset(m, 0, sizeof *m);
    for (int c = 0; c < walls; c++) {
        const double x = cos(angle[c]), y = sin(angle[c]);
        H[2 * c] = x, H[n + 2 * c] = y, H[2 * c + 1] = -y, H[n + 2 * c + 1] = x;
        m->q[2 * c] = -1.0;
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            W[a * n + b] = H[a] * H[b] + H[n + a] * H[n + b];
    m->problem = (st_FrictionProblem){.dim = 2, .n_contacts = walls, .mu = m->mu};
    m->problem.form = local ? ST_FORM_LOCAL : ST_FORM_GLOBAL;
    if (local) {
        m->problem.q = m->q;
        m->problem.W = put_matrix(m, 0, n, n, W);
    } else {
        m->problem.n_v = 2;
        m->problem.f = m->f;
        m->problem.w = m->q;
        m->problem.M = put_matrix(m, 0, 2, 2, M);
        m->problem.H = put_matrix(m, 1, 2, n, H);
    }
}

/* Walls that are nearly parallel squeeze the disc out, with impulses 1/(2 sin^2 t): there is a solution, whatever the
 * angle. Three walls around it do not; their normals are rounded, and the ray is no vector of doubles.    */
static void test_nearly_parallel_walls(void **state)
{
    (void)state;
    static Made m;
    for (double t = 1e-4; t > 1e-9; t *= 0.3) {
        const double angle[2] = {t, acos(-1.0) - t}, r = 0.5 / (sin(t) * sin(t)), known[4] = {r, 0, r, 0};
        make_closing_walls(&m, angle, 2, false);
        const double x = m.problem.H.x[0], y = m.problem.H.x[1]; /* the same to the bit on both sides */
        for (int64_t e = 0; e < m.problem.H.p[4]; e++) {
            const int column = e < 2 ? 0 : e < 4 ? 1 : e < 6 ? 2 : 3, row = m.i[1][e];
            const double side = column < 2 ? 1.0 : -1.0;
            m.x[1][e] = column % 2 == 0 ? (row == 0 ? side * x : y) : (row == 0 ? -y : side * x);
        }
        check_below(rational_error(&m.problem, known).error, 1e-8);
        assert_false(has_ray(&m.problem));
        make_closing_walls(&m, angle, 2, true);
        assert_false(has_ray(&m.problem));
    }
    for (int k = 0; k < 5; k++) {
        const double turn = 2.0 * acos(-1.0) / 3.0, angle[3] = {0.1 * k, 0.1 * k + turn, 0.1 * k + 2.0 * turn};
        for (int local = 0; local < 2; local++) {
            make_closing_walls(&m, angle, 3, local == 1);
            assert_int_equal(solve_all(&m.problem, 1e-8), 0);
            if (local == 0) assert_true(has_ray(&m.problem)); /* the products of W are rounded: it may be definite */
        }
    }
}

/* Three velocities, two joints and a contact with mu = 0.5; f, w and b are 0. */
static void make_joined(Made *m, int dim, const double M[9], const double *H, const double G[6])
{
    memset(m, 0, sizeof *m);
    m->mu[0] = 0.5;
    m->problem = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                      .dim = dim,
                                      .n_contacts = 1,
                                      .n_v = 3,
                                      .n_l = 2,
                                      .f = m->f,
                                      .w = m->q,
                                      .b = m->b,
                                      .mu = m->mu};
    m->problem.M = put_matrix(m, 0, 3, 3, M);
    m->problem.H = put_matrix(m, 1, 3, dim, H);
    m->problem.G = put_matrix(m, 2, 3, 2, G);
}

/* Two joints that prescribe velocities which differ by 1, 1e-3 and 1e-6 along the same direction. */
static void test_joints_that_contradict(void **state)
{
    (void)state;
    static Made m;
    const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, H[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    const double G[6] = {0.3, 0.3, -0.7, -0.7, 0.11, 0.11};
    for (double apart = 1.0; apart > 1e-7; apart *= 1e-3) {
        make_joined(&m, 3, M, H, G);
        m.f[2] = -1.0, m.b[1] = apart;
        assert_true(has_ray(&m.problem));
        m.b[1] = 0.0;
        assert_false(has_ray(&m.problem));
    }
}

/* The same in other units: one joint row times 2^-k. It depends on the other row no more and no less than before. */
static void test_joints_in_any_unit(void **state)
{
    (void)state;
    static Made m;
    const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, H[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    for (int k = 0; k <= 60; k += 15) {
        const double unit = ldexp(1.0, -k), same[6] = {1, unit, 3, 3 * unit, 0.5, 0.5 * unit},
                     other[6] = {1, 0, 3, unit, 0, 0};
        make_joined(&m, 3, M, H, same);
        m.f[2] = -1.0, m.b[1] = unit; /* 0 and 1 along the same direction */
        assert_int_equal(solve_all(&m.problem, 1e-8), 0);
        assert_true(has_ray(&m.problem));
        m.b[0] = 1.0;
        assert_true(solve_all(&m.problem, 1e-8) >= 4);
        make_joined(&m, 3, M, H, other); /* both hold: the judge is checked in solve_all */
        m.f[0] = 1.0, m.f[2] = -1.0;
        assert_true(solve_all(&m.problem, 1e-8) >= 4);
    }
    const double empty[6] = {1, 0, 3, 0, 0.5, 0}; /* 0 = b */
    make_joined(&m, 3, M, H, empty);
    m.f[2] = -1.0, m.b[1] = 1e-12;
    assert_int_equal(solve_all(&m.problem, 1e-8), 0);
}

/* Velocities whose squares overflow: no r is called a solution. */
static void test_velocities_out_of_range(void **state)
{
    (void)state;
    static Made m;
    const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, H[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    const double G[6] = {0, 0, 0, 0, 0, 0};
    for (double size = 1e160; size < 1e301; size *= 1e20) {
        make_joined(&m, 3, M, H, G);
        m.f[0] = size, m.f[2] = -size;
        assert_int_equal(solve_all(&m.problem, 1e-2), 0);
    }
}

/* Contacts and joints of integers that contradict each other by construction: the last normal is minus a sum of the
 * others, and so is its velocity, less `apart`. Most are proved to have no solution; with `apart` < 0 the same
 * conditions agree, and are not.                                                                    */
static void test_rays_of_random_problems(void **state)
{
    (void)state;
    static Made m;
    static double H[MOST_VELOCITIES * MOST_ROWS], M[MOST_VELOCITIES * MOST_VELOCITIES];
    const int problems = 40;
    int proved = 0;
    for (int k = 0; k < 2 * problems; k++) {
        check_Random random = {(uint64_t)(4000 + k / 2)};
        const int dim = check_random_int(&random, 2, 4), contacts = check_random_int(&random, 2, 4),
                  bodies = check_random_int(&random, 1, 3), joints = check_random_int(&random, 0, 2),
                  n = dim * contacts, n_v = 3 * bodies;
        const bool agree = k % 2 == 1;
        double G[MOST_VELOCITIES * 2], last = 0.0;
        int y[4], z[2];
        memset(&m, 0, sizeof m);
        memset(M, 0, sizeof M), memset(H, 0, sizeof H);
        m.problem = (st_FrictionProblem){.form = ST_FORM_GLOBAL,
                                         .dim = dim,
                                         .n_contacts = contacts,
                                         .n_v = n_v,
                                         .n_l = joints,
                                         .f = m.f,
                                         .w = m.q,
                                         .b = m.b};
        point_to_coefficients(&m);
        for (int c = 0; c < contacts; c++) {
            m.mu[c] = check_random(&random, 0.0, c % 2 == 0 ? 5.0 : 1.0);
            y[c] = check_random_int(&random, 0, 3) + (c == 0);
        }
        for (int i = 0; i < n_v; i++) {
            M[i * n_v + i] = ldexp(1.0, check_random_int(&random, -3, 3));
            m.f[i] = check_random_int(&random, -3, 3);
            for (int j = 0; j < n; j++)
                H[i * n + j] = check_random_int(&random, -3, 3);
            for (int j = 0; j < joints; j++)
                G[i * joints + j] = check_random_int(&random, -2, 2);
        }
        for (int j = 0; j < n; j++)
            m.q[j] = check_random_int(&random, -3, 3);
        for (int j = 0; j < joints; j++) {
            m.b[j] = check_random_int(&random, -3, 3);
            z[j] = check_random_int(&random, -2, 2);
            last -= z[j] * m.b[j];
        }
        for (int c = 0; c + 1 < contacts; c++)
            last -= y[c] * m.q[dim * c];
        m.q[n - dim] = last + (agree ? 1.0 : -1.0) * ldexp(1.0, -check_random_int(&random, 0, 6));
        for (int i = 0; i < n_v; i++) {
            double sum = 0.0;
            for (int c = 0; c + 1 < contacts; c++)
                sum -= y[c] * H[i * n + dim * c];
            for (int j = 0; j < joints; j++)
                sum -= z[j] * G[i * joints + j];
            H[i * n + n - dim] = sum;
        }
        m.problem.M = put_matrix(&m, 0, n_v, n_v, M);
        m.problem.H = put_matrix(&m, 1, n_v, n, H);
        if (joints > 0) m.problem.G = put_matrix(&m, 2, n_v, joints, G);
        const bool ray = has_ray(&m.problem);
        if (!agree) proved += ray;
        if (agree && ray) { /* other conditions may contradict each other, then there is no solution either */
            assert_int_equal(solve_all(&m.problem, 1e-10), 0);
        }
    }
    print_message("%d of %d problems proved to have no solution\n", proved, problems);
    assert_true(proved >= 0.9 * problems);
}

/* ------------------------------------------------------------------ free bodies, in simulations */

/* A column of cubes of 1 kg, four points at each face, the top one `ratio` times heavier: all it takes to make the
 * forces at the foot, and their rounding, as large as one likes.                                     */
enum { CUBES = 10, COLUMN_CONTACTS = 4 * CUBES, COLUMN_ROWS = 3 * COLUMN_CONTACTS };
typedef struct Column {
    st_Problem problem;
    int first[CUBES + 1], i[12 * COLUMN_ROWS];
    int64_t p[COLUMN_ROWS + 1];
    double A[6 * CUBES], f[6 * CUBES], w[COLUMN_ROWS], x[12 * COLUMN_ROWS];
    unsigned char diagonal[CUBES];
    st_ContactLaw law[COLUMN_CONTACTS];
} Column;

static void make_column(Column *m, double ratio)
{
    int64_t entries = 0;
    *m = (Column){.problem = {.n_v = 6 * CUBES, .n_r = COLUMN_ROWS, .n_contacts = COLUMN_CONTACTS, .symmetric = true}};
    for (int k = 0; k < CUBES; k++) {
        const double mass = k == CUBES - 1 ? ratio : 1.0;
        m->first[k + 1] = 6 * (k + 1);
        m->diagonal[k] = 1;
        for (int d = 0; d < 6; d++)
            m->A[6 * k + d] = d < 3 ? mass : mass / 6.0;
        m->f[6 * k + 2] = -mass * 9.81 / 240.0;
        m->f[6 * k] = mass * 1e-3 * (k % 3);
    }
    for (int c = 0; c < COLUMN_CONTACTS; c++) {
        const int body = c / 4;
        const double px = c % 4 < 2 ? -0.5 : 0.5, py = c % 2 == 0 ? -0.5 : 0.5;
        m->law[c] = (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .first = 3 * c, .mu = 0.5};
        for (int d = 0; d < 3; d++) { /* normal z, tangents x and y */
            const int axis = d == 0 ? 2 : d - 1;
            m->p[3 * c + d] = entries;
            for (int side = 0; side < 2; side++) {
                const double sign = side == 0 ? 1.0 : -1.0, pz = side == 0 ? -0.5 : 0.5;
                const double turn[3][3] = {{0, pz, -py}, {-pz, 0, px}, {py, -px, 0}}; /* lever x axis */
                if (body - side < 0) continue;
                m->i[entries] = 6 * (body - side) + axis;
                m->x[entries++] = sign;
                for (int k = 0; k < 3; k++) {
                    m->i[entries] = 6 * (body - side) + 3 + k;
                    m->x[entries++] = sign * turn[axis][k];
                }
            }
        }
    }
    m->p[COLUMN_ROWS] = entries;
    m->problem.A = (st_BlockDiag){CUBES, m->first, m->A, m->diagonal};
    m->problem.H = (st_Sparse){6 * CUBES, COLUMN_ROWS, m->p, m->i, m->x};
    m->problem.G = (st_Sparse){6 * CUBES, 0, m->p, m->i, m->x};
    m->problem.f = m->f;
    m->problem.w = m->w;
    m->problem.contact = m->law;
}

/* | r - P(r - rho u^) | / | rho b | in long double, whose rounding is 2,000 times smaller. */
static double natural_of_column(const Column *m, const double *r)
{
    long double v[2][6 * CUBES], error = 0, scale = 0;
    for (int i = 0; i < 6 * CUBES; i++)
        v[0][i] = v[1][i] = m->f[i];
    for (int j = 0; j < COLUMN_ROWS; j++)
        for (int64_t e = m->p[j]; e < m->p[j + 1]; e++)
            v[1][m->i[e]] += (long double)m->x[e] * r[j];
    for (int c = 0; c < COLUMN_CONTACTS; c++) {
        long double u[2][3] = {{0}}, trace = 0, P[3];
        for (int d = 0; d < 3; d++)
            for (int64_t e = m->p[3 * c + d]; e < m->p[3 * c + d + 1]; e++) {
                const int i = m->i[e];
                u[0][d] += m->x[e] * v[0][i] / m->A[i];
                u[1][d] += m->x[e] * v[1][i] / m->A[i];
                trace += (long double)m->x[e] * m->x[e] / m->A[i];
            }
        const long double rho = 3 / trace, mu = m->law[c].mu;
        u[1][0] += mu * sqrtl(u[1][1] * u[1][1] + u[1][2] * u[1][2]);
        for (int d = 0; d < 3; d++) {
            P[d] = r[3 * c + d] - rho * u[1][d];
            scale += rho * rho * u[0][d] * u[0][d];
        }
        const long double slip = sqrtl(P[1] * P[1] + P[2] * P[2]);
        if (mu * slip <= -P[0]) {
            P[0] = P[1] = P[2] = 0;
        } else if (slip > mu * P[0]) {
            P[0] = (P[0] + mu * slip) / (1 + mu * mu);
            P[1] *= mu * P[0] / slip;
            P[2] *= mu * P[0] / slip;
        }
        for (int d = 0; d < 3; d++)
            error += (r[3 * c + d] - P[d]) * (r[3 * c + d] - P[d]);
    }
    return (double)sqrtl(error / scale);
}

/* Whatever the masses, a claim holds, and the reported residual and its rounding together are above the true one. */
static void test_columns_of_unequal_masses(void **state)
{
    (void)state;
    static Column m;
    static double r[COLUMN_ROWS];
    int claims = 0;
    for (double ratio = 1.0; ratio < 1e11; ratio *= 10.0)
        for (int effort = ST_EFFORT_THOROUGH; effort <= ST_EFFORT_BALANCED; effort++) {
            st_SolverDef def = st_solver_def();
            st_Solver *solver;
            st_Solution solution = {.r = r};
            st_SolveInfo info;
            st_Error err = {0};
            make_column(&m, ratio);
            def.effort = (st_Effort)effort;
            def.max_work = 1e5;
            check_ok(st_solver_create(&def, &solver, &err), err);
            check_ok(st_solver_solve(solver, &m.problem, &solution, &info, &err), err);
            const double exact = natural_of_column(&m, r);
            if (info.converged) { /* a tenth of the tolerance is not worth mentioning */
                const double tolerance = info.residual.natural <= def.tolerance ? def.tolerance : 1e-4;
                check_below(exact, tolerance);
                check_below(exact, info.residual.natural + info.residual.rounding + 0.1 * tolerance);
                claims++;
            }
            st_solver_destroy(solver);
        }
    assert_true(claims >= 20);
}

/* Two joints that prescribe different velocities of the same coordinate: there is no solution, whatever the contact
 * does. */
static void test_contradictory_joints(void **state)
{
    (void)state;
    static Made m;
    const double M[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, H[6] = {0, 0, 1, 0, 0, 1}, G[6] = {1, 1, 0, 0, 0, 0};
    make_joined(&m, 2, M, H, G);
    m.b[1] = 1.0;
    m.f[1] = -1.0;
    for (double speed = 1.0; speed > 1e-14; speed *= 1e-5) { /* in any unit of velocity */
        m.b[1] = speed;
        m.f[1] = -speed;
        assert_int_equal(solve_all(&m.problem, 1e-8), 0);
        assert_true(has_ray(&m.problem));
    }
    m.b[0] = m.b[1]; /* they agree: one is redundant */
    assert_true(solve_all(&m.problem, 1e-8) >= 4);
    assert_false(has_ray(&m.problem));

    /* The same in a local problem: R = 0 and V = 0 leave s alone. */
    static Made local;
    const double W[4] = {1, 0, 0, 1}, none[4] = {0};
    local.mu[0] = 0.5, local.q[0] = -1.0, local.b[0] = 1.0;
    local.problem = (st_FrictionProblem){
        .form = ST_FORM_LOCAL, .dim = 2, .n_contacts = 1, .n_l = 1, .q = local.q, .s = local.b, .mu = local.mu};
    local.problem.W = put_matrix(&local, 0, 2, 2, W);
    local.problem.V = put_matrix(&local, 1, 2, 1, none);
    local.problem.R = put_matrix(&local, 2, 1, 1, none);
    assert_int_equal(solve_all(&local.problem, 1e-8), 0);
    assert_true(has_ray(&local.problem));
}

/* ------------------------------------------------------------------ large coefficients */

/* The reported residual is the one that stops the solver: with mu from 0.1 to 100 `auto` ends within its tolerance. */
static void test_one_measure_for_every_mu(void **state)
{
    (void)state;
    static Made m;
    for (int k = 0; k < 60; k++) {
        check_Random random = {(uint64_t)(100 + k)};
        st_Friction *friction = NULL;
        st_Solver *solver = NULL;
        st_SolverDef def = st_solver_def();
        st_SolveInfo info;
        st_FrictionError judged;
        st_Error err = {0};
        double r[MOST_ROWS];
        make_local(&m, &random, 2 + k % 2, 1 + k % 6, 1.0);
        for (int c = 0; c < m.problem.n_contacts; c++)
            m.mu[c] = 0.1 * pow(10.0, k % 31 / 10.0);
        def.tolerance = 1e-8;
        def.all_errors = true;
        check_ok(st_friction_create(&m.problem, &friction, &err), err);
        check_ok(st_solver_create(&def, &solver, &err), err);
        check_ok(st_friction_solve(friction, solver, &(st_Solution){.r = r}, &info, &err), err);
        check_ok(st_friction_error(friction, r, NULL, NULL, &judged, &err), err);
        assert_int_equal(info.converged, judged.certified <= 1e-8);
        st_solver_destroy(solver);
        st_friction_destroy(friction);
    }
}

/* ------------------------------------------------------------------ complementarity problems */

static void test_complementarity_claims(void **state)
{
    (void)state;
    enum { N = 7 };
    int solved = 0;
    for (int k = 0; k < 60; k++) {
        check_Random random = {(uint64_t)(k + 1)};
        static Made m;
        double M[N * N], q[N], z[N];
        bool is_free[N] = {false};
        st_LcpInfo info;
        st_LcpError judged;
        st_Error err = {0};
        for (int i = 0; i < N * N; i++) /* definite, any, and singular with tiny and huge entries */
            M[i] = check_random(&random, -1.0, 1.0) * (k % 3 == 2 ? pow(10.0, check_random(&random, -6.0, 6.0)) : 1.0);
        for (int i = 0; i < N; i++) {
            q[i] = check_random(&random, -1.0, 1.0);
            if (k % 3 == 0) M[i * N + i] += 4.0;
            is_free[i] = k % 2 == 1 && i < 2;
        }
        const st_LcpProblem p = {.n = N, .M = put_matrix(&m, 0, N, N, M), .q = q, .free = is_free};
        check_ok(st_lcp_solve(&p, 1e-8, z, &info, &err), err);
        check_ok(st_lcp_error(&p, z, NULL, &judged, &err), err);
        check_below(fabs(judged.error - rational_lcp_error(&p, z)), judged.rounding);
        if (info.outcome == ST_LCP_SOLVED) check_below(rational_lcp_error(&p, z), 1e-8);
        solved += info.outcome == ST_LCP_SOLVED;
    }
    assert_true(solved >= 20);
}

/* Units of M change nothing: z is small where M is large, and small numbers are not yet complementary ones. The last
 * matrix has no diagonal to measure by.                                                            */
static void test_complementarity_claims_at_any_scale(void **state)
{
    (void)state;
    enum { N = 4 };
    static const double matrices[][N * N] = {{2, 0, 2, -1, -1, 0, 2, 1, -1, -1, -2, -1, 3, -1, 1, -2},
                                             {2, 1, 0, 0, 1, 2, 1, 0, 0, 1, 2, 1, 0, 0, 1, 2},
                                             {-1, 1, 3, 2, 2, 3, 0, 2, 2, -1, 1, -2, 2, 0, 2, 1},
                                             {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0}};
    static const double q[N] = {-1, 1, -1, 1};
    static const st_LcpOutcome expected[] = {ST_LCP_NO_SOLUTION, ST_LCP_SOLVED, ST_LCP_SOLVED, ST_LCP_NO_SOLUTION};
    for (int k = 0; k < 4; k++)
        for (int power = -300; power <= 300; power += 30) {
            static Made m;
            double M[N * N], z[N];
            st_LcpInfo info;
            st_LcpError judged;
            st_Error err = {0};
            for (int i = 0; i < N * N; i++)
                M[i] = ldexp(matrices[k][i], power);
            const st_LcpProblem p = {.n = N, .M = put_matrix(&m, 0, N, N, M), .q = q};
            check_ok(st_lcp_solve(&p, 1e-8, z, &info, &err), err);
            check_ok(st_lcp_error(&p, z, NULL, &judged, &err), err);
            if (info.outcome != expected[k])
                fail_msg("matrix %d times 2^%d: outcome %d, certified %g", k, power, info.outcome, judged.certified);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_claims),
        cmocka_unit_test(test_global_claims),
        cmocka_unit_test(test_equality_rows),
        cmocka_unit_test(test_claims_of_integers),
        cmocka_unit_test(test_claims_at_any_scale),
        cmocka_unit_test(test_rays_of_complementarity_problems),
        cmocka_unit_test(test_no_solution_in_the_plane),
        cmocka_unit_test(test_ball_between_closing_walls),
        cmocka_unit_test(test_nearly_parallel_walls),
        cmocka_unit_test(test_joints_that_contradict),
        cmocka_unit_test(test_joints_in_any_unit),
        cmocka_unit_test(test_velocities_out_of_range),
        cmocka_unit_test(test_rays_of_random_problems),
        cmocka_unit_test(test_columns_of_unequal_masses),
        cmocka_unit_test(test_contradictory_joints),
        cmocka_unit_test(test_one_measure_for_every_mu),
        cmocka_unit_test(test_complementarity_claims),
        cmocka_unit_test(test_complementarity_claims_at_any_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
