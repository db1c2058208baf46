/* solve/lemke/lcp_basis.h -- a basis of  w = M z + d z_0 + q  and its tableau, made from a small inverse.
 *
 * Let S be the basic columns among z_1 .. z_n, z_0 and R the rows whose w is nonbasic; |R| = |S| = k.
 * The tableau follows from M and
 *
 *     K = inv(M[R,S])          k x k,  mostly k << n
 *     x_S = K (w_R - q_R),     w = M[:,S] x_S + q           (nonbasic z = 0)
 *
 * so K is kept, and columns of the tableau are made from it when they are needed. A pivot costs O(n k)
 * instead of O(n^2), and M stays untouched: every column is checked against M[R,S] itself, so that
 * rounding does not build up over the pivots. K is rebuilt when the check shows that it has drifted.
 *
 * Two precisions. Plain: columns are good to about 1e-13, which does while K stays below 1e6 or so.
 * Careful: K only preconditions an iterative refinement in twice the digits, which makes every column
 * the correctly rounded one as long as K is an inverse at all (condition below 1e14 or so).
 *
 * Variables have one number: z_j is j, z_0 is n, w_l is n + 1 + l.
 */
#ifndef STI_LCP_BASIS_H
#define STI_LCP_BASIS_H

#include "base/base.h"

#define STI_LCP_LANES 4 /* lengths are padded to this with zeros, so that inner loops have no tail */

typedef struct sti_LcpBasis {
    int n, k;
    int64_t pad; /* n + 1 rounded up: length of a column of M, of a row of K, of a vector    */
    bool careful;
    double *M;               /* by column, n + 1 of them; the last is the covering vector d              */
    double *K;               /* rows: slots of S, columns: slots of R                                    */
    double *q;               /* n                                                                        */
    double *x, *w;           /* basic values: k by slot of S; n by row, 0 on R                           */
    double *x_rate, *w_rate; /* column of the entering variable, likewise: d(basic)/d(entering) */
    double *x_low, *y_low;   /* low halves of the careful solve                                */
    double *gathered, *row, *work;
    int *column_of, *row_of;     /* k: the variable in a slot of S, of R */
    int *column_slot, *row_slot; /* n + 1, n: the slot of a column, of a row; -1: none             */

    double *numbers;
    int *indices;
    int64_t numbers_capacity, indices_capacity;
} sti_LcpBasis;

st_Status sti_lcp_basis_resize(sti_LcpBasis *basis, const st_Allocator *allocator, int n, st_Error *err);
void sti_lcp_basis_release(sti_LcpBasis *basis, const st_Allocator *allocator);

/* All w basic. */
void sti_lcp_basis_clear(sti_LcpBasis *basis);

/* x and w from q; x_rate and w_rate of a variable that enters. False: the basis is singular in rounding. */
bool sti_lcp_basis_values(sti_LcpBasis *basis);
bool sti_lcp_basis_column(sti_LcpBasis *basis, int entering);

/* K from M. False: singular. */
bool sti_lcp_basis_rebuild(sti_LcpBasis *basis);

/* Move along the entering column until the leaving variable is 0, and exchange the two. */
void sti_lcp_basis_pivot(sti_LcpBasis *basis, int entering, int leaving);
/* Exchange alone: the values are not kept up. */
void sti_lcp_basis_exchange(sti_LcpBasis *basis, int entering, int leaving);

/* Writes the column of the inverse basis for a nonbasic w_j to `gathered`. Then its entry in the row of a basic
 * variable: the effect of a small change of q_j on that variable. */
void sti_lcp_basis_gather(sti_LcpBasis *basis, int j);
double sti_lcp_basis_inverse_entry(const sti_LcpBasis *basis, int variable);

/* y += factor a; n a multiple of STI_LCP_LANES. */
void sti_lcp_add_multiple(int64_t n, double factor, const double *a, double *y);
double sti_lcp_max_abs(int64_t n, const double *a);

#endif
