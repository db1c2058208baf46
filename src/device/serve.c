/* device/serve.c -- a pile on several ranks, led by rank 0: it sends each command to the others before it executes it.
 *
 *     rank 0    create, put, step, contacts, destroy   -> command -> the call with its own share
 *     others    st_ranks_serve: a command, the same call with their share, the next command
 */
#include "base/base.h"
#include "device/flat_pile.h"

typedef enum What { CREATE, DESTROY, PUT, GET, BEFORE, DRIVE, COUPLE, STEP, CONTACTS, DEEPEST, DISMISS } What;

/* Sent as bytes between processes of one program. */
typedef struct Command {
    What what;
    bool cuda;
    uint64_t pile; /* whose, as rank 0 calls it */
    double h;
    int first, n;    /* GET, COUPLE */
    sti_FlatDef def; /* CREATE: its numbers; its arrays follow, without those of bodies */
} Command;

/* A pile as rank 0 sees it; on the others, one of those that they serve. */
struct sti_FlatPile {
    const sti_FlatDevice *device;
    sti_FlatPile *share; /* of this rank, made by `device` */
    uint64_t name;
    int n_driven;
    const st_Ranks *ranks;
    st_Allocator allocator;
    sti_FlatPile *next; /* served */
};

static void order(const st_Ranks *ranks, What what, const sti_FlatPile *pile, double h, int first, int n)
{
    Command command;
    memset(&command, 0, sizeof command); /* padding travels, too */
    command.what = what;
    command.pile = pile != NULL ? pile->name : 0;
    command.h = h;
    command.first = first, command.n = n;
    ranks->broadcast(ranks->ctx, &command, (int64_t)sizeof command);
}

static void tell(const sti_FlatPile *pile, What what)
{
    order(pile->ranks, what, pile, 0, 0, 0);
}

/* ---- making one ------------------------------------------------------------------------------------------------ */

enum { N_ARRAYS = 18, MOST_RANKS = 4096 };

