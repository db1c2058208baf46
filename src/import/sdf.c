/* import/sdf.c -- SDFormat 1.4 to 1.11, as used by Gazebo (sdformat.org/spec): worlds and models with links, joints,
 * inertials and collisions.
 *
 * Values are texts of elements. Links are placed in their model, joints in their child link, and `relative_to` may
 * name any other frame. Links and joints need not form a tree: a joint closes a loop if its child already has a
 * joint. Names of nested models are `model::link`; in a file with one model they are unchanged. */
#include "base/number.h"
#include "import/png.h"
#include "import/robot.h"
#include "math/quat.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define DEEPEST       20 /* depth of models inside models, and of includes */
#define MOST_INCLUDES 1000

typedef struct Frame { /* a link, joint, frame or model, by its name in its model */
    const char *name;
    const struct Model *model;
    const sti_Element *at;
    char kind;                /* l, j, f, m */
    const struct Model *base; /* in which it is placed: the model, or one that is merged into it */
    st_Pose pose;
    int state;                    /* 0: not yet placed, 1: being placed, 2: placed */
    const char *attached;         /* joint: its child */
    const struct Model *inside;   /* m: that model */
    struct Frame *parent, *child; /* joint: the links; parent NULL: the world */
    bool gears;                   /* joint: a gearbox */
    bool reversed;                /* joint: the file calls the world its child */
    int link;                     /* number in the robot; -1: none yet */
    struct Frame *next;
} Frame;

typedef struct Model {
    const char *scope; /* "", or "arm::" */
    const sti_Element *at;
    const struct Model *outer;
    st_Pose pose; /* in the world */
    bool fixed;   /* <static> */
    struct Model *next;
} Model;

typedef struct Sdf {
    sti_Robot *robot;
    double version;
    Frame *frames;
    Model *models;
    int n_joints, n_includes;
} Sdf;

/* ---- values ------------------------------------------------------------------------------------------ */

static const char *text_of(const sti_Element *at, const char *name)
{
    const sti_Element *child = at != NULL ? sti_child(at, name) : NULL;
    return child != NULL ? child->text : NULL;
}

/* Reads n numbers from the text of a child element; without one, out stays as it is. A bound may be inf or -inf. */
static st_Status numbers(const Sdf *sdf, const sti_Element *at, const char *name, int n, double *out)
{
    const sti_Element *child = at != NULL ? sti_child(at, name) : NULL;
    double x[8];
    if (child == NULL) return ST_OK;
    const char *text = child->text != NULL ? child->text : "";
    const bool negative = text[0] == '-';
    const char *const word = text + (negative || text[0] == '+');
    const bool infinite = strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0;
    if (infinite && n == 1 && sti_element_is(at, "limit")) {
        *out = negative ? -INFINITY : INFINITY;
        return ST_OK;
    }
    for (int k = 0; k < n; k++)
        if (!sti_next_number(&text, &x[k]))
            return sti_element_fail(sdf->robot->err, child, "is \"%.40s\", must be %d number%s",
                                    child->text != NULL ? child->text : "", n, n > 1 ? "s" : "");
    memcpy(out, x, (size_t)n * sizeof *out);
    return ST_OK;
}

static bool is_true(const char *text)
{
    return text != NULL && (strncmp(text, "true", 4) == 0 || text[0] == '1');
}

/* Reads x y z roll pitch yaw; *relative is the frame in which they are given. */
static st_Status read_pose(const Sdf *sdf, const sti_Element *at, st_Pose *out, const char **relative)
{
    const sti_Element *pose = sti_child(at, "pose");
    double x[7] = {0};
    int n = 0;
    *out = pose_identity();
    if (relative != NULL) *relative = NULL;
    if (pose == NULL) return ST_OK;
    const char *text = pose->text != NULL ? pose->text : "", *format = sti_attribute(pose, "rotation_format");
    if (relative != NULL) *relative = sti_attribute(pose, "relative_to");
    if (relative != NULL && *relative == NULL) *relative = sti_attribute(pose, "frame"); /* SDF 1.6 */
    if (relative != NULL && *relative != NULL && (*relative)[0] == '\0') *relative = NULL;
    while (n < 7 && sti_next_number(&text, &x[n]))
        n++;
    const bool quat = format != NULL && strcmp(format, "quat_xyzw") == 0;
    if (n != 0 && n != 6 && !(quat && n == 7))
        return sti_element_fail(sdf->robot->err, pose, "must be x y z roll pitch yaw, six numbers");
    const double unit = is_true(sti_attribute(pose, "degrees")) ? STI_PI / 180 : 1;
    out->p = vec3_load(x);
    if (quat && n == 7 && x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6] > 0)
        out->q = quat_unit((st_Quat){x[6], x[3], x[4], x[5]});
    else if (!quat)
        out->q = sti_quat_rpy(unit * x[3], unit * x[4], unit * x[5]);
    return ST_OK;
}

static bool is_word(const char *words, const char *word, size_t n)
{
    for (const char *at = words; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == n && strncmp(at, word, n) == 0) return true;
    return false;
}

/* Checks the children of an element: a name close to a known word is an error, others are listed in the remarks. */
static st_Status check_children(const Sdf *sdf, const sti_Element *at, const char *words)
{
    for (const sti_Element *child = at != NULL ? at->first : NULL; child != NULL; child = child->next) {
        sti_Nearest nearest = {.word = child->name};
        char word[40], what[80];
        if (is_word(words, child->name, strlen(child->name)) || strchr(child->name, ':') != NULL) continue;
        for (const char *known = words; *known != '\0'; known += strcspn(known, " "), known += strspn(known, " ")) {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(known, " "), known);
            const char *kept = sti_xml_keep_text(sdf->robot->files, word);
            if (kept == NULL) return sti_robot_memory(sdf->robot);
            sti_nearest_try(&nearest, kept);
        }
        if (nearest.best != NULL)
            STI_TRY(sti_note_problem(sdf->robot, sti_element_fail(sdf->robot->err, child,
                                                                  "is not an element of SDF here; did you mean <%s>?",
                                                                  nearest.best)));
        snprintf(what, sizeof what, "<%.60s>", child->name);
        const char *kept = sti_xml_keep_text(sdf->robot->files, what);
        if (kept == NULL) return sti_robot_memory(sdf->robot);
        sti_skip(sdf->robot, kept);
    }
    return ST_OK;
}

/* ---- models and frames ------------------------------------------------------------------------------- */

