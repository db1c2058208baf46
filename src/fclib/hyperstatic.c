/* hyperstatic.c -- which contact impulses a problem determines, and the smallest of those it does not.
 *
 * A solution has a velocity u and impulses r. If contacts are redundant, u is unique and r is not. With the
 * active directions of the contacts as the columns of B,
 *
 *     sticks   all of (r_n, r_T)       slides   (1, -mu u_T/|u_T|) r_n       open   nothing
 *
 * every r = B z with W B z = u - q and r in the cones is a solution. QR with column pivoting (Golub & Van
 * Loan 2013, section 5.4) of the columns of W B gives the rank, and N with W B N = 0. (For a step problem without
 * compliance, A^(-1/2) H B has the same null space.) A component is determined if its row of B N is 0.
 * Cones may determine more: a foot that can only push, at zero.
 *
 * Rigid bodies are the limit of stiff ones: contacts with compliance s C, s -> 0, select the solution with the least
 * r'C r (Preclik, Popa & Ruede 2011, PPR eq. 9). It is found as  min z'D z,  z = z0 + N y,  B z in the cones,  by the
 * alternating direction method, which minimises the quadratic on the affine set and projects on the cones in turn. */
#include "fclib/hyperstatic.h"

#include "fclib/fclib.h"
#include "linalg/joint_graph.h"
#include "problem/law.h"

enum { MOST_ROUNDS = 50000 };
/* Rank: a column this small against the largest depends on others (files hold six digits, scenes sixteen). */
static const double default_tolerance = 1e-9;
/* Velocities below this, against the largest of u and q, are zero: the contact touches, or sticks. */
static const double still = 1e-6;

#define GROW(name, n) STI_TRY(STI_GROW(&a->allocator, a->name, a->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&a->allocator, a->name, a->name##_size)

/* Directions first[c] .. first[c+1]-1 belong to contact c: its normal (with the friction of sliding), then free
 * tangents, each a unit vector at row `unit`. */
struct sti_Hyperstatic {
    st_Allocator allocator;
    const sti_Open *open;
    int n, rank; /* number of directions; rank of their velocities */
    STI_ARRAY(int, first);
    STI_ARRAY(int, unit);
    STI_ARRAY(double, along);  /* n_r: the normal direction of each contact                          */
    STI_ARRAY(double, vector); /* n_r: an impulse                                                   */
    STI_ARRAY(double, A);      /* n columns of n_moved: velocities of the directions, then R */
    STI_ARRAY(double, tau);
    STI_ARRAY(int, order);
    STI_ARRAY(double, N); /* (n - rank) columns of n                                                */
    STI_ARRAY(double, factor);
    STI_ARRAY(double, z0); /* the solution given, in the directions; the rest likewise, n each       */
    STI_ARRAY(double, d);
    STI_ARRAY(double, x);
    STI_ARRAY(double, k);
    STI_ARRAY(double, l);
    STI_ARRAY(double, target);
    STI_ARRAY(double, y);
};
typedef sti_Hyperstatic Active;

