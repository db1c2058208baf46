/* stiction/scene.h -- the description of a rigid-body world: editable, without run-time state.
 *
 * Every object starts as a definition (`def`) from a function that fills in good defaults. The `add` functions copy the
 * def with its arrays and its name. Names must be unique among objects of one kind; an object without a name gets one
 * ("body1"). The body id {0} is the ground. The ground can have shapes, joints and springs, and it never moves.
 *
 * An `add` function checks its def. If a value is not allowed, the message names the object and the value, and the
 * scene is unchanged. `out` and `err` may be NULL in every `add` function.
 */
#ifndef STICTION_SCENE_H
#define STICTION_SCENE_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct st_Scene st_Scene;

/* Ids of the objects in a scene. index1 = 1, 2, ... is the number of the object, in the order in which objects were
 * added. {0} means the ground (bodies) or no object (all other kinds).
 *
 * The ids that `add` and `find` functions return contain a generation. No other object of the scene ever has the same
 * generation. Such an id stays valid when other objects are removed, in the scene, in its copies and in systems made
 * from them. Functions refuse it after its own object was removed. An id without a generation, {k}, means the object
 * that has number k now.
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

/* A fluid that bodies move through. Its drag on a body is that of the box which has the same mass and inertia. One part
 * of the drag is proportional to viscosity and speed, the other to density and the square of the speed. */
typedef struct st_Medium {
    double density;   /* [kg/m^3]                                                                */
    double viscosity; /* [Pa s]                                                                  */
    st_Vec3 wind;     /* velocity of the fluid [m/s]                                             */
} st_Medium;

/* A periodic cell. Space repeats along each axis that has lower < upper: a body that leaves the cell on one side enters
 * it on the other, and bodies touch across the borders. Positions are not wrapped: they continue beyond the cell. Along
 * an axis that has lower = upper, space is open. */
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
    double mass;      /* [kg]; 0: computed from the shapes and their densities          */
    st_Mat3 inertia;  /* about the centre of mass, body axes [kg m^2]; 0: computed from the shapes */
    uint32_t locks;   /* ST_LOCK_X | ...                                                */
    bool fixed;       /* no force moves it, as if it were part of the ground            */
    double gravity;   /* factor on gravity; default 1. 0: no weight, -1: it rises       */
    double medium;    /* factor on the drag of the medium; default 1                    */
    const char *name;
    uint32_t cookie; /* set by st_body_def(); leave alone                               */
} st_BodyDef;

/* Surface laws in addition to Coulomb friction. In st_MaterialPairDef a value may be NaN: not given.
 *
 * Adhesion: a contact can pull with a force of up to F = adhesion + adhesion_pressure A. A is the area of the contact
 * patch between two shapes (0 at a point). The contact law holds for r + h F in place of r: r_n >= -h F,
 * |r_T| <= mu (r_n + h F). Adhesion acts while the gap is at most `adhesion_range`.
 *
 * Liquid bridges: when a sphere touches another sphere or another surface, a liquid bridge forms. It pulls with a force
 * F(gap) and breaks at a gap of (1 + wetting_angle/2) liquid_volume^(1/3) (docs/methods.md 11.6).
 *
 * Friction that depends on the sliding speed (Stribeck): mu(s) = kinetic + (mu - kinetic) exp(-(s/stribeck_speed)^2).
 */
typedef struct st_SurfaceLaw {
    double adhesion;          /* force per contact [N]                                       */
    double adhesion_pressure; /* force per area of contact [Pa]                              */
    double adhesion_range;    /* [m]; 0: 1e-3 of the smaller shape's size                    */
    double kinetic;           /* kinetic friction coefficient; NaN: equal to mu              */
    double stribeck_speed;    /* [m/s]; 0: friction does not depend on speed                 */
    double liquid_volume;     /* volume of a liquid bridge [m^3]; 0: no bridges              */
    double surface_tension;   /* surface tension of the liquid [N/m]                         */
    double wetting_angle;     /* between liquid and surface [rad], below pi/2                */
} st_SurfaceLaw;

