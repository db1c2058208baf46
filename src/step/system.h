/* step/system.h -- the simulation's own data, shared by the files of step/.
 *
 *     here:  rows and contacts at the state (t, q)            trial: the same at a position being tried
 *
 * A step computes into q_new, v_new and `trial`; only when all of it went well are they exchanged with the state. What
 * it changes on its way is put back when it fails (sti_save, sti_restore), so that a failing step leaves no trace; but
 * for sleepers that it ran into, who stay awake, and, where it failed behind its first attempt, the forces that the
 * next one would have started from, which are forgotten.
 */
#ifndef STI_SYSTEM_H
#define STI_SYSTEM_H

#include "model/world.h"
#include "solve/islands.h"
#include "solve/rows.h"
#include "step/patch.h"

#include <stiction/system.h>

/* A set of contact ids, sorted. */
typedef struct sti_IdSet {
    uint64_t *id;
    int n;
    int64_t capacity;
} sti_IdSet;

int sti_ids_lower(const sti_IdSet *set, uint64_t id); /* how many are smaller */
bool sti_ids_contain(const sti_IdSet *set, uint64_t id);
st_Status sti_ids_add(const st_Allocator *allocator, sti_IdSet *set, uint64_t id, st_Error *err);
st_Status sti_ids_copy(const st_Allocator *allocator, sti_IdSet *to, const sti_IdSet *from, st_Error *err);

/* A contact of the step problem. */
typedef struct sti_Chosen {
    sti_ContactEntry entry; /* as the sink has it                                                  */
    double left;            /* residual that the last solve of its island left over                */
    int element;            /* of a compliant patch                                                */
} sti_Chosen;

typedef struct sti_Impulse {
    uint64_t id;
    int dim, element;
    int shape_a, shape_b; /* 0: no contact of two shapes                                          */
    st_Vec3 point, normal, tangent;
    double r[ST_MAX_DIM]; /* [N s] per second of step                                             */
    double left;          /* residual that the solve of its island left over                      */
} sti_Impulse;

typedef struct sti_LeastNorm sti_LeastNorm; /* least_norm.c */

/* Memory of one step problem. */
typedef struct sti_Assembly {
    st_Problem problem;
    struct st_RowSource later; /* of the problem, where H waits to be made: waiting.c                 */
    sti_RowList G, H;          /* while H waits it has a number of rows, and no rows                  */
    int *leg;                  /* while it waits: two a contact, the first velocities of its bodies   */
    int64_t leg_capacity;
    double *M, *f, *g, *w, *Cb, *C;
    int laid_out;    /* rows of G whose entries are those of a world's joints and springs: they stay */
    bool mass_known; /* M stays as it is, for good                                                */
    int *Cb_first, *C_first;
    st_ContactLaw *law;
    sti_Chosen *chosen;
    double *r, *u, *l;
    double *start; /* the r that the solver began with                                             */
    int64_t start_capacity;
    const double *whole; /* impulses of the whole step, what is reported: r for one stage, or       */
    double *impulse;     /* the sum of several                                                    */
    int64_t impulse_capacity;
    int64_t g_capacity, w_capacity, Cb_capacity, C_capacity, Cb_first_capacity, C_first_capacity, law_capacity,
        chosen_capacity, r_capacity, u_capacity, l_capacity;
    int n_gaps, n_bounded; /* the problem's contacts: those with a gap, then bounded rows          */
    int overlapping;       /* contacts that got a compliance                                       */
    int undetermined;      /* contacts whose forces are open, forces least_norm; -1: too many      */
    int n_C;               /* blocks of C                                                          */
    int64_t C_used;        /* numbers in them                                                      */
    bool compliant;        /* some row has one                                                     */
    double t, eta;         /* when the rows were taken; eta = 0: an impact                         */
    const double *q;       /* and where (n_q): with one stage the state before, else in `place`    */
    double *place;
    double friction_work; /* of the solution [J]                                                  */
} sti_Assembly;

/* What an integrator remembers of the step before; gone after an event and when the state is set. Without stages
 * (sti_has_stages) nobody asks for it, and the vectors are NULL.                                  */
