/* step/energy_guard.c -- a step that gains energy without a source is not accepted.
 *
 * Let T and V be the kinetic and potential energy. Only these works of a step (stage_work.c) may add energy: `given` by
 * forces, motors, moved joints and belts; restitution; drift correction. The unexplained rise is
 *
 *     R = T(v+) + V(q+) - T(v) - V(q) - given - min(max(impact, 0), I) - min(max(correction, 0), B)
 *
 * where B is the largest work of a drift correction that moves no point faster than c = correction_speed (recovery.c):
 * with its velocities D, |D|_M <= c sqrt(m), B = |D|_M |v|_M + |D|_M^2/2. A rebound in a fixed step keeps E - (h/2) k'v
 * (rebound.c), where |v+|_M <= |v|_M. So it adds at most I = |h k| |v|_M, with |h k| in the norm of M^-1. Friction,
 * dampers and the damping of the scheme only take energy, so they explain no rise. After a solve that ended early the
 * computed works of rebounds and of correction may have any size.
 *
 * A scheme also has a truncation error: 1/2 |v+ - v|_M^2 for Euler's methods, and 1/2 k (moved)^2 for a spring; schemes
 * of order two have less. In a step that diverges both are as large as the rise itself and explain nothing. So with the
 * available energy before the step, S = T(v) + springs + |h k|^2/2M + |given|, where k are the forces at its start,
 *
 *     accept if R <= 10 min(1/2 |v+ - v|_M^2 + 1/2 k (moved)^2, S/100),  or if R <= S/1000 (solver, rounding)
 *
 * and the kinetic energy at a speed of 1e-9 widths per step is no rise: this is rounding of coordinates.
 *
 * Integrators of order two may gain a little in every step: a body that turns by 2.7 rad per step gained 5 % in the
 * first and the 128-fold in 60. So R is summed over all steps, as long as the sum is positive, and the sum may not
 * exceed the limit of one step or a tenth of the largest S so far. In this sum, drift correction of joints explains no
 * more than c^2 m/2 for all steps, with c at most sqrt(g d), the fall by half a width: near a singular position of a
 * linkage it may swing up, with a gain in every second step (300 times the energy of a flat four-bar). The sum is not
 * formed for a user's model: the work of its forces is integrated numerically, and the errors of this add up.
 *
 * Each island (bodies connected by joints, springs and contacts) is judged by its own energy as well. R is then the
 * rise of the energy of its bodies and springs, less the sum of all positive works in the system (sti_Gains), and S,
 * the truncation error and B are those of the island. Otherwise a light mechanism that diverges would not be noticed
 * beside a fast rotor. Islands are searched only if the energy of a group (bodies connected by joints and springs)
 * rises by a thousandth of it. Exceptions: systems of one group, pieces that end with a located impact, drift `mean`,
 * adhesion, a user's model.
 *
 * A step may open no joint to more than half of its size (sti_joint_opening). If it does, bodies turn by about a radian
 * or more in it. Rows that are linear in the step then have nothing to do with the joint, and drift correction may
 * never close it: a rotor that turned by 1.5 rad per step left its joint open by 220 times its size, without a gain of
 * energy.
 *
 * A step that is not accepted, or in which a velocity exceeds speed_limit, is made again from the same state. Each
 * attempt adds one remedy, in the order of `remedies` below. If none helps, the step fails with a message that has the
 * energies and names the source. With energy `report` (the presets named after papers) every step is accepted, unless R
 * > 1e6 S: then it fails.
 *
 * With Euler's methods, a piece that ends at a located collision has the velocity of the whole step (Anitescu & Potra
 * 2002). Its energy does not balance, so the piece is accepted. So are steps with compliant or regularized contacts.
 */
#include "step/energy_guard.h"

#include "step/contact/contact.h"
#include "step/contact/contact_model.h"
#include "step/drift/drift.h"

#include <stdio.h>

