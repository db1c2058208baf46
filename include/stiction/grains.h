/* stiction/grains.h -- many bodies at once: regions of space, sizes of grains, fills, inlets, outlets and measures.
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
    double packing_fraction; /* volume of the grains over that of the region, used where number is 0; if that is 0, too:
                                as many as fit (lattice, dropped)                        */
    st_Arrangement arrangement;
    bool turned;      /* random orientations; else as the shapes are                   */
    uint64_t seed;    /* of sizes, places and orientations                             */
    st_Vec3 velocity; /* of all grains, world axes [m/s]                               */
    uint32_t locks;   /* ST_LOCK_X | ...: along a locked axis grains are in the middle of the region */
    const char *name; /* of the grains, with a number: grain_0001, ...                 */
    uint32_t cookie;  /* set by st_fill_def(); leave alone                             */
} st_FillDef;

/* Grains that come in while a system runs. All of them are bodies of the scene from the start, NAME_0001 and so on. One
 * that has not come in yet, or that an outlet has taken, is absent (st_system_present): it touches nothing, has no
 * weight, and its pose means nothing. A grain comes in when it is due and there is a free place for it; else it waits,
 * and those after it wait, too.                                                                  */
typedef struct st_InletDef {
    st_FillDef grains; /* region: where their centres come in. number: how many in all. arrangement and packing_fraction
                        * are not used. A thin region does, but not a half space                    */
    double rate;       /* grains a second; 0: by mass_rate                                        */
    double mass_rate;  /* [kg/s], used where rate is 0                                            */
    double start;      /* of the first one [s]                                                    */
    uint32_t cookie;   /* set by st_inlet_def(); leave alone                                      */
} st_InletDef;

/* A region that takes bodies out as soon as their centres are in it: those without joints, springs and forces. */
typedef struct st_OutletDef {
    st_RegionDef region;
    const char *bodies; /* only bodies of this name, where * is any number of characters; NULL: all         */
    const char *name;
    uint32_t cookie; /* set by st_outlet_def(); leave alone                                       */
} st_OutletDef;

typedef enum st_MeasureType {
    ST_MEASURE_FLOW = 0, /* mass and number that have come into the region since the start, less what has left it by its
                          * own motion; of a half space: what has crossed its plane              */
    ST_MEASURE_BULK,     /* of what is in the region: mass, packing fraction, velocity, temperature, coordination,
                          * stress, forces and their chains                                      */
    ST_MEASURE_WALL,     /* force and torque on a body, or one shape of it                       */
    ST_MEASURE_REPOSE,   /* angle, height and radius of a heap about the region's z axis         */
    /* Sensors of robots. The first nine are of a frame that is fixed in a body; values are in world axes, those of the
     * reference or the frame's own.                                                              */
    ST_MEASURE_POSITION,
    ST_MEASURE_ORIENTATION, /* unit quaternion                                                    */
    ST_MEASURE_AXIS,        /* direction of its z axis                                            */
    ST_MEASURE_VELOCITY,
    ST_MEASURE_ANGULAR_VELOCITY,
    ST_MEASURE_ACCELERATION, /* mean over the last step, less gravity: what an accelerometer shows */
    ST_MEASURE_ANGULAR_ACCELERATION,
    ST_MEASURE_FORCE,  /* on the body and all that joints connect to it as b, by joints, motors and springs from outside
                        */
    ST_MEASURE_TORQUE, /* likewise, about the frame's origin                                      */
    ST_MEASURE_TOUCH,  /* sum of the normal forces on the body at points in the region, which is in the body's axes */
    ST_MEASURE_RANGE,  /* distance to the first other body or the ground along z of the frame; -1: none */
    ST_MEASURE_CENTRE, /* of mass, of the body and all that joints connect to it as b               */
    ST_MEASURE_CENTRE_VELOCITY,
    ST_MEASURE_ANGULAR_MOMENTUM, /* about that centre                                             */
    ST_MEASURE_COORDINATE,       /* of `joint`: factor coordinate + offset; the others without offset */
    ST_MEASURE_SPEED,
    ST_MEASURE_MOTOR,
    ST_MEASURE_LIMIT,
    ST_MEASURE_TIME,
    ST_MEASURE_ENERGY /* kinetic and potential                                                    */
} st_MeasureType;
#define ST_N_MEASURE_TYPES 24
#define ST_FIRST_SENSOR    ST_MEASURE_POSITION
#define ST_MEASURE_VALUES  19 /* at most, of one measure */

