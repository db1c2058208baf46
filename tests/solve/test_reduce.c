/* The reduction against plain dense elimination in long double, on systems that are easy to get wrong:
 * redundant joints, springs from slack to stiff, mass ratios of 1e8, an A that is not symmetric.
 */
#include "made_problem.h"
#include "reduce/reduce.h"

static const st_ContactLaw coulomb3 = {.law = ST_LAW_COULOMB, .dim = 3, .mu = 0.5};
static const st_ContactLaw coulomb5 = {.law = ST_LAW_COULOMB, .dim = 5, .mu = 0.5, .mu_roll = 0.1};
static const st_ContactLaw normal1 = {.law = ST_LAW_FRICTIONLESS, .dim = 1};

static sti_Reduction *reduce(const st_Problem *p)
{
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Reduction *out = NULL;
    check_ok(st_problem_check(p, &err), err);
    check_ok(sti_reduction_create(&allocator, &out, &err), err);
    check_ok(sti_reduce(out, p, &err), err);
    return out;
}

static double largest(const double *x, int64_t n)
{
    double most = 0.0;
    for (int64_t k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

/* All results of a reduction, compared with the reference. `tolerance` is relative to the largest entry of the
 * compared array (of its column for Y). */
static void check_against(Made *m, int n_l, int redundant, double tolerance)
{
    const st_Problem p = made_problem(m);
    sti_Reduction *s = reduce(&p);
    Reference *ref = made_reference(m, n_l);
    assert_int_equal(s->redundant_rows, redundant);
    double W[MAX_R * MAX_R], v[MAX_V], l[MAX_L], u[MAX_R], r[MAX_R] = {0};
    sti_reduction_form_W(s, W);
    const double v_scale = largest(ref->v_free, m->n_v), W_scale = largest(&ref->W[0][0], (int64_t)MAX_R * MAX_R);
    for (int i = 0; i < m->n_v; i++)
        check_close(s->v_free[i], ref->v_free[i], tolerance * v_scale);
    for (int i = 0; i < m->n_r; i++) {
        check_close(s->b[i], ref->b[i], tolerance * (v_scale + 1.0) * 6.0); /* 12 products in a row of H */
        for (int j = 0; j < m->n_r; j++)
            check_close(W[i * m->n_r + j], ref->W[i][j], tolerance * W_scale);
    }
    for (int c = 0; c < m->n_contacts; c++) {
        const int dim = m->contact[c].dim, first = m->contact[c].first;
        double trace = 0.0;
        for (int i = 0; i < dim; i++) {
            trace += ref->W[first + i][first + i];
            for (int j = 0; j < dim; j++)
                check_close(s->W_diagonal[s->W_start[c] + (int64_t)i * dim + j], ref->W[first + i][first + j],
                            tolerance * W_scale);
            double column[MAX_V] = {0}, scale = 0.0;
            const int64_t count = s->y_first[c + 1] - s->y_first[c];
            for (int64_t k = 0; k < count; k++)
                column[s->y_index[s->y_first[c] + k]] += s->y_value[s->y_start[c] + i * count + k];
            for (int k = 0; k < m->n_v; k++)
                scale = fmax(scale, fabs(ref->Y[k][first + i]));
            for (int k = 0; k < m->n_v; k++)
                check_close(column[k], ref->Y[k][first + i], tolerance * scale);
        }
        check_close(s->rho[c] * trace, trace > 0.0 ? dim : 0.0, tolerance * dim * 10.0);
    }
    /* u = W r + b and the fresh solve agree with each other and with the reference */
    check_Random random = {.state = 99};
    for (int i = 0; i < m->n_r; i++)
        r[i] = check_random(&random, -1.0, 1.0);
    sti_reduction_apply(s, r, v, u);
    for (int i = 0; i < m->n_r; i++) {
        double expected = ref->b[i];
        for (int j = 0; j < m->n_r; j++)
            expected += ref->W[i][j] * r[j];
        check_close(u[i], expected, tolerance * 10.0 * (v_scale + W_scale * m->n_r + 1.0));
    }
    double fresh[MAX_V];
    sti_reduction_velocity(s, r, fresh, l);
    const double fresh_scale = fmax(v_scale, largest(v, m->n_v));
    for (int i = 0; i < m->n_v; i++)
        check_close(fresh[i], v[i], tolerance * 10.0 * fresh_scale);
    free(ref);
    sti_reduction_destroy(s);
}

/* max |A v - f - H r - G l| relative to its largest term, which the fresh solve must make small. */
static double momentum_error(const Made *m, const double *r, const double *v, const double *l)
{
    double worst = 0.0;
    for (int i = 0; i < m->n_v; i++) {
        long double sum = -(long double)m->f[i];
        double scale = fabs(m->f[i]);
        for (int j = 0; j < m->n_v; j++)
            sum += (long double)m->A[i][j] * v[j], scale = fmax(scale, fabs(m->A[i][j] * v[j]));
        for (int j = 0; j < m->n_r; j++)
            sum -= (long double)m->H[i][j] * r[j], scale = fmax(scale, fabs(m->H[i][j] * r[j]));
        for (int j = 0; j < m->n_l; j++)
            sum -= (long double)m->G[i][j] * l[j], scale = fmax(scale, fabs(m->G[i][j] * l[j]));
        if (scale > 0.0) worst = fmax(worst, (double)fabsl(sum) / scale);
    }
    return worst;
}

static void random_forces(Made *m, check_Random *random)
{
    for (int i = 0; i < m->n_v; i++)
        m->f[i] = m->A[i][i] * check_random(random, -1.0, 1.0);
}

/* Ten bodies of 6: a chain of four, a loop of three, three free ones; contacts all over. */
static Made *zoo(check_Random *random)
{
    Made *m = made_new();
    for (int k = 0; k < 10; k++)
        made_add_mass(m, 6, 1.0, random);
    made_add_joint(m, 3, 0, 1, random);
    made_add_joint(m, 5, 1, 2, random);
    made_add_joint(m, 2, 3, 2, random);
    made_add_joint(m, 3, 4, 5, random);
    made_add_joint(m, 3, 5, 6, random);
    made_add_joint(m, 3, 4, 6, random);
    made_add_joint(m, 6, 0, -1, random);
    made_add_contact(m, coulomb3, 0, 4, random); /* both mechanisms */
    made_add_contact(m, coulomb3, 7, 8, random); /* free bodies */
    made_add_contact(m, normal1, 9, -1, random);
    made_add_contact(m, coulomb5, 3, 7, random);
    made_add_contact(m, coulomb3, 2, 3, random); /* within one mechanism */
    random_forces(m, random);
    return m;
}

static void test_no_joints(void **state)
{
    (void)state;
    check_Random random = {.state = 1};
    Made *m = made_new();
    for (int k = 0; k < 6; k++)
        made_add_mass(m, 1 + k, 1.0, &random);
    for (int k = 0; k < 5; k++)
        made_add_contact(m, coulomb3, k, k + 1, &random);
    made_add_contact(m, coulomb5, 0, -1, &random);
    random_forces(m, &random);
    check_against(m, 0, 0, 1e-14); /* conditions of the blocks are below 10 */
    /* the reach of a contact on free bodies is its own bodies */
    const st_Problem p = made_problem(m);
    sti_Reduction *s = reduce(&p);
    for (int c = 0; c < 5; c++)
        assert_int_equal(s->y_first[c + 1] - s->y_first[c], (1 + c) + (2 + c));
    sti_reduction_destroy(s);
    free(m);
}

static void test_joints(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        check_Random random = {.state = 100 + seed};
        Made *m = zoo(&random);
        check_against(m, m->n_l, 0, 1e-11); /* random joints: conditions of S up to 1e4, seen 1e-13 */
        const st_Problem p = made_problem(m);
        sti_Reduction *s = reduce(&p);
        assert_int_equal(s->y_first[2] - s->y_first[1], 12);      /* free pair */
        assert_int_equal(s->y_first[1] - s->y_first[0], 24 + 18); /* chain and loop */
        assert_int_equal(s->y_first[4] - s->y_first[3], 24 + 6);
        sti_reduction_destroy(s);
        free(m);
    }
}

/* Soft rows and compliance, coupled and not; a coupled block of Cb ties two mechanisms together. */
static void test_compliance(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 10; seed++) {
        check_Random random = {.state = 200 + seed};
        Made *m = zoo(&random);
        made_diagonal_blocks(m->n_l, &m->n_cb, m->cb_first);
        for (int k = 0; k < m->n_l; k++)
            m->Cb[k][k] = check_random(&random, 0.0, 2.0);
        check_against(m, m->n_l, 0, 1e-12);
        /* one block over rows 9 .. 11: the end of the chain and the start of the loop */
        int n = 0;
        for (int k = 0; k <= m->n_l; k++)
            if (k != 10 && k != 11) m->cb_first[n++] = k;
        m->n_cb = n - 1;
        for (int i = 9; i < 12; i++)
            for (int j = 9; j < 12; j++)
                m->Cb[i][j] = i == j ? 2.0 : 0.5;
        check_against(m, m->n_l, 0, 1e-12);
        /* contacts: one block over a whole patch of two contacts (rows 0 .. 5), one inside a contact */
        static const int borders[] = {0, 6, 7, 9, 15};
        m->n_c = 4;
        memcpy(m->c_first, borders, sizeof borders);
        for (int k = 0; k < 4; k++)
            for (int i = borders[k]; i < borders[k + 1]; i++)
                for (int j = borders[k]; j < borders[k + 1]; j++)
                    m->C[i][j] = i == j ? 3.0 : 0.1;
        check_against(m, m->n_l, 0, 1e-12);
        free(m);
    }
}

