/* step/integrate/stage.c -- the step problem of one stage.
 *
 *     M v = M v_b* + eta k1(t, q*, v*) + G l + H r                    (docs/methods.md 3)
 *     joints   G' v + g = 0,           g = d theta/dt + theta_b/eta   (drift gap; else d theta/dt)
 *     soft     a' v + l/(eta (eta k + d)) + k phi_b/(eta k + d) = 0   (AP eq. 32, AP eq. 33 as rows)
 *     contact  u = H' v + w,           w = Phi_b/eta                  (drift gap; else 0)
 *     bounded  u = a' v + w,           eta lo <= r <= eta hi,  w = - target
 *              soft: u = a' v + r/(eta (eta k + d)) + (k phi_b - d target)/(eta k + d)
 *
 * where x_b = x(q*) + grad x' (q_b - q*). In methods of order one v_b* includes the gyroscopic term, body by body. In
 * those of order two it is v_b, and the term is part of k1 at v*. With the explicit integrator springs and dampers are
 * part of k1 instead.
 *
 * Two more methods use this stage (docs/methods.md 6), with qm = q + (h/2) v:
 *     trapezoid II   the mean velocity vm = (v + v+)/2 solves the stage (qm, v, q) with eta = h/2, and moves
 *                    q for h: drift divides by h (`reach`) where springs look h/2 ahead;
 *     trapezoid I    v+ solves it with eta = h, where springs and drift follow the mean of v and v+ (`mean`):
 *                    a'(v + v+) + l/(h s) + k phi_b/s = 0,  s = h k/4 + d/2.
 *
 * Drift in schemes of order two: x_b/eta would close the joint at the end of the stage, so that v were the mean
 * velocity of the stage and not the one at its end; on a curved joint they differ by O(h), and the two stages of
 * sdirk2 fall to order one (double pendulum: 6e-5 at h = 2^-11 instead of 3e-8). They use x(q)/h instead, the error at
 * the start of the step, which is O(h^3) (`drift_from`). bdf2 keeps x_b/eta and its order.
 *
 * theta_b is always at the time of q_b, eta before the end of the stage; eta d theta/dt moves it to the end. bdf2 takes
 * its rows at the end, theta(t + h, q_b), and subtracts eta d theta/dt from them (`joint_drift`).
 */
#include "step/integrate/stage.h"
#include "step/contact/contact.h"
#include "step/events/events.h"
#include "step/impulses.h"

#include "base/tolerance.h"
#include "math/parallel.h"

/* Joints and springs. */
static const st_Sink *constraints_of(const sti_StageBuild *build)
{
    return build->stage->means != NULL ? build->stage->means->constraints : build->stage->rows;
}

/* With drift mean: their rows at the end of the step, half of which is added; or NULL. */
static const st_Sink *end_rows_of(const sti_StageBuild *build)
{
    return build->stage->means != NULL ? build->stage->means->end : NULL;
}

/* Blocks are divided among threads: v and k before forces are known, f after that. */
typedef struct Momenta {
    const sti_StageBuild *build;
    double *v, *f;
    sti_Speeds speeds[STI_PARTS];
    double centres[STI_PARTS]; /* pull of centres of mass alone, if a body has one */
} Momenta;

static void begin_momenta(void *ctx, int64_t first, int64_t end)
{
    const Momenta *momenta = ctx;
    const sti_Model *model = momenta->build->model;
    const sti_StepWork *work = momenta->build->work;
    const double *v_base = momenta->build->stage->v_base;
    const bool all = sti_block_count(model, work) == model->n_blocks; /* blocks side by side */
    for (int e = (int)first; e < (int)end; e = all ? (int)end : e + 1) {
        const int begin = model->first[sti_block(work, e)], after = model->first[all ? end : sti_block(work, e) + 1];
        memcpy(momenta->v + begin, v_base + begin, (size_t)(after - begin) * sizeof *v_base);
        memset(momenta->f + begin, 0, (size_t)(after - begin) * sizeof *momenta->f);
    }
}

