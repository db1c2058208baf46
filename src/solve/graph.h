/* solve/graph.h -- contacts between free bodies as a coloured graph, eight at a time.
 *
 * Bodies (blocks of A, at most six velocities) are nodes, contacts are edges. In coordinates where every
 * body's mass is 1,
 *
 *     A_k = L_k L_k',     v~ = L' v,     H~ = inv(L) H :       u = H~' v~ + C r + w,    v~ = v~_free + H~ r,
 *
 * one matrix serves both ways and W_cc = H~_c' H~_c + C_cc. Contacts of one colour share no body: they may be
 * visited in any order, eight in the lanes of a vector, or on several threads, with the same bits. Colours
 * depend on the problem alone. What does not fit (joints between bodies, other laws, patches) is left to
 * the general sweep of nsgs.c.
 */
#ifndef STI_GRAPH_H
#define STI_GRAPH_H

#include "math/parallel.h"
#include "solve/net.h"
#include "solve/rows.h"

typedef struct sti_Graph sti_Graph;

enum { STI_LANES = 8 };

/* Eight contacts of one colour, component by component. A lane without a contact has zeros throughout. */
typedef struct sti_Batch {
    _Alignas(STI_ALIGN) double H[2][6][3][STI_LANES]; /* H~ by body, velocity, direction                          */
    double w[3][STI_LANES];                           /* u - H~'v~                                                */
    double C[3][STI_LANES];                           /* compliance, diagonal                                     */
    double mu[STI_LANES];                             /*                                                          */
    double inverse_n[STI_LANES];                      /* 1/W_nn                                                   */
    double W_tn[2][STI_LANES];                        /* what a normal impulse does to the tangents               */
    double inverse_T[3][STI_LANES];                   /* inv(W_TT): 11, 12, 22                                    */
    double slip[STI_LANES];                           /* 1 / the larger eigenvalue of W_TT                        */
    int32_t body[2][STI_LANES];                       /* node; n_nodes: none (the ground)                         */
    int32_t dim[STI_LANES];
    int32_t contact[STI_LANES]; /* -1: none                                                 */
} sti_Batch;

/* The rows of eight contacts as the problem has them: 0 where there is none. */
typedef struct sti_LaneRows {
    _Alignas(STI_ALIGN) double h[STI_LANES][3][2][STI_NODE];
    const double *scale[2][STI_LANES]; /* by velocity: what H~ is of h                             */
} sti_LaneRows;

/* What the judge has found, lane by lane. */
typedef struct sti_LaneJudgement {
    _Alignas(STI_ALIGN) double error[STI_LANES]; /* sum of the squares of the natural map           */
    double power[STI_LANES];                     /* sum of | r . u^ |                               */
    double outside[STI_LANES];                   /* largest distance of r from the cone             */
    double worst[STI_LANES];                     /* largest share in error, and whose               */
    int32_t contact[STI_LANES];
} sti_LaneJudgement;

/* What is summed up over a chunk of batches: the sums of all are those of the chunks, in their order. */
typedef struct sti_Part {
    sti_LaneJudgement judged;
    double sum[3], moved;
} sti_Part;

/* What is done to batches, one version for each vector unit (graph_lanes.h). */
typedef enum sti_Pass {
    STI_SWEEP,  /* returns | change of r |^2                                                       */
    STI_APPLY,  /* v += H~ r                                                                       */
    STI_RESTORE /* the same, with r moved into the laws' sets first                                */
} sti_Pass;
typedef struct sti_GraphCode {
    void (*fill)(sti_Batch *batch, const sti_LaneRows *rows);
    void (*prepare)(sti_Batch *batch, const double *v_free, double *b, double *weight, double sum[3]);
    double (*pass)(const sti_Batch *batch, double *r, double *v, int32_t ground, int n_batches, sti_Pass pass);
    void (*judge)(const sti_Batch *batch, int n_batches, const double *weight, const double *v, double *r_to_u,
                  sti_LaneJudgement *out);
} sti_GraphCode;
extern const sti_GraphCode sti_graph_plain, sti_graph_avx2, sti_graph_avx512;
const sti_GraphCode *sti_graph_code(void); /* the fastest that this processor can run */

struct sti_Graph {
    st_Allocator allocator;
    const st_Problem *problem;
    const sti_GraphCode *code;
    int threads; /* of a team, set by its owner; the result does not depend on it                 */
    int n_nodes, n_batches;
    int colour_first[65]; /* batches of colour k: colour_first[k] .. colour_first[k+1]-1      */
    STI_ARRAY(sti_Batch, batch);
    STI_ARRAY(double, v);        /* v~: STI_NODE a body, one more for the ground                    */
    STI_ARRAY(double, v_free);   /* v~_free likewise                                                */
    STI_ARRAY(double, r);        /* by batch, direction, lane                                       */
    STI_ARRAY(double, weight);   /* likewise: 1/rho, the weight of an impulse's square              */
    STI_ARRAY(double, judged);   /* likewise: the r that is judged, then its u; b before the first sweep */
    STI_ARRAY(double, v_judged); /* v~ of that r                                                    */
    STI_ARRAY(double, scale);    /* by node: the diagonal of inv(L), STI_NODE numbers               */
    STI_ARRAY(double, root);     /* by node: inv(L), lower, row-major 6 x 6; where some L is not diagonal */
    STI_ARRAY(bool, diagonal);   /* by node: L is                                                   */
    STI_ARRAY(int32_t, legs);    /* by contact: its nodes, two                                      */
    STI_ARRAY(uint8_t, whole);   /* by contact: numbers in a row on whole bodies, 6 or 12; 0: other rows */
    STI_ARRAY(uint64_t, taken);  /* by node: colours of its contacts                                */
    STI_ARRAY(uint8_t, colour);  /* by contact                                                      */
    STI_ARRAY(int, place);       /* by contact: STI_LANES batch + lane                              */
    STI_ARRAY(sti_Part, part);   /* by chunk of batches                                             */
};

/* Starts as {.allocator = ...}. *fits tells whether the problem is one for this file; if so its lists are made:
 * b (n_r), rho (n_contacts) and the residual's scale are filled from v_free.                      */
st_Status sti_graph_build(sti_Graph *graph, const st_Problem *problem, const sti_Net *net, const double *v_free,
                          double *b, double *rho, double *scale, bool *fits, st_Error *err);
void sti_graph_release(sti_Graph *graph);

/* r in the problem's order and in the graph's. */
void sti_graph_take(sti_Graph *graph, const double *r);
void sti_graph_give(const sti_Graph *graph, double *r);

/* r is moved into the laws' sets, and v~ = v~_free + H~ r anew. */
void sti_graph_restore(sti_Graph *graph);

/* v and u of r, in the problem's order, and how far r is from a solution. The sweeps' own r and v~ stay. */
void sti_graph_judge(sti_Graph *graph, const double *r, double scale, double *v, double *u, st_Residual *out);

/* One contact out of its lane: the rows of H~' on its two bodies, by direction (0 where it has none); and the
 * diagonal of C.                                                                                  */
void sti_graph_rows(const sti_Graph *graph, int c, double rows[2][3][6]);
double sti_graph_compliance(const sti_Graph *graph, int c, int direction);

/* All contacts once, in the order of colours; returns | change of r |. */
double sti_graph_sweep(sti_Graph *graph);

#endif