#define ESTIMATE_FACTOR 10.0
#define ESTIMATE_SHARE  0.01  /* largest accepted truncation error, as a part of S */
#define SOLVER_SHARE    1e-3  /* energy that a solve within its tolerance may add, as a part of S */
#define ROUNDING        1e-11 /* of all energies that are subtracted from each other */
#define REBOUND_FACTOR  2.0   /* on I: forces may change within the step */
#define STAGES_FACTOR   6.0   /* two stages extrapolate a correction to 2.4 times its speed (recovery.c) */
#define RUNAWAY         1e6   /* no step may gain this many times S */
#define OPENING         0.5   /* a joint that is open by this share of its size ...           */
#define OPENING_RISE    0.02  /* ... may not open by this much more in a step                 */

/* ---- does a step explain its energy? ---------------------------------------------------------------- */

static double positive(double x)
{
    return x > 0 ? x : 0;
}

double sti_energy(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    work->guard.kinetic = sti_energy_kinetic(model, work, state->q, state->v);
    work->guard.potential = sti_energy_potential(model, state, work, &work->here, state->t, state->q);
    return work->guard.kinetic + work->guard.potential;
}

/* Kinetic and potential energy of a body. */
static double energy_of_body(const sti_Model *model, const double *q, const double *v, int b, double *kinetic)
{
    const sti_World *world = model->world;
    const sti_BodyMass *of = &world->values.body[b];
    st_Vec3 linear, w;
    sti_body_velocity(&world->body[b], v, &linear, &w);
    *kinetic = 0.5 * (of->mass * dot(linear, linear) + dot(w, sti_spin_momentum(of, w)));
    return *kinetic + sti_body_potential(world, q, b);
}

/* Forces at the start of a piece, computed if its energy is suspicious. */
static st_Status know_forces(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    sti_EnergyGuard *guard = &work->guard;
    const st_Model *table = &model->table;
    if (guard->knows_forces) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, guard->forces, guard->forces_capacity, model->n_v, err));
    memset(guard->forces, 0, (size_t)model->n_v * sizeof *guard->forces);
    STI_TRY(table->force(table->ctx, state->t, state->q, state->v, guard->forces, err));
    guard->knows_forces = true;
    return ST_OK;
}

/* |h k|^2/2M of a body, without turning: rad/s^2 explain no energy of centres. */
static double pull_of_body(const sti_Model *model, const sti_StepWork *work, double h, int b)
{
    const sti_Body *body = &model->world->body[b];
    double square = 0;
    for (int d = 0; d < body->n_dofs; d++) {
        const double impulse = body->dof[d] < 3 ? h * work->guard.forces[body->v_first + d] : 0;
        square += impulse * impulse;
    }
    return square > 0 ? 0.5 * square / model->world->values.body[b].mass : 0;
}

/* The same of all bodies, or of a user's model. */
static double pull_of_all(const sti_Model *model, const sti_StepWork *work, double h)
{
    double sum = 0;
    for (int e = 0; model->rigid && e < sti_awake_count(model->world); e++)
        sum += pull_of_body(model, work, h, sti_awake_body(model->world, e));
    for (int i = 0; !model->rigid && i < model->n_v; i++)
        sum += 0.5 * h * h * work->guard.forces[i] * work->guard.forces[i] / sti_mass_of(model, work->step.M, i);
    return sum;
}

/* The part of a body in the energies of its island in this piece, without the truncation error and forces. */
static sti_IslandEnergy share_of_body(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int b)
{
    const double mass = model->world->values.body[b].mass;
    double before, after;
    const double then = energy_of_body(model, state->q, state->v, b, &before),
                 now = energy_of_body(model, work->q_new, work->v_new, b, &after);
    return (sti_IslandEnergy){.rise = now - then,
                              .rounding = before + after + fabs(now - after) + fabs(then - before),
                              .at_hand = before,
                              .mass = mass};
}

static void add_energy(sti_IslandEnergy *sum, sti_IslandEnergy part)
{
    sum->rise += part.rise;
    sum->rounding += part.rounding;
    sum->at_hand += part.at_hand;
    sum->truncation += part.truncation;
    sum->pulled += part.pulled;
    sum->mass += part.mass;
}

