/* stiction compare: one scene under several presets, side by side.
 *
 * Each preset replaces that of the scene; the scene's other settings stay. If a preset cannot run the scene, the
 * reason is printed. Differences are relative to the first preset that ran.
 */
#include "drawing.h"
#include "json.h"
#include "load.h"
#include "outputs.h"
#include "progress.h"
#include "simulate.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 32, SAMPLES = 601 };

typedef struct CompareOptions {
    TextList sets;
    const char *presets, *plot, *body;
    bool json;
} CompareOptions;

static const Option options[] = {
    {"presets", 0, OPTION_TEXT, "A,B,C", "the presets, in this order (default: all)",
     offsetof(CompareOptions, presets)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of the scene; may be repeated",
     offsetof(CompareOptions, sets)},
    {"plot", 0, OPTION_TEXT, "FILE", "draw the trajectories on common axes: " DRAWING_HELP,
     offsetof(CompareOptions, plot)},
    {"body", 0, OPTION_TEXT, "NAME", "the body of the trajectory (default: the first that can move)",
     offsetof(CompareOptions, body)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of the table", offsetof(CompareOptions, json)},
};

static int compare_main(int argc, char *const *argv);

const Command compare_command = {
    .name = "compare",
    .words = "SCENE",
    .min_words = 1,
    .max_words = 1,
    .summary = "run one scene with several presets and compare the results",
    .details =
        "Runs the scene with each preset in place of its own. Other settings of the scene stay. difference is the "
        "largest distance of a body at the end from its position with the first preset that ran. If a preset "
        "cannot run the scene, the table shows the reason. Exit status: 0 at least one run reached the end; 1 "
        "none did, or the plot could not be written; 2 an error in the command line, or in the scene with "
        "every preset.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = compare_main,
};

typedef struct Run {
    char preset[64];
    char refused[600]; /* why it did not start; ""                              */
    Tally tally;
    long long iterations;
    double time, difference;
    st_Vec3 *position;   /* of every body at the end */
    double *t, *path[3]; /* of the drawn body */
    int n_path;
} Run;

typedef struct Compare {
    CompareOptions o;
    char *path, *name;
    Run run[MOST_RUNS];
    int n_runs, n_bodies, body; /* the drawn body, from 0 */
    char **body_name;
} Compare;

/* ---- running ----------------------------------------------------------------------------------- */

static bool load_preset(const Compare *c, const char *word, const char *preset, Loaded *loaded, st_Error *err)
{
    char set[128];
    snprintf(set, sizeof set, "simulation/preset=\"%s\"", preset);
    TextList sets = {malloc((size_t)(c->o.sets.count + 1) * sizeof *sets.item), 0};
    if (sets.item == NULL) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return false;
    }
    sets.item[sets.count++] = set;
    for (int k = 0; k < c->o.sets.count; k++)
        sets.item[sets.count++] = c->o.sets.item[k];
    bool ok = load(word, &sets, loaded, err);
    free((void *)sets.item);
    return ok;
}

/* Stores a point of the trajectory about every 1/600 of the run. */
static void sample(const Compare *c, Run *run, const st_System *system, double time, double end)
{
    st_Pose pose = {0};
    if (run->n_path >= SAMPLES || (run->n_path > 0 && time < end * run->n_path / (SAMPLES - 1) * (1 - 1e-9))) return;
    st_system_pose(system, (st_BodyId){c->body + 1}, &pose);
    run->t[run->n_path] = time;
    run->path[0][run->n_path] = pose.p.x, run->path[1][run->n_path] = pose.p.y, run->path[2][run->n_path] = pose.p.z;
    run->n_path++;
}

static void keep_end(const Compare *c, Run *run, const Loaded *loaded)
{
    run->time = st_system_time(loaded->system);
    for (int b = 0; b < c->n_bodies; b++) {
        st_Pose pose = {0};
        st_system_pose(loaded->system, (st_BodyId){b + 1}, &pose);
        run->position[b] = pose.p;
    }
}

typedef struct Sampled {
    const Compare *compare;
    Run *run;
    const Loaded *loaded;
} Sampled;

static bool after_step(void *ctx, const st_StepInfo *info, st_Error *err)
{
    const Sampled *s = ctx;
    (void)err;
    s->run->iterations += info->solve.iterations;
    sample(s->compare, s->run, s->loaded->system, info->time, s->loaded->def.end);
    return true;
}

static void simulate(const Compare *c, Run *run, const Loaded *loaded)
{
    const double start = cpu_seconds();
    simulate_to_end(loaded, &run->tally, after_step, &(Sampled){c, run, loaded});
    run->tally.cpu = cpu_seconds() - start;
    keep_end(c, run, loaded);
}

