/* table.c -- named tuples and stiction.Table, both from the fields of a C struct (table.h). */
#include "module.h"

#include <string.h>

typedef struct TableObject {
    PyObject_HEAD Row row;
    Py_ssize_t n, stride;
    char *data;
    char *format; /* PEP 3118 */
} TableObject;

/* ---- one row ---------------------------------------------------------------------------------------- */

/* The code of its numbers in buffers; 0: it has none. */
static char code_of(FieldKind kind)
{
    static const char codes[] = {
        [FIELD_DOUBLE] = 'd', [FIELD_INT] = 'i',   [FIELD_INT64] = 'q', [FIELD_UINT64] = 'Q', [FIELD_BOOL] = '?',
        [FIELD_TEXT] = 0,     [FIELD_CHARS] = 's', [FIELD_EVENT] = 'i', [FIELD_OBJECT] = 0};
    return codes[kind];
}

static PyObject *doubles_of(const char *at, size_t n)
{
    double x;
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (size_t k = 0; tuple != NULL && k < n; k++) {
        memcpy(&x, at + k * sizeof x, sizeof x);
        PyObject *number = PyFloat_FromDouble(x);
        if (number == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, (Py_ssize_t)k, number);
    }
    return tuple;
}

static PyObject *decoded(const char *text, size_t length)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
}

static PyObject *value_at(const Field *field, const void *data)
{
    const void *at = (const char *)data + field->offset;
    switch (field->kind) {
    case FIELD_DOUBLE:
        if (field->size > sizeof(double)) return doubles_of(at, field->size / sizeof(double));
        return PyFloat_FromDouble(*(const double *)at);
    case FIELD_INT:
        return PyLong_FromLong(*(const int *)at);
    case FIELD_INT64:
        return PyLong_FromLongLong(*(const int64_t *)at);
    case FIELD_UINT64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
    case FIELD_BOOL:
        return PyBool_FromLong(*(const bool *)at);
    case FIELD_CHARS:
        return decoded(at, strnlen(at, field->size));
    case FIELD_EVENT: {
        const char *word = st_event_kind_name(*(const st_EventKind *)at);
        return PyUnicode_FromString(word != NULL ? word : "");
    }
    case FIELD_TEXT: {
        const char *text = *(const char *const *)at;
        return text != NULL ? decoded(text, strlen(text)) : Py_NewRef(Py_None);
    }
    case FIELD_OBJECT:
    default: {
        PyObject *object = *(PyObject *const *)at;
        return Py_NewRef(object != NULL ? object : Py_None);
    }
    }
}

PyObject *row_new(const State *state, Row row, const void *data)
{
    const RowKind *kind = row_kind(row);
    PyObject *tuple = PyStructSequence_New(state->row[row]);
    for (int k = 0; tuple != NULL && k < kind->n_fields; k++) {
        PyObject *value = value_at(&kind->field[k], data);
        if (value == NULL)
            Py_CLEAR(tuple);
        else
            PyStructSequence_SetItem(tuple, k, value);
    }
    return tuple;
}

/* ---- making a table --------------------------------------------------------------------------------- */

/* "T{=d:time:(3)=d:point: ... 4x}": every byte of the struct is a number with a name, or skipped; = is for sizes of
 * their own, without alignment, and numpy requires it after the shape. */
