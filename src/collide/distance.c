/* collide/distance.c -- signed distance of two convex cores: GJK where they are apart, separating axes or
 * the expanding polytope where they are not.
 */
#include "collide/core.h"

/* Below this distance, relative to the sizes, GJK's direction has lost half its digits to rounding and the
 * axes know better; their gap differs from the distance by less than this.                        */
#define TOUCHING 2e-10

/* Largest of separation(n) near n: steepest ascent on the sphere with a quadratic model along each step.
 * Where both surfaces are smooth this doubles the digits of GJK and EPA; at corners it does nothing.     */
static void polish(const sti_Core *a, const sti_Core *b, sti_Distance *d)
{
    double size = a->size + b->size;
    for (int round = 0; round < 20; round++) {
        st_Vec3 n = d->normal, at = sub(sti_core_support(b, scale(-1, n)), sti_core_support(a, n));
        st_Vec3 slope = sub(at, scale(dot(n, at), n)); /* gradient of the separation on the sphere */
        double steep = norm(slope), best = dot(n, at), step = steep / size;
        if (!(steep > 1e-15 * size)) break;
        bool better = false;
        for (int halving = 0; halving < 12 && !better; halving++, step *= 0.3) {
            st_Vec3 m = add(n, scale(step / steep, slope));
            m = scale(1 / norm(m), m);
            double gap = core_separation(a, b, m);
            if (gap > best) d->normal = m, d->gap = gap, better = true;
        }
        if (!better) break;
    }
    d->a = sti_core_support(a, d->normal);
    d->b = sti_core_support(b, scale(-1, d->normal));
}

static bool is_smooth(const sti_Core *core)
{
    return core->kind == STI_CORE_ELLIPSOID;
}

static void witness(const sti_Simplex *s, sti_Distance *out)
{
    out->a = out->b = vec3(0, 0, 0);
    for (int k = 0; k < s->n; k++) {
        out->a = add(out->a, scale(s->weight[k], s->a[k]));
        out->b = add(out->b, scale(s->weight[k], s->b[k]));
    }
}

void sti_core_distance(const sti_Core *a, const sti_Core *b, sti_Distance *out)
{
    sti_Simplex simplex;
    double touching = TOUCHING * (a->size + b->size);
    bool apart = sti_gjk(a, b, touching, &simplex, out);
    if (!apart && core_is_polytope(a) && core_is_polytope(b)) {
        sti_sat(a, b, out);
        /* at touching several axes are equally good, and not all have points over each other: GJK's do */
        if (fabs(out->gap) <= 4 * touching) witness(&simplex, out);
        return;
    }
    if (!apart) sti_epa(a, b, &simplex, out);
    if (is_smooth(a) || is_smooth(b)) polish(a, b, out);
}
