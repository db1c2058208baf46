/* Lemke's method for   w = M z + q,   z, w >= 0,   z'w = 0.
 *
 * Lemke 1965; Cottle, Pang & Stone, The Linear Complementarity Problem, section 4.4 (the method)
 * and 4.9 (lexicographic degeneracy resolution). A covering vector d > 0 and an artificial z_0 make
 *
 *     w = M z + d z_0 + q
 *
 * feasible; z_0 enters against the most negative row, and from then on the complement of the variable that left
 * enters, until z_0 leaves (a solution) or nothing blocks (a ray). In exact numbers that is all there
 * is, and for copositive M a ray means that there is no solution.
 *
 * In floating point we make up to STI_LCP_ATTEMPTS attempts. The first is the textbook: d = 1, ties broken
 * by the lexicographic order. Large redundant friction problems pass through bases of condition
 * 1e10 and beyond, where rounding picks wrong pivots; the attempts after it take the path again
 *   - with columns and values refined to their last digit (lcp_basis.h, careful), so that pivots are those
 *     of exact arithmetic;
 *   - with other, irregular d, along which the ties of symmetric facets and twin contacts do not arise;
 *   - with M_ii (1 + share) for M_ii: rounding leaves a semi-definite M with eigenvalues of either sign
 *     near 1e-17, and that much makes it copositive again. Once the basis is known the exact M is used.
 *
 * Free rows (w_i = 0, z_i of any sign) are pivoted into the basis before the start and never looked at again
 * by the ratio test: the block pivot that eliminates them. Which free variable goes in for which free row does not
 * matter. Where their own block is singular (circuits: a node that only diodes hold) complementary variables
 * help them in. Those that still depend on others stay out, with z_i = 0.
 */
#include "solve/lemke/lcp.h"

#include "solve/lemke/lcp_basis.h"

#define REFRESH_PIVOTS   20    /* plain values are recomputed from q after this many updates */
#define GOOD_ERROR       2e-14 /* max |min(z, w)|, with max |q| = 1, of a solution that needs no more  */
#define SOLVED_ERROR     1e-6  /* a larger error is not a solution: M_ii (1 + share) may have solutions if M has none */
#define ROUNDING_SHARE   0.05  /* an error of 1e-15 in the terms of a row is rounding: 2e-14 / 0.05     */
#define NEGLIGIBLE_COVER 1e-9  /* from here on z_0 may be no more than rounding: look at z without it  */
#define DEPENDENT        1e-11 /* pivot of a free row that depends on those before                    */

typedef struct Candidate {
    int variable;
    double value; /* of the basic variable                                                         */
    double rate;  /* how fast it falls as the entering variable grows; > 0                         */
    double lex;   /* scratch of the tie break                                                      */
} Candidate;

/* The tolerances of an attempt. */
typedef struct Tolerances {
    double rate;         /* of a candidate, against 1 and 1e-3 of the largest rate                  */
    double tie, tie_own; /* of values at the end of a step: relative to 1, and to the value before */
} Tolerances;

struct sti_Lcp {
    st_Allocator allocator;
    int n;
    sti_LcpBasis basis;
    Tolerances tolerances;
    const bool *free;              /* n, or NULL                                                    */
    const sti_LcpProblem *problem; /* while it is solved                                            */

    double *numbers;          /* the vectors below, n + 1 padded as in the basis                     */
    double *q, *scale;        /* the exact scaled q; the scaling                                     */
    double *diagonal, *added; /* of the exact scaled M, and the part that the attempt has added */
    double *z, *best_z;       /* of the present basis, and of the best one so far                    */
    Candidate *candidate;
    int64_t numbers_capacity, candidate_capacity;
};

/* ---- memory ---------------------------------------------------------------------------------- */

