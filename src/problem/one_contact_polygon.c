/* one_contact_polygon.c -- one contact in space with friction bounded by a polygon: pyramid and box.
 *
 *     r_T in mu r_n P,  P = conv(d_1 .. d_m),  r_T maximises -u_T' r_T there,   0 <= r_n _|_ u_n >= 0
 *
 * P is the regular polygon of the pyramid's facets, or the square of the box (maximising over a square
 * is maximising in each coordinate, which is the box law). With the normal eliminated as in one_contact.c the
 * answer is stick, or on one of 2 m faces:
 *
 *     edge j     x on the line through mu r_n d_j, mu r_n d_j+1;  u_T along its inner normal
 *     vertex j   x = mu r_n d_j;                                  u_T in the cone between two such normals
 *
 * each a small linear system and a test. Tests begin with the face of the last impulse, so a settled contact needs
 * one or two. If all faces fail by rounding, the one that fails by least is used. A pyramid of 2 facets in space is
 * a segment, which is an edge in both directions; it needs no special case.
 */
#include "problem/law.h"
#include "problem/one_contact.h"

int sti_local_vertex_count(const st_ContactLaw *contact)
{
    const sti_LawKind *kind = sti_law_of(contact);
    return contact->dim == 3 && kind->polygon != NULL ? kind->polygon(contact, NULL) : 0;
}

void sti_local_vertices(const st_ContactLaw *contact, double *vertex)
{
    if (sti_local_vertex_count(contact) > 0) sti_law_of(contact)->polygon(contact, vertex);
}

static double dot2(const double a[2], const double b[2])
{
    return a[0] * b[0] + a[1] * b[1];
}

/* A face that was tried. */
typedef struct Try {
    double x[2], r_n;
    double excess; /* its error as an impulse; 0: it is the answer             */
} Try;

static void slip_velocity(const sti_Slip *s, const double x[2], double u[2])
{
    u[0] = s->S[0] * x[0] + s->S[1] * x[1] + s->c[0];
    u[1] = s->S[2] * x[0] + s->S[3] * x[1] + s->c[1];
}

/* Between vertices p and q: with t along the edge and a across it, outwards, c = a'p = a'q,
 *     a'x = mu c r_n = mu c (nu + m'x),     t'(S x + c_T) = 0.                                     */
static Try try_polygon_edge(const sti_Slip *s, double mu, double rho, const double p[2], const double q[2])
{
    Try out = {.excess = INFINITY};
    const double t[2] = {q[0] - p[0], q[1] - p[1]}, a[2] = {t[1], -t[0]}, c = dot2(a, p);
    const double tS[2] = {t[0] * s->S[0] + t[1] * s->S[2], t[0] * s->S[1] + t[1] * s->S[3]};
    const double rho_t = 1.0 / (fabs(tS[0]) + fabs(tS[1])); /* both rows of size 1, or the pivot misleads */
    const double row[4] = {a[0] - mu * c * s->m[0], a[1] - mu * c * s->m[1], rho_t * tS[0], rho_t * tS[1]};
    const double rhs[2] = {-mu * c * s->nu, rho_t * dot2(t, s->c)};
    if (!sti_local_solve2(row, 0.0, rhs, out.x)) return out;
    out.r_n = s->nu + dot2(s->m, out.x);
    if (!(out.r_n >= 0.0) || !isfinite(out.r_n)) return out;

    double u[2];
    slip_velocity(s, out.x, u);
    const double length = sqrt(dot2(t, t)), at = dot2(t, out.x);
    const double before = mu * out.r_n * dot2(t, p) - at, beyond = at - mu * out.r_n * dot2(t, q);
    out.excess = fmax(fmax(0.0, rho * dot2(a, u)), fmax(before, beyond)) / length;
    return out;
}

static Try try_vertex(const sti_Slip *s, double mu, double rho, const double p[2], const double d[2], const double q[2])
{
    Try out = {.excess = INFINITY};
    const double share = 1.0 - mu * dot2(s->m, d);
    if (!(share > 0.0)) return out;
    out.r_n = s->nu / share;
    out.x[0] = mu * out.r_n * d[0];
    out.x[1] = mu * out.r_n * d[1];
    if (!isfinite(out.r_n)) return out;

    double u[2];
    slip_velocity(s, out.x, u);
    const double to_p[2] = {p[0] - d[0], p[1] - d[1]}, to_q[2] = {q[0] - d[0], q[1] - d[1]};
    const double gain = fmax(-dot2(to_p, u), -dot2(to_q, u)); /* moving to a neighbour must not pay */
    out.excess = rho * fmax(0.0, gain) / sqrt(dot2(to_p, to_p));
    return out;
}

/* The vertex nearest to the direction `lean`. */
static int nearest_vertex(const sti_Local *local, const double lean[2])
{
    int best = 0;
    for (int j = 1; j < local->n_vertices; j++)
        if (dot2(lean, local->vertex + 2 * j) > dot2(lean, local->vertex + 2 * best)) best = j;
    return best;
}

/* Stick: u_T = 0 and x in mu r_n P, seen edge by edge. */
static bool polygon_sticks(const sti_Local *local, const sti_Slip *s, Try *out)
{
    const double mu = local->contact->mu;
    const int m = local->n_vertices;
    if (m == 2 || !sti_local_solve2(s->S, 0.0, s->c, out->x)) return false; /* a segment has no inside */
    out->r_n = s->nu + dot2(s->m, out->x);
    if (!(out->r_n >= 0.0)) return false;
    for (int j = 0; j < m; j++) {
        const double *p = local->vertex + 2 * j, *q = local->vertex + 2 * ((j + 1) % m);
        const double a[2] = {q[1] - p[1], p[0] - q[0]};
        if (dot2(a, out->x) > mu * out->r_n * dot2(a, p)) return false;
    }
    return true;
}

static Try slide(const sti_Local *local, const sti_Slip *s, const double lean[2])
{
    const double *W = local->W, mu = local->contact->mu, rho = 3.0 / (W[0] + W[4] + W[8]);
    const int m = local->n_vertices, start = nearest_vertex(local, lean);
    Try best = {.excess = INFINITY};
    for (int k = 0; k < 2 * m && best.excess > 0.0; k++) {
        const int j = (start + m - 1 + k / 2) % m; /* the edge before the start, the vertex after it, ... */
        const double *p = local->vertex + 2 * j, *d = local->vertex + 2 * ((j + 1) % m);
        const double *q = local->vertex + 2 * ((j + 2) % m);
        const Try face = k % 2 == 0 ? try_polygon_edge(s, mu, rho, p, d) : try_vertex(s, mu, rho, p, d, q);
        if (face.excess < best.excess) best = face;
    }
    return best;
}

void sti_local_polygon(const sti_Local *local, const double *b, double *r)
{
    const double lean[2] = {r[1], r[2]};
    if (b[0] >= 0.0 || local->W[0] <= 0.0) {
        r[0] = r[1] = r[2] = 0.0;
        return;
    }
    sti_Slip slip;
    Try face = {0};
    sti_local_eliminate_normal(local, b, r, &slip);
    if (!polygon_sticks(local, &slip, &face)) {
        const double against[2] = {-slip.c[0], -slip.c[1]};
        face = slide(local, &slip, lean[0] != 0.0 || lean[1] != 0.0 ? lean : against);
    }
    r[0] = face.r_n;
    r[1] = face.x[0];
    r[2] = face.x[1];
}
