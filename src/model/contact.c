/* model/contact.c -- the contacts of all pairs of shapes that are near, by one thread or a team.
 *
 *     place the shapes  ->  near pairs (collide/broad/near_pairs.h)  ->  for each pair: is it near, and where does it
 *     touch  ->  for each point: is it needed, and its contact
 *
 * The contact frame is (n, t1, t2), normal from body a to body b. If both bodies move only across one world axis e (a
 * planar scene), the contact has one tangent, e x n, and a block of size 2.
 *
 * A pile makes millions of contacts per second: each is written once, at its final position in memory.
 */
#include "model/world.h"

#include "collide/narrow/ball.h"
#include "collide/validate.h"
#include "math/parallel.h"

/* Data common to all pairs, then data of the current pair, looked up when needed. */
typedef struct ContactTask {
    sti_World *world;
    st_Sink *sink;
    st_Error *err;
    double margin;
    const sti_Foresight *ahead;
    double pair_margin;   /* margin of the current pair, by sti_pair_margin */
    sti_Points *points;   /* room for the points of a pair */
    int plane;            /* the last plane used, -1: none */
    st_Vec3 plane_normal; /* its normal                                                            */

    sti_Pair pair;
    int a, b;        /* its bodies                                                                 */
    st_Vec3 image;   /* shift of shape j to its image nearest to shape i: whole periodic cells */
    sti_Collide how; /* how.margin is `pair_margin` plus the expected motion of its bodies */

    sti_Surface own;
    const sti_Surface *surface; /* in the table, or `own`; NULL: not looked up yet, nor are the next members */
    int count;                  /* number of velocities of both bodies */
    uint64_t id;                /* id of the pair's contacts, without the feature */
    bool slides;                /* there is friction at every point */

    st_Vec3 normal; /* normal of the last point, which the next point of a patch often shares */
    bool foreseen;  /* `closing` is valid: the closing speed of the pair along the normal */
    double closing;
    bool framed; /* `dim` and `tangent` are valid */
    int dim;
    st_Vec3 tangent;
} ContactTask;

/* ---- one point ------------------------------------------------------------------------------------ */

/* The largest expected closing speed of a contact along n: both bodies continue as expected, or one does and the
 * other is stopped, or one is thrown aside. In a collapsing pile that happens at half its speed, hardly ever faster. */
static double contact_closing_speed(const ContactTask *task, st_Vec3 n)
{
    const sti_World *world = task->world;
    const sti_Foresight *ahead = task->ahead;
    double fastest = 0;
    for (int k = 0; ahead->h > 0 && k < 2 && ahead->v[k] != NULL; k++) {
        st_Vec3 v_a, v_b, w_a, w_b;
        sti_body_velocity(&world->body[task->a], ahead->v[k], &v_a, &w_a);
        sti_body_velocity(&world->body[task->b], ahead->v[k], &v_b, &w_b);
        double a = dot(v_a, n), b = dot(v_b, n), aside = 0.5 * sqrt(sti_larger(dot(v_a, v_a), dot(v_b, v_b)));
        double turning = sti_turning_speed(world, task->a, w_a) + sti_turning_speed(world, task->b, w_b);
        fastest = sti_larger(fastest, turning + sti_larger(sti_larger(a, -b), sti_larger(a - b, aside)));
    }
    return fastest;
}

/* Can nothing move along the tangents, up to rounding (a one-dimensional scene)? Then there is no friction. */
static bool nothing_slides(const ContactTask *task, const sti_ContactEntry *entry)
{
    const int dim = entry->dim;
    double x[3 * 12], along = 0, across = 0;
    if (dim == 1) return false;
    sti_contact_put_rows(task->world, entry, task->count, dim, false, x);
    for (int k = 0; k < task->count; k++)
        along = fmax(along, fabs(x[k]));
    for (int k = task->count; k < dim * task->count; k++)
        across = fmax(across, fabs(x[k]));
    return across <= 1e-12 * along;
}

/* Adds a point of the current pair as a contact if it is within the margin or expected to be. It is written at its
 * final position, number by number: copying a record would wait for the numbers that were just written. */
