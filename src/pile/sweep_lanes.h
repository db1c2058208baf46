/* pile/sweep_lanes.h -- the kernels of a pile (pile.h), compiled once for each vector unit: sweep_*.c.
 *
 * One visit of a contact (Coulomb's law; frictionless with mu = 0):
 *
 *     u_n = 0 or r_n = 0:          r_n <- max(0, r_n - omega u_n/W_nn),     omega = 1.3
 *     effect on the tangents:      u_T <- u_T + W_Tn (change of r_n)
 *     stick, if the cone allows:   x = r_T - inv(W_TT) u_T        if |x| <= mu r_n
 *     else slip:                   x = r_T - u_T/lambda_max(W_TT), shortened to mu r_n
 *
 * This is not the exact local solution if W couples normal and tangents, but it has the same fixed points: r is
 * unchanged only if u_n >= 0, r_n >= 0, r_n u_n = 0, and u_T = 0 or against r_T on the boundary of the cone. omega > 1
 * goes beyond the solution of one contact, because its neighbours move in the same direction (SOR; Young 1954): 666
 * falling spheres sink by 2.0 % of r with 6 sweeps instead of 2.6 %; with 1.5 it is 2.1 %. There are no branches, so
 * all lanes do the same. The operations and their order are the same in every version, and none is fused: all give the
 * same bits. */
#include "math/tsan.h"
#include "pile/pile.h"
#include "pile/rest.h"
#include "pile/small_island.h"
#include "problem/law.h"

/* One loop for each kind of lanes, with nothing called in it; but for sanitizers, which would take minutes to compile.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

static const double relaxation = 1.3; /* omega */

/* Contacts that are visited together: as many as a register has numbers. The eight of a batch share no body, so that
 * their results do not depend on it.                                                                 */
#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef double Lanes __attribute__((vector_size(8 * WIDTH)));
typedef int64_t Mask __attribute__((vector_size(8 * WIDTH)));
typedef double Loose __attribute__((vector_size(8 * WIDTH), aligned(8))); /* anywhere in memory */

/* Of eight numbers those from `at` on. */
INLINE Lanes load(int at, const double *x)
{
    STI_TOLD_READ(x + at, sizeof(Lanes));
    return *(const Lanes *)(x + at);
}

INLINE void store(int at, double *x, Lanes value)
{
    STI_TOLD_WRITE(x + at, sizeof(Lanes));
    *(Lanes *)(x + at) = value;
}

INLINE Lanes choose(Mask which, Lanes yes, Lanes no)
{
    return (Lanes)(((Mask)yes & which) | ((Mask)no & ~which));
}

INLINE Lanes square_root(Lanes x)
{
    for (int l = 0; l < WIDTH; l++)
        x[l] = sqrt(x[l]);
    return x;
}

INLINE Lanes size_of(Lanes x)
{
    return (Lanes)((Mask)x & INT64_MAX);
}

/* Is no number another one than zero? */
INLINE bool is_zero(Lanes x)
{
    int64_t any = 0;
    const Mask bits = (Mask)size_of(x);
    for (int l = 0; l < WIDTH; l++)
        any |= bits[l];
    return any == 0;
}

