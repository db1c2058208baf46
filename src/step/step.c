/* step/step.c -- one step, as a table of contents.
 *
 *     rows and contacts at q  ->  integrator: step problem, velocity, position  ->  event?  ->  projection  ->  state
 *
 *     contact_selection.c      which contacts are in the problem
 *     integrator.c  the table of integrators: euler.c, trapezoid.c, sdirk2.c, bdf2.c, all on stage.c
 *     stick_slip.c  take-off, stick and slip within the step       collision_event.c    collisions within the step
 *     collision_response.c     what a collision does, with impact.c           projection.c  drift correction
 *     sleep.c       who is left out of all this
 *
 * An integrator of order one ends its step at a collision. One of order two goes on behind each event to the
 * end of the step: steps end on the grid, and the state in between is kept to go back to on failure.
 */
#include "base/range.h"
#include "base/tolerance.h"
#include "step/contact/contact_model.h"
#include "step/sleep.h"

/* ---- pieces ----------------------------------------------------------------------------------- */

/* The margin that holds every contact the step to q_new can have run into. */
static double reach_of(const st_System *system, double h)
{
    const st_Model *model = &system->model.table;
    if (model->reach == NULL) return INFINITY;
    return sti_margin(&system->model) + model->reach(model->ctx, system->state.q, system->work.v_new, h);
}

/* Contacts at the state once more, as far ahead as the step may need them; those of a second attempt also where the
 * first went. Of a model of the user's then whatever is nearer than anything moves.                */
static st_Status look_again(st_System *system, double h, int round, st_Error *err)
{
    const bool ahead = sti_speculative(&system->model), far = ahead && round > 0 && system->model.world == NULL;
    const double margin = far ? reach_of(system, h) : sti_margin(&system->model);
    system->work.ahead.foreseen = 0;
    if (!ahead) return sti_evaluate(system, &system->work.here, system->state.t, system->state.q, margin, err);
    STI_TRY(sti_evaluate_ahead(system, &system->work.here, system->state.t, system->state.q, margin, h, system->state.v,
                               round > 0 ? system->work.v_new : NULL, err));
    return sti_bring_back(&system->work, err);
}

/* The contacts of the step problem. Sleepers that one of them touches wake, and bring their own. */
static st_Status want_contacts(st_System *system, double h, int round, st_Error *err)
{
    bool woken;
    STI_TRY(sti_want_contacts(system, h, err));
    STI_TRY(sti_wake_touched(system, &woken, err));
    if (!woken) return ST_OK;
    STI_TRY(look_again(system, h, round, err));
    if (!sti_speculative(&system->model)) STI_TRY(sti_refresh_active(system, err));
    return sti_want_contacts(system, h, err);
}

/* Attempts at a step. Where the solver was told to stop early, a third would correct less than what it left; but for
 * what is deeper than the margin.                                                                 */
static int most_attempts(const sti_StepWork *work, const st_StepInfo *info)
{
    return info->solve.converged || work->ahead.missed_far ? 4 : 2;
}

/* The step, and again with the contacts beyond the margin that it ran into, if any: nothing tunnels. Velocities
 * foretell most of them, so that one attempt mostly does.                                                  */
static st_Status speculative_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    system->work.ahead.missed.n = 0;
    system->work.ahead.n_found = 0;
    for (int round = 0, again = 1; again > 0 && (round == 0 || round < most_attempts(&system->work, info)); round++) {
        if (round > 0) STI_TRY(sti_keep_tried(system, err));
        if (round > 0 || (system->model.world != NULL && system->work.ahead.foreseen < h))
            STI_TRY(look_again(system, h, round, err));
        STI_TRY(want_contacts(system, h, round, err));
        STI_TRY(sti_integrate(system, h, info, err));
        STI_TRY(sti_evaluate_ahead(system, &system->work.trial, system->state.t + h, system->work.q_new,
                                   sti_margin(&system->model), h, system->work.v_new, NULL, err));
        STI_TRY(sti_note_missed(system, h, &again, err));
    }
    system->work.ahead.foreseen = h;
    return sti_note_loaded(&system->model, &system->work, err);
}

