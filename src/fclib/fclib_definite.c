/* fclib_definite.c -- is W positive semi-definite?
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

static double lanczos_dot(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

static void tridiagonalise(const st_Sparse *A, Lanczos *z)
{
    const int n = z->n;
    uint64_t state = 1;
    for (int k = 0; k < n; k++) { /* any start will do that is in no invariant subspace: the same one each time */
        state = state * 6364136223846793005u + 1442695040888963407u;
        z->basis[k] = (double)(state >> 40) / (double)(1 << 24) - 0.5;
    }
    double length = sqrt(lanczos_dot(z->basis, z->basis, n));
    for (int step = 0; step < STEPS && step < n; step++) {
        double *x = z->basis + (int64_t)step * n, *next = x + n;
        for (int k = 0; k < n; k++)
            x[k] /= length;

        /* y = (A + A')x/2. */
        memset(next, 0, (size_t)A->n_cols * sizeof *next);
        sti_sparse_add(A, x, next);
        sti_sparse_add_transposed(A, x, next);
        for (int k = 0; k < A->n_cols; k++)
            next[k] *= 0.5;

        z->alpha[step] = lanczos_dot(x, next, n);
        z->steps = step + 1;
        for (int pass = 0; pass < 2; pass++)
            for (int old = 0; old <= step; old++) {
                const double *b = z->basis + (int64_t)old * n, part = lanczos_dot(b, next, n);
                for (int k = 0; k < n; k++)
                    next[k] -= part * b[k];
            }
        length = sqrt(lanczos_dot(next, next, n));
        z->beta[step] = length;
        if (!(length > 1e-13 * fabs(z->alpha[0]))) return; /* an invariant subspace: T is all of it */
    }
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

        /* Eigenvalues of T below x, by Sturm's sequence. */
        int count = 0;
        double d = 1.0;
        for (int j = 0; j < z->steps; j++) {
            const double b = j > 0 ? z->beta[j - 1] : 0.0;
            d = z->alpha[j] - middle - (j > 0 ? b * b / d : 0.0);
            if (d == 0.0) d = -1e-300;
            if (d < 0.0) count++;
        }
        if (count > k)
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
