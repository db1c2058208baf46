/* model/scene.h -- the arrays of a scene, for the world that is compiled from it. */
#ifndef STI_MODEL_SCENE_H
#define STI_MODEL_SCENE_H

#include "base/names.h"
#include "collide/shape.h"
#include "math/cell.h"

#include <stiction/grains.h>
#include <stiction/scene.h>

typedef enum sti_ObjectKind {
    STI_BODY,
    STI_SHAPE,
    STI_JOINT,
    STI_SPRING,
    STI_FORCE,
    STI_MATERIAL,
    STI_N_KINDS
} sti_ObjectKind;

/* Body 0 is the ground, so that index1 of an id is the index. Other objects start at 0: id.index1 - 1. Names are in
 * `names`, in the same order; the defs' own name pointers point there. */
typedef struct sti_BodyPair {
    int a, b;
} sti_BodyPair;

/* By size and density; unknown for shapes without volume. */
typedef struct sti_CachedMass {
    bool known;
    sti_MassProperties of;
} sti_CachedMass;

/* The distinct defs of shapes, without name and pose (shape_cache.c). */
typedef struct sti_ShapeCache {
    st_ShapeDef *def; /* with owned points, triangles, heights */
    sti_CachedMass *mass;
    int n;
    int64_t capacity, mass_capacity;
    int *slot; /* open addressing: 1 + index, 0 empty; n_slots a power of two > 2 n                */
    int64_t n_slots;
} sti_ShapeCache;

/* Returns the number of the kind of def; -1: there is none. The second adds it, with its own arrays and this mass. */
int sti_shape_cache_find(const sti_ShapeCache *cache, const st_ShapeDef *def);
st_Status sti_shape_cache_take(const st_Allocator *allocator, sti_ShapeCache *cache, const st_ShapeDef *def,
                               const sti_CachedMass *mass, int *kind, st_Error *err);
void sti_shape_cache_scale_friction(sti_ShapeCache *cache, double factor);
void sti_shape_cache_free(const st_Allocator *allocator, sti_ShapeCache *cache);

/* An inlet (grains.h). Its grains are the bodies with its name and a number, sti_grain_name. */
typedef struct sti_Inlet {
    const char *name; /* in grain_names                                                             */
    st_RegionDef region;
    int number;             /* number of grains */
    double rate, mass_rate; /* [1/s]; where that is 0: [kg/s]                                       */
    double start;           /* [s]                                                                  */
    st_Vec3 velocity;
    bool turned, free[3]; /* along locked axes grains start in the middle of the region */
    uint64_t seed;
} sti_Inlet;

typedef struct sti_Outlet {
    const char *name, *bodies; /* in grain_names; bodies NULL: all                                  */
    st_RegionDef region;
} sti_Outlet;

typedef struct sti_MeasureEntry {
    const char *name, *bodies, *wall, *shape; /* in grain_names; bodies, shape NULL: all            */
    st_MeasureType type;
    st_RegionDef region;
    const char *body, *reference, *joint; /* of sensors, likewise; NULL: none */
    st_Pose frame, reference_frame;
    bool own_axes;
    double factor, offset;
} sti_MeasureEntry;

/* A keyframe; its name is in grain_names. */
typedef struct sti_KeyframeEntry {
    const char *name;
    double t;
    int n_bodies, n_motors, n_forces;
    st_KeyframeBody *bodies; /* owned */
    st_KeyframeMotor *motors;
    st_KeyframeForce *forces;
} sti_KeyframeEntry;
void sti_keyframe_free(const st_Allocator *allocator, sti_KeyframeEntry *keyframe);

/* Scopes of grain_names: names of inlets, outlets, measures and keyframes; from the last one on, one scope per
 * pattern. */
enum { STI_INLET_SCOPE, STI_OUTLET_SCOPE, STI_MEASURE_SCOPE, STI_KEYFRAME_SCOPE, STI_PATTERN_SCOPE };

struct st_Scene {
    st_Allocator allocator; /* an arena                                                            */
    bool owns_arena;
    sti_Names names[STI_N_KINDS];
    st_BodyDef *body; /* NULL in the world's own copy after compiling */
    sti_ShapeCache shape_cache;
    int *cached_shape;             /* kind of shape k */
    int *shape_pose;               /* index in `pose` of shape k; 0: it has the pose of its body */
    st_Pose *pose;                 /* n_poses; the first is the identity */
    int *shape_body;               /* index of the body that shape k belongs to                                  */
    int *next_shape;               /* the next shape of the same body in the order of adding, -1: none */
    int *first_shape, *last_shape; /* of each body, -1: none                                       */
    st_JointDef *joint;            /* with owned motor tables */
    st_SpringDef *spring;
    st_ForceDef *force; /* with owned tables */
    st_MaterialDef *material;
    st_MaterialPairDef *material_pair;
    sti_BodyPair *excluded; /* pairs of bodies that do not touch */
    int n_bodies, n_shapes, n_joints, n_springs, n_forces, n_materials, n_material_pairs, n_excluded;
    int n_poses;
    sti_Names grain_names;
    sti_Inlet *inlet;
    sti_Outlet *outlet;
    sti_MeasureEntry *measure;
    int n_inlets, n_outlets, n_measures;
    int64_t inlet_capacity, outlet_capacity, measure_capacity;
    sti_KeyframeEntry *keyframe;
    int n_keyframes;
    int64_t keyframe_capacity;
    sti_Cell cell;
    int n_rotors; /* in the world's own copy: the last bodies, see rotor.c */
    int64_t body_capacity, shape_kind_capacity, shape_pose_capacity, pose_capacity, shape_body_capacity, joint_capacity,
        spring_capacity, force_capacity, material_capacity, material_pair_capacity;
    int64_t excluded_capacity, next_shape_capacity, first_shape_capacity, last_shape_capacity;
};

