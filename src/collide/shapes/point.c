/* collide/shapes/point.c */
#include "collide/surface.h"

static st_Status point_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)def, (void)allocator, (void)out, (void)err;
    return ST_OK;
}

static void point_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)def;
    sti_surface_ellipsoid(out, vec3(0.01 * size, 0.01 * size, 0.01 * size));
}

const sti_ShapeDescriptor sti_point = {
    .word = "point",
    .density = 1000,
    .family = STI_FAMILY_POINTS,
    .compile = point_compile,
    .bounds = sti_ball_bounds,
    .surface = point_surface,
};
