/* stiction sweep: a parameter study. One process for each run, several at a time; the results in one table.
 *
 * A run that crashes or is out of memory ends its own process only. Results are appended to TABLE.partial as runs
 * end (journal.h); the same command continues a killed study. At the end the table is written in the order of the
 * runs, so that it does not depend on the number of processes or on interruptions.
 */
#if defined(__linux__)
#define _GNU_SOURCE 1 /* strsignal, prctl, MAP_ANONYMOUS */
#include <sys/prctl.h>
#else
#define _DARWIN_C_SOURCE 1
#endif
#include "design.h"
#include "drawing.h"
#include "interrupt.h"
#include "journal.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "simulate.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 64, MOST_JOBS = 1024, SHOWN_RUNS = 24, MOST_CURVES = 8 };

typedef struct SweepOptions {
    DesignOptions design;
    TextList sets, outputs;
    const char *table, *plot, *over;
    long jobs;
    bool fresh, json, quiet;
} SweepOptions;

static const Option options[] = {
    {"vary", 0, OPTION_LIST, "PATH=VALUES",
     "a value of the scene to vary; may be repeated:\nbodies/box/mass=1,2,5; simulation/h=0.001:0.01:10 (10 "
     "values from 0.001 to 0.01; with :log in equal ratios). With random and latin: LOW:HIGH",
     offsetof(SweepOptions, design.vary)},
    {"sample", 0, OPTION_TEXT, "HOW", "grid (all combinations), random, or latin (Latin hypercube)",
     offsetof(SweepOptions, design.sample)},
    {"runs", 0, OPTION_COUNT, "N", "with random and latin: number of runs", offsetof(SweepOptions, design.runs)},
    {"seed", 0, OPTION_COUNT, "N", "with random and latin: seed of the random numbers (default 1)",
     offsetof(SweepOptions, design.seed)},
    {"values", 0, OPTION_TEXT, "FILE.csv", "in place of --vary: a table; titles are paths, each line is a run",
     offsetof(SweepOptions, design.values)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of the scene in all runs", offsetof(SweepOptions, sets)},
    {"y", 'y', OPTION_LIST, "OUTPUT",
     "a result for the table; may be repeated, or several with commas: final:, min:, max: or mean: and a column of the "
     "table that run -o FILE.csv writes (max:box.z), or a number of run --json (worst_gap, energy/end/total)",
     offsetof(SweepOptions, outputs)},
    {"output", 'o', OPTION_TEXT, "FILE", "FILE.csv or FILE.h5: the table of all runs", offsetof(SweepOptions, table)},
    {"jobs", 'j', OPTION_COUNT, "N", "number of processes (default: the number of processors)",
     offsetof(SweepOptions, jobs)},
    {"plot", 0, OPTION_TEXT, "FILE", "draw the outputs over a parameter: " DRAWING_HELP, offsetof(SweepOptions, plot)},
    {"x", 'x', OPTION_TEXT, "PATH", "the parameter on the horizontal axis (default: the first)",
     offsetof(SweepOptions, over)},
    {"fresh", 0, OPTION_FLAG, NULL, "discard the results of an interrupted study", offsetof(SweepOptions, fresh)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of the summary", offsetof(SweepOptions, json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "no progress line and no summary", offsetof(SweepOptions, quiet)},
};

static int sweep_main(int argc, char *const *argv);

const Command sweep_command = {
    .name = "sweep",
    .words = "SCENE",
    .min_words = 1,
    .max_words = 1,
    .summary = "run a parameter study: many runs, one table",
    .details =
        "Runs the scene once for each combination of values: stiction sweep block_pulled --vary "
        "simulation/h=0.001:0.01:10 -y final:block.x -o table.csv. Minima, maxima "
        "and means are over all steps; means are weighted by step length. NaN values (forces of a step with an impact) "
        "are "
        "left out. With -o each result is saved in FILE.partial at once: if the study is stopped, the same command "
        "continues it and repeats no run. Exit status: 0 all runs finished; 1 some did not (see the column status), or "
        "an "
        "output could not be written; 2 an error in the command line, the scene or an output (nothing was run); 129, "
        "130, "
        "143 interrupted (results are kept with -o).",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = sweep_main,
};

typedef enum Reduce { REDUCE_FINAL, REDUCE_MIN, REDUCE_MAX, REDUCE_MEAN, OF_RESULT } Reduce;
static const char *const reduce_names[] = {"final:", "min:", "max:", "mean:"};

typedef struct Output {
    const char *name;   /* as given */
    const char *source; /* the column, or the path in the result    */
    Reduce how;
    int64_t column;
} Output;

/* Shared with the process of a run. */
typedef struct Slot {
    int done; /* 1: the rest is filled in */
    char status[16], message[600];
    double value[MOST_OUTPUTS];
} Slot;

typedef struct Sweep {
    SweepOptions o;
    Design design;
    Loaded first; /* the scene with the values of the first run */
    Output output[MOST_OUTPUTS];
    int n_outputs;
    char **output_text; /* owns the names */
    Result *result;
    double *values; /* of all results */
    Journal journal;
    int n_done, n_kept; /* runs with a result; number of these from an earlier call */
    int n_jobs;
    Ranks ranks;
    bool takes_all; /* also does the runs of ranks that have ended */
    double wall;
} Sweep;

/* ---- one run ----------------------------------------------------------------------------------- */

typedef struct Watch { /* values of columns during a run */
    const Sweep *sweep;
    const Loaded *loaded;
    st_Columns *columns;
    double *now;                                      /* values of all columns            */
    double value[MOST_OUTPUTS], weight[MOST_OUTPUTS]; /* sums and their step lengths for means */
} Watch;

static bool any_column(const Sweep *s)
{
    for (int k = 0; k < s->n_outputs; k++)
        if (s->output[k].how != OF_RESULT) return true;
    return false;
}

static bool after_step(void *ctx, const st_StepInfo *info, st_Error *err)
{
    Watch *w = ctx;
    if (w->columns == NULL) return true;
    if (st_columns_values(w->columns, w->loaded->system, info, w->now, err) != ST_OK) return false;
    for (int k = 0; k < w->sweep->n_outputs; k++) {
        const Output *output = &w->sweep->output[k];
        const double x = output->how != OF_RESULT ? w->now[output->column] : NAN;
        if (output->how == REDUCE_FINAL) w->value[k] = x;
        if (isnan(x)) continue;
        if (output->how == REDUCE_MIN) w->value[k] = fmin(w->value[k], x); /* fmin and fmax ignore NaN */
        if (output->how == REDUCE_MAX) w->value[k] = fmax(w->value[k], x);
        if (output->how == REDUCE_MEAN && info->h > 0) {
            w->value[k] = (w->weight[k] > 0 ? w->value[k] : 0) + x * info->h;
            w->weight[k] += info->h;
        }
    }
    return true;
}

static void find_in_result(void *ctx, const char *path, double value)
{
    Watch *w = ctx;
    for (int k = 0; k < w->sweep->n_outputs; k++)
        if (w->sweep->output[k].how == OF_RESULT && strcmp(path, w->sweep->output[k].source) == 0) w->value[k] = value;
}

/* The overrides of a run: those of all runs, then PATH=VALUE of each parameter. -1: fine; else the error was
 * reported. */
typedef struct RunSets {
    TextList list;
    char *text; /* of the parameters, one after the other */
} RunSets;

static int make_sets(const Sweep *s, int run, RunSets *sets)
{
    const Design *d = &s->design;
    const char *const *value = (const char *const *)d->value + (size_t)run * (size_t)d->n_parameters;
    size_t size = 1;
    int status = -1;
    for (int p = 0; p < d->n_parameters; p++)
        size += strlen(d->path[p]) + strlen(value[p]) + 2;
    *sets = (RunSets){0};
    char *text = malloc(size);
    if (text == NULL) return complain(STATUS_FAILED, "out of memory");
    for (int k = 0; status < 0 && k < s->o.sets.count; k++)
        status = append_text(&sets->list, s->o.sets.item[k]);
    for (int p = 0, at = 0; status < 0 && p < d->n_parameters; p++) {
        status = append_text(&sets->list, text + at);
        at += sprintf(text + at, "%s=%s", d->path[p], value[p]) + 1;
    }
    sets->text = text;
    return status;
}

static void free_sets(RunSets *sets)
{
    free((void *)sets->list.item);
    free(sets->text);
}

static void run_one(const Sweep *s, int run, Slot *slot)
{
    RunSets sets = {0};
    Loaded loaded = {0};
    st_Error err = {0};
    Watch w = {.sweep = s, .loaded = &loaded};
    for (int k = 0; k < s->n_outputs; k++)
        w.value[k] = NAN;
    Tally tally = {0};
    const char *status = "refused", *message = err.message;
    bool ended = make_sets(s, run, &sets) < 0; /* otherwise there is no result */
    if (ended && load_again(&s->first, &sets.list, &loaded, &err)) {
        if (any_column(s) && st_columns_create(loaded.scene, &w.columns, &err) == ST_OK)
            w.now = malloc((size_t)st_columns_count(w.columns) * sizeof *w.now);
        const double wall = wall_seconds(), cpu = cpu_seconds();
        if (any_column(s) && w.now == NULL)
            end_run(&tally, RUN_FAILED, "out of memory");
        else
            simulate_to_end(&loaded, &tally, after_step, &w);
        ended = tally.outcome != RUN_INTERRUPTED;
        judge_steps(&tally, &loaded);
        tally.wall = wall_seconds() - wall, tally.cpu = cpu_seconds() - cpu;
        for (int k = 0; k < s->n_outputs; k++)
            if (w.weight[k] > 0) w.value[k] /= w.weight[k];
        Json json;
        visit_document(&json, find_in_result, &w);
        put_result(&json, &loaded, &tally, &(Outputs){0});
        status = tally.outcome == RUN_UNSOLVED ? "unsolved" : outcome_name(tally.outcome);
        message = tally.message;
    }
    snprintf(slot->status, sizeof slot->status, "%s", status);
    snprintf(slot->message, sizeof slot->message, "%s", message);
    memcpy(slot->value, w.value, sizeof slot->value);
    slot->done = ended;
    free_sets(&sets);
    free(w.now);
    st_columns_destroy(w.columns);
    tally_free(&tally);
    unload(&loaded);
}

/* ---- all runs ---------------------------------------------------------------------------------- */

static pid_t start_run(const Sweep *s, int run, Slot *slot)
{
    memset(slot, 0, sizeof *slot);
    fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#else
    (void)parent;
#endif
    run_one(s, run, slot);
    _exit(0);
}

/* The result of a run after its process has ended. False: it cannot be stored. */
static bool take_result(Sweep *s, int run, Slot *slot, int ended)
{
    Result *r = &s->result[run];
    if (!slot->done) { /* it crashed */
        snprintf(slot->status, sizeof slot->status, "crashed");
        snprintf(slot->message, sizeof slot->message, WIFSIGNALED(ended) ? "its process was ended: %s" : "%s",
                 WIFSIGNALED(ended) ? strsignal(WTERMSIG(ended)) : "its process ended early");
        for (int k = 0; k < s->n_outputs; k++)
            slot->value[k] = NAN;
    }
    for (char *c = slot->message; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20) *c = ' ';
    memcpy(r->status, slot->status, sizeof r->status);
    memcpy(r->value, slot->value, (size_t)s->n_outputs * sizeof *r->value);
    r->message = strdup(slot->message);
    if (r->message == NULL) return complain(STATUS_FAILED, "out of memory"), false;
    s->n_done++;
    return journal_add(&s->journal, run, r, s->n_outputs);
}

static void show_progress(const Sweep *s, double started)
{
    if (s->o.quiet || isatty(STDERR_FILENO) != 1) return;
    char left[32];
    const int here = s->n_done - s->n_kept;
    time_text(here > 0 ? (wall_seconds() - started) / here * (s->design.n_runs - s->n_done) : 0, left, sizeof left);
    fprintf(stderr, "\r%d of %d runs  %s left\033[K", s->n_done, s->design.n_runs, left);
    if (s->n_done == s->design.n_runs) fputs("\r\033[K", stderr);
}

/* Does the run belong to this rank, and is it still to be done? */
static bool is_mine(const Sweep *s, int run)
{
    return s->result[run].status[0] == '\0' && (s->takes_all || run % s->ranks.size == s->ranks.rank);
}

/* -1: all runs of this rank have a result. */
static int run_all(Sweep *s)
{
    const int n_runs = s->design.n_runs;
    struct {
        pid_t process; /* 0: free */
        int run;
    } job[MOST_JOBS] = {0};
    Slot *slot =
        mmap(NULL, (size_t)s->n_jobs * sizeof *slot, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (slot == MAP_FAILED) return complain(STATUS_FAILED, "out of memory");
    const double started = wall_seconds();
    int next = 0, running = 0, status = -1;
    interrupt_begin();
    for (;;) {
        for (int j = 0; j < s->n_jobs && status < 0 && interrupt_caught() == 0; j++) {
            while (next < n_runs && !is_mine(s, next))
                next++;
            if (next >= n_runs || job[j].process != 0) continue;
            const pid_t child = start_run(s, next, &slot[j]);
            if (child < 0 && running == 0)
                status = complain(STATUS_FAILED, "sweep: no process can be started: %s", strerror(errno));
            if (child < 0) break; /* no more processes at present */
            job[j].process = child, job[j].run = next++, running++;
        }
        if (running == 0) break;
        int ended = 0;
        const pid_t child = waitpid(-1, &ended, 0);
        if (status >= 0 || interrupt_caught() != 0)
            for (int j = 0; j < s->n_jobs; j++)
                if (job[j].process != 0) kill(job[j].process, SIGKILL);
        for (int j = 0; child > 0 && j < s->n_jobs; j++) {
            if (job[j].process != child) continue;
            job[j].process = 0, running--;
            /* A run ended by a signal to all processes has no result. */
            if (!slot[j].done && (interrupt_caught() != 0 || status >= 0)) continue;
            if (!take_result(s, job[j].run, &slot[j], ended)) status = STATUS_FAILED;
            show_progress(s, started);
        }
    }
    munmap(slot, (size_t)s->n_jobs * sizeof *slot);
    s->wall += wall_seconds() - started;
    bool left = false;
    for (int run = 0; run < n_runs; run++)
        left = left || is_mine(s, run);
    if (status < 0 && left)
        status =
            complain(128 + interrupt_caught(), "sweep: %s with %d of %d runs done%s%s", interrupt_word(), s->n_done,
                     n_runs, s->o.table != NULL ? "; the same command continues: they are kept in " : "",
                     s->o.table != NULL ? s->journal.path : "");
    return status;
}

/* Reads the results of the other ranks as they arrive. Runs that a rank has not done when it ends are done here. */
static int gather(Sweep *s)
{
    const double started = wall_seconds(), patience = 60; /* wait for ranks that have not started */
    int status = -1;
    interrupt_begin();
    while (status < 0 && s->n_done < s->design.n_runs) {
        const bool ended = journal_gather(&s->journal, s->result, s->design.n_runs, s->n_outputs, &s->n_done);
        show_progress(s, started);
        if (s->n_done == s->design.n_runs) break;
        s->takes_all = ended || wall_seconds() - started > patience;
        if (s->takes_all || interrupt_caught() != 0) status = run_all(s);
        const struct timespec pause = {0, 100000000};
        if (status < 0) nanosleep(&pause, NULL);
    }
    return status;
}

/* The number of this process among those of mpirun, from the variables of Open MPI and of MPICH and similar. */
static int find_ranks(Ranks *out)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};
    *out = (Ranks){0, 1};
    for (int k = 0; k < 2; k++) {
        const char *rank = getenv(names[k][0]), *size = getenv(names[k][1]);
        if (rank == NULL || size == NULL) continue;
        *out = (Ranks){atoi(rank), atoi(size)};
        if (out->size >= 1 && out->size <= MOST_RANKS && out->rank >= 0 && out->rank < out->size) return -1;
        return complain(STATUS_INPUT, "sweep: %s is %s of %s %s, must be 0 to %d of at most %d", names[k][0], rank,
                        names[k][1], size, out->size - 1, MOST_RANKS);
    }
    return -1;
}

/* ---- before the runs --------------------------------------------------------------------------- */

typedef struct Search { /* for a name that is in no list */
    const char *wanted;
    bool found;
    char **names;
    int n;
} Search;

static void search_result(void *ctx, const char *path, double value)
{
    Search *search = ctx;
    (void)value;
    if (strcmp(path, search->wanted) == 0) search->found = true;
    char **grown = realloc((void *)search->names, ((size_t)search->n + 1) * sizeof *grown);
    if (grown == NULL) return;
    search->names = grown;
    search->names[search->n] = strdup(path);
    if (search->names[search->n] != NULL) search->n++;
}

static int unknown_output(const char *name, const char *what, const char *wanted, char **names, int n)
{
    const char *near = suggest(wanted, (const char *const *)names, n);
    return near != NULL ? complain(STATUS_INPUT, "sweep: -y %s: there is no %s \"%s\", did you mean %s?", name, what,
                                   wanted, near)
                        : complain(STATUS_INPUT, "sweep: -y %s: there is no %s \"%s\"", name, what, wanted);
}

/* Checks that the outputs exist in the scene of the first run. -1: continue. */
static int check_output(const Sweep *s, const st_Columns *columns, const Tally *tally, Output *output)
{
    Search search = {.wanted = output->source};
    int status = -1;
    if (output->how == OF_RESULT) {
        Json json;
        visit_document(&json, search_result, &search);
        put_result(&json, &s->first, tally, &(Outputs){0});
        if (!search.found)
            status = unknown_output(output->name, "number in the result of a run (run --json)", output->source,
                                    search.names, search.n);
    } else if ((output->column = st_columns_find(columns, output->source)) < 0) {
        char name[JSON_PATH];
        for (int64_t k = 0; st_columns_name(columns, k, name, sizeof name) > 0; k++)
            search_result(&search, name, 0);
        status = unknown_output(output->name, "column", output->source, search.names, search.n);
    }
    for (int k = 0; k < search.n; k++)
        free(search.names[k]);
    free((void *)search.names);
    return status;
}

static int add_output(Sweep *s, const char *name)
{
    if (name[0] == '\0') return complain(STATUS_INPUT, "sweep: -y needs OUTPUT, found an empty text");
    if (s->n_outputs == MOST_OUTPUTS) return complain(STATUS_INPUT, "sweep: more than %d outputs", MOST_OUTPUTS);
    Output output = {.name = name, .source = name, .how = OF_RESULT};
    for (int k = 0; k < OF_RESULT; k++)
        if (strncmp(name, reduce_names[k], strlen(reduce_names[k])) == 0)
            output.how = (Reduce)k, output.source = name + strlen(reduce_names[k]);
    for (int k = 0; k < s->n_outputs; k++)
        if (strcmp(s->output[k].name, name) == 0) return complain(STATUS_INPUT, "sweep: -y %s is given twice", name);
    s->output[s->n_outputs++] = output;
    return -1;
}

static int list_outputs(Sweep *s)
{
    static const char *const usual[] = {"steps", "worst_gap", "worst_residual", "energy/end/total"};
    int status = -1;
    for (size_t k = 0; s->o.outputs.count == 0 && k < sizeof usual / sizeof usual[0]; k++)
        add_output(s, usual[k]);
    s->output_text = calloc((size_t)s->o.outputs.count + 1, sizeof *s->output_text);
    if (s->output_text == NULL) return complain(STATUS_FAILED, "out of memory");
    for (int k = 0; status < 0 && k < s->o.outputs.count; k++) {
        int n = 0;
        s->output_text[k] = strdup(s->o.outputs.item[k]);
        char **item = s->output_text[k] != NULL ? split_at_commas(s->output_text[k], &n) : NULL;
        if (item == NULL) status = complain(STATUS_FAILED, "out of memory");
        for (int i = 0; item != NULL && status < 0 && i < n; i++)
            status = add_output(s, item[i]);
        free((void *)item);
    }
    return status;
}

/* Reads the scene with the values of the first run, and finds the outputs in it. */
static int check_scene(Sweep *s, const char *word)
{
    RunSets sets = {0};
    st_Error err = {0};
    int status = make_sets(s, 0, &sets);
    if (status < 0) status = append_text(&sets.list, "simulation/threads=1"); /* fork() copies only one thread */
    if (status < 0 && !load(word, &sets.list, &s->first, &err)) status = refuse_scene(&s->first, &err);
    st_Columns *columns = NULL;
    Tally tally = {0};
    st_StepInfo info;
    if (status < 0 &&
        (st_columns_create(s->first.scene, &columns, &err) != ST_OK || !tally_start(&tally, &s->first, &info, &err)))
        status = complain(STATUS_FAILED, "%s", err.message);
    for (int k = 0; status < 0 && k < s->n_outputs; k++)
        status = check_output(s, columns, &tally, &s->output[k]);
    st_columns_destroy(columns);
    tally_free(&tally);
    free_sets(&sets);
    return status;
}

/* The number that `text` is as a whole; NaN: not a number. */
static double number_of(const char *text)
{
    char *end = NULL;
    const double x = strtod(text, &end);
    return end != text && *end == '\0' ? x : NAN;
}

/* The parameter that -x names; -1: none. */
static int plot_parameter(const Sweep *s)
{
    const Design *d = &s->design;
    for (int p = 0; p < d->n_parameters; p++)
        if (s->o.over == NULL || strcmp(d->path[p], s->o.over) == 0) return p;
    return -1;
}

static int check_files(const Sweep *s)
{
    static const char *const endings[] = {".csv", ".h5", ".hdf5", NULL};
    const SweepOptions *o = &s->o;
    const char *files[] = {o->table, o->plot};
    if (o->fresh && o->table == NULL) return complain(STATUS_INPUT, "sweep: --fresh is for the table: -o is missing");
    if (o->over != NULL && o->plot == NULL)
        return complain(STATUS_INPUT, "sweep: -x is for the plot: --plot is missing");
    for (int k = 0; k < 2; k++) {
        if (files[k] == NULL) continue;
        if (same_file(files[k], s->first.path))
            return complain(STATUS_INPUT, "sweep: the output %s is the scene itself", files[k]);
        if (o->design.values != NULL && same_file(files[k], o->design.values))
            return complain(STATUS_INPUT, "sweep: the output %s is the file of values", files[k]);
    }
    if (o->table != NULL && (!output_named(o->table, endings, NULL) || !output_possible(o->table))) return STATUS_INPUT;
    if (o->plot == NULL) return -1;
    if (!drawing_possible(o->plot)) return STATUS_INPUT;
    const int x = plot_parameter(s);
    if (x < 0) return complain(STATUS_INPUT, "sweep: -x %s: does not vary; %s does", o->over, s->design.path[0]);
    for (int run = 0; run < s->design.n_runs; run++) {
        const char *value = s->design.value[(size_t)run * (size_t)s->design.n_parameters + (size_t)x];
        if (isnan(number_of(value)))
            return complain(
                STATUS_INPUT,
                "sweep: --plot: the values of %s are not numbers (\"%s\"); choose another parameter with -x",
                s->design.path[x], value);
    }
    return -1;
}

static uint64_t fingerprint(const Sweep *s)
{
    uint64_t h = fingerprint_add(FINGERPRINT_START, s->first.text, s->first.length);
#define ADD(text) (h = fingerprint_add(h, (text), strlen(text) + 1))
    ADD(st_version());
    ADD(s->first.path);
    for (int k = 0; k < s->o.sets.count; k++)
        ADD(s->o.sets.item[k]);
    for (int k = 0; k < s->n_outputs; k++)
        ADD(s->output[k].name);
    for (int p = 0; p < s->design.n_parameters; p++)
        ADD(s->design.path[p]);
    for (size_t k = 0; k < (size_t)s->design.n_runs * (size_t)s->design.n_parameters; k++)
        ADD(s->design.value[k]);
#undef ADD
    return h;
}

static int prepare(Sweep *s, const char *word)
{
    int status = find_ranks(&s->ranks);
    if (status < 0 && s->ranks.size > 1 && s->o.table == NULL)
        status = complain(STATUS_INPUT,
                          "sweep: %d processes share this study: -o is missing, in which they collect their results",
                          s->ranks.size);
    if (status < 0) status = make_design(&s->o.design, &s->design);
    if (status < 0) status = list_outputs(s);
    if (status < 0) status = check_scene(s, word);
    if (status < 0) status = check_files(s);
    if (status >= 0) return status;
    const size_t n = (size_t)s->design.n_runs, width = (size_t)s->n_outputs;
    s->result = calloc(n, sizeof *s->result);
    s->values = calloc(n * width, sizeof *s->values);
    if (s->result == NULL || s->values == NULL) return complain(STATUS_FAILED, "out of memory");
    for (size_t run = 0; run < n; run++)
        s->result[run].value = s->values + run * width;
    if (s->o.table != NULL)
        status = journal_open(&s->journal, s->o.table, fingerprint(s), s->ranks, s->result, s->design.n_runs,
                              s->n_outputs, s->o.fresh, &s->n_done);
    if (status >= 0) return status;
    s->n_kept = s->n_done;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long jobs = s->o.jobs > 0 ? s->o.jobs : processors > 0 && s->ranks.size == 1 ? processors : 1;
    if (jobs > MOST_JOBS) return complain(STATUS_INPUT, "sweep: --jobs is %ld, must be at most %d", jobs, MOST_JOBS);
    if (jobs > s->design.n_runs) jobs = s->design.n_runs;
    s->n_jobs = (int)jobs;
    if (s->n_kept > 0 && !s->o.quiet && s->ranks.rank == 0)
        fprintf(stderr, "stiction: %s: %d of %d runs are done, continuing\n", s->journal.path, s->n_kept,
                s->design.n_runs);
    return -1;
}

/* ---- results ----------------------------------------------------------------------------------- */

static bool finished(const Result *r)
{
    return strcmp(r->status, "finished") == 0;
}

static int write_table(const Sweep *s)
{
    const Design *d = &s->design;
    const size_t n = (size_t)d->n_runs;
    const int n_columns = 1 + d->n_parameters + s->n_outputs + 2;
    st_TableColumn *column = calloc((size_t)n_columns, sizeof *column);
    double *numbers = calloc(n * (size_t)n_columns, sizeof *numbers);
    const char **texts = calloc(n * (size_t)n_columns, sizeof *texts);
    st_Error err = {.message = "out of memory"};
    bool ok = column != NULL && numbers != NULL && texts != NULL;
    for (int c = 0; ok && c < n_columns; c++) {
        const int p = c - 1, k = p - d->n_parameters;
        double *number = numbers + n * (size_t)c;
        const char **text = texts + n * (size_t)c;
        bool is_number = c == 0 || (k >= 0 && k < s->n_outputs), all = p >= 0 && k < 0;
        for (size_t run = 0; run < n; run++) {
            const Result *r = &s->result[run];
            if (c == 0) {
                number[run] = (double)(run + 1);
            } else if (k < 0) {
                text[run] = d->value[run * (size_t)d->n_parameters + (size_t)p];
                number[run] = number_of(text[run]);
                all = all && !isnan(number[run]);
            } else if (k < s->n_outputs) {
                number[run] = r->value[k];
            } else {
                text[run] = k == s->n_outputs ? r->status : r->message;
            }
        }
        column[c] = (st_TableColumn){c == 0              ? "run"
                                     : k < 0             ? d->path[p]
                                     : k < s->n_outputs  ? s->output[k].name
                                     : k == s->n_outputs ? "status"
                                                         : "message",
                                     is_number || all ? number : NULL, text};
    }
    ok = ok && st_table_write(s->o.table, column, n_columns, d->n_runs, &err) == ST_OK;
    if (!ok) complain(STATUS_FAILED, "%s", err.message);
    free(column);
    free(numbers);
    free((void *)texts);
    return ok ? -1 : STATUS_FAILED;
}

/* A text of the values of all parameters except x in a run: runs with the same text form one curve. */
static void curve_name(const Sweep *s, int run, int x, char *out, size_t size)
{
    const Design *d = &s->design;
    out[0] = '\0';
    for (int p = 0; p < d->n_parameters; p++)
        if (p != x)
            add_text(out, size, "%s%s=%s", out[0] != '\0' ? ", " : "", d->path[p],
                     d->value[(size_t)run * (size_t)d->n_parameters + (size_t)p]);
}

typedef struct Point {
    double x;
    int run;
} Point;

static int by_x(const void *a, const void *b)
{
    const Point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->run > q->run) - (p->run < q->run);
}

