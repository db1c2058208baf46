/* stiction/problem.h -- the step problem and its solvers, usable without a simulation.
 *
 * In every step, every scheme solves for a velocity v, joint impulses l and contact impulses r:
 *
 *     A v = f + H r + G l                     momentum
 *     G' v + Cb l + g = 0                     joints; springs and dampers as soft rows
 *     u  = H' v + C r + w                     relative velocity at the contacts, normal first
 *     law_i( r_i , u_i ; mu_i )               contact by contact
 *
 * Signs are FCLib's. Eliminating v and l leaves  u = W r + b.
 *
 *     A   n_v x n_v   block-diagonal, positive definite (one full block: a user's own model)
 *     H   n_v x n_r   contact Jacobians, one column per contact component
 *     G   n_v x n_l   joint and soft-row Jacobians, one column per row
 *     C   n_r x n_r   compliance of contacts, block-diagonal, positive semi-definite, mostly 0
 *     Cb  n_l x n_l   compliance of joints; 0 is a rigid joint, 1/(h (h k + d)) a spring-damper
 */
#ifndef STICTION_PROBLEM_H
#define STICTION_PROBLEM_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The law between the impulse r = (r_n, r_T[, r_R][, r_S]) and the velocity u of one contact.
 *
 *   frictionless  0 <= r_n _|_ u_n >= 0                                              dim 1
 *   bounded       lo <= r <= hi;  u >= 0 at lo, u <= 0 at hi, u = 0 between          dim 1
 *   coulomb       K ∋ r _|_ u + (mu |u_T| + mu_roll |u_R| + mu_spin |u_S|) e_n ∈ K*  dim 2 to 6
 *   cone          K ∋ r _|_ u ∈ K*, the convex relaxation                            dim 2 to 6
 *   pyramid       the same as coulomb with K replaced by a pyramid of m facets       dim 2, 3
 *   box           |r_t|, |r_o| <= mu r_n each on its own, opposing u_t, u_o          dim 2, 3
 *
 * K = { |r_T| <= mu r_n, |r_R| <= mu_roll r_n, |r_S| <= mu_spin r_n }: a disc each for sliding, for rolling about
 * the tangents and for spinning about the normal. dim says which a contact has, in this order: 2, 3 sliding alone,
 * 4 spinning beside it, 5 rolling, 6 both. Facet j of a pyramid points to the angle 2 pi j/m from the first
 * tangent; in the plane (dim 2) m = 2.                                                           */
typedef enum st_Law {
    ST_LAW_FRICTIONLESS = 0,
    ST_LAW_BOUNDED,
    ST_LAW_COULOMB,
    ST_LAW_CONE,
    ST_LAW_PYRAMID,
    ST_LAW_BOX
} st_Law;
#define ST_N_LAWS  6
#define ST_MAX_DIM 6 /* rows of a contact, at most */

/* Name of a law: "coulomb", "cone", ... A static string; NULL outside the range. */
ST_API const char *st_law_name(st_Law law);

/* One contact: its law and its numbers. Its rows are first .. first + dim - 1 of r, u and w. */
typedef struct st_ContactLaw {
    st_Law law;
    int dim;        /* 1 to 6                                                          */
    int first;      /* its first row                                                   */
    int facets;     /* pyramid: even and >= 2; else ignored                            */
    double mu;      /* friction, >= 0                                                  */
    double mu_roll; /* rolling friction [m], dim 5 and 6                               */
    double mu_spin; /* spinning friction [m], dim 4 and 6                              */
    double lo, hi;  /* bounded: limits of the impulse [N s], may be infinite           */
} st_ContactLaw;

/* A sparse matrix, compressed by column, 0-based: column j holds entries p[j] .. p[j+1]-1. */
typedef struct st_Sparse {
    int n_rows, n_cols;
    const int64_t *p; /* n_cols + 1                                                    */
    const int *i;     /* row of each entry, no position twice in a column              */
    const double *x;
} st_Sparse;

/* A block-diagonal matrix: block k covers rows and columns first[k] .. first[k+1]-1; its values are stored row-major,
 * one block after another. n_blocks = 0: the zero matrix. A block marked in `diagonal` stores its diagonal only: the
 * mass of a body in its principal axes is six numbers.                                                       */
