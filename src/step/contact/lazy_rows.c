/* step/contact/lazy_rows.c -- rows of contacts that wait until somebody wants them (problem/lazy_rows.h).
 *
 * A pile under a scheme of order one needs its rows in the lanes of its graph and nowhere else. There they come from
 * the contact's frame and point and from the bodies where the step problem was taken, system->step.q; whoever wants H
 * afterwards gets the same numbers from the same place.
 */
#include "math/parallel.h"
#include "step/integrate/stage.h"

_Static_assert(STI_NODE == 8, "the room that sti_contact_halves writes to");

bool sti_rows_may_wait(const st_System *system, const sti_Stage *stage)
{
    const st_Sink *sink = stage->rows;
    const bool plain = stage->eta > 0 && stage->q_base == stage->q_star && !stage->mean;
    const bool alone = sink->joint_rows.n_rows + sink->soft_rows.n_rows + sink->bounded_rows.n_rows == 0;
    return plain && alone && sink->rows_later && sink->contact_rows.n_rows == 0 &&
           system->work.wanted.n >= STI_FEW_ROWS && system->model.def.contact == ST_CONTACT_RIGID &&
           system->work.least_norm == NULL;
}

/* ---- the contacts ------------------------------------------------------------------------------ */

/* Nothing is made of them but their laws and gaps: a team writes them, each member a range of the sink. */
typedef struct Many {
    sti_StageWork *work;
    sti_Places contacts, rows, overlapping;
} Many;

/* Neighbours mostly have one surface, and so one law but for its place. */
typedef struct Alike {
    const sti_Surface *surface;
    int dim;
    st_ContactLaw law;
} Alike;

static const st_ContactLaw *law_of(const sti_StageWork *work, const sti_ContactEntry *entry, Alike *last)
{
    if (entry->surface != last->surface || entry->dim != last->dim)
        *last = (Alike){entry->surface, entry->dim, sti_contact_law(&work->system->model.def, entry, 0)};
    return &last->law;
}

static int first_velocity(const sti_World *world, int body)
{
    return world->body[body].n_dofs > 0 ? world->body[body].v_first : -1;
}

/* Contact n, whose rows are from `row` on: what add_contact does where rows wait, and no more. Returns how many. */
static int add_waiting(const sti_StageWork *work, int n, int row, const st_ContactLaw *law,
                       const sti_ContactEntry *entry)
{
    sti_Assembly *out = work->out;
    out->law[n] = (st_ContactLaw){.law = law->law, /* one by one: a copy would wait for what was just written */
                                  .dim = law->dim,
                                  .first = row,
                                  .facets = law->facets,
                                  .mu = law->mu,
                                  .mu_roll = law->mu_roll,
                                  .mu_spin = law->mu_spin};
    sti_choose(out, n, entry);
    sti_stage_belt(work, &out->law[n], entry);
    if (work->gap_drift) out->w[row] = sti_closing_drift(work, entry->gap);
    out->leg[2 * (ptrdiff_t)n] = first_velocity(work->system->model.world, entry->a);
    out->leg[2 * (ptrdiff_t)n + 1] = first_velocity(work->system->model.world, entry->b);
    return law->dim;
}

static void share_contacts(void *ctx, int thread, int n_threads)
{
    Many *many = ctx;
    sti_StageWork *work = many->work;
    const st_Sink *sink = work->stage->rows;
    const sti_IdSet *wanted = &work->system->work.wanted;
    const int first = (int)sti_share(sink->n_contacts, thread, n_threads);
    const int end = (int)sti_share(sink->n_contacts, thread + 1, n_threads);
    const int start = first < end ? sti_ids_lower(wanted, sink->contact[first].id) : 0;
    int n = 0, rows = 0, k = start;
    Alike last = {.surface = NULL};
    for (int c = first; thread < n_threads - 1 && (c = sti_next_wanted(work, c, end, &k)) < end; c++, n++)
        rows += law_of(work, &sink->contact[c], &last)->dim;
    many->contacts.count[thread] = n; /* for those behind: the last one's are not asked for */
    many->rows.count[thread] = rows;
    many->overlapping.count[thread] = 0;
    sti_team_wait(n_threads);
    n = (int)sti_places_before(&many->contacts, thread);
    rows = (int)sti_places_before(&many->rows, thread);
    k = start;
    for (int c = first; (c = sti_next_wanted(work, c, end, &k)) < end; c++, n++) {
        const sti_ContactEntry *entry = &sink->contact[c];
        rows += add_waiting(work, n, rows, law_of(work, entry, &last), entry);
        many->overlapping.count[thread] += sti_overlaps(work, n);
    }
    if (thread < n_threads - 1) return;
    work->out->n_gaps = n;
    work->out->H.n_rows = rows;
}

