/* step/integrate/integrator.c -- the table of integrators, and functions for all of them: rows, solution and impulses
 * of a stage.
 *
 *     sti_Integrator.step   (q, v) at t  ->  (q_new, v_new) at t + h, a_new
 *
 * Each is one file and one row of the table. All are built from the stage of stage.c.
 */
#include "base/tolerance.h"
#include "math/largest.h"
#include "math/parallel.h"
#include "step/contact/contact.h"
#include "step/energy_guard.h"
#include "step/events/events.h"
#include "step/impulses.h"

#include <stdio.h>

static const sti_Integrator table[ST_N_INTEGRATORS] = {
    [ST_INTEGRATOR_EULER] = {1, sti_euler_step},         [ST_INTEGRATOR_IMPLICIT] = {1, sti_euler_step},
    [ST_INTEGRATOR_TRAPEZOID] = {2, sti_trapezoid_step}, [ST_INTEGRATOR_SDIRK2] = {2, sti_sdirk2_step},
    [ST_INTEGRATOR_BDF2] = {2, sti_bdf2_step},
};

const sti_Integrator *sti_integrator(const sti_Model *model)
{
    return &table[model->def.integrator];
}

/* Does the step continue after an event? Integrators of order one end it there. */
bool sti_continues_after_event(const sti_Model *model)
{
    return sti_integrator(model)->order > 1 && model->def.events != ST_EVENTS_OFF;
}

bool sti_has_stages(const sti_Model *model)
{
    return sti_integrator(model)->order > 1 || model->def.events != ST_EVENTS_OFF ||
           model->def.contact == ST_CONTACT_COMPLIANT || model->def.drift == ST_DRIFT_MEAN;
}

st_Status sti_integrate(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                        st_Error *err)
{
    work->stages.rough = work->stages.straight = false;
    sti_begin_piece_impulses(model, work); /* clear the sums of an attempt that failed */
    STI_TRY(work->guard.rough ? sti_rough_step(model, state, work, h, info, err)
                              : sti_integrator(model)->step(model, state, work, h, info, err));
    sti_lap(work, ST_PART_MOVE);
    return ST_OK;
}

/* Fail with an error that names the body, or the number of the velocity, if a velocity exceeds speed_limit. */
st_Status sti_check_velocity(const sti_Model *model, const sti_State *state, sti_StepWork *work, const double *v,
                             double t, st_Error *err)
{
    const int *first = model->first;
    const bool all = sti_block_count(model, work) == model->n_blocks;
    if (all && sti_team_within(model->def.threads, v, model->n_v, model->def.speed_limit)) return ST_OK;
    for (int e = 0, i = 0; e < sti_block_count(model, work); e++) {
        const int b = sti_block(work, e);
        for (i = first[b]; i < first[b + 1] && fabs(v[i]) <= model->def.speed_limit;) /* false for NaN */
            i++;
        if (i == first[b + 1]) continue;
        work->guard.ran_away = true;
        char who[320];
        if (model->table.name != NULL)
            model->table.name(model->table.ctx, i, who, sizeof who);
        else
            snprintf(who, sizeof who, "velocity %d", i);
        /* Explicit stiff springs diverge, and so do fast spins at order two (gyroscopic_force). */
        return sti_fail(
            err, ST_ERR_NUMERIC,
            "diverged at step %lld, t = %g: %s reached a velocity of %g, the limit is %g; try a smaller h%s",
            (long long)state->n_steps + 1, t, who, v[i], model->def.speed_limit,
            (model->def.integrator == ST_INTEGRATOR_EULER      ? " or an implicit integrator"
             : model->def.integrator != ST_INTEGRATOR_IMPLICIT ? ", or integrator \"implicit\" if it spins fast"
                                                               : ""));
    }
    return ST_OK;
}

/* The margin grows by the motion of the prediction, so that contacts that are held closed are found. */
st_Status sti_rows_of_stage(const sti_Model *model, const sti_State *state, sti_StepWork *work, double t, st_Error *err)
{
    double margin = sti_margin(model) + 2 * fabs(t - state->t) * sti_largest_difference(state->v, NULL, model->n_v);
    return sti_evaluate(model, state, work, &work->stages.middle, t, work->stages.q_star, margin, err);
}

/* The residual of an island is relative to its largest impulse. Beside a body of 1e12 kg one of 1 kg falls through the
 * floor at a residual of 1e-9. Hence a second look, at velocities: along the normal either u >= 0 or no impulse, and
 * min(u, W r) is the velocity by which the worst contact misses that, here in parts of the fastest body's.     */
static double worst_velocity_error(const sti_Model *model, const sti_State *state, const sti_StepWork *work)
{
    const sti_Assembly *step = &work->step;
    const double rounding =
        model->overlap / step->eta; /* displacements of 1e-9 widths per step are rounding (sti_scale_settings) */
    const double fastest = sti_larger(state->fastest.speed, rounding);
    double worst = 0;
    for (int c = 0; c < step->n_gaps; c++) {
        const double u = step->u[step->law[c].first], r = step->r[step->law[c].first];
        double error = fabs(u);
        if (error <= worst || error <= STI_VELOCITY_ERROR * fastest ||
            (u > 0 && (!(r > 0) || step->law[c].law == ST_LAW_CONE)))
            continue; /* the cone law lifts sliding contacts */
        if (u > 0) {
            sti_RowView row;
            double W = 0;
            sti_view_row(model, work, c, 0, &row);
            for (int e = 0; e < row.n; e++)
                W += row.x[e] * row.x[e] / sti_mass_of(model, step->M, row.i[e]);
            error = fmin(u, W * r);
        }
        worst = sti_larger(error, worst);
    }
    return worst > 0 ? worst / sti_larger(fastest, worst) : 0;
}

