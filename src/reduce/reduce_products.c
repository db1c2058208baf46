/* reduce_products.c -- what the columns of H and Y give: W = H'Y + C, b = H'v_free + w, and W r + b. Of W only the
 * diagonal blocks are formed, unless all of it is asked for.
 */
#include "base/tolerance.h"
#include "reduce/reduce_memory.h"

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

/* w as the problem has it, with what joints impose, and b. */
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
