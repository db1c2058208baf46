/* lcp.c -- stiction.LcpProblem: linear complementarity problems by pivoting (<stiction/problem.h>). */
#include "module.h"

#include <limits.h>
#include <string.h>

typedef struct LcpObject {
    PyObject_HEAD st_LcpProblem problem;
    st_ProblemFile *file; /* the owner of the arrays; NULL: this object */
} LcpObject;

static LcpObject *make(const State *state)
{
    LcpObject *self = PyObject_New(LcpObject, state->lcp);
    if (self == NULL) return NULL;
    self->problem = (st_LcpProblem){0};
    self->file = NULL;
    return self;
}

PyObject *lcp_from_file(const State *state, st_ProblemFile *file)
{
    LcpObject *self = make(state);
    if (self == NULL) {
        st_problem_file_destroy(file);
        return NULL;
    }
    self->file = file;
    self->problem = file->lcp;
    return (PyObject *)self;
}

static void lcp_dealloc(LcpObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    if (self->file == NULL) {
        sparse_free(&self->problem.M);
        PyMem_Free((void *)self->problem.q);
        PyMem_Free((void *)self->problem.free);
    }
    st_problem_file_destroy(self->file);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static bool read_flags(PyObject *object, int n, const bool **out)
{
    double *numbers;
    if (!read_doubles(object, "free", n, &numbers, NULL)) return false;
    bool *flags = PyMem_Malloc((size_t)n + 1);
    if (flags == NULL) PyErr_NoMemory();
    for (int k = 0; flags != NULL && k < n; k++)
        flags[k] = numbers[k] != 0;
    PyMem_Free(numbers);
    *out = flags;
    return flags != NULL;
}

/* Nothing in the library checks one before it is solved, so that is done by asking how good z = 0 is. */
static bool check(const State *state, const st_LcpProblem *problem)
{
    double error, *zero = PyMem_Calloc((size_t)problem->n + 1, sizeof *zero);
    st_Error err = {0};
    if (zero == NULL) {
        PyErr_NoMemory();
        return false;
    }
    st_Status status = st_lcp_residual(problem, zero, &error, &err);
    PyMem_Free(zero);
    if (status != ST_OK) raise_error(state, status, &err);
    return status == ST_OK;
}

static PyObject *lcp_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"M", "q", "free", NULL};
    const State *state = PyType_GetModuleState(type);
    PyObject *M, *q, *flags = Py_None;
    Py_ssize_t n;
    double *numbers;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:LcpProblem", names, &M, &q, &flags)) return NULL;
    LcpObject *self = make(state);
    bool ok = self != NULL && read_doubles(q, "q", -1, &numbers, &n);
    if (ok) self->problem.q = numbers;
    if (ok && n > INT_MAX / 2) PyErr_SetString(PyExc_ValueError, "q is too long");
    ok = ok && n <= INT_MAX / 2;
    if (ok) self->problem.n = (int)n;
    ok = ok && sparse_read(M, "M", (int)n, (int)n, &self->problem.M) &&
         (flags == Py_None || read_flags(flags, (int)n, &self->problem.free)) && check(state, &self->problem);
    if (!ok) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *lcp_solve(LcpObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"tolerance", NULL};
    static const char *const outcomes[] = {
        [ST_LCP_SOLVED] = "solved", [ST_LCP_NO_SOLUTION] = "no solution", [ST_LCP_FAILED] = "failed"};
    const State *state = state_of((PyObject *)self);
    const Py_ssize_t n = self->problem.n;
    double tolerance = 1e-8, *z, *w;
    Away away;
    LcpRow row = {0};
    PyObject *result = NULL;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|d:solve", names, &tolerance)) return NULL;
    row.z = array_new(state, 1, &n, &z);
    if (row.z != NULL) row.w = array_new(state, 1, &n, &w);
    if (row.w != NULL) {
        st_LcpProblem problem = self->problem; /* data that nobody changes: several threads may solve it */
        problem.cancel = away_interrupted;
        problem.cancel_ctx = &away;
        away_begin(&away);
        st_Status status = st_lcp_solve(&problem, tolerance, z, &row.info, &err);
        if (status == ST_OK) status = st_lcp_error(&problem, z, w, &row.judged, &err);
        away_end(&away);
        row.outcome = outcomes[row.info.outcome];
        if (!PyErr_Occurred())
            result = status == ST_OK ? row_new(state, ROW_LCP_SOLUTION, &row) : raise_error(state, status, &err);
    }
    Py_XDECREF(row.z);
    Py_XDECREF(row.w);
    return result;
}

