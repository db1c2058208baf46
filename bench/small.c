/* bench/small.c -- small and jointed systems: CPU time of a step, its stages, and the accuracy reached.
 *
 *     build/bench/small [scene ...]        all of them, or those named
 *
 *     bowling      a ball that starts sliding on a plane: it ends rolling at 5/7 of its speed
 *     column       20 boxes, the top one 1 to 1000 times heavier, 5 s at h = 1/240: how far the lowest gaps close
 *     springs      a hanging chain of 20 masses, k = 1e2 to 1e8: its stretch at rest
 *     ringing      one mass on a spring, 50 steps per period: the energy left after 10 periods
 *     chain        100 ball joints, gently swinging: energy, joints; whip: the same, released horizontally
 *     bounce       a ball that falls from 1 m, e = 1 and 0.5: its heights
 *     incline      a box on a slope, pushed along: creep at 0.99 mu, and the force at which it begins to move
 *     quadruped    13 bodies, 12 motors, on the floor: standing, trotting; gripper: a box held by two fingers
 */
#include <stiction/stiction.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PI 3.14159265358979323846

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        st_Status status_ = (call);                                                                                    \
        if (status_ != ST_OK) return status_;                                                                          \
    } while (0)

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* The results of a run. */
typedef struct Run {
    double mean, worst, last; /* microseconds per step: mean, worst, mean of the last tenth */
    double penetration, joint_error;
    double energy, energy_low, energy_high; /* at the start, the smallest, the largest [J]              */
    int contacts, unsolved;
    double residual;
    double share[ST_N_PARTS];
} Run;

static void note(Run *run, const st_StepInfo *info)
{
    double energy = info->kinetic + info->potential;
    run->penetration = fmax(run->penetration, info->penetration);
    run->joint_error = fmax(run->joint_error, info->joint_error);
    run->energy_low = fmin(run->energy_low, energy);
    run->energy_high = fmax(run->energy_high, energy);
    run->contacts = info->contacts > run->contacts ? info->contacts : run->contacts;
    run->unsolved += !info->solve.converged;
    run->residual = fmax(run->residual, info->solve.residual.natural);
}

static st_Status run_steps(st_System *system, double h, int n, Run *run, st_Error *err)
{
    double kinetic, potential, sum = 0, before[ST_N_PARTS], after[ST_N_PARTS];
    TRY(st_system_energy(system, &kinetic, &potential, err));
    double energy = kinetic + potential;
    *run = (Run){.energy = energy, .energy_low = energy, .energy_high = energy};
    st_system_part_seconds(system, before);
    double start = cpu_seconds(), late = start, last = start;
    for (int k = 0; k < n; k++) {
        st_StepInfo info = st_step_info();
        TRY(st_system_step(system, h, &info, err));
        if (k % 16 == 15) { /* reading the clock costs as much as a small step */
            double now = cpu_seconds();
            run->worst = fmax(run->worst, (now - last) / 16);
            last = now;
        }
        if (k == n - 1 - n / 10) late = cpu_seconds();
        note(run, &info);
    }
    double end = cpu_seconds();
    run->mean = 1e6 * (end - start) / n;
    run->last = 1e6 * (end - late) / (n / 10 > 0 ? n / 10 : 1);
    run->worst *= 1e6;
    st_system_part_seconds(system, after);
    for (int k = 0; k < ST_N_PARTS; k++)
        sum += after[k] - before[k];
    for (int k = 0; k < ST_N_PARTS; k++)
        run->share[k] = sum > 0 ? 100 * (after[k] - before[k]) / sum : 0.0;
    return ST_OK;
}

static void print(const char *name, const Run *run, const char *format, double a, double b)
{
    printf("%-26s %8.2f us a step, at the end %8.2f, worst %8.2f | ", name, run->mean, run->last, run->worst);
    printf(format, a, b);
    printf(" |");
    for (int k = 0; k < ST_N_PARTS; k++)
        if (run->share[k] >= 0.5) printf(" %s %.0f %%", st_part_name((st_StepPart)k), run->share[k]);
    if (run->unsolved > 0) printf(" | %d not solved, residual %.1e", run->unsolved, run->residual);
    printf("\n");
    fflush(stdout);
}

