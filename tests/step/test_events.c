/* Events: collisions that accumulate, take-off, stick and slip, facets, joint friction; events that never end;
 * initial states that contradict themselves. */
#include "step/scene_run.h"

#include <stiction/stiction.h>

/* ---- accumulating collisions (VALIDATION V7) --------------------------------------------------- */

static void zeno_ball(void **state)
{
    (void)state;
    const char *restitution[] = {"ground/floor/restitution=0.5", "ground/floor/restitution=0.8",
                                 "ground/floor/restitution=0.9"};
    const double e[] = {0.5, 0.8, 0.9};
    const char *slowest[] = {"simulation/restitution_speed=1e-6", "simulation/restitution_speed=0"};
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++) {
            Run run;
            double end = sqrt(2 / 9.81) * (1 + e[k]) / (1 - e[k]), last = 0, path = 0, before = 0;
            bool accumulated = false;
            run_open(&run, "examples/accuracy/zeno-ball.json", restitution[k], slowest[s], "simulation/end=10", NULL);
            while (!run_finished(&run)) {
                run_step(&run);
                accumulated = accumulated || run.info.accumulated;
                for (int i = 0; i < st_system_event_count(run.sys); i++) {
                    st_EventReport event;
                    assert_int_equal(st_system_event(run.sys, i, &event), ST_OK);
                    last = event.time;
                    path += before * before / 9.81 + (before == 0 ? 1 : 0); /* up and down, or the first fall */
                    before = event.after;
                    if (event.after > 1e-6) check_close(event.after, -e[k] * event.before, 1e-9);
                }
            }
            /* the rest of the series after the last bounce: 2 v/g /(1-e), v <= 1e-6 or beyond event 100 */
            check_close(last, end, 1e-5);
            check_close(path, 1 + 2 * e[k] * e[k] / (1 - e[k] * e[k]), 1e-6);
            assert_int_equal(accumulated, s == 1);
            check_close(run_position(&run, "ball").z, 0.1, 1e-9);
            check_below(run.info.kinetic, 1e-20);
            run_close(&run);
        }
}

/* Three bounces in one step: max_events of 3 is not passed, one of 2 is. A ball 0.1 m up with e = 1/2 hits at
 * t1 = sqrt(2 0.1/g), 2 t1 and 2.5 t1, and next at 2.75 t1.                                       */
static void max_events_is_how_many(void **state)
{
    (void)state;
    const double t1 = sqrt(0.2 / 9.81);
    for (int most = 1; most <= 4; most++) {
        Run run;
        run_open(&run, "examples/accuracy/zeno-ball.json", "ground/floor/restitution=0.5",
                 "simulation/restitution_speed=0", "bodies/ball/position=[0,0,0.2]", NULL);
        st_system_destroy(run.sys);
        run.def.max_events = most;
        check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
        run.info = st_step_info();
        check_ok(st_system_step(run.sys, 2.6 * t1, &run.info, &run.err), run.err);
        assert_int_equal(run.info.accumulated, most < 3);
        assert_int_equal(st_system_event_count(run.sys), most < 3 ? most + 1 : 3);
        run_close(&run);
    }
}

/* ---- transitions -------------------------------------------------------------------------------- */

