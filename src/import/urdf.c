/* import/urdf.c -- the Unified Robot Description Format, as used by ROS (wiki.ros.org/urdf/XML).
 *
 * <robot> holds <link>s and <joint>s. A joint's frame is that of its child: <origin> places it in the parent's frame,
 * rpy being roll, pitch, yaw about the parent's fixed axes; <axis> is in the joint's own frame. Links form a tree. */
#include "import/robot.h"
#include "import/xacro.h"
#include "math/quat.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- values -------------------------------------------------------------------------------------- */

/* Is it this element, with or without the prefix of Drake? */
static bool is_element(const sti_Element *at, const char *name)
{
    return strcmp(strncmp(at->name, "drake:", 6) == 0 ? at->name + 6 : at->name, name) == 0;
}

/* Reads <origin xyz rpy> of an element; each is 0 if left out. */
static st_Status read_origin(sti_Robot *robot, const sti_Element *element, st_Pose *out)
{
    const sti_Element *origin = sti_child(element, "origin");
    double p[3] = {0}, rpy[3] = {0};
    *out = pose_identity();
    if (origin == NULL) return ST_OK;
    STI_TRY(sti_numbers(robot->err, origin, "xyz", 3, false, p));
    STI_TRY(sti_numbers(robot->err, origin, "rpy", 3, false, rpy));
    *out = (st_Pose){vec3_load(p), sti_quat_rpy(rpy[0], rpy[1], rpy[2])};
    return ST_OK;
}

/* Reads a number of an element, > 0 or >= 0. */
static st_Status read_size(sti_Robot *robot, const sti_Element *element, const char *name, bool zero, double *out)
{
    STI_TRY(sti_numbers(robot->err, element, name, 1, true, out));
    if (*out > 0 || (zero && *out == 0)) return ST_OK;
    return sti_element_fail(robot->err, element, "%s is %g, must be %s 0", name, *out, zero ? ">=" : ">");
}

static st_Status read_text(sti_Robot *robot, const sti_Element *element, const char *name, const char **out)
{
    *out = sti_attribute(element, name);
    if (*out != NULL && (*out)[0] != '\0') return ST_OK;
    return sti_element_fail(robot->err, element, "%s is missing, must be a name", name);
}

/* Checks the children of an element. Unknown ones are listed in the remarks; a name close to a known one is an
 * error. */
static st_Status check_children(sti_Robot *robot, const sti_Element *element, const char *const *known,
                                const char *const *passed)
{
    for (const sti_Element *child = element->first; child != NULL; child = child->next) {
        sti_Nearest nearest = {.word = child->name};
        bool found = false;
        for (int k = 0; known[k] != NULL && !found; k++) {
            found = sti_element_is(child, known[k]);
            sti_nearest_try(&nearest, known[k]);
        }
        if (found) continue;
        for (int k = 0; passed[k] != NULL && !found; k++)
            found = sti_element_is(child, passed[k]);
        if (!found && nearest.best != NULL && strchr(child->name, ':') == NULL)
            return sti_element_fail(robot->err, child, "is not an element of URDF; did you mean <%s>?", nearest.best);
        char what[80];
        snprintf(what, sizeof what, "<%.60s>", child->name);
        const char *kept = sti_xml_keep_text(robot->files, what);
        if (kept == NULL) return sti_robot_memory(robot);
        sti_skip(robot, kept);
    }
    return ST_OK;
}

/* ---- links --------------------------------------------------------------------------------------- */

#define THIN 1e-3 /* thickness of shapes that have none, as a part of the longest side */
#define BALL 0.05 /* [m]: radius of the ball whose inertia is used if the file gives none */

static st_Status read_inertial(sti_Robot *robot, sti_RobotLink *link, const sti_Element *inertial)
{
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    const sti_Element *mass = sti_child(inertial, "mass"), *inertia = sti_child(inertial, "inertia");
    st_Pose frame;
    double value[6] = {0};
    STI_TRY(check_children(robot, inertial, (const char *const[]){"origin", "mass", "inertia", NULL},
                           (const char *const[]){NULL}));
    if (mass == NULL) return sti_element_fail(robot->err, inertial, "has no <mass>, must have one");
    STI_TRY(read_origin(robot, inertial, &frame));
    STI_TRY(read_size(robot, mass, "value", true, &link->mass));
    for (int k = 0; k < 6 && inertia != NULL; k++)
        STI_TRY(sti_numbers(robot->err, inertia, names[k], 1, k == 0 || k == 3 || k == 5, &value[k]));
    if (link->mass > 0 && value[0] == 0 && value[3] == 0 && value[5] == 0 && value[1] == 0 && value[2] == 0 &&
        value[4] == 0) {
        value[0] = value[3] = value[5] = 0.4 * link->mass * BALL * BALL;
        STI_TRY(sti_remark(robot, "link \"%.60s\" has a mass and no inertia: it gets the inertia of a ball of %g m",
                           link->name, BALL));
    }
    st_Mat3 I = {{value[0], value[1], value[2], value[1], value[3], value[4], value[2], value[4], value[5]}};
    link->centre = frame.p;
    link->inertia = sti_inertia_turned(frame.q, &I);
    return sti_mend_inertia(robot, link);
}

