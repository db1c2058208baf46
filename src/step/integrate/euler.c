/* step/integrate/euler.c -- explicit and linearly implicit Euler (Anitescu & Potra 2002).
 *
 * AP eq. 7: explicit. AP eq. 12, AP eq. 13, AP eq. 14, AP eq. 15, AP eq. 16: implicit; in one matrix AP eq. 17, AP
 * eq. 18.
 *
 *     v+ = stage(t, q, v, v, q, h),    q+ = q + h v+
 *
 * The two differ in how springs and dampers enter: in k1, or as soft rows (stage.c).
 *
 * With events off, a contact that closes within the step rebounds by Newton's law. In free fall, with n'v = -s and g
 * towards the contact, these methods conserve E - (h/2) m g n'v. So does the step n'v+ = s, q+ = q + h v+, exactly: a
 * ball with e = 1 bounces for ever. Integrators of order two conserve E itself, and such a step would add m g h s at
 * every bounce. If one of their steps becomes a step of this method (`sti_rough_step`), the contact therefore rebounds
 * first, as an impact at q (impact.c), and the step begins with the velocity after it: n'v+ = s - h g, and E falls by m
 * g^2 h^2/2.
 */
#include "step/events/events.h"
#include "step/impulses.h"
#include "step/step.h"

st_Status sti_euler_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                         st_Error *err)
{
    const double *v = state->v;
    bool rebound = sti_rebounds_unseen(model);
    if (work->stages.rough) { /* integrators of order two: rebounds come first */
        STI_TRY(sti_rebound(model, state, work, h, &rebound, info, err));
        if (rebound) v = work->stages.v_base;
        rebound = false;
    }
    sti_Stage stage = {.t = state->t,
                       .eta = h,
                       .reach = h,
                       .rebound = rebound,
                       .rows = &work->here,
                       .q_star = state->q,
                       .v_star = v,
                       .v_base = v,
                       .q_base = state->q};
    if (model->def.drift == ST_DRIFT_MEAN) {
        const sti_History *history = &state->history;
        for (int i = 0; i < model->n_v; i++)
            work->v_new[i] = v[i] + (history->known ? h * history->a[i] : 0.0);
        STI_TRY(sti_solve_mean_stage(model, state, work, &stage, work->v_new, info, err));
    } else {
        STI_TRY(sti_solve_stage(model, state, work, &stage, work->v_new, info, err));
        sti_move(model, state->q, work->v_new, h, work->q_new);
    }
    work->stages.moved = work->v_new, work->stages.moved_for = h;
    for (int i = 0; work->a_new != NULL && i < model->n_v; i++)
        work->a_new[i] = (work->v_new[i] - v[i]) / h;
    return sti_total_impulses(model, state, work, 1.0, work->stages.straight ? 0.5 : 1.0, err);
}

st_Status sti_rough_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                         st_Error *err)
{
    work->stages.rough = true;
    work->stages.straight = true; /* v(s) = v + s (v+ - v): the cubic through d = h v+ would be ahead of the forces */
    sti_begin_piece_impulses(model, work);
    return sti_euler_step(model, state, work, h, info, err);
}
