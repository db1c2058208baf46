#include "draw/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define FAR_AWAY 1e5 /* [px]: viewers fail for larger coordinates */

const char *sti_colour(int k)
{
    static const char *const colours[] = {"#1f5fa8", "#d1495b", "#2a8c6a", "#e0912f", "#7b52ab", "#2f9fc0",
                                          "#8a6642", "#5f6875", "#b8388a", "#6f8f1f", "#123a66", "#e06d9b"};
    return colours[k % (int)(sizeof colours / sizeof colours[0])];
}

static double sane(double pixel)
{
    if (isnan(pixel)) return 0;
    return fmax(-FAR_AWAY, fmin(FAR_AWAY, pixel));
}

double sti_window_x(const sti_Window *window, double x)
{
    return sane(window->box.x + window->box.w * ((x - window->x0) / (window->x1 - window->x0)));
}

double sti_window_y(const sti_Window *window, double y)
{
    return sane(window->box.y + window->box.h * ((window->y1 - y) / (window->y1 - window->y0)));
}

void sti_svg(FILE *file, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++)
        if (*c == ',') *c = '.';
    fputs(text, file);
}

void sti_svg_begin(FILE *file, double width, double height, const char *paper, const char *title)
{
    sti_svg(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" font-family=\"sans-serif\">\n",
            width, height, width, height);
    if (title != NULL) {
        fputs("<title>", file);
        sti_write_xml(file, title);
        fputs("</title>\n", file);
    }
    sti_svg(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", paper);
    char first[256];
    const size_t n = title != NULL ? strcspn(title, "\n") : 0;
    snprintf(first, sizeof first, "%.*s", (int)n, title != NULL ? title : "");
    if (n > 0) sti_svg_text(file, 20, 26, 15, STI_START, STI_INK, first);
    if (n > 0 && title[n] == '\n') sti_svg_text(file, 20, 43, 11, STI_START, STI_SOFT, title + n + 1);
}

void sti_svg_text(FILE *file, double x, double y, double size, sti_Anchor anchor, const char *colour, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    sti_svg(file, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, size,
            anchors[anchor], colour);
    sti_write_xml(file, text);
    fputs("</text>\n", file);
}

void sti_svg_line(FILE *file, double x0, double y0, double x1, double y1, const char *colour, double width)
{
    sti_svg(file, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.2f\"/>\n", x0,
            y0, x1, y1, colour, width);
}

/* ---- axes ------------------------------------------------------------------------------------- */

/* A step of 1, 2 or 5 times a power of ten that divides the range into at most `most` parts. */
static double tick_step(double lo, double hi, int most)
{
    double raw = (hi - lo) / most, power = pow(10, floor(log10(raw)));
    double digit = raw / power;
    /* The slack keeps a raw step that is a round number up to rounding. */
    return power * (digit <= 1 + 1e-9 ? 1 : digit <= 2 + 1e-9 ? 2 : digit <= 5 + 1e-9 ? 5 : 10);
}

void sti_round_range(double *lo, double *hi)
{
    double size = fmax(fabs(*lo), fabs(*hi));
    if (!(*lo <= *hi)) { /* no finite value */
        *lo = -1;
        *hi = 1;
    } else if (*hi - *lo <= 1e-12 * size || *hi - *lo < 1e-300) { /* flat up to rounding */
        double half = size > 0 ? 0.1 * size : 1;
        *lo -= half;
        *hi += half;
    } else {
        double margin = 0.06 * (*hi - *lo);
        *lo -= margin;
        *hi += margin;
    }
}

/* Writes as many digits as distinguish adjacent ticks; plain notation if it is not too long. */
static const char *svg_tick_text(char out[STI_NUMBER_SIZE], double value, double step)
{
    double size = floor(log10(fabs(value)) + 1e-9), fine = floor(log10(step) + 1e-9), digits = size - fine + 1;
    if (fabs(value) < 1e-9 * step) return "0";
    if (size >= 6 || size < -4) return sti_number(out, value, digits < 1 ? 1 : digits > 12 ? 12 : (int)digits);
    snprintf(out, STI_NUMBER_SIZE, "%.*f", fine < 0 ? (int)fmin(-fine, 12) : 0, value);
    sti_number_point(out);
    return out;
}

static void y_ticks(FILE *file, const sti_Window *window)
{
    char text[STI_NUMBER_SIZE];
    const sti_Rect *box = &window->box;
    int most = (int)fmax(2, box->h / 32);
    if (window->log_y) {
        const int step = (int)fmax(1, ceil((window->y1 - window->y0) / most));
        for (int p = (int)ceil(window->y0 - 1e-9); p <= window->y1 + 1e-9; p += step) {
            const double y = sti_window_y(window, p);
            sti_svg_line(file, box->x, y, box->x + box->w, y, STI_GRID, 1);
            snprintf(text, sizeof text, "1e%d", p);
            sti_svg_text(file, box->x - 7, y + 4, 11, STI_END, STI_SOFT, text);
        }
        return;
    }
    double step = tick_step(window->y0, window->y1, most), first = ceil(window->y0 / step - 1e-9);
    for (int k = 0; k <= most; k++) {
        double value = (first + k) * step, y = sti_window_y(window, value);
        if (value > window->y1 + 1e-9 * step) break;
        sti_svg_line(file, box->x, y, box->x + box->w, y, STI_GRID, 1);
        sti_svg_line(file, box->x - 4, y, box->x, y, STI_SOFT, 1);
        sti_svg_text(file, box->x - 7, y + 4, 11, STI_END, STI_SOFT, svg_tick_text(text, value, step));
    }
}

void sti_svg_axes(FILE *file, const sti_Window *window, const char *x_label, const char *y_label)
{
    const sti_Rect *box = &window->box;
    sti_svg(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#ffffff\"/>\n", box->x, box->y,
            box->w, box->h);
    char text[STI_NUMBER_SIZE];
    int most = (int)fmax(2, box->w / 75);
    double step = tick_step(window->x0, window->x1, most), first = ceil(window->x0 / step - 1e-9);
    for (int k = 0; k <= most; k++) {
        double value = (first + k) * step, x = sti_window_x(window, value);
        if (value > window->x1 + 1e-9 * step) break;
        sti_svg_line(file, x, box->y, x, box->y + box->h, STI_GRID, 1);
        sti_svg_line(file, x, box->y + box->h, x, box->y + box->h + 4, STI_SOFT, 1);
        sti_svg_text(file, x, box->y + box->h + 16, 11, STI_MIDDLE, STI_SOFT, svg_tick_text(text, value, step));
    }

    y_ticks(file, window);
    sti_svg_line(file, box->x, box->y, box->x, box->y + box->h, STI_SOFT, 1);
    sti_svg_line(file, box->x, box->y + box->h, box->x + box->w, box->y + box->h, STI_SOFT, 1);
    sti_svg_text(file, box->x + box->w, box->y + box->h + 31, 12, STI_END, STI_INK, x_label);
    sti_svg_text(file, box->x - 46, box->y - 9, 12, STI_START, STI_INK, y_label);
}

/* ---- charts ----------------------------------------------------------------------------------- */

/* The drawn value: the value itself, or its logarithm to base 10. */
static double svg_chart_value(const sti_Curves *curves, int curve, int sample)
{
    const double value = curves->value(curves->ctx, curve, sample);
    return !curves->log ? value : value > 0 ? log10(value) : NAN;
}

/* A curve that goes up and down within few pixels would be a solid band: its mean is drawn, over its range column by
 * column. False, with nothing drawn: the curve is not of that kind, or not one over time. */
#define COLUMNS 200
#define COLUMN  6.0 /* [px], the width of one */
static bool svg_envelope(FILE *file, const sti_Window *window, const sti_Curves *curves, int c)
{
    struct {
        double low, high, sum, way; /* [px]; way: the length that the curve goes up and down */
        int n;
    } column[COLUMNS] = {0};
    const int n = (int)fmin(COLUMNS, ceil(window->box.w / COLUMN));
    double last_x = -INFINITY, last_y = NAN;
    for (int i = 0; i < curves->samples; i++) {
        const double value = svg_chart_value(curves, c, i), at = curves->time(curves->ctx, i);
        if (!isfinite(value) || !isfinite(at)) continue;
        const double x = sti_window_x(window, at), y = sti_window_y(window, value);
        if (x < last_x) return false;
        const int k = (int)fmin(n - 1, fmax(0, floor((x - window->box.x) / COLUMN)));
        if (column[k].n++ == 0) column[k].low = column[k].high = y;
        column[k].low = fmin(column[k].low, y);
        column[k].high = fmax(column[k].high, y);
        column[k].sum += y;
        if (isfinite(last_y)) column[k].way += fabs(y - last_y);
        last_x = x;
        last_y = y;
    }
    int filled = 0, dense = 0;
    for (int k = 0; k < n; k++) {
        const double range = column[k].high - column[k].low;
        filled += column[k].n > 0;
        dense += range > 3 && column[k].way > 5 * range;
    }
    if (dense * 5 <= filled) return false;

    sti_svg(file, "<polygon fill=\"%s\" fill-opacity=\"0.22\" points=\"", curves->colour[c]);
    for (int k = 0; k < n; k++)
        if (column[k].n > 0) sti_svg(file, "%.1f %.1f ", window->box.x + COLUMN * (k + 0.5), column[k].high);
    for (int k = n - 1; k >= 0; k--)
        if (column[k].n > 0) sti_svg(file, "%.1f %.1f ", window->box.x + COLUMN * (k + 0.5), column[k].low);
    sti_svg(file, "\"/>\n<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\" points=\"", curves->colour[c]);
    for (int k = 0; k < n; k++)
        if (column[k].n > 0)
            sti_svg(file, "%.1f %.1f ", window->box.x + COLUMN * (k + 0.5), column[k].sum / column[k].n);
    fputs("\"/>\n", file);
    return true;
}

void sti_svg_chart(FILE *file, sti_Rect panel, const sti_Curves *curves)
{
    sti_Window window = {.box = panel, .x0 = 0, .x1 = 1, .y0 = INFINITY, .y1 = -INFINITY, .log_y = curves->log};
    for (int c = 0; c < curves->n; c++)
        for (int i = 0; i < curves->samples; i++) {
            double value = svg_chart_value(curves, c, i);
            if (!isfinite(value)) continue;
            window.y0 = fmin(window.y0, value);
            window.y1 = fmax(window.y1, value);
        }
    if (curves->log && window.y0 <= window.y1)
        window.y0 = floor(window.y0), window.y1 = fmax(ceil(window.y1), window.y0 + 1);
    else
        sti_round_range(&window.y0, &window.y1);
    bool found = false;
    for (int i = 0; i < curves->samples; i++) {
        double x = curves->time(curves->ctx, i);
        if (!isfinite(x)) continue;
        if (!found) window.x0 = window.x1 = x;
        found = true;
        window.x0 = fmin(window.x0, x);
        window.x1 = fmax(window.x1, x);
    }
    if (!(window.x1 > window.x0)) window.x1 = window.x0 + 1;

    fputs("<g class=\"chart\">\n", file);
    sti_svg_axes(file, &window, curves->over != NULL ? curves->over : "t [s]", curves->title);
    for (int c = 0; c < curves->n; c++) {
        if (svg_envelope(file, &window, curves, c)) continue;
        /* A point nearer than a third of a pixel to the one before is left out. */
        double last_x = -INFINITY, last_y = -INFINITY;
        sti_svg(file,
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\" stroke-linejoin=\"round\"%s points=\"",
                curves->colour[c], c == curves->dashed ? " stroke-dasharray=\"6 4\"" : "");
        for (int i = 0; i < curves->samples; i++) {
            double value = svg_chart_value(curves, c, i);
            const double at = curves->time(curves->ctx, i); /* or the value on the horizontal axis */
            if (!isfinite(value) || !isfinite(at)) continue;
            double x = sti_window_x(&window, at), y = sti_window_y(&window, value);
            if (i < curves->samples - 1 && fabs(x - last_x) < 0.33 && fabs(y - last_y) < 0.33) continue;
            sti_svg(file, "%.1f %.1f ", x, y);
            last_x = x;
            last_y = y;
        }
        fputs("\"/>\n", file);
    }

    /* From right to left on the line above the chart. */
    double x = panel.x + panel.w;
    for (int c = curves->n - 1; c >= 0 && curves->name != NULL; c--) {
        double width = 6.1 * (double)strlen(curves->name[c]);
        if (x - width - 30 < panel.x + 40) break; /* no room: the other curves have no legend */
        sti_svg_text(file, x, panel.y - 9, 11, STI_END, STI_INK, curves->name[c]);
        sti_svg_line(file, x - width - 20, panel.y - 13, x - width - 5, panel.y - 13, curves->colour[c], 2);
        x -= width + 32;
    }

    fputs("</g>\n", file);
}
