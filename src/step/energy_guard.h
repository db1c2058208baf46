/* step/energy_guard.h -- steps that gain energy which nothing gives are made again: energy_guard.c. */
#ifndef STI_ENERGY_GUARD_H
#define STI_ENERGY_GUARD_H

#include "step/step.h"

/* Kinetic and potential energy of the state [J], as those before the next piece. */
double sti_energy(st_System *system);
/* Is the energy at (q_new, v_new), `taken` into a piece of length h, explained by the works of the piece? */
bool sti_energy_explained(st_System *system, double h, double taken);
/* A step begins; before another attempt at one that tripped: is there another remedy? If not, why it failed. */
void sti_guard_begin(st_System *system);
st_Status sti_guard_remedy(st_System *system, bool *any, st_Error *err);
/* Until the next step begins: step problems to 1e-13, without a limit of work. */
st_Status sti_solve_tightly(const sti_Model *model, sti_StepWork *work, st_Error *err);
st_Status sti_guard_fail(st_System *system, double h, st_Error *err);

#endif