st_Status sti_lcp_create(const st_Allocator *allocator, sti_Lcp **out, st_Error *err)
{
    sti_Lcp *lcp = sti_alloc(allocator, 1, sizeof *lcp);
    if (lcp == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: the workspace of Lemke's method");
    lcp->allocator = *allocator;
    *out = lcp;
    return ST_OK;
}

void sti_lcp_destroy(sti_Lcp *lcp)
{
    if (lcp == NULL) return;
    st_Allocator allocator = lcp->allocator;
    sti_lcp_basis_release(&lcp->basis, &allocator);
    STI_RELEASE(&allocator, lcp->numbers, lcp->numbers_capacity);
    STI_RELEASE(&allocator, lcp->candidate, lcp->candidate_capacity);
    sti_free(&allocator, lcp, 1, sizeof *lcp);
}

static bool lcp_is_free(const sti_Lcp *lcp, int index)
{
    return lcp->free != NULL && index < lcp->n && lcp->free[index];
}

static bool lcp_is_cancelled(const sti_LcpProblem *problem)
{
    return problem->cancel != NULL && problem->cancel(problem->cancel_ctx);
}

/* ---- the ratio test -------------------------------------------------------------------------- */

static void add_candidate(sti_Lcp *lcp, int *count, int variable, double value, double rate)
{
    lcp->candidate[(*count)++] = (Candidate){.variable = variable, .value = value, .rate = rate};
}

/* Basic variables that fall (direction -1) or rise (+1) with the entering one; free ones never count. */
static int collect_candidates(sti_Lcp *lcp, double direction)
{
    const sti_LcpBasis *basis = &lcp->basis;
    int count = 0;
    double largest = fmax(sti_lcp_max_abs(basis->k, basis->x_rate), sti_lcp_max_abs(basis->n, basis->w_rate));
    double bound = lcp->tolerances.rate * fmax(1.0, 1e-3 * largest);
    for (int slot = 0; slot < basis->k; slot++)
        if (direction * basis->x_rate[slot] > bound && !lcp_is_free(lcp, basis->column_of[slot]))
            add_candidate(lcp, &count, basis->column_of[slot], basis->x[slot], direction * basis->x_rate[slot]);
    for (int l = 0; l < basis->n; l++)
        if (direction * basis->w_rate[l] > bound && basis->row_slot[l] < 0 && !lcp_is_free(lcp, l))
            add_candidate(lcp, &count, basis->n + 1 + l, basis->w[l], direction * basis->w_rate[l]);
    return count;
}

/* Keeps the candidates with the smallest ratio of the entry in column j of the inverse basis to the rate. */
static int filter_by_column(sti_Lcp *lcp, int count, int j)
{
    Candidate *candidate = lcp->candidate;
    int kept = 0;
    if (lcp->basis.row_slot[j] < 0) { /* w_j is basic: a unit column, and only its own row is above 0 */
        for (int i = 0; i < count; i++)
            if (candidate[i].variable != lcp->n + 1 + j) candidate[kept++] = candidate[i];
        return kept;
    }
    double least = INFINITY, largest = 1.0;
    sti_lcp_basis_gather(&lcp->basis, j);
    for (int i = 0; i < count; i++) {
        candidate[i].lex = sti_lcp_basis_inverse_entry(&lcp->basis, candidate[i].variable) / candidate[i].rate;
        least = fmin(least, candidate[i].lex);
        largest = fmax(largest, fabs(candidate[i].lex));
    }
    for (int i = 0; i < count; i++)
        if (candidate[i].lex <= least + 1e-11 * largest) candidate[kept++] = candidate[i];
    return kept;
}

/* The variable that leaves: lexicographic least of [value, row of the inverse basis] / rate. z_0 goes
 * whenever it ties. -1: nothing blocks.                                                           */
static int choose_leaving(sti_Lcp *lcp, int count)
{
    Candidate *candidate = lcp->candidate;
    const Tolerances *tolerances = &lcp->tolerances;
    double least = INFINITY, largest = fmax(1.0, 1e-3 * sti_lcp_max_abs(lcp->basis.k, lcp->basis.x));
    for (int i = 0; i < count; i++)
        least = fmin(least, candidate[i].value / candidate[i].rate);
    int tied = 0;
    for (int i = 0; i < count; i++) {
        double left = candidate[i].value - least * candidate[i].rate; /* at the end of the step */
        if (left > tolerances->tie * largest + tolerances->tie_own * fabs(candidate[i].value)) continue;
        if (candidate[i].variable == lcp->n) return lcp->n;
        candidate[tied++] = candidate[i];
    }
    for (int j = 0; j < lcp->n && tied > 1; j++)
        tied = filter_by_column(lcp, tied, j);
    int best = 0; /* more than one is left only when rounding hides the difference */
    for (int i = 1; i < tied; i++)
        if (candidate[i].rate > candidate[best].rate) best = i;
    return tied > 0 ? candidate[best].variable : -1;
}

/* ---- the method ------------------------------------------------------------------------------ */

/* The row (free or not) with a basic w that changes most with the entering variable; -1: none above rounding. `own` if
 * it is almost the largest. */
static int most_moved(const sti_Lcp *lcp, bool free_rows, int own)
{
    const sti_LcpBasis *basis = &lcp->basis;
    double most = DEPENDENT;
    int best = -1;
    for (int l = 0; l < lcp->n; l++) {
        if (basis->row_slot[l] >= 0 || lcp_is_free(lcp, l) != free_rows) continue;
        if (!free_rows && basis->column_slot[l] >= 0) continue; /* its z has been used already */
        const double rate = fabs(basis->w_rate[l]) * (l == own ? 10.0 : 1.0);
        if (rate > most) {
            most = rate;
            best = l;
        }
    }
    return best;
}

/* Pivots the free z_i into the basis for a free row. If it changes none of them, it enters for a w_k, and z_k then
 * enters for a free row: a block pivot on i and k, after which the basis is complementary again. False: singular. */
static bool enter_free(sti_Lcp *lcp, int i, bool through_others)
{
    sti_LcpBasis *basis = &lcp->basis;
    const int w = lcp->n + 1;
    if (!sti_lcp_basis_column(basis, i)) return false;
    const int row = most_moved(lcp, true, i);
    if (row >= 0) {
        sti_lcp_basis_exchange(basis, i, w + row);
        return true;
    }
    const int k = through_others ? most_moved(lcp, false, -1) : -1;
    if (k < 0) return true; /* it stays out, z_i = 0 */
    sti_lcp_basis_exchange(basis, i, w + k);
    if (!sti_lcp_basis_column(basis, k)) return false;
    const int rest = most_moved(lcp, true, -1);
    if (rest >= 0)
        sti_lcp_basis_exchange(basis, k, w + rest);
    else
        sti_lcp_basis_exchange(basis, w + k, i); /* as it was */
    return true;
}

/* How fast z_0 lifts the variable with this index: 1 in the first attempt, then irregular numbers near it. */
static double cover_rate(int attempt, int index)
{
    if (attempt == 0) return 1.0;
    uint32_t hash = (uint32_t)(index + 1) * 2654435761u ^ (uint32_t)attempt * 40503u;
    hash = (hash ^ (hash >> 15)) * 2246822519u;
    return 0.5 + (double)((hash ^ (hash >> 13)) >> 8) * 0x1p-24;
}

/* Is the present basis that of a solution as good as can be? The best one is kept. */
static bool good_solution(sti_Lcp *lcp, sti_LcpInfo *info)
{
    double excused;
    /* z >= 0 of the current basis without z_0, and its error from the exact M and q: max over the rows of |min(z_i,
     * w_i)|. excused is the error less the part that rounding of a large M z explains. */
    const sti_LcpBasis *basis = &lcp->basis;
    double *z = lcp->z, *w = basis->work, *size = basis->row, error = 0.0;
    memset(z, 0, (size_t)basis->pad * sizeof *z);
    memset(size, 0, (size_t)basis->pad * sizeof *size);
    memcpy(w, lcp->q, (size_t)basis->pad * sizeof *w);
    for (int slot = 0; slot < basis->k; slot++) {
        int column = basis->column_of[slot];
        if (column == lcp->n) continue;
        z[column] = lcp_is_free(lcp, column) ? basis->x[slot] : fmax(basis->x[slot], 0.0);
        const double *M = basis->M + column * basis->pad;
        sti_lcp_add_multiple(basis->pad, z[column], M, w);
        for (int i = 0; i < lcp->n; i++)
            size[i] += fabs(M[i] * z[column]);
    }
    excused = 0.0;
    for (int i = 0; i < lcp->n; i++) {
        w[i] -= lcp->added[i] * z[i];
        double miss = fabs(lcp_is_free(lcp, i) ? w[i] : fmin(z[i], w[i]));
        error = fmax(error, miss);
        excused = fmax(excused, miss / fmax(1.0, ROUNDING_SHARE * size[i]));
    }

    if (error < info->error) {
        info->error = error;
        memcpy(lcp->best_z, lcp->z, (size_t)lcp->n * sizeof *lcp->best_z);
    }
    return error <= SOLVED_ERROR && excused <= GOOD_ERROR;
}

/* From a complementary basis without z_0 to one that is feasible. */
static sti_LcpOutcome pivot_to_feasible(sti_Lcp *lcp, int attempt, sti_LcpInfo *info)
{
    sti_LcpBasis *basis = &lcp->basis;
    int n = lcp->n, entering = n, limit = 1000 + 20 * n, refresh = basis->careful ? 1 : REFRESH_PIVOTS;
    double cover = NEGLIGIBLE_COVER;
    double least = 0.0;
    for (int slot = 0; slot < basis->k; slot++)
        if (!lcp_is_free(lcp, basis->column_of[slot])) least = fmin(least, basis->x[slot]);
    for (int l = 0; l < lcp->n; l++)
        if (basis->row_slot[l] < 0 && !lcp_is_free(lcp, l)) least = fmin(least, basis->w[l]);
    if (least >= 0.0) return STI_LCP_SOLVED;

    /* The covering vector d with which z_0 lifts every basic variable, free ones aside, at its cover_rate. At the start
     * of a problem without free rows that is d = cover_rate.                                          */
    double *d = basis->M + lcp->n * basis->pad;
    memset(d, 0, (size_t)basis->pad * sizeof *d);
    for (int l = 0; l < lcp->n; l++)
        if (basis->row_slot[l] < 0 && !lcp_is_free(lcp, l)) d[l] = cover_rate(attempt, l);
    for (int slot = 0; slot < basis->k; slot++) {
        int column = basis->column_of[slot];
        if (lcp_is_free(lcp, column)) continue;
        sti_lcp_add_multiple(basis->pad, -cover_rate(attempt, column), basis->M + column * basis->pad, d);
    }

    for (int count = 0; count < limit && !lcp_is_cancelled(lcp->problem); count++) {
        if (count > 0 && count % refresh == 0 && !sti_lcp_basis_values(basis)) return STI_LCP_LIMIT;
        if (!sti_lcp_basis_column(basis, entering)) return STI_LCP_LIMIT;
        int leaving = choose_leaving(lcp, collect_candidates(lcp, count == 0 ? 1.0 : -1.0));
        if (leaving < 0) return STI_LCP_RAY;
        sti_lcp_basis_pivot(basis, entering, leaving);
        info->pivots++;
        if (leaving == n) return sti_lcp_basis_values(basis) ? STI_LCP_SOLVED : STI_LCP_LIMIT;
        if (basis->x[basis->column_slot[n]] < 0.5 * cover) { /* rounding may hide that it should leave */
            cover = basis->x[basis->column_slot[n]];
            if (good_solution(lcp, info)) return STI_LCP_SOLVED;
        }
        entering = leaving < n ? leaving + n + 1 : leaving - n - 1;
    }
    return STI_LCP_LIMIT;
}

/* M_ii (1 + share) for M_ii. */
static void regularise(sti_Lcp *lcp, double share)
{
    for (int i = 0; i < lcp->n; i++) {
        double *entry = &lcp->basis.M[i * lcp->basis.pad + i];
        *entry = lcp->diagonal[i] * (1.0 + share);
        lcp->added[i] = *entry - lcp->diagonal[i];
    }
}

/* One attempt; *good: no other can do better. */
static sti_LcpOutcome attempt_once(sti_Lcp *lcp, int attempt, sti_LcpInfo *info, bool *good)
{
    static const double shares[STI_LCP_ATTEMPTS] = {0.0, 0.0, 0.0, 1e-13, 1e-12};
    sti_LcpBasis *basis = &lcp->basis;
    basis->careful = attempt > 0;
    lcp->tolerances = attempt == 0 ? (Tolerances){.rate = 1e-11, .tie = 1e-11, .tie_own = 1e-11}
                                   : (Tolerances){.rate = 1e-18, .tie = 1e-24, .tie_own = 1e-14};
    regularise(lcp, shares[attempt]);
    memcpy(basis->q, lcp->q, (size_t)basis->pad * sizeof *basis->q);
    *good = false;

    /* All w basic, then the free rows out of the way: those that free variables move first. */
    sti_lcp_basis_clear(basis);
    for (int pass = 0; pass < 2 && lcp->free != NULL; pass++)
        for (int i = 0; i < lcp->n; i++)
            if (lcp_is_free(lcp, i) && basis->column_slot[i] < 0 && !enter_free(lcp, i, pass == 1))
                return STI_LCP_LIMIT;
    if (!sti_lcp_basis_values(basis)) return STI_LCP_LIMIT;

    sti_LcpOutcome outcome = pivot_to_feasible(lcp, attempt, info);
    if (outcome != STI_LCP_SOLVED) return outcome;
    *good = good_solution(lcp, info);
    if (*good) return outcome;

    /* The basis is that of a solution; its values with the exact M and every digit. */
    basis->careful = true;
    regularise(lcp, 0.0);
    if (sti_lcp_basis_rebuild(basis) && sti_lcp_basis_values(basis)) *good = good_solution(lcp, info);
    return outcome;
}

/* ---- the problem ----------------------------------------------------------------------------- */

double sti_lcp_scale(double a)
{
    return exp2(-round(0.5 * log2(a)));
}

static bool all_finite(int64_t n, const double *a)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += 0.0 * a[i];
    return sum == 0.0;
}

