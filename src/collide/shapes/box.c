/* collide/shapes/box.c -- a box, and its facets. */
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"

/* Corner k has + along x, y, z where bit 0, 1, 2 of k is set. Face 2 e + s: axis e, + where s = 1. */
static const int box_face_first[7] = {0, 4, 8, 12, 16, 20, 24};
static const int box_face_vertex[24] = {
    0, 4, 6, 2, 1, 3, 7, 5, /* -x, +x */
    0, 1, 5, 4, 2, 6, 7, 3, /* -y, +y */
    0, 2, 3, 1, 4, 5, 7, 6, /* -z, +z */
};
static const int box_edge[48] = {
    0, 1, 2, 4, 2, 3, 3, 4, 4, 5, 2, 5, 6, 7, 3, 5, /* along x: faces -y -z, +y -z, -y +z, +y +z */
    0, 2, 0, 4, 1, 3, 1, 4, 4, 6, 0, 5, 5, 7, 1, 5, /* along y */
    0, 4, 0, 2, 1, 5, 1, 2, 2, 6, 0, 3, 3, 7, 1, 3, /* along z */
};
static const st_Vec3 box_vertex[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                      {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const st_Vec3 box_normal[6] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
static const double box_offset[6] = {1, 1, 1, 1, 1, 1};
/* In units of the half extents: vertices are scaled when read, normals do not change. */
static const sti_Facets box_facets = {
    8, 6, 12, box_vertex, box_face_first, box_face_vertex, box_normal, box_offset, box_edge, NULL, NULL};

static st_Status box_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_half(def, err));
    out->half = def->half;
    out->reach = norm(def->half);
    out->thick = 2 * fmin(def->half.x, fmin(def->half.y, def->half.z));
    return ST_OK;
}

static sti_Bounds box_bounds(const sti_Shape *shape, st_Pose pose)
{
    const st_Mat3 R = quat_matrix(pose.q);
    return sti_bounds_around(pose.p, sti_turned_half(&R, shape->half));
}

static st_Status box_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double x = def->half.x, y = def->half.y, z = def->half.z, m = def->density * 8 * x * y * z;
    sti_mass_diagonal(out, m, m * x * x / 3, m * y * y / 3, m * z * z / 3);
    return ST_OK;
}

static void box_core(const sti_Shape *shape, sti_Core *core)
{
    core->kind = STI_CORE_BOX;
    core->half = shape->half;
    core->facets = &box_facets;
    core->size = norm(shape->half);
}

static void box_ray(const sti_Shape *shape, sti_Ray *ray)
{
    const double half[3] = {shape->half.x, shape->half.y, shape->half.z};
    for (int e = 0; e < 3; e++) {
        sti_ray_cut_half_space(ray, vec3_axis(e), half[e]);
        sti_ray_cut_half_space(ray, scale(-1, vec3_axis(e)), half[e]);
    }
}

static void box_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    sti_surface_box(out, def->half);
}

const sti_ShapeDescriptor sti_box = {
    .word = "box",
    .members = ST_MEMBER_HALF | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION,
    .density = 1000,
    .family = STI_FAMILY_BOXES,
    .compile = box_compile,
    .bounds = box_bounds,
    .mass = box_mass,
    .core = box_core,
    .ray = box_ray,
    .surface = box_surface,
};
