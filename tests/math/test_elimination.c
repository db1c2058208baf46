/* Order, tree and fill of a pattern, against elimination of the full matrix of booleans. */
#include "check.h"

#include "math/elimination.h"

enum { MOST = 40 };

typedef struct Pattern {
    int n, i[MOST * MOST];
    int64_t p[MOST + 1];
} Pattern;

/* Entries on one side of the diagonal, on the other, or on both, as chance has it. */
static Pattern random_pattern(check_Random *random, int n, double density)
{
    Pattern a = {.n = n};
    for (int j = 0; j < n; j++) {
        a.p[j + 1] = a.p[j];
        for (int i = 0; i < n; i++)
            if (i == j || check_random(random, 0, 1) < density) a.i[a.p[j + 1]++] = i;
    }
    return a;
}

/* filled[i][j], i > j: in the factor, by ranks. */
static void eliminate(const Pattern *a, const int *rank, bool filled[MOST][MOST])
{
    memset(filled, 0, MOST * sizeof *filled);
    for (int j = 0; j < a->n; j++)
        for (int64_t e = a->p[j]; e < a->p[j + 1]; e++)
            filled[rank[a->i[e]]][rank[j]] = filled[rank[j]][rank[a->i[e]]] = true;
    for (int k = 0; k < a->n; k++)
        for (int i = k + 1; i < a->n; i++)
            for (int j = k + 1; j < a->n; j++)
                filled[i][j] = filled[i][j] || (filled[i][k] && filled[k][j]);
}

static void check_columns(const sti_Elimination *of, const Pattern *a)
{
    bool filled[MOST][MOST];
    eliminate(a, of->rank, filled);
    for (int k = 0; k < a->n; k++) {
        int count = 1, parent = -1;
        for (int i = a->n - 1; i > k; i--)
            if (filled[i][k]) parent = i, count++;
        assert_int_equal(of->parent[k], parent);
        assert_int_equal(of->column[k + 1] - of->column[k], count);
        assert_int_equal(of->row[of->column[k]], k);
        for (int64_t e = of->column[k] + 1; e < of->column[k + 1]; e++) {
            assert_true(of->row[e] > k && filled[of->row[e]][k]);
            filled[of->row[e]][k] = false; /* once */
        }
    }
}

static void fill_is_that_of_elimination(void **state)
{
    (void)state;
    check_Random random = {5};
    sti_Elimination of = {.allocator = st_default_allocator()};
    for (int trial = 0; trial < 200; trial++) {
        const Pattern a = random_pattern(&random, trial % (MOST + 1), trial % 3 == 0 ? 0.3 : 0.04);
        assert_int_equal(trial % 2 == 0 ? sti_elimination_as_it_is(&of, a.n, NULL)
                                        : sti_elimination_by_amd(&of, a.n, a.p, a.i, NULL),
                         ST_OK);
        for (int k = 0; k < a.n; k++)
            assert_int_equal(of.rank[of.order[k]], k);
        assert_int_equal(sti_elimination_columns(&of, a.n, a.p, a.i, NULL), ST_OK);
        check_columns(&of, &a);
    }
    sti_elimination_release(&of);
}

/* A star: its middle first joins all others, last it joins none; AMD puts it last or next to it. */
static void amd_saves_fill(void **state)
{
    (void)state;
    Pattern star = {.n = MOST};
    for (int j = 0; j < MOST; j++) {
        star.p[j + 1] = star.p[j];
        for (int i = 0; i < MOST; i++)
            if (i == j || i == 0 || j == 0) star.i[star.p[j + 1]++] = i;
    }
    sti_Elimination of = {.allocator = st_default_allocator()};
    assert_int_equal(sti_elimination_as_it_is(&of, MOST, NULL), ST_OK);
    assert_int_equal(sti_elimination_columns(&of, MOST, star.p, star.i, NULL), ST_OK);
    assert_int_equal(of.column[MOST], MOST * (MOST + 1) / 2);
    assert_int_equal(sti_elimination_by_amd(&of, MOST, star.p, star.i, NULL), ST_OK);
    assert_int_equal(sti_elimination_columns(&of, MOST, star.p, star.i, NULL), ST_OK);
    assert_int_equal(of.column[MOST], 2 * MOST - 1);
    sti_elimination_release(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fill_is_that_of_elimination), cmocka_unit_test(amd_saves_fill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