/* How fast blocks are, then f = eta f + M v of them. Of a body in space only how fast its centre moves counts, which
 * has a unit: radians per second have another. The papers' presets keep both, and their bits.             */
static void end_momenta(void *ctx, int part, int64_t first_block, int64_t end_block)
{
    Momenta *momenta = ctx;
    const sti_StageBuild *build = momenta->build;
    const sti_Model *model = build->model;
    const double *v = momenta->v, eta = build->stage->eta;
    double *f = momenta->f;
    sti_Speeds fastest = {0, 0};
    double centres = 0;
    for (int e = (int)first_block; e < (int)end_block; e++) {
        const int b = sti_block(build->work, e), first = model->first[b], n = model->first[b + 1] - first;
        const bool in_space = model->rigid && n == 6, centre = in_space && model->def.effort != ST_EFFORT_THOROUGH;
        for (int i = first; i < first + (centre ? 3 : n); i++) {
            const double pull = fabs(f[i]) / sti_mass_of(model, build->out->M, i);
            fastest.speed = sti_larger(fabs(v[i]) + eta * pull, fastest.speed);
            fastest.pull = sti_larger(pull, fastest.pull);
            if (!in_space || i < first + 3) centres = sti_larger(pull, centres);
        }
        const bool marked = model->mass.marked != NULL && model->mass.marked[b];
        const double *M = build->out->M + (model->mass.diagonal != NULL ? model->mass.diagonal[first] : first);
        for (int i = first; i < first + n; i++)
            f[i] *= eta;
        for (int i = 0; i < n && marked; i++)
            f[first + i] += M[i] * v[first + i];
        if (model->rigid && n == 6 && !marked) { /* [m, 0; 0, I] */
            for (int i = 0; i < 3; i++) {
                const double *I = M + 6 * (3 + i) + 3;
                f[first + i] += M[0] * v[first + i];
                f[first + 3 + i] = f[first + 3 + i] + I[0] * v[first + 3] + I[1] * v[first + 4] + I[2] * v[first + 5];
            }
            continue;
        }
        for (int i = 0; i < n && !marked; i++)
            for (int j = 0; j < n; j++)
                f[first + i] += M[i * n + j] * v[first + j];
    }
    momenta->speeds[part] = fastest;
    momenta->centres[part] = centres;
}

/* f = M v_b* + eta k1 + push, A = M. An impact has no forces from which to estimate its speed, so it also uses the step
 * before. */
