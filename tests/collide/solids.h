/* tests/collide/solids.h -- closed meshes, convex and not, and the intersection of two of them by brute force: every
 * triangle against every triangle, using only vectors and poses of the library. */
#ifndef STI_TEST_SOLIDS_H
#define STI_TEST_SOLIDS_H

#include "check.h"
#include "math/quat.h"

#include <stiction/scene.h>
#include <string.h>

#define SOLID_POINTS    128
#define SOLID_TRIANGLES 256
#define SOLID_PI        3.14159265358979323846

typedef struct Solid {
    const char *name;
    int n_points, n_triangles;
    st_Vec3 point[SOLID_POINTS];
    int triangle[3 * SOLID_TRIANGLES];
} Solid;

static inline void solid_triangle(Solid *s, int a, int b, int c)
{
    int *t = s->triangle + 3 * s->n_triangles++;
    t[0] = a, t[1] = b, t[2] = c;
}

static inline void solid_quad(Solid *s, int a, int b, int c, int d)
{
    solid_triangle(s, a, b, c);
    solid_triangle(s, a, c, d);
}

/* ---- the solids ---- */

static inline void solid_cube(Solid *s)
{
    *s = (Solid){.name = "cube", .n_points = 8};
    for (int k = 0; k < 8; k++)
        s->point[k] = vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    solid_quad(s, 0, 2, 3, 1), solid_quad(s, 4, 5, 7, 6), solid_quad(s, 0, 1, 5, 4);
    solid_quad(s, 2, 6, 7, 3), solid_quad(s, 0, 4, 6, 2), solid_quad(s, 1, 3, 7, 5);
}

/* Two arms of width 1 in the plane, 1 thick. */
static inline void solid_ell(Solid *s)
{
    static const double x[6] = {-1, 1, 1, 0, 0, -1}, y[6] = {-1, -1, 0, 0, 1, 1};
    *s = (Solid){.name = "L", .n_points = 12};
    for (int k = 0; k < 6; k++)
        s->point[k] = vec3(x[k], y[k], -0.5), s->point[k + 6] = vec3(x[k], y[k], 0.5);
    for (int k = 0; k < 6; k++)
        solid_quad(s, k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6);
    const int top[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}};
    for (int k = 0; k < 4; k++) {
        solid_triangle(s, top[k][0] + 6, top[k][1] + 6, top[k][2] + 6);
        solid_triangle(s, top[k][0], top[k][2], top[k][1]);
    }
}

static inline void solid_torus(Solid *s)
{
    enum { AROUND = 12, ACROSS = 8 };
    *s = (Solid){.name = "torus", .n_points = AROUND * ACROSS};
    for (int i = 0; i < AROUND; i++)
        for (int j = 0; j < ACROSS; j++) {
            double u = 2 * SOLID_PI * i / AROUND, v = 2 * SOLID_PI * j / ACROSS, r = 1 + 0.4 * cos(v);
            s->point[i * ACROSS + j] = vec3(r * cos(u), r * sin(u), 0.4 * sin(v));
            int p = i * ACROSS + j, q = (i + 1) % AROUND * ACROSS + j;
            int p1 = i * ACROSS + (j + 1) % ACROSS, q1 = (i + 1) % AROUND * ACROSS + (j + 1) % ACROSS;
            solid_quad(s, p, q, q1, p1);
        }
}

/* A cube with a tall pyramid on each face: the cube's edges are hollow. */
static inline void solid_star(Solid *s)
{
    Solid cube;
    solid_cube(&cube);
    *s = (Solid){.name = "star", .n_points = 8};
    memcpy(s->point, cube.point, 8 * sizeof s->point[0]);
    for (int k = 0; k < 8; k++)
        s->point[k] = scale(0.5, s->point[k]);
    for (int f = 0; f < 6; f++) {
        const int *t = cube.triangle + 6 * (ptrdiff_t)f; /* a b c, a c d */
        const int loop[4] = {t[0], t[1], t[2], t[5]};
        st_Vec3 middle = scale(0.5, add(s->point[loop[0]], s->point[loop[2]]));
        int tip = s->n_points++;
        s->point[tip] = scale(1.4 / norm(middle), middle);
        for (int k = 0; k < 4; k++)
            solid_triangle(s, loop[k], loop[(k + 1) % 4], tip);
    }
}

/* A long thin wedge-ended bar. */
static inline void solid_needle(Solid *s)
{
    solid_cube(s);
    s->name = "needle";
    for (int k = 0; k < 8; k++) {
        double thin = s->point[k].z > 0 ? 0.12 : 0.2;
        s->point[k] = vec3(thin * s->point[k].x, 0.15 * s->point[k].y, 1.3 * s->point[k].z);
    }
}

static inline void solid_slab(Solid *s)
{
    solid_cube(s);
    s->name = "slab";
    for (int k = 0; k < 8; k++)
        s->point[k] = vec3(s->point[k].x, 1.2 * s->point[k].y, 0.1 * s->point[k].z);
}

