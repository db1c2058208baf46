/* saddle.c -- the saddle point system of velocities and joint impulses,
 *
 *      A v - G l  = a                                        (1)
 *     G' v + Cb l = c                                        (2)
 *
 * With Z = inv(A) G and S = G' Z + Cb:   l = inv(S) (c - G' inv(A) a),   v = inv(A) a + Z l.
 *
 * Layout. Consecutive columns of G that touch the same blocks of A form a group (a joint has 1 to 6
 * rows); G and Z stand as small dense blocks, one per link of a group to a block of A:
 *
 *     group J:  rows row_first[J] .. row_first[J+1]-1
 *               links link_first[J] .. link_first[J+1]-1,  link e: block link_block[e], values
 *               G[link_start[e]] and Z[link_start[e]], rows(J) x size(block), row-major
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
 * of 1e8) and v the small difference of inv(A) a and Z l. One step on the residuals of (1) and (2),
 * not on S, returns the lost digits, because those residuals see neither cancellation.
 */
#include "solve/saddle.h"

#include "base/tolerance.h"
#include "math/block_ldl.h"

#define MAX_GROUP_ROWS 6
#define REFINEMENTS    1

#define ARRAY(type, name)                                                                                              \
    type *name;                                                                                                        \
    int64_t name##_size
#define GROW(name, n) STI_TRY(STI_GROW(&m->allocator, m->name, m->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&m->allocator, m->name, m->name##_size)

typedef struct sti_SaddleMemory {
    st_Allocator allocator;
    const st_Problem *problem;
    sti_BlockFactor mass;        /* A                                                              */
    sti_BlockLdl *ldl;           /* scaled S, A symmetric                                          */
    ARRAY(double, dense);        /* scaled S = L D U, n_l x n_l row-major, A not symmetric         */
    int n_groups, n_mechanisms;  /*                                                                */
    ARRAY(int, block_of);        /* n_v                                                            */
    ARRAY(int, group_of);        /* n_l                                                            */
    ARRAY(int, row_first);       /* n_groups + 1                                                   */
    ARRAY(int64_t, link_first);  /* n_groups + 1                                                   */
    ARRAY(int, link_block);      /*                                                                */
    ARRAY(int64_t, link_start);  /*                                                                */
    ARRAY(double, G);            /*                                                                */
    ARRAY(double, Z);            /*                                                                */
    ARRAY(int64_t, user_first);  /* n_blocks + 1: the groups that touch a block of A, ascending    */
    ARRAY(int, user_group);      /*                                                                */
    ARRAY(int64_t, user_link);   /*                                                                */
    ARRAY(int64_t, cb_first);    /* n_l + 1: the nonzeros of Cb by rows                            */
    ARRAY(int, cb_column);       /*                                                                */
    ARRAY(double, cb_value);     /*                                                                */
    ARRAY(int, above);           /* union-find over blocks of A, then groups                       */
    ARRAY(int, mechanism_of);    /* likewise                                                       */
    ARRAY(int, mechanism_first); /* n_mechanisms + 1                                               */
    ARRAY(int, mechanism_block); /*                                                                */
    ARRAY(int, group_first);     /* n_mechanisms + 1                                               */
    ARRAY(int, mechanism_group); /*                                                                */
    ARRAY(int, all_blocks);      /* 0, 1, 2 ...: the blocks (and groups) of the whole system       */
    ARRAY(int64_t, s_p);         /* sti_BlockPattern of S                                          */
    ARRAY(int, s_i);             /*                                                                */
    ARRAY(int64_t, s_start);     /*                                                                */
    ARRAY(double, s_value);      /*                                                                */
    ARRAY(double, scale);        /* n_l: 1/sqrt(S_jj)                                              */
    ARRAY(int64_t, slot);        /* by block of A or group: where it stands in what is being built */
    ARRAY(double, rest_v);       /* residuals of (1), (2) and the corrections                      */
    ARRAY(double, rest_l);       /*                                                                */
    ARRAY(double, step_v);       /*                                                                */
    ARRAY(double, step_l);       /*                                                                */
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
    m->allocator = m->mass.allocator = *allocator;
    saddle->memory = m;
    const st_Status status = sti_block_ldl_create(allocator, &m->ldl, err);
    if (status != ST_OK) {
        sti_saddle_destroy(saddle);
        return status;
    }
    *out = saddle;
    return ST_OK;
}

