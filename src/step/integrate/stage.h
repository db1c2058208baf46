/* step/integrate/stage.h -- a stage while it is assembled. Only the files that fill the step problem include it.
 *
 *     stage.c            momentum, joints and springs; the sequence
 *     stage_contacts.c   contacts, motors and joint friction: their rows, laws, drift and compliance
 *     pile_contacts.c    many contacts between free bodies, as arrays instead of rows
 *     stage_solve.c      the solution of the problem */
#ifndef STI_STAGE_H
#define STI_STAGE_H

#include "base/tolerance.h"
#include "step/contact/contact_model.h"
#include "step/drift/drift.h"
#include "step/integrate/integrate.h"

typedef struct sti_StageBuild {
    const sti_Model *model;
    sti_State *state;
    sti_StepWork *work;
    const sti_Stage *stage;
    sti_Assembly *out;
    const st_Allocator *allocator;
    bool impact;          /* eta = 0                                                               */
    bool implicit_forces; /* springs and dampers as soft rows                                      */
    bool gap_drift;
    bool piled;          /* contacts become arrays instead of rows of H: pile_contacts.c           */
    const double *shift; /* q_base - q_star as a velocity, NULL where they are the same            */
    st_Error *err;
} sti_StageBuild;

/* force_derivatives.c: A and a part of f, after the shift is known. */
st_Status sti_linearise_forces(sti_StageBuild *build);
/* stage_contacts.c: the contacts of `wanted` and, after them, the bounded rows: H, w, C and the laws. */
st_Status sti_stage_contacts(sti_StageBuild *build);
/* pile_contacts.c: are the contacts of this stage a pile's, many between free bodies? Then they become arrays. */
bool sti_is_pile(const sti_Model *model, const sti_StepWork *work, const sti_Stage *stage);
st_Status sti_pile_contacts(sti_StageBuild *build);

/* adhesion.c: contacts that pull, once the contacts are in the problem: it becomes that of dry ones. */
void sti_stage_adhesion(sti_StageBuild *build);
/* stribeck.c: friction at the speeds of the state, where it depends on them. */
void sti_stage_stribeck(sti_StageBuild *build);

/* The value of row k at q_base. */
static inline double sti_shifted(const sti_StageBuild *build, double value, const sti_RowList *rows, int k)
{
    return build->shift != NULL ? value + sti_row_dot(rows, k, build->shift) : value;
}

static inline double sti_base_speed(const sti_StageBuild *build, const sti_RowList *rows, int k)
{
    return sti_row_dot(rows, k, build->stage->v_base);
}

/* Time in which drift is corrected. A short piece of a step beside an event uses the length of the step: with its own
 * length, a gap of 1e-12 m would give a large velocity. */
static inline double sti_drift_time(const sti_StageBuild *build)
{
    return sti_larger(build->stage->reach, 0.2 * build->work->h_asked);
}

/* Impulse per unit of time with which a spring and damper oppose the velocity of the row: eta k + d. If they follow
 * the mean of old and new velocity, half of it belongs to the new velocity, at half the step. */
static inline double sti_resistance(const sti_StageBuild *build, double stiffness, double damping)
{
    double eta = build->stage->eta;
    return build->stage->mean ? 0.25 * eta * stiffness + 0.5 * damping : eta * stiffness + damping;
}

/* ---- contacts, as rows or as arrays ----------------------------------------------- */

/* The next contact of the stage's rows, from c on, that is in `wanted`, from *k on; `end`: none. Both are sorted by
 * id. */
static inline int sti_next_wanted(const sti_StageBuild *build, int c, int end, int *k)
{
    const sti_ContactEntry *contact = build->stage->rows->contact;
    const sti_IdSet *wanted = &build->work->wanted;
    for (; c < end; c++) {
        while (*k < wanted->n && wanted->id[*k] < contact[c].id)
            ++*k;
        if (*k < wanted->n && wanted->id[*k] == contact[c].id) return c;
    }
    return end;
}

enum { STI_LEAST_CONTACTS = 512 }; /* worth a thread */

/* Contact c of the step problem. The entry stays where it is. */
static inline void sti_choose(sti_Assembly *out, int c, const sti_ContactEntry *entry)
{
    sti_Chosen *chosen = &out->chosen[c];
    chosen->entry = entry;
    chosen->pull = chosen->bridge = 0;
    chosen->element = 0;
    chosen->released = chosen->pinched = false;
}

/* The part of a gap or overlap that is corrected: nothing within the slop. Faces that rest on each other at many
 * points have more gaps than degrees of freedom. Correcting the small differences that the solver left would need
 * large forces without a cause, other ones in every step. */
static inline double sti_beyond(double gap, double slop)
{
    return gap > slop ? gap - slop : (gap < -slop ? gap + slop : 0.0);
}

/* Drift gap: a gap closes at the end of the stage's reach. Overlap opens in the same time, at most at the cap, as long
 * as the next stage does not extrapolate this velocity. */
static inline double sti_closing_drift(const sti_StageBuild *build, int velocity, double gap)
{
    double speed = sti_larger(sti_beyond(gap, build->model->def.slop) / sti_drift_time(build),
                              -build->model->def.correction_speed);
    if (speed < 0 && build->stage->extrapolated > 1) speed /= build->stage->extrapolated;
    return sti_recover(build->work, velocity, speed);
}

/* With gap drift a body pinched between two overlaps has no solution at all: contacts in overlap get a small
 * normal compliance (docs/methods.md 4). Within the slop nothing is pushed apart, and nothing pinched; and compliance
 * at some of the contacts that share a load moves it to the others.                               */
static inline bool sti_overlaps(const sti_Model *model, double gap)
{
    return gap < -(model->overlap + model->def.slop);
}
static inline bool sti_chosen_overlaps(const sti_StageBuild *build, int c)
{
    return build->gap_drift && sti_overlaps(build->model, build->out->chosen[c].entry->gap);
}

#endif
