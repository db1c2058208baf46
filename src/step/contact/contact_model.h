/* step/contact/contact_model.h -- contact models that add compliance to the step problem.
 *
 *     u = H' v + C r + w          compliant:    a block of C and -inv(E) K delta in w per patch (compliant.c)
 *                                 regularized:  a diagonal C, gap/h in w, springs for joints (regularized.c)
 *
 * stage_contacts.c calls them while it fills the problem. step.c updates the patches when a step is accepted.
 */
#ifndef STI_CONTACT_MODEL_H
#define STI_CONTACT_MODEL_H

#include "step/integrate/integrate.h"
#include "step/step.h"

/* contact_model.c: do the settings of `def` fit together, and do they fit the objects of this world? */
st_Status sti_check_surface_values(const st_SystemDef *def, const sti_World *world, const sti_Values *values,
                                   st_Error *err);
st_Status sti_check_contact_model(const st_SystemDef *def, const sti_World *world, st_Error *err);
/* The same checks for the contacts of a user's model. */
st_Status sti_check_model_contacts(const st_SystemDef *def, const st_Sink *sink, st_Error *err);

/* regularized.c: compliances in a step of length h, of the spring along the normal of a contact, the damper along its
 * tangents, and the spring of a joint. */
typedef struct sti_Compliance {
    double normal, tangent;
} sti_Compliance;
sti_Compliance sti_contact_compliance(const st_SystemDef *def, const sti_ContactEntry *entry, double h);
double sti_joint_compliance(const st_SystemDef *def, const sti_JointEntry *joint, double h);
/* Compliances and drift of all contacts and joints of the step problem. */
void sti_regularize(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage);
/* Energy in the springs of contacts and joints [J]; 0 with rigid_limit. */
double sti_regularized_energy(const sti_Model *model, const sti_StepWork *work, const st_Sink *sink);
/* Solves the problem again with smaller and smaller compliances, up to the rigid limit. Starts from the solution of the
 * problem and replaces it. */
st_Status sti_rigid_limit(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          st_Solution *solution, st_SolveInfo *info, st_Error *err);

/* least_norm.c: replaces r and l by the solution of the step problem with the smallest forces. */
st_Status sti_least_norm_create(const st_Allocator *allocator, sti_LeastNorm **out, st_Error *err);
void sti_least_norm_destroy(const st_Allocator *allocator, sti_LeastNorm *least); /* NULL is fine */
st_Status sti_least_norm(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                         st_Error *err);

/* compliant.c: patches. Does a patch of a saved state fit this system? Computes the matrices of patches that were read
 * from a saved state or taken from another system. */
bool sti_patch_fits(const sti_Model *model, const sti_Patch *patch);
st_Status sti_patches_know(const sti_Model *model, sti_StepWork *work, const sti_Patches *patches, st_Error *err);
/* The largest number of elements of a patch; is this contact a patch; adds its elements to the step problem as contacts
 * *n and following; computes the deformations after the solution. */
int sti_patch_elements(const sti_Model *model);
bool sti_is_patch(const sti_ContactEntry *entry);
st_Status sti_patch_add(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                        const sti_ContactEntry *entry, int *n, st_Error *err);
void sti_patches_follow(sti_StepWork *work);
double sti_patches_energy(const sti_State *state, const sti_StepWork *work); /* energy of the deformations [J] */
void sti_patches_free(const sti_Model *model, sti_State *state, sti_StepWork *work);

/* stage_contacts.c: the law of a contact, with rolling and spinning coefficients divided by `arm`; a new block of C,
 * filled with 0, for `size` rows from `first` on. Blocks are requested in the order of rows. */
st_ContactLaw sti_contact_law(const sti_Model *model, const sti_ContactEntry *entry, int first);
double *sti_compliance_block(sti_Assembly *out, int first, int size);

#endif
