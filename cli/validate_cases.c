/* The cases of stiction validate: each is a scene and its known answer. g = 9.81 m/s^2 unless stated. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G     9.81
#define PI    3.14159265358979323846
#define PLANE "\"ground\":[{\"type\":\"plane\",\"friction\":%g,\"restitution\":%g}],"

static double size_of(st_Vec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

/* ---- sliding and rolling ----------------------------------------------------------------------- */

static void block_to_rest(Check *check)
{
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.01,\"end\":2}," PLANE
                     "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"position\":[0,0,0.1],\"velocity\":[5,0,0],"
                     "\"shapes\":[{\"type\":\"box\",\"size\":[0.6,0.6,0.2],\"friction\":0.5}]}]}",
                     0.5, 0.0);
    double stop = NAN;
    while (s.ok && st_system_time(s.system) < 2 && sim_step(&s))
        if (isnan(stop) && sim_velocity(&s, "b").x < 1e-9) stop = st_system_time(s.system);
    expect(check, "stopping distance [m]", 25 / (2 * 0.5 * G), sim_pose(&s, "b").p.x, 1e-5);
    expect(check, "first step at rest after t = 1.0194 s", 5 / (0.5 * G), stop, 0.01);
    sim_close(&s);
}

static const char incline[] =
    "{\"simulation\":{\"preset\":\"%s\",\"h\":0.01,\"end\":1,\"tolerance\":1e-12,\"gravity\":[%.17g,0,%.17g]},"
    "\"ground\":[{\"type\":\"plane\",\"friction\":%g}],"
    "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"position\":[0,0,%g],"
    "\"shapes\":[{\"type\":\"box\",\"size\":[%g,0.2,%g],\"friction\":%g}]}]}";

static void block_on_incline(Check *check)
{
    double angle = 20 * PI / 180, gx = G * sin(angle), gz = -G * cos(angle);
    Sim s = sim_open(check, incline, "default", gx, gz, 0.3, 0.1, 0.4, 0.2, 0.3);
    sim_run(&s, 1);
    expect(check, "acceleration at mu = 0.3 [m/s^2]", gx + 0.3 * gz, sim_velocity(&s, "b").x, 1e-6);
    sim_close(&s);
    double wait = check_full(check) ? 3600 : 60;
    s = sim_open(check, incline, "default", gx, gz, 0.4, 0.1, 0.4, 0.2, 0.4);
    sim_run(&s, wait);
    expect(check, check_full(check) ? "motion at mu = 0.4 in an hour [m]" : "motion at mu = 0.4 in a minute [m]", 0,
           sim_pose(&s, "b").p.x, 1e-12 * wait);
    sim_close(&s);
}

/* Rotation and sliding distance of the box after 0.5 s [rad, m]. */
static void tip_or_slide(Check *check)
{
    static const struct {
        const char *what;
        double mu, tan, width;
        bool slides, tips;
    } cases[] = {{"mu 0.3, tan 0.4, b/h 1: slides, stands", 0.3, 0.4, 1, true, false},
                 {"mu 1, tan 0.6, b/h 0.5: tips", 1, 0.6, 0.5, false, true},
                 {"mu 1, tan 0.4, b/h 0.5: neither", 1, 0.4, 0.5, false, false}};
    for (int k = 0; k < 3; k++) {
        double c = 1 / sqrt(1 + cases[k].tan * cases[k].tan), h = 0.2, slid, turned;
        Sim s = sim_open(check, incline, "default", G * c * cases[k].tan, -G * c, cases[k].mu, h / 2,
                         cases[k].width * h, h, cases[k].mu);
        sim_run(&s, 1);
        st_Pose p = sim_pose(&s, "b");
        turned = 2 * asin(fmin(1, fabs(p.q.y)));
        slid = p.p.x;
        bool right = (turned > 0.2) == cases[k].tips && (cases[k].tips || (slid > 1e-3) == cases[k].slides);
        expect(check, cases[k].what, 1, right ? 1 : 0, 0);
        sim_close(&s);
    }
}

static const char ball_on_plane[] =
    "{\"simulation\":{\"preset\":\"%s\",\"h\":0.001,\"end\":1,\"tolerance\":1e-12,\"gravity\":[%.17g,0,%.17g]},"
    "\"ground\":[{\"type\":\"plane\",\"friction\":%g}],"
    "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":%.17g,\"position\":[0,0,0.1],\"velocity\":[%g,0,0],"
    "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"friction\":%g}]}]}";

