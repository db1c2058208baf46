/* reduce_columns.c -- H and Y by contacts, and their products: W = H'Y + C, b = H'v_free + w, and W r + b. Only the
 * diagonal blocks of W are formed, except by sti_reduction_form_W.
 *
 *     Y = dv/dr: column by column the saddle point system with a = column of H, c = 0 (saddle.h)
 *
 * A column of Y reaches the blocks of A that its contact touches, and the whole mechanism of each of
 * them that has joints. Contacts on free bodies so cost the same however large the problem is; a
 * contact on a mechanism of n velocities costs O(n) memory and a solve over that mechanism.
 */
#include "base/tolerance.h"
#include "reduce/reduce_memory.h"

/* ------------------------------------------------------------------ H */

st_Status sti_columns_of_H(sti_ReductionMemory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    GROW(h_first, p->n_contacts + 1);
    GROW(h_start, p->n_contacts + 1);
    GROW(place, p->n_v);
    GROW(out_v, p->n_v);
    m->h_first[0] = m->h_start[0] = 0;
    for (int row = 0; row < p->n_v; row++)
        m->place[row] = -1;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int64_t begin = m->h_first[c];
        int64_t end = begin;

        /* The velocities contact c touches, ascending: the union of its columns, which are nearly the same and
         * nearly sorted, so that the insertion hardly ever moves anything. */
        const st_Sparse *H = &m->problem->H;
        GROW(h_index, begin + H->p[contact->first + contact->dim] - H->p[contact->first]);
        for (int64_t e = H->p[contact->first]; e < H->p[contact->first + contact->dim]; e++) {
            if (m->place[H->i[e]] >= 0) continue;
            m->place[H->i[e]] = 0;
            int64_t at = end++;
            for (; at > begin && m->h_index[at - 1] > H->i[e]; at--)
                m->h_index[at] = m->h_index[at - 1];
            m->h_index[at] = H->i[e];
        }
        const int64_t count = end - begin;
        GROW(h_value, m->h_start[c] + contact->dim * count);
        double *value = m->h_value + m->h_start[c];
        memset(value, 0, (size_t)(contact->dim * count) * sizeof *value);
        for (int64_t k = begin; k < end; k++)
            m->place[m->h_index[k]] = k - begin;
        for (int d = 0; d < contact->dim; d++)
            for (int64_t e = p->H.p[contact->first + d]; e < p->H.p[contact->first + d + 1]; e++)
                value[d * count + m->place[p->H.i[e]]] = p->H.x[e];
        for (int64_t k = begin; k < end; k++)
            m->place[m->h_index[k]] = -1;
        m->h_first[c + 1] = end;
        m->h_start[c + 1] = m->h_start[c] + contact->dim * count;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ Y */

/* Columns of one mechanism on their way to a solve: H_c's, d-th, whose values go to y_value[to ..]. */
typedef struct Batch {
    int n, mechanism;
    int c[STI_WIDTH], d[STI_WIDTH];
    int64_t to[STI_WIDTH];
} Batch;

/* Solves the columns collected, side by side; wide_side is 0 before and after. */
static void solve_batch(sti_ReductionMemory *m, Batch *batch)
{
    const sti_Net *net = m->saddle->net;
    const int *first = m->problem->A.first, *blocks = net->mechanism_first + batch->mechanism;
    double *side = m->wide_side, *out = m->wide_out;
    if (batch->n == 0) return;
    for (int j = 0; j < batch->n; j++) {
        const int64_t begin = m->h_first[batch->c[j]], count = m->h_first[batch->c[j] + 1] - begin;
        const double *h = m->h_value + m->h_start[batch->c[j]] + batch->d[j] * count;
        for (int64_t k = 0; k < count; k++)
            side[(int64_t)STI_WIDTH * m->h_index[begin + k] + j] = h[k];
    }
    sti_saddle_solve_wide(m->saddle, batch->mechanism, (sti_Wide *)side, (sti_Wide *)out);
    int64_t k = 0;
    for (int t = blocks[0]; t < blocks[1]; t++)
        for (int row = first[net->mechanism_block[t]]; row < first[net->mechanism_block[t] + 1]; row++, k++)
            for (int j = 0; j < batch->n; j++)
                m->y_value[batch->to[j] + k] = out[(int64_t)STI_WIDTH * row + j];
    for (int j = 0; j < batch->n; j++)
        for (k = m->h_first[batch->c[j]]; k < m->h_first[batch->c[j] + 1]; k++)
            side[(int64_t)STI_WIDTH * m->h_index[k] + j] = 0.0;
    batch->n = 0;
}

st_Status sti_columns_of_Y(sti_ReductionMemory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    const sti_Net *net = m->saddle->net;
    const int *first = p->A.first;
    Batch batch = {.n = 0};
    GROW(y_first, p->n_contacts + 1);
    GROW(y_start, p->n_contacts + 1);
    GROW(block_seen, p->A.n_blocks);
    if (p->A.n_blocks > 0) memset(m->block_seen, 0, (size_t)p->A.n_blocks * sizeof *m->block_seen);
    if (p->n_l > 0) {
        GROW(wide_out, (int64_t)STI_WIDTH * p->n_v);
        GROW(wide_side, (int64_t)STI_WIDTH * p->n_v);
        memset(m->wide_side, 0, (size_t)STI_WIDTH * (size_t)p->n_v * sizeof *m->wide_side);
    }
    m->y_first[0] = m->y_start[0] = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        /* The velocities that move when contact c pushes: its free bodies, and all of each of its mechanisms. */
        int64_t end = m->y_first[c];
        for (int64_t k = m->h_first[c]; k < m->h_first[c + 1]; k++) {
            const int block = net->block_of[m->h_index[k]], mechanism = net->mechanism_of[block];
            if (m->block_seen[block] == c + 1) continue;
            const bool is_free = sti_net_is_free(net, block);
            const int begin = is_free ? 0 : net->mechanism_first[mechanism];
            const int n = is_free ? 1 : net->mechanism_first[mechanism + 1] - begin;
            for (int t = 0; t < n; t++) {
                const int reached = is_free ? block : net->mechanism_block[begin + t];
                m->block_seen[reached] = c + 1;
                GROW(y_index, end + first[reached + 1] - first[reached]);
                for (int row = first[reached]; row < first[reached + 1]; row++)
                    m->y_index[end++] = row;
            }
        }
        m->y_first[c + 1] = end;
        m->y_start[c + 1] = m->y_start[c] + p->contact[c].dim * (end - m->y_first[c]);
    }
    GROW(y_value, m->y_start[p->n_contacts]);
    for (int c = 0; c < p->n_contacts; c++) {
        /* Free bodies are solved one by one, columns of a mechanism side by side. */
        const int64_t count = m->y_first[c + 1] - m->y_first[c], h_count = m->h_first[c + 1] - m->h_first[c];
        for (int64_t k = 0; k < count;) {
            const int block = net->block_of[m->y_index[m->y_first[c] + k]], mechanism = net->mechanism_of[block];
            const int size = first[block + 1] - first[block];
            const bool is_free = sti_net_is_free(net, block);
            for (int d = 0; d < p->contact[c].dim; d++) {
                const int64_t to = m->y_start[c] + d * count + k;
                if (!is_free) {
                    if (batch.n == STI_WIDTH || batch.mechanism != mechanism) solve_batch(m, &batch);
                    batch.mechanism = mechanism;
                    batch.c[batch.n] = c;
                    batch.d[batch.n] = d;
                    batch.to[batch.n++] = to;
                    continue;
                }
                const double *h = m->h_value + m->h_start[c] + d * h_count;
                double *y = m->y_value + to;
                memset(y, 0, (size_t)size * sizeof *y);
                for (int64_t e = 0; e < h_count; e++) {
                    const int row = m->h_index[m->h_first[c] + e] - first[block];
                    if (row >= 0 && row < size) y[row] = h[e];
                }
                sti_saddle_solve_block(m->saddle, block, y);
            }
            if (is_free) k += size;
            for (int t = net->mechanism_first[mechanism]; !is_free && t < net->mechanism_first[mechanism + 1]; t++)
                k += first[net->mechanism_block[t] + 1] - first[net->mechanism_block[t]];
        }
    }
    solve_batch(m, &batch);
    for (int c = 0; c < p->n_contacts; c++) {
        /* Rows that joints hold are left out of H and Y. There the row's own entry of W, h'y, is the rounding of a
         * zero; without joints it would be at least the largest h_k^2/A_kk. */
        const int64_t count = m->y_first[c + 1] - m->y_first[c], h_count = m->h_first[c + 1] - m->h_first[c];
        for (int d = 0; d < m->problem->contact[c].dim; d++) {
            double *h = m->h_value + m->h_start[c] + d * h_count, *y = m->y_value + m->y_start[c] + d * count;
            sti_scatter_column(m, c, d);
            bool *held = &m->held[m->problem->contact[c].first + d];
            double bound = 0.0;
            for (int64_t k = 0; k < h_count; k++)
                bound = fmax(bound, h[k] * h[k] / sti_saddle_mass(m->saddle, m->h_index[m->h_first[c] + k]));
            *held = !(sti_row_of_H(m, c, d, m->out_v) > STI_HELD * bound);
            if (!*held) continue;
            memset(h, 0, (size_t)h_count * sizeof *h);
            memset(y, 0, (size_t)count * sizeof *y);
        }
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ W and b */

st_Status sti_columns_diagonal(sti_ReductionMemory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    GROW(W_start, p->n_contacts + 1);
    m->W_start[0] = 0;
    for (int c = 0; c < p->n_contacts; c++)
        m->W_start[c + 1] = m->W_start[c] + (int64_t)p->contact[c].dim * p->contact[c].dim;
    GROW(W_diagonal, m->W_start[p->n_contacts]);
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim;
        for (int d = 0; d < dim; d++) {
            sti_scatter_column(m, c, d);
            for (int e = 0; e < dim; e++)
                m->W_diagonal[m->W_start[c] + (int64_t)e * dim + d] = sti_row_of_H(m, c, e, m->out_v);
        }
    }

    /* The entries of C that lie in diagonal blocks of W. Blocks of C may join several contacts (a patch), so
     * they are walked row by row beside the contacts. */
    const double *x = p->C.x;
    int c = 0;
    for (int k = 0; k < p->C.n_blocks; k++) {
        const int size = p->C.first[k + 1] - p->C.first[k];
        for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++, x += size) {
            while (i >= p->contact[c].first + p->contact[c].dim)
                c++;
            const st_ContactLaw *contact = &p->contact[c];
            double *W = m->W_diagonal + m->W_start[c] + (int64_t)(i - contact->first) * contact->dim;
            for (int d = 0; d < contact->dim; d++) {
                const int j = contact->first + d - p->C.first[k];
                if (j >= 0 && j < size) W[d] += x[j];
            }
        }
    }
    return sti_columns_rho(m, err);
}

