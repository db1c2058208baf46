/* Forces with derivatives (src/step/integrate/force_derivatives.c): the same motion as springs given as soft rows,
 * order, L-stability on stiff ones, forces whose matrices are not symmetric, and the check by differences. */
#include "check.h"

#include <stiction/stiction.h>
#include <string.h>

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const st_Status status_ = (call);                                                                              \
        if (status_ != ST_OK) return status_;                                                                          \
    } while (0)

/* Two masses on a line, at q[0] > 0 above a floor, tied to each other by a spring and damper and to a wall by another:
 * as soft rows, or as forces with derivatives. */
typedef struct Pair {
    bool by_force, wrong;
    double stiffness, damping;
} Pair;

static const double wall = 3;

static st_Status pair_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    M[0] = 1, M[1] = 2;
    return ST_OK;
}

static st_Status pair_force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)t, (void)err;
    const Pair *pair = ctx;
    k[0] = -9.81, k[1] = -2 * 9.81;
    if (!pair->by_force) return ST_OK;
    const double between = pair->stiffness * (q[1] - q[0] - 1) + pair->damping * (v[1] - v[0]);
    const double held = pair->stiffness * (q[1] - wall) + pair->damping * v[1];
    k[0] += between;
    k[1] -= between + held;
    return ST_OK;
}

static st_Status pair_derivative(void *ctx, double t, const double *q, const double *v, st_Sink *sink, st_Error *err)
{
    (void)t, (void)q, (void)v;
    const Pair *pair = ctx;
    const double s = pair->stiffness, d = pair->damping;
    const int both[] = {0, 1}, second[] = {1};
    const double dq[] = {-s, s, pair->wrong ? 1.1 * s : s, -s}, dv[] = {-d, d, d, -d}, dq2[] = {-s}, dv2[] = {-d};
    TRY(st_push_force_derivative(sink, &(st_ForceDerivative){2, 2, both, both, dq, dv}, err));
    return st_push_force_derivative(sink, &(st_ForceDerivative){1, 1, second, second, dq2, dv2}, err);
}

static st_Status pair_soft(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err)
{
    (void)t;
    const Pair *pair = ctx;
    const int both[] = {0, 1}, second[] = {1};
    const double along[] = {-1, 1}, one[] = {1};
    const st_SoftRow between = {.value = q[1] - q[0] - 1,
                                .stiffness = pair->stiffness,
                                .damping = pair->damping,
                                .count = 2,
                                .index = both,
                                .gradient = along};
    const st_SoftRow held = {.value = q[1] - wall,
                             .stiffness = pair->stiffness,
                             .damping = pair->damping,
                             .count = 1,
                             .index = second,
                             .gradient = one};
    TRY(st_push_soft(sink, &between, err));
    return st_push_soft(sink, &held, err);
}

static st_Status pair_contacts(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    (void)ctx, (void)t;
    const int index[] = {0};
    const double normal[] = {1};
    const st_ContactRow row = {.id = 1, .gap = q[0], .dim = 1, .count = 1, .index = index, .gradient = normal, .a = -1};
    return q[0] < margin ? st_push_contact(sink, &row, err) : ST_OK;
}

static st_Model pair_model(Pair *pair, bool blocks)
{
    static const int first[] = {0, 1, 2};
    st_Model model = st_model_def();
    model.n_q = model.n_v = 2;
    if (blocks) model.n_blocks = 2, model.first = first;
    model.ctx = pair;
    model.mass = pair_mass, model.force = pair_force, model.contacts = pair_contacts;
    if (pair->by_force)
        model.force_derivative = pair_derivative;
    else
        model.soft = pair_soft;
    return model;
}

/* Full block of two masses. */
static st_Status pair_mass_full(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    M[0] = 1, M[1] = 0, M[2] = 0, M[3] = 2;
    return ST_OK;
}

typedef struct Scheme {
    const char *name;
    st_Integrator integrator;
    st_Form form;
} Scheme;

