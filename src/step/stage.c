/* step/stage.c -- the step problem of one stage, and its solution.
 *
 *     M v = M v_b* + eta k1(t, q*, v*) + G l + H r                    (METHODS section 3b)
 *     joints   G' v + g = 0,           g = theta_b/eta + d theta/dt   (drift gap; else d theta/dt)
 *     soft     a' v + l/(eta (eta k + d)) + k phi_b/(eta k + d) = 0   (Anitescu & Potra 2002, eq. 32-33 as rows)
 *     contact  u = H' v + w,           w = Phi_b/eta                  (drift gap; else 0)
 *     bounded  u = a' v + w,           eta lo <= r <= eta hi,  w = - target
 *              soft: u = a' v + r/(eta (eta k + d)) + (k phi_b - d target)/(eta k + d)
 *
 * where x_b = x(q*) + grad x' (q_b - q*), and v_b* has gone through the gyroscopic term body by body.
 * With the explicit integrator springs and dampers are part of k1 instead.
 */
#include "base/tolerance.h"
#include "step/system.h"

/* The stage being assembled. */
typedef struct Work {
    st_System *system;
    const sti_Stage *stage;
    sti_Assembly *out;
    const st_Allocator *allocator;
    bool impact;          /* eta = 0                                                               */
    bool implicit_forces; /* springs and dampers as soft rows                                      */
    bool gap_drift;
    const double *shift; /* q_base - q_star as a velocity, NULL where they are the same            */
    st_Error *err;
} Work;

static double shifted(const Work *work, double value, const sti_RowList *rows, int k)
{
    return work->shift != NULL ? value + sti_row_dot(rows, k, work->shift) : value;
}

/* How fast things are, or would be after the step: what the residual is measured against when contacts
 * have nothing to do. An impact has no forces to tell; there the step before it counts, too.      */
static void note_speeds(Work *work, const double *v, const double *k)
{
    st_System *s = work->system;
    if (!work->impact) s->speed = 0;
    for (int i = 0; i < s->model.n_v; i++) {
        double gained = work->stage->eta * fabs(k[i]) / work->out->M[s->diagonal[i]];
        s->speed = fmax(s->speed, fabs(v[i]) + gained);
    }
}

/* f = M v_b* + eta k1, A = M. */
static st_Status momentum(Work *work)
{
    st_System *s = work->system;
    const st_Model *model = &s->model;
    const sti_Stage *stage = work->stage;
    double *f = work->out->f, *v = s->work_v, *k = s->work_k;
    STI_TRY(model->mass(model->ctx, stage->q_star, work->out->M, work->err));
    memcpy(v, stage->v_base, (size_t)model->n_v * sizeof *v);
    memset(k, 0, (size_t)model->n_v * sizeof *k);
    if (!work->impact) {
        if (model->gyroscopic != NULL) model->gyroscopic(model->ctx, stage->eta, stage->q_star, v);
        STI_TRY(model->force(model->ctx, stage->t, stage->q_star, stage->v_star, k, work->err));
    }
    note_speeds(work, v, k);
    const double *M = work->out->M;
    for (int b = 0; b < model->n_blocks; b++)
        for (int i = model->first[b]; i < model->first[b + 1]; i++) {
            f[i] = stage->eta * k[i];
            for (int j = model->first[b]; j < model->first[b + 1]; j++)
                f[i] += *M++ * v[j];
        }
    return ST_OK;
}

/* Explicit springs and dampers: f += eta * -(k phi + d a'v) a. */
static void add_explicit_springs(Work *work)
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

static st_Status append_row(Work *work, sti_RowList *to, const sti_RowList *from, int k)
{
    int64_t start = from->p[k];
    return sti_rows_append(work->allocator, to, (int)(from->p[k + 1] - start), from->i + start, from->x + start,
                           work->err);
}

static double capped(double speed, double cap)
{
    return fmin(fmax(speed, -cap), cap);
}

