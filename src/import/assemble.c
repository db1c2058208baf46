/* import/assemble.c -- from a tree of links to members of a scene.
 *
 * A scene has bodies at their centres of mass, and joints by points and axes in the world at the initial pose. So:
 *
 *     start     initial coordinate of every joint: as given, or 0 moved inside the limits; mimics follow
 *     place     pose of a link = pose of its parent * as drawn * turned or slid by (start - zero)
 *     merge     links whose joint cannot move join the parent's body; masses and inertias by Steiner's rule
 *     write     a body for each group, a joint for each joint left, a gear for each mimic, excluded pairs
 *
 * Joint coordinates of a scene are 0 at the start, so limits, rest lengths and targets are shifted by the start. */
#include "import/robot.h"
#include "math/principal.h"
#include "math/quat.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- start --------------------------------------------------------------------------------------- */

/* Has the joint a single coordinate, to which positions, mimics and limits can refer? */
static bool has_coordinate(const sti_RobotJoint *joint)
{
    return joint->type == ST_JOINT_REVOLUTE || joint->type == ST_JOINT_PRISMATIC;
}

static st_Status unknown_joint(const sti_Robot *robot, const sti_Place *place, const char *name)
{
    char text[300];
    sti_Nearest nearest = {.word = name};
    for (int k = 0; k < robot->n_links; k++)
        if (robot->links[k].joint.name != NULL && has_coordinate(&robot->links[k].joint))
            sti_nearest_try(&nearest, robot->links[k].joint.name);
    sti_nearest_text(&nearest, "joints that can be placed", text, sizeof text);
    return sti_report(robot->reader, place, ST_ERR_FORMAT,
                      "robot \"%.60s\": positions has \"%.60s\", but the robot has no such joint with a coordinate%s",
                      robot->file, name, text);
}

/* Reads `positions`, the initial coordinates given in the scene. */
static st_Status read_positions(sti_Robot *robot, const sti_Place *place)
{
    const char *name;
    json_t *value, *positions = json_object_get(robot->entry, "positions");
    sti_Place here = {place, "positions", 0};
    json_object_foreach(positions, name, value)
    {
        sti_Place at = {&here, name, 0};
        int k = sti_robot_find_joint(robot, name);
        if (k < 0 || !has_coordinate(&robot->links[k].joint)) return unknown_joint(robot, &at, name);
        sti_RobotJoint *joint = &robot->links[k].joint;
        double x = json_number_value(value), slack = 1e-9 * (1 + fabs(x));
        if (x < joint->lower - slack || x > joint->upper + slack)
            return sti_report(robot->reader, &at, ST_ERR_FORMAT,
                              "robot \"%.60s\": position of joint \"%.60s\" is %g, must be from %g to %g", robot->file,
                              name, x, joint->lower, joint->upper);
        joint->start = x;
    }
    return ST_OK;
}

/* Joints without a given position start as drawn, moved inside their limits. */
static st_Status default_start(sti_Robot *robot, sti_RobotJoint *joint)
{
    if (!isnan(joint->start) || joint->mimics != NULL) return ST_OK;
    joint->start = joint->zero;
    if (!has_coordinate(joint)) return ST_OK;
    if (joint->start < joint->lower) joint->start = joint->lower;
    if (joint->start > joint->upper) joint->start = joint->upper;
    if (joint->start == joint->zero) return ST_OK;
    return sti_remark(robot, "joint \"%s\" starts at its limit %g, because %g is outside", joint->name, joint->start,
                      joint->zero);
}

/* The motion of a joint by x, in the frame of its link as drawn. */
static st_Pose motion(const sti_RobotJoint *joint, double x)
{
    st_Pose pose = pose_identity();
    double length = norm(joint->axis);
    if (x == 0 || !has_coordinate(joint)) return pose;
    st_Vec3 step = scale(x / length, joint->axis);
    if (joint->type == ST_JOINT_PRISMATIC) {
        pose.p = step;
    } else {
        pose.q = quat_exp(step);
        pose.p = sub(joint->point, rotate(pose.q, joint->point));
    }
    return pose;
}

/* Evaluates x = ratio x_other + offset (and a curve) along a chain of mimics; `depth_left` bounds the depth, so that a
 * ring is found. */
static st_Status follow(sti_Robot *robot, sti_RobotJoint *joint, int depth_left)
{
    if (joint->mimics == NULL) return ST_OK;
    int k = sti_robot_find_joint(robot, joint->mimics);
    if (k >= 0 && robot->links[k].joint.type == ST_JOINT_FIXED && !robot->links[k].joint.floating &&
        has_coordinate(joint)) { /* the coordinate of the other joint is 0 */
        sti_RobotLink *link = &robot->links[sti_robot_find_joint(robot, joint->name)];
        link->pose = pose_product(link->pose, motion(joint, joint->offset - joint->zero));
        joint->type = ST_JOINT_FIXED;
        joint->driven = false;
        joint->mimics = NULL;
        joint->start = joint->zero;
        return sti_remark(robot, "joint \"%.60s\" mimics one that cannot move: it is fixed at %g", joint->name,
                          joint->offset);
    }
    if (k < 0 || !has_coordinate(&robot->links[k].joint) || !has_coordinate(joint))
        return sti_element_fail(robot->err, joint->at, "mimics \"%.60s\", both must be joints that turn or slide",
                                joint->mimics);
    sti_RobotJoint *other = &robot->links[k].joint;
    if (other == joint || depth_left == 0)
        return sti_element_fail(robot->err, joint->at, "mimics itself, in a ring with \"%.60s\"", joint->mimics);
    STI_TRY(follow(robot, other, depth_left - 1));
    const double *c = joint->curve, d = other->start - joint->middle; /* expand the polynomial about the start */
    double start = joint->ratio * other->start + joint->offset + d * d * (c[0] + d * (c[1] + d * c[2]));
    const double slack = 1e-9 * (1 + fabs(start));
    joint->ratio += d * (2 * c[0] + d * (3 * c[1] + d * 4 * c[2]));
    joint->offset = start - joint->ratio * other->start;
    joint->curve[0] += d * (3 * c[1] + d * 6 * c[2]);
    joint->curve[1] += 4 * d * c[2];
    joint->middle = other->start;
    if (!isnan(joint->start) && fabs(joint->start - start) > slack)
        return sti_element_fail(robot->err, joint->at, "has the position %g, but mimics \"%.60s\" and so starts at %g",
                                joint->start, joint->mimics, start);
    joint->start = start;
    if (start < joint->lower - slack || start > joint->upper + slack)
        return sti_remark(robot, "joint \"%.60s\" follows \"%.60s\" and so starts at %g, outside its limits, %g to %g",
                          joint->name, joint->mimics, start, joint->lower, joint->upper);
    return ST_OK;
}

/* ---- place --------------------------------------------------------------------------------------- */

