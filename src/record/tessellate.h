/* record/tessellate.h -- any shape as triangles, for viewers that know no better. */
#ifndef STI_RECORD_TESSELLATE_H
#define STI_RECORD_TESSELLATE_H

#include "base/base.h"

#include <stiction/scene.h>

typedef struct sti_Triangles {
    st_Vec3 *point; /* in the shape's own axes [m] */
    int n_points;
    int64_t point_capacity;
    int (*triangle)[3]; /* counter-clockwise from outside */
    int n_triangles;
    int64_t triangle_capacity;
} sti_Triangles;

/* Shapes without a surface (point, bar) are thin; planes a square of `size`, which also is what thin is
 * measured by. Replaces what was in `out`.                                                       */
st_Status sti_tessellate(const st_Allocator *allocator, const st_ShapeDef *shape, double size, sti_Triangles *out,
                         st_Error *err);
void sti_triangles_free(const st_Allocator *allocator, sti_Triangles *triangles);

#endif
