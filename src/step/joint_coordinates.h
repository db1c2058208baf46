/* step/joint_coordinates.h -- step problems solved in the coordinates of joints (setting `coordinates`). */
#ifndef STI_JOINT_COORDINATES_H
#define STI_JOINT_COORDINATES_H

#include "step/step.h"

/* Is `joint` refused with the other choices, by name? */
st_Status sti_check_coordinates(const st_SystemDef *def, st_Error *err);
/* The trees of a system that uses them, at coordinates q; none otherwise. */
st_Status sti_joint_coordinates_create(const sti_Model *model, sti_StepWork *work, const double *q, st_Error *err);
void sti_joint_coordinates_free(const sti_Model *model, sti_StepWork *work);
/* Bodies and rows of an island of the last step problem, where that was solved in joint coordinates. */
void sti_joint_coordinates_count(const sti_StepWork *work, int island, st_IslandReport *out);
/* Solve the step problem in joint coordinates; *done false: it is solved as it is instead. */
st_Status sti_joint_coordinates_solve(const sti_Model *model, sti_StepWork *work, const sti_IslandsCall *call,
                                      st_Solution *solution, st_SolveInfo *info, bool *done, st_Error *err);

/* Was the last step problem solved in joint coordinates? */
bool sti_joint_coordinates_used(const sti_StepWork *work);
/* The same, and do they have no loops? */
bool sti_joint_coordinates_are_open(const sti_StepWork *work);

#endif
