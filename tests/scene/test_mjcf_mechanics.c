/* Robots from MJCF: ellipsoids in a medium, slider-cranks, tendons inside shapes, options and limits of the reader,
 * each compared with a calculation by hand. */
#include "robot_check.h"
#include "scene/reader.h"

#include <stiction/grains.h>

static Robot model(const char *inside)
{
    char text[8192];
    snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/>%s</mujoco>", inside);
    return robot_of(text, NULL);
}

static st_System *run(const Robot *robot, double h, int steps)
{
    st_System *system = NULL;
    st_Error err = {0};
    check_ok(st_system_create(robot->scene, &robot->def, &system, &err), err);
    for (int k = 0; k < steps; k++)
        check_ok(st_system_step(system, h, NULL, &err), err);
    return system;
}

static st_Vec3 velocity(const Robot *robot, const st_System *system, const char *name)
{
    st_Vec3 v, w;
    assert_int_equal(st_system_velocity(system, st_scene_find_body(robot->scene, name), &v, &w), ST_OK);
    return v;
}

#define INERTIAL "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>"

/* A sphere shows pi r^2 from all sides: its weight is 6 pi eta r v + rho blunt pi r^2 v^2. A disc that falls on edge
 * and one that falls flat differ by the slender part: rho v^2 (blunt A + slender (A_max - A)). */
