/* solve/dense_newton.c -- a robot and its contacts: W dense, semismooth Newton on the rows that need it.
 *
 *     A = U'U                       block by block, from the last velocity to the first: the tree's own sparsity stays
 *     Y = inv(U') [G H],   W = Y'Y + diag(Cb, C),   b = Y' inv(U') f + (g, w)
 *
 * Rows come in this order:   joints | bounded rows with compliance between their bounds (servos) | all others.
 * The first two are linear, u = 0, and are eliminated. Without joints a servo on one velocity, x y + C r + w = 0, is no
 * row at all: it is folded into A and f, x^2/C on the diagonal and -x w/C. The rest is W and b, and gives rho and the
 * scale of the residual: a servo between its bounds counts as the soft joint row that it is, so that the residual is
 * the one of reduce.h for the problem where it is written as such. On the others each law is F(r, u) = 0
 * (alart_curnier.h), and with A = dF/dr and B = dF/du a step solves
 *
 *     (A + B (S + alpha E)) d = -F,       E = diag(1/rho)
 *
 * around a centre, as in newton.c, which has the method and its reasons. A start near the answer needs one or two
 * steps. A servo that leaves its bounds joins the others, and everything starts again.
 *
 * The answer is judged afresh: v from momentum with one step of refinement, u from v, natural residual as in
 * residual.c.
 */
#include "solve/dense_newton.h"

#include "base/tolerance.h"
#include "math/block_diag.h"
#include "math/simd4.h"
#include "pile/pile.h"
#include "problem/law.h"
#include "problem/opposite_rows.h"
#include "reduce/alart_curnier.h"
#include "reduce/residual.h"

#include <float.h>

/* Beyond this the sparse methods are quicker. */
enum { MOST_VELOCITIES = 160, MOST_ROWS = 180, WORDS = (MOST_VELOCITIES + 63) / 64 };
enum { BLOCK = ST_MAX_DIM * ST_MAX_DIM, MOST_ROUNDS = 4 };
/* As in newton.c. */
enum { INNER_STEPS = 12, LINE_STEPS = 8, MEMORY = 4, WATCHED = 4, PATIENCE = 10 };
static const double alpha_least = 1e-11, alpha_most = 1e2, linear_alpha = 1e-5, near = 1e-3, inner_fall = 1e-1;
/* The residual is relative to velocities of at least u_scale, a millionth of the fastest velocity. With a tolerance of
 * 1e-9 this would require 1e-15 of the fastest velocity. Joint rates have rounding errors of 1e-14 of the fastest
 * velocity in the tree. */
static const double idle = 10;
/* A step without regularisation from a residual below `near` to one that is larger by this factor shows a singular
 * matrix: contacts that share a load. */
static const double wild = 1e3;
/* A row is held by joints if its diagonal entry of W falls below this part when they are eliminated. The entry is a
 * difference: rounding leaves 1e-16 to 1e-13 of it (STI_REDUNDANT_PIVOT), and rows that are free keep more than 1e-10.
 * (STI_HELD is for sums of squares of entries that are rounding themselves.) A held row that is missed has a rho of
 * 1e15: its noise becomes the scale of the residual, and every other contact passes without an impulse. */
static const double held = 1e-12;
/* A velocity that joints impose and that is below this part of its terms, or of the fastest, is 0 and rounding. */
static const double imposed_noise = 1e-12;
/* A contact that opens at no more than this part of the speed at which the fastest one closes counts as touching. Used
 * in the first step if all impulses are 0. */
static const double nearly = 0.1;

/* The role of a contact: a row of W with a law, or a servo within its bounds, which is eliminated as a row or folded
 * into A. */
typedef enum Kind { SOFT, HARD, FOLDED } Kind;

/* A = U'U with rows x, n of them: row k has numbers for its chain, and its pivot after them. over: 1/pivot. */
typedef struct Factor {
    double *x, *over;
} Factor;

/* Columns of [G H] that are adjacent in the order of W: the contacts of one link, or up to four other columns. They and
 * their columns of Y are nonzero only on one path of velocities, from the leaves to the root.      */
typedef struct Group {
    int first, n;     /* columns                                                                 */
    int path, length; /* velocities path[0] > path[1] > ...                                        */
    int64_t at;       /* its numbers in `columns`: for each velocity padded(n) of them                   */
    bool alike;       /* its columns are nonzero at the same velocities                                */
    int leaf;         /* path[0]                                                                  */
    bool chain;       /* the path is the leaf and its chain                                          */
} Group;

struct sti_DenseNewton {
    st_Allocator allocator;
    STI_ARRAY(double, memory);
    STI_ARRAY(int, numbers);
    STI_ARRAY(int, paths); /* kept while A has numbers at the same places, `pattern` of n_paths rows  */
    STI_ARRAY(uint64_t, pattern);
    STI_ARRAY(uint64_t, above); /* by velocity: itself and its chain */
    int n_paths;
    int n_groups;
    STI_ARRAY(Group, group);
    STI_ARRAY(int, path);           /* of all groups                                                    */
    STI_ARRAY(double, columns);     /* [G H] of all groups, then Y                                            */
    int64_t n_numbers;              /* of each of the two */
    STI_ARRAY(unsigned char, kind); /* by contact: Kind                                              */
    /* of the problem at hand */
    int n, m, rows, stride; /* velocities, joint rows, all rows, numbers in a row of Y and W       */
    int n_r, n_contacts;    /* the arrays are laid out for so many, and for n and m                */
    int n_linear;           /* rows eliminated: joints and servos                                  */
    int redundant;          /* joint rows that depend on others                                    */
    int n_folded;           /* servos                                                              */
    int *place;             /* where joint row j, and contact row m + i, went; -1: folded           */
    int *chain, *chain_at;  /* by velocity k, from chain_at[k]: its path to the root of its tree (paths)  */
    int *position;          /* by velocity: its place on a path                                     */
    double *W, *b;          /* rows x stride, rows                                                 */
    Factor U;               /* of A with the servos that are folded                                */
    double *x;              /* rows: impulses, in the order of W                                   */
    double *terms;          /* rows: size of the terms of b */
    double *half;           /* n: inv(U') f                                                        */
    double *own;            /* rows: the diagonal of W before any elimination                      */
    double *r, *u, *trial, *trial_u, *F, *step, *step_u, *rho, *centre, *best; /* others alone, in their order    */
    double measure, least; /* natural residual of r and of the best                                    */
    double *A, *B;         /* BLOCK numbers per contact                                           */
    double *J, *K; /* the system of a step, and that of sliding contacts; the right-hand side is the last column */
    int *active;   /* its rows                                                            */
    double *v, *l, *r_all, *u_all, *rest; /* of the judge                                             */
    double *momentum;                     /* n: f + G l + H r without the servos that are folded         */
    double *rho_of, *compliance;          /* by contact; the latter of servos                                     */
    double *mass;                         /* n: the diagonal of A                                                 */
    double scale;
};

st_Status sti_dense_newton_create(const st_Allocator *allocator, sti_DenseNewton **out, st_Error *err)
{
    sti_DenseNewton *d = sti_alloc(allocator, 1, sizeof *d);
    if (d == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: the solver of small problems");
    d->allocator = *allocator;
    *out = d;
    return ST_OK;
}

void sti_dense_newton_destroy(sti_DenseNewton *d)
{
    if (d == NULL) return;
    const st_Allocator allocator = d->allocator;
    STI_RELEASE(&allocator, d->memory, d->memory_size);
    STI_RELEASE(&allocator, d->numbers, d->numbers_size);
    STI_RELEASE(&allocator, d->paths, d->paths_size);
    STI_RELEASE(&allocator, d->pattern, d->pattern_size);
    STI_RELEASE(&allocator, d->above, d->above_size);
    STI_RELEASE(&allocator, d->group, d->group_size);
    STI_RELEASE(&allocator, d->path, d->path_size);
    STI_RELEASE(&allocator, d->columns, d->columns_size);
    STI_RELEASE(&allocator, d->kind, d->kind_size);
    sti_free(&allocator, d, 1, sizeof *d);
}

bool sti_dense_newton_takes(const st_Problem *p)
{
    return p->symmetric && p->n_contacts > 0 && p->n_v <= MOST_VELOCITIES && p->n_l + p->n_r <= MOST_ROWS &&
           p->H.p != NULL;
}

/* Rows of all arrays begin at multiples of four numbers. */
STI_INLINE int padded(int n)
{
    return (n + 3) & ~3;
}

static st_Status dense_room(sti_DenseNewton *d, const st_Problem *p, st_Error *err)
{
    const int n = p->n_v, rows = p->n_l + p->n_r, stride = padded(rows + STI_WIDTH);
    const bool same = n == d->n && p->n_l == d->m && p->n_r == d->n_r && p->n_contacts == d->n_contacts;
    d->rows = rows, d->stride = stride;
    if (same) return ST_OK;
    d->n_r = -1; /* until there is room */
    const struct {
        double **at;
        int64_t count;
    } arrays[] = {{&d->U.x, (int64_t)n * padded(n)},
                  {&d->U.over, n},
                  {&d->W, (int64_t)rows * stride},
                  {&d->J, (int64_t)rows * stride},
                  {&d->K, (int64_t)rows * stride},
                  {&d->A, (int64_t)BLOCK * p->n_contacts},
                  {&d->B, (int64_t)BLOCK * p->n_contacts},
                  {&d->rho_of, p->n_contacts},
                  {&d->compliance, p->n_contacts},
                  {&d->v, n},
                  {&d->rest, n},
                  {&d->mass, n},
                  {&d->momentum, n},
                  {&d->half, n},
                  {&d->l, p->n_l},
                  {&d->b, rows},
                  {&d->x, rows},
                  {&d->own, rows},
                  {&d->terms, rows},
                  {&d->r, rows},
                  {&d->u, rows},
                  {&d->trial, rows},
                  {&d->trial_u, rows},
                  {&d->F, rows},
                  {&d->step, rows},
                  {&d->step_u, rows},
                  {&d->rho, rows},
                  {&d->centre, rows},
                  {&d->best, rows},
                  {&d->r_all, rows},
                  {&d->u_all, rows}};
    enum { N_ARRAYS = sizeof arrays / sizeof arrays[0] };
    int64_t total = 0;
    for (int k = 0; k < N_ARRAYS; k++)
        total += padded((int)arrays[k].count) + 4;
    STI_TRY(STI_GROW(&d->allocator, d->memory, d->memory_size, total, err));
    STI_TRY(STI_GROW(&d->allocator, d->numbers, d->numbers_size, 2 * rows + 2 + n, err));
    STI_TRY(STI_GROW(&d->allocator, d->paths, d->paths_size, n + 1 + n * (n - 1) / 2, err));
    STI_TRY(STI_GROW(&d->allocator, d->pattern, d->pattern_size, n * WORDS, err));
    STI_TRY(STI_GROW(&d->allocator, d->above, d->above_size, n * WORDS, err));
    STI_TRY(STI_GROW(&d->allocator, d->group, d->group_size, rows, err));
    STI_TRY(STI_GROW(&d->allocator, d->kind, d->kind_size, p->n_contacts, err));
    double *next = d->memory;
    for (int k = 0; k < N_ARRAYS; k++) {
        *arrays[k].at = next;
        next += padded((int)arrays[k].count) + 4;
    }
    d->place = d->numbers;
    d->active = d->place + rows + 1;
    d->position = d->active + rows + 1;
    d->chain_at = d->paths;
    d->chain = d->paths + n + 1;
    d->n = n, d->m = p->n_l, d->n_r = p->n_r, d->n_contacts = p->n_contacts;
    return ST_OK;
}

/* ---- W and b -------------------------------------------------------------------------------------- */

/* y -= a x, n numbers. */
STI_INLINE void subtract_scaled(double a, const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] -= a * x[i];
}