/* ---- building --------------------------------------------------------------------------------- */

static st_Status add_floor(st_Scene *scene, double mu, double restitution, st_Error *err)
{
    st_ShapeDef plane = st_plane_def();
    plane.mu = mu;
    plane.restitution = restitution;
    return st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err);
}

static st_Mat3 diagonal(double x, double y, double z)
{
    return (st_Mat3){{x, 0, 0, 0, y, 0, 0, 0, z}};
}

static st_Status add_box(st_Scene *scene, st_Vec3 p, st_Vec3 half, double mass, double mu, st_BodyId *id, st_Error *err)
{
    st_BodyDef def = st_body_def();
    st_ShapeDef box = st_box_def(half.x, half.y, half.z);
    def.pose.p = p;
    def.mass = mass;
    double xx = 4 * half.x * half.x, yy = 4 * half.y * half.y, zz = 4 * half.z * half.z;
    def.inertia = diagonal(mass / 12 * (yy + zz), mass / 12 * (xx + zz), mass / 12 * (xx + yy));
    box.mu = mu;
    TRY(st_scene_add_body(scene, &def, id, err));
    return st_scene_add_shape(scene, *id, &box, NULL, err);
}

/* A scene under construction, and its results. */
typedef struct Bench {
    st_Scene *scene;
    st_SystemDef def;
    st_System *system;
} Bench;

static st_Status begin(Bench *bench, st_Error *err)
{
    *bench = (Bench){.def = st_system_def()};
    return st_scene_create(&bench->scene, err);
}

static st_Status start(Bench *bench, st_Error *err)
{
    return st_system_create(bench->scene, &bench->def, &bench->system, err);
}

static void end(Bench *bench)
{
    st_system_destroy(bench->system);
    st_scene_destroy(bench->scene);
    *bench = (Bench){0};
}

/* ---- bowling ball ----------------------------------------------------------------------------- */

static st_Status bowling(st_Error *err)
{
    Bench b;
    st_BodyDef ball = st_body_def();
    st_ShapeDef sphere = st_sphere_def(0.1);
    st_BodyId id;
    st_Vec3 v, w;
    Run run;
    TRY(begin(&b, err));
    ball.pose.p = (st_Vec3){0, 0, 0.1};
    ball.velocity = (st_Vec3){4, 0, 0};
    ball.mass = 1;
    ball.inertia = diagonal(0.004, 0.004, 0.004);
    sphere.mu = 0.3;
    TRY(add_floor(b.scene, 0.3, 0, err));
    TRY(st_scene_add_body(b.scene, &ball, &id, err));
    TRY(st_scene_add_shape(b.scene, id, &sphere, NULL, err));
    TRY(start(&b, err));
    TRY(run_steps(b.system, 1e-3, 400, &run, err));
    print("bowling, sliding", &run, "penetration %.1e m", run.penetration, 0);
    TRY(run_steps(b.system, 1e-3, 100000, &run, err));
    TRY(st_system_velocity(b.system, id, &v, &w));
    print("bowling, rolling", &run, "speed off by %.1e, penetration %.1e m", fabs(v.x - 4 * 5.0 / 7), run.penetration);
    end(&b);
    return ST_OK;
}

/* ---- column ----------------------------------------------------------------------------------- */

static st_Status column_of(double ratio, double tolerance, const char *name, st_Error *err)
{
    Bench b;
    st_BodyId id;
    st_Pose pose;
    Run run;
    TRY(begin(&b, err));
    TRY(add_floor(b.scene, 0.5, 0, err));
    for (int k = 0; k < 20; k++)
        TRY(add_box(b.scene, (st_Vec3){0, 0, 0.1 + 0.2 * k}, (st_Vec3){0.1, 0.1, 0.1}, k == 19 ? ratio : 1, 0.5, &id,
                    err));
    b.def.tolerance = tolerance;
    TRY(start(&b, err));
    TRY(run_steps(b.system, 1.0 / 240, 1200, &run, err));
    TRY(st_system_pose(b.system, id, &pose));
    print(name, &run, "top sank %.1e m, aside %.1e m", 3.9 - pose.p.z, hypot(pose.p.x, pose.p.y));
    end(&b);
    return ST_OK;
}

