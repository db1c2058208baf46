/* Lemke's method on complementarity problems with known solutions: textbook examples, degenerate and cycling ones,
 * problems without a solution, and enumeration of all complementary bases. */
#include "check.h"
#include "solve/lemke/lcp.h"

#include <stiction/problem.h>

#include <string.h>

#define MAX_N 60

typedef struct Counter {
    int calls, live, fail_at; /* fail_at: this call is refused, 0: none */
} Counter;

static void *count_alloc(void *ctx, size_t size, size_t align)
{
    Counter *counter = ctx;
    if (++counter->calls == counter->fail_at) return NULL;
    counter->live++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void count_free(void *ctx, void *memory, size_t size, size_t align)
{
    (void)size, (void)align;
    ((Counter *)ctx)->live--;
    free(memory);
}

static st_Allocator counting(Counter *counter)
{
    return (st_Allocator){.alloc = count_alloc, .free = count_free, .ctx = counter};
}

/* max_i |min(z_i, w_i)|, w = M z + q: the definition, nothing scaled. */
static double naive_error(int n, const double *M, const double *q, const double *z)
{
    double error = 0.0;
    for (int i = 0; i < n; i++) {
        double w = q[i];
        for (int j = 0; j < n; j++)
            w += M[i * n + j] * z[j];
        error = fmax(error, fabs(fmin(z[i], w)));
    }
    return error;
}

static sti_LcpInfo solve(int n, const double *M, const double *q, double *z)
{
    st_Error err = {0};
    st_Allocator allocator = st_default_allocator();
    sti_Lcp *lcp = NULL;
    sti_LcpInfo info;
    check_ok(sti_lcp_create(&allocator, &lcp, &err), err);
    check_ok(sti_lcp_solve(lcp, &(sti_LcpProblem){.n = n, .M = M, .q = q}, 0, STI_LCP_ATTEMPTS - 1, z, &info, &err),
             err);
    sti_lcp_destroy(lcp);
    return info;
}

/* a x = b by elimination with partial pivoting; false: singular. */
static bool dense_solve(int n, double *a, double *b)
{
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p + 1; i < n; i++)
            if (fabs(a[i * n + p]) > fabs(a[best * n + p])) best = i;
        if (fabs(a[best * n + p]) < 1e-10) return false;
        for (int j = 0; j < n; j++) {
            double held = a[p * n + j];
            a[p * n + j] = a[best * n + j];
            a[best * n + j] = held;
        }
        double held = b[p];
        b[p] = b[best];
        b[best] = held;
        for (int i = 0; i < n; i++) {
            if (i == p) continue;
            double factor = a[i * n + p] / a[p * n + p];
            for (int j = 0; j < n; j++)
                a[i * n + j] -= factor * a[p * n + j];
            b[i] -= factor * b[p];
        }
    }
    for (int i = 0; i < n; i++)
        b[i] /= a[i * n + i];
    return true;
}

/* All 2^n complementary bases: how many are feasible, and the z of the last. */
static int enumerate(int n, const double *M, const double *q, double *z)
{
    int solutions = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        int index[8] = {0}, k = 0;
        double a[64], b[8], trial[8] = {0};
        for (int i = 0; i < n; i++)
            if (set >> i & 1u) index[k++] = i;
        for (int i = 0; i < k; i++) {
            b[i] = -q[index[i]];
            for (int j = 0; j < k; j++)
                a[i * k + j] = M[index[i] * n + index[j]];
        }
        if (!dense_solve(k, a, b)) continue;
        double size = 1e4;
        for (int i = 0; i < k; i++) {
            trial[index[i]] = b[i];
            size = fmax(size, fabs(b[i]));
        }
        if (naive_error(n, M, q, trial) > 1e-13 * size) continue; /* rounding of M z, |M| about 30 */
        solutions++;
        memcpy(z, trial, (size_t)n * sizeof *z);
    }
    return solutions;
}

static void test_textbook(void **state)
{
    (void)state;
    double z[3];
    /* a P-matrix, solved by hand */
    const double M2[] = {2, 1, 1, 2}, q2[] = {-5, -6};
    assert_int_equal(solve(2, M2, q2, z).outcome, STI_LCP_SOLVED);
    check_close(z[0], 4.0 / 3.0, 1e-15); /* rounding of a 2 x 2 solve */
    check_close(z[1], 7.0 / 3.0, 1e-15);
    /* q >= 0: nothing to do */
    const double q_positive[] = {0, 3};
    sti_LcpInfo info = solve(2, M2, q_positive, z);
    assert_int_equal(info.pivots, 0);
    check_close(z[0] + z[1], 0.0, 0.0);
    /* a scalar, badly scaled */
    const double M1[] = {1e-30}, q1[] = {-3e20};
    assert_int_equal(solve(1, M1, q1, z).outcome, STI_LCP_SOLVED);
    check_close(z[0] / 3e50, 1.0, 1e-15);
}

