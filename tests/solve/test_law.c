/* The laws of one contact: projections against their definition (the nearest point of the set, checked
 * by the variational inequality over generators of the set), shifts against brute force, natural maps
 * against hand-made solutions.
 */
#include "check.h"
#include "problem/law.h"

/* Figures here are sums of a few products of size up to |x|^2: rounding is a few 1e-16 of that. */
#define ROUNDING 1e-14

static const double pi = 3.14159265358979323846;

static st_ContactLaw make(st_Law law, int dim, double mu)
{
    return (st_ContactLaw){
        .law = law, .dim = dim, .facets = 2, .mu = mu, .mu_roll = 0.5 * mu, .mu_spin = 0.2 * mu, .lo = -1.0, .hi = 2.0};
}

/* Every convex set with a cone shape, for the properties below. */
static int all_cones(st_ContactLaw *out)
{
    static const double mus[] = {0.0, 1e-9, 0.3, 1.0, 7.0};
    static const int facets[] = {2, 4, 6, 8, 10, 64};
    int n = 0;
    for (int k = 0; k < 5; k++) {
        out[n++] = make(ST_LAW_FRICTIONLESS, 1, 0.0);
        out[n++] = make(ST_LAW_COULOMB, 2, mus[k]);
        out[n++] = make(ST_LAW_CONE, 3, mus[k]);
        out[n++] = make(ST_LAW_COULOMB, 5, mus[k]);
        out[n] = make(ST_LAW_CONE, 5, mus[k]);
        out[n++].mu_roll = 0.0;
        out[n++] = make(ST_LAW_CONE, 4, mus[k]);
        out[n++] = make(ST_LAW_COULOMB, 6, mus[k]);
        out[n] = make(ST_LAW_COULOMB, 6, mus[k]);
        out[n++].mu = 0.0;
        out[n++] = make(ST_LAW_PYRAMID, 2, mus[k]);
        for (int m = 0; m < 6; m++) {
            out[n] = make(ST_LAW_PYRAMID, 3, mus[k]);
            out[n++].facets = facets[m];
        }
    }
    return n;
}
#define MAX_CONES 100

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* A ray on the boundary of the set: its extreme rays, written down from the definition of K and not
 * from the code. K is the hull of these.                                                          */
static void random_ray(const st_ContactLaw *c, check_Random *random, double *z)
{
    z[0] = 1.0;
    const double angle = c->law == ST_LAW_PYRAMID ? 2.0 * pi * check_random_int(random, 0, c->facets - 1) / c->facets
                                                  : check_random(random, 0.0, 2.0 * pi);
    if (c->dim == 2) z[1] = check_random_int(random, 0, 1) ? c->mu : -c->mu;
    if (c->dim >= 3) z[1] = c->mu * cos(angle), z[2] = c->mu * sin(angle);
    if (c->dim == 4 || c->dim == 6) z[c->dim - 1] = check_random_int(random, 0, 1) ? c->mu_spin : -c->mu_spin;
    if (c->dim >= 5) {
        const double roll = check_random(random, 0.0, 2.0 * pi);
        z[3] = c->mu_roll * cos(roll), z[4] = c->mu_roll * sin(roll);
    }
}

static void random_point(int dim, check_Random *random, double *x)
{
    for (int k = 0; k < dim; k++)
        x[k] = check_random(random, -2.0, 2.0);
    if (check_random_int(random, 0, 9) == 0) x[0] = 0.0;
    for (int k = 1; k < dim; k++)
        if (check_random_int(random, 0, 9) == 0) x[k] = 0.0; /* axes, and the apex now and then */
}

