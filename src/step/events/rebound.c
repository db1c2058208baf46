/* step/events/rebound.c -- restitution with fixed steps: a contact that closes within a step rebounds by Newton's law,
 * without event location and inside the step problem.
 *
 * Let s be the speed of approach at the start of the step, a the acceleration of approach by forces, d = a h, and gap
 * the distance. In free fall the positions of Euler's methods lie on one parabola. Its speed of approach at the start
 * of the step is s + d/2 (v is late by half a step). So
 *
 *     2E = (s + d/2)^2 + 2 a gap                  is constant in flight, and sqrt(2E) is the speed of the impact;
 *     (t + d/2)^2 + 2 a gap = e^2 2E              gives the speed t with which the step must leave,
 *
 * since a step that leaves at t ends at gap + h t. The next apex is e^2 times the last one, wherever in its step the
 * body lands. With e = 1 the result is t = s. The term d^2/4 is left out of 2E: the samples of a flight miss its apex
 * by up to a h^2/8, and without the term no sample is higher than those of the flight before.
 *
 * In the problem this is H'v >= t in place of H'v >= -gap/h. If a rebound is too low to reach `gap`, the step ends at
 * gap 0 and the next step uses the remaining speed. Contacts slower than `restitution_speed` do not rebound. Neither do
 * contacts slower than the speed that forces give to one of the two bodies within a step: there is no rebound at rest
 * or in a stack at rest.
 *
 * Without friction t <= e s prevents a growth of E - (h/2) k'v. With friction no impact law does in general.
 * sti_limit_rebounds computes the work of the contacts in each island with a rebound, at the mean of old and new
 * velocity. If it is positive, all t of that island are scaled down until the work is 0.
 *
 * Integrators of order two conserve E itself. If one of their steps becomes a step of Euler's method
 * (`sti_rough_step`), the contact rebounds first, as an impact at q, and the step begins with the velocity after it.
 */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/events/events.h"
#include "step/impulses.h"
#include "step/integrate/stage.h"

bool sti_rebounds_unseen(const sti_Model *model)
{
    const st_SystemDef *def = &model->def;
    return def->events == ST_EVENTS_OFF && def->impact != ST_IMPACT_INELASTIC && def->contact == ST_CONTACT_RIGID;
}

/* ---- targets in the problem ---------------------------------------------------------------------- */

/* Speeds of approach along the normal of a contact [m/s]: at v_base, the change by forces within the stage, and the
 * larger part of this change that one body has. For a user's model with a full mass matrix and for drift `mean` the
 * change counts as 0, which makes an error of O(h) in the rebound. */
typedef struct Approach {
    double speed, gained, share;
} Approach;

/* Does the mechanism of a body start with velocities that its joints do not allow? The step corrects them with an
 * impulse, so they are no speeds of approach. */
static bool starts_with_jump(const sti_Model *model, const sti_StepWork *work, const sti_Stage *stage, int body)
{
    const sti_World *world = model->world;
    const sti_RowList *rows = &work->here.joint_rows;
    const int *mechanism = work->strikes.mechanism;
    if (world->body[body].n_dofs == 0) return false;
    for (int j = 0; j < world->n_joints; j++) {
        const sti_Joint *joint = &world->joint[j];
        if (mechanism[joint->a] != mechanism[body] && mechanism[joint->b] != mechanism[body]) continue;
        for (int k = joint->first_row; k < joint->first_row + joint->n_rows && k < rows->n_rows; k++)
            if (fabs(sti_row_dot(rows, k, stage->v_base) + work->here.joint[k].rate) > STI_CONSISTENT) return true;
    }
    return false;
}

/* The speed of separation of contact c; 0: it does not rebound. */
static double rebound_speed(const sti_Model *model, const sti_StepWork *work, const sti_Stage *stage, int c)
{
    const sti_ContactEntry *entry = work->step.chosen[c].entry;
    const double e = entry->surface->restitution, h = stage->eta, gap = entry->gap;
    if (!(e > 0)) return 0;
    const sti_Assembly *out = &work->step;
    const bool diagonal = model->rigid || model->mass.diagonal == NULL;
    const bool forced = stage->eta > 0 && stage->means == NULL && diagonal;
    sti_RowView row;
    double speed = 0, apart = 0, together = 0;
    sti_view_row(model, work, c, 0, &row);
    for (int k = 0; k < row.n; k++) {
        const int i = row.i[k];
        speed -= row.x[k] * stage->v_base[i];
        if (!forced) continue;
        const double gained = row.x[k] * (out->f[i] / sti_mass_of(model, out->M, i) - stage->v_base[i]);
        if (gained > 0)
            apart += gained;
        else
            together -= gained;
    }
    const Approach at = (Approach){speed, together - apart, fmax(together, apart)};
    const double s = at.speed, d = at.gained;
    if (!(s > model->def.restitution_speed)) return 0;
    if (h == 0) return e * s;
    const double fall = 2 * d * gap / h;
    if (!(s > at.share) || !(gap < h * (s + d))) return 0;
    const double square = e * e * (s * s + s * d + fall) - fall;
    return square > 0 ? fmax(fmin(sqrt(square) - 0.5 * d, e * s), 0) : 0;
}

