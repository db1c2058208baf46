/* step/events/collision_event.c -- collisions: the first root of the gaps on the path from q to q_new.
 *
 * The path of Euler's methods is straight, q(s) = move(q, v+, s h). Integrators of order two need it to O(h^3). Theirs
 * is the cubic through q and q_new with the velocities v and v_new at its ends (PAGT eq. 7.2, PAGT eq. 7.3). It is
 * written in velocity coordinates x(s): q(s) = move(q, x(s), 1), and v(s) = x'(s)/h is the velocity there. On rotations
 * x' differs from h w by O(h^3), which does not change the order.
 *
 * The step problem holds contacts in the active set, so they do not collide. For the other contacts let
 *
 *     F(s) = min( margin, smallest gap at q(s) )
 *
 * F is continuous, not negative at 0, and negative after a collision. F at the end of the step does not suffice: a fast
 * or thin body may have passed through another one. Shapes are therefore followed in advances, each so short that no
 * two shapes can touch in it (conservative_advancement.c). Without fast bodies one advance covers the step. For a
 * user's model only values and rates of gaps are known: a gap that closes at the start and opens at the end is
 * evaluated at the minimum of the cubic through both (docs/methods.md 8). A root search then finds the sign change
 * between the last place without overlap and the first place with one. It is the first collision unless a gap opens
 * again in between.
 */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/events/events.h"
#include "step/step.h"

/* q(s), and v(s) if v is not NULL; v may be v_new. */
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
        const double mean =
            work->stages.straight ? 0.5 * (v0[i] + v1[i]) : d[i] / h; /* impulses.c sums to the same mean */
        v[i] = rate_v0 * v0[i] + rate_v1 * v1[i] + rate_d * mean;
    }
}

/* The step along which F is evaluated. */
typedef struct Way {
    const sti_Model *model;
    const sti_State *state;
    sti_StepWork *work;
    double h, margin;
    bool ahead;   /* also find contacts beyond the margin that the rest of the path can reach */
    bool passing; /* overlaps at the start do not count: they may be gone at the end          */
} Way;

/* F changes its sign between lo and hi; F_hi >= 0: it does not. */
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

/* F at a position on the path: evaluates the contacts of `trial` there. */
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
    sti_Foresight ahead = {.h = 0};
    if (way->ahead) ahead = (sti_Foresight){(1 - s) * way->h, {work->v_new, state->v}};
    const st_Status status =
        sti_find_contacts(model, state->t + s * way->h, work->lookout.q, way->margin, &ahead, sink, err);
    *F = smallest_of(way, sink);
    return status;
}

/* Bound on the change of a gap along the path. */
static double largest_gap_change(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h)
{
    const st_Model *table = &model->table;
    if (table->reach == NULL) return INFINITY;
    return fmax(table->reach(table->ctx, state->q, work->v_new, h), table->reach(table->ctx, state->q, state->v, h));
}

/* ---- shapes ------------------------------------------------------------------------------------ */

/* The first CAREFUL advances use one skin. After them, each advance may overlap twice as deep as the one before. */
enum { CAREFUL = 32, LOOKS = 100 };

/* Advances along the path to the first overlap or to the end. */
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
    /* Contacts that overlap at the start and are not held. */
    work->lookout.under.n = 0;
    for (int c = 0; c < seen->n_contacts; c++)
        if (seen->contact[c].gap < -model->def.active_gap && !sti_ids_contain(&state->active, seen->contact[c].id))
            STI_TRY(sti_ids_add(&model->allocator, &work->lookout.under, seen->contact[c].id, err));
    way->passing = true;
    bracket->F_hi = smallest_of(way, seen);
    for (int look = 0; bracket->hi < 1 && bracket->F_hi >= -model->def.active_gap; look++, seen = &work->trial) {
        /* One advance from bracket->hi, which is without overlap; `seen` has the contacts there. */
        const double patience = look <= CAREFUL ? 1 : exp2(look - CAREFUL);
        const double next = sti_earliest_touch(way->model, way->state, way->work, seen, way->h, bracket->hi, patience);
        bracket->lo = bracket->hi, bracket->F_lo = bracket->F_hi;
        bracket->hi = next < 1 && look < LOOKS ? next : 1;
        if (bracket->hi == 1) way->margin = 0, way->ahead = way->passing = false; /* the end of the path */
        STI_TRY(smallest_gap(way, bracket->hi, &bracket->F_hi, err));
    }
    if (work->lookout.under.n > 0 && !way->passing) bracket->lo = 0, bracket->F_lo = F_start;
    return ST_OK;
}

