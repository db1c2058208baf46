/* model/world.h -- the rigid-body world: a scene compiled into a system of model.h.
 *
 * State of the world:
 *
 *     q = [ body 1: x y z  w x y z | body 2: ... | angle 1, 2, ... of angular springs and joints ]
 *     v = [ body 1: its free ones of  vx vy vz (world)  wx wy wz (body) | body 2: ... ]
 *
 * Locked degrees of freedom are not in v. Fixed bodies are in q and never move. The angles count whole turns: they
 * are coordinates, so that a state is complete and can be restored.
 */
#ifndef STI_WORLD_H
#define STI_WORLD_H

#include "collide/broad/near_pairs.h"
#include "collide/collide.h"
#include "collide/narrow/support.h"
#include "math/quat.h"
#include "model/row_buffer.h"
#include "model/scene.h"

#include <stdatomic.h>
#include <stiction/model.h>

#define STI_BODY_Q 7 /* coordinates of a body */

typedef struct sti_Body {
    int v_first;          /* its first velocity                                                   */
    unsigned char n_dofs; /* 0: does not move                                                     */
    unsigned char planar; /* bit e: moves only across world axis e (or turns about it), docs/methods.md 1 */
    unsigned char dof[6]; /* its free velocities among vx vy vz wx wy wz, increasing */
    bool inertia_given;   /* given in the scene; else it comes from its shapes, in proportion to its mass */
    double gravity;       /* factor on gravity */
    double medium;        /* factor on the medium's drag */
} sti_Body;

/* The angle of b relative to a about an axis of a, with whole turns: a coordinate in q. It is a twist, or the angle
 * of a pointer: of an axis fixed in b that points away from a's axis. */
typedef struct sti_Angle {
    int a, b;
    st_Vec3 axis_a;
    st_Quat relative; /* inverse(orientation of a) * orientation of b at twist 0 */
    bool is_pointer;
    st_Vec3 pointer_a, pointer_b; /* in a at angle 0; in b */
    int q;                        /* its index in q */
} sti_Angle;

/* Frames are fixed in the bodies: columns x, y, z of a joint frame, z along the axis. */
typedef struct sti_Joint {
    st_JointType type;
    int a, b;
    st_Vec3 anchor_a, anchor_b;
    st_Vec3 frame_a[3], frame_b[3];
    double length;
    double lead;                 /* screw: pitch per radian                                                        */
    st_Coordinate coordinate[2]; /* the coordinate on which drives act; the other one, if any */
    int angle[ST_N_COORDINATES]; /* index of each in the world's angles; -1: none */
    int geared[2];               /* gear: its two joints                                            */
    st_Vec3 curve;               /* gear: coefficients of the square, cube and fourth power of its second coordinate */
    double ratio, offset;        /* gear: x_a - ratio x_b = offset                                  */
    int first_row, n_rows;       /* among the joint rows; that of a motor, if it holds one, is the last */
    bool held;                   /* motion, or a speed without a force limit                        */
    bool at_speed;               /* a speed without a force limit */
    int spring_row;              /* among the soft rows; -1: none                                   */
    int friction_row, motor_row; /* among the bounded rows; -1: none                               */
    int rotor, rotor_row;        /* armature: body, and index among the joint rows; 0, -1: none */
} sti_Joint;

enum { STI_SPRING_ROWS = 18 }; /* bushing: six directions, and six modes of each of its matrices */

typedef struct sti_Spring {
    st_SpringType type;
    int a, b;
    st_Vec3 anchor_a, anchor_b;
    int angle;          /* angular: index in the world's angles */
    st_Quat relative;   /* bushing: as in sti_Angle                                                */
    st_Vec3 frame_a[3]; /* bushing                                                                 */
    double mode[12][6]; /* bushing: matrices as sums of d m m' over these modes */
    double rest;
    int soft_row; /* the first of its soft rows                                                    */
} sti_Spring;

/* Shapes with the same surface are of one kind; every two kinds are combined once. */
typedef struct sti_Surfaces {
    int n_kinds;
    int *kind;          /* of each shape; NULL: too many kinds, combined on demand */
    sti_Surface *table; /* n_kinds x n_kinds                                                       */
} sti_Surfaces;

/* ---- values that may change while a system runs: parameters.c --------------------------------------------
 *
 * These are only numbers: the set of bodies, joints and rows is part of the compiled scene and depends on none of
 * them. A system reads the arrays of its compiled scene until one of its numbers is changed; then it gets its own
 * copy of that array.
 */
typedef struct sti_BodyMass {
    double mass;       /* [kg]                                                                     */
    double inertia[6]; /* body axes: xx yy zz xy xz yz [kg m^2]; for a rotor the armature */
} sti_BodyMass;

static inline st_Mat3 sti_inertia(const sti_BodyMass *of)
{
    const double *J = of->inertia;
    return (st_Mat3){{J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]}};
}
static inline st_Vec3 sti_spin_momentum(const sti_BodyMass *of, st_Vec3 w)
{
    const st_Mat3 J = sti_inertia(of);
    return mat3_mul(&J, w);
}

