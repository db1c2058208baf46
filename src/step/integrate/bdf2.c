/* step/integrate/bdf2.c -- two steps, order two, L-stable (and G-stable): one stage (stage.c) per step.
 *
 *     rho = h/h_prev,  eta = h (1+rho)/(1+2 rho)                                  (docs/methods.md 6)
 *     v_b = ((1+rho)^2 v - rho^2 v_prev)/(1+2 rho),  q_b likewise
 *     v+ = stage(t + h, q + h v, v + h a, v_b, q_b, eta),   q+ = q_b + eta v+
 *
 * On rotations q_b is q turned back by rho^2/(1+2 rho) of the rotation from q_prev, and q+ is q turned once by the sum.
 * Steps of sdirk2 replace the first step, a step after an event, and a step more than 2.4 times longer than the last
 * one, for which the formula is unstable.
 */
#include "step/impulses.h"
#include "step/integrate/integrate.h"
#include "step/step.h"

#define LARGEST_RATIO 2.4

st_Status sti_bdf2_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                        st_Error *err)
{
    const sti_History *history = &state->history;
    if (!history->known || h > LARGEST_RATIO * history->h) return sti_sdirk2_step(model, state, work, h, info, err);

    double rho = h / history->h, back = rho * rho / (1 + 2 * rho), eta = h * (1 + rho) / (1 + 2 * rho);
    double *way = work->stages.way, *v_base = work->stages.v_base, *v_star = work->stages.v_star;
    sti_Stage stage = {.t = state->t + h,
                       .eta = eta,
                       .reach = eta,
                       .second_order = true,
                       .rows = &work->stages.middle,
                       .q_star = work->stages.q_star,
                       .v_star = v_star,
                       .v_base = v_base,
                       .q_base = work->stages.q_base,
                       .way = way,
                       .length = h};
    sti_difference(model, state->q, history->q, way);
    for (int i = 0; i < model->n_v; i++)
        v_base[i] = 0.5 * (state->v[i] + history->v[i]);
    sti_count_turns(model, v_base, -history->h, way);
    for (int i = 0; i < model->n_v; i++) {
        way[i] *= -back;
        v_base[i] = state->v[i] + back * (state->v[i] - history->v[i]);
        v_star[i] = state->v[i] + h * history->a[i];
    }
    sti_move(model, state->q, way, 1.0, work->stages.q_base);
    sti_move(model, state->q, state->v, h, work->stages.q_star);
    STI_TRY(sti_rows_of_stage(model, state, work, stage.t, err));
    STI_TRY(sti_solve_stage(model, state, work, &stage, work->v_new, info, err));
    if (sti_closes_within(model, state, work, h)) return sti_rough_step(model, state, work, h, info, err);
    for (int i = 0; i < model->n_v; i++) {
        way[i] += eta * work->v_new[i];
        work->a_new[i] = (work->v_new[i] - v_base[i]) / eta;
    }
    sti_move(model, state->q, way, 1.0, work->q_new);
    work->stages.straight = true;
    work->stages.moved = way, work->stages.moved_for = 1;
    STI_TRY(sti_total_impulses(model, state, work, 1.0, 0.5, err));
    const sti_Works of_stage = work->step.done; /* work of the forces at the end along the whole step */
    sti_works_add(&work->step.done, h / eta - 1, &of_stage);
    return sti_carry_last(model, state, work, back, err);
}
