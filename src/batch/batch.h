/* batch/batch.h -- the data of a batch.
 *
 *     array[which]    worlds x width numbers, row by row: what the user reads and writes
 *     world[k]        its saved state, st_system_save's, which has its parameters
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

/* A column of the sensors: three in a row belong to a joint, or to the contact force of a body. */
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
    st_Sink rows; /* those at the state, as the last step left them, if has_rows: they are not made again */
    bool has_rows;
    bool varied;     /* it has parameters of its own                                 */
    int64_t version; /* of `state`: grows with every change                          */
    int keyframe;    /* that it was put back to last                                 */
    st_StepInfo info;
    char *message; /* malloc'd by the allocator when a world fails first; NULL: none */
} sti_BatchWorld;

/* A system that worlds are loaded into. */
typedef struct sti_BatchWorker {
    st_System *system;
    _Atomic(bool) busy;
    int world; /* that is loaded, in its version `version`; -1: none */
    int64_t version;
} sti_BatchWorker;

#define STI_BATCH_MESSAGE sizeof(((st_Error *)0)->message)

typedef struct sti_Keyframe {
    double t, *q, *v, *sensors, *controls; /* one block at q; controls: NaN where it says none */
    int number;                            /* of the scene, from 1; 0: it was given */
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
    sti_BatchWorker *visitor; /* one that st_batch_system shows worlds in */
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
    int *contact_sensor; /* of body 0, 1, ...: its first column of contact force; -1: none */
    int n_bodies;
    char **parameter; /* paths */
    int n_parameters;
    sti_Keyframe *keyframe;
    int n_keyframes;
    int64_t keyframe_capacity;
    _Atomic(bool) cancelled;
    bool (*ask)(void *ctx); /* NULL: none */
    void *ask_ctx;
};

/* Copy of a name by the allocator; NULL: no memory. And away with it. */
char *sti_batch_copy_text(const st_Allocator *allocator, const char *text);
void sti_batch_free_text(const st_Allocator *allocator, char *text);

#endif
