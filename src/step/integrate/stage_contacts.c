/* step/integrate/stage_contacts.c -- contacts, motors and joint friction of a stage: their rows in H, laws, w and C
 * (the formulas are in stage.c).
 */
#include "base/tolerance.h"
#include "math/parallel.h"
#include "step/contact/contact.h"
#include "step/integrate/stage.h"

/* ------------------------------------------------------------------ laws and rows */

st_ContactLaw sti_contact_law(const sti_Model *model, const sti_ContactEntry *entry, int first)
{
    const st_SystemDef *def = &model->def;
    const sti_Surface *surface = entry->surface;
    bool slippery = entry->dim == 1 || def->law == ST_LAW_FRICTIONLESS || surface->mu == 0;
    bool rolls = !slippery && surface->rolling > 0;                     /* laws coulomb and cone: others are refused */
    bool spins = !slippery && surface->spinning > 0 && entry->dim == 3; /* in the plane nothing spins */
    return (st_ContactLaw){.law = slippery ? ST_LAW_FRICTIONLESS : def->law,
                           .dim = slippery ? 1 : (rolls ? 5 : entry->dim) + (spins ? 1 : 0),
                           .first = first,
                           .facets = entry->dim == 2 ? 2 : def->facets,
                           .mu = slippery ? 0.0 : surface->mu,
                           .mu_roll = rolls ? surface->rolling / model->arm : 0.0,
                           .mu_spin = spins ? surface->spinning / model->arm : 0.0};
}

/* The rate of turning in row k of a contact, after its tangents: 0 about the normal, 1 and 2 about the tangents.
 * Rolling comes first, then spinning. In the plane there is no second tangent and no rolling about the first: -1, a
 * row without entries. */
static int turning_of(const st_ContactLaw *law, const sti_ContactEntry *entry, int k)
{
    if (k < 3 || (entry->dim == 2 && k == 3)) return -1;
    return law->mu_spin > 0 && k == law->dim - 1 ? 0 : k - 2;
}

/* Rows that were not made when the contact was found. */
static st_Status new_contact_rows(sti_StageBuild *build, const st_ContactLaw *law, const sti_ContactEntry *entry)
{
    const sti_World *world = build->model->world;
    int index[12];
    double *gradient, all[ST_MAX_DIM * 12];
    const int n_own = law->dim < entry->dim ? law->dim : entry->dim;
    STI_TRY(sti_rows_room(build->allocator, &build->out->H, n_own, 12, &gradient, build->err));
    const int count = sti_contact_rows(world, entry, n_own, index, gradient);
    sti_rows_close(&build->out->H, n_own, count, index);
    if (law->dim > n_own) sti_contact_put_rows(world, entry, count, entry->dim, true, all);
    for (int k = entry->dim * count; law->dim > n_own && k < (entry->dim + 3) * count; k++)
        all[k] *= build->model->arm;
    for (int k = n_own; k < law->dim; k++) {
        const int turning = turning_of(law, entry, k);
        STI_TRY(sti_rows_append(build->allocator, &build->out->H, turning < 0 ? 0 : count, index,
                                all + (ptrdiff_t)(entry->dim + (turning < 0 ? 0 : turning)) * count, build->err));
    }
    return ST_OK;
}

void sti_belt_speeds(const sti_Model *model, const double *q, const st_ContactLaw *law, const sti_ContactEntry *entry,
                     double *w)
{
    for (int k = 0; k < law->dim; k++)
        w[k] = 0;
    if (!entry->surface->moves) return;
    const sti_Belt belt = sti_contact_belt(model->world, q, entry);
    for (int k = 1; k < law->dim; k++) {
        const int turning = turning_of(law, entry, k);
        if (k < entry->dim)
            w[k] = belt.slide[k - 1] * sti_row_factor(entry->surface, k);
        else if (turning >= 0)
            w[k] = belt.turn[turning] * model->arm;
    }
}

