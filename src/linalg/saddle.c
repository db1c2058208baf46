/* saddle.c -- the saddle point system of velocities and joint impulses,
 *
 *      A v - G l  = a                                        (1)
 *     G' v + Cb l = c                                        (2)
 *
 * With Z = inv(A) G and S = G' Z + Cb:   l = inv(S) (c - G' inv(A) a),   v = inv(A) a + Z l.
 *
 * S has one block per pair of groups that share a block of A, and goes to the block LDL'. Its rows and
 * columns are scaled to a unit diagonal first, so that "this row depends on others" is judged the same
 * for a joint between feathers and one between ships.
 *
 * A not symmetric: neither is S, though its symmetric part is still positive semi-definite and its left
 * and right null spaces agree (S x = 0 means G x = 0). Elimination without pivoting, leaving out
 * vanishing pivots, then works as it does for LDL'; it is done densely for the whole of S. Such A come
 * from users' own models, which are small.
 *
 * Refinement: a light body between heavy ones makes S nearly singular (pivots of 1e-8 at a mass ratio
 * of 1e8) and v the small difference of inv(A) a and Z l. A step on the residuals of (1) and (2), not on
 * S, returns the lost digits, because those residuals see neither cancellation.
 */
#include "linalg/saddle.h"

#include "base/tolerance.h"
#include "math/block_ldl.h"
#include "math/pair.h"
#include "math/product.h"

#define MAX_REFINEMENTS 3
#define REFINED_ENOUGH  1e-9
#define LAST_DIGITS     1e-14 /* about ten roundings of the terms that cancel; forces are not known more precisely */

#define GROW(name, n) STI_TRY(STI_GROW(&m->allocator, m->name, m->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&m->allocator, m->name, m->name##_size)

typedef struct Run {
    int64_t from, to;
    int count;
} Run;

typedef struct sti_SaddleMemory {
    st_Allocator allocator;
    sti_Net net;              /* joint rows and mechanisms                                      */
    sti_BlockFactor mass;     /* A                                                              */
    sti_BlockLdl *ldl;        /* scaled S, A symmetric                                          */
    STI_ARRAY(double, dense); /* scaled S = L D U, n_l x n_l row-major, A not symmetric         */
    int64_t version;          /* of the net that the following arrays belong to; 0: none */
    STI_ARRAY(Run, run);      /* entries of the problem's G that are contiguous here, too */
    int64_t n_runs;
    STI_ARRAY(double, G);        /*                                                                */
    STI_ARRAY(double, Z);        /*                                                                */
    STI_ARRAY(int64_t, s_p);     /* sti_BlockPattern of S                                          */
    STI_ARRAY(int, s_i);         /*                                                                */
    STI_ARRAY(int64_t, s_start); /*                                                                */
    STI_ARRAY(double, s_value);  /*                                                                */
    int64_t s_end;               /* numbers in it                                                  */
    STI_ARRAY(double, scale);    /* n_l: 1/sqrt(S_jj)                                              */
    STI_ARRAY(double, rest_v);   /* residuals of (1), (2) and the corrections; room for wide ones  */
    STI_ARRAY(double, rest_l);   /*                                                                */
    STI_ARRAY(double, step_v);   /*                                                                */
    STI_ARRAY(double, step_l);   /*                                                                */
    STI_ARRAY(double, wide_l);   /* joint impulses of several right-hand sides                     */
    STI_ARRAY(double, own_c);    /* n_l: c and l of the caller in the order of the net             */
    STI_ARRAY(double, own_l);    /*                                                                */
} Memory;

st_Status sti_saddle_create(const st_Allocator *allocator, sti_Saddle **out, st_Error *err)
{
    sti_Saddle *saddle = sti_alloc(allocator, 1, sizeof *saddle);
    Memory *m = sti_alloc(allocator, 1, sizeof *m);
    if (saddle == NULL || m == NULL) {
        sti_free(allocator, saddle, 1, sizeof *saddle);
        sti_free(allocator, m, 1, sizeof *m);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: a saddle point system");
    }
    m->allocator = m->mass.allocator = m->net.allocator = *allocator;
    saddle->net = &m->net;
    saddle->memory = m;
    const st_Status status = sti_block_ldl_create(allocator, &m->ldl, err);
    if (status != ST_OK) {
        sti_saddle_destroy(saddle);
        return status;
    }
    *out = saddle;
    return ST_OK;
}

