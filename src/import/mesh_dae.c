/* import/mesh_dae.c -- COLLADA 1.4 and 1.5, the part that robot meshes use: the geometries of the scene, placed by
 * their nodes, in metres. Positions only; lines, points and curves are skipped.
 *
 *     COLLADA
 *       asset/unit meter=
 *       library_geometries/geometry id=/mesh
 *           source id=/float_array                     positions, normals, ...
 *           vertices id=/input POSITION source=
 *           triangles | polylist | polygons | tristrips | trifans / input VERTEX source= offset=, vcount, p
 *       library_nodes, library_visual_scenes / visual_scene / node / matrix, translate, rotate, scale
 *           instance_geometry url=, instance_node url=, node ... */
#include "import/mesh_file.h"
#include "import/xml.h"
#include "math/quat.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define DEEPEST    50     /* depth of nodes inside nodes, or nodes that refer to each other */
#define MOST_NODES 100000 /* most nodes placed in all, because nodes that refer to others twice multiply */

typedef struct Map { /* x -> A x + t */
    st_Mat3 A;
    st_Vec3 t;
} Map;

typedef struct Dae {
    const sti_Element *root;
    sti_Model *model;
    st_Error *err;
    int found; /* geometries used so far */
    int nodes; /* nodes placed so far */
} Dae;

static Map map_identity(void)
{
    return (Map){{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}};
}

/* Finds the element with an id below `at`. A leading '#' of the url is skipped. */
static const sti_Element *find_id(const sti_Element *at, const char *id)
{
    const char *own = sti_attribute(at, "id");
    if (id == NULL) return NULL;
    if (id[0] == '#') id++;
    if (own != NULL && strcmp(own, id) == 0) return at;
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        const sti_Element *found = find_id(child, id);
        if (found != NULL) return found;
    }
    return NULL;
}

static st_Status take_numbers(const Dae *dae, const sti_Element *at, int n, double *out)
{
    const char *text = at->text;
    for (int k = 0; k < n; k++)
        if (text == NULL || !sti_next_number(&text, &out[k]))
            return sti_element_fail(dae->err, at, "must hold %d numbers", n);
    return ST_OK;
}

/* ---- geometries -------------------------------------------------------------------------------------- */

static const sti_Element *find_input(const sti_Element *at, const char *semantic)
{
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        const char *own = sti_element_is(child, "input") ? sti_attribute(child, "semantic") : NULL;
        if (own != NULL && strcmp(own, semantic) == 0) return child;
    }
    return NULL;
}

/* Appends the positions of a mesh, transformed. */
static st_Status add_points(Dae *dae, const sti_Element *source, const Map *map, int *count)
{
    const sti_Element *array = sti_child(source, "float_array"), *common = sti_child(source, "technique_common");
    const sti_Element *accessor = common != NULL ? sti_child(common, "accessor") : NULL;
    double stride = 3, x[3], ignored;
    if (array == NULL || array->text == NULL)
        return sti_element_fail(dae->err, source, "has no <float_array> with numbers");
    if (accessor != NULL) STI_TRY(sti_numbers(dae->err, accessor, "stride", 1, false, &stride));
    if (!(stride >= 3 && stride <= 64))
        return sti_element_fail(dae->err, accessor, "stride is %g, must be at least 3", stride);
    const char *text = array->text;
    for (*count = 0;;) {
        int n = 0;
        while (n < 3 && sti_next_number(&text, &x[n]))
            n++;
        if (n == 0 && *text == '\0') return ST_OK;
        for (; n >= 3 && n < (int)stride; n++)
            if (!sti_next_number(&text, &ignored)) break;
        if (n != (int)stride)
            return sti_element_fail(dae->err, array, "its numbers must be %d for each point", (int)stride);
        STI_TRY(sti_model_point(dae->model, array->file, array->line, add(mat3_mul(&map->A, vec3_load(x)), map->t),
                                dae->err));
        ++*count;
    }
}

typedef struct Faces {
    const sti_Element *at; /* <triangles> ...                       */
    int offset, stride;    /* position of the point's index among the indices of a corner; indices per corner */
    int first, count;      /* first point of this mesh, number of its points */
    bool mirrored;         /* the map mirrors: reverse the order of corners */
} Faces;