static void release_arrays(Memory *m)
{
    RELEASE(dense);
    RELEASE(block_of);
    RELEASE(group_of);
    RELEASE(row_first);
    RELEASE(link_first);
    RELEASE(link_block);
    RELEASE(link_start);
    RELEASE(G);
    RELEASE(Z);
    RELEASE(user_first);
    RELEASE(user_group);
    RELEASE(user_link);
    RELEASE(cb_first);
    RELEASE(cb_column);
    RELEASE(cb_value);
    RELEASE(above);
    RELEASE(mechanism_of);
    RELEASE(mechanism_first);
    RELEASE(mechanism_block);
    RELEASE(group_first);
    RELEASE(mechanism_group);
    RELEASE(all_blocks);
    RELEASE(s_p);
    RELEASE(s_i);
    RELEASE(s_start);
    RELEASE(s_value);
    RELEASE(scale);
    RELEASE(slot);
    RELEASE(rest_v);
    RELEASE(rest_l);
    RELEASE(step_v);
    RELEASE(step_l);
}

void sti_saddle_destroy(sti_Saddle *saddle)
{
    if (saddle == NULL) return;
    Memory *m = saddle->memory;
    sti_block_factor_release(&m->mass);
    sti_block_ldl_destroy(m->ldl);
    release_arrays(m);
    st_Allocator allocator = m->allocator;
    sti_free(&allocator, m, 1, sizeof *m);
    sti_free(&allocator, saddle, 1, sizeof *saddle);
}

static int block_size(const Memory *m, int block)
{
    return m->problem->A.first[block + 1] - m->problem->A.first[block];
}

static int group_rows(const Memory *m, int group)
{
    return m->row_first[group + 1] - m->row_first[group];
}

/* ------------------------------------------------------------------ who touches whom */

static st_Status map_blocks(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    GROW(block_of, p->n_v);
    for (int k = 0; k < p->A.n_blocks; k++)
        for (int row = p->A.first[k]; row < p->A.first[k + 1]; row++)
            m->block_of[row] = k;
    return ST_OK;
}

/* The blocks of A that column j of G touches, ascending, without repeats, appended at link_block[end].
 * Entries mostly come sorted, so the insertion rarely moves anything.                              */
static st_Status collect_blocks(Memory *m, int j, int64_t end, int64_t *count, st_Error *err)
{
    const st_Sparse *G = &m->problem->G;
    GROW(link_block, end + G->p[j + 1] - G->p[j]);
    *count = 0;
    for (int64_t e = G->p[j]; e < G->p[j + 1]; e++) {
        const int block = m->block_of[G->i[e]];
        int64_t at = end + *count;
        while (at > end && m->link_block[at - 1] > block)
            at--;
        if (at > end && m->link_block[at - 1] == block) continue;
        memmove(m->link_block + at + 1, m->link_block + at, (size_t)(end + *count - at) * sizeof *m->link_block);
        m->link_block[at] = block;
        ++*count;
    }
    return ST_OK;
}

static bool same_links(const Memory *m, int64_t a, int64_t b, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (m->link_block[a + k] != m->link_block[b + k]) return false;
    return true;
}

static st_Status form_groups(Memory *m, st_Error *err)
{
    const int n_l = m->problem->n_l;
    GROW(group_of, n_l);
    GROW(row_first, n_l + 1);
    GROW(link_first, n_l + 1);
    m->n_groups = 0;
    m->link_first[0] = 0;
    for (int j = 0; j < n_l; j++) {
        const int last = m->n_groups - 1;
        int64_t count = 0;
        const int64_t end = m->link_first[m->n_groups];
        STI_TRY(collect_blocks(m, j, end, &count, err));
        const bool joins = last >= 0 && j - m->row_first[last] < MAX_GROUP_ROWS && count == end - m->link_first[last] &&
                           same_links(m, m->link_first[last], end, count);
        if (!joins) {
            m->row_first[m->n_groups++] = j;
            m->link_first[m->n_groups] = end + count;
        }
        m->group_of[j] = m->n_groups - 1;
    }
    m->row_first[m->n_groups] = n_l;
    return ST_OK;
}

