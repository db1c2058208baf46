/* query.c -- System: rays, overlaps and distances.
 *
 * A probe is a shape in the scene language, {"type": "sphere", "radius": 0.1, "position": [0, 0, 1]}: it is read as the
 * one shape of a scene of its own, so that nothing of the language is repeated here.
 */
#include "system.h"

#include <math.h>
#include <string.h>

static bool read_groups(PyObject *object, uint32_t *out)
{
    *out = UINT32_MAX;
    if (object == NULL || object == Py_None) return true;
    PyObject *number = PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
    unsigned long bits = number != NULL ? PyLong_AsUnsignedLong(number) : 0;
    Py_XDECREF(number);
    if (!PyIndex_Check(object))
        PyErr_Format(PyExc_TypeError, "groups must be an integer of bits, not %R", Py_TYPE(object));
    else if (!PyErr_Occurred() && bits > UINT32_MAX)
        PyErr_Format(PyExc_ValueError, "groups is %lu, must have 32 bits", bits);
    *out = (uint32_t)bits;
    return !PyErr_Occurred();
}

/* ---- rays -------------------------------------------------------------------------------------------------------- */

PyObject *system_ray(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"origin", "direction", "length", "groups", NULL};
    PyObject *origin, *direction, *bits = NULL, *most = NULL;
    double length = INFINITY;
    uint32_t groups;
    st_Vec3 from, way;
    st_RayHit hit;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|OO:ray", names, &origin, &direction, &most, &bits))
        return NULL;
    if (!read_optional(most, "length", &length) || !read_vec3(origin, "origin", &from) ||
        !read_vec3(direction, "direction", &way) || !read_groups(bits, &groups) || !system_free(self))
        return NULL;
    st_Status status = st_system_ray(self->system, from, way, length, groups, &hit, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    if (hit.shape.index1 == 0) return Py_NewRef(Py_None);
    return row_new(state_of((PyObject *)self), ROW_RAY_HIT, &hit);
}

/* n x 3 numbers: a buffer, or a sequence of three each. */
static bool read_vectors(PyObject *object, const char *what, Py_ssize_t n, double **out, Py_ssize_t *count)
{
    Py_ssize_t length;
    const int taken = read_buffer(object, what, n < 0 ? -1 : 3 * n, out, &length);
    if (taken < 0) return false;
    if (taken == 1) {
        *count = length / 3;
        if (length % 3 != 0) PyErr_Format(PyExc_ValueError, "%s has %zd numbers, must have three each", what, length);
        if (length % 3 != 0) PyMem_Free(*out);
        return length % 3 == 0;
    }
    PyObject *list = PySequence_List(object);
    *out = NULL;
    if (list == NULL) return false;
    *count = PyList_Size(list);
    if (n >= 0 && *count != n) PyErr_Format(PyExc_ValueError, "%s has %zd vectors, must have %zd", what, *count, n);
    bool ok = !PyErr_Occurred() && (*out = PyMem_Malloc((size_t)*count * 3 * sizeof **out + 1)) != NULL;
    if (!ok && !PyErr_Occurred()) PyErr_NoMemory();
    for (Py_ssize_t k = 0; ok && k < *count; k++)
        ok = read_numbers(PyList_GetItem(list, k), what, 3, *out + 3 * k);
    Py_DECREF(list);
    if (!ok) PyMem_Free(*out);
    return ok;
}

/* All of them without the interpreter's lock. */
static st_Status cast_all(SystemObject *self, const double *from, const double *way, double length, Py_ssize_t n,
                          uint32_t groups, st_RayHit *hits, st_Error *err)
{
    Away away;
    st_Status status = ST_OK;
    self->busy = true;
    away_begin(&away);
    enum { BATCH = 256 };
    st_Ray rays[BATCH];
    for (Py_ssize_t at = 0; at < n && status == ST_OK && !away_interrupted(&away); at += BATCH) {
        const int count = n - at < BATCH ? (int)(n - at) : BATCH;
        for (int k = 0; k < count; k++) {
            const double *p = from + 3 * (at + k), *d = way + 3 * (at + k);
            rays[k] = (st_Ray){{p[0], p[1], p[2]}, {d[0], d[1], d[2]}, length};
        }
        status = st_system_rays(self->system, rays, count, groups, hits + at, err);
    }
    away_end(&away);
    self->busy = false;
    return status;
}

