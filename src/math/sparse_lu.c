/* sparse_lu.c -- multifrontal elimination (Duff & Reid 1983; Liu 1992).
 *
 * The blocks are eliminated in the order of AMD, renumbered so that every subtree of the elimination tree is contiguous
 * (a postorder). Adjacent blocks with the same structure form a supernode. A child with nearly the structure of its
 * parent is merged into it, which adds a few zeros and gives larger blocks. Each supernode has a front, dense over its
 * pivots and the rows they reach:
 *
 *          pivots   reached
 *        [  F11       F12  ]   = entries of A + Schur complements of the children
 *        [  F21       F22  ]
 *
 * Its pivots are eliminated (dense.h), and the Schur complement is pushed on a stack for the parent. In postorder
 * the children of a node are on top of the stack when the node is processed.
 */
#include "math/sparse_lu.h"

#include "math/dense.h"
#include "math/elimination.h"

#define GROW(name, n) STI_TRY(STI_GROW(&lu->allocator, lu->name, lu->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&lu->allocator, lu->name, lu->name##_size)

/* Up to this many blocks, or above this density, the elimination order has no benefit: use one front. */
enum { ONE_FRONT = 12 };
static const double dense_enough = 0.5;
/* Zeros that merging supernodes may add, as a share of the pivots' rows; small ones are always merged. */
static const double merge_zeros = 0.15;
enum { MERGE_SMALL = 8 };

struct sti_SparseLu {
    st_Allocator allocator;
    sti_Work *work_done; /* work counter; or NULL */
    int n, n_scalar, n_nodes;
    sti_Elimination by;    /* the order of the blocks, its tree, and the structure of each column */
    STI_ARRAY(int, first); /* the pattern analysed                                                     */
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, j);
    STI_ARRAY(int, at);              /* n + 1: first scalar of each rank                                */
    STI_ARRAY(int, node_first);      /* n_nodes + 1: the ranks of each supernode                        */
    STI_ARRAY(int, node_low);        /* the first supernode of its subtree                              */
    STI_ARRAY(int64_t, reach_first); /* n_nodes + 1: the ranks it reaches beyond its own, ascending ...  */
    STI_ARRAY(int, reach);           /* ...                                                             */
    STI_ARRAY(int, node_reached);    /* scalars in its reach                                            */
    STI_ARRAY(int64_t, entry_first); /* n_nodes + 1: the entries of A that its front takes ...           */
    STI_ARRAY(int64_t, entry);       /* ...                                                             */
    STI_ARRAY(int, entry_row);       /* and their block rows                                            */
    STI_ARRAY(int64_t, value_first); /* n_nodes + 1: its part of `value`                                */
    STI_ARRAY(double, value);        /* per node: k rows [L11\\U11 U12] of length k + reached, then L21  */
    STI_ARRAY(int, pivot);           /* n_scalar                                                        */
    STI_ARRAY(double, front);
    STI_ARRAY(double, stack);
    STI_ARRAY(int64_t, stack_start); /* by node: start of its Schur complement */
    STI_ARRAY(int, where);           /* by rank: its position in the current front */
    STI_ARRAY(int, node_of);         /* by rank                                                         */
    STI_ARRAY(int, scratch);
    STI_ARRAY(double, work);
};

