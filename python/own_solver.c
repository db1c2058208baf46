/* own_solver.c -- a Python function as a solver (st_OwnSolver), parameters of solvers, and the history of a solve.
 *
 * The function is called as function(problem, start) and returns the impulses. `problem` is a ReducedProblem, which is
 * of use during the call only.
 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ReducedObject {
    PyObject_HEAD const st_Reduced *problem; /* NULL: the call is over */
} ReducedObject;

static const st_Reduced *reduced_of(ReducedObject *self)
{
    if (self->problem == NULL)
        PyErr_SetString(PyExc_RuntimeError,
                        "the problem is no longer valid: it can be used only during the call of the solver");
    return self->problem;
}

static bool read_r(const st_Reduced *problem, PyObject *object, double **r)
{
    return read_doubles(object, "r", problem->n_r, r, NULL);
}

static PyObject *reduced_apply(ReducedObject *self, PyObject *object)
{
    const st_Reduced *problem = reduced_of(self);
    double *r, *u;
    if (problem == NULL || !read_r(problem, object, &r)) return NULL;
    const Py_ssize_t n = problem->n_r;
    PyObject *out = array_new(state_of((PyObject *)self), 1, &n, &u);
    if (out != NULL) st_reduced_apply(problem, r, u);
    PyMem_Free(r);
    return out;
}

static PyObject *reduced_residual(ReducedObject *self, PyObject *object)
{
    const st_Reduced *problem = reduced_of(self);
    double *r;
    if (problem == NULL || !read_r(problem, object, &r)) return NULL;
    const double residual = st_reduced_residual(problem, r);
    PyMem_Free(r);
    return PyFloat_FromDouble(residual);
}

static PyObject *reduced_project(ReducedObject *self, PyObject *object)
{
    const st_Reduced *problem = reduced_of(self);
    double *r, *x;
    if (problem == NULL || !read_r(problem, object, &r)) return NULL;
    const Py_ssize_t n = problem->n_r;
    PyObject *out = array_new(state_of((PyObject *)self), 1, &n, &x);
    if (out != NULL) {
        memcpy(x, r, (size_t)n * sizeof *x);
        for (int c = 0; c < problem->n_contacts; c++)
            st_law_project(&problem->contact[c], x + problem->contact[c].first);
    }
    PyMem_Free(r);
    return out;
}

static PyObject *reduced_matrix(ReducedObject *self, PyObject *Py_UNUSED(unused))
{
    const State *state = state_of((PyObject *)self);
    const st_Reduced *problem = reduced_of(self);
    st_Sparse W;
    st_Error err = {0};
    if (problem == NULL) return NULL;
    st_Status status = st_reduced_matrix(problem, &W, &err);
    if (status != ST_OK) return raise_error(state, status, &err);
    const Py_ssize_t entries = (Py_ssize_t)W.p[W.n_cols], columns = W.n_cols;
    PyObject *data = PyList_New(entries), *rows = PyList_New(entries), *first = PyList_New(columns + 1);
    for (Py_ssize_t e = 0; data != NULL && rows != NULL && e < entries; e++) {
        PyList_SetItem(data, e, PyFloat_FromDouble(W.x[e]));
        PyList_SetItem(rows, e, PyLong_FromLong(W.i[e]));
    }
    for (Py_ssize_t j = 0; first != NULL && j <= columns; j++)
        PyList_SetItem(first, j, PyLong_FromLongLong(W.p[j]));
    if (data != NULL && rows != NULL && first != NULL && !PyErr_Occurred())
        return Py_BuildValue("(NNN)", data, rows, first);
    Py_XDECREF(data);
    Py_XDECREF(rows);
    Py_XDECREF(first);
    return NULL;
}

static PyObject *contacts_getter(ReducedObject *self, void *Py_UNUSED(unused))
{
    const st_Reduced *problem = reduced_of(self);
    if (problem == NULL) return NULL;
    PyObject *list = PyList_New(problem->n_contacts);
    for (int c = 0; list != NULL && c < problem->n_contacts; c++) {
        const st_ContactLaw *contact = &problem->contact[c];
        PyObject *row = Py_BuildValue("(siiddddd)", st_law_name(contact->law), contact->first, contact->dim,
                                      contact->mu, contact->mu_roll, contact->mu_spin, contact->lo, contact->hi);
        if (row == NULL) Py_CLEAR(list);
        if (row != NULL) PyList_SetItem(list, c, row);
    }
    return list;
}

