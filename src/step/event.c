/* step/event.c -- collisions: the first root of the gaps on the way from q to q_new.
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
 * which is continuous, not negative at 0 and negative at 1 when something was run into; the sign change
 * that is kept at each halving is the first one as long as no gap opens again within the step.
 */
#include "base/tolerance.h"
#include "step/step.h"

static void prepare_path(st_System *system)
{
    if (sti_integrator(system)->order > 1) sti_difference(system, system->q, system->q_new, system->path);
}

/* q(s), and v(s) where v is not NULL; v may be v_new. */
void sti_path(const st_System *system, double h, double s, double *q, double *v)
{
    if (sti_integrator(system)->order == 1) {
        sti_move(system, system->q, system->v_new, s * h, q);
        return;
    }
    double *x = system->work_v;
    const double *v0 = system->v, *v1 = system->v_new, *d = system->path;
    double at_v0 = s * (1 - s) * (1 - s), at_d = s * s * (3 - 2 * s), at_v1 = s * s * (s - 1);
    for (int i = 0; i < system->model.n_v; i++)
        x[i] = h * (at_v0 * v0[i] + at_v1 * v1[i]) + at_d * d[i];
    sti_move(system, system->q, x, 1.0, q);
    double rate_v0 = (1 - s) * (1 - 3 * s), rate_d = 6 * s * (1 - s), rate_v1 = s * (3 * s - 2);
    for (int i = 0; v != NULL && i < system->model.n_v; i++)
        v[i] = rate_v0 * v0[i] + rate_v1 * v1[i] + rate_d * d[i] / h;
}

/* The step along which F is looked at. */
typedef struct Way {
    st_System *system;
    double h, margin;
} Way;

/* F at a position on the way: evaluates the contacts of `trial` there. */
static st_Status smallest_gap(void *ctx, double s, double *F, st_Error *err)
{
    const Way *way = ctx;
    st_System *system = way->system;
    const st_Model *model = &system->model;
    st_Sink *sink = &system->trial;
    if (s < 1)
        sti_path(system, way->h, s, system->q_target, NULL);
    else
        memcpy(system->q_target, system->q_new, (size_t)model->n_q * sizeof *system->q_new);
    sti_sink_clear_contacts(sink);
    STI_TRY(model->contacts(model->ctx, system->t + s * way->h, system->q_target, way->margin, sink, err));
    *F = way->margin;
    for (int c = 0; c < sink->n_contacts; c++)
        if (!sti_ids_contain(&system->active, sink->contact[c].id)) *F = fmin(*F, sink->contact[c].gap);
    return ST_OK;
}

/* A contact that rebounds starts at gap 0, opens and closes again: look for the place behind which it closes. */
static st_Status leave(Way *way, double *start, double *F_start, st_Error *err)
{
    if (sti_integrator(way->system)->order == 1) return ST_OK;
    double s = 0.5, F = 0;
    for (int k = 0; k < 40 && !(F > STI_COLLISION_GAP); k++, s *= 0.5)
        STI_TRY(smallest_gap(way, s, &F, err));
    if (F > STI_COLLISION_GAP) *start = 2 * s, *F_start = F;
    return ST_OK;
}

st_Status sti_find_collision(st_System *system, double h, double *s, st_Error *err)
{
    double tolerance = system->def.active_gap, F_start, F_end;
    Way way = {.system = system, .h = h};
    *s = 1;
    if (system->model.contacts == NULL) return ST_OK;
    prepare_path(system);
    STI_TRY(smallest_gap(&way, 1.0, &F_end, err));
    if (F_end >= -tolerance) return ST_OK;
    way.margin = fmax(-F_end, tolerance); /* enough for the secants to see where the gap closes */
    STI_TRY(smallest_gap(&way, 0.0, &F_start, err));
    double start = 0;
    if (F_start <= STI_COLLISION_GAP) STI_TRY(leave(&way, &start, &F_start, err));
    if (F_start <= 0) {
        *s = 0;
        return ST_OK;
    }
    return sti_find_root(smallest_gap, &way, start, 1.0, F_start, F_end, 1e-16, STI_COLLISION_GAP, s, err);
}

/* ---- reports ------------------------------------------------------------------------------------- */

st_Status sti_add_event(st_System *system, const st_EventReport *event, st_Error *err)
{
    STI_TRY(STI_GROW(&system->allocator, system->events.report, system->events.capacity, system->events.n + 1, err));
    system->events.report[system->events.n++] = *event;
    return ST_OK;
}

const char *st_event_kind_name(st_EventKind kind)
{
    static const char *const names[ST_N_EVENT_KINDS] = {"collision", "take-off", "stick", "slip", "facet"};
    return (int)kind >= 0 && (int)kind < ST_N_EVENT_KINDS ? names[kind] : NULL;
}

int st_system_event_count(const st_System *system)
{
    return system->events.n;
}

st_Status st_system_event(const st_System *system, int index, st_EventReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    if (index < 0 || index >= system->events.n) return ST_ERR_ARGUMENT;
    *out = system->events.report[index];
    return ST_OK;
}
