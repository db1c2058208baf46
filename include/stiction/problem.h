/* stiction/problem.h -- the step problem and its solvers, which work without a simulation, too.
 *
 * In every step, each scheme solves for a velocity v, joint impulses l and contact impulses r:
 *
 *     A v = f + H r + G l                     momentum
 *     G' v + Cb l + g = 0                     joints; springs and dampers as soft rows
 *     u  = H' v + C r + w                     relative velocity at the contacts, normal first
 *     law_i( r_i , u_i ; mu_i )               for each contact i
 *
 * Signs are FCLib's. Eliminating v and l leaves  u = W r + b.
 *
 *     A   n_v x n_v   block-diagonal, positive definite (your own model: one full block)
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
 * K = { |r_T| <= mu r_n, |r_R| <= mu_roll r_n, |r_S| <= mu_spin r_n }: one disc for sliding, one for rolling about the
 * tangents and one for spinning about the normal. dim selects them: 2, 3 only sliding; 4 sliding and spinning; 5
 * sliding and rolling; 6 all three, with the components in the order sliding, rolling, spinning. Facet j of a pyramid
 * points to the angle 2 pi j/m from the first tangent; in the plane (dim 2) m = 2. */
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

/* The law of one contact and its numbers. Its rows are first .. first + dim - 1 of r, u and w. */
typedef struct st_ContactLaw {
    st_Law law;
    int dim;        /* 1 to 6                                                          */
    int first;      /* index of its first row                                          */
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
    const int *i;     /* row of each entry; no row appears twice in a column           */
    const double *x;
} st_Sparse;

/* A block-diagonal matrix: block k covers rows and columns first[k] .. first[k+1]-1; its values are stored row-major,
 * one block after another. n_blocks = 0: the zero matrix. A block that is marked in `diagonal` stores only its
 * diagonal: the mass of a body in its principal axes is six numbers. */
typedef struct st_BlockDiag {
    int n_blocks;
    const int *first; /* n_blocks + 1                                                  */
    const double *x;
    const unsigned char *diagonal; /* n_blocks flags; NULL: none is marked. Only in A          */
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
    double u_scale;               /* [m/s] the residual is relative to b, but to at least this velocity; 0: to b only */
} st_Problem;

/* Check sizes, indices, laws and numbers. The message names the first one that is not valid. The check does not decide
 * whether a solution exists. */
ST_API st_Status st_problem_check(const st_Problem *problem, st_Error *err);

/* The problem after elimination of v and l, or a problem that never had them: u = W r + b. W is n_r x n_r. Solvers that
 * minimise treat W as symmetric if W and W' agree to one per cent, because files store six digits or fewer. The
 * residual is always computed with W as given. */
typedef struct st_LocalProblem {
    int n_r, n_contacts;
    st_Sparse W;
    const double *b;              /* n_r                                               */
    const st_ContactLaw *contact; /* n_contacts, in the order of their rows            */
} st_LocalProblem;

/* Check a local problem as st_problem_check does. */
ST_API st_Status st_local_check(const st_LocalProblem *problem, st_Error *err);

/* Output arrays of the caller. v, l and u may be NULL. */
typedef struct st_Solution {
    double *v, *l, *u; /* n_v, n_l, n_r: out                                            */
    double *r;         /* n_r: in, the start if warm_start is set; out, the solution */
} st_Solution;

/* Error of a solution. It is recomputed from the problem and r, by the same code for all solvers. */
typedef struct st_Residual {
    double natural;         /* | r - P(r - rho u^) | / max(| rho b |, | rho u_scale |), docs/methods.md   */
    double error;           /* | r - P(r - u^) | / | b |: the same without scaling, for problem files */
    double error_rho;       /* the same with one rho = 1/mean(diag W) for all contacts */
    double rounding;        /* bound on the rounding error of the numbers above; 0: negligible */
    double joint;           /* max | G'v + Cb l + g | [m/s]                            */
    double cone_violation;  /* largest distance of an r_i from its set [N s]           */
    double complementarity; /* sum over contacts of | r . u^ | [J]                     */
    int worst_contact;      /* the contact with the largest part of natural; -1: none  */
} st_Residual;

/* Compute the residual of r. v, l and u are recomputed from r. This function decides for all solvers whether they
 * converged. */
ST_API st_Status st_problem_residual(const st_Problem *problem, const double *r, st_Residual *out, st_Error *err);

/* Compute the residual of r for a local problem. */
ST_API st_Status st_local_residual(const st_LocalProblem *problem, const double *r, st_Residual *out, st_Error *err);

