/* How robot files of public collections are written: text that strict XML refuses, names and files left out, forces at
 * sites and adhesion in keyframes, bodies without mass. Each against a computation by hand. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "robot_check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDULUM "<body name='b' pos='0 0 1'><joint name='j' axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body>"
#define WORLD    "<worldbody>" PENDULUM "</worldbody>"

static Robot model(const char *inside)
{
    char text[8192];
    snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/>%s</mujoco>", inside);
    return robot_of(text, NULL);
}

static st_System *system_in(const Robot *robot, int keyframe)
{
    st_System *system = NULL;
    st_Error err = {0};
    st_SystemDef def = robot->def;
    def.keyframe = keyframe;
    check_ok(st_system_create(robot->scene, &def, &system, &err), err);
    return system;
}

static void step(st_System *system, double h, int steps)
{
    st_Error err = {0};
    for (int k = 0; k < steps; k++)
        check_ok(st_system_step(system, h, NULL, &err), err);
}

static st_Pose pose_of(const Robot *robot, const st_System *system, const char *name)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot->scene, name), &pose), ST_OK);
    return pose;
}

/* ---- text ---- */

static void text_that_is_not_strict(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\n  <?xml version='1.0'?>\n<mujoco>" WORLD "</mujoco>",
        "<!-- made by hand -->\n<?xml version='1.0' encoding='utf-8'?>\n<mujoco>" WORLD "</mujoco>",
        "<mujoco><!-- a -- b --->\n<!---- rule ----><!---->" WORLD "</mujoco>",
        "<mujoco><!-- 90\xb0, \xc4\xe3 -->" WORLD "<!-- <worldbody> --></mujoco>",
        "\xef\xbb\xbf<?xml version='1.0'?><mujoco>" WORLD "</mujoco>",
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        Robot robot = robot_of(texts[k], NULL);
        check_close(joint(&robot, "j").point.z, 1, ROUNDING);
        st_scene_destroy(robot.scene);
    }
    /* text that is no comment is not skipped, and line numbers are those of the file */
    check_refused("<mujoco>\n<!-- a\n-- b\n-->\n<worldbody><body foo='1'/></worldbody></mujoco>", 5, "foo");
    check_refused("<mujoco>\n<!-- open\n" WORLD "</mujoco>", 2, "not XML");
    check_refused("<mujoco>" WORLD "\n<?xml version='1.0'?></mujoco>", 2, "not XML");
}

static void empty_names_are_none(void **state)
{
    (void)state;
    Robot robot =
        model("<worldbody><body name='' pos='0 0 1'><joint name='' axis='0 1 0'/><geom name='' size='.1'/>"
              "<site name='s'/></body><body name=''><freejoint name=''/><geom name='' size='.1'/></body>"
              "</worldbody><actuator><motor name='' site='s' gear='1'/><motor site='s' gear='0 1'/></actuator>");
    assert_int_equal(st_scene_body_count(robot.scene), 2);
    assert_int_equal(st_scene_force_count(robot.scene), 2);
    st_scene_destroy(robot.scene);
}

/* ---- files ---- */

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A tetrahedron with legs of this length, of volume length^3/6. */
static void write_mesh(const char *folder, const char *name, double length)
{
    char text[300];
    snprintf(text, sizeof text, "v 0 0 0\nv %g 0 0\nv 0 %g 0\nv 0 0 %g\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", length,
             length, length);
    write_text(folder, name, text);
}

/* An attached model names its mesh by the file, and finds it beside itself, even if the main model has a file of that
 * name as well. */
