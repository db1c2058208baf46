/* device/flat_ranks.h -- a flat pile shared out among ranks (stiction/ranks.h). Included by flat_step.h.
 *
 * Every rank has all bodies, and finds, colours and sweeps the contacts of those that it owns. A contact between bodies
 * of two ranks is at both. What a rank does not compute it is told by the owner:
 *
 *     colours    in each round, the bids and the colours of bodies at the border
 *     sweeps     after each colour, the velocities of border bodies that have a contact of that colour
 *     the end    the velocities of all bodies, to all
 *
 * So both copies of a contact see the same velocities and get the same impulse: the iteration is that of a single rank,
 * to the bit. Sums of changes and residuals are added rank by rank; their last digits depend on how many ranks there
 * are, and nothing is made of them but the choice to end or to start the momentum again.
 */

static bool is_shared(const sti_FlatPile *pile)
{
    return pile->ranks != NULL;
}

/* ---- numbers of all ranks ---------------------------------------------------------------------------------------- */

enum { SHARED_NUMBERS = 8 };

/* n numbers of every rank, added in the order of ranks; of `largest` the largest. */
static void combine(const sti_FlatPile *pile, double *x, int n, bool largest)
{
    if (!is_shared(pile)) return;
    const st_Ranks *ranks = pile->ranks;
    const sti_FlatShare *share = &pile->share;
    for (int k = 0; k <= ranks->size; k++)
        share->offset[k] = (int64_t)k * n * (int64_t)sizeof *x;
    memcpy(share->mine, x, (size_t)n * sizeof *x);
    ranks->gather(ranks->ctx, share->mine, share->all, share->offset);
    for (int e = 0; e < n; e++) {
        x[e] = share->all[e];
        for (int k = 1; k < ranks->size; k++) {
            const double other = share->all[(int64_t)k * n + e];
            x[e] = largest ? (other > x[e] ? other : x[e]) : x[e] + other;
        }
    }
}

