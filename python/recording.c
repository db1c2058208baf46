/* recording.c -- stiction.Recording: a run that was written down, read back (docs/recording.md). */
#include "module.h"

#include <stdlib.h>
#include <string.h>

typedef struct RecordingObject {
    PyObject_HEAD st_Recording *recording; /* NULL: closed */
} RecordingObject;

/* Call it after all arguments are read: reading them may run Python, which may close the recording. */
static const st_RecordingInfo *use(const RecordingObject *self)
{
    if (self->recording != NULL) return st_recording_info(self->recording);
    PyErr_SetString(PyExc_ValueError, "the recording is closed");
    return NULL;
}

static void *raise_as(RecordingObject *self, st_Status status, const st_Error *err)
{
    return raise_error(state_of((PyObject *)self), status, err);
}

/* The object, or NULL if the library returned an error. */
static PyObject *filled(RecordingObject *self, PyObject *object, st_Status status, const st_Error *err)
{
    if (status == ST_OK) return object;
    Py_XDECREF(object);
    return raise_as(self, status, err);
}

static PyObject *recording_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    PyObject *path = NULL;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&:Recording", names, PyUnicode_FSConverter, &path)) return NULL;
    RecordingObject *self = PyObject_New(RecordingObject, type);
    if (self != NULL) {
        self->recording = NULL;
        st_Status status = st_recording_open(PyBytes_AsString(path), &self->recording, &err);
        if (status != ST_OK) {
            Py_CLEAR(self);
            raise_error(PyType_GetModuleState(type), status, &err);
        }
    }
    Py_DECREF(path);
    return (PyObject *)self;
}

static void recording_dealloc(RecordingObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_recording_close(self->recording);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *recording_close(RecordingObject *self, PyObject *Py_UNUSED(unused))
{
    st_recording_close(self->recording);
    self->recording = NULL;
    return Py_NewRef(Py_None);
}

static PyObject *recording_enter(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return Py_NewRef(self);
}

static PyObject *recording_exit(RecordingObject *self, PyObject *Py_UNUSED(args))
{
    return recording_close(self, NULL);
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

/* frames[frame], counting from the end where it is negative; None: the last. */
static const st_RecordingInfo *read_frame(RecordingObject *self, PyObject *object, int64_t *out)
{
    Py_ssize_t frame = -1;
    if (object != NULL && object != Py_None) frame = PyNumber_AsSsize_t(object, PyExc_IndexError);
    const st_RecordingInfo *info = PyErr_Occurred() ? NULL : use(self);
    if (info == NULL) return NULL;
    *out = frame < 0 ? frame + info->n_frames : frame;
    if (*out >= 0 && *out < info->n_frames) return info;
    PyErr_Format(PyExc_IndexError, "frame %zd is outside a recording of %lld", frame, (long long)info->n_frames);
    return NULL;
}

static PyObject *recording_steps(RecordingObject *self, PyObject *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    st_Error err = {0};
    void *rows;
    PyObject *table =
        info != NULL ? table_new(state_of((PyObject *)self), ROW_RECORDED_STEP, info->n_steps, &rows) : NULL;
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_steps(self->recording, 0, info->n_steps, rows, &err), &err);
}

static PyObject *recording_frames(RecordingObject *self, PyObject *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    st_Error err = {0};
    void *rows;
    PyObject *table =
        info != NULL ? table_new(state_of((PyObject *)self), ROW_RECORDED_FRAME, info->n_frames, &rows) : NULL;
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_frames(self->recording, 0, info->n_frames, rows, &err), &err);
}

static PyObject *recording_events(RecordingObject *self, PyObject *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    st_Error err = {0};
    void *rows;
    PyObject *table =
        info != NULL ? table_new(state_of((PyObject *)self), ROW_RECORDED_EVENT, info->n_events, &rows) : NULL;
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_events(self->recording, 0, info->n_events, rows, &err), &err);
}

static PyObject *recording_checkpoints(RecordingObject *self, PyObject *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    st_Error err = {0};
    void *rows;
    PyObject *table =
        info != NULL ? table_new(state_of((PyObject *)self), ROW_CHECKPOINT, info->n_checkpoints, &rows) : NULL;
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_checkpoints(self->recording, 0, info->n_checkpoints, rows, &err), &err);
}

static PyObject *recording_contacts(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"frame", NULL};
    PyObject *which = NULL;
    int64_t frame;
    st_RecordedFrame row;
    st_Error err = {0};
    void *rows;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:contacts", names, &which) ||
        read_frame(self, which, &frame) == NULL)
        return NULL;
    st_Status status = st_recording_frames(self->recording, frame, 1, &row, &err);
    if (status != ST_OK) return raise_as(self, status, &err);
    PyObject *table = table_new(state_of((PyObject *)self), ROW_RECORDED_CONTACT, row.n_contacts, &rows);
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_contacts(self->recording, row.first_contact, row.n_contacts, rows, &err),
                  &err);
}

