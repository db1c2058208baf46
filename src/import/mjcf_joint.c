/* import/mjcf_joint.c -- the joints of an MJCF body.
 *
 * A body may have several joints in a chain. A scene has one joint between two bodies. These combinations become one
 * joint:
 *
 *     hinge                     revolute            hinge, hinge at right angles      universal
 *     slide                     prismatic           hinge and slide, the same axis    cylindrical
 *     ball, free                ball, none          slide, slide, hinge across both   planar
 *
 * if only the first has springs, dampers and the like, and no element refers to the others by name. All others
 * become a chain of links with one joint each, all in the frame of the body; assemble.c gives the links between the
 * joints a small share of the body's mass. */
#include "import/mjcf.h"
#include "math/quat.h"

#include <stdlib.h>

st_Status sti_mjcf_not_negative(const sti_Mjcf *m, const sti_Element *at, const char *name, double *out)
{
    const sti_Element *holder = sti_mjcf_holder(m, at, name);
    const bool curved = strcmp(name, "stiffness") == 0 || strcmp(name, "damping") == 0;
    double c[3] = {*out, 0, 0};
    int n = 0;
    if (holder == NULL) return ST_OK;
    STI_TRY(sti_some_numbers(m->robot->err, holder, name, 1, curved ? 3 : 1, &n, c));
    if (c[1] != 0 || c[2] != 0) return sti_mjcf_unknown(m, holder, name); /* a polynomial */
    *out = c[0];
    if (*out >= 0) return ST_OK;
    return sti_element_fail(m->robot->err, holder, "%s is %g, must be >= 0", name, *out);
}