void sti_saddle_destroy(sti_Saddle *saddle)
{
    if (saddle == NULL) return;
    Memory *m = saddle->memory;
    sti_block_factor_release(&m->mass);
    sti_block_ldl_destroy(m->ldl);
    sti_net_release(&m->net);
    RELEASE(dense);
    RELEASE(run);
    RELEASE(G);
    RELEASE(Z);
    RELEASE(s_p);
    RELEASE(s_i);
    RELEASE(s_start);
    RELEASE(s_value);
    RELEASE(scale);
    RELEASE(rest_v);
    RELEASE(rest_l);
    RELEASE(step_v);
    RELEASE(step_l);
    RELEASE(wide_l);
    RELEASE(own_c);
    RELEASE(own_l);
    st_Allocator allocator = m->allocator;
    sti_free(&allocator, m, 1, sizeof *m);
    sti_free(&allocator, saddle, 1, sizeof *saddle);
}

static int block_size(const Memory *m, int block)
{
    return sti_net_block_size(&m->net, block);
}

static int group_rows(const Memory *m, int group)
{
    return sti_net_group_rows(&m->net, group);
}

/* Dense blocks of G. Mostly a run is the six velocities of a body. */
static void fill_G(Memory *m)
{
    const double *from = m->net.problem->G.x;
    for (int64_t k = 0; k < m->n_runs; k++) {
        const Run *run = &m->run[k];
        if (run->count == 6)
            memcpy(m->G + run->to, from + run->from, 6 * sizeof *from);
        else
            memcpy(m->G + run->to, from + run->from, (size_t)run->count * sizeof *from);
    }
}

/* ------------------------------------------------------------------ S */

static void insert_row(Memory *m, int64_t from, int64_t *end, int K, int64_t stamp)
{
    if (m->net.slot[K] == stamp) return;
    m->net.slot[K] = stamp;
    int64_t at = (*end)++;
    for (; at > from && m->s_i[at - 1] > K; at--)
        m->s_i[at] = m->s_i[at - 1];
    m->s_i[at] = K;
}

/* out += G_K Z_J', over the block of A that links K and J share. */
static void add_links_product(const Memory *m, int K, int64_t link_K, int J, int64_t link_J, double *out,
                              int64_t stride)
{
    sti_product_add(1.0, m->G + m->net.link_start[link_K], group_rows(m, K), m->Z + m->net.link_start[link_J],
                    group_rows(m, J), block_size(m, m->net.link_block[link_K]), out, stride);
}

static double unit_scale(double diagonal)
{
    return diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
}

static st_Status factor_symmetric(Memory *m, int *redundant_rows, st_Error *err)
{
    if (m->s_end > 0) memset(m->s_value, 0, (size_t)m->s_end * sizeof *m->s_value);
    for (int J = 0; J < m->net.n_groups; J++) {
        const int cols = group_rows(m, J);
        for (int64_t e = m->s_p[J]; e < m->s_p[J + 1]; e++)
            m->net.slot[m->s_i[e]] = m->s_start[e];
        for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++)
            for (int64_t t = m->net.user_first[m->net.link_block[e]]; t < m->net.user_first[m->net.link_block[e] + 1];
                 t++) {
                const int K = m->net.user_group[t];
                if (K >= J) add_links_product(m, K, m->net.user_link[t], J, e, m->s_value + m->net.slot[K], cols);
            }
        for (int j = m->net.row_first[J]; j < m->net.row_first[J + 1]; j++) {
            int64_t end;
            for (int64_t e = sti_net_compliance(&m->net, j, &end); e < end; e++) {
                const int i = m->net.cb_column[e], K = m->net.group_of[i];
                if (K >= J)
                    m->s_value[m->net.slot[K] + (int64_t)(i - m->net.row_first[K]) * cols + j - m->net.row_first[J]] +=
                        m->net.cb_value[e];
            }
        }
    }
    for (int J = 0; J < m->net.n_groups; J++)
        for (int j = 0; j < group_rows(m, J); j++) /* the diagonal block is the first of its column */
            m->scale[m->net.row_first[J] + j] =
                unit_scale(m->s_value[m->s_start[m->s_p[J]] + (int64_t)j * group_rows(m, J) + j]);
    for (int J = 0; J < m->net.n_groups; J++)
        for (int64_t e = m->s_p[J]; e < m->s_p[J + 1]; e++) {
            const int K = m->s_i[e], cols = group_rows(m, J);
            double *x = m->s_value + m->s_start[e];
            for (int a = 0; a < group_rows(m, K); a++)
                for (int b = 0; b < cols; b++)
                    x[a * cols + b] *= m->scale[m->net.row_first[K] + a] * m->scale[m->net.row_first[J] + b];
        }
    const sti_BlockPattern pattern = {.n_blocks = m->net.n_groups,
                                      .first = m->net.row_first,
                                      .p = m->s_p,
                                      .i = m->s_i,
                                      .start = m->s_start,
                                      .name = m->net.row};
    return sti_block_ldl_factor(m->ldl, &pattern, m->s_value, redundant_rows, err);
}

