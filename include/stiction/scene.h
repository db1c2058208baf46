/* stiction/scene.h -- the description of a rigid-body world: editable, no run-time state.
 *
 * Definitions come from a function with good defaults and are copied on use. The id {0} is the
 * ground, wherever a body is asked for: it has shapes, joints and springs like any other, and
 * does not move. Names are copied; they must be unique among objects of one kind; an object with
 * no name gets one ("body1").
 *
 * What cannot be is refused where it is added, by name and value, and the scene stays as it was. `out` and `err` may be
 * NULL where something is added.
 */
#ifndef STICTION_SCENE_H
#define STICTION_SCENE_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct st_Scene st_Scene;

/* Ids of what is inside a scene, in order of adding: index1 = 1, 2, ... ; {0} is the ground or none. */
typedef struct st_BodyId {
    int32_t index1;
} st_BodyId;
typedef struct st_ShapeId {
    int32_t index1;
} st_ShapeId;
typedef struct st_JointId {
    int32_t index1;
} st_JointId;
typedef struct st_SpringId {
    int32_t index1;
} st_SpringId;
typedef struct st_ForceId {
    int32_t index1;
} st_ForceId;
typedef struct st_MaterialId {
    int32_t index1;
} st_MaterialId;
#define ST_GROUND ((st_BodyId){0})

/* Degrees of freedom taken out of the system: translations along world axes, rotations about body
 * axes. A planar scene in x and y locks ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY in every body.       */
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
    const char *name;
    uint32_t cookie; /* set by st_body_def(); leave alone                               */
} st_BodyDef;

/* What surfaces are made of. Two materials in contact have what is said for their pair, or else the geometric
 * mean of their frictions and the larger of their restitutions, rolling and spinning frictions.  */
typedef struct st_MaterialDef {
    double mu;          /* friction                                                     */
    double restitution; /* of impacts, 0 to 1                                           */
    double rolling;     /* rolling friction [m]                                         */
    double spinning;    /* spinning friction [m]                                        */
    const char *name;
    uint32_t cookie;
} st_MaterialDef;

typedef struct st_MaterialPairDef {
    st_MaterialId a, b; /* may be the same                                              */
    double mu;          /* friction between them; NaN: not said                         */
    double restitution; /* of impacts between them, 0 to 1; NaN: not said               */
    double rolling;     /* rolling friction between them [m]; NaN: not said             */
    double spinning;    /* spinning friction between them [m]; NaN: not said            */
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

/* A mesh whose triangles close a volume, seen counter-clockwise from outside, is solid; any other is a
 * sheet that is touched on both sides. Arrays are copied.                                        */
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
    double stiffness;       /* contact regularized: normal spring [N/m]; 0: the simulation's. In a pair: in series */
    double damping;         /* contact regularized: tangential damper [N s/m]; likewise      */
    double young;           /* contact compliant: Young's modulus [Pa]; 0: rigid             */
    double poisson;         /* contact compliant: Poisson's ratio, between -1 and 1/2        */
    /* A belt or a turntable: the surface moves in itself while the shape stays where it is. At a point x of it, in the
     * shape's axes: surface_velocity + surface_spin x x, of which what is along the contact's tangents counts.   */
    st_Vec3 surface_velocity; /* [m/s]                                                       */
    st_Vec3 surface_spin;     /* about the shape's origin [rad/s]                            */

    int n_points;          /* hull, mesh                                                */
    const st_Vec3 *points; /* in the shape's axes [m]                                   */
    int n_triangles;       /* mesh                                                      */
    const int *triangles;  /* 3 n_triangles, counter-clockwise from outside             */
    int n_x, n_y;          /* height field: samples along x and y, at least 2 each      */
    double spacing;        /* height field: between samples; the grid is centred [m]    */
    const double *heights; /* height field: n_x n_y, x fastest [m]                      */

    /* Two shapes touch where each one's mask has a bit of the other's groups. */
    uint32_t groups; /* what it is: bits; 1                                             */
    uint32_t mask;   /* what it touches: bits; all                                      */
    const char *name;
    uint32_t cookie;
} st_ShapeDef;