static st_Status push_point(ContactTask *task, const sti_ContactPoint *point)
{
    const sti_World *world = task->world;
    const sti_Collider *c = &world->collider;
    const sti_Body *a = &world->body[task->a], *b = &world->body[task->b];
    const st_Vec3 n = point->normal;
    /* points of a patch share their normal and everything derived from it */
    const bool same_normal = n.x == task->normal.x && n.y == task->normal.y && n.z == task->normal.z;
    if (!(task->foreseen || task->framed) || !same_normal) {
        task->normal = n;
        task->foreseen = task->framed = false;
    }
    double closing = 0;
    if (!(point->gap < task->pair_margin)) {
        if (!task->foreseen) task->closing = contact_closing_speed(task, n);
        task->foreseen = true;
        closing = task->closing;
        if (!(point->gap < task->pair_margin + task->ahead->h * closing)) return ST_OK;
    }
    if (task->surface == NULL) {
        task->surface = sti_surface_of(world, task->pair.i, task->pair.j, &task->own);
        task->count = a->n_dofs + b->n_dofs;
        task->id = sti_contact_id(task->pair.i, task->pair.j, 0);
        /* a free body can slide; and rolling or spinning friction needs friction in any case */
        task->slides = a->n_dofs == 6 || b->n_dofs == 6 || task->surface->rolling > 0 || task->surface->spinning > 0;
    }
    const sti_Surface *surface = task->surface;
    /* levers overflow only for bodies that are lost in space */
    const st_Vec3 l_a = sti_lever(world, point->point, c->body_pose[task->a].p);
    const st_Vec3 l_b = sti_lever(world, point->point, c->body_pose[task->b].p);
    if (!isfinite(point->gap + dot(l_a, l_a) + dot(l_b, l_b)))
        return sti_fail(task->err, ST_ERR_NUMERIC, "shapes %s and %s touch at (%g, %g, %g) with a gap of %g",
                        sti_shape_label(world->scene, task->pair.i).text,
                        sti_shape_label(world->scene, task->pair.j).text, point->point.x, point->point.y,
                        point->point.z, point->gap);
    if (!task->framed) {
        /* the world axis across which both bodies move, if orthogonal to the normal; -1: a contact in space */
        const double along[3] = {n.x, n.y, n.z};
        int axis = -1;
        for (int e = 2; e >= 0 && task->how.planar >= 0; e--)
            if (((unsigned)(a->planar & b->planar) >> e & 1u) != 0 && fabs(along[e]) < 1e-9) axis = e;
        task->dim = surface->mu == 0 ? 1 : (axis >= 0 ? 2 : 3);
        task->tangent = axis >= 0 ? cross(vec3_axis(axis), n) : orthogonal(n);
        if (sti_is_slender(surface)) { /* if the direction is along the normal, any tangent is used */
            const int of = surface->along_of == 0 ? task->pair.i : task->pair.j;
            const st_Vec3 grain = rotate(c->pose[of].q, surface->along), flat = sub(grain, scale(dot(grain, n), n));
            if (norm(flat) > 1e-9 * norm(grain)) task->tangent = scale(1 / norm(flat), flat);
        }
        task->framed = true;
    }
    st_Sink *sink = task->sink;
    const bool patch = surface->elastic[0].young > 0 || surface->elastic[1].young > 0; /* a patch needs its rows */
    const bool later = sink->rows_later && !patch;
    double *gradient = NULL;
    sti_ContactEntry *to = &sink->contact[sink->n_contacts];
    if (!later || sink->n_contacts == sink->contact_capacity)
        STI_TRY(sti_row_buffer_room(sink, later ? 0 : 6, task->count, &to, &gradient, task->err));
    to->id = task->id | point->feature;
    to->gap = point->gap;
    to->closing = closing;
    to->surface = surface;
    to->first_row = -1;
    to->a = task->a;
    to->b = task->b;
    to->shape_a = task->pair.i + 1;
    to->shape_b = task->pair.j + 1;
    to->dim = (uint8_t)task->dim;
    to->turns = to->own_surface = false;
    to->point = point->point;
    to->normal = task->normal;
    to->tangent = task->tangent;
    if (surface == &task->own) STI_TRY(sti_row_buffer_keep_surface(sink, to, surface, task->err));
    if (!task->slides && nothing_slides(task, to)) to->dim = 1;
    if (later) {
        sink->n_contacts++;
        return ST_OK;
    }
    sti_contact_put_rows(world, to, task->count, to->dim, surface->turns, gradient);
    int index[12];
    sti_rows_index(world, task->a, task->b, index);
    sti_row_buffer_add_contact(sink, to->dim + (surface->turns ? 3 : 0), task->count, index);
    return ST_OK;
}