static double vector_length(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* ------------------------------------------------------------------ active directions */

static bool takes_part(const Active *a, const st_ContactLaw *contact)
{
    if (contact->law == ST_LAW_BOUNDED) return contact->lo == -INFINITY && contact->hi == INFINITY;

    /* The distance from a closed contact: u_n; for the cone law less the lift that sliding causes. */
    const double *u = a->open->u + contact->first;
    sti_Group group[STI_MAX_GROUPS];
    const int n = contact->law == ST_LAW_CONE ? sti_law_groups(contact, group) : 0;
    double sum = u[0];
    for (int g = 0; g < n; g++)
        sum -= group[g].mu * vector_length(u + group[g].first, group[g].count);
    return fabs(sum) <= a->open->still;
}

static st_Status find_directions(Active *a, st_Error *err)
{
    const sti_Open *open = a->open;
    GROW(first, (int64_t)open->n_contacts + 1);
    GROW(unit, open->n_r);
    GROW(along, open->n_r);
    memset(a->along, 0, (size_t)open->n_r * sizeof *a->along);
    a->n = a->rank = 0;
    for (int c = 0; c < open->n_contacts; c++) {
        const st_ContactLaw *contact = &open->contact[c];
        sti_Group group[STI_MAX_GROUPS];
        const int n = sti_law_groups(contact, group);
        a->first[c] = a->n;
        if (!takes_part(a, contact)) continue;
        a->along[contact->first] = 1.0;
        a->unit[a->n++] = -1;
        for (int g = 0; g < n; g++) {
            /* One group of a contact. If it slides, it is part of the normal's direction; otherwise it has free
             * directions. */
            const double *u = a->open->u, speed = vector_length(u + contact->first + group[g].first, group[g].count);
            for (int k = contact->first + group[g].first; k < contact->first + group[g].first + group[g].count; k++)
                if (speed > a->open->still)
                    a->along[k] = -group[g].mu * u[k] / speed;
                else if (group[g].mu > 0.0)
                    a->unit[a->n++] = k;
        }
    }
    a->first[open->n_contacts] = a->n;
    return ST_OK;
}

/* r += B z of contact c. */
static void add_directions(const Active *a, int c, const double *z, double *r)
{
    const st_ContactLaw *contact = &a->open->contact[c];
    for (int j = a->first[c]; j < a->first[c + 1]; j++) {
        if (a->unit[j] >= 0)
            r[a->unit[j]] += z[j];
        else
            for (int k = contact->first; k < contact->first + contact->dim; k++)
                r[k] += a->along[k] * z[j];
    }
}

/* ------------------------------------------------------------------ rank and null space */

/* Householder's reflection that leaves x[0] alone of x: x becomes its vector (x[0] = 1 implied), tau its factor. */
static double reflector(double *x, int n, double *tau)
{
    const double length = vector_length(x, n), head = x[0];
    *tau = 0.0;
    if (!(length > 0.0)) return 0.0;
    const double beta = head > 0.0 ? -length : length;
    for (int i = 1; i < n; i++)
        x[i] /= head - beta;
    *tau = (beta - head) / beta;
    return beta;
}

static void qr_with_pivots(Active *a)
{
    const int m = a->open->n_moved;
    const double tolerance = a->open->tolerance;
    double largest = 0.0;
    for (int j = 0; j < a->n; j++)
        a->order[j] = j;
    for (int k = 0; k < a->n && k < m; k++) {
        int best = k;
        double best_norm = -1.0;
        for (int j = k; j < a->n; j++) {
            const double size = vector_length(a->A + (int64_t)a->order[j] * m + k, m - k);
            if (size > best_norm) best = j, best_norm = size;
        }
        if (k == 0) largest = best_norm;
        if (!(best_norm > tolerance * largest)) break;
        const int chosen = a->order[best];
        a->order[best] = a->order[k];
        a->order[k] = chosen;
        double *x = a->A + (int64_t)chosen * m + k;
        const double beta = reflector(x, m - k, &a->tau[k]);
        x[0] = 1.0;
        for (int j = k + 1; j < a->n; j++) {
            double *y = a->A + (int64_t)a->order[j] * m + k, dot = 0.0;
            for (int i = 0; i < m - k; i++)
                dot += x[i] * y[i];
            for (int i = 0; i < m - k; i++)
                y[i] -= a->tau[k] * dot * x[i];
        }
        x[0] = beta;
        a->rank = k + 1;
    }
}

static void find_determined(const Active *a, bool *determined, st_Determined *out)
{
    const sti_Open *open = a->open;
    *out = (st_Determined){.active_rows = a->n, .rank = a->rank};
    for (int c = 0; c < open->n_contacts; c++) {
        const int first = open->contact[c].first, dim = open->contact[c].dim;
        double most[ST_MAX_DIM] = {0};
        bool all = true;
        for (int t = 0; t < a->n - a->rank; t++) {
            const double *N = a->N + (int64_t)t * a->n, size = vector_length(N, a->n);
            memset(a->vector + first, 0, (size_t)dim * sizeof *a->vector);
            add_directions(a, c, N, a->vector);
            for (int k = 0; k < dim; k++)
                most[k] = fmax(most[k], fabs(a->vector[first + k]) / size);
        }
        for (int k = 0; k < dim; k++) {
            const bool same = most[k] < still;
            if (determined != NULL) determined[first + k] = same;
            all = all && same;
        }
        if (!all && open->contact[c].law != ST_LAW_BOUNDED) out->undetermined_contacts++;
    }
}

/* ------------------------------------------------------------------ the least */

static void find_least(Active *a)
{
    double sigma = 0.0, scale = vector_length(a->z0, a->n);
    for (int j = 0; j < a->n; j++)
        sigma += a->d[j] / a->n;

    /* L L' = N' (D + sigma) N, lower triangle in `factor`. */
    const int k = a->n - a->rank;
    for (int i = 0; i < k; i++)
        for (int j = 0; j <= i; j++) {
            const double *x = a->N + (int64_t)i * a->n, *y = a->N + (int64_t)j * a->n;
            double sum = 0.0;
            for (int t = 0; t < a->n; t++)
                sum += x[t] * (a->d[t] + sigma) * y[t];
            for (int t = 0; t < j; t++)
                sum -= a->factor[(int64_t)i * k + t] * a->factor[(int64_t)j * k + t];
            a->factor[(int64_t)i * k + j] = i == j ? sqrt(sum) : sum / a->factor[(int64_t)j * k + j];
        }

    memcpy(a->k, a->z0, (size_t)a->n * sizeof *a->k);
    double *target = a->target;
    memset(a->l, 0, (size_t)a->n * sizeof *a->l);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double apart = 0.0, moved = 0.0;
        for (int j = 0; j < a->n; j++)
            target[j] = a->k[j] - a->l[j];

        /* x = z0 + N y with the least (x, D x)/2 + sigma/2 |x - target|^2. */
        double *y = a->y;
        for (int j = 0; j < k; j++) {
            const double *N = a->N + (int64_t)j * a->n;
            double sum = 0.0;
            for (int t = 0; t < a->n; t++)
                sum += N[t] * (sigma * target[t] - (a->d[t] + sigma) * a->z0[t]);
            for (int t = 0; t < j; t++)
                sum -= a->factor[(int64_t)j * k + t] * y[t];
            y[j] = sum / a->factor[(int64_t)j * k + j];
        }
        for (int j = k - 1; j >= 0; j--) {
            for (int t = j + 1; t < k; t++)
                y[j] -= a->factor[(int64_t)t * k + j] * y[t];
            y[j] /= a->factor[(int64_t)j * k + j];
        }
        memcpy(a->x, a->z0, (size_t)a->n * sizeof *a->x);
        for (int j = 0; j < k; j++)
            for (int t = 0; t < a->n; t++)
                a->x[t] += a->N[(int64_t)j * a->n + t] * y[j];

        for (int j = 0; j < a->n; j++) {
            target[j] = a->k[j];
            a->k[j] = a->x[j] + a->l[j];
        }
        for (int c = 0; c < a->open->n_contacts; c++) {
            /* Projection of the directions of contact c on its cone: normal z_n >= 0, each group of free tangents at
             * most mu z_n. Tangents that slide go with the normal and have no length of their own.                  */
            const int n = a->first[c], end = a->first[c + 1], row = a->open->contact[c].first;
            double x[ST_MAX_DIM] = {0};
            if (n == end) continue;
            x[0] = a->k[n];
            for (int j = n + 1; j < end; j++)
                x[a->unit[j] - row] = a->k[j];
            sti_law_project(&a->open->contact[c], x);
            a->k[n] = x[0];
            for (int j = n + 1; j < end; j++)
                a->k[j] = x[a->unit[j] - row];
        }
        for (int j = 0; j < a->n; j++) {
            a->l[j] += a->x[j] - a->k[j];
            apart = fmax(apart, fabs(a->x[j] - a->k[j]));
            moved = fmax(moved, fabs(a->k[j] - target[j]));
        }
        if (apart <= 1e-14 * scale && moved <= 1e-14 * scale) break;
    }
}

