/* stiction solve: solves one contact problem from a file with one or all solvers; or a folder of them. */
#include "solve.h"

#include "drawing.h"
#include "json.h"
#include "load.h"
#include "outputs.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Option options[] = {
    {"solver", 's', OPTION_TEXT, "NAME", "the solver (default auto); stiction settings lists them",
     offsetof(SolveOptions, solver)},
    {"all", 'a', OPTION_FLAG, NULL, "run every solver that accepts the problem", offsetof(SolveOptions, all)},
    {"tolerance", 't', OPTION_NUMBER, "T", "a problem is solved if its error is at most T (default 1e-8)",
     offsetof(SolveOptions, tolerance)},
    {"time-limit", 0, OPTION_NUMBER, "S",
     "CPU seconds for each solve, and for the search for a proof of no solution (default 10)",
     offsetof(SolveOptions, time_limit)},
    {"output", 'o', OPTION_TEXT, "FILE", "write the problem with the best result as its /solution",
     offsetof(SolveOptions, output)},
    {"determine", 0, OPTION_FLAG, NULL,
     "report which impulses the problem determines uniquely; --output then\n"
     "writes the solution of least norm",
     offsetof(SolveOptions, determine)},
    {"force", 0, OPTION_FLAG, NULL, "solve even if W is not positive semi-definite", offsetof(SolveOptions, force)},
    {"plot", 0, OPTION_TEXT, "FILE", "for a folder: draw the performance profiles:\n" DRAWING_HELP,
     offsetof(SolveOptions, plot)},
    {"parameter", 'p', OPTION_LIST, "NAME=VALUE",
     "a parameter of the solver, or SOLVER.NAME=VALUE with --all and auto; listed below",
     offsetof(SolveOptions, parameters)},
    {"history", 0, OPTION_TEXT, "FILE", "for one file: write the residual after every iteration as CSV",
     offsetof(SolveOptions, history)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document", offsetof(SolveOptions, json)},
};

static void list_parameters(FILE *out)
{
    const st_SolverParameter *p;
    fprintf(out, "parameters of solvers:\n");
    for (int k = 0; k < st_solver_count(); k++)
        for (int i = 0; (p = st_solver_parameter(st_solver_name(k), i)) != NULL; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s=%g", st_solver_name(k), p->name, p->value);
            fprintf(out, "  %-24s", name);
            print_wrapped_at(out, p->help, 26, 26);
        }
}

static int solve_main(int argc, char *const *argv);

const Command solve_command = {
    .name = "solve",
    .reads_files = true,
    .words = "FILE|FOLDER",
    .min_words = 1,
    .max_words = 1,
    .summary = "solve a contact problem from a file, or all problems of a folder",
    .details =
        "FILE is HDF5 in the FCLIB layout (local or global, 2-D, 3-D, rolling), or contains an LCP or MLCP: "
        "docs/problems.md. The table has one row per solver. error is | r - P(r - u^) | / | q |, computed from the "
        "file and "
        "r by code that no solver uses; error_rho is the same with u scaled by 1/mean(diag W). In a FOLDER, all files "
        "*.hdf5, *.h5 and *.hdf are solved, and performance profiles are printed at the end. Times below 10 ms are the "
        "median of up to 21 solves. Exit status: 0 solved (with --all: by at least one solver; for a folder: every "
        "file "
        "was read); 1 not solved; 2 an error in the command line or the file.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .more_help = list_parameters,
    .main = solve_main,
};

static int unknown_solver(const char *name)
{
    const char *names[32];
    int n = 0;
    for (; n < 32 && n < st_solver_count(); n++)
        names[n] = st_solver_name(n);
    const char *near = suggest(name, names, n);
    if (near != NULL) return complain(STATUS_INPUT, "solve: unknown solver \"%s\", did you mean %s?", name, near);
    char list[256] = "";
    for (int k = 0; k < n; k++) {
        strncat(list, k > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, names[k], sizeof list - strlen(list) - 1);
    }
    return complain(STATUS_INPUT, "solve: unknown solver \"%s\", there are: %s", name, list);
}

/* With --determine, the member of least norm replaces the solver's solution. */
static bool least_norm(SolvedFile *solved, const SolveResult *best, double *r, st_Error *err)
{
    st_Determined found;
    return st_friction_determined(solved->friction, best->r, NULL, 0.0, NULL, r, &found, err) == ST_OK;
}

static int write_answer(SolvedFile *solved, const SolveOptions *o)
{
    const SolveResult *best = best_result(solved);
    if (best == NULL) return complain(STATUS_FAILED, "%s: there is no solution to write", solved->path);
    const int n = solved->file->n, n_v = solved->friction != NULL ? solved->file->friction.n_v : 0;
    double *r = calloc(2 * (size_t)n + (size_t)n_v + 1, sizeof *r);
    st_Error err = {0};
    st_FrictionError ignored;
    st_LcpError ignored_too;
    if (r == NULL) return complain(STATUS_FAILED, "out of memory");
    double *u = r + n, *v = u + n;
    memcpy(r, best->r, (size_t)n * sizeof *r);
    bool ok = !o->determine || solved->friction == NULL || least_norm(solved, best, r, &err);
    if (solved->friction != NULL)
        ok = ok && st_friction_error(solved->friction, r, u, v, &ignored, &err) == ST_OK;
    else
        ok = ok && st_lcp_error(&solved->file->lcp, r, u, &ignored_too, &err) == ST_OK;
    ok = ok && st_problem_file_write_solution(solved->path, o->output, n, r, u, n_v, n_v > 0 ? v : NULL, &err) == ST_OK;
    free(r);
    return ok ? STATUS_OK : complain(STATUS_FAILED, "%s", err.message);
}