static st_Status joints(Work *work)
{
    const st_Sink *sink = work->stage->rows;
    sti_Assembly *out = work->out;
    double cap = work->system->def.correction_speed;
    for (int k = 0; k < sink->joint_rows.n_rows; k++) {
        double value = shifted(work, sink->joint[k].value, &sink->joint_rows, k);
        STI_TRY(append_row(work, &out->G, &sink->joint_rows, k));
        out->g[k] = sink->joint[k].rate + (work->gap_drift ? capped(value / work->stage->eta, cap) : 0.0);
        out->Cb[k] = 0;
    }
    return ST_OK;
}

static st_Status soft_rows(Work *work)
{
    const st_Sink *sink = work->stage->rows;
    sti_Assembly *out = work->out;
    double eta = work->stage->eta;
    for (int k = 0; k < sink->soft_rows.n_rows; k++) {
        const sti_SoftEntry *soft = &sink->soft[k];
        int row = out->G.n_rows;
        double resistance = eta * soft->stiffness + soft->damping;
        double phi = shifted(work, soft->value, &sink->soft_rows, k);
        STI_TRY(append_row(work, &out->G, &sink->soft_rows, k));
        out->Cb[row] = 1.0 / (eta * resistance);
        out->g[row] = soft->stiffness * phi / resistance;
    }
    return ST_OK;
}

static st_Status grow_constraints(Work *work, int64_t n)
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

static st_Status grow_contacts(Work *work, int n)
{
    sti_Assembly *out = work->out;
    int64_t rows = 3 * (int64_t)n;
    STI_TRY(STI_GROW(work->allocator, out->w, out->w_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->r, out->r_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->u, out->u_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->law, out->law_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->chosen, out->chosen_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->C, out->C_capacity, 3 * rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->C_first, out->C_first_capacity, n + 1, work->err));
    STI_TRY(STI_GROW(work->allocator, out->H.p, out->H.p_capacity, 1, work->err));
    out->H.n_rows = 0;
    return ST_OK;
}

static st_ContactLaw law_of(const st_SystemDef *def, const sti_ContactEntry *entry, int first)
{
    bool slippery = entry->dim == 1 || def->law == ST_LAW_FRICTIONLESS || entry->mu == 0;
    return (st_ContactLaw){.law = slippery ? ST_LAW_FRICTIONLESS : def->law,
                           .dim = slippery ? 1 : entry->dim,
                           .first = first,
                           .facets = entry->dim == 2 ? 2 : def->facets,
                           .mu = slippery ? 0.0 : entry->mu};
}

static st_Status contacts(Work *work, const int *index, int n)
{
    const st_Sink *sink = work->stage->rows;
    sti_Assembly *out = work->out;
    const st_SystemDef *def = &work->system->def;
    for (int c = 0; c < n; c++) {
        const sti_ContactEntry *entry = &sink->contact[index[c]];
        int first = out->H.n_rows;
        out->law[c] = law_of(def, entry, first);
        out->chosen[c] = (sti_Chosen){.entry = *entry, .first = first};
        for (int k = 0; k < out->law[c].dim; k++) {
            STI_TRY(append_row(work, &out->H, &sink->contact_rows, entry->first_row + k));
            out->w[first + k] = 0;
        }
        if (work->gap_drift) {
            double gap = shifted(work, entry->gap, &sink->contact_rows, entry->first_row);
            out->w[first] = fmax(gap / work->stage->eta, -def->correction_speed);
        }
    }
    return ST_OK;
}

/* Motors and joint friction: after the contacts, whose ids are smaller. */
static st_Status bounded_rows(Work *work, int n_contacts)
{
    const st_Sink *sink = work->stage->rows;
    sti_Assembly *out = work->out;
    double eta = work->stage->eta;
    for (int k = 0; k < sink->bounded_rows.n_rows; k++) {
        const sti_BoundedEntry *entry = &sink->bounded[k];
        int c = n_contacts + k, first = out->H.n_rows;
        double resistance = eta * entry->stiffness + entry->damping;
        double phi = shifted(work, entry->value, &sink->bounded_rows, k);
        out->law[c] = (st_ContactLaw){
            .law = ST_LAW_BOUNDED, .dim = 1, .first = first, .lo = eta * entry->lo, .hi = eta * entry->hi};
        out->chosen[c] = (sti_Chosen){.entry = {.id = entry->id, .dim = 1}, .first = first};
        STI_TRY(append_row(work, &out->H, &sink->bounded_rows, k));
        out->w[first] = -entry->target;
        if (resistance > 0) out->w[first] = (entry->stiffness * phi - entry->damping * entry->target) / resistance;
    }
    return ST_OK;
}

