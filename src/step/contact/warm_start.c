/* step/contact/warm_start.c -- the solver starts from the forces of the last step.
 *
 * Joint limits, motors and elements of a patch are matched by their ids. Contact points of two shapes are matched by
 * position. If the edges of two faces coincide, as those of bricks in a wall do, rounding decides in each step which
 * edges make a corner of the contact polygon; then the id of the corner changes although the point stays. So each point
 * starts with the force of the nearest point of the same two shapes in the last step. Each force is used once. Tangents
 * may change as well: a normal along an axis has no preferred tangent. So friction is kept as a vector in world axes.
 */
#include "base/tolerance.h"
#include "math/parallel.h"
#include "math/vec3.h"
#include "step/contact/contact.h"
#include "step/impulses.h"
#include "step/integrate/stage.h"

static bool same_shapes(const sti_Impulse *old, const sti_ContactEntry *now)
{
    return now->shape_a > 0 && old->shape_a == now->shape_a && old->shape_b == now->shape_b;
}

/* The index of the force with the id of `wanted` among first .. end - 1; -1: none. For elements of patches. */
static int same_id(const sti_State *state, int first, int end, const sti_Chosen *wanted, int dim)
{
    for (int k = first; k < end; k++)
        if (state->forces.at[k].id == wanted->entry->id && state->forces.at[k].element == wanted->element)
            return state->forces.at[k].dim == dim ? k : -1;
    return -1;
}

/* Converts r[0], r[1] from the tangents of `old` to the tangents of `now`. */
static void turn_tangents(const sti_Impulse *old, const sti_ContactEntry *now, double *r)
{
    const st_Vec3 other = cross(now->normal, now->tangent);
    const st_Vec3 x = add(scale(r[0], old->tangent), scale(r[1], cross(old->normal, old->tangent)));
    r[0] = dot(x, now->tangent);
    r[1] = dot(x, other);
}

/* Do contacts c and c - 1 belong to the same two shapes? */
static bool goes_on(const sti_Assembly *out, int c)
{
    const sti_ContactEntry *now = out->chosen[c].entry, *last = now;
    if (c > 0) last = out->chosen[c - 1].entry;
    return c > 0 && now->shape_a > 0 && now->shape_a == last->shape_a && now->shape_b == last->shape_b;
}

