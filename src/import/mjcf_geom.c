/* import/mjcf_geom.c -- the geoms of an MJCF body: shapes, and the masses they have. What they touch: mjcf_contact.c.
 */
#include "import/mjcf.h"
#include "math/quat.h"
#include "scene/document.h"
#include "scene/geometry.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- forms --------------------------------------------------------------------------------------- */

typedef struct Geom {
    const sti_Element *at;
    const char *type;
    st_Pose pose;
    double size[3];
    int n_size;
} Geom;

static st_Status need_sizes(const sti_Mjcf *m, const Geom *geom, int n)
{
    const sti_Element *holder = sti_mjcf_holder(m, geom->at, "size");
    if (holder == NULL) holder = geom->at;
    if (geom->n_size < n)
        return sti_element_fail(m->robot->err, holder, "size has %d numbers, a %s must have %d", geom->n_size,
                                geom->type, n);
    for (int k = 0; k < n; k++)
        if (!(geom->size[k] > 0))
            return sti_element_fail(m->robot->err, holder, "size has %g, must be numbers > 0", geom->size[k]);
    return ST_OK;
}

/* Two ends in place of a length and a place: along z, in the middle. */
static st_Status read_fromto(const sti_Mjcf *m, Geom *geom)
{
    const sti_Element *holder = sti_mjcf_holder(m, geom->at, "fromto");
    double v[6];
    if (holder == NULL) return ST_OK;
    STI_TRY(sti_numbers(m->robot->err, holder, "fromto", 6, true, v));
    st_Vec3 a = vec3_load(v), b = vec3_load(v + 3), d = sub(a, b);
    double length = norm(d);
    if (!sti_mjcf_word("capsule cylinder ellipsoid box", geom->type))
        return sti_element_fail(m->robot->err, holder, "fromto is for a capsule, cylinder, ellipsoid or box, not a %s",
                                geom->type);
    if (!(length > 0)) return sti_element_fail(m->robot->err, holder, "fromto has both ends at the same point");
    bool round = geom->type[0] == 'c';
    geom->pose = (st_Pose){scale(0.5, add(a, b)), quat_between(vec3(0, 0, 1), scale(1 / length, d))};
    if (!round && geom->n_size == 1) geom->size[1] = geom->size[0];
    if (geom->n_size == 0) return need_sizes(m, geom, 1);
    geom->size[round ? 1 : 2] = length / 2;
    geom->n_size = round ? 2 : 3;
    return ST_OK;
}

static st_Status mesh_json(sti_Mjcf *m, const Geom *geom, json_t **out)
{
    const sti_Element *holder = sti_mjcf_holder(m, geom->at, "mesh");
    const char *name = holder != NULL ? sti_attribute(holder, "mesh") : NULL;
    char path[1024];
    if (name == NULL) return sti_element_fail(m->robot->err, geom->at, "is a mesh without one, mesh is missing");
    for (const sti_Element *asset = m->root->first; asset != NULL; asset = asset->next)
        for (const sti_Element *mesh = asset->first; mesh != NULL; mesh = mesh->next) {
            const char *own = sti_attribute(mesh, "name"), *file = sti_attribute(mesh, "file");
            if (!sti_element_is(asset, "asset") || !sti_element_is(mesh, "mesh") || file == NULL) continue;
            const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file;
            size_t stem = strcspn(base, ".");
            bool same = own != NULL ? strcmp(own, name) == 0 : strlen(name) == stem && strncmp(base, name, stem) == 0;
            if (!same) continue;
            double scales[3] = {1, 1, 1};
            STI_TRY(sti_mjcf_check(m, mesh, "name class file scale", "smoothnormal maxhullvert material"));
            STI_TRY(sti_mjcf_numbers(m, mesh, "scale", 3, scales));
            if (snprintf(path, sizeof path, "%s%s", file[0] == '/' ? "" : m->meshdir, file) >= (int)sizeof path)
                return sti_element_fail(m->robot->err, mesh, "the path of its file is too long");
            return sti_robot_mesh(m->robot, mesh, path, scales, out);
        }
    return sti_element_fail(m->robot->err, holder, "mesh is \"%.60s\", there is no asset of that name", name);
}

/* The shape of a scene, without its place. Sizes of MJCF are halves. */
static st_Status form_json(sti_Mjcf *m, const Geom *geom, json_t **out)
{
    const double *s = geom->size;
    if (strcmp(geom->type, "plane") == 0) {
        *out = json_pack("{s:s}", "type", "plane"); /* of any extent */
    } else if (strcmp(geom->type, "sphere") == 0) {
        STI_TRY(need_sizes(m, geom, 1));
        *out = json_pack("{s:s, s:f}", "type", "sphere", "radius", s[0]);
    } else if (strcmp(geom->type, "capsule") == 0 || strcmp(geom->type, "cylinder") == 0) {
        STI_TRY(need_sizes(m, geom, 2));
        *out = json_pack("{s:s, s:f, s:f}", "type", geom->type, "radius", s[0], "length", 2 * s[1]);
    } else if (strcmp(geom->type, "box") == 0 || strcmp(geom->type, "ellipsoid") == 0) {
        STI_TRY(need_sizes(m, geom, 3));
        *out = json_pack("{s:s, s:[f, f, f]}", "type", geom->type, "size", 2 * s[0], 2 * s[1], 2 * s[2]);
    } else if (strcmp(geom->type, "mesh") == 0) {
        return mesh_json(m, geom, out);
    } else {
        return sti_element_fail(m->robot->err, geom->at,
                                "type is \"%.40s\", must be plane, sphere, capsule, ellipsoid, cylinder, box or mesh",
                                geom->type);
    }
    return *out != NULL ? ST_OK : sti_robot_memory(m->robot);
}

