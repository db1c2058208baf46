/* stiction/scene.h -- the description of a rigid-body world: editable, without run-time state.
 *
 * Every object starts as a definition (`def`) from a function that fills in good defaults. The `add` functions copy the
 * def with its arrays and its name. Names must be unique among objects of one kind; an object without a name gets one
 * ("body1"). The body id {0} is the ground. The ground can have shapes, joints and springs, and it never moves.
 *
 * An `add` function checks its def. If a value is impossible it names the object and the value and leaves the scene
 * unchanged. `out` and `err` may be NULL in every `add` function.
 */
#ifndef STICTION_SCENE_H
#define STICTION_SCENE_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct st_Scene st_Scene;

/* Ids of the objects in a scene, numbered in the order they were added: index1 = 1, 2, ... {0} means the ground
 * (bodies) or none (all other kinds).
 *
 * The ids that `add` and `find` functions return have a generation, which no other object of the scene ever has. Such
 * an id stays valid when other objects are removed, in the scene, in its copies and in systems made from them. When its
 * own object is removed, it is refused. An id without a generation, {k}, is the object that has number k now.
 */
typedef struct st_BodyId {
    int32_t index1;
    uint32_t generation;
} st_BodyId;
typedef struct st_ShapeId {
    int32_t index1;
    uint32_t generation;
} st_ShapeId;
typedef struct st_JointId {
    int32_t index1;
    uint32_t generation;
} st_JointId;
typedef struct st_SpringId {
    int32_t index1;
    uint32_t generation;
} st_SpringId;
typedef struct st_ForceId {
    int32_t index1;
    uint32_t generation;
} st_ForceId;
typedef struct st_MaterialId {
    int32_t index1;
} st_MaterialId;
#define ST_GROUND ((st_BodyId){0})

/* A medium that bodies move through, each as the box of its inertia: drag that grows with the speed (viscosity) and
 * with its square (density).                                                                          */
typedef struct st_Medium {
    double density;   /* [kg/m^3]                                                                */
    double viscosity; /* [Pa s]                                                                  */
    st_Vec3 wind;     /* its velocity [m/s]                                                      */
} st_Medium;

/* Space that repeats along the axes where lower < upper: what leaves on one side of the cell comes in on the other, and
 * bodies touch across its borders. Positions are not wrapped: they go on beyond the cell. Along the other axes lower
 * and upper are equal, and space is open.                                                                  */
typedef struct st_Cell {
    st_Vec3 lower, upper; /* [m] */
} st_Cell;

/* Locked degrees of freedom: translations along world axes, rotations about body axes. A planar scene in x and y locks
 * ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY in every body.       */
enum {
    ST_LOCK_X = 1,
    ST_LOCK_Y = 2,
    ST_LOCK_Z = 4,
    ST_LOCK_RX = 8,
    ST_LOCK_RY = 16,
    ST_LOCK_RZ = 32,
    ST_LOCK_ROTATION = 56,
    ST_LOCK_ALL = 63
};

typedef struct st_BodyDef {
    st_Pose pose;     /* of the centre of mass, in the world [m]                        */
    st_Vec3 velocity; /* linear, world axes [m/s]                                       */
    st_Vec3 spin;     /* angular velocity, body axes [rad/s]                            */
    double mass;      /* [kg]; 0: from the shapes and their densities                   */
    st_Mat3 inertia;  /* about the centre of mass, body axes [kg m^2]; 0: from the shapes */
    uint32_t locks;   /* ST_LOCK_X | ...                                                */
    bool fixed;       /* does not move, as if it were part of the ground                */
    double gravity;   /* how much of gravity it feels: 1; 0: none, -1: it rises         */
    double medium;    /* how much of the medium's drag it feels: 1                      */
    const char *name;
    uint32_t cookie; /* set by st_body_def(); leave alone                               */
} st_BodyDef;

/* What surfaces do beside Coulomb's friction. In a pair NaN: not given.
 *
 * Adhesion: a contact can pull with up to F = adhesion + adhesion_pressure A, where A is the area of the contact patch
 * between two shapes (0 at a point). The law is that of a dry contact for r + h F: r_n >= -h F, |r_T| <= mu (r_n + h
 * F). It acts while the gap is at most `adhesion_range`.
 *
 * Liquid bridges: two spheres that touch, or a sphere and another surface, are joined by a bridge, which pulls with
 * F(gap) and breaks at a gap of (1 + wetting_angle/2) liquid_volume^(1/3) (docs/methods.md 11.6).
 *
 * Friction that depends on the sliding speed (Stribeck): mu(s) = kinetic + (mu - kinetic) exp(-(s/stribeck_speed)^2).
 */
