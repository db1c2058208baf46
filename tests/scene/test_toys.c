/* The toys of examples/toys that move: each is compared with a number from theory. The scenes are run unchanged, or
 * with a few numbers changed if theory is more precise about the change. */
#include "step/scene_run.h"

#include "math/quat.h"

#define PI 3.14159265358979323846
#define G  9.81

static bool full(void)
{
    return getenv("ST_TEST_FULL") != NULL;
}

static void run_to(Run *run, double end)
{
    while (st_system_time(run->sys) < end - 1e-9 * run->def.h)
        run_step(run);
}

static st_Pose pose(const Run *run, const char *body)
{
    st_Pose out;
    assert_int_equal(st_system_pose(run->sys, st_scene_find_body(run->scene, body), &out), ST_OK);
    return out;
}

static st_Vec3 spin(const Run *run, const char *body) /* body axes */
{
    st_Vec3 v, w;
    assert_int_equal(st_system_velocity(run->sys, st_scene_find_body(run->scene, body), &v, &w), ST_OK);
    return w;
}

/* ---- Newton's cradle ---- */

/* The period of a pendulum of any amplitude: 2 pi sqrt(l/g)/agm(1, cos(a/2)) (Gauss). */
static double pendulum_period(double length, double amplitude)
{
    double a = 1, b = cos(amplitude / 2);
    for (int k = 0; k < 8; k++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2 * PI * sqrt(length / G) / a;
}

/* Equal masses and restitution 1 exchange velocities: half a period later the last ball is as high as the first was,
 * and the others hang where they hung, moved by no more than the gaps between them (0.1 mm each). */
static void the_cradle_passes_on_what_came_in(void **state)
{
    (void)state;
    const double length = 0.2, start = 0.8, gap = 1e-4, pitch = 0.0401, T = pendulum_period(length, start);
    char name[32];
    Run run;
    run_open(&run, "examples/toys/newtons-cradle.json", NULL);
    for (int half = 1; half <= 4; half++) {
        run_to(&run, 0.5 * half * T);
        int out = half % 2 == 1 ? 5 : 1;
        for (int ball = 1; ball <= 5; ball++) {
            snprintf(name, sizeof name, "ball %d", ball);
            double x = run_position(&run, name).x - (ball - 3) * pitch;
            if (ball != out)
                check_close(x, 0, 4 * gap * half); /* each blow finds them a gap further on */
            else /* order 2: 2e-4 of the energy a period at this step, and the gaps' 2 ms near the turning point */
                check_close(asin(fabs(x) / length), start, 0.005 * start);
        }
    }
    run_close(&run);
}

/* ---- the woodpecker ---- */

/* Glocker's model (1995): y, phi of the sleeve, phi of the bird; angles small. Contacts: beak, lower edge, upper edge.
 */
static const double mM = 3e-4, JM = 5e-9, mS = 4.5e-3, JS = 7e-7, r0 = 0.0025, rM = 0.0031, hM = 0.0058, lM = 0.01,
                    lG = 0.015, hS = 0.02, lS = 0.0201, c_phi = 0.0056;
static const double wN[3][3] = {{0, 0, -0.02}, {0, 0.0058, 0}, {0, -0.0058, 0}};
static const double wT[3][3] = {{1, 0.01, 0.015 - 0.0201}, {1, 0.0031, 0}, {1, 0.0031, 0}};

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* inv(M) w: the mass matrix does not change. */
static void weigh(const double *w, double *out)
{
    const double M[3][3] = {{mM + mS, mS * lM, mS * lG},
                            {mS * lM, JM + mS * lM * lM, mS * lM * lG},
                            {mS * lG, mS * lM * lG, JS + mS * lG * lG}};
    double det = 0, cof[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            cof[i][j] = M[(i + 1) % 3][(j + 1) % 3] * M[(i + 2) % 3][(j + 2) % 3] -
                        M[(i + 1) % 3][(j + 2) % 3] * M[(i + 2) % 3][(j + 1) % 3];
    for (int j = 0; j < 3; j++)
        det += M[0][j] * cof[0][j];
    for (int i = 0; i < 3; i++)
        out[i] = (cof[0][i] * w[0] + cof[1][i] * w[1] + cof[2][i] * w[2]) / det;
}

/* One impulse of a sweep: towards `wanted` along w, within lo and hi. */
static void push(double *u, const double *w, double wanted, double lo, double hi, double *p)
{
    double m[3];
    weigh(w, m);
    double to = fmin(hi, fmax(lo, *p + (wanted - dot3(w, u)) / dot3(w, m))), by = to - *p;
    *p = to;
    for (int i = 0; i < 3; i++)
        u[i] += by * m[i];
}

/* Moreau's stepping with Newton's impact law; the mean period and drop of the pecks between the third and the last. */
static void glocker(double h, double end, double *period, double *drop)
{
    double q[3] = {0, -0.1036, -0.2788}, u[3] = {-0.3411, 0, -7.4583}, first_t = 0, first_y = 0;
    const double e[3] = {0.5, 0, 0}, mu = 0.3;
    int pecks = 0;
    for (double t = 0; t < end; t += h) {
        double p[3][2] = {{0}}, before[3], force[3], a[3];
        for (int i = 0; i < 3; i++)
            q[i] += 0.5 * h * u[i];
        const double gap[3] = {lM + lG - lS - r0 - hS * q[2], rM - r0 + hM * q[1], rM - r0 - hM * q[1]};
        force[0] = -(mM + mS) * G;
        force[1] = -c_phi * (q[1] - q[2]) - mS * G * lM;
        force[2] = -c_phi * (q[2] - q[1]) - mS * G * lG;
        weigh(force, a);
        for (int k = 0; k < 3; k++)
            before[k] = dot3(wN[k], u);
        for (int i = 0; i < 3; i++)
            u[i] += h * a[i];
        for (int sweep = 0; sweep < 60; sweep++)
            for (int k = 0; k < 3; k++) {
                if (gap[k] > 0) continue;
                push(u, wN[k], -e[k] * before[k], 0, INFINITY, &p[k][0]);
                push(u, wT[k], 0, -mu * p[k][0], mu * p[k][0], &p[k][1]);
            }
        if (p[0][0] > 0 && before[0] < 0 && ++pecks >= 3) {
            if (pecks == 3) first_t = t, first_y = q[0];
            *period = (t - first_t) / (pecks - 3);
            *drop = (first_y - q[0]) / (pecks - 3);
        }
        for (int i = 0; i < 3; i++)
            q[i] += 0.5 * h * u[i];
    }
    assert_true(pecks > 5);
}

/* Pecks of the scene: times of the beak's impacts, and how far the sleeve had come. Where it was still, too. */
static void peck(Run *run, double end, double *period, double *drop, double *still)
{
    double first_t = 0, first_z = 0, resting = 0;
    int pecks = 0;
    while (st_system_time(run->sys) < end) {
        run_step(run);
        if (fabs(run_velocity(run, "sleeve").z) < 1e-6) resting += run->def.h;
        for (int k = 0; k < st_system_event_count(run->sys); k++) {
            st_EventReport event;
            assert_int_equal(st_system_event(run->sys, k, &event), ST_OK);
            st_BodyId bird = st_scene_find_body(run->scene, "bird");
            if (event.kind != ST_EVENT_COLLISION || (event.a.index1 != bird.index1 && event.b.index1 != bird.index1))
                continue;
            double z = run_position(run, "sleeve").z;
            if (++pecks == 3) first_t = event.time, first_z = z;
            if (pecks <= 3) continue;
            *period = (event.time - first_t) / (pecks - 3);
            *drop = (first_z - z) / (pecks - 3);
        }
    }
    *still = resting / end;
    assert_true(pecks > 5);
}

/* Glocker's model is linear in its angles, ours has finite rotations. With gaps, gravity and initial values scaled
 * by s, all motions are scaled by s, in the same time, and for small s the two must agree. The differences fall like
 * s: 2.5 % of the period at 0.1, 0.5 % at 0.02, 0.13 % at 0.005. */
static void the_woodpecker_pecks_as_published(void **state)
{
    (void)state;
    const double s = 0.01, phi_s = 0.2788 * s, w_s = 7.4583 * s, v = 0.3411 * s;
    double phi_m = 0.1036 * s;
    for (int k = 0; k < 20; k++) /* the lower edge at the pole: rM cos - hM sin = rM - s (rM - r0) */
        phi_m = (rM * cos(phi_m) - rM + s * (rM - r0)) / hM * phi_m / sin(phi_m);
    char set[12][200];
    const char *sets[13] = {0};
    int n = 0;
    snprintf(set[n++], 200, "simulation/gravity=[0, 0, %.17g]", -G * s);
    snprintf(set[n++], 200, "simulation/end=1.3");
    snprintf(set[n++], 200, "ground/pole/size/0=%.17g", 2 * (rM - s * (rM - r0)));
    snprintf(set[n++], 200, "ground/pole before the beak/size/0=%.17g", 2 * (lM + lG - lS - s * (lM + lG - lS - r0)));
    snprintf(set[n++], 200, "bodies/sleeve/orientation/angle=%.17g", phi_m);
    snprintf(set[n++], 200, "bodies/sleeve/velocity/2=%.17g", -v);
    snprintf(set[n++], 200, "bodies/bird/orientation/angle=%.17g", phi_s);
    snprintf(set[n++], 200, "bodies/bird/position=[%.17g, 0, %.17g]", lM * cos(phi_m) + lG * cos(phi_s),
             -lM * sin(phi_m) - lG * sin(phi_s));
    snprintf(set[n++], 200, "bodies/bird/velocity=[%.17g, 0, %.17g]", -lG * w_s * sin(phi_s),
             -v - lG * w_s * cos(phi_s));
    snprintf(set[n++], 200, "bodies/bird/angular_velocity/1=%.17g", w_s);
    snprintf(set[n++], 200, "joints/spring/point=[%.17g, 0, %.17g]", lM * cos(phi_m), -lM * sin(phi_m));
    snprintf(set[n++], 200, "joints/spring/rest=%.17g", phi_s - phi_m);
    for (int k = 0; k < n; k++)
        sets[k] = set[k];
    double period = 0, drop = 0, expected_period = 0, expected_drop = 0, still = 0;
    glocker(1e-5, 1.3, &expected_period, &expected_drop);
    Run run;
    run_open_changed(&run, "examples/toys/woodpecker.json", sets);
    peck(&run, 1.3, &period, &drop, &still);
    if (full())
        print_message("woodpecker: %g s, %g m a peck, published model %g, %g\n", period, drop, expected_period,
                      s * expected_drop);
    check_close(period, expected_period, 0.005 * expected_period);
    check_close(drop, s * expected_drop, 0.02 * s * expected_drop);
    run_close(&run);
}

static void the_woodpecker_comes_down_in_jerks(void **state)
{
    (void)state;
    double period = 0, drop = 0, still = 0;
    Run run;
    run_open(&run, "examples/toys/woodpecker.json", NULL);
    peck(&run, run.def.end, &period, &drop, &still);
    check_close(period, 0.146, 0.15 * 0.146); /* that of the linear model, less the effect of its large angles */
    assert_true(drop > 2 * rM);               /* far more than its clearance */
    assert_true(still > 0.15);                /* jammed: it does not slide down slowly */
    check_close(run_position(&run, "sleeve").x, 0, 0);
    run_close(&run);
}

/* ---- the tippe top ---- */

static const double top_R = 0.015, top_a = 0.003;

/* Jellett's constant: for a ball on a plane, under any force at the point of contact, the angular momentum along the
 * line from the centre of mass to that point does not change. */
static double jellett(const Run *run)
{
    st_Pose p = pose(run, "top");
    st_Vec3 w = spin(run, "top"), L = rotate(p.q, (st_Vec3){8e-7 * w.x, 8e-7 * w.y, 7e-7 * w.z});
    st_Vec3 r = rotate(p.q, (st_Vec3){0, 0, top_a});
    return dot(L, (st_Vec3){r.x, r.y, r.z - top_R});
}

static double upright(const Run *run)
{
    return rotate(pose(run, "top").q, (st_Vec3){0, 0, 1}).z;
}

/* The worst relative error of Jellett's constant, until the tip is near the table (it touches at a cosine of -0.77). */
static double jellett_error(const char *h)
{
    Run run;
    run_open(&run, "examples/toys/tippe-top.json", h, NULL);
    double start = jellett(&run), worst = 0;
    while (upright(&run) > -0.2 && st_system_time(run.sys) < 2) {
        run_step(&run);
        worst = fmax(worst, fabs(jellett(&run) / start - 1));
    }
    check_below(upright(&run), -0.2);
    run_close(&run);
    return worst;
}

static void the_tippe_top_turns_over(void **state)
{
    (void)state;
    /* order 1 with many turns a step's error: 5 % at half a millisecond, a quarter at a quarter of it */
    double coarse = jellett_error("simulation/h=0.0005"), fine = jellett_error("simulation/h=0.000125");
    check_below(fine, 0.02);
    check_close(coarse / fine, 4, 1);
    Run run;
    run_open(&run, "examples/toys/tippe-top.json", NULL);
    while (!run_finished(&run))
        run_step(&run);
    check_below(upright(&run), -0.99);
    assert_true(spin(&run, "top").z < 0);                  /* it began with +180 */
    check_close(run_position(&run, "top").z, 0.021, 1e-4); /* on its tip: 0.016 + 0.005, from 0.012 */
    run_close(&run);
    /* Dry friction at a point soon rolls, and a rolling top does not rise: therefore Leine & Glocker (2003)
     * introduced Contensou's friction, which is linear in the slip of a spinning contact. */
    run_open(&run, "examples/toys/tippe-top.json", "simulation/preset=accurate", NULL);
    run_to(&run, 1);
    assert_true(upright(&run) > 0.99);
    run_close(&run);
}

/* ---- the rattleback ---- */

static void the_rattleback_turns_back(void **state)
{
    (void)state;
    Run run;
    run_open(&run, "examples/toys/rattleback.json", NULL);
    run_to(&run, 8);
    assert_true(spin(&run, "stone").z > 4); /* from -5: all except the loss of the scheme in the rattling */
    check_below(hypot(run_position(&run, "stone").x, run_position(&run, "stone").y), 0.01); /* it stays in its place */
    run_close(&run);
    run_open(&run, "examples/toys/rattleback.json", "bodies/stone/angular_velocity=[0, 0, 5]", NULL);
    while (!run_finished(&run)) {
        run_step(&run);
        assert_true(spin(&run, "stone").z > 4.5);
    }
    run_close(&run);
}

/* ---- Euler's disk ---- */

/* A disk that rolls on its rim with its centre at rest turns about the diameter through the contact, at
 * sqrt(4 g sin(a)/R) (thin disk). Rolling friction mu takes mu m g of that: so sin(a) falls like (t_f - t)^2 with
 * t_f = 3/2 R/mu sqrt(R a/g), and the contact goes round at sqrt(4 g/(R sin a)), without bound. */
static void the_disk_stops_in_a_finite_time(void **state)
{
    (void)state;
    const double R = 0.0375, mu = 4e-4, mass = 7800 * PI * R * R * 0.003, start = 0.35;
    Run run;
    double rolled = 0, energy = 0;
    run_open(&run, "examples/toys/eulers-disk.json", NULL);
    run_step(&run);
    energy = run.info.kinetic + run.info.potential;
    while (st_system_time(run.sys) < 1) {
        run_step(&run);
        st_Vec3 w = rotate(pose(&run, "disk").q, spin(&run, "disk"));
        rolled += hypot(w.x, w.y) * run.def.h;
        double tilt = acos(rotate(pose(&run, "disk").q, (st_Vec3){0, 0, 1}).z);
        /* the wobble that the start, which has no thickness in it, sets going is 4 %, and so is the thickness */
        check_close(hypot(w.x, w.y), sqrt(4 * G * sin(tilt) / R), 0.1 * sqrt(4 * G * sin(tilt) / R));
    }
    /* Its weight is carried on the average; in one second that of the wobble's load is not quite 0. */
    double lost = energy - run.info.kinetic - run.info.potential;
    check_close(lost, mu * mass * G * rolled, 0.01 * lost);
    double stop = 1.5 * R / mu * sqrt(R * start / G);
    run.def.end = 1.1 * stop; /* events accumulate on the way there */
    while (!run_finished(&run) && st_system_time(run.sys) < run.def.end) {
        run_step(&run);
        double moving = run.info.kinetic;
        if (st_system_time(run.sys) < 0.9 * stop) assert_true(moving > 0);
    }
    check_below(run.info.kinetic, 1e-12);
    run_close(&run);
}

/* ---- the walker ---- */

/* A periodic gait loses in each impact the energy gained on the slope in the step: (2 m + m_hip) g sin(slope)
 * length. */
static void the_walker_walks(void **state)
{
    (void)state;
    const double mass = 1.5, slope = 0.03;
    Run run;
    run_open(&run, "examples/toys/walker.json", NULL);
    st_JointId inner = st_scene_find_joint(run.scene, "inner hip"), outer = st_scene_find_joint(run.scene, "outer hip");
    double at[20] = {0}, hip[20] = {0}, energy[20] = {0}, before = 0;
    int steps = 0;
    while (!run_finished(&run)) {
        run_step(&run);
        check_below(run.info.penetration, run.def.active_gap); /* the foot is held in every stage of every step */
        st_JointReport a, b;
        assert_int_equal(st_system_joint(run.sys, inner, ST_FRAME_WORLD, &a), ST_OK);
        assert_int_equal(st_system_joint(run.sys, outer, ST_FRAME_WORLD, &b), ST_OK);
        /* legs pass each other; coordinates are 0 at the start, where they are apart by 2 * 0.3247 */
        double apart = a.coordinate - b.coordinate + 2 * 0.3246890363;
        if (before * apart < 0 && steps < 20) {
            at[steps] = st_system_time(run.sys);
            hip[steps] = run_position(&run, "hip").x;
            energy[steps++] = run.info.kinetic + run.info.potential;
        }
        before = apart;
    }
    assert_true(steps >= 12);
    for (int k = 1; k < steps; k++) {
        double lost = energy[k - 1] - energy[k];
        check_close(at[k] - at[k - 1], 0.4909, 0.02 * 0.4909); /* of the hybrid model in two angles, see the scene */
        check_close(lost, mass * G * sin(slope) * (hip[k] - hip[k - 1]),
                    0.05 * lost); /* single steps differ a little */
    }
    double lost = energy[0] - energy[steps - 1];
    check_close(lost, mass * G * sin(slope) * (hip[steps - 1] - hip[0]), 0.01 * lost);
    run_close(&run);
}

/* ---- Painleve's chalk ---- */

/* With friction 2 the tip of a rod at 60 degrees cannot slide on: 1/m + (l^2/I) cos(a) (cos(a) - mu sin(a)) < 0, so
 * that every normal force would press it deeper (Painleve 1895). An impulse at the tip stops it at once. It leaves the
 * angular momentum about the tip as it was, but for gravity's: (I + m l^2) w = m l (v sin(a) - g cos(a) h), I = m
 * l^2/3, after one step, however short. With friction 0.5 < 4/3 a finite force is enough, and one step changes little.
 */
static void the_chalk_stops_at_once(void **state)
{
    (void)state;
    const double l = 0.05, v = 1, a = PI / 3, w = 0.75 * v / l * sin(a);
    for (int k = 0; k < 2; k++) {
        const double h = k == 0 ? 5e-4 : 5e-5;
        Run run;
        run_open(&run, "examples/toys/painleve-chalk.json", k == 0 ? "simulation/h=5e-4" : "simulation/h=5e-5", NULL);
        run_step(&run);
        check_close(spin(&run, "chalk").y, w - 0.75 * G * cos(a) * h / l, 1e-6 * w); /* the solver's residual */
        run_close(&run);
    }
    Run run;
    run_open(&run, "examples/toys/painleve-chalk.json", "ground/board/friction=0.5",
             "bodies/chalk/shapes/0/friction=0.5", NULL);
    run_step(&run);
    check_below(fabs(spin(&run, "chalk").y), 0.01 * w);
    run_close(&run);
}

/* ---- ratchet ---- */

/* The pawl stops the wheel at a tooth: from one period of the torque to the next it turns by a whole number of teeth,
 * at least one, and never back by more than a tooth.                                                              */
static void the_ratchet_turns_one_way(void **state)
{
    (void)state;
    const double pitch = 2 * PI / 12;
    double top = 0, back = 0, last = 0;
    st_JointReport joint;
    Run run;
    run_open(&run, "examples/toys/ratchet.json", "simulation/h=0.002", NULL);
    for (int period = 1; period < 4; period++) {
        while (st_system_time(run.sys) < period + 0.75 - 1e-6) {
            run_step(&run);
            assert_int_equal(st_system_joint(run.sys, st_scene_find_joint(run.scene, "axle"), ST_FRAME_WORLD, &joint),
                             ST_OK);
            top = fmax(top, joint.coordinate);
            back = fmax(back, top - joint.coordinate);
        }
        const double teeth = (joint.coordinate - last) / pitch;
        check_close(teeth, round(teeth), period == 1 ? 1 : 1e-3); /* 1e-3: the pawl's end has some slope left */
        assert_true(teeth > 0.5);
        last = joint.coordinate;
    }
    check_below(back, pitch);
    run_close(&run);
}

/* ---- escapement ---- */

/* One tooth for every swing forth and back, and the swing goes on: it stays above the 0.061 rad that let a tooth pass
 * (depth - clear)/tan(span)/R of scenes.py. Without the weight nothing drives the wheel forward. */
static void the_clock_ticks(void **state)
{
    (void)state;
    const double pitch = 2 * PI / 15, release = 0.061;
    double last = 1, swing = 0, turned[8];
    st_JointReport pendulum, wheel;
    Run run;
    int swings = 0;
    run_open(&run, "examples/toys/escapement.json", full() ? "simulation/end=6" : "simulation/end=3.2", NULL);
    while (!run_finished(&run) && swings < 8) {
        run_step(&run);
        st_system_joint(run.sys, st_scene_find_joint(run.scene, "pivot"), ST_FRAME_WORLD, &pendulum);
        st_system_joint(run.sys, st_scene_find_joint(run.scene, "arbor"), ST_FRAME_WORLD, &wheel);
        const double angle = pendulum.coordinate + 0.14; /* it starts there */
        swing = fmax(swing, fabs(angle));
        if (last < 0 && angle >= 0) {
            turned[swings++] = wheel.coordinate;
            assert_true(swing > 1.5 * release);
            swing = 0;
        }
        last = angle;
    }
    assert_true(swings >= 3);
    for (int k = 1; k < swings; k++)
        check_close((turned[k] - turned[k - 1]) / pitch, 1,
                    0.02); /* where in its rise the tooth is changes with the swing */
    run_close(&run);
    run_open(&run, "examples/toys/escapement.json", "joints/arbor/motor/target=0", "simulation/end=1.5", NULL);
    while (!run_finished(&run))
        run_step(&run);
    st_system_joint(run.sys, st_scene_find_joint(run.scene, "arbor"), ST_FRAME_WORLD, &wheel);
    check_below(wheel.coordinate, 0.5 * pitch);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cradle_passes_on_what_came_in),
        cmocka_unit_test(the_woodpecker_pecks_as_published),
        cmocka_unit_test(the_woodpecker_comes_down_in_jerks),
        cmocka_unit_test(the_tippe_top_turns_over),
        cmocka_unit_test(the_rattleback_turns_back),
        cmocka_unit_test(the_disk_stops_in_a_finite_time),
        cmocka_unit_test(the_walker_walks),
        cmocka_unit_test(the_chalk_stops_at_once),
        cmocka_unit_test(the_ratchet_turns_one_way),
        cmocka_unit_test(the_clock_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
