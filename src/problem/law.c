/* law.c -- the laws of one contact: projections, shifted velocities, natural map.
 *
 * Impulses x = (n, t) or (n, t, o[, R1, R2][, S]), normal first. The sets are
 *
 *     frictionless   n >= 0
 *     bounded        lo <= n <= hi
 *     coulomb, cone  K = { |x_T| <= mu n, |x_R| <= mu_roll n, |x_S| <= mu_spin n }
 *     pyramid        K = { x_T in mu n conv(d_1 .. d_m) }, n >= 0
 *     box            n >= 0; |t|, |o| <= mu n, where n is not moved by t and o
 *
 * mu = 0 needs no case of its own: every formula below stays finite and gives x_T = 0.
 * The natural map r - P(r - rho u^) is that of docs/methods.md 12; it vanishes exactly at the
 * solutions of the law, since K ∋ r _|_ u^ ∈ K* is r = P(r - rho u^) for any rho > 0. Where a coefficient is
 * above STI_STEEP we measure otherwise (is_bounded_by_r).
 */
#include "problem/law.h"

static double clip(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Shorten x to the length limit >= 0 where it is longer. */
static void shorten(double *x, int n, double now, double limit)
{
    if (now <= limit) return;
    for (int k = 0; k < n; k++)
        x[k] = limit * (x[k] / now);
}

/* On { |x_g| <= mu_g n for every group g }. The new normal part a is the smallest point of
 *     (a - n)^2 + sum_g max(0, |x_g| - mu_g a)^2,      a >= 0,
 * a convex function. Start with all terms active and drop those that turn out not to be. Dropping is
 * final: a term that is negative but counted makes the slope too large, so the true a only grows, and
 * what is inactive at a smaller a stays inactive. Hence at most one round more than groups.        */
static void project_groups(const st_ContactLaw *contact, double *x)
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
        shorten(x + group[g].first, group[g].count, size[g], group[g].mu * a);
}

/* The same where there is sliding friction alone: most contacts, and the innermost loop of every judge. */
static void project_cone(const st_ContactLaw *contact, double *x)
{
    if (contact->dim > 3) {
        project_groups(contact, x);
        return;
    }
    const double mu = contact->mu, size = sti_group_length(x + 1, contact->dim - 1);
    if (x[0] >= 0.0 && size <= mu * x[0]) return;
    const double a = fmax(0.0, (x[0] + mu * size) / (1.0 + mu * mu));
    x[0] = a;
    shorten(x + 1, contact->dim - 1, size, mu * a);
}

/* cos and sin of 2 pi j/m, reduced by octants in integers: opposite facets are exactly opposite and
 * the axes exactly on the axes, so that the impulses of a balanced pyramid balance to the last bit. */
static void direction(int j, int m, double d[2])
{
    const int64_t quarter = 4 * (int64_t)j / m, rest = 4 * (int64_t)j - quarter * m; /* angle (q + rest/m) pi/2 */
    const bool upper = 2 * rest > m;
    const double angle = 0.5 * STI_PI * (double)(upper ? m - rest : rest) / (double)m;
    const double c = upper ? sin(angle) : cos(angle), s = upper ? cos(angle) : sin(angle);
    switch (quarter & 3) {
    case 0:
        d[0] = c, d[1] = s;
        break;
    case 1:
        d[0] = -s, d[1] = c;
        break;
    case 2:
        d[0] = -c, d[1] = -s;
        break;
    default:
        d[0] = s, d[1] = -c;
        break;
    }
}

void sti_law_facet(const st_ContactLaw *contact, int j, double d[2])
{
    if (contact->dim == 2) {
        d[0] = j % 2 == 0 ? 1.0 : -1.0;
        d[1] = 0.0;
    } else {
        direction(j, contact->facets, d);
    }
}

/* The facet direction that x_T leans to most. */
static void nearest_facet(const st_ContactLaw *contact, const double *t, double d[2])
{
    const int m = contact->facets;
    const double turns = atan2(t[1], t[0]) / (2.0 * STI_PI); /* -1/2 .. 1/2 */
    const int j = (int)lround(turns * m);
    direction(j < 0 ? j + m : j, m, d);
}

