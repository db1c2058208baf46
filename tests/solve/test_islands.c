/* Problems shuffled into one: each island comes out with the bits it has alone, and nothing of one reaches another. */
#include "random_problem.h"
#include "solve/islands.h"

enum { MOST = 6, ROOM = 4000 };

/* Several cases as one problem, their bodies, joint rows and contacts dealt out in turns. */
typedef struct Mixed {
    st_Problem problem;
    int n_cases;
    Case part[MOST];
    int block_case[ROOM], l_case[ROOM], c_case[ROOM];         /* the case it belongs to */
    int v_at[MOST][ROOM], l_at[MOST][ROOM], c_at[MOST][ROOM]; /* position of the case's own rows */
    int A_first[ROOM], Cb_first[ROOM], C_first[ROOM];
    double A[ROOM], f[ROOM], g[ROOM], w[ROOM], Cb[ROOM], C[ROOM], G_x[ROOM * 10], H_x[ROOM * 10];
    int G_i[ROOM * 10], H_i[ROOM * 10];
    int64_t G_p[ROOM], H_p[ROOM];
    st_ContactLaw contact[ROOM];
} Mixed;

/* One of each case in turn, until all are used: the case of the k-th, and its index in the case. */
static int deal(const Mixed *m, int (*count)(const st_Problem *), int whose[ROOM], int which[ROOM])
{
    int n = 0, taken[MOST] = {0};
    for (bool any = true; any;) {
        any = false;
        for (int k = 0; k < m->n_cases; k++) {
            if (taken[k] >= count(&m->part[k].problem)) continue;
            assert_true(n < ROOM);
            whose[n] = k;
            which[n++] = taken[k]++;
            any = true;
        }
    }
    return n;
}

static int count_blocks(const st_Problem *p)
{
    return p->A.n_blocks;
}

static int count_rows(const st_Problem *p)
{
    return p->n_l;
}

static int count_contacts(const st_Problem *p)
{
    return p->n_contacts;
}

static int64_t block_start(const st_BlockDiag *A, int block)
{
    int64_t start = 0;
    for (int k = 0; k < block; k++)
        start += (int64_t)(A->first[k + 1] - A->first[k]) * (A->first[k + 1] - A->first[k]);
    return start;
}

static void put_column(const Mixed *m, int whose, const st_Sparse *from, int j, int64_t *p, int *i, double *x)
{
    p[1] = p[0];
    for (int64_t e = from->p[j]; e < from->p[j + 1]; e++, p[1]++) {
        assert_true(p[1] < ROOM * 10);
        i[p[1]] = m->v_at[whose][from->i[e]];
        x[p[1]] = from->x[e];
    }
}

static void mix_bodies(Mixed *m)
{
    static int whose[ROOM], which[ROOM];
    double *A = m->A;
    int n = deal(m, count_blocks, whose, which), n_v = 0;
    for (int k = 0; k < n; k++) {
        const st_Problem *p = &m->part[whose[k]].problem;
        int first = p->A.first[which[k]], size = p->A.first[which[k] + 1] - first;
        m->block_case[k] = whose[k];
        memcpy(A, p->A.x + block_start(&p->A, which[k]), (size_t)(size * size) * sizeof *A);
        A += size * size;
        for (int i = 0; i < size; i++) {
            m->f[n_v] = p->f[first + i];
            m->v_at[whose[k]][first + i] = n_v++;
        }
        m->A_first[k + 1] = n_v;
    }
    m->problem.n_v = n_v;
    m->problem.A = (st_BlockDiag){.n_blocks = n, .first = m->A_first, .x = m->A};
    m->problem.f = m->f;
}

static void mix_joints(Mixed *m)
{
    static int whose[ROOM], which[ROOM];
    int n = deal(m, count_rows, whose, which);
    for (int k = 0; k < n; k++) {
        const st_Problem *p = &m->part[whose[k]].problem;
        m->l_case[k] = whose[k];
        m->l_at[whose[k]][which[k]] = k;
        put_column(m, whose[k], &p->G, which[k], m->G_p + k, m->G_i, m->G_x);
        m->g[k] = p->g[which[k]];
        m->Cb[k] = p->Cb.n_blocks > 0 ? p->Cb.x[which[k]] : 0.0; /* rows one by one, in these cases */
        m->Cb_first[k + 1] = k + 1;
    }
    m->problem.n_l = n;
    m->problem.Cb = (st_BlockDiag){.n_blocks = n, .first = m->Cb_first, .x = m->Cb};
    m->problem.g = m->g;
}

