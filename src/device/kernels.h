/* device/kernels.h -- the kernels of a pile: operations for one body, one piece of it, one contact.
 *
 * One source, compiled as C (a loop or a team of threads: host.c) and as CUDA (a thread per index: cuda.cu). The bits
 * are the same everywhere, because
 *   - a kernel writes only to places of its own index, or takes the largest of integers, or ORs bits;
 *   - sums are trees of 32; their shape depends on the count alone;
 *   - sqrt is the only function of the maths library, and nothing is contracted (-ffp-contract=off, -fmad=false).
 *
 * So the text is valid C17 and C++17. `f` has every array and number of a step (sti_Flat).
 *
 *     free velocities -> cells -> pairs -> contacts -> colours -> sweeps, one colour after another -> judge -> move
 *
 * A contact has the world vectors n (from b to a), r (impulse on a) and m (torque impulse on a, of rolling and spinning
 * friction). Its law is Coulomb's, as a fixed point of projections with the contact's own stiffnesses:
 *
 *     r_n = max(0, r_n - (u_n + w)/k_n)        r_t = P[mu r_n](r_t - u_t/k_t)        m likewise, by mu_roll and mu_spin
 */
#ifndef STI_DEVICE_KERNELS_H
#define STI_DEVICE_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STI_ALIGN16 alignas(16)
#else
#define STI_ALIGN16 _Alignas(16)
#endif
#ifdef __CUDACC__
#define STI_KERNEL            __device__ static inline
#define STI_ATOMIC_MAX(at, x) atomicMax(at, x)
#define STI_ATOMIC_OR(at, x)  atomicOr(at, x)
#else
#define STI_KERNEL            static inline
#define STI_ATOMIC_OR(at, x)  __atomic_fetch_or(at, x, __ATOMIC_RELAXED)
#define STI_ATOMIC_MAX(at, x) sti_atomic_max(at, x)
static inline void sti_atomic_max(unsigned long long *at, unsigned long long x)
{
    unsigned long long now = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (x > now && !__atomic_compare_exchange_n(at, &now, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}
#endif

enum {
    STI_FLAT_TREE = 32,    /* terms of one sum                                                         */
    STI_FLAT_RECORD = 8,   /* numbers of a body that sweeps read: 64 bytes                              */
    STI_FLAT_COLOURS = 64, /* bits of a mask; the last is for contacts that found no other              */
    STI_FLAT_LEVELS = 20,  /* cells of level k are 2^k times as wide as those of level 0                */
    STI_FLAT_FREE = -1     /* a contact without a colour yet                                            */
};

/* ---- small vectors --------------------------------------------------------------------------------------------- */

STI_KERNEL double flat_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

STI_KERNEL void flat_cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* A symmetric matrix, xx yy zz xy xz yz. */
STI_KERNEL void flat_sym(const double *J, const double *x, double *out)
{
    out[0] = J[0] * x[0] + J[3] * x[1] + J[4] * x[2];
    out[1] = J[3] * x[0] + J[1] * x[1] + J[5] * x[2];
    out[2] = J[4] * x[0] + J[5] * x[1] + J[2] * x[2];
}

/* Rows of the rotation of a unit quaternion w x y z. */
STI_KERNEL void flat_rotation(const double *p, double *R)
{
    const double w = p[0], x = p[1], y = p[2], z = p[3];
    R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}

STI_KERNEL void flat_turn(const double *R, const double *x, double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = flat_dot(R + 3 * k, x);
}

STI_KERNEL void flat_turn_back(const double *R, const double *x, double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
}

/* Sine over x and cosine by their series, of 0 <= x <= pi/4: the first term left out is below 1e-19. */
STI_KERNEL void flat_series(double x, double *sine_over_x, double *cosine)
{
    const double y = x * x;
    double s = 1, c = 1;
    for (int k = 9; k >= 1; k--) {
        s = 1 - s * y / (double)(2 * k * (2 * k + 1));
        c = 1 - c * y / (double)(2 * k * (2 * k - 1));
    }
    *sine_over_x = s;
    *cosine = c;
}

/* The rotation by the vector x as a unit quaternion. Angles beyond pi/4 are halved, and the result squared. */
STI_KERNEL void flat_exp(const double *x, double *p)
{
    double half = 0.5 * sqrt(flat_dot(x, x)), s, c;
    int halvings = 0;
    while (half > 0.785398163397448 && halvings < 64)
        half *= 0.5, halvings++;
    flat_series(half, &s, &c);
    double scale = 0.5;
    for (int k = 0; k < halvings; k++)
        scale *= 0.5;
    p[0] = c;
    for (int k = 0; k < 3; k++)
        p[k + 1] = s * scale * x[k];
    for (; halvings > 0; halvings--) {
        const double w = p[0];
        for (int k = 1; k < 4; k++)
            p[k] *= 2 * w;
        p[0] = 2 * w * w - 1;
    }
}

#include "device/touch.h" /* shapes other than spheres */
#include "device/touch_mesh.h"

/* ---- the arrays ------------------------------------------------------------------------------------------------ */

typedef enum sti_FlatWallType {
    STI_FLAT_PLANE,
    STI_FLAT_BOX,
    STI_FLAT_BALL,
    STI_FLAT_SOLID,
    STI_FLAT_MESH
} sti_FlatWallType;

/* Two numbers that are read and written together. */
typedef struct sti_FlatTwo {
    STI_ALIGN16 double x;
    double y;
} sti_FlatTwo;

/* Something that contacts do not move. It is fixed, or part of a body without mass whose motion is prescribed. */
typedef struct sti_FlatWall {
    sti_FlatWallType type;
    int surface;
    int body;              /* of a wall that moves; -1: it is fixed                                          */
    double at[3], turn[9]; /* of a wall that moves: x and axis in the axes of its body                       */
    double u[6];           /* [m/s, rad/s] of x, and angular; both in the world: flat_place_wall               */
    double belt[6];        /* its surface moves in itself: velocity at x, and angular; in the axes of the wall */
    double own[4];         /* without a table of surfaces: as sphere_own                                         */
    double x[3];           /* a point of the plane; the box's centre                                              */
    double axis[9];        /* columns of its frame; a plane's normal is the third                                 */
    double half[3];        /* box; of a ball the first is its radius, of another solid the radius that holds it    */
    int hull;              /* of boxes and solids (capsules, hulls); -1: none                                     */
    double round, size;    /* as of a piece                                                                   */
    int node;              /* of a mesh: the root of its tree                                                     */
    bool solid;            /* of a mesh: it has an inside, and is touched from the front only                     */
} sti_FlatWall;

/* Contacts in structure of arrays: component k of contact c is at [k * capacity + c]. */
typedef struct sti_FlatContacts {
    int *a, *b;                /* bodies; b = -1: a wall                                                     */
    double *n;                 /* 3                                                                          */
    double *lever_a, *lever_b; /* 3 each, from the centre to the contact; of balls 1: the radius            */
    int *fast;                 /* only as they were found: approaches faster than forces explain, and carried nothing */
    double *gap;               /* [m], only as they were found                                               */
    double *w;                 /* [m/s] velocity for its gap or overlap, or to rebound                  */
    double *leave;             /* [m/s] at which it rebounds, 0: it does not; only as they were found       */
    double *inverse_n, *inverse_t, *inverse_m; /* 1/k                                                      */
    double *mu, *roll, *spin;
    double *r, *m; /* 3 each                                                                     */
    double
        *drive; /* walls that move: 3, the velocity of the wall's surface; with rolling 6, its angular velocity too */
} sti_FlatContacts;

typedef struct sti_Flat {
    /* the model */
    int n_bodies, n_spheres, n_walls, n_surfaces;
    bool round;   /* every body is one sphere about its centre                                             */
    bool rolling; /* some surface has rolling or spinning friction                                         */
    bool moving;  /* some wall moves, or its surface does                                                  */
    bool bounces; /* some surface has restitution                                                         */
    /* 1, 6, 6 per body (xx yy zz xy xz yz, body axes). inverse_mass 0: fixed; negative: absent */
    double *inverse_mass, *inverse_inertia, *inertia;
    int *sphere_body, *sphere_surface;
    double *sphere_centre, *sphere_radius; /* in the body                                                  */
    double *sphere_own; /* 4 per sphere, without a table of surfaces: friction, rolling, spinning, restitution     */
    /* pieces of other shapes: `sphere` is then the ball that holds the piece */
    bool shaped;
    sti_FlatHulls hulls;
    int *piece_hull;    /* -1: a sphere                                                                      */
    double *piece_turn; /* 4 per piece, in the body                                                          */
    double *piece_round, *piece_size; /* how far it goes beyond its hull; half its least width                */
    sti_FlatWall *wall;
    sti_FlatMeshes meshes; /* triangles of the walls that are meshes                                    */
    /* n_surfaces x n_surfaces; n_surfaces = 0: of two, sqrt(mu mu), the larger arm, the larger restitution        */
    double *mu, *roll, *spin, *restitution;
    double gravity[3], smallest_cell, correction_speed;
    double rebound_speed; /* [m/s] slower approaches do not rebound                                              */
    double usual_h;       /* [s] overlaps are corrected as in steps of this length at least                          */

    /* the state: 7 and 6 numbers per body, as everywhere (angular velocities in the body's axes) */
    double *q, *v;
    double *q_start, *v_start; /* as the last step began */

    /* the step */
    double h, h_old;       /* of this step, and of the last one                                                       */
    double *u;             /* per body: linear and angular velocity in the world, being solved for; inverse mass,
                            * and inverse inertia of a ball                                                    */
    double *world_inverse; /* 6 per body: inverse inertia in world axes                                        */
    double *x;             /* 3 per sphere: where it is                                                        */
    double *width;         /* per sphere: its diameter, margin and largest travel                              */
    int *level, *cell;     /* per sphere: level, 3 cell numbers                                                */
    uint32_t *key, *key_sorted;
    int *item, *item_sorted;
    int *cell_first, *cell_end;
    int cell_bits[3];
    unsigned long long *levels;   /* bit k: there are spheres of level k                                         */
    double *bounds, *bounds_next; /* 6 per node of a tree                                                      */

    int n_pairs, *pair_first; /* shaped: pairs that may touch, by pieces                                         */
    int *pair_piece, *pair_other, *pair_count, *pair_contact; /* of a pair; contacts, and where they begin       */
    sti_FlatPatch *patch;

    int64_t capacity; /* of contacts                                                                           */
    int n_contacts;
    int *count, *first; /* per sphere: contacts, and where they begin                                     */
    int *first_old, *other_old, *colour_old;
    double *r_old, *m_old;
    int *sphere, *other; /* of a contact: its sphere; the other one, or -1 - k: wall k, or triangle k - n_walls */
    int *feature, *feature_old; /* shaped: id of the patch, times 4, and the place in it                          */
    double *point;              /* shaped: 3, on its piece                                                       */
    int *colour, *colour_sorted, *order, *order_sorted;
    int *colour_end;
    int colour_first[STI_FLAT_COLOURS + 1];
    /* per body: the contact that is coloured next, and once all are coloured its mark (flat_mark); colours it has    */
    unsigned long long *best, *used;
    int round_number;
    unsigned long long *left;      /* 1: some contact has no colour yet                                             */
    sti_FlatContacts found, swept; /* in the order in which they were found, and by colours                    */

    /* ranks: each has its own bodies and those near them, and the contacts of its own (flat_ranks.h) */
    int *owner; /* by body; -1: a body without mass, which is on all ranks. NULL: there is one rank             */
    int rank;
    int *piece_id;    /* by sphere: its number in the model. NULL: its number here                              */
    double *held;     /* 4 per sphere: a ball that holds it until bodies are shared out again                   */
    double region[6]; /* where spheres of this rank reach                                                       */
    int *list;        /* bodies of a message                                                                    */
    double *message;  /* 6 numbers of each                                                                      */
    unsigned long long *masks; /* 2 of each                                                                     */

    /* sums, and acceleration */
    double *term, *sum;
    int64_t n_terms;
    double unit; /* [m/s] of the residual                                                                      */
    double *r_before, *m_before, *u_before;
    double *momentum; /* t_k, the last change, the factor to extrapolate with                                  */
} sti_Flat;

/* ---- bodies ---------------------------------------------------------------------------------------------------- */

/* Of ranks: does this one own body b? */
STI_KERNEL bool flat_mine(const sti_Flat *f, int b)
{
    return f->owner == NULL || (b >= 0 && f->owner[b] == f->rank);
}

STI_KERNEL bool flat_absent(const sti_Flat *f, int b)
{
    return f->inverse_mass[b] < 0;
}

/* w* with (J - [a]x) w* = J w, a = h J w: the gyroscopic term, which never adds energy (docs/methods.md 2). */
STI_KERNEL void flat_gyroscopic(const double *J, double h, double *w)
{
    const double x[3] = {J[0], J[3], J[4]}, y[3] = {J[3], J[1], J[5]}, z[3] = {J[4], J[5], J[2]};
    double a[3], Ja[3], t[3], yz[3], zx[3], xy[3], turn[3];
    flat_sym(J, w, a);
    for (int k = 0; k < 3; k++)
        a[k] *= h;
    flat_sym(J, a, Ja);
    flat_cross(a, w, t);
    flat_cross(y, z, yz);
    flat_cross(z, x, zx);
    flat_cross(x, y, xy);
    flat_cross(Ja, t, turn);
    const double s = 1 / (flat_dot(x, yz) + flat_dot(a, Ja));
    w[0] += s * (flat_dot(yz, t) + turn[0]);
    w[1] += s * (flat_dot(zx, t) + turn[1]);
    w[2] += s * (flat_dot(xy, t) + turn[2]);
}

/* Velocities after the step, were there no contacts; the inverse inertia as the body is turned. */
STI_KERNEL void flat_free(int b, const sti_Flat *f)
{
    const double *v = f->v + (int64_t)6 * b, *J = f->inverse_inertia + (int64_t)6 * b;
    double *u = f->u + (int64_t)STI_FLAT_RECORD * b, *inverse = f->world_inverse + (int64_t)6 * b;
    const bool moves = f->inverse_mass[b] > 0;
    double R[9], w[3] = {v[3], v[4], v[5]};
    for (int k = 0; k < 3; k++)
        u[k] = v[k] + (moves ? f->h * f->gravity[k] : 0);
    u[6] = f->inverse_mass[b];
    u[7] = moves ? J[0] : 0;
    flat_rotation(f->q + (int64_t)7 * b + 3, R);
    if (f->round) {
        for (int k = 0; k < 3; k++)
            inverse[k] = J[0], inverse[k + 3] = 0;
    } else {
        double JR[9]; /* rows of J R' */
        for (int k = 0; k < 3; k++) {
            double column[3];
            flat_sym(J, R + 3 * k, column);
            for (int i = 0; i < 3; i++)
                JR[3 * i + k] = column[i];
        }
        double full[9];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                full[3 * i + k] = R[3 * i] * JR[k] + R[3 * i + 1] * JR[3 + k] + R[3 * i + 2] * JR[6 + k];
        inverse[0] = full[0], inverse[1] = full[4], inverse[2] = full[8];
        inverse[3] = full[1], inverse[4] = full[2], inverse[5] = full[5];
        if (moves) flat_gyroscopic(f->inertia + (int64_t)6 * b, f->h, w);
    }
    flat_turn(R, w, u + 3);
}

/* The new velocity moves the body; the angular velocity goes back into its axes, as they were. */
STI_KERNEL void flat_move(int b, const sti_Flat *f)
{
    double *q = f->q + (int64_t)7 * b, *v = f->v + (int64_t)6 * b, R[9], x[3], p[4];
    const double *u = f->u + (int64_t)STI_FLAT_RECORD * b;
    flat_rotation(q + 3, R);
    for (int k = 0; k < 3; k++)
        v[k] = u[k], q[k] += f->h * u[k];
    flat_turn_back(R, u + 3, v + 3);
    for (int k = 0; k < 3; k++)
        x[k] = f->h * v[3 + k];
    flat_exp(x, p);
    const double w = q[3], i = q[4], j = q[5], k = q[6];
    q[3] = w * p[0] - i * p[1] - j * p[2] - k * p[3];
    q[4] = w * p[1] + i * p[0] + j * p[3] - k * p[2];
    q[5] = w * p[2] - i * p[3] + j * p[0] + k * p[1];
    q[6] = w * p[3] + i * p[2] - j * p[1] + k * p[0];
    const double scale = 1 / sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int e = 3; e < 7; e++)
        q[e] *= scale;
}

/* Kinetic energy, of the state. */
STI_KERNEL void flat_kinetic(int b, const sti_Flat *f)
{
    const double *v = f->v + (int64_t)6 * b;
    double L[3];
    flat_sym(f->inertia + (int64_t)6 * b, v + 3, L);
    f->term[b] = f->inverse_mass[b] > 0 && flat_mine(f, b)
                     ? 0.5 * (flat_dot(v, v) / f->inverse_mass[b] + flat_dot(L, v + 3))
                     : 0;
}

/* The largest number of its velocity; infinite if one is no number. */
STI_KERNEL void flat_fastest(int b, const sti_Flat *f)
{
    double largest = 0;
    for (int k = 0; k < 6; k++) {
        const double speed = fabs(f->v[(int64_t)6 * b + k]);
        if (!(speed <= largest)) largest = speed < 1e300 ? speed : HUGE_VAL;
    }
    f->term[b] = largest;
}

/* Of gravity, about the origin. */
STI_KERNEL void flat_potential(int b, const sti_Flat *f)
{
    f->term[b] = f->inverse_mass[b] > 0 && flat_mine(f, b)
                     ? -flat_dot(f->gravity, f->q + (int64_t)7 * b) / f->inverse_mass[b]
                     : 0;
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

STI_KERNEL void flat_sum(int i, const sti_Flat *f)
{
    const int64_t first = (int64_t)STI_FLAT_TREE * i;
    const int64_t end = first + STI_FLAT_TREE < f->n_terms ? first + STI_FLAT_TREE : f->n_terms;
    double sum = 0;
    for (int64_t k = first; k < end; k++)
        sum += f->term[k];
    f->sum[i] = sum;
}

STI_KERNEL void flat_largest(int i, const sti_Flat *f)
{
    const int64_t first = (int64_t)STI_FLAT_TREE * i;
    const int64_t end = first + STI_FLAT_TREE < f->n_terms ? first + STI_FLAT_TREE : f->n_terms;
    double largest = f->term[first];
    for (int64_t k = first + 1; k < end; k++)
        if (f->term[k] > largest) largest = f->term[k];
    f->sum[i] = largest;
}

/* ---- ranks ----------------------------------------------------------------------------------------------------- */

/* A contact whose bodies have two owners is at both. The owner of the first one counts it; if that has no mass, the
 * owner of the other. */
STI_KERNEL bool flat_counts(const sti_Flat *f, int a, int b)
{
    return flat_mine(f, a) || (f->owner[a] < 0 && flat_mine(f, b));
}

/* A term of contact i, in the order of sweeps. */
STI_KERNEL double flat_counted(const sti_Flat *f, int i, double term)
{
    return flat_counts(f, f->swept.a[i], f->swept.b[i]) ? term : 0;
}

/* The number of a sphere in the model, or of a wall or a triangle. */
STI_KERNEL int flat_number(const sti_Flat *f, int sphere)
{
    return f->piece_id == NULL || sphere < 0 ? sphere : f->piece_id[sphere];
}

/* The ball that the search for contacts needs of sphere s (flat_near), and more, for four times its way in the step. */
STI_KERNEL void flat_hold(int s, const sti_Flat *f)
{
    const double g = sqrt(flat_dot(f->gravity, f->gravity));
    const double way = f->width[s] - 2.04 * f->sphere_radius[s] - 4 * g * f->h * f->h; /* twice its way */
    for (int k = 0; k < 3; k++)
        f->held[(int64_t)4 * s + k] = f->x[(int64_t)3 * s + k];
    f->held[(int64_t)4 * s + 3] = 0.5 * f->width[s] + 2 * (way > 0 ? way : 0) + 0.1 * f->smallest_cell;
}

/* How far sphere s of this rank is outside of the ball that holds it. */
STI_KERNEL void flat_strayed(int s, const sti_Flat *f)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double d = f->x[(int64_t)3 * s + k] - f->held[(int64_t)4 * s + k];
        square += d * d;
    }
    f->term[s] =
        flat_mine(f, f->sphere_body[s]) ? sqrt(square) + 0.5 * f->width[s] - f->held[(int64_t)4 * s + 3] : -1e300;
}