/* rho = dim / |trace(W_cc)|: below 0 in complementarity problems only. */
st_Status sti_columns_rho(sti_ReductionMemory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    GROW(rho, p->n_contacts);
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim;
        double trace = 0.0;
        for (int d = 0; d < dim; d++)
            trace += m->W_diagonal[m->W_start[c] + (int64_t)d * dim + d];
        m->rho[c] = trace != 0.0 ? dim / fabs(trace) : 1.0;
        if (!isfinite(trace) || !isfinite(m->rho[c]))
            return sti_fail(err, ST_ERR_NUMERIC, "contact %d: the trace of its block of W is %g", c, trace);
    }
    return ST_OK;
}

/* w of the problem with the velocities that joints impose, and b. */
void sti_columns_b(sti_ReductionMemory *m)
{
    const st_Problem *p = m->problem;
    double fastest = 0.0;
    for (int k = 0; k < p->n_l; k++)
        fastest = fmax(fastest, fabs(p->g[k]));
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++) {
            const int row = p->contact[c].first + d;
            double imposed = 0.0; /* by joints, along a row that they hold: 0, not rounding, unless they move in time */
            for (int64_t e = p->H.p[row]; e < p->H.p[row + 1] && m->held[row]; e++)
                imposed += p->H.x[e] * m->v_free[p->H.i[e]];
            m->w[row] = p->w[row] + (fastest > 0.0 && fabs(imposed) > STI_NOISE * fastest ? imposed : 0.0);
            m->b[row] = sti_row_of_H(m, c, d, m->v_free) + m->w[row];
        }
}

