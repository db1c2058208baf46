/* Forces of scenes beyond linear springs: drag, magnetic forces, springs by table, bushings with full matrices.
 * Expected values are closed forms. */
#include "step/scene_run.h"
#include "step/system.h"

static void parse(Run *run, const char *simulation, const char *rest)
{
    char text[4000];
    memset(run, 0, sizeof *run);
    snprintf(text, sizeof text, "{\"simulation\": {%s}, %s}", simulation, rest);
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run->scene, &run->def, &run->err), run->err);
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

static void finish(Run *run)
{
    while (!run_finished(run))
        run_step(run);
}

static st_Vec3 velocity(const Run *run, const char *body, st_Vec3 *spin)
{
    st_Vec3 v, w;
    assert_int_equal(st_system_velocity(run->sys, st_scene_find_body(run->scene, body), &v, &w), ST_OK);
    if (spin != NULL) *spin = w;
    return v;
}

/* Falling with drag: v = v_t tanh(g t/v_t), v_t = sqrt(m g/c). With order two the error falls by 4 when h is halved;
 * with c = 1e6 a step of 0.1 s is ten thousand times too long for an explicit force. */
static void drag(void **state)
{
    (void)state;
    const char *const body = "\"bodies\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1]}], \"forces\": "
                             "[{\"body\": \"b\", \"drag\": 0.5}]";
    const double top = sqrt(2 * 9.81 / 0.5), exact = -top * tanh(9.81 / top);
    double error[2];
    for (int k = 0; k < 2; k++) {
        Run run;
        parse(&run,
              k == 0 ? "\"preset\": \"accurate\", \"h\": 0.02, \"end\": 1"
                     : "\"preset\": \"accurate\", \"h\": 0.01, \"end\": 1",
              body);
        finish(&run);
        error[k] = fabs(velocity(&run, "b", NULL).z - exact);
        run_close(&run);
    }
    print_message("drag: %.2e, %.2e\n", error[0], error[1]);
    check_below(error[0], 1e-3);
    check_below(3.5 * error[1], error[0]);
    const char *const presets[] = {"\"h\": 0.1, \"end\": 2", "\"preset\": \"accurate\", \"h\": 0.1, \"end\": 2"};
    for (int k = 0; k < 2; k++) {
        Run run;
        parse(&run, presets[k],
              "\"bodies\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1], \"velocity\": [0, 0, -5]}], "
              "\"forces\": [{\"body\": \"b\", \"drag\": 1e6}]");
        finish(&run);
        check_close(velocity(&run, "b", NULL).z, -sqrt(2 * 9.81 / 1e6), 1e-6);
        run_close(&run);
    }
}

/* A charge circles with the radius m v/(q B), and its speed stays: the midpoint rule turns v by 2 atan(h w/2) a step.
 */
static void charge(void **state)
{
    (void)state;
    Run run;
    parse(&run, "\"preset\": \"potra-2006\", \"h\": 0.1, \"end\": 2, \"gravity\": [0, 0, 0]",
          "\"bodies\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1], \"velocity\": [3, 0, 0]}], \"forces\": "
          "[{\"body\": \"b\", \"charge\": 4, \"field\": [0, 0, 2]}]");
    const double turn = 2 * atan(0.1 * (4.0 * 2 / 2) / 2);
    for (int k = 1; !run_finished(&run); k++) {
        run_step(&run);
        const st_Vec3 v = velocity(&run, "b", NULL);
        check_close(v.x, 3 * cos(k * turn), 1e-9);
        check_close(v.y, -3 * sin(k * turn), 1e-9);
    }
    run_close(&run);
}

/* A needle with a magnetic moment swings about the field with the frequency sqrt(m B/J) when it swings little. */
static void needle(void **state)
{
    (void)state;
    Run run;
    parse(
        &run, "\"preset\": \"accurate\", \"h\": 0.002, \"end\": 3, \"gravity\": [0, 0, 0]",
        "\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.02], \"locks\": [\"x\", \"y\", \"z\"], "
        "\"orientation\": {\"axis\": [0, 0, 1], \"angle\": 0.01}}], \"forces\": [{\"body\": \"b\", \"moment\": [0.5, "
        "0, 0], "
        "\"field\": [0.9, 0, 0]}]");
    const double w = sqrt(0.5 * 0.9 / 0.02);
    finish(&run);
    st_Vec3 spin;
    (void)velocity(&run, "b", &spin);
    check_close(spin.z, -0.01 * w * sin(w * 3), 1e-4 * 0.01 * w * 5);
    run_close(&run);
}

/* The derivatives of all of these, at a point beside the centre of a body that spins, against differences. */
static void derivatives(void **state)
{
    (void)state;
    Run run;
    double error;
    parse(&run, "\"wind\": [1, -2, 0.5]",
          "\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.2, 0.3], \"velocity\": [1, 2, 3], "
          "\"angular_velocity\": [2, -1, 4], "
          "\"orientation\": {\"axis\": [1, 2, 3], \"angle\": 0.7}}], \"forces\": [{\"body\": \"b\", \"point\": [0.3, "
          "-0.2, 0.5], "
          "\"drag\": 0.8, \"charge\": -1.5, \"moment\": [0.5, 0.3, -0.2], \"field\": [0.9, -0.4, 2]}]");
    const st_System *s = run.sys;
    check_ok(st_model_check_derivatives(&s->model.table, 0, s->state.q, s->state.v, &error, &run.err), run.err);
    print_message("derivatives: %.2e\n", error);
    run_close(&run);
}

/* A stop that is stiff after 0.1 m: 100 N/m up to there, then 10,000 N/m. 3 kg come to rest where the table has 29.43
 * N; 100 J of fall are stored at 0.1 + x, 0.5 + 10 x + 5000 x^2. */
