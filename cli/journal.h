/* cli/journal.h -- stores the results of a parameter study as runs end, so that a killed study can be resumed.
 *
 * TABLE.partial has one line for each run that has ended, in the order in which they ended:
 *
 *     stiction sweep 1 FINGERPRINT N_RUNS N_OUTPUTS
 *     RUN <tab> STATUS <tab> VALUE ... <tab> MESSAGE
 *
 * A line is appended by one write(). A line that a kill cut off has no end and is dropped. The fingerprint is a hash of
 * everything that determines the results: scene, overrides, values, outputs, version.
 *
 * If several processes share a study (mpirun), process k > 0 writes TABLE.partial-k, and process 0 reads these files
 * as they grow. Each holds a lock on its file while it runs.
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

/* The processes that share a study; this one is number `rank`. size 1: there is only one. */
typedef struct Ranks {
    int rank, size;
} Ranks;
#define MOST_RANKS 4096

typedef struct Journal {
    char *path, *table;
    int fd; /* -1: none */
    Ranks ranks;
    char first[100]; /* the first line */
} Journal;

/* Opens TABLE.partial, or that of this rank, and reads the results in it and in those of the others; `fresh`: drops
 * them. *n_done is their number. Returns -1 to continue, else the exit status: the reason was reported. */
int journal_open(Journal *journal, const char *table, uint64_t fingerprint, Ranks ranks, Result *results, int n_runs,
                 int n_outputs, bool fresh, int *n_done);
/* Reads results of other ranks. True: all ranks that were running have ended. */
bool journal_gather(const Journal *journal, Result *results, int n_runs, int n_outputs, int *n_done);
/* Appends a result. False: the reason was reported. */
bool journal_add(Journal *journal, int run, const Result *result, int n_outputs);
/* Closes it; `done`: the table is written, and the file is removed. */
void journal_close(Journal *journal, bool done);

/* FNV-1a. Start with FINGERPRINT_START. */
#define FINGERPRINT_START 0xcbf29ce484222325u
uint64_t fingerprint_add(uint64_t hash, const void *bytes, size_t size);

#endif