static void slide_to_roll(Check *check)
{
    Sim s = sim_open(check, ball_on_plane, "default", 0.0, -G, 0.2, 0.004, 2.0, 0.2);
    double rolls = NAN;
    while (s.ok && st_system_time(s.system) < 0.4 && sim_step(&s))
        if (isnan(rolls) && fabs(sim_velocity(&s, "b").x - 0.1 * sim_spin(&s, "b").y) < 1e-9)
            rolls = st_system_time(s.system);
    expect(check, "rolling speed 5/7 v0 [m/s]", 10.0 / 7, sim_velocity(&s, "b").x, 1e-10);
    expect(check, "rolls from the first step after [s]", 4 / (7 * 0.2 * G), rolls, 1e-3);
    sim_close(&s);
}

static void roll_down(Check *check)
{
    static const struct {
        const char *what;
        double k; /* I/(m R^2) */
    } bodies[] = {{"sphere: 5/7 g sin [m/s^2]", 0.4}, {"cylinder: 2/3 g sin", 0.5}, {"hoop: 1/2 g sin", 1}};
    double gx = G * sin(0.3), gz = -G * cos(0.3);
    for (int k = 0; k < 3; k++) {
        /* just enough friction: the least is mu = tan k/(1 + k) */
        double mu = tan(0.3) * bodies[k].k / (1 + bodies[k].k) * 1.001;
        Sim s = sim_open(check, ball_on_plane, "default", gx, gz, mu, bodies[k].k * 0.01, 0.0, mu);
        sim_run(&s, 1);
        expect(check, bodies[k].what, gx / (1 + bodies[k].k), sim_velocity(&s, "b").x, 1e-8);
        sim_close(&s);
    }
}

static void oblique_push(Check *check)
{
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"default\",\"h\":0.001,\"end\":1,\"tolerance\":1e-12}," PLANE
                     "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"locks\":\"rotation\",\"position\":[0,0,0.1],"
                     "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"friction\":0.4}]}],"
                     "\"forces\":[{\"body\":\"b\",\"force\":[%.17g,%.17g,0]}]}",
                     0.4, 0.0, 10 * cos(PI / 3), 10 * sin(PI / 3));
    sim_run(&s, 1);
    st_Vec3 p = sim_pose(&s, "b").p;
    expect(check, "direction of the path [degrees]", 60, atan2(p.y, p.x) * 180 / PI, 1e-9);
    expect(check, "speed after 1 s [m/s]", 10 - 0.4 * G, size_of(sim_velocity(&s, "b")), 1e-9);
    sim_close(&s);
}

/* ---- impacts ----------------------------------------------------------------------------------- */

static void zeno_ball(Check *check)
{
    const double e[3] = {0.5, 0.8, 0.9};
    for (int k = 0; k < 3; k++) {
        Sim s = sim_open(check,
                         "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.001,\"end\":10}," PLANE
                         "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"position\":[0,0,1.1],"
                         "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"restitution\":0}]}]}",
                         0.5, e[k]);
        double fall = sqrt(2 / G), rest = fall * (1 + e[k]) / (1 - e[k]), path = 1, z = 1, v = -1, last_move = 0;
        char what[80];
        while (s.ok && st_system_time(s.system) < rest + 0.3 && sim_step(&s)) {
            double now = sim_pose(&s, "b").p.z - 0.1, up = sim_velocity(&s, "b").z;
            if (up > 0 && v <= 0) path += 2 * (now + up * up / (2 * G)); /* to the top of this flight and back */
            if (fabs(now - z) > 1e-9) last_move = st_system_time(s.system);
            z = now, v = up;
        }
        snprintf(what, sizeof what, "e = %.1f: time of rest [s]", e[k]);
        /* rebounds below 1e-3 m/s are not resolved, which leaves out 2e-4/(1 - e) s */
        expect(check, what, rest, last_move, 3e-4 / (1 - e[k]) + 1e-3);
        snprintf(what, sizeof what, "e = %.1f: path [m]", e[k]);
        expect(check, what, (1 + e[k] * e[k]) / (1 - e[k] * e[k]), path, 1e-4);
        sim_close(&s);
    }
}

/* Nine balls instead of 49: they do not touch each other. */
static void elastic_balls(Check *check)
{
    char text[3600];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.01,\"end\":20},\"ground\":[{\"type\":\"plane\","
        "\"restitution\":1,\"friction\":0}],\"bodies\":[");
    for (int k = 0; k < 9; k++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "%s{\"mass\":10,\"position\":[%d,%d,%g],\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,"
                             "\"friction\":0,\"restitution\":1}]}",
                             k > 0 ? "," : "", k / 3, k % 3, 5 + 0.1 * k);
    snprintf(text + used, sizeof text - used, "]}");
    Sim s = sim_open(check, "%s", text);
    double start = sim_energy(&s), worst = 0, end = check_full(check) ? 20 : 5;
    while (s.ok && st_system_time(s.system) < end && sim_step(&s))
        worst = fmax(worst, fabs(sim_energy(&s) - start) / start);
    expect(check, "largest relative change of energy", 0, worst, 1e-9);
    sim_close(&s);
}