typedef struct st_SurfaceLaw {
    double adhesion;          /* force per contact [N]                                       */
    double adhesion_pressure; /* force per area of contact [Pa]                              */
    double adhesion_range;    /* [m]; 0: 1e-3 of the smaller shape's size                    */
    double kinetic;           /* kinetic friction; NaN: as mu                                */
    double stribeck_speed;    /* [m/s]; 0: friction does not depend on speed                 */
    double liquid_volume;     /* of the bridge between two surfaces that touch [m^3]; 0: none */
    double surface_tension;   /* of that liquid [N/m]                                        */
    double wetting_angle;     /* between liquid and surface [rad], below pi/2                */
} st_SurfaceLaw;

/* Surface material. Two materials in contact use the values of their st_MaterialPairDef. Without one they use the
 * geometric mean of their friction coefficients and adhesions, and the larger restitution, rolling and spinning
 * friction, adhesion range, Stribeck speed, surface tension and wetting angle; of volumes of liquid the geometric mean.
 * A shape without a material has none of the laws of st_SurfaceLaw. */
typedef struct st_MaterialDef {
    double mu;          /* friction                                                     */
    double restitution; /* of impacts, 0 to 1                                           */
    double rolling;     /* rolling friction [m]                                         */
    double spinning;    /* spinning friction [m]                                        */
    st_SurfaceLaw more; /* adhesion, friction that depends on speed                     */
    const char *name;
    uint32_t cookie;
} st_MaterialDef;

typedef struct st_MaterialPairDef {
    st_MaterialId a, b; /* may be the same                                              */
    double mu;          /* friction between them; NaN: not given                         */
    double restitution; /* of impacts between them, 0 to 1; NaN: not given               */
    double rolling;     /* rolling friction between them [m]; NaN: not given             */
    double spinning;    /* spinning friction between them [m]; NaN: not given            */
    st_SurfaceLaw more; /* adhesion, friction that depends on speed; NaN: not given      */
    uint32_t cookie;
} st_MaterialPairDef;

typedef enum st_ShapeType {
    ST_SHAPE_POINT = 0,   /* at pose.p                                                  */
    ST_SHAPE_BAR,         /* a segment along the shape's x axis, `length` long          */
    ST_SHAPE_SPHERE,      /* `radius`                                                   */
    ST_SHAPE_BOX,         /* `half` extents along the shape's axes                      */
    ST_SHAPE_PLANE,       /* half space below the shape's z axis: solid where z < 0     */
    ST_SHAPE_CAPSULE,     /* all points within `radius` of a segment of `length` along z */
    ST_SHAPE_CYLINDER,    /* `radius`, `length` along z                                 */
    ST_SHAPE_CONE,        /* base `radius`, `length` along z, apex up; the origin is its
                             centre of mass: base at -length/4, apex at 3 length/4      */
    ST_SHAPE_ELLIPSOID,   /* semi-axes `half`; in a planar scene: an ellipse            */
    ST_SHAPE_HULL,        /* convex hull of `points`                                    */
    ST_SHAPE_MESH,        /* `triangles` over `points`, concave as given                */
    ST_SHAPE_HEIGHT_FIELD /* solid below a grid of heights over the shape's x and y, down
                             to its longer side under the lowest of them                */
} st_ShapeType;
#define ST_N_SHAPE_TYPES 12

/* Members of st_ShapeDef that a shape type reads, besides its pose and its material: st_shape_type_members(). */
enum {
    ST_MEMBER_RADIUS = 1,
    ST_MEMBER_LENGTH = 2,       /* from end to end                                              */
    ST_MEMBER_INNER_LENGTH = 4, /* `length` between the centres of its round ends               */
    ST_MEMBER_HALF = 8,
    ST_MEMBER_POINTS = 16,
    ST_MEMBER_TRIANGLES = 32,
    ST_MEMBER_HEIGHTS = 64,       /* heights, n_x, n_y, spacing                                 */
    ST_MEMBER_DENSITY = 128,      /* per volume                                                 */
    ST_MEMBER_LINE_DENSITY = 256, /* `density` per length                                       */
    ST_MEMBER_ORIENTATION = 512,  /* pose.q                                                     */
    ST_MEMBER_AXIS_X = 1024,      /* pose.q may be given as the direction of its x axis, ...    */
    ST_MEMBER_AXIS_Z = 2048,      /* ... of its z axis, ...                                     */
    ST_MEMBER_NORMAL = 4096       /* ... of its outward normal, which is its z axis             */
};

/* A mesh is solid if its triangles enclose a volume and are ordered counter-clockwise seen from outside. Any other mesh
 * is a sheet with contact on both sides. Arrays are copied.                                       */