/* S = L D U in place, L and U unit triangular; the diagonal holds 1/d, or 0 for a row left out (whose
 * column of L and row of U are 0). The diagonal of the scaled S is 1, or 0 for a row of zeros.      */
static st_Status factor_dense(Memory *m, int *redundant_rows, st_Error *err)
{
    const int64_t n = m->net.problem->n_l;
    GROW(dense, n * n);

    /* S in full, for an A that is not symmetric. */
    memset(m->dense, 0, (size_t)(n * n) * sizeof *m->dense);
    for (int J = 0; J < m->net.n_groups; J++)
        for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++)
            for (int64_t t = m->net.user_first[m->net.link_block[e]]; t < m->net.user_first[m->net.link_block[e] + 1];
                 t++) {
                const int K = m->net.user_group[t];
                add_links_product(m, K, m->net.user_link[t], J, e,
                                  m->dense + m->net.row_first[K] * n + m->net.row_first[J], n);
            }
    for (int i = 0; i < (int)n; i++) {
        int64_t end;
        for (int64_t e = sti_net_compliance(&m->net, i, &end); e < end; e++)
            m->dense[i * n + m->net.cb_column[e]] += m->net.cb_value[e];
    }
    for (int64_t i = 0; i < n; i++)
        m->scale[i] = unit_scale(m->dense[i * n + i]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            m->dense[i * n + j] *= m->scale[i] * m->scale[j];
    *redundant_rows = 0;
    for (int64_t c = 0; c < n; c++) {
        double *row = m->dense + c * n;
        const double d = row[c];
        if (!isfinite(d)) return sti_fail(err, ST_ERR_NUMERIC, "joint matrix: pivot of row %d is %g", m->net.row[c], d);
        const bool keep = d > STI_REDUNDANT_PIVOT;
        *redundant_rows += !keep;
        row[c] = keep ? 1.0 / d : 0.0;
        for (int64_t i = c + 1; i < n; i++) {
            double *below = m->dense + i * n;
            below[c] *= row[c];
            for (int64_t j = c + 1; j < n; j++)
                below[j] -= below[c] * row[j];
        }
        for (int64_t j = c + 1; j < n; j++)
            row[j] *= row[c];
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ factor and solve */

st_Status sti_saddle_factor(sti_Saddle *saddle, const st_Problem *problem, st_Error *err)
{
    Memory *m = saddle->memory;
    const st_Problem *p = problem;
    saddle->redundant_rows = 0;
    STI_TRY(sti_block_factor(&m->mass, &p->A, p->symmetric, "A", err));
    STI_TRY(sti_net_build(&m->net, p, err));
    if (m->version != m->net.version) {
        m->version = 0; /* 0 until the layout is complete */
        /* The places of the entries of G in the dense blocks, which are 0 elsewhere. Once per net. */
        const st_Sparse *G = &m->net.problem->G;
        const int *block_first = m->net.problem->A.first;
        const int64_t n_entries = m->net.link_start[m->net.link_first[m->net.n_groups]];
        GROW(G, n_entries);
        GROW(Z, n_entries);
        m->n_runs = 0;
        if (n_entries > 0) memset(m->G, 0, (size_t)n_entries * sizeof *m->G);
        for (int J = 0; J < m->net.n_groups; J++) {
            for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++)
                m->net.slot[m->net.link_block[e]] = m->net.link_start[e];
            for (int j = m->net.row_first[J]; j < m->net.row_first[J + 1]; j++)
                for (int64_t e = G->p[m->net.row[j]]; e < G->p[m->net.row[j] + 1]; e++) {
                    const int block = m->net.block_of[G->i[e]];
                    const int64_t row = (int64_t)(j - m->net.row_first[J]) * block_size(m, block);
                    const int64_t to = m->net.slot[block] + row + G->i[e] - block_first[block];
                    Run *last = m->n_runs > 0 ? &m->run[m->n_runs - 1] : NULL; /* that it may continue */
                    if (last != NULL && last->from + last->count == e && last->to + last->count == to &&
                        last->count < 6) {
                        last->count++;
                        continue;
                    }
                    GROW(run, m->n_runs + 1);
                    m->run[m->n_runs++] = (Run){e, to, 1};
                }
        }

        /* Column J of S: the groups K >= J that share a block of A with J, or an entry of Cb. */
        GROW(s_p, m->net.n_groups + 1);
        for (int K = 0; K < m->net.n_groups; K++)
            m->net.slot[K] = -1;
        m->s_p[0] = 0;
        for (int J = 0; J < m->net.n_groups; J++) {
            int64_t end = m->s_p[J], room = 1;
            for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++)
                room += m->net.user_first[m->net.link_block[e] + 1] - m->net.user_first[m->net.link_block[e]];
            for (int j = m->net.row_first[J]; j < m->net.row_first[J + 1]; j++) {
                int64_t last;
                const int64_t first = sti_net_compliance(&m->net, j, &last);
                room += last - first;
            }
            GROW(s_i, end + room);
            insert_row(m, m->s_p[J], &end, J, J);
            for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++)
                for (int64_t t = m->net.user_first[m->net.link_block[e]];
                     t < m->net.user_first[m->net.link_block[e] + 1]; t++)
                    if (m->net.user_group[t] > J) insert_row(m, m->s_p[J], &end, m->net.user_group[t], J);
            for (int j = m->net.row_first[J]; j < m->net.row_first[J + 1]; j++) {
                int64_t last;
                for (int64_t e = sti_net_compliance(&m->net, j, &last); e < last; e++)
                    if (m->net.group_of[m->net.cb_column[e]] > J)
                        insert_row(m, m->s_p[J], &end, m->net.group_of[m->net.cb_column[e]], J);
            }
            m->s_p[J + 1] = end;
        }
        GROW(s_start, m->s_p[m->net.n_groups]);
        int64_t size = 0;
        for (int J = 0; J < m->net.n_groups; J++)
            for (int64_t e = m->s_p[J]; e < m->s_p[J + 1]; e++) {
                m->s_start[e] = size;
                size += (int64_t)group_rows(m, J) * group_rows(m, m->s_i[e]);
            }
        GROW(s_value, size);
        m->s_end = size;
        m->version = m->net.version;
    }
    fill_G(m);

    /* And of Z = inv(A) G. */
    for (int J = 0; J < m->net.n_groups; J++)
        for (int64_t e = m->net.link_first[J]; e < m->net.link_first[J + 1]; e++)
            sti_block_factor_solve_to(&m->mass, m->net.link_block[e], group_rows(m, J), m->G + m->net.link_start[e],
                                      m->Z + m->net.link_start[e]);
    GROW(scale, p->n_l);
    if (p->n_l == 0) return ST_OK;
    GROW(rest_v, (int64_t)STI_WIDTH * p->n_v);
    GROW(step_v, (int64_t)STI_WIDTH * p->n_v);
    GROW(rest_l, (int64_t)STI_WIDTH * p->n_l);
    GROW(step_l, (int64_t)STI_WIDTH * p->n_l);
    GROW(wide_l, (int64_t)STI_WIDTH * p->n_l);
    GROW(own_c, p->n_l);
    GROW(own_l, p->n_l);
    return p->symmetric ? factor_symmetric(m, &saddle->redundant_rows, err)
                        : factor_dense(m, &saddle->redundant_rows, err);
}

