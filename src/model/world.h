/* model/world.h -- the rigid-body world: a scene compiled into a system of model.h.
 *
 * State of the world:
 *
 *     q = [ body 1: x y z  w x y z | body 2: ... | angle 1, 2, ... of angular springs and joints ]
 *     v = [ body 1: its free ones of  vx vy vz (world)  wx wy wz (body) | body 2: ... ]
 *
 * Locked degrees of freedom are not in v at all. Fixed bodies stand in q and never move. The angles
 * count whole turns: they are coordinates, so that a state is complete and can be restored.
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
    unsigned char dof[6]; /* its free ones among vx vy vz wx wy wz, increasing                    */
    bool inertia_given;   /* in the scene; else it is that of its shapes, in proportion to its mass */
    double gravity;       /* how much of gravity it feels                                         */
    double medium;        /* how much of the medium's drag it feels                               */
} sti_Body;

/* The angle b has turned against a about an axis of a, with its whole turns: a coordinate in q. Its twist, or the
 * angle of a pointer: of an axis fixed in b that points away from a's.                               */
typedef struct sti_Angle {
    int a, b;
    st_Vec3 axis_a;
    st_Quat relative; /* inverse(orientation of a) * orientation of b where the twist is 0         */
    bool is_pointer;
    st_Vec3 pointer_a, pointer_b; /* in a where its angle is 0; in b                                     */
    int q;                        /* where it stands in q                                                */
} sti_Angle;

/* Frames are fixed in the bodies: columns x, y, z of a joint frame, z along the axis. */
typedef struct sti_Joint {
    st_JointType type;
    int a, b;
    st_Vec3 anchor_a, anchor_b;
    st_Vec3 frame_a[3], frame_b[3];
    double length;
    double lead;                 /* screw: pitch per radian                                                        */
    st_Coordinate coordinate[2]; /* the one that all acts on; the other, where there is one         */
    int angle[ST_N_COORDINATES]; /* of each: in the world's angles; -1: none there                  */
    int geared[2];               /* gear: its two joints                                            */
    st_Vec3 curve;         /* of a gear: of the square, the cube and the fourth power of its second coordinate     */
    double ratio, offset;  /* gear: x_a - ratio x_b = offset                                  */
    int first_row, n_rows; /* among the joint rows; the motor's, if it holds one, is the last */
    bool held;             /* motion, or a speed without a force limit                        */
    bool at_speed;         /* the latter                                                      */
    int spring_row;        /* among the soft rows; -1: none                                   */
    int friction_row, motor_row; /* among the bounded rows; -1: none                               */
    int rotor, rotor_row;        /* armature: a body, among the joint rows; 0, -1: none             */
} sti_Joint;

enum { STI_SPRING_ROWS = 18 }; /* of a bushing: six directions, and six modes of each of its matrices */

typedef struct sti_Spring {
    st_SpringType type;
    int a, b;
    st_Vec3 anchor_a, anchor_b;
    int angle;          /* angular: in the world's angles                                          */
    st_Quat relative;   /* bushing: as in sti_Angle                                                */
    st_Vec3 frame_a[3]; /* bushing                                                                 */
    double mode[12][6]; /* bushing: matrices as sums of these, d m m'                              */
    double rest;
    int soft_row; /* the first of its soft rows                                                    */
} sti_Spring;

/* Shapes with the same surface are of one kind; every two kinds are combined once. */
typedef struct sti_Surfaces {
    int n_kinds;
    int *kind;          /* of each shape; NULL: nearly each has its own, combined when asked for   */
    sti_Surface *table; /* n_kinds x n_kinds                                                       */
} sti_Surfaces;

/* ---- what may change while a system runs: parameters.c --------------------------------------------
 *
 * Numbers alone: which bodies, joints and rows there are is part of the compiled scene and depends on none of them. A
 * system reads the arrays of its compiled scene until one of its numbers is changed; then it has that array of its own.
 */
typedef struct sti_BodyMass {
    double mass;       /* [kg]                                                                     */
    double inertia[6]; /* body axes: xx yy zz xy xz yz [kg m^2]; of a rotor the armature           */
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
    double stiffness[STI_SPRING_ROWS], damping[STI_SPRING_ROWS]; /* one, or of the bushing: along x, y, z, about x, y,
                                                                  * z; then of its modes           */
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
    sti_Surfaces surfaces;      /* what follows from them                                            */
    bool turning;               /* some surfaces have rolling or spinning friction                   */
    void *block;                /* of the own arrays                                                 */
    unsigned own;               /* arrays of these that are not the compiled scene's: STI_BODY_VALUES and so on */
} sti_Values;

