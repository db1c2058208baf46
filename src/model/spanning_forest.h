/* model/spanning_forest.h -- the bodies of a world as trees: some joints have coordinates, the others close loops. */
#ifndef STI_SPANNING_FOREST_H
#define STI_SPANNING_FOREST_H

#include "forest/forest.h"
#include "model/world.h"

typedef struct sti_SpanningForest {
    sti_Forest forest; /* its nodes are the bodies that move, except rotors */
    int *body;         /* by node                                                                  */
    int *joint;        /* by node: the joint to its parent; -1: it moves freely                    */
    int *node;         /* by body: 0: it does not move, or is a rotor                              */
    int *loop;         /* n_loops joints with constraints that are not edges of a tree */
    int n_loops;
    int n_bodies, n_joints;
    bool armatures;
} sti_SpanningForest;

/* At the positions q of the world, which matter only for fixed bodies. With armatures they are part of M, and
 * ST_ERR_UNSUPPORTED names a joint whose armature acts on no coordinate of a tree. */
st_Status sti_spanning_forest_create(const sti_World *world, const st_Allocator *allocator, const double *q,
                                     bool armatures, sti_SpanningForest *out, st_Error *err);
void sti_spanning_forest_free(const st_Allocator *allocator, sti_SpanningForest *of);

/* Converts the world's state to joint coordinates. Motions that joints do not allow are dropped. state: scratch
 * memory. */
void sti_spanning_forest_read(const sti_World *world, const sti_SpanningForest *of, const double *world_q,
                              const double *world_v, sti_ForestState *state, double *q, double *v);
/* Converts back: poses of the state, after place; and velocities, unless world_v is NULL. world_q has whole turns to
 * start from. */
void sti_spanning_forest_write(const sti_World *world, const sti_SpanningForest *of, const sti_ForestState *state,
                               const double *q, double *world_q, double *world_v);

/* The velocity of the node that corresponds to a coordinate of a joint, and the change of the coordinate per unit of
 * it (for the displacement of a screw, its lead); -1: none. */
int sti_joint_dof(const sti_Joint *joint, st_Coordinate coordinate, double *factor);

#endif