/* ---- gaps of a user's model -------------------------------------------------------------------- */

/* Place and value of the minimum of the cubic with values p and slopes m at 0 and 1. Its slope is a parabola with one
 * root, because m0 < 0 < m1. */
static double lowest_of_cubic(double p0, double m0, double p1, double m1, double *least)
{
    const double a = 3 * (m0 + m1) - 6 * (p1 - p0), b = 6 * (p1 - p0) - 4 * m0 - 2 * m1; /* m0 + b s + a s^2 */
    const double root = sqrt(fmax(b * b - 4 * a * m0, 0));
    const double s = b > 0 ? -2 * m0 / (b + root) : (root - b) / (2 * a);
    const double other = 1 - s;
    *least = (1 + 2 * s) * other * other * p0 + s * other * other * m0 + s * s * (3 - 2 * s) * p1 - s * s * other * m1;
    return s;
}

/* Evaluates F at the end of the step, and at the first place where a gap may have closed and opened again. */
static st_Status look_between(Way *way, Bracket *bracket, st_Error *err)
{
    const sti_Model *model = way->model;
    const sti_State *state = way->state;
    sti_StepWork *work = way->work;
    way->margin = fmax(largest_gap_change(model, state, work, way->h), sti_margin(model));
    bracket->lo = 0, bracket->hi = 1;
    STI_TRY(smallest_gap(way, 1, &bracket->F_hi, err));
    /* Gaps of `trial` that open at the end of the path. */
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
    /* The first place at which a gap may be negative that closes at the start (in `trial`) and opens at the end; 1:
     * none. Both lists are sorted by id. */
    const double *v = sti_integrator(model)->order == 1 ? work->v_new : state->v;
    double dip = 1, least;
    for (int c = 0, k = 0; c < sink->n_contacts; c++) {
        const sti_ContactEntry *contact = &sink->contact[c];
        while (k < work->lookout.n_opening && work->lookout.opening[k].id < contact->id)
            k++;
        if (k == work->lookout.n_opening || work->lookout.opening[k].id != contact->id) continue;
        const double rate = sti_row_dot(&sink->contact_rows, contact->first_row, v);
        if (rate >= 0) continue;
        const sti_Opening *end = &work->lookout.opening[k];
        double s = lowest_of_cubic(contact->gap, way->h * rate, end->gap, way->h * end->rate, &least);
        if (least < -model->def.active_gap) dip = fmin(dip, s);
    }
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
    /* Not the difference of q and q_new: over a short piece its rounding is a velocity. */
    for (int i = 0; sti_integrator(model)->order > 1 && i < model->n_v; i++)
        work->lookout.path[i] = work->stages.moved_for * work->stages.moved[i];
    STI_TRY(model->rigid ? follow_shapes(&way, &at, err) : look_between(&way, &at, err));
    if (at.F_hi >= -tolerance) return ST_OK;
    way.ahead = false;
    way.margin = fmax(-at.F_hi, tolerance); /* so large that secants use the slope of the gap */
    at.F_lo = fmin(at.F_lo, way.margin);
    if (at.F_lo <= STI_COLLISION_GAP) {
        /* A contact that rebounds starts at gap 0, opens and closes again: find a place with an open gap before it
         * closes. */
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
