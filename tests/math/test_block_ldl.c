/* Block LDL' against dense elimination: random sparse block matrices, the patterns that fill in least and
 * most, dependent rows, several components, and the reuse of the analysis.
 */
#include "check.h"
#include "math/block_ldl.h"

#include <string.h>

#define MAX_BLOCKS 200
#define MAX_SIZE   200

typedef struct Matrix {
    int n_blocks, first[MAX_BLOCKS + 1];
    bool linked[MAX_BLOCKS][MAX_BLOCKS]; /* lower triangle of the pattern */
    double full[MAX_SIZE][MAX_SIZE];
    int64_t p[MAX_BLOCKS + 1], start[MAX_BLOCKS * MAX_BLOCKS];
    int i[MAX_BLOCKS * MAX_BLOCKS];
    double x[MAX_SIZE * MAX_SIZE];
} Matrix;

static int size_of(const Matrix *m)
{
    return m->first[m->n_blocks];
}

static sti_BlockPattern pack(Matrix *m)
{
    int64_t at = 0;
    m->p[0] = 0;
    for (int j = 0; j < m->n_blocks; j++) {
        m->p[j + 1] = m->p[j];
        for (int i = j; i < m->n_blocks; i++) {
            if (i != j && !m->linked[i][j]) continue;
            m->i[m->p[j + 1]] = i;
            m->start[m->p[j + 1]++] = at;
            for (int a = m->first[i]; a < m->first[i + 1]; a++)
                for (int b = m->first[j]; b < m->first[j + 1]; b++)
                    m->x[at++] = m->full[a][b];
        }
    }
    return (sti_BlockPattern){.n_blocks = m->n_blocks, .first = m->first, .p = m->p, .i = m->i, .start = m->start};
}

static void random_sizes(Matrix *m, int n_blocks, check_Random *random)
{
    memset(m, 0, sizeof *m);
    m->n_blocks = n_blocks;
    for (int k = 0; k < n_blocks; k++)
        m->first[k + 1] = m->first[k] + check_random_int(random, 1, 5);
}

/* S = sum over links of B B', B living on the two blocks: positive semi-definite with just that
 * pattern; plus `ridge` on the diagonal.                                                           */
static void fill_by_links(Matrix *m, double ridge, check_Random *random)
{
    memset(m->full, 0, sizeof m->full);
    for (int k = 0; k < size_of(m); k++)
        m->full[k][k] = ridge;
    for (int i = 0; i < m->n_blocks; i++)
        for (int j = 0; j <= i; j++) {
            if (i != j && !m->linked[i][j]) continue;
            for (int column = 0; column < 6; column++) {
                double b[MAX_SIZE] = {0};
                for (int k = m->first[i]; k < m->first[i + 1]; k++)
                    b[k] = check_random(random, -1.0, 1.0);
                for (int k = m->first[j]; k < m->first[j + 1]; k++)
                    b[k] = check_random(random, -1.0, 1.0);
                for (int r = 0; r < size_of(m); r++)
                    for (int c = 0; c < size_of(m); c++)
                        m->full[r][c] += b[r] * b[c];
            }
        }
}

