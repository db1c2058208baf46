/* sparse.c -- matrices from whatever Python has, compressed by column.
 *
 *     scipy.sparse        anything with tocoo()
 *     (data, (i, j))      triplets, as scipy's coo_array takes them; numbers at the same place are added
 *     (data, i, p)        compressed by column, as csc_array takes it: column j has data[p[j]:p[j+1]] in rows
 * i[p[j]:p[j+1]] anything else       dense: an n x m buffer, or a list of rows; zeros are left out
 *
 * All of them become triplets, and those the matrix.
 */
#include "module.h"

#include <limits.h>
#include <string.h>

typedef struct Triplets {
    Py_ssize_t n;
    double *x;
    int64_t *i, *j;
} Triplets;

static void free_triplets(Triplets *t)
{
    PyMem_Free(t->x);
    PyMem_Free(t->i);
    PyMem_Free(t->j);
}

static bool is_within(const Triplets *t, const char *what, int n_rows, int n_cols)
{
    for (Py_ssize_t k = 0; k < t->n; k++)
        if (t->i[k] < 0 || t->i[k] >= n_rows || t->j[k] < 0 || t->j[k] >= n_cols) {
            PyErr_Format(PyExc_ValueError, "%s has an entry at (%lld, %lld), must be %d x %d", what, (long long)t->i[k],
                         (long long)t->j[k], n_rows, n_cols);
            return false;
        }
    return true;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static bool read_triplets(PyObject *data, PyObject *i, PyObject *j, const char *what, Triplets *out)
{
    return read_doubles(data, what, -1, &out->x, &out->n) && read_ints(i, what, out->n, &out->i, NULL) &&
           read_ints(j, what, out->n, &out->j, NULL);
}

static bool read_coo(PyObject *object, const char *what, int n_rows, int n_cols, Triplets *out)
{
    PyObject *coo = PyObject_CallMethod(object, "tocoo", NULL), *x = NULL, *i = NULL, *j = NULL, *shape = NULL;
    long rows = -1, cols = -1;
    if (coo != NULL) shape = PyObject_GetAttrString(coo, "shape");
    bool ok = shape != NULL && PyTuple_Check(shape) && PyArg_ParseTuple(shape, "ll", &rows, &cols);
    if (ok && (rows != n_rows || cols != n_cols)) {
        PyErr_Format(PyExc_ValueError, "%s is %ld x %ld, must be %d x %d", what, rows, cols, n_rows, n_cols);
        ok = false;
    }
    if (ok) x = PyObject_GetAttrString(coo, "data");
    if (x != NULL) i = PyObject_GetAttrString(coo, "row");
    if (i != NULL) j = PyObject_GetAttrString(coo, "col");
    ok = j != NULL && read_triplets(x, i, j, what, out);
    if (!ok && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: tocoo() gave no matrix", what);
    Py_XDECREF(j);
    Py_XDECREF(i);
    Py_XDECREF(x);
    Py_XDECREF(shape);
    Py_XDECREF(coo);
    return ok;
}

/* The column of every entry from where the columns start. */
static bool read_columns(PyObject *data, PyObject *i, PyObject *starts, const char *what, int n_cols, Triplets *out)
{
    int64_t *p;
    if (!read_doubles(data, what, -1, &out->x, &out->n) || !read_ints(i, what, out->n, &out->i, NULL) ||
        !read_ints(starts, what, (Py_ssize_t)n_cols + 1, &p, NULL))
        return false;
    out->j = PyMem_Malloc((size_t)out->n * sizeof *out->j + 1);
    bool ok = out->j != NULL && p[0] == 0 && p[n_cols] == out->n;
    for (int j = 0; ok && j < n_cols; j++)
        ok = p[j] <= p[j + 1] && p[j + 1] <= out->n;
    if (out->j == NULL)
        PyErr_NoMemory();
    else if (!ok)
        PyErr_Format(PyExc_ValueError, "%s: starts of columns must not decrease, from 0 to the number of entries, %zd",
                     what, out->n);
    for (int j = 0; ok && j < n_cols; j++)
        for (int64_t k = p[j]; k < p[j + 1]; k++)
            out->j[k] = j;
    PyMem_Free(p);
    return ok;
}

static bool read_rows(PyObject *object, const char *what, int n_rows, int n_cols, double *full)
{
    PyObject *rows = PySequence_List(object);
    bool ok = rows != NULL && PyList_Size(rows) == n_rows;
    if (rows != NULL && !ok)
        PyErr_Format(PyExc_ValueError, "%s has %zd rows, must have %d", what, PyList_Size(rows), n_rows);
    for (int i = 0; ok && i < n_rows; i++) {
        double *row;
        ok = read_doubles(PyList_GetItem(rows, i), what, n_cols, &row, NULL);
        if (!ok) break;
        memcpy(full + (size_t)i * (size_t)n_cols, row, (size_t)n_cols * sizeof *row);
        PyMem_Free(row);
    }
    Py_XDECREF(rows);
    return ok;
}

/* 1: a buffer of doubles in this shape; 0: something else; -1: in another shape. A flat one of n_rows n_cols numbers
 * would do, too, but is more likely a mistake.                                                               */
static int is_full_buffer(PyObject *object, const char *what, int n_rows, int n_cols)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear();
        return 0;
    }
    int result = view.ndim == 2 && view.format != NULL && strcmp(view.format, "d") == 0;
    if (result == 1 && (view.shape[0] != n_rows || view.shape[1] != n_cols)) {
        PyErr_Format(PyExc_ValueError, "%s is %zd x %zd, must be %d x %d", what, view.shape[0], view.shape[1], n_rows,
                     n_cols);
        result = -1;
    }
    PyBuffer_Release(&view);
    return result;
}

