/* step/articulation.c -- joint coordinates of a system: structure, state, kinematics and dynamics (docs/methods.md 14).
 */
#include "step/articulation.h"

#include "base/range.h"
#include "base/tolerance.h"
#include "step/on_device.h"

/* ---- birth and end -------------------------------------------------------------------------------- */

/* All arrays that live as long as the articulation. One loop over this table allocates them, another one frees them. */
typedef struct Array {
    void **at;
    int64_t count;
    size_t size;
} Array;

enum { N_ARRAYS = 12 };

static void arrays_of(st_Articulation *a, Array out[N_ARRAYS])
{
    const int64_t n_v = a->of.forest.n_v, n_rows = a->n_rows;
    const Array arrays[N_ARRAYS] = {
        {(void **)&a->q, a->of.forest.n_q + 1, sizeof *a->q},
        {(void **)&a->v, n_v + 1, sizeof *a->v},
        {(void **)&a->owner, a->system->model.n_v + 1, sizeof *a->owner},
        {(void **)&a->lower, n_v + 1, sizeof *a->lower},
        {(void **)&a->upper, n_v + 1, sizeof *a->upper},
        {(void **)&a->applied, a->of.forest.n_nodes, sizeof *a->applied},
        {(void **)&a->work, 4 * n_v + 1, sizeof *a->work},
        {(void **)&a->world_q, a->system->model.n_q + 1, sizeof *a->world_q},
        {(void **)&a->world_v, a->system->model.n_v + 1, sizeof *a->world_v},
        {(void **)&a->row, n_rows * n_v + 1, sizeof *a->row},
        {(void **)&a->row_near, n_rows * n_v + 1, sizeof *a->row_near},
        {(void **)&a->value, n_rows + 1, sizeof *a->value},
    };
    memcpy(out, arrays, sizeof arrays);
}

static st_Status allocate(st_Articulation *a, st_Error *err)
{
    Array array[N_ARRAYS];
    int n = 0;
    for (int k = 0; k < a->of.n_loops; k++) {
        const sti_Joint *joint = &a->system->model.world->joint[a->of.loop[k]];
        n += joint->n_rows - (joint->held ? 1 : 0);
    }
    a->n_rows = n;
    STI_TRY(sti_forest_state_create(&a->of.forest, &a->state, err));
    STI_TRY(sti_forest_state_create(&a->of.forest, &a->other, err));
    arrays_of(a, array);
    for (int k = 0; k < N_ARRAYS; k++) {
        *array[k].at = sti_alloc(&a->allocator, array[k].count, array[k].size);
        if (*array[k].at == NULL)
            return sti_fail(err, ST_ERR_MEMORY, "out of memory for an articulation of %d velocities", a->of.forest.n_v);
    }
    return ST_OK;
}

st_Status st_articulation_create(st_System *system, st_Articulation **out, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(out, err);
    *out = NULL;
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    if (!system->model.rigid) return sti_fail(err, ST_ERR_UNSUPPORTED, "a system of your own model has no joints");
    const st_Allocator *allocator =
        &system->model.given.allocator; /* the articulation may live longer than the system */
    st_Articulation *a = sti_alloc(allocator, 1, sizeof *a);
    if (a == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for an articulation");
    a->allocator = *allocator;
    a->system = system;
    a->changes = st_system_changes(system);
    a->values = system->model.world->values_serial;
    a->sink.allocator = *allocator;
    a->sink.n_v = system->model.n_v;
    st_Status status = sti_spanning_forest_create(system->model.world, allocator, system->state.q, true, &a->of, err);
    if (status == ST_OK) status = allocate(a, err);
    if (status == ST_OK) {
        const sti_World *world = a->system->model.world;
        for (int b = 1; b < world->n_bodies; b++)
            for (int k = 0; k < world->body[b].n_dofs; k++)
                a->owner[world->body[b].v_first + k] = b;
        /* Limits of joints with one velocity, whose coordinate moves with that velocity alone. */
        for (int i = 0; i < a->of.forest.n_v; i++)
            a->lower[i] = -INFINITY, a->upper[i] = INFINITY;
        for (int node = 1; node < a->of.forest.n_nodes; node++) {
            if (a->of.joint[node] < 0) continue;
            const sti_Joint *joint = &world->joint[a->of.joint[node]];
            const sti_JointValues *values = &world->values.joint[a->of.joint[node]];
            for (int which = 0; which < 2; which++) {
                double factor;
                const int dof = sti_joint_dof(joint, joint->coordinate[which], &factor);
                if (dof < 0) continue;
                const double one = values->lower[which] / factor, two = values->upper[which] / factor;
                const int i = a->of.forest.node[node].first_v + dof;
                a->lower[i] = fmax(a->lower[i], fmin(one, two));
                a->upper[i] = fmin(a->upper[i], fmax(one, two));
            }
        }
        status = st_articulation_read(a, err);
    }
    if (status != ST_OK) {
        st_articulation_destroy(a);
        return status;
    }
    *out = a;
    return ST_OK;
}

void st_articulation_destroy(st_Articulation *a)
{
    if (a == NULL) return;
    const st_Allocator allocator = a->allocator;
    Array array[N_ARRAYS];
    arrays_of(a, array);
    for (int k = 0; k < N_ARRAYS; k++)
        sti_free(&allocator, *array[k].at, array[k].count, array[k].size);
    sti_row_buffer_free(&a->sink);
    sti_forest_state_free(&a->of.forest, &a->state);
    sti_forest_state_free(&a->of.forest, &a->other);
    sti_spanning_forest_free(&allocator, &a->of);
    sti_free(&allocator, a, 1, sizeof *a);
}

/* ---- checks --------------------------------------------------------------------------------------- */

st_Status sti_articulation_check(const st_Articulation *a, const char *call, st_Error *err)
{
    if (a == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "%s: articulation is NULL, must be given", call);
    if (a->changes != st_system_changes(a->system))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: the scene of the system has been changed, make a new articulation",
                        call);
    if (a->values != a->system->model.world->values_serial)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: parameters of the system have changed, make a new articulation",
                        call);
    return ST_OK;
}

