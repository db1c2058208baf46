/* bench/siconos/siconos.c -- problems and solvers of Siconos Numerics 4.4; siconos.h.
 *
 * All friction solvers of Debian's package, each with the storage it was written for, except those that need PATH or
 * GAMS, which the package lacks, and the solvers of one contact. Options are the defaults except tolerance and
 * number of iterations. Problems above a size are left out for solvers that are dense or take minutes.
 */
#include "siconos.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
/* Siconos */
#include <CSparseMatrix.h>
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <GlobalRollingFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <RollingFrictionContactProblem.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

typedef enum Storage { DENSE, SPARSE, BLOCKS } Storage;

typedef struct Kind {
    const char *name, *kind;
    int id;
    Storage storage;
    int largest; /* most rows for which it is run: for dense and slow solvers, as in REFERENCE.md */
    int full;    /* NSGS: stop on the full error                                                     */
    int inner;   /* NSGS: another solver of one contact, or 0                                        */
} Kind;

enum { ANY = 1 << 30 };

/* In a race the first solvers set the limits: those that solve most. */
static const Kind kinds[] = {
    {"PROX", "fc3d", SICONOS_FRICTION_3D_PROX, SPARSE, ANY, 0, 0},
    {"NSGS", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, ANY, 0, 0},
    {"NSGS-full", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, ANY, 1, 0},
    {"NSGS-dense", "fc3d", SICONOS_FRICTION_3D_NSGS, DENSE, 45, 0, 0},
    {"NSGS-PLI", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, 400, 1,
     SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration},
    {"NSGS-quartic", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, 100, 1, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC},
    {"NSN_AC", "fc3d", SICONOS_FRICTION_3D_NSN_AC, SPARSE, ANY, 0, 0},
    {"NSN_FB", "fc3d", SICONOS_FRICTION_3D_NSN_FB, SPARSE, ANY, 0, 0},
    {"NSN_NM", "fc3d", SICONOS_FRICTION_3D_NSN_NM, SPARSE, 200, 0, 0},
    {"VI_EG", "fc3d", SICONOS_FRICTION_3D_VI_EG, BLOCKS, ANY, 0, 0},
    {"VI_FPP", "fc3d", SICONOS_FRICTION_3D_VI_FPP, BLOCKS, ANY, 0, 0},
    {"EG", "fc3d", SICONOS_FRICTION_3D_EG, BLOCKS, 400, 0, 0},
    {"TFP", "fc3d", SICONOS_FRICTION_3D_TFP, BLOCKS, 200, 0, 0},
    {"ACLMFP", "fc3d", SICONOS_FRICTION_3D_ACLMFP, SPARSE, 200, 0, 0},
    {"SOCLCP", "fc3d", SICONOS_FRICTION_3D_SOCLCP, BLOCKS, 20, 0, 0},
    {"ADMM", "fc3d", SICONOS_FRICTION_3D_ADMM, SPARSE, ANY, 0, 0},
    {"NSGS-NSN", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, ANY, 1, SICONOS_FRICTION_3D_ONECONTACT_NSN},
    {"NSGS-NSN_GP", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, ANY, 1, SICONOS_FRICTION_3D_ONECONTACT_NSN_GP},
    {"NSGS-P", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, ANY, 1, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone},
    {"NSGS-PD", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, 400, 1,
     SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithDiagonalization},
    {"NSGS-PR", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, 400, 1,
     SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithRegularization},
    {"NSGS-quartic-NU", "fc3d", SICONOS_FRICTION_3D_NSGS, BLOCKS, 100, 1, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC_NU},
    {"NSGSV", "fc3d", SICONOS_FRICTION_3D_NSGSV, DENSE, 400, 0, 0},
    {"DSFP", "fc3d", SICONOS_FRICTION_3D_DSFP, BLOCKS, ANY, 0, 0},
    {"FPP", "fc3d", SICONOS_FRICTION_3D_FPP, BLOCKS, ANY, 0, 0},
    {"HP", "fc3d", SICONOS_FRICTION_3D_HP, BLOCKS, ANY, 0, 0},
    {"PFP", "fc3d", SICONOS_FRICTION_3D_PFP, BLOCKS, 200, 0, 0},
    {"NCP-FB-FP", "fc3d", SICONOS_FRICTION_3D_NCPGlockerFBFixedPoint, DENSE, 200, 0, 0},
    {"ADMM", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_ADMM, SPARSE, ANY, 0, 0},
    {"NSGS_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_NSGS_WR, SPARSE, ANY, 0, 0},
    {"NSN_AC_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_NSN_AC_WR, SPARSE, ANY, 0, 0},
    {"NSN_AC", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_NSN_AC, SPARSE, ANY, 0, 0},
    {"ADMM_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_ADMM_WR, SPARSE, ANY, 0, 0},
    {"VI_FPP", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_VI_FPP, SPARSE, ANY, 0, 0},
    {"VI_EG", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_VI_EG, SPARSE, ANY, 0, 0},
    {"IPM", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_IPM, SPARSE, ANY, 0, 0},
    {"NSGS", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_NSGS, SPARSE, 100, 0, 0},
    {"ACLMFP", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_ACLMFP, SPARSE, 100, 0, 0},
    {"PROX_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_PROX_WR, SPARSE, ANY, 0, 0},
    {"NSGSV_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_NSGSV_WR, SPARSE, ANY, 0, 0},
    {"DSFP_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_DSFP_WR, SPARSE, ANY, 0, 0},
    {"TFP_WR", "gfc3d", SICONOS_GLOBAL_FRICTION_3D_TFP_WR, SPARSE, ANY, 0, 0},
    {"NSGS", "fc2d", SICONOS_FRICTION_2D_NSGS, BLOCKS, ANY, 0, 0},
    {"NSGS-dense", "fc2d", SICONOS_FRICTION_2D_NSGS, DENSE, 1500, 0, 0},
    {"CPG", "fc2d", SICONOS_FRICTION_2D_CPG, DENSE, 1500, 0, 0},
    {"LEMKE", "fc2d", SICONOS_FRICTION_2D_LEMKE, DENSE, 1500, 0, 0},
    {"ENUM", "fc2d", SICONOS_FRICTION_2D_ENUM, DENSE, 45, 0, 0},
    {"NSGS", "rfc3d", SICONOS_ROLLING_FRICTION_3D_NSGS, DENSE, ANY, 0, 0},
    {"NSGS-block", "rfc3d", SICONOS_ROLLING_FRICTION_3D_NSGS, BLOCKS, ANY, 0, 0},
    {"NSGS-P", "rfc3d", SICONOS_ROLLING_FRICTION_3D_NSGS, DENSE, ANY, 0,
     SICONOS_ROLLING_FRICTION_3D_ONECONTACT_ProjectionOnCone},
    {"NSGS-PLI", "rfc3d", SICONOS_ROLLING_FRICTION_3D_NSGS, DENSE, ANY, 0,
     SICONOS_ROLLING_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration},
    {"ADMM", "rfc3d", SICONOS_ROLLING_FRICTION_3D_ADMM, SPARSE, ANY, 0, 0},
    {"NSGS_WR", "grfc3d", SICONOS_GLOBAL_ROLLING_FRICTION_3D_NSGS_WR, SPARSE, ANY, 0, 0},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

struct Siconos {
    const st_FrictionProblem *problem;
    const char *kind; /* the kind of solvers that accept it */
    st_Sparse W;      /* local: of the file, or formed                                               */
    const double *q;
    int n;
};

/* ------------------------------------------------------------------ time */

static double clock_seconds(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Stopwatch stopwatch_start(void)
{
    /* first, because it is a system call of a third of a microsecond */
    const double busy = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    return (Stopwatch){clock_seconds(CLOCK_MONOTONIC), busy};
}

double stopwatch_read(Stopwatch start)
{
    const double wall = clock_seconds(CLOCK_MONOTONIC) - start.wall;
    return wall > SHORT_SOLVE ? clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start.busy : wall;
}

/* ------------------------------------------------------------------ problems */

/* W and q of a global problem, column by column: u = W r + q of unit impulses. */
static void form_local(Siconos *s, st_Friction *friction)
{
    const size_t n = (size_t)s->n;
    double *unit = calloc(n, sizeof *unit), *u = calloc(n, sizeof *u), *q = calloc(n, sizeof *q);
    int64_t *p = calloc(n + 1, sizeof *p);
    int *i = calloc(n * n, sizeof *i);
    double *x = calloc(n * n, sizeof *x);
    st_FrictionError error;
    st_friction_error(friction, unit, q, NULL, &error, NULL);
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1.0;
        st_friction_error(friction, unit, u, NULL, &error, NULL);
        unit[j] = 0.0;
        p[j + 1] = p[j];
        for (size_t row = 0; row < n; row++)
            if (u[row] != q[row]) {
                i[p[j + 1]] = (int)row;
                x[p[j + 1]++] = u[row] - q[row];
            }
    }
    free(unit);
    free(u);
    s->W = (st_Sparse){s->n, s->n, p, i, x};
    s->q = q;
}

Siconos *siconos_new(const st_ProblemFile *file, st_Friction *friction)
{
    Siconos *s = calloc(1, sizeof *s);
    *s = (Siconos){&file->friction, file->kind, file->friction.W, file->friction.q, file->n};
    if (strcmp(file->kind, "gfc2d") == 0) {
        s->kind = "fc2d";
        form_local(s, friction);
    }
    return s;
}

int siconos_count(void)
{
    return N_KINDS;
}

const char *siconos_name(int solver)
{
    return kinds[solver].name;
}

int siconos_takes(const Siconos *problem, int solver)
{
    return strcmp(kinds[solver].kind, problem->kind) == 0 && problem->n <= kinds[solver].largest;
}

static NumericsMatrix *make_matrix(const st_Sparse *A, Storage storage, int dim)
{
    NumericsMatrix *out = NM_create(storage == DENSE ? NM_DENSE : NM_SPARSE, A->n_rows, A->n_cols);
    if (storage == DENSE) {
        memset(out->matrix0, 0, (size_t)A->n_rows * (size_t)A->n_cols * sizeof(double));
    } else {
        NM_triplet_alloc(out, (CS_INT)A->p[A->n_cols] + 1);
        out->matrix2->origin = NSM_TRIPLET;
    }
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++)
            NM_entry(out, A->i[e], j, A->x[e]);
    if (storage != BLOCKS) {
        if (storage == SPARSE) NM_csc(out);
        return out;
    }
    SparseBlockStructuredMatrix *blocks = SBM_new();
    SBM_from_csparse(dim, NM_csc(out), blocks);
    return NM_new_SBM(A->n_rows, A->n_cols, blocks);
}

static double *copied(const double *x, int n)
{
    double *out = malloc((size_t)(n > 0 ? n : 1) * sizeof *out);
    if (n > 0) memcpy(out, x, (size_t)n * sizeof *out);
    return out;
}

/* ------------------------------------------------------------------ solves */

static double timed(int (*drive)(void *problem, double *r, double *u, double *v, SolverOptions *options), void *problem,
                    double *r, double *u, double *v, SolverOptions *options)
{
    const Stopwatch start = stopwatch_start();
    drive(problem, r, u, v, options);
    return stopwatch_read(start);
}

static int drive_2d(void *problem, double *r, double *u, double *v, SolverOptions *options)
{
    (void)v;
    return fc2d_driver(problem, r, u, options);
}

static int drive_3d(void *problem, double *r, double *u, double *v, SolverOptions *options)
{
    (void)v;
    return fc3d_driver(problem, r, u, options);
}

static int drive_global(void *problem, double *r, double *u, double *v, SolverOptions *options)
{
    return gfc3d_driver(problem, r, u, v, options);
}

static int drive_rolling(void *problem, double *r, double *u, double *v, SolverOptions *options)
{
    (void)v;
    return rolling_fc3d_driver(problem, r, u, options);
}

static int drive_global_rolling(void *problem, double *r, double *u, double *v, SolverOptions *options)
{
    return g_rolling_fc3d_driver(problem, r, u, v, options);
}

/* The problem is created for each solve, because some solvers change it; it leaks, but callers are child processes
 * of a few seconds. */
static double solve_local(const Siconos *s, Storage storage, double *r, double *u, SolverOptions *options)
{
    const st_FrictionProblem *p = s->problem;
    NumericsMatrix *W = make_matrix(&s->W, storage, p->dim);
    double *mu = copied(p->mu, p->n_contacts), *q = copied(s->q, s->n);
    if (p->dim < 5) {
        FrictionContactProblem *x = frictionContactProblem_new();
        *x = (FrictionContactProblem){p->dim, p->n_contacts, W, q, mu};
        return timed(p->dim == 2 ? drive_2d : drive_3d, x, r, u, NULL, options);
    }
    RollingFrictionContactProblem *x = rollingFrictionContactProblem_new();
    x->dimension = 5, x->numberOfContacts = p->n_contacts, x->mu = mu, x->mu_r = copied(p->mu_roll, p->n_contacts);
    x->M = W, x->q = q;
    return timed(drive_rolling, x, r, u, NULL, options);
}

static double solve_global(const Siconos *s, double *r, double *u, double *v, SolverOptions *options)
{
    const st_FrictionProblem *p = s->problem;
    NumericsMatrix *M = make_matrix(&p->M, SPARSE, p->dim), *H = make_matrix(&p->H, SPARSE, p->dim);
    double *mu = copied(p->mu, p->n_contacts), *f = copied(p->f, p->n_v), *w = copied(p->w, s->n);
    if (p->dim < 5) {
        GlobalFrictionContactProblem *x = globalFrictionContactProblem_new();
        x->dimension = p->dim, x->numberOfContacts = p->n_contacts, x->mu = mu;
        x->M = M, x->H = H, x->q = f, x->b = w;
        return timed(drive_global, x, r, u, v, options);
    }
    GlobalRollingFrictionContactProblem *x = globalRollingFrictionContactProblem_new();
    x->dimension = 5, x->numberOfContacts = p->n_contacts, x->mu = mu, x->mu_r = copied(p->mu_roll, p->n_contacts);
    x->M = M, x->H = H, x->q = f, x->b = w;
    return timed(drive_global_rolling, x, r, u, v, options);
}

double siconos_solve(const Siconos *problem, int solver, double own, double *r)
{
    const Kind *kind = &kinds[solver];
    const size_t n = (size_t)problem->n, n_v = (size_t)problem->problem->n_v;
    double *u = calloc(n + n_v + 2, sizeof *u), seconds;
    SolverOptions *options = solver_options_create(kind->id);
    options->dparam[SICONOS_DPARAM_TOL] = own;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = strstr(kind->name, "NSN") != NULL ? 1000 : 1000000;
    if (kind->full) {
        options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL;
        options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY] = 10;
    }
    if (kind->inner != 0) solver_options_update_internal(options, 0, kind->inner);
    memset(r, 0, n * sizeof *r);
    if (problem->W.n_rows > 0)
        seconds = solve_local(problem, kind->storage, r, u, options);
    else
        seconds = solve_global(problem, r, u, u + n, options);
    solver_options_delete(options);
    free(u);
    return seconds;
}
