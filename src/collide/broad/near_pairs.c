#include "collide/broad/near_pairs.h"

#include "math/parallel.h"

#include <stdlib.h>

/* The skin relative to the longest side of a box: a larger one saves updates but adds candidates. */
#define SKIN 0.1
/* The box of a moving shape gets room for this many more calls with the same motion, but at most for its size. */
#define AHEAD 8
/* Fat boxes allow a margin larger than the requested one by this factor, because the margin grows with speed. */
#define HEADROOM 1.25
/* After this many calls with a margin four times smaller the fat boxes are rebuilt. */
#define PATIENCE 64

/* The pairs found by one thread; those of the first thread are in pairs->fresh. */
struct sti_PairSearch {
    sti_Pair *found;
    int64_t n_found, found_capacity;
    st_Status status;
    st_Error err;
};

st_Status sti_pairs_create(sti_Pairs *pairs, int n_shapes, const unsigned char *extent, sti_PairFilter *filter,
                           const void *ctx, const st_Allocator *allocator, st_Error *err)
{
    *pairs = (sti_Pairs){.allocator = *allocator, .n_shapes = n_shapes, .filter = filter, .ctx = ctx};
    pairs->extent = sti_alloc(allocator, n_shapes, sizeof *pairs->extent);
    pairs->moved = sti_alloc(allocator, n_shapes, sizeof *pairs->moved);
    pairs->since = sti_alloc(allocator, n_shapes, sizeof *pairs->since);
    pairs->mover = sti_alloc(allocator, n_shapes, sizeof *pairs->mover);
    if (n_shapes > 0 && (pairs->extent == NULL || pairs->moved == NULL || pairs->since == NULL || pairs->mover == NULL))
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d shapes", n_shapes);
    for (int k = 0; k < n_shapes; k++) {
        pairs->extent[k] = extent[k];
        if (extent[k] != STI_EXTENT_PLANE) continue;
        STI_TRY(STI_GROW(allocator, pairs->plane, pairs->plane_capacity, pairs->n_planes + 1, err));
        pairs->plane[pairs->n_planes++].shape = k;
    }
    return sti_tree_reserve(allocator, &pairs->tree, n_shapes, err);
}

void sti_pairs_free(sti_Pairs *pairs)
{
    const st_Allocator *a = &pairs->allocator;
    if (a->free == NULL) return; /* it was never initialised */
    sti_free(a, pairs->extent, pairs->n_shapes, sizeof *pairs->extent);
    sti_free(a, pairs->moved, pairs->n_shapes, sizeof *pairs->moved);
    sti_free(a, pairs->since, pairs->n_shapes, sizeof *pairs->since);
    sti_free(a, pairs->mover, pairs->n_shapes, sizeof *pairs->mover);
    STI_RELEASE(a, pairs->plane, pairs->plane_capacity);
    sti_tree_free(a, &pairs->tree);
    STI_RELEASE(a, pairs->pair, pairs->pair_capacity);
    STI_RELEASE(a, pairs->memo, pairs->memo_capacity);
    STI_RELEASE(a, pairs->fresh, pairs->fresh_capacity);
    for (int k = 0; k < pairs->n_searches; k++)
        STI_RELEASE(a, pairs->search[k].found, pairs->search[k].found_capacity);
    sti_free(a, pairs->search, pairs->n_searches, sizeof *pairs->search);
}

/* ---- fresh pairs --------------------------------------------------------------------------------- */

/* Searches the pairs of one shape and appends them. */
typedef struct Search {
    const sti_Pairs *pairs;
    int shape;
    struct sti_PairSearch *of;
} Search;

static bool add_fresh(const Search *search, int other)
{
    const sti_Pairs *p = search->pairs;
    struct sti_PairSearch *of = search->of;
    sti_Pair key;
    if (!p->filter(p->ctx, search->shape, other, &key)) return true;
    if (of->n_found == of->found_capacity)
        of->status = STI_GROW(&p->allocator, of->found, of->found_capacity, of->n_found + 1, &of->err);
    if (of->status == ST_OK) of->found[of->n_found++] = key;
    return of->status == ST_OK;
}