/* ---- in the plane -------------------------------------------------------------------------------- */

/* ---- one pair ------------------------------------------------------------------------------------ */

/* The length of the paths of two bodies, with room for rounding on both sides. */
#define PATH_ROUNDING 1e-9

/* Adds the contacts of a pair with near bounding balls. */
static st_Status push_pair(ContactTask *task, int64_t at)
{
    const sti_World *world = task->world;
    const sti_Collider *c = &world->collider;
    const int i = c->pairs.pair[at].i, j = c->pairs.pair[at].j;
    task->pair = c->pairs.pair[at];
    task->a = world->scene->shape_body[i], task->b = world->scene->shape_body[j];
    if (sti_stays(world, task->a) && sti_stays(world, task->b)) return ST_OK;
    task->surface = NULL;
    task->foreseen = task->framed = false;
    task->pair_margin = sti_pair_margin(c, i, j, task->margin);
    task->how.margin = task->pair_margin + c->travel[task->a] + c->travel[task->b];
    /* the world axis across which both bodies move; -1: they move in space */
    const unsigned common = world->body[task->a].planar & world->body[task->b].planar;
    task->how.planar = (common & 1u) != 0 ? 0 : (common & 2u) != 0 ? 1 : (common & 4u) != 0 ? 2 : -1;
    task->image = vec3(0, 0, 0);
    if (world->scene->cell.repeats) task->image = sti_cell_image_of(world, i, j);
    const bool plane = c->class[i] == STI_CLASS_PLANE;
    if (plane && task->plane != i) {
        task->plane = i;
        task->plane_normal = rotate(c->pose[i].q, vec3(0, 0, 1));
    }
    if (c->class[i] != STI_CLASS_OTHER && c->class[j] == STI_CLASS_BALL) { /* a formula, with at most one point */
        const sti_Ball *ball = &c->ball[j], *other = &c->ball[i];
        const st_Vec3 centre = world->scene->cell.repeats ? add(ball->centre, task->image) : ball->centre;
        sti_ContactPoint point;
        const bool near = plane ? plane_ball(task->plane_normal, c->pose[i].p, centre, ball->radius, &task->how, &point)
                                : ball_ball(other->centre, other->radius, centre, ball->radius, &task->how, &point);
        return near ? push_point(task, &point) : ST_OK;
    }
    sti_PairMemo *memo = &c->pairs.memo[at];
    /* were they so far apart that they are beyond the margin for any motion since then? */
    const double margin = fmax(task->how.margin, 0);
    if ((c->path[task->a] + c->path[task->b]) * (1 + PATH_ROUNDING) + margin < memo->clear) return ST_OK;
    if (plane) {
        const st_Vec3 lowest = bounds_lowest(&c->bounds[j], task->plane_normal);
        if (!(dot(task->plane_normal, sub(lowest, c->pose[i].p)) < margin)) return ST_OK;
    } else {
        const sti_Bounds grown = bounds_grown(c->bounds[i], margin), *b = &c->bounds[j];
        const sti_Bounds image = {add(b->lo, task->image), add(b->hi, task->image)};
        if (!bounds_overlap(&grown, &image)) return ST_OK;
    }

    const st_Scene *scene = task->world->scene;
    double apart = 0;
    task->points->n = 0;
    task->how.hint = &memo->hint;
    task->how.apart = &apart;
    sti_ContactCacheEntry *entry =
        memo->cache_slot == 0 || task->how.planar >= 0 ? NULL : sti_contact_cache_find(c, memo, task->a, task->b);
    const double room = entry != NULL ? entry->patch.room : 0;
    task->how.cached = entry != NULL ? &entry->patch : NULL;
    task->how.core_a = c->core_of[i] >= 0 ? &c->core[c->core_of[i]] : NULL;
    task->how.core_b = c->core_of[j] >= 0 ? &c->core[c->core_of[j]] : NULL;
    st_Pose pose = c->pose[j];
    if (scene->cell.repeats) pose.p = add(pose.p, task->image);
    st_Status status =
        sti_collide(sti_shape_of(c, i), c->pose[i], sti_shape_of(c, j), pose, &task->how, task->points, task->err);
    task->how.apart = NULL;
    if (status != ST_OK) {
        st_Error why = task->err != NULL ? *task->err : (st_Error){0};
        return sti_fail(task->err, status, "shapes %s and %s: %.300s", sti_shape_label(scene, i).text,
                        sti_shape_label(scene, j).text, why.message);
    }
    const double gone = c->path[task->a] + c->path[task->b];
    if (scene->cell.repeats) apart = 0; /* it depends on the images */
    memo->clear = apart > 0 ? (gone + apart) * (1 - PATH_ROUNDING) : 0;
    if (entry != NULL && entry->patch.room > 0 && entry->patch.room != room)
        sti_contact_cache_store(c, entry, task->a, task->b);
    if (task->how.planar >= 0) {
        /* In the plane the points of a face coincide in projection: keep the first of each. */
        double size = 0;
        int n = 0;
        st_Vec3 e = vec3_axis(task->how.planar);
        for (int k = 0; k < task->points->n; k++)
            size = fmax(size, norm(sub(task->points->point[k].point, task->points->point[0].point)));
        for (int k = 0; k < task->points->n; k++) {
            bool seen = false;
            for (int m = 0; m < n && !seen; m++) {
                st_Vec3 d = sub(task->points->point[k].point, task->points->point[m].point);
                d = sub(d, scale(dot(d, e), e));
                seen = norm(d) <= 1e-9 * size &&
                       norm(sub(task->points->point[k].normal, task->points->point[m].normal)) <= 1e-9;
            }
            if (!seen) task->points->point[n++] = task->points->point[k];
        }
        task->points->n = n;
        /* The position of a point across the plane has no effect on the motion. For display it is the middle of the
         * common range of both shapes. */
        const sti_Bounds *a = &c->bounds[i], *b = &c->bounds[j];
        st_Vec3 axis = vec3_axis(task->how.planar);
        double lo = dot(axis, b->lo), hi = dot(axis, b->hi);
        if (!plane) {
            lo = fmax(lo, dot(axis, a->lo));
            hi = fmin(hi, dot(axis, a->hi));
        }
        double middle = 0.5 * (lo + hi);
        for (int k = 0; k < task->points->n && isfinite(middle); k++)
            task->points->point[k].point =
                add(task->points->point[k].point, scale(middle - dot(axis, task->points->point[k].point), axis));
    }
    for (int p = 0; p < task->points->n; p++)
        STI_TRY(push_point(task, &task->points->point[p]));
    return ST_OK;
}

