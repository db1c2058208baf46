/* model/derivative_check.c -- compares derivatives of a model's forces with central differences. */
#include "model/row_buffer.h"

#include "base/tolerance.h"

/* The difference of the forces at two velocities, or at two positions along velocity j, in `out`; `room`: n_q + n_v
 * + 2 n_v. */
typedef struct Probe {
    const st_Model *model;
    double t;
    const double *q, *v;
    double *q_moved, *v_moved, *k, *k_other;
} Probe;

static st_Status forces_beside(const Probe *probe, int j, bool by_q, double step, double *k, st_Error *err)
{
    const st_Model *model = probe->model;
    memcpy(probe->q_moved, probe->q, (size_t)model->n_q * sizeof *probe->q);
    if (by_q) {
        memset(probe->v_moved, 0, (size_t)model->n_v * sizeof *probe->v_moved);
        probe->v_moved[j] = step;
        if (model->move != NULL)
            model->move(model->ctx, probe->q, probe->v_moved, 1.0, probe->q_moved);
        else
            for (int i = 0; i < model->n_v; i++)
                probe->q_moved[i] = probe->q[i] + probe->v_moved[i];
    }
    memcpy(probe->v_moved, probe->v, (size_t)model->n_v * sizeof *probe->v);
    if (!by_q) probe->v_moved[j] += step;
    memset(k, 0, (size_t)model->n_v * sizeof *k);
    return model->force(model->ctx, probe->t, probe->q_moved, probe->v_moved, k, err);
}

/* One of the two matrices: the largest deviation of the model's from differences, relative to the largest entry. */
static st_Status compare_matrix(const Probe *probe, const st_Sink *sink, bool by_q, double *worst, st_Error *err)
{
    const int n = probe->model->n_v;
    double scale = 0, largest = 0, given = 0, found = 0;
    int row = 0, col = 0;
    for (int pass = 0; pass < 2; pass++) /* the first pass finds the scale */
        for (int j = 0; j < n; j++) {
            const double size = by_q ? 1 : 1 + fabs(probe->v[j]), step = 1e-5 * size;
            STI_TRY(forces_beside(probe, j, by_q, step, probe->k, err));
            STI_TRY(forces_beside(probe, j, by_q, -step, probe->k_other, err));
            for (int i = 0; i < n; i++) {
                const double difference = (probe->k[i] - probe->k_other[i]) / (2 * step);
                double entry = 0;
                for (int e = 0; e < sink->n_derivatives; e++)
                    if (sink->derivative[e].i == i && sink->derivative[e].j == j)
                        entry += by_q ? sink->derivative[e].dq : sink->derivative[e].dv;
                if (pass == 0)
                    scale = fmax(scale, fmax(fabs(difference), fabs(entry)));
                else if (!(fabs(difference - entry) <= largest))
                    largest = fabs(difference - entry), row = i, col = j, given = entry, found = difference;
            }
        }
    if (scale > 0) *worst = fmax(*worst, largest / scale);
    if (!(largest <= 1e-5 * scale))
        return sti_fail(err, ST_ERR_ARGUMENT, "force_derivative: dk/d%c (%d, %d) is %g, differences of force give %g",
                        by_q ? 'q' : 'v', row, col, given, found);
    return ST_OK;
}

st_Status st_model_check_derivatives(const st_Model *model, double t, const double *q, const double *v, double *error,
                                     st_Error *err)
{
    STI_CHECK_DEF(model, "st_model_def", err);
    STI_NEED(q, err);
    STI_NEED(v, err);
    double worst = 0;
    if (error != NULL) *error = 0;
    if (model->force_derivative == NULL) return ST_OK;
    const st_Allocator allocator = st_default_allocator();
    st_Sink sink = {.allocator = allocator, .n_v = model->n_v};
    const int64_t n = (int64_t)model->n_q + 3 * (int64_t)model->n_v;
    double *room = sti_alloc(&allocator, n, sizeof *room);
    if (room == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a model of %d velocities", model->n_v);
    const Probe probe = {.model = model,
                         .t = t,
                         .q = q,
                         .v = v,
                         .q_moved = room,
                         .v_moved = room + model->n_q,
                         .k = room + model->n_q + model->n_v,
                         .k_other = room + model->n_q + 2 * (ptrdiff_t)model->n_v};
    st_Status status = model->force_derivative(model->ctx, t, q, v, &sink, err);
    if (status == ST_OK) status = compare_matrix(&probe, &sink, true, &worst, err);
    if (status == ST_OK) status = compare_matrix(&probe, &sink, false, &worst, err);
    if (error != NULL) *error = worst;
    sti_row_buffer_free(&sink);
    sti_free(&allocator, room, n, sizeof *room);
    return status;
}
