/* islands.c -- see islands.h: who is connected with whom, each island as a problem of its own, one after another. */
#include "solve/islands.h"
#include "math/block_diag.h"

#include "solve/linear.h"
#include "solve/net.h"
#include "solve/rows.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

/* Parts: 0 is what has no contacts, 1 .. n_islands the islands; and nobody's. */
enum { REST = 0, NONE = -1 };

/* Solvers keep the structure of joints from step to step. Mechanisms so have one each, up to this many, by their order;
 * islands without joints share the first.                                                        */
enum { MOST_SOLVERS = 64 };

/* Members of every part, ascending: member[first[k]] .. member[first[k + 1] - 1]. */
typedef struct Members {
    STI_ARRAY(int, first);
    STI_ARRAY(int, member);
} Members;

/* A block-diagonal matrix: where the values of each block start and whose a row is, in the whole; and the part's own.
 */
typedef struct Blocks {
    STI_ARRAY(int64_t, at);
    STI_ARRAY(int, of);
    int n;
    int64_t n_x;
    STI_ARRAY(int, first);
    STI_ARRAY(double, x);
    STI_ARRAY(unsigned char, marked);
} Blocks;

/* G or H of a part. */
typedef struct Columns {
    int n;
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, i);
    STI_ARRAY(double, x);
} Columns;

struct sti_Islands {
    st_Allocator allocator;
    st_SolverDef def;
    bool split;
    st_Solver *solver[MOST_SOLVERS];
    sti_Linear *linear; /* for problems without contacts                                           */
    int n_islands;
    STI_ARRAY(sti_Island, island);
    const st_Problem *problem;
    int n_velocities;                /* that A.at and A.of are known for                           */
    STI_ARRAY(int, shape);           /* A.first as it was then                                     */
    STI_ARRAY(unsigned char, marks); /* and A.diagonal, zeros for none                             */
    STI_ARRAY(int, above);           /* union-find over blocks                                            */
    STI_ARRAY(int, part_of);         /* by block                                                          */
    STI_ARRAY(int, l_part);          /* by joint row                                                      */
    STI_ARRAY(int, c_part);          /* by contact                                                        */
    STI_ARRAY(int, v_first);         /* by block: its first velocity in the part                          */
    Members blocks, rows, contacts;

    st_Problem part; /* the one being solved, its number and its arrays                            */
    int number;
    struct st_RowSource later; /* of its rows, where they wait                                     */
    Blocks A, Cb, C;
    Columns G, H;
    STI_ARRAY(double, f);
    STI_ARRAY(double, g);
    STI_ARRAY(double, w);
    STI_ARRAY(st_ContactLaw, law);
    STI_ARRAY(double, v);
    STI_ARRAY(double, l);
    STI_ARRAY(double, u);
    STI_ARRAY(double, r);
};

static void release_members(const st_Allocator *allocator, Members *m)
{
    STI_RELEASE(allocator, m->first, m->first_size);
    STI_RELEASE(allocator, m->member, m->member_size);
}

static void release_blocks(const st_Allocator *allocator, Blocks *b)
{
    STI_RELEASE(allocator, b->at, b->at_size);
    STI_RELEASE(allocator, b->of, b->of_size);
    STI_RELEASE(allocator, b->first, b->first_size);
    STI_RELEASE(allocator, b->x, b->x_size);
    STI_RELEASE(allocator, b->marked, b->marked_size);
}

static void release_columns(const st_Allocator *allocator, Columns *c)
{
    STI_RELEASE(allocator, c->p, c->p_size);
    STI_RELEASE(allocator, c->i, c->i_size);
    STI_RELEASE(allocator, c->x, c->x_size);
}

