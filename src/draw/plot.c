/* draw/plot.c -- draws curves of a recording (record/curves.c) as SVG for papers, over time or over one of the
 * curves. Curves of one unit share a chart; charts are below one another.
 */
#include "draw/svg.h"
#include "record/curves.h"
#include "record/whole_file.h"

#include <stdlib.h>

#define MOST_CURVES 16
#define TITLE       34.0  /* [px] above the charts */
#define CHART       260.0 /* [px] of a chart       */

typedef struct Plot {
    st_Recording *recording;
    const st_RecordingInfo *info;
    st_Allocator allocator;
    sti_Curve curve[MOST_CURVES + 1]; /* the last one is the horizontal axis, if any */
    int n, n_read;
    char over[80];
    double *step_time, *frame_time;
    const sti_Curve *chart[MOST_CURVES]; /* curves of the chart being drawn */
} Plot;

static bool of_frames(const sti_Curve *curve)
{
    return curve->kind != STI_CURVE_STEP;
}

static double chart_time(const void *ctx, int sample)
{
    const Plot *plot = ctx;
    if (plot->n_read > plot->n) return plot->curve[plot->n].value[sample];
    return of_frames(plot->chart[0]) ? plot->frame_time[sample] : plot->step_time[sample];
}

static double plot_chart_value(const void *ctx, int curve, int sample)
{
    return ((const Plot *)ctx)->chart[curve]->value[sample];
}

/* Do they have the same unit and the same times? Then they share a chart. */
static bool plot_together(const sti_Curve *a, const sti_Curve *b)
{
    return strcmp(a->unit, b->unit) == 0 && of_frames(a) == of_frames(b) &&
           (a->unit[0] != '\0' || strcmp(a->name, b->name) == 0);
}

/* Errors are drawn on a logarithmic axis: on a linear axis only the worst step would be visible. */
static bool in_powers(const Plot *plot, int n)
{
    static const char *const errors[] = {"residual", "penetration", "joint_error"};
    for (int c = 0; c < n; c++) {
        bool error = false;
        for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++)
            error = error || (!of_frames(plot->chart[c]) && strcmp(plot->chart[c]->name, errors[k]) == 0);
        if (!error) return false;
    }
    return true;
}

/* Is curve c the first one of its chart? */
static bool starts_chart(const Plot *plot, int c)
{
    for (int k = 0; k < c; k++)
        if (plot_together(&plot->curve[k], &plot->curve[c])) return false;
    return true;
}

static st_Status plot_draw(Plot *plot, const char *path, st_Error *err)
{
    FILE *file = NULL;
    int charts = 0, row = 0;
    for (int c = 0; c < plot->n; c++)
        charts += starts_chart(plot, c);
    STI_TRY(sti_file_open(path, &file, err));
    char title[160];
    snprintf(title, sizeof title, "%.150s", plot->info->name[0] != '\0' ? plot->info->name : "run");
    sti_svg_begin(file, 730, TITLE + CHART * charts + 6, "#ffffff", title);
    for (int c = 0; c < plot->n; c++)
        if (starts_chart(plot, c)) {
            const char *names[MOST_CURVES], *colours[MOST_CURVES];
            char label[64];
            const sti_Curve *head = &plot->curve[c];
            int n = 0;
            for (int k = c; k < plot->n; k++) {
                if (!plot_together(head, &plot->curve[k])) continue;
                names[n] = plot->curve[k].name;
                colours[n] = sti_colour(n);
                plot->chart[n++] = &plot->curve[k];
            }
            int64_t samples = of_frames(head) ? plot->info->n_frames : plot->info->n_steps;
            /* a single curve is named at its axis, several in the legend */
            snprintf(label, sizeof label, head->unit[0] != '\0' ? "%.40s [%s]" : "%.40s%.0s", n == 1 ? head->name : "",
                     head->unit);
            sti_Curves curves = {.title = label,
                                 .n = n,
                                 .name = n > 1 ? names : NULL,
                                 .colour = colours,
                                 .dashed = -1,
                                 .log = in_powers(plot, n),
                                 .samples = samples < INT32_MAX ? (int)samples : INT32_MAX,
                                 .ctx = plot,
                                 .time = chart_time,
                                 .over = plot->over[0] != '\0' ? plot->over : NULL,
                                 .value = plot_chart_value};
            sti_svg_chart(file, (sti_Rect){64, TITLE + 34 + CHART * (row++), 640, 190}, &curves);
        }
    fputs("</svg>\n", file);
    return sti_file_close(file, path, err);
}

static st_Status plot_allocate(Plot *plot, st_Error *err)
{
    int64_t steps = plot->info->n_steps + 1, frames = plot->info->n_frames + 1;
    plot->step_time = sti_alloc(&plot->allocator, steps, sizeof(double));
    plot->frame_time = sti_alloc(&plot->allocator, frames, sizeof(double));
    bool ok = plot->step_time != NULL && plot->frame_time != NULL;
    for (int c = 0; c < plot->n_read; c++) {
        sti_Curve *curve = &plot->curve[c];
        curve->value = sti_alloc(&plot->allocator, of_frames(curve) ? frames : steps, sizeof(double));
        ok = ok && curve->value != NULL;
    }
    return ok ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
}

st_Status st_recording_write_plot(st_Recording *recording, const char *over, const char *const *curves, int n_curves,
                                  const char *path, st_Error *err)
{
    if (recording == NULL || curves == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_write_plot: recording and curves must be given");
    if (n_curves < 1 || n_curves > MOST_CURVES)
        return sti_fail(err, ST_ERR_ARGUMENT, "a plot of %d curves, must be 1 to %d", n_curves, MOST_CURVES);
    Plot plot = {.recording = recording, .info = st_recording_info(recording), .allocator = st_default_allocator()};
    for (int k = 0; k < n_curves; k++)
        STI_TRY(sti_curve_find(plot.info, curves[k], &plot.curve[k], err));
    plot.n = plot.n_read = n_curves;
    /* Finds the curve for the horizontal axis. Curves per step and curves per frame cannot be drawn over each other. */
    sti_Curve *x = &plot.curve[plot.n];
    if (over != NULL) {
        STI_TRY(sti_curve_find(plot.info, over, x, err));
        for (int k = 0; k < plot.n; k++)
            if (of_frames(x) != of_frames(&plot.curve[k]))
                return sti_fail(
                    err, ST_ERR_ARGUMENT,
                    "\"%s\" has one value per %s and \"%s\" does not: they cannot be drawn against each other",
                    plot.curve[k].name, of_frames(x) ? "step" : "frame", over);
        snprintf(plot.over, sizeof plot.over, "%.60s [%s]", over, x->unit);
        plot.n_read = plot.n + 1;
    }
    if (path == NULL) return ST_OK;
    st_Status status = plot_allocate(&plot, err);
    if (status == ST_OK)
        status = sti_curves_read(recording, plot.curve, plot.n_read, plot.step_time, plot.frame_time, err);
    if (status == ST_OK) status = plot_draw(&plot, path, err);
    const st_Allocator *a = &plot.allocator;
    int64_t steps = plot.info->n_steps + 1, frames = plot.info->n_frames + 1;
    sti_free(a, plot.step_time, steps, sizeof(double));
    sti_free(a, plot.frame_time, frames, sizeof(double));
    for (int c = 0; c < plot.n_read; c++)
        sti_free(a, plot.curve[c].value, of_frames(&plot.curve[c]) ? frames : steps, sizeof(double));

    return status;
}
