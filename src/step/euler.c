/* step/euler.c -- explicit and linearly implicit Euler (Anitescu & Potra 2002, eq. 7 and 12-16, 32-33).
 *
 *     v+ = stage(t, q, v, v, q, h),    q+ = q + h v+
 *
 * The two differ in where springs and dampers stand: in k1 or as soft rows (stage.c). With events off, a
 * contact that closes within the step rebounds by Newton's law.
 */
#include "step/step.h"

st_Status sti_euler_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    sti_Stage stage = {.t = system->t,
                       .eta = h,
                       .reach = h,
                       .rebound = system->def.events == ST_EVENTS_OFF && system->def.impact != ST_IMPACT_INELASTIC,
                       .rows = &system->here,
                       .q_star = system->q,
                       .v_star = system->v,
                       .v_base = system->v,
                       .q_base = system->q};
    if (system->def.drift == ST_DRIFT_MEAN) {
        const sti_History *history = &system->history;
        for (int i = 0; i < system->model.n_v; i++)
            system->v_new[i] = system->v[i] + (history->known ? h * history->a[i] : 0.0);
        STI_TRY(sti_solve_mean_stage(system, &stage, system->v_new, info, err));
    } else {
        STI_TRY(sti_solve_stage(system, &stage, system->v_new, info, err));
        sti_move(system, system->q, system->v_new, h, system->q_new);
    }
    for (int i = 0; system->a_new != NULL && i < system->model.n_v; i++)
        system->a_new[i] = (system->v_new[i] - system->v[i]) / h;
    return sti_total_impulses(system, 1.0, err);
}
