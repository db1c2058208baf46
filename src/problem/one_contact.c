/* one_contact.c -- one contact, for laws with a solution in closed form or by one scalar equation.
 *
 * Coulomb's law in space. With b_n >= 0 the solution is r = 0. Otherwise the contact is closed, u_n = 0
 * gives r_n, and the tangential part remains (x = r_T):
 *
 *     u_T = S x + c,     r_n = nu + m'x,     nu = -b_n/W_nn > 0
 *     S = W_TT - W_Tn W_nT/W_nn,   c = b_T - W_Tn b_n/W_nn,   m = -W_nT/W_nn
 *
 * Stick is u_T = 0 with |x| <= mu r_n. If that fails, u_T = -lambda x with lambda > 0 and |x| = mu r_n:
 *
 *     x(lambda) = -inv(S + lambda I) c,     h(lambda) = mu r_n(lambda)/|x(lambda)| - 1 = 0        (1)
 *
 * h(0) < 0 because stick failed, and h >= 0 from lambda_hi = |c| (1 + mu |m|)/(mu nu) on, because
 * |x| <= |c|/lambda whenever the symmetric part of S is positive semi-definite. So a root exists in
 * between for every mu and every W with W_nn > 0, symmetric or not, also in cases like Painleve's.
 * Bonnefon & Daviet (2011) solve the same problem by a quartic. We use (1), which has the form of a
 * trust-region step (More & Sorensen 1983): it is linear in lambda if S is a multiple of I. Newton's
 * method, kept inside the bracket, needs one to five steps. In the plane (1) has scalars.
 *
 * Redundant directions. If S is singular (locked freedoms, joints), r_T is not unique. A proximal term
 * eps (r_T - r_T_last), with eps = 1e-13 of the mean diagonal of W, makes S invertible and selects the
 * solution nearest to the last one. It is 0 when the sweeps have converged, so it does not change their
 * result; in one visit it changes the impulse by 1e-13 of its change.
 */
#include "problem/one_contact.h"

#include "problem/law.h"

static const double proximal = 1e-13;
/* Newton needs at most about ten steps, bisection alone about 60. */
static const int max_root_steps = 100;

static void zero_impulse(int dim, double *r)
{
    for (int k = 0; k < dim; k++)
        r[k] = 0.0;
}

void sti_local_frictionless(const sti_Local *local, const double *b, double *r)
{
    r[0] = b[0] < 0.0 && local->W[0] > 0.0 ? -b[0] / local->W[0] : 0.0;
}

/* u = W r + b >= 0 at lo, <= 0 at hi, 0 between. */
void sti_local_bounded(const sti_Local *local, const double *b, double *r)
{
    const st_ContactLaw *contact = local->contact;
    double x = r[0];
    if (local->W[0] > 0.0)
        x = -b[0] / local->W[0];
    else if (b[0] != 0.0)
        x = b[0] > 0.0 ? contact->lo : contact->hi;
    if (!isfinite(x)) x = 0.0; /* nothing holds this row: there is no solution */
    r[0] = x < contact->lo ? contact->lo : x > contact->hi ? contact->hi : x;
}

/* mu = 0, whatever the dimension: the tangential velocity is free. */
static void frictionless_in_space(const sti_Local *local, const double *b, double *r)
{
    zero_impulse(local->contact->dim, r);
    sti_local_frictionless(local, b, r);
}

/* In the plane: does the contact stick? Then r is the impulse that holds it. c: its tangential velocity if only the
 * normal is held. */
static bool sticks_in_plane(const sti_Local *local, const double *b, double *r, double *c)
{
    const double *W = local->W;
    const double S = W[3] + local->prox - W[2] * (W[1] / W[0]);
    *c = b[1] - local->prox * r[1] - W[2] * (b[0] / W[0]);
    const double x = *c != 0.0 ? -*c / S : 0.0, r_n = -(b[0] + W[1] * x) / W[0];
    if (!(fabs(x) <= local->contact->mu * r_n)) return false;
    r[0] = r_n;
    r[1] = x;
    return true;
}

