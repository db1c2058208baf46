/* stiction converge: runs a scene at h = 2^-A ... 2^-B and compares with h = 2^-C; errors, ratios, observed order. */
#include "drawing.h"
#include "json.h"
#include "load.h"
#include "outputs.h"
#include "progress.h"
#include "tally.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINEST 30 /* h = 2^-30 s: a thousand million steps per second */

typedef struct ConvergeOptions {
    TextList sets, reference_sets;
    const char *halvings, *csv, *plot;
    long reference;
    bool json;
} ConvergeOptions;

static const Option options[] = {
    {"halvings", 0, OPTION_TEXT, "A..B", "the steps to compare, h = 2^-A ... 2^-B (default 5..10)",
     offsetof(ConvergeOptions, halvings)},
    {"reference", 0, OPTION_COUNT, "C", "the step of the reference, h = 2^-C (default B + 4)",
     offsetof(ConvergeOptions, reference)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of the scene; may be repeated",
     offsetof(ConvergeOptions, sets)},
    {"reference-set", 0, OPTION_LIST, "PATH=VALUE",
     "override a value for the reference only:\n--reference-set simulation/integrator=sdirk2",
     offsetof(ConvergeOptions, reference_sets)},
    {"csv", 0, OPTION_TEXT, "FILE.csv", "write the table", offsetof(ConvergeOptions, csv)},
    {"plot", 0, OPTION_TEXT, "FILE", "draw the errors over h on logarithmic axes:\n" DRAWING_HELP,
     offsetof(ConvergeOptions, plot)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document instead of the table", offsetof(ConvergeOptions, json)},
};

static int converge_main(int argc, char *const *argv);

const Command converge_command = {
    .name = "converge",
    .words = "SCENE",
    .min_words = 1,
    .max_words = 1,
    .summary = "measure the error of a scene at several step sizes, and the order",
    .details = "Runs the scene to its end at h = 2^-A ... 2^-B and at the much finer 2^-C, which is the reference. "
               "position_error is the 2-norm of the differences of all coordinates of all bodies, rotations as angles "
               "[m, rad]. velocity_error is the same for velocities [m/s, rad/s]. joint_error is the largest error of "
               "a joint at the end. ratio is the position error of the row above divided by this one; order is log2 "
               "of the ratio, for positions and for velocities. "
               "Exit status: 0 done; 1 a run did not finish or an output could not be written; 2 an error in the "
               "command line, the scene or an output.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = converge_main,
};

/* The final state of a run. */
typedef struct End {
    double *state; /* per body: position, orientation (w x y z), velocity, spin */
    double joint_error, seconds;
    long long steps, problems;
} End;
#define PER_BODY 13

typedef struct Row {
    int halving;
    double h, position, velocity, joint, ratio, order, velocity_order, seconds;
    long long steps, problems;
} Row;

typedef struct Converge {
    ConvergeOptions o;
    Loaded loaded, reference;
    int first, last;
    End exact;
    Row row[FINEST + 1];
    int n_rows;
} Converge;

/* "5..10", or "7" alone. */
static bool read_halvings(const char *text, int *first, int *last)
{
    char *end;
    errno = 0;
    long a = strtol(text, &end, 10), b = a;
    if (end == text) return false;
    if (strncmp(end, "..", 2) == 0) {
        const char *second = end + 2;
        b = strtol(second, &end, 10);
        if (end == second) return false;
    }
    if (errno != 0 || *end != '\0' || a < 0 || b < a || b > FINEST) return false;
    *first = (int)a, *last = (int)b;
    return true;
}

/* All checks, before anything is run. -1: continue. */
static int prepare(Converge *c, const char *word)
{
    ConvergeOptions *o = &c->o;
    st_Error err = {0};
    if (!read_halvings(o->halvings != NULL ? o->halvings : "5..10", &c->first, &c->last))
        return complain(STATUS_INPUT, "converge: --halvings is \"%s\", must be A..B with 0 <= A <= B <= %d",
                        o->halvings, FINEST);
    if (o->reference == 0) o->reference = c->last + 4 < FINEST ? c->last + 4 : FINEST;
    if (o->reference <= c->last || o->reference > FINEST)
        return complain(STATUS_INPUT, "converge: --reference is %ld, must be finer than the last halving, %d to %d",
                        o->reference, c->last + 1, FINEST);
    if (!load(word, &o->sets, &c->loaded, &err)) return refuse_scene(&c->loaded, &err);
    TextList both = {malloc((size_t)(o->sets.count + o->reference_sets.count + 1) * sizeof *both.item), 0};
    if (both.item == NULL) return complain(STATUS_FAILED, "out of memory");
    for (int k = 0; k < o->sets.count; k++)
        both.item[both.count++] = o->sets.item[k];
    for (int k = 0; k < o->reference_sets.count; k++)
        both.item[both.count++] = o->reference_sets.item[k];
    bool ok = load(word, &both, &c->reference, &err);
    free((void *)both.item);
    if (!ok) return complain(STATUS_INPUT, "%s", err.message);
    const int n = st_scene_body_count(c->loaded.scene), m = st_scene_body_count(c->reference.scene);
    if (n != m)
        return complain(STATUS_INPUT, "converge: the reference has %d bodies, the scene %d: they cannot be compared", m,
                        n);
    const char *files[2] = {o->csv, o->plot};
    for (int k = 0; k < 2; k++) {
        if (files[k] != NULL && same_file(files[k], c->loaded.path))
            return complain(STATUS_INPUT, "converge: the output %s is the scene itself", files[k]);
        if (files[k] != NULL && !(k == 0 ? output_possible(files[k]) : drawing_possible(files[k]))) return STATUS_INPUT;
    }
    return -1;
}

static bool read_state(const Loaded *loaded, const st_System *system, End *end)
{
    int n = st_scene_body_count(loaded->scene);
    end->state = malloc((size_t)n * PER_BODY * sizeof *end->state);
    if (end->state == NULL) return false;
    for (int b = 0; b < n; b++) {
        st_Pose p = {0};
        st_Vec3 v = {0}, w = {0};
        st_system_pose(system, (st_BodyId){b + 1}, &p);
        st_system_velocity(system, (st_BodyId){b + 1}, &v, &w);
        double *s = end->state + (ptrdiff_t)b * PER_BODY;
        const double all[PER_BODY] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z, v.x, v.y, v.z, w.x, w.y, w.z};
        memcpy(s, all, sizeof all);
    }
    return true;
}

