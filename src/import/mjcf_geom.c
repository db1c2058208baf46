/* import/mjcf_geom.c -- the geoms of an MJCF body: shapes and masses. Contacts are in mjcf_contact.c. */
#include "import/mesh_mass.h"
#include "import/mjcf.h"
#include "math/principal.h"
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

/* ---- meshes -------------------------------------------------------------------------------------- */

size_t sti_mjcf_stem(const char **file)
{
    const char *slash = strrchr(*file, '/'), *dot;
    if (slash != NULL) *file = slash + 1;
    dot = strrchr(*file, '.');
    return dot != NULL ? (size_t)(dot - *file) : strlen(*file);
}

const sti_Element *sti_mjcf_asset(const sti_Mjcf *m, const char *kind, const char *name)
{
    for (const sti_Element *asset = m->root->first; asset != NULL; asset = asset->next)
        for (const sti_Element *at = asset->first; at != NULL; at = at->next) {
            if (!sti_element_is(asset, "asset") || !sti_element_is(at, kind)) continue;
            const char *own = sti_attribute(at, "name"), *file = sti_attribute(at, "file");
            if (own != NULL && strcmp(own, name) == 0) return at;
            if (own != NULL || file == NULL) continue;
            const size_t stem = sti_mjcf_stem(&file);
            if (strlen(name) == stem && strncmp(file, name, stem) == 0) return at;
        }
    return NULL;
}

st_Status sti_mjcf_asset_path(const sti_Mjcf *m, const sti_Element *at, char *out, size_t size)
{
    const sti_MjcfContext *context = sti_mjcf_context(m, at);
    const char *file = sti_attribute(at, "file"), *slash = strrchr(file, '/'), *main_file = m->robot->file;
    if (context->strip && slash != NULL) file = slash + 1;
    const char *folder = file[0] == '/' ? "" : context->meshdir;
    /* the path of an attached model starts like that of the main file: keep the folder that follows */
    const char *own = strrchr(context->file, '/'), *main_end = strrchr(main_file, '/');
    const size_t same = main_end != NULL ? (size_t)(main_end - main_file) + 1 : 0;
    const bool attached = context != m->contexts && own != NULL && folder[0] != '/' && file[0] != '/';
    const char *from = strncmp(context->file, main_file, same) == 0 ? context->file + same : context->file;
    const int n = attached && own >= from ? (int)(own + 1 - from) : 0;
    if ((size_t)snprintf(out, size, "%.*s%s%s", n, from, folder, file) < size) return ST_OK;
    return sti_element_fail(m->robot->err, at, "the path of its file is too long");
}

/* A mesh of the file: its shape without a pose, and its pose in the geom. */
typedef struct Mesh {
    const sti_Element *at;
    json_t *json;      /* owned                                                                  */
    json_t *triangles; /* of its points, for its mass; owned; NULL: those of its file or its hull */
    st_Pose pose;      /* of the file's points in the geom: refpos, refquat */
    sti_MeshMass how;
} Mesh;

/* Gives a mesh these points. Takes ownership of both lists. */
static st_Status set_points(const sti_Mjcf *m, Mesh *out, bool surface, json_t *points, json_t *triangles)
{
    const bool mesh = surface && json_array_size(triangles) > 0;
    out->json = sti_with(json_pack("{s:s}", "type", mesh ? "mesh" : "hull"), "points", points);
    if (mesh) out->json = sti_with(out->json, "triangles", json_incref(triangles));
    out->triangles = triangles;
    if (out->json != NULL && triangles != NULL) return ST_OK;
    json_decref(out->json);
    json_decref(triangles);
    out->json = out->triangles = NULL;
    return sti_robot_memory(m->robot);
}

