/* recorder.c -- stiction.Recorder: writes down every step of a system until it is closed. */
#include "system.h"

/* ---- the file ------------------------------------------------------------------------------------------------ */

/* Overrides of the scene, and the changes by System(scene, ...): with them the run can be continued. */
static PyObject *all_sets(const State *state, const SystemObject *system, const SceneObject *scene)
{
    PyObject *changed = settings_sets(state, &scene->def, &system->def), *all = NULL;
    if (changed != NULL) all = PySequence_Concat(scene->sets, changed);
    Py_XDECREF(changed);
    return all;
}

bool recorder_add(RecorderObject *recorder, const st_StepInfo *info)
{
    st_Error err = {0};
    st_Status status = st_recorder_add(recorder->recorder, recorder->system->system, info, &err);
    if (status != ST_OK) raise_error(state_of((PyObject *)recorder), status, &err);
    return status == ST_OK;
}

static bool may_record(const SystemObject *system, const SceneObject *scene)
{
    if (!system_free(system)) return false;
    if (system->recorder == NULL && system->scene == scene) return true;
    PyErr_SetString(PyExc_ValueError, system->recorder != NULL
                                          ? "the system is recorded already: close that recorder first"
                                          : "the scene of the system was changed meanwhile, in another thread");
    return false;
}

static bool add_start(RecorderObject *self)
{
    st_StepInfo start;
    return system_start_info(self->system, &start) && recorder_add(self, &start);
}

/* The description of the scene. That of a robot is in its file, which is read again with all files that it names; if
 * one of them no longer exists, there is no description. */
static PyObject *said(const State *state, SceneObject *scene, const char *member)
{
    PyObject *text = PyObject_GetAttrString((PyObject *)scene, member);
    if (text != NULL || !PyErr_ExceptionMatches(state->error)) return text;
    PyErr_Clear();
    return PyUnicode_FromString("");
}

/* The start is its first row. */
static bool open_file(const State *state, RecorderObject *self, const char *path, st_RecorderDef *def)
{
    SystemObject *system = self->system;
    SceneObject *scene = (SceneObject *)Py_NewRef((PyObject *)system->scene); /* change() may drop it meanwhile */
    st_Error err = {0};
    st_Status status = ST_ERR_MEMORY;
    PyObject *sets = all_sets(state, system, scene), *name = NULL, *description = NULL;
    const char **array = NULL;
    if (sets != NULL) name = said(state, scene, "name");
    if (name != NULL) description = said(state, scene, "description");
    if (description != NULL) array = sets_array(sets, &def->n_sets);
    if (array != NULL) {
        def->name = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : "";
        def->description = PyUnicode_Check(description) ? PyUnicode_AsUTF8AndSize(description, NULL) : "";
        def->text = PyBytes_AsString(scene->text);
        def->length = (size_t)PyBytes_Size(scene->text);
        def->label = PyBytes_AsString(scene->label);
        def->sets = array;
    }
    /* No Python runs from here until the first row is written: no other thread can begin to step. */
    if (array != NULL && may_record(system, scene)) {
        status = st_recorder_open(path, def, scene->scene, &system->def, system->system, &self->recorder, &err);
        if (status != ST_OK) raise_error(state, status, &err);
    }
    const bool ok = status == ST_OK && add_start(self);
    if (ok) system->recorder = self;
    PyMem_Free(array);
    Py_XDECREF(description);
    Py_XDECREF(name);
    Py_XDECREF(sets);
    Py_DECREF((PyObject *)scene);
    return ok;
}

PyObject *system_record(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "rate", "checkpoint", "flush", NULL};
    const State *state = state_of((PyObject *)self);
    PyObject *path, *file = NULL;
    st_RecorderDef def = st_recorder_def();
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|ddd:record", names, &path, &def.rate, &def.checkpoint,
                                     &def.flush) ||
        !PyUnicode_FSConverter(path, &file))
        return NULL;
    RecorderObject *recorder = may_record(self, self->scene) ? PyObject_New(RecorderObject, state->recorder) : NULL;
    if (recorder == NULL) goto done;
    recorder->system = (SystemObject *)Py_NewRef((PyObject *)self);
    recorder->recorder = NULL;
    recorder->path = PyUnicode_DecodeFSDefault(PyBytes_AsString(file));
    if (recorder->path == NULL || !open_file(state, recorder, PyBytes_AsString(file), &def)) Py_CLEAR(recorder);
done:
    Py_XDECREF(file);
    return (PyObject *)recorder;
}

/* ---- closing it ------------------------------------------------------------------------------------------------- */

