/* stiction export: converts a recording for other programs. */
#include "load.h"
#include "outputs.h"

#include <stiction/io.h>

typedef struct ExportOptions {
    const char *csv, *vtk;
} ExportOptions;

static const Option options[] = {
    {"csv", 0, OPTION_TEXT, "FILE",
     "write a table with one line per frame, and the columns of stiction run -o FILE.csv,\n"
     "without impulses of impacts on bodies (recordings have those of contacts)",
     offsetof(ExportOptions, csv)},
    {"vtk", 0, OPTION_TEXT, "DIR",
     "write files for ParaView: DIR/bodies.pvd, walls.pvd, grains.pvd (spheres as points with a radius), clumps.pvd, "
     "contacts.pvd, and network.pvd (the force network: lines between bodies in contact)",
     offsetof(ExportOptions, vtk)},
};

static int export_main(int argc, char *const *argv);

const Command export_command = {
    .name = "export",
    .reads_files = true,
    .words = "FILE.h5",
    .min_words = 1,
    .max_words = 1,
    .summary = "write a recording as a table or as files for ParaView",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = export_main,
};

static int export_main(int argc, char *const *argv)
{
    ExportOptions o = {0};
    const char *words[MAX_WORDS];
    st_Recording *recording = NULL;
    st_Error err = {0};
    int status = command_read(&export_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.csv == NULL && o.vtk == NULL) return complain(STATUS_INPUT, "export: --csv FILE or --vtk DIR is missing");
    if (o.csv != NULL && same_file(o.csv, words[0]))
        return complain(STATUS_INPUT, "export: the output %s is the recording itself", o.csv);
    if (!open_recording(words[0], &recording, &err)) return complain(STATUS_INPUT, "%s", err.message);
    bool ok = o.csv == NULL || st_recording_write_csv(recording, o.csv, &err) == ST_OK;
    ok = ok && (o.vtk == NULL || st_recording_write_vtk(recording, o.vtk, &err) == ST_OK);
    st_recording_close(recording);
    return ok ? STATUS_OK : complain(STATUS_FAILED, "%s", err.message);
}
