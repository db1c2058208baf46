/* scene.c -- stiction.Scene: a scene as the scene language describes it (docs/scene.md), read and checked.
 *
 * The language is the one way in, from a file, a text or a dict; nothing of it is repeated here. A scene does not
 * change: to have another, change the dict, or use `overrides`.
 */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- overrides ---------------------------------------------------------------------------------------- */

static bool append_set(PyObject *list, PyObject *path, PyObject *value)
{
    const char *name = text_of(path, "the path of an override");
    PyObject *text = name != NULL ? json_text(value) : NULL;
    PyObject *set = text != NULL ? PyBytes_FromFormat("%s=%s", name, PyBytes_AsString(text)) : NULL;
    bool ok = set != NULL && PyList_Append(list, set) == 0;
    Py_XDECREF(set);
    Py_XDECREF(text);
    return ok;
}

static bool append_text(PyObject *list, PyObject *text)
{
    const char *set = text_of(text, "an override");
    PyObject *bytes = set != NULL ? PyBytes_FromString(set) : NULL;
    bool ok = bytes != NULL && PyList_Append(list, bytes) == 0;
    Py_XDECREF(bytes);
    return ok;
}

/* items() of a class may give anything. */
static bool append_item(PyObject *list, PyObject *item)
{
    if (PyTuple_Check(item) && PyTuple_Size(item) == 2)
        return append_set(list, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1));
    PyErr_Format(PyExc_TypeError, "items() of overrides must give pairs (\"PATH\", value), not %R", item);
    return false;
}

PyObject *sets_list(PyObject *overrides)
{
    PyObject *list = PyList_New(0);
    if (list == NULL || overrides == NULL || overrides == Py_None) return list;
    const bool mapping = PyMapping_Check(overrides) && PyObject_HasAttrString(overrides, "items");
    PyObject *items = NULL;
    if (mapping)
        items = PyMapping_Items(overrides);
    else if (!PyUnicode_Check(overrides))
        items = PySequence_List(overrides);
    if (items == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)))
        PyErr_Format(PyExc_TypeError, "overrides must be a dict {\"PATH\": value} or a list of \"PATH=VALUE\", not %R",
                     Py_TYPE(overrides));
    bool ok = items != NULL;
    for (Py_ssize_t k = 0; ok && k < PyList_Size(items); k++) {
        PyObject *item = PyList_GetItem(items, k);
        ok = mapping ? append_item(list, item) : append_text(list, item);
    }
    Py_XDECREF(items);
    if (!ok) Py_CLEAR(list);
    return list;
}

const char **sets_array(PyObject *sets, int *n)
{
    Py_ssize_t count = PyList_Size(sets);
    const char **array = PyMem_Calloc((size_t)count + 1, sizeof *array);
    if (array == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t k = 0; k < count; k++)
        array[k] = PyBytes_AsString(PyList_GetItem(sets, k));
    *n = (int)count;
    return array;
}

/* ---- making one ---------------------------------------------------------------------------------------- */

static bool add_name(PyObject *dict, const char *name, int id)
{
    PyObject *number = PyLong_FromLong(id);
    PyObject *key = number != NULL ? PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace") : NULL;
    bool ok = key != NULL && PyDict_SetItem(dict, key, number) == 0;
    Py_XDECREF(key);
    Py_XDECREF(number);
    return ok;
}

/* Shapes have names of their own within a body only. */
static bool add_shape_name(SceneObject *self, int id)
{
    st_ShapeDef def;
    st_BodyDef body = st_body_def();
    st_BodyId owner;
    if (st_scene_shape(self->scene, (st_ShapeId){id}, &def, &owner) != ST_OK) return true;
    body.name = "ground";
    if (owner.index1 != 0) st_scene_body(self->scene, owner, &body);
    PyObject *number = PyLong_FromLong(id),
             *key = number != NULL ? PyUnicode_FromFormat("%s/%s", body.name, def.name) : NULL;
    bool ok = key != NULL && PyDict_SetItem(self->shapes, key, number) == 0;
    Py_XDECREF(key);
    Py_XDECREF(number);
    return ok;
}

