/* stiction/articulation.h -- the bodies of a system as trees of joints: positions and velocities of joints as vectors,
 * mass matrix, bias forces, Jacobians, inverse and forward dynamics, inverse kinematics.
 *
 * An articulation has its own state, in joint coordinates. Read it from the system or set it, compute with it, and
 * write it back to the system:
 *
 *     st_articulation_read(robot, &err);                          the state of the system
 *     st_articulation_set_state(robot, q, n_q, v, n_v, &err);     or any other
 *     st_articulation_jacobian(robot, hand, tip, J, NULL, n_v, &err);
 *     st_articulation_write(robot, &err);                         the system continues from it
 *
 * Joints of the types below connect bodies into trees. Each link is a body with the coordinates of one joint:
 *
 *     revolute, screw   angle                        prismatic     displacement
 *     cylindrical       angle, displacement          universal     angle, angle_b
 *     planar            x, y, angle                  ball          unit quaternion (4); angular velocity (3)
 *     fixed             none                         free          position, unit quaternion (7); velocity of the
 *                                                                  centre of mass, angular velocity (6)
 *
 * Coordinates are as in st_Coordinate; angles count whole turns. Angular velocities of ball and free joints are in the
 * axes of body b. The velocity of a free body is in world axes. Locked degrees of freedom have no velocity.
 *
 * A joint that would close a loop is not a link (st_articulation_loop), and neither are distance, point-on-line and
 * gear joints. Forward dynamics and inverse kinematics satisfy their equations. If the link is body a of its joint, the
 * coordinates keep their sign: they are always those of b relative to a.
 *
 * Equations of motion:  M dv/dt + bias = tau + J' forces,  with bias = Coriolis and centrifugal terms + gravity.
 * tau includes all forces in the joints: also those of motors, springs, friction and limits. M includes armatures.
 *
 * Vectors are passed with their lengths, which are checked. Only the thread that uses the system may use its
 * articulations. Destroy them before the system. After st_system_change an articulation is no longer valid: make a new
 * one.
 */
#ifndef STICTION_ARTICULATION_H
#define STICTION_ARTICULATION_H

#include <stiction/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct st_Articulation st_Articulation;

/* Create the articulation of a system, in the current state of the system. ST_ERR_UNSUPPORTED if the system comes from
 * st_system_create_model, or if a joint that closes a loop has an armature. Free it with st_articulation_destroy,
 * before the system. */
ST_API st_Status st_articulation_create(st_System *system, st_Articulation **out, st_Error *err);
/* Free an articulation. NULL is allowed. */
ST_API void st_articulation_destroy(st_Articulation *articulation);

/* ------------------------------------------------------------------ structure */

typedef struct st_Link {
    st_BodyId body;
    st_BodyId parent; /* {0}: the ground or a fixed body                                          */
    st_JointId joint; /* between body and parent; {0}: the body is the root of its tree and moves freely */
    st_JointType type;
    bool reversed; /* the body is a of its joint, not b                                            */
    int first_q, n_q, first_v, n_v;
} st_Link;

/* Number of coordinates. */
ST_API int st_articulation_n_q(const st_Articulation *articulation);
/* Number of velocities. */
ST_API int st_articulation_n_v(const st_Articulation *articulation);
/* Number of links: the bodies that can move. */
ST_API int st_articulation_link_count(const st_Articulation *articulation);
/* Link `index`, 0 .. count - 1; a parent comes before its children. */
ST_API st_Status st_articulation_link(const st_Articulation *articulation, int index, st_Link *out);
/* Number of joints that close loops. */
ST_API int st_articulation_loop_count(const st_Articulation *articulation);
/* Loop joint `index`, 0 .. count - 1. */
ST_API st_Status st_articulation_loop(const st_Articulation *articulation, int index, st_JointId *out);

/* ------------------------------------------------------------------ state */

/* Copy the state of the system to the articulation. Errors of joints (st_JointReport) are removed. */
ST_API st_Status st_articulation_read(st_Articulation *articulation, st_Error *err);
/* Copy the state to the system as st_system_set_state does; the time stays. Fails with ST_ERR_ARGUMENT if a joint that
 * closes a loop has an error above ST_LOOP_TOLERANCE. The message names it, and the system is unchanged. */
ST_API st_Status st_articulation_write(st_Articulation *articulation, st_Error *err);
#define ST_LOOP_TOLERANCE 1e-6 /* [m or rad] */
/* Copy the coordinates and velocities. Either may be NULL. */
ST_API st_Status st_articulation_state(const st_Articulation *articulation, double *q, int n_q, double *v, int n_v,
                                       st_Error *err);
