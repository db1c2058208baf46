/* complementarity.c -- the public functions for linear complementarity problems, mixed or not.
 *
 *     z >= 0,  w = M z + q >= 0,  z'w = 0;    free rows: w_i = 0, z_i of any sign
 *
 * Lemke's method (lcp.h) is tried first; above LEMKE_FIRST rows the interior point method and newton come before it.
 * M need not be copositive here, so a ray of Lemke's method proves nothing by itself. If M belongs to none of the
 * classes that Lemke's method solves, homotopy (homotopy.c) and newton are tried last. If no solution is found and the
 * problem is small, all complementary bases are tried: for a set S of the rows that are not free, z_S follows from
 * w_S = 0 with the rest of z at 0. A set with a singular matrix and contradictory equations has no solution. If all
 * sets were tried, none gave a solution, and none was singular but consistent, then there is no solution at all
 * (Cottle, Pang & Stone 1992, section 1.3: every solution belongs to some S). Free rows belong to every set and are
 * eliminated once, before all sets: without z_F a problem of the pairs remains. If the matrix of the free rows is
 * singular (a row that is a condition on the pairs only), rows without a pivot are added to every set. All of this is
 * done in double-double arithmetic: to exclude a set by its signs, or because its equations contradict each other, is a
 * proof, and in double the z of a set that is nearly singular has only a few correct digits. */
#include "math/double_double.h"
#include "solve/lemke/lcp.h"

#include <stiction/friction.h>

/* Rows that are not free up to which all sets are looked at: 2^12 eliminations of that size. */
enum { ENUMERATE = 12 };
/* Multiplications that these may take, where free rows without a pivot go with every set: some seconds' worth. */
static const double most_products = 1e10;
/* Rows above which factors are tried before pivots: a pivot costs the square of n, and there are about n of them. */
enum { LEMKE_FIRST = 100 };
/* A pivot this small against the largest entry of the matrix is rounding: a z that it decides would be 1e20 times
 * larger than |q|/|M|.                                                                             */
static const double singular = 1e-20;
/* Equations of a singular set that disagree by more than this, against |q|, contradict each other. */
static const double contradiction = 1e-9;

typedef struct Work {
    double *M;       /* n x n, row-major                                                           */
    sti_Dd *matrix;  /* of the equations of one set, with the right-hand side: n x (n + 1)          */
    sti_Dd *tableau; /* (M | -q) with free rows eliminated: n x (n + 1)                             */
    sti_Dd *set;     /* z of one set                                                                */
    double *z, *w;
    int *pivot;             /* of a row that was eliminated: its column; else -1                   */
    int *rows, *columns;    /* of the set                                                          */
    bool *taken;            /* columns that were eliminated                                        */
    st_ContactLaw *contact; /* the rows as contacts                                                */
    int n_left;             /* free rows without a pivot                                           */
} Work;

typedef enum Verdict { SOLVES, EXCLUDED, UNDECIDED } Verdict;

#define BAD(...) sti_fail(err, ST_ERR_ARGUMENT, __VA_ARGS__)

st_Status sti_lcp_check(const st_LcpProblem *p, st_Error *err)
{
    if (p == NULL) return BAD("the complementarity problem is NULL");
    if (p->n < 0) return BAD("n is %d, must be >= 0", p->n);
    if (p->n == 0) return ST_OK;
    if (p->M.n_rows != p->n || p->M.n_cols != p->n || p->M.p == NULL)
        return BAD("M is %d x %d, must be %d x %d", p->M.n_rows, p->M.n_cols, p->n, p->n);
    if (p->q == NULL) return BAD("q is missing: NULL, expected %d numbers", p->n);
    for (int j = 0; j < p->n; j++) {
        if (!isfinite(p->q[j])) return BAD("q[%d] is %g, must be finite", j, p->q[j]);
        if (p->M.p[j] < 0 || p->M.p[j + 1] < p->M.p[j]) return BAD("M.p[%d] is less than the one before", j + 1);
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++) {
            if (p->M.i[e] < 0 || p->M.i[e] >= p->n)
                return BAD("M: column %d has row %d, must be 0 to %d", j, p->M.i[e], p->n - 1);
            if (!isfinite(p->M.x[e])) return BAD("M(%d, %d) is %g, must be finite", p->M.i[e], j, p->M.x[e]);
        }
    }
    return ST_OK;
}

static bool row_is_free(const st_LcpProblem *p, int i)
{
    return p->free != NULL && p->free[i];
}

