/* The example mechanisms against known answers: closed forms, published values, and motions in other coordinates,
 * integrated here, with steps of order one (the scenes' setting) and two. Errors are compared at h and h/2; each
 * tolerance is the error that was seen, rounded up. Joints hold to rounding (drift projection). */
#include "math/vec3.h"
#include "scene_check.h"

#define PI 3.14159265358979323846

typedef struct Run {
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
    double joint_error, energy_start, energy;
    int least_redundant, most_redundant;
    bool may_come_apart; /* joints then contradict each other, and the step reports that it is not solved */
    int unsolved;
} Run;

static const struct {
    st_Integrator integrator;
    int order;
} schemes[] = {{ST_INTEGRATOR_IMPLICIT, 1}, {ST_INTEGRATOR_SDIRK2, 2}, {ST_INTEGRATOR_BDF2, 2}};
#define N_SCHEMES 3

/* The sweep leaves out bdf2, and uses steps twice as long for the squeezer, unless ST_TEST_FULL is set. */
static bool full(void)
{
    return getenv("ST_TEST_FULL") != NULL;
}

static int n_schemes(void)
{
    return full() ? N_SCHEMES : 2;
}

static void open_run(Run *run, const char *name, st_Integrator integrator, double h)
{
    char path[200];
    st_Error err = {0};
    memset(run, 0, sizeof *run);
    run->least_redundant = 1000;
    snprintf(path, sizeof path, "examples/mechanisms/%s.json", name);
    check_ok(st_scene_read(path, NULL, 0, &run->scene, &run->def, &err), err);
    if (h > 0) run->def.h = h;
    run->def.integrator = integrator;
    check_ok(st_system_create(run->scene, &run->def, &run->system, &err), err);
    double kinetic, potential;
    check_ok(st_system_energy(run->system, &kinetic, &potential, &err), err);
    run->energy_start = run->energy = kinetic + potential;
}

static void run_to(Run *run, double end)
{
    st_Error err = {0};
    while (st_system_time(run->system) < end - 1e-9 * run->def.h) {
        double left = end - st_system_time(run->system);
        st_StepInfo info = st_step_info();
        check_ok(st_system_step(run->system, left < 1.5 * run->def.h ? left : run->def.h, &info, &err), err);
        if (!run->may_come_apart) assert_true(info.solve.converged);
        run->unsolved += !info.solve.converged;
        run->joint_error = fmax(run->joint_error, info.joint_error);
        run->energy = info.kinetic + info.potential;
        if (info.solve.redundant_rows < run->least_redundant) run->least_redundant = info.solve.redundant_rows;
        if (info.solve.redundant_rows > run->most_redundant) run->most_redundant = info.solve.redundant_rows;
    }
}

static void close_run(Run *run)
{
    st_system_destroy(run->system);
    st_scene_destroy(run->scene);
}

static st_JointReport joint(const Run *run, const char *name)
{
    st_JointReport out;
    assert_int_equal(st_system_joint(run->system, st_scene_find_joint(run->scene, name), ST_FRAME_WORLD, &out), ST_OK);
    return out;
}

static st_Vec3 position(const Run *run, const char *name)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(run->system, st_scene_find_body(run->scene, name), &pose), ST_OK);
    return pose.p;
}

/* Halving h makes the error 2^order times smaller, within a third of the exponent. */
static void check_order(const char *what, int scheme, const double error[2])
{
    const char *word = "?";
    st_SystemDef def = st_system_def();
    st_SettingValue value;
    def.integrator = schemes[scheme].integrator;
    if (st_setting_get(&def, "integrator", &value, NULL) == ST_OK) word = value.word;
    if (full()) print_message("%s, %s: %.3g, at half the step %.3g\n", what, word, error[0], error[1]);
    double order = log2(error[0] / error[1]), expected = schemes[scheme].order;
    if (!(fabs(order - expected) < expected / 3))
        fail_msg("%s, %s: errors %g and %g, order %g", what, word, error[0], error[1], order);
}

/* V25, at 1 s: (-0.986291751, -0.165010853). */
static void pendulum(void **state)
{
    (void)state;
    const double most[N_SCHEMES] = {5e-3, 1e-5, 1e-4};
    for (int scheme = 0; scheme < n_schemes(); scheme++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            Run run;
            open_run(&run, "pendulum", schemes[scheme].integrator, (scheme == 0 ? 1e-3 : 2e-3) / (1 << k));
            run_to(&run, 1.0);
            st_Vec3 p = position(&run, "mass");
            error[k] = hypot(p.x + 0.986291751, p.y + 0.165010853);
            check_below(run.joint_error, 1e-15);
            close_run(&run);
        }
        check_order("pendulum at 1 s [m]", scheme, error);
        check_below(error[0], most[scheme]);
    }
}

