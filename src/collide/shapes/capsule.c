/* collide/shapes/capsule.c -- all points within a radius of a segment along z. */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status capsule_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_size("radius", def->radius, err));
    STI_TRY(sti_check_size("length", def->length, err));
    out->radius = def->radius;
    out->length = def->length;
    out->reach = 0.5 * def->length + def->radius;
    out->thick = 2 * def->radius;
    return ST_OK;
}

static sti_Bounds capsule_bounds(const sti_Shape *shape, st_Pose pose)
{
    return sti_segment_bounds(pose.p, rotate(pose.q, vec3(0, 0, 1)), 0.5 * shape->length, shape->radius);
}

/* A cylinder, and two half balls whose flat sides are at +-l/2. */
static st_Status capsule_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double r = def->radius, l = def->length, disc = STI_PI * r * r * def->density;
    const double tube = disc * l, ball = disc * r * 4 / 3, S = tube * r * r / 4 + ball * r * r / 5;
    sti_mass_diagonal(out, tube + ball, S, S,
                      tube * l * l / 12 + ball * (r * r / 5 + l * l / 4 + 2 * (l / 2) * (3 * r / 8)));
    return ST_OK;
}

static void capsule_core(const sti_Shape *shape, sti_Core *core)
{
    core->radius = shape->radius;
    core_set_segment(core, 2, 0.5 * shape->length);
}

/* A tube and two balls: the ray enters the capsule where it first enters one of them. */
static void capsule_ray(const sti_Shape *shape, sti_Ray *ray)
{
    const double r = shape->radius, half = 0.5 * shape->length;
    sti_Ray part[3] = {*ray, *ray, *ray};
    sti_ray_cut_tube(&part[0], r);
    sti_ray_cut_half_space(&part[0], vec3(0, 0, 1), half);
    sti_ray_cut_half_space(&part[0], vec3(0, 0, -1), half);
    sti_ray_cut_ball(&part[1], vec3(0, 0, half), r);
    sti_ray_cut_ball(&part[2], vec3(0, 0, -half), r);
    ray->missed = true;
    const double z = fmin(fmax(ray->p.z, -half), half);
    if (norm(sub(ray->p, vec3(0, 0, z))) <= r) return; /* starts inside */
    for (int k = 0; k < 3; k++)
        if (sti_ray_entered(&part[k], INFINITY) && (ray->missed || part[k].enter < ray->enter)) *ray = part[k];
}

static void capsule_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    enum { RINGS = STI_SURFACE_RINGS };
    double profile[RINGS + 2][2];
    for (int k = 0; k <= RINGS + 1; k++) {
        int ring = k <= RINGS / 2 ? k : k - 1; /* the equator twice: the cylinder between */
        double angle = STI_PI * ring / RINGS, middle = k <= RINGS / 2 ? -def->length / 2 : def->length / 2;
        profile[k][0] = ring == 0 || ring == RINGS ? 0 : def->radius * sin(angle);
        profile[k][1] = middle - def->radius * cos(angle);
    }
    sti_surface_turned(out, (const double(*)[2])profile, RINGS + 2, 1, 1);
}

const sti_ShapeDescriptor sti_capsule = {
    .word = "capsule",
    .members = ST_MEMBER_RADIUS | ST_MEMBER_INNER_LENGTH | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION | ST_MEMBER_AXIS_Z,
    .density = 1000,
    .family = STI_FAMILY_CAPSULES,
    .smooth = true,
    .compile = capsule_compile,
    .bounds = capsule_bounds,
    .mass = capsule_mass,
    .core = capsule_core,
    .ray = capsule_ray,
    .surface = capsule_surface,
};
