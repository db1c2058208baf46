/* collide/shapes/sphere.c */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status sphere_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_size("radius", def->radius, err));
    out->radius = out->reach = def->radius;
    out->thick = 2 * def->radius;
    return ST_OK;
}

static st_Status sphere_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double r = def->radius, m = def->density * 4.0 / 3.0 * STI_PI * r * r * r;
    sti_mass_diagonal(out, m, m * r * r / 5, m * r * r / 5, m * r * r / 5);
    return ST_OK;
}

static void sphere_core(const sti_Shape *shape, sti_Core *core)
{
    core->radius = shape->radius;
}

static void sphere_ray(const sti_Shape *shape, sti_Ray *ray)
{
    sti_ray_cut_ball(ray, vec3(0, 0, 0), shape->radius);
}

static void sphere_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    sti_surface_ellipsoid(out, vec3(def->radius, def->radius, def->radius));
}

const sti_ShapeDescriptor sti_sphere = {
    .word = "sphere",
    .members = ST_MEMBER_RADIUS | ST_MEMBER_DENSITY,
    .density = 1000,
    .family = STI_FAMILY_SPHERES,
    .smooth = true,
    .compile = sphere_compile,
    .bounds = sti_ball_bounds,
    .mass = sphere_mass,
    .core = sphere_core,
    .ray = sphere_ray,
    .surface = sphere_surface,
};
