/* delassus.c -- W = H'Y + C as a matrix of blocks.
 *
 * Column by column: Y_c is spread out over the velocities, and every contact with a velocity in its reach
 * gets H_i'Y_c. Contacts that share a block of C (a patch) belong together, too. Twice: the first time
 * counts, the second fills.
 */
#include "reduce/delassus.h"

#define GROW(name, n) STI_TRY(STI_GROW(&w->allocator, w->name, w->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&w->allocator, w->name, w->name##_size)

void sti_delassus_release(sti_Delassus *w)
{
    RELEASE(first);
    RELEASE(p);
    RELEASE(j);
    RELEASE(start);
    RELEASE(x);
    RELEASE(diagonal);
    RELEASE(user_first);
    RELEASE(user);
    RELEASE(mark);
    RELEASE(list);
    RELEASE(column);
    RELEASE(patch);
}

/* Lists the contacts that contact c moves, itself included; returns their number. */
static int rows_of_column(sti_Delassus *w, const sti_Reduction *reduction, int c)
{
    int count = 0;
    for (int o = w->patch[2 * c]; o < w->patch[2 * c + 1]; o++) {
        w->mark[o] = c + 1;
        w->list[count++] = o;
    }
    for (int64_t k = reduction->y_first[c]; k < reduction->y_first[c + 1]; k++) {
        const int v = reduction->y_index[k];
        for (int64_t e = w->user_first[v]; e < w->user_first[v + 1]; e++)
            if (w->mark[w->user[e]] != c + 1) {
                w->mark[w->user[e]] = c + 1;
                w->list[count++] = w->user[e];
            }
    }
    return count;
}

/* Y_c into column, or zeros back. */
static void spread(sti_Delassus *w, const sti_Reduction *reduction, int c, bool clear)
{
    const int dim = reduction->problem->contact[c].dim;
    const int64_t count = reduction->y_first[c + 1] - reduction->y_first[c];
    const double *y = reduction->y_value + reduction->y_start[c];
    for (int64_t k = 0; k < count; k++) {
        double *to = w->column + ST_MAX_DIM * (int64_t)reduction->y_index[reduction->y_first[c] + k];
        for (int d = 0; d < dim; d++)
            to[d] = clear ? 0.0 : y[d * count + k];
    }
}

