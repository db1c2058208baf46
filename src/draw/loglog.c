/* draw/loglog.c -- errors over step sizes on logarithmic axes, with the slopes of orders one and two. */
#include "base/base.h"
#include "draw/svg.h"
#include "record/whole_file.h"

#include <stiction/io.h>

#define WIDTH  620
#define HEIGHT 480

/* Values so far below the largest are rounding errors. They are left out like zeros, because they would shrink the
 * rest. */
#define NOTHING 1e-12

/* The range of decades that contains all values above `least`. */
static void decades(const st_PlotCurve *curves, int n, bool of_x, double least, double *lo, double *hi)
{
    *lo = INFINITY, *hi = -INFINITY;
    for (int c = 0; c < n; c++)
        for (int k = 0; k < curves[c].n; k++) {
            double value = of_x ? curves[c].x[k] : curves[c].y[k];
            if (!(value > least) || !isfinite(value)) continue;
            *lo = fmin(*lo, log10(value));
            *hi = fmax(*hi, log10(value));
        }
    if (!(*lo <= *hi)) *lo = -1, *hi = 0; /* no values */
    *lo = floor(*lo - 0.02), *hi = ceil(*hi + 0.02);
}

static void loglog_tick_text(char *out, size_t size, int power)
{
    snprintf(out, size, "1e%d", power);
}

static void loglog_draw_axes(FILE *file, const sti_Window *w, const char *x_label, const char *y_label)
{
    const sti_Rect *box = &w->box;
    char text[24];
    int skip_y = (int)ceil((w->y1 - w->y0) / 14);
    for (int p = (int)w->x0; p <= (int)w->x1; p++) {
        double x = sti_window_x(w, p);
        sti_svg_line(file, x, box->y, x, box->y + box->h, STI_GRID, 1);
        loglog_tick_text(text, sizeof text, p);
        sti_svg_text(file, x, box->y + box->h + 16, 11, STI_MIDDLE, STI_SOFT, text);
    }
    for (int p = (int)w->y0; p <= (int)w->y1; p += skip_y) {
        double y = sti_window_y(w, p);
        sti_svg_line(file, box->x, y, box->x + box->w, y, STI_GRID, 1);
        loglog_tick_text(text, sizeof text, p);
        sti_svg_text(file, box->x - 7, y + 4, 11, STI_END, STI_SOFT, text);
    }
    sti_svg_line(file, box->x, box->y, box->x, box->y + box->h, STI_SOFT, 1);
    sti_svg_line(file, box->x, box->y + box->h, box->x + box->w, box->y + box->h, STI_SOFT, 1);
    sti_svg_text(file, box->x + box->w, box->y + box->h + 34, 12, STI_END, STI_INK, x_label);
    sti_svg_text(file, box->x - 50, box->y - 10, 12, STI_START, STI_INK, y_label);
}

/* Distance from a point of the page to the nearest curve [pixels]; checks the ends and eight points of each segment. */
static double distance_to_curves(const sti_Window *w, const st_PlotCurve *curves, int n, double least, double px,
                                 double py)
{
    double nearest = INFINITY;
    for (int c = 0; c < n; c++)
        for (int k = 1; k < curves[c].n; k++) {
            const double *x = curves[c].x + k - 1, *y = curves[c].y + k - 1;
            if (!(x[0] > 0 && x[1] > 0 && y[0] > least && y[1] > least)) continue;
            for (int i = 0; i <= 8; i++) {
                const double s = i / 8.0, at_x = sti_window_x(w, (1 - s) * log10(x[0]) + s * log10(x[1])),
                             at_y = sti_window_y(w, (1 - s) * log10(y[0]) + s * log10(y[1]));
                nearest = fmin(nearest, hypot(at_x - px, 2 * (at_y - py))); /* because a text is wider than high */
            }
        }
    return nearest;
}

/* Draws dashed lines of slope 1 and 2 from the last point above rounding of the first curve that has one. Each label
 * is below right or above left of its line, where curves are farthest. */
