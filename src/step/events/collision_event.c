/* step/events/collision_event.c -- collisions: the first root of the gaps on the way from q to q_new.
 *
 * The way of Euler's schemes is straight, q(s) = move(q, v+, s h). Those of order two need it to O(h^3): the
 * cubic through q, q_new with the velocities v, v_new at its ends (Potra et al. 2006, eq. 7.2-7.3), written in
 * the velocity coordinates x(s) of the way, q(s) = move(q, x(s), 1); v(s) = x'(s)/h is the velocity there. On
 * rotations x' differs from h w by O(h^3), which the order does not see.
 *
 * Contacts in the active set are held by the step problem and do not collide. For the others let
 *
 *     F(s) = min( margin, smallest gap at q(s) )
 *
 * which is continuous, not negative at 0 and negative where something was run into. The end of the step alone does not
 * show that: what is fast or thin is through by then. Shapes are so followed from place to place, each as far as
 * nothing can have happened (conservative_advancement.c); where nothing is fast that is the whole step. Of the gaps of
 * a user's model only values and rates are known: a gap that closes at the start and opens at the end is looked at
 * where the cubic through both has its minimum (docs/methods.md 8). Between the last place without overlap and the
 * first with one the sign change that is kept at each halving is the first one as long as no gap opens again there.
 */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/events/events.h"
#include "step/step.h"

/* q(s), and v(s) where v is not NULL; v may be v_new. */
void sti_path(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h, double s, double *q,
              double *v)
{
    if (sti_integrator(model)->order == 1) {
        sti_move(model, state->q, work->v_new, s * h, q);
        return;
    }
    double *x = work->lookout.moved;
    const double *v0 = state->v, *v1 = work->v_new, *d = work->lookout.path;
    double at_v0 = s * (1 - s) * (1 - s), at_d = s * s * (3 - 2 * s), at_v1 = s * s * (s - 1);
    for (int i = 0; i < model->n_v; i++)
        x[i] = h * (at_v0 * v0[i] + at_v1 * v1[i]) + at_d * d[i];
    sti_move(model, state->q, x, 1.0, q);
    double rate_v0 = (1 - s) * (1 - 3 * s), rate_d = 6 * s * (1 - s), rate_v1 = s * (3 * s - 2);
    for (int i = 0; v != NULL && i < model->n_v; i++) {
        const double mean = work->stages.straight ? 0.5 * (v0[i] + v1[i]) : d[i] / h; /* impulses.c adds up to it */
        v[i] = rate_v0 * v0[i] + rate_v1 * v1[i] + rate_d * mean;
    }
}

/* The step along which F is looked at. */
typedef struct Way {
    const sti_Model *model;
    const sti_State *state;
    sti_StepWork *work;
    double h, margin;
    bool ahead;   /* contacts beyond the margin matter, too, as far as the rest of the way leads       */
    bool passing; /* what overlaps at the start does not count: it may have come out at the end        */
} Way;

/* Where F changes its sign; F_hi >= 0: nowhere. */
typedef struct Bracket {
    double lo, hi, F_lo, F_hi;
} Bracket;

static double smallest_of(const Way *way, const st_Sink *sink)
{
    const sti_State *state = way->state;
    const sti_StepWork *work = way->work;
    double F = way->margin;
    for (int c = 0; c < sink->n_contacts; c++) {
        const uint64_t id = sink->contact[c].id;
        if (sti_ids_contain(&state->active, id) || (way->passing && sti_ids_contain(&work->lookout.under, id)))
            continue;
        F = fmin(F, sink->contact[c].gap);
    }
    return F;
}

/* F at a position on the way: evaluates the contacts of `trial` there. */
static st_Status smallest_gap(void *ctx, double s, double *F, st_Error *err)
{
    const Way *way = ctx;
    const sti_Model *model = way->model;
    const sti_State *state = way->state;
    sti_StepWork *work = way->work;
    const st_Model *table = &model->table;
    st_Sink *sink = &work->trial;
    if (s < 1)
        sti_path(model, state, work, way->h, s, work->lookout.q, NULL);
    else
        memcpy(work->lookout.q, work->q_new, (size_t)table->n_q * sizeof *work->q_new);
    sti_row_buffer_clear_contacts(sink);
    if (way->ahead) model->world->collider.ahead = (sti_Foresight){(1 - s) * way->h, {work->v_new, state->v}};
    st_Status status = table->contacts(table->ctx, state->t + s * way->h, work->lookout.q, way->margin, sink, err);
    if (way->ahead) model->world->collider.ahead = (sti_Foresight){.h = 0};
    *F = smallest_of(way, sink);
    return status;
}

