/* math/block_ldl_solve.h -- L D L' x = y for one right-hand side or for several (simd4.h).
 *
 * A part of block_ldl.c, which includes it with NUMBER, NAME, CLONES and the sum DOT (pair.h).
 */
/* One block column of the forward solve: z of rank k, then its contribution to the later ranks. */
STI_INLINE void NAME(forward_column)(const sti_BlockLdl *ldl, int k, int size, NUMBER *work)
{
    const double *diagonal = ldl->value + ldl->value_start[ldl->by.column[k]];
    NUMBER *z = work + ldl->at[k];
    for (int c = 1; c < size; c++)
        for (int b = 0; b < c; b++)
            z[c] -= diagonal[c * size + b] * z[b];
    for (int64_t e = ldl->by.column[k] + 1; e < ldl->by.column[k + 1]; e++) {
        const double *l = ldl->value + ldl->value_start[e];
        const int rows = ldl_block_size(ldl, ldl->by.row[e]);
        NUMBER *below = work + ldl->at[ldl->by.row[e]];
        for (int a = 0; a < rows; a++) {
            NUMBER sum;
            DOT(l + (ptrdiff_t)a * size, z, size, &sum);
            below[a] -= sum;
        }
    }
}

/* L z = y over ranks begin .. end-1, in place. */
STI_INLINE void NAME(solve_forward)(const sti_BlockLdl *ldl, int begin, int end, NUMBER *work)
{
    for (int k = begin; k < end; k++) {
        const int size = ldl_block_size(ldl, k);
        if (size == 3)
            NAME(forward_column)(ldl, k, 3, work);
        else if (size == 5)
            NAME(forward_column)(ldl, k, 5, work);
        else if (size == 6)
            NAME(forward_column)(ldl, k, 6, work);
        else if (size == 1)
            NAME(forward_column)(ldl, k, 1, work);
        else
            NAME(forward_column)(ldl, k, size, work);
    }
}

STI_INLINE void NAME(backward_column)(const sti_BlockLdl *ldl, int k, int size, NUMBER *work)
{
    const double *diagonal = ldl->value + ldl->value_start[ldl->by.column[k]];
    NUMBER *z = work + ldl->at[k];
    for (int c = 0; c < size; c++)
        z[c] *= ldl->inverse[ldl->at[k] + c];
    for (int64_t e = ldl->by.column[k] + 1; e < ldl->by.column[k + 1]; e++) {
        const double *l = ldl->value + ldl->value_start[e];
        const NUMBER *below = work + ldl->at[ldl->by.row[e]];
        const int rows = ldl_block_size(ldl, ldl->by.row[e]);
        for (int a = 0; a < rows; a++)
            for (int b = 0; b < size; b++)
                z[b] -= l[a * size + b] * below[a];
    }
    for (int c = size - 2; c >= 0; c--)
        for (int b = c + 1; b < size; b++)
            z[c] -= diagonal[b * size + c] * z[b];
}

/* D L' x = z. */
STI_INLINE void NAME(solve_backward)(const sti_BlockLdl *ldl, int begin, int end, NUMBER *work)
{
    for (int k = end - 1; k >= begin; k--) {
        const int size = ldl_block_size(ldl, k);
        if (size == 3)
            NAME(backward_column)(ldl, k, 3, work);
        else if (size == 5)
            NAME(backward_column)(ldl, k, 5, work);
        else if (size == 6)
            NAME(backward_column)(ldl, k, 6, work);
        else if (size == 1)
            NAME(backward_column)(ldl, k, 1, work);
        else
            NAME(backward_column)(ldl, k, size, work);
    }
}

CLONES
static void NAME(solve_ranks)(const sti_BlockLdl *ldl, int begin, int end, NUMBER *work, NUMBER *y)
{
    for (int k = begin; k < end; k++)
        for (int c = 0; c < ldl_block_size(ldl, k); c++)
            work[ldl->at[k] + c] = y[ldl->first[ldl->by.order[k]] + c];
    NAME(solve_forward)(ldl, begin, end, work);
    NAME(solve_backward)(ldl, begin, end, work);
    for (int k = begin; k < end; k++)
        for (int c = 0; c < ldl_block_size(ldl, k); c++)
            y[ldl->first[ldl->by.order[k]] + c] = work[ldl->at[k] + c];
}

#undef NUMBER
#undef NAME
#undef CLONES
#undef DOT
