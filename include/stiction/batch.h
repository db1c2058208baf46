/* stiction/batch.h -- many worlds of one scene, stepped together: for training, sampling and ensembles.
 *
 * States, controls, parameters and sensors are arrays with one row per world. They belong to the batch, keep their
 * addresses, and may be wrapped without a copy. A step reads controls and writes states and sensors. For any number of
 * threads, each world has the same bits as a system that is stepped alone. A world is stored as a saved state
 * (st_system_save) of a few kilobytes, which a thread loads into a system to step it.
 *
 * Only one thread at a time may use a batch, except for st_batch_cancel. Names are valid until the batch is destroyed.
 */
#ifndef STICTION_BATCH_H
#define STICTION_BATCH_H

#include <stiction/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from st_batch_def(). Names are copied. */
typedef struct st_BatchDef {
    int worlds;  /* 1 to 1,000,000                                                            */
    int threads; /* largest number of threads, each with different worlds; 1 without OpenMP   */
    /* Values of the scene that differ between worlds, by the paths of st_system_set_parameter: "bodies/trunk/mass". */
    const char *const *parameters;
    int n_parameters;
    bool reset_failed; /* if a step of a world fails, the world is reset at the end of the call; else it is not
                          stepped until it is reset */
    uint32_t cookie;   /* set by st_batch_def(); leave alone                                */
} st_BatchDef;

/* One world, one thread, no parameters. */
ST_API st_BatchDef st_batch_def(void);

typedef struct st_Batch st_Batch; /* owns its worlds and arrays */

/* Create a batch. The scene is copied. All worlds start in the state of the scene; the step is `h` of system_def.
 * `threads` of system_def is not used: each world has one thread. Several threads call the allocator of system_def. On
 * an error no batch is created. Free it with st_batch_destroy. */
ST_API st_Status st_batch_create(const st_Scene *scene, const st_SystemDef *system_def, const st_BatchDef *def,
                                 st_Batch **out, st_Error *err);
/* Free a batch. NULL is allowed. */
ST_API void st_batch_destroy(st_Batch *batch);

/* The arrays. Each has worlds x width numbers, row by row, and keeps its address until the batch is destroyed. */
typedef enum st_BatchArray {
    ST_BATCH_TIME = 0,   /* width 1 [s]; read only                                             */
    ST_BATCH_Q,          /* coordinates as in st_system_state; written by steps and resets     */
    ST_BATCH_V,          /* velocities as in st_system_state; written by steps and resets      */
    ST_BATCH_CONTROLS,   /* read by steps; NaN: the value in the scene. See st_batch_control_name */
    ST_BATCH_PARAMETERS, /* read by st_batch_apply_parameters                                  */
    ST_BATCH_SENSORS     /* written by steps and resets: values of the current state, forces of the last step */
} st_BatchArray;
#define ST_N_BATCH_ARRAYS 6
/* An array of the batch; NULL: there is no such array, or its width is 0. */
ST_API double *st_batch_array(st_Batch *batch, st_BatchArray which);
/* Number of values per world in an array. */
ST_API int st_batch_width(const st_Batch *batch, st_BatchArray which);
/* Number of worlds. */
ST_API int st_batch_worlds(const st_Batch *batch);

/* Name of a control: first the motors that can be set, "JOINT.motor" (wanted speed, position or force), then six for
 * each applied force, "FORCE.fx" to "FORCE.tz". NULL: there is none. */
ST_API const char *st_batch_control_name(const st_Batch *batch, int index);
/* Name of a parameter, as it was given; NULL: there is none. */
ST_API const char *st_batch_parameter_name(const st_Batch *batch, int index);
/* Name of a sensor. Each joint with a coordinate has "JOINT.coordinate", "JOINT.speed" and "JOINT.motor" (its force).
 * Each body that can move has "BODY.contact_fx", "_fy" and "_fz". The measures of the scene follow, which include the
 * sensors of robot files: "imu.ax". NULL: there is none. */
