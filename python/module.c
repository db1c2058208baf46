/* module.c -- the Python module `stiction`: its functions, and how it comes to be. */
#include "module.h"

#include <stdlib.h>

State *state_of(PyObject *object)
{
    return PyType_GetModuleState(Py_TYPE(object));
}

State *state_of_module(PyObject *module)
{
    return PyModule_GetState(module);
}

/* ---- functions -----------------------------------------------------------------------------------------------------
 */

static PyObject *read_problem(PyObject *module, PyObject *path)
{
    PyObject *file = NULL;
    st_ProblemFile *problem;
    st_Error err = {0};
    if (!PyUnicode_FSConverter(path, &file)) return NULL;
    st_Status status = st_problem_file_read(PyBytes_AsString(file), &problem, &err);
    Py_DECREF(file);
    if (status != ST_OK) return raise_error(state_of_module(module), status, &err);
    return problem->is_lcp ? lcp_from_file(state_of_module(module), problem)
                           : friction_from_file(state_of_module(module), problem);
}

/* The problem itself, or one made from a path or a dict of arrays. */
static PyObject *problem_of(PyObject *module, PyObject *object)
{
    const State *state = state_of_module(module);
    if (Py_IS_TYPE(object, state->friction) || Py_IS_TYPE(object, state->lcp)) return Py_NewRef(object);
    if (!PyDict_Check(object)) return read_problem(module, object);
    PyObject *none = PyTuple_New(0);
    PyObject *problem = none != NULL ? PyObject_Call((PyObject *)state->friction, none, object) : NULL;
    Py_XDECREF(none);
    return problem;
}

static PyObject *solve(PyObject *module, PyObject *args, PyObject *options)
{
    PyObject *object, *method = NULL, *none = NULL, *solution = NULL;
    if (!PyArg_ParseTuple(args, "O:solve", &object)) return NULL;
    PyObject *problem = problem_of(module, object);
    if (problem != NULL) method = PyObject_GetAttrString(problem, "solve");
    if (method != NULL) none = PyTuple_New(0);
    if (none != NULL) solution = PyObject_Call(method, none, options);
    Py_XDECREF(none);
    Py_XDECREF(method);
    Py_XDECREF(problem);
    return solution;
}

static PyObject *schema(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    char *text = st_scene_schema();
    PyObject *value = json_value(text);
    free(text);
    return value;
}

static PyMethodDef functions[] = {
    {"settings", settings_table, METH_NOARGS,
     "settings($module, /)\n--\n\nEvery setting of a simulation: a list of Setting."},
    {"presets", presets_table, METH_NOARGS, "presets($module, /)\n--\n\nDescriptions of the presets, a dict."},
    {"solvers", solvers_table, METH_NOARGS, "solvers($module, /)\n--\n\nDescriptions of the solvers, a dict."},
    {"solver_parameters", solver_parameters, METH_NOARGS,
     "solver_parameters($module, /)\n--\n\n"
     "Parameters of solvers for solve(parameters={...}): a dict of (default, smallest, largest, description) by "
     "\"SOLVER.NAME\"."},
    {"schema", schema, METH_NOARGS, "schema($module, /)\n--\n\nThe JSON Schema of scenes, a dict."},
    {"read_problem", read_problem, METH_O,
     "read_problem($module, path, /)\n--\n\nA FrictionProblem, or an LcpProblem, from a problem file "
     "(docs/problems.md)."},
    {"solve", (PyCFunction)(void (*)(void))solve, METH_VARARGS | METH_KEYWORDS,
     "solve($module, problem, /, **options)\n--\n\n"
     "Solve a problem, a problem file, or a dict of the arrays of a FrictionProblem: problem.solve(**options)."},
    {NULL, NULL, 0, NULL},
};

/* ---- the module
 * ------------------------------------------------------------------------------------------------------ */

/* Modules in Python, like stiction.gym, are in the folder stiction_modules beside this one. */
static bool add_path(PyObject *module)
{
    PyObject *file = PyModule_GetFilenameObject(module), *path = NULL, *folder = NULL, *list = NULL;
    if (file == NULL) { /* built in, or loaded in some other way: then there are none */
        PyErr_Clear();
        return true;
    }
    path = PyImport_ImportModule("os.path");
    if (path != NULL) folder = PyObject_CallMethod(path, "dirname", "O", file);
    PyObject *modules = folder != NULL ? PyObject_CallMethod(path, "join", "Os", folder, "stiction_modules") : NULL;
    if (modules != NULL) list = PyList_New(0);
    const bool ok =
        list != NULL && PyList_Append(list, modules) == 0 && PyObject_SetAttrString(module, "__path__", list) == 0;
    Py_XDECREF(list);
    Py_XDECREF(modules);
    Py_XDECREF(folder);
    Py_XDECREF(path);
    Py_DECREF(file);
    return ok;
}

static int module_exec(PyObject *module)
{
    State *state = state_of_module(module);
    bool ok = add_path(module) && PyModule_AddStringConstant(module, "__version__", st_version()) == 0 &&
              add_error(module, state) && add_array_type(module, state) && add_table_types(module, state) &&
              add_scene_type(module, state) && add_system_type(module, state) && add_batch_type(module, state) &&
              add_articulation_type(module, state) && add_recorder_type(module, state) &&
              add_recording_type(module, state) && add_friction_type(module, state) && add_lcp_type(module, state) &&
              add_reduced_type(module, state);
    return ok ? 0 : -1;
}

#define TYPES(state)                                                                                                   \
    {                                                                                                                  \
        &(state)->array, &(state)->table, &(state)->scene, &(state)->system, &(state)->batch, &(state)->articulation,  \
            &(state)->recorder, &(state)->recording, &(state)->friction, &(state)->lcp, &(state)->reduced              \
    }

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = state_of_module(module);
    PyTypeObject **types[] = TYPES(state);
    Py_VISIT(state->error);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        Py_VISIT((PyObject *)*types[k]);
    for (int k = 0; k < N_ROWS; k++)
        Py_VISIT((PyObject *)state->row[k]);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = state_of_module(module);
    PyTypeObject **types[] = TYPES(state);
    Py_CLEAR(state->error);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        Py_CLEAR(*types[k]);
    for (int k = 0; k < N_ROWS; k++)
        Py_CLEAR(state->row[k]);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static const char module_doc[] =
    "Rigid bodies with contact, Coulomb friction, impacts, joints and stiff forces.\n\n"
    "    import stiction\n"
    "    scene = stiction.Scene(\"examples/world/wall.json\")\n"
    "    system = scene.system(h=1e-3)\n"
    "    info = system.step(steps=1000)\n"
    "    print(info.time, info.residual, system.pose(\"ball\").position)\n\n"
    "A Scene is read from a file, a text or a dict. A System simulates a scene, reports on it and can be controlled. "
    "A\nRecording is a run that was stored. A FrictionProblem needs no bodies. SI units and radians; quaternions "
    "are\nw x y z, body to world. Arrays are read-only copies that numpy.asarray accepts; numpy is not required. "
    "Errors of the\nlibrary raise stiction.Error with their message.";

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "stiction",      module_doc,   sizeof(State), functions,
    module_slots,          module_traverse, module_clear, module_free,
};

PyMODINIT_FUNC PyInit_stiction(void); /* called by import */

PyMODINIT_FUNC PyInit_stiction(void)
{
    return PyModuleDef_Init(&definition);
}