/* How far x is outside K, from the definition. */
static double outside(const st_ContactLaw *c, const double *x)
{
    double worst = -x[0];
    if (c->dim == 2) worst = fmax(worst, fabs(x[1]) - c->mu * x[0]);
    if (c->dim >= 3 && c->law != ST_LAW_PYRAMID) worst = fmax(worst, hypot(x[1], x[2]) - c->mu * x[0]);
    if (c->dim >= 5) worst = fmax(worst, hypot(x[3], x[4]) - c->mu_roll * x[0]);
    if (c->dim == 4 || c->dim == 6) worst = fmax(worst, fabs(x[c->dim - 1]) - c->mu_spin * x[0]);
    for (int j = 0; c->dim == 3 && c->law == ST_LAW_PYRAMID && j < c->facets; j++) { /* one edge after another */
        const double angle = 2.0 * pi * (j + 0.5) / c->facets;
        worst = fmax(worst, cos(angle) * x[1] + sin(angle) * x[2] - c->mu * x[0] * cos(pi / c->facets));
        if (c->facets == 2) worst = fmax(worst, fabs(x[1]) - c->mu * x[0]); /* a wedge has ends too */
    }
    return worst;
}

/* y = P(x) for a convex cone K: y in K, x - y in the polar cone, (x - y)'y = 0 (Moreau). */
static void test_projection_is_nearest(void **state)
{
    (void)state;
    st_ContactLaw cone[MAX_CONES];
    const int n = all_cones(cone);
    check_Random random = {.state = 1};
    for (int c = 0; c < n; c++)
        for (int sample = 0; sample < 400; sample++) {
            double x[ST_MAX_DIM] = {0}, y[ST_MAX_DIM] = {0}, rest[ST_MAX_DIM] = {0}, again[ST_MAX_DIM] = {0},
                   z[ST_MAX_DIM] = {0};
            random_point(cone[c].dim, &random, x);
            memcpy(y, x, sizeof y);
            sti_law_project(&cone[c], y);
            for (int k = 0; k < cone[c].dim; k++)
                rest[k] = x[k] - y[k];
            check_below(outside(&cone[c], y), ROUNDING * 10.0); /* mu up to 7 multiplies the rounding */
            check_close(dot(rest, y, cone[c].dim), 0.0, ROUNDING * 10.0);
            for (int ray = 0; ray < 50; ray++) {
                random_ray(&cone[c], &random, z);
                check_below(dot(rest, z, cone[c].dim), ROUNDING * 50.0);
            }
            memcpy(again, y, sizeof again);
            sti_law_project(&cone[c], again);
            for (int k = 0; k < cone[c].dim; k++)
                check_close(again[k], y[k], ROUNDING);
        }
}

/* Points of K do not move, and points of the polar cone go to 0. */
static void test_projection_fixed_points(void **state)
{
    (void)state;
    st_ContactLaw cone[MAX_CONES];
    const int n = all_cones(cone);
    check_Random random = {.state = 2};
    for (int c = 0; c < n; c++)
        for (int sample = 0; sample < 100; sample++) {
            double a[ST_MAX_DIM] = {0}, b[ST_MAX_DIM] = {0}, x[ST_MAX_DIM] = {0}, y[ST_MAX_DIM] = {0};
            random_ray(&cone[c], &random, a);
            random_ray(&cone[c], &random, b);
            const double weight = check_random(&random, 0.0, 3.0);
            for (int k = 0; k < cone[c].dim; k++)
                y[k] = x[k] = a[k] + weight * b[k];
            sti_law_project(&cone[c], y);
            for (int k = 0; k < cone[c].dim; k++)
                check_close(y[k], x[k], ROUNDING * 10.0);
            double below[ST_MAX_DIM] = {-1.0 - cone[c].mu - cone[c].mu_roll - cone[c].mu_spin};
            if (cone[c].dim > 1) below[cone[c].dim - 1] = 1.0; /* n + sum of mu |x| < 0: polar */
            sti_law_project(&cone[c], below);
            for (int k = 0; k < cone[c].dim; k++)
                assert_true(below[k] == 0.0);
        }
}

