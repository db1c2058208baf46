/* Robots from MJCF: features of public model collections beyond joints, geoms and motors, each compared with a
 * calculation by hand. tests/data/robots has a file for each feature; all of them are read and run. */
#include "robot_check.h"

#include <dirent.h>
#include <stdlib.h>
#include <stiction/batch.h>
#include <stiction/grains.h>

static Robot model(const char *inside)
{
    char text[8192];
    snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/>%s</mujoco>", inside);
    return robot_of(text, NULL);
}

#define INERTIAL                     "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>"
#define WORLD(more)                  "<worldbody>" more "</worldbody>"
#define BODY(name, attributes, more) "<body name='" name "' " attributes ">" more "</body>"
#define SLIDE(name)                  BODY(name, "", INERTIAL "<joint name='" name "' type='slide' axis='1 0 0' range='-1 3'/>")

static st_BodyDef only_body(const char *geoms)
{
    char text[4096];
    snprintf(text, sizeof text, WORLD(BODY("b", "", "<freejoint/>%s")), geoms);
    Robot robot = model(text);
    st_BodyDef def = body(&robot, "b");
    def.name = NULL;
    st_scene_destroy(robot.scene);
    return def;
}

/* kv = 2 z sqrt(kp m): a slide of 2 kg, and a hinge whose body is 3 m from the axis: 1 + 2 9 kg m^2, of which the gear
 * makes a quarter. springdamper: a mass-spring-damper with T and z. */
static void gains_from_masses(void **state)
{
    (void)state;
    Robot robot = model(WORLD(
        SLIDE("s")
            BODY("h", "",
                 "<joint name='h' axis='0 0 1' armature='0.5'/><inertial pos='3 0 0' mass='2' diaginertia='1 1 1'/>")
                BODY("d", "",
                     INERTIAL
                     "<joint name='d' type='slide' springdamper='0.5 0.25'/>")) "<actuator><position joint='s' kp='50' "
                                                                                "dampratio='0.7'/>"
                                                                                "<position joint='h' kp='10' "
                                                                                "dampratio='1' gear='2'/></actuator>");
    check_close(joint(&robot, "s").motor.damping, 2 * 0.7 * sqrt(50 * 2), 1e-12);
    check_close(joint(&robot, "h").motor.stiffness, 4 * 10, 0);
    check_close(joint(&robot, "h").motor.damping, 4 * 2 * sqrt(10 * (19 + 0.5) / 4), 1e-12);
    check_close(joint(&robot, "d").stiffness, 2 / (0.5 * 0.5 * 0.25 * 0.25), 1e-12);
    check_close(joint(&robot, "d").damping, 2 * 2 / 0.5, 1e-12);
    st_scene_destroy(robot.scene);
}

/* The control begins at 0, moved inside its range; inheritrange: the joint's; forcerange, the same either way or not.
 */
static void controls_and_forces(void **state)
{
    (void)state;
    Robot robot = model(WORLD(SLIDE("p") SLIDE("q") SLIDE("v") SLIDE("g") SLIDE(
        "two")) "<actuator><position joint='p' kp='8' ctrlrange='0.5 1'/><position joint='q' kp='8' "
                "inheritrange='0.5'/>"
                "<velocity joint='v' kv='4' ctrlrange='2 3' forcerange='-1 5'/>"
                "<general joint='g' gaintype='affine' gainprm='0 -3 -2' biastype='affine' biasprm='1 -4 0' "
                "ctrlrange='2 5'/>"
                "<motor joint='two' ctrlrange='-1 1'/><position name='hold' joint='two' kp='9'/></actuator>");
    check_close(joint(&robot, "p").motor.target, 0.5, 0);
    check_close(joint(&robot, "q").motor.target, 0, 0); /* of -1 .. 3 half: 0 .. 2 */
    st_MotorDef v = joint(&robot, "v").motor, g = joint(&robot, "g").motor;
    assert_int_equal(v.type, ST_MOTOR_SPEED);
    check_close(v.target, 2, 0);
    check_close(v.damping, 4, 0);
    check_close(v.mid_force, 2, 0);
    check_close(v.max_force, 3, 0);
    check_close(g.stiffness, 4 + 3 * 2, 0); /* u = 2 */
    check_close(g.damping, 2 * 2, 0);
    check_close(g.target, 1 / 10.0, 0);
    assert_int_equal(joint(&robot, "two").motor.type, ST_MOTOR_FORCE);
    assert_int_equal(joint(&robot, "hold").type, ST_JOINT_TENDON); /* the second actuator of a joint */
    check_close(joint(&robot, "hold").motor.stiffness, 9, 0);
    st_scene_destroy(robot.scene);
}

static Robot read_file(const char *path)
{
    Robot robot = {0};
    st_Error err = {0};
    if (st_scene_read(path, NULL, 0, &robot.scene, &robot.def, &err) != ST_OK) fail_msg("%s", err.message);
    return robot;
}

/* The L has 7 kg and its two arms; a box of 2, 4, 6 becomes 4, 2, 6 by refquat, then the scale applies. */
static void mesh_masses(void **state)
{
    (void)state;
    Robot robot = read_file("tests/data/robots/meshes.xml");
    const st_BodyDef L = body(&robot, "L"), box = body(&robot, "box");
    check_close(L.mass, 7, 1e-12);
    check_vector(L.pose.p, vec3((4 * 0.2 + 3 * 0.05) / 7, (4 * 0.05 + 3 * 0.25) / 7, 1.05), 1e-14);
    check_close(box.mass, 48, 1e-12);
    check_close(box.inertia.m[0], 48 / 3.0 * (0.2 * 0.2 + 0.15 * 0.15), 1e-12);
    check_close(box.inertia.m[4], 48 / 3.0 * (0.2 * 0.2 + 0.15 * 0.15), 1e-12);
    check_close(box.inertia.m[8], 48 / 3.0 * (0.2 * 0.2 + 0.2 * 0.2), 1e-12);
    st_scene_destroy(robot.scene);
}

/* Atwood: (1.5 - 0.5) g = (1.5 + 0.5) a. Second pair: v3 = v4/2, so a4 = g (1 + 0.5)/(1 + 0.25). */
static void check_ropes(const Robot *robot)
{
    const double g = 9.81, t = 0.1, fall[] = {-g / 2, g / 2, g * 1.5 / 1.25 / 2, g * 1.5 / 1.25};
    st_System *system = NULL;
    assert_int_equal(st_system_create(robot->scene, &robot->def, &system, NULL), ST_OK);
    for (int k = 0; k < 100; k++)
        assert_int_equal(st_system_step(system, t / 100, NULL, NULL), ST_OK);
    for (int k = 0; k < 4; k++) {
        const char name[] = {'b', (char)('1' + k), '\0'};
        st_Vec3 velocity, spin;
        assert_int_equal(st_system_velocity(system, st_scene_find_body(robot->scene, name), &velocity, &spin), ST_OK);
        check_close(velocity.z, -fall[k] * t, 1e-8);
    }
    st_system_destroy(system);
}

/* As read, and written as MJCF and read again: MuJoCo has no negative divisors. */
static void two_ropes(void **state)
{
    (void)state;
    Robot robot = read_file("tests/data/robots/ropes.xml"), again = {0};
    char *text = NULL, *remarks = NULL;
    st_Error err = {0};
    check_ropes(&robot);
    check_ok(st_scene_write_mjcf(robot.scene, &robot.def, "again", &text, &remarks, &err), err);
    again.scene = scene_of(text, &again.def, NULL);
    check_ropes(&again);
    free(text);
    free(remarks);
    st_scene_destroy(again.scene);
    st_scene_destroy(robot.scene);
}

/* All bodies are drawn with their x along the world's y. Spins are in body axes. Inertia: 2 0.1^2 2/3 kg m^2. */
static void thrusters(void **state)
{
    (void)state;
    const struct {
        const char *name;
        st_Vec3 velocity, spin;
    } cases[] = {{"push", {1.5, 0, 0}, {0, 0, 0}},
                 {"spin", {0, 0, 0}, {1, 0, 0}},   /* about its own x */
                 {"turn", {0, 0, 0}, {0, -1, 0}},  /* about the world's x */
                 {"own", {0, 0, 0}, {1, 0, 0}},    /* about its own x */
                 {"drawn", {0, 0, 0}, {0, 1, 0}}}; /* about its y as drawn */
    const double h = 1e-4, inertia = 2 * 0.1 * 0.1 * 2 / 3;
    Robot robot = read_file("tests/data/robots/thrusters.xml");
    st_System *system = NULL;
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, NULL), ST_OK);
    assert_int_equal(st_system_step(system, h, NULL, NULL), ST_OK);
    for (int k = 0; k < 5; k++) {
        st_Vec3 velocity, spin;
        assert_int_equal(st_system_velocity(system, st_scene_find_body(robot.scene, cases[k].name), &velocity, &spin),
                         ST_OK);
        check_vector(velocity, scale(h, cases[k].velocity), 1e-12);
        check_vector(spin, scale(0.3 * h / inertia, cases[k].spin), 1e-9);
    }
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

