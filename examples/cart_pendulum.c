/* cart_pendulum.c -- a model of your own: a pendulum on a cart in two coordinates, with a rail stop.
 *
 *     q = (x, a): cart position, angle of the pendulum from hanging straight down
 *
 *     M(q) = [ M + m      m L cos a ]      k = [ m L sin a da^2 ]      gap = stop - x >= 0
 *            [ m L cos a  m L^2     ]          [ -m g L sin a   ]
 *
 * A spring and damper holds the cart to the middle of the rail, as a soft row: stiff or not, it is
 * implicit. The same schemes and solvers serve it as serve rigid bodies. Prints the motion as a table.
 */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

typedef struct Cart {
    double cart_mass, bob_mass, length, gravity, stop, stiffness, damping;
} Cart;

static st_Status mass(void *ctx, const double *q, double *M, st_Error *err)
{
    const Cart *c = ctx;
    (void)err;
    M[0] = c->cart_mass + c->bob_mass;
    M[1] = M[2] = c->bob_mass * c->length * cos(q[1]);
    M[3] = c->bob_mass * c->length * c->length;
    return ST_OK;
}

static st_Status force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    const Cart *c = ctx;
    (void)t, (void)err;
    k[0] = c->bob_mass * c->length * sin(q[1]) * v[1] * v[1];
    k[1] = -c->bob_mass * c->gravity * c->length * sin(q[1]);
    return ST_OK;
}

static st_Status soft(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err)
{
    const Cart *c = ctx;
    (void)t;
    st_SoftRow row = {.value = q[0],
                      .stiffness = c->stiffness,
                      .damping = c->damping,
                      .count = 1,
                      .index = (const int[]){0},
                      .gradient = (const double[]){1}};
    return st_push_soft(sink, &row, err);
}

static st_Status contacts(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    const Cart *c = ctx;
    (void)t;
    st_ContactRow row = {.id = 1,
                         .gap = c->stop - q[0],
                         .dim = 1,
                         .count = 1,
                         .index = (const int[]){0},
                         .gradient = (const double[]){-1}};
    return row.gap < margin ? st_push_contact(sink, &row, err) : ST_OK;
}

static double potential(void *ctx, double t, const double *q)
{
    const Cart *c = ctx;
    (void)t;
    return -c->bob_mass * c->gravity * c->length * cos(q[1]);
}

int main(void)
{
    Cart cart = {
        .cart_mass = 1, .bob_mass = 0.5, .length = 1, .gravity = 9.81, .stop = 0.1, .stiffness = 5, .damping = 0.1};
    st_Error err = {0};
    st_System *sys = NULL;
    st_Model model = st_model_def();
    model.n_q = model.n_v = 2;
    model.ctx = &cart;
    model.mass = mass;
    model.force = force;
    model.soft = soft;
    model.contacts = contacts;
    model.potential = potential;

    st_SystemDef def = st_system_def();
    const double h = 1e-3, q0[2] = {0, 2.0}, v0[2] = {0, 0};
    double q[2], v[2];
    st_Status status = st_preset_apply(&def, "anitescu-potra-2002", &err);
    if (status == ST_OK) status = st_system_create_model(&model, q0, v0, &def, &sys, &err);
    printf("%8s %12s %12s %12s %s\n", "t [s]", "x [m]", "angle [rad]", "energy [J]", "");
    for (double next = 0; status == ST_OK && st_system_time(sys) < 3.0;) {
        st_StepInfo info = st_step_info();
        status = st_system_step(sys, h, &info, &err);
        if (status != ST_OK || (info.collisions == 0 && info.time < next)) continue;
        st_system_state(sys, q, v);
        printf("%8.4f %12.6f %12.6f %12.6f %s\n", info.time, q[0], q[1], info.kinetic + info.potential,
               info.collisions > 0 ? "<- hits the stop" : "");
        if (info.collisions == 0) next += 0.1;
    }
    if (status != ST_OK) fprintf(stderr, "cart_pendulum: %s\n", err.message);
    st_system_destroy(sys);
    return status == ST_OK ? 0 : 1;
}