/* With many facets the pyramid is the cone: the polygon's depth is 1 - cos(pi/m) ~ 5 (1/m)^2. */
static void test_pyramid_tends_to_cone(void **state)
{
    (void)state;
    st_ContactLaw cone = make(ST_LAW_COULOMB, 3, 0.7), pyramid = make(ST_LAW_PYRAMID, 3, 0.7);
    check_Random random = {.state = 3};
    for (int m = 100; m <= 1000000; m *= 100)
        for (int sample = 0; sample < 200; sample++) {
            double x[3], y[3], u[3], v[3];
            pyramid.facets = m;
            random_point(3, &random, x);
            sti_law_shift(&cone, x, u);
            sti_law_shift(&pyramid, x, v);
            memcpy(y, x, sizeof y);
            sti_law_project(&cone, x);
            sti_law_project(&pyramid, y);
            /* sets whose Hausdorff distance is e have projections within sqrt(2 |x| e), here |x| < 3.5 */
            const double depth = 1.0 - cos(pi / m);
            for (int k = 0; k < 3; k++)
                check_close(y[k], x[k], sqrt(7.0 * depth) + ROUNDING);
            check_close(v[0], u[0], 3.0 * depth + ROUNDING);
        }
}

static void test_facets(void **state)
{
    (void)state;
    for (int m = 2; m <= 50; m += 2) {
        st_ContactLaw c = make(ST_LAW_PYRAMID, 3, 1.0);
        double d[2], opposite[2];
        c.facets = m;
        for (int j = 0; j < m; j++) {
            sti_law_facet(&c, j, d);
            check_close(d[0], cos(2.0 * pi * j / m), 3e-15); /* the angle here, up to 2 pi, is rounded */
            check_close(d[1], sin(2.0 * pi * j / m), 3e-15);
            sti_law_facet(&c, (j + m / 2) % m, opposite);
            assert_true(d[0] == -opposite[0] && d[1] == -opposite[1]);
        }
        for (int j = 0; m % 4 == 0 && j < 4; j++) { /* the axes, exactly */
            sti_law_facet(&c, j * m / 4, d);
            assert_true(d[0] == (j == 0) - (j == 2) && d[1] == (j == 1) - (j == 3));
        }
    }
    st_ContactLaw plane = make(ST_LAW_PYRAMID, 2, 1.0);
    double d[2];
    sti_law_facet(&plane, 0, d);
    assert_true(d[0] == 1.0);
    sti_law_facet(&plane, 1, d);
    assert_true(d[0] == -1.0);
}

static void test_shift(void **state)
{
    (void)state;
    check_Random random = {.state = 4};
    for (int sample = 0; sample < 1000; sample++) {
        double u[ST_MAX_DIM], s[ST_MAX_DIM];
        random_point(6, &random, u);
        st_ContactLaw c = make(ST_LAW_COULOMB, 5, 0.6);
        sti_law_shift(&c, u, s);
        check_close(s[0], u[0] + 0.6 * hypot(u[1], u[2]) + 0.3 * hypot(u[3], u[4]), ROUNDING);
        c = make(ST_LAW_COULOMB, 6, 0.6);
        sti_law_shift(&c, u, s);
        check_close(s[0], u[0] + 0.6 * hypot(u[1], u[2]) + 0.3 * hypot(u[3], u[4]) + 0.12 * fabs(u[5]), ROUNDING);
        c = make(ST_LAW_COULOMB, 4, 0.6);
        sti_law_shift(&c, u, s);
        check_close(s[0], u[0] + 0.6 * hypot(u[1], u[2]) + 0.12 * fabs(u[3]), ROUNDING);
        c = make(ST_LAW_CONE, 6, 0.6);
        sti_law_shift(&c, u, s);
        assert_memory_equal(s, u, sizeof u);
        c = make(ST_LAW_BOX, 3, 0.6);
        sti_law_shift(&c, u, s);
        assert_memory_equal(s, u, 3 * sizeof *u);
        c = make(ST_LAW_PYRAMID, 3, 0.6);
        c.facets = 2 * check_random_int(&random, 1, 20);
        double widest = -1e300;
        for (int j = 0; j < c.facets; j++)
            widest = fmax(widest, -cos(2.0 * pi * j / c.facets) * u[1] - sin(2.0 * pi * j / c.facets) * u[2]);
        sti_law_shift(&c, u, s);
        check_close(s[0], u[0] + 0.6 * widest, ROUNDING);
        c = make(ST_LAW_PYRAMID, 2, 0.6);
        sti_law_shift(&c, u, s);
        check_close(s[0], u[0] + 0.6 * fabs(u[1]), ROUNDING);
    }
}