/* Has a rank failed? Then all do: this one with its own reason, the others with whose it was. */
static st_Status agree(const sti_FlatPile *pile, st_Status status, st_Error *err)
{
    if (!is_shared(pile)) return status;
    double failed[2] = {(double)status, status == ST_OK ? -1 : (double)pile->ranks->rank};
    combine(pile, failed, 2, true);
    if (status != ST_OK || !(failed[1] >= 0)) return status;
    return sti_fail(err, (st_Status)(int)failed[0], "rank %d of %d could not go on: %s", (int)failed[1],
                    pile->ranks->size, st_status_name((st_Status)(int)failed[0]));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void free_route(sti_FlatPile *pile, sti_FlatRoute *route)
{
    STI_RELEASE(&pile->allocator, route->body, route->room);
    STI_RELEASE(&pile->allocator, route->start, route->start_room);
    if (route->on_device != NULL) device_free(pile, route->on_device, route->device_room, sizeof(int));
    route->on_device = NULL;
    route->device_room = 0;
}

static void free_share(sti_FlatPile *pile)
{
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    if (!is_shared(pile)) return;
    const int64_t n = (int64_t)pile->f.n_bodies + 1, size = pile->ranks->size;
    sti_free(a, share->owner, n, sizeof(int));
    sti_free(a, share->owned, n, sizeof(int));
    sti_free(a, share->used, n, sizeof *share->used);
    sti_free(a, share->owned_first, size + 1, sizeof *share->owned_first);
    sti_free(a, share->offset, size + 1, sizeof *share->offset);
    sti_free(a, share->sphere_body, (int64_t)pile->f.n_spheres + 1, sizeof(int));
    sti_free(a, share->mine, SHARED_NUMBERS, sizeof(double));
    sti_free(a, share->all, SHARED_NUMBERS * size, sizeof(double));
    sti_free(a, share->peer, size, sizeof(int));
    sti_free(a, share->post, size, sizeof *share->post);
    STI_RELEASE(a, share->pair, share->pair_room);
    STI_RELEASE(a, share->border, share->border_room);
    STI_RELEASE(a, share->bytes_out, share->bytes_out_room);
    STI_RELEASE(a, share->bytes_in, share->bytes_in_room);
    if (share->bytes_device != NULL) device_free(pile, share->bytes_device, share->bytes_device_room, sizeof(double));
    free_route(pile, &share->out);
    free_route(pile, &share->in);
    free_route(pile, &share->out_colour);
    free_route(pile, &share->in_colour);
}

/* Room for messages of so many numbers; what they held is lost. */
static st_Status make_message_room(sti_FlatPile *pile, int64_t out, int64_t in, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const int64_t both = out > in ? out : in;
    STI_TRY(STI_GROW(&pile->allocator, share->bytes_out, share->bytes_out_room, out + 1, err));
    STI_TRY(STI_GROW(&pile->allocator, share->bytes_in, share->bytes_in_room, in + 1, err));
    if (both < share->bytes_device_room) return ST_OK;
    if (share->bytes_device != NULL) device_free(pile, share->bytes_device, share->bytes_device_room, sizeof(double));
    share->bytes_device_room = both + both / 4 + 64;
    share->bytes_device = (double *)device_alloc(pile, share->bytes_device_room, sizeof(double));
    if (share->bytes_device != NULL) return ST_OK;
    share->bytes_device_room = 0;
    return out_of_memory(pile, pile->f.n_contacts, err);
}

static st_Status make_share(sti_FlatPile *pile, const sti_FlatDef *def, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    const int64_t n = (int64_t)def->n_bodies + 1, size = pile->ranks->size;
    share->owner = (int *)sti_alloc(a, n, sizeof(int));
    share->owned = (int *)sti_alloc(a, n, sizeof(int));
    share->used = (unsigned long long *)sti_alloc(a, n, sizeof *share->used);
    share->owned_first = (int64_t *)sti_alloc(a, size + 1, sizeof *share->owned_first);
    share->offset = (int64_t *)sti_alloc(a, size + 1, sizeof *share->offset);
    share->sphere_body = (int *)sti_alloc(a, (int64_t)def->n_spheres + 1, sizeof(int));
    share->mine = (double *)sti_alloc(a, SHARED_NUMBERS, sizeof(double));
    share->all = (double *)sti_alloc(a, SHARED_NUMBERS * size, sizeof(double));
    share->peer = (int *)sti_alloc(a, size, sizeof(int));
    share->post = (st_RankMessage *)sti_alloc(a, size, sizeof *share->post);
    STI_TRY(make_message_room(pile, 6 * n, 6 * n, err));
    share->owner_device = take_ints(pile, &pile->model_blocks, n);
    share->owned_device = take_ints(pile, &pile->model_blocks, n);
    if (share->owner == NULL || share->owned == NULL || share->used == NULL || share->owned_first == NULL ||
        share->offset == NULL || share->sphere_body == NULL || share->mine == NULL || share->all == NULL ||
        share->peer == NULL || share->post == NULL || pile->model_blocks.failed)
        return out_of_memory(pile, 0, err);
    memcpy(share->sphere_body, def->sphere_body, (size_t)def->n_spheres * sizeof(int));
    pile->f.owner = share->owner_device;
    pile->f.rank = pile->ranks->rank;
    return ST_OK;
}

/* ---- who owns what ----------------------------------------------------------------------------------------------- */

/* After share->owner was set. */
static void put_owners(sti_FlatPile *pile)
{
    sti_FlatShare *share = &pile->share;
    const int n = pile->f.n_bodies, size = pile->ranks->size;
    memset(share->owned_first, 0, (size_t)(size + 1) * sizeof *share->owned_first);
    for (int b = 0; b < n; b++)
        share->owned_first[share->owner[b] + 1]++;
    for (int k = 0; k < size; k++)
        share->owned_first[k + 1] += share->owned_first[k];
    for (int b = 0; b < n; b++) /* owned_first[k] runs to the end of k's bodies, which is where it began in k + 1 */
        share->owned[share->owned_first[share->owner[b]]++] = b;
    for (int k = size; k > 0; k--)
        share->owned_first[k] = share->owned_first[k - 1];
    share->owned_first[0] = 0;
    device_put(pile, share->owner_device, share->owner, n * (int64_t)sizeof(int));
    device_put(pile, share->owned_device, share->owned, n * (int64_t)sizeof(int));
    share->since = 0;
}

static st_Status share_out(sti_FlatPile *pile, const double *q, const int *weight, st_Error *err)
{
    STI_TRY(sti_partition(q, weight, pile->f.n_bodies, pile->ranks->size, pile->share.owner, &pile->allocator, err));
    put_owners(pile);
    return ST_OK;
}

/* ---- who is told what -------------------------------------------------------------------------------------------- */

static int compare_border(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* Sorted, and each once; returns how many. */
static int64_t tidy_border(uint64_t *border, int64_t n)
{
    int64_t kept = 0;
    qsort(border, (size_t)n, sizeof *border, compare_border);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || border[i] != border[i - 1]) border[kept++] = border[i];
    return kept;
}

static st_Status route_room(sti_FlatPile *pile, sti_FlatRoute *route, int64_t n, int groups, st_Error *err)
{
    const int64_t starts = (int64_t)groups * pile->share.n_peers + 1;
    route->n_groups = groups;
    STI_TRY(STI_GROW(&pile->allocator, route->body, route->room, n + 1, err));
    STI_TRY(STI_GROW(&pile->allocator, route->start, route->start_room, starts, err));
    if (n < route->device_room) return ST_OK;
    if (route->on_device != NULL) device_free(pile, route->on_device, route->device_room, sizeof(int));
    route->device_room = n + n / 4 + 64;
    route->on_device = (int *)device_alloc(pile, route->device_room, sizeof(int));
    if (route->on_device != NULL) return ST_OK;
    route->device_room = 0;
    return out_of_memory(pile, pile->f.n_contacts, err);
}

/* The bodies at one side of the border, sorted by peer and number: one group. */
static st_Status fill_route(sti_FlatPile *pile, sti_FlatRoute *route, const uint64_t *border, int64_t n, st_Error *err)
{
    int p = 0;
    STI_TRY(route_room(pile, route, n, 1, err));
    for (int64_t i = 0; i < n; i++) {
        for (; pile->share.peer[p] != (int)(border[i] >> 32); p++)
            route->start[p + 1] = (int)i;
        route->body[i] = (int)(uint32_t)border[i];
    }
    for (route->start[0] = 0; p < pile->share.n_peers; p++)
        route->start[p + 1] = (int)n;
    device_put(pile, route->on_device, route->body, n * (int64_t)sizeof(int));
    return ST_OK;
}

/* A contact with a body of another rank is at that rank, too: both know which bodies of each the other needs. */
static st_Status find_border(sti_FlatPile *pile, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const sti_Flat *f = &pile->f;
    const int64_t n = f->n_contacts;
    int64_t ends = 0;
    STI_TRY(STI_GROW(&pile->allocator, share->pair, share->pair_room, 2 * n + 1, err));
    device_get(pile, share->pair, f->found.a, n * (int64_t)sizeof(int));
    device_get(pile, share->pair + n, f->found.b, n * (int64_t)sizeof(int));
    for (int64_t c = 0; c < n; c++)
        ends += share->pair[n + c] >= 0 && share->owner[share->pair[c]] != share->owner[share->pair[n + c]];
    STI_TRY(STI_GROW(&pile->allocator, share->border, share->border_room, 2 * ends + 1, err));
    uint64_t *out = share->border, *in = share->border + ends;
    ends = 0;
    for (int64_t c = 0; c < n; c++) {
        int mine = share->pair[c], theirs = share->pair[n + c];
        if (theirs < 0 || share->owner[mine] == share->owner[theirs]) continue;
        if (share->owner[mine] != f->rank) STI_EXCHANGE(int, mine, theirs);
        const uint64_t peer = (uint64_t)share->owner[theirs] << 32;
        out[ends] = peer | (uint32_t)mine;
        in[ends++] = peer | (uint32_t)theirs;
    }
    const int64_t n_out = tidy_border(out, ends), n_in = tidy_border(in, ends);
    share->n_peers = 0;
    for (int64_t i = 0; i < n_out; i++)
        if (i == 0 || out[i] >> 32 != out[i - 1] >> 32) share->peer[share->n_peers++] = (int)(out[i] >> 32);
    STI_TRY(fill_route(pile, &share->out, out, n_out, err));
    STI_TRY(fill_route(pile, &share->in, in, n_in, err));
    return make_message_room(pile, 6 * n_out, 6 * n_in, err);
}

/* Of the border bodies, those that have a contact of a colour: a group for each. */
static st_Status split_by_colours(sti_FlatPile *pile, const sti_FlatRoute *from, sti_FlatRoute *to, st_Error *err)
{
    const sti_FlatShare *share = &pile->share;
    const int peers = share->n_peers;
    int64_t n = 0;
    for (int i = 0; i < from->start[peers]; i++)
        n += __builtin_popcountll(share->used[from->body[i]]);
    STI_TRY(route_room(pile, to, n, STI_FLAT_COLOURS, err));
    n = 0;
    for (int colour = 0; colour < STI_FLAT_COLOURS; colour++)
        for (int p = 0; p < peers; p++) {
            to->start[colour * peers + p] = (int)n;
            for (int i = from->start[p]; i < from->start[p + 1]; i++)
                if (((share->used[from->body[i]] >> colour) & 1) != 0) to->body[n++] = from->body[i];
        }
    to->start[STI_FLAT_COLOURS * peers] = (int)n;
    device_put(pile, to->on_device, to->body, n * (int64_t)sizeof(int));
    return ST_OK;
}

static st_Status route_colours(sti_FlatPile *pile, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const int *first = pile->f.colour_first;
    double colours = 0; /* the most of any rank */
    for (int k = 0; k < STI_FLAT_COLOURS; k++)
        if (first[k + 1] > first[k]) colours = k + 1;
    combine(pile, &colours, 1, true);
    share->n_colours = (int)colours;
    if (first[STI_FLAT_COLOURS] > first[STI_FLAT_COLOURS - 1]) {
        int body = 0;
        device_get(pile, &body, pile->f.swept.a + first[STI_FLAT_COLOURS - 1], (int64_t)sizeof body);
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "body number %d, or one that it touches, has more than %d contacts, which are swept one after "
                        "another: not on %d ranks; use one",
                        body + 1, STI_FLAT_COLOURS - 1, pile->ranks->size);
    }
    device_get(pile, share->used, pile->f.used, (int64_t)pile->f.n_bodies * (int64_t)sizeof *share->used);
    STI_TRY(split_by_colours(pile, &share->out, &share->out_colour, err));
    return split_by_colours(pile, &share->in, &share->in_colour, err);
}