/* Adds a face of n corners from *text as a fan. In a strip every other triangle is reversed. */
static st_Status add_face(Dae *dae, const Faces *f, const sti_Element *p, const char **text, int n, bool strip)
{
    int corner[2] = {0, 0};
    for (int k = 0; k < n; k++) {
        int index = 0;
        double ignored;
        for (int e = 0; e < f->stride; e++)
            if (e == f->offset) {
                /* Reads one index of a <p> and returns the point's number, from 0. */
                double x;
                if (!sti_next_number(text, &x)) return sti_element_fail(dae->err, p, "has too few numbers");
                if (!(x >= 0 && x < f->count))
                    return sti_element_fail(dae->err, p, "names point %g, there are %d", x, f->count);
                index = f->first + (int)x;
            } else if (!sti_next_number(text, &ignored))
                return sti_element_fail(dae->err, p, "has too few numbers");
        if (k >= 2) {
            const bool turn = f->mirrored != (strip && k % 2 == 1);
            STI_TRY(sti_model_triangle(dae->model, p->file, corner[0], turn ? index : corner[1],
                                       turn ? corner[1] : index, dae->err));
        }
        if (k == 0 || (strip && k >= 2)) corner[0] = k == 0 ? index : corner[1];
        if (k >= 1) corner[1] = index;
    }
    return ST_OK;
}

