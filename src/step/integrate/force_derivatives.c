/* step/integrate/force_derivatives.c -- linearised forces: stiff forces of any kind (Anitescu & Potra 2002:
 * AP eq. 10, AP eq. 11; Potra et al. 2006: PAGT eq. 2.7, PAGT eq. 2.14).
 *
 * If a model gives K_q = dk/dq and K_v = dk/dv at (q*, v*), a stage replaces k(q*, v*) by
 *
 *     k(q_b + eta v, v) = k(q*, v*) + K_q (q_b - q* + eta v) + K_v (v - v*)
 *
 * so that A = M - eta K_v - eta^2 K_q, and f has eta (K_q (q_b - q*) - K_v v*) more. In the trapezoid's form I, where
 * springs follow the mean of v_b and v, (q_b + eta/4 (v_b + v), (v_b + v)/2) takes the place of (q_b + eta v, v). A
 * need not be symmetric (magnetic forces); its symmetric part must be positive definite. If K_q violates that (the step
 * is too long for a repelling force), it is left out of A. If that does not help, K_v is left out as well: the force is
 * then explicit.
 *
 * Entries inside the blocks of M keep A in blocks. Others make A one full block.
 */
#include "step/integrate/stage.h"

/* The block of a velocity. */
static int block_of(const sti_Model *model, int i)
{
    int lo = 0, hi = model->n_blocks;
    while (hi - lo > 1) {
        const int middle = lo + (hi - lo) / 2;
        *(model->first[middle] <= i ? &lo : &hi) = middle;
    }
    return lo;
}

/* Is the symmetric part of a block of n rows positive definite? By Cholesky's factors, in `room`. */
static bool is_definite(const double *A, int n, double *room)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.5 * (A[i * n + j] + A[j * n + i]);
            for (int k = 0; k < j; k++)
                sum -= room[i * n + k] * room[j * n + k];
            if (i == j && !(sum > 1e-14 * fabs(A[i * n + i]))) return false;
            room[i * n + j] = i == j ? sqrt(sum) : sum / room[j * n + j];
        }
    return true;
}

static bool all_definite(const sti_Linearised *out)
{
    const double *A = out->A;
    for (int b = 0; b < out->n_blocks; b++) {
        const int n = out->first[b + 1] - out->first[b];
        if (!is_definite(A, n, out->room)) return false;
        A += (ptrdiff_t)n * n;
    }
    return true;
}

