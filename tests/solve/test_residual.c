/* The residual: 0 at solutions that were there before the problem was (draw r and u that satisfy the
 * law, then choose w so that they solve it), large elsewhere, and right to the digit by hand.
 */
#include "made_problem.h"
#include "problem/law.h"
#include "reduce/residual.h"

static const double pi = 3.14159265358979323846;

static void scatter(double *x, double amount, double angle, int n)
{
    x[0] = amount * (n == 1 ? (angle < pi ? 1.0 : -1.0) : cos(angle));
    if (n == 2) x[1] = amount * sin(angle);
}

/* One tangential part (sliding, rolling or spinning) of a cone: without slip, with |x| < mu n, or slipping against
 * it. Returns mu |u|, the value that the cone law requires of u_n. */
static double draw_pair(double mu, double n, int size, check_Random *random, double *r, double *u)
{
    const double angle = check_random(random, 0.0, 2.0 * pi), speed = check_random(random, 0.1, 2.0);
    const bool slips = check_random_int(random, 0, 1) == 1;
    scatter(r, -mu * n * (slips ? 1.0 : check_random(random, 0.0, 0.9)), angle, size);
    scatter(u, slips ? speed : 0.0, angle, size);
    return slips ? mu * speed : 0.0;
}

/* A closed pyramid in space sticks, slides at a vertex, or slides along an edge's normal. */
static void draw_pyramid(const st_ContactLaw *c, double n, check_Random *random, double *r, double *u)
{
    const int kind = check_random_int(random, 0, 2), j = check_random_int(random, 0, c->facets - 1);
    const double step = 2.0 * pi / c->facets, share = check_random(random, 0.0, 1.0);
    const double a = step * j, b = step * (j + 1), speed = check_random(random, 0.1, 2.0);
    const double size = c->mu * n * (kind == 0 ? 0.9 : 1.0), other = kind == 1 ? 0.0 : share;
    r[0] = -size * ((1.0 - other) * cos(a) + other * cos(b));
    r[1] = -size * ((1.0 - other) * sin(a) + other * sin(b));
    const double lean = kind == 1 ? a + 0.49 * step * (2.0 * share - 1.0) : 0.5 * (a + b);
    u[0] = kind == 0 ? 0.0 : speed * cos(lean);
    u[1] = kind == 0 ? 0.0 : speed * sin(lean);
}

static void draw_bounded(const st_ContactLaw *c, check_Random *random, double *r, double *u)
{
    const int kind = check_random_int(random, 0, 2);
    r[0] = kind == 0 ? c->lo : kind == 1 ? c->hi : 0.5 * (c->lo + c->hi);
    u[0] = kind == 0 ? 1.0 : kind == 1 ? -1.0 : 0.0;
}

/* r and u that satisfy the law exactly (up to rounding), open or closed. */
static void draw_solution(const st_ContactLaw *c, check_Random *random, double *r, double *u)
{
    const int tangents = c->dim == 2 ? 1 : 2;
    memset(r, 0, (size_t)c->dim * sizeof *r);
    memset(u, 0, (size_t)c->dim * sizeof *u);
    if (c->law == ST_LAW_BOUNDED) {
        draw_bounded(c, random, r, u);
        return;
    }
    if (check_random_int(random, 0, 3) == 0) { /* open */
        for (int k = 0; k < c->dim; k++)
            u[k] = check_random(random, 0.1, 1.0);
        if (c->law == ST_LAW_CONE) u[0] += 1.5 * (c->mu + c->mu_roll + c->mu_spin); /* |u_T|, |u_R|, |u_S| < 1.5 */
        return;
    }
    const double n = r[0] = check_random(random, 0.5, 2.0);
    if (c->law == ST_LAW_PYRAMID && c->dim == 3) draw_pyramid(c, n, random, r + 1, u + 1);
    if (c->law == ST_LAW_BOX)
        for (int k = 1; k < c->dim; k++)
            draw_pair(c->mu, n, 1, random, r + k, u + k);
    const bool round = c->law == ST_LAW_COULOMB || c->law == ST_LAW_CONE || (c->law == ST_LAW_PYRAMID && c->dim == 2);
    double lift = 0.0;
    if (round) lift += draw_pair(c->mu, n, tangents, random, r + 1, u + 1);
    if (c->dim >= 5) lift += draw_pair(c->mu_roll, n, 2, random, r + 3, u + 3);
    if (round && (c->dim == 4 || c->dim == 6))
        lift += draw_pair(c->mu_spin, n, 1, random, r + c->dim - 1, u + c->dim - 1);
    if (c->law == ST_LAW_CONE) u[0] = lift;
}

