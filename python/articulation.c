/* articulation.c -- stiction.Articulation: a system in joint coordinates. */
#include "system.h"

#include <stiction/articulation.h>
#include <string.h>

typedef struct ArticulationObject {
    PyObject_HEAD SystemObject *system;
    st_Articulation *of;
} ArticulationObject;

#define STATE(self) state_of((PyObject *)(self))

static PyObject *raise(ArticulationObject *self, st_Status status, const st_Error *err)
{
    return raise_error(STATE(self), status, err);
}

static Py_ssize_t n_v(const ArticulationObject *self)
{
    return st_articulation_n_v(self->of);
}

PyObject *system_articulation(SystemObject *self, PyObject *Py_UNUSED(unused))
{
    st_Error err = {0};
    if (!system_free(self)) return NULL;
    ArticulationObject *made = PyObject_New(ArticulationObject, state_of((PyObject *)self)->articulation);
    if (made == NULL) return NULL;
    made->system = (SystemObject *)Py_NewRef((PyObject *)self);
    made->of = NULL;
    st_Status status = st_articulation_create(self->system, &made->of, &err);
    if (status != ST_OK) raise(made, status, &err);
    if (status != ST_OK) Py_CLEAR(made);
    return (PyObject *)made;
}

static void articulation_dealloc(ArticulationObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    st_articulation_destroy(self->of);
    Py_XDECREF((PyObject *)self->system);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool is_given(PyObject *object)
{
    return object != NULL && object != Py_None;
}

/* n numbers, or NULL where there is nothing. PyMem_Free(*out). */
static bool read_vector(PyObject *object, const char *what, Py_ssize_t n, double **out)
{
    Py_ssize_t length;
    *out = NULL;
    return !is_given(object) || read_doubles(object, what, n, out, &length);
}

static bool read_body(const ArticulationObject *self, PyObject *body, st_BodyId *out)
{
    *out = (st_BodyId){0};
    return !is_given(body) || body_id(self->system->scene, body, out);
}

static bool read_point(PyObject *point, st_Vec3 *out)
{
    *out = (st_Vec3){0, 0, 0};
    return !is_given(point) || read_vec3(point, "point", out);
}

/* An array of n_v numbers that `call` fills in. */
typedef st_Status Fill(st_Articulation *of, double *out, int n, st_Error *err);

static PyObject *filled(ArticulationObject *self, int n_dims, const Py_ssize_t *shape, Fill *call)
{
    double *data;
    st_Error err = {0};
    PyObject *array = system_free(self->system) ? array_new(STATE(self), n_dims, shape, &data) : NULL;
    st_Status status = array != NULL ? call(self->of, data, (int)n_v(self), &err) : ST_OK;
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    return array;
}

/* ---- structure and state ------------------------------------------------------------------------------------------
 */

static PyObject *articulation_links(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    void *data;
    const int n = st_articulation_link_count(self->of);
    PyObject *table = table_new(STATE(self), ROW_LINK, n, &data);
    for (int k = 0; table != NULL && k < n; k++) {
        st_Link link;
        if (st_articulation_link(self->of, k, &link) != ST_OK) continue;
        ((LinkRow *)data)[k] = (LinkRow){link, st_joint_type_name(link.type)};
    }
    return table;
}

static PyObject *articulation_loops(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    const int n = st_articulation_loop_count(self->of);
    PyObject *list = PyList_New(n);
    for (int k = 0; list != NULL && k < n; k++) {
        st_JointId joint = {0};
        (void)st_articulation_loop(self->of, k, &joint);
        PyObject *number = PyLong_FromLong(joint.index1);
        if (number == NULL || PyList_SetItem(list, k, number) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *articulation_read(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    st_Error err = {0};
    if (!system_free(self->system)) return NULL;
    st_Status status = st_articulation_read(self->of, &err);
    return status == ST_OK ? Py_NewRef(Py_None) : raise(self, status, &err);
}

static PyObject *articulation_write(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    st_Error err = {0};
    if (!system_free(self->system)) return NULL;
    st_Status status = st_articulation_write(self->of, &err);
    return status == ST_OK ? Py_NewRef(Py_None) : raise(self, status, &err);
}

static st_Status fill_q(st_Articulation *of, double *out, int n, st_Error *err)
{
    (void)n;
    return st_articulation_state(of, out, st_articulation_n_q(of), NULL, 0, err);
}

static st_Status fill_v(st_Articulation *of, double *out, int n, st_Error *err)
{
    return st_articulation_state(of, NULL, 0, out, n, err);
}

static PyObject *get_q(ArticulationObject *self, void *Py_UNUSED(unused))
{
    const Py_ssize_t n = st_articulation_n_q(self->of);
    return filled(self, 1, &n, fill_q);
}

static PyObject *get_v(ArticulationObject *self, void *Py_UNUSED(unused))
{
    const Py_ssize_t n = n_v(self);
    return filled(self, 1, &n, fill_v);
}

static bool put_state(ArticulationObject *self, PyObject *q, PyObject *v)
{
    double *q_new = NULL, *v_new = NULL;
    const int n_q = st_articulation_n_q(self->of), n = (int)n_v(self);
    st_Error err = {0};
    bool ok = read_vector(q, "q", n_q, &q_new) && read_vector(v, "v", n, &v_new) && system_free(self->system);
    if (ok) {
        st_Status status = st_articulation_set_state(self->of, q_new, n_q, v_new, n, &err);
        if (status != ST_OK) raise(self, status, &err);
        ok = status == ST_OK;
    }
    PyMem_Free(q_new);
    PyMem_Free(v_new);
    return ok;
}

static int set_member(ArticulationObject *self, const char *name, PyObject *value, PyObject *q, PyObject *v)
{
    if (is_given(value)) return put_state(self, q, v) ? 0 : -1;
    PyErr_Format(PyExc_TypeError, "%s cannot be %s", name, value == NULL ? "deleted" : "None");
    return -1;
}

static int set_q(ArticulationObject *self, PyObject *value, void *Py_UNUSED(unused))
{
    return set_member(self, "q", value, value, NULL);
}

static int set_v(ArticulationObject *self, PyObject *value, void *Py_UNUSED(unused))
{
    return set_member(self, "v", value, NULL, value);
}

/* The link of a joint. */
static bool find_link(const ArticulationObject *self, PyObject *which, st_JointId *joint, st_Link *out)
{
    if (!joint_id(self->system->scene, which, joint)) return false;
    for (int k = 0; k < st_articulation_link_count(self->of); k++)
        if (st_articulation_link(self->of, k, out) == ST_OK && out->joint.index1 == joint->index1) return true;
    *out = (st_Link){.n_q = 0};
    return true; /* the library reports the error */
}

static PyObject *articulation_joint(ArticulationObject *self, PyObject *which)
{
    st_JointId joint;
    st_Link link;
    double q[8], v[8];
    st_Error err = {0};
    if (!find_link(self, which, &joint, &link) || !system_free(self->system)) return NULL;
    st_Status status = st_articulation_joint(self->of, joint, q, link.n_q, v, link.n_v, &err);
    if (status != ST_OK) return raise(self, status, &err);
    PyObject *first = array_vector(STATE(self), link.n_q, q), *second = array_vector(STATE(self), link.n_v, v);
    PyObject *both = first != NULL && second != NULL ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return both;
}

static PyObject *articulation_set_joint(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"joint", "q", "v", NULL};
    PyObject *which, *q = NULL, *v = NULL;
    st_JointId joint;
    st_Link link;
    double *q_new = NULL, *v_new = NULL;
    st_Error err = {0};
    st_Status status = ST_OK;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:set_joint", names, &which, &q, &v) ||
        !find_link(self, which, &joint, &link))
        return NULL;
    bool ok =
        read_vector(q, "q", link.n_q, &q_new) && read_vector(v, "v", link.n_v, &v_new) && system_free(self->system);
    if (ok) status = st_articulation_set_joint(self->of, joint, q_new, link.n_q, v_new, link.n_v, &err);
    if (status != ST_OK) raise(self, status, &err);
    PyMem_Free(q_new);
    PyMem_Free(v_new);
    return ok && status == ST_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *articulation_outside(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    st_JointId first;
    if (!system_free(self->system)) return NULL;
    const int n = st_articulation_outside(self->of, &first);
    return Py_BuildValue("(ii)", n, first.index1);
}

static PyObject *articulation_loop_error(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    double error;
    st_Error err = {0};
    if (!system_free(self->system)) return NULL;
    st_Status status = st_articulation_loop_error(self->of, &error, NULL, &err);
    return status == ST_OK ? PyFloat_FromDouble(error) : raise(self, status, &err);
}

static PyObject *articulation_move(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"q", "v", "h", NULL};
    PyObject *from, *along, *array = NULL;
    double h = 1, *q = NULL, *v = NULL, *out;
    const Py_ssize_t n_q = st_articulation_n_q(self->of), n = n_v(self);
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|d:move", names, &from, &along, &h)) return NULL;
    if (read_vector(from, "q", n_q, &q) && read_vector(along, "v", n, &v) && system_free(self->system))
        array = array_new(STATE(self), 1, &n_q, &out);
    st_Status status = array != NULL ? st_articulation_move(self->of, q, v, h, out, (int)n_q, (int)n, &err) : ST_OK;
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    PyMem_Free(q);
    PyMem_Free(v);
    return array;
}

static PyObject *articulation_difference(ArticulationObject *self, PyObject *args)
{
    PyObject *from, *to, *array = NULL;
    double *q0 = NULL, *q1 = NULL, *out;
    const Py_ssize_t n_q = st_articulation_n_q(self->of), n = n_v(self);
    st_Error err = {0};
    if (!PyArg_ParseTuple(args, "OO:difference", &from, &to)) return NULL;
    if (read_vector(from, "q0", n_q, &q0) && read_vector(to, "q1", n_q, &q1) && system_free(self->system))
        array = array_new(STATE(self), 1, &n, &out);
    st_Status status =
        array != NULL ? st_articulation_difference(self->of, q0, q1, out, (int)n_q, (int)n, &err) : ST_OK;
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    PyMem_Free(q0);
    PyMem_Free(q1);
    return array;
}

/* ---- kinematics ---------------------------------------------------------------------------------------------------
 */

static PyObject *articulation_point(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", "point", "acceleration", NULL};
    PyObject *body, *where = NULL, *rate = NULL;
    st_BodyId id;
    st_Vec3 point;
    st_PointMotion motion;
    double *a = NULL;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:point", names, &body, &where, &rate) ||
        !read_body(self, body, &id) || !read_point(where, &point) || !read_vector(rate, "acceleration", n_v(self), &a))
        return NULL;
    const bool free = system_free(self->system);
    st_Status status = free ? st_articulation_point(self->of, id, point, a, (int)n_v(self), &motion, &err) : ST_OK;
    PyMem_Free(a);
    if (!free) return NULL;
    return status == ST_OK ? row_new(STATE(self), ROW_POINT_MOTION, &motion) : raise(self, status, &err);
}

static PyObject *articulation_frame(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name", "acceleration", NULL};
    const char *name;
    PyObject *rate = NULL;
    st_PointMotion motion;
    double *a = NULL;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|O:frame", names, &name, &rate) ||
        !read_vector(rate, "acceleration", n_v(self), &a))
        return NULL;
    const bool free = system_free(self->system);
    st_Status status = free ? st_articulation_frame(self->of, name, a, (int)n_v(self), &motion, &err) : ST_OK;
    PyMem_Free(a);
    if (!free) return NULL;
    return status == ST_OK ? row_new(STATE(self), ROW_POINT_MOTION, &motion) : raise(self, status, &err);
}