/* Set coordinates and velocities. Either may be NULL: unchanged. Quaternions must have length 1 within 1e-6; they are
 * normalised. On an error nothing changes.                                                        */
ST_API st_Status st_articulation_set_state(st_Articulation *articulation, const double *q, int n_q, const double *v,
                                           int n_v, st_Error *err);
/* The coordinates and velocities of one joint. Either may be NULL. */
ST_API st_Status st_articulation_joint(const st_Articulation *articulation, st_JointId joint, double *q, int n_q,
                                       double *v, int n_v, st_Error *err);
/* Set the coordinates and velocities of one joint. Either may be NULL: unchanged. */
ST_API st_Status st_articulation_set_joint(st_Articulation *articulation, st_JointId joint, const double *q, int n_q,
                                           const double *v, int n_v, st_Error *err);
/* Number of joints with coordinates outside their limits. *first (may be NULL) receives the first one. Such a state is
 * valid: the system returns to the limits at a bounded speed. */
ST_API int st_articulation_outside(st_Articulation *articulation, st_JointId *first);
/* The largest error of the joints that close loops [m or rad]. *worst (may be NULL) receives the joint. */
ST_API st_Status st_articulation_loop_error(st_Articulation *articulation, double *error, st_JointId *worst,
                                            st_Error *err);
/* q_out is q after a time h at the constant velocity v: a sum, or a product of quaternions. */
ST_API st_Status st_articulation_move(const st_Articulation *articulation, const double *q, const double *v, double h,
                                      double *q_out, int n_q, int n_v, st_Error *err);
/* The velocity d that moves q0 to q1 in unit time: move(q0, d, 1) = q1. */
ST_API st_Status st_articulation_difference(const st_Articulation *articulation, const double *q0, const double *q1,
                                            double *d, int n_q, int n_v, st_Error *err);

/* ------------------------------------------------------------------ kinematics */

/* Motion of a point that is fixed in a body, world axes. */
typedef struct st_PointMotion {
    st_Vec3 position, velocity, acceleration;
    st_Quat orientation;
    st_Vec3 spin, spin_rate; /* angular velocity and acceleration, world axes                      */
} st_PointMotion;

/* Compute the motion of a point, given in body axes, with dv/dt = `acceleration` (n_v numbers; NULL: 0). */
ST_API st_Status st_articulation_point(st_Articulation *articulation, st_BodyId body, st_Vec3 point,
                                       const double *acceleration, int n_v, st_PointMotion *out, st_Error *err);
/* Compute the motion of the frame of a measure of the scene (in MJCF, of a sensor at a site), by its name: the motion
 * of its origin and the orientation of its axes. ST_ERR_ARGUMENT: there is no such measure, or it has no frame. */
ST_API st_Status st_articulation_frame(st_Articulation *articulation, const char *name, const double *acceleration,
                                       int n_v, st_PointMotion *out, st_Error *err);
/* Jacobian of a point, given in body axes: 6 x n_v, row-major. J v is the velocity of the point, then the angular
 * velocity, world axes. `rate` receives dJ/dt. Either may be NULL. */
ST_API st_Status st_articulation_jacobian(st_Articulation *articulation, st_BodyId body, st_Vec3 point, double *J,
                                          double *rate, int n_v, st_Error *err);

/* Centre of mass and momentum of one tree or of all trees, world axes. */
typedef struct st_CentreOfMass {
    double mass;
    st_Vec3 position, velocity;
    st_Vec3 angular_momentum; /* about the centre of mass                                           */
} st_CentreOfMass;

/* Compute the centre of mass and momentum of the tree that contains `body`; {0}: of all trees. `matrix` (6 x n_v,
 * row-major, may be NULL) gives the momentum: matrix v is the linear momentum, then the angular one about the centre of
 * mass, world axes. */
ST_API st_Status st_articulation_centre_of_mass(st_Articulation *articulation, st_BodyId body, st_CentreOfMass *out,
                                                double *matrix, int n_v, st_Error *err);

/* ------------------------------------------------------------------ dynamics */

/* The mass matrix M, n_v x n_v, row-major. */
ST_API st_Status st_articulation_mass_matrix(st_Articulation *articulation, double *M, int n_v, st_Error *err);
/* M = L' D L with L unit lower triangular (n_v x n_v, row-major) and D diagonal (n_v). Entry (i, j) of L is 0 unless
 * velocity j moves the link that velocity i belongs to. */
