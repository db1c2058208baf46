/* import/mjcf_actuator.c -- what pulls at the joints of an MJCF file: actuators, and tendons that only measure.
 *
 * Every actuator that we know is one: with the control u, the length gear x and its speed it gives the joint
 *
 *     gear (gain u + bias0 + bias1 gear x + bias2 gear dx/dt)
 *
 *     motor     gain 1                               velocity   gain kv, bias2 -kv
 *     position  gain kp, bias1 -kp, bias2 -kv        general    as it says
 *
 * With the control 0 of MuJoCo's start that is a position motor where there is a stiffness, -gear^2 bias1, else damping
 * of the joint and a motor of the force gear bias0.
 */
#include "import/mjcf.h"
#include "scene/document.h"

#include <stdlib.h>

st_Status sti_mjcf_find_joint(const sti_Mjcf *m, const sti_Element *at, const char *attribute, sti_RobotJoint **out)
{
    const char *name = sti_attribute(at, attribute);
    if (name == NULL)
        return sti_element_fail(m->robot->err, at, "%s is missing, must be the name of a joint", attribute);
    int k = sti_robot_find_joint(m->robot, name);
    if (k < 0)
        return sti_element_fail(m->robot->err, at, "%s is \"%.60s\", there is no joint of that name", attribute, name);
    *out = &m->robot->links[k].joint;
    if ((*out)->type == ST_JOINT_REVOLUTE || (*out)->type == ST_JOINT_PRISMATIC) return ST_OK;
    return sti_element_fail(m->robot->err, at, "%s is \"%.60s\", must be a hinge or a slide", attribute, name);
}

/* A range of force, the same either way, times the gear. */
static st_Status read_force_range(const sti_Mjcf *m, const sti_Element *at, double gear, double *effort)
{
    double range[2] = {0, 0}, control[2] = {0, 0};
    const sti_Element *holder = sti_mjcf_holder(m, at, "forcerange");
    bool limited = holder != NULL, bounded = sti_mjcf_holder(m, at, "ctrlrange") != NULL;
    STI_TRY(sti_mjcf_numbers(m, at, "forcerange", 2, range));
    STI_TRY(sti_mjcf_numbers(m, at, "ctrlrange", 2, control));
    STI_TRY(sti_mjcf_flag(m, at, "forcelimited", &limited));
    STI_TRY(sti_mjcf_flag(m, at, "ctrllimited", &bounded));
    if (limited && (range[0] != -range[1] || !(range[1] > 0)))
        return sti_mjcf_unknown(m, holder != NULL ? holder : at, "forcerange");
    double most = limited ? range[1] : INFINITY;
    if (sti_element_is(at, "motor") && bounded) most = fmin(most, fmax(fabs(control[0]), fabs(control[1])));
    if (most > 0) *effort = fmin(*effort, fabs(gear) * most);
    return ST_OK;
}

/* One word of what a <general> may be. */
static st_Status need_word(const sti_Mjcf *m, const sti_Element *at, const char *name, const char *words, bool *last)
{
    const char *word = sti_mjcf_text(m, at, name);
    *last = word != NULL && strcmp(word, "affine") == 0;
    if (word == NULL || sti_mjcf_word(words, word)) return ST_OK;
    return sti_element_fail(m->robot->err, sti_mjcf_holder(m, at, name), "%s is \"%.40s\", must be one of: %s", name,
                            word, words);
}

static st_Status read_bias(const sti_Mjcf *m, const sti_Element *at, double bias[3])
{
    bool position = sti_element_is(at, "position"), velocity = sti_element_is(at, "velocity"), affine = false;
    double kp = 1, kv = velocity ? 1 : 0;
    int n = 0;
    STI_TRY(sti_mjcf_number(m, at, "kp", &kp));
    STI_TRY(sti_mjcf_number(m, at, "kv", &kv));
    if (kp < 0 || kv < 0) return sti_element_fail(m->robot->err, at, "kp and kv must be >= 0");
    if (position) bias[1] = -kp;
    if (position || velocity) bias[2] = -kv;
    if (!sti_element_is(at, "general")) return ST_OK;
    STI_TRY(need_word(m, at, "dyntype", "none", &affine));
    STI_TRY(need_word(m, at, "gaintype", "fixed", &affine));
    STI_TRY(need_word(m, at, "biastype", "none affine", &affine));
    const sti_Element *holder = sti_mjcf_holder(m, at, "biasprm");
    double prm[10] = {0};
    if (holder != NULL) STI_TRY(sti_some_numbers(m->robot->err, holder, "biasprm", 1, 10, &n, prm));
    for (int k = 0; k < 3 && affine; k++)
        bias[k] = prm[k];
    if (bias[1] <= 0 && bias[2] <= 0) return ST_OK;
    return sti_element_fail(m->robot->err, holder, "biasprm is %g %g %g, the second and third must be <= 0", bias[0],
                            bias[1], bias[2]);
}

