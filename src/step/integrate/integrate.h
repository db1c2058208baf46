/* step/integrate/integrate.h -- integrators, and the stages that they consist of. stage.h is for the files that fill
 * the step problem of a stage.
 */
#ifndef STI_INTEGRATE_H
#define STI_INTEGRATE_H

#include "step/system.h"

/* ---- a stage: one step problem -------------------------------------------------------------------------- */

/* Joints and springs of a stage with drift `mean`, as means over the step (discrete_gradient.c). */
typedef struct sti_MeanRows {
    const st_Sink *constraints;   /* their rows, with the values at q_base                              */
    const st_Sink *end;           /* half of these rows is added to `constraints`; or NULL              */
    const double *columns;        /* n_v: factors of the columns of the rows; or NULL                   */
    const double *A, *D, *v_near; /* A = M + diag(D) replaces M, and D v_near is added to the forces    */
    bool again;                   /* v and l solve the problem up to small changes of G, f, g; there are no contacts */
} sti_MeanRows;

/* One velocity problem (docs/methods.md 3), with rows at q_star and laws on v:
 *     M v = M v_base + eta k(t, q_star, v_star) + push + G l + H r,    drift and springs from q_base
 * Implicit Euler is (t, q, v, v, q, h). eta = 0 is an impact: no forces, no soft rows, no drift.   */
typedef struct sti_Stage {
    double t, eta;
    const double *q_star, *v_star, *v_base, *q_base;
    const st_Sink *rows;       /* evaluated at q_star                                                  */
    double reach;              /* v moves q_base for this time; drift correction closes gaps at its end */
    double extrapolated;       /* the next stage extrapolates v - v_base by this factor; 0: no such stage  */
    double ahead;              /* k is the mean of its values at t and t + ahead                       */
    bool mean;                 /* springs, joints and gaps follow (v_base + v)/2: trapezoid, form I    */
    bool second_order;         /* the gyroscopic term is taken at v_star instead of inside v_base      */
    bool rebound;              /* contacts that close rebound by Newton's law                          */
    const double *push;        /* an impulse, or NULL                                                  */
    const double *loaded;      /* by contact: normal impulse in `push` that also carries friction; or NULL */
    const st_Sink *drift_from; /* rows whose values are the drift, corrected after `reach`; NULL: those at q_base */
    const double *way;         /* displacement from the state to q_base; NULL: q_base is the state. Friction works along
                                * way + eta v in the time `length` */
    double length;
    const sti_MeanRows *means; /* NULL: joints and springs are those of `rows`                         */
    const double *f_before;    /* n_v: if f is equal to this, nothing is solved; or NULL               */
} sti_Stage;

/* stage.c: fills the step problem with the `wanted` contacts. */
st_Status sti_stage_assemble(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                             st_Error *err);
/* stage_solve.c: solves it. */
st_Status sti_solve_step_problem(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                                 double *v, st_SolveInfo *info, st_Error *err);
/* stage_solve.c: solves a problem made by this library. A problem of a user's model is checked first. */
st_Status sti_solve_problem(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Solver *solver,
                            const st_Problem *problem, st_Solution *solution, st_SolveInfo *info, st_Error *err);
/* stage_solve.c: solves the step problem island by island. */
st_Status sti_solve_islands(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Solution *solution,
                            st_SolveInfo *info, st_Error *err);
/* stage_work.c: adds the work of a solution to step.done; then removes the work of forces that have a potential. */
st_Status sti_stage_work(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage, const double *v,
                         st_Error *err);
void sti_work_less_potential(const sti_Model *model, const sti_State *state, sti_StepWork *work);
/* tension.c: solves the problem again if its solution shows tension in joints that the step does not resolve. */
st_Status sti_resolve_tension(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                              const sti_Stage *stage, st_Solution *solution, st_SolveInfo *info, st_Error *err);
/* Removes the tension that the last call added to the step problem. */
void sti_leave_tension(sti_StepWork *work);
/* force_derivatives.c: the impulse of linearised forces beyond eta k, for a solution v. */
void sti_linearised_impulse(sti_StepWork *work, const double *v);
void sti_linearised_free(const st_Allocator *allocator, sti_Linearised *out);

