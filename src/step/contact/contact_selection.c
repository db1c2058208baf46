/* step/contact/contact_selection.c -- the contacts of a step problem. Three ways to choose them:
 *
 *     drift gap, events off all closer than `margin`, and those that an attempt at the step ran into; events off those
 *     with a gap below `active_gap`; events located the active set: entered at a collision, left when they separate.
 */
#include "base/tolerance.h"
#include "math/parallel.h"
#include "step/contact/contact.h"
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

/* May a contact whose gap opens slowly stay active? Form II may hold it: v+ = -v, and the position stays. Other schemes
 * end the step with v+ = 0 above the surface, and need drift correction to close the gap again. */
static bool opens_slowly(const sti_Model *model)
{
    const st_SystemDef *def = &model->def;
    const bool mean_law = def->integrator == ST_INTEGRATOR_TRAPEZOID && def->form == ST_FORM_II;
    return def->drift == ST_DRIFT_VELOCITY && sti_integrator(model)->order > 1 && !mean_law;
}

/* With events off the active set contains all contacts that touch now. With events located it also gets contacts that
 * close more slowly than restitution_speed, which make no impact. */
st_Status sti_refresh_active(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    const st_Sink *here = &work->here;
    st_Events events = model->def.events;
    if (events == ST_EVENTS_OFF) state->active.n = 0;
    if (model->def.drift == ST_DRIFT_VELOCITY) {
        /* PAGT eq. 7.1: a contact is active up to a gap of max(eps_a, eps_b h^3). With drift `velocity` no
         * other rule removes a contact that was held while its gap opened: the body would hang in the air. Gaps of
         * O(h^3) are errors of the scheme, and these contacts stay active. */
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

/* The smallest number of contacts per thread in these loops. */
enum { LEAST = 2048 };

/* The rule uses only gaps and velocities of the state, so that a continued run and a restored run choose the same
 * contacts. Each attempt at a step keeps the contacts of the attempt before it. */
typedef struct Want {
    const sti_Model *model;
    const sti_State *state;
    sti_StepWork *work;
    double h, margin;
    bool speculative;
    sti_Places places;
    int n; /* number of chosen contacts */
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
    want->places.count[thread] = count; /* the threads after this one read it; the last count is not read */
    sti_team_wait(n_threads);
    uint64_t *to = want->work->wanted.id + sti_places_before(&want->places, thread);
    for (int c = first; c < end; c++)
        if (is_wanted(want, &here->contact[c])) *to++ = here->contact[c].id; /* sorted by id */
    if (thread == n_threads - 1) want->n = (int)(to - want->work->wanted.id);
}

st_Status sti_select_contacts(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h,
                              st_Error *err)
{
    Want want;
    want.model = model, want.state = state, want.work = work, want.h = h, want.n = 0;
    want.speculative = sti_speculative(model), want.margin = sti_margin(model);
    work->wanted.n = 0;
    if (work->here.n_contacts == 0) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, work->wanted.id, work->wanted.capacity, work->here.n_contacts, err));
    const int threads = work->here.n_contacts / LEAST;
    sti_team_run(threads < model->def.threads ? threads : model->def.threads, want_share, &want);
    work->wanted.n = want.n;
    return ST_OK;
}

/* Did the step problem have another contact of the same two shapes? The contact points of two faces change during the
 * motion, and a new point beside an old one was not missed. Contacts of two shapes are adjacent in the list. */
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

/* Does another contact of the same two shapes, which was in the step problem, explain this overlap because it ended as
 * deep? Contacts of two shapes are adjacent in the list. */
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
    bool known; /* the contact is also in the list of the state */
    bool other; /* the contact was in the problem, but its point moved: the deepest point of two shapes keeps its id
                   when it moves */
} Miss;

/* `at` is the index of the contact's id in the list of the state, or the index at which it would be inserted. Points
 * are added to the state only with schemes of one stage, which uses the contacts of the state and computes their rows
 * itself. */
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

/* The search for missed contacts, over parts of the list at the end of an attempt. */
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

