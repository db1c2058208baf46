/* Worlds and models from SDF, COLLADA meshes, and models attached to others: places and masses by hand. */
#include "import/mesh_file.h"
#include "import/mesh_mass.h"
#include "robot_check.h"

static Robot read(const char *path)
{
    Robot robot = {0};
    st_Error err = {0};
    if (st_scene_read(path, NULL, 0, &robot.scene, &robot.def, &err) != ST_OK) fail_msg("%s", err.message);
    return robot;
}

/* A cart that is turned by 90 degrees about z at (1, 0, 0.2): its wheel is 0.2 ahead, its axle along the cart's y. */
static void a_world(void **state)
{
    (void)state;
    Robot robot = read("tests/data/robots/world.sdf");
    check_close(robot.def.gravity.z, -9.8, 0);
    check_close(robot.def.h, 0.002, 0);
    check_vector(body(&robot, "cart::wheel").pose.p, vec3(1, 0.2, 0.1), 1e-15);
    /* z of the wheel, turned back by roll -90 degrees, is y of the cart, and that is -x of the world */
    check_vector(joint(&robot, "cart::axle").axis, vec3(-1, 0, 0), 1e-15);
    check_close(joint(&robot, "cart::axle").damping, 0.1, 0);
    assert_true(isinf(joint(&robot, "cart::axle").upper));
    assert_int_equal(joint(&robot, "cart::swivel").type, ST_JOINT_BALL);
    check_vector(joint(&robot, "pole::pivot").point, vec3(0, 2, 1.5), 1e-15);
    assert_int_equal(joint(&robot, "pole::pivot").a.index1, 0);
    st_ShapeDef floor;
    assert_int_equal(
        st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, ST_GROUND, "floor::link"), &floor, NULL), ST_OK);
    assert_int_equal(floor.type, ST_SHAPE_PLANE);
    check_close(floor.mu, 0.7, 0);
    st_scene_destroy(robot.scene);
}

/* The pose of the model is that of its handle, which is turned by 90 degrees in the model: the model is not turned. */
static void a_placement_frame(void **state)
{
    (void)state;
    Robot robot = read("tests/data/robots/placement.sdf");
    check_vector(body(&robot, "lid").pose.p, vec3(0.5, 2.25, 3), 1e-15);
    check_close(body(&robot, "lid").pose.q.z, 0, 1e-15);
    st_scene_destroy(robot.scene);
}