/* The scaled problem into the workspace; returns max |scaled q|, by which q is divided. */
static double load_scaled(sti_Lcp *lcp, const sti_LcpProblem *problem)
{
    int64_t n = lcp->n, pad = lcp->basis.pad;
    if (problem->scale != NULL)
        memcpy(lcp->scale, problem->scale, (size_t)n * sizeof *lcp->scale);
    else {
        /* Symmetric scaling, z = D z~, w = inv(D) w~: diagonal entries become 1; rows without a diagonal entry are
         * scaled by their other entries. */
        const double *M = problem->M;
        double *first = lcp->z; /* from the diagonal, 1 where there is none */
        for (int64_t i = 0; i < n; i++)
            first[i] = M[i * n + i] > 0.0 ? sti_lcp_scale(M[i * n + i]) : 1.0;
        for (int64_t i = 0; i < n; i++) {
            double largest = 0.0;
            for (int64_t j = 0; j < n && !(M[i * n + i] > 0.0); j++)
                largest = fmax(largest, fmax(fabs(M[i * n + j]), fabs(M[j * n + i])) * first[j]);
            lcp->scale[i] = largest > 0.0 ? sti_lcp_scale(largest * largest) : first[i];
        }
    }
    memset(lcp->q, 0, (size_t)pad * sizeof *lcp->q);
    for (int64_t i = 0; i < n; i++)
        lcp->q[i] = lcp->scale[i] * problem->q[i];
    double size = sti_lcp_max_abs(n, lcp->q);
    for (int64_t i = 0; i < n && size > 0.0; i++)
        lcp->q[i] /= size;
    for (int64_t j = 0; j < n; j++) {
        double *column = lcp->basis.M + j * pad;
        memset(column, 0, (size_t)pad * sizeof *column);
        for (int64_t i = 0; i < n; i++)
            column[i] = lcp->scale[i] * problem->M[i * n + j] * lcp->scale[j];
        lcp->diagonal[j] = column[j];
    }
    return size;
}

