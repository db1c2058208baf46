/* Overlap and joint errors at the start: the velocity change by drift correction is bounded by correction_speed,
 * with every integrator, and a step that would add energy is not accepted. */
#include "step/scene_run.h"

static void parse(Run *run, const char *text)
{
    memset(run, 0, sizeof *run);
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run->scene, &run->def, &run->err), run->err);
}

/* A ball in an overlap, without gravity. It leaves at gap/h, and never faster than correction_speed = 1 m/s. sdirk2 had
 * 2.41 gap/h, and 1.0014 m/s in the second step of a deep overlap. The trapezoid closes the gap by its mean velocity,
 * and the ball leaves faster than gap/h. After a step that is scaled to 0.999 of the cap, the mean velocity is the cap,
 * and the velocity 1.001 of the cap. */
static void ball_in_an_overlap(void **state)
{
    (void)state;
    static const double steps[] = {1e-6, 1e-5, 1e-3}, speeds[] = {0.1, 0.5, 1, 3, 100};
    for (int i = ST_INTEGRATOR_EULER; i <= ST_INTEGRATOR_BDF2; i++)
        for (int events = ST_EVENTS_OFF; events <= ST_EVENTS_ALL; events++)
            for (int k = 0; k < 15; k++) {
                Run run;
                char text[500];
                const double h = steps[k % 3], asked = speeds[k / 3];
                snprintf(text, sizeof text,
                         "{\"simulation\": {\"preset\": \"accurate\", \"h\": %g, \"end\": %g, \"gravity\": [0, 0, 0]},"
                         " \"ground\": [{\"type\": \"plane\"}],"
                         " \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, %.17g],"
                         "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 1}]}]}",
                         h, 20 * h, 1 - asked * h);
                parse(&run, text);
                run.def.integrator = (st_Integrator)i, run.def.events = (st_Events)events;
                check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
                const bool mean = i == ST_INTEGRATOR_TRAPEZOID;
                const double speed = fmin(mean ? 1 : asked, run.def.correction_speed);
                while (!run_finished(&run)) {
                    run_step(&run);
                    check_below(run_velocity(&run, "ball").z, speed * (mean ? 1.002 : 1 + 1e-9)); /* 1e-9: rounding */
                    if (!mean) check_below(0.998 * speed, run_velocity(&run, "ball").z);
                }
                run_close(&run);
            }
}

/* A light wedge between two heavy blocks that overlap it: lever and wedge amplify the correction. */
static void wedge(void **state)
{
    (void)state;
    const char *const presets[] = {"default", "accurate"};
    for (int k = 0; k < 2; k++) {
        char text[900];
        snprintf(text, sizeof text,
                 "{\"simulation\": {\"preset\": \"%s\", \"h\": 1e-3, \"end\": 0.02, \"gravity\": [0, 0, 0]},"
                 " \"ground\": [{\"type\": \"plane\", \"normal\": [0.05, 0, 1], \"friction\": 0},"
                 "  {\"type\": \"plane\", \"normal\": [0.05, 0, -1], \"friction\": 0}],"
                 " \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, 0],"
                 "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.01, \"friction\": 0}]}]}",
                 presets[k]);
        Run run;
        parse(&run, text);
        check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
        double fastest = 0, least = 1;
        while (!run_finished(&run)) {
            const double before = run_velocity(&run, "ball").x;
            run_step(&run);
            fastest = fmax(fastest, run_velocity(&run, "ball").x - before);
            least = fmin(least, run.info.recovery);
        }
        check_below(fastest, 1 + 1e-6); /* without the bound: 1/0.05 = 20 m/s */
        check_below(least, 0.2);
        run_close(&run);
    }
}

/* The correction of the ball between the planes is reduced; that of another one, 3 m away, is not: it leaves its
 * overlap of 0.3 mm as it does alone. */
static void islands_are_scaled_one_by_one(void **state)
{
    (void)state;
    const char *const presets[] = {"default", "accurate"};
    static const char wedged[] = "{\"name\": \"wedged\", \"mass\": 1, \"position\": [0, 0, 0],"
                                 "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.01, \"friction\": 0}]},";
    for (int k = 0; k < 2; k++) {
        double x[2];
        for (int both = 0; both < 2; both++) {
            char text[1200];
            snprintf(text, sizeof text,
                     "{\"simulation\": {\"preset\": \"%s\", \"h\": 1e-3, \"end\": 0.02, \"gravity\": [0, 0, 0]},"
                     " \"ground\": [{\"type\": \"plane\", \"normal\": [0.05, 0, 1], \"friction\": 0},"
                     "  {\"type\": \"plane\", \"normal\": [0.05, 0, -1], \"friction\": 0},"
                     "  {\"type\": \"sphere\", \"radius\": 0.1, \"position\": [3, 0, 0]}],"
                     " \"bodies\": [%s {\"name\": \"other\", \"mass\": 1, \"position\": [3.1097, 0, 0],"
                     "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.01, \"friction\": 0}]}]}",
                     presets[k], both ? wedged : "");
            Run run;
            parse(&run, text);
            check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
            run_step(&run);
            if (both) check_below(run.info.recovery, 0.2);
            x[both] = run_position(&run, "other").x;
            run_close(&run);
        }
        check_below(3.1097 + 1e-4, x[0]);
        check_close(x[1], x[0], 1e-12);
    }
}

