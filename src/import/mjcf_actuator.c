/* import/mjcf_actuator.c -- the actuators of an MJCF file.
 *
 * With the control u, and the length l = gear x of its joint or tendon, an actuator applies to the coordinate x the
 * force
 *
 *     gear ((g0 + g1 l + g2 dl/dt) u + b0 + b1 l + b2 dl/dt)
 *
 *     motor     g0 = 1                         velocity   g0 = kv, b2 = -kv
 *     position  g0 = kp, b1 = -kp, b2 = -kv    damper     g2 = -kv
 *     cylinder  g0 = area, b as given        general    as given; intvelocity: position of the integral of u
 *     pid       position, without ki         dcmotor    g0 = K/R, b2 = -K^2/R, for the voltage u; or as pid
 *
 * The initial control is MuJoCo's: 0, moved inside ctrlrange. For a constant u the force is that of a spring, a damper
 * and a constant. With stiffness it becomes a position motor. Without, it becomes a motor of constant force, and its
 * damping becomes a speed motor, or joint damping if the force is not limited. A joint has one motor; each further
 * actuator gets a tendon of its own. An actuator at a site is an applied force in the axes of its body. Adhesion pulls
 * its body towards everything that the body touches.
 *
 * dyntype: an activation that follows the control with a time constant, or integrates it, becomes the `lag` or
 * `integrate` of a motor. It starts at its steady value for the initial control. */
#include "import/mjcf.h"
#include "math/quat.h"
#include "scene/document.h"

#include <stdio.h>
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

/* ---- reading ------------------------------------------------------------------------------------------ */

typedef struct Actuator {
    const sti_Element *at;
    const char *name;
    double gear[6];
    double gain[3], bias[3];
    double control; /* at the start                                                        */
    double control_low, control_high;
    double low, high;     /* bounds of the force, before the gear; infinite: none */
    double time_constant; /* time constant of the activation; 0: none */
    bool integrates;      /* the activation is the integral of the control                       */
    double damping_ratio; /* dampratio of position servos; 0: none */
} Actuator;

/* Reads a range, which is a limit if it is given, unless its flag differs. Without a limit *low and *high stay as
 * they are. */
static st_Status read_limits(const sti_Mjcf *m, const sti_Element *at, const char *name, const char *flag, double *low,
                             double *high)
{
    double range[2] = {0, 0};
    const sti_Element *holder = sti_mjcf_holder(m, at, name);
    bool limited;
    STI_TRY(sti_mjcf_numbers(m, at, name, 2, range));
    STI_TRY(sti_mjcf_limited(m, at, flag, range, &limited));
    if (!limited) return ST_OK;
    if (!(range[0] <= range[1]))
        return sti_element_fail(m->robot->err, holder != NULL ? holder : at,
                                "%s is %g %g, the first must be at most the second", name, range[0], range[1]);
    *low = fmax(*low, range[0]);
    *high = fmin(*high, range[1]);
    return ST_OK;
}

/* The gains of an actuator. Its classes and then the actuator itself are applied in order. Each changes only the
 * gains that it gives; a shortcut changes several at once. */
typedef struct Gains {
    const sti_Mjcf *m;
    const char *dynamics, *gain_type, *bias_type;
    double dyn[10], gain[10], bias[10];
    double damping_ratio;
    /* dcmotor: resistance, motorconst, nominal, saturation, controller */
    double resistance, constant[2], nominal[3], limit[3], pid[6];
    double torque; /* largest force of a dcmotor; 0: not limited */
} Gains;

static st_Status read_word(const sti_Mjcf *m, const sti_Element *at, const char *name, const char *words,
                           const char **out)
{
    const char *word = sti_attribute(at, name);
    if (word == NULL) return ST_OK;
    *out = word;
    if (sti_mjcf_word(words, word)) return ST_OK;
    if (sti_mjcf_word("muscle user dcmotor pid so3", word)) return sti_mjcf_unknown(m, at, word);
    return sti_element_fail(m->robot->err, at, "%s is \"%.40s\", must be one of: %s", name, word, words);
}

static st_Status read_parameters(const sti_Mjcf *m, const sti_Element *at, const char *name, int most, double *out)
{
    int n = 0;
    return sti_attribute(at, name) != NULL ? sti_some_numbers(m->robot->err, at, name, 1, most, &n, out) : ST_OK;
}

static st_Status read_gain(const sti_Mjcf *m, const sti_Element *at, const char *name, double *out)
{
    STI_TRY(sti_numbers(m->robot->err, at, name, 1, false, out));
    if (*out >= 0) return ST_OK;
    return sti_element_fail(m->robot->err, at, "%s is %g, must be >= 0", name, *out);
}

/* A motor with the torque constant K and the resistance R, driven by a voltage: K (u - K w)/R. With a controller and
 * position or velocity inputs it is a pid, because the driver compensates the voltage K w. */