/* Names and number of bodies, from the first scene that could be read. */
static bool learn_bodies(Compare *c, const Loaded *loaded)
{
    if (c->body_name != NULL) return true;
    c->n_bodies = st_scene_body_count(loaded->scene);
    c->body_name = calloc((size_t)c->n_bodies + 1, sizeof *c->body_name);
    c->path = strdup(loaded->path), c->name = strdup(loaded->name);
    if (c->body_name == NULL || c->path == NULL || c->name == NULL) return false;
    c->body = -1;
    for (int b = 0; b < c->n_bodies; b++) {
        st_BodyDef def;
        if (st_scene_body(loaded->scene, (st_BodyId){b + 1}, &def) != ST_OK) continue;
        c->body_name[b] = strdup(def.name);
        if (c->body_name[b] == NULL) return false;
        bool wanted = c->o.body != NULL ? strcmp(c->o.body, def.name) == 0 : !def.fixed && def.locks != ST_LOCK_ALL;
        if (c->body < 0 && wanted) c->body = b;
    }
    return true;
}

static bool make_room(const Compare *c, Run *run)
{
    run->position = calloc((size_t)c->n_bodies + 1, sizeof *run->position);
    run->t = calloc(SAMPLES, sizeof *run->t);
    bool ok = run->position != NULL && run->t != NULL;
    for (int k = 0; k < 3; k++) {
        run->path[k] = calloc(SAMPLES, sizeof *run->path[k]);
        ok = ok && run->path[k] != NULL;
    }
    return ok;
}

/* -1: continue. */
static int run_preset(Compare *c, const char *word, Run *run)
{
    Loaded loaded = {0};
    st_Error err = {0};
    if (!load_preset(c, word, run->preset, &loaded, &err)) {
        snprintf(run->refused, sizeof run->refused, "%s", err.message);
        unload(&loaded);
        return -1;
    }
    int status = -1;
    if (c->o.plot != NULL && same_file(c->o.plot, loaded.path))
        status = complain(STATUS_INPUT, "compare: the output %s is the scene itself", c->o.plot);
    else if (!learn_bodies(c, &loaded) || !make_room(c, run))
        status = complain(STATUS_FAILED, "out of memory");
    else if (c->body < 0)
        status = c->o.body != NULL ? complain(STATUS_INPUT, "compare: there is no body \"%s\"", c->o.body)
                                   : complain(STATUS_INPUT, "compare: no body can move");
    else
        simulate(c, run, &loaded);
    unload(&loaded);
    return status;
}

static bool ran(const Run *run)
{
    return run->refused[0] == '\0' && run->tally.outcome == RUN_FINISHED;
}

static double difference(const Compare *c, const Run *a, const Run *b)
{
    double most = 0;
    for (int k = 0; k < c->n_bodies; k++) {
        st_Vec3 p = a->position[k], q = b->position[k];
        most = fmax(most, sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z)));
    }
    return most;
}

/* ---- printing ---------------------------------------------------------------------------------- */

/* The reason without the name of the file, which the user has just typed; with a line number the name stays. */
static const char *reason(const char *message)
{
    const char *end = strstr(message, ".json: ");
    return end != NULL ? end + strlen(".json: ") : message;
}

/* At most 12 characters: fewer digits if a number is only rounding (-4.584e-17). */
static void coordinate_text(double x, char out[32])
{
    snprintf(out, 32, "%.7g", x);
    if (strlen(out) > 12) snprintf(out, 32, "%.4g", x);
}

static void print_note(const char *preset, const char *colour, const char *what, const char *why)
{
    char text[700];
    snprintf(text, sizeof text, "%s: %s", what, why);
    printf("  %-20s %s", preset, tone(stdout, colour));
    print_wrapped_at(stdout, text, 23, 23);
    printf("%s", tone(stdout, PLAIN));
}

