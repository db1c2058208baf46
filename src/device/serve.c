/* device/serve.c -- a pile on several ranks, led by rank 0: it tells the others what to do before it does it itself.
 *
 *     rank 0    create, put, step, contacts, destroy   -> command -> the call with its own share
 *     others    st_ranks_serve: a command, the same call with their share, the next command
 */
#include "base/base.h"
#include "device/flat_pile.h"

typedef enum What { CREATE, DESTROY, PUT, DRIVE, STEP, CONTACTS, DISMISS } What;

/* Sent as bytes between processes of one program. */
typedef struct Command {
    What what;
    bool cuda;
    uint64_t pile; /* whose, as rank 0 calls it */
    double h;
    sti_FlatDef def; /* CREATE: its numbers; its arrays follow */
} Command;

/* A pile as rank 0 sees it; on the others, one of those that they serve. */
struct sti_FlatPile {
    const sti_FlatDevice *device;
    sti_FlatPile *share; /* of this rank, made by `device` */
    uint64_t name;
    int n_bodies, n_driven;
    const st_Ranks *ranks;
    st_Allocator allocator;
    sti_FlatPile *next; /* served */
};

static void tell(const st_Ranks *ranks, What what, const sti_FlatPile *pile, double h)
{
    Command command;
    memset(&command, 0, sizeof command); /* padding travels, too */
    command.what = what;
    command.pile = pile != NULL ? pile->name : 0;
    command.h = h;
    ranks->broadcast(ranks->ctx, &command, (int64_t)sizeof command);
}

/* ---- making one ------------------------------------------------------------------------------------------------ */

enum { N_ARRAYS = 29, MOST_RANKS = 4096 };

static void list_arrays(const sti_FlatDef *def, sti_Span span[N_ARRAYS])
{
    const int64_t n = def->n_bodies, s = def->n_spheres, pairs = (int64_t)def->n_surfaces * def->n_surfaces;
    const sti_Span all[N_ARRAYS] = {
        {(void **)&def->inverse_mass, n, sizeof(double)},
        {(void **)&def->inertia, 6 * n, sizeof(double)},
        {(void **)&def->sphere_body, s, sizeof(int)},
        {(void **)&def->sphere_centre, 3 * s, sizeof(double)},
        {(void **)&def->sphere_radius, s, sizeof(double)},
        {(void **)&def->sphere_surface, s, sizeof(int)},
        {(void **)&def->sphere_own, def->n_surfaces == 0 ? 4 * s : 0, sizeof(double)},
        {(void **)&def->hulls.hull, def->n_hulls, sizeof(sti_FlatHull)},
        {(void **)&def->hulls.vertex, 3 * (int64_t)def->n_vertices, sizeof(double)},
        {(void **)&def->hulls.plane, 4 * (int64_t)def->n_faces, sizeof(double)},
        {(void **)&def->hulls.loop, 2 * (int64_t)def->n_faces, sizeof(int)},
        {(void **)&def->hulls.corner, def->n_corners, sizeof(int)},
        {(void **)&def->hulls.edge, 4 * (int64_t)def->n_edges, sizeof(int)},
        {(void **)&def->piece_hull, def->n_hulls > 0 ? s : 0, sizeof(int)},
        {(void **)&def->piece_turn, def->n_hulls > 0 ? 4 * s : 0, sizeof(double)},
        {(void **)&def->piece_round, def->n_hulls > 0 ? s : 0, sizeof(double)},
        {(void **)&def->piece_size, def->n_hulls > 0 ? s : 0, sizeof(double)},
        {(void **)&def->wall, def->n_walls, sizeof(sti_FlatWall)},
        {(void **)&def->meshes.triangle, def->n_triangles, sizeof(sti_FlatTriangle)},
        {(void **)&def->meshes.node, def->n_nodes, sizeof(sti_FlatNode)},
        {(void **)&def->meshes.item, def->n_triangles, sizeof(int)},
        {(void **)&def->meshes.spoke_first, def->n_triangles > 0 ? (int64_t)def->n_mesh_vertices + 1 : 0, sizeof(int)},
        {(void **)&def->meshes.spoke, 3 * (int64_t)def->n_spokes, sizeof(double)},
        {(void **)&def->meshes.outward, 3 * (int64_t)def->n_mesh_vertices, sizeof(double)},
        {(void **)&def->mu, pairs, sizeof(double)},
        {(void **)&def->rolling, pairs, sizeof(double)},
        {(void **)&def->spinning, pairs, sizeof(double)},
        {(void **)&def->restitution, pairs, sizeof(double)},
        {(void **)&def->driven, def->n_driven, sizeof(int)},
    };
    memcpy(span, all, sizeof all);
}