static bool add_names(SceneObject *self)
{
    st_BodyDef body;
    st_JointDef joint;
    st_ForceDef force;
    self->bodies = PyDict_New();
    self->joints = PyDict_New();
    self->forces = PyDict_New();
    self->shapes = PyDict_New();
    bool ok = self->bodies != NULL && self->joints != NULL && self->forces != NULL && self->shapes != NULL;
    for (int k = 1;
         ok && st_scene_body(self->scene, (st_BodyId){k}, &body) == ST_OK && k <= st_scene_body_count(self->scene); k++)
        ok = add_name(self->bodies, body.name, k);
    for (int k = 1; ok && k <= st_scene_joint_count(self->scene); k++)
        ok = st_scene_joint(self->scene, (st_JointId){k}, &joint) != ST_OK || add_name(self->joints, joint.name, k);
    for (int k = 1; ok && k <= st_scene_force_count(self->scene); k++)
        ok = st_scene_force(self->scene, (st_ForceId){k}, &force) != ST_OK || add_name(self->forces, force.name, k);
    for (int k = 1; ok && k <= st_scene_shape_count(self->scene); k++)
        ok = add_shape_name(self, k);
    return ok;
}

PyObject *scene_parse(const State *state, PyObject *text, PyObject *label, PyObject *sets)
{
    int n_sets;
    st_Error err = {0};
    const char **array = sets_array(sets, &n_sets);
    SceneObject *self = array != NULL ? PyObject_New(SceneObject, state->scene) : NULL;
    if (self == NULL) {
        PyMem_Free(array);
        return NULL;
    }
    self->scene = NULL;
    self->bodies = self->joints = self->forces = self->shapes = NULL;
    self->text = Py_NewRef(text);
    self->label = Py_NewRef(label);
    self->sets = Py_NewRef(sets);
    st_Status status = st_scene_parse(PyBytes_AsString(text), (size_t)PyBytes_Size(text), PyBytes_AsString(label),
                                      array, n_sets, &self->scene, &self->def, &err);
    PyMem_Free(array);
    if (status != ST_OK) raise_error(state, status, &err);
    if (status != ST_OK || !add_names(self)) Py_CLEAR(self);
    return (PyObject *)self;
}

static void scene_dealloc(SceneObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_scene_destroy(self->scene);
    Py_XDECREF(self->text);
    Py_XDECREF(self->label);
    Py_XDECREF(self->sets);
    Py_XDECREF(self->bodies);
    Py_XDECREF(self->joints);
    Py_XDECREF(self->forces);
    Py_XDECREF(self->shapes);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* All bytes of a file, by Python's own open: a missing file is a FileNotFoundError as anywhere else. */
static PyObject *file_bytes(PyObject *path)
{
    PyObject *io = PyImport_ImportModule("io"), *bytes = NULL, *closed = NULL;
    PyObject *file = io != NULL ? PyObject_CallMethod(io, "open", "Os", path, "rb") : NULL;
    if (file != NULL) bytes = PyObject_CallMethod(file, "read", NULL);
    if (bytes != NULL && (closed = PyObject_CallMethod(file, "close", NULL)) == NULL) Py_CLEAR(bytes);
    Py_XDECREF(closed);
    Py_XDECREF(file);
    Py_XDECREF(io);
    return bytes;
}

static PyObject *scene_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "overrides", NULL};
    PyObject *path, *overrides = NULL, *label = NULL, *text = NULL, *sets = NULL, *scene = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:Scene", names, &path, &overrides)) return NULL;
    if (PyUnicode_FSConverter(path, &label)) text = file_bytes(path);
    if (text != NULL) sets = sets_list(overrides);
    if (sets != NULL) scene = scene_parse(PyType_GetModuleState(type), text, label, sets);
    Py_XDECREF(sets);
    Py_XDECREF(text);
    Py_XDECREF(label);
    return scene;
}

/* text: bytes, taken from here */
static PyObject *from_text(PyObject *type, PyObject *text, PyObject *overrides, const char *label)
{
    PyObject *name = text != NULL ? PyBytes_FromString(label) : NULL,
             *sets = name != NULL ? sets_list(overrides) : NULL;
    PyObject *scene = sets != NULL ? scene_parse(PyType_GetModuleState((PyTypeObject *)type), text, name, sets) : NULL;
    Py_XDECREF(sets);
    Py_XDECREF(name);
    Py_XDECREF(text);
    return scene;
}

