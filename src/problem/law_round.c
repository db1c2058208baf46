/* law_round.c -- Coulomb's law and its convex relaxation:
 *
 *     K = { |x_T| <= mu n, |x_R| <= mu_roll n, |x_S| <= mu_spin n }
 *     coulomb   K ∋ r _|_ u + (mu |u_T| + mu_roll |u_R| + mu_spin |u_S|) e_n ∈ K*
 *     cone      K ∋ r _|_ u ∈ K*
 *
 * mu = 0 needs no case of its own: every formula below stays finite and gives x_T = 0.
 */
#include "problem/law.h"
#include "problem/one_contact.h"

st_Status sti_law_check_friction(const st_ContactLaw *c, int index, st_Error *err)
{
    const bool rolls = c->dim >= 5, spins = c->dim == 4 || c->dim == 6;
    if (!isfinite(c->mu) || c->mu < 0.0)
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: mu is %g, must be finite and >= 0", index, c->mu);
    if (rolls && (!isfinite(c->mu_roll) || c->mu_roll < 0.0))
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: mu_roll is %g, must be finite and >= 0", index, c->mu_roll);
    if (spins && (!isfinite(c->mu_spin) || c->mu_spin < 0.0))
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: mu_spin is %g, must be finite and >= 0", index, c->mu_spin);
    return ST_OK;
}

/* Shortens x to the length `limit` >= 0 if it is longer. */
static inline void shorten_group(double *x, int n, double now, double limit)
{
    if (now <= limit) return;
    for (int k = 0; k < n; k++)
        x[k] = limit * (x[k] / now);
}

/* On { |x_g| <= mu_g n for every group g }. The new normal part a is the smallest point of
 *     (a - n)^2 + sum_g max(0, |x_g| - mu_g a)^2,      a >= 0,
 * a convex function. Start with all terms active and drop those that turn out not to be. Dropping is
 * final: a term that is negative but counted makes the slope too large, so the true a only grows, and
 * a term that is inactive at a smaller a stays inactive. Hence at most one round more than groups.        */
static void project_on_groups(const st_ContactLaw *contact, double *x)
{
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_groups(contact, group);
    double size[STI_MAX_GROUPS], a = 0.0;
    bool active[STI_MAX_GROUPS], inside = x[0] >= 0.0;
    for (int g = 0; g < n; g++) {
        size[g] = sti_group_length(x + group[g].first, group[g].count);
        active[g] = true;
        inside = inside && size[g] <= group[g].mu * x[0];
    }
    if (inside) return;

    for (bool drops = true; drops;) {
        double sum = x[0], share = 1.0;
        for (int g = 0; g < n; g++) {
            sum += active[g] ? group[g].mu * size[g] : 0.0;
            share += active[g] ? group[g].mu * group[g].mu : 0.0;
        }
        a = sum / share;
        drops = false;
        for (int g = 0; g < n; g++)
            if (active[g] && size[g] < group[g].mu * a) active[g] = false, drops = true;
    }
    if (a < 0.0) a = 0.0;
    x[0] = a;
    for (int g = 0; g < n; g++)
        shorten_group(x + group[g].first, group[g].count, size[g], group[g].mu * a);
}

/* The same with sliding friction alone, as in most contacts: the innermost loop of every residual. */
static inline void project_on_disc(double mu, const int dim, double *x)
{
    const double size = sti_group_length(x + 1, dim - 1);
    if (x[0] >= 0.0 && size <= mu * x[0]) return;
    const double a = sti_larger((x[0] + mu * size) / (1.0 + mu * mu), 0.0);
    x[0] = a;
    shorten_group(x + 1, dim - 1, size, mu * a);
}

void sti_law_round_project(const st_ContactLaw *contact, double *x)
{
    if (contact->dim > 3)
        project_on_groups(contact, x);
    else
        project_on_disc(contact->mu, contact->dim, x);
}