static void cradle(Check *check)
{
    static const char scene[] =
        "{\"simulation\":{\"preset\":\"accurate\",\"impact\":\"%s\",\"h\":0.01,\"end\":1,\"gravity\":[0,0,0]},"
        "\"bodies\":["
        "{\"name\":\"a\",\"mass\":1,\"locks\":[\"y\",\"z\",\"rotation\"],\"position\":[-0.3,0,0],\"velocity\":[1,0,0],"
        "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"friction\":0,\"restitution\":1}]},"
        "{\"name\":\"b\",\"mass\":1,\"locks\":[\"y\",\"z\",\"rotation\"],\"position\":[0,0,0],"
        "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"friction\":0,\"restitution\":1}]},"
        "{\"name\":\"c\",\"mass\":1,\"locks\":[\"y\",\"z\",\"rotation\"],\"position\":[%g,0,0],"
        "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"friction\":0,\"restitution\":1}]}]}";
    static const struct {
        const char *what, *impact;
        double c, v[3];
    } cases[] = {{"touching, Newton", "newton", 0.2, {-1.0 / 3, 2.0 / 3, 2.0 / 3}},
                 {"touching, Poisson", "poisson", 0.2, {-1.0 / 3, 2.0 / 3, 2.0 / 3}},
                 {"with a gap of 1 cm", "newton", 0.21, {0, 0, 1}}};
    for (int k = 0; k < 3; k++) {
        char what[80];
        Sim s = sim_open(check, scene, cases[k].impact, cases[k].c);
        sim_run(&s, 0.5);
        for (int b = 0; b < 3; b++) {
            const char *names[3] = {"a", "b", "c"};
            snprintf(what, sizeof what, "%s: ball %d [m/s]", cases[k].what, b + 1);
            expect(check, what, cases[k].v[b], sim_velocity(&s, names[b]).x, 1e-9);
        }
        sim_close(&s);
    }
}

static void sphere_stack(Check *check)
{
    char text[3000];
    size_t used =
        (size_t)snprintf(text, sizeof text,
                         "{\"simulation\":{\"preset\":\"default\",\"impact\":\"newton\",\"h\":0.001,\"end\":2},"
                         "\"ground\":[{\"type\":\"plane\",\"restitution\":0.3}],\"bodies\":[");
    for (int k = 0; k < 5; k++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "%s{\"name\":\"b%d\",\"mass\":1,\"position\":[0,0,%g],\"shapes\":[{\"type\":\"sphere\","
                             "\"radius\":0.1,\"restitution\":0.3}]}",
                             k > 0 ? "," : "", k, 0.12 + 0.21 * k);
    snprintf(text + used, sizeof text - used, "]}");
    Sim s = sim_open(check, "%s", text);
    sim_run(&s, check_full(check) ? 10 : 2);
    double aside = 0, turning = 0;
    for (int k = 0; k < 5; k++) {
        char name[4] = {'b', (char)('0' + k), 0, 0};
        st_Vec3 p = sim_pose(&s, name).p;
        aside = fmax(aside, hypot(p.x, p.y));
        turning = fmax(turning, size_of(sim_spin(&s, name)));
    }
    expect(check, "largest sideways position [m]", 0, aside, 1e-6);
    expect(check, "largest spin [rad/s]", 0, turning, 1e-6);
    expect(check, "height of the top [m]", 0.9, sim_pose(&s, "b4").p.z, 1e-5);
    sim_close(&s);
}

/* ---- contact lost, found, stuck ----------------------------------------------------------------- */

static double leaving_angle(Check *check, double mu, double inertia)
{
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"default\",\"h\":0.0002,\"end\":5,"
                     "\"gravity\":[0,-9.81,0]},"
                     "\"ground\":[{\"type\":\"sphere\",\"radius\":0.9,\"friction\":%g}],"
                     "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":%.17g,\"locks\":\"planar-xy\","
                     "\"position\":[0.0009999998333333417,0.9999995000000417,0],"
                     "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,\"friction\":%g}]}]}",
                     mu, inertia, mu);
    double angle = NAN;
    while (s.ok && st_system_time(s.system) < 5 && sim_step(&s)) {
        st_Vec3 p = sim_pose(&s, "b").p;
        if (sim_force(&s) == 0 && p.x > 0.1) {
            angle = atan2(p.x, p.y) * 180 / PI;
            break;
        }
    }
    sim_close(&s);
    return angle;
}

