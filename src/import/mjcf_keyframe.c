/* import/mjcf_keyframe.c -- the keyframes of an MJCF file: qpos, qvel, ctrl and act, in the order of joints
 * and actuators; mpos and mquat, in the order of mocap bodies.
 */
#include "import/mjcf.h"
#include "math/quat.h"

#include <stdio.h>

/* Number of coordinates of a joint, and of velocities. */
static int n_coordinates(const sti_RobotJoint *joint)
{
    if (joint->floating) return 7;
    return joint->type == ST_JOINT_BALL ? 4 : joint->type == ST_JOINT_FIXED ? 0 : 1;
}

static int n_velocities(const sti_RobotJoint *joint)
{
    if (joint->floating) return 6;
    return joint->type == ST_JOINT_BALL ? 3 : joint->type == ST_JOINT_FIXED ? 0 : 1;
}

/* Reads a list of exactly n numbers. If it is missing or empty, *given is false. */
static st_Status read_list(const sti_Mjcf *m, const sti_Element *at, const char *key, int n, double *out, bool *given)
{
    const char *text = sti_attribute(at, key);
    int read = 0;
    double more;
    *given = text != NULL && text[strspn(text, " \t\r\n")] != '\0';
    if (!*given) return ST_OK;
    while (read < n && sti_next_number(&text, &out[read]))
        read++;
    const bool over = read == n && sti_next_number(&text, &more);
    text += strspn(text, " \t\r\n");
    if (read == n && !over && *text == '\0') return ST_OK;
    return sti_element_fail(m->robot->err, at, "%s has %s%d numbers, must have %d: one or more for each %s", key,
                            over ? "more than " : "", read, n,
                            key[0] == 'q'   ? "joint"
                            : key[0] == 'm' ? "mocap body"
                                            : "actuator");
}

static st_Status read_numbers(sti_Mjcf *m, const sti_Element *at, sti_RobotKey *key, double *numbers, int n_q, int n_v)
{
    const sti_Robot *robot = m->robot;
    bool given;
    int next = 0;
    STI_TRY(read_list(m, at, "qpos", n_q, numbers, &given));
    for (int k = 0; k < robot->n_links && given; k++) {
        const sti_RobotJoint *joint = &robot->links[k].joint;
        const int n = n_coordinates(joint), quat = n == 7 ? 3 : 0;
        double *x = key->state[k].x;
        if (n == 0) continue;
        memcpy(x, numbers + next, (size_t)n * sizeof *x);
        next += n;
        if (n < 4) continue;
        const st_Quat q = {x[quat], x[quat + 1], x[quat + 2], x[quat + 3]};
        if (!(quat_norm(q) > 0))
            return sti_element_fail(robot->err, at, "qpos has a quaternion of 0 for joint \"%.60s\"",
                                    joint->name != NULL ? joint->name : robot->links[k].name);
        const st_Quat unit = quat_unit(q);
        x[quat] = unit.w, x[quat + 1] = unit.x, x[quat + 2] = unit.y, x[quat + 3] = unit.z;
    }
    STI_TRY(read_list(m, at, "qvel", n_v, numbers, &given));
    next = 0;
    for (int k = 0; k < robot->n_links && given; k++) {
        const int n = n_velocities(&robot->links[k].joint);
        memcpy(key->state[k].v, numbers + next, (size_t)n * sizeof *numbers);
        next += n;
    }
    return ST_OK;
}

