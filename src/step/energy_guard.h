/* step/energy_guard.h -- steps that gain energy without a source are made again: energy_guard.c. */
#ifndef STI_ENERGY_GUARD_H
#define STI_ENERGY_GUARD_H

#include "step/step.h"

/* The largest number of visits of each contact in a solve to 1e-13. A problem without solution must end, too. */
#define STI_TIGHT_VISITS 3e3

/* Stores kinetic and potential energy of the state [J] as the energies before the next piece. Returns their sum. */
double sti_energy(const sti_Model *model, sti_State *state, sti_StepWork *work);
/* Do the works of the piece explain the energy at (q_new, v_new)? `taken` is the time of the piece that was used, of h.
 * If not, the guard trips. */
st_Status sti_judge_energy(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double taken,
                           st_Error *err);
/* Called when a step begins. Then, before another attempt at a step that tripped: is there another remedy? If not, the
 * error that ends the step. */
void sti_guard_begin(sti_StepWork *work);
st_Status sti_guard_remedy(const sti_Model *model, sti_StepWork *work, bool *any, st_Error *err);
/* Solves step problems to 1e-13, without a limit of work, until the next step begins. */
st_Status sti_solve_tightly(const sti_Model *model, sti_StepWork *work, st_Error *err);
st_Status sti_guard_fail(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_Error *err);

#endif
