/* state.c -- System: its state in and out, and control between two steps. */
#include "system.h"

#include <math.h>
#include <string.h>

/* ---- bodies ---------------------------------------------------------------------------------------------- */

PyObject *system_pose(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    st_Pose pose;
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    st_Status status = st_system_pose(self->system, id, &pose);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, NULL);
    return row_new(state_of((PyObject *)self), ROW_POSE, &pose);
}

PyObject *system_velocity(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    VelocityRow row;
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    st_Status status = st_system_velocity(self->system, id, &row.linear, &row.spin);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, NULL);
    return row_new(state_of((PyObject *)self), ROW_VELOCITY, &row);
}

PyObject *system_poses(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    double *data;
    const Py_ssize_t shape[2] = {st_scene_body_count(self->scene->scene), 7};
    PyObject *array = system_free(self) ? array_new(state_of((PyObject *)self), 2, shape, &data) : NULL;
    for (int k = 0; array != NULL && k < shape[0]; k++) {
        st_Pose pose;
        if (st_system_pose(self->system, (st_BodyId){k + 1}, &pose) != ST_OK) continue;
        const double numbers[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        memcpy(data + 7 * k, numbers, sizeof numbers);
    }
    return array;
}

PyObject *system_velocities(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    double *data;
    const Py_ssize_t shape[2] = {st_scene_body_count(self->scene->scene), 6};
    PyObject *array = system_free(self) ? array_new(state_of((PyObject *)self), 2, shape, &data) : NULL;
    for (int k = 0; array != NULL && k < shape[0]; k++) {
        st_Vec3 v, w;
        if (st_system_velocity(self->system, (st_BodyId){k + 1}, &v, &w) != ST_OK) continue;
        const double numbers[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
        memcpy(data + 6 * k, numbers, sizeof numbers);
    }
    return array;
}

/* ---- the whole state -------------------------------------------------------------------------------------- */

PyObject *time_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    return system_free(self) ? PyFloat_FromDouble(st_system_time(self->system)) : NULL;
}

PyObject *q_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    double *q;
    if (!system_free(self)) return NULL;
    const Py_ssize_t n = st_system_n_q(self->system);
    PyObject *array = array_new(state_of((PyObject *)self), 1, &n, &q);
    if (array != NULL) st_system_state(self->system, q, NULL);
    return array;
}

PyObject *v_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    double *v;
    if (!system_free(self)) return NULL;
    const Py_ssize_t n = st_system_n_v(self->system);
    PyObject *array = array_new(state_of((PyObject *)self), 1, &n, &v);
    if (array != NULL) st_system_state(self->system, NULL, v);
    return array;
}

static bool is_given(PyObject *object)
{
    return object != NULL && object != Py_None;
}

static bool has_length(const char *what, const double *numbers, Py_ssize_t n, int expected)
{
    if (numbers == NULL || n == expected) return true;
    PyErr_Format(PyExc_ValueError, "%s has %zd numbers, must have %d", what, n, expected);
    return false;
}

/* NULL: unchanged. No Python code runs from here on. */
static bool put_state(SystemObject *self, double t, const double *q, const double *v)
{
    st_Error err = {0};
    const size_t n_q = (size_t)st_system_n_q(self->system), n_v = (size_t)st_system_n_v(self->system);
    double *now = PyMem_Malloc((n_q + n_v) * sizeof *now + 1);
    if (now == NULL) {
        PyErr_NoMemory();
        return false;
    }
    st_system_state(self->system, now, now + n_q);
    st_Status status = st_system_set_state(self->system, t, q != NULL ? q : now, v != NULL ? v : now + n_q, &err);
    if (status != ST_OK) raise_error(state_of((PyObject *)self), status, &err);
    PyMem_Free(now);
    return status == ST_OK;
}