static bool step_to_end(const Loaded *loaded, st_System *system, double h, End *end, st_Error *err)
{
    double step;
    while ((step = next_step(st_system_time(system), h, loaded->def.end)) > 0) {
        st_StepInfo info = st_step_info();
        if (st_system_step(system, step, &info, err) != ST_OK) return false;
        end->steps++;
        end->problems += info.problems;
        end->joint_error = info.joint_error;
    }
    return read_state(loaded, system, end);
}

/* Runs from start to end at step h, with its own system. */
static bool run(const Loaded *loaded, double h, End *end, st_Error *err)
{
    st_SystemDef def = loaded->def;
    st_System *system = NULL;
    *end = (End){0};
    def.h = h;
    double start = cpu_seconds();
    bool ok = st_system_create(loaded->scene, &def, &system, err) == ST_OK && step_to_end(loaded, system, h, end, err);
    end->seconds = cpu_seconds() - start;
    st_system_destroy(system);
    return ok;
}

/* Square of the angle between two orientations. */
static double angle_squared(const double *a, const double *b)
{
    double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
    double y = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1];
    double z = a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0];
    double angle = 2 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
    return angle * angle;
}

static Row compare(const Converge *c, int halving, const End *end)
{
    double position = 0, velocity = 0;
    for (int b = 0; b < st_scene_body_count(c->loaded.scene); b++) {
        const double *s = end->state + (ptrdiff_t)b * PER_BODY, *e = c->exact.state + (ptrdiff_t)b * PER_BODY;
        for (int k = 0; k < 3; k++)
            position += (s[k] - e[k]) * (s[k] - e[k]);
        position += angle_squared(s + 3, e + 3);
        for (int k = 7; k < PER_BODY; k++)
            velocity += (s[k] - e[k]) * (s[k] - e[k]);
    }
    Row row = {.halving = halving,
               .h = ldexp(1, -halving),
               .position = sqrt(position),
               .velocity = sqrt(velocity),
               .joint = end->joint_error,
               .ratio = NAN,
               .order = NAN,
               .velocity_order = NAN,
               .seconds = end->seconds,
               .steps = end->steps,
               .problems = end->problems};
    if (c->n_rows > 0) {
        row.ratio = c->row[c->n_rows - 1].position / row.position;
        row.order = log2(row.ratio);
        row.velocity_order = log2(c->row[c->n_rows - 1].velocity / row.velocity);
    }
    return row;
}