static PyObject *recording_joints(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"frame", NULL};
    PyObject *which = NULL;
    int64_t frame;
    st_Error err = {0};
    void *rows;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:joints", names, &which)) return NULL;
    const st_RecordingInfo *info = read_frame(self, which, &frame);
    PyObject *table =
        info != NULL ? table_new(state_of((PyObject *)self), ROW_RECORDED_JOINT, info->n_joints, &rows) : NULL;
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_joints(self->recording, frame, rows, &err), &err);
}

static PyObject *recording_springs(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"frame", NULL};
    PyObject *which = NULL;
    int64_t frame;
    st_Error err = {0};
    void *rows;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:springs", names, &which)) return NULL;
    const st_RecordingInfo *info = read_frame(self, which, &frame);
    PyObject *table =
        info != NULL ? table_new(state_of((PyObject *)self), ROW_RECORDED_SPRING, info->n_springs, &rows) : NULL;
    if (table == NULL) return NULL;
    return filled(self, table, st_recording_springs(self->recording, frame, rows, &err), &err);
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

/* One frame, n_bodies x 7 or x 6. */
static bool read_bodies(RecordingObject *self, int64_t frame, bool velocities, st_Vec3 *scratch, double *out)
{
    const int n = st_recording_info(self->recording)->n_bodies;
    st_Vec3 *first = scratch, *second = scratch + n;
    st_Quat *turned = (st_Quat *)(scratch + 2 * (size_t)n);
    st_Error err = {0};
    st_Status status = velocities ? st_recording_bodies(self->recording, frame, NULL, NULL, first, second, &err)
                                  : st_recording_bodies(self->recording, frame, first, turned, NULL, NULL, &err);
    if (status != ST_OK) raise_as(self, status, &err);
    for (int k = 0; status == ST_OK && k < n; k++) {
        memcpy(out + (velocities ? 6 : 7) * k, &first[k], sizeof first[k]);
        if (velocities)
            memcpy(out + 6 * k + 3, &second[k], sizeof second[k]);
        else
            memcpy(out + 7 * k + 3, &turned[k], sizeof turned[k]);
    }
    return status == ST_OK;
}

/* Of one frame, or of all where none is named. */
static PyObject *motion(RecordingObject *self, PyObject *which, bool velocities)
{
    const bool all = which == NULL || which == Py_None;
    int64_t first = 0;
    double *data;
    const st_RecordingInfo *info = all ? use(self) : read_frame(self, which, &first);
    if (info == NULL) return NULL;
    const Py_ssize_t width = velocities ? 6 : 7, shape[3] = {info->n_frames, info->n_bodies, width};
    PyObject *array = all ? array_new(state_of((PyObject *)self), 3, shape, &data)
                          : array_new(state_of((PyObject *)self), 2, shape + 1, &data);
    st_Vec3 *scratch = PyMem_Calloc((size_t)info->n_bodies + 1, 2 * sizeof(st_Vec3) + sizeof(st_Quat));
    bool ok = array != NULL && scratch != NULL;
    if (scratch == NULL) PyErr_NoMemory();
    for (int64_t k = 0; ok && k < (all ? info->n_frames : 1); k++)
        ok = read_bodies(self, first + k, velocities, scratch, data + k * info->n_bodies * width);
    PyMem_Free(scratch);
    if (!ok) Py_CLEAR(array);
    return array;
}

static PyObject *recording_poses(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"frame", NULL};
    PyObject *which = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:poses", names, &which)) return NULL;
    return motion(self, which, false);
}

static PyObject *recording_velocities(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"frame", NULL};
    PyObject *which = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:velocities", names, &which)) return NULL;
    return motion(self, which, true);
}

/* ---- going on ------------------------------------------------------------------------------------------------------
 */

static PyObject *recording_scene(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"overrides", NULL};
    PyObject *overrides = NULL, *sets, *text = NULL, *label = NULL, *scene = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:scene", names, &overrides)) return NULL;
    sets = sets_list(overrides);
    const st_RecordingInfo *info = sets != NULL ? use(self) : NULL;
    bool ok = info != NULL && info->text[0] != '\0';
    if (info != NULL && !ok) PyErr_SetString(PyExc_ValueError, "the run was recorded without the text of its scene");
    for (int k = ok ? info->n_sets - 1 : -1; ok && k >= 0; k--) { /* before the new ones */
        PyObject *set = PyBytes_FromString(info->sets[k]);
        ok = set != NULL && PyList_Insert(sets, 0, set) == 0;
        Py_XDECREF(set);
    }
    if (ok) text = PyBytes_FromString(info->text);
    if (text != NULL) label = PyBytes_FromString(info->label[0] != '\0' ? info->label : "scene");
    if (label != NULL) scene = scene_parse(state_of((PyObject *)self), text, label, sets);
    Py_XDECREF(label);
    Py_XDECREF(text);
    Py_XDECREF(sets);
    return scene;
}

