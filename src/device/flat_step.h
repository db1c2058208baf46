/* device/flat_step.h -- the step of a flat pile, as a sequence of kernels. Included by host.c and by cuda.cu, which say
 * before it how memory is had and how a kernel is run:
 *
 *     RUN(pile, kernel, first, n)                kernel(i, f) for i = first .. first + n - 1, in any order
 *     device_alloc, device_free, device_clear    memory; device_alloc gives zeroes, or NULL
 *     device_put, device_get, device_copy        to the device, from it, within it
 *     device_sort(pile, key, key_sorted, item, item_sorted, n, bits)     stable, by the lowest bits of the keys
 *     device_scan(pile, count, first, n)         first[i]: the sum of all counts before i; n + 1 of them
 *     device_repeat(pile, work), device_forget   work(pile), which launches the same kernels until it is forgotten
 *     device_fault(pile, err)                    the first error since the last call
 *
 * and the members of struct sti_FlatPile beside `common`.
 */

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Arrays that are had and given back together. */
static void *take(sti_FlatPile *pile, sti_FlatBlocks *blocks, int64_t count, size_t size)
{
    if (blocks->failed || blocks->n == STI_FLAT_MOST_BLOCKS) {
        blocks->failed = true;
        return NULL;
    }
    sti_FlatBlock *block = &blocks->block[blocks->n];
    block->count = count > 0 ? count : 1;
    block->size = size;
    block->at = device_alloc(pile, block->count, size);
    if (block->at == NULL)
        blocks->failed = true;
    else
        blocks->n++;
    return block->at;
}

static double *take_doubles(sti_FlatPile *pile, sti_FlatBlocks *blocks, int64_t count)
{
    return (double *)take(pile, blocks, count, sizeof(double));
}

static int *take_ints(sti_FlatPile *pile, sti_FlatBlocks *blocks, int64_t count)
{
    return (int *)take(pile, blocks, count, sizeof(int));
}

static void give_back(sti_FlatPile *pile, sti_FlatBlocks *blocks)
{
    for (int k = 0; k < blocks->n; k++)
        device_free(pile, blocks->block[k].at, blocks->block[k].count, blocks->block[k].size);
    blocks->n = 0;
    blocks->failed = false;
}

static void take_contacts(sti_FlatPile *pile, sti_FlatBlocks *blocks, int64_t n, sti_FlatContacts *c)
{
    const int levers = pile->f.round ? 1 : 3;
    c->a = take_ints(pile, blocks, n);
    c->b = take_ints(pile, blocks, n);
    c->n = take_doubles(pile, blocks, 3 * n);
    c->lever_a = take_doubles(pile, blocks, levers * n);
    c->lever_b = take_doubles(pile, blocks, levers * n);
    c->w = take_doubles(pile, blocks, n);
    c->inverse_n = take_doubles(pile, blocks, n);
    c->inverse_t = take_doubles(pile, blocks, n);
    c->mu = take_doubles(pile, blocks, n);
    c->r = take_doubles(pile, blocks, 3 * n);
    if (pile->f.moving) c->drive = take_doubles(pile, blocks, (pile->f.rolling ? 6 : 3) * n);
    if (!pile->f.rolling) return;
    c->inverse_m = take_doubles(pile, blocks, n);
    c->roll = take_doubles(pile, blocks, n);
    c->spin = take_doubles(pile, blocks, n);
    c->m = take_doubles(pile, blocks, 3 * n);
}

static st_Status out_of_memory(const sti_FlatPile *pile, int64_t contacts, st_Error *err)
{
    return sti_fail(err, ST_ERR_MEMORY, "device \"%s\": no memory for %d bodies, %d spheres and %lld contacts",
                    device_name, pile->f.n_bodies, pile->f.n_spheres, (long long)contacts);
}

/* The arrays of n bodies with s pieces; pile->body_blocks.failed: there is no memory. */
static void take_bodies(sti_FlatPile *pile, int64_t n, int64_t s)
{
    sti_Flat *f = &pile->f;
    sti_FlatBlocks *blocks = &pile->body_blocks;
    f->inverse_mass = take_doubles(pile, blocks, n);
    f->inertia = take_doubles(pile, blocks, 6 * n);
    f->inverse_inertia = take_doubles(pile, blocks, 6 * n);
    f->sphere_body = take_ints(pile, blocks, s);
    f->sphere_surface = take_ints(pile, blocks, s);
    f->sphere_centre = take_doubles(pile, blocks, 3 * s);
    f->sphere_radius = take_doubles(pile, blocks, s);
    f->sphere_own = take_doubles(pile, blocks, f->n_surfaces == 0 ? 4 * s : 0);
    f->q = take_doubles(pile, blocks, 7 * n);
    f->v = take_doubles(pile, blocks, 6 * n);
    f->q_start = take_doubles(pile, blocks, 7 * n);
    f->v_start = take_doubles(pile, blocks, 6 * n);
    f->u = take_doubles(pile, blocks, STI_FLAT_RECORD * n);
    f->u_before = take_doubles(pile, blocks, 6 * n);
    f->world_inverse = take_doubles(pile, blocks, 6 * n);
    f->x = take_doubles(pile, blocks, 3 * s);
    f->width = take_doubles(pile, blocks, s);
    f->level = take_ints(pile, blocks, s);
    f->cell = take_ints(pile, blocks, 3 * s);
    f->key = (uint32_t *)take(pile, blocks, s, sizeof(uint32_t));
    f->key_sorted = (uint32_t *)take(pile, blocks, s, sizeof(uint32_t));
    f->item = take_ints(pile, blocks, s);
    f->item_sorted = take_ints(pile, blocks, s);
    pile->cell_bits = 6;
    while (pile->cell_bits < 27 && (int64_t)1 << pile->cell_bits < 4 * s)
        pile->cell_bits++;
    f->cell_first = take_ints(pile, blocks, (int64_t)1 << pile->cell_bits);
    f->cell_end = take_ints(pile, blocks, (int64_t)1 << pile->cell_bits);
    f->bounds = take_doubles(pile, blocks, 6 * s);
    f->bounds_next = take_doubles(pile, blocks, 6 * (s / STI_FLAT_TREE + 1));
    pile->bounds_other = take_doubles(pile, blocks, 6 * (s / STI_FLAT_TREE / STI_FLAT_TREE + 1));
    f->count = take_ints(pile, blocks, s + 1);
    f->first = take_ints(pile, blocks, s + 1);
    f->first_old = take_ints(pile, blocks, s + 1);
    f->best = (unsigned long long *)take(pile, blocks, n, sizeof *f->best);
    f->used = (unsigned long long *)take(pile, blocks, n, sizeof *f->used);
    if (f->shaped) {
        f->piece_hull = take_ints(pile, blocks, s);
        f->piece_turn = take_doubles(pile, blocks, 4 * s);
        f->piece_round = take_doubles(pile, blocks, s);
        f->piece_size = take_doubles(pile, blocks, s);
        f->pair_first = take_ints(pile, blocks, s + 1);
    }
    if (pile->ranks == NULL) return;
    f->owner = take_ints(pile, blocks, n);
    f->piece_id = take_ints(pile, blocks, s);
    f->held = take_doubles(pile, blocks, 4 * s);
}

