/* Solves one problem file with the selected solvers. */
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Shorter solves are repeated, and their median is printed: the first one includes cold caches and pages. */
#define SHORT_SOLVE  0.01
#define MOST_REPEATS 21

const char *solve_status_name(SolveStatus status)
{
    static const char *const names[] = {"solved", "not-converged", "time-limit", "no-solution", "not-taken", "failed"};
    return names[status];
}

static double clock_seconds(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The time limit, checked between iterations. It is CPU time, so that a busy machine does not change the result. If
 * it is not reached, nothing depends on the clock. */
typedef struct Deadline {
    double at;
    bool struck;
} Deadline;

static bool deadline_passed(void *ctx)
{
    Deadline *deadline = ctx;
    if (!deadline->struck && clock_seconds(CLOCK_PROCESS_CPUTIME_ID) > deadline->at) deadline->struck = true;
    return deadline->struck;
}

/* One solve of either kind of problem: its input and results. */
typedef struct Work {
    const SolvedFile *solved;
    const SolveOptions *options;
    st_Solver *solver;      /* NULL: pivoting, st_lcp_solve                     */
    st_LocalProblem local;  /* an LCP for a friction solver: rows of dimension 1 */
    st_ContactLaw *contact; /* its laws                                         */
    Deadline deadline;
    double *r;
    st_SolveInfo info;
    st_LcpInfo lcp_info;
    const char *name; /* of the solver, as given */
} Work;

static st_Status solve_once(Work *work, st_Error *err)
{
    st_Solution solution = {.r = work->r};
    work->deadline = (Deadline){.at = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + work->options->time_limit};
    if (work->solved->friction != NULL)
        return st_friction_solve(work->solved->friction, work->solver, &solution, &work->info, err);
    if (work->solver != NULL) return st_solver_solve_local(work->solver, &work->local, &solution, &work->info, err);
    st_LcpProblem lcp = work->solved->file->lcp;
    lcp.cancel = deadline_passed;
    lcp.cancel_ctx = &work->deadline;
    return st_lcp_solve(&lcp, work->options->tolerance, work->r, &work->lcp_info, err);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Long solves are measured in CPU time, which other processes do not change; short ones by the wall clock, which has
 * a finer resolution. */
static st_Status solve_timed(Work *work, double *seconds, st_Error *err)
{
    double sample[MOST_REPEATS], total = 0;
    int n = 0;
    do {
        const double wall = clock_seconds(CLOCK_MONOTONIC), busy = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        const st_Status status = solve_once(work, err);
        sample[n] = clock_seconds(CLOCK_MONOTONIC) - wall;
        if (sample[n] > SHORT_SOLVE) sample[n] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - busy;
        total += sample[n++];
        if (status != ST_OK) return status;
    } while (n < MOST_REPEATS && sample[0] < SHORT_SOLVE && total < 10 * SHORT_SOLVE);
    qsort(sample, (size_t)n, sizeof sample[0], by_size);
    *seconds = sample[n / 2];
    return ST_OK;
}

/* Judged by the independent check, not by the solver's own claim. */
static bool judge(const SolvedFile *solved, const double *r, SolveResult *result, st_Error *err)
{
    st_FrictionError friction = {0};
    st_LcpError lcp = {0};
    if (solved->friction != NULL) {
        if (st_friction_error(solved->friction, r, NULL, NULL, &friction, err) != ST_OK) return false;
        result->error = friction.error;
        result->error_rho = friction.error_rho;
        result->equality = friction.equality;
        result->certified = friction.certified;
        result->violation = friction.cone_violation;
        result->complementarity = friction.complementarity;
        result->worst = friction.worst_contact;
        return true;
    }
    if (st_lcp_error(&solved->file->lcp, r, NULL, &lcp, err) != ST_OK) return false;
    result->error = lcp.error;
    result->error_rho = lcp.error_rho;
    result->equality = 0; /* free rows are part of the error */
    result->certified = lcp.certified;
    result->violation = lcp.violation;
    result->complementarity = lcp.complementarity;
    return true;
}

/* Not solved: is there a proof that there is no solution? It may take as long as a solve. */
static bool proved_impossible(const SolvedFile *solved, const Work *work, SolveResult *result)
{
    double margin = 0;
    Deadline deadline = {.at = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + work->options->time_limit};
    st_FrictionProblem friction = solved->file->friction;
    st_LcpProblem lcp = solved->file->lcp;
    friction.cancel = lcp.cancel = deadline_passed;
    friction.cancel_ctx = lcp.cancel_ctx = &deadline;
    const char *why = "a ray shows that normal velocities >= 0, momentum and equality rows contradict each other";
    if (solved->friction == NULL && work->solver == NULL) {
        if (work->lcp_info.outcome != ST_LCP_NO_SOLUTION) return false;
        why = "every complementary basis was tried, or a ray found";
    } else if (solved->friction == NULL) {
        if (st_lcp_contradiction(&lcp, &margin, NULL) != ST_OK || margin <= 0) return false;
        why = "a ray shows that M z + q >= 0 has no solution z >= 0";
    } else if (st_friction_contradiction(&friction, &margin, NULL) != ST_OK || margin <= 0) {
        return false;
    }
    snprintf(result->message, sizeof result->message, "there is no solution: %s", why);
    return true;
}

static void conclude(const SolvedFile *solved, Work *work, SolveResult *result)
{
    const SolveOptions *o = work->options;
    st_Error err = {0};
    const bool pivoting = solved->friction == NULL && work->solver == NULL;
    result->iterations = pivoting ? work->lcp_info.pivots : work->info.iterations;
    if (!pivoting && strcmp(result->solver, work->info.solver) != 0) result->answered = work->info.solver;
    if (!judge(solved, work->r, result, &err)) {
        result->status = FAILED;
        snprintf(result->message, sizeof result->message, "%.250s", err.message);
        return;
    }
    if (result->certified <= o->tolerance)
        result->status = SOLVED;
    else if (proved_impossible(solved, work, result))
        result->status = NO_SOLUTION;
    else
        result->status = work->deadline.struck ? TIME_LIMIT : NOT_CONVERGED;
    if (result->status == SOLVED || result->status == NO_SOLUTION || !(result->error <= o->tolerance)) return;
    const char *part = !(result->error_rho <= o->tolerance)  ? "error_rho is"
                       : !(result->equality <= o->tolerance) ? "the error of the equality rows is"
                                                             : "what rounding may hide is";
    snprintf(result->message, sizeof result->message, "%s above the tolerance", part);
}

/* An LCP as a contact problem of dimension 1: frictionless rows, and rows without bounds for free ones. */
static bool make_local(Work *work)
{
    const st_LcpProblem *p = &work->solved->file->lcp;
    work->contact = calloc((size_t)p->n + 1, sizeof *work->contact);
    if (work->contact == NULL) return false;
    for (int i = 0; i < p->n; i++) {
        const bool is_free = p->free != NULL && p->free[i];
        work->contact[i] = (st_ContactLaw){.law = is_free ? ST_LAW_BOUNDED : ST_LAW_FRICTIONLESS,
                                           .dim = 1,
                                           .first = i,
                                           .lo = is_free ? -HUGE_VAL : 0,
                                           .hi = is_free ? HUGE_VAL : 0};
    }
    work->local = (st_LocalProblem){.n_r = p->n, .n_contacts = p->n, .W = p->M, .b = p->q, .contact = work->contact};
    return true;
}

static void put_line(void *ctx, const st_Progress *line)
{
    const Work *work = ctx;
    fprintf(work->options->lines, "%s,%s,%d,%.9g,%.9g\n", work->name, line->solver, line->iteration, line->residual,
            line->work);
}

static st_Status make_solver(Work *work, const char *name, bool with_history, st_Error *err)
{
    st_SolverDef def = st_solver_def();
    def.name = name;
    def.tolerance = work->options->tolerance;
    def.all_errors = true;
    def.cancel = deadline_passed;
    def.cancel_ctx = &work->deadline;
    def.values = work->options->values;
    def.n_values = work->options->parameters.count;
    if (with_history) {
        def.progress = put_line;
        def.progress_ctx = work;
    }
    return st_solver_create(&def, &work->solver, err);
}

static bool is_pivoting(const char *name)
{
    return strcmp(name, "lemke") == 0 || strcmp(name, "auto") == 0;
}

static void run_solver(const SolvedFile *solved, const SolveOptions *options, const char *name, SolveResult *result)
{
    Work work = {.solved = solved, .options = options, .name = name};
    st_Error err = {0};
    *result = (SolveResult){.solver = name, .worst = -1, .error = NAN, .error_rho = NAN, .seconds = NAN};
    result->violation = result->complementarity = result->equality = result->certified = NAN;
    work.r = calloc((size_t)solved->file->n + 1, sizeof *work.r);
    st_Status status = work.r != NULL ? ST_OK : ST_ERR_MEMORY;
    if (status != ST_OK) snprintf(err.message, sizeof err.message, "out of memory");
    const bool pivoting = solved->friction == NULL && is_pivoting(name);
    if (status == ST_OK && !pivoting) status = make_solver(&work, name, false, &err);
    if (status == ST_OK && !pivoting && solved->friction == NULL && !make_local(&work)) status = ST_ERR_MEMORY;
    if (status == ST_OK) status = solve_timed(&work, &result->seconds, &err);
    if (status == ST_OK) {
        conclude(solved, &work, result);
        result->r = work.r;
        work.r = NULL;
    } else {
        result->status = status == ST_ERR_UNSUPPORTED ? NOT_TAKEN : FAILED;
        snprintf(result->message, sizeof result->message, "%.250s", err.message);
    }
    /* solve again, because printing lines would be timed, too */
    if (status == ST_OK && options->lines != NULL && !pivoting) {
        st_solver_destroy(work.solver);
        work.solver = NULL;
        work.r = calloc((size_t)solved->file->n + 1, sizeof *work.r);
        if (work.r != NULL && make_solver(&work, name, true, &err) == ST_OK) (void)solve_once(&work, &err);
    }
    st_solver_destroy(work.solver);
    free(work.contact);
    free(work.r);
}

static bool wanted(const SolvedFile *solved, const SolveOptions *o, const char *name)
{
    if (!o->all) return strcmp(name, o->solver != NULL ? o->solver : "auto") == 0;
    if (solved->friction != NULL) return st_friction_accepts(solved->friction, name);
    return is_pivoting(name) || st_solver_accepts(name, ST_LAW_FRICTIONLESS, 1, true);
}

/* All checks of the problem before it is solved. */
static bool prepare(SolvedFile *out, const SolveOptions *o)
{
    st_Error err = {0};
    bool ok = st_problem_file_read(out->path, &out->file, &err) == ST_OK;
    if (ok && !out->file->is_lcp) {
        const st_FrictionProblem *p = &out->file->friction;
        ok = st_friction_create(p, &out->friction, &err) == ST_OK && st_friction_lowest(p, &out->lowest, &err) == ST_OK;
        if (ok && out->lowest < LOWEST_ALLOWED && !o->force) {
            snprintf(out->message, sizeof out->message,
                     "%s: %s is not positive semi-definite: it has an eigenvalue of %.2g times the largest (in its "
                     "symmetric part), found by Lanczos' method; --force tries anyway",
                     out->path, p->form == ST_FORM_LOCAL ? "W" : "M", out->lowest);
            return false;
        }
    }
    if (!ok) {
        const bool named = strncmp(err.message, out->path, strlen(out->path)) == 0;
        snprintf(out->message, sizeof out->message, "%.200s%s%.300s", named ? "" : out->path, named ? "" : ": ",
                 err.message);
    }
    return ok;
}

bool solve_file(const char *path, const SolveOptions *options, SolvedFile *out)
{
    *out = (SolvedFile){.path = strdup(path)};
    out->results = calloc((size_t)st_solver_count() + 1, sizeof *out->results);
    if (out->path == NULL || out->results == NULL) {
        snprintf(out->message, sizeof out->message, "out of memory");
        return false;
    }
    if (!prepare(out, options)) return false;
    for (int k = 0; k < st_solver_count(); k++)
        if (wanted(out, options, st_solver_name(k)))
            run_solver(out, options, st_solver_name(k), &out->results[out->n_results++]);
    return true;
}

void solved_file_free(SolvedFile *solved)
{
    for (int k = 0; k < solved->n_results; k++)
        free(solved->results[k].r);
    free(solved->results);
    st_friction_destroy(solved->friction);
    st_problem_file_destroy(solved->file);
    free(solved->path);
    *solved = (SolvedFile){0};
}

const SolveResult *best_result(const SolvedFile *solved)
{
    const SolveResult *best = NULL;
    for (int k = 0; k < solved->n_results; k++) {
        const SolveResult *result = &solved->results[k];
        if (result->r == NULL) continue;
        if (best == NULL || result->error < best->error) best = result;
    }
    return best;
}
