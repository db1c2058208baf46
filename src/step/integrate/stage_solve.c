/* step/integrate/stage_solve.c -- the solution of the step problem, island by island, and its direct consequences. */
#include "base/tolerance.h"
#include "math/parallel.h"
#include "solve/islands.h"
#include "step/contact/contact.h"
#include "step/contact/contact_model.h"
#include "step/drift/drift.h"
#include "step/integrate/stage.h"
#include "step/joint_coordinates.h"
#include "step/sleep.h"

/* If a step solves several problems and the first one used all of step_work_limit, each of the next ones may still
 * visit each contact this many times: a sweep or two, and the computation of the residual. */
#define FEWEST_VISITS 4.0

st_Status sti_solve_problem(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Solver *solver,
                            const st_Problem *problem, st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    if (!model->rigid) STI_TRY(st_problem_check(problem, err));
    STI_TRY(sti_solver_solve(solver, problem, NULL, solution, info, err));
    return sti_check_cancelled(model, state, work, err);
}

/* The residual that the last solve left at a contact of the step problem: warm_start.c. */
static double left_at(const void *ctx, int contact)
{
    const sti_Assembly *step = ctx;
    return step->chosen[contact].left;
}

st_Status sti_solve_islands(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Solution *solution,
                            st_SolveInfo *info, st_Error *err)
{
    const st_Problem *problem = &work->step.problem;
    const double limit = model->def.step_work_limit - work->work_done;
    const sti_IslandsCall call = {
        .pile = work->step.piled ? &work->step.pile : NULL,
        .awake = work->sleep.n_asleep > 0 ? &work->sleep.awake : NULL,
        .max_work = fmax(fmin(limit, work->guard.is_tight ? work->guard.visits : limit), FEWEST_VISITS),
        .left = left_at,
        .left_ctx = &work->step};
    st_SolveInfo found = {0};
    bool done = false;
    if (!model->rigid) STI_TRY(st_problem_check(problem, err));
    const sti_Linearised *linear = &work->linearised; /* drag: symmetric, body by body */
    if (work->joint_coordinates != NULL && (!linear->on || (linear->symmetric && linear->first == model->first)))
        STI_TRY(sti_joint_coordinates_solve(model, work, &call, solution, &found, &done, err));
    if (!done) STI_TRY(sti_islands_solve(work->islands, problem, &call, solution, &found, err));
    work->work_done += found.work;
    if (info != NULL) *info = found;
    return sti_check_cancelled(model, state, work, err);
}

enum { MOST_HOLDING = 300 };     /* joint rows of two mechanisms: the basis takes their number squared */
static const double HELD = 1e-3; /* part of a row that no joint holds: the distance of a joint from the normal, relative
                                  * to the reach of the bodies */
static const double MOST_HELD = 0.1; /* the same for an overlap of any depth: above it, impulses open the contact */
static const double TURN = 10;       /* [rad] a turn about a joint this large or larger does not open an overlap */

/* An orthonormal basis of the joint rows of two mechanisms, in work->joined: `size` rows of `n` velocities. Angular
 * velocities are multiplied by the reach of their body. Masses do not count: a light part of a heavy body is not held.
 */
typedef struct Holding {
    int group[2]; /* the first velocity of each mechanism; -1: none */
    int n, size;
} Holding;

/* Writes row k, and subtracts its part in the basis (Gram-Schmidt, twice if little is left). Returns the norm of the
 * rest relative to that of the row. */
static double rest_of_row(const sti_StepWork *work, const Holding *holding, const sti_RowList *rows, int k, double *x)
{
    const sti_Joined *joined = &work->joined;
    const int n = holding->n;
    double before = 0, after = 0;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
        x[joined->place[rows->i[e]]] += rows->x[e] * joined->weight[rows->i[e]];
    for (int i = 0; i < n; i++)
        before += x[i] * x[i];
    for (int pass = 0; pass < 2 && (pass == 0 || after < 0.25 * before); pass++) {
        for (int b = 0; b < holding->size; b++) {
            const double *y = joined->basis + (int64_t)b * n;
            double along = 0;
            for (int i = 0; i < n; i++)
                along += x[i] * y[i];
            for (int i = 0; i < n; i++)
                x[i] -= along * y[i];
        }
        after = 0;
        for (int i = 0; i < n; i++)
            after += x[i] * x[i];
    }
    return before > 0 ? sqrt(after / before) : 0;
}

