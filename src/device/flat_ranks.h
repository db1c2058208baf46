/* device/flat_ranks.h -- messages between the ranks of a flat pile (stiction/ranks.h). Included by flat_step.h.
 *
 * A rank has its own bodies, copies of the bodies of others that its own may touch, and all bodies without mass. It
 * finds, colours and sweeps the contacts of its own bodies (ownership: flat_share.h). A contact between bodies of
 * two ranks is at both. Owners send the data that a rank does not compute:
 *
 *     colours    in each round, the bids and the colours of bodies at the border
 *     sweeps     after each colour, the velocities of border bodies that have a contact of that colour
 *     the end    the velocities of all bodies of which the other has a copy
 *
 * So both copies of a contact see the same velocities and get the same impulse: the iteration is that of a single rank,
 * to the bit. Sums over contacts are added rank by rank. Their last digits depend on the number of ranks; they only
 * decide when sweeps end and when the momentum starts again.
 *
 * Bodies and pieces have local numbers, ascending as in the model; bodies without mass come first. So all ranks list
 * the bodies of a message in the same order without sending numbers.
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

/* Has a rank failed? Then all do: this one with its own reason, the others with the rank that failed. */
static st_Status agree_all(const st_Ranks *ranks, st_Status status, st_Error *err)
{
    char mine = (char)status, all[STI_FLAT_MOST_RANKS];
    int64_t first[STI_FLAT_MOST_RANKS + 1];
    for (int k = 0; k <= ranks->size; k++)
        first[k] = k;
    ranks->gather(ranks->ctx, &mine, all, first);
    if (status != ST_OK) return status;
    for (int k = 0; k < ranks->size; k++)
        if (all[k] != ST_OK)
            return sti_fail(err, (st_Status)all[k], "rank %d of %d could not go on: %s", k, ranks->size,
                            st_status_name((st_Status)all[k]));
    return ST_OK;
}

static st_Status agree(const sti_FlatPile *pile, st_Status status, st_Error *err)
{
    return is_shared(pile) ? agree_all(pile->ranks, status, err) : status;
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
    const int64_t size = pile->ranks->size;
    STI_RELEASE(a, share->id, share->id_room);
    STI_RELEASE(a, share->owner, share->owner_room);
    STI_RELEASE(a, share->piece_id, share->piece_id_room);
    STI_RELEASE(a, share->piece_body, share->piece_body_room);
    STI_RELEASE(a, share->sphere_body, share->sphere_body_room);
    STI_RELEASE(a, share->used, share->used_room);
    STI_RELEASE(a, share->coupled, share->coupled_room);
    STI_RELEASE(a, share->coupled_place, share->coupled_place_room);
    STI_RELEASE(a, share->coupled_row, share->coupled_row_room);
    STI_RELEASE(a, share->coupled_u, share->coupled_u_room);
    sti_free(a, share->cut, size, sizeof *share->cut);
    sti_free(a, share->offset, size + 1, sizeof *share->offset);
    sti_free(a, share->mine, SHARED_NUMBERS, sizeof(double));
    sti_free(a, share->all, SHARED_NUMBERS * size, sizeof(double));
    sti_free(a, share->peer, size, sizeof(int));
    sti_free(a, share->post, size, sizeof *share->post);
    STI_RELEASE(a, share->pair, share->pair_room);
    STI_RELEASE(a, share->border, share->border_room);
    STI_RELEASE(a, share->bytes_out, share->bytes_out_room);
    STI_RELEASE(a, share->bytes_in, share->bytes_in_room);
    if (share->bytes_device != NULL) device_free(pile, share->bytes_device, share->bytes_device_room, sizeof(double));
    free_route(pile, &share->out_near);
    free_route(pile, &share->in_near);
    free_route(pile, &share->out);
    free_route(pile, &share->in);
    free_route(pile, &share->out_colour);
    free_route(pile, &share->in_colour);
}

/* Memory for messages of so many numbers; their old contents are lost. */
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

static st_Status make_share(sti_FlatPile *pile, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    const int64_t size = pile->ranks->size;
    share->cut = (sti_Cut *)sti_alloc(a, size, sizeof *share->cut);
    share->offset = (int64_t *)sti_alloc(a, size + 1, sizeof *share->offset);
    share->mine = (double *)sti_alloc(a, SHARED_NUMBERS, sizeof(double));
    share->all = (double *)sti_alloc(a, SHARED_NUMBERS * size, sizeof(double));
    share->peer = (int *)sti_alloc(a, size, sizeof(int));
    share->post = (st_RankMessage *)sti_alloc(a, size, sizeof *share->post);
    pile->f.rank = pile->ranks->rank;
    return share->cut != NULL && share->offset != NULL && share->mine != NULL && share->all != NULL &&
                   share->peer != NULL && share->post != NULL
               ? ST_OK
               : out_of_memory(pile, 0, err);
}

/* ---- which rank receives which data ------------------------------------------------------------------------------ */

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