static st_Status contact_rows(sti_StageBuild *build, const st_ContactLaw *law, const sti_ContactEntry *entry)
{
    const sti_RowList *from = &build->stage->rows->contact_rows;
    sti_RowList *to = &build->out->H;
    int n_own = law->dim < entry->dim ? law->dim : entry->dim;
    sti_belt_speeds(build->model, build->stage->q_star, law, entry, build->out->w + law->first);
    if (entry->first_row < 0) return new_contact_rows(build, law, entry);
    STI_TRY(sti_rows_append_rows(build->allocator, to, from, entry->first_row, n_own, build->err));
    for (int k = n_own; k < law->dim; k++) {
        const int turning = turning_of(law, entry, k);
        const int row = k < entry->dim ? entry->first_row + k : sti_turning_row(entry) + turning;
        if (k >= entry->dim && turning < 0) /* a row without entries */
            STI_TRY(sti_rows_append(build->allocator, to, 0, NULL, NULL, build->err));
        else
            STI_TRY(sti_rows_append_rows(build->allocator, to, from, row, 1, build->err));
        for (int64_t e = to->p[to->n_rows - 1]; e < to->p[to->n_rows]; e++)
            to->x[e] *= build->model->arm;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ drift */

static double gap_drift(const sti_StageBuild *build, const sti_ContactEntry *entry, int row)
{
    const sti_RowList *rows = &build->out->H;
    const st_Sink *from = build->stage->drift_from;
    int known = from != NULL ? sti_row_buffer_find(from, entry->id) : -1;
    double gap = known >= 0 ? from->contact[known].gap : sti_shifted(build, entry->gap, rows, row);
    const int velocity = rows->p[row] < rows->p[row + 1] ? rows->i[rows->p[row]] : 0;
    if (!build->stage->mean) return sti_closing_drift(build, velocity, gap);
    double cap = build->model->def.correction_speed, reach = sti_drift_time(build);
    const double speed = fmax(2 * sti_beyond(gap, build->model->def.slop) / reach, -cap);
    return sti_recover(build->work, velocity, speed) + sti_base_speed(build, rows, row);
}

/* ------------------------------------------------------------------ one by one */

static st_Status add_rigid_contact(sti_StageBuild *build, int c, int first, const sti_ContactEntry *entry)
{
    const sti_Model *model = build->model;
    const sti_StepWork *work = build->work;
    sti_Assembly *out = build->out;
    bool now = build->stage->rows == &work->here;
    int before = now ? -1 : sti_row_buffer_find(&work->here, entry->id);
    out->law[c] = sti_contact_law(model, entry, first);
    out->entry[c] = *entry;
    if (before >= 0) out->entry[c].gap = work->here.contact[before].gap;
    sti_choose(out, c, &out->entry[c]);
    STI_TRY(contact_rows(build, &out->law[c], entry));
    if (build->gap_drift) out->w[first] = gap_drift(build, entry, first);
    return ST_OK;
}

/* Adds a patch of elements. A contact of two rigid bodies (the limit of a joint) remains one contact. */
static st_Status add_compliant_contact(sti_StageBuild *build, int *n, const sti_ContactEntry *entry)
{
    sti_Assembly *out = build->out;
    if (sti_is_patch(entry))
        return sti_patch_add(build->model, build->state, build->work, build->stage, entry, n, build->err);
    STI_TRY(add_rigid_contact(build, *n, out->H.n_rows, entry));
    sti_compliance_block(out, out->law[*n].first, out->law[*n].dim);
    ++*n;
    return ST_OK;
}

/* Motors and joint friction: after the contacts, whose ids are smaller. A finite force does not change an impact, so
 * an impact has no bounded rows. */
static st_Status bounded_rows(sti_StageBuild *build)
{
    const st_Sink *sink = build->stage->rows;
    sti_Assembly *out = build->out;
    double eta = build->stage->eta;
    const int first_row = out->H.n_rows;
    out->n_bounded = build->impact ? 0 : sink->bounded_rows.n_rows;
    STI_TRY(sti_rows_append_rows(build->allocator, &out->H, &sink->bounded_rows, 0, out->n_bounded, build->err));
    for (int k = 0; k < out->n_bounded; k++) {
        const sti_BoundedEntry *entry = &sink->bounded[k];
        int c = out->n_gaps + k, first = first_row + k;
        double resistance = sti_resistance(build, entry->stiffness, entry->damping);
        /* phi of bounded row k at q_base, such that phi + eta a'v is its value at the end of the stage. The target
         * moves on at `target` until then if the row was evaluated at the start. */
        const bool before = build->stage->rows == &build->work->here;
        const double moved = before ? build->stage->eta * entry->target : 0.0;
        double phi = sti_shifted(build, entry->value, &build->stage->rows->bounded_rows, k) - moved;
        out->law[c] = (st_ContactLaw){
            .law = ST_LAW_BOUNDED, .dim = 1, .first = first, .lo = eta * entry->lo, .hi = eta * entry->hi};
        out->entry[c] = (sti_ContactEntry){.id = entry->id, .dim = 1};
        out->chosen[c] = (sti_Chosen){.entry = &out->entry[c]};
        out->w[first] = -entry->target;
        if (resistance == 0) continue;
        out->w[first] = (entry->stiffness * phi - entry->damping * entry->target) / resistance;
        if (build->stage->mean) out->w[first] += sti_base_speed(build, &sink->bounded_rows, k);
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ compliance */

/* (x'x)^2 / sum x_i^2 M_ii: the velocity that a unit impulse along row k makes, up to the condition of M. */
double sti_row_mobility(const sti_Model *model, const sti_StepWork *work, const sti_RowList *rows, int k)
{
    double square = 0, weighted = 0;
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++) {
        double x = rows->x[e];
        square += x * x;
        weighted += x * x * sti_mass_of(model, work->step.M, rows->i[e]);
    }
    return square > 0 ? square * square / weighted : 0.0;
}

double sti_mobility(const sti_Model *model, const sti_StepWork *work, int row)
{
    return sti_row_mobility(model, work, &work->step.H, row);
}

double sti_contact_mobility(const sti_Model *model, const sti_StepWork *work, int c)
{
    sti_RowView row;
    double square = 0, weighted = 0;
    if (!work->step.piled) return sti_row_mobility(model, work, &work->step.H, work->step.law[c].first);
    sti_view_row(model, work, c, 0, &row);
    for (int e = 0; e < row.n; e++) {
        square += row.x[e] * row.x[e];
        weighted += row.x[e] * row.x[e] * sti_mass_of(model, work->step.M, row.i[e]);
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

/* Row by row: C is diagonal here. If overlaps have a dead band, warm_start.c decides which of them are corrected. */
static void soften_range(void *ctx, int64_t first, int64_t end)
{
    const sti_StageBuild *build = ctx;
    const sti_Assembly *out = build->out;
    const bool banded = sti_has_band(build->model, build->stage);
    for (int c = (int)first; c < (int)end; c++) {
        const int row = out->law[c].first;
        for (int k = row; k < row + out->law[c].dim; k++) {
            out->C_first[k] = k;
            out->C[k] = 0.0;
        }
        if (c >= out->n_gaps) {
            const int of = out->chosen[c].element;
            out->C[row] = sti_contact_mobility(build->model, build->work, of);
            out->w[row] = -out->C[row] * build->stage->loaded[of];
        }
        if (c >= out->n_gaps || (banded && out->chosen[c].entry->shape_a > 0) || !sti_chosen_overlaps(build, c))
            continue;
        out->C[row] = STI_OVERLAP_COMPLIANCE * sti_contact_mobility(build->model, build->work, c);
    }
}

st_Status sti_stage_contacts(sti_StageBuild *build)
{
    const sti_Model *model = build->model;
    sti_StepWork *work = build->work;
    const sti_Stage *stage = build->stage;
    build->piled = build->out->piled = sti_is_pile(model, work, stage);
    if (!model->rigid) STI_TRY(sti_check_model_contacts(&model->def, stage->rows, build->err));
    /* Room for the contacts of `wanted` and all bounded rows. A patch is many contacts and one block of C; with rigid
     * contacts C is diagonal. */
    sti_Assembly *out = build->out;
    const bool patches = model->def.contact == ST_CONTACT_COMPLIANT && !build->impact;
    const int dim = build->piled && !model->world->values.turning ? STI_SLIDING : ST_MAX_DIM;
    const int64_t elements = patches ? sti_patch_elements(model) : 1,
                  n_bounded = build->stage->rows->bounded_rows.n_rows,
                  n_gaps = build->stage->loaded != NULL ? 2 * (int64_t)work->wanted.n : work->wanted.n;
    const int64_t n = elements * n_gaps + n_bounded, rows = dim * n;
    int64_t n_block = patches ? 9 * elements * elements : ST_MAX_DIM * ST_MAX_DIM;
    if (model->def.contact == ST_CONTACT_RIGID) n_block = dim;
    const int64_t n_C = n_block * n_gaps + n_bounded;
    STI_TRY(STI_GROW(build->allocator, out->w, out->w_capacity, rows, build->err));
    STI_TRY(STI_GROW(build->allocator, out->r, out->r_capacity, rows, build->err));
    STI_TRY(STI_GROW(build->allocator, out->start, out->start_capacity, rows, build->err));
    STI_TRY(STI_GROW(build->allocator, out->u, out->u_capacity, rows, build->err));
    STI_TRY(STI_GROW(build->allocator, out->law, out->law_capacity, n, build->err));
    STI_TRY(STI_GROW(build->allocator, out->chosen, out->chosen_capacity, n, build->err));
    if (!build->piled) STI_TRY(STI_GROW(build->allocator, out->entry, out->entry_capacity, n, build->err));
    out->lent = NULL;
    STI_TRY(STI_GROW(build->allocator, out->C, out->C_capacity, n_C, build->err));
    STI_TRY(STI_GROW(build->allocator, out->C_first, out->C_first_capacity, rows + 1, build->err));
    STI_TRY(STI_GROW(build->allocator, out->H.p, out->H.p_capacity, 1, build->err));
    out->H.n_rows = 0;
    out->n_C = 0;
    out->C_used = 0;
    out->overlapping = 0;
    out->n_loaded = 0;
    out->compliant = out->softened = false;
    work->compliant.next.n = 0;
    work->compliant.next.n_delta = 0;
    if (stage->rows->rows_later) STI_TRY(sti_collider_place(model->world, stage->q_star, build->err));
    if (build->piled) {
        STI_TRY(sti_pile_contacts(build));
    } else {
        int k = 0;
        out->n_gaps = 0;
        for (int c = 0; (c = sti_next_wanted(build, c, stage->rows->n_contacts, &k)) < stage->rows->n_contacts; c++) {
            if (patches)
                STI_TRY(add_compliant_contact(build, &out->n_gaps, &stage->rows->contact[c]));
            else
                STI_TRY(add_rigid_contact(build, out->n_gaps++, out->H.n_rows, &stage->rows->contact[c]));
        }
    }

    /* An impact with a share p of restitution in its push: friction is bounded by mu (p + x), where x is the further
     * normal impulse that the contact needs not to close again. That is the sum of two contacts with the same tangents.
     * One is the contact itself, whose r_n is x. The other one has p as its r_n: its normal row is 0, so that r_n (C
     * r_n - C p) = 0 gives r_n = p. Slipping, both point against the same velocity. */
    for (int c = 0; build->stage->loaded != NULL && c < out->n_gaps; c++) {
        if (!(build->stage->loaded[c] > 0) || out->law[c].dim == 1) continue;
        const int loaded = out->n_gaps + out->n_loaded++, first = out->H.n_rows;
        out->law[loaded] = sti_contact_law(build->model, out->chosen[c].entry, first);
        out->entry[loaded] = (sti_ContactEntry){.id = out->chosen[c].entry->id, .dim = 1};
        out->chosen[loaded] = (sti_Chosen){.entry = &out->entry[loaded], .element = c};
        STI_TRY(contact_rows(build, &out->law[loaded], out->chosen[c].entry));
        for (int64_t e = out->H.p[first]; e < out->H.p[first + 1]; e++)
            out->H.x[e] = 0;
    }
    STI_TRY(bounded_rows(build));
    /* Compliances of contacts as their model has them; soft bounded rows have that of their spring and damper. */
    double eta = build->stage->eta;
    bool rigid = build->impact || build->work->least_norm != NULL; /* springs and dampers as weights only */
    st_ContactModel contact = rigid ? ST_CONTACT_RIGID : build->model->def.contact;
    if (contact == ST_CONTACT_RIGID) {
        /* Where nothing overlaps and no motor is soft there is no C. */
        for (int c = 0; !build->piled && c < out->n_gaps; c++)
            out->overlapping += sti_chosen_overlaps(build, c);
        out->compliant = out->overlapping + out->n_loaded > 0;
        out->n_C = out->H.n_rows - out->n_bounded;
        out->C_used = out->n_C;
        if (out->compliant || out->n_bounded > 0)
            sti_team_for(build->model->def.threads, out->n_gaps + out->n_loaded, STI_LEAST_CONTACTS, soften_range,
                         build);
    }
    if (contact == ST_CONTACT_REGULARIZED) sti_regularize(build->model, build->work, build->stage);
    for (int k = 0; k < out->n_bounded; k++) {
        const sti_BoundedEntry *entry = &build->stage->rows->bounded[k];
        double resistance = sti_resistance(build, entry->stiffness, entry->damping);
        double *C = sti_compliance_block(out, out->law[out->n_gaps + k].first, 1);
        if (resistance > 0) C[0] = 1.0 / (eta * resistance);
        out->compliant = out->compliant || C[0] > 0;
    }
    out->C_first[out->n_C] = out->H.n_rows;
    return ST_OK;
}