/* Where bodies are expected to go: contacts are looked for as far ahead as their velocities reach within h. */
typedef struct sti_Foresight {
    double h;
    const double *v[2]; /* two guesses, or one and NULL                                             */
} sti_Foresight;

typedef struct sti_Ball {
    st_Vec3 centre;
    double radius;
} sti_Ball;

/* How the narrow phase sees a shape: with balls and planes it is a formula, in place. */
typedef enum sti_ShapeClass { STI_CLASS_OTHER, STI_CLASS_BALL, STI_CLASS_PLANE } sti_ShapeClass;

/* What a pair of polytopes keeps of its patch, as long as its bodies have not gone farther than `until` [m]. */
typedef struct sti_ContactCacheEntry {
    double until;
    sti_CachedPatch patch;
    st_Pose pose[2]; /* of the bodies when it was made                                             */
} sti_ContactCacheEntry;

/* Shapes made ready, where they are, and which are near: collider.c. */
typedef struct sti_Collider {
    /* Compiled: shared by all worlds of a compiled scene, and read only. */
    void *compiled; /* the block of these arrays                                                   */
    int n_shapes, n_kinds;
    sti_Shape *made;      /* n_kinds: shapes made ready, see sti_shape_of                          */
    const int *kind;      /* the scene's: of each shape                                            */
    unsigned char *class; /* sti_ShapeClass of each                                                */
    bool *plain;          /* is where its body is, not turned against it                           */
    int *core_of;         /* where a shape's core is; -1: it is a ball, a plane or a mesh          */
    int n_cores;
    double *size;         /* of each shape: its least width; 0: a plane or height field, which has none [m] */
    double largest;       /* of those that can move [m]                                                 */
    unsigned char *spans; /* of each shape: bit e: it goes through the whole periodic cell along axis e; bit 3 + e: it
                           * stays where it is along that axis                                       */
    bool *cacheable;      /* of each shape: patches of it can be kept                                   */
    bool *rolls;          /* of each body: it is a ball, or has no shape: turning moves no surface      */
    double *body_reach;   /* of each body: how far its shapes go from its centre                     */
    uint64_t *excluded;   /* pairs of bodies that do not touch, in order                             */
    int n_excluded;

    /* Of one world. */
    void *placing;       /* the block of the arrays up to `path`                                    */
    st_Pose *pose;       /* of the shapes, in the world                                            */
    sti_Ball *ball;      /* that holds a shape, or larger; a sphere's is the sphere                */
    sti_Bounds *bounds;  /* around them                                                            */
    sti_Bounds *swept;   /* around them and where they are expected to go                          */
    double *travel;      /* how far that is at most, of each body                                  */
    sti_Core *core;      /* n_cores: shapes with a core as they are turned, at the origin          */
    st_Mat3 *axes;       /* of each body: its orientation as a matrix, body to world               */
    st_Pose *body_pose;  /* of the bodies, where the shapes were placed last                       */
    double *path;        /* of each body: no point of it has gone farther since it was placed first [m] */
    sti_Foresight ahead; /* h = 0: none                                                            */
    bool placed;         /* all of this holds something                                            */
    bool asked;          /* placed for a question to the state, which has not been moved since     */
    double relative;     /* part of the size of a pair's smaller shape in its margin; 0: one margin for all */
    double least_margin; /* of all pairs: adhesion reaches as far [m]                              */
    sti_Keep keep;       /* points of a patch                                                     */
    sti_Pairs pairs;
    sti_ContactCacheEntry *cache; /* n_cache places, one for each pair of cacheable shapes                   */
    int n_cache;
    int64_t cache_capacity, cache_serial; /* of the pairs that have places                           */
    STI_ARRAY(bool, cache_used);          /* by place: a pair has it; apart, since all are set in turn */
    int64_t *live; /* while somebody sleeps: the n_live pairs with somebody who does not            */
    int64_t n_live, live_capacity;
    int64_t live_serial;       /* of the pairs that it was made of; -1: to be made                        */
    sti_Points points;         /* of the pair at hand                                                      */
    struct sti_Helper *helper; /* of the other threads: contact.c                                  */
    int n_helpers;
} sti_Collider;