enum { FEW_CONTACTS = 64 };

/* If a solution passes by its residual but not by velocities, it is solved again, to rounding. If that does not help,
 * the step counts as not converged. */
static st_Status solve_again_if_blind(const sti_Model *model, sti_State *state, sti_StepWork *work,
                                      const sti_Stage *stage, double *v, st_SolveInfo *info, st_Error *err)
{
    const bool rigid = model->def.contact == ST_CONTACT_RIGID && stage->means == NULL &&
                       model->def.energy == ST_ENERGY_LIMIT; /* the presets of papers do not use this */
    const bool many = work->step.n_gaps > FEW_CONTACTS;      /* the budget of a pile is not raised */
    if (!rigid || many || worst_velocity_error(model, state, work) <= STI_VELOCITY_ERROR) return ST_OK;
    STI_TRY(sti_solve_tightly(model, work, err));
    STI_TRY(sti_solve_step_problem(model, state, work, stage, v, info, err));
    info->converged = info->converged || info->residual.natural <= sti_larger(model->def.tolerance, 1e-9);
    const double left = worst_velocity_error(model, state, work);
    if (left <= STI_VELOCITY_ERROR) return ST_OK;
    info->converged = false;
    info->residual.natural = sti_larger(left, info->residual.natural);
    return ST_OK;
}

st_Status sti_solve_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          double *v, st_StepInfo *info, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    st_SolveInfo solved;
    STI_TRY(sti_stage_assemble(model, state, work, stage, err));
    if (stage->f_before != NULL && memcmp(stage->f_before, step->f, (size_t)model->n_v * sizeof *v) == 0) {
        if (work->linearised.on) sti_linearised_impulse(work, v); /* this impulse was a part of k */
        return ST_OK;
    }
    STI_TRY(sti_solve_step_problem(model, state, work, stage, v, &solved, err));
    STI_TRY(solve_again_if_blind(model, state, work, stage, v, &solved, err));
    if (work->rebounds.n > 0 && model->def.energy == ST_ENERGY_LIMIT)
        STI_TRY(sti_limit_rebounds(model, state, work, stage, v, &solved, info, err));
    const double joint = sti_larger(solved.residual.joint, info->solve.solver != NULL ? info->solve.residual.joint : 0);
    if (info->solve.solver == NULL || !(solved.residual.natural <= info->solve.residual.natural)) info->solve = solved;
    info->solve.residual.joint = joint; /* the worst of all stages, as is the rest */
    info->contacts = step->n_gaps > info->contacts ? step->n_gaps : info->contacts;
    info->overlapping = step->overlapping;
    info->islands = sti_islands_count(work->islands);
    info->undetermined = step->undetermined;
    info->problems++;
    const bool is_last = stage->eta > 0 && stage->means == NULL; /* rounds of drift mean may diverge */
    return is_last ? sti_check_velocity(model, state, work, v, state->t + stage->reach, err) : ST_OK;
}

/* A first stage predicts its velocity from the acceleration of the step before. After an event this is unknown: the
 * stage is solved with v* = v, which is only of order one, and again with the velocity of that solution, unless all
 * forces are independent of velocity. */
st_Status sti_solve_first_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                                double *v, st_StepInfo *info, st_Error *err)
{
    const size_t size = (size_t)model->n_v * sizeof *v;
    sti_Stage again = *stage;
    STI_TRY(sti_solve_stage(model, state, work, stage, v, info, err));
    if (state->history.known) return ST_OK;
    memcpy(work->stages.v_star, v, size);
    memcpy(work->stages.f_before, work->step.f, size);
    again.f_before = work->stages.f_before;
    return sti_solve_stage(model, state, work, &again, v, info, err);
}

/* Does the step of length h that was just tried close a contact that carried no load before? A method of order two
 * would extrapolate an impact that was not located, and rebound with energy (docs/methods.md 6). Such a step is
 * therefore one of Euler's method. So is the next step if the contact still approaches faster than forces explain: it
 * closed the gap in the first step and comes to rest in the second. */
bool sti_closes_within(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h)
{
    const sti_Assembly *step = &work->step;
    const st_Sink *here = &work->here;
    double still = STI_SEPARATION_SPEED * (1 + sti_largest_difference(state->v, NULL, model->n_v)),
           pulled = fmax(still, 2 * h * state->fastest.pull);
    for (int c = 0; c < step->n_gaps; c++) {
        uint64_t id = step->chosen[c].entry->id;
        int before = sti_row_buffer_find(here, id);
        bool carried = sti_ids_contain(&state->loaded, id);
        if (!(step->r[step->law[c].first] > 0) || before < 0 || (carried && state->history.known)) continue;
        double speed = sti_row_dot(&here->contact_rows, here->contact[before].first_row, state->v);
        if (speed < -(carried ? pulled : still)) return true;
    }
    return false;
}