/* Where the spheres of this rank reach; the others reach nowhere. */
STI_KERNEL void flat_own_bounds(int s, const sti_Flat *f)
{
    const bool mine = flat_mine(f, f->sphere_body[s]);
    double *bounds = f->bounds + (int64_t)6 * s;
    for (int k = 0; k < 3; k++) {
        const double x = f->x[(int64_t)3 * s + k];
        bounds[k] = mine ? x - f->width[s] : 1e300;
        bounds[k + 3] = mine ? x + f->width[s] : -1e300;
    }
}

/* Velocities of listed bodies, into a message and out of it. */
STI_KERNEL void flat_pack(int i, const sti_Flat *f)
{
    const double *u = f->u + (int64_t)STI_FLAT_RECORD * f->list[i];
    for (int k = 0; k < 6; k++)
        f->message[(int64_t)6 * i + k] = u[k];
}

STI_KERNEL void flat_unpack(int i, const sti_Flat *f)
{
    double *u = f->u + (int64_t)STI_FLAT_RECORD * f->list[i];
    for (int k = 0; k < 6; k++)
        u[k] = f->message[(int64_t)6 * i + k];
}

/* Data of contacts for colouring. */
STI_KERNEL void flat_pack_masks(int i, const sti_Flat *f)
{
    f->masks[(int64_t)2 * i] = f->best[f->list[i]];
    f->masks[(int64_t)2 * i + 1] = f->used[f->list[i]];
}

