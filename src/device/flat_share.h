/* device/flat_share.h -- which rank has which bodies of a flat pile. Included by flat_step.h.
 *
 * Cuts divide space among ranks (partition.h), and the rank of a place owns the bodies there. A ball holds each piece
 * of a body, with room for several steps (flat_hold). If the ball touches the box around the balls of another rank,
 * that rank gets a copy of the body. When a piece leaves its ball, or the load is uneven, bodies are shared out again:
 *
 *     owners by cuts -> bodies and contacts move to new owners -> boxes of all ranks -> copies for neighbours
 *
 * A body moves as a row: its number, mass, inertia and state, and a row for each of its pieces.
 */

/* ---- rows ----------------------------------------------------------------------------------------------------------
 */

enum { STI_FLAT_COLUMNS = 12 };

typedef struct sti_FlatColumn {
    void *at; /* NULL: zeroes */
    int64_t size;
    bool here; /* on the host */
} sti_FlatColumn;

/* Bodies, or pieces, as columns of a table. */
typedef struct sti_FlatRows {
    sti_FlatColumn column[STI_FLAT_COLUMNS];
    int n_columns;
    int64_t n, size; /* rows, and bytes of one */
} sti_FlatRows;

static void add_column(sti_FlatRows *rows, const void *at, int64_t size, bool here)
{
    sti_FlatColumn *column = &rows->column[rows->n_columns++];
    column->at = (void *)(uintptr_t)at;
    column->size = size;
    column->here = here;
    rows->size += size;
}

/* The columns of bodies [0] and of pieces [1]. The first one is their number in the model; the second one of bodies is
 * 1/mass, of pieces the number of their body. */
static void list_rows(const sti_FlatPile *pile, sti_FlatRows rows[2])
{
    const sti_Flat *f = &pile->f;
    const sti_FlatShare *share = &pile->share;
    memset(rows, 0, 2 * sizeof *rows);
    rows[0].n = f->n_bodies;
    add_column(&rows[0], share->id, sizeof(int), true);
    add_column(&rows[0], f->inverse_mass, sizeof(double), false);
    add_column(&rows[0], f->inertia, 6 * sizeof(double), false);
    add_column(&rows[0], f->inverse_inertia, 6 * sizeof(double), false);
    add_column(&rows[0], f->q, 7 * sizeof(double), false);
    add_column(&rows[0], f->v, 6 * sizeof(double), false);
    rows[1].n = f->n_spheres;
    add_column(&rows[1], share->piece_id, sizeof(int), true);
    add_column(&rows[1], share->piece_body, sizeof(int), true);
    add_column(&rows[1], f->sphere_surface, sizeof(int), false);
    add_column(&rows[1], f->sphere_centre, 3 * sizeof(double), false);
    add_column(&rows[1], f->sphere_radius, sizeof(double), false);
    if (f->n_surfaces == 0) add_column(&rows[1], f->sphere_own, 4 * sizeof(double), false);
    if (!f->shaped) return;
    add_column(&rows[1], f->piece_hull, sizeof(int), false);
    add_column(&rows[1], f->piece_turn, 4 * sizeof(double), false);
    add_column(&rows[1], f->piece_round, sizeof(double), false);
    add_column(&rows[1], f->piece_size, sizeof(double), false);
}

/* The same of the model, which rank 0 has. Its bodies have no state yet. */
static void list_def_rows(const sti_FlatDef *def, const double *inverse_inertia, const int *number,
                          sti_FlatRows rows[2])
{
    memset(rows, 0, 2 * sizeof *rows);
    rows[0].n = def->n_bodies;
    add_column(&rows[0], number, sizeof(int), true);
    add_column(&rows[0], def->inverse_mass, sizeof(double), true);
    add_column(&rows[0], def->inertia, 6 * sizeof(double), true);
    add_column(&rows[0], inverse_inertia, 6 * sizeof(double), true);
    add_column(&rows[0], NULL, 7 * sizeof(double), true);
    add_column(&rows[0], NULL, 6 * sizeof(double), true);
    rows[1].n = def->n_spheres;
    add_column(&rows[1], number, sizeof(int), true);
    add_column(&rows[1], def->sphere_body, sizeof(int), true);
    add_column(&rows[1], def->sphere_surface, sizeof(int), true);
    add_column(&rows[1], def->sphere_centre, 3 * sizeof(double), true);
    add_column(&rows[1], def->sphere_radius, sizeof(double), true);
    if (def->n_surfaces == 0) add_column(&rows[1], def->sphere_own, 4 * sizeof(double), true);
    if (def->n_hulls == 0) return;
    add_column(&rows[1], def->piece_hull, sizeof(int), true);
    add_column(&rows[1], def->piece_turn, 4 * sizeof(double), true);
    add_column(&rows[1], def->piece_round, sizeof(double), true);
    add_column(&rows[1], def->piece_size, sizeof(double), true);
}

/* A column on the host: itself, or copied to `scratch`. */
static const char *read_column(sti_FlatPile *pile, const sti_FlatColumn *column, int64_t n, char *scratch)
{
    if (column->here && column->at != NULL) return (const char *)column->at;
    if (column->at == NULL)
        memset(scratch, 0, (size_t)(n * column->size));
    else
        device_get(pile, scratch, column->at, n * column->size);
    return scratch;
}

