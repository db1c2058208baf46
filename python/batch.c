/* batch.c -- stiction.Batch: many worlds of one scene, with arrays that numpy shares with the library.
 *
 * The arrays are the one exception to the rule that Python gets copies: they stay in place as long as the batch, and
 * each view of them keeps the batch alive.
 */
#include "module.h"

#include <limits.h>
#include <string.h>

typedef struct BatchObject {
    PyObject_HEAD SceneObject *scene;
    st_Batch *batch;
    st_SystemDef def;
    bool busy; /* in use without the interpreter's lock */
} BatchObject;

static bool batch_free(const BatchObject *self)
{
    if (!self->busy) return true;
    PyErr_SetString(
        PyExc_RuntimeError,
        "the batch is stepping, in another thread or in a signal handler: only one call at a time is possible");
    return false;
}

/* ---- create -------------------------------------------------------------------------------------- */

/* Take a keyword out of the settings; the list `taken` keeps it. NULL: not given. */
static PyObject *take_keyword(PyObject *settings, const char *name, PyObject *taken)
{
    PyObject *value = PyDict_GetItemString(settings, name); /* borrowed */
    if (value == NULL || PyList_Append(taken, value) != 0 || PyDict_DelItemString(settings, name) != 0) return NULL;
    return value;
}

static bool read_count(PyObject *object, const char *what, int *out)
{
    if (object == NULL) return !PyErr_Occurred();
    const long value = PyLong_AsLong(object);
    if (value == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, Py_TYPE(object));
        return false;
    }
    *out = value > 2000000000    ? 2000000000
           : value < -2000000000 ? -2000000000
                                 : (int)value; /* the library refuses it */
    return true;
}

/* The paths of parameters; PyMem_Free(*paths) while `list` lives. */
static bool read_paths(PyObject *object, PyObject **list, const char ***paths, int *n)
{
    if (object == NULL) return !PyErr_Occurred();
    if (PyUnicode_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "parameters must be a sequence of str, not a str");
        return false;
    }
    *list = PySequence_List(object);
    if (*list == NULL) return false;
    *n = (int)PyList_Size(*list);
    *paths = PyMem_Malloc(((size_t)*n + 1) * sizeof **paths);
    if (*paths == NULL) PyErr_NoMemory();
    bool ok = *paths != NULL;
    for (int k = 0; ok && k < *n; k++)
        ok = ((*paths)[k] = text_of(PyList_GetItem(*list, k), "a parameter")) != NULL;
    return ok;
}

static PyObject *make_batch(PyTypeObject *type, SceneObject *scene, const st_SystemDef *system_def,
                            const st_BatchDef *def)
{
    const State *state = PyType_GetModuleState(type);
    st_Error err = {0};
    BatchObject *self = PyObject_New(BatchObject, type);
    if (self == NULL) return NULL;
    self->scene = (SceneObject *)Py_NewRef((PyObject *)scene);
    self->batch = NULL;
    self->def = *system_def;
    self->busy = false;
    const st_Status status = st_batch_create(scene->scene, system_def, def, &self->batch, &err);
    if (status == ST_OK) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return raise_error(state, status, &err);
}

static PyObject *batch_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const State *state = PyType_GetModuleState(type);
    PyObject *scene = NULL, *worlds = NULL, *list = NULL, *batch = NULL;
    const char **paths = NULL;
    st_BatchDef def = st_batch_def();
    if (!PyArg_ParseTuple(args, "O!|O:Batch", state->scene, &scene, &worlds)) return NULL;
    PyObject *settings = keywords != NULL ? PyDict_Copy(keywords) : PyDict_New(), *taken = PyList_New(0);
    bool ok = settings != NULL && taken != NULL;
    if (ok && worlds == NULL) {
        worlds = take_keyword(settings, "worlds", taken);
        if (worlds == NULL && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "Batch() needs the number of worlds");
        ok = worlds != NULL;
    }
    ok = ok && read_count(worlds, "worlds", &def.worlds) &&
         read_count(take_keyword(settings, "threads", taken), "threads", &def.threads) &&
         read_paths(take_keyword(settings, "parameters", taken), &list, &paths, &def.n_parameters);
    PyObject *reset = ok ? take_keyword(settings, "reset_failed", taken) : NULL;
    if (reset != NULL) def.reset_failed = PyObject_IsTrue(reset) == 1;
    def.parameters = paths;
    if (ok && !PyErr_Occurred()) {
        st_SystemDef system_def = ((SceneObject *)scene)->def;
        if (settings_apply(state, settings, &system_def))
            batch = make_batch(type, (SceneObject *)scene, &system_def, &def);
    }
    PyMem_Free((void *)paths);
    Py_XDECREF(list);
    Py_XDECREF(taken);
    Py_XDECREF(settings);
    return batch;
}

