/* model/material.c -- materials of surfaces, and the combination of two:
 *
 *     mu_ab = that of the pair if given, else sqrt(mu_a mu_b); kinetic friction and adhesion likewise
 *     e_ab  = that of the pair if given, else max(e_a, e_b); rolling and spinning friction, the range of
 *             adhesion and the Stribeck speed likewise
 *
 * A shape without a material has its own numbers, and only the second rules apply to it. It has no adhesion, and its
 * kinetic friction is its friction.
 */
#include "model/check.h"
#include "model/world.h"

#include <stdio.h>

st_MaterialDef st_material_def(void)
{
    return (st_MaterialDef){.mu = 0.5, .more = {.kinetic = NAN}, .cookie = STI_COOKIE};
}

st_MaterialPairDef st_material_pair_def(void)
{
    return (st_MaterialPairDef){.mu = NAN,
                                .restitution = NAN,
                                .rolling = NAN,
                                .spinning = NAN,
                                .more = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
                                .cookie = STI_COOKIE};
}

/* Numbers may be NaN, which means not given. */
static st_Status material_check_more(Subject s, const st_SurfaceLaw *law)
{
    const struct {
        const char *key;
        double value;
    } all[] = {{"adhesion", law->adhesion},
               {"adhesion_pressure", law->adhesion_pressure},
               {"adhesion_range", law->adhesion_range},
               {"kinetic_friction", law->kinetic},
               {"stribeck_speed", law->stribeck_speed},
               {"liquid_volume", law->liquid_volume},
               {"surface_tension", law->surface_tension},
               {"wetting_angle", law->wetting_angle}};
    for (int k = 0; k < 8; k++)
        if (!isnan(all[k].value)) STI_TRY(check_not_negative(s, all[k].key, all[k].value));
    if (law->wetting_angle >= 0.5 * STI_PI)
        return BAD(s, "wetting_angle is %g, must be below pi/2: a liquid that does not wet the surface does not pull",
                   law->wetting_angle);
    return ST_OK;
}

st_Status st_scene_add_material(st_Scene *scene, const st_MaterialDef *def, st_MaterialId *out, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_material_def", err);
    st_MaterialDef material = *def;
    Subject s = subject_of(STI_MATERIAL, def->name, err);
    STI_TRY(check_not_negative(s, "friction", def->mu));
    STI_TRY(check_restitution(s, def->restitution));
    STI_TRY(check_length(s, "rolling_friction", def->rolling));
    STI_TRY(check_length(s, "spinning_friction", def->spinning));
    const double needed = def->more.adhesion + def->more.adhesion_pressure + def->more.adhesion_range;
    const double liquid = def->more.liquid_volume + def->more.surface_tension + def->more.wetting_angle;
    if (isnan(needed + def->more.stribeck_speed + liquid))
        return BAD(s, "adhesion, stribeck_speed or a number of its liquid is %g", NAN);
    STI_TRY(material_check_more(s, &def->more));
    if (!isnan(def->more.kinetic) && !(def->more.stribeck_speed > 0))
        return BAD(s, "kinetic_friction is %g and there is no stribeck_speed", def->more.kinetic);
    STI_TRY(STI_GROW(&scene->allocator, scene->material, scene->material_capacity, scene->n_materials + 1, err));
    STI_TRY(sti_scene_add_name(scene, STI_MATERIAL, 0, def->name, &material.name, err));
    scene->material[scene->n_materials++] = material;
    if (out != NULL) out->index1 = scene->n_materials;
    return ST_OK;
}

static const st_MaterialPairDef *find_pair(const st_Scene *scene, int a, int b)
{
    for (int k = 0; k < scene->n_material_pairs; k++) {
        const st_MaterialPairDef *pair = &scene->material_pair[k];
        if ((pair->a.index1 == a && pair->b.index1 == b) || (pair->a.index1 == b && pair->b.index1 == a)) return pair;
    }
    return NULL;
}

