/* step/system.h -- the data of a simulation, shared by the files of step/.
 *
 *     st_System = model   fixed while it runs: settings, equations of motion, the compiled scene
 *               + state   all that the next step depends on: save.c writes it, and nothing else
 *               + work    memory of a step, and data for reports of the last one
 *
 * A step computes into work.q_new, v_new and `trial`; only when all of it succeeded are they exchanged with the state.
 * If the step fails, all other changes are undone (sti_save, sti_restore). There are two exceptions: sleepers that it
 * touched stay awake, and if it failed after its first attempt, the forces for the next warm start are lost.
 */
#ifndef STI_SYSTEM_H
#define STI_SYSTEM_H

#include "model/world.h"
#include "problem/pile_contacts.h"
#include "solve/islands.h"
#include "step/contact/patch.h"
#include "step/impulse_sums.h"

#include <stiction/system.h>

typedef struct sti_LeastNorm sti_LeastNorm;               /* least_norm.c */
typedef struct sti_OnDevice sti_OnDevice;                 /* on_device.c */
typedef struct sti_JointCoordinates sti_JointCoordinates; /* joint_coordinates.c */

/* ---- contacts from step to step ----------------------------------------------------------------- */

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

/* The impulse of a contact, matched by id in the next step. Lists are sorted by id. */
typedef struct sti_Impulse {
    uint64_t id;
    int dim, element;
    int shape_a, shape_b; /* 0: no contact of two shapes */
    st_Vec3 point, normal, tangent;
    double r[ST_MAX_DIM]; /* [N s] per second of step                                                   */
    double left;          /* residual of its island in that solve                                       */
    double band;          /* part of the dead band for overlaps: 1 with rough solves, 0 with exact ones */
} sti_Impulse;

typedef struct sti_Impulses {
    sti_Impulse *at;
    int n;
    int64_t capacity;
} sti_Impulses;

/* The mode of a contact: which member of each complementary pair is 0 (stick_slip.c). */
typedef struct sti_Mode {
    uint64_t id;
    unsigned char closed, sticking, slipping; /* no bools: they are read from files    */
    double direction[2];                      /* of sliding                            */
    uint64_t pushing[4], idle[4];             /* pyramid in space, sliding: its facets */
} sti_Mode;

typedef struct sti_Modes {
    sti_Mode *at; /* by id */
    int n;
    int64_t capacity;
} sti_Modes;

/* Work, by kinds: stage_work.c [J]. All doubles. */
typedef struct sti_Works {
    double friction, given, damping, impact, correction, scheme;
    double unexplained; /* of a whole step: the change of energy less all of the above */
    double gained;      /* order two: energy that steps gained without a source, less later losses; >= 0          */
    double largest;     /* largest energy at hand (energy_guard.c) of all steps with a gain                     */
} sti_Works;

static inline void sti_works_add(sti_Works *to, double factor, const sti_Works *from)
{
    to->friction += factor * from->friction;
    to->given += factor * from->given;
    to->damping += factor * from->damping;
    to->impact += factor * from->impact;
    to->correction += factor * from->correction;
    to->scheme += factor * from->scheme;
    to->unexplained += factor * from->unexplained;
}

/* Bounds on the work that any part of a system received: sums of the positive works of rows and bodies [J]. */
typedef struct sti_Gains {
    double given;      /* by forces, motors, moved joints, belts; INFINITY: unknown */
    double rebound;    /* by restitution                                           */
    double correction; /* by drift correction                                      */
    double joints;     /* the part of drift correction that joints did, with its sign */
} sti_Gains;

static inline void sti_gains_add(sti_Gains *to, double factor, const sti_Gains *from)
{
    to->given += factor * from->given;
    to->rebound += factor * from->rebound;
    to->correction += factor * from->correction;
    to->joints += factor * from->joints;
}

static inline double sti_works_sum(const sti_Works *works)
{
    return works->friction + works->given + works->damping + works->impact + works->correction + works->scheme +
           works->unexplained;
}

/* ---- the step problem ---------------------------------------------------------------------------- */