/* turn: rotation of our shape in the frame of the file's shape. */
static st_Status geometry_json(sti_Robot *robot, const sti_Element *form, st_Quat *turn, json_t **out)
{
    double size[3] = {1, 1, 1}, radius = 0, length = 0;
    if (sti_element_is(form, "box")) {
        STI_TRY(sti_numbers(robot->err, form, "size", 3, true, size));
        const double longest = fmax(size[0], fmax(size[1], size[2]));
        for (int k = 0; k < 3; k++) {
            if (!(size[k] >= 0) || longest == 0)
                return sti_element_fail(robot->err, form, "size has %g, must be three numbers > 0", size[k]);
            if (size[k] > 0) continue;
            size[k] = THIN * longest;
            STI_TRY(sti_remark(robot, "a box without thickness is a thousandth of its longest side thick"));
        }
        *out = json_pack("{s:s, s:[f, f, f]}", "type", "box", "size", size[0], size[1], size[2]);
    } else if (sti_element_is(form, "sphere")) {
        STI_TRY(read_size(robot, form, "radius", true, &radius));
        *out = radius > 0 ? json_pack("{s:s, s:f}", "type", "sphere", "radius", radius)
                          : json_pack("{s:s}", "type", "point");
    } else if (is_element(form, "ellipsoid")) {
        static const char *const axes[] = {"a", "b", "c"};
        for (int k = 0; k < 3; k++)
            STI_TRY(read_size(robot, form, axes[k], false, &size[k]));
        *out = json_pack("{s:s, s:[f, f, f]}", "type", "ellipsoid", "size", 2 * size[0], 2 * size[1], 2 * size[2]);
    } else if (sti_element_is(form, "cylinder") || is_element(form, "capsule")) {
        STI_TRY(read_size(robot, form, "radius", false, &radius));
        STI_TRY(read_size(robot, form, "length", true, &length));
        const bool capsule = is_element(form, "capsule");
        if (length == 0 && capsule) { /* a sphere */
            *out = json_pack("{s:s, s:f}", "type", "sphere", "radius", radius);
            return *out != NULL ? ST_OK : sti_robot_memory(robot);
        }
        if (length == 0) {
            length = THIN * radius;
            STI_TRY(sti_remark(robot, "a cylinder without length is a thousandth of its radius long"));
        }
        *out =
            json_pack("{s:s, s:f, s:f}", "type", capsule ? "capsule" : "cylinder", "radius", radius, "length", length);
    } else if (sti_element_is(form, "plane")) { /* Bullet's; the scene refuses one that moves */
        double normal[3] = {0, 0, 1};
        STI_TRY(sti_numbers(robot->err, form, "normal", 3, false, normal));
        if (!(norm(vec3_load(normal)) > 0))
            return sti_element_fail(robot->err, form, "normal is 0 0 0, must have a direction");
        *out = json_pack("{s:s}", "type", "plane");
        *turn = quat_between(vec3(0, 0, 1), scale(1 / norm(vec3_load(normal)), vec3_load(normal)));
    } else if (sti_element_is(form, "mesh")) {
        const char *file;
        STI_TRY(read_text(robot, form, "filename", &file));
        int n = 3;
        if (sti_attribute(form, "scale") != NULL) STI_TRY(sti_some_numbers(robot->err, form, "scale", 1, 3, &n, size));
        if (n == 2) return sti_element_fail(robot->err, form, "scale has 2 numbers, must have 3 or 1");
        if (n == 1) size[1] = size[2] = size[0];
        return sti_robot_mesh(robot, form, file, size, out);
    } else {
        return sti_element_fail(robot->err, form, "is no shape, must be box, cylinder, sphere, capsule, mesh or plane");
    }
    return *out != NULL ? ST_OK : sti_robot_memory(robot);
}

