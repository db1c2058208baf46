/* draw/outline.c -- points of a shape with the same convex outline as the shape, from any direction. */
#include "draw/outline.h"

#include "base/base.h"

/* Adds every k-th of many points: a picture needs no more. */
static int add_some(st_Pose pose, const st_Vec3 *points, int n_points, st_Vec3 *out)
{
    int n = 0, stride = n_points / STI_OUTLINE_POINTS + 1;
    for (int k = 0; k < n_points; k += stride)
        out[n++] = pose_point(pose, points[k]);
    return n;
}

int sti_outline(const st_ShapeDef *shape, st_Pose pose, st_Vec3 out[STI_OUTLINE_POINTS])
{
    const st_Vec3 half = vec3(0.5 * shape->length, 0, 0);
    st_Surface surface;
    int n = 0;
    switch (shape->type) {
    case ST_SHAPE_BAR:
        out[0] = pose_point(pose, half);
        out[1] = pose_point(pose, scale(-1, half));
        return 2;
    case ST_SHAPE_HULL:
    case ST_SHAPE_MESH:
        return add_some(pose, shape->points, shape->n_points, out);
    case ST_SHAPE_HEIGHT_FIELD: {
        int k = 0, stride = 1;
        while ((shape->n_x / stride + 1) * (shape->n_y / stride + 1) > STI_OUTLINE_POINTS)
            stride++;
        for (int j = 0; j < shape->n_y; j += stride)
            for (int i = 0; i < shape->n_x; i += stride)
                out[k++] = pose_point(pose, vec3((i - 0.5 * (shape->n_x - 1)) * shape->spacing,
                                                 (j - 0.5 * (shape->n_y - 1)) * shape->spacing,
                                                 shape->heights[j * shape->n_x + i]));
        return k;
    }
    case ST_SHAPE_POINT:
    case ST_SHAPE_SPHERE:
    case ST_SHAPE_PLANE:
        break;
    default: /* corners of its surface */
        if (st_shape_surface(shape, 0, &surface, NULL) != ST_OK) break;
        n = add_some(pose, surface.points, surface.n_points, out);
        st_surface_free(&surface);
        return n;
    }
    out[0] = pose.p;
    return 1;
}
