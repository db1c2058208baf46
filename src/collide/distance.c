/* collide/distance.c -- signed distance of two convex cores: GJK where they are apart, separating axes or
 * the expanding polytope where they are not.
 */
#include "collide/core.h"

/* Below this distance, relative to the sizes, GJK's direction has lost half its digits to rounding and the
 * axes know better; their gap differs from the distance by less than this.                        */
#define TOUCHING 2e-10

static bool is_round(const sti_Core *core)
{
    return core->kind > STI_CORE_HULL;
}

static void witness(const sti_Simplex *s, sti_Distance *out)
{
    out->a = out->b = vec3(0, 0, 0);
    for (int k = 0; k < s->n; k++) {
        out->a = add(out->a, scale(s->weight[k], s->a[k]));
        out->b = add(out->b, scale(s->weight[k], s->b[k]));
    }
}

/* Deep inside round shapes there are several ways out: from another direction to the best one near it. */
static void try_direction(const sti_Core *a, const sti_Core *b, st_Vec3 n, sti_Distance *best)
{
    sti_Distance d = *best;
    d.normal = n;
    d.a = sti_core_support(a, n), d.b = sti_core_support(b, scale(-1, n));
    sti_polish(a, b, &d);
    if (d.gap > best->gap + 1e-13 * (a->size + b->size)) *best = d;
}

void sti_core_distance(const sti_Core *a, const sti_Core *b, sti_Distance *out)
{
    sti_Simplex simplex;
    double touching = TOUCHING * (a->size + b->size);
    bool apart = sti_gjk(a, b, touching, &simplex, out);
    bool flat = core_is_polytope(a) && core_is_polytope(b);
    if (apart && flat && out->error > 1e-11 * (a->size + b->size)) { /* GJK has stalled: what do the axes say? */
        sti_Distance axes = *out;
        sti_sat(a, b, &axes);
        if (axes.gap <= 0) apart = false;
    }
    if (!apart && flat) {
        sti_sat(a, b, out);
        /* at touching several axes are equally good, and not all have points over each other: GJK's do */
        if (fabs(out->gap) <= 4 * touching) witness(&simplex, out);
        return;
    }
    sti_Directions others = {.n = 0};
    if (!apart) sti_epa(a, b, &simplex, out, &others);
    if (is_round(a) || is_round(b)) sti_polish(a, b, out);
    for (int k = 0; k < others.n; k++)
        try_direction(a, b, others.direction[k], out);
}
