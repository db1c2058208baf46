/* step/drift/projection.c -- drift correction after the step: the nearest position at which the constraints hold.
 *
 *     min |q - q~|_M   such that   joints = 0,  active gaps = 0        (Anitescu & Potra 2002, section 2.3.4)
 *                                  spring lengths as the step predicted them        (AP eq. 46, keep_springs)
 *
 * by Newton steps on the linearised problem. Each is a step problem: with the constraint values c at the current q and
 * e = q~ - q,
 *
 *     M d = M e + J' l,     J' d + c = 0,     q <- q + d.
 *
 * Because the curvature is neglected, this converges linearly, with a factor of about the distance that the position
 * moves. When the error is a millionth of the first error, e is set to 0; the steps to the constraints then converge
 * quadratically. The result differs from the nearest position by a millionth of a second-order term. Far from the
 * constraints (a light bar that turned by a radian in the step) a second pass with e = 0 starts from the best position
 * so far.
 *
 * Redundant constraints are allowed (the solver leaves them out). If equalities contradict each other (more corners are
 * active than can touch), the gaps become inequalities: frictionless contacts with w = gap.
 */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/drift/drift.h"
#include "step/step.h"

/* The state of one projection. */
typedef struct Projecting {
    const sti_Model *model;
    const sti_State *state;
    sti_StepWork *work;
    sti_Assembly *out;
    double t;
    bool unilateral; /* gaps >= 0 instead of = 0 */
    const double *spring_target;
    bool straight; /* e = 0: steps lead to the constraints, not to the nearest position */
    bool fresh;    /* `trial` is evaluated at q_best                                    */
    bool looked;   /* `trial` was evaluated at q_new by the caller                      */
    double error;  /* largest violation at the current position                         */
    st_Error *err;
} Projecting;

static st_Status add_constraint(Projecting *projecting, sti_RowList *to, const sti_RowList *from, int k)
{
    int64_t start = from->p[k];
    return sti_rows_append(&projecting->model->allocator, to, (int)(from->p[k + 1] - start), from->i + start,
                           from->x + start, projecting->err);
}

static st_Status add_equality(Projecting *projecting, const sti_RowList *from, int k, double value)
{
    sti_Assembly *out = projecting->out;
    const st_Allocator *a = &projecting->model->allocator;
    int row = out->G.n_rows;
    STI_TRY(STI_GROW(a, out->g, out->g_capacity, row + 1, projecting->err));
    STI_TRY(STI_GROW(a, out->l, out->l_capacity, row + 1, projecting->err));
    STI_TRY(add_constraint(projecting, &out->G, from, k));
    out->g[row] = value;
    projecting->error = fmax(projecting->error, fabs(value));
    return ST_OK;
}

/* Constraint values and rows at q_new. */
static st_Status linearise_constraints(Projecting *projecting)
{
    const sti_Model *model = projecting->model;
    const sti_State *state = projecting->state;
    sti_StepWork *work = projecting->work;
    st_Sink *sink = &work->trial;
    sti_Assembly *out = projecting->out;
    if (!projecting->looked)
        STI_TRY(sti_evaluate(model, state, work, sink, projecting->t, work->q_new, sti_margin(model), projecting->err));
    projecting->looked = false;
    out->G.n_rows = out->H.n_rows = 0;
    projecting->error = 0;
    const st_Allocator *a = &projecting->model->allocator;
    int n = sink->joint_rows.n_rows;
    STI_TRY(STI_GROW(a, out->g, out->g_capacity, n, projecting->err));
    STI_TRY(STI_GROW(a, out->l, out->l_capacity, n, projecting->err));
    STI_TRY(sti_rows_append_rows(a, &out->G, &sink->joint_rows, 0, sink->joint_rows.n_rows, projecting->err));
    for (int k = 0; k < n; k++) {
        out->g[k] = sink->joint[k].value;
        projecting->error = sti_larger(fabs(out->g[k]), projecting->error);
    }
    for (int k = 0; projecting->spring_target != NULL && k < sink->soft_rows.n_rows; k++)
        if (sink->soft[k].stiffness > 0)
            STI_TRY(add_equality(projecting, &sink->soft_rows, k, sink->soft[k].value - projecting->spring_target[k]));
    for (int c = 0; c < sink->n_contacts; c++) {
        const sti_ContactEntry *contact = &sink->contact[c];
        if (!sti_ids_contain(&work->active_new, contact->id)) continue;
        if (projecting->unilateral) {
            int row = out->H.n_rows;
            STI_TRY(STI_GROW(a, out->w, out->w_capacity, row + 1, projecting->err));
            STI_TRY(STI_GROW(a, out->r, out->r_capacity, row + 1, projecting->err));
            STI_TRY(STI_GROW(a, out->law, out->law_capacity, row + 1, projecting->err));
            STI_TRY(add_constraint(projecting, &out->H, &sink->contact_rows, contact->first_row));
            out->w[row] = contact->gap;
            out->r[row] = 0;
            out->law[row] = (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = row};
            projecting->error = fmax(projecting->error, -contact->gap);
        } else
            STI_TRY(add_equality(projecting, &sink->contact_rows, contact->first_row, contact->gap));
    }
    return ST_OK;
}

/* Newton steps from q_from, or with e = 0 from the best position so far. A step that does not reduce the error is
 * halved. Ends when the constraints hold or after three steps in a row without progress. q_best is then the best
 * position. */