/* The blocks of M. */
typedef struct sti_MassLayout {
    int64_t n;                   /* numbers in them                                               */
    const unsigned char *marked; /* by block: the block is diagonal (st_BlockDiag); NULL: none is */
    int64_t *diagonal;           /* n_v: index of M_ii; NULL: it is i, all blocks are diagonal    */
    int whole[2];                /* offsets of the block of a model without blocks                */
} sti_MassLayout;

/* A contact of the step problem. */
typedef struct sti_Chosen {
    const sti_ContactEntry *entry; /* of the sink, or of the assembly                                        */
    double left;                   /* residual of its island in the last solve                                      */
    double band;                   /* see sti_Impulse                                                               */
    double bridge;                 /* the part of `pull` that is from a liquid bridge [N s]                         */
    double pull;                   /* adhesion: r of the step problem is the impulse of the contact plus this [N s] */
    int element;                   /* of a compliant patch                                                          */
    bool released; /* an overlap that joints hold, or friction locks: it carries no load (stage_solve.c) */
    bool pinched;  /* overlaps press on each other: the impulse follows from no load (stage_solve.c)     */
} sti_Chosen;

/* Memory of one step problem. */
typedef struct sti_Assembly {
    st_Problem problem;
    sti_RowList G, H; /* with a pile, H has a number of rows, but no entries before sti_step_rows */
    double arm;       /* the model's                                                              */
    bool piled;       /* the contacts of the problem are arrays, in `pile`                        */
    sti_PileContacts pile;
    int32_t *pile_body; /* the arrays of `pile` */
    double *pile_centre, *pile_axes;
    int *pile_frame_of;
    int64_t pile_body_capacity, pile_centre_capacity, pile_axes_capacity, pile_frame_of_capacity;
    double *M, *f, *g, *w, *Cb, *C;
    int laid_out;    /* rows of G with the entries of joints and springs of a world, which stay */
    bool mass_known; /* M is constant                                                           */
    int *Cb_first, *C_first;
    st_ContactLaw *law;
    sti_Chosen *chosen;
    sti_ContactEntry *entry; /* copies of contacts, not for a pile; `chosen` has their addresses                  */
    const sti_ContactEntry *lent; /* contacts of a sink, of which `chosen` has addresses; NULL: of copies */
    double *r, *u, *l;
    double *start; /* the r from which the solver started */
    int64_t start_capacity;
    int64_t g_capacity, w_capacity, Cb_capacity, C_capacity, Cb_first_capacity, C_first_capacity, law_capacity,
        chosen_capacity, entry_capacity, r_capacity, u_capacity, l_capacity;
    int n_gaps, n_bounded; /* contacts of the problem: those with a gap, then bounded rows */
    int n_loaded; /* during an impact: contacts after those with a gap, one for each share of restitution with friction
                   */
    int overlapping;  /* contacts with a compliance for their overlap                                      */
    int undetermined; /* contacts with undetermined forces, if forces is least_norm; -1: too many          */
    int n_C;          /* blocks of C                                                                       */
    int64_t C_used;   /* numbers in them                                                                   */
    bool compliant;   /* some row has one                                                                  */
    bool softened;    /* compliances of overlaps beyond the dead band are set: warm_start.c                */
    double t, eta;    /* time of the rows; eta = 0: an impact                                              */
    double ahead;     /* forces are means of their values at t and t + ahead                               */
    bool means;       /* joints and springs are means over the step: discrete_gradient.c                   */
    const double *q;  /* n_q: position of the rows; with one stage the state before the step, else `place` */
    double *place;
    sti_Works done; /* work of the solution */
    sti_Gains gains;
} sti_Assembly;

