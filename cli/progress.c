#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL 0.1 /* [s] */

static double seconds(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double wall_seconds(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double cpu_seconds(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

void progress_start(Progress *progress, bool quiet, double from, double end)
{
    double now = wall_seconds();
    *progress = (Progress){
        .on = !quiet && isatty(STDERR_FILENO) == 1, .end = end, .started = now, .next = now + INTERVAL, .from = from};
}

/* "0:07", "1:02:33": hours only where there are some. */
static void duration_text(double s, char *out, size_t size)
{
    if (!(s < 360000))
        snprintf(out, size, "days");
    else if (s >= 3600)
        snprintf(out, size, "%d:%02d:%02d", (int)s / 3600, (int)s / 60 % 60, (int)s % 60);
    else
        snprintf(out, size, "%d:%02d", (int)s / 60, (int)s % 60);
}

void progress_step(Progress *progress, long long steps, const st_StepInfo *info)
{
    if (!progress->on) return;
    double now = wall_seconds();
    if (now < progress->next) return;
    progress->next = now + INTERVAL;
    progress->shown = true;
    double spent = now - progress->started, done = info->time - progress->from;
    double rate = spent > 0 ? done / spent : 0, left = rate > 0 ? (progress->end - info->time) / rate : 1e9;
    char left_text[32];
    duration_text(left, left_text, sizeof left_text);
    /* \033[K clears what an earlier, longer line left. */
    fprintf(stderr, "\r t %.4g of %.4g s  step %lld  contacts %d  residual %.0e  %.3gx real time  %s left\033[K",
            info->time, progress->end, steps, info->contacts, info->solve.residual.natural, rate, left_text);
    fflush(stderr);
}

void progress_end(Progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