/* ---- telling it -------------------------------------------------------------------------------------------------- */

/* Of one group, 8 `per_body` bytes of each: what is in bytes_device goes out, and what comes in is there after it. */
static void post(sti_FlatPile *pile, const sti_FlatRoute *out, const sti_FlatRoute *in, int group, int64_t per_body)
{
    sti_FlatShare *share = &pile->share;
    const int peers = share->n_peers, *from = out->start + group * peers, *to = in->start + group * peers;
    int n = 0;
    device_get(pile, share->bytes_out, share->bytes_device,
               (from[peers] - from[0]) * per_body * (int64_t)sizeof(double));
    for (int p = 0; p < peers; p++) {
        const int64_t n_send = (from[p + 1] - from[p]) * per_body, n_receive = (to[p + 1] - to[p]) * per_body;
        if (n_send == 0 && n_receive == 0) continue;
        st_RankMessage *message = &share->post[n++];
        message->peer = share->peer[p];
        message->send = share->bytes_out + (from[p] - from[0]) * per_body;
        message->receive = share->bytes_in + (to[p] - to[0]) * per_body;
        message->n_send = n_send * (int64_t)sizeof(double);
        message->n_receive = n_receive * (int64_t)sizeof(double);
    }
    pile->ranks->exchange(pile->ranks->ctx, share->post, n);
    device_put(pile, share->bytes_device, share->bytes_in, (to[peers] - to[0]) * per_body * (int64_t)sizeof(double));
}

