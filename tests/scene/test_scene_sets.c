/* Overrides of the command line: the members that they reach, and the messages if they reach nothing. */
#include "scene_check.h"

static const char scene_text[] =
    "{\n"
    "  \"bodies\": [\n"
    "    { \"name\": \"left\", \"mass\": 1, \"inertia\": 1 },\n"
    "    { \"name\": \"0\", \"mass\": 3, \"inertia\": 1, \"position\": [1, 2, 3] }\n"
    "  ],\n"
    "  \"springs\": [ { \"name\": \"damper\", \"a\": \"left\", \"b\": \"0\", \"damping\": 20 } ],\n"
    "  \"ground\": [ { \"type\": \"plane\", \"friction\": 0.4 } ]\n"
    "}\n";

static st_BodyDef body_after(int index1, const char *const *sets)
{
    st_SystemDef def;
    st_Scene *scene = scene_of(scene_text, &def, sets);
    st_BodyDef body;
    assert_int_equal(st_scene_body(scene, (st_BodyId){index1}, &body), ST_OK);
    body.name = NULL; /* freed with the scene */
    st_scene_destroy(scene);
    return body;
}

static void test_values_are_reached(void **state)
{
    (void)state;
    check_close(body_after(1, WORDS("bodies/left/mass=2")).mass, 2, 0);
    check_close(body_after(2, WORDS("bodies/1/mass=2")).mass, 2, 0);
    check_close(body_after(2, WORDS("bodies/0/mass=5")).mass, 5, 0); /* a name goes before a number */
    check_close(body_after(1, WORDS("bodies/left/mass=2", "bodies/left/mass=4")).mass, 4, 0); /* the last one stays */
    check_close(body_after(2, WORDS("bodies/1/position/2=7.5")).pose.p.z, 7.5, 0);
    check_close(body_after(1, WORDS("bodies/left/velocity=[1, 2, 3]")).velocity.y, 2, 0); /* a new key */
    check_close(body_after(1, WORDS("bodies/left={\"name\": \"left\", \"mass\": 9, \"inertia\": 1}")).mass, 9, 0);
    assert_true(body_after(2, WORDS("bodies/1/fixed=true")).fixed);

    st_SystemDef def;
    st_SpringDef spring;
    st_ShapeDef shape;
    st_Scene *scene = scene_of(scene_text, &def,
                               WORDS("simulation/solver=nsgs", "simulation/h=1e-2", "springs/damper/damping=1e6",
                                     "ground/0/friction=0.2", "simulation/preset=anitescu-potra-1997",
                                     "description=a=b")); /* the first = divides */
    assert_string_equal(def.solver, "nsgs");              /* a word without quotes; the preset is applied before it */
    assert_string_equal(def.preset, "anitescu-potra-1997");
    check_close(def.h, 0.01, 0);
    st_scene_spring(scene, (st_SpringId){1}, &spring);
    check_close(spring.damping, 1e6, 0);
    st_scene_shape(scene, (st_ShapeId){1}, &shape, NULL);
    check_close(shape.mu, 0.2, 0);
    st_scene_destroy(scene);
}

/* Refused with the override named in place of a line, and every part in the message. */
static void check_set_(st_Status status, const char *set, const char *const *parts, int at)
{
    char start[120];
    snprintf(start, sizeof start, "test.json: --set %s: ", set);
    check_refused_(scene_text, WORDS(set), status, 0, WORDS(start), __FILE__, at);
    check_refused_(scene_text, WORDS(set), status, 0, parts, __FILE__, at);
}
#define check_set(status, set, ...) check_set_((status), (set), WORDS(__VA_ARGS__), __LINE__)

