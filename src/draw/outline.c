/* draw/outline.c -- points whose convex outline, as seen from anywhere, is that of a shape. */
#include "draw/outline.h"

#include "base/base.h"

#define AROUND 24 /* points on a circle */

static int add_ring(st_Pose pose, double radius, double z, st_Vec3 *out)
{
    for (int k = 0; k < AROUND; k++) {
        double angle = 2 * STI_PI * k / AROUND;
        out[k] = pose_point(pose, vec3(radius * cos(angle), radius * sin(angle), z));
    }
    return AROUND;
}

/* Rings of an ellipsoid with semi-axes `half`, its middle at height z. */
static int add_ball(st_Pose pose, st_Vec3 half, double z, st_Vec3 *out)
{
    int n = 0;
    for (int ring = -3; ring <= 3; ring++) {
        double s = sin(0.5 * ring), c = cos(0.5 * ring);
        for (int k = 0; k < AROUND; k++) {
            double angle = 2 * STI_PI * k / AROUND;
            out[n++] = pose_point(pose, vec3(c * half.x * cos(angle), c * half.y * sin(angle), z + s * half.z));
        }
    }
    return n;
}

/* Of many points every so-manieth: a picture needs no more. */
static int add_some(st_Pose pose, const st_Vec3 *points, int n_points, st_Vec3 *out)
{
    int n = 0, stride = n_points / STI_OUTLINE_POINTS + 1;
    for (int k = 0; k < n_points; k += stride)
        out[n++] = pose_point(pose, points[k]);
    return n;
}

static int add_heights(st_Pose pose, const st_ShapeDef *shape, st_Vec3 *out)
{
    int n = 0, stride = 1;
    while ((shape->n_x / stride + 1) * (shape->n_y / stride + 1) > STI_OUTLINE_POINTS)
        stride++;
    for (int j = 0; j < shape->n_y; j += stride)
        for (int i = 0; i < shape->n_x; i += stride)
            out[n++] = pose_point(pose, vec3((i - 0.5 * (shape->n_x - 1)) * shape->spacing,
                                             (j - 0.5 * (shape->n_y - 1)) * shape->spacing,
                                             shape->heights[j * shape->n_x + i]));
    return n;
}

int sti_outline(const st_ShapeDef *shape, st_Pose pose, st_Vec3 out[STI_OUTLINE_POINTS])
{
    st_Vec3 half = vec3(0.5 * shape->length, 0, 0);
    double h = 0.5 * shape->length, r = shape->radius;
    int n = 0;
    switch (shape->type) {
    case ST_SHAPE_BAR:
        out[0] = pose_point(pose, half);
        out[1] = pose_point(pose, scale(-1, half));
        return 2;
    case ST_SHAPE_BOX:
        for (int k = 0; k < 8; k++)
            out[k] = pose_point(pose,
                                vec3((k & 1) ? shape->half.x : -shape->half.x, (k & 2) ? shape->half.y : -shape->half.y,
                                     (k & 4) ? shape->half.z : -shape->half.z));
        return 8;
    case ST_SHAPE_CAPSULE:
        n = add_ball(pose, vec3(r, r, r), h, out);
        return n + add_ball(pose, vec3(r, r, r), -h, out + n);
    case ST_SHAPE_CYLINDER:
        n = add_ring(pose, r, h, out);
        return n + add_ring(pose, r, -h, out + n);
    case ST_SHAPE_CONE:
        n = add_ring(pose, r, -0.5 * h, out);
        out[n] = pose_point(pose, vec3(0, 0, 1.5 * h));
        return n + 1;
    case ST_SHAPE_ELLIPSOID:
        return add_ball(pose, shape->half, 0, out);
    case ST_SHAPE_HULL:
    case ST_SHAPE_MESH:
        return add_some(pose, shape->points, shape->n_points, out);
    case ST_SHAPE_HEIGHT_FIELD:
        return add_heights(pose, shape, out);
    case ST_SHAPE_POINT:
    case ST_SHAPE_SPHERE:
    case ST_SHAPE_PLANE:
        break;
    }
    out[0] = pose.p;
    return 1;
}