static void leave_a_sphere(Check *check)
{
    /* from rest at 1e-3 rad; a step of 2e-4 s is 0.03 degrees at 2.5 rad/s */
    expect(check, "particle [degrees]", acos(2.0 / 3) * 180 / PI, leaving_angle(check, 0, 0.004), 0.1);
    expect(check, "rolling ball [degrees]", acos(10.0 / 17) * 180 / PI, leaving_angle(check, 50, 0.004), 0.1);
}

/* A rod of half-length 1 that slides towards its leaning side, in the paradox: stepping must continue with bounded
 * impulses. */
static void painleve_rod(Check *check)
{
    double angle = atan(2);
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"default\",\"h\":0.001,\"end\":1,\"gravity\":[0,-9.81,0]},"
                     "\"ground\":[{\"type\":\"plane\",\"normal\":[0,1,0],\"friction\":1.8}],"
                     "\"bodies\":[{\"name\":\"rod\",\"mass\":1,\"inertia\":0.33333333333333333,\"locks\":\"planar-xy\","
                     "\"position\":[0,%.17g,0],\"velocity\":[-10,0,0],"
                     "\"orientation\":{\"axis\":[0,0,1],\"angle\":%.17g},"
                     "\"shapes\":[{\"type\":\"bar\",\"length\":2,\"friction\":1.8}]}]}",
                     sin(angle), angle);
    double start = sim_energy(&s), rise = 0, largest = 0, last = start;
    while (s.ok && st_system_time(s.system) < 1 && sim_step(&s)) {
        rise = fmax(rise, sim_energy(&s) - last);
        last = sim_energy(&s);
        largest = fmax(largest, sim_force(&s) * s.def.h);
    }
    expect(check, "time reached [s]", 1, s.system != NULL ? st_system_time(s.system) : 0, 1e-9);
    expect(check, "largest rise of energy in a step [J]", 0, rise, 1e-3);
    /* No sliding is possible, W_nn + mu W_nT < 0: the first step sticks, W (r_n, r_T) = (g h, v0), W as below. */
    const double nn = 1 + 3 * 0.2, tt = 1 + 3 * 0.8, nt = -3 * 0.4;
    const double impulse = (tt * 9.81 * s.def.h - nt * 10) / (nn * tt - nt * nt);
    expect(check, "largest normal impulse, of the jam [N s]", impulse, largest, 1e-5);
    sim_close(&s);
}

static void pinch(Check *check)
{
    const double force[2] = {12, 60};
    for (int k = 0; k < 2; k++) {
        char what[80];
        Sim s = sim_open(check,
                         "{\"simulation\":{\"preset\":\"default\",\"h\":0.002,\"end\":10,\"tolerance\":1e-12},"
                         "\"ground\":[{\"type\":\"plane\",\"normal\":[0,1,0],\"friction\":0.7}],"
                         "\"bodies\":[{\"name\":\"rod\",\"mass\":0.045,\"position\":[0,0.004,0],"
                         "\"shapes\":[{\"type\":\"capsule\",\"radius\":0.004,\"length\":0.05,\"friction\":0.7}]},"
                         "{\"name\":\"pad\",\"mass\":0.1,\"locks\":[\"x\",\"z\",\"rotation\"],\"position\":[0,0.013,0],"
                         "\"shapes\":[{\"type\":\"box\",\"size\":[0.06,0.01,0.12],\"friction\":0.7}]}],"
                         "\"forces\":[{\"body\":\"pad\",\"force\":[0,-%g,0]}]}",
                         force[k]);
        sim_run(&s, 1);
        double z = sim_pose(&s, "rod").p.z;
        sim_run(&s, check_full(check) ? 60 : 10);
        snprintf(what, sizeof what, "%g N: slip after the first second [um/s]", force[k]);
        expect(check, what, 0, (sim_pose(&s, "rod").p.z - z) / (check_full(check) ? 59 : 9) * 1e6, 1e-3);
        sim_close(&s);
    }
}

/* ---- free bodies, tops, pendulums --------------------------------------------------------------- */

