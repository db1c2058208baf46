/* Robots from MJCF: frames, default classes, masses of geoms, joints, filters of contact, actuators and equalities,
 * each compared with a calculation without the importer.
 */
#include "robot_check.h"

#include <unistd.h>

/* Inside a <mujoco>, in radians unless `compiler` changes it. */
static Robot model(const char *compiler, const char *inside, const char *const *sets)
{
    char text[8192];
    snprintf(text, sizeof text, "<mujoco model='m'><compiler %s/>%s</mujoco>",
             compiler != NULL ? compiler : "angle='radian'", inside);
    return robot_of(text, sets);
}

#define INERTIAL                     "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
#define WORLD(more)                  "<worldbody>" more "</worldbody>"
#define BODY(name, attributes, more) "<body name='" name "' " attributes ">" more "</body>"
#define FREE(attributes)             WORLD(BODY("b", attributes, "<freejoint/>" INERTIAL))

/* ---- units ---- */

/* Where the axes of the body point, by hand. */
static void orientations_of_five_kinds(void **state)
{
    (void)state;
    const double s = sqrt(0.5);
    static const struct {
        const char *compiler, *inside;
    } forms[] = {
        {NULL, FREE("quat='2 0 0 2'")}, /* of any length */
        {NULL, FREE("axisangle='0 0 3 1.5707963267948966'")},
        {"angle='degree'", FREE("axisangle='0 0 3 90'")},
        {NULL, FREE("xyaxes='0 2 0 -1 0.3 0'")}, /* y made orthogonal */
        {"", FREE("euler='0 0 90'")},            /* degrees are the default */
    };
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        Robot robot = model(forms[k].compiler, forms[k].inside, NULL);
        st_Quat q = body(&robot, "b").pose.q;
        check_vector(rotate(q, vec3(1, 0, 0)), vec3(0, 1, 0), ROUNDING);
        check_vector(rotate(q, vec3(0, 1, 0)), vec3(-1, 0, 0), ROUNDING);
        st_scene_destroy(robot.scene);
    }
    Robot robot = model(NULL, FREE("zaxis='1 0 1'"), NULL);
    check_vector(rotate(body(&robot, "b").pose.q, vec3(0, 0, 1)), vec3(s, 0, s), ROUNDING);
    st_scene_destroy(robot.scene);
}

/* Turns about axes that move along are turns about fixed ones in the opposite order. */
static void euler_sequences(void **state)
{
    (void)state;
    st_Quat x = quat_exp(vec3(0.3, 0, 0)), y = quat_exp(vec3(0, -0.5, 0)), z = quat_exp(vec3(0, 0, 1.1));
    const struct {
        const char *compiler, *angles;
        st_Quat expected;
    } cases[] = {
        {"angle='radian'", FREE("euler='0.3 -0.5 1.1'"), quat_product(x, quat_product(y, z))},
        {"angle='radian' eulerseq='XYZ'", FREE("euler='0.3 -0.5 1.1'"), quat_product(z, quat_product(y, x))},
        {"angle='radian' eulerseq='zyx'", FREE("euler='1.1 -0.5 0.3'"), quat_product(z, quat_product(y, x))},
        {"angle='radian' eulerseq='zXy'", FREE("euler='1.1 0.3 -0.5'"), quat_product(quat_product(x, z), y)},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Robot robot = model(cases[k].compiler, cases[k].angles, NULL);
        st_Quat q = body(&robot, "b").pose.q, p = cases[k].expected;
        check_close(fabs(q.w * p.w + q.x * p.x + q.y * p.y + q.z * p.z), 1, ROUNDING);
        st_scene_destroy(robot.scene);
    }
}

/* Own attribute, own class, the class around it, the body's childclass, the outermost default. */
static void default_classes(void **state)
{
    (void)state;
    Robot robot =
        model(NULL,
              "<default><joint damping='1' stiffness='10' armature='0.25'/><default class='a'><joint damping='2'/>"
              "<default class='aa'><joint frictionloss='3'/></default></default><default class='b'><joint damping='5' "
              "armature='0'/>"
              "</default></default>" WORLD(BODY("one", "", INERTIAL "<joint name='j1'/>") BODY(
                  "two", "childclass='a'",
                  INERTIAL
                  "<joint name='j2'/>" BODY("three", "",
                                            INERTIAL "<joint name='j3' class='aa'/>" BODY(
                                                "four", "childclass='b'", INERTIAL "<joint name='j4' damping='7'/>")))),
              NULL);
    static const struct {
        const char *name;
        double damping, stiffness, friction, armature;
    } expected[] = {{"j1", 1, 10, 0, 0.25}, {"j2", 2, 10, 0, 0.25}, {"j3", 2, 10, 3, 0.25}, {"j4", 7, 10, 0, 0}};
    for (int k = 0; k < 4; k++) {
        st_JointDef def = joint(&robot, expected[k].name);
        check_close(def.damping, expected[k].damping, 0);
        check_close(def.stiffness, expected[k].stiffness, 0);
        check_close(def.friction, expected[k].friction, 0);
        check_close(def.armature, expected[k].armature, 0);
    }
    st_scene_destroy(robot.scene);
}

