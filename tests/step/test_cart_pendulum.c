/* A model of the user's own through the same schemes: examples/cart_pendulum.c against a fine reference,
 * an event-driven Runge-Kutta integration of its equations written out here. */
int cart_pendulum_main(void); /* the example's own main, under another name */
#define main cart_pendulum_main
#include "../../examples/cart_pendulum.c" /* NOLINT(bugprone-suspicious-include): the example is the subject */
#undef main

#include "check.h"

#include <string.h>

static const Cart parameters = {
    .cart_mass = 1, .bob_mass = 0.5, .length = 1, .gravity = 9.81, .stop = 0.1, .stiffness = 5, .damping = 0.1};

/* ---- the reference: y = (x, a, dx, da), free or held at the stop ------------------------------- */

/* Accelerations; held: x stays. Returns the force of the stop (pushes to -x), 0 when free. */
static double derivative(const Cart *c, bool held, const double y[4], double dy[4])
{
    double m = c->bob_mass, L = c->length, ca = cos(y[1]), sa = sin(y[1]);
    double spring = -c->stiffness * y[0] - c->damping * y[2];
    double fx = m * L * sa * y[3] * y[3] + spring, fa = -m * c->gravity * L * sa;
    dy[0] = y[2], dy[1] = y[3];
    if (held) {
        dy[2] = 0, dy[3] = fa / (m * L * L);
        return fx - m * L * ca * dy[3];
    }
    double a = c->cart_mass + m, b = m * L * ca, d = m * L * L, det = a * d - b * b;
    dy[2] = (d * fx - b * fa) / det, dy[3] = (a * fa - b * fx) / det;
    return 0;
}

