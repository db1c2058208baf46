/* one_contact_cone.c -- one contact under the convex cone law in space:
 *
 *     K ∋ r _|_ W r + b ∈ K*    <=>    min 1/2 r'W r + b'r over K,      K = { |r_T| <= mu r_n }
 *
 * W symmetric, W_nn > 0, mu > 0. Put s = mu r_n: K becomes the light cone |r_T| <= s of J = diag(-1,1,1),
 * and with x = (s, r_T) and W, b scaled alike (W_nn/mu^2, W_nT/mu, b_n/mu) the answers are
 *
 *     x = 0 if b in K*;    W x = -b if that is in K;    else (W + lambda J) x = -b, x'Jx = 0, lambda >= 0.
 *
 * The third is a trust-region problem in Minkowski's metric. W + lambda J is positive definite up to one
 * lambda_1 > 0, where its null vector z lies inside the cone. The boost B that takes the axis to z
 * (B'JB = J) separates the coordinates, B'W B = diag(lambda_1, T), and with beta = B'b and x = B y
 *
 *     y_1 (lambda_1 - lambda) = -beta_1,   y_2 = -inv(T + lambda I) beta_2,   y_1 = |y_2|
 *     G(lambda) = lambda - lambda_1 - beta_1/|y_2(lambda)| = 0                                     (1)
 *
 * For beta_1 < 0, G is increasing and concave and its root is in (0, lambda_1); for beta_1 > 0 it is
 * convex on (lambda_1, infinity) with G(lambda_1) < 0, and a root is there exactly when b is not in K*.
 * So Newton's method from the outer end goes straight to the root; the bracket is there for rounding.
 * y_1 = |y_2| is used for y_1, so lambda = lambda_1 (beta_1 = 0, the "hard case") is a case like others.
 *
 * z comes close to the cone's surface when W nearly vanishes on it; then B is large (gamma) and digits
 * are lost. Such contacts get a step or two of the method of one_contact_newton.c from here.
 */
#include "problem/one_contact.h"

/* lorentz[]: z's slope y (2), lambda_1, T (3: 00, 01, 11), 1 where the answer needs polishing. */
enum { SLOPE = 0, LAMBDA = 2, REST = 3, POLISH = 6 };

static const int max_root_steps = 100;
static const double largest_boost = 30.0; /* gamma^2 beyond this costs more than a digit and a half */

/* B times x; B is symmetric, so also B' times x. gamma (1, y) is its first column. */
static void boost(const double y[2], const double x[3], double out[3])
{
    const double length2 = y[0] * y[0] + y[1] * y[1], gamma = 1.0 / sqrt(1.0 - length2);
    const double along = y[0] * x[1] + y[1] * x[2], bend = gamma * gamma / (gamma + 1.0);
    out[0] = gamma * (x[0] + along);
    out[1] = x[1] + y[0] * (gamma * x[0] + bend * along);
    out[2] = x[2] + y[1] * (gamma * x[0] + bend * along);
}

void sti_local_cone_prepare(sti_Local *local)
{
    double W[3][3], *keep = local->lorentz, column[3][3], image[3];

    /* W scaled to the light cone, the proximal term added. */
    const double mu = local->contact->mu;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            W[i][j] = local->W[3 * i + j] / ((i == 0 ? mu : 1.0) * (j == 0 ? mu : 1.0));
    W[1][1] += local->prox;
    W[2][2] += local->prox;

    /* lambda_1: the root of  p(lambda) = W_ss - lambda - w' inv(W_TT + lambda I) w,  concave, by Newton's
     * method from the right; y = -inv(W_TT + lambda I) w is the slope of z.                           */
    double *y = keep + SLOPE;
    const double TT[4] = {W[1][1], W[1][2], W[2][1], W[2][2]}, w[2] = {W[1][0], W[2][0]};
    double lambda = W[0][0];
    for (int k = 0; k < max_root_steps; k++) {
        sti_local_solve2(TT, lambda, w, y);
        const double p = W[0][0] - lambda + w[0] * y[0] + w[1] * y[1];
        const double slope = y[0] * y[0] + y[1] * y[1] - 1.0;
        if (p >= 0.0 || slope >= 0.0) break; /* arrived: rounding decides the sign */
        const double next = lambda - p / slope;
        if (!(next < lambda) || next <= 0.0) break;
        lambda = next;
    }
    sti_local_solve2(TT, lambda, w, y);
    keep[LAMBDA] = lambda;
    const double room = 1.0 - keep[SLOPE] * keep[SLOPE] - keep[SLOPE + 1] * keep[SLOPE + 1];
    if (!(room > 1e-12)) return; /* z on the cone itself: left to Newton's method */

    for (int j = 1; j < 3; j++) { /* columns 1, 2 of B' W B */
        double e[3] = {0.0, j == 1, j == 2}, x[3];
        boost(keep + SLOPE, e, x);
        for (int i = 0; i < 3; i++)
            image[i] = W[i][0] * x[0] + W[i][1] * x[1] + W[i][2] * x[2];
        boost(keep + SLOPE, image, column[j]);
    }
    keep[REST] = column[1][1];
    keep[REST + 1] = 0.5 * (column[1][2] + column[2][1]);
    keep[REST + 2] = column[2][2];
    keep[POLISH] = room < 1.0 / largest_boost || keep[LAMBDA] < 1e-6 * W[0][0]; /* cancellation in p */
    local->solve = sti_local_cone;
}

