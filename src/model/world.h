/* model/world.h -- the rigid-body world: a scene compiled into a system of model.h.
 *
 * State of the world:
 *
 *     q = [ body 1: x y z  w x y z | body 2: ... | angle of angular spring 1, 2, ... ]
 *     v = [ body 1: its free ones of  vx vy vz (world)  wx wy wz (body) | body 2: ... ]
 *
 * Locked degrees of freedom are not in v at all. Fixed bodies stand in q and never move. The angles
 * count whole turns: they are coordinates, so that a state is complete and can be restored.
 */
#ifndef STI_WORLD_H
#define STI_WORLD_H

#include "collide/collide.h"
#include "collide/pairs.h"
#include "math/quat.h"
#include "model/scene.h"

#include <stiction/model.h>

#define STI_BODY_Q 7 /* coordinates of a body */

typedef struct sti_Body {
    int v_first;     /* its first velocity                                                        */
    int n_dofs;      /* 0: does not move                                                          */
    int dof[6];      /* its free ones among vx vy vz wx wy wz, increasing                         */
    unsigned planar; /* bit e: moves only across world axis e (or turns about it), METHODS 0      */
    double mass;     /* [kg]                                                                      */
    st_Mat3 inertia; /* body axes [kg m^2]                                                        */
} sti_Body;

/* Frames are fixed in the bodies: columns x, y, z of a joint frame, z along the axis. */
typedef struct sti_Joint {
    st_JointType type;
    int a, b;
    st_Vec3 anchor_a, anchor_b;
    st_Vec3 frame_a[3], frame_b[3];
    double length;
} sti_Joint;

typedef struct sti_Spring {
    st_SpringType type;
    int a, b;
    st_Vec3 anchor_a, anchor_b;
    st_Vec3 axis_a;   /* angular: in body a                                                     */
    st_Quat relative; /* angular: inverse(orientation of a) * orientation of b at the start     */
    double stiffness, damping, rest;
    int q_angle; /* angular: where its angle stands in q                                           */
} sti_Spring;

/* Shapes made ready, where they stand, and which are near: collider.c. */
typedef struct sti_Collider {
    int n_shapes;
    sti_Shape *shape;
    st_Pose *pose;      /* of the shapes, in the world                                            */
    sti_Bounds *bounds; /* around them                                                            */
    double *body_reach; /* of each body: how far its shapes go from its centre                    */
    bool placed;        /* pose and bounds hold something                                         */
    bool keep_all;      /* all points of a patch, not only those that span it                     */
    uint64_t *excluded; /* pairs of bodies that do not touch, in order                            */
    int n_excluded;
    int64_t excluded_capacity;
    sti_Pairs pairs;
    sti_Points points; /* of the pair at hand                                                      */
} sti_Collider;

typedef struct sti_World {
    st_Allocator allocator;
    st_Scene *scene; /* own copy: names, shapes, force tables                                      */
    st_Vec3 gravity;
    int n_bodies; /* with the ground, which is body 0                                              */
    sti_Body *body;
    int n_joints, n_springs;
    sti_Joint *joint;
    sti_Spring *spring;
    sti_Collider collider;
    int n_q, n_v, n_blocks;
    int *block_first; /* n_blocks + 1: one block of M a moving body                                */
    int *v_body;      /* n_v: whose it is                                                          */
    double *q0, *v0;  /* initial state                                                             */
} sti_World;

st_Status sti_world_create(const st_Scene *scene, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                           st_Error *err);
void sti_world_destroy(sti_World *world);
st_Model sti_world_model(sti_World *world);

/* mass.c: mass and inertia of a body from its def and shapes. */
st_Status sti_body_mass(const st_Scene *scene, int body, double *mass, st_Mat3 *inertia, st_Error *err);

/* Each file of forces and constraints compiles its objects from the scene and serves its rows. */
void sti_joint_compile(const st_Scene *scene, int index, sti_Joint *out);
st_Status sti_joints_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err);
void sti_spring_compile(const st_Scene *scene, int index, sti_Spring *out);
st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err);
double sti_spring_angle(const sti_World *world, const sti_Spring *spring, const double *q);
st_Status sti_contacts_push(sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err);
st_Status sti_collider_compile(sti_World *world, st_Error *err);
void sti_collider_free(sti_World *world);
st_Status sti_collider_place(sti_World *world, const double *q, st_Error *err);
bool sti_collider_near(const sti_Collider *collider, sti_Pair pair, double margin);
void sti_forces_add(const sti_World *world, double t, const double *q, double *k);

static inline st_Pose sti_pose(const double *q, int body)
{
    static const st_Pose ground = {{0, 0, 0}, {1, 0, 0, 0}};
    if (body == 0) return ground;
    const double *p = q + (int64_t)STI_BODY_Q * (body - 1);
    return (st_Pose){{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
}

/* Rows on the velocities of two bodies: the free ones of a, then of b. */
typedef struct sti_Rows {
    int count;
    int index[12];
    double gradient[3 * 12]; /* row k at gradient + k * count                                      */
} sti_Rows;

/* What a row says of one body: linear . v + angular . w, both in world axes. */
typedef struct sti_Half {
    st_Vec3 linear, angular;
} sti_Half;

void sti_rows_begin(const sti_World *world, int a, int b, sti_Rows *rows);
void sti_rows_set(const sti_World *world, const double *q, int a, int b, int row, sti_Half on_a, sti_Half on_b,
                  sti_Rows *rows);

#endif
