/* collide/distance.c -- signed distance of two convex cores: GJK where they are apart, separating axes or
 * the expanding polytope where they are not.
 */
#include "collide/core.h"

/* Below this distance, relative to the sizes, GJK's direction has lost half its digits to rounding and the
 * axes know better; their gap differs from the distance by less than this.                        */
#define TOUCHING 2e-10

/* ---- polishing ----------------------------------------------------------------------------------- */

/* The gap is the largest separation over all directions. GJK and EPA end near the best one; where round
 * surfaces meet, near is not enough: the last digits come from here. Nothing is taken that is not better. */

static bool is_better(const sti_Core *a, const sti_Core *b, st_Vec3 n, sti_Distance *d)
{
    double length = norm(n);
    if (!(length > 0)) return false;
    n = scale(1 / length, n);
    double gap = core_separation(a, b, n);
    if (!(gap > d->gap)) return false;
    d->gap = gap, d->normal = n;
    return true;
}

/* Gradient of the separation on the sphere, in the tangents u and w. */
static void slope(const sti_Core *a, const sti_Core *b, st_Vec3 n, st_Vec3 u, st_Vec3 w, double out[2])
{
    st_Vec3 m = scale(1 / norm(n), n), at = sub(sti_core_support(b, scale(-1, m)), sti_core_support(a, m));
    st_Vec3 across = sub(at, scale(dot(m, at), m));
    out[0] = dot(u, across), out[1] = dot(w, across);
}

/* Newton on the sphere, derivatives by differences; a short step uphill where that is no maximum. */
static void climb(const sti_Core *a, const sti_Core *b, sti_Distance *d)
{
    const double e = 1e-6;
    double size = a->size + b->size;
    for (int round = 0; round < 12; round++) {
        st_Vec3 n = d->normal, u = orthogonal(n), w = cross(n, u);
        double g[2], gu[2], gw[2];
        slope(a, b, n, u, w, g);
        slope(a, b, add(n, scale(e, u)), u, w, gu);
        slope(a, b, add(n, scale(e, w)), u, w, gw);
        double H[4] = {(gu[0] - g[0]) / e, (gw[0] - g[0]) / e, (gu[1] - g[1]) / e, (gw[1] - g[1]) / e};
        double det = H[0] * H[3] - H[1] * H[2];
        bool better = false;
        if (det > 0 && H[0] < 0) {
            double x = -(H[3] * g[0] - H[1] * g[1]) / det, y = -(H[0] * g[1] - H[2] * g[0]) / det;
            better = is_better(a, b, add(n, add(scale(x, u), scale(y, w))), d);
        }
        for (double step = 1 / size; !better && step > 1e-5 / size; step *= 0.2)
            better = is_better(a, b, add(n, add(scale(step * g[0], u), scale(step * g[1], w))), d);
        if (!better) return;
    }
}

/* Directions in which a cylinder or cone has a whole line or disc at its surface. */
static void snap(const sti_Core *a, const sti_Core *b, const sti_Core *round, sti_Distance *d)
{
    if (round->kind != STI_CORE_CYLINDER && round->kind != STI_CORE_CONE) return;
    st_Vec3 z = round->axis[2], n = d->normal, across = sub(n, scale(dot(n, z), z));
    double length = norm(across), sign = round == a ? 1 : -1; /* -n is what b's surface sees */
    if (length > 0) {
        double rise = round->kind == STI_CORE_CONE ? round->extent / (round->hi - round->lo) : 0;
        (void)is_better(a, b, add(scale(1 / length, across), scale(sign * rise, z)), d);
    }
    (void)is_better(a, b, scale(dot(n, z) < 0 ? -1 : 1, z), d);
}

static void polish(const sti_Core *a, const sti_Core *b, sti_Distance *d)
{
    sti_Distance found = *d;
    found.gap = core_separation(a, b, d->normal);
    for (int round = 0; round < 2; round++) {
        snap(a, b, a, &found);
        snap(a, b, b, &found);
        climb(a, b, &found);
    }
    /* an ellipsoid touches in the one point that looks along the normal */
    st_Vec3 on_a = sti_core_support(a, found.normal), on_b = sti_core_support(b, scale(-1, found.normal));
    if (a->kind == STI_CORE_ELLIPSOID) d->a = on_a, d->b = add(on_a, scale(found.gap, found.normal));
    if (b->kind == STI_CORE_ELLIPSOID) d->b = on_b, d->a = sub(on_b, scale(found.gap, found.normal));
    d->gap = found.gap, d->normal = found.normal;
}

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

/* A direction out of two cores that overlap: across the face of GJK's simplex that is nearest to the origin, or
 * from centre to centre, whichever separates more.                                                */
static st_Vec3 way_out(const sti_Core *a, const sti_Core *b, const sti_Simplex *s)
{
    st_Vec3 centres = sub(b->p, a->p), best = vec3(1, 0, 0);
    double length = norm(centres), nearest = INFINITY;
    if (length > 0) best = scale(1 / length, centres);
    st_Vec3 across = best;
    for (int skip = s->n == 4 ? 0 : 3; skip < 4 && s->n >= 3; skip++) {
        const st_Vec3 *p = &s->w[skip == 0 ? 1 : 0], *q = &s->w[skip <= 1 ? 2 : 1], *r = &s->w[skip <= 2 ? 3 : 2];
        st_Vec3 n = cross(sub(*q, *p), sub(*r, *p));
        length = norm(n);
        double height = length > 0 ? dot(n, *p) / length : INFINITY;
        if (!(fabs(height) < nearest)) continue;
        nearest = fabs(height);
        across = scale((height < 0 ? -1 : 1) / length, n);
    }
    return core_separation(a, b, across) > core_separation(a, b, best) ? across : best;
}

/* What the guess says, if it is enough: that they are too far apart, or by how much they overlap. */
static bool known_from(st_Vec3 guess, const sti_Core *a, const sti_Core *b, double beyond, double touching,
                       sti_Distance *out)
{
    double separation = core_separation(a, b, guess);
    if (core_is_beyond(separation, beyond, a->size + b->size)) {
        *out = (sti_Distance){.gap = separation, .normal = guess, .beyond = true};
        return true;
    }
    if (separation >= 0 || !core_is_polytope(a) || !core_is_polytope(b)) return false;
    sti_sat(a, b, guess, out);
    return out->gap < -4 * touching;
}

void sti_core_distance(const sti_Core *a, const sti_Core *b, double beyond, const st_Vec3 *guess, sti_Distance *out)
{
    sti_Simplex simplex;
    double touching = TOUCHING * (a->size + b->size);
    if (guess != NULL && known_from(*guess, a, b, beyond, touching, out)) return;
    bool apart = sti_gjk(a, b, touching, beyond, &simplex, out);
    if (apart && out->beyond) return;
    bool flat = core_is_polytope(a) && core_is_polytope(b);
    if (apart && flat && out->error > 1e-11 * (a->size + b->size)) { /* GJK has stalled: what do the axes say? */
        sti_Distance axes;
        sti_sat(a, b, out->normal, &axes);
        if (axes.gap <= 0) apart = false;
    }
    if (!apart && flat) {
        sti_sat(a, b, way_out(a, b, &simplex), out);
        /* at touching several axes are equally good, and not all have points over each other: GJK's do */
        if (fabs(out->gap) <= 4 * touching) witness(&simplex, out);
        return;
    }
    if (!apart) sti_epa(a, b, &simplex, out);
    if (is_round(a) || is_round(b)) polish(a, b, out);
}
