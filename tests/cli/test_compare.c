/* stiction compare, stiction validate and stiction bench. */
#include "program.h"

static json_t *run_named(json_t *root, const char *preset)
{
    size_t k;
    json_t *run;
    json_array_foreach(json_object_get(root, "runs"), k,
                       run) if (strcmp(text_of(run, "preset"), preset) == 0) return run;
    fail_msg("no run of %s", preset);
    return NULL;
}

/* The bowling ball ends rolling at 5/7 v0 under every preset; the compliant one reports why it cannot run. */
static void presets_side_by_side(void **state)
{
    Program *p = *state;
    const char *plot = in_folder(p, "plot.svg");
    RUN(p, "compare", "examples/negrut-2017/bowling.json", "--presets", "default,negrut-2017,song-2004", "--json",
        "--plot", plot);
    check_status(p, 0);
    json_t *root = printed_json(p);
    assert_string_equal(text_of(root, "reference"), "default");
    assert_int_equal(json_array_size(json_object_get(root, "runs")), 3);
    assert_string_equal(text_of(run_named(root, "negrut-2017"), "status"), "finished");
    /* the cone law's ball lags by the loss of its first steps: mu h v0 x mu */
    check_below(json_number_value(json_object_get(run_named(root, "negrut-2017"), "difference")), 1e-3);
    assert_string_equal(text_of(run_named(root, "song-2004"), "status"), "refused");
    assert_non_null(strstr(text_of(run_named(root, "song-2004"), "message"), "young"));
    json_decref(root);
    char *drawn = malloc(TEXT_SIZE);
    read_file(plot, drawn);
    assert_non_null(strstr(drawn, "<polyline"));
    assert_non_null(strstr(drawn, "negrut-2017"));
    assert_non_null(strstr(drawn, "<title>bowling"));
    assert_non_null(strstr(drawn, "cannot run it: song-2004"));
    free(drawn);
}

static void table_of_presets(void **state)
{
    Program *p = *state;
    RUN(p, "compare", "examples/negrut-2017/bowling.json");
    check_status(p, 0);
    assert_non_null(strstr(p->out, "preclik-2011"));
    assert_non_null(strstr(p->out, "cannot run it"));
}

/* Runs are the same to the last bit, shares make up the whole, and quality is that of the run itself. */
static void a_bench_tells_time_and_quality(void **state)
{
    Program *p = *state;
    RUN(p, "bench", "bowling", "examples/negrut-2017/stack.json", "--runs", "2", "--steps", "20", "--json");
    check_status(p, 0);
    json_t *root = printed_json(p), *scenes = json_object_get(root, "scenes"), *scene, *share;
    size_t k;
    const char *name;
    assert_int_equal(json_array_size(scenes), 2);
    json_array_foreach(scenes, k, scene)
    {
        double sum = 0;
        json_object_foreach(json_object_get(scene, "shares"), name, share) sum += json_number_value(share);
        check_close(sum, 1, 1e-12);
        assert_int_equal(json_integer_value(json_object_get(scene, "steps")), 20);
        assert_int_equal(json_integer_value(json_object_get(scene, "runs")), 2);
        assert_true(json_number_value(json_object_get(scene, "cpu_seconds_a_step")) > 0);
        check_below(json_number_value(json_object_get(scene, "worst_residual")), 1e-9);
    }
    json_decref(root);
    RUN(p, "bench", "b_g100_explicit", "--runs", "1"); /* a run that is known to diverge */
    check_status(p, 1);
    assert_non_null(strstr(p->out, "diverged"));
}

static void bad_words_are_refused(void **state)
{
    Program *p = *state;
    RUN(p, "compare", "examples/negrut-2017/bowling.json", "--presets", "negrut");
    check_status(p, 2);
    RUN(p, "compare", "examples/negrut-2017/bowling.json", "--presets", "negrut-2018");
    check_status(p, 2);
    assert_non_null(strstr(p->err, "negrut-2017"));
    RUN(p, "compare", "examples/negrut-2017/bowling.json", "--body", "cube");
    check_status(p, 2);
    assert_non_null(strstr(p->err, "cube"));
    RUN(p, "compare", "no-such-scene.json");
    check_status(p, 2);
    const char *scene = in_folder(p, "drop.svg"); /* a poor name, and a scene */
    write_file(scene, BALL_SCENE);
    RUN(p, "compare", scene, "--presets", "default", "--plot", scene);
    check_status(p, 2);
    check_contains(p->err, "drop.svg is the scene itself");
    read_file(scene, p->out);
    assert_string_equal(p->out, BALL_SCENE);
    RUN(p, "bench", "bowling", "no-such-scene");
    check_status(p, 2);
    assert_non_null(strstr(p->err, "no-such-scene"));
    RUN(p, "validate", "--only", "V999");
    check_status(p, 2);
    assert_non_null(strstr(p->err, "V999"));
}

/* Every case passes, and at least twenty of the published collection are there. Sanitizers look at accesses, not at
 * answers: the long cases of grains are left to the ordinary build. */
static void known_answers(void **state)
{
    Program *p = *state;
#ifdef __SANITIZE_ADDRESS__
    const char *const extent = "--quick";
#else
    const char *const extent = NULL;
#endif
    RUN(p, "validate", "--json", extent);
    check_status(p, 0);
    json_t *root = printed_json(p), *check;
    size_t k;
    char last[16] = "";
    int published = 0;
    json_array_foreach(json_object_get(root, "checks"), k, check)
    {
        const char *id = text_of(check, "id");
        assert_true(json_is_true(json_object_get(check, "passed")));
        if (id[0] == 'V' && strcmp(id, last) != 0) published++;
        snprintf(last, sizeof last, "%s", id);
    }
    assert_true(published >= 20);
    assert_true(json_is_array(json_object_get(root, "missing")));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(presets_side_by_side, setup, teardown),
        cmocka_unit_test_setup_teardown(table_of_presets, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bench_tells_time_and_quality, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_words_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(known_answers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
