/* collide/sat.c -- separating axes: the unit n that separates two polytopes most,
 *
 *     gap = max over n of ( min over b of n.b - max over a of n.a ).
 *
 * Where they overlap this is minus the depth of the origin in A - B, whose faces are those of A, those of
 * -B, and one for every edge of A and edge of B whose arcs cross on the sphere of normals (Gregorius 2013):
 * with normals p, q beside the edge of A and r, s (negated) beside that of B, the arcs cross where
 *
 *     (p x q).r and (p x q).s differ in sign, (r x s).p and (r x s).q differ, and both arcs share a hemisphere.
 *
 * Nothing is searched, so nothing can be missed: deep, nested, and thin pairs come out exactly.
 */
#include "collide/core.h"

/* A face of A - B whose edges are this close to parallel is one of the faces' own, up to rounding. */
#define PARALLEL 1e-10

typedef enum Axis { AXIS_FACE_A, AXIS_FACE_B, AXIS_EDGES, AXIS_OTHER } Axis;

typedef struct Best {
    double gap;
    st_Vec3 normal;
    Axis axis;
    st_Vec3 a[2], b[2]; /* edges */
} Best;

/* Faces of a against b; AXIS_FACE_B where a is the second of the pair. */
static void try_faces(const sti_Core *a, const sti_Core *b, Axis axis, Best *best)
{
    for (int k = 0; k < sti_core_face_count(a); k++) {
        st_Vec3 n, on;
        sti_core_face(a, k, &n, &on);
        double gap = dot(n, sub(sti_core_support(b, scale(-1, n)), on));
        if (gap > best->gap) *best = (Best){.gap = gap, .normal = axis == AXIS_FACE_A ? n : scale(-1, n), .axis = axis};
    }
}

typedef struct Edge {
    st_Vec3 end[2], beside[2], way;
    double length;
} Edge;

static Edge edge_of(const sti_Core *core, int k)
{
    Edge e = {.length = 0};
    sti_core_edge(core, k, e.end, e.beside);
    e.way = sub(e.end[1], e.end[0]);
    e.length = norm(e.way);
    return e;
}

/* Do the arcs of the two edges cross? Then their common normal is a face of A - B. Arcs that only touch
 * are counted: the axis is then a face's own as well.                                             */
static bool arcs_cross(const Edge *a, const Edge *b)
{
    /* p x q is along the edge of A, r x s along that of B: no cross products of normals needed */
    double cba = -dot(b->beside[0], a->way), dba = -dot(b->beside[1], a->way);
    double adc = dot(a->beside[0], b->way), bdc = dot(a->beside[1], b->way);
    double small_a = 1e-12 * a->length, small_b = 1e-12 * b->length;
    if (cba * dba > small_a * small_a || adc * bdc > small_b * small_b) return false;
    return true;
}

static void try_edge_pair(const Edge *a, const Edge *b, const sti_Core *core_a, const sti_Core *core_b, Best *best)
{
    st_Vec3 n = cross(a->way, b->way);
    double length = norm(n);
    if (length <= PARALLEL * a->length * b->length) return;
    n = sti_across(scale(1 / length, n), scale(1 / a->length, a->way));
    double along = dot(n, sub(b->end[0], a->end[0]));
    /* Either sign of n can be the outer one, and at most one is a supporting direction of both. The lines'
     * own separation bounds what the axis can give from above: most pairs end here.               */
    for (int sign = -1; sign <= 1; sign += 2) {
        if (sign * along <= best->gap) continue;
        st_Vec3 m = scale(sign, n);
        double gap = core_separation(core_a, core_b, m);
        /* only the edges that are farthest out: parallel ones behind them give the same axis */
        if (gap > best->gap && sign * along <= gap + 1e-10 * (core_a->size + core_b->size))
            *best = (Best){gap, m, AXIS_EDGES, {a->end[0], a->end[1]}, {b->end[0], b->end[1]}};
    }
}

/* By the product n of the directions: 1 - cos^2 of their angle would lose all digits where it is small. */
void sti_nearest_on_lines(const st_Vec3 a[2], const st_Vec3 b[2], st_Vec3 *on_a, st_Vec3 *on_b)
{
    st_Vec3 u = sub(a[1], a[0]), v = sub(b[1], b[0]), d = sub(b[0], a[0]), n = cross(u, v);
    double square = dot(n, n);
    *on_a = add(a[0], scale(dot(cross(d, v), n) / square, u));
    *on_b = add(b[0], scale(dot(cross(d, u), n) / square, v));
}

/* Points and segments in line have no face and no pair of edges: across both, or from centre to centre. */
static void try_across(const sti_Core *a, const sti_Core *b, Best *best)
{
    st_Vec3 d = sub(b->p, a->p), axis = vec3(0, 0, 0);
    if (a->kind == STI_CORE_SEGMENT) axis = a->axis[a->along];
    if (b->kind == STI_CORE_SEGMENT) axis = b->axis[b->along];
    d = sub(d, scale(dot(d, axis), axis));
    double length = norm(d);
    /* what rounding leaves of d has no direction */
    bool apart = length > 1e-12 * (a->size + b->size);
    st_Vec3 n = apart ? scale(1 / length, d) : orthogonal(dot(axis, axis) > 0 ? axis : vec3(1, 0, 0));
    *best = (Best){.gap = core_separation(a, b, n), .normal = n, .axis = AXIS_OTHER};
    /* the middle of what they share along the axis */
    double at = dot(axis, sub(b->p, a->p)), lo = fmax(-a->size, at - b->size), hi = fmin(a->size, at + b->size);
    best->a[0] = add(a->p, scale(0.5 * (lo + hi), axis));
    best->b[0] = add(b->p, scale(0.5 * (lo + hi) - at, axis));
}

void sti_sat(const sti_Core *a, const sti_Core *b, sti_Distance *out)
{
    Best best = {.gap = -INFINITY};
    bool prune = a->facets != NULL && b->facets != NULL;
    try_faces(a, b, AXIS_FACE_A, &best);
    try_faces(b, a, AXIS_FACE_B, &best);
    for (int i = 0; i < sti_core_edge_count(a); i++) {
        Edge p = edge_of(a, i);
        for (int j = 0; j < sti_core_edge_count(b); j++) {
            Edge q = edge_of(b, j);
            if (!prune || arcs_cross(&p, &q)) try_edge_pair(&p, &q, a, b, &best);
        }
    }
    if (!isfinite(best.gap)) try_across(a, b, &best);
    *out = (sti_Distance){.gap = best.gap, .normal = best.normal, .rounds = out->rounds};
    out->a = sti_core_support(a, best.normal);
    out->b = sti_core_support(b, scale(-1, best.normal));
    if (best.axis == AXIS_FACE_A) out->a = sub(out->b, scale(best.gap, best.normal));
    if (best.axis == AXIS_FACE_B) out->b = add(out->a, scale(best.gap, best.normal));
    if (best.axis == AXIS_OTHER) out->a = best.a[0], out->b = best.b[0];
    if (best.axis == AXIS_EDGES) sti_nearest_on_lines(best.a, best.b, &out->a, &out->b);
}