/* Closed forms: (4/3) pi a b c, a b c, pi r^2 l + (4/3) pi r^3; moments of a box and a cylinder about their middle. */
static void masses_of_geoms(void **state)
{
    (void)state;
    const double pi = acos(-1), r = 0.1, l = 0.6;
    static const struct {
        const char *geom;
        double mass;
    } cases[] = {
        {"<geom type='sphere' size='0.1'/>", 4.0 / 3 * 1e-3 * 1000},
        {"<geom type='ellipsoid' size='0.1 0.2 0.3' density='500'/>", 4.0 / 3 * 6e-3 * 500},
        {"<geom type='box' size='0.1 0.2 0.3' mass='5'/>", 0},
        {"<geom type='cylinder' size='0.1 0.3'/>", 0.01 * 0.6 * 1000},
        {"<geom type='capsule' size='0.1' fromto='0 0 0 0.6 0 0'/>", (0.01 * 0.6 + 4.0 / 3 * 1e-3) * 1000},
    };
    for (int k = 0; k < 5; k++) {
        char inside[400];
        snprintf(inside, sizeof inside, "<worldbody><body name='b'><freejoint/>%s</body></worldbody>", cases[k].geom);
        Robot robot = model(NULL, inside, NULL);
        double mass;
        st_Mat3 I;
        st_Error err = {0};
        check_ok(st_scene_body_mass(robot.scene, (st_BodyId){1}, &mass, &I, &err), err);
        check_close(mass, k == 2 ? 5 : pi * cases[k].mass, 1e-12);
        if (k == 2) check_close(I.m[0], 5.0 / 12 * (0.4 * 0.4 + 0.6 * 0.6), 1e-12);
        if (k == 3) check_close(I.m[8], mass * r * r / 2, 1e-12);
        if (k == 3) check_close(I.m[0], mass * (3 * r * r + l * l) / 12, 1e-12);
        if (k == 4) check_vector(body(&robot, "b").pose.p, vec3(0.3, 0, 0), 1e-12);
        st_scene_destroy(robot.scene);
    }
}

/* Two boxes by hand: Steiner's rule; an <inertial> has priority over geoms unless the compiler setting differs. */
static void masses_add(void **state)
{
    (void)state;
    const char *inside = WORLD(BODY("b", "",
                                    "<freejoint/>" INERTIAL "<geom type='box' size='1 1 1' mass='2' pos='3 0 0'/>"
                                    "<geom type='box' size='1 1 1' mass='1' contype='0' conaffinity='0'/>"));
    Robot robot = model("inertiafromgeom='true'", inside, NULL);
    st_BodyDef def = body(&robot, "b");
    check_close(def.mass, 3, ROUNDING);
    check_vector(def.pose.p, vec3(2, 0, 0), ROUNDING);
    check_close(def.inertia.m[0], 3 * 8.0 / 12, 1e-12);
    check_close(def.inertia.m[4], 3 * 8.0 / 12 + 2 * 1 + 1 * 4, 1e-12);
    assert_int_equal(st_scene_shape_count(robot.scene), 1); /* the other touches nothing */
    st_scene_destroy(robot.scene);
    robot = model(NULL, inside, NULL);
    check_close(body(&robot, "b").mass, 1, 0);
    st_scene_destroy(robot.scene);
}

/* ---- joints ---- */

/* Joints that no joint of a scene is, one after the other: the pose is that of their product, in the file's order, and
 * the mass at the start is the body's own.                                                        */