static PyObject *recording_restore(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"system", "checkpoint", NULL};
    const State *state = state_of((PyObject *)self);
    PyObject *object;
    Py_ssize_t which = -1;
    st_RecordedCheckpoint checkpoint;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|n:restore", names, state->system, &object, &which))
        return NULL;
    const st_RecordingInfo *info = use(self);
    if (info == NULL) return NULL;
    SystemObject *system = (SystemObject *)object;
    int64_t row = which < 0 ? which + info->n_checkpoints : which;
    if (row < 0 || row >= info->n_checkpoints)
        return PyErr_Format(PyExc_IndexError, "checkpoint %zd is outside a recording of %lld", which,
                            (long long)info->n_checkpoints);
    if (!system_free(system)) return NULL;
    if (system->recorder != NULL)
        return PyErr_Format(PyExc_ValueError, "a system cannot be restored while it is recorded");
    st_Status status = st_recording_checkpoints(self->recording, row, 1, &checkpoint, &err);
    if (status == ST_OK) status = st_recording_restore(self->recording, &checkpoint, system->system, &err);
    if (status != ST_OK) return raise_error(state, status, &err);
    return Py_NewRef(Py_None);
}

/* ---- tables and pictures
 * --------------------------------------------------------------------------------------------- */

static PyObject *write_with(RecordingObject *self, PyObject *path,
                            st_Status (*write)(st_Recording *, const char *, st_Error *))
{
    PyObject *file = NULL;
    st_Error err = {0};
    if (!PyUnicode_FSConverter(path, &file)) return NULL;
    if (use(self) != NULL) {
        st_Status status = write(self->recording, PyBytes_AsString(file), &err);
        if (status != ST_OK) raise_as(self, status, &err);
    }
    Py_DECREF(file);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *recording_write_csv(RecordingObject *self, PyObject *path)
{
    return write_with(self, path, st_recording_write_csv);
}

static PyObject *recording_write_vtk(RecordingObject *self, PyObject *folder)
{
    return write_with(self, folder, st_recording_write_vtk);
}

static PyObject *recording_curves(RecordingObject *self, PyObject *Py_UNUSED(unused))
{
    if (use(self) == NULL) return NULL;
    char *text = st_recording_curve_names(self->recording);
    PyObject *names = text != NULL ? PyUnicode_FromString(text) : PyErr_NoMemory();
    free(text);
    return names;
}

/* The names of curves, borrowed from a list of str; PyMem_Free it. */
static const char **curve_array(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    const char **curves = PyMem_Calloc((size_t)n + 1, sizeof *curves);
    if (curves == NULL) PyErr_NoMemory();
    for (Py_ssize_t k = 0; curves != NULL && k < n; k++) {
        curves[k] = text_of(PyList_GetItem(list, k), "a curve");
        if (curves[k] != NULL) continue;
        PyMem_Free(curves);
        curves = NULL;
    }
    return curves;
}

static PyObject *recording_plot(RecordingObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "curves", "over", NULL};
    PyObject *path, *curves, *file = NULL, *list = NULL;
    const char *over = NULL, **array = NULL;
    st_Error err = {0};
    st_Status status = ST_OK;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|z:plot", names, &path, &curves, &over)) return NULL;
    list = PyUnicode_Check(curves) ? Py_BuildValue("[O]", curves) : PySequence_List(curves);
    if (list != NULL) array = curve_array(list);
    if (array != NULL && PyUnicode_FSConverter(path, &file) && use(self) != NULL) {
        status =
            st_recording_write_plot(self->recording, over, array, (int)PyList_Size(list), PyBytes_AsString(file), &err);
        if (status != ST_OK) raise_as(self, status, &err);
    }
    Py_XDECREF(file);
    PyMem_Free(array);
    Py_XDECREF(list);
    if (PyErr_Occurred()) return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *info_getter(RecordingObject *self, void *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    PyObject *sets = info != NULL ? PyTuple_New(info->n_sets) : NULL;
    for (int k = 0; sets != NULL && k < info->n_sets; k++) {
        PyObject *text = PyUnicode_FromString(info->sets[k]);
        if (text == NULL || PyTuple_SetItem(sets, k, text) != 0) Py_CLEAR(sets);
    }
    if (sets == NULL) return NULL;
    RecordingRow row = {*info, sets};
    PyObject *out = row_new(state_of((PyObject *)self), ROW_RECORDING_INFO, &row);
    Py_DECREF(sets);
    return out;
}

static PyObject *settings_getter(RecordingObject *self, void *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    return info != NULL ? json_value(info->choices) : NULL;
}

static PyObject *model_getter(RecordingObject *self, void *Py_UNUSED(unused))
{
    const st_RecordingInfo *info = use(self);
    return info != NULL ? json_value(info->model) : NULL;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef recording_methods[] = {
    {"steps", (PyCFunction)recording_steps, METH_NOARGS,
     "steps($self, /)\n--\n\nAll steps; the first row is the start: a Table of RecordedStep."},
    {"frames", (PyCFunction)recording_frames, METH_NOARGS,
     "frames($self, /)\n--\n\nAll frames, in which poses and contacts were stored: a Table of RecordedFrame."},
    {"poses", WITH_KEYWORDS(recording_poses),
     "poses($self, /, frame=None)\n--\n\n"
     "Poses of all bodies in a frame: an Array, n x 7, position and orientation w x y z. None: all frames, F x n x 7."},
    {"velocities", WITH_KEYWORDS(recording_velocities),
     "velocities($self, /, frame=None)\n--\n\nVelocities of all bodies in a frame: an Array, n x 6, linear in world "
     "axes, spin in body axes. None: all frames."},
    {"contacts", WITH_KEYWORDS(recording_contacts),
     "contacts($self, /, frame=None)\n--\n\nContacts in a frame, None: the last one. A Table of RecordedContact."},
    {"joints", WITH_KEYWORDS(recording_joints),
     "joints($self, /, frame=None)\n--\n\nJoints in a frame, None: the last one. A Table of RecordedJoint."},
    {"springs", WITH_KEYWORDS(recording_springs),
     "springs($self, /, frame=None)\n--\n\nSprings in a frame, None: the last one. A Table of RecordedSpring."},
    {"events", (PyCFunction)recording_events, METH_NOARGS,
     "events($self, /)\n--\n\nEvents of the run: a Table of RecordedEvent."},
    {"checkpoints", (PyCFunction)recording_checkpoints, METH_NOARGS,
     "checkpoints($self, /)\n--\n\nStates from which a run can continue: a Table of Checkpoint."},
    {"scene", WITH_KEYWORDS(recording_scene),
     "scene($self, /, overrides=None)\n--\n\nThe Scene of the run, read again from its text."},
    {"restore", WITH_KEYWORDS(recording_restore),
     "restore($self, /, system, checkpoint=-1)\n--\n\n"
     "Restore the state of a checkpoint (by default the last) in a system of that scene, which then continues bit for "
     "bit."},
    {"write_csv", (PyCFunction)recording_write_csv, METH_O,
     "write_csv($self, path, /)\n--\n\nWrite the frames as a table."},
    {"write_vtk", (PyCFunction)recording_write_vtk, METH_O,
     "write_vtk($self, folder, /)\n--\n\nWrite files for ParaView."},
    {"curves", (PyCFunction)recording_curves, METH_NOARGS,
     "curves($self, /)\n--\n\nA text that lists the curves for plot."},
    {"plot", WITH_KEYWORDS(recording_plot),
     "plot($self, /, path, curves, over=None)\n--\n\nDraw curves as SVG, by name. over: the curve on the horizontal "
     "axis, by default the time."},
    {"close", (PyCFunction)recording_close, METH_NOARGS, "close($self, /)\n--\n\nClose the file."},
    {"__enter__", recording_enter, METH_NOARGS, "__enter__($self, /)\n--\n\nItself."},
    {"__exit__", (PyCFunction)recording_exit, METH_VARARGS, "__exit__($self, type, value, trace, /)\n--\n\nclose()"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recording_getters[] = {
    {"info", (getter)info_getter, NULL, "Contents of the recording: a RecordingInfo.", NULL},
    {"settings", (getter)settings_getter, NULL, "Every setting of the run, a dict.", NULL},
    {"model", (getter)model_getter, NULL, "Bodies, shapes, joints and springs with their names, for viewers: a dict.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char recording_doc[] =
    "Recording(path)\n--\n\n"
    "A run that was recorded by System.record or `stiction run -o FILE.h5`. Data that was read stays valid "
    "after\nclose(). A recording of a run that is not finished, or was killed, can be read, too.";

static PyType_Slot recording_slots[] = {
    {Py_tp_doc, (void *)recording_doc}, {Py_tp_new, (void *)recording_new}, {Py_tp_dealloc, (void *)recording_dealloc},
    {Py_tp_methods, recording_methods}, {Py_tp_getset, recording_getters},  {0, NULL},
};

static PyType_Spec recording_spec = {"stiction.Recording", sizeof(RecordingObject), 0, TYPE_FLAGS, recording_slots};

bool add_recording_type(PyObject *module, State *state)
{
    state->recording = (PyTypeObject *)PyType_FromModuleAndSpec(module, &recording_spec, NULL);
    return state->recording != NULL && PyModule_AddType(module, state->recording) == 0;
}