static PyObject *six_rows(ArticulationObject *self, PyObject *args, PyObject *keywords, bool rate)
{
    static char *names[] = {"body", "point", NULL};
    PyObject *body, *where = NULL;
    st_BodyId id;
    st_Vec3 point;
    double *data;
    st_Error err = {0};
    const Py_ssize_t shape[2] = {6, n_v(self)};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, rate ? "O|O:jacobian_rate" : "O|O:jacobian", names, &body,
                                     &where) ||
        !read_body(self, body, &id) || !read_point(where, &point) || !system_free(self->system))
        return NULL;
    PyObject *array = array_new(STATE(self), 2, shape, &data);
    if (array == NULL) return NULL;
    st_Status status =
        st_articulation_jacobian(self->of, id, point, rate ? NULL : data, rate ? data : NULL, (int)shape[1], &err);
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    return array;
}

static PyObject *articulation_jacobian(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    return six_rows(self, args, keywords, false);
}

static PyObject *articulation_jacobian_rate(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    return six_rows(self, args, keywords, true);
}

static PyObject *articulation_centre_of_mass(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", NULL};
    PyObject *body = NULL;
    st_BodyId id;
    st_CentreOfMass centre;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:centre_of_mass", names, &body) ||
        !read_body(self, body, &id) || !system_free(self->system))
        return NULL;
    st_Status status = st_articulation_centre_of_mass(self->of, id, &centre, NULL, 0, &err);
    return status == ST_OK ? row_new(STATE(self), ROW_CENTRE_OF_MASS, &centre) : raise(self, status, &err);
}