/* V27: the seven angles at 0.03 s, from the Bari test set; energy gained = torque times angle. */
static void andrews_squeezer(void **state)
{
    (void)state;
    static const struct {
        const char *joint;
        double start, end;
    } angle[] = {{"O", -0.0617138900142764496, 15.81077119629904}, {"crank", 0, -15.75637105984298},
                 {"B", 0.455279819163070380, 0.04082224013073101}, {"G", 0.222668390165885885, -0.5347301163226948},
                 {"A5", 0.487364979543842550, 0.5244099658805304}, {"H", -0.222668390165885885, 0.5347301163226948},
                 {"A7", 1.23054744454982119, 1.048080741042263}};
    const double longer = full() ? 1 : 2; /* for errors of 2 and 4 times the size */
    const double most[N_SCHEMES] = {0.5, 4e-4, 3e-3}, lost[N_SCHEMES] = {0.08, 2e-4, 2e-3};
    for (int scheme = 0; scheme < n_schemes(); scheme++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            Run run;
            open_run(&run, "andrews", schemes[scheme].integrator, longer * (scheme == 0 ? 1e-5 : 2e-5) / (1 << k));
            run_to(&run, 0.03);
            error[k] = 0;
            for (int i = 0; i < 7; i++)
                error[k] = fmax(error[k], fabs(angle[i].start + joint(&run, angle[i].joint).coordinate - angle[i].end));
            check_below(run.joint_error, 1e-14);
            double work = 0.033 * joint(&run, "O").coordinate;
            check_close(run.energy - run.energy_start, work, pow(longer, schemes[scheme].order) * lost[scheme] * work);
            close_run(&run);
        }
        check_order("squeezer at 0.03 s [rad]", scheme, error);
        check_below(error[0], pow(longer, schemes[scheme].order) * most[scheme]);
    }
}

/* V28: overconstrained, one degree of freedom: a row is redundant at every step, and it swings to the mirror
 * image of its start and back. */
static void bricard(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        Run run;
        open_run(&run, "bricard", ST_INTEGRATOR_IMPLICIT, 2e-3 / (1 << k));
        run_to(&run, 2.5);
        check_below(run.joint_error, 1e-14);
        assert_int_equal(run.least_redundant, 1);
        assert_int_equal(run.most_redundant, 1);
        error[k] = run.energy_start - run.energy;
        st_Vec3 p = position(&run, "rod3"); /* from x = 1 to x = -1 */
        check_close(p.x, -1, 2e-2);
        close_run(&run);
    }
    check_order("Bricard's energy at 2.5 s [J]", 0, error);
    check_below(error[0], 0.05);
}

/* The linkage moves where its scheme keeps it assembled. Held on velocities with order one it comes apart by 1e-5, one
 * row more counts, and it stops: docs/joints.md. */
static void bricard_by_drift(void **state)
{
    (void)state;
    const struct {
        st_Integrator integrator;
        st_Drift drift;
        double error; /* of joints, at most; seen, rounded up */
        bool swings;
    } cases[] = {{ST_INTEGRATOR_IMPLICIT, ST_DRIFT_VELOCITY, 1e-4, false},
                 {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_GAP, 1e-5, true},
                 {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_PROJECTION, 1e-14, true},
                 {ST_INTEGRATOR_SDIRK2, ST_DRIFT_VELOCITY, 1e-6, true},
                 {ST_INTEGRATOR_SDIRK2, ST_DRIFT_GAP, 1e-9, true}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Run run;
        st_Error err = {0};
        open_run(&run, "bricard", cases[k].integrator, 0);
        st_system_destroy(run.system);
        run.def.drift = cases[k].drift;
        run.may_come_apart = !cases[k].swings;
        check_ok(st_system_create(run.scene, &run.def, &run.system, &err), err);
        run_to(&run, 2.5);
        assert_int_equal(run.unsolved > 0, run.may_come_apart);
        check_below(run.joint_error, cases[k].error);
        if (full()) print_message("Bricard, case %d: joints %.2g\n", (int)k, run.joint_error);
        st_Vec3 v, w;
        assert_int_equal(st_system_velocity(run.system, st_scene_find_body(run.scene, "rod3"), &v, &w), ST_OK);
        if (cases[k].swings) check_close(position(&run, "rod3").x, -1, 2e-2);
        if (!cases[k].swings) check_below(norm(v), 1e-9);
        assert_int_equal(run.least_redundant, cases[k].swings ? 1 : 0);
        close_run(&run);
    }
}

