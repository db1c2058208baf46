/* Restitution under every preset that has it, at the step a newcomer takes. Apexes of a bouncing ball are e^2 times the
 * one before; everything else here is a balance of momentum or energy. */
#include "step/scene_run.h"

#define G 9.81

static void parse(Run *run, const char *text)
{
    memset(run, 0, sizeof *run);
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run->scene, &run->def, &run->err), run->err);
}

static void create(Run *run)
{
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

/* A ball 1 m above the floor. */
static void drop_as(Run *run, const char *preset, st_Form form, double e, double height, double h)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"simulation\": {\"preset\": \"%s\", \"h\": %.17g, \"end\": 60},"
             " \"ground\": [{\"type\": \"plane\", \"restitution\": %g}],"
             " \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, %.17g],"
             "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"restitution\": %g}]}]}",
             preset, h, e, height + 0.1, e);
    parse(run, text);
    run->def.form = form;
    create(run);
}

static void drop(Run *run, const char *preset, double e, double height, double h)
{
    drop_as(run, preset, ST_FORM_II, e, height, h);
}

/* The next apex above the floor: the highest place between two landings. */
static double next_apex(Run *run)
{
    double top = 0, v = run_velocity(run, "ball").z;
    while (v <= 0) {
        run_step(run);
        v = run_velocity(run, "ball").z;
        assert_false(run_finished(run));
    }
    while (v > 0) {
        top = fmax(top, run_position(run, "ball").z);
        run_step(run);
        v = run_velocity(run, "ball").z;
    }
    return fmax(top, run_position(run, "ball").z) - 0.1;
}

typedef struct Wanted {
    const char *preset;
    double within, within_at_1;
} Wanted;

/* Required: 2 per cent without event location, 0.1 per cent (the sampling of a parabola) with it. */
static const Wanted wanted[] = {{"default", 0.02, 0.02}, {"accurate", 1e-3, 1e-6}};

/* Between two samples a parabola rises by g h^2/8 at most: at 1e-6 that is taken off. */
static void apexes(void **state)
{
    (void)state;
    const double h = 1.0 / 240, between = G * h * h / 8;
    for (int k = 0; k < 2; k++) {
        Run run;
        drop(&run, wanted[k].preset, 0.5, 1, h);
        double apex = 1;
        for (int i = 0; i < 3; i++) {
            apex *= 0.25;
            check_close(next_apex(&run), apex, wanted[k].within * apex + (k == 1 ? between : 0));
        }
        run_close(&run);

        drop(&run, wanted[k].preset, 1, 1, h);
        for (int i = 0; i < 10; i++) {
            const double top = next_apex(&run);
            check_close(top, 1, wanted[k].within_at_1 + (k == 1 ? between : 0));
            check_below(top, 1 + (k == 1 ? 1e-6 : 0));
        }
        run_close(&run);
    }
}

/* The same at other heights and steps: where in its step the ball lands must not matter, nor the scale. */
static void apexes_at_any_scale(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        const double height = pow(10, -3 + 0.25 * k), step = sqrt(height) / (180.0 + 7 * k);
        Run run;
        drop(&run, "default", 0.6, height, step);
        run.def.end = 1e9;
        double apex = height;
        for (int i = 0; i < 3; i++) {
            apex *= 0.36;
            check_close(next_apex(&run), apex, 0.02 * apex);
        }
        run_close(&run);
    }
}

/* At rest nothing moves: a stack whose every contact has e = 0.9, after it came down. Its energy never rises above that
 * of the start, and after five seconds it is still. */