static void chains_of_joints(void **state)
{
    (void)state;
    Robot robot =
        model("angle='radian'",
              WORLD(BODY("b", "pos='0 0 1'",
                         "<inertial pos='0.1 0.2 0.3' mass='2' diaginertia='0.1 0.2 0.25'/>"
                         "<joint name='x' axis='1 0 0' pos='0 0 0.1' damping='3' armature='0.5'/>"
                         "<joint name='y' axis='0 1 1' stiffness='4'/>"
                         "<joint name='s' type='slide' axis='1 1 0' frictionloss='5'/>")
                        BODY("c", "pos='5 0 0'", "<freejoint/>" INERTIAL)) "<actuator><motor joint='y' "
                                                                           "gear='7' ctrlrange='-1 1'/></actuator>",
              (const char *const[]){"robots/0/positions={\"x\": 0.4, \"y\": -0.6, \"s\": 0.2}", NULL});
    check_close(joint(&robot, "x").damping, 3, 0);
    check_close(joint(&robot, "x").armature, 0.5, 0);
    check_close(joint(&robot, "y").stiffness, 4, 0);
    check_close(joint(&robot, "y").motor.max_force, 7, 0);
    check_close(joint(&robot, "s").friction, 5, 0);
    check_close(body(&robot, "b").mass + body(&robot, "b.1").mass + body(&robot, "b.2").mass, 2, ROUNDING);
    check_close(body(&robot, "b.1").mass, 2e-5, ROUNDING);
    st_Quat x = quat_exp(vec3(0.4, 0, 0)), y = quat_exp(scale(-0.6 / sqrt(2), vec3(0, 1, 1)));
    st_Vec3 centre = add(vec3(0.1, 0.2, 0.3), scale(0.2 / sqrt(2), vec3(1, 1, 0))), at = vec3(0, 0, 0.1);
    centre = add(rotate(x, sub(rotate(y, centre), at)), add(at, vec3(0, 0, 1)));
    check_vector(body(&robot, "b").pose.p, centre, ROUNDING);
    check_vector(body(&robot, "b.1").pose.p, centre, ROUNDING); /* its share is at the same position */
    st_Quat q = quat_product(x, y), p = body(&robot, "b").pose.q;
    check_close(fabs(q.w * p.w + q.x * p.x + q.y * p.y + q.z * p.z), 1, ROUNDING);
    st_scene_destroy(robot.scene);
}

/* The position of a body hung by `joints` at its corner after half a second. */
static st_Vec3 swung(const char *joints)
{
    char inside[800];
    st_Error err = {0};
    st_System *system = NULL;
    st_Pose pose;
    snprintf(inside, sizeof inside,
             "<worldbody><body name='b'><inertial pos='0.3 0.1 -0.1' mass='2' diaginertia='0.02 0.03 0.04'/>%s</body>"
             "</worldbody>",
             joints);
    Robot robot = model(NULL, inside, NULL);
    robot.def.integrator = ST_INTEGRATOR_SDIRK2;
    check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
    for (int k = 0; k < 250; k++)
        check_ok(st_system_step(system, 2e-3, NULL, &err), err);
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot.scene, "b"), &pose), ST_OK);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
    return pose.p;
}

/* Three hinges through one point are a ball joint, up to the 1e-5 of the mass that is between them. */
static void three_hinges_are_a_ball(void **state)
{
    (void)state;
    st_Vec3 ball = swung("<joint type='ball'/>");
    st_Vec3 hinges = swung("<joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1'/>");
    assert_true(norm(sub(ball, vec3(0.3, 0.1, -0.1))) > 0.3); /* a good way */
    check_below(norm(sub(ball, hinges)), 2e-5);               /* proportional to that share: 1.3e-3 m with 1e-3 */
}

/* All masses to one sum; a file in the frame of the world; a mocap body is fixed, and of its own. */
static void whole_robots(void **state)
{
    (void)state;
    Robot robot =
        model("settotalmass='6'", WORLD(BODY("a", "", INERTIAL "<joint/>" BODY("b", "", INERTIAL "<joint/>"))), NULL);
    check_close(body(&robot, "a").mass, 3, ROUNDING);
    check_close(body(&robot, "b").inertia.m[0] / body(&robot, "b").mass, 1, ROUNDING); /* as INERTIAL has it */
    st_scene_destroy(robot.scene);
    robot = model("coordinate='global'",
                  WORLD(BODY("a", "pos='0 0 1'",
                             "<joint name='j' pos='0 0 2'/><geom type='sphere' size='0.1' pos='0 0 1.5'/>" BODY(
                                 "b", "pos='0 0 3'",
                                 "<joint name='k' pos='0 0 4'/><geom type='capsule' size='0.1' "
                                 "fromto='0 0 3 0 0 5'/>"))),
                  NULL);
    check_vector(body(&robot, "a").pose.p, vec3(0, 0, 1.5), ROUNDING);
    check_vector(body(&robot, "b").pose.p, vec3(0, 0, 4), ROUNDING);
    check_close(joint(&robot, "k").point.z, 4, ROUNDING);
    st_scene_destroy(robot.scene);
    robot = model(NULL,
                  WORLD(BODY("hand", "mocap='true'", "") BODY(
                      "b", "", "<freejoint/>" INERTIAL)) "<equality><weld body1='hand' body2='b'/></equality>",
                  NULL);
    check_close(joint(&robot, "equality1").type, ST_JOINT_FIXED, 0);
    assert_int_equal(joint(&robot, "equality1").a.index1, st_scene_find_body(robot.scene, "hand").index1);
    assert_true(body(&robot, "hand").fixed);
    st_scene_destroy(robot.scene);
}