static st_Status project_iterate(Projecting *projecting, double *best)
{
    const sti_Model *model = projecting->model;
    sti_StepWork *work = projecting->work;
    size_t size = (size_t)model->n_q * sizeof *work->q_new;
    double first = INFINITY;
    for (int round = 0, idle = 0; idle < 3 && round < STI_PROJECTION_ROUNDS; round++) {
        STI_TRY(linearise_constraints(projecting));
        if (round == 0) first = projecting->error;
        if (projecting->error <= STI_PROJECTION_NEAR * first) projecting->straight = true;
        projecting->fresh = false;
        if (projecting->error < *best) {
            *best = projecting->error;
            projecting->fresh = true;
            idle = 0;
            memcpy(work->projection.q_best, work->q_new, size);
        } else if (idle++, projecting->straight) { /* half of the step that did not reduce the error, from its start */
            for (int i = 0; i < model->n_v; i++)
                work->projection.step[i] *= 0.5;
            sti_move(model, work->projection.q_best, work->projection.step, 1.0, work->q_new);
            continue;
        }
        if (*best <= STI_PROJECTION_ERROR || !isfinite(projecting->error)) return ST_OK;
        /* Computes d of one Newton step in projection.step. */
        const sti_State *state = projecting->state;
        const st_Model *table = &model->table;
        sti_Assembly *out = projecting->out;
        STI_TRY(STI_GROW(&model->allocator, out->G.p, out->G.p_capacity, 1, projecting->err));
        STI_TRY(STI_GROW(&model->allocator, out->H.p, out->H.p_capacity, 1, projecting->err));
        STI_TRY(sti_mass(model, out, work->q_new, projecting->err));
        if (projecting->straight)
            memset(out->f, 0, (size_t)table->n_v * sizeof *out->f);
        else {
            /* f = M e. M is already in the problem. */
            const double *M = projecting->out->M;
            double *e = work->projection.error;
            sti_difference(model, work->q_new, work->projection.q_from, e);
            for (int b = 0; b < table->n_blocks; b++)
                for (int i = table->first[b]; i < table->first[b + 1]; i++) {
                    const bool marked = model->mass.marked != NULL && model->mass.marked[b];
                    out->f[i] = 0;
                    for (int j = marked ? i : table->first[b]; j < (marked ? i + 1 : table->first[b + 1]); j++, M++)
                        out->f[i] += *M * e[j];
                }
        }
        st_Problem problem = {
            .n_v = table->n_v,
            .n_l = out->G.n_rows,
            .n_r = out->H.n_rows,
            .n_contacts = out->H.n_rows,
            .A = {.n_blocks = table->n_blocks, .first = table->first, .x = out->M, .diagonal = model->mass.marked},
            .symmetric = true,
            .G = {table->n_v, out->G.n_rows, out->G.p, out->G.i, out->G.x},
            .H = {table->n_v, out->H.n_rows, out->H.p, out->H.i, out->H.x},
            .f = out->f,
            .g = out->g,
            .w = out->w,
            .contact = out->law};
        st_Solution solution = {.v = work->projection.step, .l = out->l, .r = out->r};
        st_SolveInfo info;
        STI_TRY(sti_solve_problem(model, state, work, work->projection.solver, &problem, &solution, &info,
                                  projecting->err));
        sti_lap(work, ST_PART_PROJECT);

        sti_move(model, work->q_new, work->projection.step, 1.0, work->q_new);
    }
    return ST_OK;
}

/* Finds the nearest position at which the constraints hold; if that does not converge, another such position, with e =
 * 0 from the best position so far. q_new is the result, and `trial` is evaluated there. */
static st_Status close_constraints(Projecting *projecting)
{
    const sti_Model *model = projecting->model;
    sti_StepWork *work = projecting->work;
    size_t size = (size_t)model->n_q * sizeof *work->q_new;
    double best = INFINITY;
    memcpy(work->q_new, work->projection.q_from, size);
    for (int pass = 0; pass < 2; pass++) {
        projecting->straight = pass == 1;
        STI_TRY(project_iterate(projecting, &best));
        memcpy(work->q_new, work->projection.q_best, size);
        if (best <= STI_PROJECTION_CLOSED) break;
        best = INFINITY; /* the second pass evaluates its start first */
    }
    return projecting->fresh ? ST_OK : linearise_constraints(projecting);
}

st_Status sti_project(const sti_Model *model, const sti_State *state, sti_StepWork *work, double t, double h,
                      st_Error *err)
{
    Projecting projecting = {.model = model,
                             .state = state,
                             .work = work,
                             .out = &work->projection.problem,
                             .t = t,
                             .looked = true,
                             .err = err};
    /* phi(q_l) + h a' v+, from the rows at q_l. */
    const st_Sink *here = &work->here;
    int n = here->soft_rows.n_rows;
    if (model->def.keep_springs && n != 0) {
        STI_TRY(STI_GROW(&model->allocator, projecting.out->u, projecting.out->u_capacity, n, projecting.err));
        for (int k = 0; k < n; k++)
            projecting.out->u[k] = here->soft[k].value + h * sti_row_dot(&here->soft_rows, k, work->v_new);
        projecting.spring_target = projecting.out->u;
    }
    memcpy(work->projection.q_from, work->q_new, (size_t)model->n_q * sizeof *work->q_new);
    STI_TRY(close_constraints(&projecting));
    if (projecting.error > STI_PROJECTION_FAILED) {
        projecting.unilateral = true;
        STI_TRY(close_constraints(&projecting));
    }
    const st_Model *table = &model->table;
    if (table->potential != NULL)
        work->events.lifted +=
            table->potential(table->ctx, t, work->q_new) - table->potential(table->ctx, t, work->projection.q_from);
    sti_lap(work, ST_PART_PROJECT);
    return ST_OK;
}