/* On the pyramid in space. The polygon conv(d_j) is symmetric about the line of every vertex and of
 * every edge's middle, and projecting on a convex set never crosses a line of symmetry. So the answer
 * lies in x's own half sector, between the nearest vertex d and the middle e of the edge beside it:
 *
 *            d         coordinates there:  a along e, s along the edge, towards the vertex,
 *           /|         c = cos(pi/m), k = sin(pi/m)
 *          / | s       the pyramid:        a <= mu c n   (the edge),   s <= mu k n   (its end)
 *         /__|____ e
 *            a
 *
 * Outside, the answer is the projection on the wedge { a = mu c n, 0 <= s <= mu k n }: inside the wedge,
 * on its vertex ray (1, mu d), or 0. With m = 2 the edge passes through the axis (c = 0): the same
 * formulas hold, and only there can s be too long where a is not.                                  */
typedef struct Sector {
    double c, k;
    double d[2], side;
    double along, a, s; /* of x: along d, and as above                                                 */
} Sector;

static Sector sector_of(const st_ContactLaw *contact, const double *t)
{
    const int m = contact->facets;
    Sector out = {.c = m == 2 ? 0.0 : cos(STI_PI / m), .k = m == 2 ? 1.0 : sin(STI_PI / m)};
    nearest_facet(contact, t, out.d);
    const double across = out.d[0] * t[1] - out.d[1] * t[0];
    out.along = out.d[0] * t[0] + out.d[1] * t[1];
    out.side = across < 0.0 ? -1.0 : 1.0;
    out.a = out.c * out.along + out.k * fabs(across);
    out.s = out.k * out.along - out.c * fabs(across);
    return out;
}

static void from_sector(const Sector *at, double a, double s, double *t)
{
    const double along = at->c * a + at->k * s, across = at->side * (at->k * a - at->c * s);
    t[0] = at->d[0] * along - at->d[1] * across;
    t[1] = at->d[1] * along + at->d[0] * across;
}

static void project_pyramid(const st_ContactLaw *contact, double *x)
{
    const double mu = contact->mu, n = x[0];
    const Sector at = sector_of(contact, x + 1);
    if (n >= 0.0 && at.a <= mu * at.c * n && at.s <= mu * at.k * n) return;

    const double on_edge = (n + mu * at.c * at.a) / (1.0 + mu * at.c * mu * at.c);
    if (on_edge >= 0.0 && at.s <= mu * at.k * on_edge) {
        x[0] = on_edge;
        from_sector(&at, mu * at.c * on_edge, at.s, x + 1);
        return;
    }
    const double on_ray = fmax(0.0, (n + mu * at.along) / (1.0 + mu * mu));
    x[0] = on_ray;
    x[1] = mu * on_ray * at.d[0];
    x[2] = mu * on_ray * at.d[1];
}

/* On the polygon limit conv(d_j). */
static void bound_polygon(const st_ContactLaw *contact, double limit, double *t)
{
    const Sector at = sector_of(contact, t);
    if (at.a <= at.c * limit && at.s <= at.k * limit) return;
    from_sector(&at, fmin(at.a, at.c * limit), fmin(at.s, at.k * limit), t);
}

/* n >= 0, and each tangential part where it is when friction is bounded by mu times `normal`, which is given. */
static void project_given(const st_ContactLaw *contact, double normal, double *x)
{
    sti_Group group[STI_MAX_GROUPS];
    x[0] = fmax(0.0, x[0]);
    if (contact->law == ST_LAW_BOX) {
        for (int k = 1; k < contact->dim; k++)
            x[k] = clip(x[k], -contact->mu * normal, contact->mu * normal);
    } else if (contact->law == ST_LAW_PYRAMID && contact->dim == 3) {
        bound_polygon(contact, contact->mu * normal, x + 1);
    } else {
        const int n = sti_law_groups(contact, group);
        for (int g = 0; g < n; g++) {
            double *part = x + group[g].first;
            shorten(part, group[g].count, sti_group_length(part, group[g].count), group[g].mu * normal);
        }
    }
}