static void stack_comes_to_rest(void **state)
{
    (void)state;
    char text[2400];
    int n = snprintf(text, sizeof text,
                     "{\"simulation\": {\"preset\": \"default\", \"h\": 0.004, \"end\": 5},"
                     " \"ground\": [{\"type\": \"plane\", \"restitution\": 0.9, \"friction\": 0.5}], \"bodies\": [");
    for (int k = 0; k < 4; k++)
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            "%s{\"name\": \"box%d\", \"position\": [0, 0, %g], \"shapes\": [{\"type\": \"box\", \"density\": 1000, "
            "\"size\": [0.2, 0.2, 0.1], \"restitution\": 0.9, \"friction\": 0.5}]}",
            k == 0 ? "" : ", ", k, 0.06 + 0.12 * k);
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    Run run;
    parse(&run, text);
    create(&run);
    double energy = INFINITY;
    while (!run_finished(&run)) {
        run_step(&run);
        if (energy == INFINITY) energy = run.info.kinetic + run.info.potential;
        /* the scheme keeps E - (h/2) m g v: 16 kg at no more than 1 m/s */
        check_below(run.info.kinetic + run.info.potential, energy + 0.002 * 16 * G);
    }
    check_below(run.info.kinetic, 1e-12);
    for (int k = 0; k < 4; k++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", k);
        check_close(run_position(&run, name).z, 0.05 + 0.1 * k, 1e-4);
        check_close(run_position(&run, name).x, 0, 1e-4);
    }
    run_close(&run);
}

/* A sphere that slides through its bounce: tangential impulse mu (1 + e) times that of compression, and it spins up by
 * the moment of that. Order two with located events, and the default. In Potra et al. 2006 (7.7) the restituted impulse
 * carries no friction, which leaves mu. Gravity 0, and with it only the impact. */
static void sliding_bounce(void **state)
{
    (void)state;
    const struct {
        const char *preset;
        double loads; /* times the impulse of compression, which carries friction */
    } cases[] = {{"default", 1.5}, {"accurate", 1.5}, {"potra-2006", 1}};
    for (int k = 0; k < 3; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "{\"simulation\": {\"preset\": \"%s\", \"h\": 0.01, \"end\": 0.5, \"gravity\": [0, 0, 0]},"
                 " \"ground\": [{\"type\": \"plane\", \"restitution\": 0.5, \"friction\": 0.1}],"
                 " \"bodies\": [{\"name\": \"ball\", \"mass\": 2, \"inertia\": [0.008, 0.008, 0.008], \"position\": "
                 "[0, 0, 0.53], \"velocity\": [3, 0, -1.5],"
                 "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"restitution\": 0.5, \"friction\": 0.1}]}]}",
                 cases[k].preset);
        Run run;
        parse(&run, text);
        create(&run);
        while (!run_finished(&run))
            run_step(&run);
        const double impulse = 0.1 * 1.5 * cases[k].loads; /* per unit of mass */
        st_Vec3 v, w;
        st_system_velocity(run.sys, st_scene_find_body(run.scene, "ball"), &v, &w);
        check_close(v.z, 0.75, 1e-8);
        check_close(v.x, 3 - impulse, 1e-8);
        check_close(w.y, 2 * impulse * 0.1 / 0.008, 1e-7);
        run_close(&run);
    }
}

/* A box that lands flat on its four corners does not start to turn, and rises to e^2; one that lands askew keeps or
 * loses energy, wherever it lands. */
static void boxes_land(void **state)
{
    (void)state;
    for (int k = 0; k <= 12; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "{\"simulation\": {\"preset\": \"default\", \"h\": 0.004, \"end\": 1.5},"
                 " \"ground\": [{\"type\": \"plane\", \"restitution\": 0.8, \"friction\": %g}],"
                 " \"bodies\": [{\"name\": \"ball\", \"position\": [0, 0, 1.2], \"velocity\": [%g, 0, 0],"
                 "  \"orientation\": {\"axis\": [1, 0.3, 0.2], \"angle\": %g}, \"shapes\": [{\"type\": \"box\", "
                 "\"density\": 500, \"size\": [0.3, 0.2, 0.2], \"restitution\": 0.8, \"friction\": 0.9}]}]}",
                 k % 2 == 0 ? 0.9 : 0.0, k == 0 ? 0.0 : 0.5, 0.13 * k);
        Run run;
        parse(&run, text);
        create(&run);
        if (k == 0) check_close(next_apex(&run), 0.64 * 1.1, 0.02 * 0.64 * 1.1);
        const double mass = 500 * 0.3 * 0.2 * 0.2, start = mass * (G * 1.2 + 0.125);
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.kinetic + run.info.potential, start + 0.002 * mass * G * 4.9);
        }
        st_Vec3 w;
        st_system_velocity(run.sys, st_scene_find_body(run.scene, "ball"), NULL, &w);
        if (k == 0) check_below(fabs(w.x) + fabs(w.y) + fabs(w.z), 1e-9);
        run_close(&run);
    }
}