static void run_pair(Scheme scheme, bool by_force, bool blocks, double out[4])
{
    Pair pair = {.by_force = by_force, .stiffness = 400, .damping = 3};
    st_Model model = pair_model(&pair, blocks);
    if (!blocks) model.mass = pair_mass_full;
    st_SystemDef def = st_system_def();
    st_System *system;
    st_Error err = {0};
    const double q[] = {0.3, 1.2}, v[] = {-1, 0.5};
    def.integrator = scheme.integrator, def.form = scheme.form;
    def.tolerance = 1e-12;
    check_ok(st_system_create_model(&model, q, v, &def, &system, &err), err);
    st_StepInfo info = st_step_info();
    for (int k = 0; k < 400; k++) {
        check_ok(st_system_step(system, 0.005, &info, &err), err);
        assert_int_equal(info.attempts, 1);
    }
    st_system_state(system, out, out + 2);
    st_system_destroy(system);
}

static const Scheme schemes[] = {{"implicit", ST_INTEGRATOR_IMPLICIT, ST_FORM_II},
                                 {"trapezoid I", ST_INTEGRATOR_TRAPEZOID, ST_FORM_I},
                                 {"trapezoid II", ST_INTEGRATOR_TRAPEZOID, ST_FORM_II},
                                 {"sdirk2", ST_INTEGRATOR_SDIRK2, ST_FORM_II},
                                 {"bdf2", ST_INTEGRATOR_BDF2, ST_FORM_II}};
enum { N_SCHEMES = sizeof schemes / sizeof schemes[0] };

/* A linear spring is the same in both forms, in every integrator, through impacts, in one block or two. */
static void same_as_soft_rows(void **state)
{
    (void)state;
    for (int k = 0; k < N_SCHEMES; k++) {
        double soft[4], force[4], whole[4];
        run_pair(schemes[k], false, true, soft);
        run_pair(schemes[k], true, true, force);
        run_pair(schemes[k], true, false, whole);
        for (int i = 0; i < 4; i++) {
            check_close(force[i], soft[i], 1e-8);
            check_close(whole[i], force[i], 1e-12);
        }
    }
}

/* ---- order, on a pendulum's restoring force ----------------------------------------------------------- */

static st_Status one_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    M[0] = 1;
    return ST_OK;
}

static st_Status sine_force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)t, (void)v, (void)err;
    k[0] = -9 * sin(q[0]) - 0.2 * v[0] * fabs(v[0]);
    return ST_OK;
}

static st_Status sine_derivative(void *ctx, double t, const double *q, const double *v, st_Sink *sink, st_Error *err)
{
    (void)ctx, (void)t;
    const int index = 0;
    const double dq = -9 * cos(q[0]), dv = -0.4 * fabs(v[0]);
    return st_push_force_derivative(sink, &(st_ForceDerivative){1, 1, &index, &index, &dq, &dv}, err);
}

static double swing(Scheme scheme, int steps)
{
    st_Model model = st_model_def();
    st_SystemDef def = st_system_def();
    st_System *system;
    st_Error err = {0};
    double q = 2, v = 0;
    model.n_q = model.n_v = 1;
    model.mass = one_mass, model.force = sine_force, model.force_derivative = sine_derivative;
    def.integrator = scheme.integrator, def.form = scheme.form;
    check_ok(st_system_create_model(&model, &q, &v, &def, &system, &err), err);
    for (int k = 0; k < steps; k++)
        check_ok(st_system_step(system, 2.0 / steps, NULL, &err), err);
    st_system_state(system, &q, &v);
    st_system_destroy(system);
    return q;
}

/* The reference is a step 32 times shorter of the same scheme: its error is 1/32 or 1/1024 of the tested one. */
static void order(void **state)
{
    (void)state;
    for (int k = 0; k < N_SCHEMES; k++) {
        const double exact = swing(schemes[k], 51200);
        const double coarse = fabs(swing(schemes[k], 800) - exact), fine = fabs(swing(schemes[k], 1600) - exact);
        print_message("%s: %.2e, %.2e, ratio %.3g\n", schemes[k].name, coarse, fine, coarse / fine);
        check_below(fine * (k == 0 ? 1.8 : 3.5), coarse);
    }
}

/* ---- stiff -------------------------------------------------------------------------------------------- */

/* -K (q - cos t) - C v with K = 1e12: the motion is q = cos t, and an initial deviation vanishes after a few steps
 * of 0.01, each ten thousand periods long. */
static st_Status stiff_force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)v, (void)err;
    k[0] = -1e12 * (q[0] - cos(t));
    return ST_OK;
}