typedef struct st_ShapeDef {
    st_ShapeType type;
    st_Pose pose;           /* in the body                                                      */
    double radius;          /* sphere, capsule, cylinder, cone [m]                              */
    double length;          /* bar, capsule (between the centres of its ends), cylinder, cone [m] */
    st_Vec3 half;           /* box: half extents, ellipsoid: semi-axes [m]                      */
    double density;         /* [kg/m^3], bar [kg/m]; used where the body's mass is 0            */
    double mu;              /* friction; a pair has the geometric mean of its two               */
    st_MaterialId material; /* {0}: none; else mu, restitution, rolling and spinning are the material's */
    double restitution;     /* of impacts, 0 to 1; a pair has the larger of its two         */
    double rolling;         /* rolling friction [m]; a pair has the larger of its two        */
    double spinning;        /* spinning friction, about the normal [m]; likewise             */
    /* Friction that differs by direction: mu along friction_direction, which is fixed in the shape's axes and of any
     * length, and friction_across across it. |r_T| is bounded by an ellipse and opposes sliding with the most power. 0:
     * the same in all directions. In a pair the shape with the more slender ellipse gives the directions, and the
     * coefficients along and across are geometric means with the other shape's mean, sqrt(mu friction_across).  */
    double friction_across;
    st_Vec3 friction_direction;
    double stiffness; /* contact regularized: normal spring [N/m]; 0: the simulation's. In a pair: in series */
    double damping;   /* contact regularized: tangential damper [N s/m]; likewise      */
    double young;     /* contact compliant: Young's modulus [Pa]; 0: rigid             */
    double poisson;   /* contact compliant: Poisson's ratio, between -1 and 1/2        */
    /* Belts and turntables: the surface moves along itself while the shape stays in place. The velocity at a surface
     * point x, in the shape's axes, is surface_velocity + surface_spin x x. Only its tangential part is used. */
    st_Vec3 surface_velocity; /* [m/s]                                                       */
    st_Vec3 surface_spin;     /* about the shape's origin [rad/s]                            */

    int n_points;          /* hull, mesh                                                */
    const st_Vec3 *points; /* in the shape's axes [m]                                   */
    int n_triangles;       /* mesh                                                      */
    const int *triangles;  /* 3 n_triangles, counter-clockwise from outside             */
    int n_x, n_y;          /* height field: samples along x and y, at least 2 each      */
    double spacing;        /* height field: between samples; the grid is centred [m]    */
    const double *heights; /* height field: n_x n_y, x fastest [m]                      */

    /* Two shapes collide if the mask of each has a bit of the other's groups. */
    uint32_t groups; /* groups of this shape, as bits; default 1                        */
    uint32_t mask;   /* groups that it collides with, as bits; default all              */
    const char *name;
    uint32_t cookie;
} st_ShapeDef;

/* A factor that depends on time. */
typedef enum st_ProfileType {
    ST_PROFILE_CONSTANT = 0, /* 1                                                       */
    ST_PROFILE_HARMONIC,     /* cos(frequency t + phase)                                */
    ST_PROFILE_TABLE,        /* linear between (time, value) pairs, held outside        */
    ST_PROFILE_RAMP          /* t [s]                                                   */
} st_ProfileType;
#define ST_N_PROFILE_TYPES 4

typedef struct st_Profile {
    st_ProfileType type;
    double frequency; /* harmonic [rad/s]                                               */
    double phase;     /* harmonic [rad]                                                 */
    int n_table;
    const double *times, *values; /* n_table each, times increasing [s]; copied         */
} st_Profile;

typedef enum st_JointType {
    ST_JOINT_FIXED = 0,     /* no relative motion                                         */
    ST_JOINT_BALL,          /* common point                                               */
    ST_JOINT_REVOLUTE,      /* common point and axis                                      */
    ST_JOINT_PRISMATIC,     /* sliding along the axis, no rotation                        */
    ST_JOINT_DISTANCE,      /* points at a constant distance                              */
    ST_JOINT_CYLINDRICAL,   /* sliding along the axis and turning about it                */
    ST_JOINT_UNIVERSAL,     /* common point; `axis` of a and `axis_b` of b stay orthogonal */
    ST_JOINT_PLANAR,        /* sliding across the axis and turning about it               */
    ST_JOINT_POINT_ON_LINE, /* the point of b stays on the line through a's along the axis */
    ST_JOINT_SCREW,         /* as cylindrical, `pitch` a turn                             */
    ST_JOINT_GEAR,          /* coordinate of joint_a = ratio * coordinate of joint_b      */
    ST_JOINT_FREE,          /* nothing held: a rope, an actuator; see `coordinate`        */
    ST_JOINT_TENDON         /* nothing held: the length of a path, or a sum of coordinates, see `path` */
} st_JointType;
#define ST_N_JOINT_TYPES 13

/* A tendon's path: either joints alone, whose coordinates times a coefficient are added; or points of bodies, in
 * straight lines. Between two points there may be one sphere or cylinder that it is wrapped around where it is in the
 * way, or always, where `side` says on which side it passes; a side inside the shape: the tendon passes through it, by
 * its inner surface if need be. A pulley begins another branch; lengths after it are divided by its divisor. A slider
 * moves along its axis; a rod connects it to the next point, the pin of a crank. The length of the tendon is then the
 * position of the slider on its axis.
 */
typedef enum st_TendonKind {
    ST_TENDON_POINT = 0,
    ST_TENDON_SPHERE,
    ST_TENDON_CYLINDER,
    ST_TENDON_PULLEY,
    ST_TENDON_JOINT,
    ST_TENDON_SLIDER
} st_TendonKind;
#define ST_N_TENDON_KINDS 6

