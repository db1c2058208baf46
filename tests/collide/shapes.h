/* tests/collide/shapes.h -- random shapes, compiled by the library and as polytopes of the oracle. */
#ifndef STI_TEST_SHAPES_H
#define STI_TEST_SHAPES_H

#include "collide/collide.h"
#include "oracle.h"

static inline st_Vec3 random_vec(check_Random *random, double size)
{
    double x = check_random(random, -size, size), y = check_random(random, -size, size);
    return vec3(x, y, check_random(random, -size, size));
}

static inline st_Vec3 random_unit(check_Random *random)
{
    for (;;) {
        st_Vec3 v = random_vec(random, 1);
        double length = norm(v);
        if (length > 0.1 && length < 1) return scale(1 / length, v);
    }
}

/* Here and elsewhere each draw is a statement of its own: arguments are evaluated in an order that compilers choose. */
static inline st_Quat random_quat(check_Random *random)
{
    double angle = check_random(random, 0, 3);
    return quat_exp(scale(angle, random_unit(random)));
}

/* Quarter turns: parallel faces and edges. */
static inline st_Quat square_quat(check_Random *random)
{
    st_Quat q = {1, 0, 0, 0};
    for (int k = 0; k < 3; k++)
        q = quat_product(q, quat_exp(scale(1.5707963267948966 * check_random_int(random, 0, 3), vec3_axis(k))));
    return q;
}

typedef struct TestShape {
    st_ShapeDef def;
    sti_Shape shape;
    st_Vec3 points[ORACLE_MAX];
} TestShape;

static inline void compile_shape(TestShape *s)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    check_ok(sti_shape_compile(&s->def, &allocator, &s->shape, &err), err);
}

static inline void free_shape(TestShape *s)
{
    st_Allocator allocator = st_default_allocator();
    sti_shape_free(&allocator, &s->shape);
}

static inline void random_shape(check_Random *random, st_ShapeType type, double size, TestShape *out)
{
    double a = size * check_random(random, 0.2, 1), b = size * check_random(random, 0.2, 1);
    double c = size * check_random(random, 0.2, 1);
    int n = check_random_int(random, 4, 20);
    switch (type) {
    case ST_SHAPE_POINT:
        out->def = st_point_def();
        break;
    case ST_SHAPE_BAR:
        out->def = st_bar_def(2 * a);
        break;
    case ST_SHAPE_SPHERE:
        out->def = st_sphere_def(a);
        break;
    case ST_SHAPE_BOX:
        out->def = st_box_def(a, b, c);
        break;
    case ST_SHAPE_CAPSULE:
        out->def = st_capsule_def(0.5 * a, 2 * b);
        break;
    case ST_SHAPE_CYLINDER:
        out->def = st_cylinder_def(a, 2 * b);
        break;
    case ST_SHAPE_CONE:
        out->def = st_cone_def(a, 2 * b);
        break;
    case ST_SHAPE_ELLIPSOID:
        out->def = st_ellipsoid_def(a, b, c);
        break;
    case ST_SHAPE_HULL:
        for (int k = 0; k < n; k++)
            out->points[k] = scale(a, random_unit(random));
        out->def = st_hull_def(out->points, n);
        break;
    case ST_SHAPE_PLANE:
    case ST_SHAPE_MESH:
    case ST_SHAPE_HEIGHT_FIELD:
        fail_msg("not a bounded convex shape");
        break;
    }
    compile_shape(out);
}

static inline void add_triangle(Poly *p, int i, int j, int k)
{
    p->t[p->nt][0] = i, p->t[p->nt][1] = j, p->t[p->nt][2] = k;
    p->nt++;
}