static void tendons(void **state)
{
    (void)state;
    Robot robot = model(WORLD(SLIDE("a") SLIDE("b") "<site name='w' pos='0 0 5'/>" BODY(
        "m", "pos='3 0 0'",
        "<freejoint/>" INERTIAL "<site name='end' pos='1 0 0'/>"
        "<geom name='drum' type='cylinder' size='0.2 1' euler='1.5707963267948966 0 0' pos='0 0 1' contype='0' "
        "conaffinity='0'/>"
        "<site name='side' pos='0 0 3'/>")) "<tendon><fixed name='sum' range='-1 2' springlength='0.5 0.75' "
                                            "stiffness='4'><joint joint='a' coef='0.5'/>"
                                            "<joint joint='b' coef='-2'/></fixed>"
                                            "<spatial name='rope' damping='3'><site site='w'/><geom geom='drum' "
                                            "sidesite='side'/><site site='end'/>"
                                            "<pulley divisor='2'/><site site='w'/><site site='side'/></spatial>"
                                            "<fixed><joint joint='a' coef='1'/></fixed></tendon>"
                                            "<actuator><motor name='pull' tendon='sum' gear='3' forcerange='0 "
                                            "10'/></actuator>");
    st_JointDef sum = joint(&robot, "sum"), rope = joint(&robot, "rope");
    assert_int_equal(sum.n_path, 2);
    check_close(sum.path[1].coefficient, -2, 0);
    check_close(sum.lower, -1, 0);
    check_close(sum.rest, 0.5, 0);
    check_close(sum.slack, 0.25, 0);
    assert_int_equal(sum.motor.type, ST_MOTOR_FORCE);
    check_close(sum.motor.max_force, 15, 0);
    check_close(sum.motor.mid_force, 15, 0);
    assert_int_equal(rope.n_path, 6);
    assert_int_equal(rope.path[1].kind, ST_TENDON_CYLINDER);
    check_vector(rope.path[1].axis, vec3(0, -1, 0), 1e-12);
    check_close(rope.path[1].radius, 0.2, 0);
    check_vector(rope.path[1].side, vec3(0, 0, 3), 0);
    check_vector(rope.path[2].point, vec3(1, 0, 0), 0);
    check_close(rope.path[3].coefficient, 2, 0);
    assert_int_equal(st_scene_joint_count(robot.scene), 4); /* two slides, two tendons: the third only measures */
    st_scene_destroy(robot.scene);
}

/* A class overrides only the numbers that it gives: "0.02" after "0.05 0.1" is 0.02 and 0.1. All actuators of a
 * class have one set of gains, which <position> writes as <general> would; <motor> goes back to a gain of 1. */
static void classes(void **state)
{
    (void)state;
    Robot robot = model(
        "<default><geom friction='0.5 0.01'/><default class='a'><geom type='capsule' size='0.05 0.1' friction='0.7'/>"
        "<position kp='30' kv='2'/><default class='b'><geom size='0.02'/></default></default></default>" WORLD(
            BODY("x", "childclass='b'", INERTIAL "<joint name='x'/><geom name='x'/>") BODY(
                "y", "childclass='b'",
                INERTIAL "<joint name='y'/>")) "<actuator><general joint='x' class='b'/><motor joint='y' class='b' "
                                               "gear='3'/><position name='z' joint='y' class='a'/></actuator>");
    st_ShapeDef shape;
    assert_int_equal(st_scene_shape(robot.scene,
                                    st_scene_find_shape(robot.scene, st_scene_find_body(robot.scene, "x"), "x"), &shape,
                                    NULL),
                     ST_OK);
    check_close(shape.radius, 0.02, 0);
    check_close(shape.length, 0.2, 0);
    check_close(shape.mu, 0.7, 0);
    check_close(joint(&robot, "x").motor.stiffness, 30, 0);
    check_close(joint(&robot, "x").motor.damping, 2, 0);
    assert_int_equal(joint(&robot, "y").motor.type, ST_MOTOR_FORCE);
    check_close(joint(&robot, "z").motor.stiffness, 30, 0);
    st_scene_destroy(robot.scene);
}

/* The sum of two angles, 0.3 and -0.2 as drawn by ref, is held at -0.1; a rope of 2 m at its length. A range with
 * equal bounds is no limit unless its flag is set. */
static void held_tendons_and_ranges(void **state)
{
    (void)state;
    Robot robot = model(WORLD(
        BODY("a", "", INERTIAL "<joint name='a' ref='0.3' range='0 0'/>")
            BODY("b", "", INERTIAL "<joint name='b' ref='-0.2' actuatorfrcrange='0 0'/>")
                BODY("c", "pos='0 0 3'",
                     "<freejoint/>" INERTIAL
                     "<site name='c'/>") "<site name='w' pos='0 0 5'/>") "<"
                                                                         "tendon>"
                                                                         "<fixed name='sum'><joint joint='a' "
                                                                         "coef='1'/><joint joint='b' coef='2'/></fixed>"
                                                                         "<spatial name='rope'><site site='w'/><site "
                                                                         "site='c'/></spatial></tendon>"
                                                                         "<equality><tendon name='hold' tendon1='sum' "
                                                                         "polycoef='0 1 0 0 0'/><tendon name='hang' "
                                                                         "tendon1='rope'/></equality>");
    assert_true(isinf(joint(&robot, "a").upper));
    const st_JointDef hold = joint(&robot, "hold"), hang = joint(&robot, "hang");
    assert_int_equal(hold.motor.type, ST_MOTOR_MOTION);
    check_close(hold.motor.target, 0, 1e-15); /* a scene counts from the start */
    check_close(hang.motor.target, 2, 1e-15);
    st_SystemDef def = st_system_def();
    st_System *system = NULL;
    st_JointReport report;
    st_Pose pose;
    assert_int_equal(st_system_create(robot.scene, &def, &system, NULL), ST_OK);
    for (int k = 0; k < 100; k++)
        assert_int_equal(st_system_step(system, 1e-3, NULL, NULL), ST_OK);
    assert_int_equal(st_system_joint(system, st_scene_find_joint(robot.scene, "hold"), ST_FRAME_WORLD, &report), ST_OK);
    check_close(report.coordinate, 0, 1e-6);
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot.scene, "c"), &pose), ST_OK);
    check_close(pose.p.z, 3, 1e-6);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Ball joints: a range limits swing and twist, an actuator turns about an axis of the body. A belt moves. */
static void balls_and_belts(void **state)
{
    (void)state;
    Robot robot = model(WORLD("<geom name='belt' type='box' size='1 1 1' surfacevel='0 2 0'/>" BODY(
        "a", "pos='0 0 3' euler='0 0 1.5707963267948966'",
        "<joint name='a' type='ball' range='0 0.8'/>" INERTIAL)) "<deformable><skin file='none.skn'/></deformable>"
                                                                 "<actuator><position name='p' joint='a' gear='3 0 "
                                                                 "0' kp='2'/></actuator>");
    const st_JointDef ball = joint(&robot, "a"), p = joint(&robot, "p");
    check_close(ball.upper, 0.8, 0);
    check_close(ball.other_lower, -0.8, 0);
    assert_int_equal(p.type, ST_JOINT_FREE);
    assert_int_equal(p.coordinate, ST_COORDINATE_ANGLE);
    check_vector(p.axis, vec3(0, 1, 0), 1e-12); /* x of the body, in the world */
    check_close(p.motor.stiffness, 9 * 2, 0);
    st_ShapeDef shape;
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, ST_GROUND, "belt"), &shape, NULL),
                     ST_OK);
    check_vector(shape.surface_velocity, vec3(0, 2, 0), 0);
    st_scene_destroy(robot.scene);
}

static double sensed(const Robot *robot, const st_System *system, const char *name, int value)
{
    double values[ST_MEASURE_VALUES];
    for (int k = 0; k < st_scene_measure_count(robot->scene); k++) {
        st_MeasureDef measure;
        assert_int_equal(st_scene_measure(robot->scene, k, &measure), ST_OK);
        if (strcmp(measure.name, name) != 0) continue;
        assert_int_equal(st_system_measure(system, k, values, NULL, NULL), ST_OK);
        return values[value];
    }
    fail_msg("no sensor %s", name);
    return NAN;
}

/* A crate of 3 kg at rest with a pole of 1 kg on it, welded on, and an arm of 2 kg whose hinge is drawn at 0.3 and
 * held there by a stiff servo: weights, distances and angles are known. The site of the IMU is turned by a quarter
 * about y: its x axis points down. */