/* How much a gap can change on the way. */
static double largest_gap_change(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h)
{
    const st_Model *table = &model->table;
    if (table->reach == NULL) return INFINITY;
    return fmax(table->reach(table->ctx, state->q, work->v_new, h), table->reach(table->ctx, state->q, state->v, h));
}

/* ---- shapes ------------------------------------------------------------------------------------ */

/* Looks that go no farther than they must; behind them each may go twice as far into a shape as the one before. */
enum { CAREFUL = 32, LOOKS = 100 };

/* The next look, behind those that led to bracket->hi without overlap and showed `seen`. */
static st_Status look_on(Way *way, int look, const st_Sink *seen, Bracket *bracket, st_Error *err)
{
    const double patience = look <= CAREFUL ? 1 : exp2(look - CAREFUL);
    const double next = sti_earliest_touch(way->model, way->state, way->work, seen, way->h, bracket->hi, patience);
    bracket->lo = bracket->hi, bracket->F_lo = bracket->F_hi;
    bracket->hi = next < 1 && look < LOOKS ? next : 1;
    if (bracket->hi == 1) way->margin = 0, way->ahead = way->passing = false; /* nothing follows it */
    return smallest_gap(way, bracket->hi, &bracket->F_hi, err);
}

/* From place to place along the way, to the first overlap or to the end. */
static st_Status follow_shapes(Way *way, Bracket *bracket, st_Error *err)
{
    const sti_Model *model = way->model;
    const sti_State *state = way->state;
    sti_StepWork *work = way->work;
    const st_Sink *seen = &work->here;
    way->margin = sti_margin(model);
    way->ahead = largest_gap_change(model, state, work, way->h) > way->margin;
    *bracket = (Bracket){.F_hi = smallest_of(way, seen)};
    if (way->ahead) {
        STI_TRY(smallest_gap(way, 0, &bracket->F_hi, err));
        seen = &work->trial;
    }
    const double F_start = bracket->F_hi;
    /* What overlaps at the start, and is not held. */
    work->lookout.under.n = 0;
    for (int c = 0; c < seen->n_contacts; c++)
        if (seen->contact[c].gap < -model->def.active_gap && !sti_ids_contain(&state->active, seen->contact[c].id))
            STI_TRY(sti_ids_add(&model->allocator, &work->lookout.under, seen->contact[c].id, err));
    way->passing = true;
    bracket->F_hi = smallest_of(way, seen);
    for (int look = 0; bracket->hi < 1 && bracket->F_hi >= -model->def.active_gap; look++, seen = &work->trial)
        STI_TRY(look_on(way, look, seen, bracket, err));
    if (work->lookout.under.n > 0 && !way->passing) bracket->lo = 0, bracket->F_lo = F_start;
    return ST_OK;
}

/* ---- gaps of a user's model -------------------------------------------------------------------- */

/* Where the cubic with the values p and the slopes m at 0 and 1 has its minimum, and which it is. Its slope goes up
 * from m0 < 0 to m1 > 0, a parabola with one root in between.                                      */
static double lowest_of_cubic(double p0, double m0, double p1, double m1, double *least)
{
    const double a = 3 * (m0 + m1) - 6 * (p1 - p0), b = 6 * (p1 - p0) - 4 * m0 - 2 * m1; /* m0 + b s + a s^2 */
    const double root = sqrt(fmax(b * b - 4 * a * m0, 0));
    const double s = b > 0 ? -2 * m0 / (b + root) : (root - b) / (2 * a);
    const double other = 1 - s;
    *least = (1 + 2 * s) * other * other * p0 + s * other * other * m0 + s * s * (3 - 2 * s) * p1 - s * s * other * m1;
    return s;
}

/* The first place where a gap that closes at the start, in `trial`, and opens at the end may be negative in between; 1:
 * there is none. Both lists stand by id.                                                         */
static double first_dip(const Way *way)
{
    const sti_Model *model = way->model;
    const sti_State *state = way->state;
    const sti_StepWork *work = way->work;
    const st_Sink *sink = &work->trial;
    const double *v = sti_integrator(model)->order == 1 ? work->v_new : state->v;
    double first = 1, least;
    for (int c = 0, k = 0; c < sink->n_contacts; c++) {
        const sti_ContactEntry *contact = &sink->contact[c];
        while (k < work->lookout.n_opening && work->lookout.opening[k].id < contact->id)
            k++;
        if (k == work->lookout.n_opening || work->lookout.opening[k].id != contact->id) continue;
        const double rate = sti_row_dot(&sink->contact_rows, contact->first_row, v);
        if (rate >= 0) continue;
        const sti_Opening *end = &work->lookout.opening[k];
        double s = lowest_of_cubic(contact->gap, way->h * rate, end->gap, way->h * end->rate, &least);
        if (least < -model->def.active_gap) first = fmin(first, s);
    }
    return first;
}

