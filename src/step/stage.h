/* step/stage.h -- the stage being assembled: what the files that fill the step problem share, and nobody else.
 *
 *     stage.c            momentum, joints and springs; the sequence
 *     stage_contacts.c   contacts, motors and joint friction: their rows, laws, drift and compliance
 *     stage_solve.c      the solution of what is assembled
 */
#ifndef STI_STAGE_H
#define STI_STAGE_H

#include "step/contact_model.h"

typedef struct sti_StageWork {
    st_System *system;
    const sti_Stage *stage;
    sti_Assembly *out;
    const st_Allocator *allocator;
    bool impact;          /* eta = 0                                                               */
    bool implicit_forces; /* springs and dampers as soft rows                                      */
    bool gap_drift;
    bool waiting;        /* rows of contacts are made when somebody wants them                    */
    const double *shift; /* q_base - q_star as a velocity, NULL where they are the same            */
    st_Error *err;
} sti_StageWork;

/* stage_contacts.c: the wanted contacts and, after them, the bounded rows: H, w, C and the laws. */
st_Status sti_stage_contacts(sti_StageWork *work);

/* The value of row k at q_base. */
static inline double sti_shifted(const sti_StageWork *work, double value, const sti_RowList *rows, int k)
{
    return work->shift != NULL ? value + sti_row_dot(rows, k, work->shift) : value;
}

static inline double sti_base_speed(const sti_StageWork *work, const sti_RowList *rows, int k)
{
    return sti_row_dot(rows, k, work->stage->v_base);
}

/* Time in which drift is to be gone: in the short piece of a step beside an event not the piece's own length,
 * which would make a velocity out of a gap of 1e-12 m.                                            */
static inline double sti_drift_time(const sti_StageWork *work)
{
    return sti_larger(work->stage->reach, 0.2 * work->system->h_asked);
}

/* What a spring and damper oppose to the row's velocity, per unit of time: eta k + d; where they follow the mean
 * of old and new velocity, a half of it from the new one, at half the step.                       */
static inline double sti_resistance(const sti_StageWork *work, double stiffness, double damping)
{
    double eta = work->stage->eta;
    return work->stage->mean ? 0.25 * eta * stiffness + 0.5 * damping : eta * stiffness + damping;
}

#endif