static void free_box(Check *check)
{
    const double flips[4] = {1.165960, 4.194382, 7.222804, 10.251226};
    double m = 10, a = 0.1, b = 0.4, c = 0.9;
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.001,\"end\":11,\"gravity\":[0,0,0]},"
                     "\"bodies\":[{\"name\":\"box\",\"mass\":%g,\"inertia\":[%.17g,%.17g,%.17g],"
                     "\"angular_velocity\":[0.1,5,0.1]}]}",
                     m, m / 12 * (b * b + c * c), m / 12 * (a * a + c * c), m / 12 * (a * a + b * b));
    double before = 5, start = sim_energy(&s), worst = 0;
    int n = 0;
    while (s.ok && st_system_time(s.system) < 10.5 && sim_step(&s)) {
        double now = sim_spin(&s, "box").y;
        if (now * before < 0 && n < 4) {
            char what[40];
            snprintf(what, sizeof what, "flip %d [s]", n + 1);
            expect(check, what, flips[n], st_system_time(s.system) - s.def.h * now / (now - before), 2e-3 * (n + 1));
            n++;
        }
        before = now;
        worst = fmax(worst, fabs(sim_energy(&s) - start) / start);
    }
    expect(check, "largest relative change of energy", 0, worst, 1e-3);
    sim_close(&s);
}

static void heavy_top(Check *check)
{
    const double at[2][3] = {{0.173344, 0.640089, -0.748491}, {-0.150417, -0.724166, -0.673022}};
    Sim s = sim_open(check, "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.0002,\"end\":2},"
                            "\"bodies\":[{\"name\":\"top\",\"mass\":15,\"inertia\":[0.234375,0.46875,0.234375],"
                            "\"position\":[0,1,0],\"velocity\":[4.61538,0,0],\"angular_velocity\":[0,150,-4.61538]}],"
                            "\"joints\":[{\"type\":\"ball\",\"a\":\"ground\",\"b\":\"top\",\"point\":[0,0,0]}]}");
    for (int k = 0; k < (check_full(check) ? 2 : 1); k++) {
        sim_run(&s, k + 1);
        st_Vec3 p = sim_pose(&s, "top").p;
        double off = sqrt(pow(p.x - at[k][0], 2) + pow(p.y - at[k][1], 2) + pow(p.z - at[k][2], 2));
        expect(check, k == 0 ? "distance from x(1) [m]" : "distance from x(2) [m]", 0, off, 5e-3);
    }
    sim_close(&s);
}

/* A top with a horizontal axis: precession m g r/(I w) + O(1/w^3); started at that rate it does not nutate. */
static void gyroscope(Check *check)
{
    double I = 0.01, w = 400, r = 0.1, rate = G * r / (I * w);
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.0001,\"end\":2},"
                     "\"bodies\":[{\"name\":\"top\",\"mass\":1,\"inertia\":[%g,0.005,0.005],\"position\":[%g,0,0],"
                     "\"velocity\":[0,%.17g,0],\"angular_velocity\":[%g,0,%.17g]}],"
                     "\"joints\":[{\"type\":\"ball\",\"a\":\"ground\",\"b\":\"top\",\"point\":[0,0,0]}]}",
                     I, r, rate * r, w, rate);
    sim_run(&s, 1);
    st_Vec3 p = sim_pose(&s, "top").p;
    expect(check, "angle after 1 s, w = 400 rad/s [rad]", rate, atan2(p.y, p.x), 1e-3 * rate);
    sim_close(&s);
}

static void pendulum(Check *check)
{
    Sim s = sim_open(check,
                     "{\"simulation\":{\"preset\":\"accurate\",\"h\":0.001,\"end\":10,\"gravity\":[0,-9.81,0]},"
                     "\"bodies\":[{\"name\":\"bob\",\"mass\":1,\"locks\":[\"z\",\"rotation\"],\"position\":[1,0,0]}],"
                     "\"joints\":[{\"type\":\"distance\",\"a\":\"ground\",\"b\":\"bob\",\"point\":[0,0,0],"
                     "\"point_b\":[1,0,0]}]}");
    sim_run(&s, 1);
    st_Vec3 p = sim_pose(&s, "bob").p;
    expect(check, "x(1 s) [m]", -0.986291751, p.x, 2e-5);
    expect(check, "y(1 s) [m]", -0.165010853, p.y, 5e-5);
    sim_run(&s, 10);
    p = sim_pose(&s, "bob").p;
    expect(check, "x(10 s) [m]", 0.275087463, p.x, 5e-4);
    expect(check, "y(10 s) [m]", -0.961419205, p.y, 5e-4);
    sim_close(&s);
}

