/* one_contact_newton.c -- one contact by a semismooth Newton method: rolling and spinning friction (dim 4 to 6), and
 * the cone law if W is not symmetric.
 *
 * The law as equations (Alart & Curnier 1991), one normal row and one disc D_k each for sliding, rolling and
 * spinning (a segment), x_k = r_T, r_R, r_S, limits mu_k = mu, mu_roll, mu_spin:
 *
 *     F_n = r_n - max(0, r_n - rho_n w_n)                  w_n = u_n                     coulomb
 *     F_k = x_k - proj(x_k - rho_k u_k; |.| <= mu_k r_n)   w_n = u_n - sum mu_k |u_k|    cone
 *
 * with a rho for each block, since sliding and turning rows differ by the square of a length. (The cone law
 * K ∋ r _|_ u ∈ K* is Coulomb's law with the normal velocity lowered by the support of K's section.)
 * F is piecewise smooth. From a near start, Newton's method with a line search on |F| reaches rounding in a few
 * steps, and the last impulse is mostly near. From other starts it may fail. Then a slow method is used, which
 * always converges. For a given normal impulse n the friction
 *
 *     x(n):  x_k in mu_k n D,  u_k against x_k        (W_XX positive semi-definite: a monotone problem)
 *
 * is found disc by disc, each exactly by the scalar equation of one_contact.c, and the normal impulse is the
 * root of  g(n) = w_n(n, x(n)),  which is below 0 at n = 0 (else r = 0) and above 0 for large n.
 */
#include "problem/law.h"
#include "problem/one_contact.h"

enum {
    MAX_DIM = ST_MAX_DIM,
    MAX_STEPS = 40,
    MAX_HALVINGS = 12,
    DISC_SWEEPS = 100,
    MAX_DOUBLINGS = 60,
    MAX_BISECTIONS = 60
};

typedef struct Equations {
    const sti_Local *local;
    const double *b;
    int dim, n_discs;
    sti_Group disc[STI_MAX_GROUPS];
    double rho[1 + STI_MAX_GROUPS]; /* of the normal row and of each disc             */
    double relaxed;                 /* 1 for the cone law, 0 for coulomb              */
    double tolerance;               /* on |F|: rounding                               */
} Equations;

/* |x_k|, of an impulse or a velocity x of the whole contact. */
static double disc_length(const sti_Group *disc, const double *x)
{
    return sti_group_length(x + disc->first, disc->count);
}

static double normal_velocity(const Equations *e, const double *u)
{
    double w_n = u[0];
    for (int k = 0; k < e->n_discs; k++)
        w_n -= e->relaxed * e->disc[k].mu * disc_length(&e->disc[k], u);
    return w_n;
}

static Equations make_equations(const sti_Local *local, const double *b)
{
    const st_ContactLaw *contact = local->contact;
    const double *W = local->W;
    const int dim = contact->dim;
    Equations e = {.local = local, .b = b, .dim = dim, .relaxed = sti_law_of(contact)->shift == NULL};
    e.n_discs = sti_law_groups(contact, e.disc);
    e.rho[0] = 1.0 / W[0];
    for (int k = 0; k < e.n_discs; k++) {
        double trace = 0.0;
        for (int i = e.disc[k].first; i < e.disc[k].first + e.disc[k].count; i++)
            trace += W[i * dim + i];
        e.rho[1 + k] = trace > 0.0 ? e.disc[k].count / trace : e.rho[0];
    }
    /* The impulses in play: of the normal, and of a disc no more than the normal one allows. */
    const double normal = e.rho[0] * fmax(fabs(b[0]), fabs(normal_velocity(&e, b)));
    double size = normal;
    for (int k = 0; k < e.n_discs; k++)
        size = fmax(size, fmin(e.disc[k].mu * normal, e.rho[1 + k] * disc_length(&e.disc[k], b)));
    e.tolerance = 1e-15 * size;
    return e;
}

static void velocity_of_impulse(const Equations *e, const double *r, double *u)
{
    const int dim = e->dim;
    for (int i = 0; i < dim; i++) {
        u[i] = e->b[i];
        for (int j = 0; j < dim; j++)
            u[i] += e->local->W[i * dim + j] * r[j];
    }
}

/* dw_n/dr_j = W_nj less, for the cone law, mu_k u_k . W_kj/|u_k|. */
static double normal_slope(const Equations *e, const double *u, int j)
{
    const double *W = e->local->W;
    double slope = W[j];
    for (int k = 0; k < e->n_discs; k++) {
        const sti_Group *disc = &e->disc[k];
        const double speed = disc_length(disc, u);
        for (int i = disc->first; i < disc->first + disc->count && speed > 0.0; i++)
            slope -= e->relaxed * disc->mu * u[i] * W[i * e->dim + j] / speed;
    }
    return slope;
}