/* Poses and velocities of the links of a keyframe, before the links are moved to their starts. */
static void place_key(const sti_Robot *robot, sti_RobotState *state)
{
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        const sti_RobotJoint *j = &link->joint;
        sti_RobotState *s = &state[k];
        const sti_RobotState *up = link->parent >= 0 ? &state[link->parent] : NULL;
        const st_Pose drawn = pose_product(up != NULL ? up->pose : robot->root, link->pose);
        const st_Quat turn = {s->x[0], s->x[1], s->x[2], s->x[3]};
        s->velocity = s->spin = vec3(0, 0, 0);
        if (j->floating || link->led) {
            s->pose = pose_product(robot->root, (st_Pose){vec3_load(s->x), {s->x[3], s->x[4], s->x[5], s->x[6]}});
            s->velocity = rotate(robot->root.q, vec3_load(s->v));
            s->spin = rotate(s->pose.q, vec3_load(s->v + 3));
            continue;
        }
        if (j->type == ST_JOINT_BALL)
            s->pose = pose_product(drawn, (st_Pose){sub(j->point, rotate(turn, j->point)), turn});
        else
            s->pose = pose_product(drawn, motion(j, s->x[0] - j->zero));
        s->pose.q = quat_unit(s->pose.q);
        if (up != NULL) {
            s->spin = up->spin;
            s->velocity = add(up->velocity, cross(up->spin, sub(s->pose.p, up->pose.p)));
        }
        if (j->type == ST_JOINT_PRISMATIC)
            s->velocity = add(s->velocity, rotate(s->pose.q, scale(s->v[0] / norm(j->axis), j->axis)));
        if (j->type != ST_JOINT_BALL && j->type != ST_JOINT_REVOLUTE) continue;
        const st_Vec3 own = j->type == ST_JOINT_BALL ? vec3_load(s->v) : scale(s->v[0] / norm(j->axis), j->axis);
        const st_Vec3 w = rotate(s->pose.q, own), arm = sub(s->pose.p, pose_point(s->pose, j->point));
        s->spin = add(s->spin, w);
        s->velocity = add(s->velocity, cross(w, arm));
    }
}

/* ---- merge --------------------------------------------------------------------------------------- */

/* A += mass (|d|^2 1 - d d'): Steiner's rule. */
static void add_steiner(st_Mat3 *A, double mass, st_Vec3 d)
{
    const double x[3] = {d.x, d.y, d.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A->m[3 * i + j] += mass * ((i == j ? dot(d, d) : 0) - x[i] * x[j]);
}

void sti_join_masses(sti_RobotLink *into, const sti_RobotLink *from)
{
    if (!(from->mass > 0)) return;
    st_Quat q = quat_product(quat_conjugate(into->pose.q), from->pose.q);
    st_Vec3 centre = rotate_back(into->pose.q, sub(pose_point(from->pose, from->centre), into->pose.p));
    st_Mat3 inertia = sti_inertia_turned(q, &from->inertia);
    double mass = into->mass + from->mass;
    st_Vec3 common = scale(1 / mass, add(scale(into->mass, into->centre), scale(from->mass, centre)));
    add_steiner(&into->inertia, into->mass, sub(into->centre, common));
    add_steiner(&inertia, from->mass, sub(centre, common));
    for (int i = 0; i < 9; i++)
        into->inertia.m[i] += inertia.m[i];
    into->mass = mass;
    into->centre = common;
}

st_Status sti_mend_inertia(sti_Robot *robot, sti_RobotLink *link)
{
    double moment[3];
    st_Vec3 axes[3];
    int largest = 0;
    mat3_principal(&link->inertia, moment, axes);
    for (int k = 1; k < 3; k++)
        if (moment[k] > moment[largest]) largest = k;
    if (moment[largest] == 0) return ST_OK;
    const double least = fmin(moment[(largest + 1) % 3], moment[(largest + 2) % 3]);
    int raised = 0; /* a thin rod: a moment of 0 becomes a thousandth of the largest, so that it can turn */
    for (int k = 0; k < 3; k++) {
        const double more = 1e-3 * moment[largest] - moment[k], e[3] = {axes[k].x, axes[k].y, axes[k].z};
        const double others = moment[(k + 1) % 3] + moment[(k + 2) % 3] - moment[largest];
        if (fabs(moment[k]) > 1e-9 * moment[largest] || others < 0.9 * moment[largest]) continue;
        for (int i = 0; i < 9; i++)
            link->inertia.m[i] += more * e[i / 3] * e[i % 3];
        raised++;
    }
    if (raised > 0)
        return sti_remark(robot, "link \"%.60s\": a principal moment of 0 becomes %.3g, a thousandth of the largest",
                          link->name, 1e-3 * moment[largest]);
    const double excess = moment[largest] - moment[(largest + 1) % 3] - moment[(largest + 2) % 3];
    const double most = sti_robot_ignores(robot, "inertia") ? 1 : 0.1;
    if (!(least >= 0) || !(excess > 1e-9 * moment[largest]) || excess > most * moment[largest]) return ST_OK;
    const st_Vec3 e = axes[largest];
    const double x[3] = {e.x, e.y, e.z};
    for (int i = 0; i < 9; i++)
        link->inertia.m[i] -= excess * x[i / 3] * x[i % 3];
    return sti_remark(robot,
                      "link \"%.60s\": its principal moments %.6g, %.6g, %.6g violate the triangle inequality: "
                      "the largest is made %.6g",
                      link->name, moment[0], moment[1], moment[2], moment[largest] - excess);
}

/* Is the root of this body welded to the world? Then it does not move. */
static bool is_welded_to_world(const sti_RobotLink *body)
{
    return body->led || (body->parent < 0 && !body->joint.floating && body->joint.type == ST_JOINT_FIXED);
}

/* Decides which links share a body. Welded links join their parent. If merging is switched off, only links without
 * mass do, and links with a moving parent without mass. */
static void merge(sti_Robot *robot)
{
    for (int k = 0; k < robot->n_links; k++) {
        sti_RobotLink *link = &robot->links[k];
        link->has_mass = link->mass > 0; /* before other links join */
        bool welded = !link->joint.floating && link->joint.type == ST_JOINT_FIXED;
        const sti_RobotLink *into = link->parent >= 0 ? &robot->links[robot->links[link->parent].body] : NULL;
        const bool held = into == NULL || is_welded_to_world(into), bare = !held && !(into->mass > 0);
        bool joins = welded && (into == NULL || robot->def.merge || !(link->mass > 0) || bare);
        if (!held && into->mass > 0 && link->mass > 0 && into->gravity != link->gravity) joins = false;
        if (link->kept && link->mass > 0 && link->parent >= 0 && !robot->links[link->parent].world) joins = false;
        joins = joins && !link->led;
        link->body = k;
        if (joins && link->parent >= 0) link->body = robot->links[link->parent].body;
        if (joins && link->body >= 0 && link->body != k) {
            sti_RobotLink *body = &robot->links[link->body];
            if (!(body->mass > 0)) body->gravity = link->gravity;
            sti_join_masses(body, link);
        }
    }
}

/* There is a link between two joints of one MJCF body, and it must have mass. It gets this share of the mass and
 * inertia of the body that it carries, at the same place, so that nothing changes at the start. The share does not
 * follow the later joints: three hinges in place of a ball joint deviate by 1.3 times the share per unit length of
 * travel. Rows are eliminated exactly, so 1e-6 would also solve. */
#define SHARE 1e-5

/* ---- write --------------------------------------------------------------------------------------- */

/* Replaces rounding errors of lengths in metres and of unit vectors by 0, because people read the file. */
static double clean(double x)
{
    return fabs(x) < 4e-16 ? 0 : x;
}

json_t *sti_json_vector(st_Vec3 a)
{
    return json_pack("[f, f, f]", clean(a.x), clean(a.y), clean(a.z));
}

json_t *sti_json_rotation(st_Quat q)
{
    return json_pack("[f, f, f, f]", clean(q.w), clean(q.x), clean(q.y), clean(q.z));
}

static json_t *direction(st_Vec3 a)
{
    double s = 1 / norm(a);
    return sti_json_vector(scale(s, a));
}

static json_t *prefixed(const sti_Robot *robot, const char *name, const char *suffix)
{
    return json_sprintf("%s%s%s", robot->prefix, name, suffix);
}

static json_t *inertia_json(const st_Mat3 *A)
{
    const double *m = A->m;
    bool diagonal = m[1] == 0 && m[2] == 0 && m[5] == 0;
    if (diagonal) return json_pack("[f, f, f]", m[0], m[4], m[8]);
    return json_pack("[[f, f, f], [f, f, f], [f, f, f]]", m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]);
}

