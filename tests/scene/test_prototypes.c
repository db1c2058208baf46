/* The scenes after section 10.4 of Potra et al. 2006 (examples/potra-2006): the known result of each. */
#include "step/scene_run.h"

/* ---- the pawl -------------------------------------------------------------------------------------- */

static double coordinate(const Run *run, const char *joint)
{
    st_JointReport report;
    st_JointId id = st_scene_find_joint(run->scene, joint);
    assert_int_equal(st_system_joint(run->sys, id, ST_FRAME_WORLD, &report), ST_OK);
    return report.coordinate;
}

/* The pusher takes it 1.48 mm into the hole, the hook is lifted from y = 0.16 mm to the pawl's side at 0.3 mm, about a
 * pivot 0.6 mm before it, drops into the notch, and holds the pawl against 0.2 mN. */
static void hook_holds_the_pawl(void **state)
{
    (void)state;
    Run run;
    run_open(&run, "examples/potra-2006/pawl.json", NULL);
    const double start = run_position(&run, "pawl").x;
    double lifted = 0, seated = 0;
    bool hooked = false;
    while (!run_finished(&run)) {
        run_step(&run);
        const double t = st_system_time(run.sys);
        lifted = fmax(lifted, coordinate(&run, "pivot"));
        if (t < 0.4) seated = fmax(seated, run_position(&run, "pawl").x - start);
        if (t > 0.3) hooked = hooked || coordinate(&run, "pivot") < 1e-6;
    }
    /* the lever turns until the lower left end of its hook, at (0.54, -0.39) mm from the pivot, is 0.14 mm higher, less
     * the 0.01 mm by which the pawl gives way in its hole */
    const double from = atan2(0.54, 0.39), to = acos((0.39 - 0.13) / hypot(0.54, 0.39)) - from;
    check_close(lifted, to, 0.1 * to);
    check_close(seated, 1.48e-3, 0.01e-3);
    assert_true(hooked);
    /* pulled back to where the notch's end, 1.3 mm from the tail, is at the hook, 1.45 mm: for that long, and no longer
     */
    check_close(run_position(&run, "pawl").x - start, 1.35e-3, 0.02e-3);
    check_close(run_velocity(&run, "pawl").x, 0, 1e-9);
    check_close(coordinate(&run, "pivot"), 0, 1e-6);
    run_close(&run);
}

/* Steps of the start, with points chosen in this way: contacts of a step problem, and where the pawl gets. */
static double contacts_with(const char *drop, const char *all, double *x)
{
    Run run;
    run_open(&run, "examples/potra-2006/pawl.json", drop, all, "simulation/law=pyramid", "simulation/solver=lemke",
             NULL);
    double sum = 0;
    for (int k = 0; k < 20; k++) {
        run_step(&run);
        assert_true(run.info.solve.converged);
        sum += run.info.contacts;
    }
    *x = run_position(&run, "pawl").x;
    run_close(&run);
    return sum / 20;
}

/* By Lemke's method, as in the paper: a quarter of the contacts, and the same motion. */
static void redundant_contacts_are_dropped(void **state)
{
    (void)state;
    double x_all, x_needed;
    const double all = contacts_with("simulation/drop_redundant=false", "simulation/all_points=true", &x_all);
    const double needed = contacts_with("simulation/drop_redundant=true", "simulation/all_points=false", &x_needed);
    print_message("contacts a step: %.1f of all feature pairs, %.1f needed\n", all, needed);
    assert_true(all > 40);
    check_below(needed, all / 3);
    check_close(x_needed, x_all, 1e-9);
}

/* ---- the rover ------------------------------------------------------------------------------------- */

static const char *const wheels[] = {"front left", "front right", "rear left", "rear right"};

/* How far the chassis gets along its path, how far the wheels roll on average, and in which share of the steps a
 * wheel is off the ground. */
