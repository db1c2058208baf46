/* device/touch.h -- where two convex pieces of flat piles touch: points on the first, normals, gaps. Included by
 * kernels.h, whose rules it keeps.
 *
 * A piece is a point (a sphere), a segment (a capsule) or a polytope (a box, a hull), and all that is within `round` of
 * it. Two polytopes are separated best along the normal of a face or across two edges; a face cuts out of the one that
 * it meets a patch, of which at most four points stay. Everything else is distances of points and segments.
 */
#ifndef STI_DEVICE_TOUCH_H
#define STI_DEVICE_TOUCH_H

enum {
    STI_FLAT_PATCH = 4,    /* points of two pieces that are kept                             */
    STI_FLAT_CORNERS = 32, /* of a face, at most                                             */
    STI_FLAT_POLYGON = 64, /* of a face after it is cut by the sides of another              */
    STI_FLAT_VERTICES = 256
};

/* A polytope: its places in the arrays of all (sti_FlatHulls). No faces: a segment. */
typedef struct sti_FlatHull {
    int vertex, n_vertices, face, n_faces, edge, n_edges;
} sti_FlatHull;

typedef struct sti_FlatHulls {
    sti_FlatHull *hull;
    double *vertex; /* 3 per vertex, about the middle of its hull                                             */
    double *plane;  /* 4 per face: its outward normal, and how far it is from the middle                      */
    int *loop;      /* 2 per face: its first corner, and their number; counter-clockwise from outside         */
    int *corner;    /* vertices of its hull                                                                   */
    int *edge;      /* 4 per edge: from vertex to vertex, the face whose loop runs so, the other one          */
} sti_FlatHulls;

/* A piece where it is. */
typedef struct sti_FlatSolid {
    const sti_FlatHull *hull; /* NULL: a point */
    double x[3], R[9], round;
} sti_FlatSolid;

/* Points on the first piece, normals towards it. `id` is the same while the features that meet are. */
typedef struct sti_FlatPatch {
    int n;
    double x[STI_FLAT_PATCH][3], normal[STI_FLAT_PATCH][3], gap[STI_FLAT_PATCH];
    int id[STI_FLAT_PATCH];
} sti_FlatPatch;

STI_KERNEL void flat_vertex(const sti_FlatHulls *h, const sti_FlatSolid *p, int k, double *out)
{
    flat_turn(p->R, h->vertex + (int64_t)3 * (p->hull->vertex + k), out);
    for (int e = 0; e < 3; e++)
        out[e] += p->x[e];
}

/* Adds a point; of more than four the one with the widest gap goes. Ids of a patch differ: two contacts with the colour
 * of one would be swept at the same time.                                                                          */
STI_KERNEL void flat_add_point(sti_FlatPatch *to, const double *x, const double *normal, double gap, int id)
{
    int at = to->n;
    if (at == STI_FLAT_PATCH) {
        at = 0;
        for (int k = 1; k < STI_FLAT_PATCH; k++)
            if (to->gap[k] > to->gap[at]) at = k;
        if (!(gap < to->gap[at])) return;
    } else {
        to->n++;
    }
    for (int e = 0; e < 3; e++)
        to->x[at][e] = x[e], to->normal[at][e] = normal[e];
    to->gap[at] = gap;
    to->id[at] = -1;
    for (int k = 0; k < to->n; k++)
        if (to->id[k] == id) id++, k = -1;
    to->id[at] = id;
}

/* ---- points and segments ----------------------------------------------------------------------------------------- */

/* The point of the segment p q that is nearest to x: where along it, 0 .. 1. */
STI_KERNEL double flat_along(const double *p, const double *q, const double *x)
{
    double along = 0, square = 0;
    for (int e = 0; e < 3; e++) {
        const double d = q[e] - p[e];
        along += d * (x[e] - p[e]);
        square += d * d;
    }
    if (!(along > 0)) return 0;
    return along < square ? along / square : 1;
}