/* The same for n numbers and those after them that fill up fours. */
STI_INLINE void subtract_filled(double a, const double *x, double *y, int n)
{
    for (int i = 0; i < n; i += STI_WIDTH)
        *(sti_Wide *)(y + i) -= a * *(const sti_Wide *)(x + i);
}

/* y += sum of a[k] times row at[k] of S, m of them in order, four at a time; n numbers, as above. */
STI_INLINE void add_rows(const double *S, int stride, const int *at, const double *a, int m, double *y, int n)
{
    int k = 0;
    for (; k + STI_WIDTH <= m; k += STI_WIDTH) {
        const double *x = S + (int64_t)at[k] * stride, *x_1 = S + (int64_t)at[k + 1] * stride,
                     *x_2 = S + (int64_t)at[k + 2] * stride, *x_3 = S + (int64_t)at[k + 3] * stride;
        for (int i = 0; i < n; i += STI_WIDTH) {
            sti_Wide sum = *(sti_Wide *)(y + i) + a[k] * *(const sti_Wide *)(x + i);
            sum += a[k + 1] * *(const sti_Wide *)(x_1 + i);
            sum += a[k + 2] * *(const sti_Wide *)(x_2 + i);
            *(sti_Wide *)(y + i) = sum + a[k + 3] * *(const sti_Wide *)(x_3 + i);
        }
    }
    for (; k < m; k++)
        subtract_filled(-a[k], S + (int64_t)at[k] * stride, y, n);
}

/* The same for numbers first .. end - 1 of two rows and those around them that fill up fours. */
STI_INLINE void subtract_fours(double a, const double *x, double *y, int first, int end)
{
    for (int i = first & ~3; i < end; i += STI_WIDTH)
        *(sti_Wide *)(y + i) -= a * *(const sti_Wide *)(x + i);
}

/* Where rows go. A servo is eliminated or folded unless it is hard. */
static void order_rows(sti_DenseNewton *d, const st_Problem *p)
{
    int next = d->m;
    d->n_folded = 0;
    for (int j = 0; j < d->m; j++)
        d->place[j] = j;
    for (int c = 0; c < p->n_contacts; c++) {
        const int row = p->contact[c].first;
        if (d->kind[c] == HARD) continue;
        const bool alone = d->m == 0 && p->H.p[row + 1] == p->H.p[row] + 1;
        d->kind[c] = alone ? FOLDED : SOFT;
        d->place[d->m + row] = alone ? -1 : next++;
        d->n_folded += alone;
    }
    d->n_linear = next;
    for (int c = 0; c < p->n_contacts; c++)
        for (int i = 0; i < p->contact[c].dim && d->kind[c] == HARD; i++)
            d->place[d->m + p->contact[c].first + i] = next++;
    d->rows = next;
    d->stride = padded(next + STI_WIDTH); /* a group that ends at the last row ends at a multiple of four of its own */
}

typedef uint64_t Bits __attribute__((vector_size(STI_WIDTH * sizeof(uint64_t))));

/* The sparsity of U: row k has entries at the velocities on its path to the root of its tree. The elimination of row k
 * adds its other entries to the row of the nearest of these velocities, because they all are on its path. */
STI_CLONES static void find_chains(sti_DenseNewton *d, const st_Problem *p)
{
    uint64_t has[MOST_VELOCITIES][WORDS];
    int nearest[MOST_VELOCITIES];
    const double *numbers = p->A.x;
    memset(has, 0, (size_t)d->n * sizeof has[0]);
    for (int b = 0; b < p->A.n_blocks; b++) {
        const int first = p->A.first[b], size = p->A.first[b + 1] - first;
        const bool diagonal = sti_block_marked(&p->A, b);
        for (int i = 0; i < size && !diagonal; i++) {
            const double *row = numbers + (int64_t)i * size - first;
            for (int j = first; j < first + i;) { /* up to the end of a word, four at a time */
                const int w = j / 64, end = 64 * (w + 1) < first + i ? 64 * (w + 1) : first + i;
                uint64_t word = 0;
                Bits bits = {(uint64_t)1 << j % 64, (uint64_t)2 << j % 64, (uint64_t)4 << j % 64,
                             (uint64_t)8 << j % 64},
                     found = {0};
                for (; j + STI_WIDTH <= end; j += STI_WIDTH, bits <<= STI_WIDTH)
                    found |= bits & (Bits)(*(const sti_Wide *)(row + j) != 0);
                for (; j < end; j++)
                    word |= (uint64_t)(row[j] != 0) << j % 64;
                has[first + i][w] |= word | found[0] | found[1] | found[2] | found[3];
            }
        }
        numbers += diagonal ? size : (int64_t)size * size;
    }
    const size_t bytes = (size_t)d->n * sizeof has[0];
    if (d->n_paths == d->n && memcmp(d->pattern, has, bytes) == 0) return; /* as in the last problem */
    memcpy(d->pattern, has, bytes);
    d->n_paths = d->n;
    for (int k = d->n - 1; k >= 0; k--) {
        int w = WORDS - 1;
        while (w >= 0 && has[k][w] == 0)
            w--;
        nearest[k] = -1;
        if (w < 0) continue;
        const int bit = 63 - __builtin_clzll(has[k][w]), up = nearest[k] = 64 * w + bit;
        has[k][w] &= ~((uint64_t)1 << bit);
        for (; w >= 0; w--)
            has[up][w] |= has[k][w];
    }
    int at = 0;
    for (int k = 0; k < d->n; k++) {
        uint64_t *above = d->above + (int64_t)k * WORDS;
        d->chain_at[k] = at;
        for (int w = 0; w < WORDS; w++)
            above[w] = (w == k / 64 ? (uint64_t)1 << k % 64 : 0) |
                       (nearest[k] >= 0 ? d->above[(int64_t)nearest[k] * WORDS + w] : 0);
        if (nearest[k] >= 0) {
            const int up = nearest[k], n = d->chain_at[up + 1] - d->chain_at[up];
            for (int e = 0; e < n; e++)
                d->chain[at++] = d->chain[d->chain_at[up] + e];
            d->chain[at++] = up;
        }
        d->chain_at[k + 1] = at;
    }
}

/* The length of the chain of velocity k. */
STI_INLINE int depth_of(const sti_DenseNewton *d, int k)
{
    return d->chain_at[k + 1] - d->chain_at[k];
}

/* U of A and of the servos that are folded; false: A is not positive definite. */
STI_CLONES static bool factor_masses(sti_DenseNewton *d, const st_Problem *p)
{
    const Factor *U = &d->U;
    const int stride = padded(d->n);
    const double *numbers = p->A.x;
    for (int b = 0; b < p->A.n_blocks; b++) {
        const int first = p->A.first[b], end = p->A.first[b + 1], size = end - first;
        const bool diagonal = sti_block_marked(&p->A, b);
        for (int k = first; k < end; k++) {
            const double *from = numbers + (diagonal ? 0 : (int64_t)(k - first) * size - first);
            const int *chain = d->chain + d->chain_at[k], depth = depth_of(d, k);
            double *row = U->x + (int64_t)k * stride;
            *(sti_Wide *)(row + (depth & ~3)) = (sti_Wide){0}; /* what fills up the last four */
            for (int e = 0; e < depth; e++)
                row[e] = from[chain[e]];
            row[depth] = d->mass[k] = diagonal ? numbers[k - first] : from[k];
        }
        numbers += diagonal ? size : (int64_t)size * size;
    }
    for (int c = 0; d->n_folded > 0 && c < p->n_contacts; c++) {
        if (d->kind[c] != FOLDED) continue;
        const int64_t e = p->H.p[p->contact[c].first];
        const int k = p->H.i[e];
        U->x[(int64_t)k * stride + depth_of(d, k)] += p->H.x[e] * p->H.x[e] / d->compliance[c];
    }
    for (int k = d->n - 1; k >= 0; k--) {
        const int *chain = d->chain + d->chain_at[k], depth = depth_of(d, k);
        double *row = U->x + (int64_t)k * stride;
        if (!(row[depth] > 0)) return false;
        const double over = U->over[k] = 1 / sqrt(row[depth]); /* the pivot itself is not read again */
        for (int e = 0; e < depth; e += STI_WIDTH)
            *(sti_Wide *)(row + e) *= over;
        for (int e = 0; e < depth; e++) /* the chain of each is a part of this one: the same places */
            subtract_filled(row[e], row, U->x + (int64_t)chain[e] * stride, e + 1);
    }
    return true;
}

