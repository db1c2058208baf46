/* friction.c -- stiction.FrictionProblem: friction problems as the field exchanges them, from arrays, from files, or
 * from the step of a system (<stiction/friction.h>).
 */
#include "module.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct FrictionObject {
    PyObject_HEAD st_FrictionProblem problem;
    st_Friction *ready;
    st_ProblemFile *file;  /* the owner of the arrays of the problem: this, */
    st_FrictionCopy *copy; /* or this; both NULL: this object               */
    bool busy;
} FrictionObject;

static bool is_free(const FrictionObject *self)
{
    if (!self->busy) return true;
    PyErr_SetString(PyExc_RuntimeError, "the problem is being solved, in another thread or in a signal handler");
    return false;
}

static int n_rows(const FrictionObject *self)
{
    return self->problem.dim * self->problem.n_contacts;
}

/* ---- making one ---------------------------------------------------------------------------------------------------
 */

static FrictionObject *make(const State *state)
{
    FrictionObject *self = PyObject_New(FrictionObject, state->friction);
    if (self == NULL) return NULL;
    self->problem = (st_FrictionProblem){0};
    self->ready = NULL;
    self->file = NULL;
    self->copy = NULL;
    self->busy = false;
    return self;
}

static PyObject *made_ready(const State *state, FrictionObject *self)
{
    st_Error err = {0};
    st_Status status = st_friction_create(&self->problem, &self->ready, &err);
    if (status == ST_OK) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return raise_error(state, status, &err);
}

PyObject *friction_from_file(const State *state, st_ProblemFile *file)
{
    FrictionObject *self = make(state);
    if (self == NULL) {
        st_problem_file_destroy(file);
        return NULL;
    }
    self->file = file;
    self->problem = file->friction;
    return made_ready(state, self);
}

PyObject *friction_from_copy(const State *state, st_FrictionCopy *copy)
{
    FrictionObject *self = make(state);
    if (self == NULL) {
        st_friction_copy_destroy(copy);
        return NULL;
    }
    self->copy = copy;
    self->problem = *st_friction_copy_problem(copy);
    return made_ready(state, self);
}

static void friction_dealloc(FrictionObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_FrictionProblem *p = &self->problem;
    st_friction_destroy(self->ready);
    if (self->file == NULL && self->copy == NULL) {
        st_Sparse *matrices[] = {&p->W, &p->V, &p->R, &p->M, &p->H, &p->G};
        const double *vectors[] = {p->q, p->s, p->f, p->w, p->b, p->mu, p->mu_roll, p->mu_spin};
        for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++)
            sparse_free(matrices[k]);
        for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
            PyMem_Free((void *)vectors[k]);
    }
    st_problem_file_destroy(self->file);
    st_friction_copy_destroy(self->copy);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* The arguments of the constructor, by their letters. */
typedef struct Given {
    PyObject *mu, *W, *q, *V, *R, *s, *M, *H, *f, *w, *G, *b, *mu_roll, *mu_spin;
    int dim;
} Given;

static bool read_vector(PyObject *object, const char *what, Py_ssize_t n, const double **out, int *length)
{
    double *numbers;
    Py_ssize_t count;
    if (object == NULL || object == Py_None) {
        PyErr_Format(PyExc_TypeError, "%s is missing", what);
        return false;
    }
    if (!read_doubles(object, what, n, &numbers, &count)) return false;
    *out = numbers;
    if (count > INT_MAX / 8) PyErr_Format(PyExc_ValueError, "%s has %zd numbers, which is too many", what, count);
    if (length != NULL) *length = (int)count;
    return count <= INT_MAX / 8;
}

static bool read_matrix(PyObject *object, const char *what, int rows, int columns, st_Sparse *out)
{
    if (object == NULL || object == Py_None) {
        PyErr_Format(PyExc_TypeError, "%s is missing", what);
        return false;
    }
    return sparse_read(object, what, rows, columns, out);
}

static bool is_given(PyObject *object)
{
    return object != NULL && object != Py_None;
}

