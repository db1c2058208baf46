/* step/stage.c -- the step problem of one stage, and its solution.
 *
 *     M v = M v_b* + eta k1(t, q*, v*) + G l + H r                    (METHODS section 3b)
 *     joints   G' v + g = 0,           g = theta_b/eta + d theta/dt   (drift gap; else d theta/dt)
 *     soft     a' v + l/(eta (eta k + d)) + k phi_b/(eta k + d) = 0   (Anitescu & Potra 2002, eq. 32-33 as rows)
 *     contact  u = H' v + w,           w = Phi_b/eta                  (drift gap; else 0)
 *     bounded  u = a' v + w,           eta lo <= r <= eta hi,  w = - target
 *              soft: u = a' v + r/(eta (eta k + d)) + (k phi_b - d target)/(eta k + d)
 *
 * where x_b = x(q*) + grad x' (q_b - q*). In schemes of order one v_b* has gone through the gyroscopic term
 * body by body; in those of order two it is v_b, and that term is part of k1 at v*. With the explicit
 * integrator springs and dampers are part of k1 instead.
 *
 * Two more schemes are this stage under another name (METHODS section 3), with qm = q + (h/2) v:
 *     trapezoid II   the mean velocity vm = (v + v+)/2 solves the stage (qm, v, q) with eta = h/2, and moves
 *                    q for h: drift divides by h (`reach`) where springs look h/2 ahead;
 *     trapezoid I    v+ solves it with eta = h, where springs and drift follow the mean of v and v+ (`mean`):
 *                    a'(v + v+) + l/(h s) + k phi_b/s = 0,  s = h k/4 + d/2.
 *
 * Drift in schemes of order two: x_b/eta would close the joint at the end of the stage, so that v were the mean
 * velocity of the stage and not the one at its end; on a curved joint they differ by O(h), and the two stages of
 * sdirk2 fall to order one (double pendulum: 6e-5 at h = 2^-11 instead of 3e-8). There x(q)/h takes its place,
 * what is left over at the start of the step, O(h^3) (`drift_from`). bdf2 keeps x_b/eta and its order.
 */
#include "base/tolerance.h"
#include "math/parallel.h"
#include "solve/islands.h"
#include "step/contact_model.h"
#include "step/sleep.h"

/* The stage being assembled. */
typedef struct Work {
    st_System *system;
    const sti_Stage *stage;
    sti_Assembly *out;
    const st_Allocator *allocator;
    bool impact;          /* eta = 0                                                               */
    bool implicit_forces; /* springs and dampers as soft rows                                      */
    bool gap_drift;
    bool waiting;        /* rows of contacts are made when somebody wants them                    */
    const double *shift; /* q_base - q_star as a velocity, NULL where they are the same            */
    st_Error *err;
} Work;

/* Joints and springs. */
static const st_Sink *constraints_of(const Work *work)
{
    return work->stage->constraints != NULL ? work->stage->constraints : work->stage->rows;
}

static double shifted(const Work *work, double value, const sti_RowList *rows, int k)
{
    return work->shift != NULL ? value + sti_row_dot(rows, k, work->shift) : value;
}

/* k1 at (q*, v*), at one time or as the mean of two. */
static st_Status forces(Work *work, double *k)
{
    const st_Model *model = &work->system->model;
    const sti_Stage *stage = work->stage;
    STI_TRY(model->force(model->ctx, stage->t, stage->q_star, stage->v_star, k, work->err));
    if (stage->t_end > stage->t && !(work->system->world != NULL && work->system->world->scene->n_forces == 0)) {
        double *last = work->system->path; /* free until the way is looked at for collisions */
        STI_TRY(model->force(model->ctx, stage->t_end, stage->q_star, stage->v_star, last, work->err));
        for (int i = 0; i < model->n_v; i++)
            k[i] = 0.5 * (k[i] + last[i]);
    }
    if (stage->second_order && model->gyroscopic_force != NULL)
        model->gyroscopic_force(model->ctx, stage->q_star, stage->v_star, k);
    return ST_OK;
}

/* How fast things are, or would be after the step: what the residual is measured against when contacts
 * have nothing to do.                                                                             */
typedef struct Speeds {
    double speed, pull;
} Speeds;

static Speeds faster(Speeds a, Speeds b)
{
    return (Speeds){sti_larger(a.speed, b.speed), sti_larger(a.pull, b.pull)};
}

