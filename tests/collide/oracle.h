/* tests/collide/oracle.h -- signed distances the slow way, sharing no code with the library.
 *
 * Polytopes with a radius: apart, the least distance over all pairs of triangles' features; overlapping, the
 * least over all face normals and all cross products of edges of the overlap along them. Smooth shapes: the
 * largest separation over directions, by many starts of a compass search.
 */
#ifndef STI_ORACLE_H
#define STI_ORACLE_H

#include "check.h"
#include "math/quat.h"

#include <string.h>

#define ORACLE_MAX 128

typedef struct Poly {
    int nv, nt, ne, nn;
    st_Vec3 v[ORACLE_MAX];
    int t[2 * ORACLE_MAX][3]; /* triangles */
    int e[3 * ORACLE_MAX][2];
    st_Vec3 n[2 * ORACLE_MAX]; /* face normals */
    double radius;
} Poly;

static inline double point_segment(st_Vec3 p, st_Vec3 a, st_Vec3 b)
{
    st_Vec3 d = sub(b, a);
    double square = dot(d, d), t = square > 0 ? dot(sub(p, a), d) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return norm(sub(p, add(a, scale(t, d))));
}

static inline double point_triangle(st_Vec3 p, st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    double best = fmin(point_segment(p, a, b), fmin(point_segment(p, b, c), point_segment(p, c, a)));
    st_Vec3 n = cross(sub(b, a), sub(c, a));
    double square = dot(n, n);
    if (!(square > 0)) return best;
    st_Vec3 q = sub(p, scale(dot(n, sub(p, a)) / square, n));
    if (dot(n, cross(sub(b, a), sub(q, a))) >= 0 && dot(n, cross(sub(c, b), sub(q, b))) >= 0 &&
        dot(n, cross(sub(a, c), sub(q, c))) >= 0)
        best = fmin(best, fabs(dot(n, sub(p, a))) / sqrt(square));
    return best;
}

static inline double segment_segment(st_Vec3 a, st_Vec3 b, st_Vec3 c, st_Vec3 d)
{
    double best = fmin(fmin(point_segment(a, c, d), point_segment(b, c, d)),
                       fmin(point_segment(c, a, b), point_segment(d, a, b)));
    st_Vec3 u = sub(b, a), v = sub(d, c), w = sub(c, a), n = cross(u, v);
    double square = dot(n, n);
    if (!(square > 1e-20 * dot(u, u) * dot(v, v))) return best;
    double s = dot(cross(w, v), n) / square, t = dot(cross(w, u), n) / square;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) best = fmin(best, fabs(dot(n, w)) / sqrt(square));
    return best;
}

static inline void reach_along(const Poly *p, st_Vec3 n, double *lo, double *hi)
{
    *lo = INFINITY, *hi = -INFINITY;
    for (int k = 0; k < p->nv; k++)
        *lo = fmin(*lo, dot(n, p->v[k])), *hi = fmax(*hi, dot(n, p->v[k]));
}

/* Separation along n and along -n, the larger. */
static inline double along_axis(const Poly *a, const Poly *b, st_Vec3 n)
{
    double length = norm(n), alo, ahi, blo, bhi;
    if (!(length > 0)) return -INFINITY;
    n = scale(1 / length, n);
    reach_along(a, n, &alo, &ahi), reach_along(b, n, &blo, &bhi);
    return fmax(blo - ahi, alo - bhi);
}

static inline double largest_separation(const Poly *a, const Poly *b)
{
    double best = -INFINITY;
    for (int k = 0; k < a->nn; k++)
        best = fmax(best, along_axis(a, b, a->n[k]));
    for (int k = 0; k < b->nn; k++)
        best = fmax(best, along_axis(a, b, b->n[k]));
    for (int i = 0; i < a->ne; i++)
        for (int j = 0; j < b->ne; j++) {
            st_Vec3 u = sub(a->v[a->e[i][1]], a->v[a->e[i][0]]), w = sub(b->v[b->e[j][1]], b->v[b->e[j][0]]);
            st_Vec3 n = cross(u, w);
            if (!(norm(n) > 1e-10 * norm(u) * norm(w))) continue;
            n = scale(1 / norm(n), n);
            /* across u to all digits, which the product of nearly parallel edges is not */
            best = fmax(best, along_axis(a, b, sub(n, scale(dot(n, u) / dot(u, u), u))));
        }
    return best;
}

static inline double least_distance(const Poly *a, const Poly *b)
{
    double best = INFINITY;
    for (int i = 0; i < a->nv; i++)
        for (int j = 0; j < b->nv; j++)
            best = fmin(best, norm(sub(a->v[i], b->v[j])));
    for (int pass = 0; pass < 2; pass++) {
        const Poly *p = pass == 0 ? a : b, *q = pass == 0 ? b : a;
        for (int i = 0; i < p->nv; i++) {
            for (int j = 0; j < q->nt; j++)
                best = fmin(best, point_triangle(p->v[i], q->v[q->t[j][0]], q->v[q->t[j][1]], q->v[q->t[j][2]]));
            for (int j = 0; j < q->ne; j++)
                best = fmin(best, point_segment(p->v[i], q->v[q->e[j][0]], q->v[q->e[j][1]]));
        }
    }
    for (int i = 0; i < a->ne; i++)
        for (int j = 0; j < b->ne; j++)
            best = fmin(best, segment_segment(a->v[a->e[i][0]], a->v[a->e[i][1]], b->v[b->e[j][0]], b->v[b->e[j][1]]));
    return best;
}

/* Cores that neither have faces nor cross: distance 0 is as deep as they get. */
static inline double oracle_gap(const Poly *a, const Poly *b)
{
    double separation = largest_separation(a, b), radii = a->radius + b->radius;
    bool volume = a->nt > 0 || b->nt > 0;
    if (volume && separation < 0) return separation - radii;
    return least_distance(a, b) - radii;
}

/* Distance of a point to the solid; 0 inside. */
static inline double outside(const Poly *p, st_Vec3 x)
{
    Poly point = {.nv = 1, .v = {x}};
    if (p->nt > 0) {
        bool in = true;
        for (int k = 0; k < p->nn && in; k++) {
            double lo, hi;
            reach_along(p, p->n[k], &lo, &hi);
            in = dot(p->n[k], x) <= hi;
        }
        if (in) return 0;
    }
    return fmax(0, least_distance(p, &point) - p->radius);
}

#endif
