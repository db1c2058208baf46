/* forest/kinematics.c -- poses, velocities and accelerations of the nodes of a tree, and its coordinates from poses.
 *
 * With X_a, X_b the poses of the joint's bodies, F_a, F_b its frames in them, and J(q) the motion that the joint
 * allows,
 *
 *     X_b = X_a F_a J(q) inv(F_b),          V_b = V_a + sum of s_k v_k.
 *
 * Each s_k is a unit turn about an axis, a unit shift along it, or both (screw), and is fixed in a or in b. With the
 * velocity V of that body, ds_k/dt = V x s_k. Where the node is the joint's a, both relations are solved for a.
 */
#include "forest/forest.h"

/* ---- joints ------------------------------------------------------------------------------------- */

/* One velocity of a joint type. */
typedef struct Column {
    unsigned char axis; /* of the joint's frame                                                    */
    bool in_b;          /* the axis is fixed in b, else in a                                       */
    bool turn, shift;   /* about the axis, along it                                                */
} Column;

#define TURN(axis, in_b)                                                                                               \
    {                                                                                                                  \
        axis, in_b, true, false                                                                                        \
    }
#define SHIFT(axis, in_b)                                                                                              \
    {                                                                                                                  \
        axis, in_b, false, true                                                                                        \
    }

static const Column columns[ST_N_JOINT_TYPES][STI_NODE_DOFS] = {
    [ST_JOINT_REVOLUTE] = {TURN(2, false)},
    [ST_JOINT_PRISMATIC] = {SHIFT(2, false)},
    [ST_JOINT_CYLINDRICAL] = {TURN(2, false), SHIFT(2, false)},
    [ST_JOINT_SCREW] = {{2, false, true, true}},
    [ST_JOINT_UNIVERSAL] = {TURN(2, false), TURN(0, true)},
    [ST_JOINT_PLANAR] = {SHIFT(0, false), SHIFT(1, false), TURN(2, true)},
    [ST_JOINT_BALL] = {TURN(0, true), TURN(1, true), TURN(2, true)},
    [ST_JOINT_FREE] = {SHIFT(0, false), SHIFT(1, false), SHIFT(2, false), TURN(0, true), TURN(1, true), TURN(2, true)},
};

/* Where its unit quaternion is among the coordinates of a joint type; -1: it has none. */
static int quaternion_at(st_JointType type)
{
    return type == ST_JOINT_BALL ? 0 : type == ST_JOINT_FREE ? 3 : -1;
}

static st_Quat quat_load(const double *q)
{
    return (st_Quat){q[0], q[1], q[2], q[3]};
}