static void tell_velocities(sti_FlatPile *pile, const sti_FlatRoute *out, const sti_FlatRoute *in, int group)
{
    sti_Flat *f = &pile->f;
    const int peers = pile->share.n_peers, *from = out->start + group * peers, *to = in->start + group * peers;
    f->message = pile->share.bytes_device;
    f->list = out->on_device + from[0];
    RUN(pile, flat_pack, 0, from[peers] - from[0]);
    post(pile, out, in, group, 6);
    f->list = in->on_device + to[0];
    RUN(pile, flat_unpack, 0, to[peers] - to[0]);
}

/* Bids and colours of border bodies. */
static void tell_masks(sti_FlatPile *pile)
{
    sti_Flat *f = &pile->f;
    const sti_FlatShare *share = &pile->share;
    if (!is_shared(pile)) return;
    f->masks = (unsigned long long *)share->bytes_device;
    f->list = share->out.on_device;
    RUN(pile, flat_pack_masks, 0, share->out.start[share->n_peers]);
    post(pile, &share->out, &share->in, 0, 2);
    f->list = share->in.on_device;
    RUN(pile, flat_unpack_masks, 0, share->in.start[share->n_peers]);
}

/* Velocities of border bodies: all of them, or those of a colour. */
static void tell_border(sti_FlatPile *pile)
{
    if (is_shared(pile)) tell_velocities(pile, &pile->share.out, &pile->share.in, 0);
}

