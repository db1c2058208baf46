/* math/quat.h -- unit quaternions (w, x, y, z), body to world, inline. */
#ifndef STI_QUAT_H
#define STI_QUAT_H

#include "math/vec3.h"

static inline st_Quat quat_product(st_Quat a, st_Quat b)
{
    return (st_Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline st_Quat quat_conjugate(st_Quat q)
{
    return (st_Quat){q.w, -q.x, -q.y, -q.z};
}
static inline double quat_norm(st_Quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}
static inline st_Quat quat_unit(st_Quat q)
{
    double s = 1.0 / quat_norm(q);
    return (st_Quat){s * q.w, s * q.x, s * q.y, s * q.z};
}
/* The vector a, given in body axes, in world axes. */
static inline st_Vec3 rotate(st_Quat q, st_Vec3 a)
{
    st_Vec3 s = vec3(q.x, q.y, q.z), t = scale(2.0, cross(s, a));
    return add(add(a, scale(q.w, t)), cross(s, t));
}
/* The vector a, given in world axes, in body axes. */
static inline st_Vec3 rotate_back(st_Quat q, st_Vec3 a)
{
    return rotate(quat_conjugate(q), a);
}
static inline st_Pose pose_identity(void)
{
    return (st_Pose){{0, 0, 0}, {1, 0, 0, 0}};
}
static inline st_Vec3 pose_point(st_Pose pose, st_Vec3 a)
{
    return add(pose.p, rotate(pose.q, a));
}
static inline st_Pose pose_product(st_Pose outer, st_Pose inner)
{
    return (st_Pose){pose_point(outer, inner.p), quat_product(outer.q, inner.q)};
}

/* Exponential map: the rotation by the vector a (axis times angle). Up to 0.3 rad, which covers most rotations of a
 * step, by the series of cos x and sin(x)/x with x half the angle. The remainder is below x^12/12! = 2e-19. */
static inline st_Quat quat_exp(st_Vec3 a)
{
    double square = a.x * a.x + a.y * a.y + a.z * a.z, c, s;
    if (square < 0.09) {
        double y = 0.25 * square;
        c = 1 - y * (1.0 / 2 - y * (1.0 / 24 - y * (1.0 / 720 - y * (1.0 / 40320 - y * (1.0 / 3628800)))));
        s = 0.5 - y * (1.0 / 12 - y * (1.0 / 240 - y * (1.0 / 10080 - y * (1.0 / 725760 - y * (1.0 / 79833600)))));
    } else {
        double angle = sqrt(square);
        c = cos(0.5 * angle);
        s = sin(0.5 * angle) / angle;
    }
    return (st_Quat){c, s * a.x, s * a.y, s * a.z};
}
/* The shortest rotation vector a with quat_exp(a) = +-q. */
static inline st_Vec3 quat_log(st_Quat q)
{
    if (q.w < 0) q = (st_Quat){-q.w, -q.x, -q.y, -q.z};
    st_Vec3 s = vec3(q.x, q.y, q.z);
    double sine = norm(s);
    return scale(sine < 1e-8 ? 2.0 : 2.0 * atan2(sine, q.w) / sine, s);
}

/* Angle of the rotation q about the unit axis n (its twist), in (-pi, pi]. */
static inline double quat_twist(st_Quat q, st_Vec3 n)
{
    double s = q.x * n.x + q.y * n.y + q.z * n.z, c = q.w;
    if (c < 0) s = -s, c = -c;
    return 2.0 * atan2(s, c);
}

static inline st_Mat3 quat_matrix(st_Quat q)
{
    double x = 2 * q.x, y = 2 * q.y, z = 2 * q.z;
    double xx = x * q.x, yy = y * q.y, zz = z * q.z, xy = x * q.y, xz = x * q.z, yz = y * q.z;
    double wx = q.w * x, wy = q.w * y, wz = q.w * z;
    return (st_Mat3){
        {1 - (yy + zz), xy - wz, xz + wy, xy + wz, 1 - (xx + zz), yz - wx, xz - wy, yz + wx, 1 - (xx + yy)}};
}

/* The rotation whose matrix has these columns, a right-handed orthonormal frame: by the largest of its four components
 * (Shepperd 1978).                                                                                 */
static inline st_Quat quat_from_axes(st_Vec3 x, st_Vec3 y, st_Vec3 z)
{
    const double trace = x.x + y.y + z.z;
    st_Quat q;
    if (trace >= x.x && trace >= y.y && trace >= z.z)
        q = (st_Quat){1 + trace, y.z - z.y, z.x - x.z, x.y - y.x};
    else if (x.x >= y.y && x.x >= z.z)
        q = (st_Quat){y.z - z.y, 1 + x.x - y.y - z.z, y.x + x.y, z.x + x.z};
    else if (y.y >= z.z)
        q = (st_Quat){z.x - x.z, y.x + x.y, 1 - x.x + y.y - z.z, z.y + y.z};
    else
        q = (st_Quat){x.y - y.x, z.x + x.z, z.y + y.z, 1 - x.x - y.y + z.z};
    return quat_unit(q);
}

/* The shortest rotation that takes the unit vector a to the unit vector b. */
static inline st_Quat quat_between(st_Vec3 a, st_Vec3 b)
{
    double c = dot(a, b);
    if (c < -1.0 + 1e-12) { /* opposite: half a turn about any orthogonal axis */
        st_Vec3 n = orthogonal(a);
        return (st_Quat){0, n.x, n.y, n.z};
    }
    st_Vec3 s = cross(a, b);
    return quat_unit((st_Quat){1.0 + c, s.x, s.y, s.z});
}

#endif