/* The list `key` of the scene, created if it is missing. */
static json_t *scene_list(const sti_Robot *robot, const char *key)
{
    json_t *list = json_object_get(robot->reader->root, key);
    if (list != NULL) return list;
    if (json_object_set_new(robot->reader->root, key, json_array()) != 0) return NULL;
    return json_object_get(robot->reader->root, key);
}

/* Takes ownership of `member`. */
static st_Status add_member(sti_Robot *robot, const char *key, json_t *member, const sti_Element *from)
{
    json_t *list = scene_list(robot, key);
    if (list != NULL && !json_is_array(list)) { /* the scene reader reports this error later */
        json_decref(member);
        return ST_OK;
    }
    if (json_array_append_new(list, member) != 0) return sti_robot_memory(robot);
    return sti_origin(robot->reader, member, from);
}

/* Adds position and orientation if they are not 0. */
static json_t *put_pose(json_t *json, st_Vec3 p, st_Quat q)
{
    if (clean(norm(p)) > 0) json = sti_with(json, "position", sti_json_vector(p));
    if (clean(norm(vec3(q.x, q.y, q.z))) > 0) json = sti_with(json, "orientation", sti_json_rotation(q));
    return json;
}

/* A shape has its own name or that of its link: hand, hand.2, hand.3. Names of ground shapes get the robot's prefix,
 * because the ground belongs to the scene. */
static json_t *shape_json(const sti_Robot *robot, const sti_RobotLink *link, int k, const st_Pose *body)
{
    const sti_RobotShape *shape = &link->shapes[k];
    st_Pose world = pose_product(link->pose, shape->pose);
    st_Vec3 position = rotate_back(body->q, sub(world.p, body->p));
    st_Quat q = quat_unit(quat_product(quat_conjugate(body->q), world.q));
    const char *type = json_string_value(json_object_get(shape->json, "type"));
    const char *prefix = link->body < 0 ? robot->prefix : "", *own = shape->name != NULL ? shape->name : link->name;
    json_t *name = json_sprintf("%s%s", prefix, own);
    if (shape->name == NULL && k > 0) {
        json_decref(name);
        name = json_sprintf("%s%s.%d", prefix, own, k + 1);
    }
    json_t *json = sti_with(sti_with(json_object(), "type", json_string(type)), "name", name);
    if (json != NULL && json_object_update_missing(json, shape->json) != 0) {
        json_decref(json);
        return NULL;
    }
    const bool round = strcmp(type, "sphere") == 0 || strcmp(type, "point") == 0;
    json = put_pose(json, position, round ? (st_Quat){1, 0, 0, 0} : q);
    const uint32_t color = shape->color != 0 ? shape->color : link->color;
    if (color != 0) json = sti_with(json, "color", json_sprintf("#%08x", color));
    if (robot->def.material == NULL || json == NULL) return json;
    return sti_with(json, "material", json_string(robot->def.material));
}

/* The name of a link's body. "ground" is the world, or a fixed root that touches nothing. */
static json_t *body_name(const sti_Robot *robot, int link)
{
    int body = link >= 0 ? robot->links[link].body : -1;
    if (body < 0) return json_string("ground");
    return prefixed(robot, robot->links[body].body_name, "");
}

static st_Status write_shapes(sti_Robot *robot, const sti_RobotLink *link, const st_Pose *body, json_t *shapes)
{
    for (int k = 0; k < link->n_shapes && robot->def.contacts; k++) {
        json_t *json = shape_json(robot, link, k, body);
        if (json_array_append_new(shapes, json) != 0) return sti_robot_memory(robot);
        STI_TRY(sti_origin(robot->reader, json, link->shapes[k].at));
        STI_TRY(sti_geom_placed(robot, link->shapes[k].contacting, json, body_name(robot, (int)(link - robot->links))));
    }
    return ST_OK;
}

static st_Status write_ground(sti_Robot *robot)
{
    const st_Pose world = pose_identity();
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        if (link->body >= 0 || link->n_shapes == 0) continue;
        json_t *list = scene_list(robot, "ground");
        if (list == NULL) return sti_robot_memory(robot);
        if (json_is_array(list)) STI_TRY(write_shapes(robot, link, &world, list));
    }
    return ST_OK;
}

static st_Status write_body(sti_Robot *robot, int k)
{
    const sti_RobotLink *link = &robot->links[k];
    bool fixed = is_welded_to_world(link);
    if (!fixed && !(link->mass > 0)) {
        if (link->joint.name == NULL)
            return sti_element_fail(robot->err, link->at,
                                    "has no mass, but is free to move: must have one, or be fixed");
        return sti_element_fail(robot->err, link->at,
                                "has no mass, but moves by joint \"%.60s\": must have one, or be held by a fixed joint",
                                link->joint.name);
    }
    st_Pose pose = {pose_point(link->pose, link->centre), link->pose.q};
    json_t *shapes = json_array();
    st_Status status = shapes != NULL ? ST_OK : sti_robot_memory(robot);
    for (int i = k; i < robot->n_links && status == ST_OK; i++)
        if (robot->links[i].body == k) status = write_shapes(robot, &robot->links[i], &pose, shapes);
    if (status != ST_OK) {
        json_decref(shapes);
        return status;
    }
    json_t *body = sti_with(json_object(), "name", prefixed(robot, link->body_name, ""));
    body = put_pose(body, pose.p, pose.q);
    if (fixed) body = sti_with(body, "fixed", json_true());
    /* also for a link between two joints */
    if (link->carries >= 0 || link->fluid) body = sti_with(body, "medium", json_real(0));
    if (link->gravity != 1 && !fixed) body = sti_with(body, "gravity", json_real(link->gravity));
    if (link->mass > 0) {
        body = sti_with(body, "mass", json_real(link->mass));
        body = sti_with(body, "inertia", inertia_json(&link->inertia));
    }
    if (json_array_size(shapes) > 0)
        body = sti_with(body, "shapes", shapes);
    else
        json_decref(shapes);
    return add_member(robot, "bodies", body, link->at);
}

