/* model/contact.c -- the contacts of all pairs of shapes that are near, by one thread or a team.
 *
 *     place the shapes  ->  which are near (collide/broad/near_pairs.h)  ->  each pair: contact_pair.c
 */
#include "model/contact.h"

#include "collide/validate.h"
#include "math/parallel.h"

/* ---- a range of pairs ---------------------------------------------------------------------------- */

#define CHUNK 256

/* Of n pairs, those whose balls are nearer than the margin, up to rounding on the safe side. By the poses alone:
 * pairs are kept with more room than this. About every second one is, in no order: so no branches. */
static int list_near(const sti_World *world, const sti_Pair *pair, int n, double margin, int *near)
{
    const sti_Ball *ball = world->collider.ball;
    const double *travel = world->collider.travel;
    const int *owner = world->scene->shape_body;
    int count = 0;
    for (int k = 0; k < n; k++) {
        const sti_Ball *a = &ball[pair[k].i], *b = &ball[pair[k].j];
        st_Vec3 d = sub(b->centre, a->centre);
        double reach = a->radius + b->radius + margin + travel[owner[pair[k].i]] + travel[owner[pair[k].j]];
        near[count] = k;
        count += dot(d, d) <= reach * reach * (1 + 1e-14);
    }
    return count;
}

static st_Status cancelled(const sti_ContactTask *task)
{
    return sti_fail(task->err, ST_ERR_CANCELLED, "cancelled while looking for contacts");
}

/* Pairs first .. end - 1. */
static st_Status push_pairs(sti_ContactTask *task, int64_t first, int64_t end)
{
    const sti_Pairs *pairs = &task->world->collider.pairs;
    int near[CHUNK];
    for (int64_t k = first; k < end; k += CHUNK) {
        int n = end - k < CHUNK ? (int)(end - k) : CHUNK;
        n = list_near(task->world, pairs->pair + k, n, fmax(task->margin, 0), near);
        for (int e = 0; e < n; e++) {
            if (sti_stopped(task->world->stop)) return cancelled(task);
            STI_TRY(sti_contact_push_pair(task, &pairs->pair[k + near[e]]));
        }
    }
    return ST_OK;
}

/* The same of the pairs with somebody who is awake. */
static st_Status push_live(sti_ContactTask *task, int64_t first, int64_t end)
{
    const sti_Collider *c = &task->world->collider;
    int near;
    for (int64_t k = first; k < end; k++) {
        sti_Pair *pair = &c->pairs.pair[c->live[k]];
        if (sti_stopped(task->world->stop)) return cancelled(task);
        if (list_near(task->world, pair, 1, fmax(task->margin, 0), &near) > 0)
            STI_TRY(sti_contact_push_pair(task, pair));
    }
    return ST_OK;
}

/* Which these are: made anew when the pairs have changed, or who sleeps. */
static st_Status list_live(sti_World *world, st_Error *err)
{
    sti_Collider *c = &world->collider;
    const int *owner = world->scene->shape_body;
    if (c->live_serial == c->pairs.serial) return ST_OK;
    STI_TRY(STI_GROW(&world->allocator, c->live, c->live_capacity, c->pairs.n_pairs, err));
    c->n_live = 0;
    for (int64_t k = 0; k < c->pairs.n_pairs; k++) {
        const sti_Pair *pair = &c->pairs.pair[k];
        if (!sti_stays(world, owner[pair->i]) || !sti_stays(world, owner[pair->j])) c->live[c->n_live++] = k;
    }
    c->live_serial = c->pairs.serial;
    return ST_OK;
}

/* How many pairs there are to look at, and a range of them. */
static int64_t count_pairs(const sti_World *world)
{
    return world->awake != NULL ? world->collider.n_live : world->collider.pairs.n_pairs;
}

static st_Status push_range(sti_ContactTask *task, int64_t first, int64_t end)
{
    return (task->world->awake != NULL ? push_live : push_pairs)(task, first, end);
}

/* ---- by a team ----------------------------------------------------------------------------------- */

/* What a thread beside the first needs of its own. Each takes a range of the pairs; put behind one another, what they
 * find is what one would have found.                                                              */
struct sti_Helper {
    sti_Points points;
    st_Sink sink;
    st_Status status;
    st_Error err;
};

/* Pairs that are worth a thread. */
enum { LEAST_PAIRS = 512 };

void sti_helpers_free(sti_World *world)
{
    sti_Collider *c = &world->collider;
    for (int k = 0; k < c->n_helpers; k++) {
        sti_points_free(&c->helper[k].points);
        sti_row_buffer_free(&c->helper[k].sink);
    }
    sti_free(&world->allocator, c->helper, c->n_helpers, sizeof *c->helper);
    c->helper = NULL;
    c->n_helpers = 0;
}