static void print_table(const Compare *c, const Run *first)
{
    char text[300], x[3][32], time[32];
    Fold fold;
    snprintf(text, sizeof text,
             ", end states with %d preset%s; positions are those of %.80s, differences are relative to %.40s",
             c->n_runs, plural(c->n_runs), c->body_name != NULL && c->body >= 0 ? c->body_name[c->body] : "none",
             first != NULL ? first->preset : "none");
    printf("%s%s%s", tone(stdout, BOLD), c->name, tone(stdout, PLAIN));
    print_wrapped_at(stdout, text, (int)strlen(c->name), 2);
    snprintf(text, sizeof text, "  %-20s %12s %12s %12s %10s %9s %11s %8s %10s %9s", "preset", "x", "y", "z",
             "difference", "worst_gap", "energy [J]", "steps", "iterations", "CPU");
    fold_titles(&fold, stdout, text);
    for (int k = 0; k < c->n_runs; k++) {
        const Run *run = &c->run[k];
        if (run->refused[0] != '\0') {
            print_note(run->preset, YELLOW, "cannot run it", reason(run->refused));
            continue;
        }
        const st_Vec3 p = run->position[c->body];
        time_text(run->tally.cpu, time, sizeof time);
        coordinate_text(p.x, x[0]), coordinate_text(p.y, x[1]), coordinate_text(p.z, x[2]);
        snprintf(text, sizeof text, "  %-20s %12s %12s %12s %10.3g %9.3g %11.6g %8lld %10lld %9s", run->preset, x[0],
                 x[1], x[2], run->difference, run->tally.worst_gap, run->tally.kinetic + run->tally.potential,
                 run->tally.steps, run->iterations, time);
        fold_row(&fold, text);
        snprintf(text, sizeof text, "ended at t = %g s", run->time);
        if (run->tally.outcome != RUN_FINISHED) print_note("", RED, text, run->tally.message);
        if (run->tally.failures > 0)
            printf("  %-20s %lld step%s not converged\n", "", run->tally.failures, plural(run->tally.failures));
    }
}

static void put_run(Json *json, const Compare *c, const Run *run)
{
    put_open_object(json, NULL);
    put_text(json, "preset", run->preset);
    put_text(json, "status", run->refused[0] != '\0' ? "refused" : outcome_name(run->tally.outcome));
    put_text(json, "message", run->refused[0] != '\0' ? run->refused : run->tally.message);
    if (run->refused[0] == '\0') {
        put_number(json, "time", run->time);
        put_number(json, "difference", run->difference);
        put_number(json, "worst_gap", run->tally.worst_gap);
        put_number(json, "worst_joint_error", run->tally.worst_joint_error);
        put_number(json, "worst_residual", run->tally.worst_residual);
        put_number(json, "energy_start", run->tally.kinetic_start + run->tally.potential_start);
        put_number(json, "energy_end", run->tally.kinetic + run->tally.potential);
        put_integer(json, "steps", run->tally.steps);
        put_integer(json, "iterations", run->iterations);
        put_integer(json, "solver_failures", run->tally.failures);
        put_number(json, "cpu_seconds", run->tally.cpu);
        put_open_object(json, "bodies");
        for (int b = 0; b < c->n_bodies; b++) {
            const double p[3] = {run->position[b].x, run->position[b].y, run->position[b].z};
            put_numbers(json, c->body_name[b], p, 3);
        }
        put_close_object(json);
    }
    put_close_object(json);
}

static void print_document(const Compare *c, const Run *first)
{
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "scene", c->name);
    put_text(&json, "file", c->path);
    put_text(&json, "reference", first != NULL ? first->preset : NULL);
    put_open_array(&json, "runs");
    for (int k = 0; k < c->n_runs; k++)
        put_run(&json, c, &c->run[k]);
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
}

/* A coordinate that no run changes is not drawn. */
static bool moves(const Compare *c, int axis)
{
    for (int k = 0; k < c->n_runs; k++)
        for (int i = 1; i < c->run[k].n_path; i++)
            if (fabs(c->run[k].path[axis][i] - c->run[k].path[axis][0]) > 1e-9) return true;
    return false;
}

