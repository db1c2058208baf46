/* step/contact/contact_selection.c -- the contacts of a step problem. Three ways to choose them:
 *
 *     drift gap, events off    all closer than `margin`, and those that a first attempt ran into;
 *     events off               those with a gap below `active_gap`;
 *     events located           the active set: entered at a collision, left when they separate.
 */
#include "base/tolerance.h"
#include "math/parallel.h"
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

bool sti_closes_gaps(const st_SystemDef *def)
{
    return def->drift == ST_DRIFT_GAP || def->drift == ST_DRIFT_MEAN;
}

/* Contacts enter before they touch, with their gap. */
bool sti_speculative(const sti_Model *model)
{
    return sti_closes_gaps(&model->def) && model->def.events == ST_EVENTS_OFF;
}

double sti_margin(const sti_Model *model)
{
    const double least = model->rigid ? model->world->collider.least_margin : 0;
    return fmax(fmax(model->def.margin, model->def.active_gap), least);
}

/* The same for the two shapes of a contact. */
static double margin_of_contact(const sti_Model *model, double margin, const sti_ContactEntry *contact)
{
    if (!model->rigid || contact->shape_a == 0) return margin;
    return sti_pair_margin(&model->world->collider, contact->shape_a - 1, contact->shape_b - 1, margin);
}

double sti_margin_of(const sti_Model *model, const sti_ContactEntry *contact)
{
    return margin_of_contact(model, sti_margin(model), contact);
}

/* Form II holds what opens: with v+ = -v its position stays. Form I and stages end with v+ = 0, above the contact where
 * no drift correction closes the gap again.                                                           */
static bool opens_slowly(const sti_Model *model)
{
    const st_SystemDef *def = &model->def;
    const bool mean_law = def->integrator == ST_INTEGRATOR_TRAPEZOID && def->form == ST_FORM_II;
    return def->drift == ST_DRIFT_VELOCITY && sti_integrator(model)->order > 1 && !mean_law;
}

/* With events off the active set has no memory: it is what touches now. With events located, a gap may also
 * close without an impact, at less than the speed at which rebounds begin.                         */
st_Status sti_refresh_active(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    const st_Sink *here = &work->here;
    st_Events events = model->def.events;
    if (events == ST_EVENTS_OFF) state->active.n = 0;
    if (model->def.drift == ST_DRIFT_VELOCITY) {
        /* Potra et al. 2006 (7.1): a contact is active up to a gap of max(eps_a, eps_b h^3). With drift `velocity`
         * nothing else ends a contact that was held while its gap opened: it would carry its body in mid-air for good.
         * Gaps of O(h^3) are the scheme's own error, and stay active. */
        const double most =
            fmax(model->def.active_gap, STI_ACTIVE_GAP_GROWTH * work->h_asked * work->h_asked * work->h_asked);
        sti_IdSet *active = &state->active;
        int n = 0;
        for (int k = 0; k < active->n; k++) {
            const int c = sti_row_buffer_find(here, active->id[k]);
            if (c >= 0 && here->contact[c].gap <= most) active->id[n++] = active->id[k];
        }
        active->n = n;
    }
    if (events == ST_EVENTS_COLLISIONS && sti_integrator(model)->order == 1) return ST_OK;
    for (int c = 0; c < here->n_contacts; c++) {
        const sti_ContactEntry *contact = &here->contact[c];
        if (contact->gap > model->def.active_gap) continue;
        double speed = sti_row_dot(&here->contact_rows, contact->first_row, state->v);
        if (events != ST_EVENTS_OFF && fabs(speed) > model->def.restitution_speed) continue;
        if (events != ST_EVENTS_OFF && opens_slowly(model) && speed > STI_SEPARATION_SPEED) continue;
        STI_TRY(sti_ids_add(&model->allocator, &state->active, contact->id, err));
    }
    return ST_OK;
}

/* Contacts that are worth a thread, where little is done to each. */
enum { LEAST = 2048 };

static int team_of(const sti_Model *model, int n_contacts)
{
    const int threads = n_contacts / LEAST;
    return threads < model->def.threads ? threads : model->def.threads;
}

/* Contacts are wanted by their gap at the state and by the velocities there, and not by what else was looked at: a
 * run that goes on and one that starts here again must agree. What one attempt wanted the next wants, too. */
typedef struct Want {
    const sti_Model *model;
    const sti_State *state;
    sti_StepWork *work;
    double h, margin;
    bool speculative;
    sti_Places places;
    int n; /* in all */
} Want;

static bool is_wanted(const Want *want, const sti_ContactEntry *contact)
{
    const sti_Model *model = want->model;
    const sti_State *state = want->state;
    const sti_StepWork *work = want->work;
    if (!want->speculative) return sti_ids_contain(&state->active, contact->id);
    return contact->gap < margin_of_contact(model, want->margin, contact) ||
           contact->gap < want->h * contact->closing || sti_ids_contain(&work->ahead.missed, contact->id);
}