/* Do joints alone hold the bodies of contact c along its normal? Then its row is a sum of joint rows, and no impulse
 * opens or closes it. For links that start at one point, the normal passes through the joint. If it passes beside the
 * joint, at the distance d, a turn by overlap/d would be needed. */
static st_Status joints_hold(const sti_Model *model, sti_StepWork *work, Holding *holding, int c, bool *held,
                             st_Error *err)
{
    const sti_Assembly *out = &work->step;
    const sti_RowList *G = &out->G;
    sti_Joined *joined = &work->joined;
    const int row = out->law[c].first, n_rows = work->here.joint_rows.n_rows;
    int group[2] = {-1, -1}, n = 0;
    *held = false;
    if (out->chosen[c].entry->shape_a == 0) return ST_OK; /* a limit of a joint */
    if (!model->rigid || out->piled || n_rows == 0 || n_rows > G->n_rows || out->H.p[row] == out->H.p[row + 1])
        return ST_OK;
    STI_TRY(sti_find_joined(model, work, err));
    for (int64_t e = out->H.p[row]; e < out->H.p[row + 1]; e++)
        group[e > out->H.p[row]] = joined->of[out->H.i[e]];
    if (group[0] != holding->group[0] || group[1] != holding->group[1]) {
        *holding = (Holding){.group = {group[0], group[1]}};
        STI_TRY(STI_GROW(&model->allocator, joined->place, joined->place_capacity, model->n_v, err));
        for (int i = 0; i < model->n_v; i++)
            joined->place[i] = joined->of[i] == group[0] || joined->of[i] == group[1] ? holding->n++ : -1;
        STI_TRY(STI_GROW(&model->allocator, joined->weight, joined->weight_capacity, model->n_v, err));
        for (int b = 0; b < model->world->n_bodies; b++) {
            const sti_Body *body = &model->world->body[b];
            const double wide = model->world->collider.body_reach[b];
            for (int d = 0; d < body->n_dofs; d++)
                joined->weight[body->v_first + d] = body->dof[d] < 3 || !(wide > 0) ? 1 : 1 / wide;
        }
        for (int k = 0; k < n_rows; k++)
            n += G->p[k] < G->p[k + 1] && joined->place[G->i[G->p[k]]] >= 0;
        if (n > MOST_HOLDING) n = 0;
        STI_TRY(STI_GROW(&model->allocator, joined->basis, joined->basis_capacity, ((int64_t)n + 1) * holding->n, err));
        for (int k = 0; k < n_rows && n > 0; k++) {
            double *x = joined->basis + (int64_t)holding->size * holding->n, square = 0;
            if (G->p[k] == G->p[k + 1] || joined->place[G->i[G->p[k]]] < 0) continue;
            if (rest_of_row(work, holding, G, k, x) < sqrt(STI_REDUNDANT_PIVOT)) continue;
            for (int i = 0; i < holding->n; i++)
                square += x[i] * x[i];
            for (int i = 0; i < holding->n; i++)
                x[i] /= sqrt(square);
            holding->size++;
        }
    }
    if (holding->size == 0) return ST_OK;
    const sti_ContactEntry *entry = out->chosen[c].entry;
    const sti_World *world = model->world;
    double reach = INFINITY;
    if (world->body[entry->a].n_dofs > 0) reach = world->collider.body_reach[entry->a];
    if (world->body[entry->b].n_dofs > 0) reach = fmin(reach, world->collider.body_reach[entry->b]);
    const double left = rest_of_row(work, holding, &out->H, row, joined->basis + (int64_t)holding->size * holding->n);
    const double turn = reach > 0 ? fmin(-entry->gap / (TURN * reach), MOST_HELD) : 0; /* points have no reach */
    *held = left < fmax(HELD, turn);
    return ST_OK;
}

/* No impulse of a contact that joints hold changes anything. A compliance equal to the mobility of its bodies leaves it
 * without load. */
static void release(const sti_Model *model, sti_StepWork *work, int c)
{
    sti_Assembly *out = &work->step;
    const int row = out->law[c].first;
    out->overlapping += !(out->C[row] > 0);
    out->chosen[c].released = true;
    out->C[row] = sti_contact_mobility(model, work, c);
    out->w[row] = fmax(out->w[row], 0);
    memset(out->r + row, 0, (size_t)out->law[c].dim * sizeof *out->r);
}

/* Makes room for compliance in a problem that has none: an impact, or overlaps that are not corrected. */
static void allow_compliance(sti_Assembly *out)
{
    if (out->compliant) return;
    for (int k = 0; k <= out->n_C && out->n_bounded == 0; k++) {
        out->C_first[k] = k;
        if (k < out->n_C) out->C[k] = 0;
    }
    out->problem.C = (st_BlockDiag){.n_blocks = out->n_C, .first = out->C_first, .x = out->C};
    out->compliant = true;
}

