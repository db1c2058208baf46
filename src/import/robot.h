/* import/robot.h -- a robot between its file and the scene: a tree of links, each with its joint to the parent.
 *
 *     URDF --urdf.c--\
 *                     >-- robot --assemble.c--> members of the scene's lists --> as any scene
 *     MJCF --mjcf.c--/
 *
 * Everything points at the element it was read from, so that whatever is wrong with it later has a line.
 */
#ifndef STI_SCENE_ROBOT_H
#define STI_SCENE_ROBOT_H

#include "scene/reader.h"

/* MJCF: of which kinds a geom is, by what it touches and by its friction; -1: none. See mjcf_contact.c. */
typedef struct sti_Contacting {
    int filter, surface;
} sti_Contacting;

typedef struct sti_RobotShape {
    const sti_Element *at;
    st_Pose pose;     /* in the link                                                                     */
    json_t *json;     /* a shape of a scene, without position and orientation; owned                     */
    const char *name; /* NULL: that of the link                                                      */
    sti_Contacting contacting;
} sti_RobotShape;

/* What connects a link to its parent. Point and axes are in the link's own frame. */
typedef struct sti_RobotJoint {
    const char *name; /* NULL: none                                                                  */
    const sti_Element *at;
    bool floating;     /* nothing is held                                                            */
    st_JointType type; /* fixed where there is nothing to move; then only merge and name count       */
    st_Vec3 point, axis, axis_b;
    st_Coordinate coordinate;
    double zero;                     /* the coordinate as the file draws the link                    */
    double start;                    /* at the start; NaN: not said                                  */
    double lower, upper;             /* infinite: none                                               */
    double other_lower, other_upper; /* from the start                                               */
    double stiffness, damping, rest, friction, armature;
    double time_constant, damping_ratio; /* MJCF springdamper; 0: none                               */
    double effort;                       /* largest force of its motor; infinite: not said                            */
    double effort_mid;                   /* the middle of the range of its forces                                     */
    bool damper_only;                    /* its actuator is its damping                                               */
    bool driven;                         /* has a motor, be it one that does not push                                 */
    bool actuated;      /* by an actuator of the file: it is driven even if it follows another one     */
    json_t *motor;      /* as the file says it, target in the file's own count; owned; NULL: none    */
    const char *mimics; /* name of another joint: x = ratio x_other + offset; NULL: none             */
    double ratio, offset;
    double curve[3], middle; /* and curve times the 2nd, 3rd, 4th power of x_other - middle */
    double pitch;            /* of a screw: metres a turn */
    bool collide;
} sti_RobotJoint;

typedef struct sti_RobotLink {
    const char *name;
    const sti_Element *at;
    int parent;     /* before it in the list; -1: the world                                            */
    st_Pose pose;   /* in the parent as drawn; in the world once assembled                             */
    double mass;    /* 0: none                                                                         */
    double gravity; /* how much of it is felt: 1                                                     */
    st_Vec3 centre;
    st_Mat3 inertia; /* about the centre, link axes                                                  */
    sti_RobotJoint joint;
    STI_ARRAY(sti_RobotShape, shapes);
    int n_shapes;
    bool moves;  /* MJCF: a joint leads to it                                                        */
    bool kept;   /* a body of its own even if it is welded: a sensor shows the force there            */
    bool led;    /* MJCF mocap: a fixed body of its own, that st_system_set_pose moves                */
    bool fluid;  /* MJCF fluidshape: the medium acts on ellipsoids of it, not on its box             */
    bool world;  /* not a link but the world: its shapes are the ground's                            */
    int carries; /* a link between two joints of one body, which it has a share of: that body; -1: none */
    /* by assemble.c */
    int body;              /* the link that stands for its body; -1: the ground                      */
    bool has_mass;         /* its own, before others joined                                          */
    bool touches;          /* of a body: it has shapes                                               */
    const char *body_name; /* of a body: that of its first link with mass or shapes                  */
} sti_RobotLink;

/* Two links that do not touch. */
typedef struct sti_RobotPair {
    const sti_Element *at;
    int a, b; /* links; -1: the world */
} sti_RobotPair;