static void tell_colour(sti_FlatPile *pile, int colour)
{
    if (is_shared(pile) && colour < pile->share.n_colours)
        tell_velocities(pile, &pile->share.out_colour, &pile->share.in_colour, colour);
}

/* The velocities of all bodies, to all. */
static void tell_all(sti_FlatPile *pile)
{
    sti_FlatShare *share = &pile->share;
    sti_Flat *f = &pile->f;
    if (!is_shared(pile)) return;
    const st_Ranks *ranks = pile->ranks;
    const int64_t *first = share->owned_first, n = first[f->rank + 1] - first[f->rank];
    for (int k = 0; k <= ranks->size; k++)
        share->offset[k] = first[k] * 6 * (int64_t)sizeof(double);
    f->message = share->bytes_device;
    f->list = share->owned_device + first[f->rank];
    RUN(pile, flat_pack, 0, n);
    device_get(pile, share->bytes_out, share->bytes_device, n * 6 * (int64_t)sizeof(double));
    ranks->gather(ranks->ctx, share->bytes_out, share->bytes_in, share->offset);
    device_put(pile, share->bytes_device, share->bytes_in, share->offset[ranks->size]);
    f->list = share->owned_device;
    RUN(pile, flat_unpack, 0, f->n_bodies);
}

/* The contacts that are counted here, of all ranks, to all: sorted by their spheres, as a single rank has them. */
static st_Status gather_contacts(sti_FlatPile *pile, sti_FlatContact *mine, int64_t n, sti_FlatContact *out,
                                 st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    const st_Ranks *ranks = pile->ranks;
    sti_FlatShare *share = &pile->share;
    const int64_t spheres = (int64_t)pile->f.n_spheres + 1;
    int64_t kept = 0;
    for (int64_t c = 0; c < n; c++)
        if (share->owner[share->sphere_body[mine[c].sphere]] == ranks->rank) mine[kept++] = mine[c];
    double total = (double)kept;
    combine(pile, &total, 1, false);
    const int64_t n_all = (int64_t)total;
    sti_FlatContact *all = (sti_FlatContact *)sti_alloc(a, n_all + 1, sizeof *all);
    int *place = (int *)sti_alloc(a, spheres + 1, sizeof *place);
    const st_Status status = agree(pile, all != NULL && place != NULL ? ST_OK : out_of_memory(pile, n_all, err), err);
    if (status == ST_OK) {
        share->mine[0] = (double)kept;
        for (int k = 0; k <= ranks->size; k++)
            share->offset[k] = k * (int64_t)sizeof(double);
        ranks->gather(ranks->ctx, share->mine, share->all, share->offset);
        for (int k = 0; k < ranks->size; k++)
            share->offset[k + 1] = share->offset[k] + (int64_t)share->all[k] * (int64_t)sizeof *mine;
        ranks->gather(ranks->ctx, mine, all, share->offset);
    }
    if (status == ST_OK && out != NULL) {
        for (int64_t c = 0; c < n_all; c++)
            place[all[c].sphere + 1]++;
        for (int64_t s = 0; s < spheres; s++)
            place[s + 1] += place[s];
        for (int64_t c = 0; c < n_all; c++)
            out[place[all[c].sphere]++] = all[c];
    }
    sti_free(a, all, n_all + 1, sizeof *all);
    sti_free(a, place, spheres + 1, sizeof *place);
    return status;
}

/* ---- sharing out anew -------------------------------------------------------------------------------------------- */

/* A contact of the last step, on its way to the owners of its bodies. */
typedef struct sti_FlatMoved {
    int sphere, other, colour, feature;
    double r[3], m[3];
} sti_FlatMoved;

