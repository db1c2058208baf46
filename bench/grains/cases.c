/* bench/grains/cases.c -- a hopper, a drum, a bin of clumps. Positions come from a seeded generator. */
#include "base/base.h"
#include "grains.h"
#include "math/quat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DENSITY 2500.0 /* [kg/m^3] */

static double random_number(uint64_t *seed) /* -1 to 1 */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 33) / 1073741824.0 - 1;
}

static void add_slab(Case *c, st_Vec3 at, st_Quat q, st_Vec3 half, bool turns)
{
    c->slabs[c->n_slabs++] = (Slab){{at, q}, half, turns};
}

/* n spheres of radius r in a row along x, `apart` from centre to centre. */
static void add_grain(Case *c, st_Vec3 at, st_Quat q, int n, double r, double apart)
{
    const double m = DENSITY * 4.0 / 3 * STI_PI * r * r * r, own = 0.4 * m * r * r;
    Grain *grain = &c->grains[c->n_grains++];
    *grain = (Grain){{at, q}, c->n_spheres, n, n * m, {n * own, n * own, n * own}};
    for (int k = 0; k < n; k++) {
        const double x = (k - (n - 1) / 2.0) * apart;
        c->spheres[c->n_spheres++] = (GrainSphere){{x, 0, 0}, r};
        grain->inertia.y += m * x * x;
        grain->inertia.z += m * x * x;
    }
}

/* Axes of a wall: +z is along n, x is up. */
static st_Quat upright(st_Vec3 n)
{
    return quat_from_axes(vec3(0, 0, 1), cross(n, vec3(0, 0, 1)), n);
}

static void add_silo(Case *c, double half, double high)
{
    const double thick = c->d;
    for (int way = -1; way <= 1; way += 2) {
        add_slab(c, vec3(way * (half + thick), 0, high), upright(vec3(-way, 0, 0)),
                 vec3(high + 2 * thick, half + 2 * thick, thick), false);
        add_slab(c, vec3(0, way * (half + thick), high), upright(vec3(0, -way, 0)),
                 vec3(high + 2 * thick, half + 2 * thick, thick), false);
    }
}

/* A silo that is twelve grains wide. Its floor, at z = 0, has a square opening that is six grains wide. */
static void make_hopper(Case *c, int n)
{
    const double d = c->d, half = 6 * d, mouth = 3 * d, slab = (half - mouth) / 2, spacing = 1.08 * d;
    const int side = (int)(2 * half / spacing), layers = (n + side * side - 1) / (side * side);
    uint64_t seed = 7;
    add_silo(c, half, 0.6 * layers * spacing);
    for (int way = -1; way <= 1; way += 2) {
        add_slab(c, vec3(way * (mouth + slab), 0, -d), (st_Quat){1, 0, 0, 0}, vec3(slab, half, d), false);
        add_slab(c, vec3(0, way * (mouth + slab), -d), (st_Quat){1, 0, 0, 0}, vec3(mouth, slab, d), false);
    }
    for (int k = 0; k < n; k++) {
        const int i = k % side, j = k / side % side, layer = k / (side * side);
        const st_Vec3 jitter = {random_number(&seed), random_number(&seed), 0};
        const st_Vec3 place = {(i - (side - 1) / 2.0) * spacing, (j - (side - 1) / 2.0) * spacing,
                               0.55 * d + layer * spacing};
        add_grain(c, add(place, scale(0.03 * d, jitter)), (st_Quat){1, 0, 0, 0}, 1, d / 2, 0);
    }
    c->end = 1;
    c->from = 0.3;
    c->figure = FIGURE_FLOW;
}

/* A drum of 24 plates between two fixed walls. It is eight grains long, and its width is chosen so that a third of
 * it is full. The Froude number is 0.05. */
