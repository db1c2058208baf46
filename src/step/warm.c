/* step/warm.c -- the forces of the last step, as a start for the next.
 *
 * Joint limits, motors and the elements of a patch are known again by their ids. The points of two shapes are known
 * by where they are: when faces lie on one another edge to edge, as bricks in a wall do, rounding decides from step
 * to step between which edges a corner of their common patch lies, and its id changes while the point stays. So
 * each point takes the force of the nearest point that the two shapes had in the last step, each force once. Tangents
 * are as fickle: a normal along an axis has no preferred one. Friction is carried over as a vector in the world.
 */
#include "math/vec3.h"
#include "step/system.h"

static bool same_shapes(const sti_Impulse *a, const sti_Impulse *b)
{
    return a->shape_a > 0 && a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

static bool comes_before(const sti_Impulse *a, const sti_Impulse *b)
{
    return a->id < b->id || (a->id == b->id && a->element < b->element);
}

/* Whose contact c of the step problem is. */
static sti_Impulse describe(const sti_Assembly *step, int c)
{
    const sti_ContactEntry *entry = &step->chosen[c].entry;
    return (sti_Impulse){.id = entry->id,
                         .element = step->chosen[c].element,
                         .dim = step->law[c].dim,
                         .shape_a = entry->shape_a,
                         .shape_b = entry->shape_b,
                         .point = entry->point,
                         .normal = entry->normal,
                         .tangent = entry->tangent};
}

/* Among the forces first .. end - 1 the nearest that is not taken (bits of `taken`); -1: none. */
static int nearest(const st_System *system, int first, int end, uint64_t taken, const sti_Impulse *wanted)
{
    int best = -1;
    double least = INFINITY;
    for (int k = first; k < end; k++) {
        const sti_Impulse *old = &system->previous[k];
        if ((taken >> (k - first) & 1u) != 0 || old->dim != wanted->dim) continue;
        const st_Vec3 way = sub(old->point, wanted->point);
        const double distance = dot(way, way);
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    return best;
}

/* Of a patch by ids: the place of `wanted` among the forces first .. end - 1; -1: not there. */
static int same_id(const st_System *system, int first, int end, const sti_Impulse *wanted)
{
    for (int k = first; k < end; k++)
        if (system->previous[k].id == wanted->id && system->previous[k].element == wanted->element)
            return system->previous[k].dim == wanted->dim ? k : -1;
    return -1;
}

/* The pair r[0], r[1] along the tangents of `old`, along those of `now`. */
static void turn_tangents(const sti_Impulse *old, const sti_Impulse *now, double *r)
{
    const st_Vec3 other = cross(now->normal, now->tangent);
    const st_Vec3 x = add(scale(r[0], old->tangent), scale(r[1], cross(old->normal, old->tangent)));
    r[0] = dot(x, now->tangent);
    r[1] = dot(x, other);
}

static void set_start(const st_System *system, int c, double eta, const sti_Impulse *now, int from)
{
    const sti_Assembly *out = &system->step;
    double *r = out->r + out->law[c].first;
    for (int k = 0; k < now->dim; k++)
        r[k] = from >= 0 ? eta * system->previous[from].r[k] : 0.0;
    if (from < 0 || now->shape_a == 0) return;
    if (now->dim >= 3) turn_tangents(&system->previous[from], now, r + 1);
    if (now->dim >= 5) turn_tangents(&system->previous[from], now, r + 3); /* rolling */
}

/* Both lists stand by id, and the contacts of two shapes side by side. */
void sti_warm_start(st_System *system, double eta)
{
    const sti_Assembly *out = &system->step;
    const sti_Impulse *previous = system->previous;
    const bool by_place = system->def.contact != ST_CONTACT_COMPLIANT;
    sti_Impulse last = {0};
    uint64_t taken = 0;
    for (int c = 0, first = 0, end = 0; c < out->problem.n_contacts; c++) {
        const sti_Impulse wanted = describe(out, c);
        if (c == 0 || !same_shapes(&wanted, &last)) { /* a new group: the old forces of the same two shapes */
            first = end;
            while (first < system->n_previous && comes_before(&previous[first], &wanted) &&
                   !same_shapes(&previous[first], &wanted))
                first++;
            end = first;
            while (end < system->n_previous && same_shapes(&previous[end], &wanted))
                end++;
            if (wanted.shape_a == 0 && first < system->n_previous && previous[first].id == wanted.id) end = first + 1;
            taken = 0;
        }
        const bool few = by_place && wanted.shape_a > 0 && end - first <= 64;
        const int from = few ? nearest(system, first, end, taken, &wanted) : same_id(system, first, end, &wanted);
        if (few && from >= 0) taken |= (uint64_t)1 << (from - first);
        set_start(system, c, eta, &wanted, from);
        last = wanted;
    }
}

st_Status sti_keep_impulses(st_System *system, double eta, st_Error *err)
{
    const sti_Assembly *out = &system->step;
    const int n = out->problem.n_contacts;
    STI_TRY(STI_GROW(&system->allocator, system->previous, system->previous_capacity, n, err));
    system->n_previous = n;
    for (int c = 0; c < n; c++) {
        sti_Impulse *kept = &system->previous[c];
        *kept = describe(out, c);
        for (int k = 0; k < kept->dim; k++)
            kept->r[k] = out->r[out->law[c].first + k] / eta;
    }
    return ST_OK;
}