static void drive(double *path, double *rolled, double *off)
{
    Run run;
    run_open(&run, "examples/potra-2006/rover.json", "simulation/end=5", NULL);
    st_Vec3 last = run_position(&run, "chassis");
    double lost = 0, steps = 0;
    *path = *rolled = 0;
    while (!run_finished(&run)) {
        run_step(&run);
        const st_Vec3 now = run_position(&run, "chassis");
        if (st_system_time(run.sys) < 0.5) { /* it settles */
            last = now;
            continue;
        }
        *path += hypot(hypot(now.x - last.x, now.y - last.y), now.z - last.z);
        last = now;
        for (int k = 0; k < 4; k++) {
            st_Vec3 force, torque;
            assert_int_equal(
                st_system_contact_force(run.sys, st_scene_find_body(run.scene, wheels[k]), &force, &torque), ST_OK);
            lost += !(force.z > 0), steps++;
        }
    }
    for (int k = 0; k < 4; k++) {
        char hub[40];
        snprintf(hub, sizeof hub, "%s hub", wheels[k]);
        *rolled += 0.25 * 0.22 * coordinate(&run, hub);
    }
    *off = lost / steps;
    run_close(&run);
}

static void rover_rolls(void **state)
{
    (void)state;
    double path, rolled, off;
    drive(&path, &rolled, &off);
    print_message("path %.3f m, wheels rolled %.3f m, a wheel off the ground in %.1f %%\n", path, rolled, 100 * off);
    /* the motors reach 3 rad/s at t = 1 s: 3 (0.25 + 4) rad of a wheel of 0.22 m */
    check_close(rolled, 0.22 * 3 * 4.25, 0.01 * rolled);
    check_close(path, rolled, 0.1 * rolled); /* wheels follow the bumps, the chassis cuts them short */
    check_below(off, 0.05);
}

/* After the hollow the ground rises by 0.2 in 1. With its friction of 0.8 the rover climbs it; with 0.02, which has
 * a geometric mean of 0.13 with the wheels' 0.8, it does not. */
static void rover_needs_friction_uphill(void **state)
{
    (void)state;
    const char *const friction[] = {"ground/terrain/friction=0.8", "ground/terrain/friction=0.02"};
    if (getenv("ST_TEST_FULL") == NULL) skip();
    for (int k = 0; k < 2; k++) {
        Run run;
        run_open(&run, "examples/potra-2006/rover.json", friction[k], NULL);
        run_to_end(&run);
        const double x = run_position(&run, "chassis").x;
        assert_true(k == 0 ? x > 0.5 : x < 0);
        run_close(&run);
    }
}

/* ---- the jacks ------------------------------------------------------------------------------------- */

/* They come to rest, none deeper in another than a twentieth of a bar, some on others; energy does not rise. */
static void jacks_come_to_rest(void **state)
{
    (void)state;
    Run run;
    run_open(&run, "examples/potra-2006/jacks.json", NULL);
    double deepest = 0, kinetic, potential, highest = 0;
    check_ok(st_system_energy(run.sys, &kinetic, &potential, &run.err), run.err);
    const double start = kinetic + potential;
    double last = start;
    do { /* until they rest; the scene lasts 3 s */
        assert_false(run_finished(&run));
        run_step(&run);
        deepest = fmax(deepest, run.info.penetration);
        check_below(run.info.kinetic + run.info.potential, last + 1e-4 * start);
        last = run.info.kinetic + run.info.potential;
    } while (st_system_time(run.sys) < 0.6 || run.info.kinetic > 1e-9 * start);
    const int n = st_scene_body_count(run.scene);
    for (int b = 1; b <= n; b++) {
        st_Pose pose;
        st_Vec3 v, w;
        assert_int_equal(st_system_pose(run.sys, (st_BodyId){b}, &pose), ST_OK);
        assert_int_equal(st_system_velocity(run.sys, (st_BodyId){b}, &v, &w), ST_OK);
        check_close(hypot(hypot(v.x, v.y), v.z), 0, 1e-3);
        check_below(0.01, pose.p.z); /* no bar below the floor */
        highest = fmax(highest, pose.p.z);
    }
    print_message("at rest after %.3g s, deepest %.3g m, highest %.3g m\n", st_system_time(run.sys), deepest, highest);
    check_below(deepest, 1e-3);
    check_below(0.06, highest); /* one that lies on the floor has its middle 0.035 to 0.05 m above it */
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hook_holds_the_pawl), cmocka_unit_test(redundant_contacts_are_dropped),
        cmocka_unit_test(rover_rolls),         cmocka_unit_test(rover_needs_friction_uphill),
        cmocka_unit_test(jacks_come_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
