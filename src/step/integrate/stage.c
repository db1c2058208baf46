/* step/integrate/stage.c -- the step problem of one stage.
 *
 *     M v = M v_b* + eta k1(t, q*, v*) + G l + H r                    (docs/methods.md 3)
 *     joints   G' v + g = 0,           g = d theta/dt + theta_b/eta   (drift gap; else d theta/dt)
 *     soft     a' v + l/(eta (eta k + d)) + k phi_b/(eta k + d) = 0   (Anitescu & Potra 2002, eq. 32-33 as rows)
 *     contact  u = H' v + w,           w = Phi_b/eta                  (drift gap; else 0)
 *     bounded  u = a' v + w,           eta lo <= r <= eta hi,  w = - target
 *              soft: u = a' v + r/(eta (eta k + d)) + (k phi_b - d target)/(eta k + d)
 *
 * where x_b = x(q*) + grad x' (q_b - q*). In schemes of order one v_b* has gone through the gyroscopic term
 * body by body; in those of order two it is v_b, and that term is part of k1 at v*. With the explicit
 * integrator springs and dampers are part of k1 instead.
 *
 * Two more schemes are this stage under another name (docs/methods.md 6), with qm = q + (h/2) v:
 *     trapezoid II   the mean velocity vm = (v + v+)/2 solves the stage (qm, v, q) with eta = h/2, and moves
 *                    q for h: drift divides by h (`reach`) where springs look h/2 ahead;
 *     trapezoid I    v+ solves it with eta = h, where springs and drift follow the mean of v and v+ (`mean`):
 *                    a'(v + v+) + l/(h s) + k phi_b/s = 0,  s = h k/4 + d/2.
 *
 * Drift in schemes of order two: x_b/eta would close the joint at the end of the stage, so that v were the mean
 * velocity of the stage and not the one at its end; on a curved joint they differ by O(h), and the two stages of
 * sdirk2 fall to order one (double pendulum: 6e-5 at h = 2^-11 instead of 3e-8). There x(q)/h takes its place,
 * what is left over at the start of the step, O(h^3) (`drift_from`). bdf2 keeps x_b/eta and its order.
 *
 * In all of this theta_b is at the time of q_b, eta before the end of the stage, so that d theta/dt moves it on to
 * there. Rows of bdf2 are taken at the end, theta(t + h, q_b), and eta d theta/dt is taken from them (`at_base`).
 */
#include "step/integrate/stage.h"

#include "base/tolerance.h"
#include "math/parallel.h"

/* Joints and springs. */
static const st_Sink *constraints_of(const sti_StageWork *work)
{
    return work->stage->means != NULL ? work->stage->means->constraints : work->stage->rows;
}

/* With drift mean, their rows at the end of the step, half of which belong to them; or NULL. */
static const st_Sink *end_rows_of(const sti_StageWork *work)
{
    return work->stage->means != NULL ? work->stage->means->end : NULL;
}

/* k1 at (q*, v*), at one time or as the mean of two. */
static st_Status add_forces(sti_StageWork *work, double *k)
{
    const st_Model *model = &work->system->model.table;
    const sti_Stage *stage = work->stage;
    STI_TRY(model->force(model->ctx, stage->t, stage->q_star, stage->v_star, k, work->err));
    const sti_World *world = work->system->model.world;
    if (stage->ahead > 0 && (!work->system->model.rigid || world->scene->n_forces + world->n_force_motors > 0)) {
        double *last = work->system->work.stages.k_later;
        STI_TRY(model->force(model->ctx, stage->t + stage->ahead, stage->q_star, stage->v_star, last, work->err));
        for (int i = 0; i < model->n_v; i++)
            k[i] = 0.5 * (k[i] + last[i]);
    }
    double *applied = work->system->work.stages.applied, *turning = work->system->work.stages.turning;
    if (applied != NULL) memcpy(applied, k, (size_t)model->n_v * sizeof *k);
    if (stage->second_order && model->gyroscopic_force != NULL)
        model->gyroscopic_force(model->ctx, stage->q_star, stage->v_star, k);
    for (int i = 0; turning != NULL && stage->second_order && i < model->n_v; i++)
        turning[i] = stage->eta * (k[i] - applied[i]);
    return ST_OK;
}

