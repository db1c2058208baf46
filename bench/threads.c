/* bench/threads.c -- what threads are worth: a settled pile of spheres with 1, 2, ... of them.
 *
 *     build/bench/threads [spheres] [most threads]
 *
 * `alone` is the CPU time of the first thread, which does all that is not shared: with OMP_WAIT_POLICY=passive it
 * waits without spending time, and on idle cores its CPU time is the time that passes. So other work on the machine
 * does not disturb it, as it does `passed`.
 */
#include <stiction/stiction.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static st_Status run(const st_Scene *scene, int threads, double *base, st_Error *err)
{
    enum { START = 20, STEPS = 40 };
    st_SystemDef def = st_system_def();
    st_System *system;
    st_StepInfo info = st_step_info();
    double before[ST_N_STAGES], after[ST_N_STAGES];
    def.h = 1.0 / 240;
    def.solver = "nsgs";
    def.tolerance = 1e-6;
    def.max_iterations = 24;
    def.margin = 0.005;
    def.slop = 1e-6;
    def.threads = threads;
    st_Status status = st_system_create(scene, &def, &system, err);
    for (int k = 0; k < START && status == ST_OK; k++)
        status = st_system_step(system, def.h, &info, err);
    if (status != ST_OK) return status;
    double passed = seconds(CLOCK_MONOTONIC), alone = seconds(CLOCK_THREAD_CPUTIME_ID);
    double all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    st_system_profile(system, before);
    for (int k = 0; k < STEPS && status == ST_OK; k++)
        status = st_system_step(system, def.h, &info, err);
    passed = 1e3 * (seconds(CLOCK_MONOTONIC) - passed) / STEPS;
    alone = 1e3 * (seconds(CLOCK_THREAD_CPUTIME_ID) - alone) / STEPS;
    all = 1e3 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - all) / STEPS;
    st_system_profile(system, after);
    if (threads == 1) *base = alone;
    printf("%d threads, %d contacts: ms a step: passed %.2f, alone %.2f (%.2f times less), all threads %.2f; state "
           "%016llx |",
           threads, info.contacts, passed, alone, *base / alone, all, (unsigned long long)st_system_hash(system));
    for (int k = 0; k < ST_N_STAGES; k++)
        if (after[k] > before[k]) printf(" %s %.2f", st_stage_name((st_Stage)k), 1e3 * (after[k] - before[k]) / STEPS);
    printf("\n");
    st_system_destroy(system);
    return status;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 8000, most = argc > 2 ? atoi(argv[2]) : 2;
    st_Scene *scene = NULL;
    st_Error err = {0};
    double base = 1;
    st_Status status = build(n, &scene, &err);
    for (int t = 1; t <= most && status == ST_OK; t++)
        status = run(scene, t, &base, &err);
    if (status != ST_OK) printf("%s\n", err.message);
    st_scene_destroy(scene);
    return status == ST_OK ? 0 : 1;
}