static PyObject *articulation_momentum_matrix(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"body", NULL};
    PyObject *body = NULL;
    st_BodyId id;
    st_CentreOfMass centre;
    double *data;
    st_Error err = {0};
    const Py_ssize_t shape[2] = {6, n_v(self)};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:momentum_matrix", names, &body) ||
        !read_body(self, body, &id) || !system_free(self->system))
        return NULL;
    PyObject *array = array_new(STATE(self), 2, shape, &data);
    if (array == NULL) return NULL;
    st_Status status = st_articulation_centre_of_mass(self->of, id, &centre, data, (int)shape[1], &err);
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    return array;
}

/* ---- dynamics -----------------------------------------------------------------------------------------------------
 */

static PyObject *articulation_mass_matrix(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    const Py_ssize_t shape[2] = {n_v(self), n_v(self)};
    return filled(self, 2, shape, st_articulation_mass_matrix);
}

static PyObject *articulation_mass_factor(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    const Py_ssize_t shape[2] = {n_v(self), n_v(self)};
    double *l, *d;
    st_Error err = {0};
    if (!system_free(self->system)) return NULL;
    PyObject *L = array_new(STATE(self), 2, shape, &l), *D = L != NULL ? array_new(STATE(self), 1, shape, &d) : NULL;
    st_Status status = D != NULL ? st_articulation_mass_factor(self->of, l, d, (int)shape[0], &err) : ST_OK;
    if (status != ST_OK) raise(self, status, &err);
    PyObject *both = D != NULL && status == ST_OK ? PyTuple_Pack(2, L, D) : NULL;
    Py_XDECREF(L);
    Py_XDECREF(D);
    return both;
}

