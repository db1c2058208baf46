/* step/contact/pile_contacts.c -- the contacts of a pile in the step problem: arrays instead of rows of H
 * (problem/pile_contacts.h).
 *
 * The sweeps over a pile read points and directions of contacts and positions of bodies directly. If a step problem has
 * only contacts between free bodies, and many of them, it gets these arrays. Reports, restitution and problem files
 * need rows; they compute them later from the same arrays.
 */
#include "math/parallel.h"
#include "step/contact/contact.h"
#include "step/integrate/stage.h"

bool sti_is_pile(const sti_Model *model, const sti_StepWork *work, const sti_Stage *stage)
{
    const st_Sink *sink = stage->rows;
    const bool plain = stage->eta > 0 && stage->q_base == stage->q_star && !stage->mean;
    const bool alone = sink->joint_rows.n_rows + sink->soft_rows.n_rows + sink->bounded_rows.n_rows == 0;
    return plain && alone && sink->rows_later && sink->contact_rows.n_rows == 0 && work->wanted.n >= STI_FEW_ROWS &&
           model->world->all_free && !model->world->slender && model->def.contact == ST_CONTACT_RIGID &&
           work->least_norm == NULL && !work->linearised.on;
}

/* ---- the contacts ------------------------------------------------------------------------------ */

/* Only laws and gaps are computed here. Each thread fills the contacts of one range of the sink. */
typedef struct Many {
    sti_StageBuild *build;
    sti_Places contacts, rows, overlapping;
} Many;

/* Adjacent contacts mostly have the same surface. Their laws then differ only in `first`. */
typedef struct Alike {
    const sti_Surface *surface;
    int dim;
    st_ContactLaw law;
} Alike;

static const st_ContactLaw *law_of(const sti_StageBuild *build, const sti_ContactEntry *entry, Alike *last)
{
    if (entry->surface != last->surface || entry->dim != last->dim)
        *last = (Alike){entry->surface, entry->dim, sti_contact_law(build->model, entry, 0)};
    return &last->law;
}

/* A free body has six velocities and one block of A. */
static int32_t mass_block_of(const sti_World *world, int body)
{
    return world->body[body].n_dofs > 0 ? world->body[body].v_first / 6 : -1;
}

static void share_contacts(void *ctx, int thread, int n_threads)
{
    Many *many = ctx;
    sti_StageBuild *build = many->build;
    const st_Sink *sink = build->stage->rows;
    const sti_IdSet *wanted = &build->work->wanted;
    const int first = (int)sti_share(sink->n_contacts, thread, n_threads);
    const int end = (int)sti_share(sink->n_contacts, thread + 1, n_threads);
    const int start = first < end ? sti_ids_lower(wanted, sink->contact[first].id) : 0;
    int n = 0, rows = 0, k = start;
    Alike last = {.surface = NULL};
    for (int c = first; thread < n_threads - 1 && (c = sti_next_wanted(build, c, end, &k)) < end; c++, n++)
        rows += law_of(build, &sink->contact[c], &last)->dim;
    many->contacts.count[thread] = n; /* the threads after this one read it; the last count is not read */
    many->rows.count[thread] = rows;
    many->overlapping.count[thread] = 0;
    sti_team_wait(n_threads);
    n = (int)sti_places_before(&many->contacts, thread);
    rows = (int)sti_places_before(&many->rows, thread);
    k = start;
    for (int c = first; (c = sti_next_wanted(build, c, end, &k)) < end; c++, n++) {
        const sti_ContactEntry *entry = &sink->contact[c];
        const st_ContactLaw *law = law_of(build, entry, &last);
        sti_Assembly *out = build->out;
        out->law[n] = (st_ContactLaw){
            .law =
                law->law, /* member by member: a copy of the struct would stall on the members that were just written */
            .dim = law->dim,
            .first = rows,
            .facets = law->facets,
            .mu = law->mu,
            .mu_roll = law->mu_roll,
            .mu_spin = law->mu_spin};
        sti_choose(out, n, entry);
        out->pile_frame_of[n] = c;
        sti_belt_speeds(build->model, build->stage->q_star, &out->law[n], entry, out->w + rows);
        if (build->gap_drift)
            out->w[rows] = sti_closing_drift(build, sti_moving_velocity(build->model->world, entry), entry->gap);
        out->pile_body[2 * (ptrdiff_t)n] = mass_block_of(build->model->world, entry->a);
        out->pile_body[2 * (ptrdiff_t)n + 1] = mass_block_of(build->model->world, entry->b);
        rows += law->dim;
        many->overlapping.count[thread] += sti_chosen_overlaps(build, n);
    }
    if (thread < n_threads - 1) return;
    build->out->n_gaps = n;
    build->out->H.n_rows = rows;
}

