/* collide/mesh/inside.c -- is a point inside a solid mesh, and which point of its surface is nearest?
 *
 * A mesh is its surface: a shape that is wholly inside touches no triangle. A ray from a point inside crosses an odd
 * number of triangles (Jordan). If a ray passes through an edge the count may be wrong, so the majority of three
 * rays decides. A point is below a height field if there is a triangle above it.
 */
#include "collide/mesh/inside.h"

typedef struct Crossing {
    const sti_Mesh *mesh;
    st_Vec3 p, d;
    double limit;
    int count;
    double slack; /* around a triangle, relative to its size */
} Crossing;

/* Moeller & Trumbore 1997. */
static bool count_crossing(void *ctx, int item)
{
    Crossing *c = ctx;
    const int *v = c->mesh->triangle[item].vertex;
    st_Vec3 a = c->mesh->vertex[v[0]], u = sub(c->mesh->vertex[v[1]], a), w = sub(c->mesh->vertex[v[2]], a);
    st_Vec3 h = cross(c->d, w), from = sub(c->p, a), q = cross(from, u);
    double det = dot(u, h), x = dot(from, h) / det, y = dot(c->d, q) / det;
    if (det != 0 && x >= -c->slack && y >= -c->slack && x + y <= 1 + c->slack && dot(w, q) / det > 0) c->count++;
    return true;
}

static int count_crossings(const sti_Mesh *mesh, st_Vec3 p, st_Vec3 way, double slack)
{
    Crossing crossing = {mesh, p, way, INFINITY, 0, slack};
    sti_tree_ray(&mesh->tree, p, way, &crossing.limit, count_crossing, &crossing);
    return crossing.count;
}

bool sti_mesh_holds(const sti_Mesh *mesh, st_Vec3 p)
{
    const sti_Bounds at = {p, p};
    sti_Bounds all = mesh->tree.node[0].bounds;
    if (mesh->field) all.lo.z = mesh->bottom;
    if (!bounds_hold(&all, &at)) return false;
    if (mesh->field) return count_crossings(mesh, p, vec3(0, 0, 1), 1e-12) > 0;
    static const st_Vec3 way[3] = {{0.36, 0.48, 0.8}, {-0.8, 0.36, 0.48}, {0.48, -0.8, 0.36}};
    int inside = 0;
    for (int k = 0; k < 3; k++)
        inside += count_crossings(mesh, p, way[k], 0) % 2;
    return inside >= 2;
}

typedef struct Nearest {
    const sti_Mesh *mesh;
    st_Vec3 p, on;
    double within;
    int triangle;
} Nearest;

st_Vec3 sti_mesh_nearest(const sti_Mesh *mesh, int triangle, st_Vec3 p)
{
    const sti_Triangle *t = &mesh->triangle[triangle];
    const st_Vec3 v[3] = {mesh->vertex[t->vertex[0]], mesh->vertex[t->vertex[1]], mesh->vertex[t->vertex[2]]};
    st_Vec3 best = sub(p, scale(dot(t->normal, sub(p, v[0])), t->normal));
    bool over = true;
    double least = INFINITY;
    st_Vec3 on_edge = v[0];
    for (int k = 0; k < 3; k++) {
        st_Vec3 way = sub(v[(k + 1) % 3], v[k]);
        if (dot(cross(way, t->normal), sub(p, v[k])) > 0) over = false;
        double s = fmin(fmax(dot(way, sub(p, v[k])) / dot(way, way), 0), 1);
        st_Vec3 q = add(v[k], scale(s, way));
        double distance = norm(sub(p, q));
        if (distance < least) least = distance, on_edge = q;
    }
    return over ? best : on_edge;
}

/* Of equally near ones the lower number is taken, in any order of visits. */
static bool try_nearest(void *ctx, int item)
{
    Nearest *nearest = ctx;
    st_Vec3 on = sti_mesh_nearest(nearest->mesh, item, nearest->p);
    double distance = norm(sub(nearest->p, on));
    if (distance > nearest->within || (distance == nearest->within && item > nearest->triangle)) return true;
    nearest->within = distance, nearest->on = on, nearest->triangle = item;
    return true;
}

bool sti_mesh_way_out(const sti_Mesh *mesh, st_Vec3 p, st_Vec3 *on, st_Vec3 *normal)
{
    Nearest nearest = {.mesh = mesh, .p = p, .on = p, .within = INFINITY, .triangle = -1};
    sti_Bounds at = {p, p};
    if (!mesh->solid || !sti_mesh_holds(mesh, p)) return false;
    sti_tree_near(&mesh->tree, &at, &nearest.within, try_nearest, &nearest);
    st_Vec3 up = mesh->triangle[nearest.triangle].normal;
    *on = nearest.on;
    /* a point on the surface has no direction: use the normal of the triangle */
    *normal = nearest.within > 0 ? scale(1 / nearest.within, sub(nearest.on, p)) : up;
    return dot(*normal, up) > 0; /* a mesh with triangles that face inward, a room, is not left */
}
