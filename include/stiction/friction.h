/* stiction/friction.h -- friction problems as the field exchanges them (FCLIB), on their own: no system
 * and no files around them. Reading and writing them: <stiction/io.h>.
 *
 *   local   u = W r + V l + q,     V' r + R l + s = 0
 *   global  M v = H r + G l + f,   u = H' v + w,   G' v + b = 0
 *
 * with, contact by contact, Coulomb's law on (r, u): law `coulomb` of problem.h, normal first. V, R, s and
 * G, b are the equality part, which most problems do not have.
 */
#ifndef STICTION_FRICTION_H
#define STICTION_FRICTION_H

#include <stiction/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum st_FrictionForm { ST_FORM_LOCAL = 0, ST_FORM_GLOBAL } st_FrictionForm;

/* Data of the caller's, never changed. n_r = dim n_contacts. */
typedef struct st_FrictionProblem {
    st_FrictionForm form;
    int dim; /* rows a contact: 2 in the plane, 3 in space, 4 spinning, 5 rolling, 6 both */
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
} st_FrictionProblem;

/* ST_OK when sizes, indices and numbers make sense; else which one does not. */
ST_API st_Status st_friction_check(const st_FrictionProblem *problem, st_Error *err);

/* A problem made ready for the solvers. The problem must outlive it. */
typedef struct st_Friction st_Friction;
ST_API st_Status st_friction_create(const st_FrictionProblem *problem, st_Friction **out, st_Error *err);
ST_API void st_friction_destroy(st_Friction *friction); /* NULL is fine */

/* Solve with any solver of problem.h. Where M is symmetric with small diagonal blocks the solver gets M and
 * H as they are; else W is formed, in every call, by a sparse factorisation. solution: r, u, and v, l where
 * the problem has them.                                                                             */
ST_API st_Status st_friction_solve(st_Friction *friction, st_Solver *solver, st_Solution *solution, st_SolveInfo *info,
                                   st_Error *err);
/* Is W (or M) symmetric as the named solver would see it, and the law one that it takes? */
ST_API bool st_friction_accepts(const st_Friction *friction, const char *solver);

/* How good r is, by the measure of the collections of test problems. Only r is looked at; v and u are
 * recomputed from the data with a factorisation of their own. Shares no code with solvers or residuals.
 *
 *     error     = | r - P(r - u^) | / | q |                 q of the local form; absolute where q = 0
 *     error_rho = | r - P(r - rho u^) | / (rho | q |),      rho = 1 / mean(diag W)                  */
typedef struct st_FrictionError {
    double error, error_rho;
    double cone_violation;  /* how far the worst r_i is outside its cone [N s]          */
    double penetration;     /* the most negative normal velocity, as a number >= 0 [m/s] */
    double complementarity; /* sum over contacts of | r . u^ | [J]                      */
    int worst_contact;      /* the one with the largest share of error; -1: none        */
} st_FrictionError;

/* u (n_r) and v (n_v) get the velocities that belong to r; either may be NULL. */
ST_API st_Status st_friction_error(st_Friction *friction, const double *r, double *u, double *v, st_FrictionError *out,
                                   st_Error *err);

/* The lowest eigenvalue of the symmetric part of W (local) or M (global) against the largest, from above,
 * by Lanczos' method: a value below 0 is proof, found in the direction it belongs to.               */
ST_API st_Status st_friction_lowest(const st_FrictionProblem *problem, double *relative, st_Error *err);

/* Is there a proof that no solution exists: y >= 0 on the normals with q . y < 0 that no impulse of the cones
 * can push against (r . W'y <= 0 for all r in K)? *margin is -q.y / (|q| |y|) of the proof, or 0: none found,
 * which proves nothing. For local problems without equality rows; else 0.                            */
ST_API st_Status st_friction_contradiction(const st_FrictionProblem *problem, double *margin, st_Error *err);

/* A step problem in the FCLIB layout. Global where nothing but rigid joints stands beside the contacts; else,
 * or when asked, local with joints, springs and compliance folded into W and q. Frictionless contacts get
 * mu = 0 and tangents of zero; every friction law is written as its mu. Owns its arrays.            */
typedef struct st_FrictionCopy st_FrictionCopy;
ST_API st_Status st_friction_from_step(const st_Problem *step, bool local, st_FrictionCopy **out, st_Error *err);
ST_API const st_FrictionProblem *st_friction_copy_problem(const st_FrictionCopy *copy);
ST_API void st_friction_copy_destroy(st_FrictionCopy *copy); /* NULL is fine */

/* The same figures of a linear complementarity problem, from z alone; st_lcp_residual written a second time.
 *
 *     error = | min(z, w) | / | q |,   w = M z + q,   of free rows | w |;     absolute where q = 0
 *     error_rho likewise with rho w, over rho | q |:  rho = 1 / mean(| diag M |)                       */
typedef struct st_LcpError {
    double error, error_rho;
    double violation;       /* the most negative z of a row that is not free, as a number >= 0 */
    double complementarity; /* sum of | z w | over rows that are not free                */
} st_LcpError;

/* w (n) gets M z + q; may be NULL. */
ST_API st_Status st_lcp_error(const st_LcpProblem *problem, const double *z, double *w, st_LcpError *out,
                              st_Error *err);

/* ------------------------------------------------------------------ forces of hyperstatic systems
 *
 * Where W is singular on the active contacts, u is determined and r is not. Given a solution r, the others
 * with the same u are r + z with W z = 0, z in the active directions: all of a contact that sticks, the
 * sliding direction (1, -mu u_T/|u_T|) of one that slides, none of one that is open.               */
typedef struct st_Determined {
    int active_rows; /* active directions                                              */
    int rank;        /* of W on them; less than active_rows: hyperstatic               */
    int undetermined_contacts;
} st_Determined;

/* determined (n_r flags) tells which components are the same in all solutions near r, cones not counted; least
 * (n_r) is the solution of least sum of weight_i r_i^2 (weight n_contacts numbers > 0, one a contact; NULL: all 1),
 * the limit of contacts with compliance weight_i that goes to zero (Preclik, Popa & Ruede 2011). Either
 * output may be NULL. tolerance: relative, of rank and of the active set; 0: a good one.            */
ST_API st_Status st_friction_determined(st_Friction *friction, const double *r, const double *weight, double tolerance,
                                        bool *determined, double *least, st_Determined *out, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