static void attached_meshes(void **state)
{
    (void)state;
    char folder[] = "/tmp/stiction-idioms-XXXXXX", path[200];
    static const char *const parts[] = {"assets/part.1.obj", "hand/assets/part.1.obj", "hand/hand.xml", "main.xml"};
    static const char *const folders[] = {"assets", "hand", "hand/assets"};
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[k]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_mesh(folder, parts[0], 2);
    write_mesh(folder, parts[1], 1);
    write_text(
        folder, parts[2],
        "<mujoco><compiler meshdir='assets'/><asset><mesh file='part.1.obj'/></asset><worldbody>"
        "<body name='palm'><joint name='j' axis='0 1 0'/><geom type='mesh' mesh='part.1' density='6'/></body>"
        "<frame name='side' pos='0 0 2'><body name='thumb' pos='0 1 0'><freejoint/><geom size='.1'/></body></frame>"
        "</worldbody><actuator><motor name='m' joint='j'/></actuator><contact><exclude body1='palm' "
        "body2='thumb'/></contact>"
        "</mujoco>");
    write_text(
        folder, parts[3],
        "<mujoco><compiler meshdir='assets'/><asset><mesh file='part.1.obj'/><model name='hand' "
        "file='hand/hand.xml'/></asset><worldbody><body name='own'><freejoint/><geom type='mesh' mesh='part.1' "
        "density='6'/></body><attach model='hand' body='palm' prefix='left/'/><frame pos='5 0 0'><attach model='hand' "
        "frame='side' prefix='f/'/></frame></worldbody></mujoco>");
    snprintf(path, sizeof path, "%s/main.xml", folder);
    Robot robot = {0};
    st_Error err = {0};
    check_ok(st_scene_read(path, NULL, 0, &robot.scene, &robot.def, &err), err);
    check_close(body(&robot, "own").mass, 8, 1e-12);
    check_close(body(&robot, "left/palm").mass, 1, 1e-12);
    check_vector(body(&robot, "f/thumb").pose.p, vec3(5, 1, 2), 1e-15);
    assert_int_equal(st_scene_find_body(robot.scene, "f/palm").index1, 0);
    assert_int_equal(joint(&robot, "left/j").motor.type, ST_MOTOR_FORCE); /* and none of a joint that is not there */
    st_scene_destroy(robot.scene);
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[k]);
        unlink(path);
    }
    for (int k = 2; k >= 0; k--) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[k]);
        rmdir(path);
    }
    rmdir(folder);
}

/* Files that name themselves, or one another twice, twenty deep; copies of copies; masses that are no numbers. */
static void bombs(void **state)
{
    (void)state;
    char folder[] = "/tmp/stiction-bombs-XXXXXX", path[200], name[40], text[400];
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_Error err = {0};
    assert_non_null(mkdtemp(folder));
    write_text(folder, "me.xml",
               "<mujoco><asset><model name='me' file='me.xml'/></asset><worldbody><body name='b'><freejoint/><geom "
               "size='.1'/></body>\n<attach model='me' body='b' prefix='x'/></worldbody></mujoco>");
    for (int k = 0; k < 15; k++) {
        snprintf(name, sizeof name, "m%d.sdf", k);
        snprintf(text, sizeof text,
                 "<sdf version='1.7'><model name='m'><link name='l'/><include><uri>m%d.sdf</uri></include><include>"
                 "<uri>m%d.sdf</uri><name>n</name></include></model></sdf>",
                 k + 1, k + 1);
        write_text(folder, name, text);
    }
    write_text(folder, "m15.sdf", "<sdf version='1.7'><model name='m'><link name='l'/></model></sdf>");
    static const char *const files[] = {"me.xml", "m0.sdf"};
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[k]);
        assert_int_equal(st_scene_read(path, NULL, 0, &scene, &def, &err), ST_ERR_FORMAT);
        assert_null(scene);
        if (strstr(err.message, "is one too many") == NULL) fail_msg("%s", err.message);
        unlink(path);
    }
    for (int k = 1; k < 16; k++) {
        snprintf(path, sizeof path, "%s/m%d.sdf", folder, k);
        unlink(path);
    }
    rmdir(folder);
    check_refused("<mujoco><worldbody>\n<replicate count='1000'><replicate count='1000'><geom size='1'/></replicate>"
                  "</replicate></worldbody></mujoco>",
                  2, "more than 200000 elements");
    check_refused("<mujoco><worldbody><body><freejoint/>\n<inertial pos='0 0 0' mass='nan' diaginertia='1 1 1'/></body>"
                  "</worldbody></mujoco>",
                  2, "mass is \"nan\"");
    check_refused("<mujoco><worldbody><body><freejoint/>\n<geom size='.1' mass='inf'/></body></worldbody></mujoco>", 2,
                  "mass is \"inf\"");
    check_refused("<robot name='r'><link name='a'><inertial>\n<mass value='NaN'/></inertial></link></robot>", 2,
                  "value is \"NaN\"");
    check_refused(
        "<sdf version='1.7'><model name='m'><link name='a'><inertial>\n<mass>nan</mass></inertial></link></model>"
        "</sdf>",
        2, "is \"nan\"");
}

/* ---- numbers ---- */

/* Springs and dampers are polynomials of which the first number counts; ten copies are numbered 00 to 09; a pulley
 * divides by 1 and a joint counts once by default. An actuator of gear 0 has no effect. */
