/* bench/peers/depth.c -- the depth of overlap of two bodies: the length of the shortest translation that separates
 * them.
 *
 * Spheres: closed form. Polyhedra: the smallest overlap of the two shadows over the face normals of both and the
 * products of their edges, which for convex polyhedra is exact (Gottschalk, Lin & Manocha 1996, for boxes). Products
 * of edges count only if the edges' arcs on the Gauss maps cross, because only those are faces of the difference.
 * Capsules among themselves and with spheres: the distance of two segments. Cylinders: the smallest overlap of the
 * two shadows over all directions, by descent from several starts; the result can only be too large, and is the same
 * for all engines.
 */
#include "check.h"

#include "math/quat.h"

enum { MOST_POINTS = 64, MOST_FACES = 128, MOST_EDGES = 192 };

typedef struct Edge {
    st_Vec3 along;       /* world axes */
    st_Vec3 left, right; /* normals of the adjacent faces */
} Edge;

/* A polyhedron placed in the world. */
typedef struct Solid {
    int n_points, n_normals, n_edges;
    st_Vec3 centre;
    st_Vec3 point[MOST_POINTS], normal[MOST_FACES];
    Edge edge[MOST_EDGES];
} Solid;

static void place_box(Solid *solid, st_Pose pose, st_Vec3 half)
{
    st_Vec3 axis[3] = {rotate(pose.q, vec3(1, 0, 0)), rotate(pose.q, vec3(0, 1, 0)), rotate(pose.q, vec3(0, 0, 1))};
    double size[3] = {half.x, half.y, half.z};
    *solid = (Solid){.n_points = 8, .n_normals = 6, .n_edges = 12, .centre = pose.p};
    for (int k = 0; k < 8; k++) {
        st_Vec3 p = vec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
        solid->point[k] = pose_point(pose, p);
    }
    for (int k = 0; k < 3; k++) {
        st_Vec3 u = axis[(k + 1) % 3], v = axis[(k + 2) % 3];
        solid->normal[2 * k] = axis[k];
        solid->normal[2 * k + 1] = scale(-1, axis[k]);
        for (int side = 0; side < 4; side++) {
            Edge *edge = &solid->edge[4 * k + side];
            edge->along = scale(2 * size[k], axis[k]);
            edge->left = scale(side & 1 ? 1 : -1, u);
            edge->right = scale(side & 2 ? 1 : -1, v);
        }
    }
}

static st_Vec3 triangle_normal(const Hull *hull, int t)
{
    const int *corner = &hull->triangles[3 * t];
    st_Vec3 a = hull->points[corner[0]], b = hull->points[corner[1]], c = hull->points[corner[2]];
    st_Vec3 n = cross(sub(b, a), sub(c, a));
    return scale(1 / norm(n), n);
}

/* The triangle that has the edge from p to q. */
static int triangle_with(const Hull *hull, int p, int q)
{
    for (int t = 0; t < hull->n_triangles; t++)
        for (int k = 0; k < 3; k++)
            if (hull->triangles[3 * t + k] == p && hull->triangles[3 * t + (k + 1) % 3] == q) return t;
    return 0;
}

static void place_hull(Solid *solid, st_Pose pose, const Hull *hull)
{
    *solid = (Solid){.n_points = hull->n_points, .n_normals = hull->n_triangles, .centre = pose.p};
    for (int k = 0; k < hull->n_points; k++)
        solid->point[k] = pose_point(pose, hull->points[k]);
    for (int t = 0; t < hull->n_triangles; t++)
        solid->normal[t] = rotate(pose.q, triangle_normal(hull, t));
    for (int t = 0; t < hull->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            int p = hull->triangles[3 * t + k], q = hull->triangles[3 * t + (k + 1) % 3];
            if (p > q) continue; /* each edge once */
            Edge *edge = &solid->edge[solid->n_edges++];
            edge->along = sub(solid->point[q], solid->point[p]);
            edge->left = solid->normal[t];
            edge->right = solid->normal[triangle_with(hull, q, p)];
        }
}

static void place(Solid *solid, const Scene *scene, int body, st_Pose pose)
{
    const Shape *shape = &scene->bodies[body].shape;
    pose.p = pose_point(pose, shape->offset);
    if (shape->type == SHAPE_BOX)
        place_box(solid, pose, shape->half);
    else
        place_hull(solid, pose, &scene->hulls[shape->hull]);
}

/* The overlap of a and b along the unit vector n. */
static double overlap(const Solid *a, const Solid *b, st_Vec3 n)
{
    double high = -INFINITY, low = INFINITY;
    for (int k = 0; k < a->n_points; k++)
        high = fmax(high, dot(n, a->point[k]));
    for (int k = 0; k < b->n_points; k++)
        low = fmin(low, dot(n, b->point[k]));
    return high - low;
}