/* The index of the first force of the shapes of contact c, or of the next larger shapes if they have none. */
static int first_force(const sti_State *state, const sti_StepWork *work, int c)
{
    const uint64_t shapes = work->step.chosen[c].entry->id >> STI_FEATURE_BITS;
    int lo = 0, hi = state->forces.n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (state->forces.at[middle].id >> STI_FEATURE_BITS < shapes)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

typedef struct Start {
    const sti_Model *model;
    const sti_State *state;
    const sti_StepWork *work;
    double eta;
} Start;

/* Both lists are sorted by id, so the contacts of two shapes are adjacent. A range takes the shape pairs that begin in
 * it. */
static void start_range(void *ctx, int64_t begin, int64_t stop)
{
    const Start *start = ctx;
    const sti_Model *model = start->model;
    const sti_State *state = start->state;
    const sti_StepWork *work = start->work;
    const sti_Assembly *out = &work->step;
    const bool by_place = model->def.contact != ST_CONTACT_COMPLIANT;
    uint64_t taken = 0;
    int c = (int)begin, first = 0, end = 0;
    while (c < out->problem.n_contacts && goes_on(out, c))
        c++;
    if (c > 0 && c < out->problem.n_contacts) end = first_force(state, work, c);
    for (; c < out->problem.n_contacts; c++) {
        const sti_ContactEntry *wanted = out->chosen[c].entry;
        const bool same = goes_on(out, c);
        if (!same && c >= stop) return;
        if (!same) {
            /* Old forces of the shapes of contact c. A contact without shapes takes the force with its id. */
            const sti_Chosen *searched = &work->step.chosen[c];
            const sti_Impulse *previous = state->forces.at;
            int at = end;
            while (at < state->forces.n && !same_shapes(&previous[at], searched->entry) &&
                   (previous[at].id < searched->entry->id ||
                    (previous[at].id == searched->entry->id && previous[at].element < searched->element)))
                at++;
            first = end = at;
            while (end < state->forces.n && same_shapes(&previous[end], searched->entry))
                ++end;
            if (searched->entry->shape_a == 0 && at < state->forces.n && previous[at].id == searched->entry->id)
                end = at + 1;
            taken = 0;
        }
        const bool few = by_place && wanted->shape_a > 0 && end - first <= 64;
        int from = few ? -1 : same_id(state, first, end, &out->chosen[c], out->law[c].dim);
        double least = INFINITY;
        for (int k = first; few && k < end; k++) {
            const sti_Impulse *old = &state->forces.at[k];
            if ((taken >> (k - first) & 1u) != 0 || old->dim != out->law[c].dim) continue;
            const st_Vec3 way = sti_lever(model->world, old->point, wanted->point);
            const double distance = dot(way, way);
            if (distance < least) {
                least = distance;
                from = k;
            }
        }
        if (few && from >= 0) taken |= (uint64_t)1 << (from - first);
        const sti_ContactEntry *now = out->chosen[c].entry;
        const int dim = out->law[c].dim;
        double *r = out->r + out->law[c].first;
        out->chosen[c].left = from >= 0 ? state->forces.at[from].left : 0.0;
        out->chosen[c].band = from >= 0 ? state->forces.at[from].band : 1.0;
        for (int k = 0; k < dim; k++)
            r[k] = from >= 0 ? start->eta * state->forces.at[from].r[k] : 0.0;
        if (from >= 0 && now->shape_a != 0) {
            if (dim >= 3) turn_tangents(&state->forces.at[from], now, r + 1);
            sti_unknowns_of(out, c, r);
            if (dim >= 5) turn_tangents(&state->forces.at[from], now, r + 3); /* rolling */
        }
    }
}

enum { LEAST = 1024 }; /* the smallest number of contacts per thread */

/* ---- the dead band for overlaps ------------------------------------------------------------------ */

/* The distance that gravity and other forces alone would move a body in the step [m]. */
static double fall_of(const sti_Model *model, const sti_StepWork *work, const sti_Stage *stage, int body)
{
    const sti_Body *b = &model->world->body[body];
    double square = 0;
    for (int k = 0; b->n_dofs == 6 && k < 3; k++) {
        const int i = b->v_first + k;
        const double gained = work->step.f[i] / sti_mass_of(model, work->step.M, i) - stage->v_base[i];
        square += gained * gained;
    }
    const double g = norm(model->def.gravity);
    return stage->eta * (b->n_dofs == 6 ? sqrt(square) : b->n_dofs > 0 ? stage->eta * g : 0);
}

/* `lifted`: a contact that carried a load counts as closed while its gap is below this part of its band. Four corners
 * have more gaps than a box has degrees of freedom, and gaps that differ by solver errors would need forces that no
 * load explains. `least_band`: the band is at least this part of the width, however exact the solves are. Without it,
 * solver errors would be corrected, stopped and corrected again in every step. */
static const double lifted = 1e-3, least_band = 1e-9;

typedef struct Band {
    const sti_Model *model;
    const sti_StepWork *work;
    const sti_Stage *stage;
} Band;

static void fall_range(void *ctx, int64_t first, int64_t end)
{
    const Band *band = ctx;
    for (int e = (int)first; e < (int)end; e++) {
        const int body = sti_awake_body(band->model->world, e);
        band->work->warm.fall[body] = fall_of(band->model, band->work, band->stage, body);
    }
}

/* fall_of of an awake body was computed before; the ground does not fall. */
static double known_fall(const Band *band, int body)
{
    if (body == 0) return 0;
    return sti_sleeps(band->model->world, body) ? fall_of(band->model, band->work, band->stage, body)
                                                : band->work->warm.fall[body];
}

bool sti_has_band(const sti_Model *model, const sti_Stage *stage)
{
    const bool plain = stage->q_base == stage->q_star && !stage->mean && stage->drift_from == NULL;
    return model->banded && plain && stage->eta > 0 && sti_closes_gaps(&model->def) &&
           model->def.contact == ST_CONTACT_RIGID;
}

/* Overlaps within the band are not corrected. Of a deeper overlap only the part beyond the band is corrected:
 *
 *     band = min( STI_RELATIVE_BAND width of the smaller shape, 4 a h^2 ) a: acceleration of the pair
 *
 * if the last solve was rough. If it was exact, the band shrinks from step to step to least_band. It goes to 0 with h.
 * Gaps above 0 have practically no band: bodies land at gap 0. Only overlaps that are corrected get a compliance
 * (sti_overlaps). Most overlaps are not corrected. */
static void band_range(void *ctx, int64_t first, int64_t end)
{
    const Band *band = ctx;
    const sti_Model *model = band->model;
    const sti_StepWork *work = band->work;
    const sti_Assembly *out = &work->step;
    const double reach = sti_larger(band->stage->reach, 0.2 * work->h_asked), cap = model->def.correction_speed;
    for (int c = (int)first; c < (int)end; c++) {
        const sti_ContactEntry *entry = out->chosen[c].entry;
        const int row = out->law[c].first;
        if (entry->shape_a == 0) continue;
        /* Does contact c rebound (rebound.c)? The list is sorted by contact. */
        const sti_Rebounds *list = &work->rebounds;
        int lo = 0, hi = list->n;
        while (lo < hi) {
            const int middle = lo + (hi - lo) / 2;
            if (list->at[middle].contact < c)
                lo = middle + 1;
            else
                hi = middle;
        }
        const bool rebounds = lo < list->n && list->at[lo].contact == c;
        if (entry->gap > 0 && (rebounds || !(out->r[row] > 0))) continue;
        double size = 0;
        if (!rebounds) {
            const double width = sti_pair_size(&model->world->collider, entry->shape_a - 1, entry->shape_b - 1);
            const double fall = 4 * sti_larger(known_fall(band, entry->a), known_fall(band, entry->b));
            const double least = least_band * width, most = fmin(fall, STI_RELATIVE_BAND * width);
            size = sti_larger(least, out->chosen[c].band * most);
            const double tiny = sti_larger(least, lifted * size), beyond = entry->gap + size;
            const int velocity = sti_moving_velocity(model->world, entry);
            out->w[row] = entry->gap > tiny ? (entry->gap - tiny) / reach
                          : beyond < 0      ? sti_recover(work, velocity, sti_larger(beyond / reach, -cap))
                                            : 0.0;
        }
        if (out->compliant && !out->softened && entry->gap + size < 0 && sti_overlaps(model, entry->gap))
            out->C[row] = STI_OVERLAP_COMPLIANCE * sti_contact_mobility(model, work, c);
    }
}

/* Only ids of a rigid-body world contain the shapes. */
st_Status sti_warm_start(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                         st_Error *err)
{
    const int threads = model->def.threads;
    Start start = {model, state, work, stage->eta};
    sti_team_for(model->rigid ? threads : 1, work->step.problem.n_contacts, LEAST, start_range, &start);
    if (!sti_has_band(model, stage)) return ST_OK;
    Band band = {model, work, stage};
    STI_TRY(STI_GROW(&model->allocator, work->warm.fall, work->warm.fall_capacity, model->world->n_bodies, err));
    sti_team_for(threads, sti_awake_solids(model->world), STI_LEAST_BODIES, fall_range, &band);
    sti_team_for(threads, work->step.n_gaps, LEAST, band_range, &band);
    work->step.softened = true;
    return ST_OK;
}

static double most_left(void *ctx, int64_t first, int64_t end)
{
    const sti_StepWork *work = ctx;
    double most = 0;
    for (int c = (int)first; c < (int)end; c++)
        if (sti_islands_of(work->islands, c) == 0) most = sti_larger(work->step.chosen[c].left, most);
    return most;
}

/* The residual that is stored for a contact after its island was solved; `before` is the one stored before. A rough
 * island that was polished (auto.c) keeps its dead band, however small its residual: without it, overlaps would be
 * corrected, the island would move, and the band would come back. */
static double left_by(const sti_Island *island, double before)
{
    const double found = island->info.residual.natural;
    const bool few = sti_auto_start_rule(3 * island->n_contacts, true, island->n_blocks, before, STI_EXACT).few;
    return before > STI_EXACT && found <= STI_POLISHED && island->info.start <= STI_QUIET && !few
               ? sti_larger(found, 2 * STI_EXACT)
               : found;
}

typedef struct Keep {
    sti_State *state;
    sti_StepWork *work;
    double eta;
} Keep;

static void keep_range(void *ctx, int64_t first, int64_t end)
{
    const Keep *keep = ctx;
    sti_State *state = keep->state;
    const sti_StepWork *work = keep->work;
    const sti_Assembly *out = &work->step;
    for (int64_t c = first; c < end; c++) {
        const sti_ContactEntry *entry = out->chosen[c].entry;
        const int island = sti_islands_of(work->islands, (int)c);
        const double part = island >= 0 ? work->warm.lasting[island] : 1;
        sti_Impulse *kept = &state->forces.at[c];
        kept->id = entry->id;
        kept->element = out->chosen[c].element;
        kept->dim = out->law[c].dim;
        kept->shape_a = entry->shape_a;
        kept->shape_b = entry->shape_b;
        kept->point = entry->point;
        kept->normal = entry->normal;
        kept->tangent = entry->tangent;
        kept->left = island >= 0 ? left_by(sti_islands_get(work->islands, island), out->chosen[c].left)
                                 : out->chosen[c].left; /* the island was not solved in this step */
        const bool exact = kept->left <= STI_EXACT;     /* stays as it is while the bodies sleep */
        kept->band = exact ? sti_larger(out->chosen[c].band - STI_BAND_SHRINK, 0) : 1.0;
        const double *r = out->r + out->law[c].first, *start = out->start + out->law[c].first;
        double lasts[ST_MAX_DIM] = {0};
        for (int k = 0; k < kept->dim; k++)
            lasts[k] = part < 1 ? start[k] + part * (r[k] - start[k]) : r[k];
        sti_force_of(out, (int)c, lasts, kept->r);
        for (int k = 0; k < ST_MAX_DIM; k++) /* saved states contain all numbers, so unused ones must be 0 */
            kept->r[k] = k >= kept->dim ? 0.0 : kept->r[k] / keep->eta;
    }
}

/* for_good: the step is accepted, and the forces before it are no longer needed. */
static st_Status store_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, double eta, bool for_good,
                                st_Error *err)
{
    const int n = work->step.problem.n_contacts;
    Keep keep = {state, work, eta};
    /* By island: the largest error that the last solve left at its contacts. The islands of the last step may have been
     * different. */
    const sti_Assembly *out = &work->step;
    const int n_contacts = out->problem.n_contacts, n_islands = sti_islands_count(work->islands);
    STI_TRY(STI_GROW(&model->allocator, work->warm.lasting, work->warm.lasting_capacity, n_islands, err));
    double *lasting = work->warm.lasting;
    for (int k = 0; k < n_islands; k++)
        lasting[k] = 0;
    if (n_islands == 1) lasting[0] = sti_team_largest(model->def.threads, n_contacts, most_left, work);
    for (int c = 0; n_islands > 1 && c < n_contacts; c++) {
        const int island = sti_islands_of(work->islands, c);
        if (island >= 0) lasting[island] = sti_larger(out->chosen[c].left, lasting[island]);
    }
    /* The part of the solver's change that is kept for the next warm start. The rest stopped, once, the velocity error
     * of the last solve. Bodies at rest are solved only when their warm start is no longer good enough. If the whole
     * change were kept, the impulse that stopped the creep would push the bodies the other way in the next step. After
     * an exact solve nothing moves, and the next solve finds the forces (auto.c). */
    for (int k = 0; k < n_islands; k++) {
        const st_SolveInfo *info = &sti_islands_get(work->islands, k)->info;
        const bool exact = model->banded && (info->residual.natural <= STI_EXACT ||
                                             (info->residual.natural <= STI_POLISHED && info->start <= STI_QUIET));
        lasting[k] = exact || !(info->start > lasting[k]) ? 1 : 1 - lasting[k] / info->start;
    }
    if (!for_good) sti_save_impulses(state, work);
    STI_TRY(STI_GROW(&model->allocator, state->forces.at, state->forces.capacity, n, err));
    state->forces.n = n;
    sti_team_for(model->def.threads, n, LEAST, keep_range, &keep);
    return ST_OK;
}

/* Speculative steps keep their impulses only when another stage begins or the step is accepted. Mostly the step is
 * accepted first, and one list suffices. Other steps overwrite their solutions, so they keep the impulses at once. */
st_Status sti_store_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, double eta, st_Error *err)
{
    if (!sti_speculative(model)) return store_impulses(model, state, work, eta, false, err);
    work->warm.pending = eta;
    return ST_OK;
}

st_Status sti_store_pending_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, bool for_good,
                                     st_Error *err)
{
    const double eta = work->warm.pending;
    work->warm.pending = 0;
    return eta > 0 ? store_impulses(model, state, work, eta, for_good, err) : ST_OK;
}

/* Overwrites the forces before the step. A second list would need 3 MB for 8,000 spheres, and only the rare step that
 * fails after its first attempt would use it. */
st_Status sti_store_tried_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    work->saved.lost = work->saved.lost || (work->warm.pending > 0 && !work->saved.kept);
    return sti_store_pending_impulses(model, state, work, true, err);
}
