/* bench/siconos/compare.c -- our `auto` against every solver of Siconos Numerics, on the same files in the same run.
 *
 *     compare TOLERANCE LIMIT FILE...
 *
 * Both get the problem in memory, r = 0 to start from, and one thread; both are judged by st_friction_error on the r
 * they return. Each solver of theirs runs in a child of its own with LIMIT seconds of processor time, options as
 * they come but for tolerance and number of iterations; where it ends with an error above TOLERANCE its own
 * tolerance is tightened, up to three times, and only the run that got there is timed. Solves below 10 ms: the
 * median of up to 21. Ratios count times below 50 microseconds as 50. (gfc2d has no driver in Siconos 4.4.)
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
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

enum { MOST_REPEATS = 21, TIGHTENINGS = 3 };
#define SHORT_SOLVE 0.01
#define FLOOR       50e-6

typedef enum Storage { DENSE, SPARSE, BLOCKS } Storage;

typedef struct Theirs {
    const char *name, *kinds; /* kinds it is for, each with a space on both sides */
    int id;
    Storage storage;
    int largest; /* rows up to which it is run: the dense and the slow ones  */
    int full;    /* NSGS: stop on the full error                              */
} Theirs;

static const Theirs theirs[] = {
    {"NSGS", " fc3d ", SICONOS_FRICTION_3D_NSGS, BLOCKS, 1 << 30, 0},
    {"NSGS-full", " fc3d ", SICONOS_FRICTION_3D_NSGS, BLOCKS, 1 << 30, 1},
    {"NSGS-dense", " fc3d ", SICONOS_FRICTION_3D_NSGS, DENSE, 45, 0},
    {"PROX", " fc3d ", SICONOS_FRICTION_3D_PROX, SPARSE, 1 << 30, 0},
    {"NSN_AC", " fc3d ", SICONOS_FRICTION_3D_NSN_AC, SPARSE, 1 << 30, 0},
    {"NSN_FB", " fc3d ", SICONOS_FRICTION_3D_NSN_FB, SPARSE, 1 << 30, 0},
    {"VI_EG", " fc3d ", SICONOS_FRICTION_3D_VI_EG, BLOCKS, 1 << 30, 0},
    {"VI_FPP", " fc3d ", SICONOS_FRICTION_3D_VI_FPP, BLOCKS, 1 << 30, 0},
    {"ADMM", " fc3d ", SICONOS_FRICTION_3D_ADMM, SPARSE, 1 << 30, 0},
    {"NSGS_WR", " gfc3d ", SICONOS_GLOBAL_FRICTION_3D_NSGS_WR, SPARSE, 600, 0},
    {"NSN_AC_WR", " gfc3d ", SICONOS_GLOBAL_FRICTION_3D_NSN_AC_WR, SPARSE, 600, 0},
    {"NSN_AC", " gfc3d ", SICONOS_GLOBAL_FRICTION_3D_NSN_AC, SPARSE, 1 << 30, 0},
    {"ADMM", " gfc3d ", SICONOS_GLOBAL_FRICTION_3D_ADMM, SPARSE, 1 << 30, 0},
    {"NSGS", " gfc3d ", SICONOS_GLOBAL_FRICTION_3D_NSGS, SPARSE, 600, 0},
    {"VI_EG", " gfc3d ", SICONOS_GLOBAL_FRICTION_3D_VI_EG, SPARSE, 600, 0},
    {"NSGS", " fc2d ", SICONOS_FRICTION_2D_NSGS, BLOCKS, 1 << 30, 0},
    {"NSGS-dense", " fc2d ", SICONOS_FRICTION_2D_NSGS, DENSE, 1500, 0},
    {"CPG", " fc2d ", SICONOS_FRICTION_2D_CPG, DENSE, 1500, 0},
    {"LEMKE", " fc2d ", SICONOS_FRICTION_2D_LEMKE, DENSE, 1500, 0},
    {"NSGS", " rfc3d ", SICONOS_ROLLING_FRICTION_3D_NSGS, DENSE, 1500, 0},
    {"NSGS_WR", " grfc3d ", SICONOS_GLOBAL_ROLLING_FRICTION_3D_NSGS_WR, SPARSE, 1500, 0},
};
enum { N_THEIRS = sizeof theirs / sizeof theirs[0] };