static sti_Speeds faster(sti_Speeds a, sti_Speeds b)
{
    return (sti_Speeds){sti_larger(a.speed, b.speed), sti_larger(a.pull, b.pull)};
}

/* Of a body in space only how fast its centre moves, which has a unit: radians per second have another. The papers'
 * presets keep both, and their bits.                                                                */
static sti_Speeds speeds_of(const sti_StageWork *work, int b, const double *v, const double *k)
{
    const st_System *s = work->system;
    const int first = s->model.first[b], n = s->model.first[b + 1] - first;
    const bool centre = s->model.rigid && n == 6 && s->model.def.effort != ST_EFFORT_THOROUGH;
    sti_Speeds fastest = {0, 0};
    for (int i = first; i < first + (centre ? 3 : n); i++) {
        double pull = fabs(k[i]) / sti_mass_of(&s->model, work->out->M, i);
        fastest = faster((sti_Speeds){fabs(v[i]) + work->stage->eta * pull, pull}, fastest);
    }
    return fastest;
}

/* f = eta f + M v of one block. */
static void add_momentum(const sti_StageWork *work, int b, const double *v, double *f)
{
    const st_System *s = work->system;
    const int first = s->model.first[b], end = s->model.first[b + 1], n = end - first;
    const bool marked = s->model.mass.marked != NULL && s->model.mass.marked[b];
    const double *M = work->out->M + (s->model.mass.diagonal != NULL ? s->model.mass.diagonal[first] : first);
    for (int i = first; i < end; i++)
        f[i] *= work->stage->eta;
    for (int i = 0; i < n && marked; i++)
        f[first + i] += M[i] * v[first + i];
    for (int i = 0; i < n && !marked; i++)
        for (int j = 0; j < n; j++)
            f[first + i] += M[i * n + j] * v[first + j];
}

/* Blocks by a team: v and k before forces are known, f of them behind. */
typedef struct Momenta {
    const sti_StageWork *work;
    double *v, *f;
    sti_Speeds speeds[STI_PARTS];
} Momenta;

static void begin_momenta(void *ctx, int64_t first, int64_t end)
{
    const Momenta *momenta = ctx;
    const st_System *s = momenta->work->system;
    for (int e = (int)first; e < (int)end; e++)
        for (int i = s->model.first[sti_block(&s->work, e)]; i < s->model.first[sti_block(&s->work, e) + 1]; i++)
            momenta->v[i] = momenta->work->stage->v_base[i], momenta->f[i] = 0;
}

static void end_momenta(void *ctx, int part, int64_t first, int64_t end)
{
    Momenta *momenta = ctx;
    const sti_StageWork *work = momenta->work;
    sti_Speeds fastest = {0, 0};
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_block(&work->system->work, e);
        fastest = faster(speeds_of(work, b, momenta->v, momenta->f), fastest);
        add_momentum(work, b, momenta->v, momenta->f);
    }
    momenta->speeds[part] = fastest;
}

/* The impulse of the gyroscopic term, where it is inside v_b*. */
static void note_turning(const sti_Model *model, sti_StepWork *work, const double *v_base, const double *v)
{
    double *difference = work->stages.applied; /* k comes there next */
    for (int i = 0; i < model->n_v; i++)
        difference[i] = v[i] - v_base[i];
    sti_mass_times(model, work, difference, work->stages.turning);
}

