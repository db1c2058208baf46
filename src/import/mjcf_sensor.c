/* import/mjcf_sensor.c -- the sensors of an MJCF file become measures of the scene.
 *
 *     accelerometer, velocimeter, gyro, force, torque     of a site, in its axes
 *     frame...                                            of a body, geom, site or camera, in the world or a reference
 *     joint..., tendon..., actuator...                    of joints and tendons, in the file's own count
 *     touch, rangefinder, subtree..., ball..., clock, e_kinetic, e_potential
 *
 * Other sensors are listed in the remarks. */
#include "import/mjcf.h"
#include "math/quat.h"

#include <stdio.h>

typedef struct Sensing {
    sti_Mjcf *m;
    const sti_Element *at;
    sti_RobotSensor sensor;
} Sensing;

static bool is_placed(const sti_Mjcf *m, const char *camera)
{
    const sti_MjcfPlace *place = m->places;
    while (place != NULL && (!sti_element_is(place->at, "camera") || strcmp(place->name, camera) != 0))
        place = place->next;
    return place != NULL;
}

/* Finds a body, geom, site or camera by objtype and objname, or reftype and refname. Returns false if it is something
 * else. */
static st_Status find_object(const Sensing *s, const char *type_key, const char *name_key, int *link, st_Pose *pose,
                             bool *found)
{
    const sti_Robot *robot = s->m->robot;
    const char *type = sti_attribute(s->at, type_key), *name = sti_attribute(s->at, name_key);
    *found = true;
    if (type == NULL || name == NULL)
        return sti_element_fail(robot->err, s->at, "%s is missing", type == NULL ? type_key : name_key);
    if (sti_mjcf_word("site geom camera", type)) {
        if (type[0] == 'c' && !is_placed(s->m, name)) { /* a camera that follows a body */
            *found = false;
            return ST_OK;
        }
        const sti_MjcfPlace *place;
        STI_TRY(sti_mjcf_find_place(s->m, s->at, name_key, type, &place));
        *link = place->link;
        *pose = place->pose;
        return ST_OK;
    }
    *found = sti_mjcf_word("body xbody", type);
    if (!*found) return ST_OK;
    *link = sti_robot_find(robot, name);
    if (*link < 0)
        return sti_element_fail(robot->err, s->at, "%s is \"%.60s\", there is no body of that name", name_key, name);
    *pose = pose_identity();
    if (type[0] == 'b') pose->p = robot->links[*link].centre;
    return ST_OK;
}

static st_Status of_frame(Sensing *s, bool *known)
{
    static const struct {
        const char *word;
        st_MeasureType type;
        int axis; /* which becomes z */
    } words[] = {{"framepos", ST_MEASURE_POSITION, 2},
                 {"framequat", ST_MEASURE_ORIENTATION, 2},
                 {"framexaxis", ST_MEASURE_AXIS, 0},
                 {"frameyaxis", ST_MEASURE_AXIS, 1},
                 {"framezaxis", ST_MEASURE_AXIS, 2},
                 {"framelinvel", ST_MEASURE_VELOCITY, 2},
                 {"frameangvel", ST_MEASURE_ANGULAR_VELOCITY, 2},
                 {"framelinacc", ST_MEASURE_ACCELERATION, 2},
                 {"frameangacc", ST_MEASURE_ANGULAR_ACCELERATION, 2}};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (!sti_element_is(s->at, words[k].word)) continue;
        s->sensor.type = words[k].type;
        STI_TRY(find_object(s, "objtype", "objname", &s->sensor.link, &s->sensor.pose, known));
        if (words[k].axis < 2)
            s->sensor.pose.q = quat_product(s->sensor.pose.q, quat_between(vec3(0, 0, 1), vec3_axis(words[k].axis)));
        if (sti_attribute(s->at, "refname") == NULL) return ST_OK;
        s->sensor.relative = true;
        return find_object(s, "reftype", "refname", &s->sensor.reference, &s->sensor.reference_pose, known);
    }
    *known = false;
    return ST_OK;
}

