/* bench/threads.c -- speedup by threads: the same scene with 1, 2, ... of them.
 *
 *     build/bench/threads [pile | stacks | robots] [how many] [most threads]
 *
 * pile     a settled pile of so many spheres: one island, swept by a team; the default
 * stacks   so many stacks of ten boxes, a hand at each that shakes its top: islands, shared out
 * robots   so many quadrupeds of 13 bodies and 12 motors that trot: islands with joints
 *
 * Systems with 1, 2 ... threads take five steps each in turn, so that other work on the machine disturbs all of
 * them. Before every round the time to transfer a cache line between two cores is measured. On virtual machines it
 * varies between 30 and 180 ns, because the host moves them, and it determines the speedup by two threads more than
 * anything else.
 */
#include "math/parallel.h"

#include <stiction/stiction.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const st_Status status_ = (call);                                                                              \
        if (status_ != ST_OK) return status_;                                                                          \
    } while (0)

static st_Status add_plane(st_Scene *scene, st_Vec3 normal, st_Vec3 at, double mu, st_Error *err)
{
    st_ShapeDef plane = st_plane_def();
    plane.pose.q = st_quat_from_z(normal);
    plane.pose.p = at;
    plane.mu = mu;
    return st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err);
}

/* Mass 0: from the shape's density. */
static st_Status add_body(st_Scene *scene, st_ShapeDef shape, st_Vec3 at, double mass, st_BodyId *id, st_Error *err)
{
    st_BodyDef def = st_body_def();
    def.pose.p = at;
    if (mass > 0.0) def.mass = mass;
    TRY(st_scene_add_body(scene, &def, id, err));
    return st_scene_add_shape(scene, *id, &shape, NULL, err);
}

/* Loosely packed, above the floor of a box of planes. */
static st_Status build_pile(int n, st_Scene *scene, st_Error *err)
{
    const int side = (int)ceil(cbrt(n));
    const double r = 0.1, width = 2.05 * r * side;
    const st_Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    uint64_t state = 1;
    for (int k = 0; k < 5; k++)
        TRY(add_plane(scene, normal[k], k == 2 || k == 4 ? (st_Vec3){width, width, 0} : (st_Vec3){0, 0, 0}, 0.4, err));
    for (int k = 0; k < n; k++) {
        st_ShapeDef ball = st_sphere_def(r);
        st_BodyId id;
        const int layer = k / (side * side);
        double shift[2];
        for (int e = 0; e < 2; e++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            shift[e] = 0.02 * r * (double)(state >> 40) / (double)(1 << 24);
        }
        const st_Vec3 at = {r + 2.04 * r * (k % side) + shift[0], r + 2.04 * r * (k / side % side) + shift[1],
                            r + 2.0 * r * layer};
        ball.mu = 0.4;
        TRY(add_body(scene, ball, at, 0.0, &id, err));
    }
    return ST_OK;
}

static st_Status build_stacks(int n, st_Scene *scene, st_Error *err)
{
    const int side = (int)ceil(sqrt(n));
    TRY(add_plane(scene, (st_Vec3){0, 0, 1}, (st_Vec3){0, 0, 0}, 0.5, err));
    for (int k = 0; k < n; k++) {
        const int column = k % side, row = k / side;
        st_ForceDef hand = st_force_def();
        st_ShapeDef box = st_box_def(0.1, 0.1, 0.05);
        box.mu = 0.5;
        for (int floor = 0; floor < 10; floor++)
            TRY(add_body(scene, box, (st_Vec3){0.5 * column, 0.5 * row, 0.05 + 0.1 * floor}, 1.0, &hand.body, err));
        hand.force = (st_Vec3){0.5, 0.3, 0};
        hand.profile = (st_Profile){.type = ST_PROFILE_HARMONIC, .frequency = 20.0, .phase = 0.1 * k};
        TRY(st_scene_add_force(scene, &hand, NULL, err));
    }
    return ST_OK;
}

/* A link that hangs from `parent` at `top`, its joint moved by a motor of limited torque. */
static st_Status add_link(st_Scene *scene, st_BodyId parent, st_Vec3 top, st_Vec3 axis, double length, double mass,
                          st_MotorDef motor, st_BodyId *id, st_Error *err)
{
    st_BodyDef body = st_body_def();
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    body.pose.p = (st_Vec3){top.x, top.y, top.z - 0.5 * length};
    body.mass = mass;
    const double across = mass * length * length / 12;
    body.inertia = (st_Mat3){{across, 0, 0, 0, across, 0, 0, 0, 2e-4 * mass}};
    TRY(st_scene_add_body(scene, &body, id, err));
    joint.a = parent, joint.b = *id;
    joint.point = top, joint.axis = axis;
    joint.motor = motor;
    return st_scene_add_joint(scene, &joint, NULL, err);
}