/* Two links held together beside the tree: a joint that closes a loop. */
typedef struct sti_RobotTie {
    const char *name;
    sti_RobotPair links;
    st_JointType type;    /* ball, fixed; SDF: any */
    st_Vec3 point;        /* in the frame of a    */
    st_Vec3 axis, axis_b; /* likewise          */
    bool two_points;      /* point_b is given; else it is the same point as drawn */
    st_Vec3 point_b;      /* in the frame of b */
} sti_RobotTie;

/* A member of a tendon's path, as st_TendonPoint has it. Points and axes are in the link's frame. */
typedef struct sti_RobotPart {
    st_TendonKind kind;
    int link;
    const char *joint;
    st_Vec3 point, axis, side;
    bool has_side;
    double radius, coefficient;
} sti_RobotPart;

/* A tendon; an actuator of a joint that has one already; or, with a coordinate, one between two points: along or about
 * the axis of the first.                                                                             */
typedef struct sti_RobotTendon {
    const char *name;
    const sti_Element *at;
    sti_RobotPart *parts; /* kept with the files */
    int n_parts;
    st_Coordinate coordinate;
    double lower, upper, stiffness, damping, friction, armature;
    double rest, slack; /* NaN: as drawn */
    bool driven;
    json_t *motor; /* as a joint has it */
    bool measured; /* by a sensor */
    bool held;     /* MJCF equality: at the length at the start and `hold` more, of a sum: at `hold` */
    double hold;
    double effort, effort_mid;
} sti_RobotTendon;

/* A force that a controller can set, in the axes of its link. */
typedef struct sti_RobotWrench {
    const char *name;
    const sti_Element *at;
    int link;
    st_Vec3 point, force, torque;
    bool adhesion;     /* the length of the force pulls at what the link touches                          */
    st_Vec3 ellipsoid; /* MJCF fluidshape: semi-axes; 0: none                                             */
    st_Quat orientation;
    double fluid[5]; /* its fluidcoef */
} sti_RobotWrench;

/* A sensor: a measure of the scene. */
typedef struct sti_RobotSensor {
    const char *name;
    const sti_Element *at;
    st_MeasureType type;
    int link, reference; /* reference: where `relative` */
    st_Pose pose, reference_pose;
    bool relative, own_axes;
    const char *joint, *tendon; /* one of them, of coordinates; NULL: none   */
    double factor;
    st_RegionDef region; /* touch, in the link */
} sti_RobotSensor;

/* A state of the file: of the joint of each link, in the file's count. */
typedef struct sti_RobotState {
    double x[7]; /* angle or displacement; quaternion of a ball; position and quaternion of a free joint */
    double v[6]; /* their rates: balls and spins in the axes of the link                                 */
    st_Pose pose;
    st_Vec3 velocity, spin; /* of the link, in the world: by assemble.c                                  */
} sti_RobotState;
typedef struct sti_RobotKey {
    const char *name;
    const sti_Element *at;
    double t;
    sti_RobotState *state; /* of each link; kept with the files                                  */
    bool mocap;            /* mpos or mquat is given */
    int n_controls;
    double *control; /* of each of the robot's controls, in the file's count; NaN: none           */
} sti_RobotKey;
/* A motor that keyframes speak of. */
typedef struct sti_RobotControl {
    const char *joint, *tendon; /* one of them; both NULL: none                                   */
    double factor, offset;      /* from the file's control to what the motor wants                 */
    double low, high;           /* of the control                                                 */
    bool position;              /* what is wanted counts as the coordinate does                   */
    bool activated, integrates; /* has a number of act in keyframes; which is what is wanted      */
    int wrench;                 /* 1 + the number of the force that it sets; 0: none              */
    st_Vec3 force, torque;      /* of that force for a value of 1, in the axes of its link        */
    double least, most;         /* that value                                                     */
} sti_RobotControl;

#define STI_MOST_LINKS 10000

typedef struct sti_Skipped {
    const char *what;
    int count;
} sti_Skipped;
#define STI_MOST_SKIPPED 64