static st_Status check_length(const char *call, const char *what, const void *x, int n, int expected, st_Error *err)
{
    if (x == NULL || n == expected) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s: %s has %d numbers, must have %d", call, what, n, expected);
}

#define CHECK_LENGTH(what, n, expected, err) STI_TRY(check_length(__func__, #what, what, n, expected, err))
#define CHECK(a, err)                        STI_TRY(sti_articulation_check(a, __func__, err))

/* Names of a joint's coordinates, for messages. */
static const char *name_of(const st_Articulation *a, int node)
{
    const sti_World *world = a->system->model.world;
    return a->of.joint[node] < 0 ? world->scene->names[STI_BODY].name[a->of.body[node]]
                                 : world->scene->joint[a->of.joint[node]].name;
}

static const char *kind_of(const st_Articulation *a, int node)
{
    return a->of.joint[node] < 0 ? "body" : "joint";
}

/* Are the numbers finite and the quaternions of unit length? q has the coordinates of this node only. */
static st_Status check_coordinates(const st_Articulation *a, int node, const double *q, st_Error *err)
{
    const sti_Node *of = &a->of.forest.node[node];
    const int at = of->type == ST_JOINT_BALL ? 0 : of->type == ST_JOINT_FREE ? 3 : -1;
    for (int k = 0; k < of->n_q; k++)
        if (!sti_within(q[k], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s \"%s\": its coordinate %d is %g, must be from %g to %g",
                            kind_of(a, node), name_of(a, node), k, q[k], -STI_LARGEST, STI_LARGEST);
    if (at < 0) return ST_OK;
    const double length = quat_norm((st_Quat){q[at], q[at + 1], q[at + 2], q[at + 3]});
    if (!(fabs(length - 1) <= STI_UNIT))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s \"%s\": its quaternion has length %g, must be 1", kind_of(a, node),
                        name_of(a, node), length);
    return ST_OK;
}