typedef struct Outcome {
    int solved;
    double seconds, error;
} Outcome;

static double clock_seconds(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ------------------------------------------------------------------ their data */

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

typedef struct TheirProblem {
    const char *kind;
    void *problem;
} TheirProblem;

static TheirProblem make_problem(const st_ProblemFile *file, Storage storage)
{
    const st_FrictionProblem *p = &file->friction;
    TheirProblem out = {.kind = file->kind};
    double *mu = copied(p->mu, p->n_contacts), *mu_r = p->dim == 5 ? copied(p->mu_roll, p->n_contacts) : NULL;
    if (p->form == ST_FORM_LOCAL && p->dim < 5) {
        FrictionContactProblem *x = frictionContactProblem_new();
        *x = (FrictionContactProblem){p->dim, p->n_contacts, make_matrix(&p->W, storage, p->dim), copied(p->q, file->n),
                                      mu};
        out.problem = x;
    } else if (p->form == ST_FORM_LOCAL) {
        RollingFrictionContactProblem *x = rollingFrictionContactProblem_new();
        x->dimension = 5, x->numberOfContacts = p->n_contacts, x->mu = mu, x->mu_r = mu_r;
        x->M = make_matrix(&p->W, storage, 5), x->q = copied(p->q, file->n);
        out.problem = x;
    } else if (p->dim < 5) {
        GlobalFrictionContactProblem *x = globalFrictionContactProblem_new();
        x->dimension = p->dim, x->numberOfContacts = p->n_contacts, x->mu = mu;
        x->M = make_matrix(&p->M, SPARSE, p->dim), x->H = make_matrix(&p->H, SPARSE, p->dim);
        x->q = copied(p->f, p->n_v), x->b = copied(p->w, file->n);
        out.problem = x;
    } else {
        GlobalRollingFrictionContactProblem *x = globalRollingFrictionContactProblem_new();
        x->dimension = 5, x->numberOfContacts = p->n_contacts, x->mu = mu, x->mu_r = mu_r;
        x->M = make_matrix(&p->M, SPARSE, 5), x->H = make_matrix(&p->H, SPARSE, 5);
        x->q = copied(p->f, p->n_v), x->b = copied(p->w, file->n);
        out.problem = x;
    }
    return out;
}

static int drive(const TheirProblem *p, double *r, double *u, double *v, SolverOptions *options)
{
    if (strcmp(p->kind, "fc3d") == 0) return fc3d_driver(p->problem, r, u, options);
    if (strcmp(p->kind, "fc2d") == 0) return fc2d_driver(p->problem, r, u, options);
    if (strcmp(p->kind, "gfc3d") == 0) return gfc3d_driver(p->problem, r, u, v, options);
    if (strcmp(p->kind, "rfc3d") == 0) return rolling_fc3d_driver(p->problem, r, u, options);
    return g_rolling_fc3d_driver(p->problem, r, u, v, options);
}

/* ------------------------------------------------------------------ runs */

static void limit_from_now(double seconds)
{
    struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - floor(seconds)) * 1e6)}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* One solve with their own tolerance set to `own`; the problem is made anew, as some solvers change it. */