/* The blocks of A and groups of rows that are solved for. */
typedef struct Part {
    int mechanism, n_blocks, n_groups;
    const int *block, *group;
} Part;

static Part part_of(const Memory *m, int mechanism)
{
    if (mechanism == STI_WHOLE)
        return (Part){mechanism, m->net.problem->A.n_blocks, m->net.n_groups, m->net.all, m->net.all};
    const int *blocks = m->net.mechanism_first + mechanism, *groups = m->net.group_first + mechanism;
    return (Part){mechanism, blocks[1] - blocks[0], groups[1] - groups[0], m->net.mechanism_block + blocks[0],
                  m->net.mechanism_group + groups[0]};
}

static void solve_joints(const Memory *m, const Part *part, double *l)
{
    if (part->mechanism == STI_WHOLE)
        sti_block_ldl_solve(m->ldl, l);
    else
        sti_block_ldl_solve_component(m->ldl, part->group[0], l);
}

static void solve_joints_wide(const Memory *m, const Part *part, sti_Wide *l)
{
    sti_block_ldl_solve_component_wide(m->ldl, part->group[0], l);
}

#define NUMBER  double
#define WIDTH   1
#define NAME(f) f
#define CLONES  STI_CLONES
#define DOT     pair_dot_one
#define ADD     pair_add
#include "linalg/saddle_solve.h"

