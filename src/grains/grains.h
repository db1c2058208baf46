/* grains/grains.h -- inside the fills: a region in its own axes, sizes, a grain's template, places. */
#ifndef STI_GRAINS_H
#define STI_GRAINS_H

#include "base/base.h"
#include "math/quat.h"

#include <stiction/grains.h>

#define STI_MOST_GRAINS 10000000

/* ---- region.c: points are in the region's own axes ---- */

/* `who` is the thing that has the region, for messages. Checks and makes the orientation a unit one. */
st_Status sti_region_check(const char *who, st_RegionDef *region, st_Error *err);
/* Half extents of its bounds. */
st_Vec3 sti_region_half(const st_RegionDef *region);
/* Does it hold a ball? Along the axes that are not `free` it need not. */
bool sti_region_holds_ball(const st_RegionDef *region, const bool free[3], st_Vec3 middle, double radius);

/* ---- size.c ---- */

st_Status sti_size_check(const char *who, const st_SizeDef *size, st_Error *err);
double sti_size_draw(const st_SizeDef *size, uint64_t *random);
/* The largest that can be drawn; 0: not known, as given. */
double sti_size_largest(const st_SizeDef *size);

/* ---- template.c: the shapes of a grain ---- */

typedef struct sti_Template {
    st_Allocator allocator;
    st_ShapeDef *shape; /* n, about their common centre of mass; points owned                       */
    int n;
    double size;   /* diameter of the ball about the centre of mass that holds it [m]              */
    double volume; /* [m^3]                                                                        */
    bool round;    /* one sphere: no orientation                                                   */
} sti_Template;

st_Status sti_template_make(const char *who, const st_Scene *scene, const st_ShapeDef *shapes, int n, sti_Template *out,
                            st_Error *err);
void sti_template_free(sti_Template *grain);
/* A body with the template's shapes at `scale`. */
st_Status sti_template_add(const sti_Template *grain, double scale, const st_BodyDef *body, st_Scene *scene,
                           st_BodyId *id, st_Error *err);

/* ---- place.c ---- */

/* Balls in a region. The first n_known are there already; place.c finds places for the others. */
typedef struct sti_Places {
    const st_RegionDef *region;
    bool free[3]; /* axes of the region along which balls may be placed; along the others they are at 0 */
    st_Vec3 *p;   /* n, in the region's axes                                                       */
    double *r;    /* n                                                                             */
    int n_known, n;
} sti_Places;

/* *placed: how many of the n - n_known found a place, largest first or from below; fewer is no failure. */
st_Status sti_place_balls(const st_Allocator *allocator, sti_Places *places, st_Arrangement how, uint64_t *random,
                          int *placed, st_Error *err);

#endif