/* Springs of all joints after all joints, as in a step problem, up to eight rows on the same two bodies; the last
 * ones are coupled with each other. Impulses are returned in the problem's order. */
static void test_springs_behind_joints(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        check_Random random = {.state = 250 + seed};
        Made *m = made_new();
        for (int k = 0; k < 5; k++)
            made_add_mass(m, 6, 1.0, &random);
        for (int k = 0; k < 4; k++)
            made_add_joint(m, k % 2 == 0 ? 5 : 3, k, k + 1, &random);
        const int hard = m->n_l;
        for (int k = 0; k < 12; k++)
            made_add_joint(m, 1, k % 4, k % 4 + 1, &random);
        made_add_contact(m, coulomb3, 0, 4, &random);
        random_forces(m, &random);
        made_diagonal_blocks(m->n_l, &m->n_cb, m->cb_first);
        for (int k = hard; k < m->n_l; k++)
            m->Cb[k][k] = check_random(&random, 0.1, 2.0);
        check_against(m, m->n_l, 0, 1e-11);
        m->cb_first[--m->n_cb] = m->n_l; /* the last block takes in the last row */
        m->Cb[m->n_l - 2][m->n_l - 1] = m->Cb[m->n_l - 1][m->n_l - 2] = 0.05;
        check_against(m, m->n_l, 0, 1e-11);
        double v[MAX_V], l[MAX_L], r[MAX_R] = {0};
        const st_Problem p = made_problem(m);
        sti_Reduction *s = reduce(&p);
        check_below(sti_reduction_velocity(s, r, v, l), 1e-12); /* conditions up to 1e4, as above */
        check_below(momentum_error(m, r, v, l), 1e-13);
        sti_reduction_destroy(s);
        free(m);
    }
}