static void sensors_at_rest(void **state)
{
    (void)state;
    Robot robot = model("<option timestep='0.001'/>" WORLD("<geom type='plane' size='1 1 1'/>" BODY(
        "crate", "pos='0 0 0.5'",
        "<freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>"
        "<geom type='box' size='0.5 0.5 0.5'/><site name='imu' pos='0.1 0 0' euler='0 1.5707963267948966 0'/>"
        "<site name='eye' pos='0.7 0 0' euler='3.141592653589793 0 0'/>"
        "<site name='right' type='box' size='0.3 0.6 0.6' pos='0.25 0 0'/>" BODY(
            "pole", "pos='0 0 0.5'", "<inertial pos='0 0 0.4' mass='1' diaginertia='1 1 1'/><site name='foot'/>")
            BODY("arm", "pos='0 0 0.5'",
                 "<joint name='arm' axis='0 1 0' ref='0.3'/><inertial pos='0.1 0 0' mass='2' diaginertia='1 1 "
                 "1'/>"))) "<tendon><fixed name='sum'><joint joint='arm' coef='2'/></fixed></tendon>"
                           "<actuator><position name='servo' joint='arm' gear='2' kp='1e6' kv='1e4' "
                           "ctrlrange='0.6 0.6001'/></actuator>"
                           "<sensor><accelerometer name='acc' site='imu'/><gyro name='gyro' site='imu'/>"
                           "<force name='f' site='foot'/><torque name='t' site='foot'/>"
                           "<touch name='touch' site='right'/><rangefinder name='far' site='eye'/>"
                           "<jointpos name='angle' joint='arm'/><tendonpos name='sum' tendon='sum'/>"
                           "<actuatorpos name='drive' actuator='servo'/><actuatorfrc name='effort' "
                           "actuator='servo'/>"
                           "<framepos name='where' objtype='site' objname='foot' reftype='site' refname='eye'/>"
                           "<framexaxis name='down' objtype='site' objname='imu'/>"
                           "<subtreecom name='com' body='crate'/><clock name='clock'/><magnetometer "
                           "site='imu'/></sensor>");
    st_System *system = NULL;
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, NULL), ST_OK);
    for (int k = 0; k < 200; k++)
        assert_int_equal(st_system_step(system, 1e-3, NULL, NULL), ST_OK);
    check_close(sensed(&robot, system, "acc", 0), -9.81, 1e-6); /* its support acts upwards */
    check_close(sensed(&robot, system, "acc", 2), 0, 1e-6);
    check_close(sensed(&robot, system, "gyro", 1), 0, 1e-6);
    check_close(sensed(&robot, system, "f", 2), 9.81, 1e-6);
    check_close(sensed(&robot, system, "t", 1), 0, 1e-6);
    check_close(sensed(&robot, system, "touch", 0), 9.81 * (6 * 0.5 + 2 * 0.1), 1e-3); /* the arm is 0.1 m off */
    check_close(sensed(&robot, system, "far", 0), 0.5, 1e-6);
    check_close(sensed(&robot, system, "angle", 0), 0.3, 1e-4);
    check_close(sensed(&robot, system, "sum", 0), 0.6, 2e-4);
    check_close(sensed(&robot, system, "drive", 0), 0.6, 2e-4);
    check_close(sensed(&robot, system, "effort", 0), -9.81 * 2 * 0.1 / 2, 1e-3);
    check_close(sensed(&robot, system, "where", 0), -0.7, 1e-6);
    check_close(sensed(&robot, system, "where", 2), -0.5, 1e-6);
    check_close(sensed(&robot, system, "down", 2), -1, 1e-9);
    check_close(sensed(&robot, system, "com", 0), 2 * 0.1 / 6, 1e-6);
    check_close(sensed(&robot, system, "clock", 0), 0.2, 1e-12);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A free body, a hinge with a body 1 m out and a ball joint, each at places and speeds of a keyframe: forward
 * kinematics by hand. The motor's control of 0.7 is the target of the servo; the hinge is drawn at 0.2. */
#define QUARTER "0.70710678118654752"
static void keyframes(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0'/>" WORLD(BODY("f", "pos='0 0 1'", "<freejoint/>" INERTIAL) BODY(
        "h", "pos='2 0 0'",
        "<joint name='h' axis='0 0 1' ref='0.2'/><inertial pos='1 0 0' mass='2' diaginertia='1 1 1'/>" BODY(
            "b", "pos='1 0 0'",
            "<joint name='b' type='ball' pos='0 0 1'/>" INERTIAL))) "<actuator><position name='s' joint='h' kp='5' "
                                                                    "ctrlrange='-1 0.7'/></actuator>"
                                                                    "<keyframe><key name='home'/><key name='go' "
                                                                    "time='3' qpos='1 2 3 0 1 0 0 "
                                                                    "1.7707963267948966 " QUARTER " 0 0 " QUARTER
                                                                    "' qvel='4 5 6 0 0 7 2 0 0 3' "
                                                                    "ctrl='9'/></keyframe>");
    st_System *system = NULL;
    st_Pose pose;
    st_Vec3 v, w;
    assert_int_equal(st_scene_keyframe_count(robot.scene), 2);
    assert_int_equal(st_scene_find_keyframe(robot.scene, "go"), 2);
    robot.def.keyframe = 2;
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, NULL), ST_OK);
    const st_BodyId f = st_scene_find_body(robot.scene, "f"), h = st_scene_find_body(robot.scene, "h"),
                    b = st_scene_find_body(robot.scene, "b");
    check_close(st_system_time(system), 3, 0);
    st_system_pose(system, f, &pose);
    st_system_velocity(system, f, &v, &w);
    check_vector(pose.p, vec3(1, 2, 3), 1e-12);
    check_vector(v, vec3(4, 5, 6), 1e-12);
    check_vector(w, vec3(0, 0, 7), 1e-12);
    st_system_pose(system, h, &pose); /* a quarter of a turn from where it is drawn */
    st_system_velocity(system, h, &v, &w);
    check_vector(pose.p, vec3(2, 1, 0), 1e-12);
    check_vector(v, vec3(-2, 0, 0), 1e-12);
    st_system_pose(system, b, &pose); /* turned by another quarter about a point above its middle */
    st_system_velocity(system, b, &v, &w);
    check_vector(pose.p, vec3(2, 1, 0), 1e-12);
    check_close(fabs(pose.q.z), 1, 1e-12);
    check_vector(w, vec3(0, 0, 5), 1e-12);
    check_vector(v, vec3(-2, 0, 0), 1e-12);
    st_JointReport report;
    assert_int_equal(st_system_joint(system, st_scene_find_joint(robot.scene, "h"), ST_FRAME_WORLD, &report), ST_OK);
    check_close(report.coordinate, 1.5707963267948966, 1e-12);
    assert_int_equal(st_system_step(system, 1e-6, NULL, NULL), ST_OK);
    assert_int_equal(st_system_joint(system, st_scene_find_joint(robot.scene, "h"), ST_FRAME_WORLD, &report), ST_OK);
    check_close(report.motor, 5 * (0.7 - 1.7707963267948966), 1e-4);
    assert_int_equal(st_system_set_keyframe(system, 1, NULL), ST_OK);
    st_system_pose(system, h, &pose);
    check_vector(pose.p, vec3(3, 0, 0), 1e-12);
    st_Error err = {0};
    assert_int_equal(st_system_set_keyframe(system, 3, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "keyframe 3, the scene has 2"));
    st_system_destroy(system);
    /* worlds are put back to them, with the motors that they set */
    st_BatchDef def = st_batch_def();
    st_Batch *batch = NULL;
    def.worlds = 2;
    robot.def.keyframe = 0;
    assert_int_equal(st_batch_create(robot.scene, &robot.def, &def, &batch, NULL), ST_OK);
    assert_int_equal(st_batch_reset(batch, (const unsigned char[]){0, 1}, (const int[]){0, 2}, NULL), ST_OK);
    const double *q = st_batch_array(batch, ST_BATCH_Q), *u = st_batch_array(batch, ST_BATCH_CONTROLS);
    check_close(q[0], 0, 0);
    check_close(q[st_batch_width(batch, ST_BATCH_Q)], 1, 0);
    assert_true(isnan(u[0]));
    check_close(u[1], 0.7 - 0.2, 1e-12);
    assert_int_equal(st_batch_step(batch, 3, NULL, NULL), ST_OK);
    st_batch_destroy(batch);
    st_scene_destroy(robot.scene);
    check_refused("<mujoco><worldbody><body>" INERTIAL
                  "<joint/></body></worldbody><keyframe>\n<key qpos='1 2'/></keyframe></mujoco>",
                  2, "qpos has more than 1 numbers", "must have 1");
}

