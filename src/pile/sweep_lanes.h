/* pile/sweep_lanes.h -- the inner loop of contact_coloring.c, compiled once for each vector unit: graph_*.c.
 *
 * One visit of eight contacts (Coulomb's law; frictionless with mu = 0):
 *
 *     u_n = 0 or r_n = 0:          r_n <- max(0, r_n - omega u_n/W_nn),     omega = 1.3
 *     the tangents feel it:        u_T <- u_T + W_Tn (change of r_n)
 *     stick, if the cone allows:   x = r_T - inv(W_TT) u_T        where |x| <= mu r_n
 *     else slip:                   x = r_T - u_T/lambda_max(W_TT), shortened to mu r_n
 *
 * Not the exact local solution where W couples normal and tangents, but with the same fixed points: nothing moves
 * only where u_n >= 0, r_n >= 0, r_n u_n = 0, and u_T = 0 or against r_T on the cone's boundary. omega > 1 goes
 * beyond what the contact alone asks for, since its neighbours will, too (SOR; Young 1954): 666 falling spheres sink
 * by 2.0 % of r with 6 sweeps instead of 2.6 %; with 1.5 it is 2.1 %. There are no branches, so that lanes keep
 * together. The operations and their order are the same in every version, and none is fused: all give the same bits.
 */
#include "math/tsan.h"
#include "pile/pile.h"
#include "problem/law.h"

static const double relaxation = 1.3; /* omega */

typedef double Lanes __attribute__((vector_size(8 * STI_LANES)));
typedef int64_t Mask __attribute__((vector_size(8 * STI_LANES)));

static inline Lanes load(const double *x)
{
    STI_TOLD_READ(x, sizeof(Lanes));
    return *(const Lanes *)x;
}

static inline void store(double *x, Lanes value)
{
    STI_TOLD_WRITE(x, sizeof(Lanes));
    *(Lanes *)x = value;
}

static inline Lanes choose(Mask which, Lanes yes, Lanes no)
{
    return (Lanes)(((Mask)yes & which) | ((Mask)no & ~which));
}

