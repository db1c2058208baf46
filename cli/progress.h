/* cli/progress.h -- one line on a terminal's stderr, rewritten at most ten times a second; with --log lines in a file,
 * one a second at most.                                                                           */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdio.h>
#include <stiction/stiction.h>

typedef struct Progress {
    bool on;        /* stderr is a terminal and nobody asked for quiet   */
    bool shown;     /* a line stands there                               */
    double end;     /* of the run [s]                                    */
    double started; /* wall clock [s]                                    */
    double next;    /* not before this [s]                               */
    FILE *log;      /* or NULL                                           */
    double logged;  /* when its last line was written [s]                */
    double from;    /* simulated time at the start [s]                   */
} Progress;

double wall_seconds(void);
double cpu_seconds(void);

void progress_start(Progress *progress, bool quiet, FILE *log, double from, double end);
void progress_step(Progress *progress, long long steps, const st_StepInfo *info);
void progress_end(Progress *progress); /* takes the line away */

#endif