/* Rows that repeat or combine others, and rows of zeros, are left out; the velocity is the same. */
static void test_redundant_joints(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        check_Random random = {.state = 300 + seed};
        Made *m = zoo(&random);
        const int n_l = m->n_l;
        for (int extra = 0; extra < 4; extra++) {
            const int a = 3 + extra, b = 4 + extra; /* within joint 1-2: the same two bodies */
            const double s = check_random(&random, -2.0, 2.0), t = extra == 0 ? 0.0 : check_random(&random, -2.0, 2.0);
            const int last = m->n_l++;
            for (int i = 0; i < m->n_v; i++)
                m->G[i][last] = s * m->G[i][a] + t * m->G[i][b];
            m->g[last] = s * m->g[a] + t * m->g[b];
        }
        m->n_l++; /* a row of zeros */
        check_against(m, n_l, 5, 1e-11);
        /* and a whole joint far away, twice, with all masses times 1e6: the judgement is relative */
        for (int i = 0; i < m->n_v; i++)
            for (int j = 0; j < m->n_v; j++)
                m->A[i][j] *= 1e6;
        check_against(m, n_l, 5, 1e-11);
        double v[MAX_V], l[MAX_L], r[MAX_R] = {0};
        const st_Problem p = made_problem(m);
        sti_Reduction *s = reduce(&p);
        check_below(sti_reduction_velocity(s, r, v, l), 1e-12); /* the rows left out hold as well */
        check_below(momentum_error(m, r, v, l), 1e-11);
        sti_reduction_destroy(s);
        free(m);
    }
}

