/* solve/solver.h -- the interface of a solver, and the list of all solvers. */
#ifndef STI_SOLVER_H
#define STI_SOLVER_H

#include "base/work.h"
#include "problem/law.h"
#include "reduce/reduce.h"

typedef struct sti_Factored sti_Factored; /* factored.h */

enum { STI_MOST_PARAMETERS = 4 };

/* Rows up to which no sweeps go before newton, unless there is one contact only, which a sweep solves exactly.
 * newton is as quick there and ends far below the tolerance. Exact friction with more contacts than bodies need has
 * many solutions. Sweeps load the contacts they visit first; where friction needs an even load (a box between two
 * fingers, two cards that lean on each other) another solution is then found, in which things slide. newton, a proximal
 * point method, ends near its start, with loads as even as they were or can be.                       */
enum { STI_EVEN_ROWS = 60 };

/* Input and output of a solver: the reduced problem, and r. The solver reports its iterations and whether it considers
 * the problem solved; solver.c computes the residual and decides. */
typedef struct sti_Task {
    const st_Problem *problem;
    sti_Reduction *reduction;
    sti_Factored *factored; /* W and its factors, for those that need them                          */
    double tolerance;       /* on the natural residual                                                   */
    double polish; /* residual to go on to below the tolerance while every step gains tenfold: the answer is the start
                    * of the next problem                                                              */
    int max_iterations;
    st_Effort effort; /* how much work is allowed */
    bool impatient;   /* sweeps: end halfway where the other half would not lead to the tolerance       */
    int attempt;      /* 0; n: it has been tried n times from elsewhere, and may choose another path    */
    sti_Work *work;   /* incremented during the solve; every iteration tests the limit */
    double *r;        /* in: where to start (0 unless warm); out: the answer                              */
    double left;      /* residual of the answer that r comes from; INFINITY: not known                  */
    int iterations;
    double aim;              /* out: the residual it aimed at; the tolerance before the call            */
    double start;            /* out: the measure of the r it began with; -1: not looked at              */
    const char *solver;      /* out: the one that answered; set to the kind's own name before the call */
    const char *fallback;    /* out: the one that gave up before it, or NULL                          */
    const st_SolverDef *def; /* the caller's: progress function, own solver */
    double (*parameters)[STI_MOST_PARAMETERS]; /* by solver (STI_SOLVER_newton ...), in the order of its table   */
    int before;                                /* iterations of earlier turns; the history counts on from here */
} sti_Task;

typedef struct sti_SolverKind {
    const char *name;
    const char *help;                     /* one line for help: problems it solves, and its use */
    const st_SolverParameter *parameters; /* ends with a NULL name; at most STI_MOST_PARAMETERS. NULL: none */
    sti_LawProperty property;             /* contacts with this property are accepted */
    /* Memory that is kept between solves. Both NULL: none. */
    st_Status (*create)(const st_Allocator *allocator, void **workspace, st_Error *err);
    void (*destroy)(void *workspace);
    /* ST_OK whether or not it converged; other statuses for memory and the like. */
    st_Status (*solve)(void *workspace, sti_Task *task, st_Error *err);
} sti_SolverKind;

/* A solver of the caller's own, task->def->own. Not in the list. */
extern const sti_SolverKind sti_own;

/* All solvers, each in the file of its name: a new one is its file, with a sti_SolverKind sti_NAME, and its name here.
 * The first is the default.                                                                        */
#define STI_SOLVERS(X)           X(auto) X(lemke) X(nsgs) X(newton) X(homotopy) X(ipm) X(admm)
#define STI_DECLARE_SOLVER(name) extern const sti_SolverKind sti_##name;
STI_SOLVERS(STI_DECLARE_SOLVER)
#define STI_NUMBER_SOLVER(name) STI_SOLVER_##name,
enum { STI_SOLVERS(STI_NUMBER_SOLVER) STI_N_SOLVERS };
/* Of graphs that fit (pile/small_island.h); not for users. */
extern const sti_SolverKind sti_newton_small;