typedef struct sti_History {
    bool known;
    double h;      /* its length [s]                                                               */
    double *q, *v; /* the state before it                                                          */
    double *a;     /* the acceleration at its end                                                  */
} sti_History;

typedef struct sti_Mode sti_Mode;

/* The state before a step, to go back to when it fails. Without stages q, v, history, loaded and modes are not touched
 * before the step is done, and not copied.                                                         */
typedef struct sti_Snapshot {
    double t, friction_work, speed, pull;
    int stalled;
    double *q, *v;
    sti_History history;
    sti_IdSet active, loaded;
    sti_Mode *mode;
    int n_modes;
    int64_t mode_capacity;
    sti_Impulse *previous; /* exchanged with the system's when others are kept before the step stands (`kept`) */
    int n_previous;
    int64_t previous_capacity;
    bool kept;
    bool lost; /* they were overwritten by those of an attempt that was made again                 */
} sti_Snapshot;

/* How a contact is closed: which of its complementary pairs is which way round (transition.c). */
struct sti_Mode {
    uint64_t id;
    unsigned char closed, sticking, slipping; /* no bools: they come back from files, too */
    double direction[2];          /* of sliding                                                             */
    uint64_t pushing[4], idle[4]; /* pyramid in space, sliding: its facets                          */
};

/* A contact among bodies that sleep, with the force of its last step. */
typedef struct sti_Sleeper {
    sti_Impulse impulse;
    int a, b;
    double gap;
} sti_Sleeper;

/* Who sleeps is in the world (world->asleep): sleep.c. By body but for the last ones. */
typedef struct sti_Sleep {
    bool on;
    int n_bodies, n_shapes; /* that there is room for                                                   */
    int n_asleep;
    int64_t serial;       /* times that it changed who sleeps, or where                                 */
    int n_ready;          /* awake, and at rest for long enough                                          */
    int *ring;            /* the next of those that fell asleep together                                 */
    unsigned char *due;   /* wakes before the next step                                                  */
    double *rest;         /* how long it has been at rest [s]                                            */
    bool *restless;       /* work: leaders of islands that cannot sleep                                  */
    int *above;           /* work: union-find                                                            */
    int *bodies, *shapes; /* what is awake, while somebody is not: the world's lists                    */
    int *blocks;          /* and by block of M                                                          */
    sti_Awake awake;
    int n_due;
    sti_Sleeper *contact, *spare; /* by id                                                         */
    int n_contacts;
    double penetration; /* among them [m]                                                          */
    sti_Impulse *merged;
    double *joint_force; /* by joint row: of the last step [N, N m]                                */
    int n_joint_forces;
    int64_t contact_capacity, spare_capacity, merged_capacity, joint_force_capacity;
} sti_Sleep;

/* Drift `mean`: mean.c. All NULL without it. */
enum { STI_MEAN_PAST = 3 };

typedef struct sti_Mean {
    double *past;             /* n_past, the order to predict with, then what follows: saved with the state */
    double *tension;          /* n_v: forces of joints times their levers, at the last solution [N m]       */
    double *a[STI_MEAN_PAST]; /* n_v: accelerations before that of the history, n_past of them known */
    double *D;                /* n_v: of the last factorisation                                             */
    double *A;                /* M + diag(D)                                                                */
    double *v_near;           /* n_v: the velocity of the round before                                      */
    double *turns;            /* n_v: factors of columns of rotations                                       */
    double *before;           /* `past` before the step, to go back to                                      */
} sti_Mean;

struct st_System {
    st_SystemDef def;
    st_Allocator allocator;
    st_Model model;
    sti_World *world;            /* NULL: a model of the user's                                               */
    int64_t n_M;                 /* numbers in the blocks of M                                                */
    const unsigned char *marked; /* by block: M has its diagonal alone (st_BlockDiag); NULL: of none */
    int64_t *diagonal;           /* n_v: where M_ii stands; NULL: at i, all blocks are diagonal       */
    int whole[2];                /* offsets of the one block of a model that names none                       */

