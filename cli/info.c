/* stiction info: prints the contents of a recording. */
#include "command.h"
#include "json.h"
#include "load.h"
#include "terminal.h"

#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>

typedef struct InfoOptions {
    bool json, scene;
} InfoOptions;

static const Option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document", offsetof(InfoOptions, json)},
    {"scene", 0, OPTION_FLAG, NULL, "print the scene of the run", offsetof(InfoOptions, scene)},
};

static int info_main(int argc, char *const *argv);

const Command info_command = {
    .name = "info",
    .reads_files = true,
    .words = "FILE.h5",
    .min_words = 1,
    .max_words = 1,
    .summary = "describe a recording",
    .details =
        "stiction run SCENE -o FILE.h5 makes a recording. The recording of a run that was killed can be read, too: "
        "it contains everything up to the last flush.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = info_main,
};

static void size_text(double bytes, char *out, size_t size)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int k = 0;
    for (; bytes >= 1000 && k < 4; k++)
        bytes /= 1000;
    snprintf(out, size, k == 0 ? "%.0f %s" : "%.3g %s", bytes, unit[k]);
}

static int print_checkpoints(st_Recording *recording)
{
    const st_RecordingInfo *info = st_recording_info(recording);
    st_Error err = {0};
    char text[300];
    snprintf(text, sizeof text, "%lld:", (long long)info->n_checkpoints);
    for (int64_t k = 0; k < info->n_checkpoints; k++) {
        st_RecordedCheckpoint c;
        if (k >= 6 && k < info->n_checkpoints - 1) continue;
        if (st_recording_checkpoints(recording, k, 1, &c, &err) != ST_OK)
            return complain(STATUS_FAILED, "%s", err.message);
        add_text(text, sizeof text, "%s %.6g s", k == info->n_checkpoints - 1 && k > 6 ? " ..." : "", c.time);
    }
    printf("  checkpoints   ");
    print_wrapped_at(stdout, text, 16, 16);
    return STATUS_OK;
}

static int print_info(st_Recording *recording, const char *path)
{
    const st_RecordingInfo *i = st_recording_info(recording);
    char text[400], size[32], wall[32];
    size_text((double)i->bytes, size, sizeof size);
    snprintf(text, sizeof text, ": %.300s, %s", i->name[0] != '\0' ? i->name : "a run", size);
    printf("%s", path);
    print_wrapped_at(stdout, text, (int)strlen(path), 2);
    if (i->description[0] != '\0') print_wrapped(stdout, i->description, 2);
    printf("  made          %s by stiction %s\n  from          ", i->created, i->version);
    print_lines(stdout, i->label[0] != '\0' ? i->label : "a scene without a file", 16, 16);
    for (int k = 0; k < i->n_sets; k++)
        printf("  %-13s %s\n", k == 0 ? "overrides" : "", i->sets[k]);
    if (!i->closed)
        snprintf(text, sizeof text, "truncated, or still running: this is the data up to the last flush");
    else
        snprintf(text, sizeof text, "%s%s%s", i->outcome, i->message[0] != '\0' ? ": " : "", i->message);
    printf("  run           ");
    print_wrapped_at(stdout, text, 16, 16);
    time_text(i->wall, wall, sizeof wall);
    const long long steps = i->n_steps > 0 ? (long long)i->n_steps - 1 : 0;
    snprintf(text, sizeof text, "%.9g s to %.9g s, %lld step%s, %s wall", i->first, i->last, steps, plural(steps),
             wall);
    printf("  time          ");
    print_wrapped_at(stdout, text, 16, 16);
    printf("  bodies        %d\n", i->n_bodies);
    if (i->rate > 0)
        printf("  frames        %lld, %g per simulated second\n", (long long)i->n_frames, i->rate);
    else
        printf("  frames        %lld, every step\n", (long long)i->n_frames);
    printf("  contacts      %lld in all frames\n  events        %lld\n", (long long)i->n_contacts,
           (long long)i->n_events);
    return print_checkpoints(recording);
}

static int print_json_info(st_Recording *recording, const char *path)
{
    const st_RecordingInfo *i = st_recording_info(recording);
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "file", path);
    put_integer(&json, "format", i->format);
    put_text(&json, "version", i->version);
    put_text(&json, "created", i->created);
    put_text(&json, "name", i->name);
    put_text(&json, "description", i->description);
    put_text(&json, "scene", i->label);
    put_boolean(&json, "closed", i->closed);
    put_text(&json, "outcome", i->outcome);
    put_text(&json, "message", i->message);
    put_number(&json, "wall_seconds", i->wall);
    put_integer(&json, "bytes", i->bytes);
    put_integer(&json, "bodies", i->n_bodies);
    put_integer(&json, "frames", i->n_frames);
    put_integer(&json, "steps", i->n_steps);
    put_integer(&json, "contacts", i->n_contacts);
    put_integer(&json, "events", i->n_events);
    put_integer(&json, "checkpoints", i->n_checkpoints);
    put_number(&json, "rate", i->rate);
    put_number(&json, "first", i->first);
    put_number(&json, "last", i->last);
    put_open_array(&json, "overrides");
    for (int k = 0; k < i->n_sets; k++)
        put_text(&json, NULL, i->sets[k]);
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
    return STATUS_OK;
}

static int info_main(int argc, char *const *argv)
{
    InfoOptions o = {0};
    const char *words[MAX_WORDS];
    st_Recording *recording = NULL;
    st_Error err = {0};
    int status = command_read(&info_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (!open_recording(words[0], &recording, &err)) return complain(STATUS_INPUT, "%s", err.message);
    if (o.scene)
        status = fputs(st_recording_info(recording)->text, stdout) >= 0 ? STATUS_OK : STATUS_FAILED;
    else
        status = o.json ? print_json_info(recording, words[0]) : print_info(recording, words[0]);
    st_recording_close(recording);
    return status;
}