/* From which residual on `auto` leaves a start as it is, with effort balanced or real-time. */
typedef struct sti_StartRule {
    bool few;     /* rows or bodies, so that it is solved exactly                                      */
    double aim;   /* residual to reach otherwise                                                       */
    double limit; /* of a start that is good enough                                                    */
    double left;  /* residual of the answer that the start comes from                                  */
    double exact; /* the tolerance                                                                     */
} sti_StartRule;
/* small: newton_small.c takes it. */
sti_StartRule sti_auto_start_rule(int rows, bool small, int bodies, double left, double exact);
bool sti_auto_accepts_start(const sti_StartRule *rule, double residual);
/* Is a start judged by this rule? */
bool sti_solver_keeps_starts(const st_Solver *solver);

/* Adds a line to the history: for r, whose residual is computed, or for a residual that is known. Does nothing if no
 * history is recorded. */
void sti_task_report(const sti_Task *task, const double *r);
void sti_task_report_residual(const sti_Task *task, double residual);

/* A kind's workspace, NULL where it keeps none. */
st_Status sti_solver_open(const sti_SolverKind *kind, const st_Allocator *allocator, void **workspace, st_Error *err);
void sti_solver_close(const sti_SolverKind *kind, void *workspace);

/* From now on joint forces are computed without iterative refinement, for callers that correct the rest in the next
 * round. */
void sti_solver_be_rough(st_Solver *solver);

/* Data that an island prepares for its next solve. */
typedef struct sti_Equipment {
    int threads;
    struct sti_Saddle *saddle; /* the factors of its joints (sti_reduction_lend); NULL: the solver's own            */
    bool dense;                /* small problems are tried with dense factors first (dense_newton.h)                */
    double max_work;           /* visits of each contact that it may take                                           */
    sti_Stop *stop;            /* instead of the def's cancel                                                       */
    double left;               /* residual of the answer that its start comes from; INFINITY: not known             */
} sti_Equipment;
void sti_solver_equip(st_Solver *solver, sti_Equipment equipment);
/* For the next solves: the limit of work in visits of a contact, and the stop flag that replaces the def's cancel. */
void sti_solver_limit(st_Solver *solver, double max_work, sti_Stop *stop);

/* Contacts between free bodies from which on it builds a graph, and takes them as arrays. */
int sti_solver_fewest(const st_Solver *solver);

/* How it was made, and changes of that for the next solves. */
st_SolverDef sti_solver_def(const st_Solver *solver);
void sti_solver_adjust(st_Solver *solver, double tolerance, bool warm_start);

/* Is the start within the tolerance? Then r stays as it is, and nothing needs to be formed or factorised: bodies at
 * rest start with the answer. The measure of the start is set in any case, unless no iteration is allowed.  */
bool sti_task_is_answered(sti_Task *task);
/* The status of a kind's `solve`. Cancelled within a factorisation is no failure: r becomes the best so far. */
st_Status sti_task_end(sti_Task *task, st_Status status);

/* st_solver_solve for a problem that was made with care: its structure is not looked at again. `pile`: its contacts as
 * arrays instead of H; or NULL.                                                                   */
st_Status sti_solver_solve(st_Solver *solver, const st_Problem *problem, const sti_PileContacts *pile,
                           st_Solution *solution, st_SolveInfo *info, st_Error *err);
/* The solver's own array for r: a start written to it is not copied if solution.r points to it. And u of the last
 * problem whose contacts came as arrays.                                                          */
st_Status sti_solver_own_r(st_Solver *solver, int n_r, double **r, st_Error *err);
const double *sti_solver_own_u(const st_Solver *solver);

/* st_solver_solve_local for a problem that was checked. */
st_Status sti_solver_solve_local(st_Solver *solver, const st_LocalProblem *problem, st_Solution *solution,
                                 st_SolveInfo *info, st_Error *err);

/* Is it solved by a sweep or two? Then they are in the solution and in info (or NULL): first_sweep.c. */
bool sti_first_sweep(const st_LocalProblem *local, const st_SolverDef *def, const st_Solution *solution,
                     st_SolveInfo *info);

/* Does the kind take every contact of this problem? Else the first one that it does not, in *refused. */
bool sti_solver_takes(const sti_SolverKind *kind, const st_Problem *problem, int *refused);

#endif