static void make_drum(Case *c, int n)
{
    enum { PLATES = 24 };
    const double d = c->d, depth = 8 * d, spacing = 1.08 * d;
    const double R = sqrt(n * STI_PI / 6 * d * d * d / (0.55 * 0.33 * STI_PI * depth));
    const int across = (int)(depth / spacing);
    uint64_t seed = 9;
    c->turn = sqrt(0.05 * c->g / R);
    for (int k = 0; k < PLATES; k++) {
        const double a = 2 * STI_PI * k / PLATES;
        const st_Vec3 out = {sin(a), 0, -cos(a)};
        add_slab(c, scale(R + d, out), quat_exp(vec3(0, -a, 0)),
                 vec3((R + 2 * d) * tan(STI_PI / PLATES), 0.49 * depth, d), true);
    }
    for (int way = -1; way <= 1; way += 2)
        add_slab(c, vec3(0, way * (depth / 2 + d), 0), upright(vec3(0, -way, 0)), vec3(R + 3 * d, R + 3 * d, d), false);
    for (int k = 0, layer = 0; k < n; layer++) { /* fill chords from the bottom up */
        const double z = -R + (0.75 + layer) * spacing, reach = sqrt(fmax(0, 0.94 * R * R - z * z)) - 0.6 * d;
        const int along = reach > 0 ? 1 + (int)(2 * reach / spacing) : 0;
        for (int i = 0; i < along * across && k < n; i++, k++) {
            const st_Vec3 jitter = {random_number(&seed), random_number(&seed), 0};
            const st_Vec3 place = {(i % along - (along - 1) / 2.0) * spacing,
                                   (i / along - (across - 1) / 2.0) * spacing, z};
            add_grain(c, add(place, scale(0.03 * d, jitter)), (st_Quat){1, 0, 0, 0}, 1, d / 2, 0);
        }
        if (z > R) break;
    }
    c->speed = 0.7; /* impact speed of grains that fall from one plate to another */
    c->end = 2;
    c->from = 1;
    c->figure = FIGURE_ANGLE;
}

/* Spheres, pairs and rows of three, alternating, that fall into a bin. */
static void make_clumps(Case *c, int n)
{
    const double d = c->d, spacing = 2.3 * d;
    const int side = (int)ceil(cbrt(n / 2.0)), layers = (n + side * side - 1) / (side * side);
    const double half = side * spacing / 2;
    uint64_t seed = 11;
    add_silo(c, half, 0.6 * layers * spacing);
    add_slab(c, vec3(0, 0, -d), (st_Quat){1, 0, 0, 0}, vec3(half + 2 * d, half + 2 * d, d), false);
    for (int k = 0; k < n; k++) {
        const int i = k % side, j = k / side % side, layer = k / (side * side);
        const st_Vec3 place = {(i - (side - 1) / 2.0) * spacing, (j - (side - 1) / 2.0) * spacing,
                               (0.6 + layer) * spacing};
        const st_Quat q = {random_number(&seed), random_number(&seed), random_number(&seed), random_number(&seed)};
        add_grain(c, place, quat_unit(q), 1 + k % 3, d / 2, 0.6 * d);
    }
    c->speed = 2;
    c->end = 1;
    c->from = 1;
    c->figure = FIGURE_HEIGHT;
}

static const struct {
    const char *name, *help;
    void (*make)(Case *c, int n);
} kinds[] = {{"hopper", "a silo with an opening of six grains", make_hopper},
             {"drum", "a turning drum, a third full, Froude number 0.05", make_drum},
             {"clumps", "spheres, pairs and rows of three that fall into a bin", make_clumps}};
enum { KINDS = sizeof kinds / sizeof kinds[0], MOST_SLABS = 40, MOST_SPHERES = 3 };

void case_list(void)
{
    for (int k = 0; k < KINDS; k++)
        printf("%s-NUMBER: %s\n", kinds[k].name, kinds[k].help);
}

Case *case_create(const char *name)
{
    const size_t word = strcspn(name, "-");
    const int n = name[word] == '-' ? atoi(name + word + 1) : 500;
    for (int k = 0; k < KINDS; k++) {
        if (strlen(kinds[k].name) != word || strncmp(name, kinds[k].name, word) != 0 || n < 1 || n > 1000000) continue;
        Case *c = calloc(1, sizeof *c);
        if (c == NULL) return NULL;
        *c = (Case){.d = 0.01, .h = 0.002, .mu = 0.5, .g = 9.81, .speed = 0.5};
        snprintf(c->name, sizeof c->name, "%s-%d", kinds[k].name, n);
        c->grains = calloc((size_t)n, sizeof *c->grains);
        c->spheres = calloc((size_t)n * MOST_SPHERES, sizeof *c->spheres);
        c->slabs = calloc(MOST_SLABS, sizeof *c->slabs);
        if (c->grains != NULL && c->spheres != NULL && c->slabs != NULL) {
            kinds[k].make(c, n);
            return c;
        }
        case_destroy(c);
        return NULL;
    }
    fprintf(stderr, "no case \"%s\": one of hopper, drum, clumps, and a number of grains from 1 to 1000000\n", name);
    return NULL;
}

void case_destroy(Case *c)
{
    if (c == NULL) return;
    free(c->grains);
    free(c->spheres);
    free(c->slabs);
    free(c);
}
