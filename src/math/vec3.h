/* math/vec3.h -- three-vectors and 3x3 matrices (row-major), inline. */
#ifndef STI_VEC3_H
#define STI_VEC3_H

#include <math.h>
#include <stdbool.h>
#include <stiction/base.h>

static inline st_Vec3 vec3(double x, double y, double z)
{
    return (st_Vec3){x, y, z};
}
static inline st_Vec3 add(st_Vec3 a, st_Vec3 b)
{
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline st_Vec3 sub(st_Vec3 a, st_Vec3 b)
{
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline st_Vec3 scale(double s, st_Vec3 a)
{
    return vec3(s * a.x, s * a.y, s * a.z);
}
static inline double dot(st_Vec3 a, st_Vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline st_Vec3 cross(st_Vec3 a, st_Vec3 b)
{
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double norm(st_Vec3 a)
{
    return sqrt(dot(a, a));
}
static inline bool vec3_finite(st_Vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
static inline st_Vec3 vec3_load(const double *p)
{
    return vec3(p[0], p[1], p[2]);
}
static inline void vec3_store(double *p, st_Vec3 a)
{
    p[0] = a.x, p[1] = a.y, p[2] = a.z;
}
/* World axis k = 0, 1, 2 as a unit vector. */
static inline st_Vec3 vec3_axis(int k)
{
    return vec3(k == 0, k == 1, k == 2);
}

/* A unit vector orthogonal to the unit vector n: its cross product with the axis of the smallest component. Computed
 * without branches, because normals of a pile have no order that a processor could predict. */
static inline st_Vec3 orthogonal(st_Vec3 n)
{
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    int on_x = (x <= y) & (x <= z), on_y = (y <= z) & (on_x == 0);
    double a = on_x, b = on_y, c = 1 - on_x - on_y;
    st_Vec3 t = vec3(c * n.y - b * n.z, a * n.z - c * n.x, b * n.x - a * n.y);
    return scale(1.0 / norm(t), t);
}

static inline st_Vec3 mat3_mul(const st_Mat3 *A, st_Vec3 a)
{
    const double *m = A->m;
    return vec3(m[0] * a.x + m[1] * a.y + m[2] * a.z, m[3] * a.x + m[4] * a.y + m[5] * a.z,
                m[6] * a.x + m[7] * a.y + m[8] * a.z);
}
/* A' a */
static inline st_Vec3 mat3_mul_back(const st_Mat3 *A, st_Vec3 a)
{
    const double *m = A->m;
    return vec3(m[0] * a.x + m[3] * a.y + m[6] * a.z, m[1] * a.x + m[4] * a.y + m[7] * a.z,
                m[2] * a.x + m[5] * a.y + m[8] * a.z);
}
static inline st_Mat3 mat3_product(const st_Mat3 *A, const st_Mat3 *B)
{
    st_Mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[3 * i + j] = A->m[3 * i] * B->m[j] + A->m[3 * i + 1] * B->m[3 + j] + A->m[3 * i + 2] * B->m[6 + j];
    return C;
}
static inline st_Mat3 mat3_transpose(const st_Mat3 *A)
{
    const double *m = A->m;
    return (st_Mat3){{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}};
}

#endif