/* Hip, thigh and shank with a ball for a foot. */
static st_Status add_leg(st_Scene *scene, st_BodyId trunk, st_Vec3 at, double phase, st_Error *err)
{
    const double hip = 0.06, thigh = 0.25, shank = 0.25, pi = 3.14159265358979323846;
    st_BodyId upper, middle, lower;
    st_ShapeDef foot = st_sphere_def(0.03);
    st_MotorDef motor = {.type = ST_MOTOR_POSITION, .max_force = 60, .stiffness = 300, .damping = 6};
    TRY(add_link(scene, trunk, at, (st_Vec3){1, 0, 0}, hip, 0.6, motor, &upper, err));
    motor.profile = (st_Profile){.type = ST_PROFILE_HARMONIC, .frequency = 4 * pi, .phase = phase};
    motor.target = 0.25;
    at.z -= hip;
    TRY(add_link(scene, upper, at, (st_Vec3){0, 1, 0}, thigh, 1.0, motor, &middle, err));
    motor.target = -0.5;
    at.z -= thigh;
    TRY(add_link(scene, middle, at, (st_Vec3){0, 1, 0}, shank, 0.3, motor, &lower, err));
    foot.pose.p.z = -0.5 * shank;
    foot.mu = 0.6;
    return st_scene_add_shape(scene, lower, &foot, NULL, err);
}

/* Each with another phase, on an infinite floor. */
static st_Status build_robots(int n, st_Scene *scene, st_Error *err)
{
    const int side = (int)ceil(sqrt(n));
    const double pi = 3.14159265358979323846, height = 0.59;
    TRY(add_plane(scene, (st_Vec3){0, 0, 1}, (st_Vec3){0, 0, 0}, 0.6, err));
    for (int k = 0; k < n; k++) {
        const int column = k % side, row = k / side;
        const st_Vec3 at = {40.0 * column, 40.0 * row, height};
        st_BodyId trunk;
        TRY(add_body(scene, st_box_def(0.3, 0.12, 0.05), at, 12.0, &trunk, err));
        for (int leg = 0; leg < 4; leg++) {
            const st_Vec3 hip = {at.x + ((leg & 1) != 0 ? 0.25 : -0.25), at.y + ((leg & 2) != 0 ? 0.15 : -0.15),
                                 height};
            TRY(add_leg(scene, trunk, hip, 0.1 * k + (leg == 0 || leg == 3 ? 0 : pi), err));
        }
    }
    return ST_OK;
}

/* The kinds of scenes, and their solver settings: piles with few sweeps, the others with the defaults. */
typedef struct Kind {
    const char *name;
    st_Status (*build)(int n, st_Scene *scene, st_Error *err);
    int n; /* default number */
    double h;
    int start; /* steps until the state is steady */
    bool grain;
} Kind;
static const Kind kinds[] = {{"pile", build_pile, 8000, 1.0 / 240, 300, true},
                             {"stacks", build_stacks, 200, 1.0 / 240, 30, false},
                             {"robots", build_robots, 64, 1.0 / 500, 100, false}};

enum { ROUNDS = 24, STEPS = 5, MOST = 16 };

static st_Status create(const Kind *kind, const st_Scene *scene, int threads, st_System **system, st_Error *err)
{
    st_SystemDef def = st_system_def();
    def.h = kind->h;
    def.threads = threads;
    if (kind->grain) {
        def.solver = "nsgs";
        def.tolerance = 1e-6;
        def.max_iterations = 24;
        def.margin = 0.005;
        def.slop = 1e-6;
    }
    return st_system_create(scene, &def, system, err);
}

typedef struct Rally {
    _Alignas(256) atomic_int ball; /* which thread is next, and the number of exchanges */
    _Alignas(256) double seconds;
} Rally;
enum { TRIPS = 2000 };

static void play(void *ctx, int thread, int n_threads)
{
    Rally *rally = ctx;
    const double start = seconds(CLOCK_MONOTONIC);
    for (int k = 0; k < TRIPS && n_threads == 2; k++) {
        while (atomic_load(&rally->ball) != 2 * k + thread)
            ;
        atomic_store(&rally->ball, 2 * k + thread + 1);
    }
    if (thread == 0) rally->seconds = seconds(CLOCK_MONOTONIC) - start;
}

