/* stiction/grains.h -- many bodies at once: regions of space, sizes of grains, fills, inlets, outlets and measures.
 *
 * A grain is a body with the shapes of a template: one shape, or several (a clump). Its size is the diameter of the
 * smallest ball about its centre of mass that contains all of its shapes. Sizes and positions come from a random number
 * generator with a seed: the same def gives the same grains.
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
    ST_REGION_HALF_SPACE /* all points with z < 0 in the region's axes                  */
} st_RegionType;
#define ST_N_REGION_TYPES 4

/* A part of space, fixed in the world. */
typedef struct st_RegionDef {
    st_RegionType type;
    st_Pose pose;    /* of its centre; half space: of a point on its boundary [m]       */
    double radius;   /* cylinder, sphere [m]                                            */
    double length;   /* cylinder [m]                                                    */
    st_Vec3 half;    /* box [m]                                                         */
    uint32_t cookie; /* set by st_region_def(); leave alone                             */
} st_RegionDef;

typedef enum st_SizeType {
    ST_SIZE_AS_GIVEN = 0, /* the size of the shapes as given                            */
    ST_SIZE_FIXED,        /* all grains have the size `mean`                            */
    ST_SIZE_UNIFORM,      /* uniform by number, from `min` to `max`                     */
    ST_SIZE_NORMAL,       /* `mean` and standard `deviation`, by number, from `min` to `max`         */
    ST_SIZE_LOG_NORMAL,   /* median `mean`, `deviation` of the natural logarithm; by number, from `min` to `max` */
    ST_SIZE_SIEVE         /* a sieve curve, by mass                                     */
} st_SizeType;

/* Diameters of grains. */
typedef struct st_SizeDef {
    st_SizeType type;
    double mean;            /* fixed, normal, log-normal [m]                            */
    double deviation;       /* normal [m], log-normal [1]                               */
    double min, max;        /* [m]; 0, normal and log-normal: three deviations from the middle */
    int n_sieves;           /* at least 2                                               */
    const double *openings; /* of the sieves, increasing [m]; copied                    */
    const double *passing;  /* fraction of the mass that passes each, from 0 to 1; copied */
} st_SizeDef;

typedef enum st_Arrangement {
    ST_ARRANGE_RANDOM = 0, /* random sequential: each grain at a random free place; up to about 0.36 of the volume */
    ST_ARRANGE_LATTICE,    /* close packing of balls of the largest size, filled from below                       */
    ST_ARRANGE_DROPPED /* each grain is lowered along the region's -z to a place where it rests; filled from below */
} st_Arrangement;
#define ST_N_ARRANGEMENTS 3

typedef struct st_FillDef {
    st_RegionDef region; /* not a half space                                            */
    int n_shapes;
    const st_ShapeDef *shapes; /* of one grain, in its own axes; no points, bars, planes, meshes or height fields */
    st_SizeDef size;
    int number;              /* number of grains; 0: packing_fraction decides            */
    double packing_fraction; /* volume of the grains over that of the region, used if number is 0. If it is 0, too: as
                                many as fit (lattice, dropped)                           */
    st_Arrangement arrangement;
    bool turned;      /* random orientations; else those of the shapes                 */
    uint64_t seed;    /* of sizes, places and orientations                             */
    st_Vec3 velocity; /* of all grains, world axes [m/s]                               */
    uint32_t locks;   /* ST_LOCK_X | ...; along a locked axis, grains are at the centre of the region */
    const char *name; /* of the grains; a number is added: grain_0001, ...             */
    uint32_t cookie;  /* set by st_fill_def(); leave alone                             */
} st_FillDef;

/* An inlet inserts grains while a system runs. All of them are bodies of the scene from the start, NAME_0001 and so on.
 * A grain that was not inserted yet, or that an outlet removed, is absent (st_system_present): it has no contacts and
 * no weight, and its pose has no meaning. A grain is inserted when its time has come and there is a free place for it.
 * Until then it waits, and the grains after it wait, too. */
typedef struct st_InletDef {
    st_FillDef grains; /* region: where their centres are inserted; it may be thin, but not a half space. number: how
                        * many in total. arrangement and packing_fraction are not used                      */
    double rate;       /* grains per second; 0: mass_rate is used                                 */
    double mass_rate;  /* [kg/s], used if rate is 0                                               */
    double start;      /* time of the first grain [s]                                             */
    uint32_t cookie;   /* set by st_inlet_def(); leave alone                                      */
} st_InletDef;

/* An outlet removes bodies when their centres are in its region. It removes only bodies without joints, springs and
 * forces. */
typedef struct st_OutletDef {
    st_RegionDef region;
    const char *bodies; /* only bodies with this name; a star matches any characters; NULL: all             */
    const char *name;
    uint32_t cookie; /* set by st_outlet_def(); leave alone                                       */
} st_OutletDef;