STI_KERNEL void flat_unpack_masks(int i, const sti_Flat *f)
{
    f->best[f->list[i]] = f->masks[(int64_t)2 * i];
    f->used[f->list[i]] = f->masks[(int64_t)2 * i + 1];
}

/* ---- cells ----------------------------------------------------------------------------------------------------- */

STI_KERNEL int flat_floor(double x)
{
    const double most = 1e9;
    if (!(x > -most)) return -1000000000; /* NaN too: the host looks at the state */
    if (x > most) return 1000000000;
    const int i = (int)x;
    return x < i ? i - 1 : i;
}

/* Where a sphere is, how far it can reach in the step, and which cells are as wide as that. */
STI_KERNEL void flat_sphere(int s, const sti_Flat *f)
{
    const int b = f->sphere_body[s];
    const double *q = f->q + (int64_t)7 * b, *u = f->u + (int64_t)STI_FLAT_RECORD * b, radius = f->sphere_radius[s];
    double *x = f->x + (int64_t)3 * s, lever[3] = {0, 0, 0}, turn[3] = {0, 0, 0};
    if (!f->round) {
        double R[9];
        flat_rotation(q + 3, R);
        flat_turn(R, f->sphere_centre + (int64_t)3 * s, lever);
        flat_cross(u + 3, lever, turn);
    }
    double speed = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = q[k] + lever[k];
        const double v = u[k] + turn[k];
        speed += v * v;
    }
    const double g = sqrt(flat_dot(f->gravity, f->gravity));
    double width = 2 * radius * 1.02 + 4 * g * f->h * f->h + 2 * f->h * sqrt(speed);
    if (f->shaped) width += 2 * f->h * radius * sqrt(flat_dot(u + 3, u + 3)); /* turning moves its surface */
    double cell = f->smallest_cell;
    int level = 0;
    while (cell < width && level < STI_FLAT_LEVELS - 1)
        cell *= 2, level++;
    f->width[s] = width < cell ? width : cell;
    f->level[s] = level;
    for (int k = 0; k < 3; k++)
        f->cell[(int64_t)3 * s + k] = flat_floor(x[k] / cell);
    double *bounds = f->bounds + (int64_t)6 * s;
    const bool absent = flat_absent(f, b);
    for (int k = 0; k < 3; k++)
        bounds[k] = absent ? 1e300 : x[k], bounds[k + 3] = absent ? -1e300 : x[k];
    if (((*f->levels >> level) & 1) == 0) STI_ATOMIC_OR(f->levels, 1ULL << level);
}

STI_KERNEL void flat_bounds(int i, const sti_Flat *f)
{
    const int64_t first = (int64_t)STI_FLAT_TREE * i;
    const int64_t end = first + STI_FLAT_TREE < f->n_terms ? first + STI_FLAT_TREE : f->n_terms;
    double *out = f->bounds_next + (int64_t)6 * i;
    for (int k = 0; k < 6; k++)
        out[k] = f->bounds[6 * first + k];
    for (int64_t e = first + 1; e < end; e++)
        for (int k = 0; k < 3; k++) {
            const double lo = f->bounds[6 * e + k], hi = f->bounds[6 * e + 3 + k];
            if (lo < out[k]) out[k] = lo;
            if (hi > out[k + 3]) out[k + 3] = hi;
        }
}

/* Cells that are 2^bits apart share a key; so do those of different levels. */
STI_KERNEL uint32_t flat_key(const sti_Flat *f, int level, const int *cell)
{
    const int *bits = f->cell_bits, all = bits[0] + bits[1] + bits[2];
    const uint32_t x = (uint32_t)cell[0] & ((1u << bits[0]) - 1), y = (uint32_t)cell[1] & ((1u << bits[1]) - 1),
                   z = (uint32_t)cell[2] & ((1u << bits[2]) - 1);
    return ((x | y << bits[0] | z << (bits[0] + bits[1])) + (uint32_t)level * 2654435761u) & ((1u << all) - 1);
}

STI_KERNEL void flat_sphere_key(int s, const sti_Flat *f)
{
    f->key[s] = flat_key(f, f->level[s], f->cell + (int64_t)3 * s);
    f->item[s] = s;
}

STI_KERNEL void flat_cell_ends(int i, const sti_Flat *f)
{
    const uint32_t key = f->key_sorted[i];
    if (i == 0 || f->key_sorted[i - 1] != key) f->cell_first[key] = i;
    if (i == f->n_spheres - 1 || f->key_sorted[i + 1] != key) f->cell_end[key] = i + 1;
}

/* ---- contacts -------------------------------------------------------------------------------------------------- */

typedef struct sti_FlatPoint {
    int b;     /* the other body; -1: a wall    */
    int other; /* the other sphere, or -1 - k: wall k, or triangle k - n_walls */
    int surface, feature;
    double x[3];                /* on the sphere */
    double n[3], gap, radius_b; /* radius_b: of the other sphere; 0: a wall */
    double smaller;             /* half the least width of the smaller of the two */
} sti_FlatPoint;

/* The wall that `other` < 0 names, itself or by one of its triangles. */
STI_KERNEL const sti_FlatWall *flat_wall_of(const sti_Flat *f, int other)
{
    const int k = -1 - other;
    return &f->wall[k < f->n_walls ? k : f->meshes.triangle[k - f->n_walls].wall];
}

/* Walls of bodies whose motion is prescribed, where the step begins. After flat_free. */
STI_KERNEL void flat_place_wall(int k, const sti_Flat *f)
{
    sti_FlatWall *wall = &f->wall[k];
    if (wall->body < 0) return;
    const double *q = f->q + (int64_t)7 * wall->body, *u = f->u + (int64_t)STI_FLAT_RECORD * wall->body;
    double R[9], lever[3], swing[3];
    flat_rotation(q + 3, R);
    flat_turn(R, wall->at, lever);
    flat_cross(u + 3, lever, swing);
    for (int i = 0; i < 3; i++) {
        wall->x[i] = q[i] + lever[i];
        wall->u[i] = u[i] + swing[i];
        wall->u[i + 3] = u[i + 3];
        for (int j = 0; j < 3; j++)
            wall->axis[3 * i + j] =
                R[3 * i] * wall->turn[j] + R[3 * i + 1] * wall->turn[3 + j] + R[3 * i + 2] * wall->turn[6 + j];
    }
}

/* The velocity with which the wall moves at the place x. */
STI_KERNEL void flat_wall_velocity(const sti_FlatWall *wall, const double *x, double *out)
{
    const double lever[3] = {x[0] - wall->x[0], x[1] - wall->x[1], x[2] - wall->x[2]};
    flat_cross(wall->u + 3, lever, out);
    for (int k = 0; k < 3; k++)
        out[k] += wall->u[k];
}

/* The velocity and the angular velocity of its surface there: those of the wall and of its belt. A belt moves across
 * the normal n only, since the wall stays where it is.                                                               */
STI_KERNEL void flat_surface_velocity(const sti_FlatWall *wall, const double *x, const double *n, double *out)
{
    const double lever[3] = {x[0] - wall->x[0], x[1] - wall->x[1], x[2] - wall->x[2]};
    double slide[3], spin[3], swing[3], along = 0;
    flat_wall_velocity(wall, x, out);
    flat_turn(wall->axis, wall->belt, slide);
    flat_turn(wall->axis, wall->belt + 3, spin);
    flat_cross(spin, lever, swing);
    for (int k = 0; k < 3; k++) {
        slide[k] += swing[k];
        along += slide[k] * n[k];
    }
    for (int k = 0; k < 3; k++) {
        out[k] += slide[k] - along * n[k];
        out[k + 3] = wall->u[k + 3] + spin[k];
    }
}

/* How far sphere s looks for a wall, which may move towards it. */
STI_KERNEL double flat_wall_reach(const sti_Flat *f, const sti_FlatWall *wall, int s)
{
    if (wall->body < 0) return f->width[s];
    double v[3];
    flat_wall_velocity(wall, f->x + (int64_t)3 * s, v);
    const double turning = f->sphere_radius[s] * sqrt(flat_dot(wall->u + 3, wall->u + 3));
    return f->width[s] + 2 * f->h * (sqrt(flat_dot(v, v)) + turning);
}

STI_KERNEL void flat_body_point(const sti_Flat *f, int b, const double *x, double *lever, double *velocity)
{
    const double *q = f->q + (int64_t)7 * b, *u = f->u + (int64_t)STI_FLAT_RECORD * b;
    double turn[3];
    for (int k = 0; k < 3; k++)
        lever[k] = x[k] - q[k];
    flat_cross(u + 3, lever, turn);
    for (int k = 0; k < 3; k++)
        velocity[k] = u[k] + turn[k];
}

