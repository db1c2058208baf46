/* batch.c -- many quadrupeds: steps per second of a batch against systems that step alone, and memory per world.
 *
 *     build/bench/batch [STEPS [SCENE]]
 *
 * Batch and systems alone take turns, chunk by chunk, and the sums of their times are compared, so that a loaded
 * machine slows both. Two threads are compared with two processes side by side in the same way. Columns of the ratio
 * are batch speed / speed alone.
 */
#define _DEFAULT_SOURCE 1
#include "../tests/counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char dog[] =
    "{\"simulation\": {\"h\": 0.002}, \"materials\": [{\"name\": \"rubber\", \"friction\": 0.9}],"
    "\"ground\": [{\"name\": \"floor\", \"type\": \"plane\", \"material\": \"rubber\"}],"
    "\"robots\": [{\"file\": \"examples/robots/dog.urdf\", \"position\": [0, 0, 0.3], \"material\": \"rubber\","
    "\"positions\": {\"front_left_thigh\": 0.8, \"front_right_thigh\": 0.8, \"rear_left_thigh\": 0.8,"
    "\"rear_right_thigh\": 0.8, \"front_left_knee\": -1.6, \"front_right_knee\": -1.6, \"rear_left_knee\": -1.6,"
    "\"rear_right_knee\": -1.6},"
    "\"motor\": {\"type\": \"position\", \"target\": 0, \"stiffness\": 120, \"damping\": 3}}]}";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const st_Error *err)
{
    fprintf(stderr, "batch: %s\n", err->message);
    exit(1);
}

static st_Batch *make(const st_Scene *scene, const st_SystemDef *system_def, int worlds, int threads)
{
    st_Error err = {0};
    st_Batch *batch = NULL;
    st_BatchDef def = st_batch_def();
    def.worlds = worlds, def.threads = threads;
    if (st_batch_create(scene, system_def, &def, &batch, &err) != ST_OK) stop(&err);
    return batch;
}

static void step_alone(st_System **system, int n, int steps, double h)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++)
        for (int s = 0; s < steps; s++)
            if (st_system_step(system[k], h, NULL, &err) != ST_OK) stop(&err);
}

/* Seconds until two processes have each done half of the worlds. */
static double step_in_two_processes(st_System **system, int n, int steps, double h)
{
    const double start = now();
    for (int side = 0; side < 2; side++)
        if (fork() == 0) {
            step_alone(system + side * (n / 2), n / 2, steps, h);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return now() - start;
}

static void compare(const st_Scene *scene, const st_SystemDef *def, int worlds, int threads, int chunks, int steps)
{
    st_Error err = {0};
    st_Batch *batch = make(scene, def, worlds, threads);
    st_System **alone = calloc((size_t)worlds, sizeof *alone);
    for (int k = 0; k < worlds; k++)
        if (alone == NULL || st_system_clone(st_batch_system(batch, k), &alone[k], &err) != ST_OK) stop(&err);
    double of_batch = 0, of_alone = 0, done = 0;
    for (int c = 0; c < chunks; c++) {
        double t = now();
        if (threads == 1) step_alone(alone, worlds, steps, def->h);
        t = threads == 1 ? now() - t : step_in_two_processes(alone, worlds, steps, def->h);
        of_alone += c > 0 ? t : 0; /* the first chunk is a warm-up */
        t = now();
        if (st_batch_step(batch, steps, NULL, &err) != ST_OK) stop(&err);
        of_batch += c > 0 ? now() - t : 0;
        done += c > 0 ? (double)worlds * steps : 0;
        /* the child processes started from there */
        if (threads > 1 && st_batch_reset(batch, NULL, NULL, &err) != ST_OK) stop(&err);
    }
    printf("%7d %8d %14.0f %14.0f %7.3f\n", worlds, threads, done / of_batch, done / of_alone, of_alone / of_batch);
    fflush(stdout);
    for (int k = 0; k < worlds; k++)
        st_system_destroy(alone[k]);
    free(alone);
    st_batch_destroy(batch);
}

/* Bytes per world after the first, when all have stepped. */
static void weigh(const st_Scene *scene, st_SystemDef def)
{
    double held[2];
    int width = 0;
    for (int k = 0; k < 2; k++) {
        Counter counter = {.base = st_default_allocator()};
        st_Error err = {0};
        def.allocator = (st_Allocator){counting_alloc, counting_free, &counter};
        st_Batch *batch = make(scene, &def, k == 0 ? 1 : 65, 1);
        if (st_batch_step(batch, 50, NULL, &err) != ST_OK) stop(&err);
        held[k] = (double)counter.bytes;
        for (int which = 0; which < ST_N_BATCH_ARRAYS; which++)
            width += k == 0 ? st_batch_width(batch, (st_BatchArray)which) : 0;
        st_batch_destroy(batch);
    }
    printf("memory: %.1f KB for the first world, %.1f KB for each further one, of which %.1f KB are its rows\n",
           held[0] / 1024, (held[1] - held[0]) / 64 / 1024, 8.0 * width / 1024);
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 20000; /* of one chunk, over all worlds */
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    const st_Status status = argc > 2 ? st_scene_read(argv[2], NULL, 0, &scene, &def, &err)
                                      : st_scene_parse(dog, strlen(dog), "dog", NULL, 0, &scene, &def, &err);
    if (status != ST_OK) stop(&err);
    weigh(scene, def);
    printf("%7s %8s %14s %14s %7s\n", "worlds", "threads", "batch steps/s", "alone steps/s", "ratio");
    const int worlds[] = {1, 64, 4096};
    for (int k = 0; k < 3; k++)
        compare(scene, &def, worlds[k], 1, 6, steps / worlds[k] > 0 ? steps / worlds[k] : 1);
    for (int k = 1; k < 3; k++)
        compare(scene, &def, worlds[k], 2, 6, steps / worlds[k] > 0 ? steps / worlds[k] : 1);
    st_scene_destroy(scene);
    return 0;
}
