/* The basis of Lemke's method: see lcp_basis.h for the idea. */
#include "solve/lemke/lcp_basis.h"

#define TRUSTED        1e-13 /* a correction this small, relative to x, leaves x as it is             */
#define DRIFTED        1e-9  /* with a correction this large K is not an inverse any more */
#define CAREFUL_TRUST  1e-22 /* in twice the digits: then the double nearest to x is known            */
#define CAREFUL_DRIFT  1e-17
#define ROUNDS         2 /* of refinement                                                         */
#define CAREFUL_ROUNDS 12

/* ---- memory ---------------------------------------------------------------------------------- */

st_Status sti_lcp_basis_resize(sti_LcpBasis *basis, const st_Allocator *allocator, int n, st_Error *err)
{
    int64_t columns = (int64_t)n + 1, pad = (columns + STI_LCP_LANES - 1) / STI_LCP_LANES * STI_LCP_LANES;
    double **vector[] = {&basis->q,     &basis->x,     &basis->w,        &basis->x_rate, &basis->w_rate,
                         &basis->x_low, &basis->y_low, &basis->gathered, &basis->row,    &basis->work};
    int **list[] = {&basis->column_of, &basis->row_of, &basis->column_slot, &basis->row_slot};
    const int n_vectors = (int)(sizeof vector / sizeof *vector), n_lists = (int)(sizeof list / sizeof *list);
    STI_TRY(STI_GROW(allocator, basis->numbers, basis->numbers_capacity, (2 * columns + n_vectors) * pad, err));
    STI_TRY(STI_GROW(allocator, basis->indices, basis->indices_capacity, n_lists * columns, err));
    basis->n = n;
    basis->pad = pad;
    basis->M = basis->numbers;
    basis->K = basis->M + columns * pad;
    for (int i = 0; i < n_vectors; i++)
        *vector[i] = basis->K + (columns + i) * pad;
    for (int i = 0; i < n_lists; i++)
        *list[i] = basis->indices + i * columns;
    return ST_OK;
}

void sti_lcp_basis_release(sti_LcpBasis *basis, const st_Allocator *allocator)
{
    STI_RELEASE(allocator, basis->numbers, basis->numbers_capacity);
    STI_RELEASE(allocator, basis->indices, basis->indices_capacity);
}

void sti_lcp_basis_clear(sti_LcpBasis *basis)
{
    basis->k = 0;
    for (int j = 0; j <= basis->n; j++)
        basis->column_slot[j] = -1;
    for (int l = 0; l < basis->n; l++)
        basis->row_slot[l] = -1;
    memset(basis->x, 0, (size_t)basis->pad * sizeof *basis->x);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int64_t padded_size(int64_t count)
{
    return (count + STI_LCP_LANES - 1) / STI_LCP_LANES * STI_LCP_LANES;
}

static void zero_lanes(const sti_LcpBasis *basis, double *a)
{
    memset(a, 0, (size_t)basis->pad * sizeof *a);
}

static void copy_lanes(const sti_LcpBasis *basis, const double *a, double *y)
{
    memcpy(y, a, (size_t)basis->pad * sizeof *y);
}

static inline void add_multiple(int64_t n, double factor, const double *restrict a, double *restrict y)
{
    for (int64_t i = 0; i < n; i += STI_LCP_LANES)
        for (int64_t lane = i; lane < i + STI_LCP_LANES; lane++)
            y[lane] += factor * a[lane];
}

void sti_lcp_add_multiple(int64_t n, double factor, const double *a, double *y)
{
    add_multiple(n, factor, a, y);
}

static double dot_lanes(int64_t n, const double *restrict a, const double *restrict b)
{
    double sum[STI_LCP_LANES] = {0.0};
    for (int64_t i = 0; i < n; i += STI_LCP_LANES)
        for (int64_t lane = 0; lane < STI_LCP_LANES; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

double sti_lcp_max_abs(int64_t n, const double *a)
{
    double largest = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i]) <= largest)) largest = fabs(a[i]); /* NaN comes out */
    return largest;
}

