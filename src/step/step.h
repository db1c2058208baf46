/* step/step.h -- what the files of step/ do for each other, in the order of a step. Beside it: stage.h (how a step
 * problem is filled), contact_model.h (compliance in it), sleep.h. Their data: system.h.
 */
#ifndef STI_STEP_H
#define STI_STEP_H

#include "step/system.h"

/* ---- before and after a step ---------------------------------------------------------------------- */

/* system.c: a system at (t, q, v). It owns `world` from then on, unless this fails. */
st_Status sti_system_of_world(const st_SystemDef *def, sti_World *world, double t, const double *q, const double *v,
                              st_System **out, st_Error *err);
/* More than one stage a step, or events in it? Room for projection, where there is none yet. */
bool sti_has_stages(const sti_Model *model);
st_Status sti_prepare_projection(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
/* A body that does not move for a while: its pose, or 0, goes to every vector. */
void sti_still_body(const sti_Model *model, sti_State *state, sti_StepWork *work, int body);

/* initial.c: the first state, made consistent or refused as the def says. */
st_Status sti_check_initial(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
/* Does the first step from a state that was set begin with a jump in its joints? With integrators of order two an
 * impact gives the velocity that joints allow.                                                             */
bool sti_starts_with_jump(const sti_Model *model, const sti_State *state, const sti_StepWork *work);
st_Status sti_meet_jump(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);

/* parameters.c: several parameters at once, all of them or none. And other values in place of the world's, with nothing
 * made again but M. */
st_Status sti_set_parameters(const sti_Model *model, sti_State *state, sti_StepWork *work, const char *const *path,
                             const double *value, int n, st_Error *err);
void sti_enter_values(const sti_Model *model, sti_StepWork *work, sti_Values *other);
st_Status sti_check_values(const sti_Model *model, const sti_Values *values, st_Error *err);
/* save.c: st_system_restore; keep_values: the parameters of the system stay; rows: the rows at that state, if the
 * caller has kept them, or NULL. They are exchanged with the rows of the system, which are then not computed again. */
st_Status sti_restore_saved(st_System *system, const void *buffer, size_t size, bool keep_values, st_Sink *rows,
                            st_Error *err);
/* Are the rows at the state those that a system restored to it would make, and do they stay valid apart from it? */
bool sti_rows_can_be_kept(const sti_Model *model, const sti_State *state, const sti_StepWork *work);

/* control.c: joint and motor rows at the state, where a controller has spoken since they were made. */
st_Status sti_refresh_rows(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);

/* one_body.c: is it one of a scene, and does it move? Whose call asks. */
/* The state's position becomes q, in which the marked bodies are elsewhere: contacts are looked for, and what is
 * remembered of theirs is forgotten: one_body.c.                                                  */
st_Status sti_bodies_moved(const sti_Model *model, sti_State *state, sti_StepWork *work, const double *q,
                           const unsigned char *moved, st_Error *err);
st_Status sti_check_movable(const sti_Model *model, const char *call, st_BodyId body, st_Error *err);

/* state.c: the state to go back to, and back to it; its impulses, before others take their place. */
st_Status sti_save(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
void sti_restore(const sti_Model *model, sti_State *state, sti_StepWork *work);
void sti_save_impulses(sti_State *state, sti_StepWork *work);

/* state.c: no step yet, or one that failed: there is nothing to report. Strikes of the last step that was made stay:
 * the next step continues from them. */
void sti_forget_step(const sti_Model *model, const sti_State *state, sti_StepWork *work);

/* strike.c: contacts that closed in the step just made, and what they reach; `jump`: it began with one in the
 * velocities of joints. Is a contact, or a joint (contact 0), among that?                                      */
void sti_note_strikes(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, bool first_step,
                      bool jump);
bool sti_is_struck(const sti_Model *model, const sti_State *state, const sti_StepWork *work, uint64_t contact, int a,
                   int b);
void sti_forget_strikes(sti_StepWork *work);
st_Status sti_strikes_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_strikes_free(const sti_Model *model, sti_StepWork *work);

/* report.c: a contact in words, for messages: `bodies "left" and "ground"`. */
void sti_describe_contact(const sti_Model *model, const sti_ContactEntry *contact, char *out, size_t size);

/* clock.c: a step begins, with a deadline if there is one, and ends. ST_ERR_CANCELLED once it is to stop. */
void sti_cancel_begin(const sti_Model *model, sti_StepWork *work);
void sti_cancel_end(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Status status,
                    st_Error *err);
st_Status sti_go_on(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
/* A request that `from` has got is one for `to`. */
void sti_cancel_carry(const sti_StepWork *from, sti_StepWork *to);

/* clock.c: the time at the end of a step of length h; t was reached by one, or was set, or an event ended it there. */
double sti_next_time(const sti_State *state, double h);
void sti_time_reached(sti_TimeGrid *grid, double before, double h);
void sti_time_set(sti_State *state, double t);
/* The time since the last lap belongs to a stage. */
void sti_start_lap(sti_StepWork *work);
void sti_lap(sti_StepWork *work, st_Stage stage);

/* ---- the model, and the contacts that count --------------------------------------------------------- */

/* evaluate.c: fill a sink at (t, q). */
st_Status sti_evaluate(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink, double t,
                       const double *q, double margin, st_Error *err);
/* All of it but contacts, which stay. */
st_Status sti_evaluate_constraints(const sti_Model *model, sti_StepWork *work, st_Sink *sink, double t, const double *q,
                                   st_Error *err);
/* All of it, with the contacts that bodies with velocities v, or as a second guess `other` (or NULL), may run into
 * within h. A model of the user's tells of none.                                                  */
st_Status sti_evaluate_ahead(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Sink *sink,
                             double t, const double *q, double margin, double h, const double *v, const double *other,
                             st_Error *err);
double sti_row_buffer_joint_error(const st_Sink *sink);
double sti_row_buffer_penetration(st_Sink *sink, int threads);
/* M at q, unless it is known already. */
st_Status sti_mass(const sti_Model *model, sti_Assembly *out, const double *q, st_Error *err);
/* work->joined, if it is not known yet: what joints and springs connect (recovery.c). */
st_Status sti_find_joined(const sti_Model *model, sti_StepWork *work, st_Error *err);
/* By velocity: the first velocity of its island, which joints, springs and contacts of the step problem connect. Those
 * of a user's model are one (recovery.c). */
st_Status sti_find_islands(const sti_Model *model, sti_StepWork *work, int *of, st_Error *err);
double sti_energy_kinetic(const sti_Model *model, sti_StepWork *work, const double *q, const double *v);
double sti_energy_potential(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                            const st_Sink *sink, double t, const double *q);
void sti_move(const sti_Model *model, const double *q, const double *v, double h, double *q_out);
void sti_difference(const sti_Model *model, const double *q0, const double *q1, double *d);

/* The blocks of M that may move; all of them, unless bodies sleep. */
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

/* settings.c: settings that were left open become lengths and speeds of this scene. */
void sti_scale_settings(sti_Model *model);

/* contact_selection.c: which contacts a step problem has. Gaps are closed by gap/h; contacts enter before they touch.
 */
bool sti_closes_gaps(const st_SystemDef *def);
bool sti_speculative(const sti_Model *model);
double sti_margin(const sti_Model *model);
double sti_margin_of(const sti_Model *model, const sti_ContactEntry *contact);
st_Status sti_refresh_active(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
st_Status sti_want_contacts(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h,
                            st_Error *err);
st_Status sti_note_missed(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, int *n_new,
                          st_Error *err);
/* Those of the missed that the state does not show are put among its contacts. */
st_Status sti_bring_back(sti_StepWork *work, st_Error *err);
st_Status sti_drop_separated(const sti_Model *model, sti_StepWork *work, st_Error *err);
st_Status sti_drop_rebounding(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
st_Status sti_activate_touching(const sti_Model *model, sti_StepWork *work, double gap, st_Error *err);
st_Status sti_note_loaded(const sti_Model *model, sti_StepWork *work, st_Error *err);

/* ---- a stage: one step problem ---------------------------------------------------------------------- */

/* Of a stage with drift `mean` (discrete_gradient.c): joints and springs as means over the step. */
typedef struct sti_MeanRows {
    const st_Sink *constraints;   /* their rows, and their values at q_base                        */
    const st_Sink *end;           /* half of whose rows belong to these; or NULL                   */
    const double *columns;        /* n_v: what the columns of the rows are multiplied by; or NULL  */
    const double *A, *D, *v_near; /* A = M + diag(D) instead of M, and D v_near beside the forces  */
    bool again;                   /* v and l are a solution but for small changes of G, f, g; there are no contacts */
} sti_MeanRows;

/* One velocity problem (docs/methods.md 3): with rows at q_star and laws on v,
 *     M v = M v_base + eta k(t, q_star, v_star) + push + G l + H r,    drift and springs from q_base
 * implicit Euler is (t, q, v, v, q, h). eta = 0 is an impact: no forces, no soft rows, no drift.   */
typedef struct sti_Stage {
    double t, eta;
    const double *q_star, *v_star, *v_base, *q_base;
    const st_Sink *rows;       /* evaluated at q_star                                              */
    double reach;              /* v moves q_base for this long: where drift wants gaps closed      */
    double ahead;              /* k is the mean of its values at t and so much later               */
    bool mean;                 /* springs, joints and gaps follow (v_base + v)/2: trapezoid, form I */
    bool second_order;         /* the gyroscopic term at v_star instead of inside v_base           */
    bool rebound;              /* contacts that close rebound by Newton's law                      */
    const double *push;        /* an impulse, or NULL                                              */
    const double *loaded;      /* by contact: normal impulse in `push` that carries friction as well; or NULL      */
    const st_Sink *drift_from; /* drift is what is left over there, to be gone after `reach`; NULL: at q_base */
    const double *way;         /* from the state to q_base, where that is not the state: friction works along all of
                                * way + eta v in the time `length`; or NULL                        */
    double length;
    const sti_MeanRows *means; /* NULL: joints and springs are those of `rows`                     */
    const double *f_before;    /* n_v: nothing is solved if f is this again; or NULL               */
} sti_Stage;

/* stage.c, stage_solve.c: fill the step problem with the `wanted` contacts; solve it. */
st_Status sti_stage_assemble(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                             st_Error *err);
st_Status sti_stage_solve(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          double *v, st_SolveInfo *info, st_Error *err);
/* stage_work.c: the work of a solution, into step.done; what of it the potential gave is no work of forces. */
st_Status sti_stage_work(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage, const double *v,
                         st_Error *err);
void sti_work_less_potential(const sti_Model *model, const sti_State *state, sti_StepWork *work);
/* force_derivatives.c: the impulse of linearised forces beside eta k, of a solution v. */
void sti_linearised_impulse(sti_StepWork *work, const double *v);
void sti_linearised_free(const st_Allocator *allocator, sti_Linearised *out);
/* A problem made by this library; of a user's own model it is checked. */
st_Status sti_solve_problem(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Solver *solver,
                            const st_Problem *problem, st_Solution *solution, st_SolveInfo *info, st_Error *err);
/* The step problem, island by island. */
st_Status sti_solve_islands(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Solution *solution,
                            st_SolveInfo *info, st_Error *err);

/* stage_contacts.c: w along a contact's tangents, at q: the velocity of a belt, and 0 without one. */
void sti_belt_speeds(const sti_Model *model, const double *q, const st_ContactLaw *law, const sti_ContactEntry *entry,
                     double *w);
/* pile_contacts.c: row k of contact c of the step problem, also where its contacts are arrays. */
typedef struct sti_RowView {
    int n;
    const int *i;
    const double *x;
    int i_room[16];
    double x_room[16];
} sti_RowView;
void sti_view_row(const sti_Model *model, const sti_StepWork *work, int c, int k, sti_RowView *row);
/* All of them: H of the step problem, where its contacts are arrays. */
st_Status sti_step_rows(const sti_Model *model, sti_StepWork *work, st_Error *err);

/* stage_contacts.c: velocity that a unit impulse along row k of H makes, about [1/kg]; along the normal of contact c,
 * also where contacts are arrays; along row k of H or G.                                          */
double sti_mobility(const sti_Model *model, const sti_StepWork *work, int row);
double sti_contact_mobility(const sti_Model *model, const sti_StepWork *work, int c);
double sti_row_mobility(const sti_Model *model, const sti_StepWork *work, const sti_RowList *rows, int row);

/* warm_start.c: the forces of the last step as a start for this one, and kept for the next. */
st_Status sti_warm_start(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                         st_Error *err);
/* Have overlaps in this stage a dead band? */
bool sti_has_band(const sti_Model *model, const sti_Stage *stage);
st_Status sti_keep_impulses(const sti_Model *model, sti_State *state, sti_StepWork *work, double eta, st_Error *err);
st_Status sti_keep_waiting(const sti_Model *model, sti_State *state, sti_StepWork *work, bool for_good,
                           st_Error *err); /* those that wait to be kept, if any */
st_Status sti_keep_tried(const sti_Model *model, sti_State *state, sti_StepWork *work,
                         st_Error *err); /* likewise, for another attempt */

/* ---- integrators: stages make a step ---------------------------------------------------------------- */

/* integrator.c: an integrator is one function and a few facts. */
typedef struct sti_Integrator {
    int order;
    /* (q, v) at t to (q_new, v_new) at t + h, with the acceleration at the end in a_new. */
    st_Status (*step)(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                      st_Error *err);
} sti_Integrator;

const sti_Integrator *sti_integrator(const sti_Model *model);
bool sti_goes_on(const sti_Model *model);
st_Status sti_integrate(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                        st_Error *err); /* by the one of the def */
st_Status sti_euler_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                         st_Error *err);
st_Status sti_trapezoid_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                             st_Error *err);
st_Status sti_sdirk2_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                          st_Error *err);
st_Status sti_bdf2_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                        st_Error *err);

/* What they share. Rows of a stage at (t, q_star), into `middle`; the problem and its solution, checked; a first stage
 * again with the velocity it gave, where nothing was known of it.                                  */
st_Status sti_rows_of_stage(const sti_Model *model, const sti_State *state, sti_StepWork *work, double t,
                            st_Error *err);
st_Status sti_solve_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          double *v, st_StepInfo *info, st_Error *err);
st_Status sti_check_velocity(const sti_Model *model, const sti_State *state, sti_StepWork *work, const double *v,
                             double t, st_Error *err);
st_Status sti_solve_first_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                                double *v, st_StepInfo *info, st_Error *err);
/* Does a contact close inside the step? euler.c: then the step is one of Euler's, and the integrator starts again after
 * it. */