static void batch_dealloc(BatchObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_batch_destroy(self->batch);
    Py_XDECREF((PyObject *)self->scene);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* ---- arguments ----------------------------------------------------------------------------------- */

static bool is_given(PyObject *object)
{
    return object != NULL && object != Py_None;
}

/* One number per world, as integers; PyMem_Free(*out). None: *out stays NULL. */
static bool read_per_world(const BatchObject *self, PyObject *object, const char *what, int **out)
{
    int64_t *numbers = NULL;
    Py_ssize_t n = 0;
    const int worlds = st_batch_worlds(self->batch);
    if (!is_given(object)) return true;
    /* numpy's bools have a buffer of '?', which read_ints takes number by number */
    if (!read_ints(object, what, -1, &numbers, &n)) return false;
    if (n != worlds)
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers, must have one for each of %d worlds", what, n, worlds);
    else if ((*out = PyMem_Malloc((size_t)n * sizeof **out + 1)) == NULL)
        PyErr_NoMemory();
    bool ok = *out != NULL;
    for (Py_ssize_t k = 0; ok && k < n; k++) {
        ok = numbers[k] >= INT_MIN && numbers[k] <= INT_MAX;
        if (ok) (*out)[k] = (int)numbers[k];
        if (!ok) PyErr_Format(PyExc_OverflowError, "%s[%zd] is %lld, too large", what, k, (long long)numbers[k]);
    }
    PyMem_Free(numbers);
    if (!ok) PyMem_Free(*out), *out = NULL;
    return ok;
}

static bool read_mask(const BatchObject *self, PyObject *object, unsigned char **out)
{
    int *numbers = NULL;
    Py_buffer view;
    const int n = st_batch_worlds(self->batch);
    if (is_given(object) && PyObject_CheckBuffer(object)) { /* numpy's bools */
        if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) return false;
        const bool bools = view.format != NULL && strcmp(view.format, "?") == 0, fits = bools && view.len == n;
        if (fits) *out = PyMem_Malloc((size_t)n + 1);
        if (fits && (*out == NULL || PyBuffer_ToContiguous(*out, &view, view.len, 'C') != 0)) PyErr_NoMemory();
        if (bools && !fits)
            PyErr_Format(PyExc_ValueError, "mask has %zd numbers, must have one for each of %d worlds", view.len, n);
        PyBuffer_Release(&view);
        if (bools) return !PyErr_Occurred();
    }
    if (!read_per_world(self, object, "mask", &numbers)) return false;
    if (numbers == NULL) return true;
    *out = PyMem_Malloc((size_t)n + 1);
    if (*out == NULL) PyErr_NoMemory();
    for (int k = 0; *out != NULL && k < n; k++)
        (*out)[k] = numbers[k] != 0;
    PyMem_Free(numbers);
    return *out != NULL;
}

/* rows x width numbers. A buffer must have just this shape; lists are lists of rows. PyMem_Free(*out). */
static bool read_rows(PyObject *object, const char *what, Py_ssize_t rows, Py_ssize_t width, double **out)
{
    Py_ssize_t length = 0;
    if (PyObject_CheckBuffer(object)) {
        Py_buffer view;
        if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) return false;
        const bool fits = view.ndim == 2 && view.shape[0] == rows && view.shape[1] == width;
        if (!fits && view.ndim == 2)
            PyErr_Format(PyExc_ValueError, "%s has the shape (%zd, %zd), must have (%zd, %zd)", what, view.shape[0],
                         view.shape[1], rows, width);
        else if (!fits)
            PyErr_Format(PyExc_ValueError, "%s has %d dimensions, must have two: (%zd, %zd)", what, view.ndim, rows,
                         width);
        PyBuffer_Release(&view);
        const int taken = fits ? read_buffer(object, what, rows * width, out, &length) : -1;
        if (taken == 0) PyErr_Format(PyExc_TypeError, "%s must be an array of numbers", what);
        return taken == 1;
    }
    PyObject *list = PySequence_List(object);
    if (list == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be an array of numbers, not %R", what, Py_TYPE(object));
        return false;
    }
    bool ok = PyList_Size(list) == rows;
    if (!ok) PyErr_Format(PyExc_ValueError, "%s has %zd rows, must have %zd", what, PyList_Size(list), rows);
    *out = ok ? PyMem_Malloc((size_t)(rows * width) * sizeof **out + 1) : NULL;
    if (ok && *out == NULL) PyErr_NoMemory();
    for (Py_ssize_t k = 0; *out != NULL && ok && k < rows; k++) {
        double *row = NULL;
        ok = read_doubles(PyList_GetItem(list, k), what, width, &row, NULL);
        if (ok) memcpy(*out + k * width, row, (size_t)width * sizeof *row);
        PyMem_Free(row);
    }
    Py_DECREF(list);
    if (!ok) {
        PyMem_Free(*out);
        *out = NULL;
    }
    return *out != NULL;
}

