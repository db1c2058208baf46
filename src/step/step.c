/* step/step.c -- one step, as a table of contents.
 *
 *     rows and contacts at q  ->  integrator: step problem, velocity, position  ->  event?  ->  projection  ->  state
 *
 *     contact_selection.c     which contacts are in the problem
 *     integrator.c            the table of integrators: euler.c, trapezoid.c, sdirk2.c and bdf2.c, all on stage.c
 *     stick_slip.c            take-off, stick and slip within the step
 *     collision_event.c       collisions within the step
 *     collision_response.c    what a collision does, with impact.c
 *     projection.c            drift correction after the step
 *     sleep.c                 islands at rest, which the step leaves out
 *     energy_guard.c          repeats steps that gain energy without a source
 *     flow.c                  bodies that come and go before the step
 *     measure.c               measures of grains: stress, flow, forces on walls
 *
 * With events off a step is one piece, and contacts that may close within it are in its problem.
 * With events located a piece ends at the first event (located_piece). An integrator of order one ends its step there;
 * one of order two continues to the end of the step: steps end on the grid, and a failure restores the state before all
 * pieces.
 */
#include "base/range.h"
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/contact/contact_model.h"
#include "step/drift/drift.h"
#include "step/energy_guard.h"
#include "step/events/events.h"
#include "step/flow.h"
#include "step/impulses.h"
#include "step/on_device.h"
#include "step/sleep.h"

#include <float.h>

/* ---- contacts of the step problem --------------------------------------------------------------- */

/* Finds contacts at the state again, as far ahead as the step may need them. In a second attempt also those on the path
 * of the first one: a user's model then returns all contacts that the step to q_new can reach. */
static st_Status find_contacts_again(st_System *system, double h, int round, st_Error *err)
{
    const sti_Model *model = &system->model;
    sti_State *state = &system->state;
    sti_StepWork *work = &system->work;
    double margin = sti_margin(model);
    work->ahead.foreseen = 0;
    if (!sti_speculative(model)) return sti_evaluate(model, state, work, &work->here, state->t, state->q, margin, err);
    if (round > 0 && !model->rigid)
        margin = model->table.reach == NULL ? INFINITY
                                            : margin + model->table.reach(model->table.ctx, state->q, work->v_new, h);
    STI_TRY(sti_evaluate_ahead(model, state, work, &work->here, state->t, state->q, margin, h, state->v,
                               round > 0 ? work->v_new : NULL, err));
    return sti_add_missed_contacts(work, err);
}

/* Selects the contacts of the step problem. Sleepers that such a contact touches wake, and their contacts are added. */
static st_Status select_contacts(st_System *system, double h, int round, st_Error *err)
{
    bool woken;
    STI_TRY(sti_select_contacts(&system->model, &system->state, &system->work, h, err));
    if (system->work.sleep.n_asleep == 0) return ST_OK;
    STI_TRY(sti_wake_touched(&system->model, &system->state, &system->work, &woken, err));
    if (!woken) return ST_OK;
    STI_TRY(find_contacts_again(system, h, round, err));
    if (!sti_speculative(&system->model))
        STI_TRY(sti_refresh_active(&system->model, &system->state, &system->work, err));
    return sti_select_contacts(&system->model, &system->state, &system->work, h, err);
}

/* Time after a piece. At the end of the step it is that of the grid, to the bit: rows that depend on time are then
 * those that a saved state finds. */
static double time_after(const sti_State *state, const sti_StepWork *work, double taken)
{
    const double t = state->t + taken, same = 1e-12 * work->h_asked + 4 * DBL_EPSILON * fabs(t);
    return fabs(t - work->t_end) <= same ? work->t_end : t;
}

/* ---- one piece of a step: from the state to (q_new, v_new) --------------------------------------- */