static PyObject *scene_from_json(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"text", "overrides", "label", NULL};
    PyObject *text, *overrides = NULL, *bytes;
    const char *label = "scene";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Os:from_json", names, &text, &overrides, &label)) return NULL;
    if (PyBytes_Check(text))
        bytes = Py_NewRef(text);
    else if (PyUnicode_Check(text))
        bytes = PyUnicode_AsUTF8String(text);
    else
        return PyErr_Format(PyExc_TypeError, "the text must be a str or bytes, not %R", Py_TYPE(text));
    return from_text(type, bytes, overrides, label);
}

static PyObject *scene_from_dict(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"description", "overrides", "label", NULL};
    PyObject *description, *overrides = NULL;
    const char *label = "scene";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Os:from_dict", names, &description, &overrides, &label))
        return NULL;
    if (!PyDict_Check(description))
        return PyErr_Format(PyExc_TypeError, "the description must be a dict, not %R", Py_TYPE(description));
    return from_text(type, json_text(description), overrides, label);
}

/* ---- ids ------------------------------------------------------------------------------------------------ */

static bool look_up(PyObject *dict, const char *kind, int least, PyObject *which, int *out)
{
    if (PyUnicode_Check(which)) {
        PyObject *number = PyDict_GetItemWithError(dict, which);
        if (number == NULL) {
            if (!PyErr_Occurred()) raise_unknown(PyExc_KeyError, kind, which, dict);
            return false;
        }
        *out = (int)PyLong_AsLong(number);
        return true;
    }
    Py_ssize_t id = PyIndex_Check(which) ? PyNumber_AsSsize_t(which, PyExc_IndexError) : -1, n = PyDict_Size(dict);
    if (!PyIndex_Check(which))
        PyErr_Format(PyExc_TypeError, "a %s must be a name or a number, not %R", kind, Py_TYPE(which));
    else if (!PyErr_Occurred() && (id < least || id > n))
        PyErr_Format(PyExc_IndexError, "there is no %s %zd, only %d to %zd", kind, id, least, n);
    *out = (int)id;
    return !PyErr_Occurred();
}

/* Asking an object for its number may change the scene of a system, which held the dict. */
static bool find_id(PyObject *dict, const char *kind, int least, PyObject *which, int *out)
{
    Py_INCREF(dict);
    const bool found = look_up(dict, kind, least, which, out);
    Py_DECREF(dict);
    return found;
}

bool body_id(const SceneObject *scene, PyObject *which, st_BodyId *out)
{
    memset(out, 0, sizeof *out); /* no generation: the number as it is now */
    return find_id(scene->bodies, "body", 1, which, &out->index1);
}

bool joint_id(const SceneObject *scene, PyObject *which, st_JointId *out)
{
    memset(out, 0, sizeof *out); /* no generation: the number as it is now */
    return find_id(scene->joints, "joint", 1, which, &out->index1);
}

bool force_id(const SceneObject *scene, PyObject *which, st_ForceId *out)
{
    memset(out, 0, sizeof *out); /* no generation: the number as it is now */
    return find_id(scene->forces, "force", 1, which, &out->index1);
}

bool shape_id(const SceneObject *scene, PyObject *which, st_ShapeId *out)
{
    memset(out, 0, sizeof *out); /* no generation: the number as it is now */
    return find_id(scene->shapes, "shape", 1, which, &out->index1);
}

/* ---- methods --------------------------------------------------------------------------------------------- */

static PyObject *scene_system(PyObject *self, PyObject *args, PyObject *keywords)
{
    if (PyTuple_Size(args) != 0) return PyErr_Format(PyExc_TypeError, "settings must be given by name: h=0.001");
    PyObject *only = PyTuple_Pack(1, self);
    PyObject *system = only != NULL ? PyObject_Call((PyObject *)state_of(self)->system, only, keywords) : NULL;
    Py_XDECREF(only);
    return system;
}

