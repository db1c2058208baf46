/* Known answers of mechanisms: benchmarks with joints, and Euler's disk. Without a published history the reference
 * is computed here, in other coordinates, by the classical Runge-Kutta method. */
#include "validate.h"

#include <math.h>

#define G  9.81
#define PI 3.14159265358979323846

/* ---- Runge-Kutta ----------------------------------------------------------------------------- */

enum { MOST_STATES = 6 };
typedef void Rate(const double *y, double *rate);

static void runge_kutta(Rate *f, int n, double h, double *y)
{
    static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    double k[MOST_STATES] = {0}, at[MOST_STATES], sum[MOST_STATES] = {0};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < n; i++)
            at[i] = y[i] + part[stage] * h * k[i];
        f(at, k);
        for (int i = 0; i < n; i++)
            sum[i] += weight[stage] * k[i];
    }
    for (int i = 0; i < n; i++)
        y[i] += h / 6 * sum[i];
}

/* ---- V27 --------------------------------------------------------------------------------------- */

/* All seven angles at 0.03 s, and the energy supplied by the motor. The crank turns 2.5 times in 3000 steps. */
void andrews_squeezer(Check *check)
{
    static const struct {
        const char *joint, *what;
        double start, end;
    } angle[] = {{"O", "beta [rad]", -0.0617138900142764496, 15.81077119629904},
                 {"crank", "Theta", 0, -15.75637105984298},
                 {"B", "gamma", 0.455279819163070380, 0.04082224013073101},
                 {"G", "Phi", 0.222668390165885885, -0.5347301163226948},
                 {"A5", "delta", 0.487364979543842550, 0.5244099658805304},
                 {"H", "Omega", -0.222668390165885885, 0.5347301163226948},
                 {"A7", "epsilon", 1.23054744454982119, 1.048080741042263}};
    Sim s = sim_example(check, "andrews", "simulation/integrator=sdirk2");
    double start = sim_energy(&s), turned = 0;
    sim_run(&s, 0.03);
    for (int k = 0; s.ok && k < 7; k++) {
        st_JointReport report;
        st_system_joint(s.system, st_scene_find_joint(s.scene, angle[k].joint), ST_FRAME_WORLD, &report);
        if (k == 0) turned = report.coordinate;
        expect(check, angle[k].what, angle[k].end, angle[k].start + report.coordinate, 2e-4);
    }
    expect(check, "energy gained, of torque times angle", 1, (sim_energy(&s) - start) / (0.033 * turned), 1e-4);
    sim_close(&s);
}

/* ---- V28 --------------------------------------------------------------------------------------- */

/* Released at rest it swings to the mirror image of its start, at rest again, and back, by conservation of energy. */
void bricard_linkage(Check *check)
{
    Sim s = sim_example(check, "bricard", "simulation/integrator=sdirk2");
    double start = sim_energy(&s), worst = 0, leftmost = 1, joints = 0;
    int least = 1000, most = 0;
    while (s.ok && st_system_time(s.system) < (check_full(check) ? 10 : 3) && sim_step(&s)) {
        worst = fmax(worst, fabs(sim_energy(&s) - start));
        leftmost = fmin(leftmost, sim_pose(&s, "rod3").p.x);
        joints = fmax(joints, s.info.joint_error);
        least = s.info.solve.redundant_rows < least ? s.info.solve.redundant_rows : least;
        most = s.info.solve.redundant_rows > most ? s.info.solve.redundant_rows : most;
    }
    expect(check, "redundant rows, least", 1, least, 0);
    expect(check, "redundant rows, most", 1, most, 0);
    expect(check, "rod 3 swings from x = 1 m to [m]", -1, leftmost, 1e-6);
    expect(check, "energy changes by, at most [J]", 0, worst, 2e-5);
    expect(check, "joint error, at most [m, rad]", 0, joints, 1e-13);
    sim_close(&s);
}

/* ---- V29 --------------------------------------------------------------------------------------- */

