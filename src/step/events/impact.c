/* step/events/impact.c -- the velocity after an impact: the step problem with h = 0, once or twice.
 *
 *     inelastic   M (v+ - v-) = G l + H r,  laws on v+
 *     newton      the same with u+ >= -e u- on the normals of contacts that approach
 *     poisson     compression    M (vc - v-) = G l + H r,  laws on vc                (PAGT eq. 7.5, PAGT eq. 7.6)
 *                 decompression  M (v+ - vc) = G l + H rx + sum e n r_n,  laws on v+ (PAGT eq. 7.7, PAGT eq. 7.8,
 *                                                                                    PAGT eq. 7.9)
 *
 * In the paper friction of decompression is bounded by mu rx_n, so the impulse of restitution e r_n causes no
 * friction: a sphere that slides during a bounce loses the momentum mu r_n. With `poisson_friction` the bound is mu (e
 * r_n + rx_n), and the sphere loses mu (1 + e) r_n (stage_contacts.c).
 *
 * All active contacts, also those that were closed before, and all joints are part of the problem. A contact has no
 * restitution if its compression (r_n times its mobility) is less than `restitution_speed`. With friction no impact law
 * prevents a gain of energy in general. With energy `limit` the restitution of the whole impact is scaled by the
 * largest factor without a gain, which bisection finds (for newton: rebound.c). Otherwise the gain is kept and
 * reported.
 */
#include "step/contact/contact.h"
#include "step/events/events.h"
#include "step/impulses.h"
#include "step/step.h"

static bool has_restitution(const sti_Model *model, const sti_StepWork *work)
{
    return model->def.impact != ST_IMPACT_INELASTIC && !work->events.over_limit;
}

/* The impulse of restitution of each contact after the compression; false: all are 0. */
static st_Status restitution(const sti_Model *model, sti_StepWork *work, bool *any, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    sti_Rebounds *rebound = &work->rebounds;
    STI_TRY(STI_GROW(&model->allocator, rebound->share, rebound->share_capacity, step->n_gaps, err));
    *any = false;
    for (int c = 0; c < step->n_gaps; c++) {
        const int row = step->law[c].first;
        const double r = step->r[row], e = step->chosen[c].entry->surface->restitution;
        const bool gives = e > 0 && r * sti_mobility(model, work, row) > model->def.restitution_speed;
        rebound->share[c] = gives ? e * r : 0;
        *any = *any || gives;
    }
    return ST_OK;
}

/* Work of contacts in one phase, relative to belts, at the mean of old and new velocity. `share` (or NULL) is added to
 * the normal impulses. This is the change of kinetic energy without the work of belts and moved joints. sum: the sum of
 * absolute values. */
typedef struct ImpactWork {
    double total, sum;
} ImpactWork;

static ImpactWork work_of_contacts(const sti_StepWork *work, const double *v_before, const double *share)
{
    const sti_Assembly *step = &work->step;
    ImpactWork spent = {0, 0};
    for (int c = 0; c < step->n_gaps; c++) {
        double of_contact = 0;
        for (int k = 0; k < step->law[c].dim; k++) {
            const int row = step->law[c].first + k;
            const double r = step->r[row] + (k == 0 && share != NULL ? share[c] : 0), belt = k > 0 ? step->w[row] : 0;
            of_contact +=
                r * (0.5 * (sti_row_dot(&step->H, row, v_before) + sti_row_dot(&step->H, row, work->v_new)) + belt);
        }
        spent.total += of_contact;
        spent.sum += fabs(of_contact);
    }
    return spent;
}

/* Mean of the velocities before and after along the normal of contact c. */
static double mean_impact_speed(const sti_StepWork *work, int c, const double *v_before)
{
    const sti_Assembly *step = &work->step;
    const int row = step->law[c].first;
    return 0.5 * (sti_row_dot(&step->H, row, v_before) + sti_row_dot(&step->H, row, work->v_new));
}

enum { HALVINGS = 6 };
#define NO_GAIN 1e-9 /* part of the work of contacts that is attributed to the tolerance of solutions */

