/* tests/fuzz/properties.h -- properties of every run of every accepted scene.
 *
 *   - no NaN in the state, the report or the energies;
 *   - energy guard: friction and dampers take energy, impact laws add none where `energy` is limit; the terms of the
 *     report add up, and with Euler's methods and solved problems of rigid contact they leave nothing over;
 *   - momentum: m (v+ - v) of every body is the sum of the forces and impulses reported for it, converged or not;
 *   - the residual that a step reports is that of the impulses it reports, recomputed, to rounding;
 *   - a saved and restored system, and a clone, go on with the same bits;
 *   - two threads have the bits of one.
 *
 * The last three cost as much as the run: on one input in a hundred.
 */
#ifndef STI_FUZZ_PROPERTIES_H
#define STI_FUZZ_PROPERTIES_H

#include "fuzz.h"

/* Larger scenes are only parsed: a fuzzer needs thousands of runs per second. */
enum { MOST_BODIES = 12, MOST_SHAPES = 24, STEPS = 3, COSTLY = 100 };

static inline uint32_t hash_of(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t k = 0; k < size; k++)
        hash = (hash ^ data[k]) * 16777619u;
    return hash;
}

typedef struct Checked {
    const st_Scene *scene;
    const st_SystemDef *def;
    double energy; /* at the start [J]; NAN: the run did not start here */
    bool exact;    /* every term of the energy is known: neither joints nor springs nor forces, and every step solved */
} Checked;

/* Terms of the report are sums of products of the state: their rounding is a share of the largest of them. */
static inline void check_energy(Checked *run, const st_StepInfo *info)
{
    const double terms[] = {info->work,       info->friction, info->damping, info->impacts,
                            info->correction, info->scheme,   info->kinetic, info->potential - run->energy};
    double largest = fabs(run->energy), sum = info->unexplained;
    for (int k = 0; k < 8; k++) {
        MUST(isfinite(terms[k]));
        largest = fmax(largest, fabs(terms[k]));
        sum += k < 6 ? terms[k] : -terms[k];
    }
    const double rounding = 1e-9 * largest + 1e-300;
    /* energy stored in soft contacts is counted over the points of the last search, and a clone searches again */
    if (run->def->contact == ST_CONTACT_RIGID) MUST(fabs(sum) <= rounding);
    MUST(info->impact_gain >= 0);
    if (run->def->integrator == ST_INTEGRATOR_IMPLICIT)
        MUST(info->damping <= rounding); /* explicit dampers overshoot */
    /* joints that have come apart push their bodies, also into contacts */
    if (run->def->energy == ST_ENERGY_LIMIT && info->solve.converged && st_scene_joint_count(run->scene) == 0)
        MUST(info->impact_gain <= rounding);
    /* with located impacts friction acts along the mean of two velocities: only with normal impulses it takes energy */
    const bool euler =
        (run->def->integrator == ST_INTEGRATOR_EULER || run->def->integrator == ST_INTEGRATOR_IMPLICIT) &&
        run->def->contact == ST_CONTACT_RIGID && run->def->events == ST_EVENTS_OFF;
    if (euler) MUST(info->friction <= rounding);
    /* the cone law moves sliding bodies along the normal, and overlaps are soft: the report has no such kind of work */
    if (!euler || run->def->law == ST_LAW_CONE || info->overlapping > 0 || info->correction != 0 ||
        !info->solve.converged || info->solve.residual.natural > 1e-9)
        run->exact = false;
    if (run->exact) MUST(fabs(info->unexplained) <= 1e-6 * largest + 1e-300);
}

