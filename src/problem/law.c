/* law.c -- the table of laws, and functions that are the same for all of them.
 *
 * The natural map r - P(r - rho u^) is that of docs/methods.md 12. It is 0 exactly at the solutions of the law, because
 * K ∋ r _|_ u^ ∈ K* is r = P(r - rho u^) for any rho > 0. If a coefficient is above STI_STEEP, another measure is used
 * (is_bounded_by_r).
 */
#include "problem/law.h"

#include "base/tolerance.h"

const sti_LawKind *const sti_law_kinds[ST_N_LAWS] = {
    [ST_LAW_FRICTIONLESS] = &sti_law_frictionless, [ST_LAW_BOUNDED] = &sti_law_bounded,
    [ST_LAW_COULOMB] = &sti_law_coulomb,           [ST_LAW_CONE] = &sti_law_cone,
    [ST_LAW_PYRAMID] = &sti_law_pyramid,           [ST_LAW_BOX] = &sti_law_box,
};

const char *st_law_name(st_Law law)
{
    return (int)law >= 0 && (int)law < ST_N_LAWS ? sti_law_kinds[law]->name : "unknown";
}

void sti_law_shift(const st_ContactLaw *contact, const double *u, double *shifted)
{
    const sti_LawKind *kind = sti_law_of(contact);
    const double shift = kind->shift != NULL ? kind->shift(contact, u) : 0.0;
    for (int k = 0; k < contact->dim; k++)
        shifted[k] = u[k];
    shifted[0] += shift;
}

bool sti_law_drop_held(const st_ContactLaw *contact, const double *W, int64_t stride, double *r)
{
    if ((contact->law != ST_LAW_COULOMB && contact->law != ST_LAW_CONE) || contact->dim < 2) return false;
    /* In the plane the other direction is of no use: mobility b, c with c = 0. */
    const bool plane = contact->dim == 2;
    const double a = W[stride + 1], b = plane ? 0.0 : W[stride + 2], c = plane ? 0.0 : W[2 * stride + 2];
    const double least = STI_HELD_FRICTION * (W[0] + a + c), half = hypot(0.5 * (a - c), b);
    const double high = 0.5 * (a + c) + half, low = plane ? high : 0.5 * (a + c) - half;
    if (low > least) return false;
    const double other = plane ? 0.0 : r[2], size = hypot(r[1], other);
    double x = 0.0, y = 0.0; /* the rest, along the direction of largest mobility */
    if (high > least) {
        const double ex = a > c ? high - c : b, ey = a > c ? b : high - a;
        const double along = (r[1] * ex + other * ey) / (ex * ex + ey * ey);
        x = along * ex, y = along * ey;
    }
    if (!(hypot(r[1] - x, other - y) > STI_IDLE_FRICTION * size)) return false;
    r[1] = x;
    if (!plane) r[2] = y;
    return true;
}

double sti_law_undone(const st_ContactLaw *contact, const double *r, const double *u)
{
    const sti_LawKind *kind = sti_law_of(contact);
    if (kind->undone != NULL) return kind->undone(contact, r, u);
    double sum = r[0] * (kind->shift != NULL ? u[0] + kind->shift(contact, u) : u[0]);
    for (int k = 1; k < contact->dim; k++)
        sum += r[k] * u[k];
    return fabs(sum);
}

/* Does r_n itself give the bound on friction? This is the definition of the box law. It is equivalent for Coulomb's law
 * (Alart & Curnier 1991), and necessary if mu is large: for an approach u_n = -a at r = 0 with sliding, the projection
 * on a steep cone gives only rho a / sqrt(1 + mu^2), and for creep u_T it gives mu rho |u_T|. */
static bool is_bounded_by_r(const st_ContactLaw *contact)
{
    const sti_LawKind *kind = sti_law_of(contact);
    if (kind->bound == NULL) return false;
    const double steepest = fmax(contact->mu, fmax(contact->mu_roll, contact->mu_spin));
    return kind->always_by_r || steepest > STI_STEEP;
}

/* Where r is the larger of the two, r - P(x) is taken as rho u^ + (x - P(x)), x = r - rho u^: the same number without
 * the loss of u^ in r, or an r of 1e17 would solve everything.                                     */
void sti_law_naturals(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, int n,
                      double *out)
{
    const sti_LawKind *kind = sti_law_of(contact);
    if (kind->naturals != NULL && kind->naturals(contact, r, u, rho, n, out)) return;
    const int dim = contact->dim;
    const bool by_r = is_bounded_by_r(contact);
    const double shift = !by_r && kind->shift != NULL ? kind->shift(contact, u) : 0.0;
    for (int j = 0; j < n; j++, out += dim) {
        double shifted[ST_MAX_DIM] = {0}, x[ST_MAX_DIM] = {0}, P[ST_MAX_DIM] = {0}, of_r = 0.0, of_u = 0.0;
        for (int k = 0; k < dim; k++) {
            shifted[k] = rho[j] * (k == 0 ? u[0] + shift : u[k]);
            P[k] = x[k] = r[k] - shifted[k];
            of_r += r[k] * r[k];
            of_u += shifted[k] * shifted[k];
        }
        if (by_r)
            kind->bound(contact, fmax(0.0, r[0]), P);
        else
            kind->project(contact, P);
        for (int k = 0; k < dim; k++)
            out[k] = of_r > of_u ? shifted[k] + (x[k] - P[k]) : r[k] - P[k];
    }
}
