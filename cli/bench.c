/* stiction bench: the time per step of a scene, by parts of the step, and the quality of the steps.
 *
 * A scene runs several times. The run with the least CPU time is printed, because disturbances only make a run
 * slower. All runs have the same bits, so their quality is the same.
 */
#include "json.h"
#include "load.h"
#include "progress.h"
#include "tally.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One of every kind of work: contacts at rest and in motion, joints, stiff springs, events, few bodies and many. */
static const char *const usual[] = {
    "bowling",  "stack",           "wall",     "dominoes", "card-house",     "stone-arch",
    "poured",   "gripper",         "governor", "whip",     "chain-on-peg",   "slider_crank_clearance",
    "walker",   "double-pendulum", "sphere",   "table",    "b_g20_implicit", "eulers-disk",
    "hourglass"};
enum { N_USUAL = (int)(sizeof usual / sizeof usual[0]), RUNS = 3 };
static const double long_enough = 3; /* a scene that took so many seconds is not run again */

typedef struct BenchOptions {
    TextList sets;
    long runs, steps, threads;
    bool json;
    char threads_set[48];
} BenchOptions;

static const Option options[] = {
    {"runs", 0, OPTION_COUNT, "N",
     "largest number of runs per scene, of which the fastest is reported (default 3, within 3 s)",
     offsetof(BenchOptions, runs)},
    {"steps", 0, OPTION_COUNT, "N", "number of steps of each scene (default: to its end)",
     offsetof(BenchOptions, steps)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of every scene; may be repeated",
     offsetof(BenchOptions, sets)},
    {"threads", 0, OPTION_COUNT, "N", THREADS_HELP, offsetof(BenchOptions, threads)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of the table", offsetof(BenchOptions, json)},
};

static int bench_main(int argc, char *const *argv);

const Command bench_command = {
    .name = "bench",
    .words = "[SCENE ...]",
    .min_words = 0,
    .max_words = MAX_WORDS,
    .summary = "measure the time per step of scenes, by part, with the accuracy",
    .details =
        "Runs each scene several times, without output, and reports the fastest run: mean CPU time of a step, wall "
        "time of the longest one, the percentage of each part, and the largest residual, penetration and "
        "joint error of all steps. Without SCENE it runs a selection of the examples. make bench compares with "
        "other engines. Exit status: 0 all runs reached the end; 1 one did not; 2 an error in the command line "
        "or a scene.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = bench_main,
};

typedef struct Result {
    char *name;
    int bodies, joints;
    long long steps;
    double cpu, longest; /* per step: mean CPU time, longest wall time [s] */
    double part[ST_N_PARTS];
    int runs;
    Tally tally; /* of the last run: all are equal */
} Result;

/* ---- running ----------------------------------------------------------------------------------- */

/* One run; false: it stopped early. */
static bool run_once(const BenchOptions *o, const Loaded *loaded, Tally *tally, double *longest, st_Error *err)
{
    const st_SystemDef *def = &loaded->def;
    st_StepInfo info = st_step_info();
    double h;
    bool ok = tally_start(tally, loaded, &info, err);
    *longest = 0;
    while (ok && (o->steps == 0 || tally->steps < o->steps) &&
           (h = next_step(st_system_time(loaded->system), def->h, def->end)) > 0) {
        const double start = wall_seconds();
        info = st_step_info();
        ok = st_system_step(loaded->system, h, &info, err) == ST_OK;
        *longest = fmax(*longest, wall_seconds() - start);
        if (ok) tally_step(tally, loaded->system, &info);
    }
    return ok;
}

/* Each run has its own system, because steps depend on earlier ones. -1: continue. */
static int run_scene(const BenchOptions *o, const char *word, Result *result)
{
    const long most = o->runs > 0 ? o->runs : RUNS;
    const double began = wall_seconds();
    bool ok = true;
    for (int k = 0; k < most && ok && (k == 0 || o->runs > 0 || wall_seconds() - began < long_enough); k++) {
        Loaded loaded = {0};
        st_Error err = {0};
        double longest;
        if (!load(word, &o->sets, &loaded, &err)) {
            const int refused = refuse_scene(&loaded, &err);
            unload(&loaded);
            return refused;
        }
        tally_free(&result->tally);
        const double start = cpu_seconds();
        ok = run_once(o, &loaded, &result->tally, &longest, &err);
        const double cpu = (cpu_seconds() - start) / fmax(1, (double)result->tally.steps);
        if (k == 0 || cpu < result->cpu) {
            result->cpu = cpu;
            result->longest = longest;
            st_system_part_seconds(loaded.system, result->part);
        }
        if (k == 0) result->name = loaded.name, loaded.name = NULL;
        result->bodies = st_scene_body_count(loaded.scene);
        result->joints = st_scene_joint_count(loaded.scene);
        result->steps = result->tally.steps;
        result->runs = k + 1;
        if (!ok) {
            result->tally.outcome = err.status == ST_ERR_NUMERIC ? RUN_DIVERGED : RUN_FAILED;
            snprintf(result->tally.message, sizeof result->tally.message, "%s", err.message);
        }
        unload(&loaded);
    }
    return -1;
}

/* ---- printing ---------------------------------------------------------------------------------- */

static double sum_of_parts(const Result *result)
{
    double sum = 0;
    for (int k = 0; k < ST_N_PARTS; k++)
        sum += result->part[k];
    return sum > 0 ? sum : 1;
}

static void print_head(Fold *fold)
{
    char text[300];
    snprintf(text, sizeof text, "%-24s %6s %8s %7s %10s %10s", "scene", "bodies", "contacts", "steps", "mean",
             "longest");
    for (int k = 0; k < ST_N_PARTS; k++)
        add_text(text, sizeof text, " %8.30s", st_part_name((st_StepPart)k));
    add_text(text, sizeof text, " %9s %9s %9s", "residual", "gap [m]", "joints");
    fold_titles(fold, stdout, text);
}

static void print_result(const Fold *fold, const Result *result)
{
    const Tally *tally = &result->tally;
    char text[300], mean[32], longest[32];
    time_text(result->cpu, mean, sizeof mean), time_text(result->longest, longest, sizeof longest);
    snprintf(text, sizeof text, "%-24.24s %6d %8d %7lld %10s %10s", result->name, result->bodies, tally->max_contacts,
             result->steps, mean, longest);
    for (int k = 0; k < ST_N_PARTS; k++)
        add_text(text, sizeof text, " %7.1f%%", 100 * result->part[k] / sum_of_parts(result));
    add_text(text, sizeof text, " %9.2g %9.2g %9.2g", tally->worst_residual, tally->worst_gap,
             tally->worst_joint_error);
    fold_row(fold, text);
    if (tally->failures > 0) printf("%-24s %lld step%s not converged\n", "", tally->failures, plural(tally->failures));
    if (tally->outcome != RUN_FINISHED) {
        printf("%-24s %s%s:%s ", "", tone(stdout, RED), outcome_name(tally->outcome), tone(stdout, PLAIN));
        print_wrapped_at(stdout, tally->message, 27 + (int)strlen(outcome_name(tally->outcome)), 25);
    }
    fflush(stdout);
}

static void put_scene_result(Json *json, const Result *result)
{
    const Tally *tally = &result->tally;
    put_open_object(json, NULL);
    put_text(json, "scene", result->name);
    put_text(json, "status", outcome_name(tally->outcome));
    put_text(json, "message", tally->message);
    put_integer(json, "bodies", result->bodies);
    put_integer(json, "joints", result->joints);
    put_integer(json, "contacts", tally->max_contacts);
    put_integer(json, "steps", result->steps);
    put_integer(json, "runs", result->runs);
    put_number(json, "cpu_seconds_a_step", result->cpu);
    put_number(json, "longest_step", result->longest);
    put_open_flat_object(json, "shares");
    for (int k = 0; k < ST_N_PARTS; k++)
        put_number(json, st_part_name((st_StepPart)k), result->part[k] / sum_of_parts(result));
    put_close_object(json);
    put_number(json, "worst_residual", tally->worst_residual);
    put_number(json, "worst_gap", tally->worst_gap);
    put_number(json, "worst_joint_error", tally->worst_joint_error);
    put_integer(json, "solver_failures", tally->failures);
    put_integer(json, "fallbacks", tally->fallbacks);
    put_close_object(json);
}

/* ---- the command ------------------------------------------------------------------------------- */

static int bench_scenes(const BenchOptions *o, const char *const *scene, int n)
{
    Json json;
    Fold fold;
    int status = STATUS_OK;
    if (o->json) {
        put_document(&json, stdout);
        put_open_object(&json, NULL);
        put_text(&json, "version", st_version());
        put_open_array(&json, "scenes");
    } else {
        print_head(&fold);
    }
    for (int k = 0; k < n && status != STATUS_INPUT; k++) {
        Result result = {0};
        const int told = run_scene(o, scene[k], &result);
        if (told >= 0)
            status = told;
        else if (o->json)
            put_scene_result(&json, &result);
        else
            print_result(&fold, &result);
        if (told < 0 && result.tally.outcome != RUN_FINISHED) status = STATUS_FAILED;
        tally_free(&result.tally);
        free(result.name);
    }
    if (o->json) {
        put_close_array(&json);
        put_close_object(&json);
        put_document_end(&json);
    }
    return status;
}

static int bench_main(int argc, char *const *argv)
{
    BenchOptions o = {0};
    const char *words[MAX_WORDS];
    int n = 0, status = command_read(&bench_command, argc, argv, &o, words);
    if (status < 0) status = set_threads(&o.sets, o.threads, o.threads_set);
    while (status < 0 && n < MAX_WORDS && words[n] != NULL)
        n++;
    if (status < 0) status = n > 0 ? bench_scenes(&o, words, n) : bench_scenes(&o, usual, N_USUAL);
    free((void *)o.sets.item);
    return status;
}