static bool set_state(SystemObject *self, PyObject *time, PyObject *q, PyObject *v)
{
    double *q_new = NULL, *v_new = NULL, t = NAN;
    Py_ssize_t n_q = 0, n_v = 0;
    bool ok = (!is_given(q) || read_doubles(q, "q", -1, &q_new, &n_q)) &&
              (!is_given(v) || read_doubles(v, "v", -1, &v_new, &n_v)) && read_optional(time, "time", &t);
    ok = ok && system_free(self) && has_length("q", q_new, n_q, st_system_n_q(self->system)) &&
         has_length("v", v_new, n_v, st_system_n_v(self->system));
    if (ok && !is_given(time)) t = st_system_time(self->system);
    if (ok && self->recorder != NULL && t != st_system_time(self->system)) {
        PyErr_SetString(PyExc_ValueError, "the time of a system cannot be set while it is recorded");
        ok = false;
    }
    ok = ok && put_state(self, t, q_new, v_new);
    PyMem_Free(q_new);
    PyMem_Free(v_new);
    return ok;
}

static int set_member(SystemObject *self, const char *name, PyObject *value, PyObject *time, PyObject *q, PyObject *v)
{
    if (value == NULL || value == Py_None) {
        PyErr_Format(PyExc_TypeError, "%s cannot be %s", name, value == NULL ? "deleted" : "None");
        return -1;
    }
    return set_state(self, time, q, v) ? 0 : -1;
}

int time_setter(SystemObject *self, PyObject *value, void *Py_UNUSED(unused))
{
    return set_member(self, "time", value, value, NULL, NULL);
}

int q_setter(SystemObject *self, PyObject *value, void *Py_UNUSED(unused))
{
    return set_member(self, "q", value, NULL, value, NULL);
}

int v_setter(SystemObject *self, PyObject *value, void *Py_UNUSED(unused))
{
    return set_member(self, "v", value, NULL, NULL, value);
}

PyObject *controls_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    double *values;
    st_Error err = {0};
    if (!system_free(self)) return NULL;
    const Py_ssize_t n = st_system_control_count(self->system);
    PyObject *array = array_new(state_of((PyObject *)self), 1, &n, &values);
    if (array != NULL) st_system_controls(self->system, values, (int)n, &err); /* n is right: it cannot fail */
    return array;
}

int controls_setter(SystemObject *self, PyObject *value, void *Py_UNUSED(unused))
{
    double *values;
    Py_ssize_t length;
    st_Error err = {0};
    if (value == NULL) return PyErr_SetString(PyExc_AttributeError, "controls cannot be deleted"), -1;
    if (!system_free(self)) return -1;
    const Py_ssize_t n = st_system_control_count(self->system);
    if (!read_doubles(value, "controls", n, &values, &length)) return -1;
    const st_Status status = st_system_set_controls(self->system, values, (int)n, &err);
    PyMem_Free(values);
    if (status != ST_OK) raise_error(state_of((PyObject *)self), status, &err);
    return status == ST_OK ? 0 : -1;
}

PyObject *control_names_getter(SystemObject *self, void *Py_UNUSED(unused))
{
    if (!system_free(self)) return NULL;
    const int n = st_system_control_count(self->system);
    PyObject *names = PyTuple_New(n);
    for (int k = 0; k < n && names != NULL; k++) {
        char name[400];
        st_system_control_name(self->system, k, name, sizeof name);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        if (text == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SetItem(names, k, text);
    }
    return names;
}

PyObject *system_set_state(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"time", "q", "v", NULL};
    PyObject *time = NULL, *q = NULL, *v = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOO:set_state", names, &time, &q, &v)) return NULL;
    if (!set_state(self, time, q, v)) return NULL;
    return Py_NewRef(Py_None);
}

PyObject *system_save(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    if (!system_free(self)) return NULL;
    size_t size = st_system_save(self->system, NULL, 0);
    char *state = PyMem_Malloc(size + 1);
    if (state == NULL) return PyErr_NoMemory();
    size = st_system_save(self->system, state, size);
    PyObject *bytes = PyBytes_FromStringAndSize(state, (Py_ssize_t)size);
    PyMem_Free(state);
    return bytes;
}

PyObject *system_restore(SystemObject *self, PyObject *state)
{
    st_Error err = {0};
    Py_buffer view;
    if (PyObject_GetBuffer(state, &view, PyBUF_SIMPLE) != 0) return NULL;
    if (self->recorder != NULL)
        PyErr_SetString(PyExc_ValueError, "a system cannot be restored while it is recorded: close the recorder first");
    if (self->recorder != NULL || !system_free(self)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    st_Status status = st_system_restore(self->system, view.buf, (size_t)view.len, &err);
    PyBuffer_Release(&view);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return Py_NewRef(Py_None);
}

PyObject *system_hash(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    return system_free(self) ? PyLong_FromUnsignedLongLong(st_system_hash(self->system)) : NULL;
}

/* ---- control ------------------------------------------------------------------------------------------------ */

/* The return value of a call without a result. */
static PyObject *done(SystemObject *self, st_Status status, const st_Error *err)
{
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, err);
    return Py_NewRef(Py_None);
}

