/* step/snapshot.c -- the state before a step, to go back to when it fails.
 *
 * A step that fails leaves no trace (system.h). What it computes stands beside the state until it is accepted; copied
 * here is what it changes on its way. The forces of the last step are exchanged, not copied, and only when others take
 * their place before the step stands (warm_start.c).
 */
#include "step/step.h"

/* Copy one state over another; the sets have room where sti_save made it. */
static void copy_history(const st_System *s, sti_History *to, const sti_History *from)
{
    to->known = from->known;
    to->h = from->h;
    memcpy(to->q, from->q, (size_t)s->model.n_q * sizeof *to->q);
    memcpy(to->v, from->v, (size_t)s->model.n_v * sizeof *to->v);
    memcpy(to->a, from->a, (size_t)s->model.n_v * sizeof *to->a);
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
    sti_Snapshot *saved = &s->saved;
    saved->t = s->t;
    saved->grid = s->grid;
    saved->friction_work = s->friction_work;
    saved->fastest = s->fastest;
    saved->stalled = s->events.stalled;
    saved->kept = saved->lost = false;
    if (!sti_speculative(s)) STI_TRY(sti_ids_copy(&s->allocator, &saved->active, &s->active, err));
    if (s->mean.past != NULL) memcpy(s->mean.before, s->mean.past, (size_t)sti_mean_past(s) * sizeof(double));
    if (!sti_has_stages(s)) return ST_OK;
    STI_TRY(sti_ids_copy(&s->allocator, &saved->loaded, &s->loaded, err));
    STI_TRY(copy_modes(&s->allocator, &saved->modes, &s->modes, err));
    memcpy(saved->q, s->q, (size_t)s->model.n_q * sizeof *s->q);
    memcpy(saved->v, s->v, (size_t)s->model.n_v * sizeof *s->v);
    copy_history(s, &saved->history, &s->history);
    return sti_impulses_save(s, err);
}

void sti_save_impulses(st_System *s)
{
    if (s->saved.kept) return;
    STI_EXCHANGE(sti_Impulses, s->warm.last, s->saved.forces);
    s->saved.kept = true;
}

/* Nothing here can fail but the rows at the old position, which were there before. */
void sti_restore(st_System *s)
{
    const sti_Snapshot *saved = &s->saved;
    s->t = saved->t;
    s->grid = saved->grid;
    s->friction_work = saved->friction_work;
    s->fastest = saved->fastest;
    s->events.stalled = saved->stalled;
    if (saved->kept) STI_EXCHANGE(sti_Impulses, s->warm.last, s->saved.forces);
    s->warm.to_keep = 0;
    if (saved->lost) s->warm.last.n = 0;
    s->ahead.foreseen = 0; /* `here` may hold what an attempt has run into: it is looked at anew */
    if (!sti_speculative(s)) STI_EXCHANGE(sti_IdSet, s->active, s->saved.active);
    if (s->mean.past != NULL) memcpy(s->mean.past, s->mean.before, (size_t)sti_mean_past(s) * sizeof(double));
    if (!sti_has_stages(s)) return;
    STI_EXCHANGE(sti_IdSet, s->loaded, s->saved.loaded);
    STI_EXCHANGE(sti_Modes, s->modes, s->saved.modes);
    memcpy(s->q, saved->q, (size_t)s->model.n_q * sizeof *s->q);
    memcpy(s->v, saved->v, (size_t)s->model.n_v * sizeof *s->v);
    copy_history(s, &s->history, &saved->history);
    sti_impulses_restore(s);
    if (sti_goes_on(s)) (void)sti_evaluate(s, &s->here, s->t, s->q, sti_margin(s), NULL);
}