struct sti_World;
/* contact_cache.c */
bool sti_shape_is_cacheable(const struct sti_World *world, int shape);
st_Status sti_contact_cache_update(struct sti_World *world, st_Error *err);
/* Every pair of cacheable shapes has an entry of its own. */
bool sti_contact_cache_is_valid(const sti_Collider *c);
/* The place of a pair that has one, its bodies a and b: empty where these have gone beyond what it has room for; a
 * patch that was just made there.                                                                       */
sti_ContactCacheEntry *sti_contact_cache_find(const sti_Collider *c, const sti_Pair *pair, int a, int b);
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

/* What a margin, which is that of the largest shapes, is for two shapes. */
static inline double sti_pair_margin(const sti_Collider *c, int i, int j, double margin)
{
    const double own = c->relative > 0 ? margin - c->relative * (c->largest - sti_pair_size(c, i, j)) : margin;
    return sti_larger(own, c->least_margin);
}

static inline const sti_Shape *sti_shape_of(const sti_Collider *c, int shape)
{
    return &c->made[c->kind[shape]];
}

/* What a controller says in place of the scene, from when it says it: of a joint value[0], what its motor wants; of an
 * applied force the force, then the torque.                                                       */
typedef struct sti_Control {
    double value[6];
    int64_t is_set;
} sti_Control;

/* A push from outside on a body, kept until another is said. */
typedef struct sti_Push {
    int64_t body;
    double wrench[6]; /* force at the centre of mass and torque, world axes                        */
} sti_Push;

/* A compiled scene, and what one system has beside it. */
/* Is a body there? One that an inlet has yet to bring waits; one that an outlet or the user has taken is gone. A body
 * that the user has taken out or put in since the last step is STI_RELOCATED, too.                */
typedef enum sti_Presence { STI_PRESENT = 0, STI_WAITS, STI_GONE, STI_RELOCATED = 4 } sti_Presence;

/* The coordinate of a joint and its row at the last place that was asked for: springs, limits, motors, friction and
 * rotors of one joint read it at the same place.                                                     */
typedef struct sti_CoordinateCache sti_CoordinateCache;

typedef struct sti_World {
    /* Compiled: shared by all worlds of a compiled scene, and read only. */
    st_CompiledScene *compiled; /* has these arrays, counts its worlds                             */
    st_Scene *scene;            /* own copy: names, shapes, force tables                           */
    uint64_t fingerprint;       /* of the scene                                                         */
    void *block;                /* of the arrays down to v0                                        */
    int n_bodies;               /* with the ground, which is body 0                                */
    sti_Body *body;
    int n_joints, n_springs, n_angles;
    int n_joint_springs, n_bounded, n_limits, n_force_motors;
    int n_spring_rows; /* soft rows of springs; those of joints come after them */
    sti_Joint *joint;
    sti_Spring *spring;
    sti_Angle *angle; /* room for two a joint and one a spring                                     */
    bool angles_idle; /* no row depends on one: they are for reports                               */
    int n_q, n_v, n_blocks;
    bool adheres;             /* some materials have adhesion or a liquid, or a force is an adhesion           */
    bool liquid;              /* some have a liquid                                                            */
    bool slender;             /* some shapes have friction by direction                                        */
    bool stribeck;            /* some materials have friction that depends on speed                            */
    bool all_free;            /* each body that moves has six velocities, and a block of M of its own          */
    int *block_first;         /* n_blocks + 1: one block of M a moving body                                */
    unsigned char *principal; /* n_blocks: its axes are principal ones, so that its block is diagonal   */
    double *q0, *v0;          /* initial state; NULL once the only system has taken it                   */

    sti_Collider collider; /* in part, too */

    /* Of one world. */
    sti_Values values;
    int64_t values_serial; /* changes of them                                                          */
    st_Allocator allocator;
    st_Vec3 gravity;
    st_Medium medium;
    bool has_medium;
    bool has_fields;         /* drag or magnetic forces                                                     */
    int threads;             /* of a team over many pairs; the result does not depend on it                 */
    sti_Stop *stop;          /* ends a search for contacts early, with ST_ERR_CANCELLED; NULL: nothing does */
    unsigned char *presence; /* sti_Presence of each body: presence.c                                      */
    unsigned char *asleep;   /* bodies that stay where they are, if there is a list of the others           */
    const int *awake;        /* n_awake bodies that move, ascending; NULL: none sleeps. sleep.c's           */
    const int *awake_shape;  /* their n_awake_shapes shapes                                                 */
    int n_awake, n_awake_shapes;
    int64_t still;        /* another number whenever others sleep, or elsewhere; 0: no row may be taken as it was  */
    double rates_end;     /* 0, or: prescribed motions have the speed that they have before this time [s]  */
    double rates_over;    /* 0, or: their mean speed over this time [s]                                     */
    sti_Control *control; /* n_joints, then the scene's n_forces                                       */
    int64_t n_controls;   /* that are set                                                              */
    sti_CoordinateCache *coordinate; /* two per joint: tendon.c                                       */
    sti_Push *push;                  /* n_pushes, by body                                                         */
    int n_pushes;
    int64_t push_capacity;
    double asleep_potential; /* of bodies that sleep [J]                                               */
} sti_World;