/* Is the overlap of a contact deeper than those that a solver leaves? */
static bool is_deep(const sti_Model *model, const sti_ContactEntry *entry)
{
    if (!sti_overlaps(model, entry->gap) || entry->shape_a == 0) return false;
    return -entry->gap >
           STI_RELATIVE_BAND * sti_pair_size(&model->world->collider, entry->shape_a - 1, entry->shape_b - 1);
}

/* Does a body of a mechanism that no joint ties to the ground touch the ground? Then the motion of the whole mechanism
 * along the normal opens the contact: joints do not hold it, and need not be looked at. */
static bool floats(const sti_Model *model, const sti_StepWork *work, const sti_ContactEntry *entry)
{
    const sti_World *world = model->world;
    const int *of = work->joined.of;
    const sti_Body *a = &world->body[entry->a], *b = &world->body[entry->b];
    if ((a->n_dofs > 0) == (b->n_dofs > 0)) return false;
    const int group = of[a->n_dofs > 0 ? a->v_first : b->v_first];
    for (int k = 1; k < sti_first_rotor(world); k++)
        if (world->body[k].n_dofs > 0 && world->body[k].n_dofs < 6 && of[world->body[k].v_first] == group) return false;
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        if (joint->type == ST_JOINT_TENDON || joint->type == ST_JOINT_GEAR) return false; /* may touch more bodies */
        const sti_Body *c = &world->body[joint->a], *d = &world->body[joint->b];
        if ((c->n_dofs > 0) == (d->n_dofs > 0)) continue;
        if (of[c->n_dofs > 0 ? c->v_first : d->v_first] == group) return false;
    }
    return true;
}

/* Some overlaps cannot be opened by any impulse: joints hold the bodies, a motor without limit drives them together, or
 * friction locks the motion that joints allow. The compliance of overlaps (docs/methods.md 4) is a share of the
 * mobility without joints. It then absorbs the correction with very large forces, and the friction of these forces
 * would lock a wheel. Such contacts become rigid and are not corrected, or are released if joints alone hold them.
 * There are three signs of such a contact:
 *
 *   - Joints: the compliance absorbs at least half of the correction.
 *   - Joints: the impulse is more than LEVER times the total momentum available.
 *   - No joints: the load is 1e8 times as heavy as the lighter body. It would sink at C r - |w|, which is at least a
 *     tenth of the fastest speed.
 *
 * A body pinched between overlaps on both sides has C r = |w| there: r is 1e8 times the momentum of the correction,
 * grows like 1/h, and follows from no load. It holds the body by friction, but it is reported as no force (strike.c),
 * and its work is that of the motion of the body (stage_work.c).                                                 */
enum { LEFT_ROUNDS = 8 };
static const double IDLE_SINKING = 1e-6; /* of the fastest speed: an overlap of rounding that carries a load */
static const double LEVER = 1e3;         /* an impulse relative to the total momentum: a longer lever is a lock */
static const double DEEP_LEVER = 10;     /* the same for an overlap that no solver leaves, if the problem is solved */
static const double VISIBLE_LEVER = 3; /* an impulse relative to the changes of momentum: joints may hold the contact */
static st_Status leave_immovable(const sti_Model *model, sti_StepWork *work, double fastest, double momentum,
                                 double visible, bool solved, bool *any, st_Error *err)
{
    sti_Assembly *out = &work->step;
    const bool joints = out->problem.n_l > 0;
    const double most = joints ? 0.5 : 2, least = (joints ? IDLE_SINKING : STI_VELOCITY_ERROR) * fastest;
    Holding holding = {.group = {-1, -1}};
    *any = false;
    for (int c = 0; c < out->n_gaps; c++) {
        const int row = out->law[c].first; /* C is diagonal */
        bool held = false;
        const double C = out->compliant ? out->C[row] : 0, sinks = C * out->r[row];
        const double size = fabs(out->r[row]); /* a solver that stops early may return less than 0 */
        const bool deep = joints && size > momentum && is_deep(model, out->chosen[c].entry);
        const bool locked = joints && size > (deep ? DEEP_LEVER : LEVER) * momentum;
        out->chosen[c].pinched = C > 0 && !joints && size > LEVER * momentum;
        if (C > 0) {
            if (!(sinks > most * fabs(out->w[row]) && sinks > least) && !locked) continue;
            if (out->chosen[c].released) continue;
            if (joints) STI_TRY(joints_hold(model, work, &holding, c, &held, err));
        } else {
            /* The contact is rigid. If joints hold it, any impulse solves the problem. If friction locks it, and joint
             * correction moves its bodies towards each other, no impulse does: impulses grow until the solver stops,
             * and their work is many times the total energy. Released, the contact is a damper. */
            const bool large = joints && out->chosen[c].entry->shape_a > 0 &&
                               size > fmin(VISIBLE_LEVER * visible, DEEP_LEVER * momentum);
            if (!large && !locked && (solved || !deep)) continue;
            STI_TRY(joints_hold(model, work, &holding, c, &held, err));
            const bool overlaps = sti_overlaps(model, out->chosen[c].entry->gap);
            const bool stuck = overlaps && (solved ? deep && locked : deep || locked);
            if (!held && !stuck) continue;
            held = true;
        }
        *any = true;
        if (held) {
            allow_compliance(out);
            release(model, work, c);
            continue;
        }
        out->C[row] = 0;
        out->w[row] = fmax(out->w[row], 0);
        out->overlapping--;
        memset(out->r + row, 0, (size_t)out->law[c].dim * sizeof *out->r);
    }
    return ST_OK;
}

