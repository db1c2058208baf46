/* Scenes, robot files and results are the same in a locale with a decimal comma. */
#include "check.h"
#include "comma.h"

#include <stiction/io.h>
#include <stiction/stiction.h>
#include <string.h>

#define N_TEXTS 5
static const char *const texts[N_TEXTS] = {
    "{\"bodies\": [{\"name\": \"ball\", \"position\": [0.25, 0, 0.5], \"velocity\": [1.5, 0, 0], \"shapes\": "
    "[{\"type\": \"sphere\", \"radius\": 0.125, \"density\": 1000.5}]}]}",
    "<mujoco><worldbody><replicate count='3' offset='0.25 0.5 0' euler='0 0 12.5'><body pos='0.5 0 1.5'><freejoint/>"
    "<geom size='0.1' density='500.5'/></body></replicate><geom type='plane' size='1 1 1'/></worldbody></mujoco>",
    "<robot name='r'><link name='a'><inertial><mass value='1.5'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' "
    "ixz='0' "
    "iyz='0'/></inertial></link><link name='b'><inertial><origin xyz='0.25 0 0.75'/><mass value='0.5'/><inertia "
    "ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' type='revolute'><parent "
    "link='a'/><child link='b'/><origin xyz='0.5 0 0.25' rpy='0.5 0 0'/><axis xyz='0 1 0'/><limit lower='-1.5' "
    "upper='1.5' effort='2.5' velocity='1.5'/><dynamics damping='0.25'/></joint></robot>",
    /* Before version 1.5 axes are in the frame of the model: a version that is read as 1 turns this axis. */
    "<sdf version='1.6'><model name='m'><link name='a'/><link name='b'><pose>0.5 0 0.5 0 0.5 0</pose></link><joint "
    "name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 1 0.5</xyz></axis></joint></model></sdf>",
    "<sdf version='1.4'><model name='m'><link name='a'/><link name='b'><pose>0.5 0 0.5 0 0.5 0</pose></link><joint "
    "name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 1 0.5</xyz></axis></joint></model></sdf>",
};

typedef struct Results {
    char *plain, *mjcf;
    uint64_t hash;
} Results;

/* The plain scene of a text, its MJCF, and the state after 20 steps. */
static Results results_of(const char *text)
{
    Results out = {0};
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def;
    if (st_scene_convert_text(text, strlen(text), "text", NULL, 0, NULL, &out.plain, NULL, &err) != ST_OK ||
        st_scene_parse(out.plain, strlen(out.plain), "text", NULL, 0, &scene, &def, &err) != ST_OK ||
        st_scene_write_mjcf(scene, &def, "text", &out.mjcf, NULL, &err) != ST_OK ||
        st_system_create(scene, &def, &system, &err) != ST_OK)
        fail_msg("%s", err.message);
    for (int k = 0; k < 20; k++)
        assert_int_equal(st_system_step(system, 0.0125, NULL, &err), ST_OK);
    out.hash = st_system_hash(system);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return out;
}

static void results_do_not_depend_on_the_decimal_sign(void **state)
{
    (void)state;
    char folder[64];
    Results point[N_TEXTS], comma[N_TEXTS];
    for (int k = 0; k < N_TEXTS; k++)
        point[k] = results_of(texts[k]);
    const bool set = set_comma(folder);
    for (int k = 0; k < N_TEXTS; k++)
        comma[k] = results_of(texts[k]);
    end_comma(folder);
    for (int k = 0; k < N_TEXTS; k++) {
        assert_string_equal(comma[k].plain, point[k].plain);
        assert_string_equal(comma[k].mjcf, point[k].mjcf);
        assert_true(comma[k].hash == point[k].hash);
        free(point[k].plain), free(point[k].mjcf), free(comma[k].plain), free(comma[k].mjcf);
    }
    if (!set) skip(); /* no tool makes a locale with a comma */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_do_not_depend_on_the_decimal_sign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