/* ------------------------------------------------------------------ all of it */

st_Status sti_hyperstatic_create(const st_Allocator *allocator, sti_Hyperstatic **out, st_Error *err)
{
    Active *a = sti_alloc(allocator, 1, sizeof *a);
    if (a == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: forces of hyperstatic systems");
    a->allocator = *allocator;
    *out = a;
    return ST_OK;
}

void sti_hyperstatic_destroy(sti_Hyperstatic *a)
{
    if (a == NULL) return;
    const st_Allocator allocator = a->allocator;
    RELEASE(first);
    RELEASE(unit);
    RELEASE(along);
    RELEASE(vector);
    RELEASE(A);
    RELEASE(tau);
    RELEASE(order);
    RELEASE(N);
    RELEASE(factor);
    RELEASE(z0);
    RELEASE(d);
    RELEASE(x);
    RELEASE(k);
    RELEASE(l);
    RELEASE(target);
    RELEASE(y);
    sti_free(&allocator, a, 1, sizeof *a);
}

st_Status sti_hyperstatic_find(sti_Hyperstatic *a, const sti_Open *open, bool *determined, double *least,
                               st_Determined *out, st_Error *err)
{
    a->open = open;
    STI_TRY(find_directions(a, err));
    const int64_t n = a->n;
    if (n > STI_MOST_DIRECTIONS)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "%d active directions are too many to find their rank, at most %d",
                        a->n, (int)STI_MOST_DIRECTIONS);
    GROW(vector, a->open->n_r);
    GROW(A, n * a->open->n_moved);
    GROW(tau, n);
    GROW(order, n);
    GROW(z0, n);
    GROW(d, n);
    GROW(x, n);
    GROW(k, n);
    GROW(l, n);
    GROW(target, n);
    GROW(y, n);

    /* z0 nearest to r, and D = B' diag(weight) B, which is diagonal. */
    for (int c = 0; c < open->n_contacts; c++)
        for (int j = a->first[c]; j < a->first[c + 1]; j++) {
            const int row = a->unit[j], first = row >= 0 ? row : open->contact[c].first;
            const int end = row >= 0 ? row + 1 : first + open->contact[c].dim;
            double square = 0.0, dot = 0.0, weighted = 0.0;
            for (int k = first; k < end; k++) {
                const double d = row >= 0 ? 1.0 : a->along[k];
                square += d * d;
                dot += d * open->r[k];
                weighted += d * d * (open->weight != NULL ? open->weight[k] : 1.0);
            }
            a->z0[j] = dot / square;
            a->d[j] = weighted;
        }
    for (int c = 0; c < open->n_contacts; c++)
        for (int j = a->first[c]; j < a->first[c + 1]; j++) {
            const st_ContactLaw *contact = &open->contact[c];
            memset(a->vector, 0, (size_t)open->n_r * sizeof *a->vector);
            if (a->unit[j] >= 0)
                a->vector[a->unit[j]] = 1.0;
            else
                memcpy(a->vector + contact->first, a->along + contact->first, (size_t)contact->dim * sizeof *a->vector);
            open->moves(open->ctx, a->vector, a->A + (int64_t)j * open->n_moved);
        }
    qr_with_pivots(a);
    const int64_t n_null = a->n - a->rank;
    GROW(N, n_null * a->n);
    GROW(factor, n_null * n_null);

    /* R11 n1 = -R12 e_j for every dependent column j. */
    const int64_t m = a->open->n_moved;
    if (a->n > a->rank) memset(a->N, 0, (size_t)(a->n - a->rank) * (size_t)a->n * sizeof *a->N);
    for (int j = a->rank; j < a->n; j++) {
        double *N = a->N + (int64_t)(j - a->rank) * a->n;
        const double *column = a->A + a->order[j] * m;
        N[a->order[j]] = 1.0;
        for (int i = a->rank - 1; i >= 0; i--) {
            double sum = -column[i];
            for (int k = i + 1; k < a->rank; k++)
                sum -= a->A[a->order[k] * m + i] * N[a->order[k]];
            N[a->order[i]] = sum / a->A[a->order[i] * m + i];
        }
    }

    st_Determined found;
    find_determined(a, determined, &found);
    if (out != NULL) *out = found;
    if (a->n > 0) memcpy(a->k, a->z0, (size_t)a->n * sizeof *a->k);
    if (n_null > 0 && least != NULL) find_least(a);
    if (least != NULL) {
        /* Active contacts get the smallest impulses. Bounded rows that are not active keep theirs, and open contacts
         * have none. */
        for (int c = 0; c < open->n_contacts; c++) {
            const st_ContactLaw *contact = &open->contact[c];
            const bool kept = contact->law == ST_LAW_BOUNDED && a->first[c] == a->first[c + 1];
            for (int k = contact->first; k < contact->first + contact->dim; k++)
                least[k] = kept ? open->r[k] : 0.0;
            add_directions(a, c, a->k, least);
        }
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ of a problem file */

static void motion_of_impulses(void *ctx, const double *r, double *out)
{
    const st_Friction *friction = ctx;
    sti_friction_map_apply(friction->map, r, true, NULL, NULL, out);
}

/* u of r, and a weight a row, in `work`: 2 n_r. */
static st_Status find_open_forces(st_Friction *f, const double *r, const double *weight, double tolerance, double *work,
                                  bool *determined, double *least, st_Determined *out, st_Error *err)
{
    const int dim = f->problem->dim;
    sti_Hyperstatic *h = NULL;
    double scale = 0.0;
    sti_friction_map_apply(f->map, r, false, NULL, NULL, work);
    for (int k = 0; k < f->n_r; k++) {
        scale = fmax(scale, fmax(fabs(work[k]), fabs(f->q[k])));
        work[f->n_r + k] = weight != NULL ? weight[k / dim] : 1.0;
    }
    const sti_Open open = {.n_r = f->n_r,
                           .n_contacts = f->problem->n_contacts,
                           .contact = f->contact,
                           .r = r,
                           .u = work,
                           .weight = work + f->n_r,
                           .still = still * scale,
                           .tolerance = tolerance > 0.0 ? tolerance : default_tolerance,
                           .n_moved = f->n_r,
                           .moves = motion_of_impulses,
                           .ctx = f};
    STI_TRY(sti_hyperstatic_create(&f->allocator, &h, err));
    const st_Status status = sti_hyperstatic_find(h, &open, determined, least, out, err);
    sti_hyperstatic_destroy(h);
    return status;
}

st_Status st_friction_determined(st_Friction *friction, const double *r, const double *weight, double tolerance,
                                 bool *determined, double *least, st_Determined *out, st_Error *err)
{
    if (friction == NULL || r == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the problem or r is NULL");
    for (int c = 0; weight != NULL && c < friction->problem->n_contacts; c++)
        if (!(weight[c] > 0.0) || !isfinite(weight[c]))
            return sti_fail(err, ST_ERR_ARGUMENT, "weight[%d] is %g, must be > 0", c, weight[c]);
    for (int k = 0; k < friction->n_r; k++)
        if (!isfinite(r[k])) return sti_fail(err, ST_ERR_ARGUMENT, "r[%d] is %g, must be finite", k, r[k]);
    if (!(tolerance >= 0)) return sti_fail(err, ST_ERR_ARGUMENT, "the tolerance is %g, must be >= 0", tolerance);
    STI_TRY(sti_friction_ready(friction, err));
    double *work = sti_alloc(&friction->allocator, 2 * (int64_t)friction->n_r, sizeof *work);
    if (work == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: %d rows", friction->n_r);
    const st_Status status = find_open_forces(friction, r, weight, tolerance, work, determined, least, out, err);
    sti_free(&friction->allocator, work, 2 * (int64_t)friction->n_r, sizeof *work);
    return status;
}