st_Status sti_waiting_contacts(sti_StageWork *work)
{
    sti_Assembly *out = work->out;
    const st_System *system = work->system;
    Many many;
    many.work = work;
    memset(many.overlapping.count, 0, sizeof many.overlapping.count);
    STI_TRY(STI_GROW(work->allocator, out->leg, out->leg_capacity, 2 * (int64_t)system->work.wanted.n, work->err));
    const int threads = system->work.wanted.n / STI_LEAST_CONTACTS;
    sti_team_run(threads < system->model.def.threads ? threads : system->model.def.threads, share_contacts, &many);
    out->overlapping = (int)sti_places_before(&many.overlapping, STI_MOST_THREADS);
    return ST_OK;
}

/* ---- their rows, where they come from ------------------------------------------------------------ */

static void legs(const void *ctx, int c, int first[2])
{
    const int *leg = ((const st_System *)ctx)->work.step.leg + 2 * (ptrdiff_t)c;
    first[0] = leg[0];
    first[1] = leg[1];
}

static void put(const void *ctx, int c, int dim, double row[3][2][STI_NODE])
{
    const st_System *system = ctx;
    sti_contact_halves(system->model.world, &system->work.step.chosen[c].entry, dim, row);
}

_Static_assert(offsetof(sti_ContactEntry, tangent) == offsetof(sti_ContactEntry, point) + 6 * sizeof(double) &&
                   offsetof(sti_ContactEntry, normal) == offsetof(sti_ContactEntry, point) + 3 * sizeof(double),
               "point, normal and tangent stand in a row");

static const double *frame(const void *ctx, int c, const double *centre[2])
{
    const st_System *system = ctx;
    const sti_ContactEntry *entry = &system->work.step.chosen[c].entry;
    const st_Pose *pose = system->model.world->collider.body_pose;
    centre[0] = &pose[entry->a].p.x;
    centre[1] = &pose[entry->b].p.x;
    return &entry->point.x; /* and on */
}

/* The last body whose velocities begin at `first` or before, where nobody fixed stands among the bodies at once. */
static int body_of(const sti_World *world, int first)
{
    int lo = first / 6 + 1, hi = world->n_bodies; /* the ground is body 0, and others have no more than six */
    if (lo < hi && world->body[lo].v_first == first && world->body[lo].n_dofs > 0) return lo;
    for (lo = 0; hi - lo > 1;) {
        int middle = lo + (hi - lo) / 2;
        if (world->body[middle].v_first <= first)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

static const double *axes(const void *ctx, int first)
{
    const sti_World *world = ((const st_System *)ctx)->model.world;
    return world->collider.axes[body_of(world, first)].m;
}

static st_Status make(void *ctx, st_Error *err)
{
    st_System *system = ctx;
    sti_Assembly *step = &system->work.step;
    int index[12];
    double *gradient;
    STI_TRY(sti_collider_place(system->model.world, step->q, err));
    step->H.n_rows = 0;
    for (int c = 0; c < step->n_gaps; c++) {
        STI_TRY(sti_rows_room(&system->model.allocator, &step->H, step->law[c].dim, 12, &gradient, err));
        int count = sti_contact_rows(system->model.world, &step->chosen[c].entry, step->law[c].dim, index, gradient);
        sti_rows_close(&step->H, step->law[c].dim, count, index);
    }
    step->problem.H.p = step->H.p;
    step->problem.H.i = step->H.i;
    step->problem.H.x = step->H.x;
    return ST_OK;
}

struct st_RowSource sti_waiting_rows(st_System *system)
{
    return (struct st_RowSource){.ctx = system, .legs = legs, .put = put, .frame = frame, .axes = axes, .make = make};
}

void sti_view_row(const st_System *system, int c, int k, sti_RowView *out)
{
    const sti_Assembly *step = &system->work.step;
    const int at = step->law[c].first + k;
    if (step->problem.later == NULL || step->problem.H.p != NULL) {
        const int64_t first = step->H.p[at];
        out->n = (int)(step->H.p[at + 1] - first);
        out->i = step->H.i + first, out->x = step->H.x + first;
        return;
    }
    double row[3][2][STI_NODE];
    int first[2];
    legs(system, c, first);
    put(system, c, k + 1, row);
    out->n = 0;
    for (int side = 0; side < 2; side++) {
        const sti_ContactEntry *entry = &step->chosen[c].entry;
        for (int e = 0; e < system->model.world->body[side == 0 ? entry->a : entry->b].n_dofs; e++) {
            out->i_room[out->n] = first[side] + e;
            out->x_room[out->n++] = row[k][side][e];
        }
    }
    out->i = out->i_room, out->x = out->x_room;
}

double sti_waiting_mobility(const st_System *system, int contact)
{
    double row[3][2][STI_NODE], square = 0, weighted = 0;
    int first[2];
    legs(system, contact, first);
    put(system, contact, 1, row);
    for (int side = 0; side < 2; side++) {
        const sti_ContactEntry *entry = &system->work.step.chosen[contact].entry;
        const int n = system->model.world->body[side == 0 ? entry->a : entry->b].n_dofs;
        for (int k = 0; k < n; k++) {
            const double x = row[0][side][k];
            square += x * x;
            weighted += x * x * sti_mass_of(system, system->work.step.M, first[side] + k);
        }
    }
    return square > 0 ? square * square / weighted : 0.0;
}