typedef struct sti_JointValues {
    double lower[2], upper[2]; /* limits of its coordinate and of the other one; infinite: none     */
    double restitution, friction, stiffness, damping, rest;
    double motor_stiffness, motor_damping, max_force, target, offset; /* of its motor              */
} sti_JointValues;

typedef struct sti_SpringValues {
    /* one, or of a bushing: along x, y, z, about x, y, z; then of its modes */
    double stiffness[STI_SPRING_ROWS], damping[STI_SPRING_ROWS];
} sti_SpringValues;

typedef struct sti_SurfaceValues {
    double friction, restitution, rolling, spinning;
} sti_SurfaceValues;

enum { STI_BODY_VALUES = 1, STI_JOINT_VALUES = 2, STI_SPRING_VALUES = 4, STI_SURFACE_VALUES = 8 };

typedef struct sti_Values {
    sti_BodyMass *body;
    sti_JointValues *joint;
    sti_SpringValues *spring;
    sti_SurfaceValues *surface; /* of each shape; NULL: those of the scene                           */
    sti_Surfaces surfaces;      /* derived from them */
    bool turning;               /* some surfaces have rolling or spinning friction                   */
    void *block;                /* block of its own arrays */
    unsigned own;               /* arrays that differ from the compiled scene's: STI_BODY_VALUES and so on */
} sti_Values;

/* The expected motion of bodies: contacts are searched as far ahead as velocities reach within h. */
typedef struct sti_Foresight {
    double h;           /* 0: no motion                                                             */
    const double *v[2]; /* two guesses, or one and NULL                                             */
} sti_Foresight;

typedef struct sti_Ball {
    st_Vec3 centre;
    double radius;
} sti_Ball;

/* The class of a shape in the narrow phase: contacts with balls and planes are formulas. */
typedef enum sti_ShapeClass { STI_CLASS_OTHER, STI_CLASS_BALL, STI_CLASS_PLANE } sti_ShapeClass;

/* The cached patch of a pair of polytopes, valid until its bodies have moved farther than `until` [m]. */
typedef struct sti_ContactCacheEntry {
    double until;
    sti_CachedPatch patch;
    st_Pose pose[2]; /* of the bodies when it was made                                             */
} sti_ContactCacheEntry;

/* Compiled shapes, their poses, and the pairs that are near: collider.c. */
typedef struct sti_Collider {
    /* Compiled data, shared by all worlds of a compiled scene and read only. */
    void *compiled; /* the block of these arrays                                                   */
    int n_shapes, n_kinds;
    sti_Shape *made;      /* n_kinds compiled shapes, see sti_shape_of */
    const int *kind;      /* kind of each shape, owned by the scene */
    unsigned char *class; /* sti_ShapeClass of each                                                */
    bool *plain;          /* its pose is that of its body */
    int *core_of;         /* index of a shape's core; -1: it is a ball, a plane or a mesh */
    int n_cores;
    double *size;         /* least width of each shape [m]; 0: a plane or height field */
    double largest;       /* largest size of those that can move [m] */
    unsigned char *spans; /* of each shape: bit e: it extends through the whole periodic cell along axis e; bit 3 + e:
                             it does not move along that axis */
    bool *cacheable;      /* of each shape: its patches can be cached */
    bool *rolls;          /* of each body: it is a ball or has no shape, so that rotation moves no surface */
    double *body_reach;   /* of each body: largest distance of its shapes from its centre */
    uint64_t *excluded;   /* pairs of bodies that do not touch, sorted */
    int n_excluded;

    /* Data of one world. */
    void *placing;       /* the block of the arrays up to `path`                                    */
    st_Pose *pose;       /* poses of the shapes in the world */
    sti_Ball *ball;      /* bounding ball of each shape; that of a sphere is the sphere */
    sti_Bounds *bounds;  /* bounding box of each shape */
    sti_Bounds *swept;   /* bounding box that includes the expected motion */
    double *travel;      /* largest expected motion of each body */
    sti_Core *core;      /* n_cores: rotated cores of shapes, at the origin */
    st_Mat3 *axes;       /* of each body: its orientation as a matrix, body to world               */
    st_Pose *body_pose;  /* poses of the bodies at the last placement */
    double *path;        /* upper bound for the path of any point of each body since the first placement [m] */
    bool placed;         /* all of this is valid */
    bool asked;          /* placed for a query of the state, which has not moved since */
    double relative;     /* share of the smaller shape's size in the margin of a pair; 0: one margin for all */
    double least_margin; /* least margin of all pairs: the range of adhesion [m] */
    sti_Keep keep;       /* points of a patch                                                     */
    sti_Pairs pairs;
    sti_ContactCacheEntry *cache; /* n_cache entries, one for each pair of cacheable shapes */
    int n_cache;
    int64_t cache_capacity, cache_serial; /* of the pairs that have places                           */
    STI_ARRAY(bool, cache_used);          /* by place: a pair has it; apart, since all are set in turn */
    int64_t *live; /* while bodies sleep: the n_live pairs with at least one body that is awake */
    int64_t n_live, live_capacity;
    int64_t live_serial;       /* serial of the pairs it was made from; -1: must be made */
    sti_Points points;         /* points of the current pair */
    struct sti_Helper *helper; /* data of the other threads: contact.c */
    int n_helpers;
} sti_Collider;

