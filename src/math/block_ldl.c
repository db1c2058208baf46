/* block_ldl.c -- P S P' = L D L' for a sparse symmetric positive semi-definite S of small dense blocks.
 *
 * L is unit lower triangular (also inside its diagonal blocks), D diagonal and scalar. Left-looking by
 * block column j over the structure found beforehand:
 *
 *     B_ij = S_ij - sum_{k < j} L_ik D_k L_jk'      for all i >= j in the column
 *     B_jj = L_jj D_j L_jj',    L_ij = B_ij inv(L_jj') inv(D_j)
 *
 * Ordering: AMD (Amestoy, Davis & Duff 2004) on the graph of blocks. Structure: the elimination tree and the merging of
 * children's columns (Liu 1990; George & Liu 1981); both kept while the pattern is the same. Trees have consecutive
 * numbers, so that one connected component can be solved alone.
 *
 * Semi-definite S: a scalar pivot d <= STI_REDUNDANT_PIVOT times its own entry of S belongs to a row that depends on
 * those eliminated before. Its column of L and its 1/d are set to 0: for consistent right-hand sides this is a
 * solution, with that unknown 0. (In exact arithmetic the whole column of the Schur complement vanishes with its
 * diagonal, so nothing is lost.)
 */
#include "math/block_ldl.h"

#include "base/tolerance.h"
#include "math/elimination.h"
#include "math/pair.h"
#include "math/product.h"

#define GROW(name, n) STI_TRY(STI_GROW(&ldl->allocator, ldl->name, ldl->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&ldl->allocator, ldl->name, ldl->name##_size)

struct sti_BlockLdl {
    st_Allocator allocator;
    int n;                           /* number of blocks; -1: nothing analysed */
    int n_scalar;                    /* number of unknowns */
    sti_Elimination by;              /* the order, its tree, and the columns of L, their rows sorted            */
    STI_ARRAY(int, first);           /* the pattern analysed: first, p, i of sti_BlockPattern           */
    STI_ARRAY(int64_t, p);           /*                                                                 */
    STI_ARRAY(int, i);               /*                                                                 */
    STI_ARRAY(int, tree);            /* the last rank of each rank's tree ...                           */
    STI_ARRAY(int, tree_begin);      /* ... and the first                                               */
    STI_ARRAY(int, at);              /* n + 1: first scalar of each rank                                */
    STI_ARRAY(int64_t, value_start); /* start of its values in `value` */
    STI_ARRAY(int64_t, row_first);   /* n + 1: the entries of row k left of the diagonal ...            */
    STI_ARRAY(int64_t, row_entry);   /* ... as entries of L                                             */
    STI_ARRAY(int, row_column);      /* ... and the column of each */
    STI_ARRAY(int64_t, target);      /* position of each entry of S in L */
    STI_ARRAY(double, value);        /* L                                                               */
    STI_ARRAY(double, pivot);        /* D                                                               */
    STI_ARRAY(double, inverse);      /* 1/D; 0 if left out */
    STI_ARRAY(double, product);      /* one block of L_jk D_k                                           */
    STI_ARRAY(double, work);         /* right-hand sides in the order of elimination                    */
    STI_ARRAY(int64_t, where);       /* entry of the current column that has a row */
    STI_ARRAY(int, scratch);
};

