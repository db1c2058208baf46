/* Lemke's method for   w = M z + q,   z, w >= 0,   z'w = 0.
 *
 * Lemke 1965; Cottle, Pang & Stone, The Linear Complementarity Problem, section 4.4 (the method)
 * and 4.9 (lexicographic degeneracy resolution). A covering vector d > 0 and an artificial z_0 make
 *
 *     w = M z + d z_0 + q
 *
 * feasible; z_0 enters against the most negative row, and from then on the complement of what left
 * enters, until z_0 leaves (a solution) or nothing blocks (a ray).
 *
 * Where we differ from a textbook tableau. Let S be the basic columns among z_1 .. z_n, z_0 and R the
 * rows whose w is nonbasic; |R| = |S| = k. All of the tableau follows from M and the small matrix
 *
 *     K = inv(M[R,S])          k x k,  mostly k << n
 *
 *     nonbasic w_R, z = 0:     x_S = K (w_R - q_R),     w = M[:,S] x_S + q
 *
 * so we keep K, and columns of the tableau are made from it when they are needed. A pivot costs
 * O(n k) instead of O(n^2), and M stays untouched: every column is checked against M[R,S] itself
 * and refined, so that rounding does not build up over the pivots. K is rebuilt by elimination
 * with partial pivoting when refinement shows that it has drifted.
 *
 * Free rows (w_i = 0, z_i of any sign) are pivoted into S before the start and never looked at again
 * by the ratio test: the block pivot that eliminates them. Rows of theirs that depend on others stay
 * out, with z_i = 0.
 */
#include "solve/lcp.h"

#define REFRESH_PIVOTS 20    /* basic values are recomputed from q after so many updates         */
#define REFINE_BOUND   1e-13 /* residual of a tableau column that calls for refinement           */
#define DRIFT_BOUND    1e-9  /* ... and, if refinement cannot bring it below this, for a new K   */
#define SINGULAR_BOUND 1e-13 /* pivot of M[R,S], whose entries are about 1, taken as zero        */
#define GOOD_ERROR     2e-14 /* a solution this close needs no polishing                         */
#define POLISH_ROUNDS  3
#define LANES          4 /* rows are padded to this, so that inner loops have no tail        */

/* Variables by one number: z_j is j, z_0 is n, w_l is n + 1 + l. */
typedef struct Candidate {
    int variable;
    double value; /* of the basic variable                                                         */
    double rate;  /* how fast it falls as the entering variable grows; > 0                         */
    double lex;   /* scratch of the tie break                                                      */
} Candidate;

struct sti_Lcp {
    st_Allocator allocator;
    int n, k;
    int64_t pad;             /* n + 1 rounded up to LANES: length of a column of M and of a row of K */
    double tie, pivot_bound; /* tolerances of this attempt                                         */
    const bool *free;        /* n, or NULL                                                         */

    double *numbers; /* one allocation, cut up as follows                                          */
    int64_t numbers_capacity;
    double *M;                     /* scaled, by column, n + 1 columns; the last is the covering vector    */
    double *K;                     /* rows: slots of S, columns: slots of R                                */
    double *q, *scale;             /* n: scaled; the scaling                                               */
    double *x, *w;                 /* basic values: k by slot of S; n by row, 0 on R                       */
    double *x_rate, *w_rate;       /* the entering column, likewise: d(basic)/d(entering)                */
    double *gathered, *row, *work; /* n + 1 each                                                   */
    double *best_z;

    int *indices;
    int64_t indices_capacity;
    int *column_of, *row_of;     /* k: what stands in a slot of S, of R                              */
    int *column_slot, *row_slot; /* n + 1, n: the slot of a column, of a row; -1: none             */

    Candidate *candidate; /* n + 1 */
    int64_t candidate_capacity;
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
    STI_RELEASE(&allocator, lcp->numbers, lcp->numbers_capacity);
    STI_RELEASE(&allocator, lcp->indices, lcp->indices_capacity);
    STI_RELEASE(&allocator, lcp->candidate, lcp->candidate_capacity);
    sti_free(&allocator, lcp, 1, sizeof *lcp);
}

static double *cut(double **numbers, int64_t count)
{
    double *piece = *numbers;
    *numbers += count;
    return piece;
}