static st_Status read_collision(sti_Robot *robot, sti_RobotLink *link, const sti_Element *collision)
{
    const sti_Element *geometry = sti_child(collision, "geometry");
    st_Pose pose;
    json_t *json = NULL;
    STI_TRY(check_children(robot, collision, (const char *const[]){"origin", "geometry", NULL},
                           (const char *const[]){"verbose", "material", NULL}));
    if (geometry == NULL || geometry->first == NULL)
        return sti_element_fail(robot->err, collision, "has no <geometry> with a shape in it, must have one");
    if (geometry->first->next != NULL)
        return sti_element_fail(robot->err, geometry, "has several shapes, must have one; give several <collision>s");
    STI_TRY(read_origin(robot, collision, &pose));
    st_Quat turn = pose_identity().q;
    const st_Status status = geometry_json(robot, geometry->first, &turn, &json);
    if (status == ST_ERR_FORMAT && sti_element_is(geometry->first, "mesh") && sti_robot_ignores(robot, "mesh")) {
        sti_skip(robot, "<mesh> that could not be found");
        return ST_OK;
    }
    STI_TRY(status);
    const char *concave = sti_attribute(collision, "concave"); /* Bullet's: the surface itself, not its hull */
    if (concave == NULL) concave = sti_attribute(link->at, "concave");
    if (concave != NULL && strcmp(concave, "yes") == 0 && sti_element_is(geometry->first, "mesh"))
        json = sti_with(json, "type", json_string("mesh"));
    pose.q = quat_product(pose.q, turn);
    return sti_robot_shape(robot, link, collision, pose, json);
}

static st_Status read_link(sti_Robot *robot, sti_RobotLink *link)
{
    static const char *const known[] = {"inertial", "collision", "visual", NULL};
    static const char *const passed[] = {"sensor", "contact", "self_collision_checking", "gravity", NULL};
    const sti_Element *inertial = NULL;
    STI_TRY(check_children(robot, link->at, known, passed));
    for (const sti_Element *child = link->at->first; child != NULL; child = child->next) {
        if (sti_element_is(child, "visual")) {
            sti_skip(robot, "<visual>");
            if (link->color == 0) link->color = sti_urdf_color(link->at->up, child);
        }
        if (sti_element_is(child, "collision")) STI_TRY(sti_note_problem(robot, read_collision(robot, link, child)));
        if (!sti_element_is(child, "inertial")) continue;
        if (inertial != NULL) return sti_element_fail(robot->err, child, "is the second one, must be at most one");
        inertial = child;
        STI_TRY(sti_note_problem(robot, read_inertial(robot, link, inertial)));
    }
    return ST_OK;
}

/* ---- joints -------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    st_JointType type;
    bool axis, limits; /* limits: <limit> is required */
} types[] = {
    {"fixed", ST_JOINT_FIXED, false, false},         {"revolute", ST_JOINT_REVOLUTE, true, true},
    {"continuous", ST_JOINT_REVOLUTE, true, false},  {"prismatic", ST_JOINT_PRISMATIC, true, true},
    {"planar", ST_JOINT_PLANAR, true, false},        {"floating", ST_JOINT_FREE, false, false},
    {"spherical", ST_JOINT_BALL, false, false},      {"ball", ST_JOINT_BALL, false, false}, /* from Bullet and Drake */
    {"universal", ST_JOINT_UNIVERSAL, false, false},
};
#define N_TYPES ((int)(sizeof types / sizeof types[0]))

static st_Status read_type(sti_Robot *robot, const sti_Element *at, int *out)
{
    const char *word;
    STI_TRY(read_text(robot, at, "type", &word));
    sti_Nearest nearest = {.word = word};
    for (*out = 0; *out < N_TYPES; ++*out) {
        if (strcmp(word, types[*out].word) == 0) return ST_OK;
        sti_nearest_try(&nearest, types[*out].word);
    }
    char text[200];
    sti_nearest_text(&nearest, "must be one of", text, sizeof text);
    return sti_element_fail(robot->err, at, "type is \"%.40s\"%s", word, text);
}

/* Makes a joint fixed at coordinate x. */
static st_Status lock_joint(sti_Robot *robot, sti_RobotLink *link, double x)
{
    sti_RobotJoint *joint = &link->joint;
    const st_Vec3 step = scale(x / norm(joint->axis), joint->axis);
    const bool turns = joint->type == ST_JOINT_REVOLUTE;
    const st_Pose moved = {turns ? vec3(0, 0, 0) : step, turns ? quat_exp(step) : pose_identity().q};
    link->pose = pose_product(link->pose, moved);
    joint->type = ST_JOINT_FIXED;
    joint->driven = false;
    joint->mimics = NULL;
    return sti_remark(robot, "joint \"%.60s\" cannot move: it is fixed at %g", joint->name, x);
}