/* The nearest points of two segments, where along each. */
STI_KERNEL void flat_segments(const double *p, const double *q, const double *r, const double *s, double *along_pq,
                              double *along_rs)
{
    double d[3], e[3], w[3];
    for (int k = 0; k < 3; k++)
        d[k] = q[k] - p[k], e[k] = s[k] - r[k], w[k] = p[k] - r[k];
    const double dd = flat_dot(d, d), ee = flat_dot(e, e), de = flat_dot(d, e), dw = flat_dot(d, w),
                 ew = flat_dot(e, w), determinant = dd * ee - de * de;
    double a = determinant > 1e-12 * dd * ee ? (de * ew - ee * dw) / determinant : 0;
    a = a > 0 ? (a < 1 ? a : 1) : 0;
    double x[3];
    for (int k = 0; k < 3; k++)
        x[k] = p[k] + a * d[k];
    const double b = flat_along(r, s, x);
    for (int k = 0; k < 3; k++)
        x[k] = r[k] + b * e[k];
    *along_pq = flat_along(p, q, x);
    *along_rs = b;
}

/* The points y of one core and z of another at a distance: a contact on the first, rounded as both are. Cores that
 * meet have no direction, and are apart along `otherwise`.                                                        */
STI_KERNEL void flat_add_distance(sti_FlatPatch *to, const double *y, const double *z, double round_a, double round_b,
                                  const double *otherwise, double reach, int id)
{
    const double d[3] = {y[0] - z[0], y[1] - z[1], y[2] - z[2]}, distance = sqrt(flat_dot(d, d));
    const double gap = distance - round_a - round_b;
    if (!(gap < reach)) return;
    double n[3], x[3];
    for (int e = 0; e < 3; e++) {
        n[e] = distance > 0 ? d[e] / distance : otherwise[e];
        x[e] = y[e] - round_a * n[e];
    }
    for (int k = 0; k < to->n; k++) { /* the end of a segment may be found twice */
        const double apart[3] = {x[0] - to->x[k][0], x[1] - to->x[k][1], x[2] - to->x[k][2]};
        if (flat_dot(apart, apart) < 1e-6 * (round_a + round_b) * (round_a + round_b)) return;
    }
    flat_add_point(to, x, n, gap, id);
}

/* Two segments, or a segment and a point: the nearest points, and the ends, so that parallel ones have two contacts. */
STI_KERNEL void flat_touch_segments(const sti_FlatHulls *h, const sti_FlatSolid *a, const sti_FlatSolid *b,
                                    double reach, sti_FlatPatch *out)
{
    double end[2][2][3], x[2][3];
    const sti_FlatSolid *side[2] = {a, b};
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 2; k++) {
            if (side[s]->hull != NULL)
                flat_vertex(h, side[s], k, end[s][k]);
            else
                for (int e = 0; e < 3; e++)
                    end[s][k][e] = side[s]->x[e];
        }
    double along[2], d[3], e2[3], up[3];
    flat_segments(end[0][0], end[0][1], end[1][0], end[1][1], &along[0], &along[1]);
    for (int s = 0; s < 2; s++)
        for (int e = 0; e < 3; e++)
            x[s][e] = end[s][0][e] + along[s] * (end[s][1][e] - end[s][0][e]);
    for (int e = 0; e < 3; e++)
        d[e] = end[0][1][e] - end[0][0][e], e2[e] = end[1][1][e] - end[1][0][e];
    flat_cross(d, e2, up);
    double length = sqrt(flat_dot(up, up));
    for (int e = 0; e < 3; e++)
        up[e] = length > 0 ? up[e] / length : (e == 2 ? 1.0 : 0.0);
    flat_add_distance(out, x[0], x[1], a->round, b->round, up, reach, 1);
    for (int s = 0; s < 2; s++)
        for (int k = 0; side[s]->hull != NULL && k < 2; k++) {
            const double *y = end[s][k];
            const double t = flat_along(end[1 - s][0], end[1 - s][1], y);
            for (int e = 0; e < 3; e++)
                x[0][e] = end[1 - s][0][e] + t * (end[1 - s][1][e] - end[1 - s][0][e]);
            if (s == 0)
                flat_add_distance(out, y, x[0], a->round, b->round, up, reach, 2 + k);
            else
                flat_add_distance(out, x[0], y, a->round, b->round, up, reach, 4 + k);
        }
}

/* ---- a point and a polytope ----------------------------------------------------------------------------------------
 */

