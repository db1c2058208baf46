/* Robots from the command line: run, check, convert, in scenes; and files that are refused, each with its line. */
#include "program.h"

#define INERTIAL   "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>\n"

/* ---- refusals ---- */

typedef struct Bad {
    const char *text;
    int line;
    const char *words[3];
} Bad;

static void refused(Program *p, const char *name, const Bad *bad)
{
    const char *path = in_folder(p, name);
    char where[200];
    write_file(path, bad->text);
    snprintf(where, sizeof where, "%s:%d: ", path, bad->line);
    RUN(p, "check", path);
    if (p->status != 2) fail_msg("exit status %d, expected 2, for: %s", p->status, bad->text);
    assert_string_equal(p->out, "");
    if (count_lines(p->err) != 1) fail_msg("not one line: %s", p->err);
    check_contains(p->err, where);
    for (int w = 0; w < 3 && bad->words[w] != NULL; w++)
        check_contains(p->err, bad->words[w]);
}

#define TWO(joint) "<robot name='r'>\n" LINK("a") LINK("b") joint "\n</robot>\n"
#define ENDS       "<parent link='a'/><child link='b'/>"

static void bad_urdf_files(void **state)
{
    static const Bad cases[] = {
        /* no XML */
        {"", 1, {"not XML", NULL}},
        {"<robot name='r'>\n<link name='a'>\n</robot>\n", 3, {"not XML", "<link \"a\"> of line 2", NULL}},
        {"<robot name='r'>\n<link name='a'", 2, {"not XML", NULL}},
        {"<robot name='r'>\n<link name='a' name='b'/></robot>", 2, {"duplicate attribute", NULL}},
        {"<?xml version='1.0' encoding='klingon'?><robot/>", 1, {"not XML", "encoding", NULL}},
        {"<robot name='\xff\xfe'/>", 1, {"not XML", NULL}},
        {"<robot name='r'/>\n<robot name='s'/>", 2, {"not XML", NULL}},
        {"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]>\n<robot name='&b;'/>",
         1,
         {"DOCTYPE", NULL}},
        {"<!DOCTYPE x SYSTEM '/etc/passwd'>\n<robot/>", 1, {"DOCTYPE", NULL}},
        /* no robot */
        {"<sdf version='1.6'/>", 1, {"<sdf>", "has no <model>", NULL}},
        {"<svg/>", 1, {"<svg>", "must be <robot>", NULL}},
        {"<robot name='r'/>", 1, {"has no <link>", NULL}},
        {"<robot name='r' xmlns:xacro='x'>\n<xacro:macro name='m'/></robot>", 2, {"is xacro", NULL}},
        /* links */
        {"<robot name='r'>\n<link/></robot>", 2, {"<link> of <robot \"r\">", "name is missing", NULL}},
        {"<robot name='r'>\n" LINK("a") LINK("a") "</robot>", 3, {"used twice", "line 2", NULL}},
        {"<robot name='r'>\n<link name='a'>\n<inertial/>\n</link></robot>",
         3,
         {"<inertial> of <link \"a\">", "no <mass>"}},
        {"<robot name='r'>\n<link name='a'><inertial>\n<mass value='-1'/></inertial></link></robot>",
         3,
         {"<mass> of <link \"a\">", "value is -1", "must be >= 0"}},
        {"<robot name='r'>\n<link name='a'><inertial>\n<mass value='1e999'/></inertial></link></robot>",
         3,
         {"value is \"1e999\"", "number within +-1e30", NULL}},
        {"<robot name='r'>\n<link name='a'><inertial><mass value='nan'/></inertial></link></robot>",
         2,
         {"value is \"nan\"", NULL}},
        {"<robot name='r'>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1'/></inertial></link></robot>",
         2,
         {"<inertia>", "iyy is missing", NULL}},
        {"<robot name='r'>\n<link name='a'><inertial><mass value='1'/><inertia ixx='-1' iyy='1' izz='1'/></inertial>"
         "</link></robot>",
         2,
         {"body \"a\"", "inertia", NULL}},
        {"<robot name='r'>\n<link name='a'>" INERTIAL "\n" INERTIAL "</link></robot>", 3, {"second", NULL}},
        {"<robot name='r'>\n<link name='a'>" INERTIAL "\n<colision/></link></robot>",
         3,
         {"<colision>", "did you mean <collision>?", NULL}},
        /* shapes */
        {"<robot name='r'><link name='a'>" INERTIAL "\n<collision/></link></robot>", 2, {"<geometry>", NULL}},
        {"<robot name='r'><link name='a'>" INERTIAL "\n<collision><geometry>\n<box size='1 2'/></geometry></collision>"
         "</link></robot>",
         3,
         {"<box> of <link \"a\">", "size is \"1 2\"", "3 numbers within"}},
        {"<robot name='r'><link name='a'>" INERTIAL "\n<collision><geometry><box size='1 2 -1'/></geometry></collision>"
         "</link></robot>",
         2,
         {"size has -1", NULL}},
        {"<robot name='r'><link name='a'>" INERTIAL
         "\n<collision><geometry><mesh filename='a.stl'/></geometry></collision></link></robot>",
         2,
         {"no file \"a.stl\"", "\"ignore\": [\"mesh\"]", NULL}},
        {"<robot name='r'><link name='a'>" INERTIAL "\n<collision><geometry><torus/></geometry></collision>"
         "</link></robot>",
         2,
         {"<torus>", "must be box, cylinder", NULL}},
        {"<robot name='r'><link name='a'>" INERTIAL
         "\n<collision><geometry><mesh filename='a.ply'/></geometry></collision></link></robot>",
         2,
         {"a.ply", ".stl, .obj, .dae", NULL}},
        {"<robot name='r'><link name='a'>" INERTIAL
         "\n<collision><geometry><mesh filename='none.stl'/></geometry></collision></link></robot>",
         2,
         {"there is no file", "none.stl", NULL}},
        {"<robot name='r'><link name='a'>" INERTIAL
         "\n<collision><geometry><mesh filename='package://none/x.stl'/></geometry></collision></link></robot>",
         2,
         {"package://none/x.stl", "not found", "ROS_PACKAGE_PATH"}},
        /* joints */
        {TWO(""), 3, {"<link \"b\">", "second root", "\"a\""}},
        {TWO("<joint name='j' type='fixed'><parent link='a'/></joint>"), 4, {"has no <child>", NULL}},
        {TWO("<joint name='j' type='fixed'><parent link='a'/><child link='bb'/></joint>"),
         4,
         {"there is none of that name", "did you mean \"b\"", NULL}},
        {TWO("<joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint>"), 4, {"the same link", NULL}},
        {TWO("<joint name='j' type='fixed'>" ENDS "</joint>\n<joint name='k' type='fixed'>" ENDS "</joint>"),
         5,
         {"child of another joint already", "line 4", NULL}},
        {TWO("<joint name='j' type='fixed'>" ENDS
             "</joint>\n<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>"),
         5,
         {"ring", NULL}},
        {TWO("<joint name='j' type='hinge'>" ENDS "</joint>"), 4, {"type is \"hinge\"", "revolute", NULL}},
        {TWO("<joint name='j' type='revolute'>" ENDS "</joint>"), 4, {"has no <limit>", "continuous", NULL}},
        {TWO("<joint name='j' type='revolute'>" ENDS "\n<limit lower='2' upper='1' effort='1' velocity='1'/></joint>"),
         5,
         {"<limit> of <joint \"j\">", "lower is 2", "<= upper, 1"}},
        {TWO("<joint name='j' type='continuous'>" ENDS "\n<axis xyz='0 0 0'/></joint>"), 5, {"direction", NULL}},
        {TWO("<joint name='j' type='continuous'>" ENDS "\n<origin xyz='0 0 zero'/></joint>"),
         5,
         {"<origin> of <joint \"j\">", "xyz is \"0 0 zero\"", NULL}},
        {TWO("<joint name='j' type='continuous'>" ENDS "\n<dynamics damping='-3'/></joint>"),
         5,
         {"damping is -3", NULL}},
        {TWO("<joint name='j' type='continuous'>" ENDS "\n<mimic joint='none'/></joint>"),
         4,
         {"mimics \"none\"", NULL}},
        {TWO("<joint name='j' type='continuous'>" ENDS "\n<mimic joint='j'/></joint>"), 4, {"mimics itself", NULL}},
        {"<robot name='r'>\n<link name='a'/>\n<link name='b'/><joint name='j' type='continuous'>" ENDS
         "</joint></robot>",
         3,
         {"<link \"b\">", "has no mass", "joint \"j\""}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        refused(*state, "bad.urdf", &cases[k]);
}

#define MJCF(inside) "<mujoco model='m'>\n" inside "\n</mujoco>\n"
#define MASS         "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
#define ONE(inside)  MJCF("<worldbody><body name='b'>" MASS "\n" inside "</body></worldbody>")

static void bad_mjcf_files(void **state)
{
    static const Bad cases[] = {
        {"<mujoco>\n<worldbody>\n</mujoco>", 3, {"not XML", NULL}},
        {MJCF("<worldbodies/>"), 2, {"<worldbodies>", "not supported", NULL}},
        {MJCF("<compiler angle='grad'/>"), 2, {"angle is \"grad\"", NULL}},
        {MJCF("<compiler eulerseq='xyzz'/>"), 2, {"eulerseq", NULL}},
        {MJCF("<compiler coordinate='polar'/>"), 2, {"coordinate is \"polar\"", "local or global", NULL}},
        {MJCF("<option timestep='-1'/>"), 2, {"timestep is -1", NULL}},
        {MJCF("<option viscosity='-1'/>"), 2, {"viscosity must be >= 0", NULL}},
        {MJCF("<option tide='1 0 0'/>"), 2, {"tide", "\"ignore\": [\"tide\"]", NULL}},
        {MJCF("<tendon>\n<fixed stiffness='2'><joint joint='j' coef='1'/></fixed></tendon>"),
         3,
         {"joint is \"j\"", NULL}},
        {MJCF("<tendon>\n<spatial limited='true' range='0 1'/></tendon>"), 3, {"<spatial>", NULL}},
        {MJCF("<include file='none.xml'/>"), 2, {"there is no file", "none.xml", NULL}},
        {MJCF("<include file='bad.xml'/>"), 2, {"<include>", "too many", NULL}}, /* itself */
        {ONE("<joint type='screw'/>"), 3, {"type is \"screw\"", "hinge, slide, ball or free", NULL}},
        {ONE("<joint axis='0 0 0'/>"), 3, {"axis", "direction", NULL}},
        {ONE("<joint range='2 1'/>"), 3, {"range is 2 1", NULL}},
        {ONE("<joint damping='-1'/>"), 3, {"damping is -1", NULL}},
        {ONE("<joint type='ball' range='1 2'/>"), 3, {"range of a ball joint", "begin with 0", NULL}},
        {ONE("<joint axis='1 0 0'/>\n<freejoint/>"), 4, {"is free, must be the only joint", NULL}},
        {ONE("<joint axis='1 0 0'/><joint axis='1 0 0'/><body name='b.1'>" MASS "</body>"), 3, {"used twice", NULL}},
        {ONE("<joint/><body name='c' mocap='true'>" MASS "</body>"), 3, {"is mocap", "worldbody", NULL}},
        {ONE("<joint name='j'/></body></worldbody><actuator>\n<motor tendon='t'/></actuator><worldbody><body>"
             "<freejoint/>" MASS),
         4,
         {"tendon is \"t\"", "there is no tendon", NULL}},
        {ONE("<joint/><geom type='hfield'/>"), 3, {"hfield is missing", NULL}},
        {ONE("<joint/><geom type='box' size='1 1'/>"), 3, {"size has 2 numbers", "must have 3", NULL}},
        {ONE("<joint/><geom size='0'/>"), 3, {"size has 0", NULL}},
        {ONE("<joint/><geom type='plane'/>"), 3, {"plane", "must not move", NULL}},
        {ONE("<joint/><geom type='mesh' mesh='none'/>"), 3, {"no asset of that name", NULL}},
        {ONE("<joint/><geom size='1' euler='0 0 1' quat='1 0 0 0'/>"), 3, {"both quat and euler", NULL}},
        {ONE("<joint/><geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>"), 3, {"same point", NULL}},
        {ONE("<joint/><body name='b'/>"), 3, {"used twice", NULL}},
        {ONE("<joint/><body name='c'><freejoint/>" MASS "</body>"), 3, {"free", "worldbody", NULL}},
        {ONE("<composite/>"), 3, {"<composite>", "not supported", NULL}},
        {MJCF("<worldbody><body name='b'><joint name='j'/></body></worldbody>"), 2, {"has no mass", "\"j\""}},
        {ONE("<joint name='j'/></body></worldbody><actuator>\n<muscle joint='j'/></actuator><worldbody><body>"
             "<freejoint/>" MASS),
         4,
         {"<muscle>", "not supported", NULL}},
        {ONE("<joint name='j'/></body></worldbody><actuator>\n<motor joint='k'/></actuator><worldbody><body>"
             "<freejoint/>" MASS),
         4,
         {"joint is \"k\"", "no joint of that name", NULL}},
        {ONE("<joint name='j'/></body></worldbody><contact>\n<exclude body1='b' body2='x'/></contact><worldbody><body>"
             "<freejoint/>" MASS),
         4,
         {"body2 is \"x\"", NULL}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        refused(*state, "bad.xml", &cases[k]);
}

/* One file in another, meshes from a folder, and features listed in `ignore`. */
static void mjcf_files_name_others(void **state)
{
    Program *p = *state;
    assert_int_equal(mkdir(in_folder(p, "parts"), 0700), 0);
    write_file(in_folder(p, "parts/t.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    write_file(in_folder(p, "parts/arm.xml"),
               "<mujoco><worldbody><body name='arm'>\n<joint name='j' type='ball' unheard='0 0.1'/>\n"
               "<geom type='mesh' mesh='t'/></body></worldbody></mujoco>");
    const char *robot = in_folder(p, "r.xml");
    write_file(robot, "<mujoco model='r'><compiler meshdir='parts'/><asset><mesh file='t.obj' scale='2 2 2'/></asset>"
                      "<include file='parts/arm.xml'/></mujoco>");
    RUN(p, "check", robot);
    check_status(p, 2);
    check_contains(p->err, "parts/arm.xml:2: <joint \"j\">: attribute unheard is not supported");
    RUN(p, "convert", robot, "--set", "robots/0/ignore=[\"unheard\"]");
    check_status(p, 0);
    check_contains(p->err, "not carried over: unheard of <joint>");
    json_t *root = printed_json(p), *body = json_array_get(json_object_get(root, "bodies"), 0);
    /* a tetrahedron of edge 2 along the axes: 8/6 of a cubic metre of water, its centre at a quarter of the edge */
    if (fabs(number_of(body, "mass") - 8000.0 / 6) > 1e-9) fail_msg("mass %g", number_of(body, "mass"));
    if (fabs(json_number_value(json_array_get(json_object_get(body, "position"), 0)) - 0.5) > 1e-12) fail();
    json_decref(root);
    RUN(p, "run", "ragdoll.xml", "--set", "simulation/end=0.01");
    check_status(p, 0);
    RUN(p, "run", "ragdoll.xml", "--set", "robots/0/fixed=true");
    check_status(p, 2);
    check_contains(p->err, "fixed is for URDF");
}

/* Nested and longer than any real file: a message, not a crash. */
static void monsters(void **state)
{
    Program *p = *state;
    const char *deep = in_folder(p, "deep.urdf"), *wide = in_folder(p, "wide.urdf");
    FILE *file = fopen(deep, "w");
    assert_non_null(file);
    for (int k = 0; k < 100000; k++)
        fputs("<robot>", file);
    fclose(file);
    RUN(p, "check", deep);
    check_status(p, 2);
    check_contains(p->err, "deep.urdf:1: elements are nested too deeply");

    file = fopen(wide, "w");
    assert_non_null(file);
    fputs("<robot name='r'>\n", file);
    for (int k = 0; k < 10001; k++)
        fprintf(file, "<link name='l%d'/>\n", k);
    fputs("</robot>\n", file);
    fclose(file);
    RUN(p, "check", wide);
    check_status(p, 2);
    check_contains(p->err, "must be at most 10000 links");

    /* 40 nodes that name the next one twice: 2^40 places */
    const char *bomb = in_folder(p, "bomb.urdf");
    file = fopen(in_folder(p, "bomb.dae"), "w");
    assert_non_null(file);
    fputs("<COLLADA><library_nodes>", file);
    for (int k = 0; k < 40; k++)
        fprintf(file, "<node id='n%d'><instance_node url='#n%d'/><instance_node url='#n%d'/></node>", k, k + 1, k + 1);
    fputs("<node id='n40'/></library_nodes><library_visual_scenes><visual_scene><node><instance_node url='#n0'/></node>"
          "</visual_scene></library_visual_scenes></COLLADA>",
          file);
    fclose(file);
    file = fopen(bomb, "w");
    assert_non_null(file);
    fputs("<robot name='r'><link name='a'>" INERTIAL "<collision><geometry><mesh filename='bomb.dae'/></geometry>"
          "</collision></link></robot>",
          file);
    fclose(file);
    RUN(p, "check", bomb);
    check_status(p, 2);
    check_contains(p->err, "must be at most 100000 nodes");
}

static void bad_robots_in_scenes(void **state)
{
    Program *p = *state;
    static const struct {
        const char *robots, *words[2];
    } cases[] = {
        {"{}", {"scene.json:2: robots/0: \"file\" is missing", NULL}},
        {"{\"file\": \"none.urdf\"}", {"scene.json:2:", "none.urdf: cannot be opened"}},
        {"{\"file\": \"arm.urdf\", \"fixd\": true}", {"scene.json:2:", "did you mean \"fixed\"?"}},
        {"{\"file\": \"arm.urdf\", \"positions\": {\"elbo\": 1}}",
         {"scene.json:2:", "\"elbo\", but the robot has no such joint with a coordinate; did you mean"}},
        {"{\"file\": \"arm.urdf\", \"positions\": {\"elbow\": 9}}", {"scene.json:2:", "is 9, must be from -1 to 1"}},
        {"{\"file\": \"arm.urdf\", \"name\": \"a23456789012345678901234567890123456789012345678901234567890x\"}",
         {"scene.json:2:", "at most 60 bytes"}},
        {"{\"file\": \"arm.urdf\", \"orientation\": [2, 0, 0, 0]}", {"scene.json:2:", "unit quaternion"}},
        {"{\"file\": \"arm.urdf\", \"motor\": {\"type\": \"position\", \"target\": 0}}",
         {"scene.json:2:", "stiffness"}},
        {"{\"file\": \"arm.urdf\"}, {\"file\": \"arm.urdf\"}",
         {"arm.urdf:3: body \"a\": its name is used twice, first at", NULL}},
        {"{\"file\": \"arm.urdf\", \"material\": \"jelly\"}", {"arm.urdf:3: shape \"a\"", "no material of that name"}},
    };
    write_file(in_folder(p, "arm.urdf"), "<robot name='arm'><link name='world'/>\n\n<link name='a'>" INERTIAL
                                         "<collision><geometry><sphere radius='1'/></geometry></collision></link>\n"
                                         "<joint name='elbow' type='revolute'><parent link='world'/><child link='a'/>"
                                         "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>");
    const char *scene = in_folder(p, "scene.json");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[600];
        snprintf(text, sizeof text, "{\n\"robots\": [%s] }\n", cases[k].robots);
        write_file(scene, text);
        RUN(p, "check", scene);
        check_status(p, 2);
        for (int w = 0; w < 2 && cases[k].words[w] != NULL; w++)
            check_contains(p->err, cases[k].words[w]);
    }
    write_file(scene, "{ \"robots\": {} }");
    RUN(p, "check", scene);
    check_status(p, 2);
}

/* ---- accepted files ---- */

static void run_a_robot_by_its_file(void **state)
{
    Program *p = *state;
    RUN(p, "run", "examples/robots/arm.urdf", "--set", "simulation/end=0.02", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_int_equal(json_object_size(json_object_get(root, "bodies")), 9);
    json_decref(root);
    RUN(p, "run", "arm.urdf", "--set", "simulation/end=0.02"); /* by the name of an example */
    check_status(p, 0);
    check_contains(p->out, "A six-axis arm");
    RUN(p, "examples");
    check_contains(p->out, "dog.urdf");
    RUN(p, "check", "examples/robots/dog.urdf", "--json");
    root = printed_json(p);
    const json_t *remarks = json_object_get(root, "remarks");
    assert_int_equal(json_array_size(remarks), 6); /* four knees cannot be at 0 */
    check_contains(json_string_value(json_array_get(remarks, 0)), "can move freely");
    check_contains(json_string_value(json_array_get(remarks, 1)),
                   "knee\" starts at its limit -0.4, because 0 is outside");
    check_contains(json_string_value(json_array_get(remarks, 5)),
                   "not carried over: <visual>, velocity of <limit> (12 times)");
    json_decref(root);
    /* the colour of a material is carried over, its texture is not */
    write_file(in_folder(p, "tinted.urdf"),
               "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material><link name='a'><inertial>"
               "<mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><visual><material name='red'/></visual>"
               "<collision><geometry><sphere radius='1'/></geometry></collision></link></robot>");
    RUN(p, "check", in_folder(p, "tinted.urdf"));
    check_contains(p->out, "not carried over: <visual>\n");
    write_file(
        in_folder(p, "textured.urdf"),
        "<robot name='r'><material name='wood'><texture filename='wood.png'/></material><link name='a'><inertial>"
        "<mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>");
    RUN(p, "check", in_folder(p, "textured.urdf"));
    check_contains(p->out, "not carried over: <material>\n");
}

/* Remarks name the elements, not every attribute of them; a long list is counted, not cut. */
static void remarks_are_short(void **state)
{
    Program *p = *state;
    char text[8000];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><camera name='c'/><body name='b' pos='0 0 1'><joint name='j'/><geom size='1' "
             "name='g'/></body></worldbody><actuator><damper name='brake' joint='j' kv='2' ctrlrange='0 1'/>"
             "</actuator><sensor><distance geom1='g' geom2='g' cutoff='5'/><user dim='2' needstage='vel'/>"
             "</sensor></mujoco>");
    const char *file = in_folder(p, "model.xml");
    write_file(file, text);
    RUN(p, "check", file, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    const json_t *remarks = json_object_get(root, "remarks");
    assert_int_equal(json_array_size(remarks), 2);
    check_contains(json_string_value(json_array_get(remarks, 0)), "actuator \"brake\": its gain depends on");
    check_contains(json_string_value(json_array_get(remarks, 1)),
                   "not carried over: <camera>, <distance> of <sensor>, <user> of <sensor>");
    json_decref(root);

    /* without mass nothing is said of moments of inertia; and of twenty elements of other names all are counted */
    int n = snprintf(
        text, sizeof text,
        "<robot name='r'><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link><link name='a'><inertial><mass value='0'/><inertia ixx='0' iyy='0' "
        "izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' type='fixed'><parent link='b'/>"
        "<child link='a'/></joint>");
    for (int k = 0; k < 20; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "<other:a_rather_long_name_of_an_element_%d/>", k);
    snprintf(text + n, sizeof text - (size_t)n, "</robot>");
    file = in_folder(p, "model.urdf");
    write_file(file, text);
    RUN(p, "check", file, "--json");
    check_status(p, 0);
    root = printed_json(p);
    remarks = json_object_get(root, "remarks");
    assert_int_equal(json_array_size(remarks), 2);
    check_contains(json_string_value(json_array_get(remarks, 0)), "can move freely");
    check_contains(json_string_value(json_array_get(remarks, 1)), "_of_an_element_10> and 9 more");
    json_decref(root);
}

/* The end of a run, to the last bit. */
static char *end_of(Program *p, const char *file)
{
    RUN(p, "run", file, "--set", "simulation/end=0.05", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    char *text = strdup(text_of(root, "state_hash"));
    json_decref(root);
    assert_non_null(text);
    return text;
}

static void a_converted_robot_moves_the_same(void **state)
{
    Program *p = *state;
    static const char *const files[] = {"examples/robots/arm.urdf", "examples/robots/dog-stands.json"};
    for (int k = 0; k < 2; k++) {
        const char *out = in_folder(p, k == 0 ? "arm.json" : "dogs.json");
        RUN(p, "convert", files[k], "-o", out);
        check_status(p, 0);
        char *from = end_of(p, files[k]), *to = end_of(p, out);
        assert_string_equal(from, to);
        free(from);
        free(to);
    }
    RUN(p, "convert", files[0], "-o", in_folder(p, "arm.json"));
    check_status(p, 2);
    check_contains(p->err, "exists already");
    RUN(p, "convert", files[0], "-f", "-o", in_folder(p, "arm.json"));
    check_status(p, 0);
    RUN(p, "convert", files[0]);
    json_t *root = printed_json(p);
    assert_null(json_object_get(root, "robots"));
    json_decref(root);
}

/* A run restarts from its own recording: the file of the robot need not exist any more. */
static void a_robot_restarts_from_its_recording(void **state)
{
    Program *p = *state;
    const char *robot = in_folder(p, "r.urdf"), *record = in_folder(p, "r.h5");
    write_file(robot, "<robot name='r'>" LINK("a") "</robot>");
    RUN(p, "run", robot, "-o", record, "--set", "simulation/end=0.01");
    check_status(p, 0);
    assert_int_equal(unlink(robot), 0);
    RUN(p, "run", "--restart", record, "--set", "simulation/end=0.02");
    check_status(p, 0);
}

/* Nor those of a scene with robots, for all overrides of them: the same end, to the last bit. */
static void robots_are_in_the_recording(void **state)
{
    Program *p = *state;
    const char *robot = in_folder(p, "r.urdf"), *scene = in_folder(p, "two.json"), *record = in_folder(p, "two.h5");
    const char *end = "simulation/end=0.02", *name = "robots/0/name=first", *mass = "bodies/first.a/mass=3";
    write_file(robot, "<robot name='r'>" LINK("a") "</robot>");
    write_file(scene,
               "{ \"simulation\": { \"h\": 0.005 }, \"robots\": [{ \"file\": \"r.urdf\", \"position\": [0, 0, 0.7] }, "
               "{ \"name\": \"other\", \"file\": \"r.urdf\", \"position\": [1, 2, 3] }] }");
    RUN(p, "run", scene, "--set", name, "--set", mass, "--set", end, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    char *expected = strdup(text_of(root, "state_hash"));
    json_decref(root);
    RUN(p, "run", scene, "-o", record, "--set", name, "--set", mass, "--set", "simulation/end=0.01");
    check_status(p, 0);
    assert_int_equal(unlink(robot), 0);
    assert_int_equal(unlink(scene), 0);
    RUN(p, "run", "--restart", record, "--set", end, "--json");
    check_status(p, 0);
    root = printed_json(p);
    assert_string_equal(text_of(root, "state_hash"), expected);
    free(expected);
    json_decref(root);
}

#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"

/* Meshes beside the file, in packages around it and in those of ROS_PACKAGE_PATH; seen from elsewhere once converted.
 */
static void meshes_are_found(void **state)
{
    Program *p = *state;
    assert_int_equal(mkdir(in_folder(p, "bot"), 0700), 0);
    assert_int_equal(mkdir(in_folder(p, "bot/urdf"), 0700), 0);
    assert_int_equal(mkdir(in_folder(p, "bot/meshes"), 0700), 0);
    assert_int_equal(mkdir(in_folder(p, "other"), 0700), 0);
    write_file(in_folder(p, "bot/meshes/t.obj"), TETRAHEDRON);
    write_file(in_folder(p, "other/t.obj"), TETRAHEDRON);
    const char *robot = in_folder(p, "bot/urdf/r.urdf"), *scene = in_folder(p, "plain.json");
#define MESH(file, more) "<collision><geometry><mesh filename='" file "'" more "/></geometry></collision>"
    write_file(robot, "<robot name='r'><link name='a'>" INERTIAL MESH("../meshes/t.obj", "")
                          MESH("package://bot/meshes/t.obj", " scale='2 2 2'")
                              MESH("package://other/t.obj", " scale='-1 1 1'") "</link></robot>");
    RUN(p, "check", robot);
    check_status(p, 0);
    check_contains(p->out, "3 hull");
    check_contains(p->out, "3 meshes touch as convex hulls");
    RUN(p, "check", robot, "--set", "robots/0/meshes=mesh");
    check_status(p, 0);
    check_contains(p->out, "3 mesh");
    RUN(p, "convert", robot, "-o", scene);
    check_status(p, 0);
    RUN(p, "check", scene);
    check_status(p, 0);
    read_file(scene, p->out);
    check_contains(p->out, "\"file\": \"bot/urdf/../meshes/t.obj\"");

    /* as Windows writes them; one scale for all; below meshdir, as MuJoCo reads URDF; Bullet's surfaces */
    write_file(robot, "<robot name='r'><mujoco><compiler meshdir='../../other' balanceinertia='true'/></mujoco>"
                      "<link name='a'>" INERTIAL MESH("..\\meshes\\t.obj", " scale='2'")
                          MESH("package://nowhere/deep/t.obj",
                               "") "</link><link name='w'><collision concave='yes'>"
                                   "<geometry><mesh filename='t.obj'/></geometry></collision></link><joint name='j' "
                                   "type='floating'><parent link='w'/><child link='a'/></joint></robot>");
    RUN(p, "check", robot);
    check_status(p, 0);
    check_contains(p->out, "2 hull");
    check_contains(p->out, "1 mesh");
    /* extra bytes after the last triangle of a binary file */
    FILE *stl = fopen(in_folder(p, "other/t.stl"), "wb");
    static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    char header[84] = "binary", normal[12] = {0}, end[2] = {0};
    header[80] = 4;
    assert_int_equal(fwrite(header, 1, sizeof header, stl), sizeof header);
    for (int t = 0; t < 4; t++) {
        fwrite(normal, 1, sizeof normal, stl);
        for (int k = 0; k < 3; k++)
            fwrite(corners[faces[t][k]], 1, sizeof corners[0], stl);
        fwrite(end, 1, sizeof end, stl);
    }
    fputs("made by hand", stl);
    assert_int_equal(fclose(stl), 0);
    write_file(robot, "<robot name='r'><link name='a'>" INERTIAL MESH("../../other/t.stl", "") "</link></robot>");
    RUN(p, "check", robot);
    check_status(p, 0);
    check_contains(p->out, "1 hull");

    assert_int_equal(mkdir(in_folder(p, "far"), 0700), 0);
    write_file(in_folder(p, "far/u.obj"), TETRAHEDRON);
    robot = in_folder(p, "bot/urdf/s.urdf");
    write_file(robot, "<robot name='r'><link name='a'>" INERTIAL MESH("package://deep/u.obj", "") "</link></robot>");
    RUN(p, "check", robot);
    check_status(p, 2);
    char path[400];
    assert_int_equal(mkdir(in_folder(p, "far/deep"), 0700), 0);
    assert_int_equal(rename(in_folder(p, "far/u.obj"), in_folder(p, "far/deep/u.obj")), 0);
    snprintf(path, sizeof path, "/none:%s", in_folder(p, "far"));
    assert_int_equal(setenv("ROS_PACKAGE_PATH", path, 1), 0);
    RUN(p, "check", robot);
    unsetenv("ROS_PACKAGE_PATH");
    check_status(p, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_urdf_files, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_mjcf_files, setup, teardown),
        cmocka_unit_test_setup_teardown(mjcf_files_name_others, setup, teardown),
        cmocka_unit_test_setup_teardown(monsters, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_robots_in_scenes, setup, teardown),
        cmocka_unit_test_setup_teardown(run_a_robot_by_its_file, setup, teardown),
        cmocka_unit_test_setup_teardown(remarks_are_short, setup, teardown),
        cmocka_unit_test_setup_teardown(a_converted_robot_moves_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(a_robot_restarts_from_its_recording, setup, teardown),
        cmocka_unit_test_setup_teardown(robots_are_in_the_recording, setup, teardown),
        cmocka_unit_test_setup_teardown(meshes_are_found, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
