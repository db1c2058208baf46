/* tests/fuzz/properties.h -- what holds for every run, whatever the scene: checked after a scene was accepted.
 *
 *   - no NaN in the state, the report or the energies;
 *   - the residual that a step reports is that of the impulses it reports, recomputed, to rounding;
 *   - a saved and restored system, and a clone, go on with the same bits;
 *   - two threads have the bits of one.
 *
 * The last three cost as much as the run: on one input in a hundred.
 */
#ifndef STI_FUZZ_PROPERTIES_H
#define STI_FUZZ_PROPERTIES_H

#include "fuzz.h"

/* Larger scenes are only parsed: a fuzzer wants thousands of runs a second. */
enum { MOST_BODIES = 12, MOST_SHAPES = 24, STEPS = 3, COSTLY = 100 };

static inline uint32_t hash_of(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t k = 0; k < size; k++)
        hash = (hash ^ data[k]) * 16777619u;
    return hash;
}

/* False: the step failed, with a reason. */
static inline bool step_checked(st_System *system, double h)
{
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    const uint64_t before = st_system_hash(system);
    const st_Status status = st_system_step(system, h, &info, &err);
    if (status != ST_OK) {
        must_explain(status, &err);
        MUST(st_system_hash(system) == before);
        return false;
    }
    MUST(isfinite(info.time) && isfinite(info.h) && info.h > 0 && isfinite(info.solve.residual.natural));
    MUST(isfinite(info.penetration) && isfinite(info.joint_error));
    double q[7 * MOST_BODIES + 64], v[6 * MOST_BODIES + 64];
    if (st_system_n_q(system) <= (int)(sizeof q / sizeof q[0]) &&
        st_system_n_v(system) <= (int)(sizeof v / sizeof v[0])) {
        st_system_state(system, q, v);
        for (int k = 0; k < st_system_n_q(system); k++)
            MUST(isfinite(q[k]));
        for (int k = 0; k < st_system_n_v(system); k++)
            MUST(isfinite(v[k]));
    }
    return true;
}

/* The problem of the last step and its impulses, judged again. With one island the report is of the whole. */
static inline void check_residual(st_System *system)
{
    const double *r = NULL;
    const st_Problem *problem = st_system_problem(system, &r);
    st_IslandReport island;
    st_Residual again;
    st_Error err = {0};
    if (problem == NULL || problem->n_r == 0 || r == NULL || st_system_island_count(system) != 1) return;
    if (st_system_island(system, 0, &island) != ST_OK) return;
    if (st_problem_residual(problem, r, &again, &err) != ST_OK) return;
    const double told = island.solve.residual.natural;
    MUST(fabs(again.natural - told) <= 1e-6 * fmax(1.0, told) + 1e-9 + again.rounding);
}

static inline void check_scene(const st_Scene *scene, st_SystemDef def, uint32_t hash)
{
    st_Error err = {0};
    st_System *system = NULL, *other = NULL;
    if (st_scene_body_count(scene) > MOST_BODIES || st_scene_shape_count(scene) > MOST_SHAPES) return;
    if (def.max_iterations > 200) def.max_iterations = 200;
    def.step_work_limit = fmin(def.step_work_limit, 500);
    def.max_events = def.max_events > 20 ? 20 : def.max_events;
    def.threads = 1;
    const st_Status status = st_system_create(scene, &def, &system, &err);
    if (status != ST_OK) {
        must_explain(status, &err);
        return;
    }
    bool goes = true;
    for (int k = 0; k < STEPS && goes; k++)
        goes = step_checked(system, def.h);
    if (goes && def.contact == ST_CONTACT_RIGID && def.events == ST_EVENTS_OFF) check_residual(system);
    if (goes && hash % COSTLY == 0) {
        const size_t size = st_system_save(system, NULL, 0);
        void *bytes = malloc(size);
        MUST(bytes != NULL);
        st_system_save(system, bytes, size);
        if (st_system_clone(system, &other, &err) == ST_OK) {
            MUST(st_system_hash(other) == st_system_hash(system));
            const bool a = step_checked(system, def.h), b = step_checked(other, def.h);
            MUST(a == b && st_system_hash(other) == st_system_hash(system));
            MUST(st_system_restore(other, bytes, size, &err) == ST_OK);
            const bool c = step_checked(other, def.h);
            MUST(c == b && st_system_hash(other) == st_system_hash(system));
            st_system_destroy(other);
        }
        free(bytes);
        st_system_destroy(system);
        uint64_t hashes[2] = {0};
        for (int threads = 1; threads <= 2; threads++) {
            def.threads = threads;
            if (st_system_create(scene, &def, &system, &err) != ST_OK) break;
            for (int k = 0; k < STEPS && step_checked(system, def.h); k++)
                ;
            hashes[threads - 1] = st_system_hash(system);
            st_system_destroy(system);
        }
        MUST(hashes[0] == hashes[1]);
        return;
    }
    st_system_destroy(system);
}

/* Text in the language of scenes, or of a robot file (`label` says which). */
static inline void check_text(const uint8_t *data, size_t size, const char *label, const char *const *sets, int n_sets)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    const st_Status status = st_scene_parse((const char *)data, size, label, sets, n_sets, &scene, &def, &err);
    if (status == ST_OK)
        check_scene(scene, def, hash_of(data, size));
    else
        must_explain(status, &err);
    st_scene_destroy(scene);
}

static inline void check_path(const char *path, const uint8_t *data, size_t size)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    const st_Status status = st_scene_read(path, NULL, 0, &scene, &def, &err);
    if (status == ST_OK)
        check_scene(scene, def, hash_of(data, size));
    else
        must_explain(status, &err);
    st_scene_destroy(scene);
}

/* A mesh file with this ending, as a hull and as a mesh. */
static inline void check_mesh(const uint8_t *data, size_t size, const char *ending)
{
    char text[512];
    const char *file = as_file(data, size, ending);
    for (int mesh = 0; mesh < 2; mesh++) {
        snprintf(
            text, sizeof text,
            "{\"ground\": [{\"type\": \"plane\"}], \"bodies\": [{\"position\": [0, 0, 0.5], \"mass\": 1, \"inertia\": "
            "[1, 1, 1], \"shapes\": [{\"type\": \"%s\", \"file\": \"%s\"}]}]}",
            mesh ? "mesh" : "hull", file);
        check_text((const uint8_t *)text, strlen(text), "/tmp/fuzz.json", NULL, 0);
    }
}

#endif
