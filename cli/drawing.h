/* cli/drawing.h -- writes pictures in the format of their name. The library draws SVG; rsvg-convert makes PNG and
 * PDF from it, a browser can also make PNG. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include "tool.h"

#define DRAWING_HELP "FILE.svg, or FILE.png and FILE.pdf if rsvg-convert is installed"

typedef struct Drawing {
    const char *path;                   /* the requested file */
    char folder[SCRATCH_SIZE], svg[64]; /* scratch folder, empty if SVG is requested */
} Drawing;

/* Can it be written, is its ending a known format, and are the tools installed? Called before anything is touched.
 * False: the reason was printed on stderr. */
bool drawing_possible(const char *path);

/* The path for the SVG; NULL: the reason was printed. */
const char *drawing_begin(Drawing *drawing, const char *path);
/* If it was `drawn`, converts it to the requested format; else prints `why`, unless that is "". Then cleans up. */
bool drawing_end(Drawing *drawing, bool drawn, const char *why);

#endif