/* Placed at `pose`; false where the shape is no polytope with a radius. */
static inline bool poly_of(const TestShape *s, st_Pose pose, Poly *out)
{
    const st_ShapeDef *d = &s->def;
    memset(out, 0, sizeof *out);
    switch (d->type) {
    case ST_SHAPE_POINT:
    case ST_SHAPE_SPHERE:
        out->nv = 1;
        out->v[0] = pose.p;
        out->radius = d->radius;
        return true;
    case ST_SHAPE_BAR:
    case ST_SHAPE_CAPSULE: {
        st_Vec3 h = d->type == ST_SHAPE_BAR ? vec3(d->length / 2, 0, 0) : vec3(0, 0, d->length / 2);
        out->nv = 2, out->ne = 1, out->e[0][1] = 1;
        out->v[0] = pose_point(pose, h), out->v[1] = pose_point(pose, scale(-1, h));
        out->radius = d->radius;
        return true;
    }
    case ST_SHAPE_BOX:
        out->nv = 8;
        for (int k = 0; k < 8; k++)
            out->v[k] = pose_point(pose, vec3(k & 1 ? d->half.x : -d->half.x, k & 2 ? d->half.y : -d->half.y,
                                              k & 4 ? d->half.z : -d->half.z));
        for (int e = 0; e < 3; e++) {
            out->n[out->nn++] = rotate(pose.q, vec3_axis(e));
            out->n[out->nn++] = rotate(pose.q, scale(-1, vec3_axis(e)));
            for (int k = 0; k < 8; k++)
                if ((k >> e & 1) == 0) out->e[out->ne][0] = k, out->e[out->ne][1] = k | 1 << e, out->ne++;
            for (int side = 0; side < 2; side++) {
                int u = 1 << (e + 1) % 3, w = 1 << (e + 2) % 3, base = side << e;
                add_triangle(out, base, base | u, base | u | w);
                add_triangle(out, base, base | u | w, base | w);
            }
        }
        return true;
    case ST_SHAPE_HULL: {
        const sti_Facets *f = &s->shape.hull->facets;
        out->nv = f->n_vertices;
        for (int k = 0; k < f->n_vertices; k++)
            out->v[k] = pose_point(pose, f->vertex[k]);
        for (int k = 0; k < f->n_faces; k++) {
            const int *loop = f->face_vertex + f->face_first[k];
            out->n[out->nn++] = rotate(pose.q, f->normal[k]);
            for (int i = 1; i + 1 < f->face_first[k + 1] - f->face_first[k]; i++)
                add_triangle(out, loop[0], loop[i], loop[i + 1]);
        }
        for (int k = 0; k < f->n_edges; k++)
            out->e[out->ne][0] = f->edge[4 * k], out->e[out->ne][1] = f->edge[4 * k + 1], out->ne++;
        return true;
    }
    default:
        return false;
    }
}

/* Farthest point of a shape along d, written once more. */
static inline st_Vec3 farthest(const TestShape *s, st_Pose pose, st_Vec3 d)
{
    Poly p;
    st_Vec3 l = rotate_back(pose.q, d), best = vec3(0, 0, 0);
    double r = s->def.radius, across = hypot(l.x, l.y), h = s->def.length;
    st_Vec3 rim = across > 0 ? vec3(r * l.x / across, r * l.y / across, 0) : vec3(r, 0, 0);
    switch (s->def.type) {
    case ST_SHAPE_CYLINDER:
        best = vec3(rim.x, rim.y, l.z >= 0 ? h / 2 : -h / 2);
        break;
    case ST_SHAPE_CONE:
        best = vec3(rim.x, rim.y, -h / 4);
        if (0.75 * h * l.z > dot(best, l)) best = vec3(0, 0, 0.75 * h);
        break;
    case ST_SHAPE_ELLIPSOID: {
        st_Vec3 x = s->def.half;
        double scale_ = sqrt(x.x * x.x * l.x * l.x + x.y * x.y * l.y * l.y + x.z * x.z * l.z * l.z);
        best = vec3(x.x * x.x * l.x / scale_, x.y * x.y * l.y / scale_, x.z * x.z * l.z / scale_);
        break;
    }
    default: {
        poly_of(s, pose, &p);
        int top = 0;
        for (int k = 1; k < p.nv; k++)
            if (dot(d, p.v[k]) > dot(d, p.v[top])) top = k;
        return add(p.v[top], scale(p.radius / norm(d), d));
    }
    }
    return pose_point(pose, best);
}

/* Distance of a point to the solid, 0 inside; for an ellipsoid the way to its surface along the ray from the middle,
 * which is no less.                                                                               */
static inline double outside_shape(const TestShape *s, st_Pose pose, const Poly *poly, st_Vec3 x)
{
    st_Vec3 l = rotate_back(pose.q, sub(x, pose.p));
    double r = s->def.radius, h = s->def.length, across = hypot(l.x, l.y);
    switch (s->def.type) {
    case ST_SHAPE_CYLINDER:
        return hypot(fmax(0, across - r), fmax(0, fabs(l.z) - h / 2));
    case ST_SHAPE_CONE: { /* half a triangle in the plane of x and the axis */
        if (l.z >= -h / 4 && across * h <= r * (0.75 * h - l.z)) return 0;
        st_Vec3 at = vec3(across, 0, l.z), rim = vec3(r, 0, -h / 4);
        return fmin(point_segment(at, rim, vec3(0, 0, 0.75 * h)), point_segment(at, rim, vec3(0, 0, -h / 4)));
    }
    case ST_SHAPE_ELLIPSOID: {
        st_Vec3 e = s->def.half;
        double level = norm(vec3(l.x / e.x, l.y / e.y, l.z / e.z));
        return level > 1 ? norm(l) * (1 - 1 / level) : 0;
    }
    default:
        return outside(poly, x);
    }
}

static inline double separation(const TestShape *a, st_Pose pose_a, const TestShape *b, st_Pose pose_b, st_Vec3 n)
{
    return dot(n, sub(farthest(b, pose_b, scale(-1, n)), farthest(a, pose_a, n)));
}

#endif
