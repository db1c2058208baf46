/* reduce_local.c -- W and b as given: the arrays of a reduction of u = W r + b, with v standing for u, H = I, Y = W,
 * v_free = b, w = 0 (reduce.h).
 */
#include "reduce/reduce_memory.h"

/* Halves of W that differ by more than this, relative to its largest entry, are intended. Six-digit files
 * and solvers that stop early leave up to 1e-3; a gyroscopic or a triangular M leaves a tenth.      */
static const double local_symmetry = 1e-2;

/* |(W - W')y| against |W|_F with y of random signs, whose square has the mean |W - W'|_F^2: two passes over
 * W and no transpose of it. work has n.                                                            */
static bool is_symmetric(const st_Sparse *W, double *y, double *work)
{
    uint64_t state = 1;
    double size = 0.0, difference = 0.0;
    for (int j = 0; j < W->n_cols; j++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
        y[j] = state >> 63 != 0 ? 1.0 : -1.0;
        work[j] = 0.0;
    }
    for (int j = 0; j < W->n_cols; j++)
        for (int64_t e = W->p[j]; e < W->p[j + 1]; e++) {
            work[W->i[e]] += W->x[e] * y[j];
            work[j] -= W->x[e] * y[W->i[e]];
            size += W->x[e] * W->x[e];
        }
    for (int j = 0; j < W->n_cols; j++)
        difference += work[j] * work[j];
    return difference <= local_symmetry * local_symmetry * size;
}

/* Y_c: the columns of W that belong to contact c; and its diagonal block. */
static st_Status copy_columns(sti_ReductionMemory *m, st_Error *err)
{
    const st_LocalProblem *local = m->local;
    const st_Sparse *W = &local->W;
    int64_t rows = 0, values = 0; /* at most */
    for (int c = 0; c < local->n_contacts; c++) {
        const int begin = local->contact[c].first, dim = local->contact[c].dim;
        const int64_t most = dim + W->p[begin + dim] - W->p[begin];
        rows += most;
        values += dim * most;
    }
    GROW(y_first, local->n_contacts + 1);
    GROW(y_start, local->n_contacts + 1);
    GROW(W_start, local->n_contacts + 1);
    GROW(y_index, rows);
    GROW(y_value, values);
    GROW(W_diagonal, m->h_start[local->n_contacts]);
    GROW(place, local->n_r);
    for (int row = 0; row < local->n_r; row++)
        m->place[row] = -1;
    m->y_first[0] = m->y_start[0] = m->W_start[0] = 0;
    for (int c = 0; c < local->n_contacts; c++) {
        const int begin = local->contact[c].first, dim = local->contact[c].dim;
        int64_t end = m->y_first[c];
        for (int d = 0; d < dim; d++) { /* its own rows always: the diagonal block is read from here */
            m->place[begin + d] = d;
            m->y_index[end++] = begin + d;
        }
        for (int64_t e = W->p[begin]; e < W->p[begin + dim]; e++)
            if (m->place[W->i[e]] < 0) {
                m->place[W->i[e]] = end - m->y_first[c];
                m->y_index[end++] = W->i[e];
            }
        const int64_t count = end - m->y_first[c];
        double *y = m->y_value + m->y_start[c], *diagonal = m->W_diagonal + m->W_start[c];
        for (int64_t k = 0; k < dim * count; k++)
            y[k] = 0.0;
        for (int d = 0; d < dim; d++) {
            for (int64_t e = W->p[begin + d]; e < W->p[begin + d + 1]; e++)
                y[d * count + m->place[W->i[e]]] = W->x[e];
            for (int e = 0; e < dim; e++)
                diagonal[e * dim + d] = y[d * count + e];
        }
        for (int64_t k = m->y_first[c]; k < end; k++)
            m->place[m->y_index[k]] = -1;
        m->y_first[c + 1] = end;
        m->y_start[c + 1] = m->y_start[c] + dim * count;
        m->W_start[c + 1] = m->W_start[c] + (int64_t)dim * dim;
    }
    return ST_OK;
}

st_Status sti_reduce_local(sti_Reduction *reduction, const st_LocalProblem *local, st_Error *err)
{
    sti_ReductionMemory *m = reduction->memory;
    const int n = local->n_r;
    m->local = local;

    /* H = I by rows, by contacts, and w = 0. */
    int64_t squares = 0;
    for (int c = 0; c < local->n_contacts; c++)
        squares += (int64_t)local->contact[c].dim * local->contact[c].dim;
    GROW(unit_p, n + 1);
    GROW(unit_i, n);
    GROW(unit_x, n);
    GROW(w, n);
    GROW(h_first, local->n_contacts + 1);
    GROW(h_start, local->n_contacts + 1);
    GROW(h_index, n);
    GROW(h_value, squares);
    m->unit_p[0] = m->h_first[0] = m->h_start[0] = 0;
    for (; m->n_unit < n; m->n_unit++) {
        m->unit_p[m->n_unit + 1] = m->n_unit + 1;
        m->unit_i[m->n_unit] = m->n_unit;
        m->unit_x[m->n_unit] = 1.0;
    }
    for (int j = 0; j < n; j++) {
        m->h_index[j] = j;
        m->w[j] = 0.0;
    }
    for (int64_t k = 0; k < squares; k++)
        m->h_value[k] = 0.0;
    for (int c = 0; c < local->n_contacts; c++) {
        const int dim = local->contact[c].dim;
        m->h_first[c + 1] = m->h_first[c] + dim;
        m->h_start[c + 1] = m->h_start[c] + (int64_t)dim * dim;
        for (int d = 0; d < dim; d++)
            m->h_value[m->h_start[c] + (int64_t)d * (dim + 1)] = 1.0;
    }
    GROW(out_v, n);
    GROW(v_free, n);
    GROW(b, n);
    m->shadow = (st_Problem){.n_v = n,
                             .n_r = n,
                             .n_contacts = local->n_contacts,
                             .symmetric = n == 0 || is_symmetric(&local->W, m->out_v, m->v_free),
                             .H = {n, n, m->unit_p, m->unit_i, m->unit_x},
                             .w = m->w,
                             .contact = local->contact};
    STI_TRY(sti_reduction_begin(reduction, &m->shadow, err));
    STI_TRY(copy_columns(m, err));
    m->columns = true;
    reduction->graph = NULL;
    reduction->redundant_rows = 0;
    STI_TRY(sti_columns_rho(m, err));
    double square = 0.0; /* the judge's scale is |rho b|: b has no terms that could cancel */
    for (int c = 0; c < local->n_contacts; c++)
        for (int j = local->contact[c].first; j < local->contact[c].first + local->contact[c].dim; j++)
            square += m->rho[c] * m->rho[c] * local->b[j] * local->b[j];
    m->judged.scale = sqrt(square);
    if (n > 0) memcpy(m->v_free, local->b, (size_t)n * sizeof *m->v_free);
    if (n > 0) memcpy(m->b, local->b, (size_t)n * sizeof *m->b);
    sti_reduction_publish(reduction);
    return ST_OK;
}

/* v = b + W r by the W given. */
void sti_local_velocity(const st_LocalProblem *local, const double *r, double *v)
{
    if (local->n_r > 0) memcpy(v, local->b, (size_t)local->n_r * sizeof *v);
    for (int j = 0; r != NULL && j < local->n_r; j++)
        for (int64_t e = local->W.p[j]; e < local->W.p[j + 1] && r[j] != 0.0; e++)
            v[local->W.i[e]] += local->W.x[e] * r[j];
}
