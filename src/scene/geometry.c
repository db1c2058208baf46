/* scene/geometry.c -- points, triangles, outlines, heights and model files of shapes. */
#include "scene/geometry.h"

#include "base/range.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static st_Status geometry_no_memory(const sti_Object *object, const sti_Place *place, size_t n)
{
    return sti_report(object->reader, place, ST_ERR_MEMORY, "%s: out of memory for %zu entries", object->subject, n);
}

static st_Status geometry_wrong(const sti_Value *v)
{
    return sti_wrong(v->object, v->place, v->key->key, v->json, sti_expected(v->key));
}

/* Reads the i-th member of a list of lists as `count` numbers. */
static st_Status read_row(const sti_Value *v, size_t i, size_t count, double *out)
{
    const json_t *row = json_array_get(v->json, i);
    sti_Place at = {v->place, NULL, i};
    char name[80], expected[80];
    snprintf(name, sizeof name, "%s[%zu]", v->key->key, i);
    snprintf(expected, sizeof expected, "a list of %zu numbers from %g to %g", count, -STI_LARGEST, STI_LARGEST);
    bool good = json_is_array(row) && json_array_size(row) == count;
    for (size_t k = 0; k < count && good; k++) {
        out[k] = json_number_value(json_array_get(row, k));
        good = json_is_number(json_array_get(row, k)) && sti_within(out[k], STI_LARGEST); /* before scaling */
    }
    return good ? ST_OK : sti_wrong(v->object, &at, name, row, expected);
}

st_Status sti_points_read(const sti_Value *v, void *field)
{
    (void)field;
    sti_Object *object = v->object;
    size_t n = json_array_size(v->json);
    if (n == 0 || n > INT_MAX / 4) return geometry_wrong(v);
    object->model.points = malloc(n * sizeof *object->model.points);
    if (object->model.points == NULL) return geometry_no_memory(object, v->place, n);
    for (size_t i = 0; i < n; i++) {
        double x[3];
        STI_TRY(read_row(v, i, 3, x));
        object->model.points[i] = (st_Vec3){x[0], x[1], x[2]};
    }
    object->model.n_points = (int)n;
    return ST_OK;
}

st_Status sti_triangles_read(const sti_Value *v, void *field)
{
    (void)field;
    sti_Object *object = v->object;
    size_t n = json_array_size(v->json);
    if (n == 0 || n > INT_MAX / 4) return geometry_wrong(v);
    object->model.triangles = malloc(3 * n * sizeof *object->model.triangles);
    if (object->model.triangles == NULL) return geometry_no_memory(object, v->place, n);
    for (size_t i = 0; i < n; i++) {
        double x[3];
        STI_TRY(read_row(v, i, 3, x));
        for (int k = 0; k < 3; k++) {
            sti_Place at = {v->place, NULL, i};
            char name[80];
            snprintf(name, sizeof name, "%s[%zu]", v->key->key, i);
            if (floor(x[k]) != x[k] || !(x[k] >= 0 && x[k] < INT_MAX))
                return sti_wrong(v->object, &at, name, json_array_get(v->json, i), "three numbers of points, from 0");
            object->model.triangles[3 * i + (size_t)k] = (int)x[k];
        }
    }
    object->model.n_triangles = (int)n;
    return ST_OK;
}

/* Corners (radius, z) of the outline of a surface of revolution. */
st_Status sti_outline_read(const sti_Value *v, void *field)
{
    (void)field;
    sti_Object *object = v->object;
    static const char *const own[] = {"points", "triangles", "file"};
    size_t n = json_array_size(v->json);
    if (n < 2 || n > INT_MAX / (8 * STI_SIDES_MOST)) return geometry_wrong(v);
    for (int k = 0; k < 3; k++)
        if (sti_object_has(object, own[k]))
            return sti_report(object->reader, v->place, ST_ERR_FORMAT,
                              "%s: has both \"%s\" and \"outline\", must have one", object->subject, own[k]);
    object->table = malloc(2 * n * sizeof *object->table);
    if (object->table == NULL) return geometry_no_memory(object, v->place, n);
    for (size_t i = 0; i < n; i++) {
        double *x = object->table + 2 * i;
        sti_Place at = {v->place, NULL, i};
        char name[80];
        snprintf(name, sizeof name, "%s[%zu]", v->key->key, i);
        STI_TRY(read_row(v, i, 2, x));
        if (!(x[0] >= 0.0)) return sti_wrong(object, &at, name, json_array_get(v->json, i), "[radius, z], radius >= 0");
        if (i > 0 && ((x[0] == x[-2] && x[1] == x[-1]) || (x[0] == 0.0 && x[-2] == 0.0)))
            return sti_report(object->reader, &at, ST_ERR_FORMAT,
                              "%s: %s is [%g, %g] after [%g, %g]: two corners in a row must differ, and only one of "
                              "them may have radius 0",
                              object->subject, name, x[0], x[1], x[-2], x[-1]);
    }
    object->n_outline = (int)n;
    return ST_OK;
}

