/* solve/solver.h -- the interface of a solver, and the list of all solvers. */
#ifndef STI_SOLVER_H
#define STI_SOLVER_H

#include "base/work.h"
#include "problem/law.h"
#include "reduce/reduce.h"

typedef struct sti_Factored sti_Factored; /* factored.h */

enum { STI_MOST_PARAMETERS = 4 };

/* Problems with up to this many rows start with newton, without sweeps. A single contact is an exception: one sweep
 * solves it exactly. newton takes as little time for so few rows and ends far below the tolerance. With more contacts
 * than the bodies need, exact friction has many solutions. Sweeps load the contacts that they visit first. If friction
 * needs an even load (a box between two fingers, two cards that lean on each other), sweeps find a solution in which
 * bodies slide. newton is a proximal point method: it ends near its start, where loads are even. */
enum { STI_EVEN_ROWS = 60 };

/* Input and output of a solver: the reduced problem, and r. The solver reports its iterations and whether it considers
 * the problem solved; solver.c computes the residual and decides. */
typedef struct sti_Task {
    const st_Problem *problem;
    sti_Reduction *reduction;
    sti_Factored *factored; /* W and its factors, for solvers that need them */
    double tolerance;       /* on the natural residual */
    double polish; /* below the tolerance, iterations continue to this residual while each one gains a factor of ten:
                    * the result is the start of the next problem */
    int max_iterations;
    st_Effort effort;  /* how much work is allowed */
    bool stop_halfway; /* sweeps: stop after half of them if the other half would not reach the tolerance */
    int attempt;       /* number of earlier attempts from other starts; the solver may choose another path */
    sti_Work *work;    /* incremented during the solve; every iteration tests the limit */
    double *r;         /* in: the start (0 without warm start); out: the solution */
    double left;       /* residual of the solution that the start comes from; INFINITY: unknown */
    int iterations;
    double aim;                                /* out: the residual that the solver tried to reach; in: the tolerance */
    double start;                              /* out: the measure of the start; -1: not computed */
    const char *solver;                        /* out: the solver that found r; in: the name of this one */
    const char *fallback;                      /* out: the solver that failed before it, or NULL */
    const st_SolverDef *def;                   /* of the caller: progress function, own solver */
    double (*parameters)[STI_MOST_PARAMETERS]; /* by solver (STI_SOLVER_newton ...), in the order of its table */
    int before;                                /* number of iterations before this call, for the history */
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

/* Calls the solver of the caller, task->def->own. It is not in the list. */
extern const sti_SolverKind sti_own;

/* The names of all solvers. Each has a file of this name with a `sti_SolverKind sti_NAME`. The first is the default. */
#define STI_SOLVERS(X)           X(auto) X(lemke) X(nsgs) X(newton) X(homotopy) X(ipm) X(admm)
#define STI_DECLARE_SOLVER(name) extern const sti_SolverKind sti_##name;
STI_SOLVERS(STI_DECLARE_SOLVER)
#define STI_NUMBER_SOLVER(name) STI_SOLVER_##name,
enum { STI_SOLVERS(STI_NUMBER_SOLVER) STI_N_SOLVERS };
/* For a few free bodies (pile/small_island.h). Users cannot choose it. */
extern const sti_SolverKind sti_newton_small;

/* When `auto` returns a start unchanged, with effort balanced or real-time. */
typedef struct sti_StartRule {
    bool few;     /* the problem has few rows or bodies and is solved exactly  */
    double aim;   /* residual to reach for other problems                      */
    double limit; /* largest residual of a start that is returned unchanged    */
    double left;  /* residual of the solution that the start comes from        */
    double exact; /* the tolerance                                             */
} sti_StartRule;
/* small: newton_small.c accepts the problem. */
sti_StartRule sti_auto_start_rule(int rows, bool small, int bodies, double left, double exact);
bool sti_auto_accepts_start(const sti_StartRule *rule, double residual);
/* Does the solver test starts by this rule? */
bool sti_solver_keeps_starts(const st_Solver *solver);

/* Adds a line to the history if one is recorded. The first function computes the residual of r. */
void sti_task_report(const sti_Task *task, const double *r);
void sti_task_report_residual(const sti_Task *task, double residual);

/* Creates and destroys the workspace of a solver; NULL if it keeps none. */
st_Status sti_solver_open(const sti_SolverKind *kind, const st_Allocator *allocator, void **workspace, st_Error *err);
void sti_solver_close(const sti_SolverKind *kind, void *workspace);

/* From now on joint forces are computed without iterative refinement, for callers that correct the rest in the next
 * round. */
void sti_solver_be_rough(st_Solver *solver);

/* Data that an island prepares for its next solve. */
typedef struct sti_Equipment {
    int threads;
    struct sti_Saddle *saddle; /* factors of its joints (sti_reduction_lend); NULL: those of the solver       */
    bool dense;                /* small problems are first solved with dense factors (dense_newton.h)         */
    double max_work;           /* largest number of visits of each contact                                    */
    sti_Stop *stop;            /* replaces `cancel` of the def                                                */
    double left;               /* residual of the solution that its start comes from; INFINITY: unknown       */
} sti_Equipment;
void sti_solver_equip(st_Solver *solver, sti_Equipment equipment);
/* For the next solves: the largest number of visits of each contact, and the flag that replaces `cancel` of the def. */
void sti_solver_limit(st_Solver *solver, double max_work, sti_Stop *stop);

/* Smallest number of contacts between free bodies for which the solver builds a graph and accepts arrays. */
int sti_solver_fewest(const st_Solver *solver);

/* The def of a solver, and changes to it for the next solves. */
st_SolverDef sti_solver_def(const st_Solver *solver);
void sti_solver_adjust(st_Solver *solver, double tolerance, bool warm_start);

/* Is the start within the tolerance? Then r is the solution, and no matrix is formed or factorised. Bodies at rest
 * start with the solution. Sets task->start, unless no iteration is allowed. */
bool sti_task_is_answered(sti_Task *task);
/* Returns the status of `solve`. A factorisation that is cancelled is no failure: r becomes the best so far. */
st_Status sti_task_end(sti_Task *task, st_Status status);

/* st_solver_solve without a check of the structure, for problems made by this library. `pile`: the contacts as arrays
 * instead of H; or NULL. */
st_Status sti_solver_solve(st_Solver *solver, const st_Problem *problem, const sti_PileContacts *pile,
                           st_Solution *solution, st_SolveInfo *info, st_Error *err);
/* The array of the solver for r. A start that is written to it is not copied if solution.r points to it. The second
 * function returns u of the last problem with contacts as arrays. */
st_Status sti_solver_own_r(st_Solver *solver, int n_r, double **r, st_Error *err);
const double *sti_solver_own_u(const st_Solver *solver);

/* st_solver_solve_local without a check. */
st_Status sti_solver_solve_local(st_Solver *solver, const st_LocalProblem *problem, st_Solution *solution,
                                 st_SolveInfo *info, st_Error *err);

/* first_sweep.c: does a sweep or two solve the problem? Then `solution` and `info` (which may be NULL) are written. */
bool sti_first_sweep(const st_LocalProblem *local, const st_SolverDef *def, const st_Solution *solution,
                     st_SolveInfo *info);

/* Does the solver accept every contact of this problem? If not, *refused is the first one that it does not accept. */
bool sti_solver_takes(const sti_SolverKind *kind, const st_Problem *problem, int *refused);

#endif
