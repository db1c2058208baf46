/* stiction run: runs a scene from its start to its end.
 *
 * Nothing is written before scene, settings and outputs have been checked (exit status 2 until then). After that,
 * computed results are kept however the run ends.
 */
#include "drawing.h"
#include "interrupt.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "restart.h"
#include "simulate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct RunOptions {
    TextList sets, outputs;
    const char *table, *recording; /* the outputs, by extension */
    const char *picture, *restart, *log;
    bool json, quiet;
    long every, threads;
    char threads_set[48];
    double rate, checkpoint, at;
} RunOptions;

static const Option options[] = {
    {"set", 0, OPTION_LIST, "PATH=VALUE",
     "override a value of the scene; may be repeated:\n"
     "--set simulation/h=0.001 --set bodies/left/mass=2",
     offsetof(RunOptions, sets)},
    {"threads", 0, OPTION_COUNT, "N", THREADS_HELP, offsetof(RunOptions, threads)},
    {"output", 'o', OPTION_LIST, "FILE",
     "FILE.h5: record the run (stiction info, view, report, export);\n"
     "FILE.csv: write a table with one line per step; both may be given",
     offsetof(RunOptions, outputs)},
    {"every", 0, OPTION_COUNT, "N", "write only every N-th step (and the last) to the table",
     offsetof(RunOptions, every)},
    {"rate", 0, OPTION_NUMBER, "HZ",
     "lines of the table, or frames of the recording, per simulated\n"
     "second (default: a line per step; 60 frames per second, and at least 600)",
     offsetof(RunOptions, rate)},
    {"checkpoint", 0, OPTION_NUMBER, "SECONDS",
     "simulated time between checkpoints of the recording\n(default: a tenth of the run)",
     offsetof(RunOptions, checkpoint)},
    {"restart", 0, OPTION_TEXT, "FILE.h5", "continue from the last checkpoint of a recording; without SCENE",
     offsetof(RunOptions, restart)},
    {"at", 0, OPTION_NUMBER, "T", "with --restart: continue from the last checkpoint not after T [s]",
     offsetof(RunOptions, at)},
    {"picture", 0, OPTION_TEXT, "FILE", "draw the motion, coordinates and energies:\n" DRAWING_HELP,
     offsetof(RunOptions, picture)},
    {"log", 0, OPTION_TEXT, "FILE", "write the progress, one line per second, and the outcome of the run",
     offsetof(RunOptions, log)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of the summary", offsetof(RunOptions, json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "no progress line and no summary", offsetof(RunOptions, quiet)},
};

static int run_main(int argc, char *const *argv);

const Command run_command = {
    .name = "run",
    .words = "SCENE",
    .min_words = 0,
    .max_words = 1,
    .summary = "run a scene and print a summary",
    .details = "SCENE is a scene file, or - for standard input. If there is no such file, it is the name of an example "
               "(stiction examples). "
               "Exit status: 0 the end was reached; 1 the run diverged or an output could not be written (results so "
               "far are kept); 2 an error in the command line, the scene or an output (no file was changed); 3 the "
               "end was reached, but more than 1 per cent of the steps are above residual_limit or left a joint open "
               "by more than a tenth of its size; 129, 130, 143 "
               "interrupted by SIGHUP, Ctrl-C or SIGTERM (results so far are kept).",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = run_main,
};

typedef struct Run {
    const RunOptions *options;
    Loaded loaded;
    st_Csv *csv;
    st_Recorder *recorder;
    st_Picture *picture;
    FILE *log;
    Tally tally;
    st_StepInfo info; /* of the last step */
    Progress progress;
    double next_line; /* --rate: the time of the next line of the table [s] */
    bool line_due;    /* the last state is not yet in the table */
} Run;

static bool line_wanted(Run *run, const st_StepInfo *info)
{
    const RunOptions *o = run->options;
    if (o->every > 0) return run->tally.steps % o->every == 0;
    if (!(o->rate > 0)) return true;
    /* Half a ten-thousandth early counts: 100 lines per second of steps of 0.01 s are all written. */
    if (info->time < run->next_line - 5e-5 / o->rate) return false;
    run->next_line = (floor(info->time * o->rate + 5e-5) + 1) / o->rate;
    return true;
}

/* Adds the state to the outputs. `last`: the run has ended; writes the line that --every and --rate have left out. */
static bool record(Run *run, const st_StepInfo *info, bool last, st_Error *err)
{
    if (run->picture != NULL && !last && st_picture_add(run->picture, run->loaded.system, info, err) != ST_OK)
        return false;
    if (run->recorder != NULL && !last && st_recorder_add(run->recorder, run->loaded.system, info, err) != ST_OK)
        return false;
    if (run->csv == NULL) return true;
    run->line_due = last ? false : !line_wanted(run, info);
    return run->line_due || st_csv_write(run->csv, run->loaded.system, info, err) == ST_OK;
}

static bool after_step(void *ctx, const st_StepInfo *info, st_Error *err)
{
    Run *run = ctx;
    run->info = *info;
    const bool ok = record(run, info, false, err);
    if (info->h > 0) progress_step(&run->progress, run->tally.steps, info);
    return ok;
}

static void simulate(Run *run)
{
    st_Error err = {0};
    simulate_to_end(&run->loaded, &run->tally, after_step, run);
    judge_steps(&run->tally, &run->loaded);
    const bool sound = run->tally.outcome != RUN_FAILED && run->tally.outcome != RUN_DIVERGED;
    if (run->line_due && !record(run, &run->info, true, &err) && sound) end_run(&run->tally, RUN_FAILED, err.message);
}

/* Sorts the outputs by ending; a file that is not plain is a table. */
static int sort_outputs(RunOptions *o)
{
    static const char *const endings[] = {".h5", ".hdf5", ".csv", NULL};
    for (int k = 0; k < o->outputs.count; k++) {
        const char *path = o->outputs.item[k];
        const bool recording = has_ending(path, ".h5") || has_ending(path, ".hdf5");
        const char **slot = recording ? &o->recording : &o->table;
        if (path[0] == '\0') return complain(STATUS_INPUT, "run: --output needs FILE, found an empty text");
        if (!output_named(path, endings,
                          "; of a recording stiction report makes a page, render a film, plot curves, export VTK"))
            return STATUS_INPUT;
        if (*slot != NULL)
            return complain(STATUS_INPUT, "run: two %s, %s and %s", recording ? "recordings" : "tables", *slot, path);
        *slot = path;
    }
    return -1;
}

static int check_options(const RunOptions *o, const char *word)
{
    if (o->every > 0 && o->rate > 0) return complain(STATUS_INPUT, "run: --every and --rate cannot be used together");
    if (o->every > 0 && o->table == NULL)
        return complain(STATUS_INPUT, "run: --every is for the table: -o FILE.csv is missing");
    if (o->rate > 0 && o->table == NULL && o->recording == NULL)
        return complain(STATUS_INPUT,
                        "run: --rate is for the table or the recording: -o FILE.csv or -o FILE.h5 is missing");
    if (o->checkpoint > 0 && o->recording == NULL)
        return complain(STATUS_INPUT, "run: --checkpoint is for the recording: -o FILE.h5 is missing");
    if (o->at > 0 && o->restart == NULL) return complain(STATUS_INPUT, "run: --at needs --restart FILE.h5");
    if (o->restart != NULL && word != NULL)
        return complain(STATUS_INPUT, "run: --restart takes the scene from %s, \"%s\" is one word too many", o->restart,
                        word);
    if (o->restart == NULL && word == NULL)
        return complain(STATUS_INPUT, "run: SCENE is missing; usage: stiction run SCENE [options]");
    return -1;
}

/* Checks that every output can be written, and that none is the input or another output. */
static int check_outputs(const Run *run)
{
    const RunOptions *o = run->options;
    static const char *const kind[] = {"table", "picture", "recording", "log"};
    const char *files[] = {o->table, o->picture, o->recording, o->log};
    for (int k = 0; k < 4; k++) {
        if (files[k] == NULL) continue;
        if (same_file(files[k], run->loaded.path))
            return complain(STATUS_INPUT, "run: the output %s is the scene itself", files[k]);
        if (o->restart != NULL && same_file(files[k], o->restart))
            return complain(STATUS_INPUT, "run: the output %s is the recording to restart from", files[k]);
        if (!(k == 1 ? drawing_possible(files[k]) : output_possible(files[k]))) return STATUS_INPUT;
        for (int j = 0; j < k; j++)
            if (files[j] != NULL && same_file(files[j], files[k]))
                return complain(STATUS_INPUT, "run: %s and %s are the same file, %s", kind[j], kind[k], files[k]);
    }
    return -1;
}

static bool open_recorder(Run *run, st_Error *err)
{
    const RunOptions *o = run->options;
    Loaded *l = &run->loaded;
    double length = l->def.end - st_system_time(l->system);
    st_RecorderDef def = st_recorder_def();
    KeptScene kept = {0};
    def.name = l->name;
    def.description = l->description;
    bool ok = keep_scene(l, o->restart != NULL, &kept, err);
    def.text = kept.text;
    def.length = ok ? strlen(kept.text) : 0;
    def.label = kept.label;
    def.sets = kept.sets;
    def.n_sets = kept.n_sets;
    def.rate = o->rate > 0 ? o->rate : length > 0 ? fmax(60, 600 / length) : 60;
    def.checkpoint = o->checkpoint > 0 ? o->checkpoint : length > 0 ? length / 10 : 0;
    ok = ok && st_recorder_open(o->recording, &def, l->scene, &l->def, l->system, &run->recorder, err) == ST_OK;
    kept_scene_free(&kept);
    return ok;
}

/* All checks, before anything is touched. -1: continue. */
static int prepare(Run *run, const char *word)
{
    const RunOptions *o = run->options;
    st_Error err = {0};
    int status = check_options(o, word);
    if (status >= 0) return status;
    bool ok = o->restart != NULL ? load_restart(o->restart, o->at > 0 ? o->at : INFINITY, &o->sets, &run->loaded, &err)
                                 : load(word, &o->sets, &run->loaded, &err);
    if (!ok) return refuse_scene(&run->loaded, &err);
    status = check_outputs(run);
    if (status >= 0) return status;
    interrupt_begin();
    if (o->picture != NULL && st_picture_create(run->loaded.scene, &run->loaded.def, &run->picture, &err) != ST_OK)
        return complain(STATUS_INPUT, "%s", err.message);
    st_picture_set_title(run->picture, run->loaded.name);
    if (o->recording != NULL && !open_recorder(run, &err)) return complain(STATUS_INPUT, "%s", err.message);
    if (o->log != NULL && (run->log = fopen(o->log, "a")) == NULL)
        return complain(STATUS_INPUT, "%s: cannot be written: %s", o->log, strerror(errno));
    if (o->table != NULL && st_csv_open(o->table, run->loaded.system, run->loaded.scene, &run->csv, &err) != ST_OK)
        return complain(STATUS_INPUT, "%s", err.message);
    if (run->log != NULL) (void)!ftruncate(fileno(run->log), 0); /* touched last: nothing can fail now */
    return -1;
}

/* The last line of the log: how the run ended. */
static void finish_log(Run *run)
{
    if (run->log == NULL) return;
    const Tally *tally = &run->tally;
    fprintf(run->log, "%s at t = %.10g s, %lld steps, %.3g s wall, %.3g s CPU%s%s\n", outcome_name(tally->outcome),
            st_system_time(run->loaded.system), (long long)tally->steps, tally->wall, tally->cpu,
            tally->message[0] != '\0' ? ": " : "", tally->message);
    bool ok = ferror(run->log) == 0;
    if ((fclose(run->log) != 0 || !ok) && tally->outcome != RUN_FAILED) {
        char message[sizeof tally->message];
        snprintf(message, sizeof message, "%s: writing failed: %s", run->options->log, strerror(errno));
        end_run(&run->tally, RUN_FAILED, message);
    }
    run->log = NULL;
}

static void finish_picture(Run *run)
{
    st_Error err = {.message = "the picture could not be made"};
    Drawing drawing;
    const char *svg = drawing_begin(&drawing, run->options->picture);
    const bool drawn = svg != NULL && st_picture_write(run->picture, svg, &err) == ST_OK;
    if (!drawing_end(&drawing, drawn, "") && run->tally.outcome != RUN_FAILED)
        end_run(&run->tally, RUN_FAILED, err.message);
}

/* Closes table and recording and writes the picture; the first error is reported. */
static void finish_outputs(Run *run)
{
    st_Error err = {0};
    if (st_csv_close(run->csv, &err) != ST_OK && run->tally.outcome != RUN_FAILED)
        end_run(&run->tally, RUN_FAILED, err.message);
    run->csv = NULL;
    if (st_recorder_close(run->recorder, run->loaded.system, outcome_name(run->tally.outcome), run->tally.message,
                          &err) != ST_OK &&
        run->tally.outcome != RUN_FAILED)
        end_run(&run->tally, RUN_FAILED, err.message);
    run->recorder = NULL;
    if (run->picture != NULL) finish_picture(run);
}

static int tell(const Run *run)
{
    const RunOptions *o = run->options;
    Outputs outputs = {o->table, o->picture, o->recording};
    if (o->json)
        print_json(stdout, &run->loaded, &run->tally, &outputs);
    else if (!o->quiet)
        print_summary(stdout, &run->loaded, &run->tally, &outputs);
    fflush(stdout);
    switch (run->tally.outcome) {
    case RUN_FINISHED:
        return STATUS_OK;
    case RUN_INTERRUPTED:
        return complain(128 + interrupt_caught(), "%s at t = %g s; results so far are kept", run->tally.message,
                        st_system_time(run->loaded.system));
    case RUN_UNSOLVED:
        return complain(STATUS_UNSOLVED, "%s", run->tally.message);
    case RUN_DIVERGED:
    case RUN_FAILED:
        break;
    }
    return complain(STATUS_FAILED, "%s", run->tally.message);
}

static int run_main(int argc, char *const *argv)
{
    RunOptions o = {0};
    Run run = {.options = &o};
    const char *words[MAX_WORDS];
    int status = command_read(&run_command, argc, argv, &o, words);
    if (status < 0) status = sort_outputs(&o);
    if (status < 0) status = set_threads(&o.sets, o.threads, o.threads_set);
    if (status < 0) status = prepare(&run, words[0]);
    if (status < 0) {
        progress_start(&run.progress, o.quiet, run.log, st_system_time(run.loaded.system), run.loaded.def.end);
        double wall = wall_seconds(), cpu = cpu_seconds();
        simulate(&run);
        run.tally.wall = wall_seconds() - wall;
        run.tally.cpu = cpu_seconds() - cpu;
        progress_end(&run.progress);
        finish_outputs(&run);
        finish_log(&run);
        status = tell(&run);
    }
    tally_free(&run.tally);
    st_csv_close(run.csv, NULL);
    st_recorder_close(run.recorder, NULL, "failed", "", NULL);
    st_picture_destroy(run.picture);
    if (run.log != NULL) fclose(run.log);
    unload(&run.loaded);
    free((void *)o.sets.item);
    free((void *)o.outputs.item);
    return status;
}