st_Status st_scene_add_material_pair(st_Scene *scene, const st_MaterialPairDef *def, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_material_pair_def", err);
    const int id[2] = {def->a.index1, def->b.index1};
    for (int k = 0; k < 2; k++)
        if (id[k] < 1 || id[k] > scene->n_materials)
            return sti_fail(err, ST_ERR_ARGUMENT, "material pair: %c is material number %d, there are %d", 'a' + k,
                            id[k], scene->n_materials);
    const char *a = scene->material[id[0] - 1].name, *b = scene->material[id[1] - 1].name;
    if (find_pair(scene, id[0], id[1]) != NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "material pair \"%s\" and \"%s\" is given twice", a, b);
    char who[2 * STI_NAME_MAX + 16];
    snprintf(who, sizeof who, "%s\" and \"%s", a, b);
    Subject s = {"material pair", who, err};
    const st_SurfaceLaw *more = &def->more;
    if (isnan(def->mu) && isnan(def->restitution) && isnan(def->rolling) && isnan(def->spinning) &&
        isnan(more->adhesion) && isnan(more->adhesion_pressure) && isnan(more->adhesion_range) &&
        isnan(more->kinetic) && isnan(more->stribeck_speed) && isnan(more->liquid_volume) &&
        isnan(more->surface_tension) && isnan(more->wetting_angle))
        return BAD(s, "has no value: friction is %g; at least one of its numbers must be given", def->mu);
    if (!isnan(def->mu)) STI_TRY(check_not_negative(s, "friction", def->mu));
    if (!isnan(def->restitution)) STI_TRY(check_restitution(s, def->restitution));
    if (!isnan(def->rolling)) STI_TRY(check_length(s, "rolling_friction", def->rolling));
    if (!isnan(def->spinning)) STI_TRY(check_length(s, "spinning_friction", def->spinning));
    STI_TRY(material_check_more(s, more));
    const double speed = isnan(more->stribeck_speed) ? fmax(scene->material[id[0] - 1].more.stribeck_speed,
                                                            scene->material[id[1] - 1].more.stribeck_speed)
                                                     : more->stribeck_speed;
    if (!isnan(more->kinetic) && !(speed > 0))
        return BAD(s, "kinetic_friction is %g and there is no stribeck_speed", more->kinetic);
    STI_TRY(STI_GROW(&scene->allocator, scene->material_pair, scene->material_pair_capacity,
                     scene->n_material_pairs + 1, err));
    scene->material_pair[scene->n_material_pairs++] = *def;
    return ST_OK;
}

static double geometric_mean(double a, double b)
{
    return a == b ? a : sqrt(a * b); /* avoids rounding if they agree */
}

/* The law of one shape: that of its material, or none. Its kinetic friction is always a number. */
static st_SurfaceLaw law_of_shape(const st_Scene *scene, const st_ShapeDef *shape)
{
    st_SurfaceLaw law = {.kinetic = NAN};
    if (shape->material.index1 > 0) law = scene->material[shape->material.index1 - 1].more;
    if (isnan(law.kinetic)) law.kinetic = shape->mu;
    return law;
}

st_MaterialPairDef sti_pair_of(const st_Scene *scene, const st_ShapeDef *a, const st_ShapeDef *b)
{
    const st_MaterialPairDef *said = scene->n_material_pairs == 0 || a->material.index1 == 0 || b->material.index1 == 0
                                         ? NULL
                                         : find_pair(scene, a->material.index1, b->material.index1);
    st_MaterialPairDef pair = said != NULL ? *said : st_material_pair_def();
    const st_SurfaceLaw of_a = law_of_shape(scene, a), of_b = law_of_shape(scene, b);
    st_SurfaceLaw *more = &pair.more;
    if (isnan(more->stribeck_speed)) more->stribeck_speed = fmax(of_a.stribeck_speed, of_b.stribeck_speed);
    if (isnan(more->kinetic)) more->kinetic = isnan(pair.mu) ? geometric_mean(of_a.kinetic, of_b.kinetic) : pair.mu;
    if (isnan(more->adhesion)) more->adhesion = geometric_mean(of_a.adhesion, of_b.adhesion);
    if (isnan(more->adhesion_pressure))
        more->adhesion_pressure = geometric_mean(of_a.adhesion_pressure, of_b.adhesion_pressure);
    if (isnan(more->adhesion_range)) more->adhesion_range = fmax(of_a.adhesion_range, of_b.adhesion_range);
    if (isnan(more->liquid_volume)) more->liquid_volume = geometric_mean(of_a.liquid_volume, of_b.liquid_volume);
    if (isnan(more->surface_tension)) more->surface_tension = fmax(of_a.surface_tension, of_b.surface_tension);
    if (isnan(more->wetting_angle)) more->wetting_angle = fmax(of_a.wetting_angle, of_b.wetting_angle);
    if (isnan(pair.mu)) pair.mu = geometric_mean(a->mu, b->mu);
    if (isnan(pair.restitution)) pair.restitution = fmax(a->restitution, b->restitution);
    if (isnan(pair.rolling)) pair.rolling = fmax(a->rolling, b->rolling);
    if (isnan(pair.spinning)) pair.spinning = fmax(a->spinning, b->spinning);
    return pair;
}

int st_scene_excluded_count(const st_Scene *scene)
{
    return scene != NULL ? scene->n_excluded : 0;
}