/* Activations. A force of 6 N that is approached with tau = 0.1 s gives 2 kg the speed 3 (t - tau (1 -
 * exp(-t/tau))); one that grows by 5 N/s gives them 5 t^2/4, until it is at its largest. A controller's value is
 * moved inside ctrlrange. A saved state has them, a keyframe sets them, and they continue when the time is set back. */
static double speed_of(const Robot *robot, const st_System *system, const char *name)
{
    st_Vec3 v, w;
    assert_int_equal(st_system_velocity(system, st_scene_find_body(robot->scene, name), &v, &w), ST_OK);
    return v.x;
}

static void activations(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0' timestep='1e-4'/>" WORLD(
        BODY("f", "", INERTIAL "<joint name='f' type='slide' axis='1 0 0'/>")
            BODY("i", "pos='0 9 0'", INERTIAL "<joint name='i' type='slide' axis='1 0 0'/>") BODY(
                "p", "pos='0 18 0'",
                INERTIAL
                "<joint name='p' type='slide' axis='1 0 0' ref='1'/>")) "<actuator><general joint='f' dyntype='filter' "
                                                                        "dynprm='0.1' gainprm='6' ctrlrange='-1 1'/>"
                                                                        "<general joint='i' dyntype='integrator' "
                                                                        "gainprm='4' actrange='-1 0.5'/>"
                                                                        "<position joint='p' kp='3' ctrlrange='-1 "
                                                                        "2'/></actuator>"
                                                                        "<keyframe><key name='k' ctrl='0.5 7 9' act='0 "
                                                                        "0.25'/></keyframe>");
    check_close(joint(&robot, "f").motor.lag, 0.1, 0);
    check_close(joint(&robot, "f").motor.highest, 6, 0);
    assert_true(joint(&robot, "i").motor.integrate);
    check_close(joint(&robot, "i").motor.highest, 2, 0);
    check_close(joint(&robot, "p").motor.highest, 2 - 1, 1e-15); /* from where it is drawn, 1 */

    st_System *system = NULL, *other = NULL;
    st_Error err = {0};
    const double tau = 0.1, h = 1e-4, wanted[] = {100, 5, 50};
    double set[3];
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, &err), ST_OK);
    assert_int_equal(st_system_set_controls(system, wanted, 3, &err), ST_OK);
    assert_int_equal(st_system_controls(system, set, 3, &err), ST_OK);
    check_close(set[0], 6, 0);
    check_close(set[1], 5, 0); /* a rate, which has no range */
    check_close(set[2], 1, 1e-15);
    for (int k = 0; k < 3000; k++) {
        if (k == 1000) { /* in the middle: into another system, and again with the present values */
            const size_t size = st_system_save(system, NULL, 0);
            unsigned char *saved = malloc(size);
            assert_int_equal(st_system_save(system, saved, size), size);
            assert_int_equal(st_system_create(robot.scene, &robot.def, &other, &err), ST_OK);
            assert_int_equal(st_system_restore(other, saved, size, &err), ST_OK);
            free(saved);
            st_system_destroy(system);
            system = other;
            assert_int_equal(st_system_set_controls(system, wanted, 3, &err), ST_OK);
        }
        assert_int_equal(st_system_step(system, h, NULL, &err), ST_OK);
    }
    const double T = 0.3;
    check_close(speed_of(&robot, system, "f"), 3 * (T - tau * (1 - exp(-T / tau))), 3 * h);
    check_close(speed_of(&robot, system, "i"), 5 * T * T / 4, 5 * h);
    double q[21 + 3], v[18];
    assert_true(st_system_n_q(system) <= 24 && st_system_n_v(system) <= 18);
    st_system_state(system, q, v);
    const double before = speed_of(&robot, system, "f");
    assert_int_equal(st_system_set_state(system, 0, q, v, &err), ST_OK);
    for (int k = 0; k < 2000; k++)
        assert_int_equal(st_system_step(system, h, NULL, &err), ST_OK);
    const double a = 3 * (1 - exp(-T / tau)), t = 0.2; /* on from there */
    check_close(speed_of(&robot, system, "f"), before + 3 * t + (a - 3) * tau * (1 - exp(-t / tau)), 3 * h);
    check_close(speed_of(&robot, system, "i"), 5 * 0.4 * 0.4 / 4 + 0.1 * 2 / 2, 5 * h); /* 2 N from 0.4 s on */
    assert_int_equal(st_system_set_keyframe(system, 1, &err), ST_OK);
    for (int k = 0; k < 100; k++)
        assert_int_equal(st_system_step(system, h, NULL, &err), ST_OK);
    check_close(speed_of(&robot, system, "f"), 3 * 0.01 / 2, 1e-9); /* the control 0.5, reached */
    check_close(speed_of(&robot, system, "i"), 1 * 0.01 / 2, 1e-9); /* act 0.25 */
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
    check_refused(
        "<mujoco><worldbody><body>" INERTIAL
        "<joint name='j'/></body></worldbody><actuator><motor joint='j'/></actuator><keyframe>\n<key act='1'/>"
        "</keyframe></mujoco>",
        2, "act has more than 0 numbers");
}

/* joint1 - ref1 = c0 + c1 d + c2 d^2 + c3 d^3 + c4 d^4 with d = joint2 - ref2, whatever the start: the driver starts at
 * 0.3, is turned to 0.8 by its servo, and the slide is where the polynomial has it at both. */
static void curved_gears(void **state)
{
    (void)state;
    static const char *const sets[] = {"robots/0/positions={\"h\": 0.3}", NULL};
    Robot robot = robot_of(
        "<mujoco><compiler angle='radian'/><option gravity='0 0 0' timestep='1e-3'/>" WORLD(
            BODY("h", "", INERTIAL "<joint name='h' axis='0 0 1' ref='0.1'/>")
                BODY("s", "pos='0 9 0'",
                     INERTIAL
                     "<joint name='s' type='slide' axis='1 0 0' ref='0.05'/>")) "<equality><joint joint1='s' "
                                                                                "joint2='h' polycoef='0.02 0.5 -0.4 "
                                                                                "0.3 0.2'/></equality>"
                                                                                "<actuator><position joint='h' kp='50' "
                                                                                "kv='20'/></actuator></mujoco>",
        sets);
    st_System *system = NULL;
    st_Error err = {0};
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, &err), ST_OK);
    for (int k = 0; k < 2; k++) {
        const double angle = k == 0 ? 0.3 : 0.8, d = angle - 0.1;
        const double x = 0.05 + 0.02 + d * (0.5 + d * (-0.4 + d * (0.3 + d * 0.2)));
        st_Pose pose;
        st_system_pose(system, st_scene_find_body(robot.scene, "s"), &pose);
        check_close(pose.p.x, x - 0.05, k == 0 ? 1e-14 : 1e-6);
        assert_int_equal(st_system_set_motor(system, st_scene_find_joint(robot.scene, "h"), 0.8 - 0.3, &err), ST_OK);
        for (int i = 0; i < 4000 && k == 0; i++)
            assert_int_equal(st_system_step(system, 1e-3, NULL, &err), ST_OK);
    }
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A tetrahedron with the corners 0 and the unit vectors has V = 1/6 and its centre at 1/4 each; without its slanted
 * face MuJoCo's way, tetrahedra to the middle of the surface, still has a mass; a square has none but that of its
 * surface. */
#define TETRA "vertex='0 0 0 1 0 0 0 1 0 0 0 1'"
static void masses_of_meshes(void **state)
{
    (void)state;
    Robot robot =
        model("<asset><mesh name='t' " TETRA " face='0 2 1 0 1 3 0 3 2 1 2 3' inertia='exact'/>"
              "<mesh name='c' " TETRA " inertia='convex'/><mesh name='l' " TETRA " face='0 2 1 0 1 3 0 3 2 1 2 3'/>"
              "<mesh name='s' " TETRA " face='0 2 1 0 1 3 0 3 2 1 2 3' inertia='shell'/></asset>" WORLD(
                  BODY("t", "", "<freejoint/><geom type='mesh' mesh='t' density='6'/>")
                      BODY("c", "", "<freejoint/><geom type='mesh' mesh='c' density='6'/>")
                          BODY("l", "", "<freejoint/><geom type='mesh' mesh='l' density='6'/>")
                              BODY("s", "", "<freejoint/><geom type='mesh' mesh='s' density='2'/>")));
    const char *const solid[] = {"t", "c", "l"};
    for (int k = 0; k < 3; k++) {
        check_close(body(&robot, solid[k]).mass, 1, 1e-12);
        check_vector(body(&robot, solid[k]).pose.p, vec3(0.25, 0.25, 0.25), 1e-12);
        /* int x^2 = 1/60 per volume 1/6: 1/10; about the centre Ixx = 2 (1/10 - 1/16), Ixy = -(1/20 - 1/16) */
        check_close(body(&robot, solid[k]).inertia.m[0], 2 * (0.1 - 0.0625), 1e-12);
        check_close(body(&robot, solid[k]).inertia.m[1], 0.0625 - 0.05, 1e-12);
    }
    check_close(body(&robot, "s").mass, 2 * (1.5 + sqrt(3) / 2), 1e-12);
    st_scene_destroy(robot.scene);
}