/* Each part of friction cut to mu times `normal`. */
void sti_law_round_bound(const st_ContactLaw *contact, double normal, double *x)
{
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_groups(contact, group);
    x[0] = fmax(0.0, x[0]);
    for (int g = 0; g < n; g++) {
        double *part = x + group[g].first;
        shorten_group(part, group[g].count, sti_group_length(part, group[g].count), group[g].mu * normal);
    }
}

/* The disk of radius mu n around the axis, on rows first .. first + count - 1; n = x_n > 0 moves with x. */
static inline void disc_slope(double mu, int first, int count, int dim, const double *x, double *P, double *D)
{
    const double radius = mu * x[0], size = sti_group_length(x + first, count);
    for (int i = first; i < first + count && size <= radius; i++) {
        P[i] = x[i];
        D[i * dim + i] = 1.0;
    }
    for (int i = first; i < first + count && !(size <= radius); i++) {
        const double d = x[i] / size;
        P[i] = radius * d;
        D[i * dim] = mu * d;
        for (int l = first; l < first + count; l++)
            D[i * dim + l] = radius / size * ((i == l ? 1.0 : 0.0) - d * x[l] / size);
    }
}

void sti_law_round_slope(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    if (x[0] <= 0.0) return; /* open: P = 0, D = 0 */
    P[0] = x[0];
    D[0] = 1.0;
    if (contact->dim == 3) { /* mostly: unrolled */
        disc_slope(contact->mu, 1, 2, 3, x, P, D);
        return;
    }
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_groups(contact, group);
    for (int k = 0; k < n; k++)
        disc_slope(group[k].mu, group[k].first, group[k].count, contact->dim, x, P, D);
}

/* The cone itself. With the groups that are too long (the set S), the nearest point has
 *     n' = (x_n + sum_S mu |x_g|) / (1 + sum_S mu^2),     x_g' = mu n' x_g/|x_g|  for g in S
 * and S is consistent: x_g is longer than mu n' for g in S only.                                  */
static void cone_slope(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_groups(contact, group), dim = contact->dim;
    double size[STI_MAX_GROUPS] = {0}, apex = 0.0, share = 1.0;
    bool too_long[STI_MAX_GROUPS] = {false}, found = false;
    for (int k = 0; k < n; k++)
        size[k] = sti_group_length(x + group[k].first, group[k].count);
    for (int set = 0; set < 1 << n && !found; set++) {
        apex = x[0];
        share = 1.0;
        for (int k = 0; k < n; k++)
            if ((set >> k & 1) != 0) {
                apex += group[k].mu * size[k];
                share += group[k].mu * group[k].mu;
            }
        apex /= share;
        found = true;
        for (int k = 0; k < n; k++) {
            too_long[k] = (set >> k & 1) != 0;
            found = found && too_long[k] == (size[k] > group[k].mu * apex);
        }
    }
    if (apex <= 0.0) return;
    P[0] = apex;
    D[0] = 1.0 / share;
    for (int k = 0; k < n; k++)
        for (int l = group[k].first; l < group[k].first + group[k].count && too_long[k]; l++)
            D[l] = group[k].mu * x[l] / size[k] / share;
    for (int k = 0; k < n; k++) {
        const sti_Group *g = &group[k];
        for (int l = g->first; l < g->first + g->count; l++) {
            const double d = too_long[k] ? x[l] / size[k] : 0.0;
            P[l] = too_long[k] ? g->mu * apex * d : x[l];
            D[l * dim + l] = too_long[k] ? g->mu * apex / size[k] : 1.0;
            for (int m = 0; m < dim && too_long[k]; m++)
                D[l * dim + m] += g->mu * d * D[m];
            for (int m = g->first; m < g->first + g->count && too_long[k]; m++)
                D[l * dim + m] -= g->mu * apex / size[k] * d * x[m] / size[k];
        }
    }
}