st_Status sti_sparse_lu_create(const st_Allocator *allocator, sti_Work *work, sti_SparseLu **out, st_Error *err)
{
    sti_SparseLu *lu = sti_alloc(allocator, 1, sizeof *lu);
    if (lu == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a sparse factorisation");
    lu->allocator = lu->by.allocator = *allocator;
    lu->work_done = work;
    lu->n = -1;
    *out = lu;
    return ST_OK;
}

void sti_sparse_lu_destroy(sti_SparseLu *lu)
{
    if (lu == NULL) return;
    sti_elimination_release(&lu->by);
    RELEASE(first);
    RELEASE(p);
    RELEASE(j);
    RELEASE(at);
    RELEASE(node_first);
    RELEASE(node_low);
    RELEASE(reach_first);
    RELEASE(reach);
    RELEASE(node_reached);
    RELEASE(entry_first);
    RELEASE(entry);
    RELEASE(entry_row);
    RELEASE(value_first);
    RELEASE(value);
    RELEASE(pivot);
    RELEASE(front);
    RELEASE(stack);
    RELEASE(stack_start);
    RELEASE(where);
    RELEASE(node_of);
    RELEASE(scratch);
    RELEASE(work);
    const st_Allocator allocator = lu->allocator;
    sti_free(&allocator, lu, 1, sizeof *lu);
}

/* ------------------------------------------------------------------ analysis, once per pattern */

static bool lu_same_pattern(const sti_SparseLu *lu, const sti_BlockRows *a)
{
    const size_t n = (size_t)a->n_blocks;
    return lu->n == a->n_blocks && memcmp(lu->p, a->p, (n + 1) * sizeof *a->p) == 0 &&
           memcmp(lu->first, a->first, (n + 1) * sizeof *a->first) == 0 &&
           (a->p[n] == 0 || memcmp(lu->j, a->j, (size_t)a->p[n] * sizeof *a->j) == 0);
}

static int lu_span(const sti_SparseLu *lu, int rank_begin, int rank_end)
{
    return lu->at[rank_end] - lu->at[rank_begin];
}

static st_Status lay_out_nodes(sti_SparseLu *lu, st_Error *err)
{
    const int nodes = lu->n_nodes;
    int64_t widest = 0, top = 0, highest = 0;
    GROW(node_low, nodes);
    GROW(reach_first, nodes + 1);
    GROW(value_first, nodes + 1);
    GROW(stack_start, nodes);
    lu->reach_first[0] = lu->value_first[0] = 0;
    for (int s = 0; s < nodes; s++)
        lu->node_low[s] = s;
    for (int s = 0; s < nodes; s++) {
        const int last = lu->node_first[s + 1] - 1;
        const int64_t count = lu->by.column[last + 1] - lu->by.column[last] - 1, begin = lu->reach_first[s];
        GROW(reach, begin + count);
        if (count > 0)
            memcpy(lu->reach + begin, lu->by.row + lu->by.column[last] + 1, (size_t)count * sizeof *lu->reach);
        int *x = lu->reach + begin; /* Shell sort */
        for (int64_t gap = count / 2; gap > 0; gap /= 2)
            for (int64_t i = gap; i < count; i++) {
                const int value = x[i];
                int64_t at = i;
                for (; at >= gap && x[at - gap] > value; at -= gap)
                    x[at] = x[at - gap];
                x[at] = value;
            }
        lu->reach_first[s + 1] = begin + count;
        if (lu->by.parent[last] >= 0) { /* children come before, so node_low[s] is final */
            int *low = &lu->node_low[lu->node_of[lu->by.parent[last]]];
            *low = lu->node_low[s] < *low ? lu->node_low[s] : *low;
        }
        const int64_t k = lu_span(lu, lu->node_first[s], last + 1), m = k + lu->node_reached[s];
        lu->value_first[s + 1] = lu->value_first[s] + k * (m + lu->node_reached[s]);
        widest = m > widest ? m : widest;
        if (lu->node_low[s] < s) {
            int c = s - 1; /* the lowest child of node s: its subtree begins where that of s does */
            while (lu->node_low[c] > lu->node_low[s])
                c = lu->node_low[c] - 1;
            top = lu->stack_start[c]; /* pop the children ... */
        }
        lu->stack_start[s] = top;
        top += (int64_t)lu->node_reached[s] * lu->node_reached[s]; /* ... and push this one */
        highest = top > highest ? top : highest;
    }
    GROW(stack, highest);
    GROW(value, lu->value_first[nodes]);
    GROW(front, widest * (widest + 12));
    GROW(work, lu->n_scalar + widest);
    GROW(pivot, lu->n_scalar);
    return ST_OK;
}

static st_Status lu_analyse(sti_SparseLu *lu, const sti_BlockRows *a, st_Error *err)
{
    const int n = a->n_blocks;
    lu->n = -1; /* until the analysis is complete */
    GROW(first, n + 1);
    GROW(p, n + 1);
    GROW(j, a->p[n]);
    memcpy(lu->first, a->first, (size_t)(n + 1) * sizeof *a->first);
    memcpy(lu->p, a->p, (size_t)(n + 1) * sizeof *a->p);
    if (a->p[n] > 0) memcpy(lu->j, a->j, (size_t)a->p[n] * sizeof *a->j);

    GROW(scratch, 2 * (int64_t)n);
    GROW(where, n);
    STI_TRY(n <= ONE_FRONT || (double)lu->p[n] >= dense_enough * n * (double)n
                ? sti_elimination_as_it_is(&lu->by, n, err)
                : sti_elimination_by_amd(&lu->by, n, lu->p, lu->j, err));
    STI_TRY(sti_elimination_columns(&lu->by, n, lu->p, lu->j, err));

    /* Renumber so that subtrees are contiguous. */
    int *size = lu->scratch, *next = lu->scratch + n;
    bool moved = false;
    for (int k = 0; k < n; k++)
        size[k] = 1;
    for (int k = 0; k < n; k++)
        if (lu->by.parent[k] >= 0) size[lu->by.parent[k]] += size[k];
    int roots = 0;
    for (int k = n - 1; k >= 0; k--) /* start of each subtree: parents before children */
        next[k] = -1;
    for (int k = 0; k < n; k++)
        if (lu->by.parent[k] < 0) {
            next[k] = roots;
            roots += size[k];
        }
    /* the subtree of a child begins after those of its earlier siblings: `where` is the room used so far */
    for (int k = 0; k < n; k++)
        lu->where[k] = 0;
    for (int k = n - 1; k >= 0; k--) {
        const int up = lu->by.parent[k];
        if (up < 0) continue;
        lu->where[up] += size[k];
        next[k] = next[up] + size[up] - 1 - lu->where[up];
    }
    for (int k = 0; k < n; k++)
        lu->where[next[k] + size[k] - 1] = lu->by.order[k]; /* a node is last in its subtree */
    for (int k = 0; k < n; k++) {
        moved = moved || lu->by.order[k] != lu->where[k];
        lu->by.order[k] = lu->where[k];
    }
    sti_elimination_reordered(&lu->by, n);
    if (moved) STI_TRY(sti_elimination_columns(&lu->by, n, lu->p, lu->j, err));

    GROW(at, n + 1);
    lu->at[0] = 0;
    for (int k = 0; k < n; k++)
        lu->at[k + 1] = lu->at[k] + a->first[lu->by.order[k] + 1] - a->first[lu->by.order[k]];
    lu->n_scalar = lu->at[n];

    /* Rank by rank: begin a supernode, then merge earlier ones that are its children, as long as the added zeros are
     * a small share of the front, or the front is small. The structure of a supernode beyond its own ranks is that
     * of its last rank. */
    GROW(node_first, n + 1);
    GROW(node_reached, n);
    GROW(node_of, n);
    GROW(work, n); /* zeros in each supernode */
    int nodes = 0;
    for (int k = 0; k < n; k++) {
        int begin = k, width = 0; /* scalars in the structure of the rank's column, itself included */
        for (int64_t e = lu->by.column[k]; e < lu->by.column[k + 1]; e++)
            width += lu_span(lu, lu->by.row[e], lu->by.row[e] + 1);
        const int reached = width - lu_span(lu, k, k + 1);
        double zeros = 0.0;
        while (nodes > 0 && lu->by.parent[begin - 1] >= 0 && lu->by.parent[begin - 1] <= k) {
            const int child = lu->node_first[nodes - 1], own = lu_span(lu, child, k + 1);
            const int gap = lu_span(lu, begin, k + 1) + reached - lu->node_reached[nodes - 1];
            const double all = zeros + lu->work[nodes - 1] + (double)lu_span(lu, child, begin) * gap;
            if (all > merge_zeros * own * (0.5 * own + reached) && (own > MERGE_SMALL || gap > MERGE_SMALL)) break;
            zeros = all;
            begin = child;
            nodes--;
        }
        lu->node_first[nodes] = begin;
        lu->work[nodes] = zeros;
        lu->node_reached[nodes++] = reached;
    }
    lu->node_first[nodes] = n;
    lu->n_nodes = nodes;
    for (int s = 0; s < nodes; s++)
        for (int k = lu->node_first[s]; k < lu->node_first[s + 1]; k++)
            lu->node_of[k] = s;

    STI_TRY(lay_out_nodes(lu, err));
    /* The entries of each node. */
    GROW(entry_first, lu->n_nodes + 2);
    GROW(entry, lu->p[n]);
    GROW(entry_row, lu->p[n]);
    memset(lu->entry_first, 0, (size_t)(lu->n_nodes + 2) * sizeof *lu->entry_first);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++)
            for (int64_t e = lu->p[i]; e < lu->p[i + 1]; e++) {
                const int row = lu->by.rank[i], column = lu->by.rank[lu->j[e]],
                          node = lu->node_of[row < column ? row : column];
                if (pass == 0) {
                    lu->entry_first[node + 2]++;
                } else {
                    lu->entry_row[lu->entry_first[node + 1]] = i;
                    lu->entry[lu->entry_first[node + 1]++] = e;
                }
            }
        for (int s = 0; s < lu->n_nodes && pass == 0; s++)
            lu->entry_first[s + 2] += lu->entry_first[s + 1];
    }
    lu->n = n;
    return ST_OK;
}