static st_Status of_site(Sensing *s, bool *known)
{
    static const struct {
        const char *word;
        st_MeasureType type;
    } words[] = {{"accelerometer", ST_MEASURE_ACCELERATION},
                 {"velocimeter", ST_MEASURE_VELOCITY},
                 {"gyro", ST_MEASURE_ANGULAR_VELOCITY},
                 {"force", ST_MEASURE_FORCE},
                 {"torque", ST_MEASURE_TORQUE},
                 {"touch", ST_MEASURE_TOUCH},
                 {"rangefinder", ST_MEASURE_RANGE}};
    const sti_MjcfPlace *site;
    size_t k = 0;
    while (k < sizeof words / sizeof words[0] && !sti_element_is(s->at, words[k].word))
        k++;
    *known = k < sizeof words / sizeof words[0] && sti_attribute(s->at, "site") != NULL;
    if (!*known) return ST_OK;
    STI_TRY(sti_mjcf_find_place(s->m, s->at, "site", "site", &site));
    s->sensor.type = words[k].type;
    s->sensor.link = site->link;
    s->sensor.pose = site->pose;
    s->sensor.own_axes = s->sensor.type != ST_MEASURE_TOUCH && s->sensor.type != ST_MEASURE_RANGE;
    if (s->sensor.type == ST_MEASURE_TOUCH) {
        /* The volume of a site, relative to its own pose in the link. */
        st_RegionDef *out = &s->sensor.region;
        const char *type = sti_mjcf_text(s->m, site->at, "type");
        const sti_Element *ends = sti_mjcf_holder(s->m, site->at, "fromto");
        double size[3] = {0.005, 0.005, 0.005}, v[6];
        int n = 0;
        STI_TRY(sti_mjcf_some_numbers(s->m, site->at, "size", 3, &n, size));
        if (type == NULL) type = "sphere";
        if (ends != NULL && strcmp(type, "sphere") != 0) {
            STI_TRY(sti_numbers(s->m->robot->err, ends, "fromto", 6, true, v));
            const double half = norm(sub(vec3_load(v), vec3_load(v + 3))) / 2;
            if (sti_mjcf_word("capsule cylinder", type)) size[1] = half;
            if (sti_mjcf_word("box ellipsoid", type)) size[1] = size[0], size[2] = half;
        }
        for (int i = 0; i < 3; i++)
            size[i] = fmax(size[i], 1e-9);
        *out = st_region_def();
        out->pose = site->pose;
        out->radius = size[0];
        out->type = strcmp(type, "sphere") == 0 ? ST_REGION_SPHERE : ST_REGION_BOX;
        out->half = vec3(size[0], size[1], size[2]);
        if (!sti_mjcf_word("capsule cylinder", type)) return ST_OK;
        out->type = ST_REGION_CYLINDER;
        out->length = 2 * (size[1] + (type[1] == 'a' ? size[0] : 0));
        return ST_OK;
    }
    if (s->sensor.type == ST_MEASURE_FORCE || s->sensor.type == ST_MEASURE_TORQUE)
        s->m->robot->links[site->link].kept = true;
    return ST_OK;
}

/* Reads jointpos, tendonvel, actuatorfrc and so on. */
static st_Status of_coordinate(Sensing *s, bool *known)
{
    static const struct {
        const char *word;
        st_MeasureType type;
    } words[] = {{"jointpos", ST_MEASURE_COORDINATE},     {"jointvel", ST_MEASURE_SPEED},
                 {"jointactuatorfrc", ST_MEASURE_MOTOR},  {"jointlimitfrc", ST_MEASURE_LIMIT},
                 {"tendonpos", ST_MEASURE_COORDINATE},    {"tendonvel", ST_MEASURE_SPEED},
                 {"tendonactuatorfrc", ST_MEASURE_MOTOR}, {"tendonlimitfrc", ST_MEASURE_LIMIT},
                 {"actuatorpos", ST_MEASURE_COORDINATE},  {"actuatorvel", ST_MEASURE_SPEED},
                 {"actuatorfrc", ST_MEASURE_MOTOR}};
    sti_Robot *robot = s->m->robot;
    size_t k = 0;
    while (k < sizeof words / sizeof words[0] && !sti_element_is(s->at, words[k].word))
        k++;
    *known = k < sizeof words / sizeof words[0];
    if (!*known) return ST_OK;
    s->sensor.type = words[k].type;
    if (words[k].word[0] == 'j') {
        sti_RobotJoint *joint;
        STI_TRY(sti_mjcf_find_joint(s->m, s->at, "joint", &joint));
        s->sensor.joint = joint->name;
        return ST_OK;
    }
    if (words[k].word[0] == 't') {
        const char *name = sti_attribute(s->at, "tendon");
        const int tendon = name != NULL ? sti_robot_find_tendon(robot, name) : -1;
        if (tendon < 0)
            return sti_element_fail(robot->err, s->at, "tendon is \"%.60s\", there is no tendon of that name",
                                    name != NULL ? name : "");
        s->sensor.tendon = robot->tendons[tendon].name;
        robot->tendons[tendon].measured = true;
        return ST_OK;
    }
    const char *name = sti_attribute(s->at, "actuator");
    const sti_MjcfActuator *actuator = s->m->actuators;
    while (actuator != NULL && (name == NULL || strcmp(actuator->name, name) != 0))
        actuator = actuator->next;
    if (actuator == NULL)
        return sti_element_fail(robot->err, s->at, "actuator is \"%.60s\", there is no actuator of that name",
                                name != NULL ? name : "");
    *known = actuator->joint != NULL || actuator->tendon != NULL; /* not a force at a site */
    s->sensor.joint = actuator->joint;
    s->sensor.tendon = actuator->tendon;
    s->sensor.factor = s->sensor.type == ST_MEASURE_MOTOR ? 1 / actuator->gear : actuator->gear;
    return ST_OK;
}