/* Memory for n contacts; data of those of the last step is kept. */
static st_Status make_room(sti_FlatPile *pile, int64_t n, st_Error *err)
{
    sti_Flat fresh = pile->f;
    sti_FlatBlocks *blocks = &pile->contact_blocks[1 - pile->which];
    const int64_t was = pile->f.capacity, room = n + n / 4 + 1024;
    const bool rolling = fresh.rolling;
    if (n <= was) return ST_OK;
    take_contacts(pile, blocks, room, &fresh.found);
    take_contacts(pile, blocks, room, &fresh.swept);
    fresh.found.gap = take_doubles(pile, blocks, room);
    fresh.found.fast = take_ints(pile, blocks, room);
    if (fresh.bounces) fresh.found.leave = take_doubles(pile, blocks, room);
    fresh.sphere = take_ints(pile, blocks, room);
    fresh.other = take_ints(pile, blocks, room);
    fresh.other_old = take_ints(pile, blocks, room);
    fresh.colour = take_ints(pile, blocks, room);
    fresh.colour_old = take_ints(pile, blocks, room);
    fresh.colour_sorted = take_ints(pile, blocks, room);
    fresh.order = take_ints(pile, blocks, room);
    fresh.order_sorted = take_ints(pile, blocks, room);
    if (fresh.shaped) {
        fresh.feature = take_ints(pile, blocks, room);
        fresh.feature_old = take_ints(pile, blocks, room);
        fresh.point = take_doubles(pile, blocks, 3 * room);
    }
    fresh.r_old = take_doubles(pile, blocks, 3 * room);
    fresh.r_before = take_doubles(pile, blocks, 3 * room);
    if (rolling) fresh.m_old = take_doubles(pile, blocks, 3 * room);
    if (rolling) fresh.m_before = take_doubles(pile, blocks, 3 * room);
    const int64_t terms = room > fresh.n_bodies ? room : fresh.n_bodies;
    fresh.term = take_doubles(pile, blocks, terms);
    fresh.sum = take_doubles(pile, blocks, terms / STI_FLAT_TREE + 1);
    double *sum_next = take_doubles(pile, blocks, terms / STI_FLAT_TREE / STI_FLAT_TREE + 1);
    fresh.capacity = room;
    if (blocks->failed) {
        give_back(pile, blocks);
        return out_of_memory(pile, room, err);
    }
    if (was > 0) {
        device_copy(pile, fresh.other_old, pile->f.other_old, was * (int64_t)sizeof(int));
        device_copy(pile, fresh.colour_old, pile->f.colour_old, was * (int64_t)sizeof(int));
        if (fresh.shaped) device_copy(pile, fresh.feature_old, pile->f.feature_old, was * (int64_t)sizeof(int));
        for (int k = 0; k < 3; k++) {
            device_copy(pile, fresh.r_old + k * room, pile->f.r_old + k * was, was * (int64_t)sizeof(double));
            if (rolling)
                device_copy(pile, fresh.m_old + k * room, pile->f.m_old + k * was, was * (int64_t)sizeof(double));
        }
    }
    give_back(pile, &pile->contact_blocks[pile->which]);
    pile->which = 1 - pile->which;
    pile->sum_next = sum_next;
    pile->f = fresh;
    return ST_OK;
}

/* Room for n pairs of pieces; nothing is kept of the last ones. */
static st_Status make_pair_room(sti_FlatPile *pile, int64_t n, st_Error *err)
{
    sti_Flat *f = &pile->f;
    sti_FlatBlocks *blocks = &pile->pair_blocks;
    if (n < pile->pair_room) return ST_OK;
    const int64_t room = n + n / 4 + 1024;
    give_back(pile, blocks);
    f->pair_piece = take_ints(pile, blocks, room);
    f->pair_other = take_ints(pile, blocks, room);
    f->pair_count = take_ints(pile, blocks, room);
    f->pair_contact = take_ints(pile, blocks, room);
    f->patch = (sti_FlatPatch *)take(pile, blocks, room, sizeof(sti_FlatPatch));
    pile->pair_room = blocks->failed ? 0 : room;
    if (!blocks->failed) return ST_OK;
    give_back(pile, blocks);
    return out_of_memory(pile, room, err);
}

static void put_doubles(sti_FlatPile *pile, double *to, const double *from, int64_t n)
{
    device_put(pile, to, from, n * (int64_t)sizeof(double));
}

#include "device/flat_ranks.h"

/* ---- contacts of the last step --------------------------------------------------------------------------------- */

/* The contacts of the last step, with the numbers of bodies and pieces here. */
static st_Status get_impulses(sti_FlatPile *pile, sti_FlatImpulse *out, st_Error *err)
{
    const sti_Flat *f = &pile->f;
    const int64_t n = f->n_contacts, s = f->n_spheres, room = n > s ? n + 1 : s + 1;
    double *numbers = (double *)sti_alloc(&pile->allocator, room, sizeof *numbers);
    int *ints = (int *)sti_alloc(&pile->allocator, room, sizeof *ints);
    st_Status status = numbers != NULL && ints != NULL ? ST_OK : out_of_memory(pile, n, err);
    if (status == ST_OK) {
        const sti_FlatImpulse none = {0};
        device_get(pile, ints, f->first_old, (s + 1) * (int64_t)sizeof *ints);
        for (int i = 0; i < f->n_spheres; i++)
            for (int c = ints[i]; c < ints[i + 1]; c++)
                out[c] = none, out[c].sphere = i;
        device_get(pile, ints, f->other_old, n * (int64_t)sizeof *ints);
        for (int64_t c = 0; c < n; c++)
            out[c].other = ints[c];
        device_get(pile, ints, f->colour_old, n * (int64_t)sizeof *ints);
        for (int64_t c = 0; c < n; c++)
            out[c].colour = ints[c];
        if (f->shaped) device_get(pile, ints, f->feature_old, n * (int64_t)sizeof *ints);
        for (int64_t c = 0; f->shaped && c < n; c++)
            out[c].feature = ints[c];
        for (int k = 0; k < 3; k++) {
            device_get(pile, numbers, f->r_old + k * f->capacity, n * (int64_t)sizeof *numbers);
            for (int64_t c = 0; c < n; c++)
                out[c].r[k] = numbers[c];
            if (f->rolling) device_get(pile, numbers, f->m_old + k * f->capacity, n * (int64_t)sizeof *numbers);
            for (int64_t c = 0; f->rolling && c < n; c++)
                out[c].m[k] = numbers[c];
        }
        status = device_fault(pile, err);
    }
    sti_free(&pile->allocator, numbers, room, sizeof *numbers);
    sti_free(&pile->allocator, ints, room, sizeof *ints);
    return status;
}

/* And back; they are sorted by spheres. */
static st_Status set_impulses(sti_FlatPile *pile, const sti_FlatImpulse *in, int n, double h, st_Error *err)
{
    STI_TRY(make_room(pile, n, err));
    sti_Flat *f = &pile->f;
    const int64_t s = f->n_spheres, room = n > s ? (int64_t)n + 1 : s + 1;
    double *numbers = (double *)sti_alloc(&pile->allocator, room, sizeof *numbers);
    int *ints = (int *)sti_alloc(&pile->allocator, room, sizeof *ints);
    st_Status status = numbers != NULL && ints != NULL ? ST_OK : out_of_memory(pile, n, err);
    if (status == ST_OK) {
        for (int c = 0, i = 0; i <= f->n_spheres; i++) {
            while (c < n && in[c].sphere < i)
                c++;
            ints[i] = c;
        }
        device_put(pile, f->first_old, ints, (s + 1) * (int64_t)sizeof *ints);
        for (int c = 0; c < n; c++)
            ints[c] = in[c].other;
        device_put(pile, f->other_old, ints, n * (int64_t)sizeof *ints);
        for (int c = 0; c < n; c++)
            ints[c] = in[c].colour;
        device_put(pile, f->colour_old, ints, n * (int64_t)sizeof *ints);
        for (int c = 0; c < n; c++)
            ints[c] = in[c].feature;
        if (f->shaped) device_put(pile, f->feature_old, ints, n * (int64_t)sizeof *ints);
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < n; c++)
                numbers[c] = in[c].r[k];
            put_doubles(pile, f->r_old + k * f->capacity, numbers, n);
            for (int c = 0; f->rolling && c < n; c++)
                numbers[c] = in[c].m[k];
            if (f->rolling) put_doubles(pile, f->m_old + k * f->capacity, numbers, n);
        }
        f->h_old = h;
        status = device_fault(pile, err);
    }
    sti_free(&pile->allocator, numbers, room, sizeof *numbers);
    sti_free(&pile->allocator, ints, room, sizeof *ints);
    return status;
}

/* ---- sharing out ------------------------------------------------------------------------------------------------- */

static void begin_step(sti_FlatPile *pile);
static double reduced(sti_FlatPile *pile, int64_t n, bool largest);

#include "device/flat_share.h"

/* ---- model and state ------------------------------------------------------------------------------------------- */