static void list_arrays(const sti_FlatDef *def, sti_Span span[N_ARRAYS])
{
    const int64_t pairs = (int64_t)def->n_surfaces * def->n_surfaces;
    const sti_Span all[N_ARRAYS] = {
        {(void **)&def->hulls.hull, def->n_hulls, sizeof(sti_FlatHull)},
        {(void **)&def->hulls.vertex, 3 * (int64_t)def->n_vertices, sizeof(double)},
        {(void **)&def->hulls.plane, 4 * (int64_t)def->n_faces, sizeof(double)},
        {(void **)&def->hulls.loop, 2 * (int64_t)def->n_faces, sizeof(int)},
        {(void **)&def->hulls.corner, def->n_corners, sizeof(int)},
        {(void **)&def->hulls.edge, 4 * (int64_t)def->n_edges, sizeof(int)},
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
    tell(pile, DESTROY);
    pile->device->destroy(pile->share);
    const st_Allocator allocator = pile->allocator;
    sti_free(&allocator, pile, 1, sizeof *pile);
}

static st_Status lead_put(sti_FlatPile *pile, const double *q, const double *v, st_Error *err)
{
    tell(pile, PUT);
    return pile->device->put(pile->share, q, v, err);
}

static st_Status lead_get(sti_FlatPile *pile, int first, int n, double *q, double *v, st_Error *err)
{
    order(pile->ranks, GET, pile, 0, first, n);
    return pile->device->get(pile->share, first, n, q, v, err);
}

static st_Status lead_before(sti_FlatPile *pile, double *q, double *v, st_Error *err)
{
    tell(pile, BEFORE);
    return pile->device->before(pile->share, q, v, err);
}

static st_Status lead_drive(sti_FlatPile *pile, const double *v, st_Error *err)
{
    tell(pile, DRIVE);
    if (!all_well(pile->ranks, true)) return sti_fail(err, ST_ERR_MEMORY, "a rank has no memory for velocities");
    pile->ranks->broadcast(pile->ranks->ctx, (double *)(uintptr_t)v, (int64_t)6 * pile->n_driven * (int64_t)sizeof *v);
    return pile->device->drive(pile->share, v, err);
}

static st_Status lead_couple(sti_FlatPile *pile, const int *body, int n, st_Error *err)
{
    order(pile->ranks, COUPLE, pile, 0, 0, n);
    return pile->device->couple(pile->share, body, n, err);
}

static st_Status lead_step(sti_FlatPile *pile, double h, sti_FlatInfo *info, st_Error *err)
{
    order(pile->ranks, STEP, pile, h, 0, 0);
    return pile->device->step(pile->share, h, info, err);
}

static st_Status lead_contacts(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    tell(pile, CONTACTS);
    return pile->device->contacts(pile->share, out, err);
}

static st_Status lead_deepest(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    tell(pile, DEEPEST);
    return pile->device->deepest(pile->share, out, err);
}

const sti_FlatDevice sti_flat_host_ranks = {.name = "host",
                                            .create = lead_create_host,
                                            .destroy = lead_destroy,
                                            .put = lead_put,
                                            .get = lead_get,
                                            .before = lead_before,
                                            .drive = lead_drive,
                                            .couple = lead_couple,
                                            .step = lead_step,
                                            .contacts = lead_contacts,
                                            .deepest = lead_deepest};
#ifdef STI_HAVE_CUDA
static st_Status lead_create_cuda(const sti_FlatDef *def, const st_Allocator *allocator, sti_FlatPile **out,
                                  st_Error *err)
{
    return lead_create(def, allocator, out, err, true);
}
const sti_FlatDevice sti_flat_cuda_ranks = {.name = "cuda",
                                            .create = lead_create_cuda,
                                            .destroy = lead_destroy,
                                            .put = lead_put,
                                            .get = lead_get,
                                            .before = lead_before,
                                            .drive = lead_drive,
                                            .couple = lead_couple,
                                            .step = lead_step,
                                            .contacts = lead_contacts,
                                            .deepest = lead_deepest};
#endif

void st_ranks_dismiss(const st_Ranks *ranks)
{
    if (ranks != NULL && ranks->size > 1 && ranks->rank == 0) order(ranks, DISMISS, NULL, 0, 0, 0);
}

/* ---- the others ------------------------------------------------------------------------------------------------ */

static sti_FlatPile *serve_create(const st_Ranks *ranks, const st_Allocator *allocator, Command *command)
{
    sti_Span span[N_ARRAYS];
    st_Error err;
    sti_FlatDef *def = &command->def;
    sti_FlatPile *pile = sti_alloc(allocator, 1, sizeof *pile);
    def->ranks = ranks;
    def->stopped = NULL; /* rank 0 calls it */
    def->stop = NULL;
    def->beside = NULL; /* beside rank 0 */
    def->beside_ctx = NULL;
    def->inverse_mass = NULL; /* rank 0 has the bodies */
    list_arrays(def, span);
    void *block = pile != NULL ? sti_alloc_spans(allocator, span, N_ARRAYS) : NULL;
    bool made = all_well(ranks, block != NULL);
    for (int k = 0; made && k < N_ARRAYS; k++)
        if (span[k].count > 0) ranks->broadcast(ranks->ctx, *span[k].at, span[k].count * (int64_t)span[k].size);
    if (made) {
        *pile = (sti_FlatPile){.device = device_of(command->cuda),
                               .name = command->pile,
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
            pile->device->put(pile->share, NULL, NULL, &reason);
        } else if (command.what == GET) {
            pile->device->get(pile->share, command.first, command.n, NULL, NULL, &reason);
        } else if (command.what == BEFORE) {
            pile->device->before(pile->share, NULL, NULL, &reason);
        } else if (command.what == DRIVE) {
            serve_drive(pile);
        } else if (command.what == COUPLE) {
            pile->device->couple(pile->share, NULL, command.n, &reason);
        } else if (command.what == STEP) {
            pile->device->step(pile->share, command.h, &info, &reason);
        } else if (command.what == CONTACTS) {
            pile->device->contacts(pile->share, NULL, &reason);
        } else if (command.what == DEEPEST) {
            sti_FlatContact deepest;
            pile->device->deepest(pile->share, &deepest, &reason);
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
