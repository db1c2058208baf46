/* step/contact_model.h -- contact models that bring compliance into the step problem.
 *
 *     u = H' v + C r + w          compliant:    a block of C and -inv(E) K delta in w per patch (compliant.c)
 *                                 regularized:  a diagonal C, gap/h in w, springs for joints (regularized.c)
 *
 * stage.c calls them while it fills the problem; step.c lets the patches follow when a step is accepted.
 */
#ifndef STI_CONTACT_MODEL_H
#define STI_CONTACT_MODEL_H

#include "step/system.h"

/* contact_model.c: can the choices of `def` work together, and serve what is in this world? NULL: a user's model. */
st_Status sti_check_contact_model(const st_SystemDef *def, const sti_World *world, st_Error *err);

/* regularized.c: compliances and drift of all contacts and joints of the step problem. */
void sti_regularize(st_System *system, const sti_Stage *stage, int n_contacts);
/* The solution again and again with smaller compliances, to the rigid limit; from and to the problem's solution. */
st_Status sti_rigid_limit(st_System *system, const sti_Stage *stage, st_Solution *solution, st_SolveInfo *info,
                          st_Error *err);

#endif