/* Surface material. A contact of two materials uses the values of their st_MaterialPairDef. A value that is not given
 * there comes from the two materials. It is the geometric mean of friction, kinetic friction, adhesion,
 * adhesion_pressure and liquid_volume, and the larger one of all other values. If the pair gives mu but not kinetic,
 * kinetic is equal to mu. A shape without a material has no adhesion, no liquid and no Stribeck speed. */
typedef struct st_MaterialDef {
    double mu;          /* friction coefficient                                         */
    double restitution; /* of impacts, 0 to 1                                           */
    double rolling;     /* rolling friction [m]                                         */
    double spinning;    /* spinning friction [m]                                        */
    st_SurfaceLaw more; /* adhesion, liquid, friction that depends on speed             */
    const char *name;
    uint32_t cookie;
} st_MaterialDef;

typedef struct st_MaterialPairDef {
    st_MaterialId a, b; /* may be the same                                              */
    double mu;          /* friction coefficient; NaN: not given                          */
    double restitution; /* of impacts, 0 to 1; NaN: not given                            */
    double rolling;     /* rolling friction [m]; NaN: not given                          */
    double spinning;    /* spinning friction [m]; NaN: not given                         */
    st_SurfaceLaw more; /* adhesion, liquid, friction that depends on speed; NaN: not given */
    uint32_t cookie;
} st_MaterialPairDef;

typedef enum st_ShapeType {
    ST_SHAPE_POINT = 0,   /* a point at pose.p                                          */
    ST_SHAPE_BAR,         /* a segment along the shape's x axis, `length` long          */
    ST_SHAPE_SPHERE,      /* `radius`                                                   */
    ST_SHAPE_BOX,         /* `half` extents along the shape's axes                      */
    ST_SHAPE_PLANE,       /* a half space: solid where z < 0 in the shape's axes        */
    ST_SHAPE_CAPSULE,     /* all points within `radius` of a segment of `length` along z */
    ST_SHAPE_CYLINDER,    /* `radius`, `length` along z                                 */
    ST_SHAPE_CONE,        /* base `radius`, `length` along z, apex up; the origin is its
                             centre of mass: base at -length/4, apex at 3 length/4      */
    ST_SHAPE_ELLIPSOID,   /* semi-axes `half`; in a planar scene: an ellipse            */
    ST_SHAPE_HULL,        /* convex hull of `points`                                    */
    ST_SHAPE_MESH,        /* `triangles` over `points`; may be concave                  */
    ST_SHAPE_HEIGHT_FIELD /* a grid of heights over the shape's x and y. Solid from the surface
                             down to L below the lowest height; L is the longer side of the grid */
} st_ShapeType;
#define ST_N_SHAPE_TYPES 12

/* Members of st_ShapeDef that a shape type reads in addition to pose and material: st_shape_type_members(). */
enum {
    ST_MEMBER_RADIUS = 1,
    ST_MEMBER_LENGTH = 2,       /* `length`, from end to end                                    */
    ST_MEMBER_INNER_LENGTH = 4, /* `length`, between the centres of its round ends              */
    ST_MEMBER_HALF = 8,
    ST_MEMBER_POINTS = 16,
    ST_MEMBER_TRIANGLES = 32,
    ST_MEMBER_HEIGHTS = 64,       /* heights, n_x, n_y, spacing                                 */
    ST_MEMBER_DENSITY = 128,      /* `density` per volume                                       */
    ST_MEMBER_LINE_DENSITY = 256, /* `density` per length                                       */
    ST_MEMBER_ORIENTATION = 512,  /* pose.q                                                     */
    ST_MEMBER_AXIS_X = 1024,      /* scene files may give pose.q as the direction of the x axis */
    ST_MEMBER_AXIS_Z = 2048,      /* the same for the z axis                                    */
    ST_MEMBER_NORMAL = 4096       /* the same for the outward normal, which is the z axis       */
};

/* A mesh is solid if its triangles enclose a volume and are ordered counter-clockwise seen from outside. Any other mesh
 * is a sheet with contact on both sides. Arrays are copied.                                       */
