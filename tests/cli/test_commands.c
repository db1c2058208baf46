/* The commands beside run: check, examples, settings, schema, help. */
#include "program.h"

static void help_and_version(void **state)
{
    static const char *const names[] = {"run", "check", "examples", "settings", "schema"};
    Program *p = *state;
    RUN(p, "--version");
    check_status(p, 0);
    assert_int_equal(strncmp(p->out, "stiction ", 9), 0);
    RUN(p, "--help");
    check_status(p, 0);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        check_contains(p->out, names[k]);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        RUN(p, names[k], "--help");
        check_status(p, 0);
        check_contains(p->out, "usage: stiction ");
        check_contains(p->out, "--help");
        assert_string_equal(p->err, "");
    }
}

static void check_counts_what_is_there(void **state)
{
    Program *p = *state;
    RUN(p, "check", "bars_A0_mu0.15_g10", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_int_equal((int)number_of(root, "bodies"), 2);
    assert_int_equal((int)number_of(root, "dofs"), 6); /* two planar bodies */
    assert_int_equal((int)number_of(root, "joints"), 1);
    assert_int_equal((int)number_of(root, "springs"), 1);
    json_decref(root);
    RUN(p, "check", "bars_A0_mu0.15_g10");
    check_status(p, 0);
    assert_string_equal(p->out + strlen(p->out) - 4, "\nok\n");
}

/* Under an inelastic preset restitution has no effect, and a message is printed; not if it has an effect. */
static void ignored_restitution_is_said(void **state)
{
    Program *p = *state;
    RUN(p, "check", "newtons-cradle", "--set", "simulation/preset=negrut-2017");
    check_status(p, 0);
    check_contains(p->out, "restitution (up to 1) is ignored");
    RUN(p, "run", "newtons-cradle", "--set", "simulation/preset=negrut-2017", "--set", "simulation/end=0.01");
    check_contains(p->out, "restitution (up to 1) is ignored");
    RUN(p, "check", "newtons-cradle");
    check_status(p, 0);
    assert_null(strstr(p->out, "ignored"));
}

static void examples_are_listed_and_copied(void **state)
{
    Program *p = *state;
    const char *copy = in_folder(p, "b_g20_implicit.json");
    RUN(p, "examples");
    check_status(p, 0);
    check_contains(p->out, "b_g20_implicit");
    check_contains(p->out, "bars_A0_mu0.15_g10");
    RUN(p, "examples", "--json");
    json_t *root = printed_json(p);
    assert_true(json_array_size(json_object_get(root, "examples")) >= 13); /* the paper's runs */
    json_decref(root);
    RUN(p, "examples", "b_g20_implicit", "-o", p->folder);
    check_status(p, 0);
    RUN(p, "check", copy);
    check_status(p, 0);
    write_file(copy, "mine");
    RUN(p, "examples", "b_g20_implicit", "-o", copy);
    check_status(p, 2);
    read_file(copy, p->out);
    assert_string_equal(p->out, "mine");
    RUN(p, "examples", "b_g20_implicit", "-o", copy, "--force");
    check_status(p, 0);
    RUN(p, "check", copy);
    check_status(p, 0);
}

/* The folder can be another one; a file that is no JSON there has no description, and does no harm. */
/* Files that a scene names are copied, too: the copy can be read in its folder. */
static void examples_are_copied_with_their_files(void **state)
{
    Program *p = *state;
    static const struct {
        const char *name, *file;
    } cases[] = {{"dog-stands", "dog.urdf"}, {"bracket", "bracket.obj"}};
    for (int k = 0; k < 2; k++) {
        char scene[64];
        snprintf(scene, sizeof scene, "%s.json", cases[k].name);
        RUN(p, "examples", cases[k].name, "-o", p->folder);
        check_status(p, 0);
        check_contains(p->out, cases[k].file);
        RUN(p, "check", in_folder(p, scene));
        check_status(p, 0);
        RUN(p, "examples", cases[k].name, "-o", in_folder(p, "again.json"),
            "--force"); /* the file exists and is identical */
        check_status(p, 0);
        write_file(in_folder(p, cases[k].file), "mine");
        RUN(p, "examples", cases[k].name, "-o", in_folder(p, "third.json"));
        check_status(p, 2);
        read_file(in_folder(p, cases[k].file), p->out);
        assert_string_equal(p->out, "mine");
    }
}

static void examples_folder_can_be_set(void **state)
{
    Program *p = *state;
    write_file(in_folder(p, "mine.json"), BALL_SCENE);
    write_file(in_folder(p, "broken.json"), "{ \"description\": \"no end");
    assert_int_equal(setenv("STICTION_EXAMPLES", p->folder, 1), 0);
    RUN(p, "examples");
    unsetenv("STICTION_EXAMPLES");
    check_status(p, 0);
    check_contains(p->out, "A ball falls");
    check_contains(p->out, "broken");
    check_contains(p->out, "2 scenes");
}

/* Every bundled scene can be made into a system. */
static void every_example_checks(void **state)
{
    Program *p = *state;
    RUN(p, "examples", "--json");
    json_t *root = printed_json(p), *list = json_object_get(root, "examples");
    for (size_t k = 0; k < json_array_size(list); k++) {
        RUN(p, "check", text_of(json_array_get(list, k), "file"));
        check_status(p, 0);
    }
    json_decref(root);
}

static void settings_and_schema(void **state)
{
    Program *p = *state;
    RUN(p, "settings");
    check_status(p, 0);
    check_contains(p->out, "anitescu-potra-2002");
    check_contains(p->out, "lemke");
    RUN(p, "view", "dominos");
    check_status(p, 2);
    check_contains(p->err, "did you mean \"dominoes\"?");
    RUN(p, "settings", "toler");
    check_status(p, 0);
    check_contains(p->out, "tolerance");
    assert_null(strstr(p->out, "lemke"));
    RUN(p, "settings", "tolerence");
    check_status(p, 2);
    check_contains(p->err, "did you mean tolerance?");
    RUN(p, "settings", "--json");
    json_t *root = printed_json(p);
    json_t *drift = json_object_get(json_object_get(root, "settings"), "drift");
    assert_true(json_array_size(json_object_get(drift, "words")) >= 3);
    json_decref(root);
    RUN(p, "schema");
    check_status(p, 0);
    root = printed_json(p);
    assert_non_null(json_object_get(root, "$schema"));
    json_decref(root);
}

/* A name with quotes, a line break and letters beyond ASCII must be unchanged after reading. */
static void names_survive_json(void **state)
{
    static const char *const name = "a \"b\"\\ \xc3\xa9\xe2\x82\xac";
    Program *p = *state;
    const char *scene = in_folder(p, "odd.json");
    write_file(scene, "{" BALL_SIMULATION "\"bodies\": [ { \"name\": \"a \\\"b\\\"\\\\ \xc3\xa9\\u20ac\", \"mass\": 1, "
                      "\"locks\": [\"z\", \"rotation\"] } ] }");
    RUN(p, "run", scene, "--json");
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_non_null(json_object_get(json_object_get(root, "bodies"), name));
    json_decref(root);
    /* that of the scene itself, in escapes: of two, three and four bytes, a bell */
    write_file(scene, "{ \"name\": \"\\u00e9\\u20AC\\ud83d\\ude00-\\u0007.\", " BALL_SIMULATION
                      "\"bodies\": [" BALL_BODY "] }");
    RUN(p, "run", scene, "--json");
    check_status(p, 0);
    root = printed_json(p);
    assert_string_equal(text_of(root, "scene"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80- .");
    json_decref(root);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(help_and_version),
        TEST(check_counts_what_is_there),
        TEST(ignored_restitution_is_said),
        TEST(examples_are_listed_and_copied),
        TEST(examples_folder_can_be_set),
        TEST(examples_are_copied_with_their_files),
        TEST(every_example_checks),
        TEST(settings_and_schema),
        TEST(names_survive_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