typedef st_Status Apply(st_Articulation *of, const double *x, double *y, int n, st_Error *err);

static PyObject *applied(ArticulationObject *self, PyObject *vector, Apply *call)
{
    const Py_ssize_t n = n_v(self);
    double *x = NULL, *y;
    Py_ssize_t length;
    st_Error err = {0};
    if (!read_doubles(vector, "x", n, &x, &length)) return NULL;
    PyObject *array = system_free(self->system) ? array_new(STATE(self), 1, &n, &y) : NULL;
    st_Status status = array != NULL ? call(self->of, x, y, (int)n, &err) : ST_OK;
    PyMem_Free(x);
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    return array;
}

static PyObject *articulation_mass_product(ArticulationObject *self, PyObject *x)
{
    return applied(self, x, st_articulation_mass_product);
}

static PyObject *articulation_mass_solve(ArticulationObject *self, PyObject *x)
{
    return applied(self, x, st_articulation_mass_solve);
}

static st_Status fill_coriolis(st_Articulation *of, double *out, int n, st_Error *err)
{
    return st_articulation_bias(of, out, NULL, n, err);
}

static st_Status fill_gravity(st_Articulation *of, double *out, int n, st_Error *err)
{
    return st_articulation_bias(of, NULL, out, n, err);
}

static PyObject *articulation_coriolis(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    const Py_ssize_t n = n_v(self);
    return filled(self, 1, &n, fill_coriolis);
}

