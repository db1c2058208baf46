/* pile/pile.h -- contacts between free bodies as a coloured graph, eight at a time.
 *
 * Bodies (blocks of A, at most six velocities) are nodes, contacts are edges. In coordinates where every
 * body's mass is 1,
 *
 *     A_k = L_k L_k',     v~ = L' v,     H~ = inv(L) H :       u = H~' v~ + C r + w,    v~ = v~_free + H~ r,
 *
 * H~ serves for both equations, and W_cc = H~_c' H~_c + C_cc. Contacts of one colour share no body. They may be
 * visited in any order, eight in the lanes of a vector, or by several threads, with the same bits. Colours
 * depend on the problem alone.
 *
 * In memory contacts are sorted by zone, and within a zone by colour. A zone is a range of contacts in the order of
 * their bodies. A thread visits the same range of zones in every pass, so its bodies and impulses stay in the caches
 * near its core. Reading a cache line that another core wrote takes 30 ns if both cores share a cache, 180 ns if not.
 *
 * The kernels and their files. Each is a loop over flat arrays without calls to other files:
 *
 *     gather      sti_graph_masses, sti_graph_fill       pile_fill.c; fill, fill_points, prepare in sweep_lanes.h
 *     colour      sti_graph_build                        contact_coloring.c
 *     sweep       sti_graph_sweep, by colours            pile_sweep.c; pass in sweep_lanes.h: one stretch of a colour
 *     judge       sti_graph_judge                        pile_sweep.c; judge in sweep_lanes.h
 *     scatter     sti_graph_give, sti_graph_unscale      pile_fill.c
 *
 * Their input is problem/pile_contacts.h, or rows of H if bodies have joints, locks or user models. sweep_lanes.h is
 * compiled for each vector unit, with the same bits; sqrt is its only function of libm.
 *
 * A pile may contain mechanisms. Bodies with a prescribed motion (a drum that turns at a given speed) are ground with a
 * velocity: their contacts are in lanes like all others. Contacts with bodies that joints leave some freedom
 * (mobility.h), and rows of motors and joints, are solved alone: after all colours, one after another, each
 * exactly (mechanism_contacts.c). Problems that do not fit (other laws, patches, too few contacts in lanes) are left to
 * the general sweep of nsgs.c. */
#ifndef STI_GRAPH_H
#define STI_GRAPH_H

#include "linalg/mobility.h"
#include "math/parallel.h"
#include "problem/one_contact.h"
#include "problem/pile_contacts.h"

typedef struct sti_Graph sti_Graph;

enum { STI_LANES = 8 };

/* Eight contacts of one colour, component by component: their laws. A lane without a contact has zeros throughout.
 * Before the first sweep the inverses are not computed yet, and their members contain W_nn and W_TT. */
typedef struct sti_Batch {
    _Alignas(STI_ALIGN) double mu[STI_LANES];
    double inverse_n[STI_LANES];    /* omega/W_nn                                               */
    double W_tn[2][STI_LANES];      /* change of the tangential velocities by a normal impulse */
    double inverse_T[3][STI_LANES]; /* inv(W_TT): 11, 12, 22                                    */
    double slip[STI_LANES];         /* 1 / the larger eigenvalue of W_TT                        */
    int32_t body[2][STI_LANES];     /* node; n_nodes: none (the ground)                         */
    int32_t dim[STI_LANES];
    int32_t contact[STI_LANES]; /* -1: none                                                 */
} sti_Batch;

/* u = H~'v~ + C r + w of eight contacts, by any rows of H. */
typedef struct sti_RowLanes {
    _Alignas(STI_ALIGN) double H[2][6][3][STI_LANES]; /* H~ by body, velocity, direction                          */
    double w[3][STI_LANES];
    double C[3][STI_LANES]; /* compliance, diagonal                                     */
} sti_RowLanes;

/* Lanes for bodies that are all round (their inertia is a multiple of 1) and touch at points, as spheres do. The
 * rotational part of v~ is then in world axes, and with directions d = n, t, n x t and levers l, in units of sqrt(I),
 *
 *     u = d . (m_b v_b + w_b x l_b - m_a v_a - w_a x l_a) + C r + w,         m = 1/sqrt(mass) :
 *
 * 16 numbers instead of 42. This saves time because sweeps of large piles wait for memory. */