typedef struct st_TendonPoint {
    st_TendonKind kind;
    st_BodyId body;     /* point, sphere, cylinder, slider                                    */
    st_Vec3 point;      /* in the body: the point, or the middle of the shape [m]             */
    st_Vec3 axis;       /* cylinder, slider: in the body, any length                          */
    double radius;      /* sphere, cylinder [m]                                               */
    bool has_side;      /* sphere, cylinder                                                   */
    st_Vec3 side;       /* a point in the body, where the tendon passes                       */
    st_JointId joint;   /* joint: one with a coordinate, added before                         */
    double coefficient; /* joint: [1, or m/rad]; pulley: the divisor, > 0; slider: length of the rod [m], > 0 */
} st_TendonPoint;

/* The coordinate of a joint. Limits, motors, friction, springs and gears act on it. It is 0 at the start, except for
 * distance, swing, and joints of type `free`, whose two points need not coincide. If a joint leaves two coordinates
 * free, the one that is not chosen is its "other" coordinate, which can have limits only.         */
typedef enum st_Coordinate {
    ST_COORDINATE_DEFAULT = 0,  /* the first of those below that the joint leaves free  */
    ST_COORDINATE_ANGLE,        /* of b against a about the axis, counting whole turns [rad] */
    ST_COORDINATE_DISPLACEMENT, /* of b's point against a's along the axis [m]          */
    ST_COORDINATE_DISTANCE,     /* between point and point_b [m]: `free` only           */
    ST_COORDINATE_ANGLE_B,      /* universal: of b about axis_b, counting whole turns [rad] */
    ST_COORDINATE_SWING,        /* ball: between axis, fixed in a, and axis_b, fixed in b, 0 to pi [rad] */
    ST_COORDINATE_TWIST,        /* ball: of b about its axis_b, swing apart, counting whole turns [rad] */
    ST_COORDINATE_LENGTH        /* tendon: of its path [m]; a sum of coordinates is 0 at the start      */
} st_Coordinate;
#define ST_N_COORDINATES 8

/* wanted(t) = offset + target * profile(t). */
typedef enum st_MotorType {
    ST_MOTOR_NONE = 0,
    ST_MOTOR_SPEED,    /* the wanted speed, with at most max_force; by a damper, where `damping` > 0 */
    ST_MOTOR_POSITION, /* the wanted position by a spring and damper, at most max_force */
    ST_MOTOR_MOTION,   /* the wanted position exactly, whatever force it takes          */
    ST_MOTOR_FORCE     /* the wanted force or torque itself, at most max_force          */
} st_MotorType;
#define ST_N_MOTOR_TYPES 5

typedef struct st_MotorDef {
    st_MotorType type;
    double target; /* [m/s or rad/s], [m or rad] or [N or N m]                      */
    double offset; /* the same                                                      */
    st_Profile profile;
    double max_force; /* [N or N m]; infinite by default                               */
    double mid_force; /* forces are from mid_force - max_force to mid_force + max_force [N or N m]; 0 */
    double stiffness; /* position [N/m or N m/rad], > 0                                */
    double damping;   /* position, speed [N s/m or N m s/rad]                          */
    /* How a motor follows st_system_set_motor; scenes' own targets are not affected. */
    double lag;             /* the wanted value approaches what is set with this time constant [s]; 0: at once      */
    bool integrate;         /* what is set is the rate of the wanted value; then lag is 0                           */
    double lowest, highest; /* wanted values are moved inside; equal, or infinite: no limits                        */
} st_MotorDef;

/* A joint between bodies a and b. Points and axes are given in the world, with the bodies at the poses of their defs.
 */
typedef struct st_JointDef {
    st_JointType type;
    st_BodyId a, b;              /* one may be the ground; gear: neither                   */
    st_Vec3 point, point_b;      /* in the world [m]; point_b for `distance`, `free` only  */
    st_Vec3 axis;                /* in the world, any length                               */
    st_Vec3 axis_b;              /* universal: likewise, orthogonal to axis; ball: of b, 0: as axis */
    double length;               /* distance [m]; 0: as it is at the start                 */
    double pitch;                /* screw: displacement per turn [m], not 0                */
    st_JointId joint_a, joint_b; /* gear: joints with a coordinate, added before        */
    double ratio;                /* gear, not 0                                            */
    st_Vec3 curve;               /* gear: and curve.x times the square, curve.y the cube, curve.z the fourth power */
    int n_path;                  /* tendon; 64 at most                                     */
    const st_TendonPoint *path;  /* tendon; copied                                         */
    st_Coordinate coordinate;    /* the one that everything below acts on                  */
    double lower, upper;         /* limits [m or rad]; infinite: none. Swing: upper only, a cone */
    double other_lower, other_upper; /* of the other coordinate: likewise                 */
    double restitution;              /* of its limits, 0 to 1                               */
    double friction;                 /* largest force of dry friction [N or N m]               */
    double stiffness, damping;       /* spring and damper [N/m, N s/m or per rad]             */
    double rest;                     /* of the spring [m or rad]; NaN: as it is at the start   */
    double slack;                    /* tendon: the spring has no force from rest to rest + slack [m] */
    double armature;                 /* inertia that turns or slides with it: a rotor's [kg m^2 or kg] */
    double joint_stiffness; /* contact regularized: of what holds it; forces least_norm: its weight is the inverse
                             * [N/m, or N m/rad for rotations]; 0: the setting of this name */
    st_MotorDef motor;
    bool collide; /* the shapes of the two bodies collide with each other; shapes of the ground always do */
    const char *name;
    uint32_t cookie;
} st_JointDef;