/* The larger of the two errors of st_LcpError. w is work, n. */
static double error_of(const st_LcpProblem *p, const double *z, double *w)
{
    const double rho = sti_lcp_rho(p);
    double plain = 0.0, scaled = 0.0, scale = 0.0;
    for (int i = 0; i < p->n; i++)
        w[i] = p->q[i];
    for (int j = 0; j < p->n; j++)
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++)
            w[p->M.i[e]] += p->M.x[e] * z[j];
    for (int i = 0; i < p->n; i++) {
        const double miss = row_is_free(p, i) ? w[i] : fmin(z[i], w[i]);
        const double miss_rho = row_is_free(p, i) ? w[i] : fmin(z[i] / rho, w[i]);
        plain += miss * miss;
        scaled += miss_rho * miss_rho;
        scale += p->q[i] * p->q[i];
    }
    return sqrt(fmax(plain, scaled) / (scale > 0.0 ? scale : 1.0));
}

static void keep_better(const st_LcpProblem *p, const double *trial, double *z, double *w, st_LcpInfo *info)
{
    const double error = error_of(p, trial, w);
    if (!(error < info->error)) return;
    info->error = error;
    memcpy(z, trial, (size_t)p->n * sizeof *z);
}

/* a -= factor b, n numbers. */
static void subtract_row_dd(sti_Dd *a, sti_Dd factor, const sti_Dd *b, int64_t n)
{
    for (int64_t j = 0; j < n && factor.hi != 0.0; j++)
        a[j] = sti_dd_subtract(a[j], sti_dd_multiply(factor, b[j]));
}

/* Elimination with full row pivoting of the k equations in work->matrix (k x (k + 1)); the solution is in the last
 * column, by equation. False: singular; *consistent: the equations do not contradict each other. */
static bool eliminate(sti_Dd *a, int k, double size, double q_size, bool *consistent)
{
    const int width = k + 1;
    int rank = 0;
    *consistent = true;
    for (int column = 0; column < k; column++) {
        int best = rank;
        for (int i = rank; i < k; i++)
            if (fabs(a[i * width + column].hi) > fabs(a[best * width + column].hi)) best = i;
        if (rank >= k || fabs(a[best * width + column].hi) <= singular * size) continue;
        for (int j = 0; j < width; j++) {
            const sti_Dd x = a[best * width + j];
            a[best * width + j] = a[rank * width + j];
            a[rank * width + j] = x;
        }
        for (int i = 0; i < k; i++) {
            if (i == rank) continue;
            const sti_Dd factor = sti_dd_divide(a[i * width + column], a[rank * width + column]);
            subtract_row_dd(a + i * width + column, factor, a + rank * width + column, width - column);
        }
        rank++;
    }
    for (int i = rank; i < k; i++)
        if (fabs(a[i * width + k].hi) > contradiction * q_size) *consistent = false;
    for (int i = 0; i < rank && rank == k; i++)
        a[i * width + k] = sti_dd_divide(a[i * width + k], a[i * width + i]);
    return rank == k;
}

static bool mixed_is_cancelled(const st_LcpProblem *p)
{
    return p->cancel != NULL && p->cancel(p->cancel_ctx);
}

/* The largest entry in rows and columns that are free and have no pivot yet; false: there is none but rounding. */
static bool largest_pivot(const st_LcpProblem *p, const Work *work, double size, int *row, int *column)
{
    double largest = singular * size;
    *row = -1;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; row_is_free(p, i) && work->pivot[i] < 0 && j < p->n; j++) {
            const double x = fabs(work->tableau[(int64_t)i * (p->n + 1) + j].hi);
            if (!row_is_free(p, j) || work->taken[j] || !(x > largest)) continue;
            largest = x, *row = i, *column = j;
        }
    return *row >= 0;
}

/* Eliminates z_F from all rows (Gauss and Jordan): rows with a pivot give z_F from the rest of z. False: cancelled. */
static bool eliminate_free(const st_LcpProblem *p, Work *work, double size)
{
    const int64_t width = (int64_t)p->n + 1;
    int row, column;
    work->n_left = 0;
    for (int i = 0; i < p->n; i++) {
        work->pivot[i] = -1;
        work->taken[i] = false;
        work->n_left += row_is_free(p, i);
        for (int j = 0; j < p->n; j++)
            work->tableau[i * width + j] = sti_dd(work->M[(int64_t)i * p->n + j]);
        work->tableau[i * width + p->n] = sti_dd(-p->q[i]);
    }
    for (; largest_pivot(p, work, size, &row, &column); work->n_left--) {
        sti_Dd *from = work->tableau + row * width;
        const sti_Dd by = from[column];
        if (mixed_is_cancelled(p)) return false;
        work->pivot[row] = column, work->taken[column] = true;
        for (int64_t j = 0; j < width; j++)
            from[j] = sti_dd_divide(from[j], by);
        for (int i = 0; i < p->n; i++)
            if (i != row) subtract_row_dd(work->tableau + i * width, work->tableau[i * width + column], from, width);
    }
    return true;
}