/* The velocity along t at the lever that a unit impulse along n causes there. */
STI_KERNEL double flat_mobility(const sti_Flat *f, int b, const double *lever, const double *n, const double *t)
{
    double c[3], Jc[3], d[3];
    if (b < 0 || !(f->inverse_mass[b] > 0)) return 0;
    flat_cross(lever, n, c);
    flat_sym(f->world_inverse + (int64_t)6 * b, c, Jc);
    flat_cross(lever, t, d);
    return f->inverse_mass[b] * flat_dot(n, t) + flat_dot(Jc, d);
}

/* The speed at which a contact of bodies a and b must leave, 0: it does not rebound. The law and its derivation are
 * those of step/events/rebound.c; `approach` is the speed towards each other that the step would end with. */
STI_KERNEL double flat_rebound(const sti_Flat *f, int a, int b, const double *n, double gap, double approach, double e)
{
    const double fall = f->h * flat_dot(n, f->gravity);
    const double part_a = f->inverse_mass[a] > 0 ? -fall : 0, part_b = b >= 0 && f->inverse_mass[b] > 0 ? fall : 0;
    const double together = (part_a > 0 ? part_a : 0) + (part_b > 0 ? part_b : 0), d = part_a + part_b;
    const double share = together > together - d ? together : together - d, s = approach - d;
    if (!(e > 0) || !(s > f->rebound_speed) || !(s > share) || !(gap < f->h * approach)) return 0;
    const double drop = 2 * d * gap / f->h, square = e * e * (s * s + s * d + drop) - drop;
    if (!(square > 0)) return 0;
    const double leave = sqrt(square) - 0.5 * d;
    return leave > e * s ? e * s : leave > 0 ? leave : 0;
}

/* Contact `at` of sphere s: levers, stiffnesses, and the velocity for its gap. Positive gaps may close. Overlaps have a
 * dead band, because correcting errors of the solve adds energy; beyond it a fifth goes per step.         */