static void test_bounded_and_box(void **state)
{
    (void)state;
    st_ContactLaw c = make(ST_LAW_BOUNDED, 1, 0.0);
    double x = -3.0;
    sti_law_project(&c, &x);
    assert_true(x == -1.0);
    x = 5.0;
    sti_law_project(&c, &x);
    assert_true(x == 2.0);
    c.lo = -HUGE_VAL, c.hi = HUGE_VAL, x = 1e30;
    sti_law_project(&c, &x);
    assert_true(x == 1e30);

    c = make(ST_LAW_BOX, 3, 0.5);
    double y[3] = {2.0, -3.0, 0.7}, z[3] = {-1.0, 3.0, -3.0}, out[3];
    sti_law_project(&c, y);
    assert_true(y[0] == 2.0 && y[1] == -1.0 && y[2] == 0.7);
    sti_law_project(&c, z);
    assert_true(z[0] == 0.0 && z[1] == 0.0 && z[2] == 0.0);
    /* sliding both ways: r_t = -mu r_n against u_t > 0, r_o inside with u_o = 0 */
    const double r[3] = {2.0, -1.0, 0.3}, u[3] = {0.0, 4.0, 0.0};
    sti_law_natural(&c, r, u, 0.25, out);
    assert_true(out[0] == 0.0 && out[1] == 0.0 && out[2] == 0.0);
    /* docs/methods.md 12: the bound is mu r_n of the present r, not of the projected one */
    const double lifting[3] = {3.0, 4.0, 0.0}, pressed[3] = {2.0, 0.0, 0.0};
    sti_law_natural(&c, pressed, lifting, 1.0, out);
    check_close(out[1], 1.0, 0.0);
}

/* Solutions of the laws written down by hand: the natural map is 0 there and only there. */
static void test_natural_map(void **state)
{
    (void)state;
    check_Random random = {.state = 5};
    for (int sample = 0; sample < 500; sample++) {
        const double mu = check_random(&random, 0.0, 2.0), rho = exp(check_random(&random, -3.0, 3.0));
        const double angle = check_random(&random, 0.0, 2.0 * pi), n = check_random(&random, 0.1, 2.0);
        const double speed = check_random(&random, 0.1, 2.0);
        const double t[2] = {cos(angle), sin(angle)};
        double out[3];
        st_ContactLaw c = make(ST_LAW_COULOMB, 3, mu);
        const double slide_r[3] = {n, -mu * n * t[0], -mu * n * t[1]}, slide_u[3] = {0.0, speed * t[0], speed * t[1]};
        const double stick_r[3] = {n, 0.9 * mu * n * t[0], 0.9 * mu * n * t[1]}, zero[3] = {0, 0, 0};
        const double open_u[3] = {n, speed * t[0], speed * t[1]};
        sti_law_natural(&c, slide_r, slide_u, rho, out);
        check_below(dot(out, out, 3), ROUNDING * ROUNDING * 1e4); /* rho |u| up to 40 */
        sti_law_natural(&c, stick_r, zero, rho, out);
        check_below(dot(out, out, 3), ROUNDING * ROUNDING);
        sti_law_natural(&c, zero, open_u, rho, out);
        check_below(dot(out, out, 3), 0.0);
        /* the wrong ones: pushing while opening; sliding along the friction */
        sti_law_natural(&c, slide_r, open_u, rho, out);
        assert_true(dot(out, out, 3) > 1e-6);
        const double along[3] = {0.0, -slide_u[1], -slide_u[2]};
        sti_law_natural(&c, slide_r, along, rho, out);
        assert_true(mu < 1e-2 || dot(out, out, 3) > 1e-8);
        /* a pyramid slides along -d_j when u leans to d_j most */
        c = make(ST_LAW_PYRAMID, 3, mu);
        c.facets = 2 * check_random_int(&random, 1, 8);
        const int j = check_random_int(&random, 0, c.facets - 1);
        const double vertex = 2.0 * pi * j / c.facets, lean = check_random(&random, -1.0, 1.0) * 0.99 * pi / c.facets;
        const double facet_r[3] = {n, -mu * n * cos(vertex), -mu * n * sin(vertex)};
        const double facet_u[3] = {0.0, speed * cos(vertex + lean), speed * sin(vertex + lean)};
        sti_law_natural(&c, facet_r, facet_u, rho, out);
        check_below(dot(out, out, 3), ROUNDING * ROUNDING * 1e4);
    }
}

