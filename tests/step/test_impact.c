/* Impacts: Poisson's and Newton's laws, simultaneous ones, through joints, with friction; and restitution at a
 * fixed step. Closed forms throughout. */
#include "step/scene_run.h"

static void parse(Run *run, const char *text)
{
    memset(run, 0, sizeof *run);
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run->scene, &run->def, &run->err), run->err);
}

static void start(Run *run, st_Impact impact)
{
    run->def.impact = impact;
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

/* Three equal balls, two of them touching, e = 1: both laws give (-1/3, 2/3, 2/3) (VALIDATION V35). */
static void cradle(void **state)
{
    (void)state;
    const st_Impact laws[] = {ST_IMPACT_POISSON, ST_IMPACT_NEWTON};
    for (int k = 0; k < 2; k++) {
        Run run;
        parse(&run, "{\"simulation\": {\"preset\": \"accurate\", \"h\": 0.01, \"end\": 0.5, \"gravity\": [0, 0, 0]},"
                    " \"bodies\": ["
                    " {\"name\": \"a\", \"mass\": 1, \"position\": [-0.3, 0, 0], \"velocity\": [1, 0, 0],"
                    "  \"locks\": [\"y\", \"z\", \"rotation\"], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, "
                    "\"restitution\": 1}]},"
                    " {\"name\": \"b\", \"mass\": 1, \"position\": [0, 0, 0],"
                    "  \"locks\": [\"y\", \"z\", \"rotation\"], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, "
                    "\"restitution\": 1}]},"
                    " {\"name\": \"c\", \"mass\": 1, \"position\": [0.2, 0, 0],"
                    "  \"locks\": [\"y\", \"z\", \"rotation\"], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, "
                    "\"restitution\": 1}]}]}");
        start(&run, laws[k]);
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.impact_gain, 1e-15);
        }
        check_close(run_velocity(&run, "a").x, -1.0 / 3, 1e-12); /* solver's tolerance */
        check_close(run_velocity(&run, "b").x, 2.0 / 3, 1e-12);
        check_close(run_velocity(&run, "c").x, 2.0 / 3, 1e-12);
        run_close(&run);
    }
}

static const char ball[] = "{\"simulation\": {\"preset\": \"accurate\", \"h\": 0.01, \"end\": 1.2},"
                           " \"ground\": [{\"type\": \"plane\", \"friction\": 0, \"restitution\": 0.8}],"
                           " \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, 1.1],"
                           "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"friction\": 0}]}]}";

/* A ball dropped from 1 m, e = 0.8: its position at 1.2 s, by parabolas. Every scheme of order two is exact on them,
 * up to the solver's tolerance. */
static void bouncing_ball(void **state)
{
    (void)state;
    double fall = sqrt(2 / 9.81), v = 0.8 * 9.81 * fall, t = 1.2 - fall; /* second bounce at fall + 2v/g = 1.174 */
    t -= 2 * v / 9.81, v *= 0.8;
    assert_true(t > 0 && t < 2 * v / 9.81);
    double z = 0.1 + v * t - 9.81 * t * t / 2;
    for (int i = ST_INTEGRATOR_TRAPEZOID; i <= ST_INTEGRATOR_BDF2; i++)
        for (int law = ST_IMPACT_POISSON; law <= ST_IMPACT_NEWTON; law++) {
            Run run;
            parse(&run, ball);
            run.def.integrator = (st_Integrator)i;
            start(&run, (st_Impact)law);
            int bounces = 0;
            while (!run_finished(&run)) {
                run_step(&run);
                bounces += run.info.collisions;
            }
            assert_int_equal(bounces, 2);
            check_close(run_position(&run, "ball").z, z, 1e-10);
            run_close(&run);
        }
}

/* At a fixed step the rebound is Newton's, at the step in which the gap closes: the bounce height is e^2 to O(h),
 * and an inelastic impact that is not located never gains energy (docs/methods.md 6). */