/* (x'x)^2 / sum x_i^2 M_ii: the velocity that a unit impulse along row k makes, up to the condition of M. */
static double mobility(const Work *work, int k)
{
    const sti_RowList *rows = &work->out->H;
    double square = 0, weighted = 0;
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++) {
        double x = rows->x[e];
        square += x * x;
        weighted += x * x * work->out->M[work->system->diagonal[rows->i[e]]];
    }
    return square > 0 ? square * square / weighted : 0.0;
}

/* Compliances, contact by contact. With gap drift a body pinched between two overlaps has no solution at
 * all: contacts in overlap get a small normal compliance (METHODS section 1). Soft bounded rows have
 * that of their spring and damper.                                                                */
static void compliances(Work *work)
{
    sti_Assembly *out = work->out;
    double *C = out->C, eta = work->stage->eta;
    out->overlapping = 0;
    out->compliant = false;
    for (int c = 0; c < out->n_gaps + out->n_bounded; c++) {
        int dim = out->law[c].dim;
        out->C_first[c] = out->law[c].first;
        memset(C, 0, (size_t)(dim * dim) * sizeof *C);
        if (c >= out->n_gaps) {
            const sti_BoundedEntry *entry = &work->stage->rows->bounded[c - out->n_gaps];
            double resistance = eta * entry->stiffness + entry->damping;
            if (resistance > 0) C[0] = 1.0 / (eta * resistance);
        } else if (work->gap_drift && out->chosen[c].entry.gap < -STI_OVERLAP) {
            C[0] = STI_OVERLAP_COMPLIANCE * mobility(work, out->law[c].first);
            out->overlapping++;
        }
        out->compliant = out->compliant || C[0] > 0;
        C += dim * dim;
    }
    out->C_first[out->n_gaps + out->n_bounded] = out->H.n_rows;
}

static st_Sparse sparse(const sti_RowList *rows, int n_v)
{
    return (st_Sparse){.n_rows = n_v, .n_cols = rows->n_rows, .p = rows->p, .i = rows->i, .x = rows->x};
}

static void finish(Work *work)
{
    const st_Model *model = &work->system->model;
    sti_Assembly *out = work->out;
    int n_contacts = out->n_gaps + out->n_bounded;
    out->problem = (st_Problem){
        .n_v = model->n_v,
        .n_l = out->G.n_rows,
        .n_r = out->H.n_rows,
        .n_contacts = n_contacts,
        .A = {model->n_blocks, model->first, out->M},
        .symmetric = true,
        .G = sparse(&out->G, model->n_v),
        .H = sparse(&out->H, model->n_v),
        .Cb = {out->G.n_rows, out->Cb_first, out->Cb},
        .f = out->f,
        .g = out->g,
        .w = out->w,
        .contact = out->law,
        .u_scale = STI_IDLE_SPEED * work->system->speed,
    };
    if (out->compliant) out->problem.C = (st_BlockDiag){n_contacts, out->C_first, out->C};
}

/* Where the rows are taken, for the reports of what they transmit. */
static void keep_place(Work *work)
{
    const sti_Stage *stage = work->stage;
    work->out->eta = stage->eta;
    work->out->t = stage->t;
    memcpy(work->out->q, stage->q_star, (size_t)work->system->model.n_q * sizeof *work->out->q);
}