/* Forces that are linearised: force_derivatives.c. */
typedef struct sti_Linearised {
    bool on; /* the current step problem has A below instead of M */
    bool symmetric;
    st_Sink sink;         /* dk/dq, dk/dv                                        */
    double by_q, by_v;    /* A = M - by_q dk/dq - by_v dk/dv                     */
    double *A, *room;     /* full blocks, `used` numbers; scratch memory for one */
    int64_t used, *start; /* index of the start of each block                    */
    int n_blocks, whole[2];
    const int *first;
    double *in_f, *impulse; /* n_v: part of f; impulse of the forces beyond eta k(q*, v*) */
    int64_t A_capacity, room_capacity, in_f_capacity, impulse_capacity, start_capacity;
} sti_Linearised;

/* Speeds before and after the step. Residuals are relative to them if contacts carry no load. */
typedef struct sti_Speeds {
    double speed; /* largest velocity without contact forces [m/s, rad/s] */
    double pull;  /* largest acceleration by forces                       */
} sti_Speeds;

/* warm_start.c: the forces of the last step, from which the next solve starts. */
typedef struct sti_Warm {
    double pending;  /* eta of the stage with impulses that will become these; 0: there are none      */
    double *lasting; /* by island: residual of the last solve, then the part of a change that is kept */
    double *fall;    /* by body: distance that forces alone move it in the step, if it is awake [m]   */
    int64_t lasting_capacity, fall_capacity;
} sti_Warm;

/* ---- integrators ---------------------------------------------------------------------------------- */

/* Data of the step before that an integrator uses. It is unknown after an event and after the state was set. Without
 * stages (sti_has_stages) it is not used, and the vectors are NULL. */
typedef struct sti_History {
    bool known;
    double h;      /* its length [s]              */
    double *q, *v; /* the state before it         */
    double *a;     /* the acceleration at its end */
} sti_History;

/* Vectors of an integrator if a step has stages (sti_has_stages); else they are NULL. */
typedef struct sti_Stages {
    double *q_star, *v_star, *q_base, *v_base; /* of the current stage: sti_Stage                         */
    double *restitution;                       /* n_v: an impulse (impact.c)                              */
    double *f_before;                          /* n_v: f of a first stage that is solved again            */
    double *way;                               /* n_v: bdf2: from the state to q_base                     */
    double *mean;                              /* n_v: sdirk2: mean velocity of the step                  */
    double *k_later;                           /* n_v: forces at the end of the step (stage.c)            */
    double *shift;                             /* n_v: q_base - q_star as a velocity                      */
    double *row_sum;                           /* n_v: a row of an element of a patch                     */
    double *load_room;                         /* n_v: for sti_stage_loads                                */
    st_Sink middle;                            /* rows of a stage, at q_star                              */
    double *applied, *turning;                 /* of the stage: k, and the impulse of the gyroscopic term */
    sti_Works carried;                         /* sum over the stages of the piece so far                 */
    sti_Gains carried_gains;
    bool rough;          /* the step became one of Euler's method: no history for the next */
    bool straight;       /* its velocity counts as linear in time: bdf2, rough steps       */
    const double *moved; /* the velocity that led from q to q_new, and for how long [s] */
    double moved_for;
} sti_Stages;

/* Drift `mean`: discrete_gradient.c. All NULL without it. */
enum { STI_MEAN_PAST = 3 };

typedef struct sti_Mean {
    double *past;             /* n_past, order of the prediction, then the arrays below: saved with the state */
    double *tension;          /* n_v: forces of joints times their levers, at the last solution [N m]         */
    double *a[STI_MEAN_PAST]; /* n_v: accelerations before that of the history; n_past of them are known      */
    double *D;                /* n_v: D of the last factorisation                                             */
    double *A;                /* M + diag(D)                                                                  */
    double *v_near;           /* n_v: the velocity of the round before                                        */
    double *turns;            /* n_v: factors of columns of rotations                                         */
    double *simpson;          /* n_v: such factors for Simpson's rule                                         */
    double *lag;              /* n_v: D times the change of v in the last round, part of the joints' impulses */
    double *before;           /* `past` before the step, restored after a failure                             */
} sti_Mean;

