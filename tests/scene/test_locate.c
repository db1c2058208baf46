/* Lines of parts and parts at positions, in texts with lines that can be counted by eye. */
#include "check.h"
#include "scene/locate.h"

#include <string.h>

static const char text[] = "{\n"                                        /* 1 */
                           "  \"name\": \"a \\\"b\\\" ] } ,\",\n"       /* 2: brackets inside a string */
                           "  \"bodies\": [\n"                          /* 3 */
                           "    { \"name\": \"left\", \"mass\": 1 },\n" /* 4 */
                           "    {\n"                                    /* 5 */
                           "      \"name\": \"right\",\n"               /* 6 */
                           "      \"position\":\n"                      /* 7 */
                           "        [ 1,\n"                             /* 8 */
                           "          2, 3 ],\n"                        /* 9 */
                           "      \"m\\u0061ss\": 2\n"                  /* 10: an escaped key */
                           "    }\n"                                    /* 11 */
                           "  ], \"end\": {}\n"                         /* 12 */
                           "}\n";

static int line(const sti_Place *place)
{
    return sti_locate(text, strlen(text), place);
}

static void test_lines(void **state)
{
    (void)state;
    sti_Place name = {NULL, "name", 0}, bodies = {NULL, "bodies", 0}, end = {NULL, "end", 0};
    sti_Place left = {&bodies, NULL, 0}, right = {&bodies, NULL, 1};
    sti_Place left_mass = {&left, "mass", 0}, mass = {&right, "mass", 0}, position = {&right, "position", 0};
    sti_Place x = {&position, NULL, 0}, y = {&position, NULL, 1};
    assert_int_equal(line(NULL), 1);
    assert_int_equal(line(&name), 2);
    assert_int_equal(line(&bodies), 3);
    assert_int_equal(line(&left), 4);
    assert_int_equal(line(&left_mass), 4);
    assert_int_equal(line(&right), 5);
    assert_int_equal(line(&position), 7); /* the key, not its value */
    assert_int_equal(line(&x), 8);
    assert_int_equal(line(&y), 9);
    assert_int_equal(line(&mass), 10);
    assert_int_equal(line(&end), 12);
}

static void test_absent_parts_give_the_deepest_there_is(void **state)
{
    (void)state;
    sti_Place bodies = {NULL, "bodies", 0}, third = {&bodies, NULL, 2}, right = {&bodies, NULL, 1};
    sti_Place radius = {&right, "radius", 0}, inside = {&radius, NULL, 3}, joints = {NULL, "joints", 0};
    assert_int_equal(line(&third), 3);
    assert_int_equal(line(&radius), 5);
    assert_int_equal(line(&inside), 5);
    assert_int_equal(line(&joints), 1);
}

/* Every prefix of the text and every place: no read outside, a line that exists. Sanitizers watch. */
static void test_broken_texts_are_survived(void **state)
{
    (void)state;
    sti_Place bodies = {NULL, "bodies", 0}, right = {&bodies, NULL, 1}, mass = {&right, "mass", 0};
    char path[64];
    for (size_t n = 0; n <= strlen(text); n++) {
        char *cut = malloc(n + 1); /* of its exact size, so that one byte too far is seen */
        assert_non_null(cut);
        memcpy(cut, text, n);
        int found = sti_locate(cut, n, &mass);
        assert_in_range(found, 1, 13);
        for (size_t position = 0; position <= n; position += 7)
            sti_path_at(cut, n, position, path, sizeof path);
        free(cut);
    }
}

static void check_path(const char *before, const char *expected)
{
    char path[64];
    sti_path_at(text, strlen(text), (size_t)(strstr(text, before) - text), path, sizeof path);
    assert_string_equal(path, expected);
}

static void test_paths(void **state)
{
    (void)state;
    check_path("{", "");
    check_path("1 },", "bodies/left/mass");
    check_path("[ 1,", "bodies/right/position");
    check_path("2, 3", "bodies/right/position/1");
    check_path("{}", "end");

    char path[8];
    sti_path_at(text, strlen(text), strlen(text), path, sizeof path);
    assert_string_equal(path, "");
    sti_path_at(text, strlen(text), (size_t)(strstr(text, "2, 3") - text), path, sizeof path);
    assert_string_equal(path, "bodies/"); /* cut, and ended */

    char deep[200];
    memset(deep, '[', sizeof deep);
    sti_path_at(deep, sizeof deep, sizeof deep, path, sizeof path);
    assert_string_equal(path, "0/0/0/0");
}

static void test_place_text(void **state)
{
    (void)state;
    sti_Place bodies = {NULL, "bodies", 0}, right = {&bodies, NULL, 12}, mass = {&right, "mass", 0};
    char out[32], small[6];
    sti_place_text(&mass, out, sizeof out);
    assert_string_equal(out, "bodies/12/mass");
    sti_place_text(NULL, out, sizeof out);
    assert_string_equal(out, "");
    sti_place_text(&mass, small, sizeof small);
    assert_string_equal(small, "bodie");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_absent_parts_give_the_deepest_there_is),
        cmocka_unit_test(test_broken_texts_are_survived),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_place_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