bool sti_closes_within(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h);
st_Status sti_rough_step(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                         st_Error *err);

/* impulses.c: of the stages of a piece, weighed and added: what they change v by, and the mean velocity on the way. The
 * last stage of a scheme; what bdf2 has from the piece before; more along the normal of contact c.  */
void sti_carry_nothing(const sti_Model *model, sti_StepWork *work);
st_Status sti_carry_impulses(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, st_Error *err);
st_Status sti_total_impulses(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, st_Error *err);
st_Status sti_carry_last(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                         st_Error *err);
st_Status sti_carry_normal(const sti_Model *model, sti_StepWork *work, int c, double impulse, st_Error *err);
const double *sti_impact_impulse(const sti_StepWork *work, int c); /* of contact c of an impact, all of it */
/* A step begins; a collision cuts its piece at a fraction of it; a piece is accepted. */
void sti_impulses_begin(const sti_Model *model, sti_StepWork *work);
st_Status sti_cut_piece(const sti_Model *model, sti_StepWork *work, double at, st_Error *err);
st_Status sti_sum_piece(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
st_Status sti_impulses_save(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                            st_Error *err); /* with the snapshot */
void sti_impulses_restore(const sti_Model *model, sti_State *state, sti_StepWork *work);
st_Status sti_impulses_create(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err);
void sti_impulses_free(const sti_Model *model, sti_State *state, sti_StepWork *work);

/* What the step problem at hand was made from: rows of springs and velocity at its start; k, gyroscopic impulse; what
 * drift mean adds to the impulses of joints, or NULL.                                               */
typedef struct sti_StageEnds {
    const st_Sink *rows;
    const double *v, *applied, *turning, *lag;
} sti_StageEnds;
/* state.c: st_system_set_state, with contacts foreseen for a step of `ahead`; 0: as the next step needs them. rows:
 * those of the state, to be exchanged with the system's; NULL: they are made.                               */
st_Status sti_put_state(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, const double *q,
                        const double *v, double ahead, st_Sink *rows, st_Error *err);
/* report.c: the two bodies of a contact and its force on the second [N]; false: none, or one of a joint's limit. */
bool sti_contact_push(const st_System *system, int index, int body[2], st_Vec3 *force);
/* report.c: coordinate, speed and motor force of a joint, as st_system_joint has them, and nothing else. impulses.c:
 * the impulse of its motor in the step problem. */
void sti_joint_drive(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                     double out[3]);
double sti_motor_impulse(const sti_Model *model, const sti_StepWork *work, int index);
/* Impulses of the step problem at hand: of a joint, of a spring; on all velocities, by loads (`out`: STI_N_LOADS x n_v,
 * `room`: n_v); of a contact along its axes and about them, as vectors.                             */
st_Status sti_joint_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                            sti_JointImpulse *out);
/* Finite ones and impacts of the whole step, where impulses are summed. */
st_Status sti_joint_impulses_of_step(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends,
                                     int index, sti_JointImpulse out[2]);
