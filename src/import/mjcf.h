/* import/mjcf.h -- what the files of the MJCF importer share: settings of the compiler, and attributes with defaults.
 */
#ifndef STI_SCENE_MJCF_H
#define STI_SCENE_MJCF_H

#include "import/robot.h"

/* A site or a geom that others speak of by name: tendons, loops, actuators, pairs. */
typedef struct sti_MjcfPlace {
    const char *name;
    const sti_Element *at; /* <site> or <geom>                                                          */
    int link;
    st_Pose pose;  /* in the link                                                               */
    double radius; /* of a sphere or cylinder that a tendon wraps around                        */
    sti_Contacting contacting;
    struct sti_MjcfPlace *next;
} sti_MjcfPlace;

/* <compiler>: what its angles and files mean. An attached model has its own. */
typedef struct sti_MjcfContext {
    const char *file;
    const struct sti_MjcfContext *same; /* the one of the file that included it; NULL: its own          */
    double angle;                       /* one unit of the file's angles [rad]                                      */
    char eulerseq[4];                   /* axes of euler angles; capitals: fixed ones                               */
    bool autolimits;                    /* a range is a limit unless the file says otherwise                        */
    const char *meshdir;                /* "", or a folder with its slash                                           */
    bool strip;                         /* folders of the files' names do not count: strippath                      */
    struct sti_MjcfContext *next;
} sti_MjcfContext;

/* What an actuator pulls at, for sensors. */
typedef struct sti_MjcfActuator {
    const char *name, *joint, *tendon; /* of the robot; NULL: none, it pushes a body */
    double gear;
    struct sti_MjcfActuator *next;
} sti_MjcfActuator;

typedef struct sti_Mjcf {
    sti_Robot *robot;
    const sti_Element *root;
    sti_MjcfContext *contexts;        /* the first: of the file itself                                  */
    bool from_geoms, not_from_geoms;  /* masses: always, never; else where there is no <inertial>       */
    bool global;                      /* all of the file is in the frame of the world                   */
    double total_mass;                /* that masses are scaled to; 0: as they are                      */
    double least_mass, least_inertia; /* of bodies that move: boundmass, boundinertia                  */
    bool balance;                     /* inertias that no body has become balls: balanceinertia         */
    bool fit_box;                     /* shapes are fitted to the bounding box of a mesh: fitaabb       */
    bool exact_meshes;                /* exactmeshinertia of old files                                  */
    int first_group, last_group;      /* of geoms that have mass: inertiagrouprange                     */
    /* <flag>: what is switched off */
    bool no_contact, no_limits, no_equality, no_friction, no_springs, no_dampers, no_actuation, parents_touch;
    bool controls_unlimited;
    bool only_pairs, no_pairs;    /* <option collision>: predefined, dynamic                       */
    uint32_t actuator_groups_off; /* <option actuatorgroupdisable>                                 */
    sti_MjcfPlace *places;        /* sites and named geoms                                          */
    sti_MjcfActuator *actuators;
    double density, viscosity, wind[3];
} sti_Mjcf;

/* ---- other files: mjcf_expand.c, mjcf.c -------------------------------------------------------------- */

/* <include>, <replicate> and <attach> give way to what they stand for. */
st_Status sti_mjcf_expand(sti_Mjcf *m, sti_Element *root);
/* Of the file that an element is in. */
const sti_MjcfContext *sti_mjcf_context(const sti_Mjcf *m, const sti_Element *element);
st_Status sti_mjcf_add_context(sti_Mjcf *m, const sti_Element *root);
st_Status sti_mjcf_same_context(sti_Mjcf *m, const char *file, const char *as);

/* ---- attributes: mjcf_attributes.c ------------------------------------------------------------------ */

/* The element that says this attribute: itself, or one of its default classes; NULL: none. */
const sti_Element *sti_mjcf_holder(const sti_Mjcf *m, const sti_Element *element, const char *name);
const char *sti_mjcf_text(const sti_Mjcf *m, const sti_Element *element, const char *name);
/* Left as they are where nothing is said. */
st_Status sti_mjcf_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int count, double *out);
st_Status sti_mjcf_number(const sti_Mjcf *m, const sti_Element *element, const char *name, double *out);
/* 1 to `most` numbers. Fewer than an outer class says change the first of them alone: the others stay. *n: the most
 * that one of them says. */
st_Status sti_mjcf_some_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int most, int *n,
                                double *out);
/* The elements of the default classes of an element, of any kind, in the order in which they apply. */
typedef st_Status sti_MjcfVisit(void *ctx, const sti_Element *element);
st_Status sti_mjcf_each_default(const sti_Mjcf *m, const sti_Element *element, sti_MjcfVisit *visit, void *ctx);
/* Does a range limit? As the flag says; left to itself, if its two numbers differ. */
st_Status sti_mjcf_limited(const sti_Mjcf *m, const sti_Element *element, const char *flag, const double range[2],
                           bool *out);
/* "true" and "false", and perhaps "auto", which leaves them as they are. */
st_Status sti_mjcf_flag(const sti_Mjcf *m, const sti_Element *element, const char *name, bool *out);
/* A rotation by three angles of an element. */
st_Quat sti_mjcf_euler(const sti_Mjcf *m, const sti_Element *at, const double angles[3]);
/* The members of a body in the order of the file, those inside <frame>s with them. at NULL: the first; NULL: the end.
 */
