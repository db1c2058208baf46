/* grains/place.c -- places for balls in a region: random sequential, on a lattice, or dropped.
 *
 * Neighbours are found in a grid over the region. Its cells are at least as wide as the largest ball, so balls that
 * touch are in neighbouring cells.
 *
 * Dropped: a ball dropped at (x, y) comes to rest at
 *
 *     z(x, y) = max( floor(x, y), z_i + sqrt((r + r_i)^2 - d_i^2) )      over balls i with d_i < r + r_i
 *
 * with d_i the horizontal distance. It rolls to a local minimum of z, found by a compass search. The lowest resting
 * place of several random starts is taken. */
#include "grains/grains.h"
#include "grains/random.h"

#include <stdlib.h>

#define RANDOM_TRIES 20000 /* tries per ball before the region counts as full */
#define DROP_STARTS  6     /* random starts per dropped ball */
#define DROP_TRIES   200   /* most starts until one comes to rest inside the region */
#define DROP_END     0.01  /* the compass search ends at this step, in radii                           */
#define ROUNDING     1e-9  /* relative overlap that is accepted, so that rounding does not refuse balls that touch */

typedef struct Grid {
    sti_Places *places;
    st_Vec3 half;
    double cell[3];
    int n[3];
    int *head, *next; /* first ball of each cell; next ball in the same cell; -1: none */
    int64_t n_cells;
    int up;        /* balls fall downwards along this axis */
    int top;       /* highest cell along `up` that has a ball */
    double widest; /* diameter of the largest ball */
} Grid;

static double *at(st_Vec3 *p, int axis)
{
    return axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z;
}

static int cell_along(const Grid *g, int axis, double x)
{
    const double half = axis == 0 ? g->half.x : axis == 1 ? g->half.y : g->half.z;
    const double k = floor((x + half) / g->cell[axis]);
    return k < 0 ? 0 : k >= g->n[axis] ? g->n[axis] - 1 : (int)k;
}

static int64_t cell_of(const Grid *g, int i, int j, int k)
{
    return ((int64_t)k * g->n[1] + j) * g->n[0] + i;
}

static void put_in_grid(Grid *g, int ball)
{
    const st_Vec3 p = g->places->p[ball];
    const int cell[3] = {cell_along(g, 0, p.x), cell_along(g, 1, p.y), cell_along(g, 2, p.z)};
    const int64_t c = cell_of(g, cell[0], cell[1], cell[2]);
    if (cell[g->up] > g->top) g->top = cell[g->up];
    g->next[ball] = g->head[c];
    g->head[c] = ball;
}