INLINE double sum_of_lanes(const double x[STI_LANES])
{
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

#define SHUFFLE __builtin_shufflevector

/* WIDTH times eight numbers, from as many places, become eight numbers of WIDTH places, and back. Shuffles are no wider
 * than registers: of wider ones gcc 12 makes single loads and stores.                                            */
INLINE void transpose_square(Lanes x[WIDTH])
{
#if defined(__AVX512F__)
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
#elif defined(__AVX__)
    const Lanes a = SHUFFLE(x[0], x[1], 0, 4, 2, 6), b = SHUFFLE(x[0], x[1], 1, 5, 3, 7);
    const Lanes c = SHUFFLE(x[2], x[3], 0, 4, 2, 6), d = SHUFFLE(x[2], x[3], 1, 5, 3, 7);
    x[0] = SHUFFLE(a, c, 0, 1, 4, 5);
    x[1] = SHUFFLE(b, d, 0, 1, 4, 5);
    x[2] = SHUFFLE(a, c, 2, 3, 6, 7);
    x[3] = SHUFFLE(b, d, 2, 3, 6, 7);
#else
    const Lanes a = x[0];
    x[0] = SHUFFLE(a, x[1], 0, 2);
    x[1] = SHUFFLE(a, x[1], 1, 3);
#endif
}

INLINE void load_eight(const double *const from[WIDTH], Lanes x[STI_NODE])
{
    for (int k = 0; k < STI_NODE; k += WIDTH) {
        for (int l = 0; l < WIDTH; l++)
            x[k + l] = *(const Loose *)(from[l] + k);
        transpose_square(x + k);
    }
}

INLINE void gather(int at, const double *v, const int32_t *body, Lanes x[STI_NODE])
{
    const double *from[WIDTH];
    for (int l = 0; l < WIDTH; l++) {
        from[l] = v + STI_NODE * (ptrdiff_t)body[at + l];
        STI_TOLD_READ(from[l], STI_NODE * sizeof *v);
    }
    load_eight(from, x);
}

/* Overwrites x. The ground, which lanes and threads share, is not written, nor are bodies that do not move. */
INLINE void scatter(int at, double *v, const int32_t *body, int32_t ground, Mask moves, Lanes x[STI_NODE])
{
    for (int k = 0; k < STI_NODE; k += WIDTH)
        transpose_square(x + k);
    for (int l = 0; l < WIDTH; l++) {
        double *to = v + STI_NODE * (ptrdiff_t)body[at + l];
        if (body[at + l] == ground || moves[l] == 0) continue;
        STI_TOLD_WRITE(to, STI_NODE * sizeof *to);
        for (int k = 0; k < STI_NODE; k += WIDTH)
            *(Lanes *)(to + k) = x[k + l];
    }
}

/* Loads the numbers of a contact by direction. */
INLINE void load_directions(int at, const double *from, int n, Lanes *x)
{
    for (int d = 0; d < n; d++)
        x[d] = load(at, from + (ptrdiff_t)d * STI_LANES);
}

INLINE void store_directions(int at, double *to, int n, const Lanes *x)
{
    for (int d = 0; d < n; d++)
        store(at, to + (ptrdiff_t)d * STI_LANES, x[d]);
}

/* The law: from r and its velocity u to the next r. */
INLINE void solve_lanes(int at, const sti_Batch *batch, const Lanes r[3], const Lanes u[3], Lanes next[3])
{
    const Lanes zero = {0};
    const Lanes n = r[0] - u[0] * load(at, batch->inverse_n);
    next[0] = choose(n > zero, n, zero);
    const Lanes dn = next[0] - r[0], limit = load(at, batch->mu) * next[0];
    const Lanes u1 = u[1] + load(at, batch->W_tn[0]) * dn, u2 = u[2] + load(at, batch->W_tn[1]) * dn;
    const Lanes s1 = r[1] - (load(at, batch->inverse_T[0]) * u1 + load(at, batch->inverse_T[1]) * u2);
    const Lanes s2 = r[2] - (load(at, batch->inverse_T[1]) * u1 + load(at, batch->inverse_T[2]) * u2);
    const Mask sticks = s1 * s1 + s2 * s2 <= limit * limit;
    const Lanes x1 = choose(sticks, s1, r[1] - load(at, batch->slip) * u1);
    const Lanes x2 = choose(sticks, s2, r[2] - load(at, batch->slip) * u2);
    const Lanes square = x1 * x1 + x2 * x2;
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    next[1] = choose(outside, part * x1, x1);
    next[2] = choose(outside, part * x2, x2);
}

/* c x d, and a . b. */
INLINE void cross_lanes(const Lanes a[3], const Lanes b[3], Lanes out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

INLINE Lanes dot_lanes(const Lanes a[3], const Lanes b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

INLINE void load_three(int at, const double from[3][STI_LANES], Lanes out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = load(at, from[k]);
}

/* n, t, n x t. */
INLINE void load_frame(int at, const double normal[3][STI_LANES], const double tangent[3][STI_LANES], Lanes d[3][3])
{
    load_three(at, normal, d[0]);
    load_three(at, tangent, d[1]);
    cross_lanes(d[0], d[1], d[2]);
}

/* The velocity of a side at the point. */
INLINE void point_velocity(int at, const sti_BallLanes *balls, int side, const Lanes x[STI_NODE], Lanes out[3])
{
    const Lanes mass = load(at, balls->mass[side]);
    Lanes lever[3];
    load_three(at, balls->lever[side], lever);
    cross_lanes(x + 3, lever, out);
    for (int k = 0; k < 3; k++)
        out[k] += mass * x[k];
}

/* x += H~ r of both sides, into v. */
INLINE void push_rows(int at, const sti_RowLanes *rows, const Lanes r[3], Lanes x[2][STI_NODE])
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                x[side][k] += load(at, rows->H[side][k][d]) * r[d];
}

INLINE void push_points(int at, const sti_PointLanes *points, const Lanes r[3], Lanes x[2][STI_NODE])
{
    Lanes d[3][3], impulse[3];
    load_frame(at, points->normal, points->tangent, d);
    for (int k = 0; k < 3; k++)
        impulse[k] = (d[0][k] * r[0] + d[1][k] * r[1]) + d[2][k] * r[2];
    for (int side = 0; side < 2; side++) {
        const Lanes mass = load(at, points->mass[side]);
        for (int k = 0; k < 3; k++) {
            x[side][k] += mass * impulse[k];
            for (int e = 0; e < 3; e++)
                x[side][3 + k] += load(at, points->turn[side][e][k]) * r[e];
        }
    }
}

INLINE void push_balls(int at, const sti_BallLanes *balls, const Lanes r[3], Lanes x[2][STI_NODE])
{
    Lanes d[3][3], impulse[3], lever[3], turn[3];
    load_frame(at, balls->normal, balls->tangent, d);
    for (int k = 0; k < 3; k++)
        impulse[k] = (d[0][k] * r[0] + d[1][k] * r[1]) + d[2][k] * r[2];
    for (int side = 0; side < 2; side++) {
        const Lanes mass = load(at, balls->mass[side]);
        load_three(at, balls->lever[side], lever);
        cross_lanes(lever, impulse, turn);
        for (int k = 0; k < 3; k++) {
            x[side][k] += side == 0 ? -(mass * impulse[k]) : mass * impulse[k];
            x[side][3 + k] += side == 0 ? -turn[k] : turn[k];
        }
    }
}

/* The three directions about which contacts turn: x += H~ r. */
INLINE void push_ball_turns(int at, const sti_BallLanes *balls, const sti_BallTurns *turns, const Lanes r[3],
                            Lanes x[2][STI_NODE])
{
    const Lanes a = load(at, turns->scale[0]), b = load(at, turns->scale[1]);
    Lanes d[3][3];
    load_frame(at, balls->normal, balls->tangent, d);
    for (int k = 0; k < 3; k++) {
        const Lanes impulse = (d[1][k] * r[0] + d[2][k] * r[1]) + d[0][k] * r[2];
        x[0][3 + k] -= a * impulse;
        x[1][3 + k] += b * impulse;
    }
}

INLINE void push_row_turns(int at, const sti_RowTurns *turns, const Lanes r[3], Lanes x[2][STI_NODE])
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                x[side][k] += load(at, turns->H[side][k][d]) * r[d];
}

INLINE bool is_turning(sti_LaneMap map)
{
    return map.kind == STI_TURNING_BALLS || map.kind == STI_TURNING_ROWS;
}

INLINE bool has_balls(sti_LaneMap map)
{
    return map.kind == STI_BALLS || map.kind == STI_TURNING_BALLS;
}

/* Of batch k, as many after the first of these. */
INLINE sti_LaneMap next_map(sti_LaneMap map, ptrdiff_t k)
{
    if (has_balls(map)) map.balls += k;
    if (map.kind == STI_TURNING_BALLS) map.ball_turns += k;
    if (map.kind == STI_POINTS) map.points += k;
    if (map.kind == STI_ROWS || map.kind == STI_TURNING_ROWS) map.rows += k;
    if (map.kind == STI_TURNING_ROWS) map.row_turns += k;
    return map;
}

INLINE int directions_of(sti_LaneMap map)
{
    return is_turning(map) ? STI_TURNING : STI_SLIDING;
}

INLINE void push_turns(int at, sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE])
{
    if (map.kind == STI_TURNING_BALLS)
        push_ball_turns(at, map.balls, map.ball_turns, r, x);
    else
        push_row_turns(at, map.row_turns, r, x);
}

