/* st_problem_check: a good problem passes; each way of being bad is refused, and the message names it. */
#include "made_problem.h"
#include "problem/opposite_rows.h"

/* A fresh copy of everything, so that each case can break one thing. */
typedef struct Case {
    Made *m;
    st_Problem p;
} Case;

static Case good(void)
{
    check_Random random = {.state = 1};
    Made *m = made_new();
    for (int k = 0; k < 3; k++)
        made_add_mass(m, 3, 1.0, &random);
    made_add_joint(m, 2, 0, 1, &random);
    made_add_contact(m, (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5}, 0, 2, &random);
    made_add_contact(m, (st_ContactLaw){.law = ST_LAW_PYRAMID, .dim = 3, .mu = 0.5, .facets = 8}, 1, 2, &random);
    made_add_contact(m, (st_ContactLaw){.law = ST_LAW_BOUNDED, .dim = 1, .lo = -1.0, .hi = HUGE_VAL}, 1, -1, &random);
    made_add_contact(m, (st_ContactLaw){.law = ST_LAW_CONE, .dim = 5, .mu = 0.5, .mu_roll = 0.1}, 1, -1, &random);
    made_diagonal_blocks(m->n_l, &m->n_cb, m->cb_first);
    made_diagonal_blocks(m->n_r, &m->n_c, m->c_first);
    m->Cb[1][1] = 0.1;
    return (Case){m, made_problem(m)};
}

static void refuse(Case c, const char *says)
{
    st_Error err = {0};
    const st_Status status = st_problem_check(&c.p, &err);
    if (status != ST_ERR_ARGUMENT || strstr(err.message, says) == NULL)
        fail_msg("expected a refusal with \"%s\", got %s: \"%s\"", says, st_status_name(status), err.message);
    assert_int_equal(st_problem_check(&c.p, NULL), ST_ERR_ARGUMENT); /* and without an st_Error */
    free(c.m);
}

/* Introduces one error into a good problem; the message must contain `says`. */
#define REFUSE(says, ...)                                                                                              \
    do {                                                                                                               \
        Case c = good();                                                                                               \
        __VA_ARGS__;                                                                                                   \
        refuse(c, says);                                                                                               \
    } while (0)

static void test_good(void **state)
{
    (void)state;
    st_Error err = {0};
    Case c = good();
    check_ok(st_problem_check(&c.p, &err), err);
    c.m->contact[0].mu = 0.0;
    check_ok(st_problem_check(&c.p, &err), err);
    free(c.m);
    const st_Problem empty = {.symmetric = true};
    check_ok(st_problem_check(&empty, &err), err);
    assert_int_equal(st_problem_check(NULL, &err), ST_ERR_ARGUMENT);
}

static void test_sizes(void **state)
{
    (void)state;
    REFUSE("n_v is -1", c.p.n_v = -1);
    REFUSE("n_l is -2", c.p.n_l = -2);
    REFUSE("n_r is -3", c.p.n_r = -3);
    REFUSE("n_contacts is -4", c.p.n_contacts = -4);
    REFUSE("n_r is 12, but", c.p.n_contacts = 0);
    REFUSE("contact 3: rows 7 to 11 go past n_r = 11", c.p.n_r = 11, c.p.H.n_cols = 11, c.p.C.n_blocks = 11);
    REFUSE("G is 8 x 2, must be 9 x 2", c.p.G.n_rows = 8);
    REFUSE("H is 9 x 13, must be 9 x 12", c.p.H.n_cols = 13);
}

static void test_missing(void **state)
{
    (void)state;
    REFUSE("f is missing", c.p.f = NULL);
    REFUSE("g is missing", c.p.g = NULL);
    REFUSE("w is missing", c.p.w = NULL);
    REFUSE("contact is missing", c.p.contact = NULL);
    REFUSE("A.x is missing", c.p.A.x = NULL);
    REFUSE("A.first is missing", c.p.A.first = NULL);
    REFUSE("A has no blocks", c.p.A.n_blocks = 0);
    REFUSE("G.p is missing", c.p.G.p = NULL);
    REFUSE("H.i is missing", c.p.H.i = NULL);
    REFUSE("H.x is missing", c.p.H.x = NULL);
}

