/* step/waiting.c -- rows of contacts that wait until somebody wants them (solve/rows.h).
 *
 * A pile under a scheme of order one needs its rows in the lanes of its graph and nowhere else. There they come from
 * the contact's frame and point and from the bodies where the step problem was taken, system->step.q; whoever wants H
 * afterwards gets the same numbers from the same place.
 */
#include "step/contact_model.h"

_Static_assert(STI_NODE == 8, "the room that sti_contact_halves writes to");

bool sti_rows_may_wait(const st_System *system, const sti_Stage *stage)
{
    const st_Sink *sink = stage->rows;
    const bool plain = stage->eta > 0 && stage->q_base == stage->q_star && !stage->mean && !stage->rebound;
    const bool alone = sink->joint_rows.n_rows + sink->soft_rows.n_rows + sink->bounded_rows.n_rows == 0;
    return plain && alone && sink->rows_later && sink->contact_rows.n_rows == 0 && system->wanted.n >= STI_FEW_ROWS &&
           system->def.contact == ST_CONTACT_RIGID && system->least_norm == NULL;
}

static void legs(const void *ctx, int c, int first[2])
{
    const int *leg = ((const st_System *)ctx)->step.leg + 2 * (ptrdiff_t)c;
    first[0] = leg[0];
    first[1] = leg[1];
}

static void put(const void *ctx, int c, int dim, double row[3][2][STI_NODE])
{
    const st_System *system = ctx;
    sti_contact_halves(system->world, &system->step.chosen[c].entry, dim, row);
}

_Static_assert(offsetof(sti_ContactEntry, tangent) == offsetof(sti_ContactEntry, point) + 6 * sizeof(double) &&
                   offsetof(sti_ContactEntry, normal) == offsetof(sti_ContactEntry, point) + 3 * sizeof(double),
               "point, normal and tangent stand in a row");

static const double *frame(const void *ctx, int c, const double *centre[2])
{
    const st_System *system = ctx;
    const sti_ContactEntry *entry = &system->step.chosen[c].entry;
    const st_Pose *pose = system->world->collider.body_pose;
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
    const sti_World *world = ((const st_System *)ctx)->world;
    return world->collider.axes[body_of(world, first)].m;
}

static st_Status make(void *ctx, st_Error *err)
{
    st_System *system = ctx;
    sti_Assembly *step = &system->step;
    int index[12];
    double *gradient;
    STI_TRY(sti_collider_place(system->world, step->q, err));
    step->H.n_rows = 0;
    for (int c = 0; c < step->n_gaps; c++) {
        STI_TRY(sti_rows_room(&system->allocator, &step->H, step->law[c].dim, 12, &gradient, err));
        int count = sti_contact_rows(system->world, &step->chosen[c].entry, step->law[c].dim, index, gradient);
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

double sti_waiting_mobility(const st_System *system, int contact)
{
    double row[3][2][STI_NODE], square = 0, weighted = 0;
    int first[2];
    legs(system, contact, first);
    put(system, contact, 1, row);
    for (int side = 0; side < 2; side++) {
        const sti_ContactEntry *entry = &system->step.chosen[contact].entry;
        const int n = system->world->body[side == 0 ? entry->a : entry->b].n_dofs;
        for (int k = 0; k < n; k++) {
            const double x = row[0][side][k];
            square += x * x;
            weighted += x * x * sti_mass_of(system, system->step.M, first[side] + k);
        }
    }
    return square > 0 ? square * square / weighted : 0.0;
}
