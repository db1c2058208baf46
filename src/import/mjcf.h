/* import/mjcf.h -- shared by the files of the MJCF importer: compiler settings, and attributes with defaults. */
#ifndef STI_SCENE_MJCF_H
#define STI_SCENE_MJCF_H

#include "import/robot.h"

/* A site, geom or camera to which tendons, loops, actuators, pairs or sensors refer by name. */
typedef struct sti_MjcfPlace {
    const char *name;
    const sti_Element *at; /* <site>, <geom> or <camera>                                                       */
    int link;
    st_Pose pose;  /* in the frame of the link */
    double radius; /* radius of a sphere or cylinder that a tendon wraps around */
    sti_Contacting contacting;
    struct sti_MjcfPlace *next;
} sti_MjcfPlace;

/* Settings of <compiler>, for angles and files. An attached model has its own. */
typedef struct sti_MjcfContext {
    const char *file;
    const struct sti_MjcfContext *same; /* context of the file that included this one; NULL: this one is used itself */
    double angle;                       /* one unit of the file's angles [rad]                                      */
    char eulerseq[4];                   /* axes of euler angles; capital letters: fixed axes */
    bool autolimits;                    /* a given range is a limit unless the file's flag differs */
    const char *meshdir;                /* "", or a folder with its slash                                           */
    bool strip;                         /* strippath: folders in file names are ignored */
    struct sti_MjcfContext *next;
} sti_MjcfContext;

/* The joint or tendon that an actuator drives, for sensors. */
typedef struct sti_MjcfActuator {
    const char *name, *joint, *tendon; /* names in the robot; NULL: none, it pushes a body */
    double gear;
    struct sti_MjcfActuator *next;
} sti_MjcfActuator;

typedef struct sti_Mjcf {
    sti_Robot *robot;
    const sti_Element *root;
    sti_MjcfContext *contexts; /* the first is that of the file itself */
    /* masses always come from geoms, or never; else from geoms if there is no <inertial> */
    bool from_geoms, not_from_geoms;
    bool global;                      /* all poses of the file are in the frame of the world */
    double total_mass;                /* masses are scaled to this sum; 0: not scaled */
    double least_mass, least_inertia; /* boundmass, boundinertia: lower bounds for bodies that move */
    bool balance;                     /* balanceinertia: an impossible inertia becomes that of a ball */
    bool fit_box;                     /* fitaabb: shapes are fitted to the bounding box of a mesh */
    bool exact_meshes;                /* exactmeshinertia, of old files */
    int first_group, last_group;      /* inertiagrouprange: groups of geoms that have mass */
    /* <flag>: parts that are switched off */
    bool no_contact, no_limits, no_equality, no_friction, no_springs, no_dampers, no_actuation, parents_touch;
    bool controls_unlimited;
    bool only_pairs, no_pairs;    /* <option collision>: predefined, dynamic                       */
    uint32_t actuator_groups_off; /* <option actuatorgroupdisable>                                 */
    sti_MjcfPlace *places;        /* sites and named geoms                                          */
    sti_MjcfActuator *actuators;
    double density, viscosity, wind[3];
} sti_Mjcf;

/* ---- other files: mjcf_expand.c, mjcf.c -------------------------------------------------------------- */

/* Replaces <include>, <replicate> and <attach> by the elements that they produce. */
st_Status sti_mjcf_expand(sti_Mjcf *m, sti_Element *root);
/* The context of the file that contains an element. */
const sti_MjcfContext *sti_mjcf_context(const sti_Mjcf *m, const sti_Element *element);
st_Status sti_mjcf_add_context(sti_Mjcf *m, const sti_Element *root);
st_Status sti_mjcf_same_context(sti_Mjcf *m, const char *file, const char *as);

/* ---- attributes: mjcf_attributes.c ------------------------------------------------------------------ */