static Frame *find_frame(const Sdf *sdf, const Model *model, const char *name)
{
    if (name == NULL) return NULL;
    for (Frame *frame = sdf->frames; frame != NULL; frame = frame->next) {
        if (frame->model == model && strcmp(frame->name, name) == 0) return frame;
        const size_t outer = strlen(model->scope); /* "arm::hand" of a model inside this one */
        const char *scope = frame->model->scope;
        if (strncmp(scope, model->scope, outer) != 0) continue;
        const size_t n = strlen(scope + outer);
        if (n > 0 && strncmp(name, scope + outer, n) == 0 && strcmp(name + n, frame->name) == 0) return frame;
    }
    return NULL;
}

static st_Status place_frame(const Sdf *sdf, Frame *frame)
{
    const char *relative;
    st_Pose pose, base = frame->base->pose;
    if (frame->state == 2) return ST_OK;
    if (frame->state == 1) return sti_element_fail(sdf->robot->err, frame->at, "is placed relative to itself");
    frame->state = 1;
    STI_TRY(read_pose(sdf, frame->at, &pose, &relative));
    if (relative == NULL && frame->kind == 'j') relative = frame->attached;
    if (relative == NULL && frame->kind == 'f') relative = sti_attribute(frame->at, "attached_to");
    if (relative != NULL && strcmp(relative, "world") == 0) {
        base = sdf->robot->root;
    } else if (relative != NULL && strcmp(relative, "__model__") != 0) {
        Frame *other = find_frame(sdf, frame->model, relative);
        if (other == NULL)
            return sti_element_fail(sdf->robot->err, frame->at,
                                    "is relative to \"%.60s\", there is no frame of that name", relative);
        STI_TRY(place_frame(sdf, other));
        base = other->pose;
    }
    frame->pose = pose_product(base, pose);
    frame->state = 2;
    return ST_OK;
}

static st_Status add_frame(Sdf *sdf, const Model *model, const Model *base, const sti_Element *at, const char *name,
                           char kind, Frame **out)
{
    if (name == NULL || name[0] == '\0')
        return sti_element_fail(sdf->robot->err, at, "name is missing, must be a name");
    for (const Frame *other = sdf->frames; other != NULL; other = other->next)
        if (other->model == model && other->kind == kind && strcmp(other->name, name) == 0)
            return sti_element_fail(sdf->robot->err, at, "its name is used twice, first at line %d", other->at->line);
    Frame *frame = sti_xml_keep(sdf->robot->files, sizeof *frame);
    if (frame == NULL) return sti_robot_memory(sdf->robot);
    *frame = (Frame){.name = name, .model = model, .base = base, .at = at, .kind = kind, .link = -1};
    if (kind == 'j') frame->attached = text_of(at, "child");
    Frame **tail = &sdf->frames;
    while (*tail != NULL)
        tail = &(*tail)->next;
    *tail = frame;
    sdf->n_joints += kind == 'j';
    if (out != NULL) *out = frame;
    return ST_OK;
}

/* The pose of a model or an include in the outer model, or relative to another frame of it. */
static st_Status place_model(const Sdf *sdf, const Model *outer, const sti_Element *at, st_Pose *out)
{
    const char *relative;
    st_Pose pose, base = outer->pose;
    STI_TRY(read_pose(sdf, at, &pose, &relative));
    if (relative != NULL && strcmp(relative, "__model__") != 0 && strcmp(relative, "world") != 0) {
        Frame *other = find_frame(sdf, outer, relative);
        if (other == NULL)
            return sti_element_fail(sdf->robot->err, at, "is relative to \"%.60s\", there is no frame of that name",
                                    relative);
        STI_TRY(place_frame(sdf, other));
        base = other->pose;
    }
    *out = pose_product(base, pose);
    return ST_OK;
}

/* Adds the links, joints and frames of a model or a world; `base` is the model in which they are placed. */
static st_Status add_frames(Sdf *sdf, const Model *model, const Model *base, const sti_Element *at)
{
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        const bool link = sti_element_is(child, "link"), joint = sti_element_is(child, "joint");
        if (!link && !joint && !sti_element_is(child, "frame")) continue;
        STI_TRY(add_frame(sdf, model, base, child, sti_attribute(child, "name"), link ? 'l' : joint ? 'j' : 'f', NULL));
    }
    return ST_OK;
}

/* Data of the model that an <include> replaces. */
typedef struct Placement {
    bool posed; /* `pose` is given */
    st_Pose pose;
    const char *frame, *fixed; /* placement_frame, static; NULL: that of the model itself */
} Placement;

static st_Status add_model(Sdf *sdf, const Model *outer, const sti_Element *at, const Placement *placed,
                           const char *called, bool single, int depth);
static st_Status merge_model(Sdf *sdf, const Model *outer, const sti_Element *at, const Placement *placed, int depth);

/* <include><uri>: adds the model of another file, with another name and pose. A folder has it in model.sdf, or in
 * the last file that its model.config lists. */
static st_Status add_include(Sdf *sdf, const Model *outer, const sti_Element *at, int depth)
{
    const char *uri = text_of(at, "uri"), *called = text_of(at, "name");
    char path[1024];
    sti_Element *root = NULL;
    Placement placed = {.posed = sti_child(at, "pose") != NULL,
                        .frame = text_of(at, "placement_frame"),
                        .fixed = text_of(at, "static")};
    STI_TRY(check_children(sdf, at, "uri name pose static placement_frame plugin"));
    if (uri == NULL) return sti_element_fail(sdf->robot->err, at, "has no <uri>, must have one");
    if (placed.frame != NULL && !placed.posed)
        return sti_element_fail(sdf->robot->err, at, "has a placement_frame but no pose, must have both");
    if (depth > DEEPEST) return sti_element_fail(sdf->robot->err, at, "is inside more than %d others", DEEPEST);
    if (++sdf->n_includes > MOST_INCLUDES)
        return sti_element_fail(sdf->robot->err, at, "is one too many, must be at most %d in total", MOST_INCLUDES);
    const char *dot = strrchr(uri, '.'), *slash = strrchr(uri, '/');
    const bool file = dot != NULL && (slash == NULL || dot > slash);
    if (snprintf(path, sizeof path, "%s%s", uri, file ? "" : "/model.sdf") >= (int)sizeof path)
        return sti_element_fail(sdf->robot->err, at, "its uri is too long");
    STI_TRY(place_model(sdf, outer, at, &placed.pose));
    const char *found;
    st_Error *err = sdf->robot->err, why = {0};
    sdf->robot->err = &why; /* a missing file is not always an error */
    if (!file && sti_robot_path(sdf->robot, at, path, &found) == ST_ERR_FORMAT) {
        bool known = false;
        char other[1100];
        snprintf(other, sizeof other, "%.1000s/model.config", uri);
        const bool configured = sti_robot_path(sdf->robot, at, other, &found) == ST_OK;
        sdf->robot->err = err;
        /* These two models come with Gazebo and are often used by worlds. They are built in, for the case that
         * Gazebo is not installed. */
        const char *name = slash != NULL ? slash + 1 : uri;
        const bool sun = strcasecmp(name, "sun") == 0;
        known = sun || strcasecmp(name, "ground_plane") == 0 || strcasecmp(name, "ground plane") == 0;
        if (sun) sti_skip(sdf->robot, "the model \"sun\", a light");
        if (!(sun || !known)) {
            json_t *plane = json_pack("{s:s, s:f}", "type", "plane", "friction", 1.0);
            if (plane == NULL) return sti_robot_memory(sdf->robot);
            STI_TRY(sti_remark(sdf->robot, "the model \"%.60s\" is not installed: a plane", name));
            STI_TRY(sti_robot_shape(sdf->robot, &sdf->robot->links[0], at, placed.pose, plane));
        }
        if (known) return ST_OK;
        if (configured) STI_TRY(sti_robot_include(sdf->robot, at, other, &root));
        for (const sti_Element *entry = configured ? root->first : NULL; entry != NULL; entry = entry->next)
            if (sti_element_is(entry, "sdf") && entry->text != NULL)
                snprintf(path, sizeof path, "%.800s/%.200s", uri, entry->text);
    }
    sdf->robot->err = err;
    STI_TRY(sti_robot_include(sdf->robot, at, path, &root));
    const sti_Element *model = sti_child(root, "model");
    if (model == NULL) return sti_element_fail(sdf->robot->err, at, "names a file without a <model>");
    if (is_true(sti_attribute(at, "merge")) && outer->at != NULL)
        return merge_model(sdf, outer, model, &placed, depth + 1);
    return add_model(sdf, outer, model, &placed, called, false, depth + 1);
}