static int all_laws(st_ContactLaw *out, double mu)
{
    const st_ContactLaw base = {.mu = mu, .mu_roll = 0.3 * mu, .mu_spin = 0.2 * mu, .facets = 2, .lo = -0.7, .hi = 1.5};
    static const struct {
        st_Law law;
        int dim, facets;
    } kinds[] = {{ST_LAW_FRICTIONLESS, 1, 2}, {ST_LAW_BOUNDED, 1, 2}, {ST_LAW_COULOMB, 2, 2}, {ST_LAW_COULOMB, 3, 2},
                 {ST_LAW_COULOMB, 5, 2},      {ST_LAW_CONE, 2, 2},    {ST_LAW_CONE, 3, 2},    {ST_LAW_CONE, 5, 2},
                 {ST_LAW_PYRAMID, 2, 2},      {ST_LAW_PYRAMID, 3, 2}, {ST_LAW_PYRAMID, 3, 4}, {ST_LAW_PYRAMID, 3, 10},
                 {ST_LAW_BOX, 2, 2},          {ST_LAW_BOX, 3, 2},     {ST_LAW_COULOMB, 4, 2}, {ST_LAW_COULOMB, 6, 2},
                 {ST_LAW_CONE, 4, 2},         {ST_LAW_CONE, 6, 2}};
    const int n = (int)(sizeof kinds / sizeof kinds[0]);
    for (int k = 0; k < n; k++) {
        out[k] = base;
        out[k].law = kinds[k].law, out[k].dim = kinds[k].dim, out[k].facets = kinds[k].facets;
    }
    return n;
}

/* Six bodies, two joints, three contacts of one law, compliance on one: solved by the r it returns. */
static Made *made_backwards(st_ContactLaw law, check_Random *random, double *r)
{
    Made *m = made_new();
    double u[MAX_R] = {0};
    for (int k = 0; k < 6; k++)
        made_add_mass(m, 6, 1.0, random);
    made_add_joint(m, 3, 0, 1, random);
    made_add_joint(m, 5, 1, 2, random);
    made_add_contact(m, law, 0, 3, random);
    made_add_contact(m, law, 4, 5, random);
    made_add_contact(m, law, 2, -1, random);
    made_diagonal_blocks(m->n_r, &m->n_c, m->c_first);
    m->C[0][0] = 0.5;
    for (int i = 0; i < m->n_v; i++)
        m->f[i] = check_random(random, -1.0, 1.0);
    for (int c = 0; c < m->n_contacts; c++)
        draw_solution(&m->contact[c], random, r + m->contact[c].first, u + m->contact[c].first);
    memset(m->w, 0, sizeof m->w);
    Reference *ref = made_reference(m, m->n_l);
    for (int i = 0; i < m->n_r; i++) {
        m->w[i] = u[i] - ref->b[i];
        for (int j = 0; j < m->n_r; j++)
            m->w[i] -= ref->W[i][j] * r[j];
    }
    free(ref);
    return m;
}

