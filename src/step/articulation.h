/* step/articulation.h -- the data of an articulation, shared by articulation.c and inverse_kinematics.c. */
#ifndef STI_ARTICULATION_H
#define STI_ARTICULATION_H

#include "model/spanning_forest.h"
#include "step/step.h"

#include <stiction/articulation.h>

struct st_Articulation {
    st_Allocator allocator;
    st_System *system;
    int changes;    /* the system's n_changes when the articulation was made */
    int64_t values; /* the serial number of its parameters at that time      */
    sti_SpanningForest of;
    double *q, *v;         /* the state                                                   */
    sti_ForestState state; /* poses and velocities of bodies at the state                 */
    sti_ForestState other; /* poses and velocities at another position, for differences   */
    bool factored;         /* M and its factor L are those of the state                   */
    int *owner;            /* by velocity of the world: the body that it belongs to       */
    double *lower, *upper; /* n_v: limits of the coordinate of a velocity; infinite: none */
    sti_Spatial *applied;  /* n_nodes: scratch memory                                     */
    double *work;          /* 4 n_v: scratch memory                                       */
    double *world_q, *world_v;
    st_Sink sink;           /* joint rows of the world             */
    int n_rows;             /* rows of the joints that close loops */
    double *row, *row_near; /* n_rows x n_v                        */
    double *value;          /* n_rows                              */
};

/* Rows and errors of the joints that close loops, at a state with coordinates q. values may be NULL. */
st_Status sti_articulation_loops(st_Articulation *a, const sti_ForestState *state, const double *q, double *row,
                                 double *value, st_Error *err);
/* Six rows: velocity of a point of a node (arm from the reference point), then angular velocity; of S or S_rate. */
void sti_articulation_rows(const st_Articulation *a, int node, const sti_Spatial *S, st_Vec3 arm, double *row);
/* The node of a body; *node = 0: it does not move. */
st_Status sti_articulation_node(const st_Articulation *a, st_BodyId body, const char *call, int *node, st_Error *err);
/* Fails if the scene or the parameters of the system changed after the articulation was made. */
st_Status sti_articulation_check(const st_Articulation *a, const char *call, st_Error *err);
/* Computes poses and velocities of bodies from the coordinates and velocities of the articulation. */
void sti_articulation_update(st_Articulation *a);
/* Solves W x = y for a symmetric positive semi-definite W (n x n) by Cholesky's method with diagonal pivoting.
 * Dependent rows are left out. W and y are overwritten. */
void sti_solve_semidefinite(int n, double *W, double *y, int *order, double *x);

#endif