PyObject *system_rays(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"origins", "directions", "length", "groups", NULL};
    PyObject *origins, *directions, *most = NULL, *bits = NULL, *table = NULL;
    double length = INFINITY, *from = NULL, *way = NULL;
    uint32_t groups;
    void *hits;
    Py_ssize_t n = 0;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|OO:rays", names, &origins, &directions, &most, &bits))
        return NULL;
    if (!read_optional(most, "length", &length) || !read_groups(bits, &groups) ||
        !read_vectors(origins, "origins", -1, &from, &n))
        return NULL;
    if (read_vectors(directions, "directions", n, &way, &n)) {
        if (system_free(self)) table = table_new(state_of((PyObject *)self), ROW_RAY_HIT, n, &hits);
        st_Status status = table != NULL ? cast_all(self, from, way, length, n, groups, hits, &err) : ST_OK;
        if (status != ST_OK) raise_error(state_of((PyObject *)self), status, &err);
        PyMem_Free(way);
    }
    PyMem_Free(from);
    if (PyErr_Occurred()) Py_CLEAR(table);
    return table;
}

/* ---- probes --------------------------------------------------------------------------------------------------------
 */

typedef struct Probe {
    PyObject *scene; /* keeps the objects that the def points to alive */
    st_ShapeDef def;
    st_Pose pose;
} Probe;

/* {"ground": [probe]}: a scene with nothing but the probe in it, and a body, since a scene must have one. */
static PyObject *probe_scene(const State *state, PyObject *shape)
{
    PyObject *description = Py_BuildValue("{s:[O],s:[{s:O}]}", "ground", shape, "bodies", "fixed", Py_True),
             *text = NULL, *label = NULL, *sets = NULL, *scene = NULL;
    if (description != NULL) text = json_text(description);
    if (text != NULL) label = PyBytes_FromString("probe");
    if (label != NULL) sets = PyList_New(0);
    if (sets != NULL) scene = scene_parse(state, text, label, sets);
    Py_XDECREF(sets);
    Py_XDECREF(label);
    Py_XDECREF(text);
    Py_XDECREF(description);
    return scene;
}

static bool read_probe(const State *state, PyObject *shape, Probe *probe)
{
    if (!PyDict_Check(shape)) {
        PyErr_Format(PyExc_TypeError, "the shape must be a dict {\"type\": ...} as in scenes, not %R", Py_TYPE(shape));
        return false;
    }
    probe->scene = probe_scene(state, shape);
    if (probe->scene == NULL) return false;
    st_scene_shape(((SceneObject *)probe->scene)->scene, (st_ShapeId){1}, &probe->def, NULL);
    probe->pose = probe->def.pose;
    return true;
}

PyObject *system_overlaps(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"shape", "groups", NULL};
    const State *state = state_of((PyObject *)self);
    PyObject *shape, *bits = NULL, *list = NULL;
    uint32_t groups;
    Probe probe;
    st_Error err = {0};
    int n = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:overlaps", names, &shape, &bits)) return NULL;
    if (!read_groups(bits, &groups) || !read_probe(state, shape, &probe)) return NULL;
    const int room = st_scene_shape_count(self->scene->scene);
    st_ShapeId *ids = PyMem_Calloc((size_t)room + 1, sizeof *ids);
    if (ids == NULL) {
        PyErr_NoMemory();
    } else if (system_free(self)) {
        st_Status status = st_system_overlaps(self->system, &probe.def, probe.pose, groups, ids, room, &n, &err);
        if (status == ST_OK)
            list = PyList_New(n);
        else
            raise_error(state, status, &err);
    }
    for (int k = 0; list != NULL && k < n; k++) /* n <= room: each shape once */
        PyList_SetItem(list, k, PyLong_FromLong(ids[k].index1));
    PyMem_Free(ids);
    Py_DECREF(probe.scene);
    return list;
}

PyObject *system_closest(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"shape", "within", "groups", NULL};
    const State *state = state_of((PyObject *)self);
    PyObject *shape, *bits = NULL, *most = NULL;
    double within = INFINITY;
    uint32_t groups;
    Probe probe;
    st_Closest closest = {.gap = INFINITY};
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:closest", names, &shape, &most, &bits)) return NULL;
    if (!read_optional(most, "within", &within) || !read_groups(bits, &groups) || !read_probe(state, shape, &probe))
        return NULL;
    st_Status status = ST_OK;
    if (system_free(self)) {
        status = st_system_closest(self->system, &probe.def, probe.pose, within, groups, &closest, &err);
        if (status != ST_OK) raise_error(state, status, &err);
    }
    Py_DECREF(probe.scene);
    if (PyErr_Occurred()) return NULL;
    if (closest.shape.index1 == 0) return Py_NewRef(Py_None);
    return row_new(state, ROW_CLOSEST, &closest);
}

PyObject *system_distance(SystemObject *self, PyObject *args)
{
    PyObject *first, *second;
    st_ShapeId a, b;
    st_Closest closest;
    st_Error err = {0};
    if (!PyArg_ParseTuple(args, "OO:distance", &first, &second)) return NULL;
    if (!shape_id(self->scene, first, &a) || !shape_id(self->scene, second, &b) || !system_free(self)) return NULL;
    st_Status status = st_system_distance(self->system, a, b, &closest, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return row_new(state_of((PyObject *)self), ROW_CLOSEST, &closest);
}