/* Centres and axes of the bodies at the position of this stage. */
static void place_bodies(void *ctx, int64_t first, int64_t end)
{
    const sti_StageBuild *build = ctx;
    const sti_World *world = build->model->world;
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(world, e);
        const ptrdiff_t block = mass_block_of(world, b);
        if (block < 0) continue;
        vec3_store(build->out->pile_centre + 3 * block, world->collider.body_pose[b].p);
        memcpy(build->out->pile_axes + 9 * block, world->collider.axes[b].m, sizeof world->collider.axes[b].m);
    }
}

st_Status sti_pile_contacts(sti_StageBuild *build)
{
    sti_Assembly *out = build->out;
    const sti_Model *model = build->model;
    const sti_StepWork *work = build->work;
    Many many;
    many.build = build;
    memset(many.overlapping.count, 0, sizeof many.overlapping.count);
    const int64_t n = work->wanted.n, n_blocks = model->n_blocks;
    STI_TRY(STI_GROW(build->allocator, out->pile_body, out->pile_body_capacity, 2 * n, build->err));
    STI_TRY(STI_GROW(build->allocator, out->pile_frame_of, out->pile_frame_of_capacity, n, build->err));
    STI_TRY(STI_GROW(build->allocator, out->pile_centre, out->pile_centre_capacity, 3 * n_blocks, build->err));
    STI_TRY(STI_GROW(build->allocator, out->pile_axes, out->pile_axes_capacity, 9 * n_blocks, build->err));
    const sti_Cell *cell = &model->world->scene->cell;
    out->lent = build->stage->rows->contact;
    out->pile = (sti_PileContacts){
        .body = out->pile_body,
        .frame = (const double *)&out->lent->point, /* normal and tangent follow the point in memory */
        .stride = sizeof *out->lent / sizeof(double),
        .frame_of = out->pile_frame_of,
        .centre = out->pile_centre,
        .axes = out->pile_axes,
        .period = cell->repeats ? cell->length : NULL,
        .arm = model->arm};
    sti_team_for(model->def.threads, sti_awake_count(model->world), STI_LEAST_BODIES, place_bodies, build);
    const int threads = work->wanted.n / STI_LEAST_CONTACTS;
    sti_team_run(threads < model->def.threads ? threads : model->def.threads, share_contacts, &many);
    out->overlapping = (int)sti_places_before(&many.overlapping, STI_MOST_THREADS);
    return ST_OK;
}

st_Status sti_pile_keep(const sti_Model *model, sti_StepWork *work, const st_Sink *sink, st_Error *err)
{
    sti_Assembly *step = &work->step;
    if (step->lent == NULL || step->lent != sink->contact) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, step->entry, step->entry_capacity, step->n_gaps, err));
    for (int c = 0; c < step->n_gaps; c++) {
        step->entry[c] = *step->chosen[c].entry;
        step->chosen[c].entry = &step->entry[c];
    }
    step->pile.frame = (const double *)&step->entry->point;
    step->pile.frame_of = NULL;
    step->lent = NULL;
    return ST_OK;
}

/* ---- their rows ---------------------------------------------------------------------------------- */

st_Status sti_step_rows(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    sti_Assembly *step = &work->step;
    const int64_t n_r = step->problem.n_r;
    if (!step->piled || step->problem.H.p != NULL) return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, step->H.p, step->H.p_capacity, n_r + 1, err));
    STI_TRY(STI_GROW(&model->allocator, step->H.i, step->H.i_capacity, STI_PILE_ROW * n_r, err));
    STI_TRY(STI_GROW(&model->allocator, step->H.x, step->H.x_capacity, STI_PILE_ROW * n_r, err));
    step->problem.H = sti_pile_matrix(&step->pile, &step->problem, step->H.p, step->H.i, step->H.x);
    return ST_OK;
}

void sti_view_row(const sti_Model *model, const sti_StepWork *work, int c, int k, sti_RowView *out)
{
    const sti_Assembly *step = &work->step;
    const int at = step->law[c].first + k;
    if (!step->piled) {
        const int64_t first = step->H.p[at];
        out->n = (int)(step->H.p[at + 1] - first);
        out->i = step->H.i + first, out->x = step->H.x + first;
        return;
    }
    double row[STI_TURNING][2][STI_NODE];
    const int dim = k < STI_SLIDING ? k + 1 : step->law[c].dim;
    sti_pile_rows(&step->pile, c, dim, row);
    out->n = 0;
    for (int side = 0; side < 2; side++) {
        const int32_t body = step->pile_body[2 * (ptrdiff_t)c + side];
        for (int e = 0; e < 6 && body >= 0; e++) {
            out->i_room[out->n] = model->first[body] + e;
            out->x_room[out->n++] = row[sti_direction_of(dim, k)][side][e];
        }
    }
    out->i = out->i_room, out->x = out->x_room;
}