/* ---- placed, and measured ---- */

static inline void solid_place(Solid *s, double size, st_Pose pose)
{
    for (int k = 0; k < s->n_points; k++)
        s->point[k] = pose_point(pose, scale(size, s->point[k]));
}

static inline void solid_corners(const Solid *s, int t, st_Vec3 v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = s->point[s->triangle[3 * t + k]];
}

static inline double segment_distance(st_Vec3 p, st_Vec3 a, st_Vec3 b)
{
    st_Vec3 d = sub(b, a);
    double s = fmin(fmax(dot(sub(p, a), d) / dot(d, d), 0), 1);
    return norm(sub(p, add(a, scale(s, d))));
}

static inline double triangle_distance(st_Vec3 p, const st_Vec3 v[3])
{
    st_Vec3 n = cross(sub(v[1], v[0]), sub(v[2], v[0]));
    bool over = true;
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        st_Vec3 e = sub(v[(k + 1) % 3], v[k]);
        if (dot(cross(n, e), sub(p, v[k])) < 0) over = false;
        least = fmin(least, segment_distance(p, v[k], v[(k + 1) % 3]));
    }
    return over ? fmin(least, fabs(dot(n, sub(p, v[0]))) / norm(n)) : least;
}

/* From a point to the surface. */
static inline double surface_distance(const Solid *s, st_Vec3 p)
{
    double least = INFINITY;
    for (int t = 0; t < s->n_triangles; t++) {
        st_Vec3 v[3];
        solid_corners(s, t, v);
        least = fmin(least, triangle_distance(p, v));
    }
    return least;
}

/* By the solid angles of all triangles (Van Oosterom & Strackee 1983): 4 pi inside, 0 outside. */
static inline bool solid_holds(const Solid *s, st_Vec3 p)
{
    double sum = 0;
    for (int t = 0; t < s->n_triangles; t++) {
        st_Vec3 v[3];
        double r[3];
        solid_corners(s, t, v);
        for (int k = 0; k < 3; k++)
            v[k] = sub(v[k], p), r[k] = norm(v[k]);
        double below = r[0] * r[1] * r[2] + dot(v[0], v[1]) * r[2] + dot(v[1], v[2]) * r[0] + dot(v[2], v[0]) * r[1];
        sum += 2 * atan2(dot(v[0], cross(v[1], v[2])), below);
    }
    return sum > 2 * SOLID_PI;
}

static inline double edge_distance(st_Vec3 a, st_Vec3 b, st_Vec3 c, st_Vec3 d)
{
    double least = fmin(fmin(segment_distance(a, c, d), segment_distance(b, c, d)),
                        fmin(segment_distance(c, a, b), segment_distance(d, a, b)));
    st_Vec3 u = sub(b, a), w = sub(d, c), n = cross(u, w), from = sub(c, a);
    double square = dot(n, n);
    if (square < 1e-24 * dot(u, u) * dot(w, w)) return least; /* parallel: the ends have it */
    double s = dot(cross(from, w), n) / square, t = dot(cross(from, u), n) / square;
    if (s < 0 || s > 1 || t < 0 || t > 1) return least;
    return fmin(least, fabs(dot(from, n)) / sqrt(square));
}

/* Does the segment go through the triangle? */
static inline bool pierces(st_Vec3 a, st_Vec3 b, const st_Vec3 v[3])
{
    st_Vec3 n = cross(sub(v[1], v[0]), sub(v[2], v[0]));
    double x = dot(n, sub(a, v[0])), y = dot(n, sub(b, v[0]));
    if (x * y > 0 || x == y) return false;
    st_Vec3 p = add(a, scale(x / (x - y), sub(b, a)));
    for (int k = 0; k < 3; k++)
        if (dot(cross(n, sub(v[(k + 1) % 3], v[k])), sub(p, v[k])) < 0) return false;
    return true;
}

/* Least distance of the surfaces; *crossing: they run through each other. */
static inline double surfaces_distance(const Solid *s, const Solid *o, bool *crossing)
{
    double least = INFINITY;
    *crossing = false;
    for (int t = 0; t < s->n_triangles; t++)
        for (int r = 0; r < o->n_triangles; r++) {
            st_Vec3 v[3], w[3];
            solid_corners(s, t, v), solid_corners(o, r, w);
            for (int i = 0; i < 3; i++) {
                least = fmin(least, fmin(triangle_distance(v[i], w), triangle_distance(w[i], v)));
                if (pierces(v[i], v[(i + 1) % 3], w) || pierces(w[i], w[(i + 1) % 3], v)) *crossing = true;
                for (int k = 0; k < 3; k++)
                    least = fmin(least, edge_distance(v[i], v[(i + 1) % 3], w[k], w[(k + 1) % 3]));
            }
        }
    return least;
}

#endif