/* The block of Potra et al. sticks at 0.338608184672 and slips again at 2.9463467912. */
static void stick_and_slip(void **state)
{
    (void)state;
    const char *integrators[] = {"simulation/integrator=sdirk2", "simulation/integrator=bdf2",
                                 "simulation/integrator=trapezoid"};
    for (int i = 0; i < 3; i++)
        for (int k = 6; k <= 8; k++) {
            Run run;
            char h[64];
            int n = 0;
            run_open(&run, "examples/potra-2006/sliding-block.json", integrators[i], run_halving(h, sizeof h, k),
                     "simulation/form=II", "simulation/end=3", NULL);
            while (!run_finished(&run)) {
                run_step(&run);
                for (int j = 0; j < st_system_event_count(run.sys); j++, n++) {
                    st_EventReport event;
                    assert_int_equal(st_system_event(run.sys, j, &event), ST_OK);
                    assert_int_equal(event.kind, n == 0 ? ST_EVENT_STICK : ST_EVENT_SLIP);
                    /* O(h^2): the speed is off by h^2/12 times its second derivative over the slope 0.3, some
                     * h^2; bdf2 four times that. The slip is found by forces, at a mean or end of the step: h/2 */
                    if (n == 0) check_close(event.time, 0.338608184672, 8 * run.def.h * run.def.h);
                    if (n == 1) check_close(event.time, 2.9463467912, 0.5 * run.def.h);
                }
            }
            assert_int_equal(n, 2);
            run_close(&run);
        }
}

/* A ball slides off a smooth fixed sphere: it leaves at cos theta = 2/3 (VALIDATION V11). */
static void leaving_a_sphere(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        Run run = {0};
        static const char text[] =
            "{\"simulation\": {\"preset\": \"accurate\", \"h\": 0.01, \"end\": 2, \"margin\": 0.1},"
            " \"ground\": [{\"type\": \"sphere\", \"radius\": 0.9, \"friction\": 0}],"
            " \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"position\": [0, 0, 1], \"velocity\": [0.1, 0, 0],"
            "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"friction\": 0}]}]}";
        check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run.scene, &run.def, &run.err), run.err);
        run.def.h = k == 0 ? 0.01 : 0.0025;
        check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
        bool left = false;
        while (!left && !run_finished(&run)) {
            run_step(&run);
            for (int j = 0; j < st_system_event_count(run.sys); j++) {
                st_EventReport event;
                assert_int_equal(st_system_event(run.sys, j, &event), ST_OK);
                left = event.kind == ST_EVENT_TAKEOFF;
                /* v0^2 = 2 g R (1 - c) + ...: with a push of 0.1 m/s, 3 c = 2 + v0^2/(g R); error O(h) of r_n at the
                 * end of the step against the middle, times the slope of c */
                if (left) check_close(event.normal.z, (2 + 0.01 / 9.81) / 3, 4 * run.def.h);
            }
        }
        assert_true(left);
        run_close(&run);
    }
}

/* Friction in a joint: a wheel on a hinge with a constant friction torque stops at J w/T, exactly located. */
static void joint_friction_stops(void **state)
{
    (void)state;
    Run run = {0};
    static const char text[] =
        "{\"simulation\": {\"preset\": \"accurate\", \"h\": 0.01, \"end\": 1},"
        " \"bodies\": [{\"name\": \"wheel\", \"mass\": 1, \"inertia\": [1, 1, 2], \"angular_velocity\": [0, 0, 1.5]}],"
        " \"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"b\": \"wheel\", \"point\": [0, 0, 0],"
        "   \"axis\": [0, 0, 1], \"friction\": 4.1}]}";
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run.scene, &run.def, &run.err), run.err);
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    int stops = 0;
    while (!run_finished(&run)) {
        run_step(&run);
        for (int j = 0; j < st_system_event_count(run.sys); j++, stops++) {
            st_EventReport event;
            assert_int_equal(st_system_event(run.sys, j, &event), ST_OK);
            assert_int_equal(event.kind, ST_EVENT_STICK);
            check_close(event.time, 2 * 1.5 / 4.1, 1e-9); /* linear in time: exact but for the solver */
        }
    }
    assert_int_equal(stops, 1);
    check_below(run.info.kinetic, 1e-18);
    run_close(&run);
}

/* Law pyramid in space: a point pushed sideways turns from facet to facet. With every change located the scheme
 * keeps its order; the events are seen. */