/* From x to polytope p: the distance, negative inside, and the unit normal out of p there. */
STI_KERNEL double flat_outside(const sti_FlatHulls *h, const sti_FlatSolid *p, const double *x, double *normal)
{
    double local[3], moved[3], n[3] = {0, 0, 1}, deepest = -1e300;
    for (int e = 0; e < 3; e++)
        moved[e] = x[e] - p->x[e];
    flat_turn_back(p->R, moved, local);
    for (int k = 0; k < p->hull->n_faces; k++) {
        const double *plane = h->plane + (int64_t)4 * (p->hull->face + k), out = flat_dot(plane, local) - plane[3];
        if (!(out > deepest)) continue;
        deepest = out;
        for (int e = 0; e < 3; e++)
            n[e] = plane[e];
    }
    double square = 1e300, best[3] = {0, 0, 0};
    for (int k = 0; deepest > 0 && k < p->hull->n_faces; k++) {
        const double *plane = h->plane + (int64_t)4 * (p->hull->face + k), out = flat_dot(plane, local) - plane[3];
        if (!(out > 0) || !(out * out < square)) continue;
        /* the foot on the plane; if it is outside of the loop, the nearest of the sides */
        const int *loop = h->loop + (int64_t)2 * (p->hull->face + k);
        bool inside = true;
        for (int c = 0; c < loop[1]; c++) {
            const double *v = h->vertex + (int64_t)3 * (p->hull->vertex + h->corner[loop[0] + c]);
            const double *w = h->vertex + (int64_t)3 * (p->hull->vertex + h->corner[loop[0] + (c + 1) % loop[1]]);
            const double side[3] = {w[0] - v[0], w[1] - v[1], w[2] - v[2]};
            const double to[3] = {local[0] - v[0], local[1] - v[1], local[2] - v[2]};
            double across[3];
            flat_cross(side, plane, across);
            if (!(flat_dot(across, to) > 0)) continue;
            inside = false;
            const double t = flat_along(v, w, local);
            const double d[3] = {to[0] - t * side[0], to[1] - t * side[1], to[2] - t * side[2]}, dd = flat_dot(d, d);
            if (!(dd < square)) continue;
            square = dd;
            for (int e = 0; e < 3; e++)
                best[e] = d[e];
        }
        if (!inside) continue;
        square = out * out;
        for (int e = 0; e < 3; e++)
            best[e] = out * plane[e];
    }
    if (deepest > 0) {
        deepest = sqrt(square);
        for (int e = 0; e < 3; e++)
            n[e] = best[e] / deepest;
    }
    flat_turn(p->R, n, normal);
    return deepest;
}

/* A rounded point of a piece outside of polytope p; `first`: the point's piece is the first of the two. */
STI_KERNEL void flat_add_outside(const sti_FlatHulls *h, const sti_FlatSolid *p, const double *y, double round,
                                 bool first, double reach, int id, sti_FlatPatch *out)
{
    double n[3], x[3];
    const double distance = flat_outside(h, p, y, n), gap = distance - round - p->round;
    if (!(gap < reach)) return;
    for (int e = 0; e < 3; e++) {
        x[e] = first ? y[e] - round * n[e] : y[e] - (distance - p->round) * n[e];
        n[e] = first ? n[e] : -n[e];
    }
    flat_add_point(out, x, n, gap, id);
}

/* A segment and a polytope: both ends, and where the segment passes an edge nearer than its ends. */
STI_KERNEL void flat_touch_segment(const sti_FlatHulls *h, const sti_FlatSolid *s, const sti_FlatSolid *p, bool first,
                                   double reach, sti_FlatPatch *out)
{
    double end[2][3], least = 1e300, y[3] = {0, 0, 0}, n[3];
    int passed = -1;
    for (int k = 0; k < 2; k++) {
        flat_vertex(h, s, k, end[k]);
        flat_add_outside(h, p, end[k], s->round, first, reach, 2 + k, out);
    }
    for (int k = 0; k < p->hull->n_edges; k++) {
        const int *edge = h->edge + (int64_t)4 * (p->hull->edge + k);
        double v[3], w[3], a, b;
        flat_vertex(h, p, edge[0], v);
        flat_vertex(h, p, edge[1], w);
        flat_segments(end[0], end[1], v, w, &a, &b);
        if (!(a > 0) || !(a < 1)) continue;
        double square = 0, here[3];
        for (int e = 0; e < 3; e++) {
            here[e] = end[0][e] + a * (end[1][e] - end[0][e]);
            const double apart = here[e] - v[e] - b * (w[e] - v[e]);
            square += apart * apart;
        }
        if (!(square < least)) continue;
        least = square, passed = k;
        for (int e = 0; e < 3; e++)
            y[e] = here[e];
    }
    if (passed < 0) return;
    const double distance = flat_outside(h, p, y, n), gap = distance - s->round - p->round;
    if (!(gap < reach)) return;
    for (int k = 0; k < out->n; k++) /* an end is as near */
        if (!(gap < out->gap[k] - 1e-3 * (s->round + p->round))) return;
    flat_add_outside(h, p, y, s->round, first, reach, 4 + passed, out);
}