static void mix_contacts(Mixed *m)
{
    static int whose[ROOM], which[ROOM];
    int n = deal(m, count_contacts, whose, which), n_r = 0;
    for (int k = 0; k < n; k++) {
        const st_Problem *p = &m->part[whose[k]].problem;
        const st_ContactLaw *contact = &p->contact[which[k]];
        m->c_case[k] = whose[k];
        m->c_at[whose[k]][which[k]] = k;
        m->contact[k] = *contact;
        m->contact[k].first = n_r;
        for (int d = 0; d < contact->dim; d++, n_r++) {
            put_column(m, whose[k], &p->H, contact->first + d, m->H_p + n_r, m->H_i, m->H_x);
            m->w[n_r] = p->w[contact->first + d];
        }
    }
    m->problem.n_contacts = n;
    m->problem.n_r = n_r;
    m->problem.w = m->w;
    m->problem.contact = m->contact;
}

static void mix(Mixed *m)
{
    mix_bodies(m);
    mix_joints(m);
    mix_contacts(m);
    m->problem.G = (st_Sparse){m->problem.n_v, m->problem.n_l, m->G_p, m->G_i, m->G_x};
    m->problem.H = (st_Sparse){m->problem.n_v, m->problem.n_r, m->H_p, m->H_i, m->H_x};
    m->problem.symmetric = true;
    st_Error err;
    check_ok(st_problem_check(&m->problem, &err), err);
}

/* Every second with exact cones; symmetric ones only, as one problem is or is not. */
static bool make_part(Case *out, uint64_t seed)
{
    CaseDef def = {.seed = seed, .min_contacts = 2, .max_contacts = 20, .mass_range = 100, .motion = BY_SPEED};
    case_make(out, &def);
    for (int k = 0; k < out->problem.n_contacts && seed % 2 == 0; k++)
        if (out->contact[k].law == ST_LAW_PYRAMID) out->contact[k].law = ST_LAW_COULOMB;
    if (out->problem.symmetric && out->problem.C.n_blocks == 0 && out->problem.n_contacts > 0) return true;
    case_free(out);
    return false;
}

/* How many islands, by walking from block to block until nothing changes; and whether a velocity is in one. */
static int count_islands(const st_Problem *p, bool *inside)
{
    static int label[ROOM], block_of[ROOM];
    static bool touched[ROOM];
    int n = 0;
    for (int k = 0; k < p->A.n_blocks; k++) {
        label[k] = k;
        touched[k] = false;
        for (int i = p->A.first[k]; i < p->A.first[k + 1]; i++)
            block_of[i] = k;
    }
    for (bool changed = true; changed;) {
        changed = false;
        const st_Sparse *matrix[2] = {&p->G, &p->H};
        for (int s = 0; s < 2; s++)
            for (int j = 0; j < matrix[s]->n_cols; j++)
                for (int64_t a = matrix[s]->p[j]; a < matrix[s]->p[j + 1]; a++)
                    for (int64_t b = matrix[s]->p[j]; b < matrix[s]->p[j + 1]; b++) {
                        int *x = &label[block_of[matrix[s]->i[a]]], *y = &label[block_of[matrix[s]->i[b]]];
                        if (*x >= *y) continue;
                        *y = *x;
                        changed = true;
                    }
    }
    for (int j = 0; j < p->n_r; j++)
        for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
            touched[label[block_of[p->H.i[e]]]] = true;
    for (int k = 0; k < p->A.n_blocks; k++)
        n += label[k] == k && touched[k];
    for (int i = 0; i < p->n_v; i++)
        inside[i] = touched[label[block_of[i]]];
    return n;
}

typedef struct Answer {
    double v[ROOM], l[ROOM], u[ROOM], r[ROOM];
} Answer;

static st_Solution solution_of(Answer *a)
{
    return (st_Solution){.v = a->v, .l = a->l, .u = a->u, .r = a->r};
}

