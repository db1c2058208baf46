/* The energy balance: every kind of work separately, compared with closed forms, and the sum of all of them. For
 * Euler's methods the balance is an identity (src/step/integrate/stage_work.c); for order two the remainder falls
 * with the order. */
#include "step/scene_run.h"
#include "step/system.h"

/* A scene under a preset, to its end. */
static void finish(Run *run, const char *preset, double h, double end, const char *rest)
{
    char text[900];
    snprintf(text, sizeof text, "{\"simulation\": {\"preset\": \"%s\", \"h\": %g, \"end\": %g}, %s}", preset, h, end,
             rest);
    run_parse(run, text);
    run_to_end(run);
}

static double energy(const Run *run)
{
    return run->info.kinetic + run->info.potential;
}

/* All kinds together. */
static double sum(const Run *run)
{
    const st_StepInfo *i = &run->info;
    return i->work + i->friction + i->damping + i->impacts + i->correction + i->scheme;
}

/* A force of 3 N on 2 kg for 1 s, while it falls: 3 N times its displacement. Euler's steps: x = a h^2 n (n + 1)/2. */
static void applied_force(void **state)
{
    (void)state;
    const char *const presets[] = {"default", "accurate", "potra-2006", "anitescu-potra-1997"};
    for (int k = 0; k < 4; k++) {
        Run run;
        finish(&run, presets[k], 0.01, 1,
               "\"bodies\": [{\"name\": \"b\", "
               "\"mass\": 2, \"inertia\": [1, 1, 1]}], \"forces\": [{\"body\": \"b\", \"force\": [3, 0, 0]}]");
        const double x = run_position(&run, "b").x;
        const bool euler = k == 0 || k == 3;
        check_close(x, euler ? 1.5 * 1e-4 * 100 * 101 / 2 : 0.75, 1e-12);
        check_close(run.info.work, 3 * x, 1e-12);
        check_close(run.info.unexplained, 0, 1e-12);
        if (euler) check_close(run.info.scheme, -0.5 * 100 * 2 * 1e-4 * (1.5 * 1.5 + 9.81 * 9.81), 1e-12);
        run_close(&run);
    }
}

/* A hoist lifts 2 kg at 0.5 m/s for 1 s, by a prescribed motion that starts with a jump: m g times the lift, and m v^2,
 * of which the jump takes a half. */
