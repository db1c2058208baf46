/* collide/shapes/plane.c -- the half space z < 0. */
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status plane_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)def, (void)allocator, (void)err;
    out->reach = INFINITY;
    return ST_OK;
}

static void plane_ray(const sti_Shape *shape, sti_Ray *ray)
{
    (void)shape;
    sti_ray_cut_half_space(ray, vec3(0, 0, 1), 0);
}

static void plane_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)def;
    const double h = size / 2;
    const int first = sti_surface_point(out, vec3(-h, -h, 0));
    sti_surface_point(out, vec3(h, -h, 0));
    sti_surface_point(out, vec3(h, h, 0));
    sti_surface_point(out, vec3(-h, h, 0));
    sti_surface_triangle(out, first, first + 1, first + 2);
    sti_surface_triangle(out, first, first + 2, first + 3);
}

const sti_ShapeDescriptor sti_plane = {
    .word = "plane",
    .members = ST_MEMBER_ORIENTATION | ST_MEMBER_NORMAL,
    .density = 1000,
    .family = STI_FAMILY_PLANES,
    .compile = plane_compile,
    .bounds = sti_ball_bounds,
    .ray = plane_ray,
    .surface = plane_surface,
};
