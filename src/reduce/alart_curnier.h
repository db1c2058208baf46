/* reduce/alart_curnier.h -- a law as an equation F(r, u) = 0, and its generalised derivative, contact by contact.
 *
 *     coulomb, pyramid, box                x = r - rho u
 *                     F_n = r_n - max(0, x_n),   F_T = r_T - P(x_T) on the disk (polygon, square) of radius
 *                                                mu max(0, x_n) (Alart & Curnier 1991; rolling, spinning: their own)
 *     cone                                 F = r - P_K(x), the natural map
 *     frictionless, bounded                F = r - clip(x)
 *
 * The zeros are those of the law for any rho > 0. The form of Alart and Curnier has no term |u_T|, and so no kink where
 * a contact sticks. Most contacts stick.
 */
#ifndef STI_SLOPE_H
#define STI_SLOPE_H

#include "reduce/reduce.h"

/* Computes F, A = dF/dr at fixed u and B = dF/du at fixed r (dim x dim, row-major); A and B may both be NULL. rho has
 * one entry per component; components that are projected together have the same rho (with the cone law: all). Returns
 * true if B is not zero: the contact is in the linear system. */
bool sti_slope(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, double *F, double *A,
               double *B);

/* rho by row (n_r). Normal, sliding, rolling and spinning rows have different units: each rho comes from its part of
 * W_cc. The cone law projects them together: its rho comes from all of W_cc. */
void sti_slope_rho(const sti_Reduction *reduction, double *rho);

/* out = B X: B n x n, X n x m, row-major. */
void sti_slope_multiply(const double *B, const double *X, int n, int m, double *out);

#endif