/* ---- V29: the governor in three coordinates ---- */

/* y = (alpha, s, alpha', s', phi'); mirror symmetric, so that both balls move alike. */
typedef struct Governor {
    double y[5];
} Governor;

static Governor governor_rate(Governor g)
{
    const double m = 0.3, ball = 5, slider = 3, gravity = 9.81, k = 8e5, c = 4e4, hinge = 0.05;
    const double Jt = m * (1 + 1e-4) / 12, Jl = m * 2e-4 / 12, J0 = m * 2e-4 / 12 + slider * 0.02 / 12;
    double a = g.y[0], s = g.y[1], da = g.y[2], ds = g.y[3], w = g.y[4];
    double C = cos(a), S = sin(a), R = hinge + 0.5 * C, Rb = hinge + C;
    /* J(a) of all about the shaft, and dJ/da */
    double J = J0 + 2 * (m * R * R + ball * Rb * Rb + Jl * S * S + Jt * C * C);
    double dJ = 2 * (-m * R * S - 2 * ball * Rb * S + 2 * (Jl - Jt) * S * C);
    /* springs: from the rods' middles to the slider */
    double x = 0.5 * C, z = 1 - 0.5 * S - s, length = hypot(x, z);
    double la = (-0.5 * S * x - 0.5 * C * z) / length, ls = -z / length;
    double pull = k * (length - 0.5) + c * (la * da + ls * ds);
    double Ma = 2 * (0.25 * m + Jt + ball);
    Governor rate = {{da, ds, (0.5 * dJ * w * w + 2 * gravity * C * (0.5 * m + ball) - 2 * pull * la) / Ma,
                      (-slider * gravity - 2 * pull * ls) / slider, -dJ * da * w / J}};
    return rate;
}

static Governor governor_moved(Governor g, double h, Governor rate)
{
    for (int i = 0; i < 5; i++)
        g.y[i] += h * rate.y[i];
    return g;
}

/* The slider's height by the classical Runge-Kutta method, far below its stiff limit. */
static double governor_slider(double end)
{
    Governor g = {{PI / 6, 0.5, 0, 0, 2 * PI}};
    const int n = 100000;
    double h = end / n;
    for (int i = 0; i < n; i++) {
        Governor k1 = governor_rate(g), k2 = governor_rate(governor_moved(g, h / 2, k1));
        Governor k3 = governor_rate(governor_moved(g, h / 2, k2)), k4 = governor_rate(governor_moved(g, h, k3));
        for (int j = 0; j < 5; j++)
            g.y[j] += h / 6 * (k1.y[j] + 2 * k2.y[j] + 2 * k3.y[j] + k4.y[j]);
    }
    return g.y[1];
}

static void stiff_governor(void **state)
{
    (void)state;
    const double most[N_SCHEMES] = {6e-3, 4e-5, 4e-5};
    double s = governor_slider(1.0);
    for (int scheme = 0; scheme < n_schemes(); scheme++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            Run run;
            open_run(&run, "governor", schemes[scheme].integrator, 1e-3 / (1 << k));
            run_to(&run, 1.0);
            error[k] = fabs(position(&run, "slider").z - s);
            check_below(run.joint_error, 1e-14);
            close_run(&run);
        }
        check_order("governor's slider at 1 s [m]", scheme, error);
        check_below(error[0], most[scheme]);
    }
}

/* ---- the others ---- */

