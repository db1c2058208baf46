/* model/contact_rows.c -- the rows of a contact on the free velocities, and its gap after bodies move.
 *
 * With levers l_a, l_b from the centres to the point, the rate along a direction d of the frame (n, t1, t2) is
 *
 *     u = d . (v_b - v_a) + (l_b x d) . w_b - (l_a x d) . w_a,     w = R w_body,    R'(l x d) = R'l x R'd.
 */
#include "model/world.h"

/* ---- rows ---------------------------------------------------------------------------------------- */

/* The rows of a contact on body a (side 0) or b, one every `stride` numbers: `dim` rates along the normal and the
 * tangents, and if it `turns`, three about them.                                                  */
static void put_side(const sti_World *world, const sti_ContactEntry *entry, int side, int dim, bool turns, int stride,
                     double *row)
{
    const sti_Collider *c = &world->collider;
    const int body = side == 0 ? entry->a : entry->b;
    const sti_Body *of = &world->body[body];
    const st_Mat3 *axes = &c->axes[body];
    const st_Vec3 direction[3] = {entry->normal, entry->tangent, cross(entry->normal, entry->tangent)};
    if (of->n_dofs == 0) return;
    double sign = side == 0 ? -1 : 1;
    st_Vec3 arm = scale(sign, mat3_mul_back(axes, sti_lever(world, entry->point, c->body_pose[body].p)));
    for (int k = 0; k < dim; k++, row += stride) {
        const double factor = sti_row_factor(entry->surface, k);
        sti_put_half(of, scale(sign * factor, direction[k]),
                     scale(factor, cross(arm, mat3_mul_back(axes, direction[k]))), row);
    }
    for (int k = 0; turns && k < 3; k++, row += stride)
        sti_put_half(of, vec3(0, 0, 0), scale(sign, mat3_mul_back(axes, direction[k])), row);
}

void sti_contact_put_rows(const sti_World *world, const sti_ContactEntry *entry, int count, int dim, bool turns,
                          double *x)
{
    put_side(world, entry, 0, dim, turns, count, x);
    put_side(world, entry, 1, dim, turns, count, x + world->body[entry->a].n_dofs);
}

int sti_contact_rows(const sti_World *world, const sti_ContactEntry *entry, int dim, int *index, double *gradient)
{
    const int count = sti_rows_index(world, entry->a, entry->b, index);
    sti_contact_put_rows(world, entry, count, dim, false, gradient);
    return count;
}

/* ---- elsewhere ----------------------------------------------------------------------------------- */

/* A point that moves with a body from one position to another. */
static st_Vec3 contact_rows_carried(const sti_World *world, const double *from, const double *to, int body,
                                    st_Vec3 point)
{
    const st_Pose a = sti_pose(from, body);
    /* relative to its image */
    const st_Vec3 lever = sti_lever(world, point, a.p), beside = sub(point, add(a.p, lever));
    const st_Vec3 carried = pose_point(sti_pose(to, body), rotate_back(a.q, lever));
    return world->scene->cell.repeats ? add(carried, beside) : carried;
}

double sti_contact_gap_after(const sti_World *world, const sti_ContactEntry *entry, const double *q, const double *to)
{
    const st_Vec3 on_a = contact_rows_carried(world, q, to, entry->a, entry->point),
                  on_b = contact_rows_carried(world, q, to, entry->b, entry->point);
    return entry->gap + dot(entry->normal, sub(on_b, on_a));
}

void sti_contact_bring_back(const sti_World *world, const double *from, const double *q, sti_ContactEntry *entry)
{
    entry->point = contact_rows_carried(world, from, q, entry->b, entry->point);
    entry->gap = 2 * entry->gap - sti_contact_gap_after(world, entry, q, from);
}

/* ---- belts -------------------------------------------------------------------------------------- */

/* Surfaces that move in themselves: conveyor belts, turntables.
 *
 * With s + S x x the velocity of a surface at its point x, in the shape's axes (surface_velocity, surface_spin), R the
 * orientation of the shape and p its origin, the surfaces at a contact move against each other by
 *
 *     R_b (s_b + S_b x R_b'(c - p_b)) - R_a (s_a + S_a x R_a'(c - p_a))       at the point c
 *
 * beside their bodies. Its tangential part is added to u_T: in the step problem it is w_T, which is otherwise 0 for
 * rigid contacts. The normal part is dropped, because the shape and the gap do not move. The difference of R S is
 * added likewise for rolling and spinning.
 */

static void belt_add_shape(const sti_World *world, const double *q, int shape, st_Vec3 point, double sign,
                           st_Vec3 *slide, st_Vec3 *turn)
{
    const st_ShapeDef *def = sti_shape_def(world->scene, shape);
    const st_Pose body = sti_pose(q, world->scene->shape_body[shape]), *in_body = sti_shape_pose(world->scene, shape);
    const st_Quat orientation = quat_product(body.q, in_body->q);
    const st_Vec3 arm = sti_lever(world, point, pose_point(body, in_body->p)),
                  spin = rotate(orientation, def->surface_spin);
    const st_Vec3 velocity = add(rotate(orientation, def->surface_velocity), cross(spin, arm));
    *slide = add(*slide, scale(sign, velocity));
    *turn = add(*turn, scale(sign, spin));
}

sti_Belt sti_contact_belt(const sti_World *world, const double *q, const sti_ContactEntry *entry)
{
    if (sti_world_is_empty(world)) return entry->surface->belt;
    st_Vec3 slide = {0, 0, 0}, turn = {0, 0, 0};
    const st_Vec3 t = entry->tangent, o = cross(entry->normal, t);
    belt_add_shape(world, q, entry->shape_a - 1, entry->point, -1, &slide, &turn);
    belt_add_shape(world, q, entry->shape_b - 1, entry->point, 1, &slide, &turn);
    return (sti_Belt){{dot(slide, t), dot(slide, o)}, {dot(turn, entry->normal), dot(turn, t), dot(turn, o)}};
}