/* Kostreva's circulant, on which principal pivoting cycles; every ratio of the start ties. */
static void test_cycling(void **state)
{
    (void)state;
    const double M[] = {1, 2, 0, 0, 1, 2, 2, 0, 1}, q[] = {-1, -1, -1};
    double z[3];
    assert_int_equal(solve(3, M, q, z).outcome, STI_LCP_SOLVED);
    for (int i = 0; i < 3; i++)
        check_close(z[i], 1.0 / 3.0, 1e-15);
}

/* Murty's triangular matrices, exponential for Bard-type pivoting, and Fathi's symmetric relative. The
 * answer for q = -e is z = e_1 (forward substitution).                                            */
static void test_murty(void **state)
{
    (void)state;
    for (int n = 1; n <= 12; n++) {
        double M[144] = {0}, F[144] = {0}, q[12], z[12];
        for (int i = 0; i < n; i++) {
            q[i] = -1.0;
            for (int j = 0; j <= i; j++)
                M[i * n + j] = i == j ? 1.0 : 2.0;
        }
        assert_int_equal(solve(n, M, q, z).outcome, STI_LCP_SOLVED);
        for (int i = 0; i < n; i++)
            check_close(z[i], i == 0 ? 1.0 : 0.0, 1e-14);
        /* F = M M': positive definite, so its solution is unique; first row of F is (1, 2, 2, ...) */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    F[i * n + j] += M[i * n + k] * M[j * n + k];
        assert_int_equal(solve(n, F, q, z).outcome, STI_LCP_SOLVED);
        check_close(naive_error(n, F, q, z), 0.0, 1e-11); /* entries to 45, condition to 1e5 */
        check_close(z[0], 1.0, 1e-11);
    }
}

static void test_no_solution(void **state)
{
    (void)state;
    double z[3];
    const double zero[] = {0}, minus[] = {-1}, q1[] = {-1};
    assert_int_equal(solve(1, zero, q1, z).outcome, STI_LCP_RAY);
    assert_int_equal(solve(1, minus, q1, z).outcome, STI_LCP_RAY);
    const double M[] = {1, -1, -1, 1}, q[] = {-1, -1}; /* z1 - z2 >= 1 and z2 - z1 >= 1 */
    assert_int_equal(solve(2, M, q, z).outcome, STI_LCP_RAY);
    const double pinched[] = {1, -1, -1, 1}, gap[] = {-1, 0.5}; /* a body overlapping two walls */
    assert_int_equal(solve(2, pinched, gap, z).outcome, STI_LCP_RAY);
}

enum { ANY_P, SEMIDEFINITE, SIGNED };

static void fill(check_Random *random, int kind, bool integers, int n, double *M, double *q)
{
    double B[64] = {0};
    int rank = kind == SEMIDEFINITE ? check_random_int(random, 1, n) : n;
    for (int i = 0; i < n * n; i++) {
        B[i] = check_random(random, -2, 2);
        if (integers) B[i] = round(B[i]);
    }
    for (int i = 0; i < n; i++) {
        q[i] = integers ? round(check_random(random, -2.4, 2.4)) : check_random(random, -1, 1);
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < rank; k++)
                sum += B[i * n + k] * B[j * n + k];
            if (kind == SIGNED) sum = B[i * n + j];
            M[i * n + j] = sum + (kind == ANY_P && i == j ? 0.5 : 0.0);
        }
    }
    if (kind == SIGNED || check_random_int(random, 0, 1) == 0) return;
    for (int i = 0; i < n; i++) /* a skew part changes none of the classes */
        for (int j = 0; j < i; j++) {
            double skew = integers ? check_random_int(random, -1, 1) : check_random(random, -1, 1);
            M[i * n + j] += skew;
            M[j * n + i] -= skew;
        }
}

/* Positive definite: the one solution. Semi-definite: a solution when there is one, else a ray (Cottle, Pang &
 * Stone, theorem 4.4.13). Any signs: whatever is called solved is. Half of it integers, so that ties abound. */