static void want_share(void *ctx, int thread, int n_threads)
{
    Want *want = ctx;
    const st_Sink *here = &want->work->here;
    const int first = (int)sti_share(here->n_contacts, thread, n_threads);
    const int end = (int)sti_share(here->n_contacts, thread + 1, n_threads);
    int count = 0;
    for (int c = first; thread < n_threads - 1 && c < end; c++)
        count += is_wanted(want, &here->contact[c]);
    want->places.count[thread] = count; /* for the threads after this one; the last count is not read */
    sti_team_wait(n_threads);
    uint64_t *to = want->work->wanted.id + sti_places_before(&want->places, thread);
    for (int c = first; c < end; c++)
        if (is_wanted(want, &here->contact[c])) *to++ = here->contact[c].id; /* sorted by id */
    if (thread == n_threads - 1) want->n = (int)(to - want->work->wanted.id);
}

st_Status sti_want_contacts(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, st_Error *err)
{
    Want want;
    want.model = model, want.state = state, want.work = work, want.h = h, want.n = 0;
    want.speculative = sti_speculative(model), want.margin = sti_margin(model);
    work->wanted.n = 0;
    if (work->here.n_contacts == 0) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, work->wanted.id, work->wanted.capacity, work->here.n_contacts, err));
    sti_team_run(team_of(model, work->here.n_contacts), want_share, &want);
    work->wanted.n = want.n;
    return ST_OK;
}

/* Were two shapes held apart in the step already, by another point of theirs? Points of a face come and go with the
 * motion, and a new one beside the old is no miss; contacts of two shapes stand side by side.       */
static bool held_nearby(const sti_Model *model, const sti_StepWork *work, int at, const sti_ContactEntry *contact)
{
    const st_Sink *here = &work->here;
    if (contact->shape_a == 0 || contact->gap < -sti_margin_of(model, contact)) return false;
    for (int step = -1; step <= 1; step += 2)
        for (int k = step < 0 ? at - 1 : at; k >= 0 && k < here->n_contacts; k += step) {
            const sti_ContactEntry *other = &here->contact[k];
            if (other->shape_a != contact->shape_a || other->shape_b != contact->shape_b) break;
            if (sti_ids_contain(&work->wanted, other->id)) return true;
        }
    return false;
}

/* How deep an attempt may have run into what it did not know of. Velocities are asked for to a relative tolerance, and
 * so is where they lead.                                                                          */
static double allowed_miss(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h)
{
    const st_Model *table = &model->table;
    double way = table->reach != NULL ? 0.5 * table->reach(table->ctx, state->q, work->v_new, h) : 0;
    return fmax(model->overlap, isfinite(way) ? model->def.tolerance * way : 0);
}

/* Is it no surprise that an attempt ended as deep as that in a contact: a contact of the same two shapes, among those
 * that it held, went there as well? Their contacts stand side by side.                                 */
static bool is_explained(const sti_World *world, const sti_State *state, const sti_StepWork *work, int at,
                         const sti_ContactEntry *contact)
{
    const st_Sink *here = &work->here;
    while (at > 0 && here->contact[at - 1].shape_a == contact->shape_a &&
           here->contact[at - 1].shape_b == contact->shape_b)
        at--;
    for (; at < here->n_contacts; at++) {
        const sti_ContactEntry *held = &here->contact[at];
        if (held->shape_a != contact->shape_a || held->shape_b != contact->shape_b) return false;
        if (sti_contact_gap_after(world, held, state->q, work->q_new) <= 0.5 * contact->gap) return true;
    }
    return false;
}

/* The result of an attempt for a contact at its end. */
typedef struct Miss {
    bool missed;
    bool known; /* the state shows it, too                                                          */
    bool other; /* it was held, and is elsewhere now: the deepest point of two shapes has the same id wherever it is */
} Miss;

/* `at` is where its id stands, or would stand, in the state. Points are brought back only for schemes whose one stage
 * has the contacts of the state, and makes their rows itself.                                       */
static bool is_movable(const sti_Model *model, const sti_StepWork *work, const sti_ContactEntry *contact)
{
    return model->rigid && work->here.rows_later && contact->first_row < 0;
}

static Miss look_at(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                    const sti_ContactEntry *contact, int at, bool wanted)
{
    const st_Sink *here = &work->here;
    const bool known = at < here->n_contacts && here->contact[at].id == contact->id, held = known && wanted;
    const bool other = held && is_movable(model, work, contact) && contact->gap < -sti_margin_of(model, contact) &&
                       !is_explained(model->world, state, work, at, contact);
    const bool fine = (held && !other) || (!known && held_nearby(model, work, at, contact));
    return (Miss){!fine, known, other};
}