/* (y, low) += (high + rest) a in twice the digits: Dekker's product, Knuth's sum. */
static void add_multiple_twice(int64_t n, double high, double rest, const double *restrict a, double *restrict y,
                               double *restrict low)
{
    const double splitter = 0x1p27 + 1.0;
    const double h = high * splitter, h1 = h - (h - high), h2 = high - h1;
    for (int64_t i = 0; i < n; i += STI_LCP_LANES)
        for (int64_t lane = i; lane < i + STI_LCP_LANES; lane++) {
            double s = a[lane] * splitter, a1 = s - (s - a[lane]), a2 = a[lane] - a1;
            double product = high * a[lane];
            double product_low = ((h1 * a1 - product) + h1 * a2 + h2 * a1) + h2 * a2;
            double sum = y[lane] + product, part = sum - y[lane];
            double sum_low = (y[lane] - (sum - part)) + (product - part);
            y[lane] = sum;
            low[lane] += sum_low + (product_low + rest * a[lane]);
        }
}

/* ---- columns of the tableau ------------------------------------------------------------------ */

/* x -= K y[R], slot by slot into `change` as well. Returns max |change|. */
static double refine_slots(sti_LcpBasis *basis, const double *y, double *x)
{
    int64_t length = padded_size(basis->k);
    double largest = 0.0;
    memset(basis->gathered, 0, (size_t)length * sizeof *basis->gathered);
    for (int slot = 0; slot < basis->k; slot++)
        basis->gathered[slot] = y[basis->row_of[slot]];
    for (int slot = 0; slot < basis->k; slot++) {
        double change = dot_lanes(length, basis->K + slot * basis->pad, basis->gathered);
        if (!(fabs(change) <= largest)) largest = fabs(change);
        x[slot] -= change;
    }
    return largest;
}

static void guess(sti_LcpBasis *basis, const double *v, double *x)
{
    zero_lanes(basis, x);
    refine_slots(basis, v, x);
}

/* x with M[R,S] x + v[R] = 0, and y = M[:,S] x + v. K times the residual is a bound of the error of x. Returns that
 * correction, relative to x. */
static double solve_plain(sti_LcpBasis *basis, const double *v, double *x, double *y)
{
    double correction = 0.0;
    guess(basis, v, x);
    for (int round = 0; round < ROUNDS; round++) {
        /* y = M[:,S] x + v */
        copy_lanes(basis, v, y);
        for (int slot = 0; slot < basis->k; slot++)
            if (x[slot] != 0.0) add_multiple(basis->pad, x[slot], basis->M + basis->column_of[slot] * basis->pad, y);
        copy_lanes(basis, x, basis->work);
        double size = fmax(sti_lcp_max_abs(basis->k, x), sti_lcp_max_abs(basis->pad, v)),
               change = refine_slots(basis, y, basis->work);
        correction = size > 0.0 ? fmax(change, sti_lcp_max_abs(basis->k, basis->gathered)) / size : 0.0;
        if (correction <= TRUSTED || round + 1 == ROUNDS) break;
        copy_lanes(basis, basis->work, x);
    }
    return correction;
}

/* The same with x and y in two halves; the low ones are added in at the end. x comes in as a guess. */
static double solve_careful(sti_LcpBasis *basis, const double *v, double *x, double *y)
{
    double *x_low = basis->x_low, *y_low = basis->y_low;
    double correction = INFINITY, previous;
    zero_lanes(basis, x_low);
    for (int round = 0; round < CAREFUL_ROUNDS; round++) {
        copy_lanes(basis, v, y);
        zero_lanes(basis, y_low);
        for (int slot = 0; slot < basis->k; slot++)
            add_multiple_twice(basis->pad, x[slot], x_low[slot], basis->M + basis->column_of[slot] * basis->pad, y,
                               y_low);
        for (int64_t i = 0; i < basis->pad; i++)
            y[i] += y_low[i];
        zero_lanes(basis, basis->work);
        double size = fmax(sti_lcp_max_abs(basis->k, x), sti_lcp_max_abs(basis->pad, v)),
               change = refine_slots(basis, y, basis->work);
        previous = correction;
        correction = size > 0.0 ? fmax(change, sti_lcp_max_abs(basis->k, basis->gathered)) / size : 0.0;
        if (correction <= CAREFUL_TRUST || !(correction < 0.5 * previous)) break;
        for (int slot = 0; slot < basis->k; slot++) { /* x + x_low + change, renormalised */
            double change_low = basis->work[slot] + x_low[slot], sum = x[slot] + change_low;
            x_low[slot] = change_low - (sum - x[slot]);
            x[slot] = sum;
        }
    }
    return correction;
}