/* The first three directions. */
INLINE void push(int at, sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE])
{
    if (has_balls(map))
        push_balls(at, map.balls, r, x);
    else if (map.kind == STI_POINTS)
        push_points(at, map.points, r, x);
    else
        push_rows(at, map.rows, r, x);
}

INLINE void velocity_of_points(int at, const sti_PointLanes *points, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    const Lanes a = load(at, points->mass[0]), b = load(at, points->mass[1]);
    Lanes d[3][3], moves[3];
    load_frame(at, points->normal, points->tangent, d);
    for (int k = 0; k < 3; k++)
        moves[k] = a * x[0][k] + b * x[1][k];
    for (int e = 0; e < 3; e++) {
        u[e] = dot_lanes(d[e], moves);
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 3; k++)
                u[e] += load(at, points->turn[side][e][k]) * x[side][3 + k];
    }
    u[0] += load(at, points->w) + load(at, points->C) * r[0];
}

INLINE void velocity_of_balls(int at, const sti_BallLanes *balls, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    Lanes d[3][3], a[3], b[3];
    load_frame(at, balls->normal, balls->tangent, d);
    point_velocity(at, balls, 0, x[0], a);
    point_velocity(at, balls, 1, x[1], b);
    for (int k = 0; k < 3; k++)
        b[k] -= a[k];
    u[0] = load(at, balls->w) + load(at, balls->C) * r[0] + dot_lanes(d[0], b);
    u[1] = dot_lanes(d[1], b);
    u[2] = dot_lanes(d[2], b);
}

/* u = H~'v~ + C r + w. */
INLINE void velocity(int at, sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    if (has_balls(map)) {
        velocity_of_balls(at, map.balls, r, x, u);
        return;
    }
    if (map.kind == STI_POINTS) {
        velocity_of_points(at, map.points, r, x, u);
        return;
    }
    for (int d = 0; d < 3; d++)
        u[d] = load(at, map.rows->w[d]) + load(at, map.rows->C[d]) * r[d];
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                u[d] += load(at, map.rows->H[side][k][d]) * x[side][k];
}

/* u of rolling and spinning. */
INLINE void turn_velocity(int at, sti_LaneMap map, const Lanes r[3], Lanes x[2][STI_NODE], Lanes u[3])
{
    if (map.kind == STI_TURNING_BALLS) {
        const Lanes a = load(at, map.ball_turns->scale[0]), b = load(at, map.ball_turns->scale[1]);
        const sti_BallLanes *balls = map.balls;
        Lanes d[3][3], spin[3];
        load_frame(at, balls->normal, balls->tangent, d);
        for (int k = 0; k < 3; k++)
            spin[k] = b * x[1][3 + k] - a * x[0][3 + k];
        u[0] = dot_lanes(d[1], spin);
        u[1] = dot_lanes(d[2], spin);
        u[2] = dot_lanes(d[0], spin);
        return;
    }
    for (int d = 0; d < 3; d++)
        u[d] = load(at, map.row_turns->w[d]) + load(at, map.row_turns->C[d]) * r[d];
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++)
                u[d] += load(at, map.row_turns->H[side][k][d]) * x[side][k];
}

/* Of rolling and of spinning. */
INLINE void load_turn_mu(int at, sti_LaneMap map, Lanes mu[2])
{
    for (int k = 0; k < 2; k++)
        mu[k] = load(at, map.kind == STI_TURNING_BALLS ? map.ball_turns->mu[k] : map.row_turns->mu[k]);
}

/* Shortens the rolling and spinning impulses to the limit given by the normal impulse. */
INLINE void shorten_turns(int at, sti_LaneMap map, Lanes normal, Lanes x[3])
{
    Lanes mu[2];
    load_turn_mu(at, map, mu);
    const Lanes zero = {0}, limit = mu[0] * normal, square = x[0] * x[0] + x[1] * x[1];
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    x[0] = choose(outside, part * x[0], x[0]);
    x[1] = choose(outside, part * x[1], x[1]);
    const Lanes most = mu[1] * normal;
    x[2] = choose(x[2] > most, most, choose(x[2] < zero - most, zero - most, x[2]));
    for (int d = 0; d < 3; d++) /* -0 becomes 0: lanes that have nothing to do may be visited or not */
        x[d] += zero;
}

