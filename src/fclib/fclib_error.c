/* fclib_error.c -- the independent judge: the error of an r, from the data of a problem file alone.
 *
 *     u = W r + q (the map of fclib_map.c),   u^ = u + (mu |u_T| + mu_r |u_R| + mu_s |u_S|) e_n
 *     error = | r - P(r - u^) | / | q |,   P the projection on
 *                                          K = { |r_T| <= mu r_n, |r_R| <= mu_r r_n, |r_S| <= mu_s r_n }
 *
 * This is the measure of the test collections; docs/problems.md describes the one used if a coefficient is above 1. All
 * of it is computed in double-double with a bound on the rounding. Otherwise a q that is lost in the rounding of W r
 * would make any r a solution. The formulas are repeated here on purpose: law.c and residual.c serve the solvers,
 * and a mistake there must not hide here. */
#include "fclib/fclib.h"

#include <float.h>

/* The rounding of the sum of squares over all contacts, relative to the sum. */
static const double own_rounding = 4.0 * DBL_EPSILON;

/* rho comes from trace(W) in ordinary arithmetic. Its relative error is at most this, for any masses and joints. The
 * relative change of error_rho is not larger than that of rho. */
static const double rho_rounding = 1e-9;
/* |q| and rho |q| outside this range: squares, and the lower halves of double-doubles, may be lost. Nothing is
 * certified.
 */
static const double least_size = 1e-100, largest_size = 1e100;

/* One contact of the file: parts of the tangential impulse, each with rows of its own and a bound on its length. */
typedef struct Part {
    int first, count;
    double mu;
} Part;
typedef struct Contact {
    int dim, n;
    Part part[3]; /* sliding; rolling (dim 5, 6); spinning (dim 4, 6) */
} Contact;

static sti_Dd dd_length(const sti_Dd *x, int n)
{
    sti_Dd sum = sti_dd(0.0);
    for (int k = 0; k < n; k++)
        sum = sti_dd_add(sum, sti_dd_multiply(x[k], x[k]));
    return sti_dd_sqrt(sum);
}

/* Every part shortened to at most mu times `normal`. */
static void shorten_dd(const Contact *contact, sti_Dd normal, const sti_Dd *length, sti_Dd *x)
{
    for (int k = 0; k < contact->n; k++) {
        const Part *part = &contact->part[k];
        const sti_Dd limit = sti_dd_multiply(sti_dd(part->mu), normal);
        if (!sti_dd_less(limit, length[k])) continue;
        const sti_Dd factor = sti_dd_divide(limit, length[k]);
        for (int i = part->first; i < part->first + part->count; i++)
            x[i] = sti_dd_multiply(x[i], factor);
    }
}

static void lengths_of(const Contact *contact, const sti_Dd *x, sti_Dd *length)
{
    for (int k = 0; k < contact->n; k++)
        length[k] = dd_length(x + contact->part[k].first, contact->part[k].count);
}

static void project_dd(const Contact *contact, sti_Dd *x)
{
    sti_Dd length[3];
    bool inside = x[0].hi >= 0.0;
    lengths_of(contact, x, length);
    for (int k = 0; k < contact->n; k++)
        inside = inside && !sti_dd_less(sti_dd_multiply(sti_dd(contact->part[k].mu), x[0]), length[k]);
    if (inside) return;

    /* The normal component of the projection of x, whose parts are `length` long: minimise
     * (a - x_n)^2 + sum max(0, length - mu a)^2 over a >= 0, by trying which terms are active. The right set is the one
     * whose terms are those above 0, up to rounding. (To compare the values of the minimum would not do: it is flat,
     * and sets whose a differ by 1e-8 have the same.)                                                       */
    sti_Dd best = sti_dd(0.0);
    double least = HUGE_VAL;
    for (int active = 0; active < 1 << contact->n; active++) {
        sti_Dd sum = x[0], share = sti_dd(1.0);
        for (int k = 0; k < contact->n; k++)
            if ((active >> k & 1) != 0) {
                const sti_Dd mu = sti_dd(contact->part[k].mu);
                sum = sti_dd_add(sum, sti_dd_multiply(mu, length[k]));
                share = sti_dd_add(share, sti_dd_multiply(mu, mu));
            }
        const sti_Dd a = sum.hi > 0.0 ? sti_dd_divide(sum, share) : sti_dd(0.0);
        double wrong = 0.0;
        for (int k = 0; k < contact->n; k++) {
            const sti_Dd limit = sti_dd_multiply(sti_dd(contact->part[k].mu), a);
            const double over = sti_dd_value(sti_dd_subtract(length[k], limit));
            wrong = fmax(wrong, (active >> k & 1) != 0 ? -over : over);
        }
        if (wrong < least) {
            least = wrong;
            best = a;
        }
    }
    x[0] = best;

    shorten_dd(contact, x[0], length, x);
}

