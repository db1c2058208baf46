/* report.c -- System: reports of the last step and of the present state. */
#include "system.h"

#include <string.h>

PyObject *system_energy(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    EnergyRow row;
    st_Error err = {0};
    if (!system_free(self)) return NULL;
    st_Status status = st_system_energy(self->system, &row.kinetic, &row.potential, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return row_new(state_of((PyObject *)self), ROW_ENERGY, &row);
}

PyObject *system_momentum(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    MomentumRow row;
    if (!system_free(self)) return NULL;
    st_Status status = st_system_momentum(self->system, &row.linear, &row.angular);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, NULL);
    return row_new(state_of((PyObject *)self), ROW_MOMENTUM, &row);
}

/* ---- contacts ------------------------------------------------------------------------------------------------ */

PyObject *system_contacts(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    void *rows;
    if (!system_free(self)) return NULL;
    const int n = st_system_contact_count(self->system);
    PyObject *table = table_new(state_of((PyObject *)self), ROW_CONTACT, n, &rows);
    for (int k = 0; table != NULL && k < n; k++) {
        st_Status status = st_system_contact(self->system, k, (st_ContactReport *)rows + k);
        if (status == ST_OK) continue;
        Py_CLEAR(table);
        raise_error(state_of((PyObject *)self), status, NULL);
    }
    return table;
}

PyObject *system_contact_force(SystemObject *self, PyObject *body)
{
    st_BodyId id;
    ForceRow row;
    if (!body_id(self->scene, body, &id) || !system_free(self)) return NULL;
    st_Status status = st_system_contact_force(self->system, id, &row.force, &row.torque);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, NULL);
    return row_new(state_of((PyObject *)self), ROW_FORCE, &row);
}

/* ---- joints -------------------------------------------------------------------------------------------------- */

static bool read_frame(const char *word, st_Frame *out)
{
    *out = strcmp(word, "a") == 0 ? ST_FRAME_A : ST_FRAME_WORLD;
    if (*out == ST_FRAME_A || strcmp(word, "world") == 0) return true;
    PyErr_Format(PyExc_ValueError, "frame is '%s', must be 'world' or 'a'", word);
    return false;
}

PyObject *system_joint(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"joint", "frame", NULL};
    PyObject *which;
    const char *word = "world";
    st_Frame frame;
    st_JointId id;
    JointRow row;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|s:joint", names, &which, &word)) return NULL;
    if (!read_frame(word, &frame) || !joint_id(self->scene, which, &id) || !system_free(self)) return NULL;
    row.id = id.index1;
    st_Status status = st_system_joint(self->system, id, frame, &row.report);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, NULL);
    return row_new(state_of((PyObject *)self), ROW_JOINT, &row);
}

PyObject *system_joints(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"frame", NULL};
    const char *word = "world";
    st_Frame frame;
    void *rows;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|s:joints", names, &word)) return NULL;
    if (!read_frame(word, &frame) || !system_free(self)) return NULL;
    const int n = st_scene_joint_count(self->scene->scene);
    PyObject *table = table_new(state_of((PyObject *)self), ROW_JOINT, n, &rows);
    for (int k = 0; table != NULL && k < n; k++) {
        JointRow *row = (JointRow *)rows + k;
        row->id = k + 1;
        st_Status status = st_system_joint(self->system, (st_JointId){k + 1}, frame, &row->report);
        if (status == ST_OK) continue;
        Py_CLEAR(table);
        raise_error(state_of((PyObject *)self), status, NULL);
    }
    return table;
}

PyObject *system_springs(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    void *rows;
    if (!system_free(self)) return NULL;
    const int n = st_scene_spring_count(self->scene->scene);
    PyObject *table = table_new(state_of((PyObject *)self), ROW_SPRING, n, &rows);
    for (int k = 0; table != NULL && k < n; k++) {
        SpringRow *row = (SpringRow *)rows + k;
        row->id = k + 1;
        st_Status status = st_system_spring(self->system, (st_SpringId){k + 1}, &row->report);
        if (status == ST_OK) continue;
        Py_CLEAR(table);
        raise_error(state_of((PyObject *)self), status, NULL);
    }
    return table;
}

/* ---- events, islands, time ------------------------------------------------------------------------------------ */

PyObject *system_events(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    void *rows;
    if (!system_free(self)) return NULL;
    const int n = st_system_event_count(self->system);
    PyObject *table = table_new(state_of((PyObject *)self), ROW_EVENT, n, &rows);
    for (int k = 0; table != NULL && k < n; k++)
        st_system_event(self->system, k, (st_EventReport *)rows + k);
    return table;
}

PyObject *system_islands(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    void *rows;
    if (!system_free(self)) return NULL;
    const int n = st_system_island_count(self->system);
    PyObject *table = table_new(state_of((PyObject *)self), ROW_ISLAND, n, &rows);
    for (int k = 0; table != NULL && k < n; k++)
        st_system_island(self->system, k, (st_IslandReport *)rows + k);
    return table;
}

PyObject *system_profile(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    double seconds[ST_N_PARTS];
    if (!system_free(self)) return NULL;
    st_system_part_seconds(self->system, seconds);
    PyObject *dict = PyDict_New();
    for (int k = 0; dict != NULL && k < ST_N_PARTS; k++) {
        PyObject *number = PyFloat_FromDouble(seconds[k]);
        if (number == NULL || PyDict_SetItemString(dict, st_part_name((st_StepPart)k), number) != 0) Py_CLEAR(dict);
        Py_XDECREF(number);
    }
    return dict;
}

/* ---- the step problem -------------------------------------------------------------------------------------------- */

PyObject *system_problem(SystemObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"local", NULL};
    int local = 0;
    st_Error err = {0};
    st_FrictionCopy *copy;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|p:problem", names, &local) || !system_free(self)) return NULL;
    const st_Problem *problem = st_system_problem(self->system, NULL);
    if (problem == NULL) return PyErr_NoMemory();
    if (problem->n_contacts == 0)
        return PyErr_Format(PyExc_ValueError,
                            "there is no step problem: no step was taken yet, or the last had no contacts");
    st_Status status = st_friction_from_step(problem, local != 0, &copy, &err);
    if (status != ST_OK) return raise_error(state_of((PyObject *)self), status, &err);
    return friction_from_copy(state_of((PyObject *)self), copy);
}
