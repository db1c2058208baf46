/* batch/batch.c -- N worlds of one scene, stepped together over threads.
 *
 * Worlds are independent, so the result does not depend on their distribution over threads. A thread takes a world,
 * loads its saved state into a system, steps it and saves it again; st_system_restore continues with the same bits.
 */
#include "batch/batch.h"

#include "math/parallel.h"
#include "step/step.h"

#include <stdio.h>

#define MOST_WORLDS  1000000
#define MOST_THREADS 256

st_BatchDef st_batch_def(void)
{
    return (st_BatchDef){.worlds = 1, .threads = 1, .cookie = STI_COOKIE};
}

char *sti_batch_copy_text(const st_Allocator *allocator, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = sti_alloc(allocator, (int64_t)size, 1);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

void sti_batch_free_text(const st_Allocator *allocator, char *text)
{
    if (text != NULL) sti_free(allocator, text, (int64_t)strlen(text) + 1, 1);
}

/* ---- over the worlds ---------------------------------------------------------------------------- */

typedef void WorldWork(void *ctx, int world);
typedef struct Worlds {
    WorldWork *work;
    void *ctx;
} Worlds;

static void work_range(void *ctx, int64_t first, int64_t end)
{
    const Worlds *worlds = ctx;
    for (int64_t k = first; k < end; k++)
        worlds->work(worlds->ctx, (int)k);
}

static void for_each_world(const st_Batch *b, WorldWork *work, void *ctx)
{
    sti_team_for(b->threads, b->n_worlds, 1, work_range, &(Worlds){work, ctx});
}

static double *row_of(const st_Batch *b, st_BatchArray which, int world)
{
    return b->array[which] + (int64_t)world * b->width[which];
}

static void sense(const st_Batch *b, const st_System *system, double *row);

/* Copies the state and the sensors of a world to its rows. */
static void show_state(st_Batch *b, const st_System *system, int world)
{
    *row_of(b, ST_BATCH_TIME, world) = st_system_time(system);
    st_system_state(system, row_of(b, ST_BATCH_Q, world), row_of(b, ST_BATCH_V, world));
    sense(b, system, row_of(b, ST_BATCH_SENSORS, world));
}

/* ---- worlds in systems -------------------------------------------------------------------------- */

static st_Status no_batch_memory(const st_Batch *b, st_Error *err)
{
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for a batch of %d worlds", b->n_worlds);
}

static st_Status save_into(const st_Batch *b, const st_System *system, sti_Saved *out, st_Error *err)
{
    const size_t size = st_system_save(system, out->bytes, out->room);
    if (size > out->room) { /* the old contents are not needed; an eighth more avoids frequent growth */
        const size_t room = size + size / 8;
        unsigned char *bytes = sti_alloc(&b->allocator, (int64_t)room, 1);
        if (bytes == NULL) return no_batch_memory(b, err);
        sti_free(&b->allocator, out->bytes, (int64_t)out->room, 1);
        out->bytes = bytes;
        out->room = room;
        st_system_save(system, out->bytes, out->room);
    }
    out->size = size;
    return ST_OK;
}

static st_Status copy_saved(const st_Batch *b, const sti_Saved *from, sti_Saved *to, st_Error *err)
{
    if (to->room < from->size) {
        unsigned char *bytes = sti_alloc(&b->allocator, (int64_t)from->size, 1);
        if (bytes == NULL) return no_batch_memory(b, err);
        sti_free(&b->allocator, to->bytes, (int64_t)to->room, 1);
        to->bytes = bytes;
        to->room = from->size;
    }
    memcpy(to->bytes, from->bytes, from->size);
    to->size = from->size;
    return ST_OK;
}

/* Takes a free worker, if possible the one with the world's number. There are as many as threads. */
static sti_BatchWorker *take_worker(st_Batch *b, int world)
{
    for (int k = world % b->n_workers;; k = (k + 1) % b->n_workers)
        if (!atomic_exchange(&b->worker[k].busy, true)) return &b->worker[k];
}

/* take_rows: moves the stored rows of the world to the worker. */
static st_Status load_into(const st_Batch *b, sti_BatchWorker *worker, int world, bool take_rows, st_Error *err)
{
    sti_BatchWorld *w = &b->world[world];
    if (worker->world == world && worker->version == w->version) return ST_OK;
    /* The stored rows lack the pattern of joints, which the worker has after its first step. */
    st_Sink *rows = take_rows && w->has_rows && worker->system->work.trial.laid_out ? &w->rows : NULL;
    worker->world = -1;
    if (rows != NULL) w->has_rows = false;
    STI_TRY(sti_restore_saved(&worker->system->model, &worker->system->state, &worker->system->work, w->state.bytes,
                              w->state.size, false, rows, err));
    worker->world = world;
    worker->version = w->version;
    return ST_OK;
}

/* Loads a world into a system and returns it. *worker must be released afterwards. */
static st_System *open_world(st_Batch *b, int world, sti_BatchWorker **worker, st_Error *err)
{
    *worker = take_worker(b, world);
    return load_into(b, *worker, world, true, err) == ST_OK ? (*worker)->system : NULL;
}

/* Saves and shows the state after a change. */
static st_Status close_world(st_Batch *b, int world, sti_BatchWorker *worker, st_Error *err)
{
    st_Status status = ST_OK;
    if (worker->world == world && worker->system != NULL) { /* it is already loaded */
        status = save_into(b, worker->system, &b->world[world].state, err);
        show_state(b, worker->system, world);
        worker->version = ++b->world[world].version;
        if (status != ST_OK) worker->world = -1;
        /* The next world uses the worker, so the rows are stored with this world. */
        st_System *system = worker->system;
        sti_BatchWorld *w = &b->world[world];
        w->has_rows = false;
        if (status == ST_OK && b->n_worlds > b->n_workers &&
            sti_rows_can_be_kept(&system->model, &system->state, &system->work)) {
            sti_row_buffer_exchange(&system->work.here, &w->rows);
            w->has_rows = true;
            worker->world = -1;
        }
    }
    atomic_store(&worker->busy, false);
    return status;
}

/* ---- create ------------------------------------------------------------------------------------- */

static int64_t keyframe_width(const st_Batch *b)
{
    return (int64_t)b->n_q + b->n_v + b->width[ST_BATCH_SENSORS] + b->width[ST_BATCH_CONTROLS];
}

static void free_saved(const st_Batch *b, sti_Saved *saved)
{
    sti_free(&b->allocator, saved->bytes, (int64_t)saved->room, 1);
}

static void free_world(const st_Batch *b, sti_BatchWorld *world)
{
    free_saved(b, &world->state);
    if (world->rows.allocator.free != NULL) sti_row_buffer_free(&world->rows);
    sti_free(&b->allocator, world->message, STI_BATCH_MESSAGE, 1);
}

void st_batch_destroy(st_Batch *b)
{
    if (b == NULL) return;
    const st_Allocator a = b->allocator;
    for (int k = 0; b->world != NULL && k < b->n_worlds; k++)
        free_world(b, &b->world[k]);
    sti_free(&a, b->world, b->n_worlds, sizeof *b->world);
    for (int k = 0; b->worker != NULL && k < b->n_workers; k++)
        st_system_destroy(b->worker[k].system);
    sti_free(&a, b->worker, b->n_workers, sizeof *b->worker);
    if (b->visitor != NULL) st_system_destroy(b->visitor->system);
    sti_free(&a, b->visitor, 1, sizeof *b->visitor);
    sti_free(&a, b->status, b->n_worlds, sizeof *b->status);
    for (int which = 0; which < ST_N_BATCH_ARRAYS; which++)
        sti_free(&a, b->array[which], (int64_t)b->n_worlds * b->width[which], sizeof(double));
    for (int k = 0; k < b->width[ST_BATCH_CONTROLS]; k++)
        sti_batch_free_text(&a, b->control[k].name);
    STI_RELEASE(&a, b->control, b->control_capacity);
    for (int k = 0; k < b->width[ST_BATCH_SENSORS]; k++)
        sti_batch_free_text(&a, b->sensor[k].name);
    STI_RELEASE(&a, b->sensor, b->sensor_capacity);
    sti_free(&a, b->contact_sensor, b->n_bodies, sizeof *b->contact_sensor);
    for (int k = 0; b->parameter != NULL && k < b->n_parameters; k++)
        sti_batch_free_text(&a, b->parameter[k]);
    sti_free(&a, b->parameter, b->n_parameters, sizeof *b->parameter);
    for (int k = 0; k < b->n_keyframes; k++) {
        sti_free(&a, b->keyframe[k].q, keyframe_width(b), sizeof(double));
        free_saved(b, &b->keyframe[k].saved);
    }
    STI_RELEASE(&a, b->keyframe, b->keyframe_capacity);
    st_scene_destroy(b->scene);
    sti_free(&a, b, 1, sizeof *b);
}

static st_Status add_control(st_Batch *b, int joint, const char *name, const char *what, st_Error *err)
{
    const int n = b->width[ST_BATCH_CONTROLS];
    char text[400];
    snprintf(text, sizeof text, "%s.%s", name, what);
    STI_TRY(STI_GROW(&b->allocator, b->control, b->control_capacity, n + 1, err));
    b->control[n].name = sti_batch_copy_text(&b->allocator, text);
    if (b->control[n].name == NULL) return no_batch_memory(b, err);
    b->control[n].joint = joint;
    b->width[ST_BATCH_CONTROLS]++;
    return ST_OK;
}

static st_Status add_sensor(st_Batch *b, sti_BatchSensor sensor, const char *name, const char *what, st_Error *err)
{
    const int n = b->width[ST_BATCH_SENSORS];
    char text[400];
    snprintf(text, sizeof text, "%s.%s", name, what);
    STI_TRY(STI_GROW(&b->allocator, b->sensor, b->sensor_capacity, n + 1, err));
    sensor.name = sti_batch_copy_text(&b->allocator, text);
    if (sensor.name == NULL) return no_batch_memory(b, err);
    b->sensor[n] = sensor;
    b->width[ST_BATCH_SENSORS]++;
    return ST_OK;
}

/* Failures of worlds that are processed in threads; the error of the first world is returned. */
typedef struct Making {
    st_Batch *batch;
    const unsigned char *mask;
    sti_BatchWorld *made; /* of each world */
    const double *t, *q, *v;
    const int *steps;
    int n_steps;
    st_Error *error; /* of each world */
} Making;

static bool begin_making(Making *m, st_Batch *b, st_Error *err)
{
    m->batch = b;
    m->error = sti_alloc(&b->allocator, b->n_worlds, sizeof *m->error);
    if (m->error == NULL) no_batch_memory(b, err);
    return m->error != NULL;
}

static st_Status finish_making(Making *m, st_Error *err)
{
    st_Status status = ST_OK;
    for (int k = 0; k < m->batch->n_worlds && status == ST_OK; k++)
        if (m->error[k].status != ST_OK)
            status = sti_fail(err, m->error[k].status, "world %d: %s", k, m->error[k].message);
    sti_free(&m->batch->allocator, m->error, m->batch->n_worlds, sizeof *m->error);
    return status;
}

static void clone_worker(void *ctx, int k)
{
    const Making *m = ctx;
    if (k > 0 && k < m->batch->n_workers)
        st_system_clone(m->batch->worker[0].system, &m->batch->worker[k].system, &m->error[k]);
}

static st_Status make_workers(st_Batch *b, st_Error *err)
{
    Making m = {0};
    const int n = b->threads < b->n_worlds ? b->threads : b->n_worlds;
    b->world = sti_alloc(&b->allocator, b->n_worlds, sizeof *b->world);
    b->status = sti_alloc(&b->allocator, b->n_worlds, sizeof *b->status);
    b->worker = sti_alloc(&b->allocator, n, sizeof *b->worker);
    b->visitor = sti_alloc(&b->allocator, 1, sizeof *b->visitor);
    if (b->world == NULL || b->status == NULL || b->worker == NULL || b->visitor == NULL)
        return no_batch_memory(b, err);
    b->n_workers = n;
    b->visitor->world = -1;
    STI_TRY(st_system_create(b->scene, &b->system_def, &b->worker[0].system, err));
    b->n_q = st_system_n_q(b->worker[0].system), b->n_v = st_system_n_v(b->worker[0].system);
    for (int k = 0; k < n; k++)
        b->worker[k].world = -1;
    if (!begin_making(&m, b, err)) return ST_ERR_MEMORY;
    for_each_world(b, clone_worker, &m);
    return finish_making(&m, err);
}

/* Stores the state of a system as a keyframe for resets. */
static st_Status keep_keyframe(st_Batch *b, const st_System *system, int number, int *index, st_Error *err)
{
    STI_TRY(STI_GROW(&b->allocator, b->keyframe, b->keyframe_capacity, b->n_keyframes + 1, err));
    sti_Keyframe *to = &b->keyframe[b->n_keyframes];
    *to = (sti_Keyframe){.t = st_system_time(system), .q = sti_alloc(&b->allocator, keyframe_width(b), sizeof(double))};
    if (to->q == NULL) return no_batch_memory(b, err);
    to->v = to->q + b->n_q;
    to->sensors = to->v + b->n_v;
    st_system_state(system, to->q, to->v);
    sense(b, system, to->sensors);
    to->controls = to->sensors + b->width[ST_BATCH_SENSORS];
    to->number = number;
    const int n_controls = b->width[ST_BATCH_CONTROLS];
    for (int c = 0; c < n_controls; c++)
        to->controls[c] = NAN;
    if (number > 0) STI_TRY(st_system_controls(system, to->controls, n_controls, err));
    const st_Status status = save_into(b, system, &to->saved, err);
    if (status != ST_OK) {
        sti_free(&b->allocator, to->q, keyframe_width(b), sizeof(double));
        return status;
    }
    if (index != NULL) *index = b->n_keyframes;
    b->n_keyframes++;
    return ST_OK;
}

/* The targets of motors in a keyframe stay in effect after a reset. */
static void show_controls(const st_Batch *b, const sti_Keyframe *keyframe, int world)
{
    double *row = row_of(b, ST_BATCH_CONTROLS, world);
    for (int c = 0; c < b->width[ST_BATCH_CONTROLS]; c++)
        if (!isnan(keyframe->controls[c])) row[c] = keyframe->controls[c];
}

static st_Status make_batch(st_Batch *b, const st_Scene *scene, const st_BatchDef *def, st_Error *err)
{
    STI_TRY(st_scene_copy(scene, &b->scene, err));
    b->parameter = sti_alloc(&b->allocator, def->n_parameters, sizeof *b->parameter);
    if (b->parameter == NULL && def->n_parameters > 0) return no_batch_memory(b, err);
    b->n_parameters = b->width[ST_BATCH_PARAMETERS] = def->n_parameters;
    for (int k = 0; k < def->n_parameters; k++) {
        if (def->parameters[k] == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "parameter %d of a batch is NULL", k);
        b->parameter[k] = sti_batch_copy_text(&b->allocator, def->parameters[k]);
        if (b->parameter[k] == NULL) return no_batch_memory(b, err);
    }

    static const char *const components[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    for (int k = 1; k <= st_scene_joint_count(b->scene); k++) {
        st_JointDef joint;
        STI_TRY(st_scene_joint(b->scene, (st_JointId){k}, &joint));
        if (joint.motor.type != ST_MOTOR_NONE && joint.motor.type != ST_MOTOR_MOTION)
            STI_TRY(add_control(b, k, joint.name, "motor", err));
    }
    for (int k = 1; k <= st_scene_force_count(b->scene); k++) {
        st_ForceDef force;
        STI_TRY(st_scene_force(b->scene, (st_ForceId){k}, &force));
        for (int c = 0; c < 6; c++)
            STI_TRY(add_control(b, 0, force.name, components[c], err));
    }

    static const char *const of_joint[] = {"coordinate", "speed", "motor"};
    static const char *const of_body[] = {"contact_fx", "contact_fy", "contact_fz"};
    for (int k = 1; k <= st_scene_joint_count(b->scene); k++) {
        st_JointDef joint;
        STI_TRY(st_scene_joint(b->scene, (st_JointId){k}, &joint));
        for (int i = 0; i < 3 && joint.coordinate != ST_COORDINATE_DEFAULT; i++)
            STI_TRY(add_sensor(b, (sti_BatchSensor){.joint = k}, joint.name, of_joint[i], err));
    }
    b->n_bodies = st_scene_body_count(b->scene) + 1;
    b->contact_sensor = sti_alloc(&b->allocator, b->n_bodies, sizeof *b->contact_sensor);
    if (b->contact_sensor == NULL) return no_batch_memory(b, err);
    b->contact_sensor[0] = -1;
    for (int k = 1; k < b->n_bodies; k++) {
        st_BodyDef body;
        STI_TRY(st_scene_body(b->scene, (st_BodyId){k}, &body));
        const bool moves = !body.fixed && body.locks != ST_LOCK_ALL;
        b->contact_sensor[k] = moves ? b->width[ST_BATCH_SENSORS] : -1;
        for (int i = 0; i < 3 && moves; i++)
            STI_TRY(add_sensor(b, (sti_BatchSensor){0}, body.name, of_body[i], err));
    }
    b->first_measure = b->width[ST_BATCH_SENSORS];
    for (int k = 0; k < st_scene_measure_count(b->scene); k++) {
        st_MeasureDef measure;
        const char *value;
        STI_TRY(st_scene_measure(b->scene, k, &measure));
        for (int i = 0; (value = st_measure_value_name(measure.type, i, NULL)) != NULL; i++)
            STI_TRY(add_sensor(b, (sti_BatchSensor){0}, measure.name, value, err));
    }
    STI_TRY(make_workers(b, err));

    b->width[ST_BATCH_TIME] = 1, b->width[ST_BATCH_Q] = b->n_q, b->width[ST_BATCH_V] = b->n_v;
    for (int which = 0; which < ST_N_BATCH_ARRAYS; which++) {
        const int64_t n = (int64_t)b->n_worlds * b->width[which];
        b->array[which] = sti_alloc(&b->allocator, n, sizeof(double));
        if (b->array[which] == NULL && n > 0) return no_batch_memory(b, err);
    }
    for (int64_t k = 0; k < (int64_t)b->n_worlds * b->width[ST_BATCH_CONTROLS]; k++)
        b->array[ST_BATCH_CONTROLS][k] = NAN;
    for (int p = 0; p < b->n_parameters; p++) {
        double value = 0;
        STI_TRY(st_system_parameter(b->worker[0].system, b->parameter[p], &value, err));
        for (int k = 0; k < b->n_worlds; k++)
            row_of(b, ST_BATCH_PARAMETERS, k)[p] = value;
    }
    const st_System *system = b->worker[0].system;
    st_system_state(system, row_of(b, ST_BATCH_Q, 0), row_of(b, ST_BATCH_V, 0));
    STI_TRY(keep_keyframe(b, system, b->system_def.keyframe, NULL, err));
    for (int k = 1; k <= st_scene_keyframe_count(b->scene); k++) {
        const sti_Saved *start = &b->keyframe[0].saved;
        STI_TRY(st_system_restore(b->worker[0].system, start->bytes, start->size, err));
        STI_TRY(st_system_set_keyframe(b->worker[0].system, k, err));
        STI_TRY(keep_keyframe(b, system, k, NULL, err));
    }
    STI_TRY(st_system_restore(b->worker[0].system, b->keyframe[0].saved.bytes, b->keyframe[0].saved.size, err));
    for (int k = 0; k < b->n_worlds; k++) {
        STI_TRY(copy_saved(b, &b->keyframe[0].saved, &b->world[k].state, err));
        b->world[k].info = st_step_info();
        show_state(b, system, k);
        show_controls(b, &b->keyframe[0], k);
        b->world[k].rows = (st_Sink){.allocator = b->allocator, .n_v = b->n_v};
        if (b->n_worlds > b->n_workers) STI_TRY(sti_row_buffer_reserve(&b->world[k].rows, &system->work.here, err));
    }
    /* Rows move between worlds and workers of any thread, so they may not be in the arena of a worker. */
    for (int k = 0; k < b->n_workers; k++) {
        sti_StepWork *work = &b->worker[k].system->work;
        sti_row_buffer_free(&work->here), sti_row_buffer_free(&work->trial);
        work->here = work->trial = (st_Sink){.allocator = b->allocator, .n_v = b->n_v};
        b->worker[k].world = -1;
    }
    return ST_OK;
}

st_Status st_batch_create(const st_Scene *scene, const st_SystemDef *system_def, const st_BatchDef *def, st_Batch **out,
                          st_Error *err)
{
    STI_NEED(scene, err);
    STI_NEED(out, err);
    *out = NULL;
    STI_CHECK_DEF(system_def, "st_system_def", err);
    STI_CHECK_DEF(def, "st_batch_def", err);
    if (def->worlds < 1 || def->worlds > MOST_WORLDS)
        return sti_fail(err, ST_ERR_ARGUMENT, "a batch of %d worlds, must be 1 to %d", def->worlds, MOST_WORLDS);
    if (def->threads < 1 || def->threads > MOST_THREADS)
        return sti_fail(err, ST_ERR_ARGUMENT, "a batch with %d threads, must be 1 to %d", def->threads, MOST_THREADS);
    if (def->n_parameters < 0 || (def->n_parameters > 0 && def->parameters == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "a batch of %d parameters, which must be given", def->n_parameters);
    st_Batch *b = sti_alloc(&system_def->allocator, 1, sizeof *b);
    if (b == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a batch of %d worlds", def->worlds);
    b->allocator = system_def->allocator;
    b->system_def = *system_def;
    b->system_def.threads = 1;
    b->n_worlds = def->worlds;
    b->threads = def->threads < def->worlds ? def->threads : def->worlds;
    b->reset_failed = def->reset_failed;
    const st_Status status = make_batch(b, scene, def, err);
    if (status == ST_OK)
        *out = b;
    else
        st_batch_destroy(b);
    return status;
}

/* ---- queries -------------------------------------------------------------------------------------- */

static bool is_array(st_BatchArray which)
{
    return (int)which >= 0 && (int)which < ST_N_BATCH_ARRAYS;
}

static bool is_world(const st_Batch *b, int world)
{
    return b != NULL && world >= 0 && world < b->n_worlds;
}

double *st_batch_array(st_Batch *b, st_BatchArray which)
{
    return b != NULL && is_array(which) ? b->array[which] : NULL;
}

int st_batch_width(const st_Batch *b, st_BatchArray which)
{
    return b != NULL && is_array(which) ? b->width[which] : 0;
}

int st_batch_worlds(const st_Batch *b)
{
    return b != NULL ? b->n_worlds : 0;
}

const char *st_batch_control_name(const st_Batch *b, int index)
{
    return index >= 0 && index < st_batch_width(b, ST_BATCH_CONTROLS) ? b->control[index].name : NULL;
}

const char *st_batch_parameter_name(const st_Batch *b, int index)
{
    return index >= 0 && index < st_batch_width(b, ST_BATCH_PARAMETERS) ? b->parameter[index] : NULL;
}

const char *st_batch_sensor_name(const st_Batch *b, int index)
{
    return index >= 0 && index < st_batch_width(b, ST_BATCH_SENSORS) ? b->sensor[index].name : NULL;
}

const int *st_batch_status(const st_Batch *b)
{
    return b != NULL ? b->status : NULL;
}

const char *st_batch_message(const st_Batch *b, int world)
{
    if (!is_world(b, world)) return NULL;
    if (b->status[world] == ST_OK) return "";
    return b->world[world].message != NULL ? b->world[world].message : "failed, and there was no memory to keep why";
}

int st_batch_failures(const st_Batch *b)
{
    return b != NULL ? b->n_failed : 0;
}

st_Status st_batch_info(const st_Batch *b, int world, st_StepInfo *out)
{
    if (!is_world(b, world) || out == NULL) return ST_ERR_ARGUMENT;
    *out = b->world[world].info;
    return ST_OK;
}

const st_System *st_batch_system(const st_Batch *b, int world)
{
    if (!is_world(b, world)) return NULL;
    sti_BatchWorker *visitor = b->visitor;
    if (visitor->system == NULL && st_system_clone(b->worker[0].system, &visitor->system, NULL) != ST_OK) return NULL;
    return load_into(b, visitor, world, false, NULL) == ST_OK ? visitor->system : NULL;
}

void st_batch_cancel(st_Batch *b)
{
    if (b != NULL) atomic_store(&b->cancelled, true);
}

void st_batch_cancel_when(st_Batch *b, bool (*ask)(void *ctx), void *ctx)
{
    if (b != NULL) b->ask = ask, b->ask_ctx = ctx;
}

/* ---- step --------------------------------------------------------------------------------------- */

static void note_failure(st_Batch *b, int world, st_Status status, const st_Error *err)
{
    sti_BatchWorld *w = &b->world[world];
    b->status[world] = (int)status;
    if (w->message == NULL) w->message = sti_alloc(&b->allocator, STI_BATCH_MESSAGE, 1);
    if (w->message != NULL) memcpy(w->message, err->message, STI_BATCH_MESSAGE);
}

static st_Status put_world_back(st_Batch *b, int world, int keyframe, st_Error *err)
{
    sti_BatchWorld *w = &b->world[world];
    const sti_Keyframe *to = &b->keyframe[keyframe];
    w->has_rows = false;
    if (!w->varied) {
        STI_TRY(copy_saved(b, &to->saved, &w->state, err));
        w->version++;
        *row_of(b, ST_BATCH_TIME, world) = to->t;
        memcpy(row_of(b, ST_BATCH_Q, world), to->q, (size_t)b->n_q * sizeof *to->q);
        memcpy(row_of(b, ST_BATCH_V, world), to->v, (size_t)b->n_v * sizeof *to->v);
        if (b->width[ST_BATCH_SENSORS] > 0)
            memcpy(row_of(b, ST_BATCH_SENSORS, world), to->sensors,
                   (size_t)b->width[ST_BATCH_SENSORS] * sizeof *to->sensors);
    } else {
        sti_BatchWorker *worker; /* it has the parameters of the world, which are kept */
        st_System *system = open_world(b, world, &worker, err);
        st_Status status = system != NULL ? ST_OK : ST_ERR_MEMORY;
        if (status == ST_OK)
            status = sti_restore_saved(&system->model, &system->state, &system->work, to->saved.bytes, to->saved.size,
                                       true, NULL, err);
        if (status != ST_OK) worker->world = -1;
        const st_Status closed = close_world(b, world, worker, status == ST_OK ? err : NULL);
        STI_TRY(status);
        STI_TRY(closed);
    }
    show_controls(b, to, world);
    w->keyframe = keyframe;
    w->info = st_step_info();
    return ST_OK;
}

static void step_world(void *ctx, int k)
{
    const Making *m = ctx;
    st_Batch *b = m->batch;
    const int n = m->steps != NULL ? m->steps[k] : m->mask == NULL || m->mask[k] ? m->n_steps : 0;
    st_Error err = {0};
    sti_BatchWorker *worker;
    if (b->reset_failed) b->status[k] = ST_OK;
    if (n == 0 || b->status[k] != ST_OK) return;
    st_System *system = open_world(b, k, &worker, &err);
    st_Status status = system != NULL ? st_system_set_controls(system, row_of(b, ST_BATCH_CONTROLS, k),
                                                               b->width[ST_BATCH_CONTROLS], &err)
                                      : err.status;
    for (int i = 0; i < n && status == ST_OK; i++) {
        if (b->ask != NULL && b->ask(b->ask_ctx)) st_batch_cancel(b);
        if (atomic_load_explicit(&b->cancelled, memory_order_relaxed)) break;
        /* One step of h, in several parts if located collisions end steps early. */
        const double h = b->system_def.h;
        for (double rest = h; rest > 1e-6 * h && status == ST_OK;) {
            st_StepInfo info = st_step_info();
            status = st_system_step(system, rest, &info, &err);
            if (status != ST_OK) break;
            b->world[k].info = info;
            rest -= info.h;
        }
    }
    st_Error why = {0};
    const st_Status closed = close_world(b, k, worker, &why);
    if (status == ST_OK && closed != ST_OK) status = closed, err = why;
    if (status == ST_OK) return;
    note_failure(b, k, status, &err);
    if (b->reset_failed && put_world_back(b, k, b->world[k].keyframe, &why) != ST_OK) note_failure(b, k, status, &err);
}

static st_Status step_all(st_Batch *b, Making *m, st_Error *err)
{
    m->batch = b;
    for_each_world(b, step_world, m);
    b->n_failed = 0;
    for (int k = 0; k < b->n_worlds; k++)
        b->n_failed += b->status[k] != ST_OK;
    if (atomic_exchange(&b->cancelled, false)) return sti_fail(err, ST_ERR_CANCELLED, "a batch was cancelled");
    return ST_OK;
}

st_Status st_batch_step(st_Batch *batch, int steps, const unsigned char *mask, st_Error *err)
{
    STI_NEED(batch, err);
    if (steps < 0) return sti_fail(err, ST_ERR_ARGUMENT, "st_batch_step: %d steps, must be 0 or more", steps);
    return step_all(batch, &(Making){.n_steps = steps, .mask = mask}, err);
}

st_Status st_batch_step_each(st_Batch *batch, const int *steps, st_Error *err)
{
    STI_NEED(batch, err);
    STI_NEED(steps, err);
    for (int k = 0; k < batch->n_worlds; k++)
        if (steps[k] < 0) return sti_fail(err, ST_ERR_ARGUMENT, "world %d: %d steps, must be 0 or more", k, steps[k]);
    return step_all(batch, &(Making){.steps = steps}, err);
}

/* ---- other states ------------------------------------------------------------------------------- */

st_Status st_batch_add_keyframe(st_Batch *b, double t, const double *q, const double *v, int *index, st_Error *err)
{
    STI_NEED(b, err);
    STI_NEED(q, err);
    STI_NEED(v, err);
    sti_BatchWorker *worker = take_worker(b, 0);
    worker->world = -1;
    st_Status status = st_system_restore(worker->system, b->keyframe[0].saved.bytes, b->keyframe[0].saved.size, err);
    if (status == ST_OK) status = st_system_set_state(worker->system, t, q, v, err);
    if (status == ST_OK) status = keep_keyframe(b, worker->system, 0, index, err);
    atomic_store(&worker->busy, false);
    return status;
}

static void reset_world(void *ctx, int k)
{
    const Making *m = ctx;
    st_Batch *b = m->batch;
    if (m->mask != NULL && !m->mask[k]) return;
    if (put_world_back(b, k, m->steps != NULL ? m->steps[k] : 0, &m->error[k]) == ST_OK) b->status[k] = ST_OK;
}

st_Status st_batch_reset(st_Batch *b, const unsigned char *mask, const int *keyframe, st_Error *err)
{
    STI_NEED(b, err);
    Making m = {.mask = mask, .steps = keyframe};
    for (int k = 0; keyframe != NULL && k < b->n_worlds; k++)
        if ((mask == NULL || mask[k]) && (keyframe[k] < 0 || keyframe[k] >= b->n_keyframes))
            return sti_fail(err, ST_ERR_ARGUMENT, "world %d: keyframe %d, must be 0 to %d", k, keyframe[k],
                            b->n_keyframes - 1);
    if (!begin_making(&m, b, err)) return ST_ERR_MEMORY;
    for_each_world(b, reset_world, &m);
    return finish_making(&m, err);
}

/* Makes a copy of the world in the new state. It replaces the world after all copies have been made. */
static void copy_to_state(void *ctx, int k)
{
    const Making *m = ctx;
    st_Batch *b = m->batch;
    st_Error *err = &m->error[k];
    sti_BatchWorld *made = &m->made[k];
    const double t = m->t != NULL ? m->t[k] : 0.0, *q = m->q + (int64_t)k * b->n_q, *v = m->v + (int64_t)k * b->n_v;
    if (m->mask != NULL && !m->mask[k]) return;
    sti_BatchWorker *worker;
    st_System *system = open_world(b, k, &worker, err);
    worker->world = -1;
    if (system != NULL && st_system_set_state(system, t, q, v, err) == ST_OK) save_into(b, system, &made->state, err);
    made->varied = b->world[k].varied;
    atomic_store(&worker->busy, false);
}

/* Swaps the new worlds with the old ones, or drops the new ones. */
static st_Status settle(st_Batch *b, sti_BatchWorld *made, bool ok, st_Error *err)
{
    st_Status status = ST_OK;
    for (int k = 0; k < b->n_worlds; k++) {
        if (ok && made[k].state.bytes != NULL) {
            sti_BatchWorker *worker;
            st_Error why = {0};
            STI_EXCHANGE(sti_Saved, b->world[k].state, made[k].state);
            b->world[k].varied = made[k].varied;
            b->world[k].has_rows = false;
            b->world[k].version++;
            b->status[k] = ST_OK;
            b->world[k].info = st_step_info();
            const st_System *system = open_world(b, k, &worker, &why);
            if (system != NULL) show_state(b, system, k);
            atomic_store(&worker->busy, false);
            if (system == NULL) status = sti_fail(err, why.status, "world %d: %s", k, why.message);
        }
        free_world(b, &made[k]);
    }
    sti_free(&b->allocator, made, b->n_worlds, sizeof *made);
    return status;
}

static st_Status replace_worlds(st_Batch *b, WorldWork *work, Making m, st_Error *err)
{
    m.made = sti_alloc(&b->allocator, b->n_worlds, sizeof *m.made);
    if (m.made == NULL) return no_batch_memory(b, err);
    st_Status status = ST_ERR_MEMORY;
    if (begin_making(&m, b, err)) {
        for_each_world(b, work, &m);
        status = finish_making(&m, err);
    }
    const st_Status settled = settle(b, m.made, status == ST_OK, err);
    return status != ST_OK ? status : settled;
}

st_Status st_batch_set_states(st_Batch *b, const unsigned char *mask, const double *t, const double *q, const double *v,
                              st_Error *err)
{
    STI_NEED(b, err);
    STI_NEED(q, err);
    STI_NEED(v, err);
    return replace_worlds(b, copy_to_state, (Making){.mask = mask, .t = t, .q = q, .v = v}, err);
}

/* Makes a copy of the world with the parameters of its row, in the state of its rows. */
static void copy_with_parameters(void *ctx, int k)
{
    const Making *m = ctx;
    st_Batch *b = m->batch;
    st_Error *err = &m->error[k];
    sti_BatchWorld *made = &m->made[k];
    if (m->mask != NULL && !m->mask[k]) return;
    sti_BatchWorker *worker;
    st_System *system = open_world(b, k, &worker, err);
    worker->world = -1;
    if (system != NULL &&
        sti_set_parameters(&system->model, &system->state, &system->work, (const char *const *)b->parameter,
                           row_of(b, ST_BATCH_PARAMETERS, k), b->n_parameters, err) == ST_OK &&
        st_system_set_state(system, *row_of(b, ST_BATCH_TIME, k), row_of(b, ST_BATCH_Q, k), row_of(b, ST_BATCH_V, k),
                            err) == ST_OK)
        save_into(b, system, &made->state, err);
    made->varied = true;
    atomic_store(&worker->busy, false);
}

st_Status st_batch_apply_parameters(st_Batch *b, const unsigned char *mask, st_Error *err)
{
    STI_NEED(b, err);
    if (b->n_parameters == 0) return sti_fail(err, ST_ERR_ARGUMENT, "the batch was made without parameters");
    return replace_worlds(b, copy_with_parameters, (Making){.mask = mask}, err);
}

/* ---- sensors ------------------------------------------------------------------------------------ */

static void sense(const st_Batch *b, const st_System *system, double *row)
{
    for (int s = 0; s < b->first_measure; s += 3) { /* three columns per joint or body */
        row[s] = row[s + 1] = row[s + 2] = 0;
        if (b->sensor[s].joint > 0)
            sti_joint_drive(&system->model, &system->state, &system->work, b->sensor[s].joint - 1, &row[s]);
    }
    for (int c = 0; c < st_system_contact_count(system); c++) {
        int body[2];
        st_Vec3 force;
        if (!sti_contact_push(&system->model, &system->state, &system->work, c, body, &force)) continue;
        const int at[2] = {b->contact_sensor[body[0]], b->contact_sensor[body[1]]};
        for (int side = 0; side < 2; side++) {
            const double sign = side == 0 ? -1 : 1;
            if (at[side] < 0) continue;
            row[at[side]] += sign * force.x;
            row[at[side] + 1] += sign * force.y;
            row[at[side] + 2] += sign * force.z;
        }
    }
    double *to = row + b->first_measure;
    for (int k = 0; k < st_scene_measure_count(b->scene); k++) {
        int n = 0;
        if (st_system_measure(system, k, to, &n, NULL) != ST_OK) /* out of memory: unknown */
            for (int i = 0; i < n; i++)
                to[i] = NAN;
        to += n;
    }
}

st_Status st_batch_read_sensors(st_Batch *b, const unsigned char *mask, st_Error *err)
{
    (void)mask;
    STI_NEED(b, err);
    return ST_OK;
}