/* The residual of one contact: r - P(r - rho u^), or where a coefficient is above 1 the same with each part of friction
 * on its own, bounded by mu r_n, and u instead of u^ (fclib.h). Returns its squared length.        */
static double natural(const Contact *contact, const double *r, const sti_Dd *u, double rho)
{
    sti_Dd x[ST_MAX_DIM], length[3];
    double sum = 0.0;
    bool steep = false;
    for (int k = 0; k < contact->n; k++)
        steep = steep || contact->part[k].mu > 1.0;
    for (int k = 0; k < contact->dim; k++)
        x[k] = u[k];
    if (!steep) {
        lengths_of(contact, u, length);
        for (int k = 0; k < contact->n; k++)
            x[0] = sti_dd_add(x[0], sti_dd_multiply(sti_dd(contact->part[k].mu), length[k]));
    }
    for (int k = 0; k < contact->dim; k++)
        x[k] = sti_dd_subtract(sti_dd(r[k]), sti_dd_multiply(sti_dd(rho), x[k]));
    if (steep) {
        lengths_of(contact, x, length);
        shorten_dd(contact, sti_dd(fmax(0.0, r[0])), length, x);
        if (x[0].hi < 0.0) x[0] = sti_dd(0.0);
    } else {
        project_dd(contact, x);
    }
    for (int k = 0; k < contact->dim; k++) {
        const double miss = sti_dd_value(sti_dd_subtract(sti_dd(r[k]), x[k]));
        sum += miss * miss;
    }
    return sum;
}

/* A bound of the error in the residual of a contact: its change with u is at most rho (1 + sum mu) |du|, and its own
 * operations round. */
static double natural_bound(const Contact *contact, const double *r, const sti_Dd *u, const double *u_bound, double rho)
{
    double mu = 1.0, off = 0.0, size = 0.0;
    for (int k = 0; k < contact->n; k++)
        mu += contact->part[k].mu;
    for (int k = 0; k < contact->dim; k++) {
        off += u_bound[k];
        size += fabs(r[k]) + rho * fabs(u[k].hi);
    }
    return mu * (rho * off + 64.0 * STI_DD_UNIT * size);
}