/* Rolling and spinning react to the change of x by the other directions. Returns the square of their own change, which
 * is then included in x. */
INLINE Lanes visit_turns(int at, sti_LaneMap map, Lanes normal, Lanes *r, Lanes x[2][STI_NODE])
{
    Lanes u[3], next[3], change[3], moved = {0};
    turn_velocity(at, map, r, x, u);
    if (map.kind == STI_TURNING_BALLS) {
        const Lanes inverse = load(at, map.ball_turns->inverse);
        for (int d = 0; d < 3; d++)
            next[d] = r[d] - inverse * u[d];
    } else {
        const sti_RowTurns *turns = map.row_turns;
        const Lanes limit = load(at, turns->mu[0]) * normal, b = load(at, turns->inverse_R[1]),
                    slip = load(at, turns->slip);
        const Lanes s1 = r[0] - (load(at, turns->inverse_R[0]) * u[0] + b * u[1]);
        const Lanes s2 = r[1] - (b * u[0] + load(at, turns->inverse_R[2]) * u[1]);
        const Mask sticks = s1 * s1 + s2 * s2 <= limit * limit;
        next[0] = choose(sticks, s1, r[0] - slip * u[0]);
        next[1] = choose(sticks, s2, r[1] - slip * u[1]);
        next[2] = r[2] - load(at, turns->inverse_S) * u[2];
    }
    shorten_turns(at, map, normal, next);
    for (int d = 0; d < 3; d++) {
        change[d] = next[d] - r[d];
        moved += change[d] * change[d];
        r[d] = next[d];
    }
    push_turns(at, map, change, x);
    return moved;
}

INLINE Lanes visit(int at, const sti_Batch *batch, sti_LaneMap map, double *r_batch, double *v, int32_t ground)
{
    const int n = directions_of(map);
    const Lanes zero = {0};
    Lanes x[2][STI_NODE], r[STI_TURNING], u[3], next[3], moved = {0};
    load_directions(at, r_batch, n, r);
    gather(at, v, batch->body[0], x[0]);
    gather(at, v, batch->body[1], x[1]);
    velocity(at, map, r, x, u);
    solve_lanes(at, batch, r, u, next);
    for (int d = 0; d < 3; d++) {
        u[d] = next[d] - r[d];
        moved += u[d] * u[d];
        r[d] = next[d];
    }
    store_directions(at, r_batch, 3, r);
    Lanes acts = moved; /* or has impulses that may change */
    if (is_turning(map)) acts += next[0] + size_of(r[3]) + size_of(r[4]) + size_of(r[5]);
    if (is_zero(acts)) return moved; /* open contacts are many */
    push(at, map, u, x);
    if (is_turning(map)) moved += visit_turns(at, map, next[0], r + 3, x);
    if (is_turning(map)) store_directions(at, r_batch + (ptrdiff_t)3 * STI_LANES, 3, r + 3);
    scatter(at, v, batch->body[0], ground, moved != zero, x[0]);
    scatter(at, v, batch->body[1], ground, moved != zero, x[1]);
    return moved;
}

/* v += H~ r. */
INLINE void apply(int at, const sti_Batch *batch, sti_LaneMap map, const Lanes r[STI_TURNING], double *v,
                  int32_t ground)
{
    const Lanes zero = {0};
    const Mask all_lanes = zero < zero + 1;
    Lanes x[2][STI_NODE];
    gather(at, v, batch->body[0], x[0]);
    gather(at, v, batch->body[1], x[1]);
    push(at, map, r, x);
    if (is_turning(map)) push_turns(at, map, r + 3, x);
    scatter(at, v, batch->body[0], ground, all_lanes, x[0]);
    scatter(at, v, batch->body[1], ground, all_lanes, x[1]);
}

/* r moved into the law's set by the shortest way for r_n >= 0, then for r_T, r_R and r_S. */
INLINE void put_back(int at, const sti_Batch *batch, sti_LaneMap map, Lanes r[STI_TURNING])
{
    const Lanes zero = {0};
    r[0] = choose(r[0] > zero, r[0], zero);
    const Lanes limit = load(at, batch->mu) * r[0], square = r[1] * r[1] + r[2] * r[2];
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    r[1] = choose(outside, part * r[1], r[1]);
    r[2] = choose(outside, part * r[2], r[2]);
    if (is_turning(map)) shorten_turns(at, map, r[0], r + 3);
}

/* A statement with map.kind as a constant in it, so that there is one loop for each kind. */
#define BY_KIND(map, statement)                                                                                        \
    switch ((map).kind) {                                                                                              \
    case STI_BALLS:                                                                                                    \
        (map).kind = STI_BALLS;                                                                                        \
        statement;                                                                                                     \
        break;                                                                                                         \
    case STI_TURNING_BALLS:                                                                                            \
        (map).kind = STI_TURNING_BALLS;                                                                                \
        statement;                                                                                                     \
        break;                                                                                                         \
    case STI_POINTS:                                                                                                   \
        (map).kind = STI_POINTS;                                                                                       \
        statement;                                                                                                     \
        break;                                                                                                         \
    case STI_ROWS:                                                                                                     \
        (map).kind = STI_ROWS;                                                                                         \
        statement;                                                                                                     \
        break;                                                                                                         \
    case STI_TURNING_ROWS:                                                                                             \
        (map).kind = STI_TURNING_ROWS;                                                                                 \
        statement;                                                                                                     \
        break;                                                                                                         \
    }