/* stage_contacts.c: w along the tangents of a contact at q: the velocity of a belt, or 0. */
void sti_belt_speeds(const sti_Model *model, const double *q, const st_ContactLaw *law, const sti_ContactEntry *entry,
                     double *w);
/* stage_contacts.c: estimate of the velocity that a unit impulse causes [1/kg]: along a row of H; along the normal of
 * contact c, also if contacts are arrays; along a row of H or G. */
double sti_mobility(const sti_Model *model, const sti_StepWork *work, int row);
double sti_contact_mobility(const sti_Model *model, const sti_StepWork *work, int c);
double sti_row_mobility(const sti_Model *model, const sti_StepWork *work, const sti_RowList *rows, int row);

/* ---- integrators ---------------------------------------------------------------------------------------- */

/* Computes (q_new, v_new) at t + h, and the acceleration a_new there, from (q, v) at t. */
typedef st_Status sti_IntegratorStep(const sti_Model *model, sti_State *state, sti_StepWork *work, double h,
                                     st_StepInfo *info, st_Error *err);
typedef struct sti_Integrator {
    int order;
    sti_IntegratorStep *step;
} sti_Integrator;

sti_IntegratorStep sti_euler_step, sti_trapezoid_step, sti_sdirk2_step, sti_bdf2_step;
/* euler.c: a step of Euler's method in place of one of order two. The integrator starts again after it. */
sti_IntegratorStep sti_rough_step;

/* integrator.c: the integrator of the settings, and a step of it. */
const sti_Integrator *sti_integrator(const sti_Model *model);
sti_IntegratorStep sti_integrate;
/* Does the step continue after an event? */
bool sti_continues_after_event(const sti_Model *model);
/* Does a step have several stages, or events? */
bool sti_has_stages(const sti_Model *model);
/* integrator.c: functions for all integrators. Evaluates the rows of a stage at (t, q_star) into `middle`. */
st_Status sti_rows_of_stage(const sti_Model *model, const sti_State *state, sti_StepWork *work, double t,
                            st_Error *err);
/* Fills the problem of a stage, solves it, and checks the solution. */
st_Status sti_solve_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          double *v, st_StepInfo *info, st_Error *err);
/* The same for a first stage. Without history, the stage is solved again with the velocity of its first solution. */
st_Status sti_solve_first_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                                double *v, st_StepInfo *info, st_Error *err);
st_Status sti_check_velocity(const sti_Model *model, const sti_State *state, sti_StepWork *work, const double *v,
                             double t, st_Error *err);
/* Does a contact close within the step? */
bool sti_closes_within(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h);

/* ---- discrete_gradient.c: drift `mean` ------------------------------------------------------------------- */

st_Status sti_check_mean(const st_SystemDef *def, st_Error *err);
st_Status sti_mean_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_mean_free(const sti_Model *model, sti_StepWork *work);
/* How many numbers `past` has. */
int64_t sti_mean_past(const sti_Model *model);
/* Solves a stage whose velocity v moves q_base for `reach`. Joints and springs are means over this path. v contains a
 * prediction. Leaves q_new, and the constraints there in `trial`. */
st_Status sti_solve_mean_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                               double *v, st_StepInfo *info, st_Error *err);
/* Writes the entries of rows to x, and adds half of the rows `half`, if it is not NULL. */
void sti_mean_put_rows(const sti_MeanRows *means, const sti_RowList *rows, const sti_RowList *half,
                       const sti_JointEntry *joint, double *x);
/* The mean velocity over the next h, extrapolated from the last steps. */
void sti_predict_mean(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h, double *v);
/* Called before a step of length h becomes history. */
void sti_mean_remember(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h);

#endif