/* ---- two polytopes -------------------------------------------------------------------------------------------------
 */

/* The face of p with the largest distance from q, and this distance; stops if it exceeds `reach`. */
STI_KERNEL double flat_best_face(const sti_FlatHulls *h, const sti_FlatSolid *p, const sti_FlatSolid *q, double reach,
                                 int *face)
{
    double best = -1e300;
    *face = 0;
    for (int k = 0; k < p->hull->n_faces; k++) {
        const double *plane = h->plane + (int64_t)4 * (p->hull->face + k);
        double n[3], m[3], least = 1e300;
        flat_turn(p->R, plane, n);
        flat_turn_back(q->R, n, m);
        for (int v = 0; v < q->hull->n_vertices; v++) {
            const double along = flat_dot(m, h->vertex + (int64_t)3 * (q->hull->vertex + v));
            if (along < least) least = along;
        }
        const double apart[3] = {q->x[0] - p->x[0], q->x[1] - p->x[1], q->x[2] - p->x[2]};
        const double out = flat_dot(n, apart) + least - plane[3];
        if (out > best) best = out, *face = k;
        if (best > reach) break;
    }
    return best;
}

/* The edges across which p and q are farthest apart, and the unit direction from p to q there. Only edges that are a
 * face of the Minkowski difference count: the arcs of their normals cross on the sphere of directions.              */
STI_KERNEL double flat_best_edges(const sti_FlatHulls *h, const sti_FlatSolid *p, const sti_FlatSolid *q, double reach,
                                  int *edge_p, int *edge_q, double *normal)
{
    double best = -1e300, turn[9], apart[3], shift[3]; /* q in the axes of p */
    for (int e = 0; e < 3; e++)
        apart[e] = q->x[e] - p->x[e];
    flat_turn_back(p->R, apart, shift);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            turn[3 * i + k] = p->R[i] * q->R[k] + p->R[3 + i] * q->R[3 + k] + p->R[6 + i] * q->R[6 + k];
    for (int j = 0; j < q->hull->n_edges && !(best > reach); j++) {
        const int *eq = h->edge + (int64_t)4 * (q->hull->edge + j);
        double from[3], to[3], dq[3], c[3], d[3];
        flat_turn(turn, h->vertex + (int64_t)3 * (q->hull->vertex + eq[0]), from);
        flat_turn(turn, h->vertex + (int64_t)3 * (q->hull->vertex + eq[1]), to);
        flat_turn(turn, h->plane + (int64_t)4 * (q->hull->face + eq[2]), c);
        flat_turn(turn, h->plane + (int64_t)4 * (q->hull->face + eq[3]), d);
        for (int e = 0; e < 3; e++) {
            dq[e] = to[e] - from[e];
            from[e] += shift[e];
            c[e] = -c[e], d[e] = -d[e];
        }
        const double dq2 = flat_dot(dq, dq);
        for (int i = 0; i < p->hull->n_edges; i++) {
            const int *ep = h->edge + (int64_t)4 * (p->hull->edge + i);
            const double *v = h->vertex + (int64_t)3 * (p->hull->vertex + ep[0]);
            const double *w = h->vertex + (int64_t)3 * (p->hull->vertex + ep[1]);
            const double *a = h->plane + (int64_t)4 * (p->hull->face + ep[2]);
            const double *b = h->plane + (int64_t)4 * (p->hull->face + ep[3]);
            const double dp[3] = {w[0] - v[0], w[1] - v[1], w[2] - v[2]};
            const double ac = flat_dot(c, dp), ad = flat_dot(d, dp);
            if (!(ac * ad < 0)) continue;
            const double ca = flat_dot(a, dq), cb = flat_dot(b, dq);
            if (!(ca * cb < 0)) continue;
            double n[3];
            flat_cross(dp, dq, n);
            const double square = flat_dot(n, n);
            if (!(square > 1e-6 * flat_dot(dp, dp) * dq2)) continue; /* parallel: faces meet before */
            const double outward = flat_dot(n, a) + flat_dot(n, b), sign = (outward > 0 ? 1.0 : -1.0) / sqrt(square);
            for (int e = 0; e < 3; e++)
                n[e] *= sign;
            /* n lies between a and b, and -n between the normals of q: both arcs, not one and the other's far side */
            if (!(flat_dot(n, c) + flat_dot(n, d) > 0)) continue;
            const double gap[3] = {from[0] - v[0], from[1] - v[1], from[2] - v[2]}, out = flat_dot(n, gap);
            if (!(out > best)) continue;
            best = out, *edge_p = i, *edge_q = j;
            flat_turn(p->R, n, normal);
        }
    }
    return best;
}