static void ellipsoids_brake(void **state)
{
    (void)state;
    Robot robot = model("<option density='1000' viscosity='2' timestep='0.001'/><worldbody>"
                        "<body name='ball'><joint type='slide' axis='0 0 1'/><geom size='0.1' mass='10' "
                        "fluidshape='ellipsoid' fluidcoef='0.4 0.2 1 1 1'/></body>"
                        "<body name='edge' pos='1 0 0'><joint type='slide' axis='0 0 1'/><geom type='ellipsoid' "
                        "size='0.2 0.01 0.2' mass='10' fluidshape='ellipsoid' fluidcoef='0.4 0.2 1 1 1'/></body>"
                        "</worldbody>");
    st_System *system = run(&robot, 0.001, 4000);
    const double pi = acos(-1.0), weight = 98.1, eta = 2, rho = 1000;
    double r = 0.1, A = rho * 0.4 * pi * r * r, B = 6 * pi * eta * r;
    check_close(-velocity(&robot, system, "ball").z, (sqrt(B * B + 4 * A * weight) - B) / (2 * A), 1e-9);
    A = rho * (0.4 * pi * 0.2 * 0.01 + 0.2 * pi * (0.2 * 0.2 - 0.2 * 0.01)), B = 3 * pi * eta * 2.0 / 3 * 0.41;
    check_close(-velocity(&robot, system, "edge").z, (sqrt(B * B + 4 * A * weight) - B) / (2 * A), 1e-9);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* The added mass of a sphere is half of the displaced mass: p = m v, so that p x w is the Magnus force with -1/2.
 * With magnus_lift 1/2 both cancel, and a ball that spins flies straight. */
static void added_mass_of_a_sphere(void **state)
{
    (void)state;
    Robot robot = model("<option density='1000' gravity='0 0 0' timestep='0.001'/><worldbody>"
                        "<body name='ball'><freejoint/><geom size='0.1' mass='10' fluidshape='ellipsoid' "
                        "fluidcoef='0 0 0 1 0.5'/></body></worldbody><keyframe><key qvel='3 0 0 0 0 9'/></keyframe>");
    robot.def.keyframe = 1;
    st_System *system = run(&robot, 0.001, 500);
    check_vector(velocity(&robot, system, "ball"), vec3(3, 0, 0), 1e-6);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A milligram in a storm of water: explicit drag would throw it away in the first steps. */
static void light_bodies_follow_the_wind(void **state)
{
    (void)state;
    Robot robot =
        model("<option density='1000' viscosity='1' timestep='0.005' wind='5 0 0' gravity='0 0 0'/><worldbody>"
              "<body name='box'><freejoint/><geom type='box' size='0.2 0.2 0.001' mass='1e-6'/></body>"
              "<body name='drop' pos='0 2 0'><freejoint/><geom size='0.1' mass='1e-6' "
              "fluidshape='ellipsoid' fluidcoef='0.5 0.25 1.5 0 0'/></body>"
              "</worldbody>");
    st_System *system = run(&robot, 0.005, 200);
    check_vector(velocity(&robot, system, "box"), vec3(5, 0, 0), 1e-6);
    check_vector(velocity(&robot, system, "drop"), vec3(5, 0, 0), 1e-6);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A pin at (0.3, 0, 0.4) from the slider's 0, its axis z, a rod of 0.5: it stands at 0.4 - sqrt(0.16 + 0.25 - 0.25) =
 * 0. Turned by the pin's joint, the speed of its length is the difference of lengths. */
static void slider_cranks(void **state)
{
    (void)state;
    Robot robot = model("<option timestep='1e-5' gravity='0 0 0'/><worldbody><site name='s' pos='0 0 0.5'/>"
                        "<body name='crank' pos='0 0 0.9'>" INERTIAL
                        "<joint axis='0 1 0'/><site name='p' pos='0.3 0 0'/></body></worldbody>"
                        "<actuator><position name='rod' cranksite='p' slidersite='s' cranklength='0.5' gear='2' kp='3' "
                        "ctrlrange='0.1 1'/></actuator><keyframe><key qvel='0.5'/></keyframe>");
    robot.def.keyframe = 1;
    const st_JointDef rod = joint(&robot, "rod");
    assert_int_equal(rod.path[0].kind, ST_TENDON_SLIDER);
    check_close(rod.path[0].coefficient, 0.5, 0);
    check_close(rod.motor.stiffness, 12, 0);
    check_close(rod.motor.target, 0.05, 1e-15);
    st_JointReport before, after;
    st_System *system = run(&robot, 1e-5, 1);
    const st_JointId id = st_scene_find_joint(robot.scene, "rod");
    st_system_joint(system, id, ST_FRAME_WORLD, &before);
    st_system_step(system, 1e-5, NULL, NULL);
    st_system_joint(system, id, ST_FRAME_WORLD, &after);
    /* the pin at (0.3 cos a, 0.4 - 0.3 sin a): dL/da = -0.3 - (0.3 cos a 0.3 sin a)/sqrt = -0.3 at a = 0 */
    check_close(before.coordinate, -0.3 * 0.5e-5, 1e-9);
    check_close(before.speed, -0.15, 1e-4);
    check_close((after.coordinate - before.coordinate) / 1e-5, after.speed, 1e-4);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Through a ring of radius 0.1 at the origin, from (-1, 0, 0.5) to (1, 0, 0.3): the shortest way that touches its
 * disc, by trying all points of the circle. */
static void tendons_inside(void **state)
{
    (void)state;
    Robot robot = model("<worldbody><geom name='ring' type='cylinder' size='0.1 1' euler='1.5707963267948966 0 0' "
                        "contype='0' conaffinity='0'/><site name='in' pos='0 0 0.05'/><site name='a' pos='-1 0 0.5'/>"
                        "<body name='b' pos='1 0 0.3'><joint type='slide'/>" INERTIAL
                        "<site name='b'/></body></worldbody><tendon><spatial name='t' stiffness='1'><site site='a'/>"
                        "<geom geom='ring' sidesite='in'/><site site='b'/></spatial></tendon>");
    st_System *system = run(&robot, 1e-4, 0);
    st_JointReport report;
    double least = INFINITY;
    for (int k = 0; k < 100000; k++) {
        const double at = k * 2 * acos(-1.0) / 100000, x = 0.1 * cos(at), z = 0.1 * sin(at);
        least = fmin(least, hypot(x + 1, z - 0.5) + hypot(x - 1, z - 0.3));
    }
    st_system_joint(system, st_scene_find_joint(robot.scene, "t"), ST_FRAME_WORLD, &report);
    check_close(report.coordinate, least, 1e-8);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* collision="predefined": pairs alone touch. clampctrl: a servo aims outside its range. Groups of actuators that are
 * off do nothing. An actuator's armature and damping are the joint's, times the square of the gear. */
static void options(void **state)
{
    (void)state;
    Robot robot = model("<option collision='predefined' actuatorgroupdisable='1 3'><flag clampctrl='disable'/></option>"
                        "<worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                        "<body name='on' pos='0 0 0.1'><freejoint/><geom name='on' size='0.1'/></body>"
                        "<body name='off' pos='1 0 0.1'><freejoint/><geom size='0.1'/></body>"
                        "<body name='a' pos='2 0 1'>" INERTIAL "<joint name='a' armature='0.5'/></body>"
                        "<body name='b' pos='3 0 1'>" INERTIAL "<joint name='b'/></body></worldbody>"
                        "<contact><pair geom1='floor' geom2='on'/></contact><actuator>"
                        "<position joint='a' kp='4' ctrlrange='1 2' gear='3' armature='0.1' damping='0.2'/>"
                        "<motor joint='b' group='3' gear='5'/></actuator>");
    check_close(joint(&robot, "a").armature, 0.5 + 9 * 0.1, 1e-15);
    check_close(joint(&robot, "a").damping, 9 * 0.2, 1e-15);
    check_close(joint(&robot, "a").motor.target, 0, 0);
    assert_int_equal(joint(&robot, "b").motor.type, ST_MOTOR_NONE);
    st_System *system = run(&robot, 0.002, 100);
    check_close(velocity(&robot, system, "on").z, 0, 1e-9);
    check_close(velocity(&robot, system, "off").z, -9.81 * 0.2, 1e-9);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* 60 balls that touch one other each, by pairs: more kinds than a scene has groups. Ball 0 is driven into its partner,
 * 3, through ball 1, which it does not touch. */
static void more_kinds_than_groups(void **state)
{
    (void)state;
    char text[16000] = "<mujoco><option gravity='0 0 0'/><worldbody>";
    for (int k = 0; k < 60; k++) /* ball 1 is between 0 and 3 */
        sti_append(text, sizeof text,
                   "<body name='b%d' pos='%g %g 0'><freejoint/><geom name='g%d' size='0.1' mass='1' contype='0' "
                   "conaffinity='0'/></body>",
                   k,
                   k == 1   ? 1.0
                   : k == 3 ? 2.0
                            : 0.0,
                   k == 1 || k == 3 ? 0.0 : 1.0 * k, k);
    sti_append(text, sizeof text, "</worldbody><contact>");
    for (int k = 0; k < 60; k++)
        sti_append(text, sizeof text, "<pair geom1='g%d' geom2='g%d'/>", k, (7 * k + 3) % 60);
    sti_append(text, sizeof text, "</contact></mujoco>");
    Robot robot = robot_of(text, NULL);
    st_System *system = run(&robot, 0.002, 0);
    const st_Vec3 fast = {2, 0, 0}, none = {0, 0, 0};
    st_system_set_velocity(system, st_scene_find_body(robot.scene, "b0"), &fast, &none, NULL);
    for (int k = 0; k < 600; k++)
        assert_int_equal(st_system_step(system, 0.002, NULL, NULL), ST_OK);
    check_close(velocity(&robot, system, "b0").x, 1, 1e-6); /* they continue together */
    check_close(velocity(&robot, system, "b3").x, 1, 1e-6);
    check_close(velocity(&robot, system, "b1").x, 0, 0);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A joint that follows two others; one that follows another one out of its own limits. A force sensor below a joint
 * with armature shows the weight that it carries. Plugins of sensors are left out. */
static void couplings_and_sensors(void **state)
{
    (void)state;
    Robot robot =
        model("<extension><plugin plugin='mujoco.sensor.touch_grid'/></extension><worldbody>"
              "<body name='a'>" INERTIAL
              "<joint name='a' type='slide' axis='0 0 1' armature='2' range='0.5 1'/><site name='s'/>"
              "</body><body name='b' pos='1 0 0'>" INERTIAL
              "<joint name='b' type='slide' axis='0 0 1' range='-1 0.2'/></body>"
              "<body name='c' pos='2 0 0'>" INERTIAL "<joint name='c' type='slide' axis='0 0 1'/></body></worldbody>"
              "<equality><joint joint1='b' joint2='a'/><joint joint1='b' joint2='c'/></equality>"
              "<sensor><force name='f' site='s'/><plugin plugin='mujoco.sensor.touch_grid' objtype='site' "
              "objname='s'/></sensor>");
    assert_int_equal(st_scene_joint_count(robot.scene), 5);
    st_System *system = run(&robot, 0.001, 1);
    double f[3];
    int n = 3;
    st_Error err = {0};
    check_ok(st_system_measure(system, 0, f, &n, &err), err);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Two slides of 1 kg; one of them follows the other and has the servo: both go to its target, 0.2, with half the
 * stiffness for each. */
static void driven_followers(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0' timestep='0.001'/><worldbody>"
                        "<body name='a'><joint name='a' type='slide' axis='1 0 0'/><geom size='0.1' mass='1'/></body>"
                        "<body name='b' pos='0 1 0'><joint name='b' type='slide' axis='1 0 0'/><geom size='0.1' "
                        "mass='1'/></body></worldbody><equality><joint joint1='a' joint2='b'/></equality>"
                        "<actuator><position joint='a' kp='100' ctrlrange='0.2 0.4'/></actuator>");
    robot.def.integrator = ST_INTEGRATOR_SDIRK2;
    st_System *system = run(&robot, 0.001, 300);
    st_JointReport b;
    st_system_joint(system, st_scene_find_joint(robot.scene, "b"), ST_FRAME_WORLD, &b);
    check_close(b.coordinate, 0.2 * (1 - cos(sqrt(50) * 0.3)), 1e-5);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A speed servo without force limits; a keyframe sets its control to 2: m dv/dt = gear kv (u - gear v). */
static void speed_servos(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0' timestep='0.001'/><worldbody>"
                        "<body name='a'><joint name='a' type='slide' axis='1 0 0'/><geom size='0.1' mass='1'/></body>"
                        "</worldbody><actuator><velocity joint='a' kv='3' gear='-0.5'/></actuator>"
                        "<keyframe><key ctrl='2'/></keyframe>");
    robot.def.keyframe = 1;
    robot.def.integrator = ST_INTEGRATOR_SDIRK2;
    st_System *system = run(&robot, 0.001, 500);
    check_close(velocity(&robot, system, "a").x, -4 * (1 - exp(-0.75 * 0.5)), 1e-6);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A ball joint's damper acts on the angular velocity, whatever the angle: a body of inertia 1 about every axis, spun
 * about one axis through a whole turn, slows down like exp(-c t). */
static void ball_dampers(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0' timestep='0.001'/><worldbody><body name='b'>" INERTIAL
                        "<joint type='ball' damping='0.5'/></body></worldbody>"
                        "<keyframe><key qvel='3 2 6'/></keyframe>");
    robot.def.keyframe = 1;
    robot.def.integrator = ST_INTEGRATOR_SDIRK2;
    st_System *system = run(&robot, 0.001, 1000);
    st_Vec3 v, w;
    st_system_velocity(system, st_scene_find_body(robot.scene, "b"), &v, &w);
    check_vector(w, scale(exp(-0.5), vec3(3, 2, 6)), 1e-5);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Without springlength a sum is at rest where its joints are at their springref, not where they start, as in MuJoCo's
 * library (its manual says where they start). A slide of 2 kg at 0.3, coefficient 3, spring of 2 N/m on the sum:
 * x - 0.1 = 0.2 cos(3 t). */
static void tendons_rest_at_springref(void **state)
{
    (void)state;
    Robot robot = model("<option gravity='0 0 0' timestep='0.001'/><worldbody><body name='b' pos='0.3 0 0'>" INERTIAL
                        "<joint name='x' type='slide' axis='1 0 0' ref='0.3' springref='0.1'/></body></worldbody>"
                        "<tendon><fixed name='t' stiffness='2'><joint joint='x' coef='3'/></fixed></tendon>");
    robot.def.integrator = ST_INTEGRATOR_SDIRK2;
    st_System *system = run(&robot, 0.001, 700);
    st_Pose pose;
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot.scene, "b"), &pose), ST_OK);
    check_close(pose.p.x, 0.1 + 0.2 * cos(3 * 0.7), 1e-6); /* h^2 */
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Balls that overlap turn about axes through their centres: joints hold all contacts, so no contact has a row, but each
 * has an entry. This crashed. */
static void joints_hold_all_contacts(void **state)
{
    (void)state;
    Robot robot =
        model("<worldbody><geom type='plane' size='1 1 1'/><body name='a'><joint axis='0 0 1'/><geom size='0.05'/>"
              "</body><body name='b'><joint axis='0 0 1'/><geom size='0.08'/></body></worldbody>"
              "<keyframe><key qvel='3 -2'/></keyframe>");
    robot.def.keyframe = 1;
    st_System *system = run(&robot, 0.01, 10);
    assert_int_equal(st_system_contact_count(system), 3);
    st_Vec3 v, w;
    st_system_velocity(system, st_scene_find_body(robot.scene, "a"), &v, &w);
    check_vector(w, vec3(0, 0, 3), 1e-12);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ellipsoids_brake),
        cmocka_unit_test(added_mass_of_a_sphere),
        cmocka_unit_test(light_bodies_follow_the_wind),
        cmocka_unit_test(slider_cranks),
        cmocka_unit_test(tendons_inside),
        cmocka_unit_test(options),
        cmocka_unit_test(more_kinds_than_groups),
        cmocka_unit_test(couplings_and_sensors),
        cmocka_unit_test(speed_servos),
        cmocka_unit_test(ball_dampers),
        cmocka_unit_test(driven_followers),
        cmocka_unit_test(tendons_rest_at_springref),
        cmocka_unit_test(joints_hold_all_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