/* Kane & Levinson's rattleback: spun in one direction it reverses, in the other it continues. */
static double rattle(Check *check, double spin)
{
    Sim s =
        sim_open(check,
                 "{\"simulation\":{\"preset\":\"default\",\"integrator\":\"sdirk2\",\"h\":0.0005,\"end\":5},"
                 "\"ground\":[{\"type\":\"plane\",\"friction\":2}],"
                 "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":[[2e-4,-2e-5,0],[-2e-5,1.6e-3,0],[0,0,1.7e-3]],"
                 "\"position\":[0,0,0.0102],\"orientation\":{\"axis\":[1,1,0],\"angle\":0.0123},"
                 "\"angular_velocity\":[0,0,%g],\"shapes\":[{\"type\":\"ellipsoid\",\"size\":[0.4,0.06,0.04],"
                 "\"position\":[0,0,0.01],\"friction\":2}]}]}",
                 spin);
    double least = 1;
    while (s.ok && st_system_time(s.system) < 4 && sim_step(&s))
        least = fmin(least, sim_spin(&s, "b").z / spin);
    sim_close(&s);
    return least;
}

static void rattleback(Check *check)
{
    double one = rattle(check, -5), other = rattle(check, 5);
    expect(check, "spun at -5 rad/s: turns round (1)", 1, one < -0.05, 0);
    expect(check, "spun at +5 rad/s: goes on (1)", 1, other > 0, 0);
}

/* ---- piles -------------------------------------------------------------------------------------- */

static void many_spheres(Check *check)
{
    enum { N = 216 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return;
    fprintf(out,
            "{\"simulation\":{\"preset\":\"default\",\"h\":0.01,\"end\":1,\"tolerance\":1e-6},\"ground\":[{\"type\":"
            "\"plane\"}],\"bodies\":[");
    unsigned state = 1; /* jitter of 1e-3 m, always the same */
    for (int k = 0; k < N; k++) {
        double p[3];
        int row = k / 6 % 6, layer = k / 36;
        for (int i = 0; i < 3; i++) {
            state = state * 1103515245u + 12345u;
            p[i] = 1e-3 * ((state >> 16 & 0x7fff) / 32768.0 - 0.5);
        }
        fprintf(out, "%s{\"mass\":10,\"position\":[%.9g,%.9g,%.9g],\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1}]}",
                k > 0 ? "," : "", 0.21 * (k % 6) + p[0], 0.21 * row + p[1], 0.11 + 0.21 * layer + p[2]);
    }
    fprintf(out, "]}");
    fclose(out);
    Sim s = sim_text(check, text);
    free(text);
    double deepest = 0, end = check_full(check) ? 2 : 0.3;
    while (s.ok && st_system_time(s.system) < end && sim_step(&s))
        deepest = fmax(deepest, s.info.penetration);
    expect(check, "deepest penetration, h = 0.01 s [m]", 0, deepest, 1e-5);
    sim_close(&s);
}

static void pyramid(Check *check)
{
    int rows = check_full(check) ? 20 : 10, n = 0;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return;
    fprintf(out, "{\"simulation\":{\"preset\":\"default\",\"h\":0.005,\"end\":1,\"gravity\":[0,-9.81,0]},"
                 "\"ground\":[{\"type\":\"plane\",\"normal\":[0,1,0],\"friction\":0.6}],\"bodies\":[");
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < rows - row; k++, n++)
            fprintf(
                out,
                "%s{\"name\":\"b%d\",\"locks\":\"planar-xy\",\"position\":[%.9g,%.9g,0],\"shapes\":[{\"type\":\"box\","
                "\"size\":[0.2,0.2,0.2],\"friction\":0.6}]}",
                n > 0 ? "," : "", n, 0.22 * (k + 0.5 * row), 0.1 + 0.2 * row);
    fprintf(out, "]}");
    fclose(out);
    Sim s = sim_text(check, text);
    free(text);
    sim_run(&s, 1);
    char top[16];
    snprintf(top, sizeof top, "b%d", n - 1);
    st_Vec3 p = sim_pose(&s, top).p;
    expect(check, "the top after 1 s: sideways [m]", 0.11 * (rows - 1), p.x, 1e-6);
    expect(check, "the top after 1 s: height [m]", 0.1 + 0.2 * (rows - 1), p.y, 1e-6);
    sim_close(&s);
}

/* ---- ours: the contact models ------------------------------------------------------------------- */