/* sum of x[i] y[i] for i from `first` up to before `end`. */
STI_INLINE double dot_range(const double *x, const double *y, int first, int end)
{
    sti_Wide sums = {0};
    double sum = 0;
    int i = first;
    for (; i + STI_WIDTH <= end; i += STI_WIDTH)
        sums += *(const sti_Wide *)(x + i) * *(const sti_Wide *)(y + i);
    for (; i < end; i++)
        sum += x[i] * y[i];
    return sum + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* y -= a x in the same range. */
STI_INLINE void subtract_range(double a, const double *x, double *y, int first, int end)
{
    int i = first;
    for (; i + STI_WIDTH <= end; i += STI_WIDTH)
        *(sti_Wide *)(y + i) -= a * *(const sti_Wide *)(x + i);
    for (; i < end; i++)
        y[i] -= a * x[i];
}

/* x <- inv(U') x and x <- inv(U) x along the chains: limbs do not wait for each other, and a velocity waits for that of
 * its parent only in its last term. */
STI_INLINE void solve_forward(const sti_DenseNewton *d, double *x)
{
    for (int k = d->n - 1; k >= 0; k--) {
        const int *chain = d->chain + d->chain_at[k];
        const double *row = d->U.x + (int64_t)k * padded(d->n);
        const double own = x[k] *= d->U.over[k];
        for (int e = depth_of(d, k) - 1; e >= 0; e--)
            x[chain[e]] -= own * row[e];
    }
}

STI_INLINE void solve_backward(const sti_DenseNewton *d, double *x)
{
    for (int k = 0; k < d->n; k++) {
        const int *chain = d->chain + d->chain_at[k], depth = depth_of(d, k);
        const double *row = d->U.x + (int64_t)k * padded(d->n);
        double sum = x[k];
        for (int e = 0; e < depth; e++)
            sum -= row[e] * x[chain[e]];
        x[k] = sum * d->U.over[k];
    }
}

/* Groups the columns of G or H whose places are in [begin, end); places ascend. */
static st_Status group_columns(sti_DenseNewton *d, const st_Sparse *from, const int *place, int begin, int end,
                               st_Error *err)
{
    for (int j = 0, alike; j < from->n_cols; j += alike) {
        const int *at = from->i + from->p[j], n = (int)(from->p[j + 1] - from->p[j]);
        alike = 1; /* columns side by side with numbers at the same velocities: those of contacts of one link */
        if (place[j] < begin || place[j] >= end) continue;
        while (j + alike < from->n_cols && place[j + alike] == place[j] + alike && place[j + alike] < end &&
               from->p[j + alike + 1] - from->p[j + alike] == n &&
               (n == 0 || memcmp(from->i + from->p[j + alike], at, (size_t)n * sizeof *at) == 0))
            alike++;
        uint64_t on[WORDS] = {0};
        for (int e = n - 1; e >= 0; e--) { /* the last velocity mostly has all others on its chain */
            const int k = at[e];
            if (on[k / 64] >> k % 64 & 1) continue;
            for (int w = 0; w < WORDS; w++)
                on[w] |= d->above[(int64_t)k * WORDS + w];
        }
        Group *group = d->n_groups > 0 ? &d->group[d->n_groups - 1] : NULL;
        if (group != NULL && group->first + group->n == place[j] && group->n + alike <= STI_WIDTH) { /* it joins */
            for (int i = 0; i < group->length; i++) {
                const int k = d->path[group->path + i];
                on[k / 64] |= (uint64_t)1 << k % 64;
            }
            group->alike = false;
        } else {
            const int path = group != NULL ? group->path + group->length : 0;
            group = &d->group[d->n_groups++];
            *group = (Group){.first = place[j], .path = path, .at = d->n_numbers, .alike = true};
        }
        group->n += alike;
        group->length = 0;
        STI_TRY(STI_GROW(&d->allocator, d->path, d->path_size, group->path + d->n, err));
        for (int w = WORDS - 1; w >= 0; w--)
            while (on[w] != 0) {
                const int bit = 63 - __builtin_clzll(on[w]);
                on[w] &= ~((uint64_t)1 << bit);
                d->path[group->path + group->length++] = 64 * w + bit;
            }
        group->leaf = group->length > 0 ? d->path[group->path] : 0;
        group->chain = group->length > 0 && group->length == depth_of(d, group->leaf) + 1;
        d->n_numbers = group->at + (int64_t)group->length * padded(group->n);
    }
    return ST_OK;
}

/* Copies the nonzeros of these columns, group by group, to *next and on. */
STI_CLONES static void fill_groups(sti_DenseNewton *d, const st_Sparse *from, const int *place, int begin, int end,
                                   int *next)
{
    static const double none[MOST_VELOCITIES];
    const Group *group = NULL;
    double *to = NULL;
    int width = 0;
    for (int j = 0; j < from->n_cols; j++) {
        if (place[j] < begin || place[j] >= end) continue;
        const int *at = from->i + from->p[j], n = (int)(from->p[j + 1] - from->p[j]);
        const double *x = from->x + from->p[j];
        if (group == NULL || place[j] >= group->first + group->n) {
            group = &d->group[place[j] < d->group[*next].first + d->group[*next].n ? *next : ++*next];
            to = d->columns + group->at;
            width = padded(group->n);
            const int *path = d->path + group->path;
            for (int i = 0; i < group->length; i++)
                d->position[path[i]] = i * width;
            if (place[j] == group->first && !(group->alike && n == group->length))
                memset(to, 0, (size_t)(group->length * width) * sizeof *to);
        }
        if (group->alike) { /* all of them, four columns at a time */
            for (int c = 0; c < group->n; c += STI_WIDTH) {
                const double *y = x + (int64_t)c * n, *y_1 = c + 1 < group->n ? y + n : none,
                             *y_2 = c + 2 < group->n ? y + 2 * n : none, *y_3 = c + 3 < group->n ? y + 3 * n : none;
                for (int e = 0; e < n; e++)
                    *(sti_Wide *)(to + d->position[at[e]] + c) = (sti_Wide){y[e], y_1[e], y_2[e], y_3[e]};
            }
            j += group->n - 1;
            continue;
        }
        double *column = to + (place[j] - group->first);
        for (int e = 0; e < n; e++)
            column[d->position[at[e]]] = x[e];
    }
}

/* Computes columns of Y from those of [G H], `fours` vectors wide, in the order of the path. */
STI_INLINE void solve_fours(const sti_DenseNewton *d, const int *path, int length, bool chain, int width,
                            const double *from, double *to, int fours)
{
    const int stride = padded(d->n);
    for (int i = 0; i < length; i++) {
        const int k = path[i], depth = depth_of(d, k);
        sti_Wide sum[STI_WIDTH];
        for (int l = 0; l < fours; l++)
            sum[l] = *(const sti_Wide *)(from + (int64_t)i * width + STI_WIDTH * l);
        for (int e = 0; e < i; e++) {
            if (!chain && !(d->above[(int64_t)path[e] * WORDS + k / 64] >> k % 64 & 1)) continue; /* another limb */
            const double a = d->U.x[(int64_t)path[e] * stride + depth], *known = to + (int64_t)e * width;
            for (int l = 0; l < fours; l++)
                sum[l] -= a * *(const sti_Wide *)(known + STI_WIDTH * l);
        }
        for (int l = 0; l < fours; l++)
            *(sti_Wide *)(to + (int64_t)i * width + STI_WIDTH * l) = sum[l] * d->U.over[k];
    }
}

/* Y = inv(U') [G H]. */
STI_CLONES static void solve_groups(sti_DenseNewton *d)
{
    for (int g = 0; g < d->n_groups; g++) {
        const Group *group = &d->group[g];
        const int *path = d->path + group->path, width = padded(group->n), length = group->length;
        const double *from = d->columns + group->at;
        double *to = d->columns + d->n_numbers + group->at;
        for (int c = 0; c < width; c += STI_WIDTH * STI_WIDTH) {
            const int fours = (width - c) / STI_WIDTH;
            if (fours == 1)
                solve_fours(d, path, length, group->chain, width, from + c, to + c, 1);
            else if (fours == 2)
                solve_fours(d, path, length, group->chain, width, from + c, to + c, 2);
            else if (fours == 3)
                solve_fours(d, path, length, group->chain, width, from + c, to + c, 3);
            else
                solve_fours(d, path, length, group->chain, width, from + c, to + c, 4);
        }
    }
}

/* A compliance matrix onto W; only its upper triangle counts there. */
static void add_compliance(sti_DenseNewton *d, const st_BlockDiag *C, const int *place)
{
    const double *x = C->x;
    for (int k = 0; k < C->n_blocks; k++) {
        const int first = C->first[k], end = C->first[k + 1];
        if (end == first + 1) { /* mostly */
            if (*x != 0 && place[first] >= 0) d->W[(int64_t)place[first] * (d->stride + 1)] += *x;
            x++;
            continue;
        }
        for (int i = first; i < end; i++)
            for (int j = first; j < end; j++, x++)
                if (place[i] >= 0 && place[j] >= place[i]) d->W[(int64_t)place[i] * d->stride + place[j]] += *x;
    }
}

/* Four rows of W from `to` on by 4 fours columns: sums over m velocities. Their numbers follow those at x and y, at
 * x_step and y_step; at: if given, at x_step and y_step times these pairs.                              */
STI_INLINE void multiply_fours(const double *x, int x_step, const double *y, int y_step, int (*at)[2], int m,
                               double *to, int stride, int rows, int fours)
{
    sti_Wide sum[STI_WIDTH][2];
    for (int l = 0; l < STI_WIDTH; l++)
        for (int c = 0; c < fours; c++)
            sum[l][c] = (sti_Wide){0};
    for (int k = 0; k < m; k++) {
        const double *own = at != NULL ? x + at[k][0] * x_step : x, *of = at != NULL ? y + at[k][1] * y_step : y;
        for (int c = 0; c < fours; c++) {
            const sti_Wide other = *(const sti_Wide *)(of + STI_WIDTH * c);
            for (int l = 0; l < STI_WIDTH; l++)
                sum[l][c] += own[l] * other;
        }
        if (at != NULL) continue;
        x += x_step;
        y += y_step;
    }
    for (int l = 0; l < STI_WIDTH && l < rows; l++)
        for (int c = 0; c < fours; c++)
            *(sti_Wide *)(to + (int64_t)l * stride + STI_WIDTH * c) = sum[l][c];
}

/* Finds the velocities that the paths of two groups share, and their positions on both paths. */
static int find_common(const sti_DenseNewton *d, const Group *one, const Group *two, int at[MOST_VELOCITIES][2])
{
    const int *path = d->path + one->path, *other = d->path + two->path;
    int m = 0;
    for (int a = one->length, b = two->length; a > 0 && b > 0;) {
        const int difference = path[a - 1] - other[b - 1];
        if (difference == 0) at[m][0] = a - 1, at[m++][1] = b - 1;
        a -= difference <= 0;
        b -= difference >= 0;
    }
    return m;
}

/* The upper triangle of Y'Y, group by group: four rows by eight columns at a time stay in registers. Only velocities on
 * both paths count. Columns that fill up a group are 0, and those of the next group replace them.       */
STI_CLONES static void multiply_groups(sti_DenseNewton *d)
{
    enum { WIDE = 2 * STI_WIDTH };
    const int stride = d->stride;
    const double *Y = d->columns + d->n_numbers;
    for (int i = 0; i < d->rows; i++) { /* after the last group */
        double *end = d->W + (int64_t)(i + 1) * stride;
        *(sti_Wide *)(end - WIDE) = *(sti_Wide *)(end - STI_WIDTH) = (sti_Wide){0};
    }
    for (int g = 0; g < d->n_groups; g++)
        for (int h = g; h < d->n_groups; h++) {
            const Group *one = &d->group[g], *two = &d->group[h];
            const int width = padded(one->n), wide = padded(two->n);
            const double *x = Y + one->at, *y = Y + two->at;
            int at[MOST_VELOCITIES][2], m = 0;
            const bool chains = one->chain && two->chain;
            if (chains) { /* they meet, and stay together up to the root: the last m of both */
                for (int w = 0; w < WORDS; w++)
                    m += __builtin_popcountll(d->above[(int64_t)one->leaf * WORDS + w] &
                                              d->above[(int64_t)two->leaf * WORDS + w]);
                x += (one->length - m) * width;
                y += (two->length - m) * wide;
            } else {
                m = find_common(d, one, two, at);
            }
            for (int i = 0; i < one->n; i += STI_WIDTH)
                for (int j = g == h ? i : 0; j < wide; j += WIDE) {
                    double *to = d->W + (int64_t)(one->first + i) * stride + two->first + j;
                    const int rows = one->n - i;
                    const bool last = j + STI_WIDTH == wide;
                    if (chains && last)
                        multiply_fours(x + i, width, y + j, wide, NULL, m, to, stride, rows, 1);
                    else if (chains)
                        multiply_fours(x + i, width, y + j, wide, NULL, m, to, stride, rows, 2);
                    else if (last)
                        multiply_fours(x + i, width, y + j, wide, at, m, to, stride, rows, 1);
                    else
                        multiply_fours(x + i, width, y + j, wide, at, m, to, stride, rows, 2);
                }
        }
}

/* x' times the columns of a group of [G H] or Y (numbers) for numbers x of all velocities: in the order of W, and zeros
 * that fill up the last four. */
STI_INLINE void columns_times(const sti_DenseNewton *d, const double *numbers, const double *x, double *out)
{
    for (int g = 0; g < d->n_groups; g++) {
        const Group *group = &d->group[g];
        const int *path = d->path + group->path, width = padded(group->n), length = group->length;
        for (int c = 0; c < width; c += STI_WIDTH) {
            const double *from = numbers + group->at + c;
            sti_Wide even = {0}, odd = {0};
            int i = 0;
            for (; i + 1 < length; i += 2, from += 2 * width) {
                even += x[path[i]] * *(const sti_Wide *)from;
                odd += x[path[i + 1]] * *(const sti_Wide *)(from + width);
            }
            if (i < length) even += x[path[i]] * *(const sti_Wide *)from;
            *(sti_Wide *)(out + group->first + c) = even + odd;
        }
    }
}

/* y += these columns times x, which is in the order of W. */
STI_INLINE void add_columns(const sti_DenseNewton *d, const double *numbers, const double *x, double *y)
{
    for (int g = 0; g < d->n_groups; g++) {
        const Group *group = &d->group[g];
        const int *path = d->path + group->path, width = padded(group->n), length = group->length;
        const double *from = numbers + group->at, *own = x + group->first;
        for (int i = 0; i < length; i++, from += width) {
            sti_Wide sum = *(const sti_Wide *)from * *(const sti_Wide *)own;
            for (int c = STI_WIDTH; c < width; c += STI_WIDTH)
                sum += *(const sti_Wide *)(from + c) * *(const sti_Wide *)(own + c);
            y[path[i]] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
}

/* b <- Y' inv(U') f, where f has the impulses of folded servos at rest. */
STI_CLONES static void multiply_forces(sti_DenseNewton *d, const st_Problem *p)
{
    double *f = d->half;
    memcpy(f, p->f, (size_t)d->n * sizeof *f);
    for (int c = 0; c < p->n_contacts && d->n_folded > 0; c++) {
        if (d->kind[c] != FOLDED) continue;
        const int row = p->contact[c].first;
        const int64_t e = p->H.p[row];
        f[p->H.i[e]] -= p->H.x[e] * p->w[row] / d->compliance[c];
    }
    solve_forward(d, f);
    columns_times(d, d->columns + d->n_numbers, f, d->b);
}

/* The upper triangle of W, and b. */
static st_Status form_rows(sti_DenseNewton *d, const st_Problem *p, st_Error *err)
{
    const int rows = d->rows, stride = d->stride;
    int next = 0;
    d->n_groups = 0;
    d->n_numbers = 0;
    STI_TRY(group_columns(d, &p->G, d->place, 0, d->m, err));
    if (d->n_linear > d->m) STI_TRY(group_columns(d, &p->H, d->place + d->m, d->m, d->n_linear, err));
    STI_TRY(group_columns(d, &p->H, d->place + d->m, d->n_linear, rows, err));
    STI_TRY(STI_GROW(&d->allocator, d->columns, d->columns_size, 2 * d->n_numbers, err));
    fill_groups(d, &p->G, d->place, 0, d->m, &next);
    if (d->n_linear > d->m) fill_groups(d, &p->H, d->place + d->m, d->m, d->n_linear, &next);
    fill_groups(d, &p->H, d->place + d->m, d->n_linear, rows, &next);
    solve_groups(d);
    multiply_groups(d);
    add_compliance(d, &p->Cb, d->place);
    add_compliance(d, &p->C, d->place + d->m);
    multiply_forces(d, p);
    for (int i = 0; i < d->m; i++)
        d->b[d->place[i]] += p->g[i];
    for (int i = 0; i < p->n_r; i++) {
        const int at = d->place[d->m + i];
        if (at >= 0) d->b[at] += p->w[i];
    }
    for (int i = 0; i < rows; i++) {
        d->own[i] = d->W[(int64_t)i * stride + i];
        d->terms[i] = fabs(d->b[i]);
    }
    return ST_OK;
}

/* Eliminate rows first .. end - 1, which are u = 0, from those after them. Row p of W stays as it was then, for
 * recover_linear; the pivot of a row that depends on others becomes 0.                                 */
STI_CLONES static int eliminate_rows(sti_DenseNewton *d, int first, int end)
{
    int dependent = 0;
    for (int p = first; p < end; p++) {
        double *row = d->W + (int64_t)p * d->stride;
        if (!(row[p] > STI_REDUNDANT_PIVOT * d->own[p])) {
            row[p] = 0;
            dependent++;
            continue;
        }
        const double over = 1 / row[p];
        for (int i = p + 1; i < d->rows; i++) {
            const double a = row[i] * over;
            if (a == 0) continue;
            subtract_scaled(a, row + i, d->W + (int64_t)i * d->stride + i, d->rows - i);
            d->b[i] -= a * d->b[p];
            d->terms[i] += fabs(a * d->b[p]);
        }
    }
    return dependent;
}

/* x of the rows first .. end - 1 that were eliminated, from those after them, for the right-hand side b. */
static void recover_linear(const sti_DenseNewton *d, int first, int end, const double *b, double *x)
{
    for (int p = end - 1; p >= first; p--) {
        const double *row = d->W + (int64_t)p * d->stride;
        double sum = b[p];
        for (int j = p + 1; j < d->rows; j++)
            sum += row[j] * x[j];
        x[p] = row[p] > 0 ? -sum / row[p] : 0;
    }
}

/* ---- residual ------------------------------------------------------------------------------------- */

/* Rows that joints hold altogether become 0: W and b after the elimination of joints. */
static void drop_held_rows(sti_DenseNewton *d, const st_Problem *p)
{
    for (int i = d->m; i < d->rows; i++) {
        double *row = d->W + (int64_t)i * d->stride;
        if (row[i] > held * d->own[i]) continue;
        for (int j = i; j < d->rows; j++)
            row[j] = 0;
        for (int j = d->m; j < i; j++)
            d->W[(int64_t)j * d->stride + i] = 0;
        if (fabs(d->b[i]) <= imposed_noise * fmax(d->terms[i], p->u_scale / STI_IDLE_SPEED)) d->b[i] = 0;
        d->own[i] = 0;
    }
}

/* rho by contact, and the scale of the natural residual (residual.c), from W and b of the others. A servo between its
 * bounds has r = -(H'v + w)/C to rounding; its rho, at least that of its own row, only weighs this rounding.  */
static void set_scales(sti_DenseNewton *d, const st_Problem *p)
{
    double square = 0, terms = 0, least = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int at = d->place[d->m + contact->first];
        double trace = 0;
        if (d->kind[c] == FOLDED) {
            const int64_t e = p->H.p[contact->first];
            trace = d->compliance[c] + p->H.x[e] * p->H.x[e] / d->mass[p->H.i[e]];
        } else if (d->kind[c] == SOFT) {
            trace = d->own[at];
        }
        for (int i = at; d->kind[c] == HARD && i < at + contact->dim; i++)
            trace += d->W[(int64_t)i * (d->stride + 1)];
        d->rho_of[c] = trace > 0 ? contact->dim / trace : 1;
        const double weight = d->rho_of[c] * d->rho_of[c];
        least += contact->dim * weight * idle * p->u_scale * idle * p->u_scale;
        for (int i = 0; d->kind[c] == HARD && i < contact->dim; i++) {
            const double w = p->w[contact->first + i], b = d->b[at + i], term = fabs(w) + fabs(b - w);
            square += weight * b * b;
            terms += weight * term * term;
        }
    }
    d->scale = sqrt(fmax(least, sqrt(square) > STI_NOISE * sqrt(terms) ? square : 0));
}

/* rho of Newton's equations by row of the others: as sti_slope_rho. */
static void set_slope_rho(sti_DenseNewton *d, const st_Problem *p)
{
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int at = d->place[d->m + contact->first] - d->n_linear;
        if (at < 0) continue;
        sti_Group group[1 + STI_MAX_GROUPS] = {{0, 1, 0}};
        const int n = contact->law == ST_LAW_CONE ? 0 : 1 + sti_law_groups(contact, group + 1);
        for (int i = 0; i < contact->dim; i++)
            d->rho[at + i] = d->rho_of[c];
        for (int g = 0; g < n; g++) {
            const int end = group[g].first + group[g].count;
            double trace = 0;
            for (int i = group[g].first; i < end; i++) {
                const int row = d->n_linear + at + i;
                trace += d->W[(int64_t)row * d->stride + row];
            }
            for (int i = group[g].first; i < end && trace > 1e-6 / d->rho[at + i]; i++)
                d->rho[at + i] = group[g].count / trace;
        }
    }
}

/* ---- Newton --------------------------------------------------------------------------------------- */

/* F of the proximal problem at r and u; returns sum |F|^2/rho. With n_active A, B and the active rows, too. */
static double evaluate_laws(sti_DenseNewton *d, const st_Problem *p, const double *r, const double *u, double alpha,
                            int *n_active)
{
    double merit = 0, shifted[ST_MAX_DIM];
    const bool slopes = n_active != NULL;
    int n = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int at = d->place[d->m + contact->first] - d->n_linear, dim = contact->dim;
        if (at < 0) continue;
        for (int i = 0; i < dim; i++)
            shifted[i] = u[at + i] + alpha / d->rho[at + i] * (r[at + i] - d->centre[at + i]);
        const bool active =
            sti_slope(contact, r + at, shifted, d->rho + at, d->F + at, slopes ? d->A + BLOCK * (int64_t)c : NULL,
                      slopes ? d->B + BLOCK * (int64_t)c : NULL);
        for (int i = 0; i < dim; i++) {
            merit += d->F[at + i] * d->F[at + i] / d->rho[at + i];
            if (active && slopes) d->active[n++] = at + i;
        }
    }
    if (slopes) *n_active = n;
    return merit;
}