st_Status sti_sides_read(const sti_Value *v, void *field)
{
    (void)field;
    const double x = json_number_value(v->json);
    if (!json_is_number(v->json) || floor(x) != x || !(x >= STI_SIDES_LEAST && x <= STI_SIDES_MOST))
        return geometry_wrong(v);
    v->object->sides = (int)x;
    return ST_OK;
}

/* Point k of corner i of an outline; one point if the corner is on the axis, the first corner if the outline is closed.
 */
static int revolved_point(const sti_Object *object, const int *first, int i, int k)
{
    const double *x = object->table + 2 * (size_t)i;
    return x[0] == 0.0 ? first[i] : first[i] + k % object->sides;
}

/* The points and triangles of a surface of revolution. Their outside is that of the volume that they enclose: the
 * triangles are turned over if this volume is negative. Without a volume the sheet has no outside. */
static st_Status revolve(sti_Object *object)
{
    const double *outline = object->table;
    const int n = object->n_outline;
    const bool closed = n > 3 && outline[0] == outline[2 * n - 2] && outline[1] == outline[2 * n - 1];
    sti_Model *model = &object->model;
    st_Error why = {0};
    st_Status status = ST_OK;
    if (object->sides == 0) object->sides = STI_SIDES_DEFAULT;
    int *first = malloc((size_t)n * sizeof *first);
    if (first == NULL) return geometry_no_memory(object, object->place, (size_t)n);
    for (int i = 0; i < n && status == ST_OK; i++) {
        const double r = outline[2 * i], z = outline[2 * i + 1];
        first[i] = closed && i == n - 1 ? first[0] : model->n_points;
        for (int k = 0; k < (r == 0.0 ? 1 : object->sides) && !(closed && i == n - 1) && status == ST_OK; k++) {
            const double angle = 2.0 * STI_PI * k / object->sides;
            status = sti_model_point(model, object->subject, 0, (st_Vec3){r * cos(angle), r * sin(angle), z}, &why);
        }
    }
    double volume = 0.0;
    for (int i = 0; i + 1 < n; i++)
        volume += (outline[2 * i + 3] - outline[2 * i + 1]) *
                  (outline[2 * i] * outline[2 * i] + outline[2 * i] * outline[2 * i + 2] +
                   outline[2 * i + 2] * outline[2 * i + 2]);
    for (int i = 0; i + 1 < n && status == ST_OK; i++)
        for (int k = 0; k < object->sides && status == ST_OK; k++) {
            const int a = revolved_point(object, first, i, k), b = revolved_point(object, first, i, k + 1),
                      c = revolved_point(object, first, i + 1, k), d = revolved_point(object, first, i + 1, k + 1);
            const bool over = volume < 0.0;
            if (a != b) status = sti_model_triangle(model, object->subject, over ? b : a, over ? a : b, c, &why);
            if (c != d && status == ST_OK)
                status = sti_model_triangle(model, object->subject, over ? d : b, over ? b : d, c, &why);
        }
    free(first);
    return status == ST_OK ? ST_OK
                           : sti_report(object->reader, object->place, status, "%s: %s", object->subject, why.message);
}

/* Rows along x, in the order of y. */
st_Status sti_heights_read(const sti_Value *v, void *field)
{
    (void)field;
    sti_Object *object = v->object;
    size_t rows = json_array_size(v->json), columns = json_array_size(json_array_get(v->json, 0));
    if (rows < 2 || columns < 2 || rows > 100000 || columns > 100000) return geometry_wrong(v);
    object->table = malloc(rows * columns * sizeof *object->table);
    if (object->table == NULL) return geometry_no_memory(object, v->place, rows * columns);
    for (size_t i = 0; i < rows; i++)
        STI_TRY(read_row(v, i, columns, object->table + i * columns));
    object->def.shape.heights = object->table;
    object->def.shape.n_x = (int)columns;
    object->def.shape.n_y = (int)rows;
    return ST_OK;
}