st_Status st_friction_error(st_Friction *friction, const double *r, double *u, double *v, st_FrictionError *out,
                            st_Error *err)
{
    if (friction == NULL || r == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "the problem, r or the error's destination is NULL");
    for (int k = 0; k < friction->n_r; k++)
        if (!isfinite(r[k])) return sti_fail(err, ST_ERR_ARGUMENT, "r[%d] is %g, must be finite", k, r[k]);
    STI_TRY(sti_friction_ready(friction, err));
    const int64_t n = friction->n_r;
    sti_Dd *velocity = sti_alloc(&friction->allocator, n, sizeof *velocity);
    double *bound = sti_alloc(&friction->allocator, n, sizeof *bound);
    st_Status status = ST_OK;
    if (velocity != NULL && bound != NULL) {
        sti_FrictionExact exact;
        sti_friction_map_exact(friction->map, r, velocity, bound, &exact);
        /* All figures. The sums are ordinary doubles: they lose a few units of 1e-16 of the figure itself, which
         * `rounding` includes. */
        const st_FrictionProblem *p = friction->problem;
        const int dim = p->dim;
        double plain = 0.0, scaled = 0.0, worst = 0.0, plain_off = 0.0, scaled_off = 0.0;
        *out = (st_FrictionError){.worst_contact = -1, .equality = exact.equality};
        for (int c = 0; c < p->n_contacts; c++) {
            const double *rc = r + (int64_t)c * dim, *limit = bound + (int64_t)c * dim;
            const sti_Dd *uc = velocity + (int64_t)c * dim;
            Contact contact = {.dim = p->dim, .n = 1, .part = {{1, p->dim == 2 ? 1 : 2, p->mu[c]}}};
            if (p->dim >= 5) contact.part[contact.n++] = (Part){3, 2, p->mu_roll[c]};
            if (p->dim == 4) contact.part[contact.n++] = (Part){3, 1, p->mu_spin[c]};
            if (p->dim == 6) contact.part[contact.n++] = (Part){5, 1, p->mu_spin[c]};
            sti_Dd outside[ST_MAX_DIM] = {{0}}, length[3], power = sti_dd(0.0), shifted = uc[0];
            const double share = natural(&contact, rc, uc, 1.0), off = natural_bound(&contact, rc, uc, limit, 1.0),
                         off_rho = natural_bound(&contact, rc, uc, limit, friction->rho);
            plain += share;
            scaled += natural(&contact, rc, uc, friction->rho);
            plain_off += off * off;
            scaled_off += off_rho * off_rho;
            if (share > worst || !(share >= 0.0)) {
                worst = share;
                out->worst_contact = c;
            }
            lengths_of(&contact, uc, length);
            for (int k = 0; k < contact.n; k++)
                shifted = sti_dd_add(shifted, sti_dd_multiply(sti_dd(contact.part[k].mu), length[k]));
            for (int k = 0; k < dim; k++) {
                outside[k] = sti_dd(rc[k]);
                power = sti_dd_add(power, sti_dd_multiply(sti_dd(rc[k]), k == 0 ? shifted : uc[k]));
            }
            project_dd(&contact, outside);
            for (int k = 0; k < dim; k++)
                outside[k] = sti_dd_subtract(outside[k], sti_dd(rc[k]));
            out->complementarity += fabs(sti_dd_value(power));
            out->cone_violation = fmax(out->cone_violation, sti_dd_value(dd_length(outside, dim)));
            out->penetration = fmax(out->penetration, -uc[0].hi);
        }
        double sum = 0.0;
        for (int k = 0; k < friction->n_r; k++)
            sum += friction->q[k] * friction->q[k];
        const double length = sqrt(sum), scale = length > 0.0 ? length : 1.0;
        out->error = sqrt(plain) / scale;
        out->error_rho = sqrt(scaled) / (friction->rho * scale);
        out->rounding = fmax(sqrt(plain_off), sqrt(scaled_off) / friction->rho) / scale +
                        own_rounding * p->n_contacts * fmax(out->error, out->error_rho);
        out->rounding += p->form == ST_FORM_GLOBAL || p->n_l > 0 ? rho_rounding * out->error_rho : 0.0;
        out->certified = fmax(fmax(out->error, out->error_rho) + out->rounding, exact.equality);
        double most = 0.0; /* |q| may have vanished with its squares */
        for (int k = 0; k < friction->n_r; k++)
            most = fmax(most, fmax(fabs(friction->q[k]), fabs(r[k])));
        const bool in_range = scale >= least_size && scale <= largest_size && friction->rho * scale >= least_size &&
                              friction->rho * scale <= largest_size && (length > 0.0 || most == 0.0);
        if (!in_range) out->rounding = HUGE_VAL;
        if (!in_range || isnan(out->error) || isnan(out->error_rho) || isnan(out->rounding) || isnan(exact.equality))
            out->certified = HUGE_VAL;
        for (int64_t k = 0; u != NULL && k < n; k++)
            u[k] = sti_dd_value(velocity[k]);
        for (int i = 0; v != NULL && i < friction->problem->n_v; i++)
            v[i] = sti_dd_value(exact.v[i]);
    } else {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: the error of %d rows", friction->n_r);
    }
    sti_free(&friction->allocator, bound, n, sizeof *bound);
    sti_free(&friction->allocator, velocity, n, sizeof *velocity);
    return status;
}