/* Is it true of every rank? All get the same answer. */
static bool all_well(const st_Ranks *ranks, bool well)
{
    char mine = well ? 1 : 0, all[MOST_RANKS];
    int64_t first[MOST_RANKS + 1];
    for (int k = 0; k <= ranks->size; k++)
        first[k] = k;
    ranks->gather(ranks->ctx, &mine, all, first);
    for (int k = 0; k < ranks->size; k++)
        well = well && all[k] == 1;
    return well;
}

static const sti_FlatDevice *device_of(bool cuda)
{
#ifdef STI_HAVE_CUDA
    if (cuda) return &sti_flat_cuda;
#endif
    (void)cuda;
    return &sti_flat_host;
}

/* This rank's share; fails on all ranks, or on none. */
static st_Status make_share_of(sti_FlatPile *pile, const sti_FlatDef *def, st_Error *err)
{
    const st_Status status = pile->device->create(def, &pile->allocator, &pile->share, err);
    if (all_well(pile->ranks, status == ST_OK)) return ST_OK;
    if (status == ST_OK) pile->device->destroy(pile->share);
    pile->share = NULL;
    return status != ST_OK ? status
                           : sti_fail(err, ST_ERR_MEMORY, "one of %d ranks could not make its share of the pile",
                                      pile->ranks->size);
}

/* ---- rank 0 ---------------------------------------------------------------------------------------------------- */

static st_Status lead_create(const sti_FlatDef *def, const st_Allocator *allocator, sti_FlatPile **out, st_Error *err,
                             bool cuda)
{
    const st_Ranks *ranks = def->ranks;
    sti_Span span[N_ARRAYS];
    Command command;
    *out = NULL;
    if (ranks->size > MOST_RANKS)
        return sti_fail(err, ST_ERR_ARGUMENT, "%d ranks, must be at most %d", ranks->size, MOST_RANKS);
    sti_FlatPile *pile = sti_alloc(allocator, 1, sizeof *pile);
    if (pile == NULL) return sti_fail(err, ST_ERR_MEMORY, "no memory for a pile");
    *pile = (sti_FlatPile){.device = device_of(cuda),
                           .name = (uint64_t)(uintptr_t)pile,
                           .n_bodies = def->n_bodies,
                           .n_driven = def->n_driven,
                           .ranks = ranks,
                           .allocator = *allocator};
    memset(&command, 0, sizeof command);
    command.what = CREATE;
    command.cuda = cuda;
    command.pile = pile->name;
    command.def = *def;
    ranks->broadcast(ranks->ctx, &command, (int64_t)sizeof command);
    list_arrays(&command.def, span);
    st_Status status =
        all_well(ranks, true) ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "a rank has no memory for the pile");
    for (int k = 0; status == ST_OK && k < N_ARRAYS; k++)
        if (span[k].count > 0) ranks->broadcast(ranks->ctx, *span[k].at, span[k].count * (int64_t)span[k].size);
    if (status == ST_OK) status = make_share_of(pile, def, err);
    if (status == ST_OK)
        *out = pile;
    else
        sti_free(allocator, pile, 1, sizeof *pile);
    return status;
}

static st_Status lead_create_host(const sti_FlatDef *def, const st_Allocator *allocator, sti_FlatPile **out,
                                  st_Error *err)
{
    return lead_create(def, allocator, out, err, false);
}

