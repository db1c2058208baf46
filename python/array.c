/* array.c -- stiction.Array: numbers that Python can read and numpy takes without a copy.
 *
 * Read-only on purpose. `system.q` is a copy of the state: were it writable, `system.q[2] = 1` would change the copy,
 * silently. So it is refused, and a new state is set as a whole: `system.q = numbers`. The arrays of a Batch are its
 * own memory, and can be written to.
 */
#include "module.h"

#include <string.h>

#define MOST_DIMS 3

typedef struct ArrayObject {
    PyObject_HEAD PyObject *owner; /* of the numbers; NULL: `memory` is                                   */
    void *memory;
    const char *data;
    bool writable; /* memory of the owner, which stays in place */
    char format[2];
    Py_ssize_t item_size;
    int n_dims;
    Py_ssize_t shape[MOST_DIMS], strides[MOST_DIMS];
} ArrayObject;

static Py_ssize_t size_of(char kind)
{
    switch (kind) {
    case 'd':
        return sizeof(double);
    case 'i':
        return sizeof(int);
    case '?':
        return sizeof(bool);
    case 'B':
        return 1;
    default:
        return sizeof(int64_t);
    }
}

static ArrayObject *make(const State *state, char kind, int n_dims, const Py_ssize_t *shape)
{
    ArrayObject *array = PyObject_New(ArrayObject, state->array);
    if (array == NULL) return NULL;
    array->owner = NULL;
    array->memory = NULL;
    array->data = NULL;
    array->writable = false;
    array->format[0] = kind;
    array->format[1] = '\0';
    array->item_size = size_of(kind);
    array->n_dims = n_dims;
    Py_ssize_t stride = array->item_size;
    for (int k = n_dims - 1; k >= 0; k--) {
        array->shape[k] = shape[k];
        array->strides[k] = stride;
        stride *= shape[k];
    }
    return array;
}

PyObject *array_new(const State *state, int n_dims, const Py_ssize_t *shape, double **data)
{
    size_t n = 1;
    for (int k = 0; k < n_dims; k++) {
        if (shape[k] > 0 && n > (size_t)PY_SSIZE_T_MAX / sizeof **data / (size_t)shape[k]) return PyErr_NoMemory();
        n *= (size_t)shape[k];
    }
    ArrayObject *array = make(state, 'd', n_dims, shape);
    if (array == NULL) return NULL;
    array->memory = PyMem_Calloc(n + 1, sizeof **data);
    array->data = array->memory;
    *data = array->memory;
    if (array->memory == NULL) {
        Py_DECREF((PyObject *)array);
        return PyErr_NoMemory();
    }
    return (PyObject *)array;
}

PyObject *array_bytes(const State *state, int n_dims, const Py_ssize_t *shape, unsigned char **data)
{
    size_t n = 1;
    for (int k = 0; k < n_dims; k++)
        n *= (size_t)shape[k];
    ArrayObject *array = make(state, 'B', n_dims, shape);
    if (array == NULL) return NULL;
    array->memory = *data = PyMem_Calloc(n + 1, 1);
    array->data = array->memory;
    if (array->memory != NULL) return (PyObject *)array;
    Py_DECREF((PyObject *)array);
    return PyErr_NoMemory();
}

PyObject *array_vector(const State *state, Py_ssize_t n, const double *values)
{
    double *data;
    if (values == NULL) return Py_NewRef(Py_None);
    PyObject *array = array_new(state, 1, &n, &data);
    if (array != NULL && n > 0) memcpy(data, values, (size_t)n * sizeof *data);
    return array;
}

PyObject *array_view(const State *state, PyObject *owner, const void *data, char kind, int n_dims,
                     const Py_ssize_t *shape, const Py_ssize_t *strides)
{
    ArrayObject *array = make(state, kind, n_dims, shape);
    if (array == NULL) return NULL;
    array->owner = Py_NewRef(owner);
    array->data = data != NULL ? data : "";
    if (strides != NULL) memcpy(array->strides, strides, (size_t)n_dims * sizeof *strides);
    return (PyObject *)array;
}

