/* step/contact/patch.h -- the state of compliant contacts: the deformations of their elements. */
#ifndef STI_PATCH_H
#define STI_PATCH_H

#include "model/row_buffer.h"

/* Materials and grid determine the matrices of a patch. The key is saved with the patch, because the numbers of kinds
 * differ between systems. */
typedef struct sti_PatchKey {
    st_Elastic elastic[2];
    int dim, n_elements;
} sti_PatchKey;

/* The matrices of all patches with the same key. */
typedef struct sti_PatchKind {
    sti_PatchKey key;
    int size;  /* dim * n_elements                                       */
    double h;  /* length of the step for which B and D were computed [s] */
    double *x; /* size: eigenvalues of the influence matrix Xi           */
    double *V; /* size x size: its eigenvectors, columns                 */
    double *B; /* inv(E), E = h K + 2 sqrt(m K), K = inv(Xi)             */
    double *D; /* inv(E) K                                               */
    int64_t x_capacity, V_capacity, B_capacity, D_capacity;
} sti_PatchKind;

/* One patch. Its deformations are delta[first] .. delta[first + size - 1], element by element, normal first. The struct
 * has no padding because it is saved byte by byte. */
typedef struct sti_Patch {
    uint64_t id; /* id of the contact */
    int64_t first;
    int size, row; /* row: index of its first row in the step problem */
    sti_PatchKey key;
    st_Vec3 tangent; /* first tangent of the elements, kept from step to step */
} sti_Patch;

typedef struct sti_Patches {
    sti_Patch *patch; /* by increasing id */
    double *delta;    /* deformations [m] */
    int n;
    int64_t n_delta, patch_capacity, delta_capacity;
} sti_Patches;

/* All patches of a system and the matrices that they share. */
typedef struct sti_Compliant {
    sti_Patches next; /* patches after the step; those before the step are in the state */
    sti_PatchKind *kind;
    int n_kinds;
    int64_t kind_capacity;
} sti_Compliant;

#endif