void sti_spring_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                        sti_SpringImpulse *out);
st_Status sti_stage_loads(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, double weight,
                          double *out, double *room, st_Error *err);
st_Vec3 sti_contact_along(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent);
st_Vec3 sti_contact_about(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent);
/* impulses.c: contact c of the step problem at hand with its impulse, as one of this kind; velocity is left 0. */
void sti_contact_impulse(const sti_StepWork *work, int c, int kind, sti_ContactImpulse *out);
void sti_mass_times(const sti_Model *model, const sti_StepWork *work, const double *x, double *out); /* out = M x */
/* report.c: the time that the finite impulses of the step act for. */
double sti_force_time(const sti_StepWork *work);
/* H'v of a contact of the step problem at hand, and its belt. */
void sti_relative_velocity(const sti_Model *model, const sti_StepWork *work, const double *v, const st_ContactLaw *law,
                           const sti_ContactEntry *entry, double *velocity);

/* impulses.c: the impulse of contact c of the step problem, along its frame: less what adhesion adds to it, and in the
 * units of friction by direction. And what the step problem has of such an impulse.                */
void sti_force_of(const sti_Assembly *step, int c, const double *r, double *out);
void sti_unknowns_of(const sti_Assembly *step, int c, double *r);
/* stribeck.c: friction at the speeds of the solution, a part of the way there (0: nothing is changed). Returns the sum
 * of the squares of how much bounds mu r_n change. */