PyObject *array_view_writable(const State *state, PyObject *owner, void *data, char kind, int n_dims,
                              const Py_ssize_t *shape)
{
    ArrayObject *array = (ArrayObject *)array_view(state, owner, data, kind, n_dims, shape, NULL);
    if (array != NULL) array->writable = data != NULL;
    return (PyObject *)array;
}

static void array_dealloc(ArrayObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_XDECREF(self->owner);
    PyMem_Free(self->memory);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* ---- as a sequence -------------------------------------------------------------------------------- */

static PyObject *number_at(const ArrayObject *self, const char *at)
{
    double x;
    int i;
    int64_t q;
    switch (self->format[0]) {
    case 'd':
        memcpy(&x, at, sizeof x);
        return PyFloat_FromDouble(x);
    case 'i':
        memcpy(&i, at, sizeof i);
        return PyLong_FromLong(i);
    case 'B':
        return PyLong_FromLong(*(const unsigned char *)at);
    case '?':
        return PyBool_FromLong(*(const bool *)at);
    case 'q':
        memcpy(&q, at, sizeof q);
        return PyLong_FromLongLong(q);
    default:
        memcpy(&q, at, sizeof q);
        return PyLong_FromUnsignedLongLong((unsigned long long)q);
    }
}

static PyObject *nested_list(const ArrayObject *self, int dim, const char *at)
{
    if (dim == self->n_dims) return number_at(self, at);
    PyObject *list = PyList_New(self->shape[dim]);
    for (Py_ssize_t k = 0; list != NULL && k < self->shape[dim]; k++) {
        PyObject *item = nested_list(self, dim + 1, at + k * self->strides[dim]);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, k, item);
    }
    return list;
}

static Py_ssize_t array_length(ArrayObject *self)
{
    return self->shape[0];
}

static PyObject *array_item(ArrayObject *self, Py_ssize_t k)
{
    if (k < 0 || k >= self->shape[0]) {
        PyErr_Format(PyExc_IndexError, "index %zd is outside an array of %zd", k, self->shape[0]);
        return NULL;
    }
    const char *at = self->data + k * self->strides[0];
    if (self->n_dims == 1) return number_at(self, at);
    return array_view(state_of((PyObject *)self), (PyObject *)self, at, self->format[0], self->n_dims - 1,
                      self->shape + 1, self->strides + 1);
}

static PyObject *array_slice(ArrayObject *self, PyObject *slice)
{
    Py_ssize_t start, stop, step, shape[MOST_DIMS], strides[MOST_DIMS];
    if (PySlice_Unpack(slice, &start, &stop, &step) != 0) return NULL;
    memcpy(shape, self->shape, sizeof shape);
    memcpy(strides, self->strides, sizeof strides);
    shape[0] = PySlice_AdjustIndices(self->shape[0], &start, &stop, step);
    strides[0] = shape[0] > 0 ? step * self->strides[0] : self->strides[0];
    return array_view(state_of((PyObject *)self), (PyObject *)self,
                      shape[0] > 0 ? self->data + start * self->strides[0] : self->data, self->format[0], self->n_dims,
                      shape, strides);
}

static PyObject *array_subscript(ArrayObject *self, PyObject *key)
{
    if (PySlice_Check(key)) return array_slice(self, key);
    Py_ssize_t k = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (k == -1 && PyErr_Occurred()) return NULL;
    return array_item(self, k < 0 ? k + self->shape[0] : k);
}

static PyObject *array_tolist(ArrayObject *self, PyObject *Py_UNUSED(unused))
{
    return nested_list(self, 0, self->data);
}