PyObject *system_set_parameter(SystemObject *self, PyObject *args)
{
    const char *path;
    double value;
    st_Error err = {0};
    if (!PyArg_ParseTuple(args, "sd:set_parameter", &path, &value)) return NULL;
    return done(self, st_system_set_parameter(self->system, path, value, &err), &err);
}

PyObject *system_parameter(SystemObject *self, PyObject *path)
{
    const char *text = PyUnicode_AsUTF8AndSize(path, NULL);
    double value = 0;
    st_Error err = {0};
    if (text == NULL) return NULL;
    const st_Status status = st_system_parameter(self->system, text, &value, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return PyFloat_FromDouble(value);
}

PyObject *system_set_motor(SystemObject *self, PyObject *args)
{
    PyObject *joint, *value;
    st_JointId id;
    double wanted = NAN; /* None: the value in the scene */
    st_Error err = {0};
    if (!PyArg_ParseTuple(args, "OO:set_motor", &joint, &value)) return NULL;
    if (!joint_id(self->scene, joint, &id) || !read_optional(value, "wanted", &wanted) || !system_free(self))
        return NULL;
    if (value != Py_None && isnan(wanted)) /* NaN means "as in the scene" in the library; here it is an error */
        return PyErr_Format(PyExc_ValueError, "wanted is nan, must be a number, or None for the value in the scene");
    return done(self, st_system_set_motor(self->system, id, wanted, &err), &err);
}

PyObject *system_set_keyframe(SystemObject *self, PyObject *keyframe)
{
    st_Error err = {0};
    int number = 0;
    if (PyUnicode_Check(keyframe)) {
        const char *name = PyUnicode_AsUTF8AndSize(keyframe, NULL);
        if (name == NULL) return NULL;
        number = st_scene_find_keyframe(self->scene->scene, name);
        if (number == 0) return PyErr_Format(PyExc_KeyError, "the scene has no keyframe \"%s\"", name);
    } else {
        const long value = PyLong_AsLong(keyframe);
        if (value == -1 && PyErr_Occurred() != NULL) return NULL;
        number = value > 0 && value < 1000000000 ? (int)value : 0;
    }
    if (!system_free(self)) return NULL;
    return done(self, st_system_set_keyframe(self->system, number, &err), &err);
}

PyObject *system_set_force(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"force", "value", "torque", NULL};
    PyObject *which, *force = Py_None, *torque = Py_None;
    st_ForceId id;
    st_Vec3 f, m;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:set_force", names, &which, &force, &torque)) return NULL;
    if (!force_id(self->scene, which, &id) || (force != Py_None && !read_vec3(force, "value", &f)) ||
        (torque != Py_None && !read_vec3(torque, "torque", &m)) || !system_free(self))
        return NULL;
    return done(
        self, st_system_set_force(self->system, id, force != Py_None ? &f : NULL, torque != Py_None ? &m : NULL, &err),
        &err);
}

/* Two vectors of a body, by name; None: not given. */
typedef struct Pair {
    st_BodyId body;
    st_Vec3 first, second;
    const st_Vec3 *one, *two; /* NULL: not given                                                   */
} Pair;

static bool read_pair(SystemObject *self, PyObject *args, PyObject *keywords, const char *format, char *names[4],
                      Pair *pair)
{
    PyObject *which, *first = Py_None, *second = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &which, &first, &second)) return false;
    pair->one = first != Py_None ? &pair->first : NULL;
    pair->two = second != Py_None ? &pair->second : NULL;
    return body_id(self->scene, which, &pair->body) &&
           (pair->one == NULL || read_vec3(first, names[1], &pair->first)) &&
           (pair->two == NULL || read_vec3(second, names[2], &pair->second)) && system_free(self);
}

