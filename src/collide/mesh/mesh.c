/* collide/mesh/mesh.c -- triangles with neighbours: how the surface bends at each edge, and whether it has an
 * inside. */
#include "base/range.h"
#include "collide/shape.h"
#include "collide/validate.h"

#include <stdlib.h>
#include <string.h>

/* Edges that bend by less than this [rad] are flat: a grid of heights rounded to 1e-6 of its spacing is. */
#define FLAT_ANGLE 1e-6

typedef struct HalfEdge {
    int from, to; /* from < to                                                                     */
    int triangle, side;
    bool turned; /* the triangle has the edge from `to` to `from` */
} HalfEdge;

static int mesh_by_ends(const void *x, const void *y)
{
    const HalfEdge *a = x, *b = y;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    if (a->triangle != b->triangle) return a->triangle < b->triangle ? -1 : 1;
    return a->side - b->side;
}

static sti_Bend bend_of(const sti_Mesh *mesh, const sti_Triangle *t, int side, const sti_Triangle *other)
{
    st_Vec3 way = sub(mesh->vertex[t->vertex[(side + 1) % 3]], mesh->vertex[t->vertex[side]]);
    /* sine of the angle from this normal to the neighbour's, about the edge */
    double sine = dot(cross(t->normal, other->normal), way) / norm(way);
    if (fabs(sine) <= FLAT_ANGLE && dot(t->normal, other->normal) > 0) return STI_EDGE_FLAT;
    return sine > 0 ? STI_EDGE_CONVEX : STI_EDGE_CONCAVE;
}