static PyObject *scene_mass(SceneObject *self, PyObject *which)
{
    st_BodyId id;
    st_Error err = {0};
    double mass;
    st_Mat3 i;
    if (!body_id(self, which, &id)) return NULL;
    st_Status status = st_scene_body_mass(self->scene, id, &mass, &i, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return Py_BuildValue("d((ddd)(ddd)(ddd))", mass, i.m[0], i.m[1], i.m[2], i.m[3], i.m[4], i.m[5], i.m[6], i.m[7],
                         i.m[8]);
}

/* The file of a robot is not JSON; the scene that the library makes of it is. */
static PyObject *converted(SceneObject *self)
{
    int n;
    char *text = NULL;
    st_Error err = {0};
    PyObject *value = NULL;
    const char **sets = sets_array(self->sets, &n);
    if (sets == NULL) return NULL;
    st_Status status = st_scene_convert_text(PyBytes_AsString(self->text), (size_t)PyBytes_Size(self->text),
                                             PyBytes_AsString(self->label), sets, n, NULL, &text, NULL, &err);
    if (status == ST_OK)
        value = json_value(text);
    else
        raise_error(state_of((PyObject *)self), status, &err);
    free(text);
    PyMem_Free(sets);
    return value;
}

static PyObject *scene_to_dict(SceneObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *json = PyImport_ImportModule("json");
    PyObject *value = json != NULL ? PyObject_CallMethod(json, "loads", "O", self->text) : NULL;
    Py_XDECREF(json);
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_ValueError)) return value;
    PyErr_Clear();
    return converted(self);
}

static PyObject *scene_model(SceneObject *self, PyObject *Py_UNUSED(unused))
{
    char *text = st_scene_model(self->scene, &self->def);
    PyObject *value = json_value(text);
    free(text);
    return value;
}

static PyObject *text_getter(SceneObject *self, void *Py_UNUSED(unused))
{
    return PyUnicode_DecodeUTF8(PyBytes_AsString(self->text), PyBytes_Size(self->text), "replace");
}

static PyObject *label_getter(SceneObject *self, void *Py_UNUSED(unused))
{
    return PyUnicode_DecodeFSDefault(PyBytes_AsString(self->label));
}

static PyObject *member_getter(SceneObject *self, void *key)
{
    PyObject *dict = scene_to_dict(self, NULL), *value = NULL;
    if (dict == NULL) return NULL;
    value = PyDict_GetItemString(dict, key);
    value = value != NULL ? Py_NewRef(value) : PyUnicode_FromString("");
    Py_DECREF(dict);
    return value;
}

static PyObject *settings_getter(SceneObject *self, void *Py_UNUSED(unused))
{
    return settings_dict(state_of((PyObject *)self), &self->def);
}

/* The dicts cannot be changed from outside: lookups of ids use them. */
static PyObject *names_getter(SceneObject *self, void *offset)
{
    return PyDictProxy_New(*(PyObject **)((char *)self + *(const size_t *)offset));
}

static PyObject *scene_repr(SceneObject *self)
{
    PyObject *label = label_getter(self, NULL);
    PyObject *text = label != NULL ? PyUnicode_FromFormat("<stiction.Scene %R: %zd bodies, %zd shapes, %zd joints>",
                                                          label, PyDict_Size(self->bodies), PyDict_Size(self->shapes),
                                                          PyDict_Size(self->joints))
                                   : NULL;
    Py_XDECREF(label);
    return text;
}

/* Pickled as its text, so that worker processes can have it. */
static PyObject *scene_reduce(SceneObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *make = PyObject_GetAttrString((PyObject *)Py_TYPE((PyObject *)self), "from_json"), *texts = PyList_New(0),
             *result = NULL;
    PyObject *label = label_getter(self, NULL);
    bool ok = make != NULL && texts != NULL && label != NULL;
    for (Py_ssize_t k = 0; ok && k < PyList_Size(self->sets); k++) {
        PyObject *text = PyUnicode_FromString(PyBytes_AsString(PyList_GetItem(self->sets, k)));
        ok = text != NULL && PyList_Append(texts, text) == 0;
        Py_XDECREF(text);
    }
    if (ok) result = Py_BuildValue("O(OOO)", make, self->text, texts, label);
    Py_XDECREF(make);
    Py_XDECREF(texts);
    Py_XDECREF(label);
    return result;
}