/* Contacts of the end of an attempt, in parts: in which of them is one that it missed? */
typedef struct Search {
    const sti_Model *model;
    const sti_State *state;
    sti_StepWork *work;
    double allowed;
    bool any[STI_PARTS];
} Search;

static bool is_deeper_than_allowed(const Search *search, const sti_ContactEntry *contact)
{
    const sti_IdSet *missed = &search->work->ahead.missed;
    return !(contact->gap >= -search->allowed) && (missed->n == 0 || !sti_ids_contain(missed, contact->id));
}

/* Contacts at the end, contacts at the state and wanted contacts are all sorted by id, so one pass merges the three
 * lists. */
static void search_part(void *ctx, int part, int64_t first, int64_t end)
{
    Search *search = ctx;
    const sti_Model *model = search->model;
    const sti_State *state = search->state;
    const sti_StepWork *work = search->work;
    const st_Sink *here = &work->here;
    const sti_IdSet *wanted = &work->wanted;
    const uint64_t begin = first < end ? work->trial.contact[first].id : 0;
    int at = sti_row_buffer_lower(here, begin), w = sti_ids_lower(wanted, begin);
    search->any[part] = false;
    for (int c = (int)first; c < (int)end && !search->any[part]; c++) {
        const sti_ContactEntry *contact = &work->trial.contact[c];
        if (!is_deeper_than_allowed(search, contact)) continue;
        while (at < here->n_contacts && here->contact[at].id < contact->id)
            at++;
        while (w < wanted->n && wanted->id[w] < contact->id)
            w++;
        search->any[part] =
            look_at(model, state, work, contact, at, w < wanted->n && wanted->id[w] == contact->id).missed;
    }
}

static st_Status note_part(const Search *search, int first, int end, int *n_new, st_Error *err)
{
    const sti_Model *model = search->model;
    const sti_State *state = search->state;
    sti_StepWork *work = search->work;
    for (int c = first; c < end; c++) {
        const sti_ContactEntry *contact = &work->trial.contact[c];
        if (!is_deeper_than_allowed(search, contact)) continue;
        const Miss miss = look_at(model, state, work, contact, sti_row_buffer_lower(&work->here, contact->id),
                                  sti_ids_contain(&work->wanted, contact->id));
        /* The last number of a feature, which no patch uses: for a point that has the name of another one. */
        const uint64_t id = miss.other ? (contact->id | (((uint64_t)1 << STI_FEATURE_BITS) - 1)) : contact->id;
        if (!miss.missed || (miss.other && sti_ids_contain(&work->ahead.missed, id))) continue;
        STI_TRY(sti_ids_add(&model->allocator, &work->ahead.missed, id, err));
        if (is_movable(model, work, contact) && (miss.other || !miss.known)) {
            /* A point that the narrow phase does not see from the state, since other faces or edges are nearer there: a
             * corner that turns into its neighbour within the step. It is kept as a contact of the state. */
            STI_TRY(STI_GROW(&model->allocator, work->ahead.found, work->ahead.found_capacity, work->ahead.n_found + 1,
                             err));
            sti_ContactEntry *found = &work->ahead.found[work->ahead.n_found++];
            *found = *contact;
            found->id = id;
            sti_contact_bring_back(model->world, work->q_new, state->q, found);
        }
        if (contact->gap < -sti_margin_of(model, contact)) work->ahead.missed_far = true;
        ++*n_new;
    }
    return ST_OK;
}

/* Contacts beyond the margin that the attempt ran into: to be chosen in the next attempt. */
st_Status sti_note_missed(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, int *n_new,
                          st_Error *err)
{
    const int n = work->trial.n_contacts;
    Search search;
    search.model = model, search.state = state, search.work = work,
    search.allowed = allowed_miss(model, state, work, h);
    *n_new = 0;
    work->ahead.missed_far = false;
    const int parts = sti_team_parts(model->def.threads, n, search_part, &search);
    for (int k = 0; k < parts; k++)
        if (search.any[k])
            STI_TRY(note_part(&search, (int)sti_part_first(n, k), (int)sti_part_first(n, k + 1), n_new, err));
    return ST_OK;
}