static void test_against_enumeration(void **state)
{
    (void)state;
    check_Random random = {.state = 20240901};
    int solved[3] = {0}, none[3] = {0};
    for (int trial = 0; trial < 3000; trial++) {
        int n = check_random_int(&random, 1, 8), kind = trial % 3;
        double M[64], q[8], z[8], known[8];
        fill(&random, kind, trial % 2 == 0, n, M, q);
        int solutions = enumerate(n, M, q, known);
        sti_LcpInfo info = solve(n, M, q, z);
        if (kind == ANY_P) assert_int_equal(info.outcome, STI_LCP_SOLVED);
        if (kind == SEMIDEFINITE) assert_int_equal(info.outcome, solutions > 0 ? STI_LCP_SOLVED : STI_LCP_RAY);
        if (kind == SIGNED) assert_true(info.outcome != STI_LCP_LIMIT);
        none[kind] += info.outcome != STI_LCP_SOLVED;
        if (info.outcome != STI_LCP_SOLVED) continue;
        solved[kind]++;
        double size = 1.0;
        for (int i = 0; i < n; i++)
            size = fmax(size, z[i]);
        check_below(naive_error(n, M, q, z), 1e-13 * size); /* rounding of M z, |M| about 30 */
        if (kind == ANY_P)
            for (int i = 0; i < n; i++)
                check_close(z[i], known[i], 1e-10); /* both solves at condition up to 1e4 */
    }
    assert_int_equal(solved[ANY_P], 1000);
    assert_true(solved[SEMIDEFINITE] > 300 && none[SEMIDEFINITE] > 100); /* both ends are met */
    assert_true(solved[SIGNED] > 300);
}

/* Rows with w = 0 and z free: eliminated by hand the answer must be the same, dependent rows included. */
static void test_free_rows(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Allocator allocator = st_default_allocator();
    sti_Lcp *lcp = NULL;
    check_ok(sti_lcp_create(&allocator, &lcp, &err), err);
    check_Random random = {.state = 7};
    for (int trial = 0; trial < 300; trial++) {
        int n = check_random_int(&random, 2, 8);
        double M[64], q[8], z[8];
        bool free_row[8] = {false};
        fill(&random, ANY_P, false, n, M, q);
        free_row[check_random_int(&random, 0, n - 1)] = true;
        free_row[check_random_int(&random, 0, n - 1)] = true;
        sti_LcpInfo info;
        check_ok(sti_lcp_solve(lcp, &(sti_LcpProblem){.n = n, .M = M, .q = q, .free = free_row}, 0, 0, z, &info, &err),
                 err);
        assert_int_equal(info.outcome, STI_LCP_SOLVED);
        for (int i = 0; i < n; i++) {
            double w = q[i];
            for (int j = 0; j < n; j++)
                w += M[i * n + j] * z[j];
            check_close(free_row[i] ? w : fmin(z[i], w), 0.0, 1e-12); /* rounding, |M z| to 100 */
        }
    }
    /* the same equation twice: z_0 + z_1 = 2 is met however it is shared */
    const double M[] = {1, 1, 1, 1, 1, 1, 1, 1, 3}, q[] = {-2, -2, -4};
    const bool free_row[] = {true, true, false};
    double z[3];
    sti_LcpInfo info;
    check_ok(sti_lcp_solve(lcp, &(sti_LcpProblem){.n = 3, .M = M, .q = q, .free = free_row}, 0, 0, z, &info, &err),
             err);
    check_close(z[0] + z[1] + z[2], 2.0, 1e-15);
    check_close(z[2], 1.0, 1e-15);
    sti_lcp_destroy(lcp);
}

/* Circuits: free rows (nodes) whose own block is singular because only complementary elements hold them, and which
 * belong to their variables in no particular order and sign. M is monotone, built backwards from a solution. */
