/* stiction/friction.h -- friction problems in the layout of FCLIB, without a system or files. <stiction/io.h> reads and
 * writes them.
 *
 *   local   u = W r + V l + q,     V' r + R l + s = 0
 *   global  M v = H r + G l + f,   u = H' v + w,   G' v + b = 0
 *
 * Coulomb's law holds between r and u of each contact: law `coulomb` of problem.h, normal first. V, R, s and
 * G, b are the equality part, which most problems do not have.
 */
#ifndef STICTION_FRICTION_H
#define STICTION_FRICTION_H

#include <stiction/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum st_FrictionForm { ST_FORM_LOCAL = 0, ST_FORM_GLOBAL } st_FrictionForm;

/* The problem belongs to the caller and is never changed. n_r = dim n_contacts. */
typedef struct st_FrictionProblem {
    st_FrictionForm form;
    int dim; /* rows per contact: 2 in the plane, 3 in space, 4 with spinning, 5 with rolling, 6 with both */
    int n_contacts;
    int n_v;               /* global: velocities; else 0                               */
    int n_l;               /* equality rows                                            */
    st_Sparse W, V, R;     /* local: n_r x n_r, n_r x n_l, n_l x n_l                   */
    const double *q, *s;   /* local: n_r, n_l                                          */
    st_Sparse M, H, G;     /* global: n_v x n_v, n_v x n_r, n_v x n_l                  */
    const double *f, *w;   /* global: n_v, n_r                                         */
    const double *b;       /* global: n_l                                              */
    const double *mu;      /* n_contacts                                               */
    const double *mu_roll; /* n_contacts, dim 5 and 6; else NULL                       */
    const double *mu_spin; /* n_contacts, dim 4 and 6; else NULL                       */
    /* Called often by st_friction_contradiction: true ends it without a proof. NULL: never. */
    bool (*cancel)(void *ctx);
    void *cancel_ctx;
} st_FrictionProblem;

/* Check sizes, indices and numbers. The message names the first one that is not valid. */
ST_API st_Status st_friction_check(const st_FrictionProblem *problem, st_Error *err);

/* A problem prepared for the solvers. */
typedef struct st_Friction st_Friction;
/* Prepare a problem. The problem is not copied: it must outlive *out and may not be changed meanwhile. Free *out with
 * st_friction_destroy. */
ST_API st_Status st_friction_create(const st_FrictionProblem *problem, st_Friction **out, st_Error *err);
/* Free a prepared problem. NULL is allowed. */
ST_API void st_friction_destroy(st_Friction *friction);

/* Solve with any solver of problem.h. If M is symmetric and has small diagonal blocks, the solver works on M and H.
 * Otherwise each call forms W by a sparse factorisation. `solution` receives r, u, and v, l if the problem has them. */
ST_API st_Status st_friction_solve(st_Friction *friction, st_Solver *solver, st_Solution *solution, st_SolveInfo *info,
                                   st_Error *err);
/* True if the named solver accepts this problem: its law, its dimension, and the symmetry of W or M. */
ST_API bool st_friction_accepts(const st_Friction *friction, const char *solver);

/* The error of r, as defined for collections of test problems. It depends on r only: v and u are recomputed
 * from the data with a separate factorisation. The code shares nothing with solvers or residuals.
 *
 *     error     = | r - P(r - u^) | / | q |                 q of the local form; not divided if q = 0
 *     error_rho = | r - P(r - rho u^) | / (rho | q |),      rho = 1 / mean(diag W)
 *
 * docs/problems.md has the definition for contacts with a coefficient above 1. All numbers are computed in
 * double-double arithmetic with a bound on the rounding error. A problem is solved if certified <= tolerance. */
typedef struct st_FrictionError {
    double error, error_rho;
    double equality;        /* | G'v + b | / | |G'||v| + |b| | of rows scaled to entries of about 1; local: the same for
                             * V'r + R l + s. 0 without equality rows */
    double rounding;        /* bound on the difference of error and error_rho from exact arithmetic */
    double certified;       /* the largest of error + rounding, error_rho + rounding and equality: an upper bound in
                             * exact arithmetic; infinite if a number overflows */
    double cone_violation;  /* largest distance of an r_i from its cone [N s]           */
    double penetration;     /* the most negative normal velocity, as a number >= 0 [m/s] */
    double complementarity; /* sum over contacts of | r . u^ | [J]                      */
    int worst_contact;      /* the contact with the largest part of error; -1: none     */
} st_FrictionError;