/* Reads a number; inf means none. */
static st_Status read_bound(const sti_Robot *robot, const sti_Element *at, const char *name, double *out)
{
    const char *text = sti_attribute(at, name);
    const bool negative = text != NULL && text[0] == '-';
    if (text != NULL && (strncasecmp(text + negative, "inf", 3) == 0 || strncasecmp(text + negative, "+inf", 4) == 0)) {
        *out = negative ? -INFINITY : INFINITY;
        return ST_OK;
    }
    return sti_numbers(robot->err, at, name, 1, false, out);
}

static st_Status read_limit(sti_Robot *robot, sti_RobotLink *child, const sti_Element *limit, bool bounds)
{
    sti_RobotJoint *joint = &child->joint;
    double lower = 0, upper = 0, effort = 0;
    STI_TRY(read_bound(robot, limit, "lower", &lower));
    STI_TRY(read_bound(robot, limit, "upper", &upper));
    STI_TRY(read_bound(robot, limit, "effort", &effort));
    if (sti_attribute(limit, "velocity") != NULL) {
        double velocity = 0;
        STI_TRY(read_bound(robot, limit, "velocity", &velocity));
        if (velocity < 0) return sti_element_fail(robot->err, limit, "velocity is %g, must be >= 0", velocity);
        sti_skip(robot, "velocity of <limit>");
    }
    if (effort < 0) return sti_element_fail(robot->err, limit, "effort is %g, must be >= 0", effort);
    if (effort > 0) joint->effort = effort; /* files with an unknown effort give 0 */
    joint->driven = true;
    if (!bounds) return ST_OK;
    if (lower > upper) return sti_element_fail(robot->err, limit, "lower is %g, must be <= upper, %g", lower, upper);
    if (lower == upper) return lock_joint(robot, child, lower);
    joint->lower = lower;
    joint->upper = upper;
    return ST_OK;
}

static st_Status read_joint(sti_Robot *robot, sti_RobotLink *child, const sti_Element *at)
{
    static const char *const known[] = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", NULL};
    static const char *const passed[] = {"safety_controller", "calibration", NULL};
    sti_RobotJoint *joint = &child->joint;
    const sti_Element *limit = sti_child(at, "limit"), *dynamics = sti_child(at, "dynamics"),
                      *mimic = sti_child(at, "mimic");
    int type;
    joint->at = at;
    STI_TRY(read_text(robot, at, "name", &joint->name));
    STI_TRY(check_children(robot, at, known, passed));
    STI_TRY(read_type(robot, at, &type));
    STI_TRY(read_origin(robot, at, &child->pose));
    joint->floating = types[type].type == ST_JOINT_FREE;
    joint->type = joint->floating ? ST_JOINT_FIXED : types[type].type;
    if (types[type].axis) {
        /* The axis; (1, 0, 0) if left out. */
        const sti_Element *axis = sti_child(at, "axis");
        double xyz[3] = {1, 0, 0};
        if (axis != NULL) STI_TRY(sti_numbers(robot->err, axis, "xyz", 3, true, xyz));
        joint->axis = vec3_load(xyz);
        double length = norm(joint->axis);
        if (!(length > 0 && isfinite(length))) {
            return sti_element_fail(robot->err, axis, "xyz is %g %g %g, must have a direction", xyz[0], xyz[1], xyz[2]);
        }
    }
    if (limit == NULL && types[type].limits && mimic == NULL)
        return sti_element_fail(robot->err, at, "has no <limit>, a %s joint must have one%s", types[type].word,
                                type == 1 ? "; without limits it is continuous" : "");
    bool acts = joint->type == ST_JOINT_REVOLUTE || joint->type == ST_JOINT_PRISMATIC;
    if (acts && limit != NULL) STI_TRY(read_limit(robot, child, limit, types[type].limits && mimic == NULL));
    acts = joint->type == ST_JOINT_REVOLUTE || joint->type == ST_JOINT_PRISMATIC;
    if (acts && dynamics != NULL) {
        STI_TRY(sti_numbers(robot->err, dynamics, "damping", 1, false, &joint->damping));
        STI_TRY(sti_numbers(robot->err, dynamics, "friction", 1, false, &joint->friction));
        if (joint->damping < 0)
            return sti_element_fail(robot->err, dynamics, "damping is %g, must be >= 0", joint->damping);
        if (joint->friction < 0)
            return sti_element_fail(robot->err, dynamics, "friction is %g, must be >= 0", joint->friction);
    }
    if (joint->type == ST_JOINT_BALL && dynamics != NULL)
        STI_TRY(sti_numbers(robot->err, dynamics, "damping", 1, false, &joint->damping));
    if (joint->type == ST_JOINT_UNIVERSAL) { /* Drake's: about x of the joint, then about y */
        joint->axis = vec3(1, 0, 0), joint->axis_b = vec3(0, 1, 0);
        if (dynamics != NULL) sti_skip(robot, "<dynamics> of universal joints");
    }
    if (acts && mimic != NULL) {
        joint->ratio = 1;
        STI_TRY(read_text(robot, mimic, "joint", &joint->mimics));
        STI_TRY(sti_numbers(robot->err, mimic, "multiplier", 1, false, &joint->ratio));
        STI_TRY(sti_numbers(robot->err, mimic, "offset", 1, false, &joint->offset));
        if (joint->ratio == 0) STI_TRY(lock_joint(robot, child, joint->offset));
    }
    if (!acts && mimic != NULL) sti_skip(robot, "<mimic> of joints that do not turn or slide");
    if (!acts && joint->type == ST_JOINT_PLANAR && limit != NULL) sti_skip(robot, "<limit> of planar joints");
    if (!acts && joint->type == ST_JOINT_PLANAR && dynamics != NULL) sti_skip(robot, "<dynamics> of planar joints");
    return ST_OK;
}