struct sti_World;
/* contact_cache.c */
bool sti_shape_is_cacheable(const struct sti_World *world, int shape);
st_Status sti_contact_cache_update(struct sti_World *world, st_Error *err);
/* Has every pair of cacheable shapes its own entry? */
bool sti_contact_cache_is_valid(const sti_Collider *c);
/* The cache entry of a pair with bodies a and b; it is emptied if these have moved too far. The second stores the
 * end of validity of a patch that was just computed. */
sti_ContactCacheEntry *sti_contact_cache_find(const sti_Collider *c, const sti_PairMemo *pair, int a, int b);
void sti_contact_cache_store(const sti_Collider *c, sti_ContactCacheEntry *patch, int a, int b);

/* The size of the smaller of two shapes; 0: neither has one. */
static inline double sti_pair_size(const sti_Collider *c, int i, int j)
{
    const double a = c->size[i], b = c->size[j];
    return a > 0 && b > 0 ? (a < b ? a : b) : a + b;
}

/* Lian, Thornton & Adams 1993: the gap at which a liquid bridge breaks [m]. */
static inline double sti_rupture_gap(double volume, double angle)
{
    return (1 + 0.5 * angle) * cbrt(volume);
}

/* The margin of two shapes, given the margin of the largest shapes. */
static inline double sti_pair_margin(const sti_Collider *c, int i, int j, double margin)
{
    const double own = c->relative > 0 ? margin - c->relative * (c->largest - sti_pair_size(c, i, j)) : margin;
    return sti_larger(own, c->least_margin);
}

static inline const sti_Shape *sti_shape_of(const sti_Collider *c, int shape)
{
    return &c->made[c->kind[shape]];
}

/* A value that a controller has set in place of the scene's, and the time when. For a joint value[0] is the target
 * of its motor; for an applied force the force, then the torque. */
typedef struct sti_Control {
    double value[6];
    int64_t is_set;
} sti_Control;

/* An external force on a body, in effect until another is set. */
typedef struct sti_Push {
    int64_t body;
    double wrench[6]; /* force at the centre of mass and torque, world axes                        */
} sti_Push;

/* A compiled scene, and the data that each system has in addition. */
/* Is a body present? A body waits until an inlet adds it, and is gone after an outlet or the user has removed it. A
 * body that the user has removed or inserted since the last step is also STI_RELOCATED. */
typedef enum sti_Presence { STI_PRESENT = 0, STI_WAITS, STI_GONE, STI_RELOCATED = 4 } sti_Presence;

/* The coordinate of a joint and its row at the last position: springs, limits, motors, friction and rotors of one
 * joint all read it there. */
typedef struct sti_CoordinateCache sti_CoordinateCache;

/* An angle at the last orientations of its two bodies: a move computes it, and then rows and reports read it. */
typedef struct sti_AngleCache {
    bool known;
    st_Quat a, b;   /* the orientations                                                            */
    st_Quat turned; /* that of b against a, from angle 0                                           */
    double value;
} sti_AngleCache;

typedef struct sti_World {
    /* Compiled data, shared by all worlds of a compiled scene and read only. */
    st_CompiledScene *compiled; /* owns these arrays, counts its worlds */
    st_Scene *scene;            /* own copy: names, shapes, force tables                           */
    uint64_t fingerprint;       /* of the scene                                                         */
    void *block;                /* block of the arrays up to v0 */
    int n_bodies;               /* including the ground, which is body 0 */
    sti_Body *body;
    int n_joints, n_springs, n_angles;
    int n_joint_springs, n_bounded, n_limits, n_force_motors;
    int n_spring_rows; /* soft rows of springs; those of joints come after them */
    sti_Joint *joint;
    sti_Spring *spring;
    sti_Angle *angle; /* room for two per joint and one per spring */
    bool angles_idle; /* no row depends on the angles: they are for reports */
    int n_q, n_v, n_blocks;
    bool adheres;             /* some materials have adhesion or a liquid, or a force is an adhesion           */
    bool liquid;              /* some have a liquid                                                            */
    bool slender;             /* some shapes have anisotropic friction */
    bool stribeck;            /* some materials have speed-dependent friction */
    bool all_free;            /* each moving body has six velocities, and its own block of M */
    int *block_first;         /* n_blocks + 1: one block of M per moving body */
    unsigned char *principal; /* n_blocks: its axes are principal, so that its block is diagonal */
    double *q0, *v0;          /* initial state; NULL after the only system has taken it */

    sti_Collider collider; /* partly compiled, too */

    /* Data of one world. */
    sti_Values values;
    int64_t values_serial; /* number of changes of the values */
    st_Allocator allocator;
    st_Vec3 gravity;
    st_Medium medium;
    bool has_medium;
    bool has_fields;         /* drag or magnetic forces                                                     */
    int threads;             /* threads of a team for many pairs; the result does not depend on it */
    sti_Stop *stop;          /* ends a search for contacts early, with ST_ERR_CANCELLED; NULL: none */
    unsigned char *presence; /* sti_Presence of each body: presence.c                                      */
    unsigned char *asleep;   /* bodies that do not move, if there is a list of the others */
    const int *awake;        /* n_awake bodies that move, ascending; NULL: none sleeps. Owned by sleep.c */
    const int *awake_shape;  /* their n_awake_shapes shapes                                                 */
    int n_awake, n_awake_shapes;
    int64_t still;               /* changes whenever other bodies sleep, or at other poses; 0: no row may be reused */
    double rates_end;            /* 0, or: prescribed motions have their speed before this time [s] */
    double rates_over;           /* 0, or: prescribed motions have their mean speed over this time [s] */
    sti_Control *control;        /* n_joints, then the scene's n_forces                                       */
    int64_t n_controls;          /* number that are set */
    sti_AngleCache *angle_cache; /* by angle: measure.c                                                */
    sti_CoordinateCache *coordinate; /* two per joint: tendon.c                                       */
    int64_t place, n_places; /* place: not 0 while all coordinates are computed at one position; number of positions */
    sti_Push *push;          /* n_pushes, sorted by body */
    int n_pushes;
    int64_t push_capacity;
    double asleep_potential; /* potential energy of sleeping bodies [J] */
} sti_World;

