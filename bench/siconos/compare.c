/* bench/siconos/compare.c -- our solvers and those of Siconos Numerics on the same files, in the same run.
 *
 *     compare [--race] LIMIT FILE...        writes the tables of docs/solvers.md to stdout, progress to stderr
 *
 * Every solver gets the problem in memory, starts from r = 0, and has one thread. Every result r is evaluated by
 * st_friction_error, at 1e-4, 1e-8 and 1e-12. Each solver runs on each problem in its own child process, with LIMIT
 * seconds of CPU time per solve. If a solver of Siconos ends with an error above the tolerance, its own tolerance is
 * tightened, up to three times, and only the successful run is timed. For solves below 10 ms the shortest of up to 201
 * is taken, because other work may disturb. For the same reason `auto` and the best solver of Siconos run again
 * alternately at the end, and the shortest time of each counts. A time at a tighter tolerance counts at a looser one if
 * it is shorter. A solver that fails after more than a second is not tried at tighter tolerances. Ratios are raw: no
 * time is rounded up.
 *
 * A run of all solvers takes hours, most of them in solvers that fail. --race limits each solver of Siconos to three
 * times the best time of its others so far (and a tenth of a second; LIMIT if none has succeeded yet). The best
 * solver and its time stay the same; whether slower ones would have succeeded is not known.
 */
#include "siconos.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_REPEATS = 201, TIGHTENINGS = 3, N_TOLERANCES = 3, MOST_PROBLEMS = 1000, MOST_RUNS = 48, FINALS = 5 };
static const double tolerances[N_TOLERANCES] = {1e-4, 1e-8, 1e-12};
#define LEAST_LIMIT 0.1
/* Longer runs are not repeated alternately. */
#define LONGEST_FINAL 0.5
/* Problems that both solve faster are summarised separately. */
#define SMALL_TIME 1e-4

typedef struct Outcome {
    int solved;
    double seconds, error;
} Outcome;

/* One solver on one problem, at all tolerances. */
typedef struct Run {
    const char *solver;
    int ours;
    Outcome at[N_TOLERANCES];
} Run;

typedef struct Row {
    char name[64], kind[16];
    int contacts, n_runs;
    Run run[MOST_RUNS];
} Row;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ------------------------------------------------------------------ runs */

/* The work of one child process. */
typedef struct Job {
    st_Friction *friction;
    const Siconos *siconos;
    int n, solver;
    const char *ours; /* or NULL: a solver of Siconos */
    int race;
    double limit[N_TOLERANCES];
} Job;

static void limit_from_now(double seconds)
{
    struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - floor(seconds)) * 1e6)}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* limit = 0: none. */
static double solve_once(const Job *job, st_Solver *solver, double own, double limit, double *r)
{
    double seconds = INFINITY;
    if (limit > 0) limit_from_now(limit);
    if (job->ours == NULL) {
        seconds = siconos_solve(job->siconos, job->solver, own, r);
    } else {
        const Stopwatch start = stopwatch_start();
        st_Solution solution = {.r = r};
        if (st_friction_solve(job->friction, solver, &solution, NULL, NULL) == ST_OK) seconds = stopwatch_read(start);
    }
    if (limit > 0) limit_from_now(0);
    return seconds;
}

static double error_of(st_Friction *friction, const double *r)
{
    st_FrictionError error;
    return st_friction_error(friction, r, NULL, NULL, &error, NULL) == ST_OK ? error.error : INFINITY;
}

static Outcome measure(const Job *job, double tolerance, double limit)
{
    double own = tolerance, good = tolerance, sample[MOST_REPEATS] = {0};
    double *r = calloc((size_t)job->n + 1, sizeof *r);
    Outcome outcome = {0};
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    def.name = job->ours != NULL ? job->ours : "auto";
    def.tolerance = tolerance;
    def.max_iterations = 1000000;
    def.all_errors = true;
    if (r == NULL || st_solver_create(&def, &solver, NULL) != ST_OK) _exit(1);
    for (int k = 0; k <= TIGHTENINGS && !outcome.solved && (k == 0 || job->ours == NULL); k++) {
        sample[0] = solve_once(job, solver, own, limit, r);
        outcome.error = error_of(job->friction, r);
        outcome.solved = outcome.error <= tolerance;
        good = own;
        own *= outcome.error < INFINITY && outcome.error > 0 ? fmin(0.1, 0.5 * tolerance / outcome.error) : 0.1;
    }
    int n = 1;
    double total = sample[0];
    for (; outcome.solved && n < MOST_REPEATS && sample[0] < SHORT_SOLVE && total < 0.2; n++) {
        sample[n] = solve_once(job, solver, good, 0, r); /* as long as before */
        total += sample[n];
    }
    qsort(sample, (size_t)n, sizeof sample[0], by_size);
    outcome.seconds = sample[0];
    st_solver_destroy(solver);
    free(r);
    return outcome;
}