/* Balls of one model that fly towards each other pass through, unless the model has self_collide. */
static void self_collide(void **state)
{
    (void)state;
    const char *const models[] = {"quiet", "touching"};
    Robot robot = read("tests/data/robots/inside.sdf");
    st_System *system = NULL;
    assert_int_equal(st_system_create(robot.scene, &robot.def, &system, NULL), ST_OK);
    st_BodyId ids[2][2];
    for (int k = 0; k < 4; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s::%s", models[k / 2], k % 2 == 0 ? "left" : "right");
        ids[k / 2][k % 2] = st_scene_find_body(robot.scene, name);
        const st_Vec3 velocity = {k % 2 == 0 ? 1 : -1, 0, 0}, spin = {0, 0, 0};
        assert_int_equal(st_system_set_velocity(system, ids[k / 2][k % 2], &velocity, &spin, NULL), ST_OK);
    }
    for (int k = 0; k < 120; k++)
        assert_int_equal(st_system_step(system, 0.01, NULL, NULL), ST_OK);
    for (int k = 0; k < 2; k++) {
        st_Pose left, right;
        assert_int_equal(st_system_pose(system, ids[k][0], &left), ST_OK);
        assert_int_equal(st_system_pose(system, ids[k][1], &right), ST_OK);
        if (k == 0)
            check_close(left.p.x - right.p.x, 0.4, 1e-6);
        else
            assert_true(right.p.x - left.p.x > 0.999);
    }
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* Four bars in a square of side 1: three joints of the tree and one that closes the loop. */
static void a_loop(void **state)
{
    (void)state;
    Robot robot = read("tests/data/robots/loop.sdf");
    assert_int_equal(st_scene_joint_count(robot.scene), 4);
    check_vector(body(&robot, "coupler").pose.p, vec3(0.5, 0, 0), 1e-15);
    check_vector(joint(&robot, "d").point, vec3(1, 0, 0), 1e-15);
    assert_int_equal(joint(&robot, "d").type, ST_JOINT_REVOLUTE);
    check_vector(joint(&robot, "d").axis, vec3(0, 1, 0), 1e-15);
    st_scene_destroy(robot.scene);
}

/* 100 cm, twice as large by a node and 0.5 m up by another: a tetrahedron of edge 2 m. */
static void collada(void **state)
{
    (void)state;
    sti_Model model;
    sti_Solid solid;
    st_Error err = {0};
    check_ok(sti_model_read("tests/data/robots/part-tri.dae", &model, &err), err);
    assert_int_equal(model.n_triangles, 4);
    check_ok(sti_mesh_mass(&model, STI_MESH_EXACT, &solid, &err), err);
    check_close(solid.volume, 8 / 6.0, 1e-14);
    check_vector(solid.centre, vec3(0.5, 0.5, 0.5 + 0.5), 1e-14);
    sti_model_free(&model);
    const char *const no_points = "<COLLADA><library_geometries><geometry><mesh><triangles><p>0 1 2</p></triangles>"
                                  "</mesh></geometry></library_geometries></COLLADA>";
    const char *const bad[] = {no_points, "<svg/>", "<COLLADA>"};
    for (int k = 0; k < 3; k++) {
        model = (sti_Model){0};
        assert_int_equal(sti_model_parse(bad[k], strlen(bad[k]), ".dae", "bad.dae", &model, &err), ST_ERR_FORMAT);
        sti_model_free(&model);
    }
}

/* A part in degrees attached twice to a hand in radians; four balls in a ring. */
static void attached_and_copied(void **state)
{
    (void)state;
    Robot robot = read("tests/data/robots/hand.xml");
    check_close(joint(&robot, "left_knuckle").upper, STI_PI / 2, 1e-15);
    check_close(joint(&robot, "right_last").upper, STI_PI / 4, 1e-15);
    check_close(joint(&robot, "right_last").damping, 0.05, 0);
    check_close(body(&robot, "left_tip").mass, 2000 * 4 * STI_PI / 3 * pow(0.015, 3),
                1e-14); /* class tip of its own file */
    assert_int_equal(joint(&robot, "left_curl").type, ST_JOINT_TENDON);
    check_close(joint(&robot, "left_curl").motor.stiffness, 2, 0);
    check_vector(body(&robot, "ball1").pose.p, vec3(0, 0.5, 0.1), 1e-15);
    check_vector(body(&robot, "ball3").pose.p, vec3(0, -0.5, 0.1), 1e-15);
    /* springdamper 0.1 1 of the palm, which lifts its whole weight: k = m/T^2 */
    const char *const parts[] = {"palm", "left_finger", "left_tip", "right_finger", "right_tip"};
    double mass = 0;
    for (int k = 0; k < 5; k++)
        mass += body(&robot, parts[k]).mass;
    assert_true(joint(&robot, "lift").stiffness <= mass / 0.01); /* the joints above give way a little: less than all */
    assert_true(joint(&robot, "lift").stiffness > body(&robot, "palm").mass / 0.01);
    st_scene_destroy(robot.scene);
}

static void everyday_urdf(void **state)
{
    (void)state;
    Robot robot = read("tests/data/robots/everyday.urdf");
    check_close(body(&robot, "base").mass, 5.1, 1e-15);                     /* with the locked link */
    check_close(body(&robot, "base").pose.p.x, 0.1 * 0.1 / 5.1, 1e-15);     /* which is held at 0.1 */
    assert_int_equal(joint(&robot, "shoulder").motor.type, ST_MOTOR_FORCE); /* a transmission drives it */
    check_close(joint(&robot, "thumb.mimic").ratio, 0.5, 0);
    st_ShapeDef foot;
    st_ShapeId id = st_scene_find_shape(robot.scene, st_scene_find_body(robot.scene, "hand"), "foot");
    assert_int_equal(st_scene_shape(robot.scene, id, &foot, NULL), ST_OK);
    assert_int_equal(foot.type, ST_SHAPE_POINT);
    st_scene_destroy(robot.scene);
}

/* Models that come with Gazebo and are not here: a plane 1 m below, a light; a folder with its file named in
 * model.config; screws of 1 cm per turn in both notations; a polyline. */
static void gazebo_worlds(void **state)
{
    (void)state;
    Robot robot = robot_of(
        "<sdf version='1.6'><world name='w'><include><uri>model://sun</uri></include>"
        "<include><uri>model://ground_plane</uri><pose>0 0 -1 0 0 0</pose></include>"
        "<include><uri>tests/data/robots/part-model</uri><name>t</name><pose>5 0 0 0 0 0</pose></include>"
        "<model name='m'><link name='a'/><link name='b'><collision name='c'><geometry><polyline><point>0 0</point>"
        "<point>1 0</point><point>1 2</point><point>0 "
        "2</point><height>3</height></polyline></geometry></collision></link>"
        "<link name='c'/><joint name='s' type='screw'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis>"
        "<screw_thread_pitch>0.01</screw_thread_pitch></joint><joint name='old' type='screw'><parent>a</parent>"
        "<child>c</child><axis><xyz>0 0 1</xyz></axis><thread_pitch>-628.31853071795865</thread_pitch></joint></model>"
        "</world></sdf>",
        NULL);
    st_ShapeDef shape;
    st_BodyId of;
    assert_int_equal(st_scene_shape(robot.scene, (st_ShapeId){1}, &shape, &of), ST_OK);
    assert_int_equal(of.index1, 0);
    assert_int_equal(shape.type, ST_SHAPE_PLANE);
    check_close(shape.pose.p.z, -1, 0);
    check_close(body(&robot, "t::w").mass, 3, 0);
    check_vector(body(&robot, "t::w").pose.p, vec3(5, 0, 0), 0);
    check_close(joint(&robot, "m::s").pitch, 0.01, 0);
    check_close(joint(&robot, "m::old").pitch, 0.01, 1e-15);
    const st_BodyId b = st_scene_find_body(robot.scene, "m::b");
    assert_int_equal(st_scene_shape(robot.scene, st_scene_find_shape(robot.scene, b, "m::b"), &shape, NULL), ST_OK);
    assert_int_equal(shape.type, ST_SHAPE_HULL);
    assert_int_equal(shape.n_points, 8);
    st_scene_destroy(robot.scene);
    /* rounded moments are mended, 0.2001 > 0.1 + 0.1; others are refused with their moments */
#define MOMENTS(ixx)                                                                                                   \
    "<robot name='r'>\n<link name='l'><inertial><mass value='1'/><inertia ixx='" ixx                                   \
    "' iyy='0.1' izz='0.1'/></inertial></link></robot>"
    robot = robot_of(MOMENTS("0.2001"), NULL);
    check_close(body(&robot, "l").inertia.m[0], 0.2, 1e-15);
    check_close(body(&robot, "l").inertia.m[4], 0.1, 1e-15);
    st_scene_destroy(robot.scene);
    check_refused(MOMENTS("0.3"), 2, "principal moments 0.3, 0.1, 0.1", "triangle inequality");
}

/* Models are placed relative to frames of the world and to links of the outer model; joints of the world connect
 * models; a model, a frame and the world may be the end of a joint; bounds may be inf. */
static void sdf_frames(void **state)
{
    (void)state;
    Robot robot = robot_of(
        "<sdf version='1.10'><world name='w'><frame name='f'><pose>1 0 0 0 0 0</pose></frame>"
        "<model name='m'><pose relative_to='f'>0 0 1 0 0 0</pose><link name='a'/>"
        "<model name='arm' canonical_link='q'><pose relative_to='b'>0 5 0 0 0 0</pose><link name='p'/><link name='q'>"
        "<pose>0 0 2 0 0 0</pose></link></model><link name='b'><pose>0 0 3 0 0 0</pose></link>"
        "<joint name='j' type='fixed'><parent>a</parent><child>arm</child></joint>"
        "<joint name='k' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz><limit>"
        "<lower>-inf</lower><upper>0.5</upper><effort>inf</effort></limit></axis></joint></model>"
        "<model name='n'><link name='c'/><joint name='hold' type='revolute'><parent>c</parent><child>world</child>"
        "<axis><xyz>0 0 1</xyz></axis></joint></model>"
        "<joint name='wj' type='revolute'><parent>n::c</parent><child>m::a</child><axis><xyz>0 0 1</xyz></axis></joint>"
        "<model name='s'><static>true</static><link name='x'/><link name='y'/><joint name='z' type='revolute'>"
        "<parent>x</parent><child>y</child><axis><xyz>0 0 1</xyz></axis></joint></model></world></sdf>",
        (const char *const[]){"robots/0/merge=false", NULL});
    check_vector(body(&robot, "m::a").pose.p, vec3(1, 0, 1), 1e-15);
    check_vector(body(&robot, "m::b").pose.p, vec3(1, 0, 4), 1e-15);
    check_vector(body(&robot, "m::arm::p").pose.p, vec3(1, 5, 4), 1e-15); /* in the frame of b */
    check_vector(body(&robot, "m::arm::q").pose.p, vec3(1, 5, 6), 1e-15);
    const st_BodyId q = st_scene_find_body(robot.scene, "m::arm::q");
    assert_int_equal(joint(&robot, "m::j").b.index1, q.index1); /* the canonical link */
    check_close(joint(&robot, "m::k").upper, 0.5, 0);
    assert_true(isinf(joint(&robot, "m::k").lower));
    assert_int_equal(joint(&robot, "n::hold").a.index1, 0);
    check_vector(joint(&robot, "n::hold").axis, vec3(0, 0, -1), 1e-15); /* the link turns the other way */
    assert_int_equal(joint(&robot, "wj").b.index1, st_scene_find_body(robot.scene, "m::a").index1);
    st_scene_destroy(robot.scene);
    check_refused("<sdf version='1.8'><world name='w'>\n<model name='m'><pose relative_to='g'/><link name='a'/></model>"
                  "</world></sdf>",
                  2, "no frame of that name");
    check_refused(
        "<sdf version='1.8'><model name='m'><link name='a'/>\n<joint name='j' type='fixed'><parent>world</parent>"
        "<child>world</child></joint></model></sdf>",
        2, "one must be a link");
}

/* theta_2 = -ratio theta_1: by a gearbox with a second joint of opposite sign, and by a mimic. */
static void sdf_gears(void **state)
{
    (void)state;
#define TURNS(name, child, axis, more)                                                                                 \
    "<joint name='" name "' type='revolute'><parent>a</parent><child>" child "</child><axis><xyz>" axis "</xyz>" more  \
    "</axis></joint>"
#define GEARBOX(reference)                                                                                             \
    "\n<joint name='g' type='gearbox'><parent>b</parent><child>c</child><gearbox_ratio>2</gearbox_ratio>"              \
    "<gearbox_reference_body>" reference "</gearbox_reference_body><axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0"     \
    "</xyz></axis2></joint></model></sdf>"
#define LINKS "<sdf version='1.6'><model name='m'><link name='a'/><link name='b'/><link name='c'/><link name='d'/>"
    Robot robot =
        robot_of(LINKS TURNS("j", "b", "0 1 0", "") TURNS("k", "c", "0 -1 0", "")
                     TURNS("l", "d", "0 1 0", "<mimic joint='j'><multiplier>3</multiplier></mimic>") GEARBOX("a"),
                 NULL);
    check_close(joint(&robot, "k.mimic").ratio, 2, 0); /* -2, and against its own axis */
    check_close(joint(&robot, "l.mimic").ratio, 3, 0);
    st_System *system = NULL;
    st_Error err = {0};
    check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
    check_refused(LINKS TURNS("j", "b", "0 1 0", "") TURNS("k", "c", "0 1 0", "") GEARBOX("d"), 2, "gearbox");
}

static void bad_sdf(void **state)
{
    (void)state;
    check_refused("<sdf version='1.7'>\n<model name='m'><link name='a'>\n<pose>1 2 3</pose></link></model></sdf>", 3,
                  "six numbers");
    check_refused(
        "<sdf version='1.7'><model name='m'><link name='a'/>\n<joint name='j' type='revolute'><parent>b</parent>"
        "<child>a</child></joint></model></sdf>",
        2, "there is no link of that name");
    check_refused(
        "<sdf version='1.7'><model name='m'>\n<link name='a'><pose relative_to='b'/></link>\n<link name='b'><pose "
        "relative_to='a'/></link></model></sdf>",
        2, "relative to itself");
    check_refused(
        "<sdf version='1.7'><model name='m'><link name='a'><collision name='c'><geometry>\n<torus/></geometry>"
        "</collision></link></model></sdf>",
        2, "<torus>");
    check_refused("<sdf version='1.7'><world name='w'>\n<include><uri>model://none</uri></include></world></sdf>", 2,
                  "was not found");
}

/* Masses from shapes: a box of 4 kg, and a ball of 1000 kg/m^3, 0.3 m away. The ball of terrain.sdf rests on the step.
 */
static void masses_of_shapes(void **state)
{
    (void)state;
    Robot robot =
        robot_of("<sdf version='1.11'><model name='m'><link name='a'><inertial auto='true'><density>500</density>"
                 "</inertial><collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box></geometry>"
                 "</collision><collision name='d'><pose>0.3 0 0 0 0 0</pose><density>1000</density><geometry>"
                 "<sphere><radius>0.1</radius></sphere></geometry></collision></link></model></sdf>",
                 NULL);
    const double ball = 4.0 / 3 * 3.14159265358979323846, x = 0.3 * ball / (4 + ball);
    const st_BodyDef a = body(&robot, "a");
    check_close(a.mass, 4 + ball, 1e-12);
    check_close(a.pose.p.x, x, 1e-14);
    check_close(a.inertia.m[0], 4 * 0.04 / 6 + 0.4 * ball * 0.01, 1e-14);
    check_close(a.inertia.m[4], 4 * (0.04 / 6 + x * x) + ball * (0.4 * 0.01 + (0.3 - x) * (0.3 - x)), 1e-14);
    st_scene_destroy(robot.scene);

    st_System *system = NULL;
    st_Error err = {0};
    st_Pose pose;
    check_ok(st_scene_read("tests/data/robots/terrain.sdf", NULL, 0, &robot.scene, &robot.def, &err), err);
    check_ok(st_system_create(robot.scene, &robot.def, &system, &err), err);
    check_close(body(&robot, "ball::link").mass, 1000 * ball * 1e-3, 1e-12);
    for (int k = 0; k < 100; k++)
        check_ok(st_system_step(system, robot.def.h, NULL, &err), err);
    assert_int_equal(st_system_pose(system, st_scene_find_body(robot.scene, "ball::link"), &pose), ST_OK);
    check_close(pose.p.z, 1 + 2 + 0.1, 1e-6);
    st_system_destroy(system);
    st_scene_destroy(robot.scene);
}

/* An include makes a model static, and one that is static free. A world without <gravity> has SDF's default. */
static void static_includes(void **state)
{
    (void)state;
    Robot robot = robot_of("<sdf version='1.6'><world name='w'><include><uri>tests/data/robots/part-model</uri>"
                           "<name>held</name><static>true</static><pose>1 0 2 0 0 0</pose></include><include>"
                           "<uri>tests/data/robots/part-model</uri><name>free</name></include></world></sdf>",
                           NULL);
    check_close(robot.def.gravity.z, -9.8, 0);
    assert_int_equal(st_scene_body_count(robot.scene), 1); /* the held one is part of the ground */
    check_close(body(&robot, "free::w").mass, 3, 0);
    st_scene_destroy(robot.scene);
}

/* The links of a merged model are those of the outer one, at the pose of the include; a universal joint has the limits
 * of both axes; a misspelt element is an error. */
static void merged_and_limited(void **state)
{
    (void)state;
    Robot robot = robot_of(
        "<sdf version='1.10'><model name='m'><pose>0 0 1 0 0 0</pose><include merge='true'><uri>tests/data/robots/"
        "part-model</uri><pose>0 0 3 0 0 0</pose></include><link name='x'/><joint name='j' type='universal'>"
        "<parent>w</parent><child>x</child><axis><xyz>1 0 0</xyz><limit><lower>-0.5</lower><upper>0.25</upper>"
        "</limit><dynamics><damping>2</damping></dynamics></axis><axis2><xyz>0 1 0</xyz><limit><lower>-1</lower>"
        "<upper>2</upper></limit></axis2></joint></model></sdf>",
        NULL);
    const st_JointDef j = joint(&robot, "j");
    check_close(j.lower, -0.5, 0);
    check_close(j.upper, 0.25, 0);
    check_close(j.other_lower, -1, 0);
    check_close(j.other_upper, 2, 0);
    check_close(j.damping, 2, 0);
    check_close(body(&robot, "w").pose.p.z, 4, 1e-15);
    st_scene_destroy(robot.scene);
    check_refused("<sdf version='1.6'><model name='m'><link name='a'>\n<colision name='c'/></link></model></sdf>", 2,
                  "<colision", "did you mean <collision>");
    check_refused(
        "<sdf version='1.6'><model name='m'><link name='a'/><joint name='j' type='revolute'><parent>world</parent>"
        "<child>a</child><axis>\n<limits/></axis></joint></model></sdf>",
        2, "did you mean <limit>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world),         cmocka_unit_test(a_placement_frame),
        cmocka_unit_test(self_collide),    cmocka_unit_test(a_loop),
        cmocka_unit_test(collada),         cmocka_unit_test(attached_and_copied),
        cmocka_unit_test(everyday_urdf),   cmocka_unit_test(bad_sdf),
        cmocka_unit_test(gazebo_worlds),   cmocka_unit_test(sdf_frames),
        cmocka_unit_test(sdf_gears),       cmocka_unit_test(masses_of_shapes),
        cmocka_unit_test(static_includes), cmocka_unit_test(merged_and_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
