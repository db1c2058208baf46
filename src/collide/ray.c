/* collide/ray.c -- closed forms for rays: a convex solid is a set of conditions, each true on an interval of the
 * ray; the largest of their beginnings is where it enters.
 */
#include "collide/ray.h"

typedef struct Ray {
    st_Vec3 p, d; /* in the shape's axes */
    double enter, leave;
    st_Vec3 normal;
    bool missed;
} Ray;

static void enter_at(Ray *ray, double s, st_Vec3 normal)
{
    if (s > ray->enter) ray->enter = s, ray->normal = normal;
}

/* n . x <= offset */
static void cut_half_space(Ray *ray, st_Vec3 n, double offset)
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

/* q(s) = a s^2 + 2 b s + c, with root = b^2 - a c from cross products: b^2 and a c are equal in most digits where the
 * ray comes from far away, or goes through a cone's apex.                                          */
typedef struct Quadratic {
    double a, b, c, root;
} Quadratic;

/* The zeros, first <= second, by the sum that does not cancel. Where a vanishes one of them is at infinity, on the side
 * where q > 0.                                                                                     */
static void zeros_of(const Quadratic *q, double *first, double *second)
{
    const double sum = -(q->b + copysign(sqrt(q->root), q->b));
    double s = sum / q->a, t = sum != 0 ? q->c / sum : 0;
    if (q->a == 0) s = copysign(INFINITY, q->b);
    *first = fmin(s, t), *second = fmax(s, t);
}

/* q <= 0 with a > 0; `gradient` gives the normal at a point. */
static void cut_quadric(Ray *ray, const Quadratic *q, st_Vec3 (*gradient)(st_Vec3, const void *), const void *ctx)
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

static void cut_ball(Ray *ray, st_Vec3 centre, double r)
{
    const Quadratic q = round_quadratic(sub(ray->p, centre), ray->d, r);
    cut_quadric(ray, &q, ball_gradient, &centre);
}

/* x^2 + y^2 <= r^2 */
static void cut_tube(Ray *ray, double r)
{
    const Quadratic q = round_quadratic(vec3(ray->p.x, ray->p.y, 0), vec3(ray->d.x, ray->d.y, 0), r);
    if (q.a > 0)
        cut_quadric(ray, &q, tube_gradient, NULL);
    else if (q.c > 0)
        ray->missed = true;
}

static void cut_ellipsoid(Ray *ray, st_Vec3 h)
{
    st_Vec3 p = vec3(ray->p.x / h.x, ray->p.y / h.y, ray->p.z / h.z);
    st_Vec3 d = vec3(ray->d.x / h.x, ray->d.y / h.y, ray->d.z / h.z);
    const Quadratic q = round_quadratic(p, d, 1);
    cut_quadric(ray, &q, ellipsoid_gradient, &h);
}

static bool entered(const Ray *ray, double limit)
{
    return !ray->missed && ray->enter >= 0 && ray->enter <= ray->leave && ray->enter <= limit;
}

/* The first of several solids that share one boundary. */
static void take_first(Ray *best, const Ray *other)
{
    if (entered(other, INFINITY) && (best->missed || other->enter < best->enter)) *best = *other;
}

/* A capsule is a tube and two balls; inside any of them is inside. */
static Ray cut_capsule(Ray ray, double r, double half)
{
    Ray part[3] = {ray, ray, ray}, best = ray;
    best.missed = true;
    cut_tube(&part[0], r);
    cut_half_space(&part[0], vec3(0, 0, 1), half);
    cut_half_space(&part[0], vec3(0, 0, -1), half);
    cut_ball(&part[1], vec3(0, 0, half), r);
    cut_ball(&part[2], vec3(0, 0, -half), r);
    double z = fmin(fmax(ray.p.z, -half), half);
    if (norm(sub(ray.p, vec3(0, 0, z))) <= r) return best; /* starts inside */
    for (int k = 0; k < 3; k++)
        take_first(&best, &part[k]);
    return best;
}

/* At the apex, within rounding, the axis. */
static st_Vec3 cone_normal(const Ray *ray, double s, double k, double top)
{
    const st_Vec3 x = add(ray->p, scale(s, ray->d));
    const double across = hypot(x.x, x.y), cosine = 1 / hypot(1, k);
    if (!(across > 1e-13 * (norm(ray->p) + top))) return vec3(0, 0, 1);
    return scale(cosine, vec3(x.x / across, x.y / across, k));
}

/* Side of a cone: |(x, y)| <= k w with w = top - z. Its square holds for the cone above the apex, too:
 *
 *     steep, a <= 0     on the way down all behind the second zero is the cone below, on the way up all before the
 * first flat, a > 0       both zeros are of one cone, the one where w has the sign of that between them
 */
