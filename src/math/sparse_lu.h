/* math/sparse_lu.h -- P A = L U of a sparse, generally nonsymmetric matrix of small dense blocks.
 *
 * Multifrontal, ordered by AMD on the graph of A + A'. Rows are exchanged only among the pivots of a front. A pivot
 * that vanishes there is replaced by a tiny one and counted; the caller refines the solution. A dense or small
 * matrix is one front.
 */
#ifndef STI_SPARSE_LU_H
#define STI_SPARSE_LU_H

#include "base/work.h"

/* By rows of blocks: row i has the column blocks j[p[i]] .. j[p[i+1]-1], no block twice, the diagonal one among
 * them; the values of entry e, size(i) x size(j) row-major, start at x[start[e]]. */
typedef struct sti_BlockRows {
    int n_blocks;
    const int *first; /* n_blocks + 1: scalar offset of each block                                 */
    const int64_t *p; /* n_blocks + 1                                                              */
    const int *j;
    const int64_t *start;
} sti_BlockRows;

typedef struct sti_SparseLu sti_SparseLu;

/* Multiplications are counted in `work`, and its stop ends a factorisation with ST_ERR_CANCELLED; NULL: neither. */
st_Status sti_sparse_lu_create(const st_Allocator *allocator, sti_Work *work, sti_SparseLu **out, st_Error *err);
void sti_sparse_lu_destroy(sti_SparseLu *lu); /* NULL is fine */

/* Factorises; the analysis is repeated only if the pattern differs from the last one. Pivots below `tiny` are
 * replaced; *replaced is their number. */
st_Status sti_sparse_lu_factor(sti_SparseLu *lu, const sti_BlockRows *pattern, const double *x, double tiny,
                               int *replaced, st_Error *err);
/* Reserves memory for this pattern; patterns with fewer entries will hardly need more. */
st_Status sti_sparse_lu_reserve(sti_SparseLu *lu, const sti_BlockRows *pattern, st_Error *err);
/* y <- inv(A) y. */
void sti_sparse_lu_solve(const sti_SparseLu *lu, double *y);

/* Number of entries in L and U at the last analysis: the cost of a solve. */
int64_t sti_sparse_lu_size(const sti_SparseLu *lu);
/* Number of multiplications of a factorisation with that analysis. */
double sti_sparse_lu_work(const sti_SparseLu *lu);

#endif