/* Reads vertex="x y z ..." and face="i j k ...", with any number of entries. */
static st_Status inline_json(const sti_Mjcf *m, const sti_Element *at, const double scales[3], Mesh *out)
{
    const char *text = sti_attribute(at, "vertex"), *faces = sti_attribute(at, "face");
    json_t *points = json_array(), *triangles = json_array();
    double x[3];
    int n = 0;
    while (sti_next_number(&text, &x[n]))
        if (++n == 3) {
            points =
                sti_append_to(points, json_pack("[f, f, f]", scales[0] * x[0], scales[1] * x[1], scales[2] * x[2]));
            n = 0;
        }
    const double last = (double)json_array_size(points) - 1;
    bool fine = n == 0 && *text == '\0' && last >= 3, corners = true;
    while (faces != NULL && fine && corners && sti_next_number(&faces, &x[n])) {
        corners = x[n] >= 0 && x[n] <= last && x[n] == floor(x[n]);
        if (corners && ++n == 3) {
            triangles = sti_append_to(triangles, json_pack("[i, i, i]", (int)x[0], (int)x[1], (int)x[2]));
            n = 0;
        }
    }
    fine = fine && n == 0 && (faces == NULL || *faces == '\0');
    if (fine && corners) return set_points(m, out, m->robot->def.meshes == STI_MESH_MESH, points, triangles);
    json_decref(points);
    json_decref(triangles);
    if (!corners)
        return sti_element_fail(m->robot->err, at, "face has %g, must be the number of a vertex, 0 to %g", x[n], last);
    return sti_element_fail(m->robot->err, at, "vertex and face must be numbers, three for each, four points at least");
}

/* Loads points and triangles, scaled. The caller frees them. */
static st_Status load_mesh(const sti_Mjcf *m, const Mesh *mesh, sti_Model *out, st_Error *why)
{
    sti_Reader reader = {.label = m->robot->reader->label, .text = "", .xml = true, .err = why};
    json_t *solid = json_deep_copy(mesh->json);
    const bool has_triangles = json_array_size(mesh->triangles) > 0;
    if (has_triangles) solid = sti_with(solid, "triangles", json_incref(mesh->triangles));
    if (has_triangles || json_object_get(solid, "file") != NULL) solid = sti_with(solid, "type", json_string("mesh"));
    sti_Object object = {.reader = &reader, .kind = &sti_shape_kind, .json = solid};
    st_Status status = solid != NULL ? sti_object_read(&object, "") : ST_ERR_MEMORY;
    if (status == ST_OK) status = sti_shape_finish(&object);
    *out = object.model;
    object.model = (sti_Model){0};
    sti_object_free(&object);
    json_decref(solid);
    if (status != ST_OK) sti_model_free(out);
    return status;
}