/* Makes a piece to the end of h, or to the first event in it. */
static st_Status located_piece(st_System *system, double h, double *taken, bool *event, st_StepInfo *info,
                               st_Error *err)
{
    const sti_Model *model = &system->model;
    sti_State *state = &system->state;
    sti_StepWork *work = &system->work;
    const st_Events events = model->def.events;
    double transition = 1, collision = 1;

    STI_TRY(sti_refresh_active(model, state, work, err));
    STI_TRY(select_contacts(system, h, 0, err));
    sti_begin_recovery(work);
    STI_TRY(sti_integrate(model, state, work, h, info, err));
    STI_TRY(sti_bound_recovery(model, state, work, h, info, err));
    if (events == ST_EVENTS_ALL && !work->events.over_limit)
        STI_TRY(sti_find_transition(model, state, work, h, &transition, info, err));
    *taken = transition * h;
    if (events != ST_EVENTS_OFF && !sti_events_exhausted(model, work))
        STI_TRY(sti_find_collision(model, state, work, *taken, &collision, err));
    sti_lap(work, ST_PART_EVENTS);
    *event = transition < 1 || collision < 1;
    if (collision < 1) {
        h = *taken, *taken = collision * h;
        if (transition < 1) work->events.n--, info->transitions--; /* not reached */
        return sti_collide_at(model, state, work, h, collision, info, err);
    }
    if (transition < 1) STI_TRY(sti_count_event(model, state, work, state->t + *taken, transition, info, err));

    /* No collision: update the contacts that are held, and project the position. */
    const double t = time_after(state, work, *taken);
    if (transition == 1) state->stalled = 0;
    STI_TRY(sti_drop_separated(model, work, err));
    STI_TRY(sti_note_loaded(model, work, err));
    if (events == ST_EVENTS_ALL) STI_TRY(sti_note_modes(model, state, work, transition, err));
    STI_TRY(sti_evaluate(model, state, work, &work->trial, t, work->q_new, sti_margin(model), err));
    if (model->def.drift != ST_DRIFT_PROJECTION) return ST_OK;
    if (events == ST_EVENTS_OFF) STI_TRY(sti_activate_touching(model, work, 0.0, err));
    STI_TRY(sti_project(model, state, work, t, *taken, err));
    if (transition < 1 || events == ST_EVENTS_OFF || !sti_overlaps_unheld(model, work)) return ST_OK;
    *event = true;
    work->events.before = work->step.done;
    return sti_impact_at_end(model, state, work, t, *taken, info, err);
}

/* ---- the step --------------------------------------------------------------------------------- */

/* The end of a piece, (q_new, v_new) with the rows in `trial`, becomes the state. ends: it is the end of the step. */
static st_Status accept_piece(st_System *system, double taken, bool event, bool ends, st_Error *err)
{
    const sti_Model *model = &system->model;
    sti_State *state = &system->state;
    sti_StepWork *work = &system->work;
    sti_History *history = &state->history;
    STI_TRY(sti_store_pending_impulses(model, state, work, true, err));
    STI_TRY(sti_sum_piece(model, state, work, ends, err));
    if (work->mean.past != NULL) sti_mean_remember(model, state, work, taken);
    history->known = !event && !work->stages.rough; /* after an event or a rough step there is no history */
    history->h = taken;
    STI_EXCHANGE(double *, history->a, work->a_new);
    if (history->q != NULL) memcpy(history->q, state->q, (size_t)model->n_q * sizeof *state->q);
    if (history->v != NULL) memcpy(history->v, state->v, (size_t)model->n_v * sizeof *state->v);
    STI_EXCHANGE(double *, state->q, work->q_new);
    STI_EXCHANGE(double *, state->v, work->v_new);
    if (model->world->n_angles > 0) sti_angles_settle(model->world, state->q);
    STI_EXCHANGE(sti_IdSet, state->loaded, work->loaded_new);
    STI_EXCHANGE(sti_Modes, state->modes, work->modes_new);
    if (!history->known) state->modes.n = 0;
    if (!sti_speculative(model)) STI_EXCHANGE(sti_IdSet, state->active, work->active_new); /* else unused */
    STI_EXCHANGE(st_Sink, work->here, work->trial);
    STI_EXCHANGE(sti_Patches, state->patches, work->compliant.next);
    state->t = ends ? work->t_end : state->t + taken;
    sti_works_add(&state->works, 1, &work->events.before);
    sti_works_add(&state->works, 1, &work->step.done);
    return ST_OK;
}

/* Makes pieces to the end of the step; with an integrator of order one, only the first piece. If this fails, or if a
 * piece gains energy without a source (guard.tripped), the caller restores the state. */