static Speeds speeds_of(const Work *work, int b, const double *v, const double *k)
{
    const st_System *s = work->system;
    Speeds fastest = {0, 0};
    for (int i = s->model.first[b]; i < s->model.first[b + 1]; i++) {
        double pull = fabs(k[i]) / sti_mass_of(s, work->out->M, i);
        fastest = faster((Speeds){fabs(v[i]) + work->stage->eta * pull, pull}, fastest);
    }
    return fastest;
}

/* f = eta f + M v of one block. */
static void add_momentum(const Work *work, int b, const double *v, double *f)
{
    const st_System *s = work->system;
    const int first = s->model.first[b], end = s->model.first[b + 1], n = end - first;
    const bool marked = s->marked != NULL && s->marked[b];
    const double *M = work->out->M + (s->diagonal != NULL ? s->diagonal[first] : first);
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
    const Work *work;
    double *v, *f;
    Speeds speeds[STI_PARTS];
} Momenta;

static void begin_blocks(void *ctx, int64_t first, int64_t end)
{
    const Momenta *momenta = ctx;
    const st_System *s = momenta->work->system;
    for (int e = (int)first; e < (int)end; e++)
        for (int i = s->model.first[sti_block(s, e)]; i < s->model.first[sti_block(s, e) + 1]; i++)
            momenta->v[i] = momenta->work->stage->v_base[i], momenta->f[i] = 0;
}

static void end_blocks(void *ctx, int part, int64_t first, int64_t end)
{
    Momenta *momenta = ctx;
    const Work *work = momenta->work;
    Speeds fastest = {0, 0};
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_block(work->system, e);
        fastest = faster(speeds_of(work, b, momenta->v, momenta->f), fastest);
        add_momentum(work, b, momenta->v, momenta->f);
    }
    momenta->speeds[part] = fastest;
}

/* f = M v_b* + eta k1 + push, A = M. An impact has no forces to tell its speed; there the step before counts, too. */
static st_Status momentum(Work *work)
{
    st_System *s = work->system;
    const st_Model *model = &s->model;
    const sti_Stage *stage = work->stage;
    double *f = work->out->f, *v = s->work_v;
    Momenta momenta;
    momenta.work = work, momenta.v = v, momenta.f = f;
    STI_TRY(sti_mass(s, work->out, stage->q_star, work->err));
    sti_team_for(s->def.threads, sti_block_count(s), STI_LEAST_BODIES, begin_blocks, &momenta);
    if (!work->impact) {
        if (model->gyroscopic != NULL && !stage->second_order)
            model->gyroscopic(model->ctx, stage->eta, stage->q_star, v);
        STI_TRY(forces(work, f));
        s->speed = s->pull = 0;
    }
    const int parts = sti_team_parts(s->def.threads, sti_block_count(s), end_blocks, &momenta);
    for (int k = 0; k < parts; k++) {
        s->speed = sti_larger(momenta.speeds[k].speed, s->speed);
        if (!work->impact) s->pull = sti_larger(momenta.speeds[k].pull, s->pull);
    }
    for (int i = 0; stage->A != NULL && i < model->n_v; i++)
        f[i] += stage->D[i] * stage->v_near[i];
    for (int i = 0; stage->push != NULL && i < model->n_v; i++)
        f[i] += stage->push[i];
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
    return sti_rows_append_rows(work->allocator, to, from, k, 1, work->err);
}

static double capped(double speed, double cap)
{
    return speed > cap ? cap : (speed < -cap ? -cap : speed);
}

static double base_speed(const Work *work, const sti_RowList *rows, int k)
{
    return sti_row_dot(rows, k, work->stage->v_base);
}

/* Time in which drift is to be gone: in the short piece of a step beside an event not the piece's own length,
 * which would make a velocity out of a gap of 1e-12 m.                                            */
static double drift_time(const Work *work)
{
    return fmax(work->stage->reach, 0.2 * work->system->h_asked);
}

static double joint_drift(const Work *work, int k, double reach)
{
    const st_Sink *sink = constraints_of(work);
    const sti_RowList *rows = &sink->joint_rows;
    double cap = work->system->def.correction_speed;
    const st_Sink *from = work->stage->drift_from;
    double value = from != NULL ? from->joint[k].value : shifted(work, sink->joint[k].value, rows, k);
    return work->stage->mean ? capped(2 * value / reach, cap) + base_speed(work, rows, k) : capped(value / reach, cap);
}