/* Dense blocks of G and Z = inv(A) G. */
static st_Status fill_links(Memory *m, st_Error *err)
{
    const st_Sparse *G = &m->problem->G;
    const int *first = m->problem->A.first;
    GROW(link_start, m->link_first[m->n_groups]);
    GROW(slot, (int64_t)m->problem->A.n_blocks + m->n_groups);
    int64_t end = 0;
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++) {
            m->link_start[e] = end;
            end += (int64_t)group_rows(m, J) * block_size(m, m->link_block[e]);
        }
    GROW(G, end);
    GROW(Z, end);
    if (end > 0) memset(m->G, 0, (size_t)end * sizeof *m->G);
    for (int J = 0; J < m->n_groups; J++) {
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            m->slot[m->link_block[e]] = m->link_start[e];
        for (int j = m->row_first[J]; j < m->row_first[J + 1]; j++)
            for (int64_t e = G->p[j]; e < G->p[j + 1]; e++) {
                const int block = m->block_of[G->i[e]];
                const int64_t row = (int64_t)(j - m->row_first[J]) * block_size(m, block);
                m->G[m->slot[block] + row + G->i[e] - first[block]] = G->x[e];
            }
    }
    if (end > 0) memcpy(m->Z, m->G, (size_t)end * sizeof *m->Z);
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            for (int row = 0; row < group_rows(m, J); row++)
                sti_block_factor_solve(&m->mass, m->link_block[e],
                                       m->Z + m->link_start[e] + (int64_t)row * block_size(m, m->link_block[e]));
    return ST_OK;
}

/* The links turned round: per block of A, the groups that touch it. */
static st_Status list_users(Memory *m, st_Error *err)
{
    const int n_blocks = m->problem->A.n_blocks;
    const int64_t n_links = m->link_first[m->n_groups];
    GROW(user_first, n_blocks + 1);
    GROW(user_group, n_links);
    GROW(user_link, n_links);
    memset(m->user_first, 0, (size_t)(n_blocks + 1) * sizeof *m->user_first);
    for (int64_t e = 0; e < n_links; e++)
        m->user_first[m->link_block[e] + 1]++;
    for (int k = 0; k < n_blocks; k++) {
        m->user_first[k + 1] += m->user_first[k];
        m->slot[k] = m->user_first[k];
    }
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++) {
            const int64_t at = m->slot[m->link_block[e]]++;
            m->user_group[at] = J;
            m->user_link[at] = e;
        }
    return ST_OK;
}