static st_Status take_pieces(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    const sti_Model *model = &system->model;
    sti_State *state = &system->state;
    sti_StepWork *work = &system->work;
    const bool continues = sti_continues_after_event(model), speculative = sti_speculative(model);
    sti_impulses_begin(model, work);
    if (state->fresh && sti_integrator(model)->order > 1) STI_TRY(sti_impact_of_jump(model, state, work, err));
    if (state->fresh) (void)sti_energy(model, state, work);
    const int stalled = state->stalled;
    const double start = state->t, end = sti_next_time(state, h);
    work->h_asked = h;
    work->t_end = end;
    work->events.n = work->events.n_stops = 0;
    work->events.over_limit = false;
    if (!continues && model->world->n_joints > 0 && sti_integrator(model)->order == 1 &&
        sti_motion_corner(model->world, -1, start + 1e-9 * h) < end - 1e-9 * h) {
        /* The speed of a prescribed motion jumps inside the step: the mean speed leads to its position at the end. */
        model->world->rates_over = h;
        const st_Status status = sti_refresh_rows(model, state, work, err);
        model->world->rates_over = 0;
        STI_TRY(status);
    }
    double rest = h;
    do {
        double length = continues ? fmin(rest, work->guard.part * h) : rest;
        if (continues && model->world->n_joints > 0) {
            /* The speed of a prescribed motion may jump: pieces end there, and the jump is an impact. */
            const double near = 1e-9 * h, now = state->t;
            model->world->rates_end = 0;
            if (sti_motion_corner(model->world, -1, now - near) <= now + near) {
                STI_TRY(sti_refresh_rows(model, state, work, err));
                STI_TRY(sti_impact_of_jump(model, state, work, err));
                (void)sti_energy(model, state, work);
            }
            const double corner = sti_motion_corner(model->world, -1, now + near);
            if (corner <= now + length + near) model->world->rates_end = corner - near;
            length = fmin(length, corner - now);
        }
        double taken = length;
        bool event = false;
        work->events.before = (sti_Works){0};
        work->events.lifted = 0;
        work->guard.pull = -1;
        if (!speculative) {
            STI_TRY(located_piece(system, length, &taken, &event, info, err));
        } else {
            /* If the step penetrates contacts beyond the margin, it is made again with them, so that no body tunnels.
             * Velocities predict most of these contacts, so one attempt usually suffices. If the solver stopped early,
             * a third attempt would correct less than the error of the solver, except for contacts deeper than the
             * margin. */
            work->ahead.missed.n = work->ahead.n_found = 0;
            for (int round = 0, again = 1, most = 4; again > 0 && round < most; round++) {
                if (round > 0) STI_TRY(sti_store_tried_impulses(model, state, work, err));
                work->step.lent = NULL; /* the problem of the attempt before is not read any more */
                if (round > 0 || (model->rigid && work->ahead.foreseen < length))
                    STI_TRY(find_contacts_again(system, length, round, err));
                STI_TRY(select_contacts(system, length, round, err));
                sti_begin_recovery(work);
                STI_TRY(sti_integrate(model, state, work, length, info, err));
                STI_TRY(sti_bound_recovery(model, state, work, length, info, err));
                STI_TRY(sti_evaluate_ahead(model, state, work, &work->trial, time_after(state, work, length),
                                           work->q_new, sti_margin(model), length, work->v_new, NULL, err));
                STI_TRY(sti_note_missed(model, state, work, length, &again, err));
                most = info->solve.converged || work->ahead.missed_far ? 4 : 2;
            }
            work->ahead.foreseen = length;
            STI_TRY(sti_note_loaded(model, work, err));
        }
        const bool ends = continues ? rest - taken <= 1e-12 * h : taken >= rest;
        sti_work_less_potential(model, state, work);
        STI_TRY(sti_judge_energy(model, state, work, length, taken, err));
        if (work->guard.tripped) return ST_OK;
        STI_TRY(accept_piece(system, taken, event, ends, err));
        if (continues) (void)sti_energy(model, state, work);
        rest = end - state->t;
    } while (continues && rest > 0);
    if (state->t == end)
        sti_time_reached(&state->grid, start, h);
    else
        sti_time_set(state, state->t);
    return continues ? sti_count_exhausted(model, state, work, stalled, err) : ST_OK;
}

st_StepInfo st_step_info(void)
{
    return (st_StepInfo){.size = sizeof(st_StepInfo), .recovery = 1};
}

/* Copies as many bytes of the report as the caller's struct has. */
static void copy_report(st_StepInfo *report, st_StepInfo *to)
{
    if (to == NULL) return;
    const uint32_t size = to->size < sizeof *report ? to->size : (uint32_t)sizeof *report;
    report->size = to->size;
    memcpy(to, report, size);
}