static st_Status assemble_momentum(sti_StageBuild *build)
{
    const sti_Model *model = build->model;
    sti_State *state = build->state;
    sti_StepWork *work = build->work;
    const st_Model *table = &model->table;
    const sti_Stage *stage = build->stage;
    double *f = build->out->f, *v = work->v_turned;
    Momenta momenta;
    momenta.build = build, momenta.v = v, momenta.f = f;
    STI_TRY(sti_mass(model, build->out, stage->q_star, build->err));
    sti_team_for(model->def.threads, sti_block_count(model, work), STI_LEAST_BODIES, begin_momenta, &momenta);
    if (!build->impact) {
        if (table->gyroscopic != NULL && !stage->second_order)
            table->gyroscopic(table->ctx, stage->eta, stage->q_star, v);
        if (work->stages.turning != NULL && !stage->second_order) {
            /* The impulse of the gyroscopic term, where it is inside v_b*. */
            double *difference = work->stages.applied; /* scratch memory: k is stored there next */
            for (int i = 0; i < model->n_v; i++)
                difference[i] = v[i] - stage->v_base[i];
            sti_mass_times(model, work, difference, work->stages.turning);
        }
        /* k1 at (q*, v*), at one time or as the mean of two. */
        STI_TRY(table->force(table->ctx, stage->t, stage->q_star, stage->v_star, f, build->err));
        const sti_World *world = model->world;
        if (stage->ahead > 0 && (!model->rigid || world->scene->n_forces + world->n_force_motors > 0)) {
            double *last = work->stages.k_later;
            STI_TRY(table->force(table->ctx, stage->t + stage->ahead, stage->q_star, stage->v_star, last, build->err));
            for (int i = 0; i < table->n_v; i++)
                f[i] = 0.5 * (f[i] + last[i]);
        }
        double *applied = work->stages.applied, *turning = work->stages.turning;
        if (applied != NULL) memcpy(applied, f, (size_t)table->n_v * sizeof *f);
        if (stage->second_order && table->gyroscopic_force != NULL)
            table->gyroscopic_force(table->ctx, stage->q_star, stage->v_star, f);
        if (applied != NULL && turning != NULL && stage->second_order)
            for (int i = 0; i < table->n_v; i++)
                turning[i] = stage->eta * (f[i] - applied[i]);
        state->fastest = (sti_Speeds){0, 0};
    }
    const int parts = sti_team_parts(model->def.threads, sti_block_count(model, work), end_momenta, &momenta);
    for (int k = 0; k < parts; k++) {
        state->fastest.speed = sti_larger(momenta.speeds[k].speed, state->fastest.speed);
        if (!build->impact) state->fastest.pull = sti_larger(momenta.speeds[k].pull, state->fastest.pull);
    }
    if (!build->impact && work->guard.pull < 0) {
        /* For the energy guard only centres count, in all presets: rad/s^2 are no m/s^2. And the gyroscopic term is no
         * force: it does no work. */
        const double *applied = stage->second_order && table->gyroscopic_force != NULL ? work->stages.applied : NULL;
        work->guard.pull = 0;
        for (int k = 0; applied == NULL && k < parts; k++)
            work->guard.pull = sti_larger(momenta.centres[k], work->guard.pull);
        for (int b = 0; applied != NULL && b < model->n_blocks; b++) {
            const int first = model->first[b], n = model->first[b + 1] - first;
            for (int i = first; i < first + (model->rigid && n == 6 ? 3 : n); i++)
                work->guard.pull =
                    sti_larger(fabs(applied[i]) / sti_mass_of(model, build->out->M, i), work->guard.pull);
        }
    }
    if (stage->means != NULL)
        for (int i = 0; i < table->n_v; i++)
            f[i] += stage->means->D[i] * stage->means->v_near[i];
    if (stage->push != NULL)
        for (int i = 0; i < table->n_v; i++)
            f[i] += stage->push[i];
    return ST_OK;
}

/* Explicit springs and dampers (AP eq. 26): f += eta * -(k phi + d a'v) a. */
static void add_explicit_springs(sti_StageBuild *build)
{
    const st_Sink *sink = build->stage->rows;
    const sti_RowList *rows = &sink->soft_rows;
    for (int k = 0; k < rows->n_rows; k++) {
        const sti_SoftEntry *soft = &sink->soft[k];
        double rate = sti_row_dot(rows, k, build->stage->v_star);
        double impulse = -build->stage->eta * (soft->stiffness * soft->value + soft->damping * rate);
        for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
            build->out->f[rows->i[e]] += impulse * rows->x[e];
    }
}

static double capped(double speed, double cap)
{
    return speed > cap ? cap : (speed < -cap ? -cap : speed);
}

/* g of the rows of joints: their rate, and the correction of drift. */
static void set_joint_rates(const sti_StageBuild *build, double reach)
{
    const sti_Stage *stage = build->stage;
    const st_Sink *sink = constraints_of(build), *from = stage->drift_from;
    const sti_RowList *rows = &sink->joint_rows;
    const double cap = build->model->def.correction_speed;
    const double later = stage->t > build->state->t ? stage->eta : 0; /* the row is evaluated at the end of the stage */
    for (int k = 0; k < rows->n_rows; k++) {
        const sti_JointEntry *joint = &sink->joint[k];
        double *g = &build->out->g[k];
        *g = joint->rate;
        if (!build->gap_drift || joint->velocity) continue;
        /* theta at q_base and at its time */
        const double value =
            from != NULL ? from->joint[k].value : sti_shifted(build, joint->value, rows, k) - later * joint->rate;
        const double share = sti_recovery_share(build->work, rows->p[k] < rows->p[k + 1] ? rows->i[rows->p[k]] : 0);
        if (stage->mean)
            *g += share * capped(2 * value / reach, cap) + sti_base_speed(build, rows, k);
        else
            *g += share * capped(value / reach, cap);
    }
}