static st_Status column(st_Error *err)
{
    TRY(column_of(1, 1e-9, "column 1, 1e-9", err));
    TRY(column_of(10, 1e-9, "column 10, 1e-9", err));
    TRY(column_of(100, 1e-9, "column 100, 1e-9", err));
    TRY(column_of(1000, 1e-9, "column 1000, 1e-9", err));
    TRY(column_of(1, 1e-6, "column 1, 1e-6", err));
    TRY(column_of(10, 1e-6, "column 10, 1e-6", err));
    TRY(column_of(100, 1e-6, "column 100, 1e-6", err));
    return column_of(1000, 1e-6, "column 1000, 1e-6", err);
}

/* ---- springs ---------------------------------------------------------------------------------- */

static st_Status add_mass(st_Scene *scene, double z, double mass, st_BodyId above, double k, double d, st_BodyId *id,
                          st_Error *err)
{
    st_BodyDef def = st_body_def();
    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    def.pose.p = (st_Vec3){0, 0, z};
    def.mass = mass;
    def.inertia = diagonal(1e-3, 1e-3, 1e-3);
    TRY(st_scene_add_body(scene, &def, id, err));
    spring.a = above;
    spring.b = *id;
    spring.point_a = (st_Vec3){0, 0, z + 0.1};
    spring.point_b = (st_Vec3){0, 0, z};
    spring.stiffness = k;
    spring.damping = d;
    return st_scene_add_spring(scene, &spring, NULL, err);
}

/* 20 masses of 0.1 kg hanging on springs: the stretch of the whole chain is sum of (21 - j) m g/k. Run until at
 * rest, by the damping of the scheme and a little of the springs. */
static st_Status springs_of(double k, double h, const char *integrator, int n, st_Error *err)
{
    Bench b;
    st_BodyId id = ST_GROUND;
    st_Pose pose;
    Run run;
    char name[64];
    double exact = 210 * 0.1 * 9.81 / k;
    TRY(begin(&b, err));
    for (int j = 0; j < 20; j++)
        TRY(add_mass(b.scene, -0.1 * (j + 1), 0.1, id, k, 0.02 * sqrt(k), &id, err));
    TRY(st_setting_set(&b.def, "integrator", &(st_SettingValue){.word = integrator}, err));
    TRY(start(&b, err));
    TRY(run_steps(b.system, h, n, &run, err));
    TRY(st_system_pose(b.system, id, &pose));
    snprintf(name, sizeof name, "springs %.0e, h = 1/%.0f, %s", k, 1 / h, integrator);
    print(name, &run, "stretch %.4e m, off by %.1e of it", exact, fabs((-2 - pose.p.z - exact) / exact));
    end(&b);
    return ST_OK;
}

static st_Status springs(st_Error *err)
{
    const char *const integrators[] = {"implicit", "sdirk2"};
    for (int i = 0; i < 2; i++) {
        for (int e = 2; e <= 8; e += 2)
            TRY(springs_of(pow(10, e), 0.01, integrators[i], e == 2 ? 20000 : 4000, err));
        TRY(springs_of(1e6, 1.0 / 30, integrators[i], 4000, err));
        TRY(springs_of(1e6, 0.1, integrators[i], 4000, err));
    }
    return ST_OK;
}

/* One mass of 1 kg on an undamped spring, 50 steps per period, 10 periods: the share of energy left. */
static st_Status ringing(st_Error *err)
{
    const char *const integrators[] = {"implicit", "trapezoid", "sdirk2", "bdf2"};
    for (int i = 0; i < 4; i++) {
        Bench b;
        st_BodyId id;
        Run run;
        char name[64];
        double h = 0.01, k = pow(2 * PI / (50 * h), 2), kinetic, potential;
        TRY(begin(&b, err));
        TRY(add_mass(b.scene, -0.1, 1, ST_GROUND, k, 0, &id, err));
        b.def.gravity = (st_Vec3){0, 0, 0};
        TRY(st_setting_set(&b.def, "integrator", &(st_SettingValue){.word = integrators[i]}, err));
        TRY(start(&b, err));
        double q[7] = {0, 0, -0.11, 1, 0, 0, 0}, v[6] = {0};
        TRY(st_system_set_state(b.system, 0, q, v, err));
        TRY(run_steps(b.system, h, 500, &run, err));
        TRY(st_system_energy(b.system, &kinetic, &potential, err));
        snprintf(name, sizeof name, "ringing, %s", integrators[i]);
        print(name, &run, "energy left %.6f", (kinetic + potential) / (0.5 * k * 1e-4), 0);
        end(&b);
    }
    return ST_OK;
}