static inline double along_axis(st_Vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* `before`: velocities of the centres of mass at the start of the step. */
static inline void check_momentum(const Checked *run, st_System *system, const st_StepInfo *info, const st_Vec3 *before)
{
    st_BodyLoad load[MOST_BODIES];
    st_Error err = {0};
    const int n = st_scene_body_count(run->scene);
    double missing = 0, largest = 0;
    if (st_system_loads(system, load, n, &err) != ST_OK) return; /* devices do not report all of them */
    for (int b = 0; b < n; b++) {
        st_Vec3 after, spin;
        double mass;
        st_Mat3 inertia;
        const st_BodyId id = {b + 1};
        if (st_scene_body_mass(run->scene, id, &mass, &inertia, &err) != ST_OK || st_system_asleep(system, id))
            continue;
        MUST(st_system_velocity(system, id, &after, &spin) == ST_OK);
        for (int d = 0; d < 3; d++) {
            const double change = mass * (along_axis(after, d) - along_axis(before[b], d));
            const double impulse = along_axis(load[b].impulse, d);
            double left = change - impulse;
            largest = fmax(largest, fmax(fabs(change), fabs(impulse)));
            for (int k = 0; k < ST_N_LOADS; k++) {
                const double term = info->force_h * along_axis(load[b].force[k], d);
                left -= term, largest = fmax(largest, fabs(term));
            }
            missing = fmax(missing, fabs(left));
        }
    }
    MUST(missing <= 1e-6 * largest + 1e-300);
}

/* False: the step failed, with a reason. */
static inline bool step_checked(Checked *run, st_System *system)
{
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    st_Vec3 before[MOST_BODIES], spin;
    const int n = st_scene_body_count(run->scene);
    const uint64_t hash = st_system_hash(system);
    for (int b = 0; b < n; b++)
        MUST(st_system_velocity(system, (st_BodyId){b + 1}, &before[b], &spin) == ST_OK);
    const st_Status status = st_system_step(system, run->def->h, &info, &err);
    if (status != ST_OK) {
        must_explain(status, &err);
        MUST(st_system_hash(system) == hash || run->def->sleep); /* bodies may have fallen asleep, or have been woken */
        return false;
    }
    MUST(isfinite(info.time) && isfinite(info.h) && info.h >= 0 && isfinite(info.solve.residual.natural));
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
    if (!isnan(run->energy)) check_energy(run, &info);
    check_momentum(run, system, &info, before);
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
    double kinetic, potential;
    if (st_system_energy(system, &kinetic, &potential, &err) != ST_OK) kinetic = potential = NAN;
    Checked run = {scene, &def, kinetic + potential,
                   st_scene_joint_count(scene) == 0 && st_scene_spring_count(scene) == 0 &&
                       st_scene_force_count(scene) == 0};
    for (int k = 0; k < STEPS && goes; k++)
        goes = step_checked(&run, system);
    if (goes && def.contact == ST_CONTACT_RIGID && def.events == ST_EVENTS_OFF) check_residual(system);
    if (goes && hash % COSTLY == 0) {
        const size_t size = st_system_save(system, NULL, 0);
        void *bytes = malloc(size);
        MUST(bytes != NULL);
        st_system_save(system, bytes, size);
        if (st_system_clone(system, &other, &err) == ST_OK) {
            MUST(st_system_hash(other) == st_system_hash(system));
            const bool a = step_checked(&run, system), b = step_checked(&run, other);
            MUST(a == b && st_system_hash(other) == st_system_hash(system));
            MUST(st_system_restore(other, bytes, size, &err) == ST_OK);
            const bool c = step_checked(&run, other);
            MUST(c == b && st_system_hash(other) == st_system_hash(system));
            st_system_destroy(other);
        }
        free(bytes);
        st_system_destroy(system);
        uint64_t hashes[2] = {0};
        for (int threads = 1; threads <= 2; threads++) {
            def.threads = threads;
            if (st_system_create(scene, &def, &system, &err) != ST_OK) break;
            for (int k = 0; k < STEPS && step_checked(&run, system); k++)
                ;
            hashes[threads - 1] = st_system_hash(system);
            st_system_destroy(system);
        }
        MUST(hashes[0] == hashes[1]);
        return;
    }
    st_system_destroy(system);
}

/* Text of a scene, or of a robot file (see `label`). */
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
