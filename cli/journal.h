/* cli/journal.h -- the results of a parameter study as they come, so that a study that was killed can be resumed.
 *
 * TABLE.partial has one line for each run that has ended, in the order in which they ended:
 *
 *     stiction sweep 1 FINGERPRINT N_RUNS N_OUTPUTS
 *     RUN <tab> STATUS <tab> VALUE ... <tab> MESSAGE
 *
 * A line is appended by one write(). A line that a kill cut off has no end and is dropped. The fingerprint is a hash of
 * all that decides the results: scene, overrides, values, outputs, version.
 */
#ifndef CLI_JOURNAL_H
#define CLI_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of one run. */
typedef struct Result {
    char status[16]; /* "": not run yet; finished, unsolved, diverged, failed, refused, crashed */
    char *message;   /* malloc'd; NULL: none */
    double *value;   /* one for each output  */
} Result;

typedef struct Journal {
    char *path;
    int fd; /* -1: none */
} Journal;

/* Open TABLE.partial and read the results in it; `fresh`: drop them. *n_done: how many there are. Returns -1 to go on,
 * else the exit status: the reason was reported.                                                        */
int journal_open(Journal *journal, const char *table, uint64_t fingerprint, Result *results, int n_runs, int n_outputs,
                 bool fresh, int *n_done);
/* Append a result. False: the reason was reported. */
bool journal_add(Journal *journal, int run, const Result *result, int n_outputs);
/* Close it; `done`: the table is written, and the file is removed. */
void journal_close(Journal *journal, bool done);

/* FNV-1a. Start with FINGERPRINT_START. */
#define FINGERPRINT_START 0xcbf29ce484222325u
uint64_t fingerprint_add(uint64_t hash, const void *bytes, size_t size);

#endif