typedef struct st_ShapeDef {
    st_ShapeType type;
    st_Pose pose;           /* in the body                                                      */
    double radius;          /* sphere, capsule, cylinder, cone [m]                              */
    double length;          /* bar, capsule (between the centres of its ends), cylinder, cone [m] */
    st_Vec3 half;           /* box: half extents, ellipsoid: semi-axes [m]                      */
    double density;         /* [kg/m^3], bar [kg/m]; used if the mass of the body is 0          */
    double mu;              /* friction coefficient; a pair has the geometric mean of both      */
    st_MaterialId material; /* {0}: none. Else mu, restitution, rolling and spinning come from the material */
    double restitution;     /* of impacts, 0 to 1; a pair has the larger of both            */
    double rolling;         /* rolling friction [m]; a pair has the larger of both           */
    double spinning;        /* spinning friction, about the normal [m]; a pair has the larger of both */
    /* Friction that depends on the direction of sliding. The coefficient is mu along friction_direction and
     * friction_across across it. The direction is fixed in the shape's axes and may have any length. An ellipse bounds
     * r_T, and r_T is the point of it that dissipates the most power. friction_across = 0: the same friction in all
     * directions. In a pair, the shape with the more slender ellipse defines the directions. Each of its two
     * coefficients is combined, as a geometric mean, with sqrt(mu friction_across) of the other shape. */
    double friction_across;
    st_Vec3 friction_direction;
    double stiffness; /* contact regularized: normal spring [N/m]; 0: the setting's. A pair has both in series */
    double damping;   /* contact regularized: tangential damper [N s/m]; the same rules */
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
    double spacing;        /* height field: distance of samples [m]; the grid is centred */
    const double *heights; /* height field: n_x n_y, x fastest [m]                      */

    /* Two shapes collide if the mask of each has a bit of the other's groups. */
    uint32_t groups; /* groups of this shape, as bits; default 1                        */
    uint32_t mask;   /* groups that it collides with, as bits; default all              */
    uint32_t color;  /* in pictures, 0xRRGGBBAA; 0: a colour that pictures choose       */
    const char *name;
    uint32_t cookie;
} st_ShapeDef;

/* Types of a factor that depends on time t. */
typedef enum st_ProfileType {
    ST_PROFILE_CONSTANT = 0, /* 1                                                       */
    ST_PROFILE_HARMONIC,     /* cos(frequency t + phase)                                */
    ST_PROFILE_TABLE,        /* linear between (time, value) pairs, constant outside    */
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
    ST_JOINT_POINT_ON_LINE, /* the point of b stays on a line of a: through its point, along the axis */
    ST_JOINT_SCREW,         /* as cylindrical, with a displacement of `pitch` per turn    */
    ST_JOINT_GEAR,          /* coordinate of joint_a = ratio * coordinate of joint_b      */
    ST_JOINT_FREE,          /* constrains nothing: for ropes and actuators; see `coordinate` */
    ST_JOINT_TENDON         /* constrains nothing: its coordinate is the length of a path or a sum, see `path` */
} st_JointType;
#define ST_N_JOINT_TYPES 13

/* The path of a tendon. There are two kinds of paths.
 *
 * Joints only: the length is the sum of their coordinates, each times a coefficient.
 *
 * Points of bodies, connected by straight lines. Between two points there may be one sphere or cylinder. The tendon
 * wraps around it if it is in the way. If `side` is given, the tendon always passes on that side of the shape. If
 * `side` is inside the shape, the tendon passes through the shape and touches its inner surface if necessary. A pulley
 * starts another branch: lengths after it are divided by its divisor. A slider moves along its axis, and a rod connects
 * it to the next point, the pin of a crank. The length of the tendon is then the position of the slider on its axis.
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
    st_Vec3 point;      /* in the body: the point, or the centre of the shape [m]             */
    st_Vec3 axis;       /* cylinder, slider: direction in the body, any length                */
    double radius;      /* sphere, cylinder [m]                                               */
    bool has_side;      /* sphere, cylinder: `side` is given                                  */
    st_Vec3 side;       /* a point in the body, on the side where the tendon passes           */
    st_JointId joint;   /* joint: it has a coordinate and was added before                    */
    double coefficient; /* joint: factor [1 or m/rad]; pulley: divisor, not 0; slider: length of the rod [m], > 0 */
} st_TendonPoint;