static st_Status add_geometry(Dae *dae, const sti_Element *geometry, const Map *map)
{
    const sti_Element *mesh = sti_child(geometry, "mesh");
    dae->found++;
    if (mesh == NULL) return ST_OK; /* a spline, or the convex hull of another geometry */
    for (const sti_Element *at = mesh->first; at != NULL; at = at->next) {
        static const char *const kinds[] = {"triangles", "polylist", "polygons", "tristrips", "trifans"};
        Faces faces = {.at = at, .first = dae->model->n_points, .stride = 1};
        bool known = false;
        for (int k = 0; k < 5; k++)
            known = known || sti_element_is(at, kinds[k]);
        if (!known) continue;
        const sti_Element *vertex = find_input(at, "VERTEX");
        const sti_Element *vertices = vertex != NULL ? find_id(mesh, sti_attribute(vertex, "source")) : NULL;
        const sti_Element *position = vertices != NULL ? find_input(vertices, "POSITION") : NULL;
        const sti_Element *source = position != NULL ? find_id(mesh, sti_attribute(position, "source")) : NULL;
        if (source == NULL) return sti_element_fail(dae->err, at, "names no positions of its corners");
        for (const sti_Element *input = at->first; input != NULL; input = input->next) {
            double offset = 0;
            if (!sti_element_is(input, "input")) continue;
            STI_TRY(sti_numbers(dae->err, input, "offset", 1, false, &offset));
            if (!(offset >= 0 && offset < 64)) return sti_element_fail(dae->err, input, "offset is %g", offset);
            if ((int)offset >= faces.stride) faces.stride = (int)offset + 1;
            if (input == vertex) faces.offset = (int)offset;
        }
        const st_Vec3 *A = (const st_Vec3 *)(const void *)map->A.m;
        faces.mirrored = dot(A[0], cross(A[1], A[2])) < 0;
        STI_TRY(add_points(dae, source, map, &faces.count));

        const sti_Element *counts = sti_child(faces.at, "vcount");
        const bool strip = sti_element_is(faces.at, "tristrips"), triangles = sti_element_is(faces.at, "triangles");
        for (const sti_Element *p = faces.at->first; p != NULL; p = p->next) {
            const char *text = p->text, *sizes = counts != NULL ? counts->text : NULL;
            const sti_Element *face = p;
            double n;
            if (sti_element_is(p, "ph")) face = sti_child(p, "p"); /* a polygon with holes, which are filled */
            if (face == NULL || !sti_element_is(face, "p") || face->text == NULL) continue;
            text = face->text;
            /* The number of corners in a <p>. */
            const char *left = text;
            int n_numbers = 0;
            while (n_numbers < INT_MAX - 1 && sti_next_number(&left, &n))
                n_numbers++;
            const int corners = n_numbers / faces.stride;
            if (sizes != NULL)
                while (sti_next_number(&sizes, &n)) {
                    if (!(n >= 3 && n <= corners))
                        return sti_element_fail(dae->err, counts, "has a face of %g corners", n);
                    STI_TRY(add_face(dae, &faces, face, &text, (int)n, false));
                }
            else if (triangles)
                for (int k = 0; k + 2 < corners; k += 3)
                    STI_TRY(add_face(dae, &faces, face, &text, 3, false));
            else
                STI_TRY(add_face(dae, &faces, face, &text, corners, strip));
        }
    }
    return ST_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------- */

static st_Status add_node(Dae *dae, const sti_Element *node, Map map, int depth)
{
    if (depth > DEEPEST) return sti_element_fail(dae->err, node, "is inside more than %d others", DEEPEST);
    if (++dae->nodes > MOST_NODES)
        return sti_element_fail(dae->err, node, "is one too many, must be at most %d nodes", MOST_NODES);
    for (const sti_Element *at = node->first; at != NULL; at = at->next) {
        double x[16];
        Map own = map_identity();
        if (sti_element_is(at, "matrix")) {
            STI_TRY(take_numbers(dae, at, 16, x));
            for (int k = 0; k < 9; k++)
                own.A.m[k] = x[4 * (k / 3) + k % 3];
            own.t = vec3(x[3], x[7], x[11]);
        } else if (sti_element_is(at, "translate")) {
            STI_TRY(take_numbers(dae, at, 3, x));
            own.t = vec3_load(x);
        } else if (sti_element_is(at, "rotate")) {
            STI_TRY(take_numbers(dae, at, 4, x));
            const double length = norm(vec3_load(x));
            if (length > 0) own.A = quat_matrix(quat_exp(scale(x[3] * STI_PI / 180 / length, vec3_load(x))));
        } else if (sti_element_is(at, "scale")) {
            STI_TRY(take_numbers(dae, at, 3, x));
            own.A = (st_Mat3){{x[0], 0, 0, 0, x[1], 0, 0, 0, x[2]}};
        } else {
            continue;
        }
        map = (Map){mat3_product(&map.A, &own.A), add(mat3_mul(&map.A, own.t), map.t)};
    }
    for (const sti_Element *at = node->first; at != NULL; at = at->next) {
        const sti_Element *target = find_id(dae->root, sti_attribute(at, "url"));
        if (sti_element_is(at, "node")) STI_TRY(add_node(dae, at, map, depth + 1));
        if (sti_element_is(at, "instance_geometry") && target != NULL) STI_TRY(add_geometry(dae, target, &map));
        if (sti_element_is(at, "instance_node") && target != NULL) STI_TRY(add_node(dae, target, map, depth + 1));
    }
    return ST_OK;
}

static st_Status add_all(Dae *dae)
{
    const sti_Element *asset = sti_child(dae->root, "asset"), *unit = asset != NULL ? sti_child(asset, "unit") : NULL;
    Map map = map_identity();
    double metre = 1;
    if (unit != NULL) STI_TRY(sti_numbers(dae->err, unit, "meter", 1, false, &metre));
    if (!(metre > 0)) return sti_element_fail(dae->err, unit, "meter is %g, must be > 0", metre);
    for (int k = 0; k < 3; k++)
        map.A.m[4 * k] = metre;
    for (const sti_Element *library = dae->root->first; library != NULL; library = library->next)
        for (const sti_Element *scene = library->first; scene != NULL; scene = scene->next)
            if (sti_element_is(library, "library_visual_scenes") && sti_element_is(scene, "visual_scene"))
                STI_TRY(add_node(dae, scene, map, 0));
    if (dae->found > 0) return ST_OK;
    /* no scene is given: use all nodes */
    for (const sti_Element *library = dae->root->first; library != NULL; library = library->next)
        for (const sti_Element *geometry = library->first; geometry != NULL; geometry = geometry->next)
            if (sti_element_is(library, "library_geometries") && sti_element_is(geometry, "geometry"))
                STI_TRY(add_geometry(dae, geometry, &map));
    return ST_OK;
}

st_Status sti_dae_parse(const char *text, size_t length, const char *label, sti_Model *out, st_Error *err)
{
    sti_Xml xml = {0};
    sti_Element *root = NULL;
    st_Status status = sti_xml_parse(&xml, text, length, label, &root, err);
    Dae dae = {.root = root, .model = out, .err = err};
    if (status == ST_OK && !sti_element_is(root, "COLLADA"))
        status = sti_element_fail(err, root, "is not a COLLADA file: the root must be <COLLADA>");
    if (status == ST_OK) status = add_all(&dae);
    sti_xml_free(&xml);
    return status;
}
