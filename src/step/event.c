/* step/event.c -- collisions: the first root of the gaps along q(s) = move(q, v+, s h), 0 <= s <= 1.
 *
 * Contacts in the active set are held by the step problem and do not collide. For the others let
 *
 *     F(s) = min( margin, smallest gap at q(s) )
 *
 * which is continuous, not negative at 0 and negative at 1 when something was run into; the sign change
 * that is kept at each halving is the first one as long as no gap opens again within the step.
 */
#include "base/tolerance.h"
#include "step/system.h"

/* F at a position: evaluates `trial` there. */
static st_Status smallest_gap(st_System *system, double t, const double *q, double margin, double *F, st_Error *err)
{
    const st_Model *model = &system->model;
    st_Sink *sink = &system->trial;
    sti_sink_clear_contacts(sink);
    STI_TRY(model->contacts(model->ctx, t, q, margin, sink, err));
    *F = margin;
    for (int c = 0; c < sink->n_contacts; c++)
        if (!sti_ids_contain(&system->active, sink->contact[c].id)) *F = fmin(*F, sink->contact[c].gap);
    return ST_OK;
}

static st_Status F_at(st_System *system, double s, double h, double margin, double *F, st_Error *err)
{
    sti_move(system, system->q, system->v_new, s * h, system->q_target);
    return smallest_gap(system, system->t + s * h, system->q_target, margin, F, err);
}

/* Regula falsi in the Illinois form, with a halving whenever it is slow. Keeps F(lo) >= 0 > F(hi). */
static st_Status find_root(st_System *system, double h, double margin, double F_lo, double F_hi, double *s,
                           st_Error *err)
{
    double lo = 0, hi = 1;
    int side = 0;
    for (int round = 0; round < 200 && hi - lo > 1e-16 && F_lo > STI_COLLISION_GAP; round++) {
        bool halve = round % 3 == 2;
        double middle = halve ? 0.5 * (lo + hi) : (lo * F_hi - hi * F_lo) / (F_hi - F_lo), F;
        if (!(middle > lo && middle < hi)) middle = 0.5 * (lo + hi);
        if (!(middle > lo && middle < hi)) break; /* neighbours in floating point */
        STI_TRY(F_at(system, middle, h, margin, &F, err));
        if (F >= 0) {
            lo = middle;
            F_lo = F;
            if (side > 0 && !halve) F_hi *= 0.5;
            side = 1;
        } else {
            hi = middle;
            F_hi = F;
            if (side < 0 && !halve) F_lo *= 0.5;
            side = -1;
        }
    }
    *s = lo;
    return ST_OK;
}

st_Status sti_find_collision(st_System *system, double h, double *s, st_Error *err)
{
    double tolerance = system->def.active_gap, F_start, F_end;
    *s = 1;
    if (system->model.contacts == NULL) return ST_OK;
    STI_TRY(F_at(system, 1.0, h, 0.0, &F_end, err));
    if (F_end >= -tolerance) return ST_OK;
    double margin = fmax(-F_end, tolerance); /* enough for the secants to see where the gap closes */
    STI_TRY(F_at(system, 0.0, h, margin, &F_start, err));
    if (F_start <= 0) {
        *s = 0;
        return ST_OK;
    }
    return find_root(system, h, margin, F_start, F_end, s, err);
}