/* A measure: st_system_measure computes it, recordings and tables have its values as curves, NAME.mass for example. */
typedef struct st_MeasureDef {
    st_MeasureType type;
    st_RegionDef region; /* not of a wall; bulk and repose: not a half space                      */
    const char *bodies;  /* only bodies of this name, where * is any number of characters; NULL: all that move */
    const char *wall;    /* wall: the name of a body; NULL: the ground                            */
    const char *shape;   /* wall: the name of a shape of it; NULL: all                            */
    /* of sensors */
    const char *body;        /* NULL: the ground                                                  */
    st_Pose frame;           /* in the body's axes, from its centre of mass                       */
    const char *reference;   /* a body that a position, orientation, axis or velocity is relative to; NULL: the world */
    st_Pose reference_frame; /* likewise                                                          */
    bool own_axes;           /* values in the axes of the frame                                   */
    const char *joint;       /* coordinate, speed, motor, limit                                   */
    double factor, offset;   /* of them; 1 and 0                                                  */
    const char *name;
    uint32_t cookie; /* set by st_measure_def(); leave alone                                      */
} st_MeasureDef;

/* A box of 1 m around the origin. */
ST_API st_RegionDef st_region_def(void);
/* No shapes, random arrangement and orientations, seed 1, name "grain". */
ST_API st_FillDef st_fill_def(void);

/* As st_fill_def, and no rate. */
ST_API st_InletDef st_inlet_def(void);
/* A box of 1 m around the origin, for all bodies. */
ST_API st_OutletDef st_outlet_def(void);

/* The region a box of 1 m around the origin, for all bodies. */
ST_API st_MeasureDef st_measure_def(st_MeasureType type);

/* Is the point in the region? */
ST_API bool st_region_holds(const st_RegionDef *region, st_Vec3 point);
/* Its volume [m^3]; a half space: infinite. */
ST_API double st_region_volume(const st_RegionDef *region);

/* Add the grains of a fill as bodies: `first` (may be NULL) is the id of the first one, those of the others follow, and
 * `count` (may be NULL) is how many there are. Grains touch neither each other nor bodies added before, as far as these
 * are spheres or no larger than a grain; walls are not looked at. Refused, with the numbers, where they do not fit. */
ST_API st_Status st_scene_fill(st_Scene *scene, const st_FillDef *def, st_BodyId *first, int *count, st_Error *err);

/* Add an inlet, and its grains as bodies. A system is refused where a wall leaves no place in its region. */
ST_API st_Status st_scene_add_inlet(st_Scene *scene, const st_InletDef *def, st_BodyId *first, st_Error *err);
/* Add an outlet. A system is refused where a body that it takes by name has joints, springs or forces. */
ST_API st_Status st_scene_add_outlet(st_Scene *scene, const st_OutletDef *def, st_Error *err);
/* Add a measure. A system is refused where its bodies, wall, shape or joint are not there. */
ST_API st_Status st_scene_add_measure(st_Scene *scene, const st_MeasureDef *def, st_Error *err);
/* Number of measures. */
ST_API int st_scene_measure_count(const st_Scene *scene);
/* The def of measure `index`, 0 .. count - 1. */
ST_API st_Status st_scene_measure(const st_Scene *scene, int index, st_MeasureDef *out);
/* The name of value k of a measure, and its unit (may be NULL): static strings; NULL past the last one. */
ST_API const char *st_measure_value_name(st_MeasureType type, int k, const char **unit);
/* "flow", "bulk", "wall", "repose"; NULL outside the range of the enum. */
ST_API const char *st_measure_type_name(st_MeasureType type);
/* Number of inlets. */
ST_API int st_scene_inlet_count(const st_Scene *scene);
/* Number of outlets. */
ST_API int st_scene_outlet_count(const st_Scene *scene);

/* "box", "cylinder", "sphere", "half-space"; NULL outside the range of the enum. */
ST_API const char *st_region_type_name(st_RegionType type);
/* "random", "lattice", "dropped"; NULL outside the range of the enum. */
ST_API const char *st_arrangement_name(st_Arrangement arrangement);

#ifdef __cplusplus
}
#endif
#endif
