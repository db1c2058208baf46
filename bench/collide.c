/* bench/collide.c -- broad and narrow phase of settled packings: time per body and step.
 *
 *     build/bench/collide [largest number of bodies, 100000]
 *
 * Spheres in a close packing, and boxes in staggered courses, each on two below, touching to within 1e-9. Between
 * two steps all bodies tremble by 1e-7 of their size and one in a hundred moves by a tenth of it, as in a pile
 * that is mostly at rest. Only the contact rows are timed: placing, pairs, narrow phase, rows.
 */
#include "model/world.h"
#include "step/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 20

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t random_state = 1;

static double random_number(void) /* splitmix64, in [-1, 1] */
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

/* Where body k stands: spheres of radius 1/2, boxes of nearly 1 x 1/2 x 1/2. */
static st_Vec3 place(bool spheres, int k, int side)
{
    int i = k % side, j = k / side % side, l = k / (side * side);
    if (spheres) /* hexagonal layers: neighbours at distance 1 */
        return vec3(i + 0.5 * ((j + l) % 2), (j + (l % 2) / 3.0) * 0.86602540378443865, l * 0.81649658092772603 + 0.5);
    return vec3(i + 0.5 * (l % 2), 0.5 * j, 0.5 * l + 0.25);
}

static st_Status build(st_Scene *scene, bool spheres, int n, st_Error *err)
{
    int side = (int)cbrt((double)n) + 1;
    st_ShapeDef plane = st_plane_def(), sphere = st_sphere_def(0.5 - 5e-10), box = st_box_def(0.49, 0.24, 0.25 - 5e-10);
    STI_TRY(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err));
    for (int k = 0; k < n; k++) {
        st_BodyDef def = st_body_def();
        st_BodyId id;
        def.pose.p = place(spheres, k, side);
        STI_TRY(st_scene_add_body(scene, &def, &id, err));
        STI_TRY(st_scene_add_shape(scene, id, spheres ? &sphere : &box, NULL, err));
    }
    return ST_OK;
}

static void shake(double *q, const double *q0, int n)
{
    for (int k = 0; k < n; k++) {
        double size = random_number() > 0.98 ? 0.1 : 1e-7;
        for (int e = 0; e < 3; e++)
            q[7 * k + e] = q0[7 * k + e] + size * random_number();
    }
}

static st_Status run(bool spheres, int n, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    st_Scene *scene = NULL;
    sti_World *world = NULL;
    STI_TRY(st_scene_create(&scene, err));
    double start = seconds();
    st_Status status = build(scene, spheres, n, err);
    if (status == ST_OK) status = sti_world_create(scene, vec3(0, 0, -9.81), &allocator, &world, err);
    double setup = seconds() - start, first = 0, total = 0, best = INFINITY;
    st_Sink sink = {.allocator = allocator, .n_v = status == ST_OK ? world->n_v : 0};
    double *q = status == ST_OK ? malloc((size_t)world->n_q * sizeof *q) : NULL;
    for (int step = 0; step <= STEPS && q != NULL && status == ST_OK; step++) {
        memcpy(q, world->q0, (size_t)world->n_q * sizeof *q);
        shake(q, world->q0, n);
        sti_sink_clear_contacts(&sink);
        start = seconds();
        status = sti_contacts_push(world, q, 0.01, &sink, err);
        double took = seconds() - start;
        if (step == 0) {
            first = took;
            continue;
        }
        total += took;
        best = fmin(best, took);
    }
    if (status == ST_OK)
        printf("%-8s %8d %10d %10lld %9.2f %9.2f %9.3f %9.3f\n", spheres ? "spheres" : "boxes", n, sink.n_contacts,
               (long long)world->collider.pairs.n_pairs, setup, 1e3 * first, 1e6 * total / STEPS / n, 1e6 * best / n);
    free(q);
    sti_sink_free(&sink);
    sti_world_destroy(world);
    st_scene_destroy(scene);
    return status;
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 100000;
    st_Error err = {0};
    printf("%-8s %8s %10s %10s %9s %9s %9s %9s\n", "shapes", "bodies", "contacts", "pairs", "setup s", "first ms",
           "mean us", "best us");
    for (int kind = 0; kind < 2; kind++)
        for (int n = 1000; n <= most; n *= 10)
            if (run(kind == 0, n, &err) != ST_OK) {
                fprintf(stderr, "collide: %s\n", err.message);
                return 1;
            }
    return 0;
}
