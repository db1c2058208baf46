/* nsgs on problems with known answers: built backwards from r and u that obey the law, boxes in closed form,
 * and Lemke's answers where both methods apply.                                                    */
#include "bodies.h"
#include "check.h"
#include "made_problem.h"

#include "problem/law.h"

static const st_ContactLaw coulomb = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5};

static st_SolveInfo solve_with(const char *name, const st_Problem *problem, double tolerance, st_Solution *solution)
{
    st_Error err = {0};
    st_Solver *solver = NULL;
    st_SolveInfo info = {0};
    st_SolverDef def = st_solver_def();
    def.name = name;
    def.tolerance = tolerance;
    check_ok(st_solver_create(&def, &solver, &err), err);
    check_ok(st_solver_solve(solver, problem, solution, &info, &err), err);
    st_solver_destroy(solver);
    return info;
}

/* ------------------------------------------------------------------ built backwards */

/* r and u of one contact that obey its law: z random, r = P(z), u^ = r - z (Moreau), shifted back. */
static void draw_answer(check_Random *random, const st_ContactLaw *contact, double *r, double *u)
{
    double z[ST_MAX_DIM], shift = 0.0, d[2] = {0};
    for (int k = 0; k < contact->dim; k++)
        r[k] = z[k] = check_random(random, -1.0, 1.0) * (k >= 3 ? 0.05 : 1.0);
    r[0] = z[0] += 0.3; /* more closed than open */
    sti_law_project(contact, r);
    for (int k = 0; k < contact->dim; k++)
        u[k] = r[k] - z[k];
    if (contact->law == ST_LAW_COULOMB && contact->dim > 1)
        shift = contact->mu * hypot(u[1], contact->dim > 2 ? u[2] : 0.0) +
                (contact->dim >= 5 ? contact->mu_roll * hypot(u[3], u[4]) : 0.0) +
                (contact->dim == 4 || contact->dim == 6 ? contact->mu_spin * fabs(u[contact->dim - 1]) : 0.0);
    for (int j = 0; contact->law == ST_LAW_PYRAMID && j < contact->facets; j++) {
        sti_law_facet(contact, j, d);
        shift = fmax(shift, contact->mu * -(d[0] * u[1] + (contact->dim == 3 ? d[1] * u[2] : 0.0)));
    }
    u[0] -= shift;
}

static st_ContactLaw draw_law(check_Random *random, st_Law law, int dim, double mu_max)
{
    st_ContactLaw contact = {.law = law, .dim = dim, .mu = check_random(random, 0.0, mu_max), .lo = -0.5, .hi = 0.5};
    contact.facets = dim == 2 ? 2 : 2 * check_random_int(random, 2, 5);
    contact.mu_roll = 0.02 * contact.mu;
    contact.mu_spin = 0.01 * contact.mu;
    return contact;
}

typedef enum Extras { NONE = 0, JOINTS = 1, COMPLIANCE = 2, PATCH = 4, SKEW = 8 } Extras;

/* Three to six bodies, contacts between them, and w such that r, u solve it. */
static Made *draw_problem(check_Random *random, st_Law law, int dim, double mu_max, int extras, double *r, double *u)
{
    Made *m = made_new();
    const int n_bodies = check_random_int(random, 3, 6), n_contacts = check_random_int(random, 1, 24 / dim);
    for (int k = 0; k < n_bodies; k++)
        made_add_mass(m, 6, pow(10.0, check_random(random, -1.0, 1.0)), random);
    for (int k = 0; k < m->n_v; k++)
        m->f[k] = check_random(random, -1.0, 1.0);
    if (extras & JOINTS) made_add_joint(m, 3, 0, 1, random);
    for (int c = 0; c < n_contacts; c++) {
        const int a = check_random_int(random, 0, n_bodies - 1), b = check_random_int(random, -1, n_bodies - 1);
        made_add_contact(m, draw_law(random, law, dim, mu_max), a, b == a ? -1 : b, random);
    }
    if (extras & COMPLIANCE) made_diagonal_blocks(m->n_r, &m->n_c, m->c_first);
    if (extras & PATCH) { /* one block over all contacts */
        m->n_c = 1;
        m->c_first[1] = m->n_r;
    }
    for (int i = 0; i < m->n_r && m->n_c > 0; i++)
        for (int j = 0; j < m->n_r; j++)
            m->C[i][j] = i == j ? 1.0 : extras & PATCH ? 0.9 / (1.0 + fabs((double)(i - j))) / m->n_r : 0.0;
    for (int k = 0; k < m->n_v && (extras & SKEW); k += 6) { /* the symmetric part of A stays */
        m->A[k][k + 1] += 0.2 * m->A[k][k];
        m->A[k + 1][k] -= 0.2 * m->A[k][k];
        m->symmetric = false;
    }
    Reference *reference = made_reference(m, m->n_l);
    for (int c = 0; c < n_contacts; c++)
        draw_answer(random, &m->contact[c], r + m->contact[c].first, u + m->contact[c].first);
    for (int i = 0; i < m->n_r; i++) {
        double b = u[i];
        for (int j = 0; j < m->n_r; j++)
            b -= reference->W[i][j] * r[j];
        m->w[i] += b - reference->b[i];
    }
    free(reference);
    return m;
}