st_Status sti_lcp_solve(sti_Lcp *lcp, const sti_LcpProblem *problem, int first, int last, double *z, sti_LcpInfo *info,
                        st_Error *err)
{
    int n = problem->n;
    *info = (sti_LcpInfo){.outcome = STI_LCP_SOLVED, .error = 0.0};
    if (n == 0) return ST_OK;
    if (!all_finite((int64_t)n * n, problem->M) || !all_finite(n, problem->q))
        return sti_fail(err, ST_ERR_NUMERIC, "a complementarity problem of size %d has a NaN or Inf", n);
    STI_TRY(sti_lcp_basis_resize(&lcp->basis, &lcp->allocator, n, err));
    int64_t pad = lcp->basis.pad;
    double **vector[] = {&lcp->q, &lcp->scale, &lcp->diagonal, &lcp->added, &lcp->z, &lcp->best_z};
    const int n_vectors = (int)(sizeof vector / sizeof *vector);
    STI_TRY(STI_GROW(&lcp->allocator, lcp->numbers, lcp->numbers_capacity, n_vectors * pad, err));
    STI_TRY(STI_GROW(&lcp->allocator, lcp->candidate, lcp->candidate_capacity, pad, err));
    for (int i = 0; i < n_vectors; i++)
        *vector[i] = lcp->numbers + i * pad;
    lcp->n = n;

    lcp->free = problem->free;
    lcp->problem = problem;
    double size = load_scaled(lcp, problem);
    memset(lcp->best_z, 0, (size_t)n * sizeof *lcp->best_z);
    info->error = INFINITY;
    bool good = false;
    for (int attempt = first; attempt <= last && !good && !lcp_is_cancelled(problem); attempt++) {
        sti_LcpOutcome outcome = attempt_once(lcp, attempt, info, &good);
        if (info->attempts++ == 0 || outcome == STI_LCP_RAY) info->outcome = outcome;
    }
    if (info->error <= SOLVED_ERROR)
        info->outcome = STI_LCP_SOLVED;
    else if (info->outcome == STI_LCP_SOLVED)
        info->outcome = STI_LCP_LIMIT;
    for (int i = 0; i < n; i++)
        z[i] = lcp->best_z[i] * lcp->scale[i] * size;
    return ST_OK;
}