static bool read_local(const Given *given, st_FrictionProblem *p, int n_r)
{
    p->form = ST_FORM_LOCAL;
    if (!read_matrix(given->W, "W", n_r, n_r, &p->W) || !read_vector(given->q, "q", n_r, &p->q, NULL)) return false;
    if (!is_given(given->s)) return true;
    return read_vector(given->s, "s", -1, &p->s, &p->n_l) && read_matrix(given->V, "V", n_r, p->n_l, &p->V) &&
           read_matrix(given->R, "R", p->n_l, p->n_l, &p->R);
}

static bool read_global(const Given *given, st_FrictionProblem *p, int n_r)
{
    p->form = ST_FORM_GLOBAL;
    if (!read_vector(given->f, "f", -1, &p->f, &p->n_v) || !read_matrix(given->M, "M", p->n_v, p->n_v, &p->M) ||
        !read_matrix(given->H, "H", p->n_v, n_r, &p->H) || !read_vector(given->w, "w", n_r, &p->w, NULL))
        return false;
    if (!is_given(given->b)) return true;
    return read_vector(given->b, "b", -1, &p->b, &p->n_l) && read_matrix(given->G, "G", p->n_v, p->n_l, &p->G);
}

static bool read_given(const Given *given, st_FrictionProblem *p)
{
    const bool local = is_given(given->W), global = is_given(given->M);
    if (local == global) {
        PyErr_SetString(PyExc_TypeError, "a problem is local, W and q, or global, M, H, f and w");
        return false;
    }
    if (given->dim < 2 || given->dim > ST_MAX_DIM) {
        PyErr_Format(PyExc_ValueError, "dim is %d, must be 2 to %d", given->dim, ST_MAX_DIM);
        return false;
    }
    p->dim = given->dim;
    if (!read_vector(given->mu, "mu", -1, &p->mu, &p->n_contacts)) return false;
    if (is_given(given->mu_roll) && !read_vector(given->mu_roll, "mu_roll", p->n_contacts, &p->mu_roll, NULL))
        return false;
    if (is_given(given->mu_spin) && !read_vector(given->mu_spin, "mu_spin", p->n_contacts, &p->mu_spin, NULL))
        return false;
    const int n_r = p->dim * p->n_contacts;
    return local ? read_local(given, p, n_r) : read_global(given, p, n_r);
}

static PyObject *friction_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"mu", "dim", "W", "q", "V", "R",       "s",       "M",
                            "H",  "f",   "w", "G", "b", "mu_roll", "mu_spin", NULL};
    const State *state = PyType_GetModuleState(type);
    Given g = {.dim = 3};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|i$OOOOOOOOOOOOO:FrictionProblem", names, &g.mu, &g.dim, &g.W,
                                     &g.q, &g.V, &g.R, &g.s, &g.M, &g.H, &g.f, &g.w, &g.G, &g.b, &g.mu_roll,
                                     &g.mu_spin))
        return NULL;
    FrictionObject *self = make(state);
    if (self == NULL) return NULL;
    if (read_given(&g, &self->problem)) return made_ready(state, self);
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* ---- solving --------------------------------------------------------------------------------------------------------
 */

/* Arrays for the answer, those of size 0 NULL. */
static bool make_arrays(FrictionObject *self, SolutionRow *row, st_Solution *solution)
{
    const State *state = state_of((PyObject *)self);
    const Py_ssize_t n_r = n_rows(self), n_v = self->problem.n_v, n_l = self->problem.n_l;
    row->r = array_new(state, 1, &n_r, &solution->r);
    if (row->r != NULL) row->u = array_new(state, 1, &n_r, &solution->u);
    bool ok = row->u != NULL;
    if (ok && n_v > 0) ok = (row->v = array_new(state, 1, &n_v, &solution->v)) != NULL;
    if (ok && n_l > 0) ok = (row->l = array_new(state, 1, &n_l, &solution->l)) != NULL;
    return ok;
}

