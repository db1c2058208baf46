/* stiction validate: compares results with known answers. The cases are in validate_cases.c. */
#include "validate.h"

#include "gallery.h"
#include "json.h"
#include "progress.h"
#include "terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = 512 };

typedef struct ValidateOptions {
    bool full, quick, json, markdown;
    const char *only;
} ValidateOptions;

static const Option options[] = {
    {"full", 0, OPTION_FLAG, NULL, "also run the long cases: an hour on an incline", offsetof(ValidateOptions, full)},
    {"quick", 0, OPTION_FLAG, NULL, "leave out a silo, an hourglass and a heap of grains, which take longest",
     offsetof(ValidateOptions, quick)},
    {"only", 0, OPTION_TEXT, "WORD", "run only the case with this id (V4), or the cases with this word in their title",
     offsetof(ValidateOptions, only)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of the table", offsetof(ValidateOptions, json)},
    {"markdown", 0, OPTION_FLAG, NULL, "print the page docs/validation.md", offsetof(ValidateOptions, markdown)},
};

static int validate_main(int argc, char *const *argv);

const Command validate_command = {
    .name = "validate",
    .words = "",
    .min_words = 0,
    .max_words = 0,
    .summary = "compare results with known answers",
    .details =
        "Runs cases with answers from closed forms and published tables. Prints the expected value, the computed "
        "value, the error and the tolerance. Cases that are missing are listed with the reason. Exit status: 0 "
        "all cases passed; 1 a case failed; 2 an error in the command line.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = validate_main,
};

typedef struct Result {
    const Case *of;
    char what[100], message[600]; /* message: reason why there is no number; "" */
    double expected, got, tolerance;
    bool passed;
} Result;

struct Check {
    const ValidateOptions *o;
    const Case *now;
    Result *result;
    int n, failed;
};

/* ---- functions for cases ----------------------------------------------------------------------- */

static Result *add_result(Check *check, const char *what)
{
    Result *r = &check->result[check->n < MOST_RESULTS ? check->n++ : MOST_RESULTS - 1];
    *r = (Result){.of = check->now, .expected = NAN, .got = NAN, .tolerance = NAN};
    snprintf(r->what, sizeof r->what, "%s", what);
    return r;
}

void expect(Check *check, const char *what, double expected, double got, double tolerance)
{
    Result *r = add_result(check, what);
    r->expected = expected, r->got = got, r->tolerance = tolerance;
    r->passed = fabs(got - expected) <= tolerance; /* false for NaN */
    if (!r->passed) check->failed++;
}

static void broken(Sim *sim, const char *message)
{
    Result *r = add_result(sim->check, "the run itself");
    snprintf(r->message, sizeof r->message, "%s", message);
    sim->check->failed++;
    sim->ok = false;
}

bool check_full(const Check *check)
{
    return check->o->full;
}

bool check_quick(const Check *check)
{
    return check->o->quick;
}

static void start(Sim *sim, st_Status status, const st_Error *read_err)
{
    st_Error err = *read_err;
    sim->info = st_step_info();
    sim->ok = status == ST_OK;
    if (sim->ok) sim->ok = st_system_create(sim->scene, &sim->def, &sim->system, &err) == ST_OK;
    if (sim->ok) st_system_energy(sim->system, &sim->info.kinetic, &sim->info.potential, NULL);
    if (!sim->ok) broken(sim, err.message);
}

Sim sim_text(Check *check, const char *text)
{
    Sim sim = {.check = check};
    st_Error err = {0};
    start(&sim, st_scene_parse(text, strlen(text), check->now->id, NULL, 0, &sim.scene, &sim.def, &err), &err);
    return sim;
}

Sim sim_open(Check *check, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sim_text(check, text);
}

Sim sim_example(Check *check, const char *name, const char *set)
{
    Sim sim = {.check = check};
    st_Error err = {0};
    Gallery gallery = {0};
    const Example *example = gallery_open(&gallery) == 0 ? gallery_find(&gallery, name) : NULL;
    if (example == NULL)
        broken(&sim, "the example is not there");
    else
        start(&sim, st_scene_read(example->path, &set, set != NULL ? 1 : 0, &sim.scene, &sim.def, &err), &err);
    gallery_close(&gallery);
    return sim;
}

bool sim_step(Sim *sim)
{
    st_Error err = {0};
    if (!sim->ok) return false;
    sim->info = st_step_info();
    if (st_system_step(sim->system, sim->def.h, &sim->info, &err) != ST_OK) broken(sim, err.message);
    if (sim->ok && !sim->info.solve.converged) broken(sim, "a step problem was not solved to its tolerance");
    return sim->ok;
}

bool sim_run(Sim *sim, double until)
{
    while (sim->ok && st_system_time(sim->system) < until - 0.5 * sim->def.h)
        sim_step(sim);
    return sim->ok;
}

void sim_close(Sim *sim)
{
    st_system_destroy(sim->system);
    st_scene_destroy(sim->scene);
    *sim = (Sim){0};
}

st_Pose sim_pose(const Sim *sim, const char *body)
{
    st_Pose pose = {{NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}};
    if (sim->system != NULL) st_system_pose(sim->system, st_scene_find_body(sim->scene, body), &pose);
    return pose;
}

st_Vec3 sim_velocity(const Sim *sim, const char *body)
{
    st_Vec3 v = {NAN, NAN, NAN};
    if (sim->system != NULL) st_system_velocity(sim->system, st_scene_find_body(sim->scene, body), &v, NULL);
    return v;
}

st_Vec3 sim_spin(const Sim *sim, const char *body)
{
    st_Vec3 w = {NAN, NAN, NAN};
    if (sim->system != NULL) st_system_velocity(sim->system, st_scene_find_body(sim->scene, body), NULL, &w);
    return w;
}

double sim_energy(const Sim *sim)
{
    return sim->system != NULL ? sim->info.kinetic + sim->info.potential : NAN;
}

double sim_force(const Sim *sim)
{
    double sum = 0;
    for (int c = 0; sim->system != NULL && c < st_system_contact_count(sim->system); c++) {
        st_ContactReport report;
        if (st_system_contact(sim->system, c, &report) == ST_OK) sum += report.impulse[0] / sim->def.h;
    }
    return sum;
}

/* ---- printing ---------------------------------------------------------------------------------- */

#define WIDE   107 /* columns of the table; on a narrower terminal quantities are on separate lines */
#define NARROW 80  /* columns: numbers of a narrower one are not indented */

/* The quantity, in its column or on its line, and blanks up to the numbers. */
static void print_quantity(const char *what)
{
    const int columns = terminal_columns(stdout) > 0 ? terminal_columns(stdout) : WIDE;
    const bool narrow = columns < WIDE;
    if (narrow && what[0] != '\0') print_wrapped(stdout, what, 4);
    printf("%*s%-*s", columns < NARROW ? 2 : 4, "", !narrow ? 52 : columns < NARROW ? 0 : 18, narrow ? "" : what);
}

static void print_result(const Result *r)
{
    const char *plain = tone(stdout, PLAIN);
    print_quantity(r->what);
    if (r->message[0] != '\0') {
        printf(" %sFAILED%s: %s\n", tone(stdout, RED), plain, r->message);
        return;
    }
    printf(" %14.9g %14.9g %9.2e %9.1e  %s%s%s\n", r->expected, r->got, fabs(r->got - r->expected), r->tolerance,
           tone(stdout, r->passed ? GREEN : RED), r->passed ? "ok" : "FAILED", plain);
}

static void print_title(const Case *of)
{
    char text[600];
    snprintf(text, sizeof text, "%s%s  %s%s (%s)", tone(stdout, BOLD), of->id, of->title, tone(stdout, PLAIN),
             of->source);
    print_wrapped(stdout, text, 2);
}

static void print_table(const Check *check)
{
    const Case *last = NULL;
    for (int k = 0; k < check->n; k++) {
        const Result *r = &check->result[k];
        if (r->of != last) print_title(r->of);
        print_result(r);
        last = r->of;
    }
}

static void print_missing(void)
{
    bool any = false;
    for (const Case *c = validate_cases; c->id != NULL; c++)
        if (c->run == NULL) {
            char text[400];
            if (!any) printf("\nmissing:\n");
            any = true;
            snprintf(text, sizeof text, "%s: %s", c->title, c->reason);
            printf("  %-5s ", c->id);
            print_wrapped_at(stdout, text, 8, 8);
        }
}

/* Examples that show a case, for the page. */
static const struct {
    const char *id, *example;
} pictures[] = {
    {"V13", "painleve-chalk"},   {"V19", "free-box"},    {"V23", "eulers-disk"}, {"V24", "rattleback"},
    {"V27", "andrews"},          {"V28", "bricard"},     {"V29", "governor"},    {"V35", "newtons-cradle"},
    {"V42", "channel-collapse"}, {"S1", "bowling"},      {"S3", "ellipse"},      {"S8", "janssen-silo"},
    {"S9", "sand-castle"},       {"S10", "repose-heap"}, {"S11", "brazil-nut"},  {"S12", "drum"},
};

static void print_markdown(const Check *check)
{
    printf("# Validation\n\n"
           "This page compares stiction with known answers: closed forms, published tables and reference runs. To run "
           "one case\n"
           "yourself:\n\n"
           "```sh\nstiction validate --only V4\n```\n\n"
           "`stiction validate` runs all of them, and `--full` their long versions. `stiction validate --markdown` "
           "wrote this page\n"
           "(`make docs`). A case passes if its error is at most the tolerance. Ids that start with V are those of a "
           "published\n"
           "collection of cases; those that start with S are stiction's own.\n");
    const int n_pictures = (int)(sizeof pictures / sizeof pictures[0]), columns = 4;
    printf("\n|");
    for (int k = 0; k < columns; k++)
        printf(" |");
    printf("\n|");
    for (int k = 0; k < columns; k++)
        printf("---|");
    for (int k = 0; k < n_pictures; k++)
        printf("%s <img src=\"gallery/%s.jpg\" alt=\"%s\" width=\"220\"><br>%s, %s |", k % columns == 0 ? "\n|" : "",
               pictures[k].example, pictures[k].example, pictures[k].id, pictures[k].example);
    printf("\n\n"
           "| id | case | quantity | expected | computed | error | tolerance | passed | source of the answer |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    const Case *last = NULL;
    for (int k = 0; k < check->n; k++) {
        const Result *r = &check->result[k];
        const bool first = r->of != last;
        last = r->of;
        /* Nine digits of an answer, two of an error: digits that differ between machines are not shown. */
        printf("| %s | %s | %s | %.7g | %.7g | %.0e | %.0e | %s | %s |\n", r->of->id, first ? r->of->title : "",
               r->what, r->expected, r->got, fabs(r->got - r->expected), r->tolerance, r->passed ? "yes" : "**no**",
               first ? r->of->source : "");
    }
    bool any = false;
    for (const Case *c = validate_cases; c->id != NULL; c++) {
        if (c->run == NULL && !any) printf("\n## Missing cases\n\n| id | case | why |\n|---|---|---|\n");
        any = any || c->run == NULL;
        if (c->run == NULL) printf("| %s | %s | %s |\n", c->id, c->title, c->reason);
    }
}

static void print_document(const Check *check)
{
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_integer(&json, "results", check->n);
    put_integer(&json, "failed", check->failed);
    put_open_array(&json, "checks");
    for (int k = 0; k < check->n; k++) {
        const Result *r = &check->result[k];
        put_open_flat_object(&json, NULL);
        put_text(&json, "id", r->of->id);
        put_text(&json, "case", r->of->title);
        put_text(&json, "quantity", r->what);
        put_number(&json, "expected", r->expected);
        put_number(&json, "got", r->got);
        put_number(&json, "tolerance", r->tolerance);
        put_boolean(&json, "passed", r->passed);
        put_text(&json, "message", r->message);
        put_text(&json, "source", r->of->source);
        put_close_object(&json);
    }
    put_close_array(&json);
    put_open_array(&json, "missing");
    for (const Case *c = validate_cases; c->id != NULL; c++) {
        if (c->run != NULL) continue;
        put_open_flat_object(&json, NULL);
        put_text(&json, "id", c->id);
        put_text(&json, "case", c->title);
        put_text(&json, "reason", c->reason);
        put_close_object(&json);
    }
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
}

/* ---- the command ------------------------------------------------------------------------------- */

/* `word`: an id, or a part of a title; NULL: every case. */
static bool is_wanted(const Case *c, const char *word)
{
    bool is_id = false;
    for (const Case *other = validate_cases; other->id != NULL && word != NULL; other++)
        is_id = is_id || strcmp(word, other->id) == 0;
    return word == NULL || (is_id ? strcmp(word, c->id) == 0 : word[0] != '\0' && strstr(c->title, word) != NULL);
}

static int run_cases(Check *check)
{
    const ValidateOptions *o = check->o;
    int n_cases = 0;
    double start = wall_seconds();
    for (const Case *c = validate_cases; c->id != NULL; c++) {
        if (c->run == NULL || !is_wanted(c, o->only)) continue;
        check->now = c;
        c->run(check);
        n_cases++;
    }
    if (n_cases == 0) {
        char cases[4000] = "";
        for (const Case *c = validate_cases; c->id != NULL; c++)
            if (c->run != NULL) add_text(cases, sizeof cases, "%s%s %s", cases[0] != '\0' ? "; " : "", c->id, c->title);
        return complain(STATUS_INPUT, "validate: there is no case \"%s\"; cases: %s", o->only, cases);
    }
    if (o->json)
        print_document(check);
    else if (o->markdown)
        print_markdown(check);
    else {
        print_quantity("");
        printf(" %14s %14s %9s %9s\n", "expected", "got", "error", "tolerance");
        print_table(check);
        if (o->only == NULL) print_missing();
        printf("\n%d case%s, %d quantities, %d failed, %.1f s\n", n_cases, plural(n_cases), check->n, check->failed,
               wall_seconds() - start);
    }
    return check->failed > 0 ? STATUS_FAILED : STATUS_OK;
}

static int validate_main(int argc, char *const *argv)
{
    ValidateOptions o = {0};
    const char *words[MAX_WORDS];
    int status = command_read(&validate_command, argc, argv, &o, words);
    if (status >= 0) return status;
    Check check = {.o = &o, .result = calloc(MOST_RESULTS, sizeof *check.result)};
    status = check.result != NULL ? run_cases(&check) : complain(STATUS_FAILED, "out of memory");
    free(check.result);
    return status;
}