/* Compute the error of r. u (n_r) and v (n_v) receive the velocities that belong to r; either may be NULL. */
ST_API st_Status st_friction_error(st_Friction *friction, const double *r, double *u, double *v, st_FrictionError *out,
                                   st_Error *err);

/* Upper bound of the lowest eigenvalue of the symmetric part of W (local) or M (global), divided by the largest, by
 * Lanczos' method. A value below 0 proves that the matrix is not positive semi-definite.            */
ST_API st_Status st_friction_lowest(const st_FrictionProblem *problem, double *relative, st_Error *err);

/* Search for a proof that no solution exists. The proof is a ray: a number y >= 0 for each normal, and numbers for the
 * momentum and equality rows. Multiply the conditions "normal velocities are >= 0" and "momentum and equality rows
 * hold" by these numbers and add them: the sum is false for every r in K (src/solve/ray.c). For all forms. *margin is
 * the size of the contradiction, from 0 to 1. 0: no proof was found; a solution may or may not exist. */
ST_API st_Status st_friction_contradiction(const st_FrictionProblem *problem, double *margin, st_Error *err);
/* The same for a complementarity problem. The proof is a y >= 0 with M'y <= 0 and q . y < 0. In free rows, y may have
 * any sign; in free columns, (M'y)_j = 0. */
ST_API st_Status st_lcp_contradiction(const st_LcpProblem *problem, double *margin, st_Error *err);

/* A step problem in the FCLIB layout. It is global if the step problem has only contacts and rigid joints. Otherwise,
 * or on request, it is local; W and q then include joints, springs and compliance. Frictionless contacts get mu = 0 and
 * zero tangents. Of every friction law only its mu is kept. The copy owns its arrays. */
typedef struct st_FrictionCopy st_FrictionCopy;
/* Copy a step problem. Free the copy with st_friction_copy_destroy. */
ST_API st_Status st_friction_from_step(const st_Problem *step, bool local, st_FrictionCopy **out, st_Error *err);
/* The problem inside the copy; valid until the copy is destroyed. */
ST_API const st_FrictionProblem *st_friction_copy_problem(const st_FrictionCopy *copy);
/* Free a copy. NULL is allowed. */
ST_API void st_friction_copy_destroy(st_FrictionCopy *copy);

/* Error of a solution z of a linear complementarity problem, computed independently of st_lcp_residual:
 *
 *     error     = | min(z, w) | / | q |,              w = M z + q
 *     error_rho = | min(z, rho w) | / (rho | q |),    rho = 1 / mean(| diag M |)
 *
 * A free row has w in place of the minimum. If q = 0, the norms are not divided. */
typedef struct st_LcpError {
    double error, error_rho;
    double rounding, certified; /* as in st_FrictionError; solved if certified <= tolerance  */
    double violation;           /* the most negative z of a row that is not free, as a number >= 0 */
    double complementarity;     /* sum of | z w | over rows that are not free                */
} st_LcpError;

/* Compute the error of z. w (n, may be NULL) receives M z + q. */
ST_API st_Status st_lcp_error(const st_LcpProblem *problem, const double *z, double *w, st_LcpError *out,
                              st_Error *err);

/* ------------------------------------------------------------------ forces of hyperstatic systems
 *
 * If W is singular on the active contacts, u is unique but r is not. Given a solution r, all others with the same u are
 * r + z, with W z = 0 and z in the active directions. The active directions are all directions of a sticking contact,
 * the direction (1, -mu u_T/|u_T|) of a sliding contact, and none of an open contact. */
typedef struct st_Determined {
    int active_rows; /* active directions                                              */
    int rank;        /* of W on these directions; less than active_rows: hyperstatic   */
    int undetermined_contacts;
} st_Determined;

/* Find which impulses are determined, and the solution of least norm. determined (n_r flags): the component is the same
 * in all solutions near r; the cones are not considered. least (n_r): the solution with the least sum of weight_i
 * r_i^2, which is the limit for contacts with a compliance proportional to weight_i that goes to zero (Preclik, Popa &
 * Ruede 2011). weight has one positive number per contact; NULL: all 1. Either output may be NULL. tolerance is
 * relative, for the rank and the active set; 0 selects a default. */
ST_API st_Status st_friction_determined(st_Friction *friction, const double *r, const double *weight, double tolerance,
                                        bool *determined, double *least, st_Determined *out, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
