/* step/mechanisms.h -- mechanisms beside a pile on flat arrays: mechanisms.c. */
#ifndef STI_MECHANISMS_H
#define STI_MECHANISMS_H

#include "step/step.h"

/* The part that a body has in a scene with a pile. */
typedef enum sti_PilePart {
    STI_PART_GRAIN = 0, /* contacts on the device move it                                          */
    STI_PART_WALL,      /* fixed, or driven by a motor that no force stops                         */
    STI_PART_MECHANISM  /* joints, springs or forces act on it: it is moved here                   */
} sti_PilePart;

typedef struct sti_Mechanisms sti_Mechanisms;

/* `part` is by body of the world, and stays the caller's. */
st_Status sti_mechanisms_create(const sti_Model *model, const unsigned char *part, sti_Mechanisms **out, st_Error *err);
void sti_mechanisms_destroy(sti_Mechanisms *m);

/* Before a step of length h from the state: finds the grains that may touch mechanisms within it. afresh: the state
 * was not made by the last step, or that failed. */
st_Status sti_mechanisms_begin(sti_Mechanisms *m, const sti_Model *model, const sti_State *state, double h, bool afresh,
                               st_Error *err);
/* Those grains, as numbers of bodies on the device: the body less 1. */
const int *sti_mechanisms_grains(const sti_Mechanisms *m, int *n);
/* sti_FlatDef.beside; ctx is the sti_Mechanisms. */
st_Status sti_mechanisms_meet(void *ctx, double factor, double *u, st_Error *err);
/* The step is done: coordinates and velocities of mechanisms into the state. */
void sti_mechanisms_take(const sti_Mechanisms *m, const sti_Model *model, sti_State *state);

/* Energies of everything that is not a grain [J], and in `done` the works of the last step, without those of the pile
 * on grains. */
st_Status sti_mechanisms_energy(const sti_Mechanisms *m, double *kinetic, double *potential, sti_Works *done,
                                st_Error *err);
/* Of the last step. */
const st_StepInfo *sti_mechanisms_info(const sti_Mechanisms *m);

/* The system of mechanisms and near grains; NULL before the first step. Its joints and springs have the numbers of the
 * scene. */
const st_System *sti_mechanisms_system(const sti_Mechanisms *m);
/* Contact `index` of it, with bodies and shapes of the scene. */
st_Status sti_mechanisms_contact(const sti_Mechanisms *m, int index, st_ContactReport *out);
/* Body of the scene that is body b of it. */
int sti_mechanisms_body(const sti_Mechanisms *m, int b);

#endif
