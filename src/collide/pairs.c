#include "collide/pairs.h"

#include <stdlib.h>

/* The skin, relative to a box's longest side: larger saves updates and costs candidates. */
#define SKIN 0.1
/* After this many calls with a margin four times smaller the fat boxes are made anew. */
#define PATIENCE 64

st_Status sti_pairs_create(sti_Pairs *pairs, int n_shapes, const bool *unbounded, sti_PairFilter *filter,
                           const void *ctx, const st_Allocator *allocator, st_Error *err)
{
    *pairs = (sti_Pairs){.allocator = *allocator, .n_shapes = n_shapes, .filter = filter, .ctx = ctx};
    pairs->unbounded = sti_alloc(allocator, n_shapes, sizeof *pairs->unbounded);
    pairs->moved = sti_alloc(allocator, n_shapes, sizeof *pairs->moved);
    if (n_shapes > 0 && (pairs->unbounded == NULL || pairs->moved == NULL))
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d shapes", n_shapes);
    if (n_shapes > 0) memcpy(pairs->unbounded, unbounded, (size_t)n_shapes * sizeof *unbounded);
    return sti_tree_reserve(allocator, &pairs->tree, n_shapes, err);
}

void sti_pairs_free(sti_Pairs *pairs)
{
    const st_Allocator *a = &pairs->allocator;
    if (a->free == NULL) return; /* never made */
    sti_free(a, pairs->unbounded, pairs->n_shapes, sizeof *pairs->unbounded);
    sti_free(a, pairs->moved, pairs->n_shapes, sizeof *pairs->moved);
    sti_tree_free(a, &pairs->tree);
    STI_RELEASE(a, pairs->pair, pairs->pair_capacity);
    STI_RELEASE(a, pairs->fresh, pairs->fresh_capacity);
    STI_RELEASE(a, pairs->merged, pairs->merged_capacity);
}

/* ---- fresh pairs --------------------------------------------------------------------------------- */

typedef struct Search {
    sti_Pairs *pairs;
    int shape;
    st_Status status;
    st_Error *err;
} Search;

static bool add_fresh(Search *search, int other)
{
    sti_Pairs *p = search->pairs;
    sti_Pair pair;
    if (!p->filter(p->ctx, search->shape, other, &pair)) return true;
    search->status = STI_GROW(&p->allocator, p->fresh, p->fresh_capacity, p->n_fresh + 1, search->err);
    if (search->status == ST_OK) p->fresh[p->n_fresh++] = pair;
    return search->status == ST_OK;
}

/* Two that both moved find each other twice: once is enough. */
static bool meet(void *ctx, int other)
{
    Search *search = ctx;
    const sti_Pairs *p = search->pairs;
    if (other == search->shape || p->unbounded[other] || (p->moved[other] && other < search->shape)) return true;
    return add_fresh(search, other);
}

static st_Status find_fresh(sti_Pairs *p, st_Error *err)
{
    p->n_fresh = 0;
    for (int i = 0; i < p->n_shapes; i++) {
        if (!p->moved[i] || p->unbounded[i]) continue;
        Search search = {p, i, ST_OK, err};
        sti_tree_query(&p->tree, &p->tree.bounds[i], meet, &search);
        STI_TRY(search.status);
    }
    return ST_OK;
}

static st_Status find_unbounded(sti_Pairs *p, st_Error *err)
{
    for (int i = 0; i < p->n_shapes; i++)
        for (int j = 0; p->unbounded[i] && j < p->n_shapes; j++) {
            Search search = {p, i, ST_OK, err};
            if (i != j && !(p->unbounded[j] && j < i)) (void)add_fresh(&search, j);
            STI_TRY(search.status);
        }
    return ST_OK;
}

static int by_shapes(const void *x, const void *y)
{
    const sti_Pair *a = x, *b = y;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    return a->j < b->j ? -1 : a->j > b->j;
}