/* Of the points of a patch the deepest, the farthest from it, and the two farthest from the line through these, one on
 * each side. `keep` gets their places.                                                                           */
STI_KERNEL int flat_spread(const double (*x)[3], const double *gap, int n, const double *normal, int *keep)
{
    if (n <= STI_FLAT_PATCH) {
        for (int k = 0; k < n; k++)
            keep[k] = k;
        return n;
    }
    int found = 2;
    double most = -1;
    keep[0] = 0;
    for (int k = 1; k < n; k++)
        if (gap[k] < gap[keep[0]]) keep[0] = k;
    keep[1] = keep[0];
    for (int k = 0; k < n; k++) {
        const double d[3] = {x[k][0] - x[keep[0]][0], x[k][1] - x[keep[0]][1], x[k][2] - x[keep[0]][2]};
        const double square = flat_dot(d, d);
        if (square > most) most = square, keep[1] = k;
    }
    const double *o = x[keep[0]], line[3] = {x[keep[1]][0] - o[0], x[keep[1]][1] - o[1], x[keep[1]][2] - o[2]};
    double across[3], left = 0, right = 0;
    int at_left = -1, at_right = -1;
    flat_cross(normal, line, across);
    for (int k = 0; k < n; k++) {
        const double side = across[0] * (x[k][0] - o[0]) + across[1] * (x[k][1] - o[1]) + across[2] * (x[k][2] - o[2]);
        if (side > left) left = side, at_left = k;
        if (side < right) right = side, at_right = k;
    }
    if (at_left >= 0) keep[found++] = at_left;
    if (at_right >= 0) keep[found++] = at_right;
    return found;
}

/* A polygon of the other piece, with an id for each corner. */
typedef struct sti_FlatPolygon {
    int n, id[STI_FLAT_POLYGON];
    double x[STI_FLAT_POLYGON][3];
} sti_FlatPolygon;

/* The face of q that looks most against n. */
STI_KERNEL void flat_facing(const sti_FlatHulls *h, const sti_FlatSolid *q, const double *n, sti_FlatPolygon *out)
{
    double m[3], least = 1e300;
    int face = 0;
    flat_turn_back(q->R, n, m);
    for (int k = 0; k < q->hull->n_faces; k++) {
        const double looks = flat_dot(m, h->plane + (int64_t)4 * (q->hull->face + k));
        if (looks < least) least = looks, face = k;
    }
    const int *loop = h->loop + (int64_t)2 * (q->hull->face + face);
    out->n = loop[1];
    for (int k = 0; k < out->n; k++) {
        out->id[k] = h->corner[loop[0] + k];
        flat_vertex(h, q, out->id[k], out->x[k]);
    }
}

/* The face `corner`, counter-clockwise about its normal n, cuts a patch out of a polygon: of this patch the points near
 * the face. `first`: the face is that of the first piece.                                                           */
