/* model/contact_cache.c -- caches contact patches between polytopes (collide.h), one entry per pair.
 *
 * Entries are assigned when the list of pairs has changed, before threads process the pairs: each thread writes only
 * to entries of its own pairs. Pairs of other shapes have none, so piles of balls cost nothing.
 */
#include "model/world.h"

/* ---- places -------------------------------------------------------------------------------------- */

/* The validity of an entry requires that the points and the origin of the shape move no farther than its body's
 * path, and that the shape turns by no more than that over 2/3 of its size. */
bool sti_shape_is_cacheable(const sti_World *world, int shape)
{
    const sti_Collider *c = &world->collider;
    const sti_Shape *of = sti_shape_of(c, shape);
    const double reach = c->body_reach[world->scene->shape_body[shape]];
    if (of->type != ST_SHAPE_BOX && of->type != ST_SHAPE_HULL) return false;
    return norm(sti_shape_pose(world->scene, shape)->p) <= reach &&
           sti_core(of, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}}).size <= 1.5 * reach;
}

st_Status sti_contact_cache_update(sti_World *world, st_Error *err)
{
    sti_Collider *c = &world->collider;
    if (c->cache_serial == c->pairs.serial || c->pairs.memo == NULL) return ST_OK;
    /* Frees the entries of pairs that no longer exist. Returns the number of pairs without one. */
    int64_t without = 0;
    if (c->n_cache > 0) memset(c->cache_used, 0, (size_t)c->n_cache * sizeof *c->cache_used);
    for (int64_t k = 0; k < c->pairs.n_pairs; k++) {
        const sti_Pair *pair = &c->pairs.pair[k];
        const int slot = c->pairs.memo[k].cache_slot;
        if (slot > 0)
            c->cache_used[slot - 1] = true;
        else
            without += c->cacheable[pair->i] && c->cacheable[pair->j];
    }

    STI_TRY(STI_GROW(&world->allocator, c->cache, c->cache_capacity, c->n_cache + without, err));
    STI_TRY(STI_GROW(&world->allocator, c->cache_used, c->cache_used_size, c->n_cache + without, err));
    int at = 0;
    for (int64_t k = 0; k < c->pairs.n_pairs && without > 0; k++) {
        const sti_Pair *pair = &c->pairs.pair[k];
        if (c->pairs.memo[k].cache_slot > 0 || !c->cacheable[pair->i] || !c->cacheable[pair->j]) continue;
        while (at < c->n_cache && c->cache_used[at])
            at++;
        if (at == c->n_cache) c->n_cache++;
        c->cache[at] = (sti_ContactCacheEntry){.until = 0};
        c->cache_used[at] = true;
        c->pairs.memo[k].cache_slot = at + 1;
        without--;
    }
    c->cache_serial = c->pairs.serial;
    return ST_OK;
}

bool sti_contact_cache_is_valid(const sti_Collider *c)
{
    int64_t pairs = 0, used = 0;
    for (int64_t k = 0; k < c->pairs.n_pairs && c->pairs.memo != NULL; k++) {
        const sti_Pair *pair = &c->pairs.pair[k];
        const int slot = c->pairs.memo[k].cache_slot;
        const bool cacheable = c->cacheable[pair->i] && c->cacheable[pair->j];
        if (cacheable != (slot > 0) || slot > c->n_cache) return false;
        if (cacheable && !c->cache_used[slot - 1]) return false;
        pairs += cacheable;
    }
    for (int k = 0; k < c->n_cache; k++)
        used += c->cache_used[k];
    return used == pairs;
}

/* ---- the entry of a pair ------------------------------------------------------------------------------ */

/* A shape turns by at most 1.5 times its body's path over its size (sti_shape_is_cacheable); the rest is for
 * rounding. */
#define ROOM_OF_WAY 0.6

/* The patch is valid while the bodies move by less than its room, of which `used` is spent. `gone` is the length of
 * both bodies' paths so far. */
static void keep_until(sti_ContactCacheEntry *entry, double gone, double used)
{
    entry->until = gone + ROOM_OF_WAY * entry->patch.room - used - 1e-15 * gone;
}

/* Bodies at rest jitter: their paths grow although they stay in place. So before a patch is dropped, the motion is
 * measured again from the poses at which it was stored. */
sti_ContactCacheEntry *sti_contact_cache_find(const sti_Collider *c, const sti_PairMemo *pair, int a, int b)
{
    const double gone = c->path[a] + c->path[b];
    sti_ContactCacheEntry *entry = &c->cache[pair->cache_slot - 1];
    if (!(entry->patch.room > 0) || gone < entry->until) return entry;
    keep_until(entry, gone,
               sti_way_between(&entry->pose[0], &c->body_pose[a], c->body_reach[a]) +
                   sti_way_between(&entry->pose[1], &c->body_pose[b], c->body_reach[b]));
    if (!(gone < entry->until)) entry->patch.room = 0;
    return entry;
}

void sti_contact_cache_store(const sti_Collider *c, sti_ContactCacheEntry *entry, int a, int b)
{
    entry->pose[0] = c->body_pose[a], entry->pose[1] = c->body_pose[b];
    keep_until(entry, c->path[a] + c->path[b], 0);
}
