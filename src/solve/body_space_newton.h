/* solve/body_space_newton.h -- the Newton step of contacts between free bodies, eliminated down to the bodies'
 * velocities.
 *
 * In the coordinates of pile.h W = H~'H~ + C, and newton's step (newton.c, equation 2)
 *
 *     A_c d_c + B_c ( H~_c' z + (C + alpha E)_c d_c ) = -F_c,        z = H~ d
 *
 * is solved contact by contact for d_c once z, the change of v~, is known. With D_c = A_c + B_c (C + alpha E)_c,
 *
 *     d_c = -g_c - K_c H~_c' z,      g_c = inv(D_c) F_c,   K_c = inv(D_c) B_c                      (1)
 *     ( I + sum_c H~_c K_c H~_c' ) z = -sum_c H~_c g_c                                             (2)
 *
 * (2) has six unknowns per body, for any number of contacts, and a block for each two bodies that touch: a wall of 100
 * boxes has 600 unknowns and 3252 contact rows. It is never singular, even with redundant contacts, because the masses
 * are on its diagonal. Open contacts have K = 0. W is not formed. A mechanism (mobility.h) counts as a body with as
 * many unknowns as it has degrees of freedom.
 */
#ifndef STI_BY_BODIES_H
#define STI_BY_BODIES_H

#include "math/sparse_lu.h"
#include "pile/pile.h"

typedef struct sti_ByBodies {
    st_Allocator allocator;
    sti_Work *work; /* counted into                                                               */
    sti_SparseLu *lu;
    const sti_Graph *graph;
    int64_t serial;        /* of the reduction whose graph it was made for                        */
    sti_BlockRows rows;    /* the pattern of (2)                                                  */
    int n;                 /* the graph's nodes, and mechanisms                                    */
    int64_t n_x;           /* numbers in x                                                        */
    STI_ARRAY(int, first); /* n + 1                                                               */
    STI_ARRAY(int64_t, p); /* n + 1                                                               */
    STI_ARRAY(int, j);     /* the body itself first                                               */
    STI_ARRAY(int64_t, start);
    STI_ARRAY(double, x);
    STI_ARRAY(int64_t, cross); /* by contact: the entries (a, b) and (b, a) of its bodies; -1: one body alone */
    int width;                 /* largest number of rows of a contact: the directions of the graph */
    STI_ARRAY(double, K);      /* by contact, width x width numbers                                  */
    STI_ARRAY(double, g);      /* by contact, width numbers                                          */
    STI_ARRAY(double, z);      /* 6 numbers a body, then the mechanisms'                             */
    STI_ARRAY(int64_t, end);   /* by body: work                                                      */
} sti_ByBodies;

/* Starts as {.allocator = ...}. The pattern of (2), with all contacts, for the graph of a reduction. */
st_Status sti_by_bodies_begin(sti_ByBodies *s, const sti_Graph *graph, int64_t serial, st_Error *err);
void sti_by_bodies_release(sti_ByBodies *s);

/* Sets the terms of contact c in (2). A and B dim x dim, row-major; soft: the diagonal of alpha E (C is the
 * graph's). */
void sti_by_bodies_set(sti_ByBodies *s, int c, const double *A, const double *B, const double *F, const double *soft);

/* Another F for contact c, which was set with A = 0 and B = I. */
void sti_by_bodies_set_side(sti_ByBodies *s, int c, const double *F);

/* The step d and the change of velocities by it, W d, both n_r. factors: false if only F has changed since the last
 * step. */
st_Status sti_by_bodies_step(sti_ByBodies *s, bool factors, double *d, double *W_d, st_Error *err);

#endif