/* Coulomb in the plane. S + lambda > 0 is a number, so the direction of slip is the sign of -c, and
 * r_n = nu + m x, x = mu r_n sign: (1) in closed form. Pyramid and box are the same law here.       */
void sti_local_coulomb2(const sti_Local *local, const double *b, double *r)
{
    const double *W = local->W, mu = local->contact->mu;
    if (b[0] >= 0.0 || W[0] <= 0.0) {
        zero_impulse(2, r);
        return;
    }
    double c;
    if (sticks_in_plane(local, b, r, &c)) return;
    const double side = c > 0.0 ? -mu : mu;
    r[0] = -b[0] / (W[0] + side * W[1]);
    r[1] = side * r[0];
}

/* The convex relaxation in the plane. On the boundary r is on one of the two rays (1, +-mu), with
 * r'u = 0, and u is on the inner side of the other ray.                                           */
void sti_local_cone2(const sti_Local *local, const double *b, double *r)
{
    const double *W = local->W, mu = local->contact->mu;
    if (b[0] >= mu * fabs(b[1]) || W[0] <= 0.0) {
        zero_impulse(2, r);
        return;
    }
    double c;
    if (sticks_in_plane(local, b, r, &c)) return;
    double best = -INFINITY;
    zero_impulse(2, r);
    for (int k = 0; k < 2; k++) {
        const double side = k == 0 ? mu : -mu;
        const double along = b[0] + side * b[1], q = W[0] + side * (W[1] + W[2]) + mu * mu * W[3];
        if (along >= 0.0 || q <= 0.0) continue;
        const double n = -along / q;
        const double other = (W[0] - side * W[2]) * n + (W[1] - side * W[3]) * side * n + b[0] - side * b[1];
        if (other > best) {
            best = other;
            r[0] = n;
            r[1] = side * n;
        }
    }
}

void sti_local_eliminate_normal(const sti_Local *local, const double *b, const double *r, sti_Slip *slip)
{
    const double *W = local->W, prox = local->prox;
    const double m0 = -W[1] / W[0], m1 = -W[2] / W[0], nu = -b[0] / W[0];
    *slip = (sti_Slip){.S = {W[4] + prox + W[3] * m0, W[5] + W[3] * m1, W[7] + W[6] * m0, W[8] + prox + W[6] * m1},
                       .c = {b[1] - prox * r[1] + W[3] * nu, b[2] - prox * r[2] + W[6] * nu},
                       .nu = nu,
                       .m = {m0, m1}};
}

/* h of (1) and its derivative at lambda; also x and r_n. */
static double slip_excess(const sti_Slip *s, double mu, double lambda, double x[2], double *r_n, double *slope)
{
    double y[2] = {0.0, 0.0}; /* dx/dlambda = -inv(S + lambda I) x */
    sti_local_solve2(s->S, lambda, s->c, x);
    sti_local_solve2(s->S, lambda, x, y);
    const double length2 = x[0] * x[0] + x[1] * x[1], length = sqrt(length2);
    *r_n = s->nu + s->m[0] * x[0] + s->m[1] * x[1];
    const double dr_n = s->m[0] * y[0] + s->m[1] * y[1];
    *slope = mu * (dr_n - *r_n * (x[0] * y[0] + x[1] * y[1]) / length2) / length;
    return mu * *r_n / length - 1.0;
}

/* The point with |x| = mu (nu + m'x) on the segment from `out`, where |x| is larger, to `in`. A quadratic
 * for t in x = out + t (in - out), as products so that no digit of the ends' excess is lost.       */
void sti_local_on_cone(const sti_Slip *s, double mu, const double out[2], const double in[2], double x[2])
{
    const double d[2] = {in[0] - out[0], in[1] - out[1]}, size = sti_local_length(out[0], out[1]);
    const double n = mu * (s->nu + s->m[0] * out[0] + s->m[1] * out[1]), dn = mu * (s->m[0] * d[0] + s->m[1] * d[1]);
    const double A = d[0] * d[0] + d[1] * d[1] - dn * dn, B = out[0] * d[0] + out[1] * d[1] - n * dn;
    const double C = (size - n) * (size + n), root = sqrt(fmax(0.0, B * B - A * C));
    const double q = B > 0.0 ? -B - root : -B + root;
    double t = q != 0.0 ? C / q : 0.0;
    if (!(t >= 0.0 && t <= 1.0) && A != 0.0) t = q / A;
    t = fmin(1.0, fmax(0.0, t));
    x[0] = out[0] + t * d[0];
    x[1] = out[1] + t * d[1];
}