/* An override is named only for the values that it set: `point` not for `point_b`. */
static void test_others_are_not_blamed(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1}],\n\"joints\": [{\"name\": "
        "\"j\", \"type\": \"distance\", \"a\": \"a\", \"point\": [0, 0, 0],\n\"point_b\": [1, 2]}]}";
    check_refused_(text, WORDS("joints/j/point=[0, 0, 1]"), ST_ERR_FORMAT, 3, WORDS("point_b is a list of 2"), __FILE__,
                   __LINE__);
}

static void test_bad_values_name_the_override(void **state)
{
    (void)state;
    check_set(ST_ERR_FORMAT, "bodies/left/mass=-1", "body \"left\": mass is -1, must be a number > 0");
    check_set(ST_ERR_FORMAT, "bodies/left/mass=nan", "mass is \"nan\"");
    check_set(ST_ERR_FORMAT, "bodies/left/mass=", "mass is \"\"");
    check_set(ST_ERR_FORMAT, "bodies/left/masss=1", "no key \"masss\"", "did you mean \"mass\"?");
    check_set(ST_ERR_FORMAT, "bodies/1/position=[1, 2", "position is \"[1, 2\"");
    check_set(ST_ERR_FORMAT, "bodies/1/position/1=up", "position[1] is \"up\"");
    check_set(ST_ERR_FORMAT, "bodies/1/position=[1, true, 3]", "position[1] is true");
    check_set(ST_ERR_FORMAT, "bodies/left/inertia=[1, 1, 3]", "triangle");       /* reported by the core */
    check_set(ST_ERR_FORMAT, "springs/damper/damping=0", "both 0");              /* names stiffness before it */
    check_set(ST_ERR_FORMAT, "springs/damper/b=lfet", "did you mean \"left\"?"); /* refers to nothing */
    check_set(ST_ERR_FORMAT, "bodies/1/name=left", "twice", "line 3");
    check_set(ST_ERR_FORMAT, "simulation/h=0", "h is 0");
    check_set(ST_ERR_FORMAT, "simulation=3", "simulation is 3");
    check_set(ST_ERR_FORMAT, "bodies=[]", "bodies is an empty list");
    check_set(ST_ERR_FORMAT, "nonsense=1", "no key \"nonsense\"");
}

/* Values in the file keep their line, with or without overrides. */
static void test_other_values_keep_their_line(void **state)
{
    (void)state;
    static const char bad[] = "{\n\"bodies\": [\n{\"name\": \"left\",\n\"mass\": -1}]}";
    check_refused_(bad, WORDS("bodies/left/position=[1, 2, 3]", "simulation/h=1e-3"), ST_ERR_FORMAT, 4,
                   WORDS("mass is -1"), __FILE__, __LINE__);
    check_refused_(bad, WORDS("bodies/left/mas=1"), ST_ERR_FORMAT, 0, WORDS("--set"), __FILE__, __LINE__);
    st_SystemDef def; /* an override may also mend */
    st_Scene *scene = scene_of(bad, &def, WORDS("bodies/left/mass=1", "bodies/left/inertia=1"));
    st_scene_destroy(scene);
}

static void test_paths_that_lead_nowhere(void **state)
{
    (void)state;
    check_set(ST_ERR_ARGUMENT, "bodies/lef/mass=2", "bodies has no member \"lef\"", "0 to 1", "did you mean \"left\"?");
    check_set(ST_ERR_ARGUMENT, "bodies/2/mass=2", "bodies has no member \"2\"", "left");
    check_set(ST_ERR_ARGUMENT, "bodies/-1/mass=2", "no member \"-1\"");
    check_set(ST_ERR_ARGUMENT, "bodies/99999999999999999999999/mass=2", "no member");
    check_set(ST_ERR_ARGUMENT, "simulaton/h=2", "scene has no \"simulaton\"", "bodies, springs, ground");
    check_set(ST_ERR_ARGUMENT, "springs/damper/spring/k=2", "springs/0 has no \"spring\"");
    check_set(ST_ERR_ARGUMENT, "bodies/left/mass/x=3", "bodies/0/mass is 1", "no part \"x\"");
    check_set(ST_ERR_ARGUMENT, "bodies/7=3", "bodies has no member \"7\"");
    check_set(ST_ERR_ARGUMENT, "bodies//mass=3", "empty part");
    check_set(ST_ERR_ARGUMENT, "bodies/=3", "empty part");
    check_set(ST_ERR_ARGUMENT, "=3", "PATH=VALUE");
    check_set(ST_ERR_ARGUMENT, "bodies", "PATH=VALUE");
    check_set(ST_ERR_ARGUMENT, "simulation/h=\xff\xfe", "not UTF-8");
    check_refused_("[1, 2]", WORDS("bodies/left=2"), ST_ERR_ARGUMENT, 0, WORDS("the scene has no member"), __FILE__,
                   __LINE__);
}