/* Is the energy of every island explained? If not, rise and limit of the guard become those of the worst island. */
static st_Status judge_islands(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h,
                               bool *explained, st_Error *err)
{
    const sti_World *world = model->world;
    const sti_Assembly *step = &work->step;
    const st_Sink *here = &work->here, *trial = &work->trial;
    const sti_Gains *gains = &step->gains;
    sti_EnergyGuard *guard = &work->guard;
    *explained = true;
    if (model->def.energy != ST_ENERGY_LIMIT || !model->rigid || !(step->eta > 0) || step->means ||
        !(gains->given < INFINITY))
        return ST_OK;
    STI_TRY(sti_find_joined(model, work, err));
    if (work->joined.n == 1) return ST_OK; /* one island: it is the whole system, which was judged before */

    /* Energies by group. If no group gains more than its limit, no island does. */
    const int *group = work->joined.of;
    bool suspicious = false;
    STI_TRY(STI_GROW(&model->allocator, guard->place, guard->place_capacity, model->n_v, err));
    STI_TRY(STI_GROW(&model->allocator, guard->of, guard->of_capacity, work->joined.n, err));
    int *place = guard->place;
    for (int i = 0, n = 0; i < model->n_v; i++) { /* the first velocity of a group is its smallest one */
        if (group[i] == i) guard->of[n] = (sti_IslandEnergy){0};
        place[i] = group[i] == i ? n++ : place[group[i]];
    }
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        if (world->body[b].n_dofs > 0)
            add_energy(&guard->of[place[world->body[b].v_first]], share_of_body(model, state, work, b));
    }
    for (int k = 0; k < here->soft_rows.n_rows && k < trial->soft_rows.n_rows; k++) {
        const sti_SoftEntry *then = &here->soft[k], *now = &trial->soft[k];
        const double before = 0.5 * then->stiffness * then->value * then->value + then->energy,
                     after = 0.5 * now->stiffness * now->value * now->value + now->energy,
                     moved = now->value - then->value;
        if (here->soft_rows.p[k] < here->soft_rows.p[k + 1])
            add_energy(&guard->of[place[here->soft_rows.i[here->soft_rows.p[k]]]],
                       (sti_IslandEnergy){.rise = after - before,
                                          .rounding = fabs(after) + fabs(before),
                                          .at_hand = fabs(before),
                                          .truncation = 0.5 * then->stiffness * moved * moved});
    }
    for (int round = 0; round < 2; round++) { /* without forces, and with them */
        for (int e = 0; round > 0 && e < sti_awake_count(world); e++) {
            const int b = sti_awake_body(world, e);
            if (world->body[b].n_dofs == 0) continue;
            const double pulled = pull_of_body(model, work, h, b);
            add_energy(&guard->of[place[world->body[b].v_first]],
                       (sti_IslandEnergy){.at_hand = pulled, .pulled = pulled});
        }
        suspicious = false;
        for (int k = 0; k < work->joined.n && !suspicious; k++)
            suspicious = guard->of[k].rise > SOLVER_SHARE * guard->of[k].at_hand + ROUNDING * guard->of[k].rounding;
        if (!suspicious) return ST_OK;
        if (round == 0) STI_TRY(know_forces(model, state, work, err));
    }

    STI_TRY(STI_GROW(&model->allocator, guard->island, guard->island_capacity, model->n_v, err));
    STI_TRY(sti_find_islands(model, work, guard->island, err));
    for (int i = 0; i < model->n_v; i++)
        if (group[i] == i && guard->island[i] != i)
            add_energy(&guard->of[place[guard->island[i]]], guard->of[place[i]]);
    double *change = work->v_work;
    for (int i = 0; i < model->n_v; i++)
        change[i] = work->v_new[i] - state->v[i];
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        double changed;
        if (world->body[b].n_dofs == 0) continue;
        (void)energy_of_body(model, state->q, change, b, &changed);
        guard->of[place[guard->island[world->body[b].v_first]]].truncation += changed;
    }
    const bool two = sti_integrator(model)->order > 1;
    const double idle = model->overlap / h, c = model->def.correction_speed;
    double worst = 0;
    for (int i = 0; i < model->n_v; i++) {
        const sti_IslandEnergy *of = &guard->of[place[i]];
        if (guard->island[i] != i || !(of->rise > 0)) continue;
        /* position and orientation may both be corrected at speed c, with an energy of up to m c^2/2 each */
        const double at_hand = of->at_hand + gains->given, D = c * sqrt(2 * of->mass),
                     most = D * (sqrt(2 * at_hand) + 0.5 * D),
                     rebound = REBOUND_FACTOR * 2 * sqrt(of->pulled * at_hand);
        const double largest = ESTIMATE_SHARE * at_hand,
                     estimate = model->def.integrator == ST_INTEGRATOR_BDF2 ? largest : fmin(largest, of->truncation);
        const double limit = ROUNDING * of->rounding + 0.5 * of->mass * idle * idle + gains->given +
                             fmin(gains->rebound, rebound) + fmin((two ? STAGES_FACTOR : 1) * gains->correction, most) +
                             fmax(SOLVER_SHARE * at_hand, ESTIMATE_FACTOR * estimate);
        if (!(of->rise - limit > worst)) continue;
        worst = of->rise - limit;
        guard->rise = of->rise;
        guard->limit = limit;
        guard->given = gains->given;
        *explained = false;
    }
    return ST_OK;
}