static bool read_dense(PyObject *object, const char *what, int n_rows, int n_cols, Triplets *out)
{
    const size_t n = (size_t)n_rows * (size_t)n_cols;
    double *full = NULL;
    const int buffer = is_full_buffer(object, what, n_rows, n_cols);
    bool ok = false;
    if (buffer == 1) {
        ok = read_doubles(object, what, (Py_ssize_t)n, &full, NULL);
    } else if (buffer == 0) {
        full = PyMem_Calloc(n + 1, sizeof *full);
        if (full == NULL) PyErr_NoMemory();
        ok = full != NULL && read_rows(object, what, n_rows, n_cols, full);
    }
    for (size_t k = 0; ok && k < n; k++)
        out->n += full[k] != 0; /* a NaN stays, and is refused later */
    out->x = ok ? PyMem_Malloc((size_t)out->n * sizeof *out->x + 1) : NULL;
    out->i = ok ? PyMem_Malloc((size_t)out->n * sizeof *out->i + 1) : NULL;
    out->j = ok ? PyMem_Malloc((size_t)out->n * sizeof *out->j + 1) : NULL;
    if (ok && (out->x == NULL || out->i == NULL || out->j == NULL)) {
        PyErr_NoMemory();
        ok = false;
    }
    Py_ssize_t at = 0;
    for (size_t k = 0; ok && k < n; k++) {
        if (full[k] == 0) continue;
        out->x[at] = full[k];
        out->i[at] = (int64_t)(k / (size_t)n_cols);
        out->j[at++] = (int64_t)(k % (size_t)n_cols);
    }
    PyMem_Free(full);
    return ok;
}

static bool read_any(PyObject *object, const char *what, int n_rows, int n_cols, Triplets *out)
{
    if (PyObject_HasAttrString(object, "tocoo")) return read_coo(object, what, n_rows, n_cols, out);
    if (!PyTuple_Check(object)) return read_dense(object, what, n_rows, n_cols, out);
    PyObject *where = PyTuple_Size(object) == 2 ? PyTuple_GetItem(object, 1) : NULL;
    if (PyTuple_Size(object) == 3)
        return read_columns(PyTuple_GetItem(object, 0), PyTuple_GetItem(object, 1), PyTuple_GetItem(object, 2), what,
                            n_cols, out);
    if (where != NULL && PyTuple_Check(where) && PyTuple_Size(where) == 2)
        return read_triplets(PyTuple_GetItem(object, 0), PyTuple_GetItem(where, 0), PyTuple_GetItem(where, 1), what,
                             out);
    PyErr_Format(PyExc_TypeError,
                 "%s: a tuple must be (data, (i, j)) or (data, i, p); rows of a dense matrix come in a list", what);
    return false;
}