/* The id with the present number of its object; index1 = -1: it was removed. And the id of object k, counted from 0. */
static inline st_BodyId sti_body_now(const st_Scene *scene, st_BodyId id)
{
    return (st_BodyId){sti_names_place(&scene->names[STI_BODY], id.index1, id.generation), 0};
}
static inline st_BodyId sti_body_id(const st_Scene *scene, int k)
{
    return k >= 0 ? (st_BodyId){k, k > 0 ? scene->names[STI_BODY].generation[k] : 0} : (st_BodyId){0, 0};
}
static inline st_ShapeId sti_shape_now(const st_Scene *scene, st_ShapeId id)
{
    const int k = sti_names_place(&scene->names[STI_SHAPE], id.index1 - 1, id.generation);
    return (st_ShapeId){id.generation != 0 && k < 0 ? -1 : k + 1, 0};
}
static inline st_ShapeId sti_shape_id(const st_Scene *scene, int k)
{
    return k >= 0 ? (st_ShapeId){k + 1, scene->names[STI_SHAPE].generation[k]} : (st_ShapeId){0, 0};
}
static inline st_JointId sti_joint_now(const st_Scene *scene, st_JointId id)
{
    const int k = sti_names_place(&scene->names[STI_JOINT], id.index1 - 1, id.generation);
    return (st_JointId){id.generation != 0 && k < 0 ? -1 : k + 1, 0};
}
static inline st_JointId sti_joint_id(const st_Scene *scene, int k)
{
    return k >= 0 ? (st_JointId){k + 1, scene->names[STI_JOINT].generation[k]} : (st_JointId){0, 0};
}
static inline st_SpringId sti_spring_now(const st_Scene *scene, st_SpringId id)
{
    const int k = sti_names_place(&scene->names[STI_SPRING], id.index1 - 1, id.generation);
    return (st_SpringId){id.generation != 0 && k < 0 ? -1 : k + 1, 0};
}
static inline st_SpringId sti_spring_id(const st_Scene *scene, int k)
{
    return k >= 0 ? (st_SpringId){k + 1, scene->names[STI_SPRING].generation[k]} : (st_SpringId){0, 0};
}
static inline st_ForceId sti_force_now(const st_Scene *scene, st_ForceId id)
{
    const int k = sti_names_place(&scene->names[STI_FORCE], id.index1 - 1, id.generation);
    return (st_ForceId){id.generation != 0 && k < 0 ? -1 : k + 1, 0};
}
static inline st_ForceId sti_force_id(const st_Scene *scene, int k)
{
    return k >= 0 ? (st_ForceId){k + 1, scene->names[STI_FORCE].generation[k]} : (st_ForceId){0, 0};
}

/* The def of shape k, and its pose in its body. */
static inline const st_ShapeDef *sti_shape_def(const st_Scene *scene, int k)
{
    return &scene->shape_cache.def[scene->cached_shape[k]];
}
static inline const st_Pose *sti_shape_pose(const st_Scene *scene, int k)
{
    return &scene->pose[scene->shape_pose[k]];
}
static inline const char *sti_shape_name(const st_Scene *scene, int k)
{
    return scene->names[STI_SHAPE].name[k];
}
/* Moves a shape in its body; room for a pose must have been reserved. */
st_Status sti_scene_reserve_pose(st_Scene *scene, int count, st_Error *err);
void sti_scene_set_shape_pose(st_Scene *scene, int k, const st_Pose *pose);
/* Drops the bodies of the world's own copy after compiling: only their names are needed then. */
void sti_scene_drop_bodies(st_Scene *scene);

const char *sti_kind_name(sti_ObjectKind kind); /* "body", ... */
/* A hash of the names and types of objects and of the objects that joints, springs and forces act on. It is equal for
 * scenes with compatible states. Masses, coefficients and poses are not included. */
uint64_t sti_scene_fingerprint(const st_Scene *scene);
/* The object is added first, its name last, so that a refused name leaves the scene unchanged. */
st_Status sti_scene_add_name(st_Scene *scene, sti_ObjectKind kind, int scope, const char *name, const char **stored,
                             st_Error *err);

/* Stores a name in grain_names: *name becomes the copy. */
st_Status sti_scene_keep_name(st_Scene *scene, int scope, const char *kind, const char **name, st_Error *err);
/* Store inlets, outlets and measures; their names are copied. */
st_Status sti_scene_keep_inlet(st_Scene *scene, const sti_Inlet *inlet, st_Error *err);
st_Status sti_scene_keep_outlet(st_Scene *scene, const sti_Outlet *outlet, st_Error *err);
st_Status sti_scene_keep_measure(st_Scene *scene, const sti_MeasureEntry *measure, st_Error *err);
/* The name of grain k = 1, 2, ... of n. */
void sti_grain_name(const char *name, int n, int k, char *out, size_t size);

/* The name of a shape in messages. It is unique only in its body: "foot" of body "left". */
typedef struct sti_Label {
    char text[2 * STI_NAME_MAX + 32];
} sti_Label;
sti_Label sti_shape_label(const st_Scene *scene, int shape);
/* The combined properties of the materials of shapes a and b, with all values set. */
st_MaterialPairDef sti_pair_of(const st_Scene *scene, const st_ShapeDef *a, const st_ShapeDef *b);

/* scene_copy.c */
st_Status sti_scene_copy(const st_Scene *scene, const st_Allocator *allocator, st_Scene **out, st_Error *err);

#endif
