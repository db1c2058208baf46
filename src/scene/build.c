/* scene/build.c -- makes a scene and a system def from the tree: settings, materials, ground, bodies, joints,
 * springs, forces. */
#include "scene/geometry.h"
#include "scene/grains.h"

#include <stdio.h>

/* ---- simulation ------------------------------------------------------------------------------- */

/* Reads a word, which must be one of the setting's. *out points to the table's own copy, which lives as long as the
 * library. */
static st_Status build_read_word(const sti_Object *object, const st_Setting *setting, const json_t *value,
                                 const sti_Place *place, const char **out)
{
    const char *word = json_string_value(value);
    sti_Nearest nearest = {.word = word != NULL ? word : ""};
    for (int i = 0; setting->words[i] != NULL; i++) {
        if (word != NULL && strcmp(word, setting->words[i]) == 0) {
            *out = setting->words[i];
            return ST_OK;
        }
        sti_nearest_try(&nearest, setting->words[i]);
    }
    char text[400], found[80];
    sti_found_text(value, found, sizeof found);
    sti_nearest_text(&nearest, "must be one of", text, sizeof text);
    return sti_report(object->reader, place, ST_ERR_FORMAT, "%s: %s is %s%s", object->subject, setting->key, found,
                      text);
}

static st_Status setting_value(const sti_Object *object, const st_Setting *setting, const json_t *value,
                               const sti_Place *place, st_SettingValue *out)
{
    bool number = json_is_number(value);
    *out = (st_SettingValue){.number = json_number_value(value)};
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        return build_read_word(object, setting, value, place, &out->word);
    case ST_SETTING_NUMBER:
        return number ? ST_OK : sti_wrong(object, place, setting->key, value, "a number");
    case ST_SETTING_INTEGER:
        if (number && floor(out->number) == out->number) return ST_OK;
        return sti_wrong(object, place, setting->key, value, "a whole number");
    case ST_SETTING_BOOLEAN:
        out->number = json_is_true(value) ? 1.0 : 0.0;
        return json_is_boolean(value) ? ST_OK : sti_wrong(object, place, setting->key, value, "true or false");
    case ST_SETTING_VECTOR:
        return sti_vector_read(object, setting->key, value, place, &out->vector);
    }
    return ST_OK;
}

static st_Status read_setting(sti_Reader *reader, const sti_Object *object, const char *key, const json_t *value)
{
    sti_Place place = {object->place, key, 0};
    const st_Setting *setting = st_setting_find(key);
    st_SettingValue read;
    if (setting == NULL) {
        char text[400];
        sti_Nearest nearest = {.word = key};
        for (int i = 0; i < st_setting_count(); i++)
            sti_nearest_try(&nearest, st_setting(i)->key);
        sti_nearest_text(&nearest, "known keys", text, sizeof text);
        const bool above = nearest.best == NULL && sti_kind_has(&sti_scene_kind, key);
        return sti_report(object->reader, &place, ST_ERR_FORMAT, "%s has no key \"%.60s\"%s%s", object->subject, key,
                          above ? "; it belongs to the scene, beside simulation" : "", text);
    }
    STI_TRY(setting_value(object, setting, value, &place, &read));
    st_Error why = {0};
    st_Status status = st_setting_set(&reader->def, key, &read, &why);
    if (status == ST_OK) return ST_OK;
    return sti_report(reader, &place, ST_ERR_FORMAT, "%s: %s", object->subject, why.message);
}

/* Reads the preset first, regardless of its position; then the other keys override single settings. */
static st_Status read_simulation(sti_Reader *reader)
{
    sti_Place place = {NULL, "simulation", 0};
    sti_Object object = {.reader = reader, .place = &place, .subject = "simulation"};
    json_t *simulation = json_object_get(reader->root, "simulation"), *value;
    const char *key;
    st_Status status = ST_OK, bad;

    value = json_object_get(simulation, "preset");
    if (value != NULL) status = read_setting(reader, &object, "preset", value);
    if (status != ST_OK && !STI_GO_ON(reader, status)) return status;
    json_object_foreach(simulation, key, value)
    {
        if (strcmp(key, "preset") == 0) continue;
        bad = read_setting(reader, &object, key, value);
        if (bad != ST_OK) status = bad;
        if (bad != ST_OK && !STI_GO_ON(reader, bad)) break;
    }
    return status;
}