/* The mass on which gravity acts [kg]. */
static inline double sti_weight(const sti_World *world, int body)
{
    return world->body[body].gravity * world->values.body[body].mass;
}

/* Nothing in it moves; the world of a user's model is empty. */
static inline bool sti_world_is_empty(const sti_World *world)
{
    return world->n_v == 0;
}

struct st_CompiledScene {
    _Atomic(int) references;
    sti_World world; /* the compiled part of every world opened from it */
};

/* Creates a world with its own compiled scene; or another world of a compiled scene. */
st_Status sti_world_create(const st_Scene *scene, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                           st_Error *err);
/* carry.c: replaces a world at (q, v) by another. An object with the name of an old object is the same: a body keeps
 * its pose and velocity; a joint or spring with the same attachment stays attached, with its counted turns. New
 * objects are described at the present poses of the bodies. */
typedef struct sti_Before {
    const sti_World *world;
    const double *q, *v;
    int *joint; /* of each joint of the new world: the old joint; -1: none */
} sti_Before;
st_Status sti_world_create_after(const st_Scene *scene, sti_Before *before, sti_World **out, st_Error *err);
st_Status sti_world_open(st_CompiledScene *compiled, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                         st_Error *err);
void sti_carry_bodies(sti_World *world, const sti_Before *before);
void sti_carry_attachments(sti_World *world, sti_Before *before);
void sti_carry_gears(sti_World *world, const sti_Before *before);
/* Frees the initial state after it has been taken, unless other systems may need it. */
void sti_world_started(sti_World *world);
void sti_world_destroy(sti_World *world);
st_Model sti_world_model(sti_World *world);
/* Contacts and limits of joints at q up to the gap `margin`, and those that the motion `ahead` may close. */
st_Status sti_world_contacts(sti_World *world, const double *q, double margin, const sti_Foresight *ahead,
                             st_Sink *sink, st_Error *err);
/* M; for bodies in principal axes only the diagonal. */
void sti_world_masses(const sti_World *world, double *M);
double sti_body_potential(const sti_World *world, const double *q, int body); /* in gravity */
/* The power of all weights at velocities v [W]. */
double sti_weight_power(const sti_World *world, const double *v);
double sti_world_kinetic(const sti_World *world, const double *v);

/* mass.c: mass and inertia of a body from its def and shapes. */
st_Status sti_body_mass(const st_Scene *scene, int body, double *mass, st_Mat3 *inertia, st_Error *err);
bool sti_inertia_from_shapes(const st_BodyDef *def); /* its inertia comes from its shapes */
/* The inertia of a body of a compiled scene with another mass. */
st_Status sti_inertia_with(const sti_World *world, int body, double mass, double inertia[6], st_Error *err);

/* The part of a row that acts on one body: linear . v + angular . w, both in world axes. */
typedef struct sti_Half {
    st_Vec3 linear, angular;
} sti_Half;

/* A function of time and of the poses of two bodies, with
 *     d value/dt = rate + on_a . velocity of a + on_b . velocity of b.
 * Joints are lists of measures that must vanish; a drive acts on a measure. */
typedef struct sti_Measure {
    double value, rate;
    sti_Half on_a, on_b;
} sti_Measure;

enum { STI_CACHE_KEY = 2 * STI_BODY_Q + 1 };
struct sti_CoordinateCache {
    bool known;
    int64_t place;             /* `place` of the world when it was computed last                            */
    double key[STI_CACHE_KEY]; /* poses of the two bodies, and the angle with its turns              */
    sti_Measure x;
    int count;
    int index[12];
    double gradient[12];
};