typedef enum st_SpringType {
    ST_SPRING_LINEAR = 0, /* between two points                                         */
    ST_SPRING_ANGULAR,    /* about an axis common to both bodies; counts whole turns    */
    ST_SPRING_BUSHING     /* in all six directions of a frame fixed in a                */
} st_SpringType;
#define ST_N_SPRING_TYPES 3

/* Spring and damper in parallel; either may be 0. Points and axis are given in the world, with the bodies at the poses
 * of their defs. A linear spring of rest length 0 acts and damps in all three directions. A bushing is at rest at the
 * poses of the defs; its angles are the components of the rotation vector.                        */
typedef struct st_SpringDef {
    st_SpringType type;
    st_BodyId a, b;
    st_Vec3 point_a, point_b;               /* linear [m]; bushing: point_a                           */
    st_Vec3 axis;                           /* angular: the sense in which b turns against a          */
    double stiffness;                       /* [N/m] or [N m/rad]                                     */
    double damping;                         /* [N s/m] or [N m s/rad]                                 */
    double rest;                            /* length [m] or angle from the start [rad]; NaN: as it is at the start */
    st_Quat frame;                          /* bushing: its x, y, z, in the world                     */
    st_Vec3 stiffness_along, damping_along; /* bushing: along x, y, z [N/m, N s/m]      */
    st_Vec3 stiffness_about, damping_about; /* bushing: about x, y, z [N m/rad, N m s/rad] */
    /* bushing: full matrices beside these, row-major, symmetric and positive semi-definite, over displacements along
     * and rotations about x, y, z [N/m, N, N m/rad]; all 0: none                                       */
    double stiffness_matrix[36], damping_matrix[36];
    st_Profile table; /* linear, angular: force [N or N m] over the elongation [m or rad], as times and values, in place
                       * of stiffness; linear between, held before and after; n_table = 0: none. Copied             */
    const char *name;
    uint32_t cookie;
} st_SpringDef;

/* force(t) = force * profile(t) at a point of the body, and torque(t) likewise. Beside it, at the same point, which has
 * the velocity u: drag -drag |u - wind| (u - wind), and in a magnetic field B the force charge u x B and the torque
 * moment x B. An ellipsoid about the point feels the medium of the simulation (docs/methods.md 3): drag, lift, added
 * mass. All of these are linearised in implicit integrators: they may be stiff.                    */
typedef struct st_ForceDef {
    st_BodyId body;
    st_Vec3 point;       /* in the body [m]                                                */
    st_Vec3 force;       /* [N]                                                            */
    st_Vec3 torque;      /* [N m]                                                          */
    bool body_axes;      /* force and torque turn with the body; else world axes           */
    bool adhesion;       /* the length of `force` is a pull at what the body touches, shared by its contacts */
    double drag;         /* [N s^2/m^2], density x area x coefficient/2; >= 0              */
    double charge;       /* [C]                                                            */
    st_Vec3 moment;      /* magnetic, in the body [A m^2]                                  */
    st_Vec3 field;       /* B, in the world [T]                                            */
    st_Vec3 ellipsoid;   /* semi-axes [m]; 0: none                                     */
    st_Quat orientation; /* of the ellipsoid in the body                               */
    double blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift; /* of the ellipsoid */
    st_Profile profile;
    const char *name;
    uint32_t cookie;
} st_ForceDef;

/* ------------------------------------------------------------------ definitions
 *
 * Each function returns a def with defaults. Change what you need, then add it. Lengths in m.      */