static void run_child(const Job *job, int out)
{
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) _exit(1);
    for (int k = 0; k < N_TOLERANCES; k++) {
        const Outcome outcome = measure(job, tolerances[k], job->limit[k]);
        if (write(out, &outcome, sizeof outcome) != (ssize_t)sizeof outcome) _exit(1);
        if (!outcome.solved && outcome.seconds > 1.0) break;
    }
    _exit(0);
}

static void run(const Job *job, Run *to)
{
    int ends[2];
    for (int k = 0; k < N_TOLERANCES; k++)
        to->at[k] = (Outcome){.error = INFINITY};
    if (pipe(ends) != 0) return;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_child(job, ends[1]);
    close(ends[1]);
    for (int k = 0; k < N_TOLERANCES && child > 0; k++) {
        Outcome got;
        if (read(ends[0], &got, sizeof got) != (ssize_t)sizeof got) break;
        to->at[k] = got;
    }
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    for (int k = N_TOLERANCES - 2; k >= 0; k--) /* a result at a tighter tolerance counts, too */
        if (to->at[k + 1].solved && (!to->at[k].solved || to->at[k + 1].seconds < to->at[k].seconds))
            to->at[k] = to->at[k + 1];
}

static const Run *best_of_theirs(const Row *row, int t)
{
    const Run *best = NULL;
    for (int k = 0; k < row->n_runs; k++)
        if (!row->run[k].ours && row->run[k].at[t].solved &&
            (best == NULL || row->run[k].at[t].seconds < best->at[t].seconds))
            best = &row->run[k];
    return best;
}

/* Runs the same solver again: the shorter times count. */
static void run_again(const Job *job, Run *to)
{
    Run again = *to;
    run(job, &again);
    for (int t = 0; t < N_TOLERANCES; t++)
        if (again.at[t].solved && (!to->at[t].solved || again.at[t].seconds < to->at[t].seconds))
            to->at[t] = again.at[t];
}

/* Runs all solvers on one problem; `auto` is run[0]. Then it and the best of Siconos alternately. */
static void run_all(Job job, double limit, Row *row)
{
    int solver_of[MOST_RUNS] = {0};
    for (int t = 0; t < N_TOLERANCES; t++)
        job.limit[t] = limit;
    for (int k = 0; k < st_solver_count() && row->n_runs < MOST_RUNS; k++) {
        job.ours = st_solver_name(k);
        if (!st_friction_accepts(job.friction, job.ours)) continue;
        Run *to = &row->run[row->n_runs++];
        to->solver = job.ours;
        to->ours = 1;
        run(&job, to);
    }
    job.ours = NULL;
    for (int k = 0; k < siconos_count() && row->n_runs < MOST_RUNS; k++) {
        if (!siconos_takes(job.siconos, k)) continue;
        solver_of[row->n_runs] = k;
        Run *to = &row->run[row->n_runs++];
        to->solver = siconos_name(k);
        job.solver = k;
        run(&job, to);
        for (int t = 0; t < N_TOLERANCES && job.race; t++)
            if (to->at[t].solved) job.limit[t] = fmin(job.limit[t], fmax(LEAST_LIMIT, 3.0 * to->at[t].seconds));
    }
    for (int t = 0; t < N_TOLERANCES; t++)
        job.limit[t] = limit;
    for (int round = 0; round < FINALS && row->run[0].at[1].seconds < LONGEST_FINAL; round++) {
        const Run *done = NULL;
        job.ours = "auto";
        run_again(&job, &row->run[0]);
        job.ours = NULL;
        for (int t = 0; t < N_TOLERANCES; t++) {
            const Run *best = best_of_theirs(row, t);
            if (best == NULL || best == done || best->at[t].seconds > LONGEST_FINAL) continue;
            job.solver = solver_of[best - row->run];
            run_again(&job, &row->run[best - row->run]);
            done = best;
        }
    }
}