/* Solver and judge, without the interpreter's lock. */
static st_Status solve_and_judge(FrictionObject *self, const st_SolverDef *asked, st_Solution *solution,
                                 SolutionRow *row, st_Error *err)
{
    Away away;
    st_Solver *solver = NULL;
    st_SolverDef def = *asked;
    def.cancel = away_interrupted;
    def.cancel_ctx = &away;
    self->busy = true;
    away_begin(&away);
    st_Status status = st_solver_create(&def, &solver, err);
    if (status == ST_OK) status = st_friction_solve(self->ready, solver, solution, &row->info, err);
    if (status == ST_OK) status = st_friction_error(self->ready, solution->r, NULL, NULL, &row->judged, err);
    if (status == ST_OK &&
        !(def.all_errors ? row->judged.certified <= def.tolerance : row->judged.equality <= def.tolerance))
        row->info.converged = false;
    st_solver_destroy(solver);
    away_end(&away);
    self->busy = false;
    return status;
}

static PyObject *friction_solve(FrictionObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"solver",  "tolerance",  "max_iterations", "start", "all_errors",
                            "threads", "parameters", "history",        NULL};
    const State *state = state_of((PyObject *)self);
    PyObject *start = Py_None, *tolerance = Py_None, *most = Py_None, *result = NULL;
    PyObject *solver = NULL, *parameters = NULL, *holder = NULL;
    Choice *choice = NULL;
    History history = {0};
    SolutionRow row = {0};
    st_Solution solution = {0};
    st_SolverDef def = st_solver_def();
    st_Error err = {0};
    int all_errors = 1, keep_history = 0;
    double *first = NULL, iterations = def.max_iterations;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOOOpiOp:solve", names, &solver, &tolerance, &most, &start,
                                     &all_errors, &def.threads, &parameters, &keep_history) ||
        !read_optional(tolerance, "tolerance", &def.tolerance) || !read_optional(most, "max_iterations", &iterations))
        return NULL;
    if (!(iterations >= 1 && iterations <= INT_MAX))
        return PyErr_Format(PyExc_ValueError, "max_iterations must be 1 to %d", INT_MAX);
    def.max_iterations = (int)iterations;
    def.all_errors = all_errors != 0;
    const bool own = solver != NULL && PyCallable_Check(solver);
    if (solver != NULL && !own && (def.name = text_of(solver, "solver, the name of one or a function,")) == NULL)
        return NULL;
    holder = choice_new(state, own ? solver : NULL, parameters, &choice);
    if (holder == NULL) return NULL;
    def.own = choice_own(choice);
    def.values = choice_values(choice, &def.n_values);
    if (keep_history != 0) def.progress = history_add, def.progress_ctx = &history;
    if (start != Py_None && !read_doubles(start, "start", n_rows(self), &first, NULL)) {
        Py_DECREF(holder);
        return NULL;
    }
    if (is_free(self) && make_arrays(self, &row, &solution)) {
        if (first != NULL && n_rows(self) > 0) memcpy(solution.r, first, (size_t)n_rows(self) * sizeof *first);
        def.warm_start = first != NULL;
        st_Status status = solve_and_judge(self, &def, &solution, &row, &err);
        if (status == ST_OK && keep_history != 0 && !PyErr_Occurred()) row.history = history_list(state, &history);
        if (PyErr_Occurred()) /* interrupted, or raised by the solver */
            result = NULL;
        else
            result = status == ST_OK ? row_new(state, ROW_SOLUTION, &row) : raise_error(state, status, &err);
    }
    PyMem_Free(first);
    free(history.line);
    Py_DECREF(holder);
    Py_XDECREF(row.history);
    Py_XDECREF(row.r);
    Py_XDECREF(row.u);
    Py_XDECREF(row.v);
    Py_XDECREF(row.l);
    return result;
}

static PyObject *friction_error(FrictionObject *self, PyObject *object)
{
    double *r;
    st_FrictionError row;
    st_Error err = {0};
    if (!read_doubles(object, "r", n_rows(self), &r, NULL)) return NULL;
    st_Status status = ST_OK;
    if (is_free(self)) {
        status = st_friction_error(self->ready, r, NULL, NULL, &row, &err);
        if (status != ST_OK) raise_error(state_of((PyObject *)self), status, &err);
    }
    PyMem_Free(r);
    return PyErr_Occurred() ? NULL : row_new(state_of((PyObject *)self), ROW_FRICTION_ERROR, &row);
}

static PyObject *friction_accepts(FrictionObject *self, PyObject *solver)
{
    const char *name = text_of(solver, "the name of a solver");
    if (name == NULL || !is_free(self)) return NULL;
    return PyBool_FromLong(st_friction_accepts(self->ready, name));
}

