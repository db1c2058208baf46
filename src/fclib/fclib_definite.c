/* fclib_definite.c -- is W positive semi-definite, and can the problem have a solution at all?
 *
 * Lanczos' method with full reorthogonalisation (Golub & Van Loan 2013, section 10.1) on the symmetric part S of
 * W: in a Krylov space of up to STEPS vectors, S is a tridiagonal T whose eigenvalues lie between those
 * of S. A negative one is therefore a direction x with x'Sx < 0, up to the rounding of the projection.
 */
#include "fclib/fclib.h"

enum { STEPS = 80, BISECTIONS = 80 };

typedef struct Lanczos {
    int n, steps;
    double *basis; /* (STEPS + 1) n */
    double alpha[STEPS], beta[STEPS];
} Lanczos;

static double dot(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* y = (A + A')x/2. */
static void apply_symmetric(const st_Sparse *A, const double *x, double *y)
{
    memset(y, 0, (size_t)A->n_cols * sizeof *y);
    sti_sparse_add(A, x, y);
    sti_sparse_add_transposed(A, x, y);
    for (int k = 0; k < A->n_cols; k++)
        y[k] *= 0.5;
}

static void tridiagonalise(const st_Sparse *A, Lanczos *z)
{
    const int n = z->n;
    uint64_t state = 1;
    for (int k = 0; k < n; k++) { /* any start will do that is in no invariant subspace: the same one each time */
        state = state * 6364136223846793005u + 1442695040888963407u;
        z->basis[k] = (double)(state >> 40) / (double)(1 << 24) - 0.5;
    }
    double length = sqrt(dot(z->basis, z->basis, n));
    for (int step = 0; step < STEPS && step < n; step++) {
        double *x = z->basis + (int64_t)step * n, *next = x + n;
        for (int k = 0; k < n; k++)
            x[k] /= length;
        apply_symmetric(A, x, next);
        z->alpha[step] = dot(x, next, n);
        z->steps = step + 1;
        for (int pass = 0; pass < 2; pass++)
            for (int old = 0; old <= step; old++) {
                const double *b = z->basis + (int64_t)old * n, part = dot(b, next, n);
                for (int k = 0; k < n; k++)
                    next[k] -= part * b[k];
            }
        length = sqrt(dot(next, next, n));
        z->beta[step] = length;
        if (!(length > 1e-13 * fabs(z->alpha[0]))) return; /* an invariant subspace: T is all of it */
    }
}

/* Eigenvalues of T below x, by Sturm's sequence. */
static int count_below(const Lanczos *z, double x)
{
    int count = 0;
    double d = 1.0;
    for (int k = 0; k < z->steps; k++) {
        const double b = k > 0 ? z->beta[k - 1] : 0.0;
        d = z->alpha[k] - x - (k > 0 ? b * b / d : 0.0);
        if (d == 0.0) d = -1e-300;
        if (d < 0.0) count++;
    }
    return count;
}

/* The k-th eigenvalue of T from below (0 or steps - 1), by bisection. */
static double eigenvalue(const Lanczos *z, int k)
{
    double lo = 0.0, hi = 0.0;
    for (int i = 0; i < z->steps; i++) { /* Gershgorin */
        const double reach = (i > 0 ? z->beta[i - 1] : 0.0) + (i + 1 < z->steps ? z->beta[i] : 0.0);
        lo = fmin(lo, z->alpha[i] - reach);
        hi = fmax(hi, z->alpha[i] + reach);
    }
    for (int round = 0; round < BISECTIONS; round++) {
        const double middle = 0.5 * (lo + hi);
        if (count_below(z, middle) > k)
            hi = middle;
        else
            lo = middle;
    }
    return 0.5 * (lo + hi);
}

st_Status st_friction_lowest(const st_FrictionProblem *problem, double *relative, st_Error *err)
{
    STI_TRY(st_friction_check(problem, err));
    if (relative == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the destination is NULL");
    const st_Allocator a = st_default_allocator();
    const st_Sparse *A = problem->form == ST_FORM_LOCAL ? &problem->W : &problem->M;
    const int n = A->n_cols;
    const int64_t size = (int64_t)n * (STEPS + 1);
    Lanczos *z = sti_alloc(&a, 1, sizeof *z);
    double *basis = sti_alloc(&a, size, sizeof *basis);
    st_Status status = ST_OK;
    if (z == NULL || basis == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: eigenvalues of a matrix of %d rows", n);
    } else {
        z->n = n;
        z->basis = basis;
        tridiagonalise(A, z);
        const double low = eigenvalue(z, 0), high = eigenvalue(z, z->steps - 1);
        const double scale = fmax(fabs(low), fabs(high));
        *relative = scale > 0.0 ? low / scale : 0.0;
    }
    sti_free(&a, basis, size, sizeof *basis);
    sti_free(&a, z, 1, sizeof *z);
    return status;
}

/* ------------------------------------------------------------------ no solution */

enum { DESCENTS = 4000 };
/* Of the proof: how far -W'y may be outside the dual cones, against |W'| |y| of the columns used, and how clearly
 * q.y must be negative, against |q| |y|.                                                            */
static const double proof_slack = 1e-9, proof_margin = 1e-6;

/* How far g is from the dual cone K* = { g_n >= mu |g_T| + mu_r |g_R| + mu_s |g_S| }. */
static double dual_gap(const st_FrictionProblem *p, int c, const double *g)
{
    const int n_t = p->dim == 2 ? 1 : 2, n_roll = p->dim >= 5 ? 2 : 0;
    double least = p->mu[c] * sqrt(dot(g + 1, g + 1, n_t));
    if (n_roll > 0) least += p->mu_roll[c] * sqrt(dot(g + 3, g + 3, n_roll));
    if (p->dim == 4 || p->dim == 6) least += p->mu_spin[c] * fabs(g[p->dim - 1]);
    return fmax(0.0, least - g[0]);
}

/* y on the normals >= 0; g = W'y. r . g <= 0 for all r in K asks for -g in K*. */
static double proof(const st_FrictionProblem *p, const double *y, double *g)
{
    const int n = p->dim * p->n_contacts;
    double qy = 0.0, worst = 0.0, size = 0.0;
    memset(g, 0, (size_t)n * sizeof *g);
    sti_sparse_add_transposed(&p->W, y, g);
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int64_t e = p->W.p[j]; e < p->W.p[j + 1]; e++)
            sum += fabs(p->W.x[e] * y[p->W.i[e]]);
        size = fmax(size, sum);
        qy += p->q[j] * y[j];
    }
    for (int c = 0; c < p->n_contacts; c++) {
        double minus[ST_MAX_DIM] = {0};
        for (int k = 0; k < p->dim; k++)
            minus[k] = -g[c * p->dim + k];
        worst = fmax(worst, dual_gap(p, c, minus));
    }
    const double scale = sqrt(dot(p->q, p->q, n) * dot(y, y, n));
    if (!(dot(y, y, n) > proof_slack * proof_slack * dot(p->q, p->q, n))) return 0.0; /* y is rounding */
    if (!(qy < -proof_margin * scale) || worst > proof_slack * size) return 0.0;
    return -qy / scale;
}

/* Penetration left over when impulses, cones or not, push as well as they can: minimise |min(0, u_n)|^2 over all r,
 * by conjugate gradients on the rows that penetrate. What is left is y.                             */
static void least_penetration(const st_FrictionProblem *p, double *r, double *u, double *y, double *g, double *d)
{
    const int n = p->dim * p->n_contacts;
    double before = 0.0;
    memset(r, 0, (size_t)n * sizeof *r);
    memset(d, 0, (size_t)n * sizeof *d);
    for (int round = 0; round < DESCENTS; round++) {
        memcpy(u, p->q, (size_t)n * sizeof *u);
        sti_sparse_add(&p->W, r, u);
        for (int j = 0; j < n; j++)
            y[j] = j % p->dim == 0 ? fmax(0.0, -u[j]) : 0.0;
        memset(g, 0, (size_t)n * sizeof *g);
        sti_sparse_add_transposed(&p->W, y, g); /* the way down */
        const double now = dot(g, g, n);
        if (!(now > 1e-26 * dot(y, y, n))) return;
        for (int j = 0; j < n; j++)
            d[j] = g[j] + (round % 50 > 0 && before > 0.0 ? now / before * d[j] : 0.0);
        before = now;
        memset(u, 0, (size_t)n * sizeof *u);
        sti_sparse_add(&p->W, d, u);
        double curvature = 0.0;
        for (int j = 0; j < n; j += p->dim)
            if (y[j] > 0.0 || u[j] < 0.0) curvature += u[j] * u[j];
        const double slope = dot(g, d, n);
        if (!(curvature > 0.0) || !(slope > 0.0)) return;
        for (int j = 0; j < n; j++)
            r[j] += slope / curvature * d[j];
    }
}

st_Status st_friction_contradiction(const st_FrictionProblem *problem, double *margin, st_Error *err)
{
    STI_TRY(st_friction_check(problem, err));
    if (margin == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the destination is NULL");
    *margin = 0.0;
    if (problem->form != ST_FORM_LOCAL || problem->n_l > 0) return ST_OK;
    const st_Allocator a = st_default_allocator();
    const int64_t n = (int64_t)problem->dim * problem->n_contacts;
    double *work = sti_alloc(&a, 5 * n, sizeof *work);
    if (work == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: %lld rows", (long long)n);
    least_penetration(problem, work, work + n, work + 2 * n, work + 3 * n, work + 4 * n);
    *margin = proof(problem, work + 2 * n, work + 3 * n);
    sti_free(&a, work, 5 * n, sizeof *work);
    return ST_OK;
}
