/* friction_error.c -- the independent judge: how good an r is, from the data of a problem file alone.
 *
 *     u = W r + q (the map of friction_map.c),   u^ = u + (mu |u_T| + mu_r |u_R|) e_n
 *     error = | r - P(r - u^) | / | q |,   P the projection on K = { |r_T| <= mu r_n, |r_R| <= mu_r r_n }
 *
 * The measure of the test collections. It is written out here a second time on purpose: law.c and residual.c
 * serve the solvers, and a mistake there must not be able to hide.
 */
#include "solve/friction.h"

static double norm(const double *x, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

/* The normal component of the projection of x, with tangential length t and rolling length s: minimise
 * (a - x_n)^2 + max(0, t - mu a)^2 + max(0, s - nu a)^2 over a >= 0, by trying which terms are active. */
static double nearest_normal(double x_n, double t, double s, double mu, double nu)
{
    double best = 0.0, least = HUGE_VAL;
    for (int active = 0; active < 4; active++) {
        const double m = (active & 1) != 0 ? mu : 0.0, k = (active & 2) != 0 ? nu : 0.0;
        const double a = fmax(0.0, (x_n + m * t + k * s) / (1.0 + m * m + k * k));
        const double dt = fmax(0.0, t - mu * a), ds = fmax(0.0, s - nu * a);
        const double value = (a - x_n) * (a - x_n) + dt * dt + ds * ds; /* convex: the right set gives the least */
        if (value < least) {
            least = value;
            best = a;
        }
    }
    return best;
}

static void project(int dim, double mu, double nu, double *x)
{
    const int n_t = dim == 2 ? 1 : 2;
    const double t = norm(x + 1, n_t), s = dim == 5 ? norm(x + 3, 2) : 0.0;
    if (x[0] >= 0.0 && t <= mu * x[0] && s <= nu * x[0]) return;
    const double a = nearest_normal(x[0], t, s, mu, nu);
    x[0] = a;
    for (int k = 1; k <= n_t; k++)
        if (t > mu * a) x[k] *= mu * a / t;
    for (int k = 3; k < dim; k++)
        if (s > nu * a) x[k] *= nu * a / s;
}

/* r - P(r - rho u^) of one contact: its squared length. Where r is the larger of the two it is taken as
 * rho u^ + (x - P(x)), x = r - rho u^, the same number without the loss of u^ in r: else an r of 1e17 would
 * solve everything.                                                                               */
static double natural(int dim, double mu, double nu, const double *r, const double *shifted, double rho)
{
    double x[5] = {0}, projected[5] = {0}, sum = 0.0;
    for (int k = 0; k < dim; k++)
        projected[k] = x[k] = r[k] - rho * shifted[k];
    project(dim, mu, nu, projected);
    const bool large = norm(r, dim) > rho * norm(shifted, dim);
    for (int k = 0; k < dim; k++) {
        const double miss = large ? rho * shifted[k] + (x[k] - projected[k]) : r[k] - projected[k];
        sum += miss * miss;
    }
    return sum;
}

static void judge(const st_Friction *friction, const double *r, const double *u, st_FrictionError *out)
{
    const st_FrictionProblem *p = friction->problem;
    const int dim = p->dim;
    double plain = 0.0, scaled = 0.0, worst = 0.0;
    *out = (st_FrictionError){.worst_contact = -1};
    for (int c = 0; c < p->n_contacts; c++) {
        const double *rc = r + (int64_t)c * dim, *uc = u + (int64_t)c * dim;
        const double mu = p->mu[c], nu = dim == 5 ? p->mu_roll[c] : 0.0;
        double shifted[5] = {0}, outside[5] = {0}, power = 0.0;
        memcpy(shifted, uc, (size_t)dim * sizeof *shifted);
        shifted[0] += mu * norm(uc + 1, dim == 2 ? 1 : 2) + (dim == 5 ? nu * norm(uc + 3, 2) : 0.0);
        const double share = natural(dim, mu, nu, rc, shifted, 1.0);
        plain += share;
        scaled += natural(dim, mu, nu, rc, shifted, friction->rho);
        if (share > worst || !(share >= 0.0)) {
            worst = share;
            out->worst_contact = c;
        }
        memcpy(outside, rc, (size_t)dim * sizeof *outside);
        project(dim, mu, nu, outside);
        for (int k = 0; k < dim; k++) {
            power += rc[k] * shifted[k];
            outside[k] -= rc[k];
        }
        out->complementarity += fabs(power);
        out->cone_violation = fmax(out->cone_violation, norm(outside, dim));
        out->penetration = fmax(out->penetration, -uc[0]);
    }
    const double scale = norm(friction->q, friction->n_r);
    out->error = scale > 0.0 ? sqrt(plain) / scale : sqrt(plain);
    out->error_rho = sqrt(scaled) / friction->rho / (scale > 0.0 ? scale : 1.0);
}

st_Status st_friction_error(st_Friction *friction, const double *r, double *u, double *v, st_FrictionError *out,
                            st_Error *err)
{
    if (friction == NULL || r == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "the problem, r or the error's destination is NULL");
    for (int k = 0; k < friction->n_r; k++)
        if (!isfinite(r[k])) return sti_fail(err, ST_ERR_ARGUMENT, "r[%d] is %g, must be finite", k, r[k]);
    STI_TRY(sti_friction_ready(friction, err));
    double *work = sti_alloc(&friction->allocator, friction->n_r, sizeof *work);
    if (work == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: the error of %d rows", friction->n_r);
    sti_friction_map_apply(friction->map, r, false, v, NULL, work);
    judge(friction, r, work, out);
    if (u != NULL) memcpy(u, work, (size_t)friction->n_r * sizeof *u);
    sti_free(&friction->allocator, work, friction->n_r, sizeof *work);
    return ST_OK;
}
