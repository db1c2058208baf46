/* islands_part.c -- one part as a problem of its own: its blocks, joint rows and contacts, numbered from 0. */
#include "math/block_diag.h"
#include "solve/islands_memory.h"

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

/* ------------------------------------------------------------------ contacts whose rows wait */

/* The rows of contact c as the next of the part, where they wait to be made. */
static st_Status take_waiting(sti_Islands *s, int c, Columns *to, st_Error *err)
{
    const st_Problem *p = s->problem;
    double row[3][2][STI_NODE];
    int block[2];
    sti_waiting_blocks(s, c, block);
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
    sti_waiting_blocks(s, contact_in_whole(s, c), block);
    for (int side = 0; side < 2; side++)
        first[side] = block[side] != NONE ? s->v_first[block[side]] : -1;
}

static void part_put(const void *ctx, int c, int dim, double row[3][2][STI_NODE])
{
    const sti_Islands *s = ctx;
    const struct st_RowSource *later = s->problem->later;
    later->put(later->ctx, contact_in_whole(s, c), dim, row);
}

static const double *part_frame(const void *ctx, int c, const double *centre[2])
{
    const sti_Islands *s = ctx;
    const struct st_RowSource *later = s->problem->later;
    return later->frame(later->ctx, contact_in_whole(s, c), centre);
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

/* ------------------------------------------------------------------ all of it */

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

st_Status sti_part_take(sti_Islands *s, int part, const double *start, st_Error *err)
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
void sti_part_give(const sti_Islands *s, int part, st_Solution *out)
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