/* The coordinate of a joint. Limits, motors, friction, springs and gears act on it. It is 0 at the start, except for
 * distance, swing, and joints of type `free`, because the two points of such a joint need not coincide. If a joint
 * leaves two coordinates free, the one that is not chosen is the "other" coordinate, which can only have limits. */
typedef enum st_Coordinate {
    ST_COORDINATE_DEFAULT = 0,  /* the first of those below that the joint leaves free  */
    ST_COORDINATE_ANGLE,        /* of b relative to a about the axis, counting whole turns [rad] */
    ST_COORDINATE_DISPLACEMENT, /* of b's point relative to a's along the axis [m]      */
    ST_COORDINATE_DISTANCE,     /* between point and point_b [m]: `free` only           */
    ST_COORDINATE_ANGLE_B,      /* universal: of b about axis_b, counting whole turns [rad] */
    ST_COORDINATE_SWING,        /* ball: between axis, fixed in a, and axis_b, fixed in b, 0 to pi [rad] */
    ST_COORDINATE_TWIST,        /* ball: of b about its axis_b, without the swing, counting whole turns [rad] */
    ST_COORDINATE_LENGTH        /* tendon: length of its path [m]; a sum of coordinates is 0 at the start */
} st_Coordinate;
#define ST_N_COORDINATES 8

/* How a motor drives a coordinate. Its wanted value is wanted(t) = offset + target * profile(t). */
typedef enum st_MotorType {
    ST_MOTOR_NONE = 0,
    ST_MOTOR_SPEED,    /* drives to the wanted speed with at most max_force; if `damping` > 0, through a damper */
    ST_MOTOR_POSITION, /* drives to the wanted position by a spring and damper with at most max_force */
    ST_MOTOR_MOTION,   /* holds the wanted position exactly, with any force             */
    ST_MOTOR_FORCE     /* applies the wanted force or torque, at most max_force         */
} st_MotorType;
#define ST_N_MOTOR_TYPES 5

typedef struct st_MotorDef {
    st_MotorType type;
    double target; /* speed [m/s or rad/s], position, motion [m or rad], force [N or N m] */
    double offset; /* in the same unit as target                                    */
    st_Profile profile;
    double max_force; /* [N or N m]; default infinite                                  */
    double mid_force; /* the force is from mid_force - max_force to mid_force + max_force [N or N m]; default 0 */
    double stiffness; /* of a position motor [N/m or N m/rad], > 0                     */
    double damping;   /* of a position or speed motor [N s/m or N m s/rad]             */
    /* How the motor follows a value from st_system_set_motor. These members do not change offset + target * profile(t).
     */
    double lag;     /* the wanted value approaches the value that was set with this time constant [s]; 0: at once */
    bool integrate; /* the value that was set is the rate of the wanted value; lag must be 0                */
    double lowest, highest; /* wanted values are limited to this range; equal or infinite: no limits                */
} st_MotorDef;

/* A joint between bodies a and b. Points and axes are in the world, with the bodies at the poses of their defs. */
typedef struct st_JointDef {
    st_JointType type;
    st_BodyId a, b;              /* one may be the ground; gear: neither                   */
    st_Vec3 point, point_b;      /* in the world [m]; point_b: `distance` and `free` only  */
    st_Vec3 axis;                /* in the world, any length                               */
    st_Vec3 axis_b;              /* universal: orthogonal to axis; ball: axis of b, 0: equal to axis */
    double length;               /* distance [m]; 0: the distance at the start             */
    double pitch;                /* screw: displacement per turn [m], not 0                */
    st_JointId joint_a, joint_b; /* gear: joints that have a coordinate and were added before */
    double ratio;                /* gear, not 0                                            */
    st_Vec3 curve; /* gear: with x the coordinate of joint_b, adds curve.x x^2 + curve.y x^3 + curve.z x^4 */
    int n_path;    /* tendon: parts of its path, at most 64                  */
    const st_TendonPoint *path;      /* tendon; copied                                         */
    st_Coordinate coordinate;        /* the coordinate that all members below act on           */
    double lower, upper;             /* limits [m or rad]; infinite: none. Swing: upper only, a cone */
    double other_lower, other_upper; /* limits of the other coordinate, the same rules    */
    double restitution;              /* of impacts at its limits, 0 to 1                    */
    double friction;                 /* largest force of dry friction [N or N m]               */
    double stiffness, damping;       /* spring and damper [N/m, N s/m or per rad]             */
    double rest;                     /* of the spring [m or rad]; NaN: the value at the start  */
    double slack;                    /* tendon: the force of the spring is 0 from rest to rest + slack [m] */
    double armature;                 /* inertia of a rotor or mass that moves with the coordinate [kg m^2 or kg] */
    double joint_stiffness; /* contact regularized: stiffness of the joint; forces least_norm: the weight is its inverse
                             * [N/m, or N m/rad for rotations]; 0: the setting joint_stiffness */
    st_MotorDef motor;
    bool collide; /* the shapes of the two bodies collide; with shapes of the ground they always do */
    const char *name;
    uint32_t cookie;
} st_JointDef;