/* What a rank has of its old contacts while it sends them away: host arrays of the last step's. */
typedef struct sti_FlatOld {
    int *first, *other, *colour, *feature;
    double *r, *m;
    sti_FlatMoved *out, *in;
    int64_t *n_out, *n_in; /* by rank */
    int64_t n, spheres, room_out, room_in;
} sti_FlatOld;

static void free_old(sti_FlatPile *pile, sti_FlatOld *old)
{
    const st_Allocator *a = &pile->allocator;
    sti_free(a, old->first, old->spheres + 1, sizeof(int));
    sti_free(a, old->other, old->n + 1, sizeof(int));
    sti_free(a, old->colour, old->n + 1, sizeof(int));
    sti_free(a, old->feature, old->n + 1, sizeof(int));
    sti_free(a, old->r, 3 * old->n + 1, sizeof(double));
    sti_free(a, old->m, 3 * old->n + 1, sizeof(double));
    sti_free(a, old->n_out, pile->ranks->size, sizeof *old->n_out);
    sti_free(a, old->n_in, pile->ranks->size, sizeof *old->n_in);
    STI_RELEASE(a, old->out, old->room_out);
    STI_RELEASE(a, old->in, old->room_in);
}

static st_Status get_old(sti_FlatPile *pile, sti_FlatOld *old, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    const sti_Flat *f = &pile->f;
    const int64_t n = f->n_contacts;
    old->n = n;
    old->spheres = f->n_spheres;
    old->first = (int *)sti_alloc(a, old->spheres + 1, sizeof(int));
    old->other = (int *)sti_alloc(a, n + 1, sizeof(int));
    old->colour = (int *)sti_alloc(a, n + 1, sizeof(int));
    old->feature = (int *)sti_alloc(a, n + 1, sizeof(int));
    old->r = (double *)sti_alloc(a, 3 * n + 1, sizeof(double));
    old->m = (double *)sti_alloc(a, 3 * n + 1, sizeof(double));
    old->n_out = (int64_t *)sti_alloc(a, pile->ranks->size, sizeof *old->n_out);
    old->n_in = (int64_t *)sti_alloc(a, pile->ranks->size, sizeof *old->n_in);
    if (old->first == NULL || old->other == NULL || old->colour == NULL || old->feature == NULL || old->r == NULL ||
        old->m == NULL || old->n_out == NULL || old->n_in == NULL)
        return out_of_memory(pile, n, err);
    device_get(pile, old->first, f->first_old, (old->spheres + 1) * (int64_t)sizeof(int));
    device_get(pile, old->other, f->other_old, n * (int64_t)sizeof(int));
    device_get(pile, old->colour, f->colour_old, n * (int64_t)sizeof(int));
    if (f->shaped) device_get(pile, old->feature, f->feature_old, n * (int64_t)sizeof(int));
    for (int k = 0; k < 3; k++) {
        device_get(pile, old->r + k * n, f->r_old + k * f->capacity, n * (int64_t)sizeof(double));
        if (f->rolling) device_get(pile, old->m + k * n, f->m_old + k * f->capacity, n * (int64_t)sizeof(double));
    }
    return ST_OK;
}

/* To whom old contact c of sphere s goes: the new owners of its bodies, one or two. */
static int new_homes(const sti_FlatShare *share, const sti_FlatOld *old, int s, int c, int home[2])
{
    const int other = old->other[c];
    home[0] = share->owner[share->sphere_body[s]];
    home[1] = other >= 0 ? share->owner[share->sphere_body[other]] : home[0];
    return home[0] == home[1] ? 1 : 2;
}