typedef struct st_BlockDiag {
    int n_blocks;
    const int *first; /* n_blocks + 1                                                  */
    const double *x;
    const unsigned char *diagonal; /* n_blocks; NULL: none is marked. Only in A                */
} st_BlockDiag;

/* The problem belongs to the caller. Solvers neither copy nor change it. */
typedef struct st_Problem {
    int n_v, n_l, n_r, n_contacts;
    st_BlockDiag A;
    bool symmetric; /* A is symmetric; false: only its symmetric part is positive definite */
    st_Sparse G, H;
    st_BlockDiag Cb, C;
    const double *f, *g, *w;      /* n_v, n_l, n_r                                     */
    const st_ContactLaw *contact; /* n_contacts, in the order of their rows            */
    double u_scale; /* [m/s] the residual is relative to velocities of at least this size; 0: to b alone */
} st_Problem;

/* Check sizes, indices, laws and numbers; the message names the first that is not valid. The check does not decide
 * whether a solution exists.                                                                     */
ST_API st_Status st_problem_check(const st_Problem *problem, st_Error *err);

/* The problem after elimination of v and l, or a problem that never had them: u = W r + b. W is n_r x n_r. Solvers that
 * minimise treat W as symmetric if its halves agree to one per cent, because files store six digits or fewer. The
 * residual is always computed with W as given.                                                     */
typedef struct st_LocalProblem {
    int n_r, n_contacts;
    st_Sparse W;
    const double *b;              /* n_r                                               */
    const st_ContactLaw *contact; /* n_contacts, in the order of their rows            */
} st_LocalProblem;

/* Check a local problem, as st_problem_check. */
ST_API st_Status st_local_check(const st_LocalProblem *problem, st_Error *err);

/* Output arrays of the caller. v, l and u may be NULL. */
typedef struct st_Solution {
    double *v, *l, *u; /* n_v, n_l, n_r: out                                            */
    double *r;         /* n_r: in, the start if the def says warm_start; out, the answer */
} st_Solution;

/* Error of a solution, recomputed from the problem and r by code that no solver owns. */
typedef struct st_Residual {
    double natural;         /* | r - P(r - rho u^) | / max(| rho b |, | rho u_scale |), docs/methods.md   */
    double error;           /* | r - P(r - u^) | / | b |: the unscaled twin, for problem files */
    double error_rho;       /* the same with one rho = 1/mean(diag W) for all contacts */
    double rounding;        /* how much of the figures above rounding may hide; 0: not worth mentioning */
    double joint;           /* max | G'v + Cb l + g | [m/s]                            */
    double cone_violation;  /* how far the worst r_i is outside its set [N s]          */
    double complementarity; /* sum over contacts of | r . u^ | [J]                     */
    int worst_contact;      /* the one with the largest share of natural, -1: none     */
} st_Residual;

/* Compute the residual of r. v, l and u are recomputed from r. All solvers are judged by this function. */
ST_API st_Status st_problem_residual(const st_Problem *problem, const double *r, st_Residual *out, st_Error *err);

/* Compute the residual of r for a local problem. */
ST_API st_Status st_local_residual(const st_LocalProblem *problem, const double *r, st_Residual *out, st_Error *err);

/* Start from st_solver_def(), change what you need. */
/* How much work a solve may take. No choice depends on the clock: work is counted. */
typedef enum st_Effort {
    ST_EFFORT_THOROUGH = 0, /* sweeps, factors and continuation in turns until the tolerance is met        */
    ST_EFFORT_EXACT,        /* the same, from a linear solution, and factors before sweeps where they lead  */
    ST_EFFORT_BALANCED,     /* exact where that is cheap, and a bounded number of operations per contact     */
    ST_EFFORT_REAL_TIME     /* a small fixed number of operations per contact                                */
} st_Effort;

/* One line of the history of a solve (st_SolverDef.progress). */
typedef struct st_Progress {
    const char *solver; /* the one at work: of "auto" the one whose turn it is                 */
    int iteration;      /* counted over the whole solve                                        */
    double residual;    /* of the r it has now: what the tolerance is compared with            */
    double work;        /* visits of each contact so far, factor operations included           */
} st_Progress;