static st_Status make_grid(const st_Allocator *allocator, sti_Places *places, Grid *g, st_Error *err)
{
    *g = (Grid){.places = places, .half = sti_region_half(places->region)};
    for (int k = 0; k < places->n; k++)
        g->widest = fmax(g->widest, 2 * places->r[k]);
    g->up = places->free[2] ? 2 : places->free[1] ? 1 : 0;
    g->n_cells = 1;
    for (int k = 0; k < 3; k++) {
        const double span = 2 * *at(&g->half, k), most = ceil(2 * cbrt(places->n)); /* at most eight cells per ball */
        g->n[k] = places->free[k] ? (int)fmax(1, fmin(floor(span / g->widest), most)) : 1;
        g->cell[k] = span / g->n[k];
        g->n_cells *= g->n[k];
    }
    g->head = sti_alloc(allocator, g->n_cells, sizeof *g->head);
    g->next = sti_alloc(allocator, places->n, sizeof *g->next);
    if (g->head == NULL || g->next == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d grains", places->n);
    for (int64_t c = 0; c < g->n_cells; c++)
        g->head[c] = -1;
    for (int k = 0; k < places->n_known; k++)
        put_in_grid(g, k);
    return ST_OK;
}

/* ---- random sequential -------------------------------------------------------------------------- */

static bool is_free(const Grid *g, st_Vec3 p, double r)
{
    const int i = cell_along(g, 0, p.x), j = cell_along(g, 1, p.y), k = cell_along(g, 2, p.z);
    for (int c = k > 0 ? k - 1 : 0; c <= k + 1 && c < g->n[2]; c++)
        for (int b = j > 0 ? j - 1 : 0; b <= j + 1 && b < g->n[1]; b++)
            for (int a = i > 0 ? i - 1 : 0; a <= i + 1 && a < g->n[0]; a++)
                for (int m = g->head[cell_of(g, a, b, c)]; m >= 0; m = g->next[m])
                    if (norm(sub(p, g->places->p[m])) < (r + g->places->r[m]) * (1 - ROUNDING)) return false;
    return true;
}

static st_Vec3 random_point(const Grid *g, double r, uint64_t *random)
{
    st_Vec3 p = {0, 0, 0}, half = g->half;
    for (int k = 0; k < 3; k++)
        if (g->places->free[k]) *at(&p, k) = sti_random_between(random, r - *at(&half, k), *at(&half, k) - r);
    return p;
}

static bool place_randomly(Grid *g, int ball, uint64_t *random)
{
    const sti_Places *places = g->places;
    const double r = places->r[ball];
    for (int k = 0; k < RANDOM_TRIES; k++) {
        const st_Vec3 p = random_point(g, r, random);
        if (!sti_region_holds_ball(places->region, places->free, p, r) || !is_free(g, p, r)) continue;
        places->p[ball] = p;
        return true;
    }
    return false;
}

/* ---- lattice ------------------------------------------------------------------------------------ */

/* Point number `k` of a close packing that starts in the lowest corner of the bounding box. Returns false after the
 * last layer. The free axes are used in order: along a row, from row to row, from layer to layer. */
static bool lattice_point(const Grid *g, double r, int64_t k, st_Vec3 *out)
{
    int axis[3], n_free = 0;
    for (int a = 0; a < 3; a++)
        if (g->places->free[a]) axis[n_free++] = a;
    st_Vec3 half = g->half;
    const double step[3] = {2 * r, sqrt(3.0) * r, 2 * sqrt(6.0) / 3 * r};
    int64_t n[3] = {1, 1, 1};
    for (int a = 0; a < n_free; a++)
        n[a] = (int64_t)fmin(floor((2 * *at(&half, axis[a]) - 2 * r) / step[a] + ROUNDING), 1e9) + 1;
    const int64_t i = k % n[0], j = k / n[0] % n[1], layer = k / n[0] / n[1];
    if (layer >= n[2]) return false;
    const double shift[3] = {(double)((j + layer) % 2) * r, (double)(layer % 2) * r / sqrt(3.0), 0};
    const double number[3] = {(double)i, (double)j, (double)layer};
    *out = (st_Vec3){0, 0, 0};
    for (int a = 0; a < n_free; a++)
        *at(out, axis[a]) = r - *at(&half, axis[a]) + number[a] * step[a] + shift[a];
    return true;
}

/* ---- dropped ------------------------------------------------------------------------------------ */

/* The lowest and highest z at which the ball is inside the region at p's x and y. Returns false if there are none. */
static bool shaft(const Grid *g, st_Vec3 p, double r, double *low, double *high)
{
    const st_RegionDef *region = g->places->region;
    *at(&p, g->up) = 0;
    st_Vec3 bounds = g->half;
    const double half = region->type == ST_REGION_SPHERE ? 0 : *at(&bounds, g->up) - r;
    bool level[3] = {g->places->free[0], g->places->free[1], g->places->free[2]};
    level[g->up] = false;
    if (half < 0 || !sti_region_holds_ball(region, level, p, r)) return false;
    *high = half;
    if (region->type == ST_REGION_SPHERE)
        *high = sqrt(fmax(0, (region->radius - r) * (region->radius - r) - dot(p, p)));
    *low = -*high;
    return true;
}

/* The height at which a ball dropped at p's x and y comes to rest; INFINITY if that is outside. Cells are searched
 * from the top down; the search stops when lower cells cannot matter. */
static double rest_height(const Grid *g, st_Vec3 p, double r)
{
    const int up = g->up, u = (up + 1) % 3, v = (up + 2) % 3;
    const double half = *at(&(st_Vec3){g->half.x, g->half.y, g->half.z}, up);
    const int i = cell_along(g, u, *at(&p, u)), j = cell_along(g, v, *at(&p, v));
    double z, high;
    if (!shaft(g, p, r, &z, &high)) return INFINITY;
    *at(&p, up) = 0;
    int c[3];
    for (c[up] = g->top; c[up] >= 0; c[up]--) {
        /* a ball of the topmost cell may reach above the region if it was in the scene before */
        if (c[up] + 1 < g->n[up] && (c[up] + 1) * g->cell[up] - half + r + g->widest / 2 <= z) break;
        for (c[u] = i > 0 ? i - 1 : 0; c[u] <= i + 1 && c[u] < g->n[u]; c[u]++)
            for (c[v] = j > 0 ? j - 1 : 0; c[v] <= j + 1 && c[v] < g->n[v]; c[v]++)
                for (int m = g->head[cell_of(g, c[0], c[1], c[2])]; m >= 0; m = g->next[m]) {
                    st_Vec3 q = g->places->p[m];
                    const double sum = r + g->places->r[m], top = *at(&q, up);
                    *at(&q, up) = 0;
                    const double d2 = dot(sub(p, q), sub(p, q));
                    if (d2 < sum * sum) z = fmax(z, top + sqrt(sum * sum - d2));
                }
    }
    return z <= high ? z : INFINITY;
}

/* ---- all ---------------------------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

st_Status sti_place_balls(const st_Allocator *allocator, sti_Places *places, st_Arrangement how, uint64_t *random,
                          int *placed, st_Error *err)
{
    Grid g;
    const int first = places->n_known;
    int64_t site = 0;
    *placed = 0;
    /* large balls first: small ones still find a place between them */
    if (how == ST_ARRANGE_RANDOM)
        qsort(places->r + first, (size_t)(places->n - first), sizeof *places->r, larger_first);
    st_Status status = make_grid(allocator, places, &g, err);
    double widest = 0;
    for (int k = first; k < places->n; k++)
        widest = fmax(widest, places->r[k]);
    for (int k = first; k < places->n && status == ST_OK; k++) {
        bool found = false;
        if (how == ST_ARRANGE_RANDOM) found = place_randomly(&g, k, random);
        if (how == ST_ARRANGE_DROPPED) {
            const double r = g.places->r[k];
            double lowest = INFINITY;
            for (int start = 0, tries = 0; start < DROP_STARTS && tries < DROP_TRIES; tries++) {
                st_Vec3 p = random_point(&g, r, random);
                double z = rest_height(&g, p, r);
                if (!isfinite(z)) continue;
                start++;
                for (double step = r; step > DROP_END * r;) {
                    st_Vec3 best = p;
                    double best_z = z;
                    for (int i = 0; i < 6; i++) {
                        st_Vec3 q = p;
                        if (i / 2 == g.up || !g.places->free[i / 2]) continue;
                        *at(&q, i / 2) += i % 2 == 0 ? step : -step;
                        const double q_z = rest_height(&g, q, r);
                        if (q_z < best_z) best = q, best_z = q_z;
                    }
                    if (best_z < z)
                        p = best, z = best_z;
                    else
                        step /= 2;
                }
                if (z >= lowest) continue;
                lowest = z;
                *at(&p, g.up) = z;
                g.places->p[k] = p;
            }
            found = isfinite(lowest);
        }
        while (how == ST_ARRANGE_LATTICE && !found && lattice_point(&g, widest, site++, &places->p[k]))
            found = sti_region_holds_ball(places->region, places->free, places->p[k], widest * (1 - ROUNDING)) &&
                    is_free(&g, places->p[k], places->r[k]);
        if (!found) break;
        put_in_grid(&g, k);
        ++*placed;
    }
    sti_free(allocator, g.head, g.n_cells, sizeof *g.head);
    sti_free(allocator, g.next, places->n, sizeof *g.next);
    return status;
}