/* ---- the tree ------------------------------------------------------------------------------------ */

/* Links and joints in file order, before the tree is built. */
typedef struct Graph {
    const sti_Element **links, **joints; /* joints[k]: the joint whose child is links[k]; NULL: a root */
    int *parents, *first, *next;         /* of links[k]: parent; first child; next child of the same parent; -1: none */
    int n;
} Graph;

static int find_link(const Graph *graph, const char *name)
{
    for (int k = 0; k < graph->n; k++)
        if (strcmp(sti_attribute(graph->links[k], "name"), name) == 0) return k;
    return -1;
}

/* Finds the link of <parent link="..."/> or <child link="..."/> of a joint. */
static st_Status find_end(sti_Robot *robot, const Graph *graph, const sti_Element *joint, const char *end, int *out)
{
    const sti_Element *at = sti_child(joint, end);
    const char *name;
    if (at == NULL) return sti_element_fail(robot->err, joint, "has no <%s>, must have one", end);
    STI_TRY(read_text(robot, at, "link", &name));
    *out = find_link(graph, name);
    if (*out >= 0) return ST_OK;
    char text[200];
    sti_Nearest nearest = {.word = name};
    for (int k = 0; k < graph->n; k++)
        sti_nearest_try(&nearest, sti_attribute(graph->links[k], "name"));
    sti_nearest_text(&nearest, "links", text, sizeof text);
    return sti_element_fail(robot->err, at, "link is \"%.60s\", there is none of that name%s", name, text);
}

static bool welded_to_root(const sti_Robot *robot, int k)
{
    while (k > 0 && !robot->links[k].joint.floating && robot->links[k].joint.type == ST_JOINT_FIXED)
        k = robot->links[k].parent;
    return k == 0;
}

/* The first element of a macro; NULL: none. */
static const sti_Element *find_xacro(const sti_Element *root)
{
    for (const sti_Element *at = root->first; at != NULL; at = at->next)
        if (strncmp(at->name, "xacro:", 6) == 0) return at;
    return NULL;
}

/* Drake's rotor_inertia and gear_ratio of the actuator of a transmission: the armature of its joint. */
static st_Status add_rotor(sti_Robot *robot, const sti_Element *transmission, sti_RobotJoint *joint)
{
    double inertia = 0, ratio = 1;
    for (const sti_Element *actuator = transmission->first; actuator != NULL; actuator = actuator->next)
        for (const sti_Element *at = actuator->first; at != NULL && sti_element_is(actuator, "actuator");
             at = at->next) {
            if (is_element(at, "rotor_inertia")) STI_TRY(sti_numbers(robot->err, at, "value", 1, true, &inertia));
            if (is_element(at, "gear_ratio")) STI_TRY(sti_numbers(robot->err, at, "value", 1, true, &ratio));
            if (!(inertia >= 0)) return sti_element_fail(robot->err, at, "value is %g, must be >= 0", inertia);
        }
    joint->armature += inertia * ratio * ratio;
    return ST_OK;
}