static PyObject *articulation_gravity(ArticulationObject *self, PyObject *Py_UNUSED(unused))
{
    const Py_ssize_t n = n_v(self);
    return filled(self, 1, &n, fill_gravity);
}

/* (body, point, force) or (body, point, force, torque), world axes. */
static bool read_force(const ArticulationObject *self, PyObject *item, st_BodyForce *out)
{
    PyObject *tuple = PySequence_Tuple(item), *body, *point, *force, *torque = NULL;
    *out = (st_BodyForce){{0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const bool ok = tuple != NULL && PyArg_ParseTuple(tuple, "OOO|O:a force", &body, &point, &force, &torque) &&
                    body_id(self->system->scene, body, &out->body) && read_vec3(point, "point", &out->point) &&
                    read_vec3(force, "force", &out->force) &&
                    (!is_given(torque) || read_vec3(torque, "torque", &out->torque));
    Py_XDECREF(tuple);
    return ok;
}

static bool read_forces(const ArticulationObject *self, PyObject *object, st_BodyForce **out, int *n)
{
    *out = NULL;
    *n = 0;
    if (!is_given(object)) return true;
    PyObject *list = PySequence_List(object);
    if (list == NULL) return false;
    const Py_ssize_t count = PyList_Size(list);
    bool ok = count <= INT_MAX && (*out = PyMem_Malloc((size_t)count * sizeof **out + 1)) != NULL;
    if (!ok) PyErr_NoMemory();
    for (Py_ssize_t k = 0; ok && k < count; k++)
        ok = read_force(self, PyList_GetItem(list, k), &(*out)[k]);
    *n = (int)count;
    Py_DECREF(list);
    if (!ok) PyMem_Free(*out);
    return ok;
}

typedef st_Status Dynamics(st_Articulation *of, const double *x, const st_BodyForce *forces, int n_forces, double *out,
                           int n, st_Error *err);

static PyObject *dynamics(ArticulationObject *self, const char *what, PyObject *vector, PyObject *forces,
                          Dynamics *call)
{
    const Py_ssize_t n = n_v(self);
    double *x = NULL, *out;
    st_BodyForce *force;
    int n_forces;
    st_Error err = {0};
    PyObject *array = NULL;
    if (!read_forces(self, forces, &force, &n_forces)) return NULL;
    if (read_vector(vector, what, n, &x) && system_free(self->system)) array = array_new(STATE(self), 1, &n, &out);
    st_Status status = array != NULL ? call(self->of, x, force, n_forces, out, (int)n, &err) : ST_OK;
    if (status != ST_OK) raise(self, status, &err);
    if (status != ST_OK) Py_CLEAR(array);
    PyMem_Free(x);
    PyMem_Free(force);
    return array;
}

static PyObject *articulation_inverse_dynamics(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"acceleration", "forces", NULL};
    PyObject *acceleration = NULL, *forces = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:inverse_dynamics", names, &acceleration, &forces))
        return NULL;
    return dynamics(self, "acceleration", acceleration, forces, st_articulation_inverse_dynamics);
}

static PyObject *articulation_forward_dynamics(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"tau", "forces", NULL};
    PyObject *tau = NULL, *forces = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:forward_dynamics", names, &tau, &forces)) return NULL;
    return dynamics(self, "tau", tau, forces, st_articulation_forward_dynamics);
}

/* (body, point, normal, mu) on the ground, or (body, point, normal, mu, other) on another body. */
static bool read_touch(const ArticulationObject *self, PyObject *item, st_Touch *out)
{
    PyObject *tuple = PySequence_Tuple(item), *body, *point, *normal, *other = NULL;
    *out = (st_Touch){.mu = 0};
    const bool ok =
        tuple != NULL && PyArg_ParseTuple(tuple, "OOOd|O:a touch", &body, &point, &normal, &out->mu, &other) &&
        body_id(self->system->scene, body, &out->b) && read_vec3(point, "point", &out->point) &&
        read_vec3(normal, "normal", &out->normal) && (!is_given(other) || body_id(self->system->scene, other, &out->a));
    Py_XDECREF(tuple);
    return ok;
}