/* The place here of a body of the model, among the first n, or -1. */
static int find_body(const sti_FlatShare *share, int n, int id)
{
    for (int part = 0; part < 2; part++) {
        int first = part == 0 ? 0 : share->n_everywhere, end = part == 0 ? share->n_everywhere : n;
        while (first < end) {
            const int middle = first + (end - first) / 2;
            if (share->id[middle] == id) return middle;
            if (share->id[middle] < id)
                first = middle + 1;
            else
                end = middle;
        }
    }
    return -1;
}

static int find_piece(const sti_FlatShare *share, int n, int id)
{
    int first = 0, end = n;
    while (first < end) {
        const int middle = first + (end - first) / 2;
        if (share->piece_id[middle] < id)
            first = middle + 1;
        else
            end = middle;
    }
    return first < n && share->piece_id[first] == id ? first : -1;
}

/* flat_counts, on the host. */
static bool counts_here(const sti_FlatPile *pile, int a, int b)
{
    const int *owner = pile->share.owner;
    return owner[a] == pile->f.rank || (owner[a] < 0 && b >= 0 && owner[b] == pile->f.rank);
}

/* ---- bodies on their way -------------------------------------------------------------------------------------------
 */

/* Data sent to a rank, or received from it. */
typedef struct sti_FlatParcel {
    int64_t bodies, pieces;
    int64_t at; /* first byte: columns of bodies, then of pieces */
} sti_FlatParcel;

/* A row that arrives, sorted by the place that it will have. */
typedef struct sti_FlatArrival {
    uint64_t key;
    int rank;
    int64_t row;
} sti_FlatArrival;

/* Scratch memory of `deal`. */
typedef struct sti_FlatDeal {
    sti_FlatParcel *out, *in;
    int64_t *piece_first;  /* the pieces of old body b: piece[piece_first[b] .. piece_first[b + 1] - 1] */
    int *piece, *body_now; /* body_now: by old body, where it is now; -1: it left                       */
    sti_FlatArrival *arrival[2];
    int64_t *source[2]; /* by new row: its old row, or -1 - its arrival                              */
    char *scratch, *column;
    int *owner; /* by new body                                                               */
    int64_t n_arrivals[2], n_new[2], n_old[2], scratch_size;
    int size;
} sti_FlatDeal;

static int compare_arrivals(const void *a, const void *b)
{
    const uint64_t one = ((const sti_FlatArrival *)a)->key, other = ((const sti_FlatArrival *)b)->key;
    return one < other ? -1 : one > other;
}

/* Bodies without mass come first. */
static uint64_t body_key(bool moves, int id)
{
    return (uint64_t)moves << 32 | (uint32_t)id;
}

/* Copies the rows of the bodies `out` to their parcels. */
static void pack_rows(sti_FlatPile *pile, const sti_FlatRows from[2], const sti_FlatDeal *deal, const uint64_t *out,
                      int64_t n_out, char *bytes)
{
    for (int part = 0; part < 2; part++) {
        int64_t before = 0; /* bytes of the columns before this one, of a row */
        for (int c = 0; c < from[part].n_columns; c++) {
            const int64_t size = from[part].column[c].size;
            const char *column = read_column(pile, &from[part].column[c], from[part].n, deal->scratch);
            char *to = NULL;
            for (int64_t i = 0; i < n_out; i++) {
                const int64_t b = (int64_t)(uint32_t)out[i];
                const sti_FlatParcel *parcel = &deal->out[out[i] >> 32];
                if (i == 0 || out[i] >> 32 != out[i - 1] >> 32)
                    to = bytes + parcel->at + (part == 0 ? parcel->bodies : parcel->pieces) * before +
                         (part == 1 ? parcel->bodies * from[0].size : 0);
                for (int64_t k = deal->piece_first[b]; part == 1 && k < deal->piece_first[b + 1]; k++, to += size)
                    memcpy(to, column + size * deal->piece[k], (size_t)size);
                if (part == 0) memcpy(to, column + size * b, (size_t)size), to += size;
            }
            before += size;
        }
    }
}

/* Where a column of an arrived row is in the message; `before`: bytes of the columns before it. */
static const char *arrived(const sti_FlatDeal *deal, const char *bytes, int part, const sti_FlatArrival *arrival,
                           int64_t before, int64_t size, int64_t body_size)
{
    const sti_FlatParcel *parcel = &deal->in[arrival->rank];
    return bytes + parcel->at + (part == 0 ? parcel->bodies : parcel->pieces) * before +
           (part == 1 ? parcel->bodies * body_size : 0) + size * arrival->row;
}

