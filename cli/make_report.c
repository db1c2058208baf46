/* stiction report: writes a recording as one HTML file that needs no network. */
#include "load.h"
#include "outputs.h"
#include "page.h"

#include <stiction/io.h>

typedef struct ReportOptions {
    const char *output;
    long poses;
} ReportOptions;

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "FILE.html", "the file to write", offsetof(ReportOptions, output)},
    {"poses", 0, OPTION_COUNT, "N",
     "keep at most N body poses (frames times bodies), and N/4 contacts;\n"
     "frames are left out if there are more (default 2000000)",
     offsetof(ReportOptions, poses)},
};

static int report_main(int argc, char *const *argv);

const Command report_command = {
    .name = "report",
    .reads_files = true,
    .words = "FILE.h5",
    .min_words = 1,
    .max_words = 1,
    .summary = "write a recording as one HTML file that any browser can show",
    .details =
        "The file contains the motion in 3-D, plots, the scene and the summary. It needs no network and no other "
        "file.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = report_main,
};

static int report_main(int argc, char *const *argv)
{
    ReportOptions o = {0};
    const char *words[MAX_WORDS];
    st_Recording *recording = NULL;
    st_Error err = {0};
    int status = command_read(&report_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.output == NULL) return complain(STATUS_INPUT, "report: -o FILE.html is missing");
    if (same_file(o.output, words[0]))
        return complain(STATUS_INPUT, "report: the output %s is the recording itself", o.output);
    if (!open_recording(words[0], &recording, &err)) return complain(STATUS_INPUT, "%s", err.message);
    static const char *const endings[] = {".html", ".htm", NULL};
    const bool ok = output_named(o.output, endings, NULL) && output_possible(o.output);
    status = ok ? STATUS_OK : STATUS_INPUT;
    if (ok && st_recording_write_report(recording, o.poses, (const char *)viewer_page, viewer_page_size, o.output,
                                        &err) != ST_OK)
        status = complain(STATUS_FAILED, "%s", err.message);
    st_recording_close(recording);
    return status;
}