st_Status sti_mjcf_keyframe(sti_Mjcf *m, const sti_Element *at)
{
    sti_Robot *robot = m->robot;
    int n_q = 0, n_v = 0, n_mocap = 0;
    char text[40];
    bool given;
    if (!sti_element_is(at, "key")) return sti_mjcf_unknown(m, at, NULL);
    STI_TRY(sti_mjcf_check(m, at, "name time qpos qvel ctrl act mpos mquat", ""));
    for (int k = 0; k < robot->n_links; k++) {
        n_q += n_coordinates(&robot->links[k].joint);
        n_v += n_velocities(&robot->links[k].joint);
        n_mocap += robot->links[k].led;
    }
    snprintf(text, sizeof text, "keyframe%d", robot->n_keys + 1);
    sti_RobotKey key = {.name = sti_attribute(at, "name"), .at = at, .n_controls = robot->n_controls};
    key.state = sti_xml_keep(robot->files, ((size_t)robot->n_links + 1) * sizeof *key.state);
    key.control = sti_xml_keep(robot->files, ((size_t)robot->n_controls + 1) * sizeof *key.control);
    double *numbers = sti_xml_keep(robot->files, ((size_t)n_q + 4 * (size_t)n_mocap + 1) * sizeof *numbers);
    if (key.name == NULL || key.name[0] == '\0') key.name = sti_xml_keep_text(robot->files, text);
    if (key.state == NULL || key.control == NULL || numbers == NULL || key.name == NULL) return sti_robot_memory(robot);
    STI_TRY(sti_numbers(robot->err, at, "time", 1, false, &key.t));

    /* The state as drawn. */
    sti_RobotState *state = key.state;
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        double *x = state[k].x;
        const st_Quat q = link->pose.q;
        if (link->joint.floating || link->led) {
            vec3_store(x, link->pose.p);
            x[3] = q.w, x[4] = q.x, x[5] = q.y, x[6] = q.z;
        } else if (link->joint.type == ST_JOINT_BALL) {
            x[0] = 1;
        } else {
            x[0] = link->joint.zero;
        }
    }
    STI_TRY(read_numbers(m, at, &key, numbers, n_q, n_v));
    for (int turn = 0; turn < 2; turn++) {
        const int n = turn ? 4 : 3;
        const double *next_number = numbers;
        STI_TRY(read_list(m, at, turn ? "mquat" : "mpos", n * n_mocap, numbers, &given));
        key.mocap = key.mocap || given;
        for (int k = 0; k < robot->n_links && given; k++) {
            if (!robot->links[k].led) continue;
            double *x = state[k].x + (turn ? 3 : 0);
            memcpy(x, next_number, (size_t)n * sizeof *x);
            next_number += n;
            if (!turn) continue;
            const st_Quat q = {x[0], x[1], x[2], x[3]}, unit = quat_unit(q);
            if (!(quat_norm(q) > 0))
                return sti_element_fail(robot->err, at, "mquat has a quaternion of 0 for body \"%.60s\"",
                                        robot->links[k].name);
            x[0] = unit.w, x[1] = unit.x, x[2] = unit.y, x[3] = unit.z;
        }
    }
    for (int k = 0; k < robot->n_controls; k++)
        key.control[k] = NAN;
    STI_TRY(read_list(m, at, "ctrl", robot->n_controls, key.control, &given));
    int n_act = 0, next = 0;
    for (int k = 0; k < robot->n_controls; k++)
        n_act += robot->controls[k].activated;
    double *act = sti_xml_keep(robot->files, ((size_t)n_act + 1) * sizeof *act);
    if (act == NULL) return sti_robot_memory(robot);
    STI_TRY(read_list(m, at, "act", n_act, act, &given));
    for (int k = 0; k < robot->n_controls; k++) { /* an activation that integrates is the target */
        const double value = robot->controls[k].activated ? given ? act[next] : 0 : 0;
        next += robot->controls[k].activated;
        if (robot->controls[k].integrates) key.control[k] = value;
    }
    STI_TRY(STI_GROW(&robot->allocator, robot->keys, robot->keys_size, robot->n_keys + 1, robot->err));
    robot->keys[robot->n_keys++] = key;
    if (robot->n_keys > 8) return ST_OK; /* the first eight keyframes are enough for the remarks */
    return sti_remark(robot, "keyframe \"%.60s\": --set simulation/keyframe=%d starts in it", key.name, robot->n_keys);
}