/* From no impulses at all: contacts that touch, or nearly, stick. */
static void suppose_sticking(sti_DenseNewton *d, const st_Problem *p, int *n_active)
{
    double fastest = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const int at = d->place[d->m + p->contact[c].first] - d->n_linear;
        if (at >= 0 && p->contact[c].law != ST_LAW_BOUNDED) fastest = fmax(fastest, -d->u[at]);
    }
    *n_active = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int at = d->place[d->m + contact->first] - d->n_linear, dim = contact->dim;
        if (at < 0) continue;
        const bool sticks =
            contact->law == ST_LAW_BOUNDED ? d->B[BLOCK * (int64_t)c] != 0 : d->u[at] <= nearly * fastest;
        double *A = d->A + BLOCK * (int64_t)c, *B = d->B + BLOCK * (int64_t)c;
        for (int i = 0; i < dim && contact->law != ST_LAW_BOUNDED; i++) {
            d->F[at + i] = sticks ? d->rho[at + i] * d->u[at + i] : 0;
            for (int k = 0; k < dim; k++) {
                A[i * dim + k] = i == k && !sticks ? 1 : 0;
                B[i * dim + k] = i == k && sticks ? d->rho[at + i] : 0;
            }
        }
        for (int i = 0; i < dim && sticks; i++)
            d->active[(*n_active)++] = at + i;
    }
}