/* Draws lines, one for each combination of the other parameters, if these are few; else points. */
static int draw(const Sweep *s)
{
    const Design *d = &s->design;
    const int x = plot_parameter(s), n = d->n_runs;
    char name[MOST_CURVES][160], mine[160], title[300];
    int n_curves = 0, at = 0;
    Point *point = calloc((size_t)n, sizeof *point);
    double *xs = calloc((size_t)n, sizeof *xs), *ys = calloc((size_t)n * (size_t)s->n_outputs, sizeof *ys);
    st_PlotPanel panel[MOST_OUTPUTS];
    st_PlotCurve curve[MOST_OUTPUTS][MOST_CURVES];
    st_Error err = {.message = "out of memory"};
    if (point == NULL || xs == NULL || ys == NULL) {
        free(point), free(xs), free(ys);
        return complain(STATUS_FAILED, "%s", err.message);
    }
    for (int run = 0; run < n; run++)
        point[run] = (Point){number_of(d->value[(size_t)run * (size_t)d->n_parameters + (size_t)x]), run};
    qsort(point, (size_t)n, sizeof *point, by_x);
    bool points = d->n_parameters > 1 && s->o.design.sample != NULL && strcmp(s->o.design.sample, "grid") != 0;
    for (int k = 0; !points && k < n; k++) {
        int c = 0;
        curve_name(s, point[k].run, x, mine, sizeof mine);
        while (c < n_curves && strcmp(name[c], mine) != 0)
            c++;
        if (c < n_curves) continue;
        if (n_curves == MOST_CURVES)
            points = true;
        else
            memcpy(name[n_curves++], mine, sizeof mine);
    }
    if (points) n_curves = 1, snprintf(name[0], sizeof name[0], "all runs");
    for (int c = 0; c < n_curves; c++) {
        const int from = at;
        for (int k = 0; k < n; k++) {
            const int run = point[k].run;
            curve_name(s, run, x, mine, sizeof mine);
            if ((!points && strcmp(mine, name[c]) != 0) || !finished(&s->result[run])) continue;
            xs[at] = point[k].x;
            for (int y = 0; y < s->n_outputs; y++)
                ys[(size_t)y * (size_t)n + (size_t)at] = s->result[run].value[y];
            at++;
        }
        for (int y = 0; y < s->n_outputs; y++)
            curve[y][c] = (st_PlotCurve){name[c], at - from, xs + from, ys + (size_t)y * (size_t)n + from, points};
    }
    for (int y = 0; y < s->n_outputs; y++)
        panel[y] = (st_PlotPanel){s->output[y].name, n_curves, curve[y]};
    snprintf(title, sizeof title, "%.120s: %d runs over %.120s", s->first.name, n, d->path[x]);
    Drawing drawing;
    const char *svg = drawing_begin(&drawing, s->o.plot);
    const bool drawn = svg != NULL && st_plot_lines(svg, title, d->path[x], panel, s->n_outputs, &err) == ST_OK;
    const bool ok = drawing_end(&drawing, drawn, svg != NULL ? err.message : "");
    free(point), free(xs), free(ys);
    return ok ? -1 : STATUS_FAILED;
}

