/* stiction plot: curves of a recording, for papers. */
#include "command.h"
#include "outputs.h"
#include "tool.h"

#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>
#include <unistd.h>

typedef struct PlotOptions {
    TextList curves;
    const char *over, *output;
} PlotOptions;

static const Option options[] = {
    {"y", 'y', OPTION_LIST, "CURVE",
     "kinetic, BODY.z, BODY/BODY.force, JOINT.torque ...: as often as\n"
     "needed, or with commas; left out: lists all there are",
     offsetof(PlotOptions, curves)},
    {"x", 'x', OPTION_TEXT, "CURVE", "draw them over this one, not over time", offsetof(PlotOptions, over)},
    {"output", 'o', OPTION_TEXT, "FILE", "FILE.svg, or FILE.png where rsvg-convert or Chromium is installed",
     offsetof(PlotOptions, output)},
};

static int plot_main(int argc, char *const *argv);

const Command plot_command = {
    .name = "plot",
    .words = "FILE.h5",
    .min_words = 1,
    .max_words = 1,
    .summary = "draw curves of a recording",
    .details =
        "Curves of the same unit share a chart: stiction plot run.h5 -y kinetic,potential,total -y ball.z -o p.svg. "
        "Forces: BODY.force of all its contacts, BODY/ground.fz of those with the ground, JOINT.force in a joint.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = plot_main,
};

#define MOST_CURVES 16

/* The curves, split at commas; *text holds them. -1: fine. */
static int split(const TextList *list, char **text, const char *curve[MOST_CURVES], int *n)
{
    size_t size = 1;
    for (int k = 0; k < list->count; k++)
        size += strlen(list->item[k]) + 1;
    *text = malloc(size);
    if (*text == NULL) return complain(STATUS_FAILED, "out of memory");
    size_t at = 0;
    (*text)[0] = '\0';
    for (int k = 0; k < list->count; k++)
        at += (size_t)snprintf(*text + at, size - at, "%s,", list->item[k]);
    *n = 0;
    for (char *c = strtok(*text, ","); c != NULL; c = strtok(NULL, ",")) {
        if (*n == MOST_CURVES) return complain(STATUS_INPUT, "plot: more than %d curves", MOST_CURVES);
        curve[(*n)++] = c;
    }
    return -1;
}

static int list(const st_Recording *recording)
{
    char *names = st_recording_curve_names(recording);
    if (names == NULL) return complain(STATUS_FAILED, "out of memory");
    fputs(names, stdout);
    free(names);
    return STATUS_OK;
}

/* How tall the picture is, from its first line; the browser's window must be as tall. */
static int height_of(const char *svg)
{
    char line[256] = "";
    int height = 560;
    FILE *file = fopen(svg, "r");
    if (file == NULL) return height;
    if (fgets(line, sizeof line, file) != NULL) {
        const char *at = strstr(line, " height=\"");
        if (at != NULL) height = atoi(at + strlen(" height=\""));
    }
    fclose(file);
    return height;
}

/* What a tool made, or that it did not; of a signal that ended it the caller speaks. */
static int tell(bool made, const char *tool, const char *png)
{
    if (made) return STATUS_OK;
    return ending_signal() != 0 ? STATUS_FAILED : complain(STATUS_FAILED, "%s could not make %s", tool, png);
}

static int to_png(const char *svg, const char *png, const char *folder)
{
    static const char *const names[] = {"rsvg-convert", NULL};
    if (find_tool(names) != NULL) {
        const char *argv[] = {"rsvg-convert", "--zoom=2", "-o", png, svg, NULL};
        return tell(run_tool(argv), "rsvg-convert", png);
    }
    const char *browser = find_browser();
    if (browser == NULL)
        return complain(STATUS_FAILED, "plot: a PNG needs rsvg-convert (Debian: librsvg2-bin) or Chromium, and neither "
                                       "is installed; FILE.svg needs nothing");
    char shot[128], profile[64], address[128], window[64];
    const char *argv[24] = {browser};
    int n = 1 + browser_options(argv + 1, profile);
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
    snprintf(shot, sizeof shot, "--screenshot=%s", png);
    snprintf(address, sizeof address, "file://%s", svg);
    snprintf(window, sizeof window, "--window-size=730,%d", height_of(svg));
    argv[n++] = window;
    argv[n++] = "--force-device-scale-factor=2";
    argv[n++] = shot;
    argv[n++] = address;
    return tell(run_tool(argv) && access(png, R_OK) == 0, browser, png);
}

static int draw(st_Recording *recording, const char *over, const char *const *curve, int n, const char *path)
{
    st_Error err = {0};
    const char *dot = path != NULL ? strrchr(path, '.') : NULL;
    if (dot == NULL || strcmp(dot, ".png") != 0)
        return st_recording_write_plot(recording, over, curve, n, path, &err) == ST_OK
                   ? STATUS_OK
                   : complain(err.status == ST_ERR_ARGUMENT ? STATUS_INPUT : STATUS_FAILED, "%s", err.message);
    char folder[] = "/tmp/stiction-plot-XXXXXX", svg[64], png[64], clean[64];
    await_signals();
    if (mkdtemp(folder) == NULL) return complain(STATUS_FAILED, "no temporary folder in /tmp");
    snprintf(svg, sizeof svg, "%s/plot.svg", folder);
    snprintf(png, sizeof png, "%s/plot.png", folder);
    int status = st_recording_write_plot(recording, over, curve, n, svg, &err) == ST_OK
                     ? to_png(svg, png, folder)
                     : complain(err.status == ST_ERR_ARGUMENT ? STATUS_INPUT : STATUS_FAILED, "%s", err.message);
    if (status == STATUS_OK && !copy_output(png, path)) status = STATUS_FAILED;
    snprintf(clean, sizeof clean, "%s", folder);
    const char *const rm[] = {"rm", "-rf", clean, NULL};
    run_tool(rm);
    if (ending_signal() != 0) return complain(128 + ending_signal(), "plot: interrupted");
    return status;
}

static int plot_main(int argc, char *const *argv)
{
    PlotOptions o = {0};
    const char *words[MAX_WORDS], *curve[MOST_CURVES];
    st_Recording *recording = NULL;
    st_Error err = {0};
    char *text = NULL;
    int n = 0, status = command_read(&plot_command, argc, argv, &o, words);
    if (status < 0) status = split(&o.curves, &text, curve, &n);
    if (status < 0 && n > 0 && o.output == NULL) status = complain(STATUS_INPUT, "plot: -o FILE.svg is missing");
    if (status < 0 && n == 0 && o.output != NULL)
        status = complain(STATUS_INPUT, "plot: -y CURVE is missing; stiction plot %s lists them", words[0]);
    if (status < 0 && n == 0 && o.over != NULL)
        status = complain(STATUS_INPUT, "plot: -x is about what -y draws, -y CURVE is missing");
    if (status < 0 && o.output != NULL && same_file(o.output, words[0]))
        status = complain(STATUS_INPUT, "plot: the output %s is the recording itself", o.output);
    if (status < 0 && o.output != NULL && !output_possible(o.output)) status = STATUS_INPUT;
    if (status < 0 && st_recording_open(words[0], &recording, &err) != ST_OK)
        status = complain(STATUS_INPUT, "%s", err.message);
    if (status < 0) status = n > 0 ? draw(recording, o.over, curve, n, o.output) : list(recording);
    st_recording_close(recording);
    free(text);
    free((void *)o.curves.item);
    return status;
}