/* ------------------------------------------------------------------ numbers */

st_Status sti_sparse_lu_factor(sti_SparseLu *lu, const sti_BlockRows *a, const double *x, double tiny, int *replaced,
                               st_Error *err)
{
    sti_Stop *stop = lu->work_done != NULL ? lu->work_done->stop : NULL;
    if (!lu_same_pattern(lu, a)) STI_TRY(lu_analyse(lu, a, err));
    *replaced = 0;
    for (int s = 0; s < lu->n_nodes; s++) {
        const int k = lu_span(lu, lu->node_first[s], lu->node_first[s + 1]), m = k + lu->node_reached[s];
        int64_t stride = (m + 3) / 4 * 4;
        if (stride % 32 == 0) stride += 8; /* avoid rows a power of two apart, which would share cache lines */
        memset(lu->front, 0, (size_t)(m * stride) * sizeof *lu->front);

        /* `where` of the ranks and the reach of the node: their positions in its front. */
        int at = 0;
        for (int l = lu->node_first[s]; l < lu->node_first[s + 1]; l++) {
            lu->where[l] = at;
            at += lu_span(lu, l, l + 1);
        }
        for (int64_t e = lu->reach_first[s]; e < lu->reach_first[s + 1]; e++) {
            lu->where[lu->reach[e]] = at;
            at += lu_span(lu, lu->reach[e], lu->reach[e] + 1);
        }

        for (int64_t t = lu->entry_first[s]; t < lu->entry_first[s + 1]; t++) {
            const int64_t e = lu->entry[t];
            const int i = lu->entry_row[t], j = a->j[e], rows = a->first[i + 1] - a->first[i],
                      columns = a->first[j + 1] - a->first[j];
            const double *block = x + a->start[e];
            double *f = lu->front + lu->where[lu->by.rank[i]] * stride + lu->where[lu->by.rank[j]];
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < columns; c++)
                    f[r * stride + c] += block[r * columns + c];
        }

        for (int c = s - 1; c >= lu->node_low[s]; c = lu->node_low[c] - 1) {
            /* Adds the Schur complement of child c, on the stack, to the front, block by block. */
            const double *from = lu->stack + lu->stack_start[c];
            for (int64_t entries = lu->reach_first[c]; entries < lu->reach_first[c + 1]; entries++) {
                double *f = lu->front + lu->where[lu->reach[entries]] * stride;
                for (int r = lu_span(lu, lu->reach[entries], lu->reach[entries] + 1); r > 0; r--, f += stride)
                    for (int64_t b = lu->reach_first[c]; b < lu->reach_first[c + 1]; b++) {
                        double *to = f + lu->where[lu->reach[b]];
                        for (int q = lu_span(lu, lu->reach[b], lu->reach[b] + 1); q > 0; q--)
                            *to++ += *from++;
                    }
            }
        }
        *replaced += sti_dense_lu(lu->front, m, k, stride, tiny, lu->pivot + lu->at[lu->node_first[s]], stop);
        if (sti_stopped(stop)) return sti_fail(err, ST_ERR_CANCELLED, "cancelled within a factorisation");

        /* number of multiplications to eliminate k of m unknowns: (m-1)^2 + ... + (m-k)^2 */
        const double all = (m - 1.0) * m * (2.0 * m - 1.0), rest = (m - k - 1.0) * (m - k) * (2.0 * (m - k) - 1.0);
        sti_work_products(lu->work_done, (all - rest) / 6.0);
        /* The factors of the front, and its Schur complement for the parent. */
        const int reached = m - k;
        double *value = lu->value + lu->value_first[s];
        for (int i = 0; i < k; i++, value += m)
            memcpy(value, lu->front + i * stride, (size_t)m * sizeof *value);
        for (int i = k; i < m; i++, value += k)
            memcpy(value, lu->front + i * stride, (size_t)k * sizeof *value);
        double *top = lu->stack + lu->stack_start[s];
        for (int i = k; i < m && reached > 0; i++, top += reached)
            memcpy(top, lu->front + i * stride + k, (size_t)reached * sizeof *top);
    }
    return ST_OK;
}

