/* Seeded mutations of good scenes: whatever comes out is read or refused in one line, and nothing leaks
 * (the sanitizer build watches).                                                                     */
#include "scene_check.h"

#define N_MUTATIONS 4000

static const char *const tokens[] = {"{",        "}",        "[",     "]",  ",",   ":",     "\"",
                                     "\\",       "null",     "true",  "-1", "0",   "1e308", "1e-320",
                                     "\"name\"", "\"type\"", "\"a\"", "\n", "NaN", "\xff"};

/* Bytes flipped, pieces cut, doubled or replaced by tokens. `text` has room for twice its length. */
static size_t mutate(char *text, size_t length, check_Random *random)
{
    int changes = check_random_int(random, 1, 4);
    for (int k = 0; k < changes && length > 1; k++) {
        size_t at = (size_t)check_random_int(random, 0, (int)length - 1);
        size_t piece = (size_t)check_random_int(random, 1, 20);
        if (piece > length - at) piece = length - at;
        const char *token = tokens[check_random_int(random, 0, (int)(sizeof tokens / sizeof tokens[0]) - 1)];
        switch (check_random_int(random, 0, 5)) {
        case 0:
            text[at] = (char)(text[at] ^ (1 << check_random_int(random, 0, 7)));
            break;
        case 1:
            length = at; /* truncated */
            break;
        case 2:
            memmove(text + at, text + at + piece, length - at - piece);
            length -= piece;
            break;
        case 3:
            memmove(text + at + piece, text + at, length - at);
            length += piece;
            break;
        case 4:
            text[at] = (char)check_random_int(random, 32, 126);
            break;
        default:
            memmove(text + at + strlen(token), text + at, length - at);
            memcpy(text + at, token, strlen(token));
            length += strlen(token);
            break;
        }
    }
    return length;
}

static void fuzz(const char *text, size_t length, uint64_t seed, int *read, int *refused)
{
    check_Random random = {seed};
    for (int i = 0; i < N_MUTATIONS; i++) {
        char *copy = malloc(2 * length + 200);
        assert_non_null(copy);
        memcpy(copy, text, length);
        size_t n = mutate(copy, length, &random);
        char *exact = malloc(n + 1); /* of its size, so that one byte too far is seen */
        assert_non_null(exact);
        memcpy(exact, copy, n);
        free(copy);

        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        if (st_scene_parse(exact, n, "fuzz.json", NULL, 0, &scene, &def, &err) == ST_OK) {
            assert_non_null(scene);
            ++*read;
        } else {
            assert_null(scene);
            assert_memory_equal(err.message, "fuzz.json:", 10);
            assert_true(err.line >= 1);
            assert_null(strchr(err.message, '\n'));
            ++*refused;
        }
        st_scene_destroy(scene);
        free(exact);
    }
}

static void test_mutations(void **state)
{
    (void)state;
    int read = 0, refused = 0;
    size_t length;
    char *bars = file_text(example_scenes[7], &length);
    fuzz(bars, length, 1, &read, &refused);
    fuzz(every_key, strlen(every_key), 2, &read, &refused);
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
    check_Random random = {3};
    for (int i = 0; i < N_MUTATIONS / 4; i++) {
        char set[256];
        const char *start = sets[check_random_int(&random, 0, 4)];
        memcpy(set, start, strlen(start));
        size_t n = mutate(set, strlen(start), &random);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_mutated_overrides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
