/* module.h -- shared by the files of the Python module.
 *
 * The module is thin: it sees the public headers alone, has no state of its own beyond its types, and repeats nothing
 * that the library knows. Settings, solvers and the scene language are looked up by name; reports go to Python by
 * tables of fields (table.h), so that the compiler checks each against the struct of the header.
 *
 * Memory and threads
 *   - Python gets read-only copies: no view of a system's memory outlives or changes with it (but the arrays
 * of a Batch, which stay in place and keep it alive);
 *   - every type is final and none can be part of a cycle: no garbage collector is needed;
 *   - the interpreter's lock (GIL) is released while a system steps, casts rays, or a problem is solved. Meanwhile the
 *     object is marked as busy and refuses every other call. HDF5 is called with the lock held: it has no locks itself.
 *
 * Functions that return bool, or a pointer, have set a Python exception where they return false or NULL.
 */
#ifndef STICTION_PYTHON_MODULE_H
#define STICTION_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000 /* 3.11: the first whose stable interface has buffers */
#include <Python.h>
#include <pthread.h>

#include <stiction/io.h>

#include "table.h"

/* Of the module: its types and the exception. */
typedef struct State {
    PyObject *error;
    PyTypeObject *array, *table, *scene, *system, *batch, *articulation, *recorder, *recording, *friction, *lcp,
        *reduced;
    PyTypeObject *row[N_ROWS];
} State;

/* No type can be derived from, changed, or put in the place of another: objects have exactly the members of their C
 * structs. */
#define TYPE_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE)

State *state_of(PyObject *object); /* of an object of one of our types */
State *state_of_module(PyObject *module);

/* ---- errors.c */

/* stiction.Error with the message, the status and the line; NULL, to return it at once. */
void *raise_error(const State *state, st_Status status, const st_Error *err);
bool add_error(PyObject *module, State *state);
/* `there is no joint 'elbw'; did you mean 'elbow'?`, or with the first of the names (any iterable) where none is near.
 */
void raise_unknown(PyObject *exception, const char *kind, PyObject *word, PyObject *names);

/* ---- convert.c: numbers in. `what` names the argument in messages. */

/* Any sequence or buffer of numbers, of any shape, in C order; n = -1: of any length. PyMem_Free(*out). */
/* A buffer of plain numbers of any type and shape. 1: taken, 0: not such a buffer, -1: an exception is set. */
int read_buffer(PyObject *object, const char *what, Py_ssize_t n, double **out, Py_ssize_t *length);
bool read_doubles(PyObject *object, const char *what, Py_ssize_t n, double **out, Py_ssize_t *length);
bool read_ints(PyObject *object, const char *what, Py_ssize_t n, int64_t **out, Py_ssize_t *length);
bool read_numbers(PyObject *object, const char *what, int n, double *out); /* n of them, n small */
bool read_vec3(PyObject *object, const char *what, st_Vec3 *out);
/* A number, or None, which leaves *out as it is. */
bool read_optional(PyObject *object, const char *what, double *out);
PyObject *vec3_tuple(st_Vec3 v);
PyObject *json_value(const char *text); /* json.loads; NULL text: no memory */
PyObject *
json_text(PyObject *value); /* json.dumps, as UTF-8 bytes; objects with `tolist` (numpy's arrays) become lists */
/* The text of a str as UTF-8, without zero bytes inside; borrowed. */
const char *text_of(PyObject *object, const char *what);

/* ---- array.c: read-only arrays of numbers that numpy takes without a copy. */

bool add_array_type(PyObject *module, State *state);
/* New, zero, with its own memory at *data. */
PyObject *array_new(const State *state, int n_dims, const Py_ssize_t *shape, double **data);
PyObject *array_bytes(const State *state, int n_dims, const Py_ssize_t *shape, unsigned char **data); /* few bytes */
PyObject *array_vector(const State *state, Py_ssize_t n, const double *values); /* a copy; NULL values: None */
/* Numbers that `owner` holds and does not change: of kind 'd' double, 'i' int, 'q' 'Q' 64 bits, '?' bool. */
PyObject *array_view(const State *state, PyObject *owner, const void *data, char kind, int n_dims,
                     const Py_ssize_t *shape, const Py_ssize_t *strides);

/* The same, and Python may write to them. */
PyObject *array_view_writable(const State *state, PyObject *owner, void *data, char kind, int n_dims,
                              const Py_ssize_t *shape);

/* ---- settings.c */

bool settings_apply(const State *state, PyObject *settings, st_SystemDef *def);
PyObject *settings_dict(const State *state, const st_SystemDef *def);
/* List of "simulation/KEY=VALUE" bytes that make `from` into `to`. */
PyObject *settings_sets(const State *state, const st_SystemDef *from, const st_SystemDef *to);
PyObject *settings_table(PyObject *module, PyObject *unused);
PyObject *presets_table(PyObject *module, PyObject *unused);
PyObject *solvers_table(PyObject *module, PyObject *unused);
PyObject *solver_parameters(PyObject *module, PyObject *unused);

