/* record/curves.c -- reads curves of a recording: of the steps ("kinetic"), of a body ("left.x", its contact forces
 * "left.fz"), between two bodies ("left/ground.force") and of a joint ("hinge.torque"), of a measure ("orifice.mass").
 *
 * A contact force is its impulse without impacts, divided by the time it acts. In a fixed step in which a contact
 * closed the two cannot be separated: the curve has a gap there.
 */
#include "record/curves.h"

#include <jansson.h>
#include <stdlib.h>
#include <stiction/grains.h>

#define BATCH 4096 /* number of steps read at once */

typedef struct Field {
    const char *name, *unit;
} Field;

static const Field step_field[] = {
    {"kinetic", "J"},     {"potential", "J"},   {"total", "J"},       {"residual", ""},
    {"penetration", "m"}, {"joint_error", "m"}, {"iterations", ""},   {"contacts", ""},
    {"collisions", ""},   {"asleep", ""},       {"h", "s"},           {"joint_residual", "m/s, rad/s"},
    {"friction", "J"},    {"work", "J"},        {"damping", "J"},     {"impacts", "J"},
    {"correction", "J"},  {"scheme", "J"},      {"unexplained", "J"}, {NULL, NULL}};
#define FORCE_FIELDS                                                                                                   \
    {"fx", "N"}, {"fy", "N"}, {"fz", "N"},                                                                             \
    {                                                                                                                  \
        "force", "N"                                                                                                   \
    }
static const Field body_field[] = {FORCE_FIELDS,    {"x", "m"},      {"y", "m"},       {"z", "m"},
                                   {"qw", ""},      {"qx", ""},      {"qy", ""},       {"qz", ""},
                                   {"vx", "m/s"},   {"vy", "m/s"},   {"vz", "m/s"},    {"wx", "rad/s"},
                                   {"wy", "rad/s"}, {"wz", "rad/s"}, {"speed", "m/s"}, {NULL, NULL}};
static const Field pair_field[] = {FORCE_FIELDS, {NULL, NULL}};
static const Field joint_field[] = {FORCE_FIELDS,
                                    {"tx", "N m"},
                                    {"ty", "N m"},
                                    {"tz", "N m"},
                                    {"torque", "N m"},
                                    {"coordinate", "m or rad"},
                                    {"speed", "m/s or rad/s"},
                                    {"other", "m or rad"},
                                    {"other_speed", "m/s or rad/s"},
                                    {"motor", "N, N m"},
                                    {"error", "m or rad"},
                                    {"friction", "N, N m"},
                                    {"limit", "N, N m"},
                                    {"spring", "N, N m"},
                                    {"gear", "N, N m"},
                                    {NULL, NULL}};
static const Field spring_field[] = {{"force", "N, N m"},
                                     {"length", "m or rad"},
                                     {"rate", "m/s or rad/s"},
                                     {"fx", "N"},
                                     {"fy", "N"},
                                     {"fz", "N"},
                                     {"tx", "N m"},
                                     {"ty", "N m"},
                                     {"tz", "N m"},
                                     {NULL, NULL}};
#define N_FORCE_FIELDS 4

/* ---- names -------------------------------------------------------------------------------------- */

/* The index of a name in a list of the model; -1: none. */
static int find_name(const json_t *list, const char *name, size_t length)
{
    for (size_t k = 0; k < json_array_size(list); k++) {
        const char *text = json_string_value(json_object_get(json_array_get(list, k), "name"));
        if (text != NULL && strlen(text) == length && strncmp(text, name, length) == 0) return (int)k;
    }
    return -1;
}

/* The number of a body; 0: the ground; -1: there is none. */
static int body_number(const json_t *model, const char *name, size_t length)
{
    if (length == strlen("ground") && strncmp(name, "ground", length) == 0) return 0;
    int place = find_name(json_object_get(model, "bodies"), name, length);
    return place < 0 ? -1 : place + 1;
}