/* ---- chain and whip --------------------------------------------------------------------------- */

/* n links of 0.1 m and 0.1 kg from the origin, at an angle from straight down. */
static st_Status build_chain(Bench *b, int n, double angle, st_JointType type, st_Error *err)
{
    st_BodyId last = ST_GROUND;
    double length = 0.1;
    st_Vec3 along = {sin(angle), 0, -cos(angle)};
    for (int k = 0; k < n; k++) {
        st_BodyDef link = st_body_def();
        st_JointDef joint = st_joint_def(type);
        st_BodyId id;
        double s = length * (k + 0.5);
        link.pose.p = (st_Vec3){s * along.x, 0, s * along.z};
        link.pose.q = (st_Quat){cos(0.5 * (PI - angle)), 0, sin(0.5 * (PI - angle)), 0}; /* its z along the chain */
        link.mass = 0.1;
        double across = 0.1 * (length * length / 12 + 0.01 * 0.01 / 4);
        link.inertia = diagonal(across, across, 0.1 * 0.01 * 0.01 / 2);
        TRY(st_scene_add_body(b->scene, &link, &id, err));
        joint.a = last;
        joint.b = id;
        joint.axis = (st_Vec3){0, 1, 0};
        joint.point = (st_Vec3){length * k * along.x, 0, length * k * along.z};
        TRY(st_scene_add_joint(b->scene, &joint, NULL, err));
        last = id;
    }
    return ST_OK;
}

typedef struct ChainCase {
    const char *name;
    st_JointType type;
    const char *integrator, *drift;
    double angle, end;
    int substeps;
    double tolerance; /* 0: the usual one */
} ChainCase;

static st_Status chain_of(const ChainCase *c, st_Error *err)
{
    Bench b;
    Run run;
    const int n = 100;
    double available = n * 0.1 * 9.81 * 0.05 * n * (1 - cos(c->angle)), h = 1.0 / 240 / c->substeps;
    TRY(begin(&b, err));
    TRY(build_chain(&b, n, c->angle, c->type, err));
    TRY(st_setting_set(&b.def, "integrator", &(st_SettingValue){.word = c->integrator}, err));
    TRY(st_setting_set(&b.def, "drift", &(st_SettingValue){.word = c->drift}, err));
    b.def.form = ST_FORM_II;
    if (c->tolerance > 0) b.def.tolerance = c->tolerance;
    TRY(start(&b, err));
    TRY(run_steps(b.system, h, (int)(c->end / h), &run, err));
    char name[80];
    snprintf(name, sizeof name, "%s %s %s x%d, %g", c->name, c->integrator, c->drift, c->substeps, b.def.tolerance);
    run.mean *= c->substeps, run.last *= c->substeps, run.worst *= c->substeps; /* per 1/240 s */
    double low = run.energy_low - run.energy, high = run.energy_high - run.energy;
    print(name, &run, "energy %+.1e of the available, joints %.1e m", (high > -low ? high : low) / available,
          run.joint_error);
    end(&b);
    return ST_OK;
}

/* A chain released at 10 degrees; and a whip, released horizontally. Energies are relative to that above the hanging
 * state. */
#define GENTLE (PI / 18)
#define LEVEL  (PI / 2)