/* Exchanges the sizes of parcels, and then the parcels: out of bytes_out, into bytes_in. */
static st_Status send_parcels(sti_FlatPile *pile, const sti_FlatRows from[2], sti_FlatDeal *deal, const uint64_t *out,
                              int64_t n_out, st_Error *err)
{
    const st_Ranks *ranks = pile->ranks;
    sti_FlatShare *share = &pile->share;
    const int64_t two = 2 * (int64_t)sizeof(int64_t);
    int64_t sent = 0, received = 0;
    int n = 0;
    for (int64_t i = 0; i < n_out; i++) {
        const int64_t b = (int64_t)(uint32_t)out[i];
        deal->out[out[i] >> 32].bodies++;
        deal->out[out[i] >> 32].pieces += deal->piece_first[b + 1] - deal->piece_first[b];
    }
    for (int k = 0; k < ranks->size; k++) {
        const st_RankMessage count = {k, &deal->out[k].bodies, two, &deal->in[k].bodies, two};
        if (k != ranks->rank) share->post[n++] = count;
    }
    ranks->exchange(ranks->ctx, share->post, n);
    for (int k = 0; k < ranks->size; k++) {
        deal->out[k].at = sent, deal->in[k].at = received;
        sent += deal->out[k].bodies * from[0].size + deal->out[k].pieces * from[1].size;
        received += deal->in[k].bodies * from[0].size + deal->in[k].pieces * from[1].size;
        deal->n_arrivals[0] += deal->in[k].bodies;
        deal->n_arrivals[1] += deal->in[k].pieces;
    }
    const int64_t unit = (int64_t)sizeof(double);
    st_Status status = STI_GROW(&pile->allocator, share->bytes_out, share->bytes_out_room, sent / unit + 1, err);
    if (status == ST_OK)
        status = STI_GROW(&pile->allocator, share->bytes_in, share->bytes_in_room, received / unit + 1, err);
    STI_TRY(agree(pile, status, err));
    pack_rows(pile, from, deal, out, n_out, (char *)share->bytes_out);
    n = 0;
    for (int k = 0; k < ranks->size; k++) {
        const sti_FlatParcel *to = &deal->out[k], *of = &deal->in[k];
        const int64_t n_send = to->bodies * from[0].size + to->pieces * from[1].size;
        const int64_t n_receive = of->bodies * from[0].size + of->pieces * from[1].size;
        const st_RankMessage parcel = {k, (char *)share->bytes_out + to->at, n_send, (char *)share->bytes_in + of->at,
                                       n_receive};
        if (n_send + n_receive > 0) share->post[n++] = parcel;
    }
    ranks->exchange(ranks->ctx, share->post, n);
    return ST_OK;
}

/* The new order of bodies (part 0) or pieces (1): those that stay and those that arrive, by their keys. */
static void merge_rows(const sti_FlatRows from[2], const int *owner, const int *body, const char *stays, int part,
                       const char *bytes, sti_FlatDeal *deal)
{
    const int *id = (const int *)from[part].column[0].at;
    sti_FlatArrival *arrival = deal->arrival[part];
    int64_t n = 0, next = 0;
    for (int k = 0; k < deal->size; k++)
        for (int64_t row = 0; row < (part == 0 ? deal->in[k].bodies : deal->in[k].pieces); row++) {
            int number;
            double inverse_mass = 1;
            arrival[n].rank = k, arrival[n].row = row;
            memcpy(&number, arrived(deal, bytes, part, &arrival[n], 0, sizeof number, from[0].size), sizeof number);
            if (part == 0)
                memcpy(&inverse_mass,
                       arrived(deal, bytes, 0, &arrival[n], sizeof number, sizeof inverse_mass, from[0].size),
                       sizeof inverse_mass);
            arrival[n++].key = body_key(inverse_mass > 0, number);
        }
    qsort(arrival, (size_t)n, sizeof *arrival, compare_arrivals);
    int64_t to = 0;
    for (int moves = part; moves < 2; moves++) /* a model may have bodies without mass anywhere */
        for (int64_t i = 0; i < deal->n_old[part]; i++) {
            const int b = part == 0 ? (int)i : body[i];
            if (!stays[b] || (part == 0 && (owner[b] >= 0) != (moves > 0))) continue;
            const uint64_t key = body_key(moves > 0, id[i]);
            for (; next < n && arrival[next].key < key; next++)
                deal->source[part][to++] = -1 - next;
            deal->source[part][to++] = i;
        }
    for (; next < n; next++)
        deal->source[part][to++] = -1 - next;
}

/* Moves the columns of bodies (0) or pieces (1) to their new places. */
static void move_columns(sti_FlatPile *pile, const sti_FlatRows *from, const sti_FlatRows *to, int64_t body_size,
                         int part, const sti_FlatDeal *deal)
{
    const char *bytes = (const char *)pile->share.bytes_in;
    const int64_t *source = deal->source[part], n = deal->n_new[part];
    int64_t before = 0;
    for (int c = 0; c < from->n_columns; c++) {
        const int64_t size = from->column[c].size;
        const char *old = read_column(pile, &from->column[c], from->n, deal->scratch);
        for (int64_t i = 0; i < n;) {
            int64_t run = 1; /* rows that stay beside each other */
            const char *row = source[i] >= 0 ? old + size * source[i]
                                             : arrived(deal, bytes, part, &deal->arrival[part][-1 - source[i]], before,
                                                       size, body_size);
            while (source[i] >= 0 && i + run < n && source[i + run] == source[i] + run)
                run++;
            memcpy(deal->column + size * i, row, (size_t)(run * size));
            i += run;
        }
        if (to->column[c].here)
            memcpy(to->column[c].at, deal->column, (size_t)(n * size));
        else
            device_put(pile, to->column[c].at, deal->column, n * size);
        before += size;
    }
}

/* Bodies `out`, pairs of a rank and a body sorted by ranks, go to these ranks; those that `stays` marks remain, and
 * others arrive. With `copies` the rank of which a body arrives keeps it; `out` gets the new places of its bodies.
 * `model`: of rank 0, while the pile is empty; else NULL. If it fails, nothing has changed. */