/* Decompression from v_base. Bisection finds the largest factor of restitution for which the work of both phases is not
 * positive. The factor 0 is such a factor: compression adds no energy. */
static st_Status decompress(const sti_Model *model, sti_State *state, sti_StepWork *work, sti_Stage *impact,
                            ImpactWork *spent, st_StepInfo *info, st_Error *err)
{
    const bool limit = model->def.energy == ST_ENERGY_LIMIT;
    const ImpactWork compression = *spent;
    double factor = 1, low = 0, high = 1, scaled = 1;
    impact->push = work->stages.restitution;
    if (model->def.impact == ST_IMPACT_POISSON_FRICTION) impact->loaded = work->rebounds.share;
    for (int round = 0;; round++) {
        /* All shares times a factor, and their sum as an impulse. */
        const sti_Assembly *step = &work->step;
        const sti_RowList *H = &step->H;
        double *push = work->stages.restitution;
        memset(push, 0, (size_t)model->n_v * sizeof *push);
        for (int c = 0; c < step->n_gaps; c++) {
            const int row = step->law[c].first;
            double *share = &work->rebounds.share[c];
            *share *= scaled;
            for (int64_t k = H->p[row]; *share > 0 && k < H->p[row + 1]; k++)
                push[H->i[k]] += *share * H->x[k];
        }
        STI_TRY(sti_solve_stage(model, state, work, impact, work->v_new, info, err));
        const ImpactWork done = work_of_contacts(work, impact->v_base, work->rebounds.share);
        *spent = (ImpactWork){compression.total + done.total, compression.sum + done.sum};
        const bool gains = spent->total > NO_GAIN * spent->sum;
        if (!limit || (round == 0 && !gains) || round > HALVINGS) return ST_OK;
        if (round == 0) info->rebounds_limited++;
        *(gains ? &high : &low) = factor;
        const double next = round < HALVINGS ? 0.5 * (low + high) : low;
        if (next == factor) return ST_OK;
        scaled = next / factor;
        factor = next;
    }
}

st_Status sti_impact(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, st_StepInfo *info,
                     st_Error *err)
{
    sti_Stage impact = {.t = t,
                        .eta = 0,
                        .rebound = model->def.impact == ST_IMPACT_NEWTON && has_restitution(model, work),
                        .rows = &work->here,
                        .q_star = work->q_new,
                        .v_star = work->v_new,
                        .v_base = work->stages.v_base,
                        .q_base = work->q_new};
    ImpactWork spent;
    memcpy(work->stages.v_base, work->v_new, (size_t)model->n_v * sizeof *work->v_new);
    const double before = sti_energy_kinetic(model, work, work->q_new, work->stages.v_base);
    work->stages.carried = (sti_Works){0};
    work->stages.carried_gains = (sti_Gains){0};
    bool gives = false;
    STI_TRY(sti_select_contacts(model, state, work, 0.0, err));
    STI_TRY(sti_solve_stage(model, state, work, &impact, work->v_new, info, err));
    spent = work_of_contacts(work, impact.v_base, NULL);
    if (model->def.impact != ST_IMPACT_NEWTON && has_restitution(model, work)) {
        STI_TRY(restitution(model, work, &gives, err));
        if (gives) {
            STI_TRY(sti_carry_impulses(model, state, work, 1.0, 1.0, err));
            memcpy(work->stages.v_base, work->v_new, (size_t)model->n_v * sizeof *work->v_new);
            STI_TRY(decompress(model, state, work, &impact, &spent, info, err));
            for (int c = 0; c < work->step.n_gaps; c++)
                work->step.done.impact += work->rebounds.share[c] * mean_impact_speed(work, c, impact.v_base);
            for (int c = 0; c < work->step.n_gaps; c++)
                if (work->rebounds.share[c] > 0)
                    STI_TRY(sti_carry_normal(model, work, c, work->rebounds.share[c], err));
        }
    }
    STI_TRY(sti_total_impulses(model, state, work, 1.0, 1.0, err));
    /* a gain below a thousand roundings of the energy is ignored */
    if (spent.total > 1e-13 * before) info->impact_gain += spent.total;
    return ST_OK;
}