static void one_joint_of_several(void **state)
{
    (void)state;
    static const struct {
        const char *joints;
        st_JointType type;
    } cases[] = {
        {"<joint name='j' axis='0 1 0'/>", ST_JOINT_REVOLUTE},
        {"<joint name='j' type='slide' axis='0 1 0'/>", ST_JOINT_PRISMATIC},
        {"<joint name='j' type='ball'/>", ST_JOINT_BALL},
        {"<joint name='j' axis='1 0 0'/><joint axis='0 1 0' range='-1 1'/>", ST_JOINT_UNIVERSAL},
        {"<joint name='j' axis='1 0 0'/><joint type='slide' axis='1 0 0' range='-1 1'/>", ST_JOINT_CYLINDRICAL},
        {"<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint name='j' axis='0 1 0'/>",
         ST_JOINT_PLANAR},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char inside[600];
        snprintf(inside, sizeof inside, "<worldbody><body name='b'>%s" INERTIAL "</body></worldbody>", cases[k].joints);
        Robot robot = model(NULL, inside, NULL);
        st_JointDef def = joint(&robot, "j");
        assert_int_equal(def.type, cases[k].type);
        if (k == 3 || k == 4) check_close(def.other_upper, 1, 0);
        st_Error err = {0};
        st_System *system = NULL;
        check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
        check_ok(st_system_step(system, 1e-3, NULL, &err), err);
        st_system_destroy(system);
        st_scene_destroy(robot.scene);
    }
}

/* Degrees, ref and springref; a range is a limit if autolimits or `limited` is set. */
static void ranges_and_references(void **state)
{
    (void)state;
    const double degree = acos(-1) / 180;
    Robot robot =
        model("angle='degree'",
              WORLD(BODY("a", "", INERTIAL "<joint name='j' range='-30 90' ref='45' springref='60' stiffness='2'/>")
                        BODY("b", "pos='3 0 0'", INERTIAL "<joint name='k' range='-30 90' limited='false'/>")),
              NULL);
    st_JointDef def = joint(&robot, "j");
    check_close(def.lower, -75 * degree, ROUNDING); /* all from the start, which is ref */
    check_close(def.upper, 45 * degree, ROUNDING);
    check_close(def.rest, 15 * degree, ROUNDING);
    assert_true(isinf(joint(&robot, "k").upper));
    check_close(body(&robot, "a").pose.q.w, 1, 0);
    st_scene_destroy(robot.scene);
    robot = model("autolimits='false'", WORLD(BODY("a", "", INERTIAL "<joint name='j' range='-30 90'/>")), NULL);
    assert_true(isinf(joint(&robot, "j").upper));
    st_scene_destroy(robot.scene);
}

static void actuators(void **state)
{
    (void)state;
    Robot robot = model(
        NULL,
        "<default><position kp='50'/></default>" WORLD(
            BODY("a", "", INERTIAL "<joint name='m' ref='0.5'/>") BODY("b", "", INERTIAL "<joint name='p' ref='0.5'/>")
                BODY("c", "",
                     INERTIAL
                     "<joint name='v' damping='1'/>")) "<actuator><motor joint='m' gear='20' ctrlrange='-1 "
                                                       "1'/><position joint='p' kv='3' gear='2' forcerange='-4 4'/>"
                                                       "<velocity joint='v' kv='6'/></actuator>",
        NULL);
    st_MotorDef m = joint(&robot, "m").motor, p = joint(&robot, "p").motor;
    assert_int_equal(m.type, ST_MOTOR_FORCE);
    check_close(m.max_force, 20, 0);
    assert_int_equal(p.type, ST_MOTOR_POSITION);
    check_close(p.stiffness, 50 * 4, 0); /* kp gear^2 */
    check_close(p.damping, 3 * 4, 0);
    check_close(p.max_force, 4 * 2, 0);
    check_close(p.target, -0.5, 0); /* a control of 0, seen from ref */
    check_close(joint(&robot, "v").damping, 7, 0);
    st_scene_destroy(robot.scene);
}