static char *make_format(const RowKind *kind)
{
    const size_t room = 64 * (size_t)kind->n_fields + 64;
    char *format = PyMem_Malloc(room);
    size_t at = 0, used = 0;
    if (format == NULL) return NULL;
    used += (size_t)PyOS_snprintf(format, room, "T{");
    while (at < kind->size) { /* the field that comes next, in the order of the struct */
        const Field *next = NULL;
        for (int k = 0; k < kind->n_fields; k++) {
            const Field *f = &kind->field[k];
            if (code_of(f->kind) != 0 && f->offset >= at && (next == NULL || f->offset < next->offset)) next = f;
        }
        size_t gap = (next != NULL ? next->offset : kind->size) - at;
        if (gap > 0) used += (size_t)PyOS_snprintf(format + used, room - used, "%dx", (int)gap);
        at += gap;
        if (next == NULL) break;
        char code = code_of(next->kind);
        if (next->kind == FIELD_CHARS)
            used += (size_t)PyOS_snprintf(format + used, room - used, "=%ds:%s:", (int)next->size, next->name);
        else if (next->kind == FIELD_DOUBLE && next->size > sizeof(double))
            used += (size_t)PyOS_snprintf(format + used, room - used, "(%d)=d:%s:", (int)(next->size / sizeof(double)),
                                          next->name);
        else
            used += (size_t)PyOS_snprintf(format + used, room - used, "=%c:%s:", code, next->name);
        at += next->size;
    }
    PyOS_snprintf(format + used, room - used, "}");
    return format;
}

PyObject *table_new(const State *state, Row row, Py_ssize_t n, void **data)
{
    const RowKind *kind = row_kind(row);
    if (n < 0 || (size_t)n > (size_t)PY_SSIZE_T_MAX / kind->size - 1) return PyErr_NoMemory();
    TableObject *table = PyObject_New(TableObject, state->table);
    if (table == NULL) return NULL;
    table->row = row;
    table->n = n;
    table->stride = (Py_ssize_t)kind->size;
    table->format = make_format(kind);
    table->data = PyMem_Calloc((size_t)n + 1, kind->size);
    if (table->format == NULL || table->data == NULL) {
        Py_DECREF((PyObject *)table);
        return PyErr_NoMemory();
    }
    *data = table->data;
    return (PyObject *)table;
}

static void table_dealloc(TableObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyMem_Free(self->format);
    PyMem_Free(self->data);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* ---- using it ---------------------------------------------------------------------------------------- */

static Py_ssize_t table_length(TableObject *self)
{
    return self->n;
}

static PyObject *table_item(TableObject *self, Py_ssize_t k)
{
    if (k < 0 || k >= self->n) return PyErr_Format(PyExc_IndexError, "row %zd is outside a table of %zd", k, self->n);
    return row_new(state_of((PyObject *)self), self->row, self->data + k * self->stride);
}

static PyObject *table_rows(TableObject *self, PyObject *slice)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) != 0) return NULL;
    Py_ssize_t n = PySlice_AdjustIndices(self->n, &start, &stop, step);
    PyObject *list = PyList_New(n);
    for (Py_ssize_t k = 0; list != NULL && k < n; k++) {
        PyObject *item = table_item(self, start + k * step);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, k, item);
    }
    return list;
}

/* Numbers as an array over the table's memory, words as a list. */
static PyObject *column(TableObject *self, const Field *field)
{
    const char *at = self->data + field->offset;
    if (field->kind == FIELD_DOUBLE || field->kind == FIELD_INT || field->kind == FIELD_INT64 ||
        field->kind == FIELD_UINT64 || field->kind == FIELD_BOOL) {
        const bool is_vector = field->kind == FIELD_DOUBLE && field->size > sizeof(double);
        const Py_ssize_t shape[2] = {self->n, (Py_ssize_t)(field->size / sizeof(double))};
        const Py_ssize_t strides[2] = {self->stride, sizeof(double)};
        return array_view(state_of((PyObject *)self), (PyObject *)self, at, code_of(field->kind), is_vector ? 2 : 1,
                          shape, strides);
    }
    PyObject *list = PyList_New(self->n);
    for (Py_ssize_t k = 0; list != NULL && k < self->n; k++) {
        PyObject *value = value_at(field, self->data + k * self->stride);
        if (value == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, k, value);
    }
    return list;
}