/* Do owners of two ranks share contact c? */
static bool is_at_border(const sti_FlatShare *share, int64_t n, int64_t c)
{
    const int a = share->pair[c], b = share->pair[n + c];
    return b >= 0 && share->owner[a] >= 0 && share->owner[b] >= 0 && share->owner[a] != share->owner[b];
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
        ends += is_at_border(share, n, c);
    STI_TRY(STI_GROW(&pile->allocator, share->border, share->border_room, 2 * ends + 1, err));
    uint64_t *out = share->border, *in = share->border + ends;
    ends = 0;
    for (int64_t c = 0; c < n; c++) {
        int mine = share->pair[c], theirs = share->pair[n + c];
        if (!is_at_border(share, n, c)) continue;
        if (share->owner[mine] != f->rank) STI_EXCHANGE(int, mine, theirs);
        const uint64_t peer = (uint64_t)share->owner[theirs] << 32;
        out[ends] = peer | (uint32_t)mine;
        in[ends++] = peer | (uint32_t)theirs;
    }
    const int64_t n_out = tidy_border(out, ends), n_in = tidy_border(in, ends);
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
                        share->id[body] + 1, STI_FLAT_COLOURS - 1, pile->ranks->size);
    }
    STI_TRY(STI_GROW(&pile->allocator, share->used, share->used_room, (int64_t)pile->f.n_bodies + 1, err));
    device_get(pile, share->used, pile->f.used, (int64_t)pile->f.n_bodies * (int64_t)sizeof *share->used);
    STI_TRY(split_by_colours(pile, &share->out, &share->out_colour, err));
    return split_by_colours(pile, &share->in, &share->in_colour, err);
}

/* ---- telling it -------------------------------------------------------------------------------------------------- */

/* Sends 8 `per_body` bytes of each body of a group from bytes_device; the received bytes follow them there. */
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
    /* cppcheck-suppress invalidPointerCast ; one block for several arrays */
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

/* Velocities of all bodies that two ranks have. */
static void tell_near(sti_FlatPile *pile)
{
    if (is_shared(pile)) tell_velocities(pile, &pile->share.out_near, &pile->share.in_near, 0);
}

/* ---- to rank 0, and from it ----------------------------------------------------------------------------------------
 */

/* Every rank has n rows of `size` bytes for rank 0, which gets those of one rank after another: `take` is called with
 * them, also with its own. */
static st_Status to_first(sti_FlatPile *pile, const void *rows, int64_t n, size_t size,
                          void (*take_rows)(void *ctx, const void *rows, int64_t n), void *ctx, st_Error *err)
{
    const st_Ranks *ranks = pile->ranks;
    sti_FlatShare *share = &pile->share;
    int64_t most = 0;
    share->mine[0] = (double)n;
    for (int k = 0; k <= ranks->size; k++)
        share->offset[k] = k * (int64_t)sizeof(double);
    ranks->gather(ranks->ctx, share->mine, share->all, share->offset);
    for (int k = 1; k < ranks->size; k++)
        if ((int64_t)share->all[k] > most) most = (int64_t)share->all[k];
    const int64_t room = most * ((int64_t)size + (int64_t)sizeof(double) - 1) / (int64_t)sizeof(double);
    st_Status status = ST_OK;
    if (ranks->rank == 0) status = STI_GROW(&pile->allocator, share->bytes_in, share->bytes_in_room, room + 1, err);
    status = agree(pile, status, err);
    for (int k = 1; k < ranks->size && status == ST_OK; k++) {
        const int64_t bytes = (int64_t)share->all[k] * (int64_t)size;
        const st_RankMessage get = {k, NULL, 0, share->bytes_in, bytes}, give = {0, rows, bytes, NULL, 0};
        const bool meet = bytes > 0 && (ranks->rank == 0 || ranks->rank == k);
        ranks->exchange(ranks->ctx, ranks->rank == 0 ? &get : &give, meet ? 1 : 0);
        if (ranks->rank == 0) take_rows(ctx, share->bytes_in, (int64_t)share->all[k]);
    }
    if (ranks->rank == 0 && status == ST_OK) take_rows(ctx, rows, n);
    return status;
}

/* The state of a body on its way. */
typedef struct sti_FlatState {
    int64_t id;
    double q[7], v[6];
} sti_FlatState;

typedef struct sti_FlatStates {
    int first;
    double *q, *v;
} sti_FlatStates;

static void take_states(void *ctx, const void *rows, int64_t n)
{
    const sti_FlatStates *to = (const sti_FlatStates *)ctx;
    const sti_FlatState *row = (const sti_FlatState *)rows;
    for (int64_t i = 0; i < n; i++) {
        memcpy(to->q + 7 * (row[i].id - to->first), row[i].q, sizeof row[i].q);
        memcpy(to->v + 6 * (row[i].id - to->first), row[i].v, sizeof row[i].v);
    }
}

