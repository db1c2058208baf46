/* step/evaluate.c -- the model at a position: rows, errors, energies. */
#include "math/parallel.h"
#include "step/contact/contact.h"
#include "step/contact/contact_model.h"

st_Status sti_evaluate_constraints(const sti_Model *model, sti_StepWork *work, st_Sink *sink, double t, const double *q,
                                   st_Error *err)
{
    const st_Model *table = &model->table;
    st_Status status = ST_OK;
    sti_row_buffer_clear_constraints(sink);
    if (model->rigid) model->world->place = ++model->world->n_places;
    if (table->joints != NULL) status = table->joints(table->ctx, t, q, sink, err);
    if (table->soft != NULL && status == ST_OK) status = table->soft(table->ctx, t, q, sink, err);
    if (table->bounded != NULL && status == ST_OK) status = table->bounded(table->ctx, t, q, sink, err);
    if (model->rigid) model->world->place = 0;
    STI_TRY(status);
    sti_lap(work, ST_PART_ASSEMBLE);
    sink->constraints_known = true;
    return ST_OK;
}

st_Status sti_find_contacts(const sti_Model *model, double t, const double *q, double margin,
                            const sti_Foresight *ahead, st_Sink *sink, st_Error *err)
{
    const st_Model *table = &model->table;
    sti_row_buffer_clear_contacts(sink);
    if (table->contacts == NULL) return ST_OK;
    return model->rigid ? sti_world_contacts(model->world, q, margin, ahead, sink, err)
                        : table->contacts(table->ctx, t, q, margin, sink, err);
}

static st_Status evaluate_rows(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink,
                               double t, const double *q, double margin, const sti_Foresight *ahead, st_Error *err)
{
    const bool same_place = model->rigid && !sink->constraints_known;
    STI_TRY(sti_pile_keep(model, work, sink, err));
    if (!sink->constraints_known) STI_TRY(sti_evaluate_constraints(model, work, sink, t, q, err));
    sink->constraints_known = false; /* the next evaluation is at another position */
    if (same_place) model->world->place = model->world->n_places;
    const st_Status status = sti_find_contacts(model, t, q, margin, ahead, sink, err);
    if (same_place) model->world->place = 0;
    STI_TRY(status);
    /* frees rows of an earlier evaluation: those of a pile need more memory than everything else */
    if (sink->rows_later && sink->contact_rows.n_rows == 0) sti_rows_free(&sink->allocator, &sink->contact_rows);
    sti_lap(work, ST_PART_CONTACTS);
    return sti_check_cancelled(model, state, work, err);
}

st_Status sti_evaluate(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink, double t,
                       const double *q, double margin, st_Error *err)
{
    sink->constraints_known = sink->rows_later = false;
    return evaluate_rows(model, state, work, sink, t, q, margin, &(sti_Foresight){.h = 0}, err);
}

st_Status sti_evaluate_ahead(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink,
                             double t, const double *q, double margin, double h, const double *v, const double *other,
                             st_Error *err)
{
    if (!model->rigid) return sti_evaluate(model, state, work, sink, t, q, margin, err);
    sink->rows_later =
        sti_integrator(model)->order == 1; /* integrators of order two read rows beside those of the step problem */
    return evaluate_rows(model, state, work, sink, t, q, margin, &(sti_Foresight){h, {v, other}}, err);
}

double sti_row_buffer_joint_error(const st_Sink *sink)
{
    double worst = 0;
    for (int k = 0; k < sink->joint_rows.n_rows; k++)
        worst = sti_larger(fabs(sink->joint[k].value), worst);
    return worst;
}

double sti_row_buffer_joint_opening(const sti_Model *model, st_Sink *sink, int *joint)
{
    double worst = 0;
    *joint = sink->open_joint;
    if (sink->opening_known) return sink->opening;
    *joint = -1;
    for (int k = 0; model->rigid && k < model->world->n_joints; k++) {
        const double opening =
            sti_joint_opening(model->world, k, sink->joint + model->world->joint[k].first_row, worst);
        if (opening <= worst) continue; /* NaN must be shown */
        worst = opening;
        *joint = k;
    }
    sink->opening_known = true;
    sink->open_joint = *joint;
    return sink->opening = worst;
}

static double deepest_of_range(void *ctx, int64_t first, int64_t end)
{
    const st_Sink *sink = ctx;
    double worst = 0;
    for (int64_t k = first; k < end; k++)
        worst = sti_larger(-sink->contact[k].gap, worst);
    return worst;
}