static int draw(const Compare *c)
{
    static const char *const labels[3] = {"x [m]", "y [m]", "z [m]"};
    st_PlotCurve curves[3][MOST_RUNS];
    st_PlotPanel panels[3];
    char title[800];
    int n_panels = 0;
    st_Error err = {0};
    for (int axis = 0; axis < 3; axis++) {
        int n = 0;
        if (!moves(c, axis)) continue;
        for (int k = 0; k < c->n_runs; k++)
            if (c->run[k].n_path > 0)
                curves[axis][n++] =
                    (st_PlotCurve){c->run[k].preset, c->run[k].n_path, c->run[k].t, c->run[k].path[axis], false};
        panels[n_panels++] = (st_PlotPanel){labels[axis], n, curves[axis]};
    }
    if (n_panels == 0) panels[n_panels++] = (st_PlotPanel){"nothing moves", 0, curves[0]};
    snprintf(title, sizeof title, "%.90s: %.90s under %d presets", c->name, c->body_name[c->body], c->n_runs);
    const char *separator = "\ncannot run it: ";
    for (int k = 0; k < c->n_runs; k++) {
        if (c->run[k].refused[0] == '\0') continue;
        add_text(title, sizeof title, "%s%s", separator, c->run[k].preset);
        separator = ", ";
    }
    separator = strchr(title, '\n') != NULL ? "; ended early: " : "\nended early: ";
    for (int k = 0; k < c->n_runs; k++) {
        if (c->run[k].refused[0] != '\0' || c->run[k].tally.outcome == RUN_FINISHED) continue;
        add_text(title, sizeof title, "%s%s at %.3g s", separator, c->run[k].preset, c->run[k].time);
        separator = ", ";
    }
    Drawing drawing;
    const char *svg = drawing_begin(&drawing, c->o.plot);
    const bool drawn = svg != NULL && st_plot_lines(svg, title, "t [s]", panels, n_panels, &err) == ST_OK;
    return drawing_end(&drawing, drawn, err.message) ? STATUS_OK : STATUS_FAILED;
}

/* ---- the command ------------------------------------------------------------------------------- */

/* The named presets, or all. -1: continue. */
static int list_presets(Compare *c)
{
    const char *names[MOST_RUNS];
    int n_names = st_preset_count() < MOST_RUNS ? st_preset_count() : MOST_RUNS;
    for (int k = 0; k < n_names; k++)
        names[k] = st_preset_name(k);
    for (int k = 0; c->o.presets == NULL && k < n_names; k++)
        snprintf(c->run[c->n_runs++].preset, sizeof c->run[0].preset, "%s", names[k]);
    for (const char *word = c->o.presets; word != NULL && *word != '\0';) {
        size_t length = strcspn(word, ",");
        Run *run = &c->run[c->n_runs];
        if (c->n_runs == MOST_RUNS) return complain(STATUS_INPUT, "compare: more than %d presets", MOST_RUNS);
        snprintf(run->preset, sizeof run->preset, "%.*s", (int)length, word);
        bool known = false;
        for (int k = 0; k < n_names; k++)
            known = known || strcmp(names[k], run->preset) == 0;
        const char *near = suggest(run->preset, names, n_names);
        if (!known && near != NULL)
            return complain(STATUS_INPUT, "compare: there is no preset \"%s\", did you mean %s?", run->preset, near);
        if (!known)
            return complain(STATUS_INPUT, "compare: there is no preset \"%s\"; stiction settings lists them",
                            run->preset);
        c->n_runs++;
        word += length + (word[length] == ',' ? 1 : 0);
    }
    if (c->n_runs == 0) return complain(STATUS_INPUT, "compare: --presets is empty");
    if (c->o.plot != NULL && !drawing_possible(c->o.plot)) return STATUS_INPUT;
    return -1;
}

static int compare_all(Compare *c, const char *word)
{
    int status = -1;
    const Run *first = NULL;
    for (int k = 0; k < c->n_runs && status < 0; k++)
        status = run_preset(c, word, &c->run[k]);
    if (status >= 0) return status;
    if (c->body_name == NULL) return complain(STATUS_INPUT, "%s", c->run[0].refused);
    for (int k = 0; k < c->n_runs; k++) {
        if (!ran(&c->run[k])) continue;
        if (first == NULL) first = &c->run[k];
        c->run[k].difference = difference(c, &c->run[k], first);
    }
    if (c->o.json)
        print_document(c, first);
    else
        print_table(c, first);
    if (c->o.plot != NULL && draw(c) != STATUS_OK) return STATUS_FAILED;
    return first != NULL ? STATUS_OK : STATUS_FAILED;
}

static int compare_main(int argc, char *const *argv)
{
    Compare *c = calloc(1, sizeof *c);
    const char *words[MAX_WORDS];
    if (c == NULL) return complain(STATUS_FAILED, "out of memory");
    int status = command_read(&compare_command, argc, argv, &c->o, words);
    if (status < 0) status = list_presets(c);
    if (status < 0) status = compare_all(c, words[0]);
    for (int k = 0; k < c->n_runs; k++) {
        tally_free(&c->run[k].tally);
        free(c->run[k].position), free(c->run[k].t);
        for (int i = 0; i < 3; i++)
            free(c->run[k].path[i]);
    }
    for (int b = 0; c->body_name != NULL && b < c->n_bodies; b++)
        free(c->body_name[b]);
    free(c->body_name), free(c->path), free(c->name), free((void *)c->o.sets.item);
    free(c);
    return status;
}
