/* step/snapshot.c -- the state before a step, to go back to when it fails.
 *
 * A step that fails leaves no trace (system.h). What it computes stands beside the state until it is accepted; copied
 * here is what it changes on its way. The forces of the last step are exchanged, not copied, and only when others take
 * their place before the step stands (warm_start.c).
 */
#include "step/step.h"

/* Copy one state over another; the sets have room where sti_save made it. */
static void copy_history(const sti_Model *model, sti_History *to, const sti_History *from)
{
    to->known = from->known;
    to->h = from->h;
    memcpy(to->q, from->q, (size_t)model->n_q * sizeof *to->q);
    memcpy(to->v, from->v, (size_t)model->n_v * sizeof *to->v);
    memcpy(to->a, from->a, (size_t)model->n_v * sizeof *to->a);
}

st_Status sti_save(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    sti_Snapshot *saved = &work->saved;
    saved->state.t = state->t;
    saved->state.grid = state->grid;
    saved->state.works = state->works;
    saved->state.fastest = state->fastest;
    saved->state.stalled = state->stalled;
    saved->kept = saved->lost = false;
    if (!sti_speculative(model)) STI_TRY(sti_ids_copy(&model->allocator, &saved->state.active, &state->active, err));
    if (work->mean.past != NULL)
        memcpy(work->mean.before, work->mean.past, (size_t)sti_mean_past(model) * sizeof(double));
    if (!sti_has_stages(model)) return ST_OK;
    STI_TRY(sti_ids_copy(&model->allocator, &saved->state.loaded, &state->loaded, err));
    sti_Modes *to = &saved->state.modes;
    STI_TRY(STI_GROW(&model->allocator, to->at, to->capacity, state->modes.n, err));
    if (state->modes.n > 0) memcpy(to->at, state->modes.at, (size_t)state->modes.n * sizeof *to->at);
    to->n = state->modes.n;
    memcpy(saved->state.q, state->q, (size_t)model->n_q * sizeof *state->q);
    memcpy(saved->state.v, state->v, (size_t)model->n_v * sizeof *state->v);
    copy_history(model, &saved->state.history, &state->history);
    return sti_impulses_save(model, state, work, err);
}

void sti_save_impulses(sti_State *state, sti_StepWork *work)
{
    if (work->saved.kept) return;
    STI_EXCHANGE(sti_Impulses, state->forces, work->saved.state.forces);
    work->saved.kept = true;
}

/* Nothing here can fail but the rows at the old position, which were there before. */
void sti_restore(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    const sti_Snapshot *saved = &work->saved;
    state->t = saved->state.t;
    state->grid = saved->state.grid;
    state->works = saved->state.works;
    state->fastest = saved->state.fastest;
    state->stalled = saved->state.stalled;
    if (saved->kept) STI_EXCHANGE(sti_Impulses, state->forces, work->saved.state.forces);
    work->warm.to_keep = 0;
    if (saved->lost) state->forces.n = 0;
    work->ahead.foreseen = 0; /* `here` may hold what an attempt has run into: it is looked at anew */
    if (!sti_speculative(model)) STI_EXCHANGE(sti_IdSet, state->active, work->saved.state.active);
    if (work->mean.past != NULL)
        memcpy(work->mean.past, work->mean.before, (size_t)sti_mean_past(model) * sizeof(double));
    if (!sti_has_stages(model)) return;
    STI_EXCHANGE(sti_IdSet, state->loaded, work->saved.state.loaded);
    STI_EXCHANGE(sti_Modes, state->modes, work->saved.state.modes);
    memcpy(state->q, saved->state.q, (size_t)model->n_q * sizeof *state->q);
    memcpy(state->v, saved->state.v, (size_t)model->n_v * sizeof *state->v);
    copy_history(model, &state->history, &saved->state.history);
    sti_impulses_restore(model, state, work);
    if (sti_goes_on(model))
        (void)sti_evaluate(model, state, work, &work->here, state->t, state->q, sti_margin(model), NULL);
}