/* How something changes with time; a factor. */
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
    ST_JOINT_FREE           /* nothing held: a rope, an actuator; see `coordinate`        */
} st_JointType;
#define ST_N_JOINT_TYPES 12

/* What a joint measures: limits, motors, friction, springs and gears act on it. 0 at the start, but
 * for the distance, for the swing, and for `free`, whose two points need not coincide. Where a joint
 * leaves two of them free, the one that is not chosen is its other coordinate, which has limits only. */
typedef enum st_Coordinate {
    ST_COORDINATE_DEFAULT = 0,  /* the first of those below that the joint leaves free  */
    ST_COORDINATE_ANGLE,        /* of b against a about the axis, counting whole turns [rad] */
    ST_COORDINATE_DISPLACEMENT, /* of b's point against a's along the axis [m]          */
    ST_COORDINATE_DISTANCE,     /* between point and point_b [m]: `free` only           */
    ST_COORDINATE_ANGLE_B,      /* universal: of b about axis_b, counting whole turns [rad] */
    ST_COORDINATE_SWING,        /* ball: between axis, fixed in a, and axis_b, fixed in b, 0 to pi [rad] */
    ST_COORDINATE_TWIST         /* ball: of b about its axis_b, swing apart, counting whole turns [rad] */
} st_Coordinate;
#define ST_N_COORDINATES 7

/* wanted(t) = offset + target * profile(t). */
typedef enum st_MotorType {
    ST_MOTOR_NONE = 0,
    ST_MOTOR_SPEED,    /* the wanted speed, with at most max_force                      */
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
    double stiffness; /* position [N/m or N m/rad], > 0                                */
    double damping;   /* position [N s/m or N m s/rad]                                  */
} st_MotorDef;

/* A joint between a and b, described in the world as the bodies stand in their defs. */
typedef struct st_JointDef {
    st_JointType type;
    st_BodyId a, b;                  /* one may be the ground; gear: neither                   */
    st_Vec3 point, point_b;          /* in the world [m]; point_b for `distance`, `free` only  */
    st_Vec3 axis;                    /* in the world, any length                               */
    st_Vec3 axis_b;                  /* universal: likewise, orthogonal to axis; ball: of b, 0: as axis */
    double length;                   /* distance [m]; 0: as it is at the start                 */
    double pitch;                    /* screw: displacement per turn [m], not 0                */
    st_JointId joint_a, joint_b;     /* gear: joints with a coordinate, added before        */
    double ratio;                    /* gear, not 0                                            */
    st_Coordinate coordinate;        /* what all below speaks of                               */
    double lower, upper;             /* limits [m or rad]; infinite: none. Of a swing: upper only, a cone */
    double other_lower, other_upper; /* of the other coordinate: likewise                 */
    double restitution;              /* of its limits, 0 to 1                               */
    double friction;                 /* largest force of dry friction [N or N m]               */
    double stiffness, damping;       /* spring and damper [N/m, N s/m or per rad]             */
    double rest;                     /* of the spring [m or rad]; NaN: as it is at the start   */
    double armature;                 /* inertia that turns or slides with it: a rotor's [kg m^2 or kg] */
    st_MotorDef motor;
    bool collide; /* do shapes of the two bodies touch? The ground's always do */
    const char *name;
    uint32_t cookie;
} st_JointDef;

typedef enum st_SpringType {
    ST_SPRING_LINEAR = 0, /* between two points                                         */
    ST_SPRING_ANGULAR,    /* about an axis common to both bodies; counts whole turns    */
    ST_SPRING_BUSHING     /* in all six directions of a frame fixed in a                */
} st_SpringType;
#define ST_N_SPRING_TYPES 3

/* Spring and damper in parallel; either may be 0. Points and axis are in the world, as the bodies
 * stand in their defs. A linear spring of rest length 0 acts and damps in all three directions. A
 * bushing is at rest as the bodies stand; its angles are the components of the rotation vector.  */
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
    const char *name;
    uint32_t cookie;
} st_SpringDef;