/* A light chain that carries heavy ends, links 1, ends 1e8. Joint residuals stay at rounding. */
static void test_mass_ratio(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        check_Random random = {.state = 400 + seed};
        Made *m = made_new();
        for (int k = 0; k < 8; k++)
            made_add_mass(m, 6, k % 3 == 0 ? 1e8 : 1.0, &random);
        for (int k = 0; k < 7; k++)
            made_add_joint(m, 5, k, k + 1, &random);
        made_add_contact(m, coulomb3, 1, 5, &random);
        made_add_contact(m, coulomb3, 7, -1, &random);
        random_forces(m, &random);
        Reference *ref = made_reference(m, m->n_l);
        const st_Problem p = made_problem(m);
        sti_Reduction *s = reduce(&p);
        double v[MAX_V], l[MAX_L], r[MAX_R] = {0}, W[MAX_R * MAX_R];
        assert_int_equal(s->redundant_rows, 0);
        /* rounding of 12 products of |G| <= 1 and |v|, a few 1e-16 each */
        check_below(sti_reduction_velocity(s, r, v, l), 1e-14 * (1.0 + largest(v, m->n_v)));
        check_below(momentum_error(m, r, v, l), 1e-13);
        sti_reduction_form_W(s, W);
        for (int i = 0; i < m->n_r; i++) /* entry by entry: small entries (heavy contacts) matter too */
            for (int j = 0; j < m->n_r; j++)
                check_close(W[i * m->n_r + j], ref->W[i][j], 1e-12 * sqrt(fabs(ref->W[i][i] * ref->W[j][j])) + 1e-30);
        sti_reduction_destroy(s);
        free(ref);
        free(m);
    }
}

/* Springs from 1e-12 to 1e12 in compliance, in one system: nothing is lost, and the ends are right:
 * the stiff one is a joint, the slack one is not there.                                            */