    double t;
    bool fresh;     /* no step yet from a state that was set: motors may be in for a jump (initial.c)        */
    double h_asked; /* length of the whole step under way                                          */
    double *q, *v;
    int64_t n_steps;

    double *q_new, *v_new, *work_v;
    double *q_target, *q_best, *work_k;                   /* of projection, and with stages; else NULL        */
    double *q_star, *v_star, *q_base, *v_base, *v_target; /* from here on with stages only             */
    double *a_new;                                        /* acceleration at the end of the step              */
    double *path;                                         /* from q to q_new as a velocity, for a time of 1   */
    double *push;                                         /* impulse of restitution                           */
    st_Sink here, trial, middle;                          /* middle: rows of a stage, at q_star               */
    sti_History history;
    sti_Snapshot saved;
    sti_IdSet wanted;             /* contacts of the step problem                                 */
    sti_IdSet loaded, loaded_new; /* contacts that carried at the end of the last step            */
    sti_Mode *mode, *mode_new;    /* of the step before, of this one; by id                       */
    int n_modes, n_modes_new;
    int64_t mode_capacity, mode_new_capacity;
    st_EventReport *event; /* of the step under way                                                */
    int n_events, n_stops;
    int64_t event_capacity;
    bool rough;                   /* the step became one of Euler's: no history for the next                         */
    bool tired;                   /* more than max_events in this step: no restitution, no transitions               */
    sti_IdSet active, active_new; /* contacts held closed: drift velocity, projection              */
    sti_IdSet missed;             /* contacts a first attempt at the step ran into, drift gap      */
    double missed_by;             /* how deep the last attempt ran into those it did not know [m]  */
    sti_ContactEntry *found;      /* those of them that the state does not show, brought back to it */
    int n_found;
    int64_t found_capacity;
    bool rows_stale; /* a controller has spoken since the rows of `here` were made     */
    double foreseen; /* `here` has the contacts that may close within this time [s]   */
    int stalled;     /* collisions in a row without progress in time                  */

    double initial_position, initial_velocity; /* largest change made to the initial state          */
    int n_changes;                             /* of its scene: change.c                            */

    double speed;      /* largest velocity of the last step, free of contacts [m/s, rad/s]               */
    double pull;       /* largest acceleration by forces at its last stage                               */
    sti_Assembly step; /* the last step problem, with its solution                           */
    sti_Assembly projection;
    sti_Patches patches, patches_new; /* contact compliant: the state, and what follows it         */
    sti_PatchKind *patch_kind;
    int n_patch_kinds;
    int64_t patch_kind_capacity;
    sti_Impulse *carried; /* impulses of a first stage, for the step's total                        */
    int n_carried;
    double carried_work; /* of friction in it [J]                                                   */
    int64_t carried_capacity;
    sti_Impulse *previous;
    int n_previous;
    int64_t previous_capacity;
    double to_keep;  /* of impulses that wait to become these: the stage's eta; 0: none do         */
    double *lasting; /* by island: left over by the last solve, then the part of a change that is kept (warm.c) */
    int64_t lasting_capacity;
    sti_Islands *islands; /* who solves the step problem                                           */
    st_Solver *projector;
    sti_LeastNorm *least_norm; /* NULL: forces are what the solver finds                            */

    sti_Sleep sleep;
    sti_Mean mean;

    double friction_work; /* since the start [J]                                                   */
    double work_before;   /* of the part of the step before its collision [J]                      */

    double lap; /* clock at the last lap [s]                                                       */
    double seconds[ST_N_STAGES];
};

/* Add the time since the last lap to a stage. */
void sti_start_lap(st_System *system);
void sti_lap(st_System *system, st_Stage stage);

/* evaluate.c: fill a sink at (t, q). */
st_Status sti_evaluate(st_System *system, st_Sink *sink, double t, const double *q, double margin, st_Error *err);
/* All of it but contacts, which stay. */
st_Status sti_evaluate_constraints(st_System *system, st_Sink *sink, double t, const double *q, st_Error *err);
/* The same, with the contacts that bodies with velocities v, or as a second guess `other` (or NULL), may run into
 * within h. A model of the user's tells of none.                                                  */