static PyObject *articulation_inverse_contacts(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"touches", "acceleration", "driven", NULL};
    PyObject *touches, *acceleration = NULL, *driven = NULL, *result = NULL, *tau = NULL, *forces = NULL;
    const Py_ssize_t n = n_v(self);
    double *a = NULL, *mask = NULL, *of_tau, *of_forces, missing = 0;
    st_Error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:inverse_contacts", names, &touches, &acceleration, &driven))
        return NULL;
    PyObject *list = PySequence_List(touches);
    if (list == NULL) return NULL;
    const Py_ssize_t count = PyList_Size(list), shape[2] = {count, 3};
    st_Touch *touch = PyMem_Malloc((size_t)count * sizeof *touch + 1);
    st_Vec3 *force = PyMem_Malloc((size_t)count * sizeof *force + 1);
    unsigned char *bytes = PyMem_Malloc((size_t)n + 1);
    bool ok = touch != NULL && force != NULL && bytes != NULL && count <= INT_MAX;
    if (!ok) PyErr_NoMemory();
    for (Py_ssize_t k = 0; ok && k < count; k++)
        ok = read_touch(self, PyList_GetItem(list, k), &touch[k]);
    ok = ok && read_vector(acceleration, "acceleration", n, &a) && read_vector(driven, "driven", n, &mask) &&
         system_free(self->system);
    for (Py_ssize_t i = 0; ok && mask != NULL && i < n; i++)
        bytes[i] = mask[i] != 0;
    ok = ok && (tau = array_new(STATE(self), 1, &n, &of_tau)) != NULL &&
         (forces = array_new(STATE(self), 2, shape, &of_forces)) != NULL;
    if (ok) {
        const st_Status status = st_articulation_inverse_contacts(
            self->of, a, touch, (int)count, mask != NULL ? bytes : NULL, of_tau, (int)n, force, &missing, &err);
        ok = status == ST_OK;
        if (!ok) raise(self, status, &err);
    }
    for (Py_ssize_t k = 0; ok && k < count; k++) {
        of_forces[3 * k] = force[k].x;
        of_forces[3 * k + 1] = force[k].y;
        of_forces[3 * k + 2] = force[k].z;
    }
    if (ok) result = Py_BuildValue("(OOd)", tau, forces, missing);
    Py_XDECREF(tau);
    Py_XDECREF(forces);
    Py_DECREF(list);
    PyMem_Free(touch);
    PyMem_Free(force);
    PyMem_Free(bytes);
    PyMem_Free(a);
    PyMem_Free(mask);
    return result;
}

/* ---- inverse kinematics --------------------------------------------------------------------------------------------
 */

/* (body, point, position) or (body, point, position, orientation). */
static bool read_target(const ArticulationObject *self, PyObject *item, st_Target *out)
{
    PyObject *tuple = PySequence_Tuple(item), *body, *point, *position, *turned = NULL;
    double quat[4] = {1, 0, 0, 0};
    const bool ok = tuple != NULL && PyArg_ParseTuple(tuple, "OOO|O:a target", &body, &point, &position, &turned) &&
                    body_id(self->system->scene, body, &out->body) && read_vec3(point, "point", &out->point) &&
                    read_vec3(position, "position", &out->position) &&
                    (!is_given(turned) || read_numbers(turned, "orientation", 4, quat));
    out->turned = ok && is_given(turned);
    out->orientation = (st_Quat){quat[0], quat[1], quat[2], quat[3]};
    Py_XDECREF(tuple);
    return ok;
}

/* True where a velocity's coordinate must stay: numbers that are not 0. */
static bool read_held(PyObject *object, Py_ssize_t n, unsigned char **out)
{
    double *numbers;
    *out = NULL;
    if (!read_vector(object, "held", n, &numbers)) return false;
    if (numbers == NULL) return true;
    *out = PyMem_Malloc((size_t)n + 1);
    for (Py_ssize_t i = 0; *out != NULL && i < n; i++)
        (*out)[i] = numbers[i] != 0;
    PyMem_Free(numbers);
    if (*out == NULL) PyErr_NoMemory();
    return *out != NULL;
}