/* A parameter of a solver: its default and range. */
typedef struct st_SolverParameter {
    const char *name, *help;
    double value, min, max;
} st_SolverParameter;

/* A value for a parameter. The name of a parameter of the solver itself, or SOLVER.PARAMETER: "ipm.border" is what
 * "auto" lets ipm use.                                                                             */
typedef struct st_SolverValue {
    const char *name;
    double value;
} st_SolverValue;

/* The problem that a solver of one's own gets: find r in the laws' sets with u = W r + b and law( r, u ) for each
 * contact. Velocities, joints and soft rows are eliminated. Valid during the call only.            */
typedef struct st_Reduced {
    int n_r, n_contacts;
    const st_ContactLaw *contact; /* n_contacts                                                */
    const double *b;              /* n_r                                                       */
    const double *diagonal;       /* W_cc of every contact, dim x dim row-major, one after another */
    const double *rho;            /* n_contacts: dim / trace(W_cc), a step length              */
    bool symmetric;               /* W is                                                      */
    double tolerance;             /* on the residual                                           */
    int max_iterations;
    void *inside; /* leave alone                                                               */
} st_Reduced;

/* u = W r + b (n_r each), without forming W. */
ST_API void st_reduced_apply(const st_Reduced *problem, const double *r, double *u);
/* W by columns. The arrays stay the problem's. Fails with ST_ERR_UNSUPPORTED if W has more than a million blocks. */
ST_API st_Status st_reduced_matrix(const st_Reduced *problem, st_Sparse *W, st_Error *err);
/* The residual of r, which stopping and reporting use. Counts as an iteration: progress is called, and the best r is
 * kept as the answer in case the solver returns a worse one.                                         */
ST_API double st_reduced_residual(const st_Reduced *problem, const double *r);
/* True if the solve was cancelled or its budget is spent: return with the best so far. */
ST_API bool st_reduced_ends(const st_Reduced *problem);
/* x <- P(x), the projection on the contact's set of impulses (dim numbers). */
ST_API void st_law_project(const st_ContactLaw *contact, double *x);

/* A solver of one's own. With several threads (st_SolverDef.threads, islands of a system) `solve` is called by several
 * at once.                                                                                         */
typedef struct st_OwnSolver {
    const char *name; /* in st_SolveInfo and in messages                                       */
    /* Whether it takes contacts of this law and size. NULL: all.                              */
    bool (*accepts)(void *ctx, st_Law law, int dim, bool symmetric);
    /* r comes in as the start: 0, or the impulses of the step before. Returns ST_OK whether or not it converged: r is
     * judged afterwards.                                                                           */
    st_Status (*solve)(void *ctx, const st_Reduced *problem, double *r, st_Error *err);
    void *ctx;
} st_OwnSolver;

typedef struct st_SolverDef {
    const char *name;          /* a name of st_solver_name(), "auto" by default               */
    double tolerance;          /* on st_Residual.natural                                      */
    int max_iterations;        /* of the iterative solvers (sweeps)                           */
    st_Effort effort;          /* of "auto": what it may spend                                */
    bool warm_start;           /* start from the r that is handed in                          */
    bool all_errors;           /* the tolerance holds for error and error_rho, too            */
    int threads;               /* at most so many, with the same bits; 1 by default           */
    double max_work;           /* visits of each contact; factor operations count as visits. INFINITY by default */
    bool (*cancel)(void *ctx); /* asked often: true ends the solve with the best so far; NULL: never */
    void *cancel_ctx;
    void (*progress)(void *ctx, const st_Progress *line); /* called after every iteration, for which a residual is
                                                           * computed; the answer keeps its bits. NULL: not */
    void *progress_ctx;
    const st_SolverValue *values; /* n_values parameters by name; copied                      */
    int n_values;
    const st_OwnSolver *own; /* a solver of one's own instead of `name`; it must outlive this one. NULL: none */
    st_Allocator allocator;
    uint32_t cookie; /* set by st_solver_def(); leave alone                            */
} st_SolverDef;

