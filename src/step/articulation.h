/* step/articulation.h -- the data of an articulation, shared by articulation.c and inverse_kinematics.c. */
#ifndef STI_ARTICULATION_H
#define STI_ARTICULATION_H

#include "model/spanning_forest.h"
#include "step/step.h"

#include <stiction/articulation.h>

struct st_Articulation {
    st_Allocator allocator;
    st_System *system;
    int changes;    /* of the system's scene, when it was made                                         */
    int64_t values; /* likewise of its parameters                                                   */
    sti_SpanningForest of;
    double *q, *v;         /* the state                                                           */
    sti_ForestState state; /* at it: poses, velocities                                            */
    sti_ForestState other; /* elsewhere: for differences                                          */
    bool factored;         /* M and L belong to the state                                         */
    int *owner;            /* by velocity of the world: its body                                   */
    double *lower, *upper; /* n_v: limits of the coordinate of a velocity; infinite: none          */
    sti_Spatial *applied;  /* n_nodes: scratch memory                                              */
    double *work;          /* 4 n_v: scratch memory                                                */
    double *world_q, *world_v;
    st_Sink sink;           /* joint rows of the world                                              */
    int n_rows;             /* of the joints that close loops                                       */
    double *row, *row_near; /* n_rows x n_v                                                         */
    double *value;          /* n_rows                                                               */
};

/* Rows of the joints that close loops and their errors at a state and its coordinates; values may be NULL. */
st_Status sti_articulation_loops(st_Articulation *a, const sti_ForestState *state, const double *q, double *row,
                                 double *value, st_Error *err);
/* Six rows: velocity of a point of a node (arm from the reference point), then angular velocity; of S or S_rate. */
void sti_articulation_rows(const st_Articulation *a, int node, const sti_Spatial *S, st_Vec3 arm, double *row);
/* The node of a body; *node = 0: it does not move. */
st_Status sti_articulation_node(const st_Articulation *a, st_BodyId body, const char *call, int *node, st_Error *err);
/* Is it still good: was the scene changed? */
st_Status sti_articulation_check(const st_Articulation *a, const char *call, st_Error *err);
/* The state has new coordinates or velocities: poses and velocities of bodies follow. */
void sti_articulation_update(st_Articulation *a);
/* Solve W x = y, W symmetric positive semi-definite (n x n, overwritten, as is y): by Cholesky with diagonal pivoting,
 * where dependent rows are left out.                                                              */
void sti_solve_semidefinite(int n, double *W, double *y, int *order, double *x);

#endif