/* ---- a range of pairs ---------------------------------------------------------------------------- */

#define CHUNK 256
/* Number of pairs between the prefetch of a cached patch and its use. */
enum { PAIRS_AHEAD = 6 };

/* Lists those of n pairs with balls nearer than the margin, up to rounding on the safe side. Uses the poses alone,
 * because the list of pairs has more room than this. About every second pair qualifies, in no order, so there are no
 * branches. */
static int list_near(const sti_World *world, const sti_Pair *pair, int n, double margin, int *near)
{
    const sti_Ball *ball = world->collider.ball;
    const double *travel = world->collider.travel;
    const int *owner = world->scene->shape_body;
    int count = 0;
    if (world->scene->cell.repeats) {
        for (int k = 0; k < n; k++) /* push_pair checks their images */
            near[k] = k;
        return n;
    }
    for (int k = 0; k < n; k++) {
        const sti_Ball *a = &ball[pair[k].i], *b = &ball[pair[k].j];
        st_Vec3 d = sub(b->centre, a->centre);
        double reach = a->radius + b->radius + margin + travel[owner[pair[k].i]] + travel[owner[pair[k].j]];
        near[count] = k;
        count += dot(d, d) <= reach * reach * (1 + 1e-14);
    }
    return count;
}

/* The number of pairs to check, and a range of them. */
static int64_t count_pairs(const sti_World *world)
{
    return world->awake != NULL ? world->collider.n_live : world->collider.pairs.n_pairs;
}