typedef struct sti_BallLanes {
    _Alignas(STI_ALIGN) double normal[3][STI_LANES];
    double tangent[3][STI_LANES]; /* 0: no friction                                                    */
    double lever[2][3][STI_LANES];
    double mass[2][STI_LANES]; /* m; 0: the ground                                                  */
    double w[STI_LANES];       /* along the normal, as is the compliance                            */
    double C[STI_LANES];
} sti_BallLanes;

/* Lanes for bodies that are not round but have six velocities and principal axes, as boxes do. Each direction has a
 * row for the rotation, in the axes of the body; the translational part is m d. This takes 28 numbers instead of 42. */
typedef struct sti_PointLanes {
    _Alignas(STI_ALIGN) double normal[3][STI_LANES];
    double tangent[3][STI_LANES];    /* 0: no friction                                                    */
    double turn[2][3][3][STI_LANES]; /* by body, direction, velocity                                   */
    double mass[2][STI_LANES];       /* m, below 0 for a; 0: the ground                                */
    double w[STI_LANES];             /* along the normal, as is the compliance                         */
    double C[STI_LANES];
} sti_PointLanes;

/* Contacts with rolling and spinning friction have three more directions, R1 and R2 about the tangents and S about the
 * normal, with impulses |r_R| <= mu_roll r_n, |r_S| <= mu_spin r_n: u_R, u_S = d . (w_b - w_a) + C r + w. For round
 * bodies W_RR and W_SS are the same multiple of 1, and the rotational part is m d with m = 1/sqrt(I). */
typedef struct sti_BallTurns {
    _Alignas(STI_ALIGN) double mu[2][STI_LANES]; /* of rolling and of spinning; 0: none                   */
    double inverse[STI_LANES];                   /* 1/W_RR                                                */
    double scale[2][STI_LANES];                  /* m; 0: the ground                                      */
} sti_BallTurns;

/* The same by any rows of H. */
typedef struct sti_RowTurns {
    _Alignas(STI_ALIGN) double mu[2][STI_LANES];
    double inverse_R[3][STI_LANES]; /* inv(W_RR): 11, 12, 22                                              */
    double slip[STI_LANES];         /* 1 / the larger eigenvalue of W_RR                                  */
    double inverse_S[STI_LANES];    /* 1/W_SS                                                             */
    double H[2][6][3][STI_LANES];   /* H~ by body, velocity, direction                                    */
    double w[3][STI_LANES];
    double C[3][STI_LANES];
} sti_RowTurns;

/* Of a batch, and of those after it: arrays of one kind, the others are NULL. */
typedef enum sti_LaneKind { STI_BALLS, STI_TURNING_BALLS, STI_POINTS, STI_ROWS, STI_TURNING_ROWS } sti_LaneKind;

typedef struct sti_LaneMap {
    sti_LaneKind kind;
    sti_BallLanes *balls;
    sti_BallTurns *ball_turns;
    sti_PointLanes *points;
    sti_RowLanes *rows;
    sti_RowTurns *row_turns;
} sti_LaneMap;

/* The rows of eight contacts, by direction: 0 where there is none. */
typedef struct sti_LaneRows {
    _Alignas(STI_ALIGN) double h[STI_LANES][STI_TURNING][2][STI_NODE];
    const double *scale[2][STI_LANES]; /* by velocity: factor from h to H~ */
} sti_LaneRows;

/* Numbers that describe the frame of a contact point. */
enum { STI_FRAME = 16 };
typedef struct sti_LaneFrames {
    _Alignas(STI_ALIGN) double lever[2][3][STI_LANES]; /* from both bodies; 0 where there is no contact        */
    int64_t slides[STI_LANES];                         /* -1: there is friction; 0: none, nor a tangent    */
    const double *frame[STI_LANES];   /* nine numbers: point, normal, tangent                          */
    const double *axes[2][STI_LANES]; /* of its bodies: sti_Graph.axes                    */
} sti_LaneFrames;

/* Results of the judge, lane by lane. */
typedef struct sti_LaneJudgement {
    _Alignas(STI_ALIGN) double error[STI_LANES]; /* sum of the squares of the natural map           */
    double power[STI_LANES];                     /* sum of | r . u^ |                               */
    double outside[STI_LANES];                   /* largest distance of r from the cone             */
    double worst[STI_LANES];                     /* largest contribution to the error, and its contact */
    int32_t contact[STI_LANES];
} sti_LaneJudgement;

/* Sums over a chunk of batches. Total sums add those of the chunks, in their order. */
enum { STI_SUMS = 4 };
typedef struct sti_Part {
    sti_LaneJudgement judged;
    double sum[STI_SUMS], moved;
} sti_Part;