st_Status sti_evaluate_ahead(st_System *system, st_Sink *sink, double t, const double *q, double margin, double h,
                             const double *v, const double *other, st_Error *err);
double sti_sink_joint_error(const st_Sink *sink);
double sti_sink_penetration(st_Sink *sink, int threads);
/* The blocks of M that may move; all, unless somebody sleeps. */
static inline int sti_block_count(const st_System *system)
{
    return system->sleep.n_asleep > 0 ? system->sleep.awake.n : system->model.n_blocks;
}
static inline int sti_block(const st_System *system, int e)
{
    return system->sleep.n_asleep > 0 ? system->sleep.awake.block[e] : e;
}
static inline double sti_mass_of(const st_System *system, const double *M, int i)
{
    return M[system->diagonal != NULL ? system->diagonal[i] : i];
}
/* M at q, unless it is known already. */
st_Status sti_mass(const st_System *system, sti_Assembly *out, const double *q, st_Error *err);
double sti_energy_kinetic(st_System *system, const double *q, const double *v);
double sti_energy_potential(const st_System *system, const st_Sink *sink, double t, const double *q);
void sti_move(const st_System *system, const double *q, const double *v, double h, double *q_out);
void sti_difference(const st_System *system, const double *q0, const double *q1, double *d);

/* One velocity problem (METHODS section 3b): with rows at q_star and laws on v,
 *     M v = M v_base + eta k(t, q_star, v_star) + push + G l + H r,    drift and springs from q_base
 * implicit Euler is (t, q, v, v, q, h). eta = 0 is an impact: no forces, no soft rows, no drift.   */
typedef struct sti_Stage {
    double t;
    double ahead; /* k is the mean of its values at t and so much later                              */
    double eta;
    double reach;               /* v moves q_base for this long: where drift wants gaps closed            */
    bool mean;                  /* springs, joints and gaps follow (v_base + v)/2: trapezoid, form I      */
    bool second_order;          /* the gyroscopic term at v_star instead of inside v_base                 */
    bool rebound;               /* contacts that close rebound by Newton's law                            */
    const st_Sink *rows;        /* evaluated at q_star                                                    */
    const st_Sink *constraints; /* joints and springs as means over the step (mean.c), their values those at q_base;
                                 * NULL: as in `rows`                                              */
    const double *columns;      /* n_v: what the columns of their rows are multiplied by; or NULL          */
    const st_Sink *end;         /* half of whose rows belong to those of `constraints`; or NULL             */
    bool again;                 /* v and l are a solution but for small changes of G, f, g; there are no contacts  */
    const double *q_star, *v_star, *v_base, *q_base;
    const st_Sink *drift_from;    /* drift is what is left over there, to be gone after `reach`; NULL: at q_base */
    const double *A, *D, *v_near; /* A = M + diag(D) instead of M, and D v_near beside the forces (mean.c); or NULL */
    const double *push;           /* an impulse, or NULL                                                     */
    const double *way;            /* from the state to q_base, where that is not the state: friction works along all of
                                   * way + eta v in the time `length`; or NULL                       */
    double length;
} sti_Stage;

/* stage.c, stage_solve.c: fill the step problem with the `wanted` contacts; solve it. */
st_Status sti_stage_assemble(st_System *system, const sti_Stage *stage, st_Error *err);
/* waiting.c: may the rows of this stage's contacts wait until somebody wants them? Where they come from; those of one
 * contact, as sti_mobility needs them.                                                            */
bool sti_rows_may_wait(const st_System *system, const sti_Stage *stage);
struct st_RowSource sti_waiting_rows(st_System *system);
double sti_waiting_mobility(const st_System *system, int contact);
/* warm.c: the forces of the last step as a start for this one, and kept for the next. */
void sti_warm_start(st_System *system, double eta);
st_Status sti_keep_impulses(st_System *system, double eta, st_Error *err);
st_Status sti_keep_waiting(st_System *system, bool for_good, st_Error *err); /* those that wait to be kept, if any */
st_Status sti_keep_tried(st_System *system, st_Error *err);                  /* likewise, for another attempt */
st_Status sti_stage_solve(st_System *system, const sti_Stage *stage, double *v, st_SolveInfo *info, st_Error *err);
/* A problem made by this library; of a user's own model it is checked. */
st_Status sti_solve_problem(const st_System *system, st_Solver *solver, const st_Problem *problem,
                            st_Solution *solution, st_SolveInfo *info, st_Error *err);