/* The end of the step, and before it the first gap that closes and opens again. */
static st_Status look_between(Way *way, Bracket *bracket, st_Error *err)
{
    const sti_Model *model = way->model;
    const sti_State *state = way->state;
    sti_StepWork *work = way->work;
    way->margin = fmax(largest_gap_change(model, state, work, way->h), sti_margin(model));
    bracket->lo = 0, bracket->hi = 1;
    STI_TRY(smallest_gap(way, 1, &bracket->F_hi, err));
    /* Gaps of `trial`, at the end of the way, that open there. */
    const st_Sink *sink = &work->trial;
    work->lookout.n_opening = 0;
    STI_TRY(STI_GROW(&model->allocator, work->lookout.opening, work->lookout.capacity, sink->n_contacts, err));
    for (int c = 0; c < sink->n_contacts; c++) {
        const sti_ContactEntry *contact = &sink->contact[c];
        const double rate = sti_row_dot(&sink->contact_rows, contact->first_row, work->v_new);
        if (rate > 0 && !sti_ids_contain(&state->active, contact->id))
            work->lookout.opening[work->lookout.n_opening++] = (sti_Opening){contact->id, contact->gap, rate};
    }
    if (bracket->F_hi >= -model->def.active_gap && work->lookout.n_opening == 0) return ST_OK;
    STI_TRY(smallest_gap(way, 0, &bracket->F_lo, err));
    const double dip = first_dip(way);
    if (dip < 1) {
        double F;
        STI_TRY(smallest_gap(way, dip, &F, err));
        if (F < -model->def.active_gap) bracket->hi = dip, bracket->F_hi = F;
    }
    return ST_OK;
}

/* ---- the collision ------------------------------------------------------------------------------ */

st_Status sti_find_collision(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, double *s,
                             st_Error *err)
{
    const double tolerance = model->def.active_gap;
    Way way = {.model = model, .state = state, .work = work, .h = h};
    Bracket at = {.hi = 1};
    *s = 1;
    if (model->table.contacts == NULL) return ST_OK;
    if (sti_integrator(model)->order > 1) sti_difference(model, state->q, work->q_new, work->lookout.path);
    STI_TRY(model->rigid ? follow_shapes(&way, &at, err) : look_between(&way, &at, err));
    if (at.F_hi >= -tolerance) return ST_OK;
    way.ahead = false;
    way.margin = fmax(-at.F_hi, tolerance); /* enough for the secants to see where the gap closes */
    at.F_lo = fmin(at.F_lo, way.margin);
    if (at.F_lo <= STI_COLLISION_GAP) {
        /* A contact that rebounds starts at gap 0, opens and closes again: find the place after which it closes. */
        if (sti_integrator(way.model)->order != 1) {
            double width = at.hi - at.lo, fraction = at.lo, F = 0;
            for (int k = 0; k < 40 && !(F > STI_COLLISION_GAP); k++) {
                width *= 0.5;
                fraction = at.lo + width;
                STI_TRY(smallest_gap(&way, fraction, &F, err));
            }
            if (F > STI_COLLISION_GAP) at.lo = fraction, at.F_lo = F;
        }
    }
    *s = at.lo;
    if (at.F_lo <= 0) return ST_OK;
    return sti_find_root(smallest_gap, &way, at.lo, at.hi, at.F_lo, at.F_hi, 1e-16, STI_COLLISION_GAP, s, err);
}

/* ---- reports ------------------------------------------------------------------------------------- */

st_Status sti_add_event(const sti_Model *model, sti_StepWork *work, const st_EventReport *event, st_Error *err)
{
    STI_TRY(STI_GROW(&model->allocator, work->events.report, work->events.capacity, work->events.n + 1, err));
    work->events.report[work->events.n++] = *event;
    return ST_OK;
}

const char *st_event_kind_name(st_EventKind kind)
{
    static const char *const names[ST_N_EVENT_KINDS] = {"collision", "take-off", "stick", "slip", "facet"};
    return (int)kind >= 0 && (int)kind < ST_N_EVENT_KINDS ? names[kind] : NULL;
}

int st_system_event_count(const st_System *system)
{
    return system->work.events.n;
}

st_Status st_system_event(const st_System *system, int index, st_EventReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    if (index < 0 || index >= system->work.events.n) return ST_ERR_ARGUMENT;
    *out = system->work.events.report[index];
    return ST_OK;
}
