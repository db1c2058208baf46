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

static st_Status copy_modes(const st_Allocator *allocator, sti_Modes *to, const sti_Modes *from, st_Error *err)
{
    STI_TRY(STI_GROW(allocator, to->at, to->capacity, from->n, err));
    if (from->n > 0) memcpy(to->at, from->at, (size_t)from->n * sizeof *to->at);
    to->n = from->n;
    return ST_OK;
}

st_Status sti_save(st_System *s, st_Error *err)
{
    sti_Snapshot *saved = &s->work.saved;
    saved->state.t = s->state.t;
    saved->state.grid = s->state.grid;
    saved->state.works = s->state.works;
    saved->state.fastest = s->state.fastest;
    saved->state.stalled = s->state.stalled;
    saved->kept = saved->lost = false;
    if (!sti_speculative(&s->model))
        STI_TRY(sti_ids_copy(&s->model.allocator, &saved->state.active, &s->state.active, err));
    if (s->work.mean.past != NULL)
        memcpy(s->work.mean.before, s->work.mean.past, (size_t)sti_mean_past(&s->model) * sizeof(double));
    if (!sti_has_stages(&s->model)) return ST_OK;
    STI_TRY(sti_ids_copy(&s->model.allocator, &saved->state.loaded, &s->state.loaded, err));
    STI_TRY(copy_modes(&s->model.allocator, &saved->state.modes, &s->state.modes, err));
    memcpy(saved->state.q, s->state.q, (size_t)s->model.n_q * sizeof *s->state.q);
    memcpy(saved->state.v, s->state.v, (size_t)s->model.n_v * sizeof *s->state.v);
    copy_history(&s->model, &saved->state.history, &s->state.history);
    return sti_impulses_save(s, err);
}

void sti_save_impulses(sti_State *state, sti_StepWork *work)
{
    if (work->saved.kept) return;
    STI_EXCHANGE(sti_Impulses, state->forces, work->saved.state.forces);
    work->saved.kept = true;
}

/* Nothing here can fail but the rows at the old position, which were there before. */
void sti_restore(st_System *s)
{
    const sti_Snapshot *saved = &s->work.saved;
    s->state.t = saved->state.t;
    s->state.grid = saved->state.grid;
    s->state.works = saved->state.works;
    s->state.fastest = saved->state.fastest;
    s->state.stalled = saved->state.stalled;
    if (saved->kept) STI_EXCHANGE(sti_Impulses, s->state.forces, s->work.saved.state.forces);
    s->work.warm.to_keep = 0;
    if (saved->lost) s->state.forces.n = 0;
    s->work.ahead.foreseen = 0; /* `here` may hold what an attempt has run into: it is looked at anew */
    if (!sti_speculative(&s->model)) STI_EXCHANGE(sti_IdSet, s->state.active, s->work.saved.state.active);
    if (s->work.mean.past != NULL)
        memcpy(s->work.mean.past, s->work.mean.before, (size_t)sti_mean_past(&s->model) * sizeof(double));
    if (!sti_has_stages(&s->model)) return;
    STI_EXCHANGE(sti_IdSet, s->state.loaded, s->work.saved.state.loaded);
    STI_EXCHANGE(sti_Modes, s->state.modes, s->work.saved.state.modes);
    memcpy(s->state.q, saved->state.q, (size_t)s->model.n_q * sizeof *s->state.q);
    memcpy(s->state.v, saved->state.v, (size_t)s->model.n_v * sizeof *s->state.v);
    copy_history(&s->model, &s->state.history, &saved->state.history);
    sti_impulses_restore(s);
    if (sti_goes_on(&s->model))
        (void)sti_evaluate(s, &s->work.here, s->state.t, s->state.q, sti_margin(&s->model), NULL);
}