static st_Status check_velocities(const st_Articulation *a, int node, const double *v, st_Error *err)
{
    for (int k = 0; k < a->of.forest.node[node].n_v; k++)
        if (!sti_within(v[k], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s \"%s\": its velocity %d is %g, must be from %g to %g",
                            kind_of(a, node), name_of(a, node), k, v[k], -STI_LARGEST, STI_LARGEST);
    return ST_OK;
}

static st_Status check_finite(const st_Articulation *a, const char *what, const double *x, st_Error *err)
{
    for (int i = 0; x != NULL && i < a->of.forest.n_v; i++)
        if (!isfinite(x[i]))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: number %d is %g, must be finite", what, i, x[i]);
    return ST_OK;
}

st_Status sti_articulation_node(const st_Articulation *a, st_BodyId body, const char *call, int *node, st_Error *err)
{
    const int last = sti_first_rotor(a->system->model.world) - 1;
    body = sti_body_now(a->system->model.world->scene, body);
    if (body.index1 < 0 || body.index1 > last)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: body number %d, must be from 0 to %d", call, body.index1, last);
    *node = a->of.node[body.index1];
    return ST_OK;
}

/* ---- structure ------------------------------------------------------------------------------------ */

int st_articulation_n_q(const st_Articulation *a)
{
    return a->of.forest.n_q;
}

int st_articulation_n_v(const st_Articulation *a)
{
    return a->of.forest.n_v;
}

int st_articulation_link_count(const st_Articulation *a)
{
    return a->of.forest.n_nodes - 1;
}

st_Status st_articulation_link(const st_Articulation *a, int index, st_Link *out)
{
    if (a == NULL || out == NULL || index < 0 || index >= st_articulation_link_count(a)) return ST_ERR_ARGUMENT;
    const sti_Node *node = &a->of.forest.node[index + 1];
    *out = (st_Link){.body = {a->of.body[index + 1]},
                     .parent = {node->parent > 0 ? a->of.body[node->parent] : 0},
                     .joint = {a->of.joint[index + 1] + 1},
                     .type = node->type,
                     .reversed = node->reversed,
                     .first_q = node->first_q,
                     .n_q = node->n_q,
                     .first_v = node->first_v,
                     .n_v = node->n_v};
    return ST_OK;
}

int st_articulation_loop_count(const st_Articulation *a)
{
    return a->of.n_loops;
}

st_Status st_articulation_loop(const st_Articulation *a, int index, st_JointId *out)
{
    if (a == NULL || out == NULL || index < 0 || index >= a->of.n_loops) return ST_ERR_ARGUMENT;
    *out = (st_JointId){a->of.loop[index] + 1};
    return ST_OK;
}

/* ---- state ---------------------------------------------------------------------------------------- */

void sti_articulation_update(st_Articulation *a)
{
    sti_forest_place(&a->of.forest, a->q, &a->state);
    sti_forest_velocities(&a->of.forest, a->v, &a->state);
    a->factored = false;
}

st_Status st_articulation_read(st_Articulation *a, st_Error *err)
{
    CHECK(a, err);
    st_system_state(a->system, a->world_q, a->world_v);
    sti_spanning_forest_read(a->system->model.world, &a->of, a->world_q, a->world_v, &a->state, a->q, a->v);
    sti_articulation_update(a);
    return ST_OK;
}

st_Status st_articulation_write(st_Articulation *a, st_Error *err)
{
    double error;
    st_JointId worst;
    CHECK(a, err);
    STI_TRY(st_articulation_loop_error(a, &error, &worst, err));
    if (!(error <= ST_LOOP_TOLERANCE))
        return sti_fail(
            err, ST_ERR_ARGUMENT,
            "joint \"%s\" closes a loop and is open by %g, must be at most %g (st_articulation_reach closes "
            "loops)",
            a->system->model.world->scene->joint[worst.index1 - 1].name, error, ST_LOOP_TOLERANCE);
    st_system_state(a->system, a->world_q, a->world_v);
    sti_spanning_forest_write(a->system->model.world, &a->of, &a->state, a->q, a->world_q, a->world_v);
    return st_system_set_state(a->system, st_system_time(a->system), a->world_q, a->world_v, err);
}

st_Status st_articulation_state(const st_Articulation *a, double *q, int n_q, double *v, int n_v, st_Error *err)
{
    CHECK(a, err);
    CHECK_LENGTH(q, n_q, a->of.forest.n_q, err);
    CHECK_LENGTH(v, n_v, a->of.forest.n_v, err);
    if (q != NULL) memcpy(q, a->q, (size_t)n_q * sizeof *q);
    if (v != NULL) memcpy(v, a->v, (size_t)n_v * sizeof *v);
    return ST_OK;
}

/* Sets coordinates and velocities of one node. The caller has checked them. */
static void put_node(st_Articulation *a, int node, const double *q, const double *v)
{
    const sti_Node *of = &a->of.forest.node[node];
    const int at = of->type == ST_JOINT_BALL ? 0 : of->type == ST_JOINT_FREE ? 3 : -1;
    double *to = a->q + of->first_q;
    if (v != NULL) memmove(a->v + of->first_v, v, (size_t)of->n_v * sizeof *v);
    if (q == NULL) return;
    memmove(to, q, (size_t)of->n_q * sizeof *q);
    if (at < 0) return;
    const st_Quat unit = quat_unit((st_Quat){to[at], to[at + 1], to[at + 2], to[at + 3]});
    to[at] = unit.w, to[at + 1] = unit.x, to[at + 2] = unit.y, to[at + 3] = unit.z;
}

st_Status st_articulation_set_state(st_Articulation *a, const double *q, int n_q, const double *v, int n_v,
                                    st_Error *err)
{
    CHECK(a, err);
    CHECK_LENGTH(q, n_q, a->of.forest.n_q, err);
    CHECK_LENGTH(v, n_v, a->of.forest.n_v, err);
    for (int put = 0; put < 2; put++)
        for (int node = 1; node < a->of.forest.n_nodes; node++) {
            const sti_Node *of = &a->of.forest.node[node];
            const double *own_q = q != NULL ? q + of->first_q : NULL, *own_v = v != NULL ? v + of->first_v : NULL;
            if (put == 1) put_node(a, node, own_q, own_v);
            if (put == 0 && own_q != NULL) STI_TRY(check_coordinates(a, node, own_q, err));
            if (put == 0 && own_v != NULL) STI_TRY(check_velocities(a, node, own_v, err));
        }
    sti_articulation_update(a);
    return ST_OK;
}

/* Finds the node that a joint moves. */
static st_Status find_joint(const st_Articulation *a, st_JointId joint, const char *call, int *node, st_Error *err)
{
    const sti_World *world = a->system->model.world;
    joint = sti_joint_now(world->scene, joint);
    if (joint.index1 < 1 || joint.index1 > world->n_joints)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: joint number %d, must be from 1 to %d", call, joint.index1,
                        world->n_joints);
    for (*node = 1; *node < a->of.forest.n_nodes; (*node)++)
        if (a->of.joint[*node] == joint.index1 - 1) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "%s: joint \"%s\" has no coordinates: it closes a loop, or constrains nothing", call,
                    world->scene->joint[joint.index1 - 1].name);
}

static st_Status find_joint_vectors(const st_Articulation *a, st_JointId joint, const char *call, const double *q,
                                    int n_q, const double *v, int n_v, int *node, st_Error *err)
{
    STI_TRY(sti_articulation_check(a, call, err));
    STI_TRY(find_joint(a, joint, call, node, err));
    STI_TRY(check_length(call, name_of(a, *node), q, n_q, a->of.forest.node[*node].n_q, err));
    return check_length(call, name_of(a, *node), v, n_v, a->of.forest.node[*node].n_v, err);
}

st_Status st_articulation_joint(const st_Articulation *a, st_JointId joint, double *q, int n_q, double *v, int n_v,
                                st_Error *err)
{
    int node;
    STI_TRY(find_joint_vectors(a, joint, __func__, q, n_q, v, n_v, &node, err));
    if (q != NULL) memcpy(q, a->q + a->of.forest.node[node].first_q, (size_t)n_q * sizeof *q);
    if (v != NULL) memcpy(v, a->v + a->of.forest.node[node].first_v, (size_t)n_v * sizeof *v);
    return ST_OK;
}

