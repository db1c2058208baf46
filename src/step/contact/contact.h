/* step/contact/contact.h -- contacts of the step problem: selection, warm start, arrays of a pile, special laws.
 * contact_model.h has those that add compliance.
 */
#ifndef STI_CONTACT_H
#define STI_CONTACT_H

#include "step/integrate/integrate.h"

/* ---- contact_selection.c: which contacts are in the step problem ---------------------------------------- */

/* Does drift correction close a gap with the speed gap/h? */
bool sti_closes_gaps(const st_SystemDef *def);
/* Are contacts in the problem before they touch? */
bool sti_speculative(const sti_Model *model);
/* The largest gap of contacts that are found; of one contact. */
double sti_margin(const sti_Model *model);
double sti_margin_of(const sti_Model *model, const sti_ContactEntry *contact);
/* Updates the contacts that are held closed (state->active). */
st_Status sti_refresh_active(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
/* Fills work->wanted for a step of length h. */
st_Status sti_select_contacts(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h,
                              st_Error *err);
/* Lists contacts that the step penetrated and that were not in its problem. *n_new: how many were not listed before. */
st_Status sti_note_missed(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, int *n_new,
                          st_Error *err);
/* Adds missed contacts to those at the state. */
st_Status sti_add_missed_contacts(sti_StepWork *work, st_Error *err);
/* Updates active_new after the step: removes contacts that separated, or that rebound; adds contacts with at most this
 * gap. */
st_Status sti_drop_separated(const sti_Model *model, sti_StepWork *work, st_Error *err);
st_Status sti_drop_rebounding(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
st_Status sti_activate_touching(const sti_Model *model, sti_StepWork *work, double gap, st_Error *err);
/* Lists the contacts that carry a load at the end of the step (loaded_new). */
st_Status sti_note_loaded(const sti_Model *model, sti_StepWork *work, st_Error *err);

/* ---- warm_start.c: the forces of the last step ------------------------------------------------------------ */

/* Sets the r from which the solver starts. */
st_Status sti_warm_start(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                         st_Error *err);
/* Do overlaps have a dead band in this stage? */
bool sti_has_band(const sti_Model *model, const sti_Stage *stage);
/* Stores impulses for the next step: those of a stage of length eta; those that wait to be stored, if any; the same for
 * another attempt at this step. */
st_Status sti_store_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, double eta, st_Error *err);
st_Status sti_store_pending_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, bool for_good,
                                     st_Error *err);
st_Status sti_store_tried_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);

/* ---- pile_contacts.c: rows of H, also if the contacts are arrays --------------------------------------------- */

typedef struct sti_RowView {
    int n;
    const int *i;
    const double *x;
    int i_room[16];
    double x_room[16];
} sti_RowView;
/* Row k of contact c of the step problem. */
void sti_view_row(const sti_Model *model, const sti_StepWork *work, int c, int k, sti_RowView *row);
/* Before a sink is filled again: copies its contacts if the last step problem has their addresses. In the usual order
 * of a step there is already another problem. */
st_Status sti_pile_keep(const sti_Model *model, sti_StepWork *work, const st_Sink *sink, st_Error *err);
/* All rows, as H of the step problem. */
st_Status sti_step_rows(const sti_Model *model, sti_StepWork *work, st_Error *err);

/* ---- laws that depend on the solution ------------------------------------------------------------------------- */

/* stribeck.c: moves friction coefficients by the fraction `part` towards those at the speeds of the solution; 0 changes
 * nothing. Returns the sum of the squares of the changes of mu r_n. */
double sti_follow_speeds(sti_Assembly *step, double part);
/* liquid_bridge.c: the impulse of the bridge of a contact in a step of length eta [N s]; 0: it has none. */
double sti_bridge_impulse(const sti_Model *model, const sti_State *state, const sti_ContactEntry *entry, double eta);
/* liquid_bridge.c: moves the forces of bridges by the fraction `part` towards those at the gaps after the step with
 * velocities v. Returns the sum of the squares of the changes [N s]. */
double sti_follow_gaps(const sti_Model *model, sti_StepWork *work, const double *v, double part);
/* adhesion.c: the work of the stage's adhesion along a velocity [J]. */
double sti_adhesion_work(const sti_Model *model, const sti_StepWork *work, const double *way);

#endif
