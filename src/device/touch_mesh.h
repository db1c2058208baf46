/* device/touch_mesh.h -- where a convex piece of a flat pile touches a triangle of a fixed mesh. Included
 * by kernels.h, whose rules it keeps. All places and directions are in the axes of the mesh.
 *
 * A piece that passes from one triangle to the next must not feel the edge between them. So a point that is nearest to
 * an edge touches it only inside the wedge of directions that no neighbour claims, and of the triangles at an edge or a
 * corner only the first one reports it:
 *
 *              \ wedge of the edge /
 *         past  \        |        /  side
 *       __________\______|______/__________      side: across the edge, out of this triangle
 *       neighbour         edge   this triangle   past: across the edge, out of the neighbour
 *
 * Two polytopes are separated along a normal, as in touch.h; a direction outside of the wedges is replaced by the
 * normal of the triangle.
 */
#ifndef STI_DEVICE_TOUCH_MESH_H
#define STI_DEVICE_TOUCH_MESH_H

enum { STI_FLAT_TREE_DEPTH = 64 };

typedef struct sti_FlatTriangle {
    double x[3][3];    /* corners                                                                             */
    double normal[3];  /* unit                                                                                */
    double past[3][3]; /* edge k, from corner k to the next: see above; 0: it has no neighbour                */
    int corner[3];     /* vertices of all meshes, for their spokes                                            */
    int wall;          /* the mesh                                                                            */
    unsigned owns;     /* bit k: reports edge k; bit 3 + k: reports corner k                                  */
    unsigned sharp;    /* bit k: edge k can be touched from the front; bit 3 + k: from the back               */
} sti_FlatTriangle;

/* A node of the tree over the triangles of a mesh. Its children are side by side. */
typedef struct sti_FlatNode {
    double lo[3], hi[3];
    int left;         /* the first child; -1: a leaf                                                            */
    int first, count; /* a leaf's triangles: item[first ..]                                                     */
} sti_FlatNode;

typedef struct sti_FlatMeshes {
    sti_FlatTriangle *triangle;
    sti_FlatNode *node;
    int *item;
    int *spoke_first; /* by vertices                                                                           */
    double *spoke;    /* 3 each: unit directions along the edges at a vertex                                   */
    double *outward;  /* 3 by vertices: the mean normal there of a solid mesh                                  */
} sti_FlatMeshes;

/* Rounding of directions: a wedge of two triangles in a plane is a line. */
#define STI_FLAT_WEDGE 1e-9

/* Across edge k in the plane of the triangle, outwards; not of unit length. */
STI_KERNEL void flat_side(const sti_FlatTriangle *t, int k, double *out)
{
    const double *v = t->x[k], *w = t->x[(k + 1) % 3], edge[3] = {w[0] - v[0], w[1] - v[1], w[2] - v[2]};
    flat_cross(edge, t->normal, out);
}

/* The point of the triangle that is nearest to x. Returns its feature: 0 the face, 1 + k edge k, 4 + k corner k. */
STI_KERNEL int flat_nearest(const sti_FlatTriangle *t, const double *x, double *on)
{
    double height = 0, least = 1e300;
    int feature = 0;
    for (int e = 0; e < 3; e++)
        height += t->normal[e] * (x[e] - t->x[0][e]);
    for (int k = 0; k < 3; k++) {
        const double *v = t->x[k], *w = t->x[(k + 1) % 3], to[3] = {x[0] - v[0], x[1] - v[1], x[2] - v[2]};
        double side[3], here[3], square = 0;
        flat_side(t, k, side);
        if (!(flat_dot(side, to) > 0)) continue;
        const double along = flat_along(v, w, x);
        for (int e = 0; e < 3; e++) {
            here[e] = v[e] + along * (w[e] - v[e]);
            square += (x[e] - here[e]) * (x[e] - here[e]);
        }
        if (!(square < least)) continue;
        least = square;
        feature = !(along > 0) ? 4 + k : !(along < 1) ? 4 + (k + 1) % 3 : 1 + k;
        for (int e = 0; e < 3; e++)
            on[e] = here[e];
    }
    if (feature == 0)
        for (int e = 0; e < 3; e++)
            on[e] = x[e] - height * t->normal[e];
    return feature;
}

