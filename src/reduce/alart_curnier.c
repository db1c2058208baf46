/* alart_curnier.c -- see alart_curnier.h. Everything is a projection of x = r - rho u, so that with D = dP/dx
 *
 *     F = r - P(x),     A = I - D,     B = rho D.
 */
#include "reduce/alart_curnier.h"

#include "pile/pile.h"
#include "problem/law.h"

/* P and D of lo <= x <= hi. */
static void clip(double x, double lo, double hi, double *P, double *D)
{
    *P = x < lo ? lo : x > hi ? hi : x;
    *D = x < lo || x > hi ? 0.0 : 1.0;
}

/* The disk of radius mu n around the axis; n = x_n > 0 moves with x. */
static void project_disk(const sti_Group *g, int dim, const double *x, double *P, double *D)
{
    const double radius = g->mu * x[0], size = sti_group_length(x + g->first, g->count);
    if (size <= radius) {
        for (int k = g->first; k < g->first + g->count; k++) {
            P[k] = x[k];
            D[k * dim + k] = 1.0;
        }
        return;
    }
    for (int k = g->first; k < g->first + g->count; k++) {
        const double d = x[k] / size;
        P[k] = radius * d;
        D[k * dim] = g->mu * d;
        for (int l = g->first; l < g->first + g->count; l++)
            D[k * dim + l] = radius / size * ((k == l ? 1.0 : 0.0) - d * x[l] / size);
    }
}

static void coulomb(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_groups(contact, group), dim = contact->dim;
    if (x[0] <= 0.0) return; /* open: P = 0, D = 0 */
    P[0] = x[0];
    D[0] = 1.0;
    for (int k = 0; k < n; k++)
        project_disk(&group[k], dim, x, P, D);
}

static void box(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    const int dim = contact->dim;
    if (x[0] <= 0.0) return;
    P[0] = x[0];
    D[0] = 1.0;
    for (int k = 1; k < dim; k++) {
        clip(x[k], -contact->mu * x[0], contact->mu * x[0], &P[k], &D[k * dim + k]);
        if (D[k * dim + k] == 0.0) D[k * dim] = x[k] > 0.0 ? contact->mu : -contact->mu;
    }
}

/* The polygon with vertices mu x_n d_j. x's own half sector lies between the nearest vertex d and the middle e of
 * the edge beside it; a along e and s along the edge, towards the vertex, as in law.c.             */
static void pyramid(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    const double angle = acos(-1.0) / contact->facets, c = contact->facets == 2 ? 0.0 : cos(angle);
    const double k = contact->facets == 2 ? 1.0 : sin(angle), radius = contact->mu * x[0];
    double d[2];
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

/* The cone itself. With the groups that are too long (the set S), the nearest point has
 *     n' = (x_n + sum_S mu |x_g|) / (1 + sum_S mu^2),     x_g' = mu n' x_g/|x_g|  for g in S
 * and S is consistent: x_g is longer than mu n' for g in S only.                                  */
static void cone(const st_ContactLaw *contact, const double *x, double *P, double *D)
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

bool sti_slope(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, double *F, double *A,
               double *B)
{
    const int dim = contact->dim;
    double x[ST_MAX_DIM] = {0}, P[ST_MAX_DIM] = {0}, D[ST_MAX_DIM * ST_MAX_DIM] = {0};
    bool active = false;
    for (int k = 0; k < dim; k++)
        x[k] = r[k] - rho[k] * u[k];
    switch (contact->law) {
    case ST_LAW_FRICTIONLESS:
        clip(x[0], 0.0, HUGE_VAL, P, D);
        break;
    case ST_LAW_BOUNDED:
        clip(x[0], contact->lo, contact->hi, P, D);
        break;
    case ST_LAW_CONE:
        cone(contact, x, P, D);
        break;
    case ST_LAW_BOX:
        box(contact, x, P, D);
        break;
    case ST_LAW_PYRAMID:
        if (dim == 3)
            pyramid(contact, x, P, D);
        else
            coulomb(contact, x, P, D);
        break;
    default:
        coulomb(contact, x, P, D);
        break;
    }
    for (int k = 0; k < dim; k++)
        F[k] = r[k] - P[k];
    for (int k = 0; k < dim * dim && A != NULL; k++) {
        A[k] = (k % (dim + 1) == 0 ? 1.0 : 0.0) - D[k];
        B[k] = rho[k % dim] * D[k];
        active = active || D[k] != 0.0;
    }
    return active;
}

/* The diagonal of W_cc. */
static void diagonal_of(const sti_Reduction *reduction, int c, double *W)
{
    const int dim = reduction->problem->contact[c].dim;
    double rows[2][3][6], turns[2][3][6];
    if (reduction->graph == NULL) {
        for (int d = 0; d < dim; d++)
            W[d] = reduction->W_diagonal[reduction->W_start[c] + (int64_t)d * (dim + 1)];
        return;
    }
    const sti_Alone *alone = sti_graph_alone(reduction->graph, c);
    for (int d = 0; alone != NULL && d < dim; d++)
        W[d] = alone->W[d * (dim + 1)];
    if (alone != NULL) return;
    sti_graph_rows(reduction->graph, c, rows);
    if (dim > 3) sti_graph_turn_rows(reduction->graph, c, turns);
    for (int d = 0; d < dim; d++) {
        W[d] = sti_graph_compliance(reduction->graph, c, d);
        for (int k = 0; k < 12; k++) {
            const double x = d < 3 ? rows[k / 6][d][k % 6] : turns[k / 6][d - 3][k % 6];
            W[d] += x * x;
        }
    }
}

void sti_slope_rho(const sti_Reduction *reduction, double *rho_out)
{
    const st_Problem *p = reduction->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int dim = contact->dim;
        double W[ST_MAX_DIM];
        diagonal_of(reduction, c, W);
        sti_Group group[1 + STI_MAX_GROUPS] = {{0, 1, 0.0}}; /* the normal first */
        const int n = contact->law == ST_LAW_CONE ? 0 : 1 + sti_law_groups(contact, group + 1);
        double *rho = rho_out + contact->first;
        for (int d = 0; d < dim; d++)
            rho[d] = reduction->graph != NULL ? sti_graph_rho(reduction->graph, c) : reduction->rho[c];
        for (int g = 0; g < n; g++) {
            const int end = group[g].first + group[g].count;
            double trace = 0.0;
            for (int d = group[g].first; d < end; d++)
                trace += W[d];
            for (int d = group[g].first; d < end && trace > 1e-6 / rho[d]; d++)
                rho[d] = group[g].count / trace;
        }
    }
}

static inline void multiply(const double *B, const double *X, const int n, const int m, double *out)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            double sum = 0.0;
            for (int l = 0; l < n; l++)
                sum += B[i * n + l] * X[l * m + k];
            out[i * m + k] = sum;
        }
}

void sti_slope_multiply(const double *B, const double *X, int n, int m, double *out)
{
    if (n == 3 && m == 3) /* unrolled */
        multiply(B, X, 3, 3, out);
    else if (n == 2 && m == 2)
        multiply(B, X, 2, 2, out);
    else
        multiply(B, X, n, m, out);
}
