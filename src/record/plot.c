/* record/plot.c -- curves of a recording as SVG, for papers.
 *
 * A curve is "kinetic", "residual" ... of the steps, or "BODY.x" of the frames. Curves of one unit share a chart;
 * charts stand below one another.
 */
#include "record/svg.h"

#include <jansson.h>
#include <stdlib.h>
#include <stiction/io.h>

#define MOST_CURVES 16
#define BATCH       4096

typedef struct Curve {
    const char *name, *unit;
    int field; /* of the steps, or of a body */
    int body;  /* 1-based; 0: of the steps   */
    double *value;
} Curve;

static const struct {
    const char *name, *unit;
} step_field[] = {{"kinetic", "J"},     {"potential", "J"}, {"total", "J"},   {"residual", ""},   {"penetration", "m"},
                  {"joint_error", "m"}, {"iterations", ""}, {"contacts", ""}, {"collisions", ""}, {"h", "s"}};
static const struct {
    const char *name, *unit;
} body_field[] = {{"x", "m"},      {"y", "m"},      {"z", "m"},      {"qw", ""},      {"qx", ""},
                  {"qy", ""},      {"qz", ""},      {"vx", "m/s"},   {"vy", "m/s"},   {"vz", "m/s"},
                  {"wx", "rad/s"}, {"wy", "rad/s"}, {"wz", "rad/s"}, {"speed", "m/s"}};
#define N_STEP_FIELDS (int)(sizeof step_field / sizeof step_field[0])
#define N_BODY_FIELDS (int)(sizeof body_field / sizeof body_field[0])

typedef struct Plot {
    st_Recording *recording;
    const st_RecordingInfo *info;
    st_Allocator allocator;
    Curve curve[MOST_CURVES];
    int n;
    double *step_time, *frame_time;
    st_Vec3 *position, *velocity, *spin;
    st_Quat *orientation;
    const Curve *chart[MOST_CURVES]; /* of the chart being drawn */
} Plot;

static int find_body(const st_RecordingInfo *info, const char *name, size_t length)
{
    int found = 0;
    json_t *model = json_loads(info->model, 0, NULL), *bodies = json_object_get(model, "bodies");
    for (size_t k = 0; found == 0 && k < json_array_size(bodies); k++) {
        const char *text = json_string_value(json_object_get(json_array_get(bodies, k), "name"));
        if (text != NULL && strlen(text) == length && strncmp(text, name, length) == 0) found = (int)k + 1;
    }
    json_decref(model);
    return found;
}

static st_Status find_curve(const Plot *plot, const char *name, Curve *curve, st_Error *err)
{
    const char *dot = strrchr(name, '.');
    *curve = (Curve){.name = name, .field = -1};
    for (int k = 0; k < N_STEP_FIELDS; k++)
        if (strcmp(name, step_field[k].name) == 0) curve->field = k, curve->unit = step_field[k].unit;
    if (curve->field >= 0) return ST_OK;
    if (dot == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "there is no curve \"%s\"; of steps: kinetic potential total residual penetration joint_error "
                        "iterations contacts collisions h; of bodies: NAME.x y z qw qx qy qz vx vy vz wx wy wz speed",
                        name);
    curve->body = find_body(plot->info, name, (size_t)(dot - name));
    if (curve->body == 0) return sti_fail(err, ST_ERR_ARGUMENT, "there is no body \"%.*s\"", (int)(dot - name), name);
    for (int k = 0; k < N_BODY_FIELDS; k++)
        if (strcmp(dot + 1, body_field[k].name) == 0) curve->field = k, curve->unit = body_field[k].unit;
    if (curve->field < 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "a body has no \"%s\", but x y z qw qx qy qz vx vy vz wx wy wz speed",
                        dot + 1);
    return ST_OK;
}

static double step_value(const st_RecordedStep *s, int field)
{
    const double value[] = {s->kinetic,    s->potential,   s->kinetic + s->potential,
                            s->residual,   s->penetration, s->joint_error,
                            s->iterations, s->contacts,    s->collisions,
                            s->h};
    return value[field];
}

