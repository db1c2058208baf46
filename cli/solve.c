/* stiction solve: one contact problem from a file, under one or all solvers; or a folder of them. */
#include "solve.h"

#include "drawing.h"
#include "json.h"
#include "load.h"
#include "outputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Option options[] = {
    {"solver", 's', OPTION_TEXT, "NAME", "the solver, auto where none is given (stiction settings lists them)",
     offsetof(SolveOptions, solver)},
    {"all", 'a', OPTION_FLAG, NULL, "every solver that takes the problem", offsetof(SolveOptions, all)},
    {"tolerance", 't', OPTION_NUMBER, "T", "solved means: an error of at most T, 1e-8 where none is given",
     offsetof(SolveOptions, tolerance)},
    {"time-limit", 0, OPTION_NUMBER, "S", "seconds of the processor for each solve, 10 where none are given",
     offsetof(SolveOptions, time_limit)},
    {"output", 'o', OPTION_TEXT, "FILE", "write the problem with the best answer as its /solution",
     offsetof(SolveOptions, output)},
    {"determine", 0, OPTION_FLAG, NULL,
     "say which impulses the problem determines; the answer written is then the\n"
     "one of least norm",
     offsetof(SolveOptions, determine)},
    {"force", 0, OPTION_FLAG, NULL, "go on although W is not positive semi-definite", offsetof(SolveOptions, force)},
    {"plot", 0, OPTION_TEXT, "FILE", "of a folder: draw the performance profiles:\n" DRAWING_HELP,
     offsetof(SolveOptions, plot)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document", offsetof(SolveOptions, json)},
};

static int solve_main(int argc, char *const *argv);

const Command solve_command = {
    .name = "solve",
    .reads_files = true,
    .words = "FILE|FOLDER",
    .min_words = 1,
    .max_words = 1,
    .summary = "solve a contact problem from a file, or all of a folder",
    .details =
        "FILE is HDF5 in the FCLIB layout (local or global, 2-D, 3-D, rolling), or holds an LCP or MLCP: "
        "docs/problems.md. One row a solver. error is | r - P(r - u^) | / | q |, recomputed from the file's data "
        "and r by a checker that no solver shares; error_rho the same with u scaled by 1/mean(diag W). A FOLDER is "
        "searched for *.hdf5, *.h5 and *.hdf, and ends with performance profiles. Times below 10 ms are the median "
        "of up to 21 solves. Exit status: 0 solved (with --all: by one solver at least; a folder: every file was "
        "read); "
        "1 not; 2 something is wrong with the command line or the file.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
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

/* With --determine, the member of least norm takes the place of what the solver found. */
static bool least_norm(SolvedFile *solved, const SolveResult *best, double *r, st_Error *err)
{
    st_Determined found;
    return st_friction_determined(solved->friction, best->r, NULL, 0.0, NULL, r, &found, err) == ST_OK;
}

static int write_answer(SolvedFile *solved, const SolveOptions *o)
{
    const SolveResult *best = best_result(solved);
    if (best == NULL) return complain(STATUS_FAILED, "%s: nothing was found that could be written", solved->path);
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

static int solve_one(const char *path, const SolveOptions *o)
{
    SolvedFile solved = {0};
    if (o->plot != NULL) return complain(STATUS_INPUT, "solve: --plot is for folders, %s is none", path);
    if (o->output != NULL && !problem_output(o->output)) return STATUS_INPUT;
    if (!solve_file(path, o, &solved)) {
        const int status = means_scene(path)
                               ? complain(STATUS_INPUT,
                                          "%s: is a scene, must be a problem: stiction extract %s --at T -o FILE.hdf5 "
                                          "writes that of a step",
                                          path, path)
                               : complain(STATUS_INPUT, "%s", solved.message);
        solved_file_free(&solved);
        return status;
    }
    if (o->determine && solved.friction == NULL) {
        solved_file_free(&solved);
        return complain(STATUS_INPUT, "solve: --determine is about friction problems, %s is a complementarity problem",
                        path);
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

static int solve_main(int argc, char *const *argv)
{
    SolveOptions o = {0};
    const char *words[MAX_WORDS];
    struct stat info;
    const int status = command_read(&solve_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.all && o.solver != NULL) return complain(STATUS_INPUT, "solve: --solver and --all exclude each other");
    if (o.solver != NULL && st_solver_help(o.solver) == NULL) return unknown_solver(o.solver);
    if (o.tolerance <= 0) o.tolerance = 1e-8;
    if (o.time_limit <= 0) o.time_limit = 10;
    if (stat(words[0], &info) == 0 && S_ISDIR(info.st_mode)) {
        if (o.output != NULL) return complain(STATUS_INPUT, "solve: -o is for one file, %s is a folder", words[0]);
        if (o.determine && !o.json)
            return complain(STATUS_INPUT, "solve: --determine on a folder is told with --json only, %s is one",
                            words[0]);
        return solve_folder(words[0], &o);
    }
    return solve_one(words[0], &o);
}
