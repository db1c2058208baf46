/* collide/narrow/sat.c -- separating axes: the unit n that separates two polytopes most,
 *
 *     gap = max over n of ( min over b of n.b - max over a of n.a ).
 *
 * If they overlap this is minus the depth of the origin in A - B, whose faces are those of A, those of -B, and one for
 * every edge of A and edge of B whose arcs cross on the sphere of normals (Gregorius 2013): with normals p, q beside
 * the edge of A and r, s (negated) beside that of B, the arcs cross where
 *
 *     (p x q).r and (p x q).s differ in sign, (r x s).p and (r x s).q differ, and both arcs share a hemisphere.
 *
 * Nothing is searched iteratively, so nothing can be missed: deep, nested, and thin pairs are exact.
 *
 * Not all of them need be checked. Along any n let the depth be d = max n.a - min n.b > 0. The face of A - B that is
 * nearest to the origin is no farther than d and is met by the origin's foot p = a - b, so that
 *
 *     n.a >= n.b - |p| >= min n.b - d = max n.a - 2 d,      and likewise   n.b <= min n.b + 2 d:
 *
 * only faces and edges that reach into a slab of twice the depth under either surface count: a few if the overlap is
 * shallow. The choice of n does not change the result: ties are kept. (This holds only if they overlap: the face
 * that separates two polytopes can be anywhere.) So it pays to find a good n: sti_sat_nearby tries the faces and the
 * pairs of edges at the two corners that are farthest along a guess.
 */
#include "collide/narrow/support.h"

/* A face of A - B from edges this close to parallel is a face of A or B, up to rounding. */
#define PARALLEL 1e-10
#define GATHERED 64 /* edges of b per batch */

typedef enum Axis { AXIS_FACE_A, AXIS_FACE_B, AXIS_EDGES, AXIS_OTHER } Axis;

typedef struct Best {
    double gap;
    st_Vec3 normal;
    Axis axis;
    st_Vec3 a[2], b[2]; /* edges */
} Best;

/* Points of a and b deep in the other. No axis separates a and b more than these points. If that is clearly less
 * than the best so far, or than the guess, the axis is skipped. */
typedef struct Probes {
    st_Vec3 a, b;
    double least; /* a lower bound of the best separation */
    double slack; /* tolerance, so that rounding does not decide */
} Probes;

static bool sat_is_hopeless(const Probes *probes, double separation, const Best *best)
{
    return separation < (best->gap > probes->least ? best->gap : probes->least) - probes->slack;
}

/* The part of a core that can lie on the best face: vertices x with along . x >= level, in its axes. */
typedef struct Slab {
    bool all;
    uint64_t within; /* bit k: vertex k is in the slab, for the first 64 */
    st_Vec3 along;
    double level;
} Slab;

/* The slab under the surface that faces m; the depth is that of the pair. */
static Slab slab_under(const sti_Core *core, st_Vec3 m, double depth, double slack)
{
    const sti_Facets *f = core->facets;
    if (f == NULL || !(depth > 0)) return (Slab){.all = true};
    st_Vec3 local = core_to_local(core, m);
    st_Vec3 along = vec3(core->half.x * local.x, core->half.y * local.y, core->half.z * local.z);
    double height[64] = {0}, top = -INFINITY;
    for (int k = 0; k < f->n_vertices; k++) {
        double h = dot(f->vertex[k], along);
        if (k < 64) height[k] = h;
        if (h > top) top = h;
    }
    Slab slab = {.along = along, .level = top - 2 * depth - slack};
    for (int k = 0; k < f->n_vertices && k < 64; k++)
        slab.within |= (uint64_t)(height[k] >= slab.level) << k;
    return slab;
}

static bool vertex_counts(const Slab *slab, const sti_Core *core, int k)
{
    if (k < 64) return (slab->within >> k & 1) != 0;
    return dot(core->facets->vertex[k], slab->along) >= slab->level;
}

/* Tries the faces of a against b; AXIS_FACE_B if a is the second of the pair. */
static void sat_try_faces(const sti_Core *a, const sti_Core *b, const Slab *slab, const Probes *probes, Axis axis,
                          Best *best)
{
    const double sign = axis == AXIS_FACE_A ? 1 : -1;
    const st_Vec3 between = scale(sign, core_to_local(a, sub(probes->b, probes->a)));
    for (int k = 0; k < sti_core_face_count(a); k++) {
        bool counts = slab->all;
        for (int e = counts ? 0 : a->facets->face_first[k]; !counts && e < a->facets->face_first[k + 1]; e++)
            counts = vertex_counts(slab, a, a->facets->face_vertex[e]);
        if (!counts) continue;
        if (a->facets != NULL && sat_is_hopeless(probes, dot(a->facets->normal[k], between), best)) continue;
        st_Vec3 n, on;
        sti_core_face(a, k, &n, &on);
        double gap = dot(n, sub(sti_support(b, scale(-1, n)), on));
        if (gap > best->gap) *best = (Best){.gap = gap, .normal = scale(sign, n), .axis = axis};
    }
}