/* Would a rebound of this speed from one stop of a joint pass the other one within the step? */
static bool passes_other_stop(const sti_Assembly *out, int c, double speed)
{
    const uint64_t id = out->chosen[c].entry->id;
    const int other = (id & 1) != 0 ? c - 1 : c + 1;
    return sti_limit_joint(id) >= 0 && other >= 0 && other < out->n_gaps && out->chosen[other].entry->id == (id ^ 1) &&
           speed > out->w[out->law[other].first];
}

st_Status sti_add_rebounds(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                           st_Error *err)
{
    const bool fresh = model->rigid && state->fresh && stage->eta > 0;
    sti_Assembly *out = &work->step;
    sti_Rebounds *rebounds = &work->rebounds;
    for (int c = 0; c < out->n_gaps; c++) {
        const int row = out->law[c].first;
        const double speed = rebound_speed(model, work, stage, c), landing = out->w[row];
        if (!(speed > 0) || -speed >= landing || (model->rigid && passes_other_stop(out, c, speed))) continue;
        if (fresh && (starts_with_jump(model, work, stage, out->chosen[c].entry->a) ||
                      starts_with_jump(model, work, stage, out->chosen[c].entry->b)))
            continue;
        STI_TRY(STI_GROW(&model->allocator, rebounds->at, rebounds->capacity, rebounds->n + 1, err));
        rebounds->at[rebounds->n++] = (sti_Rebound){.contact = c, .landing = landing, .leaving = -speed};
        out->w[row] = -speed;
    }
    return ST_OK;
}

/* ---- no energy from rebounds -------------------------------------------------------------------- */

enum { HALVINGS = 6, FEW_CONTACTS = 64 };

#define MOST_WORK  1e3 /* of all contacts of an island, over the kinetic energy before and after */
#define MOST_SINKS 0.1 /* speed of penetration that is left, over the fastest rebound             */

/* Do the rebounds of an island contradict each other, or contacts at rest? A body between two walls that are closer
 * than it moves in a step cannot leave one of them and stay out of the other. The problem then has no solution, and
 * impulses grew to 1e13 times the momentum. Islands of few contacts are solved if they have a solution. A residual that
 * is relative to such impulses may be small, but contacts sink in, and the work of the impulses is large. */
static bool contradicts(const sti_StepWork *work, int k, double kinetic)
{
    const sti_Island *island = sti_islands_get(work->islands, k);
    const sti_ReboundIsland *of = &work->rebounds.island[k];
    return island != NULL && island->n_contacts <= FEW_CONTACTS &&
           (!(island->info.residual.natural <= STI_NO_SOLUTION) || of->sum > MOST_WORK * kinetic ||
            of->sinks > MOST_SINKS * of->fastest);
}

/* After a solve: bisection finds the largest factor of each island that adds no energy. The factor 0 adds none.
 * Rebounds of an island without solution get the factor 0. */
