/* Anderson's acceleration: exact on linear iterations in as many steps as unknowns, and harmless elsewhere. */
#include "check.h"

#include "solve/anderson.h"

enum { N = 6 };

/* g(x) = d x + c by components: fixed point c/(1 - d). */
static void linear(const double *d, const double *x, double *g)
{
    for (int i = 0; i < N; i++)
        g[i] = d[i] * x[i] + 1.0;
}

static double distance(const double *d, const double *x)
{
    double worst = 0.0;
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs((1.0 - d[i]) * x[i] - 1.0));
    return worst;
}

/* Six unknowns with factors up to 0.999: six differences span them, so the eighth point is the solution, up to the
 * error of the regularisation of the normal equations (1e-10 of the trace, removed in a step or two more); the plain
 * iteration needs 23,000 steps for 1e-10. */
static void test_linear(void **state)
{
    (void)state;
    const double d[N] = {0.999, 0.9, 0.5, 0.0, -0.3, -0.8}, weight[N] = {1, 2, 3, 1, 2, 3};
    double x[N] = {0}, g[N];
    sti_Anderson a = {.allocator = st_default_allocator()};
    st_Error err = {0};
    check_ok(sti_anderson_begin(&a, N, 0, STI_ANDERSON_WINDOW, weight, &err), err);
    for (int k = 0; k < 20; k++) {
        linear(d, x, g);
        sti_anderson_next(&a, x, g, NULL);
        memcpy(x, g, sizeof x);
    }
    check_below(distance(d, x), 1e-10);
    sti_anderson_release(&a);
}

/* Velocities follow impulses: y = x_i + 2 x_(i+1) of the next point, up to the single precision of the differences,
 * also where the iteration goes back and where it rests. */
static void test_followers(void **state)
{
    (void)state;
    const double d[N] = {0.999, 0.9, 0.5, 0.0, -0.3, -1.9}, weight[N] = {1, 2, 3, 1, 2, 3};
    double x[N] = {0}, g[N], y[N - 1];
    sti_Anderson a = {.allocator = st_default_allocator()};
    st_Error err = {0};
    check_ok(sti_anderson_begin(&a, N, N - 1, STI_ANDERSON_WINDOW, weight, &err), err);
    for (int k = 0; k < 150; k++) {
        double largest = 1.0;
        linear(d, x, g);
        for (int i = 0; i + 1 < N; i++)
            y[i] = g[i] + 2 * g[i + 1];
        for (int i = 0; i < N; i++)
            largest = fmax(largest, fabs(g[i]));
        sti_anderson_next(&a, x, g, y);
        for (int i = 0; i < N; i++)
            largest = fmax(largest, fabs(g[i]));
        for (int i = 0; i + 1 < N; i++)
            check_close(y[i], g[i] + 2 * g[i + 1], 1e-5 * largest);
        memcpy(x, g, sizeof x);
    }
    check_below(distance(d, x), 1e-10);
    sti_anderson_release(&a);
}

/* An iteration that turns: g rotates by a right angle where x_0 > x_1 and halves elsewhere. Differences
 * mean nothing here. The plain iteration halves x at least every fourth step; with the rests the
 * accelerated one must arrive, too.                                                                */
static void test_harmless(void **state)
{
    (void)state;
    const double weight[2] = {1, 1};
    double x[2] = {3.0, 1.0}, g[2];
    sti_Anderson a = {.allocator = st_default_allocator()};
    st_Error err = {0};
    check_ok(sti_anderson_begin(&a, 2, 0, STI_ANDERSON_WINDOW, weight, &err), err);
    for (int k = 0; k < 20000; k++) {
        const double half = x[0] > x[1] ? 1.0 : 0.5;
        g[0] = x[0] > x[1] ? -x[1] : half * x[0];
        g[1] = x[0] > x[1] ? x[0] : half * x[1];
        sti_anderson_next(&a, x, g, NULL);
        memcpy(x, g, sizeof x);
        assert_true(isfinite(x[0]) && isfinite(x[1]));
    }
    check_below(fmax(fabs(x[0]), fabs(x[1])), 1e-6);
    sti_anderson_release(&a);
}

/* Already there: f = 0 must not divide by 0. */
static void test_fixed_point(void **state)
{
    (void)state;
    const double weight[2] = {1, 1};
    double x[2] = {3.0, 1.0};
    sti_Anderson a = {.allocator = st_default_allocator()};
    st_Error err = {0};
    check_ok(sti_anderson_begin(&a, 2, 0, STI_ANDERSON_WINDOW, weight, &err), err);
    for (int k = 0; k < 300; k++) {
        double g[2] = {x[0], x[1]};
        sti_anderson_next(&a, x, g, NULL);
        memcpy(x, g, sizeof x);
    }
    check_close(x[0], 3.0, 0.0);
    check_close(x[1], 1.0, 0.0);
    sti_anderson_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_followers),
        cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_fixed_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