static void quat_store(double *out, st_Quat q)
{
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

static st_Quat turn_about(int axis, double angle)
{
    const double c = cos(0.5 * angle), s = sin(0.5 * angle);
    return (st_Quat){c, axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0};
}

/* J(q): frame b in frame a. */
static st_Pose joint_pose(const sti_Node *node, const double *q)
{
    switch (node->type) {
    case ST_JOINT_REVOLUTE:
        return (st_Pose){vec3(0, 0, 0), turn_about(2, q[0])};
    case ST_JOINT_PRISMATIC:
        return (st_Pose){vec3(0, 0, q[0]), {1, 0, 0, 0}};
    case ST_JOINT_CYLINDRICAL:
        return (st_Pose){vec3(0, 0, q[1]), turn_about(2, q[0])};
    case ST_JOINT_SCREW:
        return (st_Pose){vec3(0, 0, node->lead * q[0]), turn_about(2, q[0])};
    case ST_JOINT_UNIVERSAL:
        return (st_Pose){vec3(0, 0, 0), quat_product(turn_about(2, q[0]), turn_about(0, q[1]))};
    case ST_JOINT_PLANAR:
        return (st_Pose){vec3(q[0], q[1], 0), turn_about(2, q[2])};
    case ST_JOINT_BALL:
        return (st_Pose){vec3(0, 0, 0), quat_load(q)};
    case ST_JOINT_FREE:
        return (st_Pose){vec3_load(q), quat_load(q + 3)};
    case ST_JOINT_FIXED:
    case ST_JOINT_DISTANCE:
    case ST_JOINT_POINT_ON_LINE:
    case ST_JOINT_GEAR:
    case ST_JOINT_TENDON:
        break;
    }
    return pose_identity();
}

static double nearest_turn(double angle, double near)
{
    return angle + 2 * STI_PI * round((near - angle) / (2 * STI_PI));
}

/* The q with J(q) nearest to frame b in frame a; angles near those in q. */
static void joint_coordinates(const sti_Node *node, st_Pose J, double *q)
{
    const st_Vec3 z = vec3(0, 0, 1);
    const st_Mat3 R = quat_matrix(J.q);
    switch (node->type) {
    case ST_JOINT_REVOLUTE:
    case ST_JOINT_SCREW:
        q[0] = nearest_turn(quat_twist(J.q, z), q[0]);
        break;
    case ST_JOINT_PRISMATIC:
        q[0] = J.p.z;
        break;
    case ST_JOINT_CYLINDRICAL:
        q[0] = nearest_turn(quat_twist(J.q, z), q[0]);
        q[1] = J.p.z;
        break;
    case ST_JOINT_UNIVERSAL: /* turn about z, then about x */
        q[0] = nearest_turn(atan2(R.m[3], R.m[0]), q[0]);
        q[1] = nearest_turn(atan2(R.m[7], R.m[8]), q[1]);
        break;
    case ST_JOINT_PLANAR:
        q[0] = J.p.x;
        q[1] = J.p.y;
        q[2] = nearest_turn(quat_twist(J.q, z), q[2]);
        break;
    case ST_JOINT_BALL:
        quat_store(q, J.q);
        break;
    case ST_JOINT_FREE:
        vec3_store(q, J.p);
        quat_store(q + 3, J.q);
        break;
    case ST_JOINT_FIXED:
    case ST_JOINT_DISTANCE:
    case ST_JOINT_POINT_ON_LINE:
    case ST_JOINT_GEAR:
    case ST_JOINT_TENDON:
        break;
    }
}

static st_Pose pose_inverse(st_Pose pose)
{
    return (st_Pose){scale(-1, rotate_back(pose.q, pose.p)), quat_conjugate(pose.q)};
}

static int body_a(const sti_Forest *forest, int node)
{
    return forest->node[node].reversed ? node : forest->node[node].parent;
}

static int body_b(const sti_Forest *forest, int node)
{
    return forest->node[node].reversed ? forest->node[node].parent : node;
}

/* ---- forward ------------------------------------------------------------------------------------ */

void sti_forest_neutral(const sti_Forest *forest, double *q)
{
    memset(q, 0, (size_t)forest->n_q * sizeof *q);
    for (int k = 1; k < forest->n_nodes; k++) {
        const int at = quaternion_at(forest->node[k].type);
        if (at >= 0) q[forest->node[k].first_q + at] = 1;
    }
}

/* s_k of a joint, from b against a; the poses of both bodies are known. */
static sti_Spatial column(const sti_Forest *forest, const sti_ForestState *state, int index, int k)
{
    const sti_Node *node = &forest->node[index];
    const Column *c = &columns[node->type][k];
    const int body = c->in_b ? body_b(forest, index) : body_a(forest, index);
    const st_Pose *frame = c->in_b ? &node->frame_b : &node->frame_a;
    const st_Vec3 e = mat3_mul(&state->axes[body], rotate(frame->q, vec3_axis(c->axis)));
    sti_Spatial s = {.linear = vec3(0, 0, 0)};
    if (c->turn) {
        const st_Vec3 point = add(state->pose[body].p, mat3_mul(&state->axes[body], frame->p));
        s.angular = e;
        s.linear = cross(sub(point, sti_forest_origin(forest, state, index)), e);
    }
    if (c->shift) s.linear = add(s.linear, scale(c->turn ? node->lead : 1, e));
    return s;
}

void sti_forest_place(const sti_Forest *forest, const double *q, sti_ForestState *state)
{
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        const st_Pose J = joint_pose(node, q + node->first_q), parent = state->pose[node->parent];
        st_Pose pose;
        if (node->reversed)
            pose = pose_product(pose_product(parent, node->frame_b),
                                pose_product(pose_inverse(J), pose_inverse(node->frame_a)));
        else
            pose = pose_product(pose_product(parent, node->frame_a), pose_product(J, pose_inverse(node->frame_b)));
        pose.q = quat_unit(pose.q);
        state->pose[index] = pose;
        state->axes[index] = quat_matrix(pose.q);
        for (int k = 0; k < node->n_v; k++) {
            const sti_Spatial s = column(forest, state, index, node->dof[k]);
            state->S[node->first_v + k] = node->reversed ? spatial_scale(-1, s) : s;
        }
    }
}