/* Does direction d, from edge k, belong to the edge and to no triangle at it? */
STI_KERNEL bool flat_in_wedge(const sti_FlatTriangle *t, int k, const double *d, double slack)
{
    double side[3];
    flat_side(t, k, side);
    const double length = sqrt(flat_dot(side, side));
    return flat_dot(d, side) >= -slack * length && flat_dot(d, t->past[k]) >= -slack;
}

/* Does direction d, from a vertex, belong to it and to no edge at it? */
STI_KERNEL bool flat_in_cone(const sti_FlatMeshes *m, int vertex, const double *d, bool solid, double slack)
{
    for (int k = m->spoke_first[vertex]; k < m->spoke_first[vertex + 1]; k++)
        if (flat_dot(d, m->spoke + (int64_t)3 * k) > slack) return false;
    return !solid || flat_dot(d, m->outward + (int64_t)3 * vertex) > 0;
}

/* Is edge k such that it can be touched in direction d: does the surface bend away there? */
STI_KERNEL bool flat_is_sharp(const sti_FlatTriangle *t, int k, bool front)
{
    return ((t->sharp >> (front ? k : 3 + k)) & 1) != 0;
}

/* Point x of a piece: the distance of the triangle, and the unit normal towards the piece. False if another
 * triangle reports the nearest point. A solid mesh has one side, and `depth` below it that still counts.             */
STI_KERNEL bool flat_point_triangle(const sti_FlatMeshes *m, const sti_FlatTriangle *t, const double *x, bool solid,
                                    double depth, double *distance, double *normal)
{
    double on[3], d[3];
    const int feature = flat_nearest(t, x, on);
    double height = 0;
    for (int e = 0; e < 3; e++) {
        d[e] = x[e] - on[e];
        height += d[e] * t->normal[e];
    }
    const double length = sqrt(flat_dot(d, d));
    const bool front = solid || height >= 0;
    if (feature == 0 || !(length > 0)) {
        *distance = front ? height : -height;
        for (int e = 0; e < 3; e++)
            normal[e] = front ? t->normal[e] : -t->normal[e];
        return *distance > -depth;
    }
    *distance = length;
    for (int e = 0; e < 3; e++)
        normal[e] = d[e] / length;
    if (((t->owns >> (feature - 1)) & 1) == 0) return false;
    if (feature > 3) return flat_in_cone(m, t->corner[feature - 4], normal, solid, STI_FLAT_WEDGE);
    /* right above a flat edge only rounding decides which triangle it is: the face of one of them */
    if (!flat_in_wedge(t, feature - 1, normal, STI_FLAT_WEDGE)) return false;
    return !solid || flat_is_sharp(t, feature - 1, true) || height > 0;
}

/* A rounded point of a piece, if it is near. */
STI_KERNEL void flat_add_point_triangle(const sti_FlatMeshes *m, const sti_FlatTriangle *t, bool solid, const double *y,
                                        double round, double depth, double reach, int id, sti_FlatPatch *out)
{
    double n[3], x[3], distance;
    if (!flat_point_triangle(m, t, y, solid, depth, &distance, n)) return;
    if (!(distance - round < reach)) return;
    for (int e = 0; e < 3; e++)
        x[e] = y[e] - round * n[e];
    flat_add_point(out, x, n, distance - round, id);
}

