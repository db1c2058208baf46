/* tests/step/threads.h -- a scene run by one thread and by several, with all reports of a step compared bit for bit. */
#ifndef STI_TEST_THREADS_H
#define STI_TEST_THREADS_H

#include "check.h"

#include <stiction/io.h>
#include <string.h>

typedef struct World {
    st_Scene *scene;
    st_SystemDef def;
    st_Error err;
} World;

static inline void begin_empty(World *w)
{
    *w = (World){.def = st_system_def()};
    w->def.h = 1.0 / 240;
    w->def.solver = "nsgs";
    w->def.tolerance = 1e-3;
    w->def.max_iterations = 20;
    check_ok(st_scene_create(&w->scene, &w->err), w->err);
}

static inline void begin(World *w)
{
    begin_empty(w);
    st_ShapeDef floor = st_plane_def();
    floor.mu = 0.5;
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &floor, NULL, &w->err), w->err);
}

static inline st_BodyId add(World *w, st_ShapeDef shape, st_Vec3 at)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.pose.p = at;
    shape.mu = 0.5;
    check_ok(st_scene_add_body(w->scene, &def, &id, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
    return id;
}

/* Spheres that touch one another, not quite in line: nine by nine, in layers. */
static inline void add_pile(World *w, int layers)
{
    check_Random random = {7};
    for (int k = 0; k < 81 * layers; k++) {
        const int layer = k / 81;
        double x = 0.2 * (k % 9) + check_random(&random, -0.005, 0.005), z = 0.1 + 0.2 * layer;
        double y = 0.2 * (k / 9 % 9) + check_random(&random, -0.005, 0.005);
        add(w, st_sphere_def(0.1), (st_Vec3){x, y, z + check_random(&random, 0, 0.004)});
    }
}

/* Reported figures of a step, which are sums and largest values found by a team. */
enum { FIGURES = 12, STEPS = 40 };

typedef struct Trace {
    uint64_t hash[STEPS];
    double figure[STEPS][FIGURES];
    int contacts, islands, failures; /* most of them; steps that did not converge                */
} Trace;

/* The figures of islands, each weighted by its position. */
static inline double figure_of_islands(const st_System *system)
{
    double sum = 0;
    for (int k = 0; k < st_system_island_count(system); k++) {
        st_IslandReport of;
        assert_int_equal(st_system_island(system, k, &of), ST_OK);
        sum += (k + 1) * (of.solve.iterations + of.contacts + of.rows + of.bodies + of.solve.converged +
                          of.solve.residual.natural + of.solve.residual.worst_contact + of.solve.start);
    }
    return sum;
}

static inline void run(World *w, int threads, int n, Trace *out)
{
    st_System *system;
    st_StepInfo info = st_step_info();
    w->def.threads = threads;
    check_ok(st_system_create(w->scene, &w->def, &system, &w->err), w->err);
    for (int k = 0; k < n; k++) {
        check_ok(st_system_step(system, w->def.h, &info, &w->err), w->err);
        out->hash[k] = st_system_hash(system);
        const double figure[FIGURES] = {info.solve.residual.natural,
                                        info.penetration,
                                        info.kinetic,
                                        info.potential,
                                        info.friction,
                                        info.overlapping,
                                        info.solve.iterations,
                                        info.solve.converged,
                                        info.solve.residual.worst_contact,
                                        info.solve.residual.complementarity,
                                        info.solve.redundant_rows,
                                        figure_of_islands(system)};
        memcpy(out->figure[k], figure, sizeof figure);
        out->failures += !info.solve.converged;
        out->islands = info.islands > out->islands ? info.islands : out->islands;
        out->contacts = info.contacts > out->contacts ? info.contacts : out->contacts;
    }
    st_system_destroy(system);
}

/* Runs with one thread, and compares others with it; returns the trace of one thread. */
static inline Trace check_same(void (*build)(World *), st_Integrator integrator, int n, int least_contacts)
{
    static const int counts[] = {2, 3, 4};
    World w;
    Trace one = {.contacts = 0};
    build(&w);
    w.def.integrator = integrator;
    run(&w, 1, n, &one);
    assert_true(one.contacts >= least_contacts); /* enough that a team is called for */
    for (size_t t = 0; t < sizeof counts / sizeof counts[0]; t++) {
        Trace many = {.contacts = 0};
        run(&w, counts[t], n, &many);
        for (int k = 0; k < n; k++) {
            assert_true(many.hash[k] == one.hash[k]);
            assert_memory_equal(many.figure[k], one.figure[k], sizeof one.figure[k]);
        }
    }
    st_scene_destroy(w.scene);
    return one;
}

#endif
