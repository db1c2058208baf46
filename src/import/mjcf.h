/* import/mjcf.h -- what the files of the MJCF importer share: settings of the compiler, and attributes with defaults.
 */
#ifndef STI_SCENE_MJCF_H
#define STI_SCENE_MJCF_H

#include "import/robot.h"

typedef struct sti_Mjcf {
    sti_Robot *robot;
    const sti_Element *root;
    double angle;                    /* one unit of the file's angles [rad]                                          */
    char eulerseq[4];                /* axes of euler angles; capitals: fixed ones                                   */
    bool autolimits;                 /* a range is a limit unless the file says otherwise                             */
    bool from_geoms, not_from_geoms; /* masses: always, never; else where there is no <inertial>       */
    const char *meshdir;             /* "", or a folder with its slash                                 */
    bool global;                     /* all of the file is in the frame of the world                   */
    double total_mass;               /* that masses are scaled to; 0: as they are                      */
} sti_Mjcf;

/* ---- attributes: mjcf_attributes.c ------------------------------------------------------------------ */

/* The element that says this attribute: itself, or one of its default classes; NULL: none. */
const sti_Element *sti_mjcf_holder(const sti_Mjcf *m, const sti_Element *element, const char *name);
const char *sti_mjcf_text(const sti_Mjcf *m, const sti_Element *element, const char *name);
/* Left as they are where nothing is said. */
st_Status sti_mjcf_numbers(const sti_Mjcf *m, const sti_Element *element, const char *name, int count, double *out);
st_Status sti_mjcf_number(const sti_Mjcf *m, const sti_Element *element, const char *name, double *out);
/* "true" and "false", and perhaps "auto", which leaves them as they are. */
st_Status sti_mjcf_flag(const sti_Mjcf *m, const sti_Element *element, const char *name, bool *out);
/* Where an element stands: pos, and one of quat, axisangle, xyaxes, zaxis, euler. */
st_Status sti_mjcf_pose(const sti_Mjcf *m, const sti_Element *element, st_Pose *out);

/* An attribute, or an element, that would change the motion and is not understood: an error, unless the robot's
 * `ignore` has its name. */
st_Status sti_mjcf_unknown(const sti_Mjcf *m, const sti_Element *element, const char *attribute);
bool sti_mjcf_ignores(const sti_Mjcf *m, const char *name); /* the robot is said to do without it */
/* Every attribute of an element is one that we read, or one that does not matter. Words apart by spaces. */
st_Status sti_mjcf_check(const sti_Mjcf *m, const sti_Element *element, const char *read, const char *passed);
bool sti_mjcf_word(const char *words, const char *word); /* is it one of them? */

extern const char sti_mjcf_pose_words[], sti_mjcf_joint_words[], sti_mjcf_joint_passed[], sti_mjcf_geom_words[],
    sti_mjcf_geom_passed[], sti_mjcf_actuator_words[], sti_mjcf_actuator_passed[];
/* Every class that an element asks for is there. */
st_Status sti_mjcf_check_classes(const sti_Mjcf *m, const sti_Element *element);
/* The elements of <default>s. */
st_Status sti_mjcf_check_defaults(const sti_Mjcf *m, const sti_Element *element);

/* ---- bodies: mjcf_joint.c, mjcf_geom.c -------------------------------------------------------------- */

/* What connects a body to its parent: *n joints one after the other, one where a scene has one that does it. */
#define STI_MJCF_JOINTS 6
st_Status sti_mjcf_joints(sti_Mjcf *m, const sti_Element *body, bool in_world, sti_RobotJoint joints[STI_MJCF_JOINTS],
                          int *n);
st_Status sti_mjcf_geom(sti_Mjcf *m, sti_RobotLink *link, const sti_Element *geom, bool mass_wanted);
/* mjcf_actuator.c; a hinge or slide by the name that an attribute has. */
st_Status sti_mjcf_find_joint(const sti_Mjcf *m, const sti_Element *at, const char *attribute, sti_RobotJoint **out);
st_Status sti_mjcf_actuator(sti_Mjcf *m, const sti_Element *at);
st_Status sti_mjcf_tendon(sti_Mjcf *m, const sti_Element *at);
/* What a geom is to others, mjcf_contact.c. */
st_Status sti_mjcf_contact(const sti_Mjcf *m, const sti_Element *geom, sti_Contacting *out);

#endif