static inline Lanes square_root(Lanes x)
{
    for (int l = 0; l < STI_LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

static inline Lanes size_of(Lanes x)
{
    return (Lanes)((Mask)x & INT64_MAX);
}

static inline double sum_of_lanes(Lanes x)
{
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

#define SHUFFLE __builtin_shufflevector

/* Eight bodies of eight numbers become eight numbers of eight bodies, and back. Without registers of 64 bytes a
 * compiler may make single loads and stores of shuffles of that size (gcc 12: 89 ns a visit in place of 12), so they
 * are made of halves there.                                                                                     */
#if !defined(__AVX__) || defined(__AVX512F__)
static inline void transpose(Lanes x[8])
{
    Lanes y[8], z[8];
    for (int i = 0; i < 8; i += 2) {
        y[i] = SHUFFLE(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        y[i + 1] = SHUFFLE(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 4; k++) {
        const int i = k + (k & 2);
        z[i] = SHUFFLE(y[i], y[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        z[i + 2] = SHUFFLE(y[i], y[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = SHUFFLE(z[i], z[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        x[i + 4] = SHUFFLE(z[i], z[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#else
typedef double Half __attribute__((vector_size(32), may_alias));

/* Four rows of four, in place. */
static inline void transpose_four(Half q[4])
{
    const Half a = SHUFFLE(q[0], q[1], 0, 4, 2, 6), b = SHUFFLE(q[0], q[1], 1, 5, 3, 7);
    const Half c = SHUFFLE(q[2], q[3], 0, 4, 2, 6), d = SHUFFLE(q[2], q[3], 1, 5, 3, 7);
    q[0] = SHUFFLE(a, c, 0, 1, 4, 5);
    q[1] = SHUFFLE(b, d, 0, 1, 4, 5);
    q[2] = SHUFFLE(a, c, 2, 3, 6, 7);
    q[3] = SHUFFLE(b, d, 2, 3, 6, 7);
}

static inline void transpose(Lanes x[8])
{
    Half *half = (Half *)x, q[2][2][4]; /* by rows below and from 4 on, columns likewise */
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            for (int k = 0; k < 4; k++)
                q[a][b][k] = half[2 * (4 * a + k) + b];
            transpose_four(q[a][b]);
        }
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int k = 0; k < 4; k++)
                half[2 * (4 * b + k) + a] = q[a][b][k];
}
#endif

static inline void gather(const double *v, const int32_t *body, Lanes x[STI_NODE])
{
    for (int l = 0; l < STI_LANES; l++)
        x[l] = load(v + STI_NODE * (ptrdiff_t)body[l]);
    transpose(x);
}

/* x is spent. The ground is not written to: lanes share it, and so do threads. */
static inline void scatter(double *v, const int32_t *body, int32_t ground, Lanes x[STI_NODE])
{
    transpose(x);
    for (int l = 0; l < STI_LANES; l++)
        if (body[l] != ground) store(v + STI_NODE * (ptrdiff_t)body[l], x[l]);
}

/* The law: from r and its velocity u to the next r. */
static inline void solve_lanes(const sti_Batch *batch, const Lanes r[3], const Lanes u[3], Lanes next[3])
{
    const Lanes zero = {0};
    const Lanes n = r[0] - u[0] * load(batch->inverse_n);
    next[0] = choose(n > zero, n, zero);
    const Lanes dn = next[0] - r[0], limit = load(batch->mu) * next[0];
    const Lanes u1 = u[1] + load(batch->W_tn[0]) * dn, u2 = u[2] + load(batch->W_tn[1]) * dn;
    const Lanes s1 = r[1] - (load(batch->inverse_T[0]) * u1 + load(batch->inverse_T[1]) * u2);
    const Lanes s2 = r[2] - (load(batch->inverse_T[1]) * u1 + load(batch->inverse_T[2]) * u2);
    const Mask sticks = s1 * s1 + s2 * s2 <= limit * limit;
    const Lanes x1 = choose(sticks, s1, r[1] - load(batch->slip) * u1);
    const Lanes x2 = choose(sticks, s2, r[2] - load(batch->slip) * u2);
    const Lanes square = x1 * x1 + x2 * x2;
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    next[1] = choose(outside, part * x1, x1);
    next[2] = choose(outside, part * x2, x2);
}

/* c x d, and a . b. */
static inline void cross_lanes(const Lanes a[3], const Lanes b[3], Lanes out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline Lanes dot_lanes(const Lanes a[3], const Lanes b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline void load_three(const double from[3][STI_LANES], Lanes out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = load(from[k]);
}

/* n, t, n x t. */
static inline void load_frame(const double normal[3][STI_LANES], const double tangent[3][STI_LANES], Lanes d[3][3])
{
    load_three(normal, d[0]);
    load_three(tangent, d[1]);
    cross_lanes(d[0], d[1], d[2]);
}

/* The velocity of a side at the point. */
static inline void point_velocity(const sti_BallLanes *balls, int side, const Lanes x[STI_NODE], Lanes out[3])
{
    const Lanes mass = load(balls->mass[side]);
    Lanes lever[3];
    load_three(balls->lever[side], lever);
    cross_lanes(x + 3, lever, out);
    for (int k = 0; k < 3; k++)
        out[k] += mass * x[k];
}

/* x += H~ r of both sides, into v. */
static inline void push_rows(const sti_RowLanes *rows, const Lanes r[3], Lanes x[2][STI_NODE])
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                x[side][k] += load(rows->H[side][k][d]) * r[d];
}

static inline void push_points(const sti_PointLanes *points, const Lanes r[3], Lanes x[2][STI_NODE])
{
    Lanes d[3][3], impulse[3];
    load_frame(points->normal, points->tangent, d);
    for (int k = 0; k < 3; k++)
        impulse[k] = (d[0][k] * r[0] + d[1][k] * r[1]) + d[2][k] * r[2];
    for (int side = 0; side < 2; side++) {
        const Lanes mass = load(points->mass[side]);
        for (int k = 0; k < 3; k++) {
            x[side][k] += mass * impulse[k];
            for (int e = 0; e < 3; e++)
                x[side][3 + k] += load(points->turn[side][e][k]) * r[e];
        }
    }
}

static inline void push_balls(const sti_BallLanes *balls, const Lanes r[3], Lanes x[2][STI_NODE])
{
    Lanes d[3][3], impulse[3], lever[3], turn[3];
    load_frame(balls->normal, balls->tangent, d);
    for (int k = 0; k < 3; k++)
        impulse[k] = (d[0][k] * r[0] + d[1][k] * r[1]) + d[2][k] * r[2];
    for (int side = 0; side < 2; side++) {
        const Lanes mass = load(balls->mass[side]);
        load_three(balls->lever[side], lever);
        cross_lanes(lever, impulse, turn);
        for (int k = 0; k < 3; k++) {
            x[side][k] += side == 0 ? -(mass * impulse[k]) : mass * impulse[k];
            x[side][3 + k] += side == 0 ? -turn[k] : turn[k];
        }
    }
}

/* The three directions about which contacts turn: x += H~ r. */
static inline void push_ball_turns(const sti_BallLanes *balls, const sti_BallTurns *turns, const Lanes r[3],
                                   Lanes x[2][STI_NODE])
{
    const Lanes a = load(turns->scale[0]), b = load(turns->scale[1]);
    Lanes d[3][3];
    load_frame(balls->normal, balls->tangent, d);
    for (int k = 0; k < 3; k++) {
        const Lanes impulse = (d[1][k] * r[0] + d[2][k] * r[1]) + d[0][k] * r[2];
        x[0][3 + k] -= a * impulse;
        x[1][3 + k] += b * impulse;
    }
}

static inline void push_row_turns(const sti_RowTurns *turns, const Lanes r[3], Lanes x[2][STI_NODE])
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                x[side][k] += load(turns->H[side][k][d]) * r[d];
}

static inline bool is_turning(sti_LaneMap map)
{
    return map.ball_turns != NULL || map.row_turns != NULL;
}

static inline int directions_of(sti_LaneMap map)
{
    return is_turning(map) ? STI_TURNING : STI_SLIDING;
}

static inline void push_turns(sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE])
{
    if (map.ball_turns != NULL)
        push_ball_turns(map.balls, map.ball_turns, r, x);
    else
        push_row_turns(map.row_turns, r, x);
}

/* The first three directions. */
static inline void push(sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE])
{
    if (map.balls != NULL)
        push_balls(map.balls, r, x);
    else if (map.points != NULL)
        push_points(map.points, r, x);
    else
        push_rows(map.rows, r, x);
}

static inline void velocity_of_points(const sti_PointLanes *points, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    const Lanes a = load(points->mass[0]), b = load(points->mass[1]);
    Lanes d[3][3], moves[3];
    load_frame(points->normal, points->tangent, d);
    for (int k = 0; k < 3; k++)
        moves[k] = a * x[0][k] + b * x[1][k];
    for (int e = 0; e < 3; e++) {
        u[e] = dot_lanes(d[e], moves);
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 3; k++)
                u[e] += load(points->turn[side][e][k]) * x[side][3 + k];
    }
    u[0] += load(points->w) + load(points->C) * r[0];
}

static inline void velocity_of_balls(const sti_BallLanes *balls, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    Lanes d[3][3], a[3], b[3];
    load_frame(balls->normal, balls->tangent, d);
    point_velocity(balls, 0, x[0], a);
    point_velocity(balls, 1, x[1], b);
    for (int k = 0; k < 3; k++)
        b[k] -= a[k];
    u[0] = load(balls->w) + load(balls->C) * r[0] + dot_lanes(d[0], b);
    u[1] = dot_lanes(d[1], b);
    u[2] = dot_lanes(d[2], b);
}

/* u = H~'v~ + C r + w. */
static inline void velocity(sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    if (map.balls != NULL) {
        velocity_of_balls(map.balls, r, x, u);
        return;
    }
    if (map.points != NULL) {
        velocity_of_points(map.points, r, x, u);
        return;
    }
    for (int d = 0; d < 3; d++)
        u[d] = load(map.rows->w[d]) + load(map.rows->C[d]) * r[d];
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                u[d] += load(map.rows->H[side][k][d]) * x[side][k];
}

/* u of rolling and spinning. */
static inline void turn_velocity(sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    if (map.ball_turns != NULL) {
        const Lanes a = load(map.ball_turns->scale[0]), b = load(map.ball_turns->scale[1]);
        const sti_BallLanes *balls = map.balls;
        Lanes d[3][3], spin[3];
        load_frame(balls->normal, balls->tangent, d);
        for (int k = 0; k < 3; k++)
            spin[k] = b * x[1][3 + k] - a * x[0][3 + k];
        u[0] = dot_lanes(d[1], spin);
        u[1] = dot_lanes(d[2], spin);
        u[2] = dot_lanes(d[0], spin);
        return;
    }
    for (int d = 0; d < 3; d++)
        u[d] = load(map.row_turns->w[d]) + load(map.row_turns->C[d]) * r[d];
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                u[d] += load(map.row_turns->H[side][k][d]) * x[side][k];
}

/* Of rolling and of spinning. */
static inline void load_turn_mu(sti_LaneMap map, Lanes mu[2])
{
    for (int k = 0; k < 2; k++)
        mu[k] = load(map.ball_turns != NULL ? map.ball_turns->mu[k] : map.row_turns->mu[k]);
}

/* Shortened to what the normal impulse allows. */
static inline void shorten_turns(sti_LaneMap map, Lanes normal, Lanes x[3])
{
    Lanes mu[2];
    load_turn_mu(map, mu);
    const Lanes zero = {0}, limit = mu[0] * normal, square = x[0] * x[0] + x[1] * x[1];
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    x[0] = choose(outside, part * x[0], x[0]);
    x[1] = choose(outside, part * x[1], x[1]);
    const Lanes most = mu[1] * normal;
    x[2] = choose(x[2] > most, most, choose(x[2] < zero - most, zero - most, x[2]));
}

/* Rolling and spinning feel what the other directions have done to x; returns the square of their own change, which is
 * in x afterwards.                                                                                   */
static inline Lanes visit_turns(sti_LaneMap map, Lanes normal, Lanes *r, Lanes x[2][STI_NODE])
{
    Lanes u[3], next[3], change[3], moved = {0};
    turn_velocity(map, r, x, u);
    if (map.ball_turns != NULL) {
        const Lanes inverse = load(map.ball_turns->inverse);
        for (int d = 0; d < 3; d++)
            next[d] = r[d] - inverse * u[d];
    } else {
        const sti_RowTurns *turns = map.row_turns;
        const Lanes limit = load(turns->mu[0]) * normal, b = load(turns->inverse_R[1]), slip = load(turns->slip);
        const Lanes s1 = r[0] - (load(turns->inverse_R[0]) * u[0] + b * u[1]);
        const Lanes s2 = r[1] - (b * u[0] + load(turns->inverse_R[2]) * u[1]);
        const Mask sticks = s1 * s1 + s2 * s2 <= limit * limit;
        next[0] = choose(sticks, s1, r[0] - slip * u[0]);
        next[1] = choose(sticks, s2, r[1] - slip * u[1]);
        next[2] = r[2] - load(turns->inverse_S) * u[2];
    }
    shorten_turns(map, normal, next);
    for (int d = 0; d < 3; d++) {
        change[d] = next[d] - r[d];
        moved += change[d] * change[d];
        r[d] = next[d];
    }
    push_turns(map, change, x);
    return moved;
}

static inline Lanes visit(const sti_Batch *batch, sti_LaneMap map, double *r_batch, double *v, int32_t ground)
{
    Lanes x[2][STI_NODE], u[3], next[3], *r = (Lanes *)r_batch;
    STI_TOLD_WRITE(r, (size_t)directions_of(map) * sizeof *r);
    gather(v, batch->body[0], x[0]);
    gather(v, batch->body[1], x[1]);
    velocity(map, r, x, u);
    solve_lanes(batch, r, u, next);
    Lanes moved = {0};
    for (int d = 0; d < 3; d++) {
        u[d] = next[d] - r[d];
        moved += u[d] * u[d];
        r[d] = next[d];
    }
    const Lanes turned = is_turning(map) ? next[0] + size_of(r[3]) + size_of(r[4]) + size_of(r[5]) : (Lanes){0};
    if (sum_of_lanes(moved + turned) == 0.0) return moved; /* open contacts are many */
    push(map, u, x);
    if (is_turning(map)) moved += visit_turns(map, next[0], r + 3, x);
    scatter(v, batch->body[0], ground, x[0]);
    scatter(v, batch->body[1], ground, x[1]);
    return moved;
}

/* v += H~ r. */
static inline void apply(const sti_Batch *batch, sti_LaneMap map, const double *r_batch, double *v, int32_t ground)
{
    const Lanes *r = (const Lanes *)r_batch;
    Lanes x[2][STI_NODE];
    gather(v, batch->body[0], x[0]);
    gather(v, batch->body[1], x[1]);
    push(map, r, x);
    if (is_turning(map)) push_turns(map, r + 3, x);
    scatter(v, batch->body[0], ground, x[0]);
    scatter(v, batch->body[1], ground, x[1]);
}

/* r moved into the law's set by the shortest way for r_n >= 0, then for r_T, r_R and r_S. */
static inline void put_back(const sti_Batch *batch, sti_LaneMap map, double *r_batch)
{
    const Lanes zero = {0};
    Lanes *r = (Lanes *)r_batch;
    r[0] = choose(r[0] > zero, r[0], zero);
    const Lanes limit = load(batch->mu) * r[0], square = r[1] * r[1] + r[2] * r[2];
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    r[1] = choose(outside, part * r[1], r[1]);
    r[2] = choose(outside, part * r[2], r[2]);
    if (is_turning(map)) shorten_turns(map, r[0], r + 3);
}

static inline sti_LaneMap next_map(sti_LaneMap map, ptrdiff_t k)
{
    return (sti_LaneMap){.rows = map.rows != NULL ? map.rows + k : NULL,
                         .points = map.points != NULL ? map.points + k : NULL,
                         .balls = map.balls != NULL ? map.balls + k : NULL,
                         .row_turns = map.row_turns != NULL ? map.row_turns + k : NULL,
                         .ball_turns = map.ball_turns != NULL ? map.ball_turns + k : NULL};
}

/* `map` has constant NULLs where this is called, so that there is one loop for each kind. */
static inline double pass_each(const sti_Batch *batch, sti_LaneMap map, double *r, double *v, int32_t ground,
                               int n_batches, sti_Pass pass)
{
    Lanes moved = {0};
    for (ptrdiff_t k = 0; k < n_batches; k++) {
        double *own = r + directions_of(map) * STI_LANES * k;
        if (pass == STI_RESTORE) put_back(&batch[k], next_map(map, k), own);
        if (pass == STI_SWEEP)
            moved += visit(&batch[k], next_map(map, k), own, v, ground);
        else
            apply(&batch[k], next_map(map, k), own, v, ground);
    }
    return sum_of_lanes(moved);
}

static double pass_over(const sti_Batch *batch, sti_LaneMap map, double *r, double *v, int32_t ground, int n_batches,
                        sti_Pass pass)
{
    const sti_LaneMap rows = {.rows = map.rows}, points = {.points = map.points}, balls = {.balls = map.balls};
    const sti_LaneMap turning_balls = {.balls = map.balls, .ball_turns = map.ball_turns};
    if (map.ball_turns != NULL) return pass_each(batch, turning_balls, r, v, ground, n_batches, pass);
    if (map.balls != NULL) return pass_each(batch, balls, r, v, ground, n_batches, pass);
    if (map.points != NULL) return pass_each(batch, points, r, v, ground, n_batches, pass);
    if (map.row_turns != NULL) return pass_each(batch, map, r, v, ground, n_batches, pass);
    return pass_each(batch, rows, r, v, ground, n_batches, pass);
}

/* ------------------------------------------------------------------ before the first sweep */

/* 1/x, and 0 where x = 0. */
static inline Lanes inverse(Lanes x)
{
    const Lanes zero = {0};
    const Mask none = x == zero;
    return choose(none, zero, 1.0 / choose(none, zero + 1.0, x));
}

/* Of W = (a, b; b, d) the inverse and 1/lambda_max; where W is singular to rounding, the latter serves for both. */
static inline void invert_two(const Lanes W[3], double to[3][STI_LANES], double *slip_to)
{
    const Lanes a = W[0], b = W[1], d = W[2];
    const Lanes half = 0.5 * (a + d), skew = 0.5 * (a - d), determinant = a * d - b * b;
    const Lanes largest = half + square_root(skew * skew + b * b), slip = inverse(largest);
    const Mask regular = determinant > 1e-12 * largest * largest;
    const Lanes over = inverse(determinant), zero = {0};
    store(slip_to, slip);
    store(to[0], choose(regular, d * over, slip));
    store(to[1], choose(regular, zero - b * over, zero));
    store(to[2], choose(regular, a * over, slip));
}

/* What a visit needs of W: omega/W_nn, inv(W_TT) and 1/lambda_max of it. */
static void invert(sti_Batch *batch)
{
    const Lanes W_TT[3] = {load(batch->inverse_T[0]), load(batch->inverse_T[1]), load(batch->inverse_T[2])};
    store(batch->inverse_n, relaxation * inverse(load(batch->inverse_n)));
    invert_two(W_TT, batch->inverse_T, batch->slip);
}

/* Rows of eight contacts into their lanes, scaled to unit masses. */
static void fill(sti_LaneMap to, const sti_LaneRows *rows)
{
    for (int side = 0; side < 2; side++) {
        Lanes scale[STI_LANES], h[STI_LANES];
        for (int l = 0; l < STI_LANES; l++)
            scale[l] = load(rows->scale[side][l]);
        transpose(scale);
        for (int d = 0; d < directions_of(to); d++) {
            for (int l = 0; l < STI_LANES; l++)
                h[l] = load(rows->h[l][d][side]);
            transpose(h);
            for (int k = 0; k < 6; k++)
                store(d < 3 ? to.rows->H[side][k][d] : to.row_turns->H[side][k][d - 3], h[k] * scale[k]);
        }
    }
}

/* Eight times sixteen numbers become sixteen of eight. */
static inline void load_sixteen(const double *const from[STI_LANES], Lanes out[STI_FRAME])
{
    for (int l = 0; l < STI_LANES; l++) {
        out[l] = load(from[l]);
        out[STI_LANES + l] = load(from[l] + STI_LANES);
    }
    transpose(out);
    transpose(out + STI_LANES);
}

/* Rows d . (v + w x l), a's with the other sign, scaled to unit masses, turning in the body's own axes. */
static void fill_points(sti_PointLanes *to, const sti_LaneFrames *frames)
{
    const Mask slides = *(const Mask *)frames->slides;
    Lanes frame[STI_LANES], axes[STI_FRAME], d[3][3], lever[3], turn[3];
    for (int l = 0; l < STI_LANES; l++) /* the last eight of nine: normal and tangent behind two of the point */
        memcpy(&frame[l], frames->frame[l] + 1, sizeof frame[l]);
    transpose(frame);
    for (int k = 0; k < 3; k++) {
        store(to->normal[k], d[0][k] = frame[2 + k]);
        store(to->tangent[k], d[1][k] = (Lanes)((Mask)frame[5 + k] & slides));
    }
    cross_lanes(d[0], d[1], d[2]);
    for (int side = 0; side < 2; side++) {
        load_sixteen(frames->axes[side], axes);
        for (int k = 0; k < 10 && side == 0; k++)
            axes[k] = -axes[k];
        store(to->mass[side], axes[9]);
        load_three(frames->lever[side], lever);
        for (int e = 0; e < 3; e++) {
            cross_lanes(lever, d[e], turn);
            for (int k = 0; k < 3; k++)
                store(to->turn[side][e][k], (axes[k] * turn[0] + axes[3 + k] * turn[1]) + axes[6 + k] * turn[2]);
        }
    }
}

static const int row_of[6] = {0, 0, 0, 1, 1, 2}, column_of[6] = {0, 1, 2, 1, 2, 2};

/* W_cc by its upper triangle, and b. */
static inline void measure_rows(const sti_RowLanes *rows, Lanes x[2][STI_NODE], Lanes W[6], Lanes b[3])
{
    for (int e = 0; e < 6; e++)
        W[e] = row_of[e] == column_of[e] ? load(rows->C[row_of[e]]) : (Lanes){0};
    for (int d = 0; d < 3; d++)
        b[d] = load(rows->w[d]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++) {
            for (int d = 0; d < 3; d++)
                b[d] += load(rows->H[side][k][d]) * x[side][k];
            for (int e = 0; e < 6; e++)
                W[e] += load(rows->H[side][k][row_of[e]]) * load(rows->H[side][k][column_of[e]]);
        }
}

static inline void measure_points(const sti_PointLanes *points, Lanes x[2][STI_NODE], Lanes W[6], Lanes b[3])
{
    const Lanes zero[3] = {0}, mass[2] = {load(points->mass[0]), load(points->mass[1])};
    Lanes d[3][3];
    load_frame(points->normal, points->tangent, d);
    velocity_of_points(points, zero, x, b);
    for (int e = 0; e < 6; e++)
        W[e] = (mass[0] * mass[0] + mass[1] * mass[1]) * dot_lanes(d[row_of[e]], d[column_of[e]]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++) {
            Lanes turn[3];
            for (int e = 0; e < 3; e++)
                turn[e] = load(points->turn[side][e][k]);
            for (int e = 0; e < 6; e++)
                W[e] += turn[row_of[e]] * turn[column_of[e]];
        }
    W[0] += load(points->C);
}

/* With (l x d).(l x e) = (l.l)(d.e) - (l.d)(l.e). */
static inline void measure_balls(const sti_BallLanes *balls, Lanes x[2][STI_NODE], Lanes W[6], Lanes b[3])
{
    const Lanes zero[3] = {0};
    Lanes d[3][3], lever[3], along[2][3], all = {0};
    load_frame(balls->normal, balls->tangent, d);
    velocity_of_balls(balls, zero, x, b);
    for (int side = 0; side < 2; side++) {
        const Lanes mass = load(balls->mass[side]);
        load_three(balls->lever[side], lever);
        all += mass * mass + dot_lanes(lever, lever);
        for (int e = 0; e < 3; e++)
            along[side][e] = dot_lanes(lever, d[e]);
    }
    for (int e = 0; e < 6; e++) {
        const int i = row_of[e], j = column_of[e];
        W[e] = all * dot_lanes(d[i], d[j]) - (along[0][i] * along[0][j] + along[1][i] * along[1][j]);
    }
    W[0] += load(balls->C);
}

/* Of rolling and spinning: b, the inverses, and the trace of W, each where a contact has it. */
static inline Lanes measure_turns(const sti_Batch *batch, sti_LaneMap map, Lanes x[2][STI_NODE], Lanes b[3])
{
    const Lanes zero[3] = {0};
    Lanes rolls = {0}, spins = {0};
    for (int l = 0; l < STI_LANES; l++) {
        rolls[l] = batch->dim[l] >= 5 ? 1.0 : 0.0;
        spins[l] = batch->dim[l] == 4 || batch->dim[l] == 6 ? 1.0 : 0.0;
    }
    turn_velocity(map, zero, x, b);
    b[0] *= rolls;
    b[1] *= rolls;
    b[2] *= spins;
    if (map.ball_turns != NULL) {
        const Lanes a = load(map.ball_turns->scale[0]), c = load(map.ball_turns->scale[1]), W = a * a + c * c;
        store(map.ball_turns->inverse, inverse(W));
        return (2.0 * rolls + spins) * W;
    }
    sti_RowTurns *turns = map.row_turns;
    Lanes W[3] = {load(turns->C[0]), {0}, load(turns->C[1])}, W_SS = load(turns->C[2]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++) {
            const Lanes h1 = load(turns->H[side][k][0]), h2 = load(turns->H[side][k][1]);
            const Lanes h3 = load(turns->H[side][k][2]);
            W[0] += h1 * h1;
            W[1] += h1 * h2;
            W[2] += h2 * h2;
            W_SS += h3 * h3;
        }
    invert_two(W, turns->inverse_R, turns->slip);
    store(turns->inverse_S, inverse(W_SS));
    return rolls * (W[0] + W[2]) + spins * W_SS;
}

/* W_cc, b and the weights of r. To the sums are added, over all rows, the squares of rho b, of rho times what the terms
 * of b are at most, | h~ | | v~ | with | h~_d |^2 = W_dd, and of rho itself; and how many contacts there are whose
 * normals move nothing.                                                                           */
static void prepare(sti_Batch *batch, sti_LaneMap map, const double *v_free, double *b_batch, double *weight,
                    double sum[STI_SUMS])
{
    const Lanes zero = {0};
    Lanes x[2][STI_NODE], W[6], *b = (Lanes *)b_batch, dim = {0}, speed = {0};
    gather(v_free, batch->body[0], x[0]);
    gather(v_free, batch->body[1], x[1]);
    if (map.balls != NULL)
        measure_balls(map.balls, x, W, b);
    else if (map.points != NULL)
        measure_points(map.points, x, W, b);
    else
        measure_rows(map.rows, x, W, b);
    for (int k = 0; k < 6; k++)
        speed += x[0][k] * x[0][k] + x[1][k] * x[1][k];
    for (int l = 0; l < STI_LANES; l++)
        dim[l] = batch->dim[l];
    const Lanes turns = is_turning(map) ? measure_turns(batch, map, x, b + 3) : zero;
    const Lanes trace = W[0] + W[3] + W[5] + turns, mean = trace * inverse(dim), rho = inverse(mean),
                square = rho * rho;
    Lanes all = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    for (int d = 0; d < directions_of(map); d++) {
        *(Lanes *)(weight + (ptrdiff_t)d * STI_LANES) = mean;
        if (d >= 3) all += b[d] * b[d];
    }
    sum[0] += sum_of_lanes(square * all);
    sum[1] += sum_of_lanes(square * trace * speed);
    sum[2] += sum_of_lanes(square * dim);
    const Mask moves = (W[0] > zero) & (mean * zero == zero); /* finite */
    sum[3] += sum_of_lanes(choose(moves | (dim == zero), zero, zero + 1.0));
    store(batch->inverse_n, W[0]);
    store(batch->W_tn[0], W[1]);
    store(batch->W_tn[1], W[2]);
    store(batch->inverse_T[0], W[3]);
    store(batch->inverse_T[1], W[4]);
    store(batch->inverse_T[2], W[5]);
}

/* ------------------------------------------------------------------ the judge */

/* The point of the cone that is nearest to x. */
static inline void project(const sti_Batch *batch, const Lanes x[3], Lanes out[3])
{
    const Lanes zero = {0}, mu = load(batch->mu), square = x[1] * x[1] + x[2] * x[2], length = square_root(square);
    const Mask inside = (length <= mu * x[0]) & (x[0] >= zero);
    const Lanes on = (x[0] + mu * length) / (1.0 + mu * mu), normal = choose(on > zero, on, zero);
    const Lanes part = mu * normal / choose(square > zero, length, zero + 1.0);
    out[0] = choose(inside, x[0], normal);
    out[1] = choose(inside, x[1], part * x[1]);
    out[2] = choose(inside, x[2], part * x[2]);
}

static inline Lanes sum_of_squares(Lanes a, Lanes b, Lanes c)
{
    return a * a + b * b + c * c;
}

/* The square of the natural map where mu is steep: law.c. */
static inline Lanes steep_share(const sti_Batch *batch, const Lanes r[3], const Lanes u[3], Lanes rho)
{
    const Lanes zero = {0}, normal = choose(r[0] < rho * u[0], r[0], rho * u[0]);
    const Lanes limit = load(batch->mu) * choose(r[0] > zero, r[0], zero);
    const Lanes x1 = r[1] - rho * u[1], x2 = r[2] - rho * u[2], square = x1 * x1 + x2 * x2;
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    const Lanes t = choose(outside, r[1] - part * x1, rho * u[1]), o = choose(outside, r[2] - part * x2, rho * u[2]);
    return sum_of_squares(normal, t, o);
}

/* NaN is the worst of all. */
static inline void add_judgement(const sti_Batch *batch, Lanes share, Lanes power, Lanes outside,
                                 sti_LaneJudgement *out)
{
    const Mask worse = (share > load(out->worst)) | ~(share >= load(out->worst) * 0.0);
    *(Lanes *)out->error += share;
    *(Lanes *)out->power += size_of(power);
    store(out->outside, choose(outside > load(out->outside), outside, load(out->outside)));
    store(out->worst, choose(worse, share, load(out->worst)));
    for (int l = 0; l < STI_LANES; l++)
        if (worse[l] != 0) out->contact[l] = batch->contact[l];
}

/* u of r, and its share in the residual: residual.c says what is measured. */
static inline void judge_batch(const sti_Batch *batch, sti_LaneMap map, const Lanes r[3], Lanes rho, const double *v,
                               Lanes u[3], sti_LaneJudgement *out)
{
    Lanes x[2][STI_NODE], shifted[3], P[3];
    gather(v, batch->body[0], x[0]);
    gather(v, batch->body[1], x[1]);
    velocity(map, r, x, u);
    shifted[0] = u[0] + load(batch->mu) * square_root(u[1] * u[1] + u[2] * u[2]);
    shifted[1] = u[1];
    shifted[2] = u[2];
    const Lanes power = r[0] * shifted[0] + r[1] * shifted[1] + r[2] * shifted[2];
    project(batch, r, P);
    const Lanes outside = square_root(sum_of_squares(r[0] - P[0], r[1] - P[1], r[2] - P[2]));
    for (int d = 0; d < 3; d++) {
        shifted[d] = rho * shifted[d];
        x[0][d] = r[d] - shifted[d];
    }
    project(batch, x[0], P);
    const Mask large_r = sum_of_squares(r[0], r[1], r[2]) > sum_of_squares(shifted[0], shifted[1], shifted[2]);
    for (int d = 0; d < 3; d++) /* the larger of r and rho u^ last: digits that cancel are not lost */
        P[d] = choose(large_r, shifted[d] + (x[0][d] - P[d]), r[d] - P[d]);
    const Mask steep = load(batch->mu) > STI_STEEP;
    const Lanes share = choose(steep, steep_share(batch, r, u, rho), sum_of_squares(P[0], P[1], P[2]));
    add_judgement(batch, share, power, outside, out);
}

/* Friction of three kinds: sliding, rolling and spinning, |x_g| <= mu_g x_n each. */
enum { GROUPS = 3 };
static inline void measure_groups(const Lanes x[STI_TURNING], Lanes size[GROUPS])
{
    size[0] = square_root(x[1] * x[1] + x[2] * x[2]);
    size[1] = square_root(x[3] * x[3] + x[4] * x[4]);
    size[2] = size_of(x[5]);
}

static const int group_of[STI_TURNING] = {-1, 0, 0, 1, 1, 2};

/* x of all kinds, shortened to mu_g times the normal impulse. */
static inline void shorten_groups(const Lanes mu[GROUPS], const Lanes size[GROUPS], Lanes normal, Lanes x[STI_TURNING])
{
    const Lanes zero = {0};
    for (int d = 1; d < STI_TURNING; d++) {
        const int g = group_of[d];
        const Lanes limit = mu[g] * normal;
        x[d] = choose(size[g] > limit, limit * (x[d] / choose(size[g] > zero, size[g], zero + 1.0)), x[d]);
    }
}

/* The nearest point of the set: law.c's project_groups, which needs a round more than there are kinds. */
static inline void project_groups(const Lanes mu[GROUPS], Lanes x[STI_TURNING])
{
    const Lanes zero = {0};
    Lanes size[GROUPS], a = zero;
    Mask active[GROUPS], inside = x[0] >= zero;
    measure_groups(x, size);
    for (int g = 0; g < GROUPS; g++) {
        inside &= size[g] <= mu[g] * x[0];
        active[g] = zero == zero;
    }
    for (int round = 0; round <= GROUPS; round++) {
        Lanes sum = x[0], share = zero + 1.0;
        for (int g = 0; g < GROUPS; g++) {
            sum += choose(active[g], mu[g] * size[g], zero);
            share += choose(active[g], mu[g] * mu[g], zero);
        }
        a = sum / share;
        for (int g = 0; g < GROUPS; g++)
            active[g] &= ~(size[g] < mu[g] * a);
    }
    const Lanes normal = choose(inside, x[0], choose(a > zero, a, zero));
    shorten_groups(mu, size, normal, x);
    x[0] = normal;
}

/* judge_batch for contacts that turn. */
static inline void judge_turning(const sti_Batch *batch, sti_LaneMap map, const Lanes r[STI_TURNING], Lanes rho,
                                 const double *v, Lanes u[STI_TURNING], sti_LaneJudgement *out)
{
    const Lanes zero = {0};
    Lanes mu[GROUPS] = {load(batch->mu)};
    load_turn_mu(map, mu + 1);
    Lanes x[2][STI_NODE], size[GROUPS], at[STI_TURNING], shifted[STI_TURNING], P[STI_TURNING];
    gather(v, batch->body[0], x[0]);
    gather(v, batch->body[1], x[1]);
    velocity(map, r, x, u);
    turn_velocity(map, r + 3, x, u + 3);
    const Mask steep = (mu[0] > STI_STEEP) | (mu[1] > STI_STEEP) | (mu[2] > STI_STEEP);
    measure_groups(u, size);
    Lanes power = zero, of_r = zero, of_u = zero, far = zero, share = zero;
    for (int d = 0; d < STI_TURNING; d++) {
        shifted[d] = d == 0 ? u[0] + ((mu[0] * size[0] + mu[1] * size[1]) + mu[2] * size[2]) : u[d];
        power += r[d] * shifted[d];
        P[d] = r[d];
    }
    project_groups(mu, P);
    for (int d = 0; d < STI_TURNING; d++) {
        far += (r[d] - P[d]) * (r[d] - P[d]);
        shifted[d] = rho * choose(steep, u[d], shifted[d]);
        P[d] = at[d] = r[d] - shifted[d];
        of_r += r[d] * r[d];
        of_u += shifted[d] * shifted[d];
    }
    Lanes bounded[STI_TURNING]; /* where a coefficient is steep friction is bounded by r_n itself: law.c */
    for (int d = 0; d < STI_TURNING; d++)
        bounded[d] = at[d];
    measure_groups(at, size);
    shorten_groups(mu, size, choose(r[0] > zero, r[0], zero), bounded);
    bounded[0] = choose(at[0] > zero, at[0], zero);
    project_groups(mu, P);
    for (int d = 0; d < STI_TURNING; d++) {
        P[d] = choose(steep, bounded[d], P[d]);
        P[d] = choose(of_r > of_u, shifted[d] + (at[d] - P[d]), r[d] - P[d]);
        share += P[d] * P[d];
    }
    add_judgement(batch, share, power, square_root(far), out);
}

static void judge(const sti_Batch *batch, sti_LaneMap map, int n_batches, const double *weight, const double *v,
                  double *r_to_u, sti_LaneJudgement *out)
{
    const int n = directions_of(map);
    for (ptrdiff_t k = 0; k < n_batches; k++) {
        Lanes *r = (Lanes *)r_to_u + n * k, u[STI_TURNING];
        const Lanes rho = inverse(load(weight + n * STI_LANES * k));
        if (is_turning(map))
            judge_turning(&batch[k], next_map(map, k), r, rho, v, u, out);
        else
            judge_batch(&batch[k], next_map(map, k), r, rho, v, u, out);
        for (int d = 0; d < n; d++)
            r[d] = u[d];
    }
}

#define STI_GRAPH_CODE                                                                                                 \
    {                                                                                                                  \
        .fill = fill, .fill_points = fill_points, .prepare = prepare, .invert = invert, .pass = pass_over,             \
        .judge = judge                                                                                                 \
    }