static PyObject *table_subscript(TableObject *self, PyObject *key)
{
    const RowKind *kind = row_kind(self->row);
    if (PySlice_Check(key)) return table_rows(self, key);
    if (PyUnicode_Check(key)) {
        for (int k = 0; k < kind->n_fields; k++)
            if (PyUnicode_CompareWithASCIIString(key, kind->field[k].name) == 0) return column(self, &kind->field[k]);
        return PyErr_Format(PyExc_KeyError, "a table of %s has no column %R", kind->name, key);
    }
    Py_ssize_t k = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (k == -1 && PyErr_Occurred()) return NULL;
    return table_item(self, k < 0 ? k + self->n : k);
}

static PyObject *table_columns(TableObject *self, void *Py_UNUSED(unused))
{
    const RowKind *kind = row_kind(self->row);
    PyObject *names = PyTuple_New(kind->n_fields);
    for (int k = 0; names != NULL && k < kind->n_fields; k++) {
        PyObject *name = PyUnicode_FromString(kind->field[k].name);
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SetItem(names, k, name);
    }
    return names;
}

static PyObject *table_repr(TableObject *self)
{
    return PyUnicode_FromFormat("<stiction.Table of %zd %s>", self->n, row_kind(self->row)->name);
}

static int table_buffer(TableObject *self, Py_buffer *view, int flags)
{
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) != 0) {
        PyErr_SetString(PyExc_BufferError, "a stiction.Table is read-only: make a copy to change it");
        return -1;
    }
    view->buf = self->data;
    view->itemsize = self->stride;
    view->len = self->n * self->stride;
    view->readonly = 1;
    view->ndim = 1;
    view->format = (flags & PyBUF_FORMAT) != 0 ? self->format : NULL;
    view->shape = (flags & PyBUF_ND) != 0 ? &self->n : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->stride : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    view->obj = Py_NewRef((PyObject *)self);
    return 0;
}

static PyGetSetDef table_getters[] = {
    {"columns", (getter)table_columns, NULL, "The names of its columns, a tuple.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char table_doc[] =
    "Rows of a report, read-only.\n\n"
    "table[k] is a row, a named tuple; iteration yields rows. table[\"force\"] is a column: an Array over the memory "
    "of the\ntable, n x 3 for vectors, or a list of words. numpy.asarray(table) is a structured array of all columns "
    "that are\nnumbers, without a copy.";

static PyType_Slot table_slots[] = {
    {Py_tp_doc, (void *)table_doc},          {Py_tp_dealloc, (void *)table_dealloc},
    {Py_tp_repr, (void *)table_repr},        {Py_tp_getset, table_getters},
    {Py_sq_length, (void *)table_length},    {Py_sq_item, (void *)table_item},
    {Py_mp_length, (void *)table_length},    {Py_mp_subscript, (void *)table_subscript},
    {Py_bf_getbuffer, (void *)table_buffer}, {0, NULL},
};

static PyType_Spec table_spec = {"stiction.Table", sizeof(TableObject), 0,
                                 TYPE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION, table_slots};

/* ---- types of rows ----------------------------------------------------------------------------------- */

static PyTypeObject *row_type(const RowKind *kind)
{
    enum { MOST_FIELDS = 64 };
    PyStructSequence_Field fields[MOST_FIELDS + 1] = {0};
    char name[64];
    PyOS_snprintf(name, sizeof name, "stiction.%s", kind->name);
    for (int k = 0; k < kind->n_fields && k < MOST_FIELDS; k++)
        fields[k] = (PyStructSequence_Field){kind->field[k].name, kind->field[k].help};
    PyStructSequence_Desc desc = {name, kind->help, fields, kind->n_fields};
    return PyStructSequence_NewType(&desc);
}

bool add_table_types(PyObject *module, State *state)
{
    state->table = (PyTypeObject *)PyType_FromModuleAndSpec(module, &table_spec, NULL);
    bool ok = state->table != NULL && PyModule_AddType(module, state->table) == 0;
    for (int k = 0; ok && k < N_ROWS; k++) {
        const RowKind *kind = row_kind((Row)k);
        state->row[k] = row_type(kind);
        ok = state->row[k] != NULL && PyModule_AddObjectRef(module, kind->name, (PyObject *)state->row[k]) == 0;
    }
    return ok;
}
