/* cli/progress.h -- one line on a terminal's stderr, rewritten at most ten times per second; with --log lines in a
 * file, at most one per second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdio.h>
#include <stiction/stiction.h>

typedef struct Progress {
    bool on;        /* stderr is a terminal, and --quiet is not given */
    bool shown;     /* the line is visible */
    double end;     /* of the run [s]                                    */
    double started; /* wall clock [s]                                    */
    double next;    /* time of the next update [s] */
    FILE *log;      /* or NULL                                           */
    double logged;  /* when its last line was written [s]                */
    double from;    /* simulated time at the start [s]                   */
} Progress;

double wall_seconds(void);
double cpu_seconds(void);

void progress_start(Progress *progress, bool quiet, FILE *log, double from, double end);
void progress_step(Progress *progress, long long steps, const st_StepInfo *info);
void progress_end(Progress *progress); /* clears the line */

#endif