/* Five balls in a row that touch, hit by a sixth, e = 1, without gravity: momentum and energy stay. */
static void chain(void **state)
{
    (void)state;
    const double gaps[] = {0, 1e-6, 1e-3};
    for (int k = 0; k < 3; k++) {
        char text[2400];
        int n = snprintf(text, sizeof text,
                         "{\"simulation\": {\"preset\": \"default\", \"h\": 0.004, \"end\": 2, \"gravity\": [0, 0, 0]},"
                         " \"bodies\": [");
        for (int i = 0; i < 6; i++)
            n +=
                snprintf(text + n, sizeof text - (size_t)n,
                         "%s{\"name\": \"ball%d\", \"mass\": 1, \"position\": [%.17g, 0, 0], \"velocity\": [%d, 0, 0], "
                         "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"restitution\": 1}]}",
                         i == 0 ? "" : ", ", i, i == 0 ? -1 : i * (0.2 + gaps[k]), i == 0);
        snprintf(text + n, sizeof text - (size_t)n, "]}");
        Run run;
        parse(&run, text);
        create(&run);
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.kinetic, 0.5 + 1e-9);
        }
        double momentum = 0, before = -INFINITY;
        for (int i = 0; i < 6; i++) {
            char name[16];
            snprintf(name, sizeof name, "ball%d", i);
            const double v = run_velocity(&run, name).x;
            momentum += v;
            check_below(before, v + 1e-9); /* they part */
            before = v;
        }
        check_close(momentum, 1, 1e-9);
        check_close(run.info.kinetic, 0.5, gaps[k] == 0 ? 1e-8 : 0.5); /* a gap that another ball closes is no impact */
        run_close(&run);
    }
}

/* A dropped ball comes to rest on the floor, and not above it: with located events, whatever the length of its last
 * bounces against the step. */
static void rests_on_the_floor(void **state)
{
    (void)state;
    const double steps[] = {0.05, 0.02, 0.01, 0.003};
    for (int k = 0; k < 24; k++) {
        Run run;
        drop_as(&run, k % 3 == 2 ? "accurate" : "potra-2006", k % 3 == 0 ? ST_FORM_I : ST_FORM_II, k < 12 ? 0.5 : 0.8,
                1, steps[k / 3 % 4]);
        run.def.end =
            steps[k / 3 % 4] * 3000; /* whole steps: a shorter last one lets form II, whose velocity flips, hop */
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(0.1 - 1e-6, run_position(&run, "ball").z);
        }
        check_close(run_position(&run, "ball").z, 0.1, 1e-6);
        run_close(&run);
    }
}

/* A drawer with stops that are 1e-9 m apart. A rebound from one of them would have to pass the other: the step problem
 * had no solution, with impulses of 1e13 times the momentum. There is no rebound, and the stop takes the momentum. */