st_Status st_articulation_set_joint(st_Articulation *a, st_JointId joint, const double *q, int n_q, const double *v,
                                    int n_v, st_Error *err)
{
    int node;
    STI_TRY(find_joint_vectors(a, joint, __func__, q, n_q, v, n_v, &node, err));
    if (q != NULL) STI_TRY(check_coordinates(a, node, q, err));
    if (v != NULL) STI_TRY(check_velocities(a, node, v, err));
    put_node(a, node, q, v);
    sti_articulation_update(a);
    return ST_OK;
}

/* Moves the bodies of the world to the poses of the articulation. */
static void place_world(st_Articulation *a, const sti_ForestState *state, const double *q)
{
    st_system_state(a->system, a->world_q, NULL);
    sti_spanning_forest_write(a->system->model.world, &a->of, state, q, a->world_q, NULL);
}

int st_articulation_outside(st_Articulation *a, st_JointId *first)
{
    int n = 0;
    if (first != NULL) *first = (st_JointId){0};
    if (sti_articulation_check(a, __func__, NULL) != ST_OK) return 0;
    const sti_World *world = a->system->model.world;
    place_world(a, &a->state, a->q);
    for (int k = 0; k < world->n_joints; k++) {
        const sti_JointValues *values = &world->values.joint[k];
        bool outside = false;
        for (int which = 0; which < 2; which++) {
            sti_Measure x;
            sti_Rows rows;
            if (!isfinite(values->lower[which]) && !isfinite(values->upper[which])) continue;
            if (sti_coordinate_row(world, k, which, a->world_q, &x, &rows, NULL) != ST_OK) continue;
            outside = outside || x.value < values->lower[which] - 1e-12 || x.value > values->upper[which] + 1e-12;
        }
        if (outside && n++ == 0 && first != NULL) *first = (st_JointId){k + 1};
    }
    return n;
}

st_Status st_articulation_move(const st_Articulation *a, const double *q, const double *v, double h, double *q_out,
                               int n_q, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(q, err);
    STI_NEED(v, err);
    STI_NEED(q_out, err);
    CHECK_LENGTH(q, n_q, a->of.forest.n_q, err);
    CHECK_LENGTH(v, n_v, a->of.forest.n_v, err);
    sti_forest_move(&a->of.forest, q, v, h, q_out);
    return ST_OK;
}

st_Status st_articulation_difference(const st_Articulation *a, const double *q0, const double *q1, double *d, int n_q,
                                     int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(q0, err);
    STI_NEED(q1, err);
    STI_NEED(d, err);
    CHECK_LENGTH(q0, n_q, a->of.forest.n_q, err);
    CHECK_LENGTH(d, n_v, a->of.forest.n_v, err);
    sti_forest_difference(&a->of.forest, q0, q1, d);
    return ST_OK;
}

/* ---- loops ---------------------------------------------------------------------------------------- */

st_Status sti_articulation_loops(st_Articulation *a, const sti_ForestState *state, const double *q, double *row,
                                 double *value, st_Error *err)
{
    const sti_World *world = a->system->model.world;
    const int n_v = a->of.forest.n_v;
    double *size = a->work + n_v; /* scratch memory */
    int n = 0;
    if (a->n_rows == 0) return ST_OK;
    memset(row, 0, (size_t)a->n_rows * (size_t)n_v * sizeof *row);
    place_world(a, state, q);
    sti_row_buffer_clear_constraints(&a->sink);
    STI_TRY(sti_joints_push(world, st_system_time(a->system), a->world_q, &a->sink, err));
    for (int k = 0; k < a->of.n_loops; k++) {
        const sti_Joint *joint = &world->joint[a->of.loop[k]];
        for (int r = 0; r < joint->n_rows - (joint->held ? 1 : 0); r++, n++) {
            const int of = joint->first_row + r;
            memset(size, 0, (size_t)n_v * sizeof *size);
            /* Adds a row on the velocities of bodies (entries p to end) to a row on the velocities of joints. The
             * entries of one body are a force on it. The power of this force along S_j is entry j of the new row.
             * `size` receives the sizes of the terms: a loop between bodies that the tree holds together leaves rows of
             * rounding, which must be 0. */
            int64_t p = a->sink.joint_rows.p[of];
            const int64_t end = a->sink.joint_rows.p[of + 1];
            double *gradient = row + (int64_t)n * n_v;
            const sti_RowList *rows = &a->sink.joint_rows;
            while (p < end) {
                const int b = a->owner[rows->i[p]], node = a->of.node[b];
                double full[6] = {0};
                for (; p < end && a->owner[rows->i[p]] == b; p++)
                    full[world->body[b].dof[rows->i[p] - world->body[b].v_first]] += rows->x[p];
                const st_Vec3 arm = sub(state->pose[node].p, sti_forest_origin(&a->of.forest, state, node));
                sti_Spatial force = {.linear = vec3_load(full)};
                force.angular = add(mat3_mul(&state->axes[node], vec3_load(full + 3)), cross(arm, force.linear));
                for (int j = a->of.forest.tip[node]; j >= 0; j = a->of.forest.above[j]) {
                    gradient[j] += spatial_dot(state->S[j], force);
                    size[j] +=
                        norm(state->S[j].linear) * norm(force.linear) + norm(state->S[j].angular) * norm(force.angular);
                }
            }
            for (int j = 0; j < a->of.forest.n_v; j++)
                if (fabs(gradient[j]) <= 1e-14 * size[j]) gradient[j] = 0;
            if (value != NULL) value[n] = a->sink.joint[of].value;
        }
    }
    return ST_OK;
}

