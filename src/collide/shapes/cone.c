/* collide/shapes/cone.c -- a cone along z. Its origin is its centre of mass: base at -length/4, apex at 3 length/4. */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status cone_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_size("radius", def->radius, err));
    STI_TRY(sti_check_size("length", def->length, err));
    out->radius = def->radius;
    out->length = def->length;
    out->middle = vec3(0, 0, 0.25 * def->length);
    out->reach = hypot(def->radius, 0.5 * def->length);
    out->thick = fmin(2 * def->radius, def->length);
    return ST_OK;
}

static sti_Bounds cone_bounds(const sti_Shape *shape, st_Pose pose)
{
    const st_Mat3 R = quat_matrix(pose.q);
    return sti_bounds_around(pose_point(pose, shape->middle),
                             sti_turned_half(&R, vec3(shape->radius, shape->radius, 0.5 * shape->length)));
}

static st_Status cone_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double r = def->radius, l = def->length, m = STI_PI * r * r * def->density * l / 3;
    sti_mass_diagonal(out, m, m * r * r * 3 / 20, m * r * r * 3 / 20, m * l * l * 3 / 80);
    return ST_OK;
}

static void cone_core(const sti_Shape *shape, sti_Core *core)
{
    core->kind = STI_CORE_CONE;
    core->extent = shape->radius;
    core->lo = -0.25 * shape->length, core->hi = 0.75 * shape->length;
    core->size = fmax(core->hi, hypot(shape->radius, core->lo));
}

static void cone_ray(const sti_Shape *shape, sti_Ray *ray)
{
    sti_ray_cut_cone(ray, shape->radius / shape->length, 0.75 * shape->length);
    sti_ray_cut_half_space(ray, vec3(0, 0, -1), 0.25 * shape->length);
}

static void cone_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    const double r = def->radius, l = def->length;
    sti_surface_turned(out, (const double[3][2]){{0, -l / 4}, {r, -l / 4}, {0, 3 * l / 4}}, 3, 1, 1);
}

const sti_ShapeDescriptor sti_cone = {
    .word = "cone",
    .members = ST_MEMBER_RADIUS | ST_MEMBER_LENGTH | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION | ST_MEMBER_AXIS_Z,
    .density = 1000,
    .family = STI_FAMILY_CONVEX,
    .compile = cone_compile,
    .bounds = cone_bounds,
    .mass = cone_mass,
    .core = cone_core,
    .ray = cone_ray,
    .surface = cone_surface,
};