/* 1e-10 is requested: ten times below the default, far above rounding (1e-14 here). Where the answer is unique r is
 * compared, too: |r - r0| <= |inv(W)| times the residual, and cond(W) is below 1e4 here. */
static void check_backwards(st_Law law, int dim, double mu_max, int extras, bool unique)
{
    check_Random random = {.state = 77u + 10u * (uint64_t)law + (uint64_t)dim};
    for (int k = 0; k < 60; k++) {
        double r0[MAX_R], u0[MAX_R], r[MAX_R], u[MAX_R], v[MAX_V];
        Made *m = draw_problem(&random, law, dim, mu_max, extras, r0, u0);
        const st_Problem problem = made_problem(m);
        st_Solution solution = {.r = r, .u = u, .v = v};
        const st_SolveInfo info = solve_with("nsgs", &problem, 1e-10, &solution);
        if (!info.converged)
            print_error("%s, dim %d, problem %d: %d contacts, residual %.3g after %d sweeps\n", st_law_name(law), dim,
                        k, m->n_contacts, info.residual.natural, info.iterations);
        assert_true(info.converged);
        for (int i = 0; i < m->n_r && unique && m->n_r <= 6; i++)
            check_close(r[i], r0[i], 1e-6);
        free(m);
    }
}

static void test_backwards_convex(void **state)
{
    (void)state;
    static const int extras[] = {NONE, JOINTS, COMPLIANCE, JOINTS | PATCH};
    for (int k = 0; k < 4; k++) {
        check_backwards(ST_LAW_FRICTIONLESS, 1, 0.0, extras[k], true);
        check_backwards(ST_LAW_BOUNDED, 1, 0.0, extras[k], true);
        check_backwards(ST_LAW_CONE, 2, 1.0, extras[k], true);
        check_backwards(ST_LAW_CONE, 3, 1.0, extras[k], true);
        for (int dim = 4; dim <= 6; dim++)
            check_backwards(ST_LAW_CONE, dim, 1.0, extras[k], true);
    }
}

static void test_backwards_friction(void **state)
{
    (void)state;
    static const int extras[] = {NONE, JOINTS, COMPLIANCE, JOINTS | PATCH, SKEW};
    for (int k = 0; k < 5; k++) {
        check_backwards(ST_LAW_COULOMB, 2, 0.6, extras[k], false);
        check_backwards(ST_LAW_COULOMB, 3, 0.6, extras[k], false);
        for (int dim = 4; dim <= 6; dim++)
            check_backwards(ST_LAW_COULOMB, dim, 0.6, extras[k], false);
        check_backwards(ST_LAW_PYRAMID, 2, 0.6, extras[k], false);
        check_backwards(ST_LAW_PYRAMID, 3, 0.6, extras[k], false);
        check_backwards(ST_LAW_BOX, 2, 0.6, extras[k], false);
        check_backwards(ST_LAW_BOX, 3, 0.6, extras[k], false);
    }
}