/* spring.c: a symmetric matrix as a sum of d m m'; false: it is not positive semi-definite. */
bool sti_matrix_modes(const double A[36], double d[6], double mode[][6]);

/* measure.c */
sti_Measure sti_measure_along(st_Pose a, st_Pose b, st_Vec3 p_b, st_Vec3 n, st_Vec3 at, double value);
sti_Measure sti_measure_angle(const sti_World *world, int angle, const double *q);
/* A measure with the rate of b relative to a about an axis of a. */
sti_Measure sti_measure_turning(st_Quat a, double value, st_Vec3 gradient);
sti_Measure sti_measure_rotation(st_Quat a, st_Quat b, st_Quat relative, st_Vec3 axis_a);
/* Adds an angle, with axes in the world, and returns its index: the twist of b about its axis, which agrees with a's
 * after the shortest rotation; or the angle of a pointer of b. */
int sti_angle_add(sti_World *world, int a, int b, st_Vec3 axis, st_Vec3 axis_b);
int sti_angle_add_pointer(sti_World *world, int a, int b, st_Vec3 axis, st_Vec3 pointer);
/* The first is called before a move from q with velocity v for h: it advances angles of fast bodies, so that whole
 * turns are counted. The second, after the move, updates the angles on which rows depend; the third the others,
 * after a step is accepted. */
void sti_angles_predict(const sti_World *world, const double *q, const double *v, double h, double *q_out);
void sti_angles_update(const sti_World *world, double *q);
void sti_angles_settle(const sti_World *world, double *q);
bool sti_angles_idle(const sti_World *world);

/* Each file of forces and constraints compiles its objects from the scene and computes their rows. */
void sti_joint_compile(sti_World *world, int index);
void sti_gears_compile(sti_World *world); /* after the initial state is set */
st_Status sti_joints_push(const sti_World *world, double t, const double *q, st_Sink *sink, st_Error *err);
/* Forces l at ball-like joints, times the levers that turn with them: by velocity, for rotations
 * (step/integrate/discrete_gradient.c). */
void sti_joints_tension(const sti_World *world, const double *q, const double *l, double *out);
void sti_joints_stiffness(const sti_World *world, const double *q, const double *l, double *out);
/* By velocity, the factors that turn rows at the middle of a rotation into their mean over it, or that make
 * Simpson's rule exact (step/integrate/discrete_gradient.c). */
void sti_world_turns(const sti_World *world, const double *v, double h, bool simpson, double *factor);
/* The n_rows measures of joint `index`; a gear has none of its own. */
#define STI_JOINT_ROWS 7
st_Status sti_joint_measures(const sti_World *world, int index, double t, const double *q, sti_Measure *out,
                             st_Error *err);
/* The size of joint `index`: the distance of its point from the centre of mass of a body, or the radius of gyration of
 * the body if that is larger; of its two bodies the larger size. Bodies that do not move do not count; INFINITY: none
 * counts, or a point mass is at the joint. */
double sti_joint_size(const sti_World *world, int index);
/* How far joint `index` is open, of its rows: lengths as a share of the size of the joint, angles in radians; 0: a
 * gear, or no more than `least`. */
double sti_joint_opening(const sti_World *world, int index, const sti_JointEntry *row, double least);
/* Its coordinate (which 0), or the other one (1). */
st_Status sti_joint_gauge(const sti_World *world, int index, int which, const double *q, sti_Measure *out,
                          st_Error *err);
st_Vec3 sti_joint_point(const sti_World *world, int index, const double *q); /* of b, in the world */
/* Likewise with its row, also for a tendon, of which x has only the value; tendon.c. */
struct sti_Rows;
st_Status sti_coordinate_row(const sti_World *world, int index, int which, const double *q, sti_Measure *x,
                             struct sti_Rows *rows, st_Error *err);
/* Likewise without a copy: pointers into the cache of the world, or into x and rows. Valid until the next call for
 * this coordinate. */
typedef struct sti_CoordinateView {
    const sti_Measure *x;
    int count;
    const int *index;
    const double *gradient;
} sti_CoordinateView;
st_Status sti_coordinate_view(const sti_World *world, int index, int which, const double *q, sti_Measure *x,
                              struct sti_Rows *rows, sti_CoordinateView *view, st_Error *err);
/* drive.c: limits, friction, motors and springs in the coordinates of joints. */
void sti_drives_compile(sti_World *world);
st_Status sti_drives_check(const sti_World *world, st_Error *err); /* after the initial state is set */
st_Status sti_limits_push(const sti_World *world, const double *q, double margin, const sti_Foresight *ahead,
                          st_Sink *sink, st_Error *err);