static double body_value(const Plot *plot, int body, int field)
{
    st_Vec3 p = plot->position[body - 1], v = plot->velocity[body - 1], w = plot->spin[body - 1];
    st_Quat q = plot->orientation[body - 1];
    const double value[] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z,
                            v.x, v.y, v.z, w.x, w.y, w.z, sqrt(v.x * v.x + v.y * v.y + v.z * v.z)};
    return value[field];
}

static st_Status read_steps(Plot *plot, st_Error *err)
{
    st_RecordedStep *batch = sti_alloc(&plot->allocator, BATCH, sizeof *batch);
    st_Status status = batch != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
    for (int64_t first = 0; first < plot->info->n_steps && status == ST_OK; first += BATCH) {
        int64_t count = plot->info->n_steps - first < BATCH ? plot->info->n_steps - first : BATCH;
        status = st_recording_steps(plot->recording, first, count, batch, err);
        for (int64_t k = 0; k < count && status == ST_OK; k++) {
            plot->step_time[first + k] = batch[k].time;
            for (int c = 0; c < plot->n; c++)
                if (plot->curve[c].body == 0)
                    plot->curve[c].value[first + k] = step_value(&batch[k], plot->curve[c].field);
        }
    }
    sti_free(&plot->allocator, batch, BATCH, sizeof *batch);
    return status;
}

static st_Status read_frames(Plot *plot, st_Error *err)
{
    bool wanted = false;
    for (int c = 0; c < plot->n; c++)
        wanted = wanted || plot->curve[c].body > 0;
    for (int64_t k = 0; wanted && k < plot->info->n_frames; k++) {
        st_RecordedFrame frame;
        STI_TRY(st_recording_frames(plot->recording, k, 1, &frame, err));
        STI_TRY(st_recording_bodies(plot->recording, k, plot->position, plot->orientation, plot->velocity, plot->spin,
                                    err));
        plot->frame_time[k] = frame.time;
        for (int c = 0; c < plot->n; c++)
            if (plot->curve[c].body > 0)
                plot->curve[c].value[k] = body_value(plot, plot->curve[c].body, plot->curve[c].field);
    }
    return ST_OK;
}

static double chart_time(const void *ctx, int sample)
{
    const Plot *plot = ctx;
    return plot->chart[0]->body > 0 ? plot->frame_time[sample] : plot->step_time[sample];
}

static double chart_value(const void *ctx, int curve, int sample)
{
    return ((const Plot *)ctx)->chart[curve]->value[sample];
}

/* Same unit and same times: one chart. */
static bool together(const Curve *a, const Curve *b)
{
    return strcmp(a->unit, b->unit) == 0 && (a->body > 0) == (b->body > 0) &&
           (a->unit[0] != '\0' || strcmp(a->name, b->name) == 0);
}

static int count_charts(const Plot *plot)
{
    int n = 0;
    for (int c = 0; c < plot->n; c++) {
        bool first = true;
        for (int k = 0; k < c; k++)
            first = first && !together(&plot->curve[k], &plot->curve[c]);
        n += first;
    }
    return n;
}

static void draw_chart(Plot *plot, FILE *file, int first, int row)
{
    const char *names[MOST_CURVES], *colours[MOST_CURVES];
    char title[64];
    const Curve *head = &plot->curve[first];
    int n = 0;
    for (int c = first; c < plot->n; c++) {
        if (!together(head, &plot->curve[c])) continue;
        names[n] = plot->curve[c].name;
        colours[n] = sti_colour(n);
        plot->chart[n++] = &plot->curve[c];
    }
    int64_t samples = head->body > 0 ? plot->info->n_frames : plot->info->n_steps;
    snprintf(title, sizeof title, head->unit[0] != '\0' ? "[%s]" : "%.0s", head->unit);
    sti_Curves curves = {.title = title,
                         .n = n,
                         .name = names,
                         .colour = colours,
                         .dashed = -1,
                         .samples = samples < INT32_MAX ? (int)samples : INT32_MAX,
                         .ctx = plot,
                         .time = chart_time,
                         .value = chart_value};
    sti_svg_chart(file, (sti_Rect){64, 34 + 260.0 * row, 640, 190}, &curves);
}

