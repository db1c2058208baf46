/* stiction extract: writes the step problem of a scene at a time as a problem file for `stiction solve`. */
#include "load.h"
#include "outputs.h"
#include "tally.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ExtractOptions {
    TextList sets;
    const char *at, *output;
    bool local;
} ExtractOptions;

static const Option options[] = {
    {"at", 0, OPTION_TEXT, "T", "the time [s]: the step that starts at T or contains it (default 0)",
     offsetof(ExtractOptions, at)},
    {"output", 'o', OPTION_TEXT, "FILE.hdf5", "the file to write", offsetof(ExtractOptions, output)},
    {"local", 0, OPTION_FLAG, NULL, "write the local form, W and q, even if the global one is possible",
     offsetof(ExtractOptions, local)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of the scene; may be repeated",
     offsetof(ExtractOptions, sets)},
};

static int extract_main(int argc, char *const *argv);

const Command extract_command = {
    .name = "extract",
    .words = "SCENE",
    .min_words = 1,
    .max_words = 1,
    .summary = "write the step problem of a scene at a given time to a file",
    .details =
        "The scene is run up to the given time. The file is HDF5 in the FCLIB layout (docs/problems.md), for stiction "
        "solve. It has the global form, with rigid joints as equality rows. The global form cannot express "
        "springs, dampers and compliance: with these the file has the local form, and W and q include them. "
        "/solution has the impulses of the step. Exit status: 0 the file was written; 1 the run failed or there "
        "is no contact at that time; 2 an error in the command line, the scene or the file.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = extract_main,
};

/* Steps until the step that contains `at` has been taken; *start is the beginning of that step. */
static bool run_to(const Loaded *loaded, double at, double *start, st_Error *err)
{
    const double h = loaded->def.h, end = loaded->def.end;
    do {
        *start = st_system_time(loaded->system);
        const double step = next_step(*start, h, end);
        if (step == 0) {
            snprintf(err->message, sizeof err->message, "%s: no step begins at or after %g s, the end is %g s",
                     loaded->path, at, end);
            return false;
        }
        if (st_system_step(loaded->system, step, NULL, err) != ST_OK) return false;
    } while (st_system_time(loaded->system) <= at + 1e-9 * h);
    return true;
}

/* Copies the solution's impulses to the rows of the file. */
static void copy_impulses(const st_Problem *step, const double *from, int dim, double *r)
{
    for (int c = 0; c < step->n_contacts; c++)
        for (int k = 0; k < step->contact[c].dim && k < dim; k++)
            r[c * dim + k] = from[step->contact[c].first + k];
}

static int write_problem(const Loaded *loaded, const ExtractOptions *o, double start)
{
    st_Error err = {0};
    st_FrictionCopy *copy = NULL;
    st_Friction *friction = NULL;
    st_FrictionError quality = {0};
    char title[160], description[200];
    double *r = NULL;
    int status = STATUS_FAILED;
    const double *found = NULL;
    const st_Problem *step = st_system_problem(loaded->system, &found);
    if (step == NULL) return complain(STATUS_FAILED, "%s: out of memory for the step problem", loaded->path);
    if (step->n_contacts == 0)
        return complain(STATUS_FAILED, "%s: no contact in the step from %g s to %g s", loaded->path, start,
                        st_system_time(loaded->system));
    bool ok = st_friction_from_step(step, o->local, &copy, &err) == ST_OK;
    const st_FrictionProblem *p = st_friction_copy_problem(copy);
    if (ok) {
        const size_t n_r = (size_t)p->dim * (size_t)p->n_contacts, n_v = (size_t)p->n_v;
        r = calloc(2 * n_r + n_v + 1, sizeof *r);
        ok = r != NULL && st_friction_create(p, &friction, &err) == ST_OK;
        if (ok) copy_impulses(step, found, p->dim, r);
        ok = ok && st_friction_error(friction, r, r + n_r, r + 2 * n_r, &quality, &err) == ST_OK;
        snprintf(title, sizeof title, "%.100s, step at %g s", loaded->name, start);
        snprintf(description, sizeof description, "step problem of %.80s from %g s to %g s, law %s", loaded->name,
                 start, st_system_time(loaded->system), st_law_name(loaded->def.law));
        const st_ProblemFile file = {.friction = *p,
                                     .title = title,
                                     .description = description,
                                     .r = r,
                                     .u = r != NULL ? r + n_r : NULL,
                                     .v = r != NULL && n_v > 0 ? r + 2 * n_r : NULL};
        ok = ok && st_problem_file_write(o->output, &file, &err) == ST_OK;
    }
    if (ok) {
        char text[4400];
        snprintf(text, sizeof text,
                 "%.4000s: %s form, %d contact%s, dim %d; step %g s to %g s; error of its impulses %.2g", o->output,
                 p->form == ST_FORM_GLOBAL ? "global" : "local", p->n_contacts, plural(p->n_contacts), p->dim, start,
                 st_system_time(loaded->system), quality.error);
        print_lines(stdout, text, 0, 2);
        status = STATUS_OK;
    } else {
        complain(STATUS_FAILED, "%s", err.message[0] != '\0' ? err.message : "out of memory");
    }
    st_friction_destroy(friction);
    st_friction_copy_destroy(copy);
    free(r);
    return status;
}

static int extract_main(int argc, char *const *argv)
{
    ExtractOptions o = {0};
    const char *words[MAX_WORDS];
    Loaded loaded = {0};
    st_Error err = {0};
    char *rest = NULL;
    double at = 0, start = 0;
    int status = command_read(&extract_command, argc, argv, &o, words);
    if (status < 0 && o.at != NULL) {
        at = strtod(o.at, &rest);
        if (rest == o.at || *rest != '\0' || !isfinite(at) || at < 0)
            status = complain(STATUS_INPUT, "extract: --at is \"%s\", must be a number >= 0", o.at);
    }
    if (status < 0 && o.output == NULL) status = complain(STATUS_INPUT, "extract: -o FILE.hdf5 is missing");
    if (status < 0 && !load(words[0], &o.sets, &loaded, &err)) status = refuse_scene(&loaded, &err);
    if (status < 0 && same_file(o.output, loaded.path))
        status = complain(STATUS_INPUT, "extract: the output %s is the scene itself", o.output);
    if (status < 0 && !problem_output(o.output)) status = STATUS_INPUT;
    if (status < 0 && !run_to(&loaded, at, &start, &err)) status = complain(STATUS_FAILED, "%s", err.message);
    if (status < 0) status = write_problem(&loaded, &o, start);
    unload(&loaded);
    free((void *)o.sets.item);
    return status;
}
