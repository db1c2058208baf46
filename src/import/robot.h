/* import/robot.h -- a robot between its file and the scene: a tree of links, each with its joint to the parent.
 *
 *     URDF --urdf.c--\
 *                     >-- robot --assemble.c--> members of the scene's lists --> as any scene
 *     MJCF --mjcf.c--/
 *
 * Every part points to the element it was read from, so that later error messages have a line number. */
#ifndef STI_SCENE_ROBOT_H
#define STI_SCENE_ROBOT_H

#include "scene/reader.h"

/* MJCF: the kinds of a geom, by the geoms that it touches and by its friction; -1: none. See mjcf_contact.c. */
typedef struct sti_Contacting {
    int filter, surface;
} sti_Contacting;

typedef struct sti_RobotShape {
    const sti_Element *at;
    st_Pose pose;     /* in the frame of the link */
    json_t *json;     /* a shape of a scene, without position and orientation; owned                     */
    const char *name; /* NULL: it has that of the link */
    uint32_t color;   /* as in st_ShapeDef; 0: that of the link */
    sti_Contacting contacting;
} sti_RobotShape;

/* The connection of a link to its parent. Point and axes are in the frame of the link. */
typedef struct sti_RobotJoint {
    const char *name; /* NULL: none                                                                  */
    const sti_Element *at;
    bool floating;     /* a free body */
    st_JointType type; /* fixed if it cannot move; then only merge and name are used */
    st_Vec3 point, axis, axis_b;
    st_Coordinate coordinate;
    double zero;                     /* value of the coordinate as drawn */
    double start;                    /* at the start; NaN: not given */
    double lower, upper;             /* infinite: none                                               */
    double other_lower, other_upper; /* from the start                                               */
    double stiffness, damping, rest, friction, armature;
    double time_constant, damping_ratio; /* MJCF springdamper; 0: none                               */
    double effort;                       /* largest force of its motor; infinite: not given */
    double effort_mid;                   /* middle of the range of its forces */
    bool damper_only;                    /* its actuator only adds damping */
    bool driven;                         /* has a motor, even one without force */
    bool actuated;                       /* driven by an actuator of the file, even if it follows another joint */
    json_t *motor;      /* as in the file, with the target in the file's coordinate; owned; NULL: none */
    const char *mimics; /* name of another joint: x = ratio x_other + offset; NULL: none             */
    double ratio, offset;
    double curve[3], middle; /* and curve times the 2nd, 3rd, 4th power of x_other - middle */
    double pitch;            /* screw: metres per turn */
    bool collide;
} sti_RobotJoint;

typedef struct sti_RobotLink {
    const char *name;
    const sti_Element *at;
    int parent;     /* an earlier link in the list; -1: the world */
    st_Pose pose;   /* in the parent as drawn; in the world after assembly */
    double mass;    /* 0: none                                                                         */
    double gravity; /* factor on its weight; 1 by default */
    st_Vec3 centre;
    st_Mat3 inertia; /* about the centre, link axes                                                  */
    sti_RobotJoint joint;
    STI_ARRAY(sti_RobotShape, shapes);
    int n_shapes;
    uint32_t color; /* of the first part that is only for display */
    bool moves;     /* MJCF: some joint moves it */
    bool kept;      /* a body of its own even if welded, because a sensor measures the force there */
    bool led;       /* MJCF mocap: a fixed body of its own, moved by st_system_set_pose */
    bool fluid;     /* MJCF fluidshape: the medium acts on its ellipsoids, not on its box */
    bool world;     /* the world itself: its shapes belong to the ground */
    int carries;    /* the body of which this link, between two of its joints, has a share; -1: none */
    /* set by assemble.c */
    int body;              /* link that represents its body; -1: the ground */
    bool has_mass;         /* before other links joined */
    bool touches;          /* the body has shapes */
    const char *body_name; /* of a body: the name of its first link with mass or shapes */
} sti_RobotLink;

/* Two links that may not touch. */
typedef struct sti_RobotPair {
    const sti_Element *at;
    int a, b; /* links; -1: the world */
} sti_RobotPair;

/* A joint between two links that is not part of the tree: it closes a loop. */
typedef struct sti_RobotTie {
    const char *name;
    sti_RobotPair links;
    st_JointType type;    /* ball, fixed; SDF: any */
    st_Vec3 point;        /* in the frame of a    */
    st_Vec3 axis, axis_b; /* in the frames of a and b */
    bool two_points;      /* point_b is given; else both points coincide as drawn */
    st_Vec3 point_b;      /* in the frame of b */
    bool two_frames;      /* MJCF weld: so are the orientations of both frames, else they are held as drawn */
    st_Quat turn, turn_b; /* in the frames of a and b */
} sti_RobotTie;

/* An element of a tendon's path, as st_TendonPoint. Points and axes are in the frame of the link. */
typedef struct sti_RobotPart {
    st_TendonKind kind;
    int link;
    const char *joint;
    st_Vec3 point, axis, side;
    bool has_side;
    double radius, coefficient;
} sti_RobotPart;