static st_Status find_mesh(sti_Mjcf *m, const sti_Element *geom, Mesh *out)
{
    static const char *const words[] = {"legacy", "exact", "convex", "shell"};
    const sti_Element *holder = sti_mjcf_holder(m, geom, "mesh");
    const char *name = holder != NULL ? sti_attribute(holder, "mesh") : NULL;
    double scales[3] = {1, 1, 1}, p[3] = {0}, q[4] = {1, 0, 0, 0}, x[3];
    char path[1024];
    *out = (Mesh){.pose = pose_identity(), .how = m->exact_meshes ? STI_MESH_EXACT : STI_MESH_LEGACY};
    if (name == NULL) return sti_element_fail(m->robot->err, geom, "is a mesh, but its attribute mesh is missing");
    const sti_Element *mesh = out->at = sti_mjcf_asset(m, "mesh", name);
    if (mesh == NULL)
        return sti_element_fail(m->robot->err, holder, "mesh is \"%.60s\", there is no asset of that name", name);
    STI_TRY(sti_mjcf_check(m, mesh,
                           "name class file vertex face scale refpos refquat inertia content_type builtin params",
                           "smoothnormal maxhullvert material normal texcoord octree_maxdepth"));
    STI_TRY(sti_mjcf_numbers(m, mesh, "scale", 3, scales));
    STI_TRY(sti_mjcf_numbers(m, mesh, "refpos", 3, p));
    STI_TRY(sti_mjcf_numbers(m, mesh, "refquat", 4, q));
    const char *how = sti_mjcf_text(m, mesh, "inertia");
    for (int k = 0; how != NULL && k < 4; k++)
        if (strcmp(how, words[k]) == 0) out->how = (sti_MeshMass)k;
    if (how != NULL && !sti_mjcf_word("legacy exact convex shell", how))
        return sti_element_fail(m->robot->err, mesh, "inertia is \"%.20s\", must be convex, exact, legacy or shell",
                                how);
    const bool even = scales[0] == scales[1] && scales[1] == scales[2], turned = q[1] != 0 || q[2] != 0 || q[3] != 0;
    if (!(quat_norm((st_Quat){q[0], q[1], q[2], q[3]}) > 0))
        return sti_element_fail(m->robot->err, mesh, "refquat is 0, must have a direction");
    const st_Quat back = quat_conjugate(quat_unit((st_Quat){q[0], q[1], q[2], q[3]}));
    const st_Vec3 shift = vec3(-scales[0] * p[0], -scales[1] * p[1], -scales[2] * p[2]);
    out->pose = (st_Pose){rotate(back, shift), back};
    const bool stretched = turned && !even; /* the scale applies after the rotation: write the moved points */
    const double file_scales[3] = {stretched ? 1 : scales[0], stretched ? 1 : scales[1], stretched ? 1 : scales[2]};
    const char *file = sti_attribute(mesh, "file");
    const bool builtin = sti_attribute(mesh, "builtin") != NULL && strcmp(sti_attribute(mesh, "builtin"), "none") != 0;
    if (file == NULL && !builtin && sti_attribute(mesh, "vertex") == NULL)
        return sti_element_fail(m->robot->err, mesh, "has none of file, vertex and builtin, must have one of them");
    if (builtin) {
        json_t *points, *triangles, *scaled, *p_k;
        size_t k;
        STI_TRY(sti_mjcf_builtin(m, mesh, &points, &triangles));
        scaled = json_array();
        json_array_foreach(points, k, p_k)
        {
            for (size_t i = 0; i < 3; i++)
                x[i] = file_scales[i] * json_real_value(json_array_get(p_k, i));
            scaled = sti_append_to(scaled, json_pack("[f, f, f]", x[0], x[1], x[2]));
        }
        json_decref(points);
        STI_TRY(set_points(m, out, m->robot->def.meshes == STI_MESH_MESH, scaled, triangles));
    } else if (file == NULL) {
        STI_TRY(inline_json(m, mesh, file_scales, out));
    } else {
        STI_TRY(sti_mjcf_asset_path(m, mesh, path, sizeof path));
        STI_TRY(sti_robot_mesh(m->robot, mesh, path, file_scales, &out->json));
    }
    if (!stretched) return ST_OK;
    out->pose = pose_identity();
    /* Replaces the shape of a mesh by its points, each moved by -p, turned by `back`, then scaled. */
    sti_Model model = {0};
    st_Error why = {0};
    st_Status status = load_mesh(m, out, &model, &why);
    json_t *points = json_array(), *triangles = json_array();
    for (int k = 0; k < model.n_points; k++) {
        const st_Vec3 moved = rotate(back, sub(model.points[k], vec3_load(p)));
        points = sti_append_to(points,
                               json_pack("[f, f, f]", scales[0] * moved.x, scales[1] * moved.y, scales[2] * moved.z));
    }
    const bool mirrored = scales[0] * scales[1] * scales[2] < 0;
    for (int k = 0; k < model.n_triangles; k++) {
        const int *t = &model.triangles[3 * k];
        /* cppcheck-suppress objectIndex ; three indices from 3 k on */
        triangles = sti_append_to(triangles, json_pack("[i, i, i]", t[0], t[mirrored ? 2 : 1], t[mirrored ? 1 : 2]));
    }
    const bool surface = strcmp(json_string_value(json_object_get(out->json, "type")), "mesh") == 0;
    sti_model_free(&model);
    json_decref(out->json);
    json_decref(out->triangles);
    out->json = out->triangles = NULL;
    if (status == ST_OK) return set_points(m, out, surface, points, triangles);
    json_decref(points);
    json_decref(triangles);
    if (status == ST_ERR_MEMORY) return sti_robot_memory(m->robot);
    return sti_element_fail(m->robot->err, out->at, "%.200s", why.message);
}

/* Volume, centre and inertia. If the triangles enclose no volume, those of the surface, with a remark. */
static st_Status measure_mesh(const sti_Mjcf *m, const sti_Element *geom, const Mesh *mesh, bool shell, sti_Solid *out)
{
    sti_Model model = {0};
    st_Error why = {0};
    st_Status status = load_mesh(m, mesh, &model, &why);
    if (status == ST_OK) status = sti_mesh_mass(&model, shell ? STI_MESH_SHELL : mesh->how, out, &why);
    if (status == ST_ERR_ARGUMENT && mesh->how != STI_MESH_EXACT) {
        const char *name = sti_attribute(mesh->at, "name") != NULL ? "name" : "file";
        status = sti_mesh_mass(&model, STI_MESH_SHELL, out, &why);
        if (status == ST_OK)
            STI_TRY(sti_remark(m->robot, "mesh \"%.80s\" has no volume: its mass is that of its surface",
                               sti_attribute(mesh->at, name)));
    }
    sti_model_free(&model);
    if (status == ST_OK) return ST_OK;
    return sti_element_fail(m->robot->err, geom, "its mass cannot be found, give the body an <inertial>: %.160s",
                            why.message);
}