static st_Status apply_dcmotor(Gains *g, const sti_Element *at)
{
    static const char *const left[] = {"cogging", "thermal", "lugre"};
    const sti_Mjcf *m = g->m;
    const char *input = sti_mjcf_text(m, at, "input");
    double part[6];
    int n = 0;
    for (int k = 0; k < 3; k++) {
        memset(part, 0, sizeof part);
        STI_TRY(read_parameters(m, at, left[k], 6, part));
        if (part[0] != 0 || (k == 1 && (part[1] != 0 || part[2] != 0))) return sti_mjcf_unknown(m, at, left[k]);
    }
    STI_TRY(sti_numbers(m->robot->err, at, "resistance", 1, false, &g->resistance));
    STI_TRY(read_parameters(m, at, "motorconst", 2, g->constant));
    STI_TRY(read_parameters(m, at, "nominal", 3, g->nominal));
    STI_TRY(read_parameters(m, at, "saturation", 3, g->limit));
    STI_TRY(read_parameters(m, at, "controller", 6, g->pid));
    if (sti_element_is(at->up, "default")) return ST_OK; /* the element itself may give the rest */
    const double *c = g->constant, *nominal = g->nominal, *limit = g->limit, *pid = g->pid;
    double K = c[0] > 0 && c[1] > 0 ? sqrt(c[0] * c[1]) : fmax(c[0], c[1]), R = g->resistance;
    if (K == 0 && nominal[2] > 0) K = nominal[0] / nominal[2];
    if (R == 0 && nominal[1] > 0) R = K * nominal[0] / nominal[1];
    if (!(K >= 0) || !(R > 0) || nominal[0] < 0)
        return sti_element_fail(m->robot->err, at,
                                "needs a resistance > 0 and a motorconst, or three nominal numbers > 0");
    if (sti_mjcf_holder(m, at, "inductance") != NULL)
        STI_TRY(sti_remark(m->robot, "inductance of <dcmotor> is left out: its current follows the voltage at once"));
    g->dynamics = "none";
    g->gain_type = "fixed";
    g->bias_type = "affine";
    g->damping_ratio = 0;
    g->torque = limit[0] > 0 ? limit[0] : K * limit[1];
    memset(g->bias, 0, sizeof g->bias);
    if (input == NULL || sti_mjcf_word("voltage none", input)) {
        g->gain[0] = input != NULL && input[0] == 'n' ? 0 : K / R;
        g->bias[2] = -K * K / R;
        return ST_OK;
    }
    for (int k = 0; k < 6; k++) /* ki, slewmax, Imax, Vmax */
        n += k != 0 && k != 2 && pid[k] != 0;
    if (n > 0) return sti_mjcf_unknown(m, at, "controller");
    g->gain[0] = sti_mjcf_word(input, "pos") ? pid[0] : pid[2];
    g->bias[1] = -pid[0];
    g->bias[2] = -pid[2];
    return ST_OK;
}

static st_Status apply_gains(void *ctx, const sti_Element *at)
{
    Gains *g = ctx;
    const sti_Mjcf *m = g->m;
    const bool integral = sti_element_is(at, "intvelocity");
    double kv = NAN;
    if (sti_element_is(at, "general")) {
        STI_TRY(read_word(m, at, "dyntype", "none integrator filter filterexact", &g->dynamics));
        STI_TRY(read_word(m, at, "gaintype", "fixed affine", &g->gain_type));
        STI_TRY(read_word(m, at, "biastype", "none affine", &g->bias_type));
        STI_TRY(read_parameters(m, at, "dynprm", 10, g->dyn));
        STI_TRY(read_parameters(m, at, "gainprm", 10, g->gain));
        return read_parameters(m, at, "biasprm", 10, g->bias);
    }
    if (!sti_mjcf_word(sti_mjcf_actuators, at->name)) return ST_OK;
    if (sti_element_is(at, "adhesion")) return read_gain(m, at, "gain", &g->gain[0]);
    g->gain_type = "fixed";
    g->bias_type = "affine";
    if (sti_element_is(at, "dcmotor")) return apply_dcmotor(g, at);
    if (sti_element_is(at, "orientation")) {
        g->bias_type = "none";
        STI_TRY(read_gain(m, at, "kp", &g->gain[0]));
        return read_gain(m, at, "kv", &g->gain[1]);
    }
    if (sti_element_is(at, "pid")) {
        double ki = 0, slew = 0;
        STI_TRY(sti_numbers(m->robot->err, at, "ki", 1, false, &ki));
        STI_TRY(sti_numbers(m->robot->err, at, "slewmax", 1, false, &slew));
        if (ki != 0 || slew > 0) return sti_mjcf_unknown(m, at, ki != 0 ? "ki" : "slewmax");
    }
    if (sti_mjcf_word("position pid", at->name) || integral) {
        double ratio = 0, timeconst = NAN;
        if (integral) g->dynamics = "integrator";
        STI_TRY(read_gain(m, at, "kp", &g->gain[0]));
        g->bias[1] = -g->gain[0];
        STI_TRY(sti_numbers(m->robot->err, at, "kv", 1, false, &kv));
        STI_TRY(read_gain(m, at, "dampratio", &ratio));
        STI_TRY(sti_numbers(m->robot->err, at, "timeconst", 1, false, &timeconst));
        if (kv < 0) return sti_element_fail(m->robot->err, at, "kv is %g, must be >= 0", kv);
        if (!isnan(kv)) g->bias[2] = -kv, g->damping_ratio = 0;
        if (ratio > 0) g->bias[2] = 0, g->damping_ratio = ratio;
        if (timeconst > 0) g->dynamics = "filterexact", g->dyn[0] = timeconst;
        if (timeconst == 0) g->dynamics = "none";
        return ST_OK;
    }
    g->dynamics = "none";
    g->damping_ratio = 0;
    if (sti_element_is(at, "velocity")) {
        STI_TRY(read_gain(m, at, "kv", &g->gain[0]));
        memset(g->bias, 0, sizeof g->bias);
        g->bias[2] = -g->gain[0];
    } else if (sti_element_is(at, "damper")) {
        kv = 0;
        STI_TRY(read_gain(m, at, "kv", &kv));
        memset(g->gain, 0, sizeof g->gain);
        g->gain[2] = -kv;
        g->gain_type = "affine";
        g->bias_type = "none";
    } else if (sti_element_is(at, "cylinder")) {
        double diameter = 0;
        g->dynamics = "filter";
        STI_TRY(sti_numbers(m->robot->err, at, "timeconst", 1, false, &g->dyn[0]));
        STI_TRY(sti_numbers(m->robot->err, at, "area", 1, false, &g->gain[0]));
        STI_TRY(sti_numbers(m->robot->err, at, "diameter", 1, false, &diameter));
        STI_TRY(read_parameters(m, at, "bias", 3, g->bias));
        if (diameter > 0) g->gain[0] = STI_PI * diameter * diameter / 4;
    } else { /* motor */
        g->gain[0] = 1;
        g->bias_type = "none";
    }
    return ST_OK;
}

