/* problem/smoothed_laws.h -- a law with its corners rounded, and its derivatives, contact by contact.
 *
 * The laws' sets are given barriers -nu^2 log(distance), nu > 0 an impulse, and projections become proximal maps:
 *
 *     r_n = p(x_n),   p(x) = (x + sqrt(x^2 + 4 nu^2))/2             that is   r_n rho u_n = nu^2
 *     r_T = q(x_T),   q + 2 nu^2 q/(R^2 - |q|^2) = x_T,             R = mu r_n
 *
 * with x = r - rho u as in alart_curnier.h. For nu = 0 they are the equations of that file; friction becomes viscous
 * at speeds below nu. Each F is smooth in r, u and nu. Its derivative dF/dr + dF/du W is regular if the symmetric part
 * of W, which may be singular, is positive semi-definite and friction does not jam.
 */
#ifndef STI_SMOOTH_H
#define STI_SMOOTH_H

#include "base/base.h"

#include <stiction/problem.h>

/* As sti_slope, with nu > 0; N = dF/dnu (dim). rho has one entry per component, the same for those projected together,
 * and nu^2 is an energy: r_n u_n = nu^2, the same for all contacts.                                 */
void sti_smooth(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, double nu, double *F,
                double *A, double *B, double *N);

#endif