/* Do the arcs from a.left to a.right and from -b.left to -b.right cross on the sphere? Touching counts. */
static bool arcs_cross(const Edge *a, const Edge *b)
{
    double c_a = dot(a->left, b->along), d_a = dot(a->right, b->along);
    double c_b = dot(b->left, a->along), d_b = dot(b->right, a->along);
    return c_a * d_a <= 0 && c_b * d_b <= 0;
}

static double depth_solids(const Solid *a, const Solid *b)
{
    double depth = INFINITY;
    for (int k = 0; k < a->n_normals && depth > 0; k++)
        depth = fmin(depth, overlap(a, b, a->normal[k]));
    for (int k = 0; k < b->n_normals && depth > 0; k++)
        depth = fmin(depth, overlap(a, b, scale(-1, b->normal[k])));
    for (int i = 0; i < a->n_edges && depth > 0; i++)
        for (int j = 0; j < b->n_edges && depth > 0; j++) {
            st_Vec3 n = cross(a->edge[i].along, b->edge[j].along);
            double length = norm(n);
            /* parallel: covered by the faces */
            if (length < 1e-6 * norm(a->edge[i].along) * norm(b->edge[j].along)) continue;
            if (!arcs_cross(&a->edge[i], &b->edge[j])) continue;
            n = scale((dot(n, sub(b->centre, a->centre)) > 0 ? 1 : -1) / length, n);
            depth = fmin(depth, overlap(a, b, n));
        }
    return depth;
}

/* Sphere against box: the distance of its centre from the box, or the way out if it is inside. */
static double depth_sphere_box(st_Vec3 centre, double radius, st_Pose box, st_Vec3 half)
{
    st_Vec3 p = rotate_back(box.q, sub(centre, box.p));
    st_Vec3 out = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
    double inside = fmax(out.x, fmax(out.y, out.z));
    if (inside <= 0) return radius - inside;
    return radius - norm(vec3(fmax(out.x, 0), fmax(out.y, 0), fmax(out.z, 0)));
}

/* ---- round shapes ------------------------------------------------------------------------------ */

static bool is_round(ShapeType type)
{
    return type == SHAPE_CAPSULE || type == SHAPE_CYLINDER;
}

static bool is_swept_ball(ShapeType type)
{
    return type == SHAPE_CAPSULE || type == SHAPE_SPHERE;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : (x > high ? high : x);
}

/* Distance of the segments p +- s u, |s| <= a, and q +- t v, |t| <= b; u and v are unit vectors. */
static double segment_distance(st_Vec3 p, st_Vec3 u, double a, st_Vec3 q, st_Vec3 v, double b)
{
    st_Vec3 w = sub(q, p);
    double c = dot(u, v), d = dot(u, w), e = dot(v, w), sine = 1 - c * c;
    double s = sine > 1e-12 ? clamp((d - c * e) / sine, -a, a) : 0, t = clamp(s * c - e, -b, b);
    s = clamp(t * c + d, -a, a);
    return norm(sub(add(w, scale(t, v)), scale(s, u)));
}

/* How far a shape reaches from its centre along the unit vector n of the world. */
static double reach(const Scene *scene, const Shape *shape, st_Quat q, st_Vec3 n)
{
    st_Vec3 m = rotate_back(q, n), half = shape->half;
    double far = -INFINITY;
    switch (shape->type) {
    case SHAPE_SPHERE:
        return shape->radius;
    case SHAPE_BOX:
        return fabs(m.x) * half.x + fabs(m.y) * half.y + fabs(m.z) * half.z;
    case SHAPE_CAPSULE:
        return fabs(m.z) * half.z + half.x;
    case SHAPE_CYLINDER:
        return fabs(m.z) * half.z + half.x * sqrt(m.x * m.x + m.y * m.y);
    case SHAPE_HULL:
        for (int k = 0; k < scene->hulls[shape->hull].n_points; k++)
            far = fmax(far, dot(m, scene->hulls[shape->hull].points[k]));
        return far;
    case SHAPE_NONE:
        break;
    }
    return 0;
}

typedef struct Placed {
    const Scene *scene;
    const Shape *shape[2];
    st_Quat q[2];
    st_Vec3 apart; /* from centre to centre */
} Placed;

static double overlap_along(const Placed *p, st_Vec3 n)
{
    return reach(p->scene, p->shape[0], p->q[0], n) + reach(p->scene, p->shape[1], p->q[1], scale(-1, n)) -
           dot(n, p->apart);
}

/* Descends over directions in decreasing steps; ends early if the two are apart. Rims cause creases in the function,
 * along which two fixed directions do not descend (a rod on a rod: 2 mm instead of 0.1), so the directions rotate
 * from round to round. */