static st_Status deal_bodies(sti_FlatPile *pile, const sti_FlatRows *model, const int *model_owner, const char *stays,
                             uint64_t *out, int64_t n_out, bool copies, st_Error *err)
{
    sti_Flat *f = &pile->f;
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    const int rank = pile->ranks->rank;
    const int *owner = model != NULL ? model_owner : share->owner;
    sti_FlatRows from[2], to[2];
    sti_FlatDeal deal;
    memset(&deal, 0, sizeof deal);
    if (model != NULL)
        memcpy(from, model, sizeof from);
    else
        list_rows(pile, from);
    const int *body = model != NULL ? (const int *)from[1].column[1].at : share->sphere_body;
    deal.size = pile->ranks->size;
    deal.n_old[0] = from[0].n, deal.n_old[1] = from[1].n;
    deal.out = (sti_FlatParcel *)sti_alloc(a, deal.size, sizeof *deal.out);
    deal.in = (sti_FlatParcel *)sti_alloc(a, deal.size, sizeof *deal.in);
    deal.piece_first = (int64_t *)sti_alloc(a, from[0].n + 1, sizeof(int64_t));
    deal.piece = (int *)sti_alloc(a, from[1].n + 1, sizeof(int));
    deal.body_now = (int *)sti_alloc(a, from[0].n + 1, sizeof(int));
    deal.scratch_size = 7 * (int64_t)sizeof(double) * ((from[0].n > from[1].n ? from[0].n : from[1].n) + 1);
    deal.scratch = (char *)sti_alloc(a, deal.scratch_size, 1);
    bool made = deal.out != NULL && deal.in != NULL && deal.piece_first != NULL && deal.piece != NULL &&
                deal.body_now != NULL && deal.scratch != NULL;
    st_Status status = agree(pile, made ? ST_OK : out_of_memory(pile, 0, err), err);
    if (status == ST_OK) {
        /* The pieces of each body; `body`: of each piece. */
        int64_t *first = deal.piece_first;
        for (int64_t s = 0; s < deal.n_old[1]; s++)
            first[body[s] + 1]++;
        for (int64_t b = 0; b < deal.n_old[0]; b++)
            first[b + 1] += first[b];
        for (int64_t s = deal.n_old[1] - 1; s >= 0; s--) /* first[b + 1] runs down to where the pieces of b begin */
            deal.piece[--first[body[s] + 1]] = (int)s;
        for (int64_t b = 0; b < deal.n_old[0]; b++)
            first[b] = first[b + 1];
        first[deal.n_old[0]] = deal.n_old[1];
        status = send_parcels(pile, from, &deal, out, n_out, err);
    }
    if (status == ST_OK) {
        for (int part = 0; part < 2; part++)
            deal.n_new[part] = deal.n_arrivals[part];
        for (int64_t b = 0; b < from[0].n; b++) {
            deal.n_new[0] += stays[b];
            deal.n_new[1] += stays[b] ? deal.piece_first[b + 1] - deal.piece_first[b] : 0;
        }
        sti_free(a, deal.scratch, deal.scratch_size, 1);
        int64_t most = 1;
        for (int part = 0; part < 2; part++) {
            if (deal.n_old[part] > most) most = deal.n_old[part];
            if (deal.n_new[part] > most) most = deal.n_new[part];
            deal.arrival[part] = (sti_FlatArrival *)sti_alloc(a, deal.n_arrivals[part] + 1, sizeof(sti_FlatArrival));
            deal.source[part] = (int64_t *)sti_alloc(a, deal.n_new[part] + 1, sizeof(int64_t));
            made = made && deal.arrival[part] != NULL && deal.source[part] != NULL;
        }
        deal.scratch_size = 7 * (int64_t)sizeof(double) * most;
        deal.scratch = (char *)sti_alloc(a, deal.scratch_size, 1);
        deal.column = (char *)sti_alloc(a, deal.scratch_size, 1);
        deal.owner = (int *)sti_alloc(a, deal.n_new[0] + 1, sizeof(int));
        made = made && deal.scratch != NULL && deal.column != NULL && deal.owner != NULL;
        status = made ? ST_OK : out_of_memory(pile, 0, err);
        if (deal.n_new[0] >= INT32_MAX || deal.n_new[1] >= INT32_MAX)
            status = sti_fail(err, ST_ERR_MEMORY, "rank %d of %d: more than 2147483647 bodies", rank, deal.size);
        const int64_t n = deal.n_new[0] + 1, s = deal.n_new[1] + 1;
        if (status == ST_OK) status = STI_GROW(a, share->id, share->id_room, n, err);
        if (status == ST_OK) status = STI_GROW(a, share->owner, share->owner_room, n, err);
        if (status == ST_OK) status = STI_GROW(a, share->piece_id, share->piece_id_room, s, err);
        if (status == ST_OK) status = STI_GROW(a, share->piece_body, share->piece_body_room, s, err);
        if (status == ST_OK) status = STI_GROW(a, share->sphere_body, share->sphere_body_room, s, err);
    }
    if (model == NULL) owner = share->owner, body = share->sphere_body;
    if (model == NULL) list_rows(pile, from); /* they may have moved */
    sti_FlatBlocks old_blocks = pile->body_blocks;
    double *const old_bounds = pile->bounds_other;
    const int old_bits = pile->cell_bits;
    const sti_Flat was = *f;
    const bool grows = status == ST_OK && (deal.n_new[0] > pile->body_room || deal.n_new[1] > pile->piece_room);
    int64_t room[2] = {pile->body_room, pile->piece_room};
    if (grows) {
        for (int part = 0; part < 2; part++) {
            const int64_t n = deal.n_new[part];
            if (n > room[part]) room[part] = room[part] > 0 ? n + n / 8 + 64 : n;
        }
        memset(&pile->body_blocks, 0, sizeof pile->body_blocks);
        take_bodies(pile, room[0], room[1]);
        if (pile->body_blocks.failed) status = out_of_memory(pile, 0, err);
    }
    status = agree(pile, status, err);
    if (status == ST_OK) {
        if (grows) pile->body_room = room[0], pile->piece_room = room[1];
        const char *bytes = (const char *)share->bytes_in;
        for (int part = 0; part < 2; part++)
            merge_rows(from, owner, body, stays, part, bytes, &deal);
        for (int64_t b = 0; b < deal.n_old[0]; b++)
            deal.body_now[b] = -1;
        for (int64_t i = 0; i < deal.n_new[0]; i++) {
            const int64_t source = deal.source[0][i];
            const sti_FlatArrival *arrival = source < 0 ? &deal.arrival[0][-1 - source] : NULL;
            const bool moves = arrival == NULL ? owner[source] >= 0 : arrival->key >> 32 != 0;
            if (arrival == NULL) deal.body_now[source] = (int)i;
            deal.owner[i] = !moves ? -1 : copies && arrival != NULL ? arrival->rank : rank;
        }
        list_rows(pile, to);
        for (int part = 0; part < 2; part++)
            move_columns(pile, &from[part], &to[part], from[0].size, part, &deal);
        memcpy(share->owner, deal.owner, (size_t)deal.n_new[0] * sizeof(int));
        for (int64_t i = 0; copies && i < n_out; i++)
            out[i] = (out[i] >> 32) << 32 | (uint32_t)deal.body_now[(uint32_t)out[i]];
        f->n_bodies = (int)deal.n_new[0];
        f->n_spheres = (int)deal.n_new[1];
        share->n_everywhere = 0;
        for (int b = 0; b < f->n_bodies; b++)
            share->n_everywhere += share->owner[b] < 0;
        for (int s = 0; s < f->n_spheres; s++)
            share->sphere_body[s] = find_body(share, f->n_bodies, share->piece_body[s]);
        device_put(pile, f->owner, share->owner, deal.n_new[0] * (int64_t)sizeof(int));
        device_put(pile, f->piece_id, share->piece_id, deal.n_new[1] * (int64_t)sizeof(int));
        device_put(pile, f->sphere_body, share->sphere_body, deal.n_new[1] * (int64_t)sizeof(int));
        device_clear(pile, f->first_old, (deal.n_new[1] + 1) * (int64_t)sizeof(int));
        f->n_contacts = 0;
        if (grows) give_back(pile, &old_blocks);
    } else if (grows) {
        give_back(pile, &pile->body_blocks);
        pile->body_blocks = old_blocks;
        pile->bounds_other = old_bounds;
        pile->cell_bits = old_bits;
        *f = was;
    }
    sti_free(a, deal.out, deal.size, sizeof *deal.out);
    sti_free(a, deal.in, deal.size, sizeof *deal.in);
    sti_free(a, deal.piece_first, deal.n_old[0] + 1, sizeof(int64_t));
    sti_free(a, deal.piece, deal.n_old[1] + 1, sizeof(int));
    sti_free(a, deal.body_now, deal.n_old[0] + 1, sizeof(int));
    for (int k = 0; k < 2; k++) {
        sti_free(a, deal.arrival[k], deal.n_arrivals[k] + 1, sizeof(sti_FlatArrival));
        sti_free(a, deal.source[k], deal.n_new[k] + 1, sizeof(int64_t));
    }
    sti_free(a, deal.scratch, deal.scratch_size, 1);
    sti_free(a, deal.column, deal.scratch_size, 1);
    sti_free(a, deal.owner, deal.n_new[0] + 1, sizeof(int));
    return status;
}