/* The inverse of a symmetric matrix xx yy zz xy xz yz. */
static void invert(const double *J, double *out)
{
    const double a = J[1] * J[2] - J[5] * J[5], b = J[4] * J[5] - J[3] * J[2], c = J[3] * J[5] - J[4] * J[1];
    const double determinant = J[0] * a + J[3] * b + J[4] * c;
    out[0] = a / determinant, out[3] = b / determinant, out[4] = c / determinant;
    out[1] = (J[0] * J[2] - J[4] * J[4]) / determinant;
    out[5] = (J[3] * J[4] - J[0] * J[5]) / determinant;
    out[2] = (J[0] * J[1] - J[3] * J[3]) / determinant;
}

/* Is every piece a ball about the centre of its body, which an impulse along the normal does not turn? */
static bool is_round(const sti_FlatDef *def)
{
    if (def->n_hulls > 0) return false;
    for (int s = 0; s < def->n_spheres; s++) {
        const double *x = def->sphere_centre + (int64_t)3 * s;
        if (x[0] != 0 || x[1] != 0 || x[2] != 0) return false;
    }
    for (int b = 0; b < def->n_bodies; b++) {
        const double *J = def->inertia + (int64_t)6 * b;
        if (def->inverse_mass[b] == 0) continue;
        if (J[0] != J[1] || J[0] != J[2] || J[3] != 0 || J[4] != 0 || J[5] != 0) return false;
    }
    return true;
}

static void flat_destroy(sti_FlatPile *pile)
{
    if (pile == NULL) return;
    free_share(pile);
    for (int k = 0; k < 2; k++)
        give_back(pile, &pile->contact_blocks[k]);
    give_back(pile, &pile->pair_blocks);
    give_back(pile, &pile->model_blocks);
    give_back(pile, &pile->body_blocks);
    give_back(pile, &pile->coupled_blocks);
    sti_free(&pile->allocator, pile->coupled_host, 6 * pile->coupled_room, sizeof(double));
    sti_free(&pile->allocator, pile->driven, (int64_t)pile->n_driven + 1, sizeof(int));
    device_close(pile);
    const st_Allocator allocator = pile->allocator;
    sti_free(&allocator, pile, 1, sizeof *pile);
}

static bool flat_any(const double *x, int n)
{
    bool any = false;
    for (int k = 0; k < n; k++)
        any = any || x[k] != 0;
    return any;
}

/* Properties that all bodies of a model share. With ranks, the first one reads them. */
typedef struct sti_FlatTraits {
    bool round, rolling, bounces;
    bool beside; /* something is beside the pile, at rank 0 */
    double smallest_cell;
} sti_FlatTraits;

static void read_traits(const sti_FlatDef *def, sti_FlatTraits *traits)
{
    const int64_t s = def->n_spheres, surfaces = (int64_t)def->n_surfaces * def->n_surfaces;
    traits->round = is_round(def);
    traits->beside = def->beside != NULL;
    for (int64_t k = 0; k < surfaces; k++) {
        traits->rolling = traits->rolling || def->rolling[k] > 0 || def->spinning[k] > 0;
        traits->bounces = traits->bounces || def->restitution[k] > 0;
    }
    for (int64_t k = 0; k < s + def->n_walls && def->n_surfaces == 0; k++) {
        const double *own = k < s ? def->sphere_own + 4 * k : def->wall[k - s].own;
        traits->rolling = traits->rolling || own[1] > 0 || own[2] > 0;
        traits->bounces = traits->bounces || own[3] > 0;
    }
    traits->bounces = traits->bounces && def->rebound_speed < HUGE_VAL;
    double smallest = 0;
    for (int64_t k = 0; k < s; k++)
        if (k == 0 || def->sphere_radius[k] < smallest) smallest = def->sphere_radius[k];
    traits->smallest_cell = 2.2 * smallest;
}

static st_Status flat_fill(sti_FlatPile *pile, const sti_FlatDef *def, st_Error *err)
{
    sti_Flat *f = &pile->f;
    sti_FlatBlocks *blocks = &pile->model_blocks;
    const bool here = def->inverse_mass != NULL; /* the bodies; of ranks the first one has them */
    const int64_t surfaces = (int64_t)def->n_surfaces * def->n_surfaces;
    sti_FlatTraits traits;
    memset(&traits, 0, sizeof traits);
    if (here) read_traits(def, &traits);
    if (is_shared(pile)) pile->ranks->broadcast(pile->ranks->ctx, &traits, (int64_t)sizeof traits);
    f->round = traits.round, f->rolling = traits.rolling, f->bounces = traits.bounces;
    f->smallest_cell = traits.smallest_cell;
    pile->share.beside = traits.beside && is_shared(pile);
    f->n_walls = def->n_walls;
    f->n_surfaces = def->n_surfaces;
    f->shaped = def->n_hulls > 0;
    f->rebound_speed = def->rebound_speed;
    for (int k = 0; k < def->n_walls; k++) {
        const double *belt = def->wall[k].belt;
        if (def->wall[k].body >= 0 || flat_any(belt, 6)) f->moving = true;
    }
    for (int k = 0; k < 3; k++)
        f->gravity[k] = def->gravity[k];
    f->correction_speed = def->correction_speed;
    f->usual_h = def->usual_h;
    pile->tolerance = def->tolerance;
    pile->max_sweeps = def->max_sweeps;
    pile->stopped = def->stopped;
    pile->stop = def->stop;
    pile->beside = def->beside;
    pile->beside_ctx = def->beside_ctx;

    f->wall = (sti_FlatWall *)take(pile, blocks, def->n_walls, sizeof(sti_FlatWall));
    f->meshes.triangle = (sti_FlatTriangle *)take(pile, blocks, def->n_triangles, sizeof(sti_FlatTriangle));
    f->meshes.node = (sti_FlatNode *)take(pile, blocks, def->n_nodes, sizeof(sti_FlatNode));
    f->meshes.item = take_ints(pile, blocks, def->n_triangles);
    f->meshes.spoke_first = take_ints(pile, blocks, (int64_t)def->n_mesh_vertices + 1);
    f->meshes.spoke = take_doubles(pile, blocks, 3 * (int64_t)def->n_spokes);
    f->meshes.outward = take_doubles(pile, blocks, 3 * (int64_t)def->n_mesh_vertices);
    f->mu = take_doubles(pile, blocks, surfaces);
    f->roll = take_doubles(pile, blocks, surfaces);
    f->spin = take_doubles(pile, blocks, surfaces);
    f->restitution = take_doubles(pile, blocks, surfaces);
    f->levels = (unsigned long long *)take(pile, blocks, 1, sizeof *f->levels);
    f->left = (unsigned long long *)take(pile, blocks, 1, sizeof *f->left);
    f->colour_end = take_ints(pile, blocks, STI_FLAT_COLOURS);
    f->momentum = take_doubles(pile, blocks, 3);
    if (f->shaped) {
        sti_FlatHulls *hulls = &f->hulls;
        hulls->hull = (sti_FlatHull *)take(pile, blocks, def->n_hulls, sizeof(sti_FlatHull));
        hulls->vertex = take_doubles(pile, blocks, 3 * (int64_t)def->n_vertices);
        hulls->plane = take_doubles(pile, blocks, 4 * (int64_t)def->n_faces);
        hulls->loop = take_ints(pile, blocks, 2 * (int64_t)def->n_faces);
        hulls->corner = take_ints(pile, blocks, def->n_corners);
        hulls->edge = take_ints(pile, blocks, 4 * (int64_t)def->n_edges);
    }
    pile->n_driven = def->n_driven;
    pile->driven = (int *)sti_alloc(&pile->allocator, (int64_t)def->n_driven + 1, sizeof(int));
    if (blocks->failed || pile->driven == NULL) return out_of_memory(pile, 0, err);
    for (int k = 0; k < def->n_driven; k++)
        pile->driven[k] = def->driven[k];
    device_put(pile, f->wall, def->wall, def->n_walls * (int64_t)sizeof(sti_FlatWall));
    device_put(pile, f->meshes.triangle, def->meshes.triangle, def->n_triangles * (int64_t)sizeof(sti_FlatTriangle));
    device_put(pile, f->meshes.node, def->meshes.node, def->n_nodes * (int64_t)sizeof(sti_FlatNode));
    device_put(pile, f->meshes.item, def->meshes.item, def->n_triangles * (int64_t)sizeof(int));
    if (def->n_triangles > 0)
        device_put(pile, f->meshes.spoke_first, def->meshes.spoke_first,
                   ((int64_t)def->n_mesh_vertices + 1) * (int64_t)sizeof(int));
    put_doubles(pile, f->meshes.spoke, def->meshes.spoke, 3 * (int64_t)def->n_spokes);
    put_doubles(pile, f->meshes.outward, def->meshes.outward, 3 * (int64_t)def->n_mesh_vertices);
    put_doubles(pile, f->mu, def->mu, surfaces);
    put_doubles(pile, f->roll, def->rolling, surfaces);
    put_doubles(pile, f->spin, def->spinning, surfaces);
    put_doubles(pile, f->restitution, def->restitution, surfaces);
    if (f->shaped) {
        const sti_FlatHulls *to = &f->hulls, *from = &def->hulls;
        device_put(pile, to->hull, from->hull, def->n_hulls * (int64_t)sizeof(sti_FlatHull));
        put_doubles(pile, to->vertex, from->vertex, 3 * (int64_t)def->n_vertices);
        put_doubles(pile, to->plane, from->plane, 4 * (int64_t)def->n_faces);
        device_put(pile, to->loop, from->loop, 2 * (int64_t)def->n_faces * (int64_t)sizeof(int));
        device_put(pile, to->corner, from->corner, (int64_t)def->n_corners * (int64_t)sizeof(int));
        device_put(pile, to->edge, from->edge, 4 * (int64_t)def->n_edges * (int64_t)sizeof(int));
    }
    return device_fault(pile, err);
}