/* One number that the library finds out about the problem. */
static PyObject *figure(FrictionObject *self, st_Status (*find)(const st_FrictionProblem *, double *, st_Error *))
{
    double number = 0;
    st_Error err = {0};
    if (!is_free(self)) return NULL;
    st_Status status = find(&self->problem, &number, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return PyFloat_FromDouble(number);
}

static PyObject *friction_lowest(FrictionObject *self, PyObject *Py_UNUSED(unused))
{
    return figure(self, st_friction_lowest);
}

static PyObject *friction_contradiction(FrictionObject *self, PyObject *Py_UNUSED(unused))
{
    return figure(self, st_friction_contradiction);
}

/* ---- forces that rigid bodies leave open ----------------------------------------------------------------------------
 */

static PyObject *bool_list(const bool *flags, int n)
{
    PyObject *list = PyList_New(n);
    for (int k = 0; list != NULL && k < n; k++)
        PyList_SetItem(list, k, PyBool_FromLong(flags[k]));
    return list;
}

static PyObject *friction_determined(FrictionObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"r", "weight", "tolerance", NULL};
    const State *state = state_of((PyObject *)self);
    PyObject *object, *weights = Py_None, *result = NULL;
    DeterminedRow row = {0};
    double tolerance = 0, *r = NULL, *weight = NULL, *least;
    const Py_ssize_t n = n_rows(self);
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Od:determined", names, &object, &weights, &tolerance))
        return NULL;
    bool *flags = PyMem_Calloc((size_t)n + 1, sizeof *flags);
    if (flags == NULL) return PyErr_NoMemory();
    bool ok = read_doubles(object, "r", n, &r, NULL) &&
              (weights == Py_None || read_doubles(weights, "weight", self->problem.n_contacts, &weight, NULL)) &&
              is_free(self) && (row.least = array_new(state, 1, &n, &least)) != NULL;
    if (ok) {
        st_Status status = st_friction_determined(self->ready, r, weight, tolerance, flags, least, &row.count, &err);
        if (status != ST_OK) raise_error(state, status, &err);
        if (status == ST_OK) row.determined = bool_list(flags, (int)n);
        if (row.determined != NULL) result = row_new(state, ROW_DETERMINED, &row);
    }
    Py_XDECREF(row.determined);
    Py_XDECREF(row.least);
    PyMem_Free(weight);
    PyMem_Free(r);
    PyMem_Free(flags);
    return result;
}

/* ---- files and data
 * --------------------------------------------------------------------------------------------------- */

static PyObject *friction_write(FrictionObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "title", "description", "r", "u", "v", NULL};
    PyObject *path = NULL, *r = Py_None, *u = Py_None, *v = Py_None;
    double *answer[3] = {NULL, NULL, NULL};
    st_Error err = {0};
    st_ProblemFile file = {.friction = self->problem, .n = n_rows(self)};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|zzOOO:write", names, PyUnicode_FSConverter, &path, &file.title,
                                     &file.description, &r, &u, &v))
        return NULL;
    bool ok = (r == Py_None || read_doubles(r, "r", file.n, &answer[0], NULL)) &&
              (u == Py_None || read_doubles(u, "u", file.n, &answer[1], NULL)) &&
              (v == Py_None || read_doubles(v, "v", self->problem.n_v, &answer[2], NULL));
    file.r = answer[0], file.u = answer[1], file.v = answer[2];
    if (ok) {
        st_Status status = st_problem_file_write(PyBytes_AsString(path), &file, &err);
        if (status != ST_OK) raise_error(state_of((PyObject *)self), status, &err);
    }
    for (int k = 0; k < 3; k++)
        PyMem_Free(answer[k]);
    Py_DECREF(path);
    if (PyErr_Occurred()) return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *form_getter(FrictionObject *self, void *Py_UNUSED(unused))
{
    return PyUnicode_FromString(self->problem.form == ST_FORM_LOCAL ? "local" : "global");
}

static PyObject *number_getter(FrictionObject *self, void *offset)
{
    return PyLong_FromLong(*(const int *)((const char *)&self->problem + *(const size_t *)offset));
}

