/* grains/fill.c -- a region filled with grains: sizes are drawn, places found, and only then bodies are added. */
#include "base/range.h"
#include "collide/shape.h"
#include "grains/grains.h"
#include "grains/random.h"
#include "model/scene.h"

#include <stdio.h>

st_FillDef st_fill_def(void)
{
    return (st_FillDef){.region = st_region_def(), .turned = true, .seed = 1, .name = "grain", .cookie = STI_COOKIE};
}

const char *st_arrangement_name(st_Arrangement arrangement)
{
    static const char *const name[ST_N_ARRANGEMENTS] = {"random", "lattice", "dropped"};
    return (unsigned)arrangement < ST_N_ARRANGEMENTS ? name[arrangement] : NULL;
}

/* A fill while it is made. */
typedef struct Fill {
    const st_FillDef *def;
    st_RegionDef region;
    sti_Template grain;
    sti_Places places;
    int64_t p_capacity, r_capacity;
    uint64_t random;
    st_Allocator allocator;
    char who[STI_NAME_MAX + 16];
} Fill;

static st_Status check_fill(Fill *f, st_Error *err)
{
    const st_FillDef *def = f->def;
    STI_TRY(sti_region_check(f->who, &f->region, err));
    STI_TRY(sti_size_check(f->who, &def->size, err));
    if (f->region.type == ST_REGION_HALF_SPACE)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: its region is a half space, must be a box, cylinder or sphere",
                        f->who);
    if (st_arrangement_name(def->arrangement) == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: arrangement is %d, must be 0 to %d", f->who, (int)def->arrangement,
                        ST_N_ARRANGEMENTS - 1);
    if (def->number < 0 || def->number > STI_MOST_GRAINS)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: number is %d, must be from 1 to %d", f->who, def->number,
                        STI_MOST_GRAINS);
    if (def->number == 0 && !(def->packing_fraction > 0 && def->packing_fraction < 1))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: packing_fraction is %g, must be above 0 and below 1", f->who,
                        def->packing_fraction);
    const uint32_t along[3] = {ST_LOCK_X, ST_LOCK_Y, ST_LOCK_Z};
    for (int k = 0; k < 3; k++)
        f->places.free[k] = (def->locks & along[k]) == 0;
    if (f->places.free[0] && f->places.free[1] && f->places.free[2]) return ST_OK;
    const st_Quat q = f->region.pose.q;
    if (f->region.type != ST_REGION_BOX || q.x != 0 || q.y != 0 || q.z != 0)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "%s: locks a translation, so its region must be a box along the axes of the world", f->who);
    if (def->number == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: locks a translation, so it needs number, not packing_fraction",
                        f->who);
    return f->places.free[0] || f->places.free[1] || f->places.free[2]
               ? ST_OK
               : sti_fail(err, ST_ERR_ARGUMENT, "%s: locks all translations, must leave one", f->who);
}

static st_Status add_ball(Fill *f, st_Vec3 p, double r, st_Error *err)
{
    sti_Places *places = &f->places;
    STI_TRY(STI_GROW(&f->allocator, places->p, f->p_capacity, places->n + 1, err));
    STI_TRY(STI_GROW(&f->allocator, places->r, f->r_capacity, places->n + 1, err));
    places->p[places->n] = p;
    places->r[places->n++] = r;
    return ST_OK;
}

/* Shapes of bodies that stand in the way: spheres, and others no larger than a grain as the balls that hold them. */
static st_Status add_known(Fill *f, const st_Scene *scene, double largest, st_Error *err)
{
    const st_Vec3 half = sti_region_half(&f->region);
    for (int k = 1; k <= st_scene_shape_count(scene); k++) {
        st_ShapeDef shape;
        st_BodyDef body;
        st_BodyId id;
        sti_Shape compiled;
        STI_TRY(st_scene_shape(scene, (st_ShapeId){k}, &shape, &id));
        if (id.index1 == 0 || st_scene_body(scene, id, &body) != ST_OK || body.fixed) continue;
        STI_TRY(sti_shape_compile(&shape, &f->allocator, &compiled, err));
        const double r = compiled.reach;
        const st_Vec3 world = pose_point(pose_product(body.pose, shape.pose), compiled.middle);
        const st_Vec3 p = rotate_back(f->region.pose.q, sub(world, f->region.pose.p));
        sti_shape_free(&f->allocator, &compiled);
        if (shape.type != ST_SHAPE_SPHERE && 2 * r > largest) continue;
        if (fabs(p.x) - r < half.x && fabs(p.y) - r < half.y && fabs(p.z) - r < half.z) STI_TRY(add_ball(f, p, r, err));
    }
    f->places.n_known = f->places.n;
    return ST_OK;
}

static double volume_of(const Fill *f, double r)
{
    const double s = 2 * r / f->grain.size;
    return f->grain.volume * s * s * s;
}

