/* Robots from URDF: frames, inertias, joints and links without mass, each compared with a calculation without the
 * importer; and robots in motion against other scenes and their energy.
 */
#include "import/robot.h"
#include "robot_check.h"

#include <stdarg.h>

static void check_matrix(const st_Mat3 *got, const st_Mat3 *expected, double tolerance)
{
    for (int k = 0; k < 9; k++)
        check_close(got->m[k], expected->m[k], tolerance);
}

/* ---- matrices of the test's own: 4 x 4, from the definitions ---- */

typedef struct Frame {
    double R[3][3], p[3];
} Frame;

static Frame product(Frame a, Frame b)
{
    Frame c = {0};
    for (int i = 0; i < 3; i++) {
        c.p[i] = a.p[i];
        for (int j = 0; j < 3; j++) {
            c.p[i] += a.R[i][j] * b.p[j];
            for (int k = 0; k < 3; k++)
                c.R[i][j] += a.R[i][k] * b.R[k][j];
        }
    }
    return c;
}

static Frame about(int axis, double angle)
{
    Frame f = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    f.R[i][i] = f.R[j][j] = cos(angle);
    f.R[j][i] = sin(angle);
    f.R[i][j] = -sin(angle);
    return f;
}

/* Yaw after pitch after roll, then moved. */
static Frame placed(const double xyz[3], const double rpy[3])
{
    Frame f = product(about(2, rpy[2]), product(about(1, rpy[1]), about(0, rpy[0])));
    for (int i = 0; i < 3; i++)
        f.p[i] = xyz[i];
    return f;
}