void sti_islands_destroy(sti_Islands *s)
{
    if (s == NULL) return;
    const st_Allocator allocator = s->allocator;
    for (int k = 0; k < MOST_SOLVERS; k++)
        st_solver_destroy(s->solver[k]);
    sti_linear_destroy(s->linear);
    RELEASE(island);
    RELEASE(marks);
    RELEASE(shape);
    RELEASE(above);
    RELEASE(part_of);
    RELEASE(l_part);
    RELEASE(c_part);
    RELEASE(v_first);
    release_members(&allocator, &s->blocks);
    release_members(&allocator, &s->rows);
    release_members(&allocator, &s->contacts);
    release_blocks(&allocator, &s->A);
    release_blocks(&allocator, &s->Cb);
    release_blocks(&allocator, &s->C);
    release_columns(&allocator, &s->G);
    release_columns(&allocator, &s->H);
    RELEASE(f);
    RELEASE(g);
    RELEASE(w);
    RELEASE(law);
    RELEASE(v);
    RELEASE(l);
    RELEASE(u);
    RELEASE(r);
    sti_free(&allocator, s, 1, sizeof *s);
}

st_Status sti_islands_create(const st_SolverDef *def, bool split, sti_Islands **out, st_Error *err)
{
    sti_Islands *s = sti_alloc(&def->allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: islands");
    s->allocator = def->allocator;
    s->def = *def;
    s->split = split;
    for (int k = 0; k < st_solver_count(); k++) /* the caller's string may go */
        if (def->name != NULL && strcmp(st_solver_name(k), def->name) == 0) s->def.name = st_solver_name(k);
    st_Status status = st_solver_create(def, &s->solver[0], err);
    if (status == ST_OK) status = sti_linear_create(&s->allocator, &s->linear, err);
    if (status == ST_OK) status = STI_GROW(&s->allocator, s->island, s->island_size, 1, err);
    if (status != ST_OK) {
        sti_islands_destroy(s);
        return status;
    }
    *out = s;
    return ST_OK;
}

int sti_islands_count(const sti_Islands *s)
{
    return s->n_islands;
}

const sti_Island *sti_islands_get(const sti_Islands *s, int index)
{
    return index >= 0 && index < s->n_islands ? &s->island[index] : NULL;
}

/* ------------------------------------------------------------------ who is connected */

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

static bool has_shape(const sti_Islands *s, const st_BlockDiag *A, int n_v)
{
    if (s->n_velocities != n_v || s->shape_size <= A->n_blocks || s->marks_size < A->n_blocks) return false;
    if (memcmp(s->shape, A->first, ((size_t)A->n_blocks + 1) * sizeof *s->shape) != 0) return false;
    for (int k = 0; k < A->n_blocks && A->diagonal == NULL; k++)
        if (s->marks[k] != 0) return false;
    return A->diagonal == NULL || memcmp(s->marks, A->diagonal, (size_t)A->n_blocks) == 0;
}

/* Where the blocks of A stand, and whose every velocity is; kept while A keeps its shape. */
static st_Status map_velocities(sti_Islands *s, st_Error *err)
{
    const st_Problem *p = s->problem;
    const int n = p->A.n_blocks;
    if (has_shape(s, &p->A, p->n_v)) return ST_OK;
    GROW(shape, n + 1);
    GROW(marks, n);
    memcpy(s->shape, p->A.first, ((size_t)n + 1) * sizeof *s->shape);
    for (int k = 0; k < n; k++)
        s->marks[k] = sti_block_marked(&p->A, k);
    STI_TRY(locate_blocks(s, &p->A, &s->A, err));
    s->n_velocities = p->n_v;
    return ST_OK;
}

/* The blocks of one column become one, with `node`; returns it, or where it is NONE the first of the column. */
static int connect_column(sti_Islands *s, const st_Sparse *columns, int j, int node)
{
    int last = NONE;
    for (int64_t e = columns->p[j]; e < columns->p[j + 1]; e++) {
        const int block = s->A.of[columns->i[e]];
        if (block == last) continue;
        if (node != NONE) sti_join(s->above, node, block);
        if (node == NONE) node = block;
        last = block;
    }
    return node;
}

static bool same_rows(const st_Sparse *columns, int i, int j)
{
    const int64_t count = columns->p[i + 1] - columns->p[i];
    return columns->p[j + 1] - columns->p[j] == count &&
           memcmp(columns->i + columns->p[i], columns->i + columns->p[j], (size_t)count * sizeof *columns->i) == 0;
}

/* The blocks that a contact touches whose rows wait to be made; NONE on a side without. */
static void waiting_blocks(const sti_Islands *s, int c, int block[2])
{
    const struct st_RowSource *later = s->problem->later;
    int first[2];
    later->legs(later->ctx, c, first);
    for (int side = 0; side < 2; side++)
        block[side] = first[side] >= 0 ? s->A.of[first[side]] : NONE;
}

/* All columns of a contact together; returns a block of theirs, or NONE. */
static int connect_contact(sti_Islands *s, int c)
{
    const st_Sparse *columns = &s->problem->H;
    const st_ContactLaw *contact = &s->problem->contact[c];
    int node = NONE;
    if (sti_rows_wait(s->problem)) {
        int block[2];
        waiting_blocks(s, c, block);
        if (block[0] != NONE && block[1] != NONE) sti_join(s->above, block[0], block[1]);
        return block[0] != NONE ? block[0] : block[1];
    }
    for (int j = contact->first; j < contact->first + contact->dim; j++)
        if (j == contact->first || !same_rows(columns, j - 1, j)) node = connect_column(s, columns, j, node);
    return node;
}

/* What a block of compliance couples is one, too. l_part and c_part hold a block of A each, still. */
static void connect_compliances(sti_Islands *s)
{
    const st_Problem *p = s->problem;
    for (int k = 0; k < p->Cb.n_blocks; k++)
        for (int i = p->Cb.first[k] + 1; i < p->Cb.first[k + 1]; i++)
            if (s->l_part[i] != NONE && s->l_part[i - 1] != NONE) sti_join(s->above, s->l_part[i], s->l_part[i - 1]);
    for (int k = 0, c = 0; k < p->C.n_blocks; k++) {
        while (p->contact[c].first + p->contact[c].dim <= p->C.first[k])
            c++;
        for (; p->contact[c].first + p->contact[c].dim < p->C.first[k + 1]; c++)
            if (s->c_part[c] != NONE && s->c_part[c + 1] != NONE) sti_join(s->above, s->c_part[c], s->c_part[c + 1]);
    }
}

/* Parts by number: islands in the order of their first blocks. A row that touches nothing goes with the first. */
static void number_parts(sti_Islands *s, const sti_Awake *awake)
{
    const st_Problem *p = s->problem;
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
    if (awake == NULL && s->n_islands < 2) return; /* nobody asks whose they are */
    const int first = s->n_islands > 0 ? 1 : REST;
    for (int j = 0; j < p->n_l; j++)
        s->l_part[j] = s->l_part[j] == NONE ? first : s->part_of[s->l_part[j]];
    for (int c = 0; c < p->n_contacts; c++)
        s->c_part[c] = s->c_part[c] == NONE ? first : s->part_of[s->c_part[c]];
}

/* Nobody's, each alone: what rows touch that are left out. */
static void leave_out(sti_Islands *s, const st_Sparse *columns, int64_t begin, int64_t end)
{
    for (int64_t e = begin; e < end; e++) {
        const int k = s->A.of[columns->i[e]];
        s->above[k] = k;
        s->part_of[k] = NONE;
    }
}

static void start_blocks(sti_Islands *s, const sti_Awake *awake)
{
    const st_Problem *p = s->problem;
    if (awake != NULL && p->n_l > 0) leave_out(s, &p->G, 0, p->G.p[p->n_l]);
    if (awake != NULL && p->n_r > 0 && !sti_rows_wait(p)) leave_out(s, &p->H, 0, p->H.p[p->n_r]);
    for (int e = 0; e < count_blocks(p, awake); e++) {
        const int k = block_at(awake, e);
        s->above[k] = k;
        s->part_of[k] = REST;
    }
}

static st_Status find_parts(sti_Islands *s, const sti_Awake *awake, st_Error *err)
{
    const st_Problem *p = s->problem;
    STI_TRY(map_velocities(s, err));
    GROW(above, p->A.n_blocks);
    GROW(part_of, p->A.n_blocks);
    GROW(l_part, p->n_l);
    GROW(c_part, p->n_contacts);
    start_blocks(s, awake);
    for (int j = 0; j < p->n_l; j++)
        s->l_part[j] = connect_column(s, &p->G, j, NONE);
    for (int c = 0; c < p->n_contacts; c++)
        s->c_part[c] = connect_contact(s, c);
    connect_compliances(s);
    number_parts(s, awake);
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

static st_Status list_parts(sti_Islands *s, const sti_Awake *awake, st_Error *err)
{
    const st_Problem *p = s->problem;
    STI_TRY(list_members(s, &s->blocks, s->part_of, p->A.n_blocks, awake, err));
    STI_TRY(list_members(s, &s->rows, s->l_part, p->n_l, NULL, err));
    STI_TRY(list_members(s, &s->contacts, s->c_part, p->n_contacts, NULL, err));
    STI_TRY(locate_blocks(s, &p->Cb, &s->Cb, err));
    STI_TRY(locate_blocks(s, &p->C, &s->C, err));
    GROW(v_first, p->A.n_blocks);
    return ST_OK;
}

/* ------------------------------------------------------------------ one part as a problem */

static void copy(double *to, const double *from, int64_t n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* The block that begins with `row`, if one does, as the next of the part, at its row n. */
static st_Status take_block(sti_Islands *s, const st_BlockDiag *from, Blocks *to, int row, int n, st_Error *err)
{
    if (from->n_blocks == 0 || row != from->first[to->of[row]]) return ST_OK;
    const int k = to->of[row], size = from->first[k + 1] - row;
    const int64_t count = sti_block_numbers(from, k);
    STI_TRY(STI_GROW(&s->allocator, to->first, to->first_size, to->n + 2, err));
    STI_TRY(STI_GROW(&s->allocator, to->x, to->x_size, to->n_x + count, err));
    copy(to->x + to->n_x, from->x + to->at[k], count);
    to->n_x += count;
    if (from->diagonal != NULL) {
        STI_TRY(STI_GROW(&s->allocator, to->marked, to->marked_size, to->n + 1, err));
        to->marked[to->n] = from->diagonal[k];
    }
    to->first[to->n++] = n;
    to->first[to->n] = n + size;
    return ST_OK;
}

/* Column j of G or H as the next of the part, with the velocities' numbers there. */
static st_Status take_column(sti_Islands *s, const st_Sparse *from, int j, Columns *to, st_Error *err)
{
    const int64_t begin = from->p[j], count = from->p[j + 1] - begin, end = to->n > 0 ? to->p[to->n] : 0;
    STI_TRY(STI_GROW(&s->allocator, to->p, to->p_size, to->n + 2, err));
    STI_TRY(STI_GROW(&s->allocator, to->i, to->i_size, end + count, err));
    STI_TRY(STI_GROW(&s->allocator, to->x, to->x_size, end + count, err));
    copy(to->x + end, from->x + begin, count);
    for (int64_t e = 0; e < count; e++) {
        const int row = from->i[begin + e], block = s->A.of[row];
        to->i[end + e] = row - s->problem->A.first[block] + s->v_first[block];
    }
    to->p[to->n] = end;
    to->p[++to->n] = end + count;
    return ST_OK;
}

static st_Status take_bodies(sti_Islands *s, int part, st_Error *err)
{
    const st_Problem *p = s->problem;
    int n = 0;
    for (int e = s->blocks.first[part]; e < s->blocks.first[part + 1]; e++) {
        const int block = s->blocks.member[e], first = p->A.first[block], size = p->A.first[block + 1] - first;
        GROW(f, n + size);
        s->v_first[block] = n;
        copy(s->f + n, p->f + first, size);
        STI_TRY(take_block(s, &p->A, &s->A, first, n, err));
        n += size;
    }
    GROW(v, n);
    s->part.n_v = n;
    return ST_OK;
}

static st_Status take_joints(sti_Islands *s, int part, st_Error *err)
{
    const st_Problem *p = s->problem;
    const int begin = s->rows.first[part], n = s->rows.first[part + 1] - begin;
    GROW(g, n);
    GROW(l, n);
    for (int k = 0; k < n; k++) {
        const int row = s->rows.member[begin + k];
        STI_TRY(take_column(s, &p->G, row, &s->G, err));
        STI_TRY(take_block(s, &p->Cb, &s->Cb, row, k, err));
        s->g[k] = p->g[row];
    }
    s->part.n_l = n;
    return ST_OK;
}

/* The rows of contact c as the next of the part, where they wait to be made. */
static st_Status take_waiting(sti_Islands *s, int c, Columns *to, st_Error *err)
{
    const st_Problem *p = s->problem;
    double row[3][2][STI_NODE];
    int block[2];
    waiting_blocks(s, c, block);
    p->later->put(p->later->ctx, c, p->contact[c].dim, row);
    for (int d = 0; d < p->contact[c].dim; d++) {
        int64_t end = to->n > 0 ? to->p[to->n] : 0;
        STI_TRY(STI_GROW(&s->allocator, to->p, to->p_size, to->n + 2, err));
        STI_TRY(STI_GROW(&s->allocator, to->i, to->i_size, end + 12, err));
        STI_TRY(STI_GROW(&s->allocator, to->x, to->x_size, end + 12, err));
        to->p[to->n] = end;
        for (int side = 0; side < 2; side++)
            for (int k = 0; block[side] != NONE && k < p->A.first[block[side] + 1] - p->A.first[block[side]]; k++) {
                to->i[end] = s->v_first[block[side]] + k;
                to->x[end++] = row[d][side][k];
            }
        to->p[++to->n] = end;
    }
    return ST_OK;
}

/* Do the rows of a part wait on, since the whole's do and there are many? Whoever wants them asks the part, and the
 * part the whole.                                                                                       */
static bool waits(const sti_Islands *s, int part)
{
    return sti_rows_wait(s->problem) && s->contacts.first[part + 1] - s->contacts.first[part] >= STI_FEW_ROWS;
}

static int contact_in_whole(const sti_Islands *s, int c)
{
    return s->contacts.member[s->contacts.first[s->number] + c];
}

static void part_legs(const void *ctx, int c, int first[2])
{
    const sti_Islands *s = ctx;
    int block[2];
    waiting_blocks(s, contact_in_whole(s, c), block);
    for (int side = 0; side < 2; side++)
        first[side] = block[side] != NONE ? s->v_first[block[side]] : -1;
}

static void part_put(const void *ctx, int c, int dim, double row[3][2][STI_NODE])
{
    const sti_Islands *s = ctx;
    const struct st_RowSource *later = s->problem->later;
    later->put(later->ctx, contact_in_whole(s, c), dim, row);
}

static void part_frame(const void *ctx, int c, double frame[4][3])
{
    const sti_Islands *s = ctx;
    const struct st_RowSource *later = s->problem->later;
    later->frame(later->ctx, contact_in_whole(s, c), frame);
}

static const double *part_axes(const void *ctx, int first)
{
    const sti_Islands *s = ctx;
    const struct st_RowSource *later = s->problem->later;
    int lo = 0, hi = s->A.n;
    while (hi - lo > 1) { /* the block that begins with `first` */
        const int middle = lo + (hi - lo) / 2;
        if (s->A.first[middle] <= first)
            lo = middle;
        else
            hi = middle;
    }
    return later->axes(later->ctx, s->problem->A.first[s->blocks.member[s->blocks.first[s->number] + lo]]);
}

static st_Status part_make(void *ctx, st_Error *err)
{
    sti_Islands *s = ctx;
    s->H.n = 0;
    for (int c = 0; c < s->part.n_contacts; c++)
        STI_TRY(take_waiting(s, contact_in_whole(s, c), &s->H, err));
    s->part.H = (st_Sparse){s->part.n_v, s->part.n_r, s->H.p, s->H.i, s->H.x};
    return ST_OK;
}

static st_Status take_contacts(sti_Islands *s, int part, const double *start, st_Error *err)
{
    const st_Problem *p = s->problem;
    const int begin = s->contacts.first[part], n_contacts = s->contacts.first[part + 1] - begin;
    int n = 0;
    GROW(law, n_contacts);
    for (int k = 0; k < n_contacts; k++) {
        const st_ContactLaw *contact = &p->contact[s->contacts.member[begin + k]];
        GROW(w, n + contact->dim);
        GROW(r, n + contact->dim);
        s->law[k] = *contact;
        s->law[k].first = n;
        copy(s->w + n, p->w + contact->first, contact->dim);
        copy(s->r + n, start + contact->first, contact->dim);
        if (sti_rows_wait(p) && !waits(s, part)) STI_TRY(take_waiting(s, s->contacts.member[begin + k], &s->H, err));
        for (int row = contact->first; row < contact->first + contact->dim; row++, n++) {
            if (!sti_rows_wait(p)) STI_TRY(take_column(s, &p->H, row, &s->H, err));
            STI_TRY(take_block(s, &p->C, &s->C, row, n, err));
        }
    }
    GROW(u, n);
    s->part.n_contacts = n_contacts;
    s->part.n_r = n;
    return ST_OK;
}

static st_Status take_part(sti_Islands *s, int part, const double *start, st_Error *err)
{
    st_Problem *to = &s->part;
    *to = (st_Problem){.symmetric = s->problem->symmetric, .u_scale = s->problem->u_scale};
    s->A.n = s->Cb.n = s->C.n = s->G.n = s->H.n = 0;
    s->A.n_x = s->Cb.n_x = s->C.n_x = 0;
    STI_TRY(take_bodies(s, part, err));
    STI_TRY(take_joints(s, part, err));
    STI_TRY(take_contacts(s, part, start, err));
    to->A = (st_BlockDiag){.n_blocks = s->A.n, .first = s->A.first, .x = s->A.x};
    if (s->problem->A.diagonal != NULL) to->A.diagonal = s->A.marked;
    to->Cb = (st_BlockDiag){.n_blocks = s->Cb.n, .first = s->Cb.first, .x = s->Cb.x};
    to->C = (st_BlockDiag){.n_blocks = s->C.n, .first = s->C.first, .x = s->C.x};
    to->G = (st_Sparse){to->n_v, to->n_l, s->G.p, s->G.i, s->G.x};
    to->H = (st_Sparse){to->n_v, to->n_r, s->H.p, s->H.i, s->H.x};
    if (waits(s, part)) {
        to->H.p = NULL;
        to->later = &s->later;
        s->number = part;
        s->later = (struct st_RowSource){s, part_legs, part_put, part_frame, part_axes, part_make};
    }
    to->f = s->f;
    to->g = s->g;
    to->w = s->w;
    to->contact = s->law;
    return ST_OK;
}

/* The answer of a part, where it belongs in the whole. */
static void give_part(const sti_Islands *s, int part, st_Solution *out)
{
    const st_Problem *p = s->problem;
    for (int e = s->blocks.first[part]; e < s->blocks.first[part + 1] && out->v != NULL; e++) {
        const int block = s->blocks.member[e], first = p->A.first[block];
        copy(out->v + first, s->v + s->v_first[block], p->A.first[block + 1] - first);
    }
    for (int e = s->rows.first[part], n = 0; e < s->rows.first[part + 1] && out->l != NULL; e++, n++)
        out->l[s->rows.member[e]] = s->l[n];
    for (int e = s->contacts.first[part], n = 0; e < s->contacts.first[part + 1]; e++) {
        const st_ContactLaw *contact = &p->contact[s->contacts.member[e]];
        copy(out->r + contact->first, s->r + n, contact->dim);
        if (out->u != NULL) copy(out->u + contact->first, s->u + n, contact->dim);
        n += contact->dim;
    }
}

/* ------------------------------------------------------------------ all of them */

/* A mechanism's own solver, which knows its joints; the first serves who has none, and who comes too late. */
static st_Status choose_solver(sti_Islands *s, int *n_jointed, st_Solver **out, st_Error *err)
{
    int k = s->part.n_l > 0 && *n_jointed + 1 < MOST_SOLVERS ? ++*n_jointed : 0;
    if (s->solver[k] == NULL) STI_TRY(st_solver_create(&s->def, &s->solver[k], err));
    *out = s->solver[k];
    return ST_OK;
}

/* NaN is the worst of all. */
static double worse(double x, double m)
{
    return x <= m ? m : x;
}

/* The worst of all: largest errors, most iterations, and the solver of whoever has the largest residual. */
static void merge(st_SolveInfo *all, const st_SolveInfo *one, int worst_contact)
{
    const st_Residual *from = &one->residual;
    st_Residual *to = &all->residual;
    if (all->solver == NULL || !(from->natural <= to->natural)) {
        all->solver = one->solver;
        all->fallback = one->fallback;
        to->worst_contact = worst_contact;
    }
    all->converged = all->converged && one->converged;
    all->iterations = one->iterations > all->iterations ? one->iterations : all->iterations;
    all->redundant_rows += one->redundant_rows;
    to->natural = worse(from->natural, to->natural);
    to->error = worse(from->error, to->error);
    to->error_rho = worse(from->error_rho, to->error_rho);
    to->joint = worse(from->joint, to->joint);
    to->cone_violation = worse(from->cone_violation, to->cone_violation);
    to->complementarity += from->complementarity;
}

static st_Status solve_part(sti_Islands *s, int part, int *n_jointed, st_Solution *solution, st_SolveInfo *all,
                            st_Error *err)
{
    st_Solver *solver;
    st_SolveInfo one;
    st_Solution own;
    STI_TRY(take_part(s, part, solution->r, err));
    own = (st_Solution){.v = s->v, .l = s->l, .u = s->u, .r = s->r};
    STI_TRY(choose_solver(s, n_jointed, &solver, err));
    STI_TRY(sti_solver_solve(solver, &s->part, &own, &one, err));
    give_part(s, part, solution);
    const int worst = one.residual.worst_contact;
    merge(all, &one, worst >= 0 ? s->contacts.member[s->contacts.first[part] + worst] : -1);
    if (part != REST) s->island[part - 1] = (sti_Island){s->part.A.n_blocks, s->part.n_contacts, s->part.n_l, one};
    return ST_OK;
}

static st_Status solve_parts(sti_Islands *s, const sti_Awake *awake, st_Solution *solution, st_SolveInfo *info,
                             st_Error *err)
{
    int n_jointed = 0;
    st_SolveInfo all = {.converged = true, .start = -1.0, .residual = {.worst_contact = -1}};
    STI_TRY(list_parts(s, awake, err));
    GROW(island, s->n_islands);
    for (int part = 0; part <= s->n_islands; part++)
        if (s->blocks.first[part] < s->blocks.first[part + 1])
            STI_TRY(solve_part(s, part, &n_jointed, solution, &all, err));
    if (all.solver == NULL) all.solver = s->def.name; /* nobody moves */
    if (info != NULL) *info = all;
    return ST_OK;
}

static st_Status solve_whole(sti_Islands *s, st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    const st_Problem *p = s->problem;
    st_SolveInfo found;
    STI_TRY(sti_solver_solve(s->solver[0], p, solution, &found, err));
    s->island[0] = (sti_Island){p->A.n_blocks, p->n_contacts, p->n_l, found};
    if (info != NULL) *info = found;
    return ST_OK;
}

static st_Status linear_info(const sti_Islands *s, st_Status status, st_SolveInfo *found, st_SolveInfo *info)
{
    found->solver = s->def.name;
    if (info != NULL && status == ST_OK) *info = *found;
    return status;
}

static st_Status solve_linear(sti_Islands *s, st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    st_SolveInfo found;
    s->n_islands = 0;
    return linear_info(s, sti_linear_solve(s->linear, s->problem, solution, &found, err), &found, info);
}

st_Status sti_islands_correct(sti_Islands *s, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                              st_Error *err)
{
    st_SolveInfo found;
    s->problem = problem;
    return linear_info(s, sti_linear_correct(s->linear, problem, solution, &found, err), &found, info);
}

void sti_islands_be_rough(sti_Islands *s)
{
    sti_linear_be_rough(s->linear);
}

st_Status sti_islands_solve(sti_Islands *s, const st_Problem *problem, const sti_Awake *awake, st_Solution *solution,
                            st_SolveInfo *info, st_Error *err)
{
    s->problem = problem;
    if (awake == NULL && problem->n_contacts == 0) return solve_linear(s, solution, info, err);
    if (awake == NULL && (problem->n_contacts < 2 || !s->split)) { /* one at most: not worth a look */
        s->n_islands = 1;
        return solve_whole(s, solution, info, err);
    }
    STI_TRY(find_parts(s, awake, err));
    if (awake == NULL && s->n_islands < 2) return solve_whole(s, solution, info, err);
    return solve_parts(s, awake, solution, info, err);
}
