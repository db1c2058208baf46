/* collide/narrow/ball.h -- balls in closed form, inline: most pairs of a pile are of this kind. */
#ifndef STI_BALL_H
#define STI_BALL_H

#include "collide/collide.h"

/* In a planar scene nothing moves across the plane. Balls that are offset by c across it touch when their centres
 * are sqrt(R^2 - c^2) apart in the plane, with R the sum of the radii: they act as circles that are smaller
 * accordingly. `way` is reduced to its part in the plane. Returns false if they never touch. */
static inline bool balls_to_circles(int axis, double *radius_a, double *radius_b, st_Vec3 *way)
{
    const st_Vec3 e = vec3_axis(axis);
    const double c = dot(*way, e), R = *radius_a + *radius_b;
    if (c == 0) return true;
    if (!(fabs(c) < R)) return false;
    const double part = sqrt((1 - c / R) * (1 + c / R));
    *way = sub(*way, scale(c, e));
    *radius_a *= part, *radius_b *= part;
    return true;
}

/* Two balls: false if they are not nearer than the margin. */
static inline bool ball_ball(st_Vec3 a, double radius_a, st_Vec3 b, double radius_b, const sti_Collide *how,
                             sti_ContactPoint *out)
{
    st_Vec3 d = sub(b, a);
    if (how->planar >= 0 && !balls_to_circles(how->planar, &radius_a, &radius_b, &d)) return false;
    double distance = norm(d), gap = distance - radius_a - radius_b;
    if (!(gap < how->margin)) return false;
    /* concentric balls have no direction: any normal in the plane of motion separates them */
    st_Vec3 n = distance > 0 ? scale(1 / distance, d) : vec3_axis(how->planar >= 0 ? (how->planar + 1) % 3 : 2);
    *out = (sti_ContactPoint){gap, sub(b, scale(radius_b, n)), n, 0};
    return true;
}

/* A ball over the plane through `on` with the normal n. */
static inline bool plane_ball(st_Vec3 n, st_Vec3 on, st_Vec3 centre, double radius, const sti_Collide *how,
                              sti_ContactPoint *out)
{
    st_Vec3 lowest = sub(centre, scale(radius, n));
    double gap = dot(n, sub(lowest, on));
    *out = (sti_ContactPoint){gap, lowest, n, 0};
    return gap < how->margin;
}

#endif
