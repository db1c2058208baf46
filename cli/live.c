/* A live simulation runs in real time if it is fast enough. Gravity, friction and the spring that drags a body are
 * changes of the scene: a new system is made from a changed copy of the scene and gets the state and history of the
 * old one, so that nothing jumps. */
#include "live.h"

#include "interrupt.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAME     (1.0 / 30) /* between two states sent [s] */
#define BUDGET    0.03       /* computing time between two checks [s] */
#define BEHIND    0.25       /* a larger delay is not caught up [s] */
#define DRAG_RATE 6.0        /* [1/s]: rate at which a dragged body follows */
#define MOST_H    0.2
#define LEAST_H   1e-6

typedef struct Drag {
    int body; /* 0: none */
    st_Vec3 at, to;
} Drag;

struct Live {
    Loaded *loaded;
    const char *key;
    st_System *system;
    st_SystemDef def; /* with the present gravity and h */
    double g, friction, speed;
    Drag drag;
    bool held; /* held at its start until a page reports that it has drawn the scene */
    bool paused, dirty, told;
    int steps_due;
    double ahead; /* simulated time due in real time [s] */
    double clock, next_frame;
    double cost, real; /* seconds per step; simulated over real time */
    double since, since_time;
    st_StepInfo info;
    char message[600];
    char *text; /* the event */
    size_t room, length;
    char *scene; /* result of live_scene(), NULL until it is needed */
};

/* ---- the present scene -------------------------------------------------------------------------- */

static st_Vec3 rotated(st_Quat q, st_Vec3 a)
{
    st_Vec3 u = {q.x, q.y, q.z};
    st_Vec3 c = {u.y * a.z - u.z * a.y + q.w * a.x, u.z * a.x - u.x * a.z + q.w * a.y,
                 u.x * a.y - u.y * a.x + q.w * a.z};
    return (st_Vec3){a.x + 2 * (u.y * c.z - u.z * c.y), a.y + 2 * (u.z * c.x - u.x * c.z),
                     a.z + 2 * (u.x * c.y - u.y * c.x)};
}

/* Adds a critically damped spring from the body's point to the cursor. */
static st_Status add_drag(const Live *live, st_Scene *scene, st_Error *err)
{
    st_BodyId id = {live->drag.body};
    st_BodyDef body;
    double mass = 0;
    st_Mat3 inertia;
    if (live->drag.body == 0 || st_scene_body(scene, id, &body) != ST_OK || body.fixed) return ST_OK;
    if (st_scene_body_mass(scene, id, &mass, &inertia, NULL) != ST_OK || !(mass > 0)) return ST_OK;
    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    st_Vec3 arm = rotated(body.pose.q, live->drag.at); /* springs are defined at the initial poses of bodies */
    spring.a = ST_GROUND;
    spring.b = id;
    spring.point_a = live->drag.to;
    spring.point_b = (st_Vec3){body.pose.p.x + arm.x, body.pose.p.y + arm.y, body.pose.p.z + arm.z};
    spring.rest = 0;
    spring.stiffness = mass * DRAG_RATE * DRAG_RATE * 4;
    spring.damping = 2 * mass * DRAG_RATE * 2;
    spring.name = "the hand";
    return st_scene_add_spring(scene, &spring, NULL, err);
}

static bool rebuild(Live *live)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    size_t size = st_system_save(live->system, NULL, 0);
    void *state = malloc(size);
    bool ok = state != NULL && st_scene_copy(live->loaded->scene, &scene, &err) == ST_OK &&
              st_scene_scale_friction(scene, live->friction, &err) == ST_OK && add_drag(live, scene, &err) == ST_OK &&
              st_system_create(scene, &live->def, &system, &err) == ST_OK;
    if (ok) {
        st_system_save(live->system, state, size);
        ok = st_system_restore(system, state, size, &err) == ST_OK;
    }
    if (ok) {
        st_system_destroy(live->system);
        live->system = system;
    } else {
        st_system_destroy(system);
        snprintf(live->message, sizeof live->message, "%s", err.message[0] != '\0' ? err.message : "out of memory");
    }
    st_scene_destroy(scene);
    free(state);
    live->dirty = false;
    return ok;
}

