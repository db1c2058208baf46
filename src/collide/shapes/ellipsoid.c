/* collide/shapes/ellipsoid.c -- an ellipsoid with semi-axes `half`; in a planar scene an ellipse. */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status ellipsoid_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_half(def, err));
    out->half = def->half;
    out->reach = fmax(def->half.x, fmax(def->half.y, def->half.z));
    out->thick = 2 * fmin(def->half.x, fmin(def->half.y, def->half.z));
    return ST_OK;
}

/* Its support points along the axes. */
static sti_Bounds ellipsoid_bounds(const sti_Shape *shape, st_Pose pose)
{
    const st_Mat3 R = quat_matrix(pose.q);
    const double *m = R.m;
    const st_Vec3 half = shape->half;
    return sti_bounds_around(pose.p, vec3(norm(vec3(m[0] * half.x, m[1] * half.y, m[2] * half.z)),
                                          norm(vec3(m[3] * half.x, m[4] * half.y, m[5] * half.z)),
                                          norm(vec3(m[6] * half.x, m[7] * half.y, m[8] * half.z))));
}

static st_Status ellipsoid_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double x = def->half.x, y = def->half.y, z = def->half.z, m = def->density * 4.0 / 3.0 * STI_PI * x * y * z;
    sti_mass_diagonal(out, m, m * x * x / 5, m * y * y / 5, m * z * z / 5);
    return ST_OK;
}

static void ellipsoid_core(const sti_Shape *shape, sti_Core *core)
{
    core->kind = STI_CORE_ELLIPSOID;
    core->half = shape->half;
    core->size = fmax(shape->half.x, fmax(shape->half.y, shape->half.z));
}

static void ellipsoid_ray(const sti_Shape *shape, sti_Ray *ray)
{
    sti_ray_cut_ellipsoid(ray, shape->half);
}

static void ellipsoid_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    sti_surface_ellipsoid(out, def->half);
}

const sti_ShapeDescriptor sti_ellipsoid = {
    .word = "ellipsoid",
    .members = ST_MEMBER_HALF | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION,
    .density = 1000,
    .family = STI_FAMILY_CONVEX,
    .smooth = true,
    .compile = ellipsoid_compile,
    .bounds = ellipsoid_bounds,
    .mass = ellipsoid_mass,
    .core = ellipsoid_core,
    .ray = ellipsoid_ray,
    .surface = ellipsoid_surface,
};