static PyObject *articulation_reach(ArticulationObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"targets", "held", "tolerance", "max_iterations", NULL};
    PyObject *targets, *held = NULL;
    st_ReachDef def = st_reach_def();
    st_ReachInfo info;
    unsigned char *stay = NULL;
    st_Error err = {0};
    st_Status status = ST_OK;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Odi:reach", names, &targets, &held, &def.tolerance,
                                     &def.max_iterations))
        return NULL;
    PyObject *list = PySequence_List(targets);
    if (list == NULL) return NULL;
    const Py_ssize_t n = PyList_Size(list);
    st_Target *target = PyMem_Malloc((size_t)n * sizeof *target + 1);
    bool ok = target != NULL && n <= INT_MAX;
    if (!ok) PyErr_NoMemory();
    for (Py_ssize_t k = 0; ok && k < n; k++)
        ok = read_target(self, PyList_GetItem(list, k), &target[k]);
    ok = ok && read_held(held, n_v(self), &stay) && system_free(self->system);
    def.held = stay;
    def.n_held = (int)n_v(self);
    if (ok) status = st_articulation_reach(self->of, target, (int)n, &def, &info, &err);
    if (status != ST_OK) raise(self, status, &err);
    PyMem_Free(target);
    PyMem_Free(stay);
    Py_DECREF(list);
    return ok && status == ST_OK ? row_new(STATE(self), ROW_REACH, &info) : NULL;
}

/* ---- the type -----------------------------------------------------------------------------------------------------
 */

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
#define NO_ARGUMENTS(function)  (PyCFunction)(function), METH_NOARGS
#define ONE_ARGUMENT(function)  (PyCFunction)(function), METH_O

