/* collide/hull_faces.c -- the surface of a hull as triangles, for drawing. */
#include "collide/shape.h"

#include <stdlib.h>

st_Status st_hull_faces(const st_Vec3 *points, int n_points, st_Vec3 **corners, int *n_corners, int **triangles,
                        int *n_triangles, st_Error *err)
{
    STI_NEED(corners, err);
    STI_NEED(n_corners, err);
    STI_NEED(triangles, err);
    STI_NEED(n_triangles, err);
    const st_Allocator allocator = st_default_allocator();
    sti_Hull *hull = NULL;
    *corners = NULL, *triangles = NULL, *n_corners = *n_triangles = 0;
    if (points == NULL || n_points < 4)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_hull_faces: %d points, must be at least 4",
                        points != NULL ? n_points : 0);
    STI_TRY(sti_check_points(points, n_points, err));
    STI_TRY(sti_hull_create(points, n_points, &allocator, &hull, err));
    const sti_Facets *f = &hull->facets;
    const int n = f->face_first[f->n_faces] - 2 * f->n_faces; /* corners of a face - 2 each */
    *corners = malloc((size_t)f->n_vertices * sizeof **corners);
    *triangles = malloc(3 * (size_t)n * sizeof **triangles);
    st_Status status = ST_OK;
    if (*corners != NULL && *triangles != NULL) {
        memcpy(*corners, f->vertex, (size_t)f->n_vertices * sizeof **corners);
        int *corner = *triangles; /* a face is a loop of corners: a fan from its first */
        for (int face = 0; face < f->n_faces; face++)
            for (int k = f->face_first[face] + 1; k + 1 < f->face_first[face + 1]; k++) {
                *corner++ = f->face_vertex[f->face_first[face]];
                *corner++ = f->face_vertex[k];
                *corner++ = f->face_vertex[k + 1];
            }
        *n_corners = f->n_vertices;
        *n_triangles = n;
    } else {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for a hull of %d corners", f->n_vertices);
        free(*corners);
        free(*triangles);
        *corners = NULL, *triangles = NULL;
    }
    sti_hull_free(&allocator, hull);
    return status;
}
