/* step/contact/contact_model.h -- contact models that bring compliance into the step problem.
 *
 *     u = H' v + C r + w          compliant:    a block of C and -inv(E) K delta in w per patch (compliant.c)
 *                                 regularized:  a diagonal C, gap/h in w, springs for joints (regularized.c)
 *
 * stage_contacts.c calls them while it fills the problem; step.c lets the patches follow when a step is accepted.
 */
#ifndef STI_CONTACT_MODEL_H
#define STI_CONTACT_MODEL_H

#include "step/step.h"

/* contact_model.c: can the choices of `def` work together, and serve what is in this world? */
st_Status sti_check_surface_values(const st_SystemDef *def, const sti_World *world, const sti_Values *values,
                                   st_Error *err);
st_Status sti_check_contact_model(const st_SystemDef *def, const sti_World *world, st_Error *err);
/* What of that a model of the user's tells with its contacts. */
st_Status sti_check_model_contacts(const st_SystemDef *def, const st_Sink *sink, st_Error *err);

/* regularized.c: what the spring along the normal of a contact and the damper along its tangents, and the spring of a
 * joint, yield to an impulse in a step of length h.                                               */
typedef struct sti_Compliance {
    double normal, tangent;
} sti_Compliance;
sti_Compliance sti_contact_compliance(const st_SystemDef *def, const sti_ContactEntry *entry, double h);
double sti_joint_compliance(const st_SystemDef *def, const sti_JointEntry *joint, double h);
/* Compliances and drift of all contacts and joints of the step problem. */
void sti_regularize(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage);
/* What the springs of contacts and joints hold [J]; nothing where they stand for rigid ones. */
double sti_regularized_energy(const sti_Model *model, const sti_StepWork *work, const st_Sink *sink);
/* The solution again and again with smaller compliances, to the rigid limit; from and to the problem's solution. */
st_Status sti_rigid_limit(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          st_Solution *solution, st_SolveInfo *info, st_Error *err);

/* least_norm.c: of the solutions of the step problem the one with the least forces; r and l are replaced. */
st_Status sti_least_norm_create(const st_Allocator *allocator, sti_LeastNorm **out, st_Error *err);
void sti_least_norm_destroy(const st_Allocator *allocator, sti_LeastNorm *least); /* NULL is fine */
st_Status sti_least_norm(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                         st_Error *err);

/* compliant.c: patches. Can it be one of this system, as a file has it; the matrices of all of them, before they become
 * the state by another way than a step.                                                           */
bool sti_patch_fits(const sti_Model *model, const sti_Patch *patch);
st_Status sti_patches_know(const sti_Model *model, sti_StepWork *work, const sti_Patches *patches, st_Error *err);
/* Elements of a patch at most; is this contact one; its elements into the step problem as
 * contacts *n and following; the deformations after the solution; they become the state.          */
int sti_patch_elements(const sti_Model *model);
bool sti_is_patch(const sti_ContactEntry *entry);
void sti_patches_begin(sti_StepWork *work);
st_Status sti_patch_add(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                        const sti_ContactEntry *entry, int *n, st_Error *err);
void sti_patches_follow(sti_StepWork *work);
void sti_patches_accept(sti_State *state, sti_StepWork *work);
double sti_patches_energy(const sti_State *state, const sti_StepWork *work); /* of their deformations [J] */
void sti_patches_free(const sti_Model *model, sti_State *state, sti_StepWork *work);

/* stage_contacts.c: the law of a contact, with coefficients of turning over `arm`; a zeroed block of C for `size` rows
 * from `first` on, in the order of rows. */
st_ContactLaw sti_contact_law(const sti_Model *model, const sti_ContactEntry *entry, int first);
double *sti_compliance_block(sti_Assembly *out, int first, int size);

#endif
