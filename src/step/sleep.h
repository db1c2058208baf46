/* step/sleep.h -- islands at rest are left alone until something touches them (sleep.c). */
#ifndef STI_SLEEP_H
#define STI_SLEEP_H

#include "step/step.h"

/* Can the choices of a def go together with sleep? */
st_Status sti_check_sleep(const st_SystemDef *def, st_Error *err);
st_Status sti_sleep_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_sleep_free(const sti_Model *model, sti_StepWork *work);

/* Before a step of length h: who is to wake does, and who has rested long enough falls asleep. */
st_Status sti_sleep_begin(st_System *system, double h, st_Error *err);
/* The wanted contacts touch sleepers? They wake; then the contacts at the state must be looked up again. */
st_Status sti_wake_touched(st_System *system, bool *woken, st_Error *err);
/* A body, with its island, at once; the contacts at the state are looked up again where somebody woke. */
st_Status sti_wake_now(st_System *system, int body, st_Error *err);
/* Behind a step of length h: who rests, and whose joints are about to move. */
void sti_sleep_end(st_System *system, double h);

/* A new state is looked at: nobody sleeps there. It was refused: who slept goes on. */
void sti_sleep_rouse(const sti_Model *model, sti_StepWork *work);
void sti_sleep_resume(st_System *system);
/* All awake, with no memory of rest: a new state was set. */
void sti_sleep_forget(st_System *system);
/* Flags and lists were read from a saved state: what follows from them. */
void sti_sleep_restored(st_System *system);

/* Impulses of what sleeps, for the reports of a step problem over a time eta. */
void sti_sleep_impulses(sti_StepWork *work, double eta);
st_Status sti_sleep_keep_joints(const sti_Model *model, sti_StepWork *work, double eta, st_Error *err);

#endif
