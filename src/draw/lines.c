/* draw/lines.c -- curves on linear axes, one panel below the other, with one legend. */
#include "base/base.h"
#include "draw/svg.h"
#include "record/whole_file.h"

#include <stiction/io.h>

#define WIDTH   860.0
#define LEFT    80.0
#define RIGHT   30.0
#define TOP     64.0 /* room for title and legend */
#define PANEL_H 200.0
#define GAP     60.0

st_Status sti_check_curves(const st_PlotCurve *curves, int n, st_Error *err)
{
    if (n < 0 || (n > 0 && curves == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "a plot of %d curves: the number must be > 0, and curves must not be NULL", n);
    for (int c = 0; c < n; c++)
        if (curves[c].n < 0 || (curves[c].n > 0 && (curves[c].x == NULL || curves[c].y == NULL)))
            return sti_fail(err, ST_ERR_ARGUMENT, "curve \"%s\" of a plot has %d points, must have x and y",
                            curves[c].name != NULL ? curves[c].name : "", curves[c].n);
    return ST_OK;
}

static void range(const st_PlotPanel *panel, bool of_x, double *lo, double *hi)
{
    *lo = INFINITY, *hi = -INFINITY;
    for (int c = 0; c < panel->n_curves; c++)
        for (int k = 0; k < panel->curves[c].n; k++) {
            double value = of_x ? panel->curves[c].x[k] : panel->curves[c].y[k];
            if (!isfinite(value)) continue;
            *lo = fmin(*lo, value), *hi = fmax(*hi, value);
        }
    if (!(*lo <= *hi)) *lo = 0, *hi = 1; /* no values */
    if (!of_x || *lo == *hi) sti_round_range(lo, hi);
}

/* Draws the legend in as many lines as needed; returns the height of the lines after the first. file NULL: only
 * computes it. */
static double lines_draw_legend(FILE *file, const st_PlotPanel *panel, double first)
{
    double x = LEFT, y = first;
    for (int c = 0; c < panel->n_curves; c++) {
        const char *name = panel->curves[c].name != NULL ? panel->curves[c].name : "";
        double width = 34 + 6.2 * (double)strlen(name);
        if (x > LEFT && x + width > WIDTH) x = LEFT, y += 18;
        if (file != NULL) {
            sti_svg_line(file, x, y, x + 18, y, sti_colour(c), 2.5);
            sti_svg_text(file, x + 23, y + 4, 11, STI_START, STI_INK, name);
        }
        x += width;
    }
    return y - 44;
}

st_Status st_plot_lines(const char *path, const char *title, const char *x_label, const st_PlotPanel *panels,
                        int n_panels, st_Error *err)
{
    FILE *file = NULL;
    if (path == NULL || panels == NULL || n_panels < 1)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_plot_lines: a path and at least one panel must be given");
    for (int p = 0; p < n_panels; p++)
        STI_TRY(sti_check_curves(panels[p].curves, panels[p].n_curves, err));
    STI_TRY(sti_file_open(path, &file, err));
    const double first = title != NULL && strchr(title, '\n') != NULL ? 62 : 44; /* y of the legend */
    double top = TOP + lines_draw_legend(NULL, &panels[0], first), height = top + n_panels * (PANEL_H + GAP);
    sti_svg_begin(file, WIDTH, height, STI_PAPER, title);
    lines_draw_legend(file, &panels[0], first);
    for (int p = 0; p < n_panels; p++) {
        sti_Window window = {.box = {LEFT, top + 20 + p * (PANEL_H + GAP), WIDTH - LEFT - RIGHT, PANEL_H}};
        range(&panels[p], true, &window.x0, &window.x1);
        range(&panels[p], false, &window.y0, &window.y1);
        sti_svg_axes(file, &window, x_label != NULL ? x_label : "", panels[p].label != NULL ? panels[p].label : "");
        for (int c = 0; c < panels[p].n_curves; c++) {
            /* Later curves have their own dashes, so that curves that coincide are all visible. */
            const st_PlotCurve *curve = &panels[p].curves[c];
            bool open = false;
            for (int k = 0; k < curve->n; k++) {
                if (!isfinite(curve->x[k]) || !isfinite(curve->y[k])) continue;
                if (curve->points) {
                    sti_svg(file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.4\" fill=\"%s\" fill-opacity=\"0.65\"/>\n",
                            sti_window_x(&window, curve->x[k]), sti_window_y(&window, curve->y[k]), sti_colour(c));
                    continue;
                }
                if (!open)
                    sti_svg(file,
                            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-dasharray=\"%d %d\" "
                            "points=\"",
                            sti_colour(c), c == 0 ? 2.6 : 1.5, 10, c == 0 ? 0 : 1 + 3 * c);
                sti_svg(file, "%.2f ", sti_window_x(&window, curve->x[k]));
                sti_svg(file, "%.2f ", sti_window_y(&window, curve->y[k]));
                open = true;
            }
            if (open) fputs("\"/>\n", file);
        }
    }
    fputs("</svg>\n", file);
    return sti_file_close(file, path, err);
}
