/* step/integrate/euler.c -- explicit and linearly implicit Euler (Anitescu & Potra 2002, eq. 7 and 12-16, 32-33).
 *
 *     v+ = stage(t, q, v, v, q, h),    q+ = q + h v+
 *
 * The two differ in where springs and dampers stand: in k1 or as soft rows (stage.c).
 *
 * With events off, a contact that closes within the step rebounds by Newton's law. In free fall, n'v = -s and g towards
 * the contact, these schemes keep E - (h/2) m g n'v, and so does n'v+ = s, q+ = q + h v+, to the last bit: a ball with
 * e = 1 bounces for ever. Schemes of order two keep E itself, and to them the same step gives m g h s at every bounce.
 * Where one of theirs becomes a step of this scheme (`sti_rough_step`) the contact therefore rebounds first, an impact
 * at q (impact.c), and the step begins with the velocity behind it: n'v+ = s - h g, and E falls by m g^2 h^2/2.
 */
#include "step/step.h"

/* From the state with the velocity v. */
static st_Status step_from(st_System *system, const double *v, bool rebound, double h, st_StepInfo *info, st_Error *err)
{
    sti_Stage stage = {.t = system->state.t,
                       .eta = h,
                       .reach = h,
                       .rebound = rebound,
                       .rows = &system->work.here,
                       .q_star = system->state.q,
                       .v_star = v,
                       .v_base = v,
                       .q_base = system->state.q};
    if (system->model.def.drift == ST_DRIFT_MEAN) {
        const sti_History *history = &system->state.history;
        for (int i = 0; i < system->model.n_v; i++)
            system->work.v_new[i] = v[i] + (history->known ? h * history->a[i] : 0.0);
        STI_TRY(sti_solve_mean_stage(system, &stage, system->work.v_new, info, err));
    } else {
        STI_TRY(sti_solve_stage(system, &stage, system->work.v_new, info, err));
        sti_move(&system->model, system->state.q, system->work.v_new, h, system->work.q_new);
    }
    for (int i = 0; system->work.a_new != NULL && i < system->model.n_v; i++)
        system->work.a_new[i] = (system->work.v_new[i] - v[i]) / h;
    return sti_total_impulses(system, 1.0, system->work.stages.straight ? 0.5 : 1.0, err);
}

st_Status sti_euler_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    return step_from(system, system->state.v, sti_rebounds_unseen(&system->model), h, info, err);
}

st_Status sti_rough_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    bool rebounds;
    system->work.stages.rough = true;
    system->work.stages.straight =
        true; /* v(s) = v + s (v+ - v): the cubic through d = h v+ runs ahead of the forces */
    sti_carry_nothing(&system->model, &system->work);
    STI_TRY(sti_rebound(system, h, &rebounds, info, err));
    return step_from(system, rebounds ? system->work.stages.v_base : system->state.v, false, h, info, err);
}