static void prescribed_motion(void **state)
{
    (void)state;
    const char *const presets[] = {"default", "accurate"};
    for (int k = 0; k < 2; k++) {
        Run run;
        finish(&run, presets[k], 0.01, 1,
               "\"bodies\": [{\"name\": \"b\", "
               "\"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": [{\"type\": \"prismatic\", \"b\": \"b\", \"point\": "
               "[0, 0, 0], \"axis\": [0, 0, 1], \"motor\": {\"type\": \"motion\", \"target\": 0.5, \"profile\": "
               "\"ramp\"}}]");
        check_close(run_position(&run, "b").z, 0.5, 1e-9);
        check_close(run.info.work, 2 * 9.81 * 0.5 + 2 * 0.25, 1e-8);
        check_close(k == 0 ? run.info.scheme : run.info.impacts, -0.25, 1e-8);
        check_close(run.info.unexplained, 0, 1e-8);
        run_close(&run);
    }
}

/* A parcel of 1 kg on a belt at 2 m/s: the belt gives m s^2, half of it becomes heat. Coarse steps: sliding takes
 * s/(mu g) = 0.4 s, and the step in which it ends is first order. */
static void belt(void **state)
{
    (void)state;
    const char *const presets[] = {"default", "accurate"};
    for (int k = 0; k < 2; k++) {
        Run run;
        finish(&run, presets[k], 0.001, 1,
               "\"ground\": [{\"type\": \"box\", "
               "\"size\": [10, 2, 1], \"position\": [0, 0, -0.5], \"friction\": 0.5, \"surface_velocity\": [2, 0, 0]}],"
               " \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [-2, 0, 0.1], "
               "\"locks\": [\"rotation\"], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2], "
               "\"friction\": 0.5}]}]");
        check_close(run.info.kinetic, 2, 1e-6);
        check_close(run.info.work, 4, 1e-6);
        check_close(run.info.friction, -2, k == 0 ? 0.01 : 1e-4); /* h mu g s/2 */
        check_close(run.info.unexplained, 0, 1e-6);
        run_close(&run);
    }
}

/* Bounces: the loss 1 - e^2 of each impact, located or not. */
static void bounces(void **state)
{
    (void)state;
    const char *const presets[] = {"accurate", "potra-2006", "default"};
    for (int k = 0; k < 3; k++) {
        Run run;
        finish(&run, presets[k], 0.002, 0.8,
               "\"ground\": [{\"type\": \"plane\", "
               "\"restitution\": 0.5}], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"position\": [0, 0, 1.1], "
               "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"restitution\": 0.5}]}]");
        check_close(run.info.impacts, -0.75 * 9.81, k == 2 ? 0.1 : 1e-6); /* m g h s of Euler's landing */
        check_close(run.info.unexplained, 0, 1e-9);
        run_close(&run);
    }
}

/* Euler's velocity is constant in a step: a ball that falls 0.2 m lands in step n, the first with g h^2 n (n + 1)/2 >=
 * 0.2, at n h g. The scheme gives the energy of this speed beyond that of the fall. */
static void located_landings(void **state)
{
    (void)state;
    const char *const presets[] = {"anitescu-potra-2002", "anitescu-potra-1997\", \"events\": \"collisions",
                                   "default\", \"events\": \"collisions"};
    const double speed = 101 * 0.002 * 9.81;
    for (int k = 0; k < 3; k++) {
        Run run;
        finish(&run, presets[k], 0.002, 0.5,
               "\"ground\": [{\"type\": \"plane\"}], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"position\": [0, 0, "
               "0.3], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]}]");
        check_close(run.info.impacts, -0.5 * speed * speed, 1e-9);
        check_close(run.info.scheme, 0.5 * speed * speed - 9.81 * 0.2, 1e-9);
        check_close(run.info.unexplained, 0, 1e-9);
        run_close(&run);
    }
}

/* A swinging point leaves its circle along the tangent, and the projection brings it back: the potential that it adds
 * is a correction. */
static void projections_are_corrections(void **state)
{
    (void)state;
    Run run;
    finish(&run, "anitescu-potra-2002", 0.002, 1,
           "\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [1, 0, 0]}], "
           "\"joints\": [{\"type\": \"revolute\", \"b\": \"b\", \"point\": [0, 0, 0], \"axis\": [0, 1, 0]}]");
    check_below(0.05, run.info.correction);
    check_close(run.info.unexplained, 0, 1e-9);
    run_close(&run);
}

/* A block slides, a = g (1 - 0.5). Under the convex cone law the contact opens by h mu |u_T|, and its normal force does
 * work on the velocity u_n = mu |u_T|: friction alone takes energy, besides the landing on that gap in the first steps.
 */
static void the_cone_law_counts_friction_once(void **state)
{
    (void)state;
    Run run;
    finish(&run, "negrut-2017", 0.01, 1,
           "\"ground\": [{\"type\": \"plane\", \"friction\": 0.5}], \"bodies\": [{\"name\": \"b\", \"position\": [0, "
           "0, 0.1], "
           "\"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2], "
           "\"friction\": 0.5}]}], "
           "\"forces\": [{\"body\": \"b\", \"force\": [9.81, 0, 0]}]");
    check_close(run.info.friction, -0.5 * 9.81 * run_position(&run, "b").x, 0.05);
    check_close(run.info.impacts, 0, 0.05);
    check_close(run.info.unexplained, 0, 1e-9);
    run_close(&run);
}

/* ---- the balance ----------------------------------------------------------------------------------- */

/* The remainder, and the largest of all terms. */
typedef struct Balance {
    double left, scale;
} Balance;

static Balance balance_of(const char *name, const char *preset, st_Integrator integrator, double h, int steps)
{
    Run run;
    char path[200];
    memset(&run, 0, sizeof run);
    snprintf(path, sizeof path, "examples/%s", name);
    check_ok(st_scene_read(path, NULL, 0, &run.scene, &run.def, &run.err), run.err);
    check_ok(st_preset_apply(&run.def, preset, &run.err), run.err);
    if (h > 0) run.def.h = h, run.def.integrator = integrator;
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    Balance balance = {0, 0};
    double kinetic, potential;
    check_ok(st_system_energy(run.sys, &kinetic, &potential, &run.err), run.err);
    for (int k = 0; k < steps && !run_finished(&run); k++) {
        run_step(&run);
        const st_StepInfo *i = &run.info;
        const double terms[] = {i->work,       i->friction, i->damping, i->impacts,
                                i->correction, i->scheme,   i->kinetic, i->potential - potential};
        for (size_t e = 0; e < sizeof terms / sizeof terms[0]; e++)
            balance.scale = fmax(balance.scale, fabs(terms[e]));
    }
    balance.left = run.info.unexplained;
    /* it equals the report */
    check_close(energy(&run) - kinetic - potential, sum(&run) + run.info.unexplained, 1e-12 * (balance.scale + 1e-9));
    run_close(&run);
    return balance;
}

/* Implicit Euler with springs that do not turn, every step problem solved to 1e-9: the sum is the change of energy. The
 * others of examples/ have lines that turn, hold at rest (terms of rounding), or are not solved to the tolerance. */
static void euler_closes(void **state)
{
    (void)state;
    const char *const names[] = {
        "mechanisms/slider_crank.json", "mechanisms/pendulum.json",   "mechanisms/four_bar.json",
        "mechanisms/cardan.json",       "mechanisms/gear_train.json", "mechanisms/motor_limit.json",
        "mechanisms/door.json",         "mechanisms/bricard.json",    "negrut-2017/bowling.json",
        "toys/newtons-cradle.json",     "toys/rattleback.json",       "toys/tippe-top.json",
        "toys/woodpecker.json",         "toys/walker.json",           "world/conveyor.json",
        "accuracy/heavy-top.json",      "accuracy/landing-box.json"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const Balance balance = balance_of(names[k], "exact", ST_INTEGRATOR_IMPLICIT, 0, 100);
        print_message("%s: %.2g of %.2g J\n", names[k], balance.left, balance.scale);
        check_close(balance.left, 0, 1e-9 * balance.scale);
    }
}

/* A spring presses a drawer with 1e6 N on its stop, which it leaves at 1 m/s: it is back at the stop within the step.
 * The impact takes its kinetic energy. The impulse of the spring in this step was part of that of the impact, which
 * took 1e3 J, and the scheme gave them back. */
static void impact_of_what_a_spring_presses(void **state)
{
    (void)state;
    static const char *const presets[] = {"default", "exact", "real-time"};
    for (int p = 0; p < 3; p++) {
        Run run;
        char text[900];
        snprintf(
            text, sizeof text,
            "{\"simulation\": {\"preset\": \"%s\", \"h\": 0.001, \"end\": 0.01, \"gravity\": [0, 0, 0]}, \"bodies\": "
            "[{\"name\": \"b\", \"mass\": 1, \"inertia\": 1, \"velocity\": [%s, 0, 0]}], \"joints\": [{\"type\": "
            "\"prismatic\", \"b\": \"b\", \"point\": [0, 0, 0], \"axis\": [1, 0, 0], \"lower\": 0, \"upper\": 1, "
            "\"stiffness\": 1e7, \"rest\": -0.1}]}",
            presets[p], p == 0 ? "-1" : "1");
        run_parse(&run, text);
        run_to_end(&run);
        check_close(run.info.impacts + run.info.scheme, -0.5, 1e-6);
        check_below(-0.5 - 1e-6, run.info.impacts);
        check_below(run.info.impacts, 1e-6);
        run_close(&run);
    }
}

/* Bobs on bars, with so little inertia that a step does not resolve the tension of the bars (tension.c): the inertia
 * that they get is part of the scheme. It was counted twice. */
static void inertia_of_tension_closes(void **state)
{
    (void)state;
    for (int p = 0; p < 3; p++) {
        Run run;
        char text[900];
        snprintf(text, sizeof text,
                 "{\"simulation\": {\"preset\": \"%s\", \"h\": 0.002, \"end\": 1}, \"bodies\": ["
                 "{\"name\": \"b\", \"mass\": 1, \"inertia\": 1e-6, \"position\": [1, 0, 0]},"
                 "{\"name\": \"c\", \"mass\": 2, \"inertia\": 1e-6, \"position\": [2, 0, 0]}], \"joints\": ["
                 "{\"type\": \"ball\", \"b\": \"b\", \"point\": [0, 0, 0]},"
                 "{\"type\": \"ball\", \"a\": \"b\", \"b\": \"c\", \"point\": [1, 0, 0]}]}",
                 p == 0   ? "exact"
                 : p == 1 ? "default"
                          : "real-time");
        run_parse(&run, text);
        int resolved = 0;
        while (!run_finished(&run)) {
            run_step(&run);
            resolved += run.sys->work.tension.on;
        }
        assert_true(resolved > 0);
        check_close(run.info.unexplained, 0, 1e-9 * 3 * 9.81 * 2);
        check_below(run.info.scheme, 0);
        run_close(&run);
    }
}

/* Order two: the remainder of smooth motion falls by 4 when the step is halved. With bdf2 the work of drift correction
 * was measured along the whole step by rows at its end: -0.23 J of 9.81 J in the pendulum, a remainder of +0.23 J, and
 * order one. */
static void remainder_falls_with_order(void **state)
{
    (void)state;
    const char *const names[] = {"mechanisms/pendulum.json", "mechanisms/four_bar.json", "accuracy/heavy-top.json",
                                 "mechanisms/governor.json"};
    const st_Integrator integrators[] = {ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (size_t k = 0; k < 2 * (sizeof names / sizeof names[0]); k++) {
        const double h = 2e-3;
        const char *name = names[k / 2];
        const st_Integrator integrator = integrators[k % 2];
        const Balance coarse = balance_of(name, "accurate", integrator, h, 200),
                      fine = balance_of(name, "accurate", integrator, h / 2, 400);
        print_message("%s, %s: %.3g, %.3g of %.3g J, ratio %.3g\n", name, k % 2 == 0 ? "sdirk2" : "bdf2", coarse.left,
                      fine.left, coarse.scale, coarse.left / fine.left);
        check_below(3.5 * fabs(fine.left), fabs(coarse.left));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applied_force),
        cmocka_unit_test(prescribed_motion),
        cmocka_unit_test(belt),
        cmocka_unit_test(bounces),
        cmocka_unit_test(located_landings),
        cmocka_unit_test(projections_are_corrections),
        cmocka_unit_test(the_cone_law_counts_friction_once),
        cmocka_unit_test(euler_closes),
        cmocka_unit_test(impact_of_what_a_spring_presses),
        cmocka_unit_test(inertia_of_tension_closes),
        cmocka_unit_test(remainder_falls_with_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