/* Tension that a step does not resolve: tension.c. */
typedef struct sti_Tension {
    bool on;             /* in the current step problem                                                         */
    double *E;           /* n_v: inertia added for it; after stage_work.c its impulse, which belongs to the joints */
    double *A;           /* the matrix of the problem with E                                                    */
    double *K;           /* stiffness by body: sti_joints_stiffness                                             */
    double *f;           /* n_v: f of the problem without E                                                     */
    const double *plain; /* likewise its matrix                                                       */
    int64_t E_capacity, A_capacity, K_capacity, f_capacity;
} sti_Tension;

/* projection.c */
typedef struct sti_Projection {
    sti_Assembly problem;
    st_Solver *solver;
    double *q_from, *q_best; /* n_q: the position to project; the best one so far */
    double *step, *error;    /* n_v: the Newton step; from q_new to q_from        */
} sti_Projection;

/* ---- events within a step ------------------------------------------------------------------------- */

/* Speculative steps: contacts that may close within the step are in its problem (contact_selection.c). */
typedef struct sti_Ahead {
    double foreseen;         /* `here` has contacts that may close within this time [s]                          */
    sti_IdSet missed;        /* contacts that an attempt at the step penetrated and that were not in its problem */
    bool missed_far;         /* the last attempt penetrated one by more than a margin                            */
    sti_ContactEntry *found; /* missed contacts that are not among those at the state, to be added to them       */
    int n_found;
    int64_t found_capacity;
} sti_Ahead;

/* Events of the current step: collision_event.c, stick_slip.c, collision_response.c. */
typedef struct sti_Events {
    st_EventReport *report;
    int n;
    int64_t capacity;
    int n_stops;                   /* collisions and transitions that ended a piece                     */
    bool over_limit;               /* more than max_events in this step: no restitution, no transitions */
    sti_Works before;              /* works in the part of the step before its collision                */
    double lifted;                 /* [J] the potential that projections add                            */
    double *q_shifted, *v_shifted; /* a state between the last two; only with stages                    */
    double *moved;                 /* n_v: from the last position to this one                           */
} sti_Events;

/* Rebounds in the step problem: rebound.c. For a contact that closes: w without and with restitution. */
typedef struct sti_Rebound {
    int contact;             /* of the step problem */
    double landing, leaving; /* [m/s]               */
} sti_Rebound;

typedef struct sti_ReboundIsland {
    bool rebounds;
    double factor, low,
        high;         /* factors of restitution: the current one, one that adds no energy, one that adds energy */
    double work, sum; /* work of its contacts, and the sum of absolute values [J]                               */
    double fastest;   /* rebound, with full restitution [m/s]                                                   */
    double sinks;     /* fastest penetration that the solution leaves [m/s]                                     */
} sti_ReboundIsland;

typedef struct sti_Rebounds {
    sti_Rebound *at; /* by contact */
    int n;
    sti_ReboundIsland *island;
    double *share; /* impact.c, by contact of the step problem: impulse of restitution [N s] */
    int64_t capacity, island_capacity, share_capacity;
} sti_Rebounds;

/* Time is start + steps h, so 2,000 steps of 1 ms end exactly at 2 s. start and steps are set again when h changes,
 * when the state is set, and after a step that an event ended early. */
typedef struct sti_TimeGrid {
    double start, h; /* [s]; h = 0: no step yet */
    int64_t steps;
} sti_TimeGrid;

/* recovery.c: velocities that joints and springs connect in any state. */
typedef struct sti_Joined {
    int *of;          /* n_v: the first velocity of the group of each velocity */
    int n;            /* number of groups; 0: unknown                          */
    int64_t capacity; /* of `of`                                               */
    int *place;       /* n_v: place of a velocity among those of two mechanisms (stage_solve.c); -1: not there */
    double *weight;   /* n_v: 1, or 1 over the reach of a body for its angular velocities                      */
    double *basis;    /* orthonormal rows of their joints                                                      */
    int64_t place_capacity, weight_capacity, basis_capacity;
} sti_Joined;