/* A box as a mesh, and shapes fitted to it: z is the longest side, its inertia that of the box itself. */
static void shapes_around_meshes(void **state)
{
    (void)state;
#define BRICK                                                                                                          \
    "<asset><mesh name='b' inertia='convex' vertex='-1 -2 -3 1 -2 -3 -1 2 -3 1 2 -3 -1 -2 3 1 -2 3 -1 2 3 1 2 "        \
    "3'/></asset>"
    Robot robot = model(
        BRICK WORLD(BODY("box", "", "<freejoint/><geom name='x' type='box' mesh='b'/>")
                        BODY("pill", "", "<freejoint/><geom name='x' type='capsule' mesh='b'/>")
                            BODY("can", "", "<freejoint/><geom name='x' type='cylinder' mesh='b' pos='1 0 0'/>")));
    st_ShapeDef shape;
    st_ShapeId id = st_scene_find_shape(robot.scene, st_scene_find_body(robot.scene, "box"), "x");
    assert_int_equal(st_scene_shape(robot.scene, id, &shape, NULL), ST_OK);
    check_vector(shape.half, vec3(1, 2, 3), 1e-9);
    id = st_scene_find_shape(robot.scene, st_scene_find_body(robot.scene, "pill"), "x");
    assert_int_equal(st_scene_shape(robot.scene, id, &shape, NULL), ST_OK);
    check_close(shape.radius, 1.5, 1e-9);
    check_close(shape.length, 2 * (3 - 1.5 / 2), 1e-9);
    check_vector(body(&robot, "can").pose.p, vec3(1, 0, 0), 1e-9);
    st_scene_destroy(robot.scene);
}

/* Thin shells have their mass on the surface: a ball 2/3 m r^2. */
static void shells(void **state)
{
    (void)state;
    st_BodyDef ball = only_body("<geom type='sphere' size='2' mass='3' shellinertia='true'/>");
    check_close(ball.inertia.m[0], 2 * 3 * 4 / 3.0, 1e-12);
    /* a tube of length 2 h with its two lids: I_z = side r^2 + lids r^2/2, areas 4 pi r h and 2 pi r^2 */
    st_BodyDef can = only_body("<geom type='cylinder' size='1 2' mass='10' shellinertia='true'/>");
    check_close(can.mass, 10, 1e-12);
    check_close(can.inertia.m[8], 10 * (8 + 1) / 10.0, 1e-12);
}

/* A frame in a frame, and its copies. */
static void frames(void **state)
{
    (void)state;
    Robot robot = model(WORLD("<frame pos='1 0 0' euler='0 0 1.5707963267948966'><frame pos='1 0 0'>" BODY(
        "b", "pos='1 0 0'",
        "<freejoint/>" INERTIAL "<frame pos='0 0 5'>"
        "<geom name='x' type='sphere' size='1' pos='1 0 0'/></frame>") "</frame></frame>" BODY("h", "",
                                                                                               INERTIAL
                                                                                               "<frame euler='0 "
                                                                                               "1.5707963267948966 0' "
                                                                                               "pos='0 0 2'><joint "
                                                                                               "name='h' axis='0 0 "
                                                                                               "1'/></frame>")));
    check_vector(body(&robot, "b").pose.p, vec3(1, 2, 0), 1e-15);
    check_vector(joint(&robot, "h").axis, vec3(1, 0, 0), 1e-15);
    check_vector(joint(&robot, "h").point, vec3(0, 0, 2), 1e-15);
    st_ShapeDef shape;
    st_ShapeId id = st_scene_find_shape(robot.scene, st_scene_find_body(robot.scene, "b"), "x");
    assert_int_equal(st_scene_shape(robot.scene, id, &shape, NULL), ST_OK);
    check_vector(shape.pose.p, vec3(1, 0, 5), 1e-15);
    st_scene_destroy(robot.scene);
}

/* gravcomp, bounds on masses, flags, actuators on sites, meshes whose names have dots, bodies that never move. */
static void bodies_and_flags(void **state)
{
    (void)state;
    Robot robot = model(
        "<option><flag contact='disable' limit='disable' gravity='disable'/></option>"
        "<compiler boundmass='0.5' boundinertia='0.25' balanceinertia='true'/>" WORLD(
            BODY("g", "gravcomp='0.75'",
                 "<freejoint/>" INERTIAL "<geom type='sphere' size='1'/>"
                 "<site name='s' pos='0 0 1' quat='0 1 0 0'/>")
                BODY("light", "",
                     "<joint name='l' range='-1 1'/><inertial pos='0 0 0' mass='0.1' diaginertia='9 1 0.1'/>")
                    BODY("post", "",
                         "<geom type='mesh' mesh='none' contype='0' conaffinity='0'/>")) "<actuator><motor name='jet' "
                                                                                         "site='s' gear='0 0 2 0 1 "
                                                                                         "0'/></actuator>");
    check_close(body(&robot, "g").gravity, 0.25, 0);
    check_close(robot.def.gravity.z, 0, 0);
    check_close(body(&robot, "light").mass, 0.5, 0);
    check_close(body(&robot, "light").inertia.m[0], (9 + 1 + 0.25) / 3, 1e-15);
    assert_int_equal(st_scene_shape_count(robot.scene), 0);
    assert_true(isinf(joint(&robot, "l").upper));
    st_ForceDef force;
    assert_int_equal(st_scene_force(robot.scene, st_scene_find_force(robot.scene, "jet"), &force), ST_OK);
    check_vector(force.point, vec3(0, 0, 1), 0);
    assert_true(force.body_axes);
    st_scene_destroy(robot.scene);
}

/* A grid of 3 x 2 samples, as far apart along x as along y; another one that is not. */
static void height_fields(void **state)
{
    (void)state;
#define FIELD(size) "<asset><hfield name='h' nrow='2' ncol='3' size='" size "' elevation='3 5 5 1 1 2'/></asset>"
    Robot robot = model(FIELD("1 0.5 8 1") WORLD(
        "<geom name='x' type='hfield' hfield='h'/>" BODY("b", "pos='0 0 20'", "<freejoint/>" INERTIAL)));
    st_ShapeDef shape;
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, ST_GROUND, "x"), &shape, NULL),
                     ST_OK);
    assert_int_equal(shape.type, ST_SHAPE_HEIGHT_FIELD);
    const double expected[6] = {0, 0, 2, 4, 8, 8}; /* y increasing: the last row of the text first; 1 .. 5 to 0 .. 8 */
    for (int k = 0; k < 6; k++)
        check_close(shape.heights[k], expected[k], 1e-15);
    check_close(shape.spacing, 1, 0);
    st_scene_destroy(robot.scene);
    robot = model(FIELD("1 2 8 1") WORLD(
        "<geom name='x' type='hfield' hfield='h'/>" BODY("b", "pos='0 0 20'", "<freejoint/>" INERTIAL)));
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, ST_GROUND, "x"), &shape, NULL),
                     ST_OK);
    assert_int_equal(shape.type, ST_SHAPE_MESH);
    assert_int_equal(shape.n_points, 12);
    assert_int_equal(shape.n_triangles, 2 * (2 + 2 + 2 + 2 + 1 + 1));
    st_scene_destroy(robot.scene);

    /* the same samples in a binary file, the row of the smallest y first; its folder in the file's name is stripped */
    robot = model("<compiler assetdir='tests/data/robots' strippath='true'/>"
                  "<asset><hfield name='h' file='C:/some/part-field.bin' size='1 0.5 8 1'/></asset>" WORLD(
                      "<geom name='x' type='hfield' hfield='h'/>" BODY("b", "pos='0 0 20'", "<freejoint/>" INERTIAL)));
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, ST_GROUND, "x"), &shape, NULL),
                     ST_OK);
    assert_int_equal(shape.type, ST_SHAPE_HEIGHT_FIELD);
    for (int k = 0; k < 6; k++)
        check_close(shape.heights[k], expected[k], 1e-15);
    st_scene_destroy(robot.scene);
    check_refused("<mujoco><asset>\n<hfield name='h' file='tests/data/robots/part-tri.dae' size='1 1 1 1'/></asset>"
                  "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
                  2, "<hfield \"h\">", "must be a PNG image, or two integers");
}

/* The skid touches the floor and nothing else, the ghost falls through it; sites that are held together; a joint that
 * is held; a file with a medium. */
