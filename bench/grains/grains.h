/* bench/grains/grains.h -- cases of grains as plain data, the same for every engine, and what an engine must do.
 *
 * SI units. A grain is a rigid body of one or more spheres; its mass is the sum of theirs, overlaps counted twice, in
 * every engine. Walls are slabs. The slabs of a drum turn about the y axis. Engines report where the spheres are, ten
 * milliseconds apart, and how much processor time they have used. One judge (judge.c) sees nothing else.
 */
#ifndef BENCH_GRAINS_H
#define BENCH_GRAINS_H

#include <stdbool.h>
#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSphere {
    st_Vec3 at; /* in the axes of the grain, from its centre of mass */
    double r;
} GrainSphere;

typedef struct Grain {
    st_Pose pose;
    int first, n; /* of Case.spheres */
    double mass;
    st_Vec3 inertia; /* principal, in the axes of the grain */
} Grain;

typedef struct Slab {
    st_Pose pose;
    st_Vec3 half; /* local +z is the face that grains touch */
    bool turns;   /* about the y axis through the origin, by Case.turn */
} Slab;

typedef enum Figure {
    FIGURE_FLOW,  /* grains per second below z = 0, from `from` to the end */
    FIGURE_ANGLE, /* of the middle of all grains about the y axis, from straight down, mean from `from` on [degrees] */
    FIGURE_HEIGHT /* of the middle of all grains at the end, in d */
} Figure;

typedef struct Case {
    char name[40];
    double d;         /* diameter of the spheres [m] */
    double h;         /* step of rigid engines [s] */
    double end, from; /* [s] */
    double mu, g;     /* friction of all pairs; gravity along -z [m/s^2] */
    double speed;     /* largest speed of an impact, estimated: stiffness of soft engines follows from it [m/s] */
    double turn;      /* of slabs that turn [rad/s] */
    Figure figure;
    int n_grains, n_spheres, n_slabs;
    Grain *grains;
    GrainSphere *spheres;
    Slab *slabs;
} Case;

#define FRAME 0.01 /* [s] between reports */

/* "hopper-500": NULL and a message on stderr where there is no such case. Freed by case_destroy. */
Case *case_create(const char *name);
void case_destroy(Case *c);
void case_list(void);

/* ---- engines ---------------------------------------------------------------------------------------- */

typedef struct Judge Judge;
/* The centres of all spheres at t = k FRAME, k = 1, 2, ...; cpu: seconds that the engine has computed so far. */
void judge_frame(Judge *judge, const double *xyz, double cpu);

typedef struct GrainEngine {
    const char *name;
    /* Runs the case to its end. version and settings say what ran; false: it failed, with the reason in message. */
    bool (*run)(const Case *c, Judge *judge, char version[40], char settings[160], char message[200]);
} GrainEngine;

extern const GrainEngine grain_engine;

/* ---- soft contacts (soft.c) ------------------------------------------------------------------------- */

/* A linear spring and damper, and the step that resolves them: the head-on impact of two grains at the speed of the
 * case goes less deep than 1 per cent of d. Tangential stiffness is 2/7 of the normal one, so that both have the same
 * period for spheres. */
typedef struct Soft {
    double kn, kt;             /* [N/m] */
    double damping, damping_t; /* per effective mass [1/s] */
    double effective_mass;     /* of two spheres [kg] */
    double restitution;
    double h; /* [s]: a 25th of a contact */
} Soft;

Soft soft_contacts(const Case *c);
/* Runs a program in a folder and waits: its processor time; negative: it failed, message says how. What it prints goes
 * to the file `log` there. */
double run_program(const char *folder, char *const arguments[], const char *log, char message[200]);
/* Frames that a program has written: "ITEM: ATOMS", then a line "number x y z" for each sphere, from 1 on. Spheres that
 * are missing have fallen out. */
bool judge_file(const Case *c, Judge *judge, const char *folder, const char *file, double cpu, char message[200]);
/* A folder of its own under the system's temporary one; remove_folder removes it with the files in it. */
bool make_folder(char folder[64], char message[200]);
void remove_folder(const char *folder);
/* A program: that of the environment variable, or the one of that name on the path. */
const char *program_of(const char *variable, const char *usual);

#ifdef __cplusplus
}
#endif
#endif
