/* collide/narrow/clip.c -- the part of a feature over a face (Sutherland & Hodgman 1974), and the construction of each
 * point.
 *
 * The side planes of the reference contain its edges and its normal n. A point of the clipped incident feature is one
 * of three:
 *
 *     a corner of the incident feature;
 *     a cut, where an incident edge leaves the prism:       p = from + s (to - from),   s = h_from / (h_from - h_to),
 *                                                            h: height over the side plane, whatever its scale;
 *     a corner r of the reference, over the incident face:  p = r + n ( m.(v - r) / m.n ),
 *                                                            m the normal and v a corner of the incident face.
 *
 * Each is computed from corners alone, not from other cuts, so the same construction gives the same bits, whether it
 * was clipped or computed again from the cache (manifold.c).
 *
 * `room` is how far corners may move relative to the reference before one of them changes sides. A cut moves along
 * its edge by 1 / sin of the angle to the plane as far.
 */
#include "collide/narrow/manifold.h"

/* One side plane. */
typedef struct Side {
    const sti_Feature *reference, *incident;
    int k;
    st_Vec3 on, outward; /* not a unit                                                             */
    double length;       /* of outward                                                             */
    double limit;        /* the plane is this far outside the edge, times length */
    double *room;        /* NULL: not needed */
} Side;

static void keep(sti_Clipped *out, const sti_ClippedPoint *point)
{
    if (out->n == 2 * STI_MAX_CORNERS + 4) return; /* cannot be: a plane adds at most one corner */
    out->at[out->n++] = *point;
}

/* The intersection of the polygon with the plane between points `here` and `there`, one of which is outside. */
static sti_ClippedPoint cut_between(const Side *side, const sti_ClippedPoint *here, const sti_ClippedPoint *there,
                                    bool leaves)
{
    const sti_Feature *incident = side->incident;
    sti_ClippedPoint p = {.cut = side->k, .line = leaves ? -1 - side->k : here->line, .swing = INFINITY};
    p.id = (leaves ? there : here)->id >> 9 << 9 | (uint32_t)(side->k % 511 + 1); /* incident edge and reference edge */
    if (here->line >= 0) {                                                        /* an edge of the incident feature */
        const int first = here->line, second = first + 1 < incident->n ? first + 1 : 0;
        p.from = leaves ? first : second, p.to = leaves ? second : first;
        const st_Vec3 from = incident->point[p.from], to = incident->point[p.to];
        p.point = sti_cut_point(from, to, side->on, side->outward, side->limit);
        if (side->room != NULL)
            p.swing = 2 * side->length * norm(sub(to, from)) / fabs(dot(side->outward, sub(to, from)));
        return p;
    }
    /* the corner of the reference where sides j and k meet; -1: they do not */
    const int j = -1 - here->line, n = side->reference->n;
    p.from = -1, p.to = (j + 1) % n == side->k ? side->k : (side->k + 1) % n == j ? j : -1;
    if (p.to >= 0 && fabs(dot(incident->normal, side->reference->normal)) > 0.5) {
        p.point = sti_corner_over(side->reference->point[p.to], side->reference->normal, incident->normal,
                                  incident->point[0]);
        p.swing = 0;
        return p;
    }
    /* sides that do not intersect, up to rounding: use the point between */
    if (side->room != NULL) *side->room = 0;
    const double h = dot(side->outward, sub(here->point, side->on)) - side->limit;
    const double g = dot(side->outward, sub(there->point, side->on)) - side->limit;
    p.point = add(here->point, scale(h / (h - g), sub(there->point, here->point)));
    return p;
}

/* Keeps the part inside the plane. false: that is all of it, and `out` is not written. */
static bool cut_by_plane(const sti_Clipped *in, const Side *side, sti_Clipped *out)
{
    double height[2 * STI_MAX_CORNERS + 4];
    const int n = in->n;
    int beyond = 0;
    for (int k = 0; k < n; k++) {
        height[k] = dot(side->outward, sub(in->at[k].point, side->on)) - side->limit;
        beyond += height[k] > 0;
    }
    for (int k = 0; k < n && side->room != NULL; k++)
        *side->room =
            fmin(*side->room, in->at[k].from < 0 ? INFINITY : fabs(height[k]) / (side->length * (1 + in->at[k].swing)));
    if (beyond == 0) return false;
    out->n = 0;
    for (int k = 0; k < n; k++) {
        const int next = k + 1 < n ? k + 1 : 0;
        const bool inside = height[k] <= 0, next_inside = height[next] <= 0;
        if (inside) keep(out, &in->at[k]);
        if (n <= 2 && next == 0) break; /* a segment is not closed */
        if (inside == next_inside) continue;
        const sti_ClippedPoint cut = cut_between(side, &in->at[k], &in->at[next], inside);
        keep(out, &cut);
    }
    return true;
}

void sti_clip(const sti_Feature *reference, const sti_Feature *incident, double slack, double *room, sti_Clipped *out)
{
    sti_Clipped other;
    sti_Clipped *from = out, *to = &other;
    out->n = 0;
    for (int k = 0; k < incident->n;
         k++) { /* ids of corners are below 512, and leave nine bits for the edge of a cut */
        const uint32_t id = (uint32_t)(incident->id[k] % 512) << 9;
        keep(out, &(sti_ClippedPoint){incident->point[k], id, k, -1, -1, k, 0});
    }
    Side side = {.reference = reference, .incident = incident, .room = room};
    for (side.k = 0; side.k < reference->n && from->n > 0; side.k++) {
        side.on = reference->point[side.k];
        side.outward =
            sti_side_outward(side.on, reference->point[side.k + 1 < reference->n ? side.k + 1 : 0], reference->normal);
        side.length = norm(side.outward);
        side.limit = slack * side.length;
        if (!(side.length > 0) || !cut_by_plane(from, &side, to)) continue;
        sti_Clipped *swap = from;
        from = to, to = swap;
    }
    if (from == out) return;
    out->n = 0;
    for (int k = 0; k < from->n; k++)
        keep(out, &from->at[k]);
}