/* A body of mass 0 (mass and inertia from its shapes) at rest at the origin. */
ST_API st_BodyDef st_body_def(void);
/* A shape of any type with the default density and friction; its measures are 0. Unknown types: as of a point. */
ST_API st_ShapeDef st_shape_def(st_ShapeType type);
/* A point at the origin of the shape. It has no volume: its body needs a mass. */
ST_API st_ShapeDef st_point_def(void);
/* A segment of this length along the shape's x axis. */
ST_API st_ShapeDef st_bar_def(double length);
/* A sphere. */
ST_API st_ShapeDef st_sphere_def(double radius);
/* A box with these half extents. */
ST_API st_ShapeDef st_box_def(double half_x, double half_y, double half_z);
/* The half space z < 0; the plane goes through the origin, its normal is z. */
ST_API st_ShapeDef st_plane_def(void);
/* A capsule along z; `length` is the distance between the centres of its round ends. */
ST_API st_ShapeDef st_capsule_def(double radius, double length);
/* A cylinder along z. */
ST_API st_ShapeDef st_cylinder_def(double radius, double length);
/* A cone along z with its apex up; the origin is its centre of mass. */
ST_API st_ShapeDef st_cone_def(double radius, double length);
/* An ellipsoid with semi-axes a, b, c along x, y, z. */
ST_API st_ShapeDef st_ellipsoid_def(double a, double b, double c);
/* The convex hull of points. The array must live until the def has been added. */
ST_API st_ShapeDef st_hull_def(const st_Vec3 *points, int n_points);
/* The surface of the convex hull of points, for drawing: its corners, and triangles as index triples (from 0) in
 * counter-clockwise order seen from outside. The caller frees both arrays with free().            */
ST_API st_Status st_hull_faces(const st_Vec3 *points, int n_points, st_Vec3 **corners, int *n_corners, int **triangles,
                               int *n_triangles, st_Error *err);
/* Triangles in the axes of a shape. */
typedef struct st_Surface {
    st_Vec3 *points;
    int *triangles; /* index triples from 0, counter-clockwise seen from outside                */
    int n_points, n_triangles;
} st_Surface;
/* The surface of a shape as triangles, for drawing. Round shapes have 24 corners around. `size` is the length that thin
 * shapes and planes are measured by: a plane is a square of this side, a bar is 1 % of it thick. Allocates with
 * malloc(); free the result with st_surface_free(). Thread-safe.                                  */
ST_API st_Status st_shape_surface(const st_ShapeDef *shape, double size, st_Surface *out, st_Error *err);
/* Frees the arrays and sets all members to 0; NULL is allowed. */
ST_API void st_surface_free(st_Surface *surface);
/* A triangle mesh. The arrays must live until the def has been added. */
ST_API st_ShapeDef st_mesh_def(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles);
/* A grid of n_x n_y heights, x fastest, `spacing` apart. The array must live until the def has been added. */
ST_API st_ShapeDef st_height_field_def(const double *heights, int n_x, int n_y, double spacing);
/* A material with mu = 0.5 and no restitution, rolling and spinning friction. */
ST_API st_MaterialDef st_material_def(void);
/* A pair of materials with all values "not given" (NaN). */
ST_API st_MaterialPairDef st_material_pair_def(void);
/* A joint without limits, motor, friction and spring. */
ST_API st_JointDef st_joint_def(st_JointType type);
/* A spring without stiffness and damping, at rest at the start. */
ST_API st_SpringDef st_spring_def(st_SpringType type);
/* A constant force of 0. */
ST_API st_ForceDef st_force_def(void);

/* Rotation that takes the z axis to `direction` (of any length): for planes. The identity if the direction is 0 or not
 * finite.                                                                                         */
ST_API st_Quat st_quat_from_z(st_Vec3 direction);
/* Rotation that takes the x axis to `direction` (of any length): for bars. The identity if the direction is 0 or not
 * finite.                                                                                         */
ST_API st_Quat st_quat_from_x(st_Vec3 direction);

/* ------------------------------------------------------------------ building a scene */

/* Create an empty scene. Free it with st_scene_destroy. */
ST_API st_Status st_scene_create(st_Scene **out, st_Error *err);
/* Create an empty scene that takes its memory from `allocator`. The table is copied; its ctx must outlive the scene. */
ST_API st_Status st_scene_create_with(const st_Allocator *allocator, st_Scene **out, st_Error *err);
/* Free a scene. Systems made from it are not affected. NULL is allowed. */
ST_API void st_scene_destroy(st_Scene *scene);

/* A scene compiled: convex hulls, trees of meshes, masses, joints, names. It never changes, so any number of systems in
 * any number of threads can share it (st_system_create_from); a clone of a system shares it, too.    */
typedef struct st_CompiledScene st_CompiledScene;
/* Compile a scene. The scene is copied and may be changed or destroyed afterwards. Memory comes from the allocator of
 * the scene, and goes back to it in the thread that releases last. You have one reference.                */
ST_API st_Status st_scene_compile(const st_Scene *scene, st_CompiledScene **out, st_Error *err);
/* Add a reference; returns its argument. Systems add their own. Thread-safe. */
ST_API st_CompiledScene *st_compiled_retain(st_CompiledScene *compiled);
/* Give a reference back; the last one frees the memory. NULL is fine. Thread-safe. */
ST_API void st_compiled_release(st_CompiledScene *compiled);
/* Add a body. */
ST_API st_Status st_scene_add_body(st_Scene *scene, const st_BodyDef *def, st_BodyId *out, st_Error *err);
/* Add a shape to a body or to the ground. */
ST_API st_Status st_scene_add_shape(st_Scene *scene, st_BodyId body, const st_ShapeDef *def, st_ShapeId *out,
                                    st_Error *err);