static void numbers_left_out(void **state)
{
    (void)state;
    Robot robot =
        model("<worldbody><replicate count='10' offset='1 0 0' sep='-'><body name='b'><joint name='j' axis='0 1 0' "
              "stiffness='3 0 0' damping='.5 0' /><geom size='.1' pos='.3 0 0'/><site name='s'/></body>"
              "</replicate></worldbody><tendon><fixed name='t' range='-1 1'><joint joint='j-09'/></fixed></tendon>"
              "<actuator><motor joint='j-00' gear='0'/></actuator>");
    check_close(joint(&robot, "j-09").stiffness, 3, 0);
    check_close(joint(&robot, "j-00").damping, 0.5, 0);
    check_close(joint(&robot, "t").path[0].coefficient, 1, 0);
    st_scene_destroy(robot.scene);
    check_refused(
        "<mujoco><worldbody><body><joint axis='0 1 0'\ndamping='1 2'/><geom size='.1'/></body></worldbody></mujoco>", 1,
        "damping");
}

/* ---- masses ---- */

/* In a medium bodies are not merged; a moving body without mass still gets that of the links welded to it. */
static void moving_body_without_mass(void **state)
{
    (void)state;
    Robot robot = model("<option density='1.2'/><worldbody><body name='arm' pos='0 0 1'><joint axis='0 1 0'/><body "
                        "name='ball' pos='.3 0 0'><geom size='.1' mass='2'/><body name='tip'><geom size='.1' mass='1'/>"
                        "</body></body></body></worldbody>");
    assert_int_equal(st_scene_body_count(robot.scene), 2);
    check_close(body(&robot, "ball").mass, 2, ROUNDING);
    st_scene_destroy(robot.scene);
}

/* ---- keyframes ---- */

/* Four rotors of 1 kg in all hover at 9.81/4 N each; the first turns about its axis, too. Without the keyframe it
 * falls. */