/* Row k with its columns scaled, into x, where all rows of the list go. */
static void scale_row(const sti_RowList *from, int k, const double *columns, double *x)
{
    const int64_t first = from->p[k], n = from->p[k + 1] - first;
    const int *i = from->i + first;
    const double *row = from->x + first;
    x += first;
    if (n == 12 && i[5] == i[0] + 5 && i[11] == i[6] + 5) { /* two bodies in space: mostly */
        for (int e = 0; e < 6; e++) {
            x[e] = row[e] * columns[i[0] + e];
            x[6 + e] = row[6 + e] * columns[i[6] + e];
        }
        return;
    }
    for (int64_t e = 0; e < n; e++)
        x[e] = row[e] * columns[i[e]];
}

/* All rows of a list as the next of G; with half of those of another, if one is given, or scaled columns. */
static st_Status append_all(Work *work, const sti_RowList *from, const sti_RowList *half)
{
    sti_RowList *G = &work->out->G;
    const int64_t start = G->n_rows > 0 ? G->p[G->n_rows] : 0, n = from->n_rows > 0 ? from->p[from->n_rows] : 0;
    if (G->n_rows + from->n_rows > work->out->laid_out)
        STI_TRY(sti_rows_append_rows(work->allocator, G, from, 0, from->n_rows, work->err));
    else
        G->n_rows += from->n_rows;
    double *x = G->x + start;
    const double *columns = work->stage->columns;
    for (int64_t e = 0; half == NULL && columns == NULL && e < n; e++)
        x[e] = from->x[e];
    for (int k = 0; half == NULL && columns != NULL && k < from->n_rows; k++)
        scale_row(from, k, columns, x);
    for (int64_t e = 0; half != NULL && e < n; e++)
        x[e] = from->x[e] + 0.5 * half->x[e];
    return ST_OK;
}

static st_Status joints(Work *work)
{
    const st_Sink *sink = constraints_of(work), *end = work->stage->end;
    sti_Assembly *out = work->out;
    double reach = drift_time(work);
    STI_TRY(append_all(work, &sink->joint_rows, end != NULL ? &end->joint_rows : NULL));
    for (int k = 0; k < sink->joint_rows.n_rows; k++) {
        out->g[k] = sink->joint[k].rate;
        if (work->gap_drift) out->g[k] += joint_drift(work, k, reach);
        out->Cb[k] = 0;
    }
    return ST_OK;
}

/* What a spring and damper oppose to the row's velocity, per unit of time: eta k + d; where they follow the mean
 * of old and new velocity, a half of it from the new one, at half the step.                       */
static double resistance_of(const Work *work, double stiffness, double damping)
{
    double eta = work->stage->eta;
    return work->stage->mean ? 0.25 * eta * stiffness + 0.5 * damping : eta * stiffness + damping;
}