static PyMethodDef scene_methods[] = {
    {"from_json", (PyCFunction)(void (*)(void))scene_from_json, METH_CLASS | METH_VARARGS | METH_KEYWORDS,
     "from_json(text, overrides=None, label='scene')\n--\n\n"
     "Read a scene from a text. label takes the place of the file name: messages show it, and files that the scene "
     "uses are\nsearched for in its folder."},
    {"from_dict", (PyCFunction)(void (*)(void))scene_from_dict, METH_CLASS | METH_VARARGS | METH_KEYWORDS,
     "from_dict(description, overrides=None, label='scene')\n--\n\n"
     "Make a scene from a dict of dicts, lists and numbers, as json.load returns them; numpy arrays count as lists."},
    {"system", (PyCFunction)(void (*)(void))scene_system, METH_VARARGS | METH_KEYWORDS,
     "system($self, /, **settings)\n--\n\nA system of this scene: System(scene, **settings)."},
    {"mass", (PyCFunction)scene_mass, METH_O,
     "mass($self, body, /)\n--\n\nMass [kg] and inertia [kg m^2, three rows, body axes] of a body, from the scene or "
     "from its shapes."},
    {"to_dict", (PyCFunction)scene_to_dict, METH_NOARGS,
     "to_dict($self, /)\n--\n\n"
     "The scene without overrides, as a dict that can be changed and passed to from_dict. For a robot file: the scene "
     "that\nit was converted to, with overrides."},
    {"model", (PyCFunction)scene_model, METH_NOARGS,
     "model($self, /)\n--\n\nBodies, shapes, joints and springs of the scene, for viewers: a dict."},
    {"__reduce__", (PyCFunction)scene_reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nFor pickle."},
    {NULL, NULL, 0, NULL},
};

#define NAMES(member)                                                                                                  \
    (void *)&(const size_t)                                                                                            \
    {                                                                                                                  \
        offsetof(SceneObject, member)                                                                                  \
    }
static PyGetSetDef scene_getters[] = {
    {"name", (getter)member_getter, NULL, "Name of the scene, or an empty text.", "name"},
    {"description", (getter)member_getter, NULL, "Description of the scene.", "description"},
    {"label", (getter)label_getter, NULL, "The file name or label of the scene.", NULL},
    {"text", (getter)text_getter, NULL, "The text of the scene: JSON, or the XML of a robot.", NULL},
    {"settings", (getter)settings_getter, NULL, "Every setting of its simulation, a dict.", NULL},
    {"bodies", (getter)names_getter, NULL, "Ids by name, in order: 1, 2, ... The ground, 0, is not included.",
     NAMES(bodies)},
    {"joints", (getter)names_getter, NULL, "Ids by name, in order.", NAMES(joints)},
    {"forces", (getter)names_getter, NULL, "Ids by name, in order: applied forces.", NAMES(forces)},
    {"shapes", (getter)names_getter, NULL, "Ids by \"BODY/SHAPE\", in order; those of the ground are \"ground/SHAPE\".",
     NAMES(shapes)},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char scene_doc[] =
    "Scene(path, overrides=None)\n--\n\n"
    "A scene file, read and checked: bodies, shapes, joints, springs, forces and settings (docs/scene.md). The file "
    "may\nalso be a robot, URDF, MJCF or SDF.\n\n"
    "overrides change values, by their path, before the scene is checked. Members of lists have names or numbers:\n"
    "{\"bodies/left/mass\": 2, \"simulation/h\": 1e-3}, or texts [\"bodies/left/mass=2\"].\n\n"
    "A scene does not change and may be shared by any number of systems and threads. It can be pickled.";

static PyType_Slot scene_slots[] = {
    {Py_tp_doc, (void *)scene_doc},
    {Py_tp_new, (void *)scene_new},
    {Py_tp_dealloc, (void *)scene_dealloc},
    {Py_tp_repr, (void *)scene_repr},
    {Py_tp_methods, scene_methods},
    {Py_tp_getset, scene_getters},
    {0, NULL},
};

static PyType_Spec scene_spec = {"stiction.Scene", sizeof(SceneObject), 0, TYPE_FLAGS, scene_slots};

bool add_scene_type(PyObject *module, State *state)
{
    state->scene = (PyTypeObject *)PyType_FromModuleAndSpec(module, &scene_spec, NULL);
    return state->scene != NULL && PyModule_AddType(module, state->scene) == 0;
}