/* Batches first .. first + count - 1, of one colour and one zone: the unit of work of a thread, and of summation. */
typedef struct sti_Stretch {
    int first, count;
} sti_Stretch;

/* A contact that is solved alone: u = H~'v~ + C r + w on at most two bodies or mechanisms. */
typedef struct sti_Alone {
    int contact;
    int node[2];     /* a body, or n_nodes + the number of a mechanism (mobility.h); -1: none        */
    int size[2];     /* velocities of it, 6 or the mechanism's freedoms                              */
    ptrdiff_t v[2];  /* where they begin in v                                                        */
    int64_t rows[2]; /* where H~ begins in alone_rows: dim rows of size numbers                      */
    double w[ST_MAX_DIM], C[ST_MAX_DIM]; /* w with the velocities that mechanisms have by themselves   */
    double W[ST_MAX_DIM * ST_MAX_DIM];   /* W_cc, dim x dim                                           */
    sti_Local local;
} sti_Alone;

/* Form of the rows of a contact, and whether it goes into a lane. */
typedef enum sti_ContactKind {
    STI_ANY_ROWS,   /* in a lane, with whatever numbers on its bodies                                  */
    STI_ONE_BODY,   /* in a lane: each row has the six velocities of a body, in order                  */
    STI_TWO_BODIES, /* in a lane: of one body, then of the other                                       */
    STI_LED,        /* in a lane, and touches a body that nothing but time can move                    */
    STI_ALONE       /* in none                                                                         */
} sti_ContactKind;

/* The operations on batches, compiled once for each vector unit (sweep_lanes.h). */
typedef enum sti_Pass {
    STI_SWEEP,  /* returns | change of r |^2                                                       */
    STI_APPLY,  /* v += H~ r                                                                       */
    STI_RESTORE /* the same, with r moved into the laws' sets first                                */
} sti_Pass;
typedef struct sti_GraphCode {
    void (*fill)(sti_LaneMap to, const sti_LaneRows *rows);
    void (*fill_points)(sti_PointLanes *to, const sti_LaneFrames *frames);
    void (*prepare)(sti_Batch *batch, sti_LaneMap map, const double *v_free, double *b, double *weight,
                    double sum[STI_SUMS]);
    void (*invert)(sti_Batch *batch);
    double (*pass)(const sti_Batch *batch, sti_LaneMap map, double *r, double *v, int32_t ground, int n_batches,
                   sti_Pass pass);
    void (*judge)(const sti_Batch *batch, sti_LaneMap map, int n_batches, const double *weight, const double *v,
                  double *r_to_u, sti_LaneJudgement *out);
    const struct sti_SmallCode *small; /* small_island.h */
    const struct sti_RestCode *rest;   /* rest.h         */
} sti_GraphCode;
extern const sti_GraphCode sti_graph_plain, sti_graph_avx2, sti_graph_avx512;
const sti_GraphCode *sti_graph_code(void); /* the fastest that this processor can run */