static void draw_slopes(FILE *file, const sti_Window *w, const st_PlotCurve *curves, int n_curves, double most)
{
    const st_PlotCurve *curve = curves;
    int n = n_curves;
    while (n > 1 && (curve->n < 1 || !(curve->y[curve->n - 1] > 1e-12 * most)))
        curve++, n--;
    int last = curve->n - 1;
    if (last < 0 || !(curve->y[last] > 0)) return;
    double x = log10(curve->x[last]), y = log10(curve->y[last]);
    for (int order = 1; order <= 2; order++) {
        double reach = fmin(w->x1 - x, (w->y1 - y) / order);
        char text[24];
        if (!(reach > 0)) continue;
        sti_svg(file,
                "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"1\" "
                "stroke-dasharray=\"4 4\"/>\n",
                sti_window_x(w, x), sti_window_y(w, y), sti_window_x(w, x + reach), sti_window_y(w, y + order * reach),
                STI_SOFT);
        snprintf(text, sizeof text, "order %d", order);
        double best = -1, best_x = 0, best_y = 0; /* the middle of the text */
        for (int i = 3; i <= 9; i++)
            for (int side = -1; side <= 1; side += 2) {
                const double at_x = sti_window_x(w, x + 0.1 * i * reach) + side * 30,
                             at_y = sti_window_y(w, y + 0.1 * i * order * reach) + side * 10;
                const double free = distance_to_curves(w, curves, n_curves, NOTHING * most, at_x, at_y);
                const bool inside = at_x > w->box.x + 24 && at_x < w->box.x + w->box.w - 24 && at_y > w->box.y + 12;
                if (inside && free > best) best = free, best_x = at_x, best_y = at_y;
            }
        if (best >= 0) sti_svg_text(file, best_x, best_y + 4, 11, STI_MIDDLE, STI_SOFT, text);
    }
}

st_Status st_plot_loglog(const char *path, const char *title, const char *x_label, const char *y_label,
                         const st_PlotCurve *curves, int n_curves, st_Error *err)
{
    FILE *file = NULL;
    if (path == NULL || curves == NULL || n_curves < 1)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_plot_loglog: a path and at least one curve must be given");
    STI_TRY(sti_check_curves(curves, n_curves, err));
    sti_Window window = {.box = {70, 96, WIDTH - 100, HEIGHT - 156}};
    double most = 0;
    for (int c = 0; c < n_curves; c++)
        for (int k = 0; k < curves[c].n; k++)
            if (isfinite(curves[c].y[k])) most = fmax(most, curves[c].y[k]);

    const double least = NOTHING * most;
    decades(curves, n_curves, true, 0, &window.x0, &window.x1);
    decades(curves, n_curves, false, least, &window.y0, &window.y1);
    STI_TRY(sti_file_open(path, &file, err));
    sti_svg_begin(file, WIDTH, HEIGHT, STI_PAPER, title);
    loglog_draw_axes(file, &window, x_label != NULL ? x_label : "", y_label != NULL ? y_label : "");
    draw_slopes(file, &window, curves, n_curves, most);
    for (int c = 0; c < n_curves; c++) {
        const st_PlotCurve *curve = &curves[c];
        double x_before = NAN, y_before = NAN;
        for (int k = 0; k < curve->n; k++) {
            if (!(curve->x[k] > 0 && curve->y[k] > least) || !isfinite(curve->y[k])) continue;
            double x = sti_window_x(&window, log10(curve->x[k])), y = sti_window_y(&window, log10(curve->y[k]));
            if (!isnan(x_before)) sti_svg_line(file, x_before, y_before, x, y, sti_colour(c), 1.6);
            sti_svg(file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.2\" fill=\"%s\"/>\n", x, y, sti_colour(c));
            x_before = x, y_before = y;
        }
    }

    /* On a line of its own above the chart, where nothing is under it. Curves that are only rounding errors are
     * labelled so. */
    double x = window.box.x + 14;
    for (int c = 0; c < n_curves; c++) {
        char text[160];
        bool seen = false;
        for (int k = 0; k < curves[c].n; k++)
            seen = seen || (isfinite(curves[c].y[k]) && curves[c].y[k] > least);
        snprintf(text, sizeof text, "%.120s%s", curves[c].name != NULL ? curves[c].name : "", seen ? "" : ": rounding");
        sti_svg(file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.2\" fill=\"%s\"/>\n", x, window.box.y - 14, sti_colour(c));
        sti_svg_text(file, x + 9, window.box.y - 10, 12, STI_START, STI_INK, text);
        x += 26 + 6.6 * (double)strlen(text);
    }

    fputs("</svg>\n", file);
    return sti_file_close(file, path, err);
}
