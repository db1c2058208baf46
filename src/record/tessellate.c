/* record/tessellate.c -- any shape as triangles. A new kind of shape needs one function here to be seen in
 * ParaView and, where the page does not draw it itself, in the browser.
 */
#include "record/tessellate.h"

#include "math/vec3.h"

#include <stdlib.h>

#define ROUND 24 /* corners of a circle */
#define RINGS 12 /* from pole to pole   */

typedef struct Builder {
    const st_Allocator *allocator;
    sti_Triangles *out;
    st_Status status;
    st_Error *err;
} Builder;

static int add_point(Builder *b, double x, double y, double z)
{
    sti_Triangles *t = b->out;
    if (b->status == ST_OK) b->status = STI_GROW(b->allocator, t->point, t->point_capacity, t->n_points + 1, b->err);
    if (b->status != ST_OK) return 0;
    t->point[t->n_points] = (st_Vec3){x, y, z};
    return t->n_points++;
}

static void add_triangle(Builder *b, int i, int j, int k)
{
    sti_Triangles *t = b->out;
    if (b->status == ST_OK)
        b->status = STI_GROW(b->allocator, t->triangle, t->triangle_capacity, t->n_triangles + 1, b->err);
    if (b->status != ST_OK) return;
    t->triangle[t->n_triangles][0] = i;
    t->triangle[t->n_triangles][1] = j;
    t->triangle[t->n_triangles++][2] = k;
}