/* P F = L U with the right-hand side as column n; x ends in that column. Rows `stride` apart. */
STI_CLONES static bool solve_system(double *F, int n, int stride)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(F[(int64_t)i * stride + k]) > fabs(F[(int64_t)best * stride + k])) best = i;
        double *row = F + (int64_t)k * stride, *other = F + (int64_t)best * stride;
        if (!(fabs(other[k]) > 1e-300)) return false;
        for (int j = k; j <= n && best != k; j++) {
            const double swap = row[j];
            row[j] = other[j];
            other[j] = swap;
        }
        const double over = 1 / row[k];
        for (int i = k + 1; i < n; i++) { /* columns up to k are done with */
            double *to = F + (int64_t)i * stride;
            if (to[k] != 0) subtract_fours(to[k] * over, row, to, k + 1, n + 1);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *row = F + (int64_t)k * stride;
        double sum = row[n];
        for (int j = k + 1; j < n; j++)
            sum -= row[j] * F[(int64_t)j * stride + n];
        F[(int64_t)k * stride + n] = sum / row[k];
    }
    return true;
}

/* Four pivots from k on of a symmetric matrix, of which only the upper triangle is used, with the right-hand side as
 * column n: each row after them is read and written once for all four. */
STI_INLINE bool eliminate_four(double *J, int stride, int k, int n, const double *least)
{
    double *row[STI_WIDTH], over[STI_WIDTH];
    for (int p = 0; p < STI_WIDTH; p++) {
        row[p] = J + (int64_t)(k + p) * stride;
        for (int e = 0; e < p; e++)
            subtract_fours(row[e][k + p] * over[e], row[e], row[p], k + p, n + 1);
        if (!(row[p][k + p] > least[k + p])) return false;
        over[p] = 1 / row[p][k + p];
    }
    const double *x = row[0], *y = row[1], *z = row[2], *w = row[3];
    int i = k + STI_WIDTH;
    for (; i + 1 < n; i += 2) {
        const double a = x[i] * over[0], b = y[i] * over[1], c = z[i] * over[2], e = w[i] * over[3],
                     a_1 = x[i + 1] * over[0], b_1 = y[i + 1] * over[1], c_1 = z[i + 1] * over[2],
                     e_1 = w[i + 1] * over[3];
        double *to = J + (int64_t)i * stride, *below = to + stride;
        for (int j = i & ~3; j <= n; j += STI_WIDTH) {
            const sti_Wide x_j = *(const sti_Wide *)(x + j), y_j = *(const sti_Wide *)(y + j),
                           z_j = *(const sti_Wide *)(z + j), w_j = *(const sti_Wide *)(w + j);
            *(sti_Wide *)(to + j) = *(const sti_Wide *)(to + j) - a * x_j - b * y_j - c * z_j - e * w_j;
            *(sti_Wide *)(below + j) = *(const sti_Wide *)(below + j) - a_1 * x_j - b_1 * y_j - c_1 * z_j - e_1 * w_j;
        }
    }
    for (; i < n; i++)
        for (int p = 0; p < STI_WIDTH; p++)
            subtract_fours(row[p][i] * over[p], row[p], J + (int64_t)i * stride, i, n + 1);
    return true;
}

/* Rows of contacts that stick come first: there A = 0 and B = diag(rho), so that
 *
 *     (S + alpha E)_ss d_s + S_sg d_g = -F_s/rho - c_s         c: the part of the rows that are known
 *     B (S_gs d_s + S_gg d_g + c_g) + (A + alpha B E) d_g = -F_g
 *
 * and d_s is eliminated by a symmetric factor, of which only the upper triangle is formed. Sliding contacts are left
 * for a factor with pivots. False: a pivot is lost in rounding; `all`: nothing is treated as sticking.     */