st_Status st_articulation_loop_error(st_Articulation *a, double *error, st_JointId *worst, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(error, err);
    *error = 0;
    if (worst != NULL) *worst = (st_JointId){0};
    STI_TRY(sti_articulation_loops(a, &a->state, a->q, a->row, a->value, err));
    for (int k = 0, n = 0; k < a->of.n_loops; k++) {
        const sti_Joint *joint = &a->system->model.world->joint[a->of.loop[k]];
        for (int r = 0; r < joint->n_rows - (joint->held ? 1 : 0); r++, n++)
            if (!(fabs(a->value[n]) <= *error)) {
                *error = fabs(a->value[n]);
                if (worst != NULL) *worst = (st_JointId){a->of.loop[k] + 1};
            }
    }
    return ST_OK;
}

/* ---- kinematics ----------------------------------------------------------------------------------- */

st_Status st_articulation_point(st_Articulation *a, st_BodyId body, st_Vec3 point, const double *acceleration, int n_v,
                                st_PointMotion *out, st_Error *err)
{
    int node;
    CHECK(a, err);
    STI_NEED(out, err);
    CHECK_LENGTH(acceleration, n_v, a->of.forest.n_v, err);
    STI_TRY(sti_articulation_node(a, body, __func__, &node, err));
    const sti_ForestState *state = &a->state;
    if (node == 0) { /* the ground */
        st_Pose pose = pose_identity();
        if (body.index1 > 0) STI_TRY(st_system_pose(a->system, body, &pose));
        *out = (st_PointMotion){.position = pose_point(pose, point), .orientation = pose.q};
        return ST_OK;
    }
    sti_forest_accelerations(&a->of.forest, a->v, acceleration, &a->state);
    const st_Vec3 position = pose_point(state->pose[node], point);
    const st_Vec3 arm = sub(position, sti_forest_origin(&a->of.forest, state, node));
    const st_Vec3 velocity = spatial_at(state->velocity[node], arm), spin = state->velocity[node].angular;
    *out = (st_PointMotion){.position = position,
                            .velocity = velocity,
                            .acceleration = add(spatial_at(state->rate[node], arm), cross(spin, velocity)),
                            .orientation = state->pose[node].q,
                            .spin = spin,
                            .spin_rate = state->rate[node].angular};
    return ST_OK;
}

st_Status st_articulation_frame(st_Articulation *a, const char *name, const double *acceleration, int n_v,
                                st_PointMotion *out, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(name, err);
    STI_NEED(out, err);
    const st_Scene *scene = a->system->model.world->scene;
    int k = 0;
    while (k < scene->n_measures && strcmp(scene->measure[k].name, name) != 0)
        k++;
    if (k == scene->n_measures) return sti_fail(err, ST_ERR_ARGUMENT, "%s: there is no measure \"%s\"", __func__, name);
    const sti_MeasureEntry *measure = &scene->measure[k];
    if (measure->type < ST_MEASURE_POSITION || measure->type > ST_MEASURE_RANGE)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: measure \"%s\" has no frame, it is one of %s", __func__, name,
                        st_measure_type_name(measure->type));
    const int body = measure->body != NULL ? sti_names_find(&scene->names[STI_BODY], 0, measure->body) : 0;
    STI_TRY(st_articulation_point(a, (st_BodyId){body}, measure->frame.p, acceleration, n_v, out, err));
    out->orientation = quat_product(out->orientation, measure->frame.q);
    return ST_OK;
}

void sti_articulation_rows(const st_Articulation *a, int node, const sti_Spatial *S, st_Vec3 arm, double *row)
{
    const int n_v = a->of.forest.n_v;
    memset(row, 0, 6 * (size_t)n_v * sizeof *row);
    for (int j = a->of.forest.tip[node]; j >= 0; j = a->of.forest.above[j]) {
        double full[6];
        vec3_store(full, spatial_at(S[j], arm));
        vec3_store(full + 3, S[j].angular);
        for (int k = 0; k < 6; k++)
            row[(int64_t)k * n_v + j] = full[k];
    }
}

/* d/dt (s_v + s_w x r) contains the velocity of the point as well as the rate of s. */
st_Status st_articulation_jacobian(st_Articulation *a, st_BodyId body, st_Vec3 point, double *J, double *rate, int n_v,
                                   st_Error *err)
{
    int node;
    CHECK(a, err);
    CHECK_LENGTH(J, n_v, a->of.forest.n_v, err);
    CHECK_LENGTH(rate, n_v, a->of.forest.n_v, err);
    STI_TRY(sti_articulation_node(a, body, __func__, &node, err));
    const sti_ForestState *state = &a->state;
    const st_Vec3 arm = sub(pose_point(state->pose[node], point), sti_forest_origin(&a->of.forest, state, node));
    if (J != NULL) sti_articulation_rows(a, node, state->S, arm, J);
    if (rate == NULL) return ST_OK;
    sti_articulation_rows(a, node, state->S_rate, arm, rate);
    const st_Vec3 velocity = spatial_at(state->velocity[node], arm);
    for (int j = a->of.forest.tip[node]; j >= 0; j = a->of.forest.above[j]) {
        double turn[3];
        vec3_store(turn, cross(state->S[j].angular, velocity));
        for (int k = 0; k < 3; k++)
            rate[(int64_t)k * n_v + j] += turn[k];
    }
    return ST_OK;
}

