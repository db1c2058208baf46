/* draw/svg.h -- draws lines, dots and text in pixels, y downward; axes and their ticks. */
#ifndef STI_RECORD_SVG_H
#define STI_RECORD_SVG_H

#include "record/text.h"

typedef struct sti_Rect {
    double x, y, w, h; /* [px] */
} sti_Rect;

/* The window of a panel: values x0..x1, y0..y1 shown in `box`. */
typedef struct sti_Window {
    sti_Rect box;
    double x0, x1, y0, y1;
    bool log_y; /* y0, y1 and values are logarithms to base 10 */
} sti_Window;

#define STI_INK   "#2b2f36" /* text and joints   */
#define STI_SOFT  "#5f6772" /* axes, small text; contrast ratio 5.5 to the paper */
#define STI_GRID  "#e9ebee"
#define STI_PAPER "#fcfcfa"

/* The colour of body number k, from 0: eight colours that colour-blind readers can distinguish. */
const char *sti_colour(int k);

double sti_window_x(const sti_Window *window, double x); /* to pixels, limited to a safe range */
double sti_window_y(const sti_Window *window, double y);

/* printf for markup. Formats contain no comma: a decimal comma of the locale becomes a point. */
void sti_svg(FILE *file, const char *format, ...) STI_PRINTF(2, 3);

/* Begins a picture of this size on `paper`. The title is its heading and its alternative text; a second line is
 * smaller. NULL: no title. */
void sti_svg_begin(FILE *file, double width, double height, const char *paper, const char *title);

typedef enum sti_Anchor { STI_START, STI_MIDDLE, STI_END } sti_Anchor;
void sti_svg_text(FILE *file, double x, double y, double size, sti_Anchor anchor, const char *colour, const char *text);
void sti_svg_line(FILE *file, double x0, double y0, double x1, double y1, const char *colour, double width);

/* Widens a range slightly, and a flat one so that it can be drawn. */
void sti_round_range(double *lo, double *hi);
/* Frame, grid, ticks and labels of a window. */
void sti_svg_axes(FILE *file, const sti_Window *window, const char *x_label, const char *y_label);

/* lines.c: the caller's data for the public plots. */
struct st_PlotCurve;
st_Status sti_check_curves(const struct st_PlotCurve *curves, int n, st_Error *err);

/* Curves over time in one chart. */
typedef struct sti_Curves {
    const char *title;         /* "x [m]"                                              */
    int n;                     /* number of curves */
    const char *const *name;   /* n names for the legend; NULL: none */
    const char *const *colour; /* n                                                    */
    int dashed;                /* curve drawn dashed, over the others; -1: none */
    int samples;               /* points per curve */
    bool log;                  /* logarithmic; values <= 0 are gaps */
    const void *ctx;
    double (*time)(const void *ctx, int sample); /* or other values of the horizontal axis */
    const char *over;                            /* title of the horizontal axis; NULL: "t [s]" */
    double (*value)(const void *ctx, int curve, int sample);
} sti_Curves;

void sti_svg_chart(FILE *file, sti_Rect panel, const sti_Curves *curves);

#endif
