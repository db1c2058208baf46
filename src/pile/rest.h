/* pile/rest.h -- do given impulses solve the contacts of free bodies? Computes the residual without a graph.
 *
 * Bodies at rest need the same forces in each step. Two passes over the contacts, in the order of the problem and eight
 * at a time, show whether the forces of the last step still solve it:
 *
 *     contacts:  P, T of every body         impulse and moment of r, in the world
 *     bodies:    v = v_free + inv(A) (P, R'T),     J = R inv(I) R'
 *     contacts:  u = H'v + C r + w,  b = H'v_free + w,  and the residual of reduce/residual.c with
 *
 *     trace(W_cc) = C + sum over both bodies of 3/m + |l|^2 trace(J) - l'J l          l: from the centre to the contact
 *
 * The second pass also bounds the effect of rounding, as reduce/certify.c does. Only for Coulomb's law with two
 * tangents. The kernels are compiled for each vector unit (rest_lanes.h), with the same bits.
 */
#ifndef STI_PILE_REST_H
#define STI_PILE_REST_H

#include "pile/pile.h"

/* A body, in rows of eight numbers. The ground is one with zeros. */
typedef struct sti_RestBody {
    _Alignas(STI_ALIGN) double pushed[STI_NODE]; /* P, T; sum of the sizes of all impulses, in roots of energy; number
                                                    of terms */
    double place[STI_NODE];  /* centre; 1/m; J_xx, J_yy, J_zz, J_xy                                 */
    double still[STI_NODE];  /* velocity without impulses, in the world; J_xz, J_yz                  */
    double moving[STI_NODE]; /* velocity with them; bound of its rounding; twice the energy without impulses */
} sti_RestBody;

/* Eight contacts. Lanes without one have the ground on both sides, and zeros. */
typedef struct sti_RestPack {
    _Alignas(STI_ALIGN) double r[3][STI_LANES];
    double w[3][STI_LANES], C[3][STI_LANES], mu[STI_LANES];
    double rho[STI_LANES];          /* out: by rest_push                                              */
    double u[3][STI_LANES];         /* out: by rest_judge                                             */
    const double *frame[STI_LANES]; /* point, normal, tangent                                         */
    int32_t body[2][STI_LANES];
} sti_RestPack;

/* Sums over contacts, lane by lane. */
typedef struct sti_RestSums {
    _Alignas(STI_ALIGN) double error[STI_LANES];           /* squares of the natural map                           */
    double b[STI_LANES], terms[STI_LANES], rho[STI_LANES]; /* squares by row: of rho b, of rho times the
                                                            * bound of its terms, of rho */
    double rounding[STI_LANES], size[STI_LANES];           /* squares: of the possible effect of rounding of u, of r */
    double power[STI_LANES], outside[STI_LANES], worst[STI_LANES];
    int worst_pack[STI_LANES];
} sti_RestSums;

typedef struct sti_RestCode sti_RestCode;
struct sti_RestCode {
    void (*push)(sti_RestBody *body, sti_RestPack *pack, int n_packs);
    void (*judge)(const sti_RestBody *body, sti_RestPack *pack, int n_packs, sti_RestSums *sums);
};

#endif
