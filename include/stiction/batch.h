/* stiction/batch.h -- many worlds of one scene, stepped together: for training, sampling and ensembles.
 *
 * States, controls, parameters and sensors are arrays with one row per world. They belong to the batch, stay where they
 * are, and may be wrapped without a copy. A call reads controls and writes states and sensors. Each world has the bits
 * of a system that is stepped alone, for any number of threads. It is kept as a saved state (st_system_save), which
 * threads load into a system to step it, so that it costs a few kilobytes.
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
    int threads; /* at most so many, each with worlds of its own; 1 without OpenMP            */
    /* Values of the scene that differ between worlds, by the paths of st_system_set_parameter: "bodies/trunk/mass". */
    const char *const *parameters;
    int n_parameters;
    bool reset_failed; /* a world with a step that fails is reset at the end of the call; else it rests until it is
                          reset */
    uint32_t cookie;   /* set by st_batch_def(); leave alone                                */
} st_BatchDef;

/* One world, one thread, no parameters. */
ST_API st_BatchDef st_batch_def(void);

typedef struct st_Batch st_Batch; /* owns its worlds and arrays */

/* Create a batch: all worlds start in the state of the scene, with the step `h` of `system_def`. Setting `threads` of
 * system_def is not used: worlds have one thread each. The allocator of system_def is called from several threads.
 * If anything is refused, there is no batch. Free it with st_batch_destroy.                       */
ST_API st_Status st_batch_create(const st_Scene *scene, const st_SystemDef *system_def, const st_BatchDef *def,
                                 st_Batch **out, st_Error *err);
/* Free a batch. NULL is allowed. */
ST_API void st_batch_destroy(st_Batch *batch);

/* The arrays. Each is worlds x width numbers, row by row, and stays in place as long as the batch. */
typedef enum st_BatchArray {
    ST_BATCH_TIME = 0,   /* width 1 [s]; read only                                             */
    ST_BATCH_Q,          /* coordinates, as st_system_state; written by steps and resets       */
    ST_BATCH_V,          /* velocities, likewise                                               */
    ST_BATCH_CONTROLS,   /* read by steps; NaN: the value of the scene. See st_batch_control_name */
    ST_BATCH_PARAMETERS, /* read by st_batch_apply_parameters                                  */
    ST_BATCH_SENSORS     /* written by steps and resets: at the current state, forces of the last step */
} st_BatchArray;
#define ST_N_BATCH_ARRAYS 6
/* An array of the batch; NULL: there is no such array, or its width is 0. */
ST_API double *st_batch_array(st_Batch *batch, st_BatchArray which);
/* Numbers per world of an array. */
ST_API int st_batch_width(const st_Batch *batch, st_BatchArray which);
/* Number of worlds. */
ST_API int st_batch_worlds(const st_Batch *batch);

/* Name of a control: first the motors that can be set, "JOINT.motor" (wanted speed, position or force), then six for
 * each applied force, "FORCE.fx" to "FORCE.tz". Valid as long as the batch; NULL: there is none.   */
ST_API const char *st_batch_control_name(const st_Batch *batch, int index);
/* Name of a parameter, as it was given; NULL: there is none. */
ST_API const char *st_batch_parameter_name(const st_Batch *batch, int index);
/* Name of a sensor: "JOINT.coordinate", "JOINT.speed" and "JOINT.motor" (its force) of each joint with a coordinate,
 * then "BODY.contact_fx", "_fy", "_fz" of each body that can move, then the measures of the scene, which are also the
 * sensors of robot files: "imu.ax". Valid as long as the batch; NULL: there is none.                       */
ST_API const char *st_batch_sensor_name(const st_Batch *batch, int index);

/* Advance worlds by `steps` steps of h each. `mask`: one byte per world, 0: it rests; NULL: all. Controls are read
 * once, at the start. A world with a step that fails keeps the state before that step and rests; the others go on.
 * Returns ST_OK if the call could be done, however worlds fared: st_batch_status.                                  */
ST_API st_Status st_batch_step(st_Batch *batch, int steps, const unsigned char *mask, st_Error *err);
/* Advance world k by steps[k] steps, 0 or more. */
ST_API st_Status st_batch_step_each(st_Batch *batch, const int *steps, st_Error *err);
/* End the call under way, or the next one, before the next step of a world: it returns ST_ERR_CANCELLED, and worlds are
 * where they are. May be called from any thread and from a signal handler. NULL is allowed.       */
ST_API void st_batch_cancel(st_Batch *batch);
/* A function that is called before each step of a world, from any thread of the batch: true cancels. NULL: none. */
ST_API void st_batch_cancel_when(st_Batch *batch, bool (*ask)(void *ctx), void *ctx);

/* Status of each world: ST_OK, or the status of the step that failed. With reset_failed it is that of the last call,
 * else a world that failed rests until it is reset. Valid as long as the batch.                    */
ST_API const int *st_batch_status(const st_Batch *batch);
/* Why a world failed; "" if it did not; NULL: there is no such world. */
ST_API const char *st_batch_message(const st_Batch *batch, int world);
/* Number of worlds that failed in the last call. */
ST_API int st_batch_failures(const st_Batch *batch);
/* Report of the last step of a world. */
ST_API st_Status st_batch_info(const st_Batch *batch, int world, st_StepInfo *out);
/* A system in the state of a world, for reports: contacts, poses, pictures. Do not step or change it. Valid until the
 * next call of this function or one that changes the batch. Forces of the last step are in the sensors alone. NULL:
 * there is no such world, or no memory.                                                           */
ST_API const st_System *st_batch_system(const st_Batch *batch, int world);

/* Keep a state for resets: n_q and n_v numbers. *index receives its number. Keyframe 0 is the start, 1, 2 and so on are
 * those of the scene; a reset to one that sets motors writes their columns of the controls.       */
ST_API st_Status st_batch_add_keyframe(st_Batch *batch, double t, const double *q, const double *v, int *index,
                                       st_Error *err);
/* Put worlds (mask as in st_batch_step) back to keyframe[k], or all to keyframe 0 if `keyframe` is NULL. A world that
 * is put back to keyframe 0 continues as a new system does, bit for bit.                              */
ST_API st_Status st_batch_reset(st_Batch *batch, const unsigned char *mask, const int *keyframe, st_Error *err);
/* Put worlds in given states: one row per world in each array, of which those in the mask are read. t may be NULL: 0.
 * If one of the states is refused, no world has changed.                                           */
ST_API st_Status st_batch_set_states(st_Batch *batch, const unsigned char *mask, const double *t, const double *q,
                                     const double *v, st_Error *err);

/* Set the parameters of worlds to their rows of the array; time, coordinates and velocities stay, warm starts do not. A
 * world is then the same as a system of a scene with these values. They are part of its state, and resets keep them;
 * the compiled scene is shared by all worlds. If one value is refused (st_system_set_parameter), no world has changed.
 */
ST_API st_Status st_batch_apply_parameters(st_Batch *batch, const unsigned char *mask, st_Error *err);

/* Nothing is left to be done: the array of sensors is current after every call. For programs that still call it. */
ST_API st_Status st_batch_read_sensors(st_Batch *batch, const unsigned char *mask, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
