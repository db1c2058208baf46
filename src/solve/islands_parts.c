/* islands_parts.c -- see islands.h: makes each part a separate problem, and solves all parts with one or more threads.
 *
 * The blocks, joint rows and contacts of a part are numbered from 0. They are counted first, memory is allocated once,
 * and then everything is copied.
 *
 * An island that is larger than the share of a thread is solved first, by all threads together if its solver can use
 * them. Each of the other islands is solved by one thread (math/parallel.h). Each thread begins with islands that are
 * neighbours in memory.
 *
 * The bits do not depend on the thread that solves an island. A solver keeps memory between problems, and analyses of
 * patterns, which it repeats if the pattern is different. Neither affects a solution: a restored run has none of it and
 * continues bit for bit. The results of the parts are combined after all threads have finished, in the order of the
 * parts.
 */
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "solve/islands_memory.h"

/* Contacts and rows that are worth a thread: some ten microseconds at least. And contacts from which on a sweep has use
 * for a team. */
enum { LEAST = 64, LARGE = 1024 };

/* ------------------------------------------------------------------ workers */

static void release_part_blocks(const st_Allocator *allocator, PartBlocks *b)
{
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

#define RELEASE(name) STI_RELEASE(&allocator, d->name, d->name##_size)

void sti_worker_destroy(Worker *d)
{
    if (d == NULL) return;
    const st_Allocator allocator = d->allocator;
    st_solver_destroy(d->solver);
    release_part_blocks(&allocator, &d->A);
    release_part_blocks(&allocator, &d->Cb);
    release_part_blocks(&allocator, &d->C);
    release_columns(&allocator, &d->G);
    release_columns(&allocator, &d->H);
    RELEASE(rest);
    RELEASE(pack);
    RELEASE(rho);
    RELEASE(body);
    RELEASE(frame);
    RELEASE(f);
    RELEASE(g);
    RELEASE(w);
    RELEASE(law);
    RELEASE(v);
    RELEASE(l);
    RELEASE(u);
    RELEASE(r);
    sti_free(&allocator, d, 1, sizeof *d);
}

st_Status sti_workers_make(sti_Islands *s, int n, st_Error *err)
{
    for (; s->n_workers < n; s->n_workers++) {
        Worker *d = sti_alloc(&s->allocator, 1, sizeof *d);
        if (d == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a thread's part of the islands");
        d->allocator = s->allocator;
        d->islands = s;
        const st_Status status = st_solver_create(&s->def, &d->solver, err);
        if (status != ST_OK) {
            sti_worker_destroy(d);
            return status;
        }
        s->worker[s->n_workers] = d;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ one part */

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
static st_Status begin_blocks(Worker *d, PartBlocks *to, const st_BlockDiag *from, int n, int64_t n_x, st_Error *err)
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
static st_Status begin_columns(Worker *d, Columns *to, int n, int64_t entries, st_Error *err)
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

/* A part as d->part, with its share of the start r. */
static st_Status take_part(Worker *d, int part, const double *start, st_Error *err)
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
    ROOM(law, to->n_contacts);
    ROOM(w, to->n_r);
    d->own = (st_Solution){.v = d->v, .l = d->l};
    const bool many = s->pile != NULL && to->n_contacts >= sti_solver_fewest(d->solver);
    if (many) {
        STI_TRY(sti_solver_own_r(d->solver, to->n_r, &d->own.r, err));
    } else {
        ROOM(r, to->n_r);
        ROOM(u, to->n_r);
        d->own.r = d->r;
        d->own.u = d->u;
    }
    if (s->soft_rows)
        STI_TRY(STI_GROW(&d->allocator, d->C.x, d->C.x_size, to->n_r, err));
    else
        STI_TRY(begin_blocks(d, &d->C, C, to->n_r, n_x, err));
    if (s->pile == NULL) STI_TRY(begin_columns(d, &d->H, to->n_r, entries, err));
    for (int k = 0, n = 0; k < to->n_contacts; k++) {
        const st_ContactLaw *law = &whole->contact[contact[k]];
        const int first = law->first, dim = law->dim;
        d->law[k] = *law;
        d->law[k].first = n;
        for (int i = 0; i < dim; i++) {
            d->w[n + i] = whole->w[first + i];
            d->own.r[n + i] = start[first + i];
        }
        for (int i = 0; i < dim && s->soft_rows; i++)
            d->C.x[n + i] = C->x[first + i];
        for (int i = 0; i < dim && s->pile == NULL; i++)
            take_column(s, &whole->H, first + i, &d->H);
        for (int i = 0; i < dim && has_blocks; i++)
            take_block(C, &s->C, &d->C, first + i, n + i);
        n += dim;
    }
    to->Cb = (st_BlockDiag){.n_blocks = d->Cb.n, .first = d->Cb.first, .x = d->Cb.x};
    to->C = s->soft_rows ? (st_BlockDiag){.n_blocks = to->n_r, .first = C->first, .x = d->C.x} /* first[i] = i */
                         : (st_BlockDiag){.n_blocks = d->C.n, .first = d->C.first, .x = d->C.x};
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
        const ptrdiff_t stride = sti_block_stride(&to->A, b);
        for (int i = first; i < to->A.first[b + 1]; i++)
            fastest = sti_larger(fabs(d->f[i]) / numbers[(i - first) * stride], fastest);
        numbers += sti_block_numbers(&to->A, b);
    }
    to->u_scale = fastest > 0 ? fmin(whole->u_scale, STI_IDLE_SPEED * fastest) : whole->u_scale;
    d->pile = NULL;
    if (s->pile == NULL) return ST_OK;

    /* Contacts as arrays: bodies are numbered as in the part, frames and places as in the whole. Few contacts become
     * rows of H. */
    const int *frame_of = s->pile->frame_of;
    ROOM(body, 2 * (int64_t)to->n_contacts);
    if (frame_of != NULL) ROOM(frame, to->n_contacts);
    for (int k = 0; k < to->n_contacts && frame_of != NULL; k++)
        d->frame[k] = frame_of[contact[k]];
    for (int k = 0; k < to->n_contacts; k++)
        for (int side = 0; side < 2; side++) { /* bodies have six velocities each */
            const int32_t body = s->pile->body[2 * (ptrdiff_t)contact[k] + side];
            d->body[2 * (ptrdiff_t)k + side] = body >= 0 ? s->v_first[body] / 6 : -1;
        }
    d->arrays = *s->pile;
    d->arrays.body = d->body;
    d->arrays.frame_of = frame_of != NULL ? d->frame : contact;
    d->arrays.place_of = block;
    if (many) {
        to->H = (st_Sparse){.n_rows = to->n_v, .n_cols = to->n_r};
        d->pile = &d->arrays;
        return ST_OK;
    }
    STI_TRY(begin_columns(d, &d->H, to->n_r, STI_PILE_ROW * (int64_t)to->n_r, err));
    to->H = sti_pile_matrix(&d->arrays, to, d->H.p, d->H.i, d->H.x);
    return ST_OK;
}

static st_Status solve_part(Worker *d, int part, int threads, st_Solution *solution, st_Error *err)
{
    sti_Islands *s = d->islands;
    const st_Sparse *G = &s->problem->G;
    sti_Saddle *saddle = NULL;
    st_SolveInfo info;
    const sti_IslandsCall *call = &s->call;
    double left = call->left != NULL ? 0.0 : INFINITY;
    for (int k = s->contacts.first[part]; k < s->contacts.first[part + 1] && call->left != NULL; k++)
        left = sti_larger(call->left(call->left_ctx, s->contacts.member[k]), left);
    bool confirmed = false;
    if (s->confirms) STI_TRY(sti_part_confirm(d, part, left, solution, &confirmed, err));
    if (confirmed) return ST_OK;
    STI_TRY(take_part(d, part, solution->r, err));
    /* the factors of its joints, with their structure from the step before; without joints there are none. No two parts
     * have the same. */
    const int row = sti_members(&s->rows, part) > 0 ? s->rows.member[s->rows.first[part]] : -1;
    if (row >= 0 && (part == REST || G->p[row] < G->p[row + 1])) {
        sti_Saddle **place = &s->joints[part == REST ? 0 : 1 + s->A.of[G->i[G->p[row]]]].saddle;
        if (*place == NULL) STI_TRY(sti_saddle_create(&s->allocator, place, err));
        saddle = *place;
    }
    sti_solver_equip(d->solver, (sti_Equipment){threads, saddle, call->dense, call->max_work, s->stop, left});
    STI_TRY(sti_solver_solve(d->solver, &d->part, d->pile, &d->own, &info, err));

    /* The answer to its place in the whole. */
    const st_Problem *p = s->problem;
    const double *u = d->own.u != NULL ? d->own.u : sti_solver_own_u(d->solver);
    for (int e = s->blocks.first[part]; e < s->blocks.first[part + 1] && solution->v != NULL; e++) {
        const int block = s->blocks.member[e], first = p->A.first[block];
        copy(solution->v + first, d->v + s->v_first[block], p->A.first[block + 1] - first);
    }
    for (int e = s->rows.first[part], n = 0; e < s->rows.first[part + 1] && solution->l != NULL; e++, n++)
        solution->l[s->rows.member[e]] = d->l[n];
    for (int e = s->contacts.first[part], n = 0; e < s->contacts.first[part + 1]; e++) {
        const st_ContactLaw *contact = &p->contact[s->contacts.member[e]];
        for (int i = contact->first; i < contact->first + contact->dim; i++, n++) {
            solution->r[i] = d->own.r[n];
            if (solution->u != NULL) solution->u[i] = u[n];
        }
    }
    s->island[part] = (sti_Island){d->part.A.n_blocks, d->part.n_contacts, d->part.n_l, info, false};
    return ST_OK;
}

/* The error that is reported is that of the first part that fails, for any number of threads. All parts before it are
 * solved; later ones may be left out. */
static void try_part(Worker *d, int part, int threads, st_Solution *solution)
{
    st_Error err = {0};
    sti_Islands *s = d->islands;
    int first = atomic_load(&s->failed);
    if (part > first || sti_members(&s->blocks, part) == 0) return;
    const st_Status status = solve_part(d, part, threads, solution, &err);
    if (status == ST_OK) return;
    if (part < d->failed) d->failed = part, d->status = status, d->err = err;
    while (part < first && !atomic_compare_exchange_weak(&s->failed, &first, part))
        ;
}

/* ------------------------------------------------------------------ all of them */

/* The weight of all parts before this one. */
static int64_t weight_before(const sti_Islands *s, int part)
{
    return (int64_t)s->blocks.first[part] + s->rows.first[part] + s->contacts.first[part];
}

static int64_t weight_of(const sti_Islands *s, int part)
{
    return weight_before(s, part + 1) - weight_before(s, part);
}

static bool is_large(const sti_Islands *s, int part)
{
    return sti_members(&s->contacts, part) >= LARGE &&
           weight_of(s, part) * s->def.threads > weight_before(s, s->n_islands + 1);
}

/* The first part in the share of a thread. */
static int first_in_share(const sti_Islands *s, int thread, int n_threads)
{
    const int64_t border = sti_share(weight_before(s, s->n_islands + 1), thread, n_threads);
    int low = 0, high = s->n_islands + 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (weight_before(s, middle) < border)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef struct Shared {
    sti_Islands *islands;
    st_Solution *solution;
    sti_WorkQueue queue[STI_MOST_THREADS]; /* of parts                                                     */
} Shared;

static void solve_shared(void *ctx, int thread, int n_threads)
{
    Shared *shared = ctx;
    sti_Islands *s = shared->islands;
    sti_queue_fill(&shared->queue[thread], first_in_share(s, thread, n_threads),
                   first_in_share(s, thread + 1, n_threads));
    sti_team_wait(n_threads);
    for (int part; (part = sti_queue_take(shared->queue, thread, n_threads)) >= 0;)
        if (!is_large(s, part)) try_part(s->worker[thread], part, 1, shared->solution);
}

st_Status sti_parts_solve(sti_Islands *s, st_Solution *solution, st_Error *err)
{
    Shared shared;
    int64_t weight = weight_before(s, s->n_islands + 1);
    const Worker *first;
    GROW(joints, s->problem->n_l > 0 ? s->problem->A.n_blocks + 1 : 0);
    for (int part = 0; part <= s->n_islands; part++)
        if (is_large(s, part)) weight -= weight_of(s, part);
    /* threads for the parts that are not large */
    const int64_t most = weight / LEAST < s->n_islands + 1 ? weight / LEAST : s->n_islands + 1;
    const int threads = most < s->def.threads ? (int)(most < 1 ? 1 : most) : s->def.threads;
    STI_TRY(sti_workers_make(s, threads, err));
    atomic_store(&s->failed, s->n_islands + 1);
    for (int k = 0; k < s->n_workers; k++)
        s->worker[k]->failed = s->n_islands + 1;

    for (int part = 0; part <= s->n_islands; part++)
        if (is_large(s, part)) try_part(s->worker[0], part, s->def.threads, solution);
    shared.islands = s, shared.solution = solution;
    sti_team_run(threads, solve_shared, &shared);

    first = s->worker[0];
    for (int k = 1; k < s->n_workers; k++)
        if (s->worker[k]->failed < first->failed) first = s->worker[k];
    if (first->failed > s->n_islands) return ST_OK;
    if (err != NULL) *err = first->err;
    return first->status;
}