/* Nanoseconds, one way. */
static double line_between_cores(void)
{
    Rally rally = {0};
    sti_team_run(2, play, &rally);
    return 1e9 * rally.seconds / (2 * TRIPS);
}

static st_Status advance(st_System *system, double h, int steps, st_StepInfo *info, double *ms, st_Error *err)
{
    const double start = seconds(CLOCK_MONOTONIC);
    st_Status status = ST_OK;
    for (int k = 0; k < steps && status == ST_OK; k++)
        status = st_system_step(system, h, info, err);
    *ms = 1e3 * (seconds(CLOCK_MONOTONIC) - start) / steps;
    return status;
}

static int smaller_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quartiles of n numbers: lower, median, upper. */
static void quarters(const double *x, int n, double out[3])
{
    double sorted[ROUNDS];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, smaller_first);
    for (int q = 0; q < 3; q++)
        out[q] = n > 0 ? sorted[(q + 1) * (n - 1) / 4] : 0.0;
}

/* Times with one number of threads, and the speedup over one: in all rounds, and in rounds with near or far cores. */
static void print_times(int threads, const st_System *system, int contacts, double ms[][ROUNDS], const double *line)
{
    double time[3], ratio[3][3], of[3][ROUNDS];
    int n[3] = {0};
    for (int k = 0; k < ROUNDS; k++) {
        const double less = ms[1][k] / ms[threads][k];
        const int where = line[k] < 100.0 ? 1 : 2;
        of[0][n[0]++] = less;
        of[where][n[where]++] = less;
    }
    quarters(ms[threads], ROUNDS, time);
    printf("%d threads, %d contacts: ms a step %.2f (quarters %.2f, %.2f); state %016llx", threads, contacts, time[1],
           time[0], time[2], (unsigned long long)st_system_hash(system));
    const char *const name[3] = {"times less:", "; cores near:", "; far:"};
    for (int e = 0; e < 3 && threads > 1; e++) {
        quarters(of[e], n[e], ratio[e]);
        if (n[e] > 0) printf(" %s %.2f (%.2f, %.2f; %d rounds)", name[e], ratio[e][1], ratio[e][0], ratio[e][2], n[e]);
    }
    printf("\n");
}

static void print_stages(const Kind *kind, int threads, const st_System *system)
{
    double time[ST_N_PARTS];
    st_system_part_seconds(system, time);
    printf("   stages with %d:", threads);
    for (int k = 0; k < ST_N_PARTS; k++)
        if (time[k] > 0.0)
            printf(" %s %.2f", st_part_name((st_StepPart)k), 1e3 * time[k] / (kind->start + (double)ROUNDS * STEPS));
    printf("\n");
}

static st_Status race(const Kind *kind, st_System *const *system, int most, st_Error *err)
{
    double ms[MOST + 1][ROUNDS], line[ROUNDS], none;
    st_StepInfo info = st_step_info();
    st_Status status = ST_OK;
    for (int t = 1; t <= most && status == ST_OK; t++)
        status = advance(system[t], kind->h, kind->start, &info, &none, err);
    for (int k = 0; k < ROUNDS; k++) {
        line[k] = most > 1 ? line_between_cores() : 0.0;
        for (int t = 1; t <= most && status == ST_OK; t++)
            status = advance(system[t], kind->h, STEPS, &info, &ms[t][k], err);
    }
    for (int t = 1; t <= most && status == ST_OK; t++)
        print_times(t, system[t], info.contacts, ms, line);
    for (int t = 1; t <= most && status == ST_OK; t++)
        print_stages(kind, t, system[t]);
    return status;
}

int main(int argc, char **argv)
{
    const Kind *kind = &kinds[0];
    int at = 1;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (argc > 1 && strcmp(argv[1], kinds[k].name) == 0) kind = &kinds[k], at = 2;
    const int n = argc > at ? atoi(argv[at]) : kind->n, asked = argc > at + 1 ? atoi(argv[at + 1]) : 2;
    const int most = asked < 1 ? 1 : (asked < MOST ? asked : MOST);
    st_System *system[MOST + 1] = {0};
    st_Scene *scene = NULL;
    st_Error err = {0};
    st_Status status = st_scene_create(&scene, &err);
    if (status == ST_OK) status = kind->build(n, scene, &err);
    for (int t = 1; t <= most && status == ST_OK; t++)
        status = create(kind, scene, t, &system[t], &err);
    if (status == ST_OK) status = race(kind, system, most, &err);
    if (status != ST_OK) printf("%s\n", err.message);
    for (int t = 1; t <= most; t++)
        st_system_destroy(system[t]);
    st_scene_destroy(scene);
    return status == ST_OK ? 0 : 1;
}