st_Status sti_block_ldl_create(const st_Allocator *allocator, sti_BlockLdl **out, st_Error *err)
{
    sti_BlockLdl *ldl = sti_alloc(allocator, 1, sizeof *ldl);
    if (ldl == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a block factorisation");
    ldl->allocator = ldl->by.allocator = *allocator;
    ldl->n = -1;
    *out = ldl;
    return ST_OK;
}

void sti_block_ldl_destroy(sti_BlockLdl *ldl)
{
    if (ldl == NULL) return;
    sti_elimination_release(&ldl->by);
    RELEASE(first);
    RELEASE(p);
    RELEASE(i);
    RELEASE(tree);
    RELEASE(tree_begin);
    RELEASE(at);
    RELEASE(value_start);
    RELEASE(row_first);
    RELEASE(row_entry);
    RELEASE(row_column);
    RELEASE(target);
    RELEASE(value);
    RELEASE(pivot);
    RELEASE(inverse);
    RELEASE(product);
    RELEASE(work);
    RELEASE(where);
    RELEASE(scratch);
    st_Allocator allocator = ldl->allocator;
    sti_free(&allocator, ldl, 1, sizeof *ldl);
}

static int ldl_block_size(const sti_BlockLdl *ldl, int rank)
{
    return ldl->at[rank + 1] - ldl->at[rank];
}

/* ------------------------------------------------------------------ analysis, once per pattern */

/* Assigns positions to the values of L, and to each entry of S in it. */
static st_Status place_values(sti_BlockLdl *ldl, const sti_BlockPattern *s, st_Error *err)
{
    const int n = s->n_blocks;
    GROW(at, n + 1);
    GROW(value_start, ldl->by.column[n] + 1);
    GROW(target, s->p[n]);
    ldl->at[0] = 0;
    for (int k = 0; k < n; k++)
        ldl->at[k + 1] = ldl->at[k] + s->first[ldl->by.order[k] + 1] - s->first[ldl->by.order[k]];
    ldl->n_scalar = ldl->at[n];
    int64_t end = 0, largest = 1;
    for (int k = 0; k < n; k++)
        for (int64_t e = ldl->by.column[k]; e < ldl->by.column[k + 1]; e++) {
            const int64_t size = (int64_t)ldl_block_size(ldl, k) * ldl_block_size(ldl, ldl->by.row[e]);
            ldl->value_start[e] = end;
            end += size;
            largest = size > largest ? size : largest;
        }
    GROW(value, end);
    GROW(product, largest);
    GROW(pivot, ldl->n_scalar);
    GROW(inverse, ldl->n_scalar);
    GROW(work, (int64_t)STI_WIDTH * ldl->n_scalar);
    ldl->value_start[ldl->by.column[n]] = end;
    for (int j = 0; j < n; j++)
        for (int64_t e = s->p[j]; e < s->p[j + 1]; e++) {
            const int a = ldl->by.rank[j], b = ldl->by.rank[s->i[e]], low = a < b ? a : b, high = a < b ? b : a;
            int64_t from = ldl->by.column[low], to = ldl->by.column[low + 1]; /* sorted: bisect */
            while (to - from > 1) {
                const int64_t middle = from + (to - from) / 2;
                if (ldl->by.row[middle] <= high)
                    from = middle;
                else
                    to = middle;
            }
            ldl->target[e] = from;
        }
    return ST_OK;
}

static st_Status ldl_analyse(sti_BlockLdl *ldl, const sti_BlockPattern *s, st_Error *err)
{
    const int n = s->n_blocks;
    ldl->n = -1; /* until the analysis is complete */
    GROW(first, n + 1);
    GROW(p, n + 1);
    GROW(i, s->p[n]);
    memcpy(ldl->first, s->first, (size_t)(n + 1) * sizeof *s->first);
    memcpy(ldl->p, s->p, (size_t)(n + 1) * sizeof *s->p);
    memcpy(ldl->i, s->i, (size_t)s->p[n] * sizeof *s->i);

    STI_TRY(sti_elimination_by_amd(&ldl->by, n, s->p, s->i, err));
    STI_TRY(sti_elimination_columns(&ldl->by, n, s->p, s->i, err)); /* for the trees */
    /* AMD numbers rows with very many neighbours last, away from their tree, but component solves need each tree in
     * one piece. So the trees are renumbered one after another, each in its old order. The fill does not change,
     * because trees are independent. Uses parent of the old numbering; ranks and order are rewritten. */
    GROW(tree, n);
    GROW(tree_begin, n);
    GROW(scratch, n);
    int *root = ldl->tree, *next = ldl->tree_begin, *old_order = ldl->scratch;
    for (int k = n - 1; k >= 0; k--)
        root[k] = ldl->by.parent[k] < 0 ? k : root[ldl->by.parent[k]];
    for (int k = 0; k < n; k++)
        next[k] = 0;
    for (int k = 0; k < n; k++)
        next[root[k]]++;
    for (int k = 0, begin = 0; k < n; k++) {
        const int size = next[k];
        next[k] = begin;
        begin += size;
    }
    if (n > 0) memcpy(old_order, ldl->by.order, (size_t)n * sizeof *old_order);
    for (int k = 0; k < n; k++)
        ldl->by.order[next[root[k]]++] = old_order[k];
    sti_elimination_reordered(&ldl->by, n);

    STI_TRY(sti_elimination_columns(&ldl->by, n, s->p, s->i, err)); /* and again in the final numbering */
    /* First and last rank of every rank's tree, in the final numbering. */
    for (int k = n - 1; k >= 0; k--) {
        ldl->tree[k] = ldl->by.parent[k] < 0 ? k : ldl->tree[ldl->by.parent[k]];
        ldl->tree_begin[ldl->tree[k]] = k; /* descending: the smallest stays */
    }
    for (int k = 0; k < n; k++)
        ldl->tree_begin[k] = ldl->tree_begin[ldl->tree[k]];

    /* Rows of L from its columns, then the columns again from the rows: both end up sorted. */
    const int64_t size = ldl->by.column[n];
    GROW(row_first, n + 1);
    GROW(row_entry, size);
    GROW(row_column, size);
    GROW(where, n);
    memset(ldl->row_first, 0, (size_t)(n + 1) * sizeof *ldl->row_first);
    for (int k = 0; k < n; k++)
        for (int64_t e = ldl->by.column[k] + 1; e < ldl->by.column[k + 1]; e++)
            ldl->row_first[ldl->by.row[e] + 1]++;
    for (int k = 0; k < n; k++)
        ldl->row_first[k + 1] += ldl->row_first[k];
    memcpy(ldl->where, ldl->row_first, (size_t)n * sizeof *ldl->where);
    for (int k = 0; k < n; k++)
        for (int64_t e = ldl->by.column[k] + 1; e < ldl->by.column[k + 1]; e++)
            ldl->row_column[ldl->where[ldl->by.row[e]]++] = k;
    for (int k = 0; k < n; k++)
        ldl->where[k] = ldl->by.column[k] + 1;
    for (int i = 0; i < n; i++)
        for (int64_t t = ldl->row_first[i]; t < ldl->row_first[i + 1]; t++) {
            const int64_t e = ldl->where[ldl->row_column[t]]++;
            ldl->by.row[e] = i;
            ldl->row_entry[t] = e;
        }

    STI_TRY(place_values(ldl, s, err));
    ldl->n = n;
    return ST_OK;
}

/* ---------------------------------------------------------------------------- numbers */

/* The loops below are written once for all sizes, and called with the constants 3, 5 and 6: the usual sizes, of
 * balls, hinges, and hinges or slides with a spring or motor, which the compiler unrolls. */

/* B_jj = L_jj D_j L_jj' in place. `own` are the diagonal entries of S. Returns the number of rows left out. */
STI_INLINE int factor_block(double *b, int size, const double *own, double *pivot, double *inverse)
{
    int skipped = 0;
    for (int c = 0; c < size; c++) {
        double d = b[c * size + c];
        for (int k = 0; k < c; k++)
            d -= b[c * size + k] * b[c * size + k] * pivot[k];
        const bool keep = !(d <= STI_REDUNDANT_PIVOT * own[c]); /* NaN is kept, and detected by the caller */
        pivot[c] = keep ? d : 0.0;
        inverse[c] = keep ? 1.0 / d : 0.0;
        skipped += !keep;
        for (int a = c + 1; a < size; a++) {
            double sum = b[a * size + c];
            for (int k = 0; k < c; k++)
                sum -= b[a * size + k] * pivot[k] * b[c * size + k];
            b[a * size + c] = sum * inverse[c];
        }
    }
    return skipped;
}

/* The same for few rows, on local numbers that stay in registers: loading pairs of numbers that were just stored
 * singly is slow. */
STI_INLINE int factor_known(double *b, int size, const double *own, double *pivot, double *inverse)
{
    double block[36], d[6], one_over[6];
    for (int k = 0; k < size * size; k++)
        block[k] = b[k];
    const int skipped = factor_block(block, size, own, d, one_over);
    for (int k = 0; k < size; k++)
        pivot[k] = d[k], inverse[k] = one_over[k];
    for (int k = 0; k < size * size; k++)
        b[k] = block[k];
    return skipped;
}

static int factor_diagonal(double *b, int size, const double *own, double *pivot, double *inverse)
{
    if (size == 3) return factor_known(b, 3, own, pivot, inverse);
    if (size == 5) return factor_known(b, 5, own, pivot, inverse);
    if (size == 6) return factor_known(b, 6, own, pivot, inverse);
    return factor_block(b, size, own, pivot, inverse);
}

/* t = L_ij D_j for one row of B_ij: t_c = b_c - sum t_k L_ck, then L_ij = t inv(D_j). Columns of L_jj left out are 0.
 */
STI_INLINE void divide_row(double *t, const double *diagonal, int size, const double *inverse)
{
    for (int c = 0; c < size; c++) {
        double sum = t[c];
        for (int k = 0; k < c; k++)
            sum -= t[k] * diagonal[c * size + k];
        t[c] = sum;
    }
    for (int c = 0; c < size; c++)
        t[c] *= inverse[c];
}

STI_INLINE void divide_known(double *b, int rows, const double *diagonal, int size, const double *inverse)
{
    for (int a = 0; a < rows; a++, b += size) {
        double t[6];
        for (int c = 0; c < size; c++)
            t[c] = b[c];
        divide_row(t, diagonal, size, inverse);
        for (int c = 0; c < size; c++)
            b[c] = t[c];
    }
}

st_Status sti_block_ldl_factor(sti_BlockLdl *ldl, const sti_BlockPattern *pattern, const double *x, int *redundant_rows,
                               st_Error *err)
{
    if (redundant_rows != NULL) *redundant_rows = 0;
    if (pattern->n_blocks == 0) {
        ldl->n = 0;
        return ST_OK;
    }
    const size_t n = (size_t)pattern->n_blocks;
    if (!(ldl->n == pattern->n_blocks && memcmp(ldl->p, pattern->p, (n + 1) * sizeof *pattern->p) == 0 &&
          memcmp(ldl->first, pattern->first, (n + 1) * sizeof *pattern->first) == 0 &&
          (pattern->p[n] == 0 || memcmp(ldl->i, pattern->i, (size_t)pattern->p[n] * sizeof *pattern->i) == 0)))
        STI_TRY(ldl_analyse(ldl, pattern, err));

    /* S into the places of L, entries above the diagonal of P S P' transposed. */
    if (ldl->by.column[ldl->n] != pattern->p[pattern->n_blocks]) /* entries that S does not fill */
        memset(ldl->value, 0, (size_t)ldl->value_start[ldl->by.column[ldl->n]] * sizeof *ldl->value);
    for (int j = 0; j < pattern->n_blocks; j++)
        for (int64_t e = pattern->p[j]; e < pattern->p[j + 1]; e++) {
            const int i = pattern->i[e], rows = pattern->first[i + 1] - pattern->first[i],
                      cols = pattern->first[j + 1] - pattern->first[j];
            const double *from = x + pattern->start[e];
            double *to = ldl->value + ldl->value_start[ldl->target[e]];
            if (ldl->by.rank[i] >= ldl->by.rank[j])
                memcpy(to, from, (size_t)rows * (size_t)cols * sizeof *to);
            else
                for (int a = 0; a < rows; a++)
                    for (int b = 0; b < cols; b++)
                        to[b * rows + a] = from[a * cols + b];
        }

    int skipped = 0;
    for (int j = 0; j < ldl->n; j++) {
        const int size = ldl_block_size(ldl, j);
        double *diagonal = ldl->value + ldl->value_start[ldl->by.column[j]];
        double *pivot = ldl->pivot + ldl->at[j], *inverse = ldl->inverse + ldl->at[j], *own = ldl->work + ldl->at[j];
        for (int c = 0; c < size; c++)
            own[c] = diagonal[c * size + c];
        /* Subtracts from column j the contribution of every column k with L_jk != 0. */
        const int width = ldl_block_size(ldl, j);
        for (int64_t e = ldl->by.column[j]; e < ldl->by.column[j + 1]; e++)
            ldl->where[ldl->by.row[e]] = ldl->value_start[e];
        for (int64_t t = ldl->row_first[j]; t < ldl->row_first[j + 1]; t++) {
            const int k = ldl->row_column[t], inner = ldl_block_size(ldl, k);
            const double *middle = ldl->pivot + ldl->at[k], *ljk = ldl->value + ldl->value_start[ldl->row_entry[t]];
            for (int a = 0; a < width; a++)
                for (int b = 0; b < inner; b++)
                    ldl->product[a * inner + b] = ljk[a * inner + b] * middle[b];
            for (int64_t e = ldl->row_entry[t]; e < ldl->by.column[k + 1]; e++)
                sti_product_add(-1.0, ldl->value + ldl->value_start[e], ldl_block_size(ldl, ldl->by.row[e]),
                                ldl->product, width, inner, ldl->value + ldl->where[ldl->by.row[e]], width);
        }
        skipped += factor_diagonal(diagonal, size, own, pivot, inverse);
        for (int c = 0; c < size; c++)
            if (!isfinite(pivot[c])) {
                const int row = pattern->first[ldl->by.order[j]] + c;
                return sti_fail(err, ST_ERR_NUMERIC, "joint matrix: pivot of row %d is %g",
                                pattern->name != NULL ? pattern->name[row] : row, pivot[c]);
            }
        for (int64_t e = ldl->by.column[j] + 1; e < ldl->by.column[j + 1]; e++) {
            /* L_ij = B_ij inv(L_jj') inv(D_j), row by row. */
            double *b = ldl->value + ldl->value_start[e];
            int rows = ldl_block_size(ldl, ldl->by.row[e]);
            if (size == 3)
                divide_known(b, rows, diagonal, 3, inverse);
            else if (size == 5)
                divide_known(b, rows, diagonal, 5, inverse);
            else if (size == 6)
                divide_known(b, rows, diagonal, 6, inverse);
            else
                for (int a = 0; a < rows; a++)
                    divide_row(b + (ptrdiff_t)a * size, diagonal, size, inverse);
        }
    }
    if (redundant_rows != NULL) *redundant_rows = skipped;
    return ST_OK;
}

#define NUMBER  double
#define NAME(f) f
#define CLONES  STI_CLONES
#define DOT     pair_dot_one
#include "math/block_ldl_solve.h"

#define NUMBER  sti_Wide
#define NAME(f) f##_wide
#define CLONES  STI_CLONES
#define DOT     pair_dot_wide
#include "math/block_ldl_solve.h"

void sti_block_ldl_solve(const sti_BlockLdl *ldl, double *y)
{
    solve_ranks(ldl, 0, ldl->n, ldl->work, y);
}

void sti_block_ldl_solve_component(const sti_BlockLdl *ldl, int block, double *y)
{
    const int rank = ldl->by.rank[block];
    solve_ranks(ldl, ldl->tree_begin[rank], ldl->tree[rank] + 1, ldl->work, y);
}

void sti_block_ldl_solve_component_wide(const sti_BlockLdl *ldl, int block, sti_Wide *y)
{
    const int rank = ldl->by.rank[block];
    solve_ranks_wide(ldl, ldl->tree_begin[rank], ldl->tree[rank] + 1, (sti_Wide *)ldl->work, y);
}