/* Reads NAME=VALUE; -1: fine. The solver checks whether the parameter exists. */
static int read_parameters(SolveOptions *o)
{
    o->values = calloc((size_t)o->parameters.count + 1, sizeof *o->values);
    if (o->values == NULL) return complain(STATUS_FAILED, "out of memory");
    for (int k = 0; k < o->parameters.count; k++) {
        char *text = strdup(o->parameters.item[k]), *end = NULL;
        char *equals = text != NULL ? strchr(text, '=') : NULL;
        if (text == NULL) return complain(STATUS_FAILED, "out of memory");
        if (equals != NULL) {
            *equals = '\0';
            o->values[k] = (st_SolverValue){.name = text, .value = strtod(equals + 1, &end)};
        }
        if (equals == NULL || end == equals + 1 || *end != '\0') {
            free(text);
            o->values[k].name = NULL;
            return complain(STATUS_INPUT, "solve: --parameter is \"%s\", must be NAME=NUMBER", o->parameters.item[k]);
        }
    }
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    st_Error err = {0};
    def.name = o->solver != NULL ? o->solver : "auto";
    def.values = o->values;
    def.n_values = o->parameters.count;
    if (st_solver_create(&def, &solver, &err) != ST_OK) return complain(STATUS_INPUT, "solve: %s", err.message);
    st_solver_destroy(solver);
    return -1;
}

static void free_parameters(SolveOptions *o)
{
    for (int k = 0; o->values != NULL && k < o->parameters.count; k++)
        free((void *)o->values[k].name);
    free(o->values);
    free((void *)o->parameters.item);
}

static int solve_one(const char *path, const SolveOptions *o)
{
    SolvedFile solved = {0};
    if (o->plot != NULL) return complain(STATUS_INPUT, "solve: --plot is for folders, but %s is a file", path);
    if (o->output != NULL && !problem_output(o->output)) return STATUS_INPUT;
    if (!solve_file(path, o, &solved)) {
        const int status = means_scene(path) ? complain(STATUS_INPUT,
                                                        "%s: is a scene, must be a problem: stiction extract %s --at T "
                                                        "-o FILE.hdf5 writes the problem of a step",
                                                        path, path)
                                             : complain(STATUS_INPUT, "%s", solved.message);
        solved_file_free(&solved);
        return status;
    }
    if (o->determine && solved.friction == NULL) {
        solved_file_free(&solved);
        return complain(STATUS_INPUT,
                        "solve: --determine is for friction problems, but %s is a complementarity problem", path);
    }
    if (o->json) {
        Json json;
        put_document(&json, stdout);
        put_solved(&json, NULL, &solved, o);
        put_document_end(&json);
    } else {
        print_solved(stdout, &solved, o);
    }
    int status = STATUS_FAILED;
    for (int k = 0; k < solved.n_results; k++)
        if (solved.results[k].status == SOLVED) status = STATUS_OK;
    if (o->output != NULL) {
        const int written = write_answer(&solved, o);
        if (written != STATUS_OK) status = written;
    }
    solved_file_free(&solved);
    return status;
}

static int solve_words(const char *path, SolveOptions *o)
{
    struct stat info;
    if (o->tolerance <= 0) o->tolerance = 1e-8;
    if (o->time_limit <= 0) o->time_limit = 10;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        if (o->output != NULL) return complain(STATUS_INPUT, "solve: -o is for one file, %s is a folder", path);
        if (o->determine && !o->json)
            return complain(STATUS_INPUT, "solve: --determine on a folder needs --json; %s is a folder", path);
        if (o->history != NULL) return complain(STATUS_INPUT, "solve: --history is for one file, %s is a folder", path);
        return solve_folder(path, o);
    }
    if (o->history == NULL) return solve_one(path, o);
    if (!output_possible(o->history)) return STATUS_INPUT;
    o->lines = fopen(o->history, "w");
    if (o->lines == NULL) return complain(STATUS_INPUT, "%s: cannot be written", o->history);
    fprintf(o->lines, "asked,solver,iteration,residual,work\n");
    int status = solve_one(path, o);
    if (fclose(o->lines) != 0) status = complain(STATUS_FAILED, "%s: could not be written", o->history);
    return status;
}

static int solve_main(int argc, char *const *argv)
{
    SolveOptions o = {0};
    const char *words[MAX_WORDS];
    const int status = command_read(&solve_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.all && o.solver != NULL) return complain(STATUS_INPUT, "solve: --solver and --all cannot be used together");
    if (o.solver != NULL && st_solver_help(o.solver) == NULL) return unknown_solver(o.solver);
    int result = read_parameters(&o);
    if (result < 0) result = solve_words(words[0], &o);
    free_parameters(&o);
    return result;
}
