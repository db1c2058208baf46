/* grains/fill.c -- adds grains to a scene as bodies. Sizes are drawn first, then places are found, then bodies are
 * added. Grains of an inlet are placed while the system runs (step/flow.c). */
#include "base/range.h"
#include "base/tolerance.h"
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

st_InletDef st_inlet_def(void)
{
    return (st_InletDef){.grains = st_fill_def(), .cookie = STI_COOKIE};
}

st_OutletDef st_outlet_def(void)
{
    return (st_OutletDef){.region = st_region_def(), .cookie = STI_COOKIE};
}

/* The working data of one fill or inlet. */
typedef struct Fill {
    const st_FillDef *def;
    st_RegionDef region;
    sti_Template grain;
    sti_Places places;
    int64_t p_capacity, r_capacity;
    uint64_t random;
    st_Allocator allocator;
    char owner[STI_NAME_MAX + 16];
} Fill;

/* Spheres of one size fill at most pi/sqrt(18) = 0.7405 of space; dropped spheres of several sizes do not reach 0.75.
 */
#define CLOSEST_PACKING 0.75

/* True if the def gives neither a number nor a packing fraction: the region is then filled with as many grains as
 * fit. */
static bool is_filled_up(const st_FillDef *def)
{
    return def->number == 0 && def->packing_fraction == 0;
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

/* Adds the shapes of existing bodies as obstacles. A sphere is itself an obstacle. Another shape is one if it is no
 * larger than a grain; its bounding ball then takes its place. */
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
    const double fraction = is_filled_up(f->def) ? CLOSEST_PACKING : f->def->packing_fraction;
    const double wanted = fraction * st_region_volume(&f->region);
    double volume = 0;
    const bool as_given = f->def->size.type == ST_SIZE_AS_GIVEN;
    for (int n = 0; f->def->number > 0 ? n < f->def->number : volume < wanted; n++) {
        const double r = (as_given ? f->grain.size : sti_size_draw(&f->def->size, &f->random)) / 2;
        if (n >= STI_MOST_GRAINS)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "%s: packing_fraction %g needs more than %d grains; the last one has a size of %g m",
                            f->owner, fraction, STI_MOST_GRAINS, 2 * r);
        /* the nearest number: the last one is left out if the volume is then closer to the goal */
        volume += volume_of(f, r);
        if (f->def->number == 0 && n > 0 && volume - wanted > volume_of(f, r) / 2) break;
        STI_TRY(add_ball(f, (st_Vec3){0, 0, 0}, r, err));
    }
    return ST_OK;
}

static st_Status add_bodies(Fill *f, st_Scene *scene, st_Error *err)
{
    const int n = f->places.n - f->places.n_known;
    char name[STI_NAME_MAX + 16];
    st_BodyDef body = st_body_def();
    body.velocity = f->def->velocity;
    body.locks = f->def->locks;
    body.name = name;
    for (int k = 0; k < n; k++) {
        st_BodyId id;
        const double r = f->places.r[f->places.n_known + k];
        sti_grain_name(f->def->name, n, k + 1, name, sizeof name);
        body.pose.p = pose_point(f->region.pose, f->places.p[f->places.n_known + k]);
        if (f->def->turned && !f->grain.round && (f->def->locks & ST_LOCK_ROTATION) == 0)
            body.pose.q = sti_random_turn(&f->random);
        STI_TRY(sti_template_add(&f->grain, 2 * r / f->grain.size, &body, scene, &id, err));
    }
    return ST_OK;
}

static st_Status remove_from(st_Scene *scene, int first, int n)
{
    /* not the scene's arena, which is freed when the scene is rebuilt */
    const st_Allocator a = sti_allocator_below(&scene->allocator);
    st_BodyId *id = sti_alloc(&a, n, sizeof *id);
    for (int k = 0; id != NULL && k < n; k++)
        id[k].index1 = first + k;
    const st_Status status = id != NULL ? st_scene_remove_bodies(scene, id, n, NULL) : ST_ERR_MEMORY;
    sti_free(&a, id, n, sizeof *id);
    return status;
}