st_Status sti_judge_energy(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double taken,
                           st_Error *err)
{
    sti_EnergyGuard *guard = &work->guard;
    st_Sink *here = &work->here, *trial = &work->trial;
    const int order = sti_integrator(model)->order;
    const bool cut = taken < h && order == 1;
    bool explained = true;
    guard->tripped = guard->knows_forces = false;
    guard->open_joint = -1;
    const bool limited = model->def.energy == ST_ENERGY_LIMIT; /* else impacts may gain: it is reported */
    if (model->def.contact != ST_CONTACT_RIGID) return ST_OK;
    if (limited) {
        int joint, before;
        const double opening = sti_row_buffer_joint_opening(model, trial, &joint);
        if (opening > OPENING) guard->opening = opening - sti_row_buffer_joint_opening(model, here, &before);
        guard->tripped = opening > OPENING && guard->opening > OPENING_RISE;
        if (guard->tripped) guard->open_joint = joint;
        if (guard->tripped) return ST_OK;
    }
    if (cut) return ST_OK;
    sti_Works works = work->events.before;
    sti_works_add(&works, 1, &work->step.done);
    const double kinetic = sti_energy_kinetic(model, work, state->q, work->v_new), /* k contains the terms of M(q) */
        potential = sti_energy_potential(model, state, work, trial, state->t + taken, work->q_new),
                 rise = kinetic - guard->kinetic + (potential - guard->potential), unexplained = rise - works.given,
                 rounding = ROUNDING * (kinetic + guard->kinetic + fabs(potential) + fabs(guard->potential));
    sti_Works *sums = &state->works;
    if (unexplained <= 0) sums->gained = fmax(sums->gained + unexplained, 0);
    if (!(unexplained <= rounding)) { /* rare: the rise of the whole system */
        /* S, and the mass that moves. */
        STI_TRY(know_forces(model, state, work, err));
        const double pulled = pull_of_all(model, work, h);
        double elastic = 0, mass = 0;
        for (int k = 0; k < here->soft_rows.n_rows; k++)
            elastic +=
                fabs(0.5 * here->soft[k].stiffness * here->soft[k].value * here->soft[k].value + here->soft[k].energy);
        for (int b = 0; b < model->n_blocks; b++) {
            const int first = model->first[b], end = model->first[b + 1];
            double most = 0; /* mass of the bodies, without inertia */
            for (int i = first; i < end && (!model->rigid || i < first + 3); i++)
                most = fmax(most, sti_mass_of(model, work->step.M, i));
            mass += most;
        }
        const double at_hand = guard->kinetic + elastic + pulled + fabs(works.given);
        const double D = model->def.correction_speed * sqrt(mass), most = D * (sqrt(2 * at_hand) + 0.5 * D);
        const double rebound = limited ? REBOUND_FACTOR * 2 * sqrt(pulled * at_hand) : INFINITY;
        const double R = unexplained - fmin(positive(works.impact), rebound) -
                         fmin((order > 1 ? STAGES_FACTOR : 1) * positive(works.correction), most);
        const double idle =
            model->overlap / h; /* [m/s] displacements this short are rounding of coordinates (settings.c) */
        const double noise = rounding + 0.5 * mass * idle * idle;
        guard->rise = rise;
        guard->given = works.given;
        guard->limit = noise + RUNAWAY * at_hand;
        if (limited) {
            double estimate = ESTIMATE_SHARE * at_hand;
            if (model->def.integrator !=
                ST_INTEGRATOR_BDF2) { /* bdf2 takes forces at the end of the step, and their work as well */
                double *change = work->v_work;
                for (int i = 0; i < model->n_v; i++)
                    change[i] = work->v_new[i] - state->v[i];
                double truncation = sti_energy_kinetic(model, work, state->q, change);
                for (int k = 0; k < here->soft_rows.n_rows && k < trial->soft_rows.n_rows; k++) {
                    const double moved = trial->soft[k].value - here->soft[k].value;
                    truncation += 0.5 * here->soft[k].stiffness * moved * moved;
                }
                estimate = fmin(estimate, truncation);
            }
            guard->limit = noise + fmax(SOLVER_SHARE * at_hand, ESTIMATE_FACTOR * estimate);
        }
        if (limited && order > 1 && model->rigid) {
            sums->largest = fmax(sums->largest, at_hand);
            /* Corrections of overlaps may go on for as long as there are any; those of joints give no more than what
             * closes all of them once. */
            const double of_contacts = works.correction - work->step.gains.joints,
                         sum = unexplained - fmin(positive(works.impact), rebound) -
                               fmin(STAGES_FACTOR * positive(of_contacts), most),
                         gained = sums->gained;
            sums->gained = fmax(gained + sum, 0);
            const double most_of_all = fmax(guard->limit, ESTIMATE_FACTOR * ESTIMATE_SHARE * sums->largest) +
                                       0.5 * mass * model->closing_speed * model->closing_speed;
            guard->limit = fmin(guard->limit, most_of_all - gained - (sum - R));
        }
        guard->limit += rise - R; /* of the rise itself */
        explained = rise <= guard->limit;
    }
    if (explained) STI_TRY(judge_islands(model, state, work, h, &explained, err));
    guard->tripped = !explained;
    return ST_OK;
}

