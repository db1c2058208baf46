/* collide/shapes/cylinder.c -- a cylinder along z. */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status cylinder_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_size("radius", def->radius, err));
    STI_TRY(sti_check_size("length", def->length, err));
    out->radius = def->radius;
    out->length = def->length;
    out->reach = hypot(def->radius, 0.5 * def->length);
    out->thick = fmin(2 * def->radius, def->length);
    return ST_OK;
}

static sti_Bounds cylinder_bounds(const sti_Shape *shape, st_Pose pose)
{
    const st_Mat3 R = quat_matrix(pose.q);
    return sti_bounds_around(pose_point(pose, shape->middle),
                             sti_turned_half(&R, vec3(shape->radius, shape->radius, 0.5 * shape->length)));
}

static st_Status cylinder_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double r = def->radius, l = def->length, m = STI_PI * r * r * def->density * l;
    sti_mass_diagonal(out, m, m * r * r / 4, m * r * r / 4, m * l * l / 12);
    return ST_OK;
}

static void cylinder_core(const sti_Shape *shape, sti_Core *core)
{
    core->kind = STI_CORE_CYLINDER;
    core->extent = shape->radius;
    core->lo = -0.5 * shape->length, core->hi = 0.5 * shape->length;
    core->size = hypot(shape->radius, core->hi);
}

static void cylinder_ray(const sti_Shape *shape, sti_Ray *ray)
{
    sti_ray_cut_tube(ray, shape->radius);
    sti_ray_cut_half_space(ray, vec3(0, 0, 1), 0.5 * shape->length);
    sti_ray_cut_half_space(ray, vec3(0, 0, -1), 0.5 * shape->length);
}

static void cylinder_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    const double r = def->radius, l = def->length;
    sti_surface_turned(out, (const double[4][2]){{0, -l / 2}, {r, -l / 2}, {r, l / 2}, {0, l / 2}}, 4, 1, 1);
}

const sti_ShapeDescriptor sti_cylinder = {
    .word = "cylinder",
    .members = ST_MEMBER_RADIUS | ST_MEMBER_LENGTH | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION | ST_MEMBER_AXIS_Z,
    .density = 1000,
    .family = STI_FAMILY_CONVEX,
    .compile = cylinder_compile,
    .bounds = cylinder_bounds,
    .mass = cylinder_mass,
    .core = cylinder_core,
    .ray = cylinder_ray,
    .surface = cylinder_surface,
};
