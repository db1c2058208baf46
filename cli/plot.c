/* stiction plot: draws curves of a recording, for papers. */
#include "drawing.h"
#include "load.h"
#include "outputs.h"
#include "terminal.h"
#include "tool.h"

#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>

typedef struct PlotOptions {
    TextList curves;
    const char *over, *output;
} PlotOptions;

static const Option options[] = {
    {"y", 'y', OPTION_LIST, "CURVE",
     "a curve: kinetic, BODY.z, BODY/BODY.force, JOINT.torque ...; may be\n"
     "repeated, or several with commas. Without curves: list all of them",
     offsetof(PlotOptions, curves)},
    {"x", 'x', OPTION_TEXT, "CURVE", "the horizontal axis (default: time)", offsetof(PlotOptions, over)},
    {"output", 'o', OPTION_TEXT, "FILE", DRAWING_HELP, offsetof(PlotOptions, output)},
};

static int plot_main(int argc, char *const *argv);

const Command plot_command = {
    .name = "plot",
    .reads_files = true,
    .words = "FILE.h5 [CURVE ...]",
    .min_words = 1,
    .max_words = MAX_WORDS,
    .summary = "draw curves of a recording",
    .details =
        "Curves of the same unit share a chart: stiction plot run.h5 kinetic,potential,total ball.z -o p.svg. "
        "Forces: BODY.force is that of all contacts of the body, BODY/ground.fz that of its contacts with the ground, "
        "JOINT.force that in a joint.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = plot_main,
};

#define MOST_CURVES 16

/* Splits the curves, of options and of words, at commas; *text owns them. -1: fine. */
static int split(const TextList *list, const char *const words[MAX_WORDS], char **text, const char *curve[MOST_CURVES],
                 int *n)
{
    size_t size = 1;
    for (int k = 0; k < list->count; k++)
        size += strlen(list->item[k]) + 1;
    for (int k = 1; k < MAX_WORDS && words[k] != NULL; k++)
        size += strlen(words[k]) + 1;
    *text = malloc(size);
    if (*text == NULL) return complain(STATUS_FAILED, "out of memory");
    size_t at = 0;
    (*text)[0] = '\0';
    for (int k = 0; k < list->count; k++)
        at += (size_t)snprintf(*text + at, size - at, "%s,", list->item[k]);
    for (int k = 1; k < MAX_WORDS && words[k] != NULL; k++)
        at += (size_t)snprintf(*text + at, size - at, "%s,", words[k]);
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
    print_lines(stdout, names, 0, 4);
    free(names);
    return STATUS_OK;
}

static int draw(st_Recording *recording, const char *over, const char *const *curve, int n, const char *path)
{
    st_Error err = {0};
    Drawing drawing;
    const char *svg = drawing_begin(&drawing, path);
    const bool drawn = svg != NULL && st_recording_write_plot(recording, over, curve, n, svg, &err) == ST_OK;
    if (drawing_end(&drawing, drawn, err.message)) return STATUS_OK;
    if (ending_signal() != 0) return 128 + ending_signal();
    return err.status == ST_ERR_ARGUMENT ? STATUS_INPUT : STATUS_FAILED;
}

static int plot_main(int argc, char *const *argv)
{
    PlotOptions o = {0};
    const char *words[MAX_WORDS], *curve[MOST_CURVES];
    st_Recording *recording = NULL;
    st_Error err = {0};
    char *text = NULL;
    int n = 0, status = command_read(&plot_command, argc, argv, &o, words);
    if (status < 0) status = split(&o.curves, words, &text, curve, &n);
    if (status < 0 && n == 0 && o.output != NULL)
        status = complain(STATUS_INPUT, "plot: curves are missing; stiction plot %s lists them", words[0]);
    if (status < 0 && n == 0 && o.over != NULL) status = complain(STATUS_INPUT, "plot: -x needs curves to draw");
    if (status < 0 && !open_recording(words[0], &recording, &err)) status = complain(STATUS_INPUT, "%s", err.message);
    if (status < 0 && n > 0 && o.output == NULL) { /* a wrong name is the more important mistake */
        const bool known = st_recording_write_plot(recording, o.over, curve, n, NULL, &err) == ST_OK;
        status = complain(STATUS_INPUT, "%s", known ? "plot: -o FILE.svg is missing" : err.message);
    }
    if (status < 0 && o.output != NULL && same_file(o.output, words[0]))
        status = complain(STATUS_INPUT, "plot: the output %s is the recording itself", o.output);
    if (status < 0 && o.output != NULL && !drawing_possible(o.output)) status = STATUS_INPUT;
    if (status < 0) status = n > 0 ? draw(recording, o.over, curve, n, o.output) : list(recording);
    st_recording_close(recording);
    free(text);
    free((void *)o.curves.item);
    return status;
}