/* The changes of momentum that a stage shows: those of centres of mass, and those by forces, motors and springs. */
static double visible_momentum(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                               const sti_Stage *stage, const double *v)
{
    const sti_Assembly *out = &work->step;
    const sti_World *world = model->world;
    double sum = 0;
    for (int b = 0; b < world->n_bodies; b++) {
        const sti_Body *body = &world->body[b];
        double change = 0;
        for (int d = 0; d < body->n_dofs && body->dof[d] < 3; d++)
            change += fabs(v[body->v_first + d] - stage->v_base[body->v_first + d]);
        if (body->n_dofs > 0) sum += world->values.body[b].mass * (change + stage->eta * state->fastest.pull);
    }
    for (int k = 0; k < out->n_bounded; k++)
        sum += fabs(out->r[out->law[out->n_gaps + k].first]);
    for (int k = work->here.joint_rows.n_rows; k < out->problem.n_l; k++) /* springs */
        sum += fabs(out->l[k]);
    return sum;
}

/* Rounds of a fixed point of which the changes are taken whole, and rounds at most. */
enum { WHOLE_ROUNDS = 6, MOST_ROUNDS = 24 };

/* Laws with parameters that depend on the solution: friction by speed (stribeck.c) and liquid bridges. The problem is
 * solved repeatedly with the parameters of the last solution, until the change of impulses is below the tolerance.
 * Changes that alternate are halved after a few rounds. If the rounds do not suffice, the step has not converged. */
static st_Status solve_dependent_laws(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                                      st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    sti_Assembly *out = &work->step;
    const sti_World *world = model->world;
    double change = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double asked = sti_larger(model->def.tolerance, info->residual.natural),
                     part = round < WHOLE_ROUNDS ? 1 : 0.5;
        double whole = 0;
        for (int c = 0; c < out->n_gaps; c++)
            for (int k = 0; k < out->law[c].dim && k < 3; k++)
                whole += out->r[out->law[c].first + k] * out->r[out->law[c].first + k];
        for (int c = 0; world->liquid && c < out->n_gaps; c++)
            whole += out->chosen[c].pull * out->chosen[c].pull;
        const double changed =
            sti_follow_speeds(out, 0) + (world->liquid ? sti_follow_gaps(model, work, solution->v, 0) : 0);
        change = changed > 0 && changed >= asked * asked * whole ? sqrt(changed / whole) : 0;
        if (change == 0) break;
        sti_follow_speeds(out, part);
        if (world->liquid) sti_follow_gaps(model, work, solution->v, part);
        STI_TRY(sti_solve_islands(model, state, work, solution, info, err));
    }
    if (change > 0) info->converged = false;
    work->law_change = sti_larger(work->law_change, change);
    return ST_OK;
}

