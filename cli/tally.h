/* cli/tally.h -- counters of a run, and how it ended. */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include "load.h"

/* A joint that is open by a tenth of its size, or of a radian, has failed (st_StepInfo.joint_opening). */
#define OPEN_LIMIT 0.1

/* Number of collisions stored with their bodies; further ones are only counted. */
#define MOST_COLLISIONS 10000

typedef struct Collision {
    double time;
    st_BodyId a, b;
    st_Vec3 point;
    double impulse;       /* normal [N s] */
    double before, after; /* normal velocity [m/s] */
} Collision;

typedef enum Outcome { RUN_FINISHED, RUN_DIVERGED, RUN_INTERRUPTED, RUN_FAILED, RUN_UNSOLVED } Outcome;

typedef struct Tally {
    long long steps, collisions, transitions, problems, failures, fallbacks, overlapping, accumulations;
    double accumulated_time;   /* time when events first accumulated [s] */
    double impact_gain;        /* energy that impact laws added [J] */
    long long repeated;        /* steps that were repeated, because they gained energy without a source */
    long long drift_fallbacks; /* steps in which drift mean did not converge */
    long long limited;         /* impacts with restitution that was scaled down */
    double residual_limit;     /* of the settings */
    long long above_limit;     /* steps with a residual above it */
    long long open_joints;     /* steps that left a joint open by more than OPEN_LIMIT */
    double worst_opening, worst_opening_time, last_opening; /* as in st_StepInfo; of the last step */
    st_JointId worst_opening_joint;
    bool closing;               /* joints were open at the start, and close in each step */
    double worst_residual_time; /* [s] */
    char worst_island[200];     /* in words */
    int max_contacts;
    double worst_gap, worst_joint_error, worst_residual, worst_joint_residual;
    double worst_gap_time, worst_joint_error_time, worst_joint_residual_time; /* [s] */
    st_BodyId worst_gap_a, worst_gap_b;
    st_JointId worst_joint;
    long long struck;  /* contacts that closed in a fixed step */
    double start_jump; /* largest jump of a joint's speed at the start */
    st_JointId start_joint;
    int n_joints;
    double kinetic_start, potential_start, kinetic, potential;
    double friction;                                                /* work of friction since the start [J] */
    double work, damping, impacts, correction, scheme, unexplained; /* as in st_StepInfo */
    double largest_increase, largest_increase_time;                 /* of the total energy in one step */
    double wall, cpu;                                               /* [s] */
    Collision *list;
    int n_list, capacity;
    Outcome outcome;
    char message[600]; /* why it did not finish; "" */
} Tally;

/* Counts the start: fills *info as for a step of length 0. */
bool tally_start(Tally *tally, const Loaded *loaded, st_StepInfo *info, st_Error *err);
void tally_step(Tally *tally, const st_System *system, const st_StepInfo *info);
void tally_free(Tally *tally);

/* Length of the next step, 0 at the end. */
double next_step(double time, double h, double end);
const char *outcome_name(Outcome outcome);

#endif