typedef struct sti_Robot {
    sti_Reader *reader;
    sti_Xml *files; /* the reader's                                                                  */
    st_Error *err;  /* the reader's                                                                  */
    st_Allocator allocator;
    size_t index;        /* in `robots`                                                              */
    const json_t *entry; /* that member                                                              */
    sti_RobotDef def;
    const char *file;    /* as it was opened                                                          */
    const char *folder;  /* of `file` as the scene writes it, with its slash; "": the scene's own     */
    const char *meshdir; /* URDF <mujoco><compiler>: where meshes are, without folders of their own; NULL: not said  */
    char prefix[64];     /* of names                                                                  */
    st_Pose root;        /* in the world                                                              */
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
    sti_Skipped skipped[STI_MOST_SKIPPED]; /* what is not carried over                              */
    int n_skipped;
    int n_meshes;   /* shapes from files                        */
    int n_problems; /* listed so far, see sti_note_problem()    */
} sti_Robot;

st_Status sti_urdf_read(sti_Robot *robot, const sti_Element *root);
st_Status sti_mjcf_read(sti_Robot *robot, sti_Element *root);
st_Status sti_sdf_read(sti_Robot *robot, const sti_Element *root);
/* A geom is in the scene's tree, as `shape`; what it is to the others is written there once all robots are read. */
st_Status sti_geom_placed(sti_Robot *robot, sti_Contacting contacting, json_t *shape, json_t *body); /* takes `body` */
st_Status sti_geoms_finish(sti_Reader *reader);
/* To the scene's tree. */
st_Status sti_robot_assemble(sti_Robot *robot);

/* Welded where it stands, with nothing that acts. */
sti_RobotJoint sti_robot_joint(const sti_Element *at);
/* A new link, with defaults: welded to the parent where it stands, no mass. NULL: no memory. */
sti_RobotLink *sti_robot_link(sti_Robot *robot, const char *name, const sti_Element *at, int parent);
/* A new tendon with room for n parts, without springs and limits; name NULL: it gets one. */
st_Status sti_robot_tendon(sti_Robot *robot, const char *name, const sti_Element *at, int n, sti_RobotTendon **out);
int sti_robot_find_tendon(const sti_Robot *robot, const char *name); /* -1: none */
/* Takes `json`. */
st_Status sti_robot_shape(sti_Robot *robot, sti_RobotLink *link, const sti_Element *at, st_Pose pose, json_t *json);
/* `from` joins `into`, both placed; the frame of `into` stays. */
void sti_join_masses(sti_RobotLink *into, const sti_RobotLink *from);
bool sti_robot_ignores(const sti_Robot *robot, const char *name);   /* the robot is said to do without it */
int sti_robot_find(const sti_Robot *robot, const char *name);       /* link; -1: none           */
int sti_robot_find_joint(const sti_Robot *robot, const char *name); /* the link that has it     */
void sti_robot_free(sti_Robot *robot);

/* An inertia whose largest moment is above the sum of the others by the rounding of drawings, up to a tenth of it, is
 * brought there, with a remark. */
st_Status sti_mend_inertia(sti_Robot *robot, sti_RobotLink *link);
/* Not carried over: named once, with how often it came. `what` outlives the robot. */
void sti_skip(sti_Robot *robot, const char *what);
/* Something is wrong with an element, and what comes after it can be read all the same: where all errors are wanted,
 * this one is listed, and ST_OK. Other failures are passed on. */
st_Status sti_note_problem(sti_Robot *robot, st_Status status);
/* A line of its own among the remarks. */
st_Status sti_remark(sti_Robot *robot, const char *format, ...) STI_PRINTF(2, 3);
/* Where `made` comes from. */
st_Status sti_origin(sti_Reader *reader, const json_t *made, const sti_Element *from);
st_Status sti_robot_memory(const sti_Robot *robot);

/* The path of a mesh as the scene writes it, kept: package:// and file:// looked up. */
st_Status sti_robot_path(sti_Robot *robot, const sti_Element *at, const char *name, const char **out);
/* The root element of another file that this one names. */
st_Status sti_robot_include(sti_Robot *robot, const sti_Element *at, const char *name, sti_Element **root);
/* A hull or mesh of a file, scaled: a shape of a scene. */
st_Status sti_robot_mesh(sti_Robot *robot, const sti_Element *at, const char *name, const double scale[3],
                         json_t **out);

json_t *sti_json_vector(st_Vec3 a);
json_t *sti_json_rotation(st_Quat q);
/* Roll, pitch, yaw about fixed axes: q = yaw pitch roll. */
st_Quat sti_quat_rpy(double roll, double pitch, double yaw);
/* R I R' */
st_Mat3 sti_inertia_turned(st_Quat q, const st_Mat3 *inertia);

#endif