/* One contact is solved exactly: a sweep finds the solution, and at most a second one confirms it. */
static void test_one_contact(void **state)
{
    (void)state;
    static const int dims[ST_N_LAWS] = {1, 1, 3, 3, 3, 3};
    check_Random random = {.state = 4};
    for (int k = 0; k < 300; k++) {
        const st_Law law = (st_Law)(k % ST_N_LAWS);
        Made *m = made_new();
        double r[MAX_R];
        made_add_mass(m, 6, 2.0, &random);
        made_add_contact(m, draw_law(&random, law, dims[law], 1.0), 0, -1, &random);
        const st_Problem problem = made_problem(m);
        st_Solution solution = {.r = r};
        const st_SolveInfo info = solve_with("nsgs", &problem, 1e-13, &solution);
        assert_true(info.converged);
        assert_in_range(info.iterations, 0, 2);
        free(m);
    }
}

/* ------------------------------------------------------------------ boxes */

/* On the ground with four feet, pushed: below mu m g it rests, above it slides with h (F/m - mu g). */
static void test_block_on_the_floor(void **state)
{
    (void)state;
    static const st_Law laws[] = {ST_LAW_COULOMB, ST_LAW_PYRAMID, ST_LAW_BOX};
    const double mu = 0.5, mass = 3.0, g = 9.81;
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < 4; k++) {
            const double force[3] = {(0.5 + 0.4 * k) * mu * mass * g, 0.0, 0.0}, x[3] = {0.0, 0.0, 0.5};
            const st_ContactLaw law = {.law = laws[l], .dim = 3, .mu = mu, .facets = 8};
            Bodies b = bodies_new(1, 4);
            bodies_add(&b, mass, x, force);
            bodies_stand(&b, -1, 0, law);
            const st_Problem problem = bodies_problem(&b);
            double r[12], v[6];
            st_Solution solution = {.r = r, .v = v};
            const st_SolveInfo info = solve_with("nsgs", &problem, 1e-12, &solution);
            assert_true(info.converged);
            /* velocities are of size h g = 0.1, the residual 1e-12 of it, and four feet share it */
            check_close(v[0], b.step * fmax(0.0, force[0] / mass - mu * g), 1e-12);
            for (int i = 1; i < 6; i++)
                check_close(v[i], 0.0, 1e-12);
            check_close(r[0] + r[3] + r[6] + r[9], b.step * mass * g, 1e-11);
            bodies_free(&b);
        }
}

/* A ball on rough ground with rolling friction mu_r, pushed by F through its centre: it rests while
 * F R <= mu_r m g, and then rolls with (I + m R^2) spin = h (F R - mu_r m g).                      */
static void test_rolling_ball(void **state)
{
    (void)state;
    const double mass = 2.0, radius = 0.5, mu_roll = 0.01, g = 9.81;
    for (int k = 0; k < 4; k++) {
        const double force[3] = {(0.5 + 0.4 * k) * mu_roll * mass * g / radius, 0.0, 0.0}, x[3] = {0, 0, radius};
        const double foot[3] = {0, 0, 0};
        const st_ContactLaw law = {.law = ST_LAW_COULOMB, .dim = 5, .mu = 0.8, .mu_roll = mu_roll};
        Bodies b = bodies_new(1, 1);
        bodies_add(&b, mass, x, force);
        bodies_touch(&b, -1, 0, foot, law);
        const st_Problem problem = bodies_problem(&b);
        double r[5], v[6];
        st_Solution solution = {.r = r, .v = v};
        assert_true(solve_with("nsgs", &problem, 1e-12, &solution).converged);
        const double turn = fmax(0.0, force[0] * radius - mu_roll * mass * g), inertia = mass / 6.0;
        const double spin = b.step * turn / (inertia + mass * radius * radius);
        check_close(v[4], spin, 1e-12);
        check_close(v[0], spin * radius, 1e-12);
        bodies_free(&b);
    }
}

/* A ball that slides at v0 and spins at w0 about the normal, by every solver that takes spinning friction: sliding
 * reduces the one by mu g h, spinning the other by mu_s m g h (until it stops), each independent of the other. In
 * one step, so that the results are exact. */