/* ---- work without the lock ------------------------------------------------------------------------ */

typedef struct Call {
    st_Batch *batch;
    st_Status (*work)(const struct Call *call, st_Error *err);
    unsigned char *mask;
    int *each; /* steps or keyframes */
    int steps;
    double *t, *q, *v;
} Call;

static PyObject *run_call(BatchObject *self, Call *call)
{
    st_Error err = {0};
    st_Status status = ST_OK;
    const bool ok = !PyErr_Occurred() && batch_free(self);
    if (ok) {
        Away away;
        self->busy = true;
        call->batch = self->batch;
        away_begin(&away);
        st_batch_cancel_when(self->batch, away_interrupted, &away);
        status = call->work(call, &err);
        st_batch_cancel_when(self->batch, NULL, NULL);
        away_end(&away);
        self->busy = false;
    }
    PyMem_Free(call->mask);
    PyMem_Free(call->each);
    PyMem_Free(call->t);
    PyMem_Free(call->q);
    PyMem_Free(call->v);
    if (!ok || PyErr_Occurred()) return NULL; /* a signal */
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return PyLong_FromLong(st_batch_failures(self->batch));
}

static PyObject *none_of(PyObject *result)
{
    if (result == NULL) return NULL;
    Py_DECREF(result);
    return Py_NewRef(Py_None);
}

static st_Status do_step(const Call *c, st_Error *err)
{
    if (c->each != NULL) return st_batch_step_each(c->batch, c->each, err);
    return st_batch_step(c->batch, c->steps, c->mask, err);
}

static PyObject *batch_step(BatchObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"steps", "mask", NULL};
    PyObject *steps = NULL, *mask = NULL;
    Call call = {.work = do_step, .steps = 1};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:step", names, &steps, &mask)) return NULL;
    if (steps == NULL || PyIndex_Check(steps)) {
        if (!read_count(steps, "steps", &call.steps) || !read_mask(self, mask, &call.mask)) return NULL;
    } else if (is_given(mask)) {
        return PyErr_Format(PyExc_TypeError,
                            "with steps for each world, a mask is not allowed: 0 steps leave a world as it is");
    } else if (!read_per_world(self, steps, "steps", &call.each)) {
        return NULL;
    }
    return run_call(self, &call);
}

static st_Status do_reset(const Call *c, st_Error *err)
{
    return st_batch_reset(c->batch, c->mask, c->each, err);
}

static PyObject *batch_reset(BatchObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"mask", "keyframe", NULL};
    PyObject *mask = NULL, *keyframe = NULL;
    Call call = {.work = do_reset};
    int one = 0;
    const int n = st_batch_worlds(self->batch);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:reset", names, &mask, &keyframe)) return NULL;
    if (is_given(keyframe) && PyIndex_Check(keyframe)) {
        if (!read_count(keyframe, "keyframe", &one)) return NULL;
        call.each = PyMem_Malloc((size_t)n * sizeof *call.each);
        if (call.each == NULL) return PyErr_NoMemory();
        for (int k = 0; k < n; k++)
            call.each[k] = one;
    } else if (!read_per_world(self, keyframe, "keyframe", &call.each)) {
        return NULL;
    }
    (void)read_mask(self, mask, &call.mask); /* run_call sees the exception */
    return none_of(run_call(self, &call));
}

static st_Status do_set_states(const Call *c, st_Error *err)
{
    return st_batch_set_states(c->batch, c->mask, c->t, c->q, c->v, err);
}