/* ---- lists of objects ------------------------------------------------------------------------- */

/* The default of a point that was left out is the position of the body. The ground has no such default. */
static st_Status default_point(const sti_Object *object, const char *key, const char *end, st_BodyId body, st_Vec3 *out)
{
    st_BodyDef def;
    if (sti_object_has(object, key)) return ST_OK;
    if (body.index1 == 0)
        return sti_report(object->reader, object->place, ST_ERR_FORMAT,
                          "%s: \"%s\" is missing: end %s is on the ground, which has no default position; must be "
                          "three numbers [x, y, z]",
                          object->subject, key, end);
    st_Status status = st_scene_body(object->reader->scene, body, &def);
    if (status == ST_OK) *out = def.pose.p;
    return status;
}

/* Adds one object that was read. If the core refuses it, file and line are added to the message. */
typedef st_Status (*AddObject)(sti_Reader *reader, sti_Object *object, st_BodyId owner);

static st_Status add_material(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_complete(object, st_scene_add_material(reader->scene, &object->def.material, NULL, reader->err));
}

static st_Status add_material_pair(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_complete(object, st_scene_add_material_pair(reader->scene, &object->def.material_pair, reader->err));
}

static st_Status build_add_shape(sti_Reader *reader, sti_Object *object, st_BodyId owner)
{
    STI_TRY(sti_shape_finish(object));
    return sti_complete(object, st_scene_add_shape(reader->scene, owner, &object->def.shape, NULL, reader->err));
}

static st_Status add_joint(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    st_JointDef *def = &object->def.joint;
    if (def->type == ST_JOINT_TENDON) {
        /* The path of a tendon. There is room for one point more than allowed, so that the core reports the excess. */
        st_TendonPoint path[65];
        const json_t *list = json_object_get(object->json, "path");
        sti_Place place = {object->place, "path", 0};
        char family[sizeof object->subject + 4];
        snprintf(family, sizeof family, "of %s", object->subject);
        for (size_t i = 0; i < json_array_size(list) && def->n_path < 65; i++) {
            sti_Place at = {&place, NULL, i};
            sti_Object part = {
                .reader = reader, .kind = &sti_tendon_kind, .place = &at, .json = json_array_get(list, i)};
            STI_TRY(sti_object_read(&part, family));
            path[def->n_path++] = part.def.tendon;
        }
        def->path = path;
        st_Status status = sti_complete(object, st_scene_add_joint(reader->scene, def, NULL, reader->err));
        def->path = NULL;
        return status;
    }
    if (def->type == ST_JOINT_DISTANCE || def->type == ST_JOINT_FREE) {
        STI_TRY(default_point(object, "point", "a", def->a, &def->point));
        STI_TRY(default_point(object, "point_b", "b", def->b, &def->point_b));
    } else if (def->type != ST_JOINT_GEAR) {
        /* the point is required if it matters; otherwise any point of a body will do */
        st_BodyId body = def->a.index1 != 0 ? def->a : def->b;
        if (body.index1 != 0) STI_TRY(default_point(object, "point", "a", body, &def->point));
    }
    return sti_complete(object, st_scene_add_joint(reader->scene, def, NULL, reader->err));
}

static st_Status add_spring(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    st_SpringDef *def = &object->def.spring;
    if (def->type == ST_SPRING_BUSHING) {
        st_BodyId body = def->a.index1 != 0 ? def->a : def->b;
        STI_TRY(default_point(object, "point", "a", body, &def->point_a));
    } else if (def->type == ST_SPRING_LINEAR) {
        STI_TRY(default_point(object, "point_a", "a", def->a, &def->point_a));
        STI_TRY(default_point(object, "point_b", "b", def->b, &def->point_b));
    }
    return sti_complete(object, st_scene_add_spring(reader->scene, def, NULL, reader->err));
}