static st_Status resize(sti_Lcp *lcp, int n, st_Error *err)
{
    int64_t columns = (int64_t)n + 1, pad = (columns + LANES - 1) / LANES * LANES;
    STI_TRY(STI_GROW(&lcp->allocator, lcp->numbers, lcp->numbers_capacity, 2 * columns * pad + 10 * pad, err));
    STI_TRY(STI_GROW(&lcp->allocator, lcp->indices, lcp->indices_capacity, 4 * columns, err));
    STI_TRY(STI_GROW(&lcp->allocator, lcp->candidate, lcp->candidate_capacity, columns, err));
    lcp->n = n;
    lcp->pad = pad;
    double *numbers = lcp->numbers;
    lcp->M = cut(&numbers, columns * pad);
    lcp->K = cut(&numbers, columns * pad);
    double **vector[] = {&lcp->q,      &lcp->scale,    &lcp->x,   &lcp->w,    &lcp->x_rate,
                         &lcp->w_rate, &lcp->gathered, &lcp->row, &lcp->work, &lcp->best_z};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        *vector[i] = cut(&numbers, pad);
    lcp->column_of = lcp->indices;
    lcp->row_of = lcp->indices + columns;
    lcp->column_slot = lcp->indices + 2 * columns;
    lcp->row_slot = lcp->indices + 3 * columns;
    return ST_OK;
}

/* ---- kernels: lengths are multiples of LANES, padding is zero -------------------------------- */

static void add_multiple(int64_t n, double factor, const double *restrict a, double *restrict y)
{
    for (int64_t i = 0; i < n; i += LANES)
        for (int64_t lane = i; lane < i + LANES; lane++)
            y[lane] += factor * a[lane];
}