static void fixed_step(void **state)
{
    (void)state;
    for (int i = ST_INTEGRATOR_EULER; i <= ST_INTEGRATOR_BDF2; i++)
        for (int law = ST_IMPACT_INELASTIC; law <= ST_IMPACT_NEWTON; law++)
            for (int drift = ST_DRIFT_VELOCITY; drift <= ST_DRIFT_GAP; drift++)
                for (int k = 0; k < 5; k++) { /* the impact at another part of the step each time */
                    Run run;
                    parse(&run, ball);
                    run.def.integrator = (st_Integrator)i;
                    run.def.events = ST_EVENTS_OFF;
                    run.def.drift = (st_Drift)drift;
                    run.def.h = 0.01 + 0.0013 * k;
                    run.def.end = 0.8;
                    start(&run, (st_Impact)law);
                    double top = 0, energy = 1.1 * 9.81;
                    while (!run_finished(&run)) {
                        run_step(&run);
                        /* explicit position updates gain m g^2 h^2/2 at most in a step of free fall */
                        check_below(run.info.kinetic + run.info.potential,
                                    energy + 9.81 * 9.81 * run.def.h * run.def.h / 2);
                        if (run.info.time > 0.5) top = fmax(top, run_position(&run, "ball").z);
                    }
                    bool rebounds = law != ST_IMPACT_INELASTIC && drift == ST_DRIFT_GAP;
                    if (rebounds) check_close(top, 0.1 + 0.64, 0.15); /* h v = 5 % of the height, twice */
                    if (law == ST_IMPACT_INELASTIC) check_below(top, 0.1 + 1e-6);
                    run_close(&run);
                }
}

static const char lively[] = "{\"simulation\": {},"
                             " \"ground\": [{\"type\": \"plane\", \"friction\": 0, \"restitution\": 1}],"
                             " \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, 1.1],"
                             "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"friction\": 0}]}]}";

/* A ball with e = 1 that falls from 1 m, at a fixed step, for a hundred bounces (euler.c). Schemes of order one keep
 * E - (h/2) m g v, so that E differs by (h/2) m g s at most, s the speed at the floor; those of order two never gain
 * more than the error of the solver. No more than one step's m g h s is lost where gravity alone closes
 * the gap within a step, which happens to one bounce in s/(g h) or so, and m g^2 h^2/2 in every other. */
static void bounces_for_ever(void **state)
{
    (void)state;
    const double g = 9.81, h = 5e-3, energy = 1.1 * g, s = sqrt(2 * g), end = 90, bounces = end * g / (2 * s);
    for (int i = ST_INTEGRATOR_EULER; i <= ST_INTEGRATOR_BDF2; i++)
        for (int form = ST_FORM_I; form <= ST_FORM_II; form++) {
            if (form == ST_FORM_II && i != ST_INTEGRATOR_TRAPEZOID) continue;
            Run run;
            parse(&run, lively);
            run.def.integrator = (st_Integrator)i, run.def.form = (st_Form)form;
            run.def.events = ST_EVENTS_OFF, run.def.drift = ST_DRIFT_GAP;
            run.def.h = h, run.def.end = end;
            start(&run, ST_IMPACT_NEWTON);
            const double most = i <= ST_INTEGRATOR_IMPLICIT ? 0.51 * h * g * s : 1e-7;
            const double lost = bounces * (g * g * h * h / 2 + g * h / s * g * h * s);
            while (!run_finished(&run)) {
                run_step(&run);
                check_below(run.info.kinetic + run.info.potential, energy + most);
            }
            check_below(energy - lost - most, run.info.kinetic + run.info.potential);
            run_close(&run);
        }
}

/* Impacts slower than restitution_speed have no rebound. */
static void slow_impacts(void **state)
{
    (void)state;
    for (int law = ST_IMPACT_POISSON; law <= ST_IMPACT_NEWTON; law++) {
        Run run;
        parse(&run, ball);
        run.def.restitution_speed = 4; /* the first impact is at 4.43, the second at 3.54 */
        start(&run, (st_Impact)law);
        int bounces = 0;
        while (!run_finished(&run)) {
            run_step(&run);
            bounces += run.info.collisions;
        }
        assert_int_equal(bounces, 2);
        check_close(run_position(&run, "ball").z, 0.1, 1e-10);
        check_close(run_velocity(&run, "ball").z, 0, 1e-10);
        run_close(&run);
    }
}

/* A rod of mass m and length L, turning at w, hits an end on a stop with e: through no joint the impulse is
 * (1+e) v_end / (1/m + (L/2)^2/J) = (1+e) v_end m/4; hinged at the other end, J_hinge w+ = -e J_hinge w. */
