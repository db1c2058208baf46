/* batch/batch.h -- the data of a batch.
 *
 *     array[which]    worlds x width numbers, row by row, which the user reads and writes
 *     world[k]        its saved state, by st_system_save, including its parameters
 *     worker[i]       systems that worlds are loaded into, one for each thread; all share the compiled scene
 *
 * So a world costs a few kilobytes, and the work memory of a step stays in the cache of the thread that uses it.
 */
#ifndef STI_BATCH_H
#define STI_BATCH_H

#include "base/base.h"
#include "model/row_buffer.h"

#include <stdatomic.h>
#include <stiction/batch.h>
#include <stiction/grains.h>

/* A motor (joint) or one component of an applied force. */
typedef struct sti_BatchControl {
    char *name;
    int joint; /* id of the joint with the motor; 0: a component of a force */
} sti_BatchControl;

/* A column of the sensors: three consecutive ones belong to a joint, or to the contact force of a body. */
typedef struct sti_BatchSensor {
    int joint; /* id; 0: a body */
    char *name;
} sti_BatchSensor;

/* Bytes of st_system_save. */
typedef struct sti_Saved {
    unsigned char *bytes;
    size_t size, room;
} sti_Saved;

typedef struct sti_BatchWorld {
    sti_Saved state;
    st_Sink rows; /* rows at the state, from the last step, if has_rows: they need not be computed again */
    bool has_rows;
    bool varied;     /* it has its own parameters */
    int64_t version; /* of `state`: incremented by every change */
    int keyframe;    /* keyframe of its last reset */
    st_StepInfo info;
    char *message; /* allocated when the world fails first; NULL: none */
} sti_BatchWorld;

/* A system into which worlds are loaded. */
typedef struct sti_BatchWorker {
    st_System *system;
    _Atomic(bool) busy;
    int world; /* the loaded world, in its version `version`; -1: none */
    int64_t version;
} sti_BatchWorker;

#define STI_BATCH_MESSAGE sizeof(((st_Error *)0)->message)

typedef struct sti_Keyframe {
    double t, *q, *v, *sensors, *controls; /* one block at q; controls: NaN if the keyframe has none */
    int number;                            /* number in the scene, from 1; 0: added by the user */
    sti_Saved saved;
} sti_Keyframe;

struct st_Batch {
    st_Allocator allocator;
    st_Scene *scene;
    st_SystemDef system_def;
    int n_worlds, threads;
    bool reset_failed;
    int n_q, n_v;
    sti_BatchWorld *world;
    sti_BatchWorker *worker;  /* n_workers */
    sti_BatchWorker *visitor; /* the worker in which st_batch_system shows worlds */
    int n_workers;
    int *status; /* st_Status of each world */
    int n_failed;
    double *array[ST_N_BATCH_ARRAYS];
    int width[ST_N_BATCH_ARRAYS];
    sti_BatchControl *control;
    int64_t control_capacity;
    sti_BatchSensor *sensor;
    int64_t sensor_capacity;
    int first_measure;   /* column of the first measure of the scene, after joints and bodies */
    int *contact_sensor; /* first column of contact force of body 0, 1, ...; -1: none */
    int n_bodies;
    char **parameter; /* paths of the parameters */
    int n_parameters;
    sti_Keyframe *keyframe;
    int n_keyframes;
    int64_t keyframe_capacity;
    _Atomic(bool) cancelled;
    bool (*ask)(void *ctx); /* NULL: none */
    void *ask_ctx;
};

/* A copy of a name by the allocator; NULL: out of memory. And its release. */
char *sti_batch_copy_text(const st_Allocator *allocator, const char *text);
void sti_batch_free_text(const st_Allocator *allocator, char *text);

#endif
