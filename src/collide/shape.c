/* collide/shape.c -- from a def to a compiled shape, and the box around it. */
#include "collide/shape.h"

#include "base/range.h"

static st_Status check_size(const char *what, double x, st_Error *err)
{
    if (sti_between(x, STI_SHORTEST, STI_LONGEST)) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s is %g, must be from %g to %g", what, x, STI_SHORTEST, STI_LONGEST);
}

static st_Status check_half(const st_ShapeDef *def, st_Error *err)
{
    /* twice the half, as scenes give it */
    STI_TRY(check_size("size along x", 2 * def->half.x, err));
    STI_TRY(check_size("size along y", 2 * def->half.y, err));
    return check_size("size along z", 2 * def->half.z, err);
}

st_Status sti_check_points(const st_Vec3 *p, int n, st_Error *err)
{
    for (int k = 0; k < n; k++)
        if (!sti_within(p[k].x, STI_LONGEST) || !sti_within(p[k].y, STI_LONGEST) || !sti_within(p[k].z, STI_LONGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "points: number %d is (%g, %g, %g), each must be from %g to %g", k,
                            p[k].x, p[k].y, p[k].z, -STI_LONGEST, STI_LONGEST);
    return ST_OK;
}

static void hold_box(const sti_Bounds *b, sti_Shape *out)
{
    out->middle = scale(0.5, add(b->lo, b->hi));
    out->half = scale(0.5, sub(b->hi, b->lo));
}

/* The points' bounds, and the ball about the middle of them. */
static void hold_points(const st_Vec3 *p, int n, sti_Shape *out)
{
    sti_Bounds b = {p[0], p[0]};
    for (int k = 1; k < n; k++)
        b = bounds_union(b, (sti_Bounds){p[k], p[k]});
    hold_box(&b, out);
    for (int k = 0; k < n; k++)
        out->reach = fmax(out->reach, norm(sub(p[k], out->middle)));
}

/* The least width of a polytope between one of its faces and the corner farthest from it; two edges across each other
 * can be nearer, by less than half.                                                               */
static double least_width(const sti_Facets *f)
{
    double least = INFINITY;
    for (int face = 0; face < f->n_faces; face++) {
        double deepest = 0;
        for (int k = 0; k < f->n_vertices; k++)
            deepest = fmax(deepest, f->offset[face] - dot(f->normal[face], f->vertex[k]));
        least = fmin(least, deepest);
    }
    return least;
}

static double thickness(const sti_Shape *shape)
{
    switch (shape->type) {
    case ST_SHAPE_SPHERE:
    case ST_SHAPE_CAPSULE:
        return 2 * shape->radius;
    case ST_SHAPE_CYLINDER:
    case ST_SHAPE_CONE:
        return fmin(2 * shape->radius, shape->length);
    case ST_SHAPE_BOX:
    case ST_SHAPE_ELLIPSOID:
        return 2 * fmin(shape->half.x, fmin(shape->half.y, shape->half.z));
    case ST_SHAPE_HULL:
        return least_width(&shape->hull->facets);
    default:
        return 0;
    }
}

st_Status sti_shape_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    sti_Bounds ground;
    *out = (sti_Shape){.type = def->type};
    switch (def->type) {
    case ST_SHAPE_POINT:
        break;
    case ST_SHAPE_PLANE:
        out->reach = INFINITY;
        break;
    case ST_SHAPE_BAR:
        STI_TRY(check_size("length", def->length, err));
        out->length = def->length;
        out->reach = 0.5 * def->length;
        break;
    case ST_SHAPE_SPHERE:
        STI_TRY(check_size("radius", def->radius, err));
        out->radius = out->reach = def->radius;
        break;
    case ST_SHAPE_CAPSULE:
    case ST_SHAPE_CYLINDER:
    case ST_SHAPE_CONE:
        STI_TRY(check_size("radius", def->radius, err));
        STI_TRY(check_size("length", def->length, err));
        out->radius = def->radius;
        out->length = def->length;
        out->reach =
            def->type == ST_SHAPE_CAPSULE ? 0.5 * def->length + def->radius : hypot(def->radius, 0.5 * def->length);
        if (def->type == ST_SHAPE_CONE) out->middle = vec3(0, 0, 0.25 * def->length);
        break;
    case ST_SHAPE_BOX:
        STI_TRY(check_half(def, err));
        out->half = def->half;
        out->reach = norm(def->half);
        break;
    case ST_SHAPE_ELLIPSOID:
        STI_TRY(check_half(def, err));
        out->half = def->half;
        out->reach = fmax(def->half.x, fmax(def->half.y, def->half.z));
        break;
    case ST_SHAPE_HULL:
        STI_TRY(sti_hull_create(def->points, def->n_points, allocator, &out->hull, err));
        hold_points(out->hull->facets.vertex, out->hull->facets.n_vertices, out);
        break;
    case ST_SHAPE_MESH:
        STI_TRY(
            sti_mesh_create(def->points, def->n_points, def->triangles, def->n_triangles, allocator, &out->mesh, err));
        hold_points(out->mesh->vertex, out->mesh->n_vertices, out);
        break;
    case ST_SHAPE_HEIGHT_FIELD:
        STI_TRY(sti_mesh_from_heights(def, allocator, &out->mesh, err));
        ground = out->mesh->tree.node[0].bounds;
        ground.lo.z = out->mesh->bottom;
        hold_box(&ground, out);
        out->reach = norm(out->half);
        break;
    }
    out->thick = thickness(out);
    return ST_OK;
}