static PyObject *matrix_getter(FrictionObject *self, void *offset)
{
    return sparse_tuple(state_of((PyObject *)self), (PyObject *)self,
                        (const st_Sparse *)((const char *)&self->problem + *(const size_t *)offset));
}

static PyObject *vector_view(FrictionObject *self, const double *vector, Py_ssize_t n)
{
    if (vector == NULL) return Py_NewRef(Py_None);
    return array_view(state_of((PyObject *)self), (PyObject *)self, vector, 'd', 1, &n, NULL);
}

/* A vector and how long it is: place of the pointer in the problem, and which size it has. */
typedef struct VectorAt {
    size_t offset;
    enum { SIZE_R, SIZE_L, SIZE_V, SIZE_CONTACTS } size;
} VectorAt;

static PyObject *vector_getter(FrictionObject *self, void *closure)
{
    const VectorAt *at = closure;
    const Py_ssize_t sizes[] = {[SIZE_R] = n_rows(self),
                                [SIZE_L] = self->problem.n_l,
                                [SIZE_V] = self->problem.n_v,
                                [SIZE_CONTACTS] = self->problem.n_contacts};
    return vector_view(self, *(const double *const *)((const char *)&self->problem + at->offset), sizes[at->size]);
}

static PyObject *stored_getter(FrictionObject *self, void *Py_UNUSED(unused))
{
    return vector_view(self, self->file != NULL ? self->file->r : NULL, n_rows(self));
}