static st_Status chain(st_Error *err)
{
    static const ChainCase cases[] = {
        {"chain of balls", ST_JOINT_BALL, "implicit", "gap", GENTLE, 5, 1, 0},
        {"chain of balls", ST_JOINT_BALL, "trapezoid", "mean", GENTLE, 5, 1, 7e-8},
        {"chain of balls", ST_JOINT_BALL, "trapezoid", "mean", GENTLE, 5, 1, 1e-12},
        {"chain of balls", ST_JOINT_BALL, "trapezoid", "gap", GENTLE, 5, 1, 0},
        {"chain of balls", ST_JOINT_BALL, "bdf2", "gap", GENTLE, 5, 1, 0},
        {"chain of balls", ST_JOINT_BALL, "sdirk2", "gap", GENTLE, 5, 1, 0},
        {"chain of balls", ST_JOINT_BALL, "trapezoid", "projection", GENTLE, 5, 1, 0},
        {"chain of balls", ST_JOINT_BALL, "sdirk2", "projection", GENTLE, 5, 1, 0},
        {"chain of hinges", ST_JOINT_REVOLUTE, "trapezoid", "mean", GENTLE, 5, 1, 7e-8},
        {"chain of hinges", ST_JOINT_REVOLUTE, "trapezoid", "gap", GENTLE, 5, 1, 0},
        {"chain of hinges", ST_JOINT_REVOLUTE, "sdirk2", "gap", GENTLE, 5, 1, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        TRY(chain_of(&cases[k], err));
    return ST_OK;
}

static st_Status whip(st_Error *err)
{
    static const ChainCase cases[] = {
        {"whip of balls", ST_JOINT_BALL, "trapezoid", "mean", LEVEL, 5, 2, 5e-6},
        {"whip of balls", ST_JOINT_BALL, "trapezoid", "mean", LEVEL, 5, 4, 1e-9},
        {"whip of balls", ST_JOINT_BALL, "trapezoid", "projection", LEVEL, 5, 2, 0},
        {"whip of balls", ST_JOINT_BALL, "trapezoid", "projection", LEVEL, 5, 4, 0},
        {"whip of balls", ST_JOINT_BALL, "trapezoid", "gap", LEVEL, 4, 4,
         0}, /* and no longer: see docs/performance.md */
        {"whip of balls", ST_JOINT_BALL, "sdirk2", "gap", LEVEL, 5, 2, 0},
        {"whip of hinges", ST_JOINT_REVOLUTE, "trapezoid", "mean", LEVEL, 5, 2, 5e-6},
        {"whip of hinges", ST_JOINT_REVOLUTE, "trapezoid", "projection", LEVEL, 5, 2, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        TRY(chain_of(&cases[k], err));
    return ST_OK;
}

/* ---- bounce ----------------------------------------------------------------------------------- */

/* Dropped from 1 m; the height of each bounce is e^2 of the last. After 3 s, from the remaining energy. */
static st_Status bounce(st_Error *err)
{
    static const double restitutions[] = {1, 0.5};
    for (int k = 0; k < 2; k++) {
        Bench b;
        st_BodyDef ball = st_body_def();
        st_ShapeDef sphere = st_sphere_def(0.1);
        st_BodyId id;
        Run run;
        double e = restitutions[k], kinetic, potential;
        char name[64];
        TRY(begin(&b, err));
        ball.pose.p = (st_Vec3){0, 0, 1.1};
        ball.mass = 1;
        ball.inertia = diagonal(0.004, 0.004, 0.004);
        sphere.mu = 0.3;
        sphere.restitution = e;
        TRY(add_floor(b.scene, 0.3, e, err));
        TRY(st_scene_add_body(b.scene, &ball, &id, err));
        TRY(st_scene_add_shape(b.scene, id, &sphere, NULL, err));
        TRY(st_preset_apply(&b.def, "accurate", err));
        TRY(start(&b, err));
        double first = sqrt(2 / 9.81), second = first * (1 + 2 * e); /* times of the impacts */
        int n = (int)((e == 1 ? 10.0 : 0.5 * (first + second)) * 240);
        TRY(run_steps(b.system, 1.0 / 240, n, &run, err));
        TRY(st_system_energy(b.system, &kinetic, &potential, err));
        double height = (kinetic + potential) / 9.81 - 0.1;
        snprintf(name, sizeof name, "bounce, e = %g", e);
        print(name, &run, "height off by %.1e of %.4f m", fabs(height - e * e) / (e * e), e * e);
        end(&b);
    }
    return ST_OK;
}

/* ---- incline ---------------------------------------------------------------------------------- */

/* A box on a plane with gravity tilted by `part` of the friction angle, towards `degrees` in the plane; or without
 * tilt, with the box sliding in that direction at 2 m/s. */
static st_Status incline_of(double part, double degrees, st_Error *err)
{
    Bench b;
    st_BodyId id;
    st_Pose pose;
    st_Vec3 v, w;
    Run run;
    char name[64];
    double mu = 0.5, toward = degrees * PI / 180, slope = atan(part * mu);
    TRY(begin(&b, err));
    TRY(add_floor(b.scene, mu, 0, err));
    TRY(add_box(b.scene, (st_Vec3){0, 0, 0.1}, (st_Vec3){0.2, 0.2, 0.1}, 1, mu, &id, err));
    b.def.gravity = (st_Vec3){9.81 * sin(slope) * cos(toward), 9.81 * sin(slope) * sin(toward), -9.81 * cos(slope)};
    TRY(start(&b, err));
    TRY(run_steps(b.system, 1.0 / 240, 2400, &run, err));
    TRY(st_system_pose(b.system, id, &pose));
    snprintf(name, sizeof name, "incline, %g degrees", degrees);
    print(name, &run, "crept %.1e m in 10 s", hypot(pose.p.x, pose.p.y), 0);
    end(&b);

    TRY(begin(&b, err));
    TRY(add_floor(b.scene, mu, 0, err));
    TRY(add_box(b.scene, (st_Vec3){0, 0, 0.1}, (st_Vec3){0.2, 0.2, 0.1}, 1, mu, &id, err));
    TRY(start(&b, err));
    double q[7] = {0, 0, 0.1, 1, 0, 0, 0}, fast[6] = {2 * cos(toward), 2 * sin(toward), 0, 0, 0, 0};
    TRY(st_system_set_state(b.system, 0, q, fast, err));
    TRY(run_steps(b.system, 1.0 / 240, 48, &run, err));
    TRY(st_system_velocity(b.system, id, &v, &w));
    snprintf(name, sizeof name, "sliding, %g degrees", degrees);
    print(name, &run, "friction %.6f of the weight, turned by %.1e rad", (2 - hypot(v.x, v.y)) / (9.81 * 0.2),
          fabs(atan2(v.y, v.x) - toward));
    end(&b);
    return ST_OK;
}

static st_Status incline(st_Error *err)
{
    TRY(incline_of(0.99, 0, err));
    TRY(incline_of(0.99, 30, err));
    return incline_of(0.99, 45, err);
}

/* ---- mechanisms on the floor ------------------------------------------------------------------ */

/* A link that hangs from `parent` at `top`, its joint held by a position motor. */
static st_Status add_leg_link(st_Scene *scene, st_BodyId parent, st_Vec3 top, st_Vec3 axis, double length, double mass,
                              const st_Profile *gait, double swing, st_BodyId *id, st_Error *err)
{
    st_BodyDef body = st_body_def();
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    body.pose.p = (st_Vec3){top.x, top.y, top.z - 0.5 * length};
    body.mass = mass;
    body.inertia = diagonal(mass * length * length / 12, mass * length * length / 12, 2e-4 * mass);
    TRY(st_scene_add_body(scene, &body, id, err));
    joint.a = parent;
    joint.b = *id;
    joint.point = top;
    joint.axis = axis;
    joint.motor = (st_MotorDef){
        .type = ST_MOTOR_POSITION, .target = swing, .profile = *gait, .max_force = 60, .stiffness = 300, .damping = 6};
    return st_scene_add_joint(scene, &joint, NULL, err);
}

/* Trunk of 12 kg, four legs of hip, thigh and shank with a ball for a foot; diagonal legs swing together. */
static st_Status build_quadruped(st_Scene *scene, double swing, st_Error *err)
{
    const double hip = 0.06, thigh = 0.25, shank = 0.25, foot = 0.03, top = hip + thigh + shank + foot;
    st_BodyId trunk, upper, middle, lower;
    st_ShapeDef ball = st_sphere_def(foot);
    TRY(add_floor(scene, 0.6, 0, err));
    TRY(add_box(scene, (st_Vec3){0, 0, top}, (st_Vec3){0.3, 0.12, 0.05}, 12, 0.6, &trunk, err));
    for (int leg = 0; leg < 4; leg++) {
        double x = (leg & 1) != 0 ? 0.25 : -0.25, y = (leg & 2) != 0 ? 0.15 : -0.15;
        st_Profile still = {.type = ST_PROFILE_CONSTANT};
        st_Profile gait = {.type = ST_PROFILE_HARMONIC, .frequency = 4 * PI, .phase = leg == 0 || leg == 3 ? 0 : PI};
        st_Vec3 at_hip = {x, y, top}, at_thigh = {x, y, top - hip}, at_knee = {x, y, top - hip - thigh};
        TRY(add_leg_link(scene, trunk, at_hip, (st_Vec3){1, 0, 0}, hip, 0.6, &still, 0, &upper, err));
        TRY(add_leg_link(scene, upper, at_thigh, (st_Vec3){0, 1, 0}, thigh, 1, &gait, swing, &middle, err));
        TRY(add_leg_link(scene, middle, at_knee, (st_Vec3){0, 1, 0}, shank, 0.3, &gait, -2 * swing, &lower, err));
        ball.pose.p = (st_Vec3){0, 0, -0.5 * shank};
        ball.mu = 0.6;
        TRY(st_scene_add_shape(scene, lower, &ball, NULL, err));
    }
    return ST_OK;
}

static st_Status quadruped(st_Error *err)
{
    for (int trots = 0; trots < 2; trots++) {
        Bench b;
        Run run;
        st_Pose pose;
        TRY(begin(&b, err));
        TRY(build_quadruped(b.scene, trots != 0 ? 0.25 : 0, err));
        TRY(start(&b, err));
        TRY(run_steps(b.system, 1.0 / 500, 1500, &run, err));
        TRY(st_system_pose(b.system, (st_BodyId){1}, &pose));
        print(trots != 0 ? "quadruped, trotting" : "quadruped, standing", &run, "joints %.1e m, trunk at %.4f m",
              run.joint_error, pose.p.z);
        end(&b);
    }
    return ST_OK;
}

/* Two fingers on slides press on a cube between them; gravity is 0.95 of the largest friction force. */
static st_Status gripper(st_Error *err)
{
    Bench b;
    Run run;
    st_BodyId box, finger;
    st_Pose pose;
    const double half = 0.05, mu = 0.5, press = 9.81 / (2 * mu * 0.95);
    TRY(begin(&b, err));
    TRY(add_box(b.scene, (st_Vec3){0, 0, 0}, (st_Vec3){half, half, half}, 1, mu, &box, err));
    for (int side = -1; side <= 1; side += 2) {
        st_JointDef slide = st_joint_def(ST_JOINT_PRISMATIC);
        st_ForceDef force = st_force_def();
        st_Vec3 at = {side * (half + 0.02), 0, 0};
        TRY(add_box(b.scene, at, (st_Vec3){0.02, 0.03, 0.03}, 0.2, mu, &finger, err));
        slide.b = finger;
        slide.point = at;
        slide.axis = (st_Vec3){1, 0, 0};
        TRY(st_scene_add_joint(b.scene, &slide, NULL, err));
        force.body = finger;
        force.force = (st_Vec3){-side * press, 0, 0};
        TRY(st_scene_add_force(b.scene, &force, NULL, err));
    }
    TRY(start(&b, err));
    TRY(run_steps(b.system, 1.0 / 240, 1200, &run, err));
    TRY(st_system_pose(b.system, box, &pose));
    print("gripper", &run, "crept %.1e m, penetration %.1e m", -pose.p.z, run.penetration);
    end(&b);
    return ST_OK;
}

/* ---- all of them ------------------------------------------------------------------------------ */

typedef struct Scene {
    const char *name;
    st_Status (*run)(st_Error *err);
} Scene;

static const Scene scenes[] = {
    {"bowling", bowling}, {"column", column}, {"springs", springs}, {"ringing", ringing},     {"chain", chain},
    {"whip", whip},       {"bounce", bounce}, {"incline", incline}, {"quadruped", quadruped}, {"gripper", gripper},
};

int main(int argc, char **argv)
{
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++)
            wanted = wanted || strcmp(argv[i], scenes[k].name) == 0;
        st_Error err = {0};
        if (wanted && scenes[k].run(&err) != ST_OK) printf("%s: %s\n", scenes[k].name, err.message);
    }
    return 0;
}