#define NUMBER  sti_Wide
#define WIDTH   STI_WIDTH
#define NAME(f) f##_wide
#define CLONES  STI_CLONES
#define DOT     pair_dot_wide
#define ADD     pair_add_wide
#include "linalg/saddle_solve.h"

/* Rows of the part from the problem's order to the net's. */
static const double *rows_in(const Memory *m, const Part *part, const double *from, double *own)
{
    if (m->net.in_order || from == NULL) return from;
    for (int k = 0; k < part->n_groups; k++)
        for (int row = m->net.row_first[part->group[k]]; row < m->net.row_first[part->group[k] + 1]; row++)
            own[row] = from[m->net.row[row]];
    return own;
}

void sti_saddle_solve(const sti_Saddle *saddle, int mechanism, const double *a, const double *c, double *v, double *l)
{
    const Memory *m = saddle->memory;
    const Part part = part_of(m, mechanism);
    double *own_l = m->net.in_order ? l : m->own_l;
    solve(m, &part, saddle->rough, a, rows_in(m, &part, c, m->own_c), v, own_l);
    for (int k = 0; k < part.n_groups && own_l != l; k++) /* back to the problem's order */
        for (int row = m->net.row_first[part.group[k]]; row < m->net.row_first[part.group[k] + 1]; row++)
            l[m->net.row[row]] = own_l[row];
}

void sti_saddle_renew(sti_Saddle *saddle, const st_Problem *problem)
{
    saddle->memory->net.problem = problem;
    fill_G(saddle->memory);
}

/* One round of refinement. */
STI_CLONES
static void refine(const Memory *m, const Part *part, const double *a, const double *c, const double *v,
                   const double *l)
{
    residuals(m, part, a, c, v, l, m->rest_v, m->rest_l);
    solve_once(m, part, m->rest_v, m->rest_l, m->step_v, m->step_l, NULL);
}

double sti_saddle_correct(const sti_Saddle *saddle, const double *a, const double *c, double *v, double *l)
{
    const Memory *m = saddle->memory;
    const Part part = part_of(m, STI_WHOLE);
    refine(m, &part, a, rows_in(m, &part, c, m->own_c), v, rows_in(m, &part, l, m->own_l));
    double rest = 0, largest = 0;
    for (int row = 0; row < m->net.problem->n_v; row++) {
        v[row] += m->step_v[row];
        rest = sti_larger(fabs(m->rest_v[row]), rest);
        largest = sti_larger(fabs(a[row]), largest);
    }
    for (int row = 0; row < m->net.problem->n_l; row++)
        l[m->net.row[row]] += m->step_l[row];
    return largest > 0 ? rest / largest : 0;
}

void sti_saddle_solve_wide(const sti_Saddle *saddle, int mechanism, const sti_Wide *a, sti_Wide *v)
{
    const Part part = part_of(saddle->memory, mechanism);
    solve_wide(saddle->memory, &part, saddle->rough, a, NULL, v, (sti_Wide *)saddle->memory->wide_l);
}

void sti_saddle_solve_block(const sti_Saddle *saddle, int k, double *x)
{
    sti_block_factor_solve(&saddle->memory->mass, k, x);
}

double sti_saddle_mass(const sti_Saddle *saddle, int row)
{
    const Memory *m = saddle->memory;
    const int block = m->net.block_of[row];
    const int64_t i = row - m->net.problem->A.first[block];
    return m->net.problem->A.x[m->mass.start[block] + i * sti_block_stride(&m->net.problem->A, block)];
}

double sti_saddle_joint_residual(const sti_Saddle *saddle, const double *v, const double *l)
{
    const Memory *m = saddle->memory;
    double worst = 0.0;
    for (int J = 0; J < m->net.n_groups; J++) {
        joint_rest(m, J, NULL, v, m->rest_l);
        for (int row = m->net.row_first[J]; row < m->net.row_first[J + 1]; row++) {
            double rest = m->net.problem->g[m->net.row[row]] - m->rest_l[row];
            int64_t end;
            for (int64_t e = sti_net_compliance(&m->net, row, &end); e < end; e++)
                rest += m->net.cb_value[e] * l[m->net.row[m->net.cb_column[e]]];
            worst = sti_larger(fabs(rest), worst);
        }
    }
    return worst;
}