/* The contacts that this rank counted, sorted by where they go (share->owner: the new ones; `was`: before). */
static st_Status sort_old(sti_FlatPile *pile, sti_FlatOld *old, const int *was, st_Error *err)
{
    const sti_FlatShare *share = &pile->share;
    const int size = pile->ranks->size;
    int home[2];
    int64_t all = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int s = 0; s < old->spheres; s++) {
            if (was[share->sphere_body[s]] != pile->f.rank) continue;
            for (int c = old->first[s]; c < old->first[s + 1]; c++)
                for (int k = new_homes(share, old, s, c, home) - 1; k >= 0; k--) {
                    const int64_t at = old->n_out[home[k]]++;
                    if (pass == 0) continue;
                    sti_FlatMoved *to = &old->out[at];
                    to->sphere = s, to->other = old->other[c], to->colour = old->colour[c];
                    to->feature = old->feature[c];
                    for (int e = 0; e < 3; e++)
                        to->r[e] = old->r[e * old->n + c], to->m[e] = old->m[e * old->n + c];
                }
        }
        if (pass == 1) break;
        for (int k = 0; k < size; k++) { /* counts become places */
            const int64_t n = old->n_out[k];
            old->n_out[k] = all;
            all += n;
        }
        STI_TRY(STI_GROW(&pile->allocator, old->out, old->room_out, all + 1, err));
    }
    for (int k = size - 1; k >= 0; k--) /* they ran to their ends: counts again */
        old->n_out[k] -= k > 0 ? old->n_out[k - 1] : 0;
    return ST_OK;
}

/* old->out goes where it belongs; old->in is what this rank gets. */
static st_Status send_old(sti_FlatPile *pile, sti_FlatOld *old, st_Error *err)
{
    const st_Ranks *ranks = pile->ranks;
    st_RankMessage *message = pile->share.post;
    int64_t from = 0, to = 0;
    int n = 0;
    for (int k = 0; k < ranks->size; k++) {
        if (k == ranks->rank) continue;
        const st_RankMessage count = {k, &old->n_out[k], sizeof *old->n_out, &old->n_in[k], sizeof *old->n_in};
        message[n++] = count;
    }
    ranks->exchange(ranks->ctx, message, n);
    old->n_in[ranks->rank] = old->n_out[ranks->rank];
    for (int k = 0; k < ranks->size; k++)
        to += old->n_in[k];
    STI_TRY(agree(pile, STI_GROW(&pile->allocator, old->in, old->room_in, to + 1, err), err));
    to = n = 0;
    for (int k = 0; k < ranks->size; k++) {
        const int64_t size = (int64_t)sizeof *old->in;
        const st_RankMessage load = {k, old->out + from, old->n_out[k] * size, old->in + to, old->n_in[k] * size};
        if (k != ranks->rank && old->n_out[k] + old->n_in[k] > 0) message[n++] = load;
        if (k == ranks->rank && old->n_in[k] > 0) memcpy(old->in + to, old->out + from, (size_t)load.n_send);
        from += old->n_out[k];
        to += old->n_in[k];
    }
    ranks->exchange(ranks->ctx, message, n);
    return ST_OK;
}

/* What came in is the last step's contacts of this rank now, sorted by their spheres. */
static st_Status put_old(sti_FlatPile *pile, sti_FlatOld *old, st_Error *err)
{
    sti_Flat *f = &pile->f;
    int64_t n = 0;
    for (int k = 0; k < pile->ranks->size; k++)
        n += old->n_in[k];
    STI_TRY(make_room(pile, n, err));
    const sti_FlatOld was = *old; /* of other sizes */
    sti_free(&pile->allocator, was.other, was.n + 1, sizeof(int));
    sti_free(&pile->allocator, was.colour, was.n + 1, sizeof(int));
    sti_free(&pile->allocator, was.feature, was.n + 1, sizeof(int));
    sti_free(&pile->allocator, was.r, 3 * was.n + 1, sizeof(double));
    sti_free(&pile->allocator, was.m, 3 * was.n + 1, sizeof(double));
    old->n = n;
    old->other = (int *)sti_alloc(&pile->allocator, n + 1, sizeof(int));
    old->colour = (int *)sti_alloc(&pile->allocator, n + 1, sizeof(int));
    old->feature = (int *)sti_alloc(&pile->allocator, n + 1, sizeof(int));
    old->r = (double *)sti_alloc(&pile->allocator, 3 * n + 1, sizeof(double));
    old->m = (double *)sti_alloc(&pile->allocator, 3 * n + 1, sizeof(double));
    if (old->other == NULL || old->colour == NULL || old->feature == NULL || old->r == NULL || old->m == NULL)
        return out_of_memory(pile, n, err);
    memset(old->first, 0, (size_t)(old->spheres + 1) * sizeof(int));
    for (int64_t i = 0; i < n; i++)
        old->first[old->in[i].sphere + 1]++;
    for (int s = 0; s < old->spheres; s++)
        old->first[s + 1] += old->first[s];
    for (int64_t i = n - 1; i >= 0; i--) { /* from the back: first[s + 1] runs down to where s begins */
        const sti_FlatMoved *from = &old->in[i];
        const int at = --old->first[from->sphere + 1];
        old->other[at] = from->other;
        old->colour[at] = from->colour;
        old->feature[at] = from->feature;
        for (int e = 0; e < 3; e++)
            old->r[e * n + at] = from->r[e], old->m[e * n + at] = from->m[e];
    }
    for (int s = 0; s < old->spheres; s++)
        old->first[s] = old->first[s + 1];
    old->first[old->spheres] = (int)n;
    device_put(pile, f->first_old, old->first, (old->spheres + 1) * (int64_t)sizeof(int));
    device_put(pile, f->other_old, old->other, n * (int64_t)sizeof(int));
    device_put(pile, f->colour_old, old->colour, n * (int64_t)sizeof(int));
    if (f->shaped) device_put(pile, f->feature_old, old->feature, n * (int64_t)sizeof(int));
    for (int k = 0; k < 3; k++) {
        put_doubles(pile, f->r_old + k * f->capacity, old->r + k * n, n);
        if (f->rolling) put_doubles(pile, f->m_old + k * f->capacity, old->m + k * n, n);
    }
    f->n_contacts = (int)n;
    return ST_OK;
}

