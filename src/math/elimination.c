/* elimination.c -- see elimination.h. */
#include "math/elimination.h"

#include <amd.h>
#include <limits.h>

#define GROW(name, n) STI_TRY(STI_GROW(&of->allocator, of->name, of->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&of->allocator, of->name, of->name##_size)

void sti_elimination_release(sti_Elimination *of)
{
    RELEASE(order);
    RELEASE(rank);
    RELEASE(parent);
    RELEASE(column);
    RELEASE(row);
    RELEASE(own_first);
    RELEASE(own);
    RELEASE(mark);
    RELEASE(child);
    RELEASE(sibling);
}

/* ------------------------------------------------------------------ order */

static st_Status elimination_make_room(sti_Elimination *of, int n, st_Error *err)
{
    GROW(order, n);
    GROW(rank, n);
    GROW(parent, n);
    GROW(column, n + 1);
    GROW(own_first, n + 2);
    GROW(mark, n);
    GROW(child, n + 1);
    GROW(sibling, n);
    return ST_OK;
}

void sti_elimination_reordered(sti_Elimination *of, int n)
{
    for (int k = 0; k < n; k++)
        of->rank[of->order[k]] = k;
}

st_Status sti_elimination_as_it_is(sti_Elimination *of, int n, st_Error *err)
{
    STI_TRY(elimination_make_room(of, n, err));
    for (int k = 0; k < n; k++)
        of->order[k] = k;
    sti_elimination_reordered(of, n);
    return ST_OK;
}

st_Status sti_elimination_by_amd(sti_Elimination *of, int n, const int64_t *p, const int *i, st_Error *err)
{
    if (p[n] > INT_MAX)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "a matrix of %lld blocks: the ordering takes at most %d",
                        (long long)p[n], INT_MAX);
    STI_TRY(elimination_make_room(of, n, err));
    for (int j = 0; j <= n; j++)
        of->child[j] = (int)p[j]; /* AMD's offsets are int */
    const int status = amd_order(n, of->child, i, of->order, NULL, NULL);
    if (status == AMD_OUT_OF_MEMORY) return sti_fail(err, ST_ERR_MEMORY, "out of memory: ordering %d blocks", n);
    if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED)
        return sti_fail(err, ST_ERR_ARGUMENT, "the ordering refused a pattern of %d blocks", n);
    sti_elimination_reordered(of, n);
    return ST_OK;
}

/* ------------------------------------------------------------------ structure */

/* Adds the rows of a list to column k, unless it has them already (marked with k + 1); the lowest of all is its
 * parent. */
static void take_rows(sti_Elimination *of, int k, const int *rows, int64_t n, int *lowest)
{
    int64_t end = of->column[k + 1];
    for (int64_t e = 0; e < n; e++) {
        const int row = rows[e];
        if (of->mark[row] == k + 1) continue;
        of->mark[row] = k + 1;
        of->row[end++] = row;
        *lowest = row < *lowest ? row : *lowest;
    }
    of->column[k + 1] = end;
}

st_Status sti_elimination_columns(sti_Elimination *of, int n, const int64_t *p, const int *i, st_Error *err)
{
    /* An entry and its mirror appear twice; the marks of the merge remove the duplicate. */
    GROW(own, p[n]);
    memset(of->own_first, 0, (size_t)(n + 2) * sizeof *of->own_first);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (int j = 0; j < n; j++)
            for (int64_t e = p[j]; e < p[j + 1]; e++) {
                const int a = of->rank[j], b = of->rank[i[e]], low = a < b ? a : b, high = a < b ? b : a;
                if (a == b) continue;
                if (pass == 0)
                    of->own_first[low + 2]++;
                else
                    of->own[of->own_first[low + 1]++] = high;
            }
        for (int k = 0; k < n && pass == 0; k++)
            of->own_first[k + 2] += of->own_first[k + 1];
    }

    for (int k = 0; k < n; k++)
        of->mark[k] = of->child[k] = 0;
    of->column[0] = 0;
    for (int k = 0; k < n; k++) {
        /* Children are counted from 1; 0 ends a list. */
        const int64_t begin = of->column[k], n_own = of->own_first[k + 1] - of->own_first[k];
        int64_t room = 1 + n_own;
        int lowest = n;
        for (int c = of->child[k]; c > 0; c = of->sibling[c - 1])
            room += of->column[c] - of->column[c - 1];
        GROW(row, begin + room);
        of->row[begin] = k;
        of->mark[k] = k + 1;
        of->column[k + 1] = begin + 1;
        take_rows(of, k, of->own + of->own_first[k], n_own, &lowest);
        for (int c = of->child[k]; c > 0; c = of->sibling[c - 1])
            take_rows(of, k, of->row + of->column[c - 1] + 1, of->column[c] - of->column[c - 1] - 1, &lowest);
        of->parent[k] = lowest < n ? lowest : -1;
        if (lowest < n) {
            of->sibling[k] = of->child[lowest];
            of->child[lowest] = k + 1;
        }
    }
    return ST_OK;
}
