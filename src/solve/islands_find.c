/* islands_find.c -- who is connected with whom: union-find over the blocks of A, and lists of what belongs together. */
#include "linalg/joint_graph.h"
#include "math/block_diag.h"
#include "solve/islands_memory.h"

static int count_blocks(const st_Problem *p, const sti_Awake *awake)
{
    return awake != NULL ? awake->n : p->A.n_blocks;
}

static int block_at(const sti_Awake *awake, int e)
{
    return awake != NULL ? awake->block[e] : e;
}

static st_Status locate_blocks(sti_Islands *s, const st_BlockDiag *matrix, Blocks *out, st_Error *err)
{
    int64_t start = 0;
    if (matrix->n_blocks == 0) return ST_OK;
    STI_TRY(STI_GROW(&s->allocator, out->at, out->at_size, matrix->n_blocks, err));
    STI_TRY(STI_GROW(&s->allocator, out->of, out->of_size, matrix->first[matrix->n_blocks], err));
    for (int k = 0; k < matrix->n_blocks; k++) {
        out->at[k] = start;
        start += sti_block_numbers(matrix, k);
        for (int i = matrix->first[k]; i < matrix->first[k + 1]; i++)
            out->of[i] = k;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ connections */

/* The blocks of one column become one, with `node`; returns it, or where it is NONE the first of the column. Those of a
 * column that is left out all sleep, and are not asked for beyond the first.                      */
static int connect_column(sti_Islands *s, const st_Sparse *columns, int j, int node)
{
    int last = NONE;
    const int first = columns->p[j] < columns->p[j + 1] ? s->A.of[columns->i[columns->p[j]]] : NONE;
    if (first != NONE && s->part_of[first] == NONE) return first;
    for (int64_t e = columns->p[j]; e < columns->p[j + 1]; e++) {
        const int block = s->A.of[columns->i[e]];
        if (block == last) continue;
        if (node != NONE) sti_join(s->above, node, block);
        if (node == NONE) node = block;
        last = block;
    }
    return node;
}

/* The first block of each column is in no part. A column of sleeping bodies touches no block that is awake. */
static void leave_out(sti_Islands *s, const st_Sparse *columns, int n)
{
    for (int j = 0; j < n; j++) {
        if (columns->p[j] == columns->p[j + 1]) continue;
        const int k = s->A.of[columns->i[columns->p[j]]];
        s->above[k] = k;
        s->part_of[k] = NONE;
    }
}

st_Status sti_parts_find(sti_Islands *s, const sti_Awake *awake, st_Error *err)
{
    const st_Problem *p = s->problem;
    const st_BlockDiag *A = &p->A;
    const int n = A->n_blocks;

    /* The place of each block of A and the block of each velocity: kept while A keeps its shape. */
    bool same = s->n_velocities == p->n_v && s->shape_size > n && s->marks_size >= n &&
                memcmp(s->shape, A->first, ((size_t)n + 1) * sizeof *s->shape) == 0;
    for (int k = 0; k < n && same; k++)
        same = (s->marks[k] != 0) == sti_block_marked(A, k);
    if (!same) {
        GROW(shape, n + 1);
        GROW(marks, n);
        memcpy(s->shape, A->first, ((size_t)n + 1) * sizeof *s->shape);
        for (int k = 0; k < n; k++)
            s->marks[k] = sti_block_marked(A, k);
        STI_TRY(locate_blocks(s, A, &s->A, err));
        s->n_velocities = p->n_v;
    }

    /* Each block alone: those that are left out in no part, the others without contacts. */
    GROW(above, n);
    GROW(part_of, n);
    GROW(l_part, p->n_l);
    GROW(c_part, p->n_contacts);
    if (awake != NULL && p->n_l > 0) leave_out(s, &p->G, p->n_l);
    if (awake != NULL && p->n_r > 0 && s->pile == NULL) leave_out(s, &p->H, p->n_r);
    for (int e = 0; awake != NULL && s->pile != NULL && e < 2 * p->n_contacts; e++)
        if (s->pile->body[e] >= 0) {
            s->above[s->pile->body[e]] = s->pile->body[e];
            s->part_of[s->pile->body[e]] = NONE;
        }
    for (int e = 0; e < count_blocks(p, awake); e++) {
        const int k = block_at(awake, e);
        s->above[k] = k;
        s->part_of[k] = REST;
    }

    /* Joint rows and contacts connect blocks; l_part and c_part are a block of each. Columns of a contact mostly touch
     * the same velocities: such a column connects nothing more. */
    for (int j = 0; j < p->n_l; j++)
        s->l_part[j] = connect_column(s, &p->G, j, NONE);
    for (int c = 0; c < p->n_contacts; c++) {
        if (s->pile != NULL) {
            const int32_t *body = s->pile->body + 2 * (ptrdiff_t)c;
            if (body[0] >= 0 && body[1] >= 0) sti_join(s->above, body[0], body[1]);
            s->c_part[c] = body[0] >= 0 ? body[0] : body[1] >= 0 ? body[1] : NONE;
            continue;
        }
        const st_Sparse *H = &p->H;
        s->c_part[c] = NONE;
        for (int j = p->contact[c].first; j < p->contact[c].first + p->contact[c].dim; j++) {
            const int64_t count = H->p[j + 1] - H->p[j];
            if (j == p->contact[c].first || H->p[j] - H->p[j - 1] != count ||
                memcmp(H->i + H->p[j - 1], H->i + H->p[j], (size_t)count * sizeof *H->i) != 0)
                s->c_part[c] = connect_column(s, H, j, s->c_part[c]);
        }
    }

    /* A block of compliance connects what it couples. */
    for (int k = 0; k < p->Cb.n_blocks; k++)
        for (int i = p->Cb.first[k] + 1; i < p->Cb.first[k + 1]; i++)
            if (s->l_part[i] != NONE && s->l_part[i - 1] != NONE) sti_join(s->above, s->l_part[i], s->l_part[i - 1]);
    s->soft_rows = p->C.n_blocks > 0 && p->C.n_blocks == p->n_r && p->C.first[p->C.n_blocks] == p->n_r;
    for (int k = 0, c = 0; k < p->C.n_blocks && !s->soft_rows; k++) {
        while (p->contact[c].first + p->contact[c].dim <= p->C.first[k])
            c++;
        for (; p->contact[c].first + p->contact[c].dim < p->C.first[k + 1]; c++)
            if (s->c_part[c] != NONE && s->c_part[c + 1] != NONE) sti_join(s->above, s->c_part[c], s->c_part[c + 1]);
    }

    /* Number the parts: islands in the order of their first blocks. A row that touches nothing is in the first. */
    s->n_islands = 0;
    for (int c = 0; c < p->n_contacts; c++)
        if (s->c_part[c] != NONE && s->part_of[s->c_part[c]] != NONE)
            s->part_of[sti_leader(s->above, s->c_part[c])] = 1;
    for (int e = 0; e < count_blocks(p, awake); e++) {
        const int k = block_at(awake, e);
        const int leader = sti_leader(s->above, k); /* the smallest of its island: numbered before k */
        if (leader != k)
            s->part_of[k] = s->part_of[leader];
        else if (s->part_of[k] != REST)
            s->part_of[k] = ++s->n_islands;
    }
    if (awake == NULL && s->n_islands < 2) return ST_OK; /* the parts of rows are not read */
    const int first = s->n_islands > 0 ? 1 : REST;
    for (int j = 0; j < p->n_l; j++)
        s->l_part[j] = s->l_part[j] == NONE ? first : s->part_of[s->l_part[j]];
    for (int c = 0; c < p->n_contacts; c++)
        s->c_part[c] = s->c_part[c] == NONE ? first : s->part_of[s->c_part[c]];
    return ST_OK;
}

/* ------------------------------------------------------------------ lists */

/* By counting: ascending within each part. Of n things, or of those that are awake. */
static st_Status list_members(sti_Islands *s, Members *m, const int *part, int n, const sti_Awake *awake, st_Error *err)
{
    const int n_parts = s->n_islands + 1;
    STI_TRY(STI_GROW(&s->allocator, m->first, m->first_size, n_parts + 2, err));
    STI_TRY(STI_GROW(&s->allocator, m->member, m->member_size, n, err));
    memset(m->first, 0, ((size_t)n_parts + 2) * sizeof *m->first);
    int *next = m->first + 1; /* ends as the first of the part behind */
    if (awake != NULL) n = awake->n;
    for (int e = 0; e < n; e++)
        if (part[block_at(awake, e)] != NONE) next[part[block_at(awake, e)] + 1]++;
    for (int k = 1; k <= n_parts; k++)
        next[k] += next[k - 1];
    for (int e = 0; e < n; e++) {
        const int i = block_at(awake, e);
        if (part[i] != NONE) m->member[next[part[i]]++] = i;
    }
    return ST_OK;
}

st_Status sti_parts_list(sti_Islands *s, const sti_Awake *awake, st_Error *err)
{
    const st_Problem *p = s->problem;
    STI_TRY(list_members(s, &s->blocks, s->part_of, p->A.n_blocks, awake, err));
    STI_TRY(list_members(s, &s->rows, s->l_part, p->n_l, NULL, err));
    STI_TRY(list_members(s, &s->contacts, s->c_part, p->n_contacts, NULL, err));
    STI_TRY(locate_blocks(s, &p->Cb, &s->Cb, err));
    if (!s->soft_rows) STI_TRY(locate_blocks(s, &p->C, &s->C, err));
    GROW(v_first, p->A.n_blocks);
    return ST_OK;
}
