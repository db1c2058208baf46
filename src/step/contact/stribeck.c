/* step/contact/stribeck.c -- friction that depends on the speed of sliding.
 *
 *     mu(s) = mu_k + (mu_s - mu_k) exp(-(s/s_0)^2),      s = |u_T|
 *
 * mu_s is static friction, mu_k kinetic friction and s_0 Stribeck's speed. The step problem is Coulomb's with mu =
 * mu(s) at the speed s that it ends with. It is solved as a fixed point: mu from the last iterate, then the problem
 * again (stage_solve.c). The first mu is that at the velocity at the beginning of the step. So a sticking contact
 * continues to stick as long as mu_s can hold it, and a sliding contact continues to slide: if there are several
 * solutions, this one continues the motion. With mu_k < mu_s a larger mu gives a smaller s, which gives a larger mu:
 * the iterates of one contact are monotone and converge. With mu_k > mu_s they alternate.
 */
#include "step/contact/contact.h"
#include "step/integrate/stage.h"

static double stribeck_friction(const sti_Surface *surface, double speed)
{
    const double x = speed / surface->more.stribeck_speed, kinetic = surface->more.kinetic;
    return kinetic + (surface->mu - kinetic) * exp(-x * x);
}

static bool depends_on_speed(const sti_Assembly *out, int c)
{
    const sti_Surface *surface = out->chosen[c].entry->surface;
    return out->law[c].dim > 1 && out->chosen[c].entry->shape_a > 0 && surface->more.stribeck_speed > 0;
}

/* |u_T| of contact c. The rows contain the factors of direction-dependent friction, which are removed here. */
static double contact_sliding_speed(const sti_Assembly *out, int c, const double *u)
{
    const sti_ContactEntry *entry = out->chosen[c].entry;
    double sum = 0;
    for (int k = 1; k < entry->dim && k < out->law[c].dim; k++) {
        const double along = u[k] / (entry->dim == 3 ? sti_row_factor(entry->surface, k) : 1);
        sum += along * along;
    }
    return sqrt(sum);
}

void sti_stage_stribeck(sti_StageBuild *build)
{
    const sti_Model *model = build->model;
    const sti_State *state = build->state;
    const sti_StepWork *work = build->work;
    sti_Assembly *out = build->out;
    for (int c = 0; c < out->n_gaps; c++) {
        double u[ST_MAX_DIM] = {0};
        if (!depends_on_speed(out, c)) continue;
        for (int k = 1; k < out->law[c].dim && k < 3; k++) {
            sti_RowView row;
            sti_view_row(model, work, c, k, &row);
            u[k] = out->w[out->law[c].first + k];
            for (int e = 0; e < row.n; e++)
                u[k] += row.x[e] * state->v[row.i[e]];
        }
        out->law[c].mu = stribeck_friction(out->chosen[c].entry->surface, contact_sliding_speed(out, c, u));
    }
}

double sti_follow_speeds(sti_Assembly *step, double part)
{
    double changed = 0;
    for (int c = 0; c < step->n_gaps; c++) {
        if (!depends_on_speed(step, c)) continue;
        const int first = step->law[c].first;
        const double change =
            stribeck_friction(step->chosen[c].entry->surface, contact_sliding_speed(step, c, step->u + first)) -
            step->law[c].mu;
        step->law[c].mu += part * change;
        changed += change * change * step->r[first] * step->r[first];
    }
    return changed;
}
