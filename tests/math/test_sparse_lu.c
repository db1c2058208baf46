/* Multifrontal LU: the product with the matrix itself is the judge. Random block patterns, symmetric or not,
 * trees, grids, several components, dense ones; and the dense kernel by its definition.            */
#include "check.h"
#include "math/dense.h"
#include "math/sparse_lu.h"

#include <string.h>

typedef struct Matrix {
    int n, first[402];
    int64_t p[402], *start;
    int *j;
    double *x;
    int64_t n_x;
} Matrix;

/* Each pair of blocks is there with probability `density` (always when next to each other, if chain). The
 * diagonal is made to outweigh the rest of its row, so that the matrix is far from singular.        */
static Matrix random_matrix(check_Random *random, int n, double density, bool chain, bool mirrored)
{
    Matrix m = {.n = n};
    const int64_t room = (int64_t)n * n;
    m.start = calloc((size_t)room, sizeof *m.start);
    m.j = calloc((size_t)room, sizeof *m.j);
    m.x = calloc((size_t)room * 25, sizeof *m.x);
    bool *there = calloc((size_t)room, 1);
    if (m.start == NULL || m.j == NULL || m.x == NULL || there == NULL) abort(); /* the test has no use for less */
    const int sizes[] = {3, 1, 2, 3, 5};
    for (int i = 0; i < n; i++) {
        m.first[i + 1] = m.first[i] + sizes[(int)check_random(random, 0.0, 4.99)];
        for (int j = 0; j < n; j++)
            there[i * n + j] =
                there[i * n + j] || i == j || (chain && abs(i - j) == 1) || check_random(random, 0.0, 1.0) < density;
        for (int j = 0; j < n && mirrored; j++)
            there[j * n + i] = there[j * n + i] || there[i * n + j];
    }
    for (int i = 0; i < n; i++) {
        m.p[i + 1] = m.p[i];
        for (int j = 0; j < n; j++) {
            if (!there[i * n + j]) continue;
            const int rows = m.first[i + 1] - m.first[i], columns = m.first[j + 1] - m.first[j];
            m.j[m.p[i + 1]] = j;
            m.start[m.p[i + 1]++] = m.n_x;
            for (int a = 0; a < rows; a++)
                for (int b = 0; b < columns; b++)
                    m.x[m.n_x++] = check_random(random, -1.0, 1.0) + (i == j && a == b ? 0.7 * m.first[n] : 0.0);
        }
    }
    free(there);
    return m;
}

static void release(Matrix *m)
{
    free(m->start);
    free(m->j);
    free(m->x);
}

static sti_BlockRows pattern_of(const Matrix *m)
{
    return (sti_BlockRows){m->n, m->first, m->p, m->j, m->start};
}

