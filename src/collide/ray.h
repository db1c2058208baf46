/* collide/ray.h -- the point where a ray enters a shape. */
#ifndef STI_RAY_H
#define STI_RAY_H

#include "collide/shape.h"

/* from + s way, |way| = 1, 0 <= s <= limit, in the world. True: it enters at *s with outward *normal. */
bool sti_ray_shape(const sti_Shape *shape, st_Pose pose, st_Vec3 from, st_Vec3 way, double limit, double *s,
                   st_Vec3 *normal);

/* A convex solid is a set of conditions, each true on an interval of the ray p + s d. The ray enters at the largest
 * beginning of them. */
typedef struct sti_Ray {
    st_Vec3 p, d; /* in the shape's axes                                                           */
    double limit;
    double enter, leave;
    st_Vec3 normal; /* where it enters                                                             */
    bool missed;
} sti_Ray;

/* n . x <= offset; a ball; x^2 + y^2 <= r^2; an ellipsoid with semi-axes h. */
void sti_ray_cut_half_space(sti_Ray *ray, st_Vec3 n, double offset);
void sti_ray_cut_ball(sti_Ray *ray, st_Vec3 centre, double r);
void sti_ray_cut_tube(sti_Ray *ray, double r);
void sti_ray_cut_ellipsoid(sti_Ray *ray, st_Vec3 h);
/* |(x, y)| <= k (top - z): the side of a cone with its apex at z = top. */
void sti_ray_cut_cone(sti_Ray *ray, double k, double top);
bool sti_ray_entered(const sti_Ray *ray, double limit);

#endif