static double turning_point(double h, st_Vec3 *end, int *facets)
{
    Run run = {0};
    static const char text[] =
        "{\"simulation\": {\"preset\": \"accurate\", \"law\": \"pyramid\", \"facets\": 6, \"h\": 0.01, \"end\": 0.5},"
        " \"ground\": [{\"type\": \"plane\", \"friction\": 0.3}],"
        " \"bodies\": [{\"name\": \"point\", \"mass\": 1, \"position\": [0, 0, 0], \"velocity\": [2, 0.1, 0],"
        "  \"locks\": [\"rotation\"], \"shapes\": [{\"type\": \"point\", \"friction\": 0.3}]}],"
        " \"forces\": [{\"body\": \"point\", \"force\": [0, 6, 0]}]}";
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run.scene, &run.def, &run.err), run.err);
    run.def.h = h;
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    *facets = 0;
    while (!run_finished(&run)) {
        run_step(&run);
        for (int j = 0; j < st_system_event_count(run.sys); j++) {
            st_EventReport event;
            assert_int_equal(st_system_event(run.sys, j, &event), ST_OK);
            *facets += event.kind == ST_EVENT_FACET;
        }
    }
    *end = run_position(&run, "point");
    run_close(&run);
    return end->x;
}

static void facets_are_located(void **state)
{
    (void)state;
    st_Vec3 coarse, fine;
    int n;
    turning_point(1.0 / 32, &coarse, &n);
    assert_true(n >= 1);
    turning_point(1.0 / 512, &fine, &n);
    assert_true(n >= 1);
    /* between changes forces are constant, on which the scheme is exact: all that is left is their location */
    check_close(coarse.x, fine.x, 1e-9);
    check_close(coarse.y, fine.y, 1e-9);
}

/* A pyramid of two facets holds along one line only, and slips across it: a body that slides along the line with v
 * stops at v/(mu g), and a push F along it that grows as c t makes it slip at mu m g/c. */
static void two_facets_stick_and_slip(void **state)
{
    (void)state;
    static const char text[] =
        "{\"simulation\": {\"preset\": \"accurate\", \"law\": \"pyramid\", \"facets\": 2, \"h\": 0.01, \"end\": 1.2},"
        " \"ground\": [{\"type\": \"plane\", \"friction\": 0.3}],"
        " \"bodies\": [{\"name\": \"point\", \"mass\": 1, \"position\": [0, 0, 0], \"velocity\": [1, 1, 0],"
        "  \"locks\": [\"rotation\"], \"shapes\": [{\"type\": \"point\", \"friction\": 0.3}]}]}";
    Run run = {0};
    int n = 0;
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run.scene, &run.def, &run.err), run.err);
    st_ForceDef force = st_force_def();
    const double times[2] = {0.5, 1.5}, values[2] = {0, 1}, pull = 5;
    force.body = st_scene_find_body(run.scene, "point");
    force.force = (st_Vec3){pull, pull, 0}; /* along the line, whichever axis it is, and across it */
    force.profile = (st_Profile){.type = ST_PROFILE_TABLE, .n_table = 2, .times = times, .values = values};
    check_ok(st_scene_add_force(run.scene, &force, NULL, &run.err), run.err);
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    while (!run_finished(&run)) {
        run_step(&run);
        for (int j = 0; j < st_system_event_count(run.sys); j++, n++) {
            st_EventReport event;
            assert_int_equal(st_system_event(run.sys, j, &event), ST_OK);
            assert_int_equal(event.kind, n == 0 ? ST_EVENT_STICK : ST_EVENT_SLIP);
            if (n == 0) check_close(event.time, 1 / (0.3 * 9.81), 1e-9); /* forces are constant: exact */
            /* found by forces, which are means over a step or taken at its end: h/2 */
            if (n == 1) check_close(event.time, 0.5 + 0.3 * 9.81 / pull, 0.5 * run.def.h);
        }
    }
    assert_int_equal(n, 2);
    run_close(&run);
}

/* ---- events that never end ---------------------------------------------------------------------- */