static PyObject *vector_of(ReducedObject *self, bool rho)
{
    const st_Reduced *problem = reduced_of(self);
    if (problem == NULL) return NULL;
    return array_vector(state_of((PyObject *)self), rho ? problem->n_contacts : problem->n_r,
                        rho ? problem->rho : problem->b);
}

static PyObject *b_getter(ReducedObject *self, void *Py_UNUSED(unused))
{
    return vector_of(self, false);
}

static PyObject *rho_getter(ReducedObject *self, void *Py_UNUSED(unused))
{
    return vector_of(self, true);
}

static PyObject *tolerance_getter(ReducedObject *self, void *Py_UNUSED(unused))
{
    const st_Reduced *problem = reduced_of(self);
    return problem != NULL ? PyFloat_FromDouble(problem->tolerance) : NULL;
}

static PyObject *max_iterations_getter(ReducedObject *self, void *Py_UNUSED(unused))
{
    const st_Reduced *problem = reduced_of(self);
    return problem != NULL ? PyLong_FromLong(problem->max_iterations) : NULL;
}

static void reduced_dealloc(ReducedObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyMethodDef reduced_methods[] = {
    {"apply", (PyCFunction)reduced_apply, METH_O, "apply($self, r, /)\n--\n\nu = W r + b, an Array."},
    {"residual", (PyCFunction)reduced_residual, METH_O,
     "residual($self, r, /)\n--\n\nThe residual of r, for stopping and reporting. Each call counts as an iteration."},
    {"project", (PyCFunction)reduced_project, METH_O,
     "project($self, r, /)\n--\n\nProjection of r on the set of impulses of each contact, an Array."},
    {"matrix", (PyCFunction)reduced_matrix, METH_NOARGS,
     "matrix($self, /)\n--\n\nW as (data, indices, indptr), by column: scipy.sparse.csc_array(problem.matrix())."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reduced_getters[] = {
    {"b", (getter)b_getter, NULL, "Velocities without impulses, an Array.", NULL},
    {"rho", (getter)rho_getter, NULL, "A step length for each contact, dim / trace(W_cc): an Array.", NULL},
    {"contacts", (getter)contacts_getter, NULL,
     "Each contact: (law, first row, rows, mu, mu_roll, mu_spin, lo, hi); lo and hi are for law \"bounded\".", NULL},
    {"tolerance", (getter)tolerance_getter, NULL, "On the residual.", NULL},
    {"max_iterations", (getter)max_iterations_getter, NULL, "As asked for.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char reduced_doc[] =
    "The problem that your own solver receives: u = W r + b, with a law between r and u at every contact, "
    "normal\nfirst. Velocities, joints and soft rows are eliminated. It is valid only during the call of the solver.";

static PyType_Slot reduced_slots[] = {
    {Py_tp_doc, (void *)reduced_doc},
    {Py_tp_dealloc, (void *)reduced_dealloc},
    {Py_tp_methods, (void *)reduced_methods},
    {Py_tp_getset, (void *)reduced_getters},
    {0, NULL},
};

static PyType_Spec reduced_spec = {"stiction.ReducedProblem", sizeof(ReducedObject), 0,
                                   TYPE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION, reduced_slots};

bool add_reduced_type(PyObject *module, State *state)
{
    state->reduced = (PyTypeObject *)PyType_FromModuleAndSpec(module, &reduced_spec, NULL);
    return state->reduced != NULL && PyModule_AddType(module, state->reduced) == 0;
}

/* ---- a function as a solver */

struct Choice {
    st_OwnSolver own;
    const State *state;
    PyObject *function; /* NULL: one of ours        */
    PyObject *keys;     /* owns the names of values */
    st_SolverValue *values;
    int n_values;
    char name[64];
};

/* The exception that is set becomes the message of *err; it stays set in threads that Python knows. */
static st_Status fail_by_exception(st_Error *err, bool stays)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    PyObject *bytes = text != NULL ? PyUnicode_AsUTF8String(text) : NULL;
    PyErr_Clear();
    if (err != NULL) {
        err->status = ST_ERR_ARGUMENT;
        snprintf(err->message, sizeof err->message, "the solver raised: %.200s",
                 bytes != NULL ? PyBytes_AsString(bytes) : "?");
    }
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
    if (!stays) PyErr_Clear();
    return ST_ERR_ARGUMENT;
}

/* From any thread, without the interpreter's lock. */
static st_Status call_function(void *ctx, const st_Reduced *problem, double *r, st_Error *err)
{
    const struct Choice *choice = ctx;
    const bool known = PyGILState_GetThisThreadState() != NULL;
    const PyGILState_STATE lock = PyGILState_Ensure();
    const Py_ssize_t n = problem->n_r;
    double *answer = NULL;
    st_Status status = ST_OK;
    ReducedObject *object = PyObject_New(ReducedObject, choice->state->reduced);
    PyObject *start = array_vector(choice->state, n, r), *result = NULL;
    if (object != NULL) object->problem = problem;
    if (object != NULL && start != NULL)
        result = PyObject_CallFunctionObjArgs(choice->function, (PyObject *)object, start, NULL);
    if (object != NULL) object->problem = NULL;
    if (result != NULL && read_doubles(result, "what the solver returned", n, &answer, NULL))
        memcpy(r, answer, (size_t)n * sizeof *r);
    else
        status = fail_by_exception(err, known);
    PyMem_Free(answer);
    Py_XDECREF(result);
    Py_XDECREF(start);
    Py_XDECREF((PyObject *)object);
    PyGILState_Release(lock);
    return status;
}

static void choice_free(PyObject *capsule)
{
    struct Choice *choice = PyCapsule_GetPointer(capsule, "stiction.solver");
    if (choice == NULL) return;
    Py_XDECREF(choice->function);
    Py_XDECREF(choice->keys);
    PyMem_Free(choice->values);
    PyMem_Free(choice);
}

static bool read_parameters(struct Choice *choice, PyObject *parameters)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Check(parameters)) {
        PyErr_Format(PyExc_TypeError, "parameters must be a dict of numbers by name, not %R", Py_TYPE(parameters));
        return false;
    }
    choice->keys = PyDict_Copy(parameters);
    choice->values = PyMem_Calloc((size_t)PyDict_Size(parameters) + 1, sizeof *choice->values);
    if (choice->keys == NULL || choice->values == NULL) return PyErr_NoMemory() != NULL;
    while (PyDict_Next(choice->keys, &at, &key, &value)) {
        st_SolverValue *to = &choice->values[choice->n_values];
        to->name = text_of(key, "the name of a parameter");
        if (to->name == NULL || value == Py_None || !read_optional(value, to->name, &to->value)) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "parameters must be numbers");
            return false;
        }
        choice->n_values++;
    }
    return true;
}

