/* collide/narrow/distance.c -- signed distance of two convex cores: GJK if they are apart, separating axes or the
 * expanding polytope if they overlap. */
#include "collide/narrow/support.h"

/* Below this distance, relative to the sizes, GJK's direction has lost half its digits to rounding and the axes are
 * more precise; their gap differs from the distance by less than this. */
#define TOUCHING 2e-10

bool sti_core_holds(const sti_Core *core, st_Vec3 p, double slack)
{
    const sti_Facets *f = core->facets;
    st_Vec3 local = core_to_local(core, sub(p, core->p)), h = core->half;
    if (core->kind == STI_CORE_BOX)
        return fabs(local.x) <= h.x + slack && fabs(local.y) <= h.y + slack && fabs(local.z) <= h.z + slack;
    for (int k = 0; k < f->n_faces; k++)
        if (dot(f->normal[k], local) > f->offset[k] + slack) return false;
    return true;
}

/* Uses the guess if it is sufficient: that they are too far apart, or the depth of their overlap. If they overlap,
 * only the axes near the guess count; that they overlap must be shown. */
static bool known_from(const sti_Guess *guess, const sti_Core *a, const sti_Core *b, double beyond, double touching,
                       sti_Distance *out)
{
    st_Vec3 n;
    if (!sti_features_axis(a, b, guess->features, &n)) n = guess->normal;
    double separation = core_separation(a, b, n), size = a->size + b->size;
    if (core_is_beyond(separation, beyond, size)) {
        *out = (sti_Distance){.gap = separation, .normal = n, .beyond = true};
        return true;
    }
    if (separation >= 0 || a->facets == NULL || b->facets == NULL) return false;
    if (sti_sat_nearby(a, b, &n) >= -4 * touching) return false; /* the same value as over all axes */
    *out = (sti_Distance){.rounds = 0};
    sti_sat(a, b, n, out);
    if (!(out->gap < -4 * touching)) return false;
    /* is one of the points found, or the one between them, in both cores? */
    const st_Vec3 point[3] = {out->b, out->a, scale(0.5, add(out->a, out->b))};
    bool shown = false;
    for (int k = 0; k < 3 && !shown; k++)
        shown = sti_core_holds(a, point[k], 1e-12 * size) && sti_core_holds(b, point[k], 1e-12 * size);
    if (!shown) return false;
    out->features = sti_features_along(a, b, out->normal);
    return true;
}

/* The exact result from the features that are farthest along an approximate normal, if it can be proved. */
static bool make_exact(const sti_Core *a, const sti_Core *b, double beyond, sti_Distance *out)
{
    sti_Distance exact;
    if (!sti_features_distance(a, b, sti_features_along(a, b, out->normal), beyond, false, &exact)) return false;
    exact.rounds = out->rounds;
    *out = exact;
    return true;
}

void sti_core_distance(const sti_Core *a, const sti_Core *b, double beyond, const sti_Guess *guess, sti_Distance *out)
{
    sti_Simplex simplex;
    double touching = TOUCHING * (a->size + b->size);
    if (guess != NULL && sti_features_distance(a, b, guess->features, beyond, false, out)) return;
    if (guess != NULL && known_from(guess, a, b, beyond, touching, out)) return;
    bool apart = sti_gjk(a, b, touching, beyond, &simplex, out);
    if (apart && out->beyond) return;
    bool flat = core_is_polytope(a) && core_is_polytope(b);
    /* GJK has stalled: do the axes give a better result? */
    if (apart && flat && out->error > 1e-11 * (a->size + b->size)) {
        sti_Distance axes;
        sti_sat(a, b, vec3(0, 0, 0), &axes);
        if (axes.gap <= 0 || axes.gap > out->gap - out->error) apart = false;
    }
    if (!apart && flat) {
        int rounds = out->rounds;

        /* A direction out of two overlapping cores: across the face of GJK's simplex that is nearest to the origin,
         * or from centre to centre, whichever separates more. */
        st_Vec3 centres = sub(b->p, a->p), best = vec3(1, 0, 0);
        double length = norm(centres), nearest = INFINITY;
        if (length > 0) best = scale(1 / length, centres);
        st_Vec3 across = best;
        for (int skip = simplex.n == 4 ? 0 : 3; skip < 4 && simplex.n >= 3; skip++) {
            const st_Vec3 *p = &simplex.w[skip == 0 ? 1 : 0], *q = &simplex.w[skip <= 1 ? 2 : 1],
                          *r = &simplex.w[skip <= 2 ? 3 : 2];
            st_Vec3 n = cross(sub(*q, *p), sub(*r, *p));
            length = norm(n);
            double height = length > 0 ? dot(n, *p) / length : INFINITY;
            if (!(fabs(height) < nearest)) continue;
            nearest = fabs(height);
            across = scale((height < 0 ? -1 : 1) / length, n);
        }
        sti_sat(a, b, core_separation(a, b, across) > core_separation(a, b, best) ? across : best, out);

        out->rounds = rounds;
        /* at touching, several axes are equally good, and not all have points over each other; GJK's has */
        if (fabs(out->gap) <= 4 * touching) {
            out->a = out->b = vec3(0, 0, 0);
            for (int k = 0; k < simplex.n; k++) {
                out->a = add(out->a, scale(simplex.weight[k], simplex.a[k]));
                out->b = add(out->b, scale(simplex.weight[k], simplex.b[k]));
            }
        }
        out->features = sti_features_along(a, b, out->normal);
        if (a->facets == NULL || b->facets == NULL) (void)make_exact(a, b, beyond, out);
        return;
    }
    sti_Directions others = {.n = 0};
    if (!apart) sti_epa(a, b, &simplex, out, &others);
    if (make_exact(a, b, beyond, out) || flat) return;
    sti_polish(a, b, out);
    for (int k = 0; k < others.n; k++) {
        /* Deep inside round shapes there are several ways out: improve another direction to the best one near it. */
        sti_Distance d = *out;
        d.normal = others.direction[k];
        d.a = sti_support(a, others.direction[k]), d.b = sti_support(b, scale(-1, others.direction[k]));
        sti_polish(a, b, &d);
        if (d.gap > out->gap + 1e-13 * (a->size + b->size)) *out = d;
    }
    if (!make_exact(a, b, beyond, out)) out->features = sti_features_along(a, b, out->normal);
}
