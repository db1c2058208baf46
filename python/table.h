/* table.h -- structs of the library as Python sees them: named tuples, and tables of many.
 *
 * A kind of row is a list of fields, each a member of a C struct with its place, its type and one line of help. Offset
 * and type are taken from the struct by the compiler: nothing is written twice. From the same list come
 *
 *     the named tuple          contact.normal                              stiction.Contact
 *     a table's columns        table["normal"], n x 3, without a copy
 *     the whole table          numpy.asarray(table)["normal"]              PEP 3118, a structured array
 */
#ifndef STICTION_PYTHON_TABLE_H
#define STICTION_PYTHON_TABLE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <stiction/articulation.h>
#include <stiction/io.h>

typedef enum FieldKind {
    FIELD_DOUBLE,
    FIELD_INT,
    FIELD_INT64,
    FIELD_UINT64,
    FIELD_BOOL,
    FIELD_TEXT,  /* const char *; NULL is None                                         */
    FIELD_CHARS, /* char [size]                                                        */
    FIELD_EVENT, /* st_EventKind, as its word                                          */
    FIELD_OBJECT /* PyObject *, borrowed by the row; NULL is None                      */
} FieldKind;

typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset, size; /* in the struct [bytes]                                      */
    const char *help;
} Field;

#define FIELD_KIND(x)                                                                                                  \
    _Generic((x), double                                                                                               \
             : FIELD_DOUBLE, double *                                                                                  \
             : FIELD_DOUBLE, st_Vec3                                                                                   \
             : FIELD_DOUBLE, st_Quat                                                                                   \
             : FIELD_DOUBLE, int32_t                                                                                   \
             : FIELD_INT, int64_t                                                                                      \
             : FIELD_INT64, uint64_t                                                                                   \
             : FIELD_UINT64, bool                                                                                      \
             : FIELD_BOOL, const char *                                                                                \
             : FIELD_TEXT, char *                                                                                      \
             : FIELD_CHARS, st_EventKind                                                                               \
             : FIELD_EVENT, PyObject *                                                                                 \
             : FIELD_OBJECT)
#define FIELD_AS(type, member, name, help)                                                                             \
    {                                                                                                                  \
        name, FIELD_KIND(((type *)0)->member), offsetof(type, member), sizeof(((type *)0)->member), help               \
    }
#define FIELD(type, member, help) FIELD_AS(type, member, #member, help)
#define OBJECT(type, member, help)                                                                                     \
    {                                                                                                                  \
#member, FIELD_KIND(((type *)0)->member), offsetof(type, member), sizeof(void *), help                         \
    }

typedef struct RowKind {
    const char *name, *help;
    size_t size; /* of the struct */
    const Field *field;
    int n_fields;
} RowKind;

/* In the order of row_kinds of rows.c. */
typedef enum Row {
    ROW_STEP_INFO = 0,
    ROW_CONTACT,
    ROW_JOINT,
    ROW_SPRING,
    ROW_EVENT,
    ROW_ISLAND,
    ROW_RAY_HIT,
    ROW_CLOSEST,
    ROW_LINK,
    ROW_POINT_MOTION,
    ROW_CENTRE_OF_MASS,
    ROW_REACH,
    ROW_POSE,
    ROW_VELOCITY,
    ROW_ENERGY,
    ROW_FORCE,
    ROW_MOMENTUM,
    ROW_SETTING,
    ROW_RECORDING_INFO,
    ROW_RECORDED_STEP,
    ROW_RECORDED_FRAME,
    ROW_RECORDED_CONTACT,
    ROW_RECORDED_JOINT,
    ROW_RECORDED_SPRING,
    ROW_RECORDED_EVENT,
    ROW_CHECKPOINT,
    ROW_SOLUTION,
    ROW_FRICTION_ERROR,
    ROW_DETERMINED,
    ROW_LCP_SOLUTION,
    ROW_PROGRESS,
    N_ROWS
} Row;

const RowKind *row_kind(Row row); /* rows.c */

/* The return value of `step`: the last step, and sums over all steps. */
typedef struct StepRow {
    st_StepInfo last;
    int64_t steps, unconverged;
    double worst_residual;
} StepRow;

typedef struct JointRow {
    int id;
    st_JointReport report;
} JointRow;

typedef struct SpringRow {
    int id;
    st_SpringReport report;
} SpringRow;

typedef struct LinkRow {
    st_Link link;
    const char *type;
} LinkRow;

typedef struct VelocityRow {
    st_Vec3 linear, spin;
} VelocityRow;

typedef struct EnergyRow {
    double kinetic, potential;
} EnergyRow;

typedef struct ForceRow {
    st_Vec3 force, torque;
} ForceRow;

typedef struct MomentumRow {
    st_Vec3 linear, angular;
} MomentumRow;

typedef struct RecordingRow {
    st_RecordingInfo info;
    PyObject *sets;
} RecordingRow;

typedef struct SettingRow {
    const char *key, *kind, *unit, *help;
    PyObject *words, *range;
} SettingRow;

typedef struct SolutionRow {
    PyObject *r, *u, *v, *l;
    st_SolveInfo info;
    st_FrictionError judged;
    PyObject *history;
} SolutionRow;

typedef struct DeterminedRow {
    PyObject *determined, *least;
    st_Determined count;
} DeterminedRow;

typedef struct LcpRow {
    PyObject *z, *w;
    const char *outcome;
    st_LcpInfo info;
    st_LcpError judged;
} LcpRow;

struct State;

bool add_table_types(PyObject *module, struct State *state);
/* The named tuple of one struct. */
PyObject *row_new(const struct State *state, Row row, const void *data);
/* A table of n rows, all zero; *data is where they are to be filled in. */
PyObject *table_new(const struct State *state, Row row, Py_ssize_t n, void **data);

#endif
