/* render.c -- System.render: a picture as an array, without a screen. */
#include "system.h"

/* A dict of eye, target, up and angle, or None. */
static bool read_camera(PyObject *object, st_Camera *camera)
{
    static const char *const names[] = {"eye", "target", "up", "angle"};
    st_Vec3 *const vectors[] = {&camera->eye, &camera->target, &camera->up};
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (object == NULL || object == Py_None) return true;
    if (!PyDict_Check(object)) {
        PyErr_Format(PyExc_TypeError, "camera must be a dict or None, not %R", Py_TYPE(object));
        return false;
    }
    while (PyDict_Next(object, &at, &key, &value)) {
        int k = 0;
        while (k < 4 && !(PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, names[k]) == 0))
            k++;
        if (k == 4) {
            PyErr_Format(PyExc_ValueError, "camera has %R, must have eye, target, up or angle", key);
            return false;
        }
        if (!(k < 3 ? read_vec3(value, names[k], vectors[k]) : read_optional(value, names[k], &camera->angle)))
            return false;
    }
    const bool eye = PyDict_GetItemString(object, "eye") != NULL,
               target = PyDict_GetItemString(object, "target") != NULL;
    if (eye == target) return true;
    PyErr_SetString(PyExc_ValueError, "camera must have both eye and target, or neither");
    return false;
}

PyObject *system_render(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"width", "height", "camera", NULL};
    int width = 640, height = 480;
    PyObject *object = NULL;
    unsigned char *rgb = NULL;
    st_Camera camera = st_camera();
    st_Error err = {0};
    const State *state = state_of((PyObject *)self);
    const st_Vec3 g = self->def.gravity;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|iiO:render", names, &width, &height, &object)) return NULL;
    if (g.x != 0 || g.y != 0 || g.z != 0) camera.up = (st_Vec3){-g.x, -g.y, -g.z};
    if (!read_camera(object, &camera) || !system_free(self)) return NULL;
    if (width < 1 || height < 1 || width > 8192 || height > 8192)
        return PyErr_Format(PyExc_ValueError, "a picture of %d x %d, each must be 16 to 8192", width, height);
    const Py_ssize_t shape[3] = {height, width, 3};
    PyObject *array = array_bytes(state, 3, shape, &rgb);
    if (array == NULL) return NULL;
    Away away;
    self->busy = true;
    away_begin(&away);
    const st_Status status = st_render(self->scene->scene, self->system, &camera, width, height, rgb, &err);
    away_end(&away);
    self->busy = false;
    if (status == ST_OK) return array;
    Py_DECREF(array);
    return raise_error(state, status, &err);
}
