/* step.c -- System.step and System.run: many steps in one call, without the interpreter's lock. */
#include "system.h"

#include <math.h>

/* The steps requested, and those done. */
typedef struct Walk {
    SystemObject *self;
    RecorderObject *recorder; /* or NULL */
    double h, until;          /* until: infinite where steps are counted */
    long long steps;
    StepRow row;
    st_Status status;
    st_Error err;
} Walk;

bool system_start_info(SystemObject *self, st_StepInfo *info)
{
    st_Error err = {0};
    *info = st_step_info();
    info->time = st_system_time(self->system);
    info->solve.converged = true;
    st_Status status = st_system_energy(self->system, &info->kinetic, &info->potential, &err);
    if (status != ST_OK) raise_error(state_of((PyObject *)self), status, &err);
    return status == ST_OK;
}

/* Length of the next step, 0 at the end. As `stiction run` has it: a rest within 1e-6 h of a full step is a full step,
 * and one below 1e-6 h is none, so that rounding of the time does not make a sliver.                       */
static double next_step(const Walk *walk)
{
    double rest = walk->until - st_system_time(walk->self->system), h = walk->h;
    if (walk->row.steps == walk->steps || rest <= 1e-6 * h) return 0;
    return rest < h * (1 - 1e-6) ? rest : h;
}

static void tally(StepRow *row, const st_StepInfo *info)
{
    const double residual = info->solve.residual.natural;
    row->last = *info;
    row->steps++;
    row->unconverged += !info->solve.converged;
    if (residual > row->worst_residual || isnan(residual)) row->worst_residual = residual; /* a NaN must show */
}

/* One step after the other; the lock is not held. */
static void walk_on(Walk *walk, Away *away)
{
    double h;
    bool ok = true;
    while (ok && !away_interrupted(away) && (h = next_step(walk)) > 0) {
        st_StepInfo info = st_step_info();
        walk->status = st_system_step(walk->self->system, h, &info, &walk->err);
        if (walk->status != ST_OK) return;
        tally(&walk->row, &info);
        if (walk->recorder != NULL) { /* HDF5 needs the lock */
            away_return(away);
            ok = recorder_add(walk->recorder, &info);
            away_leave(away);
        }
    }
}

static PyObject *walk(SystemObject *self, double h, double until, long long steps)
{
    Away away;
    Walk walk = {.self = self, .h = h, .until = until, .steps = steps};
    const State *state = state_of((PyObject *)self);
    if (!system_free(self)) return NULL;
    if (!(h > 0) || !isfinite(h)) {
        PyObject *number = PyFloat_FromDouble(h);
        PyErr_Format(PyExc_ValueError, "h is %R, must be a number > 0", number);
        Py_XDECREF(number);
        return NULL;
    }
    self->busy = true;
    walk.recorder = self->recorder;
    Py_XINCREF((PyObject *)walk.recorder); /* nobody can drop it meanwhile */
    away_begin(&away);
    st_system_cancel_when(self->system, away_interrupted, &away);
    walk_on(&walk, &away);
    st_system_cancel_when(self->system, NULL, NULL);
    away_end(&away);
    self->busy = false;
    Py_XDECREF((PyObject *)walk.recorder);
    if (PyErr_Occurred()) return NULL; /* a signal, or the recorder */
    if (walk.status != ST_OK) return raise_error(state, walk.status, &walk.err);
    if (walk.row.steps == 0 && !system_start_info(self, &walk.row.last)) return NULL;
    return row_new(state, ROW_STEP_INFO, &walk.row);
}

PyObject *system_step(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"h", "steps", NULL};
    PyObject *step = NULL;
    long long steps = 1;
    double h = self->def.h;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OL:step", names, &step, &steps)) return NULL;
    if (!read_optional(step, "h", &h)) return NULL;
    if (steps < 1) return PyErr_Format(PyExc_ValueError, "steps is %lld, must be at least 1", steps);
    return walk(self, h, INFINITY, steps);
}

PyObject *system_run(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"until", "h", NULL};
    PyObject *end = NULL, *step = NULL;
    double until = self->def.end, h = self->def.h;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:run", names, &end, &step)) return NULL;
    if (!read_optional(end, "until", &until) || !read_optional(step, "h", &h)) return NULL;
    if (!isfinite(until)) return PyErr_Format(PyExc_ValueError, "until must be a finite time");
    return walk(self, h, until, -1);
}
