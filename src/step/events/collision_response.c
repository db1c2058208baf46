/* step/events/collision_response.c -- moves to a collision, closes the contacts that touch, and computes the velocity
 * after the impact.
 *
 * `trial` has the rows at the collision, active_new the contacts that are held there. The impact is solved with both in
 * place of those at the state. Afterwards they are exchanged back until the step is accepted.
 */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/drift/drift.h"
#include "step/events/events.h"
#include "step/impulses.h"
#include "step/step.h"

static st_Status stuck(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double t, int count,
                       st_Error *err)
{
    char pair[600] = "contacts";
    for (int c = 0; c < work->trial.n_contacts; c++)
        if (work->trial.contact[c].gap <= model->def.active_gap &&
            !sti_ids_contain(&state->active, work->trial.contact[c].id))
            sti_describe_contact(model, &work->trial.contact[c], pair, sizeof pair);
    return sti_fail(err, ST_ERR_EVENTS,
                    "stuck at t = %g: %d collisions in a row without progress, the last of %s; try events off", t,
                    count, pair);
}

/* Limits for events that accumulate. After max_events there are no restitution and no transitions until the end of the
 * step. After twice as many, collisions are not searched, and overlaps are closed in the next step. If this happens in
 * many steps in a row, the step fails. With an integrator of order one each event ends its step: it fails if many such
 * steps have no length. */
bool sti_events_exhausted(const sti_Model *model, const sti_StepWork *work)
{
    return work->events.n_stops > 2 * model->def.max_events;
}

/* Called after a step. stalled: the number of exhausted steps before it. */
st_Status sti_count_exhausted(const sti_Model *model, sti_State *state, sti_StepWork *work, int stalled, st_Error *err)
{
    state->stalled = sti_events_exhausted(model, work) ? stalled + 1 : 0;
    return state->stalled > STI_MAX_STALLED ? stuck(model, state, work, state->t, work->events.n_stops, err) : ST_OK;
}

st_Status sti_count_event(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, double s,
                          st_StepInfo *info, st_Error *err)
{
    if (!sti_continues_after_event(model)) {
        state->stalled = s < 1e-9 ? state->stalled + 1 : 0;
        return state->stalled > STI_MAX_STALLED ? stuck(model, state, work, t, STI_MAX_STALLED, err) : ST_OK;
    }
    if (++work->events.n_stops > model->def.max_events) work->events.over_limit = info->accumulated = true;
    return ST_OK;
}

/* Computes the impact with the rows and the active set at the collision. */
static st_Status collide_there(const sti_Model *model, sti_State *state, sti_StepWork *work, double t,
                               st_StepInfo *info, st_Error *err)
{
    memcpy(work->a_new, work->v_new, (size_t)model->n_v * sizeof *work->v_new);
    STI_TRY(sti_impact(model, state, work, t, info, err));
    STI_TRY(sti_note_loaded(model, work, err));
    /* Events of the contacts that closed, with their velocities before (v_before) and after the impact. */
    const sti_Assembly *step = &work->step;
    for (int c = 0; c < step->n_gaps; c++) {
        const sti_ContactEntry *entry = step->chosen[c].entry;
        int row = step->law[c].first;
        if (sti_ids_contain(&work->active_new, entry->id)) continue;
        st_EventReport event = {.kind = ST_EVENT_COLLISION,
                                .time = t,
                                .contact = entry->id,
                                .a = {entry->a},
                                .b = {entry->b},
                                .point = entry->point,
                                .normal = entry->normal,
                                .before = sti_row_dot(&step->H, row, work->a_new),
                                .after = sti_row_dot(&step->H, row, work->v_new),
                                .impulse = sti_impact_impulse(work, c)[0]};
        STI_TRY(sti_add_event(model, work, &event, err));
    }
    return sti_drop_rebounding(model, state, work, err);
}

/* Does a contact that is not held overlap at q_new? */
bool sti_overlaps_unheld(const sti_Model *model, const sti_StepWork *work)
{
    for (int c = 0; c < work->trial.n_contacts; c++)
        if (work->trial.contact[c].gap < -model->def.active_gap &&
            !sti_ids_contain(&work->active_new, work->trial.contact[c].id))
            return true;
    return false;
}

/* Closes the contacts that touch at q_new and computes the velocity after the impact. */
st_Status sti_impact_at_end(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, double h,
                            st_StepInfo *info, st_Error *err)
{
    /* Hold contacts that touch at q_new. A projection may push another contact into overlap: then hold it as well. */
    for (int round = 0; round < 4; round++) {
        STI_TRY(sti_activate_touching(model, work, model->def.active_gap, err));
        if (model->def.drift != ST_DRIFT_PROJECTION) break;
        STI_TRY(sti_project(model, state, work, t, h, err));
        if (!sti_overlaps_unheld(model, work)) break;
    }
    STI_EXCHANGE(st_Sink, work->here, work->trial);
    STI_EXCHANGE(sti_IdSet, state->active, work->active_new);
    st_Status status = collide_there(model, state, work, t, info, err);
    STI_EXCHANGE(sti_IdSet, state->active, work->active_new);
    STI_EXCHANGE(st_Sink, work->here, work->trial);
    info->collisions++;
    return status;
}

/* Moves to the collision at the fraction s of the step and computes its impact. */
st_Status sti_collide_at(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double s,
                         st_StepInfo *info, st_Error *err)
{
    double t = state->t + s * h;
    sti_path(model, state, work, h, s, work->q_new, work->v_new);
    STI_TRY(sti_cut_piece(model, work, s, err));
    STI_TRY(sti_evaluate(model, state, work, &work->trial, t, work->q_new, sti_margin(model), err));
    STI_TRY(sti_count_event(model, state, work, t, s, info, err));
    STI_TRY(sti_ids_copy(&model->allocator, &work->active_new, &state->active, err));
    sti_lap(work, ST_PART_EVENTS);
    work->events.before = (sti_Works){0};
    sti_works_add(&work->events.before, s, &work->step.done);
    /* Euler's methods have the velocity of the whole step at the collision: impulses of the rest move nothing. */
    if (sti_integrator(model)->order == 1)
        work->events.before.scheme += (1 - s) * (sti_energy_kinetic(model, work, work->q_new, work->v_new) -
                                                 sti_energy_kinetic(model, work, state->q, state->v));
    return sti_impact_at_end(model, state, work, t, s * h, info, err);
}