static void pairs_and_sites(void **state)
{
    (void)state;
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def;
    st_Error err = {0};
    if (st_scene_read("tests/data/robots/pairs.xml", NULL, 0, &scene, &def, &err) != ST_OK) fail_msg("%s", err.message);
    Robot robot = {scene, def};
    check_close(def.medium.density, 1.2, 0);
    check_close(def.medium.wind.x, 1, 0);
    assert_int_equal(joint(&robot, "loop").type, ST_JOINT_BALL);
    check_vector(joint(&robot, "loop").point, vec3(0.5, 2, 1), 1e-15);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    for (int k = 0; k < 250; k++)
        check_ok(st_system_step(system, def.h, NULL, &err), err);
    st_Pose skid, ghost;
    st_system_pose(system, st_scene_find_body(scene, "skid"), &skid);
    st_system_pose(system, st_scene_find_body(scene, "ghost"), &ghost);
    check_close(skid.p.z, 0.1, 1e-9);
    assert_true(ghost.p.z < -0.5);
    st_JointReport held;
    st_system_joint(system, st_scene_find_joint(scene, "l3"), ST_FRAME_WORLD, &held);
    check_close(held.coordinate, 0, 1e-8);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* A ball of 0.2 m in water falls until its weight is rho/2 b^2 v^2 + 3 pi eta b v, b the edge of the cube of its
 * inertia: m b^2/6 = 2/5 m r^2. */
static void a_medium_brakes(void **state)
{
    (void)state;
    Robot robot = model("<option density='1000' viscosity='2' timestep='0.001'/>" WORLD(
        BODY("b", "", "<freejoint/><geom type='sphere' size='0.1' mass='10'/>")));
    st_System *system = NULL;
    st_Error err = {0};
    check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
    for (int k = 0; k < 5000; k++)
        check_ok(st_system_step(system, 0.001, NULL, &err), err);
    st_Vec3 v, w;
    st_system_velocity(system, (st_BodyId){1}, &v, &w);
    const double b = sqrt(6 * 0.4) * 0.1, A = 0.5 * 1000 * b * b, B = 3 * acos(-1.0) * 2 * b;
    check_close(-v.z, (sqrt(B * B + 4 * A * 98.1) - B) / (2 * A), 1e-9);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A robot written as MJCF and read again is the same: places, masses, joints, motors. */
static void written_and_read_again(void **state)
{
    (void)state;
    const char *const files[] = {"examples/robots/dog.urdf", "examples/robots/arm.urdf", "examples/robots/hopper.xml",
                                 "tests/data/robots/servos.xml", "tests/data/robots/tendons.xml"};
    for (int f = 0; f < 5; f++) {
        Robot one = {0}, two = {0};
        st_Error err = {0};
        char *text = NULL, *remarks = NULL;
        check_ok(st_scene_read(files[f], NULL, 0, &one.scene, &one.def, &err), err);
        check_ok(st_scene_write_mjcf(one.scene, &one.def, "again", &text, &remarks, &err), err);
        two.scene = scene_of(text, &two.def, NULL);
        check_close(two.def.h, one.def.h, 0);
        for (int k = 1; k <= st_scene_body_count(one.scene); k++) {
            st_BodyDef a, b;
            st_scene_body(one.scene, (st_BodyId){k}, &a);
            if (a.fixed) continue;
            b = body(&two, a.name);
            check_close(b.mass, a.mass, 1e-12 * a.mass);
            check_vector(b.pose.p, a.pose.p, 1e-12);
            check_close(fabs(b.pose.q.w * a.pose.q.w + b.pose.q.x * a.pose.q.x + b.pose.q.y * a.pose.q.y +
                             b.pose.q.z * a.pose.q.z),
                        1, 1e-12);
        }
        for (int k = 1; k <= st_scene_joint_count(one.scene); k++) {
            st_JointDef a, b;
            st_scene_joint(one.scene, (st_JointId){k}, &a);
            if (a.type == ST_JOINT_TENDON) { /* points are where they were */
                b = joint(&two, a.name);
                assert_int_equal(b.n_path, a.n_path);
                for (int i = 0; i < a.n_path; i++) {
                    assert_int_equal(b.path[i].kind, a.path[i].kind);
                    check_vector(b.path[i].point, a.path[i].point, 1e-12);
                    check_close(b.path[i].radius, a.path[i].radius, 1e-12);
                }
                check_close(b.stiffness, a.stiffness, 1e-12 * (1 + a.stiffness));
                check_close(b.damping, a.damping, 1e-12 * (1 + a.damping));
            }
            if (a.type != ST_JOINT_REVOLUTE && a.type != ST_JOINT_PRISMATIC) continue;
            b = joint(&two, a.name);
            assert_int_equal(b.type, a.type);
            check_vector(b.axis, a.axis, 1e-12);
            if (isfinite(a.lower)) check_close(b.lower, a.lower, 1e-12);
            check_close(b.damping, a.damping, 1e-12 * (1 + a.damping));
            assert_int_equal(b.motor.type, a.motor.type);
            check_close(b.motor.stiffness, a.motor.stiffness, 1e-12 * (1 + a.motor.stiffness));
        }
        free(text);
        free(remarks);
        st_scene_destroy(one.scene);
        st_scene_destroy(two.scene);
    }
}

/* Refusals name the feature. */
static void refused_by_name(void **state)
{
    (void)state;
    check_refused("<mujoco><deformable>\n<flex/></deformable></mujoco>", 2, "<flex>", "not supported");
    check_refused("<mujoco><worldbody><body><freejoint/>" INERTIAL "\n<flexcomp/></body></worldbody></mujoco>", 2,
                  "<flexcomp>");
    check_refused("<mujoco><worldbody><body>" INERTIAL
                  "<joint name='j'/></body></worldbody><actuator>\n<muscle joint='j'/>"
                  "</actuator></mujoco>",
                  2, "<muscle>");
    check_refused("<mujoco><worldbody><body>" INERTIAL "<joint name='j'/></body></worldbody><tendon><fixed>\n<joint "
                  "joint='k' coef='1'/></fixed></tendon></mujoco>",
                  2, "there is no joint of that name");
    check_refused("<mujoco><worldbody><body><freejoint/>" INERTIAL "\n<geom type='sdf'/></body></worldbody></mujoco>",
                  2, "sdf");
}

/* Masses at 1000 kg/m^3 of polyhedra, scaled by 0.1: an icosahedron (5 (3 + sqrt 5)/12 edges^3); half an octahedron; a
 * frustum of squares of area 2 and 1/2; squares of area 0, 1, 2, 1, 0 at five heights; a square ring, in which each
 * level z is 8 (1/2 - |z|) wide. */
static void builtin_meshes(void **state)
{
    (void)state;
    const double half = sqrt(0.5), edge = 1 / sin(2 * 3.14159265358979323846 / 5);
    const struct {
        const char *words;
        double volume;
    } cases[] = {{"builtin='sphere' params='0'", 5 * (3 + sqrt(5)) / 12 * edge * edge * edge},
                 {"builtin='hemisphere' params='0'", 2.0 / 3},
                 {"builtin='cone' params='4 0.5'", 2.0 / 3 * (2 + 0.5 + 1)},
                 {"builtin='cone' params='4 0'", 2.0 / 3 * 2},
                 {"builtin='supersphere' params='4 1 1'", 2 * (half / 3 * (2 + 1 + sqrt(2)) + (1 - half) / 3)},
                 {"builtin='supertorus' params='4 0.5 1 1' inertia='exact'", 2}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "<asset><mesh name='m' scale='0.1 0.1 0.1' %s/></asset>" WORLD(
                     BODY("b", "", "<freejoint/><geom type='mesh' mesh='m'/>")),
                 cases[k].words);
        Robot robot = model(text);
        check_close(body(&robot, "b").mass, cases[k].volume, 1e-12 * cases[k].volume);
        st_scene_destroy(robot.scene);
    }
    /* Numbers that are no corners were read beyond the end of the vertices. */
    static const char *const corners[] = {"4", "-1", "0.5", "1e300", "nan"};
    for (size_t k = 0; k < sizeof corners / sizeof corners[0]; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "<mujoco><asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 %s 0 3 2'/></asset>"
                 "<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
                 corners[k]);
        check_refused(text, 2, k < 3 ? "must be the number of a vertex, 0 to 3" : "face");
    }
    check_refused("<mujoco><asset>\n<mesh name='m' builtin='cone' params='2 0'/></asset><worldbody><geom type='mesh' "
                  "mesh='m'/></worldbody></mujoco>",
                  2, "number 1 of params is 2");
}

/* dcmotor: torque K (u - K w)/R with K = 0.5, R = 2 and u = 3 V, then u = 1 V of a motor with 12 V, 3 N m and 100
 * rad/s; with a controller it is a pid. */