/* ---- the step --------------------------------------------------------------------------------- */

/* What was computed becomes the state; after an event, or a step made rough by one, history starts anew. */
static void accept(st_System *system, double t, double taken, bool event)
{
    sti_History *history = &system->state.history;
    sti_mean_remember(system, taken);
    history->known = !event && !system->work.stages.rough;
    history->h = taken;
    STI_EXCHANGE(double *, history->a, system->work.a_new);
    if (history->q != NULL) memcpy(history->q, system->state.q, (size_t)system->model.n_q * sizeof *system->state.q);
    if (history->v != NULL) memcpy(history->v, system->state.v, (size_t)system->model.n_v * sizeof *system->state.v);
    STI_EXCHANGE(double *, system->state.q, system->work.q_new);
    STI_EXCHANGE(double *, system->state.v, system->work.v_new);
    if (system->model.world != NULL) sti_angles_settle(system->model.world, system->state.q);
    STI_EXCHANGE(sti_IdSet, system->state.loaded, system->work.loaded_new);
    STI_EXCHANGE(sti_Modes, system->state.modes, system->work.modes_new);
    if (!history->known) system->state.modes.n = 0;
    STI_EXCHANGE(sti_IdSet, system->state.active, system->work.active_new);
    STI_EXCHANGE(st_Sink, system->work.here, system->work.trial);
    sti_patches_accept(&system->state, &system->work);
    system->state.t = t;
    system->state.friction_work += system->work.events.work_before + system->work.step.friction_work;
}

static void report(st_System *system, double h, st_StepInfo *info)
{
    info->time = system->state.t;
    info->h = h;
    info->joints = system->work.here.joint_rows.n_rows;
    info->asleep =
        system->work.sleep.n_asleep > 0 ? system->work.sleep.n_asleep - sti_rotors_asleep(system->model.world) : 0;
    info->penetration =
        fmax(sti_row_buffer_penetration(&system->work.here, system->model.def.threads), system->work.sleep.penetration);
    info->joint_error = sti_row_buffer_joint_error(&system->work.here);
    info->kinetic = sti_energy_kinetic(&system->model, &system->work, system->state.q, system->state.v);
    info->potential = sti_energy_potential(system, &system->work.here, system->state.t, system->state.q);
    info->friction = system->state.friction_work;
    info->struck = system->work.strikes.contacts;
    info->force_h = sti_force_time(&system->work);
    info->force_time = system->state.t - 0.5 * h;
    sti_lap(&system->work, ST_STAGE_REPORT);
}

/* Behind a piece of length h without a collision: what is held, and the position it is held at. */
static st_Status settle(st_System *system, double h, double transition, bool *event, st_StepInfo *info, st_Error *err)
{
    st_Events events = system->model.def.events;
    double t = system->state.t + h;
    if (transition == 1) system->state.stalled = 0;
    STI_TRY(sti_drop_separated(&system->model, &system->work, err));
    STI_TRY(sti_note_loaded(&system->model, &system->work, err));
    if (events == ST_EVENTS_ALL) STI_TRY(sti_note_modes(system, transition, err));
    STI_TRY(sti_evaluate(system, &system->work.trial, t, system->work.q_new, sti_margin(&system->model), err));
    if (system->model.def.drift != ST_DRIFT_PROJECTION) return ST_OK;
    if (events == ST_EVENTS_OFF) STI_TRY(sti_activate_touching(&system->model, &system->work, 0.0, err));
    STI_TRY(sti_project(system, t, h, err));
    if (transition < 1 || events == ST_EVENTS_OFF || !sti_ran_into_something(&system->model, &system->work))
        return ST_OK;
    *event = true;
    system->work.events.work_before = system->work.step.friction_work;
    return sti_land(system, t, h, info, err);
}