const sti_Element *sti_mjcf_member(const sti_Element *body, const sti_Element *at);
/* The frames around an element, up to its body. */
st_Status sti_mjcf_frame(const sti_Mjcf *m, const sti_Element *element, st_Pose *out);
/* Where an element stands, frames included: pos, and one of quat, axisangle, xyaxes, zaxis, euler. */
st_Status sti_mjcf_pose(const sti_Mjcf *m, const sti_Element *element, st_Pose *out);

/* An attribute, or an element, that would change the motion and is not understood: an error, unless the robot's
 * `ignore` has its name. */
st_Status sti_mjcf_unknown(const sti_Mjcf *m, const sti_Element *element, const char *attribute);
/* Every attribute of an element is one that we read, or one that does not matter. Words apart by spaces. */
st_Status sti_mjcf_check(const sti_Mjcf *m, const sti_Element *element, const char *read, const char *passed);
bool sti_mjcf_word(const char *words, const char *word); /* is it one of them? */
/* From three columns, orthogonal but for the last digits. */
st_Quat sti_quat_of_columns(st_Vec3 x, st_Vec3 y, st_Vec3 z);

extern const char sti_mjcf_pose_words[], sti_mjcf_joint_words[], sti_mjcf_joint_passed[], sti_mjcf_geom_words[],
    sti_mjcf_geom_passed[], sti_mjcf_actuator_words[], sti_mjcf_actuator_passed[], sti_mjcf_actuators[];
/* Every class that an element asks for is there. */
st_Status sti_mjcf_check_classes(const sti_Mjcf *m, const sti_Element *element);
/* The elements of <default>s. */
st_Status sti_mjcf_check_defaults(const sti_Mjcf *m, const sti_Element *element);

/* ---- bodies: mjcf_joint.c, mjcf_geom.c -------------------------------------------------------------- */

/* What connects a body to its parent: *n joints one after the other, one where a scene has one that does it. */
#define STI_MJCF_JOINTS 16
st_Status sti_mjcf_joints(sti_Mjcf *m, const sti_Element *body, bool in_world, sti_RobotJoint joints[STI_MJCF_JOINTS],
                          int *n);
/* A number >= 0 of a joint, tendon or actuator; springs and dampers may have two more, of a polynomial, which are 0. */
st_Status sti_mjcf_not_negative(const sti_Mjcf *m, const sti_Element *at, const char *name, double *out);
st_Status sti_mjcf_geom(sti_Mjcf *m, int link, const sti_Element *geom, bool mass_wanted);
/* Sites and geoms by their names, mjcf.c. kind: "site" or "geom". */
st_Status sti_mjcf_place(sti_Mjcf *m, const sti_Element *at, int link, st_Pose pose, double radius);
st_Status sti_mjcf_find_place(const sti_Mjcf *m, const sti_Element *at, const char *attribute, const char *kind,
                              const sti_MjcfPlace **out);

/* ---- inertia: mjcf_inertia.c ------------------------------------------------------------------------ */

/* boundmass, boundinertia, balanceinertia. */
st_Status sti_mjcf_bound_masses(sti_Mjcf *m);
/* springdamper of joints: stiffness and damping for a time constant and a damping ratio. */
st_Status sti_mjcf_springdampers(sti_Mjcf *m);
/* Armature of free joints is mass without weight, of ball joints inertia. */
st_Status sti_mjcf_armatures(sti_Mjcf *m);
/* Diagonal of the mass matrix of the joints as drawn, armature included: of the joint of a link. */
st_Status sti_mjcf_joint_inertia(const sti_Mjcf *m, int link, double *out);
/* What a tendon pulls at, as MuJoCo has it for dampratio: the sum over joints of that, over the square of the tendon's
 * change of length with the joint. Of a path it is that of straight lines between its sites. */
st_Status sti_mjcf_tendon_inertia(const sti_Mjcf *m, const sti_RobotTendon *tendon, double *out);
/* mjcf_actuator.c; a hinge or slide by the name that an attribute has. */
st_Status sti_mjcf_find_joint(const sti_Mjcf *m, const sti_Element *at, const char *attribute, sti_RobotJoint **out);
/* An asset of a kind by its name, or by that of its file without folder and ending; NULL: none. mjcf_geom.c */
const sti_Element *sti_mjcf_asset(const sti_Mjcf *m, const char *kind, const char *name);
/* The name of a file without folder and ending: *file begins there, as long as is returned. mjcf_geom.c */
size_t sti_mjcf_stem(const char **file);
/* The path of the file of an asset, below meshdir. mjcf_geom.c */
st_Status sti_mjcf_asset_path(const sti_Mjcf *m, const sti_Element *at, char *out, size_t size);
/* The shape of a height field, mjcf_hfield.c. */
st_Status sti_mjcf_hfield(const sti_Mjcf *m, const sti_Element *geom, json_t **out);
st_Status sti_mjcf_actuator(sti_Mjcf *m, const sti_Element *at);
st_Status sti_mjcf_tendon(sti_Mjcf *m, const sti_Element *at);
st_Status sti_mjcf_sensor(sti_Mjcf *m, const sti_Element *at);   /* mjcf_sensor.c */
st_Status sti_mjcf_keyframe(sti_Mjcf *m, const sti_Element *at); /* mjcf_keyframe.c */
/* <pair>: two geoms that touch whatever their bits say, mjcf_contact.c. */
st_Status sti_mjcf_pair(sti_Mjcf *m, const sti_Element *at);
/* What a geom is to others, mjcf_contact.c. */
st_Status sti_mjcf_contact(const sti_Mjcf *m, const sti_Element *geom, sti_Contacting *out);

#endif
