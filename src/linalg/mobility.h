/* linalg/mobility.h -- the mobility of mechanisms for impulses on their bodies, as a product R R'.
 *
 * With the joints eliminated, an impulse a on the bodies of a mechanism changes their velocities by
 *
 *     P a,        P = inv(A) - inv(A) G inv(S) G' inv(A),     S = G' inv(A) G + Cb      (reduce.h),
 *
 * which is symmetric and positive semi-definite. Its rank is the number of freedoms that the joints leave. With  P = R
 * R'  a mechanism is, for its contacts, a body of unit mass with as many velocities v~ as R has columns: v = v_free + R
 * v~,  v~ = R'H r,  as in pile.h. Only rows of R for bodies with contacts are needed: a bucket at the end of an arm has
 * six of them, however long the arm is. A drum on its hinge has one freedom, or none if its motion is prescribed (a
 * motion, or a speed without a force limit).
 *
 * R is Cholesky's factor with pivoting (Higham 2002, section 10.3), in units of the bodies' masses, where P is a
 * projection for rigid joints. So a pivot is either clearly positive or rounding; only springs give values in between.
 */
#ifndef STI_MOBILITY_H
#define STI_MOBILITY_H

#include "linalg/saddle.h"

typedef struct sti_Mobility {
    st_Allocator allocator;
    int n;                        /* mechanisms with joints that contacts touch                     */
    STI_ARRAY(int, of_block);     /* by block of A: which of them it is in; -1: in none             */
    STI_ARRAY(int64_t, rows);     /* by block of A: where its rows of R begin, one a velocity; -1: not touched */
    STI_ARRAY(int, mechanism);    /* by number here: the net's                                      */
    STI_ARRAY(int, first);        /* n + 1: the freedoms of each, counted through                   */
    STI_ARRAY(double, R);         /* row-major, as many numbers a row as its mechanism has freedoms */
    STI_ARRAY(bool, touched);     /* by block of A                                                  */
    STI_ARRAY(int, velocity);     /* of the mechanism at work: the velocities touched               */
    STI_ARRAY(double, P);         /* P, row-major; then its Schur complement */
    STI_ARRAY(double, factor);    /* R, column after column                                         */
    STI_ARRAY(double, mass);      /* by velocity: the root of its mass                              */
    STI_ARRAY(double, least);     /* by velocity: rounding level of the Schur complement */
    STI_ARRAY(double, wide_side); /* right-hand sides, STI_WIDTH numbers a velocity                 */
    STI_ARRAY(double, wide_out);
} sti_Mobility;

/* Starts as {.allocator = ...}. The saddle must be factorised, and H be complete. */
st_Status sti_mobility_build(sti_Mobility *mobility, const st_Problem *problem, const sti_Saddle *saddle,
                             st_Error *err);
void sti_mobility_release(sti_Mobility *mobility);

static inline int sti_mobility_freedoms(const sti_Mobility *mobility, int k)
{
    return mobility->first[k + 1] - mobility->first[k];
}

#endif