/* Makes it a curve of objects a and b. Returns false if one of them does not exist (< 0) or has no such field. */
static bool set_curve(sti_Curve *curve, sti_CurveKind kind, const Field *fields, const char *field, int a, int b)
{
    int k = 0;
    while (fields[k].name != NULL && strcmp(fields[k].name, field) != 0)
        k++;
    if (a < 0 || b < 0 || fields[k].name == NULL) return false;
    curve->kind = kind;
    curve->field = k;
    curve->unit = fields[k].unit;
    curve->a = a;
    curve->b = b;
    return true;
}

/* The unit of a field: by the type of the joint or spring it is rotational or linear; other units are unchanged. */
static const char *unit_of(const json_t *thing, const char *unit)
{
    static const struct {
        const char *either, *turns, *moves;
    } units[] = {{"m or rad", "rad", "m"}, {"m/s or rad/s", "rad/s", "m/s"}, {"N, N m", "N m", "N"}};
    static const char *const turn[] = {"revolute", "universal", "ball", "angular"}, *const move[] = {"prismatic",
                                                                                                     "distance",
                                                                                                     "linear"};
    const char *type = json_string_value(json_object_get(thing, "type"));
    bool turns = false, moves = false;
    for (size_t k = 0; type != NULL && k < sizeof turn / sizeof turn[0]; k++)
        turns = turns || strcmp(type, turn[k]) == 0;
    for (size_t k = 0; type != NULL && k < sizeof move / sizeof move[0]; k++)
        moves = moves || strcmp(type, move[k]) == 0;
    for (size_t k = 0; (turns || moves) && k < sizeof units / sizeof units[0]; k++)
        if (strcmp(unit, units[k].either) == 0) return turns ? units[k].turns : units[k].moves;
    return unit;
}

bool sti_measured_name(const json_t *model, int index, sti_MeasuredName *out)
{
    const json_t *list = json_object_get(model, "measures");
    int at = 0;
    for (size_t k = 0; index >= 0 && k < json_array_size(list); k++) {
        const char *type = json_string_value(json_object_get(json_array_get(list, k), "type"));
        int t = 0;
        while (type != NULL && t < ST_N_MEASURE_TYPES && strcmp(type, st_measure_type_name((st_MeasureType)t)) != 0)
            t++;
        out->measure = json_string_value(json_object_get(json_array_get(list, k), "name"));
        for (int i = 0; (out->value = st_measure_value_name((st_MeasureType)t, i, &out->unit)) != NULL; i++)
            if (at++ == index) return out->measure != NULL;
    }
    return false;
}

static bool find_thing(const json_t *model, const char *name, const char *dot, sti_Curve *curve)
{
    size_t length = (size_t)(dot - name);
    int body = body_number(model, name, length);
    if (body > 0 && set_curve(curve, STI_CURVE_BODY, body_field, dot + 1, body, 0)) return true;
    static const struct {
        sti_CurveKind kind;
        const Field *fields;
        const char *list;
    } named[] = {{STI_CURVE_JOINT, joint_field, "joints"}, {STI_CURVE_SPRING, spring_field, "springs"}};
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(model, named[k].list);
        if (!set_curve(curve, named[k].kind, named[k].fields, dot + 1, find_name(list, name, length), 0)) continue;
        curve->unit = unit_of(json_array_get(list, (size_t)curve->a), curve->unit);
        return true;
    }
    sti_MeasuredName at;
    for (int k = 0; sti_measured_name(model, k, &at); k++) {
        if (strlen(at.measure) != length || strncmp(at.measure, name, length) != 0 || strcmp(at.value, dot + 1) != 0)
            continue;
        curve->kind = STI_CURVE_MEASURE;
        curve->a = k;
        curve->unit = at.unit;
        return true;
    }

    for (const char *cut = name; cut < dot; cut++)
        if (*cut == '/' &&
            set_curve(curve, STI_CURVE_PAIR, pair_field, dot + 1, body_number(model, name, (size_t)(cut - name)),
                      body_number(model, cut + 1, (size_t)(dot - cut - 1))))
            return true;
    return false;
}