/* Appends all rows of a list to G. With drift mean, half of the rows `half` at the end of the step is added. joint:
 * their joints; NULL: the rows are not of joints. */
static st_Status append_all(sti_StageBuild *build, const sti_RowList *from, const sti_RowList *half,
                            const sti_JointEntry *joint)
{
    sti_RowList *G = &build->out->G;
    const int64_t start = G->n_rows > 0 ? G->p[G->n_rows] : 0, n = from->n_rows > 0 ? from->p[from->n_rows] : 0;
    if (G->n_rows + from->n_rows > build->out->laid_out)
        STI_TRY(sti_rows_append_rows(build->allocator, G, from, 0, from->n_rows, build->err));
    else
        G->n_rows += from->n_rows;
    double *x = G->x + start;
    if (build->stage->means != NULL)
        sti_mean_put_rows(build->stage->means, from, half, joint, x);
    else if (n > 0)
        memcpy(x, from->x, (size_t)n * sizeof *x);
    return ST_OK;
}

static st_Status assemble_springs(sti_StageBuild *build)
{
    const st_Sink *sink = constraints_of(build), *end = end_rows_of(build);
    sti_Assembly *out = build->out;
    double eta = build->stage->eta;
    int first = out->G.n_rows;
    STI_TRY(append_all(build, &sink->soft_rows, end != NULL ? &end->soft_rows : NULL, NULL));
    for (int k = 0; k < sink->soft_rows.n_rows; k++) {
        const sti_SoftEntry *soft = &sink->soft[k];
        int row = first + k;
        double resistance = sti_resistance(build, soft->stiffness, soft->damping);
        double phi = build->stage->means != NULL ? soft->value : sti_shifted(build, soft->value, &sink->soft_rows, k);
        out->Cb[row] = 1.0 / (eta * resistance);
        out->g[row] = soft->stiffness * phi / resistance;
        if (build->stage->mean) out->g[row] += sti_base_speed(build, &sink->soft_rows, k);
    }
    return ST_OK;
}

static st_Sparse sparse(const sti_RowList *rows, int n_v)
{
    return (st_Sparse){.n_rows = n_v, .n_cols = rows->n_rows, .p = rows->p, .i = rows->i, .x = rows->x};
}

/* Is anything linearised from q_star to q_base? */
static bool needs_shift(const sti_StageBuild *build)
{
    const st_Sink *rows = build->stage->rows;
    if (build->work->wanted.n + rows->bounded_rows.n_rows > 0) return true;
    if (build->stage->means != NULL) return false;
    return rows->soft_rows.n_rows > 0 || (build->gap_drift && build->stage->drift_from == NULL);
}

