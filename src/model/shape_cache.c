/* model/shape_cache.c -- shapes that differ only in name and pose are of one kind, and each kind is stored once.
 *
 * A heap of equal spheres is one shape def and one number per sphere. Hulls and meshes are also compiled once per
 * kind (collider.c).
 */
#include "math/quat.h"
#include "model/scene.h"

/* All numbers of a def except arrays and pose. */
enum { N_NUMBERS = 34 };

static void numbers_of(const st_ShapeDef *d, double x[N_NUMBERS])
{
    const st_Vec3 belt = d->surface_velocity, spin = d->surface_spin, along = d->friction_direction;
    const double all[N_NUMBERS] = {d->type,        d->radius,   d->length,      d->half.x,  d->half.y,
                                   d->half.z,      d->density,  d->mu,          d->rolling, d->material.index1,
                                   d->restitution, d->spinning, d->stiffness,   d->damping, d->young,
                                   d->poisson,     d->n_points, d->n_triangles, d->n_x,     d->n_y,
                                   d->spacing,     d->groups,   d->mask,        belt.x,     belt.y,
                                   belt.z,         spin.x,      spin.y,         spin.z,     d->friction_across,
                                   along.x,        along.y,     along.z,        d->color};
    memcpy(x, all, sizeof all);
}

/* FNV-1a, by numbers */
static uint64_t shape_cache_hash(uint64_t h, const double *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 32;
    }
    return h;
}

/* Equal for equal defs. A thousand hulls of twenty points may differ only in their points. */
static uint64_t hash_def(const st_ShapeDef *def, const double x[N_NUMBERS])
{
    uint64_t h = shape_cache_hash(0xcbf29ce484222325u, x, N_NUMBERS);
    for (int k = 0; def->points != NULL && k < def->n_points; k++) { /* it may not be checked yet */
        const double p[3] = {def->points[k].x, def->points[k].y, def->points[k].z};
        h = shape_cache_hash(h, p, 3);
    }
    const bool field = def->heights != NULL && def->n_x > 0 && def->n_y > 0;
    return shape_cache_hash(h, def->heights, field ? (int64_t)def->n_x * def->n_y : 0);
}

static bool same_array(const void *a, const void *b, int64_t count, size_t size)
{
    return count == 0 || a == b || memcmp(a, b, (size_t)count * size) == 0;
}

static bool is_same(const st_ShapeDef *a, const double x[N_NUMBERS], const st_ShapeDef *b)
{
    double y[N_NUMBERS];
    numbers_of(b, y);
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the same bits are meant, -0 is another number */
    return memcmp(x, y, sizeof y) == 0 && same_array(a->points, b->points, a->n_points, sizeof *a->points) &&
           same_array(a->triangles, b->triangles, 3 * (int64_t)a->n_triangles, sizeof *a->triangles) &&
           same_array(a->heights, b->heights, (int64_t)a->n_x * a->n_y, sizeof *a->heights);
}

/* The slot of a kind equal to `def`, or the empty slot where it would be. */
static int64_t shape_cache_probe(const sti_ShapeCache *cache, const st_ShapeDef *def)
{
    double x[N_NUMBERS];
    numbers_of(def, x);
    int64_t s = (int64_t)(hash_def(def, x) & (uint64_t)(cache->n_slots - 1));
    while (cache->slot[s] != 0 && !is_same(def, x, &cache->def[cache->slot[s] - 1]))
        s = (s + 1) & (cache->n_slots - 1);
    return s;
}

int sti_shape_cache_find(const sti_ShapeCache *cache, const st_ShapeDef *def)
{
    return cache->n_slots > 0 ? cache->slot[shape_cache_probe(cache, def)] - 1 : -1;
}

static void fill_slots(sti_ShapeCache *cache)
{
    memset(cache->slot, 0, (size_t)cache->n_slots * sizeof *cache->slot);
    for (int k = 0; k < cache->n; k++)
        cache->slot[shape_cache_probe(cache, &cache->def[k])] = k + 1;
}

/* Frees points, triangles and heights of a kind, which it owns. */
static void free_arrays(const st_Allocator *a, st_ShapeDef *shape)
{
    sti_free(a, (void *)shape->points, shape->n_points, sizeof *shape->points);
    sti_free(a, (void *)shape->triangles, 3 * (int64_t)shape->n_triangles, sizeof *shape->triangles);
    sti_free(a, (void *)shape->heights, (int64_t)shape->n_x * shape->n_y, sizeof *shape->heights);
}

static bool copy_array(const st_Allocator *allocator, const void *from, int64_t count, size_t size, const void **to)
{
    void *copy = count > 0 ? sti_alloc(allocator, count, size) : NULL;
    if (copy != NULL) memcpy(copy, from, (size_t)count * size);
    *to = copy;
    return count == 0 || copy != NULL;
}

st_Status sti_shape_cache_take(const st_Allocator *allocator, sti_ShapeCache *cache, const st_ShapeDef *def,
                               const sti_CachedMass *mass, int *kind, st_Error *err)
{
    st_ShapeDef own = *def;
    *kind = sti_shape_cache_find(cache, def);
    if (*kind >= 0) return ST_OK;
    STI_TRY(STI_GROW(allocator, cache->def, cache->capacity, cache->n + 1, err));
    STI_TRY(STI_GROW(allocator, cache->mass, cache->mass_capacity, cache->n + 1, err));
    if (2 * (int64_t)(cache->n + 1) >= cache->n_slots) {
        const int64_t n = cache->n_slots == 0 ? 16 : 2 * cache->n_slots;
        int *slot = sti_alloc(allocator, n, sizeof *slot);
        if (slot == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d distinct shapes", cache->n + 1);
        sti_free(allocator, cache->slot, cache->n_slots, sizeof *cache->slot);
        cache->slot = slot;
        cache->n_slots = n;
        fill_slots(cache);
    }
    const st_ShapeDef copy = own;
    own.points = NULL;
    own.triangles = NULL;
    own.heights = NULL;
    if (!copy_array(allocator, copy.points, copy.n_points, sizeof *copy.points, (const void **)&own.points) ||
        !(copy_array(allocator, copy.triangles, 3 * (int64_t)copy.n_triangles, sizeof *copy.triangles,
                     (const void **)&own.triangles)) ||
        !(copy_array(allocator, copy.heights, (int64_t)copy.n_x * copy.n_y, sizeof *copy.heights,
                     (const void **)&own.heights))) {
        free_arrays(allocator, &own);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a shape of %d points", copy.n_points);
    }
    own.pose = pose_identity();
    own.name = NULL;
    cache->def[cache->n] = own;
    cache->mass[cache->n] = *mass;
    cache->slot[shape_cache_probe(cache, &own)] = cache->n + 1;
    *kind = cache->n++;
    return ST_OK;
}

void sti_shape_cache_scale_friction(sti_ShapeCache *cache, double factor)
{
    for (int k = 0; k < cache->n; k++)
        cache->def[k].mu *= factor, cache->def[k].friction_across *= factor;
    if (cache->n_slots > 0) fill_slots(cache); /* kinds that have become equal stay separate */
}

void sti_shape_cache_free(const st_Allocator *allocator, sti_ShapeCache *cache)
{
    for (int k = 0; k < cache->n; k++)
        free_arrays(allocator, &cache->def[k]);
    sti_free(allocator, cache->def, cache->capacity, sizeof *cache->def);
    sti_free(allocator, cache->mass, cache->mass_capacity, sizeof *cache->mass);
    sti_free(allocator, cache->slot, cache->n_slots, sizeof *cache->slot);
    *cache = (sti_ShapeCache){0};
}
