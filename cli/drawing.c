#define _XOPEN_SOURCE 700
#include "drawing.h"

#include "command.h"
#include "outputs.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const endings[] = {".svg", ".png", ".pdf", NULL};
static const char *const converter[] = {"rsvg-convert", NULL};

bool drawing_possible(const char *path)
{
    if (!output_named(path, endings, NULL) || !output_possible(path)) return false;
    const bool png = has_ending(path, ".png"), pdf = has_ending(path, ".pdf");
    if ((!png && !pdf) || find_tool(converter) != NULL || (png && find_browser() != NULL)) return true;
    complain(STATUS_FAILED, "%s: a %s needs rsvg-convert (Debian: librsvg2-bin)%s; FILE.svg needs no other program",
             path, png ? "PNG" : "PDF", png ? " or Chromium, and neither is installed" : ", which is not installed");
    return false;
}

const char *drawing_begin(Drawing *drawing, const char *path)
{
    *drawing = (Drawing){.path = path};
    if (!has_ending(path, ".png") && !has_ending(path, ".pdf")) return path;
    await_signals(); /* so that the folder is removed after a signal */
    if (!make_scratch(drawing->folder, "plot")) return NULL;
    snprintf(drawing->svg, sizeof drawing->svg, "%s/plot.svg", drawing->folder);
    return drawing->svg;
}

/* The size of the picture, from its first line; the browser window must have this size. */
static int size_of(const char *svg, const char *which, int otherwise)
{
    char line[256] = "";
    FILE *file = fopen(svg, "r");
    if (file == NULL) return otherwise;
    const char *at = fgets(line, sizeof line, file) != NULL ? strstr(line, which) : NULL;
    fclose(file);
    const int size = at != NULL ? atoi(at + strlen(which)) : 0;
    return size > 0 ? size : otherwise;
}

static bool by_browser(const Drawing *drawing, const char *png)
{
    char shot[128], profile[64], address[128], window[64];
    const char *browser = find_browser(), *argv[24] = {browser};
    int n = 1 + browser_options(argv + 1, profile);
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", drawing->folder);
    snprintf(shot, sizeof shot, "--screenshot=%s", png);
    snprintf(address, sizeof address, "file://%s", drawing->svg);
    snprintf(window, sizeof window, "--window-size=%d,%d", size_of(drawing->svg, " width=\"", 730),
             size_of(drawing->svg, " height=\"", 560));
    argv[n++] = window;
    argv[n++] = "--force-device-scale-factor=2";
    argv[n++] = shot;
    argv[n++] = address;
    return browser != NULL && run_tool(argv) && access(png, R_OK) == 0;
}

static bool make(const Drawing *drawing)
{
    const bool pdf = has_ending(drawing->path, ".pdf");
    char made[64];
    snprintf(made, sizeof made, "%s/plot.%s", drawing->folder, pdf ? "pdf" : "png");
    const char *const argv[] = {"rsvg-convert", pdf ? "--format=pdf" : "--zoom=2", "-o", made, drawing->svg, NULL};
    const bool ok = find_tool(converter) != NULL ? run_tool(argv) : by_browser(drawing, made);
    if (!ok)
        complain(STATUS_FAILED,
                 ending_signal() != 0 ? "%s was not made: interrupted" : "%s could not be made from the SVG",
                 drawing->path);
    return ok && copy_output(made, drawing->path);
}

bool drawing_end(Drawing *drawing, bool drawn, const char *why)
{
    if (!drawn && why[0] != '\0') complain(STATUS_FAILED, "%s", why);
    if (drawing->folder[0] == '\0') return drawn;
    const bool ok = drawn && make(drawing);
    remove_scratch(drawing->folder);
    return ok;
}