static bool solve_slots(sti_LcpBasis *basis, const double *v, double *x, double *y)
{
    if (basis->careful) {
        if (x != basis->x) guess(basis, v, x); /* basic values are a good start */
        if (solve_careful(basis, v, x, y) <= CAREFUL_DRIFT) return true;
        if (!sti_lcp_basis_rebuild(basis)) return false;
        guess(basis, v, x);
        return solve_careful(basis, v, x, y) <= CAREFUL_DRIFT;
    }
    if (solve_plain(basis, v, x, y) <= DRIFTED) return true;
    return sti_lcp_basis_rebuild(basis) && solve_plain(basis, v, x, y) <= DRIFTED;
}

bool sti_lcp_basis_values(sti_LcpBasis *basis)
{
    if (!solve_slots(basis, basis->q, basis->x, basis->w)) return false;
    for (int slot = 0; slot < basis->k; slot++)
        basis->w[basis->row_of[slot]] = 0.0;
    return true;
}

/* A variable z_j enters with v = M[:,j]; w_l, nonbasic, with v = -e_l: both leave M[R,S] x_rate + v[R] = 0. */
bool sti_lcp_basis_column(sti_LcpBasis *basis, int entering)
{
    if (entering <= basis->n)
        return solve_slots(basis, basis->M + (int64_t)entering * basis->pad, basis->x_rate, basis->w_rate);
    zero_lanes(basis, basis->row);
    basis->row[entering - basis->n - 1] = -1.0;
    return solve_slots(basis, basis->row, basis->x_rate, basis->w_rate);
}

void sti_lcp_basis_gather(sti_LcpBasis *basis, int j)
{
    for (int slot = 0; slot < basis->k; slot++)
        basis->gathered[slot] = basis->K[slot * basis->pad + basis->row_slot[j]];
}

double sti_lcp_basis_inverse_entry(const sti_LcpBasis *basis, int variable)
{
    if (variable <= basis->n) return -basis->gathered[basis->column_slot[variable]];
    const double *M_row = basis->M + (variable - basis->n - 1);
    double sum = 0.0;
    for (int slot = 0; slot < basis->k; slot++)
        sum -= M_row[basis->column_of[slot] * basis->pad] * basis->gathered[slot];
    return sum;
}

/* ---- K --------------------------------------------------------------------------------------- */

/* Gauss-Jordan elimination with partial pivoting, in place: step p exchanges unknown p and equation p. It works on
 * the transpose T of M[R,S], because elimination makes T inv(T) - 1 small, while refinement needs
 * K M[R,S] - 1 small.                                                                              */