/* ---- remedies ----------------------------------------------------------------------------------------- */

/* The attempts, in order: Euler's method, which damps jumps that schemes of order two extrapolate; the step problem
 * solved to 1e-13 with a limit of visits per contact (enough for few bodies; in a large pile the residual falls from
 * 0.05 to 1e-3, which nearly always suffices and costs a tenth of the next attempt); no drift correction; an eighth of
 * the step; a 64th of the step. */
static const struct Remedy {
    const char *words;
    bool rough, no_recovery;
    double visits; /* visits of each contact in the solve to 1e-13; 0: the usual solve */
    double part;   /* of the step                                                      */
} remedies[] = {
    {"by Euler's method", true, false, 0, 1},
    {"with ten times the usual sweeps", true, false, 300, 1},
    {"to a residual of 1e-13", true, false, STI_TIGHT_VISITS, 1},
    {"without drift correction", true, true, STI_TIGHT_VISITS, 1},
    {"with an eighth of the step", true, true, STI_TIGHT_VISITS, 0.125},
    {"with a 64th of the step", true, true, STI_TIGHT_VISITS, 1.0 / 64},
};
enum { N_REMEDIES = sizeof remedies / sizeof remedies[0] };

st_Status sti_solve_tightly(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    sti_EnergyGuard *guard = &work->guard;
    guard->visits = STI_TIGHT_VISITS;
    if (guard->is_tight) return ST_OK;
    if (guard->other_islands == NULL) {
        st_SolverDef def = st_solver_def();
        def.name = model->def.solver;
        def.tolerance = 1e-13;
        def.max_iterations = model->def.max_iterations;
        def.effort = ST_EFFORT_EXACT;
        def.warm_start = true;
        def.threads = model->def.threads;
        def.allocator = model->allocator;
        STI_TRY(sti_islands_create(&def, model->def.islands, work->stop, &guard->other_islands, err));
    }
    STI_EXCHANGE(sti_Islands *, work->islands, guard->other_islands);
    guard->is_tight = true;
    return ST_OK;
}

void sti_guard_begin(sti_StepWork *work)
{
    sti_EnergyGuard *guard = &work->guard;
    if (guard->is_tight) STI_EXCHANGE(sti_Islands *, work->islands, guard->other_islands);
    guard->is_tight = guard->tripped = guard->ran_away = guard->rough = false;
    guard->recovery = guard->part = 1;
    guard->attempt = 0;
}