/* What gravity pulls at [kg]. */
static inline double sti_weight(const sti_World *world, int body)
{
    return world->body[body].gravity * world->values.body[body].mass;
}

/* Nothing in it moves: a user's model has such a world. */
static inline bool sti_world_is_empty(const sti_World *world)
{
    return world->n_v == 0;
}

struct st_CompiledScene {
    _Atomic(int) references;
    sti_World world; /* the compiled part of every world that is opened from it                    */
};

/* A world of its own compiled scene; a further world of a compiled scene. */
st_Status sti_world_create(const st_Scene *scene, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                           st_Error *err);
/* carry.c: a world at (q, v) that goes on as another. Whoever bears the name of one that was there is the same: a body
 * stands and moves as it did, a joint or spring whose attachment is described as it was stays attached there, with the
 * turns it has counted. What is new is described in the world as the bodies stand now.               */
typedef struct sti_Before {
    const sti_World *world;
    const double *q, *v;
    int *joint; /* of each joint of the new world: the one it was; -1: none                        */
} sti_Before;
st_Status sti_world_create_after(const st_Scene *scene, sti_Before *before, sti_World **out, st_Error *err);
st_Status sti_world_open(st_CompiledScene *compiled, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                         st_Error *err);
void sti_carry_bodies(sti_World *world, const sti_Before *before);
void sti_carry_attachments(sti_World *world, sti_Before *before);
void sti_carry_gears(sti_World *world, const sti_Before *before);
/* The initial state has been taken: it goes, unless other systems may need it. */
void sti_world_started(sti_World *world);
void sti_world_destroy(sti_World *world);
st_Model sti_world_model(sti_World *world);
/* M, of bodies in principal axes the diagonal alone. */
void sti_world_masses(const sti_World *world, double *M);
double sti_body_potential(const sti_World *world, const double *q, int body); /* in gravity */
/* The power of all weights at velocities v [W]. */
double sti_weight_power(const sti_World *world, const double *v);
double sti_world_kinetic(const sti_World *world, const double *v);

/* mass.c: mass and inertia of a body from its def and shapes. */
st_Status sti_body_mass(const st_Scene *scene, int body, double *mass, st_Mat3 *inertia, st_Error *err);
bool sti_inertia_from_shapes(const st_BodyDef *def); /* it has no inertia of its own */
/* The inertia that a body of a compiled scene has with another mass. */
st_Status sti_inertia_with(const sti_World *world, int body, double mass, double inertia[6], st_Error *err);

/* What a row says of one body: linear . v + angular . w, both in world axes. */
typedef struct sti_Half {
    st_Vec3 linear, angular;
} sti_Half;

/* A function of time and of the poses of two bodies, with
 *     d value/dt = rate + on_a . velocity of a + on_b . velocity of b.
 * Joints are lists of measures that must vanish; drives act on a measure.                          */
typedef struct sti_Measure {
    double value, rate;
    sti_Half on_a, on_b;
} sti_Measure;