/* The states of bodies first .. first + n - 1 of the model, from the arrays q and v of the device, to rank 0. */
static st_Status gather_state(sti_FlatPile *pile, const double *from_q, const double *from_v, int first, int n,
                              double *q, double *v, st_Error *err)
{
    const sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    const int64_t bodies = pile->f.n_bodies, room = 13 * bodies + 1;
    sti_FlatStates to = {first, q, v};
    int64_t kept = 0;
    double *here = (double *)sti_alloc(a, room, sizeof *here);
    sti_FlatState *row = (sti_FlatState *)sti_alloc(a, bodies + 1, sizeof *row);
    st_Status status = agree(pile, here != NULL && row != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    if (status == ST_OK) {
        device_get(pile, here, from_q, 7 * bodies * (int64_t)sizeof *here);
        device_get(pile, here + 7 * bodies, from_v, 6 * bodies * (int64_t)sizeof *here);
        for (int64_t b = 0; b < bodies; b++) {
            const int owner = share->owner[b] >= 0 ? share->owner[b] : 0;
            if (owner != pile->ranks->rank || share->id[b] < first || share->id[b] >= first + n) continue;
            row[kept].id = share->id[b];
            memcpy(row[kept].q, here + 7 * b, sizeof row->q);
            memcpy(row[kept++].v, here + 7 * bodies + 6 * b, sizeof row->v);
        }
        status = to_first(pile, row, kept, sizeof *row, take_states, &to, err);
    }
    sti_free(a, here, room, sizeof *here);
    sti_free(a, row, bodies + 1, sizeof *row);
    return status;
}

/* The state of all bodies of the model, which rank 0 has, to their owners. */
static st_Status scatter_state(sti_FlatPile *pile, const double *q, const double *v, st_Error *err)
{
    const st_Ranks *ranks = pile->ranks;
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    const int64_t bodies = pile->f.n_bodies;
    int64_t n = 0, most = share->n_everywhere;
    for (int64_t b = 0; b < bodies; b++)
        n += share->owner[b] == ranks->rank;
    share->mine[0] = (double)n;
    for (int k = 0; k <= ranks->size; k++)
        share->offset[k] = k * (int64_t)sizeof(double);
    ranks->gather(ranks->ctx, share->mine, share->all, share->offset);
    for (int k = 0; k < ranks->size; k++)
        if ((int64_t)share->all[k] > most) most = (int64_t)share->all[k];
    sti_FlatState *row = (sti_FlatState *)sti_alloc(a, most + 1, sizeof *row);
    int64_t *id = (int64_t *)sti_alloc(a, most + 1, sizeof *id);
    double *here = (double *)sti_alloc(a, 13 * bodies + 1, sizeof *here);
    const st_Status status =
        agree(pile, row != NULL && id != NULL && here != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    /* round 0: bodies without mass and those of rank 0; round k: those of rank k */
    for (int k = 0; k < ranks->size && status == ST_OK; k++) {
        const bool mine = ranks->rank == k;
        const int64_t count = k == 0 ? share->n_everywhere : (int64_t)share->all[k];
        int64_t asked = 0;
        for (int64_t b = 0; b < bodies && (k == 0 || mine); b++)
            if (share->owner[b] == (k == 0 ? -1 : k)) id[asked++] = share->id[b];
        const st_RankMessage ask = {0, id, count * (int64_t)sizeof *id, NULL, 0};
        const st_RankMessage hear = {k, NULL, 0, id, count * (int64_t)sizeof *id};
        const bool meet = k > 0 && count > 0 && (mine || ranks->rank == 0);
        ranks->exchange(ranks->ctx, mine ? &ask : &hear, meet ? 1 : 0);
        for (int64_t i = 0; i < count && ranks->rank == 0; i++) {
            row[i].id = id[i];
            memcpy(row[i].q, q + 7 * id[i], sizeof row->q);
            memcpy(row[i].v, v + 6 * id[i], sizeof row->v);
        }
        const st_RankMessage give = {k, row, count * (int64_t)sizeof *row, NULL, 0};
        const st_RankMessage get = {0, NULL, 0, row, count * (int64_t)sizeof *row};
        ranks->exchange(ranks->ctx, mine ? &get : &give, meet ? 1 : 0);
        if (k == 0) ranks->broadcast(ranks->ctx, row, count * (int64_t)sizeof *row);
        asked = 0;
        for (int64_t b = 0; b < bodies; b++) {
            const bool from_rows = (k == 0 && share->owner[b] < 0) || (k > 0 && mine && share->owner[b] == k);
            const bool from_own = k == 0 && ranks->rank == 0 && share->owner[b] == 0;
            if (!from_rows && !from_own) continue;
            const int64_t at = share->id[b];
            memcpy(here + 7 * b, from_own ? q + 7 * at : row[asked].q, sizeof row->q);
            memcpy(here + 7 * bodies + 6 * b, from_own ? v + 6 * at : row[asked].v, sizeof row->v);
            asked += from_rows;
        }
    }
    if (status == ST_OK) {
        put_doubles(pile, pile->f.q, here, 7 * bodies);
        put_doubles(pile, pile->f.v, here + 7 * bodies, 6 * bodies);
    }
    sti_free(a, row, most + 1, sizeof *row);
    sti_free(a, id, most + 1, sizeof *id);
    sti_free(a, here, 13 * bodies + 1, sizeof *here);
    return status;
}