PyObject *choice_new(const State *state, PyObject *function, PyObject *parameters, Choice **out)
{
    struct Choice *choice = PyMem_Calloc(1, sizeof *choice);
    if (choice == NULL) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(choice, "stiction.solver", choice_free);
    if (capsule == NULL) {
        PyMem_Free(choice);
        return NULL;
    }
    choice->state = state;
    *out = choice;
    if (function != NULL) {
        PyObject *name = PyObject_GetAttrString(function, "__name__");
        const char *text = name != NULL ? text_of(name, "__name__") : NULL;
        PyErr_Clear();
        snprintf(choice->name, sizeof choice->name, "%s", text != NULL ? text : "own");
        Py_XDECREF(name);
        choice->function = Py_NewRef(function);
        choice->own = (st_OwnSolver){.name = choice->name, .solve = call_function, .ctx = choice};
    }
    if (parameters != NULL && parameters != Py_None && !read_parameters(choice, parameters)) Py_CLEAR(capsule);
    return capsule;
}

const st_OwnSolver *choice_own(const Choice *choice)
{
    return choice->function != NULL ? &choice->own : NULL;
}

const st_SolverValue *choice_values(const Choice *choice, int *n)
{
    *n = choice->n_values;
    return choice->values;
}

/* ---- history */

void history_add(void *ctx, const st_Progress *line)
{
    History *history = ctx;
    if (history->count == history->capacity) {
        const int capacity = history->capacity > 0 ? 2 * history->capacity : 256;
        st_Progress *grown = capacity > 0 ? realloc(history->line, (size_t)capacity * sizeof *grown) : NULL;
        if (grown == NULL) return;
        history->line = grown;
        history->capacity = capacity;
    }
    history->line[history->count++] = *line;
}

PyObject *history_list(const State *state, const History *history)
{
    PyObject *list = PyList_New(history->count);
    for (int k = 0; list != NULL && k < history->count; k++) {
        PyObject *row = row_new(state, ROW_PROGRESS, &history->line[k]);
        if (row == NULL) Py_CLEAR(list);
        if (row != NULL) PyList_SetItem(list, k, row);
    }
    return list;
}
