/* step/integrate/trapezoid.c -- the linearly implicit trapezoid (Potra, Anitescu, Gavrea & Trinkle 2006:
 * PAGT eq. 6.10, PAGT eq. 6.12).
 *
 * Rows, mass and forces at the predicted midpoint qm = q + (h/2) v; q+ = q + (h/2)(v + v+):
 *
 *     form II (6.10)   laws on v + v+:  vm = stage(qm, v*, v, q, h/2), v+ = 2 vm - v
 *     form I  (6.12)   laws on v+:      v+ = stage(qm, v*, v, q, h), springs at the mean velocity
 *
 * The paper writes II in w = v + v+ = 2 vm, with A = M - (h/2) kv - (h^2/4) kq and the right side
 * 2 A v + (h/2)[k(t) + k(t+h) + h kq v] (in print h/2 kq v, which is of order one). Halved, and with the
 * derivatives of springs and dampers as soft rows, that is the stage. Forces without known derivatives are
 * taken at qm and at the extrapolated velocity v* = v + (h/2) a: the same to O(h^3).
 *
 * II is second order, but in sticking vm = 0 gives v+ = -v: a velocity that flips its sign every step. I sticks at
 * rest, but is of first order if joints are nonlinear or the direction of sliding changes. Both oscillate with very
 * stiff dampers. See docs/methods.md; sdirk2 has none of these problems.
 */
#include "step/impulses.h"
#include "step/integrate/integrate.h"
#include "step/step.h"

st_Status sti_trapezoid_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                             st_Error *err)
{
    bool first_form = model->def.form == ST_FORM_I;
    const sti_History *history = &state->history;
    int n_v = model->n_v;
    sti_Stage stage = {.t = state->t,
                       .ahead = h,
                       .eta = first_form ? h : 0.5 * h,
                       .reach = h,
                       .drift_from = &work->here,
                       .mean = first_form,
                       .second_order = true,
                       .rows = &work->stages.middle,
                       .q_star = work->stages.q_star,
                       .v_star = work->stages.v_star,
                       .v_base = state->v,
                       .q_base = state->q};
    double *v = work->v_new, *mean = work->stages.v_base;
    const bool by_mean = model->def.drift == ST_DRIFT_MEAN;
    if (by_mean)
        sti_predict_mean(model, state, work, h, work->stages.v_star);
    else
        for (int i = 0; i < n_v; i++)
            work->stages.v_star[i] = state->v[i] + (history->known ? 0.5 * h * history->a[i] : 0.0);
    sti_move(model, state->q, by_mean ? work->stages.v_star : state->v, 0.5 * h, work->stages.q_star);
    STI_TRY(sti_rows_of_stage(model, state, work, state->t + 0.5 * h, err));
    if (by_mean) {
        memcpy(v, work->stages.v_star, (size_t)n_v * sizeof *v);
        STI_TRY(sti_solve_mean_stage(model, state, work, &stage, v, info, err));
        if (work->stages.rough) return sti_rough_step(model, state, work, h, info, err);
    } else {
        STI_TRY(sti_solve_first_stage(model, state, work, &stage, v, info, err));
    }
    if (sti_closes_within(model, state, work, h)) return sti_rough_step(model, state, work, h, info, err);
    for (int i = 0; i < n_v; i++) {
        mean[i] = first_form ? 0.5 * (state->v[i] + v[i]) : v[i];
        if (!first_form) v[i] = 2 * v[i] - state->v[i];
        work->a_new[i] = (v[i] - state->v[i]) / h;
    }
    if (!by_mean) sti_move(model, state->q, mean, h, work->q_new);
    work->stages.moved = mean, work->stages.moved_for = h;
    return sti_total_impulses(model, state, work, first_form ? 1.0 : 2.0, first_form ? 0.5 : 1.0, err);
}