typedef enum st_MeasureType {
    ST_MEASURE_FLOW = 0, /* mass and number of bodies that entered the region since the start, less those that moved out
                          * of it; half space: those that crossed its plane                         */
    ST_MEASURE_BULK,     /* of the bodies in the region: mass, packing fraction, velocity, granular temperature,
                          * coordination number, stress, contact forces and force chains                      */
    ST_MEASURE_WALL,     /* force and torque on a body or on one shape of it                     */
    ST_MEASURE_REPOSE,   /* angle, height and radius of a heap about the region's z axis         */
    /* Sensors of robots. The first nine measure a frame that is fixed in a body. Their values are in world axes, in the
     * axes of the reference or in those of the frame. */
    ST_MEASURE_POSITION,
    ST_MEASURE_ORIENTATION, /* unit quaternion                                                    */
    ST_MEASURE_AXIS,        /* direction of its z axis                                            */
    ST_MEASURE_VELOCITY,
    ST_MEASURE_ANGULAR_VELOCITY,
    ST_MEASURE_ACCELERATION, /* mean over the last step, less gravity, as an accelerometer measures it */
    ST_MEASURE_ANGULAR_ACCELERATION,
    ST_MEASURE_FORCE,  /* on the body and all bodies that joints connect to it as b: of joints, motors, springs to other
                          bodies */
    ST_MEASURE_TORQUE, /* the same for the torque about the frame's origin                        */
    ST_MEASURE_TOUCH,  /* sum of the normal forces on the body at points in the region, which is in the body's axes */
    ST_MEASURE_RANGE,  /* distance along the frame's z to the nearest other body or the ground; -1: none */
    ST_MEASURE_CENTRE, /* centre of mass of the body and of all bodies that joints connect to it as b */
    ST_MEASURE_CENTRE_VELOCITY,
    ST_MEASURE_ANGULAR_MOMENTUM, /* about that centre of mass                                     */
    ST_MEASURE_COORDINATE,       /* factor * coordinate of `joint` + offset; SPEED, MOTOR and LIMIT have no offset */
    ST_MEASURE_SPEED,
    ST_MEASURE_MOTOR,
    ST_MEASURE_LIMIT,
    ST_MEASURE_TIME,
    ST_MEASURE_ENERGY /* kinetic and potential                                                    */
} st_MeasureType;
#define ST_N_MEASURE_TYPES 24
#define ST_FIRST_SENSOR    ST_MEASURE_POSITION
#define ST_MEASURE_VALUES  19 /* largest number of values of one measure */

/* A measure. st_system_measure computes it. Recordings and tables contain its values as curves, for example NAME.mass.
 */
typedef struct st_MeasureDef {
    st_MeasureType type;
    st_RegionDef region; /* not used by a wall; bulk and repose: not a half space                 */
    const char *bodies;  /* only bodies with this name; a star matches any characters; NULL: all that can move */
    const char *wall;    /* wall: the name of a body; NULL: the ground                            */
    const char *shape;   /* wall: the name of a shape of it; NULL: all                            */
    /* sensors only: */
    const char *body;        /* NULL: the ground                                                  */
    st_Pose frame;           /* in the body's axes, from its centre of mass                       */
    const char *reference;   /* a body that a position, orientation, axis or velocity is relative to; NULL: the world */
    st_Pose reference_frame; /* in the axes of the reference body, from its centre of mass        */
    bool own_axes;           /* values are in the axes of the frame                               */
    const char *joint;       /* coordinate, speed, motor, limit                                   */
    double factor, offset;   /* for these values; default 1 and 0                                 */
    const char *name;
    uint32_t cookie; /* set by st_measure_def(); leave alone                                      */
} st_MeasureDef;

/* A box of 1 m around the origin. */
ST_API st_RegionDef st_region_def(void);
/* No shapes, random arrangement and orientations, seed 1, name "grain". */
ST_API st_FillDef st_fill_def(void);

/* Grains as in st_fill_def, and no rate. */
ST_API st_InletDef st_inlet_def(void);
/* A box of 1 m around the origin, for all bodies. */
ST_API st_OutletDef st_outlet_def(void);

/* A measure with a box of 1 m around the origin as its region, for all bodies. */
ST_API st_MeasureDef st_measure_def(st_MeasureType type);

/* True if the point is in the region. */
ST_API bool st_region_holds(const st_RegionDef *region, st_Vec3 point);
/* Volume of the region [m^3]; infinite for a half space. */
ST_API double st_region_volume(const st_RegionDef *region);

/* Add the grains of a fill as bodies. `first` (may be NULL) receives the id of the first one; the others follow.
 * `count` (may be NULL) receives their number. Grains do not touch each other or bodies that were added before, if
 * these are spheres or no larger than a grain; walls are not considered. If the grains do not fit, the call fails and
 * the message has the numbers. */
ST_API st_Status st_scene_fill(st_Scene *scene, const st_FillDef *def, st_BodyId *first, int *count, st_Error *err);

/* Add an inlet, and its grains as bodies. st_system_create fails if a wall leaves no free place in its region. */
ST_API st_Status st_scene_add_inlet(st_Scene *scene, const st_InletDef *def, st_BodyId *first, st_Error *err);
/* Add an outlet. st_system_create fails if a body that it selects by name has joints, springs or forces. */
ST_API st_Status st_scene_add_outlet(st_Scene *scene, const st_OutletDef *def, st_Error *err);
/* Add a measure. st_system_create fails if its bodies, wall, shape or joint do not exist. */
ST_API st_Status st_scene_add_measure(st_Scene *scene, const st_MeasureDef *def, st_Error *err);
/* Number of measures. */
ST_API int st_scene_measure_count(const st_Scene *scene);
/* The def of measure `index`, 0 .. count - 1. */
ST_API st_Status st_scene_measure(const st_Scene *scene, int index, st_MeasureDef *out);
/* The name of value k of a measure, and its unit (`unit` may be NULL), as static strings; NULL after the last one. */
ST_API const char *st_measure_value_name(st_MeasureType type, int k, const char **unit);
/* "flow", "bulk", "wall", "repose", ...; NULL outside the range of the enum. */
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