static void rk4(const Cart *c, bool held, double h, double y[4])
{
    double k[4][4], z[4];
    const double weight[3] = {0.5, 0.5, 1};
    derivative(c, held, y, k[0]);
    for (int s = 1; s < 4; s++) {
        for (int i = 0; i < 4; i++)
            z[i] = y[i] + weight[s - 1] * h * k[s - 1][i];
        derivative(c, held, z, k[s]);
    }
    for (int i = 0; i < 4; i++)
        y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

/* Steps of h with impacts located by bisection; inelastic: dx -> 0, the generalised momentum of the angle
 * is kept. Returns the number of impacts and the time of the first. */
static int reference(const Cart *c, double h, double end, double y[4], double *first)
{
    bool held = false;
    int impacts = 0;
    for (double t = 0; t < end - 1e-12;) {
        double z[4], dy[4], step = fmin(h, end - t), lo = 0;
        memcpy(z, y, sizeof z);
        rk4(c, held, step, z);
        if (!held && z[0] > c->stop) {
            for (double hi = step; hi - lo > 1e-15;) {
                double middle = 0.5 * (lo + hi);
                memcpy(z, y, sizeof z);
                rk4(c, false, middle, z);
                if (z[0] > c->stop)
                    hi = middle;
                else
                    lo = middle;
                if (middle == lo && middle == hi) break;
            }
            memcpy(z, y, sizeof z);
            rk4(c, false, lo, z);
            z[3] += cos(z[1]) / c->length * z[2]; /* m L cos a dx + m L^2 da is conserved */
            z[2] = 0, z[0] = c->stop;
            if (impacts++ == 0) *first = t + lo;
            held = true;
            step = lo;
        } else if (held && derivative(c, true, z, dy) < 0) {
            held = false; /* within the step: error h^3 in x, far below the compared accuracy */
        }
        memcpy(y, z, sizeof z);
        t += step;
    }
    return impacts;
}

/* ---- ours ------------------------------------------------------------------------------------- */

static int simulate_with(const char *preset, st_Integrator integrator, double h, double stop, double end, double y[4],
                         double *first)
{
    Cart cart = parameters;
    cart.stop = stop;
    st_Error err = {0};
    st_System *sys;
    st_Model model = st_model_def();
    model.n_q = model.n_v = 2, model.ctx = &cart;
    model.mass = mass, model.force = force, model.soft = soft, model.contacts = contacts, model.potential = potential;
    st_SystemDef def = st_system_def();
    check_ok(st_preset_apply(&def, preset, &err), err);
    if (integrator != ST_N_INTEGRATORS) def.integrator = integrator;
    check_ok(st_system_create_model(&model, (const double[]){0, 2}, (const double[]){0, 0}, &def, &sys, &err), err);
    int impacts = 0;
    while (end - st_system_time(sys) > 1e-12) {
        st_StepInfo info = st_step_info();
        check_ok(st_system_step(sys, fmin(h, end - st_system_time(sys)), &info, &err), err);
        check_below(info.penetration, 1e-12);
        assert_true(info.solve.converged);
        if (info.collisions > 0 && impacts++ == 0) *first = info.time;
    }
    st_system_state(sys, y, y + 2);
    st_system_destroy(sys);
    return impacts;
}

static int simulate(const char *preset, double h, double stop, double end, double y[4], double *first)
{
    return simulate_with(preset, ST_N_INTEGRATORS, h, stop, end, y, first); /* the preset's own */
}

/* First order, through an impact and a take-off, with M(q). Where the take-off falls on the grid makes the
 * error over h vary by a fifth: it is bounded, not constant. */
static void converges_to_the_reference(void **state)
{
    (void)state;
    double fine[4] = {0, 2, 0, 0}, first = 0;
    assert_int_equal(reference(&parameters, 1e-4, 1.5, fine, &first), 1);
    for (int k = 0; k < 5; k++) {
        double h = 2e-3 / (1 << k), y[4], when = 0;
        assert_int_equal(simulate("anitescu-potra-2002", h, parameters.stop, 1.5, y, &when), 1);
        check_close(when, first, 2 * h); /* the impact is located on a first-order trajectory */
        double error = 0;
        for (int i = 0; i < 4; i++)
            error = fmax(error, fabs(y[i] - fine[i]));
        check_close(error / h, 3, 1);
    }
}

/* Every preset runs it. With the stop out of reach all are consistent with the smooth equations. */
static void every_preset_runs_it(void **state)
{
    (void)state;
    Cart far = parameters;
    far.stop = 10;
    double fine[4] = {0, 2, 0, 0}, first;
    assert_int_equal(reference(&far, 1e-3, 1, fine, &first), 0);
    for (int p = 0; p < st_preset_count(); p++) {
        double y[4], when, coarse = 0, finer = 0;
        assert_int_equal(simulate(st_preset_name(p), 1e-3, 10, 1, y, &when), 0);
        for (int i = 0; i < 4; i++)
            coarse = fmax(coarse, fabs(y[i] - fine[i]));
        simulate(st_preset_name(p), 5e-4, 10, 1, y, &when);
        for (int i = 0; i < 4; i++)
            finer = fmax(finer, fabs(y[i] - fine[i]));
        check_below(finer, 0.6 * coarse); /* at least first order */
    }
}

static double error_of(const char *preset, st_Integrator integrator, double h, double stop, const double fine[4])
{
    double y[4], when, error = 0;
    simulate_with(preset, integrator, h, stop, 1.5, y, &when);
    for (int i = 0; i < 4; i++)
        error = fmax(error, fabs(y[i] - fine[i]));
    return error;
}

/* Order two with M(q) and forces of v, in free motion: each halving divides the error by 4. */
static void order_two_in_free_motion(void **state)
{
    (void)state;
    Cart far = parameters;
    far.stop = 10;
    double fine[4] = {0, 2, 0, 0}, first;
    assert_int_equal(reference(&far, 1e-3, 1.5, fine, &first), 0);
    for (int i = ST_INTEGRATOR_TRAPEZOID; i <= ST_INTEGRATOR_BDF2; i++)
        for (double h = 8e-3; h > 1e-3; h /= 2) {
            double ratio = error_of("accurate", (st_Integrator)i, h, 10, fine) /
                           error_of("accurate", (st_Integrator)i, h / 2, 10, fine);
            check_close(ratio, 4, 0.6); /* the next term of the error is O(h) of this one */
        }
}

/* The same through an inelastic impact and a take-off, both located. */
static void order_two_through_events(void **state)
{
    (void)state;
    double fine[4] = {0, 2, 0, 0}, first;
    assert_int_equal(reference(&parameters, 2e-5, 1.5, fine, &first), 1);
    for (int i = ST_INTEGRATOR_TRAPEZOID; i <= ST_INTEGRATOR_BDF2; i++) {
        double coarse = error_of("accurate", (st_Integrator)i, 8e-3, parameters.stop, fine);
        double finer = error_of("accurate", (st_Integrator)i, 8e-3 / 16, parameters.stop, fine);
        check_below(1.9, log2(coarse / finer) / 4); /* four halvings */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_to_the_reference),
        cmocka_unit_test(every_preset_runs_it),
        cmocka_unit_test(order_two_in_free_motion),
        cmocka_unit_test(order_two_through_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
