/* local_newton.c -- one contact by a semismooth Newton method: rolling friction (dim 5), and the cone law
 * where W is not symmetric.
 *
 * The law as equations (Alart & Curnier 1991), one normal row and one disc D_k each for sliding and
 * rolling, x_k = r_T, r_R, limits mu_k = mu, mu_roll:
 *
 *     F_n = r_n - max(0, r_n - rho_n w_n)                  w_n = u_n                     coulomb
 *     F_k = x_k - proj(x_k - rho_k u_k; |.| <= mu_k r_n)   w_n = u_n - sum mu_k |u_k|    cone
 *
 * with a rho for each block, since sliding and rolling rows differ by the square of a length. (The cone law
 * K ∋ r _|_ u ∈ K* is Coulomb's law with the normal velocity lowered by the support of K's section.)
 * F is piecewise smooth; Newton's method with a line search on |F| ends at rounding in a few steps when
 * it is near, and the last impulse mostly is. It is not sure to get near, so behind it stands a slow
 * method that does. For a given normal impulse n the friction
 *
 *     x(n):  x_k in mu_k n D,  u_k against x_k        (W_XX positive semi-definite: a monotone problem)
 *
 * is found disc by disc, each exactly by the scalar equation of local.c, and the normal impulse is the
 * root of  g(n) = w_n(n, x(n)),  which is below 0 at n = 0 (else r = 0) and above 0 for large n.
 */
#include "solve/law.h"
#include "solve/local.h"

enum { MAX_DIM = 5, MAX_STEPS = 40, MAX_HALVINGS = 12, DISC_SWEEPS = 100, MAX_DOUBLINGS = 60, MAX_BISECTIONS = 60 };

typedef struct Equations {
    const sti_Local *local;
    const double *b;
    int dim, n_discs;
    double limit[2];  /* mu_k                                           */
    double rho[3];    /* of the normal row and of each disc             */
    double relaxed;   /* 1 for the cone law, 0 for coulomb              */
    double tolerance; /* on |F|: rounding                               */
} Equations;

static double length2(const double *x)
{
    return sti_local_length(x[0], x[1]);
}

static Equations make_equations(const sti_Local *local, const double *b)
{
    const st_ContactLaw *contact = local->contact;
    const double *W = local->W;
    const int dim = contact->dim;
    Equations e = {.local = local,
                   .b = b,
                   .dim = dim,
                   .n_discs = (dim - 1) / 2,
                   .limit = {contact->mu, contact->mu_roll},
                   .relaxed = contact->law == ST_LAW_CONE};
    double size = 0.0;
    e.rho[0] = 1.0 / W[0];
    for (int k = 0; k < e.n_discs; k++) {
        const int i = 1 + 2 * k;
        const double trace = W[i * dim + i] + W[(i + 1) * dim + i + 1];
        e.rho[1 + k] = trace > 0.0 ? 2.0 / trace : e.rho[0];
        size = fmax(size, e.rho[1 + k] * length2(b + i));
    }
    e.tolerance = 1e-15 * fmax(size, e.rho[0] * fabs(b[0]));
    return e;
}

static void velocity(const Equations *e, const double *r, double *u)
{
    const int dim = e->dim;
    for (int i = 0; i < dim; i++) {
        u[i] = e->b[i];
        for (int j = 0; j < dim; j++)
            u[i] += e->local->W[i * dim + j] * r[j];
    }
}

static double normal_velocity(const Equations *e, const double *u)
{
    double w_n = u[0];
    for (int k = 0; k < e->n_discs; k++)
        w_n -= e->relaxed * e->limit[k] * length2(u + 1 + 2 * k);
    return w_n;
}

/* F at r; beside it u, and J = dF/dr when asked for. Returns |F|. */
static double evaluate(const Equations *e, const double *r, double *u, double *F, double (*J)[MAX_DIM])
{
    const int dim = e->dim;
    const double *W = e->local->W;
    velocity(e, r, u);
    const double w_n = normal_velocity(e, u);
    double sum = 0.0;
    const bool closed = r[0] - e->rho[0] * w_n > 0.0;
    F[0] = closed ? e->rho[0] * w_n : r[0];
    for (int j = 0; j < dim && J != NULL; j++) {
        double slope = W[j];
        for (int k = 0; k < e->n_discs; k++) {
            const int i = 1 + 2 * k;
            const double speed = length2(u + i);
            if (speed > 0.0)
                slope -= e->relaxed * e->limit[k] * (u[i] * W[i * dim + j] + u[i + 1] * W[(i + 1) * dim + j]) / speed;
        }
        J[0][j] = closed ? e->rho[0] * slope : (double)(j == 0);
    }
    for (int k = 0; k < e->n_discs; k++) {
        const int i = 1 + 2 * k;
        const double rho = e->rho[1 + k], z[2] = {r[i] - rho * u[i], r[i + 1] - rho * u[i + 1]};
        const double far = length2(z), radius = e->limit[k] * fmax(0.0, r[0]);
        const bool slips = far > radius;
        const double shrink = slips ? radius / far : 1.0, d[2] = {slips ? z[0] / far : 0.0, slips ? z[1] / far : 0.0};
        F[i] = r[i] - shrink * z[0];
        F[i + 1] = r[i + 1] - shrink * z[1];
        for (int j = 0; j < dim && J != NULL; j++) {
            const double dz[2] = {(j == i) - rho * W[i * dim + j], (j == i + 1) - rho * W[(i + 1) * dim + j]};
            const double along = d[0] * dz[0] + d[1] * dz[1], grow = j == 0 && r[0] > 0.0 ? e->limit[k] : 0.0;
            for (int a = 0; a < 2; a++)
                J[i + a][j] = (j == i + a) - shrink * (dz[a] - along * d[a]) - (slips ? grow * d[a] : 0.0);
        }
    }
    for (int i = 0; i < dim; i++)
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
    double now = evaluate(e, r, u, F, J);
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
            then = evaluate(e, trial, u, F, J);
        }
        if (!(then < now)) break;
        memcpy(r, trial, sizeof(double) * (size_t)e->dim);
        now = then;
    }
    return now;
}