/* inheritrange gives ctrlrange as a part of the range of the joint or tendon. */
static st_Status read_control(const sti_Mjcf *m, Actuator *a, double lower, double upper)
{
    const bool pid = sti_element_is(a->at, "pid") && sti_mjcf_holder(m, a->at, "posrange") != NULL;
    const char *range = a->integrates ? "actrange" : pid ? "posrange" : "ctrlrange";
    double part = 0, low = -INFINITY, high = INFINITY;
    STI_TRY(sti_mjcf_number(m, a->at, "inheritrange", &part));
    if (!m->controls_unlimited || a->integrates)
        STI_TRY(read_limits(m, a->at, range, a->integrates ? "actlimited" : "ctrllimited", &low, &high));
    if (part > 0 && !m->controls_unlimited && sti_mjcf_word("position intvelocity pid", a->at->name) &&
        isfinite(lower) && isfinite(upper)) {
        low = (lower + upper) / 2 - part * (upper - lower) / 2;
        high = (lower + upper) / 2 + part * (upper - lower) / 2;
    }
    a->control = fmin(fmax(0, low), high);
    a->control_low = low, a->control_high = high;
    return read_limits(m, a->at, "forcerange", "forcelimited", &a->low, &a->high);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* A spring, a damper, a constant force and limits on one coordinate. */
typedef struct Drive {
    double stiffness, damping, force, mid, most;
} Drive;

static st_Status drive_of(const sti_Mjcf *m, const Actuator *a, Drive *out)
{
    const double g = a->gear[0], u = a->control, *gain = a->gain, *bias = a->bias;
    *out = (Drive){.stiffness = -g * g * (bias[1] + gain[1] * u),
                   .damping = -g * g * (bias[2] + gain[2] * u),
                   .force = g * (bias[0] + gain[0] * u),
                   .most = INFINITY};
    if (isfinite(a->low) && isfinite(a->high)) {
        out->mid = g * (a->low + a->high) / 2;
        out->most = fabs(g) * (a->high - a->low) / 2;
    }
    if (a->high == a->low) *out = (Drive){.force = g * a->low, .most = INFINITY};
    if (out->stiffness >= 0 && out->damping >= 0) return ST_OK;
    return sti_element_fail(m->robot->err, a->at, "its stiffness is %g and its damping %g, both must be >= 0",
                            out->stiffness, out->damping);
}

/* Stores an actuator for sensors and keyframes. d is NULL if it has no motor that can be set. */
static st_Status note_actuator(sti_Mjcf *m, const Actuator *a, const char *joint, const char *tendon, const Drive *d)
{
    sti_Robot *robot = m->robot;
    sti_MjcfActuator *made = sti_xml_keep(robot->files, sizeof *made);
    if (made == NULL) return sti_robot_memory(robot);
    *made = (sti_MjcfActuator){a->name, joint, tendon, a->gear[0], m->actuators};
    m->actuators = made;
    STI_TRY(STI_GROW(&robot->allocator, robot->controls, robot->controls_size, robot->n_controls + 1, robot->err));
    sti_RobotControl *control = &robot->controls[robot->n_controls++];
    *control = (sti_RobotControl){.low = -INFINITY, .high = INFINITY};
    if (d == NULL) return ST_OK;
    const double by = d->stiffness > 0 ? d->stiffness : d->damping > 0 ? d->damping : 1;
    control->joint = joint;
    control->tendon = tendon;
    control->factor = a->gear[0] * a->gain[0] / by;
    control->offset = a->gear[0] * a->bias[0] / by;
    control->position = d->stiffness > 0;
    control->low = a->control_low, control->high = a->control_high;
    control->activated = a->integrates || a->time_constant > 0;
    control->integrates = a->integrates;
    return ST_OK;
}

/* The motor of the actuator that was stored last. If it has no force of its own, the motor has a force of 0 that a
 * controller can set. */
static st_Status give_motor(const sti_Mjcf *m, const Actuator *a, const Drive *d, json_t **motor, double *effort,
                            double *mid)
{
    const sti_RobotControl *control = &m->robot->controls[m->robot->n_controls - 1];
    if (a->time_constant > 0 && a->control != 0)
        STI_TRY(sti_remark(m->robot,
                           "actuator \"%.60s\": its activation starts at %g, which ctrlrange requires; in "
                           "MuJoCo it starts at 0",
                           a->name, a->control));
    if (a->integrates && sti_mjcf_holder(m, a->at, "ctrlrange") != NULL && !m->controls_unlimited)
        STI_TRY(sti_remark(m->robot,
                           "actuator \"%.60s\": ctrlrange limits the rate of its activation, which is not "
                           "carried over; the rate starts at 0",
                           a->name));
    const double one = control->offset + control->factor * a->control_low;
    const double two = control->offset + control->factor * a->control_high;
    if (d->stiffness > 0)
        *motor = json_pack("{s:s, s:f, s:f, s:f}", "type", "position", "target", d->force / d->stiffness, "stiffness",
                           d->stiffness, "damping", d->damping);
    else if (d->damping > 0)
        *motor = json_pack("{s:s, s:f, s:f}", "type", "speed", "target", d->force / d->damping, "damping", d->damping);
    else if (d->force != 0 || control->activated)
        *motor = json_pack("{s:s, s:f}", "type", "force", "target", d->force);
    else
        *motor = NULL;
    const bool none = *motor == NULL && d->force == 0 && !control->activated;
    if (*motor == NULL && !none) return sti_robot_memory(m->robot);
    if (!none && isfinite(one) && isfinite(two) && one != two) {
        *motor = sti_with(*motor, "lowest", json_real(fmin(one, two)));
        *motor = sti_with(*motor, "highest", json_real(fmax(one, two)));
    }
    if (a->integrates) *motor = sti_with(*motor, "integrate", json_true());
    if (control->activated && !a->integrates) *motor = sti_with(*motor, "lag", json_real(a->time_constant));
    /* the intersection of two ranges: its own and that of the joint */
    const double low = fmax(*mid - *effort, d->mid - d->most), high = fmin(*mid + *effort, d->mid + d->most);
    if (isfinite(low) && isfinite(high) && low < high) *effort = (high - low) / 2, *mid = (high + low) / 2;
    return ST_OK;
}

/* The second actuator of a joint drives a tendon that consists of that joint alone. */
static st_Status on_joint(sti_Mjcf *m, const Actuator *a, sti_RobotJoint *joint, const Drive *d)
{
    const bool motor = sti_element_is(a->at, "motor");
    Drive limited = *d;
    bool damps = false;
    if (d->stiffness == 0 && d->damping > 0 && isinf(d->most)) { /* damping without limits is added to the joint */
        joint->damping += d->damping;
        limited.damping = 0;
        damps = d->force == 0 && a->gain[0] == 0; /* else a controller sets the force, too */
    }
    double low = -INFINITY, high = INFINITY;
    /* the largest force that it can apply */
    if (motor) STI_TRY(read_limits(m, a->at, "ctrlrange", "ctrllimited", &low, &high));
    if (isfinite(low) && isfinite(high) && low < high && high - low < 1e12) {
        const double g = a->gear[0], first = fmin(g * low, g * high), last = fmax(g * low, g * high);
        const double from = fmax(first, limited.mid - limited.most), to = fmin(last, limited.mid + limited.most);
        if (from < to) limited.mid = (from + to) / 2, limited.most = (to - from) / 2;
    }
    joint->actuated = true;
    if (!joint->driven || damps || joint->damper_only)
        STI_TRY(note_actuator(m, a, joint->name, NULL, damps ? NULL : &limited));
    if (!joint->driven) {
        joint->driven = true;
        joint->damper_only = damps;
        if (damps) return ST_OK;
        return give_motor(m, a, &limited, &joint->motor, &joint->effort, &joint->effort_mid);
    }
    if (damps) return ST_OK;
    if (joint->damper_only) {
        joint->damper_only = false;
        return give_motor(m, a, &limited, &joint->motor, &joint->effort, &joint->effort_mid);
    }
    sti_RobotTendon *tendon;
    STI_TRY(sti_robot_tendon(m->robot, a->name, a->at, 1, &tendon));
    tendon->parts[0] = (sti_RobotPart){.kind = ST_TENDON_JOINT, .joint = joint->name, .coefficient = 1};
    tendon->driven = true;
    STI_TRY(note_actuator(m, a, NULL, tendon->name, &limited));
    return give_motor(m, a, &limited, &tendon->motor, &tendon->effort, &tendon->effort_mid);
}

/* A wrench in the axes of a site, of the body or of the world; or adhesion to everything that the body touches. */
typedef enum Acting { IN_BODY_AXES, IN_WORLD_AXES, ADHESION } Acting;
static st_Status on_body(sti_Mjcf *m, const Actuator *a, int link, st_Pose pose, Acting acting)
{
    const double force = fmin(fmax(a->bias[0] + a->gain[0] * a->control, a->low), a->high);
    const st_Vec3 pull = rotate(pose.q, vec3_load(a->gear)), turn = rotate(pose.q, vec3_load(a->gear + 3));
    sti_Robot *robot = m->robot;
    const char *name = a->name; /* unnamed actuators at a site get a name */
    for (int k = 0, n = 1; k < robot->n_wrenches; k++) {
        char text[120];
        if (strcmp(robot->wrenches[k].name, name) != 0) continue;
        snprintf(text, sizeof text, "%.100s.%d", a->name, ++n);
        name = sti_xml_keep_text(robot->files, text);
        if (name == NULL) return sti_robot_memory(robot);
        k = -1;
    }
    STI_TRY(note_actuator(m, a, NULL, NULL, NULL));
    if (a->time_constant > 0 || a->integrates)
        STI_TRY(sti_remark(
            robot, "actuator \"%.60s\" has an activation, which is left out: forces on bodies act at once", a->name));
    STI_TRY(STI_GROW(&robot->allocator, robot->wrenches, robot->wrenches_size, robot->n_wrenches + 1, robot->err));
    sti_RobotControl *control = &robot->controls[robot->n_controls - 1];
    control->factor = a->gain[0], control->offset = a->bias[0];
    control->low = a->control_low, control->high = a->control_high;
    control->wrench = robot->n_wrenches + 1;
    control->force = pull, control->torque = turn;
    control->least = a->low, control->most = a->high;
    robot->wrenches[robot->n_wrenches++] = (sti_RobotWrench){.name = name,
                                                             .at = a->at,
                                                             .link = link,
                                                             .point = pose.p,
                                                             .world_axes = acting == IN_WORLD_AXES,
                                                             .adhesion = acting == ADHESION,
                                                             .force = scale(force, pull),
                                                             .torque = scale(force, turn)};
    if (force == 0)
        return sti_remark(robot, "actuator \"%.60s\" is a force of 0 on body \"%.60s\", for a controller to set",
                          a->name, robot->links[link].name);
    return ST_OK;
}

/* An actuator between two sites, along or about one axis of the reference site. */
static st_Status between_sites(sti_Mjcf *m, Actuator *a, const sti_MjcfPlace *site, const sti_MjcfPlace *reference)
{
    int axis = -1, n = 0;
    for (int k = 0; k < 6; k++)
        if (a->gear[k] != 0) axis = k, n++;
    if (n != 1) return sti_mjcf_unknown(m, a->at, "refsite");
    sti_RobotTendon *tendon;
    Drive d;
    STI_TRY(sti_robot_tendon(m->robot, a->name, a->at, 2, &tendon));
    tendon->parts[0] = (sti_RobotPart){.link = reference->link, .point = reference->pose.p};
    tendon->parts[1] = (sti_RobotPart){.link = site->link, .point = site->pose.p};
    tendon->parts[0].axis = rotate(reference->pose.q, vec3_axis(axis % 3));
    tendon->coordinate = axis < 3 ? ST_COORDINATE_DISPLACEMENT : ST_COORDINATE_ANGLE;
    tendon->driven = true;
    a->gear[0] = a->gear[axis];
    STI_TRY(drive_of(m, a, &d));
    STI_TRY(note_actuator(m, a, NULL, tendon->name, &d));
    return give_motor(m, a, &d, &tendon->motor, &tendon->effort, &tendon->effort_mid);
}

/* Applies dampratio, with the effective mass of the driven joints as drawn. */
static void add_damping_ratio(Actuator *a, double mass)
{
    if (a->damping_ratio > 0) a->bias[2] = -2 * a->damping_ratio * sqrt(-a->bias[1] * mass / (a->gear[0] * a->gear[0]));
}

/* A torque about an axis of the body of a ball joint. With `jointinparent` the axis stays where it is drawn in the
 * parent. */
static st_Status on_ball(sti_Mjcf *m, Actuator *a, int link, bool in_parent)
{
    const sti_RobotLink *of = &m->robot->links[link];
    const st_Vec3 axis = vec3_load(a->gear), drawn = rotate(of->pose.q, axis),
                  point = pose_point(of->pose, of->joint.point);
    sti_RobotTendon *tendon;
    Drive d;
    if (!(norm(axis) > 0)) return sti_element_fail(m->robot->err, a->at, "gear must not be 0");
    a->gear[0] = norm(axis);
    a->damping_ratio = 0;
    STI_TRY(read_control(m, a, -INFINITY, INFINITY));
    STI_TRY(drive_of(m, a, &d));
    if (d.stiffness == 0 && d.damping == 0 && !m->robot->links[of->parent].moves && (!in_parent || of->parent == 0)) {
        /* the parent does not move: a torque on the body is enough */
        memset(a->gear, 0, sizeof a->gear);
        vec3_store(a->gear + 3, in_parent ? drawn : axis);
        return on_body(m, a, link, (st_Pose){of->joint.point, {1, 0, 0, 0}}, in_parent ? IN_WORLD_AXES : IN_BODY_AXES);
    }
    STI_TRY(sti_remark(m->robot,
                       "actuator \"%.60s\" turns a ball joint about an axis between those of the two bodies, in MuJoCo "
                       "about that of the %s",
                       a->name, in_parent ? "parent" : "body"));
    STI_TRY(sti_robot_tendon(m->robot, a->name, a->at, 2, &tendon));
    of = &m->robot->links[link];
    tendon->parts[0] = (sti_RobotPart){.link = of->parent, .point = point};
    tendon->parts[1] = (sti_RobotPart){.link = link, .point = of->joint.point};
    tendon->parts[0].axis = drawn;
    tendon->coordinate = ST_COORDINATE_ANGLE;
    tendon->driven = true;
    STI_TRY(note_actuator(m, a, NULL, tendon->name, &d));
    return give_motor(m, a, &d, &tendon->motor, &tendon->effort, &tendon->effort_mid);
}

/* A servo of all three rotations of a ball joint becomes its spring and damper. */
static st_Status on_orientation(sti_Mjcf *m, const Actuator *a, double stiffness, double damping)
{
    static const char *const left[] = {"dampratio", "forcerange", "site"};
    const char *joint = sti_attribute(a->at, "joint"), *input = sti_mjcf_text(m, a->at, "input");
    const int k = joint != NULL ? sti_robot_find_joint(m->robot, joint) : -1;
    for (int i = 0; i < 3; i++)
        if (sti_mjcf_holder(m, a->at, left[i]) != NULL) return sti_mjcf_unknown(m, a->at, left[i]);
    if (k < 0 || m->robot->links[k].joint.type != ST_JOINT_BALL)
        return sti_element_fail(m->robot->err, a->at, "joint is \"%.60s\", there is no ball joint of that name",
                                joint != NULL ? joint : "");
    m->robot->links[k].joint.stiffness += stiffness;
    m->robot->links[k].joint.damping += damping;
    for (int n = input != NULL && strcmp(input, "quat") == 0 ? 4 : 3; n > 0; n--)
        STI_TRY(note_actuator(m, a, NULL, NULL, NULL));
    return sti_remark(m->robot, "actuator \"%.60s\" holds its ball joint as drawn: its controls are not carried over",
                      a->name);
}

/* Only the first input of a pid or dcmotor can be controlled; the others stay 0. */
static st_Status check_inputs(sti_Mjcf *m, const sti_Element *at)
{
    const bool pid = sti_element_is(at, "pid");
    const char *input = sti_mjcf_text(m, at, "input");
    if (!pid && !sti_element_is(at, "dcmotor")) return ST_OK;
    if (input == NULL) input = pid ? "pos vel" : "voltage";
    if (sti_mjcf_word(pid ? "pos" : "pos vel voltage none", input)) return ST_OK;
    if (strncmp(input, "pos ", 4) != 0) return sti_mjcf_unknown(m, at, "input");
    return sti_remark(m->robot, "<%s> with the inputs \"%.20s\": only the position is controlled, the others stay 0",
                      at->name, input);
}

static st_Status read_actuator(sti_Mjcf *m, const sti_Element *at)
{
    Actuator a = {.at = at, .name = sti_attribute(at, "name"), .gear = {1}, .low = -INFINITY, .high = INFINITY};
    const char *target = NULL;
    int n = 0;
    if (!sti_mjcf_word(sti_mjcf_actuators, at->name)) return sti_mjcf_unknown(m, at, NULL);
    STI_TRY(sti_mjcf_check(m, at, sti_mjcf_actuator_words, sti_mjcf_actuator_passed));
    double group = 0, armature = 0, damping = 0;
    STI_TRY(sti_mjcf_number(m, at, "group", &group));
    STI_TRY(sti_mjcf_not_negative(m, at, "armature", &armature));
    STI_TRY(sti_mjcf_not_negative(m, at, "damping", &damping));
    const bool group_off = group >= 0 && group < 31 && (m->actuator_groups_off >> (int)group & 1) != 0;
    if (m->no_actuation || group_off) {
        sti_skip(m->robot, "actuators, which <option> or its <flag> switches off");
        if (a.name == NULL) a.name = "actuator";
        return note_actuator(m, &a, NULL, NULL, NULL);
    }
    static const char *const targets[] = {"joint", "jointinparent", "tendon", "site", "cranksite", "body"};
    for (int k = 0; k < 6; k++)
        if (sti_attribute(at, targets[k]) != NULL) target = targets[k];
    if (target == NULL)
        return sti_element_fail(m->robot->err, at,
                                "joint is missing, must be the name of a joint, tendon, site or body");
    if (a.name == NULL) a.name = sti_attribute(at, target);
    STI_TRY(sti_mjcf_some_numbers(m, at, "gear", 6, &n, a.gear));
    Gains g = {.m = m, .dynamics = "none", .gain_type = "fixed", .bias_type = "none", .dyn = {1}, .gain = {1}};
    STI_TRY(sti_mjcf_each_default(m, a.at, apply_gains, &g));
    STI_TRY(apply_gains(&g, a.at));
    for (int k = 0; k < 3; k++) {
        a.gain[k] = k == 0 || g.gain_type[0] == 'a' ? g.gain[k] : 0;
        a.bias[k] = g.bias_type[0] == 'a' ? g.bias[k] : 0;
    }
    if (a.gain[1] != 0 || a.gain[2] != 0)
        STI_TRY(sti_remark(m->robot,
                           "actuator \"%.60s\": its gain depends on position or speed: that part is constant, "
                           "as for the control at the start",
                           a.name));
    if (g.torque > 0) a.low = -g.torque, a.high = g.torque;
    if (sti_element_is(at, "orientation")) return on_orientation(m, &a, g.gain[0], g.gain[1]);
    STI_TRY(check_inputs(m, at));
    a.damping_ratio = g.bias_type[0] == 'a' && g.bias[1] < 0 ? g.damping_ratio : 0;
    a.integrates = g.dynamics[0] == 'i';
    if (g.dynamics[0] == 'f') a.time_constant = g.dyn[0];
    const double square = a.gear[0] * a.gear[0]; /* convert from the actuator's coordinate to that of the joint */
    if ((armature > 0 || damping > 0) && sti_mjcf_word("site cranksite body", target))
        return sti_mjcf_unknown(m, at, armature > 0 ? "armature" : "damping");
    if (target[0] == 'c') { /* crank-slider: the pin, and a slider along the z axis of its site */
        const sti_MjcfPlace *pin, *slider;
        sti_RobotTendon *tendon;
        double rod = 0;
        Drive d;
        STI_TRY(sti_mjcf_find_place(m, a.at, "cranksite", "site", &pin));
        STI_TRY(sti_mjcf_find_place(m, a.at, "slidersite", "site", &slider));
        STI_TRY(sti_mjcf_number(m, a.at, "cranklength", &rod));
        if (!(rod > 0)) return sti_element_fail(m->robot->err, a.at, "cranklength is %g, must be > 0", rod);
        if (a.gear[0] == 0) return sti_element_fail(m->robot->err, a.at, "gear must not be 0");
        if (a.damping_ratio > 0) return sti_mjcf_unknown(m, a.at, "dampratio");
        STI_TRY(read_control(m, &a, -INFINITY, INFINITY));
        STI_TRY(drive_of(m, &a, &d));
        STI_TRY(sti_robot_tendon(m->robot, a.name, a.at, 2, &tendon));
        tendon->parts[0] = (sti_RobotPart){.kind = ST_TENDON_SLIDER,
                                           .link = slider->link,
                                           .point = slider->pose.p,
                                           .axis = rotate(slider->pose.q, vec3(0, 0, 1)),
                                           .coefficient = rod};
        tendon->parts[1] = (sti_RobotPart){.kind = ST_TENDON_POINT, .link = pin->link, .point = pin->pose.p};
        tendon->driven = true;
        STI_TRY(note_actuator(m, &a, NULL, tendon->name, &d));
        return give_motor(m, &a, &d, &tendon->motor, &tendon->effort, &tendon->effort_mid);
    }
    if (target[0] == 'b') { /* adhesion of the body to everything that it touches */
        const char *body = sti_attribute(at, "body");
        const int link = sti_robot_find(m->robot, body);
        if (link < 0)
            return sti_element_fail(m->robot->err, at, "body is \"%.60s\", there is no body of that name", body);
        for (int k = 1; k < 6; k++)
            a.gear[k] = 0;
        STI_TRY(read_control(m, &a, -INFINITY, INFINITY));
        if (a.control_low < 0) /* as in MuJoCo's compiler: adhesion does not push */
            return sti_element_fail(m->robot->err, at, "ctrlrange is %g %g, must be >= 0", a.control_low,
                                    a.control_high);
        return on_body(m, &a, link, pose_identity(), ADHESION);
    }
    if (target[0] == 's') {
        const sti_MjcfPlace *site, *reference;
        STI_TRY(sti_mjcf_find_place(m, a.at, "site", "site", &site));
        STI_TRY(read_control(m, &a, -INFINITY, INFINITY));
        if (sti_attribute(a.at, "refsite") == NULL) return on_body(m, &a, site->link, site->pose, IN_BODY_AXES);
        STI_TRY(sti_mjcf_find_place(m, a.at, "refsite", "site", &reference));
        return between_sites(m, &a, site, reference);
    }
    if (target[0] == 't') {
        const char *name = sti_attribute(a.at, "tendon");
        const int k = sti_robot_find_tendon(m->robot, name);
        Drive d;
        double mass = 0;
        if (k < 0)
            return sti_element_fail(m->robot->err, a.at, "tendon is \"%.60s\", there is no tendon of that name", name);
        if (a.gear[0] == 0) return sti_element_fail(m->robot->err, a.at, "gear must not be 0");
        if (a.damping_ratio > 0) STI_TRY(sti_mjcf_tendon_inertia(m, &m->robot->tendons[k], &mass));
        add_damping_ratio(&a, mass);
        STI_TRY(read_control(m, &a, m->robot->tendons[k].lower, m->robot->tendons[k].upper));
        STI_TRY(drive_of(m, &a, &d));

        sti_RobotTendon *tendon = &m->robot->tendons[k];
        if (tendon->driven) { /* another tendon along the same path */
            const sti_RobotTendon first = *tendon;
            STI_TRY(sti_robot_tendon(m->robot, a.name, a.at, first.n_parts, &tendon));
            memcpy(tendon->parts, first.parts, (size_t)first.n_parts * sizeof *first.parts);
        }
        tendon->driven = true;
        tendon->armature += square * armature;
        tendon->damping += square * damping;
        STI_TRY(note_actuator(m, &a, NULL, tendon->name, &d));
        return give_motor(m, &a, &d, &tendon->motor, &tendon->effort, &tendon->effort_mid);
    }

    const char *name = sti_attribute(a.at, target);
    const int k = sti_robot_find_joint(m->robot, name);
    sti_RobotJoint *joint = NULL;
    Drive d;
    double mass = 0;
    if (k >= 0 && m->robot->links[k].joint.floating) {
        STI_TRY(read_control(m, &a, -INFINITY, INFINITY));
        /* Free joints: the force is in world axes. The torque is in those of the body, or with `jointinparent` of the
         * world. */
        const st_Vec3 pull = vec3_load(a.gear), turn = vec3_load(a.gear + 3);
        if (strcmp(target, "jointinparent") == 0 || !(norm(turn) > 0))
            return on_body(m, &a, k, pose_identity(), IN_WORLD_AXES);
        if (norm(pull) > 0) {
            vec3_store(a.gear, rotate_back(m->robot->links[k].pose.q, pull));
            STI_TRY(sti_remark(
                m->robot,
                "actuator \"%.60s\" of a free joint has a force and a torque: its force turns with the body, "
                "in MuJoCo only its torque does",
                a.name));
        }
        return on_body(m, &a, k, pose_identity(), IN_BODY_AXES);
    }
    if (k >= 0 && m->robot->links[k].joint.type == ST_JOINT_BALL)
        return on_ball(m, &a, k, strcmp(target, "jointinparent") == 0);
    STI_TRY(sti_mjcf_find_joint(m, a.at, target, &joint));
    if (a.gear[0] == 0) {
        sti_skip(m->robot, "actuators with a gear of 0");
        return note_actuator(m, &a, NULL, NULL, NULL);
    }
    joint->armature += square * armature;
    joint->damping += square * damping;
    if (a.damping_ratio > 0) STI_TRY(sti_mjcf_joint_inertia(m, k, &mass));
    add_damping_ratio(&a, mass);
    STI_TRY(read_control(m, &a, joint->lower, joint->upper));
    STI_TRY(drive_of(m, &a, &d));
    return on_joint(m, &a, joint, &d);
}

st_Status sti_mjcf_actuator(sti_Mjcf *m, const sti_Element *at)
{
    const bool pid = sti_element_is(at, "pid");
    const char *input = pid || sti_element_is(at, "dcmotor") ? sti_mjcf_text(m, at, "input") : NULL;
    STI_TRY(read_actuator(m, at));
    if (pid && input == NULL) input = "pos vel";
    if (input == NULL) return ST_OK;
    if (strcmp(input, "none") == 0) m->robot->n_controls--;
    for (const char *space = strchr(input, ' '); space != NULL; space = strchr(space + 1, ' ')) {
        const Actuator other = {.at = at, .name = "", .gear = {1}}; /* an input that stays 0, for keyframes */
        STI_TRY(note_actuator(m, &other, NULL, NULL, NULL));
    }
    return ST_OK;
}