/* What a joint is given by an actuator with this bias. */
static st_Status drive(const sti_Mjcf *m, const sti_Element *at, double gear, const double bias[3],
                       sti_RobotJoint *joint)
{
    const double stiffness = -bias[1] * gear * gear, damping = -bias[2] * gear * gear;
    bool holds = stiffness > 0, damps = !holds && damping > 0;
    if (damps && sti_mjcf_holder(m, at, "forcerange") != NULL) STI_TRY(sti_mjcf_unknown(m, at, "forcerange"));
    if (damps) joint->damping += damping;
    if (!damps && (joint->motor != NULL || (joint->driven && holds && isfinite(joint->effort))))
        return sti_element_fail(m->robot->err, at, "joint \"%.60s\" has an actuator already", joint->name);
    joint->driven = true;
    if (damps && bias[0] == 0) return ST_OK;
    STI_TRY(read_force_range(m, at, gear, &joint->effort));
    if (holds)
        joint->motor = json_pack("{s:s, s:f, s:f, s:f}", "type", "position", "target", gear * bias[0] / stiffness,
                                 "stiffness", stiffness, "damping", damping);
    else if (bias[0] != 0)
        joint->motor = json_pack("{s:s, s:f}", "type", "force", "target", gear * bias[0]);
    else
        return ST_OK; /* a force of 0, for a controller to set */
    return joint->motor != NULL ? ST_OK : sti_robot_memory(m->robot);
}

st_Status sti_mjcf_actuator(sti_Mjcf *m, const sti_Element *at)
{
    static const char *const others[] = {"tendon", "site", "body", "cranksite", "slidersite", "jointinparent"};
    sti_RobotJoint *joint = NULL;
    double gear[6] = {1}, bias[3] = {0};
    int n = 0;
    if (!sti_mjcf_word("motor position velocity general", at->name)) return sti_mjcf_unknown(m, at, NULL);
    for (int k = 0; k < 6; k++) /* what it pulls at in place of a joint */
        if (sti_attribute(at, others[k]) != NULL) return sti_mjcf_unknown(m, at, others[k]);
    STI_TRY(sti_mjcf_check(m, at, sti_mjcf_actuator_words, sti_mjcf_actuator_passed));
    STI_TRY(sti_mjcf_find_joint(m, at, "joint", &joint));
    const sti_Element *holder = sti_mjcf_holder(m, at, "gear");
    if (holder != NULL) STI_TRY(sti_some_numbers(m->robot->err, holder, "gear", 1, 6, &n, gear));
    if (gear[0] == 0) return sti_element_fail(m->robot->err, at, "gear must not be 0");
    STI_TRY(read_bias(m, at, bias));
    return drive(m, at, gear[0], bias, joint);
}

/* A tendon that nothing pulls at and that does not pull itself only measures. */
st_Status sti_mjcf_tendon(sti_Mjcf *m, const sti_Element *at)
{
    static const char *const pulls[] = {"stiffness", "damping", "frictionloss", "armature"};
    bool limited = m->autolimits && sti_mjcf_holder(m, at, "range") != NULL;
    for (int k = 0; k < 4; k++) {
        const sti_Element *holder = sti_mjcf_holder(m, at, pulls[k]);
        double value = 0;
        if (holder != NULL) STI_TRY(sti_numbers(m->robot->err, holder, pulls[k], 1, true, &value));
        if (value != 0) return sti_mjcf_unknown(m, at, NULL);
    }
    STI_TRY(sti_mjcf_flag(m, at, "limited", &limited));
    if (limited) return sti_mjcf_unknown(m, at, NULL);
    sti_skip(m->robot, "<tendon> that pulls at nothing");
    return ST_OK;
}