/* The bodies of a pile that is not shared. */
static st_Status put_bodies(sti_FlatPile *pile, const sti_FlatDef *def, const double *inverse_inertia, st_Error *err)
{
    sti_Flat *f = &pile->f;
    sti_FlatRows from[2], to[2];
    f->n_bodies = def->n_bodies, f->n_spheres = def->n_spheres;
    take_bodies(pile, def->n_bodies, def->n_spheres);
    if (pile->body_blocks.failed) return out_of_memory(pile, 0, err);
    list_def_rows(def, inverse_inertia, NULL, from);
    list_rows(pile, to);
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < from[part].n_columns; c++)
            if (!to[part].column[c].here && from[part].column[c].at != NULL)
                device_put(pile, to[part].column[c].at, from[part].column[c].at,
                           from[part].n * from[part].column[c].size);
    device_put(pile, f->sphere_body, def->sphere_body, def->n_spheres * (int64_t)sizeof(int));
    return ST_OK;
}

/* The bodies, or the share of them. */
static st_Status make_bodies(sti_FlatPile *pile, const sti_FlatDef *def, st_Error *err)
{
    const int64_t n = def->inverse_mass != NULL ? def->n_bodies : 0;
    double *inverse = (double *)sti_alloc(&pile->allocator, 6 * n + 1, sizeof(double));
    st_Status status = agree(pile, inverse != NULL ? ST_OK : out_of_memory(pile, 0, err), err);
    for (int64_t b = 0; b < n && status == ST_OK; b++)
        if (def->inverse_mass[b] != 0) invert(def->inertia + 6 * b, inverse + 6 * b);
    if (status == ST_OK)
        status = is_shared(pile) ? share_model(pile, def, inverse, err) : put_bodies(pile, def, inverse, err);
    sti_free(&pile->allocator, inverse, 6 * n + 1, sizeof(double));
    if (status == ST_OK && is_shared(pile)) {
        /* Walls and driven bodies name bodies by their places here. Bodies without mass come first, on all ranks. */
        const sti_FlatShare *share = &pile->share;
        for (int k = 0; k < def->n_driven; k++)
            pile->driven[k] = find_body(share, share->n_everywhere, def->driven[k]);
        for (int k = 0; k < def->n_walls; k++) {
            sti_FlatWall wall = def->wall[k];
            if (wall.body < 0) continue;
            wall.body = find_body(share, share->n_everywhere, wall.body);
            device_put(pile, pile->f.wall + k, &wall, (int64_t)sizeof wall);
        }
    }
    const int64_t terms =
        pile->body_room > 4 * (int64_t)pile->f.n_spheres ? pile->body_room : 4 * (int64_t)pile->f.n_spheres;
    if (status == ST_OK) status = make_room(pile, terms + 1, err); /* room for sums over bodies, too */
    return status == ST_OK ? device_fault(pile, err) : status;
}

/* Of ranks all make their shares, or none does. */
static st_Status flat_create(const sti_FlatDef *def, const st_Allocator *allocator, sti_FlatPile **out, st_Error *err)
{
    const st_Ranks *ranks = def->ranks != NULL && def->ranks->size > 1 ? def->ranks : NULL;
    sti_FlatPile *pile = (sti_FlatPile *)sti_alloc(allocator, 1, sizeof *pile);
    st_Status status = pile != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "no memory for a pile");
    *out = NULL;
    if (pile != NULL) {
        pile->allocator = *allocator;
        pile->ranks = ranks;
        status = device_open(pile, def, err);
        if (status == ST_OK && ranks != NULL) status = make_share(pile, err);
    }
    if (ranks != NULL) status = agree_all(ranks, status, err);
    if (status == ST_OK) status = agree(pile, flat_fill(pile, def, err), err);
    if (status == ST_OK) status = agree(pile, make_bodies(pile, def, err), err);
    if (status == ST_OK)
        *out = pile;
    else
        flat_destroy(pile);
    return status;
}

static st_Status flat_put(sti_FlatPile *pile, const double *q, const double *v, st_Error *err)
{
    device_clear(pile, pile->f.first_old, ((int64_t)pile->f.n_spheres + 1) * (int64_t)sizeof(int));
    if (is_shared(pile)) {
        pile->f.n_contacts = 0;
        pile->share.stale = pile->share.recut = true;
        STI_TRY(scatter_state(pile, q, v, err));
    } else {
        put_doubles(pile, pile->f.q, q, (int64_t)7 * pile->f.n_bodies);
        put_doubles(pile, pile->f.v, v, (int64_t)6 * pile->f.n_bodies);
    }
    return device_fault(pile, err);
}

static st_Status flat_get(sti_FlatPile *pile, int first, int n, double *q, double *v, st_Error *err)
{
    if (is_shared(pile)) return gather_state(pile, pile->f.q, pile->f.v, first, n, q, v, err);
    device_get(pile, q, pile->f.q + (int64_t)7 * first, (int64_t)7 * n * (int64_t)sizeof(double));
    device_get(pile, v, pile->f.v + (int64_t)6 * first, (int64_t)6 * n * (int64_t)sizeof(double));
    return device_fault(pile, err);
}

static st_Status flat_present(sti_FlatPile *pile, int first, int n, const double *inverse_mass, const double *q,
                              const double *v, st_Error *err)
{
    put_doubles(pile, pile->f.inverse_mass + first, inverse_mass, n);
    put_doubles(pile, pile->f.q + (int64_t)7 * first, q, (int64_t)7 * n);
    put_doubles(pile, pile->f.v + (int64_t)6 * first, v, (int64_t)6 * n);
    return device_fault(pile, err);
}

static st_Status flat_before(sti_FlatPile *pile, double *q, double *v, st_Error *err)
{
    if (is_shared(pile)) return gather_state(pile, pile->f.q_start, pile->f.v_start, 0, pile->share.n_all, q, v, err);
    device_get(pile, q, pile->f.q_start, (int64_t)7 * pile->f.n_bodies * (int64_t)sizeof(double));
    device_get(pile, v, pile->f.v_start, (int64_t)6 * pile->f.n_bodies * (int64_t)sizeof(double));
    return device_fault(pile, err);
}

static st_Status flat_drive(sti_FlatPile *pile, const double *v, st_Error *err)
{
    for (int k = 0; k < pile->n_driven; k++)
        put_doubles(pile, pile->f.v + (int64_t)6 * pile->driven[k], v + (int64_t)6 * k, 6);
    return device_fault(pile, err);
}