/* <loop_joint> of older files of Drake: <link1 link xyz rpy>, <link2 link xyz rpy>, <axis>. */
static st_Status add_loop(sti_Robot *robot, const sti_Element *at)
{
    static const char *const ends[] = {"link1", "link2"};
    const sti_Element *axis = sti_child(at, "axis");
    sti_RobotTie tie = {.links = {.at = at}};
    double p[2][3] = {{0}, {0}}, rpy[3] = {0}, xyz[3] = {1, 0, 0};
    int type;
    STI_TRY(read_text(robot, at, "name", &tie.name));
    STI_TRY(read_type(robot, at, &type));
    tie.type = types[type].type;
    for (int k = 0; k < 2; k++) {
        const sti_Element *end = sti_child(at, ends[k]);
        const char *name;
        if (end == NULL) return sti_element_fail(robot->err, at, "has no <%s>, must have one", ends[k]);
        STI_TRY(read_text(robot, end, "link", &name));
        const int link = sti_robot_find(robot, name);
        if (link < 0) return sti_element_fail(robot->err, end, "link is \"%.60s\", there is none of that name", name);
        STI_TRY(sti_numbers(robot->err, end, "xyz", 3, false, p[k]));
        if (k == 0) STI_TRY(sti_numbers(robot->err, end, "rpy", 3, false, rpy));
        if (k == 0) tie.links.a = link;
        if (k == 1) tie.links.b = link;
    }
    if (axis != NULL) STI_TRY(sti_numbers(robot->err, axis, "xyz", 3, true, xyz));
    if (types[type].axis && !(norm(vec3_load(xyz)) > 0))
        return sti_element_fail(robot->err, axis, "xyz is 0 0 0, must have a direction");
    tie.point = vec3_load(p[0]);
    tie.point_b = vec3_load(p[1]);
    tie.axis = rotate(sti_quat_rpy(rpy[0], rpy[1], rpy[2]), vec3_load(xyz));
    tie.two_points = tie.type == ST_JOINT_BALL;
    STI_TRY(STI_GROW(&robot->allocator, robot->ties, robot->ties_size, robot->n_ties + 1, robot->err));
    robot->ties[robot->n_ties++] = tie;
    return ST_OK;
}

/* Links of a <drake:collision_filter_group> do not touch those of the groups that it ignores. */
static st_Status filter_group(sti_Robot *robot, const sti_Element *root, const sti_Element *group)
{
    for (const sti_Element *ignored = group->first; ignored != NULL; ignored = ignored->next) {
        const char *name =
            is_element(ignored, "ignored_collision_filter_group") ? sti_attribute(ignored, "name") : NULL;
        for (const sti_Element *other = root->first; name != NULL && other != NULL; other = other->next) {
            const char *own = is_element(other, "collision_filter_group") ? sti_attribute(other, "name") : NULL;
            if (own == NULL || strcmp(own, name) != 0) continue;
            for (const sti_Element *a = group->first; a != NULL; a = a->next)
                for (const sti_Element *b = other->first; b != NULL; b = b->next) {
                    const char *of[2] = {sti_attribute(a, "link"), sti_attribute(b, "link")};
                    if (!is_element(a, "member") || !is_element(b, "member") || of[0] == NULL || of[1] == NULL)
                        continue;
                    const sti_RobotPair pair = {group, sti_robot_find(robot, of[0]), sti_robot_find(robot, of[1])};
                    if (pair.a < 0 || pair.b < 0)
                        return sti_element_fail(robot->err, pair.a < 0 ? a : b,
                                                "link is \"%.60s\", there is none of that name",
                                                of[pair.a < 0 ? 0 : 1]);
                    if (pair.a == pair.b || (group == other && pair.a > pair.b)) continue;
                    STI_TRY(
                        STI_GROW(&robot->allocator, robot->apart, robot->apart_size, robot->n_apart + 1, robot->err));
                    robot->apart[robot->n_apart++] = pair;
                }
        }
    }
    return ST_OK;
}