static st_Status of_others(Sensing *s, bool *known)
{
    static const char *const below[] = {"subtreecom", "subtreelinvel", "subtreeangmom"};
    static const st_MeasureType types[] = {ST_MEASURE_CENTRE, ST_MEASURE_CENTRE_VELOCITY, ST_MEASURE_ANGULAR_MOMENTUM};
    sti_Robot *robot = s->m->robot;
    const char *body = sti_attribute(s->at, "body"), *joint = sti_attribute(s->at, "joint");
    *known = true;
    for (int k = 0; k < 3; k++) {
        if (!sti_element_is(s->at, below[k])) continue;
        s->sensor.type = types[k];
        s->sensor.link = body != NULL ? sti_robot_find(robot, body) : -1;
        if (s->sensor.link >= 0) return ST_OK;
        return sti_element_fail(robot->err, s->at, "body is \"%.60s\", there is no body of that name",
                                body != NULL ? body : "");
    }
    if (sti_element_is(s->at, "ballquat") || sti_element_is(s->at, "ballangvel")) {
        const int link = joint != NULL ? sti_robot_find_joint(robot, joint) : -1;
        if (link < 0 || robot->links[link].joint.type != ST_JOINT_BALL)
            return sti_element_fail(robot->err, s->at, "joint is \"%.60s\", there is no ball joint of that name",
                                    joint != NULL ? joint : "");
        const bool turned = s->at->name[4] == 'q';
        s->sensor.type = turned ? ST_MEASURE_ORIENTATION : ST_MEASURE_ANGULAR_VELOCITY;
        s->sensor.link = link;
        s->sensor.relative = true;
        s->sensor.own_axes = !turned;
        s->sensor.reference = robot->links[link].parent;
        s->sensor.reference_pose = (st_Pose){vec3(0, 0, 0), robot->links[link].pose.q}; /* as drawn */
        return ST_OK;
    }
    s->sensor.type = sti_element_is(s->at, "clock") ? ST_MEASURE_TIME : ST_MEASURE_ENERGY;
    *known = sti_mjcf_word("clock e_kinetic e_potential", s->at->name);
    return ST_OK;
}

st_Status sti_mjcf_sensor(sti_Mjcf *m, const sti_Element *at)
{
    static st_Status (*const kinds[])(Sensing *, bool *) = {of_site, of_frame, of_coordinate, of_others};
    static const char others[] = "magnetometer camprojection jointlimitpos jointlimitvel tendonlimitpos tendonlimitvel "
                                 "insidesite distance normal fromto contact tactile user plugin";
#define READ "name site camera joint tendon actuator objtype objname reftype refname body"
#define PASSED                                                                                                         \
    "nsample interp delay interval cutoff noise user data geom1 geom2 body1 body2 subtree1 subtree2 num reduce geom "  \
    "mesh enclosed dim datatype needstage plugin instance"
    static const char read[] = READ, passed[] = PASSED, both[] = READ " " PASSED;
    sti_Robot *robot = m->robot;
    char text[60];
    const bool other = sti_mjcf_word(others, at->name);
    STI_TRY(other ? sti_mjcf_check(m, at, both, "") : sti_mjcf_check(m, at, read, passed));
    snprintf(text, sizeof text, "sensor%d", robot->n_sensors + 1);
    Sensing s = {.m = m,
                 .at = at,
                 .sensor = {.name = sti_attribute(at, "name"),
                            .at = at,
                            .pose = pose_identity(),
                            .reference_pose = pose_identity(),
                            .factor = 1}};
    bool known = false;
    for (int k = 0; k < 4 && !known; k++)
        STI_TRY(kinds[k](&s, &known));
    if (!known && !other && !sti_mjcf_word("rangefinder", at->name) && strncmp(at->name, "frame", 5) != 0 &&
        strncmp(at->name, "actuator", 8) != 0)
        return sti_mjcf_unknown(m, at, NULL);
    if (!known) {
        /* A sensor that is skipped changes no motion. */
        char what[80];
        snprintf(what, sizeof what, "<%.40s> of <sensor>", s.at->name);
        const char *kept = sti_xml_keep_text(s.m->robot->files, what);
        if (kept == NULL) return sti_robot_memory(s.m->robot);
        sti_skip(s.m->robot, kept);
        return ST_OK;
    }
    if (s.sensor.name == NULL) s.sensor.name = sti_xml_keep_text(robot->files, text);
    if (s.sensor.name == NULL) return sti_robot_memory(robot);
    STI_TRY(STI_GROW(&robot->allocator, robot->sensors, robot->sensors_size, robot->n_sensors + 1, robot->err));
    robot->sensors[robot->n_sensors++] = s.sensor;
    return ST_OK;
}