/* The governor as y = (alpha, s, alpha', s', phi'); mirror symmetric, so that both balls move alike. */
static void governor_rate(const double *y, double *rate)
{
    const double m = 0.3, ball = 5, slider = 3, k = 8e5, c = 4e4, hinge = 0.05;
    const double Jt = m * (1 + 1e-4) / 12, Jl = m * 2e-4 / 12, J0 = m * 2e-4 / 12 + slider * 0.02 / 12;
    const double C = cos(y[0]), S = sin(y[0]), R = hinge + 0.5 * C, Rb = hinge + C, w = y[4];
    /* inertia of all about the shaft */
    const double J = J0 + 2 * (m * R * R + ball * Rb * Rb + Jl * S * S + Jt * C * C);
    const double dJ = 2 * (-m * R * S - 2 * ball * Rb * S + 2 * (Jl - Jt) * S * C);
    const double x = 0.5 * C, z = 1 - 0.5 * S - y[1], length = hypot(x, z); /* from a rod's middle to the slider */
    const double la = (-0.5 * S * x - 0.5 * C * z) / length, ls = -z / length;
    const double pull = k * (length - 0.5) + c * (la * y[2] + ls * y[3]);
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (0.5 * dJ * w * w + 2 * G * C * (0.5 * m + ball) - 2 * pull * la) / (2 * (0.25 * m + Jt + ball));
    rate[3] = (-slider * G - 2 * pull * ls) / slider;
    rate[4] = -dJ * y[2] * w / J;
}

void flyball_governor(Check *check)
{
    double y[5] = {PI / 6, 0.5, 0, 0, 2 * PI};
    Sim s = sim_example(check, "governor", "simulation/integrator=sdirk2");
    for (int second = 1; second <= (check_full(check) ? 10 : 2); second++) {
        char what[60];
        const int n = 100000; /* the dampers need steps below 1e-4 s */
        for (int k = 0; k < n; k++)
            runge_kutta(governor_rate, 5, 1.0 / n, y);
        sim_run(&s, second);
        snprintf(what, sizeof what, "slider at %d s, h = 1 ms [m]", second);
        expect(check, what, y[1], sim_pose(&s, "slider").p.z, 4e-6 * second); /* phases drift apart */
    }
    sim_close(&s);
}

/* ---- V30 --------------------------------------------------------------------------------------- */

/* Crank and rod as a double pendulum y = (theta1, theta2, w1, w2), until the first impact of the slider. */
static void crank_rate(const double *y, double *rate)
{
    const double l1 = 0.153, l2 = 0.306, m1 = 0.038, m2 = 0.038, m3 = 0.076, J1 = 7.4e-5, J2 = 5.9e-4;
    const double M11 = J1 + m1 * l1 * l1 / 4 + (m2 + m3) * l1 * l1, M22 = J2 + m2 * l2 * l2 / 4 + m3 * l2 * l2;
    const double couple = (m2 / 2 + m3) * l1 * l2, M12 = couple * cos(y[0] - y[1]), s = couple * sin(y[0] - y[1]);
    const double b1 = -s * y[3] * y[3] - G * (m1 / 2 + m2 + m3) * l1 * cos(y[0]);
    const double b2 = s * y[2] * y[2] - G * (m2 / 2 + m3) * l2 * cos(y[1]), det = M11 * M22 - M12 * M12;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (M22 * b1 - M12 * b2) / det;
    rate[3] = (M11 * b2 - M12 * b1) / det;
}

/* The distance of the nearest corner from its guide: the slider turns evenly, its centre is at the rod's end. */
static double clearance(double t, const double *y)
{
    const double turned = -0.01 * t, height = 0.153 * sin(y[0]) + 0.306 * sin(y[1]);
    return 0.026 - fabs(height) - 0.05 * fabs(sin(turned)) - 0.025 * cos(turned);
}

/* After the first impact the motion depends on it too much to be compared; only the loss of energy is known. */
void crank_with_clearance(Check *check)
{
    double y[4] = {0, 0, 150, -75}, t = 0, knock = NAN, most = 0;
    const double h = 1e-7;
    while (t < 0.2 && clearance(t, y) > 0) {
        runge_kutta(crank_rate, 4, h, y);
        t += h;
    }
    Sim s = sim_example(check, "slider_crank_clearance", NULL);
    double before = sim_energy(&s), angle = NAN;
    int knocks = 0;
    while (s.ok && st_system_time(s.system) < 0.02 && sim_step(&s)) {
        st_Pose p = sim_pose(&s, "crank");
        if (knocks == 0 && s.info.collisions > 0) knock = s.info.time, angle = 2 * atan2(p.q.z, p.q.w);
        knocks += s.info.collisions;
        most = fmax(most, sim_energy(&s) - before);
        before = sim_energy(&s);
    }
    expect(check, "first knock, h = 1e-5 s [s]", t, knock, 1e-5);
    expect(check, "crank's angle there [rad]", y[0], angle, 2e-3);
    expect(check, "energy rises in a step by, at most [J]", 0, most, 1e-6);
    sim_close(&s);
}

/* ---- V23 --------------------------------------------------------------------------------------- */