STI_KERNEL void flat_cut_patch(const double (*corner)[3], int n_corners, const double *n, double round_face,
                               sti_FlatPolygon *polygon, double round_polygon, bool first, double reach,
                               sti_FlatPatch *out)
{
    sti_FlatPolygon room, *from = polygon, *to = &room;
    double gap[STI_FLAT_POLYGON];
    for (int s = 0; s < n_corners && from->n > 0; s++) {
        const double *foot = corner[s], *next = corner[(s + 1) % n_corners];
        double side[3], across[3];
        for (int e = 0; e < 3; e++)
            side[e] = next[e] - foot[e];
        flat_cross(side, n, across); /* out of the loop */
        double before = 0, now;
        to->n = 0;
        for (int k = 0; k <= from->n; k++) {
            const double *x = from->x[k % from->n];
            now = across[0] * (x[0] - foot[0]) + across[1] * (x[1] - foot[1]) + across[2] * (x[2] - foot[2]);
            if (k > 0 && (before > 0) != (now > 0) && to->n < STI_FLAT_POLYGON) {
                const double *y = from->x[k - 1], t = before / (before - now);
                for (int e = 0; e < 3; e++)
                    to->x[to->n][e] = y[e] + t * (x[e] - y[e]);
                to->id[to->n++] =
                    STI_FLAT_VERTICES + ((s * 4099 + from->id[k - 1] * 31 + from->id[k % from->n]) & 0xffff);
            }
            if (k < from->n && !(now > 0) && to->n < STI_FLAT_POLYGON) {
                for (int e = 0; e < 3; e++)
                    to->x[to->n][e] = x[e];
                to->id[to->n++] = from->id[k];
            }
            before = now;
        }
        sti_FlatPolygon *other = from;
        from = to;
        to = other;
    }
    int near = 0, keep[STI_FLAT_PATCH];
    const double *foot = corner[0];
    for (int k = 0; k < from->n; k++) {
        const double *x = from->x[k];
        const double above =
            n[0] * (x[0] - foot[0]) + n[1] * (x[1] - foot[1]) + n[2] * (x[2] - foot[2]) - (round_face + round_polygon);
        if (!(above < reach)) continue;
        for (int e = 0; e < 3; e++)
            from->x[near][e] = x[e];
        from->id[near] = from->id[k];
        gap[near++] = above;
    }
    const int n_keep = flat_spread((const double(*)[3])from->x, gap, near, n, keep);
    for (int k = 0; k < n_keep; k++) {
        const double g = gap[keep[k]], *on = from->x[keep[k]];
        double x[3], normal[3];
        for (int e = 0; e < 3; e++) {
            normal[e] = first ? -n[e] : n[e];
            x[e] = first ? on[e] - (g + round_polygon) * n[e] : on[e] - round_polygon * n[e];
        }
        flat_add_point(out, x, normal, g, from->id[keep[k]] | (first ? 0 : 1 << 20));
    }
}

/* The corners of face `face` of p, and its normal. */
STI_KERNEL int flat_loop(const sti_FlatHulls *h, const sti_FlatSolid *p, int face, double (*corner)[3], double *n)
{
    const int *loop = h->loop + (int64_t)2 * (p->hull->face + face);
    flat_turn(p->R, h->plane + (int64_t)4 * (p->hull->face + face), n);
    for (int k = 0; k < loop[1]; k++)
        flat_vertex(h, p, h->corner[loop[0] + k], corner[k]);
    return loop[1];
}

/* Face `face` of p meets q: the face of q that looks at it most, cut by its sides. `first`: p is the first piece. */
STI_KERNEL void flat_face_patch(const sti_FlatHulls *h, const sti_FlatSolid *p, const sti_FlatSolid *q, int face,
                                bool first, double reach, sti_FlatPatch *out)
{
    double corner[STI_FLAT_CORNERS][3], n[3];
    sti_FlatPolygon polygon;
    const int n_corners = flat_loop(h, p, face, corner, n);
    flat_facing(h, q, n, &polygon);
    flat_cut_patch((const double(*)[3])corner, n_corners, n, p->round, &polygon, q->round, first, reach, out);
}