static st_Status make_helpers(sti_World *world, int n, st_Error *err)
{
    sti_Collider *c = &world->collider;
    if (n <= c->n_helpers) return ST_OK;
    sti_helpers_free(world);
    c->helper = sti_alloc(&world->allocator, n, sizeof *c->helper);
    if (c->helper == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d threads", n + 1);
    c->n_helpers = n;
    for (int k = 0; k < n; k++)
        c->helper[k].points.allocator = c->helper[k].sink.allocator = world->allocator;
    return ST_OK;
}

typedef struct Team {
    sti_ContactTask task; /* of the first                                                              */
    int n;                /* how many came                                                             */
    st_Status status;     /* of the first                                                              */
    bool together;        /* all found are records alone, and there is room for them: each puts its own */
} Team;

/* Behind the wait, by the first: will copies of records do? */
static bool goes_together(const Team *team)
{
    st_Sink *sink = team->task.sink;
    const struct sti_Helper *helper = team->task.world->collider.helper;
    int64_t n = sink->n_contacts;
    bool plain = team->status == ST_OK && sink->contact_rows.n_rows == 0;
    for (int k = 0; k < team->n - 1; k++) {
        n += helper[k].sink.n_contacts;
        plain = plain && helper[k].status == ST_OK && helper[k].sink.contact_rows.n_rows == 0 &&
                helper[k].sink.n_surfaces == 0;
    }
    return plain && STI_GROW(&sink->allocator, sink->contact, sink->contact_capacity, n, NULL) == ST_OK;
}

/* What a helper found, where it belongs. */
static void put_together(const Team *team, int thread)
{
    const struct sti_Helper *helper = team->task.world->collider.helper;
    int64_t n = team->task.sink->n_contacts;
    for (int k = 0; k < thread - 1; k++)
        n += helper[k].sink.n_contacts;
    const st_Sink *own = &helper[thread - 1].sink;
    if (own->n_contacts > 0)
        memcpy(team->task.sink->contact + n, own->contact, (size_t)own->n_contacts * sizeof *own->contact);
}

static void push_own(Team *team, int thread, int n_threads)
{
    sti_ContactTask task = team->task;
    const int64_t n = count_pairs(task.world);
    const int64_t first = sti_share(n, thread, n_threads), end = sti_share(n, thread + 1, n_threads);
    if (thread == 0) {
        team->n = n_threads;
        team->status = push_range(&task, first, end);
        return;
    }
    struct sti_Helper *helper = &task.world->collider.helper[thread - 1];
    sti_row_buffer_clear_contacts(&helper->sink);
    helper->sink.n_v = task.sink->n_v;
    helper->sink.rows_later = task.sink->rows_later;
    task.sink = &helper->sink;
    task.points = &helper->points;
    task.points->stop = task.world->stop;
    task.err = &helper->err;
    helper->status = push_range(&task, first, end);
}

static void push_share(void *ctx, int thread, int n_threads)
{
    Team *team = ctx;
    push_own(team, thread, n_threads);
    sti_team_wait(n_threads);
    if (thread == 0) team->together = goes_together(team);
    sti_team_wait(n_threads);
    if (thread > 0 && team->together) put_together(team, thread);
}

/* The first error in the order of pairs is the one that a single thread would have met. */
static st_Status push_by_team(const sti_ContactTask *task, int threads, st_Error *err)
{
    Team team = {.task = *task};
    sti_team_run(threads, push_share, &team);
    STI_TRY(team.status);
    for (int k = 0; k < team.n - 1; k++) {
        const struct sti_Helper *helper = &task->world->collider.helper[k];
        if (helper->status != ST_OK && err != NULL) *err = helper->err;
        STI_TRY(helper->status);
        if (team.together)
            task->sink->n_contacts += helper->sink.n_contacts;
        else
            STI_TRY(sti_row_buffer_append(task->sink, &helper->sink, err));
    }
    return ST_OK;
}

/* ---- all of them --------------------------------------------------------------------------------- */

st_Status sti_contacts_push(sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    sti_Collider *c = &world->collider;
    STI_TRY(sti_collider_place(world, q, err));
    double planes = sti_collider_foresee(world);
    c->pairs.threads = world->threads;
    STI_TRY(sti_pairs_update(&c->pairs, c->swept, c->pose, margin + 2 * planes, world->awake_shape,
                             world->n_awake_shapes, err));
    ST_VALIDATE(sti_pairs_are_valid(&c->pairs) && sti_tree_is_valid(&c->pairs.tree));
    STI_TRY(sti_contact_cache_update(world, err));
    ST_VALIDATE(sti_contact_cache_is_valid(c));
    if (world->awake != NULL) STI_TRY(list_live(world, err));
    sti_ContactTask task = {.world = world,
                            .sink = sink,
                            .err = err,
                            .points = &c->points,
                            .margin = margin,
                            .how = {.planar = -1, .keep_all = c->keep_all},
                            .plane = -1};
    c->points.stop = world->stop;
    int64_t threads = count_pairs(world) / LEAST_PAIRS;
    if (threads > world->threads) threads = world->threads;
    if (threads <= 1) return push_range(&task, 0, count_pairs(world));
    STI_TRY(make_helpers(world, (int)threads - 1, err));
    return push_by_team(&task, (int)threads, err);
}
