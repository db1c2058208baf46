/* step/events/stick_slip.c -- finds take-off, stick, slip and changes of facet within a step.
 *
 * Every law is a set of complementary pairs (a, b), of which one is 0:
 *
 *     normal      r_n                    u_n
 *     friction    mu r_n - |r_T|         |u_T|              (pyramid: mu r_n - sum beta,  lambda)
 *     facet k     beta_k                 lambda + d_k'u_T   (pyramid in space, while sliding)
 *     bounded     min(hi - r, r - lo)    |u|                (motors, friction in joints)
 *
 * The mode of a contact lists which one is 0 in each pair. It corresponds to a basis of Lemke's method, but exists for
 * every law and solver (docs/methods.md 8; Potra et al. 2006 use the basis: PAGT eq. 7.12, PAGT eq. 7.13,
 * PAGT eq. 7.14, PAGT eq. 7.15). The indicator of a pair is
 *
 *     g = rho a/s - b,   rho the mobility, s the fraction of the step,
 *
 * It is continuous and has one sign as long as the mode lasts. With the signs of the step before, F(s) = min of +-g
 * after a step of length s h is positive up to the first transition. The velocity is that at the end of the step, also
 * in form II, whose laws hold for the mean; only sticking is decided by the mean. If sliding reverses at once, no pair
 * shows it in the plane or with a round cone: there u_T . (its direction before) is one more indicator. A pair with two
 * zeros at the start is ignored until one of them changes (redundant contacts, facets of a contact that slides along
 * one of them).
 *
 * Very short steps do not show modes: an error of O(h^3) in a velocity, over a step of 1e-6 h, is a large force. So the
 * first hundredth of a step (`event_step`) is not searched. A transition in it counts as one at its start, which costs
 * a hundredth of h^2.
 *
 * Form I of the trapezoid uses the function of its paper, F_shifted below.
 */
#include "base/tolerance.h"
#include "problem/law.h"
#include "step/events/events.h"
#include "step/step.h"

#define MAX_FACETS 256

/* The solution at one contact. */
typedef struct Contact {
    const st_ContactLaw *law;
    double n[2], T[2], u[2]; /* (rho r_n/s, u_n), rho r_T/s, u_T                      */
    double held[2];          /* velocity that is 0 while sticking; form II: the mean  */
    double slack;            /* bounded: rho/s times the distance to the nearer bound */
} Contact;

static Contact look_for_change(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int c,
                               double s)
{
    const sti_Assembly *step = &work->step;
    const st_ContactLaw *law = &step->law[c];
    double rho = sti_mobility(model, work, law->first) / s;
    Contact contact = {.law = law};
    if (law->law == ST_LAW_BOUNDED) {
        double r = step->r[law->first];
        contact.n[0] = INFINITY; /* never opens */
        contact.slack = rho * fmin(law->hi - r, r - law->lo);
        contact.u[0] = contact.held[0] = step->u[law->first];
        return contact;
    }
    contact.n[0] = rho * step->r[law->first];
    contact.n[1] = sti_row_dot(&step->H, law->first, work->v_new);
    for (int k = 1; k < law->dim && k < 3; k++) {
        const double belt = step->w[law->first + k];
        contact.T[k - 1] = rho * step->r[law->first + k];
        contact.u[k - 1] = contact.held[k - 1] = sti_row_dot(&step->H, law->first + k, work->v_new) + belt;
        /* The laws of form II hold for (v + v+)/2. */
        if (!(model->def.integrator == ST_INTEGRATOR_TRAPEZOID && model->def.form == ST_FORM_II)) continue;
        contact.held[k - 1] = 0.5 * (contact.u[k - 1] + sti_row_dot(&step->H, law->first + k, state->v) + belt);
    }
    return contact;
}

static bool has_facets(const st_ContactLaw *law)
{
    return law->law == ST_LAW_PYRAMID && law->dim == 3 && law->facets <= MAX_FACETS;
}

/* lambda = max_k -d_k'u. */
static double facet_speed(const st_ContactLaw *law, const double u[2])
{
    double largest = 0, d[2];
    for (int k = 0; k < law->facets; k++) {
        sti_law_facet(law, k, d);
        largest = fmax(largest, -(d[0] * u[0] + d[1] * u[1]));
    }
    return largest;
}

