/* Islands by several threads: the bits of one thread, the reported failure, cancellation, and refused memory. */
#include "check.h"
#include "counter.h"
#include "solve/islands.h"

#include <stdatomic.h>
#include <string.h>

/* Towers of masses on one another, three velocities each, with friction: tower k has 1 + k % MOST of them. */
enum { TOWERS = 60, MOST = 7, MASSES = TOWERS * (MOST + 1) / 2, ROOM = 3 * MASSES };

typedef struct Towers {
    st_Problem problem;
    int n; /* masses */
    int first[MASSES + 1], tower[MASSES];
    double A[9 * MASSES], f[ROOM], w[ROOM];
    int64_t p[ROOM + 1];
    int i[2 * ROOM];
    double x[2 * ROOM];
    st_ContactLaw contact[MASSES];
} Towers;

/* One more, with its contact below, on the mass before it or the floor. */
static void add_mass(Towers *t, check_Random *random, int tower, bool on_floor)
{
    const int k = t->n++;
    const double mass = check_random(random, 0.5, 5.0), push = check_random(random, -0.01, 0.01);
    t->tower[k] = tower;
    t->first[k + 1] = 3 * t->n;
    for (int d = 0; d < 3; d++) { /* normal first, then the tangents */
        const int row = 3 * k + d;
        int64_t e = t->p[row];
        t->A[9 * k + 4 * d] = mass;
        t->f[row] = mass * (d == 0 ? -0.05 : push * d);
        if (!on_floor) t->i[e] = row - 3, t->x[e++] = -1;
        t->i[e] = row, t->x[e++] = 1;
        t->p[row + 1] = e;
    }
    t->contact[k] = (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .first = 3 * k, .mu = 0.1};
}

static void build(Towers *t)
{
    check_Random random = {11};
    memset(t, 0, sizeof *t);
    for (int k = 0; k < TOWERS; k++)
        for (int e = 0; e < 1 + k % MOST; e++)
            add_mass(t, &random, k, e == 0);
    const int n = 3 * t->n;
    t->problem = (st_Problem){.n_v = n,
                              .n_r = n,
                              .n_contacts = t->n,
                              .A = {.n_blocks = t->n, .first = t->first, .x = t->A},
                              .symmetric = true,
                              .H = {n, n, t->p, t->i, t->x},
                              .f = t->f,
                              .w = t->w,
                              .contact = t->contact};
    st_Error err;
    check_ok(st_problem_check(&t->problem, &err), err);
}

typedef struct Answer {
    double v[ROOM], u[ROOM], r[ROOM];
    st_SolveInfo info;
} Answer;

static st_SolverDef solver_def(int threads)
{
    st_SolverDef def = st_solver_def();
    def.warm_start = true;
    def.tolerance = 1e-10;
    def.threads = threads;
    return def;
}

/* From 0. */
static st_Status solve(sti_Islands *islands, const Towers *t, Answer *out, st_Error *err)
{
    memset(out, 0, sizeof *out);
    st_Solution solution = {.v = out->v, .u = out->u, .r = out->r};
    return sti_islands_solve(islands, &t->problem, NULL, &solution, &out->info, err);
}

static void solve_with(const st_SolverDef *def, const Towers *t, Answer *out)
{
    sti_Islands *islands;
    st_Error err;
    check_ok(sti_islands_create(def, true, NULL, &islands, &err), err);
    check_ok(solve(islands, t, out, &err), err);
    assert_int_equal(sti_islands_count(islands), TOWERS);
    sti_islands_destroy(islands);
}

static void check_same(const Answer *a, const Answer *b)
{
    assert_memory_equal(a->v, b->v, sizeof a->v);
    assert_memory_equal(a->u, b->u, sizeof a->u);
    assert_memory_equal(a->r, b->r, sizeof a->r);
    assert_memory_equal(&a->info.residual, &b->info.residual, sizeof a->info.residual);
    assert_true(a->info.iterations == b->info.iterations && a->info.converged == b->info.converged &&
                a->info.solver == b->info.solver && a->info.fallback == b->info.fallback);
}

static void any_number_of_threads_has_the_same_bits(void **state)
{
    (void)state;
    static Towers t;
    static Answer one, many;
    build(&t);
    for (int k = 0; k < 3; k++) {
        const char *const name[] = {"auto", "nsgs", "newton"};
        for (int threads = 1; threads <= 8; threads++) {
            st_SolverDef def = solver_def(threads);
            def.name = name[k];
            solve_with(&def, &t, threads == 1 ? &one : &many);
            if (threads == 1) assert_true(one.info.converged);
            if (threads > 1) check_same(&many, &one);
        }
    }
}

