/* collide/surface.c -- the surface of a shape as triangles, for drawing. */
#include "collide/surface.h"

#include <stdlib.h>

#define ROUND 24 /* corners per circle */

static void *make_surface_room(sti_SurfaceBuilder *s, void *memory, int64_t *room, int64_t n, size_t size)
{
    if (s->status != ST_OK || n < *room) return memory;
    const int64_t more = *room + *room / 2 + 64;
    void *grown = realloc(memory, (size_t)more * size);
    if (grown == NULL) {
        s->status = sti_fail(s->err, ST_ERR_MEMORY, "out of memory for a surface of %lld points", (long long)more);
        return memory;
    }
    *room = more;
    return grown;
}

int sti_surface_point(sti_SurfaceBuilder *s, st_Vec3 p)
{
    s->made.points = make_surface_room(s, s->made.points, &s->point_room, s->made.n_points, sizeof *s->made.points);
    if (s->status != ST_OK) return 0;
    s->made.points[s->made.n_points] = p;
    return s->made.n_points++;
}

void sti_surface_triangle(sti_SurfaceBuilder *s, int i, int j, int k)
{
    s->made.triangles =
        make_surface_room(s, s->made.triangles, &s->triangle_room, s->made.n_triangles, 3 * sizeof *s->made.triangles);
    if (s->status != ST_OK) return;
    int *corner = s->made.triangles + 3 * (ptrdiff_t)s->made.n_triangles++;
    corner[0] = i, corner[1] = j, corner[2] = k;
}

void sti_surface_box(sti_SurfaceBuilder *s, st_Vec3 half)
{
    static const int corner[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = s->made.n_points;
    for (int k = 0; k < 8; k++)
        sti_surface_point(s, vec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z));
    for (int f = 0; f < 6; f++) {
        const int *c = corner[f];
        sti_surface_triangle(s, first + c[0], first + c[1], first + c[2]);
        sti_surface_triangle(s, first + c[0], first + c[2], first + c[3]);
    }
}

void sti_surface_turned(sti_SurfaceBuilder *s, const double (*profile)[2], int n, double sx, double sy)
{
    int first = s->made.n_points;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < ROUND; i++) {
            double angle = 2 * STI_PI * i / ROUND;
            sti_surface_point(s, vec3(sx * profile[k][0] * cos(angle), sy * profile[k][0] * sin(angle), profile[k][1]));
        }
    for (int k = 0; k + 1 < n; k++)
        for (int i = 0; i < ROUND; i++) {
            int j = (i + 1) % ROUND, low = first + k * ROUND, high = low + ROUND;
            if (profile[k][0] > 0) sti_surface_triangle(s, low + i, low + j, high + j);
            if (profile[k + 1][0] > 0) sti_surface_triangle(s, low + i, high + j, high + i);
        }
}

void sti_surface_ellipsoid(sti_SurfaceBuilder *s, st_Vec3 half)
{
    enum { RINGS = STI_SURFACE_RINGS };
    double profile[RINGS + 1][2];
    for (int k = 0; k <= RINGS; k++) {
        double angle = STI_PI * k / RINGS;
        profile[k][0] = k == 0 || k == RINGS ? 0 : sin(angle);
        profile[k][1] = -half.z * cos(angle);
    }
    sti_surface_turned(s, (const double(*)[2])profile, RINGS + 1, half.x, half.y);
}

st_Status st_shape_surface(const st_ShapeDef *shape, double size, st_Surface *out, st_Error *err)
{
    STI_NEED(out, err);
    *out = (st_Surface){0};
    STI_CHECK_DEF(shape, "st_sphere_def, st_box_def or another of the shapes", err);
    const sti_ShapeDescriptor *of = sti_shape_descriptor(shape->type);
    if (of == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the shape's type is %d, not a shape", (int)shape->type);
    sti_SurfaceBuilder surface = {.err = err};
    of->surface(shape, size, &surface);
    if (surface.status == ST_OK)
        *out = surface.made;
    else
        st_surface_free(&surface.made);
    return surface.status;
}

void st_surface_free(st_Surface *surface)
{
    if (surface == NULL) return;
    free(surface->points);
    free(surface->triangles);
    *surface = (st_Surface){0};
}