st_Status st_scene_excluded(const st_Scene *scene, int index, st_BodyId *a, st_BodyId *b)
{
    if (scene == NULL || a == NULL || b == NULL || index < 0 || index >= scene->n_excluded) return ST_ERR_ARGUMENT;
    const sti_BodyPair pair = scene->excluded[index];
    *a = pair.a > 0 ? sti_body_id(scene, pair.a) : ST_GROUND;
    *b = pair.b > 0 ? sti_body_id(scene, pair.b) : ST_GROUND;
    return ST_OK;
}

int st_scene_material_pair_count(const st_Scene *scene)
{
    return scene->n_material_pairs;
}

st_Status st_scene_material_pair(const st_Scene *scene, int index, st_MaterialPairDef *out)
{
    if (scene == NULL || out == NULL || index < 0 || index >= scene->n_material_pairs) return ST_ERR_ARGUMENT;
    *out = scene->material_pair[index];
    return ST_OK;
}

int st_scene_material_count(const st_Scene *scene)
{
    return scene->n_materials;
}

st_Status st_scene_material(const st_Scene *scene, st_MaterialId id, st_MaterialDef *out)
{
    if (scene == NULL || out == NULL) return ST_ERR_ARGUMENT;
    if (id.index1 < 1 || id.index1 > scene->n_materials) return ST_ERR_ARGUMENT;
    *out = scene->material[id.index1 - 1];
    return ST_OK;
}

st_MaterialId st_scene_find_material(const st_Scene *scene, const char *name)
{
    return (st_MaterialId){sti_names_find(&scene->names[STI_MATERIAL], 0, name) + 1};
}

