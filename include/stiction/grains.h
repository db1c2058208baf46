/* stiction/grains.h -- many bodies at once: regions of space, sizes of grains, fills of a region.
 *
 * A grain is a body with the shapes of a template: one shape, or several (a clump). Its size is the diameter of the
 * smallest ball about its centre of mass that holds all of them. Sizes and positions are drawn from a seeded generator:
 * the same def gives the same grains.
 */
#ifndef STICTION_GRAINS_H
#define STICTION_GRAINS_H

#include <stiction/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum st_RegionType {
    ST_REGION_BOX = 0,   /* `half` extents along the region's axes                      */
    ST_REGION_CYLINDER,  /* `radius`, `length` along the region's z                     */
    ST_REGION_SPHERE,    /* `radius`                                                    */
    ST_REGION_HALF_SPACE /* everything below the region's z axis: where z < 0           */
} st_RegionType;
#define ST_N_REGION_TYPES 4

/* A part of space, fixed in the world. */
typedef struct st_RegionDef {
    st_RegionType type;
    st_Pose pose;    /* of its middle; half space: of a point of its boundary [m]       */
    double radius;   /* cylinder, sphere [m]                                            */
    double length;   /* cylinder [m]                                                    */
    st_Vec3 half;    /* box [m]                                                         */
    uint32_t cookie; /* set by st_region_def(); leave alone                             */
} st_RegionDef;

typedef enum st_SizeType {
    ST_SIZE_AS_GIVEN = 0, /* that of the shapes as they are                             */
    ST_SIZE_FIXED,        /* all `mean`                                                 */
    ST_SIZE_UNIFORM,      /* from `min` to `max`, by number                             */
    ST_SIZE_NORMAL,       /* `mean` and standard `deviation`, by number, from `min` to `max`         */
    ST_SIZE_LOG_NORMAL,   /* median `mean`, `deviation` of the natural logarithm; by number, from `min` to `max` */
    ST_SIZE_SIEVE         /* a sieve curve: by mass                                     */
} st_SizeType;

/* Diameters of grains. */
typedef struct st_SizeDef {
    st_SizeType type;
    double mean;            /* fixed, normal, log-normal [m]                            */
    double deviation;       /* normal [m], log-normal [1]                               */
    double min, max;        /* [m]; normal and log-normal, where 0: three deviations from the middle */
    int n_sieves;           /* at least 2                                               */
    const double *openings; /* of the sieves, increasing [m]; copied                    */
    const double *passing;  /* share of the mass that passes each, from 0 to 1; copied  */
} st_SizeDef;

typedef enum st_Arrangement {
    ST_ARRANGE_RANDOM = 0, /* random sequential: each at a random free place; up to about 0.36 of the volume      */
    ST_ARRANGE_LATTICE,    /* close packing of balls of the largest size, filled from below                       */
    ST_ARRANGE_DROPPED     /* each let down, along the region's -z, to a place where it rests; from below         */
} st_Arrangement;
#define ST_N_ARRANGEMENTS 3

typedef struct st_FillDef {
    st_RegionDef region; /* not a half space                                            */
    int n_shapes;
    const st_ShapeDef *shapes; /* of one grain, in its own axes; volumes only: no point, bar, plane, mesh, heights */
    st_SizeDef size;
    int number;              /* of grains; 0: by packing_fraction                        */
    double packing_fraction; /* volume of the grains over that of the region, used where number is 0 */
    st_Arrangement arrangement;
    bool turned;      /* random orientations; else as the shapes are                   */
    uint64_t seed;    /* of sizes, places and orientations                             */
    st_Vec3 velocity; /* of all grains, world axes [m/s]                               */
    uint32_t locks;   /* ST_LOCK_X | ...: along a locked axis grains are in the middle of the region */
    const char *name; /* of the grains, with a number: grain_0001, ...                 */
    uint32_t cookie;  /* set by st_fill_def(); leave alone                             */
} st_FillDef;

/* A box of 1 m around the origin. */
ST_API st_RegionDef st_region_def(void);
/* No shapes, random arrangement and orientations, seed 1, name "grain". */
ST_API st_FillDef st_fill_def(void);

/* Is the point in the region? */
ST_API bool st_region_holds(const st_RegionDef *region, st_Vec3 point);
/* Its volume [m^3]; a half space: infinite. */
ST_API double st_region_volume(const st_RegionDef *region);

/* Add the grains of a fill as bodies: `first` (may be NULL) is the id of the first one, those of the others follow, and
 * `count` (may be NULL) is how many there are. Grains touch neither each other nor bodies added before, as far as these
 * are spheres or no larger than a grain; walls are not looked at. Refused, with the numbers, where they do not fit. */
ST_API st_Status st_scene_fill(st_Scene *scene, const st_FillDef *def, st_BodyId *first, int *count, st_Error *err);

/* "box", "cylinder", "sphere", "half-space"; NULL outside the range of the enum. */
ST_API const char *st_region_type_name(st_RegionType type);
/* "random", "lattice", "dropped"; NULL outside the range of the enum. */
ST_API const char *st_arrangement_name(st_Arrangement arrangement);

#ifdef __cplusplus
}
#endif
#endif
