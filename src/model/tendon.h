/* model/tendon.h -- the length of a tendon and its pulls on bodies. */
#ifndef STI_MODEL_TENDON_H
#define STI_MODEL_TENDON_H

#include "model/check.h"
#include "model/world.h"

/* d length = sum of along . d(point at) over the pulls; a point is fixed in the body of its part. */
typedef struct sti_Pull {
    int part;
    st_Vec3 at, along; /* world                                                                     */
} sti_Pull;

/* Length of a path over points, with the bodies of its parts at `pose`; pulls has room for 2 n_path. */
double sti_tendon_path(const st_TendonPoint *path, int n_path, const st_Pose *pose, sti_Pull *pulls, int *n_pulls);
/* Checks the parts of a def and copies them to `path`; def->a and b become two of its bodies, `start` its length at
 * the start. */
st_Status sti_tendon_check(const st_Scene *scene, Subject s, st_JointDef *def, st_TendonPoint *path, double *start);
/* Visits the bodies that a tendon pulls at, some of them several times. */
void sti_tendon_bodies(const sti_World *world, int index, void (*visit)(void *ctx, int body), void *ctx);

#endif