static PyObject *batch_set_states(BatchObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"q", "v", "time", "mask", NULL};
    PyObject *q = NULL, *v = NULL, *time = NULL, *mask = NULL;
    Call call = {.work = do_set_states};
    const int n = st_batch_worlds(self->batch);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|OO:set_states", names, &q, &v, &time, &mask)) return NULL;
    (void)(read_rows(q, "q", n, st_batch_width(self->batch, ST_BATCH_Q), &call.q) &&
           read_rows(v, "v", n, st_batch_width(self->batch, ST_BATCH_V), &call.v) &&
           (!is_given(time) || read_doubles(time, "time", n, &call.t, NULL)) && read_mask(self, mask, &call.mask));
    return none_of(run_call(self, &call));
}

static st_Status do_apply(const Call *c, st_Error *err)
{
    return st_batch_apply_parameters(c->batch, c->mask, err);
}

static PyObject *batch_apply_parameters(BatchObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"mask", NULL};
    PyObject *mask = NULL;
    Call call = {.work = do_apply};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:apply_parameters", names, &mask)) return NULL;
    (void)read_mask(self, mask, &call.mask);
    return none_of(run_call(self, &call));
}

static PyObject *batch_add_keyframe(BatchObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"q", "v", "time", NULL};
    PyObject *q = NULL, *v = NULL;
    double *q_new = NULL, *v_new = NULL, time = 0;
    int index = -1;
    st_Error err = {0};
    st_Status status = ST_OK;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|d:add_keyframe", names, &q, &v, &time)) return NULL;
    if (read_doubles(q, "q", st_batch_width(self->batch, ST_BATCH_Q), &q_new, NULL) &&
        read_doubles(v, "v", st_batch_width(self->batch, ST_BATCH_V), &v_new, NULL) && batch_free(self))
        status = st_batch_add_keyframe(self->batch, time, q_new, v_new, &index, &err);
    PyMem_Free(q_new);
    PyMem_Free(v_new);
    if (PyErr_Occurred()) return NULL;
    return status == ST_OK ? PyLong_FromLong(index) : raise_error(state_of((PyObject *)self), status, &err);
}

/* ---- arrays and reports --------------------------------------------------------------------------- */

/* A view that numpy can write to; numpy's own array where there is numpy. */
static PyObject *view_of(BatchObject *self, void *data, char kind, int n_dims, const Py_ssize_t *shape)
{
    PyObject *view = array_view_writable(state_of((PyObject *)self), (PyObject *)self, data, kind, n_dims, shape);
    PyObject *numpy = view != NULL ? PyImport_ImportModule("numpy") : NULL;
    if (numpy == NULL) {
        if (view != NULL && PyErr_ExceptionMatches(PyExc_ImportError)) PyErr_Clear();
        return view;
    }
    PyObject *array = PyObject_CallMethod(numpy, "asarray", "O", view);
    Py_DECREF(numpy);
    Py_DECREF(view);
    return array;
}

/* For getters, which take a pointer. */
static const st_BatchArray arrays[ST_N_BATCH_ARRAYS] = {ST_BATCH_TIME,     ST_BATCH_Q,          ST_BATCH_V,
                                                        ST_BATCH_CONTROLS, ST_BATCH_PARAMETERS, ST_BATCH_SENSORS};

static PyObject *array_getter(BatchObject *self, void *which)
{
    const st_BatchArray array = *(const st_BatchArray *)which;
    const Py_ssize_t shape[2] = {st_batch_worlds(self->batch), st_batch_width(self->batch, array)};
    return view_of(self, st_batch_array(self->batch, array), 'd', array == ST_BATCH_TIME ? 1 : 2, shape);
}

static PyObject *status_getter(BatchObject *self, void *Py_UNUSED(unused))
{
    const Py_ssize_t n = st_batch_worlds(self->batch);
    return array_view(state_of((PyObject *)self), (PyObject *)self, st_batch_status(self->batch), 'i', 1, &n, NULL);
}

static PyObject *names_of(BatchObject *self, const char *(*name)(const st_Batch *, int))
{
    Py_ssize_t n = 0;
    while (name(self->batch, (int)n) != NULL)
        n++;
    PyObject *names = PyTuple_New(n);
    for (Py_ssize_t k = 0; names != NULL && k < n; k++) {
        PyObject *text = PyUnicode_FromString(name(self->batch, (int)k));
        if (text == NULL || PyTuple_SetItem(names, k, text) != 0) Py_CLEAR(names);
    }
    return names;
}

