/* cli/design.h -- the runs of a parameter study: the varied paths of the scene, and their values in each run. */
#ifndef CLI_DESIGN_H
#define CLI_DESIGN_H

#include "command.h"

#include <stdint.h>

#define MOST_SWEPT_RUNS 1000000

typedef struct Design {
    int n_parameters, n_runs;
    char **path;  /* one per parameter */
    char **value; /* n_runs x n_parameters, as texts for --set */
} Design;

typedef struct DesignOptions {
    TextList vary;      /* PATH=VALUES */
    const char *values; /* a CSV file; NULL: none */
    const char *sample; /* grid, random, latin; NULL: grid */
    long runs, seed;    /* 0: not given */
} DesignOptions;

/* Returns -1 to continue, else the exit status: the error was reported on stderr. */
int make_design(const DesignOptions *options, Design *design);
void free_design(Design *design);

/* Splits `text` (modified) at commas outside of brackets and quotes. NULL: out of memory. Free the list, not the
 * texts. */
char **split_at_commas(char *text, int *count);

#endif