/* Two shapes that both moved find each other twice; one is kept. */
static bool broad_meet(void *ctx, int other)
{
    const Search *search = ctx;
    const sti_Pairs *p = search->pairs;
    if (other == search->shape || p->extent[other] == STI_EXTENT_PLANE || (other < search->shape && p->moved[other]))
        return true;
    return add_fresh(search, other);
}

/* Does the fat box of a shape come within half the margin of a plane? The box includes the other half. */
static bool broad_is_over(const sti_Pairs *p, const sti_PairPlane *plane, int shape)
{
    const sti_Bounds *b = &p->tree.bounds[shape];
    st_Vec3 n = plane->normal;
    st_Vec3 lowest = bounds_lowest(b, n);
    return dot(n, sub(lowest, plane->on)) <= 0.5 * p->margin;
}

/* Number of moving shapes that justify a thread. */
enum { LEAST_MOVERS = 128 };

typedef struct Team {
    const sti_Pairs *pairs;
    struct sti_PairSearch first; /* of the first thread                                            */
    int n;                       /* number of threads */
} Team;

static void search_share(void *ctx, int thread, int n_threads)
{
    Team *team = ctx;
    const sti_Pairs *p = team->pairs;
    struct sti_PairSearch *of = thread == 0 ? &team->first : &p->search[thread - 1];
    const int end = (int)sti_share(p->n_movers, thread + 1, n_threads);
    of->n_found = 0;
    of->status = ST_OK;
    if (thread == 0) team->n = n_threads;
    for (int e = (int)sti_share(p->n_movers, thread, n_threads); e < end && of->status == ST_OK; e++) {
        Search search = {p, p->mover[e], of};
        sti_tree_query(&p->tree, &p->tree.bounds[p->mover[e]], broad_meet, &search);
        if (p->cell != NULL) {
            /* Finds shapes near an image of this one, a cell away along any of the axes. Most images are outside the
             * tree. */
            const sti_Tree *tree = &search.pairs->tree;
            const double *length = search.pairs->cell->length;
            for (int image = 0; image < 27; image++) {
                const int row = image / 3 % 3, layer = image / 9;
                const double step[3] = {image % 3 - 1, row - 1, layer - 1};
                const st_Vec3 by = vec3(step[0] * length[0], step[1] * length[1], step[2] * length[2]);
                bool is_other = image != 13;
                for (int i = 0; i < 3; i++)
                    is_other = is_other && (step[i] == 0 || length[i] > 0);
                if (!is_other) continue;
                const sti_Bounds *box = &tree->bounds[search.shape], moved = {add(box->lo, by), add(box->hi, by)};
                if (bounds_overlap(&moved, &tree->node[0].bounds)) sti_tree_query(tree, &moved, broad_meet, &search);
            }
        }
    }
}

static st_Status fail_as(const struct sti_PairSearch *of, st_Error *err)
{
    if (of->status != ST_OK && err != NULL) *err = of->err;
    return of->status;
}

/* The first thread writes to `fresh`; the results of the others are appended, and sorted later. */
static void lend_fresh(sti_Pairs *p, struct sti_PairSearch *to)
{
    *to = (struct sti_PairSearch){.found = p->fresh, .n_found = p->n_fresh, .found_capacity = p->fresh_capacity};
}

static st_Status take_fresh(sti_Pairs *p, const struct sti_PairSearch *from, st_Error *err)
{
    p->fresh = from->found;
    p->n_fresh = from->n_found;
    p->fresh_capacity = from->found_capacity;
    return fail_as(from, err);
}

/* Below 0: a comes before b. */
static int compare(sti_Pair a, sti_Pair b)
{
    if (a.i != b.i) return a.i < b.i ? -1 : 1;
    return a.j < b.j ? -1 : a.j > b.j;
}

static int by_shapes(const void *a, const void *b)
{
    return compare(*(const sti_Pair *)a, *(const sti_Pair *)b);
}