STI_KERNEL void flat_write_contact(int s, const sti_FlatPoint *point, int64_t at, const sti_Flat *f)
{
    const sti_FlatContacts *c = &f->found;
    const int64_t stride = f->capacity;
    const int a = f->sphere_body[s], b = point->b;
    const double *n = point->n;
    double mu, roll, rub, bounce; /* sliding, rolling and spinning friction of the two, and restitution */
    if (f->n_surfaces > 0) {
        const int pair = f->sphere_surface[s] * f->n_surfaces + point->surface;
        mu = f->mu[pair], roll = f->roll[pair], rub = f->spin[pair], bounce = f->restitution[pair];
    } else {
        const double *one = f->sphere_own + (int64_t)4 * s;
        const double *other =
            point->other >= 0 ? f->sphere_own + (int64_t)4 * point->other : flat_wall_of(f, point->other)->own;
        mu = sqrt(one[0] * other[0]);
        roll = one[1] > other[1] ? one[1] : other[1];
        rub = one[2] > other[2] ? one[2] : other[2];
        bounce = one[3] > other[3] ? one[3] : other[3];
    }
    double x[3], lever_a[3], lever_b[3] = {0, 0, 0}, u[3], u_b[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        x[k] = point->x[k];
    flat_body_point(f, a, x, lever_a, u);
    if (b >= 0) {
        for (int k = 0; k < 3; k++)
            x[k] -= point->gap * n[k];
        flat_body_point(f, b, x, lever_b, u_b);
    } else if (f->moving) {
        const sti_FlatWall *wall = flat_wall_of(f, point->other);
        double surface[6];
        flat_wall_velocity(wall, x, u_b);
        flat_surface_velocity(wall, x, n, surface);
        for (int k = 0; k < (f->rolling ? 6 : 3); k++)
            c->drive[k * stride + at] = surface[k];
    }
    /* two directions across n, and the larger stiffness of the two */
    double t[3], o[3];
    const int axis = fabs(n[0]) < 0.6 ? 0 : 1;
    const double e[3] = {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, 0.0};
    flat_cross(n, e, t);
    const double scale = 1 / sqrt(flat_dot(t, t));
    for (int k = 0; k < 3; k++)
        t[k] *= scale;
    flat_cross(n, t, o);
    const double nn = flat_mobility(f, a, lever_a, n, n) + flat_mobility(f, b, lever_b, n, n);
    const double tt = flat_mobility(f, a, lever_a, t, t) + flat_mobility(f, b, lever_b, t, t);
    const double oo = flat_mobility(f, a, lever_a, o, o) + flat_mobility(f, b, lever_b, o, o);
    const double to = flat_mobility(f, a, lever_a, t, o) + flat_mobility(f, b, lever_b, t, o);
    const double half = 0.5 * (tt - oo), across = 0.5 * (tt + oo) + sqrt(half * half + to * to);
    double spin = 0; /* the trace bounds the largest of an inverse inertia; of a ball it is exact */
    for (int e2 = 0; e2 < 2; e2++) {
        const int body = e2 == 0 ? a : b;
        if (body < 0 || !(f->inverse_mass[body] > 0)) continue;
        const double *J = f->world_inverse + (int64_t)6 * body;
        spin += f->round ? J[0] : J[0] + J[1] + J[2];
    }

    const double h = f->h > f->usual_h ? f->h : f->usual_h; /* a short step corrects no faster */
    const double g = sqrt(flat_dot(f->gravity, f->gravity)), fall = 4 * g * h * h;
    const double band = fall < 2e-3 * point->smaller ? fall : 2e-3 * point->smaller;
    double w = point->gap > 0 ? point->gap / f->h : 0;
    if (point->gap < -band) {
        w = 0.2 * (point->gap + band) / h;
        if (w < -f->correction_speed) w = -f->correction_speed;
    }
    const double approach = flat_dot(u_b, n) - flat_dot(u, n);
    if (f->bounces) {
        const double leave = flat_rebound(f, a, b, n, point->gap, approach, bounce);
        const bool rebounds = leave > 0 && -leave < w;
        c->leave[at] = rebounds ? leave : 0;
        if (rebounds) w = -leave;
    }
    c->a[at] = a;
    c->b[at] = b;
    f->sphere[at] = s;
    f->other[at] = point->other;
    for (int k = 0; k < 3; k++) {
        c->n[k * stride + at] = n[k];
        if (f->round) continue;
        c->lever_a[k * stride + at] = lever_a[k];
        c->lever_b[k * stride + at] = lever_b[k];
    }
    if (f->round) c->lever_a[at] = f->sphere_radius[s], c->lever_b[at] = point->radius_b;
    if (f->shaped) {
        f->feature[at] = point->feature;
        for (int k = 0; k < 3; k++)
            f->point[k * stride + at] = point->x[k];
    }
    c->gap[at] = point->gap;
    c->fast[at] = approach > 3 * g * f->h;
    c->w[at] = w;
    c->inverse_n[at] = 1 / nn;
    c->inverse_t[at] = 1 / across;
    c->mu[at] = mu;
    if (f->rolling) {
        c->inverse_m[at] = spin > 0 ? 1 / spin : 0;
        c->roll[at] = roll;
        c->spin[at] = rub;
    }
}

/* From the sphere to a wall: false if it is farther than `reach`. */
STI_KERNEL bool flat_wall_point(const sti_FlatWall *wall, const double *x, double radius, double reach,
                                sti_FlatPoint *out)
{
    double d[3], local[3];
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - wall->x[k];
    for (int k = 0; k < 3; k++)
        local[k] = d[0] * wall->axis[k] + d[1] * wall->axis[3 + k] + d[2] * wall->axis[6 + k];
    double n[3] = {0, 0, 1}, distance = local[2];
    if (wall->type == STI_FLAT_BOX) {
        double outside[3], square = 0, nearest = -1e300;
        int face = 0;
        for (int k = 0; k < 3; k++) {
            const double beyond = fabs(local[k]) - wall->half[k];
            outside[k] = beyond > 0 ? (local[k] > 0 ? beyond : -beyond) : 0;
            square += outside[k] * outside[k];
            if (beyond > nearest) nearest = beyond, face = k;
        }
        distance = sqrt(square);
        for (int k = 0; k < 3; k++)
            n[k] = distance > 0 ? outside[k] / distance : (k == face ? (local[k] > 0 ? 1.0 : -1.0) : 0.0);
        if (!(distance > 0)) distance = nearest;
    } else if (wall->type == STI_FLAT_BALL || wall->type == STI_FLAT_SOLID) {
        const double length = sqrt(flat_dot(local, local));
        for (int k = 0; length > 0 && k < 3; k++)
            n[k] = local[k] / length;
        distance = length - wall->half[0];
    }
    out->gap = distance - radius;
    if (!(out->gap < reach)) return false;
    for (int k = 0; k < 3; k++) {
        out->n[k] = flat_dot(wall->axis + 3 * k, n);
        out->x[k] = x[k] - radius * out->n[k];
    }
    return true;
}

/* May the gap close within the step, or nearly? */
STI_KERNEL bool flat_may_touch(const sti_Flat *f, int a, const double *x, const sti_FlatPoint *point, double margin)
{
    double lever[3], u[3], v[3] = {0, 0, 0};
    if (point->gap < margin) return true;
    flat_body_point(f, a, x, lever, u);
    if (point->b >= 0)
        flat_body_point(f, point->b, x, lever, v);
    else if (f->moving)
        flat_wall_velocity(flat_wall_of(f, point->other), x, v);
    for (int k = 0; k < 3; k++)
        u[k] -= v[k];
    return point->gap + f->h * flat_dot(u, point->n) < margin;
}

STI_KERNEL void flat_write_pair(const sti_Flat *f, int64_t at, int s, int other)
{
    f->pair_piece[at] = s;
    f->pair_other[at] = other;
}

/* A place in the axes of a wall. */
STI_KERNEL void flat_into_wall(const sti_FlatWall *wall, const double *x, double *out)
{
    const double d[3] = {x[0] - wall->x[0], x[1] - wall->x[1], x[2] - wall->x[2]};
    flat_turn_back(wall->axis, d, out);
}

/* Contacts of sphere s with triangles of mesh k, counted and written as in flat_near. */
STI_KERNEL int flat_near_mesh(int s, int k, const sti_Flat *f, int64_t at)
{
    const sti_FlatWall *wall = &f->wall[k];
    const sti_FlatMeshes *m = &f->meshes;
    const double *x = f->x + (int64_t)3 * s, radius = f->sphere_radius[s], reach = flat_wall_reach(f, wall, s);
    const double g = sqrt(flat_dot(f->gravity, f->gravity)), margin = 0.02 * radius + 4 * g * f->h * f->h;
    double place[3];
    int stack[STI_FLAT_TREE_DEPTH], top = 0, n = 0;
    flat_into_wall(wall, x, place);
    stack[top++] = wall->node;
    while (top > 0) {
        const sti_FlatNode *node = &m->node[stack[--top]];
        bool near = true;
        for (int e = 0; e < 3; e++)
            near = near && place[e] + reach > node->lo[e] && place[e] - reach < node->hi[e];
        if (!near) continue;
        if (node->left >= 0) {
            stack[top++] = node->left + 1;
            stack[top++] = node->left;
            continue;
        }
        for (int i = 0; i < node->count; i++) {
            const int t = m->item[node->first + i];
            const sti_FlatTriangle *triangle = &m->triangle[t];
            sti_FlatPoint point;
            double normal[3], on[3], distance;
            point.other = -1 - f->n_walls - t;
            if (f->shaped) {
                double square = 0;
                flat_nearest(triangle, place, on);
                for (int e = 0; e < 3; e++)
                    square += (place[e] - on[e]) * (place[e] - on[e]);
                if (!(square < reach * reach)) continue;
                if (at >= 0) flat_write_pair(f, at + n, s, point.other);
                n++;
                continue;
            }
            if (!flat_point_triangle(m, triangle, place, wall->solid, radius, &distance, normal)) continue;
            point.gap = distance - radius;
            if (!(point.gap < reach)) continue;
            flat_turn(wall->axis, normal, point.n);
            for (int e = 0; e < 3; e++)
                point.x[e] = x[e] - radius * point.n[e];
            point.b = -1, point.surface = wall->surface, point.radius_b = 0;
            point.smaller = radius;
            if (!flat_may_touch(f, f->sphere_body[s], x, &point, margin)) continue;
            if (at >= 0) flat_write_contact(s, &point, at + n, f);
            n++;
        }
    }
    return n;
}

/* Contacts of sphere s with walls, with spheres of its own level that come after it, and with all of coarser levels:
 * how many there are; written from `at` on, if that is not negative. Of shaped piles pairs that are near, not contacts.
 */
STI_KERNEL int flat_near(int s, const sti_Flat *f, int64_t at)
{
    const double *x = f->x + (int64_t)3 * s, radius = f->sphere_radius[s];
    const double g = sqrt(flat_dot(f->gravity, f->gravity)), fall = 4 * g * f->h * f->h;
    const int a = f->sphere_body[s];
    const bool moves = f->inverse_mass[a] > 0;
    const bool mine = flat_mine(f, a);
    sti_FlatPoint point;
    int n = 0;
    if (flat_absent(f, a)) return 0; /* others are too far away to find it */
    for (int k = 0; !mine && k < 3; k++)
        if (x[k] + f->width[s] < f->region[k] || x[k] - f->width[s] > f->region[k + 3]) return 0;
    double cell = f->smallest_cell;
    for (int level = 0; level < STI_FLAT_LEVELS; level++, cell *= 2) {
        if (level < f->level[s] || ((f->levels[0] >> level) & 1) == 0) continue;
        int centre[3], place[3];
        for (int k = 0; k < 3; k++)
            centre[k] = level == f->level[s] ? f->cell[(int64_t)3 * s + k] : flat_floor(x[k] / cell);
        for (int cz = -1; cz <= 1; cz++)
            for (int cy = -1; cy <= 1; cy++)
                for (int cx = -1; cx <= 1; cx++) {
                    place[0] = centre[0] + cx, place[1] = centre[1] + cy, place[2] = centre[2] + cz;
                    const uint32_t key = flat_key(f, level, place);
                    for (int i = f->cell_first[key]; i < f->cell_end[key]; i++) {
                        const int j = f->item_sorted[i], b = f->sphere_body[j];
                        const int *there = f->cell + (int64_t)3 * j;
                        if (f->level[j] != level || there[0] != place[0] || there[1] != place[1] ||
                            there[2] != place[2])
                            continue;
                        if ((level == f->level[s] && j <= s) || b == a) continue;
                        if (!moves && !(f->inverse_mass[b] > 0)) continue;
                        if (!mine && !flat_mine(f, b)) continue;
                        const double *y = f->x + (int64_t)3 * j, sum = radius + f->sphere_radius[j];
                        const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, square = flat_dot(d, d);
                        const double reach = 0.5 * (f->width[s] + f->width[j]);
                        if (!(square < reach * reach)) continue;
                        if (f->shaped) {
                            if (at >= 0) flat_write_pair(f, at + n, s, j);
                            n++;
                            continue;
                        }
                        const double distance = sqrt(square);
                        point.b = b, point.other = j, point.surface = f->sphere_surface[j];
                        point.radius_b = f->sphere_radius[j];
                        point.gap = distance - sum;
                        for (int k = 0; k < 3; k++)
                            point.n[k] = distance > 0 ? d[k] / distance : (k == 2 ? 1.0 : 0.0);
                        for (int k = 0; k < 3; k++)
                            point.x[k] = x[k] - radius * point.n[k];
                        point.smaller = point.radius_b < radius ? point.radius_b : radius;
                        if (!flat_may_touch(f, a, x, &point, 0.02 * point.smaller + fall)) continue;
                        if (at >= 0) flat_write_contact(s, &point, at + n, f);
                        n++;
                    }
                }
    }
    for (int k = 0; moves && mine && k < f->n_walls; k++) {
        if (f->wall[k].type == STI_FLAT_MESH) {
            n += flat_near_mesh(s, k, f, at >= 0 ? at + n : -1);
            continue;
        }
        if (!flat_wall_point(&f->wall[k], x, radius, flat_wall_reach(f, &f->wall[k], s), &point)) continue;
        if (f->shaped) {
            if (at >= 0) flat_write_pair(f, at + n, s, -1 - k);
            n++;
            continue;
        }
        point.b = -1, point.other = -1 - k, point.surface = f->wall[k].surface, point.radius_b = 0;
        point.smaller = radius;
        if (!flat_may_touch(f, a, x, &point, 0.02 * radius + fall)) continue;
        if (at >= 0) flat_write_contact(s, &point, at + n, f);
        n++;
    }
    return n;
}

STI_KERNEL void flat_count(int s, const sti_Flat *f)
{
    f->count[s] = flat_near(s, f, -1);
}

STI_KERNEL void flat_find(int s, const sti_Flat *f)
{
    flat_near(s, f, f->shaped ? f->pair_first[s] : f->first[s]);
}

/* Piece s, from the place `origin`. */
STI_KERNEL void flat_solid(const sti_Flat *f, int s, const double *origin, sti_FlatSolid *out)
{
    const double *p = f->q + (int64_t)7 * f->sphere_body[s] + 3, *t = f->piece_turn + (int64_t)4 * s;
    const double turn[4] = {
        p[0] * t[0] - p[1] * t[1] - p[2] * t[2] - p[3] * t[3], p[0] * t[1] + p[1] * t[0] + p[2] * t[3] - p[3] * t[2],
        p[0] * t[2] - p[1] * t[3] + p[2] * t[0] + p[3] * t[1], p[0] * t[3] + p[1] * t[2] - p[2] * t[1] + p[3] * t[0]};
    flat_rotation(turn, out->R);
    out->hull = f->piece_hull[s] >= 0 ? &f->hulls.hull[f->piece_hull[s]] : NULL;
    out->round = f->piece_round[s];
    for (int k = 0; k < 3; k++)
        out->x[k] = f->x[(int64_t)3 * s + k] - origin[k];
}

/* Contact k of pair p, whose patch is known. */
STI_KERNEL void flat_patch_point(const sti_Flat *f, int p, int k, sti_FlatPoint *out)
{
    const sti_FlatPatch *patch = &f->patch[p];
    const int s = f->pair_piece[p], other = f->pair_other[p];
    const sti_FlatWall *wall = other < 0 ? flat_wall_of(f, other) : NULL;
    const double size = wall != NULL ? wall->size : f->piece_size[other];
    out->b = wall != NULL ? -1 : f->sphere_body[other];
    out->other = other;
    out->surface = wall != NULL ? wall->surface : f->sphere_surface[other];
    out->radius_b = wall != NULL ? 0 : f->sphere_radius[other];
    out->smaller = size > 0 && size < f->piece_size[s] ? size : f->piece_size[s];
    out->feature = patch->id[k] * 4 + k;
    out->gap = patch->gap[k];
    for (int e = 0; e < 3; e++) {
        out->n[e] = patch->normal[k][e];
        out->x[e] = patch->x[k][e] + f->x[(int64_t)3 * s + e];
    }
}

/* Where the pieces of pair p touch, or may within the step. Places are from the middle of the first. */
STI_KERNEL void flat_touch(int p, const sti_Flat *f)
{
    const int s = f->pair_piece[p], other = f->pair_other[p], a = f->sphere_body[s];
    const double *x = f->x + (int64_t)3 * s, g = sqrt(flat_dot(f->gravity, f->gravity)), fall = 4 * g * f->h * f->h;
    sti_FlatSolid one, two;
    sti_FlatPatch *patch = &f->patch[p];
    sti_FlatPoint point;
    flat_solid(f, s, x, &one);
    if (other >= 0) {
        const double size = f->piece_size[other] < f->piece_size[s] ? f->piece_size[other] : f->piece_size[s];
        const double reach = 0.5 * (f->width[s] + f->width[other]) - f->sphere_radius[s] - f->sphere_radius[other];
        flat_solid(f, other, x, &two);
        flat_touch_solids(&f->hulls, &one, &two, reach, size, patch);
    } else {
        const sti_FlatWall *wall = flat_wall_of(f, other);
        const double reach = flat_wall_reach(f, wall, s) - 2 * f->sphere_radius[s];
        for (int k = 0; k < 3; k++)
            two.x[k] = wall->x[k] - x[k];
        for (int k = 0; k < 9; k++)
            two.R[k] = wall->axis[k];
        two.hull = wall->hull >= 0 ? &f->hulls.hull[wall->hull] : NULL;
        two.round = wall->round;
        if (wall->type == STI_FLAT_MESH) { /* in the axes of the mesh, and back */
            sti_FlatSolid inside = one;
            double middle[3];
            flat_into_wall(wall, x, middle);
            for (int k = 0; k < 3; k++)
                inside.x[k] = middle[k];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    inside.R[3 * i + k] =
                        wall->axis[i] * one.R[k] + wall->axis[3 + i] * one.R[3 + k] + wall->axis[6 + i] * one.R[6 + k];
            flat_touch_triangle(&f->hulls, &f->meshes, &f->meshes.triangle[-1 - other - f->n_walls], wall->solid,
                                &inside, reach, f->piece_size[s], patch);
            for (int k = 0; k < patch->n; k++) {
                const double from[3] = {patch->x[k][0] - middle[0], patch->x[k][1] - middle[1],
                                        patch->x[k][2] - middle[2]};
                const double normal[3] = {patch->normal[k][0], patch->normal[k][1], patch->normal[k][2]};
                flat_turn(wall->axis, from, patch->x[k]);
                flat_turn(wall->axis, normal, patch->normal[k]);
            }
        } else if (wall->type == STI_FLAT_PLANE) {
            const double normal[3] = {wall->axis[2], wall->axis[5], wall->axis[8]};
            flat_touch_plane(&f->hulls, &one, two.x, normal, reach, patch);
        } else {
            flat_touch_solids(&f->hulls, &one, &two, reach, f->piece_size[s], patch);
        }
    }
    int kept = 0;
    for (int k = 0; k < patch->n; k++) {
        flat_patch_point(f, p, k, &point);
        if (!flat_may_touch(f, a, point.x, &point, 0.02 * point.smaller + fall)) continue;
        for (int e = 0; e < 3; e++)
            patch->x[kept][e] = patch->x[k][e], patch->normal[kept][e] = patch->normal[k][e];
        patch->gap[kept] = patch->gap[k];
        patch->id[kept++] = patch->id[k];
    }
    patch->n = kept;
    f->pair_count[p] = kept;
}

STI_KERNEL void flat_write_patch(int p, const sti_Flat *f)
{
    sti_FlatPoint point;
    for (int k = 0; k < f->patch[p].n; k++) {
        flat_patch_point(f, p, k, &point);
        flat_write_contact(f->pair_piece[p], &point, f->pair_contact[p] + k, f);
    }
}

/* Where the contacts of piece s begin; s = n_spheres: where all end. */
STI_KERNEL void flat_first_contact(int s, const sti_Flat *f)
{
    f->first[s] = f->pair_contact[f->pair_first[s]];
}

/* Into the disc of this radius. */
STI_KERNEL void flat_disc(double radius, double *t)
{
    const double square = flat_dot(t, t);
    if (radius > 0 && !(square > radius * radius)) return;
    const double scale = radius > 0 ? radius / sqrt(square) : 0; /* 0 also where the square is too small a number */
    for (int k = 0; k < 3; k++)
        t[k] *= scale;
}

/* x = along n + t: the two parts. */
STI_KERNEL double flat_split(const double *x, const double *n, double *t)
{
    const double along = flat_dot(x, n);
    for (int k = 0; k < 3; k++)
        t[k] = x[k] - along * n[k];
    return along;
}

/* The impulses and colours of sphere s's contacts in the last step, where these were there. An impulse is turned with
 * its normal by projection, back into the cone.                                                                   */
STI_KERNEL void flat_recall(int s, const sti_Flat *f)
{
    const int64_t stride = f->capacity;
    const double ratio = f->h_old > 0 ? f->h / f->h_old : 1; /* forces last, and impulses are forces times h */
    for (int c = f->first[s]; c < f->first[s + 1]; c++) {
        int from = -1;
        for (int k = f->first_old[s]; k < f->first_old[s + 1] && from < 0; k++)
            if (f->other_old[k] == f->other[c] && (!f->shaped || f->feature_old[k] / 4 == f->feature[c] / 4)) from = k;
        double r[3] = {0, 0, 0}, m[3] = {0, 0, 0}, n[3], t[3];
        for (int k = 0; k < 3; k++)
            n[k] = f->found.n[k * stride + c];
        double along = 0;
        if (from >= 0) {
            for (int k = 0; k < 3; k++)
                r[k] = ratio * f->r_old[k * stride + from];
            along = flat_split(r, n, t);
            if (!(along > 0)) along = 0;
            flat_disc(f->found.mu[c] * along, t);
            for (int k = 0; k < 3; k++)
                r[k] = along * n[k] + t[k];
        }
        for (int k = 0; k < 3; k++)
            f->found.r[k * stride + c] = r[k];
        if (f->rolling) {
            if (from >= 0) {
                for (int k = 0; k < 3; k++)
                    m[k] = ratio * f->m_old[k * stride + from];
                double spin = flat_split(m, n, t);
                const double most = f->found.spin[c] * along;
                spin = spin > most ? most : spin < -most ? -most : spin;
                flat_disc(f->found.roll[c] * along, t);
                for (int k = 0; k < 3; k++)
                    m[k] = spin * n[k] + t[k];
            }
            for (int k = 0; k < 3; k++)
                f->found.m[k * stride + c] = m[k];
        }
        if (along > 0) f->found.fast[c] = 0;
        const int colour = from >= 0 ? f->colour_old[from] : STI_FLAT_FREE;
        f->colour[c] = colour;
        if (colour == STI_FLAT_FREE || colour == STI_FLAT_COLOURS - 1) continue;
        STI_ATOMIC_OR(&f->used[f->found.a[c]], 1ULL << colour);
        if (f->found.b[c] >= 0) STI_ATOMIC_OR(&f->used[f->found.b[c]], 1ULL << colour);
    }
}

/* ---- colours: contacts of one colour share no body that moves --------------------------------------------------- */

STI_KERNEL bool flat_moves(const sti_Flat *f, int b)
{
    return b >= 0 && f->inverse_mass[b] > 0;
}

/* A number that differs from contact to contact and from round to round, made of its two bodies (a bijection of 64
 * bits, so that there are no ties); the largest at both bodies is next.                                           */
STI_KERNEL unsigned long long flat_rank(const sti_Flat *f, int c)
{
    unsigned long long x =
        (unsigned long long)(unsigned)flat_number(f, f->sphere[c]) << 32 | (unsigned)flat_number(f, f->other[c]);
    if (f->shaped) x |= (unsigned long long)(f->feature[c] & 3) << 62; /* there are fewer than 2^30 pieces */
    x += (unsigned long long)f->round_number * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 30, x *= 0xbf58476d1ce4e5b9ULL, x ^= x >> 27, x *= 0x94d049bb133111ebULL, x ^= x >> 31;
    return x;
}

STI_KERNEL void flat_bid(int c, const sti_Flat *f)
{
    if (f->colour[c] != STI_FLAT_FREE) return;
    const int a = f->found.a[c], b = f->found.b[c];
    STI_ATOMIC_MAX(&f->best[a], flat_rank(f, c));
    if (b >= 0) STI_ATOMIC_MAX(&f->best[b], flat_rank(f, c));
}

STI_KERNEL void flat_choose(int c, const sti_Flat *f)
{
    const int a = f->found.a[c], b = f->found.b[c];
    const unsigned long long rank = flat_rank(f, c);
    if (f->colour[c] != STI_FLAT_FREE || f->best[a] != (flat_moves(f, a) ? rank : f->best[a])) return;
    if (flat_moves(f, b) && f->best[b] != rank) return;
    const unsigned long long taken = (flat_moves(f, a) ? f->used[a] : 0) | (flat_moves(f, b) ? f->used[b] : 0);
    int colour = 0;
    while (colour < STI_FLAT_COLOURS - 1 && ((taken >> colour) & 1) != 0)
        colour++;
    f->colour[c] = colour;
    if (flat_moves(f, a)) f->used[a] |= 1ULL << colour;
    if (flat_moves(f, b)) f->used[b] |= 1ULL << colour;
}

STI_KERNEL void flat_uncoloured(int c, const sti_Flat *f)
{
    if (f->colour[c] == STI_FLAT_FREE && *f->left == 0) STI_ATOMIC_OR(f->left, 1ULL);
}

STI_KERNEL void flat_leave(int c, const sti_Flat *f)
{
    if (f->colour[c] == STI_FLAT_FREE) f->colour[c] = STI_FLAT_COLOURS - 1;
}

STI_KERNEL void flat_identity(int c, const sti_Flat *f)
{
    f->order[c] = c;
}

STI_KERNEL void flat_colour_ends(int i, const sti_Flat *f)
{
    if (i == f->n_contacts - 1 || f->colour_sorted[i + 1] != f->colour_sorted[i])
        f->colour_end[f->colour_sorted[i]] = i + 1;
}

/* Into the order of colours, and the impulses back. */
STI_KERNEL void flat_gather(int i, const sti_Flat *f)
{
    const sti_FlatContacts *to = &f->swept, *from = &f->found;
    const int c = f->order_sorted[i];
    const int64_t stride = f->capacity;
    to->a[i] = from->a[c];
    to->b[i] = from->b[c];
    to->w[i] = from->w[c];
    to->inverse_n[i] = from->inverse_n[c];
    to->inverse_t[i] = from->inverse_t[c];
    to->mu[i] = from->mu[c];
    for (int k = 0; k < 3; k++) {
        to->n[k * stride + i] = from->n[k * stride + c];
        if (k == 0 || !f->round) {
            to->lever_a[k * stride + i] = from->lever_a[k * stride + c];
            to->lever_b[k * stride + i] = from->lever_b[k * stride + c];
        }
        to->r[k * stride + i] = from->r[k * stride + c];
    }
    for (int k = 0; f->moving && k < (f->rolling ? 6 : 3); k++)
        to->drive[k * stride + i] = from->drive[k * stride + c];
    if (!f->rolling) return;
    to->inverse_m[i] = from->inverse_m[c];
    to->roll[i] = from->roll[c];
    to->spin[i] = from->spin[c];
    for (int k = 0; k < 3; k++)
        to->m[k * stride + i] = from->m[k * stride + c];
}

STI_KERNEL void flat_scatter(int i, const sti_Flat *f)
{
    const int c = f->order_sorted[i];
    const int64_t stride = f->capacity;
    for (int k = 0; k < 3; k++) {
        f->found.r[k * stride + c] = f->swept.r[k * stride + i];
        if (f->rolling) f->found.m[k * stride + c] = f->swept.m[k * stride + i];
    }
}

/* ---- sweeps ---------------------------------------------------------------------------------------------------- */

/* A body's part in a contact: the numbers that impulses change, in registers. `round`: known when it is compiled. */
typedef struct sti_FlatSide {
    double u[6], lever[3], inverse_mass, inverse[6];
} sti_FlatSide;

STI_KERNEL void flat_load_side(const sti_Flat *f, bool round, int b, const double *levers, int64_t i, double sign,
                               const double *n, sti_FlatSide *side)
{
    /* Loops have fixed lengths: a GPU keeps arrays in registers only if all indices are known when it is compiled. */
    const int n_drive = b >= 0 || !f->moving ? 0 : f->rolling ? 6 : 3;
    for (int k = 0; k < 6; k++)
        side->u[k] = k < n_drive ? f->swept.drive[k * f->capacity + i] : 0;
    for (int k = 0; k < 3; k++)
        side->lever[k] = 0;
    for (int k = 0; k < 6; k++)
        side->inverse[k] = 0;
    side->inverse_mass = 0;
    if (b < 0) return;
    const sti_FlatTwo *record = (const sti_FlatTwo *)(f->u + (int64_t)STI_FLAT_RECORD * b);
    for (int k = 0; k < 3; k++)
        side->u[2 * k] = record[k].x, side->u[2 * k + 1] = record[k].y;
    side->inverse_mass = record[3].x;
    side->inverse[0] = record[3].y;
    const double radius = round ? sign * levers[i] : 0;
    for (int k = 0; k < 3; k++)
        side->lever[k] = round ? radius * n[k] : levers[k * f->capacity + i];
    if (round || !(side->inverse_mass > 0)) return;
    for (int k = 0; k < 6; k++)
        side->inverse[k] = f->world_inverse[(int64_t)6 * b + k];
}

STI_KERNEL void flat_store_side(const sti_Flat *f, int b, const sti_FlatSide *side)
{
    if (!(side->inverse_mass > 0)) return;
    sti_FlatTwo *record = (sti_FlatTwo *)(f->u + (int64_t)STI_FLAT_RECORD * b);
    for (int k = 0; k < 3; k++)
        record[k].x = side->u[2 * k], record[k].y = side->u[2 * k + 1];
}

STI_KERNEL void flat_torque(bool round, sti_FlatSide *side, double sign, const double *m)
{
    double change[3];
    if (round)
        for (int k = 0; k < 3; k++)
            change[k] = side->inverse[0] * m[k];
    else
        flat_sym(side->inverse, m, change);
    for (int k = 0; k < 3; k++)
        side->u[k + 3] += sign * change[k];
}

STI_KERNEL void flat_push(bool round, sti_FlatSide *side, double sign, const double *r)
{
    double m[3];
    for (int k = 0; k < 3; k++)
        side->u[k] += sign * side->inverse_mass * r[k];
    flat_cross(side->lever, r, m);
    flat_torque(round, side, sign, m);
}

STI_KERNEL void flat_relative(const sti_FlatSide *a, const sti_FlatSide *b, double *u)
{
    double turn_a[3], turn_b[3];
    flat_cross(a->u + 3, a->lever, turn_a);
    flat_cross(b->u + 3, b->lever, turn_b);
    for (int k = 0; k < 3; k++)
        u[k] = a->u[k] + turn_a[k] - b->u[k] - turn_b[k];
}

/* Rolling and spinning friction: the torque impulse anew. */
STI_KERNEL void flat_project_torque(const sti_FlatContacts *c, int64_t i, double along, const double *n,
                                    const sti_FlatSide *a, const sti_FlatSide *b, const double *m, double *now)
{
    double turn[3], rate[3];
    for (int k = 0; k < 3; k++)
        turn[k] = m[k] - (a->u[k + 3] - b->u[k + 3]) * c->inverse_m[i];
    double spin = flat_split(turn, n, rate);
    const double most = c->spin[i] * along;
    spin = spin > most ? most : spin < -most ? -most : spin;
    flat_disc(c->roll[i] * along, rate);
    for (int k = 0; k < 3; k++)
        now[k] = spin * n[k] + rate[k];
}

/* The impulses that contacts begin with act on the velocities. */
STI_KERNEL void flat_begin_as(int i, const sti_Flat *f, bool round)
{
    const sti_FlatContacts *c = &f->swept;
    const int64_t stride = f->capacity;
    const double r[3] = {c->r[i], c->r[stride + i], c->r[2 * stride + i]};
    const double n[3] = {c->n[i], c->n[stride + i], c->n[2 * stride + i]};
    sti_FlatSide a, b;
    flat_load_side(f, round, c->a[i], c->lever_a, i, -1, n, &a);
    flat_load_side(f, round, c->b[i], c->lever_b, i, 1, n, &b);
    flat_push(round, &a, 1, r);
    flat_push(round, &b, -1, r);
    if (f->rolling) {
        const double m[3] = {c->m[i], c->m[stride + i], c->m[2 * stride + i]};
        flat_torque(round, &a, 1, m);
        flat_torque(round, &b, -1, m);
    }
    flat_store_side(f, c->a[i], &a);
    flat_store_side(f, c->b[i], &b);
}

/* One contact's impulses anew, from the velocities as they are. A ball's normal does not turn it, so that all of r
 * comes from one velocity; else friction uses the velocity after the normal part. Leaves the square of the change in
 * `term`. */
STI_KERNEL void flat_sweep_as(int i, const sti_Flat *f, bool round, bool rolling)
{
    const sti_FlatContacts *c = &f->swept;
    const int64_t stride = f->capacity;
    double n[3], r[3], u[3], t[3], ut[3], change[3];
    sti_FlatSide a, b;
    for (int k = 0; k < 3; k++)
        n[k] = c->n[k * stride + i], r[k] = c->r[k * stride + i];
    flat_load_side(f, round, c->a[i], c->lever_a, i, -1, n, &a);
    flat_load_side(f, round, c->b[i], c->lever_b, i, 1, n, &b);
    flat_relative(&a, &b, u);
    const double before = flat_split(r, n, t);
    double along = before - (flat_split(u, n, ut) + c->w[i]) * c->inverse_n[i];
    if (!(along > 0)) along = 0;
    if (!round) {
        for (int k = 0; k < 3; k++)
            change[k] = (along - before) * n[k];
        flat_push(round, &a, 1, change);
        flat_push(round, &b, -1, change);
        flat_relative(&a, &b, u);
        flat_split(u, n, ut);
    }
    for (int k = 0; k < 3; k++)
        t[k] -= ut[k] * c->inverse_t[i];
    flat_disc(c->mu[i] * along, t);
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double now = along * n[k] + t[k], all = now - r[k];
        square += all * all;
        change[k] = round ? all : all - change[k];
        c->r[k * stride + i] = now;
    }
    flat_push(round, &a, 1, change);
    flat_push(round, &b, -1, change);
    if (rolling) {
        double m[3], now[3];
        for (int k = 0; k < 3; k++)
            m[k] = c->m[k * stride + i];
        flat_project_torque(c, i, along, n, &a, &b, m, now);
        for (int k = 0; k < 3; k++) {
            change[k] = now[k] - m[k];
            c->m[k * stride + i] = now[k];
        }
        flat_torque(round, &a, 1, change);
        flat_torque(round, &b, -1, change);
    }
    f->term[i] = flat_counted(f, i, square);
    flat_store_side(f, c->a[i], &a);
    flat_store_side(f, c->b[i], &b);
}