/* max |S y - rhs|, S and y in double: how well the equations hold. */
static double residual(const Matrix *m, const double *y, const double *rhs)
{
    double worst = 0.0;
    for (int r = 0; r < size_of(m); r++) {
        double sum = -rhs[r];
        for (int c = 0; c < size_of(m); c++)
            sum += m->full[r][c] * y[c];
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

static double largest_entry(const Matrix *m)
{
    double most = 0.0;
    for (int k = 0; k < size_of(m); k++)
        most = fmax(most, m->full[k][k]);
    return most;
}

static sti_BlockLdl *new_ldl(void)
{
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_BlockLdl *ldl = NULL;
    check_ok(sti_block_ldl_create(&allocator, &ldl, &err), err);
    return ldl;
}

/* Draw y, make the right-hand side from it, solve, compare. Conditions stay below 1e4 with ridge 1. */
static void check_solves(Matrix *m, sti_BlockLdl *ldl, check_Random *random)
{
    const sti_BlockPattern pattern = pack(m);
    st_Error err = {0};
    int redundant = -1;
    double y[MAX_SIZE] = {0}, rhs[MAX_SIZE] = {0};
    check_ok(sti_block_ldl_factor(ldl, &pattern, m->x, &redundant, &err), err);
    assert_int_equal(redundant, 0);
    for (int k = 0; k < size_of(m); k++)
        y[k] = check_random(random, -1.0, 1.0);
    for (int r = 0; r < size_of(m); r++)
        for (int c = 0; c < size_of(m); c++)
            rhs[r] += m->full[r][c] * y[c];
    sti_block_ldl_solve(ldl, rhs);
    for (int k = 0; k < size_of(m); k++)
        check_close(rhs[k], y[k], 1e-11); /* seen 1e-13 */
}

static void link_randomly(Matrix *m, double density, check_Random *random)
{
    for (int i = 0; i < m->n_blocks; i++)
        for (int j = 0; j < i; j++)
            m->linked[i][j] = check_random(random, 0.0, 1.0) < density;
}

/* One workspace through all of it: sizes and patterns change under its feet. */
static void test_random_patterns(void **state)
{
    (void)state;
    static Matrix m;
    check_Random random = {.state = 1};
    sti_BlockLdl *ldl = new_ldl();
    for (int sample = 0; sample < 200; sample++) {
        random_sizes(&m, check_random_int(&random, 1, 30), &random);
        link_randomly(&m, check_random(&random, 0.0, 0.3), &random);
        fill_by_links(&m, 1.0, &random);
        check_solves(&m, ldl, &random);
    }
    sti_block_ldl_destroy(ldl);
}

/* Chain, star (centre first: without reordering it fills completely), ring, full, diagonal. */
static void test_fill_patterns(void **state)
{
    (void)state;
    static Matrix m;
    check_Random random = {.state = 2};
    for (int kind = 0; kind < 5; kind++) {
        sti_BlockLdl *ldl = new_ldl();
        random_sizes(&m, 30, &random);
        for (int i = 1; i < m.n_blocks; i++)
            for (int j = 0; j < i; j++)
                m.linked[i][j] = kind == 0   ? j == i - 1
                                 : kind == 1 ? j == 0
                                 : kind == 2 ? j == i - 1 || (j == 0 && i == m.n_blocks - 1)
                                             : kind == 3;
        fill_by_links(&m, 1.0, &random);
        check_solves(&m, ldl, &random);
        sti_block_ldl_destroy(ldl);
    }
}

/* Solve a consistent system S y = S z and return max |S y - S z|. */
static double solve_consistent(Matrix *m, sti_BlockLdl *ldl, check_Random *random, double *y, int *redundant)
{
    const int n = size_of(m);
    double rhs[MAX_SIZE] = {0}, z[MAX_SIZE] = {0};
    for (int i = 0; i < m->n_blocks; i++)
        for (int j = 0; j < i; j++)
            m->linked[i][j] = true;
    for (int k = 0; k < n; k++)
        z[k] = check_random(random, -1.0, 1.0);
    for (int r = 0; r < n; r++) {
        rhs[r] = 0.0;
        for (int c = 0; c < n; c++)
            rhs[r] += m->full[r][c] * z[c];
        y[r] = rhs[r];
    }
    const sti_BlockPattern pattern = pack(m);
    st_Error err = {0};
    check_ok(sti_block_ldl_factor(ldl, &pattern, m->x, redundant, &err), err);
    sti_block_ldl_solve(ldl, y);
    return residual(m, y, rhs);
}

/* S = J J' + (J E)(J E)'/4. Rows of J: unit vectors, and combinations of two of them, in random order;
 * so the rank is known and independent pivots are not small. The rest must be found redundant, have
 * unknown 0, and all equations must hold.                                                          */
static void test_redundant_rows(void **state)
{
    (void)state;
    static Matrix m;
    static double J[MAX_SIZE][MAX_SIZE], JE[MAX_SIZE][MAX_SIZE];
    check_Random random = {.state = 3};
    sti_BlockLdl *ldl = new_ldl();
    for (int sample = 0; sample < 200; sample++) {
        random_sizes(&m, check_random_int(&random, 2, 8), &random);
        const int n = size_of(&m), rank = check_random_int(&random, 0, n);
        int order[MAX_SIZE] = {0};
        memset(J, 0, sizeof J);
        for (int r = 0; r < n; r++) {
            const int at = check_random_int(&random, 0, r);
            order[r] = order[at];
            order[at] = r;
        }
        for (int r = 0; r < n && rank > 0; r++) {
            if (r < rank) J[order[r]][r] = 1.0;
            if (r >= rank) J[order[r]][check_random_int(&random, 0, rank - 1)] += check_random(&random, 0.5, 2.0);
            if (r >= rank) J[order[r]][check_random_int(&random, 0, rank - 1)] += check_random(&random, 0.5, 2.0);
        }
        for (int c = 0; c < rank; c++) {
            double e[MAX_SIZE] = {0};
            for (int k = 0; k < rank; k++)
                e[k] = check_random(&random, -1.0, 1.0) / sqrt(rank);
            for (int r = 0; r < n; r++) {
                JE[r][c] = 0.0;
                for (int k = 0; k < rank; k++)
                    JE[r][c] += 0.5 * J[r][k] * e[k];
            }
        }
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++) {
                m.full[r][c] = 0.0;
                for (int k = 0; k < rank; k++)
                    m.full[r][c] += J[r][k] * J[c][k] + JE[r][k] * JE[c][k];
            }
        double y[MAX_SIZE] = {0};
        int redundant = -1, zeros = 0;
        check_below(solve_consistent(&m, ldl, &random, y, &redundant), 1e-12 * (1.0 + largest_entry(&m)));
        assert_int_equal(redundant, n - rank);
        for (int k = 0; k < n; k++)
            zeros += y[k] == 0.0;
        assert_int_equal(zeros, n - rank);
    }
    sti_block_ldl_destroy(ldl);
}

/* J random: after an independent pivot of 1e-6 a dependent row is left with 1e-16/1e-6, which no fixed threshold can
 * distinguish from an independent one. It may then be kept; the equations still hold, to about eps/1e-6. */
static void test_ill_conditioned_redundant_rows(void **state)
{
    (void)state;
    static Matrix m;
    static double J[MAX_SIZE][MAX_SIZE];
    check_Random random = {.state = 7};
    sti_BlockLdl *ldl = new_ldl();
    for (int sample = 0; sample < 300; sample++) {
        random_sizes(&m, check_random_int(&random, 2, 8), &random);
        const int n = size_of(&m), rank = check_random_int(&random, 0, n);
        for (int r = 0; r < n; r++)
            for (int c = 0; c < rank; c++)
                J[r][c] = check_random(&random, -1.0, 1.0);
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++) {
                m.full[r][c] = 0.0;
                for (int k = 0; k < rank; k++)
                    m.full[r][c] += J[r][k] * J[c][k];
            }
        double y[MAX_SIZE] = {0};
        int redundant = -1;
        check_below(solve_consistent(&m, ldl, &random, y, &redundant), 1e-9 * (1.0 + largest_entry(&m)));
        assert_true(redundant <= n - rank);
    }
    sti_block_ldl_destroy(ldl);
}