static const char model_words[] = "link joint frame model include plugin gripper pose static self_collide "
                                  "allow_auto_disable enable_wind placement_frame";

/* <include merge="true">: the links, joints and frames of the other model become those of this one. */
static st_Status merge_model(Sdf *sdf, const Model *outer, const sti_Element *at, const Placement *placed, int depth)
{
    st_Pose pose;
    Model *model = sti_xml_keep(sdf->robot->files, sizeof *model);
    if (model == NULL) return sti_robot_memory(sdf->robot);
    if (!placed->posed) STI_TRY(place_model(sdf, outer, at, &pose));
    *model = (Model){.scope = outer->scope, .at = at, .outer = outer, .pose = placed->posed ? placed->pose : pose};
    model->fixed = outer->fixed;
    model->next = sdf->models;
    sdf->models = model;
    STI_TRY(check_children(sdf, at, model_words));
    STI_TRY(add_frames(sdf, outer, model, at));
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        if (sti_element_is(child, "model")) STI_TRY(add_model(sdf, model, child, NULL, NULL, false, depth + 1));
        if (sti_element_is(child, "include")) STI_TRY(add_include(sdf, model, child, depth));
    }
    return ST_OK;
}

static st_Status add_model(Sdf *sdf, const Model *outer, const sti_Element *at, const Placement *placed,
                           const char *called, bool single, int depth)
{
    const char *name = called != NULL ? called : sti_attribute(at, "name");
    char scope[300];
    st_Pose pose;
    if (name == NULL) return sti_element_fail(sdf->robot->err, at, "name is missing, must be a name");
    if (depth > DEEPEST) return sti_element_fail(sdf->robot->err, at, "is inside more than %d others", DEEPEST);
    Model *model = sti_xml_keep(sdf->robot->files, sizeof *model);
    snprintf(scope, sizeof scope, "%s%.100s%s", outer->scope, single ? "" : name, single ? "" : "::");
    const char *kept = sti_xml_keep_text(sdf->robot->files, scope);
    if (model == NULL || kept == NULL) return sti_robot_memory(sdf->robot);
    const bool posed = placed != NULL && placed->posed;
    const char *fixed = placed != NULL && placed->fixed != NULL ? placed->fixed : text_of(at, "static");
    if (!posed) STI_TRY(place_model(sdf, outer, at, &pose));
    *model = (Model){.scope = kept, .at = at, .outer = outer, .pose = posed ? placed->pose : pose};
    model->fixed = outer->fixed || is_true(fixed);
    model->next = sdf->models;
    sdf->models = model;
    Frame *own = NULL;
    STI_TRY(check_children(sdf, at, model_words));
    if (!single) STI_TRY(add_frame(sdf, outer, outer, at, name, 'm', &own));
    STI_TRY(add_frames(sdf, model, model, at)); /* models inside it may be placed relative to these */
    const char *by = placed != NULL && placed->frame != NULL ? placed->frame : sti_attribute(at, "placement_frame");
    if (by != NULL && by[0] != '\0') {
        /* Moves a model so that one of its frames has the pose that was given for the model. */
        Frame *frame = find_frame(sdf, model, by);
        if (frame == NULL)
            return sti_element_fail(sdf->robot->err, model->at,
                                    "placement_frame is \"%.60s\", there is no link, joint or frame of that name in it",
                                    by);
        STI_TRY(place_frame(sdf, frame));
        const st_Pose given = model->pose;
        const st_Quat turn = quat_product(given.q, quat_conjugate(frame->pose.q));
        model->pose.q = quat_unit(quat_product(turn, given.q));
        model->pose.p = add(given.p, rotate(turn, sub(given.p, frame->pose.p)));
        for (Frame *other = sdf->frames; other != NULL; other = other->next)
            if (other->base == model) other->state = 0;
    }
    if (own != NULL) own->pose = model->pose, own->state = 2, own->inside = model;
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        if (sti_element_is(child, "model")) STI_TRY(add_model(sdf, model, child, NULL, NULL, false, depth + 1));
        if (sti_element_is(child, "include")) STI_TRY(add_include(sdf, model, child, depth));
        if (sti_element_is(child, "plugin")) sti_skip(sdf->robot, "<plugin>");
        if (sti_element_is(child, "gripper")) sti_skip(sdf->robot, "<gripper>");
    }
    return ST_OK;
}

/* ---- links ------------------------------------------------------------------------------------------- */