/* Add a material for shapes to refer to. */
ST_API st_Status st_scene_add_material(st_Scene *scene, const st_MaterialDef *def, st_MaterialId *out, st_Error *err);
/* Set the values of a pair of materials. Each pair may be set once. */
ST_API st_Status st_scene_add_material_pair(st_Scene *scene, const st_MaterialPairDef *def, st_Error *err);
/* Add a joint between two bodies that have been added before. */
ST_API st_Status st_scene_add_joint(st_Scene *scene, const st_JointDef *def, st_JointId *out, st_Error *err);
/* Add a spring and damper. */
ST_API st_Status st_scene_add_spring(st_Scene *scene, const st_SpringDef *def, st_SpringId *out, st_Error *err);
/* Add a force that acts on a body. */
ST_API st_Status st_scene_add_force(st_Scene *scene, const st_ForceDef *def, st_ForceId *out, st_Error *err);
/* A state that has a name, for systems to start in and to be put back to: st_system_set_keyframe. */
typedef struct st_KeyframeBody {
    st_BodyId body;   /* of a fixed body only the pose counts                                     */
    st_Pose pose;     /* of its centre of mass, in the world [m]                                  */
    st_Vec3 velocity; /* linear, world axes [m/s]                                                 */
    st_Vec3 spin;     /* angular velocity, body axes [rad/s]                                      */
} st_KeyframeBody;
typedef struct st_KeyframeMotor {
    st_JointId joint; /* one with a motor that can be set                                         */
    double wanted;    /* as st_system_set_motor has it                                            */
} st_KeyframeMotor;
typedef struct st_KeyframeForce {
    st_ForceId force;
    st_Vec3 value, torque; /* as st_system_set_force has them [N], [N m]                          */
} st_KeyframeForce;
typedef struct st_KeyframeDef {
    const char *name;
    double t; /* [s]                                                                              */
    int n_bodies;
    const st_KeyframeBody *bodies; /* copied; those that are not named stay where they are, at rest */
    int n_motors;
    const st_KeyframeMotor *motors; /* copied                                                     */
    int n_forces;
    const st_KeyframeForce *forces; /* copied                                                     */
    uint32_t cookie;                /* set by st_keyframe_def(); leave alone                      */
} st_KeyframeDef;
/* A keyframe of nothing, at time 0. */
ST_API st_KeyframeDef st_keyframe_def(void);
/* Add a keyframe. Whether joints are closed there is not checked. */
ST_API st_Status st_scene_add_keyframe(st_Scene *scene, const st_KeyframeDef *def, st_Error *err);
/* Number of keyframes. */
ST_API int st_scene_keyframe_count(const st_Scene *scene);
/* A keyframe by its number, from 1; its arrays are the scene's own. */
ST_API st_Status st_scene_keyframe(const st_Scene *scene, int number, st_KeyframeDef *out);
/* The number of the keyframe of a name; 0: there is none. */
ST_API int st_scene_find_keyframe(const st_Scene *scene, const char *name);
/* Make space periodic; a cell of no extent makes it open again. A system is refused where a body is wider than half the
 * cell, or a plane is across a periodic axis.                                                          */
ST_API st_Status st_scene_set_cell(st_Scene *scene, const st_Cell *cell, st_Error *err);
/* Is space periodic? `out` (may be NULL): the cell.                                                     */
ST_API bool st_scene_cell(const st_Scene *scene, st_Cell *out);
/* Switch off contact between the shapes of two bodies. Bodies connected by a joint are excluded already unless its def
 * says `collide`.                                                                                 */
ST_API st_Status st_scene_exclude(st_Scene *scene, st_BodyId a, st_BodyId b, st_Error *err);
/* Move the frame of a body to the centre of mass of its shapes. Everything stays where it is in the world: the pose,
 * the shapes and the forces of the body are rewritten. `shift` (may be NULL) receives the move in the old body axes. */
ST_API st_Status st_scene_centre_body(st_Scene *scene, st_BodyId body, st_Vec3 *shift, st_Error *err);
/* Copy a scene. Ids stay the same. The caller destroys the copy. */
ST_API st_Status st_scene_copy(const st_Scene *scene, st_Scene **out, st_Error *err);
/* Multiply every friction coefficient of the scene by `factor`. */
ST_API st_Status st_scene_scale_friction(st_Scene *scene, double factor, st_Error *err);

/* Remove n bodies with their shapes, joints, springs and forces, and the gears on those joints. The remaining objects
 * keep their names and their ids, and move up in number. If one id is not valid, nothing is removed. */