/* Adds all bodies; after a failure the scene has none of them. */
static st_Status add_all(Fill *f, st_Scene *scene, st_Error *err)
{
    const int before = st_scene_body_count(scene);
    const st_Status status = add_bodies(f, scene, err);
    if (status != ST_OK) (void)remove_from(scene, before + 1, st_scene_body_count(scene) - before);
    return status;
}

/* Checks the def and makes the template of its grains. The caller calls release() afterwards, also after a failure. */
static st_Status begin(Fill *f, st_Scene *scene, const st_FillDef *def, const char *kind, st_Error *err)
{
    *f = (Fill){
        .def = def, .region = def->region, .random = def->seed, .allocator = sti_allocator_below(&scene->allocator)};
    f->places.region = &f->region;
    if (def->name == NULL || def->name[0] == '\0' || strlen(def->name) > STI_NAME_MAX - 12)
        return sti_fail(err, ST_ERR_ARGUMENT, "the %s has no name, or one of more than %d bytes", kind,
                        STI_NAME_MAX - 12);
    snprintf(f->owner, sizeof f->owner, "%s \"%s\"", kind, def->name);
    STI_TRY(sti_region_check(f->owner, &f->region, err));
    STI_TRY(sti_size_check(f->owner, &def->size, err));
    if (f->region.type == ST_REGION_HALF_SPACE)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: its region is a half space, must be a box, cylinder or sphere",
                        f->owner);
    if (st_arrangement_name(def->arrangement) == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: arrangement is %d, must be 0 to %d", f->owner, (int)def->arrangement,
                        ST_N_ARRANGEMENTS - 1);
    if (def->number < 0 || def->number > STI_MOST_GRAINS)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: number is %d, must be from 1 to %d", f->owner, def->number,
                        STI_MOST_GRAINS);
    if (def->number == 0 && !(def->packing_fraction >= 0 && def->packing_fraction < 1))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: packing_fraction is %g, must be above 0 and below 1", f->owner,
                        def->packing_fraction);
    if (is_filled_up(def) && def->arrangement == ST_ARRANGE_RANDOM)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "%s: arrangement \"random\" needs number or packing_fraction; \"lattice\" and \"dropped\" "
                        "fill the region without them",
                        f->owner);
    if (!sti_within(def->velocity.x, STI_LARGEST) || !sti_within(def->velocity.y, STI_LARGEST) ||
        !sti_within(def->velocity.z, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: velocity is (%g, %g, %g), each must be from %g to %g", f->owner,
                        def->velocity.x, def->velocity.y, def->velocity.z, -STI_LARGEST, STI_LARGEST);
    const uint32_t along[3] = {ST_LOCK_X, ST_LOCK_Y, ST_LOCK_Z};
    for (int k = 0; k < 3; k++)
        f->places.free[k] = (def->locks & along[k]) == 0;
    if (!f->places.free[0] || !f->places.free[1] || !f->places.free[2]) {
        const st_Quat q = f->region.pose.q;
        if (f->region.type != ST_REGION_BOX || q.x != 0 || q.y != 0 || q.z != 0)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "%s: locks a translation, so its region must be a box along the axes of the world",
                            f->owner);
        if (def->number == 0)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: locks a translation, so it needs number, not packing_fraction",
                            f->owner);
        STI_TRY(f->places.free[0] || f->places.free[1] || f->places.free[2]
                    ? ST_OK
                    : sti_fail(err, ST_ERR_ARGUMENT, "%s: locks all translations, must leave one", f->owner));
    }
    return sti_template_make(f->owner, scene, def->shapes, def->n_shapes, &f->grain, err);
}

static void release(Fill *f)
{
    sti_template_free(&f->grain);
    STI_RELEASE(&f->allocator, f->places.p, f->p_capacity);
    STI_RELEASE(&f->allocator, f->places.r, f->r_capacity);
}

