/* Draws a run as a figure: the motion above, coordinates and energies over time below.
 *
 * Memory does not grow with the length of the run, because histories are thinned (track.h).
 */
#include "draw/motion_drawing.h"
#include "record/whole_file.h"

#include <math.h>
#include <stdio.h>
#include <stiction/io.h>
#include <string.h>

#define WIDTH       960.0 /* width of the page [px] */
#define LEFT        70.0
#define RIGHT       30.0
#define TOP         86.0
#define GAP         74.0 /* between panels, for labels */
#define CHART_H     190.0
#define SCENE_MOST  420.0
#define MOST_ROWS   2048
#define LEAST_ROWS  8
#define MOST_STORED 2000000 /* most numbers in the pose track */
#define MOST_CURVES 8

enum { ENERGY_TIME, ENERGY_KINETIC, ENERGY_POTENTIAL, ENERGY_SIZE };

struct st_Picture {
    st_Allocator allocator;
    const st_Scene *scene;
    st_SystemDef def;
    int n_bodies;
    int turn_axis;   /* the single body axis of all rotations, 0 to 2; -1: none or several */
    sti_Track poses; /* time, then STI_POSE_SIZE numbers per body */
    sti_Track energies;
    bool *bare;  /* for each body: see sti_MotionDrawing */
    double *row; /* the newest row of poses, from which angles are continued */
    char title[128];
};