enum { STI_CACHE_KEY = 2 * STI_BODY_Q + 1 };
struct sti_CoordinateCache {
    bool known;
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
/* A value whose rate is that of b against a about an axis of a. */
sti_Measure sti_measure_turning(st_Quat a, double value, st_Vec3 gradient);
sti_Measure sti_measure_rotation(st_Quat a, st_Quat b, st_Quat relative, st_Vec3 axis_a);
/* Axes in the world, returns its index: the twist of b about an axis of its own that agrees with a's after the
 * shortest turn; the angle of a pointer of b.                                                        */
int sti_angle_add(sti_World *world, int a, int b, st_Vec3 axis, st_Vec3 axis_b);
int sti_angle_add_pointer(sti_World *world, int a, int b, st_Vec3 axis, st_Vec3 pointer);
/* Before a move from q with velocity v for h: where fast ones will about be, so that whole turns are counted. After it,
 * those that rows depend on; the others once a step is accepted.                                    */
void sti_angles_predict(const sti_World *world, const double *q, const double *v, double h, double *q_out);
void sti_angles_update(const sti_World *world, double *q);
void sti_angles_settle(const sti_World *world, double *q);
bool sti_angles_idle(const sti_World *world);

/* Each file of forces and constraints compiles its objects from the scene and serves its rows. */
void sti_joint_compile(sti_World *world, int index);
void sti_gears_compile(sti_World *world); /* when the initial state is there */
st_Status sti_joints_push(const sti_World *world, double t, const double *q, st_Sink *sink, st_Error *err);
/* Forces l at joints whose points meet, times the levers they turn with: by velocity, for rotations
 * (step/integrate/discrete_gradient.c). */
void sti_joints_tension(const sti_World *world, const double *q, const double *l, double *out);
/* By velocity, what makes rows at the middle of a rotation their mean over it, or Simpson's rule exact
 * (step/integrate/discrete_gradient.c).
 */
void sti_world_turns(const sti_World *world, const double *v, double h, bool simpson, double *factor);
/* The measures of joint `index`, its n_rows of them; a gear has none of its own. */
#define STI_JOINT_ROWS 7
st_Status sti_joint_measures(const sti_World *world, int index, double t, const double *q, sti_Measure *out,
                             st_Error *err);
/* Its coordinate (which 0), or the other one (1). */
st_Status sti_joint_gauge(const sti_World *world, int index, int which, const double *q, sti_Measure *out,
                          st_Error *err);
st_Vec3 sti_joint_point(const sti_World *world, int index, const double *q); /* of b, in the world */
/* The same and its row, of a tendon, too, of which x has the value alone; tendon.c. */
struct sti_Rows;
st_Status sti_coordinate_row(const sti_World *world, int index, int which, const double *q, sti_Measure *x,
                             struct sti_Rows *rows, st_Error *err);
/* The same without a copy: pointers into the cache of the world, or into x and rows. Valid until the next call for this
 * coordinate.                                                                                        */
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
st_Status sti_drives_check(const sti_World *world, st_Error *err); /* when the initial state is there */
st_Status sti_limits_push(const sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err);
st_Status sti_bounded_push(const sti_World *world, double t, const double *q, st_Sink *sink, st_Error *err);
st_Status sti_joint_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err);
/* What the motor of a joint wants at t: the controller's word, or the scene's; *rate (may be NULL): how fast it
 * changes. */
double sti_motor_wanted(const sti_World *world, int joint, double t, double *rate);
/* A motor that needs no bounds is a joint row: a motion, or a speed whatever the force. */
bool sti_motor_holds(st_MotorType type, double max_force, double damping);
/* The first time after t at which the speed of a prescribed motion jumps, of one joint or of all (joint -1). */
double sti_motion_corner(const sti_World *world, int joint, double t);
/* Does the wanted value of a motor change with time because of what a controller set? */
bool sti_motor_takes_time(const sti_World *world, int joint);
/* Of a motor of type force, within its limits; of any other 0. */
double sti_motor_force(const sti_World *world, int joint, double t);
st_Status sti_motor_forces_add(const sti_World *world, double t, const double *q, double *k, st_Error *err);
void sti_spring_compile(sti_World *world, int index);
/* Its rows at q, how many: elongations with their gradients; component (or NULL): which of its stiffnesses each has. */
int sti_spring_measures(const sti_World *world, int index, const double *q, sti_Measure out[STI_SPRING_ROWS],
                        int component[STI_SPRING_ROWS]);