/* Computes K_q and K_v at the stage, A, and the part of f; nothing if the model has no derivatives. */
st_Status sti_linearise_forces(sti_StageBuild *build)
{
    const sti_Model *model = build->model;
    sti_StepWork *work = build->work;
    const st_Model *table = &model->table;
    const sti_Stage *stage = build->stage;
    sti_Linearised *out = &work->linearised;
    st_Sink *sink = &out->sink;
    const int n_v = model->n_v;
    sink->allocator = model->allocator;
    sink->n_v = n_v;
    sink->n_derivatives = 0;
    STI_TRY(table->force_derivative(table->ctx, stage->t, stage->q_star, stage->v_star, sink, build->err));
    if (sink->n_derivatives == 0) return ST_OK;
    bool within = true;
    int64_t used = 0, largest = 0;
    for (int k = 0; k < sink->n_derivatives && within; k++)
        within = block_of(model, sink->derivative[k].i) == block_of(model, sink->derivative[k].j);
    out->whole[0] = 0, out->whole[1] = n_v;
    out->n_blocks = within ? model->n_blocks : 1;
    out->first = within ? model->first : out->whole;
    STI_TRY(STI_GROW(build->allocator, out->start, out->start_capacity, out->n_blocks, build->err));
    for (int b = 0; b < out->n_blocks; b++) {
        const int64_t n = out->first[b + 1] - out->first[b];
        out->start[b] = used;
        used += n * n;
        largest = n * n > largest ? n * n : largest;
    }
    out->used = used;
    STI_TRY(STI_GROW(build->allocator, out->A, out->A_capacity, used, build->err));
    STI_TRY(STI_GROW(build->allocator, out->room, out->room_capacity, largest, build->err));
    STI_TRY(STI_GROW(build->allocator, out->in_f, out->in_f_capacity, n_v, build->err));
    STI_TRY(STI_GROW(build->allocator, out->impulse, out->impulse_capacity, n_v, build->err));
    const double eta = stage->eta, *shift = build->shift;
    for (int attempt = 0; attempt < 2 && !out->on; attempt++) {
        out->by_q = attempt == 1 ? 0 : stage->mean ? 0.25 * eta * eta : eta * eta;
        out->by_v = stage->mean ? 0.5 * eta : eta;
        /* M in the blocks of A. */
        const double *M = build->out->M;
        double *A = out->A;
        memset(A, 0, (size_t)out->used * sizeof *A);
        for (int b = 0; b < model->n_blocks; b++) {
            const int from = model->first[b], size = model->first[b + 1] - from;
            const bool diagonal = model->mass.marked != NULL && model->mass.marked[b];
            const int width = within ? size : model->n_v;
            double *to = within ? A : out->A + (ptrdiff_t)from * width + from;
            for (int i = 0; i < size; i++)
                for (int j = diagonal ? i : 0; j < (diagonal ? i + 1 : size); j++)
                    to[(ptrdiff_t)i * width + j] = diagonal ? M[i] : M[i * size + j];
            M += diagonal ? size : size * size;
            A += (ptrdiff_t)size * size;
        }
        memset(out->in_f, 0, (size_t)n_v * sizeof *out->in_f);
        for (int k = 0; k < sink->n_derivatives; k++) {
            const sti_DerivativeEntry *entry = &sink->derivative[k];
            const int i = entry->i, j = entry->j, first = within ? model->first[block_of(model, i)] : 0;
            const int n = within ? model->first[block_of(model, i) + 1] - first : n_v;
            const int64_t at = within ? out->start[block_of(model, i)] : 0;
            out->A[at + (int64_t)(i - first) * n + j - first] -= out->by_q * entry->dq + out->by_v * entry->dv;
            const double v_base = stage->mean ? stage->v_base[j] : 0;
            const double moved = (shift != NULL ? shift[j] : 0) + 0.25 * eta * v_base;
            out->in_f[i] +=
                eta * ((attempt == 1 ? 0 : entry->dq * moved) + entry->dv * (0.5 * v_base - stage->v_star[j]));
        }
        out->on = all_definite(out);
    }
    for (int i = 0; out->on && i < n_v; i++)
        build->out->f[i] += out->in_f[i];
    out->symmetric = true;
    const double *A = out->A;
    for (int b = 0; b < out->n_blocks; b++) {
        const int n = out->first[b + 1] - out->first[b];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                out->symmetric = out->symmetric && A[i * n + j] == A[j * n + i];
        A += (ptrdiff_t)n * n;
    }
    return ST_OK;
}

/* The impulse of the forces for the solution v beyond eta k(q*, v*): (M - A) v and their part of f. */
void sti_linearised_impulse(sti_StepWork *work, const double *v)
{
    sti_Linearised *out = &work->linearised;
    const st_Sink *sink = &out->sink;
    memcpy(out->impulse, out->in_f, (size_t)sink->n_v * sizeof *out->impulse);
    for (int k = 0; k < sink->n_derivatives; k++) {
        const sti_DerivativeEntry *entry = &sink->derivative[k];
        out->impulse[entry->i] += (out->by_q * entry->dq + out->by_v * entry->dv) * v[entry->j];
    }
}

void sti_linearised_free(const st_Allocator *allocator, sti_Linearised *out)
{
    sti_row_buffer_free(&out->sink);
    STI_RELEASE(allocator, out->A, out->A_capacity);
    STI_RELEASE(allocator, out->start, out->start_capacity);
    STI_RELEASE(allocator, out->room, out->room_capacity);
    STI_RELEASE(allocator, out->in_f, out->in_f_capacity);
    STI_RELEASE(allocator, out->impulse, out->impulse_capacity);
}
