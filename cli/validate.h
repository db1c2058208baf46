/* cli/validate.h -- known answers: a case runs simulations and records expected values and results. */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "command.h"

#include <stiction/grains.h>
#include <stiction/io.h>

typedef struct Check Check; /* receives the results of a case */

typedef struct Case {
    const char *id;     /* number in the collection ("V4"), or our own ("S1") */
    const char *title;  /* description */
    const char *source; /* source of the answer */
    void (*run)(Check *check);
    const char *reason; /* if run is NULL: the reason */
} Case;

extern const Case validate_cases[]; /* ends with an id of NULL */

/* validate_mechanisms.c */
void andrews_squeezer(Check *check);
void bricard_linkage(Check *check);
void flyball_governor(Check *check);
void crank_with_clearance(Check *check);
void eulers_disk(Check *check);
void spinning_friction(Check *check);

/* validate_grains.c */
void janssen_silo(Check *check);
void beverloo_hopper(Check *check);
void sand_castle(Check *check);
void column_collapse(Check *check);
void repose_heap(Check *check);
void brazil_nut(Check *check);
void rotating_drum(Check *check);
void plane_shear(Check *check);

/* A pass is |got - expected| <= tolerance, absolute. */
void expect(Check *check, const char *what, double expected, double got, double tolerance);
bool check_full(const Check *check);  /* longer versions are requested */
bool check_quick(const Check *check); /* no case of many grains is requested */

/* A simulation from the text of a scene; every failure becomes a failed result of the case. */
typedef struct Sim {
    Check *check;
    st_Scene *scene;
    st_SystemDef def;
    st_System *system;
    st_StepInfo info;
    bool ok;
} Sim;

Sim sim_text(Check *check, const char *text);
Sim sim_open(Check *check, const char *format, ...) PRINTF_LIKE(2, 3);
Sim sim_example(Check *check, const char *name, const char *set); /* set: "PATH=VALUE" or NULL */
bool sim_step(Sim *sim);                                          /* one h; false: it failed  */
bool sim_run(Sim *sim, double until);
void sim_close(Sim *sim);
st_Pose sim_pose(const Sim *sim, const char *body);
st_Vec3 sim_velocity(const Sim *sim, const char *body);
st_Vec3 sim_spin(const Sim *sim, const char *body);
double sim_energy(const Sim *sim); /* kinetic and potential [J] */
double sim_force(const Sim *sim);  /* sum of all normal forces [N] */

#endif