/* Room for the names of all fields of one kind of curve. */
enum { LIST_SIZE = 200 };

static void list_fields(char *out, size_t size, const Field *fields)
{
    size_t n = 0;
    out[0] = '\0';
    for (int k = 0; fields[k].name != NULL && n < size; k++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", k > 0 ? " " : "", fields[k].name);
}

st_Status sti_curve_find(const st_RecordingInfo *info, const char *name, sti_Curve *out, st_Error *err)
{
    const char *dot = strrchr(name, '.');
    *out = (sti_Curve){.name = name};
    if (set_curve(out, STI_CURVE_STEP, step_field, name, 0, 0)) return ST_OK;
    json_t *model = json_loads(info->model, 0, NULL);
    bool found = dot != NULL && find_thing(model, name, dot, out);
    json_decref(model);
    if (found && ((out->kind == STI_CURVE_BODY && out->a > info->n_bodies) ||
                  (out->kind == STI_CURVE_SPRING && out->a >= info->n_springs) ||
                  (out->kind == STI_CURVE_MEASURE && out->a >= info->n_values) ||
                  (out->kind == STI_CURVE_JOINT && out->a >= info->n_joints)))
        return sti_fail(
            err, ST_ERR_FORMAT,
            "the recording is damaged: its scene has \"%.80s\", but its frames have %d bodies and %d joints", name,
            info->n_bodies, info->n_joints);
    if (found) return ST_OK;
    char steps[LIST_SIZE], bodies[LIST_SIZE], joints[LIST_SIZE],
        springs[LIST_SIZE]; /* with names cut to 40 letters, all of them fit */
    list_fields(steps, sizeof steps, step_field);
    list_fields(bodies, sizeof bodies, body_field);
    list_fields(joints, sizeof joints, joint_field);
    list_fields(springs, sizeof springs, spring_field);
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "there is no curve \"%.40s\"; of steps: %s; BODY. with %s; BODY/BODY. with fx fy fz force; JOINT. "
                    "with %s; SPRING. with %s",
                    name, steps, bodies, joints, springs);
}

/* ---- the list of all curves --------------------------------------------------------------------- */

static void list_names(FILE *out, const json_t *list, const char *title, const Field *fields)
{
    char text[LIST_SIZE];
    size_t n = json_array_size(list), most = 24;
    if (n == 0) return;
    list_fields(text, sizeof text, fields);
    fprintf(out, "%s. with %s\n ", title, text);
    for (size_t k = 0; k < n && k < most; k++)
        fprintf(out, "%s%s", k > 0 ? ", " : " ", json_string_value(json_object_get(json_array_get(list, k), "name")));
    if (n > most) fprintf(out, ", and %zu more", n - most);
    fputc('\n', out);
}

char *st_recording_curve_names(const st_Recording *recording)
{
    char *text = NULL, steps[LIST_SIZE];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    json_t *model = json_loads(st_recording_info(recording)->model, 0, NULL);
    list_fields(steps, sizeof steps, step_field);
    fprintf(out, "of the steps\n  %s\n", steps);
    list_names(out, json_object_get(model, "bodies"), "BODY", body_field);
    fputs("BODY/BODY. with fx fy fz force: the contact force of the first body on the second; \"ground\" is allowed\n",
          out);
    list_names(out, json_object_get(model, "joints"), "JOINT", joint_field);
    list_names(out, json_object_get(model, "springs"), "SPRING", spring_field);
    sti_MeasuredName at;
    const char *last = NULL;
    for (int k = 0; sti_measured_name(model, k, &at); last = at.measure, k++)
        if (at.measure == last)
            fprintf(out, " %s", at.value);
        else
            fprintf(out, "%s%s. with %s", k > 0 ? "\n" : "", at.measure, at.value);
    if (last != NULL) fputc('\n', out);

    fclose(out);
    json_decref(model);
    return text;
}

