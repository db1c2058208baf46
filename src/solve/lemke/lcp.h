/* solve/lemke/lcp.h -- dense linear complementarity problems by Lemke's method.
 *
 *     find z:   w = M z + q,   z >= 0,   w >= 0,   z'w = 0
 *
 * and, mixed: rows marked free ask for w_i = 0 with z_i of any sign.
 */
#ifndef STI_LCP_H
#define STI_LCP_H

#include "base/base.h"

typedef enum sti_LcpOutcome {
    STI_LCP_SOLVED,
    STI_LCP_RAY,  /* no variable blocks the entering one: for copositive M no solution, else unknown */
    STI_LCP_LIMIT /* too many pivots, or a basis that became singular in rounding                     */
} sti_LcpOutcome;

typedef struct sti_LcpInfo {
    sti_LcpOutcome outcome;
    int pivots;   /* of all attempts together                                                      */
    int attempts; /* 1: the first, textbook attempt was good                                       */
    double error; /* max |min(z_i, w_i)| in scaled variables, with max |q| = 1; SOLVED is <= 1e-6      */
} sti_LcpInfo;

/* The data are the caller's and are not changed. */
typedef struct sti_LcpProblem {
    int n;
    const double *M;           /* n x n, row-major                                                       */
    const double *q;           /* n                                                                      */
    const bool *free;          /* n flags: rows with w_i = 0; NULL: none */
    const double *scale;       /* n, > 0: z = scale z~, powers of two, which do not round; NULL: chosen here */
    bool (*cancel)(void *ctx); /* called before every pivot; may be NULL; true: stop */
    void *cancel_ctx;
} sti_LcpProblem;

/* How often a problem may be tried, each time with another tolerance or covering vector. */
#define STI_LCP_ATTEMPTS 5

typedef struct sti_Lcp sti_Lcp; /* the workspace: grows to the largest n seen */

st_Status sti_lcp_create(const st_Allocator *allocator, sti_Lcp **out, st_Error *err);
void sti_lcp_destroy(sti_Lcp *lcp); /* NULL is fine */

/* Attempts first .. last (0 .. STI_LCP_ATTEMPTS - 1) are made in turn until one ends in a solution as good
 * as rounding allows; z gets the best one (zero when there is none). ST_OK whatever the outcome, it is
 * in info; the statuses are for memory and for numbers that are not finite.                        */
st_Status sti_lcp_solve(sti_Lcp *lcp, const sti_LcpProblem *problem, int first, int last, double *z, sti_LcpInfo *info,
                        st_Error *err);

/* ST_OK when sizes, indices and numbers of a problem at the public door make sense; else which one does not. */
struct st_LcpProblem;
st_Status sti_lcp_check(const struct st_LcpProblem *problem, st_Error *err);
/* 1/mean |diag M|, or 1/max |M| where the diagonal is 0: makes z and w comparable, whatever units M has. */
double sti_lcp_rho(const struct st_LcpProblem *problem);

/* 2^k nearest to 1/sqrt(a): the scale for a diagonal entry a > 0. */
double sti_lcp_scale(double a);

#endif