static void test_known_solutions(void **state)
{
    (void)state;
    static const double mus[] = {0.0, 0.5, 2.0};
    st_ContactLaw law[32];
    check_Random random = {.state = 1};
    for (int k = 0; k < 3; k++) {
        const int n = all_laws(law, mus[k]);
        for (int which = 0; which < n; which++)
            for (int sample = 0; sample < 6; sample++) {
                double r[MAX_R];
                Made *m = made_backwards(law[which], &random, r);
                const st_Problem p = made_problem(m);
                st_Error err = {0};
                st_Residual found;
                check_ok(st_problem_residual(&p, r, &found, &err), err);
                /* u passes through w = u - W r - b and back; conditions of the joints up to 1e3 */
                check_below(found.natural, 1e-12);
                check_below(found.complementarity, 1e-11);
                check_below(found.cone_violation, 1e-14);
                check_below(found.joint, 1e-13);
                for (int i = 0; i < m->n_r; i++) { /* and elsewhere it is not 0 */
                    const double keep = r[i];
                    r[i] += 0.1;
                    check_ok(st_problem_residual(&p, r, &found, &err), err);
                    assert_true(found.natural > 1e-4);
                    r[i] = keep;
                }
                free(m);
            }
    }
}

/* One mass 2 falling at 2 m/s on a floor: W = 1/2, b = -2, rho = 2, all by hand. */
static void test_by_hand(void **state)
{
    (void)state;
    const int first[2] = {0, 1}, row = 0;
    const int64_t p0 = 0, p[2] = {0, 1};
    const double A = 2.0, one = 1.0, f = -4.0;
    double w = 0.0;
    const st_ContactLaw contact = {.law = ST_LAW_FRICTIONLESS, .dim = 1};
    st_Problem problem = {.n_v = 1,
                          .n_r = 1,
                          .n_contacts = 1,
                          .A = {.n_blocks = 1, .first = first, .x = &A},
                          .symmetric = true,
                          .G = {1, 0, &p0, NULL, NULL},
                          .H = {1, 1, p, &row, &one},
                          .f = &f,
                          .w = &w,
                          .contact = &contact};
    st_Error err = {0};
    st_Residual found;
    double r = 0.0; /* u = -2: r - max(0, 0 + 4) = -4, over |rho b| = 4 */
    check_ok(st_problem_residual(&problem, &r, &found, &err), err);
    check_close(found.natural, 1.0, 1e-15);
    assert_int_equal(found.worst_contact, 0);
    r = 2.0; /* u = -1: 2 - max(0, 2 + 2) = -2 */
    check_ok(st_problem_residual(&problem, &r, &found, &err), err);
    check_close(found.natural, 0.5, 1e-15);
    check_close(found.complementarity, 2.0, 1e-15);
    r = 4.0;
    check_ok(st_problem_residual(&problem, &r, &found, &err), err);
    check_close(found.natural, 0.0, 1e-15);
    r = -1.0; /* u = -2.5: -1 - max(0, -1 + 5) = -5, and outside by 1 */
    check_ok(st_problem_residual(&problem, &r, &found, &err), err);
    check_close(found.natural, 1.25, 1e-15);
    check_close(found.cone_violation, 1.0, 0.0);
    w = 2.0; /* b = 0: absolute. u = 1/4: 0.5 - max(0, 0.5 - 0.5) */
    r = 0.5;
    check_ok(st_problem_residual(&problem, &r, &found, &err), err);
    check_close(found.natural, 0.5, 1e-15);
    w = 2.0 + 4e-16; /* b = 0 but for rounding: no scale either */
    check_ok(st_problem_residual(&problem, &r, &found, &err), err);
    check_close(found.natural, 0.5, 1e-14);
    problem.n_r = problem.n_contacts = 0; /* nothing to judge */
    problem.H = (st_Sparse){1, 0, &p0, NULL, NULL};
    check_ok(st_problem_residual(&problem, NULL, &found, &err), err);
    assert_true(found.natural == 0.0);
    assert_int_equal(found.worst_contact, -1);
}

static void test_refusals(void **state)
{
    (void)state;
    check_Random random = {.state = 2};
    double r[MAX_R];
    Made *m = made_backwards((st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5}, &random, r);
    const st_Problem p = made_problem(m);
    st_Error err = {0};
    st_Residual found;
    assert_int_equal(st_problem_residual(&p, NULL, &found, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_problem_residual(&p, r, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_problem_residual(NULL, r, &found, &err), ST_ERR_ARGUMENT);
    r[4] = NAN;
    assert_int_equal(st_problem_residual(&p, r, &found, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "r[4]"));
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_solutions),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