/* recovery.c: the share of drift correction that is used; 1: all. */
typedef struct sti_Recovery {
    double share;   /* everywhere                                                                                */
    bool by_island; /* the share is by velocity instead: the first n_v numbers of `room`                         */
    double *room;   /* 5 n_v: shares, velocity without correction, a difference, fastest points, watched islands */
    int *island;    /* n_v: the first velocity of each one's island                                              */
    double *rows;   /* 2 n_r: w and r of watched islands, without correction                                     */
    int *block;     /* blocks of mass in watched islands                                                         */
    sti_Islands *islands; /* solver of watched islands; NULL until it is needed */
    int64_t room_capacity, island_capacity, rows_capacity, block_capacity;
} sti_Recovery;

/* energy_guard.c: energies of one island in a piece [J, kg]. */
typedef struct sti_IslandEnergy {
    double rise, rounding; /* rise of kinetic and potential energy; sum of all energies that are subtracted */
    double at_hand, truncation, mass;
    double pulled; /* of at_hand: by forces */
} sti_IslandEnergy;

/* energy_guard.c: energies before the current piece, and remedies for a step that gains energy. */
typedef struct sti_EnergyGuard {
    double kinetic, potential; /* [J]                                                                            */
    double pull;               /* largest acceleration by forces in the first stage; negative: unknown           */
    double rise, given, limit; /* of a piece that tripped: rise of energy, work of forces, allowed rise [J]      */
    int open_joint;            /* it tripped because this joint opens too far; -1: because of its energy         */
    double opening;            /* by how much, as in st_StepInfo                                                 */
    int *island;               /* n_v: the first velocity of each one's island                                   */
    int *place;                /* n_v: the number of its group                                               */
    sti_IslandEnergy *of;      /* by group: its energies, then, if an island begins with it, those of the island */
    double *forces;            /* n_v: forces at the start of the piece                                          */
    int64_t island_capacity, place_capacity, of_capacity, forces_capacity;
    bool knows_forces;     /* `forces` is computed for the current piece */
    bool tripped;          /* the piece is not accepted                                            */
    bool ran_away;         /* the piece was not solved: a velocity exceeds the limit               */
    int attempt;           /* number of remedies that were tried in this step                      */
    bool rough;            /* remedies: Euler's method                                             */
    double recovery, part; /* share of drift correction; fraction of the step length               */
    double visits;         /* limit of visits of each contact in an exact solve                    */
    bool is_tight;         /* `islands` of the work are the exact ones, until the next step begins */
    sti_Islands
        *other_islands; /* exact ones, made on demand; or those of the settings while `islands` are the exact ones */
} sti_EnergyGuard;

/* Bounds for all points of a body: speed before the step, and change of velocity in it [m/s]. */
typedef struct sti_Pace {
    double before, change;
} sti_Pace;

/* strike.c: contacts and mechanisms that impacts of the last step may have affected, if events are not located. */
typedef struct sti_Strikes {
    int contacts;       /* number of contacts that closed in the step                                  */
    bool first_step;    /* the step began at a state that was set                                      */
    int *mechanism;     /* by body: the first body of its mechanism                                    */
    unsigned char *hit; /* by first body of a mechanism: sti_Hit, and 16 times that of the step before */
    sti_Pace *pace;     /* by body                                                                     */
    bool *carried;      /* by first body of a mechanism: a contact carried a load in the step before   */
    bool carried_known; /* `carried` is computed for the current step                                  */
    double *correction; /* by joint: speed of drift correction in the last step [m/s, rad/s]           */
    int n_bodies, n_joints;
    bool any, any_before;
} sti_Strikes;

/* Why a mechanism counts as hit. */
typedef enum sti_Hit {
    STI_HIT_NOT = 0,
    STI_HIT_ON,  /* an impact of the step before may still affect it             */
    STI_HIT_NOW, /* one of its contacts closed, or carries much more than before */
    STI_HIT_MASK = 15
} sti_Hit;

/* A gap of a user's model that opens at the end of a step [m, m/s]. */
typedef struct sti_Opening {
    uint64_t id;
    double gap, rate;
} sti_Opening;

