/* islands_team.c -- see islands.h: all parts, each at the desk of a thread.
 *
 * An island that alone is more than a thread's share of all is solved first, by the whole team together where its
 * solver has use for one. The others are shared out by hands (math/parallel.h), a thread each, beginning with those
 * that stand beside one another in memory.
 *
 * The bits do not depend on who solved what. A solver keeps memory from one problem to the next, and analyses of
 * patterns, which are made anew where a pattern is another one; none of it has a say in an answer (a run that is
 * restored has none of it, and goes on bit for bit). What parts say is put together behind the team, in their order.
 */
#include "solve/islands_memory.h"

/* Contacts and rows that are worth a thread: some ten microseconds at least. And contacts from which on a sweep has use
 * for a team. */
enum { LEAST = 64, LARGE = 1024 };

/* ------------------------------------------------------------------ desks */

static void release_blocks(const st_Allocator *allocator, PartBlocks *b)
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

void sti_desk_destroy(Desk *d)
{
    if (d == NULL) return;
    const st_Allocator allocator = d->allocator;
    st_solver_destroy(d->solver);
    release_blocks(&allocator, &d->A);
    release_blocks(&allocator, &d->Cb);
    release_blocks(&allocator, &d->C);
    release_columns(&allocator, &d->G);
    release_columns(&allocator, &d->H);
    RELEASE(rest);
    RELEASE(pack);
    RELEASE(body);
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

st_Status sti_desks_make(sti_Islands *s, int n, st_Error *err)
{
    for (; s->n_desks < n; s->n_desks++) {
        Desk *d = sti_alloc(&s->allocator, 1, sizeof *d);
        if (d == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a thread's part of the islands");
        d->allocator = s->allocator;
        d->islands = s;
        const st_Status status = st_solver_create(&s->def, &d->solver, err);
        if (status != ST_OK) {
            sti_desk_destroy(d);
            return status;
        }
        s->desk[s->n_desks] = d;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ one part */

static st_Status solve_part(Desk *d, int part, int threads, st_Solution *solution, st_Error *err)
{
    sti_Islands *s = d->islands;
    const st_Sparse *G = &s->problem->G;
    sti_Saddle *saddle = NULL;
    st_SolveInfo info;
    double left = s->left != NULL ? 0.0 : INFINITY;
    for (int k = s->contacts.first[part]; k < s->contacts.first[part + 1] && s->left != NULL; k++)
        left = fmax(left, s->left(s->left_ctx, s->contacts.member[k]));
    bool confirmed;
    STI_TRY(sti_part_confirm(d, part, left, solution, &confirmed, err));
    if (confirmed) return ST_OK;
    STI_TRY(sti_part_take(d, part, solution->r, err));
    /* the factors of its joints, with their structure from the step before; without joints there are none. No two parts
     * have the same. */
    const int row = sti_members(&s->rows, part) > 0 ? s->rows.member[s->rows.first[part]] : -1;
    if (row >= 0 && (part == REST || G->p[row] < G->p[row + 1])) {
        sti_Saddle **place = &s->joints[part == REST ? 0 : 1 + s->A.of[G->i[G->p[row]]]].saddle;
        if (*place == NULL) STI_TRY(sti_saddle_create(&s->allocator, place, err));
        saddle = *place;
    }
    sti_solver_equip(d->solver, (sti_Equipment){threads, saddle, s->dense, s->def.max_work, s->stop, left});
    st_Solution own = {.v = d->v, .l = d->l, .u = d->u, .r = d->r};
    STI_TRY(sti_solver_solve(d->solver, &d->part, d->pile, &own, &info, err));
    sti_part_give(d, solution);
    s->island[part] = (sti_Island){d->part.A.n_blocks, d->part.n_contacts, d->part.n_l, info, false};
    return ST_OK;
}

/* The first of all parts that fail is the one that is told of, whoever had it: those before it are solved, those behind
 * need not be.                                                                                    */
static void try_part(Desk *d, int part, int threads, st_Solution *solution)
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

/* What parts before this one weigh. */
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
        if (!is_large(s, part)) try_part(s->desk[thread], part, 1, shared->solution);
}

st_Status sti_parts_solve(sti_Islands *s, st_Solution *solution, st_Error *err)
{
    Shared shared;
    int64_t weight = weight_before(s, s->n_islands + 1);
    const Desk *first;
    GROW(joints, s->problem->n_l > 0 ? s->problem->A.n_blocks + 1 : 0);
    for (int part = 0; part <= s->n_islands; part++)
        if (is_large(s, part)) weight -= weight_of(s, part);
    /* threads for the parts that are not large */
    const int64_t most = weight / LEAST < s->n_islands + 1 ? weight / LEAST : s->n_islands + 1;
    const int threads = most < s->def.threads ? (int)(most < 1 ? 1 : most) : s->def.threads;
    STI_TRY(sti_desks_make(s, threads, err));
    atomic_store(&s->failed, s->n_islands + 1);
    for (int k = 0; k < s->n_desks; k++)
        s->desk[k]->failed = s->n_islands + 1;

    for (int part = 0; part <= s->n_islands; part++)
        if (is_large(s, part)) try_part(s->desk[0], part, s->def.threads, solution);
    shared.islands = s, shared.solution = solution;
    sti_team_run(threads, solve_shared, &shared);

    first = s->desk[0];
    for (int k = 1; k < s->n_desks; k++)
        if (s->desk[k]->failed < first->failed) first = s->desk[k];
    if (first->failed > s->n_islands) return ST_OK;
    if (err != NULL) *err = first->err;
    return first->status;
}
