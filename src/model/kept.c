/* model/kept.c -- room for what is kept of patches between polytopes (collide.h), a place a pair.
 *
 * Places are given out when the list of pairs has changed, before threads look at the pairs: each writes to its own
 * pairs' places only. Pairs of other shapes have none: piles of balls pay nothing.
 */
#include "model/world.h"

/* Bounds of kept.c count on the shape's points and its own origin going no farther than its body's way, and on the
 * shape turning by no more than that over 2/3 of its size.                                               */
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
