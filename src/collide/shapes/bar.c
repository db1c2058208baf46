/* collide/shapes/bar.c -- a segment along x. */
#include "collide/narrow/support.h"
#include "collide/surface.h"

static st_Status bar_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_size("length", def->length, err));
    out->length = def->length;
    out->reach = 0.5 * def->length;
    return ST_OK;
}

static sti_Bounds bar_bounds(const sti_Shape *shape, st_Pose pose)
{
    return sti_segment_bounds(pose.p, rotate(pose.q, vec3(1, 0, 0)), 0.5 * shape->length, 0);
}

static st_Status bar_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double m = def->density * def->length;
    sti_mass_diagonal(out, m, m * def->length * def->length / 12, 0, 0);
    return ST_OK;
}

static void bar_core(const sti_Shape *shape, sti_Core *core)
{
    core_set_segment(core, 0, 0.5 * shape->length);
}

static void bar_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    sti_surface_box(out, vec3(def->length / 2, 0.005 * size, 0.005 * size));
}

const sti_ShapeDescriptor sti_bar = {
    .word = "bar",
    .members = ST_MEMBER_LENGTH | ST_MEMBER_LINE_DENSITY | ST_MEMBER_ORIENTATION | ST_MEMBER_AXIS_X,
    .density = 1, /* per metre */
    .family = STI_FAMILY_BARS,
    .compile = bar_compile,
    .bounds = bar_bounds,
    .mass = bar_mass,
    .core = bar_core,
    .surface = bar_surface,
};
