/* bench/growth.c -- cost of a settled pile of spheres by size: time per contact to one residual, and memory.
 *
 *     build/bench/growth [largest number of bodies, 100000] [default]
 *
 * Ten layers of spheres in a box settle for half a second with few sweeps per step. Each sphere is in a pocket between
 * four of the layer below, with a random offset. Then impulses are computed to a residual of 1e-3 (the settled state is
 * passed without them), and ten more steps are measured, each to that residual from the impulses of the step before.
 * `fall` is the mean speed of the spheres relative to g h: a pile that is not at rest has other impulses in every step,
 * and needs ten times the sweeps. The number of sweeps is partly random, so time per contact and sweep is also printed.
 * All times are CPU times.
 *
 * With `default` every step, settling included, has the default settings instead.
 *
 * Memory is counted in the allocator: per body without contacts, and the rest per contact; and all of it at its peak.
 */
#include <stiction/stiction.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 10, SETTLE = 120, SETTLE_SWEEPS = 12, FIND = 10, MEASURED = 10 };
static const double radius = 0.05, h = 1.0 / 240;

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        st_Status status_ = (call);                                                                                    \
        if (status_ != ST_OK) return status_;                                                                          \
    } while (0)

static bool by_default; /* the settings are left alone */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- memory, counted -------------------------------------------------------------------------- */

typedef struct Bytes {
    double now, peak;
} Bytes;

static void *counting_alloc(void *ctx, size_t size, size_t align)
{
    st_Allocator inner = st_default_allocator();
    Bytes *bytes = ctx;
    bytes->now += (double)size;
    bytes->peak = fmax(bytes->peak, bytes->now);
    return inner.alloc(inner.ctx, size, align);
}

static void counting_free(void *ctx, void *memory, size_t size, size_t align)
{
    st_Allocator inner = st_default_allocator();
    if (memory != NULL) ((Bytes *)ctx)->now -= (double)size;
    inner.free(inner.ctx, memory, size, align);
}

/* ---- the pile --------------------------------------------------------------------------------- */

static st_Status add_box(st_Scene *scene, double width, st_Error *err)
{
    const st_Vec3 at[5] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {width, 0, 0}, {0, width, 0}};
    const st_Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
    for (int k = 0; k < 5; k++) {
        st_ShapeDef plane = st_plane_def();
        plane.pose = (st_Pose){at[k], st_quat_from_z(normal[k])};
        TRY(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, err));
    }
    return ST_OK;
}

/* Pseudo-random in -1 .. 1, the same on every machine (Knuth's MMIX). */
static double chance(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

/* `spread` 1: a pile; larger: nothing touches. */
static st_Status add_spheres(st_Scene *scene, int side, double spread, st_Error *err)
{
    const double pitch = 2.1 * radius * spread, off = 0.02 * radius;
    uint64_t state = 1;
    st_ShapeDef sphere = st_sphere_def(radius);
    sphere.mu = 0.5;
    for (int layer = 0; layer < DEPTH; layer++)
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++) {
                st_BodyDef def = st_body_def();
                st_BodyId id;
                double shift = layer % 2 == 0 ? 0.25 : 0.75, x = off * chance(&state), y = off * chance(&state);
                def.pose.p = (st_Vec3){(i + shift) * pitch + radius + x, (j + shift) * pitch + radius + y,
                                       radius * (1.02 + 1.38 * spread * layer)};
                def.mass = 1;
                def.inertia = (st_Mat3){{0.001, 0, 0, 0, 0.001, 0, 0, 0, 0.001}};
                TRY(st_scene_add_body(scene, &def, &id, err));
                TRY(st_scene_add_shape(scene, id, &sphere, NULL, err));
            }
    return add_box(scene, side * pitch + 2 * radius, err);
}

static st_Status make(int side, double spread, int sweeps, Bytes *bytes, st_System **system, st_Error *err)
{
    st_SystemDef def = st_system_def();
    st_Scene *scene = NULL;
    if (!by_default) {
        def.solver = "nsgs";
        def.tolerance = 1e-3;
        def.max_iterations = sweeps;
        def.slop = 1e-6;
    }
    def.h = h;
    def.allocator = (st_Allocator){counting_alloc, counting_free, bytes};
    TRY(st_scene_create(&scene, err));
    st_Status status = add_spheres(scene, side, spread, err);
    if (status == ST_OK) status = st_system_create(scene, &def, system, err);
    st_scene_destroy(scene);
    return status;
}

/* ---- measuring -------------------------------------------------------------------------------- */