/* All bodies after a joint move with its velocity. Their momentum per unit of that velocity is the composite inertia
 * times S. */
st_Status st_articulation_centre_of_mass(st_Articulation *a, st_BodyId body, st_CentreOfMass *out, double *matrix,
                                         int n_v, st_Error *err)
{
    int chosen;
    CHECK(a, err);
    STI_NEED(out, err);
    CHECK_LENGTH(matrix, n_v, a->of.forest.n_v, err);
    STI_TRY(sti_articulation_node(a, body, __func__, &chosen, err));
    body = sti_body_now(a->system->model.world->scene, body);
    if (body.index1 > 0 && chosen == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: body \"%s\" does not move, so it is in no tree", __func__,
                        a->system->model.world->scene->names[STI_BODY].name[body.index1]);
    const sti_Forest *forest = &a->of.forest;
    const sti_ForestState *state = &a->state;
    const int root = chosen > 0 ? forest->node[chosen].root : 0;
    st_Vec3 centre = vec3(0, 0, 0), momentum = vec3(0, 0, 0), turning = vec3(0, 0, 0);
    double mass = 0;
    for (int node = 1; node < forest->n_nodes; node++) {
        if (root > 0 && forest->node[node].root != root) continue;
        mass += forest->node[node].mass;
        centre = add(centre, scale(forest->node[node].mass, state->pose[node].p));
    }
    centre = scale(mass > 0 ? 1 / mass : 0, centre);
    sti_forest_inertias(forest, &a->state);
    if (matrix != NULL) memset(matrix, 0, 6 * (size_t)n_v * sizeof *matrix);
    for (int node = forest->n_nodes - 1; node > 0; node--) {
        const sti_Node *of = &forest->node[node];
        if (root > 0 && of->root != root) continue;
        const st_Vec3 arm = sub(centre, sti_forest_origin(forest, state, node));
        /* children have larger numbers than their parents, so this inertia already includes all bodies after the
         * joint */
        for (int k = 0; matrix != NULL && k < of->n_v; k++) {
            const sti_Spatial p = sti_inertia_times(&state->inertia[node], state->S[of->first_v + k]);
            double full[6];
            vec3_store(full, p.linear);
            vec3_store(full + 3, sub(p.angular, cross(arm, p.linear)));
            for (int r = 0; r < 6; r++)
                matrix[(int64_t)r * n_v + of->first_v + k] = full[r];
        }
        if (of->parent > 0) sti_inertia_add(&state->inertia[of->parent], &state->inertia[node]);
    }
    for (int node = 1; node < forest->n_nodes; node++) {
        const sti_Node *of = &forest->node[node];
        if (root > 0 && of->root != root) continue;
        const st_Vec3 arm = sub(state->pose[node].p, sti_forest_origin(forest, state, node));
        const st_Vec3 p = scale(of->mass, spatial_at(state->velocity[node], arm));
        const st_Vec3 spin = mat3_mul_back(&state->axes[node], state->velocity[node].angular);
        momentum = add(momentum, p);
        turning = add(turning, add(mat3_mul(&state->axes[node], mat3_mul(&of->inertia, spin)),
                                   cross(sub(state->pose[node].p, centre), p)));
    }
    *out = (st_CentreOfMass){mass, centre, scale(mass > 0 ? 1 / mass : 0, momentum), turning};
    return ST_OK;
}

/* ---- dynamics ------------------------------------------------------------------------------------- */

static st_Status factor(st_Articulation *a, st_Error *err)
{
    if (a->factored) return ST_OK;
    sti_forest_mass(&a->of.forest, &a->state);
    const int bad = sti_forest_factor(&a->of.forest, a->state.M, a->state.L);
    if (bad >= 0) {
        const int node = a->of.forest.owner[bad];
        return sti_fail(
            err, ST_ERR_NUMERIC,
            "%s \"%s\": no mass moves with its velocity %d; give the bodies beyond it a mass and an inertia, "
            "or the joint an armature",
            kind_of(a, node), name_of(a, node), bad - a->of.forest.node[node].first_v);
    }
    a->factored = true;
    return ST_OK;
}

st_Status st_articulation_mass_matrix(st_Articulation *a, double *M, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(M, err);
    CHECK_LENGTH(M, n_v, a->of.forest.n_v, err);
    sti_forest_mass(&a->of.forest, &a->state);
    memset(M, 0, (size_t)n_v * (size_t)n_v * sizeof *M);
    for (int i = 0; i < n_v; i++) {
        const double *row = a->state.M + a->of.forest.row[i];
        for (int j = i; j >= 0; j = a->of.forest.above[j], row++)
            M[(int64_t)i * n_v + j] = M[(int64_t)j * n_v + i] = *row;
    }
    return ST_OK;
}