static int read_and_run(const char *path, double limit, int race, Row *row)
{
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    st_Friction *friction = NULL;
    st_Status status = st_problem_file_read(path, &file, &err);
    if (status == ST_OK && file->is_lcp) {
        st_problem_file_destroy(file);
        return 0;
    }
    if (status == ST_OK) status = st_friction_create(&file->friction, &friction, &err);
    if (status != ST_OK) {
        fprintf(stderr, "compare: %s\n", err.message);
        st_problem_file_destroy(file);
        return 0;
    }
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    snprintf(row->name, sizeof row->name, "%.*s", (int)strcspn(name, "."), name);
    snprintf(row->kind, sizeof row->kind, "%s", file->kind);
    row->contacts = file->friction.n_contacts;
    const double zero = error_of(friction, calloc((size_t)file->n + 1, sizeof(double)));
    run_all((Job){.friction = friction, .siconos = siconos_new(file, friction), .n = file->n, .race = race}, limit,
            row);
    fprintf(stderr, "%-7s %-46.46s error of zero %.1e", row->kind, row->name, zero);
    for (int k = 0; k < row->n_runs; k++) {
        fprintf(stderr, "  %s", row->run[k].solver);
        for (int t = 0; t < N_TOLERANCES; t++)
            fprintf(stderr, "%c%.3g", t == 0 ? ' ' : '/', row->run[k].at[t].solved ? row->run[k].at[t].seconds : NAN);
    }
    fprintf(stderr, "\n");
    st_friction_destroy(friction);
    st_problem_file_destroy(file);
    return 1;
}

/* ------------------------------------------------------------------ tables */

static double ratio_of(const Row *row, int t)
{
    return row->run[0].at[t].seconds / best_of_theirs(row, t)->at[t].seconds;
}

/* One line of the summary: the problems of a kind, or of all (kind = NULL). */
static void print_summary(const Row *rows, int n, int t, const char *kind)
{
    int problems = 0, ours = 0, slower = 0, compared = 0;
    double logarithms = 0, worst[2] = {0};
    const Row *which[2] = {NULL};
    for (int k = 0; k < n; k++) {
        if (kind != NULL && strcmp(rows[k].kind, kind) != 0) continue;
        const Outcome *auto_k = &rows[k].run[0].at[t];
        const Run *best = best_of_theirs(&rows[k], t);
        problems++;
        ours += auto_k->solved;
        if (!auto_k->solved || best == NULL) continue;
        const double ratio = ratio_of(&rows[k], t);
        const int small = fmax(auto_k->seconds, best->at[t].seconds) < SMALL_TIME;
        compared++;
        logarithms += log(ratio);
        if (ratio > worst[small]) {
            worst[small] = ratio;
            which[small] = &rows[k];
        }
        slower += ratio > 2;
    }
    printf("| %.0e | %s | %d | %d | %d | %.3f |", tolerances[t], kind != NULL ? kind : "all", problems, ours, compared,
           compared > 0 ? exp(logarithms / compared) : NAN);
    for (int small = 0; small < 2; small++)
        if (which[small] != NULL && kind == NULL)
            printf(" %.2f (%s) |", worst[small], which[small]->name);
        else if (which[small] != NULL)
            printf(" %.2f |", worst[small]);
        else
            printf(" |");
    printf(" %d |\n", slower);
}

static int is_first_of_kind(const Row *rows, int k)
{
    for (int before = 0; before < k; before++)
        if (strcmp(rows[before].kind, rows[k].kind) == 0) return 0;
    return 1;
}

static void print_summaries(const Row *rows, int n)
{
    printf("| tolerance | kind | problems | `auto` solves | with both | geometric mean of auto / best Siconos | worst "
           "above 0.1 ms | worst below 0.1 ms | slower than 2x |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int t = 0; t < N_TOLERANCES; t++) {
        for (int k = 0; k < n; k++)
            if (is_first_of_kind(rows, k)) print_summary(rows, n, t, rows[k].kind);
        print_summary(rows, n, t, NULL);
    }
    for (int t = 0; t < N_TOLERANCES; t++) {
        int listed = 0;
        for (int k = 0; k < n; k++)
            if (best_of_theirs(&rows[k], t) == NULL)
                printf("%s%s", listed++ == 0 ? "\nSolved by no Siconos solver: " : ", ", rows[k].name);
        if (listed > 0) printf(" at %.0e.\n", tolerances[t]);
    }
}

static void print_time(const Outcome *o)
{
    if (o->solved)
        printf(" %.3g", 1e3 * o->seconds);
    else
        printf(" -");
}