typedef enum st_SpringType {
    ST_SPRING_LINEAR = 0, /* between two points                                         */
    ST_SPRING_ANGULAR,    /* about an axis common to both bodies; counts whole turns    */
    ST_SPRING_BUSHING     /* in all six directions of a frame fixed in a                */
} st_SpringType;
#define ST_N_SPRING_TYPES 3

/* Spring and damper in parallel; either may be 0. Points and axis are in the world, with the bodies at the poses of
 * their defs. A linear spring of rest length 0 acts and damps in all three directions. A bushing is at rest at the
 * poses of the defs; its angles are the components of the rotation vector.                        */
typedef struct st_SpringDef {
    st_SpringType type;
    st_BodyId a, b;
    st_Vec3 point_a, point_b; /* linear [m]; bushing: point_a                           */
    st_Vec3 axis;             /* angular: b turns about it relative to a                */
    double stiffness;         /* [N/m] or [N m/rad]                                     */
    double damping;           /* [N s/m] or [N m s/rad]                                 */
    double rest;              /* length [m], or angle relative to the start [rad]; NaN: the value at the start */
    st_Quat frame;            /* bushing: orientation of its x, y, z in the world       */
    st_Vec3 stiffness_along, damping_along; /* bushing: along x, y, z [N/m, N s/m]      */
    st_Vec3 stiffness_about, damping_about; /* bushing: about x, y, z [N m/rad, N m s/rad] */
    /* bushing: full matrices that are added to these, row-major, symmetric and positive semi-definite. Rows and columns
     * are displacements along x, y, z, then rotations about x, y, z [N/m, N, N m/rad]; all 0: none */
    double stiffness_matrix[36], damping_matrix[36];
    /* linear, angular: force [N or N m] over elongation [m or rad], in place of stiffness. `times` holds the
     * elongations and `values` the forces; linear between them, constant outside. n_table = 0: none. Copied. */
    st_Profile table;
    const char *name;
    uint32_t cookie;
} st_SpringDef;

/* A force on a body at a point of it: force(t) = force * profile(t) and torque(t) = torque * profile(t). With u the
 * velocity of the point, there are also the drag -drag |u - wind| (u - wind) and, in a magnetic field B, the force
 * charge u x B and the torque moment x B. The medium of the simulation acts on an ellipsoid about the point with drag,
 * lift and added mass (docs/methods.md 3). Implicit integrators linearise all of these, so they may be stiff. */
typedef struct st_ForceDef {
    st_BodyId body;
    st_Vec3 point;       /* in the body [m]                                                */
    st_Vec3 force;       /* [N]                                                            */
    st_Vec3 torque;      /* [N m]                                                          */
    bool body_axes;      /* force and torque are in body axes and turn with the body; else world axes */
    bool adhesion;       /* |force| is an adhesive pull, shared by all contacts of the body */
    double drag;         /* [N s^2/m^2], >= 0: density x area x drag coefficient / 2       */
    double charge;       /* [C]                                                            */
    st_Vec3 moment;      /* magnetic moment, in the body [A m^2]                           */
    st_Vec3 field;       /* magnetic field B, in the world [T]                             */
    st_Vec3 ellipsoid;   /* semi-axes [m]; 0: none                                     */
    st_Quat orientation; /* of the ellipsoid in the body                               */
    double blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift; /* coefficients of the ellipsoid */
    st_Profile profile;
    const char *name;
    uint32_t cookie;
} st_ForceDef;