/* ---- a new pile ----------------------------------------------------------------------------------------------------
 */

/* The bodies of the model, by blocks of their numbers: they have no places yet. */
static st_Status share_model(sti_FlatPile *pile, const sti_FlatDef *def, const double *inverse_inertia, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    const int size = pile->ranks->size;
    const bool leads = pile->ranks->rank == 0;
    const int64_t n = leads ? def->n_bodies : 0, s = leads ? def->n_spheres : 0, numbers = n > s ? n : s;
    int64_t rows = 0;
    share->n_all = def->n_bodies, share->n_pieces_all = def->n_spheres;
    int *number = (int *)sti_alloc(a, numbers + 1, sizeof *number), *owner = (int *)sti_alloc(a, n + 1, sizeof *owner);
    char *stays = (char *)sti_alloc(a, n + 1, 1);
    for (int64_t b = 0; b < n; b++)
        rows += def->inverse_mass[b] > 0 ? 1 : size;
    uint64_t *out = (uint64_t *)sti_alloc(a, rows + 1, sizeof *out);
    const bool made = number != NULL && owner != NULL && stays != NULL && out != NULL;
    st_Status status = agree(pile, made ? ST_OK : out_of_memory(pile, 0, err), err);
    if (status == ST_OK) {
        sti_FlatRows model[2];
        int64_t n_out = 0;
        for (int64_t i = 0; i < numbers; i++)
            number[i] = (int)i;
        for (int64_t b = 0; b < n; b++) {
            owner[b] = def->inverse_mass[b] > 0 ? (int)(b * size / n) : -1;
            stays[b] = owner[b] <= 0;
        }
        for (int k = 1; k < size; k++)
            for (int64_t b = 0; b < n; b++)
                if (owner[b] < 0 || owner[b] == k) out[n_out++] = (uint64_t)k << 32 | (uint64_t)b;
        list_def_rows(def, inverse_inertia, number, model);
        model[0].n = n, model[1].n = s;
        status = deal_bodies(pile, model, owner, stays, out, n_out, false, err);
    }
    sti_free(a, number, numbers + 1, sizeof *number);
    sti_free(a, owner, n + 1, sizeof *owner);
    sti_free(a, stays, n + 1, 1);
    sti_free(a, out, rows + 1, sizeof *out);
    STI_RELEASE(a, share->bytes_out, share->bytes_out_room); /* the whole model */
    STI_RELEASE(a, share->bytes_in, share->bytes_in_room);
    share->stale = share->recut = true;
    return status;
}