/* Solving one component leaves the others untouched and agrees with the whole, bit for bit. */
static void test_components(void **state)
{
    (void)state;
    static Matrix m;
    check_Random random = {.state = 4};
    sti_BlockLdl *ldl = new_ldl();
    random_sizes(&m, 30, &random);
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < i; j++)
            m.linked[i][j] = i % 3 == j % 3 && check_random_int(&random, 0, 3) == 0; /* interleaved */
    for (int i = 3; i < 30; i++)
        m.linked[i][i - 3] = true; /* and each of the three connected */
    fill_by_links(&m, 1.0, &random);
    const sti_BlockPattern pattern = pack(&m);
    st_Error err = {0};
    check_ok(sti_block_ldl_factor(ldl, &pattern, m.x, NULL, &err), err);
    double rhs[MAX_SIZE] = {0}, whole[MAX_SIZE] = {0}, part[MAX_SIZE] = {0};
    for (int k = 0; k < size_of(&m); k++)
        whole[k] = part[k] = rhs[k] = check_random(&random, -1.0, 1.0);
    sti_block_ldl_solve(ldl, whole);
    sti_block_ldl_solve_component(ldl, 13, part);
    for (int block = 0; block < 30; block++)
        for (int k = m.first[block]; k < m.first[block + 1]; k++)
            assert_true(part[k] == (block % 3 == 13 % 3 ? whole[k] : rhs[k]));
    /* four right-hand sides at once: each as it comes out alone */
    double wide[STI_WIDTH * MAX_SIZE] = {0}, alone[STI_WIDTH * MAX_SIZE] = {0};
    for (int k = 0; k < size_of(&m); k++)
        for (int j = 0; j < STI_WIDTH; j++)
            wide[STI_WIDTH * k + j] = (1 + j * k % 7) * rhs[k];
    for (int j = 0; j < STI_WIDTH; j++) {
        for (int k = 0; k < size_of(&m); k++)
            part[k] = wide[STI_WIDTH * k + j];
        sti_block_ldl_solve_component(ldl, 13, part);
        for (int k = 0; k < size_of(&m); k++)
            alone[STI_WIDTH * k + j] = part[k];
    }
    sti_block_ldl_solve_component_wide(ldl, 13, (sti_Wide *)wide);
    assert_memory_equal(wide, alone, sizeof(double) * STI_WIDTH * (size_t)size_of(&m));
    sti_block_ldl_destroy(ldl);
}