/* How much work a solve may take. Work is counted in operations and does not depend on the clock. */
typedef enum st_Effort {
    ST_EFFORT_THOROUGH = 0, /* alternates sweeps, factorisations and continuation until the tolerance is met */
    ST_EFFORT_EXACT,        /* the same, starts from a linear solution and prefers factorisations to sweeps */
    ST_EFFORT_BALANCED,     /* exact if that is cheap, else a bounded number of operations per contact       */
    ST_EFFORT_REAL_TIME     /* a small fixed number of operations per contact                                */
} st_Effort;

/* One line of the history of a solve (st_SolverDef.progress). */
typedef struct st_Progress {
    const char *solver; /* the solver that is running; with "auto", the one it has chosen     */
    int iteration;      /* counted over the whole solve                                        */
    double residual;    /* of the current r; it is compared with the tolerance                 */
    double work;        /* visits per contact so far, factor operations included               */
} st_Progress;

/* A parameter of a solver: its default and range. */
typedef struct st_SolverParameter {
    const char *name, *help;
    double value, min, max;
} st_SolverParameter;

/* A value for a parameter. `name` is a parameter of the solver, or SOLVER.PARAMETER for a solver that "auto" calls:
 * "ipm.border". */
typedef struct st_SolverValue {
    const char *name;
    double value;
} st_SolverValue;

/* The problem that your own solver receives: find r with u = W r + b and law( r, u ) for each contact. Velocities,
 * joints and soft rows are eliminated. It is valid only during the call. */
typedef struct st_Reduced {
    int n_r, n_contacts;
    const st_ContactLaw *contact; /* n_contacts                                                */
    const double *b;              /* n_r                                                       */
    const double *diagonal;       /* blocks W_cc, dim x dim row-major, one after another       */
    const double *rho;            /* n_contacts: dim / trace(W_cc), a step length              */
    bool symmetric;               /* W is symmetric                                            */
    double tolerance;             /* on the residual                                           */
    int max_iterations;
    void *inside; /* leave alone                                                               */
} st_Reduced;

/* u = W r + b (n_r each), without forming W. */
ST_API void st_reduced_apply(const st_Reduced *problem, const double *r, double *u);
/* Form W by columns. The arrays belong to the problem. Fails with ST_ERR_UNSUPPORTED if W has more than a million
 * blocks. */
ST_API st_Status st_reduced_matrix(const st_Reduced *problem, st_Sparse *W, st_Error *err);
/* The residual of r, for stopping and reporting. Each call counts as an iteration: progress is called, and the best r
 * is kept. If the solver returns a worse r, the best one becomes the solution. */
ST_API double st_reduced_residual(const st_Reduced *problem, const double *r);
/* True if the solve was cancelled or has used its work budget. The solver must then return its best r. */
ST_API bool st_reduced_ends(const st_Reduced *problem);
/* Project x (dim numbers) on the set of impulses of the contact: x <- P(x). */
ST_API void st_law_project(const st_ContactLaw *contact, double *x);

/* Your own solver. With several threads (st_SolverDef.threads, islands of a system), several threads call `solve` at
 * the same time. */
typedef struct st_OwnSolver {
    const char *name; /* in st_SolveInfo and in messages                                       */
    /* True if it accepts contacts of this law and dimension. NULL: it accepts all.            */
    bool (*accepts)(void *ctx, st_Law law, int dim, bool symmetric);
    /* On entry r is the start: 0, or the impulses of the last step. Return ST_OK even if it did not converge; the
     * residual of r is computed afterwards. */
    st_Status (*solve)(void *ctx, const st_Reduced *problem, double *r, st_Error *err);
    void *ctx;
} st_OwnSolver;

/* Start from st_solver_def() and change the members that you need. */
typedef struct st_SolverDef {
    const char *name;          /* a name of st_solver_name(), "auto" by default               */
    double tolerance;          /* on st_Residual.natural                                      */
    int max_iterations;        /* of the iterative solvers, all turns of auto together: 1e6 by default */
    st_Effort effort;          /* of "auto": how much work it may do                          */
    bool warm_start;           /* start from the r in st_Solution                             */
    bool all_errors;           /* the tolerance also applies to error and error_rho           */
    int threads;               /* largest number of threads, 1 by default; the bits do not depend on it */
    double max_work;           /* work limit: visits per contact, factor operations included. INFINITY by default */
    bool (*cancel)(void *ctx); /* called often; true ends the solve with the best r so far. NULL: never */
    void *cancel_ctx;
    void (*progress)(void *ctx, const st_Progress *line); /* called after every iteration with its residual; does
                                                           * not change the bits of the result. NULL: none */
    void *progress_ctx;
    const st_SolverValue *values; /* n_values parameters by name; copied                      */
    int n_values;
    const st_OwnSolver *own; /* your own solver in place of `name`; it must outlive the st_Solver. NULL: none */
    st_Allocator allocator;
    uint32_t cookie; /* set by st_solver_def(); leave alone                            */
} st_SolverDef;