/* A tendon; or a further actuator of a joint; or, with a coordinate, an actuator between two points, along or about
 * the axis of the first. */
typedef struct sti_RobotTendon {
    const char *name;
    const sti_Element *at;
    sti_RobotPart *parts; /* memory of the files */
    int n_parts;
    st_Coordinate coordinate;
    double lower, upper, stiffness, damping, friction, armature;
    double rest, slack; /* NaN: as drawn */
    bool driven;
    json_t *motor; /* as in a joint */
    bool measured; /* a sensor reads it */
    bool held;     /* MJCF equality: held at the initial length + `hold`; a sum is held at `hold` */
    double hold;
    double effort, effort_mid;
} sti_RobotTendon;

/* A force that a controller can set. */
typedef struct sti_RobotWrench {
    const char *name;
    const sti_Element *at;
    int link;
    st_Vec3 point, force, torque;
    bool world_axes;   /* in the axes of the robot as a whole; else in those of its link */
    bool adhesion;     /* its norm pulls the link towards everything that it touches */
    st_Vec3 ellipsoid; /* MJCF fluidshape: semi-axes; 0: none                                             */
    st_Quat orientation;
    double fluid[5]; /* its fluidcoef */
} sti_RobotWrench;

/* A sensor, which becomes a measure of the scene. */
typedef struct sti_RobotSensor {
    const char *name;
    const sti_Element *at;
    st_MeasureType type;
    int link, reference; /* reference: only if `relative` */
    st_Pose pose, reference_pose;
    bool relative, own_axes;
    const char *joint, *tendon; /* one of them for coordinates; NULL: none */
    double factor;
    st_RegionDef region; /* of touch sensors, in the link */
} sti_RobotSensor;

/* The state of the joint of a link in a keyframe, in the coordinates of the file. */
typedef struct sti_RobotState {
    double x[7]; /* angle or displacement; quaternion of a ball; position and quaternion of a free joint */
    double v[6]; /* rates; angular velocities in the axes of the link */
    st_Pose pose;
    st_Vec3 velocity, spin; /* of the link in the world, set by assemble.c */
} sti_RobotState;
typedef struct sti_RobotKey {
    const char *name;
    const sti_Element *at;
    double t;
    sti_RobotState *state; /* one per link; memory of the files */
    bool mocap;            /* mpos or mquat is given */
    int n_controls;
    double *control; /* one per control of the robot, in the file's unit; NaN: none */
} sti_RobotKey;
/* A motor that keyframes can set. */
typedef struct sti_RobotControl {
    const char *joint, *tendon; /* one of them, or both NULL: none */
    double factor, offset;      /* target of the motor = factor * control of the file + offset */
    double low, high;           /* bounds of the control */
    bool position;              /* the target is a coordinate */
    bool activated, integrates; /* keyframes have a number of act for it; that number is the target */
    int wrench;                 /* 1 + number of the force that it sets; 0: none */
    st_Vec3 force, torque;      /* that force for a value of 1, in the same axes */
    double least, most;         /* bounds of that value */
} sti_RobotControl;

#define STI_MOST_LINKS 10000

typedef struct sti_Skipped {
    const char *what;
    int count;
} sti_Skipped;
#define STI_MOST_SKIPPED 64

typedef struct sti_Robot {
    sti_Reader *reader;
    sti_Xml *files; /* owned by the reader */
    st_Error *err;  /* owned by the reader */
    st_Allocator allocator;
    size_t index;        /* index in `robots` */
    const json_t *entry; /* that entry */
    sti_RobotDef def;
    const char *file;    /* path under which it was opened */
    const char *folder;  /* folder of `file` as written in the scene, with its slash; "": the folder of the scene */
    const char *meshdir; /* URDF <mujoco><compiler>: folder of meshes that are named without one; NULL: not given */
    char prefix[64];     /* put before all names */
    st_Pose root;        /* pose in the world */
    STI_ARRAY(sti_RobotLink, links);
    int n_links;
    STI_ARRAY(sti_RobotPair, apart);
    int n_apart;
    STI_ARRAY(sti_RobotTie, ties);
    int n_ties;
    STI_ARRAY(sti_RobotTendon, tendons);
    int n_tendons;
    STI_ARRAY(sti_RobotWrench, wrenches);
    int n_wrenches;
    STI_ARRAY(sti_RobotSensor, sensors);
    int n_sensors;
    STI_ARRAY(sti_RobotKey, keys);
    int n_keys;
    STI_ARRAY(sti_RobotControl, controls);
    int n_controls;
    sti_Skipped skipped[STI_MOST_SKIPPED]; /* features that were not imported */
    int n_skipped;
    int n_meshes;   /* number of shapes from files */
    int n_problems; /* errors listed so far, see sti_note_problem() */
} sti_Robot;