/* f = M v_b* + eta k1 + push, A = M. An impact has no forces to tell its speed; there the step before counts, too. */
static st_Status assemble_momentum(sti_StageWork *work)
{
    st_System *s = work->system;
    const st_Model *model = &s->model.table;
    const sti_Stage *stage = work->stage;
    double *f = work->out->f, *v = s->work.v_turned;
    Momenta momenta;
    momenta.work = work, momenta.v = v, momenta.f = f;
    STI_TRY(sti_mass(&s->model, work->out, stage->q_star, work->err));
    sti_team_for(s->model.def.threads, sti_block_count(&s->model, &s->work), STI_LEAST_BODIES, begin_momenta, &momenta);
    if (!work->impact) {
        if (model->gyroscopic != NULL && !stage->second_order)
            model->gyroscopic(model->ctx, stage->eta, stage->q_star, v);
        if (s->work.stages.turning != NULL && !stage->second_order) note_turning(&s->model, &s->work, stage->v_base, v);
        STI_TRY(add_forces(work, f));
        s->state.fastest = (sti_Speeds){0, 0};
    }
    const int parts = sti_team_parts(s->model.def.threads, sti_block_count(&s->model, &s->work), end_momenta, &momenta);
    for (int k = 0; k < parts; k++) {
        s->state.fastest.speed = sti_larger(momenta.speeds[k].speed, s->state.fastest.speed);
        if (!work->impact) s->state.fastest.pull = sti_larger(momenta.speeds[k].pull, s->state.fastest.pull);
    }
    for (int i = 0; stage->means != NULL && i < model->n_v; i++)
        f[i] += stage->means->D[i] * stage->means->v_near[i];
    for (int i = 0; stage->push != NULL && i < model->n_v; i++)
        f[i] += stage->push[i];
    return ST_OK;
}

/* Explicit springs and dampers: f += eta * -(k phi + d a'v) a. */
static void add_explicit_springs(sti_StageWork *work)
{
    const st_Sink *sink = work->stage->rows;
    const sti_RowList *rows = &sink->soft_rows;
    for (int k = 0; k < rows->n_rows; k++) {
        const sti_SoftEntry *soft = &sink->soft[k];
        double rate = sti_row_dot(rows, k, work->stage->v_star);
        double impulse = -work->stage->eta * (soft->stiffness * soft->value + soft->damping * rate);
        for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
            work->out->f[rows->i[e]] += impulse * rows->x[e];
    }
}

static double capped(double speed, double cap)
{
    return speed > cap ? cap : (speed < -cap ? -cap : speed);
}

/* theta of joint row k at q_base and at its time. */
static double at_base(const sti_StageWork *work, int k)
{
    const st_Sink *sink = constraints_of(work);
    const bool later = work->stage->t > work->system->state.t; /* the row is taken at the end of the stage */
    const double moved = later ? work->stage->eta * sink->joint[k].rate : 0.0;
    return sti_shifted(work, sink->joint[k].value, &sink->joint_rows, k) - moved;
}

static double joint_drift(const sti_StageWork *work, int k, double reach)
{
    const sti_RowList *rows = &constraints_of(work)->joint_rows;
    double cap = work->system->model.def.correction_speed;
    const st_Sink *from = work->stage->drift_from;
    if (constraints_of(work)->joint[k].velocity) return 0;
    double value = from != NULL ? from->joint[k].value : at_base(work, k);
    const double share = work->system->work.recovery;
    return work->stage->mean ? share * capped(2 * value / reach, cap) + sti_base_speed(work, rows, k)
                             : share * capped(value / reach, cap);
}

/* All rows of a list as the next of G; with drift mean, `half` of those at the end of the step belong to them. joint:
 * what they are, NULL where they are none of joints.                                               */