/* y = (|y_2|, y_2) at the root of (1). False: there is none, b is in K*. */
static bool boundary(const double *keep, const double beta[3], double y[3])
{
    const double lambda_1 = keep[LAMBDA], across = sti_local_length(beta[1], beta[2]);
    double lo = 0.0, hi = lambda_1, lambda = 0.0, slope;
    if (beta[0] >= across) return false;
    if (beta[0] >= 0.0) {
        lo = lambda_1;
        hi = (lambda_1 + beta[0] / across * (keep[REST] + keep[REST + 2])) / (1.0 - beta[0] / across);
        lambda = hi;
    }
    double low[2] = {0.0, 0.0}, high[2] = {0.0, 0.0};
    int seen = 0; /* bit 0: a point below the root, bit 1: one above */
    for (int k = 0; k < max_root_steps; k++) {
        /* G of (1), its slope, and y_2. */
        const double T[4] = {keep[REST], keep[REST + 1], keep[REST + 1], keep[REST + 2]};
        double dy[2] = {0.0, 0.0};
        sti_local_solve2(T, lambda, beta + 1, y + 1);
        sti_local_solve2(T, lambda, y + 1, dy);
        const double length2 = y[1] * y[1] + y[2] * y[2], length = sqrt(length2);
        slope = 1.0 + beta[0] * (y[1] * dy[0] + y[2] * dy[1]) / (length2 * length);
        const double G = lambda - keep[LAMBDA] - beta[0] / length;

        memcpy(G < 0.0 ? low : high, y + 1, sizeof low);
        seen |= G < 0.0 ? 1 : 2;
        if (G < 0.0)
            lo = lambda;
        else
            hi = lambda;
        double next = lambda - G / slope;
        if (!(next >= lo && next <= hi)) next = 0.5 * (lo + hi);
        if (next == lambda || hi - lo <= 2.3e-16 * (lo + keep[REST] + keep[REST + 2])) break;
        lambda = next;
    }
    /* lambda lost in T + lambda I: between the bracket's ends, as in one_contact.c */
    if (seen == 3 && lambda < 0.5 * lambda_1 && lambda < 1e-6 * (keep[REST] + keep[REST + 2])) {
        const sti_Slip radius = {.nu = beta[0] / (lambda - lambda_1)};
        sti_local_on_cone(&radius, 1.0, low, high, y + 1);
    }
    y[0] = sti_local_length(y[1], y[2]);
    if (lambda == 0.0 && beta[0] < 0.0) y[0] = fmax(y[0], -beta[0] / lambda_1); /* it sticks after all, by a hair */
    return true;
}

/* W r = -b inside the cone? */
static bool cone_sticks(const sti_Local *local, const double *b, double *r)
{
    sti_Slip slip;
    double x[2];
    sti_local_eliminate_normal(local, b, r, &slip);
    if (!sti_local_solve2(slip.S, 0.0, slip.c, x)) return false;
    const double r_n = slip.nu + slip.m[0] * x[0] + slip.m[1] * x[1];
    if (!(sti_local_length(x[0], x[1]) <= local->contact->mu * r_n)) return false;
    r[0] = r_n;
    r[1] = x[0];
    r[2] = x[1];
    return true;
}

void sti_local_cone(const sti_Local *local, const double *b, double *r)
{
    const double *keep = local->lorentz, mu = local->contact->mu;
    if (b[0] < mu * sti_local_length(b[1], b[2])) {
        if (cone_sticks(local, b, r)) return;
        const double scaled[3] = {b[0] / mu, b[1] - local->prox * r[1], b[2] - local->prox * r[2]};
        double beta[3], y[3], x[3];
        boost(keep + SLOPE, scaled, beta);
        if (boundary(keep, beta, y)) {
            boost(keep + SLOPE, y, x);
            const double length = sti_local_length(x[1], x[2]), scale = length > x[0] ? x[0] / length : 1.0;
            r[0] = x[0] / mu;
            r[1] = x[1] * scale;
            r[2] = x[2] * scale;
            if (keep[POLISH] != 0.0) sti_local_newton(local, b, r);
            return;
        }
    }
    r[0] = r[1] = r[2] = 0.0;
}
