/* step/impulse_sums.h -- the impulses of a step, summed over its stages and pieces. impulses.h has the functions. */
#ifndef STI_IMPULSE_SUMS_H
#define STI_IMPULSE_SUMS_H

#include "model/world.h"

#include <stiction/problem.h>

/* Impulses come in two kinds. */
enum { STI_FINITE, STI_IMPACT };

/* Kinds of loads on a velocity. */
typedef enum sti_Load {
    STI_LOAD_APPLIED, /* the forces k of the model, weight included                                  */
    STI_LOAD_GYROSCOPIC,
    STI_LOAD_SPRING,
    STI_LOAD_JOINT, /* joints with their motors, limits, friction, springs and rotors                */
    STI_LOAD_CONTACT
} sti_Load;
#define STI_N_LOADS 5

/* The impulse of a joint on its body b, at the joint's point, world axes [N s, N m s], and the impulse along its
 * coordinate. All members are doubles, because sums treat them as an array. */
typedef struct sti_JointImpulse {
    st_Vec3 linear, angular;
    double motor, friction, limit, spring, other_limit, gear;
} sti_JointImpulse;

/* Of a spring on its body b, at its point there, world axes. All doubles. */
typedef struct sti_SpringImpulse {
    st_Vec3 linear, angular;
} sti_SpringImpulse;

/* The impulse of a contact with this id and element. It is saved as bytes and therefore has no padding. */
typedef struct sti_ContactImpulse {
    uint64_t id;
    int element, dim, a, b, shape_a, shape_b;
    st_Vec3 point, normal, tangent; /* of the last stage that had it                                */
    double gap;
    double velocity[ST_MAX_DIM];   /* relative, at the end of the piece                                */
    double r[2][ST_MAX_DIM];       /* finite, of impacts [N s]                                         */
    st_Vec3 linear[2], angular[2]; /* on b, at the point, world axes                                 */
} sti_ContactImpulse;

typedef struct sti_StepImpulses {
    double time;     /* that the finite ones act for [s]                                             */
    bool some[2];    /* finite (springs are), impacts: not all of them are 0                         */
    double *load[2]; /* STI_N_LOADS x n_v: finite, impacts                                           */
    sti_JointImpulse *joint[2];
    sti_SpringImpulse *spring;
    sti_ContactImpulse *contact; /* by id, then element                                              */
    int n;
    int64_t capacity;
} sti_StepImpulses;

/* All arrays are NULL if a step is one stage without events. */
typedef struct sti_ImpulseSums {
    sti_StepImpulses stage; /* of the step problem at hand                                           */
    sti_StepImpulses piece; /* since the last event */
    sti_StepImpulses way;   /* and the mean velocity that moves q                                     */
    sti_StepImpulses total; /* of the step                                                           */
    double stage_weight;    /* the total, but for contacts, is this times that of the step problem; 0: it is summed */
    int n_joints, n_springs;
} sti_ImpulseSums;

#endif