static st_Status one(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    M[0] = 1;
    return ST_OK;
}

static st_Status pull(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)v, (void)err;
    k[0] = -1;
    return ST_OK;
}

/* A contact that changes at every evaluation: holding it does not help. */
static st_Status forgetful(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    uint64_t *count = ctx;
    (void)t;
    st_ContactRow row = {.id = ++*count,
                         .gap = q[0],
                         .dim = 1,
                         .count = 1,
                         .index = (const int[]){0},
                         .gradient = (const double[]){1e-3}};
    return row.gap < margin ? st_push_contact(sink, &row, err) : ST_OK;
}

static void endless_events(void **state)
{
    (void)state;
    for (int i = ST_INTEGRATOR_TRAPEZOID; i <= ST_INTEGRATOR_BDF2; i++) {
        uint64_t count = 0;
        st_Error err = {0};
        st_System *sys;
        st_SystemDef def = st_system_def();
        check_ok(st_preset_apply(&def, "accurate", &err), err);
        def.integrator = (st_Integrator)i, def.drift = ST_DRIFT_VELOCITY, def.max_events = 20;
        st_Model model = st_model_def();
        model.n_q = model.n_v = 1, model.ctx = &count, model.mass = one, model.force = pull, model.contacts = forgetful;
        check_ok(st_system_create_model(&model, (const double[]){0.1}, (const double[]){-1}, &def, &sys, &err), err);
        st_Status status = ST_OK;
        uint64_t before = 0;
        for (int k = 0; k < 2000 && status == ST_OK; k++) {
            before = st_system_hash(sys);
            status = st_system_step(sys, 0.01, NULL, &err);
        }
        assert_int_equal(status, ST_ERR_EVENTS);
        assert_non_null(strstr(err.message, "stuck at t = "));
        assert_non_null(strstr(err.message, "contact"));
        assert_true(st_system_hash(sys) == before); /* the computed state is kept */
        st_system_destroy(sys);
    }
}

/* ---- initial states ----------------------------------------------------------------------------- */

static const char crooked[] = "{\"simulation\": {\"preset\": \"accurate\", \"h\": 0.01, \"end\": 0.1},"
                              " \"ground\": [{\"type\": \"plane\"}],"
                              " \"bodies\": [{\"name\": \"low\", \"mass\": 1, \"position\": [0, 0, 0.05],"
                              "   \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]},"
                              "  {\"name\": \"bob\", \"mass\": 1, \"position\": [2.1, 0, 1], \"velocity\": [1, 0, 1], "
                              "\"locks\": [\"rotation\"]}],"
                              " \"joints\": [{\"name\": \"rod\", \"type\": \"distance\", \"b\": \"bob\", \"point\": "
                              "[0, 0, 1], \"point_b\": [2.1, 0, 1],"
                              "   \"length\": %s}]}";

static void parse_crooked(Run *run, const char *length)
{
    char text[sizeof crooked + 16];
    memset(run, 0, sizeof *run);
    snprintf(text, sizeof text, crooked, length);
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run->scene, &run->def, &run->err), run->err);
}

static void crooked_start(void **state)
{
    (void)state;
    Run run;
    double position, velocity;
    parse_crooked(&run, "2");
    for (int k = ST_INITIAL_KEEP; k <= ST_INITIAL_REFUSE; k += 2) { /* a wrong length is never kept */
        run.def.initial = (st_Initial)k;
        assert_int_equal(st_system_create(run.scene, &run.def, &run.sys, &run.err), ST_ERR_ARGUMENT);
        assert_null(run.sys);
        assert_non_null(strstr(run.err.message, "joint \"rod\": length is 2, but point and point_b are 2.1 apart"));
    }

    run.def.initial = ST_INITIAL_PROJECT;
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    st_system_initial_change(run.sys, &position, &velocity);
    check_close(position, 0.1, 1e-9); /* the bob, back to 2 m from the pivot */
    check_close(velocity, 1, 1e-9);   /* along the rod: gone; across it: kept */
    check_close(run_position(&run, "low").z, 0.1, 1e-9);
    check_close(run_velocity(&run, "bob").x, 0, 1e-9);
    check_close(run_velocity(&run, "bob").z, 1, 1e-9);
    run_close(&run);
}