st_Status st_articulation_mass_factor(st_Articulation *a, double *L, double *D, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(L, err);
    STI_NEED(D, err);
    CHECK_LENGTH(L, n_v, a->of.forest.n_v, err);
    STI_TRY(factor(a, err));
    memset(L, 0, (size_t)n_v * (size_t)n_v * sizeof *L);
    for (int i = 0; i < n_v; i++) {
        const double *row = a->state.L + a->of.forest.row[i];
        D[i] = *row++;
        L[(int64_t)i * n_v + i] = 1;
        for (int j = a->of.forest.above[i]; j >= 0; j = a->of.forest.above[j], row++)
            L[(int64_t)i * n_v + j] = *row;
    }
    return ST_OK;
}

st_Status st_articulation_mass_product(st_Articulation *a, const double *x, double *y, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(x, err);
    STI_NEED(y, err);
    CHECK_LENGTH(x, n_v, a->of.forest.n_v, err);
    sti_forest_mass(&a->of.forest, &a->state);
    memcpy(a->work, x, (size_t)n_v * sizeof *x);
    sti_forest_multiply(&a->of.forest, a->state.M, a->work, y);
    return ST_OK;
}

st_Status st_articulation_mass_solve(st_Articulation *a, const double *x, double *y, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(x, err);
    STI_NEED(y, err);
    CHECK_LENGTH(x, n_v, a->of.forest.n_v, err);
    STI_TRY(factor(a, err));
    memmove(y, x, (size_t)n_v * sizeof *x);
    sti_forest_solve(&a->of.forest, a->state.L, y);
    return ST_OK;
}

