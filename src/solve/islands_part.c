/* islands_part.c -- one part as a problem of its own: its blocks, joint rows and contacts, numbered from 0.
 *
 * What it takes is counted first and its room made at once; then everything is copied.
 */
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "solve/islands_memory.h"

#define ROOM(name, n) STI_TRY(STI_GROW(&d->allocator, d->name, d->name##_size, (n), err))

static void copy(double *to, const double *from, int64_t n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* ------------------------------------------------------------------ blocks and columns */

/* The numbers in the block that begins with `row`; 0: none does. */
static int64_t numbers_from(const st_BlockDiag *from, const Blocks *whole, int row)
{
    if (from->n_blocks == 0 || row != from->first[whole->of[row]]) return 0;
    return sti_block_numbers(from, whole->of[row]);
}

/* At most n blocks of n_x numbers in all; none yet. */
static st_Status begin_blocks(Desk *d, PartBlocks *to, const st_BlockDiag *from, int n, int64_t n_x, st_Error *err)
{
    to->n = 0;
    to->n_x = 0;
    if (from->n_blocks == 0) return ST_OK;
    STI_TRY(STI_GROW(&d->allocator, to->first, to->first_size, n + 1, err));
    STI_TRY(STI_GROW(&d->allocator, to->x, to->x_size, n_x, err));
    return from->diagonal != NULL ? STI_GROW(&d->allocator, to->marked, to->marked_size, n, err) : ST_OK;
}

/* The one number of row n, where each row is a block of its own. */
static void take_number(const st_BlockDiag *from, PartBlocks *to, int row, int n)
{
    to->x[n] = from->x[row];
    to->first[n] = n;
    to->first[n + 1] = n + 1;
}

/* The block that begins with `row`, if one does, as the next of the part, at its row n. */
static void take_block(const st_BlockDiag *from, const Blocks *whole, PartBlocks *to, int row, int n)
{
    const int64_t count = numbers_from(from, whole, row);
    if (count == 0) return;
    const int k = whole->of[row];
    copy(to->x + to->n_x, from->x + whole->at[k], count);
    to->n_x += count;
    if (from->diagonal != NULL) to->marked[to->n] = from->diagonal[k];
    to->first[to->n++] = n;
    to->first[to->n] = n + from->first[k + 1] - row;
}

/* n columns of `entries` numbers in all; none yet. */
static st_Status begin_columns(Desk *d, Columns *to, int n, int64_t entries, st_Error *err)
{
    STI_TRY(STI_GROW(&d->allocator, to->p, to->p_size, n + 1, err));
    STI_TRY(STI_GROW(&d->allocator, to->i, to->i_size, entries, err));
    STI_TRY(STI_GROW(&d->allocator, to->x, to->x_size, entries, err));
    to->n = 0;
    to->p[0] = 0;
    return ST_OK;
}

/* Column j of G or H as the next of the part, with the velocities' numbers there: moved by as much within a block. */
static void take_column(const sti_Islands *s, const st_Sparse *from, int j, Columns *to)
{
    const int64_t begin = from->p[j], count = from->p[j + 1] - begin, end = to->p[to->n];
    const int *first = s->problem->A.first;
    int low = 0, high = 0, shift = 0; /* of the block of the entry before */
    copy(to->x + end, from->x + begin, count);
    for (int64_t e = 0; e < count; e++) {
        const int row = from->i[begin + e];
        if (row < low || row >= high) {
            const int block = s->A.of[row];
            low = first[block], high = first[block + 1];
            shift = s->v_first[block] - low;
        }
        to->i[end + e] = row + shift;
    }
    to->p[++to->n] = end + count;
}

/* ------------------------------------------------------------------ contacts as arrays */

static int contact_in_whole(const Desk *d, int c)
{
    const Members *contacts = &d->islands->contacts;
    return contacts->member[contacts->first[d->number] + c];
}

/* Contacts that came as arrays: their bodies are numbered as in the part, frames and places are those of the whole. Few
 * contacts become rows of H.                                                                       */
static st_Status take_arrays(Desk *d, st_Error *err)
{
    const sti_Islands *s = d->islands;
    const sti_PileContacts *whole = s->pile;
    ROOM(body, 2 * (int64_t)d->part.n_contacts);
    for (int k = 0; k < d->part.n_contacts; k++) {
        const ptrdiff_t c = contact_in_whole(d, k);
        for (int side = 0; side < 2; side++) /* bodies have six velocities each */
            d->body[2 * (ptrdiff_t)k + side] =
                whole->body[2 * c + side] >= 0 ? s->v_first[whole->body[2 * c + side]] / 6 : -1;
    }
    d->arrays = *whole;
    d->arrays.body = d->body;
    d->arrays.frame_of = s->contacts.member + s->contacts.first[d->number];
    d->arrays.place_of = s->blocks.member + s->blocks.first[d->number];
    if (d->part.n_contacts >= sti_solver_fewest(d->solver)) {
        d->part.H = (st_Sparse){.n_rows = d->part.n_v, .n_cols = d->part.n_r};
        d->pile = &d->arrays;
        return ST_OK;
    }
    STI_TRY(begin_columns(d, &d->H, d->part.n_r, STI_PILE_ROW * (int64_t)d->part.n_r, err));
    d->part.H = sti_pile_matrix(&d->arrays, &d->part, d->H.p, d->H.i, d->H.x);
    return ST_OK;
}

/* ------------------------------------------------------------------ contacts */

static st_Status take_contacts(Desk *d, const double *start, st_Error *err)
{
    const sti_Islands *s = d->islands;
    const st_Problem *p = s->problem;
    const int n_contacts = sti_members(&s->contacts, d->number);
    const bool has_blocks = p->C.n_blocks > 0 && !s->soft_rows;
    int n_r = 0, n = 0;
    int64_t entries = 0, n_x = 0;
    for (int k = 0; k < n_contacts; k++) {
        const st_ContactLaw *contact = &p->contact[contact_in_whole(d, k)];
        n_r += contact->dim;
        if (s->pile == NULL) entries += p->H.p[contact->first + contact->dim] - p->H.p[contact->first];
        for (int row = contact->first; row < contact->first + contact->dim && has_blocks; row++)
            n_x += numbers_from(&p->C, &s->C, row);
    }
    if (s->soft_rows) n_x = n_r;
    ROOM(law, n_contacts);
    ROOM(w, n_r);
    ROOM(r, n_r);
    ROOM(u, n_r);
    d->part.n_contacts = n_contacts;
    d->part.n_r = n_r;
    STI_TRY(begin_blocks(d, &d->C, &p->C, n_r, n_x, err));
    if (s->pile == NULL) STI_TRY(begin_columns(d, &d->H, n_r, entries, err));
    for (int k = 0; k < n_contacts; k++) {
        const st_ContactLaw *contact = &p->contact[contact_in_whole(d, k)];
        d->law[k] = *contact;
        d->law[k].first = n;
        for (int row = contact->first; row < contact->first + contact->dim; row++, n++) {
            d->w[n] = p->w[row];
            d->r[n] = start[row];
            if (s->pile == NULL) take_column(s, &p->H, row, &d->H);
            if (s->soft_rows) take_number(&p->C, &d->C, row, n);
            if (has_blocks) take_block(&p->C, &s->C, &d->C, row, n);
        }
    }
    if (s->soft_rows) d->C.n = n_r;
    return ST_OK;
}

/* ------------------------------------------------------------------ all of it */

st_Status sti_part_take(Desk *d, int part, const double *start, st_Error *err)
{
    sti_Islands *s = d->islands;
    const st_Problem *whole = s->problem;
    st_Problem *to = &d->part;
    *to = (st_Problem){.symmetric = whole->symmetric};
    d->number = part;

    /* bodies: f and the blocks of A */
    const st_BlockDiag *A = &whole->A;
    const int *block = s->blocks.member + s->blocks.first[part], n_blocks = sti_members(&s->blocks, part);
    int64_t n_x = 0;
    for (int k = 0; k < n_blocks; k++) {
        s->v_first[block[k]] = to->n_v;
        to->n_v += A->first[block[k] + 1] - A->first[block[k]];
        n_x += sti_block_numbers(A, block[k]);
    }
    ROOM(f, to->n_v);
    ROOM(v, to->n_v);
    STI_TRY(begin_blocks(d, &d->A, A, n_blocks, n_x, err));
    for (int k = 0; k < n_blocks; k++) {
        const int first = A->first[block[k]], at = s->v_first[block[k]];
        copy(d->f + at, whole->f + first, A->first[block[k] + 1] - first);
        take_block(A, &s->A, &d->A, first, at);
    }
    to->A = (st_BlockDiag){.n_blocks = d->A.n, .first = d->A.first, .x = d->A.x};
    if (A->diagonal != NULL) to->A.diagonal = d->A.marked;

    /* joints: g, the columns of G and the blocks of Cb */
    const int *row = s->rows.member + s->rows.first[part];
    int64_t entries = 0;
    to->n_l = sti_members(&s->rows, part);
    n_x = 0;
    for (int k = 0; k < to->n_l; k++) {
        entries += whole->G.p[row[k] + 1] - whole->G.p[row[k]];
        n_x += numbers_from(&whole->Cb, &s->Cb, row[k]);
    }
    ROOM(g, to->n_l);
    ROOM(l, to->n_l);
    STI_TRY(begin_columns(d, &d->G, to->n_l, entries, err));
    STI_TRY(begin_blocks(d, &d->Cb, &whole->Cb, to->n_l, n_x, err));
    for (int k = 0; k < to->n_l; k++) {
        take_column(s, &whole->G, row[k], &d->G);
        take_block(&whole->Cb, &s->Cb, &d->Cb, row[k], k);
        d->g[k] = whole->g[row[k]];
    }

    STI_TRY(take_contacts(d, start, err));
    to->Cb = (st_BlockDiag){.n_blocks = d->Cb.n, .first = d->Cb.first, .x = d->Cb.x};
    to->C = (st_BlockDiag){.n_blocks = d->C.n, .first = d->C.first, .x = d->C.x};
    to->G = (st_Sparse){to->n_v, to->n_l, d->G.p, d->G.i, d->G.x};
    to->H = (st_Sparse){to->n_v, to->n_r, d->H.p, d->H.i, d->H.x};
    to->f = d->f;
    to->g = d->g;
    to->w = d->w;
    to->contact = d->law;

    /* The speed that the residual is relative to at least: that of the part itself, by the velocities it has without
     * contacts, not that of something fast elsewhere. */
    double fastest = 0;
    const double *numbers = d->A.x;
    for (int b = 0; b < to->A.n_blocks; b++) {
        const int first = to->A.first[b];
        for (int i = first; i < to->A.first[b + 1]; i++)
            fastest = fmax(fastest, fabs(d->f[i]) / numbers[(i - first) * sti_block_stride(&to->A, b)]);
        numbers += sti_block_numbers(&to->A, b);
    }
    to->u_scale = fastest > 0 ? fmin(whole->u_scale, STI_IDLE_SPEED * fastest) : whole->u_scale;
    d->pile = NULL;
    return s->pile != NULL ? take_arrays(d, err) : ST_OK;
}

/* The answer of a part, where it belongs in the whole. */
void sti_part_give(const Desk *d, st_Solution *out)
{
    const sti_Islands *s = d->islands;
    const st_Problem *p = s->problem;
    const int part = d->number;
    for (int e = s->blocks.first[part]; e < s->blocks.first[part + 1] && out->v != NULL; e++) {
        const int block = s->blocks.member[e], first = p->A.first[block];
        copy(out->v + first, d->v + s->v_first[block], p->A.first[block + 1] - first);
    }
    for (int e = s->rows.first[part], n = 0; e < s->rows.first[part + 1] && out->l != NULL; e++, n++)
        out->l[s->rows.member[e]] = d->l[n];
    for (int e = s->contacts.first[part], n = 0; e < s->contacts.first[part + 1]; e++) {
        const st_ContactLaw *contact = &p->contact[s->contacts.member[e]];
        for (int row = contact->first; row < contact->first + contact->dim; row++, n++) {
            out->r[row] = d->r[n];
            if (out->u != NULL) out->u[row] = d->u[n];
        }
    }
}
