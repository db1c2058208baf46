/* step/integrate/sdirk2.c -- two stages, order two, L-stable: Alexander's singly diagonal scheme on the stage of
 * stage.c.
 *
 *     gamma = 1 - 1/sqrt(2), eta = gamma h                                        (docs/methods.md 6)
 *     1.  v1 = stage(t + eta, q + eta v, v + eta a, v, q, eta),   alpha = (v1 - v)/eta
 *     2.  v_b = v + (1-gamma) h alpha,   q_b = q + (1-gamma) h v1
 *         v+ = stage(t + h, q_b + eta (v + h alpha), v + h alpha, v_b, q_b, eta)
 *         q+ = q moved for h at (1-gamma) v1 + gamma v+,   a = (v+ - v_b)/eta
 *
 * Stage 2 starts from v + (1-gamma)/gamma (v1 - v). Stage 1 therefore opens overlaps at gamma/(1-gamma) = 0.41 of the
 * correction speed; otherwise a body would leave its overlap at 2.41 times this speed.
 *
 * The laws of joints and contacts hold at the end of both stages, so that sticking is at rest and stiff
 * dampers are quiet. Impulse of the step: (1-gamma)/gamma r1 + r2. One rotation for the whole step: two in a
 * row differ by the commutator of h w1 and h w+, O(h^3).
 */
#include "step/impulses.h"
#include "step/integrate/integrate.h"
#include "step/step.h"

#define GAMMA 0.29289321881345248 /* 1 - 1/sqrt(2) */

st_Status sti_sdirk2_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                          st_Error *err)
{
    /* Stage 1, into v_base. */
    double eta = GAMMA * h;
    const sti_History *history = &state->history;
    sti_Stage stage = {.t = state->t + eta,
                       .eta = eta,
                       .reach = h,
                       .extrapolated = (1 - GAMMA) / GAMMA,
                       .drift_from = &work->here,
                       .second_order = true,
                       .rows = &work->stages.middle,
                       .q_star = work->stages.q_star,
                       .v_star = work->stages.v_star,
                       .v_base = state->v,
                       .q_base = state->q};
    sti_move(model, state->q, state->v, eta, work->stages.q_star);
    for (int i = 0; i < model->n_v; i++)
        work->stages.v_star[i] = state->v[i] + (history->known ? eta * history->a[i] : 0.0);
    STI_TRY(sti_rows_of_stage(model, state, work, stage.t, err));
    STI_TRY(sti_solve_first_stage(model, state, work, &stage, work->stages.v_base, info, err));
    if (sti_closes_within(model, state, work, h)) return sti_rough_step(model, state, work, h, info, err);
    STI_TRY(sti_carry_impulses(model, state, work, (1 - GAMMA) / GAMMA, 2 * (1 - GAMMA), err));

    /* Stage 2, into v_new. */
    double *v_base = work->stages.v_base, *v_star = work->stages.v_star, *mean = work->stages.mean;
    stage = (sti_Stage){.t = state->t + h,
                        .eta = eta,
                        .reach = h,
                        .drift_from = &work->here,
                        .second_order = true,
                        .rows = &work->stages.middle,
                        .q_star = work->stages.q_star,
                        .v_star = v_star,
                        .v_base = v_base,
                        .q_base = work->stages.q_base};
    sti_move(model, state->q, v_base, (1 - GAMMA) * h, work->stages.q_base);
    for (int i = 0; i < model->n_v; i++) {
        double v = state->v[i], v1 = v_base[i], alpha = (v1 - v) / eta;
        v_star[i] = v + h * alpha;
        v_base[i] = v + (1 - GAMMA) * h * alpha;
        mean[i] = (1 - GAMMA) * v1;
    }
    sti_move(model, work->stages.q_base, v_star, eta, work->stages.q_star);
    STI_TRY(sti_rows_of_stage(model, state, work, stage.t, err));
    STI_TRY(sti_solve_stage(model, state, work, &stage, work->v_new, info, err));
    for (int i = 0; i < model->n_v; i++) {
        v_star[i] = mean[i] + GAMMA * work->v_new[i];
        work->a_new[i] = (work->v_new[i] - v_base[i]) / eta;
    }
    if (sti_closes_within(model, state, work, h)) return sti_rough_step(model, state, work, h, info, err);
    sti_move(model, state->q, work->stages.v_star, h, work->q_new);
    work->stages.moved = work->stages.v_star, work->stages.moved_for = h;
    return sti_total_impulses(model, state, work, 1.0, GAMMA, err);
}