/* The step problem, island by island. */
st_Status sti_solve_islands(st_System *system, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                            st_Error *err);
/* Velocity that a unit impulse along row k of H makes, about [1/kg]. */
double sti_mobility(const st_System *system, int row);

/* integrator.c: an integrator is one function and a few facts. */
typedef struct sti_Integrator {
    int order;
    /* (q, v) at t to (q_new, v_new) at t + h, with the acceleration at the end in a_new. */
    st_Status (*step)(st_System *system, double h, st_StepInfo *info, st_Error *err);
} sti_Integrator;

const sti_Integrator *sti_integrator(const st_System *system);
bool sti_goes_on(const st_System *system);
st_Status sti_integrate(st_System *system, double h, st_StepInfo *info, st_Error *err); /* by the one of the def */
st_Status sti_euler_step(st_System *system, double h, st_StepInfo *info, st_Error *err);
st_Status sti_trapezoid_step(st_System *system, double h, st_StepInfo *info, st_Error *err);
st_Status sti_sdirk2_step(st_System *system, double h, st_StepInfo *info, st_Error *err);
st_Status sti_bdf2_step(st_System *system, double h, st_StepInfo *info, st_Error *err);

/* What integrators share. Rows of a stage at (t, q_star), into `middle`; the problem and its solution,
 * checked; a first stage again with the velocity it gave, where nothing was known of it; whether a contact
 * closes inside the step; impulses of the stages, weighed and added.                              */
st_Status sti_rows_of_stage(st_System *system, double t, st_Error *err);
st_Status sti_solve_stage(st_System *system, const sti_Stage *stage, double *v, st_StepInfo *info, st_Error *err);
st_Status sti_solve_first_stage(st_System *system, const sti_Stage *stage, double *v, st_StepInfo *info, st_Error *err);
/* mean.c: a stage whose velocity v moves q_base for `reach`, with joints and springs as means over that way; v begins
 * as a prediction. Leaves q_new and the constraints of `trial` there.                             */
st_Status sti_solve_mean_stage(st_System *system, sti_Stage *stage, double *v, st_StepInfo *info, st_Error *err);
st_Status sti_check_mean(const st_SystemDef *def, st_Error *err);
st_Status sti_mean_create(st_System *system, st_Error *err);
void sti_mean_free(st_System *system);
int64_t sti_mean_past(const st_System *system); /* numbers in `past` */
/* The mean velocity over the next h, as the last steps let expect it; before a step of length h becomes history. */
void sti_predict_mean(const st_System *system, double h, double *v);
void sti_mean_remember(st_System *system, double h);
bool sti_closes_within(const st_System *system, double h);
/* euler.c: a step that runs into something as one of Euler's, and a new start behind it. */
st_Status sti_rough_step(st_System *system, double h, st_StepInfo *info, st_Error *err);
st_Status sti_carry_impulses(st_System *system, double weight, st_Error *err);
st_Status sti_total_impulses(st_System *system, double weight, st_Error *err);

/* active.c: which contacts a step problem has. */
/* Gaps are closed by gap/h. */
bool sti_closes_gaps(const st_SystemDef *def);
bool sti_speculative(const st_System *system);
double sti_margin(const st_System *system);
st_Status sti_refresh_active(st_System *system, st_Error *err);
st_Status sti_want_contacts(st_System *system, double h, st_Error *err);
st_Status sti_note_missed(st_System *system, double h, int *n_new, st_Error *err);
/* Those of the missed that the state does not show are put among its contacts. */
st_Status sti_bring_back(st_System *system, st_Error *err);
st_Status sti_drop_separated(st_System *system, st_Error *err);
st_Status sti_drop_rebounding(st_System *system, st_Error *err);
st_Status sti_activate_touching(st_System *system, double gap, st_Error *err);
st_Status sti_note_loaded(st_System *system, st_Error *err);