/* Entries lie in the order in which pairs met, so that a large pile would wait for each of them. */
static void prefetch_entry(const sti_ContactCacheEntry *entry)
{
    for (size_t at = 0; at < offsetof(sti_ContactCacheEntry, pose); at += 64)
        __builtin_prefetch((const char *)entry + at);
}

/* Pairs first .. end - 1; while bodies sleep, of the list of those that are awake. */
static st_Status push_range(ContactTask *task, int64_t first, int64_t end)
{
    const sti_World *world = task->world;
    const sti_Collider *c = &world->collider;
    const int64_t *live = world->awake != NULL ? c->live : NULL;
    const int chunk = live != NULL ? 1 : CHUNK; /* neighbours in the list of all pairs are checked together */
    int near[CHUNK];
    for (int64_t k = first; k < end; k += chunk) {
        const int64_t at = live != NULL ? live[k] : k;
        const sti_PairMemo *memo = c->pairs.memo != NULL ? c->pairs.memo + at : NULL;
        const int n = end - k < chunk ? (int)(end - k) : chunk;
        const int n_near = list_near(world, c->pairs.pair + at, n, fmax(task->margin, 0), near);
        for (int e = 0; e < n_near; e++) {
            if (sti_stopped(world->stop))
                return sti_fail(task->err, ST_ERR_CANCELLED, "cancelled while looking for contacts");
            const int slot = memo != NULL && e + PAIRS_AHEAD < n_near ? memo[near[e + PAIRS_AHEAD]].cache_slot : 0;
            if (slot > 0) prefetch_entry(&c->cache[slot - 1]);
            STI_TRY(push_pair(task, at + near[e]));
        }
    }
    return ST_OK;
}

/* ---- by a team ----------------------------------------------------------------------------------- */

/* Data of each thread other than the first. Each processes a range of the pairs; their results in order are those of
 * a single thread. */
struct sti_Helper {
    sti_Points points;
    st_Sink sink;
    st_Status status;
    st_Error err;
};

/* Number of pairs that justify a thread. */
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

typedef struct Team {
    ContactTask task; /* of the first                                                              */
    int n;            /* number of threads */
    st_Status status; /* of the first                                                              */
    bool together;    /* all results are plain records, and there is room for them: each thread copies its own */
} Team;

/* The share of one thread. When all have finished, the first thread checks whether records can be copied and makes
 * room for them; then each thread copies its own to their final position. */