static st_Status soft_rows(Work *work)
{
    const st_Sink *sink = constraints_of(work), *end = work->stage->end;
    sti_Assembly *out = work->out;
    double eta = work->stage->eta;
    int first = out->G.n_rows;
    STI_TRY(append_all(work, &sink->soft_rows, end != NULL ? &end->soft_rows : NULL));
    for (int k = 0; k < sink->soft_rows.n_rows; k++) {
        const sti_SoftEntry *soft = &sink->soft[k];
        int row = first + k;
        double resistance = resistance_of(work, soft->stiffness, soft->damping);
        double phi = work->stage->constraints != NULL ? soft->value : shifted(work, soft->value, &sink->soft_rows, k);
        out->Cb[row] = 1.0 / (eta * resistance);
        out->g[row] = soft->stiffness * phi / resistance;
        if (work->stage->mean) out->g[row] += base_speed(work, &sink->soft_rows, k);
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

/* Room for n contacts of at most `dim` rows, and n_C numbers of compliance. */
static st_Status grow_contacts(Work *work, int64_t n, int dim, int64_t n_C)
{
    sti_Assembly *out = work->out;
    int64_t rows = dim * n;
    STI_TRY(STI_GROW(work->allocator, out->w, out->w_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->r, out->r_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->start, out->start_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->u, out->u_capacity, rows, work->err));
    STI_TRY(STI_GROW(work->allocator, out->law, out->law_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->chosen, out->chosen_capacity, n, work->err));
    STI_TRY(STI_GROW(work->allocator, out->C, out->C_capacity, n_C, work->err));
    STI_TRY(STI_GROW(work->allocator, out->C_first, out->C_first_capacity, rows + 1, work->err));
    STI_TRY(STI_GROW(work->allocator, out->H.p, out->H.p_capacity, 1, work->err));
    out->H.n_rows = 0;
    out->n_C = 0;
    out->C_used = 0;
    out->overlapping = 0;
    out->compliant = false;
    return ST_OK;
}

st_ContactLaw sti_contact_law(const st_SystemDef *def, const sti_ContactEntry *entry, int first)
{
    const sti_Surface *surface = entry->surface;
    bool slippery = entry->dim == 1 || def->law == ST_LAW_FRICTIONLESS || surface->mu == 0;
    bool rolls = !slippery && surface->rolling > 0;                     /* laws coulomb and cone: others were refused */
    bool spins = !slippery && surface->spinning > 0 && entry->dim == 3; /* in the plane nothing spins */
    return (st_ContactLaw){.law = slippery ? ST_LAW_FRICTIONLESS : def->law,
                           .dim = slippery ? 1 : (rolls ? 5 : entry->dim) + (spins ? 1 : 0),
                           .first = first,
                           .facets = entry->dim == 2 ? 2 : def->facets,
                           .mu = slippery ? 0.0 : surface->mu,
                           .mu_roll = rolls ? surface->rolling : 0.0,
                           .mu_spin = spins ? surface->spinning : 0.0};
}

/* Row k of a contact among those of its model: normal, tangents, then the two rates of rolling, about the tangents,
 * and that of spinning, about the normal. In the plane there is no second tangent and no rolling about the first:
 * -1, a row without entries.                                                                      */
static int model_row(const st_ContactLaw *law, const sti_ContactEntry *entry, int k)
{
    bool spins = law->mu_spin > 0 && k == law->dim - 1;
    if (k < entry->dim) return entry->first_row + k;
    if (k < 3 || (entry->dim == 2 && k == 3)) return -1;
    return sti_turning_row(entry) + (spins ? 0 : k - 2);
}

/* Rows that nobody has made yet: where they will stand. */
static st_Status new_contact_rows(Work *work, const st_ContactLaw *law, const sti_ContactEntry *entry)
{
    int index[12];
    double *gradient;
    STI_TRY(sti_rows_room(work->allocator, &work->out->H, law->dim, 12, &gradient, work->err));
    int count = sti_contact_rows(work->system->world, entry, law->dim, index, gradient);
    sti_rows_close(&work->out->H, law->dim, count, index);
    return ST_OK;
}

static st_Status contact_rows(Work *work, const st_ContactLaw *law, const sti_ContactEntry *entry)
{
    const sti_RowList *from = &work->stage->rows->contact_rows;
    sti_RowList *to = &work->out->H;
    int n_own = law->dim < entry->dim ? law->dim : entry->dim;
    for (int k = 0; k < law->dim; k++)
        work->out->w[law->first + k] = 0;
    if (work->waiting) return ST_OK;
    if (entry->first_row < 0) return new_contact_rows(work, law, entry);
    STI_TRY(sti_rows_append_rows(work->allocator, to, from, entry->first_row, n_own, work->err));
    for (int k = n_own; k < law->dim; k++) {
        int row = model_row(law, entry, k);
        if (row < 0)
            STI_TRY(sti_rows_append(work->allocator, to, 0, NULL, NULL, work->err));
        else
            STI_TRY(append_row(work, to, from, row));
    }
    return ST_OK;
}

/* What of a gap is to be closed, or opened: within the slop nothing. Faces that rest on one another at many points have
 * more gaps than freedoms; gaps that differ by what the solver left over then ask for forces that no
 * load explains, anew in every step.                                                              */
static double beyond(double gap, double slop)
{
    return gap > slop ? gap - slop : (gap < -slop ? gap + slop : 0.0);
}

/* Drift gap: the gap is closed at the end of the stage's reach, and overlap not faster than the cap. */
static double gap_drift(const Work *work, const sti_ContactEntry *entry, int row)
{
    const sti_RowList *rows = &work->out->H;
    double cap = work->system->def.correction_speed, reach = drift_time(work);
    const st_Sink *from = work->stage->drift_from;
    int known = from != NULL ? sti_sink_find(from, entry->id) : -1;
    double gap = known >= 0 ? from->contact[known].gap : shifted(work, entry->gap, rows, row);
    gap = beyond(gap, work->system->def.slop);
    if (work->stage->mean) return fmax(2 * gap / reach, -cap) + base_speed(work, rows, row);
    return fmax(gap / reach, -cap);
}

/* Newton's impact law, u+ >= -e u-, for contacts that approach fast enough; in a step with h > 0, that close
 * within it (METHODS section 3c).                                                                 */
static double rebound(const Work *work, const sti_ContactEntry *entry, int row, double drift)
{
    double approach = base_speed(work, &work->out->H, row);
    bool closes = work->impact || entry->gap + work->stage->eta * approach < 0;
    bool fast = approach < -work->system->def.restitution_speed;
    return closes && fast && entry->surface->restitution > 0 ? entry->surface->restitution * approach : drift;
}

/* As contact c, its rows from `first` on. */
static st_Status add_contact(Work *work, int c, int first, const sti_ContactEntry *entry)
{
    const st_System *system = work->system;
    sti_Assembly *out = work->out;
    bool now = work->stage->rows == &system->here;
    int before = now ? -1 : sti_sink_find(&system->here, entry->id);
    out->law[c] = sti_contact_law(&system->def, entry, first);
    out->chosen[c] = (sti_Chosen){.entry = *entry, .first = first};
    if (before >= 0) out->chosen[c].entry.gap = system->here.contact[before].gap;
    STI_TRY(contact_rows(work, &out->law[c], entry));
    if (work->gap_drift) out->w[first] = gap_drift(work, entry, first);
    if (work->stage->rebound) out->w[first] = rebound(work, entry, first, out->w[first]);
    return ST_OK;
}

/* A patch of elements; a contact of two rigid bodies (the limit of a joint) stays one. */
static st_Status add_compliant_contact(Work *work, int *n, const sti_ContactEntry *entry)
{
    sti_Assembly *out = work->out;
    if (sti_is_patch(entry)) return sti_patch_add(work->system, work->stage, entry, n, work->err);
    STI_TRY(add_contact(work, *n, out->H.n_rows, entry));
    sti_compliance_block(out, out->law[*n].first, out->law[*n].dim);
    ++*n;
    return ST_OK;
}

/* The wanted contacts; one that is beyond the margin at q* is left out. */
static st_Status contacts(Work *work, int *n)
{
    const st_Sink *sink = work->stage->rows;
    const sti_IdSet *wanted = &work->system->wanted;
    *n = 0;
    for (int c = 0, k = 0; c < sink->n_contacts; c++) { /* both stand by id */
        while (k < wanted->n && wanted->id[k] < sink->contact[c].id)
            k++;
        if (k < wanted->n && wanted->id[k] == sink->contact[c].id) {
            if (work->system->def.contact == ST_CONTACT_COMPLIANT && !work->impact)
                STI_TRY(add_compliant_contact(work, n, &sink->contact[c]));
            else
                STI_TRY(add_contact(work, (*n)++, work->out->H.n_rows, &sink->contact[c]));
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
        double resistance = resistance_of(work, entry->stiffness, entry->damping);
        double phi = shifted(work, entry->value, &sink->bounded_rows, k);
        out->law[c] = (st_ContactLaw){
            .law = ST_LAW_BOUNDED, .dim = 1, .first = first, .lo = eta * entry->lo, .hi = eta * entry->hi};
        out->chosen[c] = (sti_Chosen){.entry = {.id = entry->id, .dim = 1}, .first = first};
        STI_TRY(append_row(work, &out->H, &sink->bounded_rows, k));
        out->w[first] = -entry->target;
        if (resistance == 0) continue;
        out->w[first] = (entry->stiffness * phi - entry->damping * entry->target) / resistance;
        if (work->stage->mean) out->w[first] += base_speed(work, &sink->bounded_rows, k);
    }
    return ST_OK;
}

/* (x'x)^2 / sum x_i^2 M_ii: the velocity that a unit impulse along row k makes, up to the condition of M. */
double sti_mobility(const st_System *system, int k)
{
    const sti_RowList *rows = &system->step.H;
    double square = 0, weighted = 0;
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++) {
        double x = rows->x[e];
        square += x * x;
        weighted += x * x * sti_mass_of(system, system->step.M, rows->i[e]);
    }
    return square > 0 ? square * square / weighted : 0.0;
}

double *sti_compliance_block(sti_Assembly *out, int first, int size)
{
    double *block = out->C + out->C_used;
    out->C_first[out->n_C++] = first;
    out->C_used += (int64_t)size * size;
    for (int64_t k = 0; k < (int64_t)size * size; k++)
        block[k] = 0.0;
    return block;
}

/* With gap drift a body pinched between two overlaps has no solution at all: contacts in overlap get a small
 * normal compliance (METHODS section 1).                                                          */
static bool overlaps(const Work *work, int c)
{
    return work->gap_drift && work->out->chosen[c].entry.gap < -STI_OVERLAP;
}

static void soften_overlaps(Work *work)
{
    sti_Assembly *out = work->out;
    for (int c = 0; c < out->n_gaps; c++) {
        double *C = sti_compliance_block(out, out->law[c].first, 1); /* row by row: C is diagonal here */
        for (int k = 1; k < out->law[c].dim; k++)
            sti_compliance_block(out, out->law[c].first + k, 1);
        if (!overlaps(work, c)) continue;
        C[0] = STI_OVERLAP_COMPLIANCE * sti_mobility(work->system, out->law[c].first);
        out->overlapping++;
    }
    out->compliant = out->overlapping > 0;
}

/* ---- many contacts whose rows wait ------------------------------------------------------------- */

/* Nothing is made of them but their laws, gaps and compliances: a team writes them, each member a range of the sink. */
typedef struct Many {
    Work *work;
    sti_Places contacts, rows, overlapping;
} Many;

enum { LEAST_OF_MANY = 512 }; /* worth a thread */

/* The next contact of a sink, from c on, that is wanted, from *k on; `end`: none. Both stand by id. */
static int next_wanted(const st_Sink *sink, const sti_IdSet *wanted, int c, int end, int *k)
{
    for (; c < end; c++) {
        while (*k < wanted->n && wanted->id[*k] < sink->contact[c].id)
            ++*k;
        if (*k < wanted->n && wanted->id[*k] == sink->contact[c].id) return c;
    }
    return end;
}

/* Contact n, whose rows are from `row` on; returns how many. */
static int add_waiting(Work *work, int n, int row, const sti_ContactEntry *entry, int64_t *overlapping)
{
    sti_Assembly *out = work->out;
    (void)add_contact(work, n, row, entry); /* which fails where rows are made only */
    const int dim = out->law[n].dim;
    for (int k = row; k < row + dim; k++) {
        out->C_first[k] = k;
        out->C[k] = 0.0;
    }
    sti_waiting_legs(work->system, n);
    if (!overlaps(work, n)) return dim;
    out->C[row] = STI_OVERLAP_COMPLIANCE * sti_waiting_mobility(work->system, n);
    ++*overlapping;
    return dim;
}

static void share_contacts(void *ctx, int thread, int n_threads)
{
    Many *many = ctx;
    Work *work = many->work;
    const st_Sink *sink = work->stage->rows;
    const sti_IdSet *wanted = &work->system->wanted;
    const int first = (int)sti_share(sink->n_contacts, thread, n_threads);
    const int end = (int)sti_share(sink->n_contacts, thread + 1, n_threads);
    const int start = first < end ? sti_ids_lower(wanted, sink->contact[first].id) : 0;
    int n = 0, rows = 0, k = start;
    for (int c = first; (c = next_wanted(sink, wanted, c, end, &k)) < end; c++, n++)
        rows += sti_contact_law(&work->system->def, &sink->contact[c], 0).dim;
    many->contacts.count[thread] = n;
    many->rows.count[thread] = rows;
    many->overlapping.count[thread] = 0;
    sti_team_wait(n_threads);
    n = (int)sti_places_before(&many->contacts, thread);
    rows = (int)sti_places_before(&many->rows, thread);
    k = start;
    for (int c = first; (c = next_wanted(sink, wanted, c, end, &k)) < end; c++, n++)
        rows += add_waiting(work, n, rows, &sink->contact[c], &many->overlapping.count[thread]);
    if (thread < n_threads - 1) return;
    work->out->n_gaps = n;
    work->out->H.n_rows = rows;
}

static st_Status waiting_contacts(Work *work, int *n)
{
    sti_Assembly *out = work->out;
    const st_System *system = work->system;
    Many many;
    many.work = work;
    memset(many.overlapping.count, 0, sizeof many.overlapping.count);
    STI_TRY(STI_GROW(work->allocator, out->leg, out->leg_capacity, 2 * (int64_t)system->wanted.n, work->err));
    const int threads = system->wanted.n / LEAST_OF_MANY;
    sti_team_run(threads < system->def.threads ? threads : system->def.threads, share_contacts, &many);
    *n = out->n_gaps;
    out->n_C = out->H.n_rows;
    out->C_used = out->H.n_rows;
    out->overlapping = (int)sti_places_before(&many.overlapping, STI_MOST_THREADS);
    out->compliant = out->overlapping > 0;
    return ST_OK;
}

/* Compliances of contacts as their model has them; soft bounded rows have that of their spring and damper. */
static void compliances(Work *work)
{
    sti_Assembly *out = work->out;
    double eta = work->stage->eta;
    bool rigid = work->impact || work->system->least_norm != NULL; /* springs and dampers as weights only */
    st_ContactModel model = rigid ? ST_CONTACT_RIGID : work->system->def.contact;
    if (model == ST_CONTACT_RIGID && !work->waiting) soften_overlaps(work);
    if (model == ST_CONTACT_REGULARIZED) sti_regularize(work->system, work->stage);
    for (int k = 0; k < out->n_bounded; k++) {
        const sti_BoundedEntry *entry = &work->stage->rows->bounded[k];
        double resistance = resistance_of(work, entry->stiffness, entry->damping);
        double *C = sti_compliance_block(out, out->law[out->n_gaps + k].first, 1);
        if (resistance > 0) C[0] = 1.0 / (eta * resistance);
        out->compliant = out->compliant || C[0] > 0;
    }
    out->C_first[out->n_C] = out->H.n_rows;
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
        .A = {.n_blocks = model->n_blocks,
              .first = model->first,
              .x = work->stage->A != NULL ? work->stage->A : out->M,
              .diagonal = work->system->marked},
        .symmetric = true,
        .G = sparse(&out->G, model->n_v),
        .H = sparse(&out->H, model->n_v),
        .Cb = {.n_blocks = out->G.n_rows, .first = out->Cb_first, .x = out->Cb},
        .f = out->f,
        .g = out->g,
        .w = out->w,
        .contact = out->law,
        .u_scale = STI_IDLE_SPEED * work->system->speed,
    };
    if (work->waiting) {
        out->later = sti_waiting_rows(work->system);
        out->problem.later = &out->later;
        out->problem.H.p = NULL;
    }
    if (out->compliant) out->problem.C = (st_BlockDiag){.n_blocks = out->n_C, .first = out->C_first, .x = out->C};
}

/* Where the rows are taken, for the reports of what they transmit. */
static void keep_place(Work *work)
{
    const sti_Stage *stage = work->stage;
    work->out->eta = stage->eta;
    work->out->t = stage->t;
    work->out->q = stage->q_star; /* with one stage nobody writes there before the next */
    if (work->out->place == NULL) return;
    work->out->q = work->out->place;
    memcpy(work->out->place, stage->q_star, (size_t)work->system->model.n_q * sizeof *stage->q_star);
}

/* Is anything linearised from q_star to q_base? */
static bool needs_shift(const Work *work)
{
    const st_Sink *rows = work->stage->rows;
    if (work->system->wanted.n + rows->bounded_rows.n_rows > 0) return true;
    if (work->stage->constraints != NULL) return false;
    return rows->soft_rows.n_rows > 0 || (work->gap_drift && work->stage->drift_from == NULL);
}

st_Status sti_stage_assemble(st_System *system, const sti_Stage *stage, st_Error *err)
{
    int n_contacts;
    bool impact = stage->eta == 0;
    Work work = {.system = system,
                 .stage = stage,
                 .out = &system->step,
                 .allocator = &system->allocator,
                 .impact = impact,
                 .implicit_forces = system->def.integrator != ST_INTEGRATOR_EULER,
                 .gap_drift = sti_closes_gaps(&system->def) && !impact,
                 .err = err};
    STI_TRY(momentum(&work));
    if (stage->q_base != stage->q_star && needs_shift(&work)) {
        sti_difference(system, stage->q_star, stage->q_base, system->work_k);
        work.shift = system->work_k;
    }
    int n_soft = impact || !work.implicit_forces ? 0 : constraints_of(&work)->soft_rows.n_rows;
    STI_TRY(grow_constraints(&work, (int64_t)constraints_of(&work)->joint_rows.n_rows + n_soft));
    STI_TRY(joints(&work));
    if (n_soft > 0) STI_TRY(soft_rows(&work));
    work.out->laid_out = system->world != NULL ? work.out->G.n_rows : 0;
    if (!impact && !work.implicit_forces) add_explicit_springs(&work);
    bool patches = system->def.contact == ST_CONTACT_COMPLIANT && !impact;
    int64_t n = patches ? sti_patch_elements(system) : 1, n_block = patches ? 9 * n * n : ST_MAX_DIM * ST_MAX_DIM;
    work.waiting = sti_rows_may_wait(system, stage);
    const int dim = work.waiting ? 3 : ST_MAX_DIM; /* with rigid contacts C is diagonal */
    if (system->def.contact == ST_CONTACT_RIGID) n_block = dim;
    STI_TRY(grow_contacts(&work, n * system->wanted.n + stage->rows->bounded_rows.n_rows, dim,
                          n_block * system->wanted.n + stage->rows->bounded_rows.n_rows));
    sti_patches_begin(system);
    if (stage->rows->rows_later) STI_TRY(sti_collider_place(system->world, stage->q_star, err));
    STI_TRY((work.waiting ? waiting_contacts : contacts)(&work, &n_contacts));
    /* no finite force changes an impact: bounded rows are left out */
    work.out->n_gaps = n_contacts;
    work.out->n_bounded = impact ? 0 : stage->rows->bounded_rows.n_rows;
    if (!impact) STI_TRY(bounded_rows(&work, n_contacts));
    compliances(&work);
    finish(&work);
    keep_place(&work);
    sti_lap(system, ST_STAGE_ASSEMBLE);
    return ST_OK;
}

/* Force times the displacement that follows, eta u; in the trapezoid's form I that of the mean. In an impact the
 * velocity at the contact changes under the impulse, and the work is that of the mean. Of bounded rows those that drive
 * nothing are friction. */
typedef struct Sliding {
    const sti_Stage *stage;
    const sti_Assembly *out;
} Sliding;

static double work_of_range(void *ctx, int64_t first, int64_t end)
{
    const sti_Stage *stage = ((const Sliding *)ctx)->stage;
    const sti_Assembly *out = ((const Sliding *)ctx)->out;
    double sum = 0;
    for (int c = (int)first; c < (int)end; c++) {
        const st_ContactLaw *law = &out->law[c];
        bool bounded = c >= out->n_gaps;
        if (bounded) {
            const sti_BoundedEntry *entry = &stage->rows->bounded[c - out->n_gaps];
            if (entry->target != 0 || entry->stiffness + entry->damping > 0) continue;
        }
        for (int k = bounded ? 0 : 1; k < law->dim; k++) {
            double u = out->u[law->first + k];
            if (stage->eta == 0 || stage->mean) u = 0.5 * (u + sti_row_dot(&out->H, law->first + k, stage->v_base));
            sum += out->r[law->first + k] * u;
        }
    }
    return sum;
}

static double friction_work(const st_System *system, const sti_Stage *stage)
{
    Sliding sliding = {stage, &system->step};
    return sti_team_sum(system->def.threads, system->step.n_gaps + system->step.n_bounded, work_of_range, &sliding);
}

st_Status sti_solve_problem(const st_System *system, st_Solver *solver, const st_Problem *problem,
                            st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    if (system->world == NULL) return st_solver_solve(solver, problem, solution, info, err);
    return sti_solver_solve(solver, problem, solution, info, err);
}

st_Status sti_solve_islands(st_System *system, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                            st_Error *err)
{
    if (system->world == NULL) STI_TRY(st_problem_check(problem, err));
    return sti_islands_solve(system->islands, problem, system->sleep.n_asleep > 0 ? &system->sleep.awake : NULL,
                             solution, info, err);
}

st_Status sti_stage_solve(st_System *system, const sti_Stage *stage, double *v, st_SolveInfo *info, st_Error *err)
{
    sti_Assembly *out = &system->step;
    bool impact = stage->eta == 0;
    sti_warm_start(system, stage->eta); /* an impact starts from 0 */
    sti_sleep_impulses(system, stage->eta);
    sti_team_copy(system->def.threads, out->start, out->r, out->problem.n_r);
    st_Solution solution = {.v = v, .l = out->l, .u = out->u, .r = out->r};
    if (stage->again)
        STI_TRY(sti_islands_correct(system->islands, &out->problem, &solution, info, err));
    else
        STI_TRY(sti_solve_islands(system, &out->problem, &solution, info, err));
    if (system->def.rigid_limit && system->def.contact == ST_CONTACT_REGULARIZED && !impact)
        STI_TRY(sti_rigid_limit(system, stage, &solution, info, err));
    if (system->least_norm != NULL && !impact) STI_TRY(sti_least_norm(system, stage, err));
    if (!impact) STI_TRY(sti_keep_impulses(system, stage->eta, info, err));
    if (!impact) STI_TRY(sti_sleep_keep_joints(system, stage->eta, err));
    if (!impact) sti_patches_follow(system);
    out->friction_work = friction_work(system, stage);
    sti_lap(system, ST_STAGE_SOLVE);
    return ST_OK;
}
