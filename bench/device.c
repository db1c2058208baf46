/* device.c -- a pile of spheres on flat arrays, on the host and on a CUDA device (src/device).
 *
 *     device DEVICE NX NY NZ STEPS [MAX_SWEEPS] [TOLERANCE] [THREADS]
 *
 * NX x NY x NZ spheres of 5 cm, nearly packed, fall into a box with friction 0.5, h = 1/240. Every 60 steps:
 * contacts, colours, sweeps, residual (rms over contacts, relative to g h), speeds, time per step; at the end
 * steps/s, medians and the hash of the state, which is the same on every device.
 */
#include "base/base.h"
#include "device/flat_pile.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t hash(uint64_t h, const double *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        h = (h ^ bits) * 1099511628211u;
        h ^= h >> 29;
    }
    return h;
}

/* -1 .. 1, from a counter. */
static double noise(uint32_t x)
{
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
    return 2.0 * (double)(x >> 8) / 16777216.0 - 1;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 6) return fprintf(stderr, "usage: device host|cuda NX NY NZ STEPS [SWEEPS] [TOLERANCE] [THREADS]\n"), 2;
    const sti_FlatDevice *device = &sti_flat_host;
    if (strcmp(argv[1], "cuda") == 0) {
#ifdef STI_HAVE_CUDA
        device = &sti_flat_cuda;
#else
        return fprintf(stderr, "built without CUDA (-DST_CUDA=ON)\n"), 1;
#endif
    }
    const int nx = atoi(argv[2]), ny = atoi(argv[3]), nz = atoi(argv[4]), steps = atoi(argv[5]), n = nx * ny * nz;
    const double r = 0.05, m = 1000 * 4.0 / 3 * 3.14159265358979 * r * r * r, J = 0.4 * m * r * r;
    const double a = 2.02 * r, rise = a * 0.7071067811865476, wide = (nx + 0.5) * a + 0.004,
                 deep = (ny + 0.5) * a + 0.004;
    double *q = calloc((size_t)n * 7, sizeof *q), *v = calloc((size_t)n * 6, sizeof *v);
    double *mass = calloc((size_t)n, sizeof *mass), *inertia = calloc((size_t)n * 6, sizeof *inertia);
    double *centre = calloc((size_t)n * 3, sizeof *centre), *radius = calloc((size_t)n, sizeof *radius);
    double *residual = calloc((size_t)steps, sizeof *residual);
    int *body = calloc((size_t)n, sizeof *body), *surface = calloc((size_t)n, sizeof *surface);
    if (!q || !v || !mass || !inertia || !centre || !radius || !body || !surface || !residual) return 1;
    for (int k = 0, i = 0; k < nz; k++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++, i++) {
                const double shift = k % 2 ? 0.5 * a : 0;
                q[7 * i] = 0.002 + r + shift + x * a + 0.02 * r * noise((uint32_t)(3 * i));
                q[7 * i + 1] = 0.002 + r + shift + y * a + 0.02 * r * noise((uint32_t)(3 * i + 1));
                q[7 * i + 2] = 1.05 * r + k * rise + 0.02 * r * noise((uint32_t)(3 * i + 2));
                q[7 * i + 3] = 1;
                mass[i] = 1 / m;
                for (int e = 0; e < 3; e++)
                    inertia[6 * i + e] = J;
                radius[i] = r;
                body[i] = i;
            }
    const double axis[5][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                               {0, 0, 1, 1, 0, 0, 0, 1, 0},
                               {0, 0, -1, -1, 0, 0, 0, 1, 0},
                               {1, 0, 0, 0, 0, 1, 0, -1, 0},
                               {1, 0, 0, 0, 0, -1, 0, 1, 0}};
    sti_FlatWall wall[5];
    for (int k = 0; k < 5; k++) {
        wall[k] = (sti_FlatWall){
            .type = STI_FLAT_PLANE, .body = -1, .hull = -1, .x = {k == 2 ? wide : 0, k == 4 ? deep : 0, 0}};
        memcpy(wall[k].axis, axis[k], sizeof axis[k]);
    }
    const double mu = 0.5, none = 0;
    sti_FlatDef def = {.n_bodies = n,
                       .n_spheres = n,
                       .n_walls = 5,
                       .n_surfaces = 1,
                       .inverse_mass = mass,
                       .inertia = inertia,
                       .sphere_body = body,
                       .sphere_centre = centre,
                       .sphere_radius = radius,
                       .sphere_surface = surface,
                       .wall = wall,
                       .mu = &mu,
                       .rolling = &none,
                       .spinning = &none,
                       .restitution = &none,
                       .gravity = {0, 0, -9.81},
                       .correction_speed = 1,
                       .usual_h = 1.0 / 240,
                       .tolerance = argc > 7 ? atof(argv[7]) : 1e-3,
                       .max_sweeps = argc > 6 ? atoi(argv[6]) : 300,
                       .threads = argc > 8 ? atoi(argv[8]) : 1};
    const st_Allocator allocator = st_default_allocator();
    sti_FlatPile *pile = NULL;
    st_Error err = {0};
    if (device->create(&def, &allocator, &pile, &err) != ST_OK || device->put(pile, q, v, &err) != ST_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    printf("%s: %d spheres, %d layers\n", device->name, n, nz);
    double start = seconds(), last = start;
    int64_t sweeps = 0;
    for (int k = 0; k < steps; k++) {
        sti_FlatInfo info;
        if (device->step(pile, 1.0 / 240, &info, &err) != ST_OK) return fprintf(stderr, "%s\n", err.message), 1;
        residual[k] = info.residual;
        sweeps += info.sweeps;
        if (k == 0 || (k + 1) % 60 == 0) {
            const double now = seconds();
            printf("step %4d: %.2f contacts per sphere, %d colours, %3d sweeps, residual %.2e, overlap %.2f %% of r, "
                   "rms speed with spin %.5f m/s, %.2f ms per step\n",
                   k + 1, (double)info.contacts / n, info.colours, info.sweeps, info.residual, 100 * info.overlap / r,
                   sqrt(2 * info.kinetic / (n * m)),
                   1e3 * (now - last) /
                       (k == 0    ? 1
                        : k == 59 ? 59
                                  : 60));
            fflush(stdout);
            last = now;
        }
    }
    const double took = seconds() - start;
    if (device->get(pile, 0, n, q, v, &err) != ST_OK) return fprintf(stderr, "%s\n", err.message), 1;
    double speed = 0; /* of centres: nothing stops spin about a contact's normal */
    for (int i = 0; i < n; i++)
        for (int e = 0; e < 3; e++)
            speed += v[6 * i + e] * v[6 * i + e];
    qsort(residual, (size_t)steps, sizeof *residual, by_size);
    printf("%d steps: %.2f steps/s, %.1f sweeps per step, residual median %.2e p90 %.2e, rms speed of centres %.6f "
           "m/s, hash "
           "%016llx\n",
           steps, steps / took, (double)sweeps / steps, residual[steps / 2], residual[steps * 9 / 10], sqrt(speed / n),
           (unsigned long long)hash(hash(1469598103934665603u, q, (int64_t)7 * n), v, (int64_t)6 * n));
    device->destroy(pile);
    free(q), free(v), free(mass), free(inertia), free(centre), free(radius), free(body), free(surface), free(residual);
    return 0;
}