/* ---- values ------------------------------------------------------------------------------------- */

static double length_of(const double *v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

typedef struct Frame {
    st_RecordedFrame row;
    double h; /* time that the forces of the step before it act; 0: the start, or in an old file an impact */
    st_Vec3 *position, *velocity, *spin;
    st_Quat *orientation;
    st_RecordedJoint *joint;
    st_RecordedSpring *spring;
    double *measured;
    st_RecordedContact *contact;
    int64_t contact_capacity;
} Frame;

static double frame_value(const Frame *f, const sti_Curve *curve)
{
    if (curve->kind == STI_CURVE_JOINT) {
        const st_RecordedJoint *j = &f->joint[curve->a];
        const double value[] = {j->force[0],   j->force[1],  j->force[2],  length_of(j->force),
                                j->torque[0],  j->torque[1], j->torque[2], length_of(j->torque),
                                j->coordinate, j->speed,     j->other,     j->other_speed,
                                j->motor,      j->error,     j->friction,  j->limit,
                                j->spring,     j->gear};
        return value[curve->field];
    }
    if (curve->kind == STI_CURVE_SPRING) {
        const st_RecordedSpring *s = &f->spring[curve->a];
        const double value[] = {s->force,          s->length,         s->rate,
                                s->force_on_b[0],  s->force_on_b[1],  s->force_on_b[2],
                                s->torque_on_b[0], s->torque_on_b[1], s->torque_on_b[2]};
        return value[curve->field];
    }
    if (curve->kind == STI_CURVE_MEASURE) return f->measured[curve->a];
    if (curve->kind == STI_CURVE_PAIR || curve->field < N_FORCE_FIELDS) {
        /* The force on b of a pair, or on the body. */
        double force[3] = {0};
        bool pair = curve->kind == STI_CURVE_PAIR;
        int on = pair ? curve->b : curve->a;
        if (!(f->h > 0)) return NAN;
        for (int c = 0; c < f->row.n_contacts; c++) {
            const st_RecordedContact *contact = &f->contact[c];
            int other = contact->b == on ? contact->a : contact->b;
            if ((contact->a != on && contact->b != on) || (pair && other != curve->a)) continue;
            if (length_of(contact->impact) > 0 && length_of(contact->impulse) == 0) return NAN;
            for (int i = 0; i < 3; i++)
                force[i] += (contact->b == on ? 1 : -1) * contact->impulse[i] / f->h;
        }

        /* The field is one of fx, fy, fz, force. */
        return curve->field < 3 ? force[curve->field] : length_of(force);
    }
    st_Vec3 p = f->position[curve->a - 1], v = f->velocity[curve->a - 1], w = f->spin[curve->a - 1];
    st_Quat q = f->orientation[curve->a - 1];
    const double value[] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z,
                            v.x, v.y, v.z, w.x, w.y, w.z, sqrt(v.x * v.x + v.y * v.y + v.z * v.z)};
    return value[curve->field - N_FORCE_FIELDS];
}

static st_Status read_frame(st_Recording *recording, int64_t k, Frame *f, const st_Allocator *allocator, st_Error *err)
{
    st_RecordedStep step;
    STI_TRY(st_recording_frames(recording, k, 1, &f->row, err));
    STI_TRY(st_recording_steps(recording, f->row.step, 1, &step, err));
    f->h = step.force_h > 0 ? step.force_h : step.collisions > 0 ? 0 : step.h;
    STI_TRY(st_recording_bodies(recording, k, f->position, f->orientation, f->velocity, f->spin, err));
    STI_TRY(st_recording_joints(recording, k, f->joint, err));
    STI_TRY(st_recording_springs(recording, k, f->spring, err));
    STI_TRY(st_recording_measures(recording, k, f->measured, err));
    STI_TRY(STI_GROW(allocator, f->contact, f->contact_capacity, f->row.n_contacts, err));
    return st_recording_contacts(recording, f->row.first_contact, f->row.n_contacts, f->contact, err);
}