/* 36 boxes that overlap the floor by 2 % and hit it at 3 m/s. They stop with or without correction: the difference is
 * the 0.3 m/s that correction asks for, below correction_speed of 1.4 m/s, and one solution of the step is enough. With
 * a ball wedged between two planes beside them the ball is held back, and the boxes are not. */
static void landing_costs_no_second_step(void **state)
{
    (void)state;
    static const char wedged[] = ",{\"name\": \"wedged\", \"mass\": 1, \"position\": [-30, 0, 0],"
                                 "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.2, \"friction\": 0}]}";
    double z[2];
    for (int both = 0; both < 2; both++) {
        char text[16000];
        int n = snprintf(text, sizeof text,
                         "{\"simulation\": {\"h\": 0.01, \"end\": 0.02},"
                         " \"ground\": [{\"type\": \"box\", \"size\": [40, 40, 2], \"position\": [0, 0, -1]},"
                         "  {\"type\": \"box\", \"size\": [8, 8, 0.2], \"position\": [-30, 0, 0.295], \"friction\": 0,"
                         "   \"orientation\": [0.99985, 0, 0.0174524, 0]},"
                         "  {\"type\": \"box\", \"size\": [8, 8, 0.2], \"position\": [-30, 0, -0.295], \"friction\": 0,"
                         "   \"orientation\": [0.99985, 0, -0.0174524, 0]}],"
                         " \"bodies\": [");
        for (int k = 0; k < 36; k++)
            n +=
                snprintf(text + n, sizeof text - (size_t)n,
                         "%s{\"name\": \"box%d\", \"mass\": 1, \"position\": [%d, %d, 0.097], \"velocity\": [0, 0, -3],"
                         " \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}",
                         k > 0 ? "," : "", k, k % 6 - 3, k / 6 - 3);
        snprintf(text + n, sizeof text - (size_t)n, "%s]}", both ? wedged : "");
        Run run;
        parse(&run, text);
        check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
        run_step(&run);
        if (!both) assert_int_equal(run.info.problems, 1);
        if (!both) check_close(run.info.recovery, 1, 0);
        if (both) check_below(run.info.recovery, 0.9);
        z[both] = run_position(&run, "box7").z;
        run_close(&run);
    }
    check_below(0.0985, z[0]);
    check_close(z[1], z[0], 1e-3 * 0.2); /* the dead band of their overlaps, which another attempt may use less of */
}

/* Grains that run out of a bin: loads and little overlaps everywhere, and velocities that change. The correction is
 * harmless, and a step that finds this out by other solutions of the same problem takes three times as long. */
static void a_flowing_pile_is_solved_once(void **state)
{
    (void)state;
    Run run;
    parse(&run,
          "{\"simulation\": {\"h\": 0.002, \"end\": 0.12}, \"ground\": ["
          "{\"type\": \"plane\", \"position\": [0.04, 0, 0], \"normal\": [-1, 0, 0]},"
          "{\"type\": \"plane\", \"position\": [-0.04, 0, 0], \"normal\": [1, 0, 0]},"
          "{\"type\": \"plane\", \"position\": [0, 0.02, 0], \"normal\": [0, -1, 0]},"
          "{\"type\": \"plane\", \"position\": [0, -0.02, 0], \"normal\": [0, 1, 0]},"
          "{\"type\": \"box\", \"position\": [-0.015, 0, -0.01], \"size\": [0.05, 0.04, 0.02]}],"
          "\"fills\": [{\"region\": {\"type\": \"box\", \"position\": [0, 0, 0.06], \"size\": [0.08, 0.04, 0.12]},"
          "\"packing_fraction\": 0.5, \"arrangement\": \"dropped\", \"size\": {\"distribution\": \"uniform\","
          "\"min\": 0.0054, \"max\": 0.0066}, \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.003, \"density\": "
          "2500}]}]}");
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    int problems = 0, steps = 0;
    for (; !run_finished(&run); steps++) {
        run_step(&run);
        problems += run.info.problems;
    }
    check_below(problems, 2.0 * steps);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_in_an_overlap), cmocka_unit_test(wedge), cmocka_unit_test(islands_are_scaled_one_by_one),
        cmocka_unit_test(landing_costs_no_second_step), cmocka_unit_test(a_flowing_pile_is_solved_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