static PyObject *array_shape(ArrayObject *self, void *Py_UNUSED(unused))
{
    PyObject *shape = PyTuple_New(self->n_dims);
    for (int k = 0; shape != NULL && k < self->n_dims; k++) {
        PyObject *length = PyLong_FromSsize_t(self->shape[k]);
        if (length == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SetItem(shape, k, length);
    }
    return shape;
}

static PyObject *array_repr(ArrayObject *self)
{
    Py_ssize_t n = 1;
    for (int k = 0; k < self->n_dims; k++)
        n *= self->shape[k];
    PyObject *content = n <= 200 ? array_tolist(self, NULL) : array_shape(self, NULL), *text = NULL;
    if (content != NULL)
        text = PyUnicode_FromFormat(n <= 200 ? "stiction.Array(%R)" : "<stiction.Array of %R>", content);
    Py_XDECREF(content);
    return text;
}

/* ---- as a buffer ---------------------------------------------------------------------------------- */

static bool is_contiguous(const ArrayObject *self)
{
    Py_ssize_t stride = self->item_size;
    for (int k = self->n_dims - 1; k >= 0; k--) {
        if (self->strides[k] != stride && self->shape[k] > 1) return false;
        stride *= self->shape[k];
    }
    return true;
}

static int array_buffer(ArrayObject *self, Py_buffer *view, int flags)
{
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) != 0 && !self->writable) {
        PyErr_SetString(PyExc_BufferError, "a stiction.Array is read-only: make a copy to change it");
        return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !is_contiguous(self)) {
        PyErr_SetString(PyExc_BufferError, "this stiction.Array has strides");
        return -1;
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && self->n_dims > 1) {
        PyErr_SetString(PyExc_BufferError, "a stiction.Array is in C order");
        return -1;
    }
    const int contiguous[3] = {PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, PyBUF_ANY_CONTIGUOUS};
    for (int k = 0; k < 3; k++)
        if ((flags & contiguous[k]) == contiguous[k] && !is_contiguous(self)) {
            PyErr_SetString(PyExc_BufferError, "this stiction.Array is not contiguous");
            return -1;
        }
    view->buf = (void *)self->data;
    view->itemsize = self->item_size;
    view->len = self->item_size;
    for (int k = 0; k < self->n_dims; k++)
        view->len *= self->shape[k];
    view->readonly = !self->writable;
    view->ndim = (flags & PyBUF_ND) != 0 ? self->n_dims : 1;
    view->format = (flags & PyBUF_FORMAT) != 0 ? self->format : NULL;
    view->shape = (flags & PyBUF_ND) != 0 ? self->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    view->obj = Py_NewRef((PyObject *)self);
    return 0;
}

static PyMethodDef array_methods[] = {
    {"tolist", (PyCFunction)array_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe numbers as a list; for several dimensions, a list of lists."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_getters[] = {
    {"shape", (getter)array_shape, NULL, "Its dimensions, a tuple.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char array_doc[] =
    "Numbers in one, two or three dimensions. Only the arrays of a Batch can be written.\n\n"
    "numpy.asarray(array) and memoryview(array) need no copy. Without numpy it is a\nsequence: len(array), array[k], "
    "iteration, tolist().";

static PyType_Slot array_slots[] = {
    {Py_tp_doc, (void *)array_doc},
    {Py_tp_dealloc, (void *)array_dealloc},
    {Py_tp_repr, (void *)array_repr},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getters},
    {Py_sq_length, (void *)array_length},
    {Py_sq_item, (void *)array_item},
    {Py_mp_length, (void *)array_length},
    {Py_mp_subscript, (void *)array_subscript},
    {Py_bf_getbuffer, (void *)array_buffer},
    {0, NULL},
};

static PyType_Spec array_spec = {"stiction.Array", sizeof(ArrayObject), 0,
                                 TYPE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};

bool add_array_type(PyObject *module, State *state)
{
    state->array = (PyTypeObject *)PyType_FromModuleAndSpec(module, &array_spec, NULL);
    return state->array != NULL && PyModule_AddType(module, state->array) == 0;
}