static bool restart(Live *live, st_Error *err)
{
    st_System *system = NULL;
    live->drag.body = 0;
    if (st_system_create(live->loaded->scene, &live->def, &system, err) != ST_OK) return false;
    st_system_destroy(live->system);
    live->system = system;
    live->message[0] = '\0';
    live->info = st_step_info();
    live->since_time = 0;
    live->since = wall_seconds();
    live->ahead = 0;
    live->told = false;
    st_system_energy(system, &live->info.kinetic, &live->info.potential, NULL);
    live->dirty = live->friction != 1;
    return true;
}

Live *live_create(Loaded *loaded, const char *key, st_Error *err)
{
    Live *live = calloc(1, sizeof *live);
    if (live == NULL) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return NULL;
    }
    live->loaded = loaded;
    live->key = key;
    live->def = loaded->def;
    live->g = sqrt(pow(live->def.gravity.x, 2) + pow(live->def.gravity.y, 2) + pow(live->def.gravity.z, 2));
    live->friction = live->speed = live->real = 1;
    live->held = true;
    live->clock = wall_seconds();
    if (restart(live, err)) return live;
    free(live);
    return NULL;
}

void live_destroy(Live *live)
{
    if (live == NULL) return;
    st_system_destroy(live->system);
    free(live->text);
    free(live->scene);
    free(live);
}

/* ---- events -------------------------------------------------------------------------------------- */

static bool reserve(Live *live, size_t more)
{
    if (live->length + more <= live->room) return true;
    size_t room = 2 * (live->length + more);
    char *grown = realloc(live->text, room);
    if (grown == NULL) return false;
    live->text = grown;
    live->room = room;
    return true;
}

static void put(Live *live, const char *text)
{
    size_t n = strlen(text);
    if (!reserve(live, n + 1)) return;
    memcpy(live->text + live->length, text, n + 1);
    live->length += n;
}

static void put_number_of(Live *live, const char *key, double value)
{
    char text[80];
    snprintf(text, sizeof text, "\"%s\":%.9g,", key, isfinite(value) ? value : 0.0);
    put(live, text);
}

/* Floats as base64, in little-endian order. */
static void put_floats(Live *live, const float *values, size_t count)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)values;
    size_t size = count * sizeof *values;
    if (!reserve(live, size / 3 * 4 + 8)) return;
    char *out = live->text + live->length;
    for (size_t k = 0; k < size; k += 3) {
        unsigned x = b[k], y = k + 1 < size ? b[k + 1] : 0, z = k + 2 < size ? b[k + 2] : 0;
        *out++ = digit[x >> 2];
        *out++ = digit[(x & 3) << 4 | y >> 4];
        *out++ = k + 1 < size ? digit[(y & 15) << 2 | z >> 6] : '=';
        *out++ = k + 2 < size ? digit[z & 63] : '=';
    }
    *out = '\0';
    live->length = (size_t)(out - live->text);
}

