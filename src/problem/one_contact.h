/* problem/one_contact.h -- one contact alone, exactly: find r with  law( r, W r + b ).
 *
 * W is the contact's own dim x dim block, row-major, with a positive semi-definite symmetric part; b is
 * its velocity if its own impulse were 0. Numbers that depend on W alone are computed once (prepare) and used at
 * every visit (solve).
 *
 *   dim 1, 2           closed forms                                              one_contact.c
 *   coulomb, dim 3     stick, or one root of a bracketed scalar equation         one_contact.c
 *   pyramid, box       the faces of a polygon, each in closed form               one_contact_polygon.c
 *   cone, dim 3        a Lorentz transform, then a scalar equation               one_contact_cone.c
 *   coulomb, cone with rolling or spinning (dim 4 to 6), cone with a nonsymmetric W: semismooth Newton
 * one_contact_newton.c
 */
#ifndef STI_LOCAL_H
#define STI_LOCAL_H

#include "base/base.h"

#include <stiction/problem.h>

typedef struct sti_Local sti_Local;

struct sti_Local {
    void (*solve)(const sti_Local *local, const double *b, double *r);
    const st_ContactLaw *contact;
    const double *W;
    const double *vertex; /* polygon laws: 2 n_vertices numbers, counterclockwise                   */
    int n_vertices;
    double prox;       /* added to the tangential diagonal of W, see one_contact.c [u/r]                   */
    double lorentz[7]; /* cone, dim 3: data of one_contact_cone.c                                         */
};

/* How many polygon vertices the law needs (0: none), and their coordinates. Contacts with the same law
 * and facets may share them.                                                                      */
int sti_local_vertex_count(const st_ContactLaw *contact);
void sti_local_vertices(const st_ContactLaw *contact, double *vertex);

/* contact, W and vertex are kept by address. */
void sti_local_prepare(sti_Local *local, const st_ContactLaw *contact, const double *W, const double *vertex);

/* r: in, the last impulse (it picks one of several solutions and starts the Newton method); out, the
 * answer, always inside the law's set. Where no solution exists (W_nn = 0 and b_n < 0) r = 0.        */
static inline void sti_local_solve(const sti_Local *local, const double *b, double *r)
{
    local->solve(local, b, r);
}

/* The solves, for the descriptors of laws (law.h). */
void sti_local_frictionless(const sti_Local *local, const double *b, double *r);
void sti_local_bounded(const sti_Local *local, const double *b, double *r);
void sti_local_coulomb2(const sti_Local *local, const double *b, double *r);
void sti_local_coulomb3(const sti_Local *local, const double *b, double *r);
void sti_local_cone2(const sti_Local *local, const double *b, double *r);
void sti_local_polygon(const sti_Local *local, const double *b, double *r);
void sti_local_cone_prepare(sti_Local *local);
void sti_local_cone(const sti_Local *local, const double *b, double *r);
void sti_local_newton(const sti_Local *local, const double *b, double *r);

/* |x|, without hypot's guard against overflow, which costs more than all the rest of a visit. */
static inline double sti_local_length(double x, double y)
{
    return sqrt(x * x + y * y);
}

/* The contact with its normal component eliminated by u_n = 0 (W_nn > 0):
 *     u_T = S x + c,    r_n = nu + m' x,    x = r_T                                                */
typedef struct sti_Slip {
    double S[4], c[2], nu, m[2];
} sti_Slip;

void sti_local_eliminate_normal(const sti_Local *local, const double *b, const double *r, sti_Slip *slip);

/* x on the cone |x| = mu (nu + m'x) with u_T against it, where |x| is too long for stick; r_n beside.
 * on_cone: the point of a segment that lies there.                                               */
void sti_local_slip_root(const sti_Slip *slip, double mu, double x[2], double *r_n);
void sti_local_on_cone(const sti_Slip *slip, double mu, const double out[2], const double in[2], double x[2]);

/* x = -inv(S + lambda I) c by elimination with the larger pivot: backward stable, which is all that the
 * residual needs, however close to singular S is. False where S + lambda I = 0.                    */
static inline bool sti_local_solve2(const double S[4], double lambda, const double c[2], double x[2])
{
    const double a = S[0] + lambda, d = S[3] + lambda;
    if (fabs(a) >= fabs(S[2])) {
        if (a == 0.0) return false;
        const double factor = S[2] / a, pivot = d - factor * S[1];
        x[1] = -(c[1] - factor * c[0]) / pivot;
        x[0] = -(c[0] + S[1] * x[1]) / a;
        return pivot != 0.0;
    }
    const double factor = a / S[2], pivot = S[1] - factor * d;
    x[1] = -(c[0] - factor * c[1]) / pivot;
    x[0] = -(c[1] + d * x[1]) / S[2];
    return pivot != 0.0;
}

#endif
