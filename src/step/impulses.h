/* step/impulses.h -- the impulses of a step: computed from solutions of step problems, summed over stages and pieces.
 */
#ifndef STI_IMPULSES_H
#define STI_IMPULSES_H

#include "step/system.h"

st_Status sti_impulses_create(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
void sti_impulses_free(const sti_Model *model, sti_State *state, sti_StepWork *work);
/* Copies the sums of bdf2 with the state before a step, and puts them back. */
st_Status sti_impulses_save(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
void sti_impulses_restore(const sti_Model *model, sti_State *state, sti_StepWork *work);

/* Called when a step begins: all sums are 0. */
void sti_impulses_begin(const sti_Model *model, sti_StepWork *work);
/* Called when a piece begins: its sums are 0. */
void sti_begin_piece_impulses(const sti_Model *model, sti_StepWork *work);
/* Adds the impulses of the current step problem to the sums of the piece: with `weight` to those that change v, with
 * `way` to those that change the mean velocity. */
st_Status sti_carry_impulses(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, st_Error *err);
/* The same for the last stage of an integrator. */
st_Status sti_total_impulses(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, st_Error *err);
/* bdf2: adds the impulses of the piece before. */
st_Status sti_carry_last(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                         st_Error *err);
/* Adds an impulse along the normal of contact c. */
st_Status sti_carry_normal(const sti_Model *model, sti_StepWork *work, int c, double impulse, st_Error *err);
/* A collision ends the piece at the fraction `at`. */
st_Status sti_cut_piece(const sti_Model *model, sti_StepWork *work, double at, st_Error *err);
/* The piece is accepted: adds its sums to those of the step. last: no other piece follows. */
st_Status sti_sum_piece(const sti_Model *model, sti_State *state, sti_StepWork *work, bool last, st_Error *err);

/* The data from which the current step problem was made. */
typedef struct sti_StageEnds {
    const st_Sink *rows;   /* rows of springs                                       */
    const double *v;       /* n_v: velocity at the start                            */
    const double *applied; /* n_v: forces k                                         */
    const double *turning; /* n_v: impulse of the gyroscopic term                   */
    const double *lag;     /* n_v: addition of drift mean or of tension.c to joint impulses; or NULL */
} sti_StageEnds;
/* With stages: those of the step problem at hand. */
sti_StageEnds sti_ends_of_stage(const sti_StepWork *work, const st_Sink *rows, const double *v);

/* Impulses of the current step problem: of a joint, of its motor, of a spring. */
st_Status sti_joint_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                            sti_JointImpulse *out);
double sti_motor_impulse(const sti_Model *model, const sti_StepWork *work, int index);
void sti_spring_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                        sti_SpringImpulse *out);
/* The same of the whole step, if impulses are summed: finite ones in out[0], impacts in out[1]. */
st_Status sti_joint_impulses_of_step(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends,
                                     int index, sti_JointImpulse out[2]);
void sti_spring_impulse_of_step(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                                sti_SpringImpulse *out);
/* Adds `weight` times the impulses on all velocities to `out` (STI_N_LOADS x n_v), one vector per sti_Load. room: n_v
 * numbers of scratch memory. */
st_Status sti_stage_loads(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, double weight,
                          double *out, double *room, st_Error *err);
/* Contact c of the current step problem with its impulse, which is finite or an impact (`kind`). Leaves the velocity 0.
 */
void sti_contact_impulse(const sti_StepWork *work, int c, int kind, sti_ContactImpulse *out);
/* The impulse of contact c in an impact, over both phases. */
const double *sti_impact_impulse(const sti_StepWork *work, int c);
/* Force and torque of a contact as vectors, from the components r. */
st_Vec3 sti_contact_along(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent);
st_Vec3 sti_contact_about(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent);
/* From the unknowns r of contact c in the step problem to its impulse: subtracts adhesion and applies the scales of
 * anisotropic friction. sti_unknowns_of is the inverse. */
void sti_force_of(const sti_Assembly *step, int c, const double *r, double *out);
void sti_unknowns_of(const sti_Assembly *step, int c, double *r);
/* out = M x. */
void sti_mass_times(const sti_Model *model, const sti_StepWork *work, const double *x, double *out);

#endif