/* F_k and, on request, its rows of J. */
static void evaluate_disc(const Equations *e, int k, const double *r, const double *u, double *F, double (*J)[MAX_DIM])
{
    const sti_Group *disc = &e->disc[k];
    const int dim = e->dim, first = disc->first, n = disc->count;
    const double *W = e->local->W, rho = e->rho[1 + k], radius = disc->mu * fmax(0.0, r[0]);
    double z[2] = {0}, d[2] = {0};
    for (int a = 0; a < n; a++)
        z[a] = r[first + a] - rho * u[first + a];
    const double far = sti_group_length(z, n);
    const bool slips = far > radius;
    const double shrink = slips ? radius / far : 1.0;
    for (int a = 0; a < n; a++) {
        d[a] = slips ? z[a] / far : 0.0;
        F[first + a] = r[first + a] - shrink * z[a];
    }
    for (int j = 0; j < dim && J != NULL; j++) {
        double dz[2] = {0}, along = 0.0;
        for (int a = 0; a < n; a++) {
            dz[a] = (j == first + a) - rho * W[(first + a) * dim + j];
            along += d[a] * dz[a];
        }
        const double grow = j == 0 && r[0] > 0.0 ? disc->mu : 0.0;
        for (int a = 0; a < n; a++)
            J[first + a][j] = (j == first + a) - shrink * (dz[a] - along * d[a]) - (slips ? grow * d[a] : 0.0);
    }
}

/* F at r; also u, and on request J = dF/dr. Returns |F|. */
static double evaluate_equations(const Equations *e, const double *r, double *u, double *F, double (*J)[MAX_DIM])
{
    velocity_of_impulse(e, r, u);
    const double w_n = normal_velocity(e, u);
    const bool closed = r[0] - e->rho[0] * w_n > 0.0;
    double sum = 0.0;
    F[0] = closed ? e->rho[0] * w_n : r[0];
    for (int j = 0; j < e->dim && J != NULL; j++)
        J[0][j] = closed ? e->rho[0] * normal_slope(e, u, j) : (double)(j == 0);
    for (int k = 0; k < e->n_discs; k++)
        evaluate_disc(e, k, r, u, F, J);
    for (int i = 0; i < e->dim; i++)
        sum += F[i] * F[i];
    return sqrt(sum);
}

/* x <- inv(J) x, partial pivoting; false where J is singular. */
static bool solve_dense(int n, double (*J)[MAX_DIM], double *x)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(J[i][k]) > fabs(J[best][k])) best = i;
        if (!(fabs(J[best][k]) > 0.0)) return false;
        for (int j = 0; j < n; j++) {
            const double keep = J[k][j];
            J[k][j] = J[best][j];
            J[best][j] = keep;
        }
        const double keep = x[k];
        x[k] = x[best];
        x[best] = keep;
        for (int i = k + 1; i < n; i++) {
            const double factor = J[i][k] / J[k][k];
            for (int j = k; j < n; j++)
                J[i][j] -= factor * J[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= J[k][j] * x[j];
        x[k] /= J[k][k];
    }
    return true;
}

/* From r; returns |F| where it ends. */
static double newton(const Equations *e, double *r)
{
    double u[MAX_DIM], F[MAX_DIM], J[MAX_DIM][MAX_DIM], trial[MAX_DIM];
    double now = evaluate_equations(e, r, u, F, J);
    for (int step = 0; step < MAX_STEPS && now > e->tolerance; step++) {
        double d[MAX_DIM];
        memcpy(d, F, sizeof d);
        for (int i = 1; i < e->dim; i++)
            J[i][i] += 1e-10; /* proximal, for a singular W: F's rows are scaled to size 1 */
        if (!solve_dense(e->dim, J, d)) break;
        double then = INFINITY, part = 1.0;
        for (int k = 0; k < MAX_HALVINGS && !(then < now); k++, part *= 0.5) {
            for (int i = 0; i < e->dim; i++)
                trial[i] = r[i] - part * d[i];
            then = evaluate_equations(e, trial, u, F, J);
        }
        if (!(then < now)) break;
        memcpy(r, trial, sizeof(double) * (size_t)e->dim);
        now = then;
    }
    return now;
}

