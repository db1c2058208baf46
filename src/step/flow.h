/* step/flow.h -- bodies that come and go while a system runs: flow.c. */
#ifndef STI_FLOW_H
#define STI_FLOW_H

#include "step/system.h"

/* A body whose presence changes before a step. */
typedef struct sti_FlowChange {
    int body;
    sti_Presence to;
    st_Pose pose;
    st_Vec3 velocity;
} sti_FlowChange;

/* The grains of an inlet, in their order. */
typedef struct sti_FlowInlet {
    int *body;
    double *due; /* [s] */
    int n;
} sti_FlowInlet;

/* A measure of the scene: measure.c. */
typedef struct sti_Measured {
    int wall, shape;       /* wall: its body, and the shape; -1: all of them */
    unsigned char *member; /* by body: its name matches, and it moves        */
    int *inside;           /* flow, by body: it was, before the step         */
    /* of sensors, sensor.c; member: the bodies below its own */
    int body, reference, joint; /* indices; joint: id, 0: none               */
    double before;              /* acceleration: time before the last step   */
    st_Vec3 velocity, spin;     /* likewise: of the frame, world axes        */
} sti_Measured;

struct sti_Flow {
    sti_Measured *measured; /* the scene's n_measures                                */
    double *totals;         /* flow: mass and number so far, two a measure           */
    sti_FlowInlet *inlet;   /* the scene's n_inlets                                   */
    unsigned char *marked;  /* by body: it is among the changes                       */
    sti_FlowChange *change;
    int n_changes;
    int64_t change_capacity;
};

/* Creates work->flow if the scene has inlets, outlets or measures. Refuses an inlet inside a wall and an outlet for
 * bodies that cannot be removed. */
st_Status sti_flow_create(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
/* True if bodies may enter or leave, or if a measure compares the start of a step with its end. */
bool sti_flow_watches(const st_Scene *scene);
void sti_flow_destroy(const sti_Model *model, sti_StepWork *work);
/* Before a step: removes bodies in outlets and inserts grains that are due. Searches the contacts of bodies that the
 * user removed or inserted. */
st_Status sti_flow_step(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);

/* measure.c */
st_Status sti_measures_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_measures_destroy(const sti_Model *model, sti_StepWork *work);
void sti_measures_before_step(const sti_Model *model, sti_State *state, sti_StepWork *work);
void sti_measures_after_step(const sti_Model *model, sti_State *state, sti_StepWork *work);

/* sensor.c: measures of robots. */
st_Status sti_sensor_create(const sti_Model *model, const sti_MeasureEntry *sensor, sti_Measured *out, st_Error *err);
void sti_sensor_before_step(const sti_Model *model, const sti_State *state, const sti_MeasureEntry *sensor,
                            sti_Measured *of);
st_Status sti_sensor_read(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                          const sti_MeasureEntry *sensor, const sti_Measured *of, double *out, st_Error *err);

#endif