static PyObject *lcp_write(LcpObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "title", "description", NULL};
    PyObject *path = NULL;
    st_Error err = {0};
    st_ProblemFile file = {.is_lcp = true, .lcp = self->problem, .n = self->problem.n};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|zz:write", names, PyUnicode_FSConverter, &path, &file.title,
                                     &file.description))
        return NULL;
    st_Status status = st_problem_file_write(PyBytes_AsString(path), &file, &err);
    Py_DECREF(path);
    return status == ST_OK ? Py_NewRef(Py_None) : raise_error(state_of((PyObject *)self), status, &err);
}

static PyObject *n_getter(LcpObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(self->problem.n);
}

static PyObject *M_getter(LcpObject *self, void *Py_UNUSED(unused))
{
    return sparse_tuple(state_of((PyObject *)self), (PyObject *)self, &self->problem.M);
}

static PyObject *q_getter(LcpObject *self, void *Py_UNUSED(unused))
{
    const Py_ssize_t n = self->problem.n;
    return array_view(state_of((PyObject *)self), (PyObject *)self, self->problem.q, 'd', 1, &n, NULL);
}

static PyObject *lcp_repr(LcpObject *self)
{
    return PyUnicode_FromFormat("<stiction.LcpProblem of %d rows>", self->problem.n);
}

static PyMethodDef lcp_methods[] = {
    {"solve", (PyCFunction)(void (*)(void))lcp_solve, METH_VARARGS | METH_KEYWORDS,
     "solve($self, /, tolerance=1e-08)\n--\n\nSolve it by pivoting: an LcpSolution. Its outcome may be that no "
     "solution exists."},
    {"write", (PyCFunction)(void (*)(void))lcp_write, METH_VARARGS | METH_KEYWORDS,
     "write($self, /, path, title=None, description=None)\n--\n\nWrite it to a problem file, docs/problems.md."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef lcp_getters[] = {
    {"n", (getter)n_getter, NULL, "How many rows.", NULL},
    {"M", (getter)M_getter, NULL, "(data, indices, indptr), by column.", NULL},
    {"q", (getter)q_getter, NULL, "An Array.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char lcp_doc[] =
    "LcpProblem(M, q, free=None)\n--\n\n"
    "A linear complementarity problem: z >= 0, w = M z + q >= 0, z'w = 0; rows marked free: w = 0, z\n"
    "of any sign. M is any square matrix, in the forms that FrictionProblem accepts.";

static PyType_Slot lcp_slots[] = {
    {Py_tp_doc, (void *)lcp_doc},
    {Py_tp_new, (void *)lcp_new},
    {Py_tp_dealloc, (void *)lcp_dealloc},
    {Py_tp_repr, (void *)lcp_repr},
    {Py_tp_methods, lcp_methods},
    {Py_tp_getset, lcp_getters},
    {0, NULL},
};

static PyType_Spec lcp_spec = {"stiction.LcpProblem", sizeof(LcpObject), 0, TYPE_FLAGS, lcp_slots};

bool add_lcp_type(PyObject *module, State *state)
{
    state->lcp = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lcp_spec, NULL);
    return state->lcp != NULL && PyModule_AddType(module, state->lcp) == 0;
}
