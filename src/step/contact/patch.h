/* step/contact/patch.h -- the state of compliant contacts: what their elements are deformed by. */
#ifndef STI_PATCH_H
#define STI_PATCH_H

#include "model/row_buffer.h"

/* Materials and grid: what the matrices of a patch depend on. Saved with it, since systems number their kinds as they
 * meet them.                                                                                      */
typedef struct sti_PatchKey {
    st_Elastic elastic[2];
    int dim, n_elements;
} sti_PatchKey;

/* The matrices of all patches with the same key. */
typedef struct sti_PatchKind {
    sti_PatchKey key;
    int size;  /* dim * n_elements                                                                   */
    double h;  /* that B and D are for [s]                                                           */
    double *x; /* size: eigenvalues of the influence matrix Xi                                       */
    double *V; /* size x size: its eigenvectors, columns                                             */
    double *B; /* inv(E), E = h K + 2 sqrt(m K), K = inv(Xi)                                         */
    double *D; /* inv(E) K                                                                           */
    int64_t x_capacity, V_capacity, B_capacity, D_capacity;
} sti_PatchKind;

/* One patch: its numbers are delta[first] .. delta[first + size - 1], element by element, normal first. Saved as it is,
 * and so without padding.                                                                         */
typedef struct sti_Patch {
    uint64_t id; /* of its contact                                                                   */
    int64_t first;
    int size, row; /* row: its first of the step problem                                           */
    sti_PatchKey key;
    st_Vec3 tangent; /* of the elements, kept from step to step                                      */
} sti_Patch;

typedef struct sti_Patches {
    sti_Patch *patch; /* by increasing id                                                            */
    double *delta;    /* deformations [m]                                                            */
    int n;
    int64_t n_delta, patch_capacity, delta_capacity;
} sti_Patches;

/* All patches of a system, the matrices they share. */
typedef struct sti_Compliant {
    sti_Patches next; /* after the step; before it: in the state                                   */
    sti_PatchKind *kind;
    int n_kinds;
    int64_t kind_capacity;
} sti_Compliant;

#endif