void sti_shape_free(const st_Allocator *allocator, sti_Shape *shape)
{
    sti_hull_free(allocator, shape->hull);
    sti_mesh_free(allocator, shape->mesh);
    *shape = (sti_Shape){.type = ST_SHAPE_POINT};
}

/* Half the extents of a turned ellipsoid: its supports along the axes. */
static st_Vec3 turned_ellipsoid(const st_Mat3 *R, st_Vec3 half)
{
    const double *m = R->m;
    return vec3(norm(vec3(m[0] * half.x, m[1] * half.y, m[2] * half.z)),
                norm(vec3(m[3] * half.x, m[4] * half.y, m[5] * half.z)),
                norm(vec3(m[6] * half.x, m[7] * half.y, m[8] * half.z)));
}

/* Half the extents of a turned box, |R| half. */
static st_Vec3 turned_half(const st_Mat3 *R, st_Vec3 half)
{
    const double *m = R->m;
    return vec3(fabs(m[0]) * half.x + fabs(m[1]) * half.y + fabs(m[2]) * half.z,
                fabs(m[3]) * half.x + fabs(m[4]) * half.y + fabs(m[5]) * half.z,
                fabs(m[6]) * half.x + fabs(m[7]) * half.y + fabs(m[8]) * half.z);
}

static sti_Bounds around(st_Vec3 middle, st_Vec3 half)
{
    return (sti_Bounds){sub(middle, half), add(middle, half)};
}

sti_Bounds sti_shape_bounds(const sti_Shape *shape, st_Pose pose)
{
    double r = shape->reach;
    st_Mat3 R;
    switch (shape->type) {
    case ST_SHAPE_BOX:
        R = quat_matrix(pose.q);
        return around(pose.p, turned_half(&R, shape->half));
    case ST_SHAPE_BAR:
    case ST_SHAPE_CAPSULE: {
        st_Vec3 axis = rotate(pose.q, shape->type == ST_SHAPE_BAR ? vec3(1, 0, 0) : vec3(0, 0, 1));
        double h = 0.5 * shape->length, around_it = shape->radius;
        return around(pose.p,
                      vec3(h * fabs(axis.x) + around_it, h * fabs(axis.y) + around_it, h * fabs(axis.z) + around_it));
    }
    case ST_SHAPE_CYLINDER:
    case ST_SHAPE_CONE:
        R = quat_matrix(pose.q);
        return around(pose_point(pose, shape->middle),
                      turned_half(&R, vec3(shape->radius, shape->radius, 0.5 * shape->length)));
    case ST_SHAPE_ELLIPSOID:
        R = quat_matrix(pose.q);
        return around(pose.p, turned_ellipsoid(&R, shape->half));
    case ST_SHAPE_HULL:
    case ST_SHAPE_MESH:
    case ST_SHAPE_HEIGHT_FIELD: { /* both the turned box and the ball hold it */
        if (0.5 * (shape->half.x + shape->half.y + shape->half.z) > r) break; /* as it turns the ball is the smaller */
        R = quat_matrix(pose.q);
        st_Vec3 half = turned_half(&R, shape->half);
        half = vec3(half.x < r ? half.x : r, half.y < r ? half.y : r, half.z < r ? half.z : r);
        return around(pose_point(pose, shape->middle), half);
    }
    case ST_SHAPE_POINT:
    case ST_SHAPE_SPHERE:
    case ST_SHAPE_PLANE:
        break;
    }
    return around(pose_point(pose, shape->middle), vec3(r, r, r));
}