STI_KERNEL void flat_begin(int i, const sti_Flat *f)
{
    flat_begin_as(i, f, f->round);
}

STI_KERNEL void flat_sweep(int i, const sti_Flat *f)
{
    flat_sweep_as(i, f, false, f->rolling);
}

STI_KERNEL void flat_sweep_round(int i, const sti_Flat *f)
{
    flat_sweep_as(i, f, true, false);
}

STI_KERNEL void flat_sweep_round_rolling(int i, const sti_Flat *f)
{
    flat_sweep_as(i, f, true, true);
}

/* Contacts of the last colour may share bodies: one after another. */
STI_KERNEL void flat_begin_last(int unused, const sti_Flat *f)
{
    (void)unused;
    for (int i = f->colour_first[STI_FLAT_COLOURS - 1]; i < f->colour_first[STI_FLAT_COLOURS]; i++)
        flat_begin(i, f);
}

STI_KERNEL void flat_sweep_last(int unused, const sti_Flat *f)
{
    (void)unused;
    for (int i = f->colour_first[STI_FLAT_COLOURS - 1]; i < f->colour_first[STI_FLAT_COLOURS]; i++)
        flat_sweep_as(i, f, f->round, f->rolling);
}

/* ---- how good it is -------------------------------------------------------------------------------------------- */