static void the_small_ones_do_what_they_say(void **state)
{
    (void)state;
    Run run;
    open_run(&run, "motor_limit", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 20);
    double held = 0.5 * 9.81 * sin(joint(&run, "motor").coordinate); /* between 3 - 0.4 and 3 + 0.4 N m */
    check_close(held, 3, 0.4 + 1e-6);
    check_close(joint(&run, "motor").motor, 3, 1e-9);
    check_close(joint(&run, "motor").friction, held - 3, 1e-6);
    close_run(&run);

    open_run(&run, "door", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 5);
    check_close(joint(&run, "hinge").coordinate, -1.2, 1e-9);
    check_close(joint(&run, "hinge").limit, 6 * 0.3, 1e-6); /* the spring presses it on the stop */
    check_close(joint(&run, "hinge").force.z, 20 * 9.81, 1e-6);
    close_run(&run);

    open_run(&run, "screw_press", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 2);
    check_close(joint(&run, "guide").limit, 2 * PI * 5 / 0.01, 1e-6);
    close_run(&run);

    open_run(&run, "gear_train", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 4);
    check_close(joint(&run, "axle1").speed, 6, 1e-9);
    check_close(joint(&run, "rope").speed, 0.2, 1e-9);
    check_close(joint(&run, "axle1").motor, 5 * 9.81 * 0.2 / 6, 1e-8); /* lifting evenly */
    close_run(&run);

    open_run(&run, "bushing", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 3);
    st_Pose pose; /* torque 50 N at 0.1 m, and the weight and load over a lever of 0.05 m that leans */
    st_system_pose(run.system, st_scene_find_body(run.scene, "block"), &pose);
    check_close(2 * asin(pose.q.y), (50 * 0.1) / 300, 2e-3);
    close_run(&run);

    open_run(&run, "materials", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 3);
    check_close(position(&run, "wood").x, 4 / (2 * sqrt(0.4 * 0.3) * 9.81), 2e-3); /* h v0/2 early */
    check_close(position(&run, "rubber").x, 4 / (2 * sqrt(0.4 * 0.9) * 9.81), 2e-3);
    check_close(position(&run, "ice").x, 2 * 3 - 0.5 * 0.03 * 9.81 * 9, 2e-3);
    close_run(&run);

    open_run(&run, "slider_crank", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 2.25); /* a quarter turn: the slider at sqrt(l2^2 - l1^2) */
    check_close(position(&run, "slider").x, sqrt(0.49 - 0.04), 1e-9);
    close_run(&run);
}

/* The arm comes to lie on its cone, whose torque carries it; the stick rests in the corner of its gate. */
static void stops_of_two_angles(void **state)
{
    (void)state;
    Run run;
    open_run(&run, "shoulder", ST_INTEGRATOR_IMPLICIT, 0);
    double twist[2] = {0, 0}, swing = 0;
    for (int k = 1; k <= 600; k++) {
        run_to(&run, 0.01 * k);
        st_JointReport r = joint(&run, "shoulder");
        twist[0] = fmin(twist[0], r.other), twist[1] = fmax(twist[1], r.other), swing = fmax(swing, r.coordinate);
    }
    check_close(swing, 0.6, 1e-9);                                       /* projected: never beyond, and it was there */
    check_close(twist[0], -0.5, 0.01), check_close(twist[1], 0.5, 0.01); /* both were met; 10 ms between looks */
    check_close(joint(&run, "shoulder").coordinate, 0.6, 1e-9);
    /* weight over its lever, and its remaining sway along the cone: below 1e-3 of it */
    check_close(joint(&run, "shoulder").limit, -2 * 9.81 * 0.3 * cos(0.6), 2e-3);
    close_run(&run);

    open_run(&run, "joystick", ST_INTEGRATOR_IMPLICIT, 0);
    run_to(&run, 2);
    /* turned by 0.35 about y, then about its own x: the knob's lever, and the second axis */
    double c = cos(0.35), s = sin(0.35);
    st_Vec3 lever = scale(0.2, vec3(s * c, -s, c * c)), torque = cross(lever, vec3(5, -4, 0));
    st_JointReport r = joint(&run, "gate");
    check_close(r.coordinate, 0.35, 1e-9);
    check_close(r.other, 0.35, 1e-9);
    check_close(r.spring, -0.5 * 0.35, 1e-9);
    check_close(r.limit + r.spring, -torque.y, 1e-7);
    check_close(r.other_limit, -dot(torque, vec3(c, 0, -s)), 1e-7);
    close_run(&run);
}

/* Every example runs to its end, within its joints. The long ones for a while only. */
static void all_of_them_run(void **state)
{
    (void)state;
    static const char *const names[] = {
        "pendulum",    "andrews",    "bricard", "governor",     "slider_crank_clearance",
        "four_bar",    "cardan",     "crane",   "door",         "motor_limit",
        "screw_press", "gear_train", "bushing", "slider_crank", "shoulder",
        "joystick"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        Run run;
        open_run(&run, names[k], ST_INTEGRATOR_IMPLICIT, 0);
        run_to(&run, fmin(run.def.end, 200 * run.def.h));
        check_below(run.joint_error, 2e-14);
        close_run(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum),
        cmocka_unit_test(andrews_squeezer),
        cmocka_unit_test(bricard),
        cmocka_unit_test(bricard_by_drift),
        cmocka_unit_test(stiff_governor),
        cmocka_unit_test(the_small_ones_do_what_they_say),
        cmocka_unit_test(stops_of_two_angles),
        cmocka_unit_test(all_of_them_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