static PyMethodDef articulation_methods[] = {
    {"read", NO_ARGUMENTS(articulation_read), "read($self, /)\n--\n\nCopy the state of the system."},
    {"write", NO_ARGUMENTS(articulation_write),
     "write($self, /)\n--\n\nCopy the state to the system. Loops must be closed."},
    {"links", NO_ARGUMENTS(articulation_links),
     "links($self, /)\n--\n\nThe bodies that move, parents first: a Table of Link."},
    {"loops", NO_ARGUMENTS(articulation_loops), "loops($self, /)\n--\n\nIds of the joints that close loops."},
    {"joint", ONE_ARGUMENT(articulation_joint),
     "joint($self, joint, /)\n--\n\nCoordinates and velocities of one joint: (Array, Array)."},
    {"set_joint", WITH_KEYWORDS(articulation_set_joint),
     "set_joint($self, /, joint, q=None, v=None)\n--\n\nSet coordinates or velocities of one joint."},
    {"outside", NO_ARGUMENTS(articulation_outside),
     "outside($self, /)\n--\n\nNumber of joints outside their limits, and the id of the first one, or 0."},
    {"loop_error", NO_ARGUMENTS(articulation_loop_error),
     "loop_error($self, /)\n--\n\nLargest error of the joints that close loops [m or rad]."},
    {"move", WITH_KEYWORDS(articulation_move),
     "move($self, /, q, v, h=1.0)\n--\n\nq after a time h at the velocity v: a sum, or a product of quaternions."},
    {"difference", (PyCFunction)articulation_difference, METH_VARARGS,
     "difference($self, q0, q1, /)\n--\n\nThe velocity d with move(q0, d) = q1."},
    {"point", WITH_KEYWORDS(articulation_point),
     "point($self, /, body, point=None, acceleration=None)\n--\n\n"
     "Motion of a point, given in body axes, with dv/dt = acceleration: a PointMotion."},
    {"frame", WITH_KEYWORDS(articulation_frame),
     "frame($self, /, name, acceleration=None)\n--\n\n"
     "Motion of the frame of a measure of the scene, with dv/dt = acceleration: a PointMotion."},
    {"jacobian", WITH_KEYWORDS(articulation_jacobian),
     "jacobian($self, /, body, point=None)\n--\n\n"
     "The Jacobian J, 6 x n: J v is the velocity of the point, then the angular velocity, world axes."},
    {"jacobian_rate", WITH_KEYWORDS(articulation_jacobian_rate),
     "jacobian_rate($self, /, body, point=None)\n--\n\nThe time derivative of the Jacobian."},
    {"centre_of_mass", WITH_KEYWORDS(articulation_centre_of_mass),
     "centre_of_mass($self, /, body=None)\n--\n\nCentre of mass of the tree of a body, or of all trees: a "
     "CentreOfMass."},
    {"momentum_matrix", WITH_KEYWORDS(articulation_momentum_matrix),
     "momentum_matrix($self, /, body=None)\n--\n\n"
     "The matrix A, 6 x n: A v is the momentum, then the angular momentum about the centre of mass."},
    {"mass_matrix", NO_ARGUMENTS(articulation_mass_matrix),
     "mass_matrix($self, /)\n--\n\nThe mass matrix M, including armatures."},
    {"mass_factor", NO_ARGUMENTS(articulation_mass_factor),
     "mass_factor($self, /)\n--\n\n(L, D) with M = L' diag(D) L, L unit lower triangular."},
    {"mass_product", ONE_ARGUMENT(articulation_mass_product), "mass_product($self, x, /)\n--\n\nM x."},
    {"mass_solve", ONE_ARGUMENT(articulation_mass_solve), "mass_solve($self, x, /)\n--\n\ninv(M) x."},
    {"coriolis", NO_ARGUMENTS(articulation_coriolis),
     "coriolis($self, /)\n--\n\nBias force of velocities: M dv/dt + coriolis + gravity = tau."},
    {"gravity", NO_ARGUMENTS(articulation_gravity), "gravity($self, /)\n--\n\nBias force of gravity."},
    {"inverse_dynamics", WITH_KEYWORDS(articulation_inverse_dynamics),
     "inverse_dynamics($self, /, acceleration=None, forces=None)\n--\n\n"
     "Forces in the joints for an acceleration; joints that close loops are ignored. forces: (body, point, force[, "
     "torque]), world axes."},
    {"inverse_contacts", WITH_KEYWORDS(articulation_inverse_contacts),
     "inverse_contacts($self, /, touches, acceleration=None, driven=None)\n--\n\n"
     "Inverse dynamics with unknown contact forces: (tau, forces, missing). touches: (body, point, normal,\n"
     "mu[, other]); driven: not 0 for a driven velocity; by default all except those of free roots."},
    {"forward_dynamics", WITH_KEYWORDS(articulation_forward_dynamics),
     "forward_dynamics($self, /, tau=None, forces=None)\n--\n\n"
     "Acceleration for forces in the joints; loops stay closed. forces: (body, point, force[, torque]), world axes."},
    {"reach", WITH_KEYWORDS(articulation_reach),
     "reach($self, /, targets, held=None, tolerance=1e-09, max_iterations=200)\n--\n\n"
     "Inverse kinematics within limits; loops stay closed. targets: (body, point, position[, orientation])."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef articulation_getters[] = {
    {"q", (getter)get_q, (setter)set_q, "Coordinates of all links, an Array.", NULL},
    {"v", (getter)get_v, (setter)set_v, "Velocities of all links, an Array.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char articulation_doc[] =
    "A system in joint coordinates, with its own state. System.articulation makes it.\n\n"
    "robot = system.articulation()\n"
    "robot.q = q\n"
    "J = robot.jacobian(\"hand\")\n"
    "robot.write()";

static PyType_Slot articulation_slots[] = {
    {Py_tp_doc, (void *)articulation_doc},
    {Py_tp_dealloc, (void *)articulation_dealloc},
    {Py_tp_methods, articulation_methods},
    {Py_tp_getset, articulation_getters},
    {0, NULL},
};

static PyType_Spec articulation_spec = {"stiction.Articulation", sizeof(ArticulationObject), 0,
                                        TYPE_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION, articulation_slots};

bool add_articulation_type(PyObject *module, State *state)
{
    state->articulation = (PyTypeObject *)PyType_FromModuleAndSpec(module, &articulation_spec, NULL);
    return state->articulation != NULL && PyModule_AddType(module, state->articulation) == 0;
}