static void push_share(void *ctx, int thread, int n_threads)
{
    Team *team = ctx;
    ContactTask task = team->task;
    st_Sink *all = task.sink;
    struct sti_Helper *helper = task.world->collider.helper, *own = thread != 0 ? &helper[thread - 1] : NULL;
    const int64_t n = count_pairs(task.world);
    const int64_t first = sti_share(n, thread, n_threads), end = sti_share(n, thread + 1, n_threads);
    if (thread == 0) {
        team->n = n_threads;
        team->status = push_range(&task, first, end);
    } else {
        sti_row_buffer_clear_contacts(&own->sink);
        own->sink.n_v = all->n_v;
        own->sink.rows_later = all->rows_later;
        task.sink = &own->sink;
        task.points = &own->points;
        task.points->stop = task.world->stop;
        task.err = &own->err;
        own->status = push_range(&task, first, end);
    }
    sti_team_wait(n_threads);
    if (thread == 0) {
        int64_t count = all->n_contacts;
        bool plain = team->status == ST_OK && all->contact_rows.n_rows == 0;
        for (int k = 0; k < n_threads - 1; k++) {
            count += helper[k].sink.n_contacts;
            plain = plain && helper[k].status == ST_OK && helper[k].sink.contact_rows.n_rows == 0 &&
                    helper[k].sink.n_surfaces == 0;
        }
        team->together = plain && STI_GROW(&all->allocator, all->contact, all->contact_capacity, count, NULL) == ST_OK;
    }
    sti_team_wait(n_threads);
    if (own == NULL || !team->together || own->sink.n_contacts == 0) return;
    int64_t at = all->n_contacts;
    for (int k = 0; k < thread - 1; k++)
        at += helper[k].sink.n_contacts;
    memcpy(all->contact + at, own->sink.contact, (size_t)own->sink.n_contacts * sizeof *all->contact);
}

/* ---- all of them --------------------------------------------------------------------------------- */

st_Status sti_contacts_push(sti_World *world, const double *q, double margin, const sti_Foresight *ahead, st_Sink *sink,
                            st_Error *err)
{
    sti_Collider *c = &world->collider;
    STI_TRY(sti_collider_place(world, q, err));
    double planes = sti_collider_foresee(world, ahead);
    c->pairs.threads = world->threads;
    STI_TRY(sti_pairs_update(&c->pairs, c->swept, c->pose, margin + 2 * planes, world->awake_shape,
                             world->n_awake_shapes, err));
    ST_VALIDATE(sti_pairs_are_valid(&c->pairs) && sti_tree_is_valid(&c->pairs.tree));
    STI_TRY(sti_contact_cache_update(world, err));
    ST_VALIDATE(sti_contact_cache_is_valid(c));
    if (world->awake != NULL) {
        /* Pairs with an awake body: listed again when the pairs or the sleeping bodies have changed. */
        const int *owner = world->scene->shape_body;
        if (c->live_serial != c->pairs.serial) {
            STI_TRY(STI_GROW(&world->allocator, c->live, c->live_capacity, c->pairs.n_pairs, err));
            c->n_live = 0;
            for (int64_t k = 0; k < c->pairs.n_pairs; k++) {
                const sti_Pair *pair = &c->pairs.pair[k];
                if (!sti_stays(world, owner[pair->i]) || !sti_stays(world, owner[pair->j])) c->live[c->n_live++] = k;
            }
            c->live_serial = c->pairs.serial;
        }
    }
    ContactTask task = {.world = world,
                        .sink = sink,
                        .err = err,
                        .points = &c->points,
                        .margin = margin,
                        .ahead = ahead,
                        .how = {.planar = -1, .keep = c->keep},
                        .plane = -1};
    c->points.stop = world->stop;
    int64_t threads = count_pairs(world) / LEAST_PAIRS;
    if (threads > world->threads) threads = world->threads;
    if (threads <= 1) return push_range(&task, 0, count_pairs(world));
    const int n = (int)threads - 1;
    if (n > c->n_helpers) {
        sti_helpers_free(world);
        c->helper = sti_alloc(&world->allocator, n, sizeof *c->helper);
        if (c->helper == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d threads", n + 1);
        c->n_helpers = n;
        for (int k = 0; k < n; k++)
            c->helper[k].points.allocator = c->helper[k].sink.allocator = world->allocator;
    }
    /* The first error in the order of pairs is the one that a single thread would report. */
    Team team = {.task = task};
    sti_team_run((int)threads, push_share, &team);
    STI_TRY(team.status);
    for (int k = 0; k < team.n - 1; k++) {
        const struct sti_Helper *helper = &task.world->collider.helper[k];
        if (helper->status != ST_OK && err != NULL) *err = helper->err;
        STI_TRY(helper->status);
        if (team.together)
            task.sink->n_contacts += helper->sink.n_contacts;
        else
            STI_TRY(sti_row_buffer_append(task.sink, &helper->sink, err));
    }
    return ST_OK;
}