st_Status sti_delassus_build(sti_Delassus *w, const sti_Reduction *reduction, int64_t max_blocks, bool *formed,
                             st_Error *err)
{
    const st_Problem *p = reduction->problem;
    const int n = p->n_contacts;
    *formed = false;
    GROW(first, n + 1);
    GROW(p, (int64_t)n + 2);
    GROW(mark, n);
    GROW(list, n);
    GROW(diagonal, n);
    GROW(column, ST_MAX_DIM * (int64_t)p->n_v);
    GROW(user_first, (int64_t)p->n_v + 2);
    GROW(user, reduction->h_first[p->n_contacts]);
    memset(w->user_first, 0, (size_t)(p->n_v + 2) * sizeof *w->user_first);
    for (int64_t k = 0; k < reduction->h_first[p->n_contacts]; k++)
        w->user_first[reduction->h_index[k] + 2]++;
    for (int v = 0; v < p->n_v; v++)
        w->user_first[v + 2] += w->user_first[v + 1];
    for (int c = 0; c < p->n_contacts; c++)
        for (int64_t k = reduction->h_first[c]; k < reduction->h_first[c + 1]; k++)
            w->user[w->user_first[reduction->h_index[k] + 1]++] = c;

    /* Finds contacts that share a block of C. Blocks of C and contacts both ascend. */
    GROW(patch, 2 * (int64_t)p->n_contacts);
    for (int c = 0; c < p->n_contacts; c++) {
        w->patch[2 * c] = c;
        w->patch[2 * c + 1] = c + 1;
    }
    for (int k = 0, begin = 0; k < p->C.n_blocks; k++) {
        while (p->contact[begin].first + p->contact[begin].dim <= p->C.first[k])
            begin++;
        int end = begin;
        while (end < p->n_contacts && p->contact[end].first < p->C.first[k + 1])
            end++;
        for (int c = begin; c < end; c++) { /* a contact may lie in several small blocks */
            w->patch[2 * c] = begin < w->patch[2 * c] ? begin : w->patch[2 * c];
            w->patch[2 * c + 1] = end > w->patch[2 * c + 1] ? end : w->patch[2 * c + 1];
        }
    }

    /* Count the blocks by row. */
    w->n_entries = 0;
    memset(w->p, 0, (size_t)(n + 2) * sizeof *w->p);
    memset(w->mark, 0, (size_t)n * sizeof *w->mark);
    for (int c = 0; c < n && w->n_entries <= max_blocks; c++) {
        const int count = rows_of_column(w, reduction, c);
        w->n_entries += count;
        for (int k = 0; k < count; k++)
            w->p[w->list[k] + 2]++;
    }
    for (int c = 0; c < n; c++)
        w->p[c + 2] += w->p[c + 1];
    if (w->n_entries > max_blocks) return ST_OK;
    w->first[n] = p->n_r;
    for (int c = 0; c < n; c++)
        w->first[c] = p->contact[c].first;
    int largest = 1;
    for (int c = 0; c < n; c++)
        largest = p->contact[c].dim > largest ? p->contact[c].dim : largest;
    GROW(j, w->n_entries);
    GROW(start, w->n_entries);
    GROW(x, w->n_entries * largest * largest);

    /* Fills them, column by column, and then adds C. */
    int64_t at = 0;
    memset(w->mark, 0, (size_t)p->n_contacts * sizeof *w->mark);
    for (int c = 0; c < p->n_contacts; c++) {
        const int count = rows_of_column(w, reduction, c);
        spread(w, reduction, c, false);
        for (int k = 0; k < count; k++) {
            const int o = w->list[k];
            const int64_t e = w->p[o + 1]++;
            w->j[e] = c;
            w->start[e] = at;
            if (o == c) w->diagonal[c] = e;
            /* H_o'Y_c */
            const int rows = p->contact[o].dim, columns = p->contact[c].dim;
            const int64_t h_count = reduction->h_first[o + 1] - reduction->h_first[o];
            const int *index = reduction->h_index + reduction->h_first[o];
            const double *h = reduction->h_value + reduction->h_start[o];
            double *x = w->x + at;
            memset(x, 0, (size_t)(rows * columns) * sizeof *x);
            for (int64_t i = 0; i < h_count; i++) {
                const double *y = w->column + ST_MAX_DIM * (int64_t)index[i];
                for (int a = 0; a < rows; a++)
                    for (int b = 0; b < columns; b++)
                        x[a * columns + b] += h[a * h_count + i] * y[b];
            }
            at += rows * columns;
        }
        spread(w, reduction, c, true);
    }
    const double *x = p->C.x;
    int ci = 0;
    for (int k = 0; k < p->C.n_blocks; k++)
        for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++) {
            while (i >= w->first[ci + 1])
                ci++;
            int cj = ci;
            while (w->first[cj] > p->C.first[k])
                cj--;
            for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++, x++) {
                while (j >= w->first[cj + 1])
                    cj++;
                int64_t e = w->p[ci], last = w->p[ci + 1] - 1; /* bisection for the entry (ci, cj) */
                while (e < last) {
                    const int64_t middle = (e + last) / 2;
                    if (w->j[middle] < cj)
                        e = middle + 1;
                    else
                        last = middle;
                }
                w->x[w->start[e] + (int64_t)(i - w->first[ci]) * p->contact[cj].dim + j - w->first[cj]] += *x;
            }
        }
    w->b = reduction->b;
    w->rows = (sti_BlockRows){.n_blocks = n, .first = w->first, .p = w->p, .j = w->j, .start = w->start};
    *formed = true;
    return ST_OK;
}

void sti_delassus_apply(const sti_Delassus *w, const double *r, double *u)
{
    for (int i = 0; i < w->rows.n_blocks; i++) {
        const int begin = w->first[i], rows = w->first[i + 1] - begin;
        double sum[ST_MAX_DIM] = {0};
        for (int d = 0; d < rows; d++)
            sum[d] = w->b[begin + d];
        for (int64_t e = w->p[i]; e < w->p[i + 1]; e++) {
            const int first = w->first[w->j[e]], columns = w->first[w->j[e] + 1] - first;
            const double *x = w->x + w->start[e], *rj = r + first;
            if (rows == 3 && columns == 3) {
                sum[0] += x[0] * rj[0] + x[1] * rj[1] + x[2] * rj[2];
                sum[1] += x[3] * rj[0] + x[4] * rj[1] + x[5] * rj[2];
                sum[2] += x[6] * rj[0] + x[7] * rj[1] + x[8] * rj[2];
                continue;
            }
            for (int d = 0; d < rows; d++)
                for (int c = 0; c < columns; c++)
                    sum[d] += x[d * columns + c] * rj[c];
        }
        for (int d = 0; d < rows; d++)
            u[begin + d] = sum[d];
    }
}
