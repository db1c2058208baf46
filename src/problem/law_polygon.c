/* law_polygon.c -- friction bounded by polygons. The problems are linear complementarity problems:
 *
 *     pyramid   K = { x_T in mu n conv(d_1 .. d_m) }, n >= 0; facet j points to the angle 2 pi j/m
 *     box       n >= 0; |t|, |o| <= mu n each on its own, where n is not moved by t and o
 *
 * In the plane both are Coulomb's law.
 */
#include "problem/law.h"
#include "problem/one_contact.h"

/* cos and sin of 2 pi j/m, reduced by octants in integers: opposite facets are exactly opposite and
 * the axes exactly on the axes, so that the impulses of a balanced pyramid balance to the last bit. */
static void polygon_direction(int j, int m, double d[2])
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
        polygon_direction(j, contact->facets, d);
    }
}

/* The facet direction nearest to x_T. */
static void nearest_facet(const st_ContactLaw *contact, const double *t, double d[2])
{
    const int m = contact->facets;
    const double turns = atan2(t[1], t[0]) / (2.0 * STI_PI); /* -1/2 .. 1/2 */
    const int j = (int)lround(turns * m);
    polygon_direction(j < 0 ? j + m : j, m, d);
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
    if (contact->dim == 2) {
        sti_law_round_project(contact, x); /* in the plane the pyramid is the cone */
        return;
    }
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

/* max_j (-d_j' u_T): the facets are balanced, so the sign is free. */
static double widest_facet(const st_ContactLaw *contact, const double *u)
{
    if (contact->dim == 2) return fabs(u[1]);
    double d[2];
    nearest_facet(contact, u + 1, d);
    return d[0] * u[1] + d[1] * u[2];
}

static void bound_pyramid(const st_ContactLaw *contact, double normal, double *x)
{
    if (contact->dim == 2) {
        sti_law_round_bound(contact, normal, x);
        return;
    }
    x[0] = fmax(0.0, x[0]);

    /* On the polygon limit conv(d_j). */
    double limit = contact->mu * normal;
    const Sector at = sector_of(contact, x + 1);
    if (at.a <= at.c * limit && at.s <= at.k * limit) return;
    from_sector(&at, fmin(at.a, at.c * limit), fmin(at.s, at.k * limit), x + 1);
}

static double pyramid_shift(const st_ContactLaw *contact, const double *u)
{
    return contact->mu * widest_facet(contact, u);
}

/* The polygon with vertices mu x_n d_j. x's own half sector lies between the nearest vertex d and the middle e of
 * the edge beside it; a along e and s along the edge, towards the vertex, as above.                */
static void pyramid_slope(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    const double angle = acos(-1.0) / contact->facets, c = contact->facets == 2 ? 0.0 : cos(angle);
    const double k = contact->facets == 2 ? 1.0 : sin(angle), radius = contact->mu * x[0];
    double d[2];
    if (contact->dim == 2) {
        sti_law_round_slope(contact, x, P, D);
        return;
    }
    if (x[0] <= 0.0) return;
    P[0] = x[0];
    D[0] = 1.0;
    sti_law_facet(contact, (int)lround(atan2(x[2], x[1]) / (2.0 * angle) + contact->facets) % contact->facets, d);
    const double along = d[0] * x[1] + d[1] * x[2], across = d[0] * x[2] - d[1] * x[1];
    const double side = across < 0.0 ? -1.0 : 1.0;
    const double e[2] = {c * d[0] - side * k * d[1], c * d[1] + side * k * d[0]};
    const double t[2] = {k * d[0] + side * c * d[1], k * d[1] - side * c * d[0]};
    const double a = c * along + k * fabs(across), s = k * along - c * fabs(across);
    if (a <= radius * c && s <= radius * k) { /* inside */
        for (int i = 0; i < 2; i++) {
            P[i + 1] = x[i + 1];
            D[(i + 1) * 4] = 1.0;
        }
        return;
    }
    const bool vertex = s > radius * k;
    for (int i = 0; i < 2; i++) {
        P[i + 1] = vertex ? radius * d[i] : radius * c * e[i] + s * t[i];
        D[(i + 1) * 3] = contact->mu * (vertex ? d[i] : c * e[i]);
        for (int j = 0; j < 2 && !vertex; j++)
            D[(i + 1) * 3 + j + 1] = t[i] * t[j];
    }
}

static st_Status check_pyramid(const st_ContactLaw *c, int index, st_Error *err)
{
    STI_TRY(sti_law_check_friction(c, index, err));
    if (c->facets < 2 || c->facets % 2 != 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: facets is %d, must be even and >= 2", index, c->facets);
    if (c->dim == 2 && c->facets != 2)
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: facets is %d, must be 2 in the plane", index, c->facets);
    return ST_OK;
}

static void prepare_polygon(sti_Local *local, double mean)
{
    (void)mean;
    local->solve = local->contact->dim == 2 ? sti_local_coulomb2 : sti_local_polygon;
}

static int pyramid_discs(const st_ContactLaw *contact, sti_Group group[STI_MAX_GROUPS])
{
    return contact->dim == 2 ? sti_law_groups(contact, group) : -1;
}

static int pyramid_polygon(const st_ContactLaw *contact, double *vertex)
{
    for (int j = 0; j < contact->facets && vertex != NULL; j++)
        sti_law_facet(contact, j, vertex + 2 * j);
    return contact->facets;
}

enum { DIMS_2_AND_3 = 1u << 2 | 1u << 3 };

const sti_LawKind sti_law_pyramid = {
    .name = "pyramid",
    .dims = {[STI_LAW_ANY] = DIMS_2_AND_3,
             [STI_LAW_LINEAR] = DIMS_2_AND_3,
             [STI_LAW_FIXED] = DIMS_2_AND_3,
             [STI_LAW_SMOOTH] = 1u << 2},
    .check = check_pyramid,
    .project = project_pyramid,
    .shift = pyramid_shift,
    .bound = bound_pyramid,
    .slope = pyramid_slope,
    .prepare = prepare_polygon,
    .discs = pyramid_discs,
    .polygon = pyramid_polygon,
};

/* ------------------------------------------------------------------ box */

static void bound_box(const st_ContactLaw *contact, double normal, double *x)
{
    x[0] = fmax(0.0, x[0]);
    for (int k = 1; k < contact->dim; k++)
        x[k] = sti_law_clip(x[k], -contact->mu * normal, contact->mu * normal);
}

static void project_box(const st_ContactLaw *contact, double *x)
{
    bound_box(contact, fmax(0.0, x[0]), x);
}

/* Each tangent separately: its friction should dissipate mu r_n |u_t|. */
static double undone_box(const st_ContactLaw *contact, const double *r, const double *u)
{
    double sum = 0.0;
    for (int k = 1; k < contact->dim; k++)
        sum += contact->mu * r[0] * fabs(u[k]);
    for (int k = 0; k < contact->dim; k++)
        sum += r[k] * u[k];
    return fabs(sum);
}

static void box_slope(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    const int dim = contact->dim;
    if (x[0] <= 0.0) return;
    P[0] = x[0];
    D[0] = 1.0;
    for (int k = 1; k < dim; k++) {
        const double limit = contact->mu * x[0];
        P[k] = sti_law_clip(x[k], -limit, limit);
        if (x[k] < -limit || x[k] > limit)
            D[k * dim] = x[k] > 0.0 ? contact->mu : -contact->mu;
        else
            D[k * dim + k] = 1.0;
    }
}

/* Every tangent by itself. */
static int box_discs(const st_ContactLaw *contact, sti_Group group[STI_MAX_GROUPS])
{
    for (int k = 1; k < contact->dim; k++)
        group[k - 1] = (sti_Group){k, 1, contact->mu};
    return contact->dim - 1;
}

static int box_polygon(const st_ContactLaw *contact, double *vertex)
{
    static const double square[8] = {1, 1, -1, 1, -1, -1, 1, -1};
    (void)contact;
    if (vertex != NULL) memcpy(vertex, square, sizeof square);
    return 4;
}

const sti_LawKind sti_law_box = {
    .name = "box",
    .dims = {[STI_LAW_ANY] = DIMS_2_AND_3, [STI_LAW_LINEAR] = DIMS_2_AND_3, [STI_LAW_SMOOTH] = DIMS_2_AND_3},
    .always_by_r = true,
    .check = sti_law_check_friction,
    .project = project_box,
    .bound = bound_box,
    .undone = undone_box,
    .slope = box_slope,
    .prepare = prepare_polygon,
    .discs = box_discs,
    .polygon = box_polygon,
};