static void cut_cone(Ray *ray, double k, double top)
{
    const double w = top - ray->p.z, dw = -ray->d.z;
    const st_Vec3 p = vec3(ray->p.x, ray->p.y, 0), d = vec3(ray->d.x, ray->d.y, 0), turned = cross(p, d);
    const st_Vec3 side = scale(k, sub(scale(w, d), scale(dw, p)));
    Quadratic q = {(norm(d) - k * dw) * (norm(d) + k * dw), dot(p, d) - k * w * k * dw,
                   (norm(p) - k * w) * (norm(p) + k * w), dot(side, side) - dot(turned, turned)};
    if (q.a < 0) q.root = fmax(q.root, 0); /* it is no less, but for rounding */
    double s, t;
    ray->missed = ray->missed || !(q.root > 0 || q.a < 0) || (q.a > 0 && w * q.a < dw * q.b);
    if (ray->missed) return;
    zeros_of(&q, &s, &t);
    if (q.a <= 0 && dw > 0)
        s = t, t = INFINITY;
    else if (q.a <= 0)
        t = s, s = -INFINITY;
    ray->missed = s == INFINITY; /* a = 0: the other cone's */
    if (s > -INFINITY) enter_at(ray, s, cone_normal(ray, s, k, top));
    ray->leave = fmin(ray->leave, t);
}

/* ---- meshes -------------------------------------------------------------------------------------- */

typedef struct MeshRay {
    const sti_Mesh *mesh;
    st_Vec3 p, d, normal;
    double limit;
    bool both_sides;
    bool hit;
} MeshRay;

/* Moeller & Trumbore 1997; a solid is entered from the front only. */
static bool try_triangle(void *ctx, int item)
{
    MeshRay *ray = ctx;
    const sti_Triangle *t = &ray->mesh->triangle[item];
    st_Vec3 a = ray->mesh->vertex[t->vertex[0]], u = sub(ray->mesh->vertex[t->vertex[1]], a);
    st_Vec3 v = sub(ray->mesh->vertex[t->vertex[2]], a), h = cross(ray->d, v), w = sub(ray->p, a), q = cross(w, u);
    double det = dot(u, h), along = dot(t->normal, ray->d);
    if (det == 0 || (!ray->both_sides && along >= 0)) return true;
    double x = dot(w, h) / det, y = dot(ray->d, q) / det, s = dot(v, q) / det;
    const double slack = 1e-12; /* no ray slips through between two triangles */
    if (x < -slack || y < -slack || x + y > 1 + slack || s < 0 || s > ray->limit) return true;
    ray->limit = s;
    ray->normal = along < 0 ? t->normal : scale(-1, t->normal);
    ray->hit = true;
    return true;
}

static bool ray_mesh(const sti_Mesh *mesh, bool both_sides, st_Vec3 p, st_Vec3 d, double limit, double *s,
                     st_Vec3 *normal)
{
    MeshRay ray = {.mesh = mesh, .p = p, .d = d, .limit = limit, .both_sides = both_sides};
    sti_tree_ray(&mesh->tree, p, d, &ray.limit, try_triangle, &ray);
    *s = ray.limit;
    *normal = ray.normal;
    return ray.hit;
}

/* ---- all shapes ---------------------------------------------------------------------------------- */

bool sti_ray_shape(const sti_Shape *shape, st_Pose pose, st_Vec3 from, st_Vec3 way, double limit, double *s,
                   st_Vec3 *normal)
{
    Ray ray = {.p = rotate_back(pose.q, sub(from, pose.p)),
               .d = rotate_back(pose.q, way),
               .enter = -INFINITY,
               .leave = INFINITY};
    const sti_Facets *f;
    switch (shape->type) {
    case ST_SHAPE_POINT:
    case ST_SHAPE_BAR:
        return false;
    case ST_SHAPE_PLANE:
        cut_half_space(&ray, vec3(0, 0, 1), 0);
        break;
    case ST_SHAPE_SPHERE:
        cut_ball(&ray, vec3(0, 0, 0), shape->radius);
        break;
    case ST_SHAPE_BOX:
        for (int e = 0; e < 3; e++) {
            const double half[3] = {shape->half.x, shape->half.y, shape->half.z};
            cut_half_space(&ray, vec3_axis(e), half[e]);
            cut_half_space(&ray, scale(-1, vec3_axis(e)), half[e]);
        }
        break;
    case ST_SHAPE_CAPSULE:
        ray = cut_capsule(ray, shape->radius, 0.5 * shape->length);
        break;
    case ST_SHAPE_CYLINDER:
        cut_tube(&ray, shape->radius);
        cut_half_space(&ray, vec3(0, 0, 1), 0.5 * shape->length);
        cut_half_space(&ray, vec3(0, 0, -1), 0.5 * shape->length);
        break;
    case ST_SHAPE_CONE:
        cut_cone(&ray, shape->radius / shape->length, 0.75 * shape->length);
        cut_half_space(&ray, vec3(0, 0, -1), 0.25 * shape->length);
        break;
    case ST_SHAPE_ELLIPSOID:
        cut_ellipsoid(&ray, shape->half);
        break;
    case ST_SHAPE_HULL:
        f = &shape->hull->facets;
        for (int k = 0; k < f->n_faces; k++)
            cut_half_space(&ray, f->normal[k], f->offset[k]);
        break;
    case ST_SHAPE_MESH:
    case ST_SHAPE_HEIGHT_FIELD:
        /* a height field has neither walls nor a floor that would show who is inside: a surface, like a sheet */
        if (!ray_mesh(shape->mesh, shape->type == ST_SHAPE_HEIGHT_FIELD || !shape->mesh->solid, ray.p, ray.d, limit, s,
                      normal))
            return false;
        *normal = rotate(pose.q, *normal);
        return true;
    }
    if (!entered(&ray, limit)) return false;
    *s = ray.enter;
    *normal = rotate(pose.q, ray.normal);
    return true;
}