/* A segment: its ends, and where it passes a sharp edge or a corner between them. */
STI_KERNEL void flat_segment_triangle(const sti_FlatHulls *h, const sti_FlatMeshes *m, const sti_FlatTriangle *t,
                                      bool solid, const sti_FlatSolid *a, double depth, double reach,
                                      sti_FlatPatch *out)
{
    double end[2][3];
    for (int k = 0; k < 2; k++) {
        flat_vertex(h, a, k, end[k]);
        flat_add_point_triangle(m, t, solid, end[k], a->round, depth, reach, 1 + k, out);
    }
    for (int k = 0; k < 3; k++) {
        const double *v = t->x[k], *w = t->x[(k + 1) % 3];
        double along, across, y[3], d[3], height = 0;
        flat_segments(end[0], end[1], v, w, &along, &across);
        if (!(along > 0) || !(along < 1)) continue;
        for (int e = 0; e < 3; e++) {
            y[e] = end[0][e] + along * (end[1][e] - end[0][e]);
            d[e] = y[e] - v[e] - across * (w[e] - v[e]);
            height += d[e] * t->normal[e];
        }
        const double distance = sqrt(flat_dot(d, d));
        if (!(distance > 0) || !(distance - a->round < reach)) continue;
        for (int e = 0; e < 3; e++)
            d[e] /= distance;
        const bool inside = across > 0 && across < 1;
        const int corner = !(across > 0) ? k : (k + 1) % 3, feature = inside ? k : 3 + corner;
        if (((t->owns >> feature) & 1) == 0) continue;
        if (inside ? !flat_is_sharp(t, k, solid || height >= 0) || !flat_in_wedge(t, k, d, STI_FLAT_WEDGE)
                   : !flat_in_cone(m, t->corner[corner], d, solid, STI_FLAT_WEDGE))
            continue;
        for (int e = 0; e < 3; e++)
            y[e] -= a->round * d[e];
        flat_add_point(out, y, d, distance - a->round, 3 + feature);
    }
}

/* How far polytope p is from the triangle along n, from the triangle to it. */
STI_KERNEL double flat_apart(const sti_FlatHulls *h, const sti_FlatSolid *p, const sti_FlatTriangle *t, const double *n)
{
    double m[3], least = 1e300, most = -1e300;
    flat_turn_back(p->R, n, m);
    for (int v = 0; v < p->hull->n_vertices; v++) {
        const double along = flat_dot(m, h->vertex + (int64_t)3 * (p->hull->vertex + v));
        if (along < least) least = along;
    }
    for (int k = 0; k < 3; k++) {
        const double along = flat_dot(n, t->x[k]);
        if (along > most) most = along;
    }
    return least + flat_dot(n, p->x) - most;
}