static void put_poses(Live *live)
{
    int n = st_scene_body_count(live->loaded->scene);
    float *values = malloc(7 * (size_t)n * sizeof *values);
    put(live, "\"poses\":\"");
    for (int i = 0; i < n && values != NULL; i++) {
        st_Pose p = {0};
        st_system_pose(live->system, (st_BodyId){i + 1}, &p);
        if (!st_system_present(live->system, (st_BodyId){i + 1})) p.p = (st_Vec3){NAN, NAN, NAN};
        const double x[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
        for (int k = 0; k < 7; k++)
            values[7 * i + k] = (float)x[k];
    }
    if (values != NULL) put_floats(live, values, 7 * (size_t)n);
    put(live, "\",");
    free(values);
}

static void put_contacts(Live *live)
{
    int n = st_system_contact_count(live->system), kept = 0;
    float *values = malloc((11 * (size_t)n + 1) * sizeof *values);
    put(live, "\"contacts\":\"");
    for (int i = 0; i < n && values != NULL; i++) {
        st_ContactReport c;
        if (st_system_contact(live->system, i, &c) != ST_OK || c.joint.index1 > 0) continue;
        if (c.force.x == 0 && c.force.y == 0 && c.force.z == 0) continue;
        const double x[11] = {c.a.index1, c.b.index1, c.point.x,  c.point.y,  c.point.z, c.force.x,
                              c.force.y,  c.force.z,  c.normal.x, c.normal.y, c.normal.z};
        for (int k = 0; k < 11; k++)
            values[11 * kept + k] = (float)x[k];
        kept++;
    }
    if (values != NULL) put_floats(live, values, 11 * (size_t)kept);
    put(live, "\",");
    put_number_of(live, "contacts_n", kept);
    free(values);
}

static void put_joints(Live *live)
{
    int n = st_scene_joint_count(live->loaded->scene);
    float *values = malloc((3 * (size_t)n + 1) * sizeof *values);
    put(live, "\"joints\":\"");
    for (int i = 0; i < n && values != NULL; i++) {
        st_JointReport joint = {0};
        st_system_joint(live->system, (st_JointId){i + 1}, ST_FRAME_WORLD, &joint);
        values[3 * i] = (float)joint.force.x;
        values[3 * i + 1] = (float)joint.force.y;
        values[3 * i + 2] = (float)joint.force.z;
    }
    if (values != NULL) put_floats(live, values, 3 * (size_t)n);
    put(live, "\",");
    free(values);
}

/* Messages contain names: quotes and backslashes must not end the string. */
static void put_message(Live *live)
{
    char text[2 * sizeof live->message];
    size_t n = 0;
    for (const char *c = live->message; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') text[n++] = '\\';
        text[n++] = (unsigned char)*c < 0x20 ? ' ' : *c;
    }
    text[n] = '\0';
    put(live, "\"message\":\"");
    put(live, text);
    put(live, "\"}");
}

static void tell(Live *live, Server *server)
{
    live->length = 0;
    put(live, "{");
    put_number_of(live, "t", st_system_time(live->system));
    put_number_of(live, "kinetic", live->info.kinetic);
    put_number_of(live, "potential", live->info.potential);
    put_number_of(live, "work", live->info.work);
    put_number_of(live, "friction", live->info.friction);
    put_number_of(live, "damping", live->info.damping);
    put_number_of(live, "impacts", live->info.impacts);
    put_number_of(live, "correction", live->info.correction);
    put_number_of(live, "scheme", live->info.scheme);
    put_number_of(live, "residual", live->info.solve.residual.natural);
    put_number_of(live, "penetration", live->info.penetration);
    put_number_of(live, "iterations", live->info.solve.iterations);
    put_number_of(live, "cost", live->cost);
    put_number_of(live, "real", live->real);
    put(live, live->paused ? "\"paused\":true," : "\"paused\":false,");
    put_poses(live);
    put_contacts(live);
    put_joints(live);
    put_message(live);
    if (live->text != NULL) stream_event(server, live->text, live->length);
    live->told = true;
}

void live_put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    fputc('"', out);
}

char *live_choices(const Live *live)
{
    static const char form[] = "{\"live\":true,\"choices\":%s,";
    char *choices = st_choices_json(&live->def), *text = NULL;
    if (choices != NULL && (text = malloc(sizeof form + strlen(choices))) != NULL)
        snprintf(text, sizeof form + strlen(choices), form, choices);
    free(choices);
    return text;
}

const char *live_scene(Live *live)
{
    size_t size = 0;
    if (live->scene != NULL) return live->scene;
    char *model = st_scene_model(live->loaded->scene, &live->loaded->def);
    FILE *out = model != NULL ? open_memstream(&live->scene, &size) : NULL;
    if (out != NULL) {
        fputs("\"key\":", out);
        live_put_string(out, live->key);
        fputs(",\"name\":", out);
        live_put_string(out, live->loaded->name);
        fputs(",\"description\":", out);
        live_put_string(out, live->loaded->description);
        fputs(",\"scene\":", out);
        live_put_string(out, live->loaded->text != NULL ? live->loaded->text : "");
        fprintf(out, ",\"model\":%s}", model);
        const bool whole = ferror(out) == 0;
        if (fclose(out) != 0 || !whole) {
            free(live->scene);
            live->scene = NULL;
        }
    }
    free(model);
    return live->scene;
}