/* event.c: the way from q to q_new; the first new contact on it, as the fraction s of the step; 1 if there
 * is none.                                                                                        */
void sti_path(const st_System *system, double h, double s, double *q, double *v);
st_Status sti_find_collision(st_System *system, double h, double *s, st_Error *err);
st_Status sti_add_event(st_System *system, const st_EventReport *event, st_Error *err);

/* root.c: a root of F in [lo, hi], where F(lo) > 0 > F(hi); ends on the side where F >= 0. */
typedef st_Status sti_Function(void *ctx, double s, double *F, st_Error *err);
st_Status sti_find_root(sti_Function *F, void *ctx, double lo, double hi, double F_lo, double F_hi, double small_s,
                        double small_F, double *root, st_Error *err);

/* transition.c: does a contact take off, stick or slip within the step just tried? Then the step is made
 * again up to there, and *s is its fraction; else s = 1.                                          */
st_Status sti_find_transition(st_System *system, double h, double *s, st_StepInfo *info, st_Error *err);
st_Status sti_note_modes(st_System *system, double s, st_Error *err);

/* landing.c: the collision at fraction s of the step; an impact at q_new, where something was run into; too
 * many events?                                                                                    */
st_Status sti_collide_at(st_System *system, double h, double s, st_StepInfo *info, st_Error *err);
st_Status sti_land(st_System *system, double t, double h, st_StepInfo *info, st_Error *err);
bool sti_ran_into_something(const st_System *system);
st_Status sti_count_event(st_System *system, double t, double s, st_StepInfo *info, st_Error *err);
void sti_exchange_sinks(st_System *system);
void sti_exchange_active(st_System *system);

/* impact.c: the velocity after the impact of the active contacts at (t, q_new), from and to v_new; rows in
 * `here`.                                                                                         */
st_Status sti_impact(st_System *system, double t, st_StepInfo *info, st_Error *err);
/* Do contacts that close within a step rebound, though nobody looks where? Those that do, at the state: the velocity
 * behind it in v_base, its impulses carried.                                                      */
bool sti_rebounds_unseen(const st_System *system);
st_Status sti_rebound(st_System *system, double h, bool *rebounds, st_StepInfo *info, st_Error *err);

/* project.c: the position nearest q_new (in M) with joints and active gaps closed; `trial` is evaluated at
 * q_new before, and where it ends behind. h and v_new serve eq. 46 (keep_springs). */
st_Status sti_project(st_System *system, double t, double h, st_Error *err);

/* system.c: more than one stage a step, or events in it? Room for projection, where there is none yet. */
bool sti_has_stages(const st_System *system);
st_Status sti_prepare_projection(st_System *system, st_Error *err);
/* A body that does not move for a while: its pose, or 0, goes to every vector. */
void sti_still_body(st_System *system, int body);
/* The state to go back to, and back to it; its impulses, before others take their place. */
st_Status sti_save(st_System *system, st_Error *err);
void sti_restore(st_System *system);
void sti_save_impulses(st_System *system);
/* one_body.c: is it one of a scene, and does it move? Whose call asks. */
st_Status sti_check_movable(const st_System *system, const char *call, st_BodyId body, st_Error *err);
/* control.c: joint and motor rows at the state, where a controller has spoken since they were made. */
st_Status sti_refresh_rows(st_System *system, st_Error *err);
/* No step yet, or one that failed: there is nothing to report. */
void sti_forget_step(st_System *system);

/* initial.c: the first state, made consistent or refused as the def says. */
st_Status sti_check_initial(st_System *system, st_Error *err);
/* Where the trapezoid cannot start a motor's speed by itself: the velocity that has it. */
st_Status sti_meet_motors(st_System *system, st_Error *err);
/* A system at time t and the initial state of `world`, which is its own from then on; not where it fails. */
st_Status sti_system_of_world(const st_SystemDef *def, sti_World *world, double t, st_System **out, st_Error *err);

/* A contact in words, for messages: `bodies "left" and "ground"`. */
void sti_describe_contact(const st_System *system, const sti_ContactEntry *contact, char *out, size_t size);

#endif
