/* step/step.h -- functions of the files of src/step that have no header of their own. The data is in system.h. */
#ifndef STI_STEP_H
#define STI_STEP_H

#include "step/system.h"

#include <stiction/query.h>

/* ---- system.c ------------------------------------------------------------------------------------------- */

/* A system at (t, q, v). It owns `world`, unless this fails. */
st_Status sti_system_of_world(const st_SystemDef *def, sti_World *world, double t, const double *q, const double *v,
                              st_System **out, st_Error *err);
/* Allocates memory for projection, if it is not there yet. */
st_Status sti_prepare_projection(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
/* Copies the pose of a body that does not move for a while to all vectors of positions, and 0 to those of velocities.
 */
void sti_still_body(const sti_Model *model, sti_State *state, sti_StepWork *work, int body);

/* ---- settings.c, parameters.c, control.c ------------------------------------------------------------------- */

/* Replaces settings that were left open by lengths and speeds of this scene. */
void sti_scale_settings(sti_Model *model);
/* Sets several parameters: all of them or none. */
st_Status sti_set_parameters(const sti_Model *model, sti_State *state, sti_StepWork *work, const char *const *path,
                             const double *value, int n, st_Error *err);
/* Exchanges the values of the world with `other`. Only M is computed again. */
void sti_enter_values(const sti_Model *model, sti_StepWork *work, sti_Values *other);
st_Status sti_check_values(const sti_Model *model, const sti_Values *values, st_Error *err);
/* Computes joint and motor rows at the state again, if a controller changed targets. */
st_Status sti_refresh_rows(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
/* When the time becomes t: motors that follow their targets with a lag start at these targets. */
void sti_motors_restart(const sti_Model *model, sti_State *state, sti_StepWork *work, double t);
/* A motor reaches its target at once, as in a keyframe. */
void sti_motor_settle(const sti_Model *model, sti_State *state, sti_StepWork *work, int joint, double wanted);

/* ---- state.c, save.c, one_body.c: other states ----------------------------------------------------------------- */

/* st_system_set_state. ahead: contacts are found for a step of this length; 0: as the next step needs them. rows: the
 * rows at the state, which are exchanged with those of the system; NULL: they are computed. */
st_Status sti_put_state(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, const double *q,
                        const double *v, double ahead, st_Sink *rows, st_Error *err);
/* Copies the state before a step, and restores it after a failure. */
st_Status sti_save(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
void sti_restore(const sti_Model *model, sti_State *state, sti_StepWork *work);
/* Moves the forces of the last step to that copy, before others replace them. */
void sti_save_impulses(sti_State *state, sti_StepWork *work);
/* Clears the reports of the last step. Keeps its strikes, which the next step needs. */
void sti_forget_step(const sti_Model *model, const sti_State *state, sti_StepWork *work);
/* st_system_restore. keep_values: keep the parameters of the system. rows: as in sti_put_state. */
st_Status sti_restore_saved(const sti_Model *model, sti_State *state, sti_StepWork *work, const void *buffer,
                            size_t size, bool keep_values, st_Sink *rows, st_Error *err);
/* Would a system that is restored to this state compute the same rows, and do they stay valid outside of this system?
 */
bool sti_rows_can_be_kept(const sti_Model *model, const sti_State *state, const sti_StepWork *work);
/* Sets the position to q, in which the marked bodies have moved. Finds contacts again and removes stored data of their
 * old contacts. */
st_Status sti_bodies_moved(const sti_Model *model, sti_State *state, sti_StepWork *work, const double *q,
                           const unsigned char *moved, st_Error *err);
/* Is this a body of the scene that can move? `call` is the public function for the message. */
st_Status sti_check_movable(const sti_Model *model, const char *call, st_BodyId body, st_Error *err);

/* ---- clock.c ------------------------------------------------------------------------------------------------ */

/* Called when a step begins (this starts its deadline) and when it ends. */
void sti_cancel_begin(const sti_Model *model, sti_StepWork *work);
void sti_cancel_end(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Status status,
                    st_Error *err);
/* Returns ST_ERR_CANCELLED if the step must stop. */
st_Status sti_check_cancelled(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
/* Copies a request to stop. */
void sti_cancel_carry(const sti_StepWork *from, sti_StepWork *to);
/* The time at the end of a step of length h. */
double sti_next_time(const sti_State *state, double h);
/* Call one of these after the time changed: a whole step of length h ended; or any other change. */
void sti_time_reached(sti_TimeGrid *grid, double before, double h);
void sti_time_set(sti_State *state, double t);
/* Adds the time since the last lap to a part of the step, for st_system_part_seconds. */
void sti_start_lap(sti_StepWork *work);
void sti_lap(sti_StepWork *work, st_StepPart part);

/* ---- evaluate.c ---------------------------------------------------------------------------------------------- */

/* Fills a sink at (t, q): joints, springs, bounded rows and contacts up to the gap `margin`. */
st_Status sti_evaluate(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink, double t,
                       const double *q, double margin, st_Error *err);
/* The same without contacts, which stay unchanged. */
st_Status sti_evaluate_constraints(const sti_Model *model, sti_StepWork *work, st_Sink *sink, double t, const double *q,
                                   st_Error *err);
/* The same with contacts that may close within h, at velocities v or `other` (or NULL). Those of a user's model are not
 * predicted. */
st_Status sti_evaluate_ahead(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink,
                             double t, const double *q, double margin, double h, const double *v, const double *other,
                             st_Error *err);
/* The contacts alone, at a position with known constraints: those up to the gap `margin`, and those that the motion
 * `ahead` may close (not of a user's model). */
st_Status sti_find_contacts(const sti_Model *model, double t, const double *q, double margin,
                            const sti_Foresight *ahead, st_Sink *sink, st_Error *err);
/* The largest joint error and the deepest overlap of a sink. */
double sti_row_buffer_joint_error(const st_Sink *sink);
/* How far the worst joint is open, relative to its size (sti_joint_opening), and its number; -1: none is open. */
double sti_row_buffer_joint_opening(const sti_Model *model, st_Sink *sink, int *joint);
double sti_row_buffer_penetration(st_Sink *sink, int threads);
/* Computes M at q, unless it is known. */
st_Status sti_mass(const sti_Model *model, sti_Assembly *out, const double *q, st_Error *err);
double sti_energy_kinetic(const sti_Model *model, sti_StepWork *work, const double *q, const double *v);
double sti_energy_potential(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                            const st_Sink *sink, double t, const double *q);
/* q_out is q moved for h at velocity v. d is the velocity that moves q0 to q1 in a time of 1. */
void sti_move(const sti_Model *model, const double *q, const double *v, double h, double *q_out);
void sti_difference(const sti_Model *model, const double *q0, const double *q1, double *d);
/* Orientations determine a rotation up to whole turns: adds those that bring d nearest to factor times `near`. */
void sti_count_turns(const sti_Model *model, const double *near, double factor, double *d);

/* The blocks of M that may move: all of them, unless bodies sleep. */
static inline int sti_block_count(const sti_Model *model, const sti_StepWork *work)
{
    return work->sleep.n_asleep > 0 ? work->sleep.awake.n : model->n_blocks;
}
static inline int sti_block(const sti_StepWork *work, int e)
{
    return work->sleep.n_asleep > 0 ? work->sleep.awake.block[e] : e;
}
static inline double sti_mass_of(const sti_Model *model, const double *M, int i)
{
    return M[model->mass.diagonal != NULL ? model->mass.diagonal[i] : i];
}

/* ---- strike.c ------------------------------------------------------------------------------------------------ */

st_Status sti_strikes_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_strikes_free(const sti_Model *model, sti_StepWork *work);
/* Lists contacts that closed in the last step, and the mechanisms that they may affect. jump: the step began with a
 * jump of joint velocities. */
void sti_note_strikes(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, bool first_step,
                      bool jump);
/* May an impact have affected this contact, or a joint of bodies a and b (contact 0)? */
bool sti_is_struck(const sti_Model *model, const sti_State *state, const sti_StepWork *work, uint64_t contact, int a,
                   int b);
void sti_forget_strikes(sti_StepWork *work);

/* ---- report.c -------------------------------------------------------------------------------------------------- */

/* Describes a contact for messages: `bodies "left" and "ground"`. */
void sti_describe_contact(const sti_Model *model, const sti_ContactEntry *contact, char *out, size_t size);
/* The two bodies of a contact and its force on the second one [N]. False: no such contact, or the limit of a joint. */
bool sti_contact_push(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index, int body[2],
                      st_Vec3 *force);
/* st_system_contact_count, st_system_contact, st_system_joint and st_system_loads, for arguments that were checked. */
int sti_contact_count(const sti_StepWork *work);
st_Status sti_contact_report(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                             st_ContactReport *out);
st_Status sti_joint_report(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                           st_Frame frame, st_JointReport *out);
st_Status sti_joint_means(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                          double *motor, double *limit);
st_Status sti_body_loads(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_BodyLoad *out,
                         int count, st_Error *err);
/* st_system_energy (state.c), and st_system_rays and st_system_overlaps (query.c), of the state of the host. */
st_Status sti_energies(const sti_Model *model, const sti_State *state, sti_StepWork *work, double *kinetic,
                       double *potential, st_Error *err);
st_Status sti_rays(const sti_Model *model, const sti_State *state, const st_Ray *rays, int n, uint32_t groups,
                   st_RayHit *out, st_Error *err);
st_Status sti_find_overlaps(const sti_Model *model, const sti_State *state, const st_ShapeDef *def, st_Pose pose,
                            uint32_t groups, st_ShapeId *out, int room, int *count, st_Error *err);
/* Coordinate, speed and motor force of a joint, as st_system_joint reports them. */
void sti_joint_drive(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                     double out[3]);
/* Are the impulses of the step in sums over stages and pieces, or in its one step problem? */
static inline bool sti_in_sums(const sti_StepWork *work)
{
    return work->impulses.total.spring != NULL;
}
/* The time for which the finite impulses of the step act. */
static inline double sti_force_time(const sti_StepWork *work)
{
    return sti_in_sums(work) ? work->impulses.total.time : work->step.eta;
}
/* H'v of a contact of the current step problem, relative to its belt. */
void sti_relative_velocity(const sti_Model *model, const sti_StepWork *work, const double *v, const st_ContactLaw *law,
                           const sti_ContactEntry *entry, double *velocity);

#endif