static void print_heading(const Converge *c, Fold *fold)
{
    const st_SystemDef *def = &c->loaded.def;
    st_SettingValue integrator = {0};
    char text[200];
    st_setting_get(def, "integrator", &integrator, NULL);
    snprintf(text, sizeof text, ", %.40s (%.40s), errors at t = %g s against h = 2^-%ld", def->preset, integrator.word,
             def->end, c->o.reference);
    printf("%s%s%s", tone(stdout, BOLD), c->loaded.name, tone(stdout, PLAIN));
    print_wrapped_at(stdout, text, (int)strlen(c->loaded.name), 2);
    snprintf(text, sizeof text, "  %-6s %12s %8s %7s %12s %7s %12s %10s %10s", "h", "position", "ratio", "order",
             "velocity", "order", "joints", "steps", "CPU");
    fold_titles(fold, stdout, text);
}

/* An order or a ratio; "-" if both errors are rounding or there is no previous row. */
static void order_text(double x, char out[16])
{
    snprintf(out, 16, isfinite(x) ? "%.3f" : "-", x);
}

static void print_row(const Fold *fold, const Row *row)
{
    char text[200], ratio[16], order[16], velocity_order[16], time[32];
    time_text(row->seconds, time, sizeof time);
    order_text(row->ratio, ratio), order_text(row->order, order), order_text(row->velocity_order, velocity_order);
    snprintf(text, sizeof text, "  2^-%-3d %12.5e %8s %7s %12.5e %7s %12.5e %10lld %10s", row->halving, row->position,
             ratio, order, row->velocity, velocity_order, row->joint, row->steps, time);
    fold_row(fold, text);
    fflush(stdout);
}

static void print_document(const Converge *c)
{
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "scene", c->loaded.name);
    put_text(&json, "file", c->loaded.path);
    put_text(&json, "preset", c->loaded.def.preset);
    put_number(&json, "end", c->loaded.def.end);
    put_integer(&json, "reference", c->o.reference);
    put_number(&json, "reference_h", ldexp(1, (int)-c->o.reference));
    put_open_array(&json, "rows");
    for (int k = 0; k < c->n_rows; k++) {
        const Row *row = &c->row[k];
        put_open_flat_object(&json, NULL);
        put_integer(&json, "halving", row->halving);
        put_number(&json, "h", row->h);
        put_number(&json, "position_error", row->position);
        put_number(&json, "velocity_error", row->velocity);
        put_number(&json, "joint_error", row->joint);
        put_number(&json, "ratio", row->ratio);
        put_number(&json, "order", row->order);
        put_number(&json, "velocity_order", row->velocity_order);
        put_integer(&json, "steps", row->steps);
        put_integer(&json, "problems", row->problems);
        put_number(&json, "cpu_seconds", row->seconds);
        put_close_object(&json);
    }
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
}