/* Merges old and new pairs in order, from the end, where there is room. */
static st_Status broad_merge(sti_Pairs *p, st_Error *err)
{
    if (p->n_fresh > 1) qsort(p->fresh, (size_t)p->n_fresh, sizeof *p->fresh, by_shapes);
    int64_t n_once = 0; /* pairs that were found by several images are kept once */
    for (int64_t k = 0; p->cell != NULL && k < p->n_fresh; k++)
        if (n_once == 0 || compare(p->fresh[n_once - 1], p->fresh[k]) != 0) p->fresh[n_once++] = p->fresh[k];
    if (p->cell != NULL) p->n_fresh = n_once;

    /* Old pairs of shapes that moved stay, with their cached data, if they were found again; fresh pairs stay if
     * they are new. Mostly none is removed or added. Returns the number of old pairs now. */
    int64_t n = 0, f = 0, n_new = 0;
    for (int64_t k = 0; k < p->n_pairs; k++) {
        const sti_Pair old = p->pair[k];
        if (p->moved[old.i] || p->moved[old.j]) {
            for (; f < p->n_fresh && compare(p->fresh[f], old) < 0; f++)
                p->fresh[n_new++] = p->fresh[f];
            if (f == p->n_fresh || compare(p->fresh[f], old) != 0) continue;
            f++;
        }
        p->pair[n] = old;
        if (n < k && p->memo != NULL) p->memo[n] = p->memo[k];
        n++;
    }
    while (f < p->n_fresh)
        p->fresh[n_new++] = p->fresh[f++];
    p->n_fresh = n_new;
    int64_t old = n, fresh = p->n_fresh, at = old + fresh;

    p->serial += fresh > 0 || old < p->n_pairs;
    p->n_pairs = old; /* in case memory is refused */
    STI_TRY(STI_GROW(&p->allocator, p->pair, p->pair_capacity, at, err));
    if (!p->forgetful) STI_TRY(STI_GROW(&p->allocator, p->memo, p->memo_capacity, at, err));
    p->n_pairs = at;
    while (fresh > 0) {
        const sti_Pair last = p->fresh[fresh - 1];
        const bool moves = old > 0 && compare(last, p->pair[old - 1]) < 0;
        p->pair[--at] = moves ? p->pair[--old] : p->fresh[--fresh];
        if (p->memo != NULL) p->memo[at] = moves ? p->memo[old] : (sti_PairMemo){0};
    }
    return ST_OK;
}

static void drop_all(sti_Pairs *p)
{
    p->n_pairs = p->n_fresh = 0;
    p->serial++;
}

