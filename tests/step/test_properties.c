/* Random scenes under random settings have the properties of tests/fuzz/properties.h: no NaN, no energy from
 * nowhere, momentum that adds up, a correct residual, the same bits after a restore, in a clone and by two threads.
 * `make test` takes a seeded share, ST_TEST_FULL=1 two thousand.
 */
#include "check.h"
#include "fuzz/properties.h"

typedef struct Text {
    char at[16384];
    size_t n;
} Text;

__attribute__((format(printf, 2, 3))) static void put(Text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text->n += (size_t)vsnprintf(text->at + text->n, sizeof text->at - text->n, format, args);
    va_end(args);
    assert_true(text->n < sizeof text->at);
}

static int pick(check_Random *random, int n)
{
    const int k = (int)check_random(random, 0, n);
    return k < n ? k : n - 1;
}

static void put_vector(Text *text, check_Random *random, const char *key, double most)
{
    put(text, ", \"%s\": [%.17g, %.17g, %.17g]", key, check_random(random, -most, most),
        check_random(random, -most, most), check_random(random, -most, most));
}

/* Sizes from 1e-3 to 1e2 m, masses from density; the bodies near one another, so that they touch or overlap. */
static void put_body(Text *text, check_Random *random, int k, double size)
{
    const double a = size * check_random(random, 0.3, 1), b = size * check_random(random, 0.3, 1);
    put(text, "%s{\"name\": \"b%d\"", k > 0 ? ", " : "", k);
    put(text, ", \"position\": [%.17g, %.17g, %.17g]", check_random(random, -2, 2) * size,
        check_random(random, -2, 2) * size, check_random(random, 0.2, 3) * size);
    put_vector(text, random, "velocity", pick(random, 2) * 3 * sqrt(9.81 * size));
    put_vector(text, random, "angular_velocity", pick(random, 2) * 5 * sqrt(9.81 / size));
    put(text, ", \"orientation\": {\"axis\": [1, %.17g, %.17g], \"angle\": %.17g}", check_random(random, -2, 2),
        check_random(random, -2, 2), pick(random, 2) * check_random(random, 0, 3));
    put(text, ", \"shapes\": [{\"density\": %.17g, \"friction\": %.17g, \"restitution\": %.17g, ",
        pow(10, check_random(random, 0, 4)), check_random(random, 0, 1.2),
        pick(random, 2) * check_random(random, 0, 1));
    switch (pick(random, 4)) {
    case 0:
        put(text, "\"type\": \"sphere\", \"radius\": %.17g", a);
        break;
    case 1:
        put(text, "\"type\": \"box\", \"size\": [%.17g, %.17g, %.17g]", a, b, size);
        break;
    case 2:
        put(text, "\"type\": \"capsule\", \"radius\": %.17g, \"length\": %.17g", 0.5 * a, b);
        break;
    default:
        put(text, "\"type\": \"cylinder\", \"radius\": %.17g, \"length\": %.17g", a, b);
        break;
    }
    put(text, "}]}");
}

static void put_scene(Text *text, check_Random *random)
{
    static const char *const joints[] = {"revolute", "prismatic", "cylindrical", "planar"};
    const int n = 1 + pick(random, 6), preset = pick(random, st_preset_count());
    const double size = pow(10, check_random(random, -3, 2));
    text->n = 0;
    put(text, "{\"ground\": [{\"type\": \"plane\", \"friction\": %.17g}], \"bodies\": [", check_random(random, 0, 1));
    for (int k = 0; k < n; k++)
        put_body(text, random, k, size);
    put(text, "]");
    if (n > 1 && pick(random, 3) == 0) {
        put(text, ", \"joints\": [{\"name\": \"j\", \"type\": \"%s\", \"a\": \"b0\", \"b\": \"b1\"",
            joints[pick(random, 4)]);
        put(text, ", \"point\": [0, 0, %.17g], \"axis\": [0, %.17g, 1]}]", size, check_random(random, 0, 1));
    }
    if (n > 1 && pick(random, 3) == 0)
        put(text,
            ", \"springs\": [{\"name\": \"s\", \"a\": \"b0\", \"b\": \"b1\", \"stiffness\": %.17g, \"damping\": "
            "%.17g}]",
            pow(10, check_random(random, 0, 6)), check_random(random, 0, 10));
    put(text, ", \"simulation\": {\"preset\": \"%s\", \"h\": %.17g, \"initial\": \"%s\"}}", st_preset_name(preset),
        0.02 * sqrt(size / 9.81) * pow(10, check_random(random, -1, 0.5)), pick(random, 2) ? "keep" : "project");
}

static void random_scenes_have_the_properties(void **state)
{
    (void)state;
    check_Random random = {23};
    const char *full = getenv("ST_TEST_FULL");
    const int n = full != NULL ? 2000 : 60;
    int taken = 0;
    for (int k = 0; k < n; k++) {
        static Text text;
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        put_scene(&text, &random);
        const st_Status status = st_scene_parse(text.at, text.n, "random", NULL, 0, &scene, &def, &err);
        if (status == ST_OK) {
            check_scene(scene, def, 0); /* 0: the costly ones, too */
            taken++;
        } else {
            print_message("%s\n", err.message);
        }
        st_scene_destroy(scene);
    }
    assert_int_equal(taken, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_scenes_have_the_properties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
