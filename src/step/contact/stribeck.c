/* step/contact/stribeck.c -- friction that depends on the speed of sliding.
 *
 *     mu(s) = mu_k + (mu_s - mu_k) exp(-(s/s_0)^2),      s = |u_T|        (mu_s, mu_k: static, kinetic; s_0:
 * Stribeck's)
 *
 * The step problem is Coulomb's with mu = mu(s) at the speed s that it ends with. It is solved as a fixed point: mu
 * from the last iterate, the problem again, until no bound mu r_n changes by more than the residual that is asked for.
 * The first mu is that of the velocity at the beginning of the step, so that a contact that sticks goes on sticking
 * while mu_s can hold it, and one that slides goes on sliding: of several solutions, the one that continues the motion.
 * With mu_k < mu_s a larger mu gives a smaller s and so a larger mu: the iterates of one contact are monotone and
 * converge. With mu_k > mu_s they alternate, and are halved after a few rounds. Where the rounds do not suffice, the
 * step says so (st_StepInfo.friction_change, and solve.converged is false).
 */
#include "step/integrate/stage.h"

/* Rounds of which the changes are taken whole, and rounds at most. */
enum { WHOLE_ROUNDS = 6, MOST_ROUNDS = 24 };

static double friction_at(const sti_Surface *surface, double speed)
{
    const double x = speed / surface->more.stribeck_speed, kinetic = surface->more.kinetic;
    return kinetic + (surface->mu - kinetic) * exp(-x * x);
}

static bool depends_on_speed(const sti_Assembly *out, int c)
{
    const sti_Surface *surface = out->chosen[c].entry.surface;
    return out->law[c].dim > 1 && out->chosen[c].entry.shape_a > 0 && surface->more.stribeck_speed > 0;
}

/* |u_T|, of rows with the factors of friction by direction. */
static double sliding_speed(const sti_Assembly *out, int c, const double *u)
{
    const sti_ContactEntry *entry = &out->chosen[c].entry;
    double sum = 0;
    for (int k = 1; k < entry->dim && k < out->law[c].dim; k++) {
        const double along = u[k] / (entry->dim == 3 ? sti_row_factor(entry->surface, k) : 1);
        sum += along * along;
    }
    return sqrt(sum);
}

void sti_stage_stribeck(sti_StageWork *work)
{
    const st_System *system = work->system;
    sti_Assembly *out = work->out;
    if (!system->model.rigid || !system->model.world->stribeck) return;
    for (int c = 0; c < out->n_gaps; c++) {
        double u[ST_MAX_DIM] = {0};
        if (!depends_on_speed(out, c)) continue;
        for (int k = 1; k < out->law[c].dim && k < 3; k++) {
            sti_RowView row;
            sti_view_row(&system->model, &system->work, c, k, &row);
            u[k] = out->w[out->law[c].first + k];
            for (int e = 0; e < row.n; e++)
                u[k] += row.x[e] * system->state.v[row.i[e]];
        }
        out->law[c].mu = friction_at(out->chosen[c].entry.surface, sliding_speed(out, c, u));
    }
}

/* mu of the velocities found, a part of the way; returns how much bounds mu r_n change, relative to all impulses. */
static double follow_speed(sti_Assembly *out, double part)
{
    double changed = 0, whole = 0;
    for (int c = 0; c < out->n_gaps; c++) {
        const int first = out->law[c].first;
        for (int k = 0; k < out->law[c].dim && k < 3; k++)
            whole += out->r[first + k] * out->r[first + k];
        if (!depends_on_speed(out, c)) continue;
        const double change =
            friction_at(out->chosen[c].entry.surface, sliding_speed(out, c, out->u + first)) - out->law[c].mu;
        out->law[c].mu += part * change;
        changed += change * change * out->r[first] * out->r[first];
    }
    return whole > 0 ? sqrt(changed / whole) : 0;
}

st_Status sti_solve_stribeck(st_System *system, st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    sti_Assembly *out = &system->work.step;
    if (!system->model.rigid || !system->model.world->stribeck) return ST_OK;
    double change = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double asked = sti_larger(system->model.def.tolerance, info->residual.natural);
        change = follow_speed(out, round < WHOLE_ROUNDS ? 1 : 0.5);
        if (change <= asked) change = 0;
        if (change == 0) break;
        STI_TRY(sti_solve_islands(system, solution, info, err));
    }
    if (change > 0) info->converged = false;
    system->work.friction_change = sti_larger(system->work.friction_change, change);
    return ST_OK;
}
