/* reduce/reduce.h -- elimination of velocities, joints and soft rows from the step problem.
 *
 *     v = v_free + Y r,      u = W r + b,      W = H' Y + C,      b = H' v_free + w
 *
 * With S = G' inv(A) G + Cb (block LDL', symbolic part kept while the pattern holds),
 *     l(r) = -inv(S) (g + G' inv(A) (f + H r)),     Y = inv(A) (H + G dl/dr).
 * A column block of Y has entries only at velocities of the bodies joined to the bodies of its contact. Without
 * joints these are the contact's own bodies. W is formed only on request.
 *
 * The columns of H and Y of contact c are small dense blocks over the velocities where they have entries:
 *
 *     H:  h_index[h_first[c] .. h_first[c+1]-1],  values h_value + h_start[c], dim x count row-major
 *     Y:  y_index, y_first, y_value, y_start likewise
 *
 * Many contacts between free bodies form a graph instead (pile.h). Their columns, w, b, W_diagonal and rho are computed
 * on demand: sti_reduction_columns.
 *
 * A row whose velocity is determined by joints has zeros in both H and Y: there u = w for any r, and w contains the
 * velocity that the joints impose (a prescribed motion). */
#ifndef STI_REDUCE_H
#define STI_REDUCE_H

#include "base/base.h"
#include "problem/pile_contacts.h"

#include <stiction/problem.h>

struct sti_Saddle; /* saddle.h */

/* The last r with a computed residual, and its results. A second call with the same r returns them (residual.c). */
typedef struct sti_Judged {
    bool known;
    bool in_lanes;         /* v and u are still in the lanes of the graph: sti_residual_give                       */
    double scale;          /* scale of impulses in the residual; below 0: not computed yet */
    double *r, *v, *l, *u; /* n_r, n_v, n_l, n_r                                                   */
    int64_t r_size, v_size, l_size, u_size;
    st_Residual residual;
} sti_Judged;

typedef struct sti_Reduction {
    const st_Problem *problem; /* of a local problem: its shadow, see sti_reduce_local               */
    bool all_errors;           /* set by its owner: sti_residual measures error and error_rho, too   */
    bool rough;                /* set by its owner: joints to the accuracy of one solve              */
    int fewest;                /* likewise: contacts from which on they are a graph, if it fits       */
    int threads;               /* likewise: of a team over large graphs; the result does not depend on it */
    const int64_t *h_first, *h_start, *y_first, *y_start; /* n_contacts + 1                       */
    const int *h_index, *y_index;
    const double *h_value, *y_value;
    const double *v_free;     /* n_v: velocity with r = 0                                        */
    const double *w;          /* n_r: w of the problem, plus velocities that joints impose on rows they determine */
    const double *b;          /* n_r                                                             */
    const double *W_diagonal; /* the diagonal blocks of W, C included, one after another: contact c's
                               * dim x dim block, row-major, at W_start[c]                       */
    const int64_t *W_start;   /* n_contacts + 1                                                  */
    const double *rho;        /* n_contacts: dim / trace(W_cc), docs/methods.md 12; 1 where W_cc = 0 */
    int redundant_rows;       /* rows of G found to depend on others                             */
    bool is_local;            /* it came as W and b: sti_reduce_local                            */
    int64_t serial;           /* counts the problems reduced, from 1                             */
    sti_Judged *judged;
    struct sti_Graph *graph; /* NULL: the problem is none for it                                */
    struct sti_ReductionMemory *memory;
} sti_Reduction;

st_Status sti_reduction_create(const st_Allocator *allocator, sti_Reduction **out, st_Error *err);
void sti_reduction_destroy(sti_Reduction *reduction);

/* From the next problem on, this object solves for velocities and joints (saddle.h). The caller keeps it. NULL: that of
 * the reduction. */
void sti_reduction_lend(sti_Reduction *reduction, struct sti_Saddle *saddle);

/* Reduces a (checked) problem and replaces the one before. Allocates nothing unless something has to grow. The problem
 * must stay alive and unchanged while the reduction is used. After a failure the reduction may not be used until a
 * call succeeds. */
st_Status sti_reduce(sti_Reduction *reduction, const st_Problem *problem, st_Error *err);

/* The same in two steps: first velocities and joints alone, then contacts. Between them, sti_reduction_is_open tests
 * whether all contacts are open; then r = 0 is the solution, with judged->v, l and u. `pile`: the contacts as arrays if
 * the problem has no H; or NULL. Columns then come from a copy of the problem with H. */
st_Status sti_reduce_joints(sti_Reduction *reduction, const st_Problem *problem, const sti_PileContacts *pile,
                            st_Error *err);
bool sti_reduction_is_open(const sti_Reduction *reduction, double *joint);
st_Status sti_reduce_contacts(sti_Reduction *reduction, st_Error *err);

/* Computes the arrays above if the problem is a graph; otherwise they exist already. */
st_Status sti_reduction_columns(sti_Reduction *reduction, st_Error *err);

/* Likewise for a problem given as u = W r + b. All of the above holds with v replaced by u: H = I, Y = W, v_free = b,
 * w = 0. `problem` is then a substitute of that shape (n_v = n_r, no A, no joints), so that solvers need no special
 * case. */
st_Status sti_reduce_local(sti_Reduction *reduction, const st_LocalProblem *local, st_Error *err);

/* W, n_r x n_r, row-major. */
void sti_reduction_form_W(const sti_Reduction *reduction, double *W);

/* u = W r + b without forming W; v (n_v) is work space and ends as v_free + Y r. */
void sti_reduction_apply(const sti_Reduction *reduction, const double *r, double *v, double *u);

/* v and l for a given r, by a new solve with one step of iterative refinement, for the solution that is returned. l
 * may be NULL. Returns max |G'v + Cb l + g|. */
double sti_reduction_velocity(const sti_Reduction *reduction, const double *r, double *v, double *l);

/* The same for a graph with mechanisms if all other velocities are known: v of bodies with joints, and l. */
double sti_reduction_mechanisms(const sti_Reduction *reduction, const double *r, double *v, double *l);

#endif
