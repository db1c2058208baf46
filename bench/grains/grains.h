/* bench/grains/grains.h -- cases of grains as plain data, the same for every engine, and the interface of an engine.
 *
 * SI units. A grain is a rigid body of one or more spheres; its mass is the sum of theirs, overlaps counted twice,
 * in every engine. Walls are slabs. The slabs of a drum turn about the y axis. Engines report the positions of the
 * spheres every ten milliseconds, and their CPU time. judge.c evaluates every engine from these alone.
 */
#ifndef BENCH_GRAINS_H
#define BENCH_GRAINS_H

#include <stdbool.h>
#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSphere {
    st_Vec3 at; /* in the axes of the grain, relative to its centre of mass */
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
    st_Vec3 half; /* grains touch the face at local +z */
    bool turns;   /* about the y axis through the origin, by Case.turn */
} Slab;

typedef enum Figure {
    FIGURE_FLOW,  /* grains per second below z = 0, from `from` to the end */
    FIGURE_ANGLE, /* angle of the centroid of all grains about the y axis, from straight down, mean from `from` on
                     [degrees] */
    FIGURE_HEIGHT /* height of the centroid of all grains at the end, in d */
} Figure;

typedef struct Case {
    char name[40];
    double d;         /* diameter of the spheres [m] */
    double h;         /* step of rigid engines [s] */
    double end, from; /* [s] */
    double mu, g;     /* friction of all pairs; gravity along -z [m/s^2] */
    double speed;     /* estimate of the largest impact speed, which sets the stiffness of soft engines [m/s] */
    double turn;      /* angular velocity of turning slabs [rad/s] */
    Figure figure;
    int n_grains, n_spheres, n_slabs;
    Grain *grains;
    GrainSphere *spheres;
    Slab *slabs;
} Case;

#define FRAME 0.01 /* [s] between reports */

/* "hopper-500"; NULL and a message on stderr if there is no such case. Free with case_destroy. */
Case *case_create(const char *name);
void case_destroy(Case *c);
void case_list(void);

/* ---- engines ---------------------------------------------------------------------------------------- */

typedef struct Judge Judge;
/* Passes the centres of all spheres at t = k FRAME, k = 1, 2, ...; cpu: CPU time of the engine so far [s]. */
void judge_frame(Judge *judge, const double *xyz, double cpu);

typedef struct GrainEngine {
    const char *name;
    /* Runs the case to its end. version and settings describe the engine; false: it failed, with the reason in
     * message. */
    bool (*run)(const Case *c, Judge *judge, char version[40], char settings[160], char message[200]);
} GrainEngine;

extern const GrainEngine grain_engine;

/* ---- soft contacts (soft.c) ------------------------------------------------------------------------- */

/* A linear spring and damper, and a time step that resolves them: in a head-on impact of two grains at the speed of
 * the case the overlap stays below 1 per cent of d. Tangential stiffness is 2/7 of the normal one, so that both have
 * the same period for spheres. */
typedef struct Soft {
    double kn, kt;             /* [N/m] */
    double damping, damping_t; /* per effective mass [1/s] */
    double effective_mass;     /* of two spheres [kg] */
    double restitution;
    double h; /* [s]: a 25th of the duration of a contact */
} Soft;

Soft soft_contacts(const Case *c);
/* Runs a program in a folder, waits for it and returns its CPU time; negative: it failed, with the reason in
 * message. Its output is written to the file `log` there. */
double run_program(const char *folder, char *const arguments[], const char *log, char message[200]);
/* Reads frames written by a program: "ITEM: ATOMS", then a line "number x y z" for each sphere, from 1 on. Missing
 * spheres have fallen out. */
bool judge_file(const Case *c, Judge *judge, const char *folder, const char *file, double cpu, char message[200]);
/* Makes a folder in the system's temporary folder; remove_folder removes it with its files. */
bool make_folder(char folder[64], char message[200]);
void remove_folder(const char *folder);
/* The program: from the environment variable, or with the usual name on the path. */
const char *program_of(const char *variable, const char *usual);

#ifdef __cplusplus
}
#endif
#endif
