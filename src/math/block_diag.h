/* math/block_diag.h -- factors of a block-diagonal matrix with positive definite symmetric part. */
#ifndef STI_BLOCK_DIAG_H
#define STI_BLOCK_DIAG_H

#include "base/base.h"
#include "math/simd4.h"

#include <stiction/problem.h>

/* Marked: its diagonal alone is there. How many numbers block k has, and how far one of its diagonal is
 * from the next.                                                                                  */
static inline bool sti_block_marked(const st_BlockDiag *m, int k)
{
    return m->diagonal != NULL && m->diagonal[k] != 0;
}
static inline int64_t sti_block_numbers(const st_BlockDiag *m, int k)
{
    const int64_t n = m->first[k + 1] - m->first[k];
    return sti_block_marked(m, k) ? n : n * n;
}
static inline int64_t sti_block_stride(const st_BlockDiag *m, int k)
{
    return sti_block_marked(m, k) ? 1 : m->first[k + 1] - m->first[k] + 1;
}

/* Per block k, size n: A = L D L' where symmetric, else A = L U without row exchanges (pivots stay
 * positive as long as the symmetric part is positive definite); row-major at value[start[k]]. No square
 * roots: with a diagonal block x is exactly a/m, to the last bit. Nothing ever mixes two blocks, so
 * masses 1 and 1e8 do not meet. Diagonal blocks are known as such: bodies in their principal axes have them,
 * and a solve is then one division a row.                                                          */
typedef struct sti_BlockFactor {
    st_Allocator allocator;
    int n_blocks;
    bool symmetric;
    const st_BlockDiag *matrix; /* the one factorised: it stays while its factors are used             */
    const int *first;           /* of it                                                               */
    int64_t *start;             /* n_blocks + 1: also where the block stands in the matrix itself              */
    const double *numbers;      /* the factors: `value`, or those of the matrix, if all it has is a diagonal   */
    double *value;
    double *work;          /* one block                                                           */
    unsigned char *single; /* n_blocks: diagonal                                                  */
    int64_t start_size, value_size, work_size, single_size;
} sti_BlockFactor;

/* Starts as {.allocator = ...}; grows as needed. ST_ERR_NUMERIC, naming the block, when it is not
 * positive definite. `name` is the matrix in messages.                                             */
st_Status sti_block_factor(sti_BlockFactor *factor, const st_BlockDiag *matrix, bool symmetric, const char *name,
                           st_Error *err);
void sti_block_factor_release(sti_BlockFactor *factor);

/* x <- inv(A_k) x for one block; x has the block's own rows. And for `count` such x, one after another, or
 * four side by side. */
void sti_block_factor_solve(const sti_BlockFactor *factor, int k, double *x);
void sti_block_factor_solve_many(const sti_BlockFactor *factor, int k, int count, double *x);
/* The same from one place to another; by a diagonal block up to the rounding of 1/m. */
void sti_block_factor_solve_to(const sti_BlockFactor *factor, int k, int count, const double *from, double *to);
void sti_block_factor_solve_wide(const sti_BlockFactor *factor, int k, sti_Wide *x);

#endif