static void test_stiff_limits(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        check_Random random = {.state = 500 + seed};
        Made *m = made_new();
        for (int k = 0; k < 6; k++)
            made_add_mass(m, 6, k == 2 ? 1e8 : 1.0, &random);
        for (int k = 0; k < 5; k++)
            made_add_joint(m, 4, k, k + 1, &random);
        made_add_contact(m, coulomb3, 0, 5, &random);
        random_forces(m, &random);
        made_diagonal_blocks(m->n_l, &m->n_cb, m->cb_first);
        for (int k = 0; k < m->n_l; k++)
            m->Cb[k][k] = k % 5 == 4 ? 0.0 : pow(10.0, check_random(&random, -12.0, 12.0));
        Reference *ref = made_reference(m, m->n_l);
        const st_Problem p = made_problem(m);
        sti_Reduction *s = reduce(&p);
        double v[MAX_V], l[MAX_L], r[MAX_R] = {0};
        const double residual = sti_reduction_velocity(s, r, v, l);
        check_below(residual, 1e-14 * (1.0 + largest(v, m->n_v)));
        check_below(momentum_error(m, r, v, l), 1e-13);
        for (int i = 0; i < m->n_v; i++)
            check_close(v[i], ref->v_free[i], 1e-10 * largest(ref->v_free, m->n_v));
        for (int k = 0; k < m->n_l; k++)
            check_close(l[k], ref->l_free[k], 1e-9 * largest(ref->l_free, m->n_l));
        sti_reduction_destroy(s);
        free(ref);

        for (int k = 0; k < m->n_l; k++)
            m->Cb[k][k] = k < 12 ? 1e-12 : 1e12;
        const st_Problem ends = made_problem(m);
        sti_Reduction *limit = reduce(&ends);
        Reference *joints = made_reference((memset(m->Cb, 0, sizeof m->Cb), m), 12);
        for (int i = 0; i < m->n_v; i++) /* joints for k < 12, nothing for the rest; O(Cb), O(1/Cb) apart */
            check_close(limit->v_free[i], joints->v_free[i], 1e-9 * (1.0 + largest(joints->v_free, m->n_v)));
        sti_reduction_destroy(limit);
        free(joints);
        free(m);
    }
}

/* A = mass + something skew: symmetric part positive definite. One full block, and blocks. */
static void test_nonsymmetric(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        check_Random random = {.state = 600 + seed};
        Made *m = zoo(&random);
        m->symmetric = false;
        for (int k = 0; k < m->n_a; k++)
            for (int i = m->a_first[k]; i < m->a_first[k + 1]; i++)
                for (int j = m->a_first[k]; j < i; j++) {
                    const double skew = check_random(&random, -3.0, 3.0);
                    m->A[i][j] += skew;
                    m->A[j][i] -= skew;
                }
        check_against(m, m->n_l, 0, 1e-11);
        const int n_l = m->n_l;
        for (int i = 0; i < m->n_v; i++) /* redundant here too */
            m->G[i][m->n_l] = m->G[i][2] - 2.0 * m->G[i][7];
        m->g[m->n_l++] = m->g[2] - 2.0 * m->g[7];
        check_against(m, n_l, 1, 1e-11);
        for (int i = 0; i < m->n_v; i++) { /* whatever the unit of mass */
            m->f[i] *= 1e14;
            for (int j = 0; j < m->n_v; j++)
                m->A[i][j] *= 1e14;
        }
        check_against(m, n_l, 1, 1e-11);
        for (int i = 0; i < m->n_v; i++) {
            m->f[i] *= 1e-14;
            for (int j = 0; j < m->n_v; j++)
                m->A[i][j] *= 1e-14;
        }
        m->n_l = n_l;
        m->n_a = 1; /* now as one full block */
        m->a_first[1] = m->n_v;
        for (int i = 0; i < m->n_v; i++)
            for (int j = 0; j < i; j++) {
                const double skew = check_random(&random, -1.0, 1.0);
                m->A[i][j] += skew;
                m->A[j][i] -= skew;
            }
        check_against(m, m->n_l, 0, 1e-10);
        free(m);
    }
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    const st_Allocator allocator = st_default_allocator();
    for (int kind = 0; kind < 2; kind++) {
        check_Random random = {.state = 7};
        Made *m = made_new();
        for (int k = 0; k < 3; k++)
            made_add_mass(m, 2, 1.0, &random);
        m->symmetric = kind == 0;
        m->A[2][2] = m->A[3][3] = 1.0;
        m->A[2][3] = 2.0;
        m->A[3][2] = kind == 0 ? 2.0 : 1.0; /* symmetric part [1 1.5; 1.5 1] in the second case */
        const st_Problem p = made_problem(m);
        st_Error err = {0};
        sti_Reduction *s = NULL;
        check_ok(st_problem_check(&p, &err), err);
        check_ok(sti_reduction_create(&allocator, &s, &err), err);
        assert_int_equal(sti_reduce(s, &p, &err), ST_ERR_NUMERIC);
        assert_non_null(strstr(err.message, "A block 1"));
        sti_reduction_destroy(s);
        free(m);
    }
}