/* beta_k, if r_T is written as a sum along two neighbouring facets: 0 unless r_T lies beside facet k. With two facets,
 * which are opposite: the part of r_T along facet k. */
static double facet_force(const Contact *contact, int k)
{
    const st_ContactLaw *law = contact->law;
    double d[2], sum = 0;
    sti_law_facet(law, k, d);
    if (law->facets == 2) return fmax(0, d[0] * contact->T[0] + d[1] * contact->T[1]);
    for (int side = -1; side <= 1; side += 2) {
        double e[2];
        sti_law_facet(law, (k + side + law->facets) % law->facets, e);
        double det = d[0] * e[1] - d[1] * e[0];
        double on_d = (contact->T[0] * e[1] - contact->T[1] * e[0]) / det;
        double on_e = (d[0] * contact->T[1] - d[1] * contact->T[0]) / det;
        if (on_d > 0 && on_e >= 0) sum = fmax(sum, on_d);
    }
    return sum;
}

/* a of the friction pair: the reserve of friction. */
static double reserve_modes(const Contact *contact)
{
    double load = contact->law->mu * contact->n[0], sum = 0;
    if (contact->law->law == ST_LAW_BOUNDED) return contact->slack;
    if (!has_facets(contact->law)) return load - hypot(contact->T[0], contact->T[1]);
    for (int k = 0; k < contact->law->facets; k++)
        sum += facet_force(contact, k);
    return load - sum;
}

/* b of the friction pair, for a velocity of the contact. */
static double sliding_speed(const Contact *contact, const double u[2])
{
    return has_facets(contact->law) ? facet_speed(contact->law, u) : hypot(u[0], u[1]);
}

/* g of facet k, given lambda. */
static double facet_indicator(const Contact *contact, int k, double lambda)
{
    double d[2];
    sti_law_facet(contact->law, k, d);
    return facet_force(contact, k) - (lambda + d[0] * contact->u[0] + d[1] * contact->u[1]);
}

/* Indicators within `nil` of 0 are ignored. */
static sti_Mode mode_of(const Contact *contact, uint64_t id, double nil)
{
    sti_Mode mode = {.id = id, .closed = contact->n[0] - contact->n[1] > nil};
    if (!mode.closed || !(contact->law->dim > 1 || contact->law->law == ST_LAW_BOUNDED)) return mode;
    mode.sticking = reserve_modes(contact) > nil;
    mode.slipping = !mode.sticking && sliding_speed(contact, contact->held) > nil;
    if (!mode.slipping) return mode;
    double speed = hypot(contact->u[0], contact->u[1]);
    for (int k = 0; k < 2; k++)
        mode.direction[k] = speed > 0 ? contact->u[k] / speed : 0.0;
    if (has_facets(contact->law)) {
        double lambda = facet_speed(contact->law, contact->u);
        for (int k = 0; k < contact->law->facets; k++) {
            double g = facet_indicator(contact, k, lambda);
            mode.pushing[k / 64] |= (uint64_t)(g > nil) << (k % 64);
            mode.idle[k / 64] |= (uint64_t)(g < -nil) << (k % 64);
        }
    }
    return mode;
}

/* F of one contact that was in this mode. *kind: the type of the nearest transition. */
static double indicator(const Contact *contact, const sti_Mode *mode, double nil, st_EventKind *kind)
{
    if (!mode->closed) return INFINITY;
    double F = contact->n[0] - contact->n[1], g;
    *kind = ST_EVENT_TAKEOFF;
    if (!mode->sticking && !mode->slipping) return F;
    double held = reserve_modes(contact);
    /* Form II sticks with a velocity that is not 0, v+ = -v. As long as there is a reserve, only the reserve counts. If
     * the load moved to another contact, as it may with redundant contacts, this one sticks as long as the mean is
     * 0. */
    if (mode->slipping)
        g = sliding_speed(contact, contact->u) - held;
    else
        g = held > nil ? held : -sliding_speed(contact, contact->held);
    if (g < F) F = g, *kind = mode->slipping ? ST_EVENT_STICK : ST_EVENT_SLIP;
    if (!mode->slipping) return F;
    if (!has_facets(contact->law)) {
        g = mode->direction[0] * contact->u[0] + mode->direction[1] * contact->u[1];
        if (g < F) F = g, *kind = ST_EVENT_STICK;
        return F;
    }
    double lambda = facet_speed(contact->law, contact->u);
    for (int k = 0; k < contact->law->facets; k++) {
        g = facet_indicator(contact, k, lambda);
        if (mode->idle[k / 64] >> (k % 64) & 1) g = -g;
        if (g < F && ((mode->pushing[k / 64] | mode->idle[k / 64]) >> (k % 64) & 1)) F = g, *kind = ST_EVENT_FACET;
    }
    if (lambda <= nil && *kind == ST_EVENT_FACET)
        *kind = ST_EVENT_STICK; /* if it stops, all of them become 0 at once */
    return F;
}