/* gear (gain u + bias . (1, gear x, gear dx/dt)) with a control of 0, its numbers from a class. */
static void general_actuators(void **state)
{
    (void)state;
    Robot robot = model(
        NULL,
        "<default><default class='servo'><general biastype='affine' forcerange='-87 87'/></default>"
        "<muscle/></default>" WORLD(
            BODY("a", "", INERTIAL "<joint name='g'/>") BODY("b", "", INERTIAL "<joint name='h'/>")
                BODY("c", "", INERTIAL "<joint name='d' damping='1'/>") BODY(
                    "e", "",
                    INERTIAL
                    "<joint name='f'/>")) "<actuator>"
                                          "<general class='servo' joint='g' gear='2' gainprm='450' biasprm='10 -450 "
                                          "-45'/>"
                                          "<general joint='h' gainprm='3' biasprm='7 -7'/><general joint='d' "
                                          "biastype='affine' biasprm='0 0 -4'/>"
                                          "<general joint='f' biastype='affine' biasprm='5 0 -2' gear='3'/></actuator>",
        NULL);
    st_MotorDef g = joint(&robot, "g").motor, h = joint(&robot, "h").motor, f = joint(&robot, "f").motor;
    assert_int_equal(g.type, ST_MOTOR_POSITION);
    check_close(g.stiffness, 450 * 4, 0);
    check_close(g.damping, 45 * 4, 0);
    check_close(g.target, 2 * 10 / 1800.0, ROUNDING);
    check_close(g.max_force, 2 * 87, 0);
    assert_int_equal(h.type, ST_MOTOR_FORCE); /* biastype is none: biasprm means nothing */
    check_close(h.target, 0, 0);
    check_close(joint(&robot, "d").damping, 5, 0);
    assert_int_equal(f.type, ST_MOTOR_FORCE);
    check_close(f.target, 15, 0);
    check_close(joint(&robot, "f").damping, 2 * 9, 0);
    st_scene_destroy(robot.scene);
}

static void equalities(void **state)
{
    (void)state;
    Robot robot = model(
        NULL,
        WORLD(BODY("a", "pos='0 0 1'", INERTIAL "<joint name='ja'/>") BODY(
            "b", "pos='1 0 1'", INERTIAL "<joint name='jb'/>") BODY("c", "pos='5 0 0'", "<freejoint/>" INERTIAL)
                  BODY("d", "pos='6 0 0'",
                       "<freejoint/>" INERTIAL)) "<equality><joint joint1='ja' joint2='jb' polycoef='0 -3'/><connect "
                                                 "name='ball' body1='a' body2='c' anchor='0.5 0 0'/>"
                                                 "<weld name='weld' body1='c' body2='d'/><weld active='false' "
                                                 "body1='a' body2='b'/></equality>",
        NULL);
    st_JointDef gear = joint(&robot, "ja.mimic"), ball = joint(&robot, "ball");
    check_close(gear.ratio, -3, 0);
    check_vector(ball.point, vec3(0.5, 0, 1), ROUNDING);
    assert_int_equal(joint(&robot, "weld").type, ST_JOINT_FIXED);
    assert_int_equal(st_scene_joint_count(robot.scene), 5);
    st_scene_destroy(robot.scene);
}

/* ---- contact ---- */

/* Every pair of eight kinds of spheres against MuJoCo's rule, by whether a step finds a contact. */
static void filters(void **state)
{
    (void)state;
    static const int bits[][2] = {{1, 1}, {0, 1}, {1, 0}, {2, 1}, {1, 2}, {2, 2}, {4, 6}, {0, 4}};
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            char inside[800];
            snprintf(inside, sizeof inside,
                     "<worldbody><body name='a'><freejoint/>" INERTIAL
                     "<geom size='1' contype='%d' conaffinity='%d'/></body><body name='b' pos='1.9 0 "
                     "0'><freejoint/>" INERTIAL "<geom size='1' contype='%d' conaffinity='%d'/></body></worldbody>",
                     bits[i][0], bits[i][1], bits[j][0], bits[j][1]);
            Robot robot = model(NULL, inside, NULL);
            st_Error err = {0};
            st_System *system = NULL;
            st_StepInfo info = st_step_info();
            check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
            check_ok(st_system_step(system, 1e-5, &info, &err), err);
            bool touch = (bits[i][0] & bits[j][1]) != 0 || (bits[j][0] & bits[i][1]) != 0;
            assert_int_equal(info.contacts > 0, touch);
            st_system_destroy(system);
            st_scene_destroy(robot.scene);
        }
}

/* The contact of two geoms by MuJoCo's rule: the larger condim and the larger of each friction, unless one has the
 * higher priority; then its own. */
typedef struct Rubber {
    double mu[3];
    int condim, priority;
} Rubber;

static Rubber rubbed(Rubber a, Rubber b)
{
    if (a.priority != b.priority) return a.priority > b.priority ? a : b;
    for (int k = 0; k < 3; k++)
        a.mu[k] = fmax(a.mu[k], b.mu[k]);
    a.condim = a.condim > b.condim ? a.condim : b.condim;
    return a;
}