static double dot(int64_t n, const double *restrict a, const double *restrict b)
{
    double sum[LANES] = {0.0};
    for (int64_t i = 0; i < n; i += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

static double max_abs(int64_t n, const double *a)
{
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (fabs(a[i]) > largest) largest = fabs(a[i]);
    return largest;
}

static int64_t padded(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

static bool is_free(const sti_Lcp *lcp, int index)
{
    return lcp->free != NULL && index < lcp->n && lcp->free[index];
}

/* ---- the basis ------------------------------------------------------------------------------- */

/* y += M[:,S] x */
static void add_basic_columns(const sti_Lcp *lcp, const double *x, double *y)
{
    for (int slot = 0; slot < lcp->k; slot++)
        if (x[slot] != 0.0) add_multiple(lcp->pad, x[slot], lcp->M + lcp->column_of[slot] * lcp->pad, y);
}

/* x -= K y[R] */
static void subtract_K_times(sti_Lcp *lcp, const double *y, double *x)
{
    int64_t length = padded(lcp->k);
    memset(lcp->gathered, 0, (size_t)length * sizeof *lcp->gathered);
    for (int slot = 0; slot < lcp->k; slot++)
        lcp->gathered[slot] = y[lcp->row_of[slot]];
    for (int slot = 0; slot < lcp->k; slot++)
        x[slot] -= dot(length, lcp->K + slot * lcp->pad, lcp->gathered);
}

static double largest_on_R(const sti_Lcp *lcp, const double *y)
{
    double largest = 0.0;
    for (int slot = 0; slot < lcp->k; slot++)
        if (!(fabs(y[lcp->row_of[slot]]) <= largest)) largest = fabs(y[lcp->row_of[slot]]);
    return largest;
}

/* x with M[R,S] x + v[R] = 0, and y = M[:,S] x + v: refined `rounds` times while that helps and the
 * residual is above `bound`, relative to the larger of v and x. Returns the residual that is left. */
static double solve_basis(sti_Lcp *lcp, const double *v, double bound, int rounds, double *x, double *y)
{
    memset(x, 0, (size_t)lcp->pad * sizeof *x);
    subtract_K_times(lcp, v, x);
    memcpy(y, v, (size_t)lcp->pad * sizeof *y);
    add_basic_columns(lcp, x, y);
    double scale = fmax(max_abs(lcp->pad, v), max_abs(lcp->k, x));
    double residual = largest_on_R(lcp, y), previous = INFINITY;
    for (int round = 0; round < rounds && residual > bound * scale && residual < 0.5 * previous; round++) {
        memset(lcp->work, 0, (size_t)lcp->pad * sizeof *lcp->work);
        subtract_K_times(lcp, y, lcp->work);
        add_multiple(lcp->pad, 1.0, lcp->work, x);
        memcpy(y, v, (size_t)lcp->pad * sizeof *y);
        add_basic_columns(lcp, x, y);
        previous = residual;
        residual = largest_on_R(lcp, y);
    }
    return scale > 0.0 ? residual / scale : 0.0;
}

static void swap_rows(double *K, int64_t pad, int a, int b)
{
    for (int64_t i = 0; i < pad; i++) {
        double held = K[a * pad + i];
        K[a * pad + i] = K[b * pad + i];
        K[b * pad + i] = held;
    }
}

/* K = inv(M[R,S]) afresh, by Gauss-Jordan elimination with partial pivoting. False: singular.
 * K starts as M[R,S] (rows by R). Step p exchanges the roles of unknown p and equation p, so that the
 * end is the inverse, its columns in the order the rows were swapped to; the swaps go to row_of.   */
static bool rebuild_K(sti_Lcp *lcp)
{
    int k = lcp->k;
    int64_t pad = lcp->pad, length = padded(k);
    double *K = lcp->K;
    for (int i = 0; i < k; i++) {
        memset(K + i * pad, 0, (size_t)length * sizeof *K);
        for (int j = 0; j < k; j++)
            K[i * pad + j] = lcp->M[lcp->column_of[j] * pad + lcp->row_of[i]];
    }
    for (int p = 0; p < k; p++) {
        int best = p;
        for (int i = p + 1; i < k; i++)
            if (fabs(K[i * pad + p]) > fabs(K[best * pad + p])) best = i;
        if (!(fabs(K[best * pad + p]) > SINGULAR_BOUND)) return false;
        if (best != p) {
            swap_rows(K, pad, p, best);
            int row = lcp->row_of[p];
            lcp->row_of[p] = lcp->row_of[best];
            lcp->row_of[best] = row;
        }
        double inverse = 1.0 / K[p * pad + p];
        K[p * pad + p] = 1.0;
        for (int64_t j = 0; j < length; j++)
            K[p * pad + j] *= inverse;
        for (int i = 0; i < k; i++) {
            double factor = K[i * pad + p];
            if (i == p || factor == 0.0) continue;
            K[i * pad + p] = 0.0;
            add_multiple(length, -factor, K + p * pad, K + i * pad);
        }
    }
    for (int slot = 0; slot < k; slot++)
        lcp->row_slot[lcp->row_of[slot]] = slot;
    return true;
}

/* Basic values from q. False: the basis is singular. */
static bool refresh(sti_Lcp *lcp, double bound)
{
    double residual = solve_basis(lcp, lcp->q, bound, 4, lcp->x, lcp->w);
    if (!(residual <= DRIFT_BOUND)) {
        if (!rebuild_K(lcp)) return false;
        residual = solve_basis(lcp, lcp->q, bound, 4, lcp->x, lcp->w);
    }
    for (int slot = 0; slot < lcp->k; slot++)
        lcp->w[lcp->row_of[slot]] = 0.0;
    return residual <= DRIFT_BOUND;
}

/* d(basic)/d(entering), into x_rate and w_rate. A variable z_j enters with v = M[:,j]; w_l, nonbasic,
 * with v = -e_l: both leave M[R,S] x_rate + v[R] = 0.                                             */
static bool entering_column(sti_Lcp *lcp, int entering)
{
    const double *v = lcp->M + (int64_t)entering * lcp->pad;
    if (entering > lcp->n) {
        memset(lcp->row, 0, (size_t)lcp->pad * sizeof *lcp->row);
        lcp->row[entering - lcp->n - 1] = -1.0;
        v = lcp->row;
    }
    double residual = solve_basis(lcp, v, REFINE_BOUND, 3, lcp->x_rate, lcp->w_rate);
    if (residual <= DRIFT_BOUND) return true;
    return rebuild_K(lcp) && solve_basis(lcp, v, REFINE_BOUND, 3, lcp->x_rate, lcp->w_rate) <= DRIFT_BOUND;
}

/* Row of the tableau over w_R: K[s,:] for the column in slot s, M[l,S] K for w_l. */
static void leaving_row(sti_Lcp *lcp, int leaving)
{
    int64_t length = padded(lcp->k);
    if (leaving <= lcp->n) {
        memcpy(lcp->row, lcp->K + lcp->column_slot[leaving] * lcp->pad, (size_t)length * sizeof *lcp->row);
        return;
    }
    memset(lcp->row, 0, (size_t)length * sizeof *lcp->row);
    for (int slot = 0; slot < lcp->k; slot++)
        add_multiple(length, lcp->M[lcp->column_of[slot] * lcp->pad + leaving - lcp->n - 1], lcp->K + slot * lcp->pad,
                     lcp->row);
}

static void put_column(sti_Lcp *lcp, int slot, int column)
{
    lcp->column_of[slot] = column;
    lcp->column_slot[column] = slot;
}

static void put_row(sti_Lcp *lcp, int slot, int row)
{
    lcp->row_of[slot] = row;
    lcp->row_slot[row] = slot;
}

/* S and R lose a column and a row: the last slot moves into the gap. */
static void shrink_K(sti_Lcp *lcp, int slot, int column)
{
    int last = --lcp->k;
    int64_t pad = lcp->pad;
    double *K = lcp->K;
    if (slot != last) {
        memcpy(K + slot * pad, K + last * pad, (size_t)pad * sizeof *K);
        put_column(lcp, slot, lcp->column_of[last]);
    }
    for (int i = 0; i < last; i++) {
        K[i * pad + column] = K[i * pad + last];
        K[i * pad + last] = 0.0;
    }
    if (column != last) put_row(lcp, column, lcp->row_of[last]);
}

/* Exchange: with y the leaving variable, t the entering one, rho the leaving row and p its rate,
 *     x_S = K w_R + x_rate t,   y = rho w_R + p t    =>    t = (y - rho w_R)/p,
 *     x_S = (K - x_rate rho/p) w_R + (x_rate/p) y.
 * What enters as a z needs a new row of K (that of t), what leaves as a w a new column (that of y);
 * what leaves as a z frees its row, what enters as a w frees its column.                          */
static void exchange(sti_Lcp *lcp, int entering, int leaving, double p)
{
    int n = lcp->n;
    int64_t pad = lcp->pad, length = padded(lcp->k + 1);
    double *K = lcp->K;
    leaving_row(lcp, leaving);
    if (length <= pad) lcp->row[lcp->k] = 0.0;
    for (int slot = 0; slot < lcp->k; slot++)
        add_multiple(padded(lcp->k), -lcp->x_rate[slot] / p, lcp->row, K + slot * pad);

    bool grows = entering <= n && leaving > n, shrinks = entering > n && leaving <= n;
    int slot = leaving <= n ? lcp->column_slot[leaving] : lcp->k;
    int column = entering > n ? lcp->row_slot[entering - n - 1] : lcp->k;
    if (grows) { /* the new slot, cleared with its padding */
        memset(K + slot * pad, 0, (size_t)pad * sizeof *K);
        lcp->k++;
    }
    if (leaving <= n) lcp->column_slot[leaving] = -1;
    if (entering > n) lcp->row_slot[entering - n - 1] = -1;
    if (entering <= n) {
        for (int j = 0; j < lcp->k; j++)
            K[slot * pad + j] = -lcp->row[j] / p;
        put_column(lcp, slot, entering);
    }
    if (leaving > n) {
        for (int i = 0; i < lcp->k; i++)
            K[i * pad + column] = lcp->x_rate[i] / p;
        put_row(lcp, column, leaving - n - 1);
    }
    if (grows) K[slot * pad + column] = 1.0 / p;
    if (shrinks) shrink_K(lcp, slot, column);
}

/* ---- the ratio test -------------------------------------------------------------------------- */

static void add_candidate(sti_Lcp *lcp, int *count, int variable, double value, double rate)
{
    lcp->candidate[(*count)++] = (Candidate){.variable = variable, .value = value, .rate = rate};
}

/* Basic variables that fall (direction -1) or rise (+1) with the entering one; free ones never count. */
static int collect_candidates(sti_Lcp *lcp, double direction)
{
    int count = 0;
    double largest = fmax(max_abs(lcp->k, lcp->x_rate), max_abs(lcp->n, lcp->w_rate));
    double bound = lcp->pivot_bound * fmax(1.0, 1e-3 * largest);
    for (int slot = 0; slot < lcp->k; slot++)
        if (direction * lcp->x_rate[slot] > bound && !is_free(lcp, lcp->column_of[slot]))
            add_candidate(lcp, &count, lcp->column_of[slot], lcp->x[slot], direction * lcp->x_rate[slot]);
    for (int l = 0; l < lcp->n; l++)
        if (direction * lcp->w_rate[l] > bound && lcp->row_slot[l] < 0 && !is_free(lcp, l))
            add_candidate(lcp, &count, lcp->n + 1 + l, lcp->w[l], direction * lcp->w_rate[l]);
    return count;
}

/* Entry of the inverse basis in the row of a basic variable and the column of w_j, which is nonbasic and
 * whose column of K is in lcp->gathered: what a small change of q_j does to the variable.          */
static double inverse_entry(const sti_Lcp *lcp, int variable)
{
    if (variable <= lcp->n) return -lcp->gathered[lcp->column_slot[variable]];
    const double *M_row = lcp->M + (variable - lcp->n - 1);
    double sum = 0.0;
    for (int slot = 0; slot < lcp->k; slot++)
        sum -= M_row[lcp->column_of[slot] * lcp->pad] * lcp->gathered[slot];
    return sum;
}

/* Keep the candidates whose entry in column j of the inverse basis, over the rate, is least. */
static int filter_by_column(sti_Lcp *lcp, int count, int j)
{
    Candidate *candidate = lcp->candidate;
    int kept = 0, slot = lcp->row_slot[j];
    if (slot < 0) { /* w_j is basic: the column is a unit vector, and only its own row is above 0 */
        for (int i = 0; i < count; i++)
            if (candidate[i].variable != lcp->n + 1 + j) candidate[kept++] = candidate[i];
        return kept;
    }
    for (int s = 0; s < lcp->k; s++)
        lcp->gathered[s] = lcp->K[s * lcp->pad + slot];
    double least = INFINITY, largest = 1.0;
    for (int i = 0; i < count; i++) {
        candidate[i].lex = inverse_entry(lcp, candidate[i].variable) / candidate[i].rate;
        least = fmin(least, candidate[i].lex);
        largest = fmax(largest, fabs(candidate[i].lex));
    }
    for (int i = 0; i < count; i++)
        if (candidate[i].lex <= least + lcp->tie * largest) candidate[kept++] = candidate[i];
    return kept;
}

/* The variable that leaves: lexicographic least of [value, row of the inverse basis] / rate. z_0 goes
 * whenever it ties. -1: nothing blocks.                                                           */
static int choose_leaving(sti_Lcp *lcp, int count)
{
    Candidate *candidate = lcp->candidate;
    double least = INFINITY, largest = fmax(1.0, 1e-3 * max_abs(lcp->k, lcp->x));
    for (int i = 0; i < count; i++)
        least = fmin(least, candidate[i].value / candidate[i].rate);
    int tied = 0;
    for (int i = 0; i < count; i++) {
        double left = candidate[i].value - least * candidate[i].rate; /* at the end of the step */
        if (left > lcp->tie * fmax(largest, fabs(candidate[i].value))) continue;
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

static double *basic_value(sti_Lcp *lcp, int variable)
{
    return variable <= lcp->n ? &lcp->x[lcp->column_slot[variable]] : &lcp->w[variable - lcp->n - 1];
}

static double basic_rate(const sti_Lcp *lcp, int variable)
{
    return variable <= lcp->n ? lcp->x_rate[lcp->column_slot[variable]] : lcp->w_rate[variable - lcp->n - 1];
}

/* Move along the entering column by `step`, then exchange. */
static void pivot(sti_Lcp *lcp, int entering, int leaving)
{
    double rate = basic_rate(lcp, leaving), step = -*basic_value(lcp, leaving) / rate;
    int slot = leaving <= lcp->n ? lcp->column_slot[leaving] : -1, old_k = lcp->k;
    add_multiple(lcp->pad, step, lcp->x_rate, lcp->x);
    add_multiple(lcp->pad, step, lcp->w_rate, lcp->w);
    exchange(lcp, entering, leaving, rate);
    if (leaving > lcp->n) lcp->w[leaving - lcp->n - 1] = 0.0;
    if (entering > lcp->n) {
        if (slot >= 0 && slot != old_k - 1) lcp->x[slot] = lcp->x[old_k - 1]; /* as shrink_K did */
        lcp->w[entering - lcp->n - 1] = step;
    } else {
        lcp->x[lcp->column_slot[entering]] = step;
    }
    for (int64_t s = lcp->k; s < lcp->pad && s <= lcp->k + 1; s++)
        lcp->x[s] = 0.0;
    for (int s = 0; s < lcp->k; s++)
        lcp->w[lcp->row_of[s]] = 0.0;
}

/* All w basic, then the free rows out of the way: z_i in, w_i out, one after another. */
static bool start_basis(sti_Lcp *lcp)
{
    lcp->k = 0;
    for (int j = 0; j <= lcp->n; j++)
        lcp->column_slot[j] = -1;
    for (int l = 0; l < lcp->n; l++)
        lcp->row_slot[l] = -1;
    memset(lcp->x, 0, (size_t)lcp->pad * sizeof *lcp->x);
    for (int i = 0; i < lcp->n; i++) {
        if (!is_free(lcp, i)) continue;
        if (!entering_column(lcp, i)) return false;
        if (fabs(lcp->w_rate[i]) <= lcp->pivot_bound) continue; /* depends on rows before it */
        exchange(lcp, i, lcp->n + 1 + i, lcp->w_rate[i]);
    }
    return refresh(lcp, REFINE_BOUND);
}

/* The covering vector d with which z_0 lifts every basic variable, not free, at a rate of `weight` (index of
 * the variable: 1, or by attempt another number near it). At the start of a problem without free rows
 * that is d = weight.                                                                             */
static double weight(int attempt, int index)
{
    if (attempt < 3) return 1.0;
    uint32_t hash = (uint32_t)(index + 1) * 2654435761u ^ (uint32_t)attempt * 40503u;
    hash ^= hash >> 15;
    hash *= 2246822519u;
    return 0.5 + (double)(hash >> 8) / (double)(1u << 24);
}

static void make_cover(sti_Lcp *lcp, int attempt)
{
    double *d = lcp->M + lcp->n * lcp->pad;
    memset(d, 0, (size_t)lcp->pad * sizeof *d);
    for (int l = 0; l < lcp->n; l++)
        if (lcp->row_slot[l] < 0 && !is_free(lcp, l)) d[l] = weight(attempt, l);
    for (int slot = 0; slot < lcp->k; slot++)
        if (!is_free(lcp, lcp->column_of[slot]))
            add_multiple(lcp->pad, -weight(attempt, lcp->column_of[slot]), lcp->M + lcp->column_of[slot] * lcp->pad, d);
}

static double least_value(const sti_Lcp *lcp)
{
    double least = 0.0;
    for (int slot = 0; slot < lcp->k; slot++)
        if (!is_free(lcp, lcp->column_of[slot])) least = fmin(least, lcp->x[slot]);
    for (int l = 0; l < lcp->n; l++)
        if (lcp->row_slot[l] < 0 && !is_free(lcp, l)) least = fmin(least, lcp->w[l]);
    return least;
}

/* From a complementary basis without z_0, feasible or not, to one that is feasible. */
static sti_LcpOutcome run(sti_Lcp *lcp, int attempt, int limit, int *pivots)
{
    if (least_value(lcp) >= 0.0) return STI_LCP_SOLVED;
    make_cover(lcp, attempt);
    int n = lcp->n, entering = n;
    for (int count = 0; count < limit; count++) {
        if (count % REFRESH_PIVOTS == REFRESH_PIVOTS - 1 && !refresh(lcp, REFINE_BOUND)) return STI_LCP_LIMIT;
        if (!entering_column(lcp, entering)) return STI_LCP_LIMIT;
        int candidates = collect_candidates(lcp, count == 0 ? 1.0 : -1.0);
        int leaving = choose_leaving(lcp, candidates);
        if (leaving < 0) return STI_LCP_RAY;
        pivot(lcp, entering, leaving);
        ++*pivots;
        if (leaving == n) return refresh(lcp, 0.0) ? STI_LCP_SOLVED : STI_LCP_LIMIT;
        entering = leaving < n ? leaving + n + 1 : leaving - n - 1;
    }
    return STI_LCP_LIMIT;
}

/* z >= 0 of the present basis into lcp->work, and how far it is from a solution, by M and q alone. */
static double solution_error(sti_Lcp *lcp)
{
    double *z = lcp->work, *w = lcp->w_rate, error = 0.0;
    memset(z, 0, (size_t)lcp->pad * sizeof *z);
    memcpy(w, lcp->q, (size_t)lcp->pad * sizeof *w);
    for (int slot = 0; slot < lcp->k; slot++) {
        int column = lcp->column_of[slot];
        z[column] = is_free(lcp, column) ? lcp->x[slot] : fmax(lcp->x[slot], 0.0);
        add_multiple(lcp->pad, z[column], lcp->M + column * lcp->pad, w);
    }
    for (int i = 0; i < lcp->n; i++)
        error = fmax(error, fabs(is_free(lcp, i) ? w[i] : fmin(z[i], w[i])));
    return error / fmax(1.0, 1e-2 * max_abs(lcp->n, z));
}

/* One attempt: the method from the start, then, where rounding left a basic variable below zero, again from
 * the basis reached. The best solution so far stays in best_z.                                    */
static sti_LcpOutcome attempt_once(sti_Lcp *lcp, int attempt, sti_LcpInfo *info)
{
    static const double tie[] = {1e-11, 1e-9, 1e-13};
    lcp->tie = tie[attempt % 3];
    lcp->pivot_bound = attempt < 3 ? 1e-11 : tie[attempt % 3];
    if (!start_basis(lcp)) return STI_LCP_LIMIT;
    sti_LcpOutcome outcome = STI_LCP_LIMIT;
    for (int round = 0; round <= POLISH_ROUNDS; round++) {
        sti_LcpOutcome end = run(lcp, attempt, 1000 + 20 * lcp->n, &info->pivots);
        if (end != STI_LCP_SOLVED) return round == 0 ? end : outcome;
        outcome = STI_LCP_SOLVED;
        double error = solution_error(lcp);
        if (error < info->error) {
            info->error = error;
            memcpy(lcp->best_z, lcp->work, (size_t)lcp->n * sizeof *lcp->best_z);
        }
        if (error <= GOOD_ERROR) break;
    }
    return outcome;
}

/* ---- the problem ----------------------------------------------------------------------------- */

double sti_lcp_scale(double a)
{
    return exp2(-round(0.5 * log2(a)));
}

/* Symmetric scaling, z = D z~, w = inv(D) w~: diagonal entries to 1; rows without one by what else they have. */
static void choose_scaling(sti_Lcp *lcp, const double *M)
{
    int64_t n = lcp->n;
    double *first = lcp->work; /* from the diagonal, 1 where there is none */
    for (int64_t i = 0; i < n; i++)
        first[i] = M[i * n + i] > 0.0 ? sti_lcp_scale(M[i * n + i]) : 1.0;
    for (int64_t i = 0; i < n; i++) {
        double largest = 0.0;
        for (int64_t j = 0; j < n && !(M[i * n + i] > 0.0); j++)
            largest = fmax(largest, fmax(fabs(M[i * n + j]), fabs(M[j * n + i])) * first[j]);
        lcp->scale[i] = largest > 0.0 ? sti_lcp_scale(largest * largest) : first[i];
    }
}

static bool all_finite(int64_t n, const double *a)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += 0.0 * a[i];
    return sum == 0.0;
}

/* The scaled problem into the workspace; returns max |scaled q|, by which q is divided. */
static double load(sti_Lcp *lcp, const sti_LcpProblem *problem)
{
    int64_t n = lcp->n;
    if (problem->scale != NULL)
        memcpy(lcp->scale, problem->scale, (size_t)n * sizeof *lcp->scale);
    else
        choose_scaling(lcp, problem->M);
    memset(lcp->q, 0, (size_t)lcp->pad * sizeof *lcp->q);
    for (int64_t i = 0; i < n; i++)
        lcp->q[i] = lcp->scale[i] * problem->q[i];
    double size = max_abs(n, lcp->q);
    for (int64_t i = 0; i < n && size > 0.0; i++)
        lcp->q[i] /= size;
    for (int64_t j = 0; j < n; j++) {
        double *column = lcp->M + j * lcp->pad;
        memset(column, 0, (size_t)lcp->pad * sizeof *column);
        for (int64_t i = 0; i < n; i++)
            column[i] = lcp->scale[i] * problem->M[i * n + j] * lcp->scale[j];
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
    STI_TRY(resize(lcp, n, err));
    lcp->free = problem->free;
    double size = load(lcp, problem);
    memset(lcp->best_z, 0, (size_t)n * sizeof *lcp->best_z);
    info->error = INFINITY;
    info->outcome = STI_LCP_LIMIT;
    for (int attempt = first; attempt <= last; attempt++) {
        sti_LcpOutcome outcome = attempt_once(lcp, attempt, info);
        info->attempts++;
        if (info->outcome != STI_LCP_SOLVED) info->outcome = outcome;
        if (info->error <= GOOD_ERROR) break;
    }
    for (int i = 0; i < n; i++)
        z[i] = lcp->best_z[i] * lcp->scale[i] * size;
    return ST_OK;
}