static double solve_theirs(const st_ProblemFile *file, const Theirs *t, double own, double limit, double *r)
{
    const size_t n = (size_t)file->n, n_v = (size_t)file->friction.n_v;
    TheirProblem problem = make_problem(file, t->storage);
    double *u = calloc(n + n_v + 2, sizeof *u);
    SolverOptions *options = solver_options_create(t->id);
    options->dparam[SICONOS_DPARAM_TOL] = own;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = strstr(t->name, "NSN") != NULL ? 1000 : 1000000;
    if (t->full) {
        options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL;
        options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY] = 10;
    }
    memset(r, 0, n * sizeof *r);
    limit_from_now(limit);
    const double wall = clock_seconds(CLOCK_MONOTONIC), busy = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    drive(&problem, r, u, u + n, options);
    double seconds = clock_seconds(CLOCK_MONOTONIC) - wall;
    if (seconds > SHORT_SOLVE) seconds = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - busy;
    limit_from_now(0);
    solver_options_delete(options);
    free(u);
    return seconds; /* the problem leaks: this is a child of a few seconds */
}

static double error_of(st_Friction *friction, const double *r)
{
    st_FrictionError error;
    return st_friction_error(friction, r, NULL, NULL, &error, NULL) == ST_OK ? error.error : INFINITY;
}

static void run_child(const st_ProblemFile *file, st_Friction *friction, const Theirs *t, double tolerance,
                      double limit, int out)
{
    double own = tolerance, good = tolerance, sample[MOST_REPEATS] = {0};
    double *r = calloc((size_t)file->n + 1, sizeof *r);
    Outcome outcome = {0};
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) _exit(1);
    for (int k = 0; k <= TIGHTENINGS && !outcome.solved; k++) {
        sample[0] = solve_theirs(file, t, own, limit, r);
        outcome.error = error_of(friction, r);
        outcome.solved = outcome.error <= tolerance;
        good = own;
        own *= outcome.error < INFINITY && outcome.error > 0 ? fmin(0.1, 0.5 * tolerance / outcome.error) : 0.1;
    }
    int n = 1;
    double total = sample[0];
    for (; outcome.solved && n < MOST_REPEATS && sample[0] < SHORT_SOLVE && total < 0.2; n++) {
        double *again = calloc((size_t)file->n + 1, sizeof *again);
        sample[n] = solve_theirs(file, t, good, limit, again);
        total += sample[n];
        free(again);
    }
    qsort(sample, (size_t)n, sizeof sample[0], by_size);
    outcome.seconds = sample[n / 2];
    if (write(out, &outcome, sizeof outcome) != (ssize_t)sizeof outcome) _exit(1);
    _exit(0);
}

static Outcome run_theirs(const st_ProblemFile *file, st_Friction *friction, const Theirs *t, double tolerance,
                          double limit)
{
    Outcome outcome = {.error = INFINITY};
    int ends[2];
    if (pipe(ends) != 0) return outcome;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_child(file, friction, t, tolerance, limit, ends[1]);
    close(ends[1]);
    Outcome got;
    if (child > 0 && read(ends[0], &got, sizeof got) == (ssize_t)sizeof got) outcome = got;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return outcome;
}

static Outcome run_ours(const st_ProblemFile *file, st_Friction *friction, double tolerance)
{
    Outcome outcome = {.error = INFINITY};
    double sample[MOST_REPEATS], total = 0, *r = calloc((size_t)file->n + 1, sizeof *r);
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    def.tolerance = tolerance;
    def.max_iterations = 1000000;
    def.all_errors = true;
    int n = 0;
    if (r == NULL || st_solver_create(&def, &solver, NULL) != ST_OK) return outcome;
    do {
        st_Solution solution = {.r = r};
        const double wall = clock_seconds(CLOCK_MONOTONIC), busy = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (st_friction_solve(friction, solver, &solution, NULL, NULL) != ST_OK) break;
        sample[n] = clock_seconds(CLOCK_MONOTONIC) - wall;
        if (sample[n] > SHORT_SOLVE) sample[n] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - busy;
        total += sample[n++];
    } while (n < MOST_REPEATS && sample[0] < SHORT_SOLVE && total < 0.2);
    if (n > 0) {
        qsort(sample, (size_t)n, sizeof sample[0], by_size);
        outcome.seconds = sample[n / 2];
        outcome.error = error_of(friction, r);
        outcome.solved = outcome.error <= tolerance;
    }
    st_solver_destroy(solver);
    free(r);
    return outcome;
}