static st_Status append_all(sti_StageWork *work, const sti_RowList *from, const sti_RowList *half,
                            const sti_JointEntry *joint)
{
    sti_RowList *G = &work->out->G;
    const int64_t start = G->n_rows > 0 ? G->p[G->n_rows] : 0, n = from->n_rows > 0 ? from->p[from->n_rows] : 0;
    if (G->n_rows + from->n_rows > work->out->laid_out)
        STI_TRY(sti_rows_append_rows(work->allocator, G, from, 0, from->n_rows, work->err));
    else
        G->n_rows += from->n_rows;
    double *x = G->x + start;
    if (work->stage->means != NULL)
        sti_mean_put_rows(work->stage->means, from, half, joint, x);
    else
        for (int64_t e = 0; e < n; e++)
            x[e] = from->x[e];
    return ST_OK;
}

static st_Status assemble_joints(sti_StageWork *work)
{
    const st_Sink *sink = constraints_of(work), *end = end_rows_of(work);
    sti_Assembly *out = work->out;
    double reach = sti_drift_time(work);
    STI_TRY(append_all(work, &sink->joint_rows, end != NULL ? &end->joint_rows : NULL, sink->joint));
    for (int k = 0; k < sink->joint_rows.n_rows; k++) {
        out->g[k] = sink->joint[k].rate;
        if (work->gap_drift) out->g[k] += joint_drift(work, k, reach);
        out->Cb[k] = 0;
    }
    return ST_OK;
}

static st_Status assemble_springs(sti_StageWork *work)
{
    const st_Sink *sink = constraints_of(work), *end = end_rows_of(work);
    sti_Assembly *out = work->out;
    double eta = work->stage->eta;
    int first = out->G.n_rows;
    STI_TRY(append_all(work, &sink->soft_rows, end != NULL ? &end->soft_rows : NULL, NULL));
    for (int k = 0; k < sink->soft_rows.n_rows; k++) {
        const sti_SoftEntry *soft = &sink->soft[k];
        int row = first + k;
        double resistance = sti_resistance(work, soft->stiffness, soft->damping);
        double phi = work->stage->means != NULL ? soft->value : sti_shifted(work, soft->value, &sink->soft_rows, k);
        out->Cb[row] = 1.0 / (eta * resistance);
        out->g[row] = soft->stiffness * phi / resistance;
        if (work->stage->mean) out->g[row] += sti_base_speed(work, &sink->soft_rows, k);
    }
    return ST_OK;
}

static st_Status grow_constraints(sti_StageWork *work, int64_t n)
{
    sti_Assembly *out = work->out;
    STI_TRY(STI_GROW(work->allocator, out->g, out->g_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->l, out->l_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->Cb, out->Cb_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->Cb_first, out->Cb_first_capacity, n + 1, work->err));
    STI_TRY(STI_GROW(work->allocator, out->G.p, out->G.p_capacity, 1, work->err));
    out->G.n_rows = 0;
    for (int k = 0; k <= n; k++)
        out->Cb_first[k] = k;
    return ST_OK;
}

static st_Sparse sparse(const sti_RowList *rows, int n_v)
{
    return (st_Sparse){.n_rows = n_v, .n_cols = rows->n_rows, .p = rows->p, .i = rows->i, .x = rows->x};
}

static void finish_problem(sti_StageWork *work)
{
    const st_Model *model = &work->system->model.table;
    sti_Assembly *out = work->out;
    int n_contacts = out->n_gaps + out->n_bounded + out->n_loaded;
    out->problem = (st_Problem){
        .n_v = model->n_v,
        .n_l = out->G.n_rows,
        .n_r = out->H.n_rows,
        .n_contacts = n_contacts,
        .A = {.n_blocks = model->n_blocks,
              .first = model->first,
              .x = work->stage->means != NULL ? work->stage->means->A : out->M,
              .diagonal = work->system->model.mass.marked},
        .symmetric = true,
        .G = sparse(&out->G, model->n_v),
        .H = sparse(&out->H, model->n_v),
        .Cb = {.n_blocks = out->G.n_rows, .first = out->Cb_first, .x = out->Cb},
        .f = out->f,
        .g = out->g,
        .w = out->w,
        .contact = out->law,
        .u_scale = STI_IDLE_SPEED * work->system->state.fastest.speed,
    };
    const sti_Linearised *linear = &work->system->work.linearised;
    if (linear->on) {
        out->problem.A = (st_BlockDiag){.n_blocks = linear->n_blocks, .first = linear->first, .x = linear->A};
        out->problem.symmetric = linear->symmetric;
    }
    if (work->piled) out->problem.H = (st_Sparse){.n_rows = model->n_v, .n_cols = out->H.n_rows};
    if (out->compliant) out->problem.C = (st_BlockDiag){.n_blocks = out->n_C, .first = out->C_first, .x = out->C};
}