st_Status sti_solve_step_problem(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                                 double *v, st_SolveInfo *info, st_Error *err)
{
    sti_Assembly *out = &work->step;
    bool impact = stage->eta == 0;
    if (work->tension.on) sti_leave_tension(work); /* the problem may have been solved before, with it */
    work->tension.on = false;
    STI_TRY(sti_warm_start(model, state, work, stage, err)); /* an impact starts from 0 */
    if (work->sleep.n_asleep > 0) sti_sleep_impulses(work, stage->eta);
    sti_team_copy(model->def.threads, out->start, out->r, out->problem.n_r);
    st_Solution solution = {.v = v, .l = out->l, .u = out->u, .r = out->r};
    /* Releases deep overlaps that joints hold. */
    Holding holding = {.group = {-1, -1}};
    if (model->rigid && model->def.contact == ST_CONTACT_RIGID && !out->piled && work->here.joint_rows.n_rows != 0) {
        for (int c = 0; c < out->n_gaps; c++) {
            const sti_ContactEntry *entry = out->chosen[c].entry;
            bool held = false;
            if (!is_deep(model, entry)) continue;
            STI_TRY(sti_find_joined(model, work, err));
            if (!floats(model, work, entry)) STI_TRY(joints_hold(model, work, &holding, c, &held, err));
            if (!held) continue;
            allow_compliance(out);
            release(model, work, c);
        }
    }
    if (stage->means != NULL && stage->means->again && !sti_joint_coordinates_used(work))
        STI_TRY(sti_islands_correct(work->islands, &out->problem, &solution, info, err));
    else
        STI_TRY(sti_solve_islands(model, state, work, &solution, info, err));
    const bool loaded = out->n_loaded != 0;
    /* Friction of restitution becomes a part of its contact's, as if the problem had had one contact. */
    for (int k = 0; k < out->n_loaded; k++) {
        const st_ContactLaw *law = &out->law[out->n_gaps + k], *of = &out->law[out->chosen[out->n_gaps + k].element];
        for (int i = 1; i < law->dim; i++)
            out->r[of->first + i] += out->r[law->first + i];
    }
    if (loaded) {
        const int n_r = out->law[out->n_gaps].first;
        out->problem.n_contacts = out->n_gaps;
        out->problem.n_r = out->problem.H.n_cols = out->H.n_rows = n_r;
        out->problem.C.n_blocks = 0; /* an impact is rigid, except for joined rows */
        out->n_loaded = 0;
    }
    /* If one overlap is no longer corrected, the correction may load others. */
    const bool jointed = model->rigid && model->def.contact == ST_CONTACT_RIGID && !out->piled && !loaded &&
                         work->here.joint_rows.n_rows > 0 && out->n_gaps > 0;
    for (int round = 0; round < LEFT_ROUNDS; round++) {
        if (!jointed && !(out->compliant && (round > 0 || out->overlapping > 0))) break;
        /* The total momentum available in a stage: all bodies at the fastest speed, and the impulses of forces, motors,
         * springs and drift correction. */
        double mass = 0, driven = 0;
        for (int b = 0; b < model->n_blocks; b++)
            mass += sti_mass_of(model, out->M, model->first[b]);
        for (int k = 0; k < out->n_bounded; k++)
            driven += fabs(out->r[out->law[out->n_gaps + k].first]);
        for (int k = work->here.joint_rows.n_rows; k < out->problem.n_l; k++) /* springs */
            driven += fabs(out->l[k]);
        const double momentum =
            driven + mass * (state->fastest.speed + stage->eta * state->fastest.pull + model->def.correction_speed);
        const bool solved = round == 0 || info->converged;
        bool any = false;
        const double visible = jointed ? visible_momentum(model, state, work, stage, v) : INFINITY;
        STI_TRY(leave_immovable(model, work, state->fastest.speed, momentum, visible, solved, &any, err));
        if (!any) break;
        STI_TRY(sti_solve_islands(model, state, work, &solution, info, err));
    }
    if (model->world->n_joints > 0 && !out->piled)
        STI_TRY(sti_resolve_tension(model, state, work, stage, &solution, info, err));
    if (!impact && (model->world->stribeck || model->world->liquid))
        STI_TRY(solve_dependent_laws(model, state, work, &solution, info, err));
    if (model->def.rigid_limit && model->def.contact == ST_CONTACT_REGULARIZED && !impact)
        STI_TRY(sti_rigid_limit(model, state, work, stage, &solution, info, err));
    if (work->least_norm != NULL && !impact) STI_TRY(sti_least_norm(model, state, work, stage, err));
    if (!impact) STI_TRY(sti_store_impulses(model, state, work, stage->eta, err));
    if (!impact && work->sleep.on) STI_TRY(sti_sleep_keep_joints(model, work, stage->eta, err));
    if (!impact && work->compliant.next.n > 0) sti_patches_follow(work);
    if (work->linearised.on) sti_linearised_impulse(work, v);
    STI_TRY(sti_stage_work(model, work, stage, v, err));
    sti_lap(work, ST_PART_SOLVE);
    return ST_OK;
}