/* ---- scene.c */

typedef struct SceneObject {
    PyObject_HEAD st_Scene *scene;
    st_SystemDef def; /* the settings of its `simulation`                                   */
    PyObject *text;   /* bytes                                                              */
    PyObject *label;  /* bytes: where the text came from                                    */
    PyObject *sets;   /* list of bytes "PATH=VALUE" that it was read with                   */
    PyObject *bodies, *joints, *forces, *shapes; /* dicts of ids by name                    */
} SceneObject;

bool add_scene_type(PyObject *module, State *state);
PyObject *scene_parse(const State *state, PyObject *text, PyObject *label, PyObject *sets);
/* "PATH=VALUE" as a new list of bytes, from a mapping, a sequence of such texts, or None. */
PyObject *sets_list(PyObject *overrides);
const char **sets_array(PyObject *sets, int *n); /* of such a list; PyMem_Free it, not the texts */
/* By name or by id. */
bool body_id(const SceneObject *scene, PyObject *which, st_BodyId *out);
bool joint_id(const SceneObject *scene, PyObject *which, st_JointId *out);
bool force_id(const SceneObject *scene, PyObject *which, st_ForceId *out);
bool shape_id(const SceneObject *scene, PyObject *which, st_ShapeId *out);

/* ---- system.c; its methods are in system.h */

typedef struct RecorderObject RecorderObject;

typedef struct SystemObject {
    PyObject_HEAD SceneObject *scene;
    st_System *system;
    st_SystemDef def;
    bool busy;                /* in use without the interpreter's lock                      */
    RecorderObject *recorder; /* not owned: it owns the system, and clears this             */
    PyObject *choice;         /* owns the solver of its own and its parameters; or NULL     */
} SystemObject;

bool add_system_type(PyObject *module, State *state);
PyObject *system_make(const State *state, SceneObject *scene, const st_SystemDef *def,
                      st_System *system); /* takes it */
/* Not busy, or an exception: tested before every use, after the arguments have been read. */
bool system_free(const SystemObject *self);
/* For the present state, before any step. */
bool system_start_info(SystemObject *self, st_StepInfo *info);

/* ---- batch.c */

bool add_batch_type(PyObject *module, State *state);

/* ---- articulation.c */

bool add_articulation_type(PyObject *module, State *state);

/* ---- recorder.c, recording.c */

struct RecorderObject {
    PyObject_HEAD SystemObject *system;
    st_Recorder *recorder; /* NULL: closed */
    PyObject *path;        /* str          */
};

bool add_recorder_type(PyObject *module, State *state);
bool recorder_add(RecorderObject *recorder, const st_StepInfo *info);
bool add_recording_type(PyObject *module, State *state);

/* ---- sparse.c, friction.c, lcp.c */

/* A matrix of this shape from whatever matrices look like; owned by the caller: sparse_free. */
bool sparse_read(PyObject *object, const char *what, int n_rows, int n_cols, st_Sparse *out);
void sparse_free(st_Sparse *matrix);
PyObject *sparse_tuple(const State *state, PyObject *owner, const st_Sparse *matrix); /* (data, indices, indptr) */

bool add_friction_type(PyObject *module, State *state);
PyObject *friction_from_file(const State *state, st_ProblemFile *file);  /* takes the file */
PyObject *friction_from_copy(const State *state, st_FrictionCopy *copy); /* takes the copy */
bool add_lcp_type(PyObject *module, State *state);
PyObject *lcp_from_file(const State *state, st_ProblemFile *file); /* takes the file */

/* ---- own_solver.c: a Python function as a solver, parameters of solvers, the history of a solve */

typedef struct Choice Choice;
bool add_reduced_type(PyObject *module, State *state);
/* A capsule that owns *out. function NULL: one of ours; parameters: a dict, None or NULL. A function that refers to the
 * object that holds the capsule is not freed before the interpreter ends.                           */
PyObject *choice_new(const State *state, PyObject *function, PyObject *parameters, Choice **out);
const st_OwnSolver *choice_own(const Choice *choice); /* or NULL */
const st_SolverValue *choice_values(const Choice *choice, int *n);

typedef struct History {
    st_Progress *line; /* free() it */
    int count, capacity;
} History;

void history_add(void *history, const st_Progress *line); /* st_SolverDef.progress */
PyObject *history_list(const State *state, const History *history);

/* ---- away.c: work without the interpreter's lock, and Ctrl-C meanwhile */

/* A stretch of work without the interpreter's lock. */
typedef struct Away {
    PyThreadState *thread;
    pthread_t owner;  /* the thread whose state that is       */
    double looked;    /* when signals were last looked at [s] */
    bool interrupted; /* a signal's handler raised            */
} Away;

void away_begin(Away *away);
void away_end(Away *away);
void away_return(Away *away); /* takes the lock for a while ...  */
void away_leave(Away *away);  /* ... and gives it back           */
/* Now and then takes the lock for a look at signals; true: stop. For st_SolverDef.cancel and st_system_cancel_when. */
bool away_interrupted(void *away);

#endif
