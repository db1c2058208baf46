/* bench/peers/depth.c -- how deep two bodies overlap: the length of the shortest translation that parts them.
 *
 * Spheres: closed form. Polyhedra: the smallest overlap of the two shadows over the face normals of both and the
 * products of their edges, which for convex polyhedra is exact (Gottschalk, Lin & Manocha 1996, for boxes). Products
 * of edges count only where the edges' arcs on the Gauss maps cross, as only those are faces of the difference.
 */
#include "check.h"

#include "math/quat.h"

enum { MOST_POINTS = 64, MOST_FACES = 128, MOST_EDGES = 192 };

typedef struct Edge {
    st_Vec3 along;       /* world axes */
    st_Vec3 left, right; /* normals of the faces it parts */
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

/* Along the unit vector n, how far a reaches beyond the near end of b. */
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
            if (length < 1e-6 * norm(a->edge[i].along) * norm(b->edge[j].along)) continue; /* parallel: a face's case */
            if (!arcs_cross(&a->edge[i], &b->edge[j])) continue;
            n = scale((dot(n, sub(b->centre, a->centre)) > 0 ? 1 : -1) / length, n);
            depth = fmin(depth, overlap(a, b, n));
        }
    return depth;
}

/* Sphere against box: the distance of its centre from the box, or the way out where it is inside. */
static double depth_sphere_box(st_Vec3 centre, double radius, st_Pose box, st_Vec3 half)
{
    st_Vec3 p = rotate_back(box.q, sub(centre, box.p));
    st_Vec3 out = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
    double inside = fmax(out.x, fmax(out.y, out.z));
    if (inside <= 0) return radius - inside;
    return radius - norm(vec3(fmax(out.x, 0), fmax(out.y, 0), fmax(out.z, 0)));
}

double depth_pair(const Scene *scene, int a, st_Pose pose_a, int b, st_Pose pose_b)
{
    const Shape *shape_a = &scene->bodies[a].shape, *shape_b = &scene->bodies[b].shape;
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
    st_Vec3 centre = pose_point(pose, shape->offset);
    double low = INFINITY, height = dot(plane->normal, centre) - plane->distance;
    if (shape->type == SHAPE_SPHERE || height > shape->radius) return shape->radius - height;
    if (shape->type == SHAPE_BOX) {
        st_Vec3 n = rotate_back(pose.q, plane->normal), half = shape->half;
        return fabs(n.x) * half.x + fabs(n.y) * half.y + fabs(n.z) * half.z - height;
    }
    const Hull *hull = &scene->hulls[shape->hull];
    st_Vec3 n = rotate_back(pose.q, plane->normal);
    for (int k = 0; k < hull->n_points; k++)
        low = fmin(low, dot(n, hull->points[k]));
    return -(height + low);
}