/* Nothing at all, bodies alone, and numbers that overflow on the way. */
static void test_edges(void **state)
{
    (void)state;
    const st_Problem empty = {.symmetric = true};
    sti_Reduction *s = reduce(&empty);
    assert_int_equal(s->redundant_rows, 0);
    check_below(sti_reduction_velocity(s, NULL, NULL, NULL), 0.0);
    sti_reduction_destroy(s);

    check_Random random = {.state = 11};
    Made *m = made_new();
    made_add_mass(m, 6, 1.0, &random);
    check_against(m, 0, 0, 1e-14); /* nothing moves */
    made_add_joint(m, 3, 0, -1, &random);
    check_against(m, 3, 0, 1e-13);

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            m->A[i][j] *= 1e-200;
    m->f[2] = 1e200; /* f/m is past the largest double */
    const st_Problem p = made_problem(m);
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    s = NULL;
    check_ok(st_problem_check(&p, &err), err);
    check_ok(sti_reduction_create(&allocator, &s, &err), err);
    assert_int_equal(sti_reduce(s, &p, &err), ST_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "velocity"));
    sti_reduction_destroy(s);
    free(m);
}

/* ------------------------------------------------------------------ memory */

typedef struct Counting {
    st_Allocator inner;
    int calls, fail_at; /* fail_at < 0: never */
    int64_t live;       /* bytes */
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

static void test_second_call_allocates_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        Counting counting = {.inner = st_default_allocator(), .fail_at = -1};
        const st_Allocator allocator = {counting_alloc, counting_free, &counting};
        check_Random random = {.state = 8};
        Made *m = zoo(&random);
        m->symmetric = kind == 0;
        st_Problem p = made_problem(m);
        st_Error err = {0};
        sti_Reduction *s = NULL;
        double v[MAX_V], u[MAX_R], r[MAX_R] = {1.0}, W[MAX_R * MAX_R];
        check_ok(sti_reduction_create(&allocator, &s, &err), err);
        check_ok(sti_reduce(s, &p, &err), err);
        const int after_first = counting.calls;
        random_forces(m, &random);
        for (int i = 0; i < 6; i++)
            m->A[i][i] += 1.0; /* new numbers, same pattern */
        p = made_problem(m);
        check_ok(sti_reduce(s, &p, &err), err);
        sti_reduction_apply(s, r, v, u);
        sti_reduction_velocity(s, r, v, NULL);
        sti_reduction_form_W(s, W);
        assert_int_equal(counting.calls, after_first);
        sti_reduction_destroy(s);
        assert_int_equal(counting.live, 0);
        free(m);
    }
}