/* AMD puts rows with very many neighbours last, after other components: here the centre of a star of 160, with a
 * chain of 40 beside it. The star must still be solved as one. */
static void test_dense_row_among_components(void **state)
{
    (void)state;
    static Matrix m;
    check_Random random = {.state = 8};
    sti_BlockLdl *ldl = new_ldl();
    memset(&m, 0, sizeof m);
    m.n_blocks = 200;
    for (int k = 0; k <= 200; k++)
        m.first[k] = k;
    for (int i = 1; i < 200; i++) { /* every fifth block is the chain's */
        if (i % 5 == 4 && i > 4) m.linked[i][i - 5] = true;
        if (i % 5 != 4) m.linked[i][0] = true;
    }
    fill_by_links(&m, 1.0, &random);
    check_solves(&m, ldl, &random);
    double rhs[MAX_SIZE] = {0}, whole[MAX_SIZE] = {0}, part[MAX_SIZE] = {0};
    for (int block = 0; block <= 4; block += 4) {
        for (int k = 0; k < 200; k++)
            whole[k] = part[k] = rhs[k] = check_random(&random, -1.0, 1.0);
        sti_block_ldl_solve(ldl, whole);
        sti_block_ldl_solve_component(ldl, block, part);
        for (int k = 0; k < 200; k++)
            assert_true(part[k] == ((k % 5 == 4) == (block == 4) ? whole[k] : rhs[k]));
    }
    sti_block_ldl_destroy(ldl);
}

typedef struct Counting {
    st_Allocator inner;
    int calls, fail_at;
    int64_t live;
} Counting;

static void *counting_alloc(void *ctx, size_t size, size_t align)
{
    Counting *c = ctx;
    if (c->calls++ == c->fail_at) return NULL;
    c->live += (int64_t)size;
    return c->inner.alloc(c->inner.ctx, size, align);
}

static void counting_free(void *ctx, void *memory, size_t size, size_t align)
{
    Counting *c = ctx;
    c->live -= (int64_t)size;
    c->inner.free(c->inner.ctx, memory, size, align);
}

/* New numbers in the same pattern: right answers, no allocation. Then every allocation fails in turn. */
static void test_memory(void **state)
{
    (void)state;
    static Matrix m;
    check_Random random = {.state = 5};
    random_sizes(&m, 25, &random);
    link_randomly(&m, 0.2, &random);
    bool finished = false;
    for (int n = 0; !finished && n < 1000; n++) {
        Counting counting = {.inner = st_default_allocator(), .fail_at = n};
        const st_Allocator allocator = {counting_alloc, counting_free, &counting};
        st_Error err = {0};
        sti_BlockLdl *ldl = NULL;
        fill_by_links(&m, 1.0, &random);
        const sti_BlockPattern pattern = pack(&m);
        st_Status status = sti_block_ldl_create(&allocator, &ldl, &err);
        if (status == ST_OK) status = sti_block_ldl_factor(ldl, &pattern, m.x, NULL, &err);
        finished = counting.calls <= n;
        assert_int_equal(status, finished ? ST_OK : ST_ERR_MEMORY);
        if (ldl != NULL) check_solves(&m, ldl, &random);
        const int calls = counting.calls;
        fill_by_links(&m, 2.0, &random);
        if (ldl != NULL) check_solves(&m, ldl, &random);
        assert_int_equal(counting.calls, calls);
        sti_block_ldl_destroy(ldl);
        assert_int_equal(counting.live, 0);
    }
    assert_true(finished);
}

static void test_not_a_number(void **state)
{
    (void)state;
    static Matrix m;
    check_Random random = {.state = 6};
    sti_BlockLdl *ldl = new_ldl();
    random_sizes(&m, 5, &random);
    link_randomly(&m, 0.5, &random);
    fill_by_links(&m, 1.0, &random);
    m.full[3][3] = NAN;
    const sti_BlockPattern pattern = pack(&m);
    st_Error err = {0};
    assert_int_equal(sti_block_ldl_factor(ldl, &pattern, m.x, NULL, &err), ST_ERR_NUMERIC);
    sti_block_ldl_destroy(ldl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_patterns), cmocka_unit_test(test_fill_patterns),
        cmocka_unit_test(test_redundant_rows),  cmocka_unit_test(test_ill_conditioned_redundant_rows),
        cmocka_unit_test(test_components),      cmocka_unit_test(test_dense_row_among_components),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