static void frictions(void **state)
{
    (void)state;
    static const Rubber kinds[] = {
        {{1, 0.005, 0.0001}, 3, 0},  {{0.7, 0.02, 0.001}, 1, 0},   {{0.2, 0.3, 0.4}, 1, 0}, {{0.5, 0.01, 0.002}, 4, 0},
        {{0.3, 0.001, 0.003}, 6, 0}, {{0.1, 0.001, 0.0005}, 3, 2}, {{0, 0, 0}, 3, 0},       {{0.9, 0.1, 0.1}, 1, 1},
    };
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            const Rubber *a = &kinds[i], *b = &kinds[j], c = rubbed(*a, *b);
            char inside[1000];
            snprintf(inside, sizeof inside,
                     "<worldbody><body name='a'><freejoint/>" INERTIAL
                     "<geom size='1' friction='%g %g %g' condim='%d' priority='%d'/></body><body name='b' pos='1.9 0 "
                     "0'><freejoint/>" INERTIAL
                     "<geom size='1' friction='%g %g %g' condim='%d' priority='%d'/></body></worldbody>",
                     a->mu[0], a->mu[1], a->mu[2], a->condim, a->priority, b->mu[0], b->mu[1], b->mu[2], b->condim,
                     b->priority);
            Robot robot = model(NULL, inside, NULL);
            st_Error err = {0};
            st_System *system = NULL;
            st_StepInfo info = st_step_info();
            check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
            check_ok(st_system_step(system, 1e-5, &info, &err), err);
            const st_Problem *problem = st_system_problem(system, NULL);
            assert_int_equal(problem->n_contacts, 1);
            const st_ContactLaw *contact = &problem->contact[0];
            check_close(contact->dim > 1 ? contact->mu : 0, c.condim >= 3 ? c.mu[0] : 0, 0);
            check_close(contact->dim == 4 || contact->dim == 6 ? contact->mu_spin : 0, c.condim >= 4 ? c.mu[1] : 0, 0);
            check_close(contact->dim > 4 ? contact->mu_roll : 0, c.condim >= 6 ? c.mu[2] : 0, 0);
            st_system_destroy(system);
            st_scene_destroy(robot.scene);
        }
}

/* Which of the spheres named touch, all of them at nearly the same place. */
static int touching(const char *text)
{
    st_SystemDef def;
    st_Error err = {0};
    st_System *system = NULL;
    st_StepInfo info = st_step_info();
    st_Scene *scene = scene_of(text, &def, NULL);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    check_ok(st_system_step(system, 1e-5, &info, &err), err);
    int pairs = 0;
    for (int k = 0; k < st_system_contact_count(system); k++) {
        st_ContactReport contact;
        assert_int_equal(st_system_contact(system, k, &contact), ST_OK);
        int a = contact.a.index1 - 1, b = contact.b.index1 - 1;
        pairs |= 1 << (a < b ? 3 * a + b : 3 * b + a);
    }
    st_system_destroy(system);
    st_scene_destroy(scene);
    return pairs;
}

/* Groups of two files and of the scene are three things: contype 2 of the one file is contype 2 of the other, and the
 * scene's shapes are geoms of contype and conaffinity 1. */
static void filters_of_two_robots(void **state)
{
    (void)state;
    char folder[] = "/tmp/stiction-mjcf-XXXXXX", text[2000], path[2][64];
    assert_non_null(mkdtemp(folder));
    static const int bits[2][2] = {{2, 4}, {4, 8}}; /* they touch: the first accepts bit 4 of the second */
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/%d.xml", folder, k);
        FILE *file = fopen(path[k], "w");
        assert_non_null(file);
        fprintf(file,
                "<mujoco><worldbody><body name='b' pos='%g 0 0'><freejoint/>" INERTIAL
                "<geom size='1' contype='%d' conaffinity='%d'/></body></worldbody></mujoco>",
                k == 0 ? 0.0 : 0.1, bits[k][0], bits[k][1]);
        assert_int_equal(fclose(file), 0);
    }
    /* the scene's own ball is in group 1, and touches 0 and 1: neither robot, both not of contype 1 */
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"own\", \"position\": [0.05, 0.1, 0], \"mass\": 1, \"inertia\": 1, \"shapes\": "
             "[{\"type\": \"sphere\", \"radius\": 1, \"groups\": [1]}]}], \"robots\": [{\"file\": \"%s\", \"name\": "
             "\"p\"}, {\"file\": \"%s\", \"name\": \"q\"}]}",
             path[0], path[1]);
    assert_int_equal(touching(text), 1 << (3 * 1 + 2));
    for (int k = 0; k < 2; k++)
        unlink(path[k]);
    rmdir(folder);
}