/* An impulse so large that r - rho u = r in rounding does not hide u: stuck with a velocity is wrong by that much. */
static void test_natural_of_large_impulses(void **state)
{
    (void)state;
    const double r[3] = {1e17, 0.0, 0.0}, u[3] = {0.0, 3.0, -4.0}, rho = 0.5;
    double out[3];
    sti_law_natural(&(st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.4}, r, u, rho, out);
    check_close(out[0], rho * 0.4 * 5.0, 1e-15); /* u^_n = mu |u_T| */
    check_close(out[1], rho * 3.0, 1e-15);
    check_close(out[2], rho * -4.0, 1e-15);
}

/* However large mu is: an approach that slides is seen, and creep of a contact that sticks counts once. */
static void test_natural_of_steep_cones(void **state)
{
    (void)state;
    const st_Law laws[3] = {ST_LAW_COULOMB, ST_LAW_PYRAMID, ST_LAW_BOX};
    check_Random random = {.state = 6};
    for (int sample = 0; sample < 3000; sample++) {
        st_ContactLaw c =
            make(laws[sample % 3], check_random_int(&random, 2, 3), exp(check_random(&random, -1.0, 25.0)));
        c.facets = 2 * check_random_int(&random, 1, 8);
        const double rho = exp(check_random(&random, -3.0, 3.0)), a = check_random(&random, 0.1, 2.0);
        const double n = check_random(&random, 0.5, 2.0), angle = check_random(&random, 0.0, 2.0 * pi);
        const double zero[3] = {0, 0, 0}, comes[3] = {-a, 3.0 * cos(angle), 3.0 * sin(angle)};
        const double sticks[3] = {n, 0, 0}, creep = 1e-3 * c.mu * n / fmax(1.0, c.mu) / rho;
        const double creeps[3] = {0, creep * cos(angle), creep * sin(angle)};
        double out[3] = {0};
        sti_law_natural(&c, zero, comes, rho, out);
        assert_true(sqrt(dot(out, out, c.dim)) >= rho * a / sqrt(2.0) * (1.0 - 1e-12)); /* mu <= 1: 1/sqrt(1 + mu^2) */
        sti_law_natural(&c, sticks, creeps, rho, out);
        check_below(sqrt(dot(out, out, c.dim)), rho * creep * sqrt(2.0) * (1.0 + 1e-12));
        const double slides[3] = {n, -c.mu * n, 0}, along[3] = {0, 2.0, 0}; /* solved, with facets along the axis */
        sti_law_natural(&c, slides, along, rho, out);
        check_below(sqrt(dot(out, out, c.dim)), 1e-15 * (c.mu * n + 2.0 * rho));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_natural_of_large_impulses),
        cmocka_unit_test(test_projection_is_nearest),
        cmocka_unit_test(test_projection_fixed_points),
        cmocka_unit_test(test_pyramid_tends_to_cone),
        cmocka_unit_test(test_facets),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_bounded_and_box),
        cmocka_unit_test(test_natural_map),
        cmocka_unit_test(test_natural_of_steep_cones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
