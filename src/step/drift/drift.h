/* step/drift/drift.h -- corrections of position and velocity: of the first state, and of drift. */
#ifndef STI_DRIFT_H
#define STI_DRIFT_H

#include "step/system.h"

/* ---- initial.c --------------------------------------------------------------------------------------- */

/* Makes the first state consistent, or refuses it, as the settings say. */
st_Status sti_check_initial(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
/* Do the joints jump in the first step from a state that was set? sti_impact_of_jump makes this an impact, which gives
 * the velocity that the joints allow, if the integrator is of order two. */
bool sti_starts_with_jump(const sti_Model *model, const sti_State *state, const sti_StepWork *work);
st_Status sti_impact_of_jump(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);

/* ---- recovery.c: bounds on the speed of drift correction ------------------------------------------------ */

/* Fills work->joined, unless it is known: the velocities that joints and springs connect. */
st_Status sti_find_joined(const sti_Model *model, sti_StepWork *work, st_Error *err);
/* of[i]: the first velocity of the island of velocity i. Joints, springs and contacts of the step problem connect
 * islands. All velocities of a user's model are one island. */
st_Status sti_find_islands(const sti_Model *model, sti_StepWork *work, int *of, st_Error *err);

/* The share of drift correction that this attempt at the step uses. */
static inline double sti_recovery_share(const sti_StepWork *work, int velocity)
{
    return work->recovery.by_island ? work->recovery.room[velocity] : work->recovery.share;
}
/* The speed w closes a gap (w > 0) or removes overlap (w < 0). Returns the speed to use. */
static inline double sti_recover(const sti_StepWork *work, int velocity, double w)
{
    return w < 0 ? sti_recovery_share(work, velocity) * w : w;
}
/* The first velocity of a body of this contact that moves. */
static inline int sti_moving_velocity(const sti_World *world, const sti_ContactEntry *entry)
{
    return world->body[world->body[entry->b].n_dofs > 0 ? entry->b : entry->a].v_first;
}
/* Before a step is integrated: all drift correction, or the share that the energy guard allows. */
static inline void sti_begin_recovery(sti_StepWork *work)
{
    work->recovery.share = work->guard.recovery;
    work->recovery.by_island = false;
}
/* After a step is integrated: if the correction moves a body faster than correction_speed, the step is integrated again
 * with less correction. */
st_Status sti_bound_recovery(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                             st_Error *err);

/* ---- projection.c -------------------------------------------------------------------------------------- */

/* Replaces q_new by the nearest position (in M) with closed joints and closed active gaps. The caller evaluates `trial`
 * at q_new before; afterwards it is that of the final position. h and v_new are for AP eq. 46 (keep_springs). */
st_Status sti_project(const sti_Model *model, const sti_State *state, sti_StepWork *work, double t, double h,
                      st_Error *err);

#endif