static st_Status read_inertial(const Sdf *sdf, sti_RobotLink *link, const sti_Element *at)
{
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    const sti_Element *inertia = at != NULL ? sti_child(at, "inertia") : NULL;
    double v[6] = {1, 0, 0, 1, 0, 1};
    st_Pose pose = pose_identity();
    link->mass = 1; /* the default of SDF */
    STI_TRY(check_children(sdf, at, "mass inertia pose frame density auto_inertia_params fluid_added_mass"));
    STI_TRY(check_children(sdf, inertia, "ixx ixy ixz iyy iyz izz"));
    if (at != NULL && sti_child(at, "fluid_added_mass") != NULL) sti_skip(sdf->robot, "<fluid_added_mass>");
    if (at != NULL) STI_TRY(read_pose(sdf, at, &pose, NULL));
    STI_TRY(numbers(sdf, at, "mass", 1, &link->mass));
    for (int k = 0; k < 6; k++)
        STI_TRY(numbers(sdf, inertia, names[k], 1, &v[k]));
    if (!(link->mass >= 0)) return sti_element_fail(sdf->robot->err, at, "mass is %g, must be >= 0", link->mass);
    const st_Mat3 I = {{v[0], v[1], v[2], v[1], v[3], v[4], v[2], v[4], v[5]}};
    link->centre = pose.p;
    link->inertia = sti_inertia_turned(pose.q, &I);
    return ST_OK;
}

static st_Status geometry_json(const Sdf *sdf, const sti_Element *form, st_Pose *pose, json_t **out)
{
    double size[3] = {1, 1, 1}, radius = 0, length = 0, normal[3] = {0, 0, 1};
    const bool box = sti_element_is(form, "box"), ellipsoid = sti_element_is(form, "ellipsoid");
    STI_TRY(numbers(sdf, form, "radius", 1, &radius));
    STI_TRY(numbers(sdf, form, "length", 1, &length));
    STI_TRY(numbers(sdf, form, ellipsoid ? "radii" : "size", sti_element_is(form, "plane") ? 2 : 3, size));
    STI_TRY(numbers(sdf, form, "normal", 3, normal));
    if (sti_element_is(form, "heightmap")) {
        /* A grey image: black is the lowest, white the highest elevation; the top row has the largest y. */
        const char *uri = text_of(form, "uri");
        double extent[3] = {1, 1, 1}, p[3] = {0}, *pixels;
        char path[4096];
        int nx, ny;
        st_Error why = {0};
        STI_TRY(numbers(sdf, form, "size", 3, extent));
        STI_TRY(numbers(sdf, form, "pos", 3, p));
        if (uri == NULL) return sti_element_fail(sdf->robot->err, form, "has no <uri>, must have one");
        for (int k = 0; k < 3; k++)
            if (!(extent[k] > 0))
                return sti_element_fail(sdf->robot->err, form, "its size has %g, must be > 0", extent[k]);
        STI_TRY(sti_robot_whole_path(sdf->robot, form, uri, path, sizeof path));
        if (sti_png_read(path, &nx, &ny, &pixels, &why) != ST_OK)
            return sti_element_fail(sdf->robot->err, form, "%.200s", why.message);
        double *height = nx >= 2 && ny >= 2 ? malloc((size_t)nx * (size_t)ny * sizeof *height) : NULL;
        for (int y = 0; y < ny && height != NULL; y++)
            for (int x = 0; x < nx; x++)
                height[(size_t)y * (size_t)nx + (size_t)x] =
                    extent[2] * pixels[(size_t)(ny - 1 - y) * (size_t)nx + (size_t)x];
        free(pixels);
        if (nx < 2 || ny < 2) return sti_element_fail(sdf->robot->err, form, "its image must be 2 x 2 pixels at least");
        if (height != NULL)
            *out = sti_height_json(nx, ny, height, extent[0] / (nx - 1), extent[1] / (ny - 1), extent[2]);
        free(height);
        pose->p = pose_point(*pose, vec3_load(p));
        return *out != NULL ? ST_OK : sti_robot_memory(sdf->robot);
    }
    if (box || ellipsoid) {
        const double factor = ellipsoid ? 2 : 1;
        for (int k = 0; k < 3; k++)
            if (!(size[k] > 0)) return sti_element_fail(sdf->robot->err, form, "its size has %g, must be > 0", size[k]);
        *out = json_pack("{s:s, s:[f, f, f]}", "type", form->name, "size", factor * size[0], factor * size[1],
                         factor * size[2]);
    } else if (sti_element_is(form, "sphere") || sti_element_is(form, "cylinder") || sti_element_is(form, "capsule") ||
               sti_element_is(form, "cone")) {
        const bool sphere = sti_element_is(form, "sphere");
        if (!(radius > 0) || (!sphere && !(length > 0)))
            return sti_element_fail(sdf->robot->err, form, "radius and length must be > 0");
        *out = json_pack("{s:s, s:f}", "type", form->name, "radius", radius);
        if (!sphere) *out = sti_with(*out, "length", json_real(length));
    } else if (sti_element_is(form, "plane")) {
        *out = json_pack("{s:s}", "type", "plane");
        pose->q = quat_product(pose->q, st_quat_from_z(vec3_load(normal)));
    } else if (sti_element_is(form, "mesh")) {
        double scales[3] = {1, 1, 1};
        const char *uri = text_of(form, "uri");
        STI_TRY(numbers(sdf, form, "scale", 3, scales));
        if (uri == NULL) return sti_element_fail(sdf->robot->err, form, "has no <uri>, must have one");
        return sti_robot_mesh(sdf->robot, form, uri, scales, out);
    } else if (sti_element_is(form, "polyline")) { /* the convex hull of its corners, extruded to its height */
        json_t *points = json_array();
        STI_TRY(numbers(sdf, form, "height", 1, &size[2]));
        for (const sti_Element *at = form->first; at != NULL; at = at->next) {
            const char *text = at->text;
            double x, y;
            if (!sti_element_is(at, "point") || text == NULL) continue;
            if (!sti_next_number(&text, &x) || !sti_next_number(&text, &y)) {
                json_decref(points);
                return sti_element_fail(sdf->robot->err, at, "is \"%.40s\", must be 2 numbers", at->text);
            }
            points = sti_append_to(points, json_pack("[f, f, f]", x, y, 0.0));
            points = sti_append_to(points, json_pack("[f, f, f]", x, y, size[2]));
        }
        if (json_array_size(points) < 6 || !(size[2] > 0)) {
            json_decref(points);
            return sti_element_fail(sdf->robot->err, form, "must have at least three <point>s, and a <height> > 0");
        }
        *out = sti_with(json_pack("{s:s}", "type", "hull"), "points", points);
        sti_skip(sdf->robot, "dents of <polyline>: it is its convex hull");
    } else {
        return sti_element_fail(sdf->robot->err, form,
                                "is not supported, must be box, sphere, cylinder, capsule, ellipsoid, cone, plane, "
                                "polyline, heightmap or mesh");
    }
    return *out != NULL ? ST_OK : sti_robot_memory(sdf->robot);
}