static st_Status find_again(sti_Pairs *p, st_Error *err)
{
    Team team = {.pairs = p, .n = 1};
    const int most = p->n_movers / LEAST_MOVERS, threads = most < p->threads ? most : p->threads;
    p->n_fresh = 0;
    if (threads > 1) {
        /* Makes room for the searches of all threads except the first. */
        const int n = threads - 1;
        if (n > p->n_searches) {
            struct sti_PairSearch *more = sti_alloc(&p->allocator, n, sizeof *more);
            if (more == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d threads", n + 1);
            if (p->n_searches > 0) memcpy(more, p->search, (size_t)p->n_searches * sizeof *more);
            sti_free(&p->allocator, p->search, p->n_searches, sizeof *p->search);
            p->search = more;
            p->n_searches = n;
        }
    }
    lend_fresh(p, &team.first);
    sti_team_run(threads, search_share, &team);
    STI_TRY(take_fresh(p, &team.first, err));
    for (int k = 0; k < team.n - 1; k++) {
        const struct sti_PairSearch *from = &p->search[k];
        STI_TRY(fail_as(from, err));
        STI_TRY(STI_GROW(&p->allocator, p->fresh, p->fresh_capacity, p->n_fresh + from->n_found, err));
        if (from->n_found > 0) memcpy(p->fresh + p->n_fresh, from->found, (size_t)from->n_found * sizeof *from->found);
        p->n_fresh += from->n_found;
    }

    lend_fresh(p, &team.first);
    for (int k = 0; k < p->n_planes; k++) {
        /* Planes are few and not in the tree. A plane that moved checks every shape. */
        Search search = {p, p->plane[k].shape, &team.first};
        const bool all = p->moved[p->plane[k].shape];
        for (int e = 0; e < (all ? p->n_shapes : p->n_movers) && team.first.status == ST_OK; e++) {
            const int i = all ? e : p->mover[e];
            if (p->extent[i] != STI_EXTENT_PLANE && broad_is_over(p, &p->plane[k], i)) (void)add_fresh(&search, i);
        }
    }
    STI_TRY(take_fresh(p, &team.first, err));

    return broad_merge(p, err);
}

/* ---- boxes --------------------------------------------------------------------------------------- */

/* Adds half the margin, because the other shape of a pair has the other half; and a skin for shapes that may move. */
static sti_Bounds fattened(const sti_Pairs *p, int shape, const sti_Bounds *b)
{
    double side = fmax(b->hi.x - b->lo.x, fmax(b->hi.y - b->lo.y, b->hi.z - b->lo.z));
    return bounds_grown(*b, 0.5 * p->margin + (p->extent[shape] == STI_EXTENT_FIXED ? 0 : SKIN * side));
}

static void lengthen(double way, double most, double *lo, double *hi)
{
    *lo += fmax(fmin(way, 0), -most);
    *hi += fmin(fmax(way, 0), most);
}

/* Have planes moved? Then their pairs are searched again. */
static bool move_planes(sti_Pairs *p, const st_Pose *pose)
{
    bool any = false;
    for (int k = 0; k < p->n_planes; k++) {
        sti_PairPlane *plane = &p->plane[k];
        st_Vec3 normal = rotate(pose[plane->shape].q, vec3(0, 0, 1)), on = pose[plane->shape].p;
        bool same = normal.x == plane->normal.x && normal.y == plane->normal.y && normal.z == plane->normal.z &&
                    on.x == plane->on.x && on.y == plane->on.y && on.z == plane->on.z;
        plane->normal = normal, plane->on = on;
        p->moved[plane->shape] = !same;
        any = any || !same;
    }
    return any;
}

/* Rebuilds everything: the first time, and when the margin has changed. */
static st_Status restart(sti_Pairs *p, const sti_Bounds *bounds, const st_Pose *pose, double margin, st_Error *err)
{
    p->started = false; /* if memory for the pairs is refused, the next call starts here again */
    p->margin = HEADROOM * margin;
    p->small_calls = p->calls = p->n_movers = 0;
    (void)move_planes(p, pose);
    for (int i = 0; i < p->n_shapes; i++) {
        p->moved[i] = true;
        if (p->extent[i] != STI_EXTENT_PLANE) p->mover[p->n_movers++] = i;
        p->since[i] = 0;
        /* the box of a plane in the tree is never used, but must be a number */
        p->tree.bounds[i] =
            p->extent[i] == STI_EXTENT_PLANE ? (sti_Bounds){{0, 0, 0}, {0, 0, 0}} : fattened(p, i, &bounds[i]);
    }
    sti_tree_build(&p->tree);
    p->moves = 0;
    drop_all(p);
    STI_TRY(find_again(p, err));
    p->started = true;
    return ST_OK;
}

/* A team checks which parts have shapes outside their fat boxes. */
typedef struct Leaving {
    sti_Pairs *pairs;
    const sti_Bounds *bounds;
    const int *awake;
    bool any[STI_PARTS];
} Leaving;

static void mark_leaving(void *ctx, int part, int64_t first, int64_t end)
{
    Leaving *leaving = ctx;
    sti_Pairs *p = leaving->pairs;
    leaving->any[part] = false;
    for (int e = (int)first; e < (int)end; e++) {
        const int i = leaving->awake != NULL ? leaving->awake[e] : e;
        if (p->extent[i] == STI_EXTENT_PLANE) continue;
        const sti_Bounds needed = bounds_grown(leaving->bounds[i], 0.5 * p->margin);
        p->moved[i] = !bounds_hold(&p->tree.bounds[i], &needed);
        leaving->any[part] = leaving->any[part] || p->moved[i];
    }
}

static void forget_movers(sti_Pairs *p)
{
    for (int e = 0; e < p->n_movers; e++)
        p->moved[p->mover[e]] = false;
    for (int k = 0; k < p->n_planes; k++)
        p->moved[p->plane[k].shape] = false;
    p->n_movers = 0;
}

st_Status sti_pairs_update(sti_Pairs *p, const sti_Bounds *bounds, const st_Pose *pose, double margin, const int *awake,
                           int n, st_Error *err)
{
    if (!isfinite(margin)) {
        struct sti_PairSearch all;
        drop_all(p);
        p->started = false; /* the next finite margin rebuilds everything */
        lend_fresh(p, &all);
        for (int i = 0; i < p->n_shapes; i++) {
            const Search search = {p, i, &all};
            for (int j = i + 1; j < p->n_shapes && all.status == ST_OK; j++)
                (void)add_fresh(&search, j);
        }
        STI_TRY(take_fresh(p, &all, err));
        return broad_merge(p, err);
    }
    margin = fmax(margin, 0);
    p->small_calls = margin < 0.25 * p->margin ? p->small_calls + 1 : 0;
    if (!p->started || margin > p->margin || p->small_calls > PATIENCE || p->calls == INT32_MAX) {
        st_Status status = restart(p, bounds, pose, margin, err);
        forget_movers(p);
        return status;
    }
    p->calls++;
    bool planes = move_planes(p, pose);
    /* Makes new fat boxes for shapes that have left theirs: the moving shapes. */
    Leaving leaving;
    leaving.pairs = p, leaving.bounds = bounds, leaving.awake = awake;
    if (awake == NULL) n = p->n_shapes;
    const int parts = sti_team_parts(p->threads, n, mark_leaving, &leaving);
    p->n_movers = 0;
    for (int k = 0; k < parts; k++)
        for (int e = (int)sti_part_first(n, k); leaving.any[k] && e < (int)sti_part_first(n, k + 1); e++) {
            const int i = awake != NULL ? awake[e] : e;
            if (p->extent[i] == STI_EXTENT_PLANE || !p->moved[i]) continue;
            p->mover[p->n_movers++] = i;

            /* A new fat box, extended along the motion from the old one. */
            const sti_Bounds *b = &bounds[i];
            const sti_Bounds *old = &p->tree.bounds[i];
            double calls = fmax(p->calls - p->since[i], 1), side = fmax(b->hi.x - b->lo.x, b->hi.y - b->lo.y);
            st_Vec3 way = scale(0.5 * AHEAD / calls, sub(add(b->lo, b->hi), add(old->lo, old->hi)));
            sti_Bounds fat = fattened(p, i, b);
            side = fmax(side, b->hi.z - b->lo.z);
            lengthen(way.x, side, &fat.lo.x, &fat.hi.x);
            lengthen(way.y, side, &fat.lo.y, &fat.hi.y);
            lengthen(way.z, side, &fat.lo.z, &fat.hi.z);
            p->tree.bounds[i] = fat;

            p->since[i] = p->calls;
        }
    if (p->n_movers == 0 && !planes) return ST_OK;

    /* Updates the tree for the new boxes. Its branches grow into each other, so it is rebuilt from time to time. */
    p->moves += p->n_movers;
    if (p->moves > p->n_shapes) {
        sti_tree_build(&p->tree);
        p->moves = 0;
    } else if (8 * (int64_t)p->n_movers > p->n_shapes) {
        sti_tree_refit(&p->tree);
    } else {
        for (int e = 0; e < p->n_movers; e++)
            sti_tree_move(&p->tree, p->mover[e]);
    }

    st_Status status = find_again(p, err);
    p->started = status == ST_OK; /* boxes have moved but their pairs were not found: rebuild everything */
    forget_movers(p);
    return status;
}