static int write_csv(const Converge *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) return complain(STATUS_FAILED, "out of memory");
    fprintf(
        file,
        "halving,h,position_error,velocity_error,joint_error,ratio,order,velocity_order,steps,problems,cpu_seconds\n");
    for (int k = 0; k < c->n_rows; k++) {
        const Row *row = &c->row[k];
        fprintf(file, "%d,%.17g,%.17g,%.17g,%.17g,", row->halving, row->h, row->position, row->velocity, row->joint);
        if (!isnan(row->ratio)) fprintf(file, "%.17g,%.17g,%.17g", row->ratio, row->order, row->velocity_order);
        if (isnan(row->ratio)) fputs(",,", file);
        fprintf(file, ",%lld,%lld,%.6g\n", row->steps, row->problems, row->seconds);
    }
    bool failed = ferror(file) != 0;
    st_Error err = {.message = "out of memory"};
    bool ok = fclose(file) == 0 && !failed && st_file_write(c->o.csv, text, size, &err) == ST_OK;
    free(text);
    return ok ? STATUS_OK : complain(STATUS_FAILED, "%s", err.message);
}

static int draw(const Converge *c)
{
    double h[FINEST + 1], position[FINEST + 1], velocity[FINEST + 1], joint[FINEST + 1];
    char title[300];
    st_Error err = {0};
    for (int k = 0; k < c->n_rows; k++) {
        h[k] = c->row[k].h;
        position[k] = c->row[k].position, velocity[k] = c->row[k].velocity, joint[k] = c->row[k].joint;
    }
    const st_PlotCurve curves[] = {{"positions [m, rad]", c->n_rows, h, position, false},
                                   {"velocities [m/s, rad/s]", c->n_rows, h, velocity, false},
                                   {"joints [m, rad]", c->n_rows, h, joint, false}};
    st_SettingValue integrator = {0};
    st_setting_get(&c->loaded.def, "integrator", &integrator, NULL);
    snprintf(title, sizeof title, "%.90s: error at t = %g s\n%.40s (%.20s), against h = 2^-%ld", c->loaded.name,
             c->loaded.def.end, c->loaded.def.preset, integrator.word, c->o.reference);
    int shown = st_scene_joint_count(c->loaded.scene) > 0 ? 3 : 2;
    Drawing drawing;
    const char *svg = drawing_begin(&drawing, c->o.plot);
    const bool drawn = svg != NULL && st_plot_loglog(svg, title, "h [s]", "error", curves, shown, &err) == ST_OK;
    return drawing_end(&drawing, drawn, err.message) ? STATUS_OK : STATUS_FAILED;
}

/* Computes the reference, then row by row. Results are printed even if a later run fails. */
static int measure(Converge *c)
{
    st_Error err = {0};
    int status = STATUS_OK;
    if (!run(&c->reference, ldexp(1, (int)-c->o.reference), &c->exact, &err))
        return complain(STATUS_FAILED, "the reference, h = 2^-%ld: %s", c->o.reference, err.message);
    Fold fold;
    if (!c->o.json) print_heading(c, &fold);
    for (int k = c->first; k <= c->last && status == STATUS_OK; k++) {
        End end;
        if (run(&c->loaded, ldexp(1, -k), &end, &err)) {
            Row row = compare(c, k, &end);
            c->row[c->n_rows++] = row;
            if (!c->o.json) print_row(&fold, &row);
        } else {
            status = complain(STATUS_FAILED, "h = 2^-%d: %s", k, err.message);
        }
        free(end.state);
    }
    if (c->o.json) print_document(c);
    if (c->o.csv != NULL && write_csv(c) != STATUS_OK) status = STATUS_FAILED;
    if (c->o.plot != NULL && draw(c) != STATUS_OK) status = STATUS_FAILED;
    return status;
}

static int converge_main(int argc, char *const *argv)
{
    Converge c = {0};
    const char *words[MAX_WORDS];
    int status = command_read(&converge_command, argc, argv, &c.o, words);
    if (status < 0) status = prepare(&c, words[0]);
    if (status < 0) status = measure(&c);
    free(c.exact.state);
    unload(&c.loaded);
    unload(&c.reference);
    free((void *)c.o.sets.item);
    free((void *)c.o.reference_sets.item);
    return status;
}