INLINE double pass_each(const sti_Batch *batch, sti_LaneMap map, double *r, double *v, int32_t ground, int n_batches,
                        sti_Pass pass)
{
    const int n = directions_of(map);
    _Alignas(STI_ALIGN) double moved[STI_LANES] = {0};
    for (ptrdiff_t k = 0; k < n_batches; k++) {
        const sti_LaneMap own = next_map(map, k);
        double *r_batch = r + n * STI_LANES * k;
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            Lanes x[STI_TURNING];
            if (pass == STI_SWEEP) {
                store(at, moved, load(at, moved) + visit(at, &batch[k], own, r_batch, v, ground));
                continue;
            }
            load_directions(at, r_batch, n, x);
            if (pass == STI_RESTORE) {
                put_back(at, &batch[k], own, x);
                store_directions(at, r_batch, n, x);
            }
            apply(at, &batch[k], own, x, v, ground);
        }
    }
    return sum_of_lanes(moved);
}

static double pass_over(const sti_Batch *batch, sti_LaneMap map, double *r, double *v, int32_t ground, int n_batches,
                        sti_Pass pass)
{
    double moved = 0.0;
    BY_KIND(map, moved = pass_each(batch, map, r, v, ground, n_batches, pass));
    return moved;
}

/* ------------------------------------------------------------------ before the first sweep */

/* 1/x, and 0 where x = 0. */
INLINE Lanes inverse(Lanes x)
{
    const Lanes zero = {0};
    const Mask none = x == zero;
    return choose(none, zero, 1.0 / choose(none, zero + 1.0, x));
}

/* Of W = (a, b; b, d) the inverse and 1/lambda_max; where W is singular to rounding, the latter serves for both. */
INLINE void invert_two(int at, const Lanes W[3], double to[3][STI_LANES], double *slip_to)
{
    const Lanes a = W[0], b = W[1], d = W[2];
    const Lanes half = 0.5 * (a + d), skew = 0.5 * (a - d), determinant = a * d - b * b;
    const Lanes largest = half + square_root(skew * skew + b * b), slip = inverse(largest);
    const Mask regular = determinant > 1e-12 * largest * largest;
    const Lanes over = inverse(determinant), zero = {0};
    store(at, slip_to, slip);
    store(at, to[0], choose(regular, d * over, slip));
    store(at, to[1], choose(regular, zero - b * over, zero));
    store(at, to[2], choose(regular, a * over, slip));
}

/* The numbers of W for a visit: omega/W_nn, inv(W_TT) and 1/lambda_max of it. */
static void invert(sti_Batch *batch)
{
    for (int at = 0; at < STI_LANES; at += WIDTH) {
        const Lanes W_TT[3] = {load(at, batch->inverse_T[0]), load(at, batch->inverse_T[1]),
                               load(at, batch->inverse_T[2])};
        store(at, batch->inverse_n, relaxation * inverse(load(at, batch->inverse_n)));
        invert_two(at, W_TT, batch->inverse_T, batch->slip);
    }
}

/* Rows of eight contacts into their lanes, scaled to unit masses. */
static void fill(sti_LaneMap to, const sti_LaneRows *rows)
{
    for (int at = 0; at < STI_LANES; at += WIDTH)
        for (int side = 0; side < 2; side++) {
            const double *from[WIDTH];
            Lanes scale[STI_NODE], h[STI_NODE];
            for (int l = 0; l < WIDTH; l++)
                from[l] = rows->scale[side][at + l];
            load_eight(from, scale);
            for (int d = 0; d < directions_of(to); d++) {
                for (int l = 0; l < WIDTH; l++)
                    from[l] = rows->h[at + l][d][side];
                load_eight(from, h);
                for (int k = 0; k < 6; k++)
                    store(at, d < 3 ? to.rows->H[side][k][d] : to.row_turns->H[side][k][d - 3], h[k] * scale[k]);
            }
        }
}

/* Rows d . (v + w x l), a's with the other sign, scaled to unit masses, turning in the body's own axes. */
static void fill_points(sti_PointLanes *to, const sti_LaneFrames *frames)
{
    for (int at = 0; at < STI_LANES; at += WIDTH) {
        const Mask slides = *(const Mask *)(frames->slides + at);
        const double *from[WIDTH];
        Lanes frame[STI_NODE], axes[STI_FRAME], d[3][3], lever[3], turn[3];
        for (int l = 0; l < WIDTH; l++) /* the last eight of nine: normal and tangent after two of the point */
            from[l] = frames->frame[at + l] + 1;
        load_eight(from, frame);
        for (int k = 0; k < 3; k++) {
            store(at, to->normal[k], d[0][k] = frame[2 + k]);
            store(at, to->tangent[k], d[1][k] = (Lanes)((Mask)frame[5 + k] & slides));
        }
        cross_lanes(d[0], d[1], d[2]);
        for (int side = 0; side < 2; side++) {
            for (int half = 0; half < STI_FRAME; half += STI_NODE) {
                for (int l = 0; l < WIDTH; l++)
                    from[l] = frames->axes[side][at + l] + half;
                load_eight(from, axes + half);
            }
            for (int k = 0; k < 10 && side == 0; k++)
                axes[k] = -axes[k];
            store(at, to->mass[side], axes[9]);
            load_three(at, frames->lever[side], lever);
            for (int e = 0; e < 3; e++) {
                cross_lanes(lever, d[e], turn);
                for (int k = 0; k < 3; k++)
                    store(at, to->turn[side][e][k],
                          (axes[k] * turn[0] + axes[3 + k] * turn[1]) + axes[6 + k] * turn[2]);
            }
        }
    }
}

