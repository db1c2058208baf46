/* step/events/impact.c -- the velocity after an impact: the step problem with h = 0, once or twice.
 *
 *     inelastic   M (v+ - v-) = G l + H r,  laws on v+
 *     newton      the same with u+ >= -e u- on the normals of contacts that approach
 *     poisson     compression    M (vc - v-) = G l + H r,  laws on vc                (Potra et al. 2006, 7.5-7.9)
 *                 decompression  M (v+ - vc) = G l + H rx + sum e n r_n,  laws on v+
 *
 * All active contacts take part, closed before or not, and all joints. A contact whose compression is worth
 * less than `restitution_speed` (its r_n times its mobility) gives nothing back. With friction neither law
 * keeps energy from growing in general: what an impact gained is reported.
 */
#include "step/step.h"

static bool rebounds(const st_System *system)
{
    return system->model.def.impact != ST_IMPACT_INELASTIC && !system->work.events.tired;
}

/* sum e n r_n of the compression just solved, into `push`; false: nothing is given back. */
static bool restitution_impulse(st_System *system)
{
    const sti_Assembly *step = &system->work.step;
    const sti_RowList *H = &step->H;
    bool any = false;
    memset(system->work.stages.push, 0, (size_t)system->model.n_v * sizeof *system->work.stages.push);
    for (int c = 0; c < step->n_gaps; c++) {
        int row = step->law[c].first;
        double e = step->chosen[c].entry.surface->restitution, r = step->r[row];
        if (e == 0 || !(r * sti_mobility(system, row) > system->model.def.restitution_speed)) continue;
        for (int64_t k = H->p[row]; k < H->p[row + 1]; k++)
            system->work.stages.push[H->i[k]] += e * r * H->x[k];
        any = true;
    }
    return any;
}

/* What belts did in the impact: r_T against their velocity, w_T. */
static double work_of_belts(const st_System *system)
{
    const sti_Assembly *step = &system->work.step;
    double sum = 0;
    for (int c = 0; c < step->n_gaps; c++)
        for (int k = 1; k < step->law[c].dim && step->chosen[c].entry.surface->moves; k++)
            sum -= sti_impact_impulse(system, c)[k] * step->w[step->law[c].first + k];
    return sum;
}

/* The impulse of compression, decompression and restitution together, for the report. */
static st_Status carry_compression(st_System *system, st_Error *err)
{
    const sti_Assembly *step = &system->work.step;
    STI_TRY(sti_carry_impulses(system, 1.0, 1.0, err));
    for (int c = 0; c < step->n_gaps; c++) {
        double r = step->r[step->law[c].first], e = step->chosen[c].entry.surface->restitution;
        if (r * sti_mobility(system, step->law[c].first) > system->model.def.restitution_speed)
            STI_TRY(sti_carry_normal(system, c, e * r, err));
    }
    return ST_OK;
}

static st_Status solve(st_System *system, sti_Stage *impact, st_StepInfo *info, st_Error *err)
{
    STI_TRY(sti_want_contacts(system, 0.0, err));
    STI_TRY(sti_solve_stage(system, impact, system->work.v_new, info, err));
    if (system->model.def.impact != ST_IMPACT_POISSON || !rebounds(system)) return ST_OK;
    bool pushes = restitution_impulse(system);
    if (!pushes) return ST_OK;
    STI_TRY(carry_compression(system, err));
    memcpy(system->work.stages.v_base, system->work.v_new, (size_t)system->model.n_v * sizeof *system->work.v_new);
    impact->push = system->work.stages.push;
    return sti_solve_stage(system, impact, system->work.v_new, info, err);
}

st_Status sti_impact(st_System *system, double t, st_StepInfo *info, st_Error *err)
{
    sti_Stage impact = {.t = t,
                        .eta = 0,
                        .rebound = system->model.def.impact == ST_IMPACT_NEWTON && rebounds(system),
                        .rows = &system->work.here,
                        .q_star = system->work.q_new,
                        .v_star = system->work.v_new,
                        .v_base = system->work.stages.v_base,
                        .q_base = system->work.q_new};
    memcpy(system->work.stages.v_base, system->work.v_new, (size_t)system->model.n_v * sizeof *system->work.v_new);
    double before = sti_energy_kinetic(system, system->work.q_new, system->work.stages.v_base);
    system->work.stages.carried_work = 0;
    STI_TRY(solve(system, &impact, info, err));
    STI_TRY(sti_total_impulses(system, 1.0, 1.0, err));
    double gain = sti_energy_kinetic(system, system->work.q_new, system->work.v_new) - before - work_of_belts(system);
    /* a thousand roundings of the energy are no gain */
    if (gain > 1e-13 * before) info->impact_gain += gain;
    return ST_OK;
}