st_Status sti_curves_read(st_Recording *recording, const sti_Curve *curves, int n, double *step_time,
                          double *frame_time, st_Error *err)
{
    bool frames = false, steps = false;
    for (int c = 0; c < n; c++) {
        steps = steps || curves[c].kind == STI_CURVE_STEP;
        frames = frames || curves[c].kind != STI_CURVE_STEP;
    }
    if (steps) {
        st_Allocator allocator = st_default_allocator();
        int64_t all = st_recording_info(recording)->n_steps;
        st_RecordedStep *batch = sti_alloc(&allocator, BATCH, sizeof *batch);
        st_Status status = batch != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
        for (int64_t first = 0; first < all && status == ST_OK; first += BATCH) {
            int64_t count = all - first < BATCH ? all - first : BATCH;
            status = st_recording_steps(recording, first, count, batch, err);
            for (int64_t k = 0; k < count && status == ST_OK; k++) {
                const st_RecordedStep *s = &batch[k];
                const double value[] = {s->kinetic,    s->potential,   s->kinetic + s->potential,
                                        s->residual,   s->penetration, s->joint_error,
                                        s->iterations, s->contacts,    s->collisions,
                                        s->asleep,     s->h,           s->joint_residual,
                                        s->friction,   s->work,        s->damping,
                                        s->impacts,    s->correction,  s->scheme,
                                        s->unexplained}; /* in the order of step_field */
                step_time[first + k] = s->time;
                for (int c = 0; c < n; c++)
                    if (curves[c].kind == STI_CURVE_STEP) curves[c].value[first + k] = value[curves[c].field];
            }
        }
        sti_free(&allocator, batch, BATCH, sizeof *batch);
        STI_TRY(status);
    }
    if (!frames) return ST_OK;
    const st_RecordingInfo *info = st_recording_info(recording);
    st_Allocator allocator = st_default_allocator();
    int64_t bodies = info->n_bodies + 1, joints = info->n_joints + 1, springs = info->n_springs + 1,
            values = info->n_values + 1;
    Frame f = {.position = sti_alloc(&allocator, bodies, sizeof *f.position),
               .velocity = sti_alloc(&allocator, bodies, sizeof *f.velocity),
               .spin = sti_alloc(&allocator, bodies, sizeof *f.spin),
               .orientation = sti_alloc(&allocator, bodies, sizeof *f.orientation),
               .joint = sti_alloc(&allocator, joints, sizeof *f.joint),
               .spring = sti_alloc(&allocator, springs, sizeof *f.spring),
               .measured = sti_alloc(&allocator, values, sizeof *f.measured)};
    bool ok = f.position != NULL && f.velocity != NULL && f.spin != NULL && f.orientation != NULL && f.joint != NULL &&
              f.spring != NULL && f.measured != NULL;
    st_Status status = ok ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
    for (int64_t k = 0; k < info->n_frames && status == ST_OK; k++) {
        status = read_frame(recording, k, &f, &allocator, err);
        frame_time[k] = f.row.time;
        for (int c = 0; c < n && status == ST_OK; c++)
            if (curves[c].kind != STI_CURVE_STEP) curves[c].value[k] = frame_value(&f, &curves[c]);
    }
    sti_free(&allocator, f.position, bodies, sizeof *f.position);
    sti_free(&allocator, f.velocity, bodies, sizeof *f.velocity);
    sti_free(&allocator, f.spin, bodies, sizeof *f.spin);
    sti_free(&allocator, f.orientation, bodies, sizeof *f.orientation);
    sti_free(&allocator, f.joint, joints, sizeof *f.joint);
    sti_free(&allocator, f.spring, springs, sizeof *f.spring);
    sti_free(&allocator, f.measured, values, sizeof *f.measured);
    STI_RELEASE(&allocator, f.contact, f.contact_capacity);
    return status;
}
