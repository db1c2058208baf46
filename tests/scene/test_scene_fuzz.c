/* Seeded mutations of good scenes: whatever comes out is read or refused in one line, and nothing leaks
 * (the sanitizer build watches).                                                                     */
#include "mutate.h"

#include <jansson.h>

/* of each scene; 100 times as many in `make test-full` */
static int n_mutations(void)
{
    return getenv("ST_TEST_FULL") != NULL ? 400000 : 4000;
}

static const char *const tokens[] = {"{",        "}",        "[",     "]",  ",",   ":",     "\"",
                                     "\\",       "null",     "true",  "-1", "0",   "1e308", "1e-320",
                                     "\"name\"", "\"type\"", "\"a\"", "\n", "NaN", "\xff"};

static Mutator mutator(void)
{
    return (Mutator){"fuzz.json", tokens, (int)(sizeof tokens / sizeof tokens[0]), 20, 1, n_mutations()};
}

static void test_mutations(void **state)
{
    (void)state;
    const Mutator m = mutator();
    int read = 0, refused = 0;
    size_t length;
    char *bars = file_text(example_scenes[7], &length);
    fuzz(&m, bars, length, 1, &read, &refused);
    fuzz(&m, every_key, strlen(every_key), 2, &read, &refused);
    free(bars);
    /* Both ways must have been gone: mutations in descriptions and numbers are harmless, most are not. */
    assert_true(read > 100);
    assert_true(refused > 1000);
}

static void test_mutated_overrides(void **state)
{
    (void)state;
    static const char *const sets[] = {"bodies/one/mass=2", "simulation/h=1e-3", "joints/0/type=ball",
                                       "forces/f3/table/1/0=0.5", "bodies/0/shapes/rod/length=[1, {\"a\": 2}]"};
    const Mutator m = mutator();
    check_Random random = {3};
    for (int i = 0; i < m.n / 4; i++) {
        char set[256];
        const char *start = sets[check_random_int(&random, 0, 4)];
        memcpy(set, start, strlen(start));
        size_t n = mutate(&m, set, strlen(start), &random);
        set[n] = '\0';
        const char *list[] = {set};
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        if (st_scene_parse(every_key, strlen(every_key), "fuzz.json", list, 1, &scene, &def, &err) != ST_OK)
            assert_memory_equal(err.message, "fuzz.json:", 10);
        st_scene_destroy(scene);
    }
}

/* ---- the n-th allocation of jansson fails ---- */

static int allocations_left; /* a test's own: jansson's allocator is global, too */

static void *failing_malloc(size_t size)
{
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

static bool parse_with_sets(void)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    const char *const sets[] = {"simulation/h=1e-3", "bodies/one/velocity=[1, 2, 0]", "description=words"};
    bool ok = st_scene_parse(every_key, strlen(every_key), "test.json", sets, 3, &scene, &def, &err) == ST_OK;
    assert_true(ok == (scene != NULL));
    assert_true(ok || strlen(err.message) > 0);
    st_scene_destroy(scene);
    return ok;
}

static char *whole_text[2];

static bool same_text(int which)
{
    char *text = which == 0 ? st_scene_schema() : st_scene_reference();
    bool ok = text != NULL;
    if (ok) assert_string_equal(text, whole_text[which]); /* never a part of it */
    free(text);
    return ok;
}

static bool same_schema(void)
{
    return same_text(0);
}

static bool same_reference(void)
{
    return same_text(1);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    static bool (*const calls[])(void) = {parse_with_sets, same_schema, same_reference};
    whole_text[0] = st_scene_schema();
    whole_text[1] = st_scene_reference();
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        int n = 0;
        bool ok = false;
        json_set_alloc_funcs(failing_malloc, free);
        /* Every n in `make test-full`; else the distance between them grows, because the time grows with n squared. */
        for (; !ok && n < 100000; n += getenv("ST_TEST_FULL") != NULL ? 1 : 1 + n / 100) {
            allocations_left = n;
            ok = calls[k]();
        }
        json_set_alloc_funcs(malloc, free);
        assert_true(ok);
        assert_true(n > 50); /* some did fail */
    }
    free(whole_text[0]);
    free(whole_text[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_mutated_overrides),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