/* An edge that counts. Only its part in the slab, from middle - half to middle + half, can touch. */
typedef struct Edge {
    int index;
    st_Vec3 middle, half;
    double reach; /* |half|                                                                        */
    bool made;    /* the next members are valid */
    st_Vec3 end[2], beside[2], way;
    double length;
} Edge;

static void make_edge(const sti_Core *core, Edge *e)
{
    if (e->made) return;
    sti_core_edge(core, e->index, e->end, e->beside);
    e->way = sub(e->end[1], e->end[0]);
    e->length = norm(e->way);
    e->made = true;
}

/* Finds edge k, if it reaches into the slab. */
static bool find_edge(const sti_Core *core, const Slab *slab, int k, Edge *e)
{
    e->index = k;
    e->made = false;
    if (slab->all) return true;
    const int *end = core->facets->edge + (ptrdiff_t)4 * k;
    if (!vertex_counts(slab, core, end[0]) && !vertex_counts(slab, core, end[1])) return false;
    st_Vec3 p = core->facets->vertex[end[0]], q = core->facets->vertex[end[1]];
    double over_p = dot(p, slab->along) - slab->level, over_q = dot(q, slab->along) - slab->level;
    double from = over_p < 0 ? over_p / (over_p - over_q) : 0, to = over_q < 0 ? over_p / (over_p - over_q) : 1;
    st_Vec3 way = sub(q, p), middle = add(p, scale(0.5 * (from + to), way)), h = core->half;
    way = scale(0.5 * (to - from), vec3(h.x * way.x, h.y * way.y, h.z * way.z));
    e->middle = add(core->p, core_to_world(core, vec3(h.x * middle.x, h.y * middle.y, h.z * middle.z)));
    e->half = core_to_world(core, way);
    e->reach = norm(way);
    return true;
}

/* Do the arcs of the two edges cross? Then their common normal is a face of A - B. Arcs that only touch count, too:
 * the axis is then also that of a face. */
static bool arcs_cross(const Edge *a, const Edge *b)
{
    /* p x q is along the edge of A, r x s along that of B: no cross products of normals needed */
    double cba = -dot(b->beside[0], a->way), dba = -dot(b->beside[1], a->way);
    double adc = dot(a->beside[0], b->way), bdc = dot(a->beside[1], b->way);
    double small_a = 1e-12 * a->length, small_b = 1e-12 * b->length;
    /* one expression, because a branch would be mispredicted */
    return !((cba * dba > small_a * small_a) | (adc * bdc > small_b * small_b));
}

static void try_edge_pair(const Edge *a, const Edge *b, const sti_Core *core_a, const sti_Core *core_b,
                          const Probes *probes, Best *best)
{
    st_Vec3 n;
    if (sti_edges_axis(a->way, a->length, b->way, b->length, &n) <= PARALLEL) return;
    double along = dot(n, sub(b->end[0], a->end[0]));
    /* Either sign of n can be the outer one, and at most one is a supporting direction of both. The separation of
     * the lines is an upper bound for the axis: most pairs end here. */
    for (int sign = -1; sign <= 1; sign += 2) {
        st_Vec3 m = scale(sign, n);
        if (sign * along <= best->gap || sat_is_hopeless(probes, sign * along, best)) continue;
        if (sat_is_hopeless(probes, dot(m, sub(probes->b, probes->a)), best)) continue;
        double gap = core_separation(core_a, core_b, m);
        /* only the outermost edges: parallel ones below them give the same axis */
        if (gap > best->gap && sign * along <= gap + 1e-10 * (core_a->size + core_b->size))
            *best = (Best){gap, m, AXIS_EDGES, {a->end[0], a->end[1]}, {b->end[0], b->end[1]}};
    }
}

/* Uses the cross product n of the directions: 1 - cos^2 of a small angle would lose all digits. */
void sti_nearest_on_lines(const st_Vec3 a[2], const st_Vec3 b[2], st_Vec3 *on_a, st_Vec3 *on_b)
{
    st_Vec3 u = sub(a[1], a[0]), v = sub(b[1], b[0]), d = sub(b[0], a[0]), n = cross(u, v);
    double square = dot(n, n);
    *on_a = add(a[0], scale(dot(cross(d, v), n) / square, u));
    *on_b = add(b[0], scale(dot(cross(d, u), n) / square, v));
}