/* Rows and columns of a set, free ones without a pivot first; how many. */
static int list_set(const st_LcpProblem *p, const Work *work, uint32_t set)
{
    int n_rows = 0, n_columns = 0, bit = 0;
    for (int i = 0; i < p->n; i++) {
        if (row_is_free(p, i) && work->pivot[i] < 0) work->rows[n_rows++] = i;
        if (row_is_free(p, i) && !work->taken[i]) work->columns[n_columns++] = i;
    }
    for (int i = 0; i < p->n; i++)
        if (!row_is_free(p, i) && (set >> bit++ & 1u) != 0) work->rows[n_rows++] = work->columns[n_columns++] = i;
    return n_rows;
}

/* The right-hand side of row i of the tableau, less the terms of the k known columns of the set. */
static double remainder_of(const st_LcpProblem *p, const Work *work, int i, int k)
{
    const sti_Dd *row = work->tableau + (int64_t)i * (p->n + 1);
    sti_Dd sum = row[p->n];
    for (int c = 0; c < k; c++)
        sum = sti_dd_subtract(sum, sti_dd_multiply(row[work->columns[c]], work->set[work->columns[c]]));
    return sti_dd_value(sum);
}

/* z of a set; how far its signs are off goes to *error. */
static Verdict try_set(const st_LcpProblem *p, const Work *work, uint32_t set, double size, double q_size, double rho,
                       double *error)
{
    const int k = list_set(p, work, set);
    for (int a = 0; a < k; a++) {
        const sti_Dd *row = work->tableau + (int64_t)work->rows[a] * (p->n + 1);
        for (int b = 0; b < k; b++)
            work->matrix[a * (k + 1) + b] = row[work->columns[b]];
        work->matrix[a * (k + 1) + k] = row[p->n];
    }
    bool consistent;
    memset(work->set, 0, (size_t)p->n * sizeof *work->set);
    if (!eliminate(work->matrix, k, size, q_size, &consistent)) return consistent ? UNDECIDED : EXCLUDED;
    for (int a = 0; a < k; a++)
        work->set[work->columns[a]] = work->matrix[a * (k + 1) + k];

    /* | min(z, w) | of the pairs, where all else is solved: w_i = -remainder. */
    double plain = 0.0, scaled = 0.0, scale = 0.0;
    for (int i = 0; i < p->n; i++) {
        const double z = sti_dd_value(work->set[i]), w = row_is_free(p, i) ? 0.0 : -remainder_of(p, work, i, k);
        const double miss = row_is_free(p, i) ? 0.0 : fmin(z, w), miss_rho = row_is_free(p, i) ? 0.0 : fmin(z / rho, w);
        plain += miss * miss;
        scaled += miss_rho * miss_rho;
        scale += p->q[i] * p->q[i];
    }
    *error = sqrt(fmax(plain, scaled) / (scale > 0.0 ? scale : 1.0));

    return SOLVES; /* if the signs are right */
}

/* All sets; z and info keep the best. */
static void enumerate(const st_LcpProblem *p, Work *work, double tolerance, double *z, double *w, st_LcpInfo *info)
{
    int pairs = 0;
    bool proved = true;
    double size = 0.0, q_size = 0.0;
    const double rho = sti_lcp_rho(p);
    for (int i = 0; i < p->n; i++) {
        pairs += row_is_free(p, i) ? 0 : 1;
        q_size = fmax(q_size, fabs(p->q[i]));
        for (int j = 0; j < p->n; j++)
            size = fmax(size, fabs(work->M[(int64_t)i * p->n + j]));
    }
    if (pairs > ENUMERATE || !eliminate_free(p, work, size)) return;
    if (ldexp(pow(work->n_left + pairs, 3.0), pairs) > most_products) return;
    for (uint32_t set = 0; set < 1u << pairs; set++) {
        if (mixed_is_cancelled(p)) return;
        double error = INFINITY;
        const Verdict verdict = try_set(p, work, set, size, q_size, rho, &error);
        info->pivots++;
        if (verdict == UNDECIDED) proved = false;
        if (error <= tolerance) proved = false; /* whether or not doubles can hold it */
        if (!(error < info->error)) continue;

        /* z of the rows that were eliminated, from those of the set. */
        const int k = list_set(p, work, set);
        for (int i = 0; i < p->n; i++)
            work->z[i] = sti_dd_value(work->set[i]);
        for (int i = 0; i < p->n; i++)
            if (work->pivot[i] >= 0) work->z[work->pivot[i]] = remainder_of(p, work, i, k);

        keep_better(p, work->z, z, w, info);
        if (info->error <= tolerance) return;
    }
    if (proved) info->outcome = ST_LCP_NO_SOLUTION;
}