st_Status st_system_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    STI_NEED(system, err);
    const sti_Model *model = &system->model;
    sti_State *state = &system->state;
    sti_StepWork *work = &system->work;
    st_StepInfo report = st_step_info();
    if (!sti_between(h, STI_SMALLEST, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "h is %g, must be from %g to %g", h, STI_SMALLEST, STI_LARGEST);
    sti_start_lap(work);
    if (work->on_device != NULL) {
        STI_TRY(sti_device_step(model, state, work, h, &report, err));
        copy_report(&report, info);
        return ST_OK;
    }

    /* Bodies that enter or leave change the energy. */
    work->kinetic.known = false;
    const double start = state->t, end = sti_next_time(state, h);
    const bool flows = model->rigid && model->world->scene->n_inlets + model->world->scene->n_outlets > 0;
    const double energy_then = flows ? sti_energy(model, state, work) : 0;
    if (flows || work->n_relocated > 0) STI_TRY(sti_flow_step(model, state, work, err));
    if (flows) state->works.given += sti_energy(model, state, work) - energy_then;

    /* Copy the state, which is restored if the step fails. Sleep is not restored: it depends only on the state. */
    if (work->flow != NULL) sti_measures_before_step(model, state, work);
    if (work->rows_stale) STI_TRY(sti_refresh_rows(model, state, work, err));
    if (work->sleep.on) STI_TRY(sti_sleep_begin(model, state, work, h, err));
    STI_TRY(sti_save(model, state, work, err));
    const bool first_step = state->fresh, jointed = work->here.joint_rows.n_rows > 0,
               jump = first_step && jointed && sti_starts_with_jump(model, state, work);
    work->kinetic.known = false;
    const double energy_before = sti_energy(model, state, work), explained = sti_works_sum(&state->works);
    work->law_change = 0;
    sti_cancel_begin(model, work);
    sti_guard_begin(work);

    /* Make the step. After each attempt that gains energy, repeat it with one more remedy (energy_guard.c). */
    report.attempts = 1;
    st_Error trouble = {0}; /* of an attempt */
    st_Status status = take_pieces(system, h, &report, &trouble);
    for (int attempts = 2; work->guard.ran_away || (status == ST_OK && work->guard.tripped); attempts++) {
        bool any;
        const double tried = work->guard.part * h;
        const st_Status was = status;
        status = sti_guard_remedy(model, work, &any, &trouble);
        if (status == ST_OK && !any) status = was != ST_OK ? was : sti_guard_fail(model, state, work, tried, &trouble);
        if (status != ST_OK) break;
        sti_restore(model, state, work);
        status = sti_save(model, state, work, &trouble);
        if (status != ST_OK) break;
        (void)sti_energy(model, state, work);
        report = st_step_info();
        report.attempts = attempts;
        status = take_pieces(system, sti_continues_after_event(model) ? h : work->guard.part * h, &report, &trouble);
    }
    if (status != ST_OK && err != NULL) *err = trouble;
    if (model->rigid) model->world->rates_end = 0;
    sti_cancel_end(model, state, work, status, err);
    if (status != ST_OK) {
        sti_restore(model, state, work);
        sti_forget_step(model, state, work);
        return status;
    }

    /* The step is done: measures, impacts that were not located, energy, sleep. */
    state->n_steps++;
    state->fresh = false;
    if (work->flow != NULL) sti_measures_after_step(model, state, work);
    sti_note_strikes(model, state, work, h, first_step, jump);
    state->works.unexplained +=
        sti_energy(model, state, work) - energy_before - (sti_works_sum(&state->works) - explained);
    if (work->sleep.on) sti_sleep_end(model, state, work, state->t - start);

    /* The report. */
    report.time = state->t;
    report.h = state->t == end ? h : state->t - start;
    report.joints = work->here.joint_rows.n_rows;
    report.asleep = work->sleep.n_asleep > 0 ? work->sleep.n_asleep - sti_rotors_asleep(model->world) : 0;
    report.penetration = fmax(sti_row_buffer_penetration(&work->here, model->def.threads), work->sleep.penetration);
    report.joint_error = sti_row_buffer_joint_error(&work->here);
    int open_joint;
    report.joint_opening = sti_row_buffer_joint_opening(model, &work->here, &open_joint);
    report.kinetic = work->guard.kinetic;
    report.potential = work->guard.potential;
    report.friction = state->works.friction;
    report.work = state->works.given;
    report.damping = state->works.damping;
    report.impacts = state->works.impact;
    report.correction = state->works.correction;
    report.scheme = state->works.scheme;
    report.unexplained = state->works.unexplained;
    report.struck = work->strikes.contacts;
    report.force_h = sti_force_time(work);
    report.law_change = work->law_change;
    report.force_time = state->t - 0.5 * report.h;
    sti_lap(work, ST_PART_REPORT);
    copy_report(&report, info);
    return ST_OK;
}