STI_CLONES static bool solve_active(sti_DenseNewton *d, const st_Problem *p, double alpha, int n, bool all)
{
    const int stride = d->stride;
    const double *S = d->W + (int64_t)d->n_linear * (stride + 1); /* full by now */
    int n_sticking = 0, n_sliding = 0, sliding[MOST_ROWS], contact_of[MOST_ROWS];
    double least[MOST_ROWS];
    for (int c = 0, row = 0; c < p->n_contacts && row < n; c++) {
        const int at = d->place[d->m + p->contact[c].first] - d->n_linear, dim = p->contact[c].dim;
        if (at < 0 || d->active[row] != at) continue;
        const double *A = d->A + BLOCK * (int64_t)c;
        bool sticks = !all;
        for (int i = 0; i < dim * dim && sticks; i++)
            sticks = A[i] == 0;
        for (int i = 0; i < dim; i++, row++)
            if (sticks)
                d->active[n_sticking++] = at + i;
            else
                contact_of[n_sliding] = c, sliding[n_sliding++] = at + i;
    }
    memcpy(d->active + n_sticking, sliding, (size_t)n_sliding * sizeof *sliding);
    int run_at[MOST_ROWS + 1], n_runs = 0; /* where rows side by side begin: they are copied together */
    for (int k = 0; k < n; k++)
        if (k == 0 || d->active[k] != d->active[k - 1] + 1) run_at[n_runs++] = k;
    run_at[n_runs] = n;
    for (int k = 0, first = 0; k < n; k++) {
        const int at = d->active[k];
        const double *from = S + (int64_t)at * stride;
        double *to = d->J + (int64_t)k * stride;
        first += k == run_at[first + 1];
        for (int run = first; run < n_runs; run++) /* fours end in the next run, or after n */
            for (int j = run == first ? k & ~3 : run_at[run], shift = d->active[run_at[run]] - run_at[run];
                 j < run_at[run + 1]; j += STI_WIDTH)
                *(sti_Wide *)(to + j) = *(const sti_Wide *)(from + shift + j);
        to[n] = -d->step_u[at];
        if (k >= n_sticking) continue;
        least[k] = 1e-13 * to[k];
        to[k] += alpha / d->rho[at];
        to[n] -= d->F[at] / d->rho[at];
    }
    int begin = 0;
    for (; begin + STI_WIDTH <= n_sticking; begin += STI_WIDTH)
        if (!eliminate_four(d->J, stride, begin, n, least)) return false;
    for (int k = begin; k < n_sticking; k += 2) { /* two pivots at a time: each row is read and written once for both */
        double *row = d->J + (int64_t)k * stride, *next = row + stride;
        if (!(row[k] > least[k])) return false;
        const double over = 1 / row[k];
        if (k + 1 < n) subtract_fours(row[k + 1] * over, row, next, k + 1, n + 1);
        if (k + 1 == n_sticking) {
            for (int i = k + 2; i < n; i++)
                subtract_fours(row[i] * over, row, d->J + (int64_t)i * stride, i, n + 1);
            break;
        }
        if (!(next[k + 1] > least[k + 1])) return false;
        const double over_next = 1 / next[k + 1];
        int i = k + 2;
        for (; i + 1 < n; i += 2) { /* and two rows */
            const double a = row[i] * over, b = next[i] * over_next, c = row[i + 1] * over, e = next[i + 1] * over_next;
            double *to = d->J + (int64_t)i * stride, *below = to + stride;
            for (int j = i & ~3; j <= n; j += STI_WIDTH) {
                const sti_Wide x = *(const sti_Wide *)(row + j), y = *(const sti_Wide *)(next + j);
                *(sti_Wide *)(to + j) = *(const sti_Wide *)(to + j) - a * x - b * y;
                *(sti_Wide *)(below + j) = *(const sti_Wide *)(below + j) - c * x - e * y;
            }
        }
        for (; i < n; i++) {
            subtract_fours(row[i] * over, row, d->J + (int64_t)i * stride, i, n + 1);
            subtract_fours(next[i] * over_next, next, d->J + (int64_t)i * stride, i, n + 1);
        }
    }
    if (n_sliding > 0) {
        for (int i = n_sticking; i < n; i++)
            for (int j = n_sticking; j < i; j++)
                d->J[(int64_t)i * stride + j] = d->J[(int64_t)j * stride + i];
        for (int i = 0; i < n_sliding; i++) {
            const int c = contact_of[i], dim = p->contact[c].dim;
            const int at = d->place[d->m + p->contact[c].first] - d->n_linear, part = sliding[i] - at;
            const double *A = d->A + BLOCK * (int64_t)c + part * dim, *B = d->B + BLOCK * (int64_t)c + part * dim;
            double *to = d->K + (int64_t)i * stride;
            memset(to, 0, (size_t)padded(n_sliding + 1) * sizeof *to);
            for (int k = 0; k < dim; k++) {
                const double *from = d->J + (int64_t)(n_sticking + i - part + k) * stride + n_sticking;
                if (B[k] != 0) subtract_filled(-B[k], from, to, n_sliding + 1);
            }
            for (int k = 0; k < dim; k++)
                to[i - part + k] += A[k] + alpha / d->rho[at + k] * B[k];
            to[n_sliding] -= d->F[sliding[i]];
        }
        if (!solve_system(d->K, n_sliding, stride)) return false;
        for (int i = 0; i < n_sliding; i++)
            d->J[(int64_t)(n_sticking + i) * stride + n] = d->K[(int64_t)i * stride + n_sliding];
    }
    double known[MOST_ROWS + 1];
    for (int i = n_sticking; i < n; i++)
        known[i] = d->J[(int64_t)i * stride + n];
    for (int k = n_sticking - 1; k >= 0; k--) { /* the last ones found come last, one by one: the sum waits for them */
        double *row = d->J + (int64_t)k * stride, sum = row[n];
        const int near_end = k + 1 + STI_WIDTH < n ? k + 1 + STI_WIDTH : n;
        if (near_end < n) sum -= dot_range(row, known, near_end, n);
        for (int j = near_end - 1; j > k; j--)
            sum -= row[j] * known[j];
        known[k] = row[n] = sum / row[k];
    }
    return true;
}

/* The step d and S d. */
STI_CLONES static bool find_step(sti_DenseNewton *d, const st_Problem *p, double alpha, int n_active)
{
    const int n = d->rows - d->n_linear, stride = d->stride;
    const double *S = d->W + (int64_t)d->n_linear * (stride + 1);
    for (int i = 0; i < n; i++)
        d->step[i] = -d->F[i];
    for (int k = 0; k < n_active; k++)
        d->step[d->active[k]] = 0;
    memset(d->step_u, 0, (size_t)n * sizeof *d->step_u);
    int known_at[MOST_ROWS + 1], n_known = 0; /* effect of the rows that are known */
    double known[MOST_ROWS + 1];
    for (int j = 0; j < n; j++) {
        known_at[n_known] = j;
        known[n_known] = d->step[j];
        n_known += d->step[j] != 0;
    }
    add_rows(S, stride, known_at, known, n_known, d->step_u, n);
    if (!solve_active(d, p, alpha, n_active, false)) {
        int at = 0; /* in their own order again */
        for (int i = 0; i < n; i++)
            d->trial[i] = 0;
        for (int k = 0; k < n_active; k++)
            d->trial[d->active[k]] = 1;
        for (int i = 0; i < n; i++)
            if (d->trial[i] != 0) d->active[at++] = i;
        if (!solve_active(d, p, alpha, n_active, true)) return false;
    }
    for (int k = 0; k < n_active; k++)
        d->step[d->active[k]] = known[k] = d->J[(int64_t)k * stride + n_active];
    add_rows(S, stride, d->active, known, n_active, d->step_u, n);
    return true;
}

/* u = S r + b of the others. */
STI_CLONES static void velocities_of_others(const sti_DenseNewton *d, const double *r, double *u)
{
    const int n = d->rows - d->n_linear;
    const double *S = d->W + (int64_t)d->n_linear * (d->stride + 1);
    int at[MOST_ROWS + 1], m = 0;
    double known[MOST_ROWS + 1];
    memcpy(u, d->b + d->n_linear, (size_t)n * sizeof *u);
    for (int j = 0; j < n; j++) {
        at[m] = j;
        known[m] = r[j];
        m += r[j] != 0;
    }
    add_rows(S, d->stride, at, known, m, u, n);
}

static void project_others(const sti_DenseNewton *d, const st_Problem *p, double *r)
{
    for (int c = 0; c < p->n_contacts; c++) {
        const int at = d->place[d->m + p->contact[c].first] - d->n_linear;
        if (at >= 0) sti_law_project(&p->contact[c], r + at);
    }
}

/* Projects impulses on the sets of the laws, with unchanged normal impulses. If joints hold a contact completely, any
 * normal impulse is a solution, and friction must not change it. */
static void clip_others(const sti_DenseNewton *d, const st_Problem *p, double *r)
{
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        double *x = r + d->place[d->m + contact->first] - d->n_linear;
        if (d->place[d->m + contact->first] < d->n_linear || contact->law == ST_LAW_BOUNDED) continue;
        sti_Group group[STI_MAX_GROUPS];
        const int n = sti_law_groups(contact, group);
        x[0] = fmax(x[0], 0);
        for (int g = 0; g < n; g++) {
            const double size = sti_group_length(x + group[g].first, group[g].count), most = group[g].mu * x[0];
            for (int i = group[g].first; i < group[g].first + group[g].count && size > most; i++)
                x[i] *= most / size;
        }
    }
    project_others(d, p, r);
}

/* u of r, and its natural residual; the best r is kept. */
static void measure_r(sti_DenseNewton *d, const st_Problem *p)
{
    velocities_of_others(d, d->r, d->u);
    double sum = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const int at = d->place[d->m + p->contact[c].first] - d->n_linear;
        double natural[ST_MAX_DIM] = {0}, square = 0;
        if (at < 0) continue;
        sti_law_natural(&p->contact[c], d->r + at, d->u + at, d->rho_of[c], natural);
        for (int i = 0; i < p->contact[c].dim; i++)
            square += natural[i] * natural[i];
        sum += square;
    }
    d->measure = d->scale > 0 ? sqrt(sum) / d->scale : sqrt(sum);
    if (!(d->measure < d->least)) return;
    d->least = d->measure;
    memcpy(d->best, d->r, (size_t)(d->rows - d->n_linear) * sizeof *d->best);
}

/* The longest of `most` r + t d, t = 1, 1/2, 1/4 ... with a merit below `bound` becomes r; if there is none, the best
 * of them. False: none is finite. */
static bool search_line(sti_DenseNewton *d, const st_Problem *p, double alpha, double bound, int most)
{
    const int n = d->rows - d->n_linear;
    double least = INFINITY, best = 0, t = 1;
    if (most == 1) least = 0, best = 1; /* the step is taken, whatever its merit */
    for (int k = 0; k < most && most > 1; k++, t *= 0.5) {
        for (int i = 0; i < n; i++) {
            d->trial[i] = d->r[i] + t * d->step[i];
            d->trial_u[i] = d->u[i] + t * d->step_u[i];
        }
        const double merit = evaluate_laws(d, p, d->trial, d->trial_u, alpha, NULL);
        if (merit < least) least = merit, best = t;
        if (merit <= (1 - 1e-4 * t) * bound) break;
    }
    if (!isfinite(least)) return false;
    for (int i = 0; i < n; i++)
        d->r[i] += best * d->step[i];
    measure_r(d, p);
    return isfinite(d->measure);
}

/* One proximal problem from r, which is its centre. True: solved, or good enough. brief: not solved if a step from near
 * the solution leads far away from it. */
