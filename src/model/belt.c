/* model/belt.c -- surfaces that move in themselves: conveyor belts, turntables.
 *
 * With s + S x x the velocity of a surface at its point x, in the shape's axes (surface_velocity, surface_spin), R the
 * orientation of the shape and p its origin, the surfaces at a contact move against each other by
 *
 *     R_b (s_b + S_b x R_b'(c - p_b)) - R_a (s_a + S_a x R_a'(c - p_a))       at the point c
 *
 * beside their bodies. Its tangential part is added to u_T: in the step problem it is w_T, where nothing else
 * stands for rigid contacts. The normal part is dropped: the shape stays where it is, and so does the gap. The
 * difference of R S counts likewise for what rolls and spins on the surface.
 */
#include "model/world.h"

static void belt_add_shape(const sti_World *world, const double *q, int shape, st_Vec3 point, double sign,
                           st_Vec3 *slide, st_Vec3 *turn)
{
    const st_ShapeDef *def = sti_shape_def(world->scene, shape);
    const st_Pose body = sti_pose(q, world->scene->shape_body[shape]), *in_body = sti_shape_pose(world->scene, shape);
    const st_Quat orientation = quat_product(body.q, in_body->q);
    const st_Vec3 arm = sub(point, pose_point(body, in_body->p)), spin = rotate(orientation, def->surface_spin);
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
