#include "progress.h"

#include "terminal.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL     0.1 /* interval of the line on a terminal [s] */
#define LOG_INTERVAL 1.0 /* interval of lines in a log [s] */

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

/* "0:07", "1:02:33": hours only if needed. */
static void duration_text(double s, char *out, size_t size)
{
    if (!(s < 360000))
        snprintf(out, size, "days");
    else if (s >= 3600)
        snprintf(out, size, "%d:%02d:%02d", (int)s / 3600, (int)s / 60 % 60, (int)s % 60);
    else
        snprintf(out, size, "%d:%02d", (int)s / 60, (int)s % 60);
}

/* Everything if `width` is 0; else without the least important parts that do not fit. */
static void progress_text(const Progress *progress, double now, long long steps, const st_StepInfo *info, int width,
                          char *out, size_t size)
{
    enum { PARTS = 7 };
    static const int drop[] = {3, 5, 4, 2, 1}; /* step, speed, residual, contacts, time left */
    char part[PARTS][48];
    const double spent = now - progress->started, done = info->time - progress->from;
    const double rate = spent > 0 ? done / spent : 0, left = rate > 0 ? (progress->end - info->time) / rate : 1e9;
    const double whole = progress->end - progress->from;
    char left_text[32];
    duration_text(left, left_text, sizeof left_text);
    snprintf(part[0], sizeof part[0], "%3.0f %%", whole > 0 ? floor(100 * done / whole) : 0);
    snprintf(part[1], sizeof part[1], "%s left", left_text);
    snprintf(part[2], sizeof part[2], "%d contact%s", info->contacts, plural(info->contacts));
    snprintf(part[3], sizeof part[3], "step %lld", steps);
    snprintf(part[4], sizeof part[4], "residual %.0e", info->solve.residual.natural);
    snprintf(part[5], sizeof part[5], "%.3gx real time", rate);
    snprintf(part[6], sizeof part[6], "t %.4g of %.4g s", info->time, progress->end);
    static const int order[PARTS] = {0, 6, 1, 3, 2, 4, 5};
    for (int dropped = 0;; dropped++) {
        size_t n = 0;
        for (int k = 0; k < PARTS; k++)
            if (part[order[k]][0] != '\0')
                n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? "  " : "", part[order[k]]);
        if (width == 0 || n < (size_t)width || dropped == (int)(sizeof drop / sizeof drop[0])) return;
        part[drop[dropped]][0] = '\0';
    }
}

void progress_step(Progress *progress, long long steps, const st_StepInfo *info)
{
    char text[400];
    if (!progress->on && progress->log == NULL) return;
    double now = wall_seconds();
    if (progress->on && now >= progress->next) {
        const int width = terminal_columns(stderr) - 1; /* the cursor takes the last column */
        progress->next = now + INTERVAL;
        progress->shown = true;
        progress_text(progress, now, steps, info, width, text, sizeof text);
        fprintf(stderr, "\r%.*s\033[K", width, text); /* \033[K clears the rest of an earlier, longer line */
        fflush(stderr);
    }
    if (progress->log && now >= progress->logged + LOG_INTERVAL) {
        progress->logged = now;
        progress_text(progress, now, steps, info, 0, text, sizeof text);
        fprintf(progress->log, "%s\n", text);
        fflush(progress->log); /* for readers that follow the file */
    }
}

void progress_end(Progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