static bool solve_centred(sti_DenseNewton *d, const st_Problem *p, double alpha, double aim, bool brief, int most,
                          int *iterations)
{
    const int n = d->rows - d->n_linear, watched = d->measure < near ? WATCHED : 0;
    const double start = d->measure;
    double history[MEMORY], first = 0;
    memcpy(d->centre, d->r, (size_t)n * sizeof *d->centre);
    for (int k = 0; k < INNER_STEPS && *iterations < most; k++) {
        int n_active;
        double merit = evaluate_laws(d, p, d->r, d->u, alpha, &n_active), bound = 0;
        if (k == 0) first = merit;
        if (k > 0 && merit <= inner_fall * inner_fall * first) return true;
        if (k == watched && k > 0 && merit > 0.5 * first) { /* full steps on trust did not help */
            memcpy(d->r, d->centre, (size_t)n * sizeof *d->r);
            measure_r(d, p);
            merit = evaluate_laws(d, p, d->r, d->u, alpha, &n_active);
        }
        history[k % MEMORY] = merit;
        for (int i = 0; i < MEMORY && i <= k; i++)
            bound = fmax(bound, history[i]);
        ++*iterations;
        if (!find_step(d, p, alpha, n_active) || !search_line(d, p, alpha, bound, k < watched ? 1 : LINE_STEPS))
            return false;
        if (d->least <= aim) return true;
        if (brief && start < near && d->measure > wild * start) return false;
    }
    return evaluate_laws(d, p, d->r, d->u, alpha, NULL) <= inner_fall * inner_fall * first;
}

/* r of the others, from where it is, with alpha from `alpha` on. */
static void iterate_others(sti_DenseNewton *d, const st_Problem *p, double alpha, bool cold, bool brief,
                           double tolerance, double polish, int most, int *iterations)
{
    const size_t bytes = (size_t)(d->rows - d->n_linear) * sizeof *d->r;
    int failures = 0;
    if (cold && d->least > tolerance && *iterations < most) {
        int n_active;
        memcpy(d->centre, d->r, bytes);
        evaluate_laws(d, p, d->r, d->u, 0, &n_active);
        suppose_sticking(d, p, &n_active);
        ++*iterations;
        if (!find_step(d, p, linear_alpha, n_active)) return;
        memcpy(d->r, d->step, bytes);
        clip_others(d, p, d->r);
        measure_r(d, p);
    }
    for (double aim = tolerance; d->least > aim && *iterations < most && failures < PATIENCE;) {
        const double before = d->least;
        const int start = *iterations;
        const bool solved = solve_centred(d, p, alpha, aim, brief, most, iterations);
        failures = solved && d->least < 0.9 * before ? 0 : failures + 1;
        if (d->least <= tolerance) aim = d->least < 0.1 * before ? polish : tolerance; /* while it gains tenfold */
        const int steps = *iterations - start;
        if (!solved) {
            alpha = fmin(alpha_most, 4 * alpha);
            memcpy(d->r, d->best, bytes);
            measure_r(d, p);
            if (brief) return;
        } else if (d->least > 1e-3 * before) {
            alpha = fmax(alpha_least, (steps <= 2 ? 0.1 : steps <= 5 ? 0.3 : 0.6) * alpha);
        }
    }
}

/* Are the impulses so large that their rounding hides the answer, as in a pinched overlap? */
static bool is_lost(const sti_DenseNewton *d, const st_Problem *p, double tolerance)
{
    double push = 0, weights = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const int at = d->place[d->m + p->contact[c].first] - d->n_linear;
        double square = 0;
        for (int i = 0; at >= 0 && i < p->contact[c].dim; i++)
            square += d->best[at + i] * d->best[at + i];
        push += sqrt(square / d->rho_of[c]);
        weights += p->contact[c].dim * d->rho_of[c];
    }
    return 4 * DBL_EPSILON * sqrt(weights) * push > 0.1 * tolerance * (d->scale > 0 ? d->scale : 1);
}

/* S below its diagonal, from above it: squares of four rows are transposed. */
STI_CLONES static void fill_lower_half(sti_DenseNewton *d)
{
    const int n = d->rows - d->n_linear, stride = d->stride;
    double *S = d->W + (int64_t)d->n_linear * (stride + 1);
    for (int i = 0; i < n; i += STI_WIDTH)
        for (int j = 0; j <= i; j += STI_WIDTH) {
            double *to = S + (int64_t)i * stride + j;
            const double *from = S + (int64_t)j * stride + i;
            if (j == i || i + STI_WIDTH > n) {
                for (int a = 0; a < STI_WIDTH && i + a < n; a++)
                    for (int b = 0; b < STI_WIDTH && j + b < i + a; b++)
                        to[(int64_t)a * stride + b] = from[(int64_t)b * stride + a];
                continue;
            }
            const sti_Wide x = *(const sti_Wide *)from, y = *(const sti_Wide *)(from + stride),
                           z = *(const sti_Wide *)(from + 2 * (int64_t)stride),
                           w = *(const sti_Wide *)(from + 3 * (int64_t)stride),
                           low_xy = __builtin_shufflevector(x, y, 0, 4, 2, 6),
                           high_xy = __builtin_shufflevector(x, y, 1, 5, 3, 7),
                           low_zw = __builtin_shufflevector(z, w, 0, 4, 2, 6),
                           high_zw = __builtin_shufflevector(z, w, 1, 5, 3, 7);
            *(sti_Wide *)to = __builtin_shufflevector(low_xy, low_zw, 0, 1, 4, 5);
            *(sti_Wide *)(to + stride) = __builtin_shufflevector(high_xy, high_zw, 0, 1, 4, 5);
            *(sti_Wide *)(to + 2 * (int64_t)stride) = __builtin_shufflevector(low_xy, low_zw, 2, 3, 6, 7);
            *(sti_Wide *)(to + 3 * (int64_t)stride) = __builtin_shufflevector(high_xy, high_zw, 2, 3, 6, 7);
        }
}

/* Starts from the given impulses, then from others. False: no path reached the tolerance. The first path has as
 * much regularisation as lets one step reach the tolerance if the eigenvalues of S are above 1e-4 of its diagonal:
 * almost none far from the solution, and near it enough that contacts that share a load do not exchange it at random.
 * It is short, because a path that does not succeed in a few steps rarely does. (With five steps, and then ten from
 * zero, a fallen humanoid had three times as many steps that took 40 iterations and more.) Redundant contacts whose
 * gaps differ by rounding have no solution with all of them loaded; the second path then stops at a residual that no
 * alpha reduces. If that is `enough`, the other paths are not tried: only one in 25 finds a better one. */
static bool solve_others(sti_DenseNewton *d, const st_Problem *p, double tolerance, double enough, double polish,
                         int most, int *iterations)
{
    static const struct {
        double alpha;
        int steps;
        bool cold;
    } paths[] = {{1e-10, 8, false}, {1e-4, 60, false}, {1e-3, 60, true}, {1e-2, 60, false}};
    const int n = d->rows - d->n_linear;
    const size_t bytes = (size_t)n * sizeof *d->r;
    fill_lower_half(d);
    d->least = INFINITY;
    for (size_t k = 0; k < sizeof paths / sizeof paths[0] && *iterations < most; k++) {
        if (d->least <= (k < 2 ? tolerance : fmax(tolerance, enough))) break;
        if (k > 0 && is_lost(d, p, tolerance)) return false;
        const int end = *iterations + paths[k].steps;
        if (k > 0) memcpy(d->r, d->best, bytes);
        if (paths[k].cold) memset(d->r, 0, bytes);
        bool cold = true; /* no impulses at all */
        for (int i = 0; i < n; i++)
            cold = cold && d->r[i] == 0;
        project_others(d, p, d->r);
        measure_r(d, p);
        const double alpha = k > 0 ? paths[k].alpha : fmax(paths[0].alpha, fmin(1e-4 * tolerance / d->measure, 1e-5));
        iterate_others(d, p, alpha, cold, k == 0, tolerance, polish, end < most ? end : most, iterations);
    }
    memcpy(d->r, d->best, bytes);
    bool dropped = false;
    for (int c = 0; c < p->n_contacts; c++) {
        const int at = d->place[d->m + p->contact[c].first];
        if (at < d->n_linear) continue;
        if (sti_law_drop_held(&p->contact[c], d->W + (int64_t)at * (d->stride + 1), d->stride, d->r + at - d->n_linear))
            dropped = true;
    }
    if (dropped) measure_r(d, p);
    if (dropped && d->measure > fmax(tolerance, d->least)) memcpy(d->r, d->best, bytes);
    return d->least <= tolerance;
}

/* ---- the judge ------------------------------------------------------------------------------------ */

/* The impulses of servos that are folded, at v. */
STI_INLINE void set_folded(sti_DenseNewton *d, const st_Problem *p)
{
    for (int c = 0; c < p->n_contacts && d->n_folded > 0; c++) {
        if (d->kind[c] != FOLDED) continue;
        const int row = p->contact[c].first;
        const int64_t e = p->H.p[row];
        d->r_all[row] = -(p->H.x[e] * d->v[p->H.i[e]] + p->w[row]) / d->compliance[c];
    }
}

/* Computes v from the impulses x (in the order of W) and the impulses of servos: one triangular solve, which starts
 * from inv(U') f + Y x, and one step of iterative refinement. */
STI_CLONES static void judge_velocities(sti_DenseNewton *d, const st_Problem *p)
{
    const int n = d->n;
    for (int i = 0; i < STI_WIDTH; i++)
        d->x[d->rows + i] = 0; /* what fills up the last group */
    memcpy(d->momentum, p->f, (size_t)n * sizeof *d->momentum);
    add_columns(d, d->columns, d->x, d->momentum);
    memcpy(d->v, d->half, (size_t)n * sizeof *d->v);
    add_columns(d, d->columns + d->n_numbers, d->x, d->v);
    solve_backward(d, d->v);
    set_folded(d, p);
    memcpy(d->rest, d->momentum, (size_t)n * sizeof *d->rest);
    for (int c = 0; c < p->n_contacts && d->n_folded > 0; c++) {
        const int row = p->contact[c].first;
        const int64_t e = p->H.p[row];
        if (d->kind[c] == FOLDED) d->rest[p->H.i[e]] += p->H.x[e] * d->r_all[row];
    }
    const double *numbers = p->A.x; /* rest -= A v, from the lower triangle */
    for (int b = 0; b < p->A.n_blocks; b++) {
        const int first = p->A.first[b], size = p->A.first[b + 1] - first;
        const bool diagonal = sti_block_marked(&p->A, b);
        for (int k = first; k < first + size && !diagonal; k++)
            subtract_range(d->v[k], numbers + (int64_t)(k - first) * size - first, d->rest, first, k);
        for (int k = first; k < first + size; k++) {
            const double *row = numbers + (int64_t)(k - first) * size - first;
            d->rest[k] -= d->mass[k] * d->v[k] + (diagonal ? 0 : dot_range(row, d->v, first, k));
        }
        numbers += diagonal ? size : (int64_t)size * size;
    }
    solve_forward(d, d->rest);
    solve_backward(d, d->rest);
    for (int i = 0; i < n; i++)
        d->v[i] += d->rest[i];
    set_folded(d, p);
}

