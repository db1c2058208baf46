/* bench/peers/hulls.c -- random convex hulls: their triangles, centre of mass and principal axes. */
#include "make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 16 };

/* Volume integrals of a solid between its surface and the origin, by tetrahedra. */
typedef struct Moments {
    double volume;
    st_Vec3 first;
    double second[9]; /* of x x' */
} Moments;

/* Points in general position on a sphere: a triangle is a face if all other points are on its inner side. */
static void find_triangles(Hull *hull)
{
    int n = hull->n_points;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                if (i >= j || i >= k || j == k) continue; /* smallest first, the two others in either order */
                st_Vec3 a = hull->points[i];
                st_Vec3 normal = cross(sub(hull->points[j], a), sub(hull->points[k], a));
                bool face = true;
                for (int l = 0; l < n && face; l++)
                    face = l == i || l == j || l == k || dot(normal, sub(hull->points[l], a)) < 0;
                if (!face) continue;
                int *triangle = &hull->triangles[3 * hull->n_triangles++];
                triangle[0] = i, triangle[1] = j, triangle[2] = k;
            }
}

static Moments moments(const Hull *hull)
{
    Moments sum = {.volume = 0};
    for (int t = 0; t < hull->n_triangles; t++) {
        const int *c = &hull->triangles[3 * t];
        double p[3][3], s[3];
        for (int k = 0; k < 3; k++)
            vec3_store(p[k], hull->points[c[k]]);
        double volume = dot(hull->points[c[0]], cross(hull->points[c[1]], hull->points[c[2]])) / 6;
        for (int k = 0; k < 3; k++)
            s[k] = p[0][k] + p[1][k] + p[2][k];
        sum.volume += volume;
        sum.first = add(sum.first, scale(volume / 4, vec3_load(s)));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double products = s[i] * s[j];
                for (int k = 0; k < 3; k++)
                    products += p[k][i] * p[k][j];
                sum.second[3 * i + j] += volume / 20 * products;
            }
    }
    return sum;
}

/* Eigenvectors of a symmetric matrix as a rotation, by Jacobi's method; a becomes diagonal. */
static st_Quat principal_axes(double a[9])
{
    st_Quat q = {1, 0, 0, 0};
    for (int sweep = 0; sweep < 30; sweep++)
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double apart = a[3 * i + i] - a[3 * j + j],
                   angle = 0.5 * atan(2 * a[3 * i + j] / (apart != 0 ? apart : 1e-300));
            double c = cos(angle), s = sin(angle); /* at most 45 degrees: larger ones may cycle */
            double b[9], r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
            r[3 * i + i] = r[3 * j + j] = c;
            r[3 * i + j] = -s;
            r[3 * j + i] = s;
            for (int l = 0; l < 9; l++) /* b = a r */
                b[l] = a[l / 3 * 3] * r[l % 3] + a[l / 3 * 3 + 1] * r[3 + l % 3] + a[l / 3 * 3 + 2] * r[6 + l % 3];
            for (int l = 0; l < 9; l++) /* a = r' b */
                a[l] = r[l / 3] * b[l % 3] + r[3 + l / 3] * b[3 + l % 3] + r[6 + l / 3] * b[6 + l % 3];
            q = quat_product(q, quat_exp(scale(angle, vec3_axis(k))));
        }
    return q;
}

/* Random points on an ellipsoid inside the sphere of radius R; then the frame moves to the centre of mass. */
static void make_hull(Scene *scene, Body *body, double radius, uint64_t *seed)
{
    Hull *hull = add_hull(scene);
    st_Vec3 axes = {1, 0.75 + 0.25 * random_number(seed), 0.75 + 0.25 * random_number(seed)};
    hull->n_points = POINTS;
    hull->points = calloc(POINTS, sizeof *hull->points);
    hull->triangles = calloc(3 * 2 * (size_t)POINTS, sizeof *hull->triangles);
    if (hull->points == NULL || hull->triangles == NULL) exit(1);
    for (int k = 0; k < POINTS; k++) {
        st_Vec3 p;
        do
            p = vec3(random_number(seed), random_number(seed), random_number(seed));
        while (norm(p) > 1 || norm(p) < 0.1);
        p = scale(radius / norm(p), p);
        hull->points[k] = vec3(p.x * axes.x, p.y * axes.y, p.z * axes.z);
    }
    find_triangles(hull);
    st_Vec3 centre = moments(hull).first;
    centre = scale(1 / moments(hull).volume, centre);
    for (int k = 0; k < POINTS; k++)
        hull->points[k] = sub(hull->points[k], centre);
    Moments about = moments(hull);
    st_Quat turn = principal_axes(about.second);
    body->shape = (Shape){.type = SHAPE_HULL, .hull = scene->n_hulls - 1};
    for (int k = 0; k < POINTS; k++) {
        hull->points[k] = rotate_back(turn, hull->points[k]);
        body->shape.radius = fmax(body->shape.radius, norm(hull->points[k]));
    }
    const double *s = about.second;
    body->mass = DENSITY * about.volume;
    body->inertia = scale(DENSITY, vec3(s[4] + s[8], s[8] + s[0], s[0] + s[4]));
}

/* n hulls at random attitudes over a box. */
void make_hulls(Scene *scene, double number)
{
    const double radius = 0.1, spacing = 2.05 * radius;
    int n = (int)number, side = (int)fmax(ceil(cbrt(number / 2)), 1);
    uint64_t seed = 7;
    add_container(scene, side * spacing + 0.5 * radius);
    for (int k = 0; k < n; k++) {
        int i = k % side, j = k / side % side, l = k / (side * side);
        st_Vec3 at =
            vec3((i - (side - 1) / 2.0) * spacing, (j - (side - 1) / 2.0) * spacing, 1.5 * radius + l * spacing);
        Body *body = add_body(scene, at);
        make_hull(scene, body, radius, &seed);
        body->pose.q = quat_exp(scale(3, vec3(random_number(&seed), random_number(&seed), random_number(&seed))));
    }
    scene->length = radius;
    scene->mu = 0.5;
    scene->end = 3;
    scene->settled = 2.75;
}