static st_Status stiff_derivative(void *ctx, double t, const double *q, const double *v, st_Sink *sink, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)v;
    const int index = 0;
    const double dq = -1e12;
    return st_push_force_derivative(sink, &(st_ForceDerivative){1, 1, &index, &index, &dq, NULL}, err);
}

static void stiff_force_is_damped(void **state)
{
    (void)state;
    const st_Integrator damping[] = {ST_INTEGRATOR_IMPLICIT, ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (int k = 0; k < 3; k++) {
        st_Model model = st_model_def();
        st_SystemDef def = st_system_def();
        st_System *system;
        st_Error err = {0};
        double q = 1.1, v = 0;
        model.n_q = model.n_v = 1;
        model.mass = one_mass, model.force = stiff_force, model.force_derivative = stiff_derivative;
        def.integrator = damping[k];
        check_ok(st_system_create_model(&model, &q, &v, &def, &system, &err), err);
        double worst = 0;
        for (int step = 1; step <= 100; step++) {
            check_ok(st_system_step(system, 0.01, NULL, &err), err);
            st_system_state(system, &q, &v);
            const double t = st_system_time(system);
            /* order one lags by a step, h sin t at most; order two takes the force at the end */
            if (step > 20) worst = fmax(worst, fabs(q - cos(t)));
        }
        print_message("%d: %.2e\n", k, worst);
        check_below(worst, k == 0 ? 0.0101 : 1e-4);
        st_system_destroy(system);
    }
}

/* ---- not symmetric: a charge in a magnetic field, v' = W x v ---------------------------------------------- */

static const double W[3] = {0, 3, 4};

static st_Status unit_masses(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    for (int k = 0; k < 9; k++)
        M[k] = k % 4 == 0;
    return ST_OK;
}

static st_Status turning_force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)err;
    for (int i = 0; i < 3; i++)
        k[i] = W[(i + 1) % 3] * v[(i + 2) % 3] - W[(i + 2) % 3] * v[(i + 1) % 3];
    return ST_OK;
}

static st_Status turning_derivative(void *ctx, double t, const double *q, const double *v, st_Sink *sink, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)v;
    const int all[] = {0, 1, 2};
    const double dv[] = {0, -W[2], W[1], W[2], 0, -W[0], -W[1], W[0], 0};
    return st_push_force_derivative(sink, &(st_ForceDerivative){3, 3, all, all, NULL, dv}, err);
}

/* The midpoint rule turns v by 2 atan(h |W|/2), and keeps its length: trapezoid II. */
static void magnetic_turn(void **state)
{
    (void)state;
    st_Model model = st_model_def();
    st_SystemDef def = st_system_def();
    st_System *system;
    st_Error err = {0};
    double q[3] = {0}, v[3] = {1, 0, 0};
    model.n_q = model.n_v = 3;
    model.mass = unit_masses, model.force = turning_force, model.force_derivative = turning_derivative;
    double worst = -1;
    check_ok(st_model_check_derivatives(&model, 0, q, v, &worst, &err), err);
    check_below(worst, 1e-8);
    def.integrator = ST_INTEGRATOR_TRAPEZOID;
    check_ok(st_system_create_model(&model, q, v, &def, &system, &err), err);
    const double h = 0.5, turn = 2 * atan(h * 5 / 2);
    for (int k = 1; k <= 40; k++) {
        check_ok(st_system_step(system, h, NULL, &err), err);
        st_system_state(system, q, v);
        check_close(v[0], cos(k * turn), 1e-10); /* v is normal to W */
        check_close(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 1, 1e-12);
    }
    st_system_destroy(system);
}

static void wrong_entry_is_named(void **state)
{
    (void)state;
    Pair pair = {.by_force = true, .wrong = true, .stiffness = 400, .damping = 3};
    const st_Model model = pair_model(&pair, true);
    const double q[] = {0.3, 1.2}, v[] = {-1, 0.5};
    double error;
    st_Error err = {0};
    assert_int_equal(st_model_check_derivatives(&model, 0, q, v, &error, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "dk/dq (1, 0) is 440, differences of force give 400"));
    check_close(error, 40.0 / 800, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_soft_rows),    cmocka_unit_test(order),
        cmocka_unit_test(wrong_entry_is_named), cmocka_unit_test(stiff_force_is_damped),
        cmocka_unit_test(magnetic_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
