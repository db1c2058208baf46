/* fclib_error.c -- the independent judge: how good an r is, from the data of a problem file alone.
 *
 *     u = W r + q (the map of fclib_map.c),   u^ = u + (mu |u_T| + mu_r |u_R| + mu_s |u_S|) e_n
 *     error = | r - P(r - u^) | / | q |,   P the projection on
 *                                          K = { |r_T| <= mu r_n, |r_R| <= mu_r r_n, |r_S| <= mu_s r_n }
 *
 * The measure of the test collections. It is written out here a second time on purpose: law.c and residual.c
 * serve the solvers, and a mistake there must not be able to hide.
 */
#include "fclib/fclib.h"

static double norm(const double *x, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

/* One contact of the file: parts of the tangential impulse, each with rows of its own and a bound on its length. */
typedef struct Part {
    int first, count;
    double mu;
} Part;
typedef struct Contact {
    int dim, n;
    Part part[3]; /* sliding; rolling (dim 5, 6); spinning (dim 4, 6) */
} Contact;

static Contact contact_of(const st_FrictionProblem *p, int c)
{
    Contact contact = {.dim = p->dim, .n = 1, .part = {{1, p->dim == 2 ? 1 : 2, p->mu[c]}}};
    if (p->dim >= 5) contact.part[contact.n++] = (Part){3, 2, p->mu_roll[c]};
    if (p->dim == 4) contact.part[contact.n++] = (Part){3, 1, p->mu_spin[c]};
    if (p->dim == 6) contact.part[contact.n++] = (Part){5, 1, p->mu_spin[c]};
    return contact;
}

/* The normal component of the projection of x, whose parts are `length` long: minimise
 * (a - x_n)^2 + sum max(0, length - mu a)^2 over a >= 0, by trying which terms are active. The right set is the one
 * whose terms are those above 0, up to rounding. (To compare the values of the minimum would not do: it is flat, and
 * sets whose a differ by 1e-8 have the same.)                                                       */
static double nearest_normal(const Contact *contact, double x_n, const double *length)
{
    double best = 0.0, least = HUGE_VAL;
    for (int active = 0; active < 1 << contact->n; active++) {
        double sum = x_n, share = 1.0;
        for (int k = 0; k < contact->n; k++)
            if ((active >> k & 1) != 0) {
                sum += contact->part[k].mu * length[k];
                share += contact->part[k].mu * contact->part[k].mu;
            }
        const double a = fmax(0.0, sum / share);
        double wrong = 0.0;
        for (int k = 0; k < contact->n; k++) {
            const double over = length[k] - contact->part[k].mu * a;
            wrong = fmax(wrong, (active >> k & 1) != 0 ? -over : over);
        }
        if (wrong < least) {
            least = wrong;
            best = a;
        }
    }
    return best;
}

static void project(const Contact *contact, double *x)
{
    double length[3] = {0};
    bool inside = x[0] >= 0.0;
    for (int k = 0; k < contact->n; k++) {
        length[k] = norm(x + contact->part[k].first, contact->part[k].count);
        inside = inside && length[k] <= contact->part[k].mu * x[0];
    }
    if (inside) return;
    const double a = x[0] = nearest_normal(contact, x[0], length);
    for (int k = 0; k < contact->n; k++) {
        const Part *part = &contact->part[k];
        for (int i = part->first; i < part->first + part->count && length[k] > part->mu * a; i++)
            x[i] *= part->mu * a / length[k];
    }
}

/* r - P(r - rho u^) of one contact: its squared length. Where r is the larger of the two it is taken as
 * rho u^ + (x - P(x)), x = r - rho u^, the same number without the loss of u^ in r: else an r of 1e17 would
 * solve everything.                                                                               */
static double natural(const Contact *contact, const double *r, const double *shifted, double rho)
{
    const int dim = contact->dim;
    double x[ST_MAX_DIM] = {0}, projected[ST_MAX_DIM] = {0}, sum = 0.0;
    for (int k = 0; k < dim; k++)
        projected[k] = x[k] = r[k] - rho * shifted[k];
    project(contact, projected);
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
        const Contact contact = contact_of(p, c);
        double shifted[ST_MAX_DIM] = {0}, outside[ST_MAX_DIM] = {0}, power = 0.0;
        memcpy(shifted, uc, (size_t)dim * sizeof *shifted);
        for (int k = 0; k < contact.n; k++)
            shifted[0] += contact.part[k].mu * norm(uc + contact.part[k].first, contact.part[k].count);
        const double share = natural(&contact, rc, shifted, 1.0);
        plain += share;
        scaled += natural(&contact, rc, shifted, friction->rho);
        if (share > worst || !(share >= 0.0)) {
            worst = share;
            out->worst_contact = c;
        }
        memcpy(outside, rc, (size_t)dim * sizeof *outside);
        project(&contact, outside);
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