/* Two islands with overflowing velocities, each at another of its own: the first one is reported. */
static void of_failures_the_first_is_told_of(void **state)
{
    (void)state;
    static Towers t;
    static Answer a;
    const int wrong[2][2] = {{7, 2}, {40, 1}}; /* tower, velocity of its lowest mass */
    for (int which = 0; which < 2; which++) {
        for (int threads = 1; threads <= 8; threads++) {
            char part[64];
            sti_Islands *islands;
            st_Error err;
            st_SolverDef def = solver_def(threads);
            build(&t);
            for (int k = which; k < 2; k++)
                for (int e = t.n - 1; e >= 0; e--)
                    if (t.tower[e] == wrong[k][0] && (e == 0 || t.tower[e - 1] != wrong[k][0]))
                        t.f[3 * e + wrong[k][1]] = INFINITY;
            check_ok(sti_islands_create(&def, true, NULL, &islands, &err), err);
            assert_int_equal(solve(islands, &t, &a, &err), ST_ERR_NUMERIC);
            snprintf(part, sizeof part, "velocity %d ", wrong[which][1]);
            assert_non_null(strstr(err.message, part));
            build(&t); /* and all is well again */
            check_ok(solve(islands, &t, &a, &err), err);
            assert_true(a.info.converged);
            sti_islands_destroy(islands);
        }
    }
}

/* ---- cancel ----------------------------------------------------------------------------------- */

typedef struct Asked {
    atomic_int inside, calls;
    atomic_bool met; /* two threads, in here */
    int last;        /* the call that is answered with yes */
} Asked;

static bool is_enough(void *ctx)
{
    Asked *asked = ctx;
    if (atomic_fetch_add(&asked->inside, 1) > 0) atomic_store(&asked->met, true);
    const bool enough = atomic_fetch_add(&asked->calls, 1) + 1 >= asked->last;
    atomic_fetch_sub(&asked->inside, 1);
    return enough;
}

/* The cancel callback is called by one thread at a time, and not again after it returned true; the next solve starts
 * again. */
static void all_islands_end_when_told(void **state)
{
    (void)state;
    static Towers t;
    static Answer whole, part;
    build(&t);
    st_SolverDef def = solver_def(1);
    def.name = "nsgs";
    solve_with(&def, &t, &whole);
    for (int threads = 1; threads <= 4; threads++) {
        Asked asked = {.last = 20};
        sti_Stop stop;
        sti_Islands *islands;
        st_Error err;
        def.threads = threads;
        sti_stop_begin(&stop, is_enough, &asked);
        check_ok(sti_islands_create(&def, true, &stop, &islands, &err), err);
        check_ok(solve(islands, &t, &part, &err), err);
        assert_false(part.info.converged);
        assert_true(atomic_load(&asked.calls) == 20 && part.info.iterations <= 20);
        asked.last = 1 << 30;
        sti_stop_begin(&stop, is_enough, &asked);
        check_ok(solve(islands, &t, &part, &err), err);
        check_same(&part, &whole);
        assert_false(atomic_load(&asked.met));
        sti_islands_destroy(islands);
    }
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* One call after another is refused, to whichever thread; the next attempt has the bits of one that went well. */
static void refused_memory_changes_no_bits(void **state)
{
    (void)state;
    static Towers t;
    static Answer expected, found;
    Counter count = {.base = st_default_allocator()};
    int failures = 0;
    build(&t);
    st_SolverDef def = solver_def(1);
    solve_with(&def, &t, &expected);
    def.threads = 3;
    def.allocator = (st_Allocator){counting_alloc, counting_free, &count};
    for (int k = 1; k <= 150; k++) {
        sti_Islands *islands;
        st_Error err;
        count.refuse_at = 0;
        check_ok(sti_islands_create(&def, true, NULL, &islands, &err), err);
        atomic_store(&count.calls, 0);
        count.refuse_at = k;
        if (solve(islands, &t, &found, &err) != ST_OK) {
            failures++;
            assert_int_equal(err.status, ST_ERR_MEMORY);
            assert_non_null(strstr(err.message, "out of memory"));
        }
        check_ok(solve(islands, &t, &found, &err), err);
        check_same(&found, &expected);
        sti_islands_destroy(islands);
        assert_true(atomic_load(&count.held) == 0);
    }
    assert_true(failures > 140);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_has_the_same_bits), cmocka_unit_test(of_failures_the_first_is_told_of),
        cmocka_unit_test(all_islands_end_when_told), cmocka_unit_test(refused_memory_changes_no_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