/* For every failing allocation the call returns an error, nothing leaks, and the same object works afterwards. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    check_Random random = {.state = 9};
    Made *m = zoo(&random);
    for (int kind = 0; kind < 2; kind++) {
        m->symmetric = kind == 0;
        const st_Problem p = made_problem(m);
        bool finished = false;
        for (int n = 0; !finished && n < 1000; n++) {
            Counting counting = {.inner = st_default_allocator(), .fail_at = n};
            const st_Allocator allocator = {counting_alloc, counting_free, &counting};
            st_Error err = {0};
            sti_Reduction *s = NULL;
            st_Status status = sti_reduction_create(&allocator, &s, &err);
            if (status == ST_OK) status = sti_reduce(s, &p, &err);
            finished = counting.calls <= n;
            assert_int_equal(status, finished ? ST_OK : ST_ERR_MEMORY);
            if (s != NULL) {
                check_ok(sti_reduce(s, &p, &err), err);
                Reference *ref = made_reference(m, m->n_l);
                check_close(s->v_free[0], ref->v_free[0], 1e-11 * (1.0 + fabs(ref->v_free[0])));
                free(ref);
            }
            sti_reduction_destroy(s);
            assert_int_equal(counting.live, 0);
        }
        assert_true(finished);
    }
    free(m);
}

/* 100,000 contacts on free bodies: linear in memory and time (a quadratic step would take hours). */
static void test_large_without_joints(void **state)
{
    (void)state;
    const int n = 100000;
    double *A = malloc(sizeof *A * (size_t)n * 4), *x = malloc(sizeof *x * (size_t)n * 8),
           *zero = calloc((size_t)n * 2, 8);
    int *first = malloc(sizeof *first * (size_t)(n + 1)), *i = malloc(sizeof *i * (size_t)n * 8);
    int64_t *p = malloc(sizeof *p * (size_t)(2 * n + 1)), no_columns = 0;
    st_ContactLaw *contact = calloc((size_t)n, sizeof *contact);
    assert_true(A && x && zero && first && i && p && contact);
    for (int k = 0; k < n; k++) {
        const double mass[4] = {2.0, 0.0, 0.0, 4.0};
        memcpy(A + 4 * k, mass, sizeof mass);
        contact[k] = (st_ContactLaw){.law = ST_LAW_COULOMB, .dim = 2, .first = 2 * k, .mu = 0.3};
        const int other = (k + 1) % n, low = k < other ? k : other, high = k < other ? other : k;
        for (int d = 0; d < 2; d++)
            for (int e = 0; e < 4; e++) {
                i[8 * k + 4 * d + e] = 2 * (e < 2 ? low : high) + e % 2;
                x[8 * k + 4 * d + e] = (e < 2 ? 1.0 : -1.0) * (e % 2 == d);
            }
    }
    for (int k = 0; k <= n; k++)
        first[k] = 2 * k;
    for (int k = 0; k <= 2 * n; k++)
        p[k] = 4 * k;
    const st_Problem problem = {.n_v = 2 * n,
                                .n_r = 2 * n,
                                .n_contacts = n,
                                .A = {.n_blocks = n, .first = first, .x = A},
                                .symmetric = true,
                                .G = {2 * n, 0, &no_columns, NULL, NULL},
                                .H = {2 * n, 2 * n, p, i, x},
                                .f = zero,
                                .g = NULL,
                                .w = zero,
                                .contact = contact};
    sti_Reduction *s = reduce(&problem);
    st_Error err = {0};
    check_ok(sti_reduction_columns(s, &err), err);
    for (int c = 0; c < n; c += 997) /* W_cc = diag(1/2 + 1/2, 1/4 + 1/4) */
        check_close(s->rho[c], 2.0 / 1.5, 1e-15);
    assert_int_equal(s->y_start[n], 8 * n);
    sti_reduction_destroy(s);
    free(A), free(x), free(zero), free(first), free(i), free(p), free(contact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_joints),
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_compliance),
        cmocka_unit_test(test_springs_behind_joints),
        cmocka_unit_test(test_redundant_joints),
        cmocka_unit_test(test_mass_ratio),
        cmocka_unit_test(test_stiff_limits),
        cmocka_unit_test(test_nonsymmetric),
        cmocka_unit_test(test_not_positive_definite),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_second_call_allocates_nothing),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_large_without_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