struct sti_Graph {
    st_Allocator allocator;
    const st_Problem *problem;
    const sti_PileContacts *pile; /* its contacts as arrays; NULL: as rows of H                     */
    const sti_GraphCode *code;
    int threads; /* of a team, set by its owner; the result does not depend on it                 */
    int n_nodes, n_batches;
    int n_rooms; /* of eight contacts each in r, weight and judged: n_batches, then those alone         */
    int n_alone, n_jointed;
    sti_Mobility mobility; /* of mechanisms; in v their v~ follows those of bodies and ground */
    int n_zones;
    int n_coloured;       /* batches with a colour, all but the last ones                                      */
    int colour_first[65]; /* stretches of colour k: colour_first[k] .. colour_first[k+1]-1              */
    STI_ARRAY(sti_Stretch, stretch); /* in memory's order in each colour                                */
    STI_ARRAY(int, run_first);       /* batches of colour k in zone z begin at run_first[STI_COLOURS z + k] */
    bool straight; /* contacts are arrays, none has one tangent, and w and C are along normals              */
    bool round;    /* balls: all bodies are round                                                       */
    bool pointed;  /* points: they are not, but have principal axes and touch at points                 */
    bool turning;  /* some contact rolls or spins                                                       */
    int n_dirs;    /* directions in lanes: STI_TURNING then, else STI_SLIDING                           */
    bool inverted; /* batches have their inverses                                                       */
    STI_ARRAY(sti_Batch, batch);
    STI_ARRAY(sti_RowLanes, rows); /* by batch, or                                                   */
    STI_ARRAY(sti_PointLanes, points);
    STI_ARRAY(sti_BallLanes, balls); /* by batch                                                       */
    STI_ARRAY(sti_RowTurns, row_turns);
    STI_ARRAY(sti_BallTurns, ball_turns);
    STI_ARRAY(double, v);          /* v~: STI_NODE a body, one more for the ground                    */
    STI_ARRAY(double, v_free);     /* v~_free likewise                                                */
    STI_ARRAY(double, r);          /* by batch, direction, lane                                       */
    STI_ARRAY(double, weight);     /* likewise: 1/rho, the weight of an impulse's square              */
    STI_ARRAY(double, judged);     /* likewise: the r that is judged, then its u; b before the first sweep */
    STI_ARRAY(double, v_judged);   /* v~ of that r                                                    */
    STI_ARRAY(double, scale);      /* by node: the diagonal of inv(L), STI_NODE numbers               */
    STI_ARRAY(double, axes);       /* by node: its axes as columns (row-major 3 x 3), each times its scale; the scale
                                    * of its motion; STI_FRAME numbers. Where pointed                 */
    STI_ARRAY(double, root);       /* by node: inv(L), lower, row-major 6 x 6; where some L is not diagonal */
    STI_ARRAY(bool, diagonal);     /* by node: L is                                                   */
    STI_ARRAY(int64_t, mass_at);   /* by node: place of A_k */
    STI_ARRAY(int32_t, legs);      /* by contact: its nodes, two                                      */
    STI_ARRAY(uint8_t, kind);      /* by contact: sti_ContactKind                                     */
    STI_ARRAY(sti_Alone, alone);   /* contacts that are solved alone, n_alone */
    STI_ARRAY(double, alone_rows); /* their rows                                                      */
    STI_ARRAY(int, jointed);       /* the contacts on bodies with joints, n_jointed                   */
    STI_ARRAY(uint64_t, taken);    /* by node: colours of its contacts                                */
    STI_ARRAY(uint8_t, colour);    /* by contact                                                      */
    STI_ARRAY(int, place);         /* by contact: STI_LANES batch + lane                              */
    int n_placed, placed_nodes;    /* contacts and nodes that colours and places are of; 0: none      */
    STI_ARRAY(sti_Part, part);     /* by chunk of batches, or by stretch and one more                 */
};

/* Starts as {.allocator = ..., .mobility.allocator = ...}. *fits: can the problem be solved by this file? If so, its
 * lists are built, and the scale of the residual is computed from v_free. */
st_Status sti_graph_build(sti_Graph *graph, const st_Problem *problem, const sti_PileContacts *pile,
                          const sti_Saddle *saddle, const double *v_free, double *scale, bool *fits, st_Error *err);
/* Writes b of all rows and rho of all contacts. Call it before the first judgement. */
void sti_graph_give_b(const sti_Graph *graph, double *b, double *rho);
void sti_graph_release(sti_Graph *graph);

/* Copy r between the order of the problem and that of the graph. */
void sti_graph_take(sti_Graph *graph, const double *r);
void sti_graph_give(const sti_Graph *graph, double *r);

/* Projects r on the sets of the laws, and computes v~ = v~_free + H~ r again. */
void sti_graph_restore(sti_Graph *graph);

/* The error of r: the sum of the squares of the natural map, and the largest contribution of one contact. r NULL: that
 * of the sweeps. r and v~ of the sweeps are unchanged. Only contacts in lanes are included: the caller adds velocities
 * of bodies with joints and contacts that are solved alone. */
typedef struct sti_GraphError {
    double sum, worst;
} sti_GraphError;
sti_GraphError sti_graph_judge(sti_Graph *graph, const double *r, st_Residual *out);
/* v and u of the r that was judged last, in the order of the problem. */
void sti_graph_give_judged(const sti_Graph *graph, double *v, double *u);

/* The entry of contact c if it is solved alone; NULL: it is in a lane. */
static inline sti_Alone *sti_graph_alone(const sti_Graph *graph, int c)
{
    return graph->kind[c] == STI_ALONE ? graph->alone + (graph->place[c] - STI_LANES * graph->n_batches) : NULL;
}

/* One contact out of its lane: its first three rows of H~' on its two bodies (0 where it has fewer), and the three
 * after them, where contacts turn; and the diagonal of C, by row.                                 */