static double coulomb_shift(const st_ContactLaw *contact, const double *u)
{
    if (contact->dim <= 3) return contact->mu * sti_group_length(u + 1, contact->dim - 1);
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_groups(contact, group);
    double shift = 0.0;
    for (int g = 0; g < n; g++)
        shift += group[g].mu * sti_group_length(u + group[g].first, group[g].count);
    return shift;
}

/* The natural map of law.c, for sliding friction that is not steep. `dim` is a constant where this is called. */
static inline void naturals_of_disc(double mu, const int dim, const double *r, const double *u, const double *rho,
                                    int n, double *out)
{
    const double shift = mu * sti_group_length(u + 1, dim - 1);
    double of_r = 0.0;
    for (int k = 0; k < dim; k++)
        of_r += r[k] * r[k];
    for (int j = 0; j < n; j++, out += dim) {
        double shifted[3], x[3], P[3], of_u = 0.0;
        for (int k = 0; k < dim; k++) {
            shifted[k] = rho[j] * (k == 0 ? u[0] + shift : u[k]);
            P[k] = x[k] = r[k] - shifted[k];
            of_u += shifted[k] * shifted[k];
        }
        project_on_disc(mu, dim, P);
        for (int k = 0; k < dim; k++)
            out[k] = of_r > of_u ? shifted[k] + (x[k] - P[k]) : r[k] - P[k];
    }
}

static bool coulomb_naturals(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, int n,
                             double *out)
{
    if (contact->dim > 3 || contact->mu > STI_STEEP) return false;
    if (contact->dim == 2)
        naturals_of_disc(contact->mu, 2, r, u, rho, n, out);
    else
        naturals_of_disc(contact->mu, 3, r, u, rho, n, out);
    return true;
}

static void prepare_coulomb(sti_Local *local, double mean)
{
    (void)mean;
    const int dim = local->contact->dim;
    local->solve = dim == 2 ? sti_local_coulomb2 : dim == 3 ? sti_local_coulomb3 : sti_local_newton;
}

static bool block_is_symmetric(const double *W, int dim, double scale)
{
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < i; j++)
            if (fabs(W[i * dim + j] - W[j * dim + i]) > 1e-12 * scale) return false;
    return true;
}

static void prepare_cone(sti_Local *local, double mean)
{
    const int dim = local->contact->dim;
    local->solve = dim == 2 ? sti_local_cone2 : sti_local_newton;
    if (dim == 3 && local->W[0] > 0.0 && block_is_symmetric(local->W, 3, mean)) sti_local_cone_prepare(local);
}

enum { IN_PLANE = 1u << 2, DIMS_2_TO_6 = IN_PLANE | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 };

const sti_LawKind sti_law_coulomb = {
    .name = "coulomb",
    .dims = {[STI_LAW_ANY] = DIMS_2_TO_6,
             [STI_LAW_LINEAR] = IN_PLANE,
             [STI_LAW_CONIC] = DIMS_2_TO_6,
             [STI_LAW_FIXED] = DIMS_2_TO_6,
             [STI_LAW_SMOOTH] = DIMS_2_TO_6},
    .check = sti_law_check_friction,
    .project = sti_law_round_project,
    .shift = coulomb_shift,
    .bound = sti_law_round_bound,
    .naturals = coulomb_naturals,
    .slope = sti_law_round_slope,
    .prepare = prepare_coulomb,
    .discs = sti_law_groups,
};

const sti_LawKind sti_law_cone = {
    .name = "cone",
    .dims = {[STI_LAW_ANY] = DIMS_2_TO_6, [STI_LAW_CONIC] = DIMS_2_TO_6, [STI_LAW_FIXED] = DIMS_2_TO_6},
    .whole = true,
    .check = sti_law_check_friction,
    .project = sti_law_round_project,
    .slope = cone_slope,
    .prepare = prepare_cone,
    .discs = sti_law_groups,
};