void sti_reduction_apply(const sti_Reduction *reduction, const double *r, double *v, double *u)
{
    const sti_ReductionMemory *m = reduction->memory;
    const st_Problem *p = m->problem;
    if (p->n_v > 0) memcpy(v, m->v_free, (size_t)p->n_v * sizeof *v);
    for (int c = 0; c < p->n_contacts; c++) {
        const int64_t count = m->y_first[c + 1] - m->y_first[c];
        const int *index = m->y_index + m->y_first[c];
        for (int d = 0; d < p->contact[c].dim; d++) {
            const double amount = r[p->contact[c].first + d], *y = m->y_value + m->y_start[c] + d * count;
            if (amount == 0.0) continue; /* open contacts are many */
            for (int64_t k = 0; k < count; k++)
                v[index[k]] += y[k] * amount;
        }
    }
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++)
            u[p->contact[c].first + d] = sti_row_of_H(m, c, d, v) + m->w[p->contact[c].first + d];
    const double *x = p->C.x;
    for (int k = 0; k < p->C.n_blocks; k++)
        for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++)
            for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++)
                u[i] += *x++ * r[j];
}

void sti_reduction_form_W(const sti_Reduction *reduction, double *W)
{
    const sti_ReductionMemory *m = reduction->memory;
    const st_Problem *p = m->problem;
    const int64_t n = p->n_r;
    double *v = m->out_v;
    if (p->n_v > 0) memset(v, 0, (size_t)p->n_v * sizeof *v);
    for (int c = 0; c < p->n_contacts; c++) {
        const int64_t count = m->y_first[c + 1] - m->y_first[c];
        const int *index = m->y_index + m->y_first[c];
        for (int d = 0; d < p->contact[c].dim; d++) {
            const double *y = m->y_value + m->y_start[c] + d * count;
            for (int64_t k = 0; k < count; k++)
                v[index[k]] = y[k];
            for (int other = 0; other < p->n_contacts; other++)
                for (int e = 0; e < p->contact[other].dim; e++)
                    W[(p->contact[other].first + e) * n + p->contact[c].first + d] = sti_row_of_H(m, other, e, v);
        }
        for (int64_t k = 0; k < count; k++)
            v[index[k]] = 0.0;
    }
    const double *x = p->C.x;
    for (int k = 0; k < p->C.n_blocks; k++)
        for (int64_t i = p->C.first[k]; i < p->C.first[k + 1]; i++)
            for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++)
                W[i * n + j] += *x++;
}
