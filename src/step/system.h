/* step/system.h -- the simulation's own data, shared by the files of step/.
 *
 *     here:  rows and contacts at the state (t, q)            trial: the same at a position being tried
 *
 * A step computes into q_new, v_new and `trial`; only when all of it went well are they exchanged with
 * the state, so that a failing step changes nothing.
 */
#ifndef STI_SYSTEM_H
#define STI_SYSTEM_H

#include "model/world.h"
#include "step/sink.h"

#include <stiction/system.h>

/* A set of contact ids, sorted. */
typedef struct sti_IdSet {
    uint64_t *id;
    int n;
    int64_t capacity;
} sti_IdSet;

bool sti_ids_contain(const sti_IdSet *set, uint64_t id);
st_Status sti_ids_add(const st_Allocator *allocator, sti_IdSet *set, uint64_t id, st_Error *err);
st_Status sti_ids_copy(const st_Allocator *allocator, sti_IdSet *to, const sti_IdSet *from, st_Error *err);

/* A contact of the step problem: which one of the sink, and its impulse for the next warm start. */
typedef struct sti_Chosen {
    sti_ContactEntry entry;
    int first; /* row in r, u                                                                      */
} sti_Chosen;

typedef struct sti_Impulse {
    uint64_t id;
    int dim;
    double r[3]; /* [N s] per second of step                                                       */
} sti_Impulse;

/* Memory of one step problem. */
typedef struct sti_Assembly {
    st_Problem problem;
    sti_RowList G, H;
    double *M, *f, *g, *w, *Cb, *C;
    int *Cb_first, *C_first;
    st_ContactLaw *law;
    sti_Chosen *chosen;
    double *r, *u, *l;
    int64_t g_capacity, w_capacity, Cb_capacity, C_capacity, Cb_first_capacity, C_first_capacity, law_capacity,
        chosen_capacity, r_capacity, u_capacity, l_capacity;
    int n_gaps, n_bounded; /* the problem's contacts: those with a gap, then bounded rows          */
    int overlapping;       /* contacts that got a compliance                                       */
    bool compliant;        /* some row has one                                                     */
    double t, eta, *q;     /* where the rows were taken (n_q); eta = 0: an impact                  */
    double friction_work;  /* of the solution [J]                                                  */
} sti_Assembly;

struct st_System {
    st_SystemDef def;
    st_Allocator allocator;
    st_Model model;
    sti_World *world;  /* NULL: a model of the user's                                               */
    int n_M;           /* numbers in the blocks of M                                                */
    int64_t *diagonal; /* n_v: where M_ii stands                                                   */
    int whole[2];      /* offsets of the one block of a model that names none                       */

    double t;
    double *q, *v;
    int64_t n_steps;

    double *q_new, *v_new, *q_target, *q_best, *work_v, *work_k;
    st_Sink here, trial;
    sti_IdSet active, active_new; /* contacts held closed: drift velocity, projection              */
    sti_IdSet missed;             /* contacts a first attempt at the step ran into, drift gap      */
    int *chosen;                  /* contacts of `here` in the step problem                        */
    int64_t chosen_capacity;
    int stalled; /* collisions in a row without progress in time                  */

    double speed;      /* largest velocity of the last step, free of contacts [m/s, rad/s]               */
    sti_Assembly step; /* the last step problem, with its solution                           */
    sti_Assembly projection;
    sti_Impulse *previous;
    int n_previous;
    int64_t previous_capacity;
    st_Solver *solver, *projector;

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
double sti_sink_joint_error(const st_Sink *sink);
double sti_sink_penetration(const st_Sink *sink);
double sti_energy_kinetic(st_System *system, const double *q, const double *v);
double sti_energy_potential(const st_System *system, const st_Sink *sink, double t, const double *q);
void sti_move(const st_System *system, const double *q, const double *v, double h, double *q_out);
void sti_difference(const st_System *system, const double *q0, const double *q1, double *d);

/* One velocity problem (METHODS section 3b): with rows at q_star and laws on v,
 *     M v = M v_base + eta k(t, q_star, v_star) + G l + H r,    drift and springs from q_base
 * implicit Euler is (t, q, v, v, q, h). eta = 0 is an impact: no forces, no soft rows, no drift.   */
typedef struct sti_Stage {
    double t, eta;
    const st_Sink *rows; /* evaluated at q_star                                                    */
    const double *q_star, *v_star, *v_base, *q_base;
} sti_Stage;

/* stage.c: fill the step problem; solve it. */
st_Status sti_stage_assemble(st_System *system, const sti_Stage *stage, const int *contacts, int n_contacts,
                             st_Error *err);
st_Status sti_stage_solve(st_System *system, const sti_Stage *stage, double *v, st_SolveInfo *info, st_Error *err);

/* event.c: the first new contact between q and q_new, as the fraction s of the step; 1 if there is none. */
st_Status sti_find_collision(st_System *system, double h, double *s, st_Error *err);

/* project.c: the position nearest q_new (in M) with joints and active gaps closed; `trial` is left
 * evaluated there. h and v_new serve eq. 46 (keep_springs).                                        */
st_Status sti_project(st_System *system, double t, double h, st_Error *err);

/* A contact in words, for messages: `bodies "left" and "ground"`. */
void sti_describe_contact(const st_System *system, const sti_ContactEntry *contact, char *out, size_t size);

void sti_assembly_free(const st_Allocator *allocator, sti_Assembly *assembly);

#endif
