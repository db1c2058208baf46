/* collide/shape.c -- compiles a def to a shape, by the descriptor of its type. */
#include "collide/shape.h"

#include "base/assert.h"
#include "base/range.h"

const sti_ShapeDescriptor *sti_shape_descriptor(st_ShapeType type)
{
#define ROW(type, descriptor) [type] = &(descriptor),
    static const sti_ShapeDescriptor *const table[ST_N_SHAPE_TYPES] = {STI_SHAPES(ROW)};
#undef ROW
    return (int)type >= 0 && (int)type < ST_N_SHAPE_TYPES ? table[type] : NULL;
}

const char *st_shape_type_name(st_ShapeType type)
{
    const sti_ShapeDescriptor *of = sti_shape_descriptor(type);
    return of != NULL ? of->word : NULL;
}

uint32_t st_shape_type_members(st_ShapeType type)
{
    const sti_ShapeDescriptor *of = sti_shape_descriptor(type);
    return of != NULL ? of->members : 0;
}

st_Status sti_shape_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    *out = (sti_Shape){.of = sti_shape_descriptor(def->type), .type = def->type};
    ST_ASSERT(out->of != NULL);
    return out->of->compile(def, allocator, out, err);
}

void sti_shape_free(const st_Allocator *allocator, sti_Shape *shape)
{
    sti_hull_free(allocator, shape->hull);
    sti_mesh_free(allocator, shape->mesh);
    *shape = (sti_Shape){.of = &sti_point, .type = ST_SHAPE_POINT};
}

st_Status sti_shape_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    *out = (sti_MassProperties){0};
    return def->density == 0 || shape->of->mass == NULL ? ST_OK : shape->of->mass(def, shape, out, err);
}

/* ---- functions for descriptors -------------------------------------------------------------------- */

st_Status sti_check_size(const char *what, double x, st_Error *err)
{
    if (sti_between(x, STI_SHORTEST, STI_LONGEST)) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s is %g, must be from %g to %g", what, x, STI_SHORTEST, STI_LONGEST);
}

st_Status sti_check_half(const st_ShapeDef *def, st_Error *err)
{
    STI_TRY(sti_check_size("size along x", 2 * def->half.x, err));
    STI_TRY(sti_check_size("size along y", 2 * def->half.y, err));
    return sti_check_size("size along z", 2 * def->half.z, err);
}

st_Status sti_check_points(const st_Vec3 *p, int n, st_Error *err)
{
    for (int k = 0; k < n; k++)
        if (!sti_within(p[k].x, STI_LONGEST) || !sti_within(p[k].y, STI_LONGEST) || !sti_within(p[k].z, STI_LONGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "points: number %d is (%g, %g, %g), each must be from %g to %g", k,
                            p[k].x, p[k].y, p[k].z, -STI_LONGEST, STI_LONGEST);
    return ST_OK;
}

void sti_shape_hold_box(const sti_Bounds *b, sti_Shape *out)
{
    out->middle = scale(0.5, add(b->lo, b->hi));
    out->half = scale(0.5, sub(b->hi, b->lo));
    out->reach = norm(out->half);
}

void sti_shape_hold_points(const st_Vec3 *p, int n, sti_Shape *out)
{
    sti_Bounds b = {p[0], p[0]};
    for (int k = 1; k < n; k++)
        b = bounds_union(b, (sti_Bounds){p[k], p[k]});
    sti_shape_hold_box(&b, out);
    out->reach = 0; /* at most that of the box */
    for (int k = 0; k < n; k++)
        out->reach = fmax(out->reach, norm(sub(p[k], out->middle)));
}

sti_Bounds sti_ball_bounds(const sti_Shape *shape, st_Pose pose)
{
    const double r = shape->reach;
    return sti_bounds_around(pose_point(pose, shape->middle), vec3(r, r, r));
}

sti_Bounds sti_box_and_ball_bounds(const sti_Shape *shape, st_Pose pose)
{
    const double r = shape->reach;
    /* rotated, the ball is smaller */
    if (0.5 * (shape->half.x + shape->half.y + shape->half.z) > r) return sti_ball_bounds(shape, pose);
    const st_Mat3 R = quat_matrix(pose.q);
    const st_Vec3 half = sti_turned_half(&R, shape->half);
    return sti_bounds_around(pose_point(pose, shape->middle),
                             vec3(half.x < r ? half.x : r, half.y < r ? half.y : r, half.z < r ? half.z : r));
}

sti_Bounds sti_segment_bounds(st_Vec3 middle, st_Vec3 axis, double half, double radius)
{
    return sti_bounds_around(
        middle, vec3(half * fabs(axis.x) + radius, half * fabs(axis.y) + radius, half * fabs(axis.z) + radius));
}