static st_Status read_joint(const sti_Mjcf *m, const sti_Element *at, sti_RobotJoint *joint)
{
    const char *type = sti_mjcf_text(m, at, "type");
    double point[3] = {0}, axis[3] = {0, 0, 1}, zero = 0, rest = 0;
    if (type == NULL) type = "hinge";
    if (sti_element_is(at, "freejoint")) type = "free";
    if (!sti_mjcf_word("hinge slide ball free", type))
        return sti_element_fail(m->robot->err, at, "type is \"%.40s\", must be hinge, slide, ball or free", type);
    bool hinge = type[0] == 'h', slide = type[0] == 's';
    double unit = hinge ? sti_mjcf_context(m, at)->angle : 1;
    joint->at = at;
    joint->name = sti_attribute(at, "name");
    joint->type = hinge ? ST_JOINT_REVOLUTE : slide ? ST_JOINT_PRISMATIC : ST_JOINT_BALL;
    joint->floating = type[0] == 'f';
    if (joint->floating) {
        /* For a free joint only damping and armature matter: dampers become a bushing to the ground, armature
         * becomes mass without weight. MuJoCo also ignores its pos, axis and limits. */
        double friction = 0;
        STI_TRY(sti_mjcf_check(m, at,
                               "name class type pos axis limited stiffness damping frictionloss armature "
                               "actuatorfrclimited actuatorfrcrange",
                               "group align user margin range ref springref solreflimit solimplimit solreffriction "
                               "solimpfriction actuatorgravcomp"));
        if (sti_element_is(at, "freejoint")) return ST_OK; /* a freejoint has no defaults */
        STI_TRY(sti_mjcf_not_negative(m, at, "stiffness", &joint->stiffness));
        STI_TRY(sti_mjcf_not_negative(m, at, "damping", &joint->damping));
        STI_TRY(sti_mjcf_not_negative(m, at, "frictionloss", &friction));
        STI_TRY(sti_mjcf_not_negative(m, at, "armature", &joint->armature));
        if (m->no_springs) joint->stiffness = 0;
        if (m->no_dampers) joint->damping = 0;
        if (sti_robot_ignores(m->robot, "armature")) joint->armature = 0;
        if (friction != 0) sti_skip(m->robot, "frictionloss of free joints");
        return ST_OK;
    }
    STI_TRY(sti_mjcf_check(m, at, sti_mjcf_joint_words, sti_mjcf_joint_passed));
    STI_TRY(sti_mjcf_numbers(m, at, "pos", 3, point));
    STI_TRY(sti_mjcf_numbers(m, at, "axis", 3, axis));
    st_Pose frame;
    STI_TRY(sti_mjcf_frame(m, at, &frame));
    joint->point = pose_point(frame, vec3_load(point));
    joint->axis = rotate(frame.q, vec3_load(axis));
    if (!(norm(joint->axis) > 0)) return sti_element_fail(m->robot->err, at, "axis is 0 0 0, must have a direction");
    /* The range of a hinge or slide, if it is a limit. */
    {
        double range[2] = {0, 0};
        bool limited;
        STI_TRY(sti_mjcf_numbers(m, at, "range", 2, range));
        STI_TRY(sti_mjcf_limited(m, at, "limited", range, &limited));
        if (limited && !m->no_limits) {
            if (!(range[0] < range[1]))
                return sti_element_fail(m->robot->err, at, "range is %g %g, the first must be below the second",
                                        range[0], range[1]);
            joint->lower = unit * range[0];
            joint->upper = unit * range[1];
        }
    }

    double range[2] = {0, 0};
    bool limited;
    STI_TRY(sti_mjcf_numbers(m, at, "actuatorfrcrange", 2, range));
    STI_TRY(sti_mjcf_limited(m, at, "actuatorfrclimited", range, &limited));
    if (limited) {
        if (!(range[0] < range[1]))
            return sti_element_fail(m->robot->err, at, "actuatorfrcrange is %g %g, the first must be below the second",
                                    range[0], range[1]);
        joint->effort = (range[1] - range[0]) / 2;
        joint->effort_mid = (range[0] + range[1]) / 2;
    }
    STI_TRY(sti_mjcf_not_negative(m, at, "stiffness", &joint->stiffness));
    STI_TRY(sti_mjcf_not_negative(m, at, "damping", &joint->damping));
    STI_TRY(sti_mjcf_not_negative(m, at, "frictionloss", &joint->friction));
    STI_TRY(sti_mjcf_not_negative(m, at, "armature", &joint->armature));
    if (m->no_springs) joint->stiffness = 0;
    if (m->no_dampers) joint->damping = 0;
    if (m->no_friction) joint->friction = 0;
    double springdamper[2] = {0, 0};
    STI_TRY(sti_mjcf_numbers(m, at, "springdamper", 2, springdamper));
    if (springdamper[0] > 0 && springdamper[1] > 0)
        joint->time_constant = springdamper[0], joint->damping_ratio = springdamper[1];
    STI_TRY(sti_mjcf_number(m, at, "ref", &zero));
    STI_TRY(sti_mjcf_number(m, at, "springref", &rest));
    joint->zero = unit * zero;
    joint->rest = unit * rest;
    bool ball = joint->type == ST_JOINT_BALL;
    if (ball && isfinite(joint->upper)) {
        const double angle = sti_mjcf_context(m, at)->angle * joint->upper;
        if (joint->lower != 0) return sti_element_fail(m->robot->err, at, "range of a ball joint must begin with 0");
        joint->lower = -INFINITY;
        joint->upper = INFINITY;
        if (angle < STI_PI) {
            joint->upper = joint->other_upper = angle;
            joint->other_lower = -angle;
            joint->axis = vec3(0, 0, 1);
            STI_TRY(sti_remark(m->robot, "range of ball joints limits the swing of the body's z axis and the twist "
                                         "about it separately, not the total angle"));
        }
    }
    if (ball && joint->friction != 0) sti_skip(m->robot, "frictionloss of ball joints");
    if (sti_robot_ignores(m->robot, "armature")) joint->armature = 0;
    if (ball && joint->armature != 0)
        STI_TRY(sti_remark(m->robot, "armature of ball joints turns with the body, not relative to its parent"));
    if (ball && joint->damping != 0 && joint->stiffness != 0)
        STI_TRY(sti_remark(m->robot, "damping of ball joints with springs acts on the rate of the rotation vector, as "
                                     "in bushings, not on the angular velocity; both are equal for small angles"));
    if (ball) joint->friction = 0;
    return ST_OK;
}

/* ---- several joints as one ----------------------------------------------------------------------- */

static bool across(st_Vec3 a, st_Vec3 b)
{
    return fabs(dot(a, b)) <= 1e-9 * norm(a) * norm(b);
}

static bool only_limits(const sti_RobotJoint *j)
{
    return j->stiffness == 0 && j->damping == 0 && j->friction == 0 && j->armature == 0 && isinf(j->effort) &&
           j->time_constant == 0;
}

/* The limits of the second joint become those of the other coordinate of the first. */
static void add_other(sti_RobotJoint *into, const sti_RobotJoint *other)
{
    into->other_lower = other->lower - other->zero;
    into->other_upper = other->upper - other->zero;
}