/* Two solvers in a row, the second from where the first ended. */
typedef struct Pair {
    const char *solver[2];
    int iterations;
} Pair;

static const Pair before_lemke = {{"ipm", "newton"}, 150}, after_lemke = {{"homotopy", "newton"}, 1800};

/* The problem as contacts of one row: frictionless, and free ones bounded by nothing. Solvers that need no definite W
 * take it as it is. z and info keep the best.                                                      */
static st_Status solve_as_contacts(const st_LcpProblem *p, const Pair *pair, st_ContactLaw *contact, double tolerance,
                                   double *z, double *trial, double *w, st_LcpInfo *info, st_Error *err)
{
    const st_LocalProblem local = {.n_r = p->n, .n_contacts = p->n, .W = p->M, .b = p->q, .contact = contact};
    for (int i = 0; i < p->n; i++)
        contact[i] = row_is_free(p, i)
                         ? (st_ContactLaw){.law = ST_LAW_BOUNDED, .dim = 1, .first = i, .lo = -INFINITY, .hi = INFINITY}
                         : (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = i};
    memset(trial, 0, (size_t)p->n * sizeof *trial);
    for (int k = 0; k < 2 && !(info->error <= tolerance) && !mixed_is_cancelled(p); k++) {
        st_SolverDef def = st_solver_def();
        st_Solver *solver = NULL;
        st_SolveInfo solved = {0};
        def.name = pair->solver[k];
        def.tolerance = 0.1 * tolerance;
        def.max_iterations = pair->iterations;
        def.warm_start = k > 0;
        def.all_errors = true;
        def.cancel = p->cancel;
        def.cancel_ctx = p->cancel_ctx;
        STI_TRY(st_solver_create(&def, &solver, err));
        const st_Status status = st_solver_solve_local(solver, &local, &(st_Solution){.r = trial}, &solved, err);
        st_solver_destroy(solver);
        if (status != ST_OK && status != ST_ERR_NUMERIC) return status;
        if (status != ST_OK) continue; /* it ran away: nothing is lost */
        info->pivots += solved.iterations;
        keep_better(p, trial, z, w, info);
    }
    return ST_OK;
}

static st_Status solve_mixed(const st_LcpProblem *p, sti_Lcp *lcp, Work *work, double tolerance, double *z,
                             st_LcpInfo *info, st_Error *err)
{
    sti_LcpInfo lemke;
    const sti_LcpProblem dense = {
        .n = p->n, .M = work->M, .q = p->q, .free = p->free, .cancel = p->cancel, .cancel_ctx = p->cancel_ctx};
    double *w = work->w;
    for (int j = 0; j < p->n; j++)
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++)
            work->M[(int64_t)p->M.i[e] * p->n + j] += p->M.x[e];
    memset(z, 0, (size_t)p->n * sizeof *z);
    info->error = error_of(p, z, w);
    info->outcome = ST_LCP_FAILED;
    if (p->n > LEMKE_FIRST)
        STI_TRY(solve_as_contacts(p, &before_lemke, work->contact, tolerance, z, work->z, w, info, err));
    if (!(info->error <= tolerance)) {
        STI_TRY(sti_lcp_solve(lcp, &dense, 0, STI_LCP_ATTEMPTS - 1, work->z, &lemke, err));
        info->pivots += lemke.pivots;
        keep_better(p, work->z, z, w, info);
    }
    if (!(info->error <= tolerance)) enumerate(p, work, tolerance, z, w, info);
    if (!(info->error <= tolerance) && info->outcome != ST_LCP_NO_SOLUTION)
        STI_TRY(solve_as_contacts(p, &after_lemke, work->contact, tolerance, z, work->z, w, info, err));
    double margin = 0.0;
    if (!(info->error <= tolerance) && info->outcome != ST_LCP_NO_SOLUTION && !mixed_is_cancelled(p))
        STI_TRY(st_lcp_contradiction(p, &margin, err));
    if (margin > 0.0) info->outcome = ST_LCP_NO_SOLUTION;
    st_LcpError judged; /* the last word, with every digit */
    STI_TRY(st_lcp_error(p, z, NULL, &judged, err));
    info->error = fmax(judged.error, judged.error_rho);
    if (judged.certified <= tolerance) info->outcome = ST_LCP_SOLVED;
    return ST_OK;
}