ST_API const char *st_batch_sensor_name(const st_Batch *batch, int index);

/* Advance worlds by `steps` steps of h each. `mask` has one byte per world; 0: the world is not stepped. NULL: all
 * worlds are stepped. Controls are read once, at the start. If a step of a world fails, the world keeps the state
 * before that step and is not stepped further; the others continue. The call then still returns ST_OK: see
 * st_batch_status. */
ST_API st_Status st_batch_step(st_Batch *batch, int steps, const unsigned char *mask, st_Error *err);
/* Advance world k by steps[k] steps, 0 or more. */
ST_API st_Status st_batch_step_each(st_Batch *batch, const int *steps, st_Error *err);
/* Cancel the current call, or the next one if none is running. It ends before the next step of any world and returns
 * ST_ERR_CANCELLED; worlds keep the steps that were completed. May be called from any thread and from a signal handler.
 * NULL is allowed. */
ST_API void st_batch_cancel(st_Batch *batch);
/* Set a function that is called before each step of a world, from any thread of the batch. If it returns true, the call
 * is cancelled. NULL: no function. */
ST_API void st_batch_cancel_when(st_Batch *batch, bool (*ask)(void *ctx), void *ctx);

/* Status of each world: ST_OK, or the status of the step that failed. With reset_failed it is the status of the last
 * call. Without, it stays until the world is reset. Valid until the batch is destroyed. */
ST_API const int *st_batch_status(const st_Batch *batch);
/* The message of the step that failed in a world; "" if none failed; NULL: there is no such world. Valid until the next
 * call that steps or resets worlds. */
ST_API const char *st_batch_message(const st_Batch *batch, int world);
/* Number of worlds that failed in the last call. */
ST_API int st_batch_failures(const st_Batch *batch);
/* Report of the last step of a world. */
ST_API st_Status st_batch_info(const st_Batch *batch, int world, st_StepInfo *out);
/* A system in the state of a world, for reports: contacts, poses, pictures. Do not step or change it. Valid until the
 * next call of this function or of one that changes the batch. It has no forces of the last step: they are in the
 * sensors. The first call allocates a system. NULL: there is no such world, or no memory. */
ST_API const st_System *st_batch_system(const st_Batch *batch, int world);

/* Store a state for resets: q has n_q numbers, v has n_v. *index receives its number. Keyframe 0 is the start; 1, 2 and
 * so on are those of the scene. A reset to a keyframe that sets motors writes their columns of the controls. */
ST_API st_Status st_batch_add_keyframe(st_Batch *batch, double t, const double *q, const double *v, int *index,
                                       st_Error *err);
/* Reset each world k (mask as in st_batch_step) to keyframe[k], or to keyframe 0 if `keyframe` is NULL. After a reset
 * to keyframe 0, a world continues as a new system does, bit for bit. */
ST_API st_Status st_batch_reset(st_Batch *batch, const unsigned char *mask, const int *keyframe, st_Error *err);
/* Set the states of worlds. Each array has one row per world; only rows of worlds in the mask are read. If t is NULL,
 * the time is 0. If one of the states is refused, no world changes. */
ST_API st_Status st_batch_set_states(st_Batch *batch, const unsigned char *mask, const double *t, const double *q,
                                     const double *v, st_Error *err);

/* Set the parameters of worlds to their rows of the array. Time, coordinates and velocities stay; warm starts are
 * dropped. A world is then the same as a system of a scene with these values. They are part of its state, and resets
 * keep them. All worlds share the compiled scene. If one value is refused (st_system_set_parameter), no world changes.
 */
ST_API st_Status st_batch_apply_parameters(st_Batch *batch, const unsigned char *mask, st_Error *err);

/* Does nothing: the array of sensors is current after every call. It exists for programs that still call it. */
ST_API st_Status st_batch_read_sensors(st_Batch *batch, const unsigned char *mask, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