/* ------------------------------------------------------------------ the table */

typedef struct Sum {
    char kind[16];
    int n, compared, slower, we_solved, they_solved;
    double logarithms;
} Sum;

static Sum *sum_of(Sum *sums, int *n, const char *kind)
{
    for (int k = 0; k < *n; k++)
        if (strcmp(sums[k].kind, kind) == 0) return &sums[k];
    snprintf(sums[*n].kind, sizeof sums[*n].kind, "%s", kind);
    return &sums[(*n)++];
}

static void compare(const char *path, double tolerance, double limit, Sum *sums, int *n_sums)
{
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    st_Friction *friction = NULL;
    if (st_problem_file_read(path, &file, &err) != ST_OK) {
        fprintf(stderr, "compare: %s\n", err.message);
        return;
    }
    if (!file->is_lcp && st_friction_create(&file->friction, &friction, &err) == ST_OK) {
        const char *slash = strrchr(path, '/'), *best_name = "-";
        char kind[24];
        Outcome best = {.error = INFINITY}, ours = run_ours(file, friction, tolerance);
        snprintf(kind, sizeof kind, " %s ", file->kind);
        for (int k = 0; k < N_THEIRS; k++) {
            if (strstr(theirs[k].kinds, kind) == NULL || file->n > theirs[k].largest) continue;
            const Outcome o = run_theirs(file, friction, &theirs[k], tolerance, limit);
            if (o.solved && (!best.solved || o.seconds < best.seconds)) best = o, best_name = theirs[k].name;
        }
        Sum *sum = sum_of(sums, n_sums, file->kind);
        const double ratio = fmax(ours.seconds, FLOOR) / fmax(best.seconds, FLOOR);
        sum->n++;
        sum->we_solved += ours.solved;
        sum->they_solved += best.solved;
        if (ours.solved && best.solved) {
            sum->compared++;
            sum->logarithms += log(ratio);
            sum->slower += ratio > 2;
        }
        printf("%-7s %-46.46s %9.2e %9.3g s", file->kind, slash != NULL ? slash + 1 : path, ours.error, ours.seconds);
        if (best.solved)
            printf("  %9.3g s %-10s %8.3f\n", best.seconds, best_name, ratio);
        else
            printf("  %s\n", strcmp(file->kind, "gfc2d") == 0 ? "no driver" : "not in time");
        fflush(stdout);
    }
    st_friction_destroy(friction);
    st_problem_file_destroy(file);
}

int main(int argc, char **argv)
{
    Sum sums[16] = {0};
    int n_sums = 0, compared = 0;
    double logarithms = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: compare TOLERANCE LIMIT FILE...\n");
        return 2;
    }
    printf("%-7s %-46s %9s %11s  %11s %-10s %8s\n", "kind", "problem", "our error", "auto", "Siconos", "by", "ratio");
    for (int k = 3; k < argc; k++)
        compare(argv[k], strtod(argv[1], NULL), strtod(argv[2], NULL), sums, &n_sums);
    printf("\n%-7s %8s %11s %14s %16s %14s\n", "kind", "problems", "auto solves", "Siconos solves", "geometric mean",
           "slower than 2x");
    for (int k = 0; k < n_sums; k++) {
        printf("%-7s %8d %11d %14d %16.3f %14d\n", sums[k].kind, sums[k].n, sums[k].we_solved, sums[k].they_solved,
               sums[k].compared > 0 ? exp(sums[k].logarithms / sums[k].compared) : NAN, sums[k].slower);
        compared += sums[k].compared;
        logarithms += sums[k].logarithms;
    }
    if (compared > 0) printf("all     %8s %11s %14s %16.3f\n", "", "", "", exp(logarithms / compared));
    return 0;
}