static void test_free_rows_of_circuits(void **state)
{
    (void)state;
    check_Random random = {.state = 11};
    enum { MOST = 40 };
    for (int trial = 0; trial < 200; trial++) {
        const int n_free = check_random_int(&random, 2, 12), n = n_free + check_random_int(&random, n_free, 25);
        static double M[MOST * MOST], z[MOST], q[MOST], x[MOST * MOST];
        static int i_of[MOST * MOST];
        int64_t p[MOST + 1];
        bool free_row[MOST] = {false};
        double answer[MOST];
        memset(M, 0, sizeof M);
        for (int a = 0; a < n; a++) /* skew: nodes and elements; elements have a little resistance, or none */
            for (int b = n_free; b < n && a < n_free; b++) {
                const int sign = check_random_int(&random, -1, 1);
                M[a * n + b] = sign;
                M[b * n + a] = -sign;
            }
        for (int b = n_free; b < n; b++)
            M[b * n + b] = b % 3 == 0 ? 0.1 : 0.0;
        for (int a = 0; a < n; a++) {
            free_row[a] = a < n_free;
            const bool flows = a < n_free || check_random(&random, 0.0, 1.0) < 0.5;
            z[a] = flows ? check_random(&random, a < n_free ? -1.0 : 0.1, 1.0) : 0.0;
            q[a] = a < n_free || flows ? 0.0 : check_random(&random, 0.1, 1.0); /* w, for now */
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                q[a] -= M[a * n + b] * z[b];
        for (int a = n_free - 1; a > 0; a--) { /* shuffle the free rows, and turn some round */
            const int other = check_random_int(&random, 0, a);
            const double sign = check_random_int(&random, 0, 1) == 0 ? -1.0 : 1.0;
            for (int b = 0; b <= n; b++) {
                double *one = b < n ? &M[a * n + b] : &q[a], *two = b < n ? &M[other * n + b] : &q[other], t = *one;
                *one = sign * *two;
                if (other != a) *two = t;
            }
        }
        p[0] = 0;
        for (int b = 0; b < n; b++) {
            p[b + 1] = p[b];
            for (int a = 0; a < n; a++)
                if (M[a * n + b] != 0.0) {
                    i_of[p[b + 1]] = a;
                    x[p[b + 1]++] = M[a * n + b];
                }
        }
        st_Error err = {0};
        st_LcpInfo info;
        const st_LcpProblem problem = {.n = n, .M = {n, n, p, i_of, x}, .q = q, .free = free_row};
        check_ok(st_lcp_solve(&problem, 1e-10, answer, &info, &err), err);
        assert_int_equal(info.outcome, ST_LCP_SOLVED); /* monotone and solvable: Lemke's method must get there */
        double error = 1.0;
        check_ok(st_lcp_residual(&problem, answer, &error, &err), err);
        check_below(error, 1e-10);
    }
}

/* Pairs that depend on many free rows: F z_F + B z_P = -q_F, and w_P = C z_F + D z_P + q_P. Eliminating z_F leaves w
 * = S z + s with S = D - C inv(F) B, which is drawn first, so that its solution is known: none for S = -I, s = -1.
 * Eliminating 400 rows again for each of 2^12 sets would take hours.  F is I + a a'/n with inverse I - a a'/(2 n), a
 * of ones and minus ones. */
typedef struct Behind {
    int n, n_free;
    double *M, *q, *x;
    int64_t *p;
    int *i;
    bool *free_row;
    st_LcpProblem problem;
} Behind;

static double sign_of(int k)
{
    return k * k % 7 < 3 ? 1.0 : -1.0;
}

/* inv(F) y = y - a (a'y)/(2 n) */
static void by_inverse(int n, double *y)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += sign_of(k) * y[k];
    for (int k = 0; k < n; k++)
        y[k] -= sign_of(k) * sum / (2.0 * n);
}

/* Free rows and pairs take turns as far as there are pairs. */
static int place_of(const Behind *b, bool pair, int k)
{
    const int n_pairs = b->n - b->n_free;
    return pair ? 2 * k : (k < n_pairs ? 2 * k + 1 : n_pairs + k);
}

