/* The integrators of order two: what they promise over the published forms (METHODS section 3b). */
#include "check.h"

#include <stiction/stiction.h>
#include <string.h>

/* ---- a mass in a rough spherical bowl, by RK4 and by ours -------------------------------------- */

#define RADIUS 1.0
#define MU     0.2
#define G      9.81

/* While it slides: x'' = g + N n - mu N v/|v|, n = -x/R, N = v^2/R - g.n; y = (x, v). */
static void bowl_rate(const double y[6], double dy[6])
{
    double speed = sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5]);
    double N = speed * speed / RADIUS - G * y[2] / RADIUS;
    for (int i = 0; i < 3; i++) {
        dy[i] = y[3 + i];
        dy[3 + i] = (i == 2 ? -G : 0) - N * y[i] / RADIUS - MU * N * y[3 + i] / speed;
    }
}

static void bowl_reference(double end, int steps, double y[6])
{
    double h = end / steps, k[4][6], z[6];
    const double at[4] = {0, 0.5, 0.5, 1};
    for (int n = 0; n < steps; n++) {
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 6; i++)
                z[i] = y[i] + (s > 0 ? at[s] * h * k[s - 1][i] : 0);
            bowl_rate(z, k[s]);
        }
        for (int i = 0; i < 6; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static st_Status unit_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    memset(M, 0, 9 * sizeof *M);
    M[0] = M[4] = M[8] = 1;
    return ST_OK;
}

static st_Status weight(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)v, (void)err;
    k[0] = k[1] = 0, k[2] = -G;
    return ST_OK;
}

static st_Status bowl(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    (void)ctx, (void)t;
    double r = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    double n[3] = {-q[0] / r, -q[1] / r, -q[2] / r}, s = sqrt(n[1] * n[1] + n[2] * n[2]);
    double rows[9] = {n[0], n[1], n[2], 0, -n[2] / s, n[1] / s, s, -n[0] * n[1] / s, -n[0] * n[2] / s};
    st_ContactRow row = {
        .id = 1, .gap = RADIUS - r, .mu = MU, .dim = 3, .count = 3, .index = (const int[]){0, 1, 2}, .gradient = rows};
    return row.gap < margin ? st_push_contact(sink, &row, err) : ST_OK;
}

static st_SystemDef accurate(st_Integrator integrator)
{
    st_Error err = {0};
    st_SystemDef def = st_system_def();
    check_ok(st_preset_apply(&def, "accurate", &err), err);
    def.integrator = integrator;
    def.tolerance = 1e-12;
    return def;
}

static const double start[6] = {0.8, 0, -0.6, 0, 2, 0}; /* on the bowl, moving along it */

static double bowl_error(const st_SystemDef *def, double h, double end, const double fine[6])
{
    st_Error err = {0};
    st_System *sys;
    st_Model model = st_model_def();
    model.n_q = model.n_v = 3, model.mass = unit_mass, model.force = weight, model.contacts = bowl;
    check_ok(st_system_create_model(&model, start, start + 3, def, &sys, &err), err);
    int steps = (int)lround(end / h);
    for (int k = 0; k < steps; k++)
        check_ok(st_system_step(sys, h, NULL, &err), err);
    double q[3], v[3], sum = 0;
    st_system_state(sys, q, v);
    for (int i = 0; i < 3; i++)
        sum += (q[i] - fine[i]) * (q[i] - fine[i]);
    st_system_destroy(sys);
    return sqrt(sum);
}

/* The sliding direction turns and the surface is curved: order two for ours and form II, one for form I. */
static void bowl_orders(void **state)
{
    (void)state;
    const double end = 0.5;
    double fine[6];
    memcpy(fine, start, sizeof fine);
    bowl_reference(end, 4000, fine);
    for (int k = 0; k < 4; k++) {
        st_SystemDef def = accurate(k == 3 ? ST_INTEGRATOR_TRAPEZOID : (st_Integrator)(ST_INTEGRATOR_TRAPEZOID + k));
        if (k == 3) def.form = ST_FORM_I, def.drift = ST_DRIFT_VELOCITY, def.active_gap = 1;
        double coarse = bowl_error(&def, 1.0 / 32, end, fine), finer = bowl_error(&def, 1.0 / 1024, end, fine);
        double order = log2(coarse / finer) / 5;
        if (k == 3)
            check_close(order, 1, 0.15);
        else
            check_close(order, 2, 0.15); /* five halvings; the first is not yet asymptotic */
        if (def.integrator == ST_INTEGRATOR_SDIRK2) check_below(coarse, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bowl_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