/* Velocities up to this value are rounding. */
static double nothing(const sti_Model *model, const sti_StepWork *work)
{
    double fastest = 0;
    for (int i = 0; i < model->n_v; i++)
        fastest = fmax(fastest, fabs(work->v_new[i]));
    return STI_SEPARATION_SPEED * (1 + fastest);
}

st_Status sti_note_modes(const sti_Model *model, const sti_State *state, sti_StepWork *work, double s, st_Error *err)
{
    int n = work->step.problem.n_contacts;
    STI_TRY(STI_GROW(&model->allocator, work->modes_new.at, work->modes_new.capacity, n, err));
    double nil = nothing(model, work);
    for (int c = 0; c < n; c++) {
        Contact contact = look_for_change(model, state, work, c, s);
        const sti_Chosen *chosen = &work->step.chosen[c];
        work->modes_new.at[c] =
            chosen->released ? (sti_Mode){.id = chosen->entry->id} : mode_of(&contact, chosen->entry->id, nil);
    }
    work->modes_new.n = n;
    return ST_OK;
}

/* The step that is searched. */
typedef struct Search {
    const sti_Model *model;
    sti_State *state;
    sti_StepWork *work;
    double h;
    st_StepInfo *info;
    int contact; /* the one with the smallest F */
    st_EventKind kind;
} Search;

/* F of the current solution. Both lists are sorted by id. */
static double smallest(Search *search, double s)
{
    const sti_Model *model = search->model;
    const sti_State *state = search->state;
    const sti_StepWork *work = search->work;
    const sti_Assembly *step = &work->step;
    double F = INFINITY, nil = nothing(model, work);
    for (int c = 0, m = 0; c < step->problem.n_contacts; c++) {
        uint64_t id = step->chosen[c].entry->id;
        while (m < state->modes.n && state->modes.at[m].id < id)
            m++;
        if (m == state->modes.n || state->modes.at[m].id != id) continue;
        st_EventKind kind = ST_EVENT_TAKEOFF;
        Contact contact = look_for_change(model, state, work, c, s);
        double F_c = indicator(&contact, &state->modes.at[m], nil, &kind);
        if (F_c < F) F = F_c, search->contact = c, search->kind = kind;
    }
    return F;
}

/* F after a step of length s h. */
static st_Status F_at(void *ctx, double s, double *F, st_Error *err)
{
    Search *search = ctx;
    STI_TRY(sti_integrate(search->model, search->state, search->work, s * search->h, search->info, err));
    *F = smallest(search, s);
    return ST_OK;
}

/* The function F of the paper, for its form I: F after a whole step that starts at the fraction s between the last
 * state and this one, on the linear interpolants PAGT eq. 7.10 and PAGT eq. 7.11 of position and velocity. s = 0 is the
 * last step, s = 1 this step. The root is the fraction of this step at which sliding ends. */