/* <inertial auto="true">: adds a shape of a density to the mass of a link. */
static st_Status add_mass(const Sdf *sdf, sti_RobotLink *link, const sti_Element *at, st_Pose pose, const json_t *json)
{
    const sti_Element *inertial = sti_child(link->at, "inertial");
    double density = 1000;
    sti_RobotLink part = {.pose = pose}, whole = {.pose = pose_identity()};
    st_Error why = {0};
    if (inertial == NULL || !is_true(sti_attribute(inertial, "auto"))) return ST_OK;
    STI_TRY(numbers(sdf, inertial, "density", 1, &density));
    STI_TRY(numbers(sdf, at, "density", 1, &density));
    if (!(density > 0)) return sti_element_fail(sdf->robot->err, at, "density is %g, must be > 0", density);
    if (sti_robot_measure(sdf->robot, json, &why, &part) != ST_OK)
        return sti_element_fail(sdf->robot->err, at, "its mass cannot be found: %.160s", why.message);
    part.mass *= density;
    for (int k = 0; k < 9; k++)
        part.inertia.m[k] *= density;
    whole.mass = link->mass, whole.centre = link->centre, whole.inertia = link->inertia;
    sti_join_masses(&whole, &part);
    link->mass = whole.mass, link->centre = whole.centre, link->inertia = whole.inertia;
    return ST_OK;
}

static st_Status read_collision(const Sdf *sdf, sti_RobotLink *link, const sti_Element *at)
{
    const sti_Element *geometry = sti_child(at, "geometry"), *surface = sti_child(at, "surface");
    const sti_Element *friction = surface != NULL ? sti_child(surface, "friction") : NULL;
    const sti_Element *bounce = surface != NULL ? sti_child(surface, "bounce") : NULL;
    double mu = 1, restitution = 0, rolling = 0;
    st_Pose pose;
    json_t *json = NULL;
    STI_TRY(check_children(sdf, at, "geometry surface pose laser_retro max_contacts density auto_inertia_params"));
    if (geometry == NULL || geometry->first == NULL)
        return sti_element_fail(sdf->robot->err, at, "has no <geometry> with a shape in it, must have one");
    if (sti_element_is(geometry->first, "empty")) return ST_OK;
    STI_TRY(read_pose(sdf, at, &pose, NULL));
    if (friction != NULL) {
        STI_TRY(numbers(sdf, sti_child(friction, "ode"), "mu", 1, &mu));
        STI_TRY(numbers(sdf, sti_child(friction, "bullet"), "friction", 1, &mu));
        STI_TRY(numbers(sdf, sti_child(friction, "bullet"), "rolling_friction", 1, &rolling));
    }
    STI_TRY(numbers(sdf, bounce, "restitution_coefficient", 1, &restitution));
    if (mu < 0 || !(restitution >= 0 && restitution <= 1))
        return sti_element_fail(sdf->robot->err, surface, "mu must be >= 0, restitution_coefficient from 0 to 1");
    const st_Status status = geometry_json(sdf, geometry->first, &pose, &json);
    if (status == ST_ERR_FORMAT && sti_element_is(geometry->first, "mesh") && sti_robot_ignores(sdf->robot, "mesh")) {
        sti_skip(sdf->robot, "<mesh> that could not be found");
        return ST_OK;
    }
    STI_TRY(status);
    const st_Status weighed = add_mass(sdf, link, at, pose, json);
    if (weighed != ST_OK) {
        json_decref(json);
        return weighed;
    }
    json = sti_with(json, "friction", json_real(mu));
    if (restitution > 0) json = sti_with(json, "restitution", json_real(restitution));
    return sti_robot_shape(sdf->robot, link, at, pose, json);
}

static st_Status read_link(const Sdf *sdf, sti_RobotLink *link, const Frame *frame)
{
    const char *gravity = text_of(frame->at, "gravity");
    const sti_Element *inertial = sti_child(frame->at, "inertial");
    const bool from_shapes = inertial != NULL && is_true(sti_attribute(inertial, "auto"));
    STI_TRY(check_children(sdf, frame->at,
                           "inertial collision visual sensor pose gravity self_collide kinematic velocity_decay "
                           "enable_wind must_be_base_link light projector audio_sink audio_source battery "
                           "particle_emitter plugin"));
    if (!frame->model->fixed) {
        STI_TRY(sti_note_problem(sdf->robot, read_inertial(sdf, link, inertial)));
        STI_TRY(sti_mend_inertia(sdf->robot, link));
    }
    if (from_shapes) link->mass = 0, link->centre = vec3(0, 0, 0), link->inertia = (st_Mat3){{0}};
    if (gravity != NULL && !is_true(gravity)) link->gravity = 0;
    for (const sti_Element *at = frame->at->first; at != NULL; at = at->next) {
        if (sti_element_is(at, "collision")) STI_TRY(sti_note_problem(sdf->robot, read_collision(sdf, link, at)));
        if (sti_element_is(at, "visual")) {
            sti_skip(sdf->robot, "<visual>");
            const char *color = text_of(sti_child(at, "material"), "diffuse");
            if (link->color == 0) link->color = sti_color_of(color);
        }
        if (sti_element_is(at, "sensor")) sti_skip(sdf->robot, "<sensor>");
    }
    return ST_OK;
}

/* ---- joints ------------------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    st_JointType type;
} types[] = {{"fixed", ST_JOINT_FIXED},         {"revolute", ST_JOINT_REVOLUTE}, {"continuous", ST_JOINT_REVOLUTE},
             {"prismatic", ST_JOINT_PRISMATIC}, {"ball", ST_JOINT_BALL},         {"universal", ST_JOINT_UNIVERSAL},
             {"revolute2", ST_JOINT_UNIVERSAL}, {"screw", ST_JOINT_SCREW}};
#define N_TYPES ((int)(sizeof types / sizeof types[0]))

/* Reads an axis and converts it to the child's frame. It is given in the frame of the joint, of the model (before
 * 1.5, or by request), or in another one. */
static st_Status read_axis(const Sdf *sdf, const Frame *joint, const Frame *child, const char *name, st_Vec3 *out)
{
    const sti_Element *axis = sti_child(joint->at, name), *xyz = axis != NULL ? sti_child(axis, "xyz") : NULL;
    double x[3] = {0, 0, 1};
    st_Quat in_world = joint->pose.q;
    STI_TRY(numbers(sdf, axis, "xyz", 3, x));
    const char *expressed = xyz != NULL ? sti_attribute(xyz, "expressed_in") : NULL;
    const bool is_given = expressed != NULL && expressed[0] != '\0';
    const bool of_model = is_given ? strcmp(expressed, "__model__") == 0
                                   : is_true(text_of(axis, "use_parent_model_frame")) || sdf->version < 1.5;
    if (of_model) {
        in_world = joint->base->pose.q;
    } else if (is_given) {
        Frame *other = find_frame(sdf, joint->model, expressed);
        if (other == NULL)
            return sti_element_fail(sdf->robot->err, xyz, "expressed_in is \"%.60s\", there is no frame of that name",
                                    expressed);
        STI_TRY(place_frame(sdf, other));
        in_world = other->pose.q;
    }
    *out = rotate_back(child->pose.q, rotate(in_world, vec3_load(x)));
    if (joint->reversed) *out = scale(-1, *out);
    if (norm(*out) > 0) return ST_OK;
    return sti_element_fail(sdf->robot->err, xyz, "is 0 0 0, must have a direction");
}