st_Status sti_bounded_push(const sti_World *world, double t, const double *q, st_Sink *sink, st_Error *err);
st_Status sti_joint_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err);
/* The target of the motor of a joint at t, set by the controller or by the scene; *rate (may be NULL) is its rate. */
double sti_motor_wanted(const sti_World *world, int joint, double t, double *rate);
/* Is a motor a joint row, because it needs no bounds: a prescribed motion, or a speed with unlimited force? */
bool sti_motor_holds(st_MotorType type, double max_force, double damping);
/* The first time after t at which the speed of a prescribed motion jumps, for one joint or for all (joint -1). */
double sti_motion_corner(const sti_World *world, int joint, double t);
/* Does the target of a motor change with time because of a value that a controller set? */
bool sti_motor_takes_time(const sti_World *world, int joint);
/* The force of a motor of type force, within its limits; 0 for any other type. */
double sti_motor_force(const sti_World *world, int joint, double t);
st_Status sti_motor_forces_add(const sti_World *world, double t, const double *q, double *k, st_Error *err);
void sti_spring_compile(sti_World *world, int index);
/* Its rows at q, and their number: elongations with their gradients; component (or NULL): the index of the stiffness
 * of each. */
int sti_spring_measures(const sti_World *world, int index, const double *q, sti_Measure out[STI_SPRING_ROWS],
                        int component[STI_SPRING_ROWS]);
st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err);
/* cell.c: refuses shapes that are too large for the periodic cell. */
st_Status sti_cell_compile(sti_World *world, st_Error *err);
/* The shift of a shape to its image in the cell; and the shift of shape j to its image nearest to shape i. */
st_Vec3 sti_cell_shift_of(const sti_World *world, int shape, st_Vec3 centre);
st_Vec3 sti_cell_image_of(const sti_World *world, int i, int j);
/* The lever from a body's centre, or its nearest image, to a contact point. */
static inline st_Vec3 sti_lever(const sti_World *world, st_Vec3 point, st_Vec3 centre)
{
    return cell_nearest(&world->scene->cell, sub(point, centre));
}
st_Status sti_contacts_push(sti_World *world, const double *q, double margin, const sti_Foresight *ahead, st_Sink *sink,
                            st_Error *err);
/* Converts a contact found at the position `from` to the position q: its point is the same point of body b, and its
 * gap is the one that becomes the gap at `from` along the normal when the bodies move there. */
void sti_contact_bring_back(const sti_World *world, const double *from, const double *q, sti_ContactEntry *entry);
/* The gap of a contact found at q after the bodies have moved, along its normal and at its point. */
double sti_contact_gap_after(const sti_World *world, const sti_ContactEntry *entry, const double *q, const double *to);
/* The first `dim` rows of a contact without rows in its sink, stored consecutively, at the last placement of bodies.
 * Returns the number of entries per row, at most 12, and their velocities. */
int sti_contact_rows(const sti_World *world, const sti_ContactEntry *entry, int dim, int *index, double *gradient);
/* The rows of a contact on the velocities of both bodies, stored consecutively, each with `count` numbers: `dim`
 * rates along the normal and the tangents, and if it `turns`, three rotational rates. */
void sti_contact_put_rows(const sti_World *world, const sti_ContactEntry *entry, int count, int dim, bool turns,
                          double *x);
/* contact_rows.c: the surface motion of a contact that `moves`, with the bodies at q; in an empty world that of the
 * surface itself. */
sti_Belt sti_contact_belt(const sti_World *world, const double *q, const sti_ContactEntry *entry);
void sti_helpers_free(sti_World *world);
st_Status sti_collider_compile(sti_World *world, st_Error *err);
void sti_collider_free(sti_World *world);                     /* frees compiled data */
st_Status sti_collider_open(sti_World *world, st_Error *err); /* makes the data of one world */
void sti_collider_close(sti_World *world);
st_Status sti_collider_place(sti_World *world, const double *q, st_Error *err);
/* Places a body that falls asleep: at q, without expected motion. */
void sti_collider_settle(sti_World *world, const double *q, int body);
/* Computes the boxes that include expected motion; returns the largest expected motion of planes. */
double sti_collider_foresee(sti_World *world, const sti_Foresight *ahead);
/* material.c: computes everything that is derived from surface values. */
st_Status sti_surfaces_compile(const st_Scene *scene, const st_Allocator *allocator, sti_Values *values, st_Error *err);
void sti_surfaces_free(const st_Scene *scene, const st_Allocator *allocator, sti_Surfaces *surfaces);
/* The combined surface of shapes i and j, if there are too many kinds for a table. */
sti_Surface sti_surface_on_demand(const sti_World *world, int i, int j);
/* The combined surface of shapes i and j: in the table, or in `room`. */
static inline const sti_Surface *sti_surface_of(const sti_World *world, int i, int j, sti_Surface *room)
{
    const sti_Surfaces *surfaces = &world->values.surfaces;
    if (surfaces->kind != NULL) return &surfaces->table[surfaces->kind[i] * surfaces->n_kinds + surfaces->kind[j]];
    *room = sti_surface_on_demand(world, i, j);
    return room;
}
/* parameters.c: copies the values of the world, with own arrays as selected by `own`; they are then exchanged with
 * those of the world, or freed. Refuses values that would need another scene, or that are out of range. */