/* Rodrigues' formula. */
static Frame turned(const double axis[3], double angle)
{
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double u[3] = {axis[0] / n, axis[1] / n, axis[2] / n}, c = cos(angle), s = sin(angle);
    double K[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
    Frame f = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            f.R[i][j] = (i == j ? c : 0) + (1 - c) * u[i] * u[j] + s * K[i][j];
    return f;
}

static void check_frame(const st_Pose *got, const Frame *expected, double tolerance)
{
    st_Mat3 R = quat_matrix(got->q);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            check_close(R.m[3 * i + j], expected->R[i][j], tolerance);
    check_vector(got->p, vec3(expected->p[0], expected->p[1], expected->p[2]), tolerance);
}

/* ---- units ---- */

#define INERTIA(i) "<inertia ixx='" i "' iyy='" i "' izz='" i "' ixy='0' ixz='0' iyz='0'/>"
#define BALL       "<inertial><mass value='1'/>" INERTIA("0.1") "</inertial>"
#define LINK(name) "<link name='" name "'>" BALL "</link>"
#define JOINT(name, type, parent, child, more)                                                                         \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>" more "</joint>"
#define LIMIT "<limit lower='-1' upper='2' effort='5' velocity='1'/>"

static void rpy_turns_about_fixed_axes(void **state)
{
    (void)state;
    check_Random random = {1};
    for (int k = 0; k < 50; k++) {
        double xyz[3] = {0, 0, 0}, rpy[3];
        for (int i = 0; i < 3; i++)
            rpy[i] = check_random(&random, -4, 4);
        Frame expected = placed(xyz, rpy);
        st_Pose got = {{0, 0, 0}, sti_quat_rpy(rpy[0], rpy[1], rpy[2])};
        check_frame(&got, &expected, ROUNDING);
    }
}

static void inertia_is_turned_from_its_frame(void **state)
{
    (void)state;
    const double rpy[3] = {0.3, -0.7, 1.9}, zero[3] = {0};
    const double I[3][3] = {{0.3, 0.02, -0.01}, {0.02, 0.4, 0.03}, {-0.01, 0.03, 0.25}};
    Robot robot =
        robot_of("<robot name='r'><link name='l'><inertial><origin xyz='1 2 3' rpy='0.3 -0.7 1.9'/>"
                 "<mass value='2'/><inertia ixx='0.3' ixy='0.02' ixz='-0.01' iyy='0.4' iyz='0.03' izz='0.25'/>"
                 "</inertial></link></robot>",
                 NULL);
    Frame R = placed(zero, rpy);
    st_Mat3 expected = {{0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    expected.m[3 * i + j] += R.R[i][a] * I[a][b] * R.R[j][b];
    st_BodyDef def = body(&robot, "l");
    check_matrix(&def.inertia, &expected, ROUNDING);
    check_vector(def.pose.p, vec3(1, 2, 3), 0); /* of the centre of mass; axes are the link's */
    check_close(def.pose.q.w, 1, 0);
    check_close(def.mass, 2, 0);
    st_scene_destroy(robot.scene);
}

/* Bodies as clouds of point masses: six at +-d_k along the axes of the inertia's frame have the mass m and the moments
 * I_k when d_k^2 m/3 = (sum of I)/2 - I_k. Sums over points need no rule of Steiner's. */
typedef struct Cloud {
    double mass[64];
    st_Vec3 at[64];
    int n;
} Cloud;

static void add_cloud(Cloud *cloud, double mass, const double moments[3], const Frame *frame)
{
    double half = (moments[0] + moments[1] + moments[2]) / 2;
    for (int k = 0; k < 3; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double d = sign * sqrt(3 * (half - moments[k]) / mass);
            cloud->mass[cloud->n] = mass / 6;
            cloud->at[cloud->n++] = vec3(frame->p[0] + frame->R[0][k] * d, frame->p[1] + frame->R[1][k] * d,
                                         frame->p[2] + frame->R[2][k] * d);
        }
}

static void cloud_sums(const Cloud *cloud, double *mass, st_Vec3 *centre, st_Mat3 *inertia)
{
    *mass = 0, *centre = vec3(0, 0, 0), *inertia = (st_Mat3){{0}};
    for (int k = 0; k < cloud->n; k++) {
        *mass += cloud->mass[k];
        *centre = add(*centre, scale(cloud->mass[k], cloud->at[k]));
    }
    *centre = scale(1 / *mass, *centre);
    for (int k = 0; k < cloud->n; k++) {
        st_Vec3 d = sub(cloud->at[k], *centre);
        double x[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                inertia->m[3 * i + j] += cloud->mass[k] * ((i == j ? dot(d, d) : 0) - x[i] * x[j]);
    }
}

static void fixed_links_become_one_body(void **state)
{
    (void)state;
    const double a_xyz[3] = {0.1, 0, -0.2}, a_rpy[3] = {0.2, 0.1, 0}, a_moments[3] = {0.02, 0.03, 0.04};
    const double b_xyz[3] = {0, 0.3, 0}, b_rpy[3] = {0, 0, 1}, b_moments[3] = {0.05, 0.04, 0.03};
    const double b_joint[3] = {0.5, -0.1, 0.2}, b_turn[3] = {1, 0.5, -0.3};
    const double c_joint[3] = {0, 0, 1}, c_moments[3] = {0.01, 0.01, 0.01}, zero[3] = {0};
    Robot robot = robot_of(
        "<robot name='r'><link name='a'><inertial><origin xyz='0.1 0 -0.2' rpy='0.2 0.1 0'/><mass value='2'/>"
        "<inertia ixx='0.02' iyy='0.03' izz='0.04' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<link name='b'><inertial><origin xyz='0 0.3 0' rpy='0 0 1'/><mass value='3'/>"
        "<inertia ixx='0.05' iyy='0.04' izz='0.03' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<link name='frame'/><link name='c'><inertial><mass value='0.5'/>" INERTIA("0.01") "</inertial></link>" JOINT(
            "ab", "fixed", "a", "b", "<origin xyz='0.5 -0.1 0.2' rpy='1 0.5 -0.3'/>")
            JOINT("bf", "fixed", "b", "frame", "<origin xyz='0 0 1'/>")
                JOINT("fc", "fixed", "frame", "c", "") "</robot>",
        NULL);
    Frame a = placed(a_xyz, a_rpy), b = placed(b_joint, b_turn), c = product(b, placed(c_joint, zero));
    b = product(b, placed(b_xyz, b_rpy));
    Cloud cloud = {.n = 0};
    add_cloud(&cloud, 2, a_moments, &a);
    add_cloud(&cloud, 3, b_moments, &b);
    add_cloud(&cloud, 0.5, c_moments, &c);
    double mass;
    st_Vec3 centre;
    st_Mat3 inertia;
    cloud_sums(&cloud, &mass, &centre, &inertia);
    st_BodyDef def = body(&robot, "a");
    assert_int_equal(st_scene_body_count(robot.scene), 1);
    assert_int_equal(st_scene_joint_count(robot.scene), 0);
    check_close(def.mass, mass, ROUNDING);
    check_vector(def.pose.p, centre, ROUNDING);
    check_matrix(&def.inertia, &inertia, ROUNDING);
    st_scene_destroy(robot.scene);
}

static void unmerged_links_keep_their_joint(void **state)
{
    (void)state;
    Robot robot = robot_of("<robot name='r'>" LINK("a")
                               LINK("b") "<link name='tip'/>" JOINT("ab", "fixed", "a", "b", "<origin xyz='1 0 0'/>")
                                   JOINT("bt", "fixed", "b", "tip", "") "</robot>",
                           WORDS("robots/0/merge=false"));
    assert_int_equal(st_scene_body_count(robot.scene), 2);
    assert_int_equal(joint(&robot, "ab").type, ST_JOINT_FIXED);
    assert_int_equal(st_scene_joint_count(robot.scene), 1);
    st_scene_destroy(robot.scene);
}

static void every_joint_type(void **state)
{
    (void)state;
    Robot robot = robot_of(
        "<robot name='r'><link name='world'/>" LINK("a") LINK("b") LINK("c") LINK("d") LINK("e") LINK("f") JOINT(
            "hinge", "revolute", "world", "a", "<axis xyz='0 2 0'/>" LIMIT "<dynamics damping='0.7' friction='0.3'/>")
            JOINT("wheel", "continuous", "a", "b", "<axis xyz='0 0 1'/><origin rpy='1.5707963267948966 0 0'/>")
                JOINT("slide", "prismatic", "b", "c", "<limit lower='-0.1' upper='0.4' effort='0' velocity='1'/>")
                    JOINT("table", "planar", "world", "d", "<axis xyz='0 0 1'/>")
                        JOINT("float", "floating", "world", "e", "<origin xyz='0 0 5'/>")
                            JOINT("weld", "fixed", "e", "f", "") "</robot>",
        NULL);
    st_JointDef hinge = joint(&robot, "hinge");
    assert_int_equal(hinge.type, ST_JOINT_REVOLUTE);
    assert_int_equal(hinge.a.index1, 0); /* the world is the ground */
    check_vector(hinge.axis, vec3(0, 1, 0), 0);
    check_close(hinge.lower, -1, 0);
    check_close(hinge.upper, 2, 0);
    check_close(hinge.damping, 0.7, 0);
    check_close(hinge.friction, 0.3, 0);
    assert_int_equal(hinge.motor.type, ST_MOTOR_FORCE); /* one that does not push, for a controller to set */
    check_close(hinge.motor.max_force, 5, 0);
    check_close(hinge.motor.target, 0, 0);
    st_JointDef wheel = joint(&robot, "wheel");
    check_vector(wheel.axis, vec3(0, -1, 0), ROUNDING); /* z turned by a right angle about x */
    assert_true(wheel.lower == -INFINITY && wheel.upper == INFINITY);
    assert_int_equal(wheel.motor.type, ST_MOTOR_NONE);
    st_JointDef slide = joint(&robot, "slide");
    assert_int_equal(slide.type, ST_JOINT_PRISMATIC);
    check_close(slide.upper, 0.4, 0);
    assert_true(slide.motor.max_force == INFINITY); /* an effort of 0 counts as not given */
    assert_int_equal(joint(&robot, "table").type, ST_JOINT_PLANAR);
    assert_int_equal(st_scene_find_joint(robot.scene, "float").index1, 0);
    check_vector(body(&robot, "e").pose.p, vec3(0, 0, 5), 0);
    check_close(body(&robot, "e").mass, 2, 0); /* f is part of it */
    st_scene_destroy(robot.scene);
}

/* A joint's coordinate counts from the start. */
static void positions_move_limits(void **state)
{
    (void)state;
    const char *text = "<robot name='r'><link name='world'/>" LINK("a") LINK("b")
        JOINT("one", "revolute", "world", "a", "<axis xyz='0 0 1'/>" LIMIT)
            JOINT("two", "revolute", "a", "b",
                  "<origin xyz='1 0 0'/><axis xyz='0 0 1'/>"
                  "<limit lower='0.5' upper='0.9' effort='1' velocity='1'/>") "</robot>";
    Robot robot = robot_of(text, WORDS("robots/0/positions={\"one\": 0.25}"));
    check_close(joint(&robot, "one").lower, -1.25, ROUNDING);
    check_close(joint(&robot, "one").upper, 1.75, ROUNDING);
    check_vector(body(&robot, "b").pose.p, vec3(cos(0.25), sin(0.25), 0), ROUNDING);
    /* 0 is outside the limits of the second: it starts at the nearest, 0.5 */
    check_close(joint(&robot, "two").lower, 0, ROUNDING);
    check_close(joint(&robot, "two").upper, 0.4, ROUNDING);
    check_close(2 * asin(body(&robot, "b").pose.q.z), 0.75, ROUNDING);
    st_scene_destroy(robot.scene);
}

static void a_root_stands_or_is_free(void **state)
{
    (void)state;
    static const struct {
        const char *links, *set;
        bool fixed;
    } cases[] = {
        {LINK("base") LINK("arm") JOINT("j", "continuous", "base", "arm", ""), NULL, false},
        {LINK("base") LINK("arm") JOINT("j", "continuous", "base", "arm", ""), "robots/0/fixed=true", true},
        {"<link name='foot'/>" LINK("base") JOINT("f", "fixed", "foot", "base", "") LINK("arm")
             JOINT("j", "continuous", "base", "arm", ""),
         NULL, false},
        {"<link name='world'/>" LINK("base") JOINT("f", "fixed", "world", "base", "") LINK("arm")
             JOINT("j", "continuous", "base", "arm", ""),
         NULL, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[4000];
        snprintf(text, sizeof text, "<robot name='r'>%s</robot>", cases[k].links);
        const char *set = cases[k].set;
        Robot robot = robot_of(text, set != NULL ? WORDS(set) : NULL);
        /* a fixed root without shapes is the ground itself */
        bool fixed = st_scene_find_body(robot.scene, "base").index1 == 0;
        assert_int_equal(fixed, cases[k].fixed);
        assert_int_equal(joint(&robot, "j").a.index1 == 0, cases[k].fixed);
        st_scene_destroy(robot.scene);
    }
}

/* ---- shapes ---- */

#define BOX "<collision><origin xyz='0 0 0.5'/><geometry><box size='0.2 0.4 1'/></geometry></collision>"

static void shapes_stand_where_the_link_has_them(void **state)
{
    (void)state;
    Robot robot =
        robot_of("<robot name='r'><link name='a'><inertial><origin xyz='0 0 0.25'/><mass value='1'/>" INERTIA(
                     "0.1") "</inertial>" BOX "<collision><geometry><sphere radius='0.3'/></geometry></collision>"
                            "<collision><geometry><cylinder radius='0.1' length='0.7'/></geometry></collision>"
                            "</link></robot>",
                 WORDS("robots/0/name=left", "robots/0/position=[3, 0, 0]"));
    st_ShapeDef shape;
    st_BodyId owner;
    check_vector(body(&robot, "left.a").pose.p, vec3(3, 0, 0.25), ROUNDING);
    assert_int_equal(st_scene_shape_count(robot.scene), 3);
    assert_int_equal(st_scene_shape(robot.scene, (st_ShapeId){1}, &shape, &owner), ST_OK);
    assert_int_equal(shape.type, ST_SHAPE_BOX);
    check_vector(shape.pose.p, vec3(0, 0, 0.25), ROUNDING);
    check_vector(shape.half, vec3(0.1, 0.2, 0.5), 0);
    assert_int_equal(st_scene_shape(robot.scene, (st_ShapeId){3}, &shape, &owner), ST_OK);
    assert_int_equal(shape.type, ST_SHAPE_CYLINDER);
    assert_string_equal(shape.name, "a.3");
    st_scene_destroy(robot.scene);
}

static int contacts_at_start(const Robot *robot)
{
    st_Error err = {0};
    st_System *system = NULL;
    st_StepInfo info = st_step_info();
    check_ok(st_system_create(robot->scene, &robot->def, &system, &err), err);
    check_ok(st_system_step(system, 1e-6, &info, &err), err);
    st_system_destroy(system);
    return info.contacts;
}

/* Three boxes in one another: neighbours never touch, the first and the last do not because they overlap at the start,
 * unless that is switched on. */
static void neighbours_do_not_touch(void **state)
{
    (void)state;
#define SOLID(name) "<link name='" name "'>" BALL BOX "</link>"
    const char *text = "<robot name='r'>" SOLID("a") SOLID("b") SOLID("c") JOINT("ab", "continuous", "a", "b", "")
        JOINT("bc", "continuous", "b", "c", "") "</robot>";
    Robot robot = robot_of(text, WORDS("robots/0/overlaps=true"));
    assert_true(contacts_at_start(&robot) > 0);
    st_scene_destroy(robot.scene);
    robot = robot_of(text, NULL); /* two that overlap at the start */
    assert_int_equal(contacts_at_start(&robot), 0);
    st_scene_destroy(robot.scene);
    robot = robot_of(text, WORDS("robots/0/self_collision=false", "robots/0/overlaps=true"));
    assert_int_equal(contacts_at_start(&robot), 0);
    st_scene_destroy(robot.scene);
}

/* ---- whole robots ---- */

/* Six axes at random positions and directions: the pose of each link compared with the product of the transforms. */
static void forward_kinematics_of_six_axes(void **state)
{
    (void)state;
    check_Random random = {7};
    for (int round = 0; round < 20; round++) {
        char text[8192] = "<robot name='arm'><link name='l0'/>", positions[600] = "robots/0/positions={";
        Frame expected[7] = {placed((double[3]){0.5, -1, 2}, (double[3]){0, 0, 0})};
        for (int k = 1; k <= 6; k++) {
            double xyz[3], rpy[3], axis[3], x = check_random(&random, -3, 3);
            for (int i = 0; i < 3; i++) {
                xyz[i] = check_random(&random, -1, 1);
                rpy[i] = check_random(&random, -3, 3);
                axis[i] = check_random(&random, -2, 2);
            }
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n,
                     "<link name='l%d'>" BALL "</link><joint name='j%d' type='continuous'><parent link='l%d'/>"
                     "<child link='l%d'/><origin xyz='%.17g %.17g %.17g' rpy='%.17g %.17g %.17g'/>"
                     "<axis xyz='%.17g %.17g %.17g'/></joint>",
                     k, k, k - 1, k, xyz[0], xyz[1], xyz[2], rpy[0], rpy[1], rpy[2], axis[0], axis[1], axis[2]);
            n = strlen(positions);
            snprintf(positions + n, sizeof positions - n, "%s\"j%d\": %.17g", k > 1 ? ", " : "", k, x);
            expected[k] = product(product(expected[k - 1], placed(xyz, rpy)), turned(axis, x));
        }
        const size_t n_text = strlen(text), n_positions = strlen(positions);
        snprintf(text + n_text, sizeof text - n_text, "</robot>");
        snprintf(positions + n_positions, sizeof positions - n_positions, "}");
        Robot robot = robot_of(text, WORDS("robots/0/position=[0.5, -1, 2]", positions));
        for (int k = 1; k <= 6; k++) {
            char name[16];
            snprintf(name, sizeof name, "l%d", k);
            st_BodyDef def = body(&robot, name);
            check_frame(&def.pose, &expected[k], 2e-14); /* six products of rotations */
        }
        st_scene_destroy(robot.scene);
    }
}

/* The arm of the examples: masses as the file has them, and the energy of a motion without dampers and stops. */
static void the_arm_keeps_its_energy(void **state)
{
    (void)state;
    static const char *const free[] = {
        "robots/0/position=[0, 0, 1]",
        "robots/0/positions={\"lift\": 0.3, \"elbow\": -0.5, \"roll\": 0.4, \"bend\": 0.7}",
        "simulation/integrator=sdirk2",
        "simulation/h=0.001",
        "simulation/end=0.25",
        "simulation/margin=1e-4",
        "joints/turn/damping=0",
        "joints/lift/damping=0",
        "joints/elbow/damping=0",
        "joints/elbow/friction=0",
        "joints/roll/damping=0",
        "joints/bend/damping=0",
        "joints/spin/damping=0",
        "joints/finger_a_slide/damping=0",
        "joints/finger_a_slide/stiffness=500",
        "joints/bend/lower=-9",
        "joints/bend/upper=9",
        "robots/0/self_collision=false"};
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def;
    check_ok(st_scene_read("examples/robots/arm.urdf", free, (int)(sizeof free / sizeof free[0]), &scene, &def, &err),
             err);
    double total = 0;
    for (int k = 1; k <= st_scene_body_count(scene); k++) {
        double mass;
        st_Mat3 inertia;
        st_BodyDef one;
        assert_int_equal(st_scene_body(scene, (st_BodyId){k}, &one), ST_OK);
        if (one.fixed) continue;
        check_ok(st_scene_body_mass(scene, (st_BodyId){k}, &mass, &inertia, &err), err);
        total += mass;
    }
    check_close(total, 3.5 + 5 + 3 + 1 + 0.7 + 0.3 + 0.4 + 2 * 0.08, ROUNDING);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    st_StepInfo info = st_step_info();
    double first = NAN, worst = 0, moved = 0;
    for (int k = 0; k < 250; k++) {
        check_ok(st_system_step(system, 1e-3, &info, &err), err);
        double energy = info.kinetic + info.potential;
        if (k == 0) first = energy;
        worst = fmax(worst, fabs(energy - first));
        moved = fmax(moved, info.kinetic);
        assert_int_equal(info.contacts, 0);
    }
    assert_true(moved > 5);
    check_below(worst, 1e-4); /* [J]; order two: 2.4e-5 at this step */
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static const char pendulum_urdf[] =
    "<robot name='double'><link name='world'/>"
    "<link name='upper'><inertial><origin xyz='0 0 -0.5'/><mass value='2'/>"
    "<inertia ixx='0.17' iyy='0.17' izz='0.002' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<link name='lower'><inertial><origin xyz='0 0 -0.4'/><mass value='1'/>"
    "<inertia ixx='0.06' iyy='0.06' izz='0.001' ixy='0' ixz='0' iyz='0'/></inertial></link>" JOINT(
        "one", "continuous", "world", "upper", "<axis xyz='0 1 0'/>")
        JOINT("two", "continuous", "upper", "lower", "<origin xyz='0 0 -1'/><axis xyz='0 1 0'/>") "</robot>";

/* theta'' of two rods in absolute angles from the vertical, and Runge-Kutta over it: no bodies, no joints. */
static void pendulum_rate(const double y[4], double out[4])
{
    const double m1 = 2, m2 = 1, l = 1, c1 = 0.5, c2 = 0.4, I1 = 0.17, I2 = 0.06, g = 9.81;
    double d = y[0] - y[1];
    double a = I1 + m1 * c1 * c1 + m2 * l * l, b = m2 * l * c2 * cos(d), c = I2 + m2 * c2 * c2;
    double f = -(m1 * c1 + m2 * l) * g * sin(y[0]) - m2 * l * c2 * sin(d) * y[3] * y[3];
    double h = -m2 * c2 * g * sin(y[1]) + m2 * l * c2 * sin(d) * y[2] * y[2];
    double det = a * c - b * b;
    out[0] = y[2];
    out[1] = y[3];
    out[2] = (f * c - b * h) / det;
    out[3] = (a * h - b * f) / det;
}

static void runge_kutta(double y[4], double h, int steps)
{
    for (int s = 0; s < steps; s++) {
        double k[4][4], at[4];
        for (int stage = 0; stage < 4; stage++) {
            double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
            for (int i = 0; i < 4; i++)
                at[i] = y[i] + (stage > 0 ? part * k[stage - 1][i] : 0);
            pendulum_rate(at, k[stage]);
        }
        for (int i = 0; i < 4; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static void a_double_pendulum_swings_as_it_must(void **state)
{
    (void)state;
    double y[4] = {1.2, 1.2 - 0.7, 0, 0}; /* about +y a positive turn takes -z to -x */
    Robot robot = robot_of(pendulum_urdf, WORDS("robots/0/positions={\"one\": 1.2, \"two\": -0.7}",
                                                "simulation/integrator=sdirk2", "simulation/h=0.0005"));
    st_Error err = {0};
    st_System *system = NULL;
    check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
    for (int k = 0; k < 2000; k++)
        check_ok(st_system_step(system, 5e-4, NULL, &err), err);
    runge_kutta(y, 1e-4, 10000);
    st_Pose upper, lower;
    st_system_pose(system, st_scene_find_body(robot.scene, "upper"), &upper);
    st_system_pose(system, st_scene_find_body(robot.scene, "lower"), &lower);
    /* order two: 4e-6 m at this step, a quarter of it at half */
    check_vector(upper.p, vec3(-0.5 * sin(y[0]), 0, -0.5 * cos(y[0])), 2e-5);
    check_vector(lower.p, vec3(-sin(y[0]) - 0.4 * sin(y[1]), 0, -cos(y[0]) - 0.4 * cos(y[1])), 2e-5);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

static void a_mimic_follows(void **state)
{
    (void)state;
    const char *text = "<robot name='r'><link name='world'/>" LINK("a") LINK("b")
        JOINT("lead", "continuous", "world", "a", "<axis xyz='0 1 0'/><origin xyz='0 0 0'/>")
            JOINT("follow", "continuous", "world", "b",
                  "<axis xyz='0 0 1'/><origin xyz='3 0 0'/>"
                  "<mimic joint='lead' multiplier='-2.5' offset='0.3'/>") "</robot>";
    Robot robot = robot_of(text, WORDS("robots/0/positions={\"lead\": 0.4}", "bodies/a/angular_velocity=[0, 3, 0]",
                                       "bodies/b/angular_velocity=[0, 0, -7.5]"));
    st_Error err = {0};
    st_System *system = NULL;
    check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
    check_close(2 * asin(body(&robot, "b").pose.q.z), -2.5 * 0.4 + 0.3, ROUNDING);
    for (int k = 0; k < 100; k++)
        check_ok(st_system_step(system, 1e-3, NULL, &err), err);
    st_JointReport lead, follow;
    assert_int_equal(st_system_joint(system, st_scene_find_joint(robot.scene, "lead"), ST_FRAME_WORLD, &lead), ST_OK);
    assert_int_equal(st_system_joint(system, st_scene_find_joint(robot.scene, "follow"), ST_FRAME_WORLD, &follow),
                     ST_OK);
    assert_true(lead.coordinate > 0.2);
    check_close(follow.coordinate, -2.5 * lead.coordinate, 1e-9); /* a joint row, kept by `gap` */
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* A scene with two of them on a floor: names, places, and feet that carry the weight. */
static void two_dogs_stand(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def;
    check_ok(st_scene_read("examples/robots/dog-stands.json", NULL, 0, &scene, &def, &err), err);
    assert_int_equal(st_scene_body_count(scene), 26);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    st_StepInfo info = st_step_info();
    for (int k = 0; k < 800; k++)
        check_ok(st_system_step(system, def.h, &info, &err), err);
    static const char *const feet[] = {"front_left", "front_right", "rear_left", "rear_right"};
    for (int dog = 0; dog < 2; dog++) {
        double lift = 0;
        for (int k = 0; k < 4; k++) {
            char name[60];
            st_Vec3 force, torque;
            snprintf(name, sizeof name, "%c.%s_lower_leg", "ab"[dog], feet[k]);
            assert_int_equal(st_system_contact_force(system, st_scene_find_body(scene, name), &force, &torque), ST_OK);
            assert_true(force.z > 10);
            lift += force.z;
        }
        /* trunk 6, head 0.4, and four legs of 0.6 + 0.9 + 0.2 + 0.05 kg; it still creeps at 1e-5 m/s */
        check_close(lift, 9.81 * (6.4 + 4 * 1.75), 1e-2);
        for (int k = 1; k <= st_scene_joint_count(scene); k++) {
            st_JointDef one;
            st_JointReport report;
            assert_int_equal(st_scene_joint(scene, (st_JointId){k}, &one), ST_OK);
            assert_int_equal(st_system_joint(system, (st_JointId){k}, ST_FRAME_WORLD, &report), ST_OK);
            assert_true(fabs(report.motor) <= one.motor.max_force);
        }
    }
    check_below(info.kinetic, 1e-6);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Common features of Bullet and Drake: spherical joints, planes, limits of inf, masses without inertia; and a joint
 * that mimics one that cannot move is at its offset. */
static void everyday_files(void **state)
{
    (void)state;
#define PART(name, inertia)                                                                                            \
    "<link name='" name "'><inertial><mass value='2'/><inertia ixx='" inertia "' ixy='0' ixz='0' iyy='" inertia        \
    "' iyz='0' izz='" inertia "'/></inertial></link>"
#define TO(name, type, child, more)                                                                                    \
    "<joint name='" name "' type='" type "'><parent link='base'/><child link='" child "'/><axis xyz='0 0 1'/>" more    \
    "</joint>"
    Robot robot = robot_of(
        "<robot name='r'><link name='base'><collision><geometry><plane normal='1 0 "
        "0'/></geometry></collision></link>" PART("a", "0") PART("b", "1") PART("c", "1") TO("ja", "spherical", "a", "")
            TO("jb", "revolute", "b",
               "<limit lower='-inf' upper='inf' effort='inf' "
               "velocity='inf'/>")
                TO("jf", "fixed", "c",
                   "") "<link name='d'><inertial><origin xyz='1 0 0'/><mass value='2'/><inertia ixx='1' iyy='1' "
                       "izz='1'/></inertial></link>" TO("jd", "continuous", "d",
                                                        "<mimic joint='jf' offset='1.5707963267948966'/>") "</robot>",
        NULL);
    assert_int_equal(joint(&robot, "ja").type, ST_JOINT_BALL);
    check_close(body(&robot, "a").inertia.m[0], 0.4 * 2 * 0.05 * 0.05, 1e-15);
    assert_true(isinf(joint(&robot, "jb").upper));
    assert_int_equal(st_scene_find_joint(robot.scene, "jd").index1, 0);
    st_ShapeDef plane;
    assert_int_equal(st_scene_shape(robot.scene, (st_ShapeId){1}, &plane, NULL), ST_OK);
    check_vector(rotate(plane.pose.q, vec3(0, 0, 1)), vec3(1, 0, 0), 1e-12);
    st_scene_destroy(robot.scene);
}

/* A plate without thickness, a disc without length, a rod with izz = 0, a mass without inertia, and a missing mesh,
 * which the robot ignores. */
/* Drake's files hang their first joint on a world that no link is named after. */
static void a_world_without_a_link(void **state)
{
    (void)state;
    Robot robot = robot_of(
        "<robot name='r'>" LINK("a") JOINT("j", "continuous", "world", "a", "<axis xyz='0 1 0'/>") "</robot>", NULL);
    assert_int_equal(st_scene_body_count(robot.scene), 1);
    assert_int_equal(joint(&robot, "j").a.index1, 0);
    st_scene_destroy(robot.scene);
}

static void drawn_carelessly(void **state)
{
    (void)state;
    const char *text =
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='0'/></inertial>"
        "<collision><geometry><box size='2 1 0'/></geometry></collision>"
        "<collision><geometry><cylinder radius='3' length='0'/></geometry></collision>"
        "<collision><geometry><mesh filename='none.stl'/></geometry></collision></link>"
        "<link name='b'><inertial><mass value='2'/></inertial></link>"
        "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>";
    const char *const sets[] = {"robots/0/ignore=[\"mesh\"]", NULL};
    Robot robot = robot_of(text, sets);
    st_ShapeDef plate, disc;
    const st_BodyId a = st_scene_find_body(robot.scene, "a");
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, a, "a"), &plate, NULL), ST_OK);
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, a, "a.2"), &disc, NULL), ST_OK);
    check_vector(plate.half, vec3(1, 0.5, 1e-3), 1e-15);
    check_close(disc.length, 3e-3, 1e-15);
    check_close(body(&robot, "a").inertia.m[8], 1e-3, 1e-15);
    check_close(body(&robot, "b").inertia.m[0], 0.4 * 2 * 0.05 * 0.05, 1e-15);
    assert_int_equal(st_scene_shape_count(robot.scene), 2);
    st_scene_destroy(robot.scene);
}

/* Elements of Drake: universal and ball joints, the inertia of a rotor behind a gear, groups that do not touch, shapes
 * with its prefix, and a joint that closes a loop. */
static void drake(void **state)
{
    (void)state;
#define DRAKE_LINK(name, shape)                                                                                        \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"      \
    "</inertial>" shape "</link>"
#define FORM(shape) "<collision><geometry><" shape "/></geometry></collision>"
#define ENDS(a, b)  "<parent link='" a "'/><child link='" b "'/>"
    Robot robot = robot_of(
        "<robot name='r' xmlns:drake='d'>" DRAKE_LINK("a", FORM("drake:capsule radius='0.1' length='0.3'")) DRAKE_LINK(
            "b", "") DRAKE_LINK("c", FORM("drake:ellipsoid a='0.1' b='0.2' c='0.3'")) DRAKE_LINK("d", "")
            DRAKE_LINK("e", "") "<joint name='w' type='fixed'>" ENDS(
                "world",
                "a") "</joint><drake:joint name='u' type='universal'>" ENDS("a",
                                                                            "b") "<origin rpy='0 0 "
                                                                                 "1.5707963267948966'/></"
                                                                                 "drake:joint><drake:joint name='s' "
                                                                                 "type='ball'>" ENDS(
                                                                                     "b",
                                                                                     "c") "<dynamics "
                                                                                          "damping='0.5'/></"
                                                                                          "drake:joint><joint name='t' "
                                                                                          "type='continuous'>" ENDS(
                                                                                              "a",
                                                                                              "d") "<axis xyz='0 1 "
                                                                                                   "0'/></joint><joint "
                                                                                                   "name='v' "
                                                                                                   "type='continuous'"
                                                                                                   ">" ENDS(
                                                                                                       "d",
                                                                                                       "e") "<origin "
                                                                                                            "xyz='0 0 "
                                                                                                            "1'/"
                                                                                                            "><axis "
                                                                                                            "xyz='0 1 "
                                                                                                            "0'/></"
                                                                                                            "joint><"
                                                                                                            "transmiss"
                                                                                                            "ion><"
                                                                                                            "joint "
                                                                                                            "name='t'/"
                                                                                                            "><"
                                                                                                            "actuator "
                                                                                                            "name='m'>"
                                                                                                            "<drake:"
                                                                                                            "rotor_"
                                                                                                            "inertia "
                                                                                                            "value='0."
                                                                                                            "01'/"
                                                                                                            "><drake:"
                                                                                                            "gear_"
                                                                                                            "ratio "
                                                                                                            "value='5'"
                                                                                                            "/></"
                                                                                                            "actuator>"
                                                                                                            "</"
                                                                                                            "transmiss"
                                                                                                            "ion>"
                                                                                                            "<loop_"
                                                                                                            "joint "
                                                                                                            "name='"
                                                                                                            "loop' "
                                                                                                            "type='"
                                                                                                            "continuou"
                                                                                                            "s'><"
                                                                                                            "link1 "
                                                                                                            "link='e' "
                                                                                                            "xyz='0 0 "
                                                                                                            "-0.5'/"
                                                                                                            "><link2 "
                                                                                                            "link='d' "
                                                                                                            "xyz='0 0 "
                                                                                                            "0.5'/>"
                                                                                                            "<axis "
                                                                                                            "xyz='0 1 "
                                                                                                            "0'/></"
                                                                                                            "loop_"
                                                                                                            "joint><"
                                                                                                            "drake:"
                                                                                                            "collision"
                                                                                                            "_filter_"
                                                                                                            "group "
                                                                                                            "name='g'>"
                                                                                                            "<drake:"
                                                                                                            "member "
                                                                                                            "link='a'/"
                                                                                                            "><drake:"
                                                                                                            "member "
                                                                                                            "link='c'/"
                                                                                                            "><drake:"
                                                                                                            "ignored_"
                                                                                                            "collision"
                                                                                                            "_filter_"
                                                                                                            "group "
                                                                                                            "name='g'/"
                                                                                                            "></"
                                                                                                            "drake:"
                                                                                                            "collision"
                                                                                                            "_filter_"
                                                                                                            "group></"
                                                                                                            "robot>",
        NULL);
    const st_JointDef u = joint(&robot, "u"), loop = joint(&robot, "loop");
    assert_int_equal(u.type, ST_JOINT_UNIVERSAL);
    check_vector(u.axis, vec3(0, 1, 0), 1e-15); /* turned by 90 degrees about z */
    check_vector(u.axis_b, vec3(-1, 0, 0), 1e-15);
    assert_int_equal(joint(&robot, "s").type, ST_JOINT_BALL);
    check_close(joint(&robot, "t").armature, 0.25, 1e-15);
    assert_int_equal(loop.type, ST_JOINT_REVOLUTE);
    check_vector(loop.point, vec3(0, 0, 0.5), 1e-15);
    assert_int_equal(st_scene_shape_count(robot.scene), 2);
    st_SpringDef spring = {0};
    assert_int_equal(st_scene_spring(robot.scene, st_scene_find_spring(robot.scene, "s.bushing"), &spring), ST_OK);
    check_close(spring.damping_about.x, 0.5, 0);
    st_scene_destroy(robot.scene);
    check_refused("<robot name='r'>" DRAKE_LINK("a", "") "\n<drake:linear_bushing_rpy/></robot>", 2,
                  "linear_bushing_rpy");
    check_refused(
        "<robot name='r'>" DRAKE_LINK("a", "") "\n<loop_joint name='l' type='fixed'><link1 link='z'/></loop_joint>"
                                               "</robot>",
        2, "\"z\"");
}

/* A sphere of radius 0 is a point. It has no orientation, though its link is turned against the body. */
static void points_on_turned_links(void **state)
{
    (void)state;
    Robot robot =
        robot_of("<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
                 "ixz='0' iyz='0'/></inertial></link><joint name='j' type='fixed'><parent link='a'/><child link='b'/>"
                 "<origin rpy='-1.57 0 0' xyz='1 0 0'/></joint><link name='b'><collision><origin xyz='0.5 0 0'/>"
                 "<geometry><sphere radius='0'/></geometry></collision></link></robot>",
                 NULL);
    st_ShapeDef point;
    st_ShapeId id = st_scene_find_shape(robot.scene, st_scene_find_body(robot.scene, "a"), "b");
    assert_int_equal(st_scene_shape(robot.scene, id, &point, NULL), ST_OK);
    assert_int_equal(point.type, ST_SHAPE_POINT);
    check_vector(point.pose.p, vec3(1.5, 0, 0), ROUNDING);
    st_scene_destroy(robot.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_on_turned_links),
        cmocka_unit_test(drawn_carelessly),
        cmocka_unit_test(a_world_without_a_link),
        cmocka_unit_test(rpy_turns_about_fixed_axes),
        cmocka_unit_test(inertia_is_turned_from_its_frame),
        cmocka_unit_test(fixed_links_become_one_body),
        cmocka_unit_test(unmerged_links_keep_their_joint),
        cmocka_unit_test(every_joint_type),
        cmocka_unit_test(positions_move_limits),
        cmocka_unit_test(a_root_stands_or_is_free),
        cmocka_unit_test(shapes_stand_where_the_link_has_them),
        cmocka_unit_test(neighbours_do_not_touch),
        cmocka_unit_test(forward_kinematics_of_six_axes),
        cmocka_unit_test(the_arm_keeps_its_energy),
        cmocka_unit_test(a_double_pendulum_swings_as_it_must),
        cmocka_unit_test(a_mimic_follows),
        cmocka_unit_test(everyday_files),
        cmocka_unit_test(two_dogs_stand),
        cmocka_unit_test(drake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
