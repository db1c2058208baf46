/* step/events/conservative_advancement.c -- how far a step can go before two shapes can touch.
 *
 * Two convex shapes at a distance Phi > 0 along n lie on both sides of a gap between two planes normal to n. They do
 * not touch before the gap is crossed. The surface of a body moves along n at most at the speed
 *
 *     n'v + |w| R        R: how far its shapes go from its centre
 *
 * so they cannot touch within the time Phi / (sum of both speeds): conservative advancement (Mirtich 1996). Along the
 * cubic path of integrators of order two (collision_event.c) the velocity is a quadratic Bezier curve with the corners
 *
 *     v,   3 d/h - v - v+,   v+          d: from q to q_new as a velocity for a time of 1
 *
 * and no speed is larger than that at one of them. Advancement alone needs infinitely many steps to reach a touch, and
 * is slow if a body turns beside a wall. Each advance may therefore overlap by a `skin`, which is a hundredth of the
 * thickness to cross. A collision is then found as an overlap. A contact that overlaps by less than the skin may be
 * missed.
 */
#include "step/events/events.h"
#include "step/step.h"

#define SKIN 0.01

/* The overlap that an advance may reach. */
static double skin_of(const sti_Model *model, const sti_ContactEntry *contact)
{
    const sti_Collider *c = &model->world->collider;
    const double a = sti_shape_of(c, contact->shape_a - 1)->thick, b = sti_shape_of(c, contact->shape_b - 1)->thick;
    double across = a + b;
    if (!(across > 0)) { /* points, bars and sheets: a fraction of the larger body that is finite */
        const double reach_a = c->body_reach[contact->a], reach_b = c->body_reach[contact->b];
        across = fmax(isfinite(reach_a) ? reach_a : 0, isfinite(reach_b) ? reach_b : 0);
    }
    return fmax(SKIN * across, 10 * model->def.active_gap);
}

/* The part of one body in the speed of approach along n [m/s]. */
static double approach(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int b, st_Vec3 n,
                       double h)
{
    const sti_World *world = model->world;
    const sti_Body *body = &world->body[b];
    const bool straight = sti_integrator(model)->order == 1;
    st_Vec3 v[3], w[3];
    if (body->n_dofs == 0) return 0;
    sti_body_velocity(body, work->v_new, &v[0], &w[0]);
    if (!straight) {
        sti_body_velocity(body, state->v, &v[1], &w[1]);
        sti_body_velocity(body, work->lookout.path, &v[2], &w[2]);
        v[2] = sub(scale(3 / h, v[2]), add(v[0], v[1]));
        w[2] = sub(scale(3 / h, w[2]), add(w[0], w[1]));
    }
    double fastest = -INFINITY;
    for (int k = 0; k < (straight ? 1 : 3); k++)
        fastest = fmax(fastest, dot(n, v[k]) + sti_turning_speed(world, b, w[k]));
    return fastest;
}

double sti_earliest_touch(const sti_Model *model, const sti_State *state, const sti_StepWork *work, const st_Sink *sink,
                          double h, double s, double patience)
{
    double earliest = INFINITY;
    for (int c = 0; c < sink->n_contacts; c++) {
        const sti_ContactEntry *contact = &sink->contact[c];
        if (contact->shape_a == 0 || sti_ids_contain(&state->active, contact->id) ||
            sti_ids_contain(&work->lookout.under, contact->id))
            continue;
        const double way = h * (approach(model, state, work, contact->a, contact->normal, h) +
                                approach(model, state, work, contact->b, scale(-1, contact->normal), h));
        if (way > 0) earliest = fmin(earliest, s + (fmax(contact->gap, 0) + patience * skin_of(model, contact)) / way);
    }
    return earliest;
}