static PyObject *control_names(BatchObject *self, void *Py_UNUSED(unused))
{
    return names_of(self, st_batch_control_name);
}

static PyObject *parameter_names(BatchObject *self, void *Py_UNUSED(unused))
{
    return names_of(self, st_batch_parameter_name);
}

static PyObject *sensor_names(BatchObject *self, void *Py_UNUSED(unused))
{
    return names_of(self, st_batch_sensor_name);
}

static PyObject *worlds_getter(BatchObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(st_batch_worlds(self->batch));
}

static PyObject *failures_getter(BatchObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(st_batch_failures(self->batch));
}

static PyObject *scene_getter(BatchObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef((PyObject *)self->scene);
}

static PyObject *settings_getter(BatchObject *self, void *Py_UNUSED(unused))
{
    return settings_dict(state_of((PyObject *)self), &self->def);
}

static bool read_world(const BatchObject *self, PyObject *object, int *out)
{
    if (!read_count(object, "world", out) || !batch_free(self)) return false;
    if (*out >= 0 && *out < st_batch_worlds(self->batch)) return true;
    PyErr_Format(PyExc_IndexError, "world is %d, must be 0 to %d", *out, st_batch_worlds(self->batch) - 1);
    return false;
}

static PyObject *batch_message(BatchObject *self, PyObject *world)
{
    int k;
    return read_world(self, world, &k) ? PyUnicode_FromString(st_batch_message(self->batch, k)) : NULL;
}

static PyObject *batch_info(BatchObject *self, PyObject *world)
{
    int k;
    StepRow row = {.steps = 1};
    if (!read_world(self, world, &k)) return NULL;
    (void)st_batch_info(self->batch, k, &row.last);
    row.worst_residual = row.last.solve.residual.natural;
    row.unconverged = !row.last.solve.converged;
    return row_new(state_of((PyObject *)self), ROW_STEP_INFO, &row);
}

static PyObject *batch_system(BatchObject *self, PyObject *world)
{
    int k;
    st_System *system = NULL;
    st_Error err = {0};
    const State *state = state_of((PyObject *)self);
    if (!read_world(self, world, &k)) return NULL;
    const st_Status status = st_system_clone(st_batch_system(self->batch, k), &system, &err);
    return status == ST_OK ? system_make(state, self->scene, &self->def, system) : raise_error(state, status, &err);
}

static st_Status do_sense(const Call *c, st_Error *err)
{
    return st_batch_read_sensors(c->batch, c->mask, err);
}

static PyObject *batch_read_sensors(BatchObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"mask", NULL};
    PyObject *mask = NULL;
    Call call = {.work = do_sense};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:read_sensors", names, &mask)) return NULL;
    (void)read_mask(self, mask, &call.mask);
    PyObject *done = none_of(run_call(self, &call));
    if (done == NULL) return NULL;
    Py_DECREF(done);
    return array_getter(self, (void *)&arrays[ST_BATCH_SENSORS]);
}