static st_Status list_compliance(Memory *m, st_Error *err)
{
    const st_BlockDiag *Cb = &m->problem->Cb;
    GROW(cb_first, m->problem->n_l + 1);
    memset(m->cb_first, 0, (size_t)(m->problem->n_l + 1) * sizeof *m->cb_first);
    const double *x = Cb->x;
    int64_t end = 0;
    for (int k = 0; k < Cb->n_blocks; k++) {
        const int size = Cb->first[k + 1] - Cb->first[k];
        for (int a = 0; a < size; a++) {
            GROW(cb_column, end + size);
            GROW(cb_value, end + size);
            for (int b = 0; b < size; b++) {
                if (x[b] == 0.0) continue;
                m->cb_column[end] = Cb->first[k] + b;
                m->cb_value[end++] = x[b];
            }
            x += size;
            m->cb_first[Cb->first[k] + a + 1] = end;
        }
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ mechanisms */

static int find(int *above, int node)
{
    while (above[node] != node)
        node = above[node] = above[above[node]]; /* halve the path on the way */
    return node;
}

static void join(int *above, int a, int b)
{
    a = find(above, a), b = find(above, b);
    if (a < b) above[b] = a; /* the smaller number leads: the result does not depend on the order */
    if (b < a) above[a] = b;
}

/* Number the mechanisms and sort members of one kind (nodes from .. to-1) by them. */
static void list_members(const Memory *m, int from, int to, int *first, int *member)
{
    for (int k = 0; k <= m->n_mechanisms; k++)
        first[k] = 0;
    for (int node = from; node < to; node++)
        first[m->mechanism_of[node] + 1]++;
    for (int k = 0; k < m->n_mechanisms; k++)
        first[k + 1] += first[k];
    for (int node = from; node < to; node++)
        member[first[m->mechanism_of[node]]++] = node - from;
    for (int k = m->n_mechanisms; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
}

static st_Status find_mechanisms(Memory *m, st_Error *err)
{
    const int n_blocks = m->problem->A.n_blocks, n_nodes = n_blocks + m->n_groups;
    GROW(above, n_nodes);
    GROW(mechanism_of, n_nodes);
    for (int node = 0; node < n_nodes; node++)
        m->above[node] = node;
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            join(m->above, n_blocks + J, m->link_block[e]);
    for (int i = 0; i < m->problem->n_l; i++)
        for (int64_t e = m->cb_first[i]; e < m->cb_first[i + 1]; e++)
            join(m->above, n_blocks + m->group_of[i], n_blocks + m->group_of[m->cb_column[e]]);
    m->n_mechanisms = 0;
    for (int node = 0; node < n_nodes; node++) { /* leaders come before their followers */
        const int leader = find(m->above, node);
        m->mechanism_of[node] = leader == node ? m->n_mechanisms++ : m->mechanism_of[leader];
    }
    GROW(mechanism_first, m->n_mechanisms + 1);
    GROW(mechanism_block, n_blocks);
    GROW(group_first, m->n_mechanisms + 1);
    GROW(mechanism_group, m->n_groups);
    GROW(all_blocks, n_nodes);
    list_members(m, 0, n_blocks, m->mechanism_first, m->mechanism_block);
    list_members(m, n_blocks, n_nodes, m->group_first, m->mechanism_group);
    for (int k = 0; k < n_nodes; k++)
        m->all_blocks[k] = k;
    return ST_OK;
}

/* ------------------------------------------------------------------ S */

static void insert_row(Memory *m, int64_t from, int64_t *end, int K, int64_t stamp)
{
    if (m->slot[K] == stamp) return;
    m->slot[K] = stamp;
    int64_t at = (*end)++;
    for (; at > from && m->s_i[at - 1] > K; at--)
        m->s_i[at] = m->s_i[at - 1];
    m->s_i[at] = K;
}

/* Column J of S: the groups K >= J that share a block of A with J, or an entry of Cb. */
static st_Status form_pattern(Memory *m, st_Error *err)
{
    GROW(s_p, m->n_groups + 1);
    for (int K = 0; K < m->n_groups; K++)
        m->slot[K] = -1;
    m->s_p[0] = 0;
    for (int J = 0; J < m->n_groups; J++) {
        int64_t end = m->s_p[J], room = 1;
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            room += m->user_first[m->link_block[e] + 1] - m->user_first[m->link_block[e]];
        room += m->cb_first[m->row_first[J + 1]] - m->cb_first[m->row_first[J]];
        GROW(s_i, end + room);
        insert_row(m, m->s_p[J], &end, J, J);
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            for (int64_t t = m->user_first[m->link_block[e]]; t < m->user_first[m->link_block[e] + 1]; t++)
                if (m->user_group[t] > J) insert_row(m, m->s_p[J], &end, m->user_group[t], J);
        for (int64_t e = m->cb_first[m->row_first[J]]; e < m->cb_first[m->row_first[J + 1]]; e++)
            if (m->group_of[m->cb_column[e]] > J) insert_row(m, m->s_p[J], &end, m->group_of[m->cb_column[e]], J);
        m->s_p[J + 1] = end;
    }
    GROW(s_start, m->s_p[m->n_groups]);
    int64_t size = 0;
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->s_p[J]; e < m->s_p[J + 1]; e++) {
            m->s_start[e] = size;
            size += (int64_t)group_rows(m, J) * group_rows(m, m->s_i[e]);
        }
    GROW(s_value, size);
    if (size > 0) memset(m->s_value, 0, (size_t)size * sizeof *m->s_value);
    return ST_OK;
}

/* out (rows x cols, of row length stride) += G_K Z_J', over the block of A that links K and J share. */
static void add_product(const Memory *m, int K, int64_t link_K, int J, int64_t link_J, double *out, int64_t stride)
{
    const int size = block_size(m, m->link_block[link_K]);
    for (int a = 0; a < group_rows(m, K); a++)
        for (int b = 0; b < group_rows(m, J); b++) {
            const double *g = m->G + m->link_start[link_K] + (int64_t)a * size;
            const double *z = m->Z + m->link_start[link_J] + (int64_t)b * size;
            double sum = 0.0;
            for (int k = 0; k < size; k++)
                sum += g[k] * z[k];
            out[a * stride + b] += sum;
        }
}

static void fill_S(Memory *m)
{
    for (int J = 0; J < m->n_groups; J++) {
        const int cols = group_rows(m, J);
        for (int64_t e = m->s_p[J]; e < m->s_p[J + 1]; e++)
            m->slot[m->s_i[e]] = m->s_start[e];
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            for (int64_t t = m->user_first[m->link_block[e]]; t < m->user_first[m->link_block[e] + 1]; t++) {
                const int K = m->user_group[t];
                if (K >= J) add_product(m, K, m->user_link[t], J, e, m->s_value + m->slot[K], cols);
            }
        for (int j = m->row_first[J]; j < m->row_first[J + 1]; j++)
            for (int64_t e = m->cb_first[j]; e < m->cb_first[j + 1]; e++) {
                const int i = m->cb_column[e], K = m->group_of[i];
                if (K >= J)
                    m->s_value[m->slot[K] + (int64_t)(i - m->row_first[K]) * cols + j - m->row_first[J]] +=
                        m->cb_value[e];
            }
    }
}

static double unit_scale(double diagonal)
{
    return diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
}

static void scale_S(Memory *m)
{
    for (int J = 0; J < m->n_groups; J++)
        for (int j = 0; j < group_rows(m, J); j++) /* the diagonal block is the first of its column */
            m->scale[m->row_first[J] + j] = unit_scale(m->s_value[m->s_start[m->s_p[J]] + j * group_rows(m, J) + j]);
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->s_p[J]; e < m->s_p[J + 1]; e++) {
            const int K = m->s_i[e], cols = group_rows(m, J);
            double *x = m->s_value + m->s_start[e];
            for (int a = 0; a < group_rows(m, K); a++)
                for (int b = 0; b < cols; b++)
                    x[a * cols + b] *= m->scale[m->row_first[K] + a] * m->scale[m->row_first[J] + b];
        }
}

static st_Status factor_symmetric(Memory *m, int *redundant_rows, st_Error *err)
{
    STI_TRY(form_pattern(m, err));
    fill_S(m);
    scale_S(m);
    const sti_BlockPattern pattern = {
        .n_blocks = m->n_groups, .first = m->row_first, .p = m->s_p, .i = m->s_i, .start = m->s_start};
    return sti_block_ldl_factor(m->ldl, &pattern, m->s_value, redundant_rows, err);
}

/* S in full, for an A that is not symmetric. */
static void fill_dense(Memory *m, int64_t n)
{
    memset(m->dense, 0, (size_t)(n * n) * sizeof *m->dense);
    for (int J = 0; J < m->n_groups; J++)
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++)
            for (int64_t t = m->user_first[m->link_block[e]]; t < m->user_first[m->link_block[e] + 1]; t++) {
                const int K = m->user_group[t];
                add_product(m, K, m->user_link[t], J, e, m->dense + m->row_first[K] * n + m->row_first[J], n);
            }
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = m->cb_first[i]; e < m->cb_first[i + 1]; e++)
            m->dense[i * n + m->cb_column[e]] += m->cb_value[e];
    for (int64_t i = 0; i < n; i++)
        m->scale[i] = unit_scale(m->dense[i * n + i]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            m->dense[i * n + j] *= m->scale[i] * m->scale[j];
}