bool sti_lcp_basis_rebuild(sti_LcpBasis *basis)
{
    int k = basis->k;
    int64_t pad = basis->pad, length = padded_size(k);
    double *K = basis->K;
    for (int i = 0; i < k; i++) {
        memset(K + i * pad, 0, (size_t)pad * sizeof *K);
        for (int j = 0; j < k; j++)
            K[i * pad + j] = basis->M[basis->column_of[i] * pad + basis->row_of[j]];
    }
    for (int p = 0; p < k; p++) {
        int best = p;
        for (int i = p + 1; i < k; i++)
            if (fabs(K[i * pad + p]) > fabs(K[best * pad + p])) best = i;
        if (!(fabs(K[best * pad + p]) > 0.0)) return false;
        if (best != p) {
            double *row_a = basis->K + p * basis->pad, *row_b = basis->K + best * basis->pad;
            for (int64_t i = 0; i < basis->pad; i++) {
                double held = row_a[i];
                row_a[i] = row_b[i];
                row_b[i] = held;
            }
            double value = basis->x[p];
            basis->x[p] = basis->x[best];
            basis->x[best] = value;
            int column = basis->column_of[p];
            basis->column_of[p] = basis->column_of[best];
            basis->column_of[best] = column;
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
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++) {
            double held = K[i * pad + j];
            K[i * pad + j] = K[j * pad + i];
            K[j * pad + i] = held;
        }

    for (int slot = 0; slot < k; slot++)
        basis->column_slot[basis->column_of[slot]] = slot;
    return true;
}

/* Row of the tableau over w_R into `row`: K[s,:] for the column in slot s, M[l,S] K for w_l. */
static void leaving_row(sti_LcpBasis *basis, int leaving)
{
    zero_lanes(basis, basis->row);
    if (leaving <= basis->n) {
        copy_lanes(basis, basis->K + basis->column_slot[leaving] * basis->pad, basis->row);
        return;
    }
    for (int slot = 0; slot < basis->k; slot++)
        add_multiple(padded_size(basis->k), basis->M[basis->column_of[slot] * basis->pad + leaving - basis->n - 1],
                     basis->K + slot * basis->pad, basis->row);
}

static void put_column(sti_LcpBasis *basis, int slot, int column)
{
    basis->column_of[slot] = column;
    basis->column_slot[column] = slot;
}

static void put_row(sti_LcpBasis *basis, int slot, int row)
{
    basis->row_of[slot] = row;
    basis->row_slot[row] = slot;
}

/* S and R lose the column in `slot` and the row in `place`: the last ones move into the gaps. */
static void shrink(sti_LcpBasis *basis, int slot, int place)
{
    int last = --basis->k;
    int64_t pad = basis->pad;
    double *K = basis->K;
    if (slot != last) {
        copy_lanes(basis, K + last * pad, K + slot * pad);
        put_column(basis, slot, basis->column_of[last]);
        basis->x[slot] = basis->x[last];
    }
    basis->x[last] = 0.0;
    for (int i = 0; i < last; i++) {
        K[i * pad + place] = K[i * pad + last];
        K[i * pad + last] = 0.0;
    }
    if (place != last) put_row(basis, place, basis->row_of[last]);
}

static double rate(const sti_LcpBasis *basis, int variable)
{
    return variable <= basis->n ? basis->x_rate[basis->column_slot[variable]] : basis->w_rate[variable - basis->n - 1];
}

/* With y the leaving variable, t the entering one, rho the leaving row and p its rate,
 *     x_S = K w_R + x_rate t,   y = rho w_R + p t    =>    t = (y - rho w_R)/p,
 *     x_S = (K - x_rate rho/p) w_R + (x_rate/p) y.
 * A z that enters needs a new row of K (that of t), a w that leaves a new column (that of y);
 * a z that leaves frees its row, a w that enters frees its column.                                */
void sti_lcp_basis_exchange(sti_LcpBasis *basis, int entering, int leaving)
{
    int n = basis->n, old_k = basis->k;
    int64_t pad = basis->pad;
    double *K = basis->K, p = rate(basis, leaving);
    leaving_row(basis, leaving);
    for (int slot = 0; slot < old_k; slot++)
        add_multiple(padded_size(old_k), -basis->x_rate[slot] / p, basis->row, K + slot * pad);

    int slot = leaving <= n ? basis->column_slot[leaving] : old_k; /* for t, or to be freed */
    int place = entering > n ? basis->row_slot[entering - n - 1] : old_k;
    if (leaving <= n) basis->column_slot[leaving] = -1;
    if (entering > n) basis->row_slot[entering - n - 1] = -1;
    if (entering <= n && leaving > n) basis->k++;
    if (entering <= n) {
        zero_lanes(basis, K + slot * pad);
        add_multiple(padded_size(old_k), -1.0 / p, basis->row, K + slot * pad);
        put_column(basis, slot, entering);
    }
    if (leaving > n) {
        for (int i = 0; i < old_k; i++)
            K[i * pad + place] = basis->x_rate[i] / p;
        if (entering <= n) K[slot * pad + place] = 1.0 / p;
        put_row(basis, place, leaving - n - 1);
    }
    if (entering > n && leaving <= n) shrink(basis, slot, place);
}

void sti_lcp_basis_pivot(sti_LcpBasis *basis, int entering, int leaving)
{
    int n = basis->n;
    double value = leaving <= n ? basis->x[basis->column_slot[leaving]] : basis->w[leaving - n - 1];
    double step = -value / rate(basis, leaving);
    add_multiple(basis->pad, step, basis->x_rate, basis->x);
    add_multiple(basis->pad, step, basis->w_rate, basis->w);
    sti_lcp_basis_exchange(basis, entering, leaving);
    for (int slot = 0; slot < basis->k; slot++)
        basis->w[basis->row_of[slot]] = 0.0;
    *(entering <= n ? &basis->x[basis->column_slot[entering]] : &basis->w[entering - n - 1]) = step;
}
