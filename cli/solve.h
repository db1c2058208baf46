/* cli/solve.h -- solves one problem for `stiction solve`, and prints the result. */
#ifndef CLI_SOLVE_H
#define CLI_SOLVE_H

#include "command.h"

#include <stiction/io.h>

typedef struct SolveOptions {
    const char *solver, *output, *plot, *history;
    bool all, json, force, determine;
    double tolerance, time_limit;
    TextList parameters;    /* NAME=VALUE                               */
    st_SolverValue *values; /* parsed parameters */
    FILE *lines;            /* output of the history; NULL: none */
} SolveOptions;

typedef enum SolveStatus {
    SOLVED,        /* certified <= tolerance, recomputed                               */
    NOT_CONVERGED, /* the solver ended without convergence */
    TIME_LIMIT,    /* it was stopped                                                   */
    NO_SOLUTION,   /* proved                                                           */
    NOT_TAKEN,     /* the solver does not support such problems */
    FAILED         /* see message */
} SolveStatus;
const char *solve_status_name(SolveStatus status);

typedef struct SolveResult {
    const char *solver;
    const char *answered; /* `auto`: the solver that found it, else NULL */
    SolveStatus status;
    double error, error_rho, seconds, violation, complementarity;
    double equality, certified; /* st_FrictionError */
    long iterations;
    int worst; /* contact, -1: none */
    char message[256];
    double *r; /* malloc'd, or NULL: no solution */
} SolveResult;

typedef struct SolvedFile {
    char *path;
    st_ProblemFile *file;
    st_Friction *friction; /* NULL: an LCP */
    double lowest;         /* lowest eigenvalue of W or M relative to the largest */
    int n_results;
    SolveResult *results;
    char message[512]; /* why there are no results, or "" */
} SolvedFile;

/* Reads and solves; false: `message` is the reason. */
bool solve_file(const char *path, const SolveOptions *options, SolvedFile *out);
void solved_file_free(SolvedFile *solved);
/* The result with the least error, or NULL. */
const SolveResult *best_result(const SolvedFile *solved);

/* Below this W counts as not positive semi-definite: text files have six digits, which leaves -1e-6. */
#define LOWEST_ALLOWED (-1e-5)

void print_solved(FILE *out, const SolvedFile *solved, const SolveOptions *options);
int solve_folder(const char *path, const SolveOptions *options);

struct Json;
void put_solved(struct Json *json, const char *key, const SolvedFile *solved, const SolveOptions *options);

#endif