void sti_graph_rows(const sti_Graph *graph, int c, double rows[2][3][6]);
void sti_graph_turn_rows(const sti_Graph *graph, int c, double rows[2][3][6]);
double sti_graph_compliance(const sti_Graph *graph, int c, int row);
double sti_graph_rho(const sti_Graph *graph, int c);

/* Computes the inverses that visits need, unless they are known. */
void sti_graph_invert(sti_Graph *graph);

/* Visits all contacts once, in the order of colours; returns | change of r |. */
double sti_graph_sweep(sti_Graph *graph);

/* ---- between the files of the graph: contact_coloring.c, pile_fill.c, pile_sweep.c ---- */

enum { STI_COLOURS = 64 }; /* bits of a word */
enum { STI_CHUNK = 8 };    /* batches that are summed up together */
enum { STI_LEAST = 256 };  /* smallest number of contacts for one more thread */
enum { STI_ZONE = 2048 };  /* contacts of a zone */

static inline int sti_chunks_of(int n_batches)
{
    return (n_batches + STI_CHUNK - 1) / STI_CHUNK;
}

/* Batches that may have lanes without contacts, by e = 0, 1 ...: the last one of each colour in each zone (-1: it has
 * none), and those after all colours. */
static inline int sti_graph_open(const sti_Graph *graph)
{
    return STI_COLOURS * graph->n_zones + graph->n_batches - graph->n_coloured;
}
static inline int sti_graph_open_batch(const sti_Graph *graph, int e)
{
    const int runs = STI_COLOURS * graph->n_zones, *first = graph->run_first + e;
    if (e >= runs) return graph->n_coloured + e - runs;
    return first[0] < first[1] ? first[1] - 1 : -1;
}

/* The place of the first number of a contact in an array by batch, direction and lane; the others follow at distances
 * of STI_LANES. */
static inline ptrdiff_t sti_lane_at(const sti_Graph *graph, int c)
{
    return (ptrdiff_t)graph->n_dirs * STI_LANES * (graph->place[c] / STI_LANES) + graph->place[c] % STI_LANES;
}

static inline sti_LaneMap sti_graph_map(const sti_Graph *graph, ptrdiff_t batch)
{
    sti_LaneMap map = {.kind = STI_POINTS};
    if (graph->pointed) {
        map.points = graph->points + batch;
    } else if (graph->round) {
        map.kind = graph->turning ? STI_TURNING_BALLS : STI_BALLS;
        map.balls = graph->balls + batch;
        map.ball_turns = graph->turning ? graph->ball_turns + batch : NULL;
    } else {
        map.kind = graph->turning ? STI_TURNING_ROWS : STI_ROWS;
        map.rows = graph->rows + batch;
        map.row_turns = graph->turning ? graph->row_turns + batch : NULL;
    }
    return map;
}

/* pile_fill.c: masses (*definite: all are positive definite), then the data of the contacts in lanes, and the sums for
 * the scale of the residual (sweep_lanes.h). */
st_Status sti_graph_masses(sti_Graph *graph, const double *v_free, bool *definite, st_Error *err);
void sti_graph_fill(sti_Graph *graph, const sti_Net *net, const double *v_free, double sum[STI_SUMS]);
/* h <- inv(L) h: the numbers of a row on a body, six of them. */
void sti_graph_scale_row(const sti_Graph *graph, int node, double *h);

/* mechanism_contacts.c: the number of velocities v~ of mechanisms. Contacts that are solved alone get their rows, then
 * (when C is known) their blocks of W, and add to the sums. *fits: none of them touches more than two bodies or
 * mechanisms. A pass over them returns | change |^2. */
static inline int64_t sti_graph_freedoms(const sti_Graph *graph)
{
    return graph->problem->n_l > 0 ? graph->mobility.first[graph->mobility.n] : 0;
}
st_Status sti_alone_fill(sti_Graph *graph, const sti_Saddle *saddle, const double *v_free, bool *fits, st_Error *err);
void sti_alone_prepare(sti_Graph *graph, const double *v_free, double sum[STI_SUMS]);
double sti_alone_pass(const sti_Graph *graph, double *r, double *v, sti_Pass pass);

/* v of v~. */
void sti_graph_unscale(const sti_Graph *graph, int node, const double *v, double *out);
/* Arrays by batch, direction and lane, and in the problem's order. */
void sti_lanes_give(const sti_Graph *graph, const double *lanes, double *out);
void sti_lanes_take(const sti_Graph *graph, const double *from, double *lanes);

#endif
