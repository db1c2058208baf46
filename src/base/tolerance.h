/* base/tolerance.h -- the library's own small numbers, each with its reason. What a user may want to
 * set is not here but in the defs.
 */
#ifndef STI_TOLERANCE_H
#define STI_TOLERANCE_H

/* Two halves of a symmetric block may differ by this much relative to sqrt(a_ii a_jj). Inertias
 * rotated in floating point differ by a few 1e-16; a block that is meant to be nonsymmetric (a
 * gyroscopic term of one step) differs by 1e-6 and more.                                          */
#define STI_SYMMETRY_TOLERANCE 1e-10

/* A pivot of S below this fraction of its own diagonal entry marks a row that depends on others. With
 * rows scaled to a unit diagonal, rounding leaves a few 1e-16 times the length of the elimination
 * (1e-13 seen); a mechanism that is truly independent but as thin as 1e-5 rad leaves 1e-10. Larger,
 * and thin mechanisms lose a joint; smaller, and the noise of a redundant row is taken for a pivot
 * and comes back as an impulse of 1e13.                                                           */
#define STI_REDUNDANT_PIVOT 1e-12

/* A pivot of A below this fraction of its own diagonal entry: A is not positive definite, or so nearly
 * that no digit of the answer would be right. A block of size n has rounding of about n 1e-16 there. */
#define STI_DEFINITE_PIVOT 1e-14

#endif
