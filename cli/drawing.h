/* cli/drawing.h -- pictures in the format that their name says. The library draws SVG; PNG and PDF are made of that by
 * rsvg-convert, PNG by a browser, too.
 */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include "tool.h"

#define DRAWING_HELP "FILE.svg, or FILE.png and FILE.pdf if rsvg-convert is installed"

typedef struct Drawing {
    const char *path;                   /* what was asked for                            */
    char folder[SCRATCH_SIZE], svg[64]; /* scratch, empty where the SVG itself is wanted */
} Drawing;

/* May it be written, does its name end in something that can be drawn, and is there what it takes? Asked before
 * anything is touched. False: it was said on stderr why not.                                                 */
bool drawing_possible(const char *path);

/* Where the SVG is to be written; NULL: said likewise. */
const char *drawing_begin(Drawing *drawing, const char *path);
/* Where it was `drawn`: make of it what was asked for. Where it was not: say why, unless that is "". And clean up. */
bool drawing_end(Drawing *drawing, bool drawn, const char *why);

#endif