st_Status st_scene_fill(st_Scene *scene, const st_FillDef *def, st_BodyId *first, int *count, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_fill_def", err);
    Fill f;
    int placed = 0;
    const int before = st_scene_body_count(scene);
    st_Status status = begin(&f, scene, def, "fill", err);
    const double largest =
        status == ST_OK && def->size.type != ST_SIZE_AS_GIVEN ? sti_size_largest(&def->size) : f.grain.size;
    if (status == ST_OK) status = add_known(&f, scene, largest, err);
    if (status == ST_OK) status = draw_sizes(&f, err);
    if (status == ST_OK) status = sti_place_balls(&f.allocator, &f.places, def->arrangement, &f.random, &placed, err);
    if (status == ST_OK && placed > 0 && is_filled_up(def)) f.places.n = f.places.n_known + placed;
    if (status == ST_OK && placed < f.places.n - f.places.n_known) {
        const int n = f.places.n - f.places.n_known;
        double smallest = INFINITY, most = 0, all = 0, there = 0;
        for (int k = 0; k < n; k++) {
            const double r = f.places.r[f.places.n_known + k];
            smallest = fmin(smallest, r), most = fmax(most, r);
            all += volume_of(&f, r);
            if (k < placed) there += volume_of(&f, r);
        }
        const double region = st_region_volume(&f.region);
        char up_to[32] = "";
        if (most > (1 + 1e-6) * smallest) snprintf(up_to, sizeof up_to, " to %g", 2 * most);
        status = sti_fail(err, ST_ERR_ARGUMENT,
                          "%s: %d of %d grains of %g%s m fit into its region, a %s of %g m^3: packing fraction %.3g of "
                          "%.3g; arrangement \"%s\"%s",
                          f.owner, placed, n, 2 * smallest, up_to, st_region_type_name(f.region.type), region,
                          there / region, all / region, st_arrangement_name(f.def->arrangement),
                          placed > 0 && f.def->arrangement == ST_ARRANGE_RANDOM ? ", others pack more densely" : "");
    }
    if (status == ST_OK) status = add_all(&f, scene, err);
    if (status == ST_OK && first != NULL) *first = sti_body_id(scene, before + 1);
    if (status == ST_OK && count != NULL) *count = placed;
    release(&f);
    return status;
}

/* ---- inlets and outlets ------------------------------------------------------------------------- */

st_Status st_scene_add_inlet(st_Scene *scene, const st_InletDef *def, st_BodyId *first, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_inlet_def", err);
    STI_CHECK_DEF(&def->grains, "st_fill_def", err);
    const char *name = def->grains.name != NULL ? def->grains.name : "";
    const bool number = def->rate != 0, rate = sti_between(def->rate, STI_SMALLEST, STI_LARGEST);
    if (def->grains.number < 1)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "inlet \"%s\": number is %d; the total number of grains must be from 1 to %d", name,
                        def->grains.number, STI_MOST_GRAINS);
    if (number ? !rate : !sti_between(def->mass_rate, STI_SMALLEST, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "inlet \"%s\": %s is %g, must be from %g to %g", name,
                        number ? "rate" : "mass_rate", number ? def->rate : def->mass_rate, STI_SMALLEST, STI_LARGEST);
    if (!sti_zero_or_between(def->start, STI_SMALLEST, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "inlet \"%s\": start is %g, must be >= 0", name, def->start);

    Fill f;
    const int before = st_scene_body_count(scene), n = def->grains.number;
    st_Status status = begin(&f, scene, &def->grains, "inlet", err);
    if (status == ST_OK) status = draw_sizes(&f, err);
    if (status == ST_OK) status = add_all(&f, scene, err); /* all at the middle of the region */
    if (status == ST_OK) {
        sti_Inlet inlet = {.name = def->grains.name,
                           .region = f.region,
                           .number = n,
                           .rate = def->rate,
                           .mass_rate = def->mass_rate,
                           .start = def->start,
                           .velocity = def->grains.velocity,
                           .turned = def->grains.turned && !f.grain.round,
                           .seed = def->grains.seed};
        memcpy(inlet.free, f.places.free, sizeof inlet.free);
        status = sti_scene_keep_inlet(scene, &inlet, err);
        if (status != ST_OK) (void)remove_from(scene, before + 1, n);
    }
    if (status == ST_OK && first != NULL) *first = sti_body_id(scene, before + 1);
    release(&f);
    return status;
}

st_Status st_scene_add_outlet(st_Scene *scene, const st_OutletDef *def, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_outlet_def", err);
    char owner[STI_NAME_MAX + 16];
    sti_Outlet outlet = {.name = def->name, .bodies = def->bodies, .region = def->region};
    snprintf(owner, sizeof owner, "outlet \"%.200s\"", def->name != NULL ? def->name : "");
    STI_TRY(sti_region_check(owner, &outlet.region, err));
    if (def->bodies != NULL && def->bodies[0] == '\0')
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: bodies is empty, must be a name, in which * matches any characters",
                        owner);
    return sti_scene_keep_outlet(scene, &outlet, err);
}