st_Status sti_values_copy(const sti_World *world, unsigned own, sti_Values *out, st_Error *err);
void sti_values_exchange(sti_World *world, sti_Values *other);
bool sti_values_equal(const sti_World *world, const sti_Values *a, const sti_Values *b);
void sti_values_free(const sti_World *world, sti_Values *values);
st_Status sti_values_check(const sti_World *world, const sti_Values *values, st_Error *err);
/* A number by its path in a scene file (include/stiction/system.h): read from values; set in values that have their
 * own copy of the array returned by sti_parameter_array; stars match several. */
st_Status sti_parameter_array(const char *path, unsigned *own, st_Error *err);
st_Status sti_parameter_value(const sti_World *world, const sti_Values *values, const char *path, double *out,
                              st_Error *err);
st_Status sti_parameter_set(const sti_World *world, sti_Values *values, const char *path, double value, st_Error *err);
void sti_forces(const sti_World *world, double t, const double *q, double *k);
/* force.c: drag and magnetic forces, and their derivatives. */
bool sti_has_fields(const st_Scene *scene);
void sti_fields_add(const sti_World *world, const double *q, const double *v, double *k);
st_Status sti_fields_derivative(const sti_World *world, const double *q, const double *v, st_Sink *sink, st_Error *err);
/* A force at the centre of mass (world axes) and a torque (body axes), added to k. */
void sti_wrench_add(const sti_Body *body, st_Vec3 force, st_Vec3 torque, double *k);
/* fluid.c: the drag of a medium, added to k, and its derivative. */
void sti_fluid_compile(sti_World *world, const st_Medium *medium);
void sti_fluid_add(const sti_World *world, const double *q, const double *v, double *k);
st_Status sti_fluid_derivative(const sti_World *world, const double *q, const double *v, st_Sink *sink, st_Error *err);
/* fluid.c: the medium around the ellipsoid of an applied force. */
void sti_ellipsoid_add(const sti_World *world, int force, const double *q, const double *v, double *k);
st_Status sti_ellipsoid_derivative(const sti_World *world, int force, const double *q, const double *v, st_Sink *sink,
                                   st_Error *err);
/* rotor.c: armatures. */
static inline int sti_rotor_count(const sti_World *world)
{
    return world->scene->n_rotors;
}
static inline int sti_first_rotor(const sti_World *world) /* the others follow it */
{
    return world->n_bodies - sti_rotor_count(world);
}
st_Status sti_rotors_add(st_Scene *scene, st_Error *err);
void sti_rotors_compile(sti_World *world);
st_Status sti_rotors_push(const sti_World *world, const double *q, bool known, st_Sink *sink, st_Error *err);
/* Sets the velocities of rotors to those that follow from bodies at (q, v). */
st_Status sti_rotors_follow(const sti_World *world, const double *q, double *v, st_Error *err);
int sti_rotors_asleep(const sti_World *world);

static inline int sti_control_count(const sti_World *world)
{
    return world->n_joints + world->scene->n_forces;
}

/* presence.c */
static inline bool sti_is_absent(const sti_World *world, int body)
{
    return (world->presence[body] & ~STI_RELOCATED) != STI_PRESENT;
}
/* The body that is grain k = 1, 2, ... of an inlet; -1: it was removed from the scene. */
int sti_inlet_body(const sti_World *world, const sti_Inlet *inlet, int k);
void sti_presence_mark(sti_World *world); /* grains of inlets wait */
/* Copies the presence of bodies from the world before, by name. */
void sti_presence_carry(sti_World *world, const sti_World *before);
st_Pose sti_parked(const sti_World *world, int body);
int sti_relocated_count(const sti_World *world);
/* Parks grains of inlets in the initial state, except those of the world before (or NULL). */
void sti_presence_park(sti_World *world, const sti_World *before);

/* Loops over bodies that may move use these: while bodies sleep, the list of the others; else all bodies except the
 * ground, including fixed ones. For a sleeping body every vector of the system has its pose, or 0: it is not
 * written. */
static inline int sti_awake_count(const sti_World *world)
{
    return world->awake != NULL ? world->n_awake : world->n_bodies - 1;
}
enum { STI_LEAST_BODIES = 512 }; /* least number of bodies per thread */
static inline int sti_awake_body(const sti_World *world, int e)
{
    return world->awake != NULL ? world->awake[e] : e + 1;
}
/* The same without rotors, which come last: they have no weight, no shape and no place. */
static inline int sti_awake_solids(const sti_World *world)
{
    int n = sti_awake_count(world);
    if (world->awake == NULL) return n - sti_rotor_count(world);
    while (n > 0 && world->awake[n - 1] >= sti_first_rotor(world))
        n--;
    return n;
}
static inline bool sti_sleeps(const sti_World *world, int body)
{
    return world->awake != NULL && world->asleep[body];
}

static inline bool sti_stays(const sti_World *world, int body) /* asleep or fixed */
{
    return sti_sleeps(world, body) || world->body[body].n_dofs == 0;
}

/* Can neither move in this step, and could at least one move in another? */
static inline bool sti_both_stay(const sti_World *world, int a, int b)
{
    return (sti_sleeps(world, a) && (sti_sleeps(world, b) || world->body[b].n_dofs == 0)) ||
           (sti_sleeps(world, b) && world->body[a].n_dofs == 0);
}

