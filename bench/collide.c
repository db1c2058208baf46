/* bench/collide.c -- the contact stage: placing, broad phase, narrow phase, rows. Time per body and per contact.
 *
 *     build/bench/collide [largest number of bodies, 100000 [scene]]
 *
 * Scenes: `packed` spheres touch twelve others; `courses` of boxes, each on two below; a `pile` of spheres, and of
 * random hulls, `boxes`, `capsules`, `cylinders`, `cones`, or capsules and cylinders in turn (`bin`), pressed together
 * in a box of five planes; a `wall` of boxes in one plane. In all of them bodies jitter by 1e-7 of their size from step
 * to step, and one in a hundred moves by a tenth of it, as in a pile that is mostly at rest. `fall`: all spheres fall
 * by a tenth of their radius per step.
 *
 * `place` and `pairs` are the parts of the time spent on poses and on the broad phase. Times are CPU times of the
 * fastest step, except the first, which finds all pairs.
 */
#include "model/row_buffer.h"
#include "model/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 30

typedef enum Kind { PACKED, COURSES, PILE, HULLS, WALL, FALL, BOXES, CAPSULES, CYLINDERS, CONES, BIN, N_KINDS } Kind;
static const char *const kind_name[N_KINDS] = {"packed", "courses",  "pile",      "hulls", "wall", "fall",
                                               "boxes",  "capsules", "cylinders", "cones", "bin"};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
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

static st_Vec3 random_vector(double size)
{
    double x = random_number(), y = random_number();
    return scale(size, vec3(x, y, random_number()));
}

/* ---- scenes -------------------------------------------------------------------------------------- */

/* The position of body k of n: spheres and hulls of radius 1/2, boxes of nearly 1 x 1/2 x 1/2. */
static st_Vec3 place(Kind kind, int k, int n)
{
    int side = (int)cbrt((double)n) + 1, i = k % side, j = k / side % side, l = k / (side * side);
    if (kind == PACKED) /* hexagonal layers: neighbours at distance 1 */
        return vec3(i + 0.5 * ((j + l) % 2), (j + (l % 2) / 3.0) * 0.86602540378443865, l * 0.81649658092772603 + 0.5);
    if (kind == COURSES) return vec3(i + 0.5 * (l % 2), 0.5 * j, 0.5 * l + 0.25);
    const int course = k / 10;
    if (kind == WALL) return vec3(k % 10 + 0.5 * (course % 2), 0, 0.5 * course + 0.25);
    st_Vec3 shift = random_vector(0.2);
    return add(vec3(0.9 * i + 0.5, 0.9 * j + 0.5, 0.9 * l + 0.5), shift);
}

static bool is_pile(Kind kind)
{
    return kind == PILE || kind == HULLS || kind >= BOXES;
}

static st_ShapeDef shape_of(Kind kind, int index)
{
    static st_Vec3 corner[20];
    if (kind == BIN) kind = index % 2 == 0 ? CAPSULES : CYLINDERS;
    if (kind == BOXES) return st_box_def(0.3, 0.3, 0.45);
    if (kind == CAPSULES) return st_capsule_def(0.3, 0.6);
    if (kind == CYLINDERS) return st_cylinder_def(0.3, 0.9);
    if (kind == CONES) return st_cone_def(0.4, 0.9);
    if (kind == COURSES || kind == WALL) return st_box_def(0.49, 0.24, 0.25 - 5e-10);
    if (kind != HULLS) return st_sphere_def(0.5 - 5e-10);
    for (int k = 0; k < 20; k++) {
        corner[k] = random_vector(1);
        corner[k] = scale(0.5 / norm(corner[k]), corner[k]);
    }
    return st_hull_def(corner, 20);
}

/* The ground, and around a pile four walls. */
static st_Status add_planes(st_Scene *scene, Kind kind, int n, st_Error *err)
{
    double width = 0.9 * ((int)cbrt((double)n) + 1) + 0.1;
    const st_Vec3 at[5] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {width, 0, 0}, {0, width, 0}};
    const st_Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
    for (int k = 0; k < (is_pile(kind) || kind == FALL ? 5 : 1); k++) {
        st_ShapeDef plane = st_plane_def();
        plane.pose.p = at[k];
        plane.pose.q = st_quat_from_z(normal[k]);
        STI_TRY(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err));
    }
    return ST_OK;
}

static st_Status build(st_Scene *scene, Kind kind, int n, st_Error *err)
{
    STI_TRY(add_planes(scene, kind, n, err));
    for (int k = 0; k < n; k++) {
        st_BodyDef def = st_body_def();
        st_BodyId id;
        st_ShapeDef shape = shape_of(kind, k);
        def.pose.p = place(kind, k, n);
        if (is_pile(kind) && kind != PILE) def.pose.q = quat_exp(random_vector(3));
        def.mass = 1;
        def.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
        STI_TRY(st_scene_add_body(scene, &def, &id, err));
        STI_TRY(st_scene_add_shape(scene, id, &shape, NULL, err));
    }
    return ST_OK;
}

/* ---- motion -------------------------------------------------------------------------------------- */

/* Pushes overlapping bodies apart and all bodies down: a few hundred rounds make a pile. The downward motion
 * decreases, so that bodies come to rest with small overlaps. */