static int count(const Sweep *s, const char *status)
{
    int n = 0;
    for (int run = 0; run < s->design.n_runs; run++)
        n += strcmp(s->result[run].status, status) == 0;
    return n;
}

static void print_document(const Sweep *s)
{
    const Design *d = &s->design;
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "version", st_version());
    put_text(&json, "scene", s->first.name);
    put_text(&json, "file", s->first.path);
    put_integer(&json, "finished", count(s, "finished"));
    put_integer(&json, "resumed", s->n_kept);
    put_integer(&json, "jobs", s->n_jobs);
    put_number(&json, "wall_seconds", s->wall);
    put_text(&json, "table", s->o.table);
    put_text(&json, "plot", s->o.plot);
    put_open_array(&json, "runs");
    for (int run = 0; run < d->n_runs; run++) {
        const Result *r = &s->result[run];
        put_open_flat_object(&json, NULL);
        put_integer(&json, "run", run + 1);
        put_open_flat_object(&json, "values");
        for (int p = 0; p < d->n_parameters; p++) {
            const char *value = d->value[(size_t)run * (size_t)d->n_parameters + (size_t)p];
            if (isnan(number_of(value)))
                put_text(&json, d->path[p], value);
            else
                put_number(&json, d->path[p], number_of(value));
        }
        put_close_object(&json);
        put_text(&json, "status", r->status);
        put_text(&json, "message", r->message);
        put_open_flat_object(&json, "outputs");
        for (int k = 0; k < s->n_outputs; k++)
            put_number(&json, s->output[k].name, r->value[k]);
        put_close_object(&json);
        put_close_object(&json);
    }
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
}

