/* collide/ray.c -- closed forms for rays (ray.h). */
#include "collide/ray.h"

static void enter_at(sti_Ray *ray, double s, st_Vec3 normal)
{
    if (s > ray->enter) ray->enter = s, ray->normal = normal;
}

void sti_ray_cut_half_space(sti_Ray *ray, st_Vec3 n, double offset)
{
    double along = dot(n, ray->d), above = dot(n, ray->p) - offset;
    if (along == 0) {
        if (above > 0) ray->missed = true;
    } else if (along < 0) {
        enter_at(ray, -above / along, n);
    } else {
        ray->leave = fmin(ray->leave, -above / along);
    }
}

/* q(s) = a s^2 + 2 b s + c, with root = b^2 - a c from cross products: b^2 and a c agree in most digits if the ray
 * comes from far away, or passes through a cone's apex. */
typedef struct Quadratic {
    double a, b, c, root;
} Quadratic;

/* The zeros, first <= second, by the sum that does not cancel. If a vanishes one of them is at infinity, on the side
 * where q > 0. */
static void zeros_of(const Quadratic *q, double *first, double *second)
{
    const double sum = -(q->b + copysign(sqrt(q->root), q->b));
    double s = sum / q->a, t = sum != 0 ? q->c / sum : 0;
    if (q->a == 0) s = copysign(INFINITY, q->b);
    *first = fmin(s, t), *second = fmax(s, t);
}

/* q <= 0 with a > 0; `gradient` gives the normal at a point. */
static void cut_quadric(sti_Ray *ray, const Quadratic *q, st_Vec3 (*gradient)(st_Vec3, const void *), const void *ctx)
{
    double s, t;
    if (!(q->root > 0)) {
        ray->missed = true;
        return;
    }
    zeros_of(q, &s, &t);
    st_Vec3 n = gradient(add(ray->p, scale(s, ray->d)), ctx);
    enter_at(ray, s, scale(1 / norm(n), n));
    ray->leave = fmin(ray->leave, t);
}

static st_Vec3 ball_gradient(st_Vec3 x, const void *ctx)
{
    return sub(x, *(const st_Vec3 *)ctx);
}

static st_Vec3 tube_gradient(st_Vec3 x, const void *ctx)
{
    (void)ctx;
    return vec3(x.x, x.y, 0);
}

static st_Vec3 ellipsoid_gradient(st_Vec3 x, const void *ctx)
{
    const st_Vec3 *h = ctx;
    return vec3(x.x / (h->x * h->x), x.y / (h->y * h->y), x.z / (h->z * h->z));
}

/* |p + s d|^2 - r^2 */
static Quadratic round_quadratic(st_Vec3 p, st_Vec3 d, double r)
{
    const st_Vec3 across = cross(p, d);
    const double a = dot(d, d), far = norm(p);
    return (Quadratic){a, dot(p, d), (far - r) * (far + r), a * r * r - dot(across, across)};
}

void sti_ray_cut_ball(sti_Ray *ray, st_Vec3 centre, double r)
{
    const Quadratic q = round_quadratic(sub(ray->p, centre), ray->d, r);
    cut_quadric(ray, &q, ball_gradient, &centre);
}

void sti_ray_cut_tube(sti_Ray *ray, double r)
{
    const Quadratic q = round_quadratic(vec3(ray->p.x, ray->p.y, 0), vec3(ray->d.x, ray->d.y, 0), r);
    if (q.a > 0)
        cut_quadric(ray, &q, tube_gradient, NULL);
    else if (q.c > 0)
        ray->missed = true;
}

void sti_ray_cut_ellipsoid(sti_Ray *ray, st_Vec3 h)
{
    st_Vec3 p = vec3(ray->p.x / h.x, ray->p.y / h.y, ray->p.z / h.z);
    st_Vec3 d = vec3(ray->d.x / h.x, ray->d.y / h.y, ray->d.z / h.z);
    const Quadratic q = round_quadratic(p, d, 1);
    cut_quadric(ray, &q, ellipsoid_gradient, &h);
}

bool sti_ray_entered(const sti_Ray *ray, double limit)
{
    return !ray->missed && ray->enter >= 0 && ray->enter <= ray->leave && ray->enter <= limit;
}

/* Side of a cone: |(x, y)| <= k w with w = top - z. Its square holds for the cone above the apex, too:
 *
 *     steep, a <= 0   downwards, the ray is in the lower cone after the second zero; upwards, before the first
 *     flat, a > 0     both zeros belong to one cone, given by the sign of w between them
 */
void sti_ray_cut_cone(sti_Ray *ray, double k, double top)
{
    const double w = top - ray->p.z, dw = -ray->d.z;
    const st_Vec3 p = vec3(ray->p.x, ray->p.y, 0), d = vec3(ray->d.x, ray->d.y, 0), turned = cross(p, d);
    const st_Vec3 side = scale(k, sub(scale(w, d), scale(dw, p)));
    Quadratic q = {(norm(d) - k * dw) * (norm(d) + k * dw), dot(p, d) - k * w * k * dw,
                   (norm(p) - k * w) * (norm(p) + k * w), dot(side, side) - dot(turned, turned)};
    if (q.a < 0) q.root = fmax(q.root, 0); /* exactly it is not negative */
    double s, t;
    ray->missed = ray->missed || !(q.root > 0 || q.a < 0) || (q.a > 0 && w * q.a < dw * q.b);
    if (ray->missed) return;
    zeros_of(&q, &s, &t);
    if (q.a <= 0 && dw > 0)
        s = t, t = INFINITY;
    else if (q.a <= 0)
        t = s, s = -INFINITY;
    ray->missed = s == INFINITY; /* a = 0: it belongs to the other cone */
    if (s > -INFINITY) {
        const st_Vec3 x = add(ray->p, scale(s, ray->d));
        const double across = hypot(x.x, x.y), cosine = 1 / hypot(1, k);
        const bool apex = !(across > 1e-13 * (norm(ray->p) + top)); /* within rounding: the normal is the axis */
        enter_at(ray, s, apex ? vec3(0, 0, 1) : scale(cosine, vec3(x.x / across, x.y / across, k)));
    }
    ray->leave = fmin(ray->leave, t);
}

/* ---- all shapes ---------------------------------------------------------------------------------- */

bool sti_ray_shape(const sti_Shape *shape, st_Pose pose, st_Vec3 from, st_Vec3 way, double limit, double *s,
                   st_Vec3 *normal)
{
    if (shape->of->ray == NULL) return false;
    sti_Ray ray = {.p = rotate_back(pose.q, sub(from, pose.p)),
                   .d = rotate_back(pose.q, way),
                   .limit = limit,
                   .enter = -INFINITY,
                   .leave = INFINITY};
    shape->of->ray(shape, &ray);
    if (!sti_ray_entered(&ray, limit)) return false;
    *s = ray.enter;
    *normal = rotate(pose.q, ray.normal);
    return true;
}