/* Room for n bodies that something beside the pile pushes. */
static st_Status make_coupled_room(sti_FlatPile *pile, int n, st_Error *err)
{
    sti_FlatBlocks *blocks = &pile->coupled_blocks;
    if (n <= pile->coupled_room) return ST_OK;
    const int64_t room = n + n / 2 + 64;
    give_back(pile, blocks);
    sti_free(&pile->allocator, pile->coupled_host, 6 * pile->coupled_room, sizeof(double));
    pile->coupled_room = room;
    pile->coupled = take_ints(pile, blocks, room);
    pile->coupled_u = take_doubles(pile, blocks, 6 * room);
    pile->coupled_host = (double *)sti_alloc(&pile->allocator, 6 * room, sizeof(double));
    if (!blocks->failed && pile->coupled_host != NULL) return ST_OK;
    give_back(pile, blocks);
    sti_free(&pile->allocator, pile->coupled_host, 6 * room, sizeof(double));
    pile->coupled_host = NULL;
    pile->coupled_room = 0;
    return sti_fail(err, ST_ERR_MEMORY, "device \"%s\": no memory for %d coupled bodies", device_name, n);
}

/* Of ranks all get the list. The next step finds which of its bodies are here. */
static st_Status flat_couple(sti_FlatPile *pile, const int *body, int n, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const st_Allocator *a = &pile->allocator;
    pile->n_coupled = share->n_coupled = 0;
    st_Status status = make_coupled_room(pile, n, err);
    if (!is_shared(pile)) {
        STI_TRY(status);
        device_put(pile, pile->coupled, body, n * (int64_t)sizeof *body);
        pile->n_coupled = n;
        return device_fault(pile, err);
    }
    if (status == ST_OK) status = STI_GROW(a, share->coupled, share->coupled_room, n + 1, err);
    if (status == ST_OK) status = STI_GROW(a, share->coupled_place, share->coupled_place_room, n + 1, err);
    if (status == ST_OK) status = STI_GROW(a, share->coupled_row, share->coupled_row_room, n + 1, err);
    if (status == ST_OK) status = STI_GROW(a, share->coupled_u, share->coupled_u_room, 6 * (int64_t)n + 1, err);
    STI_TRY(agree(pile, status, err));
    if (pile->ranks->rank == 0 && n > 0) memcpy(share->coupled, body, (size_t)n * sizeof *body);
    pile->ranks->broadcast(pile->ranks->ctx, share->coupled, n * (int64_t)sizeof *body);
    share->n_coupled = n;
    return ST_OK;
}

static void take_coupled(void *ctx, const void *rows, int64_t n)
{
    double *u = (double *)ctx;
    const sti_FlatCoupled *row = (const sti_FlatCoupled *)rows;
    for (int64_t i = 0; i < n; i++)
        memcpy(u + 6 * row[i].place, row[i].u, sizeof row[i].u);
}

/* Mechanisms beside the pile are at rank 0: owners send it the velocities of coupled bodies, and all ranks receive the
 * new ones. */
static st_Status meet_at_first(sti_FlatPile *pile, double factor, st_Error *err)
{
    sti_FlatShare *share = &pile->share;
    const st_Ranks *ranks = pile->ranks;
    for (int k = 0; k < share->n_coupled_own; k++) {
        share->coupled_row[k].place = share->coupled_place[k];
        memcpy(share->coupled_row[k].u, pile->coupled_host + 6 * (int64_t)k, 6 * sizeof(double));
    }
    STI_TRY(to_first(pile, share->coupled_row, share->n_coupled_own, sizeof *share->coupled_row, take_coupled,
                     share->coupled_u + 1, err));
    st_Status status = ST_OK;
    if (ranks->rank == 0) status = pile->beside(pile->beside_ctx, factor, share->coupled_u + 1, err);
    share->coupled_u[0] = (double)status;
    ranks->broadcast(ranks->ctx, share->coupled_u, (6 * (int64_t)share->n_coupled + 1) * (int64_t)sizeof(double));
    if (ranks->rank > 0 && share->coupled_u[0] != ST_OK)
        status = sti_fail(err, (st_Status)(int)share->coupled_u[0], "rank 0 of %d could not go on", ranks->size);
    STI_TRY(status);
    for (int k = 0; k < pile->n_coupled; k++)
        memcpy(pile->coupled_host + 6 * (int64_t)k, share->coupled_u + 1 + 6 * (int64_t)share->coupled_place[k],
               6 * sizeof(double));
    return ST_OK;
}

