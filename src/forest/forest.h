/* forest/forest.h -- rigid bodies as trees: joint coordinates, kinematics and dynamics in joint space (docs/methods.md
 * 14).
 *
 * Node 0 is the world. Every other node is a body with one joint to its parent, which comes before it:
 *
 *     q = [ node 1: its coordinates | node 2: ... ]        v = [ node 1: its velocities | node 2: ... ]
 *
 *     joint         coordinates q                      velocities v
 *     revolute      angle                              its rate
 *     prismatic     displacement                       its rate
 *     screw         angle                              its rate; the displacement is lead times the angle
 *     cylindrical   angle, displacement                their rates
 *     universal     angle about z, angle about x       their rates
 *     planar        x, y, angle about z                their rates
 *     ball          unit quaternion                    angular velocity of b against a, axes of frame b
 *     free          position, unit quaternion          velocity of frame b's origin, axes of frame a; angular velocity
 * as ball fixed         none                               none
 *
 * A joint describes the motion of its body b against its body a. The node may be either of them (`reversed`). A free
 * joint may have locked velocities.
 *
 * Spatial vectors are in world axes, about a point that is fixed in the world and coincides with the centre of mass of
 * the first node of the tree: no transformation is needed between nodes, and no digits are lost far from the origin.
 *
 * M has an entry (i, j) only where velocity j is on the path from velocity i to the world. Row i is stored from the
 * diagonal up that path: M_ii, M_i,above(i), ... . Its factor M = L' D L has the same entries (Featherstone 2008, ch.
 * 6).
 */
#ifndef STI_FOREST_H
#define STI_FOREST_H

#include "base/base.h"
#include "math/quat.h"

#include <stiction/scene.h>

/* Angular and linear part: of a velocity, w and the velocity of the reference point; of a force, the moment about the
 * reference point and the force.                                                                    */
typedef struct sti_Spatial {
    st_Vec3 angular, linear;
} sti_Spatial;

static inline sti_Spatial spatial_add(sti_Spatial x, sti_Spatial y)
{
    return (sti_Spatial){add(x.angular, y.angular), add(x.linear, y.linear)};
}
static inline sti_Spatial spatial_scale(double s, sti_Spatial x)
{
    return (sti_Spatial){scale(s, x.angular), scale(s, x.linear)};
}
static inline double spatial_dot(sti_Spatial x, sti_Spatial y)
{
    return dot(x.angular, y.angular) + dot(x.linear, y.linear);
}
/* The rate of a motion vector that is fixed in a body with velocity v. */
static inline sti_Spatial spatial_cross(sti_Spatial v, sti_Spatial x)
{
    return (sti_Spatial){cross(v.angular, x.angular), add(cross(v.angular, x.linear), cross(v.linear, x.angular))};
}
/* The rate of a force vector that is fixed in a body with velocity v. */
static inline sti_Spatial spatial_cross_force(sti_Spatial v, sti_Spatial f)
{
    return (sti_Spatial){add(cross(v.angular, f.angular), cross(v.linear, f.linear)), cross(v.angular, f.linear)};
}
/* The linear part at another point, `arm` away from the reference point. */
static inline st_Vec3 spatial_at(sti_Spatial x, st_Vec3 arm)
{
    return add(x.linear, cross(x.angular, arm));
}

/* Inertia of one or more bodies about the reference point. */
typedef struct sti_Inertia {
    double mass;
    st_Vec3 moment; /* mass times the vector to the centre of mass                                  */
    double I[6];    /* xx yy zz xy xz yz                                                            */
} sti_Inertia;

#define STI_NODE_DOFS 6

typedef struct sti_Node {
    int parent;
    st_JointType type;
    bool reversed;                  /* the node is a of its joint, its parent is b                       */
    st_Pose frame_a, frame_b;       /* of the joint in bodies a and b; they coincide where all coordinates are 0 */
    double lead;                    /* screw: displacement per radian [m]                                */
    unsigned locks;                 /* free joint: bit k, its velocity k is locked                       */
    double mass;                    /* [kg]; the node's origin is its centre of mass                     */
    st_Mat3 inertia;                /* about it, axes of the node [kg m^2]                               */
    double armature[STI_NODE_DOFS]; /* of velocity k of the joint [kg m^2 or kg]                   */

    /* Set by sti_forest_create. */
    int root; /* first node of its tree                                    */
    int first_q, n_q, first_v, n_v;
    unsigned char dof[STI_NODE_DOFS]; /* its velocities: which of those of its joint type          */
} sti_Node;

/* The description: constant. */
typedef struct sti_Forest {
    st_Allocator allocator;
    int n_nodes; /* with the world                                                                 */
    int n_q, n_v;
    int64_t n_entries; /* of M                                                                     */
    sti_Node *node;
    int *above;   /* n_v: the next velocity on the way to the world; -1: none                      */
    int *tip;     /* n_nodes: the first velocity on the way to the world; -1: it does not move     */
    int *owner;   /* n_v: the node of a velocity                                                   */
    int64_t *row; /* n_v + 1: where row i of M starts                                              */
} sti_Forest;