static const char *scoped(const Sdf *sdf, const Frame *frame)
{
    char name[400];
    snprintf(name, sizeof name, "%s%.100s", frame->model->scope, frame->name);
    return sti_xml_keep_text(sdf->robot->files, name);
}

static st_Status read_joint(const Sdf *sdf, const Frame *frame, const Frame *child, sti_RobotJoint *joint)
{
    const sti_Element *axis = sti_child(frame->at, "axis"), *limit = axis != NULL ? sti_child(axis, "limit") : NULL;
    const sti_Element *dynamics = axis != NULL ? sti_child(axis, "dynamics") : NULL;
    const char *word = sti_attribute(frame->at, "type");
    double lower = -INFINITY, upper = INFINITY, effort = -1, stiffness = 0, rest = 0;
    int type = 0;
    while (type < N_TYPES && (word == NULL || strcmp(word, types[type].word) != 0))
        type++;
    if (type == N_TYPES)
        return sti_element_fail(sdf->robot->err, frame->at,
                                "type is \"%.40s\", must be fixed, revolute, continuous, prismatic, ball, universal, "
                                "screw or gearbox",
                                word != NULL ? word : "");
    joint->at = frame->at;
    joint->type = types[type].type;
    STI_TRY(check_children(sdf, frame->at,
                           "parent child axis axis2 pose physics sensor gearbox_ratio gearbox_reference_body "
                           "thread_pitch screw_thread_pitch"));
    STI_TRY(check_children(sdf, axis, "xyz limit dynamics mimic use_parent_model_frame initial_position"));
    STI_TRY(check_children(sdf, limit, "lower upper effort velocity stiffness dissipation"));
    STI_TRY(check_children(sdf, dynamics, "damping friction spring_reference spring_stiffness"));
    joint->point = rotate_back(child->pose.q, sub(frame->pose.p, child->pose.p));
    if (joint->type == ST_JOINT_FIXED || joint->type == ST_JOINT_BALL) return ST_OK;
    STI_TRY(read_axis(sdf, frame, child, "axis", &joint->axis));
    if (joint->type == ST_JOINT_UNIVERSAL) {
        const sti_Element *axis2 = sti_child(frame->at, "axis2"),
                          *dynamics2 = axis2 != NULL ? sti_child(axis2, "dynamics") : NULL;
        const sti_Element *limit2 = axis2 != NULL ? sti_child(axis2, "limit") : NULL;
        double damping = 0;
        STI_TRY(read_axis(sdf, frame, child, "axis2", &joint->axis_b));
        STI_TRY(numbers(sdf, limit2, "lower", 1, &lower));
        STI_TRY(numbers(sdf, limit2, "upper", 1, &upper));
        STI_TRY(numbers(sdf, dynamics2, "damping", 1, &damping));
        if (lower > upper)
            return sti_element_fail(sdf->robot->err, limit2, "lower is %g, must be <= upper, %g", lower, upper);
        if (lower > -1e15) joint->other_lower = lower;
        if (upper < 1e15) joint->other_upper = upper;
        if (damping != 0) sti_skip(sdf->robot, "<dynamics> of the second axis of a joint");
        lower = -INFINITY, upper = INFINITY;
    }
    if (joint->type == ST_JOINT_SCREW) { /* starts as drawn; metres per turn, or in older files radians per metre of a
                                            left-hand thread */
        double turns = 0;
        STI_TRY(numbers(sdf, frame->at, "thread_pitch", 1, &turns));
        if (turns != 0) joint->pitch = -2 * STI_PI / turns;
        STI_TRY(numbers(sdf, frame->at, "screw_thread_pitch", 1, &joint->pitch));
        joint->start = 0;
        if (joint->pitch == 0)
            return sti_element_fail(sdf->robot->err, frame->at, "has no thread, screw_thread_pitch must not be 0");
    }
    STI_TRY(numbers(sdf, limit, "lower", 1, &lower));
    STI_TRY(numbers(sdf, limit, "upper", 1, &upper));
    STI_TRY(numbers(sdf, limit, "effort", 1, &effort));
    STI_TRY(numbers(sdf, dynamics, "damping", 1, &joint->damping));
    STI_TRY(numbers(sdf, dynamics, "friction", 1, &joint->friction));
    STI_TRY(numbers(sdf, dynamics, "spring_stiffness", 1, &stiffness));
    STI_TRY(numbers(sdf, dynamics, "spring_reference", 1, &rest));
    if (joint->damping < 0 || joint->friction < 0 || stiffness < 0)
        return sti_element_fail(sdf->robot->err, dynamics, "damping, friction and spring_stiffness must be >= 0");
    if (lower > upper)
        return sti_element_fail(sdf->robot->err, limit, "lower is %g, must be <= upper, %g", lower, upper);
    if (word[0] != 'c' && lower > -1e15) joint->lower = lower; /* limits of 1e16 and more mean none */
    if (word[0] != 'c' && upper < 1e15) joint->upper = upper;
    if (effort > 0 && effort < 1e15) joint->effort = effort;
    joint->stiffness = stiffness;
    joint->rest = rest;
    joint->driven = true;
    const sti_Element *mimic = axis != NULL ? sti_child(axis, "mimic") : NULL;
    if (mimic != NULL) { /* x = multiplier (x_other - reference) + offset */
        const Frame *other = find_frame(sdf, frame->model, sti_attribute(mimic, "joint"));
        double offset = 0, reference = 0;
        joint->ratio = 1;
        STI_TRY(numbers(sdf, mimic, "multiplier", 1, &joint->ratio));
        STI_TRY(numbers(sdf, mimic, "offset", 1, &offset));
        STI_TRY(numbers(sdf, mimic, "reference", 1, &reference));
        if (other == NULL || other->kind != 'j')
            return sti_element_fail(sdf->robot->err, mimic, "there is no joint with this name");
        joint->mimics = scoped(sdf, other);
        if (joint->mimics == NULL) return sti_robot_memory(sdf->robot);
        joint->offset = offset - joint->ratio * reference;
    }
    if (joint->lower == joint->upper && joint->type != ST_JOINT_UNIVERSAL)
        joint->type = ST_JOINT_FIXED, joint->driven = false;
    return ST_OK;
}