/* The element that has this attribute: the element itself or one of its default classes; NULL: none. */
const sti_Element *sti_mjcf_holder(const sti_Mjcf *m, const sti_Element *element, const char *name);
const char *sti_mjcf_text(const sti_Mjcf *m, const sti_Element *element, const char *name);
/* These leave *out as it is if the attribute is missing. */
st_Status sti_mjcf_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int count, double *out);
st_Status sti_mjcf_number(const sti_Mjcf *m, const sti_Element *element, const char *name, double *out);
/* Reads 1 to `most` numbers. If a class gives fewer numbers than an outer class, it replaces only the first ones. *n
 * is the largest count given. */
st_Status sti_mjcf_some_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int most, int *n,
                                double *out);
/* Visits the default elements that apply to an element, in the order in which they apply. */
typedef st_Status sti_MjcfVisit(void *ctx, const sti_Element *element);
st_Status sti_mjcf_each_default(const sti_Mjcf *m, const sti_Element *element, sti_MjcfVisit *visit, void *ctx);
/* Is a range a limit? The flag decides; without a flag it is one if its two numbers differ. */
st_Status sti_mjcf_limited(const sti_Mjcf *m, const sti_Element *element, const char *flag, const double range[2],
                           bool *out);
/* Reads "true" or "false"; "auto" leaves *out as it is. */
st_Status sti_mjcf_flag(const sti_Mjcf *m, const sti_Element *element, const char *name, bool *out);
/* The rotation of three angles, by the context of the element. */
st_Quat sti_mjcf_euler(const sti_Mjcf *m, const sti_Element *at, const double angles[3]);
/* The next member of a body in file order, including those inside <frame>s. at = NULL gives the first; NULL is
 * returned at the end. */
const sti_Element *sti_mjcf_member(const sti_Element *body, const sti_Element *at);
/* The pose of an element's <frame>s, up to its body. */
st_Status sti_mjcf_frame(const sti_Mjcf *m, const sti_Element *element, st_Pose *out);
/* The pose of an element, frames included, from pos and one of quat, axisangle, xyaxes, zaxis, euler. */
st_Status sti_mjcf_pose(const sti_Mjcf *m, const sti_Element *element, st_Pose *out);

/* Fails because an attribute or element would change the motion and is not supported, unless the robot's `ignore`
 * lists it. */
st_Status sti_mjcf_unknown(const sti_Mjcf *m, const sti_Element *element, const char *attribute);
/* Checks that every attribute of an element is in `read`, or in `passed`, those without effect. Names are separated
 * by spaces. */
st_Status sti_mjcf_check(const sti_Mjcf *m, const sti_Element *element, const char *read, const char *passed);
bool sti_mjcf_word(const char *words, const char *word); /* is `word` one of `words`? */
/* The rotation with these three columns, which are orthogonal up to rounding. */
st_Quat sti_quat_of_columns(st_Vec3 x, st_Vec3 y, st_Vec3 z);

extern const char sti_mjcf_pose_words[], sti_mjcf_joint_words[], sti_mjcf_joint_passed[], sti_mjcf_geom_words[],
    sti_mjcf_geom_passed[], sti_mjcf_actuator_words[], sti_mjcf_actuator_passed[], sti_mjcf_actuators[];
/* Checks that every class that an element refers to exists, and the attributes of elements that are not read. */
st_Status sti_mjcf_check_classes(const sti_Mjcf *m, const sti_Element *element);
/* Checks the elements of <default>s. */
st_Status sti_mjcf_check_defaults(const sti_Mjcf *m, const sti_Element *element);

/* ---- bodies: mjcf_joint.c, mjcf_geom.c -------------------------------------------------------------- */

/* The joints that connect a body to its parent: *n of them in a chain, or one if a single joint of a scene has the
 * same motion. */
#define STI_MJCF_JOINTS 16
st_Status sti_mjcf_joints(sti_Mjcf *m, const sti_Element *body, bool in_world, sti_RobotJoint joints[STI_MJCF_JOINTS],
                          int *n);
/* Reads a number >= 0 of a joint, tendon or actuator. Springs and dampers may have two more coefficients, of a
 * polynomial; these must be 0. */
