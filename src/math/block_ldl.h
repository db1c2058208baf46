/* math/block_ldl.h -- S = L D L' of a symmetric positive semi-definite matrix of small dense blocks.
 *
 * The pattern is given by blocks (any sizes, most 1 to 6), ordered by AMD, analysed once and reused while it stays
 * the same. Pivots that vanish relative to their own diagonal entry mark rows that depend on others: they are left
 * out (their unknown is 0) and counted, so that redundant joints do no harm.
 */
#ifndef STI_BLOCK_LDL_H
#define STI_BLOCK_LDL_H

#include "base/base.h"
#include "math/simd4.h"

typedef struct sti_BlockLdl sti_BlockLdl;

/* Lower triangle by block column: column j has row blocks i[p[j]] .. i[p[j+1]-1], all >= j, sorted, the diagonal
 * first. The values of entry e, size(i) x size(j) row-major, start at x[start[e]]. */
typedef struct sti_BlockPattern {
    int n_blocks;
    const int *first;     /* n_blocks + 1: scalar offset of each block                             */
    const int64_t *p;     /* n_blocks + 1                                                          */
    const int *i;         /* p[n_blocks]                                                           */
    const int64_t *start; /* p[n_blocks]                                                           */
    const int *name;      /* names of the rows in messages; NULL: their numbers */
} sti_BlockPattern;

st_Status sti_block_ldl_create(const st_Allocator *allocator, sti_BlockLdl **out, st_Error *err);
void sti_block_ldl_destroy(sti_BlockLdl *ldl);

/* Factorises. The analysis is repeated only if the pattern differs from the last one. */
st_Status sti_block_ldl_factor(sti_BlockLdl *ldl, const sti_BlockPattern *pattern, const double *x, int *redundant_rows,
                               st_Error *err);
/* Solves S y = y in place. */
void sti_block_ldl_solve(const sti_BlockLdl *ldl, double *y);
/* Likewise only for the unknowns connected with `block`; the rest of y is neither read nor changed. For many small
 * mechanisms in one matrix the cost is that of one of them. */
void sti_block_ldl_solve_component(const sti_BlockLdl *ldl, int block, double *y);
void sti_block_ldl_solve_component_wide(const sti_BlockLdl *ldl, int block, sti_Wide *y);

#endif