/* The motor of a joint: the robot's own `motor`, else that of the file, else a force of 0 that a controller can set.
 * start: the file's coordinate where the scene's is 0. */
static json_t *motor_json(const json_t *wanted, const json_t *given, double start, double effort, double effort_mid)
{
    json_t *motor = NULL;
    if (wanted != NULL) {
        motor = json_deep_copy(wanted);
    } else if (given != NULL) {
        motor = json_deep_copy(given);
        const char *type = json_string_value(json_object_get(motor, "type"));
        double target = json_number_value(json_object_get(motor, "target"));
        if (type != NULL && (strcmp(type, "position") == 0 || strcmp(type, "motion") == 0)) {
            static const char *const ends[] = {"lowest", "highest"};
            motor = sti_with(motor, "target", json_real(target - start));
            for (int k = 0; k < 2; k++) {
                const json_t *end = json_object_get(motor, ends[k]);
                if (end != NULL) motor = sti_with(motor, ends[k], json_real(json_number_value(end) - start));
            }
        }
    } else {
        motor = json_pack("{s:s, s:f}", "type", "force", "target", 0.0);
    }
    const char *type = json_string_value(json_object_get(motor, "type"));
    bool limited = type != NULL && strcmp(type, "motion") != 0 && strcmp(type, "none") != 0;
    if (limited && isfinite(effort) && json_object_get(motor, "max_force") == NULL) {
        motor = sti_with(motor, "max_force", json_real(effort));
        if (effort_mid != 0) motor = sti_with(motor, "mid_force", json_real(effort_mid));
    }
    return motor;
}

static json_t *add_number(json_t *object, const char *key, double x, double fallback)
{
    return x != fallback && isfinite(x) ? sti_with(object, key, json_real(x)) : object;
}

/* A point of a link in the frame of its body; for the ground, in the world. */
static st_Vec3 in_body(const sti_Robot *robot, int link, st_Vec3 point)
{
    const st_Vec3 world = pose_point(robot->links[link].pose, point);
    const int body = robot->links[link].body;
    if (body < 0) return world;
    const sti_RobotLink *own = &robot->links[body];
    return rotate_back(own->pose.q, sub(world, pose_point(own->pose, own->centre)));
}

static st_Vec3 turned_to_body(const sti_Robot *robot, int link, st_Vec3 axis)
{
    const int body = robot->links[link].body;
    const st_Vec3 world = rotate(robot->links[link].pose.q, axis);
    return body < 0 ? world : rotate_back(robot->links[body].pose.q, world);
}

static json_t *part_json(const sti_Robot *robot, const sti_RobotPart *part)
{
    json_t *json = json_pack("{s:s}", "type", st_tendon_kind_name(part->kind));
    if (part->kind == ST_TENDON_JOINT) {
        json = sti_with(json, "joint", prefixed(robot, part->joint, ""));
        return sti_with(json, "coefficient", json_real(part->coefficient));
    }
    if (part->kind == ST_TENDON_PULLEY) return sti_with(json, "divisor", json_real(part->coefficient));
    json = sti_with(json, "body", body_name(robot, part->link));
    json = sti_with(json, "point", sti_json_vector(in_body(robot, part->link, part->point)));
    if (part->kind == ST_TENDON_SLIDER) json = sti_with(json, "rod", json_real(part->coefficient));
    if (part->kind == ST_TENDON_CYLINDER || part->kind == ST_TENDON_SLIDER)
        json = sti_with(json, "axis", sti_json_vector(turned_to_body(robot, part->link, part->axis)));
    if (part->kind == ST_TENDON_SPHERE || part->kind == ST_TENDON_CYLINDER)
        json = sti_with(json, "radius", json_real(part->radius));
    if (part->has_side) json = sti_with(json, "side", sti_json_vector(in_body(robot, part->link, part->side)));
    return json;
}

/* A free joint between two points. */
static json_t *free_json(const sti_Robot *robot, const sti_RobotTendon *t)
{
    const sti_RobotLink *a = &robot->links[t->parts[0].link], *b = &robot->links[t->parts[1].link];
    json_t *json = json_pack("{s:s}", "type", "free");
    json = sti_with(json, "a", body_name(robot, t->parts[0].link));
    json = sti_with(json, "b", body_name(robot, t->parts[1].link));
    json = sti_with(json, "point", sti_json_vector(pose_point(a->pose, t->parts[0].point)));
    json = sti_with(json, "point_b", sti_json_vector(pose_point(b->pose, t->parts[1].point)));
    json = sti_with(json, "axis", direction(rotate(a->pose.q, t->parts[0].axis)));
    return sti_with(json, "coordinate", json_string(st_coordinate_name(t->coordinate)));
}

