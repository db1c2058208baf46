/* convert.c -- numbers and texts from Python. */
#include "module.h"

#include <string.h>

/* ---- arrays: buffers of doubles are copied as they are, all else is taken number by number --------------------- */

/* Is a buffer made of this C type? Formats may begin with a byte order: ours is the native one. */
static bool has_format(const Py_buffer *view, const char *codes, size_t size)
{
    const char *format = view->format != NULL ? view->format : "B";
    const int one = 1;
    const char little = *(const char *)&one == 1 ? '<' : '>';
    if (*format == '@' || *format == '=' || *format == little) format++;
    return format[0] != '\0' && format[1] == '\0' && strchr(codes, format[0]) != NULL &&
           view->itemsize == (Py_ssize_t)size;
}

static bool is_length(Py_ssize_t found, Py_ssize_t n, const char *what)
{
    if (n < 0 || found == n) return true;
    PyErr_Format(PyExc_ValueError, "%s has %zd numbers, must have %zd", what, found, n);
    return false;
}

/* 1: taken, 0: not a buffer of this kind, -1: an exception is set. */
static int copy_buffer(PyObject *object, const char *what, const char *codes, size_t size, Py_ssize_t n, void **out,
                       Py_ssize_t *length)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear(); /* no such view of it: number by number, then */
        return 0;
    }
    int taken = has_format(&view, codes, size) ? 1 : 0;
    if (view.format != NULL && strchr(view.format, 'Z') != NULL) { /* number by number, numpy would drop a part */
        PyErr_Format(PyExc_TypeError, "%s is complex, must be real", what);
        taken = -1;
    }
    if (taken == 1) {
        *length = view.len / view.itemsize;
        *out = NULL;
        if (!is_length(*length, n, what)) {
            taken = -1;
        } else if ((*out = PyMem_Malloc((size_t)view.len + 1)) == NULL) {
            PyErr_NoMemory();
            taken = -1;
        } else if (PyBuffer_ToContiguous(*out, &view, view.len, 'C') != 0) {
            PyMem_Free(*out);
            taken = -1;
        }
    }
    PyBuffer_Release(&view);
    return taken;
}

/* The letter of a buffer of plain numbers, in the machine's own byte order; 0: it is none. */
static char letter_of(const Py_buffer *view)
{
    static const char letters[] = "fdbhilqnBHILQN";
    for (int k = 0; letters[k] != '\0'; k++) {
        const char one[2] = {letters[k], '\0'};
        if (has_format(view, one, (size_t)view->itemsize)) return letters[k];
    }
    return '\0';
}

/* One number of the type given by the letter and the size. */
static double number_at(const char *at, char letter, Py_ssize_t size)
{
    const bool is_signed = strchr("bhilqn", letter) != NULL;
    float single;
    double whole;
    int64_t number = 0;
    uint64_t bits = 0;
    if (letter == 'f') return memcpy(&single, at, sizeof single), (double)single;
    if (letter == 'd') return memcpy(&whole, at, sizeof whole), whole;
    for (Py_ssize_t k = size; k-- > 0;) { /* the highest byte first */
        const int one = 1;
        const unsigned char byte = (unsigned char)at[*(const char *)&one == 1 ? k : size - 1 - k];
        bits = bits << 8 | byte;
    }
    if (!is_signed) return (double)bits;
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    number = (int64_t)((bits ^ sign) - sign);
    return (double)number;
}

int read_buffer(PyObject *object, const char *what, Py_ssize_t n, double **out, Py_ssize_t *length)
{
    Py_buffer view;
    *out = NULL;
    if (!PyObject_CheckBuffer(object) || PyBytes_Check(object)) return 0; /* bytes are text, as good as */
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear();
        return 0;
    }
    const char letter = view.format != NULL && view.itemsize > 0 && view.itemsize <= 8 ? letter_of(&view) : '\0';
    int taken = letter != '\0' ? 1 : 0;
    char *bytes = NULL;
    if (taken == 1) {
        *length = view.len / view.itemsize;
        const bool fits = is_length(*length, n, what);
        if (fits) bytes = PyMem_Malloc((size_t)view.len + 1);
        if (bytes != NULL) *out = PyMem_Malloc((size_t)*length * sizeof **out + 1);
        if (fits && *out == NULL) PyErr_NoMemory();
        if (*out == NULL || PyBuffer_ToContiguous(bytes, &view, view.len, 'C') != 0) taken = -1;
    }
    for (Py_ssize_t k = 0; taken == 1 && k < *length; k++)
        (*out)[k] = number_at(bytes + k * view.itemsize, letter, view.itemsize);
    PyMem_Free(bytes);
    if (taken == -1) {
        PyMem_Free(*out);
        *out = NULL;
    }
    PyBuffer_Release(&view);
    return taken;
}

/* A copy as a list: `object` may change while its numbers are read. */
static PyObject *list_of(PyObject *object, const char *what, Py_ssize_t n)
{
    PyObject *list = NULL;
    if (!PyUnicode_Check(object) && !PyBytes_Check(object)) list = PySequence_List(object);
    if (list == NULL) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be a sequence of numbers, not %R", what, Py_TYPE(object));
        return NULL;
    }
    if (!is_length(PyList_Size(list), n, what)) Py_CLEAR(list);
    return list;
}

/* One number of a list into its place. */
typedef bool Take(PyObject *list, Py_ssize_t k, const char *what, void *numbers);