/* A polytope: the direction in which the two are farthest apart is a normal of one or across two edges. */
STI_KERNEL void flat_polytope_triangle(const sti_FlatHulls *h, const sti_FlatMeshes *m, const sti_FlatTriangle *t,
                                       bool solid, const sti_FlatSolid *a, double depth, double reach, double size,
                                       sti_FlatPatch *out)
{
    const double far = reach + a->round;
    double height = 0, up[3];
    for (int e = 0; e < 3; e++)
        height += t->normal[e] * (a->x[e] - t->x[0][e]);
    const bool front = solid || height >= 0;
    for (int e = 0; e < 3; e++)
        up[e] = front ? t->normal[e] : -t->normal[e];
    const double of_face = flat_apart(h, a, t, up);
    if (of_face > far || (solid && !(height > -depth))) return;

    double of_hull = -1e300, of_edges = -1e300, n_hull[3] = {0, 0, 1}, n_edges[3] = {0, 0, 1};
    int face = 0, edge_a = -1, edge_t = -1;
    for (int k = 0; k < a->hull->n_faces; k++) {
        double n[3];
        flat_turn(a->R, h->plane + (int64_t)4 * (a->hull->face + k), n);
        for (int e = 0; e < 3; e++)
            n[e] = -n[e];
        const double apart = flat_apart(h, a, t, n);
        if (apart > far) return;
        if (!(apart > of_hull)) continue;
        of_hull = apart, face = k;
        for (int e = 0; e < 3; e++)
            n_hull[e] = n[e];
    }
    for (int k = 0; k < 3; k++) {
        const double *v = t->x[k], *w = t->x[(k + 1) % 3], along[3] = {w[0] - v[0], w[1] - v[1], w[2] - v[2]};
        double side[3];
        flat_side(t, k, side);
        for (int i = 0; i < a->hull->n_edges; i++) {
            const int *edge = h->edge + (int64_t)4 * (a->hull->edge + i);
            double from[3], to[3], way[3], n[3];
            flat_vertex(h, a, edge[0], from);
            flat_vertex(h, a, edge[1], to);
            for (int e = 0; e < 3; e++)
                way[e] = to[e] - from[e];
            flat_cross(along, way, n);
            const double square = flat_dot(n, n);
            if (!(square > 1e-6 * flat_dot(along, along) * flat_dot(way, way))) continue; /* parallel: faces meet */
            const double sign = (flat_dot(n, side) > 0 ? 1.0 : -1.0) / sqrt(square);
            for (int e = 0; e < 3; e++)
                n[e] *= sign;
            const double apart = flat_apart(h, a, t, n);
            if (apart > far) return;
            if (!(apart > of_edges)) continue;
            of_edges = apart, edge_a = i, edge_t = k;
            for (int e = 0; e < 3; e++)
                n_edges[e] = n[e];
        }
    }
    const double favour = 1e-3 * size; /* of faces: their patches hold more */
    const double slack = 1e-3;         /* [rad] of the wedges: a body that rests on a face is not exactly parallel */
    const double of_faces = of_face > of_hull ? of_face : of_hull;
    if (edge_a >= 0 && of_edges > of_faces + favour) {
        if (flat_is_sharp(t, edge_t, front) && flat_in_wedge(t, edge_t, n_edges, slack)) {
            const int *edge = h->edge + (int64_t)4 * (a->hull->edge + edge_a);
            double v[3], w[3], x[3], along_a, along_t;
            flat_vertex(h, a, edge[0], v);
            flat_vertex(h, a, edge[1], w);
            flat_segments(v, w, t->x[edge_t], t->x[(edge_t + 1) % 3], &along_a, &along_t);
            for (int e = 0; e < 3; e++)
                x[e] = v[e] + along_a * (w[e] - v[e]) - a->round * n_edges[e];
            flat_add_point(out, x, n_edges, of_edges - a->round, 1 << 21 | ((edge_a * 769 + edge_t) & 0xfffff));
            return;
        }
    } else if (of_hull > of_face + favour) {
        int deepest = 0;
        for (int k = 1; k < 3; k++)
            if (flat_dot(n_hull, t->x[k]) > flat_dot(n_hull, t->x[deepest])) deepest = k;
        if (flat_in_cone(m, t->corner[deepest], n_hull, solid, slack)) {
            double corner[STI_FLAT_CORNERS][3], n[3];
            sti_FlatPolygon polygon;
            const int n_corners = flat_loop(h, a, face, corner, n);
            polygon.n = 3;
            for (int k = 0; k < 3; k++) {
                polygon.id[k] = k;
                for (int e = 0; e < 3; e++)
                    polygon.x[k][e] = t->x[k][e];
            }
            flat_cut_patch((const double(*)[3])corner, n_corners, n, a->round, &polygon, 0, true, reach, out);
            return;
        }
    }
    /* Another triangle meets the piece in a direction of its own. Along the normal of this one it may be far inside. */
    const double best = of_edges > of_faces ? of_edges : of_faces;
    if (best > of_face + favour && (best > 0 || of_face < -0.5 * size)) return;
    double corner[3][3]; /* counter-clockwise from the piece's side */
    sti_FlatPolygon polygon;
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < 3; e++)
            corner[k][e] = t->x[front ? k : 2 - k][e];
    flat_facing(h, a, up, &polygon);
    flat_cut_patch((const double(*)[3])corner, 3, up, 0, &polygon, a->round, false, reach, out);
}

/* Points of piece a near a triangle, in the axes of its mesh. `size`: half the least width of the piece. */
STI_KERNEL void flat_touch_triangle(const sti_FlatHulls *h, const sti_FlatMeshes *m, const sti_FlatTriangle *t,
                                    bool solid, const sti_FlatSolid *a, double reach, double size, sti_FlatPatch *out)
{
    out->n = 0;
    if (a->hull == NULL)
        flat_add_point_triangle(m, t, solid, a->x, a->round, size, reach, 0, out);
    else if (a->hull->n_faces == 0)
        flat_segment_triangle(h, m, t, solid, a, size, reach, out);
    else
        flat_polytope_triangle(h, m, t, solid, a, size, reach, size, out);
}

#endif