/* The square of a contact's residual, as a velocity in units of `unit`: how far its impulses are from their own
 * projections, times its stiffnesses.                                                                            */
STI_KERNEL void flat_judge(int i, const sti_Flat *f)
{
    const sti_FlatContacts *c = &f->swept;
    const int64_t stride = f->capacity;
    double n[3], r[3], u[3], t[3], ut[3], now[3];
    sti_FlatSide a, b;
    for (int k = 0; k < 3; k++)
        n[k] = c->n[k * stride + i], r[k] = c->r[k * stride + i];
    flat_load_side(f, f->round, c->a[i], c->lever_a, i, -1, n, &a);
    flat_load_side(f, f->round, c->b[i], c->lever_b, i, 1, n, &b);
    flat_relative(&a, &b, u);
    const double along = flat_split(r, n, t), un = flat_split(u, n, ut) + c->w[i], load = along > 0 ? along : 0;
    double projected = along - un * c->inverse_n[i];
    if (!(projected > 0)) projected = 0;
    const double error_n = (along - projected) / c->inverse_n[i];
    for (int k = 0; k < 3; k++)
        now[k] = t[k] - ut[k] * c->inverse_t[i];
    flat_disc(c->mu[i] * load, now);
    double square = error_n * error_n;
    for (int k = 0; k < 3; k++) {
        const double error = (t[k] - now[k]) / c->inverse_t[i];
        square += error * error;
    }
    if (f->rolling && c->inverse_m[i] > 0) {
        const double reach = sqrt(flat_dot(a.lever, a.lever));
        for (int k = 0; k < 3; k++)
            r[k] = c->m[k * stride + i];
        flat_project_torque(c, i, load, n, &a, &b, r, now);
        for (int k = 0; k < 3; k++) {
            const double error = reach * (r[k] - now[k]) / c->inverse_m[i];
            square += error * error;
        }
    }
    f->term[i] = flat_counted(f, i, square / (f->unit * f->unit));
}