double sti_follow_speeds(sti_Assembly *step, double part);
/* liquid_bridge.c: is a contact bridged, the force of a bridge across a gap [N]; forces at the gaps that velocities v
 * lead to, a part of the way there. Returns the sum of the squares of their changes [N s].              */
bool sti_has_bridge(const sti_Model *model, const sti_State *state, const sti_ContactEntry *entry);
double sti_bridge_force(const sti_World *world, const sti_ContactEntry *entry, double gap);
double sti_follow_gaps(const sti_Model *model, sti_StepWork *work, const double *v, double part);
/* control.c: motors that follow a controller with a lag go on from their wanted values when the time becomes t; and one
 * wants a value at once, as in a keyframe. */
void sti_motors_restart(const sti_Model *model, sti_State *state, sti_StepWork *work, double t);
void sti_motor_settle(const sti_Model *model, sti_State *state, sti_StepWork *work, int joint, double wanted);
/* adhesion.c: the work of the stage's adhesion along a velocity [J]. */
double sti_adhesion_work(const sti_Model *model, const sti_StepWork *work, const double *way);

/* discrete_gradient.c: a stage whose velocity v moves q_base for `reach`, with joints and springs as means over that
 * way; v begins as a prediction. Leaves q_new and the constraints of `trial` there.                             */