static const int row_of[6] = {0, 0, 0, 1, 1, 2}, column_of[6] = {0, 1, 2, 1, 2, 2};

/* W_cc by its upper triangle, and b. */
INLINE void measure_rows(int at, const sti_RowLanes *rows, Lanes x[2][STI_NODE], Lanes W[6], Lanes b[3])
{
    for (int e = 0; e < 6; e++)
        W[e] = row_of[e] == column_of[e] ? load(at, rows->C[row_of[e]]) : (Lanes){0};
    for (int d = 0; d < 3; d++)
        b[d] = load(at, rows->w[d]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++) {
            for (int d = 0; d < 3; d++)
                b[d] += load(at, rows->H[side][k][d]) * x[side][k];
            for (int e = 0; e < 6; e++)
                W[e] += load(at, rows->H[side][k][row_of[e]]) * load(at, rows->H[side][k][column_of[e]]);
        }
}

INLINE void measure_points(int at, const sti_PointLanes *points, Lanes x[2][STI_NODE], Lanes W[6], Lanes b[3])
{
    const Lanes zero[3] = {0}, mass[2] = {load(at, points->mass[0]), load(at, points->mass[1])};
    Lanes d[3][3];
    load_frame(at, points->normal, points->tangent, d);
    velocity_of_points(at, points, zero, x, b);
    for (int e = 0; e < 6; e++)
        W[e] = (mass[0] * mass[0] + mass[1] * mass[1]) * dot_lanes(d[row_of[e]], d[column_of[e]]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++) {
            Lanes turn[3];
            for (int e = 0; e < 3; e++)
                turn[e] = load(at, points->turn[side][e][k]);
            for (int e = 0; e < 6; e++)
                W[e] += turn[row_of[e]] * turn[column_of[e]];
        }
    W[0] += load(at, points->C);
}

/* With (l x d).(l x e) = (l.l)(d.e) - (l.d)(l.e). */
INLINE void measure_balls(int at, const sti_BallLanes *balls, Lanes x[2][STI_NODE], Lanes W[6], Lanes b[3])
{
    const Lanes zero[3] = {0};
    Lanes d[3][3], lever[3], along[2][3], all = {0};
    load_frame(at, balls->normal, balls->tangent, d);
    velocity_of_balls(at, balls, zero, x, b);
    for (int side = 0; side < 2; side++) {
        const Lanes mass = load(at, balls->mass[side]);
        load_three(at, balls->lever[side], lever);
        all += mass * mass + dot_lanes(lever, lever);
        for (int e = 0; e < 3; e++)
            along[side][e] = dot_lanes(lever, d[e]);
    }
    for (int e = 0; e < 6; e++) {
        const int i = row_of[e], j = column_of[e];
        W[e] = all * dot_lanes(d[i], d[j]) - (along[0][i] * along[0][j] + along[1][i] * along[1][j]);
    }
    W[0] += load(at, balls->C);
}

/* For rolling and spinning directions that a contact has: b, the inverses, and the trace of W. */
INLINE Lanes measure_turns(int at, const sti_Batch *batch, sti_LaneMap map, Lanes x[2][STI_NODE], Lanes b[3])
{
    const Lanes zero[3] = {0};
    Lanes rolls = {0}, spins = {0};
    for (int l = 0; l < WIDTH; l++) {
        const int dim = batch->dim[at + l];
        rolls[l] = dim >= 5 ? 1.0 : 0.0;
        spins[l] = dim == 4 || dim == 6 ? 1.0 : 0.0;
    }
    turn_velocity(at, map, zero, x, b);
    b[0] *= rolls;
    b[1] *= rolls;
    b[2] *= spins;
    if (map.kind == STI_TURNING_BALLS) {
        const Lanes a = load(at, map.ball_turns->scale[0]), c = load(at, map.ball_turns->scale[1]), W = a * a + c * c;
        store(at, map.ball_turns->inverse, inverse(W));
        return (2.0 * rolls + spins) * W;
    }
    sti_RowTurns *turns = map.row_turns;
    Lanes W[3] = {load(at, turns->C[0]), {0}, load(at, turns->C[1])}, W_SS = load(at, turns->C[2]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 6; k++) {
            const Lanes h1 = load(at, turns->H[side][k][0]), h2 = load(at, turns->H[side][k][1]);
            const Lanes h3 = load(at, turns->H[side][k][2]);
            W[0] += h1 * h1;
            W[1] += h1 * h2;
            W[2] += h2 * h2;
            W_SS += h3 * h3;
        }
    invert_two(at, W, turns->inverse_R, turns->slip);
    store(at, turns->inverse_S, inverse(W_SS));
    return rolls * (W[0] + W[2]) + spins * W_SS;
}

/* W_cc, b and the weights of r. Adds to the sums, over all rows, the squares of rho b, of rho times the largest
 * possible terms of b, | h~ | | v~ | with | h~_d |^2 = W_dd, and of rho itself; and the number of contacts whose
 * normals move no body. */