static bool combine(sti_RobotJoint *j, int n, sti_RobotJoint *out)
{
    bool hinge0 = j[0].type == ST_JOINT_REVOLUTE, hinge1 = j[1].type == ST_JOINT_REVOLUTE;
    for (int k = 0; k < n; k++)
        if (j[k].floating || j[k].type == ST_JOINT_BALL) return false;
    *out = j[0];
    if (n == 2 && hinge0 && hinge1 && across(j[0].axis, j[1].axis) && norm(sub(j[0].point, j[1].point)) < 1e-12 &&
        only_limits(&j[1])) {
        out->type = ST_JOINT_UNIVERSAL;
        out->axis_b = j[1].axis;
        add_other(out, &j[1]);
        return true;
    }
    if (n == 2 && hinge0 != hinge1 && (norm(cross(j[0].axis, j[1].axis)) <= 1e-9 * norm(j[0].axis) * norm(j[1].axis)) &&
        dot(j[0].axis, j[1].axis) > 0 && only_limits(&j[1])) {
        out->type = ST_JOINT_CYLINDRICAL;
        out->point = hinge0 ? j[0].point : j[1].point;
        out->coordinate = hinge0 ? ST_COORDINATE_ANGLE : ST_COORDINATE_DISPLACEMENT;
        add_other(out, &j[1]);
        return true;
    }
    if (n == 3 && !hinge0 && !hinge1 && j[2].type == ST_JOINT_REVOLUTE && across(j[0].axis, j[1].axis) &&
        across(j[0].axis, j[2].axis) && across(j[1].axis, j[2].axis)) {
        for (int k = 0; k < 2; k++)
            if (!only_limits(&j[k]) || isfinite(j[k].lower)) return false;
        *out = j[2];
        out->type = ST_JOINT_PLANAR;
        return true;
    }
    return false;
}

static bool names_joint(const sti_Element *at, const char *name)
{
    for (int k = 0; k < at->n_attributes; k++)
        if (sti_mjcf_word("joint joint1 joint2 jointinparent", at->attributes[2 * k]) &&
            strcmp(at->attributes[2 * k + 1], name) == 0)
            return true;
    for (const sti_Element *child = at->first; child != NULL; child = child->next)
        if (names_joint(child, name)) return true;
    return false;
}

/* Does something in the file or the scene refer to a joint by its name? */
static bool is_referred_to(const sti_Mjcf *m, const char *name)
{
    if (name == NULL) return false;
    if (json_object_get(json_object_get(m->robot->entry, "positions"), name) != NULL) return true;
    for (const sti_Element *section = m->root->first; section != NULL; section = section->next) {
        if (!sti_mjcf_word("actuator equality tendon sensor", section->name)) continue;
        for (const sti_Element *at = section->first; at != NULL; at = at->next)
            if (names_joint(at, name)) return true;
    }
    return false;
}

/* Are all joints that something refers to still there after they are combined? */
static bool keeps_names(const sti_Mjcf *m, const sti_RobotJoint *joints, int n, const sti_RobotJoint *one)
{
    for (int k = 0; k < n; k++)
        if (joints[k].at != one->at && is_referred_to(m, joints[k].name)) return false;
    return one->type == ST_JOINT_REVOLUTE || one->type == ST_JOINT_PRISMATIC || !is_referred_to(m, one->name);
}

st_Status sti_mjcf_joints(sti_Mjcf *m, const sti_Element *body, bool in_world, sti_RobotJoint joints[STI_MJCF_JOINTS],
                          int *n)
{
    sti_RobotJoint one;
    *n = 0;
    for (const sti_Element *at = sti_mjcf_member(body, NULL); at != NULL; at = sti_mjcf_member(body, at)) {
        if (!sti_element_is(at, "joint") && !sti_element_is(at, "freejoint")) continue;
        if (*n == STI_MJCF_JOINTS)
            return sti_element_fail(m->robot->err, at, "is one too many, must be at most %d of a body",
                                    STI_MJCF_JOINTS);
        joints[*n] = sti_robot_joint(at);
        STI_TRY(read_joint(m, at, &joints[(*n)++]));
    }
    for (int k = 0; k < *n; k++) {
        if (joints[k].floating && *n > 1)
            return sti_element_fail(m->robot->err, joints[k].at, "is free, must be the only joint of its body");
        if (joints[k].floating && !in_world)
            return sti_element_fail(m->robot->err, joints[k].at, "is free, its body must be one of the worldbody");
    }
    const bool counted = sti_child(m->root, "keyframe") != NULL; /* a keyframe has numbers for each joint */
    if (*n > 1 && !counted && combine(joints, *n, &one) && keeps_names(m, joints, *n, &one)) {
        joints[0] = one;
        *n = 1;
    }
    return ST_OK;
}