static st_Status add_force(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_complete(object, st_scene_add_force(reader->scene, &object->def.force, NULL, reader->err));
}

/* Reads and adds every member of a list; with `add` NULL, only reads. For shapes, `family` ("of body \"left\"") and
 * `owner` give their body. */
static st_Status add_list(sti_Reader *reader, const json_t *list, const sti_Place *place, const sti_Kind *kind,
                          AddObject add, const char *family, st_BodyId owner)
{
    st_Status status = ST_OK;
    for (size_t i = 0; i < json_array_size(list); i++) {
        sti_Place at = {place, NULL, i};
        sti_Object object = {.reader = reader, .kind = kind, .place = &at, .json = json_array_get(list, i)};
        st_Status bad = sti_object_read(&object, family);
        if (bad == ST_OK && add != NULL)
            bad = add(reader, &object, owner);
        else if (bad != ST_OK && kind == &sti_body_kind && STI_GO_ON(reader, bad)) {
            /* Checks the shapes of a body that itself has errors. */
            sti_Place shapes = {object.place, "shapes", 0};
            char of_body[sizeof object.subject + 4];
            snprintf(of_body, sizeof of_body, "of %s", object.subject);
            (void)add_list(reader, json_object_get(object.json, "shapes"), &shapes, &sti_shape_kind, NULL, of_body,
                           ST_GROUND);
        }
        sti_object_free(&object);
        if (bad != ST_OK) status = bad;
        if (bad != ST_OK && !STI_GO_ON(reader, bad)) break;
    }
    return status;
}

/* A given mass and given densities of all shapes must agree. Default densities do not count. */
#define MASS_MISMATCH 1e-3
static st_Status check_mass(sti_Reader *reader, const sti_Object *object, st_BodyId id)
{
    const json_t *given = json_object_get(object->json, "mass"), *shapes = json_object_get(object->json, "shapes");
    sti_Place place = {object->place, "mass", 0};
    bool all = json_array_size(shapes) > 0;
    double wanted = json_number_value(given), mass;
    for (size_t k = 0; k < json_array_size(shapes); k++)
        all = all && json_object_get(json_array_get(shapes, k), "density") != NULL;
    if (!all || !(wanted > 0) || st_scene_shapes_mass(reader->scene, id, &mass, NULL) != ST_OK) return ST_OK;
    if (!(mass > 0) || fabs(mass - wanted) <= MASS_MISMATCH * wanted) return ST_OK;
    return sti_report(reader, &place, ST_ERR_FORMAT,
                      "%s: mass is %g kg, but its shapes have %g kg by their densities: leave out one of the two",
                      object->subject, wanted, mass);
}

static st_Status build_add_body(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    const st_BodyDef *def = &object->def.body;
    sti_Place name_place = {object->place, "name", 0}, shapes_place = {object->place, "shapes", 0};
    st_BodyId id;
    char family[sizeof object->subject + 4];

    if (def->name != NULL && strcmp(def->name, "ground") == 0)
        return sti_report(reader, &name_place, ST_ERR_FORMAT,
                          "%s: the name \"ground\" is reserved for the ground, which does not move", object->subject);
    /* A velocity along a locked direction would be lost, so it is refused. */
    const double velocity[6] = {def->velocity.x, def->velocity.y, def->velocity.z,
                                def->spin.x,     def->spin.y,     def->spin.z};
    for (size_t i = 0; i < 6; i++) {
        if (velocity[i] == 0 || (!def->fixed && (def->locks & (1u << i)) == 0)) continue;
        sti_Place place = {object->place, i < 3 ? "velocity" : "angular_velocity", 0}, at = {&place, NULL, i % 3};
        return sti_report(object->reader, &at, ST_ERR_FORMAT, "%s: %s[%zu] is %g, must be 0: %s", object->subject,
                          place.key, i % 3, velocity[i], def->fixed ? "the body is fixed" : "that direction is locked");
    }

    STI_TRY(sti_complete(object, st_scene_add_body(reader->scene, def, &id, reader->err)));
    snprintf(family, sizeof family, "of %s", object->subject);
    STI_TRY(add_list(reader, json_object_get(object->json, "shapes"), &shapes_place, &sti_shape_kind, build_add_shape,
                     family, id));
    STI_TRY(check_mass(reader, object, id));
    if (json_is_true(json_object_get(object->json, "recentre")))
        STI_TRY(sti_complete(object, st_scene_centre_body(reader->scene, id, NULL, reader->err)));
    /* Only now it is known whether every free direction has a mass. Checked here, the message has a line number. */
    double mass;
    st_Mat3 inertia;
    return sti_complete(object, st_scene_body_mass(reader->scene, id, &mass, &inertia, reader->err));
}

