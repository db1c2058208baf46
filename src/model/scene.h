/* model/scene.h -- the scene's own arrays, for the world that is compiled from it. */
#ifndef STI_MODEL_SCENE_H
#define STI_MODEL_SCENE_H

#include "base/names.h"

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

/* Body 0 is the ground, so that an id's index1 is the index. The others start at 0: id.index1 - 1.
 * Names are in `names`, in the same order; the defs' own name pointers point there.               */
typedef struct sti_BodyPair {
    int a, b;
} sti_BodyPair;

struct st_Scene {
    st_Allocator allocator;
    sti_Names names[STI_N_KINDS];
    st_BodyDef *body;
    st_ShapeDef *shape;            /* points, triangles, heights owned                             */
    int *shape_body;               /* index of the body that shape k belongs to                                  */
    int *next_shape;               /* the next shape of the same body, -1: none; in the order of adding */
    int *first_shape, *last_shape; /* of each body, -1: none                                       */
    st_JointDef *joint;            /* tables of motors owned                                                  */
    st_SpringDef *spring;
    st_ForceDef *force; /* tables owned                                                            */
    st_MaterialDef *material;
    st_MaterialPairDef *material_pair;
    sti_BodyPair *excluded; /* bodies whose shapes do not touch                                    */
    int n_bodies, n_shapes, n_joints, n_springs, n_forces, n_materials, n_material_pairs, n_excluded;
    int64_t body_capacity, shape_capacity, shape_body_capacity, joint_capacity, spring_capacity, force_capacity,
        material_capacity, material_pair_capacity;
    int64_t excluded_capacity, next_shape_capacity, first_shape_capacity, last_shape_capacity;
};

const char *sti_kind_name(sti_ObjectKind kind); /* "body", ... */
/* Objects of a kind first, its name last: a refusal leaves the scene as it was. */
st_Status sti_scene_add_name(st_Scene *scene, sti_ObjectKind kind, int scope, const char *name, const char **stored,
                             st_Error *err);

/* How messages call a shape, whose name is unique in its body only: "foot" of body "left". */
typedef struct sti_Label {
    char text[2 * STI_NAME_MAX + 32];
} sti_Label;
sti_Label sti_shape_label(const st_Scene *scene, int shape);
/* What the materials of shapes a and b do together, all of it said. */
st_MaterialPairDef sti_pair_of(const st_Scene *scene, const st_ShapeDef *a, const st_ShapeDef *b);

st_Status sti_scene_copy(const st_Scene *scene, const st_Allocator *allocator, st_Scene **out, st_Error *err);

#endif
