/* bench/peers/main.c -- runs one scene with one engine and prints time and accuracy as one row.
 *
 *     run-ENGINE SCENE [key=value ...] [--tuned] [--csv] [--repeat N] [--limit SECONDS] [--unchecked]
 *     run-ENGINE --list | --header
 *
 * An engine runs with its default settings; with --tuned, with the settings that its users would choose for the
 * scene. h=... and end=... override those of the scene; every other key belongs to the engine. Each repeat is a
 * separate process, so that a crash or an endless loop costs one row, and memory is that of the engine. The first
 * repeat evaluates the state after every step (this time is not counted), the others only step. Times are the least
 * of all repeats, and the spread is the excess of the largest. The slowest step is the largest of the steps' times,
 * each the least of its repeats: delays that repeat are those of the engine, others those of the machine. Time is
 * processor time of the process, all threads together. --unchecked: the first one only steps, too, so that a profile
 * shows the engine alone.
 */
#include "check.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 10 }; /* factor of wall time over CPU time on a busy machine */

/* The result that a child process sends to its parent. */
typedef struct Run {
    bool finished;
    double total, last;  /* processor time: of all steps, of one step at the end [s] */
    double first, worst; /* of the first step, of the slowest */
    double memory;       /* [MB], largest that was resident */
    int steps, contacts;
    Accuracy accuracy; /* of the first run only */
    char settings[400], message[200], stages[200];
    double *times; /* of every step; sent last */
} Run;

typedef struct Options {
    const char *scene;
    Settings settings;
    double h, end, limit;
    int repeats;
    bool csv, unchecked;
} Options;

/* ---- settings --------------------------------------------------------------------------------- */

void setting_choose(Settings *settings, const Scene *scene, const Choice *choices)
{
    while (strncmp(scene->name, choices->scene, strlen(choices->scene)) != 0)
        choices++;
    settings->choice = settings->tuned ? choices->settings : "";
}