static st_Status keep_region(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_region_keep(reader, object);
}

static st_Status add_fill(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_fill_add(reader, object);
}

static st_Status add_inlet(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_inlet_add(reader, object);
}

static st_Status add_outlet(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_complete(object, st_scene_add_outlet(reader->scene, &object->def.outlet, reader->err));
}

static st_Status build_add_measure(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    return sti_complete(object, st_scene_add_measure(reader->scene, &object->def.measure, reader->err));
}

/* Reads the members of a list of the keyframe into `to`, which has room for all of them. */
static st_Status read_keyframe_list(sti_Reader *reader, const sti_Object *object, const char *key, const sti_Kind *kind,
                                    void *to, size_t size)
{
    const json_t *list = json_object_get(object->json, key);
    sti_Place place = {object->place, key, 0};
    char family[sizeof object->subject + 4];
    snprintf(family, sizeof family, "of %s", object->subject);
    for (size_t i = 0; to != NULL && i < json_array_size(list); i++) {
        sti_Place at = {&place, NULL, i};
        sti_Object part = {.reader = reader, .kind = kind, .place = &at, .json = json_array_get(list, i)};
        STI_TRY(sti_object_read(&part, family));
        memcpy((char *)to + i * size, &part.def, size);
    }
    return ST_OK;
}

static st_Status add_keyframe(sti_Reader *reader, sti_Object *object, st_BodyId unused)
{
    (void)unused;
    st_KeyframeDef *def = &object->def.keyframe;
    const size_t n_bodies = json_array_size(json_object_get(object->json, "bodies"));
    const size_t n_motors = json_array_size(json_object_get(object->json, "motors"));
    st_KeyframeBody *bodies = calloc(n_bodies + 1, sizeof *bodies);
    st_KeyframeMotor *motors = calloc(n_motors + 1, sizeof *motors);
    const size_t n_forces = json_array_size(json_object_get(object->json, "forces"));
    st_KeyframeForce *forces = calloc(n_forces + 1, sizeof *forces);
    st_Status status = bodies != NULL && motors != NULL && forces != NULL
                           ? ST_OK
                           : sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory for a keyframe");
    if (status == ST_OK)
        status = read_keyframe_list(reader, object, "bodies", &sti_keyframe_body_kind, bodies, sizeof *bodies);
    if (status == ST_OK)
        status = read_keyframe_list(reader, object, "motors", &sti_keyframe_motor_kind, motors, sizeof *motors);
    if (status == ST_OK)
        status = read_keyframe_list(reader, object, "forces", &sti_keyframe_force_kind, forces, sizeof *forces);
    def->n_bodies = (int)n_bodies, def->n_motors = (int)n_motors, def->n_forces = (int)n_forces;
    def->bodies = bodies, def->motors = motors, def->forces = forces;
    if (status == ST_OK) status = sti_complete(object, st_scene_add_keyframe(reader->scene, def, reader->err));
    def->bodies = NULL, def->motors = NULL, def->forces = NULL;
    free(bodies);
    free(motors);
    free(forces);
    return status;
}

