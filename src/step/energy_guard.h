/* step/energy_guard.h -- steps that gain energy which nothing gives are made again: energy_guard.c. */
#ifndef STI_ENERGY_GUARD_H
#define STI_ENERGY_GUARD_H

#include "step/step.h"

/* Visits of each contact by a solve to 1e-13, at most: a problem without solution is not looked at for ever. */
#define STI_TIGHT_VISITS 3e3

/* Kinetic and potential energy of the state [J], as those before the next piece. */
double sti_energy(const sti_Model *model, sti_State *state, sti_StepWork *work);
/* Is the energy at (q_new, v_new), `taken` into a piece of length h, explained by the works of the piece? If not, the
 * guard trips. */
st_Status sti_judge_energy(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double taken,
                           st_Error *err);
/* A step begins; before another attempt at one that tripped: is there another remedy? If not, why it failed. */
void sti_guard_begin(sti_StepWork *work);
st_Status sti_guard_remedy(const sti_Model *model, sti_StepWork *work, bool *any, st_Error *err);
/* Until the next step begins: step problems to 1e-13, without a limit of work. */
st_Status sti_solve_tightly(const sti_Model *model, sti_StepWork *work, st_Error *err);
st_Status sti_guard_fail(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_Error *err);

#endif