/* From the state to (q_new, v_new), at most h later: to the end of the step, or to the first event in it. */
static st_Status advance(st_System *system, double h, double *taken, bool *event, st_StepInfo *info, st_Error *err)
{
    st_Events events = system->model.def.events;
    double transition = 1, collision = 1;
    *taken = h;
    *event = false;
    system->work.events.work_before = 0;
    if (sti_speculative(&system->model)) return speculative_step(system, h, info, err);

    STI_TRY(sti_refresh_active(system, err));
    STI_TRY(want_contacts(system, h, 0, err));
    STI_TRY(sti_integrate(system, h, info, err));
    if (events == ST_EVENTS_ALL && !system->work.events.tired)
        STI_TRY(sti_find_transition(system, h, &transition, info, err));
    *taken = transition * h;
    if (events != ST_EVENTS_OFF && !sti_exhausted(&system->model, &system->work))
        STI_TRY(sti_find_collision(system, *taken, &collision, err));
    sti_lap(&system->work, ST_STAGE_EVENTS);
    *event = transition < 1 || collision < 1;
    if (collision < 1) {
        h = *taken, *taken = collision * h;
        if (transition < 1) system->work.events.n--, info->transitions--; /* not reached */
        return sti_collide_at(system, h, collision, info, err);
    }
    if (transition < 1) STI_TRY(sti_count_event(system, system->state.t + *taken, transition, info, err));
    return settle(system, *taken, transition, event, info, err);
}

/* Piece by piece to the end of the step; with an integrator of order one, the first piece. */
static st_Status pieces(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    const double start = system->state.t, end = sti_next_time(&system->state, h);
    double rest = h, taken;
    bool event, goes_on = sti_goes_on(&system->model);
    const int stalled = system->state.stalled;
    system->work.h_asked = h;
    system->work.events.n = system->work.events.n_stops = 0;
    system->work.events.tired = false;
    do {
        STI_TRY(advance(system, rest, &taken, &event, info, err));
        bool ends = goes_on ? rest - taken <= 1e-12 * h : taken >= rest;
        STI_TRY(sti_keep_waiting(system, true, err)); /* speculative steps are one piece */
        STI_TRY(sti_sum_piece(system, err));
        accept(system, ends ? end : system->state.t + taken, taken, event);
        rest = end - system->state.t;
    } while (goes_on && rest > 0);
    if (system->state.t == end)
        sti_time_reached(&system->state.grid, start, h);
    else
        sti_time_set(&system->state, system->state.t);
    return goes_on ? sti_count_exhausted(system, stalled, err) : ST_OK;
}

/* All that is put back when it fails. */
static st_Status take(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    sti_impulses_begin(&system->model, &system->work);
    if (system->state.fresh) STI_TRY(sti_meet_motors(system, err));
    return pieces(system, h, info, err);
}

st_Status st_system_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    STI_NEED(system, err);
    st_StepInfo local = st_step_info();
    if (!sti_between(h, STI_SMALLEST, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "h is %g, must be from %g to %g", h, STI_SMALLEST, STI_LARGEST);
    sti_start_lap(&system->work);
    const double start = system->state.t, end = sti_next_time(&system->state, h);
    STI_TRY(sti_refresh_rows(system, err));
    STI_TRY(sti_sleep_begin(system, h, err)); /* by what the state is, whatever becomes of the step */
    STI_TRY(sti_save(system, err));
    const bool jump = system->state.fresh && sti_starts_with_jump(system);
    sti_cancel_begin(&system->model, &system->work);
    st_Status status = take(system, h, &local, err);
    sti_cancel_end(system, status, err);
    if (status != ST_OK) {
        sti_restore(system);
        sti_forget_step(system);
        return status;
    }
    system->state.n_steps++;
    system->state.fresh = false;
    sti_note_strikes(system, jump);
    sti_sleep_end(system, system->state.t - start);
    report(system, system->state.t == end ? h : system->state.t - start, &local);
    if (info != NULL) {
        uint32_t size = info->size < sizeof local ? info->size : (uint32_t)sizeof local;
        local.size = info->size;
        memcpy(info, &local, size);
    }
    return ST_OK;
}