static int by_contact_id(const void *a, const void *b)
{
    const sti_ContactEntry *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* The points kept so far, merged into those of the state by id: heaps that overlap bring back ten thousands. */
st_Status sti_bring_back(sti_StepWork *work, st_Error *err)
{
    st_Sink *here = &work->here;
    sti_ContactEntry *found = work->ahead.found;
    const int n = here->n_contacts, n_found = work->ahead.n_found;
    int n_new = 0;
    if (n_found > 1) qsort(found, (size_t)n_found, sizeof *found, by_contact_id);
    for (int k = 0; k < n_found; k++)
        n_new += sti_row_buffer_find(here, found[k].id) < 0;
    STI_TRY(STI_GROW(&here->allocator, here->contact, here->contact_capacity, n + n_new, err));
    for (int at = n - 1, to = n + n_new - 1, k = n_found - 1; to > at;) { /* from the end: to - at points are missing */
        if (at >= 0 && here->contact[at].id == found[k].id)
            k--;
        else if (at >= 0 && here->contact[at].id > found[k].id)
            here->contact[to--] = here->contact[at--];
        else
            here->contact[to--] = found[k--];
    }
    here->n_contacts = n + n_new;
    return ST_OK;
}

/* Contacts that separate leave the active set: after steps with h > 0 only, see docs/methods.md 5. */
st_Status sti_drop_separated(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    double fastest = 0;
    for (int i = 0; i < model->n_v; i++)
        fastest = fmax(fastest, fabs(work->v_new[i]));
    work->active_new.n = 0;
    for (int c = 0; c < step->n_gaps; c++)
        if (step->u[step->law[c].first] <= STI_SEPARATION_SPEED * (1 + fastest))
            STI_TRY(sti_ids_add(&model->allocator, &work->active_new, step->chosen[c].entry.id, err));
    return ST_OK;
}

/* After an impact, contacts that rebound leave the active set, or a bounce shorter than the step would be held
 * down. The trapezoid's form II keeps them to the end of the step, as its paper does, and with v+ = -v its position
 * stays. Form I would end such a step with v+ = 0 at the height h v/2. Contacts without restitution stay, see above. */
st_Status sti_drop_rebounding(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    const st_SystemDef *def = &model->def;
    const bool keeps =
        sti_integrator(model)->order == 1 || (def->integrator == ST_INTEGRATOR_TRAPEZOID && def->form == ST_FORM_II);
    const double slow = opens_slowly(model) ? STI_SEPARATION_SPEED : def->restitution_speed;
    if (keeps || work->events.over_limit) return ST_OK;
    state->active.n = 0;
    for (int c = 0; c < step->n_gaps; c++) {
        const sti_ContactEntry *entry = &step->chosen[c].entry;
        double speed = sti_row_dot(&step->H, step->law[c].first, work->v_new);
        if (entry->surface->restitution > 0 && speed > slow) continue;
        STI_TRY(sti_ids_add(&model->allocator, &state->active, entry->id, err));
    }
    return ST_OK;
}

st_Status sti_activate_touching(const sti_Model *model, sti_StepWork *work, double gap, st_Error *err)
{
    for (int c = 0; c < work->trial.n_contacts; c++)
        if (work->trial.contact[c].gap <= gap)
            STI_TRY(sti_ids_add(&model->allocator, &work->active_new, work->trial.contact[c].id, err));
    return ST_OK;
}

/* The contacts that carry at the end of the step, into loaded_new: schemes of order two ask for them. */
st_Status sti_note_loaded(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    work->loaded_new.n = 0;
    for (int c = 0; c < step->n_gaps && sti_integrator(model)->order > 1; c++)
        if (step->r[step->law[c].first] > 0)
            STI_TRY(sti_ids_add(&model->allocator, &work->loaded_new, step->chosen[c].entry.id, err));
    return ST_OK;
}

/* ---- sets of ids -------------------------------------------------------------------------------- */

/* Sets of contact ids, sorted. */

int sti_ids_lower(const sti_IdSet *set, uint64_t id)
{
    int lo = 0, hi = set->n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (set->id[middle] < id)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

bool sti_ids_contain(const sti_IdSet *set, uint64_t id)
{
    const int at = sti_ids_lower(set, id);
    return at < set->n && set->id[at] == id;
}

st_Status sti_ids_add(const st_Allocator *allocator, sti_IdSet *set, uint64_t id, st_Error *err)
{
    bool last = set->n == 0 || set->id[set->n - 1] < id; /* mostly they come in order */
    if (!last && sti_ids_contain(set, id)) return ST_OK;
    if (set->n == set->capacity) STI_TRY(STI_GROW(allocator, set->id, set->capacity, set->n + 1, err));
    int k = set->n++;
    for (; k > 0 && set->id[k - 1] > id; k--)
        set->id[k] = set->id[k - 1];
    set->id[k] = id;
    return ST_OK;
}

st_Status sti_ids_copy(const st_Allocator *allocator, sti_IdSet *to, const sti_IdSet *from, st_Error *err)
{
    STI_TRY(STI_GROW(allocator, to->id, to->capacity, from->n, err));
    if (from->n > 0) memcpy(to->id, from->id, (size_t)from->n * sizeof *to->id);
    to->n = from->n;
    return ST_OK;
}