static st_Status close_file(RecorderObject *self, const char *outcome, const char *message, st_Error *err)
{
    st_Recorder *recorder = self->recorder;
    self->recorder = NULL;
    if (self->system->recorder == self) self->system->recorder = NULL;
    return st_recorder_close(recorder, self->system->system, outcome, message, err);
}

static void recorder_dealloc(RecorderObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_Error err = {0};
    if (self->recorder != NULL) close_file(self, "interrupted", "the recorder was dropped before it was closed", &err);
    Py_XDECREF((PyObject *)self->system);
    Py_XDECREF(self->path);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *close_with(RecorderObject *self, const char *outcome, const char *message)
{
    st_Error err = {0};
    if (self->recorder == NULL) return Py_NewRef(Py_None);
    if (!system_free(self->system)) return NULL;
    st_Status status = close_file(self, outcome, message, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return Py_NewRef(Py_None);
}

static PyObject *recorder_close(RecorderObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"outcome", "message", NULL};
    const char *outcome = "finished", *message = "";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|ss:close", names, &outcome, &message)) return NULL;
    return close_with(self, outcome, message);
}

static PyObject *recorder_enter(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return Py_NewRef(self);
}

/* Did the run diverge according to the library, or did something else fail? */
static const char *outcome_of(const State *state, PyObject *type, PyObject *value)
{
    const char *outcome = "failed";
    if (PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt)) return "interrupted";
    if (value == NULL || !PyErr_GivenExceptionMatches(type, state->error)) return outcome;
    PyObject *status = PyObject_GetAttrString(value, "status");
    if (status != NULL && PyUnicode_Check(status) &&
        PyUnicode_CompareWithASCIIString(status, st_status_name(ST_ERR_NUMERIC)) == 0)
        outcome = "diverged";
    Py_XDECREF(status);
    PyErr_Clear();
    return outcome;
}

static PyObject *recorder_exit(RecorderObject *self, PyObject *args)
{
    PyObject *type, *value, *trace;
    if (!PyArg_ParseTuple(args, "OOO:__exit__", &type, &value, &trace)) return NULL;
    if (type == Py_None) return close_with(self, "finished", "");
    PyObject *message = PyObject_Str(value);
    const char *text = message != NULL ? PyUnicode_AsUTF8AndSize(message, NULL) : NULL;
    PyErr_Clear(); /* a message that cannot be had is none */
    PyObject *closed = close_with(self, outcome_of(state_of((PyObject *)self), type, value), text != NULL ? text : "");
    Py_XDECREF(message);
    return closed; /* None: the exception goes on */
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static PyObject *closed_getter(RecorderObject *self, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(self->recorder == NULL);
}

static PyObject *path_getter(RecorderObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(self->path);
}

static PyObject *size_getter(RecorderObject *self, void *Py_UNUSED(unused))
{
    if (!system_free(self->system)) return NULL;
    return PyLong_FromLongLong(self->recorder != NULL ? st_recorder_size(self->recorder) : 0);
}

static PyMethodDef recorder_methods[] = {
    {"close", (PyCFunction)(void (*)(void))recorder_close, METH_VARARGS | METH_KEYWORDS,
     "close($self, /, outcome='finished', message='')\n--\n\n"
     "Write the last state, a checkpoint of it, and how the run ended. Closed already: nothing."},
    {"__enter__", recorder_enter, METH_NOARGS, "__enter__($self, /)\n--\n\nItself."},
    {"__exit__", (PyCFunction)recorder_exit, METH_VARARGS,
     "__exit__($self, type, value, trace, /)\n--\n\nclose(), saying how the block ended."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recorder_getters[] = {
    {"closed", (getter)closed_getter, NULL, "Is it closed?", NULL},
    {"path", (getter)path_getter, NULL, "Of the file.", NULL},
    {"size", (getter)size_getter, NULL, "Bytes in the file so far; 0: closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char recorder_doc[] = "Writes every step of a system to a file: made by System.record.\n\n"
                                   "with system.record(\"run.h5\"):\n"
                                   "    system.run(until=5)\n\n"
                                   "stiction.Recording reads it, `stiction view run.h5` shows it.";

static PyType_Slot recorder_slots[] = {
    {Py_tp_doc, (void *)recorder_doc},
    {Py_tp_dealloc, (void *)recorder_dealloc},
    {Py_tp_methods, recorder_methods},
    {Py_tp_getset, recorder_getters},
    {0, NULL},
};

static PyType_Spec recorder_spec = {"stiction.Recorder", sizeof(RecorderObject), 0,
                                    TYPE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION, recorder_slots};

bool add_recorder_type(PyObject *module, State *state)
{
    state->recorder = (PyTypeObject *)PyType_FromModuleAndSpec(module, &recorder_spec, NULL);
    return state->recorder != NULL && PyModule_AddType(module, state->recorder) == 0;
}