static st_Status draw_sizes(Fill *f, st_Error *err)
{
    const double wanted = f->def->packing_fraction * st_region_volume(&f->region);
    double volume = 0;
    const bool as_given = f->def->size.type == ST_SIZE_AS_GIVEN;
    for (int n = 0; f->def->number > 0 ? n < f->def->number : volume < wanted; n++) {
        const double r = (as_given ? f->grain.size : sti_size_draw(&f->def->size, &f->random)) / 2;
        if (n >= STI_MOST_GRAINS)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "%s: packing_fraction %g takes more than %d grains, %g m the last of them", f->who,
                            f->def->packing_fraction, STI_MOST_GRAINS, 2 * r);
        /* the nearest number: the last one is left out where that is nearer to what is wanted */
        volume += volume_of(f, r);
        if (f->def->number == 0 && n > 0 && volume - wanted > volume_of(f, r) / 2) break;
        STI_TRY(add_ball(f, (st_Vec3){0, 0, 0}, r, err));
    }
    return ST_OK;
}

static st_Status does_not_fit(const Fill *f, int placed, st_Error *err)
{
    const int n = f->places.n - f->places.n_known;
    double smallest = INFINITY, largest = 0, all = 0, there = 0;
    for (int k = 0; k < n; k++) {
        const double r = f->places.r[f->places.n_known + k];
        smallest = fmin(smallest, r), largest = fmax(largest, r);
        all += volume_of(f, r);
        if (k < placed) there += volume_of(f, r);
    }
    const double region = st_region_volume(&f->region);
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "%s: %d of %d grains of %g to %g m fit into its region, a %s of %g m^3: packing fraction %.3g of "
                    "%.3g; arrangement \"%s\"",
                    f->who, placed, n, 2 * smallest, 2 * largest, st_region_type_name(f->region.type), region,
                    there / region, all / region, st_arrangement_name(f->def->arrangement));
}

static st_Status add_bodies(Fill *f, st_Scene *scene, st_Error *err)
{
    const int n = f->places.n - f->places.n_known;
    char name[STI_NAME_MAX + 16];
    st_BodyDef body = st_body_def();
    body.velocity = f->def->velocity;
    body.locks = f->def->locks;
    body.name = name;
    const int digits = snprintf(NULL, 0, "%d", n);
    for (int k = 0; k < n; k++) {
        st_BodyId id;
        const double r = f->places.r[f->places.n_known + k];
        snprintf(name, sizeof name, "%s_%0*d", f->def->name, digits > 4 ? digits : 4, k + 1);
        body.pose.p = pose_point(f->region.pose, f->places.p[f->places.n_known + k]);
        if (f->def->turned && !f->grain.round && (f->def->locks & ST_LOCK_ROTATION) == 0)
            body.pose.q = sti_random_turn(&f->random);
        STI_TRY(sti_template_add(&f->grain, 2 * r / f->grain.size, &body, scene, &id, err));
    }
    return ST_OK;
}

/* All bodies, or none. */
static st_Status add_all(Fill *f, st_Scene *scene, st_Error *err)
{
    const int before = st_scene_body_count(scene), n = f->places.n - f->places.n_known;
    st_BodyId *id = sti_alloc(&f->allocator, n, sizeof *id);
    if (id == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory for %d grains", f->who, n);
    for (int k = 0; k < n; k++)
        id[k].index1 = before + 1 + k;
    const st_Status status = add_bodies(f, scene, err);
    if (status != ST_OK) (void)st_scene_remove_bodies(scene, id, st_scene_body_count(scene) - before, NULL);
    sti_free(&f->allocator, id, n, sizeof *id);
    return status;
}

st_Status st_scene_fill(st_Scene *scene, const st_FillDef *def, st_BodyId *first, int *count, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_fill_def", err);
    Fill f = {.def = def, .region = def->region, .random = def->seed, .allocator = scene->allocator};
    if (def->name == NULL || def->name[0] == '\0' || strlen(def->name) > STI_NAME_MAX - 12)
        return sti_fail(err, ST_ERR_ARGUMENT, "a fill has no name, or one of more than %d bytes", STI_NAME_MAX - 12);
    snprintf(f.who, sizeof f.who, "fill \"%s\"", def->name);
    STI_TRY(check_fill(&f, err));
    STI_TRY(sti_template_make(f.who, scene, def->shapes, def->n_shapes, &f.grain, err));
    const double largest = def->size.type == ST_SIZE_AS_GIVEN ? f.grain.size : sti_size_largest(&def->size);
    const int before = st_scene_body_count(scene);
    int placed = 0;
    st_Status status = add_known(&f, scene, largest, err);
    if (status == ST_OK) status = draw_sizes(&f, err);
    f.places.region = &f.region;
    if (status == ST_OK) status = sti_place_balls(&f.allocator, &f.places, def->arrangement, &f.random, &placed, err);
    if (status == ST_OK && placed < f.places.n - f.places.n_known) status = does_not_fit(&f, placed, err);
    if (status == ST_OK) status = add_all(&f, scene, err);
    if (status == ST_OK && first != NULL) first->index1 = before + 1;
    if (status == ST_OK && count != NULL) *count = placed;
    sti_template_free(&f.grain);
    STI_RELEASE(&f.allocator, f.places.p, f.p_capacity);
    STI_RELEASE(&f.allocator, f.places.r, f.r_capacity);
    return status;
}
