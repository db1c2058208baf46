/* pile/small_island.h -- contacts between a few free bodies, and Newton's equations for their velocities.
 *
 * A graph (pile.h) of ten contacts has colours of one or two contacts each, and most of its lanes are empty. Here
 * contact c is lane c % 8 of pack c / 8, in the order of the problem. Computations by contact (laws, residuals)
 * therefore fill the lanes, and computations by body use rows of eight numbers, one register:
 *
 *     h[c][side][direction]     H~ of pile.h on the six velocities of a body, and two zeros
 *
 * The kernels are compiled for each vector unit (small_lanes.h), with the same bits.
 *
 * Newton's step for F(r, u) = 0 of Alart and Curnier (reduce/alart_curnier.h) with u = H~'v~ + C r + w, regularised by
 * alpha E (solve/newton.c), is eliminated contact by contact as in solve/body_space_newton.h. With s = alpha/rho + C
 * of the normal (s_n) and of the tangents (s_t), x = r - rho u, d = x_T/|x_T| and e perpendicular to it,
 *
 *     open   (x_n <= 0)             K = 0,                                  g = r
 *     normal (x_n > 0)              K_nn = 1/s_n,                           g_n = u_n/s_n
 *     sticks (|x_T| <= mu x_n)      K_TT = 1/s_t,                           g_T = u_T/s_t
 *     slides                        K_Tn = mu d/s_n,   K_TT = rho q/m ee',   q = mu x_n/|x_T|,  m = 1 - q (1 - rho s_t)
 *                                   g_T = d (F_T.d + mu (1 - rho_n s_n) g_n) + e (F_T.e)/m
 *     (I + sum_c H~_c K_c H~_c') z = -sum_c H~_c g_c,                         d_c = -g_c - K_c H~_c' z
 */
#ifndef STI_SMALL_ISLAND_H
#define STI_SMALL_ISLAND_H

#include "pile/pile.h"

/* Bodies and contacts that are few: the bits of a word. */
enum { STI_SMALL_BODIES = 64, STI_SMALL_CONTACTS = 320 };

/* The equations of bodies a and b: six rows of eight numbers. */
enum { STI_SMALL_BLOCK = 6 * STI_NODE };

/* Constants of eight contacts. */
typedef struct sti_SmallPack {
    _Alignas(STI_ALIGN) double mu[STI_LANES];
    double rho[STI_LANES];   /* of the residual                                                 */
    double rho_n[STI_LANES]; /* of Newton's equations, normal and tangents                      */
    double rho_t[STI_LANES]; /*                                                                 */
    double C[2][STI_LANES];  /* compliance of the normal and of the tangents                    */
    double w[3][STI_LANES];  /* u without velocities                                            */
} sti_SmallPack;

/* Numbers of eight contacts by direction. */
typedef struct sti_Triple {
    _Alignas(STI_ALIGN) double x[3][STI_LANES];
} sti_Triple;

/* K of eight contacts: nn; t1 n, t2 n; t1 t1, t1 t2, t2 t2. */
typedef struct sti_SmallSlope {
    _Alignas(STI_ALIGN) double x[6][STI_LANES];
} sti_SmallSlope;

/* Numbers that a sweep needs for each contact: 1.3/W_nn, W_tn, inv(W_TT), 1/lambda_max(W_TT), mu. */
enum { STI_SMALL_VISIT = 8 };

typedef struct sti_Small {
    st_Allocator allocator;
    const sti_GraphCode *code;
    int n, n_packs, n_bodies; /* contacts, packs, bodies                                         */
    int n_slots;              /* blocks of the matrix                                             */
    int price;                /* products of blocks in an elimination                             */
    double alpha;
    STI_ARRAY(int32_t, body);    /* by contact: its bodies, n_bodies: the ground                     */
    STI_ARRAY(double, h);        /* by contact, side, direction: STI_NODE numbers                   */
    STI_ARRAY(double, visit);    /* by contact: STI_SMALL_VISIT numbers                              */
    STI_ARRAY(double, v_free);   /* v~ without impulses, STI_NODE a body, and the ground's           */
    STI_ARRAY(double, v);        /* v~ of the r judged or swept last                                 */
    STI_ARRAY(double, z);        /* STI_NODE a body, and the ground's: right-hand side, then solution */
    STI_ARRAY(double, block);    /* by slot: STI_SMALL_BLOCK numbers                                  */
    STI_ARRAY(int16_t, slot);    /* by two bodies: their block; -1: none                             */
    STI_ARRAY(int, order);       /* bodies as they are eliminated                                    */
    STI_ARRAY(int, reach_first); /* n_bodies + 1: of the k-th of them, the bodies it touches then    */
    STI_ARRAY(int, reach);
    STI_ARRAY(sti_SmallPack, pack);
    STI_ARRAY(sti_SmallSlope, K);
    STI_ARRAY(sti_Triple, g);
    STI_ARRAY(sti_Triple, r); /* where it is; u is its velocity                                   */
    STI_ARRAY(sti_Triple, u);
    STI_ARRAY(sti_Triple, center);
    STI_ARRAY(sti_Triple, step); /* d, and W d                                                   */
    STI_ARRAY(sti_Triple, step_u);
    STI_ARRAY(sti_Triple, trial);
    STI_ARRAY(sti_Triple, trial_u);
    STI_ARRAY(sti_Triple, best);
} sti_Small;

static inline double *sti_small_block(const sti_Small *s, int a, int b)
{
    return s->block + STI_SMALL_BLOCK * (ptrdiff_t)s->slot[a * s->n_bodies + b];
}

/* Kernels; small_lanes.h. */
typedef struct sti_SmallCode sti_SmallCode;
struct sti_SmallCode {
    /* sum |F|^2/rho of (r, u) around the centre; with `slopes` K and g, too. */
    double (*law)(const sti_Small *s, const sti_Triple *r, const sti_Triple *u, bool slopes);
    /* The matrix and the right-hand side of K and g; then z. False: a pivot is zero or not finite. */
    bool (*solve)(sti_Small *s);
    /* d and W d of z, K and g. */
    void (*step)(sti_Small *s);
    /* v = v_free + H~ r, u of it, and the sum of the squares of the natural map. */
    double (*judge)(sti_Small *s, const sti_Triple *r, sti_Triple *u);
    /* All contacts once, as in sweep_lanes.h; v is that of r. Returns | change of r |^2. */
    double (*sweep)(sti_Small *s, sti_Triple *r);
};

/* Starts as {.allocator = ...}. Does the graph's problem fit? Coulomb's law without rolling, no mechanisms. */
bool sti_small_fits(const sti_Graph *graph);
st_Status sti_small_take(sti_Small *s, sti_Graph *graph, st_Error *err);
void sti_small_release(sti_Small *s);
/* r in the problem's order. */
void sti_small_set(const sti_Small *s, const st_Problem *problem, const double *r, sti_Triple *to);
void sti_small_get(const sti_Small *s, const st_Problem *problem, const sti_Triple *from, double *r);

#endif
