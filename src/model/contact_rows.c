/* model/contact_rows.c -- a contact that was found: its rows on the free velocities, and its gap when bodies move on.
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
    st_Vec3 arm = scale(sign, mat3_mul_back(axes, sub(entry->point, c->body_pose[body].p)));
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

/* A point that moves with a body, from one position to another. */
static st_Vec3 contact_rows_carried(const double *from, const double *to, int body, st_Vec3 point)
{
    const st_Pose a = sti_pose(from, body);
    return pose_point(sti_pose(to, body), rotate_back(a.q, sub(point, a.p)));
}

double sti_contact_gap_after(const sti_ContactEntry *entry, const double *q, const double *to)
{
    const st_Vec3 on_a = contact_rows_carried(q, to, entry->a, entry->point),
                  on_b = contact_rows_carried(q, to, entry->b, entry->point);
    return entry->gap + dot(entry->normal, sub(on_b, on_a));
}

void sti_contact_bring_back(const double *from, const double *q, sti_ContactEntry *entry)
{
    entry->point = contact_rows_carried(from, q, entry->b, entry->point);
    entry->gap = 2 * entry->gap - sti_contact_gap_after(entry, q, from);
}
