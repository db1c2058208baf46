/* grains/grains.h -- shared by the files of this folder: regions, sizes, the template of a grain, places. */
#ifndef STI_GRAINS_H
#define STI_GRAINS_H

#include "base/base.h"
#include "math/quat.h"

#include <stiction/grains.h>

#define STI_MOST_GRAINS 10000000

/* ---- region.c: points are in the axes of the region ---- */

/* Checks a region and normalises its orientation. `owner` names the object that has the region, for messages. */
st_Status sti_region_check(const char *owner, st_RegionDef *region, st_Error *err);
/* Half extents of the bounding box. */
st_Vec3 sti_region_half(const st_RegionDef *region);
/* Is the ball inside the region? Axes that are not `free` are not checked. */
bool sti_region_holds_ball(const st_RegionDef *region, const bool free[3], st_Vec3 middle, double radius);

/* ---- size.c ---- */

st_Status sti_size_check(const char *owner, const st_SizeDef *size, st_Error *err);
double sti_size_draw(const st_SizeDef *size, uint64_t *random);
/* The largest diameter that can be drawn [m]; 0 if grains keep the size of their shapes. */
double sti_size_largest(const st_SizeDef *size);

/* ---- template.c: the shapes of a grain ---- */

typedef struct sti_Template {
    st_Allocator allocator;
    st_ShapeDef *shape; /* n shapes about their common centre of mass; their points are the caller's */
    int n;
    double size;   /* diameter of the bounding ball about the centre of mass [m] */
    double volume; /* [m^3]                                                                        */
    bool round;    /* one sphere, which needs no orientation */
} sti_Template;

st_Status sti_template_make(const char *owner, const st_Scene *scene, const st_ShapeDef *shapes, int n,
                            sti_Template *out, st_Error *err);
void sti_template_free(sti_Template *grain);
/* Adds a body with the shapes of the template, scaled by `scale`. */
st_Status sti_template_add(const sti_Template *grain, double scale, const st_BodyDef *body, st_Scene *scene,
                           st_BodyId *id, st_Error *err);

/* ---- place.c ---- */

/* Balls in a region. The first n_known already have places; place.c finds places for the others. */
typedef struct sti_Places {
    const st_RegionDef *region;
    bool free[3]; /* axes of the region along which balls may be placed; along the others they are at 0 */
    st_Vec3 *p;   /* n centres, in the axes of the region */
    double *r;    /* n radii */
    int n_known, n;
} sti_Places;

/* Finds places for the n - n_known new balls, largest first or from below. *placed is the number of balls that found
 * one; it is no error if some did not. */
st_Status sti_place_balls(const st_Allocator *allocator, sti_Places *places, st_Arrangement how, uint64_t *random,
                          int *placed, st_Error *err);

#endif