/* The result of a solve. Not converging is a result with numbers, not an error status. */
typedef struct st_SolveInfo {
    const char *solver;   /* the one that answered                                     */
    const char *fallback; /* the one that gave up before it, or NULL                   */
    bool converged;       /* residual.natural and rounding <= tolerance, as recomputed, and the joints are
                           * met; with all_errors: the largest of natural, error and error_rho, plus
                           * rounding, is. With effort balanced or real-time the tolerance is 1e-4 where
                           * exact is expensive                                        */
    int iterations;       /* pivots or sweeps                                          */
    int redundant_rows;   /* rows of G that depend on others and were left out         */
    double start;         /* natural residual of the r it began with; -1: not computed   */
    double work;          /* visits of each contact, factor operations included; of islands the most */
    st_Residual residual;
} st_SolveInfo;

typedef struct st_Solver st_Solver; /* the workspace: grows to the largest problem seen */

/* Defaults: solver "auto", tolerance 1e-9, one thread. */
ST_API st_SolverDef st_solver_def(void);
/* Number of solvers. */
ST_API int st_solver_count(void);
/* Name of solver `index`, a static string; NULL outside 0 .. count - 1. */
ST_API const char *st_solver_name(int index);
/* Purpose of the named solver in one line, a static string; NULL if there is no such solver. */
ST_API const char *st_solver_help(const char *name);
/* True if the named solver accepts this law and dimension, and a symmetric or general A. */
ST_API bool st_solver_accepts(const char *name, st_Law law, int dim, bool symmetric);

/* Parameter `index` of the named solver, static; NULL beyond the last, and if there is no such solver. */
ST_API const st_SolverParameter *st_solver_parameter(const char *name, int index);

/* Create a solver with its workspace. Free it with st_solver_destroy. */
ST_API st_Status st_solver_create(const st_SolverDef *def, st_Solver **out, st_Error *err);
/* Solve a step problem. Returns ST_OK whether or not it converged: `info` has the residual. The workspace grows to the
 * largest problem solved so far and is reused.                                                   */
ST_API st_Status st_solver_solve(st_Solver *solver, const st_Problem *problem, st_Solution *solution,
                                 st_SolveInfo *info, st_Error *err);
/* Solve a local problem, as st_solver_solve. v and l of the solution are not written. */
ST_API st_Status st_solver_solve_local(st_Solver *solver, const st_LocalProblem *problem, st_Solution *solution,
                                       st_SolveInfo *info, st_Error *err);
/* Free a solver. NULL is allowed. */
ST_API void st_solver_destroy(st_Solver *solver);

/* ------------------------------------------------------------------ linear complementarity problems
 *
 *     z >= 0,   M z + q >= 0,   z'(M z + q) = 0;       rows marked free: (M z + q)_i = 0, z_i of any sign
 *
 * M is any square matrix, definite or not. Such a problem need not have a solution. If that can be proved, the outcome
 * is ST_LCP_NO_SOLUTION.                                                                              */
typedef struct st_LcpProblem {
    int n;
    st_Sparse M;
    const double *q;           /* n                                                             */
    const bool *free;          /* n flags, or NULL: none                                        */
    bool (*cancel)(void *ctx); /* asked between pivots: true ends the solve with the best so far; NULL: never */
    void *cancel_ctx;
} st_LcpProblem;

typedef enum st_LcpOutcome {
    ST_LCP_SOLVED = 0,
    ST_LCP_NO_SOLUTION, /* proved: no z solves it                                      */
    ST_LCP_FAILED       /* none found: there may be one                                */
} st_LcpOutcome;

typedef struct st_LcpInfo {
    st_LcpOutcome outcome;
    int pivots;
    double error; /* | min(z, M z + q) |, of free rows | M z + q |, over | q |; absolute where q = 0. The larger one of
                     this and the same with z / rho, rho = 1 / mean(|diag M|) (1 / max |M| where the diagonal is 0) */
} st_LcpInfo;

/* Solve an LCP. Returns ST_OK for every outcome; z receives the best point found. Solved means that the error, with
 * what rounding may hide, is at most the tolerance (`certified` of st_lcp_error).                              */
ST_API st_Status st_lcp_solve(const st_LcpProblem *problem, double tolerance, double *z, st_LcpInfo *info,
                              st_Error *err);
/* Compute the error of z (see st_LcpInfo). */
ST_API st_Status st_lcp_residual(const st_LcpProblem *problem, const double *z, double *error, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