static st_Status mesh_build(sti_Mesh *mesh, const st_Vec3 *points, const int *triangles, const st_Allocator *allocator,
                            st_Error *err)
{
    int64_t n = mesh->n_triangles;
    mesh->vertex = sti_alloc(allocator, mesh->n_vertices, sizeof *mesh->vertex);
    mesh->triangle = sti_alloc(allocator, n, sizeof *mesh->triangle);
    mesh->spoke_first = sti_alloc(allocator, mesh->n_vertices + 1, sizeof *mesh->spoke_first);
    mesh->n_spokes = 6 * n;
    mesh->spoke = sti_alloc(allocator, mesh->n_spokes, sizeof *mesh->spoke);
    if (mesh->vertex == NULL || mesh->triangle == NULL || mesh->spoke_first == NULL || mesh->spoke == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a mesh of %lld triangles", (long long)n);
    STI_TRY(sti_check_points(points, mesh->n_vertices, err));
    memcpy(mesh->vertex, points, (size_t)mesh->n_vertices * sizeof *points);
    for (int t = 0; t < mesh->n_triangles; t++) {
        sti_Triangle *triangle = &mesh->triangle[t];
        for (int k = 0; k < 3; k++) {
            int v = triangles[3 * (ptrdiff_t)t + k];
            if (v < 0 || v >= mesh->n_vertices)
                return sti_fail(err, ST_ERR_ARGUMENT, "triangle %d names point %d, there are %d (from 0)", t, v,
                                mesh->n_vertices);
            triangle->vertex[k] = v;
        }
        st_Vec3 a = mesh->vertex[triangle->vertex[0]], u = sub(mesh->vertex[triangle->vertex[1]], a);
        st_Vec3 w = sub(mesh->vertex[triangle->vertex[2]], a), across = cross(u, w);
        double area = norm(across), size = fmax(dot(u, u), fmax(dot(w, w), dot(sub(w, u), sub(w, u))));
        if (!(area > 1e-12 * size))
            return sti_fail(err, ST_ERR_ARGUMENT, "triangle %d (points %d, %d, %d) has no area", t, triangle->vertex[0],
                            triangle->vertex[1], triangle->vertex[2]);
        triangle->normal = scale(1 / area, across);
    }

    HalfEdge *edge = sti_alloc(allocator, 3 * n, sizeof *edge);
    if (edge == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a mesh of %lld triangles", (long long)n);
    /* Two triangles with opposite directions along an edge are neighbours. An edge with one triangle, with more than
     * two, or with two of the same direction is a boundary of each. A mesh is closed if it has no boundary. */
    int n_sides = 3 * mesh->n_triangles;
    bool closed = true;
    for (int k = 0; k < n_sides; k++) {
        int t = k / 3, i = mesh->triangle[t].vertex[k % 3], j = mesh->triangle[t].vertex[(k % 3 + 1) % 3];
        edge[k] = (HalfEdge){i < j ? i : j, i < j ? j : i, t, k % 3, i > j};
        mesh->triangle[t].neighbour[k % 3] = -1;
        mesh->triangle[t].bend[k % 3] = STI_EDGE_BOUNDARY;
    }
    qsort(edge, (size_t)n_sides, sizeof *edge, mesh_by_ends);
    for (int k = 0; k < n_sides;) {
        int end = k + 1;
        while (end < n_sides && edge[end].from == edge[k].from && edge[end].to == edge[k].to)
            end++;
        if (end - k == 2 && edge[k].turned != edge[k + 1].turned) {
            const HalfEdge *y = &edge[k + 1];
            sti_Triangle *a = &mesh->triangle[edge[k].triangle], *b = &mesh->triangle[y->triangle];
            a->neighbour[edge[k].side] = y->triangle;
            b->neighbour[y->side] = edge[k].triangle;
            a->bend[edge[k].side] = bend_of(mesh, a, edge[k].side, b);
            b->bend[y->side] = bend_of(mesh, b, y->side, a);
        } else
            closed = false;
        k = end;
    }
    mesh->solid = closed;
    sti_free(allocator, edge, 3 * n, sizeof *edge);

    /* The other ends of the edges at every vertex; edges with two triangles appear twice, which is harmless. */
    for (int t = 0; t < mesh->n_triangles; t++)
        for (int k = 0; k < 3; k++)
            mesh->spoke_first[mesh->triangle[t].vertex[k] + 1] += 2;
    for (int v = 0; v < mesh->n_vertices; v++)
        mesh->spoke_first[v + 1] += mesh->spoke_first[v];
    for (int t = 0; t < mesh->n_triangles; t++)
        for (int k = 0; k < 3; k++)
            for (int s = 1; s < 3; s++) {
                int v = mesh->triangle[t].vertex[k];
                mesh->spoke[mesh->spoke_first[v]++] = mesh->triangle[t].vertex[(k + s) % 3];
            }
    for (int v = mesh->n_vertices; v > 0; v--)
        mesh->spoke_first[v] = mesh->spoke_first[v - 1];
    mesh->spoke_first[0] = 0;

    STI_TRY(sti_tree_reserve(allocator, &mesh->tree, mesh->n_triangles, err));
    for (int t = 0; t < mesh->n_triangles; t++) {
        st_Vec3 a = mesh->vertex[mesh->triangle[t].vertex[0]];
        sti_Bounds b = {a, a};
        for (int k = 1; k < 3; k++) {
            st_Vec3 v = mesh->vertex[mesh->triangle[t].vertex[k]];
            b = bounds_union(b, (sti_Bounds){v, v});
        }
        mesh->tree.bounds[t] = b;
    }
    sti_tree_build(&mesh->tree);
    return ST_OK;
}

st_Status sti_mesh_create(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles,
                          const st_Allocator *allocator, sti_Mesh **out, st_Error *err)
{
    *out = NULL;
    if (points == NULL || n_points < 3 || triangles == NULL || n_triangles < 1)
        return sti_fail(err, ST_ERR_ARGUMENT, "a mesh needs at least 3 points and 1 triangle, has %d and %d", n_points,
                        n_triangles);
    if (n_triangles > (1 << 28))
        return sti_fail(err, ST_ERR_ARGUMENT, "a mesh of %d triangles is too large", n_triangles);
    sti_Mesh *mesh = sti_alloc(allocator, 1, sizeof *mesh);
    if (mesh == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a mesh");
    mesh->n_vertices = n_points;
    mesh->n_triangles = n_triangles;
    st_Status status = mesh_build(mesh, points, triangles, allocator, err);
    if (status == ST_OK) {
        ST_VALIDATE(sti_mesh_is_valid(mesh));
        *out = mesh;
    } else {
        sti_mesh_free(allocator, mesh);
    }
    return status;
}

void sti_mesh_free(const st_Allocator *allocator, sti_Mesh *mesh)
{
    if (mesh == NULL) return;
    sti_free(allocator, mesh->vertex, mesh->n_vertices, sizeof *mesh->vertex);
    sti_free(allocator, mesh->triangle, mesh->n_triangles, sizeof *mesh->triangle);
    sti_free(allocator, mesh->spoke_first, mesh->n_vertices + 1, sizeof *mesh->spoke_first);
    sti_free(allocator, mesh->spoke, mesh->n_spokes, sizeof *mesh->spoke);
    sti_tree_free(allocator, &mesh->tree);
    sti_free(allocator, mesh, 1, sizeof *mesh);
}

/* ---- height fields ------------------------------------------------------------------------------- */

st_Status sti_mesh_from_heights(const st_ShapeDef *def, const st_Allocator *allocator, sti_Mesh **out, st_Error *err)
{
    *out = NULL;
    if (def->n_x < 2 || def->n_y < 2 || def->heights == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "a height field of %d by %d samples, must be at least 2 by 2", def->n_x,
                        def->n_y);
    if (!sti_between(def->spacing, STI_SHORTEST, STI_LONGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "spacing is %g, must be from %g to %g", def->spacing, STI_SHORTEST,
                        STI_LONGEST);
    int64_t n = (int64_t)def->n_x * def->n_y, cells = (int64_t)(def->n_x - 1) * (def->n_y - 1);
    if (n > (1 << 26))
        return sti_fail(err, ST_ERR_ARGUMENT, "a height field of %lld samples is too large", (long long)n);
    for (int64_t k = 0; k < n; k++)
        if (!sti_within(def->heights[k], STI_LONGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "heights: number %lld is %g, must be from %g to %g", (long long)k,
                            def->heights[k], -STI_LONGEST, STI_LONGEST);
    st_Vec3 *points = sti_alloc(allocator, n, sizeof *points);
    int *triangles = sti_alloc(allocator, 6 * cells, sizeof *triangles);
    st_Status status = ST_ERR_MEMORY;
    if (points == NULL || triangles == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for a height field of %lld samples", (long long)n);
    else {
        /* Sample (i, j) is at ((i - (n_x - 1)/2) spacing, ...). Each cell is divided from its low to its high corner.
         */
        int *corner_of = triangles;
        for (int j = 0; j < def->n_y; j++)
            for (int i = 0; i < def->n_x; i++) {
                int k = j * def->n_x + i;
                points[k] = vec3((i - 0.5 * (def->n_x - 1)) * def->spacing, (j - 0.5 * (def->n_y - 1)) * def->spacing,
                                 def->heights[k]);
            }
        for (int j = 0; j < def->n_y - 1; j++)
            for (int i = 0; i < def->n_x - 1; i++) {
                int k = j * def->n_x + i, corner[4] = {k, k + 1, k + def->n_x + 1, k + def->n_x};
                const int cell[6] = {corner[0], corner[1], corner[2], corner[0], corner[2], corner[3]};
                for (int t = 0; t < 6; t++)
                    *corner_of++ = cell[t];
            }
        status = sti_mesh_create(points, (int)n, triangles, (int)(2 * cells), allocator, out, err);
        if (status == ST_OK) {
            /* It is solid below, down to the longer side under the lowest sample: deep enough for anything that
             * enters in a step, but finite, because it may be turned or carried. */
            const int longer = def->n_x > def->n_y ? def->n_x : def->n_y;
            (*out)->solid = (*out)->field = true;
            (*out)->bottom = (*out)->tree.node[0].bounds.lo.z - (longer - 1) * def->spacing;
        }
    }
    sti_free(allocator, points, n, sizeof *points);
    sti_free(allocator, triangles, 6 * cells, sizeof *triangles);
    return status;
}