void sti_forest_velocities(const sti_Forest *forest, const double *v, sti_ForestState *state)
{
    state->velocity[0] = (sti_Spatial){.linear = vec3(0, 0, 0)};
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        sti_Spatial velocity = state->velocity[node->parent];
        for (int i = node->first_v; i < node->first_v + node->n_v; i++)
            velocity = spatial_add(velocity, spatial_scale(v[i], state->S[i]));
        state->velocity[index] = velocity;
        for (int k = 0; k < node->n_v; k++) {
            const int i = node->first_v + k;
            const bool in_b = columns[node->type][node->dof[k]].in_b;
            const int body = in_b ? body_b(forest, index) : body_a(forest, index);
            state->S_rate[i] = spatial_cross(state->velocity[body], state->S[i]);
        }
    }
}

void sti_forest_accelerations(const sti_Forest *forest, const double *v, const double *a, sti_ForestState *state)
{
    state->rate[0] = (sti_Spatial){.linear = vec3(0, 0, 0)};
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        sti_Spatial rate = state->rate[node->parent];
        for (int i = node->first_v; i < node->first_v + node->n_v; i++) {
            rate = spatial_add(rate, spatial_scale(v[i], state->S_rate[i]));
            if (a != NULL) rate = spatial_add(rate, spatial_scale(a[i], state->S[i]));
        }
        state->rate[index] = rate;
    }
}

/* ---- coordinates --------------------------------------------------------------------------------- */

void sti_forest_move(const sti_Forest *forest, const double *q, const double *v, double h, double *q_out)
{
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        const int at = quaternion_at(node->type);
        const double *from = q + node->first_q;
        double *to = q_out + node->first_q, full[STI_NODE_DOFS];
        memset(full, 0, STI_NODE_DOFS * sizeof *full);
        for (int k = 0; k < node->n_v; k++)
            full[node->dof[k]] = v[node->first_v + k];
        for (int k = 0; k < (at < 0 ? node->n_q : at); k++)
            to[k] = from[k] + h * full[k];
        if (at >= 0)
            quat_store(to + at,
                       quat_unit(quat_product(quat_load(from + at), quat_exp(scale(h, vec3_load(full + at))))));
    }
}

void sti_forest_difference(const sti_Forest *forest, const double *q0, const double *q1, double *d)
{
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        const int at = quaternion_at(node->type);
        const double *from = q0 + node->first_q, *to = q1 + node->first_q;
        double full[STI_NODE_DOFS];
        for (int k = 0; k < (at < 0 ? node->n_q : at); k++)
            full[k] = to[k] - from[k];
        if (at >= 0)
            vec3_store(full + at, quat_log(quat_product(quat_conjugate(quat_load(from + at)), quat_load(to + at))));
        for (int k = 0; k < node->n_v; k++)
            d[node->first_v + k] = full[node->dof[k]];
    }
}

void sti_forest_coordinates(const sti_Forest *forest, const st_Pose *pose, double *q)
{
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        const st_Pose a = pose_product(pose[body_a(forest, index)], node->frame_a);
        const st_Pose b = pose_product(pose[body_b(forest, index)], node->frame_b);
        joint_coordinates(node, pose_product(pose_inverse(a), b), q + node->first_q);
    }
}

/* Axes of one joint are orthogonal: each velocity is the component along its own axis. */
void sti_forest_rates(const sti_Forest *forest, const sti_ForestState *state, double *v)
{
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        const int a = body_a(forest, index), b = body_b(forest, index);
        const st_Vec3 point = pose_point(state->pose[b], node->frame_b.p);
        const sti_Spatial of_a = state->velocity[a], of_b = state->velocity[b];
        const st_Vec3 arm = sub(point, sti_forest_origin(forest, state, index));
        const st_Vec3 turning = sub(of_b.angular, of_a.angular);
        const st_Vec3 shifting = sub(spatial_at(of_b, arm), spatial_at(of_a, arm));
        for (int k = 0; k < node->n_v; k++) {
            const Column *c = &columns[node->type][node->dof[k]];
            const st_Pose *frame = c->in_b ? &node->frame_b : &node->frame_a;
            const st_Vec3 e = mat3_mul(&state->axes[c->in_b ? b : a], rotate(frame->q, vec3_axis(c->axis)));
            v[node->first_v + k] = dot(e, c->turn ? turning : shifting);
        }
    }
}