static void test_spinning_ball(void **state)
{
    (void)state;
    const double mass = 2.0, radius = 0.5, mu = 0.8, mu_spin = 0.01, g = 9.81, inertia = mass / 6.0;
    const char *const names[] = {"nsgs", "newton", "ipm", "admm", "auto"};
    const double start[2][2] = {{3.0, 5.0}, {3.0, 1e-4}}; /* [m/s, rad/s]: one continues to spin; one stops at once */
    for (int k = 0; k < 10; k++) {
        const double *v0 = start[k % 2], push[3] = {mass * v0[0] / 0.01, 0, 0}, x[3] = {0, 0, radius};
        const double foot[3] = {0, 0, 0};
        const st_ContactLaw law = {.law = ST_LAW_COULOMB, .dim = 4, .mu = mu, .mu_spin = mu_spin};
        Bodies b = bodies_new(1, 1);
        bodies_add(&b, mass, x, push);
        bodies_touch(&b, -1, 0, foot, law);
        assert_true(b.step == 0.01);
        b.f[5] += inertia * v0[1];
        const st_Problem problem = bodies_problem(&b);
        double r[4], v[6];
        st_Solution solution = {.r = r, .v = v};
        assert_true(solve_with(names[k / 2], &problem, 1e-10, &solution).converged);
        const double dv = mu * g * b.step, dw = mu_spin * mass * g * b.step / inertia;
        check_close(v[0], v0[0] - dv, 1e-8); /* the tolerance times velocities and mobilities below 100 */
        check_close(v[4], dv * mass * radius / inertia, 1e-8);
        check_close(v[5], fmax(0.0, v0[1] - dw), 1e-8);
        bodies_free(&b);
    }
}

/* Stacks rest, whatever is redundant in their contacts; and the acceleration is there: 600 sweeps measured,
 * where plain sweeps need more than 20,000.                                                        */
static void test_wall_rests(void **state)
{
    (void)state;
    Bodies b = bodies_new(64, 512);
    bodies_wall(&b, 10, coulomb);
    const st_Problem problem = bodies_problem(&b);
    double *r = calloc((size_t)problem.n_r, sizeof *r), *v = calloc((size_t)problem.n_v, sizeof *v);
    double *again = calloc((size_t)problem.n_r, sizeof *again);
    st_Solution solution = {.r = r, .v = v}, second = {.r = again};
    const st_SolveInfo info = solve_with("nsgs", &problem, 1e-9, &solution);
    assert_true(info.converged);
    assert_in_range(info.iterations, 1, 2000);
    double weight = 0.0, floor = 0.0;
    for (int i = 0; i < problem.n_v; i++)
        check_close(v[i], 0.0, 1e-7); /* h g = 0.1 is taken away to 1e-9 of all 55 boxes' impulses */
    for (int k = 0; k < b.n_bodies; k++)
        weight += b.step * 9.81;
    for (int c = 0; c < 40; c++) /* the bottom row's feet come first */
        floor += r[3 * c];
    check_close(floor, weight, 1e-6);

    solve_with("nsgs", &problem, 1e-9, &second); /* bit for bit */
    assert_memory_equal(r, again, sizeof *r * (size_t)problem.n_r);
    free(r), free(v), free(again);
    bodies_free(&b);
}

/* The pyramid law by Lemke and by sweeps: friction small enough for the velocity to be unique. */
static void test_against_lemke(void **state)
{
    (void)state;
    static const st_Law laws[] = {ST_LAW_FRICTIONLESS, ST_LAW_BOUNDED, ST_LAW_PYRAMID, ST_LAW_BOX};
    check_Random random = {.state = 12};
    for (int k = 0; k < 200; k++) {
        const st_Law law = laws[k % 4];
        double r0[MAX_R], u0[MAX_R], r[MAX_R], v[MAX_V], v_lemke[MAX_V];
        Made *m = draw_problem(&random, law, k % 4 < 2 ? 1 : 3, 0.1, k % 3 == 0 ? JOINTS : NONE, r0, u0);
        const st_Problem problem = made_problem(m);
        st_Solution swept = {.r = r, .v = v}, pivoted = {.r = r, .v = v_lemke};
        assert_true(solve_with("nsgs", &problem, 1e-11, &swept).converged);
        assert_true(solve_with("lemke", &problem, 1e-11, &pivoted).converged);
        for (int i = 0; i < m->n_v; i++)
            check_close(v[i], v_lemke[i], 1e-7); /* 1e-11 times the condition of A and W, up to 1e3 */
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backwards_convex), cmocka_unit_test(test_backwards_friction),
        cmocka_unit_test(test_one_contact),      cmocka_unit_test(test_block_on_the_floor),
        cmocka_unit_test(test_rolling_ball),     cmocka_unit_test(test_spinning_ball),
        cmocka_unit_test(test_wall_rests),       cmocka_unit_test(test_against_lemke),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