/* Disc k alone: the x_k that solves it for the given other impulses; a segment in closed form. */
static void solve_disc(const Equations *e, int k, const double *u, double *r)
{
    const int dim = e->dim, i = e->disc[k].first, n = e->disc[k].count;
    const double *row = e->local->W + i * dim + i, radius = e->disc[k].mu * r[0];
    const double prox = 1e-13 / e->rho[1 + k]; /* as in one_contact.c, of the disc's own part of W */
    sti_Slip disc = {.nu = radius};
    double x[2] = {0.0, 0.0}, same = radius;
    for (int a = 0; a < n; a++) { /* the velocity without x_k */
        disc.c[a] = u[i + a] - prox * r[i + a];
        for (int b = 0; b < n; b++)
            disc.c[a] -= row[a * dim + b] * r[i + b];
    }
    if (n == 1) {
        const double free = disc.c[0] != 0.0 ? -disc.c[0] / (row[0] + prox) : 0.0;
        r[i] = fmax(-radius, fmin(radius, free));
        return;
    }
    disc.S[0] = row[0] + prox, disc.S[1] = row[1], disc.S[2] = row[dim], disc.S[3] = row[dim + 1] + prox;
    if (radius > 0.0 && (disc.c[0] != 0.0 || disc.c[1] != 0.0)) {
        const bool inside = sti_local_solve2(disc.S, 0.0, disc.c, x) && sti_local_length(x[0], x[1]) <= radius;
        if (!inside) sti_local_slip_root(&disc, 1.0, x, &same);
    }
    r[i] = x[0];
    r[i + 1] = x[1];
}

/* r with r_n = n and friction x(n); returns g(n). Discs move each other: sweeps, until none moves. */
static double friction_of_normal(const Equations *e, double n, double *r)
{
    double u[MAX_DIM], before[MAX_DIM];
    bool moved = true;
    r[0] = n;
    for (int sweep = 0; sweep < DISC_SWEEPS && moved; sweep++) {
        memcpy(before, r, sizeof(double) * (size_t)e->dim);
        for (int k = 0; k < e->n_discs; k++) {
            velocity_of_impulse(e, r, u);
            solve_disc(e, k, u, r);
        }
        moved = e->n_discs > 1 && memcmp(before, r, sizeof(double) * (size_t)e->dim) != 0;
    }
    velocity_of_impulse(e, r, u);
    return normal_velocity(e, u);
}

void sti_local_newton(const sti_Local *local, const double *b, double *r)
{
    const st_ContactLaw *contact = local->contact;
    const int dim = contact->dim;
    double best[MAX_DIM] = {0};
    const Equations e = make_equations(local, b);
    if (local->W[0] <= 0.0 || normal_velocity(&e, b) >= 0.0) {
        memset(r, 0, sizeof(double) * (size_t)dim);
        return;
    }
    memcpy(best, r, sizeof(double) * (size_t)dim);
    const double reached = newton(&e, best);
    if (reached > e.tolerance) {
        double slow[MAX_DIM];

        /* Halve a bracket of the normal impulse; Newton's method is tried from every fourth point on. */
        double lo = 0.0, hi = -e.b[0] / e.local->W[0], x[MAX_DIM] = {0}, least = INFINITY;
        if (!(hi > 0.0)) hi = disc_length(&e.disc[0], e.b) * e.rho[1];
        for (int k = 0;
             k < MAX_DOUBLINGS && friction_of_normal(&e, hi, x) < -1e-13 * (fabs(e.b[0]) + e.local->W[0] * hi); k++) {
            lo = hi;
            hi *= 2.0;
        }
        for (int k = 0; k < MAX_BISECTIONS && least > e.tolerance; k++) {
            const double middle = 0.5 * (lo + hi);
            if (friction_of_normal(&e, middle, x) < 0.0)
                lo = middle;
            else
                hi = middle;
            if (k % 4 != 3) continue;
            double y[MAX_DIM];
            memcpy(y, x, sizeof y);
            const double size = newton(&e, y);
            if (size < least) {
                least = size;
                memcpy(slow, y, sizeof(double) * (size_t)e.dim);
            }
        }
        if (least < reached) memcpy(best, slow, sizeof(double) * (size_t)dim);
    }
    memcpy(r, best, sizeof(double) * (size_t)dim);

    /* Exactly inside the law's set. */
    r[0] = fmax(0.0, r[0]);
    for (int k = 0; k < e.n_discs; k++) {
        const double length = disc_length(&e.disc[k], r), radius = e.disc[k].mu * r[0];
        for (int a = 0; a < e.disc[k].count && length > radius; a++)
            r[e.disc[k].first + a] *= radius / length;
    }
}