/* The scene must contain something. Robots have already been added. */
static st_Status check_some(const sti_Reader *reader)
{
    const json_t *bodies = json_object_get(reader->root, "bodies");
    static const char *const others[] = {"fills", "inlets"};
    size_t n = json_array_size(bodies);
    for (int k = 0; k < 2; k++)
        n += json_array_size(json_object_get(reader->root, others[k]));
    if (n > 0) return ST_OK;
    sti_Place place = {NULL, "bodies", 0};
    return sti_report(
        reader, bodies != NULL ? &place : NULL, ST_ERR_FORMAT,
        "scene: %s, a scene needs a list of at least one object there, or in \"fills\", \"inlets\" or \"robots\"",
        bodies != NULL ? "bodies is an empty list" : "\"bodies\" is missing");
}

st_Status sti_build(sti_Reader *reader)
{
    static const struct {
        const char *list;
        const sti_Kind *kind;
        AddObject add;
        const char *family;
    } lists[] = {
        /* objects that others refer to come first */
        {"materials", &sti_material_kind, add_material, ""},
        {"material_pairs", &sti_material_pair_kind, add_material_pair, ""},
        {"ground", &sti_shape_kind, build_add_shape, "of the ground"},
        {"regions", &sti_region_kind, keep_region, ""},
        {"bodies", &sti_body_kind, build_add_body, ""},
        {"fills", &sti_fill_kind, add_fill, ""},
        {"inlets", &sti_inlet_kind, add_inlet, ""},
        {"outlets", &sti_outlet_kind, add_outlet, ""},
        {"measures", &sti_measure_kind, build_add_measure, ""},
        {"joints", &sti_joint_kind, add_joint, ""},
        {"springs", &sti_spring_kind, add_spring, ""},
        {"forces", &sti_force_kind, add_force, ""},
        {"keyframes", &sti_keyframe_kind, add_keyframe, ""},
    };
    sti_Object scene = {.reader = reader, .kind = &sti_scene_kind, .json = reader->root};

    st_Status status = sti_object_read(&scene, ""), bad;
    if (status == ST_OK) status = check_some(reader);
    if (status != ST_OK && !STI_GO_ON(reader, status)) return status;
    const sti_Place periodic = {NULL, "periodic", 0};
    st_Error why = {0};
    if (sti_object_has(&scene, "periodic") && st_scene_set_cell(reader->scene, &scene.def.cell, &why) != ST_OK)
        return sti_report(reader, &periodic, ST_ERR_FORMAT, "%s", why.message);
    bad = read_simulation(reader);
    if (bad != ST_OK) status = bad;
    if (bad != ST_OK && !STI_GO_ON(reader, bad)) return bad;
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        sti_Place place = {NULL, lists[k].list, 0};
        const json_t *list = json_object_get(reader->root, lists[k].list);
        bad = add_list(reader, list, &place, lists[k].kind, lists[k].add, lists[k].family, ST_GROUND);
        if (bad != ST_OK) status = bad;
        if (bad != ST_OK && !STI_GO_ON(reader, bad)) return bad;
    }
    STI_TRY(status);
    /* [["left", "right"], ...]: pairs of bodies that do not touch. */
    const json_t *list = json_object_get(reader->root, "exclude");
    const sti_Place exclude = {NULL, "exclude", 0};
    sti_Object object = {.reader = reader, .place = &exclude, .subject = "exclude"};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        sti_Place at = {&exclude, NULL, i};
        st_BodyId id[2];
        if (json_array_size(pair) != 2) return sti_wrong(&object, &at, "a pair", pair, "two names of bodies");
        for (size_t k = 0; k < 2; k++) {
            const char *name = json_string_value(json_array_get(pair, k));
            id[k] = name != NULL ? st_scene_find_body(reader->scene, name) : ST_GROUND;
            if (name == NULL || (id[k].index1 == 0 && strcmp(name, "ground") != 0))
                return sti_wrong(&object, &at, "a pair's member", json_array_get(pair, k),
                                 "the name of a body, or \"ground\"");
        }
        why = (st_Error){0};
        if (st_scene_exclude(reader->scene, id[0], id[1], &why) != ST_OK)
            return sti_report(reader, &at, ST_ERR_FORMAT, "%s", why.message);
    }
    return sti_overlaps_exclude(reader);
}
