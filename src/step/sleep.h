/* step/sleep.h -- islands at rest fall asleep until something touches them (sleep.c). */
#ifndef STI_SLEEP_H
#define STI_SLEEP_H

#include "step/step.h"

/* Are the settings of a def allowed with sleep? */
st_Status sti_check_sleep(const st_SystemDef *def, st_Error *err);
st_Status sti_sleep_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_sleep_free(const sti_Model *model, sti_StepWork *work);

/* Before a step of length h: bodies that are due wake, islands that rested long enough fall asleep. */
st_Status sti_sleep_begin(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_Error *err);
/* Wake sleepers that wanted contacts touch; the contacts at the state must then be found again. */
st_Status sti_wake_touched(const sti_Model *model, sti_State *state, sti_StepWork *work, bool *woken, st_Error *err);
/* A body and its island wake before the next step. */
void sti_make_island_due(const sti_Model *model, sti_StepWork *work, int body);
/* Wake a body and its island at once; if any woke, the contacts at the state are found again. */
st_Status sti_wake_now(const sti_Model *model, sti_State *state, sti_StepWork *work, int body, st_Error *err);
/* After a step of length h: times at rest, and sleepers whose joints are about to move. */
void sti_sleep_end(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h);

/* Call the first one before a new state is tried: all bodies are awake. Call the second one if it was refused: sleepers
 * sleep again. */
void sti_sleep_rouse(const sti_Model *model, sti_StepWork *work);
void sti_sleep_resume(const sti_Model *model, sti_State *state, sti_StepWork *work);
/* A new state was set: all bodies are awake, with no time at rest. */
void sti_sleep_forget(const sti_Model *model, const sti_State *state, sti_StepWork *work);
/* Call this after flags and lists were read from a saved state. Computes the data that depends on them. */
void sti_sleep_restored(const sti_Model *model, sti_State *state, sti_StepWork *work);

/* Impulses of sleepers, for the reports of a step problem over a time eta. */
void sti_sleep_impulses(sti_StepWork *work, double eta);
st_Status sti_sleep_keep_joints(const sti_Model *model, sti_StepWork *work, double eta, st_Error *err);

#endif