st_Status sti_solve_mean_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                               double *v, st_StepInfo *info, st_Error *err);
/* The numbers of rows of its constraints, and with half of those of `half`, if there are any. */
void sti_mean_put_rows(const sti_MeanRows *means, const sti_RowList *rows, const sti_RowList *half,
                       const sti_JointEntry *joint, double *x);
/* The mean velocity over the next h, extrapolated from the last steps; before a step of length h becomes history. */
void sti_predict_mean(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h, double *v);
void sti_mean_remember(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h);
st_Status sti_check_mean(const st_SystemDef *def, st_Error *err);
st_Status sti_mean_create(const sti_Model *model, sti_StepWork *work, st_Error *err);
void sti_mean_free(const sti_Model *model, sti_StepWork *work);
int64_t sti_mean_past(const sti_Model *model); /* numbers in `past` */

struct sti_FlatImpulse; /* device/flat_pile.h */
/* on_device.c: the step of a pile on flat arrays, where the settings say so; its contacts. */
st_Status sti_device_create(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err);
void sti_device_destroy(const sti_Model *model, sti_StepWork *work);
st_Status sti_device_step(st_System *system, double h, st_StepInfo *info, st_Error *err);
int sti_device_contact_count(const sti_StepWork *work);
st_Status sti_device_contact(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                             st_ContactReport *out);
st_Status sti_device_loads(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_BodyLoad *out,
                           int count); /* from 0 */