/* Forces on bodies: their weights, if `gravity`, and the forces of the caller. */
static st_Status collect_forces(st_Articulation *a, bool gravity, const st_BodyForce *forces, int n_forces,
                                const char *call, st_Error *err)
{
    const sti_World *world = a->system->model.world;
    for (int node = 1; node < a->of.forest.n_nodes; node++) {
        a->applied[node] = (sti_Spatial){.linear = vec3(0, 0, 0)};
        if (gravity) a->applied[node].linear = scale(sti_weight(world, a->of.body[node]), world->gravity);
    }
    if (n_forces < 0 || (n_forces > 0 && forces == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: %d forces, must be given with their number", call, n_forces);
    for (int k = 0; k < n_forces; k++) {
        int node;
        STI_TRY(sti_articulation_node(a, forces[k].body, call, &node, err));
        if (!vec3_finite(forces[k].point) || !vec3_finite(forces[k].force) || !vec3_finite(forces[k].torque))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: force %d has a number that is not finite", call, k);
        if (node == 0) continue; /* the ground */
        const st_Vec3 arm = sub(forces[k].point, a->state.pose[node].p);
        a->applied[node].linear = add(a->applied[node].linear, forces[k].force);
        a->applied[node].angular = add(a->applied[node].angular, add(forces[k].torque, cross(arm, forces[k].force)));
    }
    return ST_OK;
}

st_Status st_articulation_bias(st_Articulation *a, double *coriolis, double *gravity, int n_v, st_Error *err)
{
    CHECK(a, err);
    CHECK_LENGTH(coriolis, n_v, a->of.forest.n_v, err);
    CHECK_LENGTH(gravity, n_v, a->of.forest.n_v, err);
    if (coriolis != NULL) {
        sti_forest_accelerations(&a->of.forest, a->v, NULL, &a->state);
        sti_forest_inverse_dynamics(&a->of.forest, NULL, NULL, false, &a->state, coriolis);
    }
    if (gravity == NULL) return ST_OK;
    STI_TRY(collect_forces(a, true, NULL, 0, __func__, err));
    sti_forest_inverse_dynamics(&a->of.forest, NULL, a->applied, true, &a->state, gravity);
    return ST_OK;
}

st_Status st_articulation_inverse_dynamics(st_Articulation *a, const double *acceleration, const st_BodyForce *forces,
                                           int n_forces, double *tau, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(tau, err);
    CHECK_LENGTH(tau, n_v, a->of.forest.n_v, err);
    STI_TRY(check_finite(a, "st_articulation_inverse_dynamics, acceleration", acceleration, err));
    STI_TRY(collect_forces(a, true, forces, n_forces, __func__, err));
    sti_forest_accelerations(&a->of.forest, a->v, acceleration, &a->state);
    sti_forest_inverse_dynamics(&a->of.forest, acceleration, a->applied, false, &a->state, tau);
    return ST_OK;
}

/* dG/dt v of the rows that close loops, by a central difference along v. Rows are smooth, so a step of cbrt(eps) leaves
 * an error of 1e-10. */
static st_Status loop_accelerations(st_Articulation *a, double *out, st_Error *err)
{
    const int n_v = a->of.forest.n_v;
    double *q = sti_alloc(&a->allocator, a->of.forest.n_q + 1, sizeof *q), speed = 1;
    if (q == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for forward dynamics");
    for (int i = 0; i < n_v; i++)
        speed = fmax(speed, fabs(a->v[i]));
    const double e = 6e-6 / speed;
    st_Status status = ST_OK;
    for (int side = -1; side <= 1 && status == ST_OK; side += 2) {
        sti_forest_move(&a->of.forest, a->q, a->v, side * e, q);
        sti_forest_place(&a->of.forest, q, &a->other);
        status = sti_articulation_loops(a, &a->other, q, a->row_near, NULL, err);
        for (int r = 0; r < a->n_rows && status == ST_OK; r++) {
            double sum = 0;
            for (int i = 0; i < n_v; i++)
                sum += a->row_near[(int64_t)r * n_v + i] * a->v[i];
            out[r] = (side < 0 ? 0 : out[r]) + side * sum / (2 * e);
        }
    }
    sti_free(&a->allocator, q, a->of.forest.n_q + 1, sizeof *q);
    return status;
}

void sti_solve_semidefinite(int n, double *W, double *y, int *order, double *x)
{
    double largest = 0;
    int rank = 0;
    for (int k = 0; k < n; k++) {
        order[k] = k;
        x[k] = 0;
        largest = fmax(largest, W[(int64_t)k * n + k]);
    }
    for (; rank < n; rank++) { /* W = G G' on the rows order[0 .. rank-1] */
        int best = rank;
        for (int k = rank + 1; k < n; k++)
            if (W[(int64_t)order[k] * n + order[k]] > W[(int64_t)order[best] * n + order[best]]) best = k;
        const int pivot = order[best];
        double *own = W + (int64_t)pivot * n;
        if (!(own[pivot] > 1e-11 * largest)) break; /* up to rounding, the row depends on the rows before it */
        order[best] = order[rank];
        order[rank] = pivot;
        const double root = sqrt(own[pivot]);
        for (int k = rank + 1; k < n; k++) { /* column `pivot` of G is stored in column `pivot` of W */
            double *row = W + (int64_t)order[k] * n;
            row[pivot] /= root;
        }
        own[pivot] = root;
        y[pivot] /= root;
        for (int k = rank + 1; k < n; k++) {
            double *row = W + (int64_t)order[k] * n;
            for (int j = rank + 1; j < n; j++)
                row[order[j]] -= row[pivot] * W[(int64_t)order[j] * n + pivot];
            y[order[k]] -= row[pivot] * y[pivot];
        }
    }
    for (int k = rank - 1; k >= 0; k--) {
        double sum = y[order[k]];
        for (int j = k + 1; j < rank; j++)
            sum -= W[(int64_t)order[j] * n + order[k]] * x[order[j]];
        x[order[k]] = sum / W[(int64_t)order[k] * n + order[k]];
    }
}

st_Status st_articulation_forward_dynamics(st_Articulation *a, const double *tau, const st_BodyForce *forces,
                                           int n_forces, double *acceleration, int n_v, st_Error *err)
{
    CHECK(a, err);
    STI_NEED(acceleration, err);
    CHECK_LENGTH(acceleration, n_v, a->of.forest.n_v, err);
    STI_TRY(check_finite(a, "st_articulation_forward_dynamics, tau", tau, err));
    STI_TRY(collect_forces(a, true, forces, n_forces, __func__, err));
    STI_TRY(factor(a, err));
    sti_forest_accelerations(&a->of.forest, a->v, NULL, &a->state);
    sti_forest_inverse_dynamics(&a->of.forest, NULL, a->applied, false, &a->state, a->work);
    for (int i = 0; i < n_v; i++)
        acceleration[i] = (tau != NULL ? tau[i] : 0) - a->work[i];
    sti_forest_solve(&a->of.forest, a->state.L, acceleration);
    if (a->n_rows == 0) return ST_OK;
    /* `acceleration` is that of the tree with open loops. The forces l that close the loops solve W l = -(G' a + rate).
     */
    const int n = a->n_rows;
    double *W = sti_alloc(&a->allocator, (int64_t)n * n, sizeof *W);
    double *Y = sti_alloc(&a->allocator, (int64_t)n * n_v, sizeof *Y);
    double *y = sti_alloc(&a->allocator, n, sizeof *y), *l = sti_alloc(&a->allocator, n, sizeof *l);
    int *order = sti_alloc(&a->allocator, n, sizeof *order);
    st_Status status = W != NULL && Y != NULL && y != NULL && l != NULL && order != NULL
                           ? ST_OK
                           : sti_fail(err, ST_ERR_MEMORY, "out of memory for forward dynamics");
    if (status == ST_OK) status = loop_accelerations(a, y, err);
    if (status == ST_OK) status = sti_articulation_loops(a, &a->state, a->q, a->row, NULL, err);
    for (int r = 0; r < n && status == ST_OK; r++) { /* Y = inv(M) G, by rows */
        const double *row = a->row + (int64_t)r * n_v;
        memcpy(Y + (int64_t)r * n_v, row, (size_t)n_v * sizeof *row);
        sti_forest_solve(&a->of.forest, a->state.L, Y + (int64_t)r * n_v);
        y[r] = -y[r];
        for (int i = 0; i < n_v; i++)
            y[r] -= row[i] * acceleration[i];
    }
    for (int r = 0; r < n && status == ST_OK; r++)
        for (int c = 0; c < n; c++) {
            double sum = 0;
            for (int i = 0; i < n_v; i++)
                sum += a->row[(int64_t)r * n_v + i] * Y[(int64_t)c * n_v + i];
            W[(int64_t)r * n + c] = sum;
        }
    if (status == ST_OK) sti_solve_semidefinite(n, W, y, order, l);
    for (int r = 0; r < n && status == ST_OK; r++)
        for (int i = 0; i < n_v; i++)
            acceleration[i] += l[r] * Y[(int64_t)r * n_v + i];
    sti_free(&a->allocator, W, (int64_t)n * n, sizeof *W);
    sti_free(&a->allocator, Y, (int64_t)n * n_v, sizeof *Y);
    sti_free(&a->allocator, y, n, sizeof *y);
    sti_free(&a->allocator, l, n, sizeof *l);
    sti_free(&a->allocator, order, n, sizeof *order);
    return status;
}