static void test_stars_reach_all_that_match(void **state)
{
    (void)state;
    check_close(body_after(1, WORDS("bodies/*/mass=2")).mass, 2, 0);
    check_close(body_after(2, WORDS("bodies/*/mass=2")).mass, 2, 0);
    check_close(body_after(1, WORDS("bodies/le*t/mass=7")).mass, 7, 0);
    check_close(body_after(2, WORDS("bodies/le*t/mass=7")).mass, 3, 0);
    check_close(body_after(1, WORDS("bodies/*ft/mass=7")).mass, 7, 0);
    /* members that lack a part are skipped: only one body has a position */
    st_SystemDef def;
    st_ShapeDef shape;
    st_Scene *scene = scene_of(scene_text, &def, WORDS("gr*/*/friction=0.1", "bodies/*/position/*=1"));
    st_scene_shape(scene, (st_ShapeId){1}, &shape, NULL);
    check_close(shape.mu, 0.1, 0);
    st_scene_destroy(scene);
}

/* A value that is wrong everywhere is reported once, for the first place. */
static void test_stars_are_blamed(void **state)
{
    (void)state;
    st_Error errors[4];
    check_refused_(scene_text, WORDS("bodies/*/mass=-1"), ST_ERR_FORMAT, 0,
                   WORDS("--set bodies/*/mass=-1", "body \"left\": mass is -1"), __FILE__, __LINE__);
    assert_int_equal(
        st_scene_errors(scene_text, strlen(scene_text), "test.json", WORDS("bodies/*/mass=-1"), 1, errors, 4), 1);
    check_refused_(scene_text, WORDS("bodies/q*/mass=1"), ST_ERR_ARGUMENT, 0, WORDS("matches its path"), __FILE__,
                   __LINE__);
}

/* Names of one letter become numbers of many digits: the resolved path must have room. */
static void test_long_resolved_paths(void **state)
{
    (void)state;
    char *text = calloc(1, 1 << 18), set[64];
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "{\"bodies\": [");
    for (int i = 0; i < 2000; i++)
        used += (size_t)sprintf(text + used, "%s\n{\"mass\": 1, \"inertia\": 1%s}", i > 0 ? "," : "",
                                i == 1999 ? ", \"name\": \"z\"" : "");
    sprintf(text + used, "]}");
    snprintf(set, sizeof set, "bodies/z/mass=-1");
    check_refused_(text, WORDS(set), ST_ERR_FORMAT, 0, WORDS("--set bodies/z/mass=-1", "body \"z\""), __FILE__,
                   __LINE__);
    check_refused_(text, WORDS("bodies/1999/masss=1"), ST_ERR_FORMAT, 0, WORDS("body \"z\""), __FILE__, __LINE__);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_reached),           cmocka_unit_test(test_others_are_not_blamed),
        cmocka_unit_test(test_bad_values_name_the_override), cmocka_unit_test(test_other_values_keep_their_line),
        cmocka_unit_test(test_paths_that_lead_nowhere),      cmocka_unit_test(test_long_resolved_paths),
        cmocka_unit_test(test_stars_reach_all_that_match),   cmocka_unit_test(test_stars_are_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