/* ---- pairs of edges ------------------------------------------------------------------------------ */

/* Some of the edges that count, in order, and a ball that contains their parts in the slab. */
typedef struct Edges {
    int n;
    Edge edge[GATHERED];
    st_Vec3 centre;
    double radius;
} Edges;

/* Does the part of an edge come within a distance of a point? */
static bool edge_is_near(const Edge *e, st_Vec3 point, double distance)
{
    st_Vec3 d = sub(point, e->middle);
    double square = e->reach * e->reach, along = dot(d, e->half), far = e->reach + distance;
    if (dot(d, d) > far * far) return false;
    if (square > 0) d = sub(d, scale(fmin(fmax(along / square, -1), 1), e->half));
    return dot(d, d) <= distance * distance;
}

/* Edges that count among the next GATHERED from edge `first` on. */
static void gather_edges(const sti_Core *core, const Slab *slab, int first, Edges *out)
{
    st_Vec3 lo = vec3(INFINITY, INFINITY, INFINITY), hi = scale(-1, lo);
    out->n = 0;
    for (int k = first; k < first + GATHERED && k < sti_core_edge_count(core); k++) {
        Edge *e = &out->edge[out->n];
        if (!find_edge(core, slab, k, e)) continue;
        out->n++;
        if (slab->all) continue;
        lo = vec3(fmin(lo.x, e->middle.x - fabs(e->half.x)), fmin(lo.y, e->middle.y - fabs(e->half.y)),
                  fmin(lo.z, e->middle.z - fabs(e->half.z)));
        hi = vec3(fmax(hi.x, e->middle.x + fabs(e->half.x)), fmax(hi.y, e->middle.y + fabs(e->half.y)),
                  fmax(hi.z, e->middle.z + fabs(e->half.z)));
    }
    out->centre = scale(0.5, add(lo, hi));
    out->radius = 0.5 * norm(sub(hi, lo));
}

/* Drops edges that are farther than `within` from all of the others. */
static void drop_far_edges(Edges *edges, const Edges *others, double within)
{
    int n = 0;
    for (int k = 0; k < edges->n; k++)
        if (edge_is_near(&edges->edge[k], others->centre, others->radius + within)) edges->edge[n++] = edges->edge[k];
    edges->n = n;
}

/* ---- a better initial direction ------------------------------------------------------------------- */

#define MOST_SPOKES 16

/* The edges at the corner that is farthest along n. */
static int edges_at_top(const sti_Core *core, st_Vec3 n, Edge edge[MOST_SPOKES])
{
    const sti_Facets *f = core->facets;
    const int top = sti_facets_farthest(f, core_to_local(core, n));
    int count = 0;
    for (int s = f->spoke_first[top]; s < f->spoke_first[top + 1] && count < MOST_SPOKES; s++, count++) {
        edge[count] = (Edge){.index = f->spoke[s]};
        make_edge(core, &edge[count]);
    }
    return count;
}

/* Tries the axes of faces next to these edges, out of a: sign 1, or out of b: -1. `between` leads from one corner to
 * the other; no axis separates more than the distance along it. */
static void look_along_faces(const sti_Core *a, const sti_Core *b, const Edge *edge, int n_edges, double sign,
                             st_Vec3 between, st_Vec3 *n, double *separation)
{
    for (int k = 0; k < 2 * n_edges; k++) {
        const st_Vec3 m = scale(sign, edge[k / 2].beside[k % 2]);
        if (dot(m, between) <= *separation) continue;
        const double here = core_separation(a, b, m);
        if (here > *separation) *separation = here, *n = m;
    }
}

double sti_sat_nearby(const sti_Core *a, const sti_Core *b, st_Vec3 *n)
{
    const st_Vec3 between = sub(sti_support(b, scale(-1, *n)), sti_support(a, *n));
    double separation = dot(*n, between);
    if (a->kind != STI_CORE_HULL || b->kind != STI_CORE_HULL) return separation;
    Edge of_a[MOST_SPOKES], of_b[MOST_SPOKES];
    const st_Vec3 from = *n;
    const int n_a = edges_at_top(a, from, of_a), n_b = edges_at_top(b, scale(-1, from), of_b);
    look_along_faces(a, b, of_a, n_a, 1, between, n, &separation);
    look_along_faces(a, b, of_b, n_b, -1, between, n, &separation);
    for (int i = 0; i < n_a; i++)
        for (int j = 0; j < n_b; j++) {
            st_Vec3 m;
            if (!arcs_cross(&of_a[i], &of_b[j])) continue;
            if (sti_edges_axis(of_a[i].way, of_a[i].length, of_b[j].way, of_b[j].length, &m) <= PARALLEL) continue;
            if (dot(m, from) < 0) m = scale(-1, m);
            if (dot(m, sub(of_b[j].end[0], of_a[i].end[0])) <= separation)
                continue; /* no more than between the edges */
            const double here = core_separation(a, b, m);
            if (here > separation) separation = here, *n = m;
        }
    return separation;
}