static st_SolverDef solver_def(void)
{
    st_SolverDef def = st_solver_def();
    def.warm_start = true;
    def.tolerance = 1e-10;
    return def;
}

/* Case k alone, through islands as well: it may fall apart further. */
static void solve_alone(const st_Problem *p, Answer *out, st_SolveInfo *info)
{
    sti_Islands *islands;
    st_Error err;
    st_SolverDef def = solver_def();
    st_Solution solution = solution_of(out);
    check_ok(sti_islands_create(&def, true, NULL, &islands, &err), err);
    check_ok(sti_islands_solve(islands, p, NULL, &solution, info, &err), err);
    sti_islands_destroy(islands);
}

/* Joints without contacts are solved together, in one linear part, or with the one island there is: refined together,
 * too, and so the same but for the last digits. Elsewhere every bit is the same.                  */
static void check_part(const Mixed *m, int k, const Answer *all, const Answer *alone)
{
    static bool inside[ROOM];
    bool split = count_islands(&m->part[k].problem, inside) > 1, rest = false;
    for (int i = 0; i < m->part[k].problem.n_v; i++)
        rest = rest || !inside[i];
    for (int i = 0; i < m->part[k].problem.n_v; i++)
        inside[i] = inside[i] && (split || !rest);
    const st_Problem *p = &m->part[k].problem;
    for (int i = 0; i < p->n_v; i++)
        check_close(all->v[m->v_at[k][i]], alone->v[i], inside[i] ? 0 : 1e-12 * (1 + fabs(alone->v[i])));
    for (int j = 0; j < p->n_l; j++) {
        bool exact = p->G.p[j] == p->G.p[j + 1] || inside[p->G.i[p->G.p[j]]];
        check_close(all->l[m->l_at[k][j]], alone->l[j], exact ? 0 : 1e-10 * (1 + fabs(alone->l[j])));
    }
    for (int c = 0; c < p->n_contacts; c++) {
        size_t bytes = (size_t)p->contact[c].dim * sizeof(double);
        int first = m->contact[m->c_at[k][c]].first, row = p->contact[c].first;
        if (p->H.p[row] < p->H.p[row + 1] && !inside[p->H.i[p->H.p[row]]]) continue;
        assert_memory_equal(&all->r[first], &alone->r[row], bytes);
        assert_memory_equal(&all->u[first], &alone->u[row], bytes);
    }
}

static void each_island_has_the_bits_it_has_alone(void **state)
{
    (void)state;
    static Mixed m;
    static Answer all, alone;
    static bool inside[ROOM];
    int several = 0;
    for (uint64_t seed = 1; seed < 120; seed += MOST) {
        m = (Mixed){0};
        for (uint64_t k = 0; k < MOST; k++)
            if (make_part(&m.part[m.n_cases], seed + k)) m.n_cases++;
        mix(&m);
        all = (Answer){0};
        st_Error err;
        st_SolveInfo info, one;
        st_SolverDef def = solver_def();
        st_Solution solution = solution_of(&all);
        sti_Islands *islands;
        check_ok(sti_islands_create(&def, true, NULL, &islands, &err), err);
        for (int round = 0; round < 2; round++) { /* again with memory of the first, from 0 */
            memset(all.r, 0, sizeof all.r);
            check_ok(sti_islands_solve(islands, &m.problem, NULL, &solution, &info, &err), err);
        }
        assert_int_equal(sti_islands_count(islands), count_islands(&m.problem, inside));
        several += sti_islands_count(islands) > 1;
        double worst = 0;
        bool converged = true;
        for (int k = 0; k < sti_islands_count(islands); k++) {
            const st_SolveInfo *of = &sti_islands_get(islands, k)->info;
            worst = fmax(worst, of->residual.natural);
            converged = converged && of->converged;
        }
        assert_true(info.residual.natural == worst && info.converged == converged);
        for (int k = 0; k < m.n_cases; k++) {
            alone = (Answer){0};
            solve_alone(&m.part[k].problem, &alone, &one);
            assert_true(one.residual.natural <= worst);
            check_part(&m, k, &all, &alone);
        }
        sti_islands_destroy(islands);
        for (int k = 0; k < m.n_cases; k++)
            case_free(&m.part[k]);
    }
    assert_true(several > 10);
}