/* Old pairs without those of shapes that moved, and the fresh ones, in order. */
static st_Status merge(sti_Pairs *p, st_Error *err)
{
    if (p->n_fresh > 1) qsort(p->fresh, (size_t)p->n_fresh, sizeof *p->fresh, by_shapes);
    /* both, since they change places */
    STI_TRY(STI_GROW(&p->allocator, p->merged, p->merged_capacity, p->n_pairs + p->n_fresh, err));
    STI_TRY(STI_GROW(&p->allocator, p->pair, p->pair_capacity, p->n_pairs + p->n_fresh, err));
    int64_t n = 0, f = 0;
    for (int64_t k = 0; k < p->n_pairs; k++) {
        sti_Pair old = p->pair[k];
        bool plane = p->unbounded[old.i] || p->unbounded[old.j];
        if (!plane && (p->moved[old.i] || p->moved[old.j])) continue;
        while (f < p->n_fresh && by_shapes(&p->fresh[f], &old) < 0)
            p->merged[n++] = p->fresh[f++];
        p->merged[n++] = old;
    }
    while (f < p->n_fresh)
        p->merged[n++] = p->fresh[f++];
    sti_Pair *pair = p->pair;
    int64_t capacity = p->pair_capacity;
    p->pair = p->merged, p->pair_capacity = p->merged_capacity;
    p->merged = pair, p->merged_capacity = capacity;
    p->n_pairs = n;
    return ST_OK;
}

/* ---- boxes --------------------------------------------------------------------------------------- */

static sti_Bounds fattened(const sti_Pairs *p, const sti_Bounds *b)
{
    double side = fmax(b->hi.x - b->lo.x, fmax(b->hi.y - b->lo.y, b->hi.z - b->lo.z));
    return bounds_grown(*b, 0.5 * p->margin + SKIN * side);
}

/* Everything anew: the first time, and when the margin has changed. */
static st_Status restart(sti_Pairs *p, const sti_Bounds *bounds, double margin, st_Error *err)
{
    p->margin = margin;
    p->small_calls = 0;
    for (int i = 0; i < p->n_shapes; i++) {
        p->moved[i] = true;
        /* a plane's place in the tree is never asked for, but must be a number */
        p->tree.bounds[i] = p->unbounded[i] ? (sti_Bounds){{0, 0, 0}, {0, 0, 0}} : fattened(p, &bounds[i]);
    }
    sti_tree_build(&p->tree);
    p->moves = 0;
    p->n_pairs = 0;
    STI_TRY(find_fresh(p, err));
    STI_TRY(find_unbounded(p, err));
    STI_TRY(merge(p, err));
    p->started = true;
    return ST_OK;
}

static st_Status all_pairs(sti_Pairs *p, st_Error *err)
{
    p->n_pairs = p->n_fresh = 0;
    p->started = false; /* the next finite margin starts anew */
    for (int i = 0; i < p->n_shapes; i++)
        for (int j = i + 1; j < p->n_shapes; j++) {
            Search search = {p, i, ST_OK, err};
            (void)add_fresh(&search, j);
            STI_TRY(search.status);
        }
    return merge(p, err);
}

st_Status sti_pairs_update(sti_Pairs *p, const sti_Bounds *bounds, double margin, st_Error *err)
{
    if (!isfinite(margin)) return all_pairs(p, err);
    margin = fmax(margin, 0);
    p->small_calls = margin < 0.25 * p->margin ? p->small_calls + 1 : 0;
    if (!p->started || margin > p->margin || p->small_calls > PATIENCE) return restart(p, bounds, margin, err);
    int64_t n_moved = 0;
    for (int i = 0; i < p->n_shapes; i++) {
        sti_Bounds needed = bounds_grown(bounds[i], 0.5 * p->margin);
        p->moved[i] = !p->unbounded[i] && !bounds_hold(&p->tree.bounds[i], &needed);
        if (!p->moved[i]) continue;
        sti_tree_move(&p->tree, i, fattened(p, &bounds[i]));
        n_moved++;
    }
    if (n_moved == 0) return ST_OK;
    p->moves += n_moved;
    if (p->moves > p->n_shapes) { /* the tree's branches have grown into each other */
        sti_tree_build(&p->tree);
        p->moves = 0;
    }
    STI_TRY(find_fresh(p, err));
    return merge(p, err);
}