static void print_runs(const Sweep *s)
{
    const Design *d = &s->design;
    char text[4000];
    Fold fold;
    snprintf(text, sizeof text, "%5s", "run");
    for (int p = 0; p < d->n_parameters; p++)
        add_text(text, sizeof text, "  %14s", d->path[p]);
    for (int k = 0; k < s->n_outputs; k++)
        add_text(text, sizeof text, "  %14s", s->output[k].name);
    add_text(text, sizeof text, "  %9s", "status");
    fold_titles(&fold, stdout, text);
    for (int run = 0; run < d->n_runs; run++) {
        snprintf(text, sizeof text, "%5d", run + 1);
        for (int p = 0; p < d->n_parameters; p++)
            add_text(text, sizeof text, "  %*s", (int)fmax(14, (double)strlen(d->path[p])),
                     d->value[(size_t)run * (size_t)d->n_parameters + (size_t)p]);
        for (int k = 0; k < s->n_outputs; k++)
            add_text(text, sizeof text, "  %*.7g", (int)fmax(14, (double)strlen(s->output[k].name)),
                     s->result[run].value[k]);
        add_text(text, sizeof text, "  %9s", s->result[run].status);
        fold_row(&fold, text);
    }
}

/* Least, mean and largest value of each output, over the runs that finished. */
static void print_ranges(const Sweep *s)
{
    char text[400];
    Fold fold;
    snprintf(text, sizeof text, "  %-28s %12s %8s %12s %12s %8s", "output", "least", "in run", "mean", "most",
             "in run");
    fold_titles(&fold, stdout, text);
    for (int k = 0; k < s->n_outputs; k++) {
        double least = INFINITY, most = -INFINITY, sum = 0;
        int n = 0, at_least = 0, at_most = 0;
        for (int run = 0; run < s->design.n_runs; run++) {
            const double x = s->result[run].value[k];
            if (!finished(&s->result[run]) || isnan(x)) continue;
            if (x < least) least = x, at_least = run + 1;
            if (x > most) most = x, at_most = run + 1;
            sum += x, n++;
        }
        if (n == 0) least = most = sum = NAN;
        snprintf(text, sizeof text, "  %-28s %12.6g %8d %12.6g %12.6g %8d", s->output[k].name, least, at_least,
                 sum / fmax(1, n), most, at_most);
        fold_row(&fold, text);
    }
}