st_Status sti_urdf_read(sti_Robot *robot, const sti_Element *root)
{
    static const char *const known[] = {"link",
                                        "joint",
                                        "material",
                                        "transmission",
                                        "gazebo",
                                        "loop_joint",
                                        "drake:joint",
                                        "drake:collision_filter_group",
                                        "collision_filter_group",
                                        NULL};
    static const char *const passed[] = {"ros2_control", "sensor", "mujoco", "frame", NULL};
    static const char *const refused[] = {"force_element", "linear_bushing_rpy", "ball_constraint", "tendon_constraint",
                                          "distance_constraint"};
    size_t room = 0;
    if (find_xacro(root) != NULL) {
        /* Macros are expanded by the program xacro, if it is installed. */
        const sti_Element *at = find_xacro(root);
        char *text = NULL;
        size_t length = 0;
        st_Error why = {0};
        sti_Element *expanded = NULL;
        if (sti_xacro_expand(robot->file, &text, &length, &why) != ST_OK)
            return sti_element_fail(robot->err, at, "%.200s", why.message);
        st_Status status = sti_xml_parse(robot->files, text, length, robot->file, &expanded, robot->err);
        free(text);
        STI_TRY(status);
        if (find_xacro(expanded) != NULL || !sti_element_is(expanded, "robot"))
            return sti_element_fail(robot->err, at, "is xacro, and its expansion is not URDF");
        root = expanded;
    }
    for (const sti_Element *at = root->first; at != NULL; at = at->next) {
        const sti_Element *compiler = sti_element_is(at, "mujoco") ? sti_child(at, "compiler") : NULL;
        const char *meshdir = compiler != NULL ? sti_attribute(compiler, "meshdir") : NULL;
        if (compiler != NULL && meshdir == NULL) meshdir = sti_attribute(compiler, "assetdir");
        if (compiler != NULL) robot->meshdir = meshdir != NULL ? meshdir : "";
        room += sti_element_is(at, "link") && room < STI_MOST_LINKS;
        if (sti_element_is(at, "material") && sti_child(at, "color") == NULL) sti_skip(robot, "<material>");
        if (sti_element_is(at, "gazebo")) sti_skip(robot, "<gazebo>");
        if (sti_element_is(at, "transmission")) sti_skip(robot, "<transmission>");
    }
    STI_TRY(check_children(robot, root, known, passed));
    for (const sti_Element *at = root->first; at != NULL; at = at->next)
        for (int k = 0; k < 5; k++)
            if (is_element(at, refused[k]) && !sti_robot_ignores(robot, refused[k]))
                STI_TRY(sti_note_problem(
                    robot, sti_element_fail(robot->err, at,
                                            "it is not supported and may change the motion; to ignore it, add "
                                            "\"ignore\": [\"%s\"] to the robot",
                                            refused[k])));
    Graph graph = {0};
    room += 2; /* one more so that it is never 0, one for the world */
    graph.links = sti_xml_keep(robot->files, room * sizeof(void *));
    graph.joints = sti_xml_keep(robot->files, room * sizeof(void *));
    int *numbers = sti_xml_keep(robot->files, 5 * room * sizeof *numbers);
    if (graph.links == NULL || graph.joints == NULL || numbers == NULL) return sti_robot_memory(robot);
    graph.parents = numbers;
    graph.first = numbers + room;
    graph.next = numbers + 2 * room;

    int *order = numbers + 3 * room;
    int *index = numbers + 4 * room;
    int top;

    for (const sti_Element *at = root->first; at != NULL; at = at->next) {
        const char *name;
        if (!sti_element_is(at, "link")) continue;
        STI_TRY(read_text(robot, at, "name", &name));
        int k = find_link(&graph, name);
        if (k >= 0)
            return sti_element_fail(robot->err, at, "its name is used twice, first at line %d", graph.links[k]->line);
        if (graph.n == STI_MOST_LINKS)
            return sti_element_fail(robot->err, at, "is one too many, must be at most %d links", STI_MOST_LINKS);
        graph.links[graph.n] = at;
        graph.parents[graph.n] = graph.first[graph.n] = graph.next[graph.n] = -1;
        graph.n++;
    }
    if (graph.n == 0) return sti_element_fail(robot->err, root, "has no <link>, must have at least one");
    for (const sti_Element *at = root->first; at != NULL && find_link(&graph, "world") < 0; at = at->next) {
        /* Drake's files name the world as a parent without declaring a link of that name. */
        const sti_Element *end = is_element(at, "joint") ? sti_child(at, "parent") : NULL;
        const char *name = end != NULL ? sti_attribute(end, "link") : NULL;
        if (name == NULL || strcmp(name, "world") != 0 || graph.n == STI_MOST_LINKS) continue;
        sti_Element *world = sti_xml_keep(robot->files, sizeof *world);
        const char **texts = sti_xml_keep(robot->files, 2 * sizeof *texts);
        if (world == NULL || texts == NULL) return sti_robot_memory(robot);
        texts[0] = "name", texts[1] = "world";
        *world =
            (sti_Element){.name = "link", .file = end->file, .line = end->line, .n_attributes = 1, .attributes = texts};
        graph.links[graph.n] = world;
        graph.parents[graph.n] = graph.first[graph.n] = graph.next[graph.n] = -1;
        graph.n++;
    }
    for (const sti_Element *at = root->first; at != NULL; at = at->next) {
        int parent, child;
        if (!is_element(at, "joint")) continue;
        STI_TRY(find_end(robot, &graph, at, "parent", &parent));
        STI_TRY(find_end(robot, &graph, at, "child", &child));
        if (graph.joints[child] != NULL)
            return sti_element_fail(robot->err, at, "link \"%.60s\" is the child of another joint already, at line %d",
                                    sti_attribute(graph.links[child], "name"), graph.joints[child]->line);
        if (parent == child) return sti_element_fail(robot->err, at, "parent and child are the same link");
        graph.joints[child] = at;
        graph.parents[child] = parent;
        /* children in the order of their joints */
        int *tail = &graph.first[parent];
        while (*tail >= 0)
            tail = &graph.next[*tail];
        *tail = child;
    }
    top = -1;
    for (int k = 0; k < graph.n; k++) {
        if (graph.joints[k] != NULL) continue;
        if (top >= 0)
            return sti_element_fail(
                robot->err, graph.links[k],
                "is a second root, in addition to \"%.60s\": every other link must be the child of a joint",
                sti_attribute(graph.links[top], "name"));
        top = k;
    }
    if (!(top >= 0)) {
        return sti_element_fail(robot->err, graph.joints[0], "links form a ring, must form a tree with one root");
    }
    /* Adds links from the root down, parents first. `order` and `index` (from graph to robot) have room for all. */
    int n = 0;
    order[n++] = top;
    for (int k = 0; k < n; k++) {
        int at = order[k], parent = graph.parents[at];
        const char *name = sti_attribute(graph.links[at], "name");
        sti_RobotLink *link = sti_robot_link(robot, name, graph.links[at], parent >= 0 ? index[parent] : -1);
        if (link == NULL) return sti_robot_memory(robot);
        index[at] = k;
        STI_TRY(sti_note_problem(robot, read_link(robot, link)));
        if (graph.joints[at] != NULL) STI_TRY(sti_note_problem(robot, read_joint(robot, link, graph.joints[at])));
        for (int child = graph.first[at]; child >= 0; child = graph.next[child])
            order[n++] = child;
    }
    for (int k = 0; k < graph.n && n < graph.n; k++) {
        bool reached = false;
        for (int i = 0; i < n && !reached; i++)
            reached = order[i] == k;
        if (!reached)
            return sti_element_fail(robot->err, graph.joints[k], "links form a ring, must form a tree with one root");
    }
    for (int k = 0; k < robot->n_links; k++) {
        const sti_RobotJoint *joint = &robot->links[k].joint;
        int other = joint->name != NULL ? sti_robot_find_joint(robot, joint->name) : k;
        if (other != k)
            return sti_element_fail(robot->err, joint->at, "its name is used twice, the other one is at line %d",
                                    robot->links[other].joint.at->line);
    }

    /* Is the root fixed? The scene may set it. By default it is fixed if its name is world, or if it has no mass and
     * nothing with mass is welded to it. */
    double mass = 0;
    for (int k = 0; k < robot->n_links; k++)
        if (welded_to_root(robot, k)) mass += robot->links[k].mass;
    bool given = json_object_get(robot->entry, "fixed") != NULL;
    robot->links[0].joint.floating = given ? !robot->def.fixed : mass > 0 && strcmp(robot->links[0].name, "world") != 0;
    /* A joint with a transmission can be driven. */
    for (const sti_Element *at = root->first; at != NULL; at = at->next)
        for (const sti_Element *part = at->first; part != NULL; part = part->next) {
            const char *name = sti_element_is(part, "joint") ? sti_attribute(part, "name") : NULL;
            const int k = sti_element_is(at, "transmission") && name != NULL ? sti_robot_find_joint(robot, name) : -1;
            if (k < 0) continue;
            sti_RobotJoint *joint = &robot->links[k].joint;
            if (joint->type == ST_JOINT_REVOLUTE || joint->type == ST_JOINT_PRISMATIC) joint->driven = true;
            STI_TRY(add_rotor(robot, at, joint));
        }
    for (const sti_Element *at = root->first; at != NULL; at = at->next) {
        if (sti_element_is(at, "loop_joint")) STI_TRY(sti_note_problem(robot, add_loop(robot, at)));
        if (is_element(at, "collision_filter_group")) STI_TRY(sti_note_problem(robot, filter_group(robot, root, at)));
    }
    bool free_root = robot->links[0].joint.floating;
    return sti_remark(robot, "root link \"%.60s\" %s", robot->links[0].name,
                      free_root ? "can move freely; to fix it, add \"fixed\": true to the robot" : "stands still");
}