static st_Status write_tendon(sti_Robot *robot, sti_RobotTendon *t)
{
    const bool sum = t->n_parts > 0 && t->parts[0].kind == ST_TENDON_JOINT;
    const bool limited = isfinite(t->lower) || isfinite(t->upper);
    double zero = 0; /* the coordinate of a sum is 0 at the start, in a scene */
    int moving = 0;
    if (!limited && t->stiffness == 0 && t->damping == 0 && t->friction == 0 && t->armature == 0 && !t->driven &&
        !t->measured) {
        sti_skip(robot, "<tendon> that only measures");
        return ST_OK;
    }
    for (int k = 0; k < t->n_parts; k++)
        moving += t->parts[k].kind == ST_TENDON_JOINT || robot->links[t->parts[k].link].body >= 0;
    if (moving == 0) {
        sti_skip(robot, "<tendon> of the ground alone");
        return ST_OK;
    }
    for (int k = 0; k < t->n_parts && sum; k++)
        zero += t->parts[k].coefficient * robot->links[sti_robot_find_joint(robot, t->parts[k].joint)].joint.start;
    if (t->held && t->motor == NULL) { /* its value at the start; for a sum, `zero` */
        double apart = zero, divisor = 1;
        for (int k = 1; k < t->n_parts; k++) {
            const sti_RobotPart *x = &t->parts[k - 1], *y = &t->parts[k];
            if (y->kind == ST_TENDON_PULLEY) divisor = y->coefficient;
            if (x->kind != ST_TENDON_POINT || y->kind != ST_TENDON_POINT) continue;
            const st_Vec3 a = pose_point(robot->links[x->link].pose, x->point);
            apart += norm(sub(pose_point(robot->links[y->link].pose, y->point), a)) / divisor;
        }
        const double wanted = sum ? t->hold : apart + t->hold;
        if (fabs(wanted - apart) > 1e-6)
            STI_TRY(sti_remark(robot, "\"%.60s\" is held at %g, where it is at the start, not at %g", t->name, apart,
                               wanted));
        t->motor = json_pack("{s:s, s:f}", "type", "motion", "target", apart);
        if (t->motor == NULL) return sti_robot_memory(robot);
    }
    json_t *path = json_array(), *json = NULL;
    for (int k = 0; k < t->n_parts; k++)
        path = sti_append_to(path, part_json(robot, &t->parts[k]));
    if (t->coordinate != ST_COORDINATE_DEFAULT) {
        json_decref(path);
        json = free_json(robot, t);
    } else {
        json = sti_with(json_pack("{s:s}", "type", "tendon"), "path", path);
    }
    const bool taken = sti_robot_find_joint(robot, t->name) >= 0;
    json = sti_with(json, "name", prefixed(robot, t->name, taken ? ".tendon" : ""));
    json = add_number(json, "lower", t->lower - zero, -INFINITY);
    json = add_number(json, "upper", t->upper - zero, INFINITY);
    json = add_number(json, "stiffness", t->stiffness, 0);
    json = add_number(json, "damping", t->damping, 0);
    json = add_number(json, "friction", t->friction, 0);
    json = add_number(json, "armature", t->armature, 0);
    if (t->stiffness != 0 && isfinite(t->rest)) json = sti_with(json, "rest", json_real(t->rest - zero));
    if (t->stiffness != 0 && t->slack > 0) json = sti_with(json, "slack", json_real(t->slack));
    if (t->driven) json = sti_with(json, "motor", motor_json(NULL, t->motor, zero, t->effort, t->effort_mid));
    return add_member(robot, "joints", json, t->at);
}

/* A force or torque in the axes that the scene uses for it. */
static json_t *wrench_json(const sti_Robot *robot, const sti_RobotWrench *wrench, st_Vec3 a)
{
    if (wrench->world_axes) return sti_json_vector(rotate(robot->root.q, a));
    return sti_json_vector(turned_to_body(robot, wrench->link, a));
}

static json_t *joint_name(const sti_Robot *robot, const sti_RobotSensor *s)
{
    if (s->joint != NULL) return prefixed(robot, s->joint, "");
    return prefixed(robot, s->tendon, sti_robot_find_joint(robot, s->tendon) >= 0 ? ".tendon" : "");
}

/* The file's value of the coordinate of a joint or sum at the scene's 0. */
static double count_at_start(const sti_Robot *robot, const sti_RobotSensor *s)
{
    double sum = 0;
    if (s->joint != NULL) return robot->links[sti_robot_find_joint(robot, s->joint)].joint.start;
    const sti_RobotTendon *t = &robot->tendons[sti_robot_find_tendon(robot, s->tendon)];
    for (int k = 0; k < t->n_parts && t->parts[k].kind == ST_TENDON_JOINT; k++)
        sum += t->parts[k].coefficient * robot->links[sti_robot_find_joint(robot, t->parts[k].joint)].joint.start;
    return sum;
}

/* A frame of a link in the axes of its body; for the ground, in the world. */
static st_Pose frame_in_body(const sti_Robot *robot, int link, st_Pose pose)
{
    const int body = robot->links[link].body;
    const st_Quat world = quat_product(robot->links[link].pose.q, pose.q);
    const st_Quat q = body < 0 ? world : quat_product(quat_conjugate(robot->links[body].pose.q), world);
    return (st_Pose){in_body(robot, link, pose.p), quat_unit(q)};
}

static json_t *region_json(const st_RegionDef *region, st_Pose pose)
{
    json_t *json = json_pack("{s:s}", "type", st_region_type_name(region->type));
    json = sti_with(json, "position", sti_json_vector(pose.p));
    if (region->type != ST_REGION_SPHERE) json = sti_with(json, "orientation", sti_json_rotation(pose.q));
    if (region->type == ST_REGION_BOX) return sti_with(json, "size", sti_json_vector(scale(2, region->half)));
    json = sti_with(json, "radius", json_real(region->radius));
    return region->type == ST_REGION_CYLINDER ? sti_with(json, "length", json_real(region->length)) : json;
}

static st_Status write_sensor(sti_Robot *robot, const sti_RobotSensor *s)
{
    const sti_RobotLink *link = &robot->links[s->link];
    const bool coordinate = s->joint != NULL || s->tendon != NULL;
    const bool wrench = s->type == ST_MEASURE_FORCE || s->type == ST_MEASURE_TORQUE;
    if (wrench && (link->body != s->link || link->joint.floating || is_welded_to_world(link))) {
        sti_skip(robot, "<force> and <torque> of <sensor> where no joint holds the body");
        return ST_OK;
    }
    json_t *json = json_pack("{s:s}", "type", st_measure_type_name(s->type));
    json = sti_with(json, "name", prefixed(robot, s->name, ""));
    if (coordinate) {
        json = sti_with(json, "joint", joint_name(robot, s));
        json = add_number(json, "factor", s->factor, 1);
        if (s->type == ST_MEASURE_COORDINATE)
            json = add_number(json, "offset", s->factor * count_at_start(robot, s), 0);
    } else if (s->type != ST_MEASURE_TIME && s->type != ST_MEASURE_ENERGY) {
        const st_Pose frame = frame_in_body(robot, s->link, s->pose);
        json = sti_with(json, "body", body_name(robot, s->link));
        if (s->type == ST_MEASURE_TOUCH) {
            json = sti_with(json, "region", region_json(&s->region, frame));
        } else if (s->type < ST_MEASURE_CENTRE) {
            if (clean(norm(frame.p)) > 0) json = sti_with(json, "point", sti_json_vector(frame.p));
            if (clean(norm(vec3(frame.q.x, frame.q.y, frame.q.z))) > 0)
                json = sti_with(json, "orientation", sti_json_rotation(frame.q));
            if (s->own_axes) json = sti_with(json, "axes", json_string("body"));
        }
        if (s->relative) {
            const st_Pose to = frame_in_body(robot, s->reference, s->reference_pose);
            json = sti_with(json, "reference", body_name(robot, s->reference));
            json = sti_with(json, "reference_point", sti_json_vector(to.p));
            json = sti_with(json, "reference_orientation", sti_json_rotation(to.q));
        }
    }
    return add_member(robot, "measures", json, s->at);
}