static void print_problems(const Row *rows, int n)
{
    printf("\nMilliseconds at 1e-4 / 1e-8 / 1e-12; ratio at 1e-8.\n\n"
           "| kind | problem | contacts | `auto` | best Siconos (1e-8: by) | ratio |\n|---|---|---|---|---|---|\n");
    for (int k = 0; k < n; k++) {
        const Row *row = &rows[k];
        printf("| %s | %s | %d |", row->kind, row->name, row->contacts);
        for (int t = 0; t < N_TOLERANCES; t++) {
            print_time(&row->run[0].at[t]);
            printf(t < N_TOLERANCES - 1 ? " /" : " |");
        }
        for (int t = 0; t < N_TOLERANCES; t++) {
            const Run *best = best_of_theirs(row, t);
            print_time(best != NULL ? &best->at[t] : &(Outcome){0});
            printf(t < N_TOLERANCES - 1 ? " /" : "");
        }
        const Run *best = best_of_theirs(row, 1);
        printf(" (%s) |", best != NULL ? best->solver : "none");
        if (best != NULL && row->run[0].at[1].solved) printf(" %.3f", ratio_of(row, 1));
        printf(" |\n");
    }
}

/* One solver, ours or of Siconos, on the problems of one kind. */
typedef struct Line {
    const char *solver, *kind;
    int ours, problems, solved[N_TOLERANCES];
    double logarithms[N_TOLERANCES]; /* of its times on solved problems */
} Line;

static Line *line_of(Line *lines, int *n, const char *kind, const Run *of)
{
    for (int k = 0; k < *n; k++)
        if (lines[k].ours == of->ours && strcmp(lines[k].solver, of->solver) == 0) return &lines[k];
    if (*n == 2 * MOST_RUNS) return NULL;
    lines[*n] = (Line){.solver = of->solver, .kind = kind, .ours = of->ours};
    return &lines[(*n)++];
}

static int collect_lines(const Row *rows, int n, const char *kind, Line *lines)
{
    int n_lines = 0, problems = 0;
    for (int k = 0; k < n; k++) {
        if (strcmp(rows[k].kind, kind) != 0) continue;
        problems++;
        for (int j = 0; j < rows[k].n_runs; j++) {
            Line *line = line_of(lines, &n_lines, kind, &rows[k].run[j]);
            for (int t = 0; t < N_TOLERANCES && line != NULL; t++) {
                const Outcome *o = &rows[k].run[j].at[t];
                line->solved[t] += o->solved;
                line->logarithms[t] += o->solved ? log(o->seconds) : 0;
            }
        }
    }
    for (int k = 0; k < n_lines; k++)
        lines[k].problems = problems;
    return n_lines;
}

static void print_line(const Line *line)
{
    const char *quote = line->ours ? "`" : "";
    printf("| %s | %s%s%s | %d |", line->kind, quote, line->solver, quote, line->problems);
    for (int t = 0; t < N_TOLERANCES; t++) {
        printf(" %d (%.0f %%)", line->solved[t], 100.0 * line->solved[t] / line->problems);
        if (line->solved[t] > 0) printf(", %.3g ms", 1e3 * exp(line->logarithms[t] / line->solved[t]));
        printf(" |");
    }
    printf("\n");
}

static void print_solvers(const Row *rows, int n, int race, double limit)
{
    Line lines[2 * MOST_RUNS];
    printf("\nProblems solved, and the geometric mean of the times of those. Ours, in `code`, within %g s; theirs "
           "within %s. "
           "What was not run on a problem for its size counts as unsolved.\n\n"
           "| kind | solver | problems | 1e-4 | 1e-8 | 1e-12 |\n|---|---|---|---|---|---|\n",
           limit, race ? "3 times the best of theirs, or 0.1 s" : "the same");
    for (int k = 0; k < n; k++) {
        if (!is_first_of_kind(rows, k)) continue;
        const int n_lines = collect_lines(rows, n, rows[k].kind, lines);
        for (int j = 0; j < n_lines; j++)
            print_line(&lines[j]);
    }
}

int main(int argc, char **argv)
{
    const int race = argc > 1 && strcmp(argv[1], "--race") == 0;
    if (argc < 3 + race) {
        fprintf(stderr, "usage: compare [--race] LIMIT FILE...\n");
        return 2;
    }
    const double limit = strtod(argv[1 + race], NULL);
    Row *rows = calloc(MOST_PROBLEMS, sizeof *rows);
    int n = 0;
    for (int k = 2 + race; k < argc && n < MOST_PROBLEMS && rows != NULL; k++)
        n += read_and_run(argv[k], limit, race, &rows[n]);
    print_summaries(rows, n);
    print_problems(rows, n);
    print_solvers(rows, n, race, limit);
    free(rows);
    return n > 0 ? 0 : 1;
}