static void stops_that_are_closer_than_a_step_do_not_rebound(void **state)
{
    (void)state;
    static const char *const presets[] = {"default", "exact", "real-time"};
    for (int p = 0; p < 3; p++) {
        Run run;
        char text[600];
        snprintf(
            text, sizeof text,
            "{\"simulation\": {\"preset\": \"%s\", \"h\": 0.001, \"end\": 0.02, \"gravity\": [0, 0, 0]}, \"bodies\": "
            "[{\"name\": \"b\", \"mass\": 2, \"inertia\": 1, \"velocity\": [0.3, 0, 0]}], \"joints\": [{\"type\": "
            "\"prismatic\", \"b\": \"b\", \"point\": [0, 0, 0], \"axis\": [1, 0, 0], \"lower\": 0, \"upper\": 1e-9, "
            "\"restitution\": 0.5}]}",
            presets[p]);
        run_parse(&run, text);
        double impulse = 0;
        while (!run_finished(&run)) {
            st_JointReport r;
            run_step(&run);
            assert_int_equal(st_system_joint(run.sys, (st_JointId){1}, ST_FRAME_WORLD, &r), ST_OK);
            impulse += r.impulse.x;
            check_below(run.info.solve.residual.natural, 1e-6);
            check_below(fabs(run_position(&run, "b").x), 1e-8);
        }
        check_close(impulse, -0.6, 1e-6);
        run_close(&run);

        /* A small one that a spring holds at its lower stop: the impulses grew to 4.6e3 N s, with a residual of 0.03
         * relative to them, and took 540 J from 1.7e-8 J. */
        snprintf(
            text, sizeof text,
            "{\"simulation\": {\"preset\": \"%s\", \"h\": 9.73e-5, \"end\": 0.005}, \"bodies\": [{\"name\": \"b\", "
            "\"mass\": 5e-7, \"inertia\": 1e-12, \"velocity\": [0.156, 0, 0.208]}], \"joints\": [{\"type\": "
            "\"prismatic\", \"b\": \"b\", \"point\": [0, 0, 0], \"axis\": [0.6, 0, 0.8], \"lower\": 0, \"upper\": "
            "5e-12, "
            "\"restitution\": 0.07, \"stiffness\": 0.158, \"rest\": -5.47e-5}]}",
            presets[p]);
        run_parse(&run, text);
        const double energy = 0.5 * 5e-7 * 0.26 * 0.26;
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.solve.residual.natural, 1e-6);
        }
        check_close(run.info.impacts + run.info.scheme, -energy, 1e-3 * energy);
        run_close(&run);
    }
}

/* A box between two walls that are 1e-5 of its size wider, which it hits at 1.5 m/s with friction: a rebound from one
 * wall would pass the other one. The step problem had no solution, its residual was 0.04 and the box sank into both
 * walls, which pressed it with 1e6 N s in the next steps (2e5 J of 17 J). */
static void walls_that_are_closer_than_a_step_do_not_rebound(void **state)
{
    (void)state;
    static const char *const presets[] = {"default", "exact", "real-time"};
    for (int p = 0; p < 3; p++) {
        Run run;
        char text[1200];
        snprintf(
            text, sizeof text,
            "{\"simulation\": {\"preset\": \"%s\", \"h\": 0.0005, \"end\": 0.03, \"gravity\": [0, 0, 0]}, \"ground\": ["
            "{\"type\": \"plane\", \"position\": [-0.0500006, 0, 0], \"orientation\": {\"axis\": [0, 1, 0], \"angle\": "
            "1.5707963267948966}, \"friction\": 1, \"restitution\": 0.13},"
            "{\"type\": \"plane\", \"position\": [0.0500006, 0, 0], \"orientation\": {\"axis\": [0, 1, 0], \"angle\": "
            "-1.5707963267948966}, \"friction\": 1, \"restitution\": 0.13}], \"bodies\": [{\"name\": \"b\", \"mass\": "
            "7, "
            "\"inertia\": 0.0117, \"velocity\": [1.5, 0, 1.5], \"shapes\": [{\"type\": \"box\", \"size\": [0.1, 0.1, "
            "0.1], "
            "\"friction\": 1, \"restitution\": 0.13}]}]}",
            presets[p]);
        run_parse(&run, text);
        const double energy = 0.5 * 7 * 4.5;
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.penetration, 1e-6);
        }
        const double works[] = {run.info.impacts, run.info.friction, run.info.correction, run.info.scheme,
                                run.info.unexplained};
        for (int k = 0; k < 5; k++)
            check_below(fabs(works[k]), 1.01 * energy);
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apexes),
        cmocka_unit_test(apexes_at_any_scale),
        cmocka_unit_test(stack_comes_to_rest),
        cmocka_unit_test(sliding_bounce),
        cmocka_unit_test(boxes_land),
        cmocka_unit_test(chain),
        cmocka_unit_test(rests_on_the_floor),
        cmocka_unit_test(stops_that_are_closer_than_a_step_do_not_rebound),
        cmocka_unit_test(walls_that_are_closer_than_a_step_do_not_rebound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