static void hover(void **state)
{
    (void)state;
    Robot robot = model(
        "<option timestep='.01'/><default><motor ctrlrange='0 5'/></default><worldbody><body name='x' pos='0 0 1'>"
        "<freejoint/><inertial pos='0 0 0' mass='1' diaginertia='.1 .1 .1'/><site name='a' pos='.1 .1 0'/>"
        "<site name='b' pos='-.1 .1 0'/><site name='c' pos='-.1 -.1 0'/><site name='d' pos='.1 -.1 0'/></body>"
        "</worldbody><actuator><motor site='a' gear='0 0 1 0 0 .2'/><motor site='b' gear='0 0 1'/>"
        "<motor site='c' gear='0 0 1'/><motor site='d' gear='0 0 1'/></actuator>"
        "<keyframe><key name='hover' qpos='0 0 3 1 0 0 0' ctrl='2.4525 2.4525 2.4525 2.4525'/>"
        "<key name='too much' ctrl='50 50 50 50'/></keyframe>");
    st_System *system = system_in(&robot, 1);
    step(system, 0.01, 100);
    check_vector(pose_of(&robot, system, "x").p, vec3(0, 0, 3), 1e-12);
    st_Vec3 v, w;
    st_system_velocity(system, st_scene_find_body(robot.scene, "x"), &v, &w);
    check_vector(w, vec3(0, 0, 0.2 * 2.4525 / 0.1), 1e-12); /* torque over inertia, for 1 s */
    st_system_destroy(system);
    system = system_in(&robot, 2); /* moved inside ctrlrange: 20 N on 1 kg */
    step(system, 0.01, 1);
    st_system_velocity(system, st_scene_find_body(robot.scene, "x"), &v, &w);
    check_close(v.z, 0.01 * (20 - 9.81), 1e-12);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A body welded to a mocap body starts at the keyframe's pose of both. */
static void mocap_in_keyframes(void **state)
{
    (void)state;
    Robot robot = model(
        "<worldbody><body name='hand' mocap='true' pos='0 0 1'><geom size='.1' contype='0' conaffinity='0'/></body>"
        "<body name='tool' pos='0 0 2'><freejoint/><geom size='.1'/></body></worldbody><equality>"
        "<weld body1='hand' body2='tool'/></equality><keyframe><key name='k' qpos='1 0 3 1 0 0 0' mpos='1 0 2' "
        "mquat='2 0 0 0'/></keyframe>");
    st_System *system = system_in(&robot, 1);
    check_vector(pose_of(&robot, system, "hand").p, vec3(1, 0, 2), 1e-12);
    step(system, 0.01, 50);
    check_vector(pose_of(&robot, system, "tool").p, vec3(1, 0, 3), 1e-9);
    st_system_destroy(system);
    check_refused("<mujoco><worldbody><body mocap='true'/>" PENDULUM
                  "</worldbody>\n<keyframe><key mpos='1 2'/></keyframe>"
                  "</mujoco>",
                  2, "mpos", "3: one or more for each mocap body");
    st_scene_destroy(robot.scene);
}

/* ---- adhesion ---- */

#define CEILING                                                                                                        \
    "<worldbody><geom name='ceiling' type='box' size='1 1 .1' pos='0 0 1.1'/><body name='pad' pos='0 0 "               \
    ".9'><freejoint/>"                                                                                                 \
    "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody><actuator><adhesion name='grip' body='pad' "        \
    "ctrlrange='0 1' gain='20'/></actuator>"

/* A pad of 1 kg below a ceiling: 9.81 N are needed. The control is limited, and 0 lets go. */
static void adhesion_holds(void **state)
{
    (void)state;
    st_Error err = {0};
    Robot robot = model("<option timestep='.002'/>" CEILING "<keyframe><key name='hold' ctrl='.6'/><key name='less' "
                        "ctrl='.4'/><key name='most' ctrl='7'/></keyframe>");
    for (int key = 0; key <= 3; key++) {
        st_System *system = system_in(&robot, key);
        step(system, 0.002, 250);
        const double fallen = 0.9 - pose_of(&robot, system, "pad").p.z;
        if (key == 1 || key == 3)
            check_close(fallen, 0, 1e-6);
        else
            assert_true(fallen > 0.9 * 9.81 * 0.5 * 0.5 / 2); /* once it is off nothing pulls */
        st_system_destroy(system);
    }
    /* a controller: holds, lets go */
    st_System *system = system_in(&robot, 0);
    const st_ForceId grip = st_scene_find_force(robot.scene, "grip");
    const st_Vec3 pull = {20, 0, 0}, none = {0, 0, 0};
    check_ok(st_system_set_force(system, grip, &pull, NULL, &err), err);
    step(system, 0.002, 250);
    check_close(pose_of(&robot, system, "pad").p.z, 0.9, 1e-6);
    check_ok(st_system_set_force(system, grip, &none, NULL, &err), err);
    step(system, 0.002, 250);
    assert_true(pose_of(&robot, system, "pad").p.z < 0);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
    check_refused("<mujoco><worldbody>" PENDULUM
                  "</worldbody><actuator>\n<adhesion body='b' ctrlrange='-1 1'/></actuator>"
                  "</mujoco>",
                  2, "ctrlrange", ">= 0");
    check_refused("<mujoco><worldbody>" PENDULUM
                  "</worldbody><actuator>\n<adhesion body='c' ctrlrange='0 1'/></actuator>"
                  "</mujoco>",
                  2, "no body of that name");
}

/* On a wall friction is bounded by mu times the pull: 20 N and mu = 0.6 hold 12 N, mu = 0.4 does not. */
static void adhesion_carries_by_friction(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<default><geom friction='%g'/></default><worldbody><geom type='box' size='.1 1 1' pos='-.1 0 0'/>"
                 "<body name='pad' pos='.1 0 0'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
                 "</worldbody><actuator><adhesion body='pad' ctrlrange='1 1.5' gain='20'/></actuator>",
                 k == 0 ? 0.6 : 0.4);
        Robot first = model(text), robot = {0};
        st_Error err = {0};
        char *again = NULL, *remarks = NULL;
        check_ok(st_scene_write_mjcf(first.scene, &first.def, "again", &again, &remarks, &err), err);
        robot.scene = scene_of(again, &robot.def, NULL); /* as MJCF that is written has it */
        free(again);
        free(remarks);
        st_scene_destroy(first.scene);
        st_System *system = system_in(&robot, 0);
        step(system, 0.002, 250);
        const double t = 0.5, a = 9.81 - (k == 0 ? 9.81 : 0.4 * 20);
        check_close(pose_of(&robot, system, "pad").p.z, -a * t * t / 2, 2e-3 * t); /* first order in h = 2e-3 */
        st_system_destroy(system);
        st_scene_destroy(robot.scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_not_strict),
        cmocka_unit_test(empty_names_are_none),
        cmocka_unit_test(attached_meshes),
        cmocka_unit_test(numbers_left_out),
        cmocka_unit_test(bombs),
        cmocka_unit_test(moving_body_without_mass),
        cmocka_unit_test(hover),
        cmocka_unit_test(mocap_in_keyframes),
        cmocka_unit_test(adhesion_holds),
        cmocka_unit_test(adhesion_carries_by_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