/* ---- compressing ------------------------------------------------------------------------------------------------- */

/* Counting sort, by row and then, stably, by column: entries of one place are side by side. */
static bool sort_by(const int64_t *key, int n_keys, const Py_ssize_t *order, Py_ssize_t n, Py_ssize_t *out)
{
    Py_ssize_t *start = PyMem_Calloc((size_t)n_keys + 2, sizeof *start);
    if (start == NULL) return false;
    for (Py_ssize_t k = 0; k < n; k++)
        start[key[k] + 1]++;
    for (int j = 0; j < n_keys; j++)
        start[j + 1] += start[j];
    for (Py_ssize_t k = 0; k < n; k++)
        out[start[key[order[k]]]++] = order[k];
    PyMem_Free(start);
    return true;
}

static bool compress(const Triplets *t, int n_rows, int n_cols, st_Sparse *out)
{
    Py_ssize_t *given = PyMem_Malloc((size_t)t->n * sizeof *given + 1),
               *rows = PyMem_Malloc((size_t)t->n * sizeof *rows + 1),
               *order = PyMem_Malloc((size_t)t->n * sizeof *order + 1);
    int64_t *p = PyMem_Calloc((size_t)n_cols + 1, sizeof *p);
    int *i = PyMem_Malloc((size_t)t->n * sizeof *i + 1);
    double *x = PyMem_Malloc((size_t)t->n * sizeof *x + 1);
    bool ok = given != NULL && rows != NULL && order != NULL && p != NULL && i != NULL && x != NULL;
    for (Py_ssize_t k = 0; ok && k < t->n; k++)
        given[k] = k;
    ok = ok && sort_by(t->i, n_rows, given, t->n, rows) && sort_by(t->j, n_cols, rows, t->n, order);
    int64_t at = 0;
    for (Py_ssize_t k = 0; ok && k < t->n; k++) {
        const Py_ssize_t from = order[k];
        const int64_t column = t->j[from];
        if (k > 0 && t->j[order[k - 1]] == column && t->i[order[k - 1]] == t->i[from]) {
            x[at - 1] += t->x[from];
            continue;
        }
        i[at] = (int)t->i[from];
        x[at++] = t->x[from];
        p[column + 1] = at;
    }
    for (int j = 0; ok && j < n_cols; j++)
        if (p[j + 1] < p[j]) p[j + 1] = p[j]; /* an empty column */
    PyMem_Free(given);
    PyMem_Free(rows);
    PyMem_Free(order);
    *out = (st_Sparse){n_rows, n_cols, p, i, x};
    if (!ok) {
        sparse_free(out);
        PyErr_NoMemory();
    }
    return ok;
}

bool sparse_read(PyObject *object, const char *what, int n_rows, int n_cols, st_Sparse *out)
{
    Triplets t = {0};
    *out = (st_Sparse){0};
    bool ok = read_any(object, what, n_rows, n_cols, &t) && is_within(&t, what, n_rows, n_cols) &&
              compress(&t, n_rows, n_cols, out);
    free_triplets(&t);
    return ok;
}

void sparse_free(st_Sparse *matrix)
{
    PyMem_Free((void *)matrix->p);
    PyMem_Free((void *)matrix->i);
    PyMem_Free((void *)matrix->x);
    *matrix = (st_Sparse){0};
}

PyObject *sparse_tuple(const State *state, PyObject *owner, const st_Sparse *matrix)
{
    if (matrix->p == NULL) return Py_NewRef(Py_None);
    const Py_ssize_t n = (Py_ssize_t)matrix->p[matrix->n_cols], columns = (Py_ssize_t)matrix->n_cols + 1;
    PyObject *x = array_view(state, owner, matrix->x, 'd', 1, &n, NULL),
             *i = array_view(state, owner, matrix->i, 'i', 1, &n, NULL),
             *p = array_view(state, owner, matrix->p, 'q', 1, &columns, NULL), *tuple = NULL;
    if (x != NULL && i != NULL && p != NULL) tuple = PyTuple_Pack(3, x, i, p);
    Py_XDECREF(x);
    Py_XDECREF(i);
    Py_XDECREF(p);
    return tuple;
}
