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

    /* contacts: laws, w, the start, the columns of H and the blocks of C */
    const st_BlockDiag *C = &whole->C;
    const int *contact = s->contacts.member + s->contacts.first[part];
    const bool has_blocks = C->n_blocks > 0 && !s->soft_rows;
    to->n_contacts = sti_members(&s->contacts, part);
    entries = n_x = 0;
    for (int k = 0; k < to->n_contacts; k++) {
        const st_ContactLaw *law = &whole->contact[contact[k]];
        to->n_r += law->dim;
        if (s->pile == NULL) entries += whole->H.p[law->first + law->dim] - whole->H.p[law->first];
        for (int i = law->first; i < law->first + law->dim && has_blocks; i++)
            n_x += numbers_from(C, &s->C, i);
    }
    if (s->soft_rows) n_x = to->n_r;
    ROOM(law, to->n_contacts);
    ROOM(w, to->n_r);
    ROOM(r, to->n_r);
    ROOM(u, to->n_r);
    STI_TRY(begin_blocks(d, &d->C, C, to->n_r, n_x, err));
    if (s->pile == NULL) STI_TRY(begin_columns(d, &d->H, to->n_r, entries, err));
    for (int k = 0, n = 0; k < to->n_contacts; k++) {
        const st_ContactLaw *law = &whole->contact[contact[k]];
        d->law[k] = *law;
        d->law[k].first = n;
        for (int i = law->first; i < law->first + law->dim; i++, n++) {
            d->w[n] = whole->w[i];
            d->r[n] = start[i];
            if (s->pile == NULL) take_column(s, &whole->H, i, &d->H);
            if (has_blocks) take_block(C, &s->C, &d->C, i, n);
            if (!s->soft_rows) continue;
            d->C.x[n] = C->x[i];
            d->C.first[n] = n;
            d->C.first[n + 1] = n + 1;
        }
    }
    if (s->soft_rows) d->C.n = to->n_r;
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
    if (s->pile == NULL) return ST_OK;

    /* Contacts as arrays: bodies are numbered as in the part, frames and places as in the whole. Few contacts become
     * rows of H. */
    ROOM(body, 2 * (int64_t)to->n_contacts);
    for (int k = 0; k < to->n_contacts; k++)
        for (int side = 0; side < 2; side++) { /* bodies have six velocities each */
            const int32_t body = s->pile->body[2 * (ptrdiff_t)contact[k] + side];
            d->body[2 * (ptrdiff_t)k + side] = body >= 0 ? s->v_first[body] / 6 : -1;
        }
    d->arrays = *s->pile;
    d->arrays.body = d->body;
    d->arrays.frame_of = contact;
    d->arrays.place_of = block;
    if (to->n_contacts >= sti_solver_fewest(d->solver)) {
        to->H = (st_Sparse){.n_rows = to->n_v, .n_cols = to->n_r};
        d->pile = &d->arrays;
        return ST_OK;
    }
    STI_TRY(begin_columns(d, &d->H, to->n_r, STI_PILE_ROW * (int64_t)to->n_r, err));
    to->H = sti_pile_matrix(&d->arrays, to, d->H.p, d->H.i, d->H.x);
    return ST_OK;
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