/* ---- controls ----------------------------------------------------------------------------------- */

static void control_run(Live *live, const char *word)
{
    st_Error err = {0};
    if (strcmp(word, "pause") == 0) live->paused = true;
    if (strcmp(word, "run") == 0) live->paused = false;
    if (live->held) live->clock = wall_seconds();
    live->held = false; /* "ready" or a control message: the page has drawn the scene */
    if (strcmp(word, "step") == 0) live->paused = true, live->steps_due++;
    if (strcmp(word, "reset") == 0 && !restart(live, &err))
        snprintf(live->message, sizeof live->message, "%s", err.message);
    live->ahead = 0;
}

static void control_drag(Live *live, const char *form, size_t length, double body)
{
    Drag drag = {.body = body >= 1 && body <= st_scene_body_count(live->loaded->scene) ? (int)body : 0};
    double *const numbers[] = {&drag.at.x, &drag.at.y, &drag.at.z, &drag.to.x, &drag.to.y, &drag.to.z};
    static const char *const keys[] = {"ax", "ay", "az", "x", "y", "z"};
    for (int k = 0; k < 6 && drag.body > 0; k++)
        if (!form_number(form, length, keys[k], numbers[k])) return;
    live->drag = drag;
    live->dirty = true;
}

void live_control(Live *live, const char *form, size_t length)
{
    char word[16];
    double x;
    if (form_value(form, length, "do", word, sizeof word)) control_run(live, word);
    if (form_number(form, length, "log_h", &x)) live->def.h = fmin(MOST_H, fmax(LEAST_H, pow(10, x)));
    if (form_number(form, length, "speed", &x)) live->speed = fmin(10, fmax(0.001, x));
    if (form_number(form, length, "friction", &x)) live->friction = fmin(100, fmax(0, x)), live->dirty = true;
    if (form_number(form, length, "gravity", &x) && live->g > 0) {
        const st_Vec3 g = live->loaded->def.gravity;
        double s = fmin(1e4, fmax(-1e4, x)) / live->g;
        live->def.gravity = (st_Vec3){s * g.x, s * g.y, s * g.z};
        live->dirty = true;
    }
    if (form_number(form, length, "drag", &x)) control_drag(live, form, length, x);
    live->told = false;
}

/* ---- time --------------------------------------------------------------------------------------- */

static bool step(Live *live)
{
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    double began = wall_seconds();
    if (interrupt_step(live->system, live->def.h, &info, &err) != ST_OK) {
        snprintf(live->message, sizeof live->message, "%s", err.message);
        live->paused = true;
        return false;
    }
    live->cost += 0.1 * (wall_seconds() - began - live->cost);
    live->info = info;
    live->ahead -= info.h;
    live->told = false;
    return true;
}

void live_advance(Live *live, Server *server)
{
    double now = wall_seconds(), passed = now - live->clock;
    live->clock = now;
    if (live->dirty) rebuild(live);
    if (!live->paused && !live->held) live->ahead = fmin(live->ahead + live->speed * passed, BEHIND);
    while (live->steps_due > 0 && step(live))
        live->steps_due--;
    live->steps_due = 0;
    while (!live->paused && live->ahead > 0 && wall_seconds() - now < BUDGET && step(live))
        ;
    now = wall_seconds();
    if (now - live->since > 1) {
        live->real = fmax(0, (st_system_time(live->system) - live->since_time) / (now - live->since));
        live->since = now;
        live->since_time = st_system_time(live->system);
    }
    if (now < live->next_frame || (live->told && live->paused)) return;
    live->next_frame = now + FRAME;
    tell(live, server);
}