/* ------------------------------------------------------------------ definitions
 *
 * Each function returns a def with defaults. Change the members that you need, then add the def. Lengths are in m. */

/* A body at rest at the origin. Its mass and inertia are 0: they are computed from its shapes. */
ST_API st_BodyDef st_body_def(void);
/* A shape of any type with the default density and friction; its sizes are 0. An unknown type gives a point. */
ST_API st_ShapeDef st_shape_def(st_ShapeType type);
/* A point at the origin of the shape. It has no volume: its body needs a mass. */
ST_API st_ShapeDef st_point_def(void);
/* A segment of this length along the shape's x axis. */
ST_API st_ShapeDef st_bar_def(double length);
/* A sphere. */
ST_API st_ShapeDef st_sphere_def(double radius);
/* A box with these half extents. */
ST_API st_ShapeDef st_box_def(double half_x, double half_y, double half_z);
/* The half space z < 0. The plane contains the origin, and its normal is z. */
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
/* The surface of a shape as triangles, for drawing. A circle becomes 24 corners. A plane becomes a square with the side
 * `size`, and a bar gets a thickness of 1 % of `size`. Allocates with malloc(); free the result with st_surface_free().
 * Thread-safe. */
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
/* A spring without stiffness and damping. Its rest length or angle is the one at the start. */
ST_API st_SpringDef st_spring_def(st_SpringType type);
/* A constant force of 0. */
ST_API st_ForceDef st_force_def(void);

/* Rotation that takes the z axis to `direction` (of any length), for planes. It is the identity if the direction is 0
 * or not finite. */
ST_API st_Quat st_quat_from_z(st_Vec3 direction);
/* Rotation that takes the x axis to `direction` (of any length), for bars. It is the identity if the direction is 0 or
 * not finite. */
ST_API st_Quat st_quat_from_x(st_Vec3 direction);

/* ------------------------------------------------------------------ building a scene */

/* Create an empty scene. Free it with st_scene_destroy. */
ST_API st_Status st_scene_create(st_Scene **out, st_Error *err);
/* Create an empty scene that takes its memory from `allocator`. The struct is copied; its ctx must outlive the scene.
 */
ST_API st_Status st_scene_create_with(const st_Allocator *allocator, st_Scene **out, st_Error *err);
/* Free a scene. Systems made from it are not affected. NULL is allowed. */
ST_API void st_scene_destroy(st_Scene *scene);

/* A compiled scene: convex hulls, bounding volume trees of meshes, masses, joints, names. It never changes, so any
 * number of systems in any number of threads can share it (st_system_create_from). A clone of a system shares it, too.
 */
typedef struct st_CompiledScene st_CompiledScene;
/* Compile a scene. The scene is copied and may be changed or destroyed afterwards. Memory comes from the allocator of
 * the scene; the thread that releases the last reference frees it. The caller owns one reference. */