/* Disc k alone: the x_k that solves it with all other impulses as they are. */
static void solve_disc(const Equations *e, int k, const double *u, double *r)
{
    const int dim = e->dim, i = 1 + 2 * k;
    const double *row = e->local->W + i * dim + i, radius = e->limit[k] * r[0], prox = e->local->prox;
    sti_Slip disc = {.S = {row[0] + prox, row[1], row[dim], row[dim + 1] + prox}, .nu = radius};
    double x[2] = {0.0, 0.0}, same = radius;
    for (int a = 0; a < 2; a++) /* what the velocity is without x_k */
        disc.c[a] = u[i + a] - row[a * dim] * r[i] - row[a * dim + 1] * r[i + 1] - prox * r[i + a];
    if (radius > 0.0 && (disc.c[0] != 0.0 || disc.c[1] != 0.0)) {
        const bool inside = sti_local_solve2(disc.S, 0.0, disc.c, x) && length2(x) <= radius;
        if (!inside) sti_local_slip_root(&disc, 1.0, x, &same);
    }
    r[i] = x[0];
    r[i + 1] = x[1];
}

/* r with r_n = n and friction x(n); returns g(n). */
static double friction_at(const Equations *e, double n, double *r)
{
    double u[MAX_DIM];
    r[0] = n;
    for (int sweep = 0; sweep < (e->n_discs == 1 ? 1 : DISC_SWEEPS); sweep++)
        for (int k = 0; k < e->n_discs; k++) {
            velocity(e, r, u);
            solve_disc(e, k, u, r);
        }
    velocity(e, r, u);
    return normal_velocity(e, u);
}

/* Halve a bracket of the normal impulse; Newton's method is tried from every fourth point on. */
static double bracketed(const Equations *e, double *r)
{
    double lo = 0.0, hi = -e->b[0] / e->local->W[0], x[MAX_DIM] = {0}, least = INFINITY;
    if (!(hi > 0.0)) hi = length2(e->b + 1) * e->rho[1];
    for (int k = 0; k < MAX_DOUBLINGS && friction_at(e, hi, x) < -1e-13 * (fabs(e->b[0]) + e->local->W[0] * hi); k++) {
        lo = hi;
        hi *= 2.0;
    }
    for (int k = 0; k < MAX_BISECTIONS && least > e->tolerance; k++) {
        const double middle = 0.5 * (lo + hi);
        if (friction_at(e, middle, x) < 0.0)
            lo = middle;
        else
            hi = middle;
        if (k % 4 != 3) continue;
        double y[MAX_DIM];
        memcpy(y, x, sizeof y);
        const double size = newton(e, y);
        if (size < least) {
            least = size;
            memcpy(r, y, sizeof(double) * (size_t)e->dim);
        }
    }
    return least;
}

/* Exactly inside the law's set. */
static void finish(const Equations *e, double *r)
{
    r[0] = fmax(0.0, r[0]);
    for (int k = 0; k < e->n_discs; k++) {
        double *x = r + 1 + 2 * k;
        const double length = length2(x), radius = e->limit[k] * r[0];
        if (length > radius) {
            x[0] *= radius / length;
            x[1] *= radius / length;
        }
    }
}

void sti_local_newton(const sti_Local *local, const double *b, double *r)
{
    const st_ContactLaw *contact = local->contact;
    const int dim = contact->dim;
    const double relaxed = contact->law == ST_LAW_CONE;
    const double roll = dim == 5 ? contact->mu_roll * length2(b + 3) : 0.0;
    double best[MAX_DIM] = {0};
    if (local->W[0] <= 0.0 || b[0] >= relaxed * (contact->mu * length2(b + 1) + roll)) {
        memset(r, 0, sizeof(double) * (size_t)dim);
        return;
    }
    const Equations e = make_equations(local, b);
    memcpy(best, r, sizeof(double) * (size_t)dim);
    const double reached = newton(&e, best);
    if (reached > e.tolerance) {
        double slow[MAX_DIM];
        if (bracketed(&e, slow) < reached) memcpy(best, slow, sizeof(double) * (size_t)dim);
    }
    memcpy(r, best, sizeof(double) * (size_t)dim);
    finish(&e, r);
}