static void make_behind(Behind *b, int n_free, int n_pairs, const double *S, const double *s, bool loose)
{
    check_Random random = {11};
    const int n = b->n = n_free + n_pairs, n_F = loose ? n_free - 1 : n_free;
    b->n_free = n_free;
    b->M = calloc((size_t)n * (size_t)n, sizeof(double)), b->x = calloc((size_t)n * (size_t)n, sizeof(double));
    b->q = calloc((size_t)n, sizeof(double)), b->p = calloc((size_t)n + 1, sizeof(int64_t));
    b->i = calloc((size_t)n * (size_t)n, sizeof(int)), b->free_row = calloc((size_t)n, sizeof(bool));
    double *B = calloc((size_t)n_F * ((size_t)n_pairs + 1), sizeof(double)); /* columns; the last one is q_F */
    double *C = calloc((size_t)n_F * (size_t)n_pairs, sizeof(double));
    for (int k = 0; k < n_F * (n_pairs + 1); k++)
        B[k] = check_random(&random, -1, 1) / n_F;
    for (int k = 0; k < n_F * n_pairs; k++)
        C[k] = check_random(&random, -1, 1);
    for (int k = 0; k < n_F; k++) {
        const int row = place_of(b, false, k);
        b->q[row] = B[n_F * n_pairs + k];
        for (int j = 0; j < n_F; j++)
            b->M[row * n + place_of(b, false, j)] = (k == j) + sign_of(k) * sign_of(j) / n_F;
        for (int j = 0; j < n_pairs; j++) {
            b->M[row * n + place_of(b, true, j)] = B[j * n_F + k];
            b->M[place_of(b, true, j) * n + row] = C[j * n_F + k];
        }
    }
    for (int k = 0; k < n_free; k++)
        b->free_row[place_of(b, false, k)] = true;
    if (loose) { /* z_0 = 1, with its multiplier in w_0 */
        const int row = place_of(b, false, n_F), pair = place_of(b, true, 0);
        b->M[row * n + pair] = b->M[pair * n + row] = 1, b->q[row] = -1;
    }
    for (int j = 0; j <= n_pairs; j++)
        by_inverse(n_F, B + (ptrdiff_t)j * n_F);
    for (int k = 0; k < n_pairs; k++)
        for (int j = 0; j <= n_pairs; j++) {
            double sum = j < n_pairs ? S[k * n_pairs + j] : s[k];
            for (int e = 0; e < n_F; e++)
                sum += C[k * n_F + e] * B[j * n_F + e];
            *(j < n_pairs ? &b->M[place_of(b, true, k) * n + place_of(b, true, j)] : &b->q[place_of(b, true, k)]) = sum;
        }
    int64_t at = 0;
    for (int j = 0; j < n; j++) {
        b->p[j] = at;
        for (int k = 0; k < n; k++)
            b->i[at] = k, b->x[at++] = b->M[k * n + j];
    }
    b->p[n] = at;
    b->problem = (st_LcpProblem){.n = n, .M = {n, n, b->p, b->i, b->x}, .q = b->q, .free = b->free_row};
    free(B), free(C);
}

static void free_behind(Behind *b)
{
    free(b->M), free(b->x), free(b->q), free(b->p), free(b->i), free(b->free_row);
}

static void test_free_rows_are_eliminated_once(void **state)
{
    (void)state;
    double S[144] = {0}, s[12], z[412];
    for (int k = 0; k < 12; k++)
        S[13 * k] = s[k] = -1;
    Behind b;
    st_LcpInfo info;
    st_Error err = {0};
    make_behind(&b, 200, 12, S, s, false);
    check_ok(st_lcp_solve(&b.problem, 1e-9, z, &info, &err), err);
    assert_int_equal(info.outcome, ST_LCP_NO_SOLUTION);
    free_behind(&b);
}

/* Two pairs with w = 1 - z: each z is 0 or 1. Two more have w_2 = 3 z_0 - z_2 - 1, and 3 z_1 - z_3 - 1: so z_0 = z_1
 * = 1. One more free row requires this for z_0; its own diagonal is 0, so it cannot be eliminated before the pairs. */
static void test_sets_behind_free_rows(void **state)
{
    (void)state;
    double S[16] = {0}, s[4], z[40], error;
    for (int k = 0; k < 4; k++)
        S[5 * k] = -1, s[k] = k < 2 ? 1 : -1;
    S[2 * 4 + 0] = S[3 * 4 + 1] = 3;
    for (int loose = 0; loose < 2; loose++) {
        Behind b;
        st_LcpInfo info;
        st_Error err = {0};
        make_behind(&b, 30, 4, S, s, loose == 1);
        check_ok(st_lcp_solve(&b.problem, 1e-9, z, &info, &err), err);
        assert_int_equal(info.outcome, ST_LCP_SOLVED);
        check_ok(st_lcp_residual(&b.problem, z, &error, &err), err);
        check_below(error, 1e-9);
        check_close(z[place_of(&b, true, 0)], 1, 1e-8); /* the error is relative to q, of norm 3 */
        check_close(z[place_of(&b, true, 1)], 1, 1e-8);
        free_behind(&b);
    }
}