ST_API st_Status st_scene_compile(const st_Scene *scene, st_CompiledScene **out, st_Error *err);
/* Add a reference and return the argument. Systems add their own references. Thread-safe. */
ST_API st_CompiledScene *st_compiled_retain(st_CompiledScene *compiled);
/* Release a reference. Releasing the last one frees the memory. NULL is allowed. Thread-safe. */
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
/* A keyframe is a state with a name. A system can start in it or return to it (st_system_set_keyframe). */
typedef struct st_KeyframeBody {
    st_BodyId body;   /* if it is fixed, only the pose is used                                    */
    st_Pose pose;     /* of its centre of mass, in the world [m]                                  */
    st_Vec3 velocity; /* linear, world axes [m/s]                                                 */
    st_Vec3 spin;     /* angular velocity, body axes [rad/s]                                      */
} st_KeyframeBody;
typedef struct st_KeyframeMotor {
    st_JointId joint; /* it has a motor that st_system_set_motor can set                          */
    double wanted;    /* as in st_system_set_motor                                                */
} st_KeyframeMotor;
typedef struct st_KeyframeForce {
    st_ForceId force;
    st_Vec3 value, torque; /* as in st_system_set_force [N], [N m]                                */
} st_KeyframeForce;
typedef struct st_KeyframeDef {
    const char *name;
    double t; /* [s]                                                                              */
    int n_bodies;
    const st_KeyframeBody *bodies; /* copied; bodies that are not listed stay where they are, at rest */
    int n_motors;
    const st_KeyframeMotor *motors; /* copied                                                     */
    int n_forces;
    const st_KeyframeForce *forces; /* copied                                                     */
    uint32_t cookie;                /* set by st_keyframe_def(); leave alone                      */
} st_KeyframeDef;
/* An empty keyframe at time 0. */
ST_API st_KeyframeDef st_keyframe_def(void);
/* Add a keyframe. The call does not check whether its poses satisfy the joints. */
ST_API st_Status st_scene_add_keyframe(st_Scene *scene, const st_KeyframeDef *def, st_Error *err);
/* Number of keyframes. */
ST_API int st_scene_keyframe_count(const st_Scene *scene);
/* A keyframe by its number, from 1. Its arrays belong to the scene. */
ST_API st_Status st_scene_keyframe(const st_Scene *scene, int number, st_KeyframeDef *out);
/* The number of the keyframe with this name; 0 if there is none. */
ST_API int st_scene_find_keyframe(const st_Scene *scene, const char *name);
/* Make space periodic. A cell without extent makes it open again. st_system_create fails if a body is wider than half
 * the cell, or if a plane crosses a periodic axis. */
ST_API st_Status st_scene_set_cell(st_Scene *scene, const st_Cell *cell, st_Error *err);
/* True if space is periodic. `out` (may be NULL) receives the cell. */
ST_API bool st_scene_cell(const st_Scene *scene, st_Cell *out);
/* Switch off contact between the shapes of two bodies. Two bodies with a joint between them are excluded already,
 * unless the def of the joint has `collide` set. */
ST_API st_Status st_scene_exclude(st_Scene *scene, st_BodyId a, st_BodyId b, st_Error *err);
/* Number of excluded pairs. A pair that was excluded twice is counted twice. */
ST_API int st_scene_excluded_count(const st_Scene *scene);
/* The bodies of excluded pair `index`, from 0. */
ST_API st_Status st_scene_excluded(const st_Scene *scene, int index, st_BodyId *a, st_BodyId *b);
/* Move the frame of a body to the centre of mass of its shapes. Everything stays where it is in the world: the pose,
 * the shapes and the forces of the body are rewritten. `shift` (may be NULL) receives the displacement in the old body
 * axes. */
ST_API st_Status st_scene_centre_body(st_Scene *scene, st_BodyId body, st_Vec3 *shift, st_Error *err);
/* Copy a scene. Ids stay the same. The caller destroys the copy. */
ST_API st_Status st_scene_copy(const st_Scene *scene, st_Scene **out, st_Error *err);
/* Multiply every friction coefficient of the scene by `factor`. */
ST_API st_Status st_scene_scale_friction(st_Scene *scene, double factor, st_Error *err);

/* Remove n bodies with their shapes, joints, springs and forces, and the gears on those joints. The remaining objects
 * keep their names and ids; their numbers close the gaps. If one id is not valid, nothing is removed. */
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

/* Number of bodies, without the ground. Their numbers are 1 to this count. */
ST_API int st_scene_body_count(const st_Scene *scene);
/* Number of shapes, including those of the ground. */
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

/* Mass and inertia of a moving body, from its def or from its shapes. Fails if the body has no mass or inertia in a
 * direction in which it can move. */
ST_API st_Status st_scene_body_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Mat3 *inertia, st_Error *err);
/* Mass of the shapes of a body, from their densities. The mass in the def of the body is not used. */
ST_API st_Status st_scene_shapes_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Error *err);

/* ------------------------------------------------------------------ words of scene files
 *
 * These functions return static strings, or NULL outside the range of the enum. */

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