/* Finds "key=" in a list of words, and its value up to a blank. */
static bool find_in(const char *words, const char *key, char value[SETTING_SIZE])
{
    size_t length = strlen(key);
    for (const char *at = words; at != NULL && *at != '\0'; at = strchr(at, ' '), at = at != NULL ? at + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            snprintf(value, SETTING_SIZE, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
            return true;
        }
    return false;
}

static void state_setting(Settings *settings, const char *key, const char *value)
{
    size_t used = strlen(settings->stated);
    snprintf(settings->stated + used, sizeof settings->stated - used, "%s%s=%s", used > 0 ? " " : "", key, value);
}

/* The last word of the command line counts. A setting is listed once. */
bool setting_word(Settings *settings, const char *key, const char *usual, char value[SETTING_SIZE])
{
    char stated[SETTING_SIZE];
    bool found = find_in(settings->choice, key, value);
    for (int k = 0; k < settings->n; k++)
        if (find_in(settings->words[k], key, value)) {
            settings->used |= 1u << k;
            found = true;
        }
    if (!found && usual == NULL) return false;
    if (!found) snprintf(value, SETTING_SIZE, "%s", usual);
    if (!find_in(settings->stated, key, stated)) state_setting(settings, key, value);
    return true;
}

double setting_number(Settings *settings, const char *key, double usual)
{
    char text[SETTING_SIZE], value[SETTING_SIZE];
    snprintf(text, sizeof text, "%g", usual);
    setting_word(settings, key, text, value);
    return strtod(value, NULL);
}

/* ---- one run ---------------------------------------------------------------------------------- */

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The cost of reading the clock twice, subtracted from every step. */
static double clock_cost(void)
{
    double least = 1;
    for (int k = 0; k < 200; k++) {
        double begin = processor_time();
        least = fmin(least, processor_time() - begin);
    }
    return least;
}

static void check(Checker *checker, void *world, const Scene *scene, BodyState *states, int step, int steps)
{
    for (int i = 0; i < scene->n_bodies; i++)
        engine.state(world, i, &states[i]);
    checker_step(checker, (step + 1) * scene->h, states, step + 1 == steps);
}

/* All steps; the last tenth of them, at most 50, are "the end". */
static bool run_steps(void *world, const Scene *scene, double limit, bool checked, Run *run)
{
    Checker *checker = checked ? checker_create(scene) : NULL;
    BodyState *states = calloc((size_t)scene->n_bodies, sizeof *states);
    int steps = run->steps, tail = steps / 10 < 1 ? 1 : (steps / 10 > 50 ? 50 : steps / 10);
    double cost = clock_cost();
    bool good = states != NULL && (run->times = calloc((size_t)steps, sizeof *run->times)) != NULL;
    for (int k = 0; k < steps && good; k++) {
        double begin = processor_time();
        good = engine.step(world, run->message);
        double took = fmax(processor_time() - begin - cost, 0);
        run->total += took;
        run->times[k] = took;
        if (k >= steps - tail) run->last += took / tail;
        if (checked && good) check(checker, world, scene, states, k, steps);
        if (good && run->total > limit && k + 1 < steps) {
            snprintf(run->message, sizeof run->message, "stopped after %d of %d steps: %g s are over", k + 1, steps,
                     limit);
            run->steps = k + 1;
            good = false;
        }
    }
    if (checked) run->accuracy = checker_result(checker);
    run->contacts = engine.contacts(world);
    if (engine.stages != NULL) engine.stages(world, run->stages);
    checker_destroy(checker);
    free(states);
    return good;
}

static void run_once(const Options *options, bool checked, Run *run)
{
    Scene *scene = scene_create(options->scene);
    Settings settings = options->settings;
    void *world = NULL;
    if (scene == NULL) return;
    if (options->h > 0) scene->h = options->h;
    if (options->end > 0) {
        scene->settled *= options->end / scene->end;
        scene->end = options->end;
    }
    run->steps = (int)lround(scene->end / scene->h);
    world = engine.create(scene, &settings, run->message);
    snprintf(run->settings, sizeof run->settings, "%s", settings.stated);
    for (int k = 0; k < settings.n && world != NULL; k++)
        if ((settings.used >> k & 1) == 0) {
            snprintf(run->message, sizeof run->message, "%s does not know the setting %.100s", engine.name,
                     settings.words[k]);
            engine.destroy(world);
            world = NULL;
        }
    run->finished = world != NULL && run_steps(world, scene, options->limit, checked, run);
    engine.destroy(world);
    scene_destroy(scene);
}

/* ---- processes -------------------------------------------------------------------------------- */

/* A child that fails reports the reason; for one that was ended, its exit is described. */
static void describe_end(int status, Run *run)
{
    run->finished = false;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(run->message, sizeof run->message, "a step hangs");
    else if (WIFSIGNALED(status))
        snprintf(run->message, sizeof run->message, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(run->message, sizeof run->message, "ended with status %d", WEXITSTATUS(status));
}

static bool write_all(int file, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(file, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static size_t read_all(int file, void *data, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(file, (char *)data + got, size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

static void run_child(const Options *options, bool checked, Run *run)
{
    int ends[2], status = 0;
    struct rusage usage;
    *run = (Run){.finished = false};
    fflush(NULL);
    if (pipe(ends) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        /* A step that hangs. Not RLIMIT_CPU: with it Linux reads the clock by ticks of 4 ms. */
        alarm((unsigned)ceil(60 + PATIENCE * options->limit));
        dup2(STDERR_FILENO, STDOUT_FILENO); /* output of an engine must not be part of the row */
        run_once(options, checked, run);
        const size_t bytes = run->times != NULL ? (size_t)run->steps * sizeof *run->times : 0;
        _exit(write_all(ends[1], run, sizeof *run) && write_all(ends[1], run->times, bytes) ? 0 : 1);
    }
    close(ends[1]);
    size_t got = read_all(ends[0], run, sizeof *run);
    const size_t bytes = got == sizeof *run && run->times != NULL ? (size_t)run->steps * sizeof *run->times : 0;
    run->times = bytes > 0 ? malloc(bytes) : NULL;
    if (run->times != NULL && read_all(ends[0], run->times, bytes) != bytes) got = 0;
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) return;
    if (got != sizeof *run) {
        free(run->times);
        *run = (Run){.finished = false};
        describe_end(status, run);
    }
    run->memory = (double)usage.ru_maxrss / 1024; /* Linux counts in kilobytes */
}

/* One line without quotes, for a table. */
static void clean(char *text)
{
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\n' || *at == '"' || *at == ',' || *at == '|') *at = ' ';
}

/* The first run with the least times of all; spread: the largest total over the least, less 1. */
static Run run_all(const Options *options, double *spread)
{
    Run best, next;
    double most;
    run_child(options, !options->unchecked, &best);
    most = best.total;
    for (int k = 1; k < options->repeats && best.finished; k++) {
        run_child(options, false, &next);
        if (!next.finished) continue;
        most = fmax(most, next.total);
        best.total = fmin(best.total, next.total);
        best.last = fmin(best.last, next.last);
        best.memory = fmin(best.memory, next.memory);
        for (int i = 0; i < best.steps && next.times != NULL; i++)
            best.times[i] = fmin(best.times[i], next.times[i]);
        free(next.times);
    }
    if (best.times != NULL) best.first = best.times[0];
    for (int i = 0; i < best.steps && best.times != NULL; i++)
        best.worst = fmax(best.worst, best.times[i]);
    free(best.times);
    clean(best.message);
    *spread = best.total > 0 ? most / best.total - 1 : 0;
    return best;
}

/* ---- output ----------------------------------------------------------------------------------- */

static const char header[] = "scene,engine,version,tuned,settings,finished,steps,total_s,mean_ms,end_ms,first_ms,"
                             "worst_ms,spread,penetration_settled,penetration_impact,penetration_mean,drift_m,"
                             "joint_error,energy,kinetic,gain,figure,contacts,touching,memory_mb,stages,message";

static void print_csv(const Options *options, const Run *run, double spread)
{
    const Accuracy *a = &run->accuracy;
    printf("%s,%s,%s,%d,\"%s\",%d,%d,%.4g,%.4g,%.4g,%.4g,%.4g,%.2f,%.3g,%.3g,%.3g,%.3g,%.3g,%.3g,%.3g,%.3g,%.6g,%d,%d,%"
           ".1f,"
           "\"%s\",\"%s\"\n",
           options->scene, engine.name, engine.version(), options->settings.tuned, run->settings, run->finished,
           run->steps, run->total, 1e3 * run->total / run->steps, 1e3 * run->last, 1e3 * run->first, 1e3 * run->worst,
           spread, a->settled, a->impact, a->mean, a->drift, a->joint_error, a->energy, a->kinetic, a->gain, a->figure,
           run->contacts, a->touching, run->memory, run->stages, run->message);
}

static void print_text(const Options *options, const Run *run, double spread)
{
    const Accuracy *a = &run->accuracy;
    printf("%s with %s %s: %s\n", options->scene, engine.name, engine.version(), run->settings);
    if (!run->finished) printf("  NOT FINISHED: %s\n", run->message);
    printf("  time         %.4g s for %d steps: %.4g ms each, %.4g at the end, %.4g the first, %.4g the "
           "slowest; spread %.0f %%\n",
           run->total, run->steps, 1e3 * run->total / run->steps, 1e3 * run->last, 1e3 * run->first, 1e3 * run->worst,
           100 * spread);
    printf("  penetration  %.3g %% settled, %.3g %% at worst, mean %.3g %% of %d pairs; %d contacts\n",
           100 * a->settled, 100 * a->impact, 100 * a->mean, a->touching, run->contacts);
    printf("  drift        %.3g m; joints %.3g; energy %.3g; figure %.6g\n", a->drift, a->joint_error, a->energy,
           a->figure);
    printf("  in M g d     %.3g kinetic energy in the last second, %.3g gained in all\n", a->kinetic, a->gain);
    printf("  memory       %.1f MB\n", run->memory);
    if (run->stages[0] != '\0') printf("  stages       %s\n", run->stages);
}

static void list(void)
{
    const SceneKind *kind;
    for (int k = 0; (kind = scene_kind(k)) != NULL; k++)
        printf("%-10s -%-8s %s (%s-%g)\n", kind->name, kind->number, kind->help, kind->name, kind->usual);
}

/* False: there is nothing to do. Words with = are settings and are moved to the front of argv. */
static bool read_options(int argc, char **argv, Options *options)
{
    *options = (Options){.limit = 600, .repeats = 1};
    options->settings.words = argv;
    for (int k = 1; k < argc; k++) {
        bool more = k + 1 < argc;
        if (strcmp(argv[k], "--list") == 0) return list(), false;
        if (strcmp(argv[k], "--header") == 0) return puts(header), false;
        if (strcmp(argv[k], "--csv") == 0)
            options->csv = true;
        else if (strcmp(argv[k], "--tuned") == 0)
            options->settings.tuned = true;
        else if (strcmp(argv[k], "--unchecked") == 0)
            options->unchecked = true;
        else if (strcmp(argv[k], "--repeat") == 0 && more)
            options->repeats = atoi(argv[++k]);
        else if (strcmp(argv[k], "--limit") == 0 && more)
            options->limit = atof(argv[++k]);
        else if (strncmp(argv[k], "h=", 2) == 0)
            options->h = atof(argv[k] + 2);
        else if (strncmp(argv[k], "end=", 4) == 0)
            options->end = atof(argv[k] + 4);
        else if (strchr(argv[k], '=') != NULL && options->settings.n < 32)
            argv[options->settings.n++] = argv[k];
        else if (options->scene == NULL)
            options->scene = argv[k];
    }
    if (options->scene == NULL) {
        fprintf(stderr,
                "run-%s SCENE [key=value ...] [--tuned] [--csv] [--repeat N] [--limit SECONDS] [--unchecked]\n"
                "    | --list | --header\n",
                engine.name);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    Options options;
    double spread = 0;
    if (!read_options(argc, argv, &options)) return options.scene == NULL && argc < 2;
    Scene *scene = scene_create(options.scene);
    if (scene == NULL) return 1;
    scene_destroy(scene);
    Run run = run_all(&options, &spread);
    (options.csv ? print_csv : print_text)(&options, &run, spread);
    return run.finished ? 0 : 2;
}