/* force(t) = force * profile(t) at a point of the body, and torque(t) likewise. */
typedef struct st_ForceDef {
    st_BodyId body;
    st_Vec3 point;  /* in the body [m]                                                */
    st_Vec3 force;  /* [N]                                                            */
    st_Vec3 torque; /* [N m]                                                          */
    bool body_axes; /* force and torque turn with the body; else world axes           */
    st_Profile profile;
    const char *name;
    uint32_t cookie;
} st_ForceDef;

/* Lengths in m, as st_ShapeType and st_ShapeDef have them; arrays are copied when the shape is added. */
ST_API st_BodyDef st_body_def(void);
ST_API st_ShapeDef st_point_def(void);
ST_API st_ShapeDef st_bar_def(double length);
ST_API st_ShapeDef st_sphere_def(double radius);
ST_API st_ShapeDef st_box_def(double half_x, double half_y, double half_z);
ST_API st_ShapeDef st_plane_def(void); /* through the origin, normal along z */
ST_API st_ShapeDef st_capsule_def(double radius, double length);
ST_API st_ShapeDef st_cylinder_def(double radius, double length);
ST_API st_ShapeDef st_cone_def(double radius, double length);
ST_API st_ShapeDef st_ellipsoid_def(double a, double b, double c); /* semi-axes along x, y, z */
ST_API st_ShapeDef st_hull_def(const st_Vec3 *points, int n_points);
/* The surface of the hull of points, to be drawn: its corners, and triangles of them, three numbers from 0 each,
 * counter-clockwise from outside. Free both with free().                                          */
ST_API st_Status st_hull_faces(const st_Vec3 *points, int n_points, st_Vec3 **corners, int *n_corners, int **triangles,
                               int *n_triangles, st_Error *err);
ST_API st_ShapeDef st_mesh_def(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles);
ST_API st_ShapeDef st_height_field_def(const double *heights, int n_x, int n_y, double spacing);
ST_API st_MaterialDef st_material_def(void);
ST_API st_MaterialPairDef st_material_pair_def(void);
ST_API st_JointDef st_joint_def(st_JointType type);
ST_API st_SpringDef st_spring_def(st_SpringType type);
ST_API st_ForceDef st_force_def(void);

/* Rotation that takes the z axis to a direction of any length: for planes; the x axis: for bars. None for a direction
 * that is 0 or not finite.                                                                        */
ST_API st_Quat st_quat_from_z(st_Vec3 direction);
ST_API st_Quat st_quat_from_x(st_Vec3 direction);

/* An empty scene, to be destroyed by the caller. */
ST_API st_Status st_scene_create(st_Scene **out, st_Error *err);
/* The same with memory from elsewhere; the table is copied, its ctx must outlive the scene. */
ST_API st_Status st_scene_create_with(const st_Allocator *allocator, st_Scene **out, st_Error *err);
ST_API st_Status st_scene_add_body(st_Scene *scene, const st_BodyDef *def, st_BodyId *out, st_Error *err);
ST_API st_Status st_scene_add_shape(st_Scene *scene, st_BodyId body, const st_ShapeDef *def, st_ShapeId *out,
                                    st_Error *err);
ST_API st_Status st_scene_add_material(st_Scene *scene, const st_MaterialDef *def, st_MaterialId *out, st_Error *err);
ST_API st_Status st_scene_add_material_pair(st_Scene *scene, const st_MaterialPairDef *def, st_Error *err);
ST_API st_Status st_scene_add_joint(st_Scene *scene, const st_JointDef *def, st_JointId *out, st_Error *err);
ST_API st_Status st_scene_add_spring(st_Scene *scene, const st_SpringDef *def, st_SpringId *out, st_Error *err);
ST_API st_Status st_scene_add_force(st_Scene *scene, const st_ForceDef *def, st_ForceId *out, st_Error *err);
/* Shapes of these two bodies do not touch. Joined bodies are excluded already. */
ST_API st_Status st_scene_exclude(st_Scene *scene, st_BodyId a, st_BodyId b, st_Error *err);
/* Move the body's frame to the centre of mass of its shapes. What is described stays where it is in the
 * world: pose, shapes and forces of the body are rewritten. `shift` (may be NULL): in old body axes.  */