static void motors_with_controllers(void **state)
{
    (void)state;
    Robot robot = model("<default><default class='m'><dcmotor resistance='2'/><pid kp='5'/></default></default>" WORLD(
        SLIDE("a") SLIDE("b") SLIDE("c") SLIDE("d") BODY(
            "e", "",
            INERTIAL
            "<joint name='e' type='ball'/>")) "<actuator><dcmotor class='m' joint='a' motorconst='0.5' ctrlrange='3 "
                                              "4'/>"
                                              "<dcmotor joint='b' nominal='12 3 100' ctrlrange='1 2' saturation='0.2 0 "
                                              "0'/>"
                                              "<pid class='m' joint='c' kv='0.5' posrange='0.1 0.2'/>"
                                              "<dcmotor joint='d' motorconst='1' resistance='1' input='pos' "
                                              "controller='4 0 0.25' ctrlrange='0.5 1'/>"
                                              "<orientation joint='e' kp='6' kv='0.75'/></actuator>"
                                              "<keyframe><key ctrl='3 1 0.1 0 0.5 0 0 0'/></keyframe>");
    st_JointDef a = joint(&robot, "a"), b = joint(&robot, "b");
    check_close(a.damping, 0.125, 1e-15); /* without a limit of its force, it brakes as a damper */
    check_close(a.motor.target, 0.75, 1e-15);
    check_close(b.motor.damping, 3 / 100.0, 1e-15); /* K^2/R, and K/R of 1 V */
    check_close(b.motor.target, 3 / 12.0 / (3 / 100.0), 1e-12);
    check_close(b.motor.max_force, 0.2, 0);
    check_close(joint(&robot, "c").motor.target, 0.1, 0);
    check_close(joint(&robot, "c").motor.stiffness, 5, 0);
    check_close(joint(&robot, "c").motor.damping, 0.5, 0);
    check_close(joint(&robot, "d").motor.target, 0.5, 0);
    check_close(joint(&robot, "d").motor.stiffness, 4, 0);
    check_close(joint(&robot, "d").motor.damping, 0.25, 0);
    st_SpringDef spring = {0};
    assert_int_equal(st_scene_spring(robot.scene, st_scene_find_spring(robot.scene, "e.bushing"), &spring), ST_OK);
    check_close(spring.stiffness_about.x, 6, 0);
    check_close(spring.damping_about.z, 0.75, 0);
    st_scene_destroy(robot.scene);
}

/* A motor, a tendon and sensors that name the content of a <replicate> are copied with it, nested ones twice. A camera
 * is a frame. */
static void replicas_are_driven(void **state)
{
    (void)state;
    Robot robot = model(WORLD(
        BODY("base", "",
             "<replicate count='2' offset='1 0 0' sep='-'><replicate count='3' offset='0 1 0'>" SLIDE(
                 "s") "</replicate></replicate><camera name='eye' pos='0 0 2' "
                      "xyaxes='0 1 0 -1 0 0'/>")) "<tendon><fixed name='t'><joint joint='s' coef='2'/></fixed></tendon>"
                                                  "<actuator><position name='m' joint='s' kp='3'/><motor "
                                                  "name='n' tendon='t'/></actuator>"
                                                  "<sensor><jointpos name='x' joint='s'/><framepos name='p' "
                                                  "objtype='camera' objname='eye'/><framexaxis name='ax' "
                                                  "objtype='camera' objname='eye'/></sensor>");
    st_System *system = NULL;
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, NULL), ST_OK);
    assert_int_equal(st_system_step(system, 1e-3, NULL, NULL), ST_OK);
    for (int i = 0; i < 6; i++) {
        char name[] = {'s', (char)('0' + i % 3), '-', (char)('0' + i / 3), '\0'};
        const st_Vec3 p = body(&robot, name).pose.p;
        check_close(p.x, i / 3, 1e-15);
        check_close(p.y, i % 3, 1e-15);
        check_close(joint(&robot, name).motor.stiffness, 3, 0);
        name[0] = 'x';
        check_close(sensed(&robot, system, name, 0), 0, 1e-9);
        name[0] = 't';
        check_close(joint(&robot, name).path[0].coefficient, 2, 0);
    }
    check_close(sensed(&robot, system, "p", 2), 2, 1e-15);
    check_close(sensed(&robot, system, "ax", 1), 1, 1e-15);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Sites that are apart, and a relpose: the frames are pulled together, to 0.2 m along x and a quarter turn. Where
 * frames meet at the start, the weld is a fixed joint. */
static void welds_of_frames(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0'/>" WORLD(
        "<site name='w' pos='1 0 0' euler='0 0 1.5707963267948966'/>" BODY(
            "a", "pos='1.1 0.1 0'", "<freejoint/>" INERTIAL "<site name='s' pos='0.1 0 0'/>")
            BODY("b", "pos='3 0 0'", "") BODY("c", "pos='3.4 0.1 0'", "<freejoint/>" INERTIAL)
                BODY("d", "pos='0 4 0'", "<freejoint/>" INERTIAL)) "<equality><weld site1='w' site2='s'/><weld "
                                                                   "body1='b' body2='c' relpose='0.2 0 0 1 0 0 1'/>"
                                                                   "<weld name='met' body1='world' body2='d' "
                                                                   "relpose='0 4 0 1 0 0 0'/></equality>");
    st_System *system = NULL;
    st_Pose a, c;
    assert_int_equal(joint(&robot, "met").type, ST_JOINT_FIXED);
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, NULL), ST_OK);
    for (int k = 0; k < 2000; k++) /* 2 s; the slowest motion decays with 0.1 s */
        assert_int_equal(st_system_step(system, 1e-3, NULL, NULL), ST_OK);
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot.scene, "a"), &a), ST_OK);
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot.scene, "c"), &c), ST_OK);
    check_vector(a.p, vec3(1, -0.1, 0), 1e-6); /* its site is at (1, 0), its x along y */
    check_vector(rotate(a.q, vec3(1, 0, 0)), vec3(0, 1, 0), 1e-6);
    check_vector(c.p, vec3(3.2, 0, 0), 1e-6);
    check_vector(rotate(c.q, vec3(1, 0, 0)), vec3(0, 1, 0), 1e-6);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Words that no version of the format has. */
static void misspelt_words(void **state)
{
    (void)state;
    static const char *const cases[] = {"<option><flag contakt='disable'/></option>",
                                        "<option><flag contact='off'/></option>",
                                        "<default><tendon stifness='1'/></default>",
                                        "<default><site sise='1'/></default>",
                                        "<default><equality activ='true'/></default>",
                                        "<asset><mesch/></asset>",
                                        "<asset><mesh name='m' vertx='0 0 0'/></asset>",
                                        "<asset><texture name='t' filee='x.png'/></asset>",
                                        "<size njmaxx='1'/>",
                                        "<worldbody><site possition='0 0 0'/></worldbody>",
                                        "<worldbody><camera foov='1'/></worldbody>",
                                        "<worldbody><light dirr='0 0 1'/></worldbody>",
                                        "<worldbody><frame poss='0 0 1'/></worldbody>",
                                        "<worldbody><replicate count='2' ofset='0 0 1'/></worldbody>",
                                        "<worldbody><joint/></worldbody>",
                                        "<sensor><clock names='c'/></sensor>",
                                        "<sensor><klock/></sensor>"};
    static const char *const words[] = {"contakt", "off",   "stifness", "sise",      "activ", "mesch",
                                        "vertx",   "filee", "njmaxx",   "possition", "foov",  "dirr",
                                        "poss",    "ofset", "<joint>",  "names",     "klock"};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[300];
        snprintf(text, sizeof text, "<mujoco>\n%s</mujoco>", cases[k]);
        check_refused(text, 2, words[k]);
    }
    check_refused("<mujoco><worldbody><body>\n<freejont/></body></worldbody></mujoco>", 2,
                  "did you mean \"freejoint\"?");
    check_refused("<mujoco><worldbody>\n<geom sise='1'/></worldbody></mujoco>", 2, "did you mean \"size\"?");
}

/* A scene is written as MJCF and read again. It has excluded pairs, a planar joint, and equalities with the names of
 * joints. */