/* Fits a shape of another type to a mesh: to the box with the same inertia, or to the bounding box in principal
 * axes, with z the longest. */
static st_Status fit_to_mesh(sti_Mjcf *m, Geom *geom)
{
    Mesh mesh;
    sti_Solid solid;
    sti_Model model = {0};
    double value[3], half[3], stretch = 1;
    st_Vec3 axes[3], low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    STI_TRY(find_mesh(m, geom->at, &mesh));
    st_Status status = measure_mesh(m, geom->at, &mesh, false, &solid);
    st_Error why = {0};
    if (status == ST_OK && m->fit_box && load_mesh(m, &mesh, &model, &why) != ST_OK)
        status = sti_element_fail(m->robot->err, geom->at, "%.200s", why.message);
    json_decref(mesh.json);
    json_decref(mesh.triangles);
    if (status != ST_OK) return status;
    m->robot->n_meshes--;
    STI_TRY(sti_mjcf_number(m, geom->at, "fitscale", &stretch));
    mat3_principal(&solid.inertia, value, axes);
    const st_Mat3 R = {
        {axes[0].x, axes[1].x, axes[2].x, axes[0].y, axes[1].y, axes[2].y, axes[0].z, axes[1].z, axes[2].z}};
    for (int k = 0; k < 3; k++) /* I_x = V (hy^2 + hz^2)/3 and so on */
        half[k] = sqrt(fmax(0, 1.5 * (value[(k + 1) % 3] + value[(k + 2) % 3] - value[k]) / solid.volume));
    st_Pose box = {solid.centre, sti_quat_of_columns(axes[0], axes[1], axes[2])};
    for (int k = 0; k < model.n_points; k++) {
        const st_Vec3 p = mat3_mul_back(&R, sub(model.points[k], solid.centre));
        low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    sti_model_free(&model);
    if (m->fit_box) {
        vec3_store(half, scale(0.5, sub(high, low)));
        box.p = add(box.p, mat3_mul(&R, scale(0.5, add(low, high))));
    }
    for (int k = 0; k < 3; k++)
        half[k] *= stretch;
    const double across = m->fit_box ? fmax(half[0], half[1]) : (half[0] + half[1]) / 2;
    const double all = m->fit_box ? fmax(across, half[2]) : (half[0] + half[1] + half[2]) / 3;
    memcpy(geom->size, half, sizeof half);
    geom->n_size = 3;
    if (strcmp(geom->type, "sphere") == 0) geom->size[0] = all;
    if (strcmp(geom->type, "capsule") == 0 || strcmp(geom->type, "cylinder") == 0) {
        const bool capsule = geom->type[1] == 'a';
        geom->size[0] = across;
        geom->size[1] = fmax(1e-6 * across, half[2] - (capsule ? (m->fit_box ? across : across / 2) : 0));
    }
    geom->pose = pose_product(geom->pose, pose_product(mesh.pose, box));
    return ST_OK;
}

/* The shape as in a scene, without its pose. Sizes in MJCF are half lengths. */
static st_Status form_json(const sti_Mjcf *m, const Geom *geom, json_t **out)
{
    const double *s = geom->size;
    if (strcmp(geom->type, "plane") == 0) {
        *out = json_pack("{s:s}", "type", "plane"); /* infinite, whatever its size */
    } else if (strcmp(geom->type, "sphere") == 0) {
        STI_TRY(need_sizes(m, geom, 1));
        *out = json_pack("{s:s, s:f}", "type", "sphere", "radius", s[0]);
    } else if (strcmp(geom->type, "capsule") == 0 || strcmp(geom->type, "cylinder") == 0) {
        STI_TRY(need_sizes(m, geom, 2));
        *out = json_pack("{s:s, s:f, s:f}", "type", geom->type, "radius", s[0], "length", 2 * s[1]);
    } else if (strcmp(geom->type, "box") == 0 || strcmp(geom->type, "ellipsoid") == 0) {
        STI_TRY(need_sizes(m, geom, 3));
        *out = json_pack("{s:s, s:[f, f, f]}", "type", geom->type, "size", 2 * s[0], 2 * s[1], 2 * s[2]);
    } else if (strcmp(geom->type, "hfield") == 0) {
        return sti_mjcf_hfield(m, geom->at, out);
    } else {
        return sti_element_fail(
            m->robot->err, geom->at,
            "type is \"%.40s\", must be plane, hfield, sphere, capsule, ellipsoid, cylinder, box or "
            "mesh",
            geom->type);
    }
    return *out != NULL ? ST_OK : sti_robot_memory(m->robot);
}

/* ---- masses -------------------------------------------------------------------------------------- */

st_Status sti_robot_measure(const sti_Robot *robot, const json_t *json, st_Error *why, sti_RobotLink *out)
{
    sti_Reader reader = {.label = robot->reader->label, .text = "", .xml = true, .err = why};
    sti_Object object = {.reader = &reader, .kind = &sti_shape_kind, .json = json};
    st_BodyDef body = st_body_def();
    st_BodyId id;
    st_Vec3 centre = {0, 0, 0};
    st_Status status = st_scene_create(&reader.scene, why);
    if (status == ST_OK) status = st_scene_add_body(reader.scene, &body, &id, why);
    if (status == ST_OK) status = sti_object_read(&object, "");
    if (status == ST_OK) status = sti_shape_finish(&object);
    object.def.shape.density = 1;
    if (status == ST_OK) status = st_scene_add_shape(reader.scene, id, &object.def.shape, NULL, why);
    if (status == ST_OK) status = st_scene_centre_body(reader.scene, id, &centre, why);
    if (status == ST_OK) status = st_scene_body_mass(reader.scene, id, &out->mass, &out->inertia, why);
    out->centre = centre;
    sti_object_free(&object);
    st_scene_destroy(reader.scene);
    return status;
}

/* A thin shell with a density of 1 per area, about its centre. */
static bool shell_of(const Geom *geom, sti_RobotLink *out)
{
    const double *s = geom->size, r = s[0], h = s[1];
    double I[3] = {0};
    if (strcmp(geom->type, "sphere") == 0) {
        out->mass = 4 * STI_PI * r * r;
        I[0] = I[1] = I[2] = 2 * out->mass * r * r / 3;
    } else if (strcmp(geom->type, "box") == 0) {
        for (int k = 0; k < 3; k++) { /* the two faces across axis k */
            const double a = s[k], b = s[(k + 1) % 3], c = s[(k + 2) % 3], m = 8 * b * c;
            out->mass += m;
            I[k] += m * (b * b + c * c) / 3;
            I[(k + 1) % 3] += m * (c * c / 3 + a * a);
            I[(k + 2) % 3] += m * (b * b / 3 + a * a);
        }
    } else if (strcmp(geom->type, "cylinder") == 0 || strcmp(geom->type, "capsule") == 0) {
        const double side = 4 * STI_PI * r * h, ends = (geom->type[1] == 'a' ? 4 : 2) * STI_PI * r * r;
        const bool round = geom->type[1] == 'a';
        out->mass = side + ends;
        I[2] = side * r * r + ends * r * r * (round ? 2.0 / 3 : 0.5);
        I[0] = side * (r * r / 2 + h * h / 3);
        I[0] += round ? ends * (5 * r * r / 12 + (h + r / 2) * (h + r / 2)) : ends * (r * r / 4 + h * h);
        I[1] = I[0];
    } else {
        return false;
    }
    out->inertia = (st_Mat3){{I[0], 0, 0, 0, I[1], 0, 0, 0, I[2]}};
    return true;
}

/* mesh is NULL for other shapes. */
static st_Status add_mass(const sti_Mjcf *m, sti_RobotLink *link, const Geom *geom, const json_t *json,
                          const Mesh *mesh)
{
    double mass = NAN, density = 1000, group = 0;
    bool shell = false;
    sti_RobotLink part = {.pose = geom->pose}, whole = {.pose = pose_identity()};
    STI_TRY(sti_mjcf_number(m, geom->at, "mass", &mass));
    STI_TRY(sti_mjcf_number(m, geom->at, "density", &density));
    STI_TRY(sti_mjcf_number(m, geom->at, "group", &group));
    STI_TRY(sti_mjcf_flag(m, geom->at, "shellinertia", &shell));
    if (mass < 0 || !(density >= 0)) return sti_element_fail(m->robot->err, geom->at, "mass and density must be >= 0");
    if (mass == 0 || (isnan(mass) && density == 0) || sti_mjcf_word("plane hfield", geom->type)) return ST_OK;
    if (group < m->first_group || group > m->last_group) return ST_OK;
    st_Error why = {0};
    if (mesh != NULL) {
        sti_Solid solid;
        STI_TRY(measure_mesh(m, geom->at, mesh, shell, &solid));
        part.mass = solid.volume, part.centre = solid.centre, part.inertia = solid.inertia;
        part.pose = pose_product(geom->pose, mesh->pose);
    } else if (shell) {
        if (!shell_of(geom, &part)) return sti_mjcf_unknown(m, geom->at, "shellinertia");
    } else if (sti_robot_measure(m->robot, json, &why, &part) != ST_OK) {
        return sti_element_fail(m->robot->err, geom->at,
                                "its mass cannot be found, give the body an <inertial>: %.160s", why.message);
    }
    double factor = isnan(mass) ? density : mass / part.mass;
    part.mass *= factor;
    for (int k = 0; k < 9; k++)
        part.inertia.m[k] *= factor;
    whole.mass = link->mass, whole.centre = link->centre, whole.inertia = link->inertia;
    sti_join_masses(&whole, &part);
    link->mass = whole.mass, link->centre = whole.centre, link->inertia = whole.inertia;
    return ST_OK;
}

/* fluidshape: adds the ellipsoid that replaces a geom in the medium. */
static st_Status add_ellipsoid(sti_Mjcf *m, int k, Geom geom)
{
    sti_Robot *robot = m->robot;
    double coefficients[5] = {0.5, 0.25, 1.5, 1, 1};
    char text[120];
    int n = 0;
    if (sti_mjcf_word("plane hfield", geom.type)) return ST_OK;
    STI_TRY(sti_mjcf_some_numbers(m, geom.at, "fluidcoef", 5, &n, coefficients));
    if (sti_mjcf_holder(m, geom.at, "mesh") != NULL) {
        geom.type = "ellipsoid";
        STI_TRY(fit_to_mesh(m, &geom));
    }
    const double *s = geom.size;
    const bool round = strcmp(geom.type, "sphere") == 0, capsule = strcmp(geom.type, "capsule") == 0;
    const bool axial = capsule || strcmp(geom.type, "cylinder") == 0;
    STI_TRY(need_sizes(m, &geom, round ? 1 : axial ? 2 : 3));
    const char *name = sti_attribute(geom.at, "name");
    snprintf(text, sizeof text, "%.80s.fluid%d", name != NULL ? name : robot->links[k].name, robot->n_wrenches + 1);
    sti_RobotWrench made = {.name = sti_xml_keep_text(robot->files, text),
                            .at = geom.at,
                            .link = k,
                            .point = geom.pose.p,
                            .orientation = geom.pose.q};
    if (made.name == NULL) return sti_robot_memory(robot);
    made.ellipsoid = round   ? vec3(s[0], s[0], s[0])
                     : axial ? vec3(s[0], s[0], s[1] + (capsule ? s[0] : 0))
                             : vec3(s[0], s[1], s[2]);
    memcpy(made.fluid, coefficients, sizeof coefficients);
    STI_TRY(STI_GROW(&robot->allocator, robot->wrenches, robot->wrenches_size, robot->n_wrenches + 1, robot->err));
    robot->wrenches[robot->n_wrenches++] = made;
    robot->links[k].fluid = true;
    return ST_OK;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

st_Status sti_mjcf_geom(sti_Mjcf *m, int k, const sti_Element *at, bool mass_wanted)
{
    sti_RobotLink *link = &m->robot->links[k];
    Geom geom = {.at = at, .type = sti_mjcf_text(m, at, "type")};
    Mesh mesh = {0};
    sti_Contacting contacting;
    double group = 0;
    STI_TRY(sti_mjcf_check(m, at, sti_mjcf_geom_words, sti_mjcf_geom_passed));
    if (sti_child(at, "plugin") != NULL) return sti_mjcf_unknown(m, sti_child(at, "plugin"), NULL);
    if (geom.type == NULL) geom.type = sti_mjcf_holder(m, at, "mesh") != NULL ? "mesh" : "sphere";
    STI_TRY(sti_mjcf_pose(m, at, &geom.pose));
    STI_TRY(sti_mjcf_number(m, at, "group", &group));
    STI_TRY(sti_mjcf_some_numbers(m, at, "size", 3, &geom.n_size, geom.size));
    /* fromto gives two end points in place of length and pose: the shape is along z, centred between them. */
    const sti_Element *holder = sti_mjcf_holder(m, geom.at, "fromto");
    double v[6];
    if (holder != NULL) {
        STI_TRY(sti_numbers(m->robot->err, holder, "fromto", 6, true, v));
        st_Vec3 a = vec3_load(v), b = vec3_load(v + 3), d = sub(a, b);
        double length = norm(d);
        if (!sti_mjcf_word("capsule cylinder ellipsoid box", geom.type))
            return sti_element_fail(m->robot->err, holder,
                                    "fromto is for a capsule, cylinder, ellipsoid or box, not a %s", geom.type);
        if (!(length > 0)) return sti_element_fail(m->robot->err, holder, "fromto has both ends at the same point");
        bool round = geom.type[0] == 'c';
        st_Pose frame;
        STI_TRY(sti_mjcf_frame(m, geom.at, &frame));
        geom.pose =
            pose_product(frame, (st_Pose){scale(0.5, add(a, b)), quat_between(vec3(0, 0, 1), scale(1 / length, d))});
        if (!round) geom.size[1] = geom.size[0]; /* as in MuJoCo, regardless of the other sizes */
        if (geom.n_size == 0) return need_sizes(m, &geom, 1);
        geom.size[round ? 1 : 2] = length / 2;
        geom.n_size = round ? 2 : 3;
    }
    STI_TRY(sti_mjcf_contact(m, at, &contacting));
    STI_TRY(sti_mjcf_place(m, at, k, geom.pose, geom.n_size > 0 ? geom.size[0] : 0));
    if (sti_attribute(at, "name") != NULL) m->places->contacting = contacting;
    const char *fluid = sti_mjcf_text(m, at, "fluidshape");
    if (fluid != NULL && !sti_mjcf_word("none ellipsoid", fluid))
        return sti_element_fail(m->robot->err, at, "fluidshape is \"%.20s\", must be none or ellipsoid", fluid);
    if (fluid != NULL && fluid[0] == 'e' && link->moves && (m->density > 0 || m->viscosity > 0))
        STI_TRY(add_ellipsoid(m, k, geom));
    bool touches = contacting.filter >= 0, is_mesh = strcmp(geom.type, "mesh") == 0;
    const uint32_t color = sti_mjcf_color(m, at);
    if (!touches && link->color == 0) link->color = color;
    if (!touches && !mass_wanted) { /* only for display */
        sti_skip(m->robot, "<geom> that touches nothing");
        return ST_OK;
    }
    if (strcmp(geom.type, "plane") == 0 && link->moves)
        return sti_element_fail(m->robot->err, at, "is a plane, its body must not move");
    if (is_mesh)
        STI_TRY(find_mesh(m, at, &mesh));
    else if (sti_mjcf_holder(m, at, "mesh") != NULL &&
             sti_mjcf_word("sphere capsule ellipsoid cylinder box", geom.type))
        STI_TRY(fit_to_mesh(m, &geom));
    json_t *json = mesh.json;
    if (!is_mesh) STI_TRY(form_json(m, &geom, &json));
    st_Status status = mass_wanted ? add_mass(m, link, &geom, json, is_mesh ? &mesh : NULL) : ST_OK;
    json_decref(mesh.triangles);
    if (status != ST_OK || !touches) {
        json_decref(json);
        return status;
    }
    if (is_mesh) geom.pose = pose_product(geom.pose, mesh.pose);
    double belt[6] = {0};
    int n_belt = 0;
    status = sti_mjcf_some_numbers(m, at, "surfacevel", 6, &n_belt, belt);
    if (status == ST_OK && (belt[3] != 0 || belt[4] != 0 || belt[5] != 0)) /* a surface with a rotating motion */
        status = sti_mjcf_unknown(m, at, "surfacevel");
    if (status != ST_OK) {
        json_decref(json);
        return status;
    }
    if (belt[0] != 0 || belt[1] != 0 || belt[2] != 0)
        json = sti_with(json, "surface_velocity", sti_json_vector(vec3_load(belt)));
    STI_TRY(sti_robot_shape(m->robot, link, at, geom.pose, json));
    link->shapes[link->n_shapes - 1].contacting = contacting;
    link->shapes[link->n_shapes - 1].color = color;
    link->shapes[link->n_shapes - 1].name = sti_attribute(at, "name");
    return ST_OK;
}