st_Status sti_sparse_lu_reserve(sti_SparseLu *lu, const sti_BlockRows *pattern, st_Error *err)
{
    return lu_same_pattern(lu, pattern) ? ST_OK : lu_analyse(lu, pattern, err);
}

/* ------------------------------------------------------------------ solve */

/* Four partial sums in a fixed order: a single sum would wait for each addition. */
static double lu_dot(const double *a, const double *b, int n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int k = 0;
    for (; k + 4 <= n; k += 4)
        for (int lane = 0; lane < 4; lane++)
            sum[lane] += a[k + lane] * b[k + lane];
    for (; k < n; k++)
        sum[0] += a[k] * b[k];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

void sti_sparse_lu_solve(const sti_SparseLu *lu, double *y)
{
    double *z = lu->work, *t = lu->work + lu->n_scalar;
    sti_work_products(lu->work_done, (double)sti_sparse_lu_size(lu));
    for (int k = 0; k < lu->n; k++)
        for (int q = lu->at[k]; q < lu->at[k + 1]; q++)
            z[q] = y[lu->first[lu->by.order[k]] + q - lu->at[k]];
    for (int s = 0; s < lu->n_nodes; s++) {
        const int begin = lu->at[lu->node_first[s]], k = lu_span(lu, lu->node_first[s], lu->node_first[s + 1]);
        const int reached = lu->node_reached[s];
        const double *value = lu->value + lu->value_first[s], *L21 = value + (int64_t)k * (k + reached);
        double *own = z + begin;
        for (int i = 0; i < k; i++) {
            const int other = lu->pivot[begin + i];
            const double x = own[i];
            own[i] = own[other];
            own[other] = x;
        }
        for (int i = 1; i < k; i++)
            own[i] -= lu_dot(value + (int64_t)i * (k + reached), own, i);
        for (int i = 0; i < reached; i++)
            t[i] = lu_dot(L21 + (int64_t)i * k, own, k);
        for (int64_t e = lu->reach_first[s], next = 0; e < lu->reach_first[s + 1]; e++)
            for (int q = lu->at[lu->reach[e]]; q < lu->at[lu->reach[e] + 1]; q++)
                z[q] -= t[next++];
    }
    for (int s = lu->n_nodes - 1; s >= 0; s--) {
        const int begin = lu->at[lu->node_first[s]], k = lu_span(lu, lu->node_first[s], lu->node_first[s + 1]);
        const int reached = lu->node_reached[s], m = k + reached;
        const double *value = lu->value + lu->value_first[s];
        double *own = z + begin;
        for (int64_t e = lu->reach_first[s], next = 0; e < lu->reach_first[s + 1]; e++)
            for (int q = lu->at[lu->reach[e]]; q < lu->at[lu->reach[e] + 1]; q++)
                t[next++] = z[q];
        for (int i = k - 1; i >= 0; i--) {
            const double *row = value + (int64_t)i * m;
            own[i] = (own[i] - lu_dot(row + k, t, reached) - lu_dot(row + i + 1, own + i + 1, k - 1 - i)) / row[i];
        }
    }
    for (int k = 0; k < lu->n; k++)
        for (int q = lu->at[k]; q < lu->at[k + 1]; q++)
            y[lu->first[lu->by.order[k]] + q - lu->at[k]] = z[q];
}

int64_t sti_sparse_lu_size(const sti_SparseLu *lu)
{
    return lu->n >= 0 ? lu->value_first[lu->n_nodes] : 0;
}

double sti_sparse_lu_work(const sti_SparseLu *lu)
{
    double sum = 0;
    for (int s = 0; lu->n >= 0 && s < lu->n_nodes; s++) {
        const double k = lu->at[lu->node_first[s + 1]] - lu->at[lu->node_first[s]], m = lu->node_reached[s];
        sum += k * (k * k / 3 + k * m + m * m); /* front of k pivots that reaches m rows */
    }
    return sum;
}