/* Finds contacts beyond the margin that the attempt ran into. The next attempt includes them. */
st_Status sti_note_missed(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, int *n_new,
                          st_Error *err)
{
    const int n = work->trial.n_contacts;
    Search search;
    /* Overlaps up to this depth, at contacts that were not in the problem, are ignored. The solver's tolerance for
     * velocities is relative, and so is this depth. */
    const st_Model *table = &model->table;
    double way = table->reach != NULL ? 0.5 * table->reach(table->ctx, state->q, work->v_new, h) : 0;
    search.model = model, search.state = state, search.work = work,
    search.allowed = fmax(model->overlap, isfinite(way) ? model->def.tolerance * way : 0);
    *n_new = 0;
    work->ahead.missed_far = false;
    const int parts = sti_team_parts(model->def.threads, n, search_part, &search);
    for (int k = 0; k < parts; k++) {
        if (!search.any[k]) continue;
        for (int c = (int)sti_part_first(n, k); c < (int)sti_part_first(n, k + 1); c++) {
            const sti_ContactEntry *contact = &work->trial.contact[c];
            if (!is_deeper_than_allowed(&search, contact)) continue;
            const Miss miss = look_at(model, state, work, contact, sti_row_buffer_lower(&work->here, contact->id),
                                      sti_ids_contain(&work->wanted, contact->id));
            /* The largest feature number, which no contact polygon uses, marks a point whose id is already used by
             * another point. */
            const uint64_t id = miss.other ? (contact->id | (((uint64_t)1 << STI_FEATURE_BITS) - 1)) : contact->id;
            if (!miss.missed || (miss.other && sti_ids_contain(&work->ahead.missed, id))) continue;
            STI_TRY(sti_ids_add(&model->allocator, &work->ahead.missed, id, err));
            if (is_movable(model, work, contact) && (miss.other || !miss.known)) {
                /* The narrow phase does not find this point at the state, because other faces or edges are nearer
                 * there: for example a corner that turns into its neighbour within the step. It is added to the
                 * contacts of the state. */
                STI_TRY(STI_GROW(&model->allocator, work->ahead.found, work->ahead.found_capacity,
                                 work->ahead.n_found + 1, err));
                sti_ContactEntry *found = &work->ahead.found[work->ahead.n_found++];
                *found = *contact;
                found->id = id;
                sti_contact_bring_back(model->world, work->q_new, state->q, found);
            }
            if (contact->gap < -sti_margin_of(model, contact)) work->ahead.missed_far = true;
            ++*n_new;
        }
    }
    return ST_OK;
}

static int by_contact_id(const void *a, const void *b)
{
    const sti_ContactEntry *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* Merges the points found so far into the contacts of the state, by id. Overlapping heaps have tens of thousands of
 * such points. */
st_Status sti_add_missed_contacts(sti_StepWork *work, st_Error *err)
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
            STI_TRY(sti_ids_add(&model->allocator, &work->active_new, step->chosen[c].entry->id, err));
    return ST_OK;
}

/* After an impact, contacts that rebound leave the active set. Otherwise a bounce shorter than the step would be
 * suppressed. The trapezoid's form II keeps them to the end of the step, as in its paper; with v+ = -v the position
 * stays. Form I would end such a step with v+ = 0 at the height h v/2. Contacts without restitution stay active, as
 * explained above. */
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
        const sti_ContactEntry *entry = step->chosen[c].entry;
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

/* Stores the contacts that carry a load at the end of the step in loaded_new. Schemes of order two read it. */
st_Status sti_note_loaded(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    work->loaded_new.n = 0;
    for (int c = 0; c < step->n_gaps && sti_integrator(model)->order > 1; c++)
        if (step->r[step->law[c].first] > 0)
            STI_TRY(sti_ids_add(&model->allocator, &work->loaded_new, step->chosen[c].entry->id, err));
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
    bool last = set->n == 0 || set->id[set->n - 1] < id; /* ids usually arrive in ascending order */
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