/* ---- contacts on their way -----------------------------------------------------------------------------------------
 */

/* The contacts of the last step that a rank counts, with the numbers of the model, by the ranks to which they go. */
typedef struct sti_FlatOld {
    sti_FlatImpulse *here, *out, *in;
    int64_t *n_out, *n_in; /* by rank */
    int64_t n, all_out, all_in;
} sti_FlatOld;

/* The new owners of the bodies of a contact: one or two. */
static int homes_of(const int *owner, int a, int b, int home[2])
{
    int n = 0;
    if (owner[a] >= 0) home[n++] = owner[a];
    if (b >= 0 && owner[b] >= 0 && (n == 0 || owner[b] != home[0])) home[n++] = owner[b];
    return n;
}

/* Reads the contacts and exchanges them; `owner`: the new ones of the bodies here. */
static st_Status send_old(sti_FlatPile *pile, const int *owner, sti_FlatOld *old, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    const st_Ranks *ranks = pile->ranks;
    const sti_FlatShare *share = &pile->share;
    const sti_Flat *f = &pile->f;
    st_RankMessage *message = pile->share.post;
    int home[2], n = 0;
    old->n = f->n_contacts;
    old->here = (sti_FlatImpulse *)sti_alloc(a, old->n + 1, sizeof *old->here);
    old->n_out = (int64_t *)sti_alloc(a, ranks->size, sizeof(int64_t));
    old->n_in = (int64_t *)sti_alloc(a, ranks->size, sizeof(int64_t));
    st_Status status =
        old->here != NULL && old->n_out != NULL && old->n_in != NULL ? ST_OK : out_of_memory(pile, old->n, err);
    if (status == ST_OK) status = get_impulses(pile, old->here, err);
    for (int64_t c = 0; c < old->n && status == ST_OK; c++) {
        const int body_a = share->sphere_body[old->here[c].sphere];
        const int body_b = old->here[c].other >= 0 ? share->sphere_body[old->here[c].other] : -1;
        if (!counts_here(pile, body_a, body_b)) continue;
        const int n_homes = homes_of(owner, body_a, body_b, home);
        for (int k = 0; k < n_homes; k++)
            old->n_out[home[k]]++;
        old->all_out += n_homes;
    }
    if (status == ST_OK) {
        old->out = (sti_FlatImpulse *)sti_alloc(a, old->all_out + 1, sizeof *old->out);
        if (old->out == NULL) status = out_of_memory(pile, old->n, err);
    }
    STI_TRY(agree(pile, status, err));
    for (int k = 0; k < ranks->size; k++) {
        const st_RankMessage count = {k, &old->n_out[k], sizeof(int64_t), &old->n_in[k], sizeof(int64_t)};
        if (k != ranks->rank) message[n++] = count;
    }
    ranks->exchange(ranks->ctx, message, n);
    old->n_in[ranks->rank] = old->n_out[ranks->rank];
    for (int k = 0; k < ranks->size; k++)
        old->all_in += old->n_in[k];
    old->in = (sti_FlatImpulse *)sti_alloc(a, old->all_in + 1, sizeof *old->in);
    STI_TRY(agree(pile, old->in != NULL ? ST_OK : out_of_memory(pile, old->all_in, err), err));
    int64_t *next = pile->share.offset; /* of each rank, in `out` */
    next[0] = 0;
    for (int k = 0; k + 1 < ranks->size; k++)
        next[k + 1] = next[k] + old->n_out[k];
    for (int64_t c = 0; c < old->n; c++) {
        sti_FlatImpulse contact = old->here[c];
        const int body_a = share->sphere_body[contact.sphere];
        const int body_b = contact.other >= 0 ? share->sphere_body[contact.other] : -1;
        if (!counts_here(pile, body_a, body_b)) continue;
        contact.sphere = share->piece_id[contact.sphere];
        if (contact.other >= 0) contact.other = share->piece_id[contact.other];
        for (int k = homes_of(owner, body_a, body_b, home) - 1; k >= 0; k--)
            old->out[next[home[k]]++] = contact;
    }
    int64_t from = 0, to = 0;
    n = 0;
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

/* Contacts with the numbers of the model become those of the last step here. Those of pieces that are not here are left
 * out: they cannot touch now. `contact` and `sorted` have n places. */
static st_Status put_old(sti_FlatPile *pile, sti_FlatImpulse *contact, sti_FlatImpulse *sorted, int64_t n,
                         st_Error *err)
{
    const sti_Flat *f = &pile->f;
    const int64_t s = f->n_spheres;
    int64_t kept = 0;
    int *place = (int *)sti_alloc(&pile->allocator, s + 2, sizeof *place);
    if (place == NULL) return out_of_memory(pile, n, err);
    for (int64_t i = 0; i < n; i++) {
        sti_FlatImpulse to = contact[i];
        to.sphere = find_piece(&pile->share, (int)s, to.sphere);
        if (to.other >= 0) to.other = find_piece(&pile->share, (int)s, to.other);
        if (to.sphere < 0 || (contact[i].other >= 0 && to.other < 0)) continue;
        contact[kept++] = to;
        place[to.sphere + 1]++;
    }
    for (int64_t k = 0; k < s; k++)
        place[k + 1] += place[k];
    for (int64_t i = 0; i < kept; i++)
        sorted[place[contact[i].sphere]++] = contact[i];
    sti_free(&pile->allocator, place, s + 2, sizeof *place);
    pile->f.n_contacts = (int)kept;
    return set_impulses(pile, sorted, (int)kept, f->h_old, err);
}

/* ---- sharing out ---------------------------------------------------------------------------------------------------
 */

/* Cuts for the bodies of all ranks; a body weighs 1 and its contacts. */
static st_Status cut_space(sti_FlatPile *pile, const double *q, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    sti_FlatShare *share = &pile->share;
    const sti_Flat *f = &pile->f;
    const int64_t n = f->n_bodies, s = f->n_spheres;
    const int64_t room = 4 * n + 1 + sti_partition_room(pile->ranks->size, f->n_bodies);
    double *x = (double *)sti_alloc(a, room, sizeof *x), *weight = x != NULL ? x + 3 * n : NULL;
    int *first = (int *)sti_alloc(a, s + 1, sizeof *first);
    const st_Status status = agree(pile, x != NULL && first != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    if (status == ST_OK) {
        int own = 0;
        device_get(pile, first, f->first_old, (s + 1) * (int64_t)sizeof *first);
        for (int64_t b = 0; b < n; b++)
            weight[b] = 1;
        for (int64_t k = 0; k < s; k++)
            weight[share->sphere_body[k]] += first[k + 1] - first[k];
        for (int64_t b = 0; b < n; b++) {
            if (share->owner[b] != f->rank) continue;
            memcpy(x + (int64_t)3 * own, q + 7 * b, 3 * sizeof *x);
            weight[own++] = weight[b];
        }
        sti_partition(x, weight, own, f->smallest_cell, pile->ranks, share->cut, x + 4 * n + 1);
        share->recut = false;
    }
    sti_free(a, x, room, sizeof *x);
    sti_free(a, first, s + 1, sizeof *first);
    return status;
}

/* Bodies to the owners of their places. `owner`: the new ones of the bodies here. */
static st_Status send_bodies(sti_FlatPile *pile, const int *owner, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    const int64_t n = pile->f.n_bodies;
    const int rank = pile->ranks->rank, *was = pile->share.owner;
    int64_t n_out = 0;
    uint64_t *out = (uint64_t *)sti_alloc(a, n + 1, sizeof *out);
    char *stays = (char *)sti_alloc(a, n + 1, 1);
    st_Status status = agree(pile, out != NULL && stays != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    for (int64_t b = 0; b < n && status == ST_OK; b++) {
        stays[b] = was[b] < 0 || (was[b] == rank && owner[b] == rank);
        if (was[b] == rank && owner[b] != rank) out[n_out++] = (uint64_t)owner[b] << 32 | (uint64_t)b;
    }
    if (status == ST_OK) {
        qsort(out, (size_t)n_out, sizeof *out, compare_border);
        status = deal_bodies(pile, NULL, NULL, stays, out, n_out, false, err);
    }
    sti_free(a, out, n + 1, sizeof *out);
    sti_free(a, stays, n + 1, 1);
    return status;
}

/* Copies of bodies to the ranks that they may touch. After begin_step and flat_hold. */
static st_Status send_copies(sti_FlatPile *pile, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    sti_FlatShare *share = &pile->share;
    const sti_Flat *f = &pile->f;
    const st_Ranks *ranks = pile->ranks;
    const int64_t n = f->n_bodies, s = f->n_spheres;
    const int size = ranks->size, rank = ranks->rank;
    int64_t n_out = 0;
    double *held = (double *)sti_alloc(a, 4 * s + 1, sizeof *held), box[6];
    double *all = (double *)sti_alloc(a, 6 * (int64_t)size, sizeof *all);
    char *stays = (char *)sti_alloc(a, n + 1, 1);
    st_Status status =
        agree(pile, held != NULL && all != NULL && stays != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    if (status == ST_OK) {
        device_get(pile, held, f->held, 4 * s * (int64_t)sizeof *held);
        for (int k = 0; k < 3; k++)
            box[k] = 1e300, box[k + 3] = -1e300;
        for (int64_t i = 0; i < s; i++)
            for (int k = 0; share->owner[share->sphere_body[i]] == rank && k < 3; k++) {
                const double x = held[4 * i + k], reach = held[4 * i + 3];
                if (x - reach < box[k]) box[k] = x - reach;
                if (x + reach > box[k + 3]) box[k + 3] = x + reach;
            }
        for (int k = 0; k <= size; k++)
            share->offset[k] = k * (int64_t)sizeof box;
        ranks->gather(ranks->ctx, box, all, share->offset);
        for (int pass = 0; pass < 2 && status == ST_OK; pass++) {
            if (pass == 1) status = STI_GROW(a, share->border, share->border_room, n_out + 1, err);
            n_out = 0;
            for (int peer = 0; peer < size && status == ST_OK; peer++) {
                const double *to = all + (int64_t)6 * peer;
                bool near = peer != rank;
                for (int k = 0; k < 3; k++)
                    near = near && box[k] <= to[k + 3] && box[k + 3] >= to[k];
                for (int64_t i = 0; i < s && near; i++) {
                    const int b = share->sphere_body[i];
                    const double *x = held + 4 * i;
                    bool touches = share->owner[b] == rank;
                    for (int k = 0; k < 3; k++)
                        touches = touches && x[k] - x[3] <= to[k + 3] && x[k] + x[3] >= to[k];
                    if (touches && pass == 1) share->border[n_out] = (uint64_t)peer << 32 | (uint64_t)b;
                    n_out += touches;
                }
            }
        }
        status = agree(pile, status, err);
    }
    if (status == ST_OK) {
        n_out = tidy_border(share->border, n_out);
        memset(stays, 1, (size_t)n);
        status = deal_bodies(pile, NULL, NULL, stays, share->border, n_out, true, err);
    }
    if (status == ST_OK) { /* which rank receives which bodies */
        int64_t n_in = 0;
        for (int b = 0; b < f->n_bodies; b++)
            n_in += share->owner[b] >= 0 && share->owner[b] != rank;
        status = STI_GROW(a, share->border, share->border_room, n_out + n_in + 1, err);
        if (status == ST_OK) {
            uint64_t *out = share->border, *in = out + n_out;
            n_in = share->n_peers = 0;
            for (int b = 0; b < f->n_bodies; b++)
                if (share->owner[b] >= 0 && share->owner[b] != rank)
                    in[n_in++] = (uint64_t)share->owner[b] << 32 | (uint64_t)b;
            n_in = tidy_border(in, n_in);
            for (int64_t i = 0, j = 0; i < n_out || j < n_in;) {
                const int one = i < n_out ? (int)(out[i] >> 32) : size, other = j < n_in ? (int)(in[j] >> 32) : size;
                const int peer = one < other ? one : other;
                share->peer[share->n_peers++] = peer;
                while (i < n_out && (int)(out[i] >> 32) == peer)
                    i++;
                while (j < n_in && (int)(in[j] >> 32) == peer)
                    j++;
            }
            status = fill_route(pile, &share->out_near, out, n_out, err);
            if (status == ST_OK) status = fill_route(pile, &share->in_near, in, n_in, err);
            if (status == ST_OK) status = make_message_room(pile, 6 * n_out, 6 * n_in, err);
        }
        status = agree(pile, status, err);
    }
    sti_free(a, held, 4 * s + 1, sizeof *held);
    sti_free(a, all, 6 * (int64_t)size, sizeof *all);
    sti_free(a, stays, n + 1, 1);
    return status;
}

/* Bodies, copies and the contacts of the last step to where they belong now. */
static st_Status share_out(sti_FlatPile *pile, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    sti_FlatShare *share = &pile->share;
    sti_Flat *f = &pile->f;
    const int64_t n = f->n_bodies;
    sti_FlatOld old;
    memset(&old, 0, sizeof old);
    double *q = (double *)sti_alloc(a, 7 * n + 1, sizeof *q);
    int *owner = (int *)sti_alloc(a, n + 1, sizeof *owner);
    st_Status status = agree(pile, q != NULL && owner != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    if (status == ST_OK) device_get(pile, q, f->q, 7 * n * (int64_t)sizeof *q);
    if (status == ST_OK && share->recut) status = cut_space(pile, q, err);
    if (status == ST_OK) {
        for (int64_t b = 0; b < n; b++)
            owner[b] = share->owner[b] < 0 ? -1 : sti_rank_at(share->cut, pile->ranks->size, q + 7 * b);
        status = send_old(pile, owner, &old, err);
    }
    share->stale = true; /* until all is done */
    if (status == ST_OK) status = send_bodies(pile, owner, err);
    sti_free(a, q, 7 * n + 1, sizeof *q);
    sti_free(a, owner, n + 1, sizeof *owner);
    if (status == ST_OK) {
        begin_step(pile);
        RUN(pile, flat_hold, 0, f->n_spheres);
        status = send_copies(pile, err);
    }
    if (status == ST_OK) { /* terms of sums over bodies and pieces need room, too */
        const int64_t room = pile->body_room > pile->piece_room ? pile->body_room : pile->piece_room;
        sti_FlatImpulse *sorted = (sti_FlatImpulse *)sti_alloc(a, old.all_in + 1, sizeof *sorted);
        status = sorted != NULL ? make_room(pile, room, err) : out_of_memory(pile, old.all_in, err);
        if (status == ST_OK) status = put_old(pile, old.in, sorted, old.all_in, err);
        sti_free(a, sorted, old.all_in + 1, sizeof *sorted);
        status = agree(pile, status, err);
    }
    if (status == ST_OK) {
        begin_step(pile);
        RUN(pile, flat_hold, 0, f->n_spheres);
        share->stale = false;
    }
    sti_free(a, old.here, old.n + 1, sizeof *old.here);
    sti_free(a, old.out, old.all_out + 1, sizeof *old.out);
    sti_free(a, old.in, old.all_in + 1, sizeof *old.in);
    sti_free(a, old.n_out, pile->ranks->size, sizeof(int64_t));
    sti_free(a, old.n_in, pile->ranks->size, sizeof(int64_t));
    return status;
}

/* Before a step, after begin_step: are bodies where they were shared out, and is the load even? */
static st_Status stay_shared(sti_FlatPile *pile, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    sti_Flat *f = &pile->f;
    if (!is_shared(pile)) return ST_OK;
    if (!share->stale) {
        RUN(pile, flat_strayed, 0, f->n_spheres);
        double outside = f->n_spheres > 0 ? reduced(pile, f->n_spheres, true) : -1;
        combine(pile, &outside, 1, true);
        share->stale = outside > 0;
        if (share->since++ >= STI_FLAT_BALANCE_EVERY) {
            double load = (double)f->n_contacts + f->n_bodies, most = load;
            combine(pile, &load, 1, false);
            combine(pile, &most, 1, true);
            share->since = 0;
            share->recut = most * pile->ranks->size > STI_FLAT_IMBALANCE * load;
        }
    }
    return share->stale || share->recut ? share_out(pile, err) : ST_OK;
}