/* Error, impulses and forces of a joint; the rest of the report is as it was. */
st_Status sti_device_joint(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                           st_Frame frame, st_JointReport *out);
/* Forces of a spring, likewise. */
st_Status sti_device_spring(const sti_StepWork *work, int index, st_SpringReport *out);
/* What its next step starts from, for saved states: how many (0: nothing) and the length of the step they are of. */
int sti_device_impulses(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                        const struct sti_FlatImpulse **out, double *h);
bool sti_device_impulse_fits(const sti_StepWork *work, const struct sti_FlatImpulse *impulse, int least_sphere);
st_Status sti_device_start_room(const sti_Model *model, sti_StepWork *work, int64_t n, st_Error *err);
void sti_device_start_from(sti_StepWork *work, const void *impulses, int64_t n, double h);

/* ---- what happens within a step --------------------------------------------------------------------- */

/* stick_slip.c: does a contact take off, stick or slip within the step just tried? Then the step is made
 * again up to there, and *s is its fraction; else s = 1.                                          */
st_Status sti_find_transition(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double *s,
                              st_StepInfo *info, st_Error *err);
st_Status sti_note_modes(const sti_Model *model, const sti_State *state, sti_StepWork *work, double s, st_Error *err);

/* collision_event.c: the way from q to q_new; the first new contact on it, as the fraction s of the step; 1 if there
 * is none.                                                                                        */
void sti_path(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h, double s, double *q,
              double *v);