static bool at_once(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

/* A cancel callback that returns true is called, and no pivot is made. */
static void test_cancel(void **state)
{
    (void)state;
    int asked = 0;
    double z[2];
    st_LcpInfo info;
    st_Error err = {0};
    const int64_t p[] = {0, 2, 4};
    const int i[] = {0, 1, 0, 1};
    const double x[] = {2, 1, 1, 2}, q[] = {-5, -6};
    const st_LcpProblem problem = {.n = 2, .M = {2, 2, p, i, x}, .q = q, .cancel = at_once, .cancel_ctx = &asked};
    check_ok(st_lcp_solve(&problem, 1e-10, z, &info, &err), err);
    assert_int_equal(info.outcome, ST_LCP_FAILED);
    assert_int_equal(info.pivots, 0);
    assert_true(asked > 0);
}

static void random_large(check_Random *random, int n, double *M, double *q)
{
    static double B[MAX_N * MAX_N];
    for (int i = 0; i < n * n; i++)
        B[i] = check_random(random, -1, 1);
    for (int i = 0; i < n; i++) {
        q[i] = check_random(random, -1, 1);
        for (int j = 0; j < n; j++) {
            M[i * n + j] = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; k++)
                M[i * n + j] += B[i * n + k] * B[j * n + k];
        }
    }
}

static void test_no_allocation_after_the_first(void **state)
{
    (void)state;
    st_Error err = {0};
    Counter counter = {0};
    st_Allocator allocator = counting(&counter);
    sti_Lcp *lcp = NULL;
    check_ok(sti_lcp_create(&allocator, &lcp, &err), err);
    check_Random random = {.state = 11};
    static double M[MAX_N * MAX_N], q[MAX_N], z[MAX_N];
    int calls = 0;
    for (int trial = 0; trial < 20; trial++) {
        int n = trial == 0 ? MAX_N : check_random_int(&random, 1, MAX_N);
        sti_LcpInfo info;
        random_large(&random, n, M, q);
        check_ok(sti_lcp_solve(lcp, &(sti_LcpProblem){.n = n, .M = M, .q = q}, 0, STI_LCP_ATTEMPTS - 1, z, &info, &err),
                 err);
        assert_int_equal(info.outcome, STI_LCP_SOLVED);
        check_below(naive_error(n, M, q, z), 1e-11); /* rounding of M z: 60 terms of |M| 20, z to 10 */
        if (trial == 0) calls = counter.calls;
    }
    assert_int_equal(counter.calls, calls);
    sti_lcp_destroy(lcp);
    assert_int_equal(counter.live, 0);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    const double M[] = {2, 1, 1, 2}, q[] = {-5, -6};
    double z[2];
    bool failed = true;
    for (int fail_at = 1; failed; fail_at++) {
        assert_true(fail_at < 20);
        st_Error err = {0};
        Counter counter = {.fail_at = fail_at};
        st_Allocator allocator = counting(&counter);
        sti_Lcp *lcp = NULL;
        sti_LcpInfo info;
        st_Status status = sti_lcp_create(&allocator, &lcp, &err);
        if (status == ST_OK)
            status = sti_lcp_solve(lcp, &(sti_LcpProblem){.n = 2, .M = M, .q = q}, 0, 0, z, &info, &err);
        failed = status != ST_OK;
        if (failed) assert_int_equal(status, ST_ERR_MEMORY);
        sti_lcp_destroy(lcp);
        assert_int_equal(counter.live, 0);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    const double M[] = {1, 0, 0, NAN}, good[] = {1, 0, 0, 1}, q[] = {-1, -1}, bad[] = {-1, -INFINITY};
    double z[2];
    st_Error err = {0};
    st_Allocator allocator = st_default_allocator();
    sti_Lcp *lcp = NULL;
    sti_LcpInfo info;
    check_ok(sti_lcp_create(&allocator, &lcp, &err), err);
    assert_int_equal(sti_lcp_solve(lcp, &(sti_LcpProblem){.n = 2, .M = M, .q = q}, 0, 0, z, &info, &err),
                     ST_ERR_NUMERIC);
    assert_int_equal(sti_lcp_solve(lcp, &(sti_LcpProblem){.n = 2, .M = good, .q = bad}, 0, 0, z, &info, &err),
                     ST_ERR_NUMERIC);
    sti_lcp_destroy(lcp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_cycling),
        cmocka_unit_test(test_murty),
        cmocka_unit_test(test_no_solution),
        cmocka_unit_test(test_against_enumeration),
        cmocka_unit_test(test_free_rows),
        cmocka_unit_test(test_free_rows_of_circuits),
        cmocka_unit_test(test_free_rows_are_eliminated_once),
        cmocka_unit_test(test_sets_behind_free_rows),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_no_allocation_after_the_first),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