static PyObject *batch_repr(BatchObject *self)
{
    return PyUnicode_FromFormat("<stiction.Batch of %d worlds: %d coordinates, %d velocities, %d controls each>",
                                st_batch_worlds(self->batch), st_batch_width(self->batch, ST_BATCH_Q),
                                st_batch_width(self->batch, ST_BATCH_V),
                                st_batch_width(self->batch, ST_BATCH_CONTROLS));
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef batch_methods[] = {
    {"step", WITH_KEYWORDS(batch_step),
     "step($self, /, steps=1, mask=None)\n--\n\n"
     "Advance worlds by steps of the setting h: one integer, or one per world. mask: one bool per world.\nControls are "
     "read at the start. Returns the number of worlds that failed; the others continue."},
    {"reset", WITH_KEYWORDS(batch_reset),
     "reset($self, /, mask=None, keyframe=0)\n--\n\n"
     "Reset worlds to a keyframe, or each to its own; 0 is the state of the scene, bit for bit."},
    {"set_states", WITH_KEYWORDS(batch_set_states),
     "set_states($self, /, q, v, time=None, mask=None)\n--\n\n"
     "Set the states of worlds: worlds x n arrays; only rows of worlds in the mask are used. If one is refused, "
     "none\nchanges."},
    {"add_keyframe", WITH_KEYWORDS(batch_add_keyframe),
     "add_keyframe($self, /, q, v, time=0.0)\n--\n\nStore a state for resets; returns its number."},
    {"apply_parameters", WITH_KEYWORDS(batch_apply_parameters),
     "apply_parameters($self, /, mask=None)\n--\n\n"
     "Set the parameters of worlds to their rows of `parameters`; states stay. If one is refused, none changes."},
    {"read_sensors", WITH_KEYWORDS(batch_read_sensors),
     "read_sensors($self, /, mask=None)\n--\n\nReturn `sensors`, which is current after every call."},
    {"message", (PyCFunction)batch_message, METH_O,
     "message($self, world, /)\n--\n\nThe message of the step that failed in a world; '' if none failed."},
    {"info", (PyCFunction)batch_info, METH_O, "info($self, world, /)\n--\n\nA StepInfo of the last step of a world."},
    {"system", (PyCFunction)batch_system, METH_O,
     "system($self, world, /)\n--\n\nA new System in the state of a world, for reports and pictures."},
    {NULL, NULL, 0, NULL},
};

#define ARRAY(name, which, doc)                                                                                        \
    {                                                                                                                  \
        name, (getter)array_getter, NULL, doc, (void *)&arrays[which]                                                  \
    }

static PyGetSetDef batch_getters[] = {
    ARRAY("time", ST_BATCH_TIME, "Time of each world [s]."),
    ARRAY("q", ST_BATCH_Q, "Coordinates, worlds x n, as System.q. Steps and resets write them; set_states sets them."),
    ARRAY("v", ST_BATCH_V, "Velocities, worlds x n, as System.v."),
    ARRAY("controls", ST_BATCH_CONTROLS,
          "Controls, read by step: wanted values of motors, then forces; see control_names. NaN: the value in the "
          "scene."),
    ARRAY("parameters", ST_BATCH_PARAMETERS, "Parameters, read by apply_parameters; see parameter_names."),
    ARRAY("sensors", ST_BATCH_SENSORS, "Sensors, written by steps and resets; see sensor_names."),
    {"control_names", (getter)control_names, NULL, "Names of the columns of controls.", NULL},
    {"parameter_names", (getter)parameter_names, NULL, "Paths of the parameters.", NULL},
    {"sensor_names", (getter)sensor_names, NULL, "Names of the columns of sensors.", NULL},
    {"status", (getter)status_getter, NULL, "Status of each world: 0, or the status of the step that failed.", NULL},
    {"failures", (getter)failures_getter, NULL, "Number of worlds that failed in the last call.", NULL},
    {"worlds", (getter)worlds_getter, NULL, "Number of worlds.", NULL},
    {"scene", (getter)scene_getter, NULL, "The Scene of the batch.", NULL},
    {"settings", (getter)settings_getter, NULL, "Every setting, a dict.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char batch_doc[] =
    "Batch(scene, /, worlds, *, threads=1, parameters=(), reset_failed=False, **settings)\n--\n\n"
    "Many worlds of one scene, stepped together by several threads. Each has the same bits as a System that steps "
    "alone.\n\n"
    "time, q, v, controls, parameters and sensors are numpy arrays (without numpy: Arrays) over the memory of the "
    "batch,\nwith one row per world and without copies. parameters lists values of the scene that differ between "
    "worlds, by path:\n"
    "'bodies/*/mass', 'joints/knee/motor/stiffness'. If a step of a world fails, the world is not stepped until it is "
    "reset; with\nreset_failed it is reset at once. settings are those of System.";

static PyType_Slot batch_slots[] = {
    {Py_tp_doc, (void *)batch_doc},
    {Py_tp_new, (void *)batch_new},
    {Py_tp_dealloc, (void *)batch_dealloc},
    {Py_tp_repr, (void *)batch_repr},
    {Py_tp_methods, batch_methods},
    {Py_tp_getset, batch_getters},
    {0, NULL},
};

static PyType_Spec batch_spec = {"stiction.Batch", sizeof(BatchObject), 0, TYPE_FLAGS, batch_slots};

bool add_batch_type(PyObject *module, State *state)
{
    state->batch = (PyTypeObject *)PyType_FromModuleAndSpec(module, &batch_spec, NULL);
    return state->batch != NULL && PyModule_AddType(module, state->batch) == 0;
}