static PyObject *friction_repr(FrictionObject *self)
{
    return PyUnicode_FromFormat(
        "<stiction.FrictionProblem, %s: %d contacts of %d rows, %d velocities, %d equality rows>",
        self->problem.form == ST_FORM_LOCAL ? "local" : "global", self->problem.n_contacts, self->problem.dim,
        self->problem.n_v, self->problem.n_l);
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef friction_methods[] = {
    {"solve", WITH_KEYWORDS(friction_solve),
     "solve($self, /, solver='auto', tolerance=None, max_iterations=None, start=None, all_errors=True, "
     "threads=1, parameters=None, history=False)\n--\n\n"
     "Solve the problem: a Solution, with errors computed by code that no solver uses. If it does not converge, "
     "no\nexception is raised: see converged.\n\n"
     "solver: a name, or a function that receives a ReducedProblem and the first impulses, and returns "
     "impulses.\nparameters: numbers by name, see solver_parameters(). history=True: store the residual after every "
     "iteration.\nstart: the first impulses. all_errors=False: the tolerance applies only to the natural residual. "
     "Other threads can\nrun during the solve, and Ctrl-C ends it."},
    {"error", (PyCFunction)friction_error, METH_O, "error($self, r, /)\n--\n\nThe error of r: a FrictionError."},
    {"accepts", (PyCFunction)friction_accepts, METH_O,
     "accepts($self, solver, /)\n--\n\nTrue if the named solver accepts the problem."},
    {"lowest", (PyCFunction)friction_lowest, METH_NOARGS,
     "lowest($self, /)\n--\n\nUpper bound of the lowest eigenvalue of the symmetric part of W (or M), divided by the "
     "largest. Below 0: the matrix is\nnot positive semi-definite."},
    {"contradiction", (PyCFunction)friction_contradiction, METH_NOARGS,
     "contradiction($self, /)\n--\n\nThe margin of a proof that there is no solution; 0: no such proof was found."},
    {"determined", WITH_KEYWORDS(friction_determined),
     "determined($self, /, r, weight=None, tolerance=0.0)\n--\n\n"
     "Find which components of a solution r are the same in all solutions near it, and the solution of least "
     "norm:\nDetermined."},
    {"write", WITH_KEYWORDS(friction_write),
     "write($self, /, path, title=None, description=None, r=None, u=None, v=None)\n--\n\n"
     "Write a problem file in the FCLIB layout, with a solution if one is given."},
    {NULL, NULL, 0, NULL},
};

#define AT(member)                                                                                                     \
    (void *)&(const size_t)                                                                                            \
    {                                                                                                                  \
        offsetof(st_FrictionProblem, member)                                                                           \
    }
#define SIZED(m, size)                                                                                                 \
    (void *)&(const VectorAt)                                                                                          \
    {                                                                                                                  \
        offsetof(st_FrictionProblem, m), size                                                                          \
    }
static PyGetSetDef friction_getters[] = {
    {"form", (getter)form_getter, NULL, "\"local\" or \"global\"", NULL},
    {"dim", (getter)number_getter, NULL,
     "Rows per contact: 2 in the plane, 3 in space, 4 with spinning, 5 with rolling, 6 with both.", AT(dim)},
    {"n_contacts", (getter)number_getter, NULL, "How many contacts.", AT(n_contacts)},
    {"n_v", (getter)number_getter, NULL, "Number of velocities of a global problem.", AT(n_v)},
    {"n_l", (getter)number_getter, NULL, "Number of equality rows.", AT(n_l)},
    {"W", (getter)matrix_getter, NULL,
     "(data, indices, indptr), by column, or None: scipy.sparse.csc_array(problem.W).", AT(W)},
    {"V", (getter)matrix_getter, NULL, "Likewise.", AT(V)},
    {"R", (getter)matrix_getter, NULL, "Likewise.", AT(R)},
    {"M", (getter)matrix_getter, NULL, "Likewise.", AT(M)},
    {"H", (getter)matrix_getter, NULL, "Likewise.", AT(H)},
    {"G", (getter)matrix_getter, NULL, "Likewise.", AT(G)},
    {"q", (getter)vector_getter, NULL, "An Array, or None.", SIZED(q, SIZE_R)},
    {"s", (getter)vector_getter, NULL, "Likewise.", SIZED(s, SIZE_L)},
    {"f", (getter)vector_getter, NULL, "Likewise.", SIZED(f, SIZE_V)},
    {"w", (getter)vector_getter, NULL, "Likewise.", SIZED(w, SIZE_R)},
    {"b", (getter)vector_getter, NULL, "Likewise.", SIZED(b, SIZE_L)},
    {"mu", (getter)vector_getter, NULL, "Friction coefficients, one per contact: an Array.", SIZED(mu, SIZE_CONTACTS)},
    {"mu_roll", (getter)vector_getter, NULL, "Rolling friction [m], or None.", SIZED(mu_roll, SIZE_CONTACTS)},
    {"mu_spin", (getter)vector_getter, NULL, "Spinning friction [m], or None.", SIZED(mu_spin, SIZE_CONTACTS)},
    {"stored", (getter)stored_getter, NULL, "The solution r in the file, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char friction_doc[] =
    "FrictionProblem(mu, dim=3, *, W=None, q=None, V=None, R=None, s=None, M=None, H=None, f=None, w=None, G=None, "
    "b=None, "
    "mu_roll=None, mu_spin=None)\n--\n\n"
    "A friction problem, without bodies:\n\n"
    "    local   u = W r + V l + q,     V' r + R l + s = 0\n"
    "    global  M v = H r + G l + f,   u = H' v + w,   G' v + b = 0\n\n"
    "with Coulomb's law between r and u at every contact, normal first, dim rows each. V, R, s and G, b are equality\n"
    "rows, which most problems do not have.\n\n"
    "Matrices may be dense (a 2-D array, a list of rows), scipy.sparse, triplets (data, (i, j)), or compressed by\n"
    "column (data, i, p). Vectors are any sequence of numbers. Everything is copied. stiction.read_problem reads "
    "files.";

static PyType_Slot friction_slots[] = {
    {Py_tp_doc, (void *)friction_doc},
    {Py_tp_new, (void *)friction_new},
    {Py_tp_dealloc, (void *)friction_dealloc},
    {Py_tp_repr, (void *)friction_repr},
    {Py_tp_methods, friction_methods},
    {Py_tp_getset, friction_getters},
    {0, NULL},
};

static PyType_Spec friction_spec = {"stiction.FrictionProblem", sizeof(FrictionObject), 0, TYPE_FLAGS, friction_slots};

bool add_friction_type(PyObject *module, State *state)
{
    state->friction = (PyTypeObject *)PyType_FromModuleAndSpec(module, &friction_spec, NULL);
    return state->friction != NULL && PyModule_AddType(module, state->friction) == 0;
}
