/* math/block_diag_solve.h -- x <- inv(A_k) x by the factors of one block, for x of one or of several numbers (simd4.h).
 *
 * A part of block_diag.c, which includes it with NUMBER, NAME and CLONES.
 */
STI_INLINE void NAME(divide)(const double *d, int64_t apart, int64_t n, NUMBER *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] /= d[i * apart];
}

STI_INLINE void NAME(solve_triangles)(bool symmetric, const double *f, int64_t n, NUMBER *x)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            x[i] -= f[i * n + j] * x[j];
    for (int64_t i = n - 1; i >= 0; i--) {
        if (symmetric) x[i] /= f[i * n + i];
        for (int64_t j = i + 1; j < n; j++)
            x[i] -= (symmetric ? f[j * n + i] : f[i * n + j]) * x[j];
        if (!symmetric) x[i] /= f[i * n + i];
    }
}

/* apart: distance between the entries of a diagonal block; else 0. */
CLONES
static void NAME(solve_block)(int64_t apart, bool symmetric, const double *f, int64_t n, NUMBER *x)
{
    if (apart == 0)
        NAME(solve_triangles)(symmetric, f, n, x);
    else if (n == 6) /* unrolled, because most blocks are bodies in space */
        NAME(divide)(f, apart, 6, x);
    else
        NAME(divide)(f, apart, n, x);
}

#undef NUMBER
#undef NAME
#undef CLONES