/* The velocity of a side at the start of the step. A body without mass keeps its own. */
STI_KERNEL void flat_side_before(const sti_Flat *f, int b, const sti_FlatSide *now, sti_FlatSide *out)
{
    double R[9];
    *out = *now;
    if (!(now->inverse_mass > 0)) return;
    flat_rotation(f->q + (int64_t)7 * b + 3, R);
    flat_turn(R, f->v + (int64_t)6 * b + 3, out->u + 3);
    for (int k = 0; k < 3; k++)
        out->u[k] = f->v[(int64_t)6 * b + k];
}

/* Rebounds must not give energy. Newton's law alone does not ensure this: a body that one contact throws against
 * another one without rebound, or drags along by friction, may gain. The work of a contact is its impulse times the
 * mean of the relative velocities before and after; all of it together is the change of kinetic energy. While the sum
 * is positive, rebounds near contacts that give leave at half the speed, at last not at all. `near` is a ring wider
 * from round to round.
 *
 * The work of contact i; impulses that open overlaps are drift correction, which is not counted if it adds energy. */
STI_KERNEL double flat_work_of(int i, const sti_Flat *f, double *size)
{
    const sti_FlatContacts *c = &f->swept;
    const int64_t stride = f->capacity;
    double n[3], u[3], u_before[3], work = 0;
    sti_FlatSide a, b, a_before, b_before;
    for (int k = 0; k < 3; k++)
        n[k] = c->n[k * stride + i];
    flat_load_side(f, f->round, c->a[i], c->lever_a, i, -1, n, &a);
    flat_load_side(f, f->round, c->b[i], c->lever_b, i, 1, n, &b);
    flat_side_before(f, c->a[i], &a, &a_before);
    flat_side_before(f, c->b[i], &b, &b_before);
    flat_relative(&a, &b, u);
    flat_relative(&a_before, &b_before, u_before);
    *size = 0;
    for (int k = 0; k < 3; k++) {
        double part = 0.5 * c->r[k * stride + i] * (u[k] + u_before[k]);
        if (f->rolling)
            part += 0.5 * c->m[k * stride + i] * (a.u[k + 3] - b.u[k + 3] + a_before.u[k + 3] - b_before.u[k + 3]);
        work += part;
        *size += fabs(part);
    }
    return f->found.leave[f->order_sorted[i]] == 0 && c->w[i] < 0 && work > 0 ? 0 : work;
}

STI_KERNEL void flat_work(int i, const sti_Flat *f)
{
    double size;
    f->term[i] = flat_counted(f, i, flat_work_of(i, f, &size));
}

STI_KERNEL void flat_work_size(int i, const sti_Flat *f)
{
    double size;
    flat_work_of(i, f, &size);
    f->term[i] = flat_counted(f, i, size);
}

/* Bodies of contacts that give: bit 0 of their mark. */
STI_KERNEL void flat_mark(int i, const sti_Flat *f)
{
    const int a = f->swept.a[i], b = f->swept.b[i];
    double size;
    const double work = flat_work_of(i, f, &size);
    if (!(work > 1e-9 * size)) return;
    if (flat_moves(f, a)) STI_ATOMIC_OR(&f->best[a], 1ULL);
    if (flat_moves(f, b)) STI_ATOMIC_OR(&f->best[b], 1ULL);
}

/* Those that push them: the bit of the ring. */
STI_KERNEL void flat_mark_on(int i, const sti_Flat *f)
{
    const int a = f->swept.a[i], b = f->swept.b[i];
    const unsigned long long last = 1ULL << (f->round_number - 1), ring = last << 1;
    if (!flat_moves(f, a) || !flat_moves(f, b)) return;
    if ((f->best[a] & last) != 0) STI_ATOMIC_OR(&f->best[b], ring);
    if ((f->best[b] & last) != 0) STI_ATOMIC_OR(&f->best[a], ring);
}

/* The rebounds of marked bodies. */
STI_KERNEL void flat_limit(int i, const sti_Flat *f)
{
    const int a = f->swept.a[i], b = f->swept.b[i], found = f->order_sorted[i];
    const double leave = f->found.leave[found], gap = f->found.gap[found], less = 0.5 * f->swept.w[i];
    const bool marked = (flat_moves(f, a) && f->best[a] != 0) || (flat_moves(f, b) && f->best[b] != 0);
    f->term[i] = 0;
    if (!(leave > 0) || !(less < 0) || !marked) return;
    f->swept.w[i] = less < -0.1 * leave ? less : gap > 0 ? gap / f->h : 0;
    f->term[i] = flat_counted(f, i, 1);
}

/* Work of friction in the step: impulses times the velocities at its end, as the law has them. */
STI_KERNEL void flat_friction(int i, const sti_Flat *f)
{
    const sti_FlatContacts *c = &f->swept;
    const int64_t stride = f->capacity;
    double n[3], r[3], u[3], t[3];
    sti_FlatSide a, b;
    for (int k = 0; k < 3; k++)
        n[k] = c->n[k * stride + i], r[k] = c->r[k * stride + i];
    flat_load_side(f, f->round, c->a[i], c->lever_a, i, -1, n, &a);
    flat_load_side(f, f->round, c->b[i], c->lever_b, i, 1, n, &b);
    flat_relative(&a, &b, u);
    flat_split(r, n, t);
    double work = flat_dot(t, u);
    for (int k = 0; f->rolling && k < 3; k++)
        work += c->m[k * stride + i] * (a.u[k + 3] - b.u[k + 3]);
    f->term[i] = flat_counted(f, i, work);
}

/* Work that bodies without mass and walls do on the others, by the velocities that they have. */
STI_KERNEL void flat_given(int i, const sti_Flat *f)
{
    const sti_FlatContacts *c = &f->swept;
    const int64_t stride = f->capacity;
    double n[3], r[3], turn[3], work = 0;
    sti_FlatSide side;
    for (int k = 0; k < 3; k++)
        n[k] = c->n[k * stride + i], r[k] = c->r[k * stride + i];
    for (int e = 0; e < 2; e++) {
        flat_load_side(f, f->round, e == 0 ? c->a[i] : c->b[i], e == 0 ? c->lever_a : c->lever_b, i, e == 0 ? -1 : 1, n,
                       &side);
        if (side.inverse_mass > 0) continue;
        flat_cross(side.u + 3, side.lever, turn);
        for (int k = 0; k < 3; k++) {
            const double m = f->rolling ? c->m[k * stride + i] : 0;
            work += (e == 0 ? -1 : 1) * (r[k] * (side.u[k] + turn[k]) + m * side.u[k + 3]);
        }
    }
    f->term[i] = flat_counted(f, i, work);
}

/* Does contact c close in this step? Then its impulse holds an impact. After flat_scatter. */
STI_KERNEL void flat_struck(int c, const sti_Flat *f)
{
    const int64_t stride = f->capacity;
    double load = 0;
    for (int k = 0; k < 3; k++)
        load += f->found.r[k * stride + c] * f->found.n[k * stride + c];
    f->found.fast[c] = f->found.fast[c] != 0 && load > 0;
    f->term[c] = flat_counts(f, f->found.a[c], f->found.b[c]) ? f->found.fast[c] : 0;
}

/* How deep it was, at the start of the step. */
STI_KERNEL void flat_overlap(int i, const sti_Flat *f)
{
    f->term[i] = -f->found.gap[i];
}

/* ---- acceleration (Nesterov) with a new start where the change grows -------------------------------------------- */

STI_KERNEL void flat_momentum_begin(int i, const sti_Flat *f)
{
    const int64_t stride = f->capacity;
    for (int k = 0; k < 3; k++) {
        f->r_before[k * stride + i] = f->swept.r[k * stride + i];
        if (f->rolling) f->m_before[k * stride + i] = f->swept.m[k * stride + i];
    }
}

/* Of bodies, by pairs of numbers: three for each. */
STI_KERNEL void flat_momentum_begin_bodies(int i, const sti_Flat *f)
{
    const sti_FlatTwo *u = (const sti_FlatTwo *)f->u + (i / 3 * (int64_t)(STI_FLAT_RECORD / 2) + i % 3);
    ((sti_FlatTwo *)f->u_before)[i] = *u;
    if (i == 0) f->momentum[0] = 1, f->momentum[1] = -1, f->momentum[2] = 0;
}

/* The factor of the next extrapolation; sum[0] is the change. */
STI_KERNEL void flat_momentum(int unused, const sti_Flat *f)
{
    (void)unused;
    const double change = f->sum[0], t = f->momentum[0];
    const bool grows = f->momentum[1] >= 0 && change > f->momentum[1];
    const double next = 0.5 * (1 + sqrt(1 + 4 * t * t));
    f->momentum[1] = change;
    f->momentum[2] = grows ? 0 : (t - 1) / next;
    f->momentum[0] = grows ? 1 : next;
}

STI_KERNEL void flat_extrapolate(int i, const sti_Flat *f)
{
    const int64_t stride = f->capacity;
    const double factor = f->momentum[2];
    for (int k = 0; k < 3; k++) {
        const int64_t e = k * stride + i;
        const double now = f->swept.r[e], on = now + factor * (now - f->r_before[e]);
        f->r_before[e] = now;
        f->swept.r[e] = on;
        if (f->rolling) {
            const double m = f->swept.m[e];
            f->swept.m[e] = m + factor * (m - f->m_before[e]);
            f->m_before[e] = m;
        }
    }
}

STI_KERNEL void flat_extrapolate_bodies(int i, const sti_Flat *f)
{
    const double factor = f->momentum[2];
    sti_FlatTwo *u = (sti_FlatTwo *)f->u + (i / 3 * (int64_t)(STI_FLAT_RECORD / 2) + i % 3);
    sti_FlatTwo *before = (sti_FlatTwo *)f->u_before + i;
    const sti_FlatTwo now = *u;
    u->x = now.x + factor * (now.x - before->x);
    u->y = now.y + factor * (now.y - before->y);
    *before = now;
}

#endif