st_Status sti_stage_assemble(st_System *system, const sti_Stage *stage, const int *index, int n_contacts, st_Error *err)
{
    bool impact = stage->eta == 0;
    Work work = {.system = system,
                 .stage = stage,
                 .out = &system->step,
                 .allocator = &system->allocator,
                 .impact = impact,
                 .implicit_forces = system->def.integrator != ST_INTEGRATOR_EULER,
                 .gap_drift = system->def.drift == ST_DRIFT_GAP && !impact,
                 .err = err};
    STI_TRY(momentum(&work));
    if (stage->q_base != stage->q_star) {
        sti_difference(system, stage->q_star, stage->q_base, system->work_k);
        work.shift = system->work_k;
    }
    int n_soft = impact || !work.implicit_forces ? 0 : stage->rows->soft_rows.n_rows;
    STI_TRY(grow_constraints(&work, (int64_t)stage->rows->joint_rows.n_rows + n_soft));
    STI_TRY(joints(&work));
    if (n_soft > 0) STI_TRY(soft_rows(&work));
    if (!impact && !work.implicit_forces) add_explicit_springs(&work);
    /* no finite force changes an impact: bounded rows are left out */
    work.out->n_gaps = n_contacts;
    work.out->n_bounded = impact ? 0 : stage->rows->bounded_rows.n_rows;
    STI_TRY(grow_contacts(&work, n_contacts + work.out->n_bounded));
    STI_TRY(contacts(&work, index, n_contacts));
    if (!impact) STI_TRY(bounded_rows(&work, n_contacts));
    compliances(&work);
    finish(&work);
    keep_place(&work);
    sti_lap(system, ST_STAGE_ASSEMBLE);
    return ST_OK;
}

/* Start from the forces of the last step, contact by contact: both lists stand by id. */
static void warm_start(st_System *system, double eta)
{
    sti_Assembly *out = &system->step;
    int p = 0;
    for (int c = 0; c < out->problem.n_contacts; c++) {
        const st_ContactLaw *law = &out->law[c];
        while (p < system->n_previous && system->previous[p].id < out->chosen[c].entry.id)
            p++;
        bool known = p < system->n_previous && system->previous[p].id == out->chosen[c].entry.id &&
                     system->previous[p].dim == law->dim;
        for (int k = 0; k < law->dim; k++)
            out->r[law->first + k] = known ? eta * system->previous[p].r[k] : 0.0;
    }
}

static st_Status keep_impulses(st_System *system, double eta, st_Error *err)
{
    const sti_Assembly *out = &system->step;
    int n = out->problem.n_contacts;
    STI_TRY(STI_GROW(&system->allocator, system->previous, system->previous_capacity, n, err));
    system->n_previous = n;
    for (int c = 0; c < n; c++) {
        const st_ContactLaw *law = &out->law[c];
        system->previous[c] = (sti_Impulse){.id = out->chosen[c].entry.id, .dim = law->dim};
        for (int k = 0; k < law->dim; k++)
            system->previous[c].r[k] = out->r[law->first + k] / eta;
    }
    return ST_OK;
}

/* Force times the displacement that follows, eta u. In an impact the velocity at the contact changes under
 * the impulse, and the work is that of the mean. Of bounded rows those that drive nothing are friction. */
static double friction_work(const sti_Stage *stage, const sti_Assembly *out)
{
    double sum = 0;
    for (int c = 0; c < out->n_gaps + out->n_bounded; c++) {
        const st_ContactLaw *law = &out->law[c];
        bool bounded = c >= out->n_gaps;
        if (bounded) {
            const sti_BoundedEntry *entry = &stage->rows->bounded[c - out->n_gaps];
            if (entry->target != 0 || entry->stiffness + entry->damping > 0) continue;
        }
        for (int k = bounded ? 0 : 1; k < law->dim; k++) {
            double u = out->u[law->first + k];
            if (stage->eta == 0) u = 0.5 * (u + sti_row_dot(&out->H, law->first + k, stage->v_base));
            sum += out->r[law->first + k] * u;
        }
    }
    return sum;
}

st_Status sti_stage_solve(st_System *system, const sti_Stage *stage, double *v, st_SolveInfo *info, st_Error *err)
{
    sti_Assembly *out = &system->step;
    bool impact = stage->eta == 0;
    warm_start(system, stage->eta); /* an impact starts from 0 */
    st_Solution solution = {.v = v, .l = out->l, .u = out->u, .r = out->r};
    STI_TRY(st_solver_solve(system->solver, &out->problem, &solution, info, err));
    if (!impact) STI_TRY(keep_impulses(system, stage->eta, err));
    out->friction_work = friction_work(stage, out);
    sti_lap(system, ST_STAGE_SOLVE);
    return ST_OK;
}