st_Status sti_urdf_read(sti_Robot *robot, const sti_Element *root);
st_Status sti_mjcf_read(sti_Robot *robot, sti_Element *root);
st_Status sti_sdf_read(sti_Robot *robot, const sti_Element *root);
/* Records that `shape` in the scene's tree is a geom. Its groups and material are written after all robots are read.
 * Takes ownership of `body`. */
st_Status sti_geom_placed(sti_Robot *robot, sti_Contacting contacting, json_t *shape, json_t *body);
st_Status sti_geoms_finish(sti_Reader *reader);
/* Writes the robot to the scene's tree. */
st_Status sti_robot_assemble(sti_Robot *robot);

/* A joint with default values: welded in place, without springs or motors. */
sti_RobotJoint sti_robot_joint(const sti_Element *at);
/* Adds a link with default values: welded to the parent in place, without mass. NULL: out of memory. */
sti_RobotLink *sti_robot_link(sti_Robot *robot, const char *name, const sti_Element *at, int parent);
/* Adds a tendon with room for n parts, without springs and limits; with name NULL it gets a name. */
st_Status sti_robot_tendon(sti_Robot *robot, const char *name, const sti_Element *at, int n, sti_RobotTendon **out);
int sti_robot_find_tendon(const sti_Robot *robot, const char *name); /* -1: none */
/* Takes ownership of `json`. */
st_Status sti_robot_shape(sti_Robot *robot, sti_RobotLink *link, const sti_Element *at, st_Pose pose, json_t *json);
/* Adds the mass and inertia of `from` to `into`, both placed; the frame of `into` stays. */
void sti_join_masses(sti_RobotLink *into, const sti_RobotLink *from);
bool sti_robot_ignores(const sti_Robot *robot, const char *name);   /* is the name in `ignore`? */
int sti_robot_find(const sti_Robot *robot, const char *name);       /* number of the link; -1: none */
int sti_robot_find_joint(const sti_Robot *robot, const char *name); /* number of the link that has the joint */
void sti_robot_free(sti_Robot *robot);

/* If the largest principal moment exceeds the sum of the others by at most a tenth, as rounding in drawings causes,
 * it is lowered to the sum, with a remark. */
st_Status sti_mend_inertia(sti_Robot *robot, sti_RobotLink *link);
/* Counts a feature that is not imported. It is listed once, with its count. `what` must outlive the robot. */
void sti_skip(sti_Robot *robot, const char *what);
/* Handles an error in one element after which reading can continue. If all errors are to be listed, it is added to
 * the list and ST_OK is returned. Other failures are returned. */
st_Status sti_note_problem(sti_Robot *robot, st_Status status);
/* Adds a line to the remarks. */
st_Status sti_remark(sti_Robot *robot, const char *format, ...) STI_PRINTF(2, 3);
/* Records that `made` comes from the element `from`, for messages. */
st_Status sti_origin(sti_Reader *reader, const json_t *made, const sti_Element *from);
st_Status sti_robot_memory(const sti_Robot *robot);

/* The path of a mesh as written in the scene, with package:// and file:// resolved. The string lives as long as the
 * files. */
st_Status sti_robot_path(sti_Robot *robot, const sti_Element *at, const char *name, const char **out);
/* Reads another file that this one names, and returns its root element. */
st_Status sti_robot_include(sti_Robot *robot, const sti_Element *at, const char *name, sti_Element **root);
/* A hull or mesh from a file, scaled, as a shape of a scene. */
st_Status sti_robot_mesh(sti_Robot *robot, const sti_Element *at, const char *name, const double scale[3],
                         json_t **out);

/* Volume (as mass), centre and inertia of a shape at a density of 1, computed by a scene that has only this shape.
 * mjcf_geom.c */
st_Status sti_robot_measure(const sti_Robot *robot, const json_t *json, st_Error *why, sti_RobotLink *out);
/* Where a file that a robot names is: the path, from the folder of the scene. */
st_Status sti_robot_whole_path(sti_Robot *robot, const sti_Element *at, const char *name, char *out, size_t size);
/* A grid of heights as a shape: ny rows of nx, y increasing, spaced by dx and dy and centred at 0. With equal distances
 * it is a height field, else a closed mesh that reaches down to -base. NULL: out of memory. mjcf_hfield.c */
json_t *sti_height_json(int nx, int ny, const double *height, double dx, double dy, double base);

/* Colours as in st_ShapeDef, 0: none. color.c. The first is of a text, "r g b" or "r g b a"; the second of a <visual>
 * of URDF, whose material may be defined anywhere in the robot. */
uint32_t sti_color_of(const char *text);
uint32_t sti_urdf_color(const sti_Element *root, const sti_Element *visual);

json_t *sti_json_vector(st_Vec3 a);
json_t *sti_json_rotation(st_Quat q);
/* Roll, pitch, yaw about fixed axes: q = yaw pitch roll. */
st_Quat sti_quat_rpy(double roll, double pitch, double yaw);
/* R I R' */
st_Mat3 sti_inertia_turned(st_Quat q, const st_Mat3 *inertia);

#endif