/* ---- measures ----------------------------------------------------------------------------------- */

st_MeasureDef st_measure_def(st_MeasureType type)
{
    return (st_MeasureDef){.type = type,
                           .region = st_region_def(),
                           .frame = pose_identity(),
                           .reference_frame = pose_identity(),
                           .factor = 1,
                           .cookie = STI_COOKIE};
}

st_Status st_scene_add_measure(st_Scene *scene, const st_MeasureDef *def, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_measure_def", err);
    char owner[STI_NAME_MAX + 16];
    sti_MeasureEntry measure = {.name = def->name,
                                .bodies = def->bodies,
                                .wall = def->wall != NULL ? def->wall : "ground",
                                .shape = def->shape,
                                .type = def->type,
                                .region = def->region,
                                .body = def->body,
                                .reference = def->reference,
                                .joint = def->joint,
                                .frame = def->frame,
                                .reference_frame = def->reference_frame,
                                .own_axes = def->own_axes,
                                .factor = def->factor,
                                .offset = def->offset};
    snprintf(owner, sizeof owner, "measure \"%.200s\"", def->name != NULL ? def->name : "");
    if ((unsigned)def->type >= ST_N_MEASURE_TYPES)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: type is %d, must be 0 to %d", owner, (int)def->type,
                        ST_N_MEASURE_TYPES - 1);
    STI_TRY(sti_region_check(owner, &measure.region, err));
    if (def->region.type == ST_REGION_HALF_SPACE && (def->type == ST_MEASURE_BULK || def->type == ST_MEASURE_REPOSE))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: its region is a half space, must be a box, cylinder or sphere",
                        owner);
    const st_Pose *pose[2] = {&def->frame, &def->reference_frame};
    const bool jointed = def->type >= ST_MEASURE_COORDINATE && def->type <= ST_MEASURE_LIMIT;
    for (int k = 0; k < 2; k++)
        if (!(fabs(quat_norm(pose[k]->q) - 1) <= STI_UNIT) || !sti_within(norm(pose[k]->p), STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: its frame must have finite numbers and a unit quaternion",
                            owner);
    if (!sti_within(def->factor, STI_LARGEST) || !sti_within(def->offset, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: factor is %g and offset %g, both must be finite", owner, def->factor,
                        def->offset);
    if (jointed && def->joint == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: joint is missing, must be the name of a joint", owner);

    return sti_scene_keep_measure(scene, &measure, err);
}

st_Status st_scene_measure(const st_Scene *scene, int index, st_MeasureDef *out)
{
    if (scene == NULL || out == NULL || index < 0 || index >= scene->n_measures) return ST_ERR_ARGUMENT;
    const sti_MeasureEntry *measure = &scene->measure[index];
    *out = st_measure_def(measure->type);
    out->region = measure->region;
    out->bodies = measure->bodies;
    out->wall = measure->wall;
    out->shape = measure->shape;
    out->body = measure->body;
    out->reference = measure->reference;
    out->joint = measure->joint;
    out->frame = measure->frame;
    out->reference_frame = measure->reference_frame;
    out->own_axes = measure->own_axes;
    out->factor = measure->factor;
    out->offset = measure->offset;
    out->name = measure->name;
    return ST_OK;
}