static void prepare(sti_Batch *batch, sti_LaneMap map, const double *v_free, double *b_batch, double *weight,
                    double sum[STI_SUMS])
{
    const Lanes zero = {0};
    const int n = directions_of(map);
    _Alignas(STI_ALIGN) double part[STI_SUMS][STI_LANES];
    for (int at = 0; at < STI_LANES; at += WIDTH) {
        Lanes x[2][STI_NODE], W[6], b[STI_TURNING], dim = {0}, speed = {0}, all = {0};
        gather(at, v_free, batch->body[0], x[0]);
        gather(at, v_free, batch->body[1], x[1]);
        if (has_balls(map))
            measure_balls(at, map.balls, x, W, b);
        else if (map.kind == STI_POINTS)
            measure_points(at, map.points, x, W, b);
        else
            measure_rows(at, map.rows, x, W, b);
        for (int k = 0; k < 6; k++)
            speed += x[0][k] * x[0][k] + x[1][k] * x[1][k];
        for (int l = 0; l < WIDTH; l++)
            dim[l] = batch->dim[at + l];
        const Lanes turns = is_turning(map) ? measure_turns(at, batch, map, x, b + 3) : zero;
        const Lanes trace = W[0] + W[3] + W[5] + turns, mean = trace * inverse(dim), rho = inverse(mean),
                    square = rho * rho;
        for (int d = 0; d < n; d++) {
            all += b[d] * b[d];
            store(at, weight + (ptrdiff_t)d * STI_LANES, mean);
        }
        store_directions(at, b_batch, n, b);
        const Mask moves = (W[0] > zero) & (mean * zero == zero); /* finite */
        store(at, part[0], square * all);
        store(at, part[1], square * trace * speed);
        store(at, part[2], square * dim);
        store(at, part[3], choose(moves | (dim == zero), zero, zero + 1.0));
        store(at, batch->inverse_n, W[0]);
        store(at, batch->W_tn[0], W[1]);
        store(at, batch->W_tn[1], W[2]);
        store(at, batch->inverse_T[0], W[3]);
        store(at, batch->inverse_T[1], W[4]);
        store(at, batch->inverse_T[2], W[5]);
    }
    for (int e = 0; e < STI_SUMS; e++)
        sum[e] += sum_of_lanes(part[e]);
}

/* ------------------------------------------------------------------ the judge */

/* The point of the cone that is nearest to x. */
INLINE void project(Lanes mu, const Lanes x[3], Lanes out[3])
{
    const Lanes zero = {0}, square = x[1] * x[1] + x[2] * x[2], length = square_root(square);
    const Mask inside = (length <= mu * x[0]) & (x[0] >= zero);
    const Lanes on = (x[0] + mu * length) / (1.0 + mu * mu), normal = choose(on > zero, on, zero);
    const Lanes part = mu * normal / choose(square > zero, length, zero + 1.0);
    out[0] = choose(inside, x[0], normal);
    out[1] = choose(inside, x[1], part * x[1]);
    out[2] = choose(inside, x[2], part * x[2]);
}

INLINE Lanes sum_of_squares(Lanes a, Lanes b, Lanes c)
{
    return a * a + b * b + c * c;
}

/* The square of the natural map where mu is steep: law.c. */
INLINE Lanes steep_share(Lanes mu, const Lanes r[3], const Lanes u[3], Lanes rho)
{
    const Lanes zero = {0}, normal = choose(r[0] < rho * u[0], r[0], rho * u[0]);
    const Lanes limit = mu * choose(r[0] > zero, r[0], zero);
    const Lanes x1 = r[1] - rho * u[1], x2 = r[2] - rho * u[2], square = x1 * x1 + x2 * x2;
    const Mask outside = square > limit * limit;
    const Lanes part = limit / square_root(choose(outside, square, zero + 1.0));
    const Lanes t = choose(outside, r[1] - part * x1, rho * u[1]), o = choose(outside, r[2] - part * x2, rho * u[2]);
    return sum_of_squares(normal, t, o);
}

/* The square of the natural map: residual.c. */
INLINE Lanes natural_share(Lanes mu, const Lanes r[3], const Lanes u[3], Lanes rho)
{
    const Lanes shifted[3] = {rho * (u[0] + mu * square_root(u[1] * u[1] + u[2] * u[2])), rho * u[1], rho * u[2]};
    const Lanes x[3] = {r[0] - shifted[0], r[1] - shifted[1], r[2] - shifted[2]};
    Lanes P[3];
    project(mu, x, P);
    const Mask large_r = sum_of_squares(r[0], r[1], r[2]) > sum_of_squares(shifted[0], shifted[1], shifted[2]);
    for (int d = 0; d < 3; d++) /* the larger of r and rho u^ last: digits that cancel are not lost */
        P[d] = choose(large_r, shifted[d] + (x[d] - P[d]), r[d] - P[d]);
    return choose(mu > STI_STEEP, steep_share(mu, r, u, rho), sum_of_squares(P[0], P[1], P[2]));
}

/* NaN is the worst of all. */
INLINE void add_judgement(int at, const sti_Batch *batch, Lanes share, Lanes power, Lanes outside,
                          sti_LaneJudgement *out)
{
    const Mask worse = (share > load(at, out->worst)) | ~(share >= load(at, out->worst) * 0.0);
    store(at, out->error, load(at, out->error) + share);
    store(at, out->power, load(at, out->power) + size_of(power));
    store(at, out->outside, choose(outside > load(at, out->outside), outside, load(at, out->outside)));
    store(at, out->worst, choose(worse, share, load(at, out->worst)));
    for (int l = 0; l < WIDTH; l++)
        if (worse[l] != 0) out->contact[at + l] = batch->contact[at + l];
}