/* A mechanism of a gram beside one of a thousand tons: to the tolerance on its own scale. Judged as one problem,
 * its error is invisible beside the other's impulses.                                             */
static void a_light_island_is_solved_on_its_own_scale(void **state)
{
    (void)state;
    const double h = 1e-3, g = 9.81;
    double A[2] = {1e6, 1e-3}, f[2] = {-h * g * 1e6, -h * g * 1e-3}, w[2] = {0, 0}, x[2] = {1, 1};
    int first[3] = {0, 1, 2}, i[2] = {0, 1};
    int64_t p[3] = {0, 1, 2};
    st_ContactLaw contact[2] = {{.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = 0},
                                {.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = 1}};
    st_Problem problem = {.n_v = 2,
                          .n_r = 2,
                          .n_contacts = 2,
                          .A = {.n_blocks = 2, .first = first, .x = A},
                          .symmetric = true,
                          .H = {2, 2, p, i, x},
                          .f = f,
                          .w = w,
                          .contact = contact};
    double right[2] = {h * g * 1e6, h * g * 1e-3}, r[2] = {right[0], 0.5 * right[1]}, v[2];
    st_Error err;
    st_Residual residual;
    check_ok(st_problem_residual(&problem, r, &residual, &err), err);
    check_below(residual.natural, 1e-9); /* half the weight missing, and not seen: 0.5e-9 of the whole */
    st_SolverDef def = solver_def();
    def.tolerance = 1e-9;
    sti_Islands *islands;
    st_SolveInfo info;
    st_Solution solution = {.v = v, .r = r};
    check_ok(sti_islands_create(&def, true, NULL, &islands, &err), err);
    check_ok(sti_islands_solve(islands, &problem, NULL, &solution, &info, &err), err);
    assert_int_equal(sti_islands_count(islands), 2);
    assert_true(info.converged);
    check_close(r[0], right[0], 1e-9 * right[0]); /* the tolerance, on each one's scale */
    check_close(r[1], right[1], 1e-9 * right[1]);
    sti_islands_destroy(islands);
}

/* Islands at rest are not touched, and the others are not affected. */
static void what_is_still_is_left_alone(void **state)
{
    (void)state;
    static Mixed m;
    static Answer all, alone;
    m = (Mixed){0};
    for (uint64_t seed = 200; m.n_cases < 4; seed++)
        if (make_part(&m.part[m.n_cases], seed)) m.n_cases++;
    mix(&m);
    int block[ROOM];
    sti_Awake awake = {block, 0};
    for (int k = 0; k < m.problem.A.n_blocks; k++)
        if (m.block_case[k] % 2 == 0) block[awake.n++] = k;
    for (int k = 0; k < ROOM; k++)
        all.v[k] = all.l[k] = all.u[k] = all.r[k] = 0.125;
    for (int c = 0; c < m.problem.n_contacts; c++)
        for (int d = 0; d < m.contact[c].dim && m.c_case[c] % 2 == 0; d++)
            all.r[m.contact[c].first + d] = 0;
    st_Error err;
    st_SolveInfo info;
    st_SolverDef def = solver_def();
    st_Solution solution = solution_of(&all);
    sti_Islands *islands;
    check_ok(sti_islands_create(&def, true, NULL, &islands, &err), err);
    check_ok(sti_islands_solve(islands, &m.problem, &(sti_IslandsCall){.awake = &awake}, &solution, &info, &err), err);
    for (int k = 0; k < m.n_cases; k++) {
        const st_Problem *p = &m.part[k].problem;
        alone = (Answer){0};
        if (k % 2 == 0) {
            solve_alone(p, &alone, &info);
        } else {
            for (int j = 0; j < ROOM; j++)
                alone.v[j] = alone.l[j] = alone.u[j] = alone.r[j] = 0.125; /* unchanged */
        }
        check_part(&m, k, &all, &alone);
    }
    sti_islands_destroy(islands);
    for (int k = 0; k < m.n_cases; k++)
        case_free(&m.part[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_island_has_the_bits_it_has_alone),
                                       cmocka_unit_test(a_light_island_is_solved_on_its_own_scale),
                                       cmocka_unit_test(what_is_still_is_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