/* The path from q to q_new, searched for collisions: collision_event.c. */
typedef struct sti_Lookout {
    sti_IdSet under;      /* contacts that overlap at its start and are not held */
    sti_Opening *opening; /* of a user's model: gaps that open at its end        */
    int n_opening;
    int64_t capacity;
    double *path;  /* n_v: from q to q_new as a velocity, for a time of 1 */
    double *moved; /* n_v: from q to a position on the path               */
    double *q;     /* n_q: that position                                  */
} sti_Lookout;

/* ---- sleep ----------------------------------------------------------------------------------------- */

/* A contact between bodies that sleep, with the force of its last step. */
typedef struct sti_Sleeper {
    sti_Impulse impulse;
    int a, b;
    double gap;
} sti_Sleeper;

/* Sleep: sleep.c. The flags are in the world (world->asleep). Arrays are by body, except the last ones. */
typedef struct sti_Sleep {
    bool on;
    void *block;            /* memory of the arrays of fixed length */
    int n_bodies, n_shapes; /* capacity of these arrays             */
    int n_asleep;
    int64_t serial;       /* number of changes of the set of sleepers             */
    int n_ready;          /* bodies awake, and at rest for long enough            */
    int *ring;            /* the next body of those that fell asleep together     */
    unsigned char *due;   /* wakes before the next step                           */
    double *rest;         /* time at rest [s]                                     */
    bool *restless;       /* work: leaders of islands that cannot sleep           */
    int *above;           /* work: union-find                                     */
    int *bodies, *shapes; /* lists of the world of awake ones, if any body sleeps */
    int *blocks;          /* and by block of M                                    */
    sti_Awake awake;
    int n_due;
    sti_Sleeper *contact, *spare; /* by id */
    int n_contacts;
    double penetration; /* deepest overlap among them [m] */
    sti_Impulse *merged;
    double *joint_force; /* by joint row: of the last step [N, N m] */
    int n_joint_forces;
    int64_t contact_capacity, spare_capacity, merged_capacity, joint_force_capacity;
} sti_Sleep;

/* ---- the system ------------------------------------------------------------------------------------ */

/* The time that the parts of a step took. */
typedef struct sti_Clock {
    double lap; /* at the last one [s] */
    double seconds[ST_N_PARTS];
} sti_Clock;

/* The model: constant while the system runs. */
typedef struct sti_Model {
    st_SystemDef def;   /* settings, with lengths and speeds of this scene if they were left open (settings.c) */
    st_SystemDef given; /* settings of the user                                                                */
    double arm; /* [m] factor of the rows of rolling and spinning, so that they have the unit and about the size of rows
                   of sliding; a power of 2                                     */
    double closing_speed; /* correction_speed, or sqrt(g d) if that is less (sti_scale_settings) [m/s]       */
    double overlap;       /* contacts deeper than this overlap; STI_OVERLAP if lengths are given [m] */
    bool banded;          /* overlaps have a dead band, pair by pair (warm_start.c)                  */
    st_Allocator allocator;
    st_Model table;         /* the equations of motion, as functions                      */
    int n_q, n_v, n_blocks; /* coordinates, velocities, blocks of M                       */
    const int *first;       /* n_blocks + 1: the first velocity of each block             */
    sti_World *world;       /* the compiled scene; empty for a user's model               */
    bool rigid;             /* the equations are those of the world; else those of a user */
    sti_MassLayout mass;
} sti_Model;

/* The state: the next step depends only on it and the model. save.c writes it. */
typedef struct sti_State {
    double t;
    sti_TimeGrid grid; /* the grid of t */
    double *q, *v;
    int64_t n_steps;
    bool fresh; /* no step yet from a state that was set: motors may jump (initial.c) */
    sti_History history;
    sti_IdSet active; /* contacts held closed: drift velocity, projection         */
    sti_IdSet loaded; /* contacts that carried a load at the end of the last step */
    sti_Modes modes;
    sti_Impulses forces;            /* of contacts in the last step, per second: warm start of the next */
    sti_Patches patches;            /* of compliant contacts                                            */
    sti_StepImpulses past_impulses; /* bdf2: impulses of the last piece                                 */
    sti_Speeds fastest;             /* in the last step                                                 */
    sti_Works works;                /* since the start                                                  */
    int stalled;                    /* collisions in a row without progress in time, over steps         */
    int n_changes;                  /* number of changes of the scene: replace_scene.c                  */
} sti_State;