st_Status st_lcp_solve(const st_LcpProblem *problem, double tolerance, double *z, st_LcpInfo *info, st_Error *err)
{
    STI_TRY(sti_lcp_check(problem, err));
    if (!(tolerance > 0.0)) return BAD("tolerance is %g, must be > 0", tolerance);
    if (z == NULL && problem->n > 0) return BAD("z is NULL, expected room for %d numbers", problem->n);
    st_LcpInfo found = {0};
    const st_Allocator allocator = st_default_allocator();
    const int64_t n = problem->n;
    sti_Lcp *lcp = NULL;
    Work work = {.n_left = 0};
    work.M = sti_alloc(&allocator, n * n + 1, sizeof *work.M);
    work.matrix = sti_alloc(&allocator, n * (n + 1) + 1, sizeof *work.matrix);
    work.tableau = sti_alloc(&allocator, n * (n + 1) + 1, sizeof *work.tableau);
    work.set = sti_alloc(&allocator, n + 1, sizeof *work.set);
    work.z = sti_alloc(&allocator, n + 1, sizeof *work.z);
    work.w = sti_alloc(&allocator, n + 1, sizeof *work.w);
    work.pivot = sti_alloc(&allocator, n + 1, sizeof *work.pivot);
    work.rows = sti_alloc(&allocator, n + 1, sizeof *work.rows);
    work.columns = sti_alloc(&allocator, n + 1, sizeof *work.columns);
    work.taken = sti_alloc(&allocator, n + 1, sizeof *work.taken);
    work.contact = sti_alloc(&allocator, n + 1, sizeof *work.contact);
    st_Status status = sti_lcp_create(&allocator, &lcp, err);
    if (status == ST_OK && (work.M == NULL || work.matrix == NULL || work.tableau == NULL || work.set == NULL ||
                            work.z == NULL || work.w == NULL || work.pivot == NULL || work.rows == NULL ||
                            work.columns == NULL || work.taken == NULL || work.contact == NULL))
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: a complementarity problem of size %d", problem->n);
    if (status == ST_OK && n > 0) status = solve_mixed(problem, lcp, &work, tolerance, z, &found, err);
    if (status == ST_OK && info != NULL) *info = found;
    sti_lcp_destroy(lcp);
    sti_free(&allocator, work.contact, n + 1, sizeof *work.contact);
    sti_free(&allocator, work.taken, n + 1, sizeof *work.taken);
    sti_free(&allocator, work.columns, n + 1, sizeof *work.columns);
    sti_free(&allocator, work.rows, n + 1, sizeof *work.rows);
    sti_free(&allocator, work.pivot, n + 1, sizeof *work.pivot);
    sti_free(&allocator, work.w, n + 1, sizeof *work.w);
    sti_free(&allocator, work.z, n + 1, sizeof *work.z);
    sti_free(&allocator, work.set, n + 1, sizeof *work.set);
    sti_free(&allocator, work.tableau, n * (n + 1) + 1, sizeof *work.tableau);
    sti_free(&allocator, work.matrix, n * (n + 1) + 1, sizeof *work.matrix);
    sti_free(&allocator, work.M, n * n + 1, sizeof *work.M);
    return status;
}

st_Status st_lcp_residual(const st_LcpProblem *problem, const double *z, double *error, st_Error *err)
{
    STI_TRY(sti_lcp_check(problem, err));
    if (error == NULL || (z == NULL && problem->n > 0)) return BAD("z or the error's destination is NULL");
    for (int i = 0; i < problem->n; i++)
        if (!isfinite(z[i])) return BAD("z[%d] is %g, must be finite", i, z[i]);
    const st_Allocator allocator = st_default_allocator();
    double *w = sti_alloc(&allocator, (int64_t)problem->n + 1, sizeof *w);
    if (w == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: the residual of %d rows", problem->n);
    *error = error_of(problem, z, w);
    sti_free(&allocator, w, (int64_t)problem->n + 1, sizeof *w);
    return ST_OK;
}