/* Ids of contacts in the step problem are in ranges, so that a list of all of them is sorted by id:
 *     0 .. 2^62 - 1 contacts of shapes: shape i, shape j, feature;
 *     from 2^62 limits: 4 joint + 2 which + (upper);     from 2^63 bounded rows. */
#define STI_SHAPE_BITS 21
static inline uint64_t sti_contact_id(int i, int j, uint32_t feature)
{
    return (uint64_t)i << (STI_SHAPE_BITS + STI_FEATURE_BITS) | (uint64_t)j << STI_FEATURE_BITS | (uint64_t)feature;
}
static inline int sti_contact_shape(uint64_t id, int side)
{
    return (int)(id >> (side == 0 ? STI_SHAPE_BITS + STI_FEATURE_BITS : STI_FEATURE_BITS) &
                 (((uint64_t)1 << STI_SHAPE_BITS) - 1));
}
static inline uint32_t sti_contact_feature(uint64_t id)
{
    return (uint32_t)(id & (((uint64_t)1 << STI_FEATURE_BITS) - 1));
}
#define STI_LIMIT_ID   ((uint64_t)1 << 62)
#define STI_BOUNDED_ID ((uint64_t)1 << 63)
static inline int sti_limit_joint(uint64_t id) /* -1: not a limit */
{
    return id >= STI_LIMIT_ID && id < STI_BOUNDED_ID ? (int)((id - STI_LIMIT_ID) >> 2) : -1;
}
static inline int sti_limit_which(uint64_t id) /* of a limit: 0, or 1 for the other coordinate */
{
    return (int)(id >> 1 & 1u);
}

static inline st_Pose sti_pose(const double *q, int body)
{
    static const st_Pose ground = {{0, 0, 0}, {1, 0, 0, 0}};
    if (body == 0) return ground;
    const double *p = q + (int64_t)STI_BODY_Q * (body - 1);
    return (st_Pose){{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
}

/* Rows on the velocities of two bodies: the free ones of a, then of b. Those of a gear are on four bodies, those of
 * a tendon on as many as it has parts, followed by a rotor's velocity. */
#define STI_TENDON_PARTS 64
typedef struct sti_Rows {
    int count;
    int index[12 * STI_TENDON_PARTS + 1];
    double gradient[12 * STI_TENDON_PARTS + 1]; /* row k at gradient + k * count                   */
} sti_Rows;

/* Writes linear . v + angular . w of a body, the latter in body axes, on its free velocities; returns the next
 * position. */
static inline double *sti_put_half(const sti_Body *body, st_Vec3 linear, st_Vec3 angular, double *gradient)
{
    if (body->n_dofs == 6) {
        vec3_store(gradient, linear);
        vec3_store(gradient + 3, angular);
        return gradient + 6;
    }
    double full[6];
    vec3_store(full, linear);
    vec3_store(full + 3, angular);
    for (int k = 0; k < body->n_dofs; k++)
        *gradient++ = full[body->dof[k]];
    return gradient;
}

/* The velocity of a body, with zeros for locked degrees of freedom; w is in body axes. */
static inline void sti_body_velocity(const sti_Body *body, const double *v, st_Vec3 *linear, st_Vec3 *w)
{
    if (body->n_dofs == 6) {
        *linear = vec3_load(v + body->v_first);
        *w = vec3_load(v + body->v_first + 3);
        return;
    }
    double full[6] = {0};
    for (int k = 0; k < body->n_dofs; k++)
        full[body->dof[k]] = v[body->v_first + k];
    *linear = vec3_load(full);
    *w = vec3_load(full + 3);
}

/* An upper bound for the motion of any point within reach of a body: a rotation by theta moves it by at most 2 reach
 * sin(theta/2), and the quaternions differ by 2 sin(theta/4). */
static inline double sti_way_between(const st_Pose *from, const st_Pose *to, double reach)
{
    const double w = to->q.w - from->q.w, x = to->q.x - from->q.x, y = to->q.y - from->q.y, z = to->q.z - from->q.z;
    return norm(sub(to->p, from->p)) + 2 * reach * sqrt(w * w + x * x + y * y + z * z);
}

/* An upper bound for the speed of a body's surface relative to its centre; for a body with a plane there is none. */
static inline double sti_turning_speed(const sti_World *world, int body, st_Vec3 w)
{
    double reach = world->collider.rolls[body] ? 0 : world->collider.body_reach[body];
    return isfinite(reach) ? norm(w) * reach : 0;
}

int sti_rows_index(const sti_World *world, int a, int b, int *index); /* returns the number; index has room for 12 */
/* The numbers of the single row of a measure between bodies a and b; the row. */
void sti_measure_gradient(const sti_World *world, const double *q, int a, int b, const sti_Measure *measure,
                          double *gradient);
void sti_rows_measure(const sti_World *world, const double *q, int a, int b, const sti_Measure *measure,
                      sti_Rows *rows);
/* rows += factor * other; both have one row. */
void sti_rows_add(sti_Rows *rows, double factor, const sti_Rows *other);

#endif