/* S = L D U in place, L and U unit triangular; the diagonal holds 1/d, or 0 for a row left out (whose
 * column of L and row of U are 0). The diagonal of the scaled S is 1, or 0 for a row of zeros.      */
static st_Status factor_dense(Memory *m, int *redundant_rows, st_Error *err)
{
    const int64_t n = m->problem->n_l;
    GROW(dense, n * n);
    fill_dense(m, n);
    *redundant_rows = 0;
    for (int64_t c = 0; c < n; c++) {
        double *row = m->dense + c * n;
        const double d = row[c];
        if (!isfinite(d))
            return sti_fail(err, ST_ERR_NUMERIC, "joint matrix: pivot of row %lld is %g", (long long)c, d);
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

static void solve_dense(const Memory *m, double *y)
{
    const int64_t n = m->problem->n_l;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            y[i] -= m->dense[i * n + j] * y[j];
    for (int64_t i = n - 1; i >= 0; i--) {
        y[i] *= m->dense[i * n + i];
        for (int64_t j = i + 1; j < n; j++)
            y[i] -= m->dense[i * n + j] * y[j];
    }
}

/* ------------------------------------------------------------------ factor and solve */

static st_Status factor(Memory *m, int *redundant_rows, st_Error *err)
{
    const st_Problem *p = m->problem;
    *redundant_rows = 0;
    STI_TRY(sti_block_factor(&m->mass, &p->A, p->symmetric, "A", err));
    STI_TRY(map_blocks(m, err));
    STI_TRY(form_groups(m, err));
    STI_TRY(fill_links(m, err));
    STI_TRY(list_users(m, err));
    STI_TRY(list_compliance(m, err));
    STI_TRY(find_mechanisms(m, err));
    GROW(scale, p->n_l);
    GROW(rest_v, p->n_v);
    GROW(step_v, p->n_v);
    GROW(rest_l, p->n_l);
    GROW(step_l, p->n_l);
    if (p->n_l == 0) return ST_OK;
    return p->symmetric ? factor_symmetric(m, redundant_rows, err) : factor_dense(m, redundant_rows, err);
}

st_Status sti_saddle_factor(sti_Saddle *saddle, const st_Problem *problem, st_Error *err)
{
    Memory *m = saddle->memory;
    m->problem = problem;
    STI_TRY(factor(m, &saddle->redundant_rows, err));
    saddle->block_of = m->block_of;
    saddle->mechanism_of = m->mechanism_of;
    saddle->n_mechanisms = m->n_mechanisms;
    saddle->mechanism_first = m->mechanism_first;
    saddle->mechanism_block = m->mechanism_block;
    saddle->group_first = m->group_first;
    return ST_OK;
}

/* The blocks of A and groups of rows that are solved for. */
typedef struct Part {
    int mechanism, n_blocks, n_groups;
    const int *block, *group;
} Part;

static Part part_of(const Memory *m, int mechanism)
{
    if (mechanism == STI_WHOLE)
        return (Part){mechanism, m->problem->A.n_blocks, m->n_groups, m->all_blocks, m->all_blocks};
    const int *blocks = m->mechanism_first + mechanism, *groups = m->group_first + mechanism;
    return (Part){mechanism, blocks[1] - blocks[0], groups[1] - groups[0], m->mechanism_block + blocks[0],
                  m->mechanism_group + groups[0]};
}

/* out = c - G'v, for the rows of one group; c may be NULL. */
static void joint_rest(const Memory *m, int J, const double *c, const double *v, double *out)
{
    for (int row = m->row_first[J]; row < m->row_first[J + 1]; row++) {
        double sum = c != NULL ? c[row] : 0.0;
        for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++) {
            const int size = block_size(m, m->link_block[e]);
            const double *g = m->G + m->link_start[e] + (int64_t)(row - m->row_first[J]) * size;
            const double *x = v + m->problem->A.first[m->link_block[e]];
            for (int k = 0; k < size; k++)
                sum -= g[k] * x[k];
        }
        out[row] = sum;
    }
}

/* v += X l for one group, X being G or Z. */
static void add_links(const Memory *m, int J, const double *X, const double *l, double *v)
{
    for (int64_t e = m->link_first[J]; e < m->link_first[J + 1]; e++) {
        const int size = block_size(m, m->link_block[e]);
        double *x = v + m->problem->A.first[m->link_block[e]];
        for (int row = 0; row < group_rows(m, J); row++) {
            const double *g = X + m->link_start[e] + (int64_t)row * size, amount = l[m->row_first[J] + row];
            for (int k = 0; k < size; k++)
                x[k] += g[k] * amount;
        }
    }
}

static void scale_rows(const Memory *m, const Part *part, double *l)
{
    for (int k = 0; k < part->n_groups; k++)
        for (int row = m->row_first[part->group[k]]; row < m->row_first[part->group[k] + 1]; row++)
            l[row] *= m->scale[row];
}

/* l <- inv(S) l on the rows of the part. The dense solve takes all rows, so the others must be 0. */
static void solve_S(const Memory *m, const Part *part, double *l)
{
    scale_rows(m, part, l);
    if (!m->problem->symmetric)
        solve_dense(m, l);
    else if (part->mechanism == STI_WHOLE)
        sti_block_ldl_solve(m->ldl, l);
    else
        sti_block_ldl_solve_component(m->ldl, part->group[0], l);
    scale_rows(m, part, l);
}

static void solve_once(const Memory *m, const Part *part, const double *a, const double *c, double *v, double *l)
{
    for (int k = 0; k < part->n_blocks; k++) {
        const int block = part->block[k], first = m->problem->A.first[block];
        memcpy(v + first, a + first, (size_t)block_size(m, block) * sizeof *v);
        sti_block_factor_solve(&m->mass, block, v + first);
    }
    if (part->n_groups == 0) return;
    if (!m->problem->symmetric) memset(l, 0, (size_t)m->problem->n_l * sizeof *l);
    for (int k = 0; k < part->n_groups; k++)
        joint_rest(m, part->group[k], c, v, l);
    solve_S(m, part, l);
    for (int k = 0; k < part->n_groups; k++)
        add_links(m, part->group[k], m->Z, l, v);
}

/* rest_v = a + G l - A v,  rest_l = c - G'v - Cb l. */
static void residuals(const Memory *m, const Part *part, const double *a, const double *c, const double *v,
                      const double *l)
{
    for (int k = 0; k < part->n_blocks; k++) {
        const int block = part->block[k], first = m->problem->A.first[block], size = block_size(m, block);
        memcpy(m->rest_v + first, a + first, (size_t)size * sizeof *a);
    }
    for (int k = 0; k < part->n_groups; k++)
        add_links(m, part->group[k], m->G, l, m->rest_v);
    for (int k = 0; k < part->n_blocks; k++) {
        const int block = part->block[k], first = m->problem->A.first[block];
        const int64_t size = block_size(m, block);
        const double *A = m->problem->A.x + m->mass.start[block];
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < size; j++)
                m->rest_v[first + i] -= A[i * size + j] * v[first + j];
    }
    for (int k = 0; k < part->n_groups; k++) {
        const int J = part->group[k];
        joint_rest(m, J, c, v, m->rest_l);
        for (int row = m->row_first[J]; row < m->row_first[J + 1]; row++)
            for (int64_t e = m->cb_first[row]; e < m->cb_first[row + 1]; e++)
                m->rest_l[row] -= m->cb_value[e] * l[m->cb_column[e]];
    }
}