static void test_matrices(void **state)
{
    (void)state;
    REFUSE("G.p[0] is 1", c.m->g_p[0] = 1);
    REFUSE("G.p[1] is -1 after 0", c.m->g_p[1] = -1);
    REFUSE("H.p[2] is 1000", c.m->h_p[2] = 1000);
    REFUSE("H: entry 2 of column 1 has row 9, must be 0 to 8", c.m->h_i[6 + 2] = 9);
    REFUSE("has row -1", c.m->g_i[0] = -1);
    REFUSE("H: row 0 comes twice in column 0", c.m->h_i[3] = 0);
    REFUSE("G: row 1 comes twice in column 1", c.m->g_i[6 + 0] = 1);
    REFUSE("is inf, must be finite", c.m->g_x[3] = HUGE_VAL);
    REFUSE("H(0, 0) is nan", c.m->h_x[0] = NAN);
    REFUSE("A.first[0] is 1", c.m->a_first[0] = 1);
    REFUSE("A.first[2] is 3 after 3", c.m->a_first[2] = 3);
    REFUSE("A: its blocks end at row 10, must end at 9", c.m->a_first[3] = 10);
    REFUSE("A block 1 is not symmetric: entry (2, 0)", c.m->a_x[9 + 6] += 0.1);
    REFUSE("A block 2: diagonal entry 1 is 0, must be > 0", c.m->a_x[18 + 4] = 0.0);
    REFUSE("A block 0: entry (0, 1) is nan", c.m->a_x[1] = NAN);
    REFUSE("A.n_blocks is -1", c.p.A.n_blocks = -1);
    REFUSE("Cb block 1: diagonal entry 0 is -1, must be >= 0", c.m->cb_x[1] = -1.0);
    REFUSE("C: its blocks end at row 11, must end at 12", c.p.C.n_blocks = 11);
    /* a nonsymmetric A is accepted if the problem is marked so */
    Case c = good();
    st_Error err = {0};
    c.m->a_x[9 + 6] += 0.1;
    c.p.symmetric = false;
    check_ok(st_problem_check(&c.p, &err), err);
    free(c.m);
}

static void test_vectors(void **state)
{
    (void)state;
    REFUSE("f[3] is nan", c.m->f[3] = NAN);
    REFUSE("g[1] is -inf", c.m->g[1] = -HUGE_VAL);
    REFUSE("w[11] is inf", c.m->w[11] = HUGE_VAL);
}

static void test_contacts(void **state)
{
    (void)state;
    REFUSE("contact 0: law is 6", c.m->contact[0].law = (st_Law)6);
    REFUSE("contact 0: law coulomb has no dimension 7", c.m->contact[0].dim = 7);
    REFUSE("contact 1: law pyramid has no dimension 4", c.m->contact[1].dim = 4);
    REFUSE("contact 1: law pyramid has no dimension 5", c.m->contact[1].dim = 5);
    REFUSE("contact 2: law frictionless has no dimension 3", c.m->contact[2].law = ST_LAW_FRICTIONLESS,
           c.m->contact[2].dim = 3);
    REFUSE("contact 1: first row is 4, must be 3", c.m->contact[1].first = 4);
    REFUSE("contact 0: mu is -0.5", c.m->contact[0].mu = -0.5);
    REFUSE("contact 1: mu is nan", c.m->contact[1].mu = NAN);
    REFUSE("contact 3: mu_roll is -1", c.m->contact[3].mu_roll = -1.0);
    REFUSE("contact 3: mu_spin is nan", c.m->contact[3].dim = 6, c.m->contact[3].mu_spin = NAN);
    REFUSE("contact 1: facets is 7", c.m->contact[1].facets = 7);
    REFUSE("contact 1: facets is 0", c.m->contact[1].facets = 0);
    REFUSE("contact 2: limits are lo 2, hi 1", c.m->contact[2].lo = 2.0, c.m->contact[2].hi = 1.0);
    REFUSE("contact 2: limits are lo nan", c.m->contact[2].lo = NAN);
    REFUSE("leave no finite impulse", c.m->contact[2].lo = HUGE_VAL);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"frictionless", "bounded", "coulomb", "cone", "pyramid", "box"};
    for (int k = 0; k < ST_N_LAWS; k++)
        assert_string_equal(st_law_name((st_Law)k), names[k]);
    assert_string_equal(st_law_name((st_Law)ST_N_LAWS), "unknown");
}

/* Contacts that push against each other along one line lose their common part: if both are rigid, and their rows are
 * opposite. */
static void opposite_rows_lose_their_common_part(void **state)
{
    (void)state;
    static const int first[] = {0, 1, 2, 3, 4};
    static const int64_t at[] = {0, 2, 4, 6, 8};
    static const int row[] = {0, 1, 0, 1, 0, 1, 0, 1};
    double x[] = {1, -2, -1, 2, 1, 2, -1, 2}, C[] = {0, 0, 0, 0}, r[] = {5, 7, 3, 4};
    const st_ContactLaw rigid = {.law = ST_LAW_FRICTIONLESS, .dim = 1};
    st_ContactLaw law[] = {rigid, rigid, rigid, rigid};
    const st_Problem p = {.n_v = 2,
                          .n_r = 4,
                          .n_contacts = 4,
                          .H = {.n_rows = 2, .n_cols = 4, .p = at, .i = row, .x = x},
                          .C = {.n_blocks = 4, .first = first, .x = C},
                          .contact = law};
    for (int k = 0; k < 4; k++)
        law[k].first = k;
    C[1] = 1e-9;
    assert_false(sti_release_opposite_rows(&p, r));
    C[1] = 0;
    assert_true(sti_release_opposite_rows(&p, r)); /* the first two; the last two have rows that are not opposite */
    assert_true(r[0] == 0 && r[1] == 2 && r[2] == 3 && r[3] == 4);
    assert_false(sti_release_opposite_rows(&p, r));
    x[7] = -2; /* now they are */
    assert_true(sti_release_opposite_rows(&p, r));
    assert_true(r[2] == 0 && r[3] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_contacts),
        cmocka_unit_test(test_names),   cmocka_unit_test(opposite_rows_lose_their_common_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
