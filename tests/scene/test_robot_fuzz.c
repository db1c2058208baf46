/* Seeded mutations of good robots: whatever comes out is read, or refused in one line that names file and line; and
 * nothing is read beyond the text or leaks (the sanitizer build watches). Likewise with memory that runs out.
 */
#include "mutate.h"

#include <jansson.h>

/* of each robot; 50 times as many in `make test-full` */
static int n_mutations(void)
{
    return getenv("ST_TEST_FULL") != NULL ? 100000 : 2000;
}

static const char *const tokens[] = {"<",      ">",     "/>",           "</",        "'",     "\"",         "=",
                                     "&lt;",   "&#0;",  "&x;",          "-1",        "0",     "nan",        "1e308",
                                     "1e-320", "1e999", "<!--",         "<![CDATA[", "<?x?>", " ",          "\n",
                                     "\xff",   "\xc3",  "\xef\xbb\xbf", "name",      "fixed", "continuous", "joint"};
static void mutated_robots(void **state)
{
    (void)state;
    static const char *const robots[] = {"examples/robots/arm.urdf", "examples/robots/dog.urdf",
                                         "examples/robots/ragdoll.xml", "examples/robots/hopper.xml"};
    const Mutator mutator = {"fuzz.xml", tokens, (int)(sizeof tokens / sizeof tokens[0]), 60, 10, n_mutations()};
    for (size_t k = 0; k < sizeof robots / sizeof robots[0]; k++) {
        int read = 0, refused = 0;
        size_t length;
        char *text = file_text(robots[k], &length);
        fuzz(&mutator, text, length, k + 1, &read, &refused);
        free(text);
        /* both ways must have been gone */
        assert_true(read > 50);
        assert_true(refused > 200);
    }
}

static int allocations_left; /* a test's own: jansson's allocator is global, too */

static void *failing_malloc(size_t size)
{
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

static bool parses(void)
{
    static const char text[] =
        "<robot name='r'><link name='world'/><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
        "izz='1'/></inertial><collision><geometry><box size='1 1 1'/></geometry></collision></link><link name='b'>"
        "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' "
        "type='revolute'><parent link='world'/><child link='a'/><limit lower='-1' upper='1' effort='1' velocity='1'/>"
        "</joint><joint name='k' type='continuous'><parent link='a'/><child link='b'/><mimic "
        "joint='j'/></joint></robot>";
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    const char *const sets[] = {"robots/0/positions={\"j\": 0.5}", "simulation/h=1e-3",
                                "robots/0/self_collision=false"};
    bool ok = st_scene_parse(text, strlen(text), "r.urdf", sets, 3, &scene, &def, &err) == ST_OK;
    assert_true(ok == (scene != NULL));
    assert_true(ok || strlen(err.message) > 0);
    st_scene_destroy(scene);
    return ok;
}

/* The n-th allocation of the tree fails, for every n. */
static void failing_allocations(void **state)
{
    (void)state;
    int n = 0;
    bool ok = false;
    json_set_alloc_funcs(failing_malloc, free);
    for (; !ok && n < 100000; n++) {
        allocations_left = n;
        ok = parses();
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(ok);
    assert_true(n > 50); /* some did fail */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_robots),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