static void bowling(Check *check)
{
    Sim s = sim_example(check, "bowling", NULL);
    sim_run(&s, 0.1);
    expect(check, "cone law rides at mu h v_T: gap at 0.1 s [m]", 8.919584e-4, sim_pose(&s, "ball").p.z - 0.1, 1e-10);
    sim_run(&s, 0.5);
    expect(check, "cone law: end speed [m/s]", 20.0 / 7, sim_velocity(&s, "ball").x, 1e-10);
    sim_close(&s);
    s = sim_example(check, "bowling", "simulation/law=coulomb");
    sim_run(&s, 0.1);
    expect(check, "exact law: gap at 0.1 s [m]", 0, sim_pose(&s, "ball").p.z - 0.1, 1e-10);
    sim_run(&s, 0.5);
    expect(check, "exact law: end speed [m/s]", 20.0 / 7, sim_velocity(&s, "ball").x, 1e-10);
    sim_close(&s);
}

static void table_forces(Check *check, Sim s, double tolerance)
{
    const double expected[4] = {40.46625, 25.75125, 18.39375, 33.10875};
    sim_step(&s);
    for (int c = 0; s.ok && c < 4 && c < st_system_contact_count(s.system); c++) {
        char what[60];
        st_ContactReport report;
        st_system_contact(s.system, c, &report);
        snprintf(what, sizeof what, "force of foot %d [N]", c + 1);
        expect(check, what, expected[c], report.impulse[0] / s.def.h, tolerance);
    }
    sim_close(&s);
}

static void table_legs(Check *check)
{
    table_forces(check, sim_example(check, "table", NULL), 4e-5);
}

static void table_at_once(Check *check)
{
    table_forces(check,
                 sim_open(check, "{\"simulation\":{\"h\":0.01,\"end\":1,\"tolerance\":1e-12,\"forces\":\"least_norm\"},"
                                 "\"ground\":[{\"type\":\"plane\"}],\"bodies\":[{\"name\":\"table\",\"mass\":12,"
                                 "\"inertia\":[1,1.8,2.4],\"position\":[0,0,0.7],\"shapes\":["
                                 "{\"type\":\"point\",\"position\":[0.45,0.35,-0.7]},"
                                 "{\"type\":\"point\",\"position\":[-0.75,0.35,-0.7]},"
                                 "{\"type\":\"point\",\"position\":[-0.75,-0.45,-0.7]},"
                                 "{\"type\":\"point\",\"position\":[0.45,-0.45,-0.7]}]}]}"),
                 1e-9);
}

static void ellipse(Check *check)
{
    Sim s = sim_example(check, "ellipse", NULL);
    sim_run(&s, 2);
    st_Pose p = sim_pose(&s, "ellipse");
    expect(check, "compliant: x(2 s) [m]", 0.190892644, p.p.x, 1e-8);
    expect(check, "compliant: y(2 s) [m]", 0.050391301, p.p.y, 1e-8);
    expect(check, "compliant: angle(2 s) [rad]", 0.087139084, 2 * atan2(p.q.z, p.q.w), 1e-7);
    sim_close(&s);
    s = sim_example(check, "ellipse", "simulation/contact=rigid");
    sim_run(&s, 2);
    p = sim_pose(&s, "ellipse");
    expect(check, "rigid: x(2 s) [m]", 0.1908479328, p.p.x, 1e-8);
    expect(check, "rigid: y(2 s) [m]", 0.0504294319, p.p.y, 1e-8);
    sim_close(&s);
}

static void rolling_resistance(Check *check)
{
    Sim s =
        sim_open(check,
                 "{\"simulation\":{\"preset\":\"default\",\"h\":0.001,\"end\":1,\"tolerance\":1e-12}," PLANE
                 "\"bodies\":[{\"name\":\"b\",\"mass\":2,\"inertia\":0.008,\"position\":[0,0,0.1],"
                 "\"velocity\":[1,0,0],\"angular_velocity\":[0,10,0],\"shapes\":[{\"type\":\"sphere\",\"radius\":0.1,"
                 "\"friction\":0.6,\"rolling_friction\":0.002}]}]}",
                 0.6, 0.0);
    sim_run(&s, 1);
    expect(check, "speed after 1 s [m/s]", 1 - 5.0 / 7 * 0.02 * G, sim_velocity(&s, "b").x, 1e-9);
    sim_close(&s);
}