/* A relative path starts at the folder of the scene file. */
st_Status sti_file_read(const sti_Value *v, void *field)
{
    (void)field;
    sti_Object *object = v->object;
    const char *name = json_string_value(v->json), *label = object->reader->label;
    const char *slash = label != NULL ? strrchr(label, '/') : NULL;
    char path[4096];
    if (name == NULL || name[0] == '\0') return geometry_wrong(v);
    int folder = slash != NULL && name[0] != '/' ? (int)(slash - label) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, folder > 0 ? label : "", name) >= (int)sizeof path)
        return sti_wrong(v->object, v->place, v->key->key, v->json, "a shorter path");
    st_Error why = {0};
    static const char *const own[] = {"points", "triangles"};
    for (int k = 0; k < 2; k++)
        if (sti_object_has(object, own[k]))
            return sti_report(object->reader, v->place, ST_ERR_FORMAT,
                              "%s: has both \"%s\" and \"file\", must have one", object->subject, own[k]);
    st_Status status = sti_model_read(path, &object->model, &why);
    return status == ST_OK ? ST_OK
                           : sti_report(object->reader, v->place, status, "%s: %s", object->subject, why.message);
}

st_Status sti_bits_read(const sti_Value *v, void *field)
{
    uint32_t *out = field;
    if (!json_is_array(v->json)) return geometry_wrong(v);
    *out = 0;
    for (size_t i = 0; i < json_array_size(v->json); i++) {
        const json_t *number = json_array_get(v->json, i);
        double x = json_number_value(number);
        sti_Place at = {v->place, NULL, i};
        char name[80];
        snprintf(name, sizeof name, "%s[%zu]", v->key->key, i);
        if (!json_is_number(number) || floor(x) != x || x < 0 || x > 31)
            return sti_wrong(v->object, &at, name, number, "a whole number from 0 to 31");
        *out |= 1u << (unsigned)x;
    }
    return ST_OK;
}

st_Status sti_shape_finish(sti_Object *object)
{
    static const char *const own[] = {"friction", "restitution", "rolling_friction", "spinning_friction"};
    for (int k = 0; k < 4 && sti_object_has(object, "material"); k++) {
        sti_Place place = {object->place, own[k], 0};
        if (sti_object_has(object, own[k]))
            return sti_report(object->reader, &place, ST_ERR_FORMAT,
                              "%s: has both \"%s\" and \"material\", must have one of them", object->subject, own[k]);
    }

    /* Stores the values that were read in the def for the core. */
    st_ShapeDef *def = &object->def.shape;
    sti_Model *model = &object->model;
    const uint32_t members = st_shape_type_members(def->type);
    const bool mesh = (members & ST_MEMBER_TRIANGLES) != 0;
    if ((members & ST_MEMBER_POINTS) == 0) return ST_OK;
    if (object->sides > 0 && object->n_outline == 0)
        return sti_report(object->reader, object->place, ST_ERR_FORMAT,
                          "%s: \"sides\" are those of a \"outline\", which is missing", object->subject);
    if (object->n_outline > 0) STI_TRY(revolve(object));
    if (model->n_points == 0)
        return sti_report(object->reader, object->place, ST_ERR_FORMAT, "%s: %s is missing, a %s needs one of them",
                          object->subject, mesh ? "\"points\", \"outline\" or \"file\"" : "\"points\" or \"file\"",
                          st_shape_type_name(def->type));
    if (mesh && model->n_triangles == 0)
        return sti_report(object->reader, object->place, ST_ERR_FORMAT,
                          "%s: \"triangles\" is missing, a mesh of points needs it: a list of [i, j, k]",
                          object->subject);
    st_Vec3 s = object->scale;
    bool scaled = sti_object_has(object, "scale"), mirrored = s.x * s.y * s.z < 0;
    for (int k = 0; k < model->n_points && scaled; k++) {
        st_Vec3 *p = &model->points[k];
        *p = (st_Vec3){s.x * p->x, s.y * p->y, s.z * p->z};
    }
    for (int k = 0; k < model->n_triangles && mirrored; k++) { /* keep outer sides outside */
        int corner = model->triangles[3 * k];
        model->triangles[3 * k] = model->triangles[3 * k + 1];
        model->triangles[3 * k + 1] = corner;
    }
    def->points = model->points, def->n_points = model->n_points;
    if (mesh) def->triangles = model->triangles, def->n_triangles = model->n_triangles;
    return ST_OK;
}