static void print_summary_of(const Sweep *s)
{
    static const char *const states[] = {"finished", "unsolved", "diverged", "failed", "refused", "crashed"};
    char text[400], wall[32];
    time_text(s->wall, wall, sizeof wall);
    snprintf(text, sizeof text, ": %d run%s", s->design.n_runs, plural(s->design.n_runs));
    for (size_t k = 0; k < sizeof states / sizeof states[0]; k++)
        if (count(s, states[k]) > 0) add_text(text, sizeof text, ", %d %s", count(s, states[k]), states[k]);
    if (s->n_kept > 0) add_text(text, sizeof text, "; %d of them earlier", s->n_kept);
    add_text(text, sizeof text, "; %d process%s, %s", s->n_jobs, s->n_jobs == 1 ? "" : "es", wall);
    printf("%s%s%s", tone(stdout, BOLD), s->first.name, tone(stdout, PLAIN));
    print_wrapped_at(stdout, text, (int)strlen(s->first.name), 2);
    if (s->design.n_runs <= SHOWN_RUNS) print_runs(s);
    print_ranges(s);
    for (int run = 0, shown = 0; run < s->design.n_runs && shown < 3; run++) {
        const Result *r = &s->result[run];
        if (finished(r)) continue;
        snprintf(text, sizeof text, "run %d %s: %.300s", run + 1, r->status, r->message);
        print_wrapped(stdout, text, 2);
        shown++;
    }
    if (s->o.table != NULL) printf("  %s\n", s->o.table);
    if (s->o.plot != NULL) printf("  %s\n", s->o.plot);
}