/* A disk of radius 0.1 m that rolls with its centre at rest, tilted by `tilt`: it turns about the diameter through
 * the contact point at W sin(tilt), W = 2 sqrt(g/(a sin(tilt))) about the vertical. */
static Sim euler_disk(Check *check, double tilt, double rolling)
{
    const double a = 0.1, thick = 1e-5, W = 2 * sqrt(G / (a * sin(tilt)));
    return sim_open(check,
                    "{\"simulation\":{\"preset\":\"default\",\"integrator\":\"sdirk2\",\"h\":0.0001,\"end\":1,"
                    "\"tolerance\":1e-10},\"ground\":[{\"type\":\"plane\",\"friction\":1}],"
                    "\"bodies\":[{\"name\":\"disk\",\"mass\":1,\"inertia\":[0.0025,0.0025,0.005],"
                    "\"position\":[0,0,%.17g],\"orientation\":{\"axis\":[1,0,0],\"angle\":%.17g},"
                    "\"angular_velocity\":[0,%.17g,0],\"shapes\":[{\"type\":\"cylinder\",\"radius\":0.1,"
                    "\"length\":%g,\"friction\":1,\"rolling_friction\":%g}]}]}",
                    a * sin(tilt) + 0.5 * thick * cos(tilt), tilt, W * sin(tilt), thick, rolling);
}

/* Sine of the tilt, and the direction of the lean. */
static double lean(const Sim *s, double *direction)
{
    st_Quat q = sim_pose(s, "disk").q;
    double x = 2 * (q.x * q.z + q.w * q.y), y = 2 * (q.y * q.z - q.w * q.x); /* of its axis */
    *direction = atan2(y, x);
    return hypot(x, y);
}

/* Without loss it goes round for ever; rolling friction takes 1.5 g a d(sin)/dt = - mu_r g W sin from it, so that
 * the root of sin falls evenly, by (2/3) (mu_r/a) sqrt(g/a) a second (small tilts). */
void eulers_disk(Check *check)
{
    static const double tilts[] = {0.3, 0.1};
    for (int k = 0; k < 2; k++) {
        char what[80];
        Sim s = euler_disk(check, tilts[k], 0);
        double start = sim_energy(&s), round = 0, before, now;
        lean(&s, &before);
        while (s.ok && st_system_time(s.system) < 0.5 - 5e-5 && sim_step(&s)) {
            lean(&s, &now);
            round += remainder(now - before, 2 * PI);
            before = now;
        }
        const double W = 2 * sqrt(G / (0.1 * sin(tilts[k])));
        snprintf(what, sizeof what, "tilt %g: precession [rad/s]", tilts[k]);
        expect(check, what, W, round / 0.5, 0.01 * W);
        snprintf(what, sizeof what, "tilt %g: energy after 0.5 s, of 1.5 m g a sin", tilts[k]);
        expect(check, what, 1, sim_energy(&s) / (1.5 * G * 0.1 * sin(tilts[k])), 0.01);
        expect(check, "energy at the start, of the same", 1, start / (1.5 * G * 0.1 * sin(tilts[k])), 1e-3);
        sim_close(&s);
    }
    Sim s = euler_disk(check, 0.1, 1e-3);
    double direction, first = sqrt(lean(&s, &direction));
    sim_run(&s, 0.5);
    expect(check, "rolling friction 1 mm: root of sin(tilt) after 0.5 s",
           first - 0.5 * (2.0 / 3) * (1e-3 / 0.1) * sqrt(G / 0.1), sqrt(lean(&s, &direction)), 3e-3);
    sim_close(&s);
}

/* ---- spinning ---------------------------------------------------------------------------------- */

void spinning_friction(Check *check)
{
    Sim s = sim_example(check, "turning", NULL);
    sim_run(&s, 1);
    expect(check, "ball: spin after 1 s [rad/s]", 5 - 0.0016 * 2 * G / 0.008, sim_spin(&s, "spins").z, 1e-7);
    expect(check, "ball that slides: speed after 1 s [m/s]", 5.0 / 7, sim_velocity(&s, "slides").x, 1e-7);
    sim_run(&s, 8);
    const double a = 5.0 / 7 * 0.02 * G;
    expect(check, "ball that rolls: stops after [m]", 1 / (2 * a), sim_pose(&s, "rolls").p.x, 2e-3);
    expect(check, "ball: spin in the end [rad/s]", 0, sim_spin(&s, "spins").z, 1e-9);
    expect(check, "disc: spin in the end [rad/s]", 0, sim_spin(&s, "disc").z, 1e-7);
    sim_close(&s);
}