/* Everything that is computed at a state. */
typedef struct sti_ForestState {
    st_Pose *pose;         /* n_nodes                                                              */
    st_Mat3 *axes;         /* n_nodes: orientations                                                */
    sti_Spatial *S;        /* n_v: the motion of the node per unit of the velocity, sign included  */
    sti_Spatial *S_rate;   /* n_v: d S/dt                                                          */
    sti_Spatial *velocity; /* n_nodes                                                              */
    sti_Spatial *rate;     /* n_nodes: accelerations, without gravity                              */
    sti_Spatial *force;    /* n_nodes: through the joint, on the node                              */
    sti_Inertia *inertia;  /* n_nodes: of the body, then of all bodies beyond its joint            */
    double *M, *L;         /* n_entries                                                            */
} sti_ForestState;

/* A forest of these nodes; node[0] is ignored. The parent of each is before it. Memory of the result: sti_forest_free.
 */
st_Status sti_forest_create(const st_Allocator *allocator, const sti_Node *node, int n_nodes, sti_Forest *out,
                            st_Error *err);
void sti_forest_free(sti_Forest *forest);
st_Status sti_forest_state_create(const sti_Forest *forest, sti_ForestState *out, st_Error *err);
void sti_forest_state_free(const sti_Forest *forest, sti_ForestState *state);

/* Number of coordinates and velocities of a joint type; -1: a tree has no such joint. */
int sti_joint_n_q(st_JointType type);
int sti_joint_n_v(st_JointType type);

/* ---- kinematics.c ------------------------------------------------------------------------------- */

/* All coordinates 0, unit quaternions. */
void sti_forest_neutral(const sti_Forest *forest, double *q);
/* Poses and S. */
void sti_forest_place(const sti_Forest *forest, const double *q, sti_ForestState *state);
/* Velocities of nodes and the rates of S, after place. */
void sti_forest_velocities(const sti_Forest *forest, const double *v, sti_ForestState *state);
/* Accelerations of nodes at velocity v and dv/dt = a (NULL: 0), after velocities. */
void sti_forest_accelerations(const sti_Forest *forest, const double *v, const double *a, sti_ForestState *state);
/* q_out = q moved for a time h at velocity v; q_out may be q. */
void sti_forest_move(const sti_Forest *forest, const double *q, const double *v, double h, double *q_out);
/* d with move(q0, d, 1) = q1. */
void sti_forest_difference(const sti_Forest *forest, const double *q0, const double *q1, double *d);
/* Coordinates of nodes at these poses (n_nodes); angles are the ones nearest to those in q, which is overwritten. */
void sti_forest_coordinates(const sti_Forest *forest, const st_Pose *pose, double *q);
/* Velocities of joints, from the velocities of nodes in the state (after place). */
void sti_forest_rates(const sti_Forest *forest, const sti_ForestState *state, double *v);
/* The reference point of a node's spatial vectors. */
static inline st_Vec3 sti_forest_origin(const sti_Forest *forest, const sti_ForestState *state, int node)
{
    return state->pose[forest->node[node].root].p;
}
/* Spatial velocity of a node with this velocity at its centre of mass and angular velocity, world axes. */
static inline sti_Spatial sti_forest_spatial(const sti_Forest *forest, const sti_ForestState *state, int node,
                                             st_Vec3 linear, st_Vec3 angular)
{
    const st_Vec3 arm = sub(sti_forest_origin(forest, state, node), state->pose[node].p);
    return (sti_Spatial){angular, add(linear, cross(angular, arm))};
}

/* ---- dynamics.c --------------------------------------------------------------------------------- */

/* M, armatures included, after place. */
void sti_forest_mass(const sti_Forest *forest, sti_ForestState *state);
/* L and D of M = L' D L; D is on the diagonal of `L`. Returns the velocity whose pivot is not positive; -1: none. */
int sti_forest_factor(const sti_Forest *forest, const double *M, double *L);
/* x = inv(M) x. */
void sti_forest_solve(const sti_Forest *forest, const double *L, double *x);
/* y = M x. */
void sti_forest_multiply(const sti_Forest *forest, const double *M, const double *x, double *y);
/* Forces of the joints that give the accelerations of the state, less `applied` (n_nodes, may be NULL: force and torque
 * at the centre of mass, world axes); after accelerations, or after place alone with `still`, where velocities and
 * accelerations count as 0. force[] of the state has what each joint transmits. Armatures are included. */
void sti_forest_inverse_dynamics(const sti_Forest *forest, const double *a, const sti_Spatial *applied, bool still,
                                 sti_ForestState *state, double *tau);
/* Momentum of a node, about its reference point. */
sti_Spatial sti_inertia_times(const sti_Inertia *inertia, sti_Spatial v);
/* Inertia of two sets of bodies of one tree. */
void sti_inertia_add(sti_Inertia *to, const sti_Inertia *from);
/* Inertia of each body about its reference point, into the state; after place. */
void sti_forest_inertias(const sti_Forest *forest, sti_ForestState *state);

#endif