ST_API st_Status st_articulation_mass_factor(st_Articulation *articulation, double *L, double *D, int n_v,
                                             st_Error *err);
/* y = M x; y may be x. */
ST_API st_Status st_articulation_mass_product(st_Articulation *articulation, const double *x, double *y, int n_v,
                                              st_Error *err);
/* y = inv(M) x; y may be x. */
ST_API st_Status st_articulation_mass_solve(st_Articulation *articulation, const double *x, double *y, int n_v,
                                            st_Error *err);
/* The two parts of the bias force. Either may be NULL. */
ST_API st_Status st_articulation_bias(st_Articulation *articulation, double *coriolis, double *gravity, int n_v,
                                      st_Error *err);

/* A force at a point in the world and a torque on a body, all in world axes. */
typedef struct st_BodyForce {
    st_BodyId body;
    st_Vec3 point, force, torque;
} st_BodyForce;

/* Compute tau for a given acceleration (NULL: 0) under gravity and n_forces known forces, such as contact forces.
 * Joints that close loops are ignored. */
ST_API st_Status st_articulation_inverse_dynamics(st_Articulation *articulation, const double *acceleration,
                                                  const st_BodyForce *forces, int n_forces, double *tau, int n_v,
                                                  st_Error *err);
/* A point where body b touches body a ({0}: the ground). The force on b is in the friction cone about the normal. */
typedef struct st_Touch {
    st_BodyId a, b;
    st_Vec3 point, normal; /* in the world; the normal is a unit vector from a to b                 */
    double mu;             /* friction                                                              */
} st_Touch;

/* Compute tau for a given acceleration (NULL: 0) under gravity and unknown contact forces. `driven` has one byte per
 * velocity; 0 means not driven (NULL: those of free roots are not driven). A velocity that is not driven has tau = 0;
 * contact forces must supply its generalised force. `force` (n_touches, on b, world axes) receives the smallest contact
 * forces within the cones that do so. *missing (may be NULL) receives the largest part that no such forces can supply
 * [N or N m]. Joints that close loops are ignored. */
ST_API st_Status st_articulation_inverse_contacts(st_Articulation *articulation, const double *acceleration,
                                                  const st_Touch *touches, int n_touches, const unsigned char *driven,
                                                  double *tau, int n_v, st_Vec3 *force, double *missing, st_Error *err);
/* Compute the acceleration for given tau (NULL: 0) under gravity and n_forces known forces. Loops stay closed;
 * redundant loop joints are allowed. */
ST_API st_Status st_articulation_forward_dynamics(st_Articulation *articulation, const double *tau,
                                                  const st_BodyForce *forces, int n_forces, double *acceleration,
                                                  int n_v, st_Error *err);

/* ------------------------------------------------------------------ inverse kinematics */

/* Target of inverse kinematics: the position of a point of a body and, optionally, the orientation of the body. */
typedef struct st_Target {
    st_BodyId body;
    st_Vec3 point;    /* in the axes of the body                                                  */
    st_Vec3 position; /* in the world                                                             */
    bool turned;      /* `orientation` is a target, too                                           */
    st_Quat orientation;
} st_Target;

/* Start from st_reach_def(). */
typedef struct st_ReachDef {
    int max_iterations;
    double tolerance;          /* of positions and angles [m, rad]                                          */
    double damping;            /* smallest damping of a step, relative to the largest entry of J J'         */
    const unsigned char *held; /* n_v bytes: 1 if the coordinate must not change; NULL: all may change */
    int n_held;                /* 0, or n_v                                                        */
    uint32_t cookie;
} st_ReachDef;

typedef struct st_ReachInfo {
    bool reached;
    int iterations;
    double error;  /* largest error of positions, angles and loops [m, rad]                       */
    int at_limits; /* number of coordinates at a limit                                             */
} st_ReachInfo;

/* Defaults: 200 iterations, tolerance 1e-9, damping 1e-6, all coordinates may change. */
ST_API st_ReachDef st_reach_def(void);
/* Inverse kinematics by damped least squares: change the coordinates so that the targets are reached and loops stay
 * closed, within the limits of joints. Limits of ball joints are ignored. If the targets cannot be reached, the result
 * is the best state found, and `reached` is false. Velocities become 0. On an error nothing changes. */
ST_API st_Status st_articulation_reach(st_Articulation *articulation, const st_Target *targets, int n_targets,
                                       const st_ReachDef *def, st_ReachInfo *info, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
