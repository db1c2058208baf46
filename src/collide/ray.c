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

/* a s^2 + 2 b s + c <= 0 with a > 0; `gradient` gives the normal at a point. */
static void cut_quadric(Ray *ray, double a, double b, double c, st_Vec3 (*gradient)(st_Vec3, const void *),
                        const void *ctx)
{
    double root = b * b - a * c;
    if (!(root > 0)) {
        ray->missed = true;
        return;
    }
    root = sqrt(root);
    double q = -(b + copysign(root, b)), s = b > 0 ? q / a : c / q, t = b > 0 ? c / q : q / a;
    if (b == 0) s = -root / a, t = root / a;
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

static void cut_ball(Ray *ray, st_Vec3 centre, double r)
{
    st_Vec3 x = sub(ray->p, centre);
    cut_quadric(ray, 1, dot(x, ray->d), dot(x, x) - r * r, ball_gradient, &centre);
}

/* x^2 + y^2 <= r^2 */
static void cut_tube(Ray *ray, double r)
{
    double a = ray->d.x * ray->d.x + ray->d.y * ray->d.y, c = ray->p.x * ray->p.x + ray->p.y * ray->p.y - r * r;
    if (a > 0)
        cut_quadric(ray, a, ray->p.x * ray->d.x + ray->p.y * ray->d.y, c, tube_gradient, NULL);
    else if (c > 0)
        ray->missed = true;
}

static void cut_ellipsoid(Ray *ray, st_Vec3 h)
{
    st_Vec3 p = vec3(ray->p.x / h.x, ray->p.y / h.y, ray->p.z / h.z);
    st_Vec3 d = vec3(ray->d.x / h.x, ray->d.y / h.y, ray->d.z / h.z);
    cut_quadric(ray, dot(d, d), dot(p, d), dot(p, p) - 1, ellipsoid_gradient, &h);
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

/* Side of a cone: |(x, y)| = k (top - z), below the apex. */
static Ray cut_cone(Ray ray, double r, double length)
{
    double k = r / length, top = 0.75 * length, z = top - ray.p.z, dz = -ray.d.z;
    double a = ray.d.x * ray.d.x + ray.d.y * ray.d.y - k * k * dz * dz;
    double b = ray.p.x * ray.d.x + ray.p.y * ray.d.y - k * k * z * dz;
    double c = ray.p.x * ray.p.x + ray.p.y * ray.p.y - k * k * z * z;
    Ray best = ray, base = ray;
    best.missed = true;
    bool inside = z >= 0 && z <= length && c <= 0;
    double root = b * b - a * c;
    for (int sign = -1; sign <= 1 && root >= 0 && !inside && fabs(a) > 1e-14; sign += 2) {
        double s = (-b + sign * sqrt(root)) / a;
        st_Vec3 x = add(ray.p, scale(s, ray.d)), n = vec3(x.x, x.y, k * k * (top - x.z));
        double below = top - x.z;
        if (s >= 0 && below > 0 && below <= length && dot(n, ray.d) < 0 && (best.missed || s < best.enter)) {
            best = ray;
            best.enter = s, best.normal = scale(1 / norm(n), n);
        }
    }
    double s = (-0.25 * length - ray.p.z) / ray.d.z;
    st_Vec3 x = add(ray.p, scale(s, ray.d));
    if (!inside && ray.d.z > 0 && s >= 0 && hypot(x.x, x.y) <= r && (best.missed || s < best.enter)) {
        base.enter = s, base.normal = vec3(0, 0, -1);
        best = base;
    }
    return best;
}

/* ---- meshes -------------------------------------------------------------------------------------- */

typedef struct MeshRay {
    const sti_Mesh *mesh;
    st_Vec3 p, d, normal;
    double limit;
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
    if (det == 0 || (ray->mesh->solid && along >= 0)) return true;
    double x = dot(w, h) / det, y = dot(ray->d, q) / det, s = dot(v, q) / det;
    const double slack = 1e-12; /* no ray slips through between two triangles */
    if (x < -slack || y < -slack || x + y > 1 + slack || s < 0 || s > ray->limit) return true;
    ray->limit = s;
    ray->normal = along < 0 ? t->normal : scale(-1, t->normal);
    ray->hit = true;
    return true;
}

static bool ray_mesh(const sti_Mesh *mesh, st_Vec3 p, st_Vec3 d, double limit, double *s, st_Vec3 *normal)
{
    MeshRay ray = {.mesh = mesh, .p = p, .d = d, .limit = limit};
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
        ray = cut_cone(ray, shape->radius, shape->length);
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
        if (!ray_mesh(shape->mesh, ray.p, ray.d, limit, s, normal)) return false;
        *normal = rotate(pose.q, *normal);
        return true;
    }
    if (!entered(&ray, limit)) return false;
    *s = ray.enter;
    *normal = rotate(pose.q, ray.normal);
    return true;
}
