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
 * rows scaled to a unit diagonal, rounding leaves about 1e-16/d there, d the smallest independent pivot
 * before it: 1e-13 seen for d > 1e-3. Larger, and thin mechanisms lose a joint (a light body between two
 * that are r times heavier has pivots of 1/r: ratios up to 1e11 pass); smaller, and redundant rows are
 * taken for pivots. One that slips through (d < 1e-4) brings arbitrary impulses along the dependent
 * rows, which push nothing: velocities and residuals stay right.                                  */
#define STI_REDUNDANT_PIVOT 1e-12

/* A pivot of A below this fraction of its own diagonal entry: A is not positive definite, or so nearly
 * that no digit of the answer would be right. A block of size n has rounding of about n 1e-16 there. */
#define STI_DEFINITE_PIVOT 1e-14

/* A sum smaller than this fraction of its terms is rounding: a row of H has 12 entries, 1e-16 each, and
 * v_free comes out of a solve that loses a digit.                                                  */
#define STI_NOISE 1e-14

#endif