typedef struct Figures {
    int bodies, contacts;
    double step, sweeps, residual;      /* seconds and sweeps per step; the worst residual */
    double fall;                        /* mean speed relative to g h */
    double per_body, per_contact, peak; /* bytes; the last of all              */
    double seconds[ST_N_PARTS];
} Figures;

/* Bytes per body without contacts, after one step. */
static st_Status weigh_bodies(int side, Bytes *bytes, st_Error *err)
{
    st_System *system = NULL;
    TRY(make(side, 2, 1, bytes, &system, err));
    st_Status status = st_system_step(system, h, NULL, err);
    const Bytes used = *bytes;
    st_system_destroy(system);
    *bytes = used;
    return status;
}

/* Copies the state of a settled pile to a system that has not stepped. */
static st_Status settle(int side, st_System *system, st_Error *err)
{
    Bytes bytes = {0, 0};
    st_System *before = NULL;
    TRY(make(side, 1, SETTLE_SWEEPS, &bytes, &before, err));
    st_Status status = ST_OK;
    for (int k = 0; k < SETTLE && status == ST_OK; k++)
        status = st_system_step(before, h, NULL, err);
    double *q = malloc((size_t)st_system_n_q(before) * sizeof *q),
           *v = malloc((size_t)st_system_n_v(before) * sizeof *v);
    if (status == ST_OK && q != NULL && v != NULL) {
        st_system_state(before, q, v);
        status = st_system_set_state(system, 0, q, v, err);
    }
    free(q);
    free(v);
    st_system_destroy(before);
    return status;
}

static st_Status run(st_System *system, Figures *out, st_Error *err)
{
    double before[ST_N_PARTS], start = 0;
    for (int k = 0; k < FIND + MEASURED; k++) {
        st_StepInfo info = st_step_info();
        if (k == FIND) {
            st_system_part_seconds(system, before);
            start = cpu_seconds();
        }
        TRY(st_system_step(system, h, &info, err));
        if (k < FIND) continue;
        out->contacts = info.contacts;
        out->sweeps += (double)info.solve.iterations / MEASURED;
        out->residual = fmax(out->residual, info.solve.residual.natural);
        out->fall = sqrt(2 * info.kinetic / out->bodies) / (9.81 * h); /* of 1 kg each */
    }
    out->step = (cpu_seconds() - start) / MEASURED;
    st_system_part_seconds(system, out->seconds);
    for (int k = 0; k < ST_N_PARTS; k++)
        out->seconds[k] = (out->seconds[k] - before[k]) / MEASURED;
    return ST_OK;
}

static st_Status measure(int side, Figures *out, st_Error *err)
{
    Bytes apart = {0, 0}, pile = {0, 0};
    st_System *system = NULL;
    *out = (Figures){.bodies = DEPTH * side * side};
    TRY(weigh_bodies(side, &apart, err));
    TRY(make(side, 1, 2000, &pile, &system, err));
    st_Status status = settle(side, system, err);
    if (status == ST_OK) status = run(system, out, err);
    out->per_body = apart.now / out->bodies;
    out->peak = pile.peak;
    out->per_contact = out->contacts > 0 ? (pile.now - apart.now) / out->contacts : 0;
    st_system_destroy(system);
    return status;
}

static void print(const Figures *f)
{
    double sum = 0;
    for (int k = 0; k < ST_N_PARTS; k++)
        sum += f->seconds[k];
    double solve = f->step * f->seconds[ST_PART_SOLVE] / sum; /* parts are measured by the wall clock */
    printf("| %d | %d | %.3g | %.3g | %.0f | %.3g | %.1e | %.2f | %.0f | %.0f | %.0f |", f->bodies, f->contacts,
           1e3 * f->step, 1e6 * f->step / f->contacts, f->sweeps, 1e9 * solve / f->contacts / fmax(f->sweeps, 1),
           f->residual, f->fall, f->per_body, f->per_contact, 1e-6 * f->peak);
    for (int k = 0; k < ST_N_PARTS; k++)
        if (100 * f->seconds[k] >= sum) printf(" %s %.0f %%", st_part_name((st_StepPart)k), 100 * f->seconds[k] / sum);
    printf(" |\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 100000;
    by_default = argc > 2 && strcmp(argv[2], "default") == 0;
    printf(
        "| bodies | contacts | ms a step | us a contact | sweeps | ns a contact and sweep | residual | fall | bytes a "
        "body | bytes a contact | peak MB | stages |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int n = 1000; n <= largest; n *= 10) {
        int side = (int)lround(sqrt((double)n / DEPTH));
        Figures figures;
        st_Error err = {.status = ST_OK};
        if (measure(side, &figures, &err) != ST_OK) {
            fprintf(stderr, "growth: %s\n", err.message);
            return 1;
        }
        print(&figures);
    }
    return 0;
}
