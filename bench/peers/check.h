/* bench/peers/check.h -- accuracy from poses and velocities alone, the same for every engine. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* M: total mass, g: gravity, d: mean of the smallest diameters of the bodies. */
typedef struct Accuracy {
    double impact;      /* deepest penetration of the run, relative to scene->length */
    double settled;     /* likewise, from scene->settled on */
    double mean;        /* of the pairs that overlap, at the end */
    double drift;       /* largest distance of a body from its start (MEASURE_REST), or 0 [m] */
    double joint_error; /* largest of the run [m, or rad for axes] */
    double energy;      /* scene->conserves: largest change; else largest rise; relative to scene->energy */
    double kinetic;     /* largest kinetic energy of the last second (or quarter, if shorter), relative to M g d */
    double gain;        /* sum of all rises of the energy, step by step, relative to M g d */
    double figure;      /* by scene->measure */
    int touching;       /* pairs that overlap at the end */
} Accuracy;

typedef struct Checker Checker;
Checker *checker_create(const Scene *scene);
void checker_step(Checker *checker, double t, const BodyState *states, bool last);
Accuracy checker_result(const Checker *checker);
void checker_destroy(Checker *checker);

/* Depth of overlap of two bodies, and of a body below a plane [m]; 0 or less: none. */
double depth_pair(const Scene *scene, int a, st_Pose pose_a, int b, st_Pose pose_b);
double depth_plane(const Scene *scene, int body, st_Pose pose, const Plane *plane);

#ifdef __cplusplus
}
#endif
#endif