st_Status sti_guard_remedy(const sti_Model *model, sti_StepWork *work, bool *any, st_Error *err)
{
    sti_EnergyGuard *guard = &work->guard;
    *any = false;
    guard->tripped = guard->ran_away = false;
    if (model->def.energy != ST_ENERGY_LIMIT) return ST_OK;
    if (guard->attempt == 0 && sti_integrator(model)->order == 1) guard->attempt++;
    if (guard->attempt == N_REMEDIES) return ST_OK;
    const struct Remedy *remedy = &remedies[guard->attempt++];
    guard->rough = remedy->rough && sti_integrator(model)->order > 1;
    guard->recovery = remedy->no_recovery ? 0 : 1;
    guard->part = remedy->part;
    *any = true;
    if (remedy->visits > 0) STI_TRY(sti_solve_tightly(model, work, err));
    guard->visits = remedy->visits;
    return ST_OK;
}

st_Status sti_guard_fail(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_Error *err)
{
    const sti_EnergyGuard *guard = &work->guard;
    char source[800];
    if (guard->open_joint >= 0) {
        double turned = 0; /* a bound on how far a body turns in the step */
        for (int b = 1; b < model->world->n_bodies; b++) {
            st_Vec3 v, w;
            if (model->world->body[b].n_dofs == 0) continue;
            sti_body_velocity(&model->world->body[b], work->v_new, &v, &w);
            turned = fmax(turned, h * norm(w));
        }
        return sti_fail(err, ST_ERR_NUMERIC,
                        "diverged at step %lld, t = %g: joint \"%s\" opens by %.3g of its size in one step of %g s, in "
                        "which bodies turn by up to %.3g rad; try a smaller h",
                        (long long)state->n_steps + 1, state->t, model->world->scene->joint[guard->open_joint].name,
                        guard->opening, h, turned);
    }
    /* Describes the contact or joint with the largest positive work in this step. */
    const sti_Assembly *step = &work->step;
    double most = 0;
    snprintf(source, sizeof source, "no contact or joint gives any of it");
    for (int c = 0; c < step->n_gaps; c++) {
        double given = 0;
        for (int k = 0; k < step->law[c].dim; k++) {
            sti_RowView row;
            sti_view_row(model, work, c, k, &row);
            for (int e = 0; e < row.n; e++)
                given +=
                    0.5 * step->r[step->law[c].first + k] * row.x[e] * (work->v_new[row.i[e]] + state->v[row.i[e]]);
        }
        if (!(given > most)) continue;
        char pair[600];
        most = given;
        sti_describe_contact(model, step->chosen[c].entry, pair, sizeof pair);
        snprintf(source, sizeof source, "the contact of %s gives %.3g J, its gap is %.3g m", pair, given,
                 step->chosen[c].entry->gap);
    }
    for (int k = 0; model->rigid && k < model->world->n_joints; k++) {
        const sti_Joint *joint = &model->world->joint[k];
        double given = 0, error = 0;
        for (int row = joint->first_row; row < joint->first_row + joint->n_rows && row < step->G.n_rows; row++) {
            given +=
                0.5 * step->l[row] * (sti_row_dot(&step->G, row, work->v_new) + sti_row_dot(&step->G, row, state->v));
            error = fmax(error, fabs(work->here.joint[row].value));
        }
        if (!(given > most)) continue;
        most = given;
        snprintf(source, sizeof source, "joint \"%s\" gives %.3g J, its error is %.3g m or rad",
                 model->world->scene->joint[k].name, given, error);
    }
    const bool again = model->def.energy == ST_ENERGY_LIMIT;
    return sti_fail(
        err, ST_ERR_NUMERIC,
        "diverged at step %lld, t = %g: the energy rises by %.3g J in one step of %g s, where %.3g J can be "
        "explained (forces and motors give %.3g J); %s; %s",
        (long long)state->n_steps + 1, state->t, guard->rise, h, guard->limit, guard->given, source,
        again ? "solving it again exactly, without drift correction and with shorter steps did not help"
              : "try a smaller h or an implicit integrator");
}