static void damper_and_friction(Check *check)
{
    static const struct {
        const char *example;
        double x1, x2;
    } cases[] = {{"b_g20_implicit", -1.442750105, 1.782206838},
                 {"b_g100_implicit", -1.661584114, 1.386018934},
                 {"b_g1e6_implicit", -1.815048905, 1.184955899}};
    for (int k = 0; k < 3; k++) {
        char what[80];
        Sim s = sim_example(check, cases[k].example, NULL);
        sim_run(&s, 10);
        snprintf(what, sizeof what, "%s: x1(10 s) [m]", cases[k].example);
        expect(check, what, cases[k].x1, sim_pose(&s, "left").p.x, 1e-8);
        snprintf(what, sizeof what, "%s: x2(10 s) [m]", cases[k].example);
        expect(check, what, cases[k].x2, sim_pose(&s, "right").p.x, 1e-8);
        sim_close(&s);
    }
}

/* ---- the table ---------------------------------------------------------------------------------- */

const Case validate_cases[] = {
    {"V1", "block sliding to rest", "exact", block_to_rest, NULL},
    {"V2", "block on an incline", "exact", block_on_incline, NULL},
    {"V3", "box on a slope: tip or slide", "exact", tip_or_slide, NULL},
    {"V4", "sphere slides, then rolls", "exact", slide_to_roll, NULL},
    {"V5", "rolling down an incline", "exact", roll_down, NULL},
    {"V7", "Zeno's ball", "exact", zeno_ball, NULL},
    {"V8", "elastic balls", "SimBenchmark, bouncing", elastic_balls, NULL},
    {"V9", "pushed along an oblique direction", "exact", oblique_push, NULL},
    {"V11", "leaving a sphere", "exact", leave_a_sphere, NULL},
    {"V13", "Painleve's rod", "exact: mu > 4/3", painleve_rod, NULL},
    {"V17", "creep of a pinched rod", "mujoco issue 3328", pinch, NULL},
    {"V19", "free box turning about its middle axis", "elliptic functions", free_box, NULL},
    {"V20", "heavy top", "Bruls, Cardona & Arnold 2012", heavy_top, NULL},
    {"V21", "gyroscope", "exact in the limit", gyroscope, NULL},
    {"V23", "Euler's disk", "exact: Moffatt 2000, steady", eulers_disk, NULL},
    {"V24", "rattleback", "Kane & Levinson 1982", rattleback, NULL},
    {"V25", "pendulum (IFToMM A01)", "elliptic functions", pendulum, NULL},
    {"V27", "Andrews' squeezer (IFToMM A03)", "Bari test set", andrews_squeezer, NULL},
    {"V28", "Bricard's linkage (IFToMM A04)", "energy, symmetry", bricard_linkage, NULL},
    {"V29", "flyball governor (IFToMM A05)", "Runge-Kutta in 3 coordinates", flyball_governor, NULL},
    {"V30", "slider-crank with clearance", "Runge-Kutta of a double pendulum", crank_with_clearance, NULL},
    {"V35", "Newton's cradle", "exact", cradle, NULL},
    {"V38", "216 spheres", "SimBenchmark, 666", many_spheres, NULL},
    {"V40", "five spheres settle", "Chrono unit test", sphere_stack, NULL},
    {"V42", "a column of grains collapses in a channel", "Lube et al. 2005; Lajeunesse et al. 2005", column_collapse,
     NULL},
    {"V41", "hourglass: discharge through an opening", "Beverloo et al. 1961", beverloo_hopper, NULL},
    {"V45", "pyramid of 55 boxes (210 with --full, 5050 in the original)", "it stands", pyramid, NULL},
    {"S1", "bowling ball under both laws", "Negrut et al. 2017, reference run", bowling, NULL},
    {"S2", "table on four legs, rigid limit", "least norm, closed form", table_legs, NULL},
    {"S3", "ellipse on elastic elements", "Song et al. 2004, reference run", ellipse, NULL},
    {"S4", "rolling resistance", "exact", rolling_resistance, NULL},
    {"S5", "two bodies, a damper, friction", "Anitescu & Potra 2002, reference run", damper_and_friction, NULL},
    {"S6", "table on four legs, forces of least norm", "closed form", table_at_once, NULL},
    {"S7", "spinning friction", "exact", spinning_friction, NULL},
    {"S8", "the walls carry a silo", "Janssen 1895; weight", janssen_silo, NULL},
    {"S9", "a column of sticky grains stands or slumps", "Rumpf 1962; Coulomb 1776", sand_castle, NULL},
    {"S10", "a heap with rolling friction", "Zhou et al. 2002", repose_heap, NULL},
    {"S11", "a large grain in a shaken box", "Rosato et al. 1987", brazil_nut, NULL},
    {"S12", "grains in a rotating drum", "Mellmann 2001", rotating_drum, NULL},
    {"S13", "grains sheared between plates", "Chialvo et al. 2012", plane_shear, NULL},
    {0},
};