static void classes_must_be_there(void **state)
{
    (void)state;
    check_refused("<mujoco><worldbody><body><freejoint/>" INERTIAL
                  "\n<geom size='1' class='visual'/></body></worldbody></mujoco>",
                  2, "class", "visual");
    check_refused("<mujoco><worldbody>\n<body childclass='none'><freejoint/>" INERTIAL "</body></worldbody></mujoco>",
                  2, "childclass", "none");
    st_SystemDef def;
    st_scene_destroy(scene_of("<mujoco><default><geom size='1'/></default><worldbody><body><freejoint/>" INERTIAL
                              "<geom class='main'/></body></worldbody></mujoco>",
                              &def, NULL));
}

/* Resistance of a free joint: dampers and springs are a bushing to the ground, an armature is mass without weight;
 * other attributes are ignored. A <freejoint> has no class. */
static void free_joints(void **state)
{
    (void)state;
    Robot robot =
        model(NULL, WORLD(BODY("b", "pos='0 0 2'", "<joint type='free' damping='3' stiffness='7'/>" INERTIAL)), NULL);
    st_SpringDef spring;
    assert_int_equal(st_scene_spring(robot.scene, (st_SpringId){1}, &spring), ST_OK);
    check_vector(spring.damping_along, vec3(3, 3, 3), 0);
    check_vector(spring.damping_about, vec3(3, 3, 3), 0);
    check_vector(spring.stiffness_along, vec3(7, 7, 7), 0);
    check_vector(spring.point_a, vec3(0, 0, 2), 0);
    st_scene_destroy(robot.scene);

    robot = model(NULL, WORLD(BODY("b", "", "<joint type='free' armature='3' pos='0 0 0' limited='false'/>" INERTIAL)),
                  NULL);
    check_close(body(&robot, "b").mass, 1 + 3, 0);
    check_close(body(&robot, "b").gravity, 1 / 4.0, 0); /* its weight is unchanged */
    check_close(body(&robot, "b").inertia.m[4], 1 + 3, 0);
    st_scene_destroy(robot.scene);

    robot = model(NULL, "<default><joint damping='5'/></default>" FREE(""), NULL);
    assert_int_equal(st_scene_spring_count(robot.scene), 0);
    assert_int_equal(st_scene_joint_count(robot.scene), 0);
    st_scene_destroy(robot.scene);
}

/* A static body is part of the ground, and the ground's shapes touch the bodies that hang on it. */
static void worldbody_is_the_ground(void **state)
{
    (void)state;
    Robot robot = model(NULL,
                        WORLD("<geom name='floor' type='plane' pos='0 0 -2'/>" BODY(
                            "pole", "pos='0 0 1'",
                            "<geom type='box' size='0.1 0.1 1'/>" BODY(
                                "arm", "pos='0 0 1'", "<joint axis='0 1 0'/><geom size='0.2' pos='1 0 0'/>"))),
                        WORDS("simulation/end=1"));
    st_ShapeDef shape;
    st_BodyId owner;
    assert_int_equal(st_scene_body_count(robot.scene), 1);
    assert_int_equal(st_scene_shape_count(robot.scene), 3);
    assert_int_equal(st_scene_shape(robot.scene, (st_ShapeId){2}, &shape, &owner), ST_OK);
    assert_int_equal(owner.index1, 0);
    check_vector(shape.pose.p, vec3(0, 0, 1), ROUNDING);
    check_close(robot.def.h, 0.002, 0); /* MuJoCo's own */
    st_scene_destroy(robot.scene);
}

/* ---- whole ---- */

