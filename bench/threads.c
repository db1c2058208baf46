/* bench/threads.c -- what threads are worth: a settled pile of spheres with 1, 2, ... of them.
 *
 *     build/bench/threads [spheres] [most threads]
 *
 * Systems with 1, 2 ... threads make five steps each by turns, so that whatever else the machine does in these seconds
 * meets all of them. Before every round it is measured how long a line of cache takes from one core to another: on
 * virtual machines that is 30 ns in one moment and 180 in the next, as their host moves them about, and tells more
 * than all else how much two threads are worth.
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

/* Loosely packed, above the floor of a box whose walls are planes. */
static st_Status build(int n, st_Scene **scene, st_Error *err)
{
    const int side = (int)ceil(cbrt(n));
    const double r = 0.1, width = 2.05 * r * side;
    const st_Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    uint64_t state = 1;
    st_Status status = st_scene_create(scene, err);
    for (int k = 0; k < 5 && status == ST_OK; k++) {
        st_ShapeDef plane = st_plane_def();
        plane.pose.q = st_quat_from_z(normal[k]);
        plane.pose.p = k == 2 || k == 4 ? (st_Vec3){width, width, 0} : (st_Vec3){0, 0, 0};
        plane.mu = 0.4;
        status = st_scene_add_shape(*scene, ST_GROUND, &plane, NULL, err);
    }
    for (int k = 0; k < n && status == ST_OK; k++) {
        st_BodyDef def = st_body_def();
        st_ShapeDef ball = st_sphere_def(r);
        st_BodyId id;
        const int layer = k / (side * side);
        double shift[2];
        for (int e = 0; e < 2; e++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            shift[e] = 0.02 * r * (double)(state >> 40) / (double)(1 << 24);
        }
        def.pose.p = (st_Vec3){r + 2.04 * r * (k % side) + shift[0], r + 2.04 * r * (k / side % side) + shift[1],
                               r + 2.0 * r * layer};
        ball.mu = 0.4;
        status = st_scene_add_body(*scene, &def, &id, err);
        if (status == ST_OK) status = st_scene_add_shape(*scene, id, &ball, NULL, err);
    }
    return status;
}

enum { START = 300, ROUNDS = 24, STEPS = 5, MOST = 16 };

static st_Status create(const st_Scene *scene, int threads, st_System **system, st_Error *err)
{
    st_SystemDef def = st_system_def();
    def.h = 1.0 / 240;
    def.solver = "nsgs";
    def.tolerance = 1e-6;
    def.max_iterations = 24;
    def.margin = 0.005;
    def.slop = 1e-6;
    def.threads = threads;
    return st_system_create(scene, &def, system, err);
}

typedef struct Rally {
    _Alignas(256) atomic_int ball; /* who plays it next, and how often they have */
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

static st_Status advance(st_System *system, int steps, st_StepInfo *info, double *ms, st_Error *err)
{
    const double start = seconds(CLOCK_MONOTONIC);
    st_Status status = ST_OK;
    for (int k = 0; k < steps && status == ST_OK; k++)
        status = st_system_step(system, 1.0 / 240, info, err);
    *ms = 1e3 * (seconds(CLOCK_MONOTONIC) - start) / steps;
    return status;
}

static int smaller_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quarters of n numbers: lower, median, upper. */
static void quarters(const double *x, int n, double out[3])
{
    double sorted[ROUNDS];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, smaller_first);
    for (int q = 0; q < 3; q++)
        out[q] = n > 0 ? sorted[(q + 1) * (n - 1) / 4] : 0.0;
}

/* Times of one number of threads, and how many times less than with one they are: in all rounds, and in those where
 * the cores were near one another, or far. */
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

static void print_stages(int threads, const st_System *system)
{
    double time[ST_N_STAGES];
    st_system_profile(system, time);
    printf("   stages with %d:", threads);
    for (int k = 0; k < ST_N_STAGES; k++)
        if (time[k] > 0.0)
            printf(" %s %.2f", st_stage_name((st_Stage)k), 1e3 * time[k] / (START + (double)ROUNDS * STEPS));
    printf("\n");
}

static st_Status race(st_System *const *system, int most, st_Error *err)
{
    double ms[MOST + 1][ROUNDS], line[ROUNDS], none;
    st_StepInfo info = st_step_info();
    st_Status status = ST_OK;
    for (int t = 1; t <= most && status == ST_OK; t++)
        status = advance(system[t], START, &info, &none, err);
    for (int k = 0; k < ROUNDS; k++) {
        line[k] = most > 1 ? line_between_cores() : 0.0;
        for (int t = 1; t <= most && status == ST_OK; t++)
            status = advance(system[t], STEPS, &info, &ms[t][k], err);
    }
    for (int t = 1; t <= most && status == ST_OK; t++)
        print_times(t, system[t], info.contacts, ms, line);
    for (int t = 1; t <= most && status == ST_OK; t++)
        print_stages(t, system[t]);
    return status;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 8000, asked = argc > 2 ? atoi(argv[2]) : 2;
    const int most = asked < 1 ? 1 : (asked < MOST ? asked : MOST);
    st_System *system[MOST + 1] = {0};
    st_Scene *scene = NULL;
    st_Error err = {0};
    st_Status status = build(n, &scene, &err);
    for (int t = 1; t <= most && status == ST_OK; t++)
        status = create(scene, t, &system[t], &err);
    if (status == ST_OK) status = race(system, most, &err);
    if (status != ST_OK) printf("%s\n", err.message);
    for (int t = 1; t <= most; t++)
        st_system_destroy(system[t]);
    st_scene_destroy(scene);
    return status == ST_OK ? 0 : 1;
}
