/* math/block_diag.h -- factors of a block-diagonal matrix with positive definite symmetric part. */
#ifndef STI_BLOCK_DIAG_H
#define STI_BLOCK_DIAG_H

#include "base/base.h"
#include "math/simd4.h"

#include <stiction/problem.h>

/* Marked blocks store only their diagonal. The size of block k in numbers, and the distance between its diagonal
 * entries. */
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

/* Per block k, size n: A = L D L' where symmetric, else A = L U without row exchanges (pivots stay positive as long
 * as the symmetric part is positive definite); row-major at value[start[k]]. No square roots: with a diagonal block
 * x is exactly a/m, to the last bit. Blocks are never mixed, so masses of 1 and 1e8 do not interfere. Diagonal
 * blocks are marked: bodies in their principal axes have them, and a solve is then one division per row. */
typedef struct sti_BlockFactor {
    st_Allocator allocator;
    int n_blocks;
    bool symmetric;
    const st_BlockDiag *matrix; /* the factorised matrix; it must live as long as the factors are used */
    const int *first;           /* of the matrix */
    int64_t *start;             /* n_blocks + 1: start of each block, also in the matrix */
    const double *numbers;      /* the factors: `value`, or the entries of the matrix if it is purely diagonal */
    double *value;
    double *work;          /* one block                                                           */
    unsigned char *single; /* n_blocks: the block is diagonal */
    int64_t start_size, value_size, work_size, single_size;
} sti_BlockFactor;

/* Start from {.allocator = ...}; memory grows as needed. Returns ST_ERR_NUMERIC, naming the block, if it is not
 * positive definite. `name` is the matrix in messages. */
st_Status sti_block_factor(sti_BlockFactor *factor, const st_BlockDiag *matrix, bool symmetric, const char *name,
                           st_Error *err);
void sti_block_factor_release(sti_BlockFactor *factor);

/* x <- inv(A_k) x for one block; x has the rows of the block. And for `count` such x, one after another, or four
 * side by side. */
void sti_block_factor_solve(const sti_BlockFactor *factor, int k, double *x);
void sti_block_factor_solve_many(const sti_BlockFactor *factor, int k, int count, double *x);
/* Likewise from one array to another; for a diagonal block up to the rounding of 1/m. */
void sti_block_factor_solve_to(const sti_BlockFactor *factor, int k, int count, const double *from, double *to);
void sti_block_factor_solve_wide(const sti_BlockFactor *factor, int k, sti_Wide *x);

#endif
