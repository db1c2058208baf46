/* step/events/events.h -- events within a step: collisions, impacts, rebounds, take-off, stick and slip. */
#ifndef STI_EVENTS_H
#define STI_EVENTS_H

#include "step/integrate/integrate.h"

/* stick_slip.c: does a contact take off, stick or slip within the step just tried? If so, the step is made again up to
 * there, and *s is its fraction of h. If not, s = 1. */
st_Status sti_find_transition(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double *s,
                              st_StepInfo *info, st_Error *err);
/* Stores the modes of contacts at the end of the step (modes_new). */
st_Status sti_note_modes(const sti_Model *model, const sti_State *state, sti_StepWork *work, double s, st_Error *err);

/* collision_event.c: position and velocity (v may be NULL) at the fraction s of the path from q to q_new. */
void sti_path(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h, double s, double *q,
              double *v);
/* The first new contact on the path, at the fraction *s of the step; 1: none. */
st_Status sti_find_collision(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, double *s,
                             st_Error *err);
st_Status sti_add_event(const sti_Model *model, sti_StepWork *work, const st_EventReport *event, st_Error *err);

/* conservative_advancement.c: `sink` has the contacts at the fraction s of the path. Returns the fraction before which
 * no shapes can overlap that are not held; INFINITY: none at all. patience: allowed overlap, in skins. */
double sti_earliest_touch(const sti_Model *model, const sti_State *state, const sti_StepWork *work, const st_Sink *sink,
                          double h, double s, double patience);

/* root.c: a root of F in [lo, hi] with F(lo) > 0 > F(hi). Returns a place with F >= 0. */
typedef st_Status sti_Function(void *ctx, double s, double *F, st_Error *err);
st_Status sti_find_root(sti_Function *F, void *ctx, double lo, double hi, double F_lo, double F_hi, double small_s,
                        double small_F, double *root, st_Error *err);

/* collision_response.c: moves to the collision at the fraction s of the step, and computes its impact. */
st_Status sti_collide_at(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double s,
                         st_StepInfo *info, st_Error *err);
/* The impact at q_new, where a contact that is not held overlaps (sti_overlaps_unheld). */
st_Status sti_impact_at_end(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, double h,
                            st_StepInfo *info, st_Error *err);
bool sti_overlaps_unheld(const sti_Model *model, const sti_StepWork *work);
/* Limits on the number of events per step. */
bool sti_events_exhausted(const sti_Model *model, const sti_StepWork *work);
st_Status sti_count_exhausted(const sti_Model *model, sti_State *state, sti_StepWork *work, int stalled, st_Error *err);
st_Status sti_count_event(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, double s,
                          st_StepInfo *info, st_Error *err);

/* impact.c: replaces v_new by the velocity after the impact of the active contacts at (t, q_new). `here` has the rows.
 */
st_Status sti_impact(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, st_StepInfo *info,
                     st_Error *err);

/* rebound.c: do contacts that close within a step rebound without event location? */
bool sti_rebounds_unseen(const sti_Model *model);
/* Adds the speeds of rebounds to the step problem of a stage, after its contacts. */
st_Status sti_add_rebounds(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                           st_Error *err);
/* After the solution: solves again with less restitution where it added energy, or where there is no solution.
 * `solved` is then the result of the last solve. */
st_Status sti_limit_rebounds(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                             double *v, st_SolveInfo *solved, st_StepInfo *info, st_Error *err);
/* Integrators of order two: an impact of the rebounding contacts at the state. Leaves the velocity after it in v_base,
 * and adds its impulses to the sums. */
st_Status sti_rebound(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, bool *rebounds,
                      st_StepInfo *info, st_Error *err);

#endif
