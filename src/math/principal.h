/* math/principal.h -- principal moments and axes of a symmetric 3 x 3 matrix, by Jacobi's rotations. */
#ifndef STI_MATH_PRINCIPAL_H
#define STI_MATH_PRINCIPAL_H

#include "math/quat.h"

/* A = R diag(value) R', value[0] >= value[1] >= value[2]; axes[k]: column k of R, right-handed. */
static inline void mat3_principal(const st_Mat3 *A, double value[3], st_Vec3 axes[3])
{
    double a[3][3], r[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = 0.5 * (A->m[3 * i + j] + A->m[3 * j + i]);
    for (int sweep = 0; sweep < 60; sweep++) { /* each rotation removes the largest entry; convergence is quadratic */
        int p = 0, q = 1;
        if (fabs(a[0][2]) > fabs(a[p][q])) q = 2;
        if (fabs(a[1][2]) > fabs(a[p][q])) p = 1, q = 2;
        if (!(fabs(a[p][q]) > 1e-17 * (fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2])))) break;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
        const double c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; k++) { /* A J */
            const double x = a[k][p], y = a[k][q], u = r[k][p], v = r[k][q];
            a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
            r[k][p] = c * u - s * v, r[k][q] = s * u + c * v;
        }
        for (int k = 0; k < 3; k++) { /* J' A J */
            const double x = a[p][k], y = a[q][k];
            a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
        }
        a[p][q] = a[q][p] = 0;
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (a[order[j]][order[j]] < a[order[j + 1]][order[j + 1]]) {
                const int swap = order[j];
                order[j] = order[j + 1], order[j + 1] = swap;
            }
    for (int k = 0; k < 3; k++) {
        value[k] = a[order[k]][order[k]];
        axes[k] = vec3(r[0][order[k]], r[1][order[k]], r[2][order[k]]);
    }
    if (dot(cross(axes[0], axes[1]), axes[2]) < 0) axes[2] = scale(-1, axes[2]);
}

#endif