st_Status sti_find_collision(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h, double *s,
                             st_Error *err);
st_Status sti_add_event(const sti_Model *model, sti_StepWork *work, const st_EventReport *event, st_Error *err);
/* conservative_advancement.c: the fraction of the way at which shapes that are not held can overlap, where they are
 * what `sink` shows at the fraction s; INFINITY: never. `patience`: how many skins deep. */
double sti_earliest_touch(const sti_Model *model, const sti_State *state, const sti_StepWork *work, const st_Sink *sink,
                          double h, double s, double patience);

/* root.c: a root of F in [lo, hi], where F(lo) > 0 > F(hi); ends on the side where F >= 0. */
typedef st_Status sti_Function(void *ctx, double s, double *F, st_Error *err);
st_Status sti_find_root(sti_Function *F, void *ctx, double lo, double hi, double F_lo, double F_hi, double small_s,
                        double small_F, double *root, st_Error *err);

/* collision_response.c: the collision at fraction s of the step; an impact at q_new, where something was run into; too
 * many events?                                                                                    */
st_Status sti_collide_at(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, double s,
                         st_StepInfo *info, st_Error *err);
st_Status sti_land(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, double h, st_StepInfo *info,
                   st_Error *err);
bool sti_ran_into_something(const sti_Model *model, const sti_StepWork *work);
bool sti_exhausted(const sti_Model *model, const sti_StepWork *work);
st_Status sti_count_exhausted(const sti_Model *model, sti_State *state, sti_StepWork *work, int stalled, st_Error *err);
st_Status sti_count_event(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, double s,
                          st_StepInfo *info, st_Error *err);

/* impact.c: the velocity after the impact of the active contacts at (t, q_new), from and to v_new; rows in
 * `here`.                                                                                         */
st_Status sti_impact(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, st_StepInfo *info,
                     st_Error *err);

/* rebound.c: do contacts that close within a step rebound, without event location? Their targets in the problem of a
 * stage whose contacts are there; after its solution, less restitution where it added energy.      */
bool sti_rebounds_unseen(const sti_Model *model);
st_Status sti_add_rebounds(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage, st_Error *err);
st_Status sti_limit_rebounds(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                             double *v, st_StepInfo *info, st_Error *err);
/* Order two: those that do, at the state: the velocity after it in v_base, its impulses carried.   */
st_Status sti_rebound(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, bool *rebounds,
                      st_StepInfo *info, st_Error *err);

/* recovery.c: of the speed w that closes a gap (w > 0) or removes overlap (w < 0), what this attempt asks for. After a
 * step: less recovery if it moves something faster than correction_speed.                          */
static inline double sti_recovery_share(const sti_StepWork *work, int velocity)
{
    return work->recovery.by_island ? work->recovery.room[velocity] : work->recovery.share;
}
static inline double sti_recover(const sti_StepWork *work, int velocity, double w)
{
    return w < 0 ? sti_recovery_share(work, velocity) * w : w;
}
/* A velocity of one of the bodies of a contact that move. */
static inline int sti_moving_velocity(const sti_World *world, const sti_ContactEntry *entry)
{
    return world->body[world->body[entry->b].n_dofs > 0 ? entry->b : entry->a].v_first;
}
/* Before a step is integrated: all drift correction, or the share that the energy guard allows. After it: if the
 * correction makes a body too fast, the step is integrated again with less of it.                      */
static inline void sti_begin_recovery(sti_StepWork *work)
{
    work->recovery.share = work->guard.recovery;
    work->recovery.by_island = false;
}
st_Status sti_bound_recovery(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_StepInfo *info,
                             st_Error *err);

/* projection.c: the position nearest q_new (in M) with joints and active gaps closed; `trial` is evaluated at q_new
 * before, and at the final position after. h and v_new serve eq. 46 (keep_springs). */
st_Status sti_project(const sti_Model *model, const sti_State *state, sti_StepWork *work, double t, double h,
                      st_Error *err);

#endif