static const char *const stop = "\"bodies\": [{\"name\": \"b\", \"mass\": 3, \"inertia\": [1, 1, 1], \"position\": [0, "
                                "0, -1], \"locks\": [\"rotation\", "
                                "\"x\", \"y\"]}], \"springs\": [{\"name\": \"s\", \"b\": \"b\", \"point_a\": [0, 0, "
                                "0], \"rest\": 1, \"damping\": %s, "
                                "\"table\": [[-1, -100], [0, 0], [0.1, 10], [1.1, 10010]]}]";

static void table(void **state)
{
    (void)state;
    Run run;
    char text[1000];
    snprintf(text, sizeof text, stop, "20");
    parse(&run, "\"h\": 0.01, \"end\": 20", text);
    finish(&run);
    check_close(run_position(&run, "b").z, -1 - 0.1 - (3 * 9.81 - 10) / 1e4, 1e-6);
    run_close(&run);
    /* released at the rest length: energy is kept, of order two */
    snprintf(text, sizeof text, stop, "0");
    double worst[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        parse(&run,
              k == 0 ? "\"preset\": \"accurate\", \"h\": 0.002, \"end\": 1"
                     : "\"preset\": \"accurate\", \"h\": 0.001, \"end\": 1",
              text);
        double kinetic, potential, deepest = 0;
        check_ok(st_system_energy(run.sys, &kinetic, &potential, &run.err), run.err);
        const double start = kinetic + potential;
        while (!run_finished(&run)) {
            run_step(&run);
            worst[k] = fmax(worst[k], fabs(run.info.kinetic + run.info.potential - start));
            deepest = fmin(deepest, run_position(&run, "b").z);
        }
        /* where m g (0.1 + x) = 0.5 + 10 x + 5000 x^2 */
        const double g = 3 * 9.81, p = (g - 10) / 5000, q = (0.1 * g - 0.5) / 5000;
        check_close(deepest, -1.1 - (0.5 * p + sqrt(0.25 * p * p + q)), 1e-3);
        run_close(&run);
    }
    print_message("table, energy: %.2e, %.2e\n", worst[0], worst[1]);
    check_below(worst[0], 0.02);
    check_below(2 * worst[1], worst[0]);
}

/* A cantilever as one bushing at its tip: K = EI [12/L^3, -6/L^2; -6/L^2, 4/L] couples deflection and rotation. A force
 * P at the tip bends it by P L^3/(3 EI) and turns it by P L^2/(2 EI). */
static void beam(void **state)
{
    (void)state;
    Run run;
    /* L = 2, EI = 300: 12 EI/L^3 = 450, 6 EI/L^2 = 450, 4 EI/L = 600; x stiff, bending in x-z (z with ry: +450) */
    parse(&run, "\"h\": 0.01, \"end\": 30, \"gravity\": [0, 0, 0]",
          "\"bodies\": [{\"name\": \"tip\", \"mass\": 1, \"inertia\": [0.5, 0.5, 0.5]}], \"springs\": [{\"type\": "
          "\"bushing\", "
          "\"b\": \"tip\", \"point\": [0, 0, 0], \"damping\": [20, 20, 20], \"angular_damping\": [20, 20, 20], "
          "\"stiffness_matrix\": [[1e5, 0, 0, 0, 0, 0], [0, 450, 0, 0, 0, -450], [0, 0, 450, 0, 450, 0], "
          "[0, 0, 0, 1e3, 0, 0], [0, 0, 450, 0, 600, 0], [0, -450, 0, 0, 0, 600]]}], "
          "\"forces\": [{\"body\": \"tip\", \"force\": [0, 0, -3]}]");
    finish(&run);
    st_Pose pose;
    assert_int_equal(st_system_pose(run.sys, st_scene_find_body(run.scene, "tip"), &pose), ST_OK);
    check_close(pose.p.z, -3.0 * 8 / (3 * 300), 1e-6);
    check_close(2 * asin(pose.q.y), 3.0 * 4 / (2 * 300), 1e-6);
    run_close(&run);
}

static void refusals(void **state)
{
    (void)state;
    const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"springs\": [{\"type\": \"bushing\", "
         "\"b\": \"b\", "
         "\"stiffness_matrix\": [[1, 2, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], "
         "[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}]}",
         "not positive semi-definite"},
        {"{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"springs\": [{\"type\": \"bushing\", "
         "\"b\": \"b\", "
         "\"stiffness_matrix\": [[1, 2], [2, 1]]}]}",
         "six rows of six numbers"},
        {"{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [1, 0, 0]}], \"springs\": "
         "[{\"b\": \"b\", "
         "\"point_a\": [0, 0, 0], \"table\": [[0, 0], [0, 1]]}]}",
         "must be > 0, the elongation before it"},
        {"{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [1, 0, 0]}], \"springs\": "
         "[{\"b\": \"b\", "
         "\"point_a\": [0, 0, 0], \"stiffness\": 3, \"table\": [[0, 0], [1, 1]]}]}",
         "a table and a stiffness"},
        {"{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"forces\": [{\"body\": \"b\", "
         "\"drag\": -1}]}",
         "drag"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        st_Scene *scene = NULL;
        st_SystemDef def;
        st_Error err = {0};
        assert_int_not_equal(st_scene_parse(cases[k].text, strlen(cases[k].text), "test", NULL, 0, &scene, &def, &err),
                             ST_OK);
        if (strstr(err.message, cases[k].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[k].says);
        st_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drag),  cmocka_unit_test(charge), cmocka_unit_test(needle),   cmocka_unit_test(derivatives),
        cmocka_unit_test(table), cmocka_unit_test(beam),   cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
