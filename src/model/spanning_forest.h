/* model/spanning_forest.h -- the bodies of a world as trees: which joints carry coordinates and which close loops. */
#ifndef STI_SPANNING_FOREST_H
#define STI_SPANNING_FOREST_H

#include "forest/forest.h"
#include "model/world.h"

typedef struct sti_SpanningForest {
    sti_Forest forest; /* its nodes are the bodies that move, without rotors                       */
    int *body;         /* by node                                                                  */
    int *joint;        /* by node: the joint to its parent; -1: it moves freely                    */
    int *node;         /* by body: 0: it does not move, or is a rotor                              */
    int *loop;         /* n_loops joints that hold something and are not edges of a tree           */
    int n_loops;
    int n_bodies, n_joints;
    bool armatures;
} sti_SpanningForest;

/* At the positions q of the world, which matter for fixed bodies alone. With armatures: they are part of M, and
 * ST_ERR_UNSUPPORTED names a joint whose armature acts on no coordinate of a tree.                    */
st_Status sti_spanning_forest_create(const sti_World *world, const st_Allocator *allocator, const double *q,
                                     bool armatures, sti_SpanningForest *out, st_Error *err);
void sti_spanning_forest_free(const st_Allocator *allocator, sti_SpanningForest *of);

/* The world's state as joint coordinates. Parts of it that joints do not allow are left out. state: scratch memory. */
void sti_spanning_forest_read(const sti_World *world, const sti_SpanningForest *of, const double *world_q,
                              const double *world_v, sti_ForestState *state, double *q, double *v);
/* And back: poses of the state, after place; and velocities, where world_v is not NULL. world_q has whole turns to
 * start from.                                                                                     */
void sti_spanning_forest_write(const sti_World *world, const sti_SpanningForest *of, const sti_ForestState *state,
                               const double *q, double *world_q, double *world_v);

/* Which velocity of its node a coordinate of a joint is, and how many coordinates there are per unit of it (a screw's
 * displacement: its lead); -1: none.                                                              */
int sti_joint_dof(const sti_Joint *joint, st_Coordinate coordinate, double *factor);

#endif
