/* reduce/reduce_memory.h -- shared by the files of the reduction only: its arrays (described in reduce.h), and the
 * steps between them.
 *
 *     reduce.c           the sequence: joints, then contacts as a graph or by columns; velocities for a given r
 *     reduce_columns.c   H and Y by contacts, and their products: the diagonal of W, rho, b; W r + b and W itself
 *     reduce_local.c     the same arrays for a given W and b */
#ifndef STI_REDUCE_MEMORY_H
#define STI_REDUCE_MEMORY_H

#include "linalg/saddle.h"
#include "math/double_double.h"
#include "pile/pile.h"
#include "reduce/reduce.h"

#define GROW(name, n) STI_TRY(STI_GROW(&m->allocator, m->name, m->name##_size, (n), err))

/* The sum over the contacts of a body or mechanism, and the number of terms (certify.c). */
typedef struct sti_NodeShare {
    double push;          /* sqrt(W_cc) |r_c| of its contacts                                           */
    double sum[STI_NODE]; /* |h_k| |r| of their rows, by velocity                                       */
    int terms;
} sti_NodeShare;

typedef struct sti_ReductionMemory {
    st_Allocator allocator;
    const st_Problem *problem;
    const sti_PileContacts *pile; /* its contacts where it has no H; NULL: it has                    */
    sti_Saddle *saddle;           /* solves for joints: own, or lent by the caller */
    sti_Saddle *own_saddle;
    sti_Graph graph;
    bool columns; /* h_ and y_ are those of this problem */
    STI_ARRAY(int64_t, h_first);
    STI_ARRAY(int64_t, h_start);
    STI_ARRAY(int, h_index);
    STI_ARRAY(double, h_value);
    STI_ARRAY(int64_t, y_first);
    STI_ARRAY(int64_t, y_start);
    STI_ARRAY(int, y_index);
    STI_ARRAY(double, y_value);
    STI_ARRAY(double, v_free);
    STI_ARRAY(double, l_free);
    double joint_free; /* largest residual of the joint rows at v_free                           */
    bool free_known;   /* v_free and l_free are those of this problem                            */
    sti_Judged judged;
    STI_ARRAY(double, w);
    STI_ARRAY(bool, held); /* n_r: joints hold the velocity along this row                                     */
    STI_ARRAY(double, b);
    STI_ARRAY(double, W_diagonal);
    STI_ARRAY(int64_t, W_start);
    STI_ARRAY(double, rho);
    STI_ARRAY(int64_t, place);    /* n_v: place of a velocity in the contact being built, -1 between contacts */
    STI_ARRAY(int, block_seen);   /* by block of A: the last contact that put it into Y, plus 1                   */
    STI_ARRAY(double, side_v);    /* right-hand side over velocities                                              */
    STI_ARRAY(double, side_l);    /* right-hand side over joint rows                                              */
    STI_ARRAY(double, wide_side); /* several right-hand sides and their solutions                                */
    STI_ARRAY(double, wide_out);
    STI_ARRAY(double, out_v);
    STI_ARRAY(double, out_l);
    STI_ARRAY(sti_NodeShare, share); /* by body and mechanism                                                 */
    STI_ARRAY(sti_Dd, exact_sum);    /* certify.c: sums in double-double, and their results                   */
    STI_ARRAY(double, exact);
    const st_LocalProblem *local; /* the problem if it was given as W and b; NULL: it is a step problem */
    st_Problem shadow;            /* of the local problem                                                       */
    int n_unit;                   /* rows of I that are there                                                   */
    STI_ARRAY(int64_t, unit_p);   /* its H = I                                                                  */
    STI_ARRAY(int, unit_i);
    STI_ARRAY(double, unit_x);
    st_Problem with_rows; /* the problem with H, if contacts were given as arrays and columns are needed */
    STI_ARRAY(int64_t, pile_p);
    STI_ARRAY(int, pile_i);
    STI_ARRAY(double, pile_x);
} sti_ReductionMemory;

/* For m->problem, in this order. */
st_Status sti_columns_of_H(sti_ReductionMemory *m, st_Error *err);
st_Status sti_columns_of_Y(sti_ReductionMemory *m, st_Error *err);
st_Status sti_columns_diagonal(sti_ReductionMemory *m, st_Error *err); /* W_diagonal and rho */
st_Status sti_columns_rho(sti_ReductionMemory *m, st_Error *err);      /* rho of W_diagonal */
void sti_columns_b(sti_ReductionMemory *m); /* b, and w including velocities that joints impose */

/* Starts a new problem, without a stored residual. */
st_Status sti_reduction_begin(sti_Reduction *reduction, const st_Problem *problem, st_Error *err);
/* Copies pointers to the arrays to `reduction`. */
void sti_reduction_publish(sti_Reduction *reduction);

/* Component d of H_c'v. */
static inline double sti_row_of_H(const sti_ReductionMemory *m, int c, int d, const double *v)
{
    const int64_t count = m->h_first[c + 1] - m->h_first[c];
    const int *index = m->h_index + m->h_first[c];
    const double *h = m->h_value + m->h_start[c] + d * count;
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++)
        sum += h[k] * v[index[k]];
    return sum;
}

/* Scatters Y_c over the velocities. out_v need not be cleared: H_c reads only entries that Y_c wrote. */
static inline void sti_scatter_column(sti_ReductionMemory *m, int c, int d)
{
    const int64_t count = m->y_first[c + 1] - m->y_first[c];
    const int *index = m->y_index + m->y_first[c];
    const double *y = m->y_value + m->y_start[c] + d * count;
    for (int64_t k = 0; k < count; k++)
        m->out_v[index[k]] = y[k];
}

/* v = b + W r by the W given; r NULL: 0. */
void sti_local_velocity(const st_LocalProblem *local, const double *r, double *v);

#endif
