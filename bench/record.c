/* bench/record.c -- cost of recording: 2,000 spheres fall into a box and settle, recorded at 60 frames per second.
 *
 *     build/bench/record [spheres] [sweeps] [FILE.h5]
 *
 * Prints the CPU time, user and system, of the recorder's calls and of the steps in the same run: other work on the
 * machine changes their ratio little. The file is made at the third argument, and removed.
 */
#include <stiction/io.h>
#include <stiction/stiction.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static st_Status add_box(st_Scene *scene, double width, st_Error *err)
{
    const st_Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    st_Status status = ST_OK;
    for (int k = 0; k < 5 && status == ST_OK; k++) {
        const double d = k == 0 ? 0 : -width / 2;
        st_ShapeDef plane = st_plane_def();
        plane.pose.p = (st_Vec3){d * normal[k].x, d * normal[k].y, d * normal[k].z};
        plane.pose.q = st_quat_from_z(normal[k]);
        plane.mu = 0.5;
        status = st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err);
    }
    return status;
}

/* On a loose lattice, every layer slightly offset from the one below. */
static st_Status add_spheres(st_Scene *scene, int n, int side, double r, st_Error *err)
{
    st_Status status = ST_OK;
    for (int k = 0; k < n && status == ST_OK; k++) {
        const int i = k % side, j = k / side % side, layer = k / (side * side);
        const double spacing = 2.4 * r, shift = 0.15 * r * sin(7.0 * layer);
        st_BodyDef def = st_body_def();
        st_ShapeDef ball = st_sphere_def(r);
        st_BodyId id;
        def.pose.p = (st_Vec3){(i - (side - 1) / 2.0) * spacing + shift, (j - (side - 1) / 2.0) * spacing - shift,
                               2 * r + layer * spacing};
        ball.mu = 0.5;
        status = st_scene_add_body(scene, &def, &id, err);
        if (status == ST_OK) status = st_scene_add_shape(scene, id, &ball, NULL, err);
    }
    return status;
}

/* Runs two seconds; prints their time, and that of recording them. */
static st_Status two_seconds(st_System *system, st_Recorder *recorder, double h, const char *what, st_Error *err)
{
    const int steps = (int)(2 / h + 0.5);
    const int64_t size = st_recorder_size(recorder);
    st_StepInfo info = st_step_info();
    double stepping = 0, recording = 0;
    st_Status status = ST_OK;
    for (int k = 0; k < steps && status == ST_OK; k++) {
        const double begin = processor_time();
        status = st_system_step(system, h, &info, err);
        const double end = processor_time();
        stepping += end - begin;
        if (status == ST_OK) status = st_recorder_add(recorder, system, &info, err);
        recording += processor_time() - end;
    }
    printf("%-8s %d contacts, steps %.3f s, recorder %.3f s: %.1f %%; %.0f MB\n", what, info.contacts, stepping,
           recording, 100 * recording / stepping, 1e-6 * (double)(st_recorder_size(recorder) - size));
    return status;
}

static st_Status run(st_Scene *scene, int sweeps, const char *path, st_Error *err)
{
    st_SystemDef def = st_system_def();
    st_RecorderDef recorder_def = st_recorder_def();
    st_StepInfo start = st_step_info();
    st_System *system = NULL;
    st_Recorder *recorder = NULL;
    def.solver = "nsgs";
    def.tolerance = 1e-2;
    def.max_iterations = sweeps;
    def.islands = false;
    def.margin = 0.001;
    def.slop = 1e-6;
    def.h = 1.0 / 240;
    def.end = 4;
    recorder_def.checkpoint = 0.2; /* as in `stiction run`: a tenth of two seconds */
    st_Status status = st_system_create(scene, &def, &system, err);
    const double begin = processor_time();
    if (status == ST_OK) status = st_recorder_open(path, &recorder_def, scene, &def, system, &recorder, err);
    if (status == ST_OK) status = st_recorder_add(recorder, system, &start, err);
    printf("opened in %.3f s\n", processor_time() - begin);
    if (status == ST_OK) status = two_seconds(system, recorder, def.h, "falling", err);
    if (status == ST_OK) status = two_seconds(system, recorder, def.h, "settled", err);
    const st_Status closed = st_recorder_close(recorder, system, "finished", NULL, status == ST_OK ? err : NULL);
    remove(path);
    st_system_destroy(system);
    return status == ST_OK ? closed : status;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 2000, sweeps = argc > 2 ? atoi(argv[2]) : 8;
    const char *path = argc > 3 ? argv[3] : "record-bench.h5";
    const int side = (int)ceil(cbrt(n));
    const double r = 0.05;
    st_Scene *scene = NULL;
    st_Error err = {0};
    st_Status status = st_scene_create(&scene, &err);
    if (status == ST_OK) status = add_box(scene, 2.4 * r * side, &err);
    if (status == ST_OK) status = add_spheres(scene, n, side, r, &err);
    if (status == ST_OK) status = run(scene, sweeps, path, &err);
    if (status != ST_OK) printf("%s\n", err.message);
    st_scene_destroy(scene);
    return status == ST_OK ? 0 : 1;
}