static st_Status draw(Plot *plot, const char *path, st_Error *err)
{
    FILE *file = NULL;
    int charts = count_charts(plot), row = 0;
    STI_TRY(sti_file_open(path, &file, err));
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"730\" height=\"%d\" viewBox=\"0 0 730 %d\" "
            "font-family=\"system-ui, sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            260 * charts + 6, 260 * charts + 6);
    for (int c = 0; c < plot->n; c++) {
        bool first = true;
        for (int k = 0; k < c; k++)
            first = first && !together(&plot->curve[k], &plot->curve[c]);
        if (first) draw_chart(plot, file, c, row++);
    }
    fputs("</svg>\n", file);
    return sti_file_close(file, path, err);
}

static st_Status allocate(Plot *plot, st_Error *err)
{
    int64_t n = plot->info->n_bodies + 1, steps = plot->info->n_steps + 1, frames = plot->info->n_frames + 1;
    plot->position = sti_alloc(&plot->allocator, n, sizeof *plot->position);
    plot->velocity = sti_alloc(&plot->allocator, n, sizeof *plot->velocity);
    plot->spin = sti_alloc(&plot->allocator, n, sizeof *plot->spin);
    plot->orientation = sti_alloc(&plot->allocator, n, sizeof *plot->orientation);
    plot->step_time = sti_alloc(&plot->allocator, steps, sizeof(double));
    plot->frame_time = sti_alloc(&plot->allocator, frames, sizeof(double));
    bool ok = plot->position != NULL && plot->velocity != NULL && plot->spin != NULL && plot->orientation != NULL &&
              plot->step_time != NULL && plot->frame_time != NULL;
    for (int c = 0; c < plot->n; c++) {
        plot->curve[c].value = sti_alloc(&plot->allocator, plot->curve[c].body > 0 ? frames : steps, sizeof(double));
        ok = ok && plot->curve[c].value != NULL;
    }
    return ok ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
}

static void release(Plot *plot)
{
    const st_Allocator *a = &plot->allocator;
    int64_t n = plot->info->n_bodies + 1, steps = plot->info->n_steps + 1, frames = plot->info->n_frames + 1;
    sti_free(a, plot->position, n, sizeof *plot->position);
    sti_free(a, plot->velocity, n, sizeof *plot->velocity);
    sti_free(a, plot->spin, n, sizeof *plot->spin);
    sti_free(a, plot->orientation, n, sizeof *plot->orientation);
    sti_free(a, plot->step_time, steps, sizeof(double));
    sti_free(a, plot->frame_time, frames, sizeof(double));
    for (int c = 0; c < plot->n; c++)
        sti_free(a, plot->curve[c].value, plot->curve[c].body > 0 ? frames : steps, sizeof(double));
}

st_Status st_recording_write_plot(st_Recording *recording, const char *const *curves, int n_curves, const char *path,
                                  st_Error *err)
{
    if (recording == NULL || curves == NULL || path == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_write_plot: recording, curves and path must be given");
    if (n_curves < 1 || n_curves > MOST_CURVES)
        return sti_fail(err, ST_ERR_ARGUMENT, "a plot of %d curves, must be 1 to %d", n_curves, MOST_CURVES);
    Plot plot = {.recording = recording, .info = st_recording_info(recording), .allocator = st_default_allocator()};
    for (int k = 0; k < n_curves; k++)
        STI_TRY(find_curve(&plot, curves[k], &plot.curve[k], err));
    plot.n = n_curves;
    st_Status status = allocate(&plot, err);
    if (status == ST_OK) status = read_steps(&plot, err);
    if (status == ST_OK) status = read_frames(&plot, err);
    if (status == ST_OK) status = draw(&plot, path, err);
    release(&plot);
    return status;
}