/* Where the rows are taken, for the reports of what they transmit. */
static void keep_place(sti_StageWork *work)
{
    const sti_Stage *stage = work->stage;
    work->out->eta = stage->eta;
    work->out->arm = work->system->model.arm;
    work->out->t = stage->t;
    work->out->ahead = stage->ahead;
    work->out->means = stage->means != NULL;
    work->out->q = stage->q_star; /* with one stage nobody writes there before the next */
    if (work->out->place == NULL) return;
    work->out->q = work->out->place;
    memcpy(work->out->place, stage->q_star, (size_t)work->system->model.n_q * sizeof *stage->q_star);
}

/* Is anything linearised from q_star to q_base? */
static bool needs_shift(const sti_StageWork *work)
{
    const st_Sink *rows = work->stage->rows;
    if (work->system->work.wanted.n + rows->bounded_rows.n_rows > 0) return true;
    if (work->stage->means != NULL) return false;
    return rows->soft_rows.n_rows > 0 || (work->gap_drift && work->stage->drift_from == NULL);
}

/* Joints and springs: G, g and Cb, or forces where springs are explicit. */
static st_Status assemble_constraints(sti_StageWork *work)
{
    const st_Sink *sink = constraints_of(work);
    sti_Assembly *out = work->out;
    const int n_soft = work->impact || !work->implicit_forces ? 0 : sink->soft_rows.n_rows;
    STI_TRY(grow_constraints(work, (int64_t)sink->joint_rows.n_rows + n_soft));
    STI_TRY(assemble_joints(work));
    if (n_soft > 0) STI_TRY(assemble_springs(work));
    out->laid_out = work->system->model.rigid ? out->G.n_rows : 0;
    if (!work->impact && !work->implicit_forces) add_explicit_springs(work);
    return ST_OK;
}

st_Status sti_stage_assemble(st_System *system, const sti_Stage *stage, st_Error *err)
{
    const bool impact = stage->eta == 0;
    sti_StageWork work = {.system = system,
                          .stage = stage,
                          .out = &system->work.step,
                          .allocator = &system->model.allocator,
                          .impact = impact,
                          .implicit_forces = system->model.def.integrator != ST_INTEGRATOR_EULER,
                          .gap_drift = sti_closes_gaps(&system->model.def) && !impact,
                          .err = err};
    STI_TRY(sti_keep_waiting(system, false, err));
    STI_TRY(assemble_momentum(&work));
    const bool linearises = system->model.table.force_derivative != NULL && !impact;
    if (stage->q_base != stage->q_star && (linearises || needs_shift(&work))) {
        sti_difference(&system->model, stage->q_star, stage->q_base, system->work.stages.shift);
        work.shift = system->work.stages.shift;
    }
    STI_TRY(sti_linearise_forces(&work));
    STI_TRY(assemble_constraints(&work));
    STI_TRY(sti_stage_contacts(&work));
    sti_stage_adhesion(&work);
    sti_stage_stribeck(&work);
    finish_problem(&work);
    keep_place(&work);
    STI_TRY(sti_add_rebounds(&system->model, &system->work, stage, err));
    sti_lap(&system->work, ST_STAGE_ASSEMBLE);
    return ST_OK;
}