/* Coupled bodies receive the impulses of the mechanisms beside the pile. */
static st_Status meet_beside(sti_FlatPile *pile, double factor, st_Error *err)
{
    sti_Flat *f = &pile->f;
    const int64_t bytes = 6 * (int64_t)pile->n_coupled * (int64_t)sizeof(double);
    if (pile->beside == NULL && !pile->share.beside) return ST_OK;
    f->list = pile->coupled;
    f->message = pile->coupled_u;
    RUN(pile, flat_pack, 0, pile->n_coupled);
    device_get(pile, pile->coupled_host, f->message, bytes);
    if (is_shared(pile)) {
        STI_TRY(meet_at_first(pile, factor, err));
    } else {
        STI_TRY(device_fault(pile, err));
        STI_TRY(pile->beside(pile->beside_ctx, factor, pile->coupled_host, err));
    }
    device_put(pile, pile->coupled_u, pile->coupled_host, bytes);
    f->list = pile->coupled;
    f->message = pile->coupled_u;
    RUN(pile, flat_unpack, 0, pile->n_coupled);
    return ST_OK;
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

/* term[0 .. n-1] into sum[0], level by level of a tree of 32; `largest` instead of the sum. Stays on the device. */
static void reduce(sti_FlatPile *pile, int64_t n, bool largest)
{
    const sti_Flat kept = pile->f;
    sti_Flat *f = &pile->f;
    double *to = f->sum, *next = pile->sum_next;
    for (;;) {
        const int64_t groups = (n + STI_FLAT_TREE - 1) / STI_FLAT_TREE;
        f->n_terms = n;
        f->sum = to;
        if (largest)
            RUN(pile, flat_largest, 0, groups);
        else
            RUN(pile, flat_sum, 0, groups);
        if (groups <= 1) break;
        f->term = f->sum;
        STI_EXCHANGE(double *, to, next);
        n = groups;
    }
    const double *result = f->sum;
    *f = kept;
    if (result != f->sum) device_copy(pile, f->sum, result, (int64_t)sizeof(double));
}

static double reduced(sti_FlatPile *pile, int64_t n, bool largest)
{
    double value = 0;
    if (n > 0) {
        reduce(pile, n, largest);
        device_get(pile, &value, pile->f.sum, (int64_t)sizeof value);
    }
    return value;
}

/* ---- the stages of a step -------------------------------------------------------------------------------------- */

static int bits_for(double cells)
{
    int bits = 1;
    while (bits < 20 && (double)((int64_t)1 << bits) < cells)
        bits++;
    return bits;
}

/* The box around all `bounds` of spheres. */
static void find_box(sti_FlatPile *pile, double box[6])
{
    sti_Flat *f = &pile->f;
    const sti_Flat kept = *f;
    double *to = f->bounds_next, *next = pile->bounds_other;
    int64_t n = f->n_spheres;
    for (;;) {
        const int64_t groups = (n + STI_FLAT_TREE - 1) / STI_FLAT_TREE;
        f->n_terms = n;
        f->bounds_next = to;
        RUN(pile, flat_bounds, 0, groups);
        f->bounds = to;
        if (groups <= 1) break;
        STI_EXCHANGE(double *, to, next);
        n = groups;
    }
    device_get(pile, box, f->bounds, 6 * (int64_t)sizeof *box);
    *f = kept;
}

/* first[i]: the sum of all counts before i; `all` is that of all. */
static st_Status count_up(sti_FlatPile *pile, const int *count, int *first, int n, int *all, const char *what,
                          st_Error *err)
{
    device_scan(pile, count, first, n);
    device_get(pile, all, first + n, (int64_t)sizeof(int));
    STI_TRY(device_fault(pile, err));
    if (*all < 0) return sti_fail(err, ST_ERR_MEMORY, "device \"%s\": more than 2147483647 %s", device_name, what);
    return ST_OK;
}

/* Free velocities, and where pieces and walls are. */
static void begin_step(sti_FlatPile *pile)
{
    sti_Flat *f = &pile->f;
    RUN(pile, flat_free, 0, f->n_bodies);
    if (f->moving) RUN(pile, flat_place_wall, 0, f->n_walls);
    device_clear(pile, f->levels, (int64_t)sizeof *f->levels);
    RUN(pile, flat_sphere, 0, f->n_spheres);
}

/* Which spheres are near, and their contacts; impulses and colours of the last step go to those that are still there.
 */
static st_Status find_contacts(sti_FlatPile *pile, st_Error *err)
{
    sti_Flat *f = &pile->f;
    const int s = f->n_spheres;
    /* Bits of the cells' keys, by the extents of the pile; too many are taken from the longest side. */
    double box[6];
    int all = 0;
    find_box(pile, box);
    for (int k = 0; k < 3; k++) {
        const double cells = (box[k + 3] - box[k]) / f->smallest_cell + 3;
        f->cell_bits[k] = cells < 1e6 ? bits_for(cells) : 20; /* NaN too */
        all += f->cell_bits[k];
    }
    for (; all > pile->cell_bits; all--) {
        int longest = 0;
        for (int k = 1; k < 3; k++)
            if (f->cell_bits[k] > f->cell_bits[longest]) longest = k;
        f->cell_bits[longest]--;
    }
    if (is_shared(pile)) {
        double region[6]; /* find_box sets all of f back */
        RUN(pile, flat_own_bounds, 0, s);
        find_box(pile, region);
        memcpy(f->region, region, sizeof region);
    }
    RUN(pile, flat_sphere_key, 0, s);
    const int bits = f->cell_bits[0] + f->cell_bits[1] + f->cell_bits[2];
    device_sort(pile, f->key, f->key_sorted, f->item, f->item_sorted, s, bits);
    device_clear(pile, f->cell_first, ((int64_t)1 << bits) * (int64_t)sizeof(int));
    device_clear(pile, f->cell_end, ((int64_t)1 << bits) * (int64_t)sizeof(int));
    RUN(pile, flat_cell_ends, 0, s);
    RUN(pile, flat_count, 0, s);
    if (f->shaped) { /* pairs that are near; where they touch; contacts */
        STI_TRY(count_up(pile, f->count, f->pair_first, s, &f->n_pairs, "pairs", err));
        STI_TRY(make_pair_room(pile, f->n_pairs, err));
        RUN(pile, flat_find, 0, s);
        RUN(pile, flat_touch, 0, f->n_pairs);
        STI_TRY(count_up(pile, f->pair_count, f->pair_contact, f->n_pairs, &f->n_contacts, "contacts", err));
        STI_TRY(make_room(pile, f->n_contacts, err));
        RUN(pile, flat_first_contact, 0, s + 1);
        RUN(pile, flat_write_patch, 0, f->n_pairs);
    } else {
        STI_TRY(count_up(pile, f->count, f->first, s, &f->n_contacts, "contacts", err));
        STI_TRY(make_room(pile, f->n_contacts, err));
        RUN(pile, flat_find, 0, s);
    }
    device_clear(pile, f->used, (int64_t)f->n_bodies * (int64_t)sizeof *f->used);
    RUN(pile, flat_recall, 0, s);
    return ST_OK;
}

/* A colour for every contact. In each round the contacts that rank highest at both of their bodies take the first
 * colour that is free at both.                                                                                     */
static void colour_contacts(sti_FlatPile *pile)
{
    sti_Flat *f = &pile->f;
    const int n = f->n_contacts;
    unsigned long long left = 1;
    for (f->round_number = 1; f->round_number < 240 && left != 0; f->round_number++) {
        device_clear(pile, f->best, (int64_t)f->n_bodies * (int64_t)sizeof *f->best);
        RUN(pile, flat_bid, 0, n);
        tell_masks(pile);
        RUN(pile, flat_choose, 0, n);
        if (f->round_number % 4 != 0) continue;
        device_clear(pile, f->left, (int64_t)sizeof *f->left);
        RUN(pile, flat_uncoloured, 0, n);
        device_get(pile, &left, f->left, (int64_t)sizeof left);
        double some = left != 0;
        combine(pile, &some, 1, true);
        left = some > 0;
    }
    RUN(pile, flat_leave, 0, n);
    tell_masks(pile);

    int end[STI_FLAT_COLOURS];
    RUN(pile, flat_identity, 0, n);
    device_sort(pile, (uint32_t *)f->colour, (uint32_t *)f->colour_sorted, f->order, f->order_sorted, n, 6);
    device_clear(pile, f->colour_end, (int64_t)sizeof end);
    RUN(pile, flat_colour_ends, 0, n);
    device_get(pile, end, f->colour_end, (int64_t)sizeof end);
    f->colour_first[0] = 0;
    for (int k = 0; k < STI_FLAT_COLOURS; k++) /* a colour without contacts ends where it begins */
        f->colour_first[k + 1] = end[k] > f->colour_first[k] ? end[k] : f->colour_first[k];
    RUN(pile, flat_gather, 0, n);
}

/* All contacts once, colour by colour, and the sum of the changes, which stays on the device. */
static void sweep(sti_FlatPile *pile)
{
    const int *first = pile->f.colour_first;
    for (int k = 0; k < STI_FLAT_COLOURS - 1; k++) {
        if (!pile->f.round)
            RUN(pile, flat_sweep, first[k], first[k + 1] - first[k]);
        else if (pile->f.rolling)
            RUN(pile, flat_sweep_round_rolling, first[k], first[k + 1] - first[k]);
        else
            RUN(pile, flat_sweep_round, first[k], first[k + 1] - first[k]);
        tell_colour(pile, k);
    }
    if (first[STI_FLAT_COLOURS] > first[STI_FLAT_COLOURS - 1]) RUN(pile, flat_sweep_last, 0, 1);
    if (pile->f.n_contacts > 0) reduce(pile, pile->f.n_contacts, false);
}

static double judge(sti_FlatPile *pile, int64_t all)
{
    RUN(pile, flat_judge, 0, pile->f.n_contacts);
    double sum = reduced(pile, pile->f.n_contacts, false);
    combine(pile, &sum, 1, false);
    const double mean = sum / (double)all;
    return mean > 0 ? sqrt(mean) : mean; /* NaN stays */
}

/* The changes of all ranks, and momentum by them; true: rank 0 has cancelled the step. */
static bool end_sweep(sti_FlatPile *pile)
{
    double change[2] = {0, pile->stopped != NULL && pile->stopped(pile->stop) ? 1.0 : 0.0};
    if (is_shared(pile)) {
        if (pile->f.n_contacts > 0) device_get(pile, change, pile->f.sum, (int64_t)sizeof *change);
        combine(pile, change, 2, false);
        device_put(pile, pile->f.sum, change, (int64_t)sizeof *change);
    }
    RUN(pile, flat_momentum, 0, 1);
    return change[1] > 0;
}

/* Sweeps until the residual is small enough, or there were enough. Each sweep begins ahead of where the last ended.
 * After each sweep the mechanisms beside the pile are solved with its velocities. */
static st_Status sweep_contacts(sti_FlatPile *pile, sti_FlatInfo *info, st_Error *err)
{
    sti_Flat *f = &pile->f;
    const int n = f->n_contacts,
              most = info->sweeps + (info->sweeps == 0 ? pile->max_sweeps : pile->max_sweeps / 4 + 1);
    double factor = 0;
    RUN(pile, flat_momentum_begin, 0, n);
    RUN(pile, flat_momentum_begin_bodies, 0, 3 * f->n_bodies);
    for (info->sweeps++;; info->sweeps++) {
        device_repeat(pile, sweep);
        if (end_sweep(pile))
            return sti_fail(err, ST_ERR_CANCELLED, "device \"%s\": the step was cancelled", device_name);
        STI_TRY(meet_beside(pile, factor, err));
        if (info->sweeps % STI_FLAT_JUDGE_EVERY == 0 || info->sweeps >= most) {
            info->residual = judge(pile, info->contacts);
            if (!(info->residual > pile->tolerance) || info->sweeps >= most) return ST_OK;
        }
        if (pile->beside != NULL) device_get(pile, &factor, f->momentum + 2, (int64_t)sizeof factor);
        RUN(pile, flat_extrapolate, 0, n);
        RUN(pile, flat_extrapolate_bodies, 0, 3 * f->n_bodies);
    }
}

/* Do contacts give energy? Then rebounds near those that do leave more slowly (flat_limit), `ring` contacts around
 * them. */
static bool limit_rebounds(sti_FlatPile *pile, int ring, sti_FlatInfo *info)
{
    sti_Flat *f = &pile->f;
    const int n = f->n_contacts;
    double sums[3] = {0, 0, 0};
    RUN(pile, flat_work, 0, n);
    sums[0] = reduced(pile, n, false);
    RUN(pile, flat_work_size, 0, n);
    sums[1] = reduced(pile, n, false);
    combine(pile, sums, 2, false);
    if (!(sums[0] > 1e-9 * sums[1])) return false;
    device_clear(pile, f->best, (int64_t)f->n_bodies * (int64_t)sizeof *f->best);
    RUN(pile, flat_mark, 0, n);
    tell_masks(pile);
    for (f->round_number = 1; f->round_number <= ring; f->round_number++) {
        RUN(pile, flat_mark_on, 0, n);
        tell_masks(pile);
    }
    RUN(pile, flat_limit, 0, n);
    sums[2] = reduced(pile, n, false);
    combine(pile, sums + 2, 1, false);
    info->limited += (int)sums[2];
    return sums[2] > 0;
}

/* The contacts, from the impulses that they begin with; again while rebounds give energy. */
static st_Status solve_contacts(sti_FlatPile *pile, sti_FlatInfo *info, st_Error *err)
{
    sti_Flat *f = &pile->f;
    const int *first = f->colour_first;
    for (int k = 0; k < STI_FLAT_COLOURS - 1; k++)
        RUN(pile, flat_begin, first[k], first[k + 1] - first[k]);
    if (first[STI_FLAT_COLOURS] > first[STI_FLAT_COLOURS - 1]) RUN(pile, flat_begin_last, 0, 1);
    tell_border(pile);
    device_forget(pile);
    for (int ring = 0;; ring++) {
        STI_TRY(sweep_contacts(pile, info, err));
        if (!f->bounces || ring == STI_FLAT_RINGS || !limit_rebounds(pile, ring, info)) return ST_OK;
    }
}

/* Of all ranks, each contact once. */
static int count_contacts(sti_FlatPile *pile)
{
    const sti_FlatShare *share = &pile->share;
    double n = pile->f.n_contacts;
    if (!is_shared(pile)) return pile->f.n_contacts;
    for (int c = 0; c < pile->f.n_contacts; c++) /* share->pair: find_border */
        n -= !counts_here(pile, share->pair[c], share->pair[pile->f.n_contacts + c]);
    combine(pile, &n, 1, false);
    return n < INT32_MAX ? (int)n : INT32_MAX;
}

static st_Status flat_step(sti_FlatPile *pile, double h, sti_FlatInfo *info, st_Error *err)
{
    sti_Flat *f = &pile->f;
    const sti_FlatInfo none = {0};
    const double g =
        sqrt(f->gravity[0] * f->gravity[0] + f->gravity[1] * f->gravity[1] + f->gravity[2] * f->gravity[2]);
    *info = none;
    f->h = h;
    f->unit = g > 0 ? g * h : f->correction_speed;

    begin_step(pile);
    STI_TRY(stay_shared(pile, err));
    {
        /* Of ranks: which coupled bodies are here? Own ones first, then copies. */
        sti_FlatShare *share = &pile->share;
        int n = 0;
        if (is_shared(pile)) {
            for (int copies = 0; copies < 2; copies++) {
                for (int k = 0; k < share->n_coupled; k++) {
                    const int b = find_body(share, pile->f.n_bodies, share->coupled[k]);
                    if (b < 0 || (share->owner[b] != pile->f.rank) != (copies > 0)) continue;
                    share->coupled_place[n] = k;
                    device_put(pile, pile->coupled + n++, &b, (int64_t)sizeof b);
                }
                if (copies == 0) share->n_coupled_own = n;
            }
            pile->n_coupled = n;
        }
    }
    const int n = f->n_bodies;
    STI_TRY(agree(pile, find_contacts(pile, err), err));
    if (is_shared(pile)) STI_TRY(agree(pile, find_border(pile, err), err));
    info->contacts = count_contacts(pile);
    if (info->contacts > 0) {
        colour_contacts(pile);
        if (is_shared(pile)) STI_TRY(agree(pile, route_colours(pile, err), err));
        for (int k = 0; k < STI_FLAT_COLOURS; k++)
            info->colours += f->colour_first[k + 1] > f->colour_first[k];
        st_Status status = meet_beside(pile, -1, err);
        if (status == ST_OK) status = solve_contacts(pile, info, err);
        if (status == ST_OK) status = device_fault(pile, err);
        STI_TRY(agree(pile, status, err));
        if (!(info->residual < 1e300))
            return sti_fail(err, ST_ERR_NUMERIC, "device \"%s\": velocities are not finite any more", device_name);
        double sums[3] = {0, 0, 0};
        RUN(pile, flat_friction, 0, f->n_contacts);
        sums[0] = reduced(pile, f->n_contacts, false);
        if (f->moving || pile->n_driven > 0) {
            RUN(pile, flat_given, 0, f->n_contacts);
            sums[2] = reduced(pile, f->n_contacts, false);
        }
        RUN(pile, flat_scatter, 0, f->n_contacts);
        RUN(pile, flat_struck, 0, f->n_contacts);
        sums[1] = reduced(pile, f->n_contacts, false);
        combine(pile, sums, 3, false);
        info->friction = sums[0];
        info->given = sums[2];
        info->struck = (int)sums[1];
        RUN(pile, flat_overlap, 0, f->n_contacts);
        info->overlap = sti_larger(reduced(pile, f->n_contacts, true), 0);
        combine(pile, &info->overlap, 1, true);
        tell_near(pile);
    } else {
        STI_TRY(meet_beside(pile, -1, err));
        STI_TRY(meet_beside(pile, 0, err));
    }
    device_copy(pile, f->q_start, f->q, 7 * (int64_t)n * (int64_t)sizeof(double));
    device_copy(pile, f->v_start, f->v, 6 * (int64_t)n * (int64_t)sizeof(double));
    RUN(pile, flat_move, 0, n);
    RUN(pile, flat_fastest, 0, n);
    info->fastest = reduced(pile, n, true);
    combine(pile, &info->fastest, 1, true);
    RUN(pile, flat_kinetic, 0, n);
    info->kinetic = reduced(pile, n, false);
    RUN(pile, flat_potential, 0, n);
    info->potential = reduced(pile, n, false);
    combine(pile, &info->kinetic, 1, false);
    combine(pile, &info->potential, 1, false);
    f->h_old = h;
    STI_EXCHANGE(int *, f->first, f->first_old);
    STI_EXCHANGE(int *, f->other, f->other_old);
    STI_EXCHANGE(int *, f->colour, f->colour_old);
    STI_EXCHANGE(int *, f->feature, f->feature_old);
    STI_EXCHANGE(double *, f->found.r, f->r_old);
    STI_EXCHANGE(double *, f->found.m, f->m_old);
    return device_fault(pile, err);
}

/* The results of the kernels: other, r and m under their names of the last step (flat_step). */
static st_Status get_contacts(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    const sti_Flat *f = &pile->f;
    const int64_t n = f->n_contacts, s = f->n_spheres, stride = f->capacity, room = n > 3 * s ? n : 3 * s + 1;
    double *numbers = (double *)sti_alloc(&pile->allocator, room, sizeof *numbers);
    int *ints = (int *)sti_alloc(&pile->allocator, room, sizeof *ints);
    if (numbers == NULL || ints == NULL) {
        sti_free(&pile->allocator, numbers, room, sizeof *numbers);
        sti_free(&pile->allocator, ints, room, sizeof *ints);
        return out_of_memory(pile, n, err);
    }
    device_get(pile, ints, f->first_old, (s + 1) * (int64_t)sizeof *ints);
    device_get(pile, numbers, f->x, 3 * s * (int64_t)sizeof *numbers);
    for (int i = 0; i < f->n_spheres; i++)
        for (int c = ints[i]; c < ints[i + 1]; c++) {
            out[c].sphere = i;
            for (int k = 0; k < 3; k++)
                out[c].x[k] = numbers[(int64_t)3 * i + k], out[c].m[k] = 0;
        }
    device_get(pile, ints, f->other_old, n * (int64_t)sizeof *ints);
    device_get(pile, numbers, f->found.gap, n * (int64_t)sizeof *numbers);
    for (int64_t c = 0; c < n; c++)
        out[c].other = ints[c], out[c].gap = numbers[c];
    device_get(pile, ints, f->found.fast, n * (int64_t)sizeof *ints);
    for (int64_t c = 0; c < n; c++)
        out[c].struck = ints[c] != 0;
    for (int k = 0; k < 3; k++) {
        device_get(pile, numbers, f->found.n + k * stride, n * (int64_t)sizeof *numbers);
        for (int64_t c = 0; c < n; c++)
            out[c].n[k] = numbers[c];
        device_get(pile, numbers, f->r_old + k * stride, n * (int64_t)sizeof *numbers);
        for (int64_t c = 0; c < n; c++)
            out[c].r[k] = numbers[c];
        if (!f->rolling) continue;
        device_get(pile, numbers, f->m_old + k * stride, n * (int64_t)sizeof *numbers);
        for (int64_t c = 0; c < n; c++)
            out[c].m[k] = numbers[c];
    }
    if (!f->shaped) device_get(pile, numbers, f->sphere_radius, s * (int64_t)sizeof *numbers);
    for (int64_t c = 0; c < n && !f->shaped; c++)
        for (int k = 0; k < 3; k++)
            out[c].x[k] -= numbers[out[c].sphere] * out[c].n[k];
    for (int k = 0; f->shaped && k < 3; k++) {
        device_get(pile, numbers, f->point + k * stride, n * (int64_t)sizeof *numbers);
        for (int64_t c = 0; c < n; c++)
            out[c].x[k] = numbers[c];
    }
    sti_free(&pile->allocator, numbers, room, sizeof *numbers);
    sti_free(&pile->allocator, ints, room, sizeof *ints);
    return device_fault(pile, err);
}

/* Contacts of all ranks, at rank 0. */
typedef struct sti_FlatAll {
    sti_FlatContact *contact;
    int64_t n;
} sti_FlatAll;

static void take_reports(void *ctx, const void *rows, int64_t n)
{
    sti_FlatAll *all = (sti_FlatAll *)ctx;
    if (n > 0) memcpy(all->contact + all->n, rows, (size_t)n * sizeof *all->contact);
    all->n += n;
}

/* The contacts that are counted here go to rank 0, which sorts them by their spheres, as a single rank has them. */
static st_Status gather_contacts(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    const st_Allocator *a = &pile->allocator;
    const sti_FlatShare *share = &pile->share;
    const int64_t n = (int64_t)pile->f.n_contacts + 1;
    int64_t kept = 0;
    double total = 0;
    sti_FlatContact *mine = (sti_FlatContact *)sti_alloc(a, n, sizeof *mine);
    STI_TRY(agree(pile, mine != NULL ? get_contacts(pile, mine, err) : out_of_memory(pile, n, err), err));
    for (int64_t c = 0; c + 1 < n; c++) {
        const int other = mine[c].other;
        if (!counts_here(pile, share->sphere_body[mine[c].sphere], other >= 0 ? share->sphere_body[other] : -1))
            continue;
        mine[kept] = mine[c];
        mine[kept].sphere = share->piece_id[mine[c].sphere];
        if (other >= 0) mine[kept].other = share->piece_id[other];
        kept++;
    }
    total = (double)kept;
    combine(pile, &total, 1, false);
    const bool leads = out != NULL;
    const int64_t n_all = leads ? (int64_t)total : 0, spheres = leads ? (int64_t)share->n_pieces_all + 1 : 0;
    sti_FlatAll all = {(sti_FlatContact *)sti_alloc(a, n_all + 1, sizeof *out), 0};
    int *place = (int *)sti_alloc(a, spheres + 1, sizeof *place);
    st_Status status = all.contact != NULL && place != NULL ? ST_OK : out_of_memory(pile, n_all, err);
    status = agree(pile, status, err);
    if (status == ST_OK) status = to_first(pile, mine, kept, sizeof *mine, take_reports, &all, err);
    if (status == ST_OK && leads) {
        for (int64_t c = 0; c < n_all; c++)
            place[all.contact[c].sphere + 1]++;
        for (int64_t s = 0; s < spheres; s++)
            place[s + 1] += place[s];
        for (int64_t c = 0; c < n_all; c++)
            out[place[all.contact[c].sphere]++] = all.contact[c];
    }
    sti_free(a, mine, n, sizeof *mine);
    sti_free(a, all.contact, n_all + 1, sizeof *out);
    sti_free(a, place, spheres + 1, sizeof *place);
    return status;
}

static st_Status flat_contacts(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    return is_shared(pile) ? gather_contacts(pile, out, err) : get_contacts(pile, out, err);
}

static st_Status flat_impulses(sti_FlatPile *pile, sti_FlatImpulse *out, st_Error *err)
{
    return get_impulses(pile, out, err);
}

static st_Status flat_put_impulses(sti_FlatPile *pile, const sti_FlatImpulse *in, int n, double h, st_Error *err)
{
    return set_impulses(pile, in, n, h, err);
}

/* The contact with the smallest gap, with the numbers here. */
static st_Status find_deepest(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    const sti_Flat *f = &pile->f;
    const int64_t n = f->n_contacts;
    int deepest = -1;
    const sti_FlatContact none = {.gap = HUGE_VAL};
    *out = none;
    double *gap = (double *)sti_alloc(&pile->allocator, n + 1, sizeof *gap);
    if (gap == NULL) return out_of_memory(pile, n, err);
    device_get(pile, gap, f->found.gap, n * (int64_t)sizeof *gap);
    for (int c = 0; c < f->n_contacts; c++)
        if (gap[c] < out->gap) deepest = c, out->gap = gap[c];
    sti_free(&pile->allocator, gap, n + 1, sizeof *gap);
    if (deepest < 0) return device_fault(pile, err);
    device_get(pile, &out->other, f->other_old + deepest, (int64_t)sizeof out->other);
    for (int end = f->n_spheres; out->sphere + 1 < end;) { /* its contacts start at first_old */
        const int middle = out->sphere + (end - out->sphere) / 2;
        int first = 0;
        device_get(pile, &first, f->first_old + middle, (int64_t)sizeof first);
        if (first <= deepest)
            out->sphere = middle;
        else
            end = middle;
    }
    return device_fault(pile, err);
}

/* Of ranks the first one that has the smallest gap sends its contact. */
static st_Status flat_deepest(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err)
{
    st_Status status = find_deepest(pile, out, err);
    if (!is_shared(pile)) return status;
    const sti_FlatShare *share = &pile->share;
    double mine[3] = {out->gap < 1e300 ? -out->gap : -1e300, 0, 0}, most = mine[0];
    STI_TRY(agree(pile, status, err));
    if (mine[0] > -1e300) {
        mine[1] = share->piece_id[out->sphere];
        mine[2] = out->other >= 0 ? share->piece_id[out->other] : out->other;
    }
    combine(pile, &most, 1, true);
    double first = mine[0] == most ? -(double)pile->f.rank : -(double)pile->ranks->size;
    combine(pile, &first, 1, true);
    for (int k = 1; k < 3; k++)
        mine[k] = first == -(double)pile->f.rank ? mine[k] : -1e300;
    combine(pile, mine + 1, 2, true);
    out->gap = most > -1e300 ? -most : HUGE_VAL;
    out->sphere = (int)mine[1], out->other = (int)mine[2];
    return ST_OK;
}