/* Overlaps and velocities: kept by default, refused by name. */
static void overlapping_start(void **state)
{
    (void)state;
    Run run;
    double position, velocity;
    parse_crooked(&run, "2.1");
    check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
    st_system_initial_change(run.sys, &position, &velocity);
    assert_true(position == 0 && velocity == 0);
    st_system_destroy(run.sys);

    run.def.initial = ST_INITIAL_REFUSE;
    assert_int_equal(st_system_create(run.scene, &run.def, &run.sys, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "opening at 1, overlap is 0.05 m of bodies \"ground\" and \"low\""));
    run_close(&run);
}

/* A rotor turns by 0.3, 4, 9 and 25 rad per step while a ball bounces beside it. The path to a collision took the
 * shorter rotation from q to q_new, and its velocity there for all bodies: the rotor turned at -4046 rad/s in place of
 * 4000 after the first bounce. The history of bdf2 took it in every step. */
static void collisions_do_not_unwind_rotors(void **state)
{
    (void)state;
    static const char *const integrators[] = {"trapezoid", "sdirk2", "bdf2"}, *const presets[] = {"accurate",
                                                                                                  "potra-2006"};
    static const double spins[] = {300, 4000, -9000, 25000};
    for (int k = 0; k < 24; k++) {
        Run run;
        char text[1200];
        const double spin = spins[k % 4];
        snprintf(
            text, sizeof text,
            "{\"simulation\": {\"preset\": \"%s\", \"integrator\": \"%s\", \"h\": 0.001, \"end\": 0.1}, \"ground\": "
            "[{\"type\": \"plane\", \"restitution\": 0.5}], \"bodies\": [{\"position\": [0, 0, 0.2], \"velocity\": [0, "
            "0, -3], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"restitution\": 0.5, \"density\": 1000}]}, "
            "{\"name\": \"rotor\", \"position\": [3, 0, 1], \"mass\": 1, \"inertia\": [0.01, 0.01, 0.02], "
            "\"angular_velocity\": [0, 0, %g]}], \"joints\": [{\"type\": \"revolute\", \"b\": \"rotor\", \"point\": "
            "[3, 0, 1], \"axis\": [0, 0, 1]}]}",
            presets[k / 4 % 2], integrators[k / 8], spin);
        run_parse(&run, text);
        int collisions = 0;
        while (!run_finished(&run)) {
            st_Vec3 v, w;
            run_step(&run);
            collisions += run.info.collisions;
            assert_int_equal(st_system_velocity(run.sys, st_scene_find_body(run.scene, "rotor"), &v, &w), ST_OK);
            check_close(w.z, spin, 1e-9 * fabs(spin));
        }
        assert_true(collisions > 0);
        st_JointReport joint;
        assert_int_equal(st_system_joint(run.sys, (st_JointId){1}, ST_FRAME_WORLD, &joint), ST_OK);
        check_close(joint.coordinate, 0.1 * spin, 1e-9 * fabs(spin));
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeno_ball),
        cmocka_unit_test(max_events_is_how_many),
        cmocka_unit_test(two_facets_stick_and_slip),
        cmocka_unit_test(stick_and_slip),
        cmocka_unit_test(leaving_a_sphere),
        cmocka_unit_test(endless_events),
        cmocka_unit_test(crooked_start),
        cmocka_unit_test(joint_friction_stops),
        cmocka_unit_test(facets_are_located),
        cmocka_unit_test(collisions_do_not_unwind_rotors),
        cmocka_unit_test(overlapping_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
