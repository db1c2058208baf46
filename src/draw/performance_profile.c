/* draw/performance_profile.c -- draws performance profiles (Dolan & More 2002): for every solver the share of the
 * problems that it solves in at most tau times the time of the fastest, over tau on a logarithmic axis.
 */
#include "draw/svg.h"
#include "record/whole_file.h"

#include <stdlib.h>
#include <stiction/io.h>

enum { DECADES_MOST = 6, LINE = 18 };

/* Time relative to the fastest, or HUGE_VAL if it is not solved. */
static double ratio(int n_solvers, int n_problems, const double *seconds, int s, int k)
{
    double best = HUGE_VAL;
    for (int other = 0; other < n_solvers; other++) {
        const double t = seconds[(int64_t)other * n_problems + k];
        if (t >= 0.0 && t < best) best = t;
    }
    const double t = seconds[(int64_t)s * n_problems + k];
    if (t < 0.0 || best == HUGE_VAL) return HUGE_VAL;
    return best > 0.0 ? t / best : 1.0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

st_Status st_profile_write(const char *path, const char *title, int n_solvers, const char *const *names, int n_problems,
                           const double *seconds, st_Error *err)
{
    if (path == NULL || names == NULL || seconds == NULL || n_solvers < 1 || n_problems < 1)
        return sti_fail(err, ST_ERR_ARGUMENT, "a profile needs a path, at least one solver and one problem");
    double *sorted = malloc((size_t)n_problems * sizeof *sorted);
    if (sorted == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    FILE *file = NULL;
    const st_Status status = sti_file_open(path, &file, err);
    if (status != ST_OK) {
        free(sorted);
        return status;
    }
    double most = 10.0;
    for (int s = 0; s < n_solvers; s++)
        for (int k = 0; k < n_problems; k++) {
            const double r = ratio(n_solvers, n_problems, seconds, s, k);
            if (r < HUGE_VAL) most = fmax(most, r);
        }
    const sti_Window w = {
        .box = {64, 48, 560, 340}, .x0 = 0.0, .x1 = fmin(ceil(log10(most)), DECADES_MOST), .y0 = 0.0, .y1 = 1.0};
    sti_svg_begin(file, 780, 450, STI_PAPER, title != NULL ? title : "share solved");
    char text[32];
    for (int k = 0; k <= 4; k++) {
        const double y = sti_window_y(&w, 0.25 * k);
        sti_svg_line(file, w.box.x, y, w.box.x + w.box.w, y, STI_GRID, 1.0);
        snprintf(text, sizeof text, "%d %%", 25 * k);
        sti_svg_text(file, w.box.x - 8, y + 4, 12, STI_END, STI_SOFT, text);
    }
    for (int k = 0; k <= (int)w.x1; k++) {
        const double x = sti_window_x(&w, k);
        sti_svg_line(file, x, w.box.y, x, w.box.y + w.box.h, STI_GRID, 1.0);
        snprintf(text, sizeof text, "%g", pow(10.0, k));
        sti_svg_text(file, x, w.box.y + w.box.h + 18, 12, STI_MIDDLE, STI_SOFT, text);
    }
    sti_svg_text(file, w.box.x + 0.5 * w.box.w, w.box.y + w.box.h + 38, 13, STI_MIDDLE, STI_INK,
                 "time against the fastest");

    for (int s = 0; s < n_solvers; s++) {
        for (int k = 0; k < n_problems; k++)
            sorted[k] = ratio(n_solvers, n_problems, seconds, s, k);
        qsort(sorted, (size_t)n_problems, sizeof *sorted, by_size);

        /* A staircase that rises by 1/n at every ratio. */
        double share = 0.0;
        sti_svg(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", sti_colour(s));
        sti_svg(file, "%.1f %.1f ", sti_window_x(&w, 0.0), sti_window_y(&w, 0.0));
        for (int k = 0; k < n_problems && sorted[k] < HUGE_VAL; k++) {
            const double x = sti_window_x(&w, fmin(log10(fmax(1.0, sorted[k])), w.x1));
            sti_svg(file, "%.1f %.1f ", x, sti_window_y(&w, share));
            share = (k + 1.0) / n_problems;
            sti_svg(file, "%.1f %.1f ", x, sti_window_y(&w, share));
        }
        sti_svg(file, "%.1f %.1f\"/>\n", sti_window_x(&w, w.x1), sti_window_y(&w, share));

        const double y = w.box.y + 12 + LINE * s;
        sti_svg_line(file, 648, y - 4, 672, y - 4, sti_colour(s), 3.0);
        sti_svg_text(file, 680, y, 13, STI_START, STI_INK, names[s]);
    }
    sti_svg(file, "</svg>\n");
    free(sorted);
    return sti_file_close(file, path, err);
}
