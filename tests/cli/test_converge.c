/* stiction converge: Table 10.1 of Potra et al. 2006 from the command line, every preset, and its refusals. */
#include "program.h"

static void table_of_the_paper(void **state)
{
    Program *p = *state;
    const char *table = in_folder(p, "table.csv"), *plot = in_folder(p, "plot.svg");
    static const double errors[] = {2.38220e-3, 6.13727e-4, 1.54449e-4, 3.94525e-5};
    RUN(p, "converge", "double-pendulum", "--halvings", "5..8", "--reference", "13", "--json", "--csv", table, "--plot",
        plot);
    check_status(p, 0);
    json_t *root = printed_json(p), *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 4);
    for (int k = 0; k < 4; k++) {
        json_t *row = json_array_get(rows, (size_t)k);
        assert_int_equal((int)number_of(row, "halving"), 5 + k);
        check_close(number_of(row, "h"), ldexp(1, -5 - k), 0);
        /* the reference is itself off by 3.94e-5/4^5 */
        check_close(number_of(row, "position_error"), errors[k], 0.002 * errors[k]);
        if (k > 0) {
            check_close(number_of(row, "ratio"), 4, 0.15);
            check_close(number_of(row, "order"), log2(number_of(row, "ratio")), 1e-12);
            const double before = number_of(json_array_get(rows, (size_t)k - 1), "velocity_error");
            check_close(number_of(row, "velocity_order"), log2(before / number_of(row, "velocity_error")), 1e-12);
        } else {
            assert_true(json_is_null(json_object_get(row, "ratio")));
        }
    }
    /* twice the distance joint's error is Theta: 3.18347e-3 */
    check_close(2 * number_of(json_array_get(rows, 0), "joint_error"), 3.18347e-3, 5e-6);
    json_decref(root);
    read_file(table, p->out);
    check_contains(p->out, "halving,h,position_error,velocity_error,joint_error,ratio,order,velocity_order,steps");
    check_contains(p->out, "\n8,0.00390625,");
    read_file(plot, p->out);
    assert_int_equal(strncmp(p->out, "<svg ", 5), 0);
    check_contains(p->out, "order 2");
    check_contains(p->out, "</svg>");
}

static void every_preset(void **state)
{
    Program *p = *state;
    const char *presets[] = {"default", "anitescu-potra-1997", "anitescu-potra-2002", "potra-2006", "accurate"};
    for (int k = 0; k < 5; k++) {
        char set[80];
        snprintf(set, sizeof set, "simulation/preset=%s", presets[k]);
        RUN(p, "converge", "double-pendulum", "--halvings", "6..7", "--reference", "9", "--set", set, "--set",
            "simulation/end=0.5");
        check_status(p, 0);
        check_contains(p->out, presets[k]);
        check_contains(p->out, "2^-7");
    }
}

static void refusals(void **state)
{
    Program *p = *state;
    RUN(p, "converge", "double-pendulum", "--halvings", "9..5");
    check_status(p, 2);
    check_contains(p->err, "--halvings is \"9..5\"");
    RUN(p, "converge", "double-pendulum", "--halvings", "5..6", "--reference", "6");
    check_status(p, 2);
    check_contains(p->err, "--reference is 6");
    RUN(p, "converge", "no-such-scene");
    check_status(p, 2);
    RUN(p, "converge", "double-pendulum", "--plot", "/nowhere/at/all.svg");
    check_status(p, 2);
    RUN(p, "converge", "double-pendulum", "--reference-set", "joints=[]", "--reference-set",
        "bodies=[{\"mass\": 1, \"inertia\": 1}]");
    check_status(p, 2);
    check_contains(p->err, "the reference has 1 bodies, the scene 2");
    /* a run that cannot be finished: the message names the step, and the rows so far are printed */
    RUN(p, "converge", "b_g100_explicit", "--halvings", "3..4", "--reference", "10");
    check_status(p, 1);
    check_contains(p->err, "h = 2^-3: diverged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(table_of_the_paper, setup, teardown),
        cmocka_unit_test_setup_teardown(every_preset, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