static void lead_destroy(sti_FlatPile *pile)
{
    tell(pile->ranks, DESTROY, pile, 0);
    pile->device->destroy(pile->share);
    const st_Allocator allocator = pile->allocator;
    sti_free(&allocator, pile, 1, sizeof *pile);
}

/* The state goes to all ranks: each has all bodies. */
static void broadcast_state(const sti_FlatPile *pile, double *q, double *v)
{
    pile->ranks->broadcast(pile->ranks->ctx, q, (int64_t)7 * pile->n_bodies * (int64_t)sizeof *q);
    pile->ranks->broadcast(pile->ranks->ctx, v, (int64_t)6 * pile->n_bodies * (int64_t)sizeof *v);
}

static st_Status lead_put(sti_FlatPile *pile, const double *q, const double *v, st_Error *err)
{
    tell(pile->ranks, PUT, pile, 0);
    if (!all_well(pile->ranks, true)) return sti_fail(err, ST_ERR_MEMORY, "a rank has no memory for the state");
    broadcast_state(pile, (double *)(uintptr_t)q, (double *)(uintptr_t)v); /* read only: this rank sends */
    return pile->device->put(pile->share, q, v, err);
}

static st_Status lead_get(sti_FlatPile *pile, int first, int n, double *q, double *v, st_Error *err)
{
    return pile->device->get(pile->share, first, n, q, v, err); /* every rank has the state of all bodies */
}

static st_Status lead_before(sti_FlatPile *pile, double *q, double *v, st_Error *err)
{
    return pile->device->before(pile->share, q, v, err);
}

static st_Status lead_drive(sti_FlatPile *pile, const double *v, st_Error *err)
{
    tell(pile->ranks, DRIVE, pile, 0);
    if (!all_well(pile->ranks, true)) return sti_fail(err, ST_ERR_MEMORY, "a rank has no memory for velocities");
    pile->ranks->broadcast(pile->ranks->ctx, (double *)(uintptr_t)v, (int64_t)6 * pile->n_driven * (int64_t)sizeof *v);
    return pile->device->drive(pile->share, v, err);
}

static st_Status lead_step(sti_FlatPile *pile, double h, sti_FlatInfo *info, st_Error *err)
{
    tell(pile->ranks, STEP, pile, h);
    return pile->device->step(pile->share, h, info, err);
}

static st_Status lead_contacts(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    tell(pile->ranks, CONTACTS, pile, 0);
    return pile->device->contacts(pile->share, out, err);
}

const sti_FlatDevice sti_flat_host_ranks = {"host",      lead_create_host, lead_destroy, lead_put,     lead_get,
                                            lead_before, lead_drive,       lead_step,    lead_contacts};
#ifdef STI_HAVE_CUDA
static st_Status lead_create_cuda(const sti_FlatDef *def, const st_Allocator *allocator, sti_FlatPile **out,
                                  st_Error *err)
{
    return lead_create(def, allocator, out, err, true);
}
const sti_FlatDevice sti_flat_cuda_ranks = {"cuda",      lead_create_cuda, lead_destroy, lead_put,     lead_get,
                                            lead_before, lead_drive,       lead_step,    lead_contacts};
#endif

void st_ranks_dismiss(const st_Ranks *ranks)
{
    if (ranks != NULL && ranks->size > 1 && ranks->rank == 0) tell(ranks, DISMISS, NULL, 0);
}

/* ---- the others ------------------------------------------------------------------------------------------------ */

