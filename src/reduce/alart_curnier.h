/* reduce/alart_curnier.h -- a law as an equation F(r, u) = 0, and its generalised derivative, contact by contact.
 *
 *     coulomb, pyramid, box                x = r - rho u
 *                     F_n = r_n - max(0, x_n),   F_T = r_T - P(x_T) on the disk (polygon, square) of radius
 *                                                mu max(0, x_n) (Alart & Curnier 1991; rolling, spinning: their own)
 *     cone                                 F = r - P_K(x), the natural map
 *     frictionless, bounded                F = r - clip(x)
 *
 * The zeros are those of the law whatever rho > 0 is. The form of Alart and Curnier has no term |u_T|, and so
 * no kink where a contact sticks, which is where most contacts are.
 */
#ifndef STI_SLOPE_H
#define STI_SLOPE_H

#include "reduce/reduce.h"

/* rho has one entry a component, the same for those that are projected together (the whole of the cone law).
 * F, and A = dF/dr at fixed u, B = dF/du at fixed r (dim x dim, row-major); A and B may both be NULL. Returns
 * whether B is not zero: whether the contact takes part in the linear system.                      */
bool sti_slope(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, double *F, double *A,
               double *B);

/* rho by row (n_r): normal, sliding, rolling and spinning each by their own part of W_cc, whose units differ; of the
 * cone law, which projects them together, by all of it.                                                     */
void sti_slope_rho(const sti_Reduction *reduction, double *rho);

/* out = B X: B n x n, X n x m, row-major. */
void sti_slope_multiply(const double *B, const double *X, int n, int m, double *out);

#endif