void sti_sat(const sti_Core *a, const sti_Core *b, st_Vec3 guess, sti_Distance *out)
{
    Best best = {.gap = -INFINITY};
    double size = a->size + b->size, slack = 1e-9 * size;
    Probes probes = {sti_support(a, guess), sti_support(b, scale(-1, guess)), -INFINITY, 1e-12 * size};
    double depth = -dot(guess, sub(probes.b, probes.a));
    if (depth > 0) probes.least = -depth;
    Slab slab_a = slab_under(a, guess, depth, slack), slab_b = slab_under(b, scale(-1, guess), depth, slack);
    sat_try_faces(a, b, &slab_a, &probes, AXIS_FACE_A, &best);
    sat_try_faces(b, a, &slab_b, &probes, AXIS_FACE_B, &best);
    if (-best.gap < depth) { /* the faces give a better initial direction */
        depth = -best.gap;
        slab_a = slab_under(a, best.normal, depth, slack);
        slab_b = slab_under(b, scale(-1, best.normal), depth, slack);
    }

    /* In an order that does not depend on which ones count: of equally good axes the first is taken. */
    double within = depth + slack;
    Edges of_a, of_b;
    const bool all = slab_a.all || slab_b.all;
    for (int first = 0; first < sti_core_edge_count(b); first += GATHERED)
        for (int from = 0; from < sti_core_edge_count(a); from += GATHERED) {
            gather_edges(b, &slab_b, first, &of_b); /* again, because edges of a have removed some */
            gather_edges(a, &slab_a, from, &of_a);
            if (!all) {
                drop_far_edges(&of_a, &of_b, within);
                drop_far_edges(&of_b, &of_a, within);
            }

            /* The two edges of the best axis are as near to each other as its depth: `within`. */
            const bool prune = a->facets != NULL && b->facets != NULL;
            for (int i = 0; i < of_a.n; i++)
                for (int j = 0; j < of_b.n; j++) {
                    Edge *p = &of_a.edge[i], *q = &of_b.edge[j];
                    if (!all && !edge_is_near(p, q->middle, q->reach + within)) continue;
                    make_edge(a, p);
                    make_edge(b, q);
                    if (!prune || arcs_cross(p, q)) try_edge_pair(p, q, a, b, &probes, &best);
                }
        }

    if (!isfinite(best.gap)) {
        /* Collinear points and segments have no face and no pair of edges: use the direction across both, or from
         * centre to centre. */
        st_Vec3 d = sub(b->p, a->p), axis = vec3(0, 0, 0);
        if (a->kind == STI_CORE_SEGMENT) axis = a->axis[a->along];
        if (b->kind == STI_CORE_SEGMENT) axis = b->axis[b->along];
        d = sub(d, scale(dot(d, axis), axis));
        double length = norm(d);
        /* a d that is only rounding has no direction */
        bool apart = length > 1e-12 * (a->size + b->size);
        st_Vec3 n = apart ? scale(1 / length, d) : orthogonal(dot(axis, axis) > 0 ? axis : vec3(1, 0, 0));
        best = (Best){.gap = core_separation(a, b, n), .normal = n, .axis = AXIS_OTHER};
        /* the middle of their common part along the axis */
        double at = dot(axis, sub(b->p, a->p)), lo = fmax(-a->size, at - b->size), hi = fmin(a->size, at + b->size);
        best.a[0] = add(a->p, scale(0.5 * (lo + hi), axis));
        best.b[0] = add(b->p, scale(0.5 * (lo + hi) - at, axis));
    }
    *out = (sti_Distance){.gap = best.gap, .normal = best.normal};
    out->a = sti_support(a, best.normal);
    out->b = sti_support(b, scale(-1, best.normal));
    if (best.axis == AXIS_FACE_A) out->a = sub(out->b, scale(best.gap, best.normal));
    if (best.axis == AXIS_FACE_B) out->b = add(out->a, scale(best.gap, best.normal));
    if (best.axis == AXIS_OTHER) out->a = best.a[0], out->b = best.b[0];
    if (best.axis == AXIS_EDGES) sti_nearest_on_lines(best.a, best.b, &out->a, &out->b);
}