STI_KERNEL void flat_touch_polytopes(const sti_FlatHulls *h, const sti_FlatSolid *a, const sti_FlatSolid *b,
                                     double reach, double size, sti_FlatPatch *out)
{
    const double far = reach + a->round + b->round;
    int face_a, face_b, edge_a = -1, edge_b = -1;
    double n[3] = {0, 0, 1};
    const double of_a = flat_best_face(h, a, b, far, &face_a);
    if (of_a > far) return;
    const double of_b = flat_best_face(h, b, a, far, &face_b);
    if (of_b > far) return;
    const double of_edges = flat_best_edges(h, a, b, far, &edge_a, &edge_b, n);
    if (of_edges > far) return;
    const double of_faces = of_a > of_b ? of_a : of_b, favour = 1e-3 * size; /* of faces: their patches hold more */
    if (edge_a >= 0 && of_edges > of_faces + favour) {
        const int *ea = h->edge + (int64_t)4 * (a->hull->edge + edge_a);
        const int *eb = h->edge + (int64_t)4 * (b->hull->edge + edge_b);
        double v[3], w[3], r[3], s[3], along_a, along_b, x[3], normal[3];
        flat_vertex(h, a, ea[0], v);
        flat_vertex(h, a, ea[1], w);
        flat_vertex(h, b, eb[0], r);
        flat_vertex(h, b, eb[1], s);
        flat_segments(v, w, r, s, &along_a, &along_b);
        for (int e = 0; e < 3; e++) {
            x[e] = v[e] + along_a * (w[e] - v[e]) + a->round * n[e];
            normal[e] = -n[e];
        }
        flat_add_point(out, x, normal, of_edges - a->round - b->round, 1 << 21 | ((edge_a * 769 + edge_b) & 0xfffff));
    } else if (of_b > of_a + favour) {
        flat_face_patch(h, b, a, face_b, false, reach, out);
    } else {
        flat_face_patch(h, a, b, face_a, true, reach, out);
    }
    if (out->n > 0 || !(of_faces > 0)) return;
    /* beside each other, not in front: the vertex that is nearest to the other's surface */
    double nearest = 1e300, x[3];
    int at = -1;
    for (int k = 0; k < a->hull->n_vertices + b->hull->n_vertices; k++) {
        const bool first = k < a->hull->n_vertices;
        flat_vertex(h, first ? a : b, first ? k : k - a->hull->n_vertices, x);
        const double distance = flat_outside(h, first ? b : a, x, n);
        if (distance < nearest) nearest = distance, at = k;
    }
    const bool first = at < a->hull->n_vertices;
    flat_vertex(h, first ? a : b, first ? at : at - a->hull->n_vertices, x);
    flat_add_outside(h, first ? b : a, x, first ? a->round : b->round, first, reach, 3 << 21 | at, out);
}

/* ---- any two -------------------------------------------------------------------------------------------------------
 */

/* Points of a and b with gaps below `reach`. `size`: half the least width of the smaller. */
STI_KERNEL void flat_touch_solids(const sti_FlatHulls *h, const sti_FlatSolid *a, const sti_FlatSolid *b, double reach,
                                  double size, sti_FlatPatch *out)
{
    const bool solid_a = a->hull != NULL && a->hull->n_faces > 0, solid_b = b->hull != NULL && b->hull->n_faces > 0;
    out->n = 0;
    if (solid_a && solid_b)
        flat_touch_polytopes(h, a, b, reach, size, out);
    else if (!solid_a && !solid_b)
        flat_touch_segments(h, a, b, reach, out);
    else if (solid_b && a->hull != NULL)
        flat_touch_segment(h, a, b, true, reach, out);
    else if (solid_a && b->hull != NULL)
        flat_touch_segment(h, b, a, false, reach, out);
    else if (solid_b)
        flat_add_outside(h, b, a->x, a->round, true, reach, 0, out);
    else
        flat_add_outside(h, a, b->x, b->round, false, reach, 0, out);
}

/* Vertices of a near the plane through `foot`. */
STI_KERNEL void flat_touch_plane(const sti_FlatHulls *h, const sti_FlatSolid *a, const double *foot,
                                 const double *normal, double reach, sti_FlatPatch *out)
{
    double near[STI_FLAT_POLYGON][3], gap[STI_FLAT_POLYGON];
    int id[STI_FLAT_POLYGON], keep[STI_FLAT_PATCH], n = 0;
    const int count = a->hull != NULL ? a->hull->n_vertices : 1;
    out->n = 0;
    for (int k = 0; k < count && n < STI_FLAT_POLYGON; k++) {
        double x[3] = {a->x[0], a->x[1], a->x[2]};
        if (a->hull != NULL) flat_vertex(h, a, k, x);
        double above = -a->round;
        for (int e = 0; e < 3; e++)
            above += normal[e] * (x[e] - foot[e]);
        if (!(above < reach)) continue;
        for (int e = 0; e < 3; e++)
            near[n][e] = x[e] - a->round * normal[e];
        id[n] = k;
        gap[n++] = above;
    }
    n = flat_spread((const double(*)[3])near, gap, n, normal, keep);
    for (int k = 0; k < n; k++)
        flat_add_point(out, near[keep[k]], normal, gap[keep[k]], id[keep[k]]);
}

#endif