st_Status st_picture_create(const st_Scene *scene, const st_SystemDef *def, st_Picture **out, st_Error *err)
{
    if (scene == NULL || def == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_picture_create: scene, def and out must not be NULL");
    STI_CHECK_DEF(def, "st_system_def", err);
    *out = NULL;
    st_Picture *picture = sti_alloc(&def->allocator, 1, sizeof *picture);
    if (picture == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a picture");
    picture->allocator = def->allocator;
    picture->scene = scene;
    picture->def = *def;
    picture->n_bodies = st_scene_body_count(scene);
    uint32_t turns = sti_view_freedoms(scene) & ST_LOCK_ROTATION;
    picture->turn_axis = turns == ST_LOCK_RX ? 0 : turns == ST_LOCK_RY ? 1 : turns == ST_LOCK_RZ ? 2 : -1;
    int width = 1 + STI_POSE_SIZE * picture->n_bodies, rows = MOST_STORED / width;
    rows = rows > MOST_ROWS ? MOST_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
    st_Status status = sti_track_create(&picture->allocator, width, rows, &picture->poses, err);
    if (status == ST_OK)
        status = sti_track_create(&picture->allocator, ENERGY_SIZE, MOST_ROWS, &picture->energies, err);
    if (status == ST_OK) {
        picture->row = sti_alloc(&picture->allocator, width, sizeof *picture->row);
        picture->bare = sti_alloc(&picture->allocator, picture->n_bodies + 1, sizeof *picture->bare);
        if (picture->row == NULL || picture->bare == NULL)
            status = sti_fail(err, ST_ERR_MEMORY, "out of memory for a picture");
    }
    if (status != ST_OK) {
        st_picture_destroy(picture);
        return status;
    }

    /* Marks bodies without a shape, or with points only, as `bare`. */
    for (int i = 0; i < picture->n_bodies; i++)
        picture->bare[i] = true;
    for (int i = 1; i <= st_scene_shape_count(scene); i++) {
        st_ShapeDef shape;
        st_BodyId body;
        if (st_scene_shape(scene, (st_ShapeId){i}, &shape, &body) != ST_OK || body.index1 <= 0) continue;
        if (shape.type != ST_SHAPE_POINT) picture->bare[body.index1 - 1] = false;
    }

    *out = picture;
    return ST_OK;
}

void st_picture_destroy(st_Picture *picture)
{
    if (picture == NULL) return;
    st_Allocator allocator = picture->allocator;
    sti_free(&allocator, picture->bare, picture->n_bodies + 1, sizeof *picture->bare);
    sti_free(&allocator, picture->row, picture->poses.width, sizeof *picture->row);
    sti_track_free(&allocator, &picture->energies);
    sti_track_free(&allocator, &picture->poses);
    sti_free(&allocator, picture, 1, sizeof *picture);
}

void st_picture_set_title(st_Picture *picture, const char *title)
{
    if (picture == NULL) return;
    size_t n = title != NULL ? strlen(title) : 0;
    if (n > 120)
        for (n = 120; n > 0 && ((unsigned char)title[n] & 0xc0) == 0x80;) /* whole characters */
            n--;
    snprintf(picture->title, sizeof picture->title, "%.*s", (int)n, title != NULL ? title : "");
}

/* The angle about the single free axis, continued from the last row so that whole turns are counted. */
static double picture_turned(const st_Picture *picture, const double *before, st_Quat q)
{
    if (picture->turn_axis < 0) return 0;
    st_Vec3 axis = vec3_axis(picture->turn_axis);
    if (picture->poses.seen == 0) return quat_twist(q, axis);
    st_Quat old = {before[STI_POSE_Q], before[STI_POSE_Q + 1], before[STI_POSE_Q + 2], before[STI_POSE_Q + 3]};
    return before[STI_POSE_ANGLE] + quat_twist(quat_product(quat_conjugate(old), q), axis);
}

st_Status st_picture_add(st_Picture *picture, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    if (picture == NULL || system == NULL || info == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_picture_add: picture, system and info must not be NULL");
    double energy[ENERGY_SIZE] = {info->time, info->kinetic, info->potential};
    picture->row[0] = info->time;
    for (int i = 0; i < picture->n_bodies; i++) {
        double *p = picture->row + 1 + (size_t)i * STI_POSE_SIZE;
        st_Pose pose = {0};
        if (st_system_pose(system, (st_BodyId){i + 1}, &pose) != ST_OK)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "the system has no body number %d: it was not made from the scene of the picture", i + 1);
        double angle = picture_turned(picture, p, pose.q);
        vec3_store(p, pose.p);
        p[STI_POSE_Q] = pose.q.w;
        vec3_store(p + STI_POSE_Q + 1, vec3(pose.q.x, pose.q.y, pose.q.z));
        p[STI_POSE_ANGLE] = angle;
    }
    sti_track_add(&picture->poses, picture->row);
    sti_track_add(&picture->energies, energy);
    return ST_OK;
}

/* ---- charts ----------------------------------------------------------------------------------- */

typedef enum Quantity { RIGHTWARD, UPWARD, ANGLE } Quantity;

typedef struct BodyCurves {
    const sti_Track *poses;
    const sti_View *view;
    Quantity quantity;
    int body[MOST_CURVES]; /* 0-based */
} BodyCurves;

static double body_time(const void *ctx, int sample)
{
    return sti_track_row(((const BodyCurves *)ctx)->poses, sample)[0];
}

static double picture_body_value(const void *ctx, int curve, int sample)
{
    const BodyCurves *curves = ctx;
    const double *row = sti_track_row(curves->poses, sample);
    int body = curves->body[curve];
    if (curves->quantity == ANGLE) return row[1 + (size_t)body * STI_POSE_SIZE + STI_POSE_ANGLE];
    st_Vec3 p = sti_pose_read(row, body).p;
    return curves->quantity == RIGHTWARD ? sti_view_right(curves->view, p) : sti_view_up(curves->view, p);
}

static double energy_time(const void *ctx, int sample)
{
    return sti_track_row(ctx, sample)[ENERGY_TIME];
}

static double energy_value(const void *ctx, int curve, int sample)
{
    const double *row = sti_track_row(ctx, sample);
    return curve == 0   ? row[ENERGY_KINETIC]
           : curve == 1 ? row[ENERGY_POTENTIAL]
                        : row[ENERGY_KINETIC] + row[ENERGY_POTENTIAL];
}

static void draw_coordinate(FILE *file, const st_Picture *picture, const sti_View *view, Quantity quantity,
                            sti_Rect panel)
{
    BodyCurves ctx = {.poses = &picture->poses, .view = view, .quantity = quantity};
    const char *name[MOST_CURVES], *colour[MOST_CURVES];
    char title[64], axis[] = {(char)('x' + (picture->turn_axis < 0 ? 0 : picture->turn_axis)), '\0'};
    int n = 0, moving = 0;
    for (int i = 0; i < picture->n_bodies; i++) {
        st_BodyDef body;
        if (st_scene_body(picture->scene, (st_BodyId){i + 1}, &body) != ST_OK || body.fixed) continue;
        moving++;
        if (n == MOST_CURVES) continue;
        ctx.body[n] = i;
        name[n] = body.name;
        colour[n++] = sti_colour(i);
    }
    snprintf(title, sizeof title, "%s%s [%s]%s", quantity == ANGLE ? "angle about " : "",
             quantity == ANGLE       ? axis
             : quantity == RIGHTWARD ? view->right_name
                                     : view->up_name,
             quantity == ANGLE ? "rad" : "m", moving > n ? ", first bodies" : "");
    sti_Curves curves = {.title = title,
                         .n = n,
                         .name = name,
                         .colour = colour,
                         .dashed = -1,
                         .samples = sti_track_count(&picture->poses),
                         .ctx = &ctx,
                         .time = body_time,
                         .value = picture_body_value};
    sti_svg_chart(file, panel, &curves);
}

/* ---- the page --------------------------------------------------------------------------------- */

/* The range of a quantity, largest over all bodies. */
static double travel(const st_Picture *picture, const sti_View *view, Quantity quantity)
{
    double most = 0;
    for (int i = 0; i < picture->n_bodies; i++) {
        BodyCurves ctx = {.poses = &picture->poses, .view = view, .quantity = quantity, .body = {i}};
        double lo = INFINITY, hi = -INFINITY;
        for (int k = 0; k < sti_track_count(&picture->poses); k++) {
            double value = picture_body_value(&ctx, 0, k);
            lo = fmin(lo, value);
            hi = fmax(hi, value);
        }
        most = fmax(most, hi - lo);
    }
    return most;
}

st_Status st_picture_write(const st_Picture *picture, const char *path, st_Error *err)
{
    FILE *file = NULL;
    if (picture == NULL || path == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_picture_write: picture and path must not be NULL");
    if (sti_track_count(&picture->poses) == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: nothing was added to the picture", path);
    STI_TRY(sti_file_open(path, &file, err));

    /* Coordinates that change, in reading order, two per line; energies last, in the remaining room. */
    sti_View view = sti_view_choose(picture->scene, picture->def.gravity, &picture->poses, picture->n_bodies);
    sti_MotionDrawing drawing = {picture->scene, &view, &picture->poses, picture->n_bodies, picture->bare, 0};
    drawing.end = sti_motion_end(&drawing);
    sti_Window window = sti_motion_window(&drawing, LEFT, TOP, WIDTH - LEFT - RIGHT, SCENE_MOST);
    Quantity quantity[3];
    char right[16], up[16];
    /* Selects the quantities that get a chart. A coordinate that changes only by rounding (a body sliding on a table)
     * gets none. */
    double across = travel(picture, &view, RIGHTWARD), rise = travel(picture, &view, UPWARD);
    int n = 0;
    if (view.moves_right && across >= 1e-9 * rise) quantity[n++] = RIGHTWARD;
    if (view.moves_up && rise > 1e-9 * across) quantity[n++] = UPWARD;
    if (picture->turn_axis >= 0 && travel(picture, &view, ANGLE) > 1e-9) quantity[n++] = ANGLE;

    int lines = (n + 2) / 2;
    double below = TOP + window.box.h + GAP, half = 0.5 * (WIDTH - LEFT - RIGHT - GAP);
    double height = below + lines * (CHART_H + GAP) - 24;
    sti_svg(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
            WIDTH, height, WIDTH, height);
    fputs("role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
          "<title>",
          file);
    sti_write_xml(file, picture->title[0] != '\0' ? picture->title : "A run");
    fputs(": its motion, coordinates and energies</title>\n", file);
    sti_svg(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", STI_PAPER);

    static const char *const keys[] = {"integrator", "law", "drift", "events"};
    char heading[512], word[STI_NUMBER_SIZE];
    int length = snprintf(heading, sizeof heading, "%s", picture->def.preset != NULL ? picture->def.preset : "");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        st_SettingValue value = {0};
        if (st_setting_get(&picture->def, keys[k], &value, NULL) != ST_OK || value.word == NULL) continue;
        if (length < (int)sizeof heading - 64)
            length += snprintf(heading + length, sizeof heading - (size_t)length, "%s%s %s",
                               k == 0 ? ":  " : "  \xc2\xb7  ", keys[k], value.word);
    }
    snprintf(heading + length, sizeof heading - (size_t)length, "  \xc2\xb7  h = %s s",
             sti_number(word, picture->def.h, 6));
    const bool titled = picture->title[0] != '\0';
    if (titled) sti_svg_text(file, LEFT - 46, 26, 16, STI_START, STI_INK, picture->title);
    sti_svg_text(file, LEFT - 46, titled ? 45 : 34, titled ? 11 : 14, STI_START, titled ? STI_SOFT : STI_INK, heading);
    /* Writes the times of the drawing, light to dark, right-aligned above it. */
    int rows = sti_track_count(drawing.poses), frames = sti_motion_frames(&drawing);
    double right_end = WIDTH - RIGHT, t0 = sti_track_row(drawing.poses, 0)[0],
           t1 = sti_track_row(drawing.poses, rows - 1)[0];
    char number[STI_NUMBER_SIZE], times[96];
    snprintf(times, sizeof times, "%s s%s", sti_number(number, drawing.end, 4),
             drawing.end < t1 ? ", then at rest" : "");
    sti_svg_text(file, right_end, TOP - 9, 11, STI_END, STI_INK, times);
    right_end -= 6.1 * (double)strlen(times) + 10;
    for (int k = frames - 1; k >= 0; k--, right_end -= 11)
        sti_svg(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\" fill=\"%s\" opacity=\"%.3f\"/>\n", right_end, TOP - 13,
                STI_INK, sti_motion_opacity(k, frames));
    snprintf(times, sizeof times, "t = %s", sti_number(number, t0, 4));
    sti_svg_text(file, right_end, TOP - 9, 11, STI_END, STI_INK, times);
    snprintf(right, sizeof right, "%s [m]", view.right_name);
    snprintf(up, sizeof up, "%s [m]", view.up_name);
    sti_svg_axes(file, &window, right, up);
    sti_motion_draw(file, &drawing, &window);
    for (int k = 0; k <= n; k++) {
        int column = k % 2, line = k / 2;
        double x = LEFT + column * (half + GAP), y = below + line * (CHART_H + GAP);
        sti_Rect panel = {x, y, k == n && k % 2 == 0 ? WIDTH - LEFT - RIGHT : half, CHART_H};
        if (k < n)
            draw_coordinate(file, picture, &view, quantity[k], panel);
        else {
            static const char *const names[] = {"kinetic", "potential", "total"};
            static const char *const colours[] = {"#d1495b", "#1f5fa8", STI_INK};
            sti_Curves curves = {.title = "energy [J]",
                                 .n = 3,
                                 .name = names,
                                 .colour = colours,
                                 .dashed = 2,
                                 .samples = sti_track_count(&picture->energies),
                                 .ctx = &picture->energies,
                                 .time = energy_time,
                                 .value = energy_value};
            sti_svg_chart(file, panel, &curves);
        }
    }
    fputs("</svg>\n", file);

    return sti_file_close(file, path, err);
}