static sti_FlatPile *serve_create(const st_Ranks *ranks, const st_Allocator *allocator, Command *command)
{
    sti_Span span[N_ARRAYS];
    st_Error err;
    sti_FlatDef *def = &command->def;
    sti_FlatPile *pile = sti_alloc(allocator, 1, sizeof *pile);
    def->ranks = ranks;
    def->stopped = NULL; /* rank 0 is asked */
    def->stop = NULL;
    list_arrays(def, span);
    void *block = pile != NULL ? sti_alloc_spans(allocator, span, N_ARRAYS) : NULL;
    bool made = all_well(ranks, block != NULL);
    for (int k = 0; made && k < N_ARRAYS; k++)
        if (span[k].count > 0) ranks->broadcast(ranks->ctx, *span[k].at, span[k].count * (int64_t)span[k].size);
    if (made) {
        *pile = (sti_FlatPile){.device = device_of(command->cuda),
                               .name = command->pile,
                               .n_bodies = def->n_bodies,
                               .n_driven = def->n_driven,
                               .ranks = ranks,
                               .allocator = *allocator};
        made = make_share_of(pile, def, &err) == ST_OK;
    }
    sti_free_spans(allocator, block, span, N_ARRAYS);
    if (made) return pile;
    sti_free(allocator, pile, 1, sizeof *pile);
    return NULL;
}

static void serve_put(sti_FlatPile *pile)
{
    st_Error err;
    const int64_t n = (int64_t)13 * pile->n_bodies + 1;
    double *q = sti_alloc(&pile->allocator, n, sizeof *q);
    if (all_well(pile->ranks, q != NULL)) {
        double *v = q + (int64_t)7 * pile->n_bodies;
        broadcast_state(pile, q, v);
        pile->device->put(pile->share, q, v, &err);
    }
    sti_free(&pile->allocator, q, n, sizeof *q);
}

static void serve_drive(sti_FlatPile *pile)
{
    st_Error err;
    const int64_t n = (int64_t)6 * pile->n_driven + 1;
    double *v = sti_alloc(&pile->allocator, n, sizeof *v);
    if (all_well(pile->ranks, v != NULL)) {
        pile->ranks->broadcast(pile->ranks->ctx, v, (n - 1) * (int64_t)sizeof *v);
        pile->device->drive(pile->share, v, &err);
    }
    sti_free(&pile->allocator, v, n, sizeof *v);
}

st_Status st_ranks_serve(const st_Ranks *ranks, const st_Allocator *allocator, st_Error *err)
{
    const st_Allocator a = allocator != NULL ? *allocator : st_default_allocator();
    sti_FlatPile *first = NULL;
    if (ranks == NULL || ranks->rank < 1 || ranks->rank >= ranks->size || ranks->size > MOST_RANKS)
        return sti_fail(err, ST_ERR_ARGUMENT, "ranks %d of %d cannot serve, must be 1 .. size - 1 of at most %d",
                        ranks != NULL ? ranks->rank : 0, ranks != NULL ? ranks->size : 0, MOST_RANKS);
    for (;;) {
        Command command;
        sti_FlatInfo info;
        st_Error reason; /* rank 0 has it, too */
        ranks->broadcast(ranks->ctx, &command, (int64_t)sizeof command);
        sti_FlatPile **at = &first;
        while (*at != NULL && (*at)->name != command.pile)
            at = &(*at)->next;
        sti_FlatPile *pile = *at;
        if (command.what == DISMISS) break;
        if (command.what == CREATE) {
            sti_FlatPile *made = serve_create(ranks, &a, &command);
            if (made != NULL) made->next = first, first = made;
        } else if (pile == NULL) {
            continue;
        } else if (command.what == DESTROY) {
            *at = pile->next;
            pile->device->destroy(pile->share);
            sti_free(&a, pile, 1, sizeof *pile);
        } else if (command.what == PUT) {
            serve_put(pile);
        } else if (command.what == DRIVE) {
            serve_drive(pile);
        } else if (command.what == STEP) {
            pile->device->step(pile->share, command.h, &info, &reason);
        } else if (command.what == CONTACTS) {
            pile->device->contacts(pile->share, NULL, &reason);
        }
    }
    while (first != NULL) {
        sti_FlatPile *pile = first;
        first = pile->next;
        pile->device->destroy(pile->share);
        sti_free(&a, pile, 1, sizeof *pile);
    }
    return ST_OK;
}