void sti_law_project(const st_ContactLaw *contact, double *x)
{
    switch (contact->law) {
    case ST_LAW_FRICTIONLESS:
        x[0] = fmax(0.0, x[0]);
        break;
    case ST_LAW_BOUNDED:
        x[0] = clip(x[0], contact->lo, contact->hi);
        break;
    case ST_LAW_COULOMB:
    case ST_LAW_CONE:
        project_cone(contact, x);
        break;
    case ST_LAW_PYRAMID:
        if (contact->dim == 2)
            project_cone(contact, x); /* in the plane the pyramid is the cone */
        else
            project_pyramid(contact, x);
        break;
    case ST_LAW_BOX:
        project_given(contact, fmax(0.0, x[0]), x);
        break;
    }
}

/* max_j (-d_j' u_T): the facets are balanced, so the sign is free. */
static double widest_facet(const st_ContactLaw *contact, const double *u)
{
    if (contact->dim == 2) return fabs(u[1]);
    double d[2];
    nearest_facet(contact, u + 1, d);
    return d[0] * u[1] + d[1] * u[2];
}

void sti_law_shift(const st_ContactLaw *contact, const double *u, double *shifted)
{
    double shift = 0.0;
    sti_Group group[STI_MAX_GROUPS];
    const bool slides = contact->law == ST_LAW_COULOMB && contact->dim <= 3; /* and no more */
    const int n = contact->law == ST_LAW_COULOMB && !slides ? sti_law_groups(contact, group) : 0;
    if (slides) shift = contact->mu * sti_group_length(u + 1, contact->dim - 1);
    for (int g = 0; g < n; g++)
        shift += group[g].mu * sti_group_length(u + group[g].first, group[g].count);
    if (contact->law == ST_LAW_PYRAMID) shift = contact->mu * widest_facet(contact, u);
    for (int k = 0; k < contact->dim; k++)
        shifted[k] = u[k];
    shifted[0] += shift;
}

/* Is the bound on friction taken from r_n itself? That is what the box law says. Of Coulomb's the same holds (Alart &
 * Curnier 1991), and where mu is large it must: the projection on a steep cone sees an approach u_n = -a at r = 0 that
 * slides as rho a / sqrt(1 + mu^2) only, and creep u_T as mu rho |u_T|.                           */
static bool is_bounded_by_r(const st_ContactLaw *contact)
{
    const double steepest = fmax(contact->mu, fmax(contact->mu_roll, contact->mu_spin));
    const bool coulomb = contact->law == ST_LAW_COULOMB || contact->law == ST_LAW_PYRAMID;
    return contact->law == ST_LAW_BOX || (coulomb && steepest > STI_STEEP);
}

/* Where r is the larger of the two, r - P(x) is taken as rho u^ + (x - P(x)), x = r - rho u^: the same number without
 * the loss of u^ in r, lest an r of 1e17 solves everything.                                        */
void sti_law_natural(const st_ContactLaw *contact, const double *r, const double *u, double rho, double *out)
{
    const int dim = contact->dim;
    const bool by_r = is_bounded_by_r(contact);
    double shifted[ST_MAX_DIM] = {0}, x[ST_MAX_DIM] = {0}, P[ST_MAX_DIM] = {0}, of_r = 0.0, of_u = 0.0;
    if (by_r)
        memcpy(shifted, u, (size_t)dim * sizeof *shifted);
    else
        sti_law_shift(contact, u, shifted);
    for (int k = 0; k < dim; k++) {
        shifted[k] *= rho;
        P[k] = x[k] = r[k] - shifted[k];
        of_r += r[k] * r[k];
        of_u += shifted[k] * shifted[k];
    }
    if (by_r)
        project_given(contact, fmax(0.0, r[0]), P);
    else
        sti_law_project(contact, P);
    for (int k = 0; k < dim; k++)
        out[k] = of_r > of_u ? shifted[k] + (x[k] - P[k]) : r[k] - P[k];
}

bool sti_law_has_dim(st_Law law, int dim)
{
    switch (law) {
    case ST_LAW_FRICTIONLESS:
    case ST_LAW_BOUNDED:
        return dim == 1;
    case ST_LAW_COULOMB:
    case ST_LAW_CONE:
        return dim >= 2 && dim <= ST_MAX_DIM;
    case ST_LAW_PYRAMID:
    case ST_LAW_BOX:
        return dim == 2 || dim == 3;
    }
    return false;
}
