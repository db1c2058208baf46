/* model/contact_cache.c -- what is kept of patches between polytopes (collide.h), a place a pair.
 *
 * Places are given out when the list of pairs has changed, before threads look at the pairs: each writes to its own
 * pairs' places only. Pairs of other shapes have none: piles of balls pay nothing.
 */
#include "model/world.h"

/* ---- places -------------------------------------------------------------------------------------- */

/* What a patch has room for counts on the shape's points and its own origin going no farther than its body's way, and
 * on the shape turning by no more than that over 2/3 of its size.                                               */
bool sti_shape_keeps(const sti_World *world, int shape)
{
    const sti_Collider *c = &world->collider;
    const sti_Shape *of = sti_shape_of(c, shape);
    const double reach = c->body_reach[world->scene->shape_body[shape]];
    if (of->type != ST_SHAPE_BOX && of->type != ST_SHAPE_HULL) return false;
    return norm(sti_shape_pose(world->scene, shape)->p) <= reach &&
           sti_core(of, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}}).size <= 1.5 * reach;
}

/* Places of pairs that are no longer there become free. Returns how many pairs have none. */
static int64_t free_places(sti_Collider *c)
{
    int64_t without = 0;
    for (int64_t k = 0; k < c->n_kept; k++)
        c->kept[k].used = false;
    for (int64_t k = 0; k < c->pairs.n_pairs; k++) {
        const sti_Pair *pair = &c->pairs.pair[k];
        if (pair->kept > 0)
            c->kept[pair->kept - 1].used = true;
        else
            without += c->keeps[pair->i] && c->keeps[pair->j];
    }
    return without;
}

static int next_free(const sti_Collider *c, int k)
{
    while (k < c->n_kept && c->kept[k].used)
        k++;
    return k;
}

st_Status sti_kept_update(sti_World *world, st_Error *err)
{
    sti_Collider *c = &world->collider;
    if (c->kept_serial == c->pairs.serial) return ST_OK;
    int64_t without = free_places(c);
    STI_TRY(STI_GROW(&world->allocator, c->kept, c->kept_capacity, c->n_kept + without, err));
    int at = 0;
    for (int64_t k = 0; k < c->pairs.n_pairs && without > 0; k++) {
        sti_Pair *pair = &c->pairs.pair[k];
        if (pair->kept > 0 || !c->keeps[pair->i] || !c->keeps[pair->j]) continue;
        at = next_free(c, at);
        if (at == c->n_kept) c->n_kept++;
        c->kept[at] = (sti_KeptPatch){.used = true};
        pair->kept = at + 1;
        without--;
    }
    c->kept_serial = c->pairs.serial;
    return ST_OK;
}

/* ---- a pair's patch ------------------------------------------------------------------------------ */

/* A shape turns by 1.5 of its body's way over its size at most (sti_shape_keeps); the rest is for rounding. */
#define ROOM_OF_WAY 0.6

/* The patch was made for a room, of which something has been used: how far may bodies that have `gone` so far go? */
static void keep_until(sti_KeptPatch *patch, double gone, double used)
{
    patch->until = gone + ROOM_OF_WAY * patch->kept.room - used - 1e-15 * gone;
}

/* Ways are longer than what comes of them, since bodies at rest tremble: before a patch is given up, it is asked how
 * far they stand from where they were.                                                                 */
sti_KeptPatch *sti_kept_patch(const sti_Collider *c, const sti_Pair *pair, int a, int b)
{
    const double gone = c->path[a] + c->path[b];
    sti_KeptPatch *patch = &c->kept[pair->kept - 1];
    if (!(patch->kept.room > 0) || gone < patch->until) return patch;
    keep_until(patch, gone,
               sti_way_between(&patch->pose[0], &c->body_pose[a], c->body_reach[a]) +
                   sti_way_between(&patch->pose[1], &c->body_pose[b], c->body_reach[b]));
    if (!(gone < patch->until)) patch->kept.room = 0;
    return patch;
}

void sti_keep_patch(const sti_Collider *c, sti_KeptPatch *patch, int a, int b)
{
    patch->pose[0] = c->body_pose[a], patch->pose[1] = c->body_pose[b];
    keep_until(patch, c->path[a] + c->path[b], 0);
}