/* Copy of the state before a step, restored if the step fails: the parts that the step changes before it is accepted.
 * Without stages, q, v, history, loaded and modes are not among them. */
typedef struct sti_Snapshot {
    sti_State state; /* forces are exchanged, not copied, when others replace them before the step is done (`kept`) */
    bool kept;
    bool lost; /* another attempt has overwritten the forces */
} sti_Snapshot;

typedef struct sti_Flow sti_Flow; /* inlets and outlets: flow.h */

/* The last kinetic energy that was computed in a step: several parts of a step need it. */
typedef struct sti_KineticMemo {
    bool known;  /* false at the start of a step, because masses and sleep may have changed */
    int n_awake; /* number of bodies in the sum                                             */
    double *v;   /* n_v                                                                     */
    double value;
} sti_KineticMemo;

/* The work of a step: its memory is reused, and reports of the last step read it. */
typedef struct sti_StepWork {
    st_Sink here;    /* rows and contacts at the state                                  */
    st_Sink trial;   /* rows and contacts at the position that is tried                 */
    bool rows_stale; /* a controller changed targets after the rows of `here` were made */

    /* The state after the step. */
    double *q_new, *v_new;
    double *a_new; /* acceleration at the end of the step; with stages only */
    sti_IdSet active_new, loaded_new;
    sti_Modes modes_new;
    sti_Snapshot saved;

    sti_Joined joined;
    sti_Recovery recovery;
    double h_asked;    /* length of the whole step                 */
    double t_end;      /* time at its end [s]                       */
    sti_IdSet wanted;  /* contacts of the step problem             */
    sti_Assembly step; /* the last step problem, with its solution */
    sti_Linearised linearised;
    sti_Warm warm;
    sti_Compliant compliant;
    sti_Sleep sleep;
    sti_Mean mean;
    sti_Tension tension;
    sti_ImpulseSums impulses;
    sti_Strikes strikes;
    sti_EnergyGuard guard;
    sti_Ahead ahead;
    sti_Events events;
    sti_Rebounds rebounds;
    sti_Lookout lookout;
    sti_Stages stages;
    sti_Projection projection;

    double *v_turned; /* n_v: v_base of a stage after the gyroscopic term (stage.c) */
    double *v_work;   /* n_v: velocity of a displacement, or forces (stage_work.c)  */
    sti_KineticMemo kinetic;
    void *vectors[3]; /* memory of the vectors that live as long as the system (system.c) */

    sti_Flow *flow;                            /* NULL: the scene has no inlets, outlets or measures            */
    unsigned char *bound;                      /* by body: it cannot come and go (flow.c); NULL: not listed yet */
    int n_relocated;                           /* bodies that are STI_RELOCATED                                 */
    sti_Islands *islands;                      /* solves the step problem                                       */
    sti_Stop *stop;                            /* clock.c; the islands and the world have a pointer to it       */
    bool stepping;                             /* a step is running: cancel ends it                             */
    double work_done;                          /* in this step: number of visits of each contact                */
    double law_change;                         /* in this step: see st_StepInfo                                 */
    sti_OnDevice *on_device;                   /* NULL: steps do not use a device (on_device.c)                 */
    bool device_has_state;                     /* the device has the present state                              */
    sti_LeastNorm *least_norm;                 /* NULL: forces are those of the solver                          */
    sti_JointCoordinates *joint_coordinates;   /* NULL: step problems are solved in body coordinates            */
    double initial_position, initial_velocity; /* largest change made to the initial state                      */
    sti_Clock clock;
} sti_StepWork;

struct st_System {
    sti_Model model;
    sti_State state;
    sti_StepWork work;
};

#endif