/* Finds the link named by <parent> or <child> of a joint: a link, or the link of a frame or model; NULL: the world. */
static st_Status find_end(const Sdf *sdf, const Frame *joint, const char *end, Frame **out)
{
    const char *name = text_of(joint->at, end);
    *out = NULL;
    if (name == NULL) return sti_element_fail(sdf->robot->err, joint->at, "has no <%s>, must have one", end);
    if (strcmp(name, "world") == 0) return ST_OK;
    *out = find_frame(sdf, joint->model, name);
    for (int k = 0; k < DEEPEST && *out != NULL && (*out)->kind != 'l'; k++) {
        if ((*out)->kind == 'm') { /* the canonical link of the model, else its first */
            const Model *model = (*out)->inside;
            const char *canonical = sti_attribute(model->at, "canonical_link");
            Frame *first = sdf->frames;
            while (first != NULL && (first->model != model || first->kind != 'l'))
                first = first->next;
            *out = canonical != NULL ? find_frame(sdf, model, canonical) : first;
            continue;
        }
        const char *attached = (*out)->kind == 'f' ? sti_attribute((*out)->at, "attached_to") : NULL;
        *out = find_frame(sdf, (*out)->model, attached != NULL ? attached : "");
    }
    if (*out != NULL && (*out)->kind == 'l') return ST_OK;
    return sti_element_fail(sdf->robot->err, joint->at, "%s is \"%.60s\", there is no link of that name", end, name);
}

/* Adds a link of the robot, placed in its parent; with `joint` NULL it is free, or part of the ground. */
static st_Status grow_link(Sdf *sdf, Frame *frame, const Frame *joint, const Frame *parent)
{
    sti_Robot *robot = sdf->robot;
    const int above = parent != NULL ? parent->link : 0;
    const char *name = scoped(sdf, frame);
    if (robot->n_links == STI_MOST_LINKS)
        return sti_element_fail(robot->err, frame->at, "is one too many, must be at most %d links", STI_MOST_LINKS);
    sti_RobotLink *link = name != NULL ? sti_robot_link(robot, name, frame->at, above) : NULL;
    if (link == NULL) return sti_robot_memory(robot);
    const st_Pose base = parent != NULL ? parent->pose : robot->root;
    frame->link = robot->n_links - 1;
    link->pose.q = quat_product(quat_conjugate(base.q), frame->pose.q);
    link->pose.p = rotate_back(base.q, sub(frame->pose.p, base.p));
    link->joint.floating = joint == NULL && !frame->model->fixed;
    STI_TRY(sti_note_problem(robot, read_link(sdf, link, frame)));
    link = &robot->links[frame->link];
    if (joint == NULL) return ST_OK;
    link->joint.name = scoped(sdf, joint);
    if (link->joint.name == NULL) return sti_robot_memory(robot);
    if (frame->model->fixed) return ST_OK; /* joints of a static model do not move */
    return sti_note_problem(robot, read_joint(sdf, joint, frame, &link->joint));
}

/* A gearbox: with theta_1 from the reference body to the parent about `axis` and theta_2 to the child about `axis2`,
 * theta_2 = -ratio theta_1. Both are coordinates of joints between these links.                                   */
static st_Status add_gearbox(const Sdf *sdf, Frame *gear)
{
    sti_Robot *robot = sdf->robot;
    const char *name = text_of(gear->at, "gearbox_reference_body");
    const Frame *reference = find_frame(sdf, gear->model, name), *ends[2] = {gear->parent, gear->child};
    sti_RobotJoint *joint[2] = {NULL, NULL};
    double ratio = 1, sign[2] = {0, 0};
    STI_TRY(numbers(sdf, gear->at, "gearbox_ratio", 1, &ratio));
    for (int e = 0; e < 2; e++)
        for (const Frame *j = sdf->frames; j != NULL && reference != NULL && ends[e] != NULL; j = j->next) {
            const bool down = j->parent == reference && j->child == ends[e];
            if (j->kind != 'j' || j == gear || (!down && !(j->parent == ends[e] && j->child == reference))) continue;
            sti_RobotLink *link = &robot->links[j->child->link];
            st_Vec3 axis;
            STI_TRY(read_axis(sdf, gear, j->child, e == 0 ? "axis" : "axis2", &axis));
            if (link->joint.type != ST_JOINT_REVOLUTE || link->joint.at != j->at) continue;
            joint[e] = &link->joint;
            sign[e] = (dot(axis, link->joint.axis) < 0 ? -1 : 1) * (down ? 1 : -1);
        }
    if (joint[0] == NULL || joint[1] == NULL || ratio == 0 || joint[1]->mimics != NULL)
        return sti_element_fail(robot->err, gear->at,
                                "must have a gearbox_ratio, and a gearbox_reference_body with revolute joints to its "
                                "parent and its child");
    joint[1]->mimics = joint[0]->name;
    joint[1]->ratio = -ratio * sign[0] * sign[1];
    return ST_OK;
}