void sti_saddle_solve(const sti_Saddle *saddle, int mechanism, const double *a, const double *c, double *v, double *l)
{
    const Memory *m = saddle->memory;
    const Part part = part_of(m, mechanism);
    solve_once(m, &part, a, c, v, l);
    for (int step = 0; step < REFINEMENTS && part.n_groups > 0; step++) {
        residuals(m, &part, a, c, v, l);
        solve_once(m, &part, m->rest_v, m->rest_l, m->step_v, m->step_l);
        for (int k = 0; k < part.n_blocks; k++)
            for (int row = m->problem->A.first[part.block[k]]; row < m->problem->A.first[part.block[k] + 1]; row++)
                v[row] += m->step_v[row];
        for (int k = 0; k < part.n_groups; k++)
            for (int row = m->row_first[part.group[k]]; row < m->row_first[part.group[k] + 1]; row++)
                l[row] += m->step_l[row];
    }
}

void sti_saddle_solve_block(const sti_Saddle *saddle, int k, double *x)
{
    sti_block_factor_solve(&saddle->memory->mass, k, x);
}

double sti_saddle_joint_residual(const sti_Saddle *saddle, const double *v, const double *l)
{
    const Memory *m = saddle->memory;
    double worst = 0.0;
    for (int J = 0; J < m->n_groups; J++) {
        joint_rest(m, J, NULL, v, m->rest_l);
        for (int row = m->row_first[J]; row < m->row_first[J + 1]; row++) {
            double rest = m->problem->g[row] - m->rest_l[row];
            for (int64_t e = m->cb_first[row]; e < m->cb_first[row + 1]; e++)
                rest += m->cb_value[e] * l[m->cb_column[e]];
            worst = fmax(worst, fabs(rest));
        }
    }
    return worst;
}