/* u for r, and the contribution to the residual as defined in residual.c. */
INLINE void judge_batch(int at, const sti_Batch *batch, sti_LaneMap map, const Lanes r[3], Lanes rho, const double *v,
                        Lanes u[3], sti_LaneJudgement *out)
{
    const Lanes mu = load(at, batch->mu);
    Lanes x[2][STI_NODE], P[3];
    gather(at, v, batch->body[0], x[0]);
    gather(at, v, batch->body[1], x[1]);
    velocity(at, map, r, x, u);
    const Lanes shifted = u[0] + mu * square_root(u[1] * u[1] + u[2] * u[2]);
    const Lanes power = r[0] * shifted + r[1] * u[1] + r[2] * u[2];
    project(mu, r, P);
    const Lanes outside = square_root(sum_of_squares(r[0] - P[0], r[1] - P[1], r[2] - P[2]));
    const Lanes share = natural_share(mu, r, u, rho);
    add_judgement(at, batch, share, power, outside, out);
}

/* Friction of three kinds: sliding, rolling and spinning, |x_g| <= mu_g x_n each. */
enum { GROUPS = 3 };
INLINE void measure_groups(const Lanes x[STI_TURNING], Lanes size[GROUPS])
{
    size[0] = square_root(x[1] * x[1] + x[2] * x[2]);
    size[1] = square_root(x[3] * x[3] + x[4] * x[4]);
    size[2] = size_of(x[5]);
}

static const int group_of[STI_TURNING] = {-1, 0, 0, 1, 1, 2};

/* x of all kinds, shortened to mu_g times the normal impulse. */
INLINE void shorten_groups(const Lanes mu[GROUPS], const Lanes size[GROUPS], Lanes normal, Lanes x[STI_TURNING])
{
    const Lanes zero = {0};
    for (int d = 1; d < STI_TURNING; d++) {
        const int g = group_of[d];
        const Lanes limit = mu[g] * normal;
        x[d] = choose(size[g] > limit, limit * (x[d] / choose(size[g] > zero, size[g], zero + 1.0)), x[d]);
    }
}

/* The nearest point of the set: law_round.c's project_groups, which needs a round more than there are kinds. */
INLINE void project_groups(const Lanes mu[GROUPS], Lanes x[STI_TURNING])
{
    const Lanes zero = {0};
    Lanes size[GROUPS], a = zero;
    Mask active[GROUPS], inside = x[0] >= zero;
    measure_groups(x, size);
    for (int g = 0; g < GROUPS; g++) {
        inside &= size[g] <= mu[g] * x[0];
        active[g] = zero < zero + 1; /* all */
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
INLINE void judge_turning(int at, const sti_Batch *batch, sti_LaneMap map, const Lanes r[STI_TURNING], Lanes rho,
                          const double *v, Lanes u[STI_TURNING], sti_LaneJudgement *out)
{
    const Lanes zero = {0};
    Lanes mu[GROUPS] = {load(at, batch->mu)};
    load_turn_mu(at, map, mu + 1);
    Lanes x[2][STI_NODE], size[GROUPS], to[STI_TURNING], shifted[STI_TURNING], P[STI_TURNING];
    gather(at, v, batch->body[0], x[0]);
    gather(at, v, batch->body[1], x[1]);
    velocity(at, map, r, x, u);
    turn_velocity(at, map, r + 3, x, u + 3);
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
        P[d] = to[d] = r[d] - shifted[d];
        of_r += r[d] * r[d];
        of_u += shifted[d] * shifted[d];
    }
    Lanes bounded[STI_TURNING]; /* where a coefficient is steep friction is bounded by r_n itself: law.c */
    for (int d = 0; d < STI_TURNING; d++)
        bounded[d] = to[d];
    measure_groups(to, size);
    shorten_groups(mu, size, choose(r[0] > zero, r[0], zero), bounded);
    bounded[0] = choose(to[0] > zero, to[0], zero);
    project_groups(mu, P);
    for (int d = 0; d < STI_TURNING; d++) {
        P[d] = choose(steep, bounded[d], P[d]);
        P[d] = choose(of_r > of_u, shifted[d] + (to[d] - P[d]), r[d] - P[d]);
        share += P[d] * P[d];
    }
    add_judgement(at, batch, share, power, square_root(far), out);
}

INLINE void judge_each(const sti_Batch *batch, sti_LaneMap map, int n_batches, const double *weight, const double *v,
                       double *r_to_u, sti_LaneJudgement *out)
{
    const int n = directions_of(map);
    for (ptrdiff_t k = 0; k < n_batches; k++) {
        const sti_LaneMap own = next_map(map, k);
        double *numbers = r_to_u + n * STI_LANES * k;
        for (int at = 0; at < STI_LANES; at += WIDTH) {
            const Lanes rho = inverse(load(at, weight + n * STI_LANES * k));
            Lanes r[STI_TURNING], u[STI_TURNING];
            load_directions(at, numbers, n, r);
            if (is_turning(map))
                judge_turning(at, &batch[k], own, r, rho, v, u, out);
            else
                judge_batch(at, &batch[k], own, r, rho, v, u, out);
            store_directions(at, numbers, n, u);
        }
    }
}

static void judge(const sti_Batch *batch, sti_LaneMap map, int n_batches, const double *weight, const double *v,
                  double *r_to_u, sti_LaneJudgement *out)
{
    BY_KIND(map, judge_each(batch, map, n_batches, weight, v, r_to_u, out));
}

#include "pile/rest_lanes.h"
#include "pile/small_lanes.h"

#define STI_GRAPH_CODE                                                                                                 \
    {                                                                                                                  \
        .fill = fill, .fill_points = fill_points, .prepare = prepare, .invert = invert, .pass = pass_over,             \
        .judge = judge, .small = &small_code, .rest = &rest_code                                                       \
    }