static void written_pairs_and_planes(void **state)
{
    (void)state;
    Robot one = model(WORLD(
              BODY("a", "",
                   INERTIAL "<joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
                            "<joint name='r' axis='0 1 0' pos='0.1 0 0'/><geom size='0.1'/>" BODY(
                                "b", "pos='1 0 0'",
                                INERTIAL "<joint name='equality1' axis='0 1 0'/><geom size='0.1'/>" BODY(
                                    "c", "pos='1 0 0'", INERTIAL "<joint name='j' axis='0 1 0'/><geom size='0.1'/>")))
                  BODY("d", "pos='0 1 0'",
                       INERTIAL
                       "<freejoint/>")) "<contact><exclude body1='a' body2='c'/><exclude body1='world' "
                                        "body2='b'/></contact><equality><connect body1='c' body2='d' anchor='0 0 "
                                        "0'/></equality>"),
          two = {0};
    char *text = NULL, *remarks = NULL;
    st_Error err = {0};
    st_BodyId first, second;
    assert_int_equal(joint(&one, "r").type, ST_JOINT_PLANAR);
    check_ok(st_scene_write_mjcf(one.scene, &one.def, "again", &text, &remarks, &err), err);
    two.scene = scene_of(text, &two.def, NULL);
    assert_int_equal(st_scene_excluded_count(two.scene), st_scene_excluded_count(one.scene));
    assert_int_equal(st_scene_excluded(two.scene, 0, &first, &second), ST_OK);
    assert_int_equal(first.index1, st_scene_find_body(two.scene, "a").index1);
    assert_int_equal(second.index1, st_scene_find_body(two.scene, "c").index1);
    assert_int_equal(st_scene_excluded(two.scene, 1, &first, &second), ST_OK);
    assert_int_equal(first.index1, 0);
    assert_int_equal(st_scene_excluded(two.scene, 2, &first, &second), ST_ERR_ARGUMENT);
    assert_int_equal(joint(&two, "r").type, ST_JOINT_PLANAR);
    check_vector(joint(&two, "r").point, vec3(0.1, 0, 0), 1e-15);
    check_close(fabs(joint(&two, "r").axis.y), 1, 1e-15);
    assert_int_equal(joint(&two, "equality2").type, ST_JOINT_BALL);
    free(text);
    free(remarks);
    st_scene_destroy(two.scene);
    st_scene_destroy(one.scene);
}

/* Every file of tests/data/robots is read, and runs for half a second without exploding. */
static void files_run(void **state)
{
    (void)state;
    DIR *folder = opendir("tests/data/robots");
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending == NULL ||
            (strcmp(ending, ".xml") != 0 && strcmp(ending, ".urdf") != 0 && strcmp(ending, ".sdf") != 0))
            continue;
        if (strncmp(entry->d_name, "part-", 5) == 0) continue; /* for others to include */
        char path[600];
        st_Scene *scene = NULL;
        st_System *system = NULL;
        st_SystemDef def;
        st_Error err = {0};
        snprintf(path, sizeof path, "tests/data/robots/%s", entry->d_name);
        if (st_scene_read(path, NULL, 0, &scene, &def, &err) != ST_OK) fail_msg("%s", err.message);
        if (st_system_create(scene, &def, &system, &err) != ST_OK) fail_msg("%s: %s", path, err.message);
        while (st_system_time(system) < 0.5)
            if (st_system_step(system, def.h, NULL, &err) != ST_OK) fail_msg("%s: %s", path, err.message);
        for (int k = 1; k <= st_scene_body_count(scene); k++) {
            st_Vec3 v, w;
            assert_int_equal(st_system_velocity(system, (st_BodyId){k}, &v, &w), ST_OK);
            if (!(norm(v) < 100)) fail_msg("%s: a body moves at %g m/s", path, norm(v));
        }
        st_system_destroy(system);
        st_scene_destroy(scene);
        n++;
    }
    closedir(folder);
    assert_true(n >= 1);
}

static uint32_t color_of(const Robot *robot, const char *body, const char *shape)
{
    for (int k = 1; k <= st_scene_shape_count(robot->scene); k++) {
        st_ShapeDef def;
        st_BodyId owner;
        assert_int_equal(st_scene_shape(robot->scene, (st_ShapeId){k}, &def, &owner), ST_OK);
        if (owner.index1 == st_scene_find_body(robot->scene, body).index1 && strcmp(def.name, shape) == 0)
            return def.color;
    }
    fail_msg("no shape \"%s\" of \"%s\"", shape, body);
    return 0;
}

/* As in MuJoCo, `rgba` of the element or its class comes before the material, whose texture tints it. A shape without a
 * colour has that of the first part of its body that is only for display. Wrong colours are ignored. */
static void colors(void **state)
{
    (void)state;
    Robot robot = robot_of(
        "<mujoco><asset><texture name='t' builtin='flat' rgb1='0.2 0.4 1'/><material name='tinted' texture='t' "
        "rgba='1 0.5 1 0.4'/><material name='red' rgba='1 0 0 1'/></asset><default><default class='green'>"
        "<geom rgba='0 1 0 1'/></default><default class='look'><geom contype='0' conaffinity='0'/></default></default>"
        "<worldbody><body name='a'><freejoint/><geom name='own' size='1' rgba='0.2 0.4 0.6 1' material='red'/>"
        "<geom name='of class' class='green' size='1'/><geom name='tinted' material='tinted' size='1'/>"
        "<geom name='plain' size='1'/><geom name='wrong' rgba='1 x' size='1'/></body><body name='b'><freejoint/>"
        "<geom name='shape' size='1'/><geom class='look' size='2'/><geom class='look' size='2' material='red'/>"
        "<geom class='look' size='2' rgba='0 0 1 1'/></body></worldbody></mujoco>",
        NULL);
    assert_int_equal(color_of(&robot, "a", "own"), 0x336699ff);
    assert_int_equal(color_of(&robot, "a", "of class"), 0x00ff00ff);
    assert_int_equal(color_of(&robot, "a", "tinted"), 0x3333ff66);
    assert_int_equal(color_of(&robot, "a", "plain"), 0);
    assert_int_equal(color_of(&robot, "a", "wrong"), 0);
    assert_int_equal(color_of(&robot, "b", "shape"), 0xff0000ff);
    char *text = NULL, *remarks = NULL;
    st_Error err = {0};
    check_ok(st_scene_write_mjcf(robot.scene, &robot.def, "again", &text, &remarks, &err), err);
    assert_non_null(strstr(text, "rgba=\"0.2 0.4 0.6 1\""));
    free(text);
    free(remarks);
    st_scene_destroy(robot.scene);
    /* URDF: a colour of the visual, or of the material of its name, wherever that is */
    robot = robot_of(
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
        "<visual><material name='blue'/></visual><collision><geometry><sphere radius='1'/></geometry>"
        "</collision></link><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
        "</inertial><visual><material name='blue'><color rgba='0 0 1 1'/></material></visual><collision>"
        "<geometry><sphere radius='1'/></geometry></collision></link><joint name='j' type='continuous'>"
        "<parent link='a'/><child link='b'/></joint></robot>",
        NULL);
    assert_int_equal(color_of(&robot, "a", "a"), 0x0000ffff);
    assert_int_equal(color_of(&robot, "b", "b"), 0x0000ffff);
    st_scene_destroy(robot.scene);
    robot = robot_of("<sdf version='1.9'><model name='m'><link name='a'><visual name='v'><material><diffuse>1 0.2 0 1"
                     "</diffuse></material></visual><collision name='c'><geometry><sphere><radius>1</radius></sphere>"
                     "</geometry></collision></link></model></sdf>",
                     NULL);
    assert_int_equal(color_of(&robot, "a", "a"), 0xff3300ff);
    st_scene_destroy(robot.scene);
    /* scenes */
    robot.scene =
        scene_of("{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1, \"shapes\": [{\"type\": \"sphere\", "
                 "\"name\": \"s\", \"radius\": 1, \"color\": \"#0a0b0C\"}]}]}",
                 &robot.def, NULL);
    assert_int_equal(color_of(&robot, "a", "s"), 0x0a0b0cff);
    st_scene_destroy(robot.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colors),
        cmocka_unit_test(gains_from_masses),
        cmocka_unit_test(controls_and_forces),
        cmocka_unit_test(tendons),
        cmocka_unit_test(mesh_masses),
        cmocka_unit_test(thrusters),
        cmocka_unit_test(two_ropes),
        cmocka_unit_test(classes),
        cmocka_unit_test(held_tendons_and_ranges),
        cmocka_unit_test(balls_and_belts),
        cmocka_unit_test(sensors_at_rest),
        cmocka_unit_test(keyframes),
        cmocka_unit_test(activations),
        cmocka_unit_test(curved_gears),
        cmocka_unit_test(masses_of_meshes),
        cmocka_unit_test(shapes_around_meshes),
        cmocka_unit_test(shells),
        cmocka_unit_test(frames),
        cmocka_unit_test(bodies_and_flags),
        cmocka_unit_test(height_fields),
        cmocka_unit_test(refused_by_name),
        cmocka_unit_test(builtin_meshes),
        cmocka_unit_test(motors_with_controllers),
        cmocka_unit_test(replicas_are_driven),
        cmocka_unit_test(misspelt_words),
        cmocka_unit_test(welds_of_frames),
        cmocka_unit_test(written_pairs_and_planes),
        cmocka_unit_test(pairs_and_sites),
        cmocka_unit_test(a_medium_brakes),
        cmocka_unit_test(written_and_read_again),
        cmocka_unit_test(files_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