st_Status st_scene_scale_friction(st_Scene *scene, double factor, st_Error *err)
{
    STI_NEED(scene, err);
    if (!sti_between(factor, 0, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "the factor of friction is %g, must be from 0 to %g", factor,
                        STI_LARGEST);
    sti_shape_cache_scale_friction(&scene->shape_cache, factor);
    for (int k = 0; k < scene->n_materials; k++)
        scene->material[k].mu *= factor, scene->material[k].more.kinetic *= factor;
    for (int k = 0; k < scene->n_material_pairs; k++)
        scene->material_pair[k].mu *= factor, scene->material_pair[k].more.kinetic *= factor;
    return ST_OK;
}

/* ---- pairs of surfaces, combined once ----------------------------------------------------------- */

/* Combined surfaces of two shapes, computed once.
 *
 * A scene has few kinds of surfaces, however many shapes: the shapes are numbered by kind, and a table has the
 * combination of every two kinds. If there are too many kinds there is no table.
 */

#define MAX_KINDS 64 /* a table of 64 x 64 is 1 MB */

/* The stiffness of two springs in series; 0 means rigid. */
static double in_series(double a, double b)
{
    return a > 0 && b > 0 ? a * b / (a + b) : fmax(a, b);
}

static bool surface_is_zero(st_Vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static bool is_belt(const st_ShapeDef *shape)
{
    return !surface_is_zero(shape->surface_velocity) || !surface_is_zero(shape->surface_spin);
}

/* mu along over mu across; 1: friction is isotropic. */
static double slenderness(const st_ShapeDef *shape)
{
    return shape->friction_across > 0 ? shape->mu / shape->friction_across : 1.0;
}

/* With sqrt(mu_1 mu_2) in place of a shape's mu, the geometric means with the other shape's are (mu s, mu/s) where
 * s^4 = mu_1/mu_2 of the one with the more slender ellipse.                                        */
static sti_Surface combine_surfaces(const st_Scene *scene, const st_ShapeDef *a, const st_ShapeDef *b)
{
    st_ShapeDef mean[2] = {*a, *b};
    const double s[2] = {slenderness(a), slenderness(b)};
    const int more = fabs(log(s[0])) >= fabs(log(s[1])) ? 0 : 1;
    for (int side = 0; side < 2; side++)
        if (s[side] != 1) mean[side].mu = sqrt(mean[side].mu * mean[side].friction_across);
    const st_MaterialPairDef pair = sti_pair_of(scene, &mean[0], &mean[1]);
    return (sti_Surface){.more = pair.more,
                         .slender = s[more] == 1 || pair.mu == 0 ? 1.0 : sqrt(sqrt(s[more])),
                         .along_of = s[more] == 1 ? -1 : more,
                         .along = more == 0 ? a->friction_direction : b->friction_direction,
                         .mu = pair.mu,
                         .restitution = pair.restitution,
                         .rolling = pair.rolling,
                         .spinning = pair.spinning,
                         .stiffness = in_series(a->stiffness, b->stiffness),
                         .damping = in_series(a->damping, b->damping),
                         .elastic = {{a->young, a->poisson}, {b->young, b->poisson}},
                         .moves = pair.mu > 0 && (is_belt(a) || is_belt(b)),
                         .turns = pair.rolling > 0 || pair.spinning > 0 || a->young > 0 || b->young > 0};
}

static bool surface_same_surface(const st_ShapeDef *a, const st_ShapeDef *b)
{
    return a->material.index1 == b->material.index1 && a->mu == b->mu && a->restitution == b->restitution &&
           a->rolling == b->rolling && a->spinning == b->spinning && a->stiffness == b->stiffness &&
           a->damping == b->damping && a->young == b->young && a->poisson == b->poisson && is_belt(a) == is_belt(b) &&
           a->friction_across == b->friction_across && a->friction_direction.x == b->friction_direction.x &&
           a->friction_direction.y == b->friction_direction.y && a->friction_direction.z == b->friction_direction.z;
}

/* The def of a shape with its present surface values; in `room` if they differ from those of the scene. */
static const st_ShapeDef *surface_def(const st_Scene *scene, const sti_Values *values, int shape, st_ShapeDef *room)
{
    if (values->surface == NULL) return sti_shape_def(scene, shape);
    const sti_SurfaceValues *own = &values->surface[shape];
    *room = *sti_shape_def(scene, shape);
    room->mu = own->friction;
    room->restitution = own->restitution;
    room->rolling = own->rolling;
    room->spinning = own->spinning;
    return room;
}

/* Finds the kind of each shape, and a shape of each kind; false: there are too many. */
static bool find_kinds(const st_Scene *scene, sti_Values *values, int first[MAX_KINDS])
{
    sti_Surfaces *out = &values->surfaces;
    st_ShapeDef room, other;
    out->n_kinds = 0;
    for (int k = 0; k < scene->n_shapes; k++) {
        const st_ShapeDef *def = surface_def(scene, values, k, &room);
        int kind = 0;
        while (kind < out->n_kinds && !surface_same_surface(surface_def(scene, values, first[kind], &other), def))
            kind++;
        if (kind == MAX_KINDS) return false;
        if (kind == out->n_kinds) first[out->n_kinds++] = k;
        out->kind[k] = kind;
    }
    return true;
}

st_Status sti_surfaces_compile(const st_Scene *scene, const st_Allocator *allocator, sti_Values *values, st_Error *err)
{
    const int n = scene->n_shapes;
    int first[MAX_KINDS];
    sti_Surfaces *out = &values->surfaces;
    st_ShapeDef room[2];
    *out = (sti_Surfaces){.n_kinds = 0};
    values->turning = false;
    for (int k = 0; k < n && !values->turning; k++) {
        const st_ShapeDef *def = surface_def(scene, values, k, &room[0]);
        values->turning = def->rolling > 0 || def->spinning > 0;
    }
    for (int k = 0; k < scene->n_material_pairs; k++)
        values->turning =
            values->turning || scene->material_pair[k].rolling > 0 || scene->material_pair[k].spinning > 0;
    if (n == 0) return ST_OK;
    out->kind = sti_alloc(allocator, n, sizeof *out->kind);
    if (out->kind == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d shapes", n);
    if (!find_kinds(scene, values, first)) {
        sti_surfaces_free(scene, allocator, out);
        return ST_OK;
    }
    int kinds = out->n_kinds;
    out->table = sti_alloc(allocator, (int64_t)kinds * kinds, sizeof *out->table);
    if (out->table == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d kinds of surfaces", kinds);
    for (int i = 0; i < kinds; i++)
        for (int j = 0; j < kinds; j++)
            out->table[i * kinds + j] = combine_surfaces(scene, surface_def(scene, values, first[i], &room[0]),
                                                         surface_def(scene, values, first[j], &room[1]));
    return ST_OK;
}

void sti_surfaces_free(const st_Scene *scene, const st_Allocator *allocator, sti_Surfaces *surfaces)
{
    if (surfaces->kind == NULL) return;
    sti_free(allocator, surfaces->kind, scene->n_shapes, sizeof *surfaces->kind);
    sti_free(allocator, surfaces->table, (int64_t)surfaces->n_kinds * surfaces->n_kinds, sizeof *surfaces->table);
    *surfaces = (sti_Surfaces){.n_kinds = 0};
}

sti_Surface sti_surface_on_demand(const sti_World *world, int i, int j)
{
    st_ShapeDef own[2];
    return combine_surfaces(world->scene, surface_def(world->scene, &world->values, i, &own[0]),
                            surface_def(world->scene, &world->values, j, &own[1]));
}