st_Status sti_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err);
/* cell.c: refuses shapes that the periodic cell has no room for. */
st_Status sti_cell_compile(sti_World *world, st_Error *err);
/* From where a shape is to its image in the cell; from there, where shape j is to its image nearest to shape i. */
st_Vec3 sti_cell_shift_of(const sti_World *world, int shape, st_Vec3 centre);
st_Vec3 sti_cell_image_of(const sti_World *world, int i, int j);
/* From a body's centre, or the nearest of its images, to a point of a contact. */
static inline st_Vec3 sti_lever(const sti_World *world, st_Vec3 point, st_Vec3 centre)
{
    return cell_nearest(&world->scene->cell, sub(point, centre));
}
st_Status sti_contacts_push(sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err);
/* A contact of the position `from`, as the position q sees it: with the point where it was on body b, and the gap that
 * closes to the one at `from` along its normal when the bodies move there.                         */
void sti_contact_bring_back(const sti_World *world, const double *from, const double *q, sti_ContactEntry *entry);
/* The gap of a contact of position q when the bodies have moved, along its normal and at its point. */
double sti_contact_gap_after(const sti_World *world, const sti_ContactEntry *entry, const double *q, const double *to);
/* The first `dim` rows of a contact without rows in its sink, one behind the other, where bodies were placed last: how
 * many numbers each has, at most 12, and on which velocities.                                     */
int sti_contact_rows(const sti_World *world, const sti_ContactEntry *entry, int dim, int *index, double *gradient);
/* The rows of a contact on the velocities of both bodies, one behind the other, each with `count` numbers: `dim` rates
 * along the normal and the tangents, and if it `turns`, three about them.           */
void sti_contact_put_rows(const sti_World *world, const sti_ContactEntry *entry, int count, int dim, bool turns,
                          double *x);
/* contact_rows.c: how the surfaces of a contact that `moves` do so, with the bodies at q; in an empty world the
 * surface's own.
 */
sti_Belt sti_contact_belt(const sti_World *world, const double *q, const sti_ContactEntry *entry);
void sti_helpers_free(sti_World *world);
st_Status sti_collider_compile(sti_World *world, st_Error *err);
void sti_collider_free(sti_World *world);                     /* what is compiled */
st_Status sti_collider_open(sti_World *world, st_Error *err); /* what each world has of its own */
void sti_collider_close(sti_World *world);
st_Status sti_collider_place(sti_World *world, const double *q, st_Error *err);
/* Where a body that falls asleep will be found: at q, going nowhere. */
void sti_collider_settle(sti_World *world, const double *q, int body);
/* The boxes around where shapes are expected to go; returns how far planes move at most. */
double sti_collider_foresee(sti_World *world);
/* material.c: what follows from the surface values. */
st_Status sti_surfaces_compile(const st_Scene *scene, const st_Allocator *allocator, sti_Values *values, st_Error *err);
void sti_surfaces_free(const st_Scene *scene, const st_Allocator *allocator, sti_Surfaces *surfaces);
/* Of shapes i and j: in the table, or in `room`. */
const sti_Surface *sti_surface_of(const sti_World *world, int i, int j, sti_Surface *room);
/* parameters.c: values that begin as those of the world, with own arrays where `own` says so; exchanged with those of
 * the world, or freed. Refused: values that another scene would need, or that are out of range. */
st_Status sti_values_copy(const sti_World *world, unsigned own, sti_Values *out, st_Error *err);
void sti_values_exchange(sti_World *world, sti_Values *other);
bool sti_values_equal(const sti_World *world, const sti_Values *a, const sti_Values *b);
void sti_values_free(const sti_World *world, sti_Values *values);
st_Status sti_values_check(const sti_World *world, const sti_Values *values, st_Error *err);
/* A number by the path that it has in a scene file (include/stiction/system.h): read from values; set in values that
 * have own arrays of what sti_parameter_array names; stars reach several. */
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
static inline int sti_first_rotor(const sti_World *world) /* the others after it */
{
    return world->n_bodies - sti_rotor_count(world);
}
st_Status sti_rotors_add(st_Scene *scene, st_Error *err);
void sti_rotors_compile(sti_World *world);
st_Status sti_rotors_push(const sti_World *world, const double *q, bool known, st_Sink *sink, st_Error *err);
/* The velocities of rotors become those that bodies at (q, v) give them. */
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
/* As in the world before: by name. */
void sti_presence_carry(sti_World *world, const sti_World *before);
st_Pose sti_parked(const sti_World *world, int body);
int sti_relocated_count(const sti_World *world);
/* Where grains of inlets are in the initial state, but for those of the world before (or NULL). */
void sti_presence_park(sti_World *world, const sti_World *before);