st_Status sti_limit_rebounds(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                             double *v, st_SolveInfo *solved, st_StepInfo *info, st_Error *err)
{
    const sti_Rebounds *rebounds = &work->rebounds;
    /* Islands that rebound, first with full restitution. */
    sti_Rebounds *list = &work->rebounds;
    const int n = sti_islands_count(work->islands);
    STI_TRY(STI_GROW(&model->allocator, list->island, list->island_capacity, n, err));
    for (int k = 0; k < n; k++)
        list->island[k] = (sti_ReboundIsland){.factor = 1, .high = 1};
    for (int k = 0; k < list->n; k++) {
        const int of_contact = sti_islands_of(work->islands, list->at[k].contact);
        if (of_contact < 0) continue;
        list->island[of_contact].rebounds = true;
        list->island[of_contact].fastest = fmax(list->island[of_contact].fastest, -list->at[k].leaving);
    }
    const double kinetic =
        sti_energy_kinetic(model, work, state->q, stage->v_base) + sti_energy_kinetic(model, work, state->q, v);
    for (int round = 0; round <= HALVINGS + 1; round++) {
        int limited = 0;
        /* Work of all islands with a rebound. */
        for (int k = 0; k < sti_islands_count(work->islands); k++)
            rebounds->island[k].work = rebounds->island[k].sum = rebounds->island[k].sinks = 0;
        for (int c = 0, next = 0; c < work->step.n_gaps; c++) {
            const int k = sti_islands_of(work->islands, c);
            const bool leaves = next < rebounds->n && rebounds->at[next].contact == c;
            next += leaves;
            if (k < 0 || !rebounds->island[k].rebounds) continue;
            /* Work of contact c at the mean of old and new velocity, relative to belts. The work of a contact that does
             * not rebound is negative; positive work of one that overlaps is drift correction and not counted. */
            const sti_Assembly *out = &work->step;
            const st_ContactLaw *law = &out->law[c];
            double done = 0;
            for (int j = 0; j < law->dim; j++) {
                const double r = out->r[law->first + j], w = out->w[law->first + j], u = out->u[law->first + j];
                if (r == 0) continue;
                sti_RowView row;
                double before = 0;
                sti_view_row(model, work, c, j, &row);
                for (int e = 0; e < row.n; e++)
                    before += row.x[e] * stage->v_base[row.i[e]];
                const double part = 0.5 * r * (j == 0 ? u - w + before : u + w + before);
                done += j == 0 && !leaves ? fmin(part, 0) : part;
            }

            rebounds->island[k].work += done;
            rebounds->island[k].sum += fabs(done);
            rebounds->island[k].sinks = fmax(rebounds->island[k].sinks, -out->u[law->first]);
        }
        for (int k = 0; k < sti_islands_count(work->islands); k++) {
            sti_ReboundIsland *island = &rebounds->island[k];
            const bool none = round == 0 && island->rebounds && contradicts(work, k, kinetic);
            const bool gains = none || island->work > 1e-9 * island->sum;
            if (round == 0) island->rebounds = island->rebounds && gains; /* the others are done */
            if (round > 0 && island->high == 0) island->rebounds = false; /* solved without rebounds */
            if (!island->rebounds) continue;
            if (none) island->factor = 0;
            *(gains ? &island->high : &island->low) = island->factor;
            island->factor = round < HALVINGS ? 0.5 * (island->low + island->high) : island->low;
            limited++;
        }
        if (round == 0) info->rebounds_limited += limited;
        if (limited == 0 || round > HALVINGS) break;
        for (int k = 0; k < rebounds->n; k++) {
            const sti_Rebound *at = &rebounds->at[k];
            const int k_island = sti_islands_of(work->islands, at->contact);
            const double factor = k_island >= 0 ? rebounds->island[k_island].factor : 1;
            work->step.w[work->step.law[at->contact].first] = at->landing + factor * (at->leaving - at->landing);
        }
        STI_TRY(sti_solve_step_problem(model, state, work, stage, v, solved, err));
        info->problems++;
    }
    return ST_OK;
}

/* ---- order two: the rebound before the step ------------------------------------------------------- */

/* Does a contact close within h fast enough to rebound? */
static bool closes_fast(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                        const sti_ContactEntry *contact, double h)
{
    const double approach = sti_row_dot(&work->here.contact_rows, contact->first_row, state->v);
    return contact->surface->restitution > 0 && approach < -model->def.restitution_speed &&
           contact->gap + h * approach < 0;
}

st_Status sti_rebound(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, bool *rebounds,
                      st_StepInfo *info, st_Error *err)
{
    const sti_Stage impact = {.t = state->t,
                              .eta = 0,
                              .rebound = true,
                              .rows = &work->here,
                              .q_star = state->q,
                              .v_star = state->v,
                              .v_base = state->v,
                              .q_base = state->q};
    *rebounds = false;
    if (!sti_rebounds_unseen(model)) return ST_OK;
    const st_Sink *here = &work->here;
    sti_IdSet *wanted = &work->wanted;
    const double touching = fmax(model->def.slop, model->def.active_gap);
    int n = 0;
    /* Keeps contacts that rebound, and contacts that touch and may transmit the impulse. */
    for (int k = 0; k < wanted->n; k++) {
        const int c = sti_row_buffer_find(here, wanted->id[k]);
        const bool closes = c >= 0 && closes_fast(model, state, work, &here->contact[c], h);
        if (closes || (c >= 0 && here->contact[c].gap <= touching)) wanted->id[n++] = wanted->id[k];
        *rebounds = *rebounds || closes;
    }
    wanted->n = n;
    if (*rebounds) STI_TRY(sti_solve_stage(model, state, work, &impact, work->stages.v_base, info, err));
    if (*rebounds) STI_TRY(sti_carry_impulses(model, state, work, 1.0, 1.0, err));
    return sti_select_contacts(model, state, work, h, err);
}