st_Status sti_stage_assemble(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                             st_Error *err)
{
    const bool impact = stage->eta == 0;
    sti_StageBuild build = {.model = model,
                            .state = state,
                            .work = work,
                            .stage = stage,
                            .out = &work->step,
                            .allocator = &model->allocator,
                            .impact = impact,
                            .implicit_forces = model->def.integrator != ST_INTEGRATOR_EULER,
                            .gap_drift = sti_closes_gaps(&model->def) && !impact,
                            .err = err};
    STI_TRY(sti_store_pending_impulses(model, state, work, false, err));
    STI_TRY(assemble_momentum(&build));
    const bool linearises = model->table.force_derivative != NULL && !impact;
    if (stage->q_base != stage->q_star && (linearises || needs_shift(&build))) {
        sti_difference(model, stage->q_star, stage->q_base, work->stages.shift);
        build.shift = work->stages.shift;
    }
    work->linearised.on = false;
    if (linearises && build.implicit_forces && stage->means == NULL) STI_TRY(sti_linearise_forces(&build));
    /* Joints and springs: G, g and Cb, or forces where springs are explicit. */
    const st_Sink *sink = constraints_of(&build);
    sti_Assembly *out = build.out;
    const int n_soft = build.impact || !build.implicit_forces ? 0 : sink->soft_rows.n_rows;
    const int64_t n = (int64_t)sink->joint_rows.n_rows + n_soft;
    STI_TRY(STI_GROW(build.allocator, out->g, out->g_capacity, n, err));
    STI_TRY(STI_GROW(build.allocator, out->l, out->l_capacity, n, err));
    STI_TRY(STI_GROW(build.allocator, out->Cb, out->Cb_capacity, n, err));
    STI_TRY(STI_GROW(build.allocator, out->Cb_first, out->Cb_first_capacity, n + 1, err));
    STI_TRY(STI_GROW(build.allocator, out->G.p, out->G.p_capacity, 1, err));
    out->G.n_rows = 0;
    for (int k = 0; k <= n; k++)
        out->Cb_first[k] = k;
    const st_Sink *end_rows = end_rows_of(&build);
    double reach = sti_drift_time(&build);
    STI_TRY(append_all(&build, &sink->joint_rows, end_rows != NULL ? &end_rows->joint_rows : NULL, sink->joint));
    const int n_joint_rows = sink->joint_rows.n_rows;
    if (n_joint_rows > 0) memset(out->Cb, 0, (size_t)n_joint_rows * sizeof *out->Cb);
    set_joint_rates(&build, reach);
    if (n_soft > 0) STI_TRY(assemble_springs(&build));
    out->laid_out = model->rigid ? out->G.n_rows : 0;
    if (!build.impact && !build.implicit_forces) add_explicit_springs(&build);
    STI_TRY(sti_stage_contacts(&build));
    if (model->world->adheres && !impact) sti_stage_adhesion(&build);
    if (model->world->stribeck) sti_stage_stribeck(&build);
    const st_Model *table = &model->table;
    int n_contacts = out->n_gaps + out->n_bounded + out->n_loaded;
    out->problem = (st_Problem){
        .n_v = table->n_v,
        .n_l = out->G.n_rows,
        .n_r = out->H.n_rows,
        .n_contacts = n_contacts,
        .A = {.n_blocks = table->n_blocks,
              .first = table->first,
              .x = stage->means != NULL ? stage->means->A : out->M,
              .diagonal = model->mass.marked},
        .symmetric = true,
        .G = sparse(&out->G, table->n_v),
        .H = sparse(&out->H, table->n_v),
        .Cb = {.n_blocks = out->G.n_rows, .first = out->Cb_first, .x = out->Cb},
        .f = out->f,
        .g = out->g,
        .w = out->w,
        .contact = out->law,
        .u_scale = STI_IDLE_SPEED * state->fastest.speed,
    };
    const sti_Linearised *linear = &work->linearised;
    if (linear->on) {
        out->problem.A = (st_BlockDiag){.n_blocks = linear->n_blocks, .first = linear->first, .x = linear->A};
        out->problem.symmetric = linear->symmetric;
    }
    if (build.piled) out->problem.H = (st_Sparse){.n_rows = table->n_v, .n_cols = out->H.n_rows};
    if (out->compliant) out->problem.C = (st_BlockDiag){.n_blocks = out->n_C, .first = out->C_first, .x = out->C};
    /* Time and position of the rows, for reports of the forces that they transmit. */
    out->eta = stage->eta;
    out->arm = model->arm;
    out->t = stage->t;
    out->ahead = stage->ahead;
    out->means = stage->means != NULL;
    out->q = stage->q_star; /* with one stage it is not overwritten before the next step */
    if (out->place != NULL) {
        out->q = out->place;
        memcpy(out->place, stage->q_star, (size_t)model->n_q * sizeof *stage->q_star);
    }
    work->rebounds.n = 0;
    if (stage->rebound) STI_TRY(sti_add_rebounds(model, state, work, stage, err));
    sti_lap(work, ST_PART_ASSEMBLE);
    return ST_OK;
}