static int sweep_main(int argc, char *const *argv)
{
    Sweep s = {.journal.fd = -1};
    const char *words[MAX_WORDS];
    int status = command_read(&sweep_command, argc, argv, &s.o, words);
    if (status < 0) status = prepare(&s, words[0]);
    if (status < 0) status = run_all(&s);
    if (status < 0 && s.ranks.size > 1 && s.ranks.rank == 0) status = gather(&s);
    if (status < 0 && s.ranks.rank > 0) status = STATUS_OK; /* rank 0 writes the table */
    if (status < 0 && s.o.table != NULL) {
        status = write_table(&s);
        journal_close(&s.journal, status < 0);
    }
    if (status < 0 && s.o.plot != NULL) status = draw(&s);
    if (status < 0) {
        if (s.o.json)
            print_document(&s);
        else if (!s.o.quiet)
            print_summary_of(&s);
        status = count(&s, "finished") == s.design.n_runs ? STATUS_OK : STATUS_FAILED;
    }
    journal_close(&s.journal, false);
    for (int run = 0; s.result != NULL && run < s.design.n_runs; run++)
        free(s.result[run].message);
    free(s.result);
    free(s.values);
    for (int k = 0; s.output_text != NULL && k < s.o.outputs.count; k++)
        free(s.output_text[k]);
    free((void *)s.output_text);
    free_design(&s.design);
    unload(&s.first);
    free((void *)s.o.sets.item);
    free((void *)s.o.outputs.item);
    free((void *)s.o.design.vary.item);
    return status;
}