/* Bodies that this rank owns weigh 1 and what they have of contacts; all ranks know all weights after it. */
static void weigh(sti_FlatPile *pile, const sti_FlatOld *old, int *weight, int *mine)
{
    const sti_FlatShare *share = &pile->share;
    const int64_t *first = share->owned_first;
    for (int b = 0; b < pile->f.n_bodies; b++)
        weight[b] = 1;
    for (int s = 0; s < old->spheres; s++)
        weight[share->sphere_body[s]] += old->first[s + 1] - old->first[s];
    for (int k = 0; k <= pile->ranks->size; k++)
        share->offset[k] = first[k] * (int64_t)sizeof(int);
    for (int64_t i = first[pile->f.rank]; i < first[pile->f.rank + 1]; i++)
        mine[i] = weight[share->owned[i]];
    pile->ranks->gather(pile->ranks->ctx, mine + first[pile->f.rank], weight, share->offset);
    for (int i = 0; i < pile->f.n_bodies; i++)
        mine[share->owned[i]] = weight[i];
}

static st_Status share_out_anew(sti_FlatPile *pile, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    const int64_t n = (int64_t)pile->f.n_bodies + 1;
    sti_FlatShare *share = &pile->share;
    sti_FlatOld old = {0};
    double *q = (double *)sti_alloc(a, 7 * n, sizeof *q);
    int *was = (int *)sti_alloc(a, 3 * n, sizeof *was), *weight = was != NULL ? was + n : NULL;
    st_Status status = get_old(pile, &old, err);
    if (status == ST_OK && (q == NULL || was == NULL)) status = out_of_memory(pile, old.n, err);
    status = agree(pile, status, err);
    if (status == ST_OK) {
        device_get(pile, q, pile->f.q, 7 * (n - 1) * (int64_t)sizeof *q);
        memcpy(was, share->owner, (size_t)(n - 1) * sizeof *was);
        weigh(pile, &old, weight, weight + n);
        status = share_out(pile, q, weight + n, err);
        if (status == ST_OK) status = sort_old(pile, &old, was, err);
        status = agree(pile, status, err);
    }
    if (status == ST_OK) status = send_old(pile, &old, err);
    if (status == ST_OK) status = agree(pile, put_old(pile, &old, err), err);
    free_old(pile, &old);
    sti_free(a, q, 7 * n, sizeof *q);
    sti_free(a, was, 3 * n, sizeof *was);
    return status;
}

/* Has one rank much more to do than the others on average? */
static st_Status balance(sti_FlatPile *pile, st_Error *err)
{
    if (!is_shared(pile) || pile->share.since++ < STI_FLAT_BALANCE_EVERY) return ST_OK;
    double load = pile->f.n_contacts, most = load;
    combine(pile, &load, 1, false);
    combine(pile, &most, 1, true);
    pile->share.since = 0;
    return most * pile->ranks->size > STI_FLAT_IMBALANCE * load ? share_out_anew(pile, err) : ST_OK;
}