static st_Status write_key(sti_Robot *robot, const sti_RobotKey *key)
{
    json_t *bodies = json_array(), *motors = json_array(), *forces = json_array();
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        const sti_RobotState *s = &key->state[k];
        if (link->body != k || (is_welded_to_world(link) && !(link->led && key->mocap))) continue;
        const st_Vec3 arm = rotate(s->pose.q, link->centre), v = add(s->velocity, cross(s->spin, arm));
        json_t *json = sti_with(json_object(), "body", body_name(robot, k));
        json = put_pose(json, add(s->pose.p, arm), s->pose.q);
        if (norm(v) > 0) json = sti_with(json, "velocity", sti_json_vector(v));
        if (norm(s->spin) > 0)
            json = sti_with(json, "angular_velocity", sti_json_vector(rotate_back(s->pose.q, s->spin)));
        bodies = sti_append_to(bodies, json);
    }
    for (int k = 0; k < key->n_controls && json_object_get(robot->entry, "motor") == NULL; k++) {
        const sti_RobotControl *control = &robot->controls[k];
        if (isnan(key->control[k]) || (control->joint == NULL && control->tendon == NULL)) continue;
        const sti_RobotSensor like = {.joint = control->joint, .tendon = control->tendon};
        const double u = fmin(fmax(key->control[k], control->low), control->high);
        const double wanted = control->offset + control->factor * u;
        json_t *json = sti_with(json_object(), "joint", joint_name(robot, &like));
        const double start = control->position ? count_at_start(robot, &like) : 0;
        motors = sti_append_to(motors, sti_with(json, "target", json_real(wanted - start)));
    }
    for (int k = 0; k < key->n_controls; k++) {
        const sti_RobotControl *control = &robot->controls[k];
        if (isnan(key->control[k]) || control->wrench == 0) continue;
        const sti_RobotWrench *wrench = &robot->wrenches[control->wrench - 1];
        const double u = fmin(fmax(key->control[k], control->low), control->high);
        const double value = fmin(fmax(control->offset + control->factor * u, control->least), control->most);
        if (robot->links[wrench->link].body < 0) continue;
        json_t *json = sti_with(json_object(), "name", prefixed(robot, wrench->name, ""));
        json = sti_with(json, "force", wrench_json(robot, wrench, scale(value, control->force)));
        json = sti_with(json, "torque", wrench_json(robot, wrench, scale(value, control->torque)));
        forces = sti_append_to(forces, json);
    }
    json_t *json = sti_with(json_object(), "name", prefixed(robot, key->name, ""));
    json = add_number(json, "time", key->t, 0);
    json = sti_with(json, "bodies", bodies);
    if (json_array_size(motors) > 0)
        json = sti_with(json, "motors", motors);
    else
        json_decref(motors);
    if (json_array_size(forces) > 0)
        json = sti_with(json, "forces", forces);
    else
        json_decref(forces);
    return add_member(robot, "keyframes", json, key->at);
}

static st_Status write_apart(sti_Robot *robot, int a, int b, const sti_Element *from)
{
    int body_a = a >= 0 ? robot->links[a].body : -1, body_b = b >= 0 ? robot->links[b].body : -1;
    if (body_a == body_b) return ST_OK;
    json_t *pair = sti_append_to(json_array(), body_name(robot, a));
    return add_member(robot, "exclude", sti_append_to(pair, body_name(robot, b)), from);
}

/* Does a joint of the tree lead from body b up to body a? */
static bool joined(const sti_Robot *robot, int a, int b)
{
    const sti_RobotLink *link = &robot->links[b];
    return link->parent >= 0 && !link->joint.floating && robot->links[link->parent].body == a;
}

/* The pose of a link as drawn in the file. */
static st_Pose drawn_pose(const sti_Robot *robot, int link)
{
    st_Pose pose = pose_identity();
    for (int k = link; k >= 0; k = robot->links[k].parent)
        pose = pose_product(robot->links[k].pose, pose);
    return pose_product(robot->root, pose);
}

static st_Status write_tie(sti_Robot *robot, const sti_RobotTie *tie)
{
    const st_Pose a = tie->links.a >= 0 ? robot->links[tie->links.a].pose : robot->root;
    const st_Pose b = robot->links[tie->links.b].pose;
    const st_Vec3 p_a = pose_point(a, tie->point), p_b = pose_point(b, tie->point_b);
    if (robot->links[tie->links.a].body == robot->links[tie->links.b].body) return ST_OK;
    const st_Quat turn = quat_product(a.q, tie->turn), turn_b = quat_product(b.q, tie->turn_b);
    const st_Quat between = quat_product(quat_conjugate(turn), turn_b);
    const bool turned = tie->two_frames && norm(vec3(between.x, between.y, between.z)) > 1e-6;
    const bool apart = tie->two_points && norm(sub(p_a, p_b)) > 1e-6;
    if (turned || (apart && (tie->type == ST_JOINT_BALL || tie->two_frames))) {
        /* Two points that are apart at the start are pulled together as by MuJoCo's constraint, with a time constant
         * of 0.02 s and critical damping. Two frames are pulled together by three points of each. */
        const int bodies[2] = {robot->links[tie->links.a].body, robot->links[tie->links.b].body};
        const int n = tie->two_frames ? 3 : 1;
        double mass = INFINITY, arm = 0;
        for (int k = 0; k < 2; k++) {
            const sti_RobotLink *body = bodies[k] >= 0 ? &robot->links[bodies[k]] : NULL;
            if (body == NULL || !(body->mass > 0 && body->mass < mass)) continue;
            mass = body->mass;
            arm = sqrt((body->inertia.m[0] + body->inertia.m[4] + body->inertia.m[8]) / (3 * mass));
        }
        if (isinf(mass)) return ST_OK;
        STI_TRY(sti_remark(robot, "the %s that \"%.60s\" holds together are %.2g m%s apart at the start: %s",
                           n > 1 ? "frames" : "points", tie->name, norm(sub(p_a, p_b)), turned ? " and an angle" : "",
                           n > 1 ? "springs pull them" : "a spring pulls them"));
        for (int k = 0; k < n; k++) {
            const st_Vec3 out =
                n > 1 ? scale(arm, vec3(cos(2 * STI_PI * k / 3), sin(2 * STI_PI * k / 3), 0)) : vec3(0, 0, 0);
            char suffix[16] = "";
            if (k > 0) snprintf(suffix, sizeof suffix, ".%d", k + 1);
            json_t *json = sti_with(json_object(), "name", prefixed(robot, tie->name, suffix));
            json = sti_with(json, "a", body_name(robot, tie->links.a));
            json = sti_with(json, "b", body_name(robot, tie->links.b));
            json = sti_with(json, "point_a", sti_json_vector(add(p_a, rotate(turn, out))));
            json = sti_with(json, "point_b", sti_json_vector(add(p_b, rotate(turn_b, out))));
            json = sti_with(json, "stiffness", json_real(mass / (0.02 * 0.02) / n));
            json = sti_with(json, "damping", json_real(2 * mass / 0.02 / n));
            json = sti_with(json, "rest", json_real(0));
            STI_TRY(add_member(robot, "springs", json, tie->links.at));
        }
        return ST_OK;
    }
    json_t *json = sti_with(json_object(), "type", json_string(st_joint_type_name(tie->type)));
    json = sti_with(json, "name", prefixed(robot, tie->name, ""));
    json = sti_with(json, "a", body_name(robot, tie->links.a));
    json = sti_with(json, "b", body_name(robot, tie->links.b));
    json = sti_with(json, "point", sti_json_vector(pose_point(a, tie->point)));
    if (tie->type != ST_JOINT_FIXED && tie->type != ST_JOINT_BALL)
        json = sti_with(json, "axis", direction(rotate(a.q, tie->axis)));
    if (tie->type == ST_JOINT_UNIVERSAL) json = sti_with(json, "axis_b", direction(rotate(a.q, tie->axis_b)));
    return add_member(robot, "joints", json, tie->links.at);
}