static void add_box(Builder *b, st_Vec3 half)
{
    static const int corner[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = b->out->n_points;
    for (int k = 0; k < 8; k++)
        add_point(b, k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
    for (int f = 0; f < 6; f++) {
        const int *c = corner[f];
        add_triangle(b, first + c[0], first + c[1], first + c[2]);
        add_triangle(b, first + c[0], first + c[2], first + c[3]);
    }
}

/* A profile (radius, z), from below to above, turned about z; x and y stretched. */
static void add_turned(Builder *b, const double (*profile)[2], int n, double sx, double sy)
{
    int first = b->out->n_points;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < ROUND; i++) {
            double angle = 2 * STI_PI * i / ROUND;
            add_point(b, sx * profile[k][0] * cos(angle), sy * profile[k][0] * sin(angle), profile[k][1]);
        }
    for (int k = 0; k + 1 < n; k++)
        for (int i = 0; i < ROUND; i++) {
            int j = (i + 1) % ROUND, low = first + k * ROUND, high = low + ROUND;
            if (profile[k][0] > 0) add_triangle(b, low + i, low + j, high + j);
            if (profile[k + 1][0] > 0) add_triangle(b, low + i, high + j, high + i);
        }
}

static void add_ellipsoid(Builder *b, st_Vec3 half)
{
    double profile[RINGS + 1][2];
    for (int k = 0; k <= RINGS; k++) {
        double angle = STI_PI * k / RINGS;
        profile[k][0] = k == 0 || k == RINGS ? 0 : sin(angle);
        profile[k][1] = -half.z * cos(angle);
    }
    add_turned(b, (const double(*)[2])profile, RINGS + 1, half.x, half.y);
}

static void add_square(Builder *b, double size)
{
    double h = size / 2;
    int first = add_point(b, -h, -h, 0);
    add_point(b, h, -h, 0);
    add_point(b, h, h, 0);
    add_point(b, -h, h, 0);
    add_triangle(b, first, first + 1, first + 2);
    add_triangle(b, first, first + 2, first + 3);
}

static void add_capsule(Builder *b, double radius, double length)
{
    double profile[RINGS + 2][2];
    for (int k = 0; k <= RINGS + 1; k++) {
        int ring = k <= RINGS / 2 ? k : k - 1; /* the equator twice: the cylinder between */
        double angle = STI_PI * ring / RINGS, middle = k <= RINGS / 2 ? -length / 2 : length / 2;
        profile[k][0] = ring == 0 || ring == RINGS ? 0 : radius * sin(angle);
        profile[k][1] = middle - radius * cos(angle);
    }
    add_turned(b, (const double(*)[2])profile, RINGS + 2, 1, 1);
}

static void add_hull(Builder *b, const st_ShapeDef *shape)
{
    st_Vec3 *corner = NULL;
    int *triangle = NULL, n_corners = 0, n_triangles = 0;
    if (b->status == ST_OK)
        b->status = st_hull_faces(shape->points, shape->n_points, &corner, &n_corners, &triangle, &n_triangles, b->err);
    for (int k = 0; k < n_corners; k++)
        add_point(b, corner[k].x, corner[k].y, corner[k].z);
    for (int k = 0; k < n_triangles; k++)
        add_triangle(b, triangle[3 * k], triangle[3 * k + 1], triangle[3 * k + 2]);
    free(corner);
    free(triangle);
}

static void add_mesh(Builder *b, const st_ShapeDef *shape)
{
    for (int k = 0; k < shape->n_points; k++)
        add_point(b, shape->points[k].x, shape->points[k].y, shape->points[k].z);
    for (int k = 0; k < shape->n_triangles; k++)
        add_triangle(b, shape->triangles[3 * k], shape->triangles[3 * k + 1], shape->triangles[3 * k + 2]);
}

static void add_height_field(Builder *b, const st_ShapeDef *shape)
{
    int nx = shape->n_x, ny = shape->n_y;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            add_point(b, (i - 0.5 * (nx - 1)) * shape->spacing, (j - 0.5 * (ny - 1)) * shape->spacing,
                      shape->heights[j * nx + i]);
    for (int j = 0; j + 1 < ny; j++)
        for (int i = 0; i + 1 < nx; i++) {
            int k = j * nx + i;
            add_triangle(b, k, k + 1, k + nx + 1);
            add_triangle(b, k, k + nx + 1, k + nx);
        }
}

st_Status sti_tessellate(const st_Allocator *allocator, const st_ShapeDef *shape, double size, sti_Triangles *out,
                         st_Error *err)
{
    Builder b = {allocator, out, ST_OK, err};
    double thin = 0.005 * size, r = shape->radius, l = shape->length;
    out->n_points = out->n_triangles = 0;
    switch (shape->type) {
    case ST_SHAPE_POINT:
        add_ellipsoid(&b, (st_Vec3){2 * thin, 2 * thin, 2 * thin});
        break;
    case ST_SHAPE_BAR:
        add_box(&b, (st_Vec3){shape->length / 2, thin, thin});
        break;
    case ST_SHAPE_SPHERE:
        add_ellipsoid(&b, (st_Vec3){shape->radius, shape->radius, shape->radius});
        break;
    case ST_SHAPE_BOX:
        add_box(&b, shape->half);
        break;
    case ST_SHAPE_PLANE:
        add_square(&b, size);
        break;
    case ST_SHAPE_CAPSULE:
        add_capsule(&b, r, l);
        break;
    case ST_SHAPE_CYLINDER:
        add_turned(&b, (const double[4][2]){{0, -l / 2}, {r, -l / 2}, {r, l / 2}, {0, l / 2}}, 4, 1, 1);
        break;
    case ST_SHAPE_CONE: /* the origin is its centre of mass */
        add_turned(&b, (const double[3][2]){{0, -l / 4}, {r, -l / 4}, {0, 3 * l / 4}}, 3, 1, 1);
        break;
    case ST_SHAPE_ELLIPSOID:
        add_ellipsoid(&b, shape->half);
        break;
    case ST_SHAPE_HULL:
        add_hull(&b, shape);
        break;
    case ST_SHAPE_MESH:
        add_mesh(&b, shape);
        break;
    case ST_SHAPE_HEIGHT_FIELD:
        add_height_field(&b, shape);
        break;
    }
    return b.status;
}

void sti_triangles_free(const st_Allocator *allocator, sti_Triangles *triangles)
{
    STI_RELEASE(allocator, triangles->point, triangles->point_capacity);
    STI_RELEASE(allocator, triangles->triangle, triangles->triangle_capacity);
    triangles->n_points = triangles->n_triangles = 0;
}