/* ---- masses -------------------------------------------------------------------------------------- */

/* Volume, centre and inertia at a density of 1: asked of a scene with nothing else in it. */
static st_Status measure(const sti_Robot *robot, const json_t *json, st_Error *why, sti_RobotLink *out)
{
    sti_Reader reader = {.label = robot->reader->label, .text = "", .xml = true, .err = why};
    sti_Object object = {.reader = &reader, .kind = &sti_shape_kind, .json = json};
    st_BodyDef body = st_body_def();
    st_BodyId id;
    st_Vec3 centre = {0, 0, 0};
    st_Status status = st_scene_create(&reader.scene, why);
    if (status == ST_OK) status = st_scene_add_body(reader.scene, &body, &id, why);
    if (status == ST_OK) status = sti_object_read(&object, "");
    if (status == ST_OK) status = sti_geometry_finish(&object);
    object.def.shape.density = 1;
    if (status == ST_OK) status = st_scene_add_shape(reader.scene, id, &object.def.shape, NULL, why);
    if (status == ST_OK) status = st_scene_centre_body(reader.scene, id, &centre, why);
    if (status == ST_OK) status = st_scene_body_mass(reader.scene, id, &out->mass, &out->inertia, why);
    out->centre = centre;
    sti_object_free(&object);
    st_scene_destroy(reader.scene);
    return status;
}

static st_Status add_mass(sti_Mjcf *m, sti_RobotLink *link, const Geom *geom, const json_t *json)
{
    double mass = NAN, density = 1000;
    sti_RobotLink part = {.pose = geom->pose}, whole = {.pose = pose_identity()};
    STI_TRY(sti_mjcf_number(m, geom->at, "mass", &mass));
    STI_TRY(sti_mjcf_number(m, geom->at, "density", &density));
    if (mass < 0 || !(density >= 0)) return sti_element_fail(m->robot->err, geom->at, "mass and density must be >= 0");
    if (mass == 0 || (isnan(mass) && density == 0) || strcmp(geom->type, "plane") == 0) return ST_OK;
    st_Error why = {0};
    json_t *solid = json_deep_copy(json); /* the mass of a mesh is its own, whatever it touches as */
    if (strcmp(geom->type, "mesh") == 0) solid = sti_with(solid, "type", json_string("mesh"));
    st_Status status = solid != NULL ? measure(m->robot, solid, &why, &part) : sti_robot_memory(m->robot);
    json_decref(solid);
    if (solid == NULL) return status;
    if (status != ST_OK)
        return sti_element_fail(m->robot->err, geom->at,
                                "its mass cannot be found, give the body an <inertial>: %.160s", why.message);
    double factor = isnan(mass) ? density : mass / part.mass;
    part.mass *= factor;
    for (int k = 0; k < 9; k++)
        part.inertia.m[k] *= factor;
    whole.mass = link->mass, whole.centre = link->centre, whole.inertia = link->inertia;
    sti_join_masses(&whole, &part);
    link->mass = whole.mass, link->centre = whole.centre, link->inertia = whole.inertia;
    return ST_OK;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

st_Status sti_mjcf_geom(sti_Mjcf *m, sti_RobotLink *link, const sti_Element *at, bool mass_wanted)
{
    Geom geom = {.at = at, .type = sti_mjcf_text(m, at, "type")};
    const sti_Element *size = sti_mjcf_holder(m, at, "size");
    json_t *json = NULL;
    sti_Contacting contacting;
    STI_TRY(sti_mjcf_check(m, at, sti_mjcf_geom_words, sti_mjcf_geom_passed));
    if (geom.type == NULL) geom.type = sti_mjcf_holder(m, at, "mesh") != NULL ? "mesh" : "sphere";
    STI_TRY(sti_mjcf_pose(m, at, &geom.pose));
    if (size != NULL) STI_TRY(sti_some_numbers(m->robot->err, size, "size", 1, 3, &geom.n_size, geom.size));
    STI_TRY(read_fromto(m, &geom));
    STI_TRY(sti_mjcf_contact(m, at, &contacting));
    bool touches = contacting.filter >= 0;
    if (!touches && !mass_wanted) { /* to be looked at */
        sti_skip(m->robot, "<geom> that touches nothing");
        return ST_OK;
    }
    if (strcmp(geom.type, "plane") == 0 && !link->world)
        return sti_element_fail(m->robot->err, at, "is a plane, its body must be the worldbody");
    STI_TRY(form_json(m, &geom, &json));
    st_Status status = mass_wanted ? add_mass(m, link, &geom, json) : ST_OK;
    if (status != ST_OK || !touches) {
        json_decref(json);
        return status;
    }
    STI_TRY(sti_robot_shape(m->robot, link, at, geom.pose, json));
    link->shapes[link->n_shapes - 1].contacting = contacting;
    link->shapes[link->n_shapes - 1].name = sti_attribute(at, "name");
    return ST_OK;
}