static st_Status press(sti_World *world, st_Sink *sink, double *q, int rounds, st_Error *err)
{
    double down = 0.002;
    for (int round = 0; round < rounds; round++) {
        sti_row_buffer_clear_contacts(sink);
        STI_TRY(sti_contacts_push(world, q, 0.01, &(sti_Foresight){0}, sink, err));
        for (int c = 0; c < sink->n_contacts; c++) {
            const sti_ContactEntry *e = &sink->contact[c];
            const int body[2] = {e->a, e->b};
            for (int s = 0; s < 2 && e->gap < 0; s++) {
                st_Vec3 d = scale((s == 0 ? 0.3 : -0.3) * e->gap, e->normal);
                if (body[s] == 0) continue;
                double *p = q + (ptrdiff_t)STI_BODY_Q * (body[s] - 1);
                vec3_store(p, add(vec3_load(p), d));
            }
        }
        if (2 * round > rounds) down *= 0.96;
        for (int b = 1; b < world->n_bodies; b++)
            q[STI_BODY_Q * (b - 1) + 2] -= down;
    }
    return ST_OK;
}

static void shake(double *q, const double *q0, int n)
{
    for (int k = 0; k < n; k++) {
        double size = random_number() > 0.98 ? 0.1 : 1e-7;
        for (int e = 0; e < 3; e++)
            q[STI_BODY_Q * k + e] = q0[STI_BODY_Q * k + e] + size * random_number();
    }
}

static void fall(double *q, int n)
{
    for (int k = 0; k < n; k++)
        q[STI_BODY_Q * k + 2] -= 0.04 + 0.02 * ((double)k / n);
}

/* ---- measuring ----------------------------------------------------------------------------------- */

typedef struct Times {
    double first, place, pairs, mean, best;
} Times;

/* callgrind --toggle-collect=measure counts the instructions of these steps alone. */
__attribute__((noinline)) static st_Status measure(sti_World *world, st_Sink *sink, Kind kind, int n, double *q0,
                                                   double *q, Times *out, st_Error *err)
{
    sti_Collider *c = &world->collider;
    *out = (Times){.place = INFINITY, .pairs = INFINITY, .best = INFINITY};
    memcpy(q, q0, (size_t)world->n_q * sizeof *q);
    for (int step = 0; step <= STEPS; step++) {
        if (kind == FALL)
            fall(q, n);
        else
            shake(q, q0, n);
        sti_row_buffer_clear_contacts(sink);
        double start = seconds();
        STI_TRY(sti_collider_place(world, q, err));
        double placed = seconds();
        STI_TRY(sti_pairs_update(&c->pairs, c->bounds, c->pose, 0.01, NULL, 0, err));
        double paired = seconds();
        STI_TRY(sti_contacts_push(world, q, 0.01, &(sti_Foresight){0}, sink, err));
        double took = seconds() - start;
        if (step == 0) {
            out->first = took;
            continue;
        }
        out->mean += took / STEPS;
        out->place = fmin(out->place, placed - start);
        out->pairs = fmin(out->pairs, paired - placed);
        out->best = fmin(out->best, took);
    }
    return ST_OK;
}

static st_Status run(Kind kind, int n, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    st_Scene *scene = NULL;
    sti_World *world = NULL;
    Times t;
    STI_TRY(st_scene_create(&scene, err));
    st_Status status = build(scene, kind, n, err);
    if (status == ST_OK) status = sti_world_create(scene, vec3(0, 0, -9.81), &allocator, &world, err);
    st_Sink sink = {.allocator = allocator, .n_v = status == ST_OK ? world->n_v : 0};
    double *q = status == ST_OK ? malloc(2 * (size_t)world->n_q * sizeof *q) : NULL;
    if (q != NULL) {
        double *q0 = q + world->n_q;
        memcpy(q0, world->q0, (size_t)world->n_q * sizeof *q);
        if (is_pile(kind)) status = press(world, &sink, q0, n > 10000 ? 60 : 300, err);
        if (status == ST_OK) status = measure(world, &sink, kind, n, q0, q, &t, err);
    }
    if (status == ST_OK && q != NULL)
        printf("%-8s %7d %8d %8lld %9.2f %8.3f %8.3f %8.3f %8.3f %8.0f\n", kind_name[kind], n, sink.n_contacts,
               (long long)world->collider.pairs.n_pairs, 1e3 * t.first, 1e6 * t.place / n, 1e6 * t.pairs / n,
               1e6 * t.mean / n, 1e6 * t.best / n, 1e9 * t.best / sink.n_contacts);
    free(q);
    sti_row_buffer_free(&sink);
    sti_world_destroy(world);
    st_scene_destroy(scene);
    return status;
}

int main(int argc, char **argv)
{
    static const struct {
        Kind kind;
        int n;
    } task[] = {{WALL, 100},     {BOXES, 60},      {CAPSULES, 60},    {CYLINDERS, 60}, {CONES, 60},
                {BIN, 60},       {BIN, 1000},      {HULLS, 200},      {PILE, 666},     {FALL, 666},
                {PILE, 2000},    {FALL, 2000},     {PACKED, 1000},    {PACKED, 10000}, {PACKED, 100000},
                {COURSES, 1000}, {COURSES, 10000}, {COURSES, 100000}, {PILE, 10000},   {PILE, 100000}};
    int most = argc > 1 ? atoi(argv[1]) : 100000;
    const char *only = argc > 2 ? argv[2] : NULL;
    st_Error err = {0};
    printf("%-8s %7s %8s %8s %9s %8s %8s %8s %8s %8s\n", "scene", "bodies", "contacts", "pairs", "first ms", "place us",
           "pairs us", "mean us", "best us", "ns/cont.");
    for (size_t k = 0; k < sizeof task / sizeof *task; k++)
        if (task[k].n <= most && (only == NULL || strcmp(only, kind_name[task[k].kind]) == 0) &&
            run(task[k].kind, task[k].n, &err) != ST_OK) {
            fprintf(stderr, "collide: %s\n", err.message);
            return 1;
        }
    return 0;
}