ST_API st_Status st_scene_centre_body(st_Scene *scene, st_BodyId body, st_Vec3 *shift, st_Error *err);
/* Another scene with the same in it; and one whose every friction is `factor` times what it was. */
ST_API st_Status st_scene_copy(const st_Scene *scene, st_Scene **out, st_Error *err);
ST_API st_Status st_scene_scale_friction(st_Scene *scene, double factor, st_Error *err);
/* Take n objects out. With a body go its shapes, joints, springs and forces, with a joint the gears on it. What stays
 * keeps its name and closes up, so that ids change: find them again. One id that is not there, and all stay.  */
ST_API st_Status st_scene_remove_bodies(st_Scene *scene, const st_BodyId *ids, int n, st_Error *err);
ST_API st_Status st_scene_remove_shapes(st_Scene *scene, const st_ShapeId *ids, int n, st_Error *err);
ST_API st_Status st_scene_remove_joints(st_Scene *scene, const st_JointId *ids, int n, st_Error *err);
ST_API st_Status st_scene_remove_springs(st_Scene *scene, const st_SpringId *ids, int n, st_Error *err);
ST_API st_Status st_scene_remove_forces(st_Scene *scene, const st_ForceId *ids, int n, st_Error *err);
ST_API void st_scene_destroy(st_Scene *scene); /* NULL is fine */

/* What is inside; ST_ERR_ARGUMENT where there is no such id. The pointers in a def that is read back live as long as
 * the scene.                                                                                          */
ST_API int st_scene_body_count(const st_Scene *scene);
ST_API int st_scene_shape_count(const st_Scene *scene);
ST_API int st_scene_joint_count(const st_Scene *scene);
ST_API int st_scene_spring_count(const st_Scene *scene);
ST_API int st_scene_force_count(const st_Scene *scene);
ST_API int st_scene_material_count(const st_Scene *scene);
ST_API st_Status st_scene_body(const st_Scene *scene, st_BodyId id, st_BodyDef *out);
ST_API st_Status st_scene_shape(const st_Scene *scene, st_ShapeId id, st_ShapeDef *out, st_BodyId *body);
ST_API st_Status st_scene_joint(const st_Scene *scene, st_JointId id, st_JointDef *out);
ST_API st_Status st_scene_spring(const st_Scene *scene, st_SpringId id, st_SpringDef *out);
ST_API st_Status st_scene_force(const st_Scene *scene, st_ForceId id, st_ForceDef *out);
ST_API st_Status st_scene_material(const st_Scene *scene, st_MaterialId id, st_MaterialDef *out);
/* {0}: none of that name */
ST_API st_BodyId st_scene_find_body(const st_Scene *scene, const char *name);
ST_API st_JointId st_scene_find_joint(const st_Scene *scene, const char *name);
ST_API st_MaterialId st_scene_find_material(const st_Scene *scene, const char *name);
ST_API st_ForceId st_scene_find_force(const st_Scene *scene, const char *name);
ST_API st_SpringId st_scene_find_spring(const st_Scene *scene, const char *name);
/* Names of shapes are unique in their body, or the ground. */
ST_API st_ShapeId st_scene_find_shape(const st_Scene *scene, st_BodyId body, const char *name);

/* What a body that moves has, given or from its shapes; fails where a free direction has nothing to move. */
ST_API st_Status st_scene_body_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Mat3 *inertia, st_Error *err);
/* What its shapes have by their densities, whatever the body's def gives: to compare. */
ST_API st_Status st_scene_shapes_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Error *err);

/* "box", "revolute", "harmonic", ...: the words scene files use; NULL outside the range. */
ST_API const char *st_shape_type_name(st_ShapeType type);
ST_API const char *st_joint_type_name(st_JointType type);
ST_API const char *st_spring_type_name(st_SpringType type);
ST_API const char *st_profile_type_name(st_ProfileType type);
ST_API const char *st_coordinate_name(st_Coordinate coordinate);
ST_API const char *st_motor_type_name(st_MotorType type);

#ifdef __cplusplus
}
#endif
#endif