/* The result of a solve. A solve that does not converge is not an error: `residual` shows how good the solution is. */
typedef struct st_SolveInfo {
    const char *solver;   /* the solver that found the solution                        */
    const char *fallback; /* the solver that failed before it, or NULL                 */
    bool converged;       /* residual.natural + rounding <= tolerance, and the joints are satisfied. With
                           * all_errors: the largest of natural, error and error_rho, plus rounding, <=
                           * tolerance. With effort balanced or real-time, the tolerance is 1e-4 if an exact
                           * solution is expensive                                     */
    int iterations;       /* pivots or sweeps                                          */
    int redundant_rows;   /* linearly dependent rows of G that were left out           */
    double start;         /* natural residual of the first r; -1: not computed           */
    double work;          /* visits per contact, factor operations included; the largest of all islands */
    st_Residual residual;
} st_SolveInfo;

typedef struct st_Solver st_Solver; /* the workspace; grows to the largest problem solved so far */

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

/* Parameter `index` of the named solver, static; NULL after the last one or if there is no such solver. */
ST_API const st_SolverParameter *st_solver_parameter(const char *name, int index);

/* Create a solver with its workspace. Free it with st_solver_destroy. */
ST_API st_Status st_solver_create(const st_SolverDef *def, st_Solver **out, st_Error *err);
/* Solve a step problem. Returns ST_OK whether or not it converged; `info` contains the residual. The workspace is
 * reused. */
ST_API st_Status st_solver_solve(st_Solver *solver, const st_Problem *problem, st_Solution *solution,
                                 st_SolveInfo *info, st_Error *err);
/* Solve a local problem as st_solver_solve does. v and l of the solution are not written. */
ST_API st_Status st_solver_solve_local(st_Solver *solver, const st_LocalProblem *problem, st_Solution *solution,
                                       st_SolveInfo *info, st_Error *err);
/* Free a solver. NULL is allowed. */
ST_API void st_solver_destroy(st_Solver *solver);

/* ------------------------------------------------------------------ linear complementarity problems
 *
 *     z >= 0,   M z + q >= 0,   z'(M z + q) = 0;       rows marked free: (M z + q)_i = 0, z_i of any sign
 *
 * M is any square matrix, definite or not. The problem may have no solution. If this can be proved, the outcome is
 * ST_LCP_NO_SOLUTION. */
typedef struct st_LcpProblem {
    int n;
    st_Sparse M;
    const double *q;           /* n                                                             */
    const bool *free;          /* n flags, or NULL: none                                        */
    bool (*cancel)(void *ctx); /* called between pivots; true ends the solve with the best z so far. NULL: never */
    void *cancel_ctx;
} st_LcpProblem;

typedef enum st_LcpOutcome {
    ST_LCP_SOLVED = 0,
    ST_LCP_NO_SOLUTION, /* it is proved that no z solves the problem                  */
    ST_LCP_FAILED       /* no solution was found; one may exist                       */
} st_LcpOutcome;

typedef struct st_LcpInfo {
    st_LcpOutcome outcome;
    int pivots;
    double error; /* | min(z, M z + q) | / | q |; free rows: | M z + q | in place of the minimum; not divided if q = 0.
                     The larger one of this and the same with z / rho, rho = 1 / mean(|diag M|), or 1 / max |M| if the
                     diagonal is 0 */
} st_LcpInfo;

/* Solve an LCP. Returns ST_OK for every outcome; z receives the best point found. The outcome is ST_LCP_SOLVED if the
 * error plus its rounding bound (`certified` of st_lcp_error) is at most the tolerance. */
ST_API st_Status st_lcp_solve(const st_LcpProblem *problem, double tolerance, double *z, st_LcpInfo *info,
                              st_Error *err);
/* Compute the error of z (see st_LcpInfo). */
ST_API st_Status st_lcp_residual(const st_LcpProblem *problem, const double *z, double *error, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
