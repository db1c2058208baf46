#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL     0.1 /* of the line on a terminal [s] */
#define LOG_INTERVAL 1.0 /* of lines in a log [s]         */

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

void progress_start(Progress *progress, bool quiet, FILE *log, double from, double end)
{
    double now = wall_seconds();
    *progress = (Progress){.on = !quiet && isatty(STDERR_FILENO) == 1,
                           .end = end,
                           .started = now,
                           .next = now + INTERVAL,
                           .log = log,
                           .logged = now,
                           .from = from};
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

static void progress_text(const Progress *progress, double now, long long steps, const st_StepInfo *info, char *out,
                          size_t size)
{
    double spent = now - progress->started, done = info->time - progress->from;
    double rate = spent > 0 ? done / spent : 0, left = rate > 0 ? (progress->end - info->time) / rate : 1e9;
    char left_text[32];
    duration_text(left, left_text, sizeof left_text);
    snprintf(out, size, "t %.4g of %.4g s  step %lld  contacts %d  residual %.0e  %.3gx real time  %s left", info->time,
             progress->end, steps, info->contacts, info->solve.residual.natural, rate, left_text);
}

void progress_step(Progress *progress, long long steps, const st_StepInfo *info)
{
    char text[200];
    if (!progress->on && progress->log == NULL) return;
    double now = wall_seconds();
    bool shown = progress->on && now >= progress->next,
         logged = progress->log && now >= progress->logged + LOG_INTERVAL;
    if (!shown && !logged) return;
    progress_text(progress, now, steps, info, text, sizeof text);
    if (shown) {
        progress->next = now + INTERVAL;
        progress->shown = true;
        fprintf(stderr, "\r %s\033[K", text); /* \033[K clears what an earlier, longer line left */
        fflush(stderr);
    }
    if (logged) {
        progress->logged = now;
        fprintf(progress->log, "%s\n", text);
        fflush(progress->log); /* someone may be reading along */
    }
}

void progress_end(Progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