/* The root of (1) by Newton's method inside a bracket that shrinks. Where S is nearly singular, lambda is
 * lost in S + lambda I below eps |S| and x still changes by much from one such number to the next: the
 * bracket ends as wide as that. All x between its ends then solve u_T = -lambda x to rounding, and the
 * one on the cone is taken.                                                                       */
void sti_local_slip_root(const sti_Slip *s, double mu, double x[2], double *r_n)
{
    double slope, lo = 0.0, lambda = 0.0, out[2] = {x[0], x[1]}, in[2] = {0.0, 0.0};
    double hi = sti_local_length(s->c[0], s->c[1]) * (1.0 + mu * sti_local_length(s->m[0], s->m[1])) / (mu * s->nu);
    bool both = false;
    for (int k = 0; k < max_root_steps; k++) {
        const double h = slip_excess(s, mu, lambda, x, r_n, &slope);
        if (fabs(h) <= 1e-15) return;
        memcpy(h < 0.0 ? out : in, x, sizeof out);
        both = both || h > 0.0;
        if (h < 0.0)
            lo = lambda;
        else
            hi = lambda;
        double next = lambda - h / slope;
        if (!(next > lo && next < hi)) next = lo > 0.0 ? sqrt(lo) * sqrt(hi) : 1e-3 * hi;
        if (next == lambda || hi - lo <= 2.3e-16 * (hi + fabs(s->S[0]) + fabs(s->S[3]))) break;
        lambda = next;
    }
    if (!both) slip_excess(s, mu, hi, in, r_n, &slope);
    sti_local_on_cone(s, mu, out, in, x);
    *r_n = s->nu + s->m[0] * x[0] + s->m[1] * x[1];
}

void sti_local_coulomb3(const sti_Local *local, const double *b, double *r)
{
    const double mu = local->contact->mu;
    if (b[0] >= 0.0 || local->W[0] <= 0.0) {
        zero_impulse(3, r);
        return;
    }
    sti_Slip slip;
    double x[2] = {0.0, 0.0};
    sti_local_eliminate_normal(local, b, r, &slip);
    bool sticks = (slip.c[0] == 0.0 && slip.c[1] == 0.0) || sti_local_solve2(slip.S, 0.0, slip.c, x);
    double r_n = slip.nu + slip.m[0] * x[0] + slip.m[1] * x[1], length = sti_local_length(x[0], x[1]);
    if (!sticks || length > mu * r_n) {
        sti_local_slip_root(&slip, mu, x, &r_n);
        const double scale = mu * r_n / sti_local_length(x[0], x[1]); /* 1 up to rounding: exactly on the cone */
        x[0] *= scale;
        x[1] *= scale;
    }
    r[0] = r_n;
    r[1] = x[0];
    r[2] = x[1];
}

void sti_local_prepare(sti_Local *local, const st_ContactLaw *contact, const double *W, const double *vertex)
{
    const int dim = contact->dim;
    double trace = 0.0;
    for (int k = 0; k < dim; k++)
        trace += W[k * dim + k];
    *local = (sti_Local){.contact = contact,
                         .W = W,
                         .vertex = vertex,
                         .n_vertices = sti_local_vertex_count(contact),
                         .prox = proximal * trace / dim};
    const bool slippery = dim > 1 && contact->mu == 0.0 && !(dim >= 5 && contact->mu_roll > 0.0) &&
                          !((dim == 4 || dim == 6) && contact->mu_spin > 0.0);
    if (slippery)
        local->solve = frictionless_in_space;
    else
        sti_law_of(contact)->prepare(local, trace / dim);
}