/* What may move goes through these: while somebody sleeps, the list of the others; else all bodies but the ground, with
 * those that are fixed. Of a sleeper every vector of the system holds its pose, or 0: nobody writes there. */
static inline int sti_awake_count(const sti_World *world)
{
    return world->awake != NULL ? world->n_awake : world->n_bodies - 1;
}
enum { STI_LEAST_BODIES = 512 }; /* that are worth a thread */
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

static inline bool sti_stays(const sti_World *world, int body) /* asleep, or fixed */
{
    return sti_sleeps(world, body) || world->body[body].n_dofs == 0;
}

/* Neither can move in this step, and not because neither ever can. */
static inline bool sti_both_stay(const sti_World *world, int a, int b)
{
    return (sti_sleeps(world, a) && (sti_sleeps(world, b) || world->body[b].n_dofs == 0)) ||
           (sti_sleeps(world, b) && world->body[a].n_dofs == 0);
}

/* Ids of the step problem's contacts come in ranges, so that a list of all of them stands by id:
 *     0 .. 2^62 - 1 contacts of shapes: shape i, shape j, feature;
 *     from 2^62 limits: 4 joint + 2 which + (upper);     from 2^63 bounded rows.                    */
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
static inline int sti_limit_which(uint64_t id) /* of a limit: 0, or 1 of the other coordinate */
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

/* Rows on the velocities of two bodies: the free ones of a, then of b; a gear's: of four; a tendon's: of as many as it
 * has parts, and a rotor's velocity behind them.                                                  */
#define STI_TENDON_PARTS 64
typedef struct sti_Rows {
    int count;
    int index[12 * STI_TENDON_PARTS + 1];
    double gradient[12 * STI_TENDON_PARTS + 1]; /* row k at gradient + k * count                   */
} sti_Rows;

/* linear . v + angular . w of a body, the latter in its own axes, on its free velocities; returns where to go on. */
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

/* The velocity of a body with zeros at its locked degrees of freedom; of a body in its own axes: w. */
static inline void sti_body_velocity(const sti_Body *body, const double *v, st_Vec3 *linear, st_Vec3 *w)
{
    double full[6] = {0};
    if (body->n_dofs == 6) {
        *linear = vec3_load(v + body->v_first);
        *w = vec3_load(v + body->v_first + 3);
        return;
    }
    for (int k = 0; k < body->n_dofs; k++)
        full[body->dof[k]] = v[body->v_first + k];
    *linear = vec3_load(full);
    *w = vec3_load(full + 3);
}

/* No point within reach of a body goes farther than this: a turn by theta moves it by 2 reach sin(theta/2) at most, and
 * the quaternions differ by 2 sin(theta/4).                                                           */
static inline double sti_way_between(const st_Pose *from, const st_Pose *to, double reach)
{
    const double w = to->q.w - from->q.w, x = to->q.x - from->q.x, y = to->q.y - from->q.y, z = to->q.z - from->q.z;
    return norm(sub(to->p, from->p)) + 2 * reach * sqrt(w * w + x * x + y * y + z * z);
}

/* No point of a body's surface moves faster against its centre; of a body with a plane it is not foreseen. */
static inline double sti_turning_speed(const sti_World *world, int body, st_Vec3 w)
{
    double reach = world->collider.rolls[body] ? 0 : world->collider.body_reach[body];
    return isfinite(reach) ? norm(w) * reach : 0;
}

int sti_rows_index(const sti_World *world, int a, int b, int *index); /* how many; index has room for 12 */
/* The one row of a measure of bodies a and b. */
void sti_rows_measure(const sti_World *world, const double *q, int a, int b, const sti_Measure *measure,
                      sti_Rows *rows);
/* rows += factor * other; both have one row. */
void sti_rows_add(sti_Rows *rows, double factor, const sti_Rows *other);

#endif