st_Status sti_mjcf_not_negative(const sti_Mjcf *m, const sti_Element *at, const char *name, double *out);
st_Status sti_mjcf_geom(sti_Mjcf *m, int link, const sti_Element *geom, bool mass_wanted);
/* The colour of a geom as in st_ShapeDef, 0: none. color.c */
uint32_t sti_mjcf_color(const sti_Mjcf *m, const sti_Element *geom);
/* Stores and finds sites, geoms and cameras by name, mjcf.c. kind: "site", "geom" or "camera". */
st_Status sti_mjcf_place(sti_Mjcf *m, const sti_Element *at, int link, st_Pose pose, double radius);
st_Status sti_mjcf_find_place(const sti_Mjcf *m, const sti_Element *at, const char *attribute, const char *kind,
                              const sti_MjcfPlace **out);

/* ---- inertia: mjcf_inertia.c ------------------------------------------------------------------------ */

/* Applies boundmass, boundinertia and balanceinertia. */
st_Status sti_mjcf_bound_masses(sti_Mjcf *m);
/* Applies springdamper of joints: stiffness and damping for a time constant and a damping ratio. */
st_Status sti_mjcf_springdampers(sti_Mjcf *m);
/* Applies armature: of free joints as mass without weight, of ball joints as inertia. */
st_Status sti_mjcf_armatures(sti_Mjcf *m);
/* The entry of the joint of a link on the diagonal of the mass matrix, as drawn, armature included. */
st_Status sti_mjcf_joint_inertia(const sti_Mjcf *m, int link, double *out);
/* The effective inertia of a tendon, which MuJoCo uses for dampratio: the sum over joints of their inertia divided
 * by the square of the tendon's change of length per joint coordinate. A path is taken as straight lines between its
 * sites. */
st_Status sti_mjcf_tendon_inertia(const sti_Mjcf *m, const sti_RobotTendon *tendon, double *out);
/* Finds a hinge or slide by the name in an attribute, mjcf_actuator.c. */
st_Status sti_mjcf_find_joint(const sti_Mjcf *m, const sti_Element *at, const char *attribute, sti_RobotJoint **out);
/* Finds an asset of a kind by its name, or by that of its file without folder and ending; NULL: none. mjcf_geom.c */
const sti_Element *sti_mjcf_asset(const sti_Mjcf *m, const char *kind, const char *name);
/* The name of a file without folder and ending: *file is moved to its start, its length is returned. mjcf_geom.c */
size_t sti_mjcf_stem(const char **file);
/* The path of the file of an asset, below meshdir. mjcf_geom.c */
st_Status sti_mjcf_asset_path(const sti_Mjcf *m, const sti_Element *at, char *out, size_t size);
/* Points of a mesh with `builtin`, and its triangles if it is not convex (else none). The caller owns both.
 * mjcf_builtin.c */
st_Status sti_mjcf_builtin(const sti_Mjcf *m, const sti_Element *at, json_t **points, json_t **triangles);
/* The shape of a height field, mjcf_hfield.c. */
st_Status sti_mjcf_hfield(const sti_Mjcf *m, const sti_Element *geom, json_t **out);
st_Status sti_mjcf_actuator(sti_Mjcf *m, const sti_Element *at);
st_Status sti_mjcf_tendon(sti_Mjcf *m, const sti_Element *at);
st_Status sti_mjcf_sensor(sti_Mjcf *m, const sti_Element *at);   /* mjcf_sensor.c */
st_Status sti_mjcf_keyframe(sti_Mjcf *m, const sti_Element *at); /* mjcf_keyframe.c */
/* <pair>: two geoms that touch regardless of their bits, mjcf_contact.c. */
st_Status sti_mjcf_pair(sti_Mjcf *m, const sti_Element *at);
/* The kinds of a geom for contacts, mjcf_contact.c. */
st_Status sti_mjcf_contact(const sti_Mjcf *m, const sti_Element *geom, sti_Contacting *out);

#endif
