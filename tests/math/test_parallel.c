/* Results of a team do not depend on the number of threads: parts, sums, largest values, positions, copies. */
#include "check.h"

#include "math/parallel.h"

#include <float.h>
#include <stdlib.h>

static const int sizes[] = {0, 1, 255, 256, 257, 4096, 100000, 1000003};
enum { N_SIZES = sizeof sizes / sizeof sizes[0], MOST = 1000003 };

static double *numbers(int n)
{
    check_Random random = {11};
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    assert_non_null(x);
    for (int k = 0; k < n; k++)
        x[k] = check_random(&random, -1, 1) * pow(10, check_random(&random, -8, 8));
    return x;
}

typedef struct Seen {
    unsigned char *times;
    int64_t end[STI_PARTS];
} Seen;

static void see(void *ctx, int part, int64_t first, int64_t end)
{
    Seen *seen = ctx;
    seen->end[part] = end;
    for (int64_t k = first; k < end; k++)
        seen->times[k]++;
}

/* Every number is in one part, with the bounds of sti_part_first, for every team. */
static void parts_cover_all_once(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++)
        for (int threads = 1; threads <= 4; threads++) {
            const int n = sizes[s];
            Seen seen = {.times = calloc((size_t)n + 1, 1)};
            const int parts = sti_team_parts(threads, n, see, &seen);
            assert_true(parts <= STI_PARTS && (parts > 0) == (n > 0));
            for (int k = 0; k < n; k++)
                assert_int_equal(seen.times[k], 1);
            for (int k = 0; k < parts; k++)
                assert_true(seen.end[k] == sti_part_first(n, k + 1));
            if (n > 0) assert_true(sti_part_first(n, parts) == n);
            free(seen.times);
        }
}

static double sum_of(void *ctx, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t k = first; k < end; k++)
        sum += ((const double *)ctx)[k];
    return sum;
}

static double largest_of(void *ctx, int64_t first, int64_t end)
{
    double largest = -INFINITY;
    for (int64_t k = first; k < end; k++)
        largest = fmax(largest, ((const double *)ctx)[k]);
    return largest;
}

/* Compared with one sum over all, which has a rounding error of at most n eps of the sum of magnitudes. */
static void sums_have_the_same_bits(void **state)
{
    (void)state;
    double *x = numbers(MOST);
    for (int s = 0; s < N_SIZES; s++) {
        const int n = sizes[s];
        const double sum = sti_team_sum(1, n, sum_of, x), largest = sti_team_largest(1, n, largest_of, x);
        double plain = 0, size = 0, worst = 0;
        for (int k = 0; k < n; k++) {
            plain += x[k];
            size += fabs(x[k]);
            worst = fmax(worst, x[k]);
        }
        assert_true(fabs(sum - plain) <= 2 * n * DBL_EPSILON * size);
        assert_true(largest == worst);
        for (int threads = 2; threads <= 4; threads++) {
            assert_true(sti_team_sum(threads, n, sum_of, x) == sum);
            assert_true(sti_team_largest(threads, n, largest_of, x) == largest);
        }
    }
    free(x);
}

static void copies_and_bounds(void **state)
{
    (void)state;
    double *x = numbers(MOST), *y = calloc(MOST, sizeof *y);
    for (int threads = 1; threads <= 4; threads++) {
        memset(y, 0, MOST * sizeof *y);
        sti_team_copy(threads, y, x, MOST);
        assert_memory_equal(x, y, MOST * sizeof *x);
        assert_true(sti_team_within(threads, x, MOST, 1e8));
        assert_true(sti_team_within(threads, x, 0, 0.0));
        const double bad[] = {NAN, INFINITY, -2e8};
        for (int k = 0; k < 3; k++) {
            const int at[] = {0, MOST / 2, MOST - 1};
            y[at[k]] = bad[k];
            assert_false(sti_team_within(threads, y, MOST, 1e8));
            y[at[k]] = x[at[k]];
        }
    }
    free(x);
    free(y);
}

/* Squares of the odd numbers below n, each member with a range of its own. */
typedef struct List {
    sti_Places places;
    int n;
    int64_t *to;
} List;

static void list_share(void *ctx, int thread, int n_threads)
{
    List *list = ctx;
    const int64_t first = sti_share(list->n, thread, n_threads), end = sti_share(list->n, thread + 1, n_threads);
    int64_t count = 0;
    for (int64_t k = first; k < end; k++)
        count += k % 2;
    list->places.count[thread] = count;
    sti_team_wait(n_threads);
    int64_t at = sti_places_before(&list->places, thread);
    for (int64_t k = first; k < end; k++)
        if (k % 2 == 1) list->to[at++] = k * k;
}

static void places_put_lists_together(void **state)
{
    (void)state;
    List list = {.n = 1001, .to = calloc(500, sizeof *list.to)};
    for (int threads = 1; threads <= 4; threads++) {
        memset(list.to, 0, 500 * sizeof *list.to);
        sti_team_run(threads, list_share, &list);
        for (int64_t k = 0; k < 500; k++)
            assert_true(list.to[k] == (2 * k + 1) * (2 * k + 1));
    }
    free(list.to);
}

/* 0 .. n - 1 dealt out unevenly, in two rounds: everything in the first queue, then everything in the last. */
typedef struct Deal {
    int n;
    sti_WorkQueue queue[2][STI_MOST_THREADS];
    unsigned char *times;
} Deal;

static void play(void *ctx, int thread, int n_threads)
{
    Deal *deal = ctx;
    const int last = n_threads - 1;
    sti_queue_fill(&deal->queue[0][thread], 0, thread == 0 ? deal->n : 0);
    sti_queue_fill(&deal->queue[1][thread], 0, thread == last ? deal->n : 0);
    sti_team_wait(n_threads);
    for (int round = 0; round < 2; round++)
        for (int k; (k = sti_queue_take(deal->queue[round], thread, n_threads)) >= 0;)
            deal->times[2 * (ptrdiff_t)k + round]++;
}

static void queues_give_everything_once(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++)
        for (int threads = 1; threads <= 4; threads++) {
            Deal deal;
            deal.n = sizes[s];
            deal.times = calloc(2 * (size_t)deal.n + 1, 1);
            assert_non_null(deal.times);
            sti_team_run(threads, play, &deal);
            for (int k = 0; k < 2 * deal.n; k++)
                assert_int_equal(deal.times[k], 1);
            free(deal.times);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_cover_all_once),
                                       cmocka_unit_test(queues_give_everything_once),
                                       cmocka_unit_test(sums_have_the_same_bits), cmocka_unit_test(copies_and_bounds),
                                       cmocka_unit_test(places_put_lists_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
