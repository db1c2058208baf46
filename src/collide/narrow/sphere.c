/* collide/narrow/sphere.c -- spheres and capsules (points and bars, with radius 0) in closed form. */
#include "collide/narrow/ball.h"
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

static st_Status add_if_near(double gap, st_Vec3 on_b, st_Vec3 n, uint32_t feature, const sti_Collide *how,
                             sti_Points *out, st_Error *err)
{
    if (!(gap < how->margin)) return ST_OK;
    return sti_points_add(out, (sti_ContactPoint){gap, on_b, n, feature}, err);
}

st_Status sti_sphere_sphere(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                            const sti_Collide *how, sti_Points *out, st_Error *err)
{
    sti_ContactPoint point;
    if (!ball_ball(pose_a.p, a->radius, pose_b.p, b->radius, how, &point)) return ST_OK;
    return sti_points_add(out, point, err);
}

st_Status sti_sphere_capsule(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                             const sti_Collide *how, sti_Points *out, st_Error *err)
{
    st_Vec3 axis = rotate(pose_b.q, b->of->family == STI_FAMILY_BARS ? vec3(1, 0, 0) : vec3(0, 0, 1));
    st_Vec3 d = sub(pose_a.p, pose_b.p);
    if (how->planar >= 0 && !(sti_is_in_plane(axis, how->planar) && dot(d, vec3_axis(how->planar)) == 0))
        return sti_convex_convex(a, pose_a, b, pose_b, how, out, err); /* by their shadows */
    double s = fmin(fmax(dot(axis, d), -0.5 * b->length), 0.5 * b->length);
    st_Vec3 on_axis = add(pose_b.p, scale(s, axis)), from_a = sub(on_axis, pose_a.p);
    double distance = norm(from_a);
    /* a distance that is only rounding has an arbitrary direction, in a planar scene perhaps one across the plane */
    const bool on_it = how->planar >= 0 && distance <= 1e-12 * (b->length + norm(d));
    /* the centre is on the axis: any perpendicular direction is as good, in a planar scene those in the plane */
    st_Vec3 n = !on_it && distance > 0 ? scale(1 / distance, from_a)
                : how->planar < 0      ? orthogonal(axis)
                                       : cross(vec3_axis(how->planar), axis);
    return add_if_near(distance - a->radius - b->radius, sub(on_axis, scale(b->radius, n)), n, 0, how, out, err);
}

/* Outside: the nearest point of the box. Inside: the nearest face, except faces across the plane of a planar scene.
 * The normal is then fixed in the box, so the point must be the sphere's. */
st_Status sti_sphere_box(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                         sti_Points *out, st_Error *err)
{
    sti_Placed placed;
    if (!sti_place_pair(a, pose_a, b, pose_b, how, &placed)) return ST_OK;
    const sti_Core *sphere = placed.a, *box = placed.b;
    const st_Vec3 origin = placed.origin, half = box->half, c = core_to_local(box, sub(sphere->p, box->p));
    st_Vec3 q =
        vec3(fmin(fmax(c.x, -half.x), half.x), fmin(fmax(c.y, -half.y), half.y), fmin(fmax(c.z, -half.z), half.z));
    st_Vec3 d = sub(q, c);
    double distance = norm(d);
    if (distance > 0) {
        st_Vec3 n = core_to_world(box, scale(1 / distance, d));
        if (how->planar >= 0 && !sti_is_in_plane(n, how->planar)) /* the box is tilted out of the plane */
            return sti_convex_convex(a, pose_a, b, pose_b, how, out, err);
        return add_if_near(distance - a->radius, add(origin, add(box->p, core_to_world(box, q))), n, 0, how, out, err);
    }
    const double side[3] = {half.x - fabs(c.x), half.y - fabs(c.y), half.z - fabs(c.z)};
    const double at[3] = {c.x, c.y, c.z};
    int e = side[0] <= side[1] && side[0] <= side[2] ? 0 : side[1] <= side[2] ? 1 : 2;
    st_Vec3 n = scale(at[e] > 0 ? -1 : 1, box->axis[e]);
    if (how->planar >= 0 && !sti_is_in_plane(n, how->planar))
        return sti_convex_convex(a, pose_a, b, pose_b, how, out, err);
    return add_if_near(-side[e] - a->radius, add(origin, add(sphere->p, scale(a->radius, n))), n, 0, how, out, err);
}