/* max |A y - b| */
static double defect(const Matrix *m, const double *y, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < m->n; i++)
        for (int a = m->first[i]; a < m->first[i + 1]; a++) {
            double sum = -b[a];
            for (int64_t e = m->p[i]; e < m->p[i + 1]; e++) {
                const int j = m->j[e], columns = m->first[j + 1] - m->first[j];
                for (int c = 0; c < columns; c++)
                    sum += m->x[m->start[e] + (a - m->first[i]) * columns + c] * y[m->first[j] + c];
            }
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static void check_solves(sti_SparseLu *lu, const Matrix *m, check_Random *random)
{
    double b[2010], y[2010];
    int replaced = -1;
    st_Error err = {0};
    const sti_BlockRows pattern = pattern_of(m);
    check_ok(sti_sparse_lu_factor(lu, &pattern, m->x, 1e-14, &replaced, &err), err);
    assert_int_equal(replaced, 0);
    for (int k = 0; k < m->first[m->n]; k++)
        y[k] = b[k] = check_random(random, -1.0, 1.0);
    sti_sparse_lu_solve(lu, y);
    check_below(defect(m, y, b), 1e-13); /* n eps |A| |y| with |A| |y| about 1, n up to 1200 */
}

static void test_random_patterns(void **state)
{
    (void)state;
    check_Random random = {3};
    const st_Allocator allocator = st_default_allocator();
    sti_SparseLu *lu = NULL;
    assert_int_equal(sti_sparse_lu_create(&allocator, NULL, &lu, NULL), ST_OK);
    for (int k = 0; k < 60; k++) {
        const int n = 1 + (int)check_random(&random, 0.0, k < 50 ? 60.0 : 400.0);
        const double density = check_random(&random, 0.0, 1.0) < 0.2 ? 1.0 : check_random(&random, 0.0, 6.0) / n;
        Matrix m = random_matrix(&random, n, density, k % 3 == 0, k % 2 == 0);
        check_solves(lu, &m, &random);
        check_solves(lu, &m, &random); /* the analysis kept */
        release(&m);
    }
    sti_sparse_lu_destroy(lu);
}

/* A chain of n blocks has no fill: 3 blocks a row, whatever n is, and a few zeros of merged supernodes. */
static void test_chain_stays_sparse(void **state)
{
    (void)state;
    check_Random random = {5};
    const st_Allocator allocator = st_default_allocator();
    sti_SparseLu *lu = NULL;
    assert_int_equal(sti_sparse_lu_create(&allocator, NULL, &lu, NULL), ST_OK);
    Matrix m = random_matrix(&random, 400, 0.0, true, true);
    check_solves(lu, &m, &random);
    assert_true(sti_sparse_lu_size(lu) < 4 * m.n_x);
    release(&m);
    sti_sparse_lu_destroy(lu);
}

/* A zero block row: its pivots are replaced and counted, the rest of the answer is untouched. */
static void test_singular_is_counted(void **state)
{
    (void)state;
    const int first[] = {0, 1, 3}, j[] = {0, 1};
    const int64_t p[] = {0, 1, 2}, start[] = {0, 1};
    const double x[] = {2.0, 0.0, 0.0, 0.0, 0.0};
    double y[] = {4.0, 0.0, 0.0};
    const st_Allocator allocator = st_default_allocator();
    sti_SparseLu *lu = NULL;
    int replaced = 0;
    assert_int_equal(sti_sparse_lu_create(&allocator, NULL, &lu, NULL), ST_OK);
    assert_int_equal(sti_sparse_lu_factor(lu, &(sti_BlockRows){2, first, p, j, start}, x, 1e-14, &replaced, NULL),
                     ST_OK);
    assert_int_equal(replaced, 2);
    sti_sparse_lu_solve(lu, y);
    check_close(y[0], 2.0, 0.0);
    check_close(y[1], 0.0, 0.0);
    sti_sparse_lu_destroy(lu);
}

/* Multiply the factors back together: sizes around the panel and tile borders. */
static void test_dense_partial(void **state)
{
    (void)state;
    check_Random random = {9};
    static double F[120 * 121], A[120 * 121];
    int pivot[120];
    const int sizes[][2] = {{1, 1}, {7, 7}, {8, 3}, {33, 33}, {40, 32}, {71, 64}, {120, 65}, {120, 120}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        const int n = sizes[t][0], k = sizes[t][1], stride = n + 1;
        for (int e = 0; e < n * stride; e++)
            F[e] = A[e] = check_random(&random, -1.0, 1.0);
        assert_int_equal(sti_dense_lu(F, n, k, stride, 1e-300, pivot, NULL), 0);
        for (int i = 0; i < k; i++)
            for (int c = 0; c < n && pivot[i] != i; c++) {
                const double x = A[i * stride + c];
                A[i * stride + c] = A[pivot[i] * stride + c];
                A[pivot[i] * stride + c] = x;
            }
        for (int i = 0; i < n; i++)
            for (int c = 0; c < n; c++) {
                double sum = i >= k && c >= k ? F[i * stride + c] : 0.0;
                for (int q = 0; q < k && q <= i && q <= c; q++)
                    sum += (q == i ? 1.0 : F[i * stride + q]) * F[q * stride + c];
                check_close(sum, A[i * stride + c], 2e-12); /* n eps times the growth of random matrices, below 100 */
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_patterns),
        cmocka_unit_test(test_chain_stays_sparse),
        cmocka_unit_test(test_singular_is_counted),
        cmocka_unit_test(test_dense_partial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
