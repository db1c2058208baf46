/* step/on_device.h -- the step of a pile on flat arrays (setting `device`): on_device.c. */
#ifndef STI_ON_DEVICE_H
#define STI_ON_DEVICE_H

#include "step/system.h"

struct sti_FlatImpulse; /* device/flat_pile.h */

/* Creates work->on_device if the settings ask for it. */
st_Status sti_device_create(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
void sti_device_destroy(const sti_Model *model, sti_StepWork *work);
st_Status sti_device_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                          st_Error *err);
/* Copies the state from the device, if the host has an older one. Every public function that reads coordinates or
 * velocities calls this first. If the device fails, those of grains become NaN. */
st_Status sti_device_fetch(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_Error *err);

/* The body came or went: its presence, place and velocity of the host become those of the device. */
st_Status sti_device_present(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int body,
                             st_Error *err);

/* Reports of the last step. */
double sti_device_force_time(const sti_StepWork *work); /* its length; 0: there was none */
int sti_device_contact_count(const sti_StepWork *work);
st_Status sti_device_contact(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                             st_ContactReport *out);
/* The largest overlap of the last step, and its bodies; 0 if nothing overlaps. */
double sti_device_deepest(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int *a, int *b);
/* Loads on the first `count` bodies. */
st_Status sti_device_loads(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_BodyLoad *out,
                           int count);
/* Sets error, impulses and forces of a joint in `out`, and leaves the other members unchanged. */
st_Status sti_device_joint(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                           st_Frame frame, st_JointReport *out);
/* As sti_joint_means. */
st_Status sti_device_joint_means(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                                 double *motor, double *limit);
/* The same for the forces of a spring. */
st_Status sti_device_spring(const sti_StepWork *work, int index, st_SpringReport *out);

/* The impulses from which the next step starts, for saved states: their number (0: none) and the length of their step.
 */
int sti_device_impulses(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                        const struct sti_FlatImpulse **out, double *h);
/* Is this impulse from a file possible in this scene? */
bool sti_device_impulse_fits(const sti_StepWork *work, const struct sti_FlatImpulse *impulse, int least_sphere);
/* Makes room for n impulses, and sets them. */
st_Status sti_device_start_room(const sti_Model *model, sti_StepWork *work, int64_t n, st_Error *err);
void sti_device_start_from(sti_StepWork *work, const void *impulses, int64_t n, double h);

#endif