/* [G H]'v in the order of W. */
STI_CLONES static void velocities_of_rows(const sti_DenseNewton *d, double *out)
{
    columns_times(d, d->columns, d->v, out);
}

/* G'v + Cb l + g into e; returns the largest. G_v: G'v */
static double joint_errors(const st_Problem *p, const double *G_v, const double *l, double *e)
{
    double most = 0;
    const double *x = p->Cb.x;
    for (int j = 0; j < p->n_l; j++)
        e[j] = p->g[j] + G_v[j];
    for (int k = 0; k < p->Cb.n_blocks; k++)
        for (int i = p->Cb.first[k]; i < p->Cb.first[k + 1]; i++)
            for (int j = p->Cb.first[k]; j < p->Cb.first[k + 1]; j++)
                e[i] += *x++ * l[j];
    for (int j = 0; j < p->n_l; j++)
        most = fmax(most, fabs(e[j]));
    return most;
}

/* Computes joint impulses again from the remaining error; contact impulses are unchanged. */
static void refine_joints(sti_DenseNewton *d, const double *e)
{
    for (int j = 0; j < d->m; j++)
        d->b[j] = e[j];
    for (int q = 0; q < d->m; q++) { /* as eliminate_rows treated b */
        const double *row = d->W + (int64_t)q * d->stride;
        for (int i = q + 1; i < d->m && row[q] > 0; i++)
            d->b[i] -= row[i] / row[q] * d->b[q];
    }
    for (int q = d->m - 1; q >= 0; q--) {
        const double *row = d->W + (int64_t)q * d->stride;
        double sum = d->b[q];
        for (int j = q + 1; j < d->m; j++)
            sum += row[j] * d->x[j];
        d->x[q] = row[q] > 0 ? -sum / row[q] : 0;
    }
    for (int j = 0; j < d->m; j++)
        d->l[j] += d->x[j];
}

/* Could rounding of W r hide that r is no solution (certify.c)? */
static double rounding_of(const sti_DenseNewton *d, const st_Problem *p)
{
    double push = 0, own = 0, weights = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        double square = 0;
        for (int i = p->contact[c].first; i < p->contact[c].first + p->contact[c].dim; i++)
            square += d->r_all[i] * d->r_all[i];
        push += sqrt(square / d->rho_of[c]);
        own += square;
        weights += p->contact[c].dim * d->rho_of[c];
    }
    return 4 * DBL_EPSILON * (sqrt(weights) * push + sqrt(own)) / (d->scale > 0 ? d->scale : 1);
}

static void judge_all(sti_DenseNewton *d, const st_Problem *p, st_Residual *out)
{
    sti_GraphError error = {0};
    *out = (st_Residual){.worst_contact = -1};
    if (d->m > 0) {
        velocities_of_rows(d, d->trial);
        out->joint = joint_errors(p, d->trial, d->l, d->F);
        refine_joints(d, d->F);
        memcpy(d->x, d->l, (size_t)d->m * sizeof *d->x);
        judge_velocities(d, p);
    }
    velocities_of_rows(d, d->trial);
    if (d->m > 0) out->joint = joint_errors(p, d->trial, d->l, d->F);
    for (int j = 0; j < p->n_r; j++) {
        const int at = d->place[d->m + j];
        const int64_t e = p->H.p[j];
        d->u_all[j] = p->w[j] + (at >= 0 ? d->trial[at] : p->H.x[e] * d->v[p->H.i[e]]);
    }
    const double *x = p->C.x;
    for (int k = 0; k < p->C.n_blocks; k++) {
        const int first = p->C.first[k], end = p->C.first[k + 1];
        if (end == first + 1) { /* mostly */
            d->u_all[first] += *x++ * d->r_all[first];
            continue;
        }
        for (int i = first; i < end; i++)
            for (int j = first; j < end; j++)
                d->u_all[i] += *x++ * d->r_all[j];
    }
    for (int j = 0; j < p->n_r; j++) /* a row that joints hold: whatever r */
        if (d->place[d->m + j] >= 0 && d->own[d->place[d->m + j]] == 0) d->u_all[j] = d->b[d->place[d->m + j]];
    for (int c = 0; c < p->n_contacts; c++) {
        const int row = p->contact[c].first;
        const double shifted = d->rho_of[c] * d->u_all[row], r = d->r_all[row];
        const bool inside = d->kind[c] != HARD && r - shifted >= p->contact[c].lo && r - shifted <= p->contact[c].hi;
        if (inside && shifted * shifted <= error.worst) {
            /* a servo between its bounds, and not the worst of all: the sums of sti_residual_contact() */
            const double limit = d->u_all[row] > 0 ? p->contact[c].lo : p->contact[c].hi;
            error.sum += shifted * shifted;
            out->complementarity += fabs((isinf(limit) ? r : r - limit) * d->u_all[row]);
            continue;
        }
        sti_residual_contact(p, c, d->r_all, d->u_all, d->rho_of[c], &error, out);
    }
    out->natural = d->scale > 0 ? sqrt(error.sum) / d->scale : sqrt(error.sum);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

/* Impulses where they belong, and v: joints, servos and others. Returns whether a servo is outside its bounds, which
 * makes it hard.                                                                                     */
static bool collect_impulses(sti_DenseNewton *d, const st_Problem *p)
{
    bool outside = false;
    memcpy(d->x + d->n_linear, d->r, (size_t)(d->rows - d->n_linear) * sizeof *d->x);
    recover_linear(d, 0, d->n_linear, d->b, d->x);
    for (int j = 0; j < d->m; j++)
        d->l[j] = d->x[j];
    for (int i = 0; i < p->n_r; i++)
        if (d->place[d->m + i] >= 0) d->r_all[i] = d->x[d->place[d->m + i]];
    judge_velocities(d, p);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        double *r = &d->r_all[contact->first];
        if (d->kind[c] == HARD || (*r >= contact->lo && *r <= contact->hi)) continue;
        *r = *r < contact->lo ? contact->lo : contact->hi;
        d->kind[c] = HARD;
        outside = true;
    }
    return outside;
}

st_Status sti_dense_newton_solve(sti_DenseNewton *d, const st_Problem *p, double tolerance, double enough,
                                 double polish, int max_iterations, const double *start, st_Solution *solution,
                                 st_SolveInfo *info, bool *solved, st_Error *err)
{
    int iterations = 0;
    *solved = false;
    STI_TRY(dense_room(d, p, err));
    memset(d->kind, HARD, (size_t)p->n_contacts); /* bounded rows without compliance, or at a bound at the start, too */
    const double *compliance = p->C.x;
    for (int k = 0, c = 0; k < p->C.n_blocks; k++) {
        const int row = p->C.first[k], size = p->C.first[k + 1] - row;
        while (c < p->n_contacts && p->contact[c].first + p->contact[c].dim <= row)
            c++;
        const st_ContactLaw *contact = &p->contact[c];
        const double r = start != NULL ? start[row] : 0;
        if (contact->law == ST_LAW_BOUNDED && *compliance > 0 && r > contact->lo && r < contact->hi) {
            d->kind[c] = SOFT;
            d->compliance[c] = *compliance;
        }
        compliance += size * size;
    }
    find_chains(d, p);
    for (int i = 0; i < p->n_r; i++)
        d->r_all[i] = start != NULL ? start[i] : 0;
    bool outside = true;
    for (int round = 0; round < MOST_ROUNDS && outside; round++) {
        if (round == MOST_ROUNDS - 1) memset(d->kind, HARD, (size_t)p->n_contacts);
        order_rows(d, p);
        if (!factor_masses(d, p)) return ST_OK;
        STI_TRY(form_rows(d, p, err));
        d->redundant = eliminate_rows(d, 0, d->m);
        if (d->m > 0) drop_held_rows(d, p);
        eliminate_rows(d, d->m, d->n_linear);
        set_scales(d, p);
        set_slope_rho(d, p);
        for (int i = 0; i < p->n_r; i++)
            if (d->place[d->m + i] >= d->n_linear) d->r[d->place[d->m + i] - d->n_linear] = d->r_all[i];
        const bool found = solve_others(d, p, tolerance, enough, polish, max_iterations, &iterations);
        outside = collect_impulses(d, p);
        if (found || (d->least <= enough && !outside)) continue;
        if (start != NULL && d->least < near && !outside) /* the next solver begins where this one gave up */
            memcpy(solution->r, d->r_all, (size_t)p->n_r * sizeof *solution->r);
        return ST_OK;
    }
    st_Residual residual;
    if (sti_release_opposite_rows(p, d->r_all)) {
        for (int i = 0; i < p->n_r; i++)
            if (d->place[d->m + i] >= 0) d->x[d->place[d->m + i]] = d->r_all[i];
        judge_velocities(d, p);
    }
    judge_all(d, p, &residual);
    if (outside || !(residual.natural <= fmax(enough, tolerance)) || !(rounding_of(d, p) <= 0.1 * tolerance) ||
        !sti_joints_are_met(p, d->v, residual.joint, tolerance, false))
        return ST_OK;
    memcpy(solution->r, d->r_all, (size_t)p->n_r * sizeof *solution->r);
    if (solution->u != NULL) memcpy(solution->u, d->u_all, (size_t)p->n_r * sizeof *solution->u);
    if (solution->v != NULL) memcpy(solution->v, d->v, (size_t)p->n_v * sizeof *solution->v);
    if (solution->l != NULL && p->n_l > 0) memcpy(solution->l, d->l, (size_t)p->n_l * sizeof *solution->l);
    if (info != NULL)
        *info = (st_SolveInfo){.solver = "newton",
                               .converged = residual.natural <= tolerance,
                               .iterations = iterations,
                               .start = -1,
                               .work = iterations + 1,
                               .redundant_rows = d->redundant,
                               .residual = residual};
    *solved = true;
    return ST_OK;
}