/* Adds links from the roots down: first those that are no joint's child, then their children; then rings. */
static st_Status grow(Sdf *sdf)
{
    bool *used = sti_xml_keep(sdf->robot->files, (size_t)sdf->n_joints + 1);
    if (used == NULL) return sti_robot_memory(sdf->robot);
    for (Frame *frame = sdf->frames; frame != NULL; frame = frame->next) {
        STI_TRY(place_frame(sdf, frame));
        if (frame->kind != 'j') continue;
        STI_TRY(find_end(sdf, frame, "child", &frame->child));
        STI_TRY(find_end(sdf, frame, "parent", &frame->parent));
        frame->reversed = frame->child == NULL; /* the link moves in the opposite direction about the same axis */
        if (frame->reversed) frame->child = frame->parent, frame->parent = NULL;
        frame->gears = sti_attribute(frame->at, "type") != NULL &&
                       strcmp(sti_attribute(frame->at, "type"), "gearbox") == 0; /* a gearbox connects no links */
        if (frame->child == NULL)
            return sti_element_fail(sdf->robot->err, frame->at, "parent and child are the world, one must be a link");
    }
    for (int pass = 0; pass < 2; pass++) /* first links without a parent joint, then one of each ring */
        for (Frame *root = sdf->frames; root != NULL; root = root->next) {
            bool child_of = false;
            if (root->kind != 'l' || root->link >= 0) continue;
            for (const Frame *j = sdf->frames; j != NULL && pass == 0; j = j->next)
                child_of = child_of || (j->kind == 'j' && !j->gears && j->child == root);
            Frame *hold = NULL;
            int n = 0;
            for (Frame *j = sdf->frames; j != NULL && child_of; j = j->next) { /* a joint connects it to the world */
                if (j->kind != 'j') continue;
                if (j->child == root && j->parent == NULL && hold == NULL && !used[n] && !j->gears)
                    hold = j, used[n] = true;
                n++;
            }
            if (child_of && hold == NULL) continue;
            STI_TRY(grow_link(sdf, root, hold, NULL));
            for (bool grown = true; grown;) {
                grown = false;
                n = 0;
                for (Frame *j = sdf->frames; j != NULL; j = j->next) {
                    if (j->kind != 'j') continue;
                    const int index = n++;
                    if (used[index] || j->gears || j->parent == NULL || j->parent->link < 0 || j->child->link >= 0)
                        continue;
                    used[index] = grown = true;
                    STI_TRY(grow_link(sdf, j->child, j, j->parent));
                }
            }
        }
    int n = 0;
    for (Frame *j = sdf->frames; j != NULL; j = j->next) {
        if (j->kind != 'j') continue;
        if (used[n++]) continue;
        if (j->gears) {
            STI_TRY(add_gearbox(sdf, j));
            continue;
        }
        /* A joint between two links that are already in the tree becomes a tie. */
        sti_Robot *robot = sdf->robot;
        sti_RobotJoint made = sti_robot_joint(j->at);
        STI_TRY(read_joint(sdf, j, j->child, &made));
        sti_RobotTie tie = {.name = scoped(sdf, j),
                            .links = {j->at, j->child->link, j->parent != NULL ? j->parent->link : 0}};
        tie.type = made.type;
        tie.point = made.point;
        tie.axis = made.axis;
        tie.axis_b = made.axis_b;
        if (tie.name == NULL) return sti_robot_memory(robot);
        STI_TRY(STI_GROW(&robot->allocator, robot->ties, robot->ties_size, robot->n_ties + 1, robot->err));
        robot->ties[robot->n_ties++] = tie;
    }
    return ST_OK;
}

/* Is a link part of the ground? */
static bool is_held(const sti_Robot *robot, int k)
{
    while (k > 0 && robot->links[k].joint.type == ST_JOINT_FIXED && !robot->links[k].joint.floating)
        k = robot->links[k].parent;
    return k <= 0;
}

static bool collides_inside(const Frame *link)
{
    const char *own = text_of(link->at, "self_collide"), *whole = text_of(link->model->at, "self_collide");
    return is_true(own != NULL ? own : whole);
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static st_Status write_settings(const Sdf *sdf, const sti_Element *world)
{
    sti_Reader *reader = sdf->robot->reader;
    const sti_Element *physics = sti_child(world, "physics");
    double gravity[3] = {0, 0, -9.8}, h = 0.001;
    STI_TRY(numbers(sdf, world, "gravity", 3, gravity));
    STI_TRY(numbers(sdf, physics, "gravity", 3, gravity));
    STI_TRY(numbers(sdf, physics, "max_step_size", 1, &h));
    if (!(h > 0)) return sti_element_fail(sdf->robot->err, physics, "max_step_size is %g, must be > 0", h);
    if (!reader->xml) {
        sti_skip(sdf->robot, "<physics>, the scene has its own");
        return ST_OK;
    }
    json_t *made = json_pack("{s:f, s:[f, f, f]}", "h", h, "gravity", gravity[0], gravity[1], gravity[2]);
    if (json_object_set_new(reader->root, "simulation", made) != 0) return sti_robot_memory(sdf->robot);
    return sti_origin(reader, made, world);
}

st_Status sti_sdf_read(sti_Robot *robot, const sti_Element *root)
{
    const char *version = sti_attribute(root, "version"), *end;
    Sdf sdf = {.robot = robot, .version = version != NULL ? sti_number_read(version, &end) : 1.6};
    Model outer = {.scope = "", .pose = robot->root, .fixed = robot->def.fixed};
    const sti_Element *world = sti_child(root, "world"), *all = world != NULL ? world : root;
    int n = 0;
    sti_RobotLink *ground = sti_robot_link(robot, "world", root, -1);
    if (ground == NULL) return sti_robot_memory(robot);
    ground->world = true;
    if (world != NULL) STI_TRY(write_settings(&sdf, world));
    if (world != NULL)
        STI_TRY(check_children(&sdf, world,
                               "model include joint frame light actor plugin physics gravity scene gui audio wind "
                               "magnetic_field atmosphere spherical_coordinates road state population pose"));
    if (world != NULL) STI_TRY(add_frames(&sdf, &outer, &outer, world));
    for (const sti_Element *at = all->first; at != NULL; at = at->next)
        n += sti_element_is(at, "model") || sti_element_is(at, "include");
    const bool single = n == 1 && sdf.frames == NULL; /* joints of the world itself refer to model::link */
    for (const sti_Element *at = all->first; at != NULL; at = at->next) {
        if (sti_element_is(at, "model")) STI_TRY(add_model(&sdf, &outer, at, NULL, NULL, single, 0));
        if (sti_element_is(at, "include")) STI_TRY(add_include(&sdf, &outer, at, 0));
        if (sti_element_is(at, "plugin")) sti_skip(robot, "<plugin>");
        if (sti_element_is(at, "state")) sti_skip(robot, "<state>: models start at their own poses");
        if (sti_element_is(at, "population")) sti_skip(robot, "<population>");
        if (sti_element_is(at, "light") || sti_element_is(at, "actor"))
            sti_skip(robot, at->name[0] == 'l' ? "<light>" : "<actor>");
    }
    if (n == 0) return sti_element_fail(robot->err, root, "has no <model>, must have at least one");
    STI_TRY(grow(&sdf));
    /* Links of one model touch each other only if <self_collide> of the model, or of one of the two, is true. A pair
     * with the ground stays, because the shapes of all fixed models belong to the ground. */
    if (json_is_true(json_object_get(robot->entry, "self_collision"))) return ST_OK;
    for (const Frame *a = sdf.frames; a != NULL; a = a->next) {
        if (a->kind != 'l' || collides_inside(a) || is_held(robot, a->link)) continue;
        for (const Frame *b = a->next; b != NULL; b = b->next) {
            if (b->kind != 'l' || b->model != a->model || collides_inside(b) || is_held(robot, b->link)) continue;
            const bool joined = robot->links[a->link].parent == b->link || robot->links[b->link].parent == a->link;
            if (joined) continue; /* these never touch */
            STI_TRY(STI_GROW(&robot->allocator, robot->apart, robot->apart_size, robot->n_apart + 1, robot->err));
            robot->apart[robot->n_apart++] = (sti_RobotPair){b->at, a->link, b->link};
        }
    }
    return ST_OK;
}
