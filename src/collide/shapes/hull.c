/* collide/shapes/hull.c -- the convex hull of points (collide/hull.c). */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

#include <stdlib.h>

/* `thick` is the least distance between a face of the polytope and the corner farthest from it; two edges across
 * each other can be nearer, by less than half. */
static st_Status hull_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    STI_TRY(sti_hull_create(def->points, def->n_points, allocator, &out->hull, err));
    const sti_Facets *f = &out->hull->facets;
    sti_shape_hold_points(f->vertex, f->n_vertices, out);
    out->thick = INFINITY;
    for (int face = 0, far = 0; face < f->n_faces; face++) { /* until a corner is as far as the least width so far */
        double deepest = 0;
        for (int k = 0, at = far; k < f->n_vertices && deepest < out->thick; k++, at = (at + 1) % f->n_vertices) {
            const double depth = f->offset[face] - dot(f->normal[face], f->vertex[at]);
            if (depth > deepest) deepest = depth, far = at;
        }
        out->thick = fmin(out->thick, deepest);
    }
    return ST_OK;
}

static st_Status hull_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)err;
    const sti_Facets *f = &shape->hull->facets;
    sti_VolumeSum sum = {0};
    for (int k = 0; k < f->n_faces; k++) {
        const int *loop = f->face_vertex + f->face_first[k];
        for (int i = 1; i + 1 < f->face_first[k + 1] - f->face_first[k]; i++)
            sti_volume_add(&sum, f->vertex[loop[0]], f->vertex[loop[i]], f->vertex[loop[i + 1]]);
    }
    sti_volume_mass(&sum, def->density, out);
    return ST_OK;
}

static void hull_core(const sti_Shape *shape, sti_Core *core)
{
    core->kind = STI_CORE_HULL;
    core->facets = &shape->hull->facets;
    core->size = norm(shape->middle) + shape->reach;
}

static void hull_ray(const sti_Shape *shape, sti_Ray *ray)
{
    const sti_Facets *f = &shape->hull->facets;
    for (int k = 0; k < f->n_faces; k++)
        sti_ray_cut_half_space(ray, f->normal[k], f->offset[k]);
}

static void hull_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    st_Vec3 *corner = NULL;
    int *triangle = NULL, n_corners = 0, n_triangles = 0;
    out->status = st_hull_faces(def->points, def->n_points, &corner, &n_corners, &triangle, &n_triangles, out->err);
    for (int k = 0; k < n_corners; k++)
        sti_surface_point(out, corner[k]);
    for (int k = 0; k < n_triangles; k++)
        sti_surface_triangle(out, triangle[3 * k], triangle[3 * k + 1], triangle[3 * k + 2]);
    free(corner);
    free(triangle);
}

const sti_ShapeDescriptor sti_hull = {
    .word = "hull",
    .members = ST_MEMBER_POINTS | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION,
    .density = 1000,
    .family = STI_FAMILY_CONVEX,
    .compile = hull_compile,
    .bounds = sti_box_and_ball_bounds,
    .mass = hull_mass,
    .core = hull_core,
    .ray = hull_ray,
    .surface = hull_surface,
};
