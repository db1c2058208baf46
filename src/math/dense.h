/* math/dense.h -- dense elimination, row-major, in blocks that stay in the cache. */
#ifndef STI_DENSE_H
#define STI_DENSE_H

#include "base/work.h"

/* The first k steps of  P F = L U  on the n x n matrix F with rows `stride` apart; rows are exchanged among the first k
 * only: row j with row pivot[j], for j = 0 .. k-1 in turn. On return
 *
 *     F = [ L11\U11   U12 ]      L unit lower triangular,
 *         [   L21      S  ]      S = F22 - L21 U12 the Schur complement, passed to the parent front.
 *
 * A pivot smaller than `tiny` is replaced by it, with its sign; the number of these is returned. It ends early if
 * `stop` (may be NULL) is set; F is then undefined. */
int sti_dense_lu(double *F, int n, int k, int64_t stride, double tiny, int *pivot, sti_Stop *stop);

/* C -= A B: C is m x n, A m x k, B k x n. */
void sti_dense_subtract(double *C, int64_t c_stride, const double *A, int64_t a_stride, const double *B,
                        int64_t b_stride, int m, int n, int k);

#endif