ST_API st_Status st_scene_remove_bodies(st_Scene *scene, const st_BodyId *ids, int n, st_Error *err);
/* Remove n shapes. Numbers change as in st_scene_remove_bodies. */
ST_API st_Status st_scene_remove_shapes(st_Scene *scene, const st_ShapeId *ids, int n, st_Error *err);
/* Remove n joints and the gears on them. Numbers change as in st_scene_remove_bodies. */
ST_API st_Status st_scene_remove_joints(st_Scene *scene, const st_JointId *ids, int n, st_Error *err);
/* Remove n springs. Numbers change as in st_scene_remove_bodies. */
ST_API st_Status st_scene_remove_springs(st_Scene *scene, const st_SpringId *ids, int n, st_Error *err);
/* Remove n forces. Numbers change as in st_scene_remove_bodies. */
ST_API st_Status st_scene_remove_forces(st_Scene *scene, const st_ForceId *ids, int n, st_Error *err);

/* ------------------------------------------------------------------ reading a scene
 *
 * ST_ERR_ARGUMENT, without a message, means that there is no object with this id. Pointers in a def that was read back
 * stay valid until the scene is changed or destroyed.                                             */

/* Number of bodies, without the ground; ids are 1 to this number. */
ST_API int st_scene_body_count(const st_Scene *scene);
/* Number of shapes, those of the ground included. */
ST_API int st_scene_shape_count(const st_Scene *scene);
/* Number of joints. */
ST_API int st_scene_joint_count(const st_Scene *scene);
/* Number of springs. */
ST_API int st_scene_spring_count(const st_Scene *scene);
/* Number of forces. */
ST_API int st_scene_force_count(const st_Scene *scene);
/* Number of materials. */
ST_API int st_scene_material_count(const st_Scene *scene);
/* The def of a body. */
ST_API st_Status st_scene_body(const st_Scene *scene, st_BodyId id, st_BodyDef *out);
/* The def of a shape, and the body it belongs to (`body` may be NULL). */
ST_API st_Status st_scene_shape(const st_Scene *scene, st_ShapeId id, st_ShapeDef *out, st_BodyId *body);
/* The def of a joint. */
ST_API st_Status st_scene_joint(const st_Scene *scene, st_JointId id, st_JointDef *out);
/* The def of a spring. */
ST_API st_Status st_scene_spring(const st_Scene *scene, st_SpringId id, st_SpringDef *out);
/* The def of a force. */
ST_API st_Status st_scene_force(const st_Scene *scene, st_ForceId id, st_ForceDef *out);
/* Number of material pairs. */
ST_API int st_scene_material_pair_count(const st_Scene *scene);
/* The def of material pair `index`, 0 .. count - 1. */
ST_API st_Status st_scene_material_pair(const st_Scene *scene, int index, st_MaterialPairDef *out);
/* The def of a material. */
ST_API st_Status st_scene_material(const st_Scene *scene, st_MaterialId id, st_MaterialDef *out);

/* The body with this name; {0} if there is none. */
ST_API st_BodyId st_scene_find_body(const st_Scene *scene, const char *name);
/* The joint with this name; {0} if there is none. */
ST_API st_JointId st_scene_find_joint(const st_Scene *scene, const char *name);
/* The material with this name; {0} if there is none. */
ST_API st_MaterialId st_scene_find_material(const st_Scene *scene, const char *name);
/* The force with this name; {0} if there is none. */
ST_API st_ForceId st_scene_find_force(const st_Scene *scene, const char *name);
/* The spring with this name; {0} if there is none. */
ST_API st_SpringId st_scene_find_spring(const st_Scene *scene, const char *name);
/* The shape with this name on this body or on the ground; {0} if there is none. Shape names are unique per body. */
ST_API st_ShapeId st_scene_find_shape(const st_Scene *scene, st_BodyId body, const char *name);

/* Mass and inertia that a moving body will have, from its def or from its shapes. Fails if a direction in which the
 * body can move has no mass or inertia.                                                                */
ST_API st_Status st_scene_body_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Mat3 *inertia, st_Error *err);
/* Mass of the shapes of a body by their densities, whatever the def of the body says. */
ST_API st_Status st_scene_shapes_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Error *err);

/* ------------------------------------------------------------------ words of scene files
 *
 * Static strings; NULL outside the range of the enum.                                             */

/* "box", "sphere", ... */
ST_API const char *st_shape_type_name(st_ShapeType type);
/* Members of st_ShapeDef that the type reads, ST_MEMBER_RADIUS | ...; 0 outside the range of the enum. */
ST_API uint32_t st_shape_type_members(st_ShapeType type);
/* "revolute", "ball", ... */
ST_API const char *st_joint_type_name(st_JointType type);
/* "linear", "angular", "bushing" */
ST_API const char *st_spring_type_name(st_SpringType type);
/* "constant", "harmonic", "table", "ramp" */
ST_API const char *st_profile_type_name(st_ProfileType type);
/* "angle", "displacement", ... */
ST_API const char *st_coordinate_name(st_Coordinate coordinate);
/* "point", "sphere", "cylinder", "pulley", "joint" */
ST_API const char *st_tendon_kind_name(st_TendonKind kind);
/* "speed", "position", "motion", "force" */
ST_API const char *st_motor_type_name(st_MotorType type);

#ifdef __cplusplus
}
#endif
#endif