static bool take_double(PyObject *list, Py_ssize_t k, const char *what, void *numbers)
{
    PyObject *item = PyList_GetItem(list, k);
    if (item == NULL) return false;
    double value = PyFloat_AsDouble(item);
    ((double *)numbers)[k] = value;
    if (value != -1 || !PyErr_Occurred()) return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s[%zd] must be a number, not %R", what, k, Py_TYPE(item));
    return false;
}

static bool take_int(PyObject *list, Py_ssize_t k, const char *what, void *numbers)
{
    PyObject *item = PyList_GetItem(list, k);
    if (item == NULL) return false;
    PyObject *index = PyNumber_Index(item);
    long long value = index != NULL ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    ((int64_t *)numbers)[k] = value;
    if (value != -1 || !PyErr_Occurred()) return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s[%zd] must be an integer, not %R", what, k, Py_TYPE(item));
    return false;
}

/* Of 8 bytes each, whatever they are. */
static void *read_array(PyObject *object, const char *what, const char *codes, Take *take, Py_ssize_t n,
                        Py_ssize_t *length)
{
    Py_ssize_t unused;
    void *numbers = NULL;
    if (length == NULL) length = &unused;
    int taken = copy_buffer(object, what, codes, 8, n, &numbers, length);
    if (taken != 0) return taken == 1 ? numbers : NULL;
    PyObject *list = list_of(object, what, n);
    if (list == NULL) return NULL;
    *length = PyList_Size(list);
    numbers = PyMem_Malloc((size_t)*length * 8 + 1);
    if (numbers == NULL) PyErr_NoMemory();
    bool ok = numbers != NULL;
    for (Py_ssize_t k = 0; ok && k < *length; k++)
        ok = take(list, k, what, numbers);
    Py_DECREF(list);
    if (!ok) {
        PyMem_Free(numbers);
        numbers = NULL;
    }
    return numbers;
}

bool read_doubles(PyObject *object, const char *what, Py_ssize_t n, double **out, Py_ssize_t *length)
{
    *out = read_array(object, what, "d", take_double, n, length);
    return *out != NULL;
}

bool read_ints(PyObject *object, const char *what, Py_ssize_t n, int64_t **out, Py_ssize_t *length)
{
    *out = read_array(object, what, "lq", take_int, n, length);
    return *out != NULL;
}

/* ---- a few numbers ------------------------------------------------------------------------------ */

bool read_numbers(PyObject *object, const char *what, int n, double *out)
{
    double *numbers;
    if (!read_doubles(object, what, n, &numbers, NULL)) return false;
    memcpy(out, numbers, (size_t)n * sizeof *out);
    PyMem_Free(numbers);
    return true;
}

bool read_vec3(PyObject *object, const char *what, st_Vec3 *out)
{
    double numbers[3];
    if (!read_numbers(object, what, 3, numbers)) return false;
    *out = (st_Vec3){numbers[0], numbers[1], numbers[2]};
    return true;
}

bool read_optional(PyObject *object, const char *what, double *out)
{
    if (object == NULL || object == Py_None) return true;
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", what, Py_TYPE(object));
        return false;
    }
    *out = value;
    return true;
}

PyObject *vec3_tuple(st_Vec3 v)
{
    return Py_BuildValue("(ddd)", v.x, v.y, v.z);
}

/* ---- texts ---------------------------------------------------------------------------------------- */

const char *text_of(PyObject *object, const char *what)
{
    Py_ssize_t length;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", what, Py_TYPE(object));
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text != NULL && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s has a zero character in it", what);
        return NULL;
    }
    return text;
}

PyObject *json_value(const char *text)
{
    if (text == NULL) return PyErr_NoMemory();
    PyObject *copy = PyUnicode_FromString(text); /* an import runs Python, which may free the text */
    PyObject *json = copy != NULL ? PyImport_ImportModule("json") : NULL;
    PyObject *value = json != NULL ? PyObject_CallMethod(json, "loads", "O", copy) : NULL;
    Py_XDECREF(json);
    Py_XDECREF(copy);
    return value;
}

/* json.dumps calls this for types that it does not know. */
static PyObject *plain(PyObject *Py_UNUSED(module), PyObject *value)
{
    PyObject *list = PyObject_CallMethod(value, "tolist", NULL);
    if (list != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return list;
    return PyErr_Format(PyExc_TypeError,
                        "%R cannot be part of a scene: must be a dict, a list, a str, a number, a bool or None",
                        Py_TYPE(value));
}

static PyMethodDef plain_method = {"plain", plain, METH_O, NULL};

PyObject *json_text(PyObject *value)
{
    PyObject *json = PyImport_ImportModule("json"), *dumps = NULL, *hook = NULL, *options = NULL, *args = NULL,
             *text = NULL, *bytes = NULL;
    if (json != NULL) dumps = PyObject_GetAttrString(json, "dumps");
    if (dumps != NULL) hook = PyCFunction_New(&plain_method, NULL);
    if (hook != NULL) options = Py_BuildValue("{s:O}", "default", hook);
    if (options != NULL) args = PyTuple_Pack(1, value);
    if (args != NULL) text = PyObject_Call(dumps, args, options);
    if (text != NULL) bytes = PyUnicode_AsUTF8String(text);
    Py_XDECREF(text);
    Py_XDECREF(args);
    Py_XDECREF(options);
    Py_XDECREF(hook);
    Py_XDECREF(dumps);
    Py_XDECREF(json);
    return bytes;
}
