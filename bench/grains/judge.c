/* bench/grains/judge.c */
#include "judge.h"

#include "base/base.h"
#include "math/quat.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS = 1 << 16 };

static unsigned cell_of(int i, int j, int k)
{
    return ((unsigned)i * 73856093u ^ (unsigned)j * 19349663u ^ (unsigned)k * 83492791u) % CELLS;
}

bool judge_begin(Judge *judge, const Case *c)
{
    *judge = (Judge){.c = c};
    judge->head = malloc(CELLS * sizeof *judge->head);
    judge->next = malloc((size_t)c->n_spheres * sizeof *judge->next);
    return judge->head != NULL && judge->next != NULL;
}

void judge_end(Judge *judge)
{
    free(judge->head);
    free(judge->next);
}

/* The depth of a sphere in a slab at time t; negative: apart. */
static double depth_in_slab(const Case *c, const Slab *slab, double t, st_Vec3 p, double r)
{
    if (slab->turns) p = rotate(quat_exp(vec3(0, -c->turn * t, 0)), p);
    const st_Vec3 q = rotate_back(slab->pose.q, sub(p, slab->pose.p)), h = slab->half;
    const st_Vec3 out = {fmax(fabs(q.x) - h.x, 0), fmax(fabs(q.y) - h.y, 0), fmax(fabs(q.z) - h.z, 0)};
    const double away = norm(out);
    if (away > 0) return r - away;
    return r + fmin(h.x - fabs(q.x), fmin(h.y - fabs(q.y), h.z - fabs(q.z)));
}

void judge_frame(Judge *judge, const double *xyz, double cpu)
{
    const Case *c = judge->c;
    const double t = FRAME * ++judge->frames;
    double sum = 0;
    int overlaps = 0;
    int *owner = malloc((size_t)c->n_spheres * sizeof *owner);
    if (owner == NULL) return;
    judge->cpu = cpu;
    judge->lost = 0;
    for (int k = 0; k < CELLS; k++)
        judge->head[k] = -1;
    for (int g = 0; g < c->n_grains; g++)
        for (int s = c->grains[g].first; s < c->grains[g].first + c->grains[g].n; s++)
            owner[s] = g;
    for (int s = 0; s < c->n_spheres; s++) {
        const st_Vec3 p = {xyz[3 * s], xyz[3 * s + 1], xyz[3 * s + 2]};
        if (!(fabs(p.x) < 1e3 && fabs(p.y) < 1e3 && fabs(p.z) < 1e3)) {
            judge->lost++;
            continue;
        }
        const int i = (int)floor(p.x / c->d), j = (int)floor(p.y / c->d), k = (int)floor(p.z / c->d);
        for (int n = 0; n < 27; n++)
            for (int o = judge->head[cell_of(i + n % 3 - 1, j + n / 3 % 3 - 1, k + n / 9 - 1)]; o >= 0;
                 o = judge->next[o]) {
                if (owner[o] == owner[s]) continue;
                const st_Vec3 q = {xyz[3 * o], xyz[3 * o + 1], xyz[3 * o + 2]};
                const double deep = c->spheres[s].r + c->spheres[o].r - norm(sub(p, q));
                if (deep <= 0) continue;
                sum += deep, overlaps++;
                judge->overlap = fmax(judge->overlap, deep / c->d);
            }
        for (int w = 0; w < c->n_slabs; w++) {
            const double deep = depth_in_slab(c, &c->slabs[w], t, p, c->spheres[s].r);
            if (deep <= 0) continue;
            sum += deep, overlaps++;
            judge->overlap = fmax(judge->overlap, deep / c->d);
        }
        const unsigned cell = cell_of(i, j, k);
        judge->next[s] = judge->head[cell];
        judge->head[cell] = s;
    }
    judge->mean = overlaps > 0 ? sum / overlaps / c->d : 0;
    free(owner);

    double below = 0, x = 0, z = 0;
    for (int g = 0; g < c->n_grains; g++) {
        const int s = c->grains[g].first + c->grains[g].n / 2; /* close enough to the middle */
        below += xyz[3 * s + 2] < 0;
        x += xyz[3 * s], z += xyz[3 * s + 2];
    }
    if (t < c->from - 1e-9) return;
    if (judge->count++ == 0) judge->first = below;
    if (c->figure == FIGURE_FLOW) judge->sum = (below - judge->first) / fmax(t - c->from, FRAME);
    if (c->figure == FIGURE_ANGLE) judge->sum += 180 / STI_PI * atan2(fabs(x), -z);
    if (c->figure == FIGURE_HEIGHT) judge->sum = z / c->n_grains / c->d;
}

double judge_figure(const Judge *judge)
{
    return judge->c->figure == FIGURE_ANGLE ? judge->sum / judge->count : judge->sum;
}