PyObject *system_push(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", "force", "torque", NULL};
    st_Error err = {0};
    Pair pair;
    if (!read_pair(self, args, keywords, "O|OO:push", names, &pair)) return NULL;
    return done(self, st_system_push(self->system, pair.body, pair.one, pair.two, &err), &err);
}

PyObject *system_set_velocity(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", "linear", "spin", NULL};
    st_Error err = {0};
    Pair pair;
    if (!read_pair(self, args, keywords, "O|OO:set_velocity", names, &pair)) return NULL;
    return done(self, st_system_set_velocity(self->system, pair.body, pair.one, pair.two, &err), &err);
}

PyObject *system_set_pose(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", "position", "orientation", NULL};
    PyObject *which, *position = Py_None, *orientation = Py_None;
    double *q = NULL;
    Py_ssize_t n = 0;
    st_Error err = {0};
    st_BodyId id;
    st_Vec3 p;
    st_Pose pose;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:set_pose", names, &which, &position, &orientation))
        return NULL;
    if (!body_id(self->scene, which, &id) || (position != Py_None && !read_vec3(position, "position", &p)) ||
        (orientation != Py_None && !read_doubles(orientation, "orientation", 4, &q, &n)))
        return NULL;
    PyObject *result = NULL;
    if (system_free(self)) {
        st_Status status = st_system_pose(self->system, id, &pose);
        if (position != Py_None) pose.p = p;
        if (q != NULL) pose.q = (st_Quat){q[0], q[1], q[2], q[3]};
        if (status == ST_OK) status = st_system_set_pose(self->system, id, &pose, &err);
        result = done(self, status, &err);
    }
    PyMem_Free(q);
    return result;
}

PyObject *system_remove_body(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    st_Error err = {0};
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    return done(self, st_system_remove_body(self->system, id, &err), &err);
}

PyObject *system_insert_body(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", "position", "orientation", "linear", "spin", NULL};
    PyObject *which, *position, *orientation = Py_None, *linear = Py_None, *spin = Py_None;
    double *q = NULL;
    Py_ssize_t n = 0;
    st_Error err = {0};
    st_BodyId id;
    st_Vec3 v = {0, 0, 0}, w = {0, 0, 0};
    st_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|OOO:insert_body", names, &which, &position, &orientation,
                                     &linear, &spin))
        return NULL;
    if (!body_id(self->scene, which, &id) || !read_vec3(position, "position", &pose.p) ||
        (linear != Py_None && !read_vec3(linear, "linear", &v)) || (spin != Py_None && !read_vec3(spin, "spin", &w)) ||
        (orientation != Py_None && !read_doubles(orientation, "orientation", 4, &q, &n)))
        return NULL;
    if (q != NULL) pose.q = (st_Quat){q[0], q[1], q[2], q[3]};
    PyMem_Free(q);
    if (!system_free(self)) return NULL;
    return done(self, st_system_insert_body(self->system, id, &pose, &v, &w, &err), &err);
}

PyObject *system_asleep(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    return PyBool_FromLong(st_system_asleep(self->system, id));
}

PyObject *system_present(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    return PyBool_FromLong(st_system_present(self->system, id));
}

static PyObject *measure_of(SystemObject *self, int index, const st_MeasureDef *def)
{
    double values[ST_MEASURE_VALUES];
    st_Error err = {0};
    const char *name;
    const st_Status status = st_system_measure(self->system, index, values, NULL, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    PyObject *all = PyDict_New();
    for (int k = 0; all != NULL && (name = st_measure_value_name(def->type, k, NULL)) != NULL; k++) {
        PyObject *value = PyFloat_FromDouble(values[k]);
        if (value == NULL || PyDict_SetItemString(all, name, value) < 0) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

PyObject *system_measures(SystemObject *self, PyObject *unused)
{
    (void)unused;
    if (!system_free(self)) return NULL;
    PyObject *all = PyDict_New();
    st_MeasureDef def;
    for (int k = 0; all != NULL && st_scene_measure(self->scene->scene, k, &def) == ST_OK; k++) {
        PyObject *one = measure_of(self, k, &def);
        if (one == NULL || PyDict_SetItemString(all, def.name, one) < 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

PyObject *system_wake(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    st_Error err = {0};
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    return done(self, st_system_wake(self->system, id, &err), &err);
}