/* The same double pendulum as URDF and as MJCF: the same bodies and joints, and the same motion. */
static void two_formats_one_motion(void **state)
{
    (void)state;
    static const char urdf[] =
        "<robot name='d'><link name='world'/>"
        "<link name='u'><inertial><origin xyz='0 0 -0.5' rpy='0.1 0.2 0.3'/><mass value='2'/><inertia ixx='0.17' "
        "iyy='0.15' izz='0.05'/></inertial></link><link name='l'><inertial><origin xyz='0.1 0 -0.4'/><mass value='1'/>"
        "<inertia ixx='0.06' iyy='0.06' izz='0.02'/></inertial></link>"
        "<joint name='one' type='continuous'><parent link='world'/><child link='u'/><axis xyz='0 1 0'/></joint>"
        "<joint name='two' type='continuous'><parent link='u'/><child link='l'/><origin xyz='0 0 -1' rpy='0 0 0.4'/>"
        "<axis xyz='1 1 0'/><dynamics damping='0.05'/></joint></robot>";
    static const char mjcf[] =
        "<mujoco><compiler angle='radian' eulerseq='XYZ'/><worldbody><body name='u'><joint name='one' axis='0 1 0'/>"
        "<inertial pos='0 0 -0.5' euler='0.1 0.2 0.3' mass='2' diaginertia='0.17 0.15 0.05'/>"
        "<body name='l' pos='0 0 -1' euler='0 0 0.4'><joint name='two' axis='1 1 0' damping='0.05'/>"
        "<inertial pos='0.1 0 -0.4' mass='1' diaginertia='0.06 0.06 0.02'/></body></body></worldbody></mujoco>";
    const char *const sets[] = {"robots/0/positions={\"one\": 1.1, \"two\": 0.4}", "simulation/h=0.001", NULL};
    st_Vec3 end[2];
    for (int k = 0; k < 2; k++) {
        Robot robot = robot_of(k == 0 ? urdf : mjcf, sets);
        st_Error err = {0};
        st_System *system = NULL;
        check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
        for (int i = 0; i < 500; i++)
            check_ok(st_system_step(system, 1e-3, NULL, &err), err);
        st_Pose pose;
        st_system_pose(system, st_scene_find_body(robot.scene, "l"), &pose);
        end[k] = pose.p;
        st_system_destroy(system);
        st_scene_destroy(robot.scene);
    }
    check_vector(end[0], end[1], 1e-10); /* rounding, grown over 500 steps */
    assert_true(fabs(end[0].x) > 0.05);
}

/* The hopper lands and stands on its foot, with its joints near their start: the deviation is the weight over kp. */
static void the_hopper_stands(void **state)
{
    (void)state;
    st_Scene *scene;
    st_SystemDef def = st_system_def();
    st_System *system;
    st_Error err = {0};
    check_ok(st_scene_read("examples/robots/hopper.xml", NULL, 0, &scene, &def, &err), err);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    for (int k = 0; k < 2000; k++)
        check_ok(st_system_step(system, def.h, NULL, &err), err);
    st_JointReport knee;
    st_JointId id = st_scene_find_joint(scene, "knee");
    st_JointDef knee_def;
    st_Pose foot;
    assert_int_equal(st_scene_joint(scene, id, &knee_def), ST_OK);
    check_close(knee_def.armature, 0.016, 0);
    assert_int_equal(st_system_joint(system, id, ST_FRAME_WORLD, &knee), ST_OK);
    assert_int_equal(st_system_pose(system, st_scene_find_body(scene, "foot"), &foot), ST_OK);
    check_close(foot.p.z, 0.015, 1e-6); /* half its height */
    check_below(fabs(knee.speed), 0.02);
    check_below(fabs(knee.coordinate), 0.15); /* 3 kg at a lever of 0.17 m and 120 N m/rad: 0.05, on the way down */
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static void the_ragdoll_comes_to_rest(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def;
    check_ok(st_scene_read("examples/robots/ragdoll.xml", NULL, 0, &scene, &def, &err), err);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    st_StepInfo info = st_step_info();
    double first = NAN;
    for (int k = 0; k < 1000; k++) {
        check_ok(st_system_step(system, def.h, &info, &err), err);
        if (k == 0) first = info.kinetic + info.potential;
    }
    check_below(info.kinetic, 0.5);
    check_below(info.kinetic + info.potential, 0.2 * first);
    for (int k = 1; k <= st_scene_joint_count(scene); k++) {
        st_JointDef one;
        st_JointReport report;
        st_scene_joint(scene, (st_JointId){k}, &one);
        st_system_joint(system, (st_JointId){k}, ST_FRAME_WORLD, &report);
        if (one.type != ST_JOINT_REVOLUTE) continue;
        assert_true(report.coordinate > one.lower - 1e-2 && report.coordinate < one.upper + 1e-2);
    }
    st_system_destroy(system);
    st_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientations_of_five_kinds),
        cmocka_unit_test(euler_sequences),
        cmocka_unit_test(default_classes),
        cmocka_unit_test(masses_of_geoms),
        cmocka_unit_test(masses_add),
        cmocka_unit_test(one_joint_of_several),
        cmocka_unit_test(chains_of_joints),
        cmocka_unit_test(three_hinges_are_a_ball),
        cmocka_unit_test(whole_robots),
        cmocka_unit_test(ranges_and_references),
        cmocka_unit_test(actuators),
        cmocka_unit_test(general_actuators),
        cmocka_unit_test(equalities),
        cmocka_unit_test(filters),
        cmocka_unit_test(frictions),
        cmocka_unit_test(filters_of_two_robots),
        cmocka_unit_test(classes_must_be_there),
        cmocka_unit_test(free_joints),
        cmocka_unit_test(worldbody_is_the_ground),
        cmocka_unit_test(two_formats_one_motion),
        cmocka_unit_test(the_hopper_stands),
        cmocka_unit_test(the_ragdoll_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