/* A scene must have something that can move. If the file has nothing, a body without shapes is added, which could
 * turn about one axis but stays at rest. */
static st_Status write_still(sti_Robot *robot)
{
    const json_t *bodies = json_object_get(robot->reader->root, "bodies");
    if (!robot->reader->xml) return ST_OK;
    for (size_t k = 0; k < json_array_size(bodies); k++)
        if (!json_is_true(json_object_get(json_array_get(bodies, k), "fixed"))) return ST_OK;
    json_t *body = json_pack("{s:s, s:f, s:f, s:[s, s, s, s, s]}", "name", "still", "mass", 1.0, "inertia", 1.0,
                             "locks", "x", "y", "z", "ry", "rz");
    STI_TRY(sti_remark(
        robot, "nothing in it can move; the body \"still\" was added, because a scene needs a body that can move"));
    return add_member(robot, "bodies", body, robot->links[0].at);
}

st_Status sti_robot_assemble(sti_Robot *robot)
{
    sti_Place list = {NULL, "robots", 0}, place = {&list, NULL, robot->index};
    STI_TRY(read_positions(robot, &place));
    for (int k = 0; k < robot->n_links; k++)
        STI_TRY(default_start(robot, &robot->links[k].joint));
    for (int k = 0; k < robot->n_links; k++)
        STI_TRY(follow(robot, &robot->links[k].joint, 16));
    /* The point of b that a tie holds, as drawn, before joints are moved to their starts. */
    for (int k = 0; k < robot->n_ties; k++) {
        sti_RobotTie *tie = &robot->ties[k];
        if (tie->two_points) continue;
        const st_Pose a = drawn_pose(robot, tie->links.a), b = drawn_pose(robot, tie->links.b);
        tie->point_b = rotate_back(b.q, sub(pose_point(a, tie->point), b.p));
    }
    for (int k = 0; k < robot->n_keys; k++)
        place_key(robot, robot->keys[k].state);

    for (int k = 0; k < robot->n_links; k++) {
        sti_RobotLink *link = &robot->links[k];
        st_Pose drawn = pose_product(link->parent >= 0 ? robot->links[link->parent].pose : robot->root, link->pose);
        link->pose = pose_product(drawn, motion(&link->joint, link->joint.start - link->joint.zero));
        link->pose.q = quat_unit(link->pose.q);
    }
    merge(robot);

    int n = 0;
    for (int k = 0; k < robot->n_links; k++) {
        sti_RobotLink *link = &robot->links[k];
        if (link->carries < 0) continue;
        const sti_RobotLink *whole = &robot->links[link->carries];
        const st_Quat turn = quat_product(quat_conjugate(link->pose.q), whole->pose.q);
        link->mass = SHARE * whole->mass;
        link->centre = rotate_back(link->pose.q, sub(pose_point(whole->pose, whole->centre), link->pose.p));
        link->inertia = sti_inertia_turned(turn, &whole->inertia);
        for (int i = 0; i < 9; i++)
            link->inertia.m[i] *= SHARE;
        n++;
    }
    for (int k = 0; k < robot->n_links; k++) {
        sti_RobotLink *whole = &robot->links[k];
        int shares = 0;
        /* these links are just before it in the list */
        for (int i = k - 1; i >= 0 && robot->links[i].carries == k; i--)
            shares++;
        whole->mass *= 1 - SHARE * shares;
        for (int i = 0; shares > 0 && i < 9; i++)
            whole->inertia.m[i] *= 1 - SHARE * shares;
    }
    if (n != 0) {
        STI_TRY(sti_remark(robot,
                           "%d joint%s not the last of %s body: an additional body is between the joints, with %g of "
                           "the mass, taken from the body",
                           n, n > 1 ? "s are" : " is", n > 1 ? "their" : "its", SHARE));
    }
    /* A frame without mass and shapes gives its body no name if another link can: base_footprint becomes base_link. */
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        sti_RobotLink *body = &robot->links[link->body];
        if (link->n_shapes > 0) body->touches = true;
        if (body->body_name == NULL && (link->n_shapes > 0 || link->has_mass)) body->body_name = link->name;
    }
    for (int k = 0; k < robot->n_links; k++)
        if (robot->links[k].body_name == NULL) robot->links[k].body_name = robot->links[k].name;

    /* The world, and a fixed root that touches nothing, become the ground. */
    for (int k = 0; k < robot->n_links; k++) {
        if (robot->links[k].body != k || !is_welded_to_world(&robot->links[k])) continue;
        if ((robot->links[k].touches || robot->links[k].led) && !robot->links[k].world) continue;
        for (int i = k; i < robot->n_links; i++)
            if (robot->links[i].body == k) robot->links[i].body = -1;
    }
    STI_TRY(write_ground(robot));
    for (int k = 0; k < robot->n_links; k++)
        if (robot->links[k].body == k) {
            STI_TRY(write_body(robot, k));
            /* The links of one tree are consecutive; those directly below the world start trees of their own. */
            sti_Reader *reader = robot->reader;
            char name[400];
            int top = k;
            if (robot->def.self_collision && !robot->def.overlaps) {
                while (robot->links[top].parent >= 0 && !robot->links[robot->links[top].parent].world)
                    top = robot->links[top].parent;
                if (reader->n_robot_bodies == reader->robot_bodies_room) {
                    const size_t room = 2 * reader->robot_bodies_room + 32;
                    sti_RobotBody *grown = realloc(reader->robot_bodies, room * sizeof *grown);
                    if (grown == NULL) return sti_robot_memory(robot);
                    reader->robot_bodies = grown;
                    reader->robot_bodies_room = room;
                }
                snprintf(name, sizeof name, "%s%.250s", robot->prefix, robot->links[k].body_name);
                const char *kept = sti_xml_keep_text(robot->files, name);
                if (kept == NULL) return sti_robot_memory(robot);
                reader->robot_bodies[reader->n_robot_bodies++] =
                    (sti_RobotBody){kept, robot->file, reader->n_trees + top};
            }
        }
    STI_TRY(write_still(robot));
    robot->reader->n_trees += robot->n_links;
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        const bool moves = !link->joint.floating && link->joint.type != ST_JOINT_FIXED;
        bool kept = moves || (link->body == k && !link->joint.floating && !is_welded_to_world(link));
        if (kept) {
            const sti_RobotJoint *j = &link->joint;
            const char *word = st_joint_type_name(j->type);
            json_t *json = sti_with(json_object(), "type", json_string(word));
            json = sti_with(json, "name", prefixed(robot, j->name != NULL ? j->name : link->name, ""));
            json = sti_with(json, "a", body_name(robot, link->parent));
            json = sti_with(json, "b", body_name(robot, (int)(link - robot->links)));
            json = sti_with(json, "point", sti_json_vector(pose_point(link->pose, j->point)));
            if (j->type != ST_JOINT_FIXED && (j->type != ST_JOINT_BALL || isfinite(j->upper)))
                json = sti_with(json, "axis", direction(rotate(link->pose.q, j->axis)));
            if (j->type == ST_JOINT_UNIVERSAL)
                json = sti_with(json, "axis_b", direction(rotate(link->pose.q, j->axis_b)));
            if (j->type == ST_JOINT_SCREW) json = sti_with(json, "pitch", json_real(j->pitch));
            if (j->coordinate != ST_COORDINATE_DEFAULT)
                json = sti_with(json, "coordinate", json_string(st_coordinate_name(j->coordinate)));
            json = add_number(json, "lower", j->lower - j->start, -INFINITY);
            json = add_number(json, "upper", j->upper - j->start, INFINITY);
            json = add_number(json, "other_lower", j->other_lower, -INFINITY);
            json = add_number(json, "other_upper", j->other_upper, INFINITY);
            bool ball = j->type == ST_JOINT_BALL;
            json = add_number(json, "damping", ball ? 0 : j->damping, 0);
            json = add_number(json, "friction", j->friction, 0);
            json = add_number(json, "armature", j->armature, 0);
            json = add_number(json, "stiffness", ball ? 0 : j->stiffness, 0);
            if (j->stiffness != 0 && !ball) json = sti_with(json, "rest", json_real(j->rest - j->start));
            if (j->driven && !j->damper_only && (j->mimics == NULL || j->actuated))
                json = sti_with(
                    json, "motor",
                    motor_json(json_object_get(robot->entry, "motor"), j->motor, j->start, j->effort, j->effort_mid));
            if (j->collide) json = sti_with(json, "collide", json_true());
            STI_TRY(add_member(robot, "joints", json, j->at));
        }
        bool sprung = link->joint.stiffness != 0 || link->joint.damping != 0;
        if (((kept && link->joint.type == ST_JOINT_BALL) || link->joint.floating) && sprung) {
            /* Springs and dampers of a ball joint act on all three rotations: they become a bushing next to the
             * joint. Those of a free body act on all six directions: a bushing between it and the ground. */
            const sti_RobotJoint *j = &link->joint;
            json_t *json = json_pack("{s:s}", "type", "bushing");
            json = sti_with(json, "name", prefixed(robot, j->name != NULL ? j->name : link->name, ".bushing"));
            json = sti_with(json, "a", body_name(robot, link->parent));
            json = sti_with(json, "b", body_name(robot, (int)(link - robot->links)));
            json = sti_with(json, "point", sti_json_vector(pose_point(link->pose, j->point)));
            if (j->floating) {
                json = sti_with(json, "stiffness", sti_json_vector(vec3(j->stiffness, j->stiffness, j->stiffness)));
                json = sti_with(json, "damping", sti_json_vector(vec3(j->damping, j->damping, j->damping)));
            }
            json = sti_with(json, "angular_stiffness", sti_json_vector(vec3(j->stiffness, j->stiffness, j->stiffness)));
            json = sti_with(json, "angular_damping", sti_json_vector(vec3(j->damping, j->damping, j->damping)));
            STI_TRY(add_member(robot, "springs", json, j->at));
        }
    }
    for (int k = 0; k < robot->n_links; k++)
        if (robot->links[k].joint.mimics != NULL) {
            json_t *json = json_pack("{s:s}", "type", "gear");
            json = sti_with(json, "name", prefixed(robot, robot->links[k].joint.name, ".mimic"));
            json = sti_with(json, "joint_a", prefixed(robot, robot->links[k].joint.name, ""));
            json = sti_with(json, "joint_b", prefixed(robot, robot->links[k].joint.mimics, ""));
            json = sti_with(json, "ratio", json_real(robot->links[k].joint.ratio));
            const st_Vec3 curve = vec3_load(robot->links[k].joint.curve);
            if (norm(curve) > 0) json = sti_with(json, "curve", sti_json_vector(curve));
            STI_TRY(add_member(robot, "joints", json, robot->links[k].joint.at));
        }
    for (int k = 0; k < robot->n_tendons; k++)
        STI_TRY(write_tendon(robot, &robot->tendons[k]));
    for (int k = 0; k < robot->n_wrenches; k++) {
        if (robot->links[robot->wrenches[k].link].body >= 0) {
            json_t *json = sti_with(json_object(), "name", prefixed(robot, robot->wrenches[k].name, ""));
            json = sti_with(json, "body", body_name(robot, robot->wrenches[k].link));
            json = sti_with(json, "point",
                            sti_json_vector(in_body(robot, robot->wrenches[k].link, robot->wrenches[k].point)));
            const sti_RobotWrench *wrench = &robot->wrenches[k];
            json = sti_with(json, "force", wrench_json(robot, wrench, wrench->force));
            json = sti_with(json, "torque", wrench_json(robot, wrench, wrench->torque));
            static const char *const fluid[] = {"blunt_drag", "slender_drag", "angular_drag", "kutta_lift",
                                                "magnus_lift"};
            if (wrench->adhesion) json = sti_with(json, "adhesion", json_true());
            if (norm(wrench->ellipsoid) > 0) {
                const st_Pose frame = frame_in_body(robot, wrench->link, (st_Pose){wrench->point, wrench->orientation});
                json = sti_with(json, "ellipsoid", sti_json_vector(wrench->ellipsoid));
                json = sti_with(json, "orientation", sti_json_rotation(frame.q));
                for (int i = 0; i < 5; i++)
                    json = sti_with(json, fluid[i], json_real(wrench->fluid[i]));
            }
            if (!wrench->world_axes) json = sti_with(json, "axes", json_string("body"));
            STI_TRY(add_member(robot, "forces", json, wrench->at));
        }
    }
    for (int k = 0; k < robot->n_ties; k++)
        STI_TRY(write_tie(robot, &robot->ties[k]));
    for (int k = 0; k < robot->n_sensors; k++)
        STI_TRY(write_sensor(robot, &robot->sensors[k]));
    for (int k = 0; k < robot->n_keys; k++)
        STI_TRY(write_key(robot, &robot->keys[k]));
    for (int k = 0; k < robot->n_apart; k++)
        STI_TRY(write_apart(robot, robot->apart[k].a, robot->apart[k].b, robot->apart[k].at));
    if (robot->def.self_collision) return ST_OK;
    for (int b = 0; b < robot->n_links; b++)
        for (int a = 0; a < b; a++) {
            bool bodies = robot->links[a].body == a && robot->links[b].body == b;
            if (!bodies || joined(robot, a, b) || !robot->links[a].touches || !robot->links[b].touches) continue;
            STI_TRY(write_apart(robot, a, b, robot->links[b].at));
        }
    return ST_OK;
}