static double descend(const Placed *p, st_Vec3 n)
{
    enum { TURNS = 8, ROUNDS = 60 };
    double least = overlap_along(p, n);
    for (double step = 0.3; step > 1e-7 && least > 0; step *= 0.5)
        for (int round = 0, failed = 0; round < ROUNDS && failed < TURNS && least > 0; round++) {
            st_Vec3 side = fabs(n.x) < 0.7 ? vec3(1, 0, 0) : vec3(0, 1, 0), u = cross(n, side), v;
            u = scale(1 / norm(u), u);
            v = cross(n, u);
            failed++;
            for (int k = 0; k < 4; k++) {
                const double angle = 1.5707963267948966 * k + 0.1963495408493621 * round;
                st_Vec3 m = add(n, add(scale(step * cos(angle), u), scale(step * sin(angle), v)));
                m = scale(1 / norm(m), m);
                double x = overlap_along(p, m);
                if (x < least - 1e-16) least = x, n = m, failed = 0;
            }
        }
    return least;
}

static double depth_round(const Scene *scene, const Shape *a, st_Pose at_a, const Shape *b, st_Pose at_b)
{
    Placed p = {scene, {a, b}, {at_a.q, at_b.q}, sub(at_b.p, at_a.p)};
    double distance = norm(p.apart), depth = INFINITY;
    st_Vec3 start[7], axis[6];
    int n = 0;
    if (distance > 0) start[n++] = scale(1 / distance, p.apart);
    for (int k = 0; k < 6; k++) {
        axis[k] = rotate(k < 3 ? at_a.q : at_b.q, vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2));
        if (k % 3 != 2 && is_round(k < 3 ? a->type : b->type)) continue; /* a round shape has only one axis */
        start[n++] = scale(dot(axis[k], p.apart) < 0 ? -1 : 1, axis[k]);
    }
    st_Vec3 across = cross(axis[2], axis[5]);
    if (norm(across) > 1e-6 && n < 7) start[n++] = scale((dot(across, p.apart) < 0 ? -1 : 1) / norm(across), across);
    for (int k = 0; k < n && depth > 0; k++)
        depth = fmin(depth, overlap_along(&p, start[k]));
    for (int k = 0; k < n && depth > 0; k++)
        depth = fmin(depth, descend(&p, start[k]));
    return depth;
}

double depth_pair(const Scene *scene, int a, st_Pose pose_a, int b, st_Pose pose_b)
{
    const Shape *shape_a = &scene->bodies[a].shape, *shape_b = &scene->bodies[b].shape;
    if (is_round(shape_a->type) || is_round(shape_b->type)) {
        const st_Pose at_a = {pose_point(pose_a, shape_a->offset), pose_a.q};
        const st_Pose at_b = {pose_point(pose_b, shape_b->offset), pose_b.q};
        if (!is_swept_ball(shape_a->type) || !is_swept_ball(shape_b->type))
            return depth_round(scene, shape_a, at_a, shape_b, at_b);
        const double r_a = shape_a->type == SHAPE_SPHERE ? shape_a->radius : shape_a->half.x;
        const double r_b = shape_b->type == SHAPE_SPHERE ? shape_b->radius : shape_b->half.x;
        return r_a + r_b -
               segment_distance(at_a.p, rotate(at_a.q, vec3(0, 0, 1)), shape_a->half.z, at_b.p,
                                rotate(at_b.q, vec3(0, 0, 1)), shape_b->half.z);
    }
    if (shape_a->type == SHAPE_SPHERE && shape_b->type == SHAPE_SPHERE) {
        st_Vec3 apart = sub(pose_point(pose_b, shape_b->offset), pose_point(pose_a, shape_a->offset));
        return shape_a->radius + shape_b->radius - norm(apart);
    }
    if (shape_b->type == SHAPE_SPHERE) return depth_pair(scene, b, pose_b, a, pose_a);
    if (shape_a->type == SHAPE_SPHERE) {
        st_Pose box = {pose_point(pose_b, shape_b->offset), pose_b.q};
        return depth_sphere_box(pose_point(pose_a, shape_a->offset), shape_a->radius, box, shape_b->half);
    }
    Solid solid_a, solid_b;
    place(&solid_a, scene, a, pose_a);
    place(&solid_b, scene, b, pose_b);
    return depth_solids(&solid_a, &solid_b);
}

double depth_plane(const Scene *scene, int body, st_Pose pose, const Plane *plane)
{
    const Shape *shape = &scene->bodies[body].shape;
    double height = dot(plane->normal, pose_point(pose, shape->offset)) - plane->distance;
    if (height > shape->radius) return shape->radius - height;
    return reach(scene, shape, pose.q, scale(-1, plane->normal)) - height;
}