static st_Status F_shifted(void *ctx, double s, double *F, st_Error *err)
{
    Search *search = ctx;
    const sti_Model *model = search->model;
    sti_State *state = search->state;
    sti_StepWork *work = search->work;
    const sti_History *history = &state->history;
    double t = state->t, *q = state->q, *v = state->v;
    sti_difference(model, history->q, q, work->events.moved);
    for (int i = 0; i < model->n_v; i++)
        work->events.v_shifted[i] = 0.5 * (history->v[i] + v[i]);
    sti_count_turns(model, work->events.v_shifted, history->h, work->events.moved);
    sti_move(model, history->q, work->events.moved, s, work->events.q_shifted);
    for (int i = 0; i < model->n_v; i++)
        work->events.v_shifted[i] = history->v[i] + s * (v[i] - history->v[i]);
    state->t = t - (1 - s) * search->h;
    state->q = work->events.q_shifted, state->v = work->events.v_shifted;
    st_Status status = sti_integrate(model, state, work, search->h, search->info, err);
    if (status == ST_OK) *F = smallest(search, 1.0);
    state->t = t;
    state->q = q, state->v = v;
    return status;
}

static bool papers_form(const sti_Model *model)
{
    return model->def.integrator == ST_INTEGRATOR_TRAPEZOID && model->def.form == ST_FORM_I;
}

/* After an event the modes are unknown: a very short step determines them. */
static st_Status probe_modes(Search *search, st_Error *err)
{
    const sti_Model *model = search->model;
    sti_State *state = search->state;
    sti_StepWork *work = search->work;
    double F;
    state->modes.n = 0;
    STI_TRY(F_at(search, model->def.event_step, &F, err));
    STI_TRY(sti_note_modes(model, state, work, model->def.event_step, err));
    STI_EXCHANGE(sti_Modes, state->modes, work->modes_new);
    return F_at(search, 1.0, &F, err);
}

static st_Status add_transition(const Search *search, double t, st_Error *err)
{
    const sti_Model *model = search->model;
    sti_StepWork *work = search->work;
    const sti_ContactEntry *entry = work->step.chosen[search->contact].entry;
    double speed = sti_row_dot(&work->step.H, work->step.law[search->contact].first, work->v_new);
    st_EventReport event = {.kind = search->kind,
                            .time = t,
                            .contact = entry->id,
                            .a = {entry->a},
                            .b = {entry->b},
                            .point = entry->point,
                            .normal = entry->normal,
                            .before = speed,
                            .after = speed};
    search->info->transitions++;
    return sti_add_event(model, work, &event, err);
}

/* The first transition, between the shortest step and the whole one. */
static st_Status locate(Search *search, sti_Function *function, double F_first, double F_last, double *s, st_Error *err)
{
    const sti_Model *model = search->model;
    sti_State *state = search->state;
    double F;
    STI_TRY(sti_find_root(function, search, model->def.event_step, 1.0, F_first, F_last, 1e-13, 0.0, s, err));
    STI_TRY(F_at(search, *s, &F, err));
    return add_transition(search, state->t + *s * search->h, err);
}

st_Status sti_find_transition(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double *s,
                              st_StepInfo *info, st_Error *err)
{
    Search search = {.model = model, .state = state, .work = work, .h = h, .info = info};
    double shortest = model->def.event_step, F, F_first;
    *s = 1;
    if (work->step.problem.n_contacts == 0) return ST_OK;
    if (papers_form(model) && info->transitions > 0) return ST_OK; /* one piece for the rest of the step */
    if (!state->history.known) STI_TRY(probe_modes(&search, err));
    F = smallest(&search, 1.0);
    if (!(F < -STI_SEPARATION_SPEED)) return ST_OK;
    /* The interpolants need two steps of the same length. */

    sti_Function *function =
        papers_form(model) && (state->history.known && fabs(state->history.h - h) < 1e-9 * h) ? F_shifted : F_at;
    STI_TRY(function(&search, shortest, &F_first, err));
    if (F_first > 0) return locate(&search, function, F_first, F, s, err);
    /* The transition happened at the start of this step. A load that moved to another contact, as with redundant
     * contacts, is not reported. */
    if (search.kind != ST_EVENT_TAKEOFF) STI_TRY(add_transition(&search, state->t, err));
    if (papers_form(model)) return F_at(&search, 1.0, &F, err);
    /* Use the present modes, so that this transition does not hide later ones in the step. */
    STI_TRY(probe_modes(&search, err));
    F = smallest(&search, 1.0);
    if (!(F < -STI_SEPARATION_SPEED)) return ST_OK;
    STI_TRY(F_at(&search, shortest, &F_first, err));
    return F_first > 0 ? locate(&search, F_at, F_first, F, s, err) : F_at(&search, 1.0, &F, err);
}