double sti_row_buffer_penetration(st_Sink *sink, int threads)
{
    return sti_team_largest(threads, sink->n_contacts, deepest_of_range, sink);
}

st_Status sti_mass(const sti_Model *model, sti_Assembly *out, const double *q, st_Error *err)
{
    const st_Model *table = &model->table;
    if (out->mass_known) return ST_OK;
    if (model->rigid)
        sti_world_masses(model->world, out->M);
    else
        STI_TRY(table->mass(table->ctx, q, out->M, err));
    out->mass_known = table->constant_mass;
    return ST_OK;
}

double sti_energy_kinetic(const sti_Model *model, sti_StepWork *work, const double *q, const double *v)
{
    const st_Model *table = &model->table;
    const double *M = work->projection.problem.M;
    if (model->rigid) {
        sti_KineticMemo *memo = &work->kinetic;
        const size_t bytes = (size_t)model->n_v * sizeof *v;
        const int n_awake = sti_awake_count(model->world);
        if (!memo->known || memo->n_awake != n_awake || memcmp(memo->v, v, bytes) != 0) {
            memcpy(memo->v, v, bytes);
            *memo = (sti_KineticMemo){true, n_awake, memo->v, sti_world_kinetic(model->world, v)};
        }
        return memo->value;
    }
    if (sti_mass(model, &work->projection.problem, q, NULL) != ST_OK) return NAN;
    double sum = 0;
    for (int b = 0; b < table->n_blocks; b++)
        for (int i = table->first[b]; i < table->first[b + 1]; i++)
            for (int j = table->first[b]; j < table->first[b + 1]; j++)
                sum += 0.5 * *M++ * v[i] * v[j];
    return sum;
}

double sti_energy_potential(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                            const st_Sink *sink, double t, const double *q)
{
    const st_Model *table = &model->table;
    double sum = table->potential != NULL ? table->potential(table->ctx, t, q) : 0.0;
    for (int k = 0; k < sink->soft_rows.n_rows; k++)
        sum += 0.5 * sink->soft[k].stiffness * sink->soft[k].value * sink->soft[k].value + sink->soft[k].energy;
    if (model->def.contact == ST_CONTACT_REGULARIZED) sum += sti_regularized_energy(model, work, sink);
    if (model->def.contact == ST_CONTACT_COMPLIANT) sum += sti_patches_energy(state, work);
    return sum;
}

void sti_move(const sti_Model *model, const double *q, const double *v, double h, double *q_out)
{
    const st_Model *table = &model->table;
    if (table->move != NULL) {
        table->move(table->ctx, q, v, h, q_out);
        return;
    }
    for (int i = 0; i < table->n_v; i++)
        q_out[i] = q[i] + h * v[i];
}

void sti_difference(const sti_Model *model, const double *q0, const double *q1, double *d)
{
    const st_Model *table = &model->table;
    if (table->difference != NULL) {
        table->difference(table->ctx, q0, q1, d);
        return;
    }
    for (int i = 0; i < table->n_v; i++)
        d[i] = q1[i] - q0[i];
}

void sti_count_turns(const sti_Model *model, const double *near, double factor, double *d)
{
    const double turn = 2 * STI_PI, none = 1e-6; /* [rad] a rotation this small has no axis */
    for (int b = 1; model->rigid && b < model->world->n_bodies; b++) {
        const sti_Body *body = &model->world->body[b];
        double square = 0, along = 0, wanted = 0;
        int first = body->n_dofs;
        while (first > 0 && body->dof[first - 1] >= 3)
            first--;
        for (int i = body->v_first + first; i < body->v_first + body->n_dofs; i++) {
            square += d[i] * d[i];
            along += factor * near[i] * d[i];
            wanted += factor * near[i] * factor * near[i];
        }
        if (!(wanted > 1)) continue;
        const double angle = sqrt(square);
        if (angle < none) { /* whole turns */
            const double whole = turn * round(sqrt(wanted) / turn) / sqrt(wanted);
            for (int i = body->v_first + first; i < body->v_first + body->n_dofs; i++)
                d[i] += whole * factor * near[i];
            continue;
        }
        const double more = turn * round((along / angle - angle) / turn) / angle;
        for (int i = body->v_first + first; more != 0 && i < body->v_first + body->n_dofs; i++)
            d[i] += more * d[i];
    }
}