static void through_a_joint(void **state)
{
    (void)state;
    for (int law = ST_IMPACT_POISSON; law <= ST_IMPACT_NEWTON; law++) {
        Run run;
        parse(
            &run,
            "{\"simulation\": {\"preset\": \"accurate\", \"h\": 0.01, \"end\": 0.3, \"gravity\": [0, 0, 0]},"
            " \"ground\": [{\"type\": \"plane\", \"normal\": [0, 1, 0], \"position\": [0, -0.1, 0], \"friction\": 0, "
            "\"restitution\": 0.5}],"
            " \"bodies\": [{\"name\": \"rod\", \"mass\": 3, \"inertia\": [0.1, 0.25, 0.25], \"position\": [0.5, 0, 0],"
            "   \"velocity\": [0, -0.5, 0], \"angular_velocity\": [0, 0, -1], \"locks\": [\"z\", \"rx\", \"ry\"],"
            "   \"shapes\": [{\"type\": \"point\", \"position\": [0.5, 0, 0], \"friction\": 0}]}],"
            " \"joints\": [{\"type\": \"revolute\", \"b\": \"rod\", \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}]}");
        start(&run, (st_Impact)law);
        while (!run_finished(&run))
            run_step(&run);
        st_Vec3 spin;
        st_system_velocity(run.sys, st_scene_find_body(run.scene, "rod"), NULL, &spin);
        check_close(spin.z, 0.5, 1e-4); /* a turning rod on order two: the hinge's centripetal error h^2 */
        check_below(run.info.joint_error, 1e-5);
        run_close(&run);
    }
}

/* Newton's law with friction can add energy (Kane's pendulum problem), and so can Poisson's where the restituted
 * impulse carries no friction: a rod that lands askew on a rough floor. The gain is reported and is the true one
 * (energy `report`), or restitution is scaled down to where there is none. */
static void rods_land(st_Energy energy, st_Impact law, double *worst, int *limited)
{
    for (int k = 1; k < 12; k++) {
        Run run;
        char text[900];
        double angle = 0.1 * k;
        snprintf(text, sizeof text,
                 "{\"simulation\": {\"preset\": \"accurate\", \"law\": \"pyramid\", \"h\": 0.01, \"end\": 0.2, "
                 "\"gravity\": [0, 0, 0]},"
                 " \"ground\": [{\"type\": \"plane\", \"normal\": [0, 1, 0], \"friction\": 1.5, \"restitution\": 1}],"
                 " \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": [0.01, 0.0833333, 0.0833333], "
                 "\"position\": [0, %.17g, 0],"
                 "   \"velocity\": [%g, -1, 0], \"locks\": [\"z\", \"rx\", \"ry\"],"
                 "   \"shapes\": [{\"type\": \"point\", \"position\": [%.17g, %.17g, 0], \"friction\": 1.5}]}]}",
                 0.1 + 0.5 * sin(angle), k % 2 == 0 ? 0.3 : -0.3, -0.5 * cos(angle), -0.5 * sin(angle));
        parse(&run, text);
        run.def.energy = energy;
        start(&run, law);
        double before = 0.5 * (0.09 + 1), gain = 0;
        int scaled = 0;
        while (!run_finished(&run)) {
            run_step(&run);
            gain += run.info.impact_gain;
            scaled += run.info.rebounds_limited;
        }
        check_close(gain, fmax(0, run.info.kinetic - before), 1e-9);
        /* the largest factor without a gain, to 2^-6: its loss is of that size */
        if (scaled > 0) check_below(0.9 * before, run.info.kinetic);
        *worst = fmax(*worst, gain);
        *limited += scaled;
        run_close(&run);
    }
}

static void gain_is_reported(void **state)
{
    (void)state;
    for (int law = ST_IMPACT_POISSON; law <= ST_IMPACT_POISSON_FRICTION; law++) {
        double gain = 0, none = 0;
        int untouched = 0, limited = 0;
        rods_land(ST_ENERGY_REPORT, (st_Impact)law, &gain, &untouched);
        rods_land(ST_ENERGY_LIMIT, (st_Impact)law, &none, &limited);
        assert_int_equal(untouched, 0);
        check_below(none, 1e-9);
        /* Poisson's law adds none where all of the impulse carries friction: one contact, and it sticks or slides */
        const bool gains = law != ST_IMPACT_POISSON_FRICTION;
        if (gains) check_below(0.01, gain); /* it does happen among these */
        if (!gains) check_below(gain, 1e-9);
        assert_int_equal(limited > 0, gains);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cradle),           cmocka_unit_test(bouncing_ball), cmocka_unit_test(fixed_step),
        cmocka_unit_test(bounces_for_ever), cmocka_unit_test(slow_impacts),  cmocka_unit_test(through_a_joint),
        cmocka_unit_test(gain_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
