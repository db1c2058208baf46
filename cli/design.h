/* cli/design.h -- the runs of a parameter study: which paths of the scene vary, and their values in each run. */
#ifndef CLI_DESIGN_H
#define CLI_DESIGN_H

#include "command.h"

#include <stdint.h>

#define MOST_SWEPT_RUNS 1000000

typedef struct Design {
    int n_parameters, n_runs;
    char **path;  /* of the scene, one for each parameter                    */
    char **value; /* n_runs x n_parameters, as texts that --set takes        */
} Design;

typedef struct DesignOptions {
    TextList vary;      /* PATH=VALUES */
    const char *values; /* a CSV file; NULL: none */
    const char *sample; /* grid, random, latin; NULL: grid */
    long runs, seed;    /* 0: not given */
} DesignOptions;

/* Returns -1 to go on, else the exit status: the mistake was reported on stderr. */
int make_design(const DesignOptions *options, Design *design);
void free_design(Design *design);

/* Split `text` (changed) at commas outside of brackets and quotes. NULL: no memory. Free the list, not the texts. */
char **split_at_commas(char *text, int *count);

#endif
